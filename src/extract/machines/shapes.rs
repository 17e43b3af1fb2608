//! Which attribute of which resource type states what of a pool.

/// Where a resource type states the facts of a pool; paths step into the first item of a sequence.
pub(super) struct Shape {
    pub kind: &'static str,
    pub platform: &'static str,
    /// Whether it is a machine by itself, and no group that a cluster may have made its own.
    pub lone: bool,
    pub types: &'static [&'static str],
    pub count: (&'static str, &'static str),
    /// The size of the disk that a machine starts from; `list[key=word].path` is about the item of which the condition holds.
    pub disk_gb: &'static str,
    pub image: &'static str,
    pub release: &'static str,
    pub labels: &'static str,
    pub taints: &'static str,
    /// Conditions `path=word|word` of which one holds for machines that may be taken away; `*` stands for anything stated.
    pub spot: &'static str,
    pub zones: &'static str,
}

const NONE: Shape = Shape {
    kind: "",
    platform: "",
    lone: false,
    types: &[],
    count: ("", ""),
    disk_gb: "",
    image: "",
    release: "",
    labels: "",
    taints: "",
    spot: "",
    zones: "",
};

/// Every resource type that states a pool.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        kind: "aws_eks_node_group",
        platform: "eks",
        types: &["instance_types"],
        count: ("scaling_config.min_size", "scaling_config.max_size"),
        disk_gb: "disk_size",
        image: "ami_type",
        release: "release_version",
        labels: "labels",
        taints: "taint",
        spot: "capacity_type=SPOT",
        zones: "subnet_ids",
        ..NONE
    },
    Shape {
        kind: "AWS::EKS::Nodegroup",
        platform: "eks",
        types: &["InstanceTypes"],
        count: ("ScalingConfig.MinSize", "ScalingConfig.MaxSize"),
        disk_gb: "DiskSize",
        image: "AmiType",
        release: "ReleaseVersion",
        labels: "Labels",
        taints: "Taints",
        spot: "CapacityType=SPOT",
        zones: "Subnets",
        ..NONE
    },
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
        kind: "alicloud_cs_kubernetes_node_pool",
        platform: "ack",
        types: &["instance_types"],
        count: ("scaling_config.min_size", "scaling_config.max_size"),
        disk_gb: "system_disk_size",
        image: "image_type",
        labels: "labels",
        taints: "taints",
        zones: "vswitch_ids",
        spot: "spot_strategy=SpotAsPriceGo|SpotWithPriceLimit",
        ..NONE
    },
    Shape {
        kind: "aws_instance",
        platform: "ec2",
        lone: true,
        types: &["instance_type"],
        disk_gb: "root_block_device.volume_size",
        image: "ami",
        spot: "instance_market_options.market_type=spot",
        ..NONE
    },
    Shape {
        kind: "aws_launch_template",
        platform: "ec2",
        types: &["instance_type"],
        image: "image_id",
        disk_gb: "block_device_mappings[device_name=/dev/xvda|/dev/sda1].ebs.volume_size",
        spot: "instance_market_options.market_type=spot",
        ..NONE
    },
    Shape {
        kind: "aws_launch_configuration",
        platform: "ec2",
        types: &["instance_type"],
        image: "image_id",
        disk_gb: "root_block_device.volume_size",
        spot: "spot_price=*",
        ..NONE
    },
    Shape {
        kind: "aws_batch_compute_environment",
        platform: "batch",
        types: &["compute_resources.instance_type"],
        spot: "compute_resources.type=SPOT",
        ..NONE
    },
    Shape {
        kind: "oci_containerengine_node_pool",
        platform: "oke",
        types: &["node_shape"],
        disk_gb: "node_source_details.boot_volume_size_in_gbs",
        image: "node_source_details.image_id",
        release: "kubernetes_version",
        labels: "initial_node_labels",
        ..NONE
    },
    Shape {
        kind: "ibm_container_vpc_worker_pool",
        platform: "iks",
        types: &["flavor"],
        labels: "labels",
        taints: "taints",
        ..NONE
    },
    Shape {
        kind: "oci_core_instance",
        platform: "oci",
        lone: true,
        types: &["shape"],
        image: "source_details.source_id",
        disk_gb: "source_details.boot_volume_size_in_gbs",
        spot: "preemptible_instance_config=*",
        ..NONE
    },
    Shape {
        kind: "ibm_is_instance",
        platform: "ibm",
        lone: true,
        types: &["profile"],
        image: "image",
        disk_gb: "boot_volume.size",
        ..NONE
    },
    Shape {
        kind: "tencentcloud_kubernetes_node_pool",
        platform: "tke",
        types: &["auto_scaling_config.instance_type"],
        count: ("min_size", "max_size"),
        disk_gb: "auto_scaling_config.system_disk_size",
        image: "node_os",
        labels: "labels",
        taints: "taints",
        zones: "subnet_ids",
        ..NONE
    },
    Shape {
        kind: "aws_autoscaling_group",
        platform: "ec2",
        count: ("min_size", "max_size"),
        zones: "vpc_zone_identifier",
        ..NONE
    },
    Shape {
        kind: "AWS::AutoScaling::AutoScalingGroup",
        platform: "ec2",
        count: ("MinSize", "MaxSize"),
        zones: "VPCZoneIdentifier",
        ..NONE
    },
    Shape {
        kind: "AWS::EC2::LaunchTemplate",
        platform: "ec2",
        types: &["LaunchTemplateData.InstanceType"],
        image: "LaunchTemplateData.ImageId",
        spot: "LaunchTemplateData.InstanceMarketOptions.MarketType=spot",
        disk_gb: "LaunchTemplateData.BlockDeviceMappings[DeviceName=/dev/xvda|/dev/sda1].Ebs.VolumeSize",
        ..NONE
    },
    Shape {
        kind: "AWS::EC2::Instance",
        platform: "ec2",
        lone: true,
        types: &["InstanceType"],
        image: "ImageId",
        disk_gb: "BlockDeviceMappings[DeviceName=/dev/xvda|/dev/sda1].Ebs.VolumeSize",
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
        ..NONE
    },
    Shape {
        kind: "azurerm_linux_virtual_machine_scale_set",
        platform: "azure-vm",
        types: &["sku"],
        spot: "priority=Spot",
        disk_gb: "os_disk.disk_size_gb",
        ..NONE
    },
    Shape {
        kind: "alicloud_instance",
        platform: "ecs",
        lone: true,
        types: &["instance_type"],
        image: "image_id",
        spot: "spot_strategy=SpotAsPriceGo|SpotWithPriceLimit",
        disk_gb: "system_disk_size",
        ..NONE
    },
    Shape {
        kind: "ALIYUN::ECS::Instance",
        platform: "ecs",
        lone: true,
        types: &["InstanceType"],
        image: "ImageId",
        spot: "SpotStrategy=SpotAsPriceGo|SpotWithPriceLimit",
        disk_gb: "SystemDiskSize",
        ..NONE
    },
    Shape {
        kind: "ALIYUN::ESS::ScalingConfiguration",
        platform: "ess",
        types: &["InstanceType"],
        image: "ImageId",
        spot: "SpotStrategy=SpotAsPriceGo|SpotWithPriceLimit",
        disk_gb: "SystemDiskSize",
        ..NONE
    },
    Shape {
        kind: "ALIYUN::ECS::InstanceGroup",
        platform: "ecs",
        lone: true,
        types: &["InstanceType"],
        image: "ImageId",
        spot: "SpotStrategy=SpotAsPriceGo|SpotWithPriceLimit",
        disk_gb: "SystemDiskSize",
        ..NONE
    },
    Shape {
        kind: "tencentcloud_instance",
        platform: "cvm",
        lone: true,
        types: &["instance_type"],
        image: "image_id",
        spot: "instance_charge_type=SPOTPAID",
        disk_gb: "system_disk_size",
        ..NONE
    },
    Shape {
        kind: "AWS::AutoScaling::LaunchConfiguration",
        platform: "ec2",
        types: &["InstanceType"],
        image: "ImageId",
        spot: "SpotPrice=*",
        disk_gb: "BlockDeviceMappings[DeviceName=/dev/xvda|/dev/sda1].Ebs.VolumeSize",
        ..NONE
    },
    Shape {
        kind: "AWS::Batch::ComputeEnvironment",
        platform: "batch",
        types: &["ComputeResources.InstanceTypes"],
        spot: "ComputeResources.Type=SPOT",
        zones: "ComputeResources.Subnets",
        ..NONE
    },
    Shape {
        kind: "ALIYUN::CS::ManagedKubernetesCluster",
        platform: "ack",
        types: &["WorkerInstanceTypes"],
        disk_gb: "WorkerSystemDiskSize",
        zones: "VSwitchIds",
        ..NONE
    },
    Shape {
        kind: "ALIYUN::CS::ClusterNodePool",
        platform: "ack",
        types: &["ScalingGroup.InstanceTypes"],
        count: ("AutoScaling.MinInstances", "AutoScaling.MaxInstances"),
        disk_gb: "ScalingGroup.SystemDiskSize",
        image: "ScalingGroup.ImageType",
        labels: "KubernetesConfig.Labels",
        taints: "KubernetesConfig.Taints",
        zones: "ScalingGroup.VSwitchIds",
        ..NONE
    },
    Shape {
        kind: "nebius_mk8s_v1_node_group",
        platform: "mk8s",
        types: &["template.resources.platform"],
        count: ("autoscaling.min_node_count", "autoscaling.max_node_count"),
        disk_gb: "template.boot_disk.size_gibibytes",
        release: "version",
        labels: "template.metadata.labels",
        taints: "template.taints",
        spot: "template.preemptible=*",
        ..NONE
    },
    Shape {
        kind: "nebius_compute_v1_instance",
        platform: "nebius",
        lone: true,
        types: &["resources.platform"],
        spot: "preemptible=*",
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
    Shape {
        kind: "aws_sagemaker_notebook_instance",
        platform: "sagemaker",
        lone: true,
        types: &["instance_type"],
        disk_gb: "volume_size",
        ..NONE
    },
    Shape {
        kind: "AWS::SageMaker::NotebookInstance",
        platform: "sagemaker",
        lone: true,
        types: &["InstanceType"],
        disk_gb: "VolumeSizeInGB",
        ..NONE
    },
    Shape {
        kind: "aws_spot_instance_request",
        platform: "ec2",
        lone: true,
        types: &["instance_type"],
        image: "ami",
        disk_gb: "root_block_device.volume_size",
        spot: "=",
        ..NONE
    },
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
        kind: "azurerm_orchestrated_virtual_machine_scale_set",
        platform: "azure-vm",
        types: &["sku_name"],
        disk_gb: "os_disk.disk_size_gb",
        spot: "priority=Spot",
        ..NONE
    },
    Shape {
        kind: "alicloud_ess_scaling_configuration",
        platform: "ess",
        types: &["instance_type", "instance_types"],
        image: "image_id",
        disk_gb: "system_disk_size",
        spot: "spot_strategy=SpotAsPriceGo|SpotWithPriceLimit",
        ..NONE
    },
    Shape {
        kind: "tencentcloud_kubernetes_scale_worker",
        platform: "tke",
        types: &["worker_config.instance_type"],
        disk_gb: "worker_config.system_disk_size",
        labels: "labels",
        taints: "taints",
        ..NONE
    },
    Shape {
        kind: "huaweicloud_cce_node_pool",
        platform: "cce",
        types: &["flavor_id"],
        count: ("min_node_count", "max_node_count"),
        disk_gb: "root_volume.size",
        image: "os",
        labels: "labels",
        taints: "taints",
        ..NONE
    },
    Shape {
        kind: "volcengine_vke_node_pool",
        platform: "vke",
        types: &["node_config.instance_type_ids"],
        count: ("auto_scaling.min_replicas", "auto_scaling.max_replicas"),
        disk_gb: "node_config.system_volume.size",
        image: "node_config.image_id",
        labels: "kubernetes_config.labels",
        taints: "kubernetes_config.taints",
        ..NONE
    },
    Shape {
        kind: "scaleway_k8s_pool",
        platform: "kapsule",
        types: &["node_type"],
        count: ("min_size", "max_size"),
        disk_gb: "root_volume_size_in_gb",
        ..NONE
    },
    Shape {
        kind: "digitalocean_kubernetes_node_pool",
        platform: "doks",
        types: &["size"],
        count: ("min_nodes", "max_nodes"),
        labels: "labels",
        taints: "taint",
        ..NONE
    },
    Shape {
        kind: "awscc_sagemaker_cluster",
        platform: "hyperpod",
        types: &["instance_type"],
        count: ("min_instance_count", "instance_count"),
        ..NONE
    },
    Shape {
        kind: "AWS::SageMaker::Cluster",
        platform: "hyperpod",
        types: &["InstanceType"],
        count: ("MinInstanceCount", "InstanceCount"),
        ..NONE
    },
];
