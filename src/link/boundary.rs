//! Boundaries: what is deployed together, and what lies so near that it may be. Knows where facts stand; knows no
//! formats.

use super::Variant;
use super::directories::{Dir, Directories};
use crate::facts::{Workload, WorkloadFormat};
use crate::parse::Raw;
use crate::paths;
use crate::source::{SourceId, Sources};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Directories with workloads side by side, above which their parent is a collection and not one deployment.
const MANY: usize = 4;

/// How workloads lie in the directories of a run.
pub struct Layout<'s> {
    directories: &'s Directories<'s>,
    /// Directories, and those in each that hold workloads.
    children: BTreeMap<Dir, BTreeSet<Dir>>,
    /// The same of workloads that somebody is seen to run for themselves.
    running: BTreeMap<Dir, BTreeSet<Dir>>,
    /// Files of modules that nobody calls.
    uncalled: BTreeSet<SourceId>,
    /// Directories with a configuration of their own, and the sources of it, where there are several.
    governed: Vec<(String, Range<u32>)>,
    /// Files that nothing deploys.
    idle: BTreeSet<SourceId>,
}

/// Notes a directory among those of each directory above it.
fn add(children: &mut BTreeMap<Dir, BTreeSet<Dir>>, directories: &Directories<'_>, at: Dir) {
    let mut below = at;
    for above in directories.upwards(below).skip(1) {
        if !children.entry(above).or_default().insert(below) {
            break;
        }
        below = above;
    }
}

impl<'s> Layout<'s> {
    /// Looks where the workloads of a repository lie.
    pub fn of(variants: &[Variant], directories: &'s Directories<'s>) -> Self {
        let facts = || variants.iter().map(|variant| &variant.facts);
        let uncalled = facts().flat_map(|facts| facts.uncalled.iter().copied()).collect();
        // What infrastructure code runs beside its machines tells nothing of where applications lie.
        let infrastructure = |file: SourceId| directories.sources().get(file).path.ends_with(".tf");
        // What only patches say of something tells nothing of where it lies, either.
        let stated = |raw: &Raw| raw.view().get("metadata").node().is_none_or(|node| !node.is_open());
        // What a script or a run of CI starts is deployed with nothing.
        let deployed = |workload: &&Workload| workload.format.get().is_none_or(|format| format.is_deployed());
        let workloads = facts().flat_map(|facts| &facts.workloads).filter(deployed);
        let workloads = workloads.filter(|w| w.object.as_ref().is_none_or(stated));
        let (mut children, mut running) = (BTreeMap::new(), BTreeMap::new());
        for workload in workloads.filter(|w| !infrastructure(w.span.source)) {
            let at = directories.at(workload.span.source);
            add(&mut children, directories, at);
            // Values of a chart that is not at hand, which ask for no GPU, are those of a tool for the whole cluster.
            let apart = match workload.format.get() {
                Some(WorkloadFormat::Image) => false,
                Some(WorkloadFormat::Values) => workload.gpus.get().is_some_and(|gpus| *gpus > 0),
                _ => true,
            };
            if apart {
                add(&mut running, directories, at);
            }
        }
        let governed = facts().flat_map(|facts| facts.governed.iter().cloned()).collect();
        Self { directories, children, running, uncalled, governed, idle: BTreeSet::new() }
    }

    /// Without files that nothing deploys.
    pub fn without(mut self, idle: BTreeSet<SourceId>) -> Self {
        self.idle = idle;
        self
    }

    /// Whether nothing deploys a file.
    pub fn is_idle(&self, file: SourceId) -> bool {
        self.idle.contains(&file)
    }

    /// Whether there are only a few parts in a directory, of one deployment.
    fn is_one(&self, dir: Dir) -> bool {
        self.children.get(&dir).is_none_or(|parts| parts.len() <= MANY)
    }

    /// The directory whose configuration holds for a file.
    fn governor(&self, file: SourceId) -> Option<&str> {
        let homes = self.governed.iter().map(|(home, _)| (home.as_str(), home.as_str()));
        paths::nearest(&self.sources().get(file).path, homes)
    }

    /// Whether what a file states may hold for another: it stands above it, or beside it in one deployment.
    pub fn may_hold(&self, stating: SourceId, file: SourceId) -> bool {
        if let Some((home, _)) = self.governed.iter().find(|(_, sources)| sources.contains(&stating.0)) {
            return self.governor(file) == Some(home);
        }
        let (above, here) = (self.directories.at(stating), self.directories.at(file));
        let shared = self.directories.shared(here, above);
        if self.uncalled.contains(&stating) {
            // Nothing of a module runs elsewhere before somebody calls it.
            return shared == above || shared == here && self.uncalled.contains(&file);
        }
        // A path of `..` leads to a configuration, which holds for everything below it.
        shared == above
            || self.directories.is_outside(above)
            // Infrastructure with workloads of its own is for those.
            || self.is_one(shared)
                && self.running.get(&shared).is_none_or(|parts| !parts.contains(&self.directories.branch(shared, above)))
    }

