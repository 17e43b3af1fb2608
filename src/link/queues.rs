//! The queue of Kueue that a workload is submitted to, and the ClusterQueue behind it.

use super::Namespace;
use super::boundary::{Deployed, Reach};
use super::candidates::Candidates;
use crate::facts::{ClusterQueue, Object, Quota, Workload};
use crate::quantity;

/// Fills `workload.cluster_queue`.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let (local, cluster) = (of_kind(deployed, "LocalQueue"), of_kind(deployed, "ClusterQueue"));
    deployed.each(workloads, |workload, boundary| {
        let from = workload.span.source;
        let Some(queue) = workload.queue.get() else { return };
        let submitted = local.only(boundary, from, &Namespace::sought(&workload.namespace, queue.as_str()), |_| true);
        let Some(body) = submitted.and_then(|queue| queue.body.as_ref()) else { return };
        let name = body.view().path("spec.clusterQueue").string();
        let behind =
            name.get().and_then(|name| cluster.only(boundary, from, &[(Namespace::Any, name.as_str())], |_| true));
        workload.cluster_queue = behind.and_then(|queue| read(queue));
    });
}

fn of_kind<'a>(deployed: Deployed<'a>, kind: &str) -> Candidates<'a, (Namespace<'a>, &'a str), &'a Object> {
    Candidates::gather(deployed, Reach::Cluster, |facts| {
        let of_kind = facts.objects.iter().filter(|object| object.kind.get().is_some_and(|k| k == kind));
        of_kind
            .filter_map(|object| {
                let keys = Namespace::listed(&object.namespace, object.name.get()?.as_str());
                Some((object.span.source, keys.into(), &**object))
            })
            .collect()
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
