//! The spanned tree that every syntax is read into.

use super::mask::Condition;
use super::scalar::{self, Scalar};
use super::view::View;
use crate::known::Why;
use crate::source::{SourceId, Span, Tile, Traced};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
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

/// The tag of a scalar in which variables were replaced: whether it is text is for the place that takes it to say.
pub const INTERPOLATED: &str = "!interpolated";

/// Deepest nesting of a document, aliases followed: whoever walks a tree need not be afraid of its own depth.
pub const DEEPEST: usize = 200;

/// As many entries of a mapping are few.
const FEW: usize = 16;

/// What a node is made of.
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

/// What a node says, aliases followed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape<'t> {
    /// An explicit or implicit null.
    Null,
    /// A scalar; `plain` when it stands without quotes and so takes its type from its text.
    Scalar {
        /// The decoded text.
        text: &'t str,
        /// Unquoted.
        plain: bool,
    },
    /// Key-value pairs in the order written, duplicates kept.
    Map(&'t [Entry]),
    /// Items in order.
    Seq(&'t [NodeId]),
    /// An expression whose value is not known.
    Unknown(&'t Why),
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

/// A node as it is kept. There are as many as there are words in all files together, so it is small and owns nothing.
#[derive(Debug, Clone, Copy)]
struct Data {
    span: Span,
    what: What,
}

/// What a node is, with where its tree keeps what belongs to it.
#[derive(Debug, Clone, Copy)]
enum What {
    Null,
    /// A scalar that stands byte for byte in the file of its span, so far behind where that starts: a part of all texts.
    Scalar {
        plain: bool,
        behind: u16,
        at: u32,
        len: u32,
    },
    /// A part of all entries.
    Map {
        at: u32,
        len: u32,
    },
    /// A part of all items.
    Seq {
        at: u32,
        len: u32,
    },
    Alias(NodeId),
    /// A node of another tree, one of those that are shared.
    Shared {
        tree: u32,
        node: NodeId,
    },
    /// One of the scalars that were decoded or brought in.
    Decoded(u32),
    /// One of what is not known.
    Unknown(u32),
}

/// A scalar that does not stand byte for byte in the file of its span: a part of all texts, and of all tiles.
#[derive(Debug, Clone, Copy)]
struct Decoded {
    whole: Span,
    plain: bool,
    at: u32,
    len: u32,
    tile: u32,
    tiles: u32,
}

const _: () = assert!(size_of::<Data>() == 24);

/// The part of a list that a node has.
fn part(at: u32, len: u32) -> Range<usize> {
    at as usize..at as usize + len as usize
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
    texts: String,
    entries: Vec<Entry>,
    items: Vec<NodeId>,
    decoded: Vec<Decoded>,
    /// Where the texts of scalars that were decoded come from.
    tiles: Vec<Tile>,
    unknown: Vec<Why>,
    tags: BTreeMap<NodeId, Box<str>>,
    /// Trees that parts of this one stand in.
    shared: Vec<Arc<Tree>>,
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
            texts: String::new(),
            entries: vec![],
            items: vec![],
            decoded: vec![],
            tiles: vec![],
            unknown: vec![],
            tags: BTreeMap::new(),
            shared: vec![],
        };
        Self { tree }
    }

    /// Adds a node.
    pub fn add(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.tree.add(kind, span)
    }

    /// Adds a scalar whose text stands verbatim in the source; `span` includes quotes, `start` is where the
    /// text itself starts.
    pub fn scalar(&mut self, text: &str, plain: bool, span: Span, start: usize) -> NodeId {
        match start.checked_sub(span.start as usize).map(u16::try_from) {
            Some(Ok(behind)) => {
                let (at, len) = self.tree.text(text);
                self.tree.push(What::Scalar { plain, behind, at, len }, span)
            }
            _ => self.add(NodeKind::Scalar { text: Traced::verbatim(text, span, start), plain }, span),
        }
    }

    /// Sets the tag of a node (`!Ref`).
    pub fn tag(&mut self, node: NodeId, tag: &str) {
        self.tree.tags.insert(node, tag.into());
    }

    /// Replaces a node's content and span, for containers that are closed after their children.
    pub fn set(&mut self, node: NodeId, kind: NodeKind, span: Span) {
        let what = self.tree.keep(kind, span);
        self.tree.nodes[node.0 as usize] = Data { span, what };
    }

    /// Adds a node of `tree`, or of one that it shares, with everything below it, without a copy.
    pub fn share(&mut self, tree: &Arc<Tree>, node: Node<'_>) -> NodeId {
        let (tree, shared) = (tree.holding(node), &mut self.tree.shared);
        // What is put together takes from few trees in turn.
        let known = shared.iter().enumerate().rev().take(FEW).find(|(_, one)| Arc::ptr_eq(one, tree));
        let at = known.map_or(shared.len(), |(at, _)| at);
        if at == shared.len() {
            shared.push(Arc::clone(tree));
        }
        self.tree.push(What::Shared { tree: at as u32, node: node.id }, node.span())
    }

    /// Copies a node with everything below it; every node keeps its own place.
    pub fn copy(&mut self, node: Node<'_>) -> NodeId {
        self.copied(node, DEEPEST)
    }

    /// Below `depth` levels the text is left out.
    fn copied(&mut self, node: Node<'_>, depth: usize) -> NodeId {
        let kind = match node.kind() {
            _ if depth == 0 => NodeKind::Null,
            Shape::Map(_) => {
                let mut copy =
                    |(key, value)| Entry { key: self.copied(key, depth), value: self.copied(value, depth - 1) };
                NodeKind::Map(node.entries_and_rest().into_iter().map(&mut copy).collect())
            }
            Shape::Seq(_) => NodeKind::Seq(node.items().map(|item| self.copied(item, depth - 1)).collect()),
            _ => node.leaf(),
        };
        let copy = self.add(kind, node.span());
        if let Some(tag) = node.tag() {
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
        self.tree.shrink();
        self.tree
    }
}

/// How far behind the start of its span a scalar stands byte for byte; `None` if it was decoded or stands elsewhere.
fn behind(text: &Traced, span: Span) -> Option<u16> {
    let start = text.start().filter(|_| text.whole() == span)?;
    u16::try_from(start.checked_sub(span.start)?).ok()
}

impl Tree {
    /// A handle on a node.
    pub fn node(&self, id: NodeId) -> Node<'_> {
        match self.nodes[id.0 as usize].what {
            What::Shared { tree, node } => self.shared[tree as usize].node(node),
            _ => Node { tree: self, id },
        }
    }

    /// The tree that a node stands in, of this one and those that it shares.
    pub fn holding<'t>(self: &'t Arc<Tree>, node: Node<'_>) -> &'t Arc<Tree> {
        self.find_holding(node).unwrap_or(self)
    }

    fn find_holding<'t>(self: &'t Arc<Tree>, node: Node<'_>) -> Option<&'t Arc<Tree>> {
        let is_own = std::ptr::eq(&**self, node.tree);
        if is_own { Some(self) } else { self.shared.iter().find_map(|shared| shared.find_holding(node)) }
    }

    /// Handles on the documents.
    pub fn roots(&self) -> impl Iterator<Item = Node<'_>> {
        self.documents.iter().map(|&id| self.node(id))
    }

    fn push(&mut self, what: What, span: Span) -> NodeId {
        self.nodes.push(Data { span, what });
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn add(&mut self, kind: NodeKind, span: Span) -> NodeId {
        let what = self.keep(kind, span);
        self.push(what, span)
    }

    /// Keeps a text: where, and how long it is.
    fn text(&mut self, text: &str) -> (u32, u32) {
        let at = self.texts.len() as u32;
        self.texts.push_str(text);
        (at, text.len() as u32)
    }

    /// Keeps what a node at `span` is made of.
    fn keep(&mut self, kind: NodeKind, span: Span) -> What {
        match kind {
            NodeKind::Null => What::Null,
            NodeKind::Alias(target) => What::Alias(target),
            NodeKind::Map(entries) => {
                let (at, len) = (self.entries.len() as u32, entries.len() as u32);
                self.entries.extend(entries);
                What::Map { at, len }
            }
            NodeKind::Seq(items) => {
                let (at, len) = (self.items.len() as u32, items.len() as u32);
                self.items.extend(items);
                What::Seq { at, len }
            }
            NodeKind::Scalar { text, plain } => {
                let place = self.text(text.text());
                self.scalar(&text, plain, place, span)
            }
            NodeKind::Unknown(why) => {
                self.unknown.push(why);
                What::Unknown(self.unknown.len() as u32 - 1)
            }
        }
    }

    /// Keeps where a scalar at `span` comes from, whose text is kept.
    fn scalar(&mut self, text: &Traced, plain: bool, (at, len): (u32, u32), span: Span) -> What {
        if let Some(behind) = behind(text, span) {
            return What::Scalar { plain, behind, at, len };
        }
        let (tiles, tile) = (text.tiles(), self.tiles.len() as u32);
        self.decoded.push(Decoded { whole: text.whole(), plain, at, len, tile, tiles: tiles.len() as u32 });
        self.tiles.extend_from_slice(&tiles);
        What::Decoded(self.decoded.len() as u32 - 1)
    }

    /// The text of a scalar with where it comes from, whether it is plain, and where it is kept.
    fn traced(&self, Data { span, what }: Data) -> Option<(Traced, bool, (u32, u32))> {
        match what {
            What::Scalar { plain, behind, at, len } => {
                let start = span.start as usize + usize::from(behind);
                Some((Traced::verbatim(&self.texts[part(at, len)], span, start), plain, (at, len)))
            }
            What::Decoded(place) => {
                let Decoded { whole, plain, at, len, tile, tiles } = self.decoded[place as usize];
                let tiles = self.tiles[part(tile, tiles)].to_vec();
                Some((Traced::tiled(&self.texts[part(at, len)], whole, tiles), plain, (at, len)))
            }
            _ => None,
        }
    }

    /// A tree is kept as long as what was read from it.
    fn shrink(&mut self) {
        let Tree { nodes, texts, entries, items, decoded, tiles, unknown, .. } = self;
        nodes.shrink_to_fit();
        texts.shrink_to_fit();
        entries.shrink_to_fit();
        items.shrink_to_fit();
        decoded.shrink_to_fit();
        tiles.shrink_to_fit();
        unknown.shrink_to_fit();
    }

    /// Moves every span from the decoded text that was read to where that text was written.
    pub fn retrace(&mut self, text: &Traced) {
        for i in 0..self.nodes.len() {
            let Data { span: read, what } = self.nodes[i];
            let span = match what {
                What::Map { .. } | What::Seq { .. } => text.extent(read.range()),
                _ => text.scalar(read.range()),
            };
            let what = match self.traced(self.nodes[i]) {
                Some((scalar, plain, place)) => self.scalar(&scalar.retraced(text), plain, place, span),
                None => what,
            };
            self.nodes[i] = Data { span, what };
        }
        self.shrink();
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
                Shape::Map(entries) => entries.iter().map(|e| (start(e.key), e.value)).collect(),
                Shape::Seq(items) => items.iter().map(|&item| (start(item), item)).collect(),
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
                let span = self.node(child).span();
                self.nodes[child.0 as usize].what = self.keep(NodeKind::Unknown(Why::Template.perhaps()), span);
            }
            if let Some(span) = rest {
                self.open(id, span);
            }
        }
    }

    /// Lets a mapping have any other keys.
    fn open(&mut self, id: NodeId, span: Span) {
        let key = self.add(NodeKind::Scalar { text: Traced::opaque("<<", span), plain: true }, span);
        let value = self.add(NodeKind::Unknown(Why::Template.perhaps()), span);
        if let What::Map { at, len } = self.nodes[id.0 as usize].what {
            let mut entries = self.entries[part(at, len)].to_vec();
            entries.push(Entry { key, value });
            self.nodes[id.0 as usize].what = self.keep(NodeKind::Map(entries), span);
        }
    }

    /// Every node, in the order they were read.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.nodes.len() as u32).map(|i| self.node(NodeId(i)))
    }

    /// What aliases refer to.
    pub fn aliased(&self) -> impl Iterator<Item = Node<'_>> {
        let target = |data: &Data| if let What::Alias(target) = data.what { Some(self.node(target)) } else { None };
        self.nodes.iter().filter_map(target)
    }

    /// The tree itself and those that parts of it stand in.
    pub fn parts(&self) -> impl Iterator<Item = &Tree> {
        std::iter::once(self).chain(self.shared.iter().map(Arc::as_ref))
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
    /// What it is made of, after following aliases.
    fn data(self) -> Data {
        self.tree.nodes[self.id().0 as usize]
    }

    /// The tree it belongs to.
    pub fn tree(self) -> &'t Tree {
        self.tree
    }

    /// Its index, after following aliases.
    pub fn id(self) -> NodeId {
        let mut id = self.id;
        // An alias may only point backwards, so this ends.
        while let What::Alias(target) = self.tree.nodes[id.0 as usize].what {
            id = target;
        }
        id
    }

    /// Whether an alias stands here.
    pub fn is_alias(self) -> bool {
        self.id != self.id()
    }

    /// What it is, after following aliases.
    pub fn kind(self) -> Shape<'t> {
        let tree = self.tree;
        match self.data().what {
            What::Null | What::Alias(_) | What::Shared { .. } => Shape::Null,
            What::Scalar { plain, at, len, .. } => Shape::Scalar { text: &tree.texts[part(at, len)], plain },
            What::Map { at, len } => Shape::Map(&tree.entries[part(at, len)]),
            What::Seq { at, len } => Shape::Seq(&tree.items[part(at, len)]),
            What::Decoded(place) => {
                let Decoded { plain, at, len, .. } = tree.decoded[place as usize];
                Shape::Scalar { text: &tree.texts[part(at, len)], plain }
            }
            What::Unknown(place) => Shape::Unknown(&tree.unknown[place as usize]),
        }
    }

    /// What a copy of it is made of; of a container nothing.
    fn leaf(self) -> NodeKind {
        match (self.kind(), self.traced()) {
            (Shape::Scalar { plain, .. }, Some(text)) => NodeKind::Scalar { text, plain },
            (Shape::Unknown(why), _) => NodeKind::Unknown(why.clone()),
            _ => NodeKind::Null,
        }
    }

    /// Where it stands: for an alias, the text of the alias.
    pub fn span(self) -> Span {
        self.tree.nodes[self.id.0 as usize].span
    }

    /// Its explicit tag without a handle prefix being resolved (`!Ref`).
    pub fn tag(self) -> Option<&'t str> {
        self.tree.tags.get(&self.id()).map(AsRef::as_ref)
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        matches!(self.scalar(), Some(Scalar::Null))
    }

    /// Whether it is a mapping.
    pub fn is_map(self) -> bool {
        matches!(self.kind(), Shape::Map(_))
    }

    /// Whether it is a sequence.
    pub fn is_seq(self) -> bool {
        matches!(self.kind(), Shape::Seq(_))
    }

    /// The typed scalar under the tree's dialect; `None` for containers and unknowns.
    pub fn scalar(self) -> Option<Scalar<'t>> {
        match self.kind() {
            Shape::Null => Some(Scalar::Null),
            Shape::Scalar { text, plain } => Some(match (self.tag(), plain) {
                (Some("!!str"), _) | (_, false) => Scalar::Str(text),
                _ => scalar::resolve(text, self.tree.dialect),
            }),
            _ => None,
        }
    }

    /// The text of a scalar, whatever its type; `None` for null and containers.
    pub fn text(self) -> Option<&'t str> {
        let (at, len) = match self.data().what {
            What::Scalar { at, len, .. } => (at, len),
            What::Decoded(place) => {
                let Decoded { at, len, .. } = self.tree.decoded[place as usize];
                (at, len)
            }
            _ => return None,
        };
        Some(&self.tree.texts[part(at, len)])
    }

    /// The text of a scalar with its way back to the source.
    pub fn traced(self) -> Option<Traced> {
        Some(self.tree.traced(self.data())?.0)
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
        let mut out: Vec<(Node<'t>, Node<'t>)> = Vec::with_capacity(self.width());
        // Few keys are compared sooner than they are hashed.
        if self.width() <= FEW && !self.merges() {
            for (key, value) in self.own() {
                let text = key.text();
                match out.iter_mut().find(|(before, _)| text.is_some() && before.text() == text) {
                    Some(before) => *before = (key, value),
                    None => out.push((key, value)),
                }
            }
            return out;
        }
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
    pub fn own(self) -> impl DoubleEndedIterator<Item = (Node<'t>, Node<'t>)> {
        let entries: &[Entry] = if let Shape::Map(entries) = self.kind() { entries } else { &[] };
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
                    Shape::Seq(items) => stack.extend(items.iter().rev().map(|&id| self.tree.node(id))),
                    _ => stack.push(merged),
                }
            }
        }
        out
    }

    /// The key and value of an entry of a mapping, merge keys applied; the last of duplicates, as kubectl does.
    pub fn entry(self, key: &str) -> Option<(Node<'t>, Node<'t>)> {
        self.stated_or(key, Self::open)
    }

    /// The same, where the key itself is written.
    pub(super) fn stated(self, key: &str) -> Option<(Node<'t>, Node<'t>)> {
        self.stated_or(key, |_| None)
    }

    /// An entry, or where a merge key might have brought it and did not, something else. Most mappings have no such key, and
    /// most keys that are asked for are not there: one pass tells both.
    fn stated_or(
        self,
        key: &str,
        or: impl FnOnce(Self) -> Option<(Node<'t>, Node<'t>)>,
    ) -> Option<(Node<'t>, Node<'t>)> {
        let mut merges = false;
        let written = self.last_own(|text| {
            merges |= text == "<<";
            text == key
        });
        written.or_else(|| if merges { self.merged(key).or_else(|| or(self)) } else { None })
    }

    fn written(self, key: &str) -> Option<(Node<'t>, Node<'t>)> {
        self.last_own(|text| text == key)
    }

    /// The last entry of a mapping as written whose key fits.
    fn last_own(self, mut fits: impl FnMut(&str) -> bool) -> Option<(Node<'t>, Node<'t>)> {
        let Shape::Map(entries) = self.kind() else { return None };
        let entry = entries.iter().rev().find(|entry| self.tree.node(entry.key).text().is_some_and(&mut fits))?;
        Some((self.tree.node(entry.key), self.tree.node(entry.value)))
    }

    fn merged(self, key: &str) -> Option<(Node<'t>, Node<'t>)> {
        self.layers().into_iter().skip(1).find_map(|layer| layer.written(key))
    }

    /// Whether it has a merge key.
    fn merges(self) -> bool {
        self.own().any(|(key, _)| key.text() == Some("<<"))
    }

    /// Why its text names no key: a placeholder or an expression stands for the name.
    pub(super) fn unnamed(self) -> Option<Why> {
        super::placeholder_key(self.text()?)
    }

    /// A merge of what is not known, with its key: it may bring in any key.
    pub(super) fn open(self) -> Option<(Node<'t>, Node<'t>)> {
        self.own().find(|(key, value)| key.text() == Some("<<") && value.is_unknown())
    }

    /// Whether it may have keys that are not written here.
    pub fn is_open(self) -> bool {
        self.is_unknown() || self.open().is_some()
    }

    /// Whether an expression or a placeholder stands here instead of a value.
    pub fn is_unknown(self) -> bool {
        match self.kind() {
            Shape::Unknown(_) => true,
            Shape::Scalar { text, plain: true } => text.starts_with("$(") && text.ends_with(')') && !text.contains(' '),
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
            Shape::Seq(items) => items,
            _ => &[],
        };
        ids.iter().map(move |&id| self.tree.node(id))
    }

    /// How many entries or items it has.
    pub fn width(self) -> usize {
        match self.kind() {
            Shape::Map(entries) => entries.len(),
            Shape::Seq(items) => items.len(),
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
                Shape::Map(entries) => {
                    return entries.first().map_or(head.span(), |entry| self.tree.node(entry.key).span());
                }
                Shape::Seq(items) if !items.is_empty() => head = self.tree.node(items[0]),
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
