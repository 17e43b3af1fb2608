//! Pools of machines of every infrastructure format: which attribute states what. Knows resource types of clouds.

mod shapes;

use super::{kubernetes, startup};
use crate::catalog;
use crate::facts::value::REST;
use crate::facts::{InfraFormat, Labels, NodePool, StartScript, Taint};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View};
use crate::source::{Span, Traced};
use crate::version::Version;
use shapes::SHAPES;
use std::sync::Arc;

/// A dotted path that steps into the first item of each sequence: nested blocks of Terraform are sequences.
pub fn at<'t>(view: View<'t>, path: &str) -> View<'t> {
    if path.is_empty() {
        return View::new(None, view.place());
    }
    path.split('.').fold(view, |view, key| {
        let next = view.get(key);
        match next.node() {
            Some(node) if node.is_seq() && node.items().next().is_some_and(Node::is_map) => {
                View::new(node.items().next(), next.place())
            }
            _ => next,
        }
    })
}

/// What stands under the last key of a dotted path, all of it.
fn last<'t>(view: View<'t>, path: &str) -> View<'t> {
    match path.rsplit_once('.') {
        Some((parent, key)) => at(view, parent).get(key),
        None => view.get(path),
    }
}

/// Where resources attach accelerators to their machines.
const ACCELERATORS: [&str; 6] = [
    "node_config.guest_accelerator",
    "guest_accelerator",
    "deploy_config.dedicated_resources.machine_spec",
    "gce_setup.accelerator_configs",
    "host.gce_instance.accelerators",
    "accelerator_configs",
];

/// What Nebius calls a machine: the card in the name of its platform, and the number of them in its preset. The other
/// platforms are plain machines. https://docs.nebius.com/compute/virtual-machines/types
fn nebius(out: &mut NodePool, resources: View<'_>) {
    let platform = resources.get("platform").string();
    let card = platform.get().and_then(|platform| platform.strip_prefix("gpu-"));
    let Some(card) = card.map(|card| if catalog::gpu(card).is_some() { card } else { first_part(card) }) else {
        return;
    };
    out.accelerator = Fact::value(card.to_owned(), platform.span);
    out.accelerator_count = resources.get("preset").string().and_then(|preset| {
        let count = preset.split_once("gpu").and_then(|(count, _)| count.parse().ok());
        count.map_or_else(|| Known::Unknown(Why::NotModelled("the preset".into())), Known::Value)
    });
}

