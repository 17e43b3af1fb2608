//! A rule's own examples as its test: does it fire where it says, and stay silent where it should?

use super::text::Example;
use super::{Entry, Ruleset};
use crate::finding::{Finding, Severity, apart, applied};
use crate::source::Sources;
use std::collections::BTreeSet;

/// What an example showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As the rule says.
    Validated,
    /// The rule should fire and does not.
    Missing,
    /// The rule should be silent and fires.
    Noisy,
    /// The rule fires, but somewhere else.
    Wrong,
}

/// The result of one example.
#[derive(Debug, Clone)]
pub struct Tested {
    /// Id of the rule.
    pub rule: String,
    /// Number of the example, from 1.
    pub example: usize,
    /// What it showed.
    pub verdict: Verdict,
    /// What was expected and what was found; empty when validated.
    pub detail: String,
}

/// What linting the files of an example gave.
#[derive(Debug, Default)]
pub struct Linted {
    /// The files.
    pub sources: Sources,
    /// The findings.
    pub findings: Vec<Finding>,
    /// Files that were not linted, and why.
    pub skipped: Vec<(String, String)>,
}

/// Files in memory: paths and texts.
pub type Files = Vec<(String, String)>;

/// Lints files in memory.
pub type Lint<'l> = dyn Fn(Files) -> Linted + Sync + 'l;

/// A place that an example marks: path and the marked text with its byte range.
pub(super) struct Mark {
    path: String,
    start: usize,
    end: usize,
    text: String,
}

/// Takes the marks ‹…› out of a text.
pub(super) fn unmark(path: &str, text: &str, marks: &mut Vec<Mark>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open = None;
    for c in text.chars() {
        match c {
            '‹' => open = Some(out.len()),
            '›' => {
                if let Some(start) = open.take() {
                    marks.push(Mark { path: path.to_owned(), start, end: out.len(), text: out[start..].to_owned() });
                }
            }
            _ => out.push(c),
        }
    }
    out
}

/// Message and help of a rule as its first example that fires shows them.
pub fn shown(entry: &Entry, lint: &Lint<'_>) -> Option<(String, String)> {
    let example = entry.page().examples.into_iter().find(|example| example.fires)?;
    let plain = |(path, text): &(String, String)| (path.clone(), unmark(path, text, &mut Vec::new()));
    let findings = lint(example.files.iter().map(plain).collect()).findings;
    let finding = findings.into_iter().find(|finding| finding.rule == entry.id)?;
    Some((finding.message, finding.help.unwrap_or_default()))
}

/// Runs every example of every rule that `which` picks.
pub fn test(rules: &Ruleset, which: impl Fn(&Entry) -> bool + Sync, lint: &Lint<'_>) -> Vec<Tested> {
    use rayon::prelude::*;
    let entries: Vec<&Entry> = rules.entries().iter().filter(|e| which(e)).collect();
    entries.par_iter().flat_map_iter(|entry| test_rule(entry, lint)).collect()
}

