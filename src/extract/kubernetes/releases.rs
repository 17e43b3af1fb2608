//! Charts installed by Flux, Argo CD, k3s, kustomize and Skaffold.

use super::{applications, claims};
use crate::extract::{built, draft, embedded, machinery, values};
use crate::facts::{Facts, HelmRelease, ReleaseFormat};
use crate::known::{Fact, Known};
use crate::parse::{Dialect, Raw, Tree, View, placeholder, yaml};
use crate::version::Version;
use std::sync::Arc;

/// Reads a release, and the configuration files and the objects in its values; whether it is known what objects it makes.
pub fn read(tree: &Arc<Tree>, view: View<'_>, kind: &str, facts: &mut Facts) -> bool {
    let first = facts.releases.len();
    releases(tree, view, kind, facts);
    let read = facts.releases[first..].to_vec();
    read.iter().filter(|release| in_values(release, facts)).count() > 0
}

/// Reads the configuration files and the objects in the values of a release; whether it is known what objects it makes.
pub fn in_values(release: &HelmRelease, facts: &mut Facts) -> bool {
    let Some(values) = &release.values else { return false };
    embedded::read(values.view(), "", facts);
    claims::in_values(values.view(), &release.name, facts);
    let drafted = draft::known(values, (&release.name, &release.namespace), facts);
    if !drafted {
        let name = release.name.get().map_or("", String::as_str);
        machinery::of_document(values.view(), &format!("HelmRelease/{name}"), facts);
    }
    drafted
}

fn releases(tree: &Arc<Tree>, view: View<'_>, kind: &str, facts: &mut Facts) {
    let spec = view.get("spec");
    match kind {
        "HelmRelease" => {
            let chart = spec.path("chart.spec");
            let mut out = release(view, ReleaseFormat::Flux, (chart.get("chart"), chart.get("version")));
            out.values = Some(Raw::new(tree, spec.get("values")));
            out.path = chart.get("chart").string();
            let source = if chart.is_some() { chart.get("sourceRef") } else { spec.get("chartRef") };
            out.source = source.get("name").string();
            // Flux names a release `[targetNamespace-]name` unless it is told another name.
            let (name, target) = (spec.get("releaseName").string(), spec.get("targetNamespace").string());
            out.name = match (name.is_absent(), target.known) {
                (false, _) => name,
                (true, Known::Absent) => out.name,
                (true, Known::Value(target)) => out.name.map(|name| format!("{target}-{name}")),
                (true, Known::Unknown(why)) => Fact::unknown(why, target.span),
            };
            let files = chart.get("valuesFiles").strings().into_iter();
            let files = files.map(|file| file.map(|path| format!("$/{}", path.trim_start_matches("./"))));
            out.values_from = files.chain(spec.get("valuesFrom").items().map(values_from)).collect();
            facts.releases.push(Arc::new(out));
        }
        "Kustomization" => values::charts(tree, view.get("helmCharts"), "helmCharts", facts),
        "HelmChart" if spec.get("chart").is_some() => {
            let mut out = release(view, ReleaseFormat::K3s, (spec.get("chart"), spec.get("version")));
            out.values = values_in_text(spec.get("valuesContent"));
            let single = spec.get("set").entries().into_iter();
            out.set = single.map(|(name, value)| (name.to_owned(), value.string())).collect();
            facts.releases.push(Arc::new(out));
        }
        "Application" => {
            let sources = spec.get("sources").items().chain([spec.get("source")]);
            for source in sources.filter(|s| s.get("chart").is_some() || s.get("path").is_some()) {
                let mut out = release(view, ReleaseFormat::Argocd, (source.get("chart"), source.get("targetRevision")));
                if !source.get("chart").is_some() {
                    // What stands at the path need not be a chart.
                    out.path = source.get("path").string();
                    out.version = Fact::absent(source.place());
                    out.span = source.get("path").place();
                }
                let name = source.path("helm.releaseName").string();
                out.name = if name.is_absent() { out.name } else { name };
                out.namespace = spec.path("destination.namespace").string();
                out.repository = source.get("repoURL").string();
                // Argo CD reads the text only when there is no object; parameters win over both.
                let object = source.path("helm.valuesObject");
                out.values = if object.is_some() {
                    Some(Raw::new(tree, object))
                } else {
                    values_in_text(source.path("helm.values"))
                };
                let files = source.path("helm.valueFiles").items();
                out.values_from = files.map(|file| of_source(file, spec).unwrap_or_else(|| file.string())).collect();
                let parameters = || source.path("helm.parameters").items();
                let forced = parameters().filter(|p| p.get("forceString").boolean().get() == Some(&true));
                out.set_text = forced.map(|p| p.get("name").string()).collect();
                out.set = parameters()
                    .filter_map(|p| Some((p.get("name").string().get()?.clone(), p.get("value").string())))
                    .collect();
                facts.releases.push(Arc::new(out));
            }
        }
        "RecipeMetadata" | "RecipeResult" => {
            let lists = [spec.get("componentRefs"), view.get("componentRefs")].into_iter().flat_map(View::items);
            let charts = lists.filter(|item| item.get("type").string().get().is_some_and(|kind| kind == "Helm"));
            facts.releases.extend(charts.map(|item| Arc::new(component(tree, item))));
        }
        "ApplicationSet" => {
            for filled in applications::templates(tree, spec, &mut facts.cut) {
                match filled {
                    Some(tree) => tree.roots().for_each(|root| releases(&tree, root.view(), "Application", facts)),
                    None => releases(tree, spec.get("template"), "Application", facts),
                }
            }
        }
        "Config" if view.get("apiVersion").string().get().is_some_and(|v| v.starts_with("skaffold/")) => {
            built::skaffold(view, facts);
            let places = ["deploy", "manifests"].map(|key| view.path(key).path("helm.releases"));
            let found = places.into_iter().flat_map(View::items).map(|item| Arc::new(skaffold(tree, item)));
            facts.releases.extend(found);
        }
        _ => {}
    }
}

