//! Kustomizations built offline: the files of a run into the documents that `kustomize build` would print, every node
//! at the line of the base or the patch that supplied it. Knows kustomize's format and order of work; asks no network,
//! runs no plugin.

mod build;
pub mod doc;
mod field;
mod fields;
mod generate;
mod json6902;
mod merge;
mod references;
mod replacements;
mod resource;
mod select;
#[cfg(test)]
mod tests;
mod transform;
mod variables;

pub use build::{Built, Failure, build, opened, patched_object};

use super::helm::{self, Chart};
use crate::budget::{Share, Spent};
use crate::parse::{Node, Tree};
use crate::paths;
use crate::source::SourceId;
use doc::Doc;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// A file that kustomizations may read.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Its id.
    pub source: SourceId,
    /// Its text.
    pub text: &'a str,
    /// What it says, when it is YAML or JSON.
    pub tree: Option<&'a Arc<Tree>>,
}

/// The files of a run by their paths, and the kustomizations among them.
#[derive(Debug, Default)]
pub struct Files<'a> {
    files: BTreeMap<&'a str, File<'a>>,
    kustomizations: BTreeMap<&'a str, Kustomization>,
    /// The documents of files, copied when the first build asks for them: all builds share them.
    documents: BTreeMap<&'a str, OnceLock<Result<Vec<Doc>, Spent>>>,
    /// Charts, where a kustomization may install some.
    charts: Vec<Arc<Chart<'a>>>,
}

/// A kustomization, by its directory.
#[derive(Debug)]
struct Kustomization {
    source: SourceId,
    doc: Doc,
    component: bool,
    /// What it lacked when it was read.
    lacks: Option<Spent>,
}

impl<'a> Files<'a> {
    /// Sorts out the files of a run.
    pub fn new(files: impl IntoIterator<Item = (&'a str, File<'a>)>) -> Self {
        let files: BTreeMap<&str, File<'a>> = files.into_iter().collect();
        let mut kustomizations = BTreeMap::new();
        for (path, file) in files.iter().filter(|(path, _)| paths::is_kustomization(path)) {
            let Some(root) = file.tree.and_then(|tree| tree.roots().next()) else { continue };
            // Flux has a kind of the same name.
            let foreign =
                root.get("apiVersion").and_then(Node::text).is_some_and(|api| api.contains("toolkit.fluxcd.io"));
            let read = Doc::read(root, &Share::of(files.len(), file.text.len()));
            // What is too large of a kustomization is told where it is built.
            let lacks = read.as_ref().err().copied();
            let doc = read.unwrap_or_else(|_| Doc::map(root.span()));
            if !foreign {
                let component = doc.text_at(&["kind"]) == Some("Component");
                let directory = paths::directory(path);
                kustomizations.entry(directory).or_insert(Kustomization { source: file.source, doc, component, lacks });
            }
        }
        let installs = |k: &Kustomization| ["helmCharts", "generators"].iter().any(|key| k.doc.get(key).is_some());
        let charts = if kustomizations.values().any(installs) { charts(&files) } else { Vec::new() };
        let documents = files.keys().map(|path| (*path, OnceLock::new())).collect();
        Self { files, kustomizations, documents, charts }
    }

    /// The documents of a file.
    fn documents(&self, path: &str) -> Option<Result<&[Doc], Spent>> {
        let tree = self.files.get(path)?.tree?;
        let read = || {
            let share = Share::of(self.files.len(), self.files[path].text.len());
            tree.roots().map(|root| Doc::shared(tree, root, &share)).collect()
        };
        Some(self.documents.get(path)?.get_or_init(read).as_ref().map(Vec::as_slice).map_err(|spent| *spent))
    }

    /// Bytes of the files that the kustomization in a directory names, here and below.
    fn bytes<'f>(&'f self, directory: &'f str, seen: &mut BTreeSet<&'f str>) -> usize {
        let Some(kustomization) = self.kustomizations.get(directory).filter(|_| seen.insert(directory)) else {
            return 0;
        };
        let lists = kustomization.doc.entries().iter().map(|(_, value)| value).chain([&kustomization.doc]);
        let one = |item: &Doc| item.text().or(item.text_at(&["path"])).and_then(|path| join(directory, path));
        let mut bytes = 0;
        for path in lists.flat_map(|list| list.items().iter().chain([list])).filter_map(one) {
            match (self.files.get_key_value(path.as_str()), self.kustomizations.get_key_value(path.as_str())) {
                (Some((path, file)), _) if seen.insert(path) => bytes += file.text.len(),
                (_, Some((directory, _))) => bytes += self.bytes(directory, seen),
                _ => {}
            }
        }
        bytes
    }

    /// Directories of the kustomizations that no other one includes, in order.
    pub fn roots(&self) -> Vec<&'a str> {
        let mut included = BTreeSet::new();
        for (directory, kustomization) in &self.kustomizations {
            let keys = ["resources", "bases", "components", "generators", "transformers", "validators"];
            for entry in keys.into_iter().filter_map(|key| kustomization.doc.get(key)) {
                included.extend(entry.items().iter().filter_map(Doc::text).filter_map(|path| join(directory, path)));
            }
        }
        self.kustomizations.keys().filter(|directory| !included.contains(**directory)).copied().collect()
    }

    /// Whether a directory holds a component, which need not work alone.
    pub fn is_component(&self, directory: &str) -> bool {
        self.kustomizations.get(directory).is_some_and(|kustomization| kustomization.component)
    }

    /// Directories of all kustomizations and components, in order.
    pub fn all(&self) -> Vec<&'a str> {
        self.kustomizations.keys().copied().collect()
    }

    /// The file of the kustomization in a directory.
    pub fn source(&self, directory: &str) -> Option<SourceId> {
        self.kustomizations.get(directory).map(|kustomization| kustomization.source)
    }
}

fn charts<'a>(files: &BTreeMap<&'a str, File<'a>>) -> Vec<Arc<Chart<'a>>> {
    let file = |(path, file): (&&'a str, &File<'a>)| helm::File { source: file.source, path, text: file.text };
    helm::chart::find(&files.iter().map(file).collect::<Vec<_>>())
}

/// A path that is meant from a directory; `None` for one that is empty or a URL.
pub(in crate::render) fn join(directory: &str, path: &str) -> Option<String> {
    if path.is_empty() || path.contains("://") {
        return None;
    }
    Some(paths::join(if path.starts_with('/') { "/" } else { directory }, path))
}

/// Lays a document over another one as a strategic merge patch: the spec of a pod with the merge keys of its lists, anything
/// else with none. `None` where they do not fit together.
pub fn patched(base: Doc, patch: Doc, pod: bool, share: &Share) -> Option<Doc> {
    let kind = if pod { "Pod" } else { "" };
    let gvk = resource::Gvk { kind: kind.to_owned(), ..resource::Gvk::default() };
    let under = |spec: Doc| {
        let mut doc = Doc::map(spec.span);
        doc.set(Doc::string("spec", spec.span), spec);
        doc
    };
    let mut doc = under(base);
    merge::apply(&mut doc, &under(patch), &gvk, share).ok()?;
    doc.remove("spec")
}
