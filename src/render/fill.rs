//! Documents with variables put in: what is nothing but a reference is the value, whatever that is; elsewhere its text is put
//! in. Knows no syntax of references.

use crate::budget::{NODE, STEP, Share, Spent};
use crate::parse::{Builder, Entry, Node, NodeId, NodeKind, Shape, Tree};
use crate::source::{Span, Traced};
use std::ops::Range;
use std::sync::Arc;

/// Values in values: so deep.
const DEEPEST: usize = 8;
/// Bytes that are put into one text.
pub const LONGEST: usize = 4096;

/// A value, and a tree that holds it.
pub type Value<'t> = (&'t Arc<Tree>, Node<'t>);

/// Variables, and how texts refer to them.
pub trait Variables {
    /// Where a text refers to variables, and by which names.
    fn references<'x>(&self, text: &'x str) -> Box<dyn Iterator<Item = (Range<usize>, &'x str)> + 'x>;

    /// The value of a variable as it is written.
    ///
    /// # Errors
    /// It takes too much to find.
    fn find(&self, name: &str, share: &Share) -> Result<Option<Value<'_>>, Spent>;

    /// Whether a document stays as it is written.
    fn leaves(&self, _: Node<'_>) -> bool {
        false
    }

    /// Whether a reference that is all of a text stands for the value without quotes, whatever those of the text are.
    fn is_bare(&self, _: &str) -> bool {
        false
    }

    /// The text of a variable, where that is known.
    ///
    /// # Errors
    /// It takes too much to tell.
    fn text(&self, name: &str, share: &Share) -> Result<Option<Arc<str>>, Spent> {
        Ok(self.find(name, share)?.and_then(|(_, node)| node.text().filter(|_| !node.is_null())).map(Arc::from))
    }
}

/// Documents with variables put in.
pub struct Filled {
    /// The documents. What is nothing but a variable stands where its value is written.
    pub tree: Tree,
    /// Where such values stand, and where they are used.
    pub uses: Vec<(Span, Span)>,
}

/// The same documents with variables put in; `None` where they refer to none of them.
///
/// # Errors
/// They are too large then.
pub fn filled(tree: &Arc<Tree>, variables: &dyn Variables, share: &Share) -> Result<Option<Filled>, Spent> {
    part(tree, tree.roots(), variables, share)
}

/// The same of some nodes of a tree, each as a document.
///
/// # Errors
/// As for [`filled`].
pub fn part<'t>(
    tree: &'t Arc<Tree>,
    nodes: impl Iterator<Item = Node<'t>>,
    variables: &dyn Variables,
    share: &Share,
) -> Result<Option<Filled>, Spent> {
    let mut filling = Filling { variables, share, builder: Builder::new(tree.source, tree.dialect), uses: vec![] };
    let (mut roots, mut any) = (vec![], false);
    for node in nodes {
        let filled = if variables.leaves(node) { None } else { filling.node((tree, node), DEEPEST)? };
        any |= filled.is_some();
        roots.push(filled.unwrap_or_else(|| filling.builder.share(tree, node)));
    }
    filling.builder.tree().documents.extend(roots);
    Ok(any.then(|| Filled { tree: filling.builder.finish(), uses: filling.uses }))
}

struct Filling<'f> {
    variables: &'f dyn Variables,
    share: &'f Share,
    builder: Builder,
    uses: Vec<(Span, Span)>,
}

impl Filling<'_> {
    /// A node with variables put in, values of values so deep; `None` where it refers to none that is known.
    fn node(&mut self, (tree, node): Value<'_>, depth: usize) -> Result<Option<NodeId>, Spent> {
        self.share.work(STEP)?;
        let kind = match node.kind() {
            Shape::Map(_) => {
                let entries = node.entries_and_rest();
                let values: Vec<Node<'_>> = entries.iter().map(|(_, value)| *value).collect();
                let Some(values) = self.nodes(tree, &values, depth)? else { return Ok(None) };
                let keys: Vec<NodeId> = entries.iter().map(|(key, _)| self.builder.share(tree, *key)).collect();
                NodeKind::Map(keys.into_iter().zip(values).map(|(key, value)| Entry { key, value }).collect())
            }
            Shape::Seq(_) => match self.nodes(tree, &node.items().collect::<Vec<_>>(), depth)? {
                Some(items) => NodeKind::Seq(items),
                None => return Ok(None),
            },
            Shape::Scalar { plain, .. } => return self.scalar(node, plain, depth),
            _ => return Ok(None),
        };
        let id = self.builder.add(kind, node.span());
        if let Some(tag) = node.tag() {
            self.builder.tag(id, tag);
        }
        Ok(Some(id))
    }

    fn nodes(&mut self, tree: &Arc<Tree>, nodes: &[Node<'_>], depth: usize) -> Result<Option<Vec<NodeId>>, Spent> {
        let mut filled = Vec::with_capacity(nodes.len());
        for node in nodes {
            filled.push(self.node((tree, *node), depth)?);
        }
        if filled.iter().all(Option::is_none) {
            return Ok(None);
        }
        self.share.make(nodes.len() * NODE)?;
        let stands =
            |(filled, node): (Option<NodeId>, &Node<'_>)| filled.unwrap_or_else(|| self.builder.share(tree, *node));
        Ok(Some(filled.into_iter().zip(nodes).map(stands).collect()))
    }

    /// What is nothing but a variable is its value, whatever that is; elsewhere texts are put in.
    fn scalar(&mut self, node: Node<'_>, plain: bool, depth: usize) -> Result<Option<NodeId>, Spent> {
        let Some(text) = node.traced() else { return Ok(None) };
        let whole = text.text();
        self.share.work(whole.len())?;
        if let Some((_, name)) = self.variables.references(whole).next().filter(|(range, _)| range.len() == whole.len())
            && let Some((tree, value)) = self.variables.find(name, self.share)?
            && let Some(depth) = depth.checked_sub(1)
        {
            let id = if value.text().is_some() {
                let Some(known) = self.variables.text(name, self.share)? else { return Ok(None) };
                self.share.make(NODE + known.len())?;
                let text = Traced::opaque(&*known, value.span());
                let plain = plain || self.variables.is_bare(name);
                self.builder.add(NodeKind::Scalar { text, plain }, value.span())
            } else {
                self.share.make(NODE)?;
                let filled = self.node((tree, value), depth)?;
                filled.unwrap_or_else(|| self.builder.share(tree, value))
            };
            self.uses.push((value.span(), node.span()));
            return Ok(Some(id));
        }
        let Some(text) = self.expanded(&text)? else { return Ok(None) };
        Ok(Some(self.builder.add(NodeKind::Scalar { text, plain }, node.span())))
    }

    /// A text with the variables that are known; `None` where it refers to none.
    fn expanded(&self, text: &Traced) -> Result<Option<Traced>, Spent> {
        let (whole, mut parts, mut from, mut made) = (text.text(), vec![], 0, 0);
        for (range, name) in self.variables.references(whole) {
            let Some(value) = self.variables.text(name, self.share)? else { continue };
            made += value.len();
            if made > LONGEST {
                break;
            }
            self.share.make(NODE + value.len())?;
            parts.push(text.slice(from..range.start));
            parts.push(Traced::opaque(&*value, text.span(range.clone())));
            from = range.end;
        }
        if parts.is_empty() {
            return Ok(None);
        }
        parts.push(text.slice(from..whole.len()));
        Ok(Some(Traced::concat(parts, text.whole())))
    }
}
