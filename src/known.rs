//! Three-valued knowledge: a fact is a value, absent, or unknown for a stated reason. Knows spans only.

use crate::evidence;
use crate::source::Span;
use std::fmt;

/// What is known of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known<T> {
    /// It is this.
    Value(T),
    /// It was not stated, and nothing supplies it.
    Absent,
    /// It cannot be told from the files at hand; the reason says whether it is there ([`Why::is_stated`]).
    Unknown(Why),
}

/// Why a fact is unknown: the one thing that would decide it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A template expression that has not been evaluated (`{{ … }}`, `{% … %}`).
    Template,
    /// A placeholder to be filled in by hand or by a script (`<GPU>`, `REPLACE_ME`, `${X}`).
    Placeholder,
    /// A variable, parameter or environment value without a value at hand: its name.
    Variable(Box<str>),
    /// Computed elsewhere: a data source, a resource attribute, a remote module. What it is.
    Remote(Box<str>),
    /// An image named by digest only: its version is not in the name.
    DigestOnly,
    /// A value that the catalog has no row for: the value.
    NotInCatalog(Box<str>),
    /// Several candidates disagree: what they are.
    Ambiguous(Box<str>),
    /// A value of another type than the field has, or one that does not parse: the value.
    Malformed(Box<str>),
    /// Nothing in the files states it: what would.
    NotStated(Box<str>),
    /// It may stand in a file that could not be read as a whole: its path.
    Unread(Box<str>),
    /// Something that the formulas do not cover: what it is.
    NotModelled(Box<str>),
    /// Not written, and filled in by something that runs later: an operator, a controller.
    LeftTo(Box<str>),
    /// It may not even be there, and why that cannot be told: what is below something unknown, a condition.
    Perhaps(Box<Why>),
}

impl Why {
    /// Whether something is there, though its value cannot be told: an expression or a placeholder stands in its place.
    pub fn is_stated(&self) -> bool {
        matches!(
            self,
            Why::Template | Why::Placeholder | Why::Variable(_) | Why::Remote(_) | Why::DigestOnly | Why::Malformed(_)
        )
    }

    /// The same reason for something that may not be there.
    pub fn perhaps(self) -> Self {
        if self.is_stated() { Why::Perhaps(Box::new(self)) } else { self }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Template => write!(f, "a template expression decides it"),
            Why::Placeholder => write!(f, "a placeholder stands for it"),
            Why::Variable(name) => write!(f, "the variable {name} has no value here"),
            Why::Remote(what) | Why::LeftTo(what) => write!(f, "{what} decides it at run time"),
            Why::DigestOnly => write!(f, "the image is named by digest only"),
            Why::NotInCatalog(value) => write!(f, "the catalog has no row for {value}"),
            Why::Ambiguous(values) => write!(f, "several candidates disagree: {values}"),
            Why::Malformed(value) => write!(f, "{value} cannot be read as a value of this field"),
            Why::NotStated(what) => write!(f, "{what} is not stated in these files"),
            Why::Unread(path) => write!(f, "{path} could not be read as a whole, and may state it"),
            Why::NotModelled(what) => write!(f, "{what} is not modelled"),
            Why::Perhaps(why) => write!(f, "{why}"),
        }
    }
}

/// A leaf of the fact vocabulary: what is known, and where that was decided.
///
/// The span of a value is the text that states it (or, for a default, the nearest text around it); the
/// span of an absent fact is the innermost existing text under which it would stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact<T> {
    /// The three-valued value.
    pub known: Known<T>,
    /// Where it was decided.
    pub span: Span,
    /// Whether it rests on a statement whose source nobody read.
    pub unread: bool,
}

impl Known<i64> {
    /// The sum of two numbers, where both are known.
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Value(x), Self::Value(y)) => Self::Value(x.saturating_add(y)),
            (Self::Value(_), other) | (other, _) => other,
        }
    }
}

impl Fact<i64> {
    /// The sum of two numbers, where both are known, at the last of them that adds something.
    pub fn plus(self, other: Self) -> Self {
        let last = self.get().is_some() && other.get().is_none_or(|count| *count > 0);
        Self {
            span: if last { other.span } else { self.span },
            known: self.known.plus(other.known),
            unread: self.unread || other.unread,
        }
    }

    /// The product of two numbers, where both are known.
    pub fn times(&self, other: &Self) -> Self {
        match (self.get(), other.get()) {
            (Some(x), Some(y)) => Self::value(x.saturating_mul(*y), if *x > 1 { self.span } else { other.span }),
            (None, _) => self.clone(),
            _ => other.clone(),
        }
    }
}

impl<T> Fact<T> {
    /// A known value.
    pub fn value(value: T, span: Span) -> Self {
        Self { known: Known::Value(value), span, unread: false }
    }

    /// Not stated under `span`.
    pub fn absent(span: Span) -> Self {
        Self { known: Known::Absent, span, unread: false }
    }

    /// Unknown, and why.
    pub fn unknown(why: Why, span: Span) -> Self {
        Self { known: Known::Unknown(why), span, unread: false }
    }

    /// A value, or absent at `span`.
    pub fn from_option(value: Option<T>, span: Span) -> Self {
        value.map_or_else(|| Self::absent(span), |v| Self::value(v, span))
    }

    /// The same knowledge, resting on a statement that was read in its source or (`true`) was not.
    pub fn resting_on(mut self, unread: bool) -> Self {
        self.unread = unread;
        self
    }

    /// The fact that `ask` answers, resting on what was used for it.
    pub fn watched(ask: impl FnOnce() -> Self) -> Self {
        let (mut fact, unread) = evidence::watched(ask);
        fact.unread |= unread;
        fact
    }

    /// The value, if it is known.
    pub fn get(&self) -> Option<&T> {
        match &self.known {
            Known::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Why it cannot be told, if it cannot.
    pub fn why(&self) -> Option<&Why> {
        match &self.known {
            Known::Unknown(why) => Some(why),
            _ => None,
        }
    }

    /// Whether it was not stated.
    pub fn is_absent(&self) -> bool {
        matches!(self.known, Known::Absent)
    }

    /// Whether it cannot be told.
    pub fn is_unknown(&self) -> bool {
        matches!(self.known, Known::Unknown(_))
    }

    /// The same knowledge through a function.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        self.and_then(|value| Known::Value(f(value)))
    }

    /// The same knowledge through a function that may not know.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Known<U>) -> Fact<U> {
        let known = match self.known {
            Known::Value(value) => f(value),
            Known::Absent => Known::Absent,
            Known::Unknown(why) => Known::Unknown(why),
        };
        Fact { known, span: self.span, unread: self.unread }
    }

    /// The value, or `default` where it is absent (API defaulting); unknown stays unknown.
    pub fn or_default(self, default: T) -> Self {
        match self.known {
            Known::Absent => Self::value(default, self.span),
            _ => self,
        }
    }

    /// This fact unless it is absent, then the other one.
    pub fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_absent() { other() } else { self }
    }
}
