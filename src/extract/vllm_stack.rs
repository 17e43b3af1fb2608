//! Values of vllm-stack, the chart of vLLM's production stack: the servers of its models, as the Deployments that the chart
//! makes of them. What its release decides is unknown.

use super::draft::{Draft, left};
use crate::facts::Facts;
use crate::known::{Fact, Why};
use crate::parse::{Node, NodeId, NodeKind, Raw, View};
use crate::source::Span;

/// Keys of `vllmConfig` with the options that they become in every release of the chart.
const OPTIONS: [(&str, &str); 4] = [
    ("maxModelLen", "--max-model-len"),
    ("dtype", "--dtype"),
    ("tensorParallelSize", "--tensor-parallel-size"),
    ("maxNumSeqs", "--max-num-seqs"),
];

/// The resource of a server that names no other.
const GPU: &str = "nvidia.com/gpu";

/// Whether values are of this chart: servers, each of which names its model.
pub fn is_values(values: View<'_>) -> bool {
    values.path("servingEngineSpec.modelSpec").items().any(|server| server.get("modelURL").is_some())
}

/// Reads the servers of a release; its name and namespace are those of the release.
pub fn read(whole: &Raw, (name, namespace): (&Fact<String>, &Fact<String>), facts: &mut Facts) {
    let Some(root) = whole.view().node() else { return };
    let mut draft = Draft::new(whole, root, (name, namespace));
    let engine = draft.values.get("servingEngineSpec");
    if engine.get("enableEngine").boolean().get() == Some(&false) {
        return;
    }
    // With `raySpec` a model is served by a cluster of Ray, which is another object.
    let servers = engine
        .get("modelSpec")
        .items()
        .filter(|of| of.node().is_some_and(Node::is_map) && !of.get("raySpec").is_some());
    let objects: Vec<NodeId> = servers.map(|of| server(&mut draft, engine, of)).collect();
    draft.finish(&objects, facts);
}

/// The Deployment of a server.
fn server<'t>(draft: &mut Draft<'t>, engine: View<'t>, of: View<'t>) -> NodeId {
    let span = of.place();
    let named = draft.name.get().cloned().zip(of.get("name").string().get().cloned());
    let name = match named {
        Some((release, name)) => draft.text(&format!("{release}-{name}-deployment-vllm"), of.get("name").place()),
        None => draft.add(NodeKind::Unknown(Why::NotStated("the name of the release".into())), span),
    };
    let mut metadata = vec![("name", name)];
    metadata.extend(draft.namespace.get().cloned().map(|text| ("namespace", draft.text(&text, span))));
    let mut spec: Vec<_> =
        of.get("replicaCount").node().map(|node| ("replicas", draft.copy(node))).into_iter().collect();
    spec.push(("strategy", stated(draft, engine.get("strategy"), span)));
    spec.push(("progressDeadlineSeconds", draft.add(left(), span)));
    let template = template(draft, engine, of);
    spec.push(("template", template));
    let spec = draft.map(spec, span);
    draft.object(("apps/v1", "Deployment"), (metadata, spec), span)
}

/// What stands there, or what the chart has in its place.
fn stated<'t>(draft: &mut Draft<'t>, view: View<'t>, span: Span) -> NodeId {
    match view.node() {
        Some(node) => draft.copy(node),
        None => draft.add(left(), span),
    }
}

fn template<'t>(draft: &mut Draft<'t>, engine: View<'t>, of: View<'t>) -> NodeId {
    let span = of.place();
    let mut spec = draft.copied(engine, &["tolerations", "schedulerName"]);
    spec.extend(draft.copied(of, &["priorityClassName", "serviceAccountName", "nodeName"]));
    for key in ["runtimeClassName", "securityContext"] {
        let value = stated(draft, engine.get(key), span);
        spec.push((key, value));
    }
    if let Some(terms) = of.get("nodeSelectorTerms").node().filter(|_| !of.get("nodeName").is_some()) {
        let mut inner = draft.copy(terms);
        for key in ["nodeSelectorTerms", "requiredDuringSchedulingIgnoredDuringExecution", "nodeAffinity"] {
            inner = draft.map(vec![(key, inner)], terms.span());
        }
        spec.push(("affinity", inner));
    }
    spec.push(("volumes", draft.add(left(), span)));
    let container = container(draft, engine, of);
    let containers = draft.list(vec![container], span);
    spec.push(("containers", containers));
    let metadata = draft.copied(of, &["podAnnotations"]).into_iter().map(|(_, node)| ("annotations", node)).collect();
    let (metadata, spec) = (draft.map(metadata, span), draft.map(spec, span));
    draft.map(vec![("metadata", metadata), ("spec", spec)], span)
}

fn container<'t>(draft: &mut Draft<'t>, engine: View<'t>, of: View<'t>) -> NodeId {
    let span = of.place();
    let mut entries = vec![("name", draft.text("vllm", span))];
    let (repository, tag) = (of.get("repository").string(), of.get("tag").string());
    let image = match (repository.get(), tag.get()) {
        (Some(repository), Some(tag)) => draft.text(&format!("{repository}:{tag}"), of.get("tag").place()),
        _ => draft.add(left(), span),
    };
    entries.push(("image", image));
    let command = command(draft, of);
    entries.push(("command", command));
    let resources = resources(draft, of);
    entries.push(("resources", resources));
    entries.extend(draft.copied(of, &["env"]));
    for (key, from) in [
        ("securityContext", "containerSecurityContext"),
        ("startupProbe", "startupProbe"),
        ("livenessProbe", "livenessProbe"),
        ("readinessProbe", "readinessProbe"),
        // The chart adds variables, ports and volumes of its own.
        ("envFrom", ""),
        ("ports", ""),
        ("volumeMounts", ""),
    ] {
        let value = stated(draft, engine.get(from), span);
        entries.push((key, value));
    }
    draft.map(entries, span)
}

/// `vllm serve` with the options that are stated, and those that the chart adds, which depend on its release.
fn command<'t>(draft: &mut Draft<'t>, of: View<'t>) -> NodeId {
    let span = of.place();
    let mut words = vec![draft.text("vllm", span), draft.text("serve", span)];
    words.push(stated(draft, of.get("modelURL"), span));
    // Behind the last option it would pass for the value of that one.
    words.push(draft.add(left(), span));
    let config = of.get("vllmConfig");
    for (key, option) in OPTIONS {
        if let Some(value) = config.get(key).node() {
            words.push(draft.text(option, value.span()));
            words.push(draft.copy(value));
        }
    }
    for argument in config.get("extraArgs").items().filter_map(View::node) {
        words.push(draft.copy(argument));
    }
    draft.list(words, span)
}

fn resources<'t>(draft: &mut Draft<'t>, of: View<'t>) -> NodeId {
    let span = of.place();
    let device = of.get("requestGPUType").string().or_default(GPU.to_owned()).get().cloned();
    let asks = |of: View<'t>| of.get("requestGPU").node().filter(|node| node.text() != Some("0"));
    let mut lists = Vec::new();
    for (list, cpu, memory) in [("requests", "requestCPU", "requestMemory"), ("limits", "limitCPU", "limitMemory")] {
        let mut entries: Vec<(&str, NodeId)> = Vec::new();
        for (name, key) in [("cpu", cpu), ("memory", memory)] {
            entries.extend(of.get(key).node().map(|node| (name, draft.copy(node))));
        }
        if let Some((device, count)) = device.as_deref().zip(asks(of)) {
            let count = draft.copy(count);
            entries.push((device, count));
        }
        lists.push((list, draft.map(entries, span)));
    }
    draft.map(lists, span)
}
