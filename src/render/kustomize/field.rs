//! A field that a transformation changes: a path through maps and lists of some kinds. Knows no transformation.

use super::doc::{Doc, List, Value};
use super::resource::{Gvk, Resource};
use crate::budget::{STEP, Share, Spent};
use crate::source::Span;

/// A field of some kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The kinds; empty parts stand for any.
    pub gvk: Gvk,
    /// Keys from the root; lists on the way are walked through.
    pub path: Vec<String>,
    /// Whether a missing field is made.
    pub create: bool,
}

impl Field {
    /// A field from its path with slashes; `\/` is a slash in a key, `[]` marks a list.
    pub fn new(gvk: Gvk, path: &str, create: bool) -> Field {
        let escaped = path.replace("\\/", "\u{0}");
        let part = |part: &str| part.replace('\u{0}', "/");
        Field { gvk, path: escaped.split('/').filter(|p| !p.is_empty()).map(part).collect(), create }
    }

    /// Reads an item of `fieldSpecs` or of a list in `configurations`.
    pub fn read(doc: &Doc) -> Option<Field> {
        let text = |key| doc.text_at(&[key]).unwrap_or_default().to_owned();
        let gvk = Gvk { group: text("group"), version: text("version"), kind: text("kind") };
        Some(Field::new(gvk, doc.text_at(&["path"])?, doc.get("create").is_some_and(Doc::is_true)))
    }

    /// Hands every node at the field to `change`. What is made on the way stands at `span`.
    pub fn visit(&self, resource: &mut Resource, (share, span): (&Share, Span), change: &mut dyn FnMut(&mut Doc)) {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        if share.work(STEP).is_ok() && resource.gvk().is_selected_by(&self.gvk) && share.nest(path.len()).is_ok() {
            // What is spent is told where the build ends.
            let _ = walk(&mut resource.doc, &path, (share, self.create.then_some(span)), change);
        }
    }
}

fn walk(
    doc: &mut Doc,
    path: &[&str],
    (share, create): (&Share, Option<Span>),
    change: &mut dyn FnMut(&mut Doc),
) -> Result<(), Spent> {
    let Some((key, rest)) = path.split_first() else {
        change(doc);
        return share.work(STEP);
    };
    doc.open(share)?;
    match &mut doc.value {
        Value::Seq(items) => items.iter_mut().try_for_each(|item| walk(item, path, (share, create), change)),
        Value::Map(_) => {
            let name = key.trim_end_matches("[]");
            let next = match create.filter(|_| name == *key) {
                Some(span) => doc.entry(name, span),
                None => doc.get_mut(name),
            };
            let Some(next) = next else { return Ok(()) };
            if next.is_null() && !rest.is_empty() && create.is_some() && name == *key {
                next.value = Value::Map(List::default());
            }
            walk(next, rest, (share, create), change)
        }
        _ => Ok(()),
    }
}
