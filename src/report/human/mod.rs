//! The report for people: each finding with its places in the text, then what was seen and what was not.

use super::Report;
use super::source_code::{Code, shown};
use crate::finding::{Finding, Severity};
use crate::judge::{self, Unread, Verdict, Waiting};
use crate::language::Language;
use crate::source::{SourceId, Sources, Span, for_log, one_line};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use std::collections::BTreeMap;
use std::fmt;

/// Columns that messages are wrapped at, whatever the terminal: the same report for everybody.
pub const WIDTH: usize = 100;

/// What stands before the help; the renderer writes it.
const HELP: &str = "  help:";

/// Most charts that the summary tells of one by one.
const MOST: usize = 5;

/// How to show it.
#[derive(Debug, Clone, Copy)]
pub struct HumanOptions {
    /// Whether to colour.
    pub color: bool,
    /// Columns to wrap messages at.
    pub width: usize,
    /// Whether to list what could not be decided.
    pub show_unknown: bool,
    /// Whether to list where files speak of GPUs and were not understood.
    pub show_unread: bool,
    /// Whether to end with the summary.
    pub summary: bool,
}

/// The whole report.
pub fn write(report: &Report<'_>) -> String {
    for_log(&render(report.verdict, report.sources, (&report.human, report.rules.language()))).into_owned()
}

fn render(verdict: &Verdict, sources: &Sources, (options, language): (&HumanOptions, Language)) -> String {
    let mut printer = Printer::new(sources, options, language);
    for finding in &verdict.shown {
        printer.finding(finding);
    }
    if options.show_unknown {
        judge::waiting(&verdict.undecided).iter().for_each(|group| printer.undecided(group));
    }
    if options.show_unread {
        verdict.coverage.unread.iter().for_each(|unread| printer.unread(unread));
    }
    let mut out = printer.out;
    if options.summary {
        out.push_str(&summary(verdict, options, language));
    }
    out
}

/// What is wrong with the configuration or a rule pack, drawn like findings.
pub fn problems(findings: &[Finding], sources: &Sources, options: &HumanOptions) -> String {
    let mut printer = Printer::new(sources, options, Language::English);
    findings.iter().for_each(|finding| printer.finding(finding));
    printer.out
}

struct Printer<'a> {
    sources: &'a Sources,
    codes: BTreeMap<SourceId, Code<'a>>,
    handler: GraphicalReportHandler,
    language: Language,
    out: String,
}

impl<'a> Printer<'a> {
    fn new(sources: &'a Sources, options: &HumanOptions, language: Language) -> Self {
        let theme = if options.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(options.width.max(40))
            .with_links(false)
            .with_break_words(false)
            .without_syntax_highlighting();
        Self { sources, codes: BTreeMap::new(), handler, language, out: String::new() }
    }

