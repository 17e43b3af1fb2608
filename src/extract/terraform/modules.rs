//! Community modules of registries that make clusters and pools, read by the arguments of their calls.

use super::Stated;
use crate::extract::machines::{self, gke};
use crate::facts::{Cluster, Facts, InfraFormat, NodePool, Resource, ResourceFormat, Taint};
use crate::known::{Fact, Why};
use crate::parse::{Raw, View};
use std::sync::Arc;

/// Reads a `module` block.
pub fn read(call: &Stated<'_>, facts: &mut Facts) {
    let source = call.view.get("source").string();
    let Some(source) = source.get() else { return };
    // Copies of the module take what it takes.
    let groups = ["eks_managed_node_groups", "self_managed_node_groups"].iter().any(|key| call.view.get(key).is_some());
    if source.contains("terraform-aws-modules/eks/aws") {
        eks(call, facts);
    } else if groups {
        eks_groups(call, facts);
    } else if source.contains("cloud-foundation-fabric") && source.contains("modules/gke-nodepool") {
        facts.pools.extend(fabric(call).map(Arc::new));
    } else if source.contains("terraform-google-modules/kubernetes-engine/google") {
        of_gke(call, facts);
    }
    if ROLES.iter().any(|module| source.contains(module)) {
        facts.resources.push(Arc::new(resource(call)));
    }
}

/// Modules that make roles of a cloud which service accounts of Kubernetes take on.
const ROLES: [&str; 3] = ["iam-assumable-role-with-oidc", "iam-role-for-service-accounts", "modules/workload-identity"];

/// A call as a raw resource of type `module`.
fn resource(call: &Stated<'_>) -> Resource {
    let mut out = Resource::blank(call.span);
    out.format = Fact::value(ResourceFormat::Terraform, call.span);
    out.r#type = Fact::value("module".to_owned(), call.span);
    out.name = Fact::value(call.kind.0.to_owned(), call.kind.1);
    out.body = Some(Raw::new(call.tree, call.view));
    out
}

fn first<'t>(view: View<'t>, keys: &[&str]) -> View<'t> {
    keys.iter().map(|key| view.get(key)).find(|v| v.is_some()).unwrap_or(View::new(None, view.place()))
}

fn cluster(call: &Stated<'_>, platform: &str) -> Cluster {
    let view = call.view;
    let mut out = Cluster::blank(call.span);
    out.format = Fact::value(InfraFormat::Terraform, call.span);
    out.name = first(view, &["cluster_name", "name"]).string();
    out.platform = Fact::value(platform.to_owned(), view.get("source").place());
    out.kubernetes = machines::version(first(view, &["cluster_version", "kubernetes_version"]));
    out.object = Some(Raw::new(call.tree, view));
    out
}

/// The module for EKS, and its submodules for node groups.
fn eks(call: &Stated<'_>, facts: &mut Facts) {
    let view = call.view;
    let source = view.get("source").string();
    let submodule = |name: &str| source.get().is_some_and(|s| s.contains(name));
    if submodule("modules/eks-managed-node-group") || submodule("modules/self-managed-node-group") {
        let managed = submodule("modules/eks-managed-node-group");
        facts.pools.extend(group(call, (call.kind.0, view), View::new(None, call.span), managed).map(Arc::new));
        return;
    }
    if submodule("//") {
        return;
    }
    eks_groups(call, facts);
}

fn eks_groups(call: &Stated<'_>, facts: &mut Facts) {
    let view = call.view;
    facts.clusters.push(Arc::new(cluster(call, "eks")));
    for (key, defaults, managed) in [
        ("eks_managed_node_groups", "eks_managed_node_group_defaults", true),
        ("self_managed_node_groups", "self_managed_node_group_defaults", false),
    ] {
        for (name, body) in view.get(key).entries() {
            facts.pools.extend(group(call, (name, body), view.get(defaults), managed).map(Arc::new));
        }
    }
}

