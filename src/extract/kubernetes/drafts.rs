//! Pods that operators draft from fields of their own: containers whose resources are called otherwise than in a pod.

use super::{containers, pods};
use crate::catalog;
use crate::facts::{ContainerRole, Pod};
use crate::parse::{Builder, Entry, Node, NodeId, NodeKind, Tree, View};
use crate::source::{Span, Traced};
use std::sync::Arc;

/// A service of a DynamoGraphDeployment: a pod with a main container, whose resources stand beside it.
pub fn dynamo(tree: &Arc<Tree>, service: View<'_>, role: &str) -> Pod {
    let spec = service.get("extraPodSpec");
    let main = spec.get("mainContainer");
    let mut builder = Builder::new(tree.source, tree.dialect);
    let mut entries = Vec::new();
    let resources = service.node().and_then(|node| node.entry("resources"));
    for (key, value) in main.node().into_iter().flat_map(Node::entries_and_rest) {
        if key.text() != Some("resources") || resources.is_none() {
            entries.push(Entry { key: builder.copy(key), value: builder.copy(value) });
        }
    }
    if let Some((key, resources)) = resources {
        entries.push(Entry { key: builder.copy(key), value: of_dynamo(&mut builder, resources) });
    }
    let place = if main.is_some() { main.place() } else { service.place() };
    let mut pod = pods::spec_of(tree, spec.opened(super::open()), role);
    pod.span = service.place();
    add_main(&mut pod, builder, (entries, place));
    pod
}

/// Resources of Dynamo: `gpu` counts those of `gpuType`, what is under `custom` is called as in a pod.
fn of_dynamo(builder: &mut Builder, resources: Node<'_>) -> NodeId {
    let mut lists = Vec::new();
    for (key, list) in resources.entries_and_rest() {
        let name = list.get("gpuType").and_then(Node::text).unwrap_or_else(|| catalog::whole_gpu("nvidia"));
        let mut entries = Vec::new();
        for (key, value) in list.entries_and_rest() {
            match key.text() {
                Some("gpu") => {
                    entries.push(Entry { key: text(builder, name, key.span()), value: builder.copy(value) });
                }
                Some("gpuType") => {}
                Some("custom") => {
                    for (key, value) in value.entries_and_rest() {
                        entries.push(Entry { key: builder.copy(key), value: builder.copy(value) });
                    }
                }
                _ => entries.push(Entry { key: builder.copy(key), value: builder.copy(value) }),
            }
        }
        let value = if list.is_map() { builder.add(NodeKind::Map(entries), list.span()) } else { builder.copy(list) };
        lists.push(Entry { key: builder.copy(key), value });
    }
    builder.add(NodeKind::Map(lists), resources.span())
}

/// The driver or the executors of a Spark application: `gpu` names a resource and how much of it each has.
pub fn spark(tree: &Arc<Tree>, (part, application): (View<'_>, View<'_>), role: &str) -> Pod {
    let mut builder = Builder::new(tree.source, tree.dialect);
    let mut entries = Vec::new();
    let of =
        |view: View<'_>, key| view.node().and_then(|node| node.entry(key)).map(|(key, value)| (key.id(), value.id()));
    let image = of(part, "image").or_else(|| of(application, "image"));
    let others = ["env", "envFrom", "volumeMounts", "securityContext", "ports"].map(|key| of(part, key));
    for (key, value) in image.into_iter().chain(others.into_iter().flatten()) {
        entries.push(Entry { key: builder.copy(tree.node(key)), value: builder.copy(tree.node(value)) });
    }
    let gpu = part.node().and_then(|node| node.get("gpu"));
    let stated = gpu.and_then(|gpu| Some((gpu.get("name")?, gpu.get("quantity")?)));
    if let Some((name, quantity)) = stated {
        let counted = vec![Entry { key: builder.copy(name), value: builder.copy(quantity) }];
        let counted = builder.add(NodeKind::Map(counted), quantity.span());
        let limits = vec![Entry { key: text(&mut builder, "limits", name.span()), value: counted }];
        let limits = builder.add(NodeKind::Map(limits), quantity.span());
        entries.push(Entry { key: text(&mut builder, "resources", name.span()), value: limits });
    }
    let mut pod = pods::spec_of(tree, part, role);
    add_main(&mut pod, builder, (entries, part.place()));
    pod
}

/// Adds the container that an operator makes of some entries, before all others.
pub fn add_main(pod: &mut Pod, mut builder: Builder, (entries, place): (Vec<Entry>, Span)) {
    let root = builder.add(NodeKind::Map(entries), place);
    builder.tree().documents.push(root);
    let tree = Arc::new(builder.finish());
    let view = tree.node(root).view().opened(super::open());
    let container = containers::container(&tree, view, ContainerRole::Main, pod);
    pod.containers.insert(0, container);
    pod.gpus = pods::gpus(pod);
}

/// A word that an operator writes itself, for what stands at a place.
pub fn text(builder: &mut Builder, text: &str, span: Span) -> NodeId {
    builder.add(NodeKind::Scalar { text: Traced::opaque(text, span), plain: false }, span)
}
