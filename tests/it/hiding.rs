//! What a tool reads is linted, however it is written and whatever its file is called.

use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: a\n    \
                   resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}\n";
const FAULT: &str = "gpu-request-differs-from-limit";

/// Rules of the findings in files with these texts.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let report = report(files);
    let rules = report["diagnostics"].as_array().expect("a list").iter();
    rules.map(|finding| finding["rule"].as_str().expect("a rule").to_owned()).collect()
}

fn report(files: &[(&str, &str)]) -> Value {
    let dir = TempDir::new().expect("a directory");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a file");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(dir.path()).args(["check", "--isolated", "--allow-empty", "--format", "json"]);
    let output = command.stdin(Stdio::null()).output().expect("the binary runs");
    serde_json::from_slice(&output.stdout).expect("a report")
}

#[track_caller]
fn assert_found(files: &[(&str, &str)], rule: &str) {
    let found = found(files);
    assert!(found.iter().any(|found| found == rule), "{files:?}: {found:?}");
}

#[test]
fn a_pod_is_found_however_yaml_lets_it_be_written() {
    for (part, other) in [
        ("gpu: 2", "gpu: 0x2"),
        ("gpu: 2", "gpu: 0b10"),
        ("gpu: 2", "gpu: 0o2"),
        ("gpu: 2", "gpu: 02"),
        ("gpu: 2", "gpu: 1_0"),
        ("gpu: 2", "gpu: +2"),
        ("gpu: 2", "gpu: !!int \"0x2\""),
        ("gpu: 2", "gpu: !!binary Mg=="),
        ("resources:", "!!binary cmVzb3VyY2Vz:"),
        ("{requests", "{\n\trequests"),
        ("{requests: {", "{requests:\n\t\t\t{\n\t"),
        ("image: a", "image: \"a\n\t\""),
        ("image: a", "image: \"a\"#b"),
        ("apiVersion", "# x\n---\n\u{feff}apiVersion"),
    ] {
        assert_found(&[("a.yaml", &POD.replacen(part, other, 1))], FAULT);
    }
}

#[test]
fn whatever_has_items_is_a_list() {
    let nested = POD.replace('\n', "\n  ");
    for kind in ["List", "PodList", "Foo", "ConfigMap", "Pod"] {
        assert_found(&[("a.yaml", &format!("apiVersion: v1\nkind: {kind}\nitems:\n- {nested}"))], FAULT);
    }
    let (_, bare) = nested.split_once("metadata").expect("metadata");
    assert_found(&[("a.yaml", &format!("kind: PodList\nitems:\n- metadata{bare}\napiVersion: v1\n"))], FAULT);
}

#[test]
fn what_speaks_of_a_format_and_does_not_parse_is_an_error() {
    for text in [
        "x: [\napiVersion: v1\nkind: Pod\n",
        "{\"x\": 'y\", \"kind\": \"Pod\", \"apiVersion\": \"v1\"}\n",
        "x: [\nservices:\n  a:\n    image: b\n",
    ] {
        assert_found(&[("a.yaml", text)], "syntax-error");
    }
    assert_eq!(found(&[("a.yaml", "x: [\nkind: Pod\n")]), [""; 0]);
}

#[test]
fn a_configuration_that_is_not_gone_by_is_a_file_like_others() {
    for path in [".gpulint.yaml", ".gpulint.yml", "sub/.gpulint.yaml"] {
        assert_found(&[(path, POD)], FAULT);
    }
}

#[test]
fn directories_of_other_version_control_are_counted() {
    let report = report(&[(".hg/a.yaml", POD), (".svn/a.yaml", POD), (".git/a.yaml", POD), ("b.yaml", "")]);
    assert_eq!(report["files"]["excluded"][0]["count"], 2, "{}", report["files"]);
}

#[test]
fn requirements_end_where_python_ends_lines() {
    for end in ["\u{b}", "\u{c}", "\u{1e}", "\u{85}", "\u{2028}", "\r"] {
        assert_found(&[("requirements.txt", &format!("# x{end}torch==1.13.1+cu116\n"))], "local-version-without-index");
    }
}

#[test]
fn what_a_kustomization_names_is_read_whatever_it_is_called() {
    let kustomization = |text: &str| format!("apiVersion: kustomize.config.k8s.io/v1beta1\n{text}");
    for path in
        ["bad.txt", "bad", ".hidden", "package.json", "node_modules/bad.yaml", "Dockerfile", "a b", "testdata/x"]
    {
        let text = kustomization(&format!("resources: [\"{path}\"]\n"));
        assert_found(&[("k/kustomization.yaml", &text), (&format!("k/{path}"), POD)], FAULT);
    }
    let base = ("k/node_modules/b/Kustomization", "resources: [x]\n");
    let all = [("k/kustomization.yaml", "resources: [node_modules/b]\n"), base, ("k/node_modules/b/x", POD)];
    assert_found(&all, FAULT);
    let good = POD.replace("gpu: 2", "gpu: 1");
    let patch = "- {op: replace, path: /spec/containers/0/resources/requests/nvidia.com~1gpu, value: 2}\n";
    let text = kustomization("resources: [g.yaml]\npatches: [{path: p.txt, target: {kind: Pod}}]\n");
    assert_found(&[("kustomization.yaml", &text), ("g.yaml", &good), ("p.txt", patch)], FAULT);
}

