//! Values that templates compute with. Every value may know where it was written; mappings are shared and mutable, as
//! `set` needs. Knows types and places; knows no template language.

pub use super::collections::{ANYTHING, Entry, Items, Map};
use super::text::{Origin, Text};
use crate::budget::{NODE, STEP, Share};
use crate::known::Why;
use crate::parse::scalar::Scalar;
use crate::parse::{Node, Shape};
use crate::source::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a mapping costs beside its keys and values.
const MAP: usize = 6 * NODE;

/// A value and where it was written.
#[derive(Debug, Clone, Default)]
pub struct Value {
    /// The value.
    pub data: Data,
    /// What states it, when something does.
    pub origin: Option<Span>,
}

/// What a value is.
#[derive(Debug, Clone, Default)]
pub enum Data {
    /// Nothing.
    #[default]
    Nil,
    /// A truth value.
    Bool(bool),
    /// A whole number of the template language, and what Go calls its type; numbers of YAML are floating.
    Int(i64, &'static str),
    /// A floating number.
    Float(f64),
    /// Text.
    Str(Rc<Text>),
    /// Items, never changed in place.
    List(Rc<Items>),
    /// Keys and values, shared.
    Map(Map),
    /// The bytes of a file.
    Bytes(Rc<Text>),
    /// Files of a chart.
    Files(Rc<Files>),
    /// What a cluster offers: `apps/v1`, `apps/v1/Deployment`.
    Versions(Rc<Vec<String>>),
    /// It exists but is not known.
    Unknown(Why),
}

/// Paths and texts of files that templates may read.
pub type Files = BTreeMap<String, Rc<Text>>;

impl From<Data> for Value {
    fn from(data: Data) -> Self {
        Self { data, origin: None }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Data::Bool(value).into()
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Data::Int(value, "int").into()
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Data::Float(value).into()
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Text::plain(value).into()
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Text::plain(value).into()
    }
}

impl From<Text> for Value {
    fn from(value: Text) -> Self {
        Value { origin: value.place(), data: Data::Str(Rc::new(value)) }
    }
}

impl From<Map> for Value {
    fn from(value: Map) -> Self {
        Data::Map(value).into()
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Data::List(Rc::new(value.into())).into()
    }
}

impl From<Items> for Value {
    fn from(value: Items) -> Self {
        Data::List(Rc::new(value)).into()
    }
}

impl From<Why> for Value {
    fn from(why: Why) -> Self {
        Data::Unknown(why).into()
    }
}

impl Value {
    /// A whole number of 64 bits, as Sprig computes with.
    pub fn long(value: i64) -> Self {
        Data::Int(value, "int64").into()
    }

    /// Nothing, from nowhere.
    pub const NIL: Value = Value { data: Data::Nil, origin: None };

    /// What a node of a document states, with the types that Helm sees: every number is floating.
    pub fn from_node(node: Node<'_>, share: &Share) -> Self {
        Self::read(node, share, 1)
    }

    fn read(node: Node<'_>, share: &Share, level: usize) -> Self {
        let origin = Some(node.span());
        let traced = node.traced();
        let bytes = traced.as_ref().map_or(0, |text| text.text().len() + text.tiles().len() * STEP);
        let bytes = NODE + bytes + if node.is_map() { MAP } else { 0 };
        if let Err(spent) = share.nest(level).and_then(|()| share.make(bytes)) {
            return Value { data: Data::Unknown(Why::Malformed(spent.to_string().into())), origin };
        }
        let data = match node.kind() {
            Shape::Unknown(why) => Data::Unknown(why.clone()),
            Shape::Seq(_) => {
                let items: Vec<Value> = node.items().map(|item| Self::read(item, share, level + 1)).collect();
                Data::List(Rc::new(items.into()))
            }
            Shape::Map(_) => {
                let map = Map::new();
                for (key, value) in node.entries() {
                    if let Some(name) = key_text(key) {
                        map.insert(&name, Some(key.span()), Self::read(value, share, level + 1));
                    }
                }
                Data::Map(map)
            }
            Shape::Null | Shape::Scalar { .. } => match node.scalar() {
                None | Some(Scalar::Null) => Data::Nil,
                Some(Scalar::Bool(value)) => Data::Bool(value),
                Some(Scalar::Int(value)) => Data::Float(value as f64),
                Some(Scalar::Float(value)) => Data::Float(value),
                Some(Scalar::Str(text)) => {
                    Data::Str(Rc::new(traced.as_ref().map_or_else(|| Text::plain(text), Text::read)))
                }
            },
        };
        Value { data, origin }
    }

    /// The value with its place, unless it has one.
    pub fn at(mut self, origin: Option<Span>) -> Self {
        self.origin = self.origin.or(origin);
        self
    }

    /// The text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The mapping, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.data {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// Why it is not known, if it is not. Text of which a part is unknown is unknown.
    pub fn unknown(&self) -> Option<Why> {
        match &self.data {
            Data::Unknown(why) => Some(why.clone()),
            Data::Str(text) | Data::Bytes(text) if text.is_unknown() => Some(Why::Template),
            _ => None,
        }
    }

    /// Whether it is nothing.
    pub fn is_nil(&self) -> bool {
        matches!(self.data, Data::Nil)
    }

