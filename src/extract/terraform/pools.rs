//! Pools of machines that several resources of a root state together.

use super::{All, Stated, referred};
use crate::extract::{clusters, machines, startup};
use crate::facts::{Facts, NodePool, Taint};
use crate::known::{Fact, Known};
use crate::parse::View;
use crate::source::SourceId;
use std::collections::BTreeSet;
use std::sync::Arc;

const TEMPLATES: &[&str] = &["aws_launch_template", "aws_launch_configuration"];
/// What Cluster Autoscaler reads of a group that has no node.
const NODE_TEMPLATE: &str = "k8s.io/cluster-autoscaler/node-template/";

/// Reads the pools among the resources of a root.
pub fn read<'p>(all: &All<'_>, path: &dyn Fn(SourceId) -> &'p str, facts: &mut Facts) {
    let mut used = BTreeSet::new();
    let mut found: Vec<(usize, NodePool)> = vec![];
    for (index, stated) in all.stated.iter().enumerate() {
        let (kind, name) = (stated.kind.0, stated.name.0);
        let (view, span) = (stated.view, stated.span);
        let pool = |view, kind| machines::pool(stated.tree, view, (kind, name), span);
        match kind {
            // The default pool of a cluster stands in the cluster itself.
            "azurerm_kubernetes_cluster" => {
                let default = machines::at(view, "default_node_pool");
                let default =
                    machines::pool(stated.tree, default, ("azurerm_kubernetes_cluster_node_pool", "default"), span);
                found.extend(default.filter(|p| !p.instance_types.is_empty()).map(|p| (index, p)));
            }
            "google_container_cluster" => {
                let inline = machines::at(view, "node_config").is_some();
                let removed = view.get("remove_default_node_pool").boolean().get() == Some(&true);
                let own = (inline && !removed).then_some(view);
                for view in own.into_iter().chain(view.get("node_pool").items()) {
                    let Some(mut out) = pool(view, "google_container_node_pool") else { continue };
                    out.cluster = stated.view.get("name").string();
                    if !view.get("name").is_some() || own.is_some_and(|own| own.place() == view.place()) {
                        out.name = Fact::value("default-pool".to_owned(), view.place());
                    }
                    found.push((index, out));
                }
            }
            "awscc_sagemaker_cluster" => {
                found.extend(clusters::hyperpod(stated.tree, view, kind).into_iter().map(|pool| (index, pool)));
            }
            _ => {
                let Some(mut out) = pool(view, kind) else { continue };
                if let Some(template) = template(all, stated) {
                    used.insert(template);
                    join(&mut out, &all.stated[template]);
                }
                if kind == "aws_autoscaling_group" {
                    group(&mut out, view);
                }
                found.push((index, out));
            }
        }
    }
    // What several instances run stands once.
    let mut run = BTreeSet::new();
    // A template that a group uses is no pool of its own.
    for (at, pool) in found.into_iter().filter(|(at, _)| !used.contains(at)) {
        let stated = &all.stated[at];
        let template = template(all, stated).map(|at| all.stated[at].view);
        let scripts = [Some(stated.view), template].into_iter().flatten().flat_map(machines::start_scripts);
        for script in scripts.filter(|script| run.insert(script.whole())) {
            startup::read(&script, (path(stated.span.source), Some(&pool)), facts);
        }
        facts.pools.push(Arc::new(pool));
    }
}

/// The launch template or configuration of a group, by its position.
fn template(all: &All<'_>, group: &Stated<'_>) -> Option<usize> {
    let mixed = "mixed_instances_policy.launch_template.launch_template_specification";
    let places = [("launch_template", ["id", "name"]), (mixed, ["launch_template_id", "launch_template_name"])];
    let mut values: Vec<View<'_>> =
        places.iter().flat_map(|(path, keys)| keys.map(|key| machines::at(group.view, path).get(key))).collect();
    values.push(group.view.get("launch_configuration"));
    let named = values.into_iter().filter(|v| v.is_some());
    named.filter_map(|value| referred(all, group, TEMPLATES, value)).next()
}

/// What a group leaves to its template.
fn join(pool: &mut NodePool, template: &Stated<'_>) {
    let kind = (template.kind.0, template.name.0);
    let Some(of) = machines::pool(template.tree, template.view, kind, template.span) else { return };
    if pool.instance_types.is_empty() {
        pool.instance_types = of.instance_types;
    }
    let keep = |own: &mut Fact<String>, other: Fact<String>| {
        if own.is_absent() {
            *own = other;
        }
    };
    keep(&mut pool.image_type, of.image_type);
    keep(&mut pool.placement_group, of.placement_group);
    if pool.disk_bytes.is_absent() {
        pool.disk_bytes = of.disk_bytes;
    }
    if pool.driver.is_absent() {
        pool.driver = of.driver;
    }
    if pool.spot.is_absent() {
        pool.spot = of.spot;
    }
    let interfaces = template.view.get("network_interfaces").items().map(|i| i.get("interface_type").string());
    if let Some(efa) = interfaces.into_iter().find(|kind| kind.get().is_some_and(|kind| kind.starts_with("efa"))) {
        pool.efa = efa.map(|_| true);
    }
}

/// What an Auto Scaling group states beside its template.
fn group(pool: &mut NodePool, view: View<'_>) {
    let overrides = machines::at(view, "mixed_instances_policy.launch_template").get("override");
    let types: Vec<_> = overrides.items().map(|o| o.get("instance_type").string()).filter(|t| !t.is_absent()).collect();
    if !types.is_empty() {
        pool.instance_types = types;
    }
    let on_demand = machines::at(view, "mixed_instances_policy.instances_distribution");
    let share = on_demand.get("on_demand_percentage_above_base_capacity").int();
    if let Known::Value(percent) = share.known {
        pool.spot = Fact::value(
            percent == 0 && on_demand.get("on_demand_base_capacity").int().or_default(0).get() == Some(&0),
            share.span,
        );
    }
    let tags = view.get("tag").items().map(|tag| (tag.get("key").string(), tag.get("value").string()));
    for (key, value) in tags {
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
