//! What Terraform's files say and leave open: keys that stand twice, blocks that may be there, templates that modules
//! render, references. Over the providers of several clouds.

use crate::languages::{answer, places, run};
use gpulint::facts::Facts;
use gpulint::rules::Ruleset;

fn facts(files: &[(&str, &str)]) -> Facts {
    run(files, &Ruleset::empty()).facts
}

#[test]
fn of_keys_that_stand_twice_in_an_object_the_last_holds() {
    for key in ["disk", "\"disk\"", "d"] {
        let text = format!(
            "provider \"aws\" {{}}\nresource \"aws_eks_node_group\" \"g\" {{\n  instance_types = [\"p5.48xlarge\"]\n  labels = {{\n    {key} = \"a\"\n    {} = \"b\"\n    {key} = \"c\"\n  }}\n}}\n",
            "x"
        );
        let outcome = run(&[("main.tf", &text)], &Ruleset::empty());
        assert_eq!(places(&outcome, "duplicate-key"), ["main.tf:7"], "{key}");
        assert_eq!(places(&outcome, "syntax-error"), [] as [&str; 0], "{key}");
        let labels = &outcome.facts.pools[0].labels;
        assert_eq!(labels.get(key.trim_matches('"')).and_then(|label| label.get()).map(String::as_str), Some("c"));
    }
    let once = "locals {\n  a = { x = 1, (var.x) = 2, y = { x = 3 } }\n  b = [{ x = 1 }, { x = 2 }]\n}\n";
    assert_eq!(places(&run(&[("main.tf", once)], &Ruleset::empty()), "duplicate-key"), [] as [&str; 0]);
}

#[test]
fn an_attribute_that_stands_twice_costs_its_block_nothing() {
    let text = "resource \"google_container_node_pool\" \"p\" {\n  name = \"p\"\n  node_config {\n    machine_type = \"a2-highgpu-1g\"\n    machine_type = \"a2-highgpu-1g\"\n  }\n}\nresource \"google_container_node_pool\" \"q\" {\n  name = \"q\"\n}\n";
    let outcome = run(&[("main.tf", text)], &Ruleset::empty());
    assert_eq!(places(&outcome, "syntax-error"), ["main.tf:5"]);
    assert_eq!(outcome.facts.resources.len(), 2);
}

/// A block of each provider under a `dynamic` block, and its resource around it.
const BLOCKS: &[(&str, &str)] = &[
    ("aws_eks_node_group", "taint"),
    ("aws_launch_template", "network_interfaces"),
    ("azurerm_kubernetes_cluster_node_pool", "linux_os_config"),
    ("google_container_node_pool", "autoscaling"),
    ("oci_containerengine_node_pool", "initial_node_labels"),
    ("alicloud_cs_kubernetes_node_pool", "taints"),
    ("tencentcloud_kubernetes_node_pool", "taints"),
    ("ibm_container_vpc_worker_pool", "taints"),
    ("kubernetes_deployment_v1", "spec"),
];

#[test]
fn a_dynamic_block_over_what_is_unknown_may_be_there_or_not() {
    for (kind, block) in BLOCKS {
        let applies_to = format!("{{resource: {{type: {kind}}}}}");
        let ask = |each: &str, further: &str, condition: &str| {
            let text = format!(
                "variable \"n\" {{}}\nresource \"{kind}\" \"x\" {{\n  {further}\n  dynamic \"{block}\" {{\n    for_each = {each}\n    content {{ key = \"k\" }}\n  }}\n}}\n"
            );
            answer(condition, &applies_to, &[("main.tf", &text)])
        };
        let (missing, keyed) = (format!("body.{block} == null"), format!("body.{block}[0].key == 'k'"));
        for each in ["var.n", "var.n ? [1] : []", "toset(data.x.y.z)", "module.m.list", "try(var.n, [])"] {
            assert_eq!(ask(each, "", &missing), "undecided", "{kind} {each}");
            assert_eq!(ask(each, "", &keyed), "undecided", "{kind} {each}");
        }
        assert_eq!(ask("[1]", "", &missing), "silent", "{kind}");
        assert_eq!(ask("[1]", "", &keyed), "fires", "{kind}");
        assert_eq!(ask("{ a = var.n }", "", &keyed), "fires", "{kind}");
        let stated = format!("{block} {{ key = \"k\" }}");
        assert_eq!(ask("var.n", &stated, &keyed), "fires", "{kind}");
    }
}

