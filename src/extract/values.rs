//! Values of Helm charts, read as data: what looks like a container is one. Also what Chart.yaml and
//! kustomization.yaml install.

use super::{kubernetes, machinery};
use crate::facts::{ContainerRole, Facts, HelmRelease, Object, Pod, ReleaseFormat, Workload, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::{DEEPEST, Node, Raw, Tree, View};
use crate::paths;
use crate::version::Version;
use std::sync::Arc;

/// Whether a document is values of a chart, or a chart or kustomization that installs others.
pub fn is_values(root: Node<'_>, path: &str) -> bool {
    let name = paths::name(path).to_lowercase();
    root.is_map()
        && (["values", "override"].iter().any(|word| name.contains(word))
            || is_among_values(path)
            || matches!(name.as_str(), "chart.yaml" | "kustomization.yaml" | "kustomization.yml")
            || shaped_like_operator(root))
}

/// Whether a file is YAML in a directory of values, which are called after their charts there, or of what is laid over those
/// of a chart: `helm/overrides/models/llama.yaml`.
fn is_among_values(path: &str) -> bool {
    let yaml = [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let directory = paths::directory(path).to_lowercase();
    let over = directory.split('/').skip_while(|part| !["chart", "charts", "helm"].contains(part));
    yaml && (paths::name(&directory).ends_with("values") || over.skip(1).any(|part| part == "overrides"))
}

/// Values of the GPU operator, whatever the file is called.
pub fn shaped_like_operator(root: Node<'_>) -> bool {
    let driver = root.get("driver").is_some_and(|d| {
        d.get("version").is_some() || d.get("enabled").is_some() || d.get("kernelModuleType").is_some()
    });
    let others = ["toolkit", "devicePlugin", "migManager", "mig", "dcgmExporter", "nfd", "gfd", "operator"];
    driver && others.iter().any(|key| root.get(key).is_some())
}

/// Charts of a list: the dependencies of a Chart.yaml, the helmCharts of a kustomization.
pub fn charts(tree: &Arc<Tree>, list: View<'_>, key: &str, facts: &mut Facts) {
    for dependency in list.items() {
        let mut out = HelmRelease::blank(dependency.get("name").place());
        out.format = Fact::value(
            if key == "dependencies" { ReleaseFormat::ChartDependency } else { ReleaseFormat::Kustomize },
            out.span,
        );
        out.name = dependency.get("alias").string().or(|| dependency.get("releaseName").string());
        out.chart = dependency.get("name").string();
        out.version = dependency.get("version").parse(Version::parse);
        out.repository = dependency.get("repository").string().or(|| dependency.get("repo").string());
        out.namespace = dependency.get("namespace").string();
        out.values = Some(Raw::new(tree, dependency.get("valuesInline")));
        let file = dependency.get("valuesFile").string();
        out.values_from = if file.is_absent() { vec![] } else { vec![file] };
        facts.releases.push(Arc::new(out));
    }
}

/// Reads a document.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    let name = paths::name(path).to_lowercase();
    let view = root.view();
    if name == "chart.yaml" || name.starts_with("kustomization") {
        let key = if name == "chart.yaml" { "dependencies" } else { "helmCharts" };
        charts(tree, view.get(key), key, facts);
        return;
    }
    let mut object = Object::blank(root.head());
    object.kind = Fact::value("Values".to_owned(), root.head());
    object.name = Fact::value(path.to_owned(), root.head());
    object.body = Some(Raw::new(tree, view));
    facts.objects.push(Arc::new(object));
    super::embedded::read(view, path, facts);
    machinery::of_document(view, path, facts);
    let operator = view.get("gpu-operator");
    if shaped_like_operator(root) || name.contains("gpu-operator") {
        facts.releases.push(Arc::new(operator_values(tree, view)));
    } else if operator.is_some() {
        facts.releases.push(Arc::new(operator_values(tree, operator)));
    }
    let unstated = Fact::unknown(Why::NotStated("the release".into()), view.place());
    if super::draft::known(&Raw::new(tree, view), (&unstated, &unstated), facts) {
        return;
    }
    // The templates of the chart state the rest.
    let view = view.opened(kubernetes::open());
    search(tree, view, (DEEPEST, "", view), facts);
}

/// Values of the GPU operator as a release of its chart.
pub fn operator_values(tree: &Arc<Tree>, view: View<'_>) -> HelmRelease {
    let mut out = HelmRelease::blank(view.place());
    out.format = Fact::value(ReleaseFormat::Values, view.place());
    out.chart = Fact::value("gpu-operator".to_owned(), view.place());
    out.values = Some(Raw::new(tree, view));
    out
}

/// Looks for containers; what the top of the values says of nodes and resources holds for those that say nothing.
fn search(tree: &Arc<Tree>, view: View<'_>, (depth, key, top): (usize, &str, View<'_>), facts: &mut Facts) {
    let Some(node) = view.node() else { return };
    if depth == 0 {
        return;
    }
    if node.is_seq() {
        view.items().for_each(|item| search(tree, item, (depth - 1, key, top), facts));
        return;
    }
    if !node.is_map() {
        return;
    }
    let placed = ["nodeSelector", "resources", "args", "command", "extraArgs", "tolerations"]
        .iter()
        .any(|k| view.get(k).is_some());
    if view.get("image").is_some() && placed || kubernetes::looks_like_container(view) {
        facts.workloads.push(workload(tree, view, key, top));
    } else if key != "nodeSelector" && depth < DEEPEST && view.get("nodeSelector").node().is_some_and(Node::is_map) {
        facts.workloads.push(profile(tree, view, (key, "Profile")));
    } else if key != "nodeSelector" && kubernetes::places_pods(view) {
        // Where the chart is here it tells it better.
        facts.workloads.push(profile(tree, view, (key, "Values")));
    }
    for (key, child) in view.entries() {
        search(tree, child, (depth - 1, key, top), facts);
    }
}

