//! Values of HCL expressions: what is known, where it is written, where it came from.

use crate::budget::{NODE, STEP, Share};
use crate::known::Why;
use crate::parse::scalar::Scalar;
use crate::parse::{Node, Shape, placeholder};
use crate::source::{Span, Traced};
use std::rc::Rc;

/// Collections deeper than this are not built.
const MAX_DEPTH: u16 = 64;
/// Longer collections are not built.
pub(super) const MAX_ITEMS: usize = 20_000;
/// Longer texts are not built.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// An evaluated expression.
#[derive(Debug, Clone)]
pub(super) struct Val {
    pub value: Value,
    /// The expression as written.
    pub span: Span,
    /// Where the value itself is written, when that is elsewhere (a default, a `.tfvars` line).
    pub origin: Option<Span>,
    depth: u16,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Str(Rc<Traced>),
    /// A template with unknown parts, which stand in the text as they are written.
    Partial(Rc<Traced>, Why),
    List(Rc<Vec<Val>>),
    Map(Rc<Vec<(Rc<Traced>, Val)>>),
    /// A merge with something unknown: what else is stated, and whether nothing unknown may replace it.
    PartialMap(Rc<Vec<(Rc<Traced>, Val, bool)>>, Why),
    Unknown(Why),
    /// An expression that fails whatever the unknowns are: `try` goes on to its next argument.
    Failed(Box<str>),
}

/// Why there is no value.
#[derive(Debug, Clone)]
pub(super) enum Fail {
    Unknown(Why),
    Failed(Box<str>),
}

impl From<Fail> for Value {
    fn from(fail: Fail) -> Self {
        match fail {
            Fail::Unknown(why) => Value::Unknown(why),
            Fail::Failed(message) => Value::Failed(message),
        }
    }
}

/// An expression that is beyond the limits of evaluation.
pub(super) fn too_large() -> Fail {
    Fail::Unknown(Why::Malformed("an expression too large to evaluate".into()))
}

pub(super) fn failed<T>(message: impl Into<Box<str>>) -> Result<T, Fail> {
    Err(Fail::Failed(message.into()))
}

impl Val {
    pub fn new(value: Value, span: Span) -> Self {
        let depth = match &value {
            Value::List(items) => 1 + items.iter().map(|v| v.depth).max().unwrap_or(0),
            Value::Map(entries) => 1 + entries.iter().map(|(_, v)| v.depth).max().unwrap_or(0),
            Value::PartialMap(entries, _) => 1 + entries.iter().map(|(_, v, _)| v.depth).max().unwrap_or(0),
            _ => 0,
        };
        let long = match &value {
            Value::List(items) => items.len() > MAX_ITEMS,
            Value::Map(entries) => entries.len() > MAX_ITEMS,
            Value::PartialMap(entries, _) => entries.len() > MAX_ITEMS,
            Value::Str(text) => text.text().len() > MAX_TEXT,
            _ => false,
        };
        if depth > MAX_DEPTH || long {
            return Self { value: too_large().into(), span, origin: None, depth: 0 };
        }
        Self { value, span, origin: None, depth }
    }

    pub fn result(result: Result<Value, Fail>, span: Span) -> Self {
        Self::new(result.unwrap_or_else(Value::from), span)
    }

    pub fn text(text: impl Into<Box<str>>, span: Span) -> Self {
        Self::new(Value::text(text, span), span)
    }

    pub fn unknown(why: Why, span: Span) -> Self {
        Self::new(Value::Unknown(why), span)
    }

    /// The same value written as the expression at `span`.
    pub fn at(mut self, span: Span) -> Self {
        if self.span != span {
            self.origin = self.origin.or(Some(self.span));
            self.span = span;
        }
        self
    }

    /// The same value, written elsewhere.
    pub fn from(self, origin: Option<Span>) -> Self {
        Self { origin, ..self }
    }

