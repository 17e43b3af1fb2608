//! The binary as users meet it: exit codes, formats, configuration, suppressions, bad input.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Fires `gpu-limit-missing` at the quantity, and nothing else.
const GUILTY: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
    - name: main
      image: registry.example/trainer:1
      resources:
        requests:
          nvidia.com/gpu: 1
";
const RULE: &str = "gpu-limit-missing";

pub fn directory(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a directory for the test");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("directories are made");
        fs::write(path, text).expect("files are written");
    }
    root
}

pub fn gpulint(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(root).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

fn fed(root: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(root).args(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the input is read");
    child.wait_with_output().expect("the binary ends")
}

pub fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal ended it")
}

pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", out(output), err(output)))
}

/// Ids of the findings, in the order of the report.
fn rules(report: &Value) -> Vec<&str> {
    let diagnostics = report["diagnostics"].as_array().expect("a list");
    diagnostics.iter().map(|d| d["rule"].as_str().expect("an id")).collect()
}

fn checked(files: &[(&str, &str)], arguments: &[&str]) -> Value {
    let root = directory(files);
    json(&gpulint(root.path(), &[&["check", "--format", "json"], arguments].concat()))
}

#[test]
fn exit_codes_say_clean_found_or_failed() {
    let root = directory(&[("bad/pod.yaml", GUILTY), ("good/list.yaml", "- a\n")]);
    let run = |arguments: &[&str]| code(&gpulint(root.path(), arguments));
    assert_eq!(run(&["check", "good"]), 0);
    assert_eq!(run(&["check", "bad"]), 1);
    assert_eq!(run(&["check", "bad", "--exit-zero"]), 0);
    assert_eq!(run(&["check", "bad", "--format", "json"]), 1);
    assert_eq!(run(&["check", "bad", "--ignore", RULE]), 0);
    assert_eq!(run(&["check", "missing"]), 2);
    assert_eq!(run(&["check", "--no-such-flag"]), 2);
    assert_eq!(run(&["check", "bad", "--select", "no-such-rule"]), 2);
    assert_eq!(run(&["check", "bad", "--config", "missing.yaml"]), 2);
}

#[test]
fn the_failing_severity_can_be_chosen() {
    let config = format!("rules:\n  {RULE}: warning\n");
    let root = directory(&[("pod.yaml", GUILTY), (".gpulint.yaml", &config)]);
    let run = |arguments: &[&str]| code(&gpulint(root.path(), arguments));
    assert_eq!(run(&["check"]), 0);
    assert_eq!(run(&["check", "--fail-on", "warning"]), 1);
}

#[test]
fn a_clean_run_says_one_line_and_a_quiet_one_nothing() {
    let root = directory(&[("a.yaml", "- a\n")]);
    assert_eq!(out(&gpulint(root.path(), &["check"])), "nothing found · 1 file: 1 nothing here for us\n");
    assert_eq!(out(&gpulint(root.path(), &["check", "--quiet"])), "");
}

#[test]
fn the_json_report_points_at_the_text() {
    let report = checked(&[("k8s/pod.yaml", GUILTY)], &[]);
    assert_eq!(rules(&report), [RULE]);
    let finding = &report["diagnostics"][0];
    assert_eq!(finding["path"], "k8s/pod.yaml");
    assert_eq!(finding["range"]["start"], serde_json::json!({"line": 11, "column": 27}));
    assert_eq!(report["files"]["seen"], 1);
    assert_eq!(report["summary"]["error"], 1);
}

#[test]
fn every_format_goes_to_its_own_file_and_the_rest_to_standard_output() {
    let root = directory(&[("pod.yaml", GUILTY)]);
    let arguments =
        ["check", "--format", "json", "--output", "r.json", "--format", "sarif", "--output", "r.sarif", "--format"];
    let output = gpulint(root.path(), &[&arguments[..], &["human"]].concat());
    assert_eq!(code(&output), 1);
    assert!(out(&output).starts_with(&format!("error[{RULE}]")), "{}", out(&output));
    let read = |name: &str| fs::read_to_string(root.path().join(name)).expect("the report was written");
    let report: Value = serde_json::from_str(&read("r.json")).expect("JSON");
    assert_eq!(report["version"], 1);
    let log: Value = serde_json::from_str(&read("r.sarif")).expect("JSON");
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], RULE);
    assert!(read("r.json").ends_with("}\n"));
}

