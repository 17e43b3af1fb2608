//! Environments of NVIDIA's Holodeck: machines of a cloud with what it installs on them.

use super::pods::labels;
use crate::facts::{Facts, InfraFormat, NodePool};
use crate::known::Fact;
use crate::parse::{Raw, Tree, View};
use crate::version::Version;
use std::sync::Arc;

/// Reads an Environment: one machine, or the machines of a cluster.
pub fn read(tree: &Arc<Tree>, view: View<'_>, kind: &str, facts: &mut Facts) {
    let version = view.get("apiVersion").string();
    let own = version.get().is_some_and(|version| version.starts_with("holodeck.nvidia.com/"));
    let spec = view.get("spec");
    // On a machine of one's own it installs only.
    if kind != "Environment" || !own || spec.get("provider").string().get().is_some_and(|provider| provider != "aws") {
        return;
    }
    let (instance, cluster) = (spec.get("instance"), spec.get("cluster"));
    let groups =
        [(instance, "type"), (cluster.get("controlPlane"), "instanceType"), (cluster.get("workers"), "instanceType")];
    for (group, key) in groups.into_iter().filter(|(group, key)| group.get(key).is_some()) {
        facts.pools.push(Arc::new(pool(tree, view, (group, key))));
    }
}

fn pool(tree: &Arc<Tree>, view: View<'_>, (group, key): (View<'_>, &str)) -> NodePool {
    let (name, spec) = (view.path("metadata.name"), view.get("spec"));
    let mut out = NodePool::blank(group.place());
    out.format = Fact::value(InfraFormat::Holodeck, name.place());
    out.kind = view.get("kind").string();
    out.name = name.string();
    out.platform = Fact::value("ec2".to_owned(), group.place());
    out.instance_types = vec![group.get(key).string()];
    out.labels = labels(group.get("labels"));
    let installed = |part: &str| spec.get(part).get("install").boolean();
    out.in_cluster = installed("kubernetes").or_default(false);
    let driver = spec.get("nvidiaDriver");
    if installed("nvidiaDriver").get() == Some(&true) {
        let stated = [driver.path("package.version"), driver.get("version")].into_iter().find(|place| place.is_some());
        out.driver = stated.map_or(Fact::absent(driver.place()), |place| place.parse(Version::parse));
    }
    let kubernetes = spec.get("kubernetes");
    let stated = [kubernetes.path("release.version"), kubernetes.get("kubernetesVersion"), kubernetes.get("version")];
    let stated = stated.into_iter().find(|place| place.is_some());
    out.kubernetes = stated.map_or(Fact::absent(kubernetes.place()), |place| {
        place.parse(|text| Version::parse(text.trim_start_matches('v')))
    });
    out.object = Some(Raw::new(tree, group));
    out
}
