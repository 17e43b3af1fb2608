use super::*;
use crate::finding::{Confidence, Label, Undecided};
use crate::judge::{Coverage, Restrictions, Verdict};
use crate::source::Source;

fn span(source: u32, range: std::ops::Range<usize>) -> Span {
    Span::new(SourceId(source), range)
}

fn finding(span: Span, related: Vec<Label>) -> Finding {
    Finding {
        rule: "driver-too-old-for-cuda".to_owned(),
        pack: "compatibility".to_owned(),
        severity: Severity::Error,
        confidence: Confidence::High,
        span,
        meaning: None,
        message: "CUDA 12.8 needs driver 570 or newer; the node runs 535".to_owned(),
        related,
        help: Some("raise the driver".to_owned()),
        entity: "Deployment/api".to_owned(),
        values: Vec::new(),
        wish: None,
        fix: None,
        unlinted: None,
    }
}

fn undecided(rule: &str, why: &str) -> Undecided {
    Undecided {
        rule: rule.to_owned(),
        pack: "compatibility".to_owned(),
        confidence: Confidence::High,
        span: span(0, 0..1),
        why: why.to_owned(),
        lacks_row: false,
        entity: why.to_owned(),
    }
}

fn render(verdict: &Verdict, sources: &Sources, human: HumanOptions) -> String {
    write(&Report { verdict, sources, rules: &Ruleset::empty(), human })
}

fn rendered(files: &[(&str, &str)], finding: Finding) -> String {
    let sources = Sources::new(files.iter().map(|(path, text)| Source::new(*path, *text)).collect());
    let verdict = Verdict {
        shown: vec![finding],
        coverage: Coverage { seen: files.len(), understood: files.len(), skipped: vec![], ..Coverage::default() },
        ..Verdict::default()
    };
    render(&verdict, &sources, HumanOptions::default())
}

#[test]
fn a_finding_shows_both_files_then_what_to_do() {
    let related = vec![Label { span: span(1, 9..12), text: "this pool runs 535".to_owned() }];
    let files = [("k8s/api.yaml", "kind: Pod\nimage: cuda:12.8\nend: 1\n"), ("pool.tf", "driver = 535\n")];
    let text = rendered(&files, finding(span(0, 17..26), related));
    let expected = "\
error[driver-too-old-for-cuda]: CUDA 12.8 needs driver 570 or newer; the node runs 535
  ╭▸ k8s/api.yaml:2:8
1 │ kind: Pod
2 │ image: cuda:12.8
  │        ━━━━━━━━━
3 │ end: 1
  ╰╴
  ╭▸ pool.tf:1:10
1 │ driver = 535
  ╰╴         ─── this pool runs 535
  help: raise the driver

1 error, 0 warnings, 0 infos · 2 files: 2 understood
why, and how to mend it: gpulint explain driver-too-old-for-cuda
";
    assert_eq!(text, expected);
}

#[test]
fn nothing_raw_reaches_the_terminal() {
    let evil = "a\u{1b}[31m\u{202e}\u{7}\r\u{9b}z";
    let mut found = finding(span(0, 0..evil.len()), vec![Label { span: span(1, 0..1), text: evil.to_owned() }]);
    for slot in [&mut found.rule, &mut found.message] {
        *slot = evil.to_owned();
    }
    found.help = Some(evil.to_owned());
    let sources = Sources::new(vec![Source::new(evil, format!("{evil}: 1\n{evil}\n")), Source::new("b", "x\n")]);
    let verdict = Verdict {
        shown: vec![found],
        waived: vec![],
        undecided: vec![undecided(evil, evil)],
        coverage: Coverage {
            seen: 3,
            understood: 2,
            skipped: vec![(evil.to_owned(), evil.to_owned())],
            ..Coverage::default()
        },
        held_back: vec![],
    };
    let text = render(&verdict, &sources, HumanOptions { show_unknown: true, ..HumanOptions::default() });
    let raw = |c: &char| c.is_control() && *c != '\n' || ('\u{202a}'..='\u{202e}').contains(c);
    assert_eq!(text.chars().find(raw), None, "{text:?}");
    assert!(text.contains("a?[31m"));
}

