//! Pools of machines of every infrastructure format: which attribute states what. Knows resource types of clouds.

pub mod gke;
pub mod groups;
mod shapes;

use super::{kubernetes, protection, startup};
use crate::catalog;
use crate::facts::value::REST;
use crate::facts::{InfraFormat, Labels, NodePool, StartScript, Taint};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View};
use crate::source::{Span, Traced};
use crate::version::Version;
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
const ACCELERATORS: [&str; 8] = [
    "node_config.guest_accelerator",
    "guest_accelerator",
    "deploy_config.dedicated_resources.machine_spec",
    "gce_setup.accelerator_configs",
    "host.gce_instance.accelerators",
    "accelerator_configs",
    "machineSpec",
    "machine_spec",
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

/// What Baidu Cloud calls a machine: the number and the name of its cards stand at the end of its specification,
/// `bcc.gn3.c10m40.1v100-32g`, or in attributes of their own.
fn baidu(out: &mut NodePool, view: View<'_>) {
    let spec = view.get("instance_spec").string();
    let cards = spec.get().and_then(|spec| spec.split('.').nth(3));
    let named = cards.and_then(|cards| {
        let at = cards.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?;
        Some((cards[..at].parse::<i64>().ok()?, cards[at..].to_owned()))
    });
    match named {
        Some((count, card)) => {
            out.accelerator = Fact::value(card, spec.span);
            out.accelerator_count = Fact::value(count, spec.span);
        }
        None => {
            out.accelerator = view.get("gpu_card").string();
            out.accelerator_count = view.get("card_count").int();
        }
    }
}

fn first_part(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

/// The pool that a resource states, if its type is one.
pub fn pool(tree: &Arc<Tree>, view: View<'_>, (kind, name): (&str, &str), span: Span) -> Option<NodePool> {
    let shape = shapes::of(kind)?;
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
    out.instance_types = stated_types(view, kind).flat_map(View::strings).collect();
    out.min_nodes = at(view, shape.count.0).int();
    out.max_nodes = at(view, shape.count.1).int().or(|| view.get("node_count").int());
    if out.min_nodes.is_absent() && out.max_nodes.is_absent() {
        let size = size(view, shape.size);
        (out.min_nodes, out.max_nodes) = (size.clone(), size);
    }
    out.disk_bytes = item(view, shape.disk_gb, View::float).map(gib);
    out.image_type = item(view, shape.image, image);
    out.image_release = at(view, shape.release).string();
    out.labels = labels(last(view, shape.labels));
    out.taints = taints(view, shape.taints);
    out.spot = spot(view, shape.spot);
    out.zones = zones(view, shape.zones);
    if let Some(accelerator) = ACCELERATORS.iter().map(|path| at(view, path)).find(|v| v.is_some()) {
        let first = |keys: &[&str]| keys.iter().map(|key| accelerator.get(key)).find(|v| v.is_some());
        let get = |keys| first(keys).unwrap_or(View::new(None, accelerator.place()));
        out.accelerator = get(&["type", "accelerator_type", "acceleratorType"]).string();
        out.accelerator_count = get(&["count", "accelerator_count", "acceleratorCount", "core_count"]).int();
        out.driver_mode = at(accelerator, "gpu_driver_installation_config.gpu_driver_version").string();
    }
    out.placement_group = placement_group(view);
    if shape.platform == "ec2" && joins_ecs(view) {
        out.in_ecs = Fact::value(true, span);
    }
    out.in_cluster = match shape.lone {
        // Nothing but its start script would tell.
        true => Fact::unknown(Why::NotStated("whether the machine joins a cluster".into()), span),
        false => Fact::value(true, span),
    };
    match kind {
        "nebius_mk8s_v1_node_group" => {
            nebius(&mut out, at(view, "template.resources"));
            out.driver_mode = at(view, "template.gpu_settings.drivers_preset").string();
            out.max_nodes = out.max_nodes.or(|| view.get("fixed_node_count").int());
            out.cluster = view.get("parent_id").string();
        }
        "nebius_compute_v1_instance" => nebius(&mut out, view.get("resources")),
        "baiducloud_instance" => baidu(&mut out, view),
        "baiducloud_ccev2_instance_group" => {
            let resource = at(view, "spec.instance_template.instance_resource");
            out.accelerator = resource.get("gpu_type").string();
            out.accelerator_count = resource.get("gpu_count").int();
        }
        _ => {}
    }
    if shape.platform == "aks" {
        // The command writes it in small letters.
        let mode = |text: String| if text.eq_ignore_ascii_case("none") { "None".to_owned() } else { text };
        out.driver_mode = view.get("gpu_driver").string().map(mode);
    }
    if shape.platform == "gke" {
        gke::nodes(&mut out, view, None);
    }
    out.object = Some(Raw::new(tree, view));
    Some(out)
}

/// How many machines something states that scales nothing. What changes them leaves the number to others.
fn size(view: View<'_>, path: &str) -> Fact<i64> {
    let stated = at(view, path).int();
    match view.get("lifecycle").is_some() && !stated.is_absent() {
        true => Fact::unknown(Why::NotStated("how many machines there are".into()), stated.span),
        false => stated,
    }
}

/// The zones or subnets of machines, from the first of some paths that is stated. A cloud that is asked for any zone
/// picks one.
pub fn zones(view: View<'_>, paths: &str) -> Vec<Fact<String>> {
    let of = |path: &str| match path.split_once("[].") {
        Some((list, key)) => last(view, list).items().flat_map(|item| at(item, key).strings()).collect(),
        None => at(view, path).strings(),
    };
    let mut found = paths.split(' ').map(of).find(|zones: &Vec<_>| !zones.is_empty()).unwrap_or_default();
    found.retain(|zone| zone.get().is_none_or(|zone| zone != "random"));
    found
}

/// An image, or the parameter of Systems Manager that CloudFormation is to look it up by.
fn image(view: View<'_>) -> Fact<String> {
    let asked = view.node().and_then(Node::text).filter(|text| text.starts_with("{{resolve:ssm:"));
    asked.map_or_else(|| view.string(), |asked| Fact::value(asked.to_owned(), view.place()))
}

/// Whether machines may be taken away: one of some conditions holds.
pub(super) fn spot(view: View<'_>, conditions: &str) -> Fact<bool> {
    let mut out = Fact::absent(view.place());
    for (path, words) in conditions.split_ascii_whitespace().filter_map(|condition| condition.split_once('=')) {
        let stated = at(view, path);
        let holds = match words {
            "" => Fact::value(true, view.place()),
            "*" if stated.is_some() && stated.unknown().is_none() => Fact::value(true, stated.place()),
            words => stated.string().map(|text| words.split('|').any(|word| text.eq_ignore_ascii_case(word))),
        };
        if holds.get() == Some(&true) {
            return holds;
        }
        if !holds.is_absent() && !out.is_unknown() {
            out = holds;
        }
    }
    out
}

/// What stands at a path, of which `list[key=word].path` is about the first item that the condition holds of.
pub(super) fn item<'t, T>(view: View<'t>, path: &str, read: fn(View<'t>) -> Fact<T>) -> Fact<T> {
    let Some((list, rest)) = path.split_once('[') else { return read(at(view, path)) };
    let (condition, path) = rest.split_once("].").unwrap_or((rest, ""));
    let items = || last(view, list).items();
    let key = condition.split('=').next().unwrap_or_default();
    if let Some(second) = items().find(|item| item.get(key).string().get().is_some_and(|name| name == "/dev/xvdb")) {
        let why =
            Why::NotStated("whether the image keeps its system on a disk of its own, as Bottlerocket does".into());
        return Fact::unknown(why, second.place());
    }
    for item in items() {
        match protection::applies(item, condition).known {
            Known::Value(true) => return read(at(item, path)),
            Known::Unknown(why) => return Fact::unknown(why, item.place()),
            Known::Value(false) | Known::Absent => {}
        }
    }
    Fact::absent(view.place())
}

/// What states the machine types of a resource.
pub fn stated_types<'t>(view: View<'t>, kind: &str) -> impl Iterator<Item = View<'t>> {
    shapes::of(kind).into_iter().flat_map(|shape| shape.types).map(move |path| at(view, path))
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

/// Whether something says of a machine that it joins a cluster of Amazon ECS: its image, its profile, what it runs when it starts.
fn joins_ecs(view: View<'_>) -> bool {
    let said = |line: &str| {
        line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.to_lowercase().starts_with("ecs"))
    };
    let says = |text: &str| startup::lines_of(text).any(said);
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
                Some(text) => out = taint(&text),
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

/// A taint as a text `key=value:effect`.
pub(super) fn taint(text: &Traced) -> Taint {
    let whole = text.text();
    let (pair, effect) = whole.rsplit_once(':').unwrap_or((whole, ""));
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    let fact = |t: &str| Fact::value(t.to_owned(), text.whole());
    let mut out = Taint::blank(text.whole());
    (out.key, out.value, out.effect) = (fact(key), fact(value), fact(effect));
    out
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
