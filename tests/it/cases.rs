//! Failures that people reported (`fixtures/cases`): what is told stays told, and is gone with the mend.

use gpulint::discover::{self, MAX_BYTES, Options};
use gpulint::facts::Facts;
use gpulint::lint::{self, Input};
use gpulint::rules::Ruleset;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rules that speak in a folder.
fn rules_that_speak(folder: &Path, rules: &Ruleset) -> BTreeSet<String> {
    let found = discover::discover(&[PathBuf::from(".")], &Options::new(folder)).expect("no bad pattern").found;
    let read = |file: discover::Found| {
        Some(Input { text: file.read(MAX_BYTES).ok()?, path: file.path, kind: file.kind, repository: 0 })
    };
    let inputs = found.into_iter().filter_map(read).collect();
    let outcome = lint::run(inputs, Facts::default(), Vec::new(), rules);
    outcome.evaluation.findings.into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn reported_failures_that_are_told_stay_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let told = fs::read_to_string(root.join("told.csv")).expect("told.csv");
    let rules = Ruleset::builtin();
    let mut lost = Vec::new();
    for line in told.lines().skip(1) {
        let (case, rule) = line.split_once(',').expect("case,rule");
        let speaks = |side: &str| rules_that_speak(&root.join(case).join(side), &rules).contains(rule);
        match (speaks("bad"), speaks("good")) {
            (true, false) => {}
            (false, _) => lost.push(format!("{case}: {rule} is silent")),
            (true, true) => lost.push(format!("{case}: {rule} does not see the mend")),
        }
    }
    assert!(told.lines().count() > 20 && lost.is_empty(), "{}", lost.join("\n"));
}
