//! Attributes of texts in HCL: where their names and values stand.

use super::{is_at, within};
use crate::parse::hcl::{self, Place};
use crate::source::SourceId;
use hcl_edit::Span as _;
use hcl_edit::structure::{Body, Structure};
use std::ops::Range;

/// Blocks whose values stand for others.
const VARIABLES: [&str; 2] = ["variable", "locals"];

/// An attribute of a block.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
    /// Where the block starts that it stands in.
    pub(super) block: usize,
    /// Whether other values are made of it.
    pub(super) is_variable: bool,
}

impl Attribute {
    /// Whether a place is its name or its value.
    pub(super) fn is_at(&self, place: &Range<usize>, text: &str) -> bool {
        self.key == *place || is_at(&self.value, place, text)
    }

    /// Whether a place lies within its value.
    pub(super) fn holds(&self, place: &Range<usize>) -> bool {
        within(place, &self.value)
    }
}

/// The attributes of a text, if all of it can be read.
pub(super) fn attributes(id: SourceId, text: &str) -> Option<Vec<Attribute>> {
    let file = hcl::parse(id, text);
    let mut out = Vec::new();
    file.places().for_each(|(place, body)| gather(place, body, (0, false), &mut out));
    file.problems.is_empty().then_some(out)
}

fn gather(place: Place<'_>, body: &Body, (block, is_variable): (usize, bool), out: &mut Vec<Attribute>) {
    for structure in body {
        match structure {
            Structure::Attribute(one) => {
                let (key, value) = (place.range(one.key.span()), place.range(one.value.span()));
                out.push(Attribute { key, value, block, is_variable });
            }
            Structure::Block(inner) => {
                let is_variable = is_variable || VARIABLES.contains(&inner.ident.as_str());
                gather(place, &inner.body, (place.range(inner.span()).start, is_variable), out);
            }
        }
    }
}
