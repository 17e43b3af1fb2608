//! Values that a release takes from files and objects of the repository.

use super::boundary::{Boundary, Candidates, Reach};
use super::same_namespace;
use crate::facts::{HelmRelease, Object, ReleaseFormat};
use crate::known::Fact;
use crate::parse::{Dialect, Raw, merged, yaml};
use std::sync::Arc;

/// Values files and ConfigMaps.
type Objects<'a> = Candidates<'a, &'a Object>;

/// Lays the values that releases name under those they state inline.
pub fn complete(releases: &mut [Arc<HelmRelease>], boundary: &Boundary<'_>) {
    let objects: Objects<'_> = boundary.gather(Reach::Deployment, |facts| {
        let holds = |o: &&Arc<Object>| o.kind.get().is_some_and(|kind| matches!(kind.as_str(), "Values" | "ConfigMap"));
        facts.objects.iter().filter(holds).map(|object| (object.span.source, &**object)).collect()
    });
    for shared in releases {
        let known = shared.values.as_ref().is_some_and(|values| values.id.is_some());
        let beside = shared.format.get() == Some(&ReleaseFormat::ChartDependency) && !known;
        if shared.values_from.is_empty() && !beside {
            continue;
        }
        let release = Arc::make_mut(shared);
        let from = |path: &str| boundary.layout().relative(release.span.source, path);
        let found: Vec<Option<Raw>> = match beside {
            true => vec![beside_chart(release, &from("values.yaml"), &objects)],
            false => release.values_from.iter().map(|name| named(name, release, &objects, &from)).collect(),
        };
        release.values_complete = Fact::value(beside || found.iter().all(Option::is_some), release.span);
        let layers: Vec<Raw> = found.into_iter().flatten().chain(release.values.take()).collect();
        release.values = merged(&layers);
    }
}

/// The part of the values.yaml beside a Chart.yaml that is its dependency's.
fn beside_chart(release: &HelmRelease, path: &str, objects: &Objects<'_>) -> Option<Raw> {
    let name = release.name.get().or_else(|| release.chart.get())?;
    let body = file(path, objects)?;
    Some(Raw::new(&body.tree, body.view().get(name)))
}

/// A values file by its path from the release, a file of a source of Argo CD or Flux (`$values/path`), or a key of a ConfigMap
/// (`ConfigMap/name/key`).
fn named(
    name: &Fact<String>,
    release: &HelmRelease,
    objects: &Objects<'_>,
    from: &dyn Fn(&str) -> String,
) -> Option<Raw> {
    let (name, here) = (name.get()?, release.span.source);
    if let Some(("ConfigMap", rest)) = name.split_once('/') {
        let (name, key) = rest.split_once('/')?;
        let fits = |o: &&Object| {
            is(o, "ConfigMap")
                && o.name.get().is_some_and(|n| n == name)
                && same_namespace(&o.namespace, &release.namespace)
        };
        let data = objects.only(here, fits)?.body.as_ref()?.view().get("data");
        let tree = Arc::new(yaml::parse_traced(data.get(key).traced()?, Dialect::Kubernetes));
        let root = yaml::root(&tree)?.view();
        return Some(Raw::new(&tree, root));
    }
    if let Some((_, path)) = name.strip_prefix('$').and_then(|rest| rest.split_once('/')) {
        let suffix = format!("/{path}");
        let ends = |o: &&Object| is(o, "Values") && o.name.get().is_some_and(|n| n == path || n.ends_with(&suffix));
        return objects.find(ends)?.body.clone();
    }
    file(&from(name), objects).or_else(|| lone(name.trim_start_matches("./"), objects))
}

fn is(object: &Object, kind: &str) -> bool {
    object.kind.get().is_some_and(|k| k == kind)
}

/// The values in the only file whose path ends as stated: tools may run in another directory than the one of the release.
fn lone(path: &str, objects: &Objects<'_>) -> Option<Raw> {
    let ends = |o: &&Object| {
        is(o, "Values")
            && o.name
                .get()
                .and_then(|n| n.strip_suffix(path))
                .is_some_and(|above| above.is_empty() || above.ends_with('/'))
    };
    let mut found = objects.all(|o| path.contains('/') && ends(o));
    let only = found.next().filter(|_| found.next().is_none())?;
    only.body.clone()
}

/// The values in a file of the run, by its display path.
fn file(path: &str, objects: &Objects<'_>) -> Option<Raw> {
    let fits = |o: &&Object| is(o, "Values") && o.name.get().is_some_and(|n| n == path);
    objects.find(fits)?.body.clone()
}
