//! Failures that people reported (`fixtures/cases`): what is told stays told, and is gone with the mend.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The rules that speak in a folder, with the file of each finding.
fn findings(folder: &Path) -> BTreeSet<(String, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(["check", "--isolated", "--allow-empty", "--format", "json", "--exit-zero", "."])
        .current_dir(folder)
        .output()
        .expect("gpulint runs");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = report["diagnostics"].as_array().expect("diagnostics").iter();
    findings.map(|finding| (text(finding, "rule"), text(finding, "path"))).collect()
}

#[test]
fn reported_failures_that_are_told_stay_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let told = fs::read_to_string(root.join("told.csv")).expect("told.csv");
    let mut lost = Vec::new();
    for line in told.lines().skip(1) {
        let (case, rule) = line.split_once(',').expect("case,rule");
        let speaks = |side: &str| findings(&root.join(case).join(side)).iter().any(|(found, _)| found == rule);
        match (speaks("bad"), speaks("good")) {
            (true, false) => {}
            (false, _) => lost.push(format!("{case}: {rule} is silent")),
            (true, true) => lost.push(format!("{case}: {rule} does not see the mend")),
        }
    }
    assert!(told.lines().count() > 20 && lost.is_empty(), "{}", lost.join("\n"));
}