/// A profile that containers elsewhere are placed by: nodes, and no container of its own.
fn profile(tree: &Arc<Tree>, view: View<'_>, (key, kind): (&str, &str)) -> Workload {
    let mut pod = Pod::blank(view.place());
    pod.role = Fact::value("main".to_owned(), view.place());
    pod.replicas = Fact::value(1, view.place());
    kubernetes::scheduling(&mut pod, view);
    pod.runtime_class = view.get("runtimeClassName").string();
    pod.spec = Some(Raw::new(tree, view));
    pod.gpus = Fact::absent(view.place());
    super::lone((WorkloadFormat::Values, kind), Fact::value(key.to_owned(), view.place()), pod, Raw::new(tree, view))
}

fn workload(tree: &Arc<Tree>, view: View<'_>, key: &str, top: View<'_>) -> Workload {
    let mut pod = Pod::blank(view.place());
    pod.role = Fact::value("main".to_owned(), view.place());
    pod.replicas = ["replicaCount", "replicas"]
        .iter()
        .map(|k| view.get(k))
        .find(|v| v.is_some())
        .map_or(view.get("replicaCount").int(), |v| v.int());
    kubernetes::scheduling(&mut pod, if view.get("nodeSelector").is_some() { view } else { top });
    pod.spec = Some(Raw::new(tree, view));
    let mut container = kubernetes::container(tree, view, ContainerRole::Main, &pod);
    if !view.get("resources").is_some() {
        kubernetes::resources(&mut container, top.get("resources"));
    }
    pod.gpus = container.gpus.clone();
    pod.containers.push(container);
    super::lone(
        (WorkloadFormat::Values, "Values"),
        Fact::value(key.to_owned(), view.place()),
        pod,
        Raw::new(tree, view),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    #[test]
    fn files_of_a_directory_of_values_are_values() {
        let tree = yaml::parse(SourceId(0), "affinity: {}\n", Dialect::Core);
        let are = |path: &str| tree.roots().all(|root| is_values(root, path));
        assert!(are("values/device-plugin.yaml") && are("infra/helm-values/vllm.yaml") && are("values-prod.yaml"));
        assert!(!are("values/schema.json") && !are("device-plugin.yaml") && !are("values/deeper/other.yaml"));
    }
}