    /// Whether what a file states by name or labels may be about another: as far as it may hold for it, and where it
    /// stands below it, among a few parts of one deployment.
    pub fn may_be_about(&self, stating: SourceId, file: SourceId) -> bool {
        let (below, here) = (self.directories.at(stating), self.directories.at(file));
        self.may_hold(stating, file)
            || !self.uncalled.contains(&stating) && self.directories.holds(here, below) && self.is_one(here)
    }

    /// Whether one of two files may hold for the other.
    pub fn near(&self, one: SourceId, other: SourceId) -> bool {
        self.may_hold(one, other) || self.may_hold(other, one)
    }

    /// Whether the same is near two files.
    pub fn alike(&self, one: SourceId, other: SourceId) -> bool {
        self.at(one) == self.at(other) && self.uncalled.contains(&one) == self.uncalled.contains(&other)
    }

    /// The directories that something can stand in that is near a file, as ranges of their numbers.
    pub fn near_places(&self, file: SourceId) -> Vec<Range<u32>> {
        let upwards = self.directories.upwards(self.at(file));
        let both = upwards.flat_map(|above| {
            self.around(above, file, Reach::Cluster).into_iter().chain([self.about(above, file)]).collect::<Vec<_>>()
        });
        let mut all: Vec<Range<u32>> = both.map(|range| range.start.number()..range.end.number()).collect();
        all.sort_by_key(|range| range.start);
        all.dedup_by(|next, before| {
            let joined = next.start <= before.end;
            if joined {
                before.end = before.end.max(next.end);
            }
            joined
        });
        all
    }

    /// The directories of the run.
    pub fn directories(&self) -> &'s Directories<'s> {
        self.directories
    }

    /// Where a file stands.
    pub fn at(&self, id: SourceId) -> Dir {
        self.directories.at(id)
    }

    /// The files of the run.
    pub fn sources(&self) -> &'s Sources {
        self.directories.sources()
    }

    /// A path as a file states it, from where display paths start.
    pub fn relative(&self, from: SourceId, path: &str) -> String {
        paths::join(paths::directory(&self.sources().get(from).path), path)
    }

    /// The directories in and below one above a file that what may be joined with the file can stand in, where what is
    /// nearer is looked at before.
    pub fn around(&self, above: Dir, from: SourceId, reach: Reach) -> Vec<Range<Dir>> {
        let end = self.directories.end(above);
        let own = above == self.at(from);
        if own && (self.uncalled.contains(&from) || reach == Reach::Deployment && self.is_one(above)) {
            return vec![above..end];
        }
        let mut out = Vec::new();
        let mut next = above;
        if self.is_one(above) {
            for part in self.running.get(&above).into_iter().flatten() {
                out.push(next..*part);
                next = self.directories.end(*part);
            }
            out.push(next..end);
        } else {
            out.push(above..above.next());
        }
        if self.directories.is_outside(above) {
            let below = self.directories.outside().iter().filter(|dir| self.directories.holds(above, **dir));
            let missed = below.filter(|dir| !out.iter().any(|range| range.contains(dir)));
            out.extend(missed.map(|dir| *dir..dir.next()).collect::<Vec<_>>());
        }
        out
    }

    /// The directories in and below one above a file where something can stand that the file may be about, where what is
    /// nearer is looked at before.
    pub fn about(&self, above: Dir, stating: SourceId) -> Range<Dir> {
        let here = self.at(stating);
        let part = || self.directories.branch(above, here);
        let free = || self.is_one(above) && self.running.get(&above).is_none_or(|parts| !parts.contains(&part()));
        let whole = above == here || self.directories.is_outside(here) || free();
        above..if whole { self.directories.end(above) } else { above.next() }
    }

    /// The candidates that stand nearest to a file: in it, else in its directory, else in the nearest one in common.
    pub fn nearest<T>(&self, from: SourceId, candidates: Vec<(SourceId, T)>) -> Vec<T> {
        let here = self.at(from);
        // Of directories above the same one, the inner come later.
        let near = |id: SourceId| (self.directories.shared(here, self.at(id)), id == from);
        let best = candidates.iter().map(|(id, _)| near(*id)).max();
        candidates.into_iter().filter(|(id, _)| Some(near(*id)) == best).map(|(_, candidate)| candidate).collect()
    }
}

/// How far something is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Where it is deployed: Services, autoscalers, ConfigMaps, claims.
    Deployment,
    /// In the whole cluster: pools, drivers.
    Cluster,
}

/// The variants of a repository, and where its workloads lie.
#[derive(Clone, Copy)]
pub struct Deployed<'a> {
    all: &'a [Variant],
    plain: Option<usize>,
    layout: &'a Layout<'a>,
}

