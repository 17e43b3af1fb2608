//! Values of CEL: what stands in the object, what its schema says stands there where nothing does, and what was made of it.

use super::super::pack::{self, flags, types};
use super::super::uri::Uri;
use super::super::value::is_null;
use super::{Answer, Fail, default_of};
use crate::known::Known;
use crate::parse::expression::Op;
use crate::parse::scalar::Scalar;
use crate::parse::{Shape, View, placeholder};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::net::IpAddr;
use std::rc::Rc;

/// A value.
#[derive(Debug, Clone)]
pub enum Value<'t> {
    /// It may be anything.
    Unknown,
    /// null
    Null,
    /// true, false
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Float(f64),
    /// Text.
    Str(Cow<'t, str>),
    /// An object or a list that is written, with its schema.
    View(View<'t>, Option<u32>),
    /// An object or a list that is there by default, with its schema.
    Json(Rc<Json>, Option<u32>),
    /// A list that was made.
    List(Rc<[Value<'t>]>),
    /// What may be missing.
    Optional(Option<Box<Value<'t>>>),
    /// Seconds.
    Duration(f64),
    /// An amount, in base units.
    Quantity(f64),
    /// An address.
    Ip(IpAddr),
    /// A network: its address and the length of its prefix.
    Cidr(IpAddr, u8),
    /// The name of a type.
    Type(&'static str),
    /// An address of the web.
    Url(Rc<Uri>),
    /// The name of a format of texts.
    Format(Rc<str>),
}

/// What JSON of a schema stands for.
pub fn absent<'t>(json: Json, schema: Option<u32>) -> Value<'t> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => number.as_i64().map_or(Value::Float(number.as_f64().unwrap_or_default()), Value::Int),
        Json::String(text) => Value::text(text),
        other => Value::Json(Rc::new(other), schema),
    }
}

/// The schema of a field, and of items.
fn field_schema(schema: Option<u32>, name: &str) -> Option<u32> {
    let node = pack::node(schema?);
    let at = node.properties.binary_search_by_key(&name, |(known, _)| known).ok();
    at.map(|at| node.properties[at].1).or(node.additional)
}

fn item_schema(schema: Option<u32>) -> Option<u32> {
    pack::node(schema?).items
}

impl<'t> Value<'t> {
    /// Text.
    pub fn text(text: String) -> Self {
        Value::Str(Cow::Owned(text))
    }

    /// What stands at a place.
    pub fn of(view: View<'t>, schema: Option<u32>) -> Self {
        let Some(node) = view.node().filter(|_| view.unknown().is_none()) else { return Value::Unknown };
        if let Shape::Map(_) | Shape::Seq(_) = node.kind() {
            return Value::View(view, schema);
        }
        let wanted = schema.map_or((0, 0), |schema| (pack::node(schema).types, pack::node(schema).flags));
        match node.scalar() {
            Some(Scalar::Str(text)) if placeholder(text).is_some() => Value::Unknown,
            Some(Scalar::Str(text)) => Value::Str(Cow::Borrowed(text)),
            Some(Scalar::Bool(value)) => Value::Bool(value),
            // A whole number where any number may stand is one like the others.
            Some(Scalar::Int(value)) if wanted.0 == types::NUMBER && wanted.1 & flags::INT_OR_STRING == 0 => {
                Value::Float(value as f64)
            }
            Some(Scalar::Int(value)) => Value::Int(value),
            Some(Scalar::Float(value)) => Value::Float(value),
            Some(Scalar::Null) => Value::Null,
            None => Value::Unknown,
        }
    }

    /// Whether it may be anything.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Value::Unknown)
    }

    /// Its text.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Str(text) = self { Some(text) } else { None }
    }

    /// Whether a field is there, by default too; nothing where that cannot be told.
    pub fn has(&self, name: &str) -> Result<Option<bool>, Fail> {
        Ok(match self {
            Value::Unknown => None,
            Value::View(view, schema) => match view.has(name) {
                Known::Unknown(_) => None,
                Known::Value(true) if is_null(view.get(name)) && is_nullable(field_schema(*schema, name)) => None,
                Known::Value(true) if view.get(name).is_some() || view.get(name).unknown().is_some() => Some(true),
                _ if field_schema(*schema, name).is_some_and(|s| pack::node(s).default.is_some()) => Some(true),
                _ if is_whole(*view) => Some(false),
                _ => None,
            },
            Value::Json(json, _) => Some(json.get(name).is_some()),
            Value::Optional(inner) => return inner.as_ref().map_or(Ok(Some(false)), |inner| inner.has(name)),
            _ => return Err(Fail::Error),
        })
    }

    /// A field.
    pub fn field(&self, name: &str) -> Answer<'t> {
        match (self, self.has(name)?) {
            (_, None) => Ok(Value::Unknown),
            (Value::Optional(_), Some(false)) => Ok(Value::Optional(None)),
            (_, Some(false)) => Err(Fail::Error),
            (Value::View(view, schema), _) => {
                let (below, schema) = (view.get(name), field_schema(*schema, name));
                let by_default = if below.is_some() { None } else { default_of(schema) };
                Ok(by_default.unwrap_or_else(|| Value::of(below, schema)))
            }
            (Value::Json(json, schema), _) => Ok(absent(json[name].clone(), field_schema(*schema, name))),
            (Value::Optional(Some(inner)), _) => Ok(Value::Optional(Some(Box::new(inner.field(name)?)))),
            _ => Err(Fail::Error),
        }
    }

    /// `a[b]`
    pub fn at(&self, index: &Value<'t>) -> Answer<'t> {
        match (self, index) {
            (Value::Unknown, _) | (_, Value::Unknown) => Ok(Value::Unknown),
            (_, Value::Str(name)) => self.field(name),
            (_, Value::Int(at)) => {
                let (items, whole) = self.turns().filter(|_| !self.is_map()).ok_or(Fail::Error)?;
                let found = usize::try_from(*at).ok().and_then(|at| items.get(at).cloned());
                if whole { found.ok_or(Fail::Error) } else { Ok(found.unwrap_or(Value::Unknown)) }
            }
            _ => Err(Fail::Error),
        }
    }

    /// `a.?b`, `a[?b]`
    pub fn optional(&self, key: &Value<'t>) -> Value<'t> {
        let inner = match self {
            Value::Optional(None) => return Value::Optional(None),
            Value::Optional(Some(inner)) => inner,
            other => other,
        };
        match inner.at(key) {
            Ok(Value::Unknown) => Value::Unknown,
            Ok(found) => Value::Optional(Some(Box::new(found))),
            Err(_) => Value::Optional(None),
        }
    }

    fn is_map(&self) -> bool {
        match self {
            Value::View(view, _) => view.node().is_some_and(|node| node.is_map()),
            Value::Json(json, _) => json.is_object(),
            _ => false,
        }
    }

    /// What a loop goes through, and whether that is all: the items of a list, the keys of an object.
    pub fn turns(&self) -> Option<(Vec<Value<'t>>, bool)> {
        Some(match self {
            Value::View(view, schema) if self.is_map() => {
                let dropped =
                    |(key, value): &(&str, View<'_>)| is_null(*value) && !is_nullable(field_schema(*schema, key));
                let keys = view.entries().into_iter().filter(|entry| !dropped(entry));
                (keys.map(|(key, _)| Value::Str(Cow::Borrowed(key))).collect(), is_whole(*view))
            }
            Value::View(view, schema) => {
                let items: Vec<_> = view.items().map(|item| Value::of(item, item_schema(*schema))).collect();
                (items, view.rest().is_none())
            }
            Value::Json(json, schema) => {
                let items = json.as_array().into_iter().flatten();
                let items = items.map(|item| absent(item.clone(), item_schema(*schema)));
                let keys = json.as_object().into_iter().flatten().map(|(key, _)| Value::text(key.clone()));
                (items.chain(keys).collect(), true)
            }
            Value::List(items) => (items.to_vec(), true),
            _ => return None,
        })
    }

    /// `a in b`
    pub fn contains(&self, wanted: &Value<'t>) -> Answer<'t> {
        if self.is_unknown() || wanted.is_unknown() {
            return Ok(Value::Unknown);
        }
        if let (true, Some(name)) = (self.is_map(), wanted.as_str()) {
            return Ok(self.has(name)?.map_or(Value::Unknown, Value::Bool));
        }
        let (items, whole) = self.turns().ok_or(Fail::Error)?;
        let answers: Vec<_> = items.iter().map(|item| equal(item, wanted)).collect();
        Ok(match () {
            () if answers.contains(&Some(true)) => Value::Bool(true),
            () if answers.contains(&None) || !whole => Value::Unknown,
            () => Value::Bool(false),
        })
    }

    /// How long it is.
    pub fn size(&self) -> Answer<'t> {
        Ok(match self {
            Value::Unknown => Value::Unknown,
            Value::Str(text) => Value::Int(text.chars().count() as i64),
            other => match other.turns().ok_or(Fail::Error)? {
                (items, true) => Value::Int(items.len() as i64),
                _ => Value::Unknown,
            },
        })
    }
}

/// Whether all fields of an object are written.
fn is_whole(view: View<'_>) -> bool {
    let written = view.node().map_or(0, |node| node.entries().len());
    view.rest().is_none() && view.open().is_none() && view.entries().len() == written
}

fn is_nullable(schema: Option<u32>) -> bool {
    schema.is_some_and(|schema| pack::node(schema).flags & flags::NULLABLE != 0)
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// Whether two values are the same; nothing where that cannot be told.
pub fn equal(left: &Value<'_>, right: &Value<'_>) -> Option<bool> {
    Some(match (left, right) {
        (Value::Unknown, _) | (_, Value::Unknown) => return None,
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) | (Value::Quantity(a), Value::Quantity(b)) => a == b,
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a, m), Value::Cidr(b, n)) => (a, m) == (b, n),
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Url(_), _) | (_, Value::Url(_)) | (Value::Format(_), _) | (_, Value::Format(_)) => return None,
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => return equal(a, b),
            (a, b) => a.is_none() && b.is_none(),
        },
        (a, b) if number(a).is_some() && number(b).is_some() => number(a) == number(b),
        (a, b) => return equal_parts(a, b),
    })
}