/// A node group of the module; `defaults` give what it leaves out.
fn group(
    call: &Stated<'_>,
    (name, group): (&str, View<'_>),
    defaults: View<'_>,
    managed: bool,
) -> Option<crate::facts::NodePool> {
    let get = |key: &str| if group.get(key).is_some() { group.get(key) } else { defaults.get(key) };
    let mut out = machines::pool(call.tree, group, ("aws_eks_node_group", name), group.place())?;
    if !managed {
        out.kind = Fact::value("aws_autoscaling_group".to_owned(), group.place());
        out.platform = Fact::value("ec2".to_owned(), group.place());
    }
    out.cluster = first(call.view, &["cluster_name", "name"]).string();
    out.name = Fact::value(name.to_owned(), group.place());
    out.instance_types = first_strings([get("instance_types"), get("instance_type")]);
    let overrides = machines::at(group, "mixed_instances_policy.launch_template").get("override");
    let overrides = if overrides.is_some() { overrides } else { group.path("mixed_instances_policy.override") };
    if overrides.is_some() {
        out.instance_types = overrides.items().map(|o| o.get("instance_type").string()).collect();
    }
    out.min_nodes = get("min_size").int();
    out.max_nodes = get("max_size").int();
    out.image_type = get("ami_type").string();
    out.disk_bytes = get("disk_size").float().map(machines::gib);
    if out.disk_bytes.is_absent() {
        let volumes = get("block_device_mappings").entries();
        let root = volumes.iter().map(|(_, v)| v.path("ebs.volume_size")).find(|v| v.is_some());
        out.disk_bytes = root.map_or(Fact::absent(group.place()), View::float).map(machines::gib);
    }
    let taints = get("taints");
    let list: Vec<View<'_>> = match taints.node().is_some_and(|n| n.is_seq()) {
        true => taints.items().collect(),
        false => taints.entries().into_iter().map(|(_, taint)| taint).collect(),
    };
    out.taints = list.into_iter().map(taint).collect();
    out.labels = machines::labels(get("labels"));
    out.efa = get("enable_efa_support").boolean();
    Some(out)
}

fn first_strings<const N: usize>(views: [View<'_>; N]) -> Vec<Fact<String>> {
    views.into_iter().find(|v| v.is_some()).map(View::strings).unwrap_or_default()
}

fn taint(view: View<'_>) -> Taint {
    let mut out = Taint::blank(view.place());
    out.key = view.get("key").string();
    out.value = view.get("value").string();
    out.effect = view.get("effect").string().map(|e| machines::effect(&e).to_owned());
    out
}

/// The module for GKE: a list of pools, with their labels and taints by name.
fn of_gke(call: &Stated<'_>, facts: &mut Facts) {
    let view = call.view;
    facts.clusters.push(Arc::new(cluster(call, "gke")));
    for pool in view.get("node_pools").items() {
        let name = pool.get("name").string();
        let Some(mut out) = machines::pool(call.tree, pool, ("google_container_node_pool", call.kind.0), pool.place())
        else {
            continue;
        };
        let of_pool = |key: &str| name.get().map_or(View::new(None, pool.place()), |name| view.get(key).get(name));
        out.instance_types = pool.get("machine_type").strings();
        let open = || Fact::unknown(Why::NotStated("in how many zones the pool has nodes".into()), pool.place());
        let zones =
            [pool.get("node_locations"), view.get("zones")].into_iter().find_map(gke::listed).unwrap_or_else(open);
        let of = |total: &str, each: &str| {
            let each = || pool.get(each).int().or(|| pool.get("node_count").int());
            pool.get(total).int().or(|| gke::of_all(each(), &zones))
        };
        out.min_nodes = of("total_min_count", "min_count");
        out.max_nodes = of("total_max_count", "max_count");
        out.image_type = pool.get("image_type").string();
        out.disk_bytes = pool.get("disk_size_gb").float().map(machines::gib);
        out.spot = pool.get("spot").boolean();
        out.accelerator = pool.get("accelerator_type").string();
        out.accelerator_count = pool.get("accelerator_count").int();
        out.driver_mode = pool.get("gpu_driver_version").string();
        out.labels = machines::labels(of_pool("node_pools_labels"));
        out.taints = of_pool("node_pools_taints").items().map(taint).collect();
        out.name = name;
        facts.pools.push(Arc::new(out));
    }
}

/// A node pool of Google's Fabric. https://github.com/GoogleCloudPlatform/cloud-foundation-fabric modules/gke-nodepool
fn fabric(call: &Stated<'_>) -> Option<NodePool> {
    let view = call.view;
    let mut out = machines::pool(call.tree, view, ("google_container_node_pool", call.kind.0), call.span)?;
    out.driver_mode = view.path("node_config.guest_accelerator.gpu_driver.version").string();
    let scaling = view.path("nodepool_config.autoscaling");
    let zones = match scaling.get("use_total_nodes").boolean().get() {
        Some(true) => Fact::value(1, scaling.place()),
        _ => gke::zones(view, None),
    };
    out.min_nodes = gke::of_all(scaling.get("min_node_count").int(), &zones);
    out.max_nodes = gke::of_all(scaling.get("max_node_count").int(), &zones);
    out.labels = machines::labels(view.get("k8s_labels"));
    out.taints = view
        .get("taints")
        .entries()
        .into_iter()
        .map(|(key, of)| {
            let mut out = taint(of);
            out.key = Fact::value(key.to_owned(), of.place());
            out
        })
        .collect();
    Some(out)
}
