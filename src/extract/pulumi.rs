//! Programs of Pulumi in YAML: resources under the names of their packages, read as the resources of Terraform and the
//! objects of Kubernetes that they make. Knows its YAML.

use super::spelling::snake_case;
use super::{kubernetes, machines, protection, startup};
use crate::facts::{Facts, HelmRelease, InfraFormat, NodePool, ReleaseFormat, Resource, ResourceFormat};
use crate::known::Fact;
use crate::parse::{Builder, DEEPEST, Entry, Node, NodeId, NodeKind, Raw, Tree, View};
use crate::source::{Span, Traced};
use crate::version::Version;
use std::sync::Arc;

/// Resources that are read: package, module and name, and what Terraform calls them. https://www.pulumi.com/registry/
const RESOURCES: [(&str, &str, &str, &str); 24] = [
    ("alicloud", "cs", "NodePool", "alicloud_cs_kubernetes_node_pool"),
    ("alicloud", "ecs", "SecurityGroupRule", "alicloud_security_group_rule"),
    ("aws", "appautoscaling", "Policy", "aws_appautoscaling_policy"),
    ("aws", "budgets", "Budget", "aws_budgets_budget"),
    ("aws", "ebs", "Volume", "aws_ebs_volume"),
    ("aws", "ec2", "Instance", "aws_instance"),
    ("aws", "ec2", "LaunchTemplate", "aws_launch_template"),
    ("aws", "ec2", "SecurityGroup", "aws_security_group"),
    ("aws", "ec2", "SecurityGroupRule", "aws_security_group_rule"),
    ("aws", "efs", "FileSystem", "aws_efs_file_system"),
    ("aws", "eks", "NodeGroup", "aws_eks_node_group"),
    ("aws", "kms", "Key", "aws_kms_key"),
    ("aws", "s3", "Bucket", "aws_s3_bucket"),
    ("aws", "vpc", "SecurityGroupIngressRule", "aws_vpc_security_group_ingress_rule"),
    ("azure", "containerservice", "KubernetesClusterNodePool", "azurerm_kubernetes_cluster_node_pool"),
    ("azure", "network", "NetworkSecurityRule", "azurerm_network_security_rule"),
    ("gcp", "billing", "Budget", "google_billing_budget"),
    ("gcp", "compute", "Firewall", "google_compute_firewall"),
    ("gcp", "compute", "Instance", "google_compute_instance"),
    ("gcp", "container", "NodePool", "google_container_node_pool"),
    ("gcp", "kms", "CryptoKey", "google_kms_crypto_key"),
    ("gcp", "storage", "Bucket", "google_storage_bucket"),
    ("oci", "ContainerEngine", "NodePool", "oci_containerengine_node_pool"),
    ("oci", "Core", "NetworkSecurityGroupSecurityRule", "oci_core_network_security_group_security_rule"),
];

/// Maps whose keys are the user's.
const OWN: [&str; 6] = ["annotations", "labels", "metadata", "nodeLabels", "nodeTaints", "tags"];

/// So deep lists of blocks are called as Terraform calls them.
const DEEPEST_BLOCKS: usize = 4;

/// Whether a document is a program: a map of resources of which one has a type like `aws:eks:NodeGroup`.
pub fn is_program(root: Node<'_>) -> bool {
    let resources = root.get("resources").filter(|resources| resources.is_map());
    let typed = |of: Node<'_>| of.get("type").and_then(Node::text).and_then(parts).is_some();
    resources.is_some_and(|resources| resources.entries().into_iter().any(|(_, of)| typed(of)))
}

/// The package, the module and the name of a type: `aws:eks/nodeGroup:NodeGroup` is `aws:eks:NodeGroup`.
fn parts(of: &str) -> Option<(&str, &str, &str)> {
    let mut parts = of.split(':');
    let (package, module, name) = (parts.next()?, parts.next()?, parts.next()?);
    let plain = !package.is_empty() && name.starts_with(|c: char| c.is_ascii_uppercase()) && parts.next().is_none();
    let module = if package == "kubernetes" { module } else { module.split('/').next()? };
    plain.then_some((package, module, name))
}

/// Reads the resources of a program.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    let mut started = startup::Started::default();
    for (key, resource) in root.get("resources").map(Node::entries).unwrap_or_default() {
        let (Some(name), Some(of)) = (key.text(), resource.get("type").and_then(Node::text).and_then(parts)) else {
            continue;
        };
        let properties = resource.view().get("properties");
        match of {
            ("kubernetes", "helm.sh/v3" | "helm.sh/v4", "Release" | "Chart") => {
                facts.releases.push(Arc::new(release(tree, properties)))
            }
            ("kubernetes", version, kind) => {
                let (tree, root) = object(tree, properties, (version, kind, resource.head()));
                kubernetes::document(&tree, tree.node(root), facts);
            }
            (package, module, kind) => {
                let known = RESOURCES.iter().find(|(p, m, k, _)| (*p, *m, *k) == (package, module, kind));
                let Some((_, _, _, kind)) = known else { continue };
                let Some(node) = properties.node() else { continue };
                let of = (*kind, resource.view().get("type").place());
                if let Some((mut pool, view)) = cloud_resource(tree, node, of, (name, key.span()), facts) {
                    for script in machines::start_scripts(view.view()) {
                        started.read(&script, (path, &mut pool), facts);
                    }
                    facts.pools.push(Arc::new(pool));
                }
            }
        }
    }
}

