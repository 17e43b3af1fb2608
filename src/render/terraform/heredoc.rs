//! How far a heredoc of `<<-` is indented: what Terraform takes off each of its lines.

use crate::parse::hcl::Place;
use hcl_edit::Span as _;
use hcl_edit::template::{Directive, Element, Strip, Template};

/// The smallest indentation of the lines that are not blank. As Terraform reads them, text behind a line end that a strip
/// marker takes off begins no line, and what a marker empties is not indented.
pub(super) fn indentation(place: Place<'_>, template: &Template) -> usize {
    let mut lines = Lines { place, starts: true, trim: false, least: None };
    lines.read(template, Strip::None);
    lines.least.unwrap_or(0)
}

struct Lines<'t> {
    place: Place<'t>,
    /// Whether a line starts here.
    starts: bool,
    /// Whether a marker takes off the white space that follows.
    trim: bool,
    least: Option<usize>,
}

impl Lines<'_> {
    /// Reads a template that a marker ends.
    fn read(&mut self, template: &Template, end: Strip) {
        let mut elements = template.iter().peekable();
        while let Some(element) = elements.next() {
            let next = elements.peek().map_or(end, |next| first(next));
            match element {
                Element::Literal(_) => self.literal(self.place.slice(element.span()), next),
                Element::Interpolation(interpolation) => self.marker(interpolation.strip),
                Element::Directive(directive) => self.directive(directive),
            }
        }
    }

    fn directive(&mut self, directive: &Directive) {
        match directive {
            Directive::If(branch) => {
                self.marker(branch.if_expr.strip);
                let end = branch.endif_expr.strip;
                let next = branch.else_expr.as_ref().map_or(end, |other| other.strip);
                self.read(&branch.if_expr.template, next);
                if let Some(other) = &branch.else_expr {
                    self.marker(other.strip);
                    self.read(&other.template, end);
                }
                self.marker(end);
            }
            Directive::For(repeat) => {
                self.marker(repeat.for_expr.strip);
                self.read(&repeat.for_expr.template, repeat.endfor_expr.strip);
                self.marker(repeat.endfor_expr.strip);
            }
        }
    }

    fn marker(&mut self, strip: Strip) {
        if std::mem::take(&mut self.starts) {
            self.least = Some(0);
        }
        self.trim = matches!(strip, Strip::End | Strip::Both);
    }

    fn literal(&mut self, text: &str, next: Strip) {
        let mut lines = text.split_inclusive('\n').peekable();
        while let Some(mut line) = lines.next() {
            if std::mem::take(&mut self.trim) {
                line = line.trim_start();
            }
            if lines.peek().is_none() && matches!(next, Strip::Start | Strip::Both) {
                line = line.trim_end();
            }
            let indent = line.chars().take_while(|c| c.is_whitespace()).count();
            let ends = line.ends_with('\n');
            if self.starts && !(ends && line.trim_start().is_empty()) {
                self.least = Some(self.least.map_or(indent, |least| least.min(indent)));
            }
            self.starts = ends;
        }
    }
}

/// The strip markers of what an element begins with.
fn first(element: &Element) -> Strip {
    match element {
        Element::Literal(_) => Strip::None,
        Element::Interpolation(interpolation) => interpolation.strip,
        Element::Directive(directive) => match &**directive {
            Directive::If(branch) => branch.if_expr.strip,
            Directive::For(repeat) => repeat.for_expr.strip,
        },
    }
}
