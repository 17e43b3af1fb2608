//! Values of charts: layers of mappings, merged as Helm merges them. Leaves stay the nodes that state them, so every
//! value leads to its line. Knows Helm's rules of precedence; evaluates nothing.

use crate::budget::{NODE, Share, Spent};
use crate::parse::scalar::Scalar;
use crate::parse::{self, Builder, Dialect, Node, NodeId, NodeKind, Raw};
use crate::source::{Span, Traced};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Keys and their values.
pub type Table<'t> = BTreeMap<String, Entry<'t>>;

/// A value under a key, and where the key was written.
#[derive(Debug, Clone)]
pub struct Entry<'t> {
    /// The key; `None` for one that no file states.
    pub key: Option<Span>,
    /// The value.
    pub value: Value<'t>,
}

impl<'t> From<Table<'t>> for Entry<'t> {
    fn from(table: Table<'t>) -> Self {
        Self { key: None, value: Value::Table(table) }
    }
}

/// A value: a table of its own, or whatever a node states.
#[derive(Debug, Clone)]
pub enum Value<'t> {
    /// A mapping. It may have been put together from several files.
    Table(Table<'t>),
    /// Anything else.
    Leaf(Node<'t>),
}

impl<'t> Value<'t> {
    /// Whether it is null, which takes a key away.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Leaf(node) if node.is_null())
    }

    /// The truth value that it states.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Leaf(node) => node.as_bool(),
            Value::Table(_) => None,
        }
    }

    /// What is spent ends the tables, and is told by whoever gave the share.
    fn of(node: Node<'t>, share: &Share, level: usize) -> Self {
        if !node.is_map() || share.nest(level).is_err() {
            return Value::Leaf(node);
        }
        let entries = node.entries();
        if share.make(2 * NODE * entries.len()).is_err() {
            return Value::Leaf(node);
        }
        let entry = |(key, value): (Node<'t>, Node<'t>)| {
            Some((name(key)?, Entry { key: Some(key.span()), value: Value::of(value, share, level + 1) }))
        };
        Value::Table(entries.into_iter().filter_map(entry).collect())
    }
}

/// A key as JSON would write it.
pub(super) fn name(key: Node<'_>) -> Option<String> {
    match key.scalar()? {
        Scalar::Bool(value) => Some(value.to_string()),
        Scalar::Null => Some("null".to_owned()),
        _ => key.text().map(str::to_owned),
    }
}

/// The values that a document states.
pub fn table<'t>(root: Node<'t>, share: &Share) -> Table<'t> {
    match Value::of(root, share, 1) {
        Value::Table(table) => table,
        Value::Leaf(_) => Table::new(),
    }
}

/// What a copy of the values costs.
pub fn weight(table: &Table<'_>) -> usize {
    let inner = |value: &Value<'_>| if let Value::Table(table) = value { weight(table) } else { 0 };
    table.iter().map(|(key, entry)| 2 * NODE + key.len() + inner(&entry.value)).sum()
}

/// Puts a later file over earlier ones: tables are merged, everything else is replaced.
pub fn overlay<'t>(base: &mut Table<'t>, over: &Table<'t>) {
    for (key, entry) in over {
        match (base.get_mut(key).map(|e| &mut e.value), &entry.value) {
            (Some(Value::Table(below)), Value::Table(above)) => overlay(below, above),
            _ => {
                base.insert(key.clone(), entry.clone());
            }
        }
    }
}

/// What becomes of a null that stands in front of a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// It takes the key away.
    Delete,
    /// It waits for the defaults that it is meant for.
    Keep,
}

/// Fills what `table` does not state from the defaults.
pub fn fill<'t>(table: &mut Table<'t>, defaults: &Table<'t>, nulls: Nulls) {
    if nulls == Nulls::Delete {
        let gone: BTreeSet<String> = table.iter().filter(|(_, e)| e.value.is_null()).map(|(k, _)| k.clone()).collect();
        let left = defaults.iter().filter(|(key, _)| !gone.contains(*key));
        fill_present(table, left, nulls);
        table.retain(|key, _| !gone.contains(key));
    } else {
        fill_present(table, defaults.iter(), nulls);
    }
}

fn fill_present<'d, 't: 'd>(
    table: &mut Table<'t>,
    defaults: impl Iterator<Item = (&'d String, &'d Entry<'t>)>,
    nulls: Nulls,
) {
    for (key, default) in defaults {
        match (table.get_mut(key).map(|e| &mut e.value), &default.value) {
            (None, _) => {
                table.insert(key.clone(), default.clone());
            }
            (Some(Value::Table(own)), Value::Table(default)) => fill(own, default, nulls),
            _ => {}
        }
    }
}

/// Hands the parent's `global` down to a subchart: the parent's values win.
pub fn hand_down_globals<'t>(parent: &Table<'t>, child: &mut Table<'t>) {
    let own = child.entry("global".to_owned()).or_insert_with(|| Table::new().into());
    let (Some(Value::Table(from)), Value::Table(own)) = (parent.get("global").map(|e| &e.value), &mut own.value) else {
        return;
    };
    for (key, entry) in from {
        match (own.get_mut(key).map(|e| &mut e.value), &entry.value) {
            (Some(Value::Table(below)), Value::Table(above)) => {
                let mut merged = above.clone();
                fill(&mut merged, below, Nulls::Delete);
                *below = merged;
            }
            (Some(Value::Table(_)), _) => {}
            _ => {
                own.insert(key.clone(), entry.clone());
            }
        }
    }
}

