//! Compose projects of a run: read with their variables and with the services that they extend elsewhere. Knows which
//! files are projects; puts nothing together itself.

use crate::extract::compose::is_project;
use crate::parse::{Tree, yaml};
use crate::render::compose::{self, Files};
use crate::render::kustomize::File;
use crate::source::Sources;
use std::sync::Arc;

/// Replaces the trees of projects by what they state as a whole.
pub fn resolve(sources: &Sources, trees: &mut [Option<Arc<Tree>>]) {
    let project = |tree: &Tree, path: &str| yaml::root(tree).is_some_and(|root| is_project(root, path));
    let is_one = |(source, tree): (&str, &Option<Arc<Tree>>)| tree.as_deref().is_some_and(|tree| project(tree, source));
    let paths: Vec<&str> = sources.iter().map(|(_, source)| source.path.as_str()).collect();
    let projects: Vec<usize> = paths
        .iter()
        .zip(&*trees)
        .enumerate()
        .filter(|(_, (path, tree))| is_one((path, tree)))
        .map(|(i, _)| i)
        .collect();
    if projects.is_empty() {
        return;
    }
    let files: Files<'_> = sources
        .iter()
        .map(|(id, source)| {
            let tree = trees.get(id.0 as usize).and_then(Option::as_deref);
            (source.path.as_str(), File { source: id, text: &source.text, tree })
        })
        .collect();
    let one = |i: &usize| {
        let root = trees[*i].as_deref().and_then(yaml::root)?;
        Some((*i, compose::project(&files, paths[*i], root)?))
    };
    let resolved: Vec<(usize, Tree)> = projects.iter().filter_map(one).collect();
    drop(files);
    for (i, tree) in resolved {
        trees[i] = Some(Arc::new(tree));
    }
}
