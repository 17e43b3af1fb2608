use super::*;
use crate::extract;
use crate::parse::hcl;
use crate::render::terraform::ModuleFile;
use crate::source::SourceId;

fn facts(files: &[(&str, &str)]) -> Facts {
    let read = files.iter().zip(0..).map(|((path, text), id)| ModuleFile {
        path: (*path).to_owned(),
        hcl: hcl::parse(SourceId(id), text),
        values: false,
    });
    let mut facts = Facts::default();
    let texts = files.iter().zip(0..).map(|((path, text), id)| (*path, SourceId(id), *text));
    extract::modules(read.filter(|file| file.path.ends_with(".tf")).collect(), texts, &mut facts);
    facts
}

fn texts(list: &[Fact<String>]) -> Vec<&str> {
    list.iter().filter_map(|fact| fact.get().map(String::as_str)).collect()
}

#[test]
fn a_group_takes_what_its_template_states() {
    let text = r#"
resource "aws_launch_template" "gpu" {
  instance_type = "g5.xlarge"
  image_id      = "ami-1"
}
resource "aws_autoscaling_group" "gpu" {
  min_size = 0
  max_size = 4
  mixed_instances_policy {
    launch_template {
      launch_template_specification { launch_template_id = aws_launch_template.gpu.id }
      override { instance_type = "g5.2xlarge" }
      override { instance_type = "g5.4xlarge" }
    }
  }
  tag {
    key   = "k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu"
    value = "true:NoSchedule"
  }
}
resource "aws_autoscaling_group" "plain" {
  min_size             = 1
  launch_configuration = aws_launch_configuration.c.name
}
resource "aws_launch_configuration" "c" { instance_type = "p3.2xlarge" }
"#;
    let facts = facts(&[("main.tf", text)]);
    assert_eq!(facts.pools.len(), 2);
    let gpu = &facts.pools[0];
    assert_eq!(texts(&gpu.instance_types), ["g5.2xlarge", "g5.4xlarge"]);
    assert_eq!((gpu.min_nodes.get(), gpu.max_nodes.get()), (Some(&0), Some(&4)));
    assert_eq!(gpu.image_type.get().map(String::as_str), Some("ami-1"));
    let taint = &gpu.taints[0];
    let parts = [&taint.key, &taint.value, &taint.effect].map(|f| f.get().map_or("", String::as_str));
    assert_eq!(parts, ["nvidia.com/gpu", "true", "NoSchedule"]);
    assert_eq!(texts(&facts.pools[1].instance_types), ["p3.2xlarge"]);
}

#[test]
fn pools_inside_clusters_and_modules() {
    let text = r#"
resource "google_container_cluster" "c" {
  name = "c"
  node_config { machine_type = "g2-standard-4" }
  node_pool {
    name = "big"
    node_config { machine_type = "a3-highgpu-8g" }
  }
}
module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = { gpu = { instance_types = ["p5.48xlarge"], taints = [{ key = "a", effect = "NO_SCHEDULE" }] } }
  self_managed_node_groups = { own = { instance_type = "g6.xlarge", min_size = 0 } }
}
"#;
    let facts = facts(&[("main.tf", text)]);
    let found: Vec<(&str, Vec<&str>)> =
        facts.pools.iter().map(|p| (p.name.get().map_or("", String::as_str), texts(&p.instance_types))).collect();
    let expected = [
        ("default-pool", vec!["g2-standard-4"]),
        ("big", vec!["a3-highgpu-8g"]),
        ("gpu", vec!["p5.48xlarge"]),
        ("own", vec!["g6.xlarge"]),
    ];
    assert_eq!(found, expected);
    assert_eq!(facts.pools[2].taints[0].effect.get().map(String::as_str), Some("NoSchedule"));
}