fn first_part(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

/// The pool that a resource states, if its type is one.
pub fn pool(tree: &Arc<Tree>, view: View<'_>, (kind, name): (&str, &str), span: Span) -> Option<NodePool> {
    let shape = SHAPES.iter().find(|s| s.kind == kind)?;
    let mut out = NodePool::blank(span);
    let format = if kind.contains("::") { InfraFormat::Cloudformation } else { InfraFormat::Terraform };
    out.format = Fact::value(format, span);
    out.kind = Fact::value(kind.to_owned(), span);
    out.platform = Fact::value(shape.platform.to_owned(), span);
    let stated =
        ["node_group_name", "NodegroupName", "name"].iter().map(|k| view.get(k).string()).find(|n| n.get().is_some());
    out.name = stated.unwrap_or_else(|| Fact::value(name.to_owned(), span));
    out.cluster = ["cluster_name", "cluster", "ClusterName", "kubernetes_cluster_id", "cluster_id", "ClusterId"]
        .iter()
        .map(|k| view.get(k))
        .find(|v| v.node().is_some())
        .map_or(Fact::absent(span), |v| v.string());
    out.instance_types = shape.types.iter().flat_map(|path| at(view, path).strings()).collect();
    out.min_nodes = at(view, shape.count.0).int();
    out.max_nodes = at(view, shape.count.1).int().or(|| view.get("node_count").int());
    out.disk_bytes = at(view, shape.disk_gb).float().map(gib);
    out.image_type = at(view, shape.image).string();
    out.image_release = at(view, shape.release).string();
    out.labels = labels(last(view, shape.labels));
    out.taints = taints(view, shape.taints);
    let spot = at(view, shape.spot.0);
    out.spot = match spot.string() {
        Fact { known: Known::Value(text), span, .. } => Fact::value(text.eq_ignore_ascii_case(shape.spot.1), span),
        other => other.map(|_| false),
    };
    out.zones = at(view, shape.zones).strings();
    if let Some(accelerator) = ACCELERATORS.iter().map(|path| at(view, path)).find(|v| v.is_some()) {
        let first = |keys: &[&str]| keys.iter().map(|key| accelerator.get(key)).find(|v| v.is_some());
        let get = |keys| first(keys).unwrap_or(View::new(None, accelerator.place()));
        out.accelerator = get(&["type", "accelerator_type"]).string();
        out.accelerator_count = get(&["count", "accelerator_count", "core_count"]).int();
        out.driver_mode = at(accelerator, "gpu_driver_installation_config.gpu_driver_version").string();
    }
    out.driver = installed_driver(view);
    out.placement_group = placement_group(view);
    if shape.platform == "ec2" && joins_ecs(view) {
        out.in_ecs = Fact::value(true, span);
    }
    out.in_cluster = if shape.lone { joins_cluster(view, span) } else { Fact::value(true, span) };
    match kind {
        "nebius_mk8s_v1_node_group" => {
            nebius(&mut out, at(view, "template.resources"));
            out.driver_mode = at(view, "template.gpu_settings.drivers_preset").string();
            out.max_nodes = out.max_nodes.or(|| view.get("fixed_node_count").int());
            out.cluster = view.get("parent_id").string();
        }
        "nebius_compute_v1_instance" => nebius(&mut out, view.get("resources")),
        _ => {}
    }
    if shape.platform == "aks" {
        out.driver_mode = view.get("gpu_driver").string();
    }
    out.object = Some(Raw::new(tree, view));
    Some(out)
}

/// The placement group of machines, by its name or by the resource that a template refers to.
fn placement_group(view: View<'_>) -> Fact<String> {
    const PATHS: [&str; 4] =
        ["placement_group", "placement.group_name", "PlacementGroupName", "LaunchTemplateData.Placement.GroupName"];
    let stated = PATHS.iter().map(|path| at(view, path)).find(|found| found.is_some());
    let group = stated.map_or(Fact::absent(view.place()), View::string);
    match group.known {
        Known::Unknown(Why::Variable(name)) => Fact::value(name.into(), group.span),
        known => Fact { known, ..group },
    }
}

/// Every GPU of a machine of a type.
pub(super) fn gpus_of(machine: &Fact<String>) -> Fact<i64> {
    let of = |name: String| match catalog::machine_gpus(&name) {
        Some(count) => Known::Value(count),
        None => Known::Unknown(Why::NotInCatalog(name.into())),
    };
    Fact::watched(|| machine.clone().and_then(of))
}

/// Bytes of so many GiB.
pub(super) fn gib(gib: f64) -> i64 {
    (gib * f64::from(1u32 << 30)) as i64
}

/// What a machine runs when it starts.
pub fn start_scripts(view: View<'_>) -> Vec<Traced> {
    startup::ATTRIBUTES.iter().filter_map(|path| at(view, path).traced()).collect()
}

/// What a resource holds of what its machines run when they start.
pub fn stated_scripts(
    view: View<'_>,
    kind: &Fact<String>,
    name: &Fact<String>,
) -> impl Iterator<Item = Arc<StartScript>> {
    start_scripts(view).into_iter().map(|script| start_script(&script, kind, name))
}

/// A start script as it is written.
pub fn start_script(script: &Traced, kind: &Fact<String>, name: &Fact<String>) -> Arc<StartScript> {
    let mut out = StartScript::blank(script.whole());
    (out.kind, out.name) = (kind.clone(), name.clone());
    out.text = Fact::value(script.text().to_owned(), script.whole());
    Arc::new(out)
}

/// The driver that the start script of a machine installs: NVIDIA's runfile, local repository package, or a
/// distribution's branch package.
fn installed_driver(view: View<'_>) -> Fact<Version> {
    start_scripts(view).iter().find_map(driver_in).unwrap_or_else(|| Fact::absent(view.place()))
}

/// What makes a machine a node of a cluster when its start script runs it.
const CLUSTER_AGENTS: &[&str] =
    &["kubeadm", "kubelet", "k3s", "k0s", "rke2", "microk8s", "nodeadm", "/etc/eks/bootstrap.sh"];

/// Whether a machine by itself is a node of a cluster: nothing but its start script would tell.
fn joins_cluster(view: View<'_>, span: Span) -> Fact<bool> {
    let joins = |script: &Traced| CLUSTER_AGENTS.iter().any(|agent| script.text().contains(agent));
    match start_scripts(view).iter().any(joins) {
        true => Fact::value(true, span),
        false => Fact::unknown(Why::NotStated("whether the machine joins a cluster".into()), span),
    }
}

/// Whether something says of a machine that it joins a cluster of Amazon ECS: its image, its profile, what it runs when it starts.
fn joins_ecs(view: View<'_>) -> bool {
    let says = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.to_lowercase().starts_with("ecs"))
    };
    // Nodes as they are written: what refers to others may lead back.
    let mut nodes: Vec<Node<'_>> = view.node().into_iter().collect();
    while let Some(node) = nodes.pop() {
        if node.text().is_some_and(says) {
            return true;
        }
        nodes.extend(node.items());
        nodes.extend(node.entries().iter().map(|(_, child)| *child));
    }
    false
}

