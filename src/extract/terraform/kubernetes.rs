//! Kubernetes objects in Terraform: manifests as data or text, and the provider's own resources, whose snake case is
//! read back into the API's names.

use super::Stated;
use crate::extract::{kubernetes, machines};
use crate::facts::Facts;
use crate::known::Fact;
use crate::parse::{Builder, DEEPEST, Dialect, Entry, Node, NodeId, NodeKind, View};
use crate::source::Traced;
use std::sync::Arc;

/// The provider's resources: type without `kubernetes_` and version suffix, apiVersion, kind.
const KINDS: &[(&str, &str, &str)] = &[
    ("config_map", "v1", "ConfigMap"),
    ("cron_job", "batch/v1", "CronJob"),
    ("daemon_set", "apps/v1", "DaemonSet"),
    ("daemonset", "apps/v1", "DaemonSet"),
    ("deployment", "apps/v1", "Deployment"),
    ("horizontal_pod_autoscaler", "autoscaling/v2", "HorizontalPodAutoscaler"),
    ("ingress", "networking.k8s.io/v1", "Ingress"),
    ("job", "batch/v1", "Job"),
    ("persistent_volume_claim", "v1", "PersistentVolumeClaim"),
    ("pod", "v1", "Pod"),
    ("pod_disruption_budget", "policy/v1", "PodDisruptionBudget"),
    ("priority_class", "scheduling.k8s.io/v1", "PriorityClass"),
    ("resource_quota", "v1", "ResourceQuota"),
    ("runtime_class", "node.k8s.io/v1", "RuntimeClass"),
    ("service", "v1", "Service"),
    ("stateful_set", "apps/v1", "StatefulSet"),
    ("storage_class", "storage.k8s.io/v1", "StorageClass"),
];

/// Blocks that stand for the items of a list, and what the API calls it.
const LISTS: &[(&str, &str)] = &[
    ("container", "containers"),
    ("containers", "containers"),
    ("init_container", "initContainers"),
    ("volume", "volumes"),
    ("volumes", "volumes"),
    ("env", "env"),
    ("env_from", "envFrom"),
    ("port", "ports"),
    ("ports", "ports"),
    ("volume_mount", "volumeMounts"),
    ("volume_mounts", "volumeMounts"),
    ("volume_device", "volumeDevices"),
    ("toleration", "tolerations"),
    ("image_pull_secrets", "imagePullSecrets"),
    ("host_aliases", "hostAliases"),
    ("topology_spread_constraint", "topologySpreadConstraints"),
    ("volume_claim_template", "volumeClaimTemplates"),
    ("node_selector_term", "nodeSelectorTerms"),
    ("match_expressions", "matchExpressions"),
    ("match_fields", "matchFields"),
    ("preferred_during_scheduling_ignored_during_execution", "preferredDuringSchedulingIgnoredDuringExecution"),
    ("http_header", "httpHeaders"),
    ("items", "items"),
    ("sources", "sources"),
    ("metric", "metrics"),
    ("rule", "rules"),
    ("path", "paths"),
    ("tls", "tls"),
];

/// Names that are no plain camel case.
const NAMES: &[(&str, &str)] = &[
    ("host_ipc", "hostIPC"),
    ("host_pid", "hostPID"),
    ("host_ip", "hostIP"),
    ("cluster_ip", "clusterIP"),
    ("cluster_ips", "clusterIPs"),
    ("external_ips", "externalIPs"),
    ("load_balancer_ip", "loadBalancerIP"),
];

/// Attributes that are mappings, whose keys are the user's.
const ATTRIBUTES: &[&str] = &[
    "annotations",
    "binary_data",
    "data",
    "driver",
    "hard",
    "labels",
    "limits",
    "match_labels",
    "node_selector",
    "options",
    "parameters",
    "requests",
    "selector",
    "string_data",
    "volume_attributes",
];

/// Reads a resource that states Kubernetes objects.
pub fn read(stated: &Stated<'_>, facts: &mut Facts) {
    let before = facts.workloads.len();
    objects(stated, facts);
    if facts.workloads.len() > before && leaves_replicas(stated) {
        let kept = &mut facts.workloads[before..];
        kept.iter_mut().for_each(|workload| workload.replicas_kept = Fact::value(true, stated.span));
    }
}

