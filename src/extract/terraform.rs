//! Terraform modules: resources, pools, clusters, releases of charts, tasks. Knows providers' resource types.

use super::{kubernetes, machines};
use crate::facts::{Cluster, Container, Facts, HelmRelease, Pod, Resource, Workload};
use crate::known::Fact;
use crate::parse::hcl::{Block, Workspace};
use crate::parse::{Dialect, Raw, Tree, View, yaml};
use crate::source::Span;
use crate::version::Version;
use std::sync::Arc;

/// Reads the modules of a run, from the roots down.
pub fn modules(workspace: &Workspace<'_>, facts: &mut Facts) {
    for root in workspace.evaluate() {
        root.blocks.iter().for_each(|block| read(block, facts));
        for (value, uses) in root.uses {
            facts.uses.entry(value).or_default().extend(uses);
        }
    }
}

/// A resource as it stands: its type and name, and the text that stands for the whole.
struct Stated<'b> {
    tree: &'b Arc<Tree>,
    span: Span,
    kind: (&'b str, Span),
    name: (&'b str, Span),
}

fn read(block: &Block, facts: &mut Facts) {
    let view = View::new(Some(block.body()), block.keyword_span);
    let label = |i: usize| block.labels.get(i).map_or(("", block.keyword_span), |(text, span)| (text.as_str(), *span));
    let stated = Stated { tree: &block.tree, span: block.keyword_span, kind: label(0), name: label(1) };
    match block.keyword.as_str() {
        "resource" => resource(&stated, view, facts),
        "module" => eks_module(block, view, facts),
        _ => {}
    }
}

/// Resources of a file in Terraform's JSON syntax. Expressions in its texts stay unknown.
pub fn json(tree: &Arc<Tree>, facts: &mut Facts) {
    let Some(root) = tree.roots().next() else { return };
    for (kind, of_kind) in root.view().get("resource").entries() {
        for (name, body) in of_kind.entries() {
            let bodies: Vec<View<'_>> =
                if body.node().is_some_and(|n| n.is_seq()) { body.items().collect() } else { vec![body] };
            for view in bodies {
                let stated =
                    Stated { tree, span: body.place(), kind: (kind, of_kind.place()), name: (name, body.place()) };
                resource(&stated, view, facts);
            }
        }
    }
}

fn resource(stated: &Stated<'_>, view: View<'_>, facts: &mut Facts) {
    let Stated { tree, span, kind: (kind, kind_span), name: (name, name_span) } = *stated;
    if let Some(pool) = machines::pool(tree, view, (kind, name), span) {
        facts.pools.push(Arc::new(pool));
    }
    match kind {
        "helm_release" => facts.releases.push(Arc::new(release(tree, view))),
        "aws_eks_cluster"
        | "google_container_cluster"
        | "azurerm_kubernetes_cluster"
        | "alicloud_cs_managed_kubernetes" => {
            facts.clusters.push(Arc::new(cluster(stated, view)));
            // The default pool of a cluster stands in the cluster itself.
            if kind == "azurerm_kubernetes_cluster" {
                let pool = machines::at(view, "default_node_pool");
                let found = machines::pool(tree, pool, ("azurerm_kubernetes_cluster_node_pool", "default"), span);
                facts.pools.extend(found.filter(|p| !p.instance_types.is_empty()).map(Arc::new));
            }
        }
        "kubernetes_manifest" | "kubectl_manifest" => {
            let manifest = if view.get("manifest").is_some() { view.get("manifest") } else { view.get("yaml_body") };
            if let Some(root) = manifest.node().filter(|n| kubernetes::is_object(*n)) {
                kubernetes::document(tree, root, facts);
            }
        }
        "aws_ecs_task_definition" => facts.workloads.push(task(stated, view)),
        _ => {}
    }
    let mut out = Resource::blank(span);
    out.format = Fact::value("terraform".to_owned(), span);
    out.r#type = Fact::value(kind.to_owned(), kind_span);
    out.name = Fact::value(name.to_owned(), name_span);
    out.body = Some(Raw::new(tree, view));
    facts.resources.push(Arc::new(out));
}

fn cluster(stated: &Stated<'_>, view: View<'_>) -> Cluster {
    let mut out = Cluster::blank(stated.span);
    out.format = Fact::value("terraform".to_owned(), stated.span);
    out.name = view.get("name").string();
    let platform = match stated.kind.0 {
        "aws_eks_cluster" => "eks",
        "google_container_cluster" => "gke",
        "azurerm_kubernetes_cluster" => "aks",
        _ => "ack",
    };
    out.platform = Fact::value(platform.to_owned(), stated.span);
    out.kubernetes = ["version", "min_master_version", "kubernetes_version"]
        .iter()
        .map(|k| view.get(k))
        .find(|v| v.node().is_some())
        .map_or(Fact::absent(stated.span), machines::version);
    out.autopilot = view.get("enable_autopilot").boolean();
    out.object = Some(Raw::new(stated.tree, view));
    out
}

/// A chart: `set` blocks and `values` become one tree of values where that is possible.
fn release(tree: &Arc<Tree>, view: View<'_>) -> HelmRelease {
    let chart = view.get("chart");
    let mut out = HelmRelease::blank(chart.place());
    out.format = Fact::value("terraform".to_owned(), chart.place());
    out.name = view.get("name").string();
    out.namespace = view.get("namespace").string();
    out.chart = chart.string().map(|c| c.rsplit('/').next().unwrap_or("").to_owned());
    out.path = chart.string();
    out.version = view.get("version").parse(Version::parse);
    out.repository = view.get("repository").string();
    let first = view.get("values").items().next();
    out.values = match first {
        Some(values) if values.node().is_some_and(|n| n.is_map()) => Some(Raw::new(tree, values)),
        // Values as text, in a heredoc: a tree of their own; its spans are those of the heredoc's lines.
        Some(values) => values.traced().map(|text| {
            let inner = Arc::new(yaml::parse_traced(text, Dialect::Kubernetes));
            let root = inner.roots().next();
            Raw { id: root.map(|r| r.id()), place: text.whole(), tree: Arc::clone(&inner) }
        }),
        None => None,
    };
    out.set = view
        .get("set")
        .items()
        .chain(view.get("set_string").items())
        .filter_map(|set| Some((set.get("name").string().get()?.clone(), set.get("value").string())))
        .collect();
    out
}

/// Node groups of the community module for EKS.
fn eks_module(block: &Block, view: View<'_>, facts: &mut Facts) {
    let source = view.get("source").string();
    if !source.get().is_some_and(|s| s.contains("terraform-aws-modules/eks/aws")) {
        return;
    }
    let mut cluster = Cluster::blank(block.keyword_span);
    cluster.format = Fact::value("terraform".to_owned(), block.keyword_span);
    cluster.name = view.get("cluster_name").string().or(|| view.get("name").string());
    cluster.platform = Fact::value("eks".to_owned(), source.span);
    let version = ["cluster_version", "kubernetes_version"].map(|k| view.get(k)).into_iter().find(|v| v.is_some());
    cluster.kubernetes = version.map_or(Fact::absent(block.keyword_span), machines::version);
    cluster.object = Some(Raw::new(&block.tree, view));
    facts.clusters.push(Arc::new(cluster));
    for (name, group) in view.get("eks_managed_node_groups").entries() {
        let flat = machines::pool(&block.tree, group, ("aws_eks_node_group", name), group.place());
        if let Some(mut pool) = flat {
            pool.min_nodes = group.get("min_size").int();
            pool.max_nodes = group.get("max_size").int();
            pool.name = Fact::value(name.to_owned(), group.place());
            for (_, taint) in group.get("taints").entries() {
                let mut out = crate::facts::Taint::blank(taint.place());
                out.key = taint.get("key").string();
                out.value = taint.get("value").string();
                out.effect = taint.get("effect").string();
                pool.taints.push(out);
            }
            facts.pools.push(Arc::new(pool));
        }
    }
}

/// An ECS task as a workload of its containers.
fn task(stated: &Stated<'_>, view: View<'_>) -> Workload {
    let span = stated.span;
    let mut pod = Pod::blank(span);
    pod.role = Fact::value("main".to_owned(), span);
    pod.replicas = Fact::value(1, span);
    let mut gpus = Fact::value(0, span);
    for definition in view.get("container_definitions").items() {
        let mut container: Container = kubernetes::container(stated.tree, definition, "main", &pod);
        let environment = definition.get("environment").items().filter_map(|e| {
            let mut variable = crate::facts::EnvVar::blank(e.place());
            variable.name = e.get("name").string();
            variable.value = e.get("value").string();
            Some((variable.name.get()?.clone(), variable))
        });
        container.env = environment.collect();
        let gpu = definition
            .get("resourceRequirements")
            .items()
            .find(|r| r.get("type").string().get().is_some_and(|t| t == "GPU"));
        if let Some(gpu) = gpu {
            container.gpus = gpu.get("value").int();
            container.gpu_vendor = Fact::value("nvidia".to_owned(), gpu.place());
            gpus = container.gpus.clone();
        }
        pod.containers.push(container);
    }
    pod.gpus = gpus.clone();
    super::lone(("ecs", "task-definition"), view.get("family").string(), pod, Raw::new(stated.tree, view))
}