#[test]
fn standard_input_is_linted_under_its_given_name() {
    let root = directory(&[]);
    let output = fed(root.path(), &["check", "--format", "json", "--stdin-filename", "deploy/pod.yaml", "-"], GUILTY);
    assert_eq!(code(&output), 1);
    assert_eq!(json(&output)["diagnostics"][0]["path"], "deploy/pod.yaml");
}

#[test]
fn what_is_wrong_with_the_configuration_is_told_at_once_with_carets() {
    let config = "selekt: [vram]\nrules:\n  gpu-limit-mising: off\nfail_on: eror\n";
    let root = directory(&[("pod.yaml", GUILTY), (".gpulint.yaml", config)]);
    let output = gpulint(root.path(), &["check"]);
    assert_eq!(code(&output), 2);
    let told = err(&output);
    for part in ["did you mean `select`", "did you mean `gpu-limit-missing`", ".gpulint.yaml:1:1", ".gpulint.yaml:4:10"]
    {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
    assert_eq!(out(&output), "");
}

#[test]
fn a_scope_that_other_files_decide_is_warned_about_and_the_rule_is_used() {
    let rule = "id: on-nvidia\npack: ours\nseverity: warning\napplies_to: pod\n\
                when: pod.gpus > 0 && node.gpu.vendor == 'nvidia'\nforbid: pod.spot\nmessage: m\nhelp: h\nwhy: w\n\
                references: ['https://a.example']\nexamples: []\n";
    let folder = directory(&[("pack/on-nvidia.yaml", rule), ("a.yaml", "a: 1\n")]);
    let output = gpulint(folder.path(), &["check", "--rules", "pack", "a.yaml"]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let warned = err(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(warned.contains("warning") && warned.contains("move it to `forbid`"), "{warned}");
    assert!(warned.contains("pack/on-nvidia.yaml:5"), "{warned}");
}

#[test]
fn the_configuration_is_found_upwards_from_the_target() {
    let config = format!("rules:\n  {RULE}: off\n");
    let root = directory(&[("a/b/pod.yaml", GUILTY), ("a/.gpulint.yaml", &config)]);
    assert_eq!(code(&gpulint(root.path(), &["check", "a/b"])), 0);
    assert_eq!(code(&gpulint(root.path(), &["check", "a/b/pod.yaml"])), 0);
}

#[test]
fn excluded_paths_start_from_the_configuration() {
    let config = "exclude: [/a/generated/]\n";
    let files = [("a/generated/pod.yaml", GUILTY), ("a/pod.yaml", GUILTY), (".gpulint.yaml", config)];
    let root = directory(&files);
    for (from, arguments, seen) in [
        (".", &["check"][..], 1),
        ("a", &["check"], 1),
        ("a", &["check", "generated/pod.yaml"], 1),
        ("a", &["check", "--force-exclude", "generated/pod.yaml"], 0),
    ] {
        let output = gpulint(&root.path().join(from), &[arguments, &["--format", "json"]].concat());
        assert_eq!(json(&output)["files"]["seen"], seen, "{from} {arguments:?}");
    }
}

#[test]
fn a_misspelt_rule_on_the_command_line_gets_a_hint() {
    let root = directory(&[("pod.yaml", GUILTY)]);
    let told = err(&gpulint(root.path(), &["check", "--select", "gpu-limit-mising"]));
    assert!(told.contains("did you mean `gpu-limit-missing`"), "{told}");
}

/// Text with a comment at the end of its last line.
fn commented(comment: &str) -> String {
    GUILTY.trim_end().to_owned() + " " + comment + "\n"
}

#[test]
fn suppressions_waive_on_the_line_above_it_in_the_file_and_on_the_object() {
    let above = GUILTY.replace("          nvidia", &format!("          # gpulint: ignore[{RULE}]\n          nvidia"));
    let annotated =
        GUILTY.replace("name: trainer", &format!("name: trainer\n  annotations: {{gpulint.dev/ignore: {RULE}}}"));
    let texts = [
        commented(&format!("# gpulint: ignore[{RULE}] reason=\"a webhook adds it\"")),
        above,
        format!("# gpulint: ignore-file[{RULE}]\n{GUILTY}"),
        annotated,
    ];
    for text in texts {
        let report = checked(&[("pod.yaml", &text)], &[]);
        assert_eq!(rules(&report), [""; 0], "{text}");
        assert_eq!(report["summary"]["waived"], 1, "{text}");
    }
}

#[test]
fn suppressions_that_expired_or_were_never_needed_are_findings() {
    let expired = commented(&format!("# gpulint: ignore[{RULE}] until=2001-01-31"));
    assert_eq!(rules(&checked(&[("pod.yaml", &expired)], &[])), [RULE, "expired-suppression"]);
    let unused = "- a # gpulint: ignore[gpu-limit-missing]\n";
    assert_eq!(rules(&checked(&[("list.yaml", unused)], &[])), ["unused-suppression"]);
}

#[test]
fn the_configuration_ignores_by_path_and_may_ask_for_reasons() {
    let ignores = format!("ignores:\n  - rule: {RULE}\n    path: 'legacy/**'\n    reason: to be replaced\n");
    let files = [("legacy/pod.yaml", GUILTY), ("new/pod.yaml", GUILTY), (".gpulint.yaml", &ignores)];
    let report = checked(&files, &[]);
    assert_eq!(rules(&report), [RULE]);
    assert_eq!(report["diagnostics"][0]["path"], "new/pod.yaml");
    let silent = commented(&format!("# gpulint: ignore[{RULE}]"));
    let report = checked(&[("pod.yaml", &silent), (".gpulint.yaml", "require_reason: true\n")], &[]);
    assert_eq!(rules(&report), ["suppression-without-reason"]);
}

#[test]
fn sarif_holds_to_the_published_schema() {
    let text = include_str!("../data/sarif-2.1.0.schema.json");
    let mut schema: Value = serde_json::from_str(text).expect("the schema is JSON");
    // Published with a bracket too many, which no strict reader takes; the key is one that gpulint leaves out.
    for part in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][part]["properties"]["language"];
        language.as_object_mut().expect("a property").remove("pattern");
    }
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let waived = commented(&format!("# gpulint: ignore[{RULE}] reason=\"known\""));
    let root = directory(&[("a b/pod ü.yaml", GUILTY), ("waived.yaml", &waived), ("broken.yaml", "apiVersion: [\n")]);
    fs::write(root.path().join("wide.yaml"), [0xff, 0xfe, b'a', 0]).expect("written");
    let output = gpulint(root.path(), &["check", "--format", "sarif"]);
    let log = json(&output);
    let faults: Vec<String> = validator.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let run = &log["runs"][0];
    assert_eq!(run["results"].as_array().map(Vec::len), Some(3), "{run:#}");
    let notes = &run["invocations"][0]["toolExecutionNotifications"];
    assert!(notes[0].to_string().contains("UTF-16"), "{notes}");
    assert_eq!(run["results"].to_string().matches(r#""justification":"known""#).count(), 1);
}

#[test]
#[cfg(unix)]
fn nothing_raw_reaches_the_terminal() {
    let text = GUILTY.replace("name: main", "name: \"a\u{1b}[31m\u{202e}b\"") + "a: [\u{1b}]0;title\u{7} # \u{202e}\n";
    let name = "x\u{1b}[2J\u{202e}.yaml";
    let config = "select: [\"a\u{202e}\"]\n\u{202e}: 1\n";
    let root = directory(&[(name, &text), ("other/.gpulint.yaml", config), ("other/pod.yaml", GUILTY)]);
    let skipped = root.path().join("y\u{1b}[2J\u{202e}.yaml");
    fs::write(skipped, [0xff, 0xfe, b'a', 0]).expect("written");
    let runs: [&[&str]; 6] = [
        &["check", "."],
        &["check", ".", "--show-unknown"],
        &["check", ".", "--format", "sarif"],
        &["check", "other"],
        &["check", "missing\u{1b}[2J\u{202e}"],
        &["check", "--select", "a\u{1b}[2J\u{202e}"],
    ];
    for arguments in runs {
        let output = gpulint(root.path(), arguments);
        assert_ne!(code(&output), 0, "{arguments:?}");
        for shown in [out(&output), err(&output)] {
            let raw = shown.find(|c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c));
            assert_eq!(raw, None, "{arguments:?}\n{shown:?}");
        }
    }
}

#[test]
fn a_closed_pipe_is_quiet() {
    let many: Vec<(String, String)> = (0..300).map(|i| (format!("pod{i}.yaml"), GUILTY.to_owned())).collect();
    let files: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let root = directory(&files);
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(root.path()).arg("check").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(err(&output), "");
    assert_eq!(code(&output), 1);
}

#[test]
fn rules_are_listed_explained_and_their_absence_hinted_at() {
    let root = directory(&[]);
    let listed = out(&gpulint(root.path(), &["rules", "--format", "list"]));
    assert!(listed.lines().any(|line| line == RULE), "{listed}");
    let page = out(&gpulint(root.path(), &["explain", RULE]));
    assert!(page.starts_with(RULE) && page.contains("https://"), "{page}");
    let output = gpulint(root.path(), &["explain", "gpu-limit-mising"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("did you mean"), "{}", err(&output));
}

#[test]
fn facts_come_with_their_places() {
    let root = directory(&[("pod.yaml", GUILTY)]);
    let facts = json(&gpulint(root.path(), &["facts", "pod.yaml"]));
    let name = &facts["workloads"][0]["name"];
    assert_eq!(name["value"], "trainer");
    assert_eq!(name["at"], "pod.yaml:4:9");
}

/// A pod, and a Service that selects it.
const SERVED: [(&str, &str); 2] = [
    (
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: llm, labels: {app: llm}}\nspec: {containers: [{name: c, image: a}]}\n",
    ),
    ("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: llm}\nspec: {selector: {app: llm}}\n"),
];

/// Whether the pod in one directory is joined with the Service in another, as `facts` tells of the given paths.
fn joins(root: &Path, paths: &[&str]) -> bool {
    let report = json(&gpulint(root, &[&["facts"], paths].concat()));
    let workloads = report["workloads"].as_array().expect("a list");
    let served = |workload: &Value| workload["services"].as_array().is_some_and(|list| !list.is_empty());
    assert!(workloads.len() == 1, "{report}");
    served(&workloads[0])
}

#[test]
fn a_git_work_tree_and_each_given_path_is_a_repository_of_its_own() {
    let [(pod, pod_text), (service, service_text)] = SERVED;
    let tree = |git: &[(&str, &str)]| {
        let files = [(&*format!("a/{pod}"), pod_text), (&*format!("a/sub/{service}"), service_text)];
        directory(&[&files[..], git].concat())
    };
    assert!(joins(tree(&[]).path(), &["."]));
    assert!(joins(tree(&[(".git/HEAD", "")]).path(), &["."]));
    // A nested clone, a submodule, and a worktree, whose `.git` is a file.
    for (path, text) in [
        ("a/sub/.git/HEAD", "ref: refs/heads/main\n"),
        ("a/sub/.git", "gitdir: ../../.git/modules/sub\n"),
        ("a/sub/.git", "gitdir: /srv/main/.git/worktrees/sub\n"),
    ] {
        assert!(!joins(tree(&[(".git/HEAD", ""), (path, text)]).path(), &["."]), "{path}: {text}");
        // The tree around it is one, from wherever it is looked at.
        assert!(!joins(tree(&[(path, text)]).path(), &["a", "a/sub"]), "{path}: {text}");
    }
    // Paths that are given are repositories without Git, the outermost counts, and files belong to where the command runs.
    let apart = directory(&[(&format!("a/{pod}"), pod_text), (&format!("b/{service}"), service_text)]);
    assert!(!joins(apart.path(), &["a", "b"]));
    assert!(joins(apart.path(), &["a", "b", "."]));
    assert!(joins(apart.path(), &[&format!("a/{pod}"), &format!("b/{service}")]));
    let one = directory(&[(".git/HEAD", ""), (&format!("a/{pod}"), pod_text), (&format!("b/{service}"), service_text)]);
    assert!(joins(one.path(), &["a", "b"]));
}

#[test]
fn paths_of_a_git_work_tree_are_the_same_from_every_working_directory() {
    let tree = directory(&[("r/.git/HEAD", ""), ("r/a/pod.yaml", GUILTY), ("r/b/c/x", "")]);
    let all = ["--format", "json", "--exit-zero"];
    let from = |at: &str, target: &str| out(&gpulint(&tree.path().join(at), &[&["check", target], &all[..]].concat()));
    let report = from("r", ".");
    assert!(report.contains("\"path\":\"a/pod.yaml\""), "{report}");
    let named = tree.path().join("r");
    for (at, target) in [("r", "a"), ("r/b/c", "../../a"), ("r/a", "."), ("", "r"), ("", named.to_str().expect("text"))]
    {
        assert_eq!(from(at, target), report, "{at}: {target}");
    }
    // People open what they read.
    let human = |at: &str, target: &str| out(&gpulint(&tree.path().join(at), &["check", target]));
    for (at, target, path) in
        [("r/a", ".", "▸ pod.yaml:"), ("r/b", "..", "▸ ../a/pod.yaml:"), ("", "r", "▸ r/a/pod.yaml:")]
    {
        assert!(human(at, target).contains(path), "{path}: {}", human(at, target));
    }
}

/// A pod with a priority class that no file states.
const PRIORITY: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {priorityClassName: urgent, containers: [{name: c, image: a, \
                        resources: {limits: {nvidia.com/gpu: 1}}}]}\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: \
                        {name: other}\nvalue: 1\n";

#[test]
fn what_is_missed_is_missing_only_where_everything_was_read() {
    const MISSING: &str = "priority-class-missing";
    let told = |file: Option<(&str, &str)>| {
        let files: Vec<(&str, &str)> = std::iter::once(("pod.yaml", PRIORITY)).chain(file).collect();
        let report = checked(&files, &["--exit-zero"]);
        let open = report["unknown"].as_array().expect("a list").iter().find(|open| open["rule"] == MISSING);
        let why = open.map(|open| open["why"].as_str().expect("a reason").to_owned());
        (rules(&report).contains(&MISSING), why)
    };
    assert_eq!(told(None), (true, None));
    assert_eq!(told(Some(("more.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n"))), (true, None));
    for (path, text) in [
        ("broken.yaml", "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: [\n"),
        ("class.yaml.j2", "{% for x in y %}\n- {{ x }}: [\n{% endfor %}\n"),
    ] {
        let (found, why) = told(Some((path, text)));
        assert!(!found, "{path}");
        assert!(why.as_ref().is_some_and(|why| why.contains(path)), "{path}: {why:?}");
    }
}

#[test]
fn what_decides_is_named_as_the_file_has_it() {
    let service = "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: a}\nspec:\n  template:\n    \
                   containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]\n";
    let told = |text: &str| out(&gpulint(directory(&[("a.yaml", text)]).path(), &["check", ".", "--show-unknown"]));
    assert!(!told(service).contains("envFrom"), "no such key stands there");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: main, envFrom: [{secretRef: {name: s}}], \
               resources: {limits: {nvidia.com/gpu: 1}}}]\n";
    assert!(told(pod).contains("what envFrom names"), "{}", told(pod));
}
