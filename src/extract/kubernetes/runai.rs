//! Workloads of Run:ai: a container whose fields are objects with a value each. What a base workload or the policy of the
//! project states is not here.

use super::{drafts, pods};
use crate::catalog;
use crate::facts::{Pod, SharedMemory};
use crate::known::{Fact, Why};
use crate::parse::{Builder, Entry, NodeId, NodeKind, Tree, View, shell};
use std::sync::Arc;

/// The pod of a workload. https://github.com/run-ai/docs docs/developer/cluster-api/reference
pub fn pod(tree: &Arc<Tree>, spec: View<'_>, role: &str) -> Pod {
    let value = |key: &str| spec.get(key).get("value");
    let based = spec.node().and_then(|spec| spec.get("baseWorkload")).is_some();
    let mut builder = Builder::new(tree.source, tree.dialect);
    let mut entries = Vec::new();
    let mut put = |builder: &mut Builder, key: &str, node: NodeId| {
        let span = builder.tree().node(node).span();
        entries.push(Entry { key: drafts::text(builder, key, span), value: node });
    };
    if let Some(image) = value("image").node() {
        let image = builder.copy(image);
        put(&mut builder, "image", image);
    }
    for (key, called) in [("command", "command"), ("arguments", "args")] {
        // Nothing else states words, unless the workload is based on another one.
        let stated = words(&mut builder, value(key));
        let words = stated.or_else(|| (!based).then(|| builder.add(NodeKind::Seq(vec![]), spec.place())));
        if let Some(words) = words {
            put(&mut builder, called, words);
        }
    }
    let variables = spec.path("environment.items").entries().into_iter().filter_map(|(name, item)| {
        let stated = item.get("value").node()?;
        let name = drafts::text(&mut builder, name, item.place());
        let entries = [("name", name), ("value", builder.copy(stated))]
            .map(|(key, value)| Entry { key: drafts::text(&mut builder, key, item.place()), value });
        Some(builder.add(NodeKind::Map(entries.into()), item.place()))
    });
    let variables: Vec<NodeId> = variables.collect();
    if !variables.is_empty() {
        let env = builder.add(NodeKind::Seq(variables), spec.get("environment").place());
        put(&mut builder, "env", env);
    }
    if let Some(limits) = limits(&mut builder, spec) {
        put(&mut builder, "resources", limits);
    }
    let mut pod = pods::spec_of(tree, View::new(None, spec.place()), role);
    // One where nothing is stated, as of any Job.
    let parallel = spec.node().and_then(|spec| spec.path("parallelism.value"));
    pod.replicas = parallel.map_or(Fact::value(1, spec.place()), |parallel| parallel.view().int());
    drafts::add_main(&mut pod, builder, (entries, spec.place()));
    let large = value("largeShm");
    for container in pod.containers.iter_mut().filter(|_| large.boolean().get() == Some(&true)) {
        container.shm = Fact::value(SharedMemory::Volume, large.place());
        container.shm_bytes = Fact::absent(large.place());
    }
    pod
}

/// The words of a command line that stands in one text, or of a list.
fn words(builder: &mut Builder, view: View<'_>) -> Option<NodeId> {
    let Some(text) = view.traced() else { return view.node().map(|list| builder.copy(list)) };
    let words = shell::parse(&text).commands.into_iter().flat_map(|command| command.words);
    let words =
        words.map(|word| builder.add(NodeKind::Scalar { text: word.traced().clone(), plain: false }, word.span()));
    let words: Vec<NodeId> = words.collect();
    (!words.is_empty()).then(|| builder.add(NodeKind::Seq(words), text.whole()))
}

/// What is asked for: whole GPUs; a part of one, a slice or some of its memory is shared in Run:ai's own way.
fn limits(builder: &mut Builder, spec: View<'_>) -> Option<NodeId> {
    let part = ["gpuMemory", "migProfile", "gpuPortion"].into_iter().map(|key| spec.get(key)).find(|of| of.is_some());
    let gpu = spec.get("gpu").get("value");
    let is_whole = |text: &str| text.parse::<f64>().is_ok_and(|count| count.fract() == 0.0);
    let whole = gpu.node().filter(|gpu| gpu.text().is_none_or(is_whole));
    let count = match (part, whole) {
        (None, Some(gpu)) => builder.copy(gpu),
        (None, None) if !gpu.is_some() => return None,
        (part, _) => {
            let place = part.unwrap_or(gpu).place();
            builder.add(NodeKind::Unknown(Why::NotModelled("a part of a GPU".into())), place)
        }
    };
    let map = |builder: &mut Builder, key: &str, value: NodeId| {
        let span = builder.tree().node(value).span();
        let entry = Entry { key: drafts::text(builder, key, span), value };
        builder.add(NodeKind::Map(vec![entry]), span)
    };
    let limits = map(builder, catalog::whole_gpu("nvidia"), count);
    Some(map(builder, "limits", limits))
}
