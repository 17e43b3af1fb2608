//! Pages that are written from the code and the rules.

use std::path::Path;
use std::process::Command;

/// `docs/rules.md` says what the rule files say. Rewrite it with
/// `cargo run -- rules --format markdown > docs/rules.md`.
#[test]
fn the_page_of_rules_is_current() {
    is_current(&["rules", "--format", "markdown"], "docs/rules.md");
}

/// `docs/language.md` says what facts, words and functions say of themselves. Rewrite it with
/// `cargo run -- rules --format language > docs/language.md`.
#[test]
fn the_reference_of_the_rule_language_is_current() {
    is_current(&["rules", "--format", "language"], "docs/language.md");
}

/// `docs/formats.md` says what the formats say of themselves. Rewrite it with `cargo run -- formats > docs/formats.md`.
#[test]
fn the_page_of_formats_is_current() {
    is_current(&["formats"], "docs/formats.md");
}

/// `docs/kinds.md` says what the packed schemas hold. Rewrite it with `cargo run -- kinds > docs/kinds.md`.
#[test]
fn the_page_of_kinds_is_current() {
    is_current(&["kinds"], "docs/kinds.md");
}

fn is_current(arguments: &[&str], name: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).output();
    let written = String::from_utf8(output.expect("gpulint runs").stdout).expect("UTF-8");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let kept = std::fs::read_to_string(page).unwrap_or_default();
    let differing = written.lines().zip(kept.lines()).position(|(new, old)| new != old);
    assert!(written == kept, "{name} is not current, first at line {:?}", differing.map(|line| line + 1));
}
