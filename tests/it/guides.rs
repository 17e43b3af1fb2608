//! What buyers' guides to GPU servers tell people to write, and what gpulint says to it.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Folders of `fixtures/guides` and the rules that must fire there.
const WRONG: &[(&str, &[&str])] = &[
    ("base-image-without-pins", &["framework-not-pinned"]),
    ("driver-in-image", &["driver-installer-in-image", "apt-key-deprecated"]),
    ("hpa-on-gpu-resource", &["hpa-resource-metric-unsupported", "gpu-rollout-needs-surge"]),
    ("malformed-key", &["kms-key-reference-malformed"]),
    ("priority-class-broken", &["syntax-error"]),
    ("scaling-on-cpu", &["gpu-scaled-on-cpu-policy"]),
];

/// Folders in which nothing is an error.
const CLEAN: &[&str] = &["priority-class", "stacks/enterprise", "stacks/research", "stacks/start-up"];

/// The JSON report of `gpulint check` in a folder, which may have a configuration of its own.
fn check(folder: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(["check", "--format", "json", "--exit-zero", "--allow-empty", "."])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guides").join(folder))
        .output()
        .expect("gpulint runs");
    assert!(output.status.success(), "{folder}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a JSON report")
}

fn rules(report: &Value, severity: Option<&str>) -> BTreeSet<String> {
    let diagnostics = report["diagnostics"].as_array().expect("diagnostics").iter();
    let wanted = diagnostics.filter(|d| severity.is_none_or(|s| d["severity"] == s));
    wanted.map(|d| d["rule"].as_str().expect("a rule").to_owned()).collect()
}

#[test]
fn wrong_advice_is_found() {
    for (folder, wanted) in WRONG {
        let found = rules(&check(folder), None);
        for rule in *wanted {
            assert!(found.contains(*rule), "{folder}: {rule} is missing, found {found:?}");
        }
    }
}

#[test]
fn sound_deployments_have_no_error() {
    for folder in CLEAN {
        let report = check(folder);
        assert_eq!(rules(&report, Some("error")), BTreeSet::new(), "{folder}: {}", report["diagnostics"]);
        assert_eq!(report["files"]["seen"], report["files"]["linted"], "{folder}");
    }
}

#[test]
fn four_processors_and_sixteen_gigabytes_per_gpu_are_few() {
    let found = rules(&check("stacks/start-up"), Some("info"));
    assert!(found.contains("gpu-machine-with-little-host"), "found {found:?}");
}

/// The folders in a folder.
fn names(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).expect("a directory").filter_map(Result::ok);
    entries.filter(|e| e.path().is_dir()).map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

/// A row of the guides has one folder per cloud or format, whose `expected.txt` says what is told there: `rule path:line`.
/// Of what is innocent nothing else is told. What is owed (`rows.csv`) is not asked for.
#[test]
fn rows_are_told_on_every_cloud() {
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guides/rows");
    for row in names(&rows) {
        for variant in names(&rows.join(&row)) {
            let folder = format!("rows/{row}/{variant}");
            let expected = std::fs::read_to_string(rows.join(&row).join(&variant).join("expected.txt"));
            let wanted: BTreeSet<String> = expected.expect(&folder).lines().map(str::to_owned).collect();
            let report = check(&folder);
            let root = format!("fixtures/guides/{folder}/");
            let path = |d: &Value| d["path"].as_str().expect("a path").replace(&root, "").replace("./", "");
            let place = |d: &Value| format!("{}:{}", path(d), d["range"]["start"]["line"]);
            let line = |d: &Value| format!("{} {}", d["rule"].as_str().expect("a rule"), place(d));
            let found: BTreeSet<String> = report["diagnostics"].as_array().expect("a list").iter().map(line).collect();
            assert!(wanted.is_subset(&found), "{folder}: wanted {wanted:?}, found {found:?}");
            assert!(!variant.starts_with("innocent") || found == wanted, "{folder}: found {found:?}");
        }
    }
}

#[test]
fn every_folder_is_expected() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guides");
    let mut found = names(&guides);
    found.remove("rows");
    found.remove("stacks");
    found.extend(names(&guides.join("stacks")).into_iter().map(|n| format!("stacks/{n}")));
    let expected: BTreeSet<String> =
        WRONG.iter().map(|(folder, _)| *folder).chain(CLEAN.iter().copied()).map(str::to_owned).collect();
    assert_eq!(found, expected);
}
