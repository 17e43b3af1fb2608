//! Where things run: nodes, pools, clusters, charts that configure them.

use super::value::entities;
use super::words::{InfraFormat, ReleaseFormat};
use super::{Labels, Requirement};
use crate::known::Fact;
use crate::parse::Raw;
use crate::version::Version;
use std::collections::BTreeMap;

entities! {
    /// A GPU model of the catalog, as some fact names it.
    Gpu {
        /// Catalog id, H100-SXM.
        id: Fact<String>,
        /// Catalog id of the one with the least memory that it may be, where several have one name.
        smallest: Fact<String>,
        /// Catalog id of the one with the most memory that it may be.
        largest: Fact<String>,
        /// Product name.
        name: Fact<String>,
        /// nvidia, amd, google, aws, habana …
        vendor: Fact<String>,
        /// Architecture: Turing, Ampere, Hopper.
        arch: Fact<String>,
        /// Compute capability (NVIDIA).
        compute_capability: Fact<Version>,
        /// Memory in MiB as nvidia-smi reports it.
        memory_mib: Fact<i64>,
        /// Whether it supports MIG.
        mig: Fact<bool>,
        /// NVLink bandwidth in GB/s; 0 without NVLink.
        nvlink_gbs: Fact<i64>,
        /// Board power in watts.
        tdp_w: Fact<i64>,
        /// Whether it is a data-center product (forward compatibility works).
        datacenter: Fact<bool>,
    }

    /// The node that a pod lands on: what every candidate pool, the selectors and the configuration agree on.
    Node {
        /// Its GPU.
        gpu: Option<Gpu>,
        /// GPUs of the node.
        gpu_count: Fact<i64>,
        /// Machine type.
        instance_type: Fact<String>,
        /// NVIDIA driver.
        driver: Fact<Version>,
        /// eks, gke, aks, k3s, rke2, ack, tke, openshift, fargate …
        platform: Fact<String>,
        /// Kubernetes version.
        kubernetes: Fact<Version>,
        /// amd64 or arm64.
        arch: Fact<String>,
        /// Operating system of the node: al2, al2023, bottlerocket, cos, ubuntu22.04.
        os: Fact<String>,
        /// Whether it is interruptible.
        spot: Fact<bool>,
        /// vCPUs of the machine type.
        vcpus: Fact<i64>,
        /// Host memory in bytes.
        memory_bytes: Fact<i64>,
        /// Node disk in bytes: stated, else the platform's default.
        disk_bytes: Fact<i64>,
        /// Fabric of the machine type: EFA, InfiniBand, TCPX, TCPXO, RDMA, none.
        fabric: Fact<String>,
        /// Fabric devices of the machine type.
        fabric_devices: Fact<i64>,
        /// Whether GPUs of the machine are joined by NVLink or NVSwitch.
        nvlink: Fact<bool>,
    }

    /// A group of machines of one shape: a node group, a GKE or AKS node pool, a Karpenter NodePool, an ASG, an instance.
    NodePool {
        /// The format that states it.
        format: Fact<InfraFormat>,
        /// Kind, as the format names it: aws_eks_node_group, NodePool.
        kind: Fact<String>,
        /// Its name.
        name: Fact<String>,
        /// eks, gke, aks, ec2, gce, azure-vm, ack, tke, karpenter …
        platform: Fact<String>,
        /// Name of its cluster, or the expression that refers to it.
        cluster: Fact<String>,
        /// Whether its machines are nodes of a Kubernetes cluster; unknown for a machine by itself unless its start script joins one.
        in_cluster: Fact<bool>,
        /// Whether its machines join a cluster of Amazon ECS; absent where nothing says so.
        in_ecs: Fact<bool>,
        /// Machine types it may use.
        instance_types: Vec<Fact<String>>,
        /// Its GPU, when every type has the same.
        gpu: Option<Gpu>,
        /// GPUs per node, when every type has the same number.
        gpu_count: Fact<i64>,
        /// Accelerator attached explicitly (guest_accelerator type).
        accelerator: Fact<String>,
        /// Accelerators attached explicitly per node.
        accelerator_count: Fact<i64>,
        /// Fewest nodes.
        min_nodes: Fact<i64>,
        /// Most nodes.
        max_nodes: Fact<i64>,
        /// Whether it is interruptible.
        spot: Fact<bool>,
        /// Labels of its nodes, stated and implied.
        labels: Labels,
        /// Taints of its nodes.
        taints: Vec<Taint>,
        /// Requirements (Karpenter).
        requirements: Vec<Requirement>,
        /// AMI type, image type or OS SKU: AL2023_x86_64_NVIDIA, COS_CONTAINERD, Ubuntu; or what it is looked up by: a parameter
        /// of Systems Manager, a pattern of names.
        image_type: Fact<String>,
        /// Release of that image.
        image_release: Fact<String>,
        /// NVIDIA driver, stated or implied by image or platform.
        driver: Fact<Version>,
        /// Driver installation mode where the platform has one: DEFAULT, LATEST, INSTALLATION_DISABLED, none.
        driver_mode: Fact<String>,
        /// Kubernetes version.
        kubernetes: Fact<Version>,
        /// Node disk in bytes as stated.
        disk_bytes: Fact<i64>,
        /// Name of the placement group that its machines are in, or the resource that stands for it.
        placement_group: Fact<String>,
        /// What its machines run when they start.
        start_scripts: Vec<Fact<String>>,
        /// Whether its machines start with EFA interfaces.
        efa: Fact<bool>,
        /// Zones or subnets it spans.
        zones: Vec<Fact<String>>,
        /// Limits of a Karpenter NodePool in base units.
        limits: BTreeMap<String, Fact<f64>>,
        /// The resource or document as written.
        object: Option<Raw>,
    }

    /// A file of options that servers are told to read, whoever does.
    ServerOptions {
        /// The file, or `ConfigMap/name/key`.
        path: Fact<String>,
        /// Its options by their long names with dashes.
        options: Labels,
    }

    /// A taint.
    Taint {
        /// Key.
        key: Fact<String>,
        /// Value.
        value: Fact<String>,
        /// NoSchedule, PreferNoSchedule, NoExecute.
        effect: Fact<String>,
    }

    /// A cluster.
    Cluster {
        /// The format that states it.
        format: Fact<InfraFormat>,
        /// Its name.
        name: Fact<String>,
        /// eks, gke, aks, ack, tke, k3s, rke2 …
        platform: Fact<String>,
        /// Kubernetes version.
        kubernetes: Fact<Version>,
        /// Whether the platform runs the nodes (GKE Autopilot, EKS Auto Mode).
        autopilot: Fact<bool>,
        /// NVIDIA driver declared for the cluster.
        driver: Fact<Version>,
        /// The resource or document as written.
        object: Option<Raw>,
    }

    /// A value that a chart does not know.
    UnknownValue {
        /// Its path: driver.verison.
        key: Fact<String>,
        /// The one that it was meant to be.
        nearest: Fact<String>,
    }

    /// A chart installed by any means: helm_release, HelmRelease, Argo CD Application, HelmChart (k3s), a release of helmfile or Skaffold, Chart.yaml dependency, kustomize helmCharts, a values file, an Ansible task.
    HelmRelease {
        /// How it is stated.
        format: Fact<ReleaseFormat>,
        /// Release name.
        name: Fact<String>,
        /// Chart name without its repository: gpu-operator, nvidia-device-plugin.
        chart: Fact<String>,
        /// Chart version.
        version: Fact<Version>,
        /// Repository of the chart.
        repository: Fact<String>,
        /// The object of Flux that says which repository it is, or which chart in it.
        source: Fact<String>,
        /// Namespace.
        namespace: Fact<String>,
        /// Values: the files and objects at hand that it names, then those written inline, merged as Helm does.
        values: Option<Raw>,
        /// Values files and objects that it names, in order of rising precedence.
        values_from: Vec<Fact<String>>,
        /// Whether all of them are at hand.
        values_complete: Fact<bool>,
        /// Single values set by name, `driver.version`.
        set: Labels,
        /// The names of those that are text, whatever they look like: `--set-string`, forceString.
        set_text: Vec<Fact<String>>,
        /// Values that this release of the chart does not know, where the catalog has all that it knows.
        #[joined = true]
        unknown_values: Vec<UnknownValue>,
        /// Path of the chart, where it stands in a repository of sources.
        path: Fact<String>,
        /// Version of Kubernetes that the chart is to be rendered for.
        kubernetes: Fact<String>,
    }
}
