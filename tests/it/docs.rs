//! Pages that are written from the code and the rules.

use crate::cli::{directory, gpulint, out};
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

/// The commands of `docs/writing-rules.md` print what the page says, on the files that it shows, in the order in which they stand
/// there. A file begins with a comment that names it; `…` stands for what the page leaves out.
#[test]
fn the_commands_of_the_page_for_authors_do_what_it_says() {
    let root = directory(&[]);
    let mut printed = String::new();
    let mut commands = 0;
    for (language, text) in blocks(include_str!("../../docs/writing-rules.md")) {
        match language {
            "yaml" => {
                let name = text.lines().next().and_then(|line| line.strip_prefix("# ")).expect("the name of a file");
                let path = root.path().join(name);
                std::fs::create_dir_all(path.parent().expect("below the root")).expect("directories are made");
                std::fs::write(path, text).expect("it is written");
            }
            "sh" => {
                for line in text.lines() {
                    let mut words = line.split(' ');
                    assert_eq!(words.next(), Some("gpulint"));
                    let output = gpulint(root.path(), &words.collect::<Vec<_>>());
                    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
                    printed = out(&output);
                    commands += 1;
                }
            }
            "text" => {
                let mut rest = printed.as_str();
                for part in text.split("…\n") {
                    let at = rest.find(part).unwrap_or_else(|| panic!("not printed:\n{part}\nbut:\n{printed}"));
                    rest = &rest[at + part.len()..];
                }
            }
            other => panic!("a block of {other}"),
        }
    }
    assert!(commands > 6, "the page was not read");
}

/// The fenced blocks of a page, with their languages.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').expect("a language and a text"))
}
