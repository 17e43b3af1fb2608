//! What lets gpulint into a repository that is older than it: baselines, changed lines, comments that waive, a first
//! configuration.

use crate::cli::{code, directory, gpulint, out};
use serde_json::Value;
use std::fs;
use std::path::Path;

const RULE: &str = "gpu-limit-missing";

/// Fires `gpu-limit-missing` at the quantity, and nothing else.
fn guilty(name: &str, gpus: u32) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n    - name: main\n      image: \
         registry.example/trainer:1\n      resources:\n        requests:\n          nvidia.com/gpu: {gpus}\n"
    )
}

fn report(root: &Path, arguments: &[&str]) -> Value {
    let output = gpulint(root, &[&["check", "--format", "json", "--exit-zero"], arguments].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn told(report: &Value) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().expect("a text").to_owned();
    let list = report["diagnostics"].as_array().expect("a list").iter();
    list.map(|finding| format!("{} {}", text(finding, "path"), text(finding, "rule"))).collect()
}

fn write(root: &Path, path: &str, text: &str) {
    fs::write(root.join(path), text).expect("a file");
}

const KNOWN: [&str; 2] = ["--baseline", "gpulint-baseline.json"];

#[test]
fn what_a_baseline_knows_is_held_back_and_what_is_new_is_shown() {
    let tree = directory(&[("a.yaml", &guilty("trainer", 1)), ("b.yaml", &guilty("other", 2))]);
    let root = tree.path();
    let written = gpulint(root, &["baseline"]);
    assert_eq!((code(&written), out(&written).as_str()), (0, "gpulint-baseline.json: 2 findings of 1 rules\n"));
    assert_eq!(code(&gpulint(root, &["check"])), 1);
    let run = gpulint(root, &["check", "--baseline", "gpulint-baseline.json"]);
    assert_eq!(code(&run), 0);
    let summary = "nothing found · 2 held back by gpulint-baseline.json · 2 files: 2 understood";
    assert!(out(&run).starts_with(summary), "{}", out(&run));
    let sarif: Value = {
        let run = gpulint(root, &[&["check", "--format", "sarif"], &KNOWN[..]].concat());
        serde_json::from_slice(&run.stdout).expect("JSON")
    };
    let suppression = &sarif["runs"][0]["results"][0]["suppressions"][0];
    assert_eq!(suppression["justification"], "held back by gpulint-baseline.json");
    // Other lines, other quotes, another name: the same findings.
    let moved =
        guilty("trainer", 1).replace("requests:\n          nvidia.com/gpu: 1", "requests: {\"nvidia.com/gpu\": '1'}");
    fs::remove_file(root.join("a.yaml")).expect("a file");
    fs::create_dir(root.join("k8s")).expect("a directory");
    write(root, "k8s/renamed.yaml", &format!("# moved\n\n\n{moved}"));
    let now = report(root, &KNOWN);
    assert_eq!(told(&now), [""; 0]);
    assert_eq!(now["held_back"], serde_json::json!([{"by": "gpulint-baseline.json", "count": 2, "stale": 0}]));
    // The same fault once more, of another object, and of other words.
    for (text, count) in
        [(format!("{0}---\n{0}", guilty("other", 2)), 1), (guilty("third", 2), 1), (guilty("other", 4), 1)]
    {
        write(root, "b.yaml", &text);
        let told = told(&report(root, &KNOWN));
        assert_eq!(told.iter().filter(|told| *told == &format!("b.yaml {RULE}")).count(), count, "{text}: {told:?}");
    }
    // A copy beside the original is new.
    write(root, "b.yaml", &guilty("other", 2));
    write(root, "copy.yaml", &guilty("other", 2));
    assert_eq!(told(&report(root, &KNOWN)), [format!("copy.yaml {RULE}")]);
}

#[test]
fn what_is_over_is_told_and_pruned() {
    let tree = directory(&[("a.yaml", &guilty("trainer", 1)), ("sub/b.yaml", &guilty("other", 2))]);
    let root = tree.path();
    assert_eq!(code(&gpulint(root, &["baseline"])), 0);
    fs::remove_file(root.join("sub/b.yaml")).expect("a file");
    let now = report(root, &KNOWN);
    assert_eq!(told(&now), ["gpulint-baseline.json stale-baseline"]);
    let message = now["diagnostics"][0]["message"].as_str().expect("a message");
    assert!(message.ends_with(&format!("{RULE} of Pod/other container main in sub/b.yaml")), "{message}");
    // What a run does not look at, or is not asked about, is not over.
    assert_eq!(told(&report(root, &[&["a.yaml"], &KNOWN[..]].concat())), [""; 0]);
    write(root, ".gpulint.yaml", &format!("rules: {{{RULE}: off}}\n"));
    assert_eq!(told(&report(root, &KNOWN)), [""; 0]);
    fs::remove_file(root.join(".gpulint.yaml")).expect("a file");
    assert_eq!(told(&report(root, &[&["--select", "scheduling"], &KNOWN[..]].concat())).len(), 1);
    let pruned = gpulint(root, &["baseline", "--prune"]);
    assert!(out(&pruned).ends_with("gpulint-baseline.json: 1 removed\n"), "{}", out(&pruned));
    assert_eq!(told(&report(root, &KNOWN)), [""; 0]);
    let kept = fs::read_to_string(root.join(KNOWN[1])).expect("a baseline");
    assert_eq!(kept.lines().filter(|line| line.contains(RULE)).count(), 1);
}

#[test]
fn a_baseline_takes_what_was_not_linted_only_when_told_to() {
    let tree = directory(&[("a.yaml", "apiVersion: v1\nkind: Pod\nx: [\n")]);
    let root = tree.path();
    let written = gpulint(root, &["baseline"]);
    assert!(out(&written).contains("1 that say what was not linted are left out"), "{}", out(&written));
    assert_eq!(told(&report(root, &KNOWN)), ["a.yaml syntax-error"]);
    assert_eq!(code(&gpulint(root, &["baseline", "--accept-unlinted"])), 0);
    assert_eq!(told(&report(root, &KNOWN)), [""; 0]);
}

#[test]
fn a_baseline_is_read_and_written_where_it_is_one() {
    let tree = directory(&[
        ("a.yaml", &guilty("trainer", 1)),
        ("other.json", "{}"),
        ("newer.json", "{\"kind\": \"gpulint-baseline\", \"version\": 2, \"findings\": []}"),
    ]);
    let root = tree.path();
    for path in ["other.json", "newer.json", "missing.json", "a.yaml"] {
        let run = gpulint(root, &["check", "--baseline", path]);
        assert_eq!(code(&run), 2, "{path}");
    }
    assert_eq!(code(&gpulint(root, &["baseline", "--output", "a.yaml"])), 2);
    assert_eq!(fs::read_to_string(root.join("a.yaml")).expect("a file"), guilty("trainer", 1));
    // One that lies in the tree is no manifest, whether a run goes by it or not.
    assert_eq!(code(&gpulint(root, &["baseline"])), 0);
    assert_eq!(report(root, &[])["files"]["not_understood"], 0);
}

/// `check --changed-in -` over a tree, fed with a diff.
fn fed(root: &Path, diff: &str) -> std::process::Output {
    use std::io::Write as _;
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(root).args(["check", "--format", "json", "--exit-zero", "--changed-in", "-"]);
    let pipes = || std::process::Stdio::piped();
    let mut child = command.stdin(pipes()).stdout(pipes()).stderr(pipes()).spawn().expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(diff.as_bytes()).expect("a reader");
    child.wait_with_output().expect("an end")
}

fn changed(root: &Path, diff: &str) -> Vec<String> {
    let output = fed(root, diff);
    told(&serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

/// A diff of one file: what stood in lines, and what stands there.
fn diff(path: &str, at: &str, was: &str, is: &str) -> String {
    let lines = |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    let (was, is) = (lines('-', was), lines('+', is));
    format!("diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n@@ {at} @@\n{was}{is}")
}

#[test]
fn of_a_change_its_lines_are_shown_and_what_is_found_because_of_them() {
    let line = "          nvidia.com/gpu: 1";
    let two = format!("{0}---\n{0}", guilty("a", 1).replace("name: a", "name: other"));
    let tree = directory(&[("a.yaml", &guilty("trainer", 1)), ("sub/b.yaml", &two)]);
    let root = tree.path();
    assert_eq!(changed(root, ""), [""; 0], "nothing changed");
    assert_eq!(
        changed(root, &diff("a.yaml", "-10 +10", "          nvidia.com/gpu: 2", line)),
        [format!("a.yaml {RULE}")]
    );
    // The line above changed, and it is not why.
    let image = "      image: registry.example/trainer:1";
    assert_eq!(changed(root, &diff("a.yaml", "-7 +7", "      image: registry.example/trainer:0", image)), [""; 0]);
    // A line that is gone is why.
    let limits = "        limits: {nvidia.com/gpu: 1}";
    assert_eq!(changed(root, &diff("a.yaml", "-9 +8,0", limits, "")), [format!("a.yaml {RULE}")]);
    // Of two findings that are the same, one is new.
    let half: String = guilty("a", 1).replace("name: a", "name: other");
    let added = diff("sub/b.yaml", "-10,0 +11,11", "", &format!("---\n{half}"));
    assert_eq!(changed(root, &added), [format!("sub/b.yaml {RULE}")]);
    // A new file, one that has another name now, and one whose text Git does not show.
    let new = format!(
        "diff --git a/a.yaml b/a.yaml\nnew file mode 100644\n--- /dev/null\n+++ b/a.yaml\n@@ -0,0 +1,10 @@\n{}",
        guilty("trainer", 1).lines().map(|line| format!("+{line}\n")).collect::<String>()
    );
    assert_eq!(changed(root, &new), [format!("a.yaml {RULE}")]);
    let renamed = "diff --git a/old.yaml b/a.yaml\nsimilarity index 100%\nrename from old.yaml\nrename to a.yaml\n";
    assert_eq!(changed(root, renamed), [""; 0]);
    let hidden = "diff --git a/a.yaml b/a.yaml\nindex 1..2 100644\nBinary files a/a.yaml and b/a.yaml differ\n";
    assert_eq!(changed(root, hidden), [format!("a.yaml {RULE}")]);
}

#[test]
fn a_change_elsewhere_shows_what_it_causes() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    image: registry.example/a:1\n    \
               resources: {limits: {nvidia.com/gpu: 1}}\n";
    let line = "      - {name: h100, gpu: H100, count: 8, taints: [\"nvidia.com/gpu=present:NoSchedule\"]}";
    let configuration = format!("clusters:\n  - name: prod\n    node_pools:\n{line}\n");
    let tree = directory(&[("a.yaml", pod), (".gpulint.yaml", &configuration)]);
    let change = |was: &str| diff(".gpulint.yaml", "-4 +4", was, line);
    let told = changed(tree.path(), &change("      - {name: h100, gpu: H100, count: 8}"));
    assert_eq!(told, ["a.yaml taint-not-tolerated"]);
}

#[test]
fn what_changed_since_a_revision_is_asked_of_git() {
    let tree = directory(&[("old.yaml", &guilty("old", 1)), ("edited.yaml", "a: 1\n"), (".gitignore", "out.yaml\n")]);
    let root = tree.path();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
        let run = std::process::Command::new("git").current_dir(root).args(identity).args(arguments).output();
        assert!(run.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    git(&["checkout", "-qb", "branch"]);
    // What a person has set for diffs is not asked.
    git(&["config", "diff.external", "false"]);
    git(&["config", "diff.noprefix", "true"]);
    fs::write(root.join("edited.yaml"), guilty("edited", 1)).expect("a file");
    fs::write(root.join("new \"ä\".yaml"), guilty("new", 1)).expect("a file");
    fs::write(root.join("out.yaml"), guilty("out", 1)).expect("a file");
    let since =
        |revision: &str| gpulint(root, &["check", "--format", "json", "--exit-zero", "--changed-since", revision]);
    let output = since("main");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(told(&report), [format!("edited.yaml {RULE}"), format!("new \"ä\".yaml {RULE}")]);
    for (revision, why) in [("nowhere", "git: fatal"), ("--output=old.yaml", "git: fatal")] {
        let output = gpulint(root, &["check", &format!("--changed-since={revision}")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code(&output) == 2 && said.contains(why), "{revision}: {said}");
    }
    assert_eq!(fs::read_to_string(root.join("old.yaml")).expect("a file"), guilty("old", 1));
}

#[test]
fn a_diff_of_other_files_is_refused() {
    let tree = directory(&[("a.yaml", &guilty("trainer", 1))]);
    for (diff, why) in [
        (diff("a.yaml", "-9 +9", "x", "other"), "line 9 of a.yaml is another one"),
        (diff("b.yaml", "-1 +1", "x", "y"), "b.yaml is not here"),
        ("apiVersion: v1\n".to_owned(), "not a diff"),
    ] {
        let output = fed(tree.path(), &diff);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code(&output) == 2 && told.contains(why), "{told}");
    }
}

#[test]
fn what_is_found_is_waived_where_it_stands() {
    let script = "#!/bin/bash\n#SBATCH --gpus-per-node=1\nsrun python train.py \\\n  --bf16\n";
    let inline = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    image: registry.example/a:1\n    \
                  command: [sh, -c]\n    args:\n    - |\n      pip install torch==2.5.1+cu130\n    resources: {limits: {nvidia.com/gpu: 1}}\n";
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"j\"}, \"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \
                \"registry.example/a:1\", \"resources\": {\"requests\": {\"nvidia.com/gpu\": 1}}}]}}\n";
    let own = "# ours\nfail_on: warning\n";
    let files = [
        ("a.yaml", guilty("trainer", 1)),
        ("pod.json", json.to_owned()),
        ("run.sbatch", script.to_owned()),
        ("inline.yaml", inline.to_owned()),
        (".gpulint.yaml", own.to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let tree = directory(&files);
    let root = tree.path();
    let before = report(root, &[]);
    assert!(told(&before).contains(&format!("pod.json {RULE}")), "{:?}", told(&before));
    let written = gpulint(root, &["check", "--add-ignore", "--reason", "known"]);
    assert_eq!(code(&written), 0, "{written:?}");
    let after = report(root, &[]);
    assert_eq!(told(&after), [""; 0]);
    assert_eq!(after["summary"]["waived"], told(&before).len());
    let text = |path: &str| fs::read_to_string(root.join(path)).expect("a file");
    let comment = format!("          # gpulint: ignore[{RULE}] reason=\"known\"\n          nvidia.com/gpu: 1\n");
    assert!(text("a.yaml").ends_with(&comment), "{}", text("a.yaml"));
    assert_eq!(text("pod.json"), json, "JSON has no comments");
    assert!(text(".gpulint.yaml").starts_with(own) && text(".gpulint.yaml").contains("path: \"pod.json\""));
    // Nothing is left to write.
    let again = gpulint(root, &["check", "--add-ignore"]);
    assert_eq!(out(&again), "0 comments in 0 files\n");
    // Without the comments the texts are those of before.
    for (path, before) in files.iter().filter(|(path, _)| path.ends_with(".yaml") && !path.starts_with('.')) {
        let now = text(path);
        let kept: String = now.split_inclusive('\n').filter(|line| !line.trim().starts_with("# gpulint:")).collect();
        assert_eq!(kept, *before, "{path}");
    }
}

/// Takes the comment signs from proposals, with what people fill in.
fn filled(configuration: &str) -> String {
    let proposal = |line: &str| {
        line.strip_prefix("# ").is_some_and(|rest| rest.starts_with([' ', 'c', 'e', 'i']) && rest.contains([':', '-']))
    };
    let key = |line: &str| {
        ["# clusters:", "# exclude:", "# ignore:", "#   - ", "#     ", "#       "]
            .iter()
            .any(|key| line.starts_with(key))
    };
    let taken = configuration.lines().map(|line| if proposal(line) && key(line) { &line[2..] } else { line });
    taken.collect::<Vec<_>>().join("\n").replace("VERSION", "550.54.15").replace("NAME", "H100") + "\n"
}

#[test]
fn a_first_configuration_changes_nothing_and_proposes_what_helps() {
    let serves = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat}\nspec:\n  selector: {matchLabels: {app: chat}}\n  template:\n    metadata: {labels: {app: chat}}\n    \
                  spec:\n      containers:\n      - name: vllm\n        image: vllm/vllm-openai:v0.8.5\n        args: [--model, meta-llama/Llama-3.1-70B-Instruct]\n        \
                  resources: {limits: {nvidia.com/gpu: 2}}\n";
    let pool = "resource \"aws_eks_cluster\" \"main\" {\n  name = \"prod: one\"\n}\n";
    let tree = directory(&[
        (".git/HEAD", ""),
        ("k8s/chat.yaml", serves),
        ("infra/main.tf", pool),
        ("examples/a.yaml", &guilty("trainer", 1)),
    ]);
    let root = tree.path();
    let before = told(&report(root, &[]));
    let shown = out(&gpulint(root, &["init", "--stdout"]));
    assert!(!root.join(".gpulint.yaml").exists());
    let written = gpulint(root, &["init"]);
    assert!(code(&written) == 0 && out(&written).starts_with("wrote .gpulint.yaml\n"), "{written:?}");
    let text = fs::read_to_string(root.join(".gpulint.yaml")).expect("a configuration");
    assert_eq!(text, shown);
    assert_eq!(told(&report(root, &[])), before);
    for proposed in ["#   - name: \"prod: one\" # infra/main.tf:1\n", "#   - /examples/ # 1 findings\n", "#   vram: "] {
        assert!(text.contains(proposed), "{proposed}: {text}");
    }
    // What is proposed is a configuration, too.
    write(root, ".gpulint.yaml", &filled(&text));
    let run = gpulint(root, &["check", "--quiet"]);
    assert!(code(&run) != 2, "{}{}", String::from_utf8_lossy(&run.stderr), filled(&text));
    assert!(filled(&text).contains("\nclusters:\n  - name: \"prod: one\""), "{}", filled(&text));
    // One that is there stays, unless somebody says otherwise.
    let refused = gpulint(root, &["init"]);
    assert!(code(&refused) == 2 && String::from_utf8_lossy(&refused.stderr).contains("--force"), "{refused:?}");
    assert_eq!(code(&gpulint(root, &["init", "--force"])), 0);
    assert_eq!(fs::read_to_string(root.join(".gpulint.yaml")).expect("a configuration"), shown);
    // Further down it goes on from there.
    assert_eq!(code(&gpulint(root, &["init", "k8s"])), 0);
    assert!(fs::read_to_string(root.join("k8s/.gpulint.yaml")).expect("one").contains("extends: ../.gpulint.yaml\n"));
    assert_eq!(told(&report(root, &[])), before);
}

#[test]
fn what_no_comment_can_waive_is_waived_by_the_nearest_configuration() {
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"j\"}, \"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \
                \"registry.example/a:1\", \"resources\": {\"requests\": {\"nvidia.com/gpu\": 1}}}]}}\n";
    let tree = directory(&[
        (".git/HEAD", ""),
        ("pod.json", json),
        ("team/.gpulint.yaml", "fail_on: error\n"),
        ("team/pod.json", json),
    ]);
    let root = tree.path();
    assert_eq!(told(&report(root, &[])), [format!("pod.json {RULE}"), format!("team/pod.json {RULE}")]);
    let written = gpulint(root, &["check", "--add-ignore", "--reason", "known"]);
    assert_eq!(code(&written), 0, "{written:?}");
    assert_eq!(told(&report(root, &[])), [""; 0]);
    let text = fs::read_to_string(root.join("team/.gpulint.yaml")).expect("a configuration");
    assert!(text.contains("path: \"pod.json\"") || text.contains("path: pod.json"), "{text}");
}
