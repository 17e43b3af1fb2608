//! Tasks, jobs and endpoints of clouds that run containers without Kubernetes.

use super::{All, Stated, referred};
use crate::extract::{ecs, kubernetes, launch, lone, machines};
use crate::facts::{Container, ContainerRole, Facts, Node, Pod, Workload, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::Raw;

/// Reads what runs among the resources of a root.
pub fn read(all: &All<'_>, facts: &mut Facts) {
    for stated in &all.stated {
        facts.workloads.extend(match stated.kind.0 {
            "aws_ecs_task_definition" => {
                Some(ecs::task(stated.tree, stated.view, stated.view.get("family").string(), stated.span))
            }
            "aws_batch_job_definition" => {
                ecs::job(stated.tree, stated.view, stated.view.get("name").string(), stated.span)
            }
            "aws_sagemaker_endpoint_configuration" => endpoint(all, stated),
            _ => None,
        });
    }
}

/// A SageMaker endpoint: the container of its model on the machine of its variant.
fn endpoint(all: &All<'_>, stated: &Stated<'_>) -> Option<Workload> {
    let variant = machines::at(stated.view, "production_variants");
    let model = &all.stated[referred(all, stated, &["aws_sagemaker_model"], variant.get("model_name"))?];
    let definition = ["primary_container", "container"]
        .iter()
        .map(|key| machines::at(model.view, key))
        .find(|v| v.node().is_some_and(|n| n.is_map()))?;
    let mut pod = Pod::blank(stated.span);
    pod.role = Fact::value("main".to_owned(), stated.span);
    let mut out: Container = kubernetes::container(model.tree, definition, ContainerRole::Main, &pod);
    out.env = kubernetes::environment(definition.get("environment"));
    out.launch = launch::of(&out, &[]);
    // The service starts the container, and says nowhere with how much.
    out.shm = Fact::unknown(Why::Remote("SageMaker".into()), stated.span);
    out.shm_bytes = Fact::unknown(Why::Remote("SageMaker".into()), stated.span);
    let machine = variant.get("instance_type").string().map(|t| t.trim_start_matches("ml.").to_owned());
    // The endpoint gets every device of its machine.
    out.gpus = machines::gpus_of(&machine);
    pod.gpus = out.gpus.clone();
    let mut node = Node::blank(machine.span);
    node.instance_type = machine;
    pod.node = Some(node);
    pod.replicas = variant.get("initial_instance_count").int().or_default(1);
    pod.containers.push(out);
    let object = Raw::new(stated.tree, stated.view);
    Some(lone((WorkloadFormat::Sagemaker, "endpoint-configuration"), stated.view.get("name").string(), pod, object))
}
