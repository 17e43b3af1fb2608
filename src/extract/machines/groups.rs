//! Auto Scaling groups: what they state beside the template of their machines, and what they leave to it. Knows their words
//! in every spelling.

use crate::extract::spelling::{at, get};
use crate::facts::{NodePool, Taint};
use crate::known::{Fact, Known};
use crate::parse::View;

/// What Cluster Autoscaler reads of a group that has no node.
const NODE_TEMPLATE: &str = "k8s.io/cluster-autoscaler/node-template/";

/// What marks the machines of a cluster of EKS, before its name.
const OF_CLUSTER: &str = "kubernetes.io/cluster/";

/// What a group leaves to the template of its machines.
pub fn inherit(pool: &mut NodePool, template: Option<NodePool>) {
    let Some(of) = template else { return };
    if pool.instance_types.is_empty() {
        pool.instance_types = of.instance_types;
    }
    fn keep<T>(own: &mut Fact<T>, other: Fact<T>) {
        if own.is_absent() {
            *own = other;
        }
    }
    keep(&mut pool.image_type, of.image_type);
    keep(&mut pool.placement_group, of.placement_group);
    keep(&mut pool.disk_bytes, of.disk_bytes);
    keep(&mut pool.spot, of.spot);
    let Some(template) = &of.object else { return };
    let interfaces = get(at(template.view(), "launchTemplateData"), "networkInterfaces");
    let interfaces = if interfaces.is_some() { interfaces } else { get(template.view(), "networkInterfaces") };
    let kinds = interfaces.items().map(|interface| get(interface, "interfaceType").string());
    if let Some(efa) = kinds.into_iter().find(|kind| kind.get().is_some_and(|kind| kind.starts_with("efa"))) {
        pool.efa = efa.map(|_| true);
    }
}

/// What a group states beside its template.
pub fn read(pool: &mut NodePool, view: View<'_>) {
    let policy = at(view, "mixedInstancesPolicy");
    let template = at(policy, "launchTemplate");
    let overrides =
        if get(template, "overrides").is_some() { get(template, "overrides") } else { template.get("override") };
    let types = overrides.items().map(|o| get(o, "instanceType").string()).filter(|machine| !machine.is_absent());
    let types: Vec<Fact<String>> = types.collect();
    if !types.is_empty() {
        pool.instance_types = types;
    }
    let on_demand = at(policy, "instancesDistribution");
    let share = get(on_demand, "onDemandPercentageAboveBaseCapacity").int();
    if let Known::Value(percent) = share.known {
        let base = get(on_demand, "onDemandBaseCapacity").int().or_default(0);
        pool.spot = Fact::value(percent == 0 && base.get() == Some(&0), share.span);
    }
    let tags = if get(view, "tags").is_some() { get(view, "tags") } else { view.get("tag") };
    for tag in tags.items() {
        let (key, value) = (get(tag, "key").string(), get(tag, "value").string());
        if let Some(cluster) =
            key.get().and_then(|key| key.strip_prefix(OF_CLUSTER)).filter(|_| pool.cluster.is_absent())
        {
            pool.cluster = Fact::value(cluster.to_owned(), key.span);
        }
        let Some(of_node) = key.get().and_then(|key| key.strip_prefix(NODE_TEMPLATE)) else { continue };
        if let Some(label) = of_node.strip_prefix("label/") {
            pool.labels.insert(label.to_owned(), value);
        } else if let Some(taint) = of_node.strip_prefix("taint/") {
            let mut out = Taint::blank(key.span);
            out.key = Fact::value(taint.to_owned(), key.span);
            out.value = value.clone().map(|v| v.rsplit_once(':').map_or("", |(value, _)| value).to_owned());
            out.effect = value.map(|v| v.rsplit_once(':').map_or(v.clone(), |(_, effect)| effect.to_owned()));
            pool.taints.push(out);
        }
    }
}
