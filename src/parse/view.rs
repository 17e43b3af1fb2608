//! Places in trees: what stands there, and where it would stand if it does not.

use super::scalar::Scalar;
use super::tree::{Node, NodeId, Shape, Tree};
use crate::known::{Fact, Known, Why};
use crate::source::{Span, Traced};
use std::sync::Arc;

/// What is unknown of an object rather than absent where it is missing: no schema says that it stands nowhere else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    /// What decides it.
    pub why: &'static Why,
    /// Which fields are unknown when they are missing.
    pub missing: Missing,
}

/// Which fields of an [`Open`] object are unknown when they are missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Missing {
    /// All, at any depth, but these fields of the object itself.
    AllBut(&'static [&'static str]),
    /// Only fields of these names, at any depth.
    Only(&'static [&'static str]),
}

impl Open {
    /// What holds below a field.
    fn below(self, key: &str) -> Option<Open> {
        match self.missing {
            Missing::AllBut(fields) if fields.contains(&key) => None,
            Missing::AllBut(_) => Some(Open { missing: Missing::AllBut(&[]), ..self }),
            Missing::Only(_) => Some(self),
        }
    }

    /// What holds of a field that is missing.
    fn of_missing(self, key: &str) -> Option<Open> {
        match self.missing {
            Missing::Only(fields) if !fields.contains(&key) => None,
            Missing::Only(_) => Some(Open { missing: Missing::AllBut(&[]), ..self }),
            Missing::AllBut(_) => self.below(key),
        }
    }
}

/// A place in a tree that may be missing: absent facts still know the innermost text they would stand under.
#[derive(Debug, Clone, Copy)]
pub struct View<'t> {
    node: Option<Node<'t>>,
    place: Span,
    /// Whether the node stands for what may not be there: something below an unknown one.
    perhaps: bool,
    /// Whether it stands for the items of a list that is not known: it has no items itself, so that whoever goes into lists of
    /// lists comes to an end.
    an_item: bool,
    open: Option<Open>,
}

impl<'t> View<'t> {
    /// A view of something that may not be there; `place` is the text it would stand under.
    pub fn new(node: Option<Node<'t>>, place: Span) -> Self {
        Self { node, place, perhaps: false, an_item: false, open: None }
    }

    /// The same place in an object that may leave out what something else decides; everything below it may, too.
    pub fn opened(self, open: Option<Open>) -> Self {
        Self { open, ..self }
    }

    /// Why what is missing here is unknown, if it is.
    pub fn open(self) -> Option<Open> {
        self.open
    }

