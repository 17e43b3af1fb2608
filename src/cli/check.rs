//! `gpulint check`.

use super::analysis::{Against, Gathered, Judged};
use super::arguments::Check;
use super::baseline;
use super::changed::Diff;
use super::files::{called, cwd, gate, shown};
use super::fix;
use super::ignores;
use super::output::{Output, human_options};
use super::progress::Progress;
use super::{CLEAN, FINDINGS, print_as_is};
use crate::finding::{Finding, Severity};
use crate::judge::Verdict;
use crate::report::{REPORTERS, Reader, Report};
use std::path::{Path, PathBuf};

/// Runs the command.
///
/// # Errors
/// gpulint could not do its work.
pub fn run(check: &Check) -> Result<u8, String> {
    let progress = Progress::new(!check.quiet);
    progress.tell("reading files");
    let gathered = Gathered::new(&check.lint, check.baseline.as_deref(), check.told.language())?;
    let outputs = outputs(check, &gathered.read())?;
    let baseline = check.baseline.as_ref().map(|path| baseline::read(path, &check.lint.paths, gathered.root()));
    let stdin = Path::new("-");
    if check.changed_in.as_deref() == Some(stdin) && check.lint.paths.iter().any(|path| path == stdin) {
        return Err("standard input is either a file or the diff".to_owned());
    }
    if check.fix && !check.diff && check.lint.paths.iter().any(|path| path == stdin) {
        return Err("--fix: standard input is not written to; --diff shows what would change".to_owned());
    }
    let root = gathered.root();
    let diff = match (&check.changed_in, &check.changed_since) {
        (Some(path), _) => Some(Diff::read(path, &gate(&check.lint.paths), root)?),
        (None, Some(revision)) => Some(Diff::since(revision, root)?),
        (None, None) => None,
    };
    let against = Against { baseline: baseline.transpose()?, diff };
    if check.add_ignore {
        return ignores::run(check, &gathered, &against);
    }
    progress.tell(&format!("linting {} files", gathered.inputs().len()));
    let judged = if check.fix || check.diff {
        let fixed = fix::fix(check, &gathered, &against)?;
        drop(progress);
        if check.diff {
            return fixed.show(check, &gathered);
        }
        fixed.write(check, &gathered)?;
        gathered.finish(fixed.found)
    } else {
        let judged = gathered.judge(&against)?;
        drop(progress);
        judged
    };
    write(check, &outputs, &judged)?;
    let verdict = &judged.verdict;
    let fails = |finding: &Finding| {
        let config = || judged.config.of(&judged.sources.get(finding.span.source).path).fail_on;
        let least = check.fail_on.map(Severity::from).or_else(config).unwrap_or(Severity::Error);
        finding.severity >= least
    };
    let unread = check.fail_on_unread && !verdict.coverage.unread.is_empty();
    let failed = unread || verdict.shown.iter().any(fails);
    let empty = judged.empty.clone();
    // The process ends here: giving back piece by piece what it holds is for nothing.
    std::mem::forget(judged);
    match empty {
        _ if failed && !check.exit_zero => Ok(FINDINGS),
        Some(path) if !check.allow_empty => {
            Err(format!("nothing was linted of {}; --allow-empty takes that as no fault", shown(&path)))
        }
        _ => Ok(CLEAN),
    }
}

/// The files that reports are written to.
fn outputs(check: &Check, read: &[PathBuf]) -> Result<Vec<Output>, String> {
    if let Some(surplus) = check.output.get(check.format.len()) {
        return Err(format!("--output {}: no --format is left for it", shown(surplus)));
    }
    if let Some(twice) = check.output.iter().enumerate().find(|(i, path)| check.output[..*i].contains(path)) {
        return Err(format!("--output {}: given twice", shown(twice.1)));
    }
    if (check.statistics || check.limit.is_some()) && check.format.iter().all(|r| r.reader == Reader::Program) {
        let people = REPORTERS.iter().filter(|reporter| reporter.reader != Reader::Program);
        let formats: Vec<&str> = people.map(|reporter| reporter.name).collect();
        return Err(format!("--statistics and --limit are for formats that people read: {}", formats.join(", ")));
    }
    let gate = gate(&check.lint.paths);
    let read = [read, check.baseline.as_slice(), check.changed_in.as_slice()].concat();
    check.output.iter().map(|path| Output::new(path, &read, &gate)).collect()
}

/// Writes every report that was asked for.
fn write(check: &Check, outputs: &[Output], judged: &Judged) -> Result<(), String> {
    let Judged { verdict, sources, rules, root, .. } = judged;
    let elsewhere = (*root != cwd()).then(|| {
        let name = |path: &str| called(path, root);
        let coverage = verdict.coverage.clone().renamed(name);
        (Verdict { coverage, ..verdict.clone() }, sources.renamed(name))
    });
    for (i, reporter) in check.format.iter().enumerate() {
        let output = outputs.get(i);
        let human = human_options(check, output.is_none());
        // What people open is written from where they are.
        let as_called = elsewhere.as_ref().filter(|_| reporter.reader == Reader::Terminal);
        let (verdict, sources) = as_called.map_or((verdict, sources), |(verdict, sources)| (verdict, sources));
        let text = (reporter.write)(&Report { verdict, sources, rules, human });
        match output {
            Some(output) => output.write(&text)?,
            None => print_as_is(&text)?,
        }
    }
    Ok(())
}
