//! Values by dotted names (`a.b\.c[0].d=1`, as Helm takes them) laid over a document.

use super::tree::{Builder, Dialect, Entry, Node, NodeId, NodeKind, Shape, Tree};
use super::view::Raw;
use crate::budget::{DEPTH, NODE, Share, Spent};
use crate::known::{Fact, Known, Why};
use crate::source::{Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What names put at one place.
enum Put {
    Leaf(NodeId),
    Table(BTreeMap<String, Put>),
    List(BTreeMap<usize, Put>),
}

/// A part of a name.
enum Part {
    Key(String),
    Index(usize),
}

/// A document with single values laid over it: each replaces what stands at its name, and the rest is shared. What cannot be
/// told of the names (`rest`) may stand anywhere. Names that are none say nothing. A value is true, false, null or a whole number
/// where it reads so, and else text; with `true` it is text in any case.
/// https://github.com/helm/helm/blob/main/pkg/strvals/parser.go `typedVal`
///
/// # Errors
/// The maps and lists that values are put into are too large.
pub fn laid_over<'s>(
    base: Option<&Raw>,
    values: impl Iterator<Item = (&'s str, &'s Fact<String>, bool)>,
    rest: Option<&Fact<String>>,
    (place, share): (Span, &Share),
) -> Result<Raw, Spent> {
    let mut builder = Builder::new(place.source, Dialect::Kubernetes);
    let mut root = Put::Table(BTreeMap::new());
    for (name, value, is_text) in values {
        let kind = match &value.known {
            Known::Value(text) => {
                NodeKind::Scalar { text: Traced::opaque(text.as_str(), value.span), plain: !is_text && is_typed(text) }
            }
            Known::Absent => continue,
            Known::Unknown(why) => NodeKind::Unknown(why.clone()),
        };
        let Some(mut parts) = parts(name) else { continue };
        let deep = parts.len() > DEPTH;
        parts.truncate(DEPTH);
        let kind = if deep { NodeKind::Unknown(Why::NotModelled("a name of so many parts".into())) } else { kind };
        let leaf = builder.add(kind, value.span);
        put(&mut root, parts, leaf);
    }
    let node = base.and_then(|base| Some((&base.tree, base.view().node()?)));
    let (mut id, _) = written(&mut builder, node, root, (place, share))?;
    if let Some((why, at)) = rest.and_then(|rest| Some((rest.why()?, rest.span))) {
        let mut entries = match builder.tree().node(id).kind() {
            Shape::Map(entries) => entries.to_vec(),
            _ => Vec::new(),
        };
        entries.push(other_keys(&mut builder, why, at));
        id = builder.add(NodeKind::Map(entries), place);
    }
    builder.tree().documents.push(id);
    let open = base.and_then(|base| base.open);
    Ok(Raw { place: base.map_or(place, |base| base.place), id: Some(id), tree: Arc::new(builder.finish()), open })
}

/// Whether Helm gives a value that is set by name a type of its own.
fn is_typed(text: &str) -> bool {
    ["true", "false", "null", "0"].iter().any(|typed| text.eq_ignore_ascii_case(typed))
        || !text.starts_with('0') && text.parse::<i64>().is_ok()
}

/// `a.b\.c[0]` names the first item of `b.c` in `a`.
fn parts(name: &str) -> Option<Vec<Part>> {
    let mut out = Vec::new();
    let (mut key, mut chars) = (String::new(), name.chars());
    let close = |key: &mut String, out: &mut Vec<Part>| {
        let named = !key.is_empty();
        out.extend(named.then(|| Part::Key(std::mem::take(key))));
        named || matches!(out.last(), Some(Part::Index(_)))
    };
    while let Some(c) = chars.next() {
        match c {
            '\\' => key.extend(chars.next()),
            '.' if !close(&mut key, &mut out) => return None,
            '.' => {}
            '[' => {
                let (index, behind) = chars.as_str().split_once(']')?;
                close(&mut key, &mut out).then_some(())?;
                out.push(Part::Index(index.parse().ok()?));
                chars = behind.chars();
            }
            c => key.push(c),
        }
    }
    close(&mut key, &mut out).then_some(out)
}

