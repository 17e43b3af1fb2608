//! How a report looks where people read it: colours, signs, how much of it.

use crate::cli::{code, directory};
use std::process::{Command, Output};
use tempfile::TempDir;

const POD: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: café}
spec:
  containers:
    - {name: a, image: 'nvidia/cuda:12.4.1-base-ubuntu22.04', command: [sleep, infinity], resources: {requests: {nvidia.com/gpu: 1}}}
    - {name: b, image: 'nvidia/cuda:12.4.1-base-ubuntu22.04', command: [sleep, infinity], resources: {requests: {nvidia.com/gpu: 1}}}
";

fn files() -> TempDir {
    directory(&[("a.yaml", POD), ("b.yaml", POD)])
}

fn check(root: &TempDir, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG"] {
        command.env_remove(name);
    }
    let command = command.envs(environment.iter().copied()).current_dir(root.path()).arg("check").args(arguments);
    command.output().expect("the binary runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn colours_go_by_the_option_and_the_usual_variables() {
    let root = files();
    for (arguments, environment, colored) in [
        (&[][..], &[][..], false),
        (&["--color", "always"], &[("NO_COLOR", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        (&["--format", "concise", "--color", "always"], &[], true),
        (&["--format", "markdown", "--color", "always"], &[], false),
    ] {
        let told = text(&check(&root, arguments, environment));
        assert_eq!(told.contains("\u{1b}["), colored, "{arguments:?} {environment:?}\n{told}");
        assert!(!told.contains("\u{1b}]8"), "a link off a terminal: {told}");
    }
    let file = root.path().join("report.txt");
    check(&root, &["--output", "report.txt"], &[("CLICOLOR_FORCE", "1"), ("LC_ALL", "C")]);
    let told = std::fs::read_to_string(file).expect("the report");
    assert!(!told.contains('\u{1b}') && told.contains('╭'), "a file has no terminal: {told}");
}

#[test]
fn a_locale_that_is_not_utf_8_gets_ascii() {
    let root = files();
    for (environment, ascii) in
        [(("LC_ALL", "C"), true), (("LANG", "de_DE.ISO-8859-1"), true), (("LANG", "C.UTF-8"), false)]
    {
        let told = text(&check(&root, &[], &[environment]));
        assert_eq!(told.is_ascii(), ascii, "{environment:?}\n{told}");
    }
}

#[test]
fn a_limit_leaves_the_exit_code_alone_and_programs_get_all() {
    let root = files();
    let all = check(&root, &["--fail-on", "info", "--format", "concise"], &[]);
    assert!(text(&all).lines().filter(|line| line.contains(".yaml:")).count() > 1, "{}", text(&all));
    let none = check(&root, &["--fail-on", "info", "--format", "concise", "--limit", "0"], &[]);
    assert_eq!((code(&all), code(&none)), (1, 1));
    assert!(!text(&none).contains(".yaml:") && text(&none).contains("more finding"), "{}", text(&none));
    let refused = check(&root, &["--format", "json", "--limit", "1"], &[]);
    assert_eq!(code(&refused), 2);
    let counted = text(&check(&root, &["--statistics"], &[]));
    assert!(counted.starts_with("count  files  severity  rule\n") && !counted.contains(".yaml:"), "{counted}");
}

#[test]
fn nothing_is_told_beside_the_report_in_a_pipe() {
    let told = check(&files(), &[], &[("TERM", "xterm")]);
    assert_eq!(String::from_utf8_lossy(&told.stderr), "");
}
