//! What operators and functions do with single values: numbers, versions, elements. Knows no expressions.

use crate::budget::{STEP, Share, Spent};
use crate::facts::value::{Data, Value};
use crate::parse::Node;
use crate::version::Version;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::rc::Rc;

/// A number, whole or not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Whole.
    Int(i64),
    /// Any.
    Float(f64),
}

impl Number {
    /// As a floating-point number.
    pub fn float(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

/// Text such as `inf` and `nan` parses as a number and is none.
fn finite(value: f64) -> Option<Number> {
    value.is_finite().then_some(Number::Float(value))
}

/// The elements of a list, the values of a map, the children of a raw collection; nothing of anything else.
pub fn elements<'a>(value: &Value<'a>) -> Rc<[Value<'a>]> {
    match &value.data {
        Data::List(items) => Rc::clone(items),
        Data::Map(map) => map.values().cloned().collect(),
        Data::Node(view) => match view.node() {
            Some(node) if node.is_seq() => view.items().map(Value::of_view).collect(),
            _ => view.entries().into_iter().map(|(_, child)| Value::of_view(child)).collect(),
        },
        _ => Rc::default(),
    }
}

/// The bytes that a value takes up with all that it holds, however often it holds it; looking costs as much work.
///
/// # Errors
/// Nothing is left of the share.
pub fn weigh(value: &Value<'_>, share: &Share) -> Result<usize, Spent> {
    let add = |sum: usize, held: &Value<'_>| Ok(sum.saturating_add(weigh(held, share)?));
    let own = match &value.data {
        Data::Str(text) => STEP + text.len(),
        Data::List(items) => return items.iter().try_fold(STEP, add),
        Data::Map(map) => return map.values().try_fold(STEP, add),
        Data::Node(view) => STEP * (1 + view.node().map_or(0, Node::width)),
        _ => STEP,
    };
    share.work(own)?;
    Ok(own)
}

/// A list value.
pub fn list<'a>(items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
    Value::of(Data::List(items.into_iter().collect::<Rc<[_]>>()))
}

/// The number in a value; text of a raw document counts when it is a number.
pub fn number(value: &Value<'_>) -> Option<Number> {
    match &value.data {
        Data::Int(value) => Some(Number::Int(*value)),
        Data::Float(value) => finite(*value),
        Data::Str(text) => {
            let text = text.trim();
            text.parse().map(Number::Int).ok().or_else(|| text.parse().ok().and_then(finite))
        }
        _ => None,
    }
}

/// Equality: numbers by value, versions as versions, anything else by its own kind.
pub fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (&a.data, &b.data) {
        (Data::Null, Data::Null) => true,
        (Data::Bool(a), Data::Bool(b)) => a == b,
        (Data::Str(a), Data::Str(b)) => a == b,
        (Data::Bool(a), Data::Str(b)) | (Data::Str(b), Data::Bool(a)) => b.eq_ignore_ascii_case(&a.to_string()),
        (Data::List(a), Data::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b)),
        (Data::Entity(a), Data::Entity(b)) => a.span() == b.span() && a.entity() == b.entity(),
        (Data::Null, _) | (_, Data::Null) => false,
        _ => order(a, b) == Some(Ordering::Equal),
    }
}

/// The version in a value.
pub fn version<'v>(value: &'v Value<'_>) -> Option<Cow<'v, Version>> {
    match &value.data {
        Data::Version(version) => Some(Cow::Borrowed(version.as_ref())),
        Data::Str(text) => Version::parse(text).map(Cow::Owned),
        Data::Int(value) => Version::parse(&value.to_string()).map(Cow::Owned),
        Data::Float(value) => Version::parse(&value.to_string()).map(Cow::Owned),
        _ => None,
    }
}

/// How two values stand to each other; `None` where they cannot be compared.
pub fn order(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (&a.data, &b.data) {
        (Data::Version(_), _) | (_, Data::Version(_)) => Some(version(a)?.cmp(&version(b)?)),
        (Data::Str(a), Data::Str(b)) => Some(a.cmp(b)),
        (Data::Int(a), Data::Int(b)) => Some(a.cmp(b)),
        _ => number(a)?.float().partial_cmp(&number(b)?.float()),
    }
}
