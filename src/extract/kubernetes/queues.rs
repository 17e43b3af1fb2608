//! Queues of Kueue, and the flavors of what they hand out.

use super::pods::{labels, toleration};
use crate::facts::{ClusterQueue, Facts, Flavor, Quota};
use crate::parse::View;
use crate::quantity;
use std::sync::Arc;

/// Reads a ClusterQueue or a ResourceFlavor.
pub fn read(view: View<'_>, kind: &str, facts: &mut Facts) {
    if !view.get("apiVersion").string().get().is_some_and(|version| version.starts_with("kueue.x-k8s.io/")) {
        return;
    }
    match kind {
        "ClusterQueue" => facts.queues.push(Arc::new(queue(view))),
        "ResourceFlavor" => facts.flavors.push(Arc::new(flavor(view))),
        _ => {}
    }
}

fn queue(view: View<'_>) -> ClusterQueue {
    let (name, spec) = (view.path("metadata.name"), view.get("spec"));
    let mut out = ClusterQueue::blank(name.place());
    out.name = name.string();
    out.cohort = spec.get("cohortName").string().or(|| spec.get("cohort").string());
    for group in spec.get("resourceGroups").items() {
        out.covered.extend(group.get("coveredResources").strings());
        for flavor in group.get("flavors").items() {
            for resource in flavor.get("resources").items() {
                let mut quota = Quota::blank(resource.place());
                quota.resource = resource.get("name").string();
                quota.flavor = flavor.get("name").string();
                quota.nominal = resource.get("nominalQuota").parse(quantity::parse);
                out.quotas.push(quota);
            }
        }
    }
    out
}

fn flavor(view: View<'_>) -> Flavor {
    let (name, spec) = (view.path("metadata.name"), view.get("spec"));
    let mut out = Flavor::blank(name.place());
    out.name = name.string();
    out.node_labels = labels(spec.get("nodeLabels"));
    out.tolerations = spec.get("tolerations").items().map(toleration).collect();
    out.topology = spec.get("topologyName").string();
    out
}