/// A component of a recipe of AI Cluster Runtime: a chart by the name of the component unless it says another.
fn component(tree: &Arc<Tree>, view: View<'_>) -> HelmRelease {
    let (name, chart) = (view.get("name"), view.get("chart"));
    let chart = if chart.is_some() { chart } else { name };
    let mut out = release(view, ReleaseFormat::Recipe, (chart, view.get("version")));
    out.name = name.string();
    out.namespace = view.get("namespace").string();
    out.repository = view.get("source").string();
    out.values = Some(Raw::new(tree, view.get("overrides")));
    let file = view.get("valuesFile");
    out.values_from = file.is_some().then(|| file.string()).into_iter().collect();
    out
}

/// A release of Skaffold: overrides lie over the files, single values over both.
fn skaffold(tree: &Arc<Tree>, view: View<'_>) -> HelmRelease {
    let local = view.get("chartPath");
    let chart = if local.is_some() { local } else { view.get("remoteChart") };
    let mut out = release(view, ReleaseFormat::Skaffold, (chart, view.get("version")));
    out.name = view.get("name").string();
    out.namespace = view.get("namespace").string();
    out.repository = view.get("repo").string();
    out.path = local.string();
    out.values_from = view.get("valuesFiles").strings();
    out.values = Some(Raw::new(tree, view.get("overrides")));
    let single = ["setValues", "setValueTemplates"].into_iter().flat_map(|key| view.get(key).entries());
    out.set = single.map(|(name, value)| (name.to_owned(), value.string())).collect();
    out
}

/// A reference of Flux to an object that holds values, as `ConfigMap/name/key`.
fn values_from(reference: View<'_>) -> Fact<String> {
    let key = reference.get("valuesKey").string();
    let key = key.get().map_or("values.yaml", String::as_str);
    let kind = reference.get("kind").string();
    let name = reference.get("name").string();
    name.and_then(|name| Known::Value(format!("{}/{name}/{key}", kind.get().map_or("", String::as_str))))
}

/// A values file in another source of an application, by the name that the source has there: `$values/gpu/values.yaml`.
/// <https://argo-cd.readthedocs.io/en/stable/user-guide/multiple_sources/>
fn of_source(file: View<'_>, spec: View<'_>) -> Option<Fact<String>> {
    let text = file.traced()?;
    let (name, path) = text.text().strip_prefix('$')?.split_once('/')?;
    let named = spec.get("sources").items().any(|source| source.get("ref").string().get().is_some_and(|n| n == name));
    (named && placeholder(path).is_none()).then(|| Fact::value(text.text().to_owned(), file.place()))
}

