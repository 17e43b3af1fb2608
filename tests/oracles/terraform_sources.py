"""The providers of schemas/terraform: their bindings, what later releases are read from, and the resources of machines with GPUs."""

import dataclasses

AWS = """autoscaling_group batch_compute_environment batch_job_definition batch_job_queue ec2_capacity_block_reservation
ec2_capacity_reservation ec2_fleet ecs_capacity_provider ecs_cluster ecs_service ecs_task_definition eks_addon eks_cluster
eks_fargate_profile eks_node_group eks_pod_identity_association fsx_lustre_file_system instance launch_configuration
launch_template placement_group sagemaker_domain sagemaker_endpoint sagemaker_endpoint_configuration sagemaker_model
sagemaker_notebook_instance spot_fleet_request spot_instance_request"""
GOOGLE = """cloud_run_service cloud_run_v2_job cloud_run_v2_service compute_instance compute_instance_from_template
compute_instance_group_manager compute_instance_template compute_region_instance_group_manager
compute_region_instance_template compute_reservation compute_resource_policy container_cluster container_node_pool
filestore_instance notebooks_instance parallelstore_instance tpu_v2_vm vertex_ai_endpoint workbench_instance"""
AZURE = """capacity_reservation capacity_reservation_group container_app container_group kubernetes_cluster
kubernetes_cluster_extension kubernetes_cluster_node_pool linux_virtual_machine linux_virtual_machine_scale_set
machine_learning_compute_cluster machine_learning_compute_instance orchestrated_virtual_machine_scale_set
proximity_placement_group virtual_machine virtual_machine_extension virtual_machine_scale_set_extension"""
KUBERNETES = """cron_job_v1 daemonset daemon_set_v1 deployment deployment_v1 job job_v1 pod pod_v1
persistent_volume_claim persistent_volume_claim_v1 service service_v1 stateful_set stateful_set_v1"""


@dataclasses.dataclass
class Provider:
    """A provider: releases of its bindings, and of its documentation the newest."""

    # The file that is written, and the name of the package of its bindings.
    name: str
    package: str
    # Its address in a registry.
    address: str
    # What its resources begin with, and the rest of their names.
    prefix: str
    resources: str
    # Releases of the bindings, by those of the provider.
    bindings: dict
    # The clone with its documentation, and the releases that are read from that.
    clone: str = ""
    documented: tuple = ()
    # Pages that tell of parts of a resource beside its own.
    beside: dict = dataclasses.field(default_factory=dict)
    # Bindings of another kind, and their release, that stand for documentation.
    inputs: tuple = ()
    # From this release on lists of objects are arguments, as the plugin framework has them.
    framework: str = ""

    def text(self):
        clone = self.clone.replace("+", "/")
        documented = [f"https://github.com/{clone} documentation of {', '.join(self.documented)}"] if clone else []
        documented += [f"https://www.npmjs.com/package/{self.inputs[0]} {self.inputs[1]}"] if self.inputs else []
        return "; ".join([f"https://www.npmjs.com/package/@cdktf/provider-{self.package}", *documented])


PROVIDERS = [
    Provider(
        "terraform-aws", "aws", "hashicorp/aws", "aws", AWS,
        {"4.15.1": "8.0.0", "4.67.0": "15.0.0", "5.5.0": "16.0.0", "5.31.0": "19.0.0", "5.74.0": "19.40.0",
         "5.100.0": "20.1.0", "6.0.0": "21.0.0", "6.25.0": "21.22.1"},
        # This release wraps 6.46.0 (pulumi/pulumi-aws#6392) or a later one.
        documented=("6.46.0",), inputs=("@pulumi/aws", "7.48.0"),
    ),
    Provider(
        "terraform-google", "google-beta", "hashicorp/google-beta", "google", GOOGLE,
        {"4.19.0": "0.0.22", "4.84.0": "9.0.5", "5.0.0": "10.0.0", "5.43.1": "13.25.1", "6.1.0": "14.0.0", "6.50.0": "16.12.1"},
        "hashicorp+terraform-provider-google-beta", ("7.45.0",),
        {
            "google_container_node_pool": "google_container_cluster",
            "google_compute_instance_from_template": "google_compute_instance",
            "google_compute_region_instance_template": "google_compute_instance_template",
        },
    ),
    Provider(
        "terraform-azurerm", "azurerm", "hashicorp/azurerm", "azurerm", AZURE,
        {"3.25.0": "2.0.20", "3.61.0": "8.0.0", "3.116.0": "12.27.0", "4.0.1": "13.0.0", "4.31.0": "14.0.0", "4.55.0": "14.23.1"},
        "hashicorp+terraform-provider-azurerm", ("4.81.0", "5.2.0"),
    ),
    Provider(
        "terraform-helm", "helm", "hashicorp/helm", "helm", "release",
        {"2.5.1": "0.5.27", "2.17.0": "11.0.0", "3.0.1": "12.0.0", "3.1.1": "12.1.2"},
        framework="3",
    ),
    Provider(
        "terraform-kubernetes", "kubernetes", "hashicorp/kubernetes", "kubernetes", KUBERNETES,
        {"2.13.1": "2.0.43", "2.25.2": "11.0.0", "2.38.0": "12.1.1"},
        "hashicorp+terraform-provider-kubernetes", ("3.2.1",),
    ),
    Provider(
        "terraform-digitalocean", "digitalocean", "digitalocean/digitalocean", "digitalocean",
        "droplet kubernetes_cluster kubernetes_node_pool",
        {"2.19.0": "0.1.2", "2.48.2": "11.14.1", "2.71.0": "13.14.1"},
        "digitalocean+terraform-provider-digitalocean", ("2.99.1",),
    ),
]  # fmt: skip
