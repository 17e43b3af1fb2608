//! Servers whose operators are told what to serve by fields of their own: runtimes of the production stack of vLLM, services
//! of LLMKube, Playgrounds of llmaz, and microservices of NIM with their caches.

use super::{containers, drafts, pods};
use crate::catalog::{self, FieldFlag};
use crate::extract::{image, launch};
use crate::facts::{ContainerRole, Mount, Pod, Volume};
use crate::known::{Fact, Why};
use crate::parse::{Builder, Entry, Node, NodeId, NodeKind, Tree, View};
use crate::quantity;
use crate::source::{Span, Traced};
use std::sync::Arc;

/// The pod of a VLLMRuntime.
pub fn vllm(tree: &Arc<Tree>, spec: View<'_>, role: &str) -> Pod {
    let deployment = spec.get("deploymentConfig");
    let mut pod = pods::spec_of(tree, deployment, role);
    let term = deployment.get("nodeSelectorTerms").items().next();
    if let (Some(term), 1) = (term, deployment.get("nodeSelectorTerms").items().count()) {
        pods::affine(&mut pod, term);
    }
    pod.tolerations = deployment.get("toleration").items().map(pods::toleration).collect();
    pod.runtime_class = deployment.get("runtimeClass").string();
    let mut builder = Builder::new(tree.source, tree.dialect);
    let mut entries = Vec::new();
    let image = deployment.get("image");
    if let (Some(registry), Some(name)) = (image.get("registry").traced(), image.get("name").traced()) {
        let whole = format!("{}/{}", registry.text(), name.text());
        entries.push(entry(&mut builder, "image", (&whole, name.whole())));
    }
    let command = arguments(&mut builder, spec);
    entries.push(pair(&mut builder, "command", command));
    let env = spec.path("vllmConfig.env").node().map(|env| builder.copy(env));
    entries.extend(env.map(|env| pair(&mut builder, "env", env)));
    let limits = resources(&mut builder, deployment.get("resources"));
    entries.push(pair(&mut builder, "resources", limits));
    drafts::add_main(&mut pod, builder, (entries, deployment.place()));
    pod
}

/// The command line of a VLLMRuntime.
fn arguments(builder: &mut Builder, spec: View<'_>) -> NodeId {
    let place = spec.get("vllmConfig").place();
    let mut words: Vec<NodeId> = ["vllm", "serve"].map(|word| drafts::text(builder, word, place)).into();
    words.extend(spec.path("model.modelURL").node().map(|model| builder.copy(model)));
    words.extend(flags(builder, spec, "VLLMRuntime"));
    words.extend(spec.path("vllmConfig.extraArgs").items().filter_map(View::node).map(|node| builder.copy(node)));
    builder.add(NodeKind::Seq(words), place)
}

/// The words of a command line that fields of a kind stand for.
fn flags(builder: &mut Builder, spec: View<'_>, kind: &str) -> Vec<NodeId> {
    let mut words = Vec::new();
    for FieldFlag { field, flag, switch } in catalog::field_flags(kind) {
        let field = spec.path(field);
        let Some(node) = field.node().filter(|node| !node.is_null() && node.text() != Some("")) else { continue };
        if !switch {
            words.push(drafts::text(builder, flag, field.place()));
            words.push(builder.copy(node));
        } else if field.boolean().get() == Some(&true) {
            words.push(drafts::text(builder, flag, field.place()));
        }
    }
    words
}