/// A driver version in an install command.
pub fn driver_in(script: &Traced) -> Option<Fact<Version>> {
    let text = script.text();
    ["NVIDIA-Linux-x86_64-", "NVIDIA-Linux-aarch64-", "cuda-repo-", "nvidia-driver-local-repo-"].iter().find_map(
        |marker| {
            let at = text.find(marker)?;
            let word = text[at..].split_whitespace().next()?;
            // The driver is the last dotted number of three digits and more: cuda-repo-ubuntu2004-11-6-local_11.6.2-510.47.03-1.
            let mut start = at;
            for part in word.split(['-', '_']) {
                let body = part.trim_end_matches(".run");
                if let Some(version) = Version::parse(body).filter(|v| v.major() >= 300 && v.release().len() >= 2) {
                    return Some(Fact::value(version, script.span(start..start + body.len())));
                }
                start += part.len() + 1;
            }
            None
        },
    )
}

/// A map of labels, or a list of blocks with key and value.
pub(super) fn labels(view: View<'_>) -> Labels {
    if !view.node().is_some_and(Node::is_seq) {
        return kubernetes::labels(view);
    }
    let field = |item: View<'_>, lower: &str, upper: &str| item.get(lower).string().or(|| item.get(upper).string());
    let label = |item: View<'_>| match field(item, "key", "Key") {
        Fact { known: Known::Value(key), .. } => (key, field(item, "value", "Value")),
        unknown => (REST.to_owned(), unknown),
    };
    view.items().map(label).collect()
}

/// Taints as blocks of key, value and effect, or as texts `key=value:effect`.
pub(super) fn taints(view: View<'_>, path: &str) -> Vec<Taint> {
    last(view, path)
        .items()
        .map(|item| {
            let mut out = Taint::blank(item.place());
            match item.traced() {
                Some(text) => {
                    let whole = text.text();
                    let (pair, effect) = whole.rsplit_once(':').unwrap_or((whole, ""));
                    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                    let fact = |t: &str| Fact::value(t.to_owned(), text.whole());
                    (out.key, out.value, out.effect) = (fact(key), fact(value), fact(effect));
                }
                None => {
                    let field = |lower: &str, upper: &str| item.get(lower).string().or(|| item.get(upper).string());
                    out.key = field("key", "Key");
                    out.value = field("value", "Value");
                    out.effect = field("effect", "Effect").map(|e| effect(&e).to_owned());
                }
            }
            out
        })
        .collect()
}

/// The effect in Kubernetes' spelling.
pub(super) fn effect(text: &str) -> &str {
    match text {
        "NO_SCHEDULE" => "NoSchedule",
        "PREFER_NO_SCHEDULE" => "PreferNoSchedule",
        "NO_EXECUTE" => "NoExecute",
        other => other,
    }
}

/// A version in a text, for clusters.
pub fn version(view: View<'_>) -> Fact<Version> {
    view.parse(Version::parse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    #[test]
    fn start_scripts_tell_the_driver() {
        for (script, driver) in [
            ("wget https://x/cuda-repo-ubuntu2004-11-6-local_11.6.2-510.47.03-1_amd64.deb", "510.47.03"),
            ("sh NVIDIA-Linux-x86_64-535.104.05.run --silent", "535.104.05"),
        ] {
            let text = Traced::verbatim(script, Span::new(SourceId(0), 0..script.len()), 0);
            let fact = driver_in(&text).expect(script);
            assert_eq!(&script[fact.span.range()], driver);
        }
        let none = "apt-get install -y curl";
        assert!(driver_in(&Traced::verbatim(none, Span::new(SourceId(0), 0..none.len()), 0)).is_none());
    }
}
