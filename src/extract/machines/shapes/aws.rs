//! Resource types of AWS, in CloudFormation and Terraform.

use super::{NONE, Shape};

pub(super) const AWS: &[Shape] = &[
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
        zones: "subnet_ids zones",
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
        kind: "aws_instance",
        platform: "ec2",
        lone: true,
        types: &["instance_type"],
        disk_gb: "root_block_device.volume_size",
        image: "ami",
        spot: "instance_market_options.market_type=spot",
        zones: "availability_zone",
        ..NONE
    },
    Shape {
        kind: "aws_launch_template",
        platform: "ec2",
        types: &["instance_type"],
        image: "image_id",
        disk_gb: "block_device_mappings[device_name=/dev/xvda|/dev/sda1].ebs.volume_size",
        spot: "instance_market_options.market_type=spot",
        zones: "placement.availability_zone",
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
        zones: "compute_resources.subnets",
        ..NONE
    },
    Shape {
        kind: "aws_autoscaling_group",
        platform: "ec2",
        count: ("min_size", "max_size"),
        zones: "vpc_zone_identifier availability_zones",
        ..NONE
    },
    Shape {
        kind: "AWS::AutoScaling::AutoScalingGroup",
        platform: "ec2",
        count: ("MinSize", "MaxSize"),
        zones: "VPCZoneIdentifier AvailabilityZones",
        ..NONE
    },
    Shape {
        kind: "AWS::EC2::LaunchTemplate",
        platform: "ec2",
        types: &["LaunchTemplateData.InstanceType"],
        image: "LaunchTemplateData.ImageId",
        spot: "LaunchTemplateData.InstanceMarketOptions.MarketType=spot",
        disk_gb: "LaunchTemplateData.BlockDeviceMappings[DeviceName=/dev/xvda|/dev/sda1].Ebs.VolumeSize",
        zones: "LaunchTemplateData.Placement.AvailabilityZone",
        ..NONE
    },
    Shape {
        kind: "AWS::EC2::Instance",
        platform: "ec2",
        lone: true,
        types: &["InstanceType"],
        image: "ImageId",
        disk_gb: "BlockDeviceMappings[DeviceName=/dev/xvda|/dev/sda1].Ebs.VolumeSize",
        zones: "AvailabilityZone",
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
        zones: "availability_zone",
        ..NONE
    },
    // What the commands of these names take, in the words of the API.
    Shape {
        kind: "aws ec2 run-instances",
        platform: "ec2",
        lone: true,
        types: &["InstanceType"],
        size: "count",
        image: "ImageId",
        disk_gb: "BlockDeviceMappings[DeviceName=/dev/xvda|/dev/sda1].Ebs.VolumeSize",
        spot: "InstanceMarketOptions.MarketType=spot",
        zones: "Placement.AvailabilityZone SubnetId",
        ..NONE
    },
    Shape {
        kind: "aws ec2 request-spot-instances",
        platform: "ec2",
        lone: true,
        types: &["InstanceType"],
        size: "count",
        image: "ImageId",
        disk_gb: "BlockDeviceMappings[DeviceName=/dev/xvda|/dev/sda1].Ebs.VolumeSize",
        spot: "=",
        zones: "Placement.AvailabilityZone",
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
