//! What has a name in a template: fields and methods of values, functions, and the templates that functions run.

use super::eval::{Frame, Given, Outcome, Run, step, without_no_value};
use super::functions::{self, Call};
use super::{Body, RenderError, Source, add, print, read};
use crate::budget::NODE;
use crate::known::Why;
use crate::render::class::Class;
use crate::render::text::Text;
use crate::render::value::{Data, Items, Value};
use std::ops::Range;
use std::rc::Rc;

/// Whether an API is none of Kubernetes' own: `monitoring.coreos.com/v1`, not `batch/v1` or `gateway.networking.k8s.io/v1`.
fn is_installed_beside(api: &str) -> bool {
    let group = api.split('/').next().unwrap_or(api);
    let own = ["authentication", "authorization", "networking", "storage", "scheduling", "resource", "node", "policy"];
    group.contains('.') && !group.strip_suffix(".k8s.io").is_some_and(|name| own.contains(&name))
}

impl Run<'_> {
    /// The fields of a value, one within the other; the last may be a method that takes arguments.
    pub fn fields(
        &mut self,
        frame: &Frame,
        at: &Range<usize>,
        (mut value, names): (Value, &[String]),
        args: &[Value],
    ) -> Outcome<Value> {
        for (i, name) in names.iter().enumerate() {
            let args = if i + 1 == names.len() { args } else { &[] };
            value = match &value.data {
                Data::Unknown(_) => value,
                // What a pipeline made of nothing has fields of nothing; what is nothing in a mapping has none.
                Data::Nil if i == 0 => return Ok(Value::NIL),
                Data::Nil => return frame.error(at, format!("nil pointer evaluating interface {{}}.{name}")),
                _ => self.field(frame, at, (&value, name), args)?,
            };
        }
        if names.is_empty() && !args.is_empty() {
            return frame.error(at, "can't give argument to non-function");
        }
        Ok(value)
    }

    fn field(&self, frame: &Frame, at: &Range<usize>, (value, name): (&Value, &str), args: &[Value]) -> Outcome<Value> {
        let call = Call { name, args, at: Some(frame.source.span(at)), share: self.share, noticed: &self.noticed };
        if let (Data::Versions(versions), "Has", [Value { data: Data::Str(api), .. }]) = (&value.data, name, args) {
            if !is_installed_beside(api.as_str()) {
                self.doubts.cluster().set(true);
            } else if !versions.iter().any(|version| version == api.as_str()) {
                self.noticed.borrow_mut().apis.insert(api.as_str().to_owned());
            }
        }
        if let Some(answer) = functions::method(value, &call) {
            return answer.or_else(|message| frame.error(at, message));
        }
        let found = match &value.data {
            Data::Map(map) if args.is_empty() => map.get(name).or(match map.class() {
                Class::Plain | Class::Values => Some(Value::NIL),
                Class::Texts => Some("".into()),
                _ => None,
            }),
            Data::Files(files) if args.is_empty() => {
                let text = files.get(name).cloned().unwrap_or_default();
                Some(Value { origin: text.place(), data: Data::Bytes(text) })
            }
            Data::Map(_) | Data::Files(_) => {
                return frame.error(at, format!("{name} is not a method but has arguments"));
            }
            _ => None,
        };
        match found {
            Some(found) => Ok(found),
            None => frame.error(at, format!("can't evaluate field {name} in type {}", print::type_of(value))),
        }
    }

    pub fn call(
        &mut self,
        frame: &mut Frame,
        dot: &Value,
        (name, at): (&str, &Range<usize>),
        given: Given<'_>,
    ) -> Outcome<Value> {
        if matches!(name, "and" | "or") {
            return self.logic(frame, dot, name == "and", given);
        }
        let mut args = self.operands(frame, dot, given.operands)?;
        args.extend(given.last);
        if !name.starts_with("kind") && !name.starts_with("type") {
            args.iter_mut().for_each(|arg| self.listed(arg));
        }
        let value = match (name, args.as_slice()) {
            ("include", [name, dot]) => {
                if let Some(why) = name.unknown() {
                    self.noticed.borrow_mut().hidden.insert(frame.source.span(at));
                    return Ok(why.into());
                }
                let Some(found) = name.as_str().and_then(|name| self.named.get(name)).cloned() else {
                    let name = print::text(name, self.share);
                    return frame.error(at, format!("error calling include: no template {:?}", name.as_str()));
                };
                self.called(frame, at, &found, dot)?.into()
            }
            ("tpl", [text, dot]) => match &text.data {
                Data::Str(source) => {
                    let source = Rc::clone(source);
                    self.deeper(frame, at, |run, frame| run.inline(frame, at, &source, dot))?
                }
                Data::Unknown(_) => {
                    self.noticed.borrow_mut().hidden.insert(frame.source.span(at));
                    text.clone()
                }
                _ => return frame.error(at, format!("wrong type for tpl: {}", print::type_of(text))),
            },
            // Both sides are looked at.
            ("ternary", [yes, no, which]) if which.unknown().is_some() => {
                if self.holds(frame, at, which)? {
                    yes.clone()
                } else {
                    no.clone()
                }
            }
            ("lookup", [_, _, _, _]) if self.doubts.doubts_all() => {
                Value::from(Why::Remote(name.into())).at(Some(frame.source.span(at)))
            }
            // Where nothing is taken for granted, nothing is refused.
            ("fail", [_]) if self.doubts.doubts_all() => Value::from(""),
            _ => {
                self.notice(frame, (name, at), &args);
                let place = Some(frame.source.span(at));
                let call = Call { name, args: &args, at: place, share: self.share, noticed: &self.noticed };
                functions::call(&call).or_else(|message| frame.error(at, message))?
            }
        };
        match self.share.spent() {
            Some(spent) => frame.error(at, spent.to_string()),
            None => Ok(value),
        }
    }

    /// Functions see the versions that a cluster serves as a list of texts.
    fn listed(&self, arg: &mut Value) {
        if let Data::Versions(versions) = &arg.data {
            self.doubts.cluster().set(true);
            let texts = versions.iter().map(|version| Value::from(version.as_str())).collect();
            *arg = Items::of(texts, "string").into();
        }
    }

    /// Takes note of what is to be told of a call, or depends on more than the chart.
    fn notice(&self, frame: &Frame, (name, at): (&str, &Range<usize>), args: &[Value]) {
        if let ("int" | "int64", [Value { data: Data::Float(number), origin: Some(from) }]) = (name, args)
            && number.fract() != 0.0
        {
            self.noticed.borrow_mut().cut.insert((*from, frame.source.span(at)));
        }
        let refuses = match (name, args) {
            ("fail", [message]) => Some(message),
            ("required", [message, given]) if given.is_nil() || given.as_str() == Some("") => Some(message),
            _ => None,
        };
        if let Some(message) = refuses.and_then(Value::as_str).filter(|_| !self.doubts.doubts_all()) {
            self.noticed.borrow_mut().refused.get_or_insert_with(|| message.trim().to_owned());
            self.doubts.granted().set(true);
        }
        if name == "lookup" {
            self.doubts.granted().set(true);
        }
    }

    /// `and`, `or`: the first operand that decides, the rest unread.
    fn logic(&mut self, frame: &mut Frame, dot: &Value, all: bool, given: Given<'_>) -> Outcome<Value> {
        let (mut value, mut unknown) = (Value::NIL, None);
        for operand in given.operands.iter().map(Some).chain(given.last.as_ref().map(|_| None)) {
            value = match operand {
                Some(operand) => match self.operand(frame, dot, operand) {
                    // It may never be read.
                    Err(error) if unknown.is_some() && !error.ours && self.share.spent().is_none() => {
                        Why::Template.into()
                    }
                    read => read?,
                },
                None => given.last.clone().unwrap_or_default(),
            };
            match value.unknown() {
                Some(why) => unknown = unknown.or(Some((why, value.origin))),
                None if value.is_true() != all => break,
                None => {}
            }
        }
        let decided = all && !value.is_true() && value.unknown().is_none();
        Ok(match unknown {
            Some((why, origin)) if !decided => Value { data: Data::Unknown(why), origin },
            _ => value,
        })
    }

    /// A text that is a template itself.
    fn inline(&mut self, frame: &Frame, at: &Range<usize>, text: &Text, dot: &Value) -> Outcome<Value> {
        if !text.as_str().contains("{{") {
            return Ok(text.clone().into());
        }
        if text.is_unknown() {
            self.noticed.borrow_mut().hidden.insert(frame.source.span(at));
            return Ok(Why::Template.into());
        }
        // A node of a template may be as short as five bytes.
        self.make(frame, at, NODE + text.size() * (NODE / 8))?;
        let whole = frame.source.span(at);
        let (template, source) = read(Source { text: text.clone(), whole })
            .map_err(|problem| RenderError { message: format!("error calling tpl: {}", problem.message), ..problem })?;
        let body = Body { nodes: template.body, source };
        // What it defines holds within it only.
        let outer = Rc::clone(&self.named);
        if !template.defined.is_empty() {
            self.work(frame, at, outer.len() * NODE)?;
            let mut named = (*outer).clone();
            template.defined.into_iter().for_each(|(name, nodes)| add(&mut named, &name, nodes, &body.source));
            self.named = Rc::new(named);
        }
        let out = self.further(step(whole), |run| run.template(&body, dot));
        self.named = outer;
        Ok(without_no_value(&out?).into())
    }
}
