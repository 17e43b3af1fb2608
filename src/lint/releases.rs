//! Releases of the repository's own charts: what Argo CD, Flux, Terraform and the configuration install, as further
//! sets of values. Knows facts about releases and the places of charts.

use crate::facts::{HelmRelease, ReleaseFormat};
use crate::known::Known;
use crate::parse::{Builder, Dialect, Entry, NodeId, NodeKind, Raw, Tree, yaml};
use crate::paths;
use crate::render::helm::sets::MAX_SETS;
use crate::render::helm::{Chart, ValueSet};
use crate::source::{Sources, Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Adds a set for every release whose chart is among the charts.
pub fn add(sets: &mut [Vec<ValueSet>], charts: &[Chart<'_>], installed: &[&HelmRelease], sources: &Sources) {
    for release in installed {
        let here = &sources.get(release.span.source).path;
        let owners: Vec<usize> = match (release.format.get(), release.path.get()) {
            (Some(ReleaseFormat::CommandLine), _) => (0..charts.len()).collect(),
            (Some(ReleaseFormat::Configuration), Some(path)) => {
                owner(&format!("./{path}"), here, charts).into_iter().collect()
            }
            (_, path) => path.and_then(|path| owner(path, here, charts)).into_iter().collect(),
        };
        for owner in owners {
            if sets[owner].len() >= MAX_SETS {
                continue;
            }
            let set = set(release, charts[owner].directory, &sets[owner][0], sources);
            sets[owner].extend(set);
        }
    }
}

/// The chart at a path of some repository: the only one whose directory ends so, or else the nearest of them.
fn owner(path: &str, from: &str, charts: &[Chart<'_>]) -> Option<usize> {
    let stated = !path.contains("://") && (path.contains('/') || path.starts_with('.'));
    let tail = path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect::<Vec<_>>().join("/");
    let shared = |directory: &str| {
        let parts = directory.split('/').zip(from.split('/'));
        parts.take_while(|(a, b)| a == b).count()
    };
    let ends = |c: &Chart<'_>| {
        let directory = c.directory.trim_end_matches('/');
        directory == tail || stated && directory.strip_suffix(&tail).is_some_and(|above| above.ends_with('/'))
    };
    let found = (0..charts.len()).filter(|&i| !tail.is_empty() && ends(&charts[i]));
    found.max_by_key(|&i| (shared(charts[i].directory), std::cmp::Reverse(i)))
}

/// The values that a release gives its chart; `None` when some of them are not here.
fn set(release: &HelmRelease, directory: &str, defaults: &ValueSet, sources: &Sources) -> Option<ValueSet> {
    let mut layers = Vec::new();
    if release.values_complete.get() == Some(&false) {
        // Argo CD starts from the chart.
        for name in &release.values_from {
            let path = paths::join(directory, name.get()?);
            let (id, source) = sources.iter().find(|(_, source)| source.path == path)?;
            let tree = Arc::new(yaml::parse(id, &source.text, Dialect::Kubernetes));
            let root = yaml::root(&tree)?.view();
            layers.push(Raw::new(&tree, root));
        }
    }
    layers.extend(release.values.clone().filter(|raw| raw.id.is_some()));
    if !release.set.is_empty() {
        layers.push(single_values(release));
    }
    let mut to = defaults.release.clone();
    let text = |slot: &mut String, fact: &Known<String>| {
        if let Known::Value(value) = fact {
            slot.clone_from(value);
        }
    };
    text(&mut to.name, &release.name.known);
    text(&mut to.namespace, &release.namespace.known);
    text(&mut to.kubernetes, &release.kubernetes.known);
    let file = &sources.get(release.span.source).path;
    let name = if release.name.get().is_some() { format!("the release {} of {file}", to.name) } else { file.clone() };
    Some(ValueSet { name, layers, release: to, example: None })
}

/// Values by dotted names.
enum Single {
    Leaf(NodeId),
    Table(BTreeMap<String, Single>),
}

/// What `--set` and its like state, as a document. Names with an index are left out.
fn single_values(release: &HelmRelease) -> Raw {
    let mut builder = Builder::new(release.span.source, Dialect::Kubernetes);
    let mut root = BTreeMap::new();
    for (name, value) in &release.set {
        let kind = match &value.known {
            Known::Value(text) => NodeKind::Scalar { text: Traced::opaque(text.as_str(), value.span), plain: true },
            Known::Absent => continue,
            Known::Unknown(why) => NodeKind::Unknown(why.clone()),
        };
        if name.contains(['[', '{']) {
            continue;
        }
        let leaf = builder.add(kind, value.span);
        put(&mut root, &parts(name), leaf);
    }
    let id = map(&mut builder, root, release.span);
    builder.tree().documents.push(id);
    let tree: Arc<Tree> = Arc::new(builder.finish());
    Raw { place: release.span, id: Some(id), tree, open: None }
}

/// `a.b\.c` names `b.c` in `a`.
fn parts(name: &str) -> Vec<String> {
    name.replace("\\.", "\0").split('.').map(|part| part.replace('\0', ".")).collect()
}

fn put(table: &mut BTreeMap<String, Single>, parts: &[String], leaf: NodeId) {
    let Some((first, rest)) = parts.split_first() else { return };
    if rest.is_empty() {
        table.insert(first.clone(), Single::Leaf(leaf));
        return;
    }
    let slot = table.entry(first.clone()).or_insert_with(|| Single::Table(BTreeMap::new()));
    if let Single::Leaf(_) = slot {
        *slot = Single::Table(BTreeMap::new());
    }
    if let Single::Table(inner) = slot {
        put(inner, rest, leaf);
    }
}

fn map(builder: &mut Builder, table: BTreeMap<String, Single>, place: Span) -> NodeId {
    let mut entries = Vec::new();
    for (name, value) in table {
        let value = match value {
            Single::Leaf(id) => id,
            Single::Table(inner) => map(builder, inner, place),
        };
        let text = Traced::opaque(name, place);
        let key = builder.add(NodeKind::Scalar { text, plain: false }, place);
        entries.push(Entry { key, value });
    }
    builder.add(NodeKind::Map(entries), place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Fact;
    use crate::render::helm::chart::{File, find};
    use crate::render::helm::sets::sets;
    use crate::source::SourceId;

    fn charts<'a>(paths: &[&'a str]) -> Vec<Chart<'a>> {
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

    #[test]
    fn single_values_lie_over_the_files() {
        let span = Span::new(SourceId(0), 0..1);
        let mut release = HelmRelease::blank(span);
        release.path = Fact::value("c/x".to_owned(), span);
        release.name = Fact::value("prod".to_owned(), span);
        let set = |text: &str| Fact::value(text.to_owned(), span);
        release.set =
            [("a.b", set("1")), (r"a.c\.d", set("true")), ("l[0]", set("z"))].map(|(k, v)| (k.to_owned(), v)).into();
        let charts = charts(&["c/x/Chart.yaml"]);
        let mut all = sets(&charts, &[], "1.31.0");
        let sources = Sources::new(vec![crate::source::Source::new("apps/x.yaml", "x")]);
        add(&mut all, &charts, &[&release], &sources);
        let found = &all[0][1];
        assert_eq!((found.name.as_str(), found.release.name.as_str()), ("the release prod of apps/x.yaml", "prod"));
        let root = found.layers[0].view();
        assert_eq!(root.path("a.b").int().get(), Some(&1));
        assert_eq!(root.get("a").get("c.d").boolean().get(), Some(&true));
        assert!(!root.get("l").is_some());
    }
}
