//! What a configuration states reaches the facts, and annotations reach the verdict.

use gpulint::config;
use gpulint::discover::Kind;
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;
use gpulint::source::{Source, SourceId};

const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {gpulint.dev/ignore: 'some-rule, other', gpulint.dev/reason: known}}
spec:
  containers:
  - name: c
    image: registry.example.com:5000/team/api:1.2
    resources: {limits: {nvidia.com/gpu: 1}}
";

fn run(configuration: &str) -> Outcome {
    let file =
        |path: &str, kind, text: &str| Input { path: path.to_owned(), kind, text: text.to_owned(), repository: 0 };
    let inputs = vec![
        file("docker/Dockerfile", Kind::Dockerfile, "FROM ubuntu:22.04\n"),
        file("docker/cuda.Dockerfile", Kind::Dockerfile, "FROM nvidia/cuda:12.8.1-runtime-ubuntu22.04\n"),
        file("k8s/pod.yaml", Kind::Yaml, POD),
    ];
    let (config, problems) = config::parse(SourceId(3), configuration);
    assert!(problems.is_empty(), "{problems:?}");
    let extra = vec![Source::new(".gpulint.yaml", configuration)];
    lint::run(inputs, config.facts(), extra, &Ruleset::empty())
}

fn built_by(outcome: &Outcome) -> Option<String> {
    let build = outcome.facts.workloads[0].pods[0].containers[0].image.build.as_ref()?;
    build.path.get().cloned()
}

#[test]
fn a_declared_image_is_built_by_its_dockerfile() {
    assert_eq!(built_by(&run("")), None);
    let with_tag = run("images: {'registry.example.com:5000/team/api:1.2': ./docker/cuda.Dockerfile}");
    assert_eq!(built_by(&with_tag).as_deref(), Some("docker/cuda.Dockerfile"));
    let without = run("images: {'registry.example.com:5000/team/api': docker/cuda.Dockerfile}");
    assert_eq!(built_by(&without).as_deref(), Some("docker/cuda.Dockerfile"));
    assert_eq!(built_by(&run("images: {'registry.example.com:5000/team/ap': docker/cuda.Dockerfile}")), None);
}

#[test]
fn a_declared_driver_reaches_the_node() {
    let text = "clusters: [{name: prod, driver: 550.54.15, node_pools: [{name: h, gpu: H100, count: 8}]}]\n";
    let outcome = run(text);
    let node = outcome.facts.workloads[0].pods[0].node.as_ref().expect("a node");
    assert_eq!(node.driver.get().map(ToString::to_string).as_deref(), Some("550.54.15"));
    assert_eq!(outcome.sources.slice(node.driver.span), "550.54.15");
    assert_eq!(node.gpu_count.get(), Some(&8));
}

#[test]
fn annotations_name_rules_a_reason_and_their_object() {
    let outcome = run("");
    let annotations = outcome.annotations.clone();
    assert_eq!(annotations.len(), 1);
    assert_eq!(annotations[0].rules, ["some-rule", "other"]);
    assert_eq!(annotations[0].reason.as_deref(), Some("known"));
    assert!(outcome.sources.slice(annotations[0].scope).contains("nvidia.com/gpu"));
}
