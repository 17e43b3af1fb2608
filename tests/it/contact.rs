//! What is not said of a repository at first sight: of what it does not deploy, of what somebody has still to give, and not
//! once more of each copy.

use serde_json::Value;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

/// The report on a project of some name with these files.
fn report(project: &str, files: &[(&str, &str)]) -> Value {
    let directory = TempDir::new().expect("a directory");
    let root = directory.path().join(project);
    fs::create_dir_all(root.join(".git")).expect("a directory");
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let gpulint = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(["check", "--format", "json", "--exit-zero"])
        .current_dir(&root)
        .output();
    serde_json::from_slice(&gpulint.expect("gpulint runs").stdout).expect("a JSON report")
}

/// Where a rule fires, in the order of places.
fn places(report: &Value, rule: &str) -> Vec<String> {
    let found = report["diagnostics"].as_array().expect("diagnostics").iter().filter(|d| d["rule"] == rule);
    found.map(|d| d["path"].as_str().expect("a path").to_owned()).collect()
}

fn skipped<'r>(report: &'r Value, reason: &str) -> Vec<&'r str> {
    let skipped = report["files"]["skipped"].as_array().expect("skipped").iter();
    let of_reason = skipped.filter(|file| file["reason"].as_str().is_some_and(|text| text.contains(reason)));
    of_reason.map(|file| file["path"].as_str().expect("a path")).collect()
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: llm}\nspec:\n  containers:\n  - name: c\n    \
                   image: vllm/vllm-openai:latest\n    resources: {limits: {nvidia.com/gpu: 1}}\n";
const RULE: &str = "image-not-pinned";
const IDLE: &str = "not deployed";

fn listing(resources: &[&str]) -> String {
    let resources: Vec<String> = resources.iter().map(|path| format!("- {path}\n")).collect();
    format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{}", resources.concat())
}

fn flux(path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: a}}\nspec: {{interval: 1h, \
         path: ./{path}, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
    )
}

#[test]
fn what_a_kustomization_leaves_out_beside_what_it_lists_is_not_deployed() {
    let listed = listing(&["./a.yaml", "# ./b.yaml"]).replace("- # ", "# - ");
    let files = [("k8s/kustomization.yaml", listed.as_str()), ("k8s/a.yaml", POD), ("k8s/b.yaml", POD)];
    let alone = report("p", &files);
    assert_eq!(places(&alone, RULE), ["k8s/a.yaml"]);
    assert_eq!(skipped(&alone, IDLE), ["k8s/b.yaml"]);
    for other in [
        ("Makefile", "b:\n\tkubectl apply -f k8s/b.yaml\n"),
        ("overlay/kustomization.yaml", "resources: [../k8s/b.yaml]\n"),
    ] {
        let report = report("p", &[&files[..], &[other]].concat());
        assert_eq!(places(&report, RULE), ["k8s/a.yaml", "k8s/b.yaml"], "{}", other.0);
    }
    // One that lists no file tells nothing of those beside it.
    let labels = "labels: [{pairs: {a: b}}]\n";
    let report = report("p", &[("k8s/kustomization.yaml", labels), ("k8s/b.yaml", POD)]);
    assert_eq!(places(&report, RULE), ["k8s/b.yaml"]);
}

