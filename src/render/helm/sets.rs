//! Value sets: the ways in which the files of a run install a chart. Knows names and places of values files; merges
//! nothing.

use super::chart::{Chart, File};
use super::values::{self, Table, overlay, table};
use crate::budget::Share;
use crate::parse::{Dialect, Node, Raw, yaml};
use crate::paths;
use crate::source::SourceId;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Keys that most charts have: values of these alone do not tell whose they are.
const COMMON_KEYS: &[&str] = &[
    "affinity",
    "annotations",
    "args",
    "autoscaling",
    "command",
    "env",
    "extraArgs",
    "extraEnv",
    "fullnameOverride",
    "global",
    "image",
    "imagePullSecrets",
    "ingress",
    "labels",
    "livenessProbe",
    "metrics",
    "nameOverride",
    "namespace",
    "nodeSelector",
    "persistence",
    "podAnnotations",
    "podLabels",
    "podSecurityContext",
    "ports",
    "priorityClassName",
    "rbac",
    "readinessProbe",
    "replicaCount",
    "replicas",
    "resources",
    "securityContext",
    "service",
    "serviceAccount",
    "serviceMonitor",
    "startupProbe",
    "storage",
    "tags",
    "tolerations",
    "updateStrategy",
    "volumeMounts",
    "volumes",
];

/// Most sets that one chart is rendered with.
pub const MAX_SETS: usize = 64;

/// How a chart is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// `.Release.Name`.
    pub name: String,
    /// `.Release.Namespace`.
    pub namespace: String,
    /// Version of Kubernetes that `.Capabilities` tells, without a `v`.
    pub kubernetes: String,
    /// APIs that the cluster serves beside those of Kubernetes.
    pub apis: Vec<String>,
}

/// One way to install a chart.
#[derive(Debug)]
pub struct ValueSet {
    /// What reports call it; empty for the chart's own defaults.
    pub name: String,
    /// Values in order of rising precedence.
    pub layers: Vec<Raw>,
    /// Under which name and where.
    pub release: Release,
    /// The file of values, where nothing says that it is installed.
    pub example: Option<SourceId>,
}

impl ValueSet {
    /// The layers as one table.
    pub fn table(&self, share: &Share) -> Table<'_> {
        let mut out = Table::new();
        self.layers.iter().filter_map(|raw| raw.view().node()).for_each(|root| overlay(&mut out, &table(root, share)));
        out
    }
}

/// For each chart, its defaults and every file of values that is meant for it: those beside it and, elsewhere, those
/// that no other chart knows all keys of.
pub fn sets(charts: &[Arc<Chart<'_>>], files: &[File<'_>], kubernetes: &str) -> Vec<Vec<ValueSet>> {
    let release = |chart: &Chart<'_>| Release {
        // Helm takes no capitals and no underscores.
        name: chart.name.to_ascii_lowercase().replace('_', "-"),
        namespace: "default".to_owned(),
        kubernetes: kubernetes.to_owned(),
        apis: Vec::new(),
    };
    let mut out: Vec<Vec<ValueSet>> = charts
        .iter()
        .map(|chart| vec![ValueSet { name: String::new(), layers: Vec::new(), release: release(chart), example: None }])
        .collect();
    let mut knowing: HashMap<String, BTreeSet<usize>> = HashMap::new();
    for (i, chart) in charts.iter().enumerate() {
        for key in known_keys(chart) {
            knowing.entry(key).or_default().insert(i);
        }
    }
    let places: HashMap<&str, usize> = charts.iter().enumerate().map(|(i, chart)| (chart.directory, i)).collect();
    for file in files.iter().filter(|file| names_values(file.path)) {
        let beside = beside(file.path).find_map(|directory| places.get(directory).copied());
        let tree = || Arc::new(yaml::parse(file.source, file.text, Dialect::Kubernetes));
        let (tree, owner) = match beside {
            Some(owner) => (tree(), owner),
            // Values of subcharts and examples within a chart are not for the chart as a whole.
            None if above(file.path).any(|directory| places.contains_key(directory)) => continue,
            None => {
                let tree = tree();
                let Some(owner) = yaml::root(&tree).and_then(|root| only_owner(root, &knowing)) else { continue };
                (tree, owner)
            }
        };
        let Some(root) = yaml::root(&tree).filter(|root| root.is_map()) else { continue };
        if tree.problems.is_empty() {
            let layers = vec![Raw::new(&tree, root.view())];
            let release = release(&charts[owner]);
            let example = Some(file.source);
            out[owner].push(ValueSet { name: file.path.to_owned(), layers, release, example });
        }
    }
    out
}

