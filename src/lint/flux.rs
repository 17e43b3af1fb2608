//! Objects with what Flux puts into them when a Kustomization is built: its patches, and values afterwards. Knows which files
//! stand below which Kustomization.

use super::Repository;
use super::filled::{self, Filled};
use crate::budget::{STEP, Share, Spent};
use crate::parse::{Node, Problem, Tree};
use crate::paths;
use crate::render::fill::Value;
use crate::render::flux::Substitution;
use crate::render::kustomize::{self, doc::Doc};
use crate::source::SourceId;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

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
    let named = directories(here);
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

/// The directories of the files here by their paths from the root of the repository, as far as these may be told from others.
fn directories<'r>(here: &'r Repository<'_>) -> HashMap<&'r str, Option<&'r str>> {
    let directories: BTreeSet<&str> =
        here.trees.keys().flat_map(|id| paths::above(paths::directory(here.path(*id)))).collect();
    let mut named: HashMap<&str, Option<&str>> = HashMap::new();
    for directory in &directories {
        for end in std::iter::successors(Some(*directory), |end| Some(end.split_once('/')?.1)).skip(1) {
            named.entry(end).and_modify(|one| *one = None).or_insert(Some(*directory));
        }
    }
    named.extend(directories.iter().map(|directory| (*directory, Some(*directory))));
    named
}

/// Applies the patches of Kustomizations of Flux to the objects below their paths, those of the topmost first: they may give
/// others patches.
pub fn patch(here: &Repository<'_>) -> Filled {
    let mut patching = Patching { here, named: directories(here), appliers: BTreeMap::new(), done: BTreeMap::new() };
    let mut patches = false;
    for (id, tree) in &here.trees {
        for (path, spec) in tree.roots().filter_map(applied) {
            patches |= spec.get("patches").is_some();
            if let Some(directory) = patching.directory(path) {
                patching.appliers.entry(directory).or_default().insert(*id);
            }
        }
    }
    let mut out = Filled::default();
    for (id, tree) in here.trees.iter().filter(|_| patches) {
        match patching.file(*id) {
            Ok(patched) => out.trees.extend((!Arc::ptr_eq(tree, &patched)).then_some((*id, patched))),
            Err(spent) => {
                let message = format!("this file with the patches of Flux: {spent}");
                out.cut.extend(tree.roots().next().map(|root| Problem { span: root.span(), message }));
            }
        }
    }
    out
}

/// The path of a Kustomization of Flux, from the root of the repository, and its `spec`.
fn applied<'t>(root: Node<'t>) -> Option<(&'t str, Node<'t>)> {
    let text = |key: &str| root.get(key).and_then(Node::text);
    let is_one = text("kind") == Some("Kustomization")
        && text("apiVersion").is_some_and(|api| api.starts_with("kustomize.toolkit.fluxcd.io/"));
    let spec = root.get("spec").filter(|_| is_one)?;
    Some((spec.get("path").and_then(Node::text).unwrap_or_default().trim_start_matches("./").trim_matches('/'), spec))
}

struct Patching<'r, 's> {
    here: &'r Repository<'s>,
    named: HashMap<&'r str, Option<&'r str>>,
    /// The files of the Kustomizations that apply a directory.
    appliers: BTreeMap<&'r str, BTreeSet<SourceId>>,
    /// Files with the patches for them, or as they are while these are looked for: a Kustomization may apply itself.
    done: BTreeMap<SourceId, Arc<Tree>>,
}

impl<'r> Patching<'r, '_> {
    fn directory(&self, path: &str) -> Option<&'r str> {
        if path.is_empty() { Some("") } else { *self.named.get(path)? }
    }

    /// A file with the patches for it.
    fn file(&mut self, id: SourceId) -> Result<Arc<Tree>, Spent> {
        if let Some(done) = self.done.get(&id) {
            return Ok(Arc::clone(done));
        }
        let (tree, path) = (Arc::clone(&self.here.trees[&id]), self.here.path(id));
        self.done.insert(id, Arc::clone(&tree));
        let at = paths::above(paths::directory(path)).find(|at| self.appliers.contains_key(at));
        let Some(at) = at.filter(|_| !paths::is_kustomization(path)) else { return Ok(tree) };
        let share = Share::least(tree.len() * STEP);
        let mut forms: Vec<Doc> = Vec::new();
        for applier in self.appliers[at].clone() {
            let applier = self.file(applier)?;
            for (path, spec) in applier.roots().filter_map(applied) {
                if self.directory(path) == Some(at) {
                    let patches = spec.get("patches").map(|patches| Doc::read(patches, &share)).transpose()?;
                    let patches = patches.unwrap_or_else(|| Doc::null(spec.span()));
                    forms.extend(Some(patches).filter(|patches| !forms.contains(patches)));
                }
            }
        }
        if forms.iter().all(|patches| patches.items().is_empty()) {
            return Ok(tree);
        }
        let objects: Vec<Doc> = tree.roots().map(|root| Doc::shared(&tree, root, &share)).collect::<Result<_, _>>()?;
        let patched: Vec<Doc> = objects.iter().filter_map(|object| patched(object, &forms, &share)).collect();
        share.spent().map_or(Ok(()), Err)?;
        if patched != objects {
            self.done.insert(id, Arc::new(kustomize::doc::tree(id, patched, &share)?));
        }
        Ok(Arc::clone(&self.done[&id]))
    }
}

/// An object with patches; open where several apply it that give it others.
fn patched(object: &Doc, forms: &[Doc], share: &Share) -> Option<Doc> {
    let is_object = |path: &[&str]| object.text_at(path).is_some();
    if !is_object(&["apiVersion"]) || !is_object(&["kind"]) || !is_object(&["metadata", "name"]) {
        return Some(object.clone());
    }
    let mut made = forms.iter().map(|patches| kustomize::patched_object(object.clone(), patches.items(), share));
    let first = made.next()?;
    if made.all(|other| other == first) { first } else { Some(kustomize::opened(object.clone())) }
}
