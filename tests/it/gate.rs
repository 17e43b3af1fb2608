//! A hostile repository, as the gate of a pull request meets it: nothing of the machine is shown, nothing outside is
//! written, and no report is lost.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: a\n    \
                   resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}\n";
const FAULT: &str = "gpu-request-differs-from-limit";
const SECRET: &str = "{\"auths\": {\"x\": {\"auth\": \"SECRET\"}}, \"driver_version\": \"SECRET\"}\n";

/// Paths and texts of files, or paths and targets of links.
type Pairs<'a> = &'a [(&'a str, &'a str)];

/// `repo/` with a pod and the given files beside `outside/secret.yaml`.
fn machine(files: Pairs<'_>, links: Pairs<'_>) -> TempDir {
    let dir = TempDir::new().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a file");
    };
    write("outside/secret.yaml", SECRET);
    write("repo/pod.yaml", POD);
    files.iter().for_each(|(path, text)| write(&format!("repo/{path}"), text));
    for (at, to) in links {
        let at = dir.path().join("repo").join(at);
        fs::create_dir_all(at.parent().expect("a parent")).expect("directories");
        symlink(to, at).expect("a link");
    }
    dir
}

fn gpulint(dir: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(dir.path().join("repo")).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn pages_are_read_where_they_stand_and_nowhere_else() {
    const PAGE: &str = "sudo nvidia-ctk runtime configure --runtime=docker\n";
    let compose = ("compose.yaml", "services:\n  a:\n    image: a/b:1\n    runtime: nvidia\n");
    let tells = |files: Pairs<'_>, links: Pairs<'_>| {
        let dir = machine(&[&[compose, ("../outside/page.md", PAGE)], files].concat(), links);
        said(&gpulint(&dir, &["check", "."])).contains("compose-runtime-not-portable")
    };
    assert!(tells(&[], &[]) && !tells(&[("README.md", PAGE)], &[]));
    for outside in ["../outside/page.md", "/dev/zero"] {
        assert!(tells(&[], &[("README.md", outside)]), "{outside}");
    }
}

#[test]
fn what_a_configuration_names_stays_in_its_repository() {
    let secret = "../outside/secret.yaml";
    let cases: [(Pairs<'_>, Pairs<'_>); 8] = [
        (&[], &[(".gpulint.yaml", secret)]),
        (&[], &[(".gpulint.yaml", "/dev/zero")]),
        (&[(".gpulint.yaml", "packs: [p]\n")], &[("p/x.yaml", "../../outside/secret.yaml")]),
        (&[(".gpulint.yaml", "packs: [p]\n")], &[("p", "../outside")]),
        (&[(".gpulint.yaml", "packs: [../outside]\n")], &[]),
        (&[(".gpulint.yaml", "packs: [p]\n"), ("p/x.yaml", SECRET)], &[]),
        (&[(".gpulint.yaml", "clusters: [{name: a, driver_file: ../outside/secret.yaml}]\n")], &[]),
        (&[(".gpulint.yaml", "clusters: [{name: a, driver_file: l}]\n")], &[("l", secret)]),
    ];
    for (files, links) in cases {
        let output = gpulint(&machine(files, links), &["check"]);
        assert_eq!(output.status.code(), Some(2), "{files:?} {links:?}: {}", said(&output));
        assert!(!said(&output).contains("SECRET") && !said(&output).contains("column"), "{}", said(&output));
    }
    let nothing =
        gpulint(&machine(&[(".gpulint.yaml", "clusters: [{name: a, driver_file: ../none}]\n")], &[]), &["check"]);
    assert!(said(&nothing).contains("outside of the repository"), "{}", said(&nothing));
}

#[test]
fn a_directory_that_is_linted_is_a_repository_without_git_too() {
    let dir = machine(&[], &[(".gpulint.yaml", "../outside/secret.yaml"), ("r.json", "../outside/secret.yaml")]);
    let above = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.current_dir(dir.path()).args(arguments).output().expect("the binary runs")
    };
    for arguments in [&["check", "repo"][..], &["facts", "repo"]] {
        let output = above(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(!said(&output).contains("SECRET"), "{}", said(&output));
    }
    let written = above(&["check", "repo", "--isolated", "--output", "repo/r.json"]);
    assert_eq!(written.status.code(), Some(2), "{}", said(&written));
}

#[test]
fn a_named_link_does_not_lead_out_either() {
    let dir = machine(&[], &[("a.yaml", "../outside/secret.yaml"), ("b", "../outside"), ("c.yaml", "pod.yaml")]);
    for arguments in [["check", "a.yaml"], ["check", "b"], ["facts", "a.yaml"], ["check", "--values=a.yaml"]] {
        let output = gpulint(&dir, &arguments);
        assert!(!said(&output).contains("SECRET"), "{}", said(&output));
    }
    assert!(said(&gpulint(&dir, &["check", "c.yaml"])).contains(FAULT));
    let elsewhere = dir.path().join("link");
    symlink("repo", &elsewhere).expect("a link");
    assert!(
        said(&gpulint(&dir, &["check", elsewhere.to_str().expect("UTF-8")])).contains(FAULT),
        "the user's own link"
    );
}

#[test]
fn no_line_of_any_output_is_a_command() {
    let config = |text| [(".gpulint.yaml", text)];
    for (files, arguments) in [
        (config("packs: [\"x\\n::error::pwned\"]\n"), &["check"][..]),
        (config("clusters: [{name: x, driver_file: \"x\\n::error::pwned\"}]\n"), &["check"]),
        (config("exclude: [\"[z-a]\\n::error::pwned\"]\n"), &["check"]),
        (config("\"a\\n::error::pwned\": 1\n"), &["check"]),
        (config(""), &["check", "--x\n::error::pwned"]),
        (config(""), &["check", "x\n::error::pwned"]),
        (config(""), &["explain", "x\n::error::pwned"]),
        (config(""), &["check", "--format", "json", "--output", "y", "--output", "x\n::error::pwned"]),
    ] {
        let output = gpulint(&machine(&files, &[]), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let command = said(&output).lines().any(|line| line.trim_start().starts_with("::"));
        assert!(!command && said(&output).contains("pwned"), "{}", said(&output));
    }
    let dir = machine(&[("##[error]a.yaml", POD), ("::error::b.yaml", &POD.replace("image: a", "image: b"))], &[]);
    for arguments in
        [&["check", "--show-unknown"][..], &["check", "--format", "json"], &["facts", "."], &["render", "."]]
    {
        let said = said(&gpulint(&dir, arguments));
        assert!(
            !said.contains("##[") && !said.lines().any(|l| l.trim_start().starts_with("::")),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn a_report_goes_to_its_own_file_and_no_other() {
    let dir = machine(&[("a.json", "{}")], &[("r.json", "../outside/secret.yaml"), ("d", "../outside"), ("in", ".")]);
    let refused = |arguments: &[&str]| {
        let output = gpulint(&dir, &[&["check", "--format", "json", "--output"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
    };
    for to in ["r.json", "d/new.json", "in/new.json", "a.json", "pod.yaml", "none/r.json", "."] {
        refused(&[to]);
    }
    refused(&["a", "--output", "b"]);
    refused(&["a", "--format", "sarif", "--output", "a"]);
    let names = |directory: &str| fs::read_dir(dir.path().join(directory)).expect("a directory").count();
    assert_eq!((names("outside"), names("repo")), (1, 5));
    assert_eq!(fs::read_to_string(dir.path().join("outside/secret.yaml")).expect("a file"), SECRET);
    // The second run reads what the first one wrote.
    for _ in 0..2 {
        assert_eq!(gpulint(&dir, &["check", "--format", "json", "--output", "new.json"]).status.code(), Some(1));
    }
    assert!(fs::read_to_string(dir.path().join("repo/new.json")).expect("a report").contains(FAULT));
    assert!(said(&gpulint(&dir, &["check", "--output", "/dev/stdout"])).contains(FAULT));
}

#[test]
#[cfg(target_os = "linux")]
fn a_report_that_cannot_be_written_is_no_success() {
    let dir = machine(&[], &[]);
    for arguments in [&["check", "--exit-zero"][..], &["rules"], &["schema", "report"], &["facts", "."]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        let full = fs::OpenOptions::new().write(true).open(Path::new("/dev/full")).expect("the device");
        let output =
            command.current_dir(dir.path().join("repo")).args(arguments).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(said(&output).contains("standard output"), "{}", said(&output));
    }
}

/// The exit code, and the summary as JSON or what was said instead.
fn checked(dir: &TempDir, arguments: &[&str]) -> (Option<i32>, serde_json::Value, String) {
    let output = gpulint(dir, &[&["check", "--format", "json"], arguments].concat());
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default(), said(&output))
}

#[test]
fn a_path_of_which_nothing_was_linted_is_a_failure() {
    let dir = machine(&[(".ignore", "pod.yaml\n"), ("empty/notes.md", ""), ("good/a.yaml", "a: 1\n")], &[]);
    for (arguments, code) in [
        (&["pod.yaml"][..], 1),
        (&["good"], 0),
        (&["empty"], 2),
        (&["good", "empty"], 2),
        (&["good", "empty", "--allow-empty"], 0),
        (&["good", "empty", "--exit-zero"], 2),
        (&["pod.yaml", "empty"], 1),
        (&["empty/notes.md"], 2),
        (&["."], 0),
        (&[".", "--no-ignore"], 1),
    ] {
        let (got, report, said) = checked(&dir, arguments);
        assert_eq!(got, Some(code), "{arguments:?}: {said}");
        assert!(report["version"] == 1 && (code != 2 || said.contains("nothing was linted of empty")), "{said}");
    }
    let excluded = &checked(&dir, &["."]).1["files"]["excluded"];
    assert_eq!(*excluded, serde_json::json!([{"by": ".ignore", "count": 1}]));
    let config = machine(&[(".gpulint.yaml", "exclude: [pod.yaml]\n")], &[]);
    assert_eq!(checked(&config, &["--force-exclude", "pod.yaml"]).0, Some(0), "hooks name files");
}

#[test]
fn what_a_configuration_turns_off_is_told_and_can_be_left_unread() {
    let rule = "id: gpu-request-differs-from-limit\npack: p\nseverity: error\napplies_to: container\nforbid: 'false'\n\
                message: m\nhelp: h\nwhy: w\nreferences: [x]\nexamples: []\n";
    for (config, told) in [
        (format!("rules: {{{FAULT}: off}}\n"), "rules turned off"),
        (format!("rules: {{{FAULT}: info}}\n"), "rules lowered"),
        (format!("ignore: [{FAULT}]\n"), "rules or packs turned off"),
        ("select: [cost]\n".to_owned(), "selected"),
        (format!("ignores: [{{rule: {FAULT}}}]\n"), "accepted"),
        ("packs: [p]\n".to_owned(), "rules replaced"),
    ] {
        let dir = machine(&[(".gpulint.yaml", &config), ("p/r.yaml", rule), ("p/.gpulintignore", "*\n")], &[]);
        let (code, report, _) = checked(&dir, &["pod.yaml"]);
        assert_eq!(code, Some(0), "{config}");
        assert_eq!(report["configurations"][0]["path"], ".gpulint.yaml");
        assert!(report["configurations"][0]["restrictions"].to_string().contains(told), "{report}");
        assert!(said(&gpulint(&dir, &["check", "pod.yaml"])).contains(told), "{config}");
        for flag in ["--no-config", "--isolated"] {
            let (code, report, said) = checked(&dir, &["pod.yaml", flag]);
            assert!(code == Some(1) && report["configurations"] == serde_json::json!([]), "{flag}: {said}");
        }
    }
}

#[test]
fn a_gate_can_refuse_every_word_of_the_repository() {
    let waived = format!("# gpulint: ignore-file[{FAULT}]\n{POD}");
    let dir = machine(&[("pod.yaml", &waived), ("sub/.ignore", "*\n"), ("sub/pod.yaml", POD)], &[]);
    fs::write(dir.path().join("trusted.yaml"), format!("rules: {{{FAULT}: warning}}\n")).expect("a file");
    let errors = |arguments: &[&str]| checked(&dir, arguments).1["summary"]["error"].as_u64();
    assert_eq!(errors(&["."]), Some(0));
    assert_eq!(errors(&[".", "--no-suppressions"]), Some(1));
    assert_eq!(errors(&[".", "--isolated"]), Some(2));
    assert_eq!(errors(&[".", "--isolated", "--config", "../trusted.yaml"]), Some(0), "who calls it may configure it");
}
