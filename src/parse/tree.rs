//! The spanned tree that every syntax is read into.

use super::scalar::{self, Scalar};
use crate::known::{Fact, Known, Why};
use crate::source::{SourceId, Span, Traced};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Index of a node in its [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// How plain scalars of a tree are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// sigs.k8s.io/yaml (YAML 1.1 scalars): Kubernetes, Helm.
    #[default]
    Kubernetes,
    /// YAML 1.2 core schema (also what go-yaml v3 does for these types): Compose, GitHub, conda, our own files.
    Core,
    /// JSON, TOML, HCL: the syntax itself types its scalars.
    Typed,
}

/// Deepest nesting that [`merged`] copies.
const MERGE_DEPTH: usize = 64;

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// An explicit or implicit null.
    Null,
    /// A scalar; `plain` when it stands without quotes and so takes its type from its text.
    Scalar {
        /// The decoded text.
        text: Traced,
        /// Unquoted.
        plain: bool,
    },
    /// Key-value pairs in the order written, duplicates kept.
    Map(Vec<Entry>),
    /// Items in order.
    Seq(Vec<NodeId>),
    /// Another node of the tree, shared. Never expanded: walk with a budget.
    Alias(NodeId),
    /// An expression whose value is not known (HCL, CloudFormation functions).
    Unknown(Why),
}

/// One key and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The key node.
    pub key: NodeId,
    /// The value node.
    pub value: NodeId,
}

/// Something wrong with the text: said once, with its place; the rest of the file is still read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What, as a sentence without a full stop.
    pub message: String,
}

#[derive(Debug, Clone)]
struct Data {
    kind: NodeKind,
    span: Span,
    tag: Option<Box<str>>,
}

/// A parsed file: documents, comments and problems. Nodes refer to each other by [`NodeId`].
#[derive(Debug, Clone)]
pub struct Tree {
    /// The file it was read from.
    pub source: SourceId,
    /// How plain scalars are typed.
    pub dialect: Dialect,
    /// Roots of the documents, in order. A document that did not parse is missing and has a problem.
    pub documents: Vec<NodeId>,
    /// Comments, from the comment sign to the end of the text of the comment.
    pub comments: Vec<Span>,
    /// What was wrong with the text.
    pub problems: Vec<Problem>,
    nodes: Vec<Data>,
}

/// Puts a [`Tree`] together, children before parents.
#[derive(Debug)]
pub struct Builder {
    tree: Tree,
}

impl Builder {
    /// An empty tree of a file.
    pub fn new(source: SourceId, dialect: Dialect) -> Self {
        let tree = Tree { source, dialect, documents: vec![], comments: vec![], problems: vec![], nodes: vec![] };
        Self { tree }
    }

    /// Adds a node.
    pub fn add(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.tree.nodes.push(Data { kind, span, tag: None });
        NodeId(self.tree.nodes.len() as u32 - 1)
    }

    /// Adds a scalar whose text stands verbatim in the source; `span` includes quotes, `start` is where the
    /// text itself starts.
    pub fn scalar(&mut self, text: &str, plain: bool, span: Span, start: usize) -> NodeId {
        self.add(NodeKind::Scalar { text: Traced::verbatim(text, span, start), plain }, span)
    }

    /// Sets the tag of a node (`!Ref`).
    pub fn tag(&mut self, node: NodeId, tag: &str) {
        self.tree.nodes[node.0 as usize].tag = Some(tag.into());
    }

    /// Replaces a node's content and span, for containers that are closed after their children.
    pub fn set(&mut self, node: NodeId, kind: NodeKind, span: Span) {
        let data = &mut self.tree.nodes[node.0 as usize];
        data.kind = kind;
        data.span = span;
    }

    /// Copies a node with everything below it; every node keeps its own place.
    pub fn copy(&mut self, node: Node<'_>) -> NodeId {
        self.overlay(&[node], MERGE_DEPTH)
    }

