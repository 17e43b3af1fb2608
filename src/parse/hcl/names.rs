//! What a file says of nothing that it states: what something is called, descriptions, constraints of variables, and
//! references to what stands elsewhere.

use super::Place;
use crate::source::Span;
use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, Traversal};
use hcl_edit::structure::{Attribute, Block, Body};
use hcl_edit::visit::{self, Visit};

/// Such places, in no order.
pub(super) fn names(place: Place<'_>, body: &Body) -> Vec<Span> {
    let mut names = Names { place, found: vec![] };
    names.visit_body(body);
    names.found
}

struct Names<'m> {
    place: Place<'m>,
    found: Vec<Span>,
}

impl Names<'_> {
    fn add(&mut self, of: Option<std::ops::Range<usize>>) {
        self.found.push(self.place.span(of));
    }
}

impl Visit for Names<'_> {
    fn visit_block(&mut self, block: &Block) {
        let keyword = block.ident.as_str();
        // What Nomad calls a device is what it asks for.
        if let Some(label) = block.labels.last().filter(|_| keyword != "device") {
            self.add(label.span());
        }
        match keyword {
            "validation" => self.add(block.body.span()),
            "variable" => {
                // A default within a type is a value.
                let ty = block.body.get_attribute("type").filter(|ty| !self.place.slice(ty.span()).contains('"'));
                if let Some(ty) = ty {
                    self.add(ty.span());
                }
            }
            _ => {}
        }
        visit::visit_block(self, block);
    }

    fn visit_attr(&mut self, attribute: &Attribute) {
        let path = |text: &str| text.starts_with("./") || text.starts_with("../");
        let named = match attribute.key.as_str() {
            "description" | "error_message" => true,
            "source" => matches!(&attribute.value, Expression::String(text) if path(text.as_str())),
            _ => false,
        };
        if named {
            self.add(attribute.value.span());
        }
        visit::visit_attr(self, attribute);
    }

    fn visit_traversal(&mut self, traversal: &Traversal) {
        if matches!(traversal.expr, Expression::Variable(_)) {
            self.add(traversal.span());
        }
        visit::visit_traversal(self, traversal);
    }
}