#[test]
fn long_lines_are_clipped_around_the_label() {
    let line = format!("{}needle{}\n", "é".repeat(50_000), "x".repeat(50_000));
    let text = rendered(&[("min.json", &format!("short\n{line}short\n"))], finding(span(0, 100_006..100_012), vec![]));
    assert!(text.contains("needle") && text.contains(" min.json:2:50001\n"), "{text}");
    assert!(text.len() < 2_000, "{}", text.len());
    let far = vec![Label { span: span(0, 6..8), text: "far".to_owned() }];
    let text = rendered(&[("min.json", &format!("short\n{line}short\n"))], finding(span(0, 100_006..100_012), far));
    assert!(text.contains("needle") && text.contains("far") && text.len() < 4_000, "{text}");
}

#[test]
fn odd_spans_are_drawn_without_a_panic() {
    for (text, range) in
        [("", 0..0), ("a", 1..1), ("a\n", 2..2), ("é", 1..2), ("a", 5..9), ("a\r\nb\r\n", 0..6), ("\n\n", 0..2)]
    {
        let drawn = rendered(&[("f", text)], finding(span(0, range.clone()), vec![]));
        assert!(drawn.contains("needs driver 570"), "{text:?} {range:?}\n{drawn}");
    }
    let block = rendered(&[("f", "run: |\n  one\n  two\n")], finding(span(0, 5..18), vec![]));
    assert!(block.contains("1 │ run: |"), "{block}");
}

#[test]
fn the_summary_says_what_was_not_seen() {
    let skipped = |reason: &str| ("f".to_owned(), reason.to_owned());
    let check = undecided("r", "w");
    let verdict = Verdict {
        undecided: vec![check],
        coverage: Coverage {
            seen: 12,
            understood: 6,
            nothing: 2,
            unread: vec![Unread { partly: false, words: vec![span(0, 0..1)] }],
            skipped: vec![
                skipped("too large: 9 bytes, the limit is 8"),
                skipped("Helm template"),
                skipped("Helm template"),
            ],
            ..Coverage::default()
        },
        ..Verdict::default()
    };
    let sources = Sources::new(vec![Source::new("f", "x")]);
    assert_eq!(
        render(&verdict, &sources, HumanOptions::default()),
        "nothing found\n12 files: 6 understood, 2 nothing here for us, 1 not understood (--show-unread lists them), \
         3\n    skipped (2 Helm template, 1 too large)\n1 check undecided, 1 of them as w (--show-unknown lists them)\n"
    );
    let listed =
        render(&verdict, &sources, HumanOptions { show_unknown: true, show_unread: true, ..HumanOptions::default() });
    assert!(
        listed.starts_with("1 check undecided as w\n  f:1:1 [r]\nf:1:1: not understood: one line speaks of GPUs (x)\n"),
        "{listed}"
    );
}

#[test]
fn the_summary_says_what_was_left_out_and_turned_off() {
    let by = vec![("rules turned off", ["a", "b", "c", "d"].map(str::to_owned).to_vec())];
    let verdict = Verdict {
        coverage: Coverage {
            seen: 1,
            understood: 1,
            excluded: vec![(".gitignore".to_owned(), 2), ("exclude".to_owned(), 1)],
            configurations: vec![Restrictions { path: ".gpulint.yaml".to_owned(), by }],
            ..Coverage::default()
        },
        ..Verdict::default()
    };
    let expected = "nothing found · 1 file: 1 understood\n3 paths excluded (2 .gitignore, 1 exclude)\n\
                    .gpulint.yaml: rules turned off: a, b, c and 1 more\n";
    assert_eq!(render(&verdict, &Sources::default(), HumanOptions::default()), expected);
}

