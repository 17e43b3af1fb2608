//! Bad input through the binary: each bad file is a finding or a said skip, every good file beside it is still
//! linted, nothing crashes and nothing raw reaches the terminal.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// An autoscaler that can never scale; gpulint finds exactly this in every good file.
const GOOD: &str = "\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: server}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: server}
  maxReplicas: 10
  metrics:
    - type: Resource
      resource: {name: nvidia.com/gpu, target: {type: Utilization, averageUtilization: 70}}
";
const RULE: &str = "hpa-resource-metric-unsupported";

fn gpulint(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(arguments)
        .current_dir(directory)
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("gpulint runs")
}

/// Writes the bad file between two good ones, lints the directory, and checks what holds for any input.
fn lint(name: &str, bytes: &[u8]) -> Value {
    let directory = TempDir::new().expect("a directory");
    for good in ["a-good.yaml", "z-good.yaml"] {
        fs::write(directory.path().join(good), GOOD).expect("a file");
    }
    fs::write(directory.path().join(name), bytes).expect("a file");
    lint_directory(directory.path())
}

fn lint_directory(directory: &Path) -> Value {
    let output = gpulint(directory, &["check", "--format", "json"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    assert_no_raw_controls(&output.stdout);
    let human = gpulint(directory, &["check", "--show-unknown"]);
    assert_eq!(human.status.code(), Some(1));
    assert_no_raw_controls(&human.stdout);
    assert_no_raw_controls(&human.stderr);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    for good in ["a-good.yaml", "z-good.yaml"] {
        assert!(found(&report, good).contains(&RULE.to_owned()), "{good} was not linted: {report}");
    }
    report
}

/// Output that is not coloured holds lines of printable text only: no escape code, no bidirectional control.
fn assert_no_raw_controls(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let raw = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if let Some(at) = text.find(raw) {
        let from = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let line = text[from..].lines().next().unwrap_or_default();
        panic!("a raw control character in {:?}", &line[..line.len().min(at - from)]);
    }
}

/// Rules found in a file.
fn found(report: &Value, path: &str) -> Vec<String> {
    let diagnostics = report["diagnostics"].as_array().expect("diagnostics").iter();
    let here = diagnostics.filter(|d| d["path"].as_str().is_some_and(|p| p.ends_with(path)));
    here.map(|d| d["rule"].as_str().expect("a rule").to_owned()).collect()
}

/// Why a file was skipped.
fn skipped(report: &Value, path: &str) -> Option<String> {
    let skipped = report["files"]["skipped"].as_array().expect("skipped").iter();
    let mut here = skipped.filter(|s| s["path"].as_str().is_some_and(|p| p.ends_with(path)));
    here.next().map(|s| s["reason"].as_str().expect("a reason").to_owned())
}

fn assert_syntax_error(name: &str, bytes: &[u8]) -> Value {
    let report = lint(name, bytes);
    assert!(found(&report, name).contains(&"syntax-error".to_owned()), "{name}: {report}");
    report
}

fn assert_skipped(name: &str, bytes: &[u8], reason: &str) {
    let report = lint(name, bytes);
    let said = skipped(&report, name).unwrap_or_else(|| panic!("{name} was not skipped: {report}"));
    assert!(said.contains(reason), "{said}");
}

#[test]
fn documents_after_a_broken_one_are_linted() {
    let report = assert_syntax_error("bad.yaml", format!("a: [1, 2\nb: }}\n---\n{GOOD}").as_bytes());
    assert!(found(&report, "bad.yaml").contains(&RULE.to_owned()), "{report}");
}

#[test]
fn bytes_that_are_not_text_are_said_to_be_skipped() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    })
    .take(100_000)
    .collect();
    for name in ["noise.yaml", "noise.json", "Dockerfile", "noise.tf", "requirements.txt", "noise.sh", "pyproject.toml"]
    {
        assert_skipped(name, &noise, "not UTF-8");
    }
}

