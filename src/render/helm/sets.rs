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
    /// Whether no file states that name.
    pub assumed: bool,
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
    /// Whether it is all that somebody installs the chart with.
    pub deployed: bool,
}

impl ValueSet {
    /// The layers as one table.
    pub fn table(&self, share: &Share) -> Table<'_> {
        let mut out = Table::new();
        self.layers.iter().filter_map(|raw| raw.view().node()).for_each(|root| overlay(&mut out, &table(root, share)));
        out
    }
}

/// For each chart, its defaults and every file of values that is meant for it: those beside it, those that lie in it or,
/// elsewhere, that no other chart knows all keys of.
pub fn sets(charts: &[Arc<Chart<'_>>], files: &[File<'_>], kubernetes: &str) -> Vec<Vec<ValueSet>> {
    let release = |chart: &Chart<'_>| Release {
        // Helm takes no capitals and no underscores.
        name: chart.name.to_ascii_lowercase().replace('_', "-"),
        assumed: true,
        namespace: "default".to_owned(),
        kubernetes: kubernetes.to_owned(),
        apis: Vec::new(),
    };
    let mut out: Vec<Vec<ValueSet>> = charts
        .iter()
        .map(|chart| {
            vec![ValueSet {
                name: String::new(),
                layers: Vec::new(),
                release: release(chart),
                example: None,
                deployed: false,
            }]
        })
        .collect();
    let known = Known::by(charts);
    let named = of_kustomizations(files);
    let told = |file: &File<'_>| !named.contains(paths::name(file.path)) && known.may_know(file);
    for file in files.iter().filter(|file| !is_of_tests(file.path) && (names_values(file.path) || told(file))) {
        let tree = Arc::new(yaml::parse(file.source, file.text, Dialect::Kubernetes));
        let Some(root) = yaml::root(&tree).filter(|root| root.is_map() && tree.problems.is_empty()) else { continue };
        let Some(owner) = known.owner(file.path, root) else { continue };
        let layers = vec![Raw::new(&tree, root.view())];
        let release = release(&charts[owner]);
        let example = Some(file.source);
        out[owner].push(ValueSet { name: file.path.to_owned(), layers, release, example, deployed: false });
    }
    out
}

/// What kustomizations that install charts name: they give files of values together with others.
fn of_kustomizations<'t>(files: &[File<'t>]) -> BTreeSet<&'t str> {
    let is_one =
        |file: &&File<'_>| paths::name(file.path).starts_with("kustomization.") && file.text.contains("helmChart");
    let words =
        files.iter().filter(is_one).flat_map(|file| file.text.split([' ', '\n', '"', '\'', ',', '{', '}', '[', ']']));
    words.map(paths::name).collect()
}

/// What the charts of a run know.
struct Known<'c> {
    charts: &'c [Arc<Chart<'c>>],
    /// The charts that know a key at the top.
    keys: HashMap<String, BTreeSet<usize>>,
    /// The chart in a directory.
    places: HashMap<&'c str, usize>,
}

