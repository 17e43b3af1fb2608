//! Names that a configuration states and that nothing here has. Knows what they are names of.

use super::Repository;
use crate::catalog;
use crate::facts::{Facts, InfraFormat, Listing, ReleaseFormat};
use crate::finding::{Finding, Severity};
use crate::known::Fact;
use crate::link::Variant;
use crate::paths;
use crate::source::Span;
use crate::suggest::did_you_mean;

/// What the configurations of a run state that is a name of something.
#[derive(Default)]
pub struct Names {
    gpus: Vec<Fact<String>>,
    charts: Vec<Fact<String>>,
    files: Vec<Fact<String>>,
    workloads: Vec<Fact<String>>,
}

impl Names {
    /// Those of what was declared.
    pub fn of(declared: &Facts) -> Self {
        let pools = declared.pools.iter().filter(|pool| pool.format.get() == Some(&InfraFormat::Configuration));
        let releases =
            || declared.releases.iter().filter(|release| release.format.get() == Some(&ReleaseFormat::Configuration));
        let levels =
            declared.objects.iter().filter(|object| object.kind.get().is_some_and(|kind| kind == "ServiceLevel"));
        let dockerfiles = declared.images.iter().map(|(_, file)| file.clone());
        Self {
            gpus: pools.map(|pool| pool.accelerator.clone()).collect(),
            charts: releases().map(|release| release.path.clone()).collect(),
            files: releases().flat_map(|release| release.values_from.clone()).chain(dockerfiles).collect(),
            workloads: levels.map(|level| level.name.clone()).collect(),
        }
    }

    /// Those that name nothing: GPUs that nobody knows, and of a repository that was walked as a whole what it lacks.
    pub fn absent(&self, here: &Repository<'_>, variants: &[Variant]) -> Vec<Finding> {
        let mut out: Vec<Finding> = stated(&self.gpus).filter_map(|(name, at)| gpu(name, at)).collect();
        let Some(listing) = variants.iter().find_map(|variant| variant.facts.listing.clone()) else { return out };
        let whole = |at: Span| is_whole(here, &listing, here.path(at.source));
        let named = |all: &'_ [Fact<String>]| -> Vec<(String, Span)> {
            stated(all).filter(|(_, at)| whole(*at)).map(|(name, at)| (name.to_owned(), at)).collect()
        };
        let from = |at: Span| paths::directory(here.path(at.source));
        // What was not looked into may be there.
        let closed = |path: &str| listing.closed.iter().any(|closed| closed == path || paths::holds(closed, path));
        let mut tell = |what: &str, (name, at): &(String, Span), near: Vec<String>| {
            let hint = did_you_mean(name, near.iter().map(String::as_str));
            out.push(finding(Severity::Error, *at, format!("there is no {what} `{name}` here{hint}")));
        };
        for name in named(&self.files) {
            let path = paths::join(from(name.1), &name.0);
            if !listing.there.contains(&path) && !closed(&path) {
                let near = listing.there.iter().map(|path| paths::relative(from(name.1), path));
                tell("file", &name, near.collect());
            }
        }
        let charts: Vec<&str> = here
            .iter()
            .filter(|(_, source)| paths::name(&source.path) == "Chart.yaml")
            .map(|(_, source)| paths::directory(&source.path))
            .collect();
        for name in named(&self.charts) {
            let path = paths::join(from(name.1), &name.0);
            let end = format!("/{}", paths::parts(&name.0).collect::<Vec<_>>().join("/"));
            let is = |chart: &&str| **chart == path || format!("/{chart}").ends_with(&end);
            if !charts.iter().any(is) && !closed(&path) {
                tell("chart", &name, charts.iter().map(|chart| paths::relative(from(name.1), chart)).collect());
            }
        }
        let workloads = || variants.iter().flat_map(|variant| &variant.facts.workloads);
        if workloads().all(|workload| workload.name.get().is_some()) {
            let names: Vec<String> = workloads().filter_map(|workload| workload.name.get().cloned()).collect();
            for name in named(&self.workloads).iter().filter(|(name, _)| !names.contains(name)) {
                tell("workload", name, names.clone());
            }
        }
        out
    }
}

/// Names that are stated, with their places.
fn stated(names: &[Fact<String>]) -> impl Iterator<Item = (&str, Span)> {
    names.iter().filter_map(|name| Some((name.get()?.as_str(), name.span)))
}

/// Whether the repository that a configuration stands in is this one, and was walked as a whole.
fn is_whole(here: &Repository<'_>, listing: &Listing, configuration: &str) -> bool {
    let root = |path: &str| paths::nearest(path, listing.roots.iter().map(|root| (root.as_str(), root)));
    let first = here.iter().next().map(|(_, source)| source.path.as_str());
    root(configuration).is_some() && first.is_none_or(|first| root(first) == root(configuration))
}

fn gpu(name: &str, at: Span) -> Option<Finding> {
    if catalog::gpus_named(name).chain(catalog::gpus_called(name)).next().is_some() {
        return None;
    }
    let message = match did_you_mean(name, catalog::gpu_names()) {
        hint if hint.is_empty() => {
            format!("no GPU is known by the name `{name}`, so what its memory and architecture decide stays open")
        }
        hint => format!("there is no GPU `{name}`{hint}"),
    };
    Some(finding(Severity::Warning, at, message))
}

fn finding(severity: Severity, at: Span, message: String) -> Finding {
    let help = Some("write the name of something that is there, or remove it".to_owned());
    Finding { help, ..Finding::own("configuration", severity, at, message) }
}
