//! What a run says of what it read: understood, nothing here for us, not understood.

use super::cli::{code, directory, gpulint, out};
use serde_json::Value;

const POD: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
    - name: main
      image: registry.example/trainer:1
      resources: {limits: {nvidia.com/gpu: 1}}
";

const FILES: &[(&str, &str)] = &[
    ("pod.yaml", POD),
    ("plain.yaml", "colours: [red, green]\n# nvidia.com/gpu is only spoken of\n"),
    ("fleet.yaml", "fleet:\n  machine: p4d.24xlarge\n  colour: red\n"),
    ("mixed.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {engine: vllm}\n"),
];

fn files(arguments: &[&str]) -> Value {
    let root = directory(FILES);
    let output = gpulint(root.path(), &[&["check", "--format", "json"], arguments].concat());
    serde_json::from_str::<Value>(&out(&output)).expect("JSON")["files"].take()
}

#[test]
fn every_file_is_understood_or_not_or_of_no_concern() {
    let files = files(&[]);
    let counts = ["understood", "nothing", "not_understood"].map(|name| files[name].as_u64().expect("a number"));
    assert_eq!(counts, [1, 1, 2], "{files}");
    let unread: Vec<(&str, &str)> = files["unread"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| (file["path"].as_str().expect("a path"), file["words"][0]["word"].as_str().expect("a word")))
        .collect();
    assert_eq!(unread, [("fleet.yaml", "p4d.24xlarge"), ("mixed.yaml", "vllm")]);
}

#[test]
fn the_summary_counts_them_and_a_flag_lists_them() {
    let root = directory(FILES);
    let said = out(&gpulint(root.path(), &["check"]));
    assert!(said.contains("4 files: 1 understood, 1 nothing here for us, 2 not understood (--show-unread"), "{said}");
    let listed = out(&gpulint(root.path(), &["check", "--show-unread"]));
    let line = "fleet.yaml:2:12: not understood: one line speaks of GPUs (p4d.24xlarge)\n";
    assert!(listed.contains(line), "{listed}");
}

#[test]
fn a_gate_may_ask_for_everything_to_be_understood() {
    let root = directory(FILES);
    let exit = |path, flag| code(&gpulint(root.path(), &["check", path, "--select", "gang-scheduling-missing", flag]));
    assert_eq!(exit("fleet.yaml", "--quiet"), 0);
    assert_eq!(exit("fleet.yaml", "--fail-on-unread"), 1);
    assert_eq!(exit("pod.yaml", "--fail-on-unread"), 0);
}

#[test]
fn what_something_is_called_says_nothing_of_gpus() {
    let unread = |text: &str| {
        let root = directory(&[("a.yaml", text)]);
        let output = gpulint(root.path(), &["check", "--format", "json", "--exit-zero"]);
        let mut report: Value = serde_json::from_str(&out(&output)).expect("JSON");
        report["files"]["not_understood"].take().as_u64().expect("a number")
    };
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: vllm}\n";
    assert_eq!(unread(&format!("{flux}spec: {{path: ./apps/vllm, dependsOn: [{{name: vllm}}]}}\n")), 0);
    assert_eq!(unread(&format!("{flux}spec: {{postBuild: {{substitute: {{MACHINE: p4d.24xlarge}}}}}}\n")), 1);
    let alone = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: vllm}\nspec: {colour: ";
    assert_eq!([unread(&format!("{alone}red}}\n")), unread(&format!("{alone}vllm}}\n"))], [0, 1]);
}

#[test]
fn descriptions_references_and_names_of_tasks_state_nothing_and_a_head_is_read_with_what_is_below() {
    let unread = |name: &str, text: &str| {
        let root = directory(&[(name, text)]);
        let output = gpulint(root.path(), &["check", "--format", "json", "--exit-zero"]);
        let report: Value = serde_json::from_str(&out(&output)).expect("JSON");
        let lines = report["files"]["unread"].as_array().expect("a list").iter().flat_map(|file| {
            let words = file["words"].as_array().expect("words").iter();
            words.map(|word| word["range"]["start"]["line"].as_u64().expect("a line")).collect::<Vec<_>>()
        });
        lines.collect::<Vec<_>>()
    };
    let variable = "variable \"a\" {\n  description = \"of the NVIDIA driver\"\n  default = \"vllm\"\n}\n\
                    module \"gpu-operator\" {\n  source = \"../modules/gpu-operator\"\n  size = nebius_x.vllm.size\n}\n";
    assert_eq!(unread("main.tf", variable), [3]);
    let machine = "resource \"google_compute_instance\" \"a\" {\n  machine_type = \"n1-standard-8\"\n  \
                   guest_accelerator {\n    type  = \"nvidia-tesla-t4\"\n    count = 1\n  }\n}\n";
    assert_eq!(unread("main.tf", machine), [0u64; 0]);
    let tasks = "- name: install the NVIDIA driver\n  apt: {name: nvidia-driver-550}\n  when: kind == 'nvidia'\n\
                 - name: check it\n  stat: {path: /usr/bin/nvidia-smi}\n";
    assert_eq!(unread("main.yml", tasks), [5]);
}

