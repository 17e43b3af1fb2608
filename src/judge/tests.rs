use super::*;
use crate::config;
use crate::source::{Source, SourceId};

const TODAY: Date = Date::constant(2026, 11, 21);

fn finding(rule: &str, text: &str, under: &str) -> Finding {
    let at = text.find(under).expect("the text is there");
    Finding {
        rule: rule.to_owned(),
        pack: "compatibility".to_owned(),
        severity: Severity::Error,
        confidence: Confidence::High,
        span: Span::new(SourceId(0), at..at + under.len()),
        message: "wrong".to_owned(),
        meaning: None,
        related: Vec::new(),
        help: None,
        entity: "Deployment/ml/api container server".to_owned(),
        values: Vec::new(),
        wish: None,
        fix: None,
        unlinted: None,
    }
}

fn options() -> Options {
    Options { select: Vec::new(), ignore: Vec::new(), min_confidence: None, today: TODAY }
}

/// Comments as a parser of YAML reports them.
fn comments(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let sign = if line.starts_with('#') { Some(0) } else { line.find(" #").map(|at| at + 1) };
        out.extend(sign.map(|at| Span::new(SourceId(0), start + at..start + line.trim_end().len())));
        start += line.len();
    }
    out
}

/// Judges findings of rule `r` under each of the given texts of a YAML file.
fn judged(text: &str, under: &[&str], configuration: &str) -> Verdict {
    let sources = Sources::new(vec![Source::new("k8s/api.yaml", text), Source::new(".gpulint.yaml", configuration)]);
    let comments = comments(text);
    let (config, problems) = config::parse(SourceId(1), configuration);
    assert!(problems.is_empty(), "{problems:?}");
    let findings = under.iter().map(|u| finding("r", text, u)).collect();
    judge(Input { findings, comments: &comments, ..Input::default() }, &sources, &config, &options())
}

fn rules(verdict: &Verdict) -> Vec<&str> {
    verdict.shown.iter().map(|f| f.rule.as_str()).collect()
}

#[test]
fn a_comment_waives_its_line_or_the_line_below() {
    let verdict = judged(
        "a: 1 # gpulint: ignore[r] reason=\"known\"\n# gpulint: ignore[r]\n\n# prose\nb: 2\nc: 3\n",
        &["1", "2", "3"],
        "",
    );
    assert_eq!(rules(&verdict), ["r"]);
    assert_eq!(verdict.waived.iter().map(|(_, reason)| reason.as_str()).collect::<Vec<_>>(), ["known", ""]);
}

#[test]
fn a_comment_may_waive_a_file_and_name_a_pack() {
    let verdict = judged("# gpulint: ignore-file[compatibility]\na: 1\nb: 2\n", &["1", "2"], "");
    assert!(verdict.shown.is_empty());
    assert_eq!(verdict.waived.len(), 2);
}

#[test]
fn expired_unused_and_malformed_suppressions_are_findings() {
    let text = "a: 1 # gpulint: ignore[r] until=2026-11-20\nb: 2 # gpulint: ignore[r, other] until=2026-11-21\n\
                # gpulint: ignore r\nc: 3\n# gpulint: ignore[r] until=soon\nd: 4\n# gpulint: disable[r]\n";
    let verdict = judged(text, &["a: 1", "b: 2"], "");
    let expected = [
        "r",
        "expired-suppression",
        "unused-suppression",
        "malformed-suppression",
        "malformed-suppression",
        "malformed-suppression",
    ];
    assert_eq!(rules(&verdict), expected);
    assert_eq!(&text[verdict.shown[2].span.range()], "other");
    assert_eq!(&text[verdict.shown[5].span.range()], "disable");
    assert_eq!(verdict.waived.len(), 1);
}

#[test]
fn prose_about_gpulint_is_no_suppression() {
    let verdict = judged("# checked by gpulint: see the wiki\na: 'gpulint: ignore[r]'\n", &[], "");
    assert!(verdict.shown.is_empty());
}

