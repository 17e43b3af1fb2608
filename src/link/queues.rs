//! The queue that a workload is submitted to: of Kueue with the ClusterQueue behind it and what its flavors add to pods, of
//! Volcano and of KAI.

use super::Namespace;
use super::boundary::{Deployed, Reach};
use super::candidates::Candidates;
use crate::catalog;
use crate::facts::{ClusterQueue, Flavor, Object, Pod, Quota, Workload};
use crate::known::Fact;
use crate::quantity;

/// Fills `workload.cluster_queue`, and gives pods what the only flavor of their GPUs adds to them.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    if workloads.iter().flatten().all(|workload| workload.queue.get().is_none()) {
        return;
    }
    let local = of_kind(deployed, "LocalQueue");
    let cluster: Candidates<'_, &str, &ClusterQueue> = Candidates::gather(deployed, Reach::Cluster, |facts| {
        let listed = facts.queues.iter();
        listed.filter_map(|queue| Some((queue.span.source, vec![queue.name.get()?.as_str()], &**queue))).collect()
    });
    let flavors: Candidates<'_, &str, &Flavor> = Candidates::gather(deployed, Reach::Cluster, |facts| {
        let listed = facts.flavors.iter();
        listed.filter_map(|flavor| Some((flavor.span.source, vec![flavor.name.get()?.as_str()], &**flavor))).collect()
    });
    let queues = of_kind(deployed, "Queue");
    deployed.each(workloads, |workload, boundary| {
        let from = workload.span.source;
        let Some(queue) = workload.queue.get() else { return };
        if let Some(group) = queue_group(workload) {
            let of_group = |queue: &&Object| queue.api_version.get().is_some_and(|version| version.starts_with(group));
            let found = queues.only(boundary, from, &[(Namespace::Any, queue.as_str())], of_group);
            workload.cluster_queue = found.and_then(|queue| limits(queue));
            return;
        }
        let submitted = local.only(boundary, from, &Namespace::sought(&workload.namespace, queue.as_str()), |_| true);
        let Some(body) = submitted.and_then(|queue| queue.body.as_ref()) else { return };
        let name = body.view().path("spec.clusterQueue").string();
        let behind = name.get().and_then(|name| cluster.only(boundary, from, &[name.as_str()], |_| true));
        workload.cluster_queue = behind.map(|queue| (*queue).clone());
        for pod in &mut workload.pods {
            let only = behind.and_then(|queue| only_flavor(queue, pod));
            let name = only.as_ref().and_then(|name| name.get());
            let flavor = name.and_then(|name| flavors.only(boundary, from, &[name.as_str()], |_| true));
            if let Some(flavor) = flavor {
                admit(pod, flavor);
            }
        }
    });
}

/// The group of the queues of another scheduler than Kueue.
fn queue_group(workload: &Workload) -> Option<&'static str> {
    let by =
        |name: &str| workload.pods.iter().any(|pod| pod.scheduler.get().is_some_and(|scheduler| scheduler == name));
    let volcano = workload.api_version.get().is_some_and(|version| version.starts_with("batch.volcano.sh/"));
    match (volcano || by("volcano"), by("kai-scheduler")) {
        (true, _) => Some("scheduling.volcano.sh/"),
        (_, true) => Some("scheduling.run.ai/"),
        _ => None,
    }
}

/// What a queue of Volcano or KAI hands out at most: its capability, its limits.
fn limits(queue: &Object) -> Option<ClusterQueue> {
    let spec = queue.body.as_ref()?.view().get("spec");
    let mut out = ClusterQueue::blank(queue.span);
    out.name = queue.name.clone();
    let quota = |resource: &str, place, nominal| {
        let mut quota = Quota::blank(place);
        (quota.resource, quota.nominal) = (Fact::value(resource.to_owned(), place), nominal);
        quota
    };
    let capability = spec.get("capability").entries().into_iter();
    out.quotas.extend(capability.map(|(name, value)| quota(name, value.place(), value.parse(quantity::parse))));
    // KAI takes -1 for no limit.
    let limit = spec.path("resources.gpu.limit");
    if limit.is_some() && limit.float().get() != Some(&-1.0) {
        out.quotas.push(quota(catalog::whole_gpu("nvidia"), limit.place(), limit.float()));
    }
    Some(out)
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

/// The flavor that the GPUs of a pod are of, where its queue has a single one for them.
fn only_flavor(queue: &ClusterQueue, pod: &Pod) -> Option<Fact<String>> {
    let resource = pod.containers.iter().find_map(|container| container.gpu_resource.get())?;
    let mut flavors = queue.quotas.iter().filter(|quota| quota.resource.get() == Some(resource));
    flavors.next().filter(|_| flavors.next().is_none()).map(|only| only.flavor.clone())
}

/// Kueue adds the labels of a flavor to the selector of a pod that it admits, and its tolerations.
fn admit(pod: &mut Pod, flavor: &Flavor) {
    for (key, value) in &flavor.node_labels {
        pod.node_selector.entry(key.clone()).or_insert_with(|| value.clone());
    }
    pod.tolerations.extend_from_slice(&flavor.tolerations);
}