fn put(root: &mut Put, parts: Vec<Part>, leaf: NodeId) {
    let mut at = root;
    for part in parts {
        at = match part {
            Part::Key(key) => {
                if !matches!(at, Put::Table(_)) {
                    *at = Put::Table(BTreeMap::new());
                }
                let Put::Table(table) = at else { return };
                table.entry(key).or_insert(Put::Leaf(leaf))
            }
            Part::Index(index) => {
                if !matches!(at, Put::List(_)) {
                    *at = Put::List(BTreeMap::new());
                }
                let Put::List(list) = at else { return };
                list.entry(index).or_insert(Put::Leaf(leaf))
            }
        };
    }
    *at = Put::Leaf(leaf);
}

/// What stood somewhere, and a tree that holds it.
type Base<'t> = Option<(&'t Arc<Tree>, Node<'t>)>;

/// Writes what is put over what stood there; with the place of the first of it.
fn written(
    builder: &mut Builder,
    base: Base<'_>,
    put: Put,
    (place, share): (Span, &Share),
) -> Result<(NodeId, Span), Spent> {
    match put {
        Put::Leaf(id) => Ok((id, builder.tree().node(id).span())),
        Put::Table(table) => in_table(builder, base, table, (place, share)),
        Put::List(list) => in_list(builder, base, list, (place, share)),
    }
}

fn in_table(
    builder: &mut Builder,
    base: Base<'_>,
    mut table: BTreeMap<String, Put>,
    (place, share): (Span, &Share),
) -> Result<(NodeId, Span), Spent> {
    let mut entries = Vec::new();
    if let Some((node, Shape::Unknown(why))) = base.map(|(_, node)| (node, node.kind())) {
        entries.push(other_keys(builder, why, node.span()));
    }
    for (tree, map) in base.into_iter().filter(|(_, node)| node.is_map()) {
        share.make(map.width() * 2 * NODE)?;
        for (key, value) in map.entries_and_rest() {
            let over = key.text().and_then(|text| table.remove(text));
            let value = match over {
                Some(over) => written(builder, Some((tree, value)), over, (place, share))?.0,
                None => builder.share(tree, value),
            };
            entries.push(Entry { key: builder.share(tree, key), value });
        }
    }
    let mut first = None;
    for (name, value) in table {
        let (value, place) = written(builder, None, value, (place, share))?;
        first.get_or_insert(place);
        let key = builder.add(NodeKind::Scalar { text: Traced::opaque(name, place), plain: false }, place);
        entries.push(Entry { key, value });
    }
    let place = first.or_else(|| base.map(|(_, node)| node.span())).unwrap_or(place);
    Ok((builder.add(NodeKind::Map(entries), place), place))
}

