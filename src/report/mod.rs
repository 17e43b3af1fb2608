//! Outputs: one file per format over the same findings. Knows findings and sources; knows neither facts nor
//! syntaxes.

pub mod human;
pub mod json;
pub mod sarif;
mod source_code;

use crate::judge::Verdict;
use crate::rules::Ruleset;
use crate::source::Sources;
use human::HumanOptions;

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

/// An output format.
#[derive(Debug, Clone, Copy)]
pub struct Reporter {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Writes the whole report as text.
    pub write: fn(&Report<'_>) -> String,
}

/// Every output format; the first one is the default.
pub const REPORTERS: &[Reporter] = &[
    Reporter { name: "human", about: "For people", write: human::write },
    Reporter { name: "json", about: "Version 1 of the JSON report", write: json::write },
    Reporter { name: "sarif", about: "SARIF 2.1.0, for code scanning", write: sarif::write },
];

/// Whether a text begins like a report in JSON: what an earlier run wrote.
pub fn is_report(text: &str) -> bool {
    [json::HEAD, sarif::HEAD].iter().any(|head| text.starts_with(head))
}
