//! What KServe deploys of a service: what the service states, laid over the runtime or the configurations that it is based
//! on (`MergeServingRuntimeAndInferenceServiceSpecs`, `mergeSpecs` in its controllers).

use super::workloads;
use crate::budget::Share;
use crate::catalog;
use crate::facts::{Launch, Workload};
use crate::known::Known;
use crate::parse::{Problem, Raw};
use crate::render::kustomize::doc::{self, Doc, Value};
use crate::render::kustomize::patched;
use crate::source::Traced;
use std::sync::Arc;

/// What a pod takes of a runtime beside its containers (`MergePodSpec`).
const OF_RUNTIME: [&str; 7] =
    ["nodeSelector", "affinity", "tolerations", "volumes", "imagePullSecrets", "schedulerName", "resourceClaims"];

/// Fields of a model that are none of its container.
const OF_MODEL: [&str; 6] = ["modelFormat", "runtime", "runtimeVersion", "protocolVersion", "storage", "storageUri"];

/// The image of KServe's own server, which is told what to serve by the fields of the model.
const OWN_SERVER: &str = "huggingfaceserver";

/// Where an LLMInferenceService has pods.
const PODS: [&[&str]; 5] = [
    &["template"],
    &["worker"],
    &["prefill", "template"],
    &["prefill", "worker"],
    &["router", "scheduler", "template"],
];

/// The workload that a service and what it is based on are together; `None` where they do not fit together.
///
/// # Errors
/// It is more than `share` lets it make.
pub fn based(service: &Raw, bases: &[Raw], share: &Share) -> Result<Option<Workload>, Problem> {
    let cut = |spent| Problem { span: service.place, message: format!("what it is based on: {spent}") };
    let read = |raw: &Raw| -> Result<Doc, Problem> {
        let node = raw.view().node();
        node.map_or(Ok(Doc::null(raw.place)), |node| Doc::read(node, share).map_err(cut))
    };
    let mut whole = read(service)?;
    let mut under = bases.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let storage = whole.at(&["spec", "predictor", "model", "storageUri"]).cloned();
    let fitting = match whole.text_at(&["kind"]) {
        Some("InferenceService") => under.pop().and_then(|runtime| predictor(&mut whole, runtime, share)),
        _ => configured(&mut whole, under, share),
    };
    if let Some(spent) = share.spent() {
        return Err(cut(spent));
    }
    if fitting.is_none() {
        return Ok(None);
    }
    let tree = Arc::new(doc::tree(service.place.source, [whole], share).map_err(cut)?);
    let Some(root) = tree.roots().next() else { return Ok(None) };
    let mut problems = Vec::new();
    let mut workload = workloads::read(&tree, root.view(), &super::object(&tree, root.view()), &mut problems);
    let pods = workload.iter_mut().flat_map(|workload| &mut workload.pods);
    for launch in pods.flat_map(|pod| &mut pod.containers).filter_map(|container| container.launch.as_mut()) {
        downloaded(launch, storage.as_ref());
    }
    problems.pop().map_or(Ok(workload), Err)
}

/// What lies where KServe puts a model is what its URI names.
fn downloaded(launch: &mut Launch, storage: Option<&Doc>) {
    let Some(uri) = storage.and_then(|uri| Some((uri.text()?, uri.span))) else { return };
    if launch.model.get().is_some_and(|model| model.trim_end_matches('/') == "/mnt/models") {
        launch.model.known = Known::Value(model_of(uri.0).to_owned());
        launch.model.span = uri.1;
    }
}

/// The model that a URI names: one of Hugging Face by its name, any other by where it is.
pub fn model_of(uri: &str) -> &str {
    uri.strip_prefix("hf://").map_or(uri, |name| name.split(':').next().unwrap_or(name))
}