    /// Copies the last of some nodes; maps are merged key by key. Below `depth` levels the text is left out.
    fn overlay(&mut self, layers: &[Node<'_>], depth: usize) -> NodeId {
        let Some(last) = layers.last() else { return self.add(NodeKind::Null, Span::new(self.tree.source, 0..0)) };
        let span = last.span();
        if depth == 0 {
            return self.add(NodeKind::Null, span);
        }
        if last.is_map() {
            // Only the maps above the last node that is none take part.
            let from = layers.iter().rposition(|node| !node.is_map()).map_or(0, |at| at + 1);
            let mut keys: Vec<(&str, Node<'_>, Vec<Node<'_>>)> = vec![];
            for (key, value) in layers[from..].iter().flat_map(|node| node.entries()) {
                let Some(text) = key.text() else { continue };
                match keys.iter_mut().find(|(name, ..)| *name == text) {
                    Some((_, _, values)) => values.push(value),
                    None => keys.push((text, key, vec![value])),
                }
            }
            let entries = keys
                .into_iter()
                .map(|(_, key, values)| Entry {
                    key: self.overlay(&[key], depth),
                    value: self.overlay(&values, depth - 1),
                })
                .collect();
            return self.add(NodeKind::Map(entries), span);
        }
        let kind = match last.kind() {
            NodeKind::Seq(_) => NodeKind::Seq(last.items().map(|item| self.overlay(&[item], depth - 1)).collect()),
            kind => kind.clone(),
        };
        let copy = self.add(kind, span);
        if let Some(tag) = last.tag() {
            self.tag(copy, tag);
        }
        copy
    }

    /// The tree under construction.
    pub fn tree(&mut self) -> &mut Tree {
        &mut self.tree
    }

    /// The finished tree.
    pub fn finish(self) -> Tree {
        self.tree
    }
}

/// Documents laid over each other, as Helm merges values: maps key by key, anything else is replaced by the later one.
/// Every node keeps its own place. `None` when there is nothing.
pub fn merged(layers: &[Raw]) -> Option<Raw> {
    let present: Vec<Node<'_>> = layers.iter().filter_map(|raw| raw.view().node()).collect();
    let last = present.last()?;
    if present.len() == 1 {
        return layers.iter().find(|raw| raw.id.is_some()).cloned();
    }
    let mut builder = Builder::new(last.span().source, last.tree().dialect);
    let root = builder.overlay(&present, MERGE_DEPTH);
    builder.tree().documents.push(root);
    let tree = Arc::new(builder.finish());
    Some(Raw { id: Some(root), place: last.span(), tree })
}

impl Tree {
    /// A handle on a node.
    pub fn node(&self, id: NodeId) -> Node<'_> {
        Node { tree: self, id }
    }

    /// Handles on the documents.
    pub fn roots(&self) -> impl Iterator<Item = Node<'_>> {
        self.documents.iter().map(|&id| self.node(id))
    }

    /// Moves every span from the decoded text that was read to where that text was written.
    pub fn retrace(&mut self, text: &Traced) {
        for data in &mut self.nodes {
            let range = data.span.range();
            data.span = match data.kind {
                NodeKind::Map(_) | NodeKind::Seq(_) => text.extent(range),
                _ => text.scalar(range),
            };
            if let NodeKind::Scalar { text: scalar, .. } = &mut data.kind {
                *scalar = scalar.retraced(text);
            }
        }
        let moved = |span: &mut Span| *span = text.span(span.range());
        self.comments.iter_mut().for_each(moved);
        self.problems.iter_mut().for_each(|p| p.span = text.span(p.span.range()));
    }

    /// Every node, in the order they were read.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.nodes.len() as u32).map(|i| self.node(NodeId(i)))
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// A handle on a node of a tree. Aliases are followed, merge keys (`<<`) are applied by [`Node::entries`].
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    id: NodeId,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({}, {:?})", self.id.0, self.kind())
    }
}

