//! Joins: which workload runs on which pool, is scaled by what, exposed by what, built from which Dockerfile.
//! Knows facts and the catalog; knows neither formats nor rules.

mod balancers;
mod bases;
mod boundary;
mod candidates;
mod chart_values;
mod claims;
mod devices;
mod directories;
mod driver;
mod engines;
mod environment;
mod indexes;
mod lists;
mod login;
mod models;
mod mounted;
mod node;
mod node_classes;
mod objects;
mod offers;
mod options;
mod packages;
mod pools;
mod promises;
mod queues;
mod releases;
mod scaling;
mod software;
mod steps;
mod taints;
mod training;
mod variant;

pub use bases::{Based, based};
pub use boundary::{Boundary, Deployed, Layout, Reach};
pub use candidates::Candidates;
pub use directories::{Dir, Directories};
pub use software::{Starts, named_by};
pub use variant::{Routes, Variant};

use crate::facts::{Facts, IndexSetting};
use crate::known::Fact;
use crate::parse::Problem;
use crate::source::Sources;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Joins the facts of files that are one repository without charts and kustomizations.
pub fn link(facts: &mut Facts, sources: &Sources, starts: Starts) {
    let mut plain = [Variant::plain(std::mem::take(facts))];
    join(&mut plain, &Directories::of(sources), starts);
    let [plain] = plain;
    *facts = plain.facts;
}

/// Completes what releases install from the files and objects that they name, before anything else is joined.
pub fn complete(variants: &mut [Variant], directories: &Directories<'_>) {
    let mut cut = Vec::new();
    let completed = |releases: &mut [_], deployed: Deployed<'_>| releases::complete(releases, deployed, &mut cut);
    each(variants, &Layout::of(variants, directories), |facts| &mut facts.releases, completed);
    tell(variants, cut);
}

/// Joins the facts of a repository in place.
pub fn join(variants: &mut [Variant], directories: &Directories<'_>, starts: Starts) {
    complete(variants, directories);
    variants.par_iter_mut().for_each(|variant| {
        pools::enrich(&mut variant.facts);
        chart_values::link(&mut variant.facts);
    });
    let layout = Layout::of(variants, directories);
    each(variants, &layout, |facts| &mut facts.pools, node_classes::link);
    each(variants, &layout, |facts| &mut facts.scaling_policies, scaling::link);
    let named: Vec<IndexSetting> = variants.iter_mut().flat_map(|v| std::mem::take(&mut v.facts.indexes)).collect();
    let settings = indexes::Settings::of(&named, &layout);
    variants.par_iter_mut().for_each(|variant| {
        indexes::link(&mut variant.facts, &settings);
        software::complete(&mut variant.facts, &layout);
    });
    each(variants, &layout, |facts| &mut facts.builds, node::drivers_of_builds);
    each(variants, &layout, |facts| &mut facts.package_files, node::drivers_of_environments);
    let exposed = objects::exposures(Deployed::of(variants, &layout));
    for (variant, exposures) in variants.iter_mut().zip(exposed) {
        objects::expose(&mut variant.facts.workloads, exposures);
    }
    each(variants, &layout, |facts| &mut facts.resources, promises::of_resources);
    each(variants, &layout, |facts| &mut facts.stores, promises::of_stores);
    each(variants, &layout, |facts| &mut facts.device_claims, claims::complete);
    let (mut cut, mut named) = (Vec::new(), BTreeMap::new());
    each(
        variants,
        &layout,
        |facts| &mut facts.workloads,
        |workloads, deployed| {
            steps::link(workloads, &layout);
            mounted::link(workloads, deployed);
            options::link(workloads, deployed);
            environment::link(workloads, deployed, &mut cut);
            objects::link(workloads, deployed);
            claims::link(workloads, deployed);
            queues::link(workloads, deployed);
            node::link(workloads, deployed);
            deployed.each(workloads, |workload, _| devices::link(workload));
            deployed.each(workloads, |workload, _| taints::link(workload));
            software::link(workloads, deployed, starts);
            models::link(workloads, deployed);
            training::link(workloads, deployed, &mut named);
            promises::link(workloads, deployed);
            deployed.each(workloads, |workload, _| engines::link(workload));
            login::link(workloads, deployed);
        },
    );
    // What several commands read is held against none of them.
    named.retain(|_, commands: &mut training::Commands| commands.len() == 1);
    for document in variants.iter_mut().flat_map(|variant| &mut variant.facts.documents) {
        if let Some((command, overridden)) = named.get(&document.body.place).and_then(BTreeMap::first_key_value) {
            document.kind = command.clone().into();
            document.overridden = overridden.clone();
        }
    }
    balancers::link(variants);
    tell(variants, cut);
}

/// Adds what was too much to read.
fn tell(variants: &mut [Variant], cut: Vec<Problem>) {
    if let Some(first) = variants.first_mut() {
        first.facts.cut.extend(cut);
    }
}

/// Changes one list of every variant, while everything else of all of them can be looked at.
fn each<T: Send>(
    variants: &mut [Variant],
    layout: &Layout<'_>,
    list: impl Fn(&mut Facts) -> &mut Vec<T>,
    change: impl FnOnce(&mut [Vec<T>], Deployed<'_>),
) {
    let mut lists: Vec<Vec<T>> = variants.iter_mut().map(|variant| std::mem::take(list(&mut variant.facts))).collect();
    change(&mut lists, Deployed::of(variants, layout));
    for (variant, changed) in variants.iter_mut().zip(lists) {
        *list(&mut variant.facts) = changed;
    }
}

/// A namespace as a key of joins: what is joined is in the same one, or one of both does not state its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Namespace<'a> {
    /// What anything may be in.
    Any,
    /// The stated one, or none.
    Of(Option<&'a str>),
}

impl<'a> Namespace<'a> {
    /// What something with a name or another sign is found by.
    pub fn listed<S: Copy>(namespace: &'a Fact<String>, sign: S) -> [(Self, S); 2] {
        [(Namespace::Any, sign), (Namespace::Of(namespace.get().map(String::as_str)), sign)]
    }

    /// Where to look for something with a name or another sign.
    pub fn sought<S: Copy>(namespace: &'a Fact<String>, sign: S) -> Vec<(Self, S)> {
        match namespace.get() {
            Some(stated) => vec![(Namespace::Of(Some(stated)), sign), (Namespace::Of(None), sign)],
            None => vec![(Namespace::Any, sign)],
        }
    }
}