fn in_list(
    builder: &mut Builder,
    base: Base<'_>,
    mut list: BTreeMap<usize, Put>,
    (place, share): (Span, &Share),
) -> Result<(NodeId, Span), Spent> {
    base.map_or(Ok(()), |(_, list)| share.make(list.width() * NODE))?;
    let stated: Vec<(&Arc<Tree>, Node<'_>)> =
        base.into_iter().flat_map(|(tree, node)| node.items().map(move |item| (tree, item))).collect();
    let mut items = Vec::new();
    for (at, (tree, item)) in stated.iter().enumerate() {
        items.push(match list.remove(&at) {
            Some(over) => written(builder, Some((tree, *item)), over, (place, share))?.0,
            None => builder.share(tree, *item),
        });
    }
    let mut first = base.map(|(_, node)| node.span());
    for (at, value) in list {
        let (value, place) = written(builder, None, value, (place, share))?;
        first.get_or_insert(place);
        // Items that nothing states are null; nobody has many of them.
        while items.len() < at.min(stated.len() + HOLES) {
            let null = builder.add(NodeKind::Null, place);
            items.push(null);
        }
        items.push(value);
    }
    let place = first.unwrap_or(place);
    Ok((builder.add(NodeKind::Seq(items), place), place))
}

/// Most items of a list that nothing states.
const HOLES: usize = 8;

/// What stands for the other keys that a map may have.
fn other_keys(builder: &mut Builder, why: &Why, span: Span) -> Entry {
    let key = builder.add(NodeKind::Scalar { text: Traced::opaque("<<", span), plain: true }, span);
    let value = builder.add(NodeKind::Unknown(why.clone().perhaps()), span);
    Entry { key, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::scalar::Scalar;
    use crate::parse::yaml;
    use crate::source::SourceId;

    fn over(base: &str, set: &[(&str, &str)]) -> Raw {
        let tree = Arc::new(yaml::parse(SourceId(0), base, Dialect::Kubernetes));
        let base = yaml::root(&tree).map(|root| Raw::new(&tree, root.view()));
        let span = Span::new(SourceId(0), 0..1);
        let set: Vec<(&str, Fact<String>)> =
            set.iter().map(|(k, v)| (*k, Fact::value((*v).to_owned(), span))).collect();
        laid_over(base.as_ref(), set.iter().map(|(name, value)| (*name, value, false)), None, (span, &Share::of(1, 0)))
            .expect("little is made")
    }

    #[test]
    fn a_value_has_the_type_that_helm_gives_it() {
        let raw = over("", &[("a", "8"), ("b", "0.95"), ("c", "1e3"), ("d", "007"), ("e", "False"), ("f", "yes")]);
        let root = raw.view();
        assert_eq!(root.get("a").int().get(), Some(&8));
        assert_eq!(root.get("e").boolean().get(), Some(&false));
        for text in ["b", "c", "d", "f"] {
            assert!(matches!(root.get(text).node().and_then(Node::scalar), Some(Scalar::Str(_))), "{text}");
        }
    }

    #[test]
    fn single_values_win_and_leave_the_rest() {
        let raw = over("a: {b: 1, c: 2}\nd: [{e: 1}, {e: 2}]", &[("a.b", "true"), ("d[1].e", "5"), (r"x\.y/z", "w")]);
        let root = raw.view();
        assert_eq!(root.path("a.b").boolean().get(), Some(&true));
        assert_eq!(root.path("a.c").int().get(), Some(&2));
        let items: Vec<i64> = root.get("d").items().filter_map(|item| item.get("e").int().get().copied()).collect();
        assert_eq!(items, [1, 5]);
        assert_eq!(root.get("x.y/z").string().get().map(String::as_str), Some("w"));
    }

    #[test]
    fn a_table_or_a_list_replaces_what_is_none() {
        let raw =
            over("a: 1\nb: 2", &[("a.b", "1"), ("b[0].name", "x"), ("c[99999999]", "y"), ("..", "z"), ("e[x]", "z")]);
        let root = raw.view();
        assert_eq!(root.path("a.b").int().get(), Some(&1));
        assert_eq!(
            root.get("b").items().next().and_then(|item| item.get("name").string().get().cloned()),
            Some("x".into())
        );
        assert!(root.get("c").items().count() < 20 && !root.get("e").is_some());
    }

    #[test]
    fn names_that_cannot_be_told_may_be_any() {
        let span = Span::new(SourceId(0), 0..1);
        let rest = Fact::unknown(Why::Variable("x".into()), span);
        let set = Fact::value("1".to_owned(), span);
        let raw = laid_over(None, [("a.b", &set, false)].into_iter(), Some(&rest), (span, &Share::of(1, 0)))
            .expect("little is made");
        assert_eq!(raw.view().path("a.b").int().get(), Some(&1));
        assert!(raw.view().path("c").int().is_unknown());
    }
}
