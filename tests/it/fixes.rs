//! `check --fix` and `--diff`: what is written, what is left alone, and what the exit code says.

use crate::cli::{code, directory, gpulint, out};
use gpulint::rules::Ruleset;
use std::fs;
use std::path::Path;
use std::process::Output;

/// A pod with a fault that is fixed safely (an annotation that is no text), one whose fix is a guess (a flag that is nearly
/// another one), and one that nothing fixes.
const POD: &str = "\
# before everything
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    karpenter.sh/do-not-disrupt: true # while it trains
spec:
  containers:
    - name: main   # the server
      image: 'vllm/vllm-openai:v0.9.1'
      args: [--model, Qwen/Qwen3-8B, --max-modle-len=8192, '--dtype', half]

      resources:
        requests: {nvidia.com/gpu: 1}
";

const SELECT: [&str; 2] = ["--select", "annotation-not-a-string,flag-unknown,gpu-limit-missing"];

fn check(root: &Path, arguments: &[&str]) -> Output {
    let select = SELECT[1].split(',').flat_map(|rule| ["--select", rule]);
    gpulint(root, &["check"].into_iter().chain(select).chain(arguments.iter().copied()).collect::<Vec<_>>())
}

fn read(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).expect("a file")
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn safe() -> String {
    POD.replace("disrupt: true", "disrupt: \"true\"")
}

#[test]
fn safe_fixes_are_written_and_the_rest_is_reported() {
    let tree = directory(&[("pod.yaml", POD)]);
    let root = tree.path();
    let done = check(root, &["--fix"]);
    assert_eq!(code(&done), 1, "two faults are left");
    assert_eq!(read(root, "pod.yaml"), safe(), "comments, quotes and blank lines stand");
    assert!(err(&done).contains("1 fixed in 1 files, 1 more with --unsafe-fixes"), "{}", err(&done));
    let report = out(&done);
    assert!(!report.contains("annotation-not-a-string") && report.contains("gpu-limit-missing"), "{report}");
    assert!(report.contains("1 fixable with --fix --unsafe-fixes"), "{report}");
    assert_eq!(code(&check(root, &["--fix"])), 1);
    assert_eq!(read(root, "pod.yaml"), safe(), "twice changes nothing");
}

#[test]
fn what_may_change_the_meaning_is_fixed_on_request_only() {
    let tree = directory(&[("pod.yaml", POD)]);
    let root = tree.path();
    check(root, &["--fix", "--unsafe-fixes"]);
    let all = safe().replace("--max-modle-len=8192", "--max-model-len=8192");
    assert_eq!(read(root, "pod.yaml"), all);
    check(root, &["--fix", "--unsafe-fixes"]);
    assert_eq!(read(root, "pod.yaml"), all);
}

#[test]
fn the_exit_code_is_0_when_nothing_is_left() {
    let tree = directory(&[("pod.yaml", &POD.replace("requests:", "limits:").replace("modle", "model"))]);
    let done = check(tree.path(), &["--fix"]);
    assert_eq!(code(&done), 0, "{}", out(&done));
    assert!(out(&done).starts_with("nothing found"), "{}", out(&done));
}

#[test]
fn a_diff_is_printed_and_nothing_is_written() {
    let tree = directory(&[("k8s/pod.yaml", POD)]);
    let root = tree.path();
    let shown = check(root, &["--diff"]);
    assert_eq!(code(&shown), 1);
    let expected = "\
--- k8s/pod.yaml
+++ k8s/pod.yaml
@@ -4,7 +4,7 @@
 metadata:
   name: trainer
   annotations:
-    karpenter.sh/do-not-disrupt: true # while it trains
+    karpenter.sh/do-not-disrupt: \"true\" # while it trains
 spec:
   containers:
     - name: main   # the server
";
    assert_eq!(out(&shown), expected);
    assert_eq!(read(root, "k8s/pod.yaml"), POD);
    assert!(err(&shown).contains("1 would be fixed in 1 files"), "{}", err(&shown));
    assert!(
        out(&check(root, &["--diff", "--unsafe-fixes"]))
            .contains("+      args: [--model, Qwen/Qwen3-8B, --max-model-len")
    );
    check(root, &["--fix"]);
    let none = check(root, &["--diff"]);
    assert_eq!((code(&none), out(&none).as_str()), (0, ""), "what is left has no safe fix");
}

