//! What may be joined, found by keys and by where it stands. Knows places; knows no formats.

use super::boundary::{Boundary, Deployed, Layout, Reach};
use super::directories::Dir;
use super::variant::Variant;
use crate::facts::Facts;
use crate::shelf::Shelf;
use crate::source::SourceId;
use std::hash::Hash;
use std::ops::Range;

/// Something that may be joined: the file that states it, and the thing that it is a part of where that may be the asking one.
type Item<T> = (SourceId, Option<SourceId>, T);

/// Items that are equally near.
type Level<K, T> = Shelf<Dir, K, Item<T>>;

fn level<K: Hash + Eq, T>(listed: impl IntoIterator<Item = (Vec<K>, Item<T>)>, layout: &Layout<'_>) -> Level<K, T> {
    Shelf::of(listed.into_iter().map(|(keys, item)| (layout.at(item.0), keys, item)))
}

fn values<K: Hash + Eq, T>(level: &Level<K, T>, positions: Vec<u32>) -> Vec<&T> {
    positions.into_iter().map(|i| &level.at(i).2).collect()
}

/// Of what has one of some keys and fits, what stands nearest to a file: in it, else in its directory, else in the nearest
/// one in common. `around` tells where it may stand in and below a directory above the file.
fn nearest<'l, K: Hash + Eq, T>(
    level: &'l Level<K, T>,
    (from, layout): (SourceId, &Layout<'_>),
    keys: &[K],
    (around, fits): (impl Fn(Dir) -> Vec<Range<Dir>>, impl Fn(&Item<T>) -> bool),
) -> Vec<&'l T> {
    if keys.iter().all(|key| level.count(key) == 0) {
        return Vec::new();
    }
    for dir in layout.directories().upwards(layout.at(from)) {
        let mut found = level.find(keys, Some(&around(dir)), &fits);
        if found.iter().any(|i| level.at(*i).0 == from) {
            found.retain(|i| level.at(*i).0 == from);
        }
        if !found.is_empty() {
            return values(level, found);
        }
    }
    Vec::new()
}

/// What may be joined, by how near it is.
pub struct Candidates<'a, K, T> {
    /// Of each variant, what it states itself.
    own: Vec<Level<K, T>>,
    /// What variants state for the whole cluster.
    others: Level<K, T>,
    reach: Reach,
    layout: &'a Layout<'a>,
}

