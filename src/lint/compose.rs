//! Compose projects of a run: read with their variables and with the services that they extend elsewhere. Knows which
//! files are projects; puts nothing together itself.

use super::Repository;
use crate::extract::compose::is_project;
use crate::parse::{Tree, yaml};
use crate::render::compose::{self, Files, Project};
use crate::render::kustomize::File;
use crate::source::SourceId;
use std::sync::Arc;

/// Replaces the trees of projects by what they state as a whole.
pub fn resolve(repository: &mut Repository<'_>) {
    let is_one =
        |id: &SourceId, tree: &Tree| yaml::root(tree).is_some_and(|root| is_project(root, repository.path(*id)));
    let projects: Vec<SourceId> =
        repository.trees.iter().filter(|(id, tree)| is_one(id, tree)).map(|(id, _)| *id).collect();
    if projects.is_empty() {
        return;
    }
    let files: Files<'_> = repository
        .iter()
        .map(|(id, source)| {
            let tree = repository.trees.get(&id).map(|tree| &**tree);
            (source.path.as_str(), File { source: id, text: &source.text, tree })
        })
        .collect();
    let one = |id: &SourceId| {
        let root = yaml::root(repository.trees.get(id)?)?;
        Some((*id, compose::project(&files, repository.path(*id), root)?))
    };
    let resolved: Vec<(SourceId, Project)> = projects.iter().filter_map(one).collect();
    drop(files);
    let parts: Vec<SourceId> = resolved.iter().flat_map(|(_, project)| project.parts.clone()).collect();
    repository.trees.extend(resolved.into_iter().map(|(id, project)| (id, Arc::new(project.tree))));
    // What is a part of another project is none of its own.
    repository.trees.retain(|id, _| !parts.contains(id));
}