impl<'a> Deployed<'a> {
    /// The variants of one repository.
    pub fn of(all: &'a [Variant], layout: &'a Layout<'a>) -> Self {
        Self { all, plain: all.iter().position(Variant::is_plain), layout }
    }

    /// The boundary of the variant at a position.
    pub fn boundary(self, own: usize) -> Boundary<'a> {
        Boundary { deployed: self, own }
    }

    /// The variants.
    pub fn variants(&self) -> &'a [Variant] {
        self.all
    }

    /// The position of the plain files.
    pub fn plain_position(&self) -> Option<usize> {
        self.plain
    }

    /// Where files lie.
    pub fn layout(&self) -> &'a Layout<'a> {
        self.layout
    }

    /// Changes every item of one list for each variant.
    pub fn each<T: Send>(self, lists: &mut [Vec<T>], change: impl Fn(&mut T, Boundary<'a>) + Sync) {
        let all = lists.par_iter_mut().enumerate();
        all.for_each(|(i, list)| list.par_iter_mut().for_each(|item| change(item, self.boundary(i))));
    }
}

/// What may be joined with the parts of one variant, nearest first: the variant itself, the plain files of the repository,
/// and of its other variants what they state for the whole cluster.
#[derive(Clone, Copy)]
pub struct Boundary<'a> {
    deployed: Deployed<'a>,
    own: usize,
}

impl<'a> Boundary<'a> {
    fn variant(&self) -> &'a Variant {
        &self.deployed.all[self.own]
    }

    /// Whether the variant is the plain files.
    pub fn is_plain(&self) -> bool {
        self.deployed.plain == Some(self.own)
    }

    /// The position of the variant itself.
    pub fn own(&self) -> usize {
        self.own
    }

    /// What the variant is a form of.
    pub fn thing(&self) -> Option<SourceId> {
        self.variant().thing
    }

    /// The position of the plain files of its repository.
    pub fn plain_files(&self) -> Option<usize> {
        self.deployed.plain
    }

    /// The position of the plain files around it.
    pub fn plain(&self) -> Option<usize> {
        self.deployed.plain.filter(|plain| *plain != self.own)
    }

    /// Where files lie.
    pub fn layout(&self) -> &'a Layout<'a> {
        self.deployed.layout
    }

    /// Whether a machine or cluster may be meant: which ones an example of values is for is not said elsewhere than in the
    /// directories above it. The configuration says it for everything.
    pub fn is_meant(&self, stating: SourceId, configured: bool) -> bool {
        let layout = self.layout();
        configured
            || self
                .variant()
                .example
                .is_none_or(|values| layout.directories.holds(layout.at(stating), layout.at(values)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Facts, Workload};
    use crate::source::{Source, Span};

    /// Workloads in the given files; the last path is the one that states something.
    fn may_hold(workloads: &[&str], stating: &str) -> bool {
        let paths = workloads.iter().chain([&stating]);
        let sources = Sources::new(paths.map(|path| Source::new(*path, "x")).collect());
        let ids = 0..workloads.len() as u32;
        let workloads_at = ids.map(|id| Workload::blank(Span::new(SourceId(id), 0..1))).collect();
        let facts = Facts { workloads: workloads_at, ..Facts::default() };
        let directories = Directories::of(&sources);
        Layout::of(&[Variant::plain(facts)], &directories).may_hold(SourceId(workloads.len() as u32), SourceId(0))
    }

    #[test]
    fn infrastructure_beside_the_manifests_holds() {
        assert!(may_hold(&["k8s/api.yaml"], "infra/modules/gke/main.tf"));
        assert!(may_hold(&["apps/api/k8s/api.yaml", "apps/web/k8s/web.yaml"], "apps/infra/main.tf"));
        assert!(may_hold(&["a/x.yaml", "b/x.yaml", "c/x.yaml", "d/x.yaml", "e/x.yaml"], "pools.yaml"));
        assert!(may_hold(&["a/x.yaml", "b/x.yaml", "c/x.yaml", "d/x.yaml", "e/x.yaml"], "../.gpulint.yaml"));
    }

    #[test]
    fn one_example_of_many_does_not_hold_for_another() {
        let examples = ["e/a/x.yaml", "e/b/x.yaml", "e/c/x.yaml", "e/d/x.yaml", "e/f/x.yaml"];
        assert!(!may_hold(&examples, "e/f/pool.tf"));
        assert!(!may_hold(&examples, "e/g/infra/pool.tf"));
        assert!(may_hold(&examples, "e/a/infra/pool.tf"));
        let two = ["kserve/x.yaml", "demo/rag/values.yaml"];
        assert!(!may_hold(&two, "demo/rag/infra/pool.tf"));
    }
}
