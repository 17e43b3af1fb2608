//! One verdict through every output: each tells the same findings, at the same places, and nothing that a terminal or
//! a continuous-integration log would obey.

use gpulint::config::Config;
use gpulint::discover::Kind;
use gpulint::facts::Facts;
use gpulint::finding::{Confidence, Finding, Label, Severity, Undecided};
use gpulint::judge::{self, Coverage, Restrictions, Verdict};
use gpulint::lint::{self, Input};
use gpulint::report::human::HumanOptions;
use gpulint::report::{REPORTERS, Report};
use gpulint::rules::Ruleset;
use gpulint::source::{Source, SourceId, Sources, Span};

/// Faults of several severities, one of them in a file with a hostile name and text, one waived, one undecided.
const FILES: &[(&str, &str)] = &[
    (
        "k8s/api.yaml",
        "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: server
        image: vllm/vllm-openai:v0.6.0
        command: [sleep, infinity]
        resources: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: api}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  maxReplicas: 2
  metrics:
  - type: Resource
    resource:
      name: nvidia.com/gpu # gpulint: ignore[hpa-resource-metric-unsupported] reason=\"kept\"
      target: {type: Utilization, averageUtilization: 50}
",
    ),
    ("k8s/\u{1b}[31mred.yaml", "kind: Deployment\nmetadata: {name: \"\u{202e}evil\"}\nspec: [\n"),
];

fn verdict(rules: &Ruleset) -> (Verdict, Sources) {
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_owned(),
        kind: Kind::Yaml,
        text: (*text).to_owned(),
        repository: 0,
    };
    let outcome = lint::run(FILES.iter().map(input).collect(), Facts::default(), Vec::new(), rules);
    let input = judge::Input {
        findings: outcome.evaluation.findings,
        undecided: outcome.evaluation.undecided,
        comments: &outcome.comments,
        annotations: Vec::new(),
        coverage: Coverage {
            seen: 3,
            understood: 2,
            nothing: 0,
            unread: vec![],
            skipped: vec![("big.yaml".to_owned(), "too large".to_owned())],
            excluded: vec![(".gitignore".to_owned(), 3)],
            configuration: Some(Restrictions {
                path: ".gpulint.yaml".to_owned(),
                by: vec![("rules turned off", vec!["some-rule".to_owned()])],
            }),
            notes: vec![("api/Chart.yaml".to_owned(), "not judged: a model is needed".to_owned())],
        },
        ..judge::Input::default()
    };
    let options = judge::Options {
        select: Vec::new(),
        ignore: Vec::new(),
        min_confidence: None,
        today: jiff::civil::date(2026, 11, 21),
    };
    (judge::judge(input, &outcome.sources, &Config::default(), &options), outcome.sources)
}

#[test]
fn every_output_tells_every_finding_and_what_was_not_read() {
    let rules = Ruleset::builtin();
    let (verdict, sources) = verdict(&rules);
    assert!(verdict.shown.len() > 2 && !verdict.waived.is_empty(), "{:?}", verdict.shown);
    let human = HumanOptions { color: false, width: 10_000, show_unknown: false, show_unread: false, summary: true };
    for reporter in REPORTERS {
        let text = (reporter.write)(&Report { verdict: &verdict, sources: &sources, rules: &rules, human });
        for finding in &verdict.shown {
            let source = sources.get(finding.span.source);
            assert!(text.contains(&finding.rule), "{}: {} is missing", reporter.name, finding.rule);
            let line = source.position(finding.span.start).line.to_string();
            assert!(text.contains(&line), "{}: line {line} of {} is missing", reporter.name, finding.rule);
        }
        let off = ["rules turned off", "some-rule", ".gitignore"];
        for told in ["k8s/api.yaml", "too large", "api/Chart.yaml", "a model is needed"].into_iter().chain(off) {
            assert!(text.contains(told), "{}: {told} is missing\n{text}", reporter.name);
        }
        let raw = text.chars().find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
        assert_eq!(raw, None, "{}: a raw character from a file", reporter.name);
        assert!(text.ends_with('\n'), "{}: the last line is not ended", reporter.name);
    }
}

