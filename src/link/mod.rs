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
mod variant;

pub use boundary::{Boundary, Layout};
pub use software::named_by;
pub use variant::{Routes, Variant};

use crate::facts::{Facts, Workload};
use crate::known::Fact;
use crate::paths;
use crate::source::{SourceId, Sources};
use rayon::prelude::*;

/// Joins the facts of files that are one repository without charts and kustomizations.
pub fn link(facts: &mut Facts, sources: &Sources) {
    let mut plain = [Variant::plain(std::mem::take(facts))];
    join(&mut plain, sources);
    let [plain] = plain;
    *facts = plain.facts;
}

/// Completes what releases install from the files and objects that they name, before anything else is joined.
pub fn complete(variants: &mut [Variant], sources: &Sources) {
    each(variants, &Layout::of(variants, sources), |facts| &mut facts.releases, releases::complete);
}

/// Joins the facts of a repository in place.
pub fn join(variants: &mut [Variant], sources: &Sources) {
    complete(variants, sources);
    variants.iter_mut().for_each(|variant| pools::enrich(&mut variant.facts));
    variants.par_iter_mut().for_each(|variant| software::complete(&mut variant.facts, sources));
    let layout = Layout::of(variants, sources);
    each(variants, &layout, |facts| &mut facts.builds, node::drivers_of_builds);
    let exposed: Vec<Vec<objects::Exposure>> =
        variants.par_iter().map(|own| objects::exposures(&Boundary::of(own, variants, &layout))).collect();
    for (variant, exposures) in variants.iter_mut().zip(exposed) {
        objects::expose(&mut variant.facts.workloads, exposures);
    }
    each(variants, &layout, |facts| &mut facts.resources, promises::of_resources);
    each(variants, &layout, |facts| &mut facts.stores, promises::of_stores);
    each(variants, &layout, |facts| &mut facts.workloads, workloads);
}

/// Joins the workloads of one variant.
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

/// Changes one list of every variant, while everything else of all of them can be looked at.
fn each<T: Send>(
    variants: &mut [Variant],
    layout: &Layout<'_>,
    list: impl Fn(&mut Facts) -> &mut Vec<T>,
    change: impl Fn(&mut [T], &Boundary<'_>) + Sync,
) {
    let mut lists: Vec<Vec<T>> = variants.iter_mut().map(|variant| std::mem::take(list(&mut variant.facts))).collect();
    {
        let all: &[Variant] = variants;
        lists.par_iter_mut().zip(all).for_each(|(list, own)| change(list, &Boundary::of(own, all, layout)));
    }
    for (variant, changed) in variants.iter_mut().zip(lists) {
        *list(&mut variant.facts) = changed;
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