impl<'c> Known<'c> {
    fn by(charts: &'c [Arc<Chart<'c>>]) -> Self {
        let mut keys: HashMap<String, BTreeSet<usize>> = HashMap::new();
        for (i, chart) in charts.iter().enumerate() {
            for key in known_keys(chart) {
                keys.entry(key).or_default().insert(i);
            }
        }
        let places = charts.iter().enumerate().map(|(i, chart)| (chart.directory, i)).collect();
        Self { charts, keys, places }
    }

    /// Whether a file that is not called like values has no key at the top that no chart knows, as far as its lines tell.
    fn may_know(&self, file: &File<'_>) -> bool {
        let name = paths::name(file.path);
        let yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        let begins = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphabetic());
        let mut keys = file.text.lines().filter(begins).map(|line| line.split(':').next().unwrap_or(line)).peekable();
        let defaults = || name.starts_with("values.") && self.places.contains_key(directory(file.path));
        yaml && keys.peek().is_some() && keys.all(|key| self.keys.contains_key(key.trim_end())) && !defaults()
    }

    /// The chart that a file of values is meant for.
    fn owner(&self, path: &str, root: Node<'_>) -> Option<usize> {
        let called = names_values(path);
        if let Some(owner) = beside(path).find_map(|directory| self.places.get(directory)).filter(|_| called) {
            return Some(*owner);
        }
        // Nearest first. Values of subcharts and what a chart hands to its templates are not for the chart as a whole.
        let within = above(path).filter_map(|at| Some((at, *self.places.get(at)?))).last();
        let own = |at: &str| {
            ["charts", "crds", "files", "templates", "tests"].iter().any(|of| path[at.len()..].starts_with(of))
        };
        let owner = match within {
            Some((at, _)) if own(at) => None,
            Some((_, chart)) => Some(chart).filter(|chart| self.knows_all(*chart, root)),
            None => self.only_owner(root),
        }?;
        (called || self.tells(owner, root)).then_some(owner)
    }

    /// Keys that are not common to most charts.
    fn own_keys(root: Node<'_>) -> Vec<String> {
        keys(root).into_iter().filter(|key| !COMMON_KEYS.contains(&key.as_str())).collect()
    }

    /// Whether a chart knows every key, one of them not common to most charts.
    fn knows_all(&self, chart: usize, root: Node<'_>) -> bool {
        let knows = |key: &String| self.keys.get(key).is_some_and(|charts| charts.contains(&chart));
        keys(root).iter().all(knows) && !Self::own_keys(root).is_empty()
    }

    /// The only chart that knows every key, one of them not common to most charts.
    fn only_owner(&self, root: Node<'_>) -> Option<usize> {
        let mut known = Vec::new();
        for key in Self::own_keys(root) {
            known.push(self.keys.get(&key)?);
        }
        known.sort_by_key(|charts| charts.len());
        let (fewest, others) = known.split_first()?;
        let mut owners = fewest.iter().filter(|chart| others.iter().all(|charts| charts.contains(chart)));
        owners.next().copied().filter(|_| owners.next().is_none())
    }

    /// Whether more than one key of its own, or most of the keys below it, tell that values are those of a chart.
    fn tells(&self, chart: usize, root: Node<'_>) -> bool {
        let own = Self::own_keys(root);
        let defaults = self.charts[chart].values.as_ref().and_then(yaml::root);
        let below = |root: Node<'_>| own.first().and_then(|key| root.get(key)).map(keys).unwrap_or_default();
        let (stated, known) = (below(root), defaults.map(below).unwrap_or_default());
        own.len() > 1 || 2 * stated.iter().filter(|key| known.contains(key)).count() >= stated.len().max(1)
    }
}

/// Whether a file is called like what the tests of a chart try: `test-values.yaml`.
fn is_of_tests(path: &str) -> bool {
    paths::name(path).to_ascii_lowercase().split(['-', '_', '.']).any(|word| matches!(word, "test" | "tests"))
}

/// Whether a file is called like values, other than a chart's defaults.
pub fn names_values(path: &str) -> bool {
    let name = paths::name(path).to_ascii_lowercase();
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"));
    stem.is_some_and(|stem| stem != "values" && stem.contains("values"))
}

/// The directory of a file, with a slash at its end.
fn directory(path: &str) -> &str {
    &path[..path.rfind('/').map_or(0, |at| at + 1)]
}

/// The directory of a file with a slash at its end, and the one above where that is `ci/`.
fn beside(path: &str) -> impl Iterator<Item = &str> {
    let own = directory(path);
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
            ("a/test-values.yaml", "x: 1"),
            ("a/values.yaml", "x: 0"),
        ]);
        assert_eq!(found, [["", "a/ci/gpu-values.yaml", "a/values-prod.yaml"]]);
    }

    #[test]
    fn where_the_run_starts_makes_no_difference() {
        let files = [("Chart.yaml", "name: a"), ("examples/values-b.yaml", "engine: 1"), ("values.yaml", "engine: {}")];
        let below: Vec<(String, &str)> = files.iter().map(|(path, text)| (format!("a/{path}"), *text)).collect();
        let below: Vec<(&str, &str)> = below.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let expected = |set: &str| vec![vec![String::new(), set.to_owned()]];
        assert_eq!(names(&files), expected("examples/values-b.yaml"));
        assert_eq!(names(&below), expected("a/examples/values-b.yaml"));
    }

    #[test]
    fn values_of_any_name_are_told_by_their_keys() {
        let found = names(&[
            ("a/Chart.yaml", "name: a"),
            ("a/charts/b/Chart.yaml", "name: b"),
            ("a/charts/b/gpu.yaml", "engine: {gpu: 1}"),
            ("a/configs/gpu.yaml", "engine: {gpu: 1}"),
            ("a/examples/object.yaml", "apiVersion: v1\nkind: Pod"),
            ("a/examples/other.yaml", "engine: {cpu: 1}"),
            ("a/files/gpu.yaml", "engine: {gpu: 1}"),
            ("a/values.yaml", "engine: {gpu: 0}\nmodel: x\nimage: x"),
            ("deploy/common.yaml", "image: x"),
            ("deploy/model.yaml", "model: y\nengine: {more: 1}"),
            ("deploy/prod/values.yaml", "# Production\nengine:\n  gpu: 2"),
        ]);
        assert_eq!(found, [["", "a/configs/gpu.yaml", "deploy/model.yaml", "deploy/prod/values.yaml"]]);
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
