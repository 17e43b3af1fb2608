//! What the rule language sees of the facts: types, values and the reflection that leads from one to the
//! other. Knows neither rules nor formats.

use crate::evidence;
use crate::known::{Fact, Known, Why};
use crate::parse::{Raw, Shape, View};
use crate::source::Span;
use crate::version::Version;
use crate::words::{Word, Words};
use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The type of a fact or an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// true, false
    Bool,
    /// A whole number.
    Int,
    /// Any number.
    Float,
    /// Text.
    Str,
    /// A version, ordered as versions are.
    Version,
    /// Only the literal null: what an absent fact equals.
    Null,
    /// A node of a raw document: typed when it is used.
    Dyn,
    /// A list.
    List(Box<Type>),
    /// Values by name.
    Map(Box<Type>),
    /// A word of a closed vocabulary: reads as text, and is compared with words of the vocabulary only.
    Word(&'static Words),
    /// An entity of the vocabulary.
    Entity(&'static EntityType),
}

/// An entity of the vocabulary: its name, its documentation and its fields.
pub struct EntityType {
    /// Name in the vocabulary, `Container`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its fields, in declaration order.
    pub fields: &'static [Field],
}

/// A field of an entity.
pub struct Field {
    /// Name as rules write it.
    pub name: &'static str,
    /// What it holds, with units.
    pub doc: &'static str,
    /// Its type. A function, because entities refer to each other.
    pub ty: fn() -> Type,
    /// Whether other files or the catalog decide it, so that it may be unknown although its own file is read whole.
    pub joined: bool,
}

impl PartialEq for EntityType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for EntityType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl EntityType {
    /// The index and declaration of a field.
    pub fn field(&self, name: &str) -> Option<(usize, &'static Field)> {
        self.fields.iter().enumerate().find(|(_, f)| f.name == name)
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Float => f.write_str("double"),
            Type::Str => f.write_str("string"),
            Type::Version => f.write_str("version"),
            Type::Null => f.write_str("null"),
            Type::Dyn => f.write_str("dyn"),
            Type::List(item) => write!(f, "list({item})"),
            Type::Map(value) => write!(f, "map({value})"),
            Type::Word(words) => f.write_str(words.name),
            Type::Entity(entity) => f.write_str(entity.name),
        }
    }
}

/// A field name without the `r#` that Rust needs for its own keywords.
pub const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// The name in a map of facts under which the entries stand that cannot be told: an unknown, for a reason.
pub const REST: &str = "…";

/// An entity: something with typed fields that rules can reach by name.
pub trait Entity: Send + Sync {
    /// Its type.
    fn entity(&self) -> &'static EntityType;
    /// The text that stands for it as a whole: its name, or the key it is written under.
    fn span(&self) -> Span;
    /// The value of the field with this index in [`EntityType::fields`].
    fn field(&self, index: usize) -> Value<'_>;
    /// Its Rust struct.
    fn as_any(&self) -> &(dyn Any + 'static);

    /// The value of the field of a name; null when there is no such field.
    fn named_field(&self, name: &str) -> Value<'_> {
        self.entity().field(name).map_or(Value::of(Data::Null), |(index, _)| self.field(index))
    }
}

impl dyn Entity + '_ {
    /// The struct of a type, if it is one.
    pub fn downcast<E: Entity + 'static>(&self) -> Option<&E> {
        self.as_any().downcast_ref()
    }
}

/// A value with the place that decided it.
#[derive(Clone)]
pub struct Value<'a> {
    /// What it is.
    pub data: Data<'a>,
    /// Where it was decided; `None` for literals and computed values.
    pub span: Option<Span>,
}

