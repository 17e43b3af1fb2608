//! Resources of Terraform against what their providers publish: what is told, and what is not.

use gpulint::discover;
use gpulint::facts::Facts;
use gpulint::lint::{self, Input};
use gpulint::rules::Ruleset;

const CLASSES: [&str; 3] = ["unknown-field", "value-not-allowed", "required-field-missing"];

/// What is told of files, with the text at its place.
fn told_of(files: &[(&str, &str)]) -> Vec<String> {
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_owned(),
        text: (*text).into(),
        kind: discover::kind_of(path).expect("a kind"),
        repository: 0,
    };
    let outcome = lint::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), &Ruleset::builtin());
    let findings = outcome.evaluation.findings.into_iter();
    let own = findings.filter(|finding| CLASSES.contains(&finding.rule.as_str()));
    own.map(|finding| finding.message).collect()
}

fn told(text: &str) -> Vec<String> {
    told_of(&[("main.tf", text)])
}

fn group(body: &str) -> String {
    format!(
        "resource \"aws_eks_node_group\" \"gpu\" {{\n  cluster_name   = \"c\"\n  node_role_arn  = \"r\"\n  subnet_ids     = [\"s\"]\n  \
         instance_types = [\"p5.48xlarge\"]\n{body}\n}}\n"
    )
}

const SIZE: &str = "  scaling_config {\n    desired_size = 1\n    max_size = 2\n    min_size = 0\n  }\n";

#[test]
fn arguments_that_a_resource_does_not_have_are_told() {
    let found = told(&group(&format!("{SIZE}  instance_type = \"p5.48xlarge\"")));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("aws_eks_node_group, hashicorp/aws 4.15.1 to"), "{found:?}");
    assert!(found[0].contains("there is no argument instance_type"), "{found:?}");
    let found = told(&group(&format!("{SIZE}  taints {{\n    key = \"a\"\n    effect = \"NO_SCHEDULE\"\n  }}")));
    assert!(found[0].contains("there is no block taints"), "{found:?}");
    let found = told(&group(&SIZE.replace("max_size", "max")));
    assert!(found.iter().any(|one| one.contains("there is no argument scaling_config.max")), "{found:?}");
}

#[test]
fn blocks_are_no_arguments_and_arguments_no_blocks() {
    let found = told(&group("  scaling_config = {\n    desired_size = 1\n    max_size = 2\n    min_size = 0\n  }\n"));
    assert!(found[0].contains("scaling_config is a block, and no argument: scaling_config { … }"), "{found:?}");
    let found = told(&group(&format!("{SIZE}  labels {{\n    gpu = \"true\"\n  }}")));
    assert!(found[0].contains("labels is an argument, and no block: labels = …"), "{found:?}");
    // Lists of objects of the older framework are written as either.
    let nested = |taint: &str| {
        format!(
            "resource \"google_container_node_pool\" \"gpu\" {{\n  cluster = \"c\"\n  node_config {{\n    machine_type = \
             \"a2-highgpu-1g\"\n{taint}\n  }}\n}}\n"
        )
    };
    let inner = "type = \"nvidia-tesla-a100\"\n      count = 1";
    for written in [
        format!("    guest_accelerator {{\n      {inner}\n    }}"),
        format!("    guest_accelerator = [{{\n      {inner}\n    }}]"),
    ] {
        assert_eq!(told(&nested(&written)), [""; 0], "{written}");
    }
}

#[test]
fn what_must_be_stated_is_missed_where_no_dynamic_block_may_state_it() {
    let asked = |body: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    aws = {{\n      version = \"~> 5.0\"\n    }}\n  }}\n}}\n{}",
            group(body)
        )
    };
    let found = told(&asked(""));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("scaling_config is missing"), "{found:?}");
    let dynamic =
        "  dynamic \"scaling_config\" {\n    for_each = var.sizes\n    content {\n      max_size = 1\n    }\n  }\n";
    assert_eq!(told(&asked(dynamic)), [""; 0]);
    assert_eq!(told(&group("")), [""; 0], "a fragment that asks for no provider");
    let of_file = |path| told_of(&[(path, &*group("")), ("main.tf", &asked(SIZE))]);
    assert_eq!(of_file("gpu_override.tf"), [""; 0], "a file that overrides states a part");
    assert_eq!(of_file("other.tf").len(), 1);
}

