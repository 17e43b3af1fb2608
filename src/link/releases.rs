//! Values that a release takes from files and objects of the repository.

use super::{directories, same_namespace};
use crate::facts::{Facts, HelmRelease, Object, ReleaseFormat};
use crate::known::Fact;
use crate::parse::{Dialect, Raw, merged, yaml};
use crate::source::Sources;
use std::sync::Arc;

/// Lays the values that releases name under those they state inline.
pub fn link(facts: &mut Facts, sources: &Sources) {
    let objects = &facts.objects;
    for shared in &mut facts.releases {
        let beside = shared.format.get() == Some(&ReleaseFormat::ChartDependency);
        if shared.values_from.is_empty() && !beside {
            continue;
        }
        let release = Arc::make_mut(shared);
        let found: Vec<Option<Raw>> = match beside {
            true => vec![beside_chart(release, objects, sources)],
            false => release.values_from.iter().map(|name| named(name, release, objects, sources)).collect(),
        };
        release.values_complete = Fact::value(beside || found.iter().all(Option::is_some), release.span);
        let layers: Vec<Raw> = found.into_iter().flatten().chain(release.values.take()).collect();
        release.values = merged(&layers);
    }
}

/// The part of the values.yaml beside a Chart.yaml that is its dependency's.
fn beside_chart(release: &HelmRelease, objects: &[Arc<Object>], sources: &Sources) -> Option<Raw> {
    let path = relative(release, "values.yaml", sources);
    let name = release.name.get().or_else(|| release.chart.get())?;
    let body = file(&path, objects)?;
    Some(Raw::new(&body.tree, body.view().get(name)))
}

/// A values file by its path from the release, a file of an Argo CD source (`$values/path`), or a key of a ConfigMap
/// (`ConfigMap/name/key`).
fn named(name: &Fact<String>, release: &HelmRelease, objects: &[Arc<Object>], sources: &Sources) -> Option<Raw> {
    let name = name.get()?;
    if let Some(("ConfigMap", rest)) = name.split_once('/') {
        let (name, key) = rest.split_once('/')?;
        let kind = |o: &&Arc<Object>| o.kind.get().is_some_and(|k| k == "ConfigMap");
        let named = |o: &&Arc<Object>| o.name.get().is_some_and(|n| n == name);
        let map = objects.iter().find(|o| kind(o) && named(o) && same_namespace(&o.namespace, &release.namespace))?;
        let data = map.body.as_ref()?.view().get("data");
        let tree = Arc::new(yaml::parse_traced(data.get(key).traced()?, Dialect::Kubernetes));
        let root = yaml::root(&tree)?.view();
        return Some(Raw::new(&tree, root));
    }
    if let Some((_, path)) = name.strip_prefix('$').and_then(|rest| rest.split_once('/')) {
        let suffix = format!("/{path}");
        let ends = |o: &&Arc<Object>| o.name.get().is_some_and(|n| n == path || n.ends_with(&suffix));
        return objects.iter().find(|o| is_values(o) && ends(o))?.body.clone();
    }
    file(&relative(release, name, sources), objects)
}

fn is_values(object: &Object) -> bool {
    object.kind.get().is_some_and(|k| k == "Values")
}

/// The values in a file of the run, by its display path.
fn file(path: &str, objects: &[Arc<Object>]) -> Option<Raw> {
    objects.iter().find(|o| is_values(o) && o.name.get().is_some_and(|n| n == path))?.body.clone()
}

/// A path as the release's own file states it, from where display paths start.
fn relative(release: &HelmRelease, path: &str, sources: &Sources) -> String {
    let mut parts = directories(sources, release.span.source);
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}
