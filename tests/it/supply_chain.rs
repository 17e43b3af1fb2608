//! What gpulint is built from: crates of the public registry, under licences that its own allow.

use serde_json::Value;
use std::process::Command;

/// Licences of dependencies, each of which lets gpulint be distributed under its own.
const LICENCES: &[&str] =
    &["0BSD", "Apache-2.0", "BSD-2-Clause", "BSL-1.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Unlicense", "Zlib"];

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
fn allowed(licence: &str) -> bool {
    let words = |all: &str| all.replace(['(', ')'], " ").replace(" WITH LLVM-exception", "");
    words(licence)
        .replace('/', " OR ")
        .split(" OR ")
        .any(|one| one.split(" AND ").all(|name| LICENCES.contains(&name.trim())))
}

#[test]
fn dependencies_come_from_the_registry_under_known_licences() {
    let packages = packages();
    assert!(packages.len() > 50, "{}", packages.len());
    for package in packages.iter().filter(|package| package["name"] != "gpulint") {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        assert_eq!(package["source"], "registry+https://github.com/rust-lang/crates.io-index", "{name}");
        assert!(allowed(licence), "{name}: {licence}");
    }
    assert!(!allowed("GPL-3.0-only") && !allowed("MIT AND GPL-3.0-only") && allowed("MIT OR LGPL-2.1-or-later"));
}
