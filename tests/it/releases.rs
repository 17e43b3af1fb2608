//! Values that releases take from files and objects of the repository.

use gpulint::facts::Facts;
use gpulint::known::Known;
use gpulint::parse::{Dialect, yaml};
use gpulint::source::{Source, Sources};
use std::sync::Arc;

/// The facts of some YAML files.
fn linked(files: &[(&str, &str)]) -> Facts {
    let sources = Sources::new(files.iter().map(|(path, text)| Source::new(*path, *text)).collect());
    let mut facts = Facts::default();
    for (id, source) in sources.iter() {
        let tree = Arc::new(yaml::parse(id, files[id.0 as usize].1, Dialect::Kubernetes));
        gpulint::extract::documents(&tree, &source.path, &mut facts);
    }
    gpulint::link::link(&mut facts, &sources, gpulint::extract::launch::on_base);
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
    assert!(driver(&facts) == Known::Absent && facts.releases[0].values_complete.get() == Some(&false));
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gpu}\ndata:\n  values.yaml: |\n    driver: {version: 580.95.05}\n";
    let facts = linked(&[("release.yaml", release), ("values-map.yaml", map)]);
    assert_eq!(driver(&facts), Known::Value("580.95.05".into()));
}
