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