/// The value itself.
#[derive(Clone)]
pub enum Data<'a> {
    /// Absent.
    Null,
    /// Not known, and why.
    Unknown(Cow<'a, Why>),
    /// A Boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any number.
    Float(f64),
    /// Text.
    Str(Cow<'a, str>),
    /// A version.
    Version(Cow<'a, Version>),
    /// A list.
    List(Rc<[Value<'a>]>),
    /// Values by name; what stands under [`REST`] stands for every other name.
    Map(Rc<BTreeMap<Cow<'a, str>, Value<'a>>>),
    /// An entity.
    Entity(&'a dyn Entity),
    /// An entity that a function computed.
    Record(Rc<Record<'a>>),
    /// A container node of a raw document.
    Node(View<'a>),
}

/// A computed entity: its type and the values of its fields.
pub struct Record<'a> {
    /// Its type.
    pub entity: &'static EntityType,
    /// The values of its fields, in their order.
    pub fields: Vec<Value<'a>>,
}

impl<'a> Value<'a> {
    /// A computed value without a place.
    pub fn of(data: Data<'a>) -> Self {
        Self { data, span: None }
    }

    /// A value decided at a place.
    pub fn at(data: Data<'a>, span: Span) -> Self {
        Self { data, span: Some(span) }
    }

    /// An unknown value.
    pub fn unknown(why: Why, span: Option<Span>) -> Self {
        Self { data: Data::Unknown(Cow::Owned(why)), span }
    }

    /// The same, for what may not be there if this is unknown: what an unknown value holds, or decides.
    pub fn perhaps(self) -> Self {
        match self.data {
            Data::Unknown(why) => Self { data: Data::Unknown(Cow::Owned(why.into_owned().perhaps())), ..self },
            data => Self { data, ..self },
        }
    }

    /// A computed entity, whose fields are leaves.
    pub fn computed(entity: &dyn Entity) -> Self {
        let fields = (0..entity.entity().fields.len()).map(|index| entity.field(index).into_leaf()).collect();
        Self::at(Data::Record(Rc::new(Record { entity: entity.entity(), fields })), entity.span())
    }

    /// A leaf that borrows nothing; what is no leaf is not known.
    pub fn into_leaf<'b>(self) -> Value<'b> {
        let data = match self.data {
            Data::Null => Data::Null,
            Data::Bool(value) => Data::Bool(value),
            Data::Int(value) => Data::Int(value),
            Data::Float(value) => Data::Float(value),
            Data::Str(value) => Data::Str(Cow::Owned(value.into_owned())),
            Data::Version(value) => Data::Version(Cow::Owned(value.into_owned())),
            Data::Unknown(why) => Data::Unknown(Cow::Owned(why.into_owned())),
            Data::List(_) | Data::Map(_) | Data::Entity(_) | Data::Record(_) | Data::Node(_) => {
                Data::Unknown(Cow::Owned(Why::NotModelled("a computed list".into())))
            }
        };
        Value { data, span: self.span }
    }

    /// The value of a raw node: scalars are typed by their dialect, placeholders are unknown, collections
    /// stay nodes.
    pub fn of_view(view: View<'a>) -> Self {
        let data = match view.node().map(|n| n.kind()) {
            None => view.untold().map_or(Data::Null, |why| Data::Unknown(Cow::Borrowed(why))),
            Some(Shape::Null) => Data::Null,
            Some(Shape::Unknown(why)) => Data::Unknown(Cow::Owned(view.why(why.clone()))),
            Some(Shape::Map(_) | Shape::Seq(_)) => Data::Node(view),
            Some(Shape::Scalar { text, .. }) => {
                use crate::parse::scalar::Scalar;
                match view.node().and_then(|n| n.scalar()) {
                    None | Some(Scalar::Null) => Data::Null,
                    Some(Scalar::Bool(value)) => Data::Bool(value),
                    Some(Scalar::Int(value)) => Data::Int(value),
                    Some(Scalar::Float(value)) => Data::Float(value),
                    Some(Scalar::Str(value)) => match crate::parse::placeholder(text) {
                        Some(why) => Data::Unknown(Cow::Owned(view.why(why))),
                        None => Data::Str(Cow::Borrowed(value)),
                    },
                }
            }
        };
        Self::at(data, view.place())
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// The value under a name of a map; unknown, and perhaps not there, where the map does not tell all its entries, else `None`.
pub fn entry<'a>(map: &BTreeMap<Cow<'a, str>, Value<'a>>, name: &str) -> Option<Value<'a>> {
    map.get(name).cloned().or_else(|| Some(map.get(REST)?.clone().perhaps()))
}

/// The name of an entry of a map; unknown for the entries that cannot be told.
pub fn key_of<'a>((name, value): (&Cow<'a, str>, &Value<'a>)) -> Value<'a> {
    if name.as_ref() == REST { value.clone() } else { Value { data: Data::Str(name.clone()), span: value.span } }
}

/// A number with what matters of it: two places, and of the nines of a percentage all that set it apart from 100.
fn short(value: f64) -> f64 {
    let missing = 100.0 - value;
    let nines = missing > 0.0 && missing < 1.0;
    let places = if nines { (1.0 - missing.log10().floor()).clamp(2.0, 12.0) } else { 2.0 };
    let scale = 10f64.powf(places);
    (value * scale).round() / scale
}

/// How a value reads in a message.
impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.data {
            Data::Null => f.write_str("nothing"),
            Data::Unknown(why) => write!(f, "unknown ({why})"),
            Data::Bool(value) => write!(f, "{value}"),
            Data::Int(value) => write!(f, "{value}"),
            Data::Float(value) if value.fract() == 0.0 => write!(f, "{value:.0}"),
            Data::Float(value) if value.abs() >= 100.0 => write!(f, "{value:.0}"),
            Data::Float(value) => write!(f, "{}", short(*value)),
            Data::Str(value) => f.write_str(value),
            Data::Version(value) => write!(f, "{value}"),
            Data::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                Ok(())
            }
            Data::Map(map) => {
                for (i, (key, value)) in map.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    match key.as_ref() {
                        REST => f.write_str(REST)?,
                        _ => write!(f, "{key}={value}")?,
                    }
                }
                Ok(())
            }
            Data::Entity(entity) => f.write_str(entity.entity().name),
            Data::Record(record) => f.write_str(record.entity.name),
            Data::Node(view) => f.write_str(if view.node().is_some_and(|n| n.is_seq()) { "a list" } else { "a map" }),
        }
    }
}

/// Rust types that can be a field of an entity.
pub trait Reflect {
    /// Its type in the rule language.
    fn ty() -> Type;
    /// Its value in the rule language.
    fn reflect(&self) -> Value<'_>;
}

/// Leaves of the vocabulary.
pub trait Leaf {
    /// Its type in the rule language.
    const TYPE: Type;
    /// Its value in the rule language.
    fn data(&self) -> Data<'_>;
}

impl Leaf for bool {
    const TYPE: Type = Type::Bool;
    fn data(&self) -> Data<'_> {
        Data::Bool(*self)
    }
}

impl Leaf for i64 {
    const TYPE: Type = Type::Int;
    fn data(&self) -> Data<'_> {
        Data::Int(*self)
    }
}

impl Leaf for f64 {
    const TYPE: Type = Type::Float;
    fn data(&self) -> Data<'_> {
        Data::Float(*self)
    }
}

impl Leaf for String {
    const TYPE: Type = Type::Str;
    fn data(&self) -> Data<'_> {
        Data::Str(Cow::Borrowed(self))
    }
}

