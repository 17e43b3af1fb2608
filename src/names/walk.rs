//! Paths into documents: what stands where, and whether something that is not written may stand there, too. Knows no kinds.
//!
//! A path is of keys with dots between them: `[]` steps into each item, `{}` into each value, `{key}` at its end means the keys
//! themselves, `|` stands between alternatives, and `~` is a dot in a key.

use crate::budget::{STEP, Share, Spent};
use crate::parse::{Node, View};
use crate::source::Span;

/// What a path leads to.
pub struct Found<T> {
    /// What is written.
    pub all: Vec<T>,
    /// Whether there may be more: a template or something that is decided elsewhere stands on the way.
    pub open: bool,
}

/// A name with its place.
pub type Name = (String, Span);

/// What stands at a path.
pub fn views<'t>(root: View<'t>, path: &str, share: &Share) -> Result<Found<View<'t>>, Spent> {
    let mut found = Found { all: vec![root], open: root.unknown().is_some() };
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let mut below = Vec::new();
        for view in std::mem::take(&mut found.all) {
            found.open |= into(view, step, &mut below, share)?;
        }
        found.all = below;
    }
    Ok(found)
}

/// The names at a path: texts, or keys where it ends with `{key}`.
pub fn names(root: View<'_>, path: &str, share: &Share) -> Result<Found<Name>, Spent> {
    let keys = path.strip_suffix("{key}");
    let Found { all, mut open } = views(root, keys.unwrap_or(path), share)?;
    let mut names = Vec::new();
    for view in all {
        share.work(STEP)?;
        if keys.is_some() {
            let entries = view.node().map(Node::entries).unwrap_or_default();
            share.work(STEP * entries.len())?;
            let named = view.entries().len();
            open |= view.rest().is_some() || named < entries.len() || view.string().get().is_some();
            names.extend(entries.into_iter().filter_map(|(key, _)| Some((key.text()?.to_owned(), key.span()))));
        } else {
            let text = view.string();
            open |= text.is_unknown();
            names.extend(text.get().map(|name| (name.clone(), text.span)));
        }
    }
    Ok(Found { all: names, open })
}

/// What stands at a path of keys alone.
pub fn at<'t>(view: View<'t>, path: &str) -> View<'t> {
    path.split('.').fold(view, under)
}

/// What stands under a key of a path.
fn under<'t>(view: View<'t>, key: &str) -> View<'t> {
    if key.contains('~') { view.get(&key.replace('~', ".")) } else { view.get(key) }
}

/// Goes one step; whether there may be more than what is written.
fn into<'t>(view: View<'t>, step: &str, out: &mut Vec<View<'t>>, share: &Share) -> Result<bool, Spent> {
    let keys = step.trim_end_matches("[]").trim_end_matches("{}");
    let mut open = false;
    // A text in the place of a mapping or a list stands for one that something puts there.
    let is_text = |view: View<'_>| view.is_some() && view.node().is_some_and(|node| node.text().is_some());
    open |= is_text(view);
    for key in keys.split('|') {
        share.work(STEP)?;
        let mut level = vec![under(view, key)];
        let mut rest = &step[keys.len()..];
        while let Some(next) = rest.get(2..) {
            let mut inner = Vec::new();
            for one in level {
                open |= one.unknown().is_some() || is_text(one);
                if rest.starts_with('[') {
                    inner.extend(one.items());
                } else {
                    open |= one.rest().is_some();
                    inner.extend(one.entries().into_iter().map(|(_, value)| value));
                }
            }
            share.work(STEP * inner.len())?;
            (level, rest) = (inner, next);
        }
        open |= level.iter().any(|one| one.unknown().is_some());
        out.extend(level.into_iter().filter(|one| one.is_some() && one.unknown().is_none()));
    }
    Ok(open)
}