#[test]
fn utf_16_is_said_to_be_skipped() {
    let bytes: Vec<u8> = std::iter::once(0xfeff).chain(GOOD.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_skipped("bad.yaml", &bytes, "UTF-16");
    assert_eq!(found(&lint("bad.yaml", &bytes), "bad.yaml"), ["file-not-linted"]);
}

#[test]
fn a_file_that_no_tool_applies_is_skipped_without_a_finding() {
    let bytes: Vec<u8> = "{\"words\": 1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_skipped("data.json", &bytes, "UTF-16");
    assert!(found(&lint("data.json", &bytes), "data.json").is_empty());
}

#[test]
fn a_comment_in_another_encoding_hides_no_instruction() {
    let report = lint(
        "Dockerfile",
        b"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n# caf\xe9\nRUN pip install torch==1.13.1+cu116\n",
    );
    assert!(found(&report, "Dockerfile").contains(&"local-version-not-on-pypi".to_owned()), "{report}");
}

#[test]
fn an_empty_file_is_no_fault() {
    for name in ["empty.yaml", "empty.tf", "Dockerfile", "requirements.txt", "empty.sh", "pyproject.toml"] {
        assert_eq!(found(&lint(name, b""), name), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn deep_nesting_is_a_finding() {
    for (name, open) in [("deep.yaml", "["), ("deep.yaml", "{a: "), ("deep.json", "["), ("deep.json", "{\"a\":")] {
        assert_skipped(name, open.repeat(200_000).as_bytes(), "not valid");
    }
    for open in ["[", "{a: "] {
        assert_syntax_error(
            "deep.yaml",
            format!("apiVersion: v1\nkind: Pod\nspec: {}", open.repeat(200_000)).as_bytes(),
        );
    }
    assert_syntax_error("deep.tf", format!("a = {}", "[".repeat(200_000)).as_bytes());
    assert_syntax_error("deep.tf", "a {\n".repeat(200_000).as_bytes());
    lint("pyproject.toml", format!("a = {}", "[".repeat(200_000)).as_bytes());
    lint("Dockerfile", format!("FROM a\nRUN {}", "$(".repeat(200_000)).as_bytes());
    lint("deep.sh", "$(".repeat(200_000).as_bytes());
}

#[test]
fn an_alias_bomb_is_read_in_bounded_time() {
    let mut bomb = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for i in 1..40 {
        let refs = vec![format!("*a{}", i - 1); 9].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
    }
    bomb.push_str("kind: Deployment\napiVersion: apps/v1\nmetadata: {name: x}\nspec: *a39\n");
    let report = lint("bomb.yaml", bomb.as_bytes());
    assert_eq!(report["files"]["linted"], 3);
}

#[test]
fn a_very_long_line_is_read() {
    let long = "x".repeat(6 << 20);
    let bad = format!("{GOOD}---\nkind: ConfigMap\ndata: {{a: {long}}}\n");
    assert!(found(&lint("long.yaml", bad.as_bytes()), "long.yaml").contains(&RULE.to_owned()));
    for name in ["long.tf", "Dockerfile", "requirements.txt", "long.sh"] {
        lint(name, long.as_bytes());
    }
}

#[test]
fn a_file_above_the_limit_is_said_to_be_skipped() {
    assert_skipped("large.yaml", "# x\n".repeat(3 << 20).as_bytes(), "too large");
}

#[test]
fn unclosed_syntax_is_a_finding() {
    lint("Dockerfile", b"FROM ubuntu:24.04\nRUN <<EOF\necho no end\n");
    assert_syntax_error("main.tf", b"resource \"aws_instance\" \"a\" {\n  ami = \"x\"\n");
    assert_syntax_error("bad.json", b"{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\"");
    assert_syntax_error("bad.yaml", b"apiVersion: v1\nkind: \"no end\n");
    lint("pyproject.toml", b"[project\nname = 1\n");
}

#[test]
fn a_block_after_an_unreadable_one_is_still_read() {
    let text = "resource \"aws_x\" \"a\" {\n  = = =\n}\n\nresource \"aws_kms_key\" \"k\" {\n  description = \"k\"\n}\n";
    assert_syntax_error("main.tf", text.as_bytes());
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("main.tf"), text).expect("a file");
    let facts = gpulint(directory.path(), &["facts", "."]);
    assert!(String::from_utf8_lossy(&facts.stdout).contains("aws_kms_key"), "the second block is lost");
}

#[test]
fn links_in_a_circle_or_outwards_are_said_to_be_skipped() {
    let outside = TempDir::new().expect("a directory");
    fs::write(outside.path().join("secret.yaml"), GOOD).expect("a file");
    let directory = TempDir::new().expect("a directory");
    let root = directory.path();
    fs::create_dir(root.join("sub")).expect("a directory");
    for good in ["a-good.yaml", "sub/z-good.yaml"] {
        fs::write(root.join(good), GOOD).expect("a file");
    }
    std::os::unix::fs::symlink("..", root.join("sub/up")).expect("a link");
    std::os::unix::fs::symlink("self.yaml", root.join("self.yaml")).expect("a link");
    std::os::unix::fs::symlink(outside.path(), root.join("out")).expect("a link");
    let report = lint_directory(root);
    for path in ["sub/up", "self.yaml", "out"] {
        assert!(skipped(&report, path).is_some(), "{path}: {report}");
    }
    assert_eq!(found(&report, "secret.yaml"), Vec::<String>::new());
}

#[test]
fn names_and_values_cannot_reach_the_terminal_raw() {
    let evil = "x\u{1b}[31m\u{202e}gpj\u{2066}\u{200f}\u{7}";
    let text = GOOD.replace("nvidia.com/gpu", &format!("\"{evil}/gpu\""));
    // YAML forbids the escape and the bell, so the first is a syntax error and the second shows the value.
    assert_syntax_error(&format!("{evil}.yaml"), text.as_bytes());
    let escaped = GOOD.replace("nvidia.com/gpu", "\"x\\e[31m\\u202Egpj\\a/gpu\"");
    assert!(found(&lint("escaped.yaml", escaped.as_bytes()), "escaped.yaml").contains(&RULE.to_owned()));
    lint("Dockerfile", format!("FROM {evil}\nRUN pip install {evil}\n{evil}\n").as_bytes());
    lint("main.tf", format!("resource \"a\" \"{evil}\" {{ x = \"{evil}\" }}\n{evil}\n").as_bytes());
    lint("requirements.txt", format!("torch=={evil}\n{evil}\n").as_bytes());
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = serialised_examples();
    for (directory, paths) in [(root, vec!["fixtures", "rules"]), (rules.path(), vec!["."])] {
        let run = |jobs: &str| {
            let mut arguments = vec!["check", "--format", "json", "--exit-zero", "--show-unknown", "--jobs", jobs];
            arguments.extend(&paths);
            let output = gpulint(directory, &arguments);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        let one = run("1");
        assert!(one.len() > 1_000);
        for _ in 0..3 {
            assert!(one == run("8"), "{paths:?} differ between 1 and 8 threads");
        }
    }
}

/// Every example of every rule as files, each example in a directory of its own.
fn serialised_examples() -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for entry in gpulint::rules::Ruleset::builtin().entries() {
        for (i, example) in entry.page().examples.iter().enumerate() {
            for (path, text) in &example.files {
                let file = directory.path().join(entry.id.as_ref()).join(i.to_string()).join(path);
                fs::create_dir_all(file.parent().expect("a parent")).expect("directories");
                fs::write(file, text.replace(['‹', '›'], "")).expect("a file");
            }
        }
    }
    directory
}

/// A list whose items are not known is one item that is not known, which was gone into for ever.
#[test]
fn an_unknown_list_of_lists_comes_to_an_end() {
    let directory = TempDir::new().expect("a directory");
    let job = "default:\n  image:\n  vllm ${{ a }} y:  \n";
    fs::write(directory.path().join(".gitlab-ci.yml"), job).expect("written");
    let output = gpulint(directory.path(), &["check", "--allow-empty"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