/// The pod of a service of LLMKube. Its Model, another object, says where the weights are and whose the GPUs are; its operator
/// which image serves where none is stated.
/// <https://github.com/defilantech/LLMKube/blob/main/internal/controller/deployment_builder.go>
pub fn llmkube(tree: &Arc<Tree>, spec: View<'_>, role: &str) -> Pod {
    let mut pod = pods::spec_of(tree, spec, role);
    let (mut builder, stated) = (Builder::new(tree.source, tree.dialect), spec.get("resources"));
    let of_model = || Why::NotStated("the Model that it names".into());
    // The definition of the kind has a default for it.
    let runtime = spec.node().and_then(|spec| spec.get("runtime")).map_or(Some("llamacpp"), Node::text);
    let (words, kind) = match runtime {
        Some("llamacpp") => (&["llama-server", "--model"][..], "LLMKube llamacpp"),
        Some("vllm") => (&["vllm", "serve"][..], "LLMKube vllm"),
        _ => (&[][..], ""),
    };
    let mut entries = Vec::new();
    if !words.is_empty() {
        let place = spec.get("modelRef").place();
        let mut command: Vec<NodeId> = words.iter().map(|word| drafts::text(&mut builder, word, place)).collect();
        command.push(builder.add(NodeKind::Unknown(Why::Variable("Model".into())), place));
        command.extend(flags(&mut builder, spec, kind));
        command.extend(spec.get("extraArgs").items().filter_map(View::node).map(|node| builder.copy(node)));
        let command = builder.add(NodeKind::Seq(command), place);
        entries.push(pair(&mut builder, "command", command));
    }
    let own = if words.is_empty() { &["command", "args"][..] } else { &[] };
    for key in own.iter().chain(&["image", "env", "securityContext"]) {
        let node = spec.get(key).node().map(|node| builder.copy(node));
        entries.extend(node.map(|node| pair(&mut builder, key, node)));
    }
    let limits = resources(&mut builder, stated);
    entries.push(pair(&mut builder, "resources", limits));
    drafts::add_main(&mut pod, builder, (entries, spec.get("modelRef").place()));
    if let Some(container) = pod.containers.first_mut().filter(|container| !container.gpus.is_absent()) {
        container.gpu_vendor = Fact::unknown(of_model(), container.gpus.span);
        container.gpu_resource = container.gpu_vendor.clone();
    }
    pod
}

/// The pod of a Playground of llmaz: the engine that its backend is called after, vLLM where it names none. The BackendRuntime of
/// that name adds arguments and the image; the OpenModel says which weights, and which GPUs where the Playground does not.
/// <https://github.com/InftyAI/llmaz/blob/main/api/inference/v1alpha1/playground_types.go>
pub fn llmaz(tree: &Arc<Tree>, spec: View<'_>, role: &str) -> Pod {
    let mut pod = pods::spec_of(tree, spec, role);
    let backend = ["backendRuntimeConfig", "backendConfig"].map(|key| spec.get(key));
    let backend = backend.into_iter().find(|view| view.is_some()).unwrap_or(backend[0]);
    let of_model = || Why::NotStated("the OpenModel that it names".into());
    let mut container = containers::container(tree, backend, ContainerRole::Main, &pod);
    container.env = containers::environment(backend.get("envs"));
    let name = match backend.node() {
        Some(node) => {
            node.get("backendName").map_or(Fact::value("vllm".to_owned(), node.span()), |name| name.view().string())
        }
        None => Fact::value("vllm".to_owned(), spec.place()),
    };
    let words = containers::words(backend.get("args"));
    let words: Vec<&Traced> = words.iter().collect();
    let place = name.span;
    container.launch = name.get().and_then(|name| launch::of_arguments(name, place, (&words, &container.env)));
    if container.launch.is_some() {
        containers::leave_launch_open(
            &mut container,
            &Why::Remote("what the BackendRuntime adds to the arguments".into()),
        );
    }
    if let Some(launch) = &mut container.launch {
        launch.model = Fact::unknown(of_model(), spec.place());
    }
    if container.gpus.get().is_none_or(|&gpus| gpus == 0) {
        container.gpus = Fact::unknown(of_model(), spec.place());
        container.gpu_vendor = Fact::unknown(of_model(), spec.place());
        container.gpu_resource = container.gpu_vendor.clone();
    }
    pod.containers = vec![container];
    pod.gpus = pods::gpus(&pod);
    pod
}

