//! What the shell of a stage refuses of a RUN, and steps of which nothing is left when their shell ends.

use super::{Stage, breach, script, shortened};
use crate::catalog;
use crate::contract::Breach;
use crate::facts::BreachClass;
use crate::parse::dockerfile::Instruction;
use crate::parse::shell::{self, Command, Script};

/// The shell that runs the commands of a stage.
#[derive(Clone, Copy, PartialEq)]
enum Shell {
    Dash,
    /// One that takes all that is looked at here, by what is known.
    Bash,
    Other,
}

/// Commands that dash does not have. <https://manpages.debian.org/trixie/dash/dash.1.en.html>
const OF_BASH: [&str; 9] = ["source", "pushd", "popd", "shopt", "declare", "mapfile", "readarray", "[[", "let"];

/// Commands that change nothing but the shell that runs them.
const OF_SHELL: [&str; 11] =
    ["cd", "export", "source", ".", "alias", "ulimit", "set", "unset", "umask", "pushd", "shopt"];

/// What is wrong with the commands of a stage.
pub fn judge(stage: &Stage<'_>) -> Vec<Breach> {
    let mut shell = if is_dash(stage) { Shell::Dash } else { Shell::Bash };
    let mut found = Vec::new();
    for (at, line) in stage.lines.iter().enumerate() {
        let text = line.rest.text();
        match line.keyword.as_str() {
            "SHELL" if text.contains("bash") => shell = Shell::Bash,
            "SHELL" => shell = Shell::Other,
            // Another shell stands there from here on.
            "RUN" | "COPY" | "ADD" if text.contains("bin/sh") || text.contains("dpkg-reconfigure") => {
                shell = Shell::Bash
            }
            _ => {}
        }
        if at < stage.under || shell == Shell::Other {
            continue;
        }
        let Some(script) = script(line) else { continue };
        let refused = refused(line, &script, shell);
        found.extend(refused.or_else(|| without_effect(line, &script)));
    }
    found
}

/// Whether it is dash that runs the commands of a stage, unless it says otherwise.
fn is_dash(stage: &Stage<'_>) -> bool {
    let os = stage.software.and_then(|software| Some((software.os.get()?, software.os_version.get()?)));
    let dash = |(os, version): (&String, &crate::version::Version)| catalog::shell_is_dash(os, &version.to_string());
    stage.base.is_some() && os.is_some_and(dash)
}

/// What a shell refuses of a RUN.
fn refused(line: &Instruction, script: &Script, shell: Shell) -> Option<Breach> {
    let body = line.heredocs.first().map_or(&line.rest, |heredoc| &heredoc.body);
    if let Some(fault) = shell::fault(body) {
        let of_dash = format!("/bin/sh is dash here: {}", fault.problem.message);
        match (fault.bash_takes_it, shell) {
            (false, _) => {
                let says = format!("no shell reads this: {}", fault.problem.message);
                return Some(breach(BreachClass::ShellRefused, fault.problem.span, "RUN", says, None));
            }
            (true, Shell::Dash) => {
                let meant = Some("SHELL [\"/bin/bash\", \"-c\"] before it".to_owned());
                return Some(breach(BreachClass::ShellRefused, fault.problem.span, "RUN", of_dash, meant));
            }
            _ => {}
        }
    }
    // What fails may be meant to.
    if body.text().contains("||") {
        return None;
    }
    let fails = |command: &&Command| {
        let program = command.words.first().map_or("", |word| word.text());
        let of_instructions = ["RUN", "COPY", "FROM", "ENTRYPOINT"].contains(&program);
        let of_bash = shell == Shell::Dash && (OF_BASH.contains(&program) || sets_pipefail(command));
        of_instructions || of_bash
    };
    let defined = |name: &str| {
        script.commands.iter().any(|c| {
            c.words.first().is_some_and(|w| w.text() == "alias") && c.words.iter().any(|w| w.text().starts_with(name))
        })
    };
    let command = script.commands.iter().find(fails)?;
    let word = command.words.first()?;
    if defined(word.text()) {
        return None;
    }
    let (says, meant) = match word.text() {
        "set" => ("/bin/sh is dash here, which has no option pipefail".to_owned(), true),
        name if OF_BASH.contains(&name) => (format!("/bin/sh is dash here, which has no {name}"), true),
        name => (format!("the step before goes on to here, so that {name} is a program that does not exist"), false),
    };
    let meant = meant.then(|| "SHELL [\"/bin/bash\", \"-c\"] before it".to_owned());
    Some(breach(BreachClass::ShellRefused, word.span(), "RUN", says, meant))
}

fn sets_pipefail(command: &Command) -> bool {
    let mut words = command.words.iter().map(|word| word.text());
    words.next() == Some("set") && words.any(|word| word == "pipefail")
}

/// A step of which nothing is left.
fn without_effect(line: &Instruction, script: &Script) -> Option<Breach> {
    let of_shell = |command: &Command| {
        let mut words = command.words.iter().map(|word| word.text());
        let program = words.next();
        let activates = matches!(program, Some("conda" | "mamba" | "micromamba")) && words.next() == Some("activate");
        let sets = program.is_none() && !command.assignments.is_empty();
        let known = activates || sets || program.is_some_and(|program| OF_SHELL.contains(&program));
        known && command.redirections.is_empty()
    };
    let changes = |command: &Command| command.words.first().is_none_or(|word| word.text() != "set");
    let runs = script.substituted().is_empty() && line.flags.is_empty() && line.heredocs.is_empty();
    let nothing = runs && script.commands.iter().any(changes) && script.commands.iter().all(of_shell);
    let says = format!("`{}` changes its own shell alone, which ends with this step", shortened(line.rest.text()));
    nothing.then(|| breach(BreachClass::StepWithoutEffect, line.span, "RUN", says, None))
}
