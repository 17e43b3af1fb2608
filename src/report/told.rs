//! A finding with what most formats tell of it. Knows findings and places.

use super::Report;
use crate::finding::{Finding, Severity};
use crate::judge::Unread;
use crate::source::{Position, Source, Span, one_line};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What formats that hold findings only call it where a file was not understood. No rule finds it, so it counts nowhere.
const NOT_UNDERSTOOD: &str = "not-understood";

/// Most lines of a file that are told by their numbers.
const MOST_LINES: usize = 10;

/// A finding with its place in lines and columns. Its texts may hold anything that files do, but for line ends and signs
/// that nobody sees.
pub struct Told<'a> {
    /// The finding.
    pub finding: Cow<'a, Finding>,
    /// The file.
    pub source: &'a Source,
    /// Its path, in one line.
    pub path: String,
    /// First character.
    pub start: Position,
    /// One past the last character.
    pub end: Position,
    /// What is wrong.
    pub message: String,
    /// What to do; empty when nothing is known.
    pub help: String,
    /// The page of the rule.
    pub url: Option<String>,
    /// What it means, as a number; different for each finding of a report.
    pub fingerprint: String,
}

impl<'a> Report<'a> {
    /// Every finding, in the order of places.
    pub(super) fn told(&self) -> Vec<Told<'a>> {
        self.tell(self.verdict.shown.iter().map(Cow::Borrowed))
    }

    /// Every finding, and behind them each file that was not understood.
    pub(super) fn told_with_unread(&self) -> Vec<Told<'a>> {
        self.tell(self.verdict.shown.iter().map(Cow::Borrowed).chain(self.unread().map(Cow::Owned)))
    }

    /// Each file that was not understood, or not as a whole, as a finding at the first of its lines.
    pub(super) fn unread(&self) -> impl Iterator<Item = Finding> {
        self.verdict.coverage.unread.iter().filter_map(|unread| {
            let span = *unread.words.first()?;
            let own = Finding::own(NOT_UNDERSTOOD, Severity::Info, span, unread.text(self.sources));
            let mut finding = Finding { help: self.lines(unread), ..own };
            finding.tell_in(self.rules.language());
            Some(finding)
        })
    }

    /// The numbers of its lines that were not understood, where there are several.
    fn lines(&self, unread: &Unread) -> Option<String> {
        let line = |word: &Span| self.sources.get(word.source).position(word.start).line.to_string();
        let lines: Vec<String> = unread.words.iter().take(MOST_LINES).map(line).collect();
        let more = if unread.words.len() > MOST_LINES { ", …" } else { "" };
        (lines.len() > 1).then(|| format!("not understood are lines {}{more}", lines.join(", ")))
    }

    fn tell(&self, findings: impl Iterator<Item = Cow<'a, Finding>>) -> Vec<Told<'a>> {
        let mut numbers = Numbers::default();
        let mut pages: BTreeMap<String, Option<String>> = BTreeMap::new();
        let tell = |finding: Cow<'a, Finding>| {
            let source = self.sources.get(finding.span.source);
            Told {
                source,
                path: one_line(&source.path),
                start: source.position(finding.span.start),
                end: source.position(finding.span.end.max(finding.span.start)),
                message: self.message(&finding),
                help: one_line(finding.help.as_deref().unwrap_or_default()),
                url: pages.entry(finding.rule.clone()).or_insert_with(|| self.rules.url(&finding.rule)).clone(),
                fingerprint: numbers.distinct(finding.fingerprint(&source.path)),
                finding,
            }
        };
        findings.map(tell).collect()
    }
}

/// Fingerprints of findings that mean the same are told apart by their number, or a consumer would merge them.
#[derive(Default)]
pub struct Numbers(BTreeMap<String, usize>);

impl Numbers {
    /// The fingerprint with its number.
    pub fn distinct(&mut self, meaning: String) -> String {
        let count = self.0.entry(meaning.clone()).or_default();
        *count += 1;
        format!("{meaning}:{count}")
    }
}