/// Limits of processor and memory, and of so many GPUs of a type.
fn resources(builder: &mut Builder, stated: View<'_>) -> NodeId {
    let mut limits = Vec::new();
    let named = stated.get("gpuType").node().and_then(Node::text).filter(|name| !name.is_empty());
    let gpu = named.unwrap_or_else(|| catalog::whole_gpu("nvidia"));
    for (key, name) in [("cpu", "cpu"), ("memory", "memory"), ("gpu", gpu)] {
        let Some(node) = stated.get(key).node().filter(|node| node.text() != Some("")) else { continue };
        let value = builder.copy(node);
        let key = drafts::text(builder, name, node.span());
        limits.push(Entry { key, value });
    }
    let limits = builder.add(NodeKind::Map(limits), stated.place());
    let limits = vec![pair(builder, "limits", limits)];
    builder.add(NodeKind::Map(limits), stated.place())
}

fn entry(builder: &mut Builder, key: &str, (value, span): (&str, Span)) -> Entry {
    let value = drafts::text(builder, value, span);
    pair(builder, key, value)
}

fn pair(builder: &mut Builder, key: &str, value: NodeId) -> Entry {
    let span = builder.tree().node(value).span();
    Entry { key: drafts::text(builder, key, span), value }
}

/// Where a NIM keeps its model.
const MODELS: &str = "/model-store";

/// Adds the volume that a NIMService keeps its model on: a claim, or that of a cache of its own.
pub fn model_store(pod: &mut Pod, service: View<'_>) {
    let storage = service.get("storage");
    let (claim, cache) = (storage.get("pvc"), storage.path("nimCache.name"));
    if !claim.is_some() && !cache.is_some() {
        return;
    }
    let mut volume = Volume::blank(if claim.is_some() { claim.place() } else { cache.place() });
    volume.name = Fact::value("model-store".to_owned(), volume.span);
    if claim.is_some() {
        volume.kind = Fact::value("persistentVolumeClaim".to_owned(), claim.place());
        volume.claim = claim.get("name").string();
        take_claim(&mut volume, claim);
    } else {
        volume.kind = Fact::value("nimCache".to_owned(), cache.place());
        volume.claim = cache.string();
    }
    let mut mount = Mount::blank(volume.span);
    mount.path = Fact::value(MODELS.to_owned(), volume.span);
    mount.volume = volume.name.clone();
    pod.containers.iter_mut().for_each(|container| container.mounts.push(mount.clone()));
    pod.volumes.push(volume);
}

/// What a claim of NIM's operator states.
fn take_claim(volume: &mut Volume, claim: View<'_>) {
    volume.size_bytes = claim.get("size").parse(quantity::parse).map(|bytes| bytes as i64);
    let mode = claim.get("volumeAccessMode");
    volume.access_modes = mode.is_some().then(|| mode.string()).into_iter().collect();
}

/// The pod that fills a NIMCache: it runs the image of the model, which fetches what it needs and stops.
pub fn nim_cache(tree: &Arc<Tree>, spec: View<'_>, role: &str) -> Pod {
    let mut pod = pods::spec_of(tree, spec, role);
    let source = spec.get("source");
    let of = ["ngc", "hf", "dataStore"].map(|key| source.get(key)).into_iter().find(|of| of.is_some());
    let mut builder = Builder::new(tree.source, tree.dialect);
    let command = drafts::text(&mut builder, "download-to-cache", source.place());
    let command = builder.add(NodeKind::Seq(vec![command]), source.place());
    let mut entries = vec![pair(&mut builder, "command", command)];
    for key in ["env", "resources"] {
        let node = spec.get(key).node().map(|node| builder.copy(node));
        entries.extend(node.map(|node| pair(&mut builder, key, node)));
    }
    drafts::add_main(&mut pod, builder, (entries, source.place()));
    if let (Some(of), Some(container)) = (of, pod.containers.first_mut()) {
        container.image = image::at(of.get("modelPuller"));
    }
    let claim = spec.path("storage.pvc");
    if claim.is_some() {
        let mut volume = Volume::blank(claim.place());
        volume.name = Fact::value("model-store".to_owned(), claim.place());
        volume.kind = Fact::value("persistentVolumeClaim".to_owned(), claim.place());
        volume.claim = claim.get("name").string();
        take_claim(&mut volume, claim);
        pod.volumes.push(volume);
    }
    pod.gpus = pods::gpus(&pod);
    pod
}
