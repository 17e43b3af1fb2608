//! Tasks, jobs and endpoints of clouds that run containers without Kubernetes.

use super::{Stated, referred};
use crate::catalog;
use crate::extract::{kubernetes, launch, lone, machines};
use crate::facts::{Container, EnvVar, Facts, Gpu, Node, Pod, Workload};
use crate::known::Fact;
use crate::parse::{Raw, View};

/// Reads what runs among the resources of a root.
pub fn read(all: &[Stated<'_>], facts: &mut Facts) {
    for stated in all {
        facts.workloads.extend(match stated.kind.0 {
            "aws_ecs_task_definition" => Some(task(stated)),
            "aws_batch_job_definition" => batch(stated),
            "aws_sagemaker_endpoint_configuration" => endpoint(all, stated),
            _ => None,
        });
    }
}

fn pod(stated: &Stated<'_>) -> Pod {
    let mut pod = Pod::blank(stated.span);
    pod.role = Fact::value("main".to_owned(), stated.span);
    pod.replicas = Fact::value(1, stated.span);
    pod
}

/// A container definition of ECS or Batch: the same names in both.
fn container(stated: &Stated<'_>, definition: View<'_>, pod: &Pod) -> Container {
    let mut out: Container = kubernetes::container(stated.tree, definition, "main", pod);
    let environment = definition.get("environment").items().filter_map(|e| {
        let mut variable = EnvVar::blank(e.place());
        variable.name = e.get("name").string();
        variable.value = e.get("value").string();
        Some((variable.name.get()?.clone(), variable))
    });
    out.env = environment.collect();
    let mut requirements = definition.get("resourceRequirements").items();
    if let Some(gpu) = requirements.find(|r| r.get("type").string().get().is_some_and(|t| t == "GPU")) {
        out.gpus = gpu.get("value").int();
        out.gpu_vendor = Fact::value("nvidia".to_owned(), gpu.place());
    }
    out
}

/// An ECS task as a workload of its containers.
fn task(stated: &Stated<'_>) -> Workload {
    let mut pod = pod(stated);
    let mut gpus = Fact::value(0, stated.span);
    for definition in stated.view.get("container_definitions").items() {
        let container = container(stated, definition, &pod);
        if container.gpus.get() != Some(&0) {
            gpus = container.gpus.clone();
        }
        pod.containers.push(container);
    }
    pod.gpus = gpus;
    let object = Raw::new(stated.tree, stated.view);
    lone(("ecs", "task-definition"), stated.view.get("family").string(), pod, object)
}

/// A job of AWS Batch with one container.
fn batch(stated: &Stated<'_>) -> Option<Workload> {
    let definition = stated.view.get("container_properties");
    definition.node().filter(|n| n.is_map())?;
    let mut pod = pod(stated);
    let container = container(stated, definition, &pod);
    pod.gpus = container.gpus.clone();
    pod.containers.push(container);
    let object = Raw::new(stated.tree, stated.view);
    Some(lone(("batch", "job-definition"), stated.view.get("name").string(), pod, object))
}

/// A SageMaker endpoint: the container of its model on the machine of its variant.
fn endpoint(all: &[Stated<'_>], stated: &Stated<'_>) -> Option<Workload> {
    let variant = machines::at(stated.view, "production_variants");
    let model = referred(all, stated, &["aws_sagemaker_model"], variant.get("model_name"))?;
    let definition = ["primary_container", "container"]
        .iter()
        .map(|key| machines::at(model.view, key))
        .find(|v| v.node().is_some_and(|n| n.is_map()))?;
    let mut pod = pod(stated);
    let mut out: Container = kubernetes::container(model.tree, definition, "main", &pod);
    out.env = kubernetes::environment(definition.get("environment"));
    out.launch = launch::of(&out, &[]);
    let machine = variant.get("instance_type").string().map(|t| t.trim_start_matches("ml.").to_owned());
    let row = machine.get().and_then(|t| catalog::instance(t));
    // The endpoint gets every device of its machine.
    out.gpus = Fact::from_option(row.and_then(|row| row.gpu_count), machine.span);
    pod.gpus = out.gpus.clone();
    let mut node = Node::blank(machine.span);
    if let Some(gpu) = machine.get().and_then(|t| catalog::instance_gpu(t)) {
        let mut card = Gpu::blank(machine.span);
        card.id = Fact::value(gpu.id.to_owned(), machine.span);
        node.gpu = Some(card);
    }
    node.instance_type = machine;
    pod.node = Some(node);
    pod.replicas = variant.get("initial_instance_count").int().or_default(1);
    pod.containers.push(out);
    let object = Raw::new(stated.tree, stated.view);
    Some(lone(("sagemaker", "endpoint-configuration"), stated.view.get("name").string(), pod, object))
}