impl<'a, K: Hash + Eq, T> Candidates<'a, K, T> {
    /// Lists what may be joined, each with the file that states it and the keys that it is found by.
    pub fn gather(deployed: Deployed<'a>, reach: Reach, of: impl Fn(&'a Facts) -> Vec<(SourceId, Vec<K>, T)>) -> Self {
        let (variants, layout) = (deployed.variants(), deployed.layout());
        let listed = |variant: &'a Variant| of(&variant.facts).into_iter();
        let own = |variant| level(listed(variant).map(|(at, keys, item)| (keys, (at, None, item))), layout);
        let firsts = variants.iter().filter(|other| reach == Reach::Cluster && other.first && !other.is_plain());
        let others = firsts.flat_map(|other| listed(other).map(|(at, keys, item)| (keys, (at, other.thing, item))));
        Self { own: variants.iter().map(own).collect(), others: level(others, layout), reach, layout }
    }

    /// What has one of some keys and fits, as near to a file as possible.
    pub fn nearest(&self, boundary: Boundary<'_>, from: SourceId, keys: &[K], is: impl Fn(&T) -> bool) -> Vec<&T> {
        let own = &self.own[boundary.own()];
        if !boundary.is_plain() {
            let found = own.find(keys, None, |item| is(&item.2));
            if !found.is_empty() {
                return values(own, found);
            }
        }
        let thing = boundary.thing();
        let may = |(at, of, _): &Item<T>| match self.reach {
            _ if of.is_some() && *of == thing => false,
            Reach::Deployment => self.layout.may_be_about(*at, from),
            Reach::Cluster => self.layout.may_hold(*at, from),
        };
        let fits = |item: &Item<T>| is(&item.2) && may(item);
        let levels = boundary.plain_files().map(|plain| &self.own[plain]).into_iter().chain([&self.others]);
        let around = |above| self.layout.around(above, from, self.reach);
        let mut found = levels.map(|level| nearest(level, (from, self.layout), keys, (around, fits)));
        found.find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Of the variant itself, everything that has one of some keys and fits.
    pub fn own(&self, boundary: Boundary<'_>, keys: &[K], is: impl Fn(&T) -> bool) -> Vec<&T> {
        let own = &self.own[boundary.own()];
        values(own, own.find(keys, None, |item| is(&item.2)))
    }

    /// Of the variant itself, what is nearest to a file that may be about it.
    pub fn nearest_to(
        &self,
        boundary: Boundary<'_>,
        stating: SourceId,
        keys: &[K],
        is: impl Fn(&T) -> bool,
    ) -> Vec<&T> {
        let fits = |(at, _, item): &Item<T>| is(item) && self.layout.may_be_about(stating, *at);
        let around = |above| vec![self.layout.about(above, stating)];
        nearest(&self.own[boundary.own()], (stating, self.layout), keys, (around, fits))
    }

    /// What has one of some keys and fits, if the nearest is the only one.
    pub fn only(&self, boundary: Boundary<'_>, from: SourceId, keys: &[K], is: impl Fn(&T) -> bool) -> Option<&T> {
        match self.nearest(boundary, from, keys, is)[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What has one of some keys and fits, wherever it stands: for what is named by its path, or by a name that is nobody
    /// else's.
    pub fn all(&self, boundary: Boundary<'_>, keys: &[K], is: impl Fn(&T) -> bool) -> Vec<&T> {
        let thing = boundary.thing();
        let levels = [Some(boundary.own()), boundary.plain()].into_iter().flatten().map(|i| &self.own[i]);
        let fits = |(_, of, item): &Item<T>| (of.is_none() || *of != thing) && is(item);
        levels.chain([&self.others]).flat_map(|level| values(level, level.find(keys, None, fits))).collect()
    }

    /// The first of what fits, wherever it stands.
    pub fn find(&self, boundary: Boundary<'_>, keys: &[K], is: impl Fn(&T) -> bool) -> Option<&T> {
        self.all(boundary, keys, is).into_iter().next()
    }

    /// Of several lists of keys the one by which the least is found.
    pub fn fewest<'k>(&self, lists: &'k [Vec<K>]) -> &'k [K] {
        let levels = || self.own.iter().chain([&self.others]);
        let found = |key: &K| levels().map(|level| level.count(key)).sum::<usize>();
        lists.iter().min_by_key(|keys| keys.iter().map(found).sum::<usize>()).map_or(&[], Vec::as_slice)
    }

    /// Whether there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.own.iter().all(Shelf::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::super::directories::Directories;
    use super::*;
    use crate::facts::Workload;
    use crate::source::{Source, Sources, Span};

    /// Paths of a tree that is not the same for two numbers.
    fn paths(seed: usize) -> Vec<String> {
        let name =
            |i: usize, depth: usize| ["a", "b", "..", "c", "d", "e", "f"][(i * (depth + 3) + seed * 7 + i / 5) % 7];
        let path = |i: usize| {
            let parts = (0..(i * 11 + seed) % 4).map(|depth| name(i, depth));
            // Paths go up at their start, or not at all.
            let up = parts.clone().take_while(|part| *part == "..").count();
            let below = parts.skip(up).filter(|part| *part != "..").chain(["x"]).collect::<Vec<_>>().join("/");
            format!("{}{below}{i}", "../".repeat(up))
        };
        (0..30).map(path).collect()
    }

    /// What fits and stands nearest, by looking at everything.
    fn by_all(all: &[SourceId], layout: &Layout<'_>, from: SourceId, may: impl Fn(SourceId) -> bool) -> Vec<SourceId> {
        layout.nearest(from, all.iter().filter(|at| may(**at)).map(|at| (*at, *at)).collect())
    }

    #[test]
    fn what_is_found_by_place_is_what_looking_at_everything_finds() {
        for seed in 0..40 {
            let sources = Sources::new(paths(seed).into_iter().map(|path| Source::new(path, "x")).collect());
            let directories = Directories::of(&sources);
            let ids: Vec<SourceId> = sources.iter().map(|(id, _)| id).collect();
            let workloads = ids.iter().filter(|id| (id.0 as usize).is_multiple_of(1 + seed % 5));
            let facts = Facts {
                workloads: workloads.map(|id| Workload::blank(Span::new(*id, 0..1))).collect(),
                uncalled: ids.iter().filter(|id| id.0 % 9 == 4).copied().collect(),
                ..Facts::default()
            };
            let variants = [Variant::plain(facts)];
            let layout = Layout::of(&variants, &directories);
            let (deployed, key) = (Deployed::of(&variants, &layout), |id: SourceId| id.0 % 3);
            for reach in [Reach::Deployment, Reach::Cluster] {
                let listed = || ids.iter().map(|id| (*id, vec![key(*id), 7], *id)).collect();
                let candidates = Candidates::gather(deployed, reach, |_| listed());
                for from in ids.iter().copied() {
                    let about = |at| layout.may_be_about(at, from);
                    let may = |at| if reach == Reach::Cluster { layout.may_hold(at, from) } else { about(at) };
                    for keys in [vec![0], vec![1, 2], vec![7, 1]] {
                        let has = |at| keys.contains(&7) || keys.contains(&key(at));
                        let boundary = deployed.boundary(0);
                        let found = candidates.nearest(boundary, from, &keys, |_| true);
                        let all = by_all(&ids, &layout, from, |at| has(at) && may(at));
                        assert_eq!(found.into_iter().copied().collect::<Vec<_>>(), all, "{seed} {from:?} {keys:?}");
                        let found = candidates.nearest_to(boundary, from, &keys, |_| true);
                        let all = by_all(&ids, &layout, from, |at| has(at) && layout.may_be_about(from, at));
                        assert_eq!(found.into_iter().copied().collect::<Vec<_>>(), all, "{seed} {from:?} {keys:?}");
                    }
                }
            }
        }
    }
}
