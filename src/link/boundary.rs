//! Boundaries: what is deployed together, and what lies so near that it may be. Knows where facts stand; knows no
//! formats.

use super::{Variant, directories};
use crate::facts::Facts;
use crate::paths;
use crate::source::{SourceId, Sources};
use std::collections::{BTreeMap, BTreeSet};

/// Directories with workloads side by side, above which their parent is a collection and not one deployment.
const MANY: usize = 4;

/// How workloads lie in the directories of a run.
#[derive(Clone)]
pub struct Layout<'s> {
    sources: &'s Sources,
    /// Directories, and the directories below each that hold workloads.
    children: BTreeMap<Vec<&'s str>, BTreeSet<&'s str>>,
    /// Files of modules that nobody calls.
    uncalled: BTreeSet<SourceId>,
}

impl<'s> Layout<'s> {
    /// Looks where the workloads lie.
    pub fn of(variants: &[Variant], sources: &'s Sources) -> Self {
        let facts = || variants.iter().map(|variant| &variant.facts);
        let uncalled = facts().flat_map(|facts| facts.uncalled.iter().copied()).collect();
        // What infrastructure code runs beside its machines tells nothing of where applications lie.
        let infrastructure = |file: &SourceId| sources.get(*file).path.ends_with(".tf");
        let files = facts().flat_map(|facts| &facts.workloads).map(|w| w.span.source);
        let files: BTreeSet<SourceId> = files.filter(|file| !infrastructure(file)).collect();
        let mut children: BTreeMap<Vec<&str>, BTreeSet<&str>> = BTreeMap::new();
        for file in files {
            let path = directories(sources, file);
            for (depth, name) in path.iter().enumerate() {
                children.entry(path[..depth].to_vec()).or_default().insert(name);
            }
        }
        Self { sources, children, uncalled }
    }

    /// Whether what a file states may hold for another: it stands above it, or beside it in one deployment.
    pub fn may_hold(&self, stating: SourceId, file: SourceId) -> bool {
        let (above, here) = (directories(self.sources, stating), directories(self.sources, file));
        let shared = paths::shared(&above, &here);
        if self.uncalled.contains(&stating) {
            // Nothing of a module runs elsewhere before somebody calls it.
            return shared == above.len() || shared == here.len() && self.uncalled.contains(&file);
        }
        // A path of `..` leads to a configuration, which holds for everything below it.
        shared == above.len()
            || above.iter().all(|part| *part == "..")
            // Infrastructure with workloads of its own is for those.
            || self.children.get(&here[..shared]).is_none_or(|names| {
                names.len() <= MANY && !above.get(shared).is_some_and(|branch| names.contains(branch))
            })
    }

    /// Whether what a file states by name or labels may be about another: as far as it may hold for it, and where it
    /// stands below it, among a few parts of one deployment.
    pub fn may_be_about(&self, stating: SourceId, file: SourceId) -> bool {
        let (below, here) = (directories(self.sources, stating), directories(self.sources, file));
        let few = || self.children.get(&here).is_none_or(|names| names.len() <= MANY);
        self.may_hold(stating, file) || !self.uncalled.contains(&stating) && below.starts_with(&here) && few()
    }

    /// Whether one of two files may hold for the other.
    pub fn near(&self, one: SourceId, other: SourceId) -> bool {
        self.may_hold(one, other) || self.may_hold(other, one)
    }

    /// The directories that a file stands in, outermost first.
    pub fn directories(&self, id: SourceId) -> Vec<&'s str> {
        directories(self.sources, id)
    }

    /// A path as a file states it, from where display paths start.
    pub fn relative(&self, from: SourceId, path: &str) -> String {
        paths::join(paths::directory(&self.sources.get(from).path), path)
    }

    /// The candidates that stand nearest to a file: in it, else in its directory, else in the nearest one in common.
    pub fn nearest<T>(&self, from: SourceId, candidates: Vec<(SourceId, T)>) -> Vec<T> {
        super::nearest(self.sources, from, candidates)
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

/// What may be joined with the parts of one variant, nearest first: the variant itself, the plain files of the repository,
/// and of its other variants what they state for the whole cluster.
pub struct Boundary<'a> {
    own: &'a Variant,
    plain: Option<&'a Variant>,
    others: Vec<&'a Variant>,
    layout: &'a Layout<'a>,
}

impl<'a> Boundary<'a> {
    /// The boundary of one of the variants of a repository.
    pub fn of(own: &'a Variant, all: &'a [Variant], layout: &'a Layout<'a>) -> Self {
        let plain = all.iter().find(|variant| variant.is_plain()).filter(|_| !own.is_plain());
        let another = |variant: &&Variant| variant.first && !variant.is_plain() && variant.thing != own.thing;
        Self { own, plain, others: all.iter().filter(another).collect(), layout }
    }