fn equal_parts(left: &Value<'_>, right: &Value<'_>) -> Option<bool> {
    let (Some((one, whole)), Some((other, all))) = (left.turns(), right.turns()) else { return Some(false) };
    if left.is_map() != right.is_map() {
        return Some(false);
    }
    if !whole || !all {
        return None;
    }
    if one.len() != other.len() {
        return Some(false);
    }
    let mut known = true;
    for (at, item) in one.iter().enumerate() {
        let same = match item.as_str().filter(|_| left.is_map()) {
            Some(name) if right.has(name).ok().flatten() != Some(true) => Some(false),
            Some(name) => equal(&left.field(name).ok()?, &right.field(name).ok()?),
            None => equal(item, &other[at]),
        };
        match same {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = false,
        }
    }
    known.then_some(true)
}

/// Which of two values comes first, where they have an order.
pub fn ordering(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) | (Value::Quantity(a), Value::Quantity(b)) => a.partial_cmp(b),
        (a, b) => number(a)?.partial_cmp(&number(b)?),
    }
}

/// `+ - * / %`
pub fn arithmetic<'t>(op: Op, left: &Value<'t>, right: &Value<'t>) -> Option<Value<'t>> {
    Some(match (op, left, right) {
        (Op::Add, Value::Str(a), Value::Str(b)) => Value::text(format!("{a}{b}")),
        (Op::Add, Value::Duration(a), Value::Duration(b)) => Value::Duration(a + b),
        (Op::Sub, Value::Duration(a), Value::Duration(b)) => Value::Duration(a - b),
        (_, Value::Int(a), Value::Int(b)) => Value::Int(match op {
            Op::Add => a.checked_add(*b)?,
            Op::Sub => a.checked_sub(*b)?,
            Op::Mul => a.checked_mul(*b)?,
            Op::Div => a.checked_div(*b)?,
            Op::Rem => a.checked_rem(*b)?,
            _ => return None,
        }),
        (_, Value::Float(a), Value::Float(b)) => Value::Float(match op {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Div => a / b,
            _ => return None,
        }),
        (Op::Add, a, b) => {
            let ((mut items, true), (more, true)) = (a.turns()?, b.turns()?) else { return Some(Value::Unknown) };
            items.extend(more);
            Value::List(items.into())
        }
        _ => return None,
    })
}