/// The value at a dotted path.
pub fn at<'v, 't>(table: &'v Table<'t>, path: &str) -> Option<&'v Value<'t>> {
    let (mut table, mut found) = (Some(table), None);
    for part in path.split('.') {
        found = table?.get(part).map(|entry| &entry.value);
        table = match found {
            Some(Value::Table(inner)) => Some(inner),
            _ => None,
        };
    }
    found
}

/// The values as a document; every leaf keeps its place.
///
/// # Errors
/// They are too large or too deep.
pub fn document(table: &Table<'_>, place: Span, share: &Share) -> Result<Raw, Spent> {
    let mut builder = Builder::new(place.source, Dialect::Kubernetes);
    share.make(weight(table))?;
    let root = node(&mut builder, table, (place, share))?;
    builder.tree().documents.push(root);
    Ok(Raw { place, id: Some(root), tree: Arc::new(builder.finish()), open: None })
}

fn node(builder: &mut Builder, table: &Table<'_>, (place, share): (Span, &Share)) -> Result<NodeId, Spent> {
    let mut entries = Vec::new();
    for (name, entry) in table {
        let at = entry.key.unwrap_or(place);
        let key = builder.add(NodeKind::Scalar { text: Traced::opaque(name.as_str(), at), plain: false }, at);
        let value = match &entry.value {
            Value::Table(inner) => node(builder, inner, (at, share))?,
            Value::Leaf(leaf) => {
                size(*leaf, share, 1)?;
                builder.copy(*leaf)
            }
        };
        entries.push(parse::Entry { key, value });
    }
    Ok(builder.add(NodeKind::Map(entries), place))
}

/// Spends what a copy of a node costs, aliases written out.
fn size(node: Node<'_>, share: &Share, level: usize) -> Result<(), Spent> {
    share.nest(level)?;
    share.make(NODE + node.text().map_or(0, str::len))?;
    node.items().try_for_each(|item| size(item, share, level + 1))?;
    node.entries().into_iter().try_for_each(|(_, value)| size(value, share, level + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Tree, yaml};
    use crate::source::SourceId;

    fn tree(text: &str) -> Tree {
        yaml::parse(SourceId(0), text, Dialect::Kubernetes)
    }

    fn of(tree: &Tree) -> Table<'_> {
        yaml::root(tree).map(|root| table(root, &Share::of(1, 0))).unwrap_or_default()
    }

    /// The table in one line, for comparison.
    fn flat(table: &Table<'_>) -> String {
        let each = table.iter().map(|(key, entry)| match &entry.value {
            Value::Table(inner) => format!("{key}: {{{}}}", flat(inner)),
            Value::Leaf(node) => format!("{key}: {}", node.text().unwrap_or("~")),
        });
        each.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn later_files_win_and_null_takes_a_default_away() {
        let (first, second) = (tree("a: {x: 1, w: 2}\nb: 1"), tree("a: {w: 3}\nb: null"));
        let defaults = tree("a: {x: 0, z: 9}\nb: 5\nc: {d: 1}");
        let mut given = of(&first);
        overlay(&mut given, &of(&second));
        fill(&mut given, &of(&defaults), Nulls::Delete);
        assert_eq!(flat(&given), "a: {w: 3, x: 1, z: 9}, c: {d: 1}");
    }

    #[test]
    fn a_kept_null_waits_for_its_defaults() {
        let (given, defaults) = (tree("sub: {a: null}"), tree("sub: {a: 1, b: 2}"));
        let mut kept = of(&given);
        fill(&mut kept, &of(&defaults), Nulls::Keep);
        assert_eq!(flat(&kept), "sub: {a: null, b: 2}");
    }

    #[test]
    fn globals_of_the_parent_win() {
        let (parent, child) = (tree("global: {a: 1, t: {x: 1}}"), tree("global: {a: 2, b: 3, t: {x: 2, w: 2}}"));
        let mut own = of(&child);
        hand_down_globals(&of(&parent), &mut own);
        assert_eq!(flat(&own), "global: {a: 1, b: 3, t: {w: 2, x: 1}}");
    }

    #[test]
    fn keys_are_names_and_aliases_cannot_multiply_without_end() {
        let text = tree("a: &a {x: 1}\nb: {<<: *a, 8080: y}\non: z");
        assert_eq!(flat(&of(&text)), "a: {x: 1}, b: {8080: y, x: 1}, true: z");
        let mut bomb = "a0: &a0 {x: 1}\n".to_owned();
        (1..60).for_each(|i| {
            let p = i - 1;
            bomb += &format!("a{i}: &a{i} {{x: *a{p}, w: *a{p}}}\n");
        });
        assert!(of(&tree(&bomb)).len() <= 60);
    }

    #[test]
    fn paths_lead_to_values() {
        let text = tree("a: {b: {c: true}}");
        assert_eq!(at(&of(&text), "a.b.c").and_then(Value::as_bool), Some(true));
        assert!(at(&of(&text), "a.x.c").is_none());
    }
}