impl<'t> Node<'t> {
    fn data(self) -> &'t Data {
        let mut data = &self.tree.nodes[self.id.0 as usize];
        // An alias may only point backwards, so this ends.
        while let NodeKind::Alias(target) = data.kind {
            data = &self.tree.nodes[target.0 as usize];
        }
        data
    }

    /// The tree it belongs to.
    pub fn tree(self) -> &'t Tree {
        self.tree
    }

    /// Its index, after following aliases.
    pub fn id(self) -> NodeId {
        let mut id = self.id;
        while let NodeKind::Alias(target) = self.tree.nodes[id.0 as usize].kind {
            id = target;
        }
        id
    }

    /// What it is, after following aliases.
    pub fn kind(self) -> &'t NodeKind {
        &self.data().kind
    }

    /// Where it stands: for an alias, the text of the alias.
    pub fn span(self) -> Span {
        self.tree.nodes[self.id.0 as usize].span
    }

    /// Its explicit tag without a handle prefix being resolved (`!Ref`).
    pub fn tag(self) -> Option<&'t str> {
        self.data().tag.as_deref()
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        matches!(self.scalar(), Some(Scalar::Null))
    }

    /// Whether it is a mapping.
    pub fn is_map(self) -> bool {
        matches!(self.kind(), NodeKind::Map(_))
    }

    /// Whether it is a sequence.
    pub fn is_seq(self) -> bool {
        matches!(self.kind(), NodeKind::Seq(_))
    }

    /// The typed scalar under the tree's dialect; `None` for containers and unknowns.
    pub fn scalar(self) -> Option<Scalar<'t>> {
        match self.kind() {
            NodeKind::Null => Some(Scalar::Null),
            NodeKind::Scalar { text, plain } => Some(match (self.tag(), plain) {
                (Some("!!str" | "tag:yaml.org,2002:str"), _) | (_, false) => Scalar::Str(text.text()),
                _ => scalar::resolve(text.text(), self.tree.dialect),
            }),
            _ => None,
        }
    }

    /// The text of a scalar, whatever its type; `None` for null and containers.
    pub fn text(self) -> Option<&'t str> {
        self.traced().map(Traced::text)
    }

    /// The text of a scalar with its way back to the source.
    pub fn traced(self) -> Option<&'t Traced> {
        match self.kind() {
            NodeKind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The string value: a scalar that is a string in this dialect.
    pub fn as_str(self) -> Option<&'t str> {
        match self.scalar() {
            Some(Scalar::Str(text)) => Some(text),
            _ => None,
        }
    }

    /// The Boolean value in this dialect.
    pub fn as_bool(self) -> Option<bool> {
        match self.scalar() {
            Some(Scalar::Bool(value)) => Some(value),
            _ => None,
        }
    }

    /// The integer value in this dialect.
    pub fn as_int(self) -> Option<i64> {
        match self.scalar() {
            Some(Scalar::Int(value)) => Some(value),
            _ => None,
        }
    }

    /// Entries of a mapping with merge keys applied (own keys win, earlier merges win); empty otherwise.
    pub fn entries(self) -> Vec<(Node<'t>, Node<'t>)> {
        let mut out: Vec<(Node<'t>, Node<'t>)> = Vec::new();
        let mut places = HashMap::new();
        for layer in self.layers() {
            for (key, value) in layer.own().filter(|(key, _)| key.text() != Some("<<")) {
                match key.text().map(|text| *places.entry(text).or_insert(out.len())) {
                    // A later duplicate of the same mapping wins, a merged key never does.
                    Some(place) if place < out.len() && layer.id == self.id => out[place] = (key, value),
                    Some(place) if place < out.len() => {}
                    _ => out.push((key, value)),
                }
            }
        }
        out
    }

    /// The entries of a mapping as written.
    fn own(self) -> impl DoubleEndedIterator<Item = (Node<'t>, Node<'t>)> {
        let entries: &[Entry] = if let NodeKind::Map(entries) = self.kind() { entries } else { &[] };
        entries.iter().map(move |e| (self.tree.node(e.key), self.tree.node(e.value)))
    }

    /// This mapping and those that its merge keys name, each once, in the order in which they win.
    fn layers(self) -> Vec<Node<'t>> {
        let (mut out, mut seen, mut stack) = (Vec::new(), BTreeSet::new(), vec![self]);
        while let Some(layer) = stack.pop() {
            if !seen.insert(layer.id) {
                continue;
            }
            out.push(layer);
            for (_, merged) in layer.own().rev().filter(|(key, _)| key.text() == Some("<<")) {
                match merged.kind() {
                    NodeKind::Seq(items) => stack.extend(items.iter().rev().map(|&id| self.tree.node(id))),
                    _ => stack.push(merged),
                }
            }
        }
        out
    }

    /// The key and value of an entry of a mapping, merge keys applied; the last of duplicates, as kubectl does.
    pub fn entry(self, key: &str) -> Option<(Node<'t>, Node<'t>)> {
        let of = |layer: Node<'t>| layer.own().rev().find(|(k, _)| k.text() == Some(key));
        of(self).or_else(|| self.layers().into_iter().skip(1).find_map(of)).or_else(|| self.open())
    }

    /// A merge of what is not known, with its key: it may bring in any key.
    fn open(self) -> Option<(Node<'t>, Node<'t>)> {
        self.own().find(|(key, value)| key.text() == Some("<<") && value.is_unknown())
    }

    /// Whether it may have keys that are not written here.
    pub fn is_open(self) -> bool {
        self.is_unknown() || self.open().is_some()
    }

    /// Whether an expression or a placeholder stands here instead of a value.
    pub fn is_unknown(self) -> bool {
        match self.kind() {
            NodeKind::Unknown(_) => true,
            NodeKind::Scalar { text, plain: true } => {
                text.text().starts_with("$(") && text.text().ends_with(')') && !text.text().contains(' ')
            }
            _ => false,
        }
    }

    /// The value under a key.
    pub fn get(self, key: &str) -> Option<Node<'t>> {
        self.entry(key).map(|(_, value)| value)
    }

    /// The value under a dotted path of keys, `spec.template.spec`.
    pub fn path(self, path: &str) -> Option<Node<'t>> {
        path.split('.').try_fold(self, |node, key| node.get(key))
    }

    /// The text of a scalar at a dotted path; lists are indexed by number.
    pub fn scalar_at(self, path: &str) -> Option<&'t str> {
        let step = |node: Self, key: &str| {
            let item = key.parse::<usize>().ok().and_then(|index| node.items().nth(index));
            item.or_else(|| node.get(key))
        };
        path.split('.').try_fold(self, step)?.text()
    }

    /// Items of a sequence; empty otherwise.
    pub fn items(self) -> impl Iterator<Item = Node<'t>> {
        let ids: &[NodeId] = match self.kind() {
            NodeKind::Seq(items) => items,
            _ => &[],
        };
        ids.iter().map(move |&id| self.tree.node(id))
    }

    /// A short text to label instead of a whole container: the first key of a mapping, the first item of a
    /// sequence, the scalar itself.
    pub fn head(self) -> Span {
        match self.kind() {
            NodeKind::Map(entries) => match entries.first() {
                Some(e) => self.tree.node(e.key).span(),
                None => self.span(),
            },
            NodeKind::Seq(items) => items.first().map_or(self.span(), |&i| self.tree.node(i).head()),
            _ => self.span(),
        }
    }

    /// A view that starts here.
    pub fn view(self) -> View<'t> {
        View::new(Some(self), self.head())
    }
}