/// Reads a resource as the one of Terraform that it makes; the pool that it is, if it is one.
fn cloud_resource(
    tree: &Tree,
    properties: Node<'_>,
    (kind, of): (&str, Span),
    (name, span): (&str, Span),
    facts: &mut Facts,
) -> Option<(NodePool, Raw)> {
    let mut builder = Builder::new(tree.source, tree.dialect);
    let body = in_snake_case(&mut builder, properties, DEEPEST);
    builder.tree().documents.push(body);
    let built = Arc::new(builder.finish());
    let view = built.node(body).view();
    let mut out = Resource::blank(span);
    out.format = Fact::value(ResourceFormat::Pulumi, span);
    out.r#type = Fact::value(kind.to_owned(), of);
    out.name = Fact::value(name.to_owned(), span);
    let stated = protection::Stated {
        kind: out.r#type.clone(),
        name: out.name.clone(),
        shape: kind,
        region: Fact::absent(span),
    };
    protection::read(&built, view, &stated, facts);
    facts.start_scripts.extend(machines::stated_scripts(view, &out.r#type, &out.name));
    out.body = Some(Raw::new(&built, view));
    facts.resources.push(Arc::new(out));
    let mut pool = machines::pool(&built, view, (kind, name), span)?;
    pool.format = Fact::value(InfraFormat::Pulumi, span);
    Some((pool, Raw::new(&built, view)))
}

/// A copy under the names of Terraform.
fn in_snake_case(builder: &mut Builder, node: Node<'_>, depth: usize) -> NodeId {
    if depth == 0 || !node.is_map() && !node.is_seq() {
        return builder.copy(node);
    }
    let kind = if node.is_seq() {
        NodeKind::Seq(node.items().map(|item| in_snake_case(builder, item, depth - 1)).collect())
    } else {
        let mut entries = vec![];
        for (key, node) in node.entries() {
            let name = key.text().unwrap_or_default();
            let value = if OWN.contains(&name) { builder.copy(node) } else { in_snake_case(builder, node, depth - 1) };
            // Terraform calls a list of blocks by the name of one. Each way down to what is below doubles for it.
            let blocks = depth + DEEPEST_BLOCKS > DEEPEST && node.is_seq() && node.items().any(Node::is_map);
            let singular =
                Some(snake_case(name)).filter(|_| blocks).and_then(|name| name.strip_suffix('s').map(str::to_owned));
            for name in [Some(snake_case(name)), singular].into_iter().flatten() {
                let text = Traced::opaque(name, key.span());
                entries.push(Entry { key: builder.add(NodeKind::Scalar { text, plain: false }, key.span()), value });
            }
        }
        NodeKind::Map(entries)
    };
    builder.add(kind, node.span())
}

/// The object that a resource makes: its properties under the version and kind that its type names.
fn object(tree: &Arc<Tree>, properties: View<'_>, (version, kind, span): (&str, &str, Span)) -> (Arc<Tree>, NodeId) {
    let mut builder = Builder::new(tree.source, tree.dialect);
    let mut entries = vec![];
    for (key, text) in [("apiVersion", version.strip_prefix("core/").unwrap_or(version)), ("kind", kind)] {
        let [key, value] = [key, text]
            .map(|text| builder.add(NodeKind::Scalar { text: Traced::opaque(text, span), plain: false }, span));
        entries.push(Entry { key, value });
    }
    for (key, value) in properties.node().map(Node::entries).unwrap_or_default() {
        let (key, value) = (builder.copy(key), builder.copy(value));
        entries.push(Entry { key, value });
    }
    let root = builder.add(NodeKind::Map(entries), properties.node().map_or(span, Node::span));
    builder.tree().documents.push(root);
    (Arc::new(builder.finish()), root)
}

/// A chart that a program installs.
fn release(tree: &Arc<Tree>, view: View<'_>) -> HelmRelease {
    let chart = view.get("chart");
    let mut out = HelmRelease::blank(chart.place());
    out.format = Fact::value(ReleaseFormat::Pulumi, chart.place());
    out.name = view.get("name").string();
    out.namespace = view.get("namespace").string();
    out.chart =
        chart.string().map(|chart| chart.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
    out.path = chart.string();
    out.version = view.get("version").parse(Version::parse);
    out.repository = view.path("repositoryOpts.repo").string();
    out.values = view.get("values").is_some().then(|| Raw::new(tree, view.get("values")));
    out
}
