//! Joins: which workload runs on which pool, is scaled by what, exposed by what, built from which Dockerfile.
//! Knows facts and the catalog; knows neither formats nor rules.

mod boundary;
mod devices;
mod driver;
mod engines;
mod environment;
mod lists;
mod models;
mod mounted;
mod node;
mod objects;
mod packages;
mod pools;
mod promises;
mod queues;
mod releases;
mod software;
mod taints;
mod training;

pub use boundary::Boundary;

use crate::facts::{Facts, Workload};
use crate::known::Fact;
use crate::paths;
use crate::source::{SourceId, Sources};
use boundary::Layout;
use rayon::prelude::*;

/// Facts that are deployed together: a release of a chart, a kustomization, or the plain files of a repository.
#[derive(Debug, Default)]
pub struct Deployment {
    /// What they are.
    pub facts: Facts,
    /// Forms of one thing, of which one is deployed, have the same number; the plain files have none.
    pub family: Option<usize>,
    /// Whether this form stands for the others where something else looks at them.
    pub first: bool,
    /// The file of values, where nothing says that it is installed.
    pub example: Option<SourceId>,
}

impl Deployment {
    /// The plain files of a repository.
    pub fn plain(facts: Facts) -> Self {
        Self { facts, first: true, ..Self::default() }
    }

    /// Whether these are the plain files, which need not be deployed together.
    pub fn is_plain(&self) -> bool {
        self.family.is_none()
    }
}

/// Joins the facts of files that are one repository without charts and kustomizations.
pub fn link(facts: &mut Facts, sources: &Sources) {
    let mut plain = Deployment::plain(std::mem::take(facts));
    complete(&mut [&mut plain], sources);
    join(&mut [&mut plain], sources);
    *facts = plain.facts;
}

/// Completes what releases install from the files and objects that they name, before anything else is joined.
pub fn complete(deployments: &mut [&mut Deployment], sources: &Sources) {
    each(deployments, sources, |facts| &mut facts.releases, releases::complete);
}

/// Joins the facts of a repository in place.
pub fn join(deployments: &mut [&mut Deployment], sources: &Sources) {
    deployments.iter_mut().for_each(|deployment| pools::enrich(&mut deployment.facts));
    deployments.par_iter_mut().for_each(|deployment| software::complete(&mut deployment.facts, sources));
    each(deployments, sources, |facts| &mut facts.builds, node::drivers_of_builds);
    let layout = Layout::of(deployments.iter().map(|deployment| &deployment.facts), sources);
    let exposed: Vec<Vec<objects::Exposure>> = {
        let all: Vec<&Deployment> = deployments.iter().map(|deployment| &**deployment).collect();
        all.par_iter().map(|own| objects::exposures(&Boundary::of(own, &all, &layout))).collect()
    };
    let mut exposed = exposed.into_iter();
    deployments.iter_mut().for_each(|deployment| {
        objects::expose(&mut deployment.facts.workloads, exposed.next().unwrap_or_default());
    });
    in_place(deployments, &layout, |facts| &mut facts.resources, promises::of_resources);
    in_place(deployments, &layout, |facts| &mut facts.workloads, workloads);
}

/// Joins the workloads of one deployment.
fn workloads(workloads: &mut [Workload], boundary: &Boundary<'_>) {
    mounted::link(workloads, boundary);
    environment::link(workloads, boundary);
    objects::link(workloads, boundary);
    node::link(workloads, boundary);
    devices::link(workloads);
    taints::link(workloads);
    software::link(workloads, boundary);
    models::link(workloads, boundary);
    training::link(workloads, boundary);
    promises::link(workloads, boundary);
    queues::link(workloads, boundary);
    engines::link(workloads);
}

/// Changes one list of every deployment, while everything else of all of them can be looked at.
fn each<T: Send>(
    deployments: &mut [&mut Deployment],
    sources: &Sources,
    list: impl Fn(&mut Facts) -> &mut Vec<T>,
    change: impl Fn(&mut [T], &Boundary<'_>) + Sync,
) {
    let layout = Layout::of(deployments.iter().map(|deployment| &deployment.facts), sources);
    in_place(deployments, &layout, list, change);
}

fn in_place<T: Send>(
    deployments: &mut [&mut Deployment],
    layout: &Layout<'_>,
    list: impl Fn(&mut Facts) -> &mut Vec<T>,
    change: impl Fn(&mut [T], &Boundary<'_>) + Sync,
) {
    let mut lists: Vec<Vec<T>> = deployments.iter_mut().map(|d| std::mem::take(list(&mut d.facts))).collect();
    {
        let all: Vec<&Deployment> = deployments.iter().map(|deployment| &**deployment).collect();
        lists.par_iter_mut().zip(&all).for_each(|(list, own)| change(list, &Boundary::of(own, &all, layout)));
    }
    for (deployment, changed) in deployments.iter_mut().zip(lists) {
        *list(&mut deployment.facts) = changed;
    }
}

/// Whether two names in the same or an unstated namespace may mean the same place.
fn same_namespace(a: &Fact<String>, b: &Fact<String>) -> bool {
    match (a.get(), b.get()) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// The candidates that stand nearest to a file: in it, else in its directory, else in the nearest one in common.
fn nearest<T>(sources: &Sources, from: SourceId, candidates: Vec<(SourceId, T)>) -> Vec<T> {
    let here = directories(sources, from);
    let near = |id: SourceId| (paths::shared(&here, &directories(sources, id)), id == from);
    let best = candidates.iter().map(|(id, _)| near(*id)).max();
    candidates.into_iter().filter(|(id, _)| Some(near(*id)) == best).map(|(_, candidate)| candidate).collect()
}

/// The directories that a file stands in, outermost first.
fn directories(sources: &Sources, id: SourceId) -> Vec<&str> {
    let mut parts: Vec<&str> = sources.get(id).path.split('/').collect();
    parts.pop();
    parts
}
