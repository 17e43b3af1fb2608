//! What stands beside the code so that people can install gpulint and read about it: it agrees with the code.

use clap::CommandFactory;
use gpulint::cli::Arguments;
use gpulint::discover;
use serde_yaml::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(dead_code)]
#[path = "../../examples/pages.rs"]
mod pages;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn yaml(path: &str) -> Value {
    serde_yaml::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Files below a folder, as paths with `/` from the root.
fn files(folder: &str) -> Vec<String> {
    let mut folders = vec![root().join(folder)];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let (inner, plain): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
        folders.extend(inner);
        let shown =
            |path: PathBuf| path.strip_prefix(root()).expect("below").to_str().expect("UTF-8").replace('\\', "/");
        out.extend(plain.into_iter().map(shown));
    }
    out
}

/// Rewrite it with `cargo run --example pages -- cli > docs/cli.md`.
#[test]
fn the_page_of_the_command_line_is_current() {
    assert!(pages::cli() == read("docs/cli.md"), "run: cargo run --example pages -- cli > docs/cli.md");
    let config = pages::config().expect("the schema is one");
    assert!(
        config == read("docs/configuration.md"),
        "run: cargo run --example pages -- config > docs/configuration.md"
    );
}

/// Options that several commands share bring their own words along, which must not become those of the command.
#[test]
fn a_command_says_of_itself_what_the_list_says_of_it() {
    let told = |command: &clap::Command| -> Vec<(String, String)> {
        let about = |c: &clap::Command| c.get_about().map(ToString::to_string).unwrap_or_default();
        command.get_subcommands().map(|inner| (inner.get_name().to_owned(), about(inner))).collect()
    };
    let listed = told(&Arguments::command());
    let mut built = Arguments::command();
    built.build();
    assert_eq!(listed, told(&built)[..listed.len()]);
    assert!(listed.len() > 8 && listed.iter().all(|(_, about)| !about.is_empty()), "{listed:?}");
}

#[test]
fn every_page_is_in_the_book() {
    let summary = read("docs/SUMMARY.md");
    let listed: BTreeSet<&str> = summary.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect();
    let pages: Vec<String> = files("docs").into_iter().filter(|path| path.matches('/').count() == 1).collect();
    let pages: BTreeSet<&str> = pages
        .iter()
        .filter_map(|path| path.strip_prefix("docs/"))
        .filter(|name| name.ends_with(".md") && *name != "SUMMARY.md")
        .collect();
    assert_eq!(listed, pages, "docs/SUMMARY.md lists the left, docs/ has the right");
}

/// The first five minutes go as the page says.
#[test]
fn the_first_page_shows_what_is_told() {
    let page = read("docs/start.md");
    let block = |language: &str| {
        let rest = page.split_once(&format!("```{language}\n")).expect("a block").1;
        rest.split_once("```").expect("its end").0.to_owned()
    };
    let sample = block("yaml");
    let name = sample.lines().next().and_then(|line| line.strip_prefix("# ")).expect("a name");
    let folder = tempfile::TempDir::new().expect("a folder");
    fs::write(folder.path().join(name), &sample).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    let output = command.current_dir(folder.path()).args(["check", "--select", "model-does-not-fit"]).output();
    let said = String::from_utf8(output.expect("gpulint runs").stdout).expect("UTF-8");
    assert!(said.contains(&block("text")), "{said}");
}

/// A commit that changes nothing that is read starts no hook, and any other does.
#[test]
fn the_hook_starts_for_every_file_that_is_read() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let pattern = hooks[0]["files"].as_str().expect("a pattern");
    assert_eq!(hooks[0]["files"], hooks[1]["files"]);
    let pattern = regex::Regex::new(pattern).expect("a pattern");
    let ours = |path: &String| !path.ends_with("/findings.txt") && !path.ends_with("/expected.txt");
    let all: Vec<String> = files("fixtures").into_iter().filter(ours).collect();
    let charts = discover::charts(all.iter().map(String::as_str));
    let read: Vec<&String> = all.iter().filter(|path| discover::kind_in(&charts, path).is_some()).collect();
    assert!(read.len() > 500, "{}", read.len());
    let missed: Vec<&&String> = read.iter().filter(|path| !pattern.is_match(path)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(!["README.md", "src/main.rs", "docs/a.png"].iter().any(|path| pattern.is_match(path)));
}

#[test]
fn the_mirror_for_pre_commit_has_the_same_hook() {
    assert_eq!(yaml("packaging/pre-commit/.pre-commit-hooks.yaml")[0], yaml(".pre-commit-hooks.yaml")[0]);
}

/// A tag may be moved, a commit may not.
#[test]
fn actions_are_pinned_by_commit() {
    let pinned = regex::Regex::new(r"^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$").expect("a pattern");
    let workflows = [files(".github"), files("packaging/pre-commit"), vec!["action.yml".to_owned()]].concat();
    let mut seen = 0;
    for path in workflows.iter().filter(|path| path.ends_with(".yml")) {
        for line in read(path).lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: ")) {
            assert!(pinned.is_match(line), "{path}: {line}");
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn what_is_fetched_is_what_is_released() {
    let targets: Value = serde_yaml::from_str(&read("packaging/targets.json")).expect("JSON");
    let (install, formula) = (read("packaging/action/install"), read("packaging/homebrew/gpulint.rb.in"));
    for target in targets.as_sequence().expect("a list").iter().filter(|target| target.get("npm").is_some()) {
        let name = target["target"].as_str().expect("a name");
        assert!(install.contains(&format!("name=gpulint-{name}.")), "the action does not fetch {name}");
        assert!(name.contains("windows") || formula.contains(&format!("@{name}@")), "the formula has no {name}");
    }
    let fetched = install.matches("name=gpulint-").count();
    let released = targets.as_sequence().expect("a list").iter().filter(|target| target.get("npm").is_some()).count();
    assert_eq!(fetched, released);
}

/// Where people copy a version from, it is the one that is released next.
#[test]
fn versions_that_people_copy_are_current() {
    let version = env!("CARGO_PKG_VERSION");
    let named = regex::Regex::new(
        r"(?:gpulint==|gpulint@v?|gpulint:|gpulint/gpulint@|rev: v|download/v|default: \x22)(\d+\.\d+\.\d+)",
    );
    let named = named.expect("a pattern");
    for (path, least) in [
        ("README.md", 2),
        ("docs/ci.md", 8),
        ("docs/install.md", 2),
        ("packaging/pre-commit/README.md", 1),
        ("packaging/pre-commit/pyproject.toml", 1),
        ("templates/gpulint.yml", 1),
    ] {
        let text = read(path);
        let versions: Vec<&str> =
            named.captures_iter(&text).map(|found| found.get(1).expect("a group").as_str()).collect();
        assert!(versions.len() >= least, "{path} names {versions:?}");
        assert!(versions.iter().all(|named| *named == version), "{path} names {versions:?}, not {version}");
    }
}
