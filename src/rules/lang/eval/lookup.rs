//! Elements of a list that are looked up and not asked about one after another, where a condition on them wants some text of
//! theirs to be another one. Knows when that leaves the same elements; knows nothing of how expressions are evaluated.

use crate::facts::value::{Data, Value};
use crate::parse::expression::Op;
use crate::rules::lang::check::{Macro, Node, Typed};
use std::collections::HashMap;

/// Lists shorter than this are gone through faster than looked up.
pub const WORTH: usize = 32;

/// A comparison that a condition on an element cannot hold without.
pub struct Key<'t> {
    /// Lists of the element, each of the one before, with the slots of their elements: one of the last is compared.
    pub within: Vec<(&'t Typed, usize)>,
    /// What is compared; nothing but the element decides it.
    pub of_element: &'t Typed,
    /// What it is compared with.
    pub wanted: &'t Typed,
    /// How: one equals the other, or what is wanted holds it, or is held by it.
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    Equal,
    Holds,
    IsHeld,
}

/// The comparisons without which a condition does not hold, where `own` are the bits of the loops over the element and its
/// lists.
pub fn keys(condition: &Typed, own: u64) -> Vec<Key<'_>> {
    let key = |of_element, wanted, how| Key { within: Vec::new(), of_element, wanted, how };
    let decides = |typed: &Typed| !typed.asks && typed.loops & own != 0 && typed.loops & !own == 0;
    let (alone, apart) = (|typed: &Typed| decides(typed), |typed: &Typed| typed.loops & own == 0);
    match &condition.node {
        Node::Binary(Op::And, a, b) => keys(a, own).into_iter().chain(keys(b, own)).collect(),
        Node::Binary(Op::Eq, a, b) if alone(a) && apart(b) => vec![key(a, b, How::Equal)],
        Node::Binary(Op::Eq, a, b) if alone(b) && apart(a) => vec![key(b, a, How::Equal)],
        Node::Binary(Op::In, a, b) if alone(a) && apart(b) => vec![key(a, b, How::Holds)],
        Node::Binary(Op::In, a, b) if alone(b) && apart(a) => vec![key(b, a, How::IsHeld)],
        Node::Macro { kind: Macro::Exists, list, body, turns } if alone(list) => {
            let mut keys = keys(body, own | turns.own);
            keys.iter_mut().for_each(|key| key.within.insert(0, (list, turns.slot)));
            keys
        }
        // One of a list that is the same for all elements equals it.
        Node::Macro { kind: Macro::Exists, list, body, turns } if apart(list) => match &body.node {
            Node::Binary(Op::Eq, a, b) if alone(a) && is_slot(b, turns.slot) => vec![key(a, list, How::Holds)],
            Node::Binary(Op::Eq, a, b) if alone(b) && is_slot(a, turns.slot) => vec![key(b, list, How::Holds)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn is_slot(typed: &Typed, slot: usize) -> bool {
    matches!(typed.node, Node::Slot(own) if own == slot)
}

/// A text, or nothing where nothing may be wanted.
type Wanted = Option<String>;

impl Key<'_> {
    /// The texts of which one has to be wanted for the comparison to hold; `None` where it may hold without.
    fn texts(&self, compared: Value<'_>) -> Option<Vec<Wanted>> {
        match (self.how, compared.data) {
            (How::Equal | How::Holds, Data::Str(text)) => Some(vec![Some(text.into_owned())]),
            // Nothing is no text.
            (How::IsHeld, Data::List(items)) => texts(items.iter().filter(|item| !matches!(item.data, Data::Null))),
            (How::Equal, Data::Null) => Some(vec![None]),
            (_, Data::Null) => Some(Vec::new()),
            _ => None,
        }
    }

    /// The texts that are wanted, where only texts can be.
    pub fn wanted(&self, wanted: Value<'_>) -> Option<Vec<Wanted>> {
        match (self.how, wanted.data) {
            (How::Equal | How::IsHeld, Data::Str(text)) => Some(vec![Some(text.into_owned())]),
            (How::Equal, Data::Null) => Some(vec![None]),
            (How::Holds, Data::List(items)) => texts(items.iter()),
            _ => None,
        }
    }
}

fn texts<'v, 'a: 'v>(items: impl Iterator<Item = &'v Value<'a>>) -> Option<Vec<Wanted>> {
    let text = |item: &Value<'_>| if let Data::Str(text) = &item.data { Some(Some(text.to_string())) } else { None };
    items.map(text).collect()
}

/// Positions of elements by the texts that something of theirs has.
#[derive(Debug, Default)]
pub struct Index {
    by_text: HashMap<Wanted, Vec<u32>>,
    /// Those of which something else may be wanted.
    others: Vec<u32>,
}

impl Index {
    /// Puts in what is compared of the element at a position; `None` where that is not known as a whole.
    pub fn put(&mut self, key: &Key<'_>, position: u32, compared: Option<Vec<Value<'_>>>) {
        let texts = compared.and_then(|all| all.into_iter().map(|value| key.texts(value)).collect::<Option<Vec<_>>>());
        match texts {
            Some(texts) => texts.into_iter().flatten().for_each(|t| self.by_text.entry(t).or_default().push(position)),
            None => self.others.push(position),
        }
    }

    /// Positions of the elements that may be meant, in their order.
    pub fn find(&self, wanted: &[Wanted]) -> Vec<u32> {
        let named = wanted.iter().filter_map(|text| self.by_text.get(text)).flatten();
        let mut found: Vec<u32> = named.chain(&self.others).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
