//! Releases of the repository's own charts: what Argo CD, Flux, helmfile, Skaffold, Terraform and the configuration
//! install, as further sets of values. Knows facts about releases and the places of charts.

use super::Repository;
use crate::extract::{self, values};
use crate::facts::{Facts, HelmRelease, ReleaseFormat};
use crate::known::{Known, Why};
use crate::link::Variant;
use crate::parse::{Builder, Dialect, Node, NodeId, NodeKind, Raw, Tree, placeholder, yaml};
use crate::paths;
use crate::render::helm::sets::names_values;
use crate::render::helm::{Chart, ValueSet};
use crate::source::{Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Reads the files that releases take values from and whose names do not say so.
pub fn named_values(repository: &Repository<'_>, variants: &[Variant]) -> Facts {
    let trees: BTreeMap<&str, &Arc<Tree>> =
        repository.trees.iter().map(|(id, tree)| (repository.path(*id), tree)).collect();
    let from = |release: &HelmRelease| {
        let directory = paths::directory(&repository.sources.get(release.span.source).path);
        let names = release.values_from.iter().filter_map(|name| name.get()).filter(|name| !name.starts_with('$'));
        names.map(|name| paths::join(directory, name)).collect::<Vec<_>>()
    };
    // Files of a source are named from where it begins, which may be here.
    let releases = variants.iter().flat_map(|variant| &variant.facts.releases);
    let of_sources: BTreeSet<&str> = releases
        .flat_map(|release| &release.values_from)
        .filter_map(|name| Some(name.get()?.strip_prefix('$')?.split_once('/')?.1))
        .collect();
    let mut named: BTreeSet<String> =
        variants.iter().flat_map(|variant| &variant.facts.releases).flat_map(|release| from(release)).collect();
    if !of_sources.is_empty() {
        let ends = |path: &&str| successors(Some(*path), below).any(|end| of_sources.contains(end));
        named.extend(trees.keys().copied().filter(ends).map(str::to_owned));
    }
    let mut out = Facts::default();
    for path in &named {
        let Some(tree) = trees.get(path.as_str()) else { continue };
        let unread = |root: &Node<'_>| root.is_map() && extract::format(*root, path).is_none();
        tree.roots().filter(unread).for_each(|root| values::read(tree, root, path, &mut out));
    }
    out
}

/// A path without its first part.
fn below<'p>(path: &&'p str) -> Option<&'p str> {
    path.split_once('/').map(|(_, below)| below)
}

/// A release that no set of values could be made of: its chart among the charts, what it is called, and why.
pub struct Open {
    /// The chart.
    pub chart: usize,
    /// What reports call the release.
    pub name: String,
    /// What is not known.
    pub why: String,
    /// Where it is stated, if gpulint failed on it.
    pub failed: Option<Span>,
}

