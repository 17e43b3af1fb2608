//! The spanned tree that every syntax is read into.

use super::mask::Condition;
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

/// Deepest nesting of a document, aliases followed: whoever walks a tree need not be afraid of its own depth.
pub const DEEPEST: usize = 200;

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
    /// What could be read of the documents that did not parse: enough to see what they were meant to be.
    pub unfinished: Vec<NodeId>,
    /// Comments, from the comment sign to the end of the text of the comment.
    pub comments: Vec<Span>,
    /// What was wrong with the text.
    pub problems: Vec<Problem>,
    /// The one of them that says that a document is not read, as its aliases stand for too much.
    pub cut: Option<Problem>,
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
        let (documents, unfinished) = (vec![], vec![]);
        let tree = Tree {
            source,
            dialect,
            documents,
            unfinished,
            comments: vec![],
            problems: vec![],
            cut: None,
            nodes: vec![],
        };
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
        self.overlay(&[node], DEEPEST)
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
            for (key, value) in layers[from..].iter().flat_map(|node| node.entries_and_rest()) {
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
    pub fn finish(mut self) -> Tree {
        // A tree is kept as long as what was read from it.
        self.tree.nodes.shrink_to_fit();
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
    let root = builder.overlay(&present, DEEPEST);
    builder.tree().documents.push(root);
    let tree = Arc::new(builder.finish());
    Some(Raw { id: Some(root), place: last.span(), tree, open: None })
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
        self.problems.iter_mut().chain(&mut self.cut).for_each(|p| p.span = text.span(p.span.range()));
    }

    /// Makes unknown what stands on a condition, as seen from what holds it, and whether it is there. A document that is on
    /// a condition as a whole is read as if it were there.
    pub fn doubt(&mut self, conditions: &[Condition]) {
        let mut stack: Vec<(NodeId, Option<usize>)> = self.documents.iter().map(|&root| (root, None)).collect();
        while let Some((id, holder)) = stack.pop() {
            let start = |node: NodeId| self.node(node).span().range().start;
            let children: Vec<(usize, NodeId)> = match self.node(id).kind() {
                NodeKind::Map(entries) => entries.iter().map(|e| (start(e.key), e.value)).collect(),
                NodeKind::Seq(items) => items.iter().map(|&item| (start(item), item)).collect(),
                _ => continue,
            };
            let around = |condition: &Condition| match holder {
                Some(at) => condition.range.contains(&at),
                None => children.iter().all(|(at, _)| condition.range.contains(at)),
            };
            let mut rest = None;
            for &(at, child) in &children {
                let mut decides = conditions.iter().filter(|c| c.range.contains(&at) && !around(c)).peekable();
                if decides.peek().is_none() {
                    stack.push((child, Some(at)));
                    continue;
                }
                rest = decides.any(|condition| condition.otherwise).then_some(self.node(child).span()).or(rest);
                self.nodes[child.0 as usize].kind = NodeKind::Unknown(Why::Template.perhaps());
            }
            if let Some(span) = rest {
                self.open(id, span);
            }
        }
    }

    /// Lets a mapping have any other keys.
    fn open(&mut self, id: NodeId, span: Span) {
        let kind = NodeKind::Scalar { text: Traced::opaque("<<", span), plain: true };
        let mut add = |kind| {
            self.nodes.push(Data { kind, span, tag: None });
            NodeId(self.nodes.len() as u32 - 1)
        };
        let entry = Entry { key: add(kind), value: add(NodeKind::Unknown(Why::Template.perhaps())) };
        if let NodeKind::Map(entries) = &mut self.nodes[id.0 as usize].kind {
            entries.push(entry);
        }
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

    /// The same, and the merge of what is not known, if there is one: for copies, which may have any key as well.
    pub fn entries_and_rest(self) -> Vec<(Node<'t>, Node<'t>)> {
        self.entries().into_iter().chain(self.open()).collect()
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
        self.stated(key).or_else(|| self.open())
    }

    /// The same, where the key itself is written.
    fn stated(self, key: &str) -> Option<(Node<'t>, Node<'t>)> {
        let of = |layer: Node<'t>| layer.own().rev().find(|(k, _)| k.text() == Some(key));
        of(self).or_else(|| self.layers().into_iter().skip(1).find_map(of))
    }

    /// Why its text names no key: a placeholder or an expression stands for the name.
    fn unnamed(self) -> Option<Why> {
        super::placeholder_key(self.text()?)
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

    /// How many entries or items it has.
    pub fn width(self) -> usize {
        match self.kind() {
            NodeKind::Map(entries) => entries.len(),
            NodeKind::Seq(items) => items.len(),
            _ => 0,
        }
    }

    /// A short text to label instead of a whole container: the first key of a mapping, the first item of a
    /// sequence, the scalar itself.
    pub fn head(self) -> Span {
        let mut head = self;
        // Lists in lists may be aliases of each other, as many as there are in the text.
        for _ in 0..DEEPEST {
            match head.kind() {
                NodeKind::Map(entries) => {
                    return entries.first().map_or(head.span(), |entry| self.tree.node(entry.key).span());
                }
                NodeKind::Seq(items) if !items.is_empty() => head = self.tree.node(items[0]),
                _ => break,
            }
        }
        head.span()
    }

    /// A view that starts here.
    pub fn view(self) -> View<'t> {
        View::new(Some(self), self.head())
    }
}

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
    open: Option<Open>,
}

impl<'t> View<'t> {
    /// A view of something that may not be there; `place` is the text it would stand under.
    pub fn new(node: Option<Node<'t>>, place: Span) -> Self {
        Self { node, place, perhaps: false, open: None }
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
            Some(NodeKind::Unknown(why)) => Some(self.why(why.clone())),
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
                View { node, place: self.place, perhaps: true, open }
            }
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

    /// Views of the items of a sequence. Where it cannot be told what stands here, one item that is unknown.
    pub fn items(self) -> impl Iterator<Item = View<'t>> {
        let unknown = self.unknown().map(|_| self);
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
            (Some(why), _) | (None, Some(NodeKind::Unknown(why))) => Known::Unknown(why.clone()),
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
    /// Why what is missing in it is unknown, if it is.
    pub open: Option<Open>,
}

impl Raw {
    /// Keeps a view of a shared tree.
    pub fn new(tree: &Arc<Tree>, view: View<'_>) -> Self {
        Self { tree: Arc::clone(tree), id: view.node().map(Node::id), place: view.place(), open: view.open() }
    }

    /// The view again.
    pub fn view(&self) -> View<'_> {
        View::new(self.id.map(|id| self.tree.node(id)), self.place).opened(self.open)
    }
}
