//! One verdict through every output: each tells the same findings, at the same places, and nothing that a terminal or
//! a continuous-integration log would obey. What an output tells is read by the grammar of its format.

use super::readers::{Told, read};

use gpulint::config::Config;
use gpulint::discover::Kind;
use gpulint::facts::Facts;
use gpulint::finding::{Confidence, Finding, Label, Severity, Undecided};
use gpulint::judge::{self, Coverage, Restrictions, Unread, Verdict};
use gpulint::lint::{self, Input};
use gpulint::report::human::HumanOptions;
use gpulint::report::{REPORTERS, Reader, Report, Reporter};
use gpulint::rules::Ruleset;
use gpulint::source::{Source, SourceId, Sources, Span, for_log, one_line};
use std::collections::BTreeSet;

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
            configurations: vec![Restrictions {
                path: ".gpulint.yaml".to_owned(),
                by: vec![("rules turned off", vec!["some-rule".to_owned()])],
            }],
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

/// What every output must tell of the findings.
fn expected(verdict: &Verdict, sources: &Sources) -> Vec<Told> {
    let told = |finding: &Finding| {
        let source = sources.get(finding.span.source);
        let line = source.position(finding.span.start).line;
        Told { path: source.path.clone(), line, rule: finding.rule.clone(), message: finding.text() }
    };
    verdict.shown.iter().map(told).collect()
}

/// In one order, without what is replaced on the way to a log or to a reader of Markdown: line ends, signs that nobody sees, signs that
/// make a command.
fn safe(told: Vec<Told>) -> Vec<Told> {
    let safe = |text: String| for_log(&one_line(&text)).replace("](", "] (");
    let safe = |t: Told| Told { path: safe(t.path), rule: safe(t.rule), message: safe(t.message), ..t };
    let mut told: Vec<Told> = told.into_iter().map(safe).collect();
    told.sort();
    told
}

fn for_people(reporter: &Reporter) -> bool {
    reporter.reader != Reader::Program
}

/// The report with lines that are not wrapped.
fn wide() -> HumanOptions {
    HumanOptions { width: 10_000, ..HumanOptions::default() }
}

#[test]
fn every_output_tells_every_finding_and_what_was_not_read() {
    let rules = Ruleset::builtin();
    let (verdict, sources) = verdict(&rules);
    assert!(verdict.shown.len() > 2 && !verdict.waived.is_empty(), "{:?}", verdict.shown);
    let report = Report { verdict: &verdict, sources: &sources, rules: &rules, human: wide() };
    for reporter in REPORTERS {
        let text = (reporter.write)(&report);
        assert_eq!(safe(read(reporter.name, &text)), safe(expected(&verdict, &sources)), "{}\n{text}", reporter.name);
        let off = ["rules turned off", "some-rule", ".gitignore"];
        for told in ["too large", "api/Chart.yaml", "a model is needed"].into_iter().chain(off) {
            // These have no place for anything but findings; a file that could not be linted is one.
            let findings_only = ["gitlab", "jsonl", "rdjson", "checkstyle", "csv"].contains(&reporter.name);
            assert!(findings_only || text.contains(told), "{}: {told} is missing\n{text}", reporter.name);
        }
        let raw = text.chars().find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
        assert_eq!(raw, None, "{}: a raw character from a file", reporter.name);
        assert!(text.ends_with('\n'), "{}: the last line is not ended", reporter.name);
    }
}

#[test]
fn outputs_of_findings_only_have_an_entry_for_each_file_that_was_not_understood() {
    let rules = Ruleset::builtin();
    let text = "a: p4d.24xlarge\nb: 1\nc: h100\n";
    let sources = Sources::new(vec![Source::new("fleet.yaml", text)]);
    let words = ["p4d.24xlarge", "h100"].map(|word| text.find(word).expect("a word"));
    let words = words.map(|at| Span::new(SourceId(0), at..at + 4)).to_vec();
    let coverage = Coverage { seen: 1, unread: vec![Unread { partly: false, words }], ..Coverage::default() };
    let verdict = Verdict { coverage, ..Verdict::default() };
    let report = Report { verdict: &verdict, sources: &sources, rules: &rules, human: wide() };
    for name in ["gitlab", "jsonl", "rdjson", "checkstyle", "csv"] {
        let reporter = REPORTERS.iter().find(|reporter| reporter.name == name).expect("an output");
        let text = (reporter.write)(&report);
        let expected = Told {
            path: "fleet.yaml".to_owned(),
            line: 1,
            rule: "not-understood".to_owned(),
            message: "not understood: 2 lines speak of GPUs (p4d., h100)".to_owned(),
        };
        assert_eq!(read(name, &text), [expected], "{name}\n{text}");
        assert!(text.contains("not understood are lines 1, 3"), "{name}: {text}");
    }
}

#[test]
fn an_output_without_findings_says_so_by_its_grammar() {
    let (rules, verdict) = (Ruleset::builtin(), Verdict::default());
    let report = Report { verdict: &verdict, sources: &Sources::default(), rules: &rules, human: wide() };
    for reporter in REPORTERS {
        let text = (reporter.write)(&report);
        assert_eq!(read(reporter.name, &text), Vec::new(), "{}\n{text}", reporter.name);
        let said = text.contains("nothing found");
        let for_programs = ["gitlab", "json", "jsonl", "sarif", "rdjson", "checkstyle", "csv"].contains(&reporter.name);
        assert!(said || for_programs, "{}: {text}", reporter.name);
    }
}

