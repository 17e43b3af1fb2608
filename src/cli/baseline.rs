//! `gpulint baseline`, and what a baseline has to do with a run. Knows where its files stand.

use super::analysis::{Against, Gathered};
use super::arguments;
use super::files::{cwd, gate, shown};
use super::output::Output;
use super::{CLEAN, print};
use crate::discover::{self, MAX_BYTES};
use crate::finding::{COVERAGE, STALE_BASELINE};
use crate::judge::baseline::{self, Baseline, Known, Standing};
use crate::language::Language;
use crate::report::json::escaped;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// A baseline that the command line names, for a run over some targets whose paths start at `root`.
///
/// # Errors
/// It cannot be read, or is none.
pub fn read(path: &Path, targets: &[PathBuf], root: &Path) -> Result<(Baseline, String), String> {
    let failed = |why: &dyn std::fmt::Display| format!("--baseline {}: {why}", shown(path));
    let text = gate(targets).read(path, MAX_BYTES).map_err(|reason| failed(&reason))?;
    let known = baseline::parse(&text).map_err(|why| failed(&why))?;
    let name = discover::shown(&cwd().join(path), root);
    let linted: Vec<PathBuf> = targets.iter().map(|target| discover::target(&cwd().join(target), root)).collect();
    let standing = |path: &str| {
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        let at = root.join(path);
        // Of what stands elsewhere nothing is asked.
        Standing {
            linted: linted.iter().any(|target| at.starts_with(target)),
            there: !plain || at.symlink_metadata().is_ok(),
        }
    };
    Ok((Baseline::new(name, known, standing), text))
}

/// Writes what is found to a baseline, or removes from one what is found no more.
///
/// # Errors
/// gpulint could not do its work, or the baseline cannot be read or written.
pub fn run(arguments: &arguments::Baseline) -> Result<u8, String> {
    let (lint, to) = (&arguments.lint, &arguments.output);
    let gathered = Gathered::new(lint, Some(to), Language::English)?;
    let output = Output::new(to, &gathered.read(), &gate(&lint.paths))?;
    if !output.is_ours() {
        return Err(format!("--output {}: it is there already, and no baseline", shown(to)));
    }
    let before = if arguments.prune { Some(read(to, &lint.paths, gathered.root())?) } else { None };
    let judged = gathered.judge(&Against { baseline: before, diff: None })?;
    let (verdict, sources) = (&judged.verdict, &judged.sources);
    let (known, lines, told) = match verdict.held_back.first() {
        Some(held) => {
            let over = held.stale.iter().map(|one| format!("{}: {}: {}\n", one.path, one.rule, one.message));
            (held.kept.clone(), over.collect::<String>(), format!("{} removed", held.stale.len()))
        }
        None => {
            let wanted =
                |rule: &str| rule != STALE_BASELINE && (arguments.accept_unlinted || !COVERAGE.contains(&rule));
            let (taken, left): (Vec<_>, Vec<_>) = verdict.shown.iter().partition(|finding| wanted(&finding.rule));
            let left = match left.len() {
                0 => String::new(),
                count => format!("; {count} that say what was not linted are left out: --accept-unlinted takes them"),
            };
            let rules: BTreeSet<&str> = taken.iter().map(|finding| finding.rule.as_str()).collect();
            let known = taken.iter().map(|finding| Known::of(finding, sources)).collect();
            (known, String::new(), format!("{} findings of {} rules{left}", taken.len(), rules.len()))
        }
    };
    let text = escaped(&baseline::text(&known));
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("{}: larger than what is read: {MAX_BYTES} bytes", shown(to)));
    }
    output.write(&text)?;
    print(&format!("{lines}{}: {told}\n", shown(to)))?;
    Ok(CLEAN)
}
