//! Documents that can be changed: owned copies of trees in which every node keeps the span that it was read with. What
//! is copied is shared until it is changed. Knows nothing of kustomizations.

use crate::budget::{NODE, STEP, Share, Spent};
use crate::known::Why;
use crate::parse::{Builder, Dialect, Entry, Node, NodeId, NodeKind, Shape, Tree};
use crate::source::{SourceId, Span, Traced};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// A node that owns what is below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Doc {
    /// What it is.
    pub value: Value,
    /// Where it was written.
    pub span: Span,
    /// Its explicit tag.
    pub tag: Option<Box<str>>,
}

/// What a [`Doc`] is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Null.
    Null,
    /// A scalar; `plain` when it takes its type from its text.
    Scalar {
        /// The decoded text.
        text: Traced,
        /// Unquoted.
        plain: bool,
    },
    /// Entries in order, each key once.
    Map(List<(Doc, Doc)>),
    /// Items.
    Seq(List<Doc>),
    /// An expression that was not evaluated.
    Unknown(Why),
}

/// A list whose copies are one until they are changed. One of a tree stays there until something looks at it.
#[derive(Debug, Clone)]
pub struct List<T>(Arc<Items<T>>);

#[derive(Debug, Clone)]
struct Items<T> {
    own: Vec<T>,
    /// Where its items stand, with them once something looked.
    read: Option<(Place, OnceLock<Vec<T>>)>,
}

/// A node of a tree.
type Place = (Arc<Tree>, NodeId);

/// What lists hold.
pub trait Item: Clone {
    /// All of a node.
    fn below(place: &Place) -> Vec<Self>;
}

impl Item for Doc {
    fn below((tree, node): &Place) -> Vec<Self> {
        tree.node(*node).items().map(|item| shallow(tree, item)).collect()
    }
}

impl Item for (Doc, Doc) {
    fn below((tree, node): &Place) -> Vec<Self> {
        let entries = tree.node(*node).entries_and_rest();
        entries.into_iter().map(|(key, value)| (shallow(tree, key), shallow(tree, value))).collect()
    }
}

impl<T> List<T> {
    /// A list that stands in a tree.
    fn read(place: Place) -> Self {
        List(Arc::new(Items { own: Vec::new(), read: Some((place, OnceLock::new())) }))
    }

    /// Where it stands, if nothing changed it.
    fn place(&self) -> Option<&Place> {
        self.0.read.as_ref().map(|(place, _)| place)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::from_iter([])
    }
}

impl<T: Item> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        match &self.0.read {
            Some((place, items)) => items.get_or_init(|| T::below(place)),
            None => &self.0.own,
        }
    }
}

impl<T: Item> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        // What its copies hold is one, too.
        let _ = self.len();
        let items = Arc::make_mut(&mut self.0);
        if let Some((_, read)) = items.read.take() {
            items.own = read.into_inner().unwrap_or_default();
        }
        &mut items.own
    }
}

impl<T: Item + PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        List(Arc::new(Items { own: items.into_iter().collect(), read: None }))
    }
}

impl<T: Item> List<T> {
    /// Its items as a vector of their own.
    pub fn own(mut self) -> Vec<T> {
        std::mem::take(&mut *self)
    }
}

impl Doc {
    /// Copies a node with aliases expanded and merge keys applied.
    ///
    /// # Errors
    /// It is too large or too deep.
    pub fn read(node: Node<'_>, share: &Share) -> Result<Doc, Spent> {
        copy(node, share, 1)
    }

    /// The same of a tree that is shared, for as long as nothing changes it.
    ///
    /// # Errors
    /// As above.
    pub fn shared(tree: &Arc<Tree>, node: Node<'_>, share: &Share) -> Result<Doc, Spent> {
        if tree.dialect != Dialect::Kubernetes {
            return Self::read(node, share);
        }
        spend(node, share, 1)?;
        Ok(shallow(tree, node))
    }

    /// Goes through all that it holds, as if it stood that many levels deep.
    ///
    /// # Errors
    /// It is too large or too deep.
    pub fn measure(&self, share: &Share, level: usize) -> Result<(), Spent> {
        share.work(STEP)?;
        share.nest(level)?;
        self.items().iter().try_for_each(|item| item.measure(share, level + 1))?;
        self.entries().iter().try_for_each(|(_, value)| value.measure(share, level + 1))
    }

    /// Spends what it costs to look through it and to change it: what is shared is copied then.
    ///
    /// # Errors
    /// Nothing is left.
    pub fn open(&self, share: &Share) -> Result<(), Spent> {
        let (len, shared) = match &self.value {
            Value::Map(entries) => (entries.len(), Arc::strong_count(&entries.0) > 1),
            Value::Seq(items) => (items.len(), Arc::strong_count(&items.0) > 1),
            _ => (0, false),
        };
        share.work(STEP + len)?;
        if shared { share.make(len * NODE) } else { Ok(()) }
    }

