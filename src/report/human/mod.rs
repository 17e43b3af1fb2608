//! The report for people: each finding with its places in the text, then what was seen and what was not. What is found in
//! many places is drawn once.

mod draw;
mod wrap;

use super::{Report, summary};
use crate::finding::{Finding, OWN_PACK, Severity};
use crate::judge::{self, Unread, Waiting};
use crate::language::Language;
use crate::rules::Ruleset;
use crate::source::{SourceId, Sources, Span, one_line};
use annotate_snippets::Level;
use anstyle::Style;
use draw::{Code, Pen};
use std::collections::BTreeMap;
use summary::plural;
use wrap::wrapped;

pub use super::terminal::HumanOptions;

/// What findings that are told together have in common: their message without its values, and their help.
type Shape<'a> = (String, Option<&'a str>);

/// From how many findings of a rule on the first one is drawn, and of the others the places are told.
const REPEATED: usize = 4;

/// Most rules that the summary counts.
const TOP: usize = 5;

/// The whole report.
pub fn write(report: &Report<'_>) -> String {
    let options = &report.human;
    let mut printer = Printer::new(report.sources, Some(report.rules), options);
    if options.statistics {
        printer.out.push_str(&summary::table(report, &summary::counts(report)));
        printer.out.push('\n');
    } else {
        repeated(report.limited()).iter().for_each(|group| printer.group(group));
        report.more().iter().for_each(|more| printer.out.push_str(&format!("{more}\n\n")));
    }
    if options.show_unknown {
        judge::waiting(&report.verdict.undecided).iter().for_each(|group| printer.undecided(group));
    }
    if options.show_unread {
        report.verdict.coverage.unread.iter().for_each(|unread| printer.unread(unread));
    }
    if options.summary {
        printer.summary(report);
    }
    options.finished(&printer.out)
}

/// What is wrong with the configuration or a rule pack, drawn like findings.
pub fn problems(findings: &[Finding], sources: &Sources, options: &HumanOptions) -> String {
    let mut printer = Printer::new(sources, None, options);
    findings.iter().for_each(|finding| printer.group(&[finding]));
    printer.out
}

/// Findings in the order of their places; those of one rule together, at the first of them, where there are many. What
/// gpulint itself says has no words in common but where it says the same.
fn repeated(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (i, finding) in findings.iter().enumerate() {
        let own = (finding.pack == OWN_PACK).then_some(finding.message.as_str());
        alike.entry((&finding.rule, finding.severity, own)).or_default().push(i);
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for group in alike.into_values() {
        match group.len() < REPEATED {
            true => groups.extend(group.into_iter().map(|i| vec![i])),
            false => groups.push(group),
        }
    }
    groups.sort();
    groups.into_iter().map(|group| group.into_iter().map(|i| &findings[i]).collect()).collect()
}

struct Printer<'a> {
    sources: &'a Sources,
    rules: Option<&'a Ruleset>,
    codes: BTreeMap<SourceId, Code<'a>>,
    options: &'a HumanOptions,
    language: Language,
    out: String,
}

impl<'a> Printer<'a> {
    fn new(sources: &'a Sources, rules: Option<&'a Ruleset>, options: &'a HumanOptions) -> Self {
        let language = rules.map(Ruleset::language).unwrap_or_default();
        Self { sources, rules, codes: BTreeMap::new(), options, language, out: String::new() }
    }

    /// A line, wrapped; all but its first one are indented by four columns more.
    fn line(&mut self, text: &str, indent: usize) {
        let text = format!("{}{}", " ".repeat(indent), one_line(text));
        self.out.push_str(&wrapped(&text, self.options.width, indent + 4));
        self.out.push('\n');
    }

    /// The first finding, and where else there are such.
    fn group(&mut self, findings: &[&Finding]) {
        let Some((first, others)) = findings.split_first() else { return };
        self.heading(first);
        self.places(first);
        self.help(first, 2);
        if !others.is_empty() {
            let more = self.language.say(format!("and at {}:", plural(others.len(), "more place")));
            self.line(&more, 2);
            self.others(first, others);
        }
        self.out.push('\n');
    }

    fn heading(&mut self, finding: &Finding) {
        let source = self.sources.get(finding.span.source);
        // Where no text is, there is nothing to draw: the path stands in the message.
        let at = if source.text.is_empty() { format!("{}: ", source.path) } else { String::new() };
        let rule = one_line(&finding.rule).replace(' ', "-");
        let severity = self.language.say(finding.severity.name());
        let text = one_line(&format!("{severity}[{rule}]: {at}{}", self.language.say(finding.text())));
        let text = wrapped(&text, self.options.width, 4);
        let url = self.rules.and_then(|rules| rules.url(&finding.rule));
        let name = self.options.link(&rule, url.as_deref());
        let name = self.options.paint_severity(finding.severity, &format!("{severity}[{name}]"));
        let message = text.get(severity.len() + rule.len() + 2..).unwrap_or_default();
        self.out.push_str(&name);
        self.out.push_str(&self.options.paint(Style::new().bold(), message));
        self.out.push('\n');
    }