#[test]
fn what_the_provider_decides_is_not_set() {
    let found = told(&group(&format!("{SIZE}  status = \"ACTIVE\"")));
    assert!(found[0].contains("status is what the provider decides, and cannot be set"), "{found:?}");
}

#[test]
fn values_are_taken_that_terraform_converts() {
    let disk = |size: &str| group(&format!("{SIZE}  disk_size = {size}"));
    for size in ["100", "\"100\"", "var.size", "\"${var.size}\"", "null"] {
        assert_eq!(told(&disk(size)), [""; 0], "{size}");
    }
    let found = told(&disk("\"large\""));
    assert!(found[0].contains("disk_size is large"), "{found:?}");
    let found = told(
        &group(&format!("{SIZE}  ami_type = \"AL2_x86_64_GPU\"\n  subnet_ids = \"s\""))
            .replace("  subnet_ids     = [\"s\"]\n", ""),
    );
    assert!(found[0].contains("subnet_ids is text (s), and has to be a list"), "{found:?}");
    // What is encoded as a text is one.
    let pod = "resource \"aws_ecs_task_definition\" \"gpu\" {\n  family = \"f\"\n  container_definitions = jsonencode([{ name = \"a\", \
               image = \"a/b:1\", resourceRequirements = [{ type = \"GPU\", value = \"1\" }] }])\n}\n";
    assert_eq!(told(pod), [""; 0]);
}

#[test]
fn arguments_of_every_resource_are_known() {
    let meta = "  count = 2\n  provider = aws.west\n  depends_on = [aws_vpc.a]\n  lifecycle {\n    prevent_destroy = true\n  }\n  \
                timeouts {\n    create = \"1h\"\n  }\n  provisioner \"local-exec\" {\n    command = \"date\"\n  }\n";
    assert_eq!(told(&group(&format!("{SIZE}{meta}"))), [""; 0]);
}

#[test]
fn the_stated_release_of_a_provider_decides() {
    let release = |constraint: &str, set: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    helm = {{\n      source  = \"hashicorp/helm\"\n      version = \"{constraint}\"\n    }}\n  }}\n}}\n\
             resource \"helm_release\" \"gpu\" {{\n  name = \"gpu-operator\"\n  chart = \"gpu-operator\"\n  {set}\n}}\n"
        )
    };
    let block = "set {\n    name  = \"driver.enabled\"\n    value = \"false\"\n  }";
    let list = "set = [{\n    name  = \"driver.enabled\"\n    value = \"false\"\n  }]";
    let blocks = |constraint: &str| told(&release(constraint, block));
    assert!(blocks("~> 3.0")[0].contains("set is an argument, and no block: set = […]"), "{:?}", blocks("~> 3.0"));
    for constraint in ["~> 2.12", ">= 2.0", "2.17.0", "~> 1.3"] {
        assert_eq!(blocks(constraint), [""; 0], "{constraint}");
    }
    assert!(told(&release("< 3.0.0", list))[0].contains("set is a block"), "{:?}", told(&release("< 3.0.0", list)));
    assert_eq!(told(&release("~> 3.0", list)), [""; 0]);
    let other = release("~> 3.0", block).replace("hashicorp/helm", "example/helm");
    assert_eq!(told(&other), [""; 0], "another provider is not judged");
}

#[test]
fn resources_that_speak_of_no_gpu_are_left_alone() {
    let plain = group(&format!("{SIZE}  instance_type = \"m5.large\""))
        .replace("p5.48xlarge", "m5.large")
        .replace("gpu", "web");
    assert_eq!(told(&plain), [""; 0]);
}