    /// The node of a tree that it still is.
    fn unchanged(&self) -> Option<&Place> {
        let place = match &self.value {
            Value::Map(entries) => entries.place(),
            Value::Seq(items) => items.place(),
            _ => None,
        };
        place.filter(|(tree, node)| {
            let node = tree.node(*node);
            node.span() == self.span && node.tag() == self.tag.as_deref()
        })
    }

    /// Null.
    pub fn null(span: Span) -> Doc {
        Doc { value: Value::Null, span, tag: None }
    }

    /// A string that stands at `span`, or that was computed from what stands there.
    pub fn string(text: impl Into<Box<str>>, span: Span) -> Doc {
        Doc::traced(Traced::opaque(text, span))
    }

    /// A string with its way back.
    pub fn traced(text: Traced) -> Doc {
        Doc { span: text.whole(), value: Value::Scalar { text, plain: false }, tag: None }
    }

    /// An empty mapping.
    pub fn map(span: Span) -> Doc {
        Doc { value: Value::Map(List::default()), span, tag: None }
    }

    /// Whether it is null, written or implied.
    pub fn is_null(&self) -> bool {
        match &self.value {
            Value::Null => true,
            Value::Scalar { text, plain: true } => matches!(text.text(), "" | "~" | "null" | "Null" | "NULL"),
            _ => false,
        }
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text.text()),
            _ => None,
        }
    }

    /// Whether it is the Boolean `true`.
    pub fn is_true(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, .. } if matches!(text.text(), "true" | "True" | "TRUE"))
    }

    /// The entries of a mapping; empty otherwise.
    pub fn entries(&self) -> &[(Doc, Doc)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a sequence; empty otherwise.
    pub fn items(&self) -> &[Doc] {
        match &self.value {
            Value::Seq(items) => items,
            _ => &[],
        }
    }

    /// The value under a key of a kustomization, which is read whatever the case of its letters.
    pub fn field(&self, key: &str) -> Option<&Doc> {
        self.get(key).or_else(|| {
            let same = |(k, _): &&(Doc, Doc)| k.text().is_some_and(|text| text.eq_ignore_ascii_case(key));
            self.entries().iter().find(same).map(|(_, value)| value)
        })
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Doc> {
        self.entries().iter().find(|(k, _)| k.text() == Some(key)).map(|(_, value)| value)
    }

    /// The value under a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Doc> {
        match &mut self.value {
            Value::Map(entries) => entries.iter_mut().find(|(k, _)| k.text() == Some(key)).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value under keys.
    pub fn at(&self, path: &[&str]) -> Option<&Doc> {
        path.iter().try_fold(self, |doc, key| doc.get(key))
    }

    /// The text under keys.
    pub fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path).and_then(Doc::text)
    }

    /// Sets a key; null becomes a mapping, and anything else that is none stays as it is.
    pub fn set(&mut self, key: Doc, value: Doc) {
        if self.is_null() {
            self.value = Value::Map(List::default());
        }
        let Some(name) = key.text().map(str::to_owned) else { return };
        match self.get_mut(&name) {
            Some(old) => *old = value,
            None => {
                if let Value::Map(entries) = &mut self.value {
                    entries.push((key, value));
                }
            }
        }
    }

    /// Sets many keys.
    pub fn extend(&mut self, more: impl IntoIterator<Item = (Doc, Doc)>) {
        if self.is_null() {
            self.value = Value::Map(List::default());
        }
        let Value::Map(entries) = &mut self.value else { return };
        let text = |key: &Doc| key.text().map(str::to_owned);
        let mut places: HashMap<String, usize> =
            entries.iter().enumerate().rev().filter_map(|(at, (key, _))| Some((text(key)?, at))).collect();
        for (key, value) in more {
            let Some(name) = text(&key) else { continue };
            match places.get(&name) {
                Some(&at) => entries[at].1 = value,
                None => {
                    places.insert(name, entries.len());
                    entries.push((key, value));
                }
            }
        }
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &str) -> Option<Doc> {
        let Value::Map(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|(k, _)| k.text() == Some(key))?;
        Some(entries.remove(at).1)
    }

    /// The value under a key, made null where it is missing; `None` in what is no mapping.
    pub fn entry(&mut self, key: &str, span: Span) -> Option<&mut Doc> {
        if self.get(key).is_none() {
            self.set(Doc::string(key, span), Doc::null(span));
        }
        self.get_mut(key)
    }

    /// A short text to label instead of a whole mapping: its first key.
    pub fn head(&self) -> Span {
        self.entries().first().map_or(self.span, |(key, _)| key.span)
    }

    /// Puts a text in the place of a scalar: of a number another number, of a text another text, whatever it looks like.
    pub fn set_text(&mut self, text: Traced) {
        let plain = matches!(&self.value, Value::Scalar { text, plain: true } if typed(text.text()));
        self.span = text.whole();
        self.value = Value::Scalar { text, plain };
    }
}