    /// Facts of the variant itself.
    pub fn own(&self) -> &'a Facts {
        &self.own.facts
    }

    /// Facts of the plain files around it.
    pub fn plain(&self) -> Option<&'a Facts> {
        self.plain.map(|plain| &plain.facts)
    }

    /// Facts of the other variants, each in the form that stands for its thing.
    pub fn others(&self) -> impl Iterator<Item = &'a Facts> {
        self.others.iter().map(|other| &other.facts)
    }

    /// Where files lie.
    pub fn layout(&self) -> &'a Layout<'a> {
        self.layout
    }

    /// Lists what may be joined, each with the file that states it.
    pub fn gather<T>(&self, reach: Reach, of: impl Fn(&'a Facts) -> Vec<(SourceId, T)>) -> Candidates<'a, T> {
        let mut levels = vec![(!self.own.is_plain(), of(&self.own.facts))];
        levels.extend(self.plain.map(|plain| (false, of(&plain.facts))));
        if reach == Reach::Cluster {
            levels.push((false, self.others.iter().flat_map(|other| of(&other.facts)).collect()));
        }
        Candidates { levels, reach, layout: self.layout }
    }

    /// The same for machines and clusters: which ones an example of values is meant for is not said elsewhere than
    /// in the directories above it. Whether something is configured is told by `is_declared`.
    pub fn machines<T>(
        &self,
        of: impl Fn(&'a Facts) -> Vec<(SourceId, T)>,
        is_declared: impl Fn(&T) -> bool,
    ) -> Candidates<'a, T> {
        let mut out = self.gather(Reach::Cluster, of);
        if let Some(example) = self.own.example {
            let values = directories(self.layout.sources, example);
            for (_, level) in &mut out.levels {
                level.retain(|(at, item)| {
                    is_declared(item) || values.starts_with(&directories(self.layout.sources, *at))
                });
            }
        }
        out
    }
}

/// What may be joined, by how near it is.
pub struct Candidates<'a, T> {
    /// Whether all of a level is deployed together, and what it holds.
    levels: Vec<(bool, Vec<(SourceId, T)>)>,
    reach: Reach,
    layout: &'a Layout<'a>,
}

impl<T> Candidates<'_, T> {
    /// What fits, as near to a file as possible.
    pub fn nearest(&self, from: SourceId, is: impl Fn(&T) -> bool) -> Vec<&T> {
        let may = |at| match self.reach {
            Reach::Deployment => self.layout.may_be_about(at, from),
            Reach::Cluster => self.layout.may_hold(at, from),
        };
        for (together, level) in &self.levels {
            let fitting = level.iter().filter(|(at, item)| (*together || may(*at)) && is(item));
            let fitting: Vec<(SourceId, &T)> = fitting.map(|(at, item)| (*at, item)).collect();
            if !fitting.is_empty() {
                let near = |fitting| self.layout.nearest(from, fitting);
                return if *together { fitting.into_iter().map(|(_, item)| item).collect() } else { near(fitting) };
            }
        }
        Vec::new()
    }

    /// What fits, if the nearest is the only one.
    pub fn only(&self, from: SourceId, is: impl Fn(&T) -> bool) -> Option<&T> {
        match self.nearest(from, is)[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What fits, wherever it stands: for what is named by its path, or by a name that is nobody else's.
    pub fn all(&self, is: impl Fn(&T) -> bool) -> impl Iterator<Item = &T> {
        self.levels.iter().flat_map(|(_, level)| level).map(|(_, item)| item).filter(move |item| is(item))
    }

    /// The first of what fits, wherever it stands.
    pub fn find(&self, is: impl Fn(&T) -> bool) -> Option<&T> {
        self.all(is).next()
    }

    /// Whether there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.levels.iter().all(|(_, level)| level.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Workload;
    use crate::source::{Source, Span};

    /// Workloads in the given files; the last path is the one that states something.
    fn may_hold(workloads: &[&str], stating: &str) -> bool {
        let paths = workloads.iter().chain([&stating]);
        let sources = Sources::new(paths.map(|path| Source::new(*path, "x")).collect());
        let ids = 0..workloads.len() as u32;
        let workloads_at = ids.map(|id| Workload::blank(Span::new(SourceId(id), 0..1))).collect();
        let facts = Facts { workloads: workloads_at, ..Facts::default() };
        Layout::of(&[Variant::plain(facts)], &sources).may_hold(SourceId(workloads.len() as u32), SourceId(0))
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