#[test]
fn pools_tell_nothing_of_blocks_that_may_be_there() {
    let text = "provider \"google\" {}\nvariable \"gpu\" {}\nresource \"google_container_node_pool\" \"p\" {\n  name = \"p\"\n  node_config {\n    machine_type = \"n1-standard-8\"\n    dynamic \"guest_accelerator\" {\n      for_each = var.gpu\n      content {\n        type  = \"nvidia-tesla-t4\"\n        count = 1\n      }\n    }\n    dynamic \"taint\" {\n      for_each = var.gpu\n      content { key = taint.value }\n    }\n  }\n}\n";
    let of = facts(&[("main.tf", text)]);
    let pool = &of.pools[0];
    assert!(pool.gpu_count.is_unknown() && pool.accelerator.is_unknown(), "{:?}", pool.gpu_count);
    assert!(pool.taints.iter().all(|taint| taint.key.is_unknown()) && pool.taints.len() == 1);
    let known = text.replace("var.gpu", "[\"gpu\"]");
    let of = facts(&[("main.tf", &known)]);
    assert_eq!(
        (of.pools[0].gpu_count.get(), of.pools[0].taints[0].key.get().map(String::as_str)),
        (Some(&1), Some("gpu"))
    );
}

#[test]
fn labels_of_pools_are_read_as_each_provider_writes_them() {
    for (kind, labels) in [
        ("aws_eks_node_group", "labels = { a = \"1\", b = \"2\" }"),
        ("azurerm_kubernetes_cluster_node_pool", "node_labels = { a = \"1\", b = \"2\" }"),
        (
            "oci_containerengine_node_pool",
            "initial_node_labels {\n key = \"a\"\n value = \"1\"\n }\n initial_node_labels {\n key = \"b\"\n value = \"2\"\n }",
        ),
        (
            "alicloud_cs_kubernetes_node_pool",
            "labels {\n key = \"a\"\n value = \"1\"\n }\n labels {\n key = \"b\"\n value = \"2\"\n }",
        ),
        ("ibm_container_vpc_worker_pool", "labels = { a = \"1\", b = \"2\" }"),
    ] {
        let text = format!("provider \"x\" {{}}\nresource \"{kind}\" \"p\" {{\n {labels}\n}}\n");
        let of = facts(&[("main.tf", &text)]);
        let shown: Vec<_> =
            of.pools[0].labels.iter().map(|(key, value)| (key.as_str(), value.get().cloned())).collect();
        assert_eq!(shown, [("a", Some("1".to_owned())), ("b", Some("2".to_owned()))], "{kind}");
    }
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeSelector: {team: ml}\n  containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]\n";
    let pool = |labels: &str| {
        let text = format!(
            "provider \"aws\" {{}}\nvariable \"l\" {{}}\nresource \"aws_eks_node_group\" \"g\" {{\n  instance_types = [\"g5.xlarge\"]\n  labels = {labels}\n}}\n"
        );
        let outcome = run(&[("main.tf", &text), ("pod.yaml", pod)], &Ruleset::empty());
        outcome.facts.workloads[0].pods[0].pools.len()
    };
    assert_eq!((pool("{ team = \"ml\" }"), pool("var.l"), pool("{ team = \"web\" }")), (1, 1, 0));
}

#[test]
fn a_reference_is_stated_in_every_cloud() {
    for (kind, key, value) in [
        ("aws_ebs_volume", "kms_key_id", "aws_kms_key.k.arn"),
        ("azurerm_managed_disk", "disk_encryption_set_id", "azurerm_disk_encryption_set.d.id"),
        ("google_compute_disk", "key", "google_kms_crypto_key.k.id"),
        ("oci_core_volume", "kms_key_id", "oci_kms_key.k.id"),
        ("alicloud_disk", "kms_key_id", "alicloud_kms_key.k.id"),
        ("tencentcloud_cbs_storage", "kms_key_id", "data.tencentcloud_kms_keys.k.key_list[0].key_id"),
        ("ibm_is_volume", "encryption_key", "module.keys.crn"),
    ] {
        let applies_to = format!("{{resource: {{type: {kind}}}}}");
        let missing = format!("body.{key} == null");
        let text = format!("resource \"{kind}\" \"v\" {{\n  {key} = {value}\n}}\n");
        assert_eq!(answer(&missing, &applies_to, &[("main.tf", &text)]), "silent", "{kind}");
        let json = format!("{{\"resource\": {{\"{kind}\": {{\"v\": {{\"{key}\": \"${{{value}}}\"}}}}}}}}");
        assert_eq!(answer(&missing, &applies_to, &[("main.tf.json", &json)]), "silent", "{kind} in JSON");
        let without = format!("resource \"{kind}\" \"v\" {{\n  size = 1\n}}\n");
        assert_eq!(answer(&missing, &applies_to, &[("main.tf", &without)]), "fires", "{kind}");
    }
}

