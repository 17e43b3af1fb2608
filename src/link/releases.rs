//! Values that a release takes from files and objects of the repository.

use super::{directories, same_namespace};
use crate::facts::{Facts, HelmRelease, Object};
use crate::known::Fact;
use crate::parse::{Dialect, Raw, merged, yaml};
use crate::source::Sources;
use std::sync::Arc;

/// Lays the values that releases name under those they state inline.
pub fn link(facts: &mut Facts, sources: &Sources) {
    let objects = &facts.objects;
    for shared in &mut facts.releases {
        let beside = shared.format.get().is_some_and(|f| f == "chart-dependency");
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

#[cfg(test)]
mod tests {
    use crate::facts::Facts;
    use crate::known::Known;
    use crate::parse::{Dialect, yaml};
    use crate::source::{Source, Sources};
    use std::sync::Arc;

    /// The facts of some YAML files.
    fn linked(files: &[(&str, &str)]) -> Facts {
        let sources = Sources::new(files.iter().map(|(path, text)| Source::new(*path, *text)).collect());
        let mut facts = Facts::default();
        for (id, source) in sources.iter() {
            let tree = Arc::new(yaml::parse(id, files[id.0 as usize].1, Dialect::Kubernetes));
            crate::extract::documents(&tree, &source.path, &mut facts);
        }
        super::link(&mut facts, &sources);
        facts
    }

    fn driver(facts: &Facts) -> Known<String> {
        facts.releases[0].values.as_ref().map_or(Known::Absent, |v| v.view().path("driver.version").string().known)
    }

    #[test]
    fn a_file_that_kustomize_names_lies_under_the_inline_values() {
        let file = ("apps/gpu/values.yaml", "driver: {version: 550.54.15, enabled: true}\n");
        let chart = "helmCharts:\n- name: gpu-operator\n  version: v25.3.0\n  valuesFile: ./values.yaml\n";
        let facts = linked(&[("apps/gpu/kustomization.yaml", chart), file]);
        assert_eq!(driver(&facts), Known::Value("550.54.15".into()));
        let inline = format!("{chart}  valuesInline: {{driver: {{version: 570.124.06}}}}\n");
        let facts = linked(&[("apps/gpu/kustomization.yaml", &inline), file]);
        assert_eq!(driver(&facts), Known::Value("570.124.06".into()));
    }

    #[test]
    fn a_dependency_takes_its_part_of_the_charts_values() {
        let chart = "name: gpus\ndependencies:\n- {name: gpu-operator, version: v25.3.0}\n";
        let values = "gpu-operator:\n  driver: {version: 550.54.15}\n";
        let facts = linked(&[("gpus/Chart.yaml", chart), ("gpus/values.yaml", values)]);
        assert_eq!(driver(&facts), Known::Value("550.54.15".into()));
    }

    #[test]
    fn values_that_are_elsewhere_leave_the_driver_unknown() {
        let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: gpu-operator}\nspec:\n  \
                       chart: {spec: {chart: gpu-operator, version: v22.9.2}}\n  valuesFrom:\n  - {kind: ConfigMap, name: gpu}\n";
        let facts = linked(&[("release.yaml", release)]);
        assert!(super::super::driver::sources(&facts)[0].driver.is_unknown());
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gpu}\ndata:\n  values.yaml: |\n    driver: {version: 580.95.05}\n";
        let facts = linked(&[("release.yaml", release), ("values-map.yaml", map)]);
        assert_eq!(driver(&facts), Known::Value("580.95.05".into()));
    }
}
