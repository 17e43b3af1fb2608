//! What holds for every finding over every fixture and every example of every rule: its spans lie in their
//! file, on character boundaries, and are of text.

use gpulint::discover::{self, MAX_BYTES, Options};
use gpulint::facts::Facts;
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;
use gpulint::source::{Sources, Span};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The fixtures as one run.
fn fixtures() -> Vec<Input> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = discover::discover(&[PathBuf::from("fixtures")], &Options::new(root)).expect("no bad pattern").found;
    let read =
        |f: discover::Found| Some(Input { text: f.read(MAX_BYTES).ok()?, path: f.path, kind: f.kind, repository: 0 });
    found.into_iter().filter_map(read).collect()
}

/// Each example of each rule as a run of its own.
fn examples(rules: &Ruleset) -> Vec<(String, Vec<Input>)> {
    let mut runs = Vec::new();
    for entry in rules.entries() {
        for (i, example) in entry.page().examples.iter().enumerate() {
            let input = |(path, text): &(String, String)| {
                let text = text.replace(['‹', '›'], "");
                Some(Input { kind: discover::kind_of(path)?, path: path.clone(), text, repository: 0 })
            };
            runs.push((format!("{} example {}", entry.id, i + 1), example.files.iter().filter_map(input).collect()));
        }
    }
    runs
}

/// Every run, which all tests look at: its name and its outcome.
static OUTCOMES: LazyLock<Vec<(String, Outcome)>> = LazyLock::new(|| {
    let rules = Ruleset::builtin();
    let mut runs = examples(&rules);
    runs.push(("fixtures".to_owned(), fixtures()));
    let run = |inputs| lint::run(inputs, Facts::default(), Vec::new(), &rules);
    runs.into_iter().map(|(name, inputs)| (name, run(inputs))).collect()
});

/// What is wrong with a span; `None` when it is a place that can be shown.
fn fault(sources: &Sources, span: Span) -> Option<String> {
    let source = sources.iter().find(|(id, _)| *id == span.source)?.1;
    let Some(text) = source.text.get(span.range()) else {
        return Some(format!("{}: {:?} is out of bounds or splits a character", source.path, span.range()));
    };
    let (start, end) = (source.position(span.start), source.position(span.end));
    if start.line < 1 || start.column < 1 || end < start {
        return Some(format!("{}: from {start:?} to {end:?}", source.path));
    }
    text.is_empty().then(|| format!("{}:{}:{}: an empty span", source.path, start.line, start.column))
}

#[test]
fn every_place_of_every_finding_is_text() {
    let mut faults = Vec::new();
    let mut findings = 0;
    for (name, outcome) in &*OUTCOMES {
        for finding in &outcome.evaluation.findings {
            findings += 1;
            let places = std::iter::once(finding.span).chain(finding.related.iter().map(|label| label.span));
            let wrong = places.filter_map(|span| fault(&outcome.sources, span));
            faults.extend(wrong.map(|fault| format!("{name}: {}: {fault}", finding.rule)));
        }
    }
    assert!(findings > 100, "only {findings} findings");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_span_is_of_a_file_of_the_run() {
    for (name, outcome) in &*OUTCOMES {
        let files = outcome.sources.iter().count() as u32;
        let findings = outcome
            .evaluation
            .findings
            .iter()
            .flat_map(|f| std::iter::once(f.span).chain(f.related.iter().map(|l| l.span)));
        let undecided = outcome.evaluation.undecided.iter().map(|u| u.span);
        for span in findings.chain(undecided).chain(outcome.comments.iter().copied()) {
            assert!(span.source.0 < files, "{name}: {span:?}");
        }
    }
}

/// What a value reads as that says nothing to a person: an absent fact, an unknown one, a raw document.
const UNTOLD: &[&str] = &["nothing", "unknown (", "a map", "a list"];

/// Whether a text holds such a word more often than what the rule itself writes: then it came out of a value.
fn untold(text: &str, written: &str) -> Option<&'static str> {
    // "ollama listens" holds no list.
    let count = |text: &str, word: &str| {
        let stands_alone = |at: &usize| !text[..*at].ends_with(char::is_alphanumeric);
        text.match_indices(word).map(|(at, _)| at).filter(stands_alone).count()
    };
    UNTOLD.iter().copied().find(|word| count(text, word) > count(written, word))
}

#[test]
fn every_message_is_filled_in() {
    let rules = Ruleset::builtin();
    let mut faults = Vec::new();
    for (name, outcome) in &*OUTCOMES {
        for finding in &outcome.evaluation.findings {
            let Some(rule) = rules.get(&finding.rule).map(|entry| entry.text()) else { continue };
            assert!(!finding.message.trim().is_empty(), "{name}: {}", finding.rule);
            let labels: String = rule.labels.iter().map(|(_, text)| text.as_str()).collect();
            let help = finding.help.as_deref().unwrap_or_default();
            let texts = [(finding.message.as_str(), rule.message.as_str()), (help, rule.help.as_str())];
            let related = finding.related.iter().map(|label| (label.text.as_str(), labels.as_str()));
            for (text, written) in texts.into_iter().chain(related) {
                faults.extend(
                    untold(text, written).map(|word| format!("{}: {word:?} in {text:?} ({name})", finding.rule)),
                );
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn undecided_places_are_in_their_files() {
    for (name, outcome) in &*OUTCOMES {
        for undecided in &outcome.evaluation.undecided {
            let source = outcome.sources.get(undecided.span.source);
            assert!(
                source.text.get(undecided.span.range()).is_some(),
                "{name}: {}: {:?}",
                undecided.rule,
                undecided.span
            );
        }
    }
}
