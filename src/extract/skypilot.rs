//! SkyPilot tasks: accelerators as the node, `run` as what is launched. Knows its YAML.

use super::{intent, launch, training};
use crate::facts::{Container, ContainerRole, Facts, Gpu, Node, Pod, SharedMemory, Workload, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::{Node as Yaml, Raw, Tree, shell};
use std::sync::Arc;

/// Whether a document is a SkyPilot task.
pub fn is_task(root: Yaml<'_>) -> bool {
    let resources = root.get("resources");
    resources.is_some_and(|r| r.get("accelerators").is_some())
        && (root.get("run").is_some() || root.get("setup").is_some())
}

/// Reads a task.
pub fn read(tree: &Arc<Tree>, root: Yaml<'_>, facts: &mut Facts) {
    let view = root.view();
    let resources = view.get("resources");
    let accelerators = resources.get("accelerators");
    let place = accelerators.place();
    let nodes = view.get("num_nodes").int().or_default(1);
    let mut gpus = Fact::unknown(Why::Ambiguous("several accelerators are allowed".into()), place);
    let mut node = Node::blank(place);
    node.platform = Fact::value("skypilot".to_owned(), place);
    node.spot = resources.get("use_spot").boolean();
    node.instance_type = resources.get("instance_type").string();
    if let Some(text) = accelerators.traced() {
        let (name, count) = text.text().split_once(':').unwrap_or((text.text(), "1"));
        let start = text.text().len() - count.len();
        let span = if text.text().contains(':') { text.span(start..text.text().len()) } else { place };
        gpus = match count.trim().parse::<f64>() {
            Ok(count) => Fact::value(count.ceil() as i64, span),
            Err(_) => Fact::unknown(Why::Malformed(count.into()), span),
        };
        let mut gpu = Gpu::blank(text.span(0..name.len()));
        gpu.id = Fact::value(name.trim().to_owned(), gpu.span);
        node.gpu = Some(gpu);
    }
    let mut container = Container::blank(place);
    container.name = Fact::value("task".to_owned(), place);
    container.role = Fact::value(ContainerRole::Main, place);
    container.env = super::kubernetes::environment(view.get("envs"));
    container.launch = view.get("run").traced().and_then(|run| launch::of_script(&shell::parse(run), &container.env));
    container.training = container.launch.as_ref().and_then(training::of);
    container.gpus = gpus.clone();
    container.gpu_vendor = Fact::value("nvidia".to_owned(), place);
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
