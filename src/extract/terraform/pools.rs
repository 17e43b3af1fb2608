//! Pools of machines that several resources of a root state together.

use super::{All, Stated, referred};
use crate::extract::machines::{self, groups};
use crate::extract::{clusters, startup};
use crate::facts::{Facts, NodePool, Taint};
use crate::known::{Fact, Known, Why};
use crate::parse::View;
use crate::source::SourceId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const TEMPLATES: &[&str] = &["aws_launch_template", "aws_launch_configuration", "oci_core_instance_configuration"];

/// Resources that say how many machines are made of a template, and where; a template says what they are.
struct Group {
    kind: &'static str,
    templates: &'static [&'static str],
    /// Where it names its template.
    of: &'static [&'static str],
    /// Where its template names it instead.
    named_at: &'static str,
    count: (&'static str, &'static str),
    zones: &'static str,
}

const GOOGLE: [&str; 2] = ["google_compute_instance_template", "google_compute_region_instance_template"];

/// What scales groups of Google Cloud.
const AUTOSCALERS: [&str; 2] = ["google_compute_autoscaler", "google_compute_region_autoscaler"];

const GROUPS: [Group; 6] = [
    Group {
        kind: "google_compute_instance_group_manager",
        templates: &GOOGLE,
        of: &["version.instance_template", "instance_template"],
        named_at: "",
        count: ("target_size", "target_size"),
        zones: "zone",
    },
    Group {
        kind: "google_compute_region_instance_group_manager",
        templates: &GOOGLE,
        of: &["version.instance_template", "instance_template"],
        named_at: "",
        count: ("target_size", "target_size"),
        zones: "distribution_policy_zones",
    },
    Group {
        kind: "tencentcloud_as_scaling_group",
        templates: &["tencentcloud_as_scaling_config"],
        of: &["configuration_id"],
        named_at: "",
        count: ("min_size", "max_size"),
        zones: "zones subnet_ids",
    },
    Group {
        kind: "huaweicloud_as_group",
        templates: &["huaweicloud_as_configuration"],
        of: &["scaling_configuration_id"],
        named_at: "",
        count: ("min_instance_number", "max_instance_number"),
        zones: "availability_zones",
    },
    Group {
        kind: "alicloud_ess_scaling_group",
        templates: &["alicloud_ess_scaling_configuration"],
        of: &[],
        named_at: "scaling_group_id",
        count: ("min_size", "max_size"),
        zones: "vswitch_ids",
    },
    Group {
        kind: "volcengine_scaling_group",
        templates: &["volcengine_scaling_configuration"],
        of: &[],
        named_at: "scaling_group_id",
        count: ("min_instance_number", "max_instance_number"),
        zones: "subnet_ids",
    },
];

/// The groups of templates, by the position of the template; one that several groups use is none of them alone.
fn groups_of(all: &All<'_>) -> BTreeMap<usize, Option<(&'static Group, usize)>> {
    let mut out = BTreeMap::new();
    for (at, stated) in all.stated.iter().enumerate() {
        let kind = stated.kind.0;
        for group in &GROUPS {
            let found = if group.kind == kind {
                let values =
                    group.of.iter().map(|path| machines::at(stated.view, path)).filter(|value| value.is_some());
                values.filter_map(|value| referred(all, stated, group.templates, value)).next().map(|one| (one, at))
            } else if !group.named_at.is_empty() && group.templates.contains(&kind) {
                referred(all, stated, &[group.kind], stated.view.get(group.named_at)).map(|one| (at, one))
            } else {
                None
            };
            if let Some((template, of)) = found {
                out.entry(template).and_modify(|other| *other = None).or_insert(Some((group, of)));
            }
        }
    }
    out
}

