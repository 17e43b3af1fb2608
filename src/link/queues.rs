//! The queue of Kueue that a workload is submitted to, and the ClusterQueue behind it.

use super::boundary::{Boundary, Candidates, Reach};
use super::same_namespace;
use crate::facts::{ClusterQueue, Object, Quota, Workload};
use crate::quantity;

/// Fills `workload.cluster_queue`.
pub fn link(workloads: &mut [Workload], boundary: &Boundary<'_>) {
    let (local, cluster) = (of_kind(boundary, "LocalQueue"), of_kind(boundary, "ClusterQueue"));
    for workload in workloads.iter_mut().filter(|workload| workload.queue.get().is_some()) {
        let from = workload.span.source;
        let submitted = |queue: &&Object| {
            queue.name.get() == workload.queue.get() && same_namespace(&queue.namespace, &workload.namespace)
        };
        let spec = local.only(from, submitted).and_then(|queue| queue.body.as_ref());
        let Some(name) = spec.map(|body| body.view().path("spec.clusterQueue").string()) else { continue };
        let behind = |queue: &&Object| name.get().is_some() && queue.name.get() == name.get();
        workload.cluster_queue = cluster.only(from, behind).and_then(|queue| read(queue));
    }
}

fn of_kind<'a>(boundary: &Boundary<'a>, kind: &str) -> Candidates<'a, &'a Object> {
    boundary.gather(Reach::Cluster, |facts| {
        let of_kind = facts.objects.iter().filter(|object| object.kind.get().is_some_and(|k| k == kind));
        of_kind.map(|object| (object.span.source, &**object)).collect()
    })
}

fn read(queue: &Object) -> Option<ClusterQueue> {
    let spec = queue.body.as_ref()?.view().get("spec");
    let mut out = ClusterQueue::blank(queue.span);
    out.name = queue.name.clone();
    out.cohort = spec.get("cohortName").string().or(|| spec.get("cohort").string());
    for group in spec.get("resourceGroups").items() {
        out.covered.extend(group.get("coveredResources").strings());
        for resource in group.get("flavors").items().flat_map(|flavor| flavor.get("resources").items()) {
            let mut quota = Quota::blank(resource.place());
            quota.resource = resource.get("name").string();
            quota.nominal = resource.get("nominalQuota").parse(quantity::parse);
            out.quotas.push(quota);
        }
    }
    Some(out)
}