#[test]
fn what_another_tool_found_or_built_runs_nothing() {
    let records = [
        ("images.json", r#"[{"id": "sha256:0", "repoTags": ["nvcr.io/nvidia/k8s-device-plugin:v0.17.0"]}]"#),
        ("scan.json", r#"{"SchemaVersion": 2, "ArtifactName": "vllm/vllm-openai:v0.11.0", "Results": []}"#),
        ("bom.json", r#"{"bomFormat": "CycloneDX", "components": [{"name": "nvidia-cuda-runtime-cu12"}]}"#),
        ("dashboard.json", r#"{"schemaVersion": 39, "panels": [{"title": "GPU", "expr": "DCGM_FI_DEV_GPU_UTIL"}]}"#),
    ];
    let root = directory(&records);
    let report: Value =
        serde_json::from_str(&out(&gpulint(root.path(), &["check", "--format", "json"]))).expect("JSON");
    assert_eq!(report["files"]["nothing"], 4, "{}", report["files"]);
}

/// The lines of the files that were not understood.
fn unread(files: &[(&str, &str)]) -> Vec<String> {
    let root = directory(files);
    let output = gpulint(root.path(), &["check", "--format", "json", "--exit-zero", "--allow-empty"]);
    let report: Value = serde_json::from_str(&out(&output)).expect("JSON");
    let lines = |file: &Value| {
        let path = file["path"].as_str().expect("a path").to_owned();
        let words = file["words"].as_array().expect("a list").iter();
        words.map(|word| format!("{path}:{}", word["range"]["start"]["line"])).collect::<Vec<_>>()
    };
    report["files"]["unread"].as_array().expect("a list").iter().flat_map(lines).collect()
}

const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: x}
spec:
  interval: 1h
  chart: {spec: {chart: CHART, version: v24.9.0, sourceRef: {kind: HelmRepository, name: some}}}
  values:
    worker:
      first: serve --gpus 4
      second: serve --gpus 8
    colour: red
";

const APPLICATION: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: x}
spec:
  project: default
  destination: {server: 'https://kubernetes.default.svc', namespace: x}
  source:
    repoURL: https://charts.example.org
    chart: some-app
    targetRevision: 1.0.0
    helm:
      values: |
        first: serve --gpus 4
      parameters: [{name: worker.second, value: serve --gpus 8}]
";

#[test]
fn values_of_a_chart_are_understood_where_facts_come_out_of_them_or_the_chart_is_known() {
    let flux = RELEASE.replace("CHART", "some-app");
    assert_eq!(unread(&[("a.yaml", &flux)]), ["a.yaml:9", "a.yaml:10"]);
    assert_eq!(unread(&[("a.yaml", &RELEASE.replace("CHART", "gpu-operator"))]), [""; 0]);
    assert_eq!(unread(&[("a.yaml", APPLICATION)]), ["a.yaml:13", "a.yaml:14"]);
    assert_eq!(unread(&[("values.yaml", "worker: {first: serve --gpus 4}\n")]), ["values.yaml:1"]);
}

#[test]
fn a_script_in_an_object_is_not_understood_with_it() {
    let class = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec:\n  role: nodes\n  userData: |\n    \
                 #!/bin/bash\n    deploy --machine p4d.24xlarge\n";
    assert_eq!(unread(&[("class.yaml", class)]), ["class.yaml:8"]);
    let job = "on: push\njobs:\n  vllm:\n    runs-on: ubuntu-latest\n    steps:\n      - {name: vllm, run: deploy --machine p4d.24xlarge}\n";
    assert_eq!(unread(&[(".github/workflows/vllm.yaml", job)]), [".github/workflows/vllm.yaml:6"]);
}

#[test]
fn what_charts_jobs_and_services_are_called_says_nothing_of_gpus() {
    assert_eq!(unread(&[("Chart.yaml", "apiVersion: v2\nname: vllm\nversion: 1.0.0\nkeywords: [vllm]\n")]), [""; 0]);
    let nomad = "job \"vllm\" {\n  group \"vllm\" {\n    task \"vllm\" {\n      driver = \"docker\"\n      config { image = \"nginx:1.27\" }\n    }\n  }\n}\n";
    assert_eq!(unread(&[("a.nomad", nomad)]), [""; 0]);
    let base = "services:\n  vllm:\n    container_name: vllm\n    image: vllm/vllm-openai:v0.6.3\n";
    let over = "services:\n  vllm:\n    image: vllm/vllm-openai:v0.8.0\n";
    assert_eq!(unread(&[("compose.yaml", base), ("compose.override.yaml", over)]), [""; 0]);
}

#[test]
fn a_broken_file_that_states_gpus_is_told_and_not_understood() {
    let root = directory(&[("run.yaml", "run: {gpus: 16, gpu_type: a100\n"), ("other.yaml", "run: {colour: red\n")]);
    let said = out(&gpulint(root.path(), &["check", "--format", "concise", "--exit-zero"]));
    assert!(said.contains("run.yaml:1:6: error[syntax-error]") && !said.contains("other.yaml:"), "{said}");
    assert!(said.contains("2 files: 1 not understood (--show-unread lists them), 1 skipped"), "{said}");
}

#[test]
fn checks_that_wait_for_the_catalog_are_not_counted_and_the_commonest_cause_is_named() {
    let pod = POD.replace("nvidia.com/gpu: 1", "acme.example/gpu: 1");
    let root = directory(&[("pod.yaml", &pod)]);
    let said = out(&gpulint(root.path(), &["check", "--exit-zero", "--show-unknown"]));
    assert!(!said.contains("the catalog has no row"), "{said}");
    let root = directory(&[("pod.yaml", POD)]);
    let said = out(&gpulint(root.path(), &["check", "--exit-zero", "--format", "concise"]));
    let named = said.lines().any(|line| line.contains(" checks undecided, ") && line.contains(" of them as "));
    assert!(named, "{said}");
}