/// Adds a set for every release whose chart is among the charts.
pub fn add(
    sets: &mut [Vec<ValueSet>],
    charts: &[Arc<Chart<'_>>],
    installed: &[&HelmRelease],
    sources: &Sources,
) -> Vec<Open> {
    let mut out = Vec::new();
    for release in installed {
        let here = &sources.get(release.span.source).path;
        let owners: Vec<usize> = match (release.format.get(), release.path.get()) {
            (Some(ReleaseFormat::CommandLine), _) => (0..charts.len()).collect(),
            (Some(ReleaseFormat::Configuration), Some(path)) => {
                owner(&format!("./{path}"), here, charts).into_iter().collect()
            }
            (_, path) => path.and_then(|path| owner(path, here, charts)).into_iter().collect(),
        };
        let files: Vec<&str> = release.values_from.iter().filter_map(|name| Some(paths::name(name.get()?))).collect();
        for chart in owners {
            // What only its keys told is not installed by itself where a release names it.
            sets[chart].retain(|set| {
                set.example.is_none() || names_values(&set.name) || !files.contains(&paths::name(&set.name))
            });
            let set = || set(release, charts[chart].directory, &sets[chart][0], sources);
            let open = |why, failed| Open { chart, name: name(release, sources), why, failed };
            match catch_unwind(AssertUnwindSafe(set)) {
                Ok(Ok(set)) => sets[chart].push(set),
                Ok(Err(why)) => out.push(open(why, None)),
                Err(_) => out.push(open("gpulint failed on it".to_owned(), Some(release.span))),
            }
        }
    }
    sets.iter_mut().for_each(|sets| call_alike(sets));
    out
}

/// Gives the sets of a chart whose release nobody names the name of those that somebody does, where that is one.
fn call_alike(sets: &mut [ValueSet]) {
    let stated = sets.iter().map(|set| &set.release).filter(|release| !release.assumed);
    let names: BTreeSet<String> = stated.map(|release| release.name.clone()).collect();
    let mut names = names.into_iter();
    if let (Some(only), None) = (names.next(), names.next()) {
        for release in sets.iter_mut().map(|set| &mut set.release).filter(|release| release.assumed) {
            (release.name, release.assumed) = (only.clone(), false);
        }
    }
}

/// What reports call a release.
fn name(release: &HelmRelease, sources: &Sources) -> String {
    let file = &sources.get(release.span.source).path;
    release.name.get().map_or_else(|| file.clone(), |name| format!("the release {name} of {file}"))
}

/// The chart at a path of some repository: the only one whose directory ends so, or else the nearest of them.
fn owner(path: &str, from: &str, charts: &[Arc<Chart<'_>>]) -> Option<usize> {
    if path.starts_with('.') {
        let directory = paths::join(paths::directory(from), path);
        if let Some(beside) = charts.iter().position(|c| c.directory.trim_end_matches('/') == directory) {
            return Some(beside);
        }
    }
    let stated = !path.contains("://") && (path.contains('/') || path.starts_with('.'));
    let tail = path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect::<Vec<_>>().join("/");
    let shared = |directory: &str| {
        let parts = directory.split('/').zip(from.split('/'));
        parts.take_while(|(a, b)| a == b).count()
    };
    let ends = |c: &Arc<Chart<'_>>| {
        let directory = c.directory.trim_end_matches('/');
        directory == tail || stated && directory.strip_suffix(&tail).is_some_and(|above| above.ends_with('/'))
    };
    let found = (0..charts.len()).filter(|&i| !tail.is_empty() && ends(&charts[i]));
    found.max_by_key(|&i| (shared(charts[i].directory), std::cmp::Reverse(i)))
}

/// The values that a release gives its chart, or what is not here of them.
fn set(release: &HelmRelease, directory: &str, defaults: &ValueSet, sources: &Sources) -> Result<ValueSet, String> {
    let mut layers = Vec::new();
    if release.values_complete.get() == Some(&false) {
        // Argo CD starts from the chart.
        for name in &release.values_from {
            layers.push(beside_chart(name.get().map(String::as_str), directory, sources)?);
        }
    }
    layers.extend(release.values.clone().filter(|raw| raw.id.is_some()));
    if release.format.get() == Some(&ReleaseFormat::Helmfile) {
        let evaluated = layers.iter().map(unevaluated).collect::<Option<_>>();
        layers = evaluated.ok_or("expressions decide which values are set")?;
    }
    let mut to = defaults.release.clone();
    let text = |slot: &mut String, fact: &Known<String>| {
        if let Known::Value(value) = fact {
            slot.clone_from(value);
        }
    };
    text(&mut to.name, &release.name.known);
    to.assumed &= release.name.get().is_none();
    text(&mut to.namespace, &release.namespace.known);
    text(&mut to.kubernetes, &release.kubernetes.known);
    Ok(ValueSet { name: name(release, sources), layers, release: to, example: None, deployed: true })
}

/// A values file that a release names as seen from its chart.
fn beside_chart(name: Option<&str>, directory: &str, sources: &Sources) -> Result<Raw, String> {
    let path = paths::join(directory, name.ok_or("an expression names its values")?);
    let found = sources.iter().find(|(_, source)| source.path == path);
    let read = found.and_then(|(id, source)| {
        let tree = Arc::new(yaml::parse(id, &source.text, Dialect::Kubernetes));
        let root = yaml::root(&tree)?.view();
        Some(Raw::new(&tree, root))
    });
    read.ok_or_else(|| format!("its values are not here: {}", name.unwrap_or_default()))
}

/// Values with everything unknown that is an expression; `None` where one of them decides which keys there are.
fn unevaluated(raw: &Raw) -> Option<Raw> {
    let mut builder = Builder::new(raw.tree.source, raw.tree.dialect);
    let root = builder.copy(raw.view().node()?);
    let is_one = |node: Node<'_>| node.text().is_some_and(|text| text.contains("{{") || text.starts_with("$("));
    let tree = builder.tree();
    let open = |node: Node<'_>| node.entries_and_rest().iter().any(|(key, _)| is_one(*key) || key.text() == Some("<<"));
    if tree.nodes().any(open) {
        return None;
    }
    let why = |node: Node<'_>| node.text().and_then(placeholder).unwrap_or(Why::Template);
    let found: Vec<(NodeId, Span, Why)> =
        tree.nodes().filter(|node| is_one(*node)).map(|node| (node.id(), node.span(), why(node))).collect();
    found.into_iter().for_each(|(id, span, why)| builder.set(id, NodeKind::Unknown(why), span));
    builder.tree().documents.push(root);
    Some(Raw { id: Some(root), tree: Arc::new(builder.finish()), ..raw.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::helm::chart::{File, find};
    use crate::source::SourceId;

    fn charts<'a>(paths: &[&'a str]) -> Vec<Arc<Chart<'a>>> {
        let file = |(i, path): (usize, &&'a str)| File { source: SourceId(i as u32), path, text: "name: x" };
        find(&paths.iter().enumerate().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn a_chart_is_found_by_the_end_of_its_path() {
        let charts = charts(&["a/charts/x/Chart.yaml", "b/charts/x/Chart.yaml", "deploy/y/Chart.yaml"]);
        assert_eq!(owner("charts/x", "b/apps/x.yaml", &charts), Some(1));
        assert_eq!(owner("../charts/x/", "a/apps/x.yaml", &charts), Some(0));
        assert_eq!(owner("deploy/y", "x.yaml", &charts), Some(2));
        for path in ["y", "oci://host/deploy/y", "charts/z", "."] {
            assert_eq!(owner(path, "x.yaml", &charts), None, "{path}");
        }
    }
}
