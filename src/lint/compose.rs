//! Compose projects of a run: read with their variables and with the services that they extend elsewhere, and told apart
//! by their profiles. Knows which files are projects; puts nothing together itself.

use super::Repository;
use super::trouble::Trouble;
use crate::budget::Share;
use crate::extract::compose::is_project;
use crate::facts::{Facts, Workload, WorkloadFormat};
use crate::finding::Unlinted;
use crate::link::Variant;
use crate::parse::{Problem, Tree, yaml};
use crate::paths;
use crate::render::compose::{self, Files, Project};
use crate::render::kustomize::File;
use crate::source::{SourceId, Span};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What came of putting projects together.
#[derive(Default)]
pub struct Resolved {
    /// What keeps some of them from it.
    pub failed: Vec<(Problem, Trouble)>,
    /// What of their files another one says otherwise.
    pub replaced: Vec<Span>,
}

/// Replaces the trees of projects by what they state as a whole.
pub fn resolve(repository: &mut Repository<'_>) -> Resolved {
    let is_one =
        |id: &SourceId, tree: &Tree| yaml::root(tree).is_some_and(|root| is_project(root, repository.path(*id)));
    let projects: Vec<SourceId> =
        repository.trees.iter().filter(|(id, tree)| is_one(id, tree)).map(|(id, _)| *id).collect();
    if projects.is_empty() {
        return Resolved::default();
    }
    let files: Files<'_> = repository
        .iter()
        .map(|(id, source)| {
            let tree = repository.trees.get(&id);
            (source.path.as_str(), File { source: id, text: &source.text, tree })
        })
        .collect();
    // A project may be made of its file and those beside it.
    let mut beside: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, file) in &files {
        *beside.entry(paths::directory(path)).or_default() += file.text.len();
    }
    let one = |id: &SourceId| {
        let root = yaml::root(repository.trees.get(id)?)?;
        let bytes = beside.get(paths::directory(repository.path(*id))).copied().unwrap_or_default();
        let share = Share::of(projects.len(), bytes);
        let project = || compose::project(&files, repository.path(*id), root, &share);
        let told = |message: String, trouble| Some(Err((Problem { span: Span::new(*id, 0..0), message }, trouble)));
        match catch_unwind(AssertUnwindSafe(project)) {
            Ok(Ok(project)) => project.map(|project| Ok((*id, project))),
            Ok(Err(spent)) => {
                told(format!("the project is not put together: {spent}"), Trouble::NotLinted(Unlinted::Budget))
            }
            Err(_) => told("gpulint failed on this project".to_owned(), Trouble::NotLinted(Unlinted::Failure)),
        }
    };
    let mut resolved: Vec<(SourceId, Project)> = Vec::new();
    let (mut failed, mut replaced) = (Vec::new(), Vec::new());
    for project in projects.par_iter().filter_map(one).collect::<Vec<_>>() {
        match project {
            Ok(project) => resolved.push(project),
            Err(failure) => failed.push(failure),
        }
    }
    let mut parts: BTreeSet<SourceId> = resolved.iter().flat_map(|(_, project)| project.parts.clone()).collect();
    parts.extend(only_extended(repository, &projects));
    resolved.iter_mut().for_each(|(_, project)| replaced.append(&mut project.replaced));
    repository.trees.extend(resolved.into_iter().map(|(id, project)| (id, Arc::new(project.tree))));
    // What is a part of another project is none of its own.
    repository.trees.retain(|id, _| !parts.contains(id));
    Resolved { failed, replaced }
}

/// Files under a name of their own of which every service is extended by another file.
fn only_extended(repository: &Repository<'_>, projects: &[SourceId]) -> Vec<SourceId> {
    let services = |id: &SourceId| {
        repository.trees.get(id).and_then(|tree| yaml::root(tree)).map(|root| root.view().get("services"))
    };
    let mut extended: BTreeSet<(String, String)> = BTreeSet::new();
    for project in projects {
        let directory = paths::directory(repository.path(*project));
        for (_, service) in services(project).iter().flat_map(|services| services.entries()) {
            let base = service.get("extends");
            if let (Some(file), Some(name)) = (base.get("file").string().get(), base.get("service").string().get()) {
                extended.insert((paths::join(directory, file), name.clone()));
            }
        }
    }
    let is_base = |id: &&SourceId| {
        let path = repository.path(**id);
        let names = services(id).map(|services| services.entries()).unwrap_or_default();
        let all = names.iter().all(|(name, _)| extended.contains(&(path.to_owned(), (*name).to_owned())));
        all && !names.is_empty() && !compose::is_default(paths::name(path))
    };
    projects.iter().filter(is_base).copied().collect()
}

/// Takes the services out that run only where a profile is on, as a variant for each profile of each project: nothing says
/// that two profiles are on together, but where the variables of the project do.
pub fn profiles(repository: &Repository<'_>, facts: &mut Facts) -> Vec<Variant> {
    let texts: BTreeMap<&str, (SourceId, &str)> =
        repository.iter().map(|(id, source)| (source.path.as_str(), (id, &*source.text))).collect();
    let enabled = |project: SourceId| {
        let path = paths::join(paths::directory(repository.path(project)), ".env");
        let (source, text) = texts.get(path.as_str())?;
        let stated = compose::variables(*source, text).remove("COMPOSE_PROFILES")?;
        Some(stated.text().split(',').map(|name| name.trim().to_owned()).collect::<BTreeSet<_>>())
    };
    let mut known: BTreeMap<SourceId, BTreeSet<String>> = BTreeMap::new();
    let mut out: BTreeMap<(SourceId, String), Variant> = BTreeMap::new();
    for workload in std::mem::take(&mut facts.workloads) {
        let Some((project, profiles)) = profiles_of(&workload) else {
            facts.workloads.push(workload);
            continue;
        };
        let file = repository.path(project);
        let on = known.entry(project).or_insert_with(|| enabled(project).unwrap_or_default());
        let (on, off): (Vec<String>, Vec<String>) =
            profiles.into_iter().partition(|name| on.contains(name) || on.contains("*"));
        // What is on without being asked for is told first, without a name.
        let asked = off.into_iter().map(|profile| (format!("the profile {profile} of {file}"), Some(file.to_owned())));
        for (name, beside) in asked.chain((!on.is_empty()).then(|| (file.to_owned(), None))) {
            let variant = out.entry((project, name)).or_insert_with_key(|(_, name)| Variant {
                name: name.clone(),
                thing: Some(project),
                first: beside.is_none(),
                beside,
                ..Variant::default()
            });
            variant.facts.workloads.push(workload.clone());
        }
    }
    out.into_values().collect()
}

/// The project and the profiles of a service that has some.
fn profiles_of(workload: &Workload) -> Option<(SourceId, Vec<String>)> {
    let object = workload.object.as_ref().filter(|_| workload.format.get() == Some(&WorkloadFormat::Compose))?;
    let profiles = object.view().get("profiles").strings();
    let names: Vec<String> = profiles.iter().map(|name| name.get().cloned()).collect::<Option<_>>()?;
    (!names.is_empty()).then(|| (object.tree.source, names))
}
