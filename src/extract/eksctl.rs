//! Cluster files of eksctl: the cluster and its groups of nodes. Knows eksctl's field names only.

use super::machines;
use crate::facts::{Cluster, Facts, InfraFormat, NodePool, Taint};
use crate::known::Fact;
use crate::parse::{Raw, Tree, View};
use std::sync::Arc;

/// Reads a `ClusterConfig`.
pub fn read(tree: &Arc<Tree>, view: View<'_>, facts: &mut Facts) {
    let metadata = view.get("metadata");
    let name = metadata.get("name");
    let mut cluster = Cluster::blank(name.place());
    cluster.format = Fact::value(InfraFormat::Eksctl, name.place());
    cluster.name = name.string();
    cluster.platform = Fact::value("eks".to_owned(), name.place());
    cluster.kubernetes = machines::version(metadata.get("version"));
    cluster.object = Some(Raw::new(tree, view));
    for groups in ["managedNodeGroups", "nodeGroups"] {
        for group in view.get(groups).items() {
            let mut pool = pool(tree, group);
            pool.cluster = cluster.name.clone();
            let own = group.get("overrideBootstrapCommand").traced();
            let commands = group.get("preBootstrapCommands").items().filter_map(View::traced).chain(own);
            let stated = |script| machines::start_script(&script, &pool.kind, &pool.name);
            facts.start_scripts.extend(commands.map(stated));
            facts.pools.push(Arc::new(pool));
        }
    }
    facts.clusters.push(Arc::new(cluster));
}

fn pool(tree: &Arc<Tree>, group: View<'_>) -> NodePool {
    let name = group.get("name");
    let span = name.place();
    let mut out = NodePool::blank(span);
    out.format = Fact::value(InfraFormat::Eksctl, span);
    out.kind = Fact::value("eksctl-nodegroup".to_owned(), span);
    out.name = name.string();
    out.platform = Fact::value("eks".to_owned(), span);
    let types = ["instancesDistribution.instanceTypes", "instanceTypes", "instanceType"].map(|p| group.path(p));
    out.instance_types = types.iter().find(|t| t.is_some()).map(|t| t.strings()).unwrap_or_default();
    // The type of a group that mixes types is written as this word.
    out.instance_types.retain(|t| t.get().is_none_or(|t| t != "mixed"));
    out.min_nodes = group.get("minSize").int().or(|| group.get("desiredCapacity").int());
    out.max_nodes = group.get("maxSize").int().or(|| group.get("desiredCapacity").int());
    out.disk_bytes = group.get("volumeSize").float().map(|gb| (gb * f64::from(1u32 << 30)) as i64);
    out.image_type = group.get("amiFamily").string();
    out.labels = machines::labels(group.get("labels"));
    let mapped = group.get("taints").entries().into_iter().map(|(key, value)| taint(key, value));
    out.taints = machines::taints(group, "taints");
    out.taints.extend(mapped);
    out.spot = group.get("spot").boolean();
    out.efa = group.get("efaEnabled").boolean();
    out.zones = group.get("availabilityZones").strings();
    out.object = Some(Raw::new(tree, group));
    out
}

/// A taint of the map form, `key: "value:Effect"`.
fn taint(key: &str, view: View<'_>) -> Taint {
    let mut out = Taint::blank(view.place());
    let part = |second: bool| {
        view.string().map(|text| {
            let (value, effect) = text.rsplit_once(':').unwrap_or(("", &text));
            if second { effect.to_owned() } else { value.to_owned() }
        })
    };
    out.key = Fact::value(key.to_owned(), view.place());
    out.value = part(false);
    out.effect = part(true);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    #[test]
    fn a_group_is_a_pool_with_taints_of_both_forms() {
        for taints in
            ["{nvidia.com/gpu: 'true:NoSchedule'}", "[{key: nvidia.com/gpu, value: 'true', effect: NoSchedule}]"]
        {
            let text = format!(
                "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {{name: ml, version: '1.33'}}\n\
                 nodeGroups:\n- {{name: gpu, instanceType: g5.xlarge, minSize: 0, maxSize: 4, taints: {taints}}}\n"
            );
            let tree = Arc::new(yaml::parse(SourceId(0), &text, Dialect::Kubernetes));
            let mut facts = Facts::default();
            crate::extract::documents(&tree, "cluster.yaml", &mut facts);
            let pool = &facts.pools[0];
            assert_eq!(pool.instance_types[0].get().map(String::as_str), Some("g5.xlarge"));
            assert_eq!((pool.min_nodes.get(), pool.max_nodes.get()), (Some(&0), Some(&4)));
            let taint = &pool.taints[0];
            assert_eq!(taint.value.get().map(String::as_str), Some("true"));
            assert_eq!(taint.effect.get().map(String::as_str), Some("NoSchedule"));
            assert_eq!(pool.cluster.get().map(String::as_str), Some("ml"));
        }
    }
}
