//! What authors of rules are given: a rule to start from, its test, and what can be asked at a place.

use crate::cli::{code, directory, gpulint, out};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const POD: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  containers:
    - name: main
      image: vllm/vllm-openai:v0.6.0
      resources: {limits: {nvidia.com/gpu: 2}}
";

fn err(root: &Path, arguments: &[&str]) -> String {
    let output = gpulint(root, arguments);
    assert_eq!(code(&output), 2, "{}", out(&output));
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn rules_see_the_fault_in_other_ways_of_writing_and_leave_no_question_open() {
    let root = directory(&[]);
    let output = gpulint(root.path(), &["test", "--brittle"]);
    assert_eq!(code(&output), 0, "{}", out(&output));
}

#[test]
fn a_new_rule_has_every_key_and_passes() {
    let root = directory(&[]);
    assert_eq!(code(&gpulint(root.path(), &["new", "rule", "policies/too-many-gpus"])), 0);
    let text = fs::read_to_string(root.path().join("policies/too-many-gpus.yaml")).expect("the rule");
    let schema: Value = serde_json::from_str(include_str!("../../schemas/rule.json")).expect("JSON");
    for key in schema["properties"].as_object().expect("keys").keys() {
        assert!(text.lines().any(|l| l.trim_start_matches("# ").starts_with(&format!("{key}:"))), "no {key}");
    }
    for what in ["policies", "policies/too-many-gpus.yaml"] {
        let tested = gpulint(root.path(), &["test", what]);
        assert_eq!((code(&tested), out(&tested).as_str()), (0, "2 Validated, 0 Missing, 0 Noisy, 0 Wrong\n"));
    }
    let checked = gpulint(root.path(), &["check", "--rules", "policies", "--allow-empty"]);
    assert!(checked.stderr.is_empty(), "a rule to start from leaves nothing to be said better");
    assert!(err(root.path(), &["new", "rule", "policies/too-many-gpus"]).contains("is there already"));
    assert!(err(root.path(), &["new", "rule", "policies/gpu-limit-missing"]).contains("gpulint explain"));
    for name in ["alone", "policies/Loud", "../x"] {
        assert!(err(root.path(), &["new", "rule", name]).contains("PACK/ID"), "{name}");
    }
}

#[test]
fn one_rule_is_tested_by_its_id() {
    let root = directory(&[(".gpulint.yaml", "packs: [policies]\n")]);
    assert_eq!(code(&gpulint(root.path(), &["new", "rule", "policies/too-many-gpus"])), 0);
    for rule in ["gpu-limit-missing", "too-many-gpus"] {
        let tested = gpulint(root.path(), &["test", rule]);
        assert!(out(&tested).ends_with("Validated, 0 Missing, 0 Noisy, 0 Wrong\n") && code(&tested) == 0, "{rule}");
    }
    let broken = root.path().join("policies/too-many-gpus.yaml");
    let text = fs::read_to_string(&broken).expect("the rule");
    fs::write(&broken, text.replace("gpus > params.most", "gpus > 99")).expect("it is written");
    let tested = gpulint(root.path(), &["test", "too-many-gpus"]);
    assert!(code(&tested) == 1 && out(&tested).starts_with("Missing: too-many-gpus example 1"), "{}", out(&tested));
    assert!(err(root.path(), &["test", "gpu-limit-mising"]).contains("did you mean `gpu-limit-missing`"));
}

#[test]
fn names_and_values_at_a_place_are_those_that_rules_use() {
    let root = directory(&[("k8s/pod.yaml", POD)]);
    let at = |place: &str| out(&gpulint(root.path(), &["facts", "--at", place]));
    let image = at("k8s/pod.yaml:7");
    for line in [
        "applies_to: container    # k8s/pod.yaml:6",
        "  image.tag = \"v0.6.0\"",
        "  software.packages.vllm.version = \"0.6.0\"",
        "  pod.containers[0].image.tag = \"v0.6.0\"",
        "applies_to: {object: {kind: Pod}}    # k8s/pod.yaml:3",
        "  body.spec.containers[0].image = \"vllm/vllm-openai:v0.6.0\"",
    ] {
        assert!(image.lines().any(|own| own == line), "{line} in {image}");
    }
    assert!(at("./k8s/pod.yaml:8").contains("  body.spec.containers[0].resources.limits['nvidia.com/gpu'] = 2\n"));
    assert!(at("k8s/pod.yaml:99").contains("no rule can ask"));
    let all = out(&gpulint(root.path(), &["facts", "--at", "k8s/pod.yaml:6", "--all"]));
    assert!(all.contains("  container.login_off = null\n"), "{all}");
    assert!(err(root.path(), &["facts", "--at", "other.yaml:1"]).contains("not among the files"));
    assert!(err(root.path(), &["facts", "--at", "k8s/pod.yaml:0"]).contains("FILE:LINE"));
    // From elsewhere, too.
    let inside = gpulint(&root.path().join("k8s"), &["facts", "--at", "pod.yaml:7"]);
    assert!(out(&inside).contains("  image.tag = \"v0.6.0\"\n"));
}

/// A pack that holds one rule, and what its manifest says.
fn with_manifest(manifest: &str) -> tempfile::TempDir {
    let root = directory(&[("pod.yaml", POD)]);
    assert_eq!(code(&gpulint(root.path(), &["new", "rule", "policies/too-many-gpus"])), 0);
    fs::write(root.path().join("policies/pack.yaml"), manifest).expect("it is written");
    root
}

#[test]
fn a_pack_says_what_it_is_called_and_which_gpulint_it_needs() {
    let own = env!("CARGO_PKG_VERSION");
    let root = with_manifest(&format!("name: policies\nversion: 2.1.0\nrequires: {{gpulint: {own}}}\n"));
    assert_eq!(code(&gpulint(root.path(), &["check", "--rules", "policies", "--exit-zero"])), 0);
    let root = with_manifest("name: policies\nversion: 2.1.0\nrequires: {gpulint: 99.1}\n");
    // What a later release understands is not told as a fault of the rule.
    let rule = root.path().join("policies/too-many-gpus.yaml");
    fs::write(&rule, "id: too-many-gpus\npack: policies\nlater: true\n").expect("it is written");
    let told = err(root.path(), &["check", "--rules", "policies"]);
    assert!(told.contains(&format!("needs gpulint 99.1 or newer; this is {own}")) && !told.contains("later"), "{told}");
    let root = with_manifest("name: acme\nversion: 2.1.0\n");
    let told = err(root.path(), &["check", "--rules", "policies"]);
    assert!(told.contains("the rule is of the pack `policies`, and its directory of the pack `acme`"), "{told}");
    let schema: Value = serde_json::from_str(include_str!("../../schemas/pack.json")).expect("JSON");
    let schema = jsonschema::draft202012::new(&schema).expect("a schema");
    assert!(schema.is_valid(&json!({"name": "acme", "version": "2.1.0", "requires": {"gpulint": "0.1"}})));
    assert!(!schema.is_valid(&json!({"name": "acme", "version": "2.1.0", "needs": {}})));
}

#[test]
fn facts_follow_their_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/formats");
    let schema: Value = serde_json::from_slice(&gpulint(&root, &["schema", "facts"]).stdout).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    for arguments in [&["facts", "."][..], &["facts", ".", "--all"]] {
        let facts: Value = serde_json::from_slice(&gpulint(&root, arguments).stdout).expect("JSON");
        assert_eq!(facts["version"], 1);
        assert!(facts["workloads"].as_array().is_some_and(|workloads| workloads.len() > 9), "the fixtures are read");
        let faults: Vec<String> = validator
            .iter_errors(&facts)
            .take(5)
            .map(|fault| format!("{}: {fault:.300}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
