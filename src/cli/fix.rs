//! `gpulint check --fix` and `--diff`: what is shown and can be mended is, in the texts of the files; what that comes to is
//! linted again, until nothing is left to mend.

use super::analysis::{Against, Found, Gathered};
use super::arguments::Check;
use super::files::{called, gate};
use super::ignores::with;
use super::output::{complain, print_diff, rewrite};
use super::{CLEAN, FINDINGS};
use crate::changes;
use crate::discover::MAX_BYTES;
use crate::finding::{COVERAGE, apart, applied};
use crate::language::Language;
use crate::source::{SourceId, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// So often what was mended is linted again: each time some fixes wait for others.
const ROUNDS: usize = 20;

/// Texts by path.
type Texts = BTreeMap<String, String>;

/// What was mended.
pub struct Fixed {
    /// What is found then.
    pub found: Found,
    /// How the files read then.
    texts: Texts,
    /// How many findings were mended.
    count: usize,
}

/// Mends what a run shows, in memory.
///
/// # Errors
/// As for [`Gathered::judge`].
pub fn fix(check: &Check, gathered: &Gathered<'_>, against: &Against) -> Result<Fixed, String> {
    let (gate, disks, inputs) = (gate(&check.lint.paths), gathered.disks(), gathered.inputs());
    let stdin = check.diff && check.lint.paths.iter().any(|path| path == Path::new("-"));
    let read: BTreeMap<&str, &str> =
        inputs.iter().filter(|i| !i.is_inner()).map(|i| (i.path.as_str(), i.text.as_str())).collect();
    // What is written over is what was read.
    let stands = |path: &str| {
        let text = |disk: &PathBuf| gate.admit_output(disk).and_then(|_| gate.read(disk, MAX_BYTES)).ok();
        let text = disks.get(path).and_then(text);
        read.get(path).is_some_and(|read| stdin || text.is_some_and(|text| text == **read))
    };
    let found = gathered.judge_with(inputs.to_vec(), against)?;
    let mut fixed = Fixed { found, texts: Texts::new(), count: 0 };
    let mut broken: BTreeSet<String> = BTreeSet::new();
    for _ in 0..ROUNDS {
        let may = |path: &str| !broken.contains(path) && stands(path);
        let (texts, count) = mended(&fixed.found, check.unsafe_fixes, &may);
        if texts.is_empty() {
            break;
        }
        let all: Texts = fixed.texts.iter().chain(&texts).map(|(path, text)| (path.clone(), text.clone())).collect();
        let found = gathered.judge_with(with(inputs, &all), against)?;
        // What cannot be read then was not mended.
        let worse: Vec<String> =
            texts.into_keys().filter(|path| unread(&found, path) > unread(&fixed.found, path)).collect();
        if worse.is_empty() {
            fixed = Fixed { found, texts: all, count: fixed.count + count };
        }
        broken.extend(worse);
    }
    Ok(fixed)
}

/// How much of a file is told not to be linted.
fn unread(found: &Found, path: &str) -> usize {
    let of_file = |span: Span| found.sources.get(span.source).path == path;
    found.verdict.shown.iter().filter(|f| COVERAGE.contains(&f.rule.as_str()) && of_file(f.span)).count()
}

/// The texts with the fixes of what is shown, and how many findings they mend.
fn mended(Found { verdict, sources, .. }: &Found, unsafe_too: bool, may: &dyn Fn(&str) -> bool) -> (Texts, usize) {
    let fixes = verdict.shown.iter().filter_map(|finding| finding.fix.as_ref()).filter(|fix| fix.safe || unsafe_too);
    let path = |span: Span| sources.get(span.source).path.as_str();
    let (edits, count) = apart(fixes.filter(|fix| fix.edits.iter().all(|(span, _)| may(path(*span)))));
    let files: BTreeSet<SourceId> = edits.iter().map(|(span, _)| span.source).collect();
    let text = |id: SourceId| {
        let source = sources.get(id);
        (source.path.clone(), applied(&edits, id, &source.text))
    };
    (files.into_iter().map(text).collect(), count)
}

impl Fixed {
    /// Writes the files.
    ///
    /// # Errors
    /// One cannot be written.
    pub fn write(&self, check: &Check, gathered: &Gathered<'_>) -> Result<(), String> {
        let (gate, disks) = (gate(&check.lint.paths), gathered.disks());
        for (path, text) in &self.texts {
            disks.get(path).map_or(Ok(()), |disk| rewrite(disk, text, &gate))?;
        }
        self.tell(check, "fixed");
        Ok(())
    }

    /// Prints what would change.
    ///
    /// # Errors
    /// It cannot be printed.
    pub fn show(&self, check: &Check, gathered: &Gathered<'_>) -> Result<u8, String> {
        for input in gathered.inputs().iter().filter(|input| !input.is_inner()) {
            if let Some(text) = self.texts.get(&input.path) {
                print_diff(&changes::written(&called(&input.path, gathered.root()), &input.text, text))?;
            }
        }
        self.tell(check, "would be fixed");
        Ok(if self.texts.is_empty() || check.exit_zero { CLEAN } else { FINDINGS })
    }

    /// Says on standard error how much was mended, and how much only --unsafe-fixes would.
    fn tell(&self, check: &Check, done: &str) {
        let shown = &self.found.verdict.shown;
        let left = shown.iter().filter(|f| !check.unsafe_fixes && f.fix.as_ref().is_some_and(|fix| !fix.safe)).count();
        let language: Language = check.told.language();
        let mut told = vec![language.say(format!("{} {done} in {} files", self.count, self.texts.len()))];
        if left > 0 {
            told.push(language.say(format!("{left} more with --unsafe-fixes")));
        }
        if !check.quiet {
            complain(&told.join(&language.say(", ")));
        }
    }
}
