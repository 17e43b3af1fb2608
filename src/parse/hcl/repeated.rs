//! Names that stand twice: keys of an object, of which Terraform takes the last, and attributes of a block, which it refuses.
//! The parser refuses both and would lose the block around them.

use super::Place;
use crate::budget::Share;
use crate::source::Span;
use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, Object, ObjectKey};
use hcl_edit::parser::Error;
use hcl_edit::structure::Body;
use hcl_edit::visit::{self, Visit};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// What it costs to parse a byte again, for a name that is parsed under another one.
const AGAIN: usize = 32;

/// Parses a text, with each name that stands again under another name of its length: what it is called is read in the
/// file. Gives the places of attributes that stand again, too.
pub(super) fn parse(text: &str, share: &Share) -> (Result<Body, Error>, Vec<Range<usize>>) {
    let mut text = Cow::Borrowed(text);
    let mut attributes = vec![];
    let mut number = 0;
    loop {
        let error = match text.parse::<Body>() {
            Ok(body) => return (Ok(body), attributes),
            Err(error) => error,
        };
        let again = error.message().contains("redefined").then(|| name(&text, error.location().offset())).flatten();
        let again = again.filter(|_| share.work(AGAIN * text.len()).is_ok());
        let Some(again) = again else { return (Err(error), attributes) };
        if error.message().contains("attribute") {
            attributes.push(again.clone());
        }
        text.to_mut().replace_range(again.clone(), &stand_in(number, again.len()));
        number += 1;
    }
}

/// The name that starts at an offset, without its quotes.
fn name(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let quoted = rest.strip_prefix('"');
    let inner = quoted.unwrap_or(rest);
    let is_end = |c: char| if quoted.is_some() { c == '"' } else { !c.is_alphanumeric() && c != '_' && c != '-' };
    let (start, length) = (text.len() - inner.len(), inner.find(is_end)?);
    (length > 0 && !inner[..length].contains(['\n', '\\', '$', '%'])).then(|| start..start + length)
}

/// One of many names of a length.
fn stand_in(mut number: usize, length: usize) -> String {
    let letter = |_| {
        let letter = b'a' + (number % 26) as u8;
        number /= 26;
        char::from(letter)
    };
    (0..length).map(letter).collect()
}

/// Keys that an object states again, as they stand in the file.
pub(super) fn keys(place: Place<'_>, body: &Body) -> Vec<(String, Span)> {
    let mut keys = Keys { place, again: vec![] };
    keys.visit_body(body);
    keys.again
}

struct Keys<'m> {
    place: Place<'m>,
    again: Vec<(String, Span)>,
}

impl Visit for Keys<'_> {
    fn visit_object(&mut self, object: &Object) {
        let mut seen = BTreeSet::new();
        for (key, _) in object {
            let range = match key {
                ObjectKey::Ident(name) => name.span(),
                ObjectKey::Expression(Expression::String(text)) => text.span(),
                ObjectKey::Expression(_) => continue,
            };
            let text = self.place.slice(range.clone()).trim_matches('"');
            if !seen.insert(text) {
                self.again.push((text.to_owned(), self.place.span(range)));
            }
        }
        visit::visit_object(self, object);
    }
}