    /// One drawing for each file; that of the primary place comes first.
    fn places(&mut self, finding: &Finding) {
        let places = finding.related.iter().map(|label| (label.span, label.text.as_str()));
        let mut files: Vec<(SourceId, Vec<(Span, &str)>)> = Vec::new();
        for place in [(finding.span, "")].into_iter().chain(places) {
            match files.iter_mut().find(|(file, _)| *file == place.0.source) {
                Some((_, places)) => places.push(place),
                None => files.push((place.0.source, vec![place])),
            }
        }
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Info => Level::INFO,
        };
        let HumanOptions { color, unicode, width, .. } = *self.options;
        let note = self.language.say("  note:").into_owned();
        let pen = Pen::new(level, (color, unicode, width), note);
        for (i, (file, places)) in files.iter().enumerate() {
            let source = self.sources.get(*file);
            if !source.text.is_empty() {
                let code = self.codes.entry(*file).or_insert_with(|| Code::new(source));
                self.out.push_str(&code.draw(places, i == 0, &pen));
            }
        }
    }

    fn help(&mut self, finding: &Finding, indent: usize) {
        if let Some(help) = finding.help.as_deref().filter(|help| !help.is_empty()) {
            let label = self.language.say("  help:");
            self.line(&format!("{} {help}", label.trim_start()), indent);
        }
    }

    /// Further findings of a rule by what they say: a line for each file, with what differs from the first finding.
    fn others(&mut self, first: &Finding, others: &[&Finding]) {
        let mut alike: Vec<(Shape<'_>, Vec<&Finding>)> = Vec::new();
        let language = self.language;
        let says = |finding: &Finding| language.say(finding.text()).into_owned();
        let mut index: BTreeMap<(String, Option<&str>), usize> = BTreeMap::new();
        for finding in others {
            let key = (says(finding), finding.help.as_deref());
            let at = *index.entry(key.clone()).or_insert(alike.len());
            match alike.get_mut(at) {
                Some((_, same)) => same.push(finding),
                None => alike.push((key, vec![finding])),
            }
        }
        for ((text, help), findings) in alike {
            let mut files: Vec<String> = Vec::new();
            for in_file in findings.chunk_by(|a, b| a.span.source == b.span.source) {
                let source = self.sources.get(in_file[0].span.source);
                let at = in_file.iter().map(|finding| source.position(finding.span.start));
                let at: Vec<String> = at.map(|at| format!("{}:{}", at.line, at.column)).collect();
                files.push(format!("{}:{}", source.path, at.join(", ")));
            }
            let differs = text != says(first);
            match files.as_slice() {
                [file] if differs => self.line(&format!("{file}: {text}"), 4),
                files => {
                    let indent = if differs { 6 } else { 4 };
                    if differs {
                        self.line(&text, 4);
                    }
                    files.iter().for_each(|file| self.line(file, indent));
                }
            }
            if help != first.help.as_deref() {
                self.help(findings[0], 6);
            }
        }
    }

    /// One line for a file that was not understood: the first place, and the words.
    fn unread(&mut self, unread: &Unread) {
        let Some(first) = unread.words.first() else { return };
        let source = self.sources.get(first.source);
        let at = source.position(first.start);
        let line =
            format!("{}:{}:{}: {}", source.path, at.line, at.column, self.language.say(unread.text(self.sources)));
        self.line(&line, 0);
    }

    /// What is not known, what would decide it, and a line for each place with the rules that wait there.
    fn undecided(&mut self, group: &Waiting<'_>) {
        let decided_by = group.decided_by.map(|by| format!(": {}", self.language.say(by))).unwrap_or_default();
        let head = format!("{} undecided as {}", plural(group.checks.len(), "check"), group.why);
        let head = format!("{}{decided_by}", self.language.say(head));
        self.line(&head, 0);
        for checks in group.checks.chunk_by(|a, b| a.span == b.span) {
            let source = self.sources.get(checks[0].span.source);
            let at = source.position(checks[0].span.start);
            let rules: Vec<&str> = checks.iter().map(|check| check.rule.as_str()).collect();
            self.line(&format!("{}:{}:{} [{}]", source.path, at.line, at.column, rules.join(", ")), 2);
        }
    }

    /// The end: which rules found most, what was found and looked at, and what tells more of it.
    fn summary(&mut self, report: &Report<'_>) {
        let counts = summary::counts(report);
        if report.verdict.shown.len() > TOP && !self.options.statistics {
            self.out.push_str(&summary::table(report, &counts[..counts.len().min(TOP)]));
            if counts.len() > TOP {
                let more = format!("and {} (--statistics lists them)", plural(counts.len() - TOP, "more rule"));
                self.line(&report.say(more), 24);
            }
            self.out.push('\n');
        }
        summary::lines(report).iter().for_each(|line| self.line(line, 0));
        let worst = counts.iter().map(|count| count.severity).max();
        if let Some(count) = counts.iter().find(|count| Some(count.severity) == worst) {
            self.line(&report.say(format!("why, and how to mend it: gpulint explain {}", count.rule)), 0);
        }
    }
}

#[cfg(test)]
mod tests;
