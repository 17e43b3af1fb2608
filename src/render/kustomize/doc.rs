//! Documents that can be changed: owned copies of trees in which every node keeps the span that it was read with.
//! Knows nothing of kustomizations.

use crate::known::Why;
use crate::parse::{Builder, Dialect, Entry, Node, NodeId, NodeKind, Tree};
use crate::source::{SourceId, Span, Traced};

/// Most nodes that one document may have, aliases expanded.
const MAX_NODES: usize = 500_000;

/// Deepest nesting, aliases expanded: everything here recurses.
const MAX_DEPTH: usize = 128;

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
    Map(Vec<(Doc, Doc)>),
    /// Items.
    Seq(Vec<Doc>),
    /// An expression that was not evaluated.
    Unknown(Why),
}

impl Doc {
    /// Copies a node with aliases expanded and merge keys applied; `None` when it is too large or too deep.
    pub fn read(node: Node<'_>) -> Option<Doc> {
        copy(node, &mut MAX_NODES.clone(), MAX_DEPTH)
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
        Doc { value: Value::Map(Vec::new()), span, tag: None }
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
            self.value = Value::Map(Vec::new());
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

fn copy(node: Node<'_>, left: &mut usize, depth: usize) -> Option<Doc> {
    *left = left.checked_sub(1)?;
    let below = depth.checked_sub(1)?;
    let value = match node.kind() {
        NodeKind::Null | NodeKind::Alias(_) => Value::Null,
        NodeKind::Unknown(why) => Value::Unknown(why.clone()),
        NodeKind::Scalar { text, plain } => Value::Scalar { text: text.clone(), plain: *plain },
        NodeKind::Seq(_) => Value::Seq(node.items().map(|item| copy(item, left, below)).collect::<Option<_>>()?),
        NodeKind::Map(_) => {
            let entry = |(key, value)| Some((copy(key, left, below)?, copy(value, left, below)?));
            Value::Map(node.entries_and_rest().into_iter().map(entry).collect::<Option<_>>()?)
        }
    };
    Some(Doc { value, span: node.span(), tag: node.tag().map(Into::into) })
}

/// A tree of documents, in their order; `source` is the file that put them together.
pub fn tree(source: SourceId, documents: impl IntoIterator<Item = Doc>) -> Tree {
    let mut builder = Builder::new(source, Dialect::Kubernetes);
    let roots: Vec<NodeId> = documents.into_iter().map(|doc| add(&mut builder, doc)).collect();
    builder.tree().documents = roots;
    builder.finish()
}

fn add(builder: &mut Builder, doc: Doc) -> NodeId {
    let kind = match doc.value {
        Value::Null => NodeKind::Null,
        Value::Unknown(why) => NodeKind::Unknown(why),
        Value::Scalar { text, plain } => NodeKind::Scalar { text, plain },
        Value::Seq(items) => NodeKind::Seq(items.into_iter().map(|item| add(builder, item)).collect()),
        Value::Map(entries) => {
            let entry = |(key, value)| Entry { key: add(builder, key), value: add(builder, value) };
            NodeKind::Map(entries.into_iter().map(entry).collect())
        }
    };
    let id = builder.add(kind, doc.span);
    if let Some(tag) = doc.tag {
        builder.tag(id, &tag);
    }
    id
}
