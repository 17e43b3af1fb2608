//! Templates: literals, interpolations and directives into text that keeps its way back to the source.

use super::eval::{Eval, Scope};
use super::rope::{Rope, Style};
use super::value::{Fail, MAX_TEXT, Value, too_large};
use crate::known::Why;
use crate::source::Span;
use hcl_edit::Span as _;
use hcl_edit::template::{Directive, Element, Strip};
use std::ops::Range;
use std::rc::Rc;

impl Eval<'_> {
    pub fn template(&self, elements: &[&Element], style: Style, span: Span) -> Result<Value, Fail> {
        let mut writer = Writer { rope: Rope::new(self.place.source), unknown: None, trim: false, literal: None };
        self.write(&mut writer, elements, style)?;
        let text = Rc::new(writer.rope.finish(span));
        Ok(match writer.unknown {
            Some(why) => Value::Partial(text, why),
            None => Value::Str(text),
        })
    }

    fn write(&self, out: &mut Writer, elements: &[&Element], style: Style) -> Result<(), Fail> {
        for element in elements {
            self.spend()?;
            if out.rope.text.len() > MAX_TEXT {
                return Err(too_large());
            }
            let range = self.place.range(element.span());
            match element {
                Element::Literal(_) => {
                    let raw = &self.place.text[range.clone()];
                    let skip = if out.trim { blank_start(raw) } else { 0 };
                    out.trim = false;
                    let start = out.rope.text.len();
                    out.rope.literal(self.place.text, range, skip, style);
                    out.literal = Some(start);
                }
                Element::Interpolation(interpolation) => {
                    out.open(interpolation.strip);
                    let value = self.eval(&interpolation.expr);
                    match value.string() {
                        Ok(text) if text.is_empty() && value.origin.is_some() && alone(self.place.text, &range) => {
                            out.unknown(
                                Why::Variable(interpolation.expr.to_string().trim().into()),
                                self.place.text,
                                range,
                            );
                        }
                        // A value of another file is traced there: that is what a person would edit.
                        Ok(text) => {
                            self.make(text.len())?;
                            let from = value.origin.filter(|origin| origin.source != self.place.source);
                            out.rope.insert(&text, from.unwrap_or(self.place.span(element.span())));
                        }
                        Err(Fail::Unknown(why)) => out.unknown(why, self.place.text, range),
                        Err(fail) => return Err(fail),
                    }
                    out.close(interpolation.strip);
                }
                Element::Directive(directive) => match self.directive(out, directive, style) {
                    Err(Fail::Unknown(why)) => out.unknown(why, self.place.text, range),
                    result => result?,
                },
            }
        }
        Ok(())
    }

    fn directive(&self, out: &mut Writer, directive: &Directive, style: Style) -> Result<(), Fail> {
        match directive {
            Directive::If(branch) => {
                let yes = self.eval(&branch.if_expr.cond_expr).boolean()?;
                out.open(branch.if_expr.strip);
                let (template, strip) = match (&branch.else_expr, yes) {
                    (_, true) => (Some(&branch.if_expr.template), branch.if_expr.strip),
                    (Some(other), false) => (Some(&other.template), other.strip),
                    (None, false) => (None, Strip::None),
                };
                if let Some(template) = template {
                    out.close(strip);
                    self.write(out, &template.iter().collect::<Vec<_>>(), style)?;
                }
                let next = branch.else_expr.as_ref().filter(|_| yes).map_or(branch.endif_expr.strip, |e| e.strip);
                out.open(next);
                out.close(branch.endif_expr.strip);
            }
            Directive::For(repeat) => {
                let head = &repeat.for_expr;
                let collection = self.eval(&head.collection_expr);
                self.pay(collection.width())?;
                let pairs = collection.pairs()?;
                out.open(head.strip);
                let elements: Vec<&Element> = head.template.iter().collect();
                for (key, value) in pairs {
                    let key_name = head.key_var.as_ref().map_or("", |k| k.as_str());
                    let outer = Scope { name: key_name, value: key, parent: self.scope };
                    let scope = Scope { name: head.value_var.as_str(), value, parent: Some(&outer) };
                    out.close(head.strip);
                    self.with(&scope).write(out, &elements, style)?;
                    out.open(repeat.endfor_expr.strip);
                }
                out.close(repeat.endfor_expr.strip);
            }
        }
        Ok(())
    }
}

/// Whether an interpolation is all of a value: a default that is empty stands there for what is still to be given.
fn alone(text: &str, range: &Range<usize>) -> bool {
    let quote = ['"', '\''];
    let before = text[..range.start].trim_end_matches(quote).trim_end_matches(' ');
    let after = text[range.end..].trim_start_matches(quote);
    before.ends_with([':', '-', '=']) && (after.is_empty() || after.starts_with([' ', '\r', '\n']))
}

/// The length of the white space that a strip marker takes off the text behind it: no more than the rest of its line.
fn blank_start(text: &str) -> usize {
    let blank = text.len() - text.trim_start().len();
    text[..blank].find('\n').map_or(blank, |end| end + 1)
}

/// A template being written out.
struct Writer {
    rope: Rope,
    unknown: Option<Why>,
    trim: bool,
    /// Where the literal starts that was written last, with nothing behind it yet.
    literal: Option<usize>,
}

impl Writer {
    fn open(&mut self, strip: Strip) {
        if let (Strip::Start | Strip::Both, Some(start)) = (strip, self.literal.take()) {
            self.rope.trim_line(start);
        }
    }

    fn close(&mut self, strip: Strip) {
        self.trim = matches!(strip, Strip::End | Strip::Both);
    }

    fn unknown(&mut self, why: Why, text: &str, range: Range<usize>) {
        self.rope.verbatim(&text[range.clone()], range.start);
        self.unknown.get_or_insert(why);
    }
}