const TEMPLATE: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n%{ if length(keys) > 0 ~}\n  tolerations:\n%{ for key in keys ~}\n  - key: ${key}\n    operator: Exists\n%{ endfor ~}\n%{ endif ~}\n  containers:\n  - name: c\n    image: vllm/vllm-openai:v0.10.2\n    args: [--model, ${model}]\n    resources: {limits: {nvidia.com/gpu: ${gpus}}}\n";

#[test]
fn a_template_is_rendered_before_its_yaml_is_read() {
    let call =
        "templatefile(\"${path.module}/pod.yaml.tftpl\", { keys = [\"gpu\", \"team\"], model = \"org/m\", gpus = 2 })";
    for resource in [
        format!("resource \"kubectl_manifest\" \"p\" {{\n  yaml_body = {call}\n}}\n"),
        format!("resource \"kubernetes_manifest\" \"p\" {{\n  manifest = yamldecode({call})\n}}\n"),
        format!("data \"kubectl_file_documents\" \"p\" {{\n  content = {call}\n}}\n"),
        format!("resource \"local_file\" \"p\" {{\n  filename = \"p.yaml\"\n  content = {call}\n}}\n"),
        format!(
            "locals {{\n  text = {call}\n}}\noutput \"p\" {{\n  value = local.text\n}}\nresource \"aws_s3_object\" \"p\" {{\n  content = local.text\n}}\n"
        ),
    ] {
        let main = format!("provider \"aws\" {{}}\n{resource}");
        let of = facts(&[("main.tf", &main), ("pod.yaml.tftpl", TEMPLATE)]);
        assert_eq!(of.workloads.len(), 1, "{resource}");
        let pod = &of.workloads[0].pods[0];
        let keys: Vec<_> = pod.tolerations.iter().filter_map(|t| t.key.get().map(String::as_str)).collect();
        assert_eq!((pod.gpus.get(), keys), (Some(&2), vec!["gpu", "team"]), "{resource}");
        let launch = pod.containers[0].launch.as_ref().expect("a launch");
        assert_eq!(launch.model.get().map(String::as_str), Some("org/m"));
    }
    let open = "provider \"aws\" {}\nvariable \"gpus\" {}\nresource \"kubectl_manifest\" \"p\" {\n  yaml_body = templatefile(\"pod.yaml.tftpl\", { keys = [], model = \"org/m\", gpus = var.gpus })\n}\n";
    let of = facts(&[("main.tf", open), ("pod.yaml.tftpl", TEMPLATE)]);
    assert!(of.workloads[0].pods[0].gpus.is_unknown() && of.workloads[0].pods[0].tolerations.is_empty());
    let alone = facts(&[("pod.yaml.tftpl", TEMPLATE)]);
    assert!(alone.workloads[0].pods[0].gpus.is_unknown());
    assert_eq!(alone.workloads[0].pods[0].containers[0].image.tag.get().map(String::as_str), Some("v0.10.2"));
}

#[test]
fn what_a_caller_or_another_module_decides_is_unknown() {
    let module = "variable \"size\" {}\nvariable \"image\" {\n  default = \"COS\"\n}\nresource \"aws_eks_node_group\" \"g\" {\n  instance_types = [var.size]\n  ami_type = var.image\n}\noutput \"size\" {\n  value = var.size\n}\noutput \"arn\" {\n  value = aws_eks_node_group.g.arn\n}\n";
    let uncalled = facts(&[("modules/pool/main.tf", module)]);
    assert!(uncalled.pools.iter().all(|pool| pool.instance_types[0].is_unknown() && pool.image_type.get().is_none()));
    let call = "provider \"aws\" {}\nmodule \"pool\" {\n  source = \"./modules/pool\"\n  size = \"p5.48xlarge\"\n}\nresource \"aws_ebs_volume\" \"v\" {\n  size = module.pool.size\n  arn = module.pool.arn\n  none = module.pool.none\n  remote = module.elsewhere.id\n}\nmodule \"elsewhere\" {\n  source = \"org/x/aws\"\n}\n";
    let files = [("main.tf", call), ("modules/pool/main.tf", module)];
    let of = facts(&files);
    assert_eq!(of.pools.iter().map(|p| p.gpu_count.get().copied()).collect::<Vec<_>>(), [Some(8)]);
    let volume = "{resource: {type: aws_ebs_volume}}";
    assert_eq!(answer("body.size == 'p5.48xlarge'", volume, &files), "fires");
    for key in ["arn", "remote"] {
        assert_eq!(answer(&format!("body.{key} != null"), volume, &files), "fires", "{key}");
        assert_eq!(answer(&format!("body.{key} == 'x'"), volume, &files), "undecided", "{key}");
    }
}