    fn finding(&mut self, finding: &Finding) {
        let primary = (finding.span, "");
        let places = std::iter::once(primary).chain(finding.related.iter().map(|l| (l.span, l.text.as_str())));
        // One snippet per file; the file of the primary place comes first.
        let mut files: Vec<(SourceId, Vec<(Span, &str)>)> = Vec::new();
        for place in places {
            match files.iter_mut().find(|(file, _)| *file == place.0.source) {
                Some((_, places)) => places.push(place),
                None => files.push((place.0.source, vec![place])),
            }
        }
        let severity = match finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        };
        let last = files.len() - 1;
        for (i, (file, places)) in files.into_iter().enumerate() {
            let help = finding.help.as_deref().filter(|help| i == last && !help.is_empty());
            let source = self.sources.get(file);
            // Where no text is, there is nothing to draw: the path stands in the message.
            let drawn = !source.text.is_empty();
            let at = if drawn { String::new() } else { format!("{}: ", source.path) };
            let part = Part {
                code: (i == 0)
                    .then(|| one_line(&format!("{}[{}]", self.language.say(finding.severity.name()), finding.rule))),
                message: if i == 0 {
                    one_line(&format!("{at}{}", self.language.say(finding.text())))
                } else {
                    String::new()
                },
                severity,
                labels: if drawn { self.labels(file, &places) } else { Vec::new() },
                help: help.map(one_line),
            };
            self.part(&part, file);
        }
        self.out.push('\n');
    }

    fn labels(&self, file: SourceId, places: &[(Span, &str)]) -> Vec<LabeledSpan> {
        let source = self.sources.get(file);
        let label = |(i, (span, text)): (usize, &(Span, &str))| {
            let text = (!text.is_empty()).then(|| one_line(text));
            let span = shown(source, *span);
            if i == 0 { LabeledSpan::new_primary_with_span(text, span) } else { LabeledSpan::new_with_span(text, span) }
        };
        places.iter().enumerate().map(label).collect()
    }

    /// Draws a part of a finding. A part without a code continues the one before it: only its snippet is kept.
    fn part(&mut self, part: &Part, file: SourceId) {
        let code = self.codes.entry(file).or_insert_with(|| Code::new(self.sources.get(file)));
        let mut text = String::new();
        if self.handler.render_report(&mut text, &Drawn { part, code }).is_err() {
            // Writing to a string cannot fail; if the renderer ever refuses, the message must not be lost.
            text = format!("{}\n", part.message);
        }
        if self.language != Language::English
            && let Some(at) = text.rfind(HELP)
        {
            text.replace_range(at..at + HELP.len(), &self.language.say(HELP));
        }
        let kept = if part.code.is_some() { &text } else { text.split_once('\n').map_or("", |(_, snippet)| snippet) };
        self.out.push_str(kept);
    }

    /// One line for a file that was not understood: the first place, and the words.
    fn unread(&mut self, unread: &Unread) {
        let Some(first) = unread.words.first() else { return };
        let source = self.sources.get(first.source);
        let at = source.position(first.start);
        let line =
            format!("{}:{}:{}: {}", source.path, at.line, at.column, self.language.say(unread.text(self.sources)));
        self.out.push_str(&one_line(&line));
        self.out.push('\n');
    }

    /// What is not known, what would decide it, and a line for each place with the rules that wait there.
    fn undecided(&mut self, group: &Waiting<'_>) {
        let head = format!("{} undecided as {}", plural(group.checks.len(), "check"), group.why);
        let decided_by = group.decided_by.map(|by| format!(": {}", self.language.say(by))).unwrap_or_default();
        self.out.push_str(&one_line(&format!("{}{decided_by}", self.language.say(head))));
        self.out.push('\n');
        for checks in group.checks.chunk_by(|a, b| a.span == b.span) {
            let source = self.sources.get(checks[0].span.source);
            let at = source.position(checks[0].span.start);
            let rules: Vec<&str> = checks.iter().map(|check| check.rule.as_str()).collect();
            let line = format!("{}:{}:{} [{}]", source.path, at.line, at.column, rules.join(", "));
            self.out.push_str(&format!("  {}\n", one_line(&line)));
        }
    }
}

/// The end: what was found, what was looked at, what is not known, and how charts were judged.
fn summary(verdict: &Verdict, options: &HumanOptions, language: Language) -> String {
    let coverage = &verdict.coverage;
    let mut parts = Vec::new();
    if verdict.shown.is_empty() {
        parts.push("nothing found".to_owned());
    } else {
        let counts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];
        let counts = counts.map(|(severity, name)| language.say(plural(verdict.count(severity), name)));
        parts.push(counts.join(&language.say(", ")));
    }
    if verdict.waived_apart() > 0 {
        parts.push(language.say(format!("{} waived", verdict.waived_apart())).into_owned());
    }
    parts.extend(verdict.held_back.iter().map(|by| language.say(by.text()).into_owned()));
    parts.push(files(verdict, options, language));
    if !coverage.excluded.is_empty() {
        let count = plural(coverage.excluded.iter().map(|(_, count)| count).sum(), "path");
        let by: Vec<String> = coverage.excluded.iter().map(|(by, count)| format!("{count} {by}")).collect();
        parts.push(format!("{count} excluded ({})", by.join(", ")));
    }
    if !verdict.undecided.is_empty() {
        parts.push(undecided(verdict, options));
    }
    let most = if options.show_unknown { usize::MAX } else { MOST };
    let parts: Vec<_> = parts.into_iter().map(|part| language.say(part)).collect();
    let mut lines = vec![one_line(&parts.join(" · "))];
    if let Some(restrictions) = coverage.configuration.as_ref().filter(|restrictions| !restrictions.by.is_empty()) {
        let by: Vec<_> = restrictions.lines().map(|line| language.say(line)).collect();
        lines.push(one_line(&format!("{}: {}", restrictions.path, by.join(", "))));
    }
    let notes = coverage.notes.iter().take(most);
    lines.extend(notes.map(|(path, note)| one_line(&format!("{path}: {}", language.say(note)))));
    let more = coverage.notes.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("and {} (--show-unknown lists them)", plural(more, "further chart")));
    lines.extend(more.map(|more| language.say(more).into_owned()));
    lines.join("\n") + "\n"
}

