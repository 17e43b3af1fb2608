//! Text that does not parse: an error in a file that a tool reads, a skip with its reason in any other, and a help
//! that says what of the file was linted.

use serde_json::Value;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

fn report(files: &[(&str, &str)]) -> Value {
    let directory = TempDir::new().expect("a directory");
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(["check", "--format", "json", "--exit-zero"])
        .current_dir(directory.path())
        .output()
        .expect("gpulint runs");
    serde_json::from_slice(&output.stdout).expect("a JSON report")
}

/// Help and message of the findings of a rule.
fn told(report: &Value, rule: &str) -> Vec<(String, String)> {
    let found = report["diagnostics"].as_array().expect("diagnostics").iter().filter(|d| d["rule"] == rule);
    let text = |d: &Value, key: &str| d[key].as_str().unwrap_or_default().to_owned();
    found.map(|d| (text(d, "help"), text(d, "message"))).collect()
}

fn skipped(report: &Value) -> Vec<String> {
    let skipped = report["files"]["skipped"].as_array().expect("skipped").iter();
    skipped
        .map(|s| format!("{}: {}", s["path"].as_str().expect("a path"), s["reason"].as_str().expect("why")))
        .collect()
}

const REST: &str = "the rest of the file was linted";
const OTHERS: &str = "others of the file were";
const NOTHING: &str = "nothing in this file is linted";

#[test]
fn a_broken_file_of_ours_is_an_error_that_says_what_was_linted() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
    let broken_pod = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: x\n   image: y\n";
    let both = format!("{pod}---\n{broken_pod}");
    let cases: &[(&str, &str, &str)] = &[
        // Known by its content, though it was read in part.
        ("x.yaml", broken_pod, NOTHING),
        ("x.yaml", &both, OTHERS),
        ("x.yaml", "apiVersion: v1\n    kind: Pod\n", NOTHING),
        ("x.yaml", "services:\n  a:\n    image: b\n   ports: [80]\n", NOTHING),
        ("x.yaml", "Resources:\n  A:\n    Type: AWS::EC2::Instance\n   Properties: {}\n", NOTHING),
        ("x.yaml", "apiVersion: v1\nkind: Pod\nspec: *base\n", REST),
        ("x.json", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {", NOTHING),
        ("task.json", "{\"family\": \"a\", \"containerDefinitions\": [{\"image\": \"b\"},, {}]}", NOTHING),
        // Somebody speaks to gpulint in it.
        ("x.yaml", "# gpulint: ignore-file[gpulint]\na: [\n", NOTHING),
        // Known by its name.
        ("docker-compose.yml", "a: [\n", NOTHING),
        ("kustomization.yaml", "resources: [a\n", NOTHING),
        ("a/Chart.yaml", "name: [a\n", NOTHING),
        ("a/values.yaml", "image: {a\n", NOTHING),
        ("environment.yml", "dependencies: [a\n", NOTHING),
        ("Pipfile.lock", "{\"default\": {\"a\": {\"version\" \"1\"}}}", NOTHING),
        ("main.tf.json", "{\"resource\": {", NOTHING),
        ("main.tf", "resource \"a\" \"b\" {\n  c = = 1\n}\n", NOTHING),
        ("main.tf", "resource \"a\" \"b\" {\n  c = = 1\n}\nlocals {\n  d = 1\n}\n", REST),
        ("a.tfvars", "a = = 1\n", NOTHING),
        ("Dockerfile", "apiVersion: v1\nkind: Pod\n", NOTHING),
        ("Dockerfile", "FROM a\nRUNN b\n", REST),
        ("requirements.txt", "pip install torch==2.0\n", NOTHING),
        ("requirements.txt", "torch==2.0\n-----\n!!\n", REST),
        ("pyproject.toml", "[project\n", NOTHING),
        ("pyproject.toml", "[project]\ndependencies = [\"torch==2.0\"]\nname = = 1\n", REST),
    ];
    for (path, text, help) in cases {
        let report = report(&[(path, text)]);
        let found = told(&report, "syntax-error");
        assert!(found.first().is_some_and(|(said, _)| said.contains(help)), "{path}: {text}\n{found:?}");
        assert!(skipped(&report).is_empty(), "{path}: {report}");
    }
}

#[test]
fn a_broken_file_of_another_tool_is_skipped_with_the_reason() {
    let cases: &[(&str, &str)] = &[
        ("logging.yml", "dimensions:\n  - *hostname\n"),
        ("kep.yaml", "title: a\nowner: @somebody\n"),
        ("samples/bad.yaml", "this is not valid yaml: [\n  unclosed bracket\n"),
        (".github/workflows/ci.yml", "on: push\njobs:\n  a:\n    steps:\n    - run: |\n        a\nEOF\n"),
        ("results.json", "{\"loss\": 1.0,, \"step\": 2}"),
        ("deep.json", &"[".repeat(10_000)),
    ];
    for (path, text) in cases {
        let report = report(&[(path, text)]);
        assert_eq!(told(&report, "syntax-error"), [], "{path}");
        let said = skipped(&report);
        assert!(matches!(&said[..], [one] if one.starts_with(path) && one.contains("(line ")), "{path}: {said:?}");
        assert_eq!(report["files"]["linted"], 0, "{path}");
    }
}

#[test]
fn several_parts_in_one_message_are_no_broken_document() {
    let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\n\n---\napiVersion: v1\nkind: NodeConfig\n--B--\n";
    let report = report(&[("config.yaml", text)]);
    assert_eq!(told(&report, "syntax-error"), [], "{report}");
    assert!(skipped(&report)[0].contains("MIME"), "{report}");
}

/// Scripts have no errors of syntax to tell: what is run of them is read line by line.
#[test]
fn a_script_is_never_a_syntax_error() {
    let report = report(&[("train.sh", "if [ x; then\n  echo 'a\nfi ((\n"), ("job.slurm", "#SBATCH --gres=\n<<EOF\n")]);
    assert_eq!((told(&report, "syntax-error"), skipped(&report)), (vec![], vec![]));
}

#[test]
fn broken_templates_and_kustomizations_are_told_by_their_own_rules() {
    let chart = [
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/values.yaml", "a: 1\n"),
        ("c/templates/a.yaml", "kind: {{ if }}\n"),
    ];
    let report = report(&chart);
    assert_eq!((told(&report, "syntax-error").len(), told(&report, "template-error").len()), (0, 1), "{report}");
}

#[test]
fn a_text_that_a_program_formats_is_read_around_its_placeholders() {
    let pod = |image: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: %s}}\nspec:\n  containers:\n    - name: a\n      image: {image}\n      resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
        )
    };
    for image in ["%s", "{docker_username}/iris:v1"] {
        let text = pod(image).replace("{name: %s}", "\n  name: %s");
        let report = report(&[("pod.yaml", &text)]);
        assert_eq!(told(&report, "syntax-error"), [], "{report}");
        assert_eq!(report["files"]["linted"], 1, "{report}");
    }
}

