//! What formats for people end with: how much was found, by which rules, what was looked at, and what is not known.

use super::Report;
use crate::finding::Severity;
use crate::judge;
use crate::source::one_line;
use anstyle::Style;
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr as _;

/// Most charts that are told of one by one.
const MOST: usize = 5;

/// How often a rule is told.
pub struct Count<'a> {
    /// The rule.
    pub rule: &'a str,
    /// How bad.
    pub severity: Severity,
    /// Findings.
    pub count: usize,
    /// Files that they are in.
    pub files: usize,
}

/// Counts by rule and severity, the most frequent first.
pub fn counts<'a>(report: &Report<'a>) -> Vec<Count<'a>> {
    let mut files: BTreeMap<(&str, Severity), (usize, BTreeSet<_>)> = BTreeMap::new();
    for finding in &report.verdict.shown {
        let (count, files) = files.entry((&finding.rule, finding.severity)).or_default();
        *count += 1;
        files.insert(finding.span.source);
    }
    let count = |((rule, severity), (count, files)): (_, (usize, BTreeSet<_>))| Count {
        rule,
        severity,
        count,
        files: files.len(),
    };
    let mut out: Vec<Count<'_>> = files.into_iter().map(count).collect();
    out.sort_by(|a, b| (b.count, b.severity, a.rule).cmp(&(a.count, a.severity, b.rule)));
    out
}

/// A table of counts.
pub fn table(report: &Report<'_>, counts: &[Count<'_>]) -> String {
    let mut out = report.human.paint(Style::new().bold(), &report.say("count  files  severity  rule")) + "\n";
    for Count { rule, severity, count, files } in counts {
        let name = report.say(severity.name());
        let blanks = " ".repeat(8usize.saturating_sub(name.width()));
        let severity = report.human.paint_severity(*severity, &name) + &blanks;
        let rule = report.human.link(&one_line(rule), report.rules.url(rule).as_deref());
        out.push_str(&format!("{count:>5}  {files:>5}  {severity}  {rule}\n"));
    }
    out
}

/// How many findings of each severity there are: `1 error, 0 warnings, 2 infos`.
pub fn found(report: &Report<'_>) -> String {
    let verdict = report.verdict;
    let counts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];
    let counts = counts.map(|(severity, name)| report.say(plural(verdict.count(severity), name)));
    let found =
        if verdict.shown.is_empty() { report.say("nothing found") } else { counts.join(&report.say(", ")).into() };
    let waived = verdict.waived_apart();
    let waived = (waived > 0).then(|| report.say(format!("{waived} waived")));
    let held_back = verdict.held_back.iter().map(|by| report.say(by.text()));
    [found].into_iter().chain(waived).chain(held_back).collect::<Vec<_>>().join(" · ")
}

/// What was found, what was looked at and what is not known, in lines.
pub fn lines(report: &Report<'_>) -> Vec<String> {
    let (coverage, options) = (&report.verdict.coverage, &report.human);
    let (found, files) = (found(report), report.say(files(report)).into_owned());
    let both = format!("{found} · {files}");
    let mut lines = if both.width() <= options.width { vec![both] } else { vec![found, files] };
    lines.extend(fixable(report));
    if !coverage.excluded.is_empty() {
        let count = plural(coverage.excluded.iter().map(|(_, count)| count).sum(), "path");
        let by: Vec<String> = coverage.excluded.iter().map(|(by, count)| format!("{count} {by}")).collect();
        lines.push(report.say(format!("{count} excluded ({})", by.join(", "))).into_owned());
    }
    lines.extend(undecided(report).map(|undecided| report.say(undecided).into_owned()));
    for restrictions in coverage.configurations.iter().filter(|restrictions| !restrictions.by.is_empty()) {
        let by: Vec<_> = restrictions.lines().map(|line| report.say(line)).collect();
        lines.push(format!("{}: {}", restrictions.path, by.join(", ")));
    }
    let most = if options.show_unknown { usize::MAX } else { MOST };
    let notes = coverage.notes.iter().take(most);
    lines.extend(notes.map(|(path, note)| format!("{path}: {}", report.say(note))));
    let more = coverage.notes.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("and {} (--show-unknown lists them)", plural(more, "further chart")));
    lines.extend(more.map(|more| report.say(more).into_owned()));
    lines.iter().map(|line| one_line(line)).collect()
}

/// How many findings can be fixed, and how many of them only by what may change what is meant.
fn fixable(report: &Report<'_>) -> Option<String> {
    let fixes = || report.verdict.shown.iter().filter_map(|finding| finding.fix.as_ref());
    let (all, safe) = (fixes().count(), fixes().filter(|fix| fix.safe).count());
    let told = match (safe, all - safe) {
        (0, 0) => return None,
        (safe, 0) => format!("{safe} fixable with --fix"),
        (0, rest) => format!("{rest} fixable with --fix --unsafe-fixes"),
        (safe, rest) => format!("{safe} fixable with --fix, {rest} more with --unsafe-fixes"),
    };
    Some(report.say(told).into_owned())
}

/// How much could not be decided, why most of it could not, and what would decide that.
fn undecided(report: &Report<'_>) -> Option<String> {
    let groups = judge::waiting(&report.verdict.undecided);
    let most = groups.first()?;
    let count = plural(groups.iter().map(|group| group.checks.len()).sum(), "check");
    let by = most.decided_by.map(|by| format!(" ({by})")).unwrap_or_default();
    let listed = if report.human.show_unknown { "" } else { " (--show-unknown lists them)" };
    Some(format!("{count} undecided, {} of them as {}{by}{listed}", most.checks.len(), most.why))
}

/// What became of the files, in a sentence.
fn files(report: &Report<'_>) -> String {
    let coverage = &report.verdict.coverage;
    let (partly, not) = (coverage.partly(), coverage.not_understood());
    let mut parts = Vec::new();
    if coverage.understood > 0 {
        let of_them = if partly > 0 { format!(", {partly} of them in part") } else { String::new() };
        parts.push(report.say(format!("{} understood{of_them}", coverage.understood)));
    }
    if coverage.nothing > 0 {
        parts.push(report.say(format!("{} nothing here for us", coverage.nothing)));
    }
    if not > 0 {
        parts.push(report.say(format!("{not} not understood")));
    }
    if partly + not > 0 && !report.human.show_unread {
        let listed = report.say(" (--show-unread lists them)");
        parts.last_mut().into_iter().for_each(|last| last.to_mut().push_str(&listed));
    }
    if !coverage.skipped.is_empty() {
        let told = format!("{} skipped ({})", coverage.skipped.len(), reasons(report));
        parts.push(report.say(told));
    }
    let count = plural(coverage.seen, "file");
    if parts.is_empty() { count } else { format!("{count}: {}", parts.join(&report.say(", "))) }
}

/// How often each reason for leaving a file out occurs: `2 Helm template, 1 too large`.
fn reasons(report: &Report<'_>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, reason) in &report.verdict.coverage.skipped {
        // What follows a colon is about the one file.
        *counts.entry(reason.split(':').next().unwrap_or(reason)).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let told = counts.iter().map(|(reason, count)| format!("{count} {}", report.say(*reason)));
    told.collect::<Vec<_>>().join(&report.say(", "))
}

/// `1 file`, `2 files`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