#[test]
fn line_ends_and_rights_are_kept() {
    let dos = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let tree = directory(&[("pod.yaml", &dos(POD))]);
    let root = tree.path();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(root.join("pod.yaml"), fs::Permissions::from_mode(0o640)).expect("rights");
        check(root, &["--fix"]);
        assert_eq!(fs::metadata(root.join("pod.yaml")).expect("a file").permissions().mode() & 0o777, 0o640);
    }
    check(root, &["--fix"]);
    assert_eq!(read(root, "pod.yaml"), dos(&safe()));
    let left = fs::read_dir(root).expect("a directory").count();
    assert_eq!(left, 1, "nothing is left beside it");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let elsewhere = directory(&[("pod.yaml", POD), ("below/pod.yaml", POD)]);
    let tree = directory(&[(".git/HEAD", ""), ("a.yaml", POD)]);
    let root = tree.path();
    symlink(elsewhere.path().join("pod.yaml"), root.join("b.yaml")).expect("a link");
    symlink("a.yaml", root.join("c.yaml")).expect("a link");
    symlink(elsewhere.path().join("below"), root.join("d")).expect("a link");
    check(root, &["--fix", "--no-ignore", "a.yaml", "b.yaml", "c.yaml", "d"]);
    check(root, &["--fix"]);
    assert_eq!(read(root, "a.yaml"), safe());
    assert_eq!(read(elsewhere.path(), "pod.yaml"), POD);
    assert_eq!(read(elsewhere.path(), "below/pod.yaml"), POD);
    assert!(root.join("b.yaml").is_symlink() && root.join("c.yaml").is_symlink());
}

#[test]
fn what_is_waived_known_or_not_asked_for_is_not_fixed() {
    let waived = POD.replace("# while it trains", "# gpulint: ignore[annotation-not-a-string] reason=\"so\"");
    let tree = directory(&[("pod.yaml", &waived)]);
    check(tree.path(), &["--fix"]);
    assert_eq!(read(tree.path(), "pod.yaml"), waived);
    let tree = directory(&[("pod.yaml", POD)]);
    gpulint(tree.path(), &["baseline"]);
    check(tree.path(), &["--fix", "--baseline", "gpulint-baseline.json"]);
    assert_eq!(read(tree.path(), "pod.yaml"), POD);
    gpulint(tree.path(), &["check", "--fix", "--select", "gpu-limit-missing"]);
    assert_eq!(read(tree.path(), "pod.yaml"), POD);
}

/// The same value, where it stands for others: in a template and its values, behind an alias, as a variable.
#[test]
fn what_stands_for_something_else_is_left_alone() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  restartPolicy: Nevr\n  containers: [{name: a, image: \
               'vllm/vllm-openai:v0.9.1', resources: {limits: {nvidia.com/gpu: 1}}}]\n";
    let anchored = format!(
        "{}---\n{}",
        pod.replace("spec:\n", "spec: &spec\n"),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n"
    );
    let alias = format!("{}x: *spec\n", pod.replace("spec:\n", "spec: &spec\n"));
    let variable = "variable \"machine\" {\n  default = \"p4d.48xlarge\"\n}\nresource \"aws_instance\" \"a\" {\n  instance_type = \
                    var.machine\n}\n";
    let files = [
        ("alias.yaml", alias.as_str()),
        ("main.tf", variable),
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n"),
        ("c/values.yaml", "policy: Nevr\n"),
        ("c/templates/pod.yaml", &pod.replace("Nevr", "{{ .Values.policy }}")),
    ];
    let tree = directory(&files);
    let root = tree.path();
    let report = out(&gpulint(root, &["check", "--fix", "--unsafe-fixes", "--format", "concise"]));
    assert!(report.contains("value-not-allowed") && report.contains("machine-type-does-not-exist"), "{report}");
    for (path, text) in files {
        assert_eq!(read(root, path), text);
    }
    let tree = directory(&[("pod.yaml", &anchored), ("main.tf", &variable.replace("var.machine", "\"p4d.48xlarge\""))]);
    gpulint(tree.path(), &["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(read(tree.path(), "pod.yaml"), anchored.replace("Nevr", "Never"), "an anchor that nothing refers to");
    assert!(
        read(tree.path(), "main.tf").contains("  instance_type = \"p4d.24xlarge\"\n"),
        "{}",
        read(tree.path(), "main.tf")
    );
}

#[test]
fn a_suppression_gets_the_name_of_the_rule_that_it_means() {
    let text = "# gpulint: ignore-file[gpu-limit-mising] reason=\"kept: the quota is elsewhere\"\n";
    let tree = directory(&[("pod.yaml", &format!("{text}{}", safe().replace("modle", "model")))]);
    let root = tree.path();
    let before = gpulint(root, &["check"]);
    assert!(out(&before).contains("write gpu-limit-missing"), "{}", out(&before));
    assert_eq!(code(&gpulint(root, &["check", "--fix"])), 0);
    assert!(read(root, "pod.yaml").starts_with(&text.replace("mising", "missing")));
}

#[test]
fn entries_are_renamed_removed_and_set_as_they_are_written() {
    let rule = |id: &str, at: &str, fix: &str| {
        format!(
            "id: {id}\npack: p\nseverity: warning\napplies_to: pod\nforbid: \"{at} != null\"\nat: {at}\nmessage: m\nhelp: h\n\
             fix: {fix}\nwhy: w\nreferences: ['https://a.example']\nexamples: [{{fires: {{a.yaml: ''}}}}]\n"
        )
    };
    let env = "pod.containers[0].env['DEBUG'].value";
    let cases = [
        ("{at: pod.host_ipc, remove: true}", "pod.host_ipc", "  hostIPC: true # why\n", ""),
        (
            "{at: pod.host_ipc, rename: hostPID}",
            "pod.host_ipc",
            "  \"hostIPC\": true # why\n",
            "  \"hostPID\": true # why\n",
        ),
        (
            "{at: pod.host_ipc, set: {securityContext.runAsUser: '1000'}}",
            "pod.host_ipc",
            "  hostIPC: true # why\n",
            "  hostIPC: true # why\n  securityContext:\n    runAsUser: 1000\n",
        ),
    ];
    for (fix, at, before, after) in cases {
        let pod = |line: &str, env: &str| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n{line}  containers:\n    - name: a\n      image: a/b:1\n{env}      \
                 resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
            )
        };
        let tree = directory(&[("k/pod.yaml", &pod(before, "")), ("p/it.yaml", &rule("it", at, fix))]);
        let run = || gpulint(tree.path(), &["check", "k", "--rules", "p", "--select", "it", "--fix", "--unsafe-fixes"]);
        run();
        assert_eq!(read(tree.path(), "k/pod.yaml"), pod(after, ""), "{fix}");
        run();
        assert_eq!(read(tree.path(), "k/pod.yaml"), pod(after, ""), "{fix}, twice");
        for (before, after) in [
            ("      env:\n        - name: DEBUG\n          value: '1'\n", ""),
            ("      env: [{name: DEBUG, value: '1'}, {name: A, value: b}]\n", "      env: [{name: A, value: b}]\n"),
        ] {
            let tree = directory(&[
                ("k/pod.yaml", &pod("", before)),
                ("p/it.yaml", &rule("it", env, &format!("{{at: \"{env}\", remove: true}}"))),
            ]);
            gpulint(tree.path(), &["check", "k", "--rules", "p", "--select", "it", "--fix", "--unsafe-fixes"]);
            assert_eq!(read(tree.path(), "k/pod.yaml"), pod("", after));
        }
    }
}