/// What a group says of the machines of its template: how many there are, and in which zones.
fn grouped(all: &All<'_>, pool: &mut NodePool, (group, at): (&Group, usize)) {
    let view = all.stated[at].view;
    pool.zones = machines::zones(view, group.zones);
    let mut scaled = all.stated.iter().filter(|one| AUTOSCALERS.contains(&one.kind.0)).peekable();
    if group.templates != GOOGLE || scaled.peek().is_none() {
        pool.min_nodes = machines::at(view, group.count.0).int();
        pool.max_nodes = machines::at(view, group.count.1).int();
        return;
    }
    let by = |one: &&Stated<'_>| referred(all, one, &[group.kind], one.view.get("target")) == Some(at);
    if let Some(scaler) = scaled.find(by) {
        let policy = machines::at(scaler.view, "autoscaling_policy");
        (pool.min_nodes, pool.max_nodes) = (policy.get("min_replicas").int(), policy.get("max_replicas").int());
    }
}

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
                let view = machines::at(view, "default_node_pool");
                let default =
                    machines::pool(stated.tree, view, ("azurerm_kubernetes_cluster_node_pool", "default"), span);
                found.extend(default.filter(|p| !p.instance_types.is_empty()).map(|mut pool| {
                    pool.taints.extend(reserved(view.get("only_critical_addons_enabled")));
                    (index, pool)
                }));
            }
            "google_container_cluster" => {
                let inline = machines::at(view, "node_config").is_some();
                let removed = view.get("remove_default_node_pool").boolean().get() == Some(&true);
                let own = (inline && !removed).then_some(view);
                for view in own.into_iter().chain(view.get("node_pool").items()) {
                    let Some(mut out) = pool(view, "google_container_node_pool") else { continue };
                    out.cluster = stated.view.get("name").string();
                    machines::gke::nodes(&mut out, view, Some(stated.view));
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
                    groups::inherit(&mut out, of_template(&all.stated[template]));
                }
                if let Some(asked) = looked_up(all, stated, &out.image_type) {
                    out.image_type = asked;
                }
                match kind {
                    "aws_autoscaling_group" => groups::read(&mut out, view),
                    "google_container_node_pool" => {
                        let cluster = referred(all, stated, &["google_container_cluster"], view.get("cluster"));
                        machines::gke::nodes(&mut out, view, cluster.map(|at| all.stated[at].view));
                    }
                    _ => {}
                }
                found.push((index, out));
            }
        }
    }
    let grouped_by = groups_of(all);
    let mut started = startup::Started::default();
    // A template that a group uses is no pool of its own.
    for (at, mut pool) in found.into_iter().filter(|(at, _)| !used.contains(at)) {
        let stated = &all.stated[at];
        if let Some(Some(group)) = grouped_by.get(&at) {
            grouped(all, &mut pool, *group);
        }
        let template = template(all, stated).map(|at| all.stated[at].view);
        for script in [template, Some(stated.view)].into_iter().flatten().flat_map(machines::start_scripts) {
            started.read(&script, (path(stated.span.source), &mut pool), facts);
        }
        facts.pools.push(Arc::new(pool));
    }
}

/// Whether a data source looks images of machines up.
pub fn finds_images(source: &Stated<'_>) -> bool {
    ["aws_ami", "aws_ssm_parameter"].contains(&source.kind.0)
}

/// What an image is looked up by that a data source finds (`data.aws_ssm_parameter.gpu.value`): the name of a parameter, a
/// pattern of names.
fn looked_up(all: &All<'_>, pool: &Stated<'_>, image: &Fact<String>) -> Option<Fact<String>> {
    let Known::Unknown(Why::Remote(reference)) = &image.known else { return None };
    let mut parts = reference.strip_prefix("data.")?.split('.');
    let (kind, name) = (parts.next()?, parts.next()?);
    let name = name.split('[').next().unwrap_or(name);
    let named = all.images.iter().filter(|found| (found.kind.0, found.name.0) == (kind, name));
    let mut own: Vec<&Stated<'_>> = named.collect();
    if own.iter().any(|found| found.module == pool.module) {
        own.retain(|found| found.module == pool.module);
    }
    let [source] = own[..] else { return None };
    let filters = source.view.get("filter").items();
    let by_name = filters.into_iter().find(|filter| filter.get("name").string().get().is_some_and(|n| n == "name"));
    let asked = match by_name {
        // Of several names either may be found.
        Some(filter) => match filter.get("values").items().collect::<Vec<_>>()[..] {
            [name] => name,
            _ => return None,
        },
        None => ["name", "name_regex"].iter().map(|key| source.view.get(key)).find(|view| view.is_some())?,
    };
    // What a variable is a part of says enough, mostly.
    asked.traced().map(|text| Fact::value(text.text().to_owned(), text.whole()))
}

/// The taint of a pool that AKS keeps for its own pods.
fn reserved(stated: View<'_>) -> Option<Taint> {
    let yes = stated.boolean();
    (yes.get() == Some(&true)).then(|| {
        let mut taint = Taint::blank(yes.span);
        let [key, value, effect] =
            ["CriticalAddonsOnly", "true", "NoSchedule"].map(|text| Fact::value(text.to_owned(), yes.span));
        (taint.key, taint.value, taint.effect) = (key, value, effect);
        taint
    })
}

/// The launch template or configuration of a group, by its position.
fn template(all: &All<'_>, group: &Stated<'_>) -> Option<usize> {
    let mixed = "mixed_instances_policy.launch_template.launch_template_specification";
    let places = [("launch_template", ["id", "name"]), (mixed, ["launch_template_id", "launch_template_name"])];
    let mut values: Vec<View<'_>> =
        places.iter().flat_map(|(path, keys)| keys.map(|key| machines::at(group.view, path).get(key))).collect();
    values.push(group.view.get("launch_configuration"));
    values.push(group.view.get("instance_configuration_id"));
    let named = values.into_iter().filter(|v| v.is_some());
    named.filter_map(|value| referred(all, group, TEMPLATES, value)).next()
}

fn of_template(template: &Stated<'_>) -> Option<NodePool> {
    machines::pool(template.tree, template.view, (template.kind.0, template.name.0), template.span)
}
