//! The values that releases of charts know.

use super::table::Row;
use super::tables::CHART_VALUES;
use crate::suggest;
use crate::version::Version;
use std::collections::BTreeMap;
use std::ops::Bound;

/// The values that one release of a chart knows.
#[derive(Debug)]
pub struct ChartValues {
    /// The keys below the paths that know theirs, with what they must hold. `!` among them: Helm refuses any other.
    below: BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>,
}

/// The values of a release of a chart from a repository, where they were read: `None` also for a chart of that name which may
/// be another one.
pub fn chart_values(chart: &str, version: &Version, repository: Option<&str>) -> Option<ChartValues> {
    let of_chart = || CHART_VALUES.rows().filter(|row| row.text("chart") == chart);
    let whole = of_chart().find(|row| row.text("keys").is_empty())?;
    if !comes_from(&whole, repository) || !whole.holds(version) {
        return None;
    }
    whole.used();
    let mut below: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    let keys =
        |row: &Row| row.text("keys").split_ascii_whitespace().map(|key| key.split_once(':').unwrap_or((key, "")));
    for row in of_chart().filter(|row| row.holds(version)) {
        below.entry(row.text("under")).or_insert_with(BTreeMap::new).extend(keys(&row));
    }
    // Not every release was read: what one of the two around knows may be known.
    for around in around(version, of_chart().map(|row| row.text("versions"))) {
        for row in of_chart().filter(|row| row.holds(&around)) {
            if let Some(known) = below.get_mut(row.text("under")) {
                let more: Vec<_> = keys(&row).filter(|(key, _)| *key != "!" && !known.contains_key(key)).collect();
                known.extend(more.into_iter().map(|(key, _)| (key, "")));
            }
        }
    }
    Some(ChartValues { below })
}

/// Whether values of some release of a chart from a repository were read: `false` also for a chart of that name which may be
/// another one.
pub fn knows_chart(chart: &str, repository: Option<&str>) -> bool {
    let whole = CHART_VALUES.rows().find(|row| row.text("chart") == chart && row.text("keys").is_empty());
    whole.is_some_and(|whole| comes_from(&whole, repository))
}

/// Whether a repository is that of a chart. One whose name says enough may come from anywhere.
fn comes_from(whole: &Row, repository: Option<&str>) -> bool {
    whole.filled("repository").is_none_or(|part| repository.is_some_and(|from| from.contains(part)))
}

/// The releases that ranges begin or end with, next before a version and next behind it.
fn around<'r>(version: &Version, ranges: impl Iterator<Item = &'r str>) -> impl Iterator<Item = Version> {
    let bounds = ranges.flat_map(str::split_ascii_whitespace);
    let read: Vec<Version> =
        bounds.filter_map(|bound| Version::parse(bound.trim_start_matches(['<', '>', '=']))).collect();
    let before = read.iter().filter(|read| *read <= version).max().cloned();
    let behind = read.into_iter().filter(|read| read >= version).min();
    before.into_iter().chain(behind)
}

/// What may stand at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Keys that are known.
    Keys,
    /// Items, or values of free keys, that are alike: they stand at the path with `.*` behind it.
    Elements,
    /// Anything.
    Anything,
}

impl ChartValues {
    /// What may stand at the path of a known key.
    pub fn takes(&self, path: &str) -> Taken {
        let elements = format!("{path}.*");
        let from = (Bound::Included(elements.as_str()), Bound::Unbounded);
        let first = || self.below.range::<str, _>(from).next().map(|(under, _)| under.strip_prefix(elements.as_str()));
        match self.below.contains_key(path) {
            true => Taken::Keys,
            false if first().flatten().is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) => Taken::Elements,
            false => Taken::Anything,
        }
    }

    /// Whether the key is known below a path.
    pub fn knows(&self, under: &str, key: &str) -> bool {
        self.below.get(under).is_some_and(|keys| keys.contains_key(key))
    }

    /// The key that an unknown one was meant to be: one spelled like it in its place, else the only one of its name below it.
    pub fn nearest(&self, under: &str, key: &str) -> Option<String> {
        let path = |under: &str, key: &str| if under.is_empty() { key.to_owned() } else { format!("{under}.{key}") };
        let beside = self.below.get(under)?.keys().copied().filter(|key| *key != "!");
        if let Some(near) = suggest::nearest(key, beside) {
            return Some(path(under, near));
        }
        let inside = |at: &str| under.is_empty() || at == under || at.starts_with(&format!("{under}."));
        let reached = |at: &str| {
            at.rmatch_indices('.').all(|(end, _)| {
                let (above, last) = at[..end].rsplit_once('.').unwrap_or(("", &at[..end]));
                self.knows(above, last)
            })
        };
        let mut same = self
            .below
            .iter()
            .filter(|(at, keys)| !at.contains('*') && inside(at) && reached(&path(at, key)) && keys.contains_key(key));
        let only = same.next().filter(|_| same.next().is_none())?;
        Some(path(only.0, key))
    }
}
