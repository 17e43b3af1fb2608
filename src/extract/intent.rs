//! What a workload is for: training, serving, notebook, batch or agent, with the evidence. Knows kinds,
//! launchers and names.

use crate::catalog;
use crate::facts::{Container, Intent, Workload};
use crate::known::{Fact, Why};
use crate::source::Span;

/// Kinds that tell by themselves.
const KINDS: &[(&str, Intent)] = &[
    ("PyTorchJob", Intent::Training),
    ("TFJob", Intent::Training),
    ("MPIJob", Intent::Training),
    ("JAXJob", Intent::Training),
    ("XGBoostJob", Intent::Training),
    ("PaddleJob", Intent::Training),
    ("TrainJob", Intent::Training),
    ("HyperPodPyTorchJob", Intent::Training),
    ("InferenceService", Intent::Serving),
    ("LLMInferenceService", Intent::Serving),
    ("ServingRuntime", Intent::Serving),
    ("ClusterServingRuntime", Intent::Serving),
    ("NIMService", Intent::Serving),
    ("RayService", Intent::Serving),
    ("DynamoGraphDeployment", Intent::Serving),
    ("Notebook", Intent::Notebook),
    ("DaemonSet", Intent::Agent),
];

/// The intent of a workload; unknown when nothing tells.
pub fn of(workload: &Workload) -> Fact<Intent> {
    let kind = workload.kind.get().map_or("", String::as_str);
    let known = |intent: Intent, span: Span| Fact::value(intent, span);
    if let Some((_, intent)) = KINDS.iter().find(|(k, _)| *k == kind) {
        return known(*intent, workload.kind.span);
    }
    let containers = || workload.pods.iter().flat_map(|p| &p.containers);
    if let Some((intent, span)) = containers().find_map(by_launch) {
        return known(intent, span);
    }
    if let Some((intent, span)) = containers().find_map(|c| by_words(c, kind)) {
        return known(intent, span);
    }
    match kind {
        "Job" | "CronJob" | "JobSet" | "Workflow" | "RayJob" => known(Intent::Batch, workload.kind.span),
        _ => Fact::unknown(Why::NotStated("what it is for".into()), workload.span),
    }
}

fn by_launch(container: &Container) -> Option<(Intent, Span)> {
    let launch = container.launch.as_ref()?;
    let engine = launch.engine.get()?;
    if catalog::is_launcher(engine) {
        return Some((Intent::Training, launch.engine.span));
    }
    let server = catalog::server(engine)?;
    let intent = if server.notebook { Some(Intent::Notebook) } else { server.serves.then_some(Intent::Serving) };
    intent.map(|intent| (intent, launch.engine.span))
}

/// Words of the command, the image and the name that tell.
fn by_words(container: &Container, kind: &str) -> Option<(Intent, Span)> {
    let texts = container.command.iter().chain([&container.image.repository, &container.name]);
    for fact in texts {
        let Some(text) = fact.get().map(|t| t.to_lowercase()) else { continue };
        let says = |words: &[&str]| words.iter().any(|w| text.contains(w));
        if says(&["train", "finetune", "fine-tune", "sft", "pretrain", "dpo", "lora_"]) && kind != "Deployment" {
            return Some((Intent::Training, fact.span));
        }
        if says(&["jupyter", "notebook"]) {
            return Some((Intent::Notebook, fact.span));
        }
        if says(&["uvicorn", "gunicorn", "serving", "inference", "api_server", "api-server"]) {
            return Some((Intent::Serving, fact.span));
        }
    }
    None
}
