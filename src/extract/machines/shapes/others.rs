//! Resource types of the other clouds.

use super::{NONE, Shape};

pub(super) const OTHERS: &[Shape] = &[
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
        size: "desired_size",
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
        spot: "node_config_details.placement_configs.preemptible_node_config=*",
        size: "node_config_details.size",
        zones: "node_config_details.placement_configs[].availability_domain",
        ..NONE
    },
    Shape {
        kind: "ibm_container_vpc_worker_pool",
        platform: "iks",
        types: &["flavor"],
        labels: "labels",
        taints: "taints",
        zones: "zones[].name",
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
        zones: "availability_domain",
        ..NONE
    },
    Shape {
        kind: "oci_core_instance_configuration",
        platform: "oci",
        types: &["instance_details.launch_details.shape"],
        image: "instance_details.launch_details.source_details.image_id",
        disk_gb: "instance_details.launch_details.source_details.boot_volume_size_in_gbs",
        spot: "instance_details.launch_details.preemptible_instance_config=*",
        ..NONE
    },
    Shape {
        kind: "oci_core_instance_pool",
        platform: "oci",
        zones: "placement_configurations[].availability_domain",
        size: "size",
        ..NONE
    },
    Shape {
        kind: "ibm_is_instance",
        platform: "ibm",
        lone: true,
        types: &["profile"],
        image: "image",
        disk_gb: "boot_volume.size",
        zones: "zone",
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
        spot: "auto_scaling_config.instance_charge_type=SPOTPAID",
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
        zones: "availability_zone",
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
        zones: "ZoneId",
        ..NONE
    },
    Shape {
        kind: "ALIYUN::ESS::ScalingConfiguration",
        platform: "ess",
        types: &["InstanceType", "InstanceTypes"],
        image: "ImageId",
        spot: "SpotStrategy=SpotAsPriceGo|SpotWithPriceLimit",
        disk_gb: "SystemDiskSize",
        ..NONE
    },
    Shape {
        kind: "ALIYUN::ECS::LaunchTemplate",
        platform: "ecs",
        types: &["InstanceType"],
        image: "ImageId",
        spot: "SpotStrategy=SpotAsPriceGo|SpotWithPriceLimit",
        disk_gb: "SystemDiskSize",
        ..NONE
    },
    Shape {
        kind: "ALIYUN::ECS::LaunchTemplateVersion",
        platform: "ecs",
        types: &["LaunchTemplateData.InstanceType"],
        image: "LaunchTemplateData.ImageId",
        spot: "LaunchTemplateData.SpotStrategy=SpotAsPriceGo|SpotWithPriceLimit",
        disk_gb: "LaunchTemplateData.SystemDiskSize",
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
        zones: "ZoneId",
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
        zones: "availability_zone",
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
        spot: "ScalingGroup.SpotStrategy=SpotAsPriceGo|SpotWithPriceLimit",
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
        kind: "alicloud_ess_scaling_configuration",
        platform: "ess",
        types: &["instance_type", "instance_types"],
        image: "image_id",
        disk_gb: "system_disk_size",
        spot: "spot_strategy=SpotAsPriceGo|SpotWithPriceLimit",
        ..NONE
    },
    Shape {
        kind: "tencentcloud_as_scaling_config",
        platform: "tencent-as",
        types: &["instance_types"],
        image: "image_id",
        disk_gb: "system_disk_size",
        spot: "instance_charge_type=SPOTPAID",
        ..NONE
    },
    Shape {
        kind: "huaweicloud_as_configuration",
        platform: "huawei-as",
        types: &["instance_config.flavor"],
        image: "instance_config.image",
        spot: "instance_config.charging_mode=spot",
        disk_gb: "instance_config.disk[disk_type=SYS].size",
        ..NONE
    },
    Shape {
        kind: "volcengine_scaling_configuration",
        platform: "volcengine-as",
        types: &["instance_types"],
        image: "image_id",
        spot: "spot_strategy=SpotAsPriceGo",
        ..NONE
    },
    Shape {
        kind: "huaweicloud_compute_instance",
        platform: "huawei-ecs",
        lone: true,
        types: &["flavor_id"],
        image: "image_id",
        disk_gb: "system_disk_size",
        spot: "charging_mode=spot",
        zones: "availability_zone",
        ..NONE
    },
    Shape {
        kind: "volcengine_ecs_instance",
        platform: "volcengine-ecs",
        lone: true,
        types: &["instance_type"],
        image: "image_id",
        disk_gb: "system_volume_size",
        spot: "spot_strategy=SpotAsPriceGo|SpotWithPriceLimit",
        zones: "zone_id",
        ..NONE
    },
    Shape {
        kind: "baiducloud_instance",
        platform: "bcc",
        lone: true,
        types: &["instance_spec"],
        image: "image_id",
        disk_gb: "root_disk_size_in_gb",
        zones: "availability_zone",
        ..NONE
    },
    Shape {
        kind: "baiducloud_ccev2_instance_group",
        platform: "baidu-cce",
        types: &["spec.instance_template.instance_resource.machine_spec"],
        count: ("spec.cluster_autoscaler_spec.min_replicas", "spec.cluster_autoscaler_spec.max_replicas"),
        spot: "spec.instance_template.instance_charging_type=bidding",
        ..NONE
    },
    Shape {
        kind: "tencentcloud_kubernetes_scale_worker",
        platform: "tke",
        types: &["worker_config.instance_type"],
        disk_gb: "worker_config.system_disk_size",
        labels: "labels",
        taints: "taints",
        zones: "worker_config.availability_zone",
        size: "worker_config.count",
        ..NONE
    },
    Shape {
        kind: "huaweicloud_cce_node_pool",
        platform: "cce",
        spot: "extend_params.market_type=spot",
        types: &["flavor_id"],
        count: ("min_node_count", "max_node_count"),
        disk_gb: "root_volume.size",
        image: "os",
        labels: "labels",
        taints: "taints",
        zones: "availability_zone",
        size: "initial_node_count",
        ..NONE
    },
    Shape {
        kind: "volcengine_vke_node_pool",
        platform: "vke",
        types: &["node_config.instance_type_ids"],
        count: ("auto_scaling.min_replicas", "auto_scaling.max_replicas"),
        disk_gb: "node_config.system_volume.size",
        image: "node_config.image_id",
        spot: "node_config.spot_strategy=SpotAsPriceGo|SpotWithPriceLimit",
        labels: "kubernetes_config.labels",
        taints: "kubernetes_config.taints",
        zones: "node_config.subnet_ids",
        ..NONE
    },
    Shape {
        kind: "coreweave_cks_node_pool",
        platform: "cks",
        types: &["instance_type"],
        count: ("min_nodes", "max_nodes"),
        labels: "labels",
        taints: "taints",
        spot: "compute_class=spot",
        ..NONE
    },
    Shape {
        kind: "scaleway_k8s_pool",
        platform: "kapsule",
        types: &["node_type"],
        count: ("min_size", "max_size"),
        disk_gb: "root_volume_size_in_gb",
        zones: "zone",
        size: "size",
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
];