    /// The value unless it is unknown or failed.
    pub fn known(&self) -> Result<&Value, Fail> {
        match &self.value {
            Value::Unknown(why) | Value::Partial(_, why) | Value::PartialMap(_, why) => Err(Fail::Unknown(why.clone())),
            Value::Failed(message) => Err(Fail::Failed(message.clone())),
            value => Ok(value),
        }
    }

    /// The bytes that it takes up, with its items or entries and without what they hold.
    pub fn width(&self) -> usize {
        match &self.value {
            Value::Str(text) | Value::Partial(text, _) => STEP + text.text().len(),
            Value::List(items) => STEP + NODE * items.len(),
            Value::Map(entries) => STEP + NODE * entries.len(),
            Value::PartialMap(entries, _) => STEP + NODE * entries.len(),
            _ => STEP,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Whether this is null, or something that is not known to be there.
    pub fn may_be_null(&self) -> bool {
        self.is_null() || matches!(&self.value, Value::Unknown(Why::Perhaps(_)))
    }

    pub fn boolean(&self) -> Result<bool, Fail> {
        match self.known()? {
            Value::Bool(value) => Ok(*value),
            Value::Str(text) if text.text() == "true" => Ok(true),
            Value::Str(text) if text.text() == "false" => Ok(false),
            _ => failed("not a Boolean"),
        }
    }

    pub fn number(&self) -> Result<f64, Fail> {
        match self.known()? {
            Value::Number(value) => Ok(*value),
            Value::Str(text) => match text.text().trim().parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(value),
                _ => failed("not a number"),
            },
            _ => failed("not a number"),
        }
    }

    /// A whole number that can count or index something; negative numbers fail.
    pub fn index(&self) -> Result<usize, Fail> {
        let value = self.number()?;
        if value < 0.0 || value.fract() != 0.0 || value > 1e9 {
            return failed("not an index");
        }
        Ok(value as usize)
    }

    /// A scalar as text.
    pub fn string(&self) -> Result<String, Fail> {
        Ok(match self.known()? {
            Value::Str(text) => text.text().to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => number_text(*value),
            // It may be the text of an encoding, which is transparent.
            Value::List(_) | Value::Map(_) => return Err(Fail::Unknown(Why::Malformed("a collection".into()))),
            _ => return failed("not a string"),
        })
    }

    /// Items of a list, or the values of a map in the order of its keys.
    pub fn items(&self) -> Result<Vec<Val>, Fail> {
        Ok(self.pairs()?.into_iter().map(|(_, value)| value).collect())
    }

    /// Keys (or indices) and values, in the order in which Terraform iterates.
    pub fn pairs(&self) -> Result<Vec<(Val, Val)>, Fail> {
        match self.known()? {
            Value::List(items) => {
                let indexed = items.iter().enumerate();
                Ok(indexed.map(|(i, v)| (Val::new(Value::Number(i as f64), v.span), v.clone())).collect())
            }
            Value::Map(entries) => {
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_by(|a, b| a.0.text().cmp(b.0.text()));
                let key = |k: &Rc<Traced>| Val::new(Value::Str(Rc::clone(k)), k.whole());
                Ok(sorted.into_iter().map(|(k, v)| (key(k), v.clone())).collect())
            }
            _ => failed("not a collection"),
        }
    }

    pub fn entries(&self) -> Result<&[(Rc<Traced>, Val)], Fail> {
        match self.known()? {
            Value::Map(entries) => Ok(entries),
            _ => failed("not a map"),
        }
    }

    /// The attribute of a map, `None` when it lacks it.
    pub fn get(&self, key: &str) -> Result<Option<Val>, Fail> {
        Ok(self.entries()?.iter().rev().find(|(k, _)| k.text() == key).map(|(_, v)| v.clone()))
    }
}

impl Value {
    pub fn text(text: impl Into<Box<str>>, span: Span) -> Self {
        Value::Str(Rc::new(Traced::opaque(text, span)))
    }