impl Leaf for Version {
    const TYPE: Type = Type::Version;
    fn data(&self) -> Data<'_> {
        Data::Version(Cow::Borrowed(self))
    }
}

impl<W: Word> Leaf for W {
    const TYPE: Type = Type::Word(W::WORDS);
    fn data(&self) -> Data<'_> {
        Data::Str(Cow::Borrowed(self.text()))
    }
}

impl<T: Leaf> Reflect for Fact<T> {
    fn ty() -> Type {
        T::TYPE
    }

    fn reflect(&self) -> Value<'_> {
        if self.unread {
            evidence::note_unread();
        }
        let data = match &self.known {
            Known::Value(value) => value.data(),
            Known::Absent => Data::Null,
            Known::Unknown(why) => Data::Unknown(Cow::Borrowed(why)),
        };
        Value::at(data, self.span)
    }
}

impl<T: Reflect> Reflect for Vec<T> {
    fn ty() -> Type {
        Type::List(Box::new(T::ty()))
    }

    fn reflect(&self) -> Value<'_> {
        Value::of(Data::List(self.iter().map(Reflect::reflect).collect()))
    }
}

impl<T: Reflect> Reflect for BTreeMap<String, T> {
    fn ty() -> Type {
        Type::Map(Box::new(T::ty()))
    }

    fn reflect(&self) -> Value<'_> {
        let map = self.iter().map(|(k, v)| (Cow::Borrowed(k.as_str()), v.reflect())).collect();
        Value::of(Data::Map(Rc::new(map)))
    }
}

impl<T: Reflect> Reflect for Option<T> {
    fn ty() -> Type {
        T::ty()
    }

    fn reflect(&self) -> Value<'_> {
        self.as_ref().map_or(Value::of(Data::Null), Reflect::reflect)
    }
}

impl<T: Reflect> Reflect for Box<T> {
    fn ty() -> Type {
        T::ty()
    }

    fn reflect(&self) -> Value<'_> {
        (**self).reflect()
    }
}

impl<T: Reflect> Reflect for Arc<T> {
    fn ty() -> Type {
        T::ty()
    }

    fn reflect(&self) -> Value<'_> {
        (**self).reflect()
    }
}

impl Reflect for Raw {
    fn ty() -> Type {
        Type::Dyn
    }

