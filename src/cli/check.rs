//! `gpulint check`.

use super::arguments::{Check, Format};
use super::setup::Setup;
use super::{CLEAN, FINDINGS, print};
use crate::discover::{self, Found, Kind, MAX_BYTES, Options};
use crate::finding::{Confidence, Severity};
use crate::judge::{self, Coverage, Verdict};
use crate::pipeline::{self, Input};
use crate::report::human::{self, HumanOptions};
use crate::report::{json, sarif};
use crate::rules::Ruleset;
use crate::source::Sources;
use clap::ColorChoice;
use rayon::prelude::*;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Columns that messages are wrapped at, whatever the terminal: the same report for everybody.
pub const WIDTH: usize = 100;

/// Files that were read, and those that were not.
pub struct Files {
    /// Read.
    pub inputs: Vec<Input>,
    /// Paths and reasons of the others.
    pub skipped: Vec<(String, String)>,
}

/// Finds and reads files.
///
/// # Errors
/// A bad pattern, or a root that does not exist.
pub fn files(paths: &[PathBuf], options: &Options) -> Result<Files, String> {
    let discovery = discover::discover(paths, options).map_err(|e| e.to_string())?;
    if let Some(missing) = discovery.skipped.iter().find(|s| s.reason == discover::Reason::Missing) {
        return Err(format!("{}: {}", missing.path, missing.reason));
    }
    let mut skipped: Vec<(String, String)> =
        discovery.skipped.into_iter().map(|s| (s.path, s.reason.to_string())).collect();
    let read: Vec<Option<Result<Input, (String, String)>>> = discovery.found.par_iter().map(read).collect();
    let mut inputs = Vec::new();
    for file in read.into_iter().flatten() {
        match file {
            Ok(input) => inputs.push(input),
            Err(reason) => skipped.push(reason),
        }
    }
    skipped.sort();
    Ok(Files { inputs, skipped })
}

fn read(found: &Found) -> Option<Result<Input, (String, String)>> {
    // Templates of charts are skipped or read as they stand.
    let kind = if found.kind == Kind::Chart { discover::kind_of(&found.path)? } else { found.kind };
    let found = Found { kind, ..found.clone() };
    let read = || {
        let text = found.read(MAX_BYTES).map_err(|reason| (found.path.clone(), reason.to_string()))?;
        match found.template(&text) {
            Some(template) => Err((found.path.clone(), discover::Reason::Template(template).to_string())),
            None => Ok(Input { path: found.path.clone(), kind, text }),
        }
    };
    Some(read())
}

/// The working directory.
pub fn cwd() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// Runs the command.
///
/// # Errors
/// gpulint could not do its work.
pub fn run(check: &Check) -> Result<u8, String> {
    if let Some(jobs) = check.jobs {
        // Fails only when the pool exists already, as in tests that run several commands.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global();
    }
    let setup = Setup::load(check)?;
    let mut options = Options::new(cwd());
    options.exclude = setup.config.exclude.iter().map(|word| word.text.clone()).collect();
    options.base = setup.base.clone();
    options.force_exclude = check.force_exclude;
    options.no_ignore = check.no_ignore;
    let files =
        if check.paths.iter().any(|p| p == Path::new("-")) { stdin(check)? } else { files(&check.paths, &options)? };
    let linted = files.inputs.len();
    let coverage = Coverage { seen: linted + files.skipped.len(), linted, skipped: files.skipped };
    // The configuration comes after the files, so that its facts have places too.
    let (config, extra) = setup.after(linted);
    let outcome = pipeline::run(files.inputs, config.facts(), extra, &setup.rules);
    let input = judge::Input {
        findings: outcome.evaluation.findings,
        undecided: outcome.evaluation.undecided,
        comments: &outcome.comments,
        annotations: pipeline::annotations(&outcome.facts),
        coverage,
    };
    let wishes = judge::Options {
        select: check.select.clone(),
        ignore: check.ignore.clone(),
        min_confidence: check.min_confidence.map(Confidence::from),
        today: jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date(),
    };
    let verdict = judge::judge(input, &outcome.sources, &config, &wishes);
    write(check, &verdict, &outcome.sources, &setup.rules)?;
    let fail_on = check.fail_on.map(Severity::from).or(config.fail_on).unwrap_or(Severity::Error);
    let failed = verdict.shown.iter().any(|f| f.severity >= fail_on);
    Ok(if failed && !check.exit_zero { FINDINGS } else { CLEAN })
}

/// Writes every report that was asked for.
fn write(check: &Check, verdict: &Verdict, sources: &Sources, rules: &Ruleset) -> Result<(), String> {
    for (i, format) in check.format.iter().enumerate() {
        let output = check.output.get(i);
        let text = match format {
            Format::Json => json::line(&json::report(verdict, sources)),
            Format::Sarif => json::line(&sarif::report(verdict, sources, rules)),
            Format::Human => human::render(verdict, sources, &human_options(check, output.is_none())),
        };
        match output {
            Some(path) => std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?,
            None => print(&text),
        }
    }
    Ok(())
}

fn human_options(check: &Check, terminal: bool) -> HumanOptions {
    let color = match check.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            terminal && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        }
    };
    HumanOptions { color, width: WIDTH, show_unknown: check.show_unknown, summary: !check.quiet }
}

fn stdin(check: &Check) -> Result<Files, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| format!("standard input: {e}"))?;
    let path = check.stdin_filename.clone();
    let kind = discover::kind_of(&path).ok_or_else(|| format!("{path}: not a kind of file that is linted"))?;
    Ok(Files { inputs: vec![Input { path, kind, text }], skipped: Vec::new() })
}
