//! JSON patches (RFC 6902) over documents. Knows JSON pointers.

use super::doc::{Doc, Value};
use crate::budget::{STEP, Share};
use crate::parse::Problem;
use crate::source::Span;

/// Applies the operations of a patch in order.
///
/// # Errors
/// An operation that is not one, or whose path is not in the document.
pub fn apply(doc: &mut Doc, patch: &Doc, share: &Share) -> Result<(), Problem> {
    patch.items().iter().try_for_each(|operation| one(doc, operation, share))
}

fn one(doc: &mut Doc, operation: &Doc, share: &Share) -> Result<(), Problem> {
    let place = operation.get("path").unwrap_or(operation).span;
    let failed = |message: String| Problem { span: place, message };
    let missing = |path: &str| failed(format!("the patch names `{path}`, which is not in the document"));
    let name = operation.text_at(&["op"]).unwrap_or_default();
    let path = operation.text_at(&["path"]).ok_or_else(|| failed(format!("the operation `{name}` has no path")))?;
    let from = || operation.text_at(&["from"]).ok_or_else(|| failed(format!("the operation `{name}` has no `from`")));
    let value = || operation.get("value").cloned().unwrap_or_else(|| Doc::null(operation.span));
    match name {
        "add" => add(doc, path, value(), (share, place)).ok_or_else(|| missing(path)),
        "remove" => remove(doc, path, share).map(drop).ok_or_else(|| missing(path)),
        "replace" => replace(doc, path, value(), (share, place)).ok_or_else(|| missing(path)),
        "move" => {
            let moved = remove(doc, from()?, share).ok_or_else(|| missing(path))?;
            add(doc, path, moved, (share, place)).ok_or_else(|| missing(path))
        }
        "copy" => {
            let copy = find(doc, from()?, share).cloned().ok_or_else(|| missing(path))?;
            add(doc, path, copy, (share, place)).ok_or_else(|| missing(path))
        }
        "test" => match find(doc, path, share) {
            Some(found) if same(found, &value(), share) => Ok(()),
            _ => Err(failed(format!("the test of `{path}` fails"))),
        },
        _ => Err(failed(format!("`{name}` is not an operation of a JSON patch"))),
    }
}

/// The parts of a pointer; `None` when it does not start with a slash.
fn parts(pointer: &str, share: &Share) -> Option<Vec<String>> {
    share.work(STEP + pointer.len()).ok()?;
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let rest = pointer.strip_prefix('/')?;
    Some(rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
}

fn step<'d>(doc: &'d mut Doc, part: &str, share: &Share) -> Option<&'d mut Doc> {
    doc.open(share).ok()?;
    if let Value::Map(_) = doc.value {
        return doc.get_mut(part);
    }
    let Value::Seq(items) = &mut doc.value else { return None };
    let at = index(part, items.len())?;
    items.get_mut(at)
}

/// An index of a list; a negative one counts from its end.
fn index(part: &str, length: usize) -> Option<usize> {
    match part.strip_prefix('-') {
        Some(back) => length.checked_sub(back.parse().ok()?),
        None => part.parse().ok(),
    }
}

fn find<'d>(doc: &'d mut Doc, pointer: &str, share: &Share) -> Option<&'d mut Doc> {
    parts(pointer, share)?.iter().try_fold(doc, |doc, part| step(doc, part, share))
}

fn add(doc: &mut Doc, pointer: &str, value: Doc, (share, span): (&Share, Span)) -> Option<()> {
    let parts = parts(pointer, share)?;
    value.measure(share, parts.len() + 1).ok()?;
    let Some((last, above)) = parts.split_last() else {
        *doc = value;
        return Some(());
    };
    let parent = above.iter().try_fold(doc, |doc, part| step(doc, part, share))?;
    parent.open(share).ok()?;
    match &mut parent.value {
        Value::Map(_) => parent.set(Doc::string(last.as_str(), span), value),
        Value::Seq(items) if last == "-" => items.push(value),
        Value::Seq(items) => {
            let at = index(last, items.len()).filter(|&at| at <= items.len())?;
            items.insert(at, value);
        }
        _ => return None,
    }
    Some(())
}

/// Like kustomize, this adds a key that is missing.
fn replace(doc: &mut Doc, pointer: &str, value: Doc, (share, span): (&Share, Span)) -> Option<()> {
    value.measure(share, parts(pointer, share)?.len() + 1).ok()?;
    match find(doc, pointer, share) {
        Some(old) => *old = value,
        None => {
            let (above, _) = pointer.rsplit_once('/')?;
            find(doc, above, share).filter(|parent| matches!(parent.value, Value::Map(_)))?;
            return add(doc, pointer, value, (share, span));
        }
    }
    Some(())
}

fn remove(doc: &mut Doc, pointer: &str, share: &Share) -> Option<Doc> {
    let parts = parts(pointer, share)?;
    let (last, above) = parts.split_last()?;
    let parent = above.iter().try_fold(doc, |doc, part| step(doc, part, share))?;
    parent.open(share).ok()?;
    match &mut parent.value {
        Value::Map(_) => parent.remove(last),
        Value::Seq(items) => {
            let at = index(last, items.len()).filter(|&at| at < items.len())?;
            Some(items.remove(at))
        }
        _ => None,
    }
}

/// Whether two documents say the same, wherever they stand.
fn same(a: &Doc, b: &Doc, share: &Share) -> bool {
    if share.work(STEP + a.text().map_or(0, str::len)).is_err() {
        return false;
    }
    match (&a.value, &b.value) {
        (Value::Map(x), Value::Map(y)) => {
            let has = |(key, value): &(Doc, Doc)| {
                let other = key.text().filter(|_| share.work(y.len()).is_ok()).and_then(|key| b.get(key));
                other.is_some_and(|other| same(value, other, share))
            };
            x.len() == y.len() && x.iter().all(has)
        }
        (Value::Seq(x), Value::Seq(y)) => x.len() == y.len() && x.iter().zip(y.iter()).all(|(a, b)| same(a, b, share)),
        _ => a.text() == b.text() && a.is_null() == b.is_null(),
    }
}
