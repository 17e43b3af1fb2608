//! What gpulint is built from: crates of the public registry, under licences that its own allow.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// A list of `deny.toml`.
fn policy(table: &[&str], key: &str) -> BTreeSet<String> {
    let file: toml::Table = include_str!("../../deny.toml").parse().expect("TOML");
    let table = table.iter().fold(&file, |table, name| table[*name].as_table().expect("a table"));
    let words = table[key].as_array().expect("a list").iter();
    words.map(|word| word.as_str().expect("a word").to_owned()).collect()
}

fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let arguments = [
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--manifest-path",
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    ];
    let output = Command::new(cargo).args(arguments).output().expect("cargo runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["packages"].as_array().expect("packages").clone()
}

/// Whether one of the alternatives of an expression is allowed as a whole. `/` is an older way to write `OR`.
fn allowed(licence: &str, licences: &BTreeSet<String>) -> bool {
    let words = |all: &str| all.replace(['(', ')'], " ").replace(" WITH LLVM-exception", "");
    words(licence)
        .replace('/', " OR ")
        .split(" OR ")
        .any(|one| one.split(" AND ").all(|name| licences.contains(name.trim())))
}

#[test]
fn dependencies_come_from_the_registry_under_known_licences() {
    let packages = packages();
    assert!(packages.len() > 50, "{}", packages.len());
    let licences = policy(&["licenses"], "allow");
    for package in packages.iter().filter(|package| package["name"] != "gpulint") {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        assert_eq!(package["source"], "registry+https://github.com/rust-lang/crates.io-index", "{name}");
        assert!(allowed(licence, &licences), "{name}: {licence}");
    }
    let allowed = |licence| allowed(licence, &licences);
    assert!(!allowed("GPL-3.0-only") && !allowed("MIT AND GPL-3.0-only") && allowed("MIT OR LGPL-2.1-or-later"));
}

#[test]
fn only_known_crates_run_code_while_gpulint_is_built() {
    let runs = |package: &&Value| package["targets"].to_string().contains("\"custom-build\"");
    let packages = packages();
    let found: BTreeSet<String> = packages
        .iter()
        .filter(|package| package["name"] != "gpulint")
        .filter(runs)
        .map(|package| package["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(found, policy(&["bans", "build"], "allow-build-scripts"));
}