fn test_rule(entry: &Entry, lint: &Lint<'_>) -> Vec<Tested> {
    let id = &entry.id;
    let examples = entry.page().examples;
    if !examples.iter().any(|example| example.fires) {
        let detail = "no example fires: a rule that never fires would pass".to_owned();
        return vec![Tested { rule: id.to_string(), example: 0, verdict: Verdict::Missing, detail }];
    }
    let verdicts = examples.iter().enumerate().map(|(i, example)| {
        let mut marks = Vec::new();
        let files = example.files.iter().map(|(path, text)| (path.clone(), unmark(path, text, &mut marks))).collect();
        let Linted { sources, findings, skipped } = lint(files);
        let (own, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|f| f.rule == *id);
        // Advice and warnings elsewhere would tie every example to every rule.
        let place = |f: &Finding| own.iter().any(|o| o.span == f.span);
        let others = others.iter().filter(|f| f.severity == Severity::Error || place(f));
        let others: BTreeSet<&str> = others.map(|f| f.rule.as_str()).collect();
        let also: BTreeSet<&str> = example.also.iter().map(String::as_str).collect();
        let broken = findings.iter().find(|f| f.rule == "syntax-error").map(|f| f.message.clone());
        // What nothing deploys, and what a kustomization lacks, was read all the same.
        let unread = |reason: &str| !["built in part", "not deployed"].iter().any(|start| reason.starts_with(start));
        let broken = broken.or(skipped
            .iter()
            .find(|(_, reason)| unread(reason))
            .map(|(path, reason)| format!("{path} was not linted: {reason}")));
        let (verdict, detail) = judge(example.fires, &marks, &own, &sources);
        let (verdict, detail) = match broken {
            Some(message) if verdict != Verdict::Noisy => {
                (Verdict::Wrong, format!("the example does not parse: {message}"))
            }
            _ if verdict == Verdict::Validated && !own.iter().all(|f| mends(f, example, &sources, lint)) => {
                (Verdict::Wrong, "the fix does not mend it".to_owned())
            }
            _ if verdict == Verdict::Validated && also != others => {
                let list = |rules: &BTreeSet<&str>| rules.iter().copied().collect::<Vec<_>>().join(", ");
                let detail =
                    format!("what fails or stands here besides is also: [{}], not [{}]", list(&others), list(&also));
                (Verdict::Wrong, detail)
            }
            _ if verdict == Verdict::Validated => match unlike(id, example, lint) {
                Some(detail) => (Verdict::Wrong, detail),
                None => (verdict, detail),
            },
            _ => (verdict, detail),
        };
        Tested { rule: id.to_string(), example: i + 1, verdict, detail }
    });
    verdicts.collect()
}

/// So often are fixes made of what fixes were made of.
const ROUNDS: usize = 20;

/// What is not as an example says it is after the fixes of its rule: a text, or that the rule has nothing more to say.
fn unlike(rule: &str, example: &Example, lint: &Lint<'_>) -> Option<String> {
    if example.fixed.is_empty() {
        return None;
    }
    let plain = |(path, text): &(String, String)| (path.clone(), unmark(path, text, &mut Vec::new()));
    let before: Vec<(String, String)> = example.files.iter().map(plain).collect();
    let mut files = before.clone();
    for _ in 0..ROUNDS {
        let Linted { sources, findings, .. } = lint(files.clone());
        let own = || findings.iter().filter(|finding| finding.rule == rule);
        let (edits, _) = apart(own().filter_map(|finding| finding.fix.as_ref()));
        if edits.is_empty() {
            if let Some(left) = own().next() {
                return Some(format!("what is fixed is found still: {}", left.message));
            }
            let wanted = |path: &str| example.fixed.iter().find(|(fixed, _)| fixed == path).map(|(_, text)| text);
            return files.iter().zip(&before).find_map(|((path, now), (_, before))| {
                let text = wanted(path).unwrap_or(before);
                (now != text).then(|| format!("the fix makes of {path}:\n{now}"))
            });
        }
        for (path, text) in &mut files {
            let file = sources.iter().find(|(_, source)| source.path == *path);
            *text = file.map_or_else(|| text.clone(), |(file, _)| applied(&edits, file, text));
        }
    }
    Some("the fixes do not come to an end".to_owned())
}

/// Whether the fix of a finding, where it has one, ends it.
fn mends(finding: &Finding, example: &Example, sources: &Sources, lint: &Lint<'_>) -> bool {
    let Some(fix) = &finding.fix else { return true };
    let files = example.files.iter().map(|(path, text)| {
        let text = unmark(path, text, &mut Vec::new());
        let file = sources.iter().find(|(_, source)| source.path == *path);
        (path.clone(), file.map_or(text.clone(), |(file, _)| fix.applied(file, &text)))
    });
    let after = lint(files.collect()).findings;
    !after.iter().any(|f| f.rule == finding.rule && f.message == finding.message)
}

