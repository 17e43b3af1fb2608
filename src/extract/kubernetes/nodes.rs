//! Karpenter's pools of nodes, compute classes of GKE, and the way to eksctl's pools.

use super::pods::{labels, requirement};
use crate::extract::eksctl;
use crate::facts::{Facts, InfraFormat, NodePool, Taint};
use crate::known::Fact;
use crate::parse::{Raw, Tree, View};
use crate::quantity;
use std::sync::Arc;

/// Reads a pool of nodes.
pub fn read(tree: &Arc<Tree>, view: View<'_>, kind: &str, facts: &mut Facts) {
    if kind == "ClusterConfig" && view.get("apiVersion").string().get().is_some_and(|v| v.starts_with("eksctl.io/")) {
        eksctl::read(tree, view, facts);
    }
    let karpenter = view.get("apiVersion").string().get().is_some_and(|v| v.starts_with("karpenter.sh/"));
    if karpenter && matches!(kind, "NodePool" | "Provisioner") {
        facts.pools.push(Arc::new(pool(tree, view, kind)));
    }
    if kind == "ComputeClass"
        && view.get("apiVersion").string().get().is_some_and(|v| v.starts_with("cloud.google.com/"))
    {
        facts.pools.extend(compute_class(tree, view).map(Arc::new));
    }
}

/// The machines that a compute class of GKE makes, in the order in which it tries them. Those of pools that it names are
/// stated with the pools.
fn compute_class<'t>(tree: &Arc<Tree>, view: View<'t>) -> impl Iterator<Item = NodePool> + use<'t> {
    let name = view.path("metadata.name").string();
    let (kind, tree) = (view.get("kind").string(), Arc::clone(tree));
    let priorities = view.path("spec.priorities").items();
    let made = |of: &View<'t>| ["machineType", "machineFamily", "gpu", "tpu"].iter().any(|key| of.get(key).is_some());
    priorities.filter(made).map(move |of| {
        let mut out = NodePool::blank(of.place());
        out.format = Fact::value(InfraFormat::ComputeClass, of.place());
        out.kind = kind.clone();
        out.name = name.clone();
        out.platform = Fact::value("gke".to_owned(), of.place());
        out.in_cluster = Fact::value(true, of.place());
        out.labels.insert("cloud.google.com/compute-class".to_owned(), name.clone());
        let machine = of.get("machineType");
        out.instance_types = machine.is_some().then(|| machine.string()).into_iter().collect();
        let (gpu, tpu) = (of.get("gpu"), of.get("tpu"));
        let accelerator = if gpu.is_some() { gpu } else { tpu };
        if accelerator.is_some() {
            out.accelerator = accelerator.get("type").string();
            out.accelerator_count = accelerator.get("count").int();
            out.driver_mode = accelerator.get("driverVersion").string().map(|mode| mode.to_uppercase());
        }
        out.spot = of.get("spot").boolean();
        out.zones = of.path("location.zones").strings();
        out.object = Some(Raw::new(&tree, of));
        out
    })
}

fn pool(tree: &Arc<Tree>, view: View<'_>, kind: &str) -> NodePool {
    let name = view.path("metadata.name");
    let spec = view.get("spec");
    let template = if kind == "Provisioner" { spec } else { spec.path("template.spec") };
    let mut out = NodePool::blank(name.place());
    out.format = Fact::value(InfraFormat::Karpenter, name.place());
    out.kind = view.get("kind").string();
    out.name = name.string();
    out.platform = Fact::value("karpenter".to_owned(), name.place());
    out.in_cluster = Fact::value(true, name.place());
    out.requirements = template.get("requirements").items().map(requirement).collect();
    out.labels = labels(if kind == "Provisioner" { spec.get("labels") } else { spec.path("template.metadata.labels") });
    let startup_only = template.get("taints").items();
    out.taints = startup_only.map(taint).collect();
    let limits =
        if spec.path("limits.resources").is_some() { spec.path("limits.resources") } else { spec.get("limits") };
    out.limits =
        limits.entries().into_iter().map(|(key, value)| (key.to_owned(), value.parse(quantity::parse))).collect();
    let is = |key: &'static str| {
        out.requirements
            .iter()
            .find(move |r| r.key.get().is_some_and(|k| k == key) && r.operator.get().is_some_and(|o| o == "In"))
    };
    out.instance_types = is("node.kubernetes.io/instance-type").map(|r| r.values.clone()).unwrap_or_default();
    let capacity = is("karpenter.sh/capacity-type");
    out.spot = match capacity {
        Some(r) if r.values.len() == 1 => r.values[0].clone().map(|v| v == "spot"),
        _ => Fact::absent(out.span),
    };
    out.object = Some(Raw::new(tree, view));
    out
}

/// A taint of any format that writes key, value and effect.
fn taint(view: View<'_>) -> Taint {
    let mut out = Taint::blank(view.place());
    out.key = view.get("key").string();
    out.value = view.get("value").string();
    out.effect = view.get("effect").string();
    out
}
