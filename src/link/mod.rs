//! Joins: which workload runs on which pool, is scaled by what, exposed by what, built from which Dockerfile.
//! Knows facts and the catalog; knows neither formats nor rules.

mod collection;
mod driver;
mod environment;
mod lists;
mod models;
mod mounted;
mod node;
mod objects;
mod packages;
mod pools;
mod releases;
mod software;
mod taints;
mod training;

use crate::facts::Facts;
use crate::known::Fact;
use crate::source::{SourceId, Sources};

/// Joins the facts of a run in place. `sources` tells which files lie near each other: when several
/// candidates could decide a fact, the ones in the nearest common directory do.
pub fn link(facts: &mut Facts, sources: &Sources) {
    mounted::link(facts);
    environment::link(facts, sources);
    releases::link(facts, sources);
    pools::enrich(facts);
    objects::link(facts);
    node::link(facts, sources);
    taints::link(facts);
    software::link(facts, sources);
    models::link(facts, sources);
    training::link(facts, sources);
}

/// Completes what releases install from the files and objects that they name, before anything else is joined.
pub fn values(facts: &mut Facts, sources: &Sources) {
    releases::link(facts, sources);
}

/// Whether two names in the same or an unstated namespace may mean the same place.
fn same_namespace(a: &Fact<String>, b: &Fact<String>) -> bool {
    match (a.get(), b.get()) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// The candidates that share the longest directory prefix with the file at hand.
fn nearest<T>(sources: &Sources, from: SourceId, candidates: Vec<(SourceId, T)>) -> Vec<T> {
    let here = directories(sources, from);
    let shared = |id: SourceId| common(&here, &directories(sources, id));
    let best = candidates.iter().map(|(id, _)| shared(*id)).max().unwrap_or(0);
    candidates.into_iter().filter(|(id, _)| shared(*id) == best).map(|(_, candidate)| candidate).collect()
}

/// The directories that a file stands in, outermost first.
fn directories(sources: &Sources, id: SourceId) -> Vec<&str> {
    let mut parts: Vec<&str> = sources.get(id).path.split('/').collect();
    parts.pop();
    parts
}

fn common(a: &[&str], b: &[&str]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