fn judge(fires: bool, marks: &[Mark], own: &[&Finding], sources: &Sources) -> (Verdict, String) {
    let at = |f: &Finding| {
        let source = sources.get(f.span.source);
        let position = source.position(f.span.start);
        format!("{}:{}:{} `{}`: {}", source.path, position.line, position.column, source.slice(f.span), f.message)
    };
    if !fires {
        return match own.first() {
            Some(finding) => (Verdict::Noisy, at(finding)),
            None => (Verdict::Validated, String::new()),
        };
    }
    if own.is_empty() {
        return (Verdict::Missing, "no finding".to_owned());
    }
    let hit = |mark: &Mark| {
        own.iter().any(|f| sources.get(f.span.source).path == mark.path && f.span.range() == (mark.start..mark.end))
    };
    let missed: Vec<&Mark> = marks.iter().filter(|m| !hit(m)).collect();
    if missed.is_empty() && own.len() == marks.len() {
        return (Verdict::Validated, String::new());
    }
    let wanted: Vec<String> = missed.iter().map(|m| format!("{} `{}`", m.path, m.text)).collect();
    let found: Vec<String> = own.iter().map(|f| at(f)).collect();
    (Verdict::Wrong, format!("wanted {} at {}; found {}", marks.len(), wanted.join(", "), found.join(" | ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Confidence, Fix};
    use crate::source::{Source, SourceId, Span};

    /// What is said of a rule whose example fires, when another rule finds an error there and the fix writes `replacement`.
    fn said(also: &str, replacement: &str, skipped: &[(&str, &str)]) -> Vec<(Verdict, String)> {
        let mut rules = Ruleset::empty();
        let rule = format!(
            "id: it\npack: p\nseverity: error\napplies_to: pool\nforbid: \"true\"\nmessage: m\nhelp: h\nwhy: w\n\
             references: ['https://a.example']\nexamples:\n  - fires: {{a.yaml: '‹bad›'}}\n    also: [{also}]\n"
        );
        assert!(rules.add(SourceId(0), "it.yaml", &rule).is_empty());
        let lint = |files: Vec<(String, String)>| {
            let bad = files[0].1 == "bad";
            let span = Span { source: SourceId(0), start: 0, end: 3 };
            let find = |rule: &str| Finding {
                confidence: Confidence::High,
                fix: Some(Fix { title: String::new(), edits: vec![(span, replacement.to_owned())], safe: false }),
                unlinted: None,
                ..Finding::own(rule, Severity::Error, span, "m".to_owned())
            };
            Linted {
                sources: Sources::new(vec![Source::new("a.yaml", files[0].1.clone())]),
                findings: if bad { vec![find("it"), find("other")] } else { Vec::new() },
                skipped: skipped.iter().map(|(path, why)| ((*path).to_owned(), (*why).to_owned())).collect(),
            }
        };
        test(&rules, |_| true, &lint).into_iter().map(|tested| (tested.verdict, tested.detail)).collect()
    }

    #[test]
    fn what_else_fails_must_be_said_and_a_fix_must_mend() {
        assert_eq!(said("other", "good", &[]), [(Verdict::Validated, String::new())]);
        let silent = said("", "good", &[]);
        assert!(silent[0].0 == Verdict::Wrong && silent[0].1.contains("also: [other], not []"), "{silent:?}");
        assert_eq!(said("other", "bad", &[]), [(Verdict::Wrong, "the fix does not mend it".to_owned())]);
    }

    #[test]
    fn an_example_that_is_not_linted_shows_nothing() {
        let not_read = said("other", "good", &[("a.yaml", "it does not parse")]);
        assert!(not_read[0].0 == Verdict::Wrong && not_read[0].1.contains("a.yaml was not linted"), "{not_read:?}");
    }
}
