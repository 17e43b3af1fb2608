//! Objects with the values that Flux puts into them after a Kustomization is built. Knows which files stand below which
//! Kustomization.

use super::Repository;
use super::filled::{self, Filled};
use crate::parse::Node;
use crate::paths;
use crate::render::fill::Value;
use crate::render::flux::Substitution;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Puts values into the objects below Kustomizations of Flux.
pub fn fill(here: &Repository<'_>) -> Filled {
    let mut found: Vec<Substitution<'_>> = Vec::new();
    let mut objects: BTreeMap<(&str, &str), Option<Value<'_>>> = BTreeMap::new();
    for tree in here.trees.values() {
        for root in tree.roots() {
            found.extend(Substitution::of(tree, root));
        }
    }
    if found.is_empty() {
        return Filled::default();
    }
    for tree in here.trees.values() {
        for root in tree.roots().filter(|root| root.get("kind").and_then(Node::text) == Some("ConfigMap")) {
            let name = root.path("metadata.name").and_then(Node::text).unwrap_or_default();
            // Of two that are called the same it cannot be told which one it is.
            objects.entry(("ConfigMap", name)).and_modify(|one| *one = None).or_insert(Some((tree, root)));
        }
    }
    for one in &mut found {
        for name in one.from.clone().into_iter().rev() {
            one.add(objects.get(&name).copied().flatten());
        }
    }
    let claims = claims(here, found);
    filled::fill(here, |path, _| {
        let claim = paths::above(paths::directory(path)).find_map(|at| claims.get(at))?;
        Some(Box::new(claim.clone()?) as _)
    })
}

/// What is put in below which directory; `None` where Kustomizations for it put in different things. A path counts from the
/// root of the repository, which may stand above or below that of the run.
fn claims<'r, 't>(
    here: &'r Repository<'_>,
    found: Vec<Substitution<'t>>,
) -> BTreeMap<&'r str, Option<Substitution<'t>>> {
    let directories: BTreeSet<&str> = here.trees.keys().map(|id| paths::directory(here.path(*id))).collect();
    let mut named: HashMap<&str, Option<&str>> = HashMap::new();
    for directory in &directories {
        for end in std::iter::successors(Some(*directory), |end| Some(end.split_once('/')?.1)).skip(1) {
            named.entry(end).and_modify(|one| *one = None).or_insert(Some(*directory));
        }
    }
    named.extend(directories.iter().map(|directory| (*directory, Some(*directory))));
    let mut claims: BTreeMap<&str, Option<Substitution<'t>>> = BTreeMap::new();
    for one in found {
        let Some(Some(directory)) = named.get(one.path) else { continue };
        match claims.entry(directory) {
            Entry::Vacant(place) => drop(place.insert(Some(one))),
            Entry::Occupied(mut place) => {
                let like = place.get().as_ref().is_some_and(|known| known.is_like(&one));
                drop((!like).then(|| place.insert(None)));
            }
        }
    }
    claims
}
