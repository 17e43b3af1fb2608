//! Kustomizations built offline: the files of a run into the documents that `kustomize build` would print, every node
//! at the line of the base or the patch that supplied it. Knows kustomize's format and order of work; asks no network,
//! runs no plugin.

mod build;
pub(in crate::render) mod doc;
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

pub use build::{Built, build};

use super::helm::{self, Chart};
use crate::parse::{Node, Tree};
use crate::paths;
use crate::source::SourceId;
use doc::Doc;
use std::collections::{BTreeMap, BTreeSet};

/// A file that kustomizations may read.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Its id.
    pub source: SourceId,
    /// Its text.
    pub text: &'a str,
    /// What it says, when it is YAML or JSON.
    pub tree: Option<&'a Tree>,
}

/// The files of a run by their paths, and the kustomizations among them.
#[derive(Debug, Default)]
pub struct Files<'a> {
    files: BTreeMap<&'a str, File<'a>>,
    kustomizations: BTreeMap<&'a str, Kustomization>,
    /// Charts, where a kustomization may install some.
    charts: Vec<Chart<'a>>,
}

/// A kustomization, by its directory.
#[derive(Debug)]
struct Kustomization {
    source: SourceId,
    doc: Doc,
    component: bool,
}

/// Whether a path is that of a kustomization.
pub fn is_kustomization(path: &str) -> bool {
    matches!(paths::name(path), "kustomization.yaml" | "kustomization.yml" | "Kustomization")
}

impl<'a> Files<'a> {
    /// Sorts out the files of a run.
    pub fn new(files: impl IntoIterator<Item = (&'a str, File<'a>)>) -> Self {
        let files: BTreeMap<&str, File<'a>> = files.into_iter().collect();
        let mut kustomizations = BTreeMap::new();
        for (path, file) in files.iter().filter(|(path, _)| is_kustomization(path)) {
            let Some(root) = file.tree.and_then(|tree| tree.roots().next()) else { continue };
            // Flux has a kind of the same name.
            let foreign =
                root.get("apiVersion").and_then(Node::text).is_some_and(|api| api.contains("toolkit.fluxcd.io"));
            if let Some(doc) = Doc::read(root).filter(|_| !foreign) {
                let component = doc.text_at(&["kind"]) == Some("Component");
                let directory = paths::directory(path);
                kustomizations.entry(directory).or_insert(Kustomization { source: file.source, doc, component });
            }
        }
        let installs = |k: &Kustomization| ["helmCharts", "generators"].iter().any(|key| k.doc.get(key).is_some());
        let charts = if kustomizations.values().any(installs) { charts(&files) } else { Vec::new() };
        Self { files, kustomizations, charts }
    }

    /// Directories of the kustomizations that no other one includes, in order.
    pub fn roots(&self) -> Vec<&'a str> {
        let mut included = BTreeSet::new();
        for (directory, kustomization) in &self.kustomizations {
            for entry in ["resources", "bases", "components"].into_iter().filter_map(|key| kustomization.doc.get(key)) {
                included.extend(entry.items().iter().filter_map(Doc::text).filter_map(|path| join(directory, path)));
            }
        }
        let root = |(directory, kustomization): (&&'a str, &Kustomization)| {
            (!kustomization.component && !included.contains(*directory)).then_some(*directory)
        };
        self.kustomizations.iter().filter_map(root).collect()
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

fn charts<'a>(files: &BTreeMap<&'a str, File<'a>>) -> Vec<Chart<'a>> {
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