/// What a file may say to a terminal, to the log of a runner, or to people behind their back.
const ATTACKS: &[&str] = &[
    "x\n::error::pwned",
    "::stop-commands::x",
    "  ::add-mask::x",
    "a ##[error]x ##vso[task.setvariable]x ##teamcity[x]",
    "a\r::error::x",
    "a\u{85}::error::x",
    "a\u{2028}::error::x",
    "a\u{1b}[2K\u{9b}1A\u{8}x",
    "a\u{202e}x\u{2066}",
    "a\u{200b}\u{180e}\u{fff9}\u{fffb}\u{3164}x",
    "a\u{e0041}\u{e007f}\u{e0100}x",
    "[click](https://evil.example) <img src=x onerror=alert(1)> `code` | cell",
    "\"}], \"x\": 1, \\u0000 \\",
];

#[test]
fn no_value_steers_a_terminal_a_runner_or_a_reader() {
    let rules = Ruleset::builtin();
    let human = HumanOptions { color: false, width: 60, show_unknown: true, show_unread: false, summary: true };
    for attack in ATTACKS {
        let span = Span::new(SourceId(0), 0..1);
        // A word before it, so that wrapping may put it on a line of its own.
        let said = format!("{} {attack}", "word ".repeat(11));
        let text = || (*attack).to_owned();
        let finding = Finding {
            message: said.clone(),
            related: vec![Label { span: Span::new(SourceId(1), 0..1), text: said.clone() }],
            help: Some(said.clone()),
            entity: text(),
            values: vec![text()],
            ..Finding::own("syntax-error", Severity::Error, span, text())
        };
        let undecided = Undecided {
            rule: "gpu-limit-missing".to_owned(),
            pack: "scheduling".to_owned(),
            confidence: Confidence::High,
            span,
            why: said.clone(),
            entity: text(),
        };
        let verdict = Verdict {
            shown: vec![finding.clone(), Finding { message: text(), help: Some(text()), ..finding.clone() }],
            waived: vec![(finding, text())],
            undecided: vec![undecided],
            coverage: Coverage {
                seen: 1,
                understood: 1,
                nothing: 0,
                unread: vec![],
                skipped: vec![(text(), text())],
                excluded: vec![(text(), 1)],
                configuration: Some(Restrictions { path: text(), by: vec![("rules turned off", vec![text()])] }),
                notes: vec![(text(), text())],
            },
            held_back: vec![],
        };
        let sources = Sources::new(vec![Source::new(*attack, *attack), Source::new(format!("b/{attack}"), said)]);
        for reporter in REPORTERS {
            let text = (reporter.write)(&Report { verdict: &verdict, sources: &sources, rules: &rules, human });
            for line in text.lines() {
                assert!(!line.trim_start().starts_with("::"), "{}: {attack:?}\n{text}", reporter.name);
            }
            assert!(!text.contains("##[") && !text.contains("##vso["), "{}: {attack:?}\n{text}", reporter.name);
            let unseen = |c: char| {
                let tag = ('\u{e0000}'..='\u{e0fff}').contains(&c);
                c.is_control() && c != '\n'
                    || tag
                    || "\u{2028}\u{202e}\u{2066}\u{200b}\u{180e}\u{fff9}\u{3164}".contains(c)
            };
            assert_eq!(text.chars().find(|c| unseen(*c)), None, "{}: {attack:?}\n{text}", reporter.name);
            if reporter.name != "human" {
                let read: serde_json::Value = serde_json::from_str(&text).expect("one line of JSON");
                assert_eq!(text.lines().count(), 1);
                let link = read.to_string().contains("](https://evil");
                assert!(reporter.name == "json" || !link, "a link in {text}");
            }
        }
    }
}