#[test]
fn a_key_written_twice_is_told_by_what_its_reader_makes_of_it() {
    let deployment = |again: &str| format!("apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1\n  {again}\n");
    let (other, same) = (deployment("replicas: 2"), deployment("replicas: 1"));
    type Told = Option<(&'static str, &'static str)>;
    let cases: &[(&str, &str, Told)] = &[
        ("x.yaml", &other, Some(("warning", "kubectl keeps the last one"))),
        ("x.yaml", &same, Some(("info", "kustomize refuses the file"))),
        ("compose.yaml", "services:\n  a:\n    image: b\n    image: b\n", Some(("warning", "Docker Compose refuses"))),
        ("kustomization.yaml", "resources: [a]\nresources: [b]\n", Some(("warning", "kustomize keeps the last one"))),
        ("kustomization.yaml", "namespace: a\nnamespace: a\n", None),
        ("c/values.yaml", "gpu: {a: 1}\ngpu: {a: 2}\n", Some(("warning", "most readers keep the last one"))),
        ("c/values.yaml", "gpu: {a: 1}\ngpu: {a: 1}\n", None),
        ("hosts.yaml", "x.x.x.x: {port: 1}\nx.x.x.x: {port: 2}\n", None),
        ("hosts.yaml", "<ip>: {port: 1}\n<ip>: {port: 2}\n", None),
        ("hosts.yaml", "...: {port: 1}\n...: {port: 2}\n", None),
        ("hosts.yaml", "10.0.0.1: {port: 1}\n10.0.0.1: {port: 2}\n", Some(("info", "most readers keep the last one"))),
        ("hosts.yaml", "x: 1\nx: 2\n", Some(("info", "most readers keep the last one"))),
        ("vocabulary.json", "{\"?\": 1, \"\u{7f}\": 2}", None),
        ("vocabulary.json", "{\"a\": 1, \"a\": 2}", Some(("info", "readers of JSON keep the last one"))),
        ("vocabulary.json", "{\"a\": 1, \"a\": 1}", None),
        ("model_config.yaml", "--lr: 0.1\n--lr: 0.2\n", Some(("info", "most readers keep the last one"))),
    ];
    for (path, text, wanted) in cases {
        let report = report(&[(path, text)]);
        let found = told(&report, "duplicate-key");
        let severity = report["diagnostics"].as_array().and_then(|all| {
            let own = all.iter().find(|d| d["rule"] == "duplicate-key")?;
            own["severity"].as_str().map(str::to_owned)
        });
        match wanted {
            None => assert_eq!(found, [], "{path}: {text}"),
            Some((level, message)) => {
                assert_eq!((found.len(), severity.as_deref()), (1, Some(*level)), "{path}: {text}\n{found:?}");
                assert!(found[0].1.contains(message), "{path}: {found:?}");
            }
        }
    }
}
