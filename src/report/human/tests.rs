use super::*;
use crate::finding::{Confidence, Label, Undecided};
use crate::judge::{Coverage, Restrictions};
use crate::source::Source;

const OPTIONS: HumanOptions =
    HumanOptions { color: false, width: 100, show_unknown: false, show_unread: false, summary: true };

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
        entity: why.to_owned(),
    }
}

fn rendered(files: &[(&str, &str)], finding: Finding) -> String {
    let sources = Sources::new(files.iter().map(|(path, text)| Source::new(*path, *text)).collect());
    let verdict = Verdict {
        shown: vec![finding],
        coverage: Coverage { seen: files.len(), understood: files.len(), skipped: vec![], ..Coverage::default() },
        ..Verdict::default()
    };
    render(&verdict, &sources, (&OPTIONS, Language::English))
}

#[test]
fn a_finding_shows_both_files_then_what_to_do() {
    let related = vec![Label { span: span(1, 9..12), text: "this pool runs 535".to_owned() }];
    let files = [("k8s/api.yaml", "kind: Pod\nimage: cuda:12.8\nend: 1\n"), ("pool.tf", "driver = 535\n")];
    let text = rendered(&files, finding(span(0, 17..26), related));
    let expected = "\
error[driver-too-old-for-cuda]

  × CUDA 12.8 needs driver 570 or newer; the node runs 535
   ╭─[k8s/api.yaml:2:8]
 1 │ kind: Pod
 2 │ image: cuda:12.8
   ·        ─────────
 3 │ end: 1
   ╰────
   ╭─[pool.tf:1:10]
 1 │ driver = 535
   ·          ─┬─
   ·           ╰── this pool runs 535
   ╰────
  help: raise the driver

1 error, 0 warnings, 0 infos · 2 files: 2 understood
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
    let text = render(&verdict, &sources, (&HumanOptions { show_unknown: true, ..OPTIONS }, Language::English));
    let raw = |c: &char| c.is_control() && *c != '\n' || ('\u{202a}'..='\u{202e}').contains(c);
    assert_eq!(text.chars().find(raw), None, "{text:?}");
    assert!(text.contains("a?[31m"));
}

#[test]
fn long_lines_are_clipped_around_the_label() {
    let line = format!("{}needle{}\n", "é".repeat(50_000), "x".repeat(50_000));
    let text = rendered(&[("min.json", &format!("short\n{line}short\n"))], finding(span(0, 100_006..100_012), vec![]));
    assert!(text.contains("needle") && text.contains("[min.json:2:50001]"), "{text}");
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
        render(&verdict, &sources, (&OPTIONS, Language::English)),
        "nothing found · 12 files: 6 understood, 2 nothing here for us, 1 not understood (--show-unread lists them), 3 skipped \
         (2 Helm template, 1 too large) · 1 check undecided \
         (--show-unknown lists them)\n"
    );
    let listed = render(
        &verdict,
        &sources,
        (&HumanOptions { show_unknown: true, show_unread: true, ..OPTIONS }, Language::English),
    );
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
            configuration: Some(Restrictions { path: ".gpulint.yaml".to_owned(), by }),
            ..Coverage::default()
        },
        ..Verdict::default()
    };
    let expected = "nothing found · 1 file: 1 understood · 3 paths excluded (2 .gitignore, 1 exclude)\n\
                    .gpulint.yaml: 4 rules turned off (a, b, c, …)\n";
    assert_eq!(render(&verdict, &Sources::default(), (&OPTIONS, Language::English)), expected);
}

#[test]
fn one_thing_that_is_not_known_is_one_line() {
    let verdict = Verdict {
        undecided: vec![undecided("b", "w"), undecided("a", "w"), undecided("a", "v")],
        ..Verdict::default()
    };
    let sources = Sources::new(vec![Source::new("f", "x")]);
    let listed = render(
        &verdict,
        &sources,
        (&HumanOptions { show_unknown: true, summary: false, ..OPTIONS }, Language::English),
    );
    assert_eq!(listed, "2 checks undecided as w\n  f:1:1 [a, b]\n1 check undecided as v\n  f:1:1 [a]\n");
}

#[test]
fn colour_is_only_used_when_asked_for() {
    let sources = Sources::new(vec![Source::new("f", "x: 1\n")]);
    let verdict = Verdict { shown: vec![finding(span(0, 0..1), vec![])], ..Verdict::default() };
    assert!(!render(&verdict, &sources, (&OPTIONS, Language::English)).contains('\u{1b}'));
    assert!(
        render(&verdict, &sources, (&HumanOptions { color: true, ..OPTIONS }, Language::English)).contains('\u{1b}')
    );
}
