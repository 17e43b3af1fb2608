//! What holds for every input: no panic, no span outside its file, no byte that steers a terminal in a report, one line of
//! JSON, and the same verdict twice.

use gpulint::config::{self, Config};
use gpulint::discover::{charts, kind_in};
use gpulint::facts::Facts;
use gpulint::finding::Finding;
use gpulint::judge::{self, Coverage, Options, Verdict};
use gpulint::lint::{self, Input, Outcome};
use gpulint::parse::mask::mask;
use gpulint::report::human::HumanOptions;
use gpulint::report::{REPORTERS, Report};
use gpulint::rules::Ruleset;
use gpulint::source::{SourceId, Sources, Span};
use std::sync::LazyLock;

static RULES: LazyLock<Ruleset> = LazyLock::new(Ruleset::builtin);

/// Lints files whose names are given and whose texts are the parts of the input between NUL bytes.
pub fn files(names: &[&str], data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let files: Vec<(&str, &str)> = names.iter().copied().zip(text.split('\0')).collect();
    check(&files, &RULES, &Config::default());
}

/// Lints files that the input names: names and texts by turns, between NUL bytes.
pub fn any(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let parts: Vec<&str> = text.split('\0').collect();
    let files: Vec<(&str, &str)> = parts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    check(&files, &RULES, &Config::default());
}

/// Reads a configuration, and lints a manifest with it.
pub fn configuration(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (config, problems) = config::parse(SourceId(0), &text);
    problems.iter().for_each(|problem| inside(problem.span, &[(SourceId(0), &text)]));
    let mut rules = Ruleset::builtin();
    config.apply(&mut rules).iter().for_each(|problem| inside(problem.span, &[(SourceId(0), &text)]));
    check(&[("pod.yaml", POD)], &rules, &config);
}

/// Reads a rule, and asks it about a manifest.
pub fn rule(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut rules = Ruleset::empty();
    let problems = rules.add(SourceId(0), "rule.yaml", &text);
    problems.iter().for_each(|problem| inside(problem.span, &[(SourceId(0), &text)]));
    if problems.is_empty() {
        check(&[("pod.yaml", POD)], &rules, &Config::default());
    }
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    image: vllm/vllm-openai:v0.11.0\n    \
                   args: [--model, a/b]\n    resources: {limits: {nvidia.com/gpu: 2}}\n";

fn run(files: &[(&str, &str)], rules: &Ruleset, config: &Config) -> (Verdict, Outcome) {
    let known = charts(files.iter().map(|(path, _)| *path));
    let mut inputs: Vec<Input> = files
        .iter()
        .filter_map(|(path, text)| {
            let (path, kind) = ((*path).to_owned(), kind_in(&known, path)?);
            Some(Input { path, kind, text: (*text).to_owned(), repository: 0 })
        })
        .collect();
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    inputs.dedup_by(|a, b| a.path == b.path);
    let mut outcome = lint::run(inputs, Facts::default(), Vec::new(), rules);
    let annotations = outcome.annotations.clone();
    let input = judge::Input {
        findings: std::mem::take(&mut outcome.evaluation.findings),
        undecided: std::mem::take(&mut outcome.evaluation.undecided),
        comments: &outcome.comments,
        annotations,
        coverage: Coverage { skipped: outcome.skipped.clone(), notes: outcome.notes.clone(), ..Coverage::default() },
        ..judge::Input::default()
    };
    let today = jiff::civil::date(2030, 1, 1);
    let options = Options { select: vec![], ignore: vec![], min_confidence: None, today };
    (judge::judge(input, &outcome.sources, config, &options), outcome)
}

fn check(files: &[(&str, &str)], rules: &Ruleset, config: &Config) {
    for (_, text) in files {
        assert_eq!(mask(text).len(), text.len(), "a mask keeps the length");
    }
    let (verdict, outcome) = run(files, rules, config);
    verdict.shown.iter().for_each(|finding| places(finding, &outcome.sources));
    let first = reports(&verdict, &outcome.sources, rules);
    let (again, outcome) = run(files, rules, config);
    assert!(first == reports(&again, &outcome.sources, rules), "the same input is answered in the same way");
}

fn reports(verdict: &Verdict, sources: &Sources, rules: &Ruleset) -> Vec<String> {
    let human = HumanOptions { show_unknown: true, show_unread: true, ..HumanOptions::default() };
    let write = |(reporter, human): (&gpulint::report::Reporter, HumanOptions)| {
        let text = (reporter.write)(&Report { verdict, sources, rules, human });
        plain(reporter.name, &text);
        text
    };
    REPORTERS.iter().map(|reporter| (reporter, human)).map(write).collect()
}

/// Nothing in a report steers a terminal or a runner.
fn plain(name: &str, text: &str) {
    let steers = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    assert!(!text.contains(steers), "{name} steers a terminal");
    let command = |line: &str| line.trim_start().starts_with("::") && name != "github";
    assert!(!text.lines().any(command) && !text.contains("##["), "{name} steers a runner");
    let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    match name {
        "json" | "sarif" | "gitlab" | "rdjson" => assert!(text.lines().count() == 1 && is_json(text), "{name} is a line of JSON"),
        "jsonl" => assert!(text.lines().all(is_json), "{name} is lines of JSON"),
        _ => {}
    }
}

fn places(finding: &Finding, sources: &Sources) {
    let spans = std::iter::once(finding.span).chain(finding.related.iter().map(|label| label.span));
    for span in spans.chain(finding.fix.iter().flat_map(|fix| fix.edits.iter().map(|(span, _)| *span))) {
        inside(span, &sources.iter().map(|(id, source)| (id, &*source.text)).collect::<Vec<_>>());
    }
}

fn inside(span: Span, texts: &[(SourceId, &str)]) {
    let text = texts.iter().find(|(id, _)| *id == span.source).map(|(_, text)| text);
    assert!(text.is_some_and(|text| text.get(span.range()).is_some()), "a span lies in its file");
}
