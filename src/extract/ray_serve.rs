//! Applications of Ray Serve in files of their own: the models and the deployments that take GPUs of a cluster which another
//! file states. Knows the configuration of Serve.
//! <https://docs.ray.io/en/latest/serve/production-guide/config.html>

use super::launch;
use crate::catalog;
use crate::facts::value::REST;
use crate::facts::{Container, ContainerRole, EnvVar, Facts, Gpu, Launch, Node as Machine, Pod, WorkloadFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View};
use std::sync::Arc;

/// What a RayService calls its applications where they are read as a document: its own workers run them.
pub const IN_SERVICE: &str = "serveConfigV2.yaml";

/// Whether a document is a configuration of Ray Serve.
pub fn is_config(root: Node<'_>) -> bool {
    let applications = root.get("applications").into_iter().flat_map(Node::items);
    applications.filter(|application| application.is_map()).any(|application| application.get("import_path").is_some())
}

/// Reads the replicas that take GPUs.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    if path == IN_SERVICE {
        return;
    }
    for application in root.view().get("applications").items() {
        for model in
            application.path("args.llm_configs").items().filter(|model| model.get("model_loading_config").is_some())
        {
            let Some(launch) = launch::of_llm_config(model) else { continue };
            let name = model.path("model_loading_config.model_id").string();
            let (gpus, accelerator) = (of_model(model, &launch), launch.accelerator.clone());
            let own = model.get("deployment_config");
            let mut pod = replica((model, own), gpus, accelerator);
            pod.containers[0].launch = Some(launch);
            facts.workloads.push(super::lone(
                (WorkloadFormat::RayServe, "LLMConfig"),
                name,
                pod,
                Raw::new(tree, model),
            ));
        }
        for deployment in application.get("deployments").items() {
            let options = deployment.get("ray_actor_options");
            let gpus = options.get("num_gpus").int();
            if gpus.get().is_some_and(|&gpus| gpus > 0) {
                let accelerator = options.get("accelerator_type").string();
                let pod = replica((deployment, deployment), gpus, accelerator);
                let name = deployment.get("name").string();
                let kind = (WorkloadFormat::RayServe, "deployment");
                facts.workloads.push(super::lone(kind, name, pod, Raw::new(tree, deployment)));
            }
        }
    }
}

/// GPUs that Ray reserves for a replica of a model: one for each rank, where no placement of its own is stated.
fn of_model(model: View<'_>, launch: &Launch) -> Fact<i64> {
    let stated = ["placement_group_config", "resources_per_bundle", "use_cpu"].map(|key| model.get(key));
    if let Some(own) = stated.into_iter().find(|own| own.is_some()) {
        return Fact::unknown(Why::NotModelled("a placement of one's own".into()), own.place());
    }
    let ranks = |stated: &Fact<i64>| stated.clone().or_default(1);
    ranks(&launch.tensor_parallel).times(&ranks(&launch.pipeline_parallel))
}

/// The pod that a replica is. What its workers set and mount beside it, the cluster states.
fn replica((view, own): (View<'_>, View<'_>), gpus: Fact<i64>, accelerator: Fact<String>) -> Pod {
    let place = view.place();
    let elsewhere = || Why::NotStated("what the cluster of Ray gives its workers".into());
    let mut container = Container::blank(place);
    container.role = Fact::value(ContainerRole::Main, place);
    let vendor = |name: String| {
        let card = catalog::gpus_called(&name).next();
        card.map_or(Known::Absent, |card| Known::Value(card.vendor.to_owned()))
    };
    container.gpu_vendor = match accelerator.is_absent() {
        true => Fact::unknown(elsewhere(), place),
        false => accelerator.clone().and_then(vendor),
    };
    container.device = Fact::value("gpu".to_owned(), gpus.span);
    container.device_name = Fact::value("GPU".to_owned(), gpus.span);
    container.shm = Fact::unknown(elsewhere(), place);
    container.shm_bytes = Fact::unknown(elsewhere(), place);
    container.gpus = gpus.clone();
    let rest = EnvVar { value: Fact::unknown(elsewhere(), place), ..EnvVar::blank(place) };
    container.env.insert(REST.to_owned(), Box::new(rest));
    let mut pod = Pod::blank(place);
    pod.role = Fact::value("main".to_owned(), place);
    let scaled = own.get("autoscaling_config");
    pod.replicas = match scaled.is_some() {
        true => Fact::unknown(Why::LeftTo("the autoscaler of Ray Serve".into()), scaled.place()),
        false => own.get("num_replicas").int().or_default(1),
    };
    pod.gpus = gpus;
    if !accelerator.is_absent() {
        let card = Gpu { id: accelerator.clone(), ..Gpu::blank(accelerator.span) };
        pod.node = Some(Machine { gpu: Some(card), ..Machine::blank(accelerator.span) });
    }
    pod.containers.push(container);
    pod
}
