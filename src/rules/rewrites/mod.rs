//! Other ways to write the same deployment. A rule that finds a fault in one of them and not in another knows the example, not
//! the fault: each example that fires is written anew in all of these ways, and the rule is asked again.

mod compose;
mod kubernetes;
mod manifest;
pub mod questions;
mod terraform;
mod texts;

use super::examples::{Files, Lint, unmark};
use super::{Entry, Ruleset};
use std::collections::BTreeMap;

/// A way to write the same deployment.
pub struct Rewrite {
    /// Its name, by which a rule makes an exception of it.
    pub name: &'static str,
    /// What is written how, and so what stays.
    pub about: &'static str,
    /// Which of the ten questions to a rule it asks.
    pub question: Question,
    /// Words of which a rule that speaks of them is not asked: what it looks at would be gone.
    unless: &'static [&'static str],
    /// The files as they are then; `None` where there is nothing to write so.
    apply: fn(&Files) -> Option<Files>,
}

/// What a rule should be asked by its examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Both halves of what does not fit, and both orders in which they may be read.
    Halves,
    /// Every place that can state a fact.
    Places,
    /// Every spelling of a setting.
    Spellings,
    /// Kinds, engines and platforms other than that of the example.
    Kinds,
    /// What else stands in the files, and what does not.
    Others,
    /// What holds when nothing is stated.
    Default,
    /// Values by reference.
    References,
    /// Several candidates instead of one.
    Sets,
    /// What raises or lowers the severity.
    Severity,
    /// A twin that looks guilty, and differs by the fix.
    Twin,
}

/// How a rule came through one way of writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survival {
    /// Id of the rule.
    pub rule: String,
    /// Name of the rewrite.
    pub rewrite: &'static str,
    /// Number of the example, from 1.
    pub example: usize,
    /// What came of it.
    pub outcome: Outcome,
    /// The files of which it is silent and does not say why.
    pub files: Files,
}

/// What came of asking a rule again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It fires still.
    Survived,
    /// It is silent, and does not say why.
    Lost,
    /// It is silent, and says why it is.
    Excepted,
}

/// All ways of writing.
pub fn all() -> impl Iterator<Item = &'static Rewrite> {
    [kubernetes::ALL, manifest::ALL, compose::ALL, terraform::ALL, texts::ALL].into_iter().flatten()
}

/// Asks every rule that `which` picks about its examples that fire, in all ways of writing.
pub fn test(rules: &Ruleset, which: impl Fn(&Entry) -> bool + Sync, lint: &Lint<'_>) -> Vec<Survival> {
    use rayon::prelude::*;
    let entries: Vec<&Entry> = rules.entries().iter().filter(|entry| which(entry)).collect();
    entries.par_iter().flat_map_iter(|entry| test_rule(entry, lint)).collect()
}

fn test_rule(entry: &Entry, lint: &Lint<'_>) -> Vec<Survival> {
    let page = entry.page();
    let words = entry.text().asked();
    let fires = page.examples.iter().enumerate().filter(|(_, example)| example.fires);
    let mut out = Vec::new();
    for (i, example) in fires {
        let plain = |(path, text): &(String, String)| (path.clone(), unmark(path, text, &mut Vec::new()));
        let files: Files = example.files.iter().map(plain).collect();
        for rewrite in all().filter(|one| !one.unless.iter().any(|word| words.contains(word))) {
            let Some(written) = (rewrite.apply)(&files) else { continue };
            let outcome = match lint(written.clone()).findings.iter().any(|finding| finding.rule == *entry.id) {
                true => Outcome::Survived,
                false if page.not_after.contains_key(rewrite.name) => Outcome::Excepted,
                false => Outcome::Lost,
            };
            let files = if outcome == Outcome::Lost { written } else { Files::new() };
            out.push(Survival { rule: entry.id.to_string(), rewrite: rewrite.name, example: i + 1, outcome, files });
        }
    }
    out
}

/// The exceptions that rules make of ways of writing which none of their examples needs: rule and way.
pub fn needless(rules: &Ruleset, which: impl Fn(&Entry) -> bool, all: &[Survival]) -> Vec<(String, String)> {
    let needed = |rule: &str, name: &str| {
        all.iter().any(|one| one.outcome == Outcome::Excepted && one.rule == rule && one.rewrite == name)
    };
    let entries = rules.entries().iter().filter(|entry| which(entry));
    let made = entries.flat_map(|entry| entry.page().not_after.into_keys().map(|name| (entry.id.to_string(), name)));
    made.filter(|(rule, name)| !needed(rule, name)).collect()
}

/// How many survived and were asked, by rewrite.
pub fn by_rewrite(all: &[Survival]) -> BTreeMap<&'static str, (usize, usize)> {
    let mut out = BTreeMap::new();
    for one in all.iter().filter(|one| one.outcome != Outcome::Excepted) {
        let (survived, asked): &mut (usize, usize) = out.entry(one.rewrite).or_default();
        *survived += usize::from(one.outcome == Outcome::Survived);
        *asked += 1;
    }
    out
}

/// Changes the texts of the files that `pick` picks; `None` where nothing changes.
fn each(files: &Files, pick: impl Fn(&str) -> bool, change: impl Fn(&str) -> Option<String>) -> Option<Files> {
    let mut changed = false;
    let files = files.iter().map(|(path, text)| {
        let new = Some(text).filter(|_| pick(path)).and_then(|text| change(text)).filter(|new| new != text);
        changed |= new.is_some();
        (path.clone(), new.unwrap_or_else(|| text.clone()))
    });
    let files = files.collect();
    changed.then_some(files)
}

/// Whether a path ends with one of these.
fn ends(path: &str, with: &[&str]) -> bool {
    with.iter().any(|end| path.ends_with(end))
}