#[test]
fn what_makes_no_sense_together_is_refused() {
    let tree = directory(&[("pod.yaml", POD), ("a.diff", "")]);
    for arguments in [
        &["--fix", "--changed-in", "a.diff"][..],
        &["--fix", "--add-ignore"],
        &["--fix", "-"],
        &["--diff", "--output", "a"],
    ] {
        assert_eq!(code(&check(tree.path(), arguments)), 2, "{arguments:?}");
    }
    assert_eq!(read(tree.path(), "pod.yaml"), POD);
}

#[test]
fn rules_with_a_fix_show_what_it_makes_of_an_example() {
    let rules = Ruleset::builtin();
    let fixable = || rules.entries().iter().filter(|entry| entry.text().fix.is_some());
    let shown = |entry: &&gpulint::rules::Entry| entry.page().examples.iter().any(|example| !example.fixed.is_empty());
    let without: Vec<&str> = fixable().filter(|entry| !shown(entry)).map(|entry| entry.id.as_ref()).collect();
    // What these fix stands in other tests: their examples are of things that cannot be fixed.
    assert_eq!(without, ["cuda-launch-blocking", "flag-not-of-release", "value-not-allowed"]);
    assert!(fixable().count() >= 80);
    let table = out(&gpulint(Path::new("."), &["rules"]));
    assert!(
        table.lines().any(|line| line.starts_with("annotation-not-a-string ") && line.ends_with("(fixed by --fix)"))
    );
    assert!(
        table
            .lines()
            .any(|line| line.starts_with("flag-unknown ") && line.ends_with("(fixed by --fix --unsafe-fixes)"))
    );
}

#[test]
fn of_a_large_file_some_fixes_wait_and_all_are_made() {
    let pod = |i: usize| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p{i}, annotations: {{karpenter.sh/do-not-disrupt: true}}}}\nspec:\n  # {}\n  containers: [{{name: c, image: a/b:1}}]\n",
            "-".repeat(100)
        )
    };
    let tree = directory(&[("pods.yaml", &(0..200).map(pod).collect::<Vec<_>>().join("---\n"))]);
    let report: serde_json::Value =
        serde_json::from_str(&out(&check(tree.path(), &["--all-kinds", "--format", "json"]))).expect("JSON");
    let found = report["diagnostics"].as_array().expect("findings");
    let offered = found.iter().filter(|finding| !finding["fix"].is_null()).count();
    assert!(found.len() == 200 && (1..200).contains(&offered), "{offered} of {}", found.len());
    check(tree.path(), &["--all-kinds", "--fix"]);
    assert_eq!(read(tree.path(), "pods.yaml").matches("do-not-disrupt: \"true\"").count(), 200);
}
