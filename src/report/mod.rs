//! Outputs: one file per format over the same findings. Knows findings and sources; knows neither facts nor
//! syntaxes.

pub mod checkstyle;
pub mod concise;
pub mod csv;
pub mod github;
pub mod gitlab;
pub mod grouped;
pub mod human;
pub mod json;
pub mod jsonl;
pub mod junit;
pub mod markdown;
pub mod rdjson;
pub mod sarif;
mod summary;
mod terminal;
mod told;
mod xml;

use crate::finding::Finding;
use crate::judge::Verdict;
use crate::rules::Ruleset;
use crate::source::{Sources, one_line};
use Reader::{Page, Program, Terminal};
use human::HumanOptions;
use std::borrow::Cow;

/// Where the project stands.
const HOME: &str = "https://gpulint.github.io/";

/// What every output is written from.
pub struct Report<'a> {
    /// What is shown, waived and undecided, and which files were looked at.
    pub verdict: &'a Verdict,
    /// The texts that findings point into.
    pub sources: &'a Sources,
    /// The rules that were asked, for their pages.
    pub rules: &'a Ruleset,
    /// How people want it shown.
    pub human: HumanOptions,
}

impl<'a> Report<'a> {
    /// The findings that are shown where there is a limit.
    fn limited(&self) -> &'a [Finding] {
        let shown = &self.verdict.shown;
        &shown[..self.human.limit.unwrap_or(usize::MAX).min(shown.len())]
    }

    /// What is wrong, in the language of the report and in one line.
    fn message(&self, finding: &Finding) -> String {
        one_line(&self.say(finding.text()))
    }

    /// A sentence in the language of the report.
    fn say<'t>(&self, sentence: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
        self.rules.language().say(sentence)
    }

    /// What the limit leaves out, in words.
    fn more(&self) -> Option<String> {
        let more = self.verdict.shown.len() - self.limited().len();
        let told = || format!("and {} (--limit {})", summary::plural(more, "more finding"), self.limited().len());
        (more > 0).then(|| self.say(told()).into_owned())
    }
}

/// An output format.
#[derive(Debug, Clone, Copy)]
pub struct Reporter {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Who reads it.
    pub reader: Reader,
    /// Writes the whole report as text.
    pub write: fn(&Report<'_>) -> String,
}

/// Who reads a format. What people read may be cut short or only count; what programs read is always whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// People at a terminal, who open files from where they are.
    Terminal,
    /// People on a page of the repository.
    Page,
    /// A program.
    Program,
}

const fn reporter(
    name: &'static str,
    reader: Reader,
    write: fn(&Report<'_>) -> String,
    about: &'static str,
) -> Reporter {
    Reporter { name, about, reader, write }
}

/// Every output format; the first one is the default.
pub const REPORTERS: &[Reporter] = &[
    reporter("human", Terminal, human::write, "Findings drawn in their files, with what to do"),
    reporter("concise", Terminal, concise::write, "One line for each finding, as compilers write it"),
    reporter("grouped", Terminal, grouped::write, "One line for each finding, by file"),
    reporter("markdown", Page, markdown::write, "A comment on a pull request, or the summary of a step in CI"),
    reporter("github", Program, github::write, "Annotations of GitHub Actions"),
    reporter("gitlab", Program, gitlab::write, "Code Quality report of GitLab"),
    reporter("json", Program, json::write, "Version 1 of the JSON report"),
    reporter("jsonl", Program, jsonl::write, "One finding of the JSON report in each line"),
    reporter("sarif", Program, sarif::write, "SARIF 2.1.0, for code scanning"),
    reporter("rdjson", Program, rdjson::write, "Reviewdog Diagnostic Format"),
    reporter("junit", Program, junit::write, "JUnit XML: a test case for each finding"),
    reporter("checkstyle", Program, checkstyle::write, "Checkstyle XML"),
    reporter("csv", Program, csv::write, "A table with a row for each finding"),
];

/// Whether a text begins like a report in JSON: what an earlier run wrote.
pub fn is_report(text: &str) -> bool {
    [json::HEAD, sarif::HEAD, rdjson::HEAD, gitlab::HEAD].iter().any(|head| text.starts_with(head))
        || text.trim_end() == gitlab::EMPTY
}