#[test]
fn what_requirements_compose_and_terraform_name_is_read_whatever_it_is_called() {
    const LOCAL: &str = "torch==1.13.1+cu116\n";
    const FROM: &str = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n";
    let (install, run) = (
        format!("{FROM}COPY d/w.foo /app/\nRUN pip install -r /app/w.foo\n"),
        format!("{FROM}RUN pip install {LOCAL}"),
    );
    let device = "services:\n  b:\n    image: x\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, \
                  device_ids: [\"0\"], capabilities: [gpu]}]}}}\n";
    let built = "services:\n  s:\n    build: {context: c, dockerfile: w.build}\n";
    let manifest =
        "resource \"kubernetes_manifest\" \"p\" {\n  manifest = yamldecode(file(\"${path.module}/bad.txt\"))\n}\n";
    let cases: [(&[(&str, &str)], &str); 8] = [
        (&[("requirements.txt", "-r w.foo\n"), ("w.foo", LOCAL)], "local-version-without-index"),
        (&[("requirements.txt", "-r ../b/w\n-c c\n"), ("c", "\n"), ("b/w", LOCAL)], ""),
        (&[("docker/Dockerfile", &install), ("d/w.foo", LOCAL)], "local-version-without-index"),
        (&[("compose.yaml", built), ("c/w.build", &run)], "local-version-not-on-pypi"),
        (
            &[("compose.yaml", "include: [g.txt]\nservices: {s: {image: x}}\n"), ("g.txt", device)],
            "compose-count-and-device-ids",
        ),
        (
            &[("compose.yaml", "services:\n  s:\n    extends: {file: base.txt, service: b}\n"), ("base.txt", device)],
            "compose-count-and-device-ids",
        ),
        (&[("main.tf", manifest), ("bad.txt", POD)], FAULT),
        (
            &[("docker-bake.hcl", "target \"a\" {\n  context = \"c\"\n  dockerfile = \"w\"\n}\n"), ("c/w", &run)],
            "local-version-not-on-pypi",
        ),
    ];
    for (files, rule) in cases {
        if rule.is_empty() {
            assert_eq!(found(files), [""; 0], "{files:?}");
        } else {
            assert_found(files, rule);
        }
    }
}

#[test]
fn what_is_named_and_cannot_be_read_is_told_and_nothing_outside_is_opened() {
    let long = format!("{POD}# {}", "x".repeat(9 << 20));
    assert_found(&[("kustomization.yaml", "resources: [bad.txt]\n"), ("bad.txt", &long)], "file-not-linted");
    let outside = [("kustomization.yaml", "resources: [/etc/hostname, ../../etc/hostname]\n")];
    assert_eq!(report(&outside)["files"]["seen"], 1);
}

#[test]
fn what_a_dockerfile_installs_is_found_wherever_it_is_written() {
    const FROM: &str = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n";
    for install in [
        "RUN pip install torch==1.13.1+cu116",
        "RUN x=$(pip install torch==1.13.1+cu116)",
        "RUN echo \"a `pip install torch==1.13.1+cu116` b\"",
        "RUN echo $(echo $(pip install torch==1.13.1+cu116))",
        "COPY <<EOF /r.txt\ntorch==1.13.1+cu116\nEOF\nRUN pip install -r /r.txt",
        "COPY <<r.txt <<b /d/\ntorch==1.13.1+cu116\nr.txt\nx\nb\nRUN cd /d && pip install -r r.txt",
    ] {
        assert_found(&[("Dockerfile", &format!("{FROM}{install}\n"))], "local-version-not-on-pypi");
    }
    for text in [
        format!("|\n        {FROM}        RUN pip install torch==1.13.1+cu116\n"),
        "\"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\\nRUN pip install torch==1.13.1+cu116\"\n".to_owned(),
    ] {
        let compose = format!("services:\n  s:\n    build:\n      context: .\n      dockerfile_inline: {text}");
        let report = report(&[("compose.yaml", &compose)]);
        let rules = report["diagnostics"].as_array().expect("a list");
        let found = rules.iter().find(|found| found["rule"] == "local-version-not-on-pypi").expect("a finding");
        let line = if text.starts_with('|') { 7 } else { 6 };
        assert_eq!(found["range"]["start"]["line"], line, "{found}");
    }
}

#[test]
fn terraform_in_json_is_terraform() {
    let pod = |requests: &str| {
        format!(
            "{{\"resource\": [{{\"kubernetes_pod\": {{\"p\": {{\"metadata\": {{\"name\": \"p\"}}, \"spec\": {{\"container\": \
             {{\"name\": \"c\", \"image\": \"x:1\", \"resources\": {{\"requests\": {requests}, \"limits\": {{\"nvidia.com/gpu\": \
             1}}}}}}}}}}}}}}]}}"
        )
    };
    assert_found(&[("main.tf.json", &pod("{\"nvidia.com/gpu\": 2}"))], FAULT);
    assert_eq!(found(&[("main.tf.json", &pod("{\"nvidia.com/gpu\": 1}"))]), [""; 0]);
    let main = "variable \"on\" { default = false }\nresource \"kubernetes_manifest\" \"p\" {\n  count = var.on ? 1 : 0\n  manifest \
                = yamldecode(file(\"pod\"))\n}\n";
    for (path, values) in [
        ("x.auto.tfvars.json", "{\"a\": {\"b\": [1,\n 2]},\n \"on\": true}"),
        ("terraform.tfvars.json", "{\"on\":\ntrue}"),
    ] {
        assert_found(&[("main.tf", main), (path, values), ("pod", POD)], FAULT);
    }
    assert_eq!(found(&[("main.tf", main), ("x.auto.tfvars.json", "{\"on\": false}"), ("pod", POD)]), [""; 0]);
}
