//! Which labels the nodes of a pool may carry, and by which of them pools are found. Knows pools and selectors; knows no
//! places.

use crate::catalog;
use crate::facts::value::REST;
use crate::facts::{InfraFormat, NodePool, Pod};
use crate::known::Fact;
use crate::source::SourceId;
use std::sync::Arc;

/// Labels that a platform sets to the name of the pool.
const NAMES: [(&str, &str); 7] = [
    ("cloud.google.com/gke-nodepool", "gke"),
    ("eks.amazonaws.com/nodegroup", "eks"),
    ("alpha.eksctl.io/nodegroup-name", "eks"),
    ("agentpool", "aks"),
    ("kubernetes.azure.com/agentpool", "aks"),
    ("karpenter.sh/nodepool", "karpenter"),
    ("karpenter.sh/provisioner-name", "karpenter"),
];

/// Prefixes of labels that a platform or a discovery daemon sets on every node of the kind.
const OF_EVERY_NODE: [&str; 4] =
    ["kubernetes.io/", "topology.kubernetes.io/", "nvidia.com/", "feature.node.kubernetes.io/"];

/// Prefixes of labels that a platform decides by what the machine is.
const OF_MACHINES: [&str; 5] =
    ["cloud.google.com/", "karpenter.", "kubernetes.azure.com/", "node.kubernetes.io/", "beta.kubernetes.io/"];

/// The label of the machines that a compute class makes.
const COMPUTE_CLASS: &str = "cloud.google.com/compute-class";

/// What pools are found by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Offer<'a> {
    /// Nothing: every pool is.
    Any,
    /// A label that is stated or required with a value.
    Label(&'a str, &'a str),
    /// A label that is stated or required, nobody knows with which value.
    Open(&'a str),
    /// Its name.
    Name(&'a str),
    /// Labels that cannot be told: all of them, or that of its name.
    Untold,
}

/// A pool with everything that it is found by.
pub fn listed(pool: &Arc<NodePool>) -> (SourceId, Vec<Offer<'_>>, &Arc<NodePool>) {
    let mut offers = vec![Offer::Any];
    for (key, value) in &pool.labels {
        offers.push(value.get().map_or(Offer::Open(key), |value| Offer::Label(key, value)));
    }
    for requirement in &pool.requirements {
        let Some(key) = requirement.key.get() else { continue };
        let within = requirement.operator.get().is_some_and(|operator| operator == "In");
        let values: Option<Vec<&String>> = requirement.values.iter().map(Fact::get).collect();
        match values.filter(|_| within) {
            Some(values) => offers.extend(values.into_iter().map(|value| Offer::Label(key, value))),
            None => offers.push(Offer::Open(key)),
        }
    }
    offers.push(pool.name.get().map_or(Offer::Untold, |name| Offer::Name(name)));
    offers.extend(pool.labels.contains_key(REST).then_some(Offer::Untold));
    (pool.span.source, offers, pool)
}

/// By what the pools can be found that a pod may run on: one list for everything that it selects.
pub fn asked(pod: &Pod) -> Vec<Vec<Offer<'_>>> {
    let labels = pod.node_selector.iter().filter_map(|(key, value)| Some((key.as_str(), vec![value.get()?.as_str()])));
    let terms = pod.node_affinity.iter().filter(|term| is(&term.operator, "In")).filter_map(|term| {
        let values: Option<Vec<&str>> = term.values.iter().map(|value| value.get().map(String::as_str)).collect();
        Some((term.key.get()?.as_str(), values?))
    });
    let mut out = vec![vec![Offer::Any]];
    for (key, values) in labels.chain(terms) {
        let named = NAMES.iter().any(|(label, _)| *label == key);
        let decided = OF_EVERY_NODE.iter().chain(&OF_MACHINES).any(|prefix| key.starts_with(prefix));
        if decided && !named && key != COMPUTE_CLASS {
            continue;
        }
        let mut offers = vec![Offer::Open(key), Offer::Untold];
        offers.extend(values.iter().map(|value| Offer::Label(key, value)));
        offers.extend(values.iter().filter(|_| named).map(|value| Offer::Name(value)));
        out.push(offers);
    }
    out
}

/// Whether a pool is for those alone who select its compute class, and the pod does not.
pub fn reserved(pool: &NodePool, pod: &Pod) -> bool {
    let selects = pod.node_selector.contains_key(COMPUTE_CLASS)
        || pod.node_affinity.iter().any(|term| term.key.get().is_some_and(|key| key == COMPUTE_CLASS));
    pool.format.get() == Some(&InfraFormat::ComputeClass) && !selects
}

/// Whether the pool's nodes may carry the label with one of the values, by what is stated or implied.
pub fn offers(pool: &NodePool, key: &str, values: &[String]) -> bool {
    let among = |fact: &Fact<String>| fact.get().is_none_or(|v| values.contains(v));
    if let Some(label) = pool.labels.get(key) {
        return among(label);
    }
    if pool.labels.contains_key(REST) {
        return true;
    }
    if let Some(requirement) = pool.requirements.iter().find(|r| r.key.get().is_some_and(|k| k == key)) {
        return match requirement.operator.get().map(String::as_str) {
            Some("In") => requirement.values.iter().any(among),
            Some("NotIn") => !requirement.values.iter().all(among),
            _ => true,
        };
    }
    let gpu_is = |name: &String| {
        let id = pool.gpu.as_ref().and_then(|gpu| gpu.id.get());
        id.is_none_or(|id| catalog::gpu(name).is_none() || catalog::gpus_named(name).any(|gpu| gpu.id == id))
    };
    if let Some((_, platform)) = NAMES.iter().find(|(label, _)| *label == key) {
        return is(&pool.platform, platform) && among(&pool.name);
    }
    // Pools of a compute class carry its label; the others are never used for it.
    if key == COMPUTE_CLASS {
        return false;
    }
    if let Some(platform) = catalog::spot_label_platform(key) {
        let asks = |value: &String| catalog::spot_marks("selector").any(|mark| mark == (key, value));
        let fits = |&spot: &bool| values.iter().any(|value| asks(value) == spot);
        return is(&pool.platform, platform) && pool.spot.get().is_none_or(fits);
    }
    match key {
        "node.kubernetes.io/instance-type" | "beta.kubernetes.io/instance-type" => {
            pool.instance_types.is_empty() || pool.instance_types.iter().any(among)
        }
        "cloud.google.com/gke-accelerator" => {
            is(&pool.platform, "gke") && (among(&pool.accelerator) && values.iter().any(gpu_is))
        }
        "nvidia.com/gpu.product" | "karpenter.k8s.aws/instance-gpu-name" => values.iter().any(gpu_is),
        // Labels that the platform or a discovery daemon sets on every node of the kind.
        _ if OF_EVERY_NODE.iter().any(|prefix| key.starts_with(prefix)) => true,
        _ if key.starts_with("cloud.google.com/") => is(&pool.platform, "gke"),
        _ if key.starts_with("karpenter.") => is(&pool.platform, "karpenter"),
        _ => false,
    }
}

fn is(fact: &Fact<String>, value: &str) -> bool {
    fact.get().is_some_and(|v| v == value)
}