#[test]
fn one_thing_that_is_not_known_is_one_line() {
    let verdict = Verdict {
        undecided: vec![undecided("b", "w"), undecided("a", "w"), undecided("a", "v")],
        ..Verdict::default()
    };
    let sources = Sources::new(vec![Source::new("f", "x")]);
    let listed =
        render(&verdict, &sources, HumanOptions { show_unknown: true, summary: false, ..HumanOptions::default() });
    assert_eq!(listed, "2 checks undecided as w\n  f:1:1 [a, b]\n1 check undecided as v\n  f:1:1 [a]\n");
}

#[test]
fn colour_is_only_used_when_asked_for() {
    let sources = Sources::new(vec![Source::new("f", "x: 1\n")]);
    let verdict = Verdict { shown: vec![finding(span(0, 0..1), vec![])], ..Verdict::default() };
    assert!(!render(&verdict, &sources, HumanOptions::default()).contains('\u{1b}'));
    assert!(render(&verdict, &sources, HumanOptions { color: true, ..HumanOptions::default() }).contains('\u{1b}'));
}

#[test]
fn what_is_found_in_many_places_is_drawn_once() {
    let text = "a: 1\n".repeat(10);
    let sources = Sources::new(vec![Source::new("a.yaml", text.clone()), Source::new("b.yaml", text)]);
    let at = |source: u32, line: usize| finding(span(source, line * 5..line * 5 + 1), vec![]);
    let other = Finding { message: "CUDA 12.9 needs driver 575".to_owned(), ..at(1, 2) };
    let apart = Finding { help: Some("drain the node first".to_owned()), ..at(1, 3) };
    let shown = vec![at(0, 0), at(0, 4), at(0, 8), at(1, 1), other, apart];
    let told = render(&Verdict { shown, ..Verdict::default() }, &sources, HumanOptions::default());
    let expected = "  help: raise the driver
  and at 5 more places:
    a.yaml:5:1, 9:1
    b.yaml:2:1
    b.yaml:3:1: CUDA 12.9 needs driver 575
    b.yaml:4:1
      help: drain the node first

count  files  severity  rule
    6      2  error     driver-too-old-for-cuda

";
    assert!(told.contains(expected), "{told}");
    assert_eq!(told.matches("╭▸").count(), 1, "{told}");
}

#[test]
fn what_gpulint_says_of_the_run_is_one_only_where_it_says_the_same() {
    let source = Sources::new(vec![Source::new("a.yaml", "a: 1\n")]);
    let own = |i: usize| Finding::own("syntax-error", Severity::Error, span(0, 0..1), format!("fault {i}"));
    let verdict = |shown| Verdict { shown, ..Verdict::default() };
    let different = render(&verdict((0..4).map(own).collect()), &source, HumanOptions::default());
    assert_eq!(different.matches("╭▸").count(), 4, "{different}");
    let same = render(&verdict((0..4).map(|_| own(0)).collect()), &source, HumanOptions::default());
    assert_eq!(same.matches("╭▸").count(), 1, "{same}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let long = format!("- {{name: h100, taints: [\"{}\"]}}", "x".repeat(30)).repeat(4);
    let said = "this pool is tainted nvidia.com/gpu=present:NoSchedule and nothing tolerates that today";
    let related = vec![Label { span: span(1, 100..110), text: said.to_owned() }];
    let sources = Sources::new(vec![
        Source::new("api.yaml", format!("{long}\n")),
        Source::new("pool.yaml", format!("{long}\n{long}\n")),
    ]);
    let mut found = finding(span(0, 60..130), related);
    found.help = Some(said.to_owned());
    for width in [60, 80, 120] {
        for unicode in [false, true] {
            let human = HumanOptions { width, unicode, ..HumanOptions::default() };
            let verdict = Verdict { shown: vec![found.clone()], ..Verdict::default() };
            let told = render(&verdict, &sources, human);
            let widest = told.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            assert!(widest <= width, "{widest} of {width}\n{told}");
            assert!(told.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{told}");
            assert_eq!(told.is_ascii(), !unicode, "{told}");
        }
    }
}
