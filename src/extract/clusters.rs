//! Clusters of AWS whose groups of machines stand in lists: HyperPod in any format, and ParallelCluster. Knows their words.

use super::machines;
use super::spelling::snake_case;
use crate::facts::{Facts, InfraFormat, NodePool};
use crate::known::{Fact, Why};
use crate::parse::{Node, Tree, View};
use std::sync::Arc;

/// The groups of a HyperPod cluster, in the words of a resource type. Those of Slurm are no nodes of Kubernetes.
pub fn hyperpod(tree: &Arc<Tree>, cluster: View<'_>, kind: &str) -> Vec<NodePool> {
    let terraform = !kind.contains("::");
    let word = |upper: &str| if terraform { snake_case(upper) } else { upper.to_owned() };
    let orchestrated = cluster.get(&word("Orchestrator")).get(&word("Eks"));
    let groups = cluster.get(&word("InstanceGroups"));
    let pool = |group: View<'_>| {
        let name = group.get(&word("InstanceGroupName")).string();
        let place = if name.get().is_some() { name.span } else { group.place() };
        let mut out = machines::pool(tree, group, (kind, name.get().map_or("", String::as_str)), place)?;
        out.name = name;
        let plain = |machine: Fact<String>| machine.map(|machine| machine.trim_start_matches("ml.").to_owned());
        out.instance_types = out.instance_types.into_iter().map(plain).collect();
        out.cluster = cluster.get(&word("ClusterName")).string();
        out.in_cluster = match orchestrated.node().map(Node::is_unknown) {
            Some(true) => Fact::unknown(Why::NotStated("who orchestrates the machines".into()), place),
            other => Fact::value(other.is_some(), place),
        };
        Some(out)
    };
    groups.items().filter(|group| group.node().is_some_and(Node::is_map)).filter_map(pool).collect()
}

/// Whether a document is what `aws sagemaker create-cluster` takes.
pub fn is_hyperpod(root: Node<'_>) -> bool {
    root.get("ClusterName").is_some() && root.get("InstanceGroups").is_some_and(Node::is_seq)
}

/// Whether a document is the configuration of a cluster of ParallelCluster.
pub fn is_parallel(root: Node<'_>) -> bool {
    root.path("Scheduling.SlurmQueues").is_some_and(Node::is_seq) && root.get("HeadNode").is_some()
}

/// Reads the queues of a cluster. https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
pub fn parallel(tree: &Arc<Tree>, root: Node<'_>, facts: &mut Facts) {
    let view = root.view();
    for queue in view.path("Scheduling.SlurmQueues").items() {
        for resource in queue.get("ComputeResources").items() {
            facts.pools.extend(compute(tree, (view, queue, resource)).map(Arc::new));
        }
    }
}

fn compute(tree: &Arc<Tree>, (root, queue, resource): (View<'_>, View<'_>, View<'_>)) -> Option<NodePool> {
    let name = resource.get("Name").string();
    let mut out = machines::pool(tree, resource, ("AWS::SageMaker::Cluster", ""), resource.get("Name").place())?;
    out.format = Fact::value(InfraFormat::ParallelCluster, out.span);
    out.kind = Fact::value("SlurmQueues".to_owned(), out.span);
    out.platform = Fact::value("parallelcluster".to_owned(), out.span);
    out.name = name;
    out.in_cluster = Fact::value(false, out.span);
    let several = resource.get("Instances").items().map(|instance| instance.get("InstanceType").string());
    out.instance_types.extend(several.filter(|machine| !machine.is_absent()));
    out.min_nodes = resource.get("MinCount").int().or_default(0);
    out.max_nodes = resource.get("MaxCount").int().or_default(10);
    out.efa = resource.path("Efa.Enabled").boolean().or_default(false);
    out.spot = queue.get("CapacityType").string().map(|kind| kind == "SPOT").or_default(false);
    out.disk_bytes = queue.path("ComputeSettings.LocalStorage.RootVolume.Size").float().map(machines::gib);
    out.image_type = root.path("Image.Os").string();
    let custom = [resource.path("CustomAmi"), queue.path("Image.CustomAmi"), root.path("Image.CustomAmi")];
    if let Some(custom) = custom.into_iter().find(|view| view.is_some()) {
        out.image_type = custom.string();
    }
    Some(out)
}