#[test]
fn chart_values_are_merged_in_order() {
    let text = "resource \"helm_release\" \"x\" {\n  chart = \"gpu-operator\"\n  values = [\n    file(\"a.yaml\"),\n    yamlencode({ driver = { enabled = false } }),\n  ]\n}\n";
    let facts = facts(&[("main.tf", text), ("a.yaml", "driver:\n  enabled: true\n  version: 550.54.15\n")]);
    let release = &facts.releases[0];
    let values = release.values.as_ref().expect("values");
    let driver = values.view().get("driver");
    assert_eq!(driver.get("enabled").boolean().get(), Some(&false));
    let version = driver.get("version").string();
    assert_eq!((version.get().map(String::as_str), version.span.source), (Some("550.54.15"), SourceId(1)));
    assert_eq!(release.values_complete.get(), Some(&true));
}

#[test]
fn resources_of_the_kubernetes_provider_are_workloads() {
    let text = r#"
resource "kubernetes_deployment_v1" "llm" {
  metadata { name = "llm" }
  spec {
    replicas = 2
    template {
      metadata { labels = { app_name = "llm" } }
      spec {
        node_selector = { "cloud.google.com/gke-accelerator" = "nvidia-l4" }
        toleration { key = "nvidia.com/gpu" }
        container {
          name  = "vllm"
          image = "vllm/vllm-openai:v0.11.2"
          resources { limits = { "nvidia.com/gpu" = "2" } }
          port { container_port = 8000 }
        }
      }
    }
  }
}
resource "google_cloud_run_v2_service" "s" {
  name = "s"
  template {
    containers {
      image = "ollama/ollama:0.5.0"
      resources { limits = { "nvidia.com/gpu" = "1" } }
    }
    node_selector { accelerator = "nvidia-l4" }
  }
}
resource "kubectl_manifest" "pod" {
  yaml_body = <<-E
    apiVersion: v1
    kind: Pod
    metadata: {name: p}
    spec:
      containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]
  E
}
"#;
    let facts = facts(&[("main.tf", text)]);
    let found: Vec<_> = facts
        .workloads
        .iter()
        .map(|w| (w.name.get().map_or("", String::as_str), w.pods[0].gpus.get().copied()))
        .collect();
    assert_eq!(found, [("llm", Some(2)), ("s", Some(1)), ("p", Some(1))]);
    let container = &facts.workloads[0].pods[0].containers[0];
    assert_eq!(container.ports[0].port.get(), Some(&8000));
    assert_eq!(&text[container.gpus.span.range()], "\"2\"");
    let pod = &facts.workloads[0].pods[0];
    assert!(pod.node_selector.contains_key("cloud.google.com/gke-accelerator"));
    assert!(pod.labels.contains_key("app_name"));
}

#[test]
fn an_endpoint_runs_its_model_on_its_machine() {
    let text = r#"
resource "aws_sagemaker_model" "m" {
  primary_container {
    image       = "x:1"
    environment = { SM_NUM_GPUS = "4" }
  }
}
resource "aws_sagemaker_endpoint_configuration" "e" {
  production_variants {
    model_name             = aws_sagemaker_model.m.name
    instance_type          = "ml.g5.12xlarge"
    initial_instance_count = 2
  }
}
"#;
    let facts = facts(&[("main.tf", text)]);
    let pod = &facts.workloads[0].pods[0];
    assert_eq!((pod.gpus.get(), pod.replicas.get()), (Some(&4), Some(&2)));
    assert!(pod.containers[0].env.contains_key("SM_NUM_GPUS"));
}

#[test]
fn an_endpoint_whose_model_is_made_elsewhere_has_its_machine() {
    let variant = |machines: &str| {
        format!(
            r#"
resource "aws_sagemaker_endpoint_configuration" "e" {{
  production_variants {{
    model_name = "made-elsewhere"
    {machines}
  }}
}}
"#
        )
    };
    let stated = facts(&[("main.tf", &*variant("instance_type = \"ml.g5.xlarge\""))]);
    let [endpoint] = &stated.workloads[..] else { panic!("{:?}", stated.workloads) };
    assert_eq!(endpoint.name.get().map(String::as_str), Some("e"));
    assert_eq!((endpoint.gpus.get(), endpoint.replicas.get()), (Some(&1), Some(&1)));
    assert!(endpoint.pods[0].containers[0].image.repository.is_unknown());
    let serverless = "serverless_config {\n memory_size_in_mb = 4096\n }";
    assert!(facts(&[("main.tf", &*variant(serverless))]).workloads.is_empty());
}