#[test]
fn what_flux_does_not_lead_to_is_not_deployed_where_it_leads_to_what_stands_beside_it() {
    let (all, app) = (listing(&["./chat/ks.yaml"]), listing(&["./pod.yaml"]));
    let (chat, idle) = (flux("apps/home/chat/app"), flux("apps/home/idle/app"));
    let files = [
        ("clusters/a.yaml", flux("apps")),
        ("apps/home/kustomization.yaml", all.clone()),
        ("apps/home/chat/ks.yaml", chat),
        ("apps/home/chat/app/kustomization.yaml", app.clone()),
        ("apps/home/chat/app/pod.yaml", POD.to_owned()),
        ("apps/home/chat/node/pod.yaml", POD.to_owned()),
        ("apps/home/idle/ks.yaml", idle),
        ("apps/home/idle/app/kustomization.yaml", app),
        ("apps/home/idle/app/pod.yaml", POD.to_owned()),
        ("by-hand/pod.yaml", POD.to_owned()),
    ];
    let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let report = |files: &[(&str, &str)]| report("p", files);
    let left = report(&files);
    assert_eq!(places(&left, RULE), ["apps/home/chat/app/pod.yaml", "by-hand/pod.yaml"]);
    assert!(skipped(&left, IDLE).contains(&"apps/home/idle/app/pod.yaml"), "{left}");
    // A list of one file leads to none of the directories beside it either.
    let few = listing(&["./namespace.yaml"]);
    for file in files.iter_mut().filter(|(path, _)| *path == "apps/home/kustomization.yaml") {
        file.1 = &few;
    }
    assert_eq!(places(&report(&files), RULE), ["by-hand/pod.yaml"]);
    // Without a list Flux takes everything in.
    files.retain(|(path, _)| *path != "apps/home/kustomization.yaml");
    let taken = report(&files);
    assert!(places(&taken, RULE).contains(&"apps/home/idle/app/pod.yaml".to_owned()), "{taken}");
}

#[test]
fn one_form_of_a_base_may_be_applied_instead_of_another() {
    let root = listing(&["./base/pod.yaml"]);
    let overlay = "resources: [../../base]\nnamePrefix: a-\n";
    let base = listing(&["pod.yaml"]);
    let files = [
        ("k8s/kustomization.yaml", root.as_str()),
        ("k8s/base/kustomization.yaml", &base),
        ("k8s/base/pod.yaml", POD),
        ("k8s/overlays/a/kustomization.yaml", overlay),
        ("k8s/overlays/a/extra.yaml", POD),
    ];
    assert_eq!(skipped(&report("p", &files), IDLE), [""; 0]);
}

#[test]
fn archives_are_told_in_the_summary_only() {
    let files = [(".archive/pod.yaml", POD), ("deprecated/pod.yaml", POD), ("retired.yaml", POD), ("pod.yaml", POD)];
    let report = report("p", &files);
    assert_eq!(places(&report, RULE), ["pod.yaml"]);
    assert_eq!(skipped(&report, "an archive"), [".archive", "deprecated", "retired.yaml"]);
}

#[test]
fn the_same_pin_in_files_that_are_made_is_one_finding() {
    const TORCH: &str = "local-version-without-index";
    let made = |from: &str, build: &str| {
        format!(
            "#\n# This file is autogenerated by pip-compile with Python 3.12\n# by: pip-compile {from}\n#\ntorch==2.3.1{build}\n"
        )
    };
    let (cuda, rocm) = (made("a.in", "+cu121"), made("a.in", "+rocm6.0"));
    let plain = "torch==2.3.1+cu121\n";
    let copies = [("x/requirements.cuda.txt", cuda.as_str()), ("y/requirements.rocm.txt", &rocm)];
    let merged = report("p", &copies);
    assert_eq!(places(&merged, TORCH), ["x/requirements.cuda.txt"]);
    let related = merged["diagnostics"].as_array().and_then(|all| all.iter().find(|d| d["rule"] == TORCH));
    let related = related.and_then(|d| d["related"].as_array()).expect("related places");
    assert!(related.iter().any(|place| place["path"] == "y/requirements.rocm.txt"), "{related:?}");
    let source = made("requirements.in", "+cu121");
    let from = report("p", &[("requirements.in", plain), ("requirements.txt", &source)]);
    assert_eq!(places(&from, TORCH), ["requirements.in"]);
    let apart = report("p", &[("x/requirements.txt", plain), ("y/requirements.txt", plain)]);
    assert_eq!(places(&apart, TORCH).len(), 2, "what people write is theirs in each place");
}

#[test]
fn a_project_means_its_newest_image() {
    let compose = "services:\n  ui:\n    image: ostris/aitoolkit:latest\n    gpus: all\n";
    let files = [("docker-compose.yml", compose), ("docker/Dockerfile", "FROM python:3.12\nRUN make\n")];
    assert_eq!(places(&report("ai-toolkit", &files), RULE), [""; 0]);
    assert_eq!(places(&report("ai-toolkit", &files[..1]), RULE), ["docker-compose.yml"]);
}

