//! Karpenter's pools of nodes, and the way to eksctl's.

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
