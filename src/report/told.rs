//! A finding with what most formats tell of it. Knows findings and places.

use super::Report;
use crate::finding::Finding;
use crate::source::{Position, Source, one_line};
use std::collections::BTreeMap;

/// A finding with its place in lines and columns. Its texts may hold anything that files do, but for line ends and signs
/// that nobody sees.
pub struct Told<'a> {
    /// The finding.
    pub finding: &'a Finding,
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
        let mut numbers = Numbers::default();
        let mut pages: BTreeMap<&str, Option<String>> = BTreeMap::new();
        let mut tell = |finding: &'a Finding| {
            let source = self.sources.get(finding.span.source);
            Told {
                finding,
                source,
                path: one_line(&source.path),
                start: source.position(finding.span.start),
                end: source.position(finding.span.end.max(finding.span.start)),
                message: self.message(finding),
                help: one_line(finding.help.as_deref().unwrap_or_default()),
                url: pages.entry(&finding.rule).or_insert_with(|| self.rules.url(&finding.rule)).clone(),
                fingerprint: numbers.distinct(finding.fingerprint(&source.path)),
            }
        };
        self.verdict.shown.iter().map(&mut tell).collect()
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