/// How much could not be decided, and what would decide most of it.
fn undecided(verdict: &Verdict, options: &HumanOptions) -> String {
    let count = plural(verdict.undecided.len(), "check");
    if options.show_unknown {
        return format!("{count} undecided");
    }
    let groups = judge::waiting(&verdict.undecided);
    let most = groups.iter().find_map(|group| Some((group, group.decided_by?)));
    let most = most.map(|(group, by)| format!(", {} of them as {} ({by})", group.checks.len(), group.why));
    format!("{count} undecided{} (--show-unknown lists them)", most.unwrap_or_default())
}

/// What became of the files, in a sentence.
fn files(verdict: &Verdict, options: &HumanOptions, language: Language) -> String {
    let coverage = &verdict.coverage;
    let (partly, not) = (coverage.partly(), coverage.not_understood());
    let mut parts = Vec::new();
    if coverage.understood > 0 {
        let of_them = if partly > 0 { format!(", {partly} of them in part") } else { String::new() };
        parts.push(language.say(format!("{} understood{of_them}", coverage.understood)));
    }
    if coverage.nothing > 0 {
        parts.push(language.say(format!("{} nothing here for us", coverage.nothing)));
    }
    if not > 0 {
        parts.push(language.say(format!("{not} not understood")));
    }
    if partly + not > 0 && !options.show_unread {
        parts
            .last_mut()
            .into_iter()
            .for_each(|last| last.to_mut().push_str(&language.say(" (--show-unread lists them)")));
    }
    if !coverage.skipped.is_empty() {
        parts.push(language.say(format!("{} skipped ({})", coverage.skipped.len(), reasons(verdict, language))));
    }
    let count = plural(coverage.seen, "file");
    if parts.is_empty() { count } else { format!("{count}: {}", parts.join(&language.say(", "))) }
}

/// How often each reason for leaving a file out occurs: `2 Helm template, 1 too large`.
fn reasons(verdict: &Verdict, language: Language) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, reason) in &verdict.coverage.skipped {
        // What follows a colon is about the one file.
        *counts.entry(reason.split(':').next().unwrap_or(reason)).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let told = counts.iter().map(|(reason, count)| format!("{count} {}", language.say(*reason)));
    told.collect::<Vec<_>>().join(&language.say(", "))
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A finding's places in one file.
#[derive(Debug)]
struct Part {
    code: Option<String>,
    message: String,
    severity: miette::Severity,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
}

/// What the renderer draws.
#[derive(Debug)]
struct Drawn<'a> {
    part: &'a Part,
    code: &'a Code<'a>,
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.part.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl Diagnostic for Drawn<'_> {
    fn code<'s>(&'s self) -> Option<Box<dyn fmt::Display + 's>> {
        self.part.code.as_ref().map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.part.severity)
    }

    fn help<'s>(&'s self) -> Option<Box<dyn fmt::Display + 's>> {
        self.part.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.part.labels.iter().cloned()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.code)
    }
}

#[cfg(test)]
mod tests;