/// Whether a plain scalar is read as a number or as true or false.
pub fn typed(text: &str) -> bool {
    matches!(text, "true" | "false") || text.parse::<i64>().is_ok()
}

/// A node of which everything below stays in its tree.
fn shallow(tree: &Arc<Tree>, node: Node<'_>) -> Doc {
    let tree = tree.holding(node);
    let value = match node.kind() {
        Shape::Map(_) => Value::Map(List::read((Arc::clone(tree), node.id()))),
        Shape::Seq(_) => Value::Seq(List::read((Arc::clone(tree), node.id()))),
        _ => leaf(node),
    };
    Doc { value, span: node.span(), tag: node.tag().map(Into::into) }
}

/// Spends what a copy costs.
fn spend(node: Node<'_>, share: &Share, level: usize) -> Result<(), Spent> {
    share.make(NODE + node.text().map_or(0, str::len))?;
    share.nest(level)?;
    node.items().try_for_each(|item| spend(item, share, level + 1))?;
    let entry = |(key, value)| spend(key, share, level + 1).and_then(|()| spend(value, share, level + 1));
    if node.is_map() { node.entries_and_rest().into_iter().try_for_each(entry) } else { Ok(()) }
}

fn copy(node: Node<'_>, share: &Share, level: usize) -> Result<Doc, Spent> {
    share.make(NODE + node.text().map_or(0, str::len))?;
    share.nest(level)?;
    let value = match node.kind() {
        Shape::Seq(_) => Value::Seq(node.items().map(|item| copy(item, share, level + 1)).collect::<Result<_, _>>()?),
        Shape::Map(_) => {
            let entry = |(key, value)| Ok((copy(key, share, level + 1)?, copy(value, share, level + 1)?));
            Value::Map(node.entries_and_rest().into_iter().map(entry).collect::<Result<_, _>>()?)
        }
        _ => leaf(node),
    };
    Ok(Doc { value, span: node.span(), tag: node.tag().map(Into::into) })
}

/// What holds nothing else.
fn leaf(node: Node<'_>) -> Value {
    match node.kind() {
        Shape::Unknown(why) => Value::Unknown(why.clone()),
        Shape::Scalar { text, plain } => {
            let text = node.traced().unwrap_or_else(|| Traced::opaque(text, node.span()));
            Value::Scalar { text, plain }
        }
        _ => Value::Null,
    }
}

/// A tree of documents, in their order; `source` is the file that put them together.
///
/// # Errors
/// They are too large or too deep once everything that is shared is written out.
pub fn tree(source: SourceId, documents: impl IntoIterator<Item = Doc>, share: &Share) -> Result<Tree, Spent> {
    let mut builder = Builder::new(source, Dialect::Kubernetes);
    let mut roots = Vec::new();
    for doc in documents {
        roots.push(add(&mut builder, &doc, (share, 1))?);
    }
    builder.tree().documents = roots;
    Ok(builder.finish())
}

fn add(builder: &mut Builder, doc: &Doc, (share, level): (&Share, usize)) -> Result<NodeId, Spent> {
    if let Some((tree, node)) = doc.unchanged() {
        spend(tree.node(*node), share, level)?;
        return Ok(builder.share(tree, tree.node(*node)));
    }
    share.make(NODE + doc.text().map_or(0, str::len))?;
    share.nest(level)?;
    let below = (share, level + 1);
    let kind = match &doc.value {
        Value::Null => NodeKind::Null,
        Value::Unknown(why) => NodeKind::Unknown(why.clone()),
        Value::Scalar { text, plain } => NodeKind::Scalar { text: text.clone(), plain: *plain },
        Value::Seq(items) => NodeKind::Seq(items.iter().map(|i| add(builder, i, below)).collect::<Result<_, _>>()?),
        Value::Map(entries) => {
            let mut entry = |(key, value): &(Doc, Doc)| {
                Ok(Entry { key: add(builder, key, below)?, value: add(builder, value, below)? })
            };
            NodeKind::Map(entries.iter().map(&mut entry).collect::<Result<_, _>>()?)
        }
    };
    let id = builder.add(kind, doc.span);
    if let Some(tag) = &doc.tag {
        builder.tag(id, tag);
    }
    Ok(id)
}
