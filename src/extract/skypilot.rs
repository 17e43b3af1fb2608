//! SkyPilot tasks: accelerators as the node, `run` as what is launched. Knows its YAML.

use super::{intent, launch, training};
use crate::catalog;
use crate::facts::{Container, ContainerRole, Facts, Gpu, Node, Pod, SharedMemory, Workload, WorkloadFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node as Yaml, Raw, Tree, View, shell};
use std::sync::Arc;

/// Whether a document is a SkyPilot task.
pub fn is_task(root: Yaml<'_>) -> bool {
    let resources = root.view().get("resources");
    let states = |view: View<'_>| view.get("accelerators").is_some();
    (states(resources) || choices(resources).any(states)) && (root.get("run").is_some() || root.get("setup").is_some())
}

/// The resources of which SkyPilot chooses one.
fn choices(resources: View<'_>) -> impl Iterator<Item = View<'_>> {
    ["any_of", "ordered"].into_iter().flat_map(move |key| resources.get(key).items())
}

/// The accelerators that are asked for: `H100:8`, `{H100: 8}`, or one of a list of them. The name, the number, or why
/// there is no telling.
fn accelerators(stated: View<'_>) -> (Fact<String>, Fact<i64>) {
    let place = stated.place();
    let unknown = |why: Why| (Fact::unknown(why.clone(), place), Fact::unknown(why, place));
    let Some(text) = stated.traced() else {
        let items: Vec<View<'_>> = stated.items().collect();
        return match (stated.entries().as_slice(), items.as_slice()) {
            ([(name, count)], _) => (Fact::value((*name).to_owned(), place), number(name, count.float())),
            (_, [only]) => accelerators(*only),
            _ => unknown(Why::Ambiguous("several accelerators are allowed".into())),
        };
    };
    if let Some(why) = stated.string().why() {
        return unknown(why.clone());
    }
    let whole = text.text();
    let (name, count) = whole.split_once(':').unwrap_or((whole, ""));
    let span = if count.is_empty() { place } else { text.span(whole.len() - count.len()..whole.len()) };
    let count = match (count, count.trim().parse::<f64>()) {
        ("", _) => Fact::value(1.0, span),
        (_, Ok(count)) => Fact::value(count, span),
        (_, Err(_)) => Fact::unknown(Why::Malformed(count.into()), span),
    };
    (Fact::value(name.trim().to_owned(), text.span(0..name.len())), number(name, count))
}

/// A part of a GPU is one that is shared; a TPU is named as a slice of chips.
fn number(name: &str, count: Fact<f64>) -> Fact<i64> {
    count.and_then(|count| match name.starts_with("tpu-") {
        true => Known::Unknown(Why::NotModelled("the chips of a TPU slice".into())),
        false => Known::Value(count.ceil() as i64),
    })
}

/// The vendor of what a name stands for.
fn vendor(name: &Fact<String>) -> Fact<String> {
    name.clone().and_then(|name| match catalog::gpu(&name) {
        Some(gpu) => Known::Value(gpu.vendor.to_owned()),
        None => Known::Unknown(Why::NotInCatalog(name.into())),
    })
}

/// Reads a task.
pub fn read(tree: &Arc<Tree>, root: Yaml<'_>, facts: &mut Facts) {
    let view = root.view();
    let resources = view.get("resources");
    let chosen: Vec<View<'_>> = choices(resources).collect();
    let stated = match chosen.as_slice() {
        [] => resources.get("accelerators"),
        [only] => only.get("accelerators"),
        _ => View::new(None, chosen[0].place()),
    };
    let place = stated.place();
    let nodes = view.get("num_nodes").int().or_default(1);
    let (name, gpus) = accelerators(stated);
    let mut node = Node::blank(place);
    node.platform = Fact::value("skypilot".to_owned(), place);
    node.spot = resources.get("use_spot").boolean();
    node.instance_type = resources.get("instance_type").string();
    let mut gpu = Gpu::blank(name.span);
    gpu.id = name.clone();
    node.gpu = Some(gpu);
    let mut container = Container::blank(place);
    container.name = Fact::value("task".to_owned(), place);
    container.role = Fact::value(ContainerRole::Main, place);
    container.env = super::kubernetes::environment(view.get("envs"));
    container.launch = view.get("run").traced().and_then(|run| launch::of_script(&shell::parse(&run), &container.env));
    container.training = container.launch.as_deref().and_then(training::of);
    container.gpus = gpus.clone();
    container.gpu_vendor = vendor(&name);
    container.shm = Fact::value(SharedMemory::Host, place);
    let mut pod = Pod::blank(place);
    pod.role = Fact::value("main".to_owned(), place);
    pod.replicas = nodes.clone();
    pod.gpus = gpus.clone();
    pod.spot = node.spot.clone();
    pod.node = Some(node);
    pod.containers.push(container);
    let mut out = Workload::blank(place);
    out.format = Fact::value(WorkloadFormat::Skypilot, place);
    out.kind = Fact::value("task".to_owned(), place);
    out.name = view.get("name").string();
    out.replicas = Fact::value(1, place);
    out.group_size = nodes.clone();
    out.group_gpus = match (nodes.get(), gpus.get()) {
        (Some(nodes), Some(count)) => Fact::value(nodes.saturating_mul(*count), gpus.span),
        _ => gpus.clone(),
    };
    out.gpus = out.group_gpus.clone();
    out.gang = Fact::value(true, place);
    out.object = Some(Raw::new(tree, view));
    out.pods.push(pod);
    out.intent = intent::of(&out);
    facts.workloads.push(out);
}
