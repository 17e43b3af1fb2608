//! Targets of docker buildx bake: which Dockerfile each builds, with which arguments and for which platforms. Knows how
//! targets inherit from each other; values are evaluated already.

use super::built;
use crate::budget::{STEP, Share};
use crate::facts::{Facts, Object};
use crate::known::Fact;
use crate::parse::{Node, Problem, Raw, Tree, View, merged};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
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
    let all: BTreeMap<&str, View<'_>> = root.view().get("target").entries().into_iter().collect();
    let bases: BTreeSet<String> =
        all.values().flat_map(|target| inherited(*target)).filter_map(|base| base.get().cloned()).collect();
    // Many targets may inherit from one that is large.
    let share = Share::least(tree.len() * STEP);
    for (name, target) in all.iter().filter(|(name, _)| !bases.contains(**name)) {
        let layers: Vec<Raw> = layers(*target, &all).into_iter().rev().map(|layer| Raw::new(tree, layer)).collect();
        match merged(&layers, &share) {
            Ok(Some(whole)) => built(name, whole, target.place(), facts),
            Ok(None) => {}
            Err(spent) => {
                let message = format!("targets from here on: {spent}");
                facts.cut.push(Problem { span: target.place(), message });
                return;
            }
        }
    }
}

/// A target and what it inherits from, the nearest first.
fn layers<'t>(target: View<'t>, all: &BTreeMap<&str, View<'t>>) -> Vec<View<'t>> {
    let mut layers = vec![target];
    let mut at = 0;
    while let Some(layer) = layers.get(at).copied().filter(|_| layers.len() < MOST_LAYERS) {
        let names = inherited(layer).into_iter().rev();
        layers.extend(names.filter_map(|base| all.get(base.get()?.as_str()).copied()));
        at += 1;
    }
    layers
}

fn built(name: &str, whole: Raw, place: Span, facts: &mut Facts) {
    built::target(whole.view(), facts);
    let mut out = Object::blank(place);
    out.kind = Fact::value(TARGET.to_owned(), place);
    out.name = Fact::value(name.to_owned(), place);
    out.body = Some(whole);
    facts.objects.push(Arc::new(out));
}

fn inherited(target: View<'_>) -> Vec<Fact<String>> {
    target.get("inherits").strings()
}