/// Whether a file is called like values, other than a chart's defaults.
fn names_values(path: &str) -> bool {
    let name = paths::name(path).to_ascii_lowercase();
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"));
    stem.is_some_and(|stem| stem != "values" && stem.contains("values"))
}

/// The directory of a file with a slash at its end, and the one above where that is `ci/`.
fn beside(path: &str) -> impl Iterator<Item = &str> {
    let own = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    let above = own.strip_suffix("ci/").filter(|above| above.is_empty() || above.ends_with('/'));
    std::iter::once(own).chain(above)
}

/// Directories that a file lies in, the working directory first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(path.match_indices('/').map(|(at, _)| &path[..=at]))
}

/// Top-level keys of the values that a chart knows.
fn known_keys(chart: &Chart<'_>) -> BTreeSet<String> {
    let own = chart.values.as_ref().and_then(yaml::root).into_iter().flat_map(keys);
    let subcharts = chart.dependencies.iter().map(|d| d.known_as().to_owned());
    let held = chart.subcharts.iter().map(|c| c.own_name().to_owned());
    own.chain(subcharts).chain(held).collect()
}

fn keys(root: Node<'_>) -> Vec<String> {
    root.entries().into_iter().filter_map(|(key, _)| values::name(key)).collect()
}

/// The only chart that knows every key, one of them not common to most charts.
fn only_owner(root: Node<'_>, knowing: &HashMap<String, BTreeSet<usize>>) -> Option<usize> {
    let mut stated = keys(root).into_iter().filter(|key| !COMMON_KEYS.contains(&key.as_str()));
    let mut owners = knowing.get(&stated.next()?)?.clone();
    for key in stated {
        let others = knowing.get(&key)?;
        owners.retain(|owner| others.contains(owner));
    }
    owners.pop_first().filter(|_| owners.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::chart::find;
    use super::*;

    /// Names of the sets of each chart.
    fn names(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let file = |(i, (path, text))| File { source: SourceId(i as u32), path, text };
        let files: Vec<File<'_>> = files.iter().copied().enumerate().map(file).collect();
        let charts = find(&files);
        let named = |sets: Vec<ValueSet>| sets.into_iter().map(|set| set.name).collect();
        sets(&charts, &files, "1.31.0").into_iter().map(named).collect()
    }

    #[test]
    fn values_beside_a_chart_are_its_own() {
        let found = names(&[
            ("a/Chart.yaml", "name: a"),
            ("a/charts/b/Chart.yaml", "name: b"),
            ("a/charts/b/values-x.yaml", "x: 1"),
            ("a/ci/gpu-values.yaml", "x: 1"),
            ("a/values-broken.yaml", "x: ["),
            ("a/values-prod.yaml", "x: 1"),
            ("a/values.yaml", "x: 0"),
        ]);
        assert_eq!(found, [["", "a/ci/gpu-values.yaml", "a/values-prod.yaml"]]);
    }

    #[test]
    fn where_the_run_starts_makes_no_difference() {
        let files = [("Chart.yaml", "name: a"), ("examples/values-b.yaml", "engine: 1"), ("values.yaml", "engine: {}")];
        let below: Vec<(String, &str)> = files.iter().map(|(path, text)| (format!("a/{path}"), *text)).collect();
        let below: Vec<(&str, &str)> = below.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!((names(&files), names(&below)), (vec![vec![String::new()]], vec![vec![String::new()]]));
    }

    #[test]
    fn values_elsewhere_belong_to_the_only_chart_that_knows_them() {
        let found = names(&[
            ("a/Chart.yaml", "name: a"),
            ("a/values.yaml", "engine: {}\nimage: x"),
            ("b/Chart.yaml", "name: b"),
            ("b/values.yaml", "image: x\nrouter: {}"),
            ("examples/values-both.yaml", "engine: 1\nrouter: 1"),
            ("examples/values-common.yaml", "image: y"),
            ("examples/values-one.yaml", "engine: {gpu: 0.5}\nresources: {}"),
        ]);
        assert_eq!(found, [vec!["", "examples/values-one.yaml"], vec![""]]);
    }
}