#[test]
fn what_a_chart_asks_for_is_wrong_where_a_release_does_not_give_it() {
    let schema = "{\"type\": \"object\", \"properties\": {\"job\": {\"type\": \"string\"}}}";
    let app = |values: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec:\n  project: default\n  \
             destination: {{name: in-cluster, namespace: llm}}\n  source:\n    repoURL: https://git.example/team/c\n    \
             path: c\n    helm:\n      valuesObject: {{{values}}}\n"
        )
    };
    let (bare, given) = (app("gpus: 1"), app("job: a"));
    let files = [
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/values.yaml", "job:\n"),
        ("c/values.schema.json", schema),
        ("c/templates/pod.yaml", POD),
    ];
    const BROKEN: &str = "template-error";
    assert_eq!(places(&report("p", &files), BROKEN), [""; 0]);
    assert_eq!(places(&report("p", &[&files[..], &[("app.yaml", given.as_str())]].concat()), BROKEN), [""; 0]);
    assert_eq!(places(&report("p", &[&files[..], &[("app.yaml", bare.as_str())]].concat()), BROKEN), ["c/values.yaml"]);
}

/// A cluster of which Flux applies all below `apps`, with patches.
fn patching(patches: &str) -> String {
    let patches = patches.replace('\n', "\n    ");
    format!(
        "{}  patches:\n    {patches}\n",
        flux("apps")
            .replace("spec: {", "spec:\n  ")
            .replace(", path", "\n  path")
            .replace(", prune", "\n  prune")
            .replace(", sourceRef", "\n  sourceRef")
            .replace("}}", "}")
    )
}

#[test]
fn what_flux_patches_into_children_is_stated() {
    let child = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: llm}\nspec: {interval: 1h, path: \
                 ./apps/llm/app}\n";
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: llm}\nspec:\n  chartRef: {kind: OCIRepository, \
                   name: llm}\n  values: {nvidia.com/gpu: 1}\n";
    let missing = |patches: &str| {
        let cluster = patching(patches);
        let files = [
            ("cluster/apps.yaml", cluster.as_str()),
            ("apps/llm/ks.yaml", child),
            ("apps/llm/app/release.yaml", release),
            ("apps/llm/app/pod.yaml", POD),
            ("apps/llm/pod.yaml", POD),
        ];
        let report = report("p", &files);
        places(&report, "required-field-missing")
    };
    let target = "  target: {group: kustomize.toolkit.fluxcd.io, kind: Kustomization}";
    let given = "- patch: |-\n    kind: Kustomization\n    spec:\n      prune: true\n      sourceRef: {kind: GitRepository, name: a}\n";
    let deeper = "      patches:\n      - patch: '[{op: add, path: /spec/interval, value: 1h}]'\n        target: {kind: HelmRelease}\n";
    assert_eq!(missing(&format!("{given}{target}")), ["apps/llm/app/release.yaml"]);
    assert_eq!(missing(&format!("{given}{deeper}{target}")), [""; 0]);
    assert_eq!(
        missing(&format!("{given}  target: {{kind: HelmRelease}}")),
        ["apps/llm/app/release.yaml", "apps/llm/ks.yaml"]
    );
}

#[test]
fn where_no_shell_reads_a_command_its_options_go_on_behind_a_line_end() {
    let options = "python -m vllm.entrypoints.openai.api_server --model a/b";
    let compose = format!(
        "services:\n  llm:\n    image: vllm/vllm-openai:v0.11.0\n    command: |\n      {options}\n      --max-model-len 4096\n"
    );
    let task = |module: &str| {
        format!(
            "- name: Start\n  {module}: |\n    podman run --gpus all\n    --name llm docker.io/vllm/vllm-openai:v0.11.0\n"
        )
    };
    let (command, shell) = (task("ansible.builtin.command"), task("ansible.builtin.shell"));
    let files = [("compose.yaml", &*compose), ("a/tasks/main.yml", &*command), ("b/tasks/main.yml", &*shell)];
    assert_eq!(places(&report("p", &files), "option-run-as-command"), ["b/tasks/main.yml"]);
}