/// Values written as a text of YAML.
fn values_in_text(view: View<'_>) -> Option<Raw> {
    let inner = Arc::new(yaml::parse_traced(&view.traced()?, Dialect::Kubernetes));
    let root = yaml::root(&inner)?.view();
    Some(Raw::new(&inner, root))
}

fn release(view: View<'_>, format: ReleaseFormat, (chart, version): (View<'_>, View<'_>)) -> HelmRelease {
    let mut out = HelmRelease::blank(chart.place());
    out.format = Fact::value(format, chart.place());
    out.name = view.path("metadata.name").string();
    // Flux and k3s install into another namespace than that of the object where they are told to.
    let target = view.path("spec.targetNamespace").string();
    out.namespace = if target.is_absent() { view.path("metadata.namespace").string() } else { target };
    out.chart = chart.string().map(|c| c.trim_end_matches('/').rsplit('/').next().unwrap_or("").to_owned());
    out.version = version.parse(Version::parse);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    /// The driver version that the values of the only release state, and the text at its span.
    fn driver(text: &str) -> (Option<String>, String) {
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Kubernetes));
        let mut facts = Facts::default();
        crate::extract::documents(&tree, "app.yaml", &mut facts);
        let version = facts.releases[0].values.as_ref().map(|v| v.view().path("driver.version").string()).unwrap();
        let place = version.span;
        (version.get().cloned(), text[place.start as usize..place.end as usize].to_owned())
    }

    fn stated(version: &str) -> (Option<String>, String) {
        (Some(version.to_owned()), version.to_owned())
    }

    #[test]
    fn values_in_a_text_are_values_and_lead_to_their_place() {
        let argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n    chart: gpu-operator\n    helm:\n      \
                    values: |\n        driver:\n          version: 580.95.05\n";
        assert_eq!(driver(argo), stated("580.95.05"));
        let k3s = "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nspec:\n  chart: gpu-operator\n  valuesContent: |-\n    \
                   driver: {version: 570.1.2}\n";
        assert_eq!(driver(k3s), stated("570.1.2"));
    }

    #[test]
    fn an_object_of_values_wins_over_their_text() {
        let both = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n    chart: gpu-operator\n    helm:\n      \
                    valuesObject: {driver: {version: 580.1.1}}\n      values: 'driver: {version: 525.1.1}'\n";
        assert_eq!(driver(both), stated("580.1.1"));
    }

    #[test]
    fn parameters_are_set_by_name() {
        let text = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n    chart: gpu-operator\n    helm:\n      \
                    parameters: [{name: driver.version, value: 580.95.05}]\n";
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Kubernetes));
        let mut facts = Facts::default();
        crate::extract::documents(&tree, "app.yaml", &mut facts);
        assert_eq!(facts.releases[0].set["driver.version"].get().map(String::as_str), Some("580.95.05"));
    }

    #[test]
    fn a_set_gives_an_application_for_each_element_of_its_lists() {
        let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec:\n  goTemplate: true\n  generators:\n  - list:\n      \
                   elements: [{cluster: a, driver: 580.1.1}, {cluster: b, driver: 570.1.1}]\n  template:\n    metadata: {name: '{{.cluster}}-gpu'}\n    \
                   spec:\n      source:\n        chart: gpu-operator\n        helm: {releaseName: 'gpu-{{ .cluster }}', parameters: [{name: driver.version, value: '{{.driver}}'}]}\n";
        let read = |text: &str| {
            let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Kubernetes));
            let mut facts = Facts::default();
            crate::extract::documents(&tree, "set.yaml", &mut facts);
            let release = |release: &Arc<HelmRelease>| {
                (release.name.get().cloned(), release.set["driver.version"].get().cloned())
            };
            facts.releases.iter().map(release).collect::<Vec<_>>()
        };
        let of = |name: &str, driver: &str| (Some(name.to_owned()), Some(driver.to_owned()));
        assert_eq!(read(set), [of("gpu-a", "580.1.1"), of("gpu-b", "570.1.1")]);
        // What another generator gives is not at hand, beside the elements.
        assert_eq!(read(&set.replace("generators:\n", "generators:\n  - clusters: {}\n")).len(), 3);
    }
}
