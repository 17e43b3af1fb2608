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
    /// Keys by their paths, with whether anything may stand below them.
    keys: BTreeMap<&'static str, bool>,
}

/// The values of a release of a chart from a repository, where they were read: `None` also for a chart of that name which may
/// be another one.
pub fn chart_values(chart: &str, version: &Version, repository: Option<&str>) -> Option<ChartValues> {
    let of_chart = || CHART_VALUES.rows().filter(|row| row.text("chart") == chart);
    let whole = of_chart().find(|row| row.text("key").is_empty())?;
    let same = whole.filled("repository").is_none_or(|part| repository.is_some_and(|from| from.contains(part)));
    if !same || !whole.holds(version) {
        return None;
    }
    whole.used();
    let keys = of_chart().filter(|row| row.holds(version) && !row.text("key").is_empty());
    let open = |row: Row| row.flag("open") == Some(true);
    Some(ChartValues { keys: keys.map(|row| (row.text("key"), open(row))).collect() })
}

/// What the chart makes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It has keys of its own below it.
    Map,
    /// It takes it, whatever stands below.
    Whole,
    /// Nothing.
    Unknown,
}

impl ChartValues {
    /// What the chart makes of the key at a path.
    pub fn takes(&self, path: &str) -> Taken {
        match self.keys.get(path) {
            Some(false) if self.below(path).next().is_some() => Taken::Map,
            Some(_) => Taken::Whole,
            // What a comment of its values names may stand anywhere.
            None => {
                let last = path.rsplit('.').next().unwrap_or(path);
                if self.keys.contains_key(format!("*.{last}").as_str()) { Taken::Whole } else { Taken::Unknown }
            }
        }
    }

    /// The keys below a path.
    fn below<'k>(&'k self, path: &str) -> impl Iterator<Item = &'static str> + use<'k> {
        let prefix = format!("{path}.");
        let from = self.keys.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        from.map(|(key, _)| *key).take_while(move |key| key.starts_with(&prefix))
    }

    /// The key that an unknown one was meant to be: one spelled like it in its place, else the only one of its name below it.
    pub fn nearest(&self, path: &str) -> Option<&'static str> {
        let (above, last) = path.rsplit_once('.').map_or(("", path), |(above, last)| (above, last));
        let parts = |key: &'static str| key.rsplit_once('.').map_or(("", key), |(above, last)| (above, last));
        let own = self.keys.keys().copied().filter(|key| !key.starts_with('*'));
        let beside = own.clone().filter(|key| parts(key).0 == above);
        if let Some(near) = suggest::nearest(last, beside.map(|key| parts(key).1)) {
            return own.clone().find(|key| parts(key) == (above, near));
        }
        let mut same =
            own.filter(|key| parts(key).1 == last && (above.is_empty() || key.starts_with(&format!("{above}."))));
        same.next().filter(|_| same.next().is_none())
    }
}
