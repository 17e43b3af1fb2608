//! Workspaces, sets and roles of inference and retrieval engines of Kaito: a preset, or the operator's own server, on machines of a type.

use super::pods;
use crate::catalog;
use crate::extract::machines;
use crate::facts::{Container, ContainerRole, Launch, Pod, SharedMemory};
use crate::known::{Fact, Why};
use crate::parse::{Raw, Tree, View};
use std::sync::Arc;

/// The label of nodes that the operator selects by the type of the machine.
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// Whether there is something to run: machines that are asked for, or a preset or a template on machines that are there.
pub fn is_stated(view: View<'_>, resource: View<'_>) -> bool {
    let runs = |key: &str| view.get("inference").get(key).is_some();
    resource.get("instanceType").is_some() || runs("preset") || runs("template")
}

/// Kaito's pods: the operator makes them from a preset or a template; the machine type and their number are stated.
pub fn pods(tree: &Arc<Tree>, view: View<'_>, resource: View<'_>) -> Vec<Pod> {
    let machine = resource.get("instanceType");
    let count = resource.get("count");
    let count = if count.is_some() { count } else { resource.get("replicas") };
    let place = |mut pod: Pod| {
        pod.replicas = count.int().or_default(1);
        if machine.is_some() {
            pod.node_selector.entry(INSTANCE_TYPE.to_owned()).or_insert_with(|| machine.string());
        }
        pod
    };
    let template = view.opened(super::open()).path("inference.template");
    if template.path("spec.containers").is_some() || template.get("containers").is_some() {
        return vec![place(pods::template(tree, template, "main", Fact::absent(resource.place())))];
    }
    let mut pod = place(Pod::blank(resource.place()));
    pod.role = Fact::value("main".to_owned(), resource.place());
    pod.gpus = Fact::unknown(Why::Remote("the preset and the machine type".into()), machine.place());
    pod.containers.extend(preset(view, resource, &pod));
    pod.spec = Some(Raw::new(tree, view.opened(super::open())));
    vec![pod]
}

/// What a preset of Kaito launches on one node: vLLM over its GPUs, with the longest request that fits. How many nodes it
/// takes is stated, or the operator finds out.
fn preset(view: View<'_>, resource: View<'_>, pod: &Pod) -> Option<Container> {
    let name = view.path("inference.preset.name");
    let name = if name.is_some() { name } else { view.path("model.name") };
    let machine = resource.get("instanceType");
    let gpus = match machine.is_some() {
        true => machines::gpus_of(&machine.string()),
        false => Fact::unknown(Why::NotStated("the machine type".into()), machine.place()),
    };
    let mut out = Container::blank(name.is_some().then(|| name.place())?);
    out.name = name.string();
    out.role = Fact::value(ContainerRole::Main, name.place());
    out.gpus = gpus.clone();
    out.gpu_resource = match resource.path("partition.mode").is_some() {
        true => Fact::unknown(Why::LeftTo("how the cluster offers its slices".into()), machine.place()),
        false => Fact::value(catalog::whole_gpu("nvidia").to_owned(), machine.place()),
    };
    out.gpu_vendor = Fact::value("nvidia".to_owned(), machine.place());
    // The operator mounts a memory volume at /dev/shm.
    out.shm = Fact::value(SharedMemory::Volume, name.place());
    let mut launch = Box::new(Launch::blank(name.place()));
    launch.engine = Fact::value("vllm".to_owned(), name.place());
    launch.model = name.string();
    launch.tensor_parallel = gpus;
    launch.pipeline_parallel = resource.get("count").int();
    if launch.pipeline_parallel.is_absent() {
        launch.pipeline_parallel = Fact::unknown(Why::Remote("the number of nodes".into()), pod.span);
    }
    launch.flags.insert("max-model-len".to_owned(), Fact::value("auto".to_owned(), name.place()));
    out.launch = Some(launch);
    Some(out)
}