#[test]
fn what_was_not_linted_is_waived_by_the_configuration_only() {
    let judged = |text: &str, configuration: &str| {
        let sources = Sources::new(vec![Source::new("a.yaml", text), Source::new(".gpulint.yaml", configuration)]);
        let (config, problems) = config::parse(SourceId(1), configuration);
        assert!(problems.is_empty(), "{problems:?}");
        let mut finding = finding("syntax-error", text, "a: [");
        finding.pack = OWN_PACK.to_owned();
        let annotation =
            Annotation { scope: finding.span, rules: vec![OWN_PACK.to_owned()], reason: None, span: finding.span };
        let comments = comments(text);
        let input =
            Input { findings: vec![finding], comments: &comments, annotations: vec![annotation], ..Input::default() };
        judge(input, &sources, &config, &options())
    };
    for word in ["gpulint", "syntax-error"] {
        for verb in ["ignore", "ignore-file"] {
            let verdict = judged(&format!("# gpulint: {verb}[{word}]\na: [\n"), "");
            assert!(rules(&verdict).contains(&"syntax-error") && verdict.waived.is_empty(), "{verb} {word}");
        }
    }
    let verdict = judged("a: [\n", "ignores: [{rule: syntax-error, path: a.yaml, reason: a fixture}]\n");
    assert_eq!(verdict.waived.len(), 1);
}

#[test]
fn the_configuration_ignores_by_path_and_object() {
    let ignores = |path: &str, object: &str| {
        format!("ignores:\n- {{rule: r, path: '{path}', object: '{object}', reason: known}}\n")
    };
    assert!(rules(&judged("a: 1\n", &["1"], &ignores("k8s/**", "ml/api"))).is_empty());
    assert_eq!(rules(&judged("a: 1\n", &["1"], &ignores("infra/**", "ml/api"))), ["r", "unused-suppression"]);
    assert_eq!(rules(&judged("a: 1\n", &["1"], &ignores("**/*.yaml", "ml/web"))), ["r", "unused-suppression"]);
}

#[test]
fn a_reason_is_required_when_configured_and_severities_may_change() {
    let text = "a: 1 # gpulint: ignore[r]\n";
    assert!(rules(&judged(text, &["1"], "require_reason: false\n")).is_empty());
    let verdict = judged(text, &["1"], "require_reason: true\nrules: {suppression-without-reason: error}\n");
    assert_eq!(rules(&verdict), ["suppression-without-reason"]);
    assert_eq!(verdict.shown[0].severity, Severity::Error);
    assert!(
        rules(&judged(text, &["1"], "require_reason: true\nrules: {suppression-without-reason: off}\n")).is_empty()
    );
}

#[test]
fn a_suppression_of_an_undecided_or_disabled_rule_is_not_unused() {
    let text = "a: 1 # gpulint: ignore[r]\n";
    assert_eq!(rules(&judged(text, &[], "")), ["unused-suppression"]);
    assert!(rules(&judged(text, &[], "rules: {r: off}\n")).is_empty());
}

#[test]
fn an_annotation_waives_within_its_object() {
    let text = "a: 1\n---\na: 2\n";
    let sources = Sources::new(vec![Source::new("k8s/api.yaml", text)]);
    let scope = |range| Span::new(SourceId(0), range);
    let input = Input {
        findings: vec![finding("r", text, "1"), finding("r", text, "2")],
        annotations: vec![Annotation {
            scope: scope(0..4),
            rules: vec!["r".to_owned()],
            reason: Some("known".to_owned()),
            span: scope(0..1),
        }],
        ..Input::default()
    };
    let verdict = judge(input, &sources, &Config::default(), &options());
    assert_eq!((verdict.shown.len(), verdict.waived.len()), (1, 1));
}

#[test]
fn selection_keeps_what_gpulint_says_of_itself() {
    let text = "a: 1\nb: 2\n";
    let sources = Sources::new(vec![Source::new("k8s/api.yaml", text)]);
    let mut syntax = finding("syntax-error", text, "2");
    syntax.pack = OWN_PACK.to_owned();
    let mut low = finding("shy", text, "2");
    low.confidence = Confidence::Low;
    let all = || vec![finding("r", text, "1"), syntax.clone(), low.clone()];
    let with = |options: Options| {
        let input = Input { findings: all(), ..Input::default() };
        let verdict = judge(input, &sources, &Config::default(), &options);
        verdict.shown.into_iter().map(|f| f.rule).collect::<Vec<_>>()
    };
    assert_eq!(with(options()), ["r", "syntax-error"]);
    assert_eq!(with(Options { select: vec!["shy".to_owned()], ..options() }), ["shy", "syntax-error"]);
    assert_eq!(with(Options { ignore: vec!["compatibility".to_owned()], ..options() }), ["syntax-error"]);
    let least = Some(Confidence::Low);
    assert_eq!(with(Options { min_confidence: least, ..options() }), ["r", "shy", "syntax-error"]);
}
