//! Terraform modules: resources, pools, clusters, releases of charts, tasks. Knows providers' resource types.

mod kubernetes;
mod modules;
pub mod named;
mod pools;
mod providers;
mod releases;
#[cfg(test)]
mod tests;
mod workloads;

use super::{machines, protection};
use crate::budget::Share;
use crate::facts::{Cluster, Facts, InfraFormat, Resource, ResourceFormat};
use crate::known::Fact;
use crate::parse::{Problem, Raw, Tree, View};
use crate::render::terraform::{Block, Workspace};
use crate::source::{SourceId, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A root with values that somebody may name on the command line, instead of what stands there without.
pub struct Form {
    /// The file of values.
    pub path: String,
    /// The first file of the root.
    pub root: SourceId,
    /// What the root states with them.
    pub facts: Facts,
}

/// Reads the modules of a run, from the roots down; what is wrong with them, and their other forms.
pub fn modules(workspace: &Workspace<'_>, facts: &mut Facts) -> (Vec<Problem>, Vec<Form>) {
    let (mut problems, mut forms) = (vec![], vec![]);
    let roots = workspace.evaluate();
    let paths = if roots.is_empty() { BTreeMap::new() } else { workspace.paths() };
    for root in roots {
        let of = |keyword: &'static str| root.blocks.iter().filter(move |block| block.keyword == keyword);
        let mut stated = Facts::default();
        let written = of("resource").chain(of("data").filter(|block| is_read(block))).map(Stated::of);
        resources(
            All::new(written.collect(), of("data").map(Stated::of).filter(pools::finds_images).collect()),
            (&|id| paths.get(&id).copied().unwrap_or_default(), &providers::made(&root.blocks)),
            &mut stated,
        );
        of("module").for_each(|block| modules::read(&Stated::of(block), &mut stated));
        let providers = providers::required(&root.blocks);
        let versions = providers::versions(&providers);
        for resource in stated.resources.iter_mut().filter_map(Arc::get_mut) {
            let provider = resource.r#type.get().and_then(|kind| kind.split('_').next());
            let asked = provider.and_then(|name| versions.get(name)).cloned();
            resource.provider_versions = Fact::from_option(asked, resource.r#type.span);
        }
        // In JSON blocks and mappings look alike.
        let written = of("resource").filter(|block| !block.json).map(Stated::of);
        stated.blocks.extend(written.map(|resource| providers::block(&resource, &providers)));
        if root.library {
            stated.uncalled = root.blocks.iter().map(|block| block.keyword_span.source).collect();
        }
        for (value, uses) in root.uses {
            stated.uses.entry(value).or_default().extend(uses);
        }
        problems.extend(root.cut);
        match (root.with, root.blocks.first()) {
            (None, _) => facts.append(stated),
            (Some(path), Some(first)) => {
                // Which charts are installed is told without.
                stated.releases.clear();
                forms.push(Form { path, root: first.keyword_span.source, facts: stated });
            }
            (Some(_), None) => {}
        }
    }
    (problems, forms)
}

/// A block as it stands: its labels (the type and name of a resource), and the text that stands for the whole.
struct Stated<'b> {
    tree: &'b Arc<Tree>,
    view: View<'b>,
    span: Span,
    kind: (&'b str, Span),
    name: (&'b str, Span),
    /// Address of its module, and its own key in `for_each`.
    module: &'b str,
    instance: Option<&'b str>,
    /// Whether it is written in JSON, where blocks and mappings look alike.
    json: bool,
}

impl<'b> Stated<'b> {
    fn of(block: &'b Block) -> Self {
        let label =
            |i: usize| block.labels.get(i).map_or(("", block.keyword_span), |(text, span)| (text.as_str(), *span));
        Self {
            tree: &block.tree,
            view: View::new(Some(block.body()), block.keyword_span),
            span: block.keyword_span,
            kind: label(0),
            name: label(1),
            module: &block.module,
            instance: block.instance.as_deref(),
            json: block.json,
        }
    }
}

/// The resources of a root, with the places of those that others refer to.
struct All<'b> {
    stated: Vec<Stated<'b>>,
    /// Data sources that look images of machines up.
    images: Vec<Stated<'b>>,
    /// By type and label.
    labels: BTreeMap<(&'b str, &'b str), Vec<usize>>,
    /// By type and the name that they state.
    names: BTreeMap<(&'b str, String), Vec<usize>>,
}

impl<'b> All<'b> {
    fn new(stated: Vec<Stated<'b>>, images: Vec<Stated<'b>>) -> Self {
        let mut out = Self { stated, images, labels: BTreeMap::new(), names: BTreeMap::new() };
        for (at, one) in out.stated.iter().enumerate().filter(|(_, one)| REFERRED.contains(&one.kind.0)) {
            out.labels.entry((one.kind.0, one.name.0)).or_default().push(at);
            if let Some(name) = one.view.get("name").string().get() {
                out.names.entry((one.kind.0, name.clone())).or_default().push(at);
            }
        }
        out
    }
}

/// Data sources that are policies in blocks.
const DOCUMENTS: [&str; 3] = ["alicloud_ram_policy_document", "archive_file", "aws_iam_policy_document"];

/// Whether a data source states something by itself.
fn is_read(block: &Block) -> bool {
    block.labels.first().is_some_and(|(kind, _)| DOCUMENTS.contains(&kind.as_str()))
}

/// Types that others refer to.
const REFERRED: &[&str] = &[
    "alicloud_ess_scaling_group",
    "aws_launch_template",
    "aws_launch_configuration",
    "aws_sagemaker_model",
    "google_compute_instance_group_manager",
    "google_compute_instance_template",
    "google_compute_region_instance_group_manager",
    "google_compute_region_instance_template",
    "google_container_cluster",
    "huaweicloud_as_configuration",
    "oci_core_instance_configuration",
    "tencentcloud_as_scaling_config",
    "volcengine_scaling_group",
];

/// The resource that a value refers to (`aws_launch_template.gpu.id`, `…["a"].name`), or names by its own name, by its
/// position: of those with that address, one of the same module before others.
fn referred(all: &All<'_>, from: &Stated<'_>, kinds: &[&str], value: View<'_>) -> Option<usize> {
    let mut found: Vec<(usize, &Stated<'_>)> = match value.node().and_then(crate::render::terraform::reference) {
        Some(reference) => {
            let mut parts = reference.split('.');
            let (kind, rest) = (parts.next()?, parts.next()?);
            let (name, key) = rest.split_once('[').map_or((rest, None), |(name, key)| (name, Some(key)));
            let key = key.map(|key| key.trim_end_matches(']').trim_matches('"'));
            let keyed = |r: &Stated<'_>| r.instance.is_none() || key.is_none() || r.instance == key;
            let places = all.labels.get(&(kind, name)).filter(|_| kinds.contains(&kind))?;
            places.iter().map(|&at| (at, &all.stated[at])).filter(|(_, r)| keyed(r)).collect()
        }
        None => {
            let name = value.string();
            let name = name.get()?;
            let places = kinds.iter().filter_map(|kind| all.names.get(&(*kind, name.clone()))).flatten();
            places.map(|&at| (at, &all.stated[at])).collect()
        }
    };
    if found.iter().any(|(_, r)| r.module == from.module) {
        found.retain(|(_, r)| r.module == from.module);
    }
    // Instances of one block go together: each with the one of its own key.
    if found.iter().any(|(_, r)| r.instance.is_some() && r.instance == from.instance) {
        found.retain(|(_, r)| r.instance == from.instance);
    }
    if let [(only, _)] = found[..] { Some(only) } else { None }
}

/// `path` is where a file stands, `made` what providers state of all that they make.
fn resources<'p>(
    all: All<'_>,
    (path, made): (&dyn Fn(SourceId) -> &'p str, &BTreeMap<String, providers::Made>),
    facts: &mut Facts,
) {
    pools::read(&all, path, facts);
    workloads::read(&all, facts);
    // Many releases may be given one large file of values.
    let share = Share::of(1, 0);
    for resource in &all.stated {
        let Stated { tree, view, span, kind: (kind, kind_span), name: (name, name_span), .. } = *resource;
        match kind {
            "helm_release" => {
                let release = releases::release(tree, view, &share, facts);
                super::kubernetes::in_values(&release, facts);
                facts.releases.push(Arc::new(release));
            }
            "nebius_applications_v1alpha1_k8s_release" => facts.releases.push(Arc::new(releases::of_nebius(view))),
            "aws_eks_cluster"
            | "google_container_cluster"
            | "azurerm_kubernetes_cluster"
            | "alicloud_cs_managed_kubernetes"
            | "coreweave_cks_cluster"
            | "nebius_mk8s_v1_cluster"
            | "tencentcloud_kubernetes_cluster" => facts.clusters.push(Arc::new(cluster(resource))),
            _ => kubernetes::read(resource, facts),
        }
        let mut out = Resource::blank(span);
        out.format = Fact::value(ResourceFormat::Terraform, span);
        out.r#type = Fact::value(kind.to_owned(), kind_span);
        out.name = Fact::value(name.to_owned(), name_span);
        (out.region, out.default_tags) = providers::region_and_tags(resource, made);
        let region = out.region.clone();
        let stated = protection::Stated { kind: out.r#type.clone(), name: out.name.clone(), shape: kind, region };
        let others = facts.stores.len();
        protection::read(tree, view, &stated, facts);
        facts.start_scripts.extend(machines::stated_scripts(view, &out.r#type, &out.name));
        for store in &mut facts.stores[others..] {
            Arc::make_mut(store).default_tags = out.default_tags.clone();
        }
        out.body = Some(Raw::new(tree, view));
        facts.resources.push(Arc::new(out));
    }
}

fn cluster(stated: &Stated<'_>) -> Cluster {
    let view = stated.view;
    let mut out = Cluster::blank(stated.span);
    out.format = Fact::value(InfraFormat::Terraform, stated.span);
    out.name = ["name", "cluster_name"]
        .iter()
        .map(|key| view.get(key))
        .find(|v| v.node().is_some())
        .map_or(Fact::absent(stated.span), View::string);
    let platform = match stated.kind.0 {
        "aws_eks_cluster" => "eks",
        "google_container_cluster" => "gke",
        "azurerm_kubernetes_cluster" => "aks",
        "coreweave_cks_cluster" => "cks",
        "nebius_mk8s_v1_cluster" => "mk8s",
        "tencentcloud_kubernetes_cluster" => "tke",
        _ => "ack",
    };
    out.platform = Fact::value(platform.to_owned(), stated.span);
    out.kubernetes =
        ["version", "min_master_version", "kubernetes_version", "cluster_version", "control_plane.version"]
            .iter()
            .map(|path| machines::at(view, path))
            .find(|v| v.node().is_some())
            .map_or(Fact::absent(stated.span), machines::version);
    out.autopilot = view.get("enable_autopilot").boolean();
    out.object = Some(Raw::new(stated.tree, view));
    out
}