/// Lays the predictor of an InferenceService over a runtime.
fn predictor(service: &mut Doc, mut runtime: Doc, share: &Share) -> Option<()> {
    let name = runtime.text_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let spec = runtime.get_mut("spec")?;
    let predictor = service.get_mut("spec")?.get_mut("predictor")?;
    let model = predictor.remove("model")?;
    let containers = || spec.get("containers").map(Doc::items).unwrap_or_default().iter();
    let own = containers().find(|container| container.text_at(&["name"]) == Some("kserve-container"))?;
    let container = of_model(model, own, &name);
    let mut over = predictor.clone();
    let beside = over.remove("containers").map(|list| list.items().to_vec()).unwrap_or_default();
    let list = [container].into_iter().chain(beside);
    let list = Doc { value: Value::Seq(list.collect()), span: predictor.span, tag: None };
    over.set(Doc::string("containers", predictor.span), list);
    let base = pod_of(spec);
    let mut merged = patched(base, over, true, share)?;
    if let (Some(base), Some(over)) = (spec.get("workerSpec"), predictor.get("workerSpec")) {
        let mut worker = patched(pod_of(base), over.clone(), true, share)?;
        for size in ["pipelineParallelSize", "tensorParallelSize"] {
            if let (None, Some(stated)) = (over.get(size), base.get(size)) {
                worker.set(Doc::string(size, stated.span), stated.clone());
            }
        }
        merged.set(Doc::string("workerSpec", over.span), worker);
    }
    *predictor = merged;
    Some(())
}

/// What a pod takes of a runtime.
fn pod_of(spec: &Doc) -> Doc {
    let mut pod = Doc::map(spec.span);
    let taken = spec.entries().iter().filter(|(key, _)| {
        key.text().is_some_and(|key| key == "containers" || OF_RUNTIME.contains(&key))
            || matches!(key.value, Value::Unknown(_))
    });
    taken.for_each(|(key, value)| pod.set(key.clone(), value.clone()));
    pod
}

/// The container that a model states, as a patch of that of its runtime, whose arguments come first.
fn of_model(mut model: Doc, own: &Doc, runtime: &str) -> Doc {
    let image = own.get("image").and_then(Doc::text).unwrap_or_default().to_owned();
    let version = model.get("runtimeVersion").cloned();
    let told = image.contains(OWN_SERVER);
    for field in OF_MODEL.iter().filter(|field| !told || ["runtime", "runtimeVersion"].contains(field)) {
        model.remove(field);
    }
    let span = model.span;
    model.set(Doc::string("name", span), Doc::string("kserve-container", span));
    let both = own.get("args").zip(model.get("args"));
    if let Some((first, last)) = both {
        let unknown = [first, last].into_iter().find(|args| matches!(args.value, Value::Unknown(_))).cloned();
        let all = || first.items().iter().chain(last.items()).cloned().collect();
        let args = unknown.unwrap_or_else(|| Doc { value: Value::Seq(all()), span: last.span, tag: None });
        model.set(Doc::string("args", last.span), args);
    }
    let suffix = catalog::gpu_suffix(runtime).filter(|_| asks_for_gpus(&model, own));
    let stated = model.get("image").is_some();
    if let Some(own) = own.get("image").filter(|_| !stated && !image.contains("@sha256:")) {
        let changed = match version.as_ref().and_then(|version| Some((version.text()?, version.span))) {
            Some((version, span)) => Some((format!("{}:{version}", untagged(&image)), span)),
            None => suffix.filter(|_| untagged(&image) != image).map(|suffix| (format!("{image}{suffix}"), own.span)),
        };
        if let Some((text, span)) = changed {
            model.set(Doc::string("image", span), Doc::traced(Traced::opaque(text, span)));
        }
    }
    model
}

/// An image without its tag.
fn untagged(image: &str) -> &str {
    image.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(image, |(name, _)| name)
}

/// Whether KServe takes a container for one with GPUs, which no slice of MIG and no other vendor's device is to it
/// (`IsGPUEnabled`).
fn asks_for_gpus(model: &Doc, runtime: &Doc) -> bool {
    let limits = [model, runtime].into_iter().filter_map(|container| container.at(&["resources", "limits"]));
    limits.flat_map(Doc::entries).any(|(name, _)| name.text() == Some("nvidia.com/gpu"))
}

/// Lays an LLMInferenceService over the configurations that it is based on, one over the other.
fn configured(service: &mut Doc, under: Vec<Doc>, share: &Share) -> Option<()> {
    let mut specs = under.into_iter().filter_map(|mut config| config.remove("spec"));
    let own = service.remove("spec")?;
    let mut merged = specs.next()?;
    for over in specs.chain([own]) {
        let pods = PODS.map(|path| Some((merged.at(path)?.clone(), over.at(path)?.clone())));
        let mut both = patched(merged, over, false, share)?;
        for (path, pods) in PODS.iter().zip(pods) {
            let Some((base, over)) = pods else { continue };
            let pod = patched(base, over, true, share)?;
            if let Some(place) = path.iter().try_fold(&mut both, |doc, key| doc.get_mut(key)) {
                *place = pod;
            }
        }
        merged = both;
    }
    service.set(Doc::string("spec", merged.span), merged);
    Some(())
}
