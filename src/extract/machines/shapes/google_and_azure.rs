//! Resource types of Google Cloud and Azure.

use super::{NONE, Shape};

pub(super) const GOOGLE_AND_AZURE: &[Shape] = &[
    Shape {
        kind: "google_container_node_pool",
        platform: "gke",
        types: &["node_config.machine_type"],
        count: ("autoscaling.min_node_count", "autoscaling.max_node_count"),
        disk_gb: "node_config.disk_size_gb",
        image: "node_config.image_type",
        release: "version",
        labels: "node_config.labels",
        taints: "node_config.taint",
        spot: "node_config.spot=true node_config.preemptible=true",
        zones: "node_locations",
        ..NONE
    },
    Shape {
        kind: "azurerm_kubernetes_cluster_node_pool",
        platform: "aks",
        types: &["vm_size"],
        count: ("min_count", "max_count"),
        disk_gb: "os_disk_size_gb",
        image: "os_sku",
        release: "orchestrator_version",
        labels: "node_labels",
        taints: "node_taints",
        spot: "priority=Spot",
        zones: "zones",
        ..NONE
    },
    Shape {
        kind: "google_compute_instance",
        platform: "gce",
        lone: true,
        types: &["machine_type"],
        disk_gb: "boot_disk.initialize_params.size",
        image: "boot_disk.initialize_params.image",
        spot: "scheduling.provisioning_model=SPOT scheduling.preemptible=true",
        zones: "zone",
        ..NONE
    },
    Shape {
        kind: "google_compute_instance_template",
        platform: "gce",
        types: &["machine_type"],
        spot: "scheduling.provisioning_model=SPOT scheduling.preemptible=true",
        disk_gb: "disk[boot=true|].disk_size_gb",
        image: "disk[boot=true|].source_image",
        ..NONE
    },
    Shape {
        kind: "azurerm_linux_virtual_machine",
        platform: "azure-vm",
        lone: true,
        types: &["size"],
        spot: "priority=Spot",
        disk_gb: "os_disk.disk_size_gb",
        zones: "zone",
        image: "source_image_id",
        ..NONE
    },
    Shape {
        kind: "azurerm_linux_virtual_machine_scale_set",
        platform: "azure-vm",
        types: &["sku"],
        spot: "priority=Spot",
        disk_gb: "os_disk.disk_size_gb",
        zones: "zones",
        size: "instances",
        image: "source_image_id",
        ..NONE
    },
    Shape {
        kind: "google_workstations_workstation_config",
        platform: "gce",
        lone: true,
        types: &["host.gce_instance.machine_type"],
        disk_gb: "host.gce_instance.boot_disk_size_gb",
        ..NONE
    },
    Shape {
        kind: "google_workbench_instance",
        platform: "gce",
        lone: true,
        types: &["gce_setup.machine_type"],
        disk_gb: "gce_setup.boot_disk.disk_size_gb",
        ..NONE
    },
    Shape {
        kind: "google_compute_region_instance_template",
        platform: "gce",
        types: &["machine_type"],
        image: "disk[boot=true|].source_image",
        spot: "scheduling.provisioning_model=SPOT scheduling.preemptible=true",
        disk_gb: "disk[boot=true|].disk_size_gb",
        ..NONE
    },
    Shape {
        kind: "google_vertex_ai_endpoint_with_model_garden_deployment",
        platform: "vertex-ai",
        lone: true,
        types: &["deploy_config.dedicated_resources.machine_spec.machine_type"],
        count: (
            "deploy_config.dedicated_resources.min_replica_count",
            "deploy_config.dedicated_resources.max_replica_count",
        ),
        ..NONE
    },
    // A worker pool of a job of Vertex AI.
    Shape { kind: "workerPoolSpec", platform: "vertex-ai", lone: true, types: &["machineSpec.machineType"], ..NONE },
    // What `az ml compute create --file` takes.
    Shape {
        kind: "amlcompute",
        platform: "azure-ml",
        lone: true,
        types: &["size"],
        count: ("min_instances", "max_instances"),
        spot: "tier=low_priority|LowPriority",
        ..NONE
    },
    Shape { kind: "computeinstance", platform: "azure-ml", lone: true, types: &["size"], ..NONE },
    Shape {
        kind: "azurerm_machine_learning_compute_cluster",
        platform: "azure-ml",
        lone: true,
        types: &["vm_size"],
        count: ("scale_settings.min_node_count", "scale_settings.max_node_count"),
        spot: "vm_priority=LowPriority",
        ..NONE
    },
    Shape {
        kind: "azurerm_machine_learning_compute_instance",
        platform: "azure-ml",
        lone: true,
        types: &["virtual_machine_size"],
        ..NONE
    },
    Shape {
        kind: "google_colab_runtime_template",
        platform: "vertex-ai",
        lone: true,
        types: &["machine_spec.machine_type"],
        ..NONE
    },
    Shape {
        kind: "azurerm_orchestrated_virtual_machine_scale_set",
        platform: "azure-vm",
        types: &["sku_name"],
        disk_gb: "os_disk.disk_size_gb",
        spot: "priority=Spot",
        zones: "zones",
        size: "instances",
        image: "source_image_id",
        ..NONE
    },
];