    fn reflect(&self) -> Value<'_> {
        Value::of_view(self.view())
    }
}

/// The state of a field before anything is stated.
pub trait Blank {
    /// Nothing stated under `span`.
    fn blank(span: Span) -> Self;

    /// Makes what is not stated unknown rather than absent.
    fn leave_open(&mut self, _why: &Why) {}
}

impl<T> Blank for Fact<T> {
    fn blank(span: Span) -> Self {
        Fact::absent(span)
    }

    fn leave_open(&mut self, why: &Why) {
        if self.is_absent() {
            self.known = Known::Unknown(why.clone());
        }
    }
}

impl<T> Blank for Vec<T> {
    fn blank(_: Span) -> Self {
        Vec::new()
    }
}

impl<T> Blank for Option<T> {
    fn blank(_: Span) -> Self {
        None
    }
}

impl<K, V> Blank for BTreeMap<K, V> {
    fn blank(_: Span) -> Self {
        BTreeMap::new()
    }
}

/// Declares entities of the vocabulary: a struct with a `span`, and its reflection, from one text.
///
/// A field that is joined with what other files state is marked `#[joined = true]`.
macro_rules! entities {
    ($($(#[doc = $doc:literal])+ $name:ident {
        $($(#[doc = $fdoc:literal])+ $(#[joined = $joined:literal])? $field:ident: $ty:ty,)*
    })*) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug, Clone)]
            pub struct $name {
                /// The text that stands for the whole.
                pub span: $crate::source::Span,
                /// Why it cannot be told whether there is one; what it states is unknown, too.
                pub perhaps: Option<$crate::known::Why>,
                $($(#[doc = $fdoc])+ pub $field: $ty,)*
            }

            impl $name {
                /// One of which nothing is stated: every fact absent at `span`, every list empty.
                pub fn blank(span: $crate::source::Span) -> Self {
                    Self { span, perhaps: None, $($field: $crate::facts::value::Blank::blank(span),)* }
                }

                /// Its type in the rule language.
                pub const TYPE: &'static $crate::facts::value::EntityType = &$crate::facts::value::EntityType {
                    name: stringify!($name),
                    doc: concat!($($doc),+),
                    fields: &[$($crate::facts::value::Field {
                        name: $crate::facts::value::plain(stringify!($field)),
                        doc: concat!($($fdoc),+),
                        ty: <$ty as $crate::facts::value::Reflect>::ty,
                        joined: false $(|| $joined)?,
                    },)*],
                };
            }

            impl $crate::facts::value::Entity for $name {
                fn entity(&self) -> &'static $crate::facts::value::EntityType {
                    Self::TYPE
                }

                fn span(&self) -> $crate::source::Span {
                    self.span
                }

                fn field(&self, index: usize) -> $crate::facts::value::Value<'_> {
                    let mut _current = 0;
                    $(
                        if index == _current {
                            return $crate::facts::value::Reflect::reflect(&self.$field);
                        }
                        _current += 1;
                    )*
                    $crate::facts::value::Value::of($crate::facts::value::Data::Null)
                }

                fn as_any(&self) -> &(dyn std::any::Any + 'static) {
                    self
                }
            }

            impl $crate::facts::value::Blank for $name {
                fn blank(span: $crate::source::Span) -> Self {
                    Self::blank(span)
                }

                fn leave_open(&mut self, why: &$crate::known::Why) {
                    $($crate::facts::value::Blank::leave_open(&mut self.$field, why);)*
                }
            }

            impl $crate::facts::value::Reflect for $name {
                fn ty() -> $crate::facts::value::Type {
                    $crate::facts::value::Type::Entity(Self::TYPE)
                }

                fn reflect(&self) -> $crate::facts::value::Value<'_> {
                    use $crate::facts::value::{Data, Value};
                    match &self.perhaps {
                        // It has no place: in a list it stands for any number of items.
                        Some(why) => Value::of(Data::Unknown(std::borrow::Cow::Borrowed(why))),
                        None => Value::at(Data::Entity(self), self.span),
                    }
                }
            }
        )*
    };
}
pub(crate) use entities;

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn nines_are_not_rounded_away() {
        for (value, text) in [
            (99.999999999, "99.999999999"),
            (99.995, "99.995"),
            (99.95, "99.95"),
            (99.5, "99.5"),
            (99.9 * 0.999, "99.8"),
            (15.999, "16"),
            (0.333333, "0.33"),
        ] {
            assert_eq!(short(value).to_string(), text);
        }
    }
}
