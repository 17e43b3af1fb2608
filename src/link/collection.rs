//! Collections: directories of examples that are never deployed together. Knows paths only.

use super::{common, directories};
use crate::facts::Facts;
use crate::source::{SourceId, Sources};
use std::collections::{BTreeMap, BTreeSet};

/// Directories with workloads side by side, above which their parent is a collection and not one deployment.
const MANY: usize = 4;

/// How workloads lie in the directories of a run.
pub struct Layout<'s> {
    sources: &'s Sources,
    /// Directories, and the directories below each that hold workloads.
    children: BTreeMap<Vec<&'s str>, BTreeSet<&'s str>>,
}

impl<'s> Layout<'s> {
    /// Looks where the workloads lie.
    pub fn of(facts: &Facts, sources: &'s Sources) -> Self {
        // What infrastructure code runs beside its machines tells nothing of where applications lie.
        let infrastructure = |file: &SourceId| sources.get(*file).path.ends_with(".tf");
        let files = facts.workloads.iter().map(|w| w.span.source).filter(|file| !infrastructure(file));
        let files: BTreeSet<SourceId> = files.collect();
        let mut children: BTreeMap<Vec<&str>, BTreeSet<&str>> = BTreeMap::new();
        for file in files {
            let path = directories(sources, file);
            for (depth, name) in path.iter().enumerate() {
                children.entry(path[..depth].to_vec()).or_default().insert(name);
            }
        }
        Self { sources, children }
    }

    /// Whether what a file states may hold for another: it stands above it, or beside it in one deployment.
    pub fn may_hold(&self, stating: SourceId, file: SourceId) -> bool {
        let (above, here) = (directories(self.sources, stating), directories(self.sources, file));
        let shared = common(&above, &here);
        // A path of `..` leads to a configuration, which holds for everything below it.
        shared == above.len()
            || above.iter().all(|part| *part == "..")
            // Infrastructure with workloads of its own is for those.
            || self.children.get(&here[..shared]).is_none_or(|names| {
                names.len() <= MANY && !above.get(shared).is_some_and(|branch| names.contains(branch))
            })
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
        Layout::of(&facts, &sources).may_hold(SourceId(workloads.len() as u32), SourceId(0))
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
