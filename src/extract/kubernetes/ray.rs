//! The environments that objects of KubeRay state as text: what Ray installs and sets for a job or for an application
//! before it runs. Knows the keys of a runtime environment.
//! <https://docs.ray.io/en/latest/ray-core/handling-dependencies.html#api-reference>

use super::containers::environment;
use crate::extract::{install, recipes};
use crate::facts::{Facts, PackageFile, PackageFileKind, Variables, Workload};
use crate::known::Fact;
use crate::parse::{Dialect, Tree, View, yaml};
use std::sync::Arc;

/// The text of an object that states environments.
fn text(view: View<'_>, kind: &str) -> Option<Tree> {
    let key = match kind {
        "RayJob" => "spec.runtimeEnvYAML",
        "RayService" => "spec.serveConfigV2",
        _ => return None,
    };
    Some(yaml::parse_traced(&view.path(key).traced()?, Dialect::Core))
}

/// The environments of a text: that of a job, or those of applications and of what they deploy.
fn environments<'t>(tree: &'t Tree, kind: &str) -> Vec<View<'t>> {
    match kind {
        "RayJob" => tree.roots().map(|root| root.view()).collect(),
        _ => tree.nodes().filter_map(|node| Some(node.get("runtime_env")?.view())).collect(),
    }
}

/// Reads what is installed, as the requirements that say the same.
pub fn read(view: View<'_>, kind: &str, name: &str, facts: &mut Facts) {
    let Some(tree) = text(view, kind) else { return };
    for environment in environments(&tree, kind) {
        let stated = ["pip", "uv"].map(|tool| environment.get(tool)).into_iter().find(|list| list.is_some());
        let Some(stated) = stated else { continue };
        let packages = stated.get("packages");
        let list = if packages.is_some() { packages } else { stated };
        if list.items().next().is_none() {
            continue;
        }
        let mut file = PackageFile::blank(list.place());
        file.path = Fact::value(format!("{kind}/{name}"), file.span);
        file.kind = Fact::value(PackageFileKind::Requirements, file.span);
        file.packages = recipes::listed(list, facts, install::of_requirements);
        facts.package_files.extend((!file.packages.is_empty()).then(|| Arc::new(file)));
    }
}

/// Sets what an environment hands to the processes on GPUs, over what their containers say; where several are stated,
/// nobody knows which of them a process gets.
pub fn variables(out: &mut Workload, view: View<'_>, kind: &str) {
    let Some(tree) = text(view, kind) else { return };
    let stated = environments(&tree, kind).into_iter().map(|environment| environment.get("env_vars"));
    let found: Vec<Variables> = stated.filter(|stated| stated.is_some()).map(environment).collect();
    if let [one] = &found[..] {
        let holds_gpus = |gpus: &Fact<i64>| gpus.get().is_some_and(|&n| n > 0);
        let containers = out.pods.iter_mut().flat_map(|pod| &mut pod.containers);
        for container in containers.filter(|container| holds_gpus(&container.gpus)) {
            container.env.extend(one.iter().map(|(name, variable)| (name.clone(), variable.clone())));
        }
    }
}