    /// Why it cannot be told what stands here, where nothing does.
    pub fn untold(self) -> Option<&'static Why> {
        self.open.filter(|_| self.node.is_none()).map(|open| open.why)
    }

    /// Why nothing can be told of what stands here, if it is so: it stands elsewhere, or an expression stands for it.
    pub fn unknown(self) -> Option<Why> {
        match self.node.map(Node::kind) {
            Some(Shape::Unknown(why)) => Some(self.why(why.clone())),
            Some(_) => self.node.filter(|node| node.is_unknown()).map(|_| Why::Template),
            None => self.untold().cloned(),
        }
    }

    /// The value under a key, or absent under this place.
    pub fn get(self, key: &str) -> View<'t> {
        match self.node.and_then(|n| n.entry(key)) {
            Some((own, value)) => {
                let open = self.open.and_then(|open| open.below(key));
                View { perhaps: own.text() != Some(key), open, ..View::of(own, value) }
            }
            // What is below something unknown is unknown itself.
            None => {
                let open = self.open.and_then(|open| open.of_missing(key));
                let node = self.node.filter(|node| node.is_unknown());
                View { node, perhaps: true, an_item: false, open, ..self }
            }
        }
    }

    /// The reason why the value here is unknown, for a reason found in its node.
    pub fn why(self, why: Why) -> Why {
        if self.perhaps { why.perhaps() } else { why }
    }

    fn of(key: Node<'t>, value: Node<'t>) -> View<'t> {
        let scalar = matches!(value.kind(), Shape::Scalar { .. } | Shape::Unknown(_));
        View::new(Some(value), if scalar { value.span() } else { key.span() })
    }

    /// The value under a dotted path of keys.
    pub fn path(self, path: &str) -> View<'t> {
        path.split('.').fold(self, |view, key| view.get(key))
    }

    /// The node, if it is there.
    pub fn node(self) -> Option<Node<'t>> {
        self.node
    }

    /// Whether something other than null stands here.
    pub fn is_some(self) -> bool {
        self.node.is_some_and(|n| !n.is_null())
    }

    /// The text to label: a scalar itself, the key of a container, the innermost existing text otherwise.
    pub fn place(self) -> Span {
        self.place
    }

    /// Views of the items of a sequence. Where it cannot be told what stands here, one item that is unknown.
    pub fn items(self) -> impl Iterator<Item = View<'t>> {
        let unknown = self.unknown().filter(|_| !self.an_item).map(|_| View { an_item: true, ..self });
        let items = self.node.into_iter().flat_map(Node::items);
        items.map(move |item| View { open: self.open, ..item.view() }).chain(unknown)
    }

    /// Keys and views of the entries of a mapping; empty otherwise. Keys without text and those that are no names but
    /// placeholders are left out.
    pub fn entries(self) -> Vec<(&'t str, View<'t>)> {
        let entries = self.node.map(Node::entries).unwrap_or_default();
        let named = entries.into_iter().filter(|(key, _)| key.unnamed().is_none());
        let below = |key: &str| self.open.and_then(|open| open.below(key));
        let view = |(key, value): (Node<'t>, _)| {
            let text = key.text()?;
            Some((text, View { open: below(text), ..View::of(key, value) }))
        };
        named.filter_map(view).collect()
    }

    /// Whether the key stands here, whatever its value is: unknown where other keys may stand here than are written.
    pub fn has(self, key: &str) -> Known<bool> {
        if self.node.is_some_and(|node| node.stated(key).is_some()) {
            return Known::Value(true);
        }
        let missing = self.get(key);
        match (missing.untold(), missing.node.map(Node::kind)) {
            (Some(why), _) | (None, Some(Shape::Unknown(why))) => Known::Unknown(why.clone()),
            (None, found) => found.map_or(Known::Value(false), |_| Known::Unknown(Why::Template)),
        }
    }

    /// What stands for the entries of a mapping that cannot be told, if it may have such.
    pub fn rest(self) -> Option<View<'t>> {
        match self.node {
            Some(node) if node.is_unknown() => Some(self),
            Some(node) => node.open().map(|(key, value)| View { perhaps: true, ..View::of(key, value) }),
            None => self.untold().map(|_| self),
        }
    }

    fn fact<T>(self, read: impl FnOnce(Node<'t>) -> Option<T>) -> Fact<T> {
        let Some(node) = self.node else {
            let known = self.untold().map_or(Known::Absent, |why| Known::Unknown(why.clone()));
            return Fact { known, span: self.place, unread: false };
        };
        let known = match node.kind() {
            Shape::Unknown(why) => Known::Unknown(self.why(why.clone())),
            Shape::Null => Known::Absent,
            Shape::Scalar { text, .. } => match read(node) {
                Some(value) => Known::Value(value),
                None if node.is_null() => Known::Absent,
                None => {
                    let why = super::placeholder(text).unwrap_or_else(|| Why::Malformed(text.into()));
                    Known::Unknown(self.why(why))
                }
            },
            Shape::Map(_) | Shape::Seq(_) => Known::Unknown(Why::Malformed("a collection".into())),
        };
        Fact { known, span: self.place, unread: false }
    }

    /// The text of a scalar of any type; placeholders are unknown.
    pub fn string(self) -> Fact<String> {
        self.fact(|n| match n.scalar() {
            Some(Scalar::Null) | None => None,
            Some(_) => n.text().filter(|t| super::placeholder(t).is_none()).map(str::to_owned),
        })
    }

    /// The text of a scalar with its way back to the source; placeholders are kept.
    pub fn traced(self) -> Option<Traced> {
        self.node.and_then(Node::traced)
    }

    /// The text of a scalar as it stands, placeholders included.
    pub fn written(self) -> Fact<String> {
        self.traced().map_or(Fact::absent(self.place()), |text| Fact::value(text.text().to_owned(), text.whole()))
    }

    /// A Boolean in this dialect, or the strings `true` and `false` where a template quoted them.
    pub fn boolean(self) -> Fact<bool> {
        self.fact(|n| match n.scalar() {
            Some(Scalar::Bool(value)) => Some(value),
            Some(Scalar::Str(text)) if text.eq_ignore_ascii_case("true") => Some(true),
            Some(Scalar::Str(text)) if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        })
    }

    /// A whole number, quoted or not.
    pub fn int(self) -> Fact<i64> {
        self.fact(|n| match n.scalar() {
            Some(Scalar::Int(value)) => Some(value),
            Some(Scalar::Float(value)) if value.fract() == 0.0 && value.abs() < 9e15 => Some(value as i64),
            Some(Scalar::Str(text)) => text.trim().parse().ok(),
            _ => None,
        })
    }

    /// A number, quoted or not.
    pub fn float(self) -> Fact<f64> {
        self.fact(|n| match n.scalar() {
            Some(Scalar::Int(value)) => Some(value as f64),
            Some(Scalar::Float(value)) => Some(value),
            Some(Scalar::Str(text)) => text.trim().parse().ok(),
            _ => None,
        })
    }

    /// Any scalar through a parser; unknown as malformed when it does not parse.
    pub fn parse<T>(self, parse: impl FnOnce(&str) -> Option<T>) -> Fact<T> {
        self.fact(|n| n.text().filter(|t| super::placeholder(t).is_none()).and_then(parse))
    }

    /// The texts of a sequence of scalars, or of one scalar where a list is expected.
    pub fn strings(self) -> Vec<Fact<String>> {
        match self.node.map(Node::kind) {
            Some(Shape::Seq(_)) => self.items().map(View::string).collect(),
            Some(Shape::Scalar { .. } | Shape::Unknown(_)) => vec![self.string()],
            _ => vec![],
        }
    }
}

/// A node that outlives its borrow: the tree is shared.
#[derive(Debug, Clone)]
pub struct Raw {
    /// The tree.
    pub tree: Arc<Tree>,
    /// The node; `None` for something absent.
    pub id: Option<NodeId>,
    /// The text to label.
    pub place: Span,
    /// Why what is missing in it is unknown, if it is.
    pub open: Option<Open>,
}

impl Raw {
    /// Keeps a view of a shared tree.
    pub fn new(tree: &Arc<Tree>, view: View<'_>) -> Self {
        let tree = view.node().map_or(tree, |node| tree.holding(node));
        Self { tree: Arc::clone(tree), id: view.node().map(Node::id), place: view.place(), open: view.open() }
    }

    /// The view again.
    pub fn view(&self) -> View<'_> {
        View::new(self.id.map(|id| self.tree.node(id)), self.place).opened(self.open)
    }
}
