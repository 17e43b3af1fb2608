//! Models of KubeAI: an engine, the model that it serves and its arguments; what a profile of resources gives stands in the
//! configuration of the operator.

use super::containers;
use crate::extract::{image, launch};
use crate::facts::{Container, ContainerRole, Pod, SharedMemory};
use crate::known::{Fact, Known, Why};
use crate::parse::{Raw, Tree, View};
use crate::source::Traced;
use std::sync::Arc;

/// The pod of a model, whose replicas its autoscaler manages (`internal/modelcontroller`).
pub fn pod(tree: &Arc<Tree>, spec: View<'_>) -> Pod {
    let profile = spec.get("resourceProfile");
    let mut pod = Pod::blank(spec.place());
    pod.role = Fact::value("main".to_owned(), spec.place());
    pod.replicas = Fact::value(1, spec.place());
    pod.priority_class = spec.get("priorityClassName").string();
    pod.gpus = Fact::unknown(Why::Remote("the resource profile".into()), profile.place());
    pod.containers.push(container(spec, &pod.gpus));
    pod.spec = Some(Raw::new(tree, spec.opened(super::open())));
    pod
}

fn container(spec: View<'_>, gpus: &Fact<i64>) -> Container {
    let engine = spec.get("engine");
    let mut out = Container::blank(engine.place());
    out.name = Fact::value("server".to_owned(), engine.place());
    out.role = Fact::value(ContainerRole::Main, engine.place());
    out.image = image::at(spec.get("image"));
    out.env = containers::environment(spec.get("env"));
    out.gpus = gpus.clone();
    out.gpu_resource = gpus.clone().and_then(|_| Known::Absent);
    out.gpu_vendor = out.gpu_resource.clone();
    // The operator mounts a memory volume at /dev/shm.
    out.shm = Fact::value(SharedMemory::Volume, engine.place());
    let words = containers::words(spec.get("args"));
    let words: Vec<&Traced> = words.iter().collect();
    out.command = words.iter().map(|word| containers::word(word)).collect();
    out.launch = engine.string().get().and_then(|name| {
        let mut launch = launch::of_arguments(&name.to_lowercase(), engine.place(), (&words, &out.env))?;
        launch.model = model(spec.get("url"));
        Some(launch)
    });
    if let Some(why) = containers::open_words(spec.get("args")) {
        containers::leave_launch_open(&mut out, &why);
    }
    out
}

/// The model that a URL names: one of Hugging Face or of Ollama by its name, any other by where it is.
fn model(url: View<'_>) -> Fact<String> {
    url.string().map(|url| {
        let path = ["hf://", "ollama://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        path.and_then(|path| path.split('?').next()).unwrap_or(&url).to_owned()
    })
}
