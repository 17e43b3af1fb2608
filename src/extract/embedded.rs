//! Configuration files that stand as a text in another document: the data of a ConfigMap, a value of a chart. Knows how
//! the device plugin's and the MIG manager's files look; not who reads them.

use crate::facts::{Facts, Object};
use crate::known::Fact;
use crate::parse::{DEEPEST, Dialect, Node, Raw, Tree, View, yaml};
use crate::source::Span;
use std::sync::Arc;

/// What a configuration document is, by its keys: DevicePluginConfig or MigConfig.
pub fn kind(root: Node<'_>) -> Option<&'static str> {
    if root.get("mig-configs").is_some_and(Node::is_map) {
        return Some("MigConfig");
    }
    let sharing = root.get("sharing").is_some_and(|s| s.get("timeSlicing").is_some() || s.get("mps").is_some());
    let flags = root.get("version").is_some() && root.get("flags").is_some_and(|f| f.get("migStrategy").is_some());
    (sharing || flags).then_some("DevicePluginConfig")
}

/// A configuration document as a raw object of that kind.
pub fn object(tree: &Arc<Tree>, root: Node<'_>, kind: &str, name: (&str, Span)) -> Object {
    let mut out = Object::blank(root.head());
    out.kind = Fact::value(kind.to_owned(), root.head());
    out.name = Fact::value(name.0.to_owned(), name.1);
    out.body = Some(Raw::new(tree, root.view()));
    out
}

/// Reads every text of a document that is such a configuration; spans lead into the text.
pub fn read(view: View<'_>, facts: &mut Facts) {
    search(view, (DEEPEST, ""), facts);
}

fn search(view: View<'_>, (depth, key): (usize, &str), facts: &mut Facts) {
    let Some(node) = view.node() else { return };
    if depth == 0 {
        return;
    }
    if let Some(text) = node.text() {
        if text.contains('\n')
            && ["mig-configs:", "sharing:", "migStrategy:"].iter().any(|k| text.contains(k))
            && let Some(text) = node.traced()
        {
            let tree = Arc::new(yaml::parse_traced(&text, Dialect::Kubernetes));
            for root in tree.roots() {
                if let Some(kind) = kind(root) {
                    facts.objects.push(Arc::new(object(&tree, root, kind, (key, view.place()))));
                }
            }
        }
        return;
    }
    view.items().for_each(|item| search(item, (depth - 1, key), facts));
    for (key, child) in view.entries() {
        search(child, (depth - 1, key), facts);
    }
}