/// What a file may say to a terminal, to the log of a runner, to a page, to a spreadsheet, or to people behind their back.
const ATTACKS: &[&str] = &[
    "x\n::error::pwned",
    "::stop-commands::x",
    "  ::add-mask::x",
    "%0A::error file=a::x, y",
    "a ##[error]x ##vso[task.setvariable]x ##teamcity[x]",
    "a\r::error::x",
    "a\u{85}::error::x",
    "a\u{2028}::error::x",
    "a\u{1b}[2K\u{9b}1A\u{8}\u{0}x",
    "a\u{1b}]8;;https://evil.example\u{1b}\\x",
    "a\u{202e}x\u{2066}",
    "a\u{200b}\u{180e}\u{fff9}\u{fffb}\u{3164}x",
    "a\u{e0041}\u{e007f}\u{e0100}x",
    "a\u{fffe}\u{ffff}x",
    "[click](https://evil.example) <img src=x onerror=alert(1)> `code` | cell",
    "a` | `b\\| ``` ~~~ https://evil.example www.evil.example @somebody #1 </details><script>alert(1)</script>",
    "```",
    "\\|\\||",
    "]]><failure/> --> &lt; &#0; <![CDATA[x]]>",
    "\" onload=\"x\" '><error/>",
    "=HYPERLINK(\"https://evil.example\"),+1,-1,@x",
    "a,b;c\td",
    "\"}], \"x\": 1, \\u0000 \\",
];

#[test]
fn no_value_steers_a_terminal_a_runner_or_a_reader() {
    let rules = Ruleset::builtin();
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
            lacks_row: false,
            entity: text(),
        };
        let bare = Finding { message: text(), help: Some(text()), values: Vec::new(), ..finding.clone() };
        let verdict = Verdict {
            shown: vec![finding.clone(), bare],
            waived: vec![(finding, text())],
            undecided: vec![undecided],
            coverage: Coverage {
                seen: 1,
                understood: 1,
                nothing: 0,
                unread: vec![],
                skipped: vec![(text(), text())],
                excluded: vec![(text(), 1)],
                configurations: vec![Restrictions { path: text(), by: vec![("rules turned off", vec![text()])] }],
                notes: vec![(text(), text())],
            },
            held_back: vec![],
        };
        let sources = Sources::new(vec![Source::new(*attack, *attack), Source::new(format!("b/{attack}"), said)]);
        let narrow = HumanOptions { width: 60, show_unknown: true, ..HumanOptions::default() };
        for reporter in REPORTERS {
            let report = |human| Report { verdict: &verdict, sources: &sources, rules: &rules, human };
            let text = (reporter.write)(&report(wide()));
            assert_eq!(
                safe(read(reporter.name, &text)),
                safe(expected(&verdict, &sources)),
                "{}: {attack:?}\n{text}",
                reporter.name
            );
            harmless(reporter.name, &text);
            harmless(reporter.name, &(reporter.write)(&report(narrow)));
        }
    }
}

/// Asserts that a text has nothing that a terminal or a runner obeys but the commands of its format.
fn harmless(reporter: &str, text: &str) {
    let commands: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("::"))
        .map(|command| command.split([' ', ':']).next().unwrap_or_default())
        .collect();
    let allowed: &[&str] = if reporter == "github" { &["error", "notice", "warning"] } else { &[] };
    assert!(commands.iter().all(|command| allowed.contains(command)), "{reporter}: {commands:?}\n{text}");
    assert!(!text.contains("##[") && !text.contains("##vso["), "{reporter}\n{text}");
    let unseen = |c: char| {
        let tag = ('\u{e0000}'..='\u{e0fff}').contains(&c);
        c.is_control() && c != '\n' || tag || "\u{2028}\u{202e}\u{2066}\u{200b}\u{180e}\u{fff9}\u{3164}".contains(c)
    };
    assert_eq!(text.chars().find(|c| unseen(*c)), None, "{reporter}\n{text}");
}

#[test]
fn a_limit_shortens_what_people_read_and_says_so() {
    let rules = Ruleset::builtin();
    let (verdict, sources) = verdict(&rules);
    let human = HumanOptions { limit: Some(1), ..wide() };
    let report = Report { verdict: &verdict, sources: &sources, rules: &rules, human };
    for reporter in REPORTERS {
        let text = (reporter.write)(&report);
        let (told, all) = (read(reporter.name, &text).len(), verdict.shown.len());
        assert_eq!(told, if for_people(reporter) { 1 } else { all }, "{}\n{text}", reporter.name);
        let said = text.contains(&format!("and {} more findings", all - 1));
        assert_eq!(said, for_people(reporter), "{}\n{text}", reporter.name);
    }
}

#[test]
fn statistics_count_findings_and_files_by_rule() {
    let rules = Ruleset::builtin();
    let (mut verdict, sources) = verdict(&rules);
    let again = verdict.shown.clone();
    verdict.shown.extend(again);
    let human = HumanOptions { statistics: true, ..wide() };
    let report = Report { verdict: &verdict, sources: &sources, rules: &rules, human };
    for reporter in REPORTERS.iter().filter(|reporter| for_people(reporter)) {
        let text = (reporter.write)(&report);
        assert!(read(reporter.name, &text).is_empty(), "{}\n{text}", reporter.name);
        let words = text.replace(['|', '`'], " ");
        let rows: Vec<Vec<&str>> = words.lines().map(|line| line.split_whitespace().collect()).collect();
        let first = &verdict.shown[0];
        let row = rows.iter().find(|row| row.len() > 3 && row.iter().any(|word| word.contains(&first.rule)));
        let row = row.unwrap_or_else(|| panic!("{}\n{text}", reporter.name));
        assert_eq!(row[..3], ["2", "1", first.severity.name()], "{}\n{text}", reporter.name);
    }
}
