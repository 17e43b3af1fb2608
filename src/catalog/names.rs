//! Which fields name something, where what they name stands, and what exists although no file makes it.

use super::table::Row;
use super::tables::{INNER_NAMES, NAME_CREATORS, REFERENCES};
use crate::evidence;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Fields of a kind that name parts of the same object. Paths are of keys: `[]` steps into each item, `{}` into each value,
/// `{key}` means the keys themselves, and `|` stands between alternatives.
#[derive(Debug, Clone, Copy)]
pub struct InnerName {
    /// Where both ends are seen from.
    pub at: &'static str,
    /// The field that names.
    pub from: &'static str,
    /// Where what it names is declared: one or more paths, from the object where they start with `^`.
    pub to: &'static str,
    /// What is named.
    pub what: &'static str,
    /// A field beside which the names mean something else.
    pub unless: &'static str,
    /// What happens if there is no such.
    pub fails: &'static str,
    row: Row,
}

/// A field of a kind that names another object, and a part of that.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    /// Where the reference stands.
    pub at: &'static str,
    /// The field of it that says the name.
    pub name: &'static str,
    /// The field that says the kind, where several may be named.
    pub kind_at: &'static str,
    /// The kinds that may be named, as `group/Kind`: the first where none is said.
    pub names: &'static str,
    /// The field that says the namespace; `cluster` where what is named has none.
    pub namespace_at: &'static str,
    /// The field that says the part.
    pub part: &'static str,
    /// Where the object that is named has its parts.
    pub parts: &'static str,
    /// The field that says that it may be missing.
    pub optional: &'static str,
    /// Whether a name that leads nowhere is told where another one is nearly the same.
    pub near: bool,
    /// What happens if it is not there.
    pub fails: &'static str,
    row: Row,
}

/// Something that makes objects of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Creator {
    /// The kind that it is, as `group/Kind`; blank for what any cluster or operator has.
    pub by: &'static str,
    /// The name of what it makes: `*` stands for any text, `{path}` for a field of the object that makes it, and `|` stands
    /// between alternatives of that, of which the first is taken that is stated.
    pub name: &'static str,
}

/// Rows by the kind and the group of an object.
struct ByKind<T>(HashMap<&'static str, Vec<(&'static str, Vec<T>)>>);

impl<T> ByKind<T> {
    /// What `listed` holds, with the group and the kind that each is about, but for answers that rest on it.
    fn of(listed: impl FnOnce() -> Vec<((&'static str, &'static str), T)>) -> Self {
        let mut out: HashMap<_, Vec<(_, Vec<T>)>> = HashMap::new();
        for ((group, kind), item) in evidence::watched(listed).0 {
            let of_kind = out.entry(kind).or_default();
            match of_kind.iter_mut().find(|(own, _)| *own == group) {
                Some((_, items)) => items.push(item),
                None => of_kind.push((group, vec![item])),
            }
        }
        Self(out)
    }

    fn get(&self, group: &str, kind: &str) -> &[T] {
        let of_kind = self.0.get(kind).map_or(&[][..], Vec::as_slice);
        of_kind.iter().find(|(own, _)| *own == group).map_or(&[], |(_, items)| items)
    }
}

fn holder(row: Row) -> (&'static str, &'static str) {
    (row.text("group"), row.text("kind"))
}

impl InnerName {
    /// Notes that an answer rests on it.
    pub fn used(&self) {
        self.row.used();
    }
}

impl Reference {
    /// Notes that an answer rests on it.
    pub fn used(&self) {
        self.row.used();
    }
}

/// The fields of a kind that name parts of the same object.
pub fn inner_names(group: &str, kind: &str) -> &'static [InnerName] {
    static ALL: OnceLock<ByKind<InnerName>> = OnceLock::new();
    let read = |row: Row| InnerName {
        at: row.text("at"),
        from: row.text("from"),
        to: row.text("to"),
        what: row.text("what"),
        unless: row.text("unless"),
        fails: row.text("fails"),
        row,
    };
    let all = ALL.get_or_init(|| ByKind::of(|| INNER_NAMES.rows().map(|row| (holder(row), read(row))).collect()));
    all.get(group, kind)
}

/// The fields of a kind that name other objects.
pub fn references(group: &str, kind: &str) -> &'static [Reference] {
    static ALL: OnceLock<ByKind<Reference>> = OnceLock::new();
    let read = |row: Row| Reference {
        at: row.text("at"),
        name: row.text("name"),
        kind_at: row.text("kind_at"),
        names: row.text("names"),
        namespace_at: row.text("namespace_at"),
        part: row.text("part"),
        parts: row.text("parts"),
        optional: row.text("optional"),
        near: row.flag("near") == Some(true),
        fails: row.text("fails"),
        row,
    };
    let all = ALL.get_or_init(|| ByKind::of(|| REFERENCES.rows().map(|row| (holder(row), read(row))).collect()));
    all.get(group, kind)
}

/// A kind that something names, as `group/Kind`, of an object's group and kind.
pub fn named_kind(group: &str, kind: &str) -> Option<&'static str> {
    static ALL: OnceLock<ByKind<&'static str>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        ByKind::of(|| {
            let kinds = REFERENCES.rows().flat_map(|row| row.text("names").split(' '));
            kinds.filter_map(|whole| Some((whole.rsplit_once('/')?, whole))).collect()
        })
    });
    all.get(group, kind).first().copied()
}

/// What makes objects of a kind, `group/Kind`, without being one.
pub fn creators(makes: &str) -> impl Iterator<Item = Creator> {
    NAME_CREATORS.rows().filter(move |row| row.text("makes") == makes).map(creator)
}

/// What objects of a kind make: the kind and the name.
pub fn made_by(group: &str, kind: &str) -> &'static [(&'static str, Creator)] {
    static ALL: OnceLock<ByKind<(&'static str, Creator)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        ByKind::of(|| {
            let made = |row: Row| Some((row.text("by").rsplit_once('/')?, (row.text("makes"), creator(row))));
            NAME_CREATORS.rows().filter_map(made).collect()
        })
    });
    all.get(group, kind)
}

fn creator(row: Row) -> Creator {
    Creator { by: row.text("by"), name: row.text("name") }
}