/// A server and its Service, with labels that whoever calls the module may add to.
const SERVED: &str = "variable \"labels\" { default = {} }\nresource \"kubernetes_service\" \"s\" {\n  metadata { name = \"s\" }\n  spec {\n    selector = { app = \"llm\" }\n    port { port = 80 }\n  }\n}\nresource \"kubernetes_deployment\" \"d\" {\n  metadata { name = \"d\" }\n  spec {\n    template {\n      metadata { labels = merge({ app = \"llm\" }, var.labels) }\n      spec {\n        container {\n          name  = \"c\"\n          image = \"vllm/vllm-openai:v0.11.0\"\n          resources { limits = { \"nvidia.com/gpu\" = \"1\" } }\n        }\n      }\n    }\n  }\n}\n";

#[test]
fn a_server_of_a_module_is_found_however_the_module_is_called() {
    let call = |arguments: &str| format!("module \"m\" {{\n  source = \"./modules/m\"\n  {arguments}\n}}\n");
    let calls =
        ["", "count = var.on ? 1 : 0", "for_each = var.all", "for_each = toset([\"a\", \"b\"])", "labels = var.more"];
    let calls = calls.map(|arguments| {
        format!("variable \"on\" {{}}\nvariable \"all\" {{}}\nvariable \"more\" {{}}\n{}", call(arguments))
    });
    for caller in calls.iter().map(String::as_str).chain(["# nobody\n"]) {
        let outcome = run(&[("main.tf", caller), ("modules/m/main.tf", SERVED)], &Ruleset::builtin());
        let found = places(&outcome, "model-server-without-readiness-probe");
        assert!(found.contains(&"modules/m/main.tf:16".to_owned()), "{caller}: {found:?}");
    }
    let off = format!("locals {{\n  on = false\n}}\n{}", call("count = local.on ? 1 : 0"));
    let outcome = run(&[("main.tf", &off), ("modules/m/main.tf", SERVED)], &Ruleset::builtin());
    assert!(places(&outcome, "model-server-without-readiness-probe").is_empty());
}

#[test]
fn a_file_of_values_that_only_a_command_line_names_is_an_alternative_of_its_root() {
    let root = "variable \"type\" {}\nresource \"aws_eks_node_group\" \"g\" {\n  instance_types = [var.type]\n}\n";
    let files = [
        ("infra/main.tf", root),
        ("infra/sample/large.tfvars", "type = \"p5.48xlarge\"\n"),
        ("infra/sample/small.tfvars", "type = \"g6.xlarge\"\n"),
        ("infra/sample/foreign.tfvars", "other = \"g6.xlarge\"\n"),
    ];
    let outcome = run(&files, &Ruleset::empty());
    let types = |facts: &Facts| facts.pools[0].instance_types[0].get().cloned();
    assert_eq!(types(&outcome.facts), None);
    let forms: Vec<_> = outcome.forms.iter().map(|(name, facts)| (name.as_str(), types(facts))).collect();
    let expected = [("infra/sample/large.tfvars", "p5.48xlarge"), ("infra/sample/small.tfvars", "g6.xlarge")];
    assert_eq!(forms, expected.map(|(name, of)| (name, Some(of.to_owned()))));
    let packs = gpulint::rules::Ruleset::builtin();
    let found = run(&files, &packs).evaluation.findings;
    let untainted: Vec<_> = found.iter().filter(|finding| finding.rule == "gpu-pool-without-taint").collect();
    assert_eq!(untainted.len(), 1);
    // A file that Terraform reads by itself is no alternative.
    let applied = [files[0], ("infra/a.auto.tfvars", "type = \"p5.48xlarge\"\n")];
    let outcome = run(&applied, &Ruleset::empty());
    assert_eq!((types(&outcome.facts).as_deref(), outcome.forms.len()), (Some("p5.48xlarge"), 0));
}
