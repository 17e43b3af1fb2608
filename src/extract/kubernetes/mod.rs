//! Kubernetes documents. Knows the API's objects, their defaults and the kinds that carry pods.

mod applications;
mod bases;
mod claims;
mod containers;
mod device_config;
mod drafts;
mod exposure;
mod holodeck;
mod kaito;
mod kubeai;
mod nodes;
mod objects;
mod places;
mod pods;
mod queues;
mod ray;
mod releases;
mod runai;
mod servers;
mod workloads;

pub use bases::{based, model_of};
pub use containers::{
    container, environment, leave_launch_open, looks_like_container, open_words, resources, word, words,
};
pub use places::{open, places_pods};
pub use pods::{gpus, labels, scheduling};
pub use releases::in_values;

use super::{embedded, machinery, protection, ray_serve, training};
use crate::facts::{Facts, Object};
use crate::known::Fact;
use crate::parse::{Builder, Dialect, Entry, Node, NodeKind, Raw, Tree, View, mask, yaml};
use crate::source::Traced;
use std::sync::Arc;

/// Whether a document is a Kubernetes object.
pub fn is_object(root: Node<'_>) -> bool {
    let text = |key| root.get(key).and_then(Node::text).is_some();
    text("apiVersion") && text("kind")
}

/// Reads the objects in a text of any number of documents that was put together elsewhere, around the expressions that
/// were left in it.
pub fn text(text: &Traced, facts: &mut Facts) {
    let mut tree = yaml::parse_traced(text, Dialect::Kubernetes);
    if !tree.problems.is_empty() && text.text().contains("${") {
        let masked = Traced::tiled(mask::mask(text.text()), text.whole(), text.tiles().into_owned());
        tree = yaml::parse_traced(&masked, Dialect::Kubernetes);
        let place = |condition: mask::Condition| mask::Condition {
            range: text.span(condition.range.clone()).range(),
            ..condition
        };
        tree.doubt(&mask::conditions(text.text()).into_iter().map(place).collect::<Vec<_>>());
    }
    let tree = Arc::new(tree);
    tree.roots().filter(|root| is_object(*root)).for_each(|root| document(&tree, root, facts));
}

/// Reads objects that are not applied as they are written.
pub fn drafted(facts: &mut Facts, read: impl FnOnce(&mut Facts)) {
    let first = facts.objects.len();
    read(facts);
    for object in &mut facts.objects[first..] {
        let object = Arc::make_mut(object);
        object.drafted = Fact::value(true, object.span);
    }
}

/// Reads one document; whatever has items is a list to kubectl, and read item by item.
pub fn document(tree: &Arc<Tree>, root: Node<'_>, facts: &mut Facts) {
    if let Some(items) = root.get("items").filter(|items| items.items().any(Node::is_map)) {
        for item in items.items() {
            if is_object(item) {
                document(tree, item, facts);
            } else if let Some(item) = of_list(root, item) {
                item.roots().for_each(|root| document(&item, root, facts));
            }
        }
        return;
    }
    let view = root.view();
    let object = object(tree, view);
    let kind = object.kind.get().cloned().unwrap_or_default();
    objects::read(tree, view, &kind, facts);
    nodes::read(tree, view, &kind, facts);
    claims::read(view, &kind, facts);
    queues::read(view, &kind, facts);
    holodeck::read(tree, view, &kind, facts);
    device_config::read(tree, view, &kind, facts);
    let drafted = releases::read(tree, view, &kind, facts);
    if kind == "Secret" {
        embedded::read(view.get("stringData"), "Secret", facts);
    }
    if kind == "ConfigMap" {
        let name = object.name.get().map_or("", String::as_str);
        embedded::read(view.get("data"), &format!("ConfigMap/{name}"), facts);
        training::config_map(view, facts);
    }
    ray::read(view, &kind, object.name.get().map_or("", String::as_str), facts);
    if kind == "RayService" {
        // Yaml, whatever it is called.
        embedded::read(view.path("spec.serveConfigV2"), ray_serve::IN_SERVICE, facts);
    }
    // What the values of a release look like is not asked where it is known.
    let workload = if drafted { None } else { workloads::read(tree, view, &object, &mut facts.cut) };
    // What an operator is told to run.
    if workload.is_none() && object.api_version.get().is_some_and(|version| version.contains(".com/")) {
        let name = object.name.get().map_or("", String::as_str);
        machinery::of_document(view.get("spec"), &format!("{kind}/{name}"), facts);
    }
    facts.workloads.extend(workload);
    protects(tree, view, &object, facts);
    let version = object.api_version.get().map_or("", String::as_str);
    for inner in places::objects(view, (version, &kind)).into_iter().filter(|inner| is_object(*inner)) {
        document(tree, inner, facts);
    }
    facts.objects.push(Arc::new(object));
}

/// An item of a list that leaves out what it is, as kubectl completes it: with the version of the list, and its kind less
/// `List`.
fn of_list(list: Node<'_>, item: Node<'_>) -> Option<Arc<Tree>> {
    let bare = item.is_map() && ["kind", "apiVersion"].iter().all(|key| item.get(key).is_none_or(Node::is_null));
    let (version, kind) = (list.get("apiVersion")?.traced()?, list.get("kind")?.traced()?);
    let single = kind.text().strip_suffix("List").filter(|single| bare && !single.is_empty())?.len();
    let mut builder = Builder::new(list.tree().source, list.tree().dialect);
    let mut entries = Vec::new();
    for (key, value) in [("apiVersion", version.clone()), ("kind", kind.slice(0..single))] {
        let span = value.whole();
        let key = builder.add(NodeKind::Scalar { text: Traced::opaque(key, span), plain: true }, span);
        let value = builder.add(NodeKind::Scalar { text: value, plain: false }, span);
        entries.push(Entry { key, value });
    }
    for (key, value) in item.entries_and_rest() {
        entries.push(Entry { key: builder.copy(key), value: builder.copy(value) });
    }
    let root = builder.add(NodeKind::Map(entries), item.span());
    builder.tree().documents.push(root);
    Some(Arc::new(builder.finish()))
}

/// What an object says of stores and endpoints; a StorageClass states what its provisioner makes.
fn protects(tree: &Arc<Tree>, view: View<'_>, object: &Object, facts: &mut Facts) {
    let provisioner = view.get("provisioner").string();
    let Some(shape) = provisioner.get().or(object.kind.get()) else { return };
    let stated = protection::Stated {
        kind: object.kind.clone(),
        name: object.name.clone(),
        shape,
        region: Fact::absent(object.span),
    };
    protection::read(tree, View::new(view.node(), object.span), &stated, facts);
    if object.kind.get().is_some_and(|kind| kind == "ConfigMap") {
        let texts = view.get("data").entries().into_iter().filter_map(|(_, text)| text.traced());
        texts.for_each(|text| protection::of_text(&text, &stated, facts));
    }
}

/// The raw object with its names.
fn object(tree: &Arc<Tree>, view: View<'_>) -> Object {
    let metadata = view.get("metadata");
    let name = metadata.get("name");
    let kind = view.get("kind");
    let mut object = Object::blank(if name.is_some() { name.place() } else { kind.place() });
    object.api_version = view.get("apiVersion").string();
    object.kind = kind.string();
    object.name = name.string().or(|| metadata.get("generateName").string());
    object.namespace = metadata.get("namespace").string();
    object.labels = labels(metadata.get("labels"));
    object.annotations = labels(metadata.get("annotations"));
    object.body = Some(Raw::new(tree, view));
    object
}
