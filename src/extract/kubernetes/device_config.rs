//! Configurations of AMD's GPU operator: the nodes that it is for. Knows the kind and its selectors.
//! <https://instinct.docs.amd.com/projects/gpu-operator/en/latest/fulldeviceconfig.html>

use super::{labels, pods};
use crate::extract::lone;
use crate::facts::{Facts, Pod, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::{Raw, Tree, View};
use std::sync::Arc;

/// Reads a DeviceConfig as the pods that the operator puts on the nodes that it selects.
pub fn read(tree: &Arc<Tree>, view: View<'_>, kind: &str, facts: &mut Facts) {
    let version = view.get("apiVersion").string();
    let spec = view.get("spec");
    if kind != "DeviceConfig" || !version.get().is_some_and(|version| version.starts_with("amd.com/")) {
        return;
    }
    let mut pod = Pod::blank(spec.place());
    pod.role = Fact::value("main".to_owned(), spec.place());
    pod.replicas = Fact::unknown(Why::NotStated("how many nodes it selects".into()), spec.place());
    pod.node_selector = labels(spec.get("selector"));
    pod.tolerations = spec.path("devicePlugin.devicePluginTolerations").items().map(pods::toleration).collect();
    pod.gpus = Fact::value(0, spec.place());
    pod.spec = Some(Raw::new(tree, spec));
    let name = view.path("metadata.name").string();
    facts.workloads.push(lone((WorkloadFormat::Kubernetes, "DeviceConfig"), name, pod, Raw::new(tree, view)));
}
