//! `gpulint check --add-ignore`: what is found is waived where it stands, by a comment, or in the configuration where no
//! comment can stand. Nothing is written before another run over the changed texts has shown that just this is waived.

use super::analysis::{Against, Gathered};
use super::arguments::Check;
use super::files::{gate, shown};
use super::output::rewrite;
use super::{CLEAN, print};
use crate::config::{self, PYPROJECT};
use crate::discover::{self, Kind, MAX_BYTES};
use crate::finding::{COVERAGE, Finding, OWN_PACK};
use crate::judge::Verdict;
use crate::judge::baseline::Known;
use crate::judge::waive::{self, Comment, Entry, Place};
use crate::lint::{self, Input};
use crate::source::{Source, SourceId, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What is written where nobody gives a reason.
const REASON: &str = "found when gpulint was adopted";

/// A line of a file, from 0.
type Line = (String, usize);

/// How often each finding is there, by path and meaning.
type Counts = BTreeMap<(String, String), usize>;

/// Where the findings of lines are waived; in the configuration where no place is left.
type Plan = BTreeMap<Line, (Option<Place>, Vec<Finding>)>;

/// Waives what a run shows.
///
/// # Errors
/// gpulint could not do its work, or a file cannot be written.
pub fn run(check: &Check, gathered: &Gathered<'_>, against: &Against) -> Result<u8, String> {
    let reason = check.reason.as_deref().unwrap_or(REASON);
    if reason.contains(|c: char| c.is_control() || "\"\\".contains(c)) || reason.contains("*/") {
        return Err("--reason: no quotes, backslashes or line ends".to_owned());
    }
    let (gate, disks) = (gate(&check.lint.paths), gathered.disks());
    let inputs = gathered.inputs();
    let (shown_now, sources) = gathered.judge_with(inputs.to_vec(), against)?;
    let plain = gathered.judge_with(inputs.to_vec(), &Against::default())?;
    let stands = |source: &Source| {
        let disk = disks.get(&source.path);
        disk.is_some_and(|disk| gate.read(disk, MAX_BYTES).is_ok_and(|text| text == *source.text))
    };
    let (mut plan, left) = plan(&shown_now, &sources, &stands);
    let (whole, before) = all(&plain);
    let texts = loop {
        let texts = texts(&plan, &sources, reason);
        let (found, waived) = all(&gathered.judge_with(with(inputs, &texts), &Against::default())?);
        let failed = failed(&plan, &sources, (&before, &waived), (&whole, &found));
        if failed.is_empty() {
            break texts;
        }
        for line in failed {
            if let Some((place, _)) = plan.get_mut(&line) {
                *place = if *place == Some(Place::Above) { Some(Place::Beside) } else { None };
            }
        }
    };
    let entries: BTreeSet<(String, Entry)> = plan
        .iter()
        .filter(|(_, (place, _))| place.is_none())
        .flat_map(|((path, _), (_, findings))| {
            findings.iter().map(|finding| (path.clone(), Entry::of(finding, gathered.below(path))))
        })
        .collect();
    let configurations = configurations(gathered, &entries, reason)?;
    for (path, text) in &texts {
        if let Some(disk) = disks.get(path) {
            rewrite(disk, text, &gate)?;
        }
    }
    let comments = plan.values().filter(|(place, _)| place.is_some()).count();
    let mut told = vec![format!("{comments} comments in {} files", texts.len())];
    for (path, (text, count)) in configurations {
        rewrite(&path, &text, &gate)?;
        told.push(format!("{count} entries in {}", shown(&path)));
    }
    if left > 0 {
        told.push(format!("{left} findings are left that are about gpulint's own work: mend them"));
    }
    print(&format!("{}\n", told.join(", ")))?;
    Ok(CLEAN)
}

/// All findings of a run, and those that are waived.
fn all((verdict, sources): &(Verdict, Sources)) -> (Counts, Counts) {
    let waived = || verdict.waived.iter().map(|(finding, _)| finding);
    (counts(verdict.shown.iter().chain(waived()), sources), counts(waived(), sources))
}

fn counts<'f>(findings: impl Iterator<Item = &'f Finding>, sources: &Sources) -> Counts {
    let mut out = Counts::new();
    for known in findings.map(|finding| Known::of(finding, sources)) {
        *out.entry((known.path, known.meaning)).or_default() += 1;
    }
    out
}