/// A place in a tree that may be missing: absent facts still know the innermost text they would stand under.
#[derive(Debug, Clone, Copy)]
pub struct View<'t> {
    node: Option<Node<'t>>,
    place: Span,
    /// Whether the node stands for what may not be there: something below an unknown one.
    perhaps: bool,
}

impl<'t> View<'t> {
    /// A view of something that may not be there; `place` is the text it would stand under.
    pub fn new(node: Option<Node<'t>>, place: Span) -> Self {
        Self { node, place, perhaps: false }
    }

    /// The value under a key, or absent under this place.
    pub fn get(self, key: &str) -> View<'t> {
        match self.node.and_then(|n| n.entry(key)) {
            Some((own, value)) => View { perhaps: own.text() != Some(key), ..View::of(own, value) },
            // What is below something unknown is unknown itself.
            None => View { node: self.node.filter(|node| node.is_unknown()), place: self.place, perhaps: true },
        }
    }

    /// The reason why the value here is unknown, for a reason found in its node.
    pub fn why(self, why: Why) -> Why {
        if self.perhaps { why.perhaps() } else { why }
    }

    fn of(key: Node<'t>, value: Node<'t>) -> View<'t> {
        let scalar = matches!(value.kind(), NodeKind::Scalar { .. } | NodeKind::Unknown(_));
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

    /// Views of the items of a sequence; empty otherwise.
    pub fn items(self) -> impl Iterator<Item = View<'t>> {
        self.node.into_iter().flat_map(|n| n.items().map(Node::view))
    }

    /// Keys and views of the entries of a mapping; empty otherwise. Keys without text are left out.
    pub fn entries(self) -> Vec<(&'t str, View<'t>)> {
        let entries = self.node.map(Node::entries).unwrap_or_default();
        entries.into_iter().filter_map(|(key, value)| Some((key.text()?, View::of(key, value)))).collect()
    }

    fn fact<T>(self, read: impl FnOnce(Node<'t>) -> Option<T>) -> Fact<T> {
        let Some(node) = self.node else { return Fact::absent(self.place) };
        let known = match node.kind() {
            NodeKind::Unknown(why) => Known::Unknown(self.why(why.clone())),
            NodeKind::Null => Known::Absent,
            NodeKind::Scalar { text, .. } => match read(node) {
                Some(value) => Known::Value(value),
                None if node.is_null() => Known::Absent,
                None => {
                    let why = super::placeholder(text.text()).unwrap_or_else(|| Why::Malformed(text.text().into()));
                    Known::Unknown(self.why(why))
                }
            },
            NodeKind::Map(_) | NodeKind::Seq(_) | NodeKind::Alias(_) => {
                Known::Unknown(Why::Malformed("a collection".into()))
            }
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
    pub fn traced(self) -> Option<&'t Traced> {
        self.node.and_then(Node::traced)
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
            Some(NodeKind::Seq(_)) => self.items().map(View::string).collect(),
            Some(NodeKind::Scalar { .. } | NodeKind::Unknown(_)) => vec![self.string()],
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
}

impl Raw {
    /// Keeps a view of a shared tree.
    pub fn new(tree: &Arc<Tree>, view: View<'_>) -> Self {
        Self { tree: Arc::clone(tree), id: view.node().map(Node::id), place: view.place() }
    }

    /// The view again.
    pub fn view(&self) -> View<'_> {
        View::new(self.id.map(|id| self.tree.node(id)), self.place)
    }
}