/// Whether a later apply leaves the number of replicas as it finds it.
fn leaves_replicas(stated: &Stated<'_>) -> bool {
    const WHOLE: [&str; 6] = ["all", "yaml_body", "yaml_body_parsed", "manifest", "object", "spec"];
    let ignored = machines::at(stated.view, "lifecycle").get("ignore_changes");
    let fields = ["computed_fields", "ignore_fields"].map(|key| stated.view.get(key));
    let listed = [ignored].into_iter().chain(fields).flat_map(|list| match list.items().next() {
        Some(_) => list.items().collect(),
        None => vec![list],
    });
    let names = listed.filter_map(|view| {
        let node = view.node()?;
        crate::render::terraform::reference(node).or(node.text()).map(str::to_owned)
    });
    let mut names = names.map(|name| name.replace(['"', ']', ' '], "").replace("[0", "").replace('[', "."));
    names.any(|name| WHOLE.contains(&name.as_str()) || name.ends_with("spec") || name.ends_with("spec.replicas"))
}

fn objects(stated: &Stated<'_>, facts: &mut Facts) {
    let (kind, view) = (stated.kind.0, stated.view);
    match kind {
        "kubernetes_manifest" => manifest(stated, view.get("manifest"), facts),
        "kubectl_manifest" => manifest(stated, view.get("yaml_body"), facts),
        "google_cloud_run_v2_service" | "google_cloud_run_v2_job" => cloud_run(stated, facts),
        _ => {
            let Some(plain) = kind.strip_prefix("kubernetes_") else { return };
            let plain = ["_v1", "_v2", "_v2beta2"].iter().find_map(|v| plain.strip_suffix(v)).unwrap_or(plain);
            let Some((_, version, kind)) = KINDS.iter().find(|(name, ..)| *name == plain) else { return };
            let mut out = Converter::new(stated, (version, kind));
            let entries = out.entries(view, DEEPEST);
            out.finish(entries, facts);
        }
    }
}

/// A manifest as data, or as text with any number of documents.
fn manifest(stated: &Stated<'_>, view: View<'_>, facts: &mut Facts) {
    if let Some(text) = view.traced() {
        kubernetes::text(&text, facts);
    } else if let Some(root) = view.node().filter(|n| kubernetes::is_object(*n)) {
        kubernetes::document(stated.tree, root, facts);
    }
}

/// A service of Cloud Run as the Knative service that it is.
fn cloud_run(stated: &Stated<'_>, facts: &mut Facts) {
    let service = stated.kind.0 == "google_cloud_run_v2_service";
    let (version, kind) =
        if service { ("serving.knative.dev/v1", "Service") } else { ("run.googleapis.com/v1", "Job") };
    let mut out = Converter::new(stated, (version, kind));
    let mut template = machines::at(stated.view, "template");
    if !service {
        template = machines::at(template, "template");
    }
    let mut spec = out.entries(template, DEEPEST);
    let accelerator = machines::at(template, "node_selector").get("accelerator");
    if let Some(node) = accelerator.node() {
        let value = out.builder.copy(node);
        let entry = Entry { key: out.key("run.googleapis.com/accelerator"), value };
        let selector = Entry { key: out.key("nodeSelector"), value: out.map(vec![entry]) };
        spec.retain(|e| out.text(e.key) != Some("nodeSelector"));
        spec.push(selector);
    }
    let mut inner = out.map(spec);
    for _ in 0..if service { 1 } else { 2 } {
        let entry = Entry { key: out.key("spec"), value: inner };
        let template = out.map(vec![entry]);
        let entry = Entry { key: out.key("template"), value: template };
        inner = out.map(vec![entry]);
    }
    let mut entries = vec![Entry { key: out.key("spec"), value: inner }];
    let name = stated.view.get("name");
    if let Some(node) = name.node() {
        let value = out.builder.copy(node);
        let entry = Entry { key: out.key("name"), value };
        let metadata = out.map(vec![entry]);
        entries.push(Entry { key: out.key("metadata"), value: metadata });
    }
    out.finish(entries, facts);
}

