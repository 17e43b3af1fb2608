//! `gpulint check`.

use super::arguments::{Check, ConfidenceArg, Format, SeverityArg};
use super::{CLEAN, FINDINGS, print};
use crate::discover::{self, Found, MAX_BYTES, Options};
use crate::finding::{Confidence, Severity};
use crate::pipeline::{self, Input};
use crate::report::json;
use crate::rules::Ruleset;
use rayon::prelude::*;
use std::io::Read;
use std::path::{Path, PathBuf};

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
    let read: Vec<Result<Input, (String, String)>> = discovery.found.par_iter().map(read).collect();
    let mut inputs = Vec::new();
    for file in read {
        match file {
            Ok(input) => inputs.push(input),
            Err(reason) => skipped.push(reason),
        }
    }
    skipped.sort();
    Ok(Files { inputs, skipped })
}

fn read(found: &Found) -> Result<Input, (String, String)> {
    let text = found.read(MAX_BYTES).map_err(|reason| (found.path.clone(), reason.to_string()))?;
    if let Some(template) = found.template(&text) {
        return Err((found.path.clone(), discover::Reason::Template(template).to_string()));
    }
    Ok(Input { path: found.path.clone(), kind: found.kind, text })
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
    let mut rules = Ruleset::builtin();
    for directory in &check.rules {
        add_pack(&mut rules, directory)?;
    }
    for word in check.select.iter().chain(&check.ignore) {
        if !rules.names(word) {
            return Err(format!("there is no rule or pack `{word}`{}", rules.hint(word)));
        }
    }
    let mut options = Options::new(cwd());
    options.force_exclude = check.force_exclude;
    options.no_ignore = check.no_ignore;
    let files =
        if check.paths.iter().any(|p| p == Path::new("-")) { stdin(check)? } else { files(&check.paths, &options)? };
    let linted = files.inputs.len();
    let outcome = pipeline::run(files.inputs, crate::facts::Facts::default(), Vec::new(), &rules);
    let least = match check.min_confidence {
        Some(ConfidenceArg::Low) => Confidence::Low,
        Some(ConfidenceArg::High) => Confidence::High,
        _ => Confidence::Medium,
    };
    let wanted = |rule: &str, pack: &str| {
        let named = |list: &[String]| list.iter().any(|w| w == rule || w == pack);
        (check.select.is_empty() || named(&check.select)) && !named(&check.ignore)
    };
    let mut findings = outcome.evaluation.findings;
    findings.retain(|f| f.confidence >= least && wanted(&f.rule, &f.pack));
    let report = json::Report {
        sources: &outcome.sources,
        findings: &findings,
        undecided: &outcome.evaluation.undecided,
        waived: 0,
        seen: linted + files.skipped.len(),
        linted,
        skipped: &files.skipped,
    };
    for (i, format) in check.format.iter().enumerate() {
        let text = match format {
            Format::Json => json::report(&report).to_string() + "\n",
            Format::Human => plain(&report),
        };
        match check.output.get(i) {
            Some(path) => std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?,
            None => print(&text),
        }
    }
    let fail_on = match check.fail_on {
        Some(SeverityArg::Info) => Severity::Info,
        Some(SeverityArg::Warning) => Severity::Warning,
        _ => Severity::Error,
    };
    let failed = findings.iter().any(|f| f.severity >= fail_on);
    Ok(if failed && !check.exit_zero { FINDINGS } else { CLEAN })
}

fn stdin(check: &Check) -> Result<Files, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| format!("standard input: {e}"))?;
    let path = check.stdin_filename.clone();
    let kind = discover::kind_of(&path).ok_or_else(|| format!("{path}: not a kind of file that is linted"))?;
    Ok(Files { inputs: vec![Input { path, kind, text }], skipped: Vec::new() })
}

/// Adds the rule files of a directory.
///
/// # Errors
/// A file that is not readable or not right, with all of its faults.
pub fn add_pack(rules: &mut Ruleset, directory: &Path) -> Result<(), String> {
    let mut paths: Vec<PathBuf> = walkdir::WalkDir::new(directory)
        .into_iter()
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|p| p.extension().is_some_and(|e| e == "yaml" || e == "yml"))
        .collect();
    paths.sort();
    if paths.is_empty() {
        return Err(format!("{}: no rule files", directory.display()));
    }
    let mut faults = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let source = crate::source::Source::new(path.display().to_string(), text.clone());
        for problem in rules.add(crate::source::SourceId(0), &source.path, &text) {
            let at = source.position(problem.span.start);
            faults.push(format!("{}:{}:{}: {}", source.path, at.line, at.column, problem.message));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// One line per finding, until the graphical report is asked for.
fn plain(report: &json::Report<'_>) -> String {
    let mut out = String::new();
    for f in report.findings {
        let source = report.sources.get(f.span.source);
        let at = source.position(f.span.start);
        let line =
            format!("{}:{}:{}: {} [{}] {}\n", source.path, at.line, at.column, f.severity.name(), f.rule, f.message);
        out.push_str(&crate::source::sanitise(&line));
    }
    out
}