    pub fn list(items: Vec<Val>) -> Self {
        Value::List(Rc::new(items))
    }

    /// A map; the last of entries with one key wins, in the place of the first.
    pub fn map(entries: impl IntoIterator<Item = (Rc<Traced>, Val)>) -> Self {
        let mut places = std::collections::BTreeMap::new();
        let mut out: Vec<(Rc<Traced>, Val)> = vec![];
        for (key, value) in entries {
            match places.get(key.text()) {
                Some(&i) => out[i] = (key, value),
                None => {
                    places.insert(key.text().to_owned(), out.len());
                    out.push((key, value));
                }
            }
        }
        Value::Map(Rc::new(out))
    }
}

/// The value of a node that was read before.
pub(super) fn of_node(node: Node<'_>, share: &Share) -> Val {
    if share.make(NODE + node.text().map_or(0, str::len)).is_err() {
        return Val::result(Err(too_large()), node.span());
    }
    let text = || node.traced().map_or(Value::Null, |text| Value::Str(Rc::new(text)));
    let value = match (node.kind(), node.scalar()) {
        (Shape::Unknown(why), _) => Value::Unknown(why.clone()),
        (Shape::Scalar { text: written, plain: false }, _) => match (placeholder(written), node.traced()) {
            (Some(why), Some(text)) if written.contains("${") => Value::Partial(Rc::new(text), why),
            _ => text(),
        },
        (_, Some(Scalar::Bool(value))) => Value::Bool(value),
        (_, Some(Scalar::Int(value))) => Value::Number(value as f64),
        (_, Some(Scalar::Float(value))) => Value::Number(value),
        (Shape::Scalar { .. }, Some(Scalar::Str(_))) => text(),
        (Shape::Seq(_), _) => Value::list(node.items().map(|item| of_node(item, share)).collect()),
        (Shape::Map(_), _) => {
            let entry = |(key, value): (Node<'_>, Node<'_>)| Some((Rc::new(key.traced()?), of_node(value, share)));
            Value::map(node.entries().into_iter().filter_map(entry))
        }
        _ => Value::Null,
    };
    Val::new(value, node.span())
}

/// A number as Terraform writes it.
pub(super) fn number_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9e15 { format!("{}", value as i64) } else { format!("{value}") }
}

/// Whether two values are equal, as far as that is known.
pub(super) fn equal(a: &Val, b: &Val, share: &Share) -> Result<bool, Fail> {
    share.work(a.width()).map_err(|_| too_large())?;
    match (a.known()?, b.known()?) {
        (Value::Null, other) | (other, Value::Null) => Ok(matches!(other, Value::Null)),
        (Value::List(x), Value::List(y)) => {
            if x.len() != y.len() {
                return Ok(false);
            }
            all(x.iter().zip(y.iter()), share)
        }
        (Value::Map(x), Value::Map(y)) => {
            if x.len() != y.len() {
                return Ok(false);
            }
            let (mut x, mut y): (Vec<_>, Vec<_>) = (x.iter().collect(), y.iter().collect());
            x.sort_by(|a, b| a.0.text().cmp(b.0.text()));
            y.sort_by(|a, b| a.0.text().cmp(b.0.text()));
            if x.iter().zip(&y).any(|(a, b)| a.0.text() != b.0.text()) {
                return Ok(false);
            }
            all(x.into_iter().zip(y).map(|(a, b)| (&a.1, &b.1)), share)
        }
        (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => Ok(false),
        // A variable without a type keeps what was written, so `"1"` and `1` may be the same value.
        _ => Ok(a.string()? == b.string()?),
    }
}

fn all<'v>(pairs: impl Iterator<Item = (&'v Val, &'v Val)>, share: &Share) -> Result<bool, Fail> {
    let mut unknown = None;
    for (a, b) in pairs {
        match equal(a, b, share) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(fail) => unknown = Some(fail),
        }
    }
    unknown.map_or(Ok(true), Err)
}