    /// What a condition takes it for: zero values and what is empty or unknown are false.
    pub fn is_true(&self) -> bool {
        match &self.data {
            Data::Nil | Data::Unknown(_) => false,
            Data::Bool(value) => *value,
            Data::Int(value, _) => *value != 0,
            Data::Float(value) => *value != 0.0,
            Data::Str(text) | Data::Bytes(text) => !text.is_empty(),
            Data::List(items) => !items.is_empty(),
            Data::Map(map) => !map.is_empty(),
            Data::Files(files) => !files.is_empty(),
            Data::Versions(versions) => !versions.is_empty(),
        }
    }

    /// A copy that shares no mapping with this value.
    pub fn deep_copy(&self, share: &Share) -> Value {
        self.copy(share, 1)
    }

    fn copy(&self, share: &Share, level: usize) -> Value {
        let data = match &self.data {
            _ if share.nest(level).is_err() || share.make(NODE).is_err() => Data::Nil,
            Data::List(items) => {
                let copied = items.iter().map(|item| item.copy(share, level + 1)).collect();
                Data::List(Rc::new(items.with(copied)))
            }
            Data::Map(map) => {
                let out = Map::new();
                let entries = if share.make(MAP).is_ok() { map.entries() } else { Vec::new() };
                for (key, entry) in entries {
                    out.insert(&key, entry.key, entry.value.copy(share, level + 1));
                }
                Data::Map(out.as_class(map.class()))
            }
            data => data.clone(),
        };
        Value { data, origin: self.origin }
    }

    /// Bytes that were made for it, but for what it shares with other values.
    pub fn fresh(&self) -> usize {
        match &self.data {
            Data::Str(text) | Data::Bytes(text) if Rc::strong_count(text) == 1 => text.size(),
            Data::List(items) if Rc::strong_count(items) == 1 => items.len() * size_of::<Value>(),
            Data::Map(map) if map.is_alone() => MAP + map.len() * NODE,
            _ => 0,
        }
    }

    /// The text that stands for something unknown: readers of the output take it for a placeholder.
    pub fn placeholder(why: &Why, origin: Option<Span>) -> Text {
        let name: String = match why {
            Why::Variable(name) | Why::Remote(name) => name.chars().filter(|c| c.is_ascii_alphanumeric()).collect(),
            _ => String::new(),
        };
        let name = if name.is_empty() { "template" } else { &name };
        Text::of(format!("$({name})"), Origin { unknown: true, ..Origin::whole(origin) })
    }
}

/// A key as JSON would write it.
fn key_text(key: Node<'_>) -> Option<String> {
    match key.scalar()? {
        Scalar::Bool(value) => Some(value.to_string()),
        Scalar::Null => Some("null".to_owned()),
        _ => key.text().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    fn value(text: &str) -> Value {
        let tree = yaml::parse(SourceId(0), text, Dialect::Kubernetes);
        yaml::root(&tree).map(|root| Value::from_node(root, &Share::of(1, 0))).unwrap_or_default()
    }

    #[test]
    fn values_know_their_places() {
        let root = value("gpu:\n  count: 8\n  name: \"H100\"\n");
        let gpu = root.as_map().and_then(|m| m.get("gpu")).unwrap();
        let entries = gpu.as_map().unwrap().entries();
        let places: Vec<_> =
            entries.iter().map(|(k, e)| (k.as_str(), e.key.unwrap().start, e.value.origin.unwrap().start)).collect();
        assert_eq!(places, [("count", 7, 14), ("name", 18, 24)]);
        let Data::Str(text) = &entries[1].1.value.data else { panic!("text") };
        assert_eq!(text.place().map(Span::range), Some(25..29));
    }

    #[test]
    fn types_are_those_of_helm() {
        let root = value("a: 1\nb: yes\nc: ~\nd: '1'\n8080: x\n");
        let get = |key: &str| root.as_map().and_then(|m| m.get(key)).unwrap().data;
        assert!(matches!(get("a"), Data::Float(1.0)));
        assert!(matches!(get("b"), Data::Bool(true)));
        assert!(matches!(get("c"), Data::Nil));
        assert!(matches!(get("d"), Data::Str(_)));
        assert!(matches!(get("8080"), Data::Str(_)));
    }

    #[test]
    fn a_mapping_is_shared_until_it_is_copied() {
        let a = value("x: {y: 1}");
        let (same, copy) = (a.clone(), a.deep_copy(&Share::of(1, 0)));
        a.as_map().unwrap().insert("z", None, true.into());
        assert!(same.as_map().unwrap().has("z") && !copy.as_map().unwrap().has("z"));
    }

    #[test]
    fn a_mapping_that_holds_itself_can_be_copied() {
        let map = Map::new();
        map.insert("self", None, map.clone().into());
        Value::from(map).deep_copy(&Share::of(1, 0));
    }

    #[test]
    fn values_nested_deeper_than_the_stack_are_dropped() {
        let mut value = Value::NIL;
        (0..300_000).for_each(|i| {
            let inner = std::mem::take(&mut value);
            value = if i % 2 == 0 { vec![inner].into() } else { Map::from_iter([("x", inner)]).into() };
        });
    }

    #[test]
    fn aliases_cannot_multiply_without_end() {
        let mut text = "a0: &a0 [x]\n".to_owned();
        (1..14).for_each(|i| text += &format!("a{i}: &a{i} [*a{p}, *a{p}]\n", p = i - 1));
        assert!(value(&text).is_true());
        (14..60).for_each(|i| text += &format!("a{i}: &a{i} [*a{p}, *a{p}]\n", p = i - 1));
        assert!(!value(&text).is_true());
    }
}
