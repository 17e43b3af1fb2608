//! Targets of docker buildx bake: which Dockerfile each builds, with which arguments and for which platforms. Knows how
//! targets inherit from each other; values are evaluated already.

use super::built;
use crate::facts::{Facts, Object};
use crate::known::Fact;
use crate::parse::{Node, Raw, Tree, View, merged};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The kind of the objects that targets are.
pub const TARGET: &str = "BakeTarget";

/// Most targets that one is put together of.
const MOST_LAYERS: usize = 64;

/// Whether a document is a bake file in JSON.
pub fn is_file(root: Node<'_>, path: &str) -> bool {
    let name = crate::paths::name(path);
    name.starts_with("docker-bake") && root.get("target").is_some_and(Node::is_map)
}

/// Reads the targets of a file. What others inherit from is no target that is built.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, facts: &mut Facts) {
    let targets = root.view().get("target");
    let all = targets.entries();
    let bases: BTreeSet<String> =
        all.iter().flat_map(|(_, target)| inherited(*target)).filter_map(|base| base.get().cloned()).collect();
    for (name, target) in all.iter().filter(|(name, _)| !bases.contains(*name)) {
        let mut layers = vec![*target];
        let mut at = 0;
        while let Some(layer) = layers.get(at).copied().filter(|_| layers.len() < MOST_LAYERS) {
            let names = inherited(layer).into_iter().rev();
            layers.extend(names.filter_map(|base| Some(targets.get(base.get()?)).filter(|view| view.is_some())));
            at += 1;
        }
        let layers: Vec<Raw> = layers.into_iter().rev().map(|layer| Raw::new(tree, layer)).collect();
        let Some(whole) = merged(&layers) else { continue };
        built::target(whole.view(), facts);
        let mut out = Object::blank(target.place());
        out.kind = Fact::value(TARGET.to_owned(), target.place());
        out.name = Fact::value((*name).to_owned(), target.place());
        out.body = Some(whole);
        facts.objects.push(Arc::new(out));
    }
}

fn inherited(target: View<'_>) -> Vec<Fact<String>> {
    target.get("inherits").strings()
}
