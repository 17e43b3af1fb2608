//! Files of options that launches name: in the repository, or in a ConfigMap that the pod mounts. Which comes first,
//! the file or the command line, is the engine's.

use super::boundary::{Deployed, Reach};
use super::candidates::Candidates;
use super::mounted;
use crate::catalog;
use crate::facts::value::REST;
use crate::facts::{Labels, Launch, Workload};
use crate::known::{Fact, Why};
use crate::paths;
use crate::source::SourceId;

/// What a file states, by the last part of its name, which is a path.
type Files<'a> = Candidates<'a, &'a str, &'a (String, Labels)>;

/// Fills what command lines leave to files.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let files: Files<'_> = Candidates::gather(deployed, Reach::Deployment, |facts| {
        let place = |options: &Labels| options.values().next().map(|fact| fact.span.source);
        facts.options.iter().filter_map(|file| Some((place(&file.1)?, vec![paths::name(&file.0)], file))).collect()
    });
    deployed.each(workloads, |workload, boundary| {
        workload.pods.iter_mut().for_each(|pod| {
            let mut containers = std::mem::take(&mut pod.containers);
            for container in &mut containers {
                let Some(mut launch) = container.launch.take() else { continue };
                if let Some(name) = named(&launch) {
                    let shown = |file: &&(String, Labels)| -> Option<(String, SourceId)> {
                        Some((file.0.clone(), file.1.values().next()?.span.source))
                    };
                    match mounted::find(&name, (pod, container), (&files, boundary), shown) {
                        Some((_, options)) => fill(&mut launch, options),
                        None => leave_open(&mut launch, &name),
                    }
                }
                container.launch = Some(launch);
            }
            pod.containers = containers;
        })
    });
}

/// The file that a launch is told to read.
fn named(launch: &Launch) -> Option<Fact<String>> {
    let engine = launch.engine.get()?;
    let (flag, _) = catalog::options_file(engine)?;
    flag.flags.split(' ').find_map(|name| launch.flags.get(name).cloned())
}

/// Whether the command line states one of some options.
fn states(launch: &Launch, flags: &str) -> bool {
    flags.split(' ').any(|name| launch.flags.contains_key(name))
}

fn fill(launch: &mut Launch, options: &Labels) {
    let Some(engine) = launch.engine.get().cloned() else { return };
    let first = catalog::options_file(&engine).is_some_and(|(_, first)| first);
    for flag in catalog::launch_flags(&engine) {
        let stated = flag.flags.split(' ').find_map(|name| options.get(name));
        let Some(fact) = stated.filter(|_| first || !states(launch, flag.flags)) else { continue };
        if flag.field != "model" || launch.model.is_absent() {
            launch.set(flag.field, fact.clone());
        }
    }
    let guarded = catalog::server(&engine).into_iter().flat_map(|server| server.auth_flags().collect::<Vec<_>>());
    if let Some(key) = guarded.filter_map(|flag| options.get(flag)).next() {
        launch.authenticated = key.clone().map(|key| !key.is_empty());
    }
    for (name, fact) in options {
        if first || !launch.flags.contains_key(name) {
            launch.flags.insert(name.clone(), fact.clone());
        }
    }
}

/// Makes unknown what a file that is not at hand may state.
fn leave_open(launch: &mut Launch, name: &Fact<String>) {
    let why = Why::Remote(name.get().map_or("a file of options", String::as_str).into());
    let flags: Vec<_> = launch.engine.get().map(|engine| catalog::launch_flags(engine).collect()).unwrap_or_default();
    for flag in flags {
        let stated = states(launch, flag.flags) || flag.field == "model" && !launch.model.is_absent();
        if !stated {
            launch.set(flag.field, Fact::unknown(why.clone(), name.span));
        }
    }
    if launch.authenticated.get() == Some(&false) {
        launch.authenticated = Fact::unknown(why.clone(), name.span);
    }
    launch.flags.insert(REST.to_owned(), Fact::unknown(why, name.span));
}