#[test]
fn what_somebody_fills_in_or_compares_with_is_not_broken() {
    let files = [
        ("bgp.yaml.j2", "resources:\n  #% if bgp %#\n  - ./l3.yaml\n  #% else %#\n  []\n  #% endif %#\n"),
        ("k3s.auto.tfvars.json.j2", "{\n  \"token\": \"{{ token }}\"\n}\n"),
        ("main.tf", "locals {\n  runners = [{\n    type = \"shell\"\n__REPLACE_FILES__\n  }]\n}\n"),
        ("tests/gpu.expected.yaml", POD),
    ];
    let all = report("p", &files);
    assert!(places(&all, "syntax-error").is_empty() && places(&all, RULE).is_empty(), "{all}");
    let alone = report("p", &[("main.tf", "locals {\n  runners = [{\n    type = \"shell\"\n:\n  }]\n}\n")]);
    assert_eq!(places(&alone, "syntax-error"), ["main.tf"]);
}

#[test]
fn a_file_name_that_many_have_keeps_none_of_them_alive() {
    let app = listing(&["./pod.yaml", "# ./next.yaml"]).replace("- # ", "# - ");
    let files = [
        ("chat/kustomization.yaml", app.as_str()),
        ("chat/pod.yaml", POD),
        ("chat/next.yaml", POD),
        ("other/next.yaml", POD),
        ("other/kustomization.yaml", "resources: [next.yaml]\n"),
    ];
    for (speaking, deployed) in [
        ("kubectl apply -f next.yaml", vec!["chat/pod.yaml", "other/next.yaml"]),
        ("kubectl apply -f chat/next.yaml", vec!["chat/next.yaml", "chat/pod.yaml", "other/next.yaml"]),
    ] {
        let script = ("scripts/apply.sh", &*format!("#!/bin/sh\n{speaking}\n"));
        assert_eq!(places(&report("p", &[&files[..], &[script]].concat()), RULE), deployed, "{speaking}");
    }
}

#[test]
fn a_variable_in_one_path_of_flux_says_nothing_of_others() {
    let (apps, open) = (flux("kubernetes/apps"), flux("tenants/${TENANT}"));
    let files = [
        ("flux/apps.yaml", apps.as_str()),
        ("flux/tenants.yaml", &open),
        ("kubernetes/apps/pod.yaml", POD),
        ("kubernetes/parked/pod.yaml", POD),
        ("tenants/a/pod.yaml", POD),
    ];
    assert_eq!(places(&report("p", &files), RULE), ["kubernetes/apps/pod.yaml", "tenants/a/pod.yaml"]);
}

#[test]
fn what_nothing_deploys_is_not_joined_with_what_is() {
    let volume = |name: &str, path: &str| {
        format!(
            "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {name}}}\nspec:\n  capacity: {{storage: 1Gi}}\n  \
             accessModes: [ReadWriteMany]\n  csi: {{driver: nfs.csi.k8s.io, volumeHandle: models, volumeAttributes: \
             {{share: {path}}}}}\n"
        )
    };
    let (a, b) = (volume("a", "/a"), volume("b", "/b"));
    let told = |resources: &[&str]| {
        let list = listing(resources);
        let files = [("k8s/kustomization.yaml", list.as_str()), ("k8s/a.yaml", &a), ("k8s/b.yaml", &b)];
        places(&report("p", &files), "volume-handle-not-unique")
    };
    assert_eq!(told(&["a.yaml", "b.yaml"]), ["k8s/b.yaml"]);
    assert!(told(&["b.yaml"]).is_empty());
}

#[test]
fn a_form_with_names_to_be_filled_in_is_not_linted() {
    let form = POD.replace("name: llm", "name: <name>-server");
    let report = report("p", &[("templates/pod.yaml", &form)]);
    assert!(places(&report, RULE).is_empty(), "{report}");
    assert_eq!(skipped(&report, "a form"), ["templates/pod.yaml"]);
}