/// Where what is shown may be waived, and how much of it may not be: what was not linted, and suppressions themselves.
fn plan(verdict: &Verdict, sources: &Sources, stands: &dyn Fn(&Source) -> bool) -> (Plan, usize) {
    let (mut plan, mut left) = (Plan::new(), 0);
    for finding in &verdict.shown {
        let source = sources.get(finding.span.source);
        if finding.pack == OWN_PACK && (COVERAGE.contains(&&*finding.rule) || finding.rule != "duplicate-key") {
            left += 1;
            continue;
        }
        let line = source.line_of(finding.span.start);
        let json = matches!(discover::kind_of(&source.path), Some(Kind::Json | Kind::TerraformJson) | None);
        let first = line == 0 && source.text.starts_with("#!");
        let place = || (!json && stands(source)).then_some(if first { Place::Beside } else { Place::Above });
        plan.entry((source.path.clone(), line)).or_insert_with(|| (place(), Vec::new())).1.push(finding.clone());
    }
    (plan, left)
}

/// The changed texts, by path.
fn texts(plan: &Plan, sources: &Sources, reason: &str) -> BTreeMap<String, String> {
    let mut comments: BTreeMap<&str, Vec<Comment>> = BTreeMap::new();
    for ((path, line), (place, findings)) in plan {
        if let Some(place) = *place {
            let rules = findings.iter().map(|finding| finding.rule.clone()).collect();
            comments.entry(path).or_default().push(Comment { line: *line, rules, place });
        }
    }
    let mut out = BTreeMap::new();
    // Of several texts of one path the first is the file.
    for (_, source) in sources.iter() {
        if let Some(comments) = comments.remove(source.path.as_str()) {
            out.insert(source.path.clone(), waive::commented(source, &comments, reason));
        }
    }
    out
}

/// The files of a run with the changed texts.
fn with(inputs: &[Input], texts: &BTreeMap<String, String>) -> Vec<Input> {
    let of = |input: &Input| match texts.get(&input.path) {
        None => vec![input.clone()],
        // What stands in another file is made of that.
        Some(_) if input.is_inner() => Vec::new(),
        Some(text) => {
            let input = Input { text: text.clone(), ..input.clone() };
            let inner = lint::inline(&input);
            std::iter::once(input).chain(inner).collect()
        }
    };
    inputs.iter().flat_map(of).collect()
}

/// Lines whose comments do not waive what they should, and those of files in which comments change more than that.
fn failed(
    plan: &Plan,
    sources: &Sources,
    (before, now): (&Counts, &Counts),
    (whole, all): (&Counts, &Counts),
) -> Vec<Line> {
    let tried = || plan.iter().filter(|(_, (place, _))| place.is_some());
    let mut wanted = before.clone();
    for (_, (_, findings)) in tried() {
        counts(findings.iter(), sources).into_iter().for_each(|(key, count)| *wanted.entry(key).or_default() += count);
    }
    let waived = |finding: &Finding| {
        let known = Known::of(finding, sources);
        let key = (known.path, known.meaning);
        now.get(&key).copied().unwrap_or(0) >= wanted.get(&key).copied().unwrap_or(0)
    };
    let lines: Vec<Line> =
        tried().filter(|(_, (_, findings))| !findings.iter().all(waived)).map(|(line, _)| line.clone()).collect();
    if !lines.is_empty() {
        return lines;
    }
    let of = |counts: &Counts, path: &str| -> Counts {
        counts.iter().filter(|((at, _), _)| at == path).map(|(key, count)| (key.clone(), *count)).collect()
    };
    tried().map(|(line, _)| line).filter(|(path, _)| of(whole, path) != of(all, path)).cloned().collect()
}

/// The configurations with further entries and how many those are, by where they stand.
fn configurations(
    gathered: &Gathered<'_>,
    entries: &BTreeSet<(String, Entry)>,
    reason: &str,
) -> Result<BTreeMap<PathBuf, (String, usize)>, String> {
    let mut of: BTreeMap<(PathBuf, String), Vec<Entry>> = BTreeMap::new();
    for (path, entry) in entries {
        of.entry(gathered.configuration(path)).or_default().push(entry.clone());
    }
    let ignores = |text: &str| {
        let (config, problems) = config::parse(SourceId(0), text);
        problems.is_empty().then_some(config.ignores.len())
    };
    let written = |((path, text), entries): ((PathBuf, String), Vec<Entry>)| {
        let new = Some(&path).filter(|path| !path.ends_with(PYPROJECT));
        let new = new.and_then(|_| waive::configured(&text, &entries, reason));
        let new = new.filter(|new| ignores(new) == ignores(&text).map(|count| count + entries.len()));
        new.map(|new| (path.clone(), (new, entries.len()))).ok_or_else(|| {
            let lines = waive::configured("", &entries, reason).unwrap_or_default();
            format!("{}: nothing was written; add by hand, and call this again:\n{lines}", shown(&path))
        })
    };
    of.into_iter().map(written).collect()
}