/// A document under construction.
struct Converter<'s> {
    stated: &'s Stated<'s>,
    builder: Builder,
    head: Vec<Entry>,
}

impl<'s> Converter<'s> {
    fn new(stated: &'s Stated<'s>, (version, kind): (&str, &str)) -> Self {
        let builder = Builder::new(stated.tree.source, Dialect::Typed);
        let mut out = Self { stated, builder, head: vec![] };
        for (key, text) in [("apiVersion", version), ("kind", kind)] {
            let key = out.key(key);
            let value = out.key(text);
            out.head.push(Entry { key, value });
        }
        out
    }

    /// A text that stands for the resource's type.
    fn key(&mut self, text: &str) -> NodeId {
        let span = self.stated.kind.1;
        self.builder.add(NodeKind::Scalar { text: Traced::opaque(text, span), plain: false }, span)
    }

    fn text(&mut self, id: NodeId) -> Option<&str> {
        self.builder.tree().node(id).text()
    }

    fn map(&mut self, entries: Vec<Entry>) -> NodeId {
        self.builder.add(NodeKind::Map(entries), self.stated.kind.1)
    }

    /// The attributes and blocks of a body under the API's names.
    fn entries(&mut self, body: View<'_>, depth: usize) -> Vec<Entry> {
        if depth == 0 {
            return vec![];
        }
        let mut out = vec![];
        for (key, value) in body.node().map(Node::entries).unwrap_or_default() {
            let Some(name) = key.text() else { continue };
            // In JSON a single block is no list.
            let lone = self.stated.json && value.is_map() && !ATTRIBUTES.contains(&name);
            let mut items = value.items().filter(|item| !item.is_unknown()).peekable();
            let blocks = lone || items.peek().is_some() && items.all(Node::is_map);
            let list = LISTS.iter().find(|(block, _)| *block == name);
            if let (true, Some((_, plural))) = (value.is_unknown(), list) {
                // An attribute, or blocks that may be there.
                let value = self.builder.copy(value);
                let text = Traced::opaque(*plural, key.span());
                let key = self.builder.add(NodeKind::Scalar { text, plain: false }, key.span());
                out.push(Entry { key, value });
            }
            // The target port of a service is an attribute, `path` of an HTTP probe too.
            let (shown, value) = match (blocks, list) {
                (true, Some((_, plural))) => {
                    let one = lone.then_some(value);
                    let items = one.into_iter().chain(value.items()).map(|item| self.block(item, depth)).collect();
                    ((*plural).to_owned(), self.builder.add(NodeKind::Seq(items), value.span()))
                }
                (true, None) => {
                    let Some(first) = lone.then_some(value).or_else(|| value.items().next()) else { continue };
                    (camel(name), self.block(first, depth))
                }
                (false, _) => (camel(name), self.builder.copy(value)),
            };
            let text = Traced::opaque(shown, key.span());
            let key = self.builder.add(NodeKind::Scalar { text, plain: false }, key.span());
            out.push(Entry { key, value });
        }
        out
    }

    fn block(&mut self, item: Node<'_>, depth: usize) -> NodeId {
        if item.is_unknown() {
            return self.builder.copy(item);
        }
        let entries = self.entries(item.view(), depth - 1);
        self.builder.add(NodeKind::Map(entries), item.span())
    }

    fn finish(mut self, entries: Vec<Entry>, facts: &mut Facts) {
        let head = std::mem::take(&mut self.head);
        let root = self.map(head.into_iter().chain(entries).collect());
        self.builder.tree().documents.push(root);
        let tree = Arc::new(self.builder.finish());
        kubernetes::drafted(facts, |facts| kubernetes::document(&tree, tree.node(root), facts));
    }
}

fn camel(name: &str) -> String {
    if let Some((_, known)) = NAMES.iter().find(|(snake, _)| *snake == name) {
        return (*known).to_owned();
    }
    let mut out = String::new();
    let mut upper = false;
    for c in name.chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                out.extend(c.to_uppercase());
                upper = false;
            }
            c => out.push(c),
        }
    }
    out
}
