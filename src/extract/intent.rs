//! What a workload is for: training, serving, notebook, batch or agent, with the evidence. Knows kinds,
//! launchers and names.

use crate::catalog;
use crate::facts::{Container, Workload};
use crate::known::{Fact, Why};
use crate::source::Span;

/// Kinds that tell by themselves.
const KINDS: &[(&str, &str)] = &[
    ("PyTorchJob", "training"),
    ("TFJob", "training"),
    ("MPIJob", "training"),
    ("JAXJob", "training"),
    ("XGBoostJob", "training"),
    ("PaddleJob", "training"),
    ("TrainJob", "training"),
    ("HyperPodPyTorchJob", "training"),
    ("InferenceService", "serving"),
    ("LLMInferenceService", "serving"),
    ("ServingRuntime", "serving"),
    ("ClusterServingRuntime", "serving"),
    ("NIMService", "serving"),
    ("RayService", "serving"),
    ("DynamoGraphDeployment", "serving"),
    ("Notebook", "notebook"),
    ("DaemonSet", "agent"),
];

/// Engines that train.
const TRAINERS: &[&str] =
    &["torchrun", "accelerate", "deepspeed", "mpirun", "axolotl", "llama-factory", "torchtune", "trl"];

/// The intent of a workload; unknown when nothing tells.
pub fn of(workload: &Workload) -> Fact<String> {
    let kind = workload.kind.get().map_or("", String::as_str);
    let known = |intent: &str, span: Span| Fact::value(intent.to_owned(), span);
    if let Some((_, intent)) = KINDS.iter().find(|(k, _)| *k == kind) {
        return known(intent, workload.kind.span);
    }
    let containers = || workload.pods.iter().flat_map(|p| &p.containers);
    if let Some((intent, span)) = containers().find_map(by_launch) {
        return known(intent, span);
    }
    if let Some((intent, span)) = containers().find_map(|c| by_words(c, kind)) {
        return known(intent, span);
    }
    match kind {
        "Job" | "CronJob" | "JobSet" | "Workflow" | "RayJob" => known("batch", workload.kind.span),
        _ => Fact::unknown(Why::NotStated("what it is for".into()), workload.span),
    }
}

fn by_launch(container: &Container) -> Option<(&'static str, Span)> {
    let launch = container.launch.as_ref()?;
    let engine = launch.engine.get()?;
    if engine == "jupyter" {
        return Some(("notebook", launch.engine.span));
    }
    if TRAINERS.contains(&engine.as_str()) {
        return Some(("training", launch.engine.span));
    }
    catalog::server(engine).filter(|s| s.serves).map(|_| ("serving", launch.engine.span))
}

/// Words of the command, the image and the name that tell.
fn by_words(container: &Container, kind: &str) -> Option<(&'static str, Span)> {
    let texts = container.command.iter().chain([&container.image.repository, &container.name]);
    for fact in texts {
        let Some(text) = fact.get().map(|t| t.to_lowercase()) else { continue };
        let says = |words: &[&str]| words.iter().any(|w| text.contains(w));
        if says(&["train", "finetune", "fine-tune", "sft", "pretrain", "dpo", "lora_"]) && kind != "Deployment" {
            return Some(("training", fact.span));
        }
        if says(&["jupyter", "notebook"]) {
            return Some(("notebook", fact.span));
        }
        if says(&["uvicorn", "gunicorn", "serving", "inference", "api_server", "api-server"]) {
            return Some(("serving", fact.span));
        }
    }
    None
}
