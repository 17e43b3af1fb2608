//! The JSON report, version 1; its schema is `schemas/report.json`.

use super::Report;
use crate::finding::{Finding, Severity, Undecided};
use crate::judge::Unread;
use crate::source::{Sources, Span, sanitise};
use crate::words::Word as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Date of the newest data in the catalog.
const CATALOG: &str = env!("GPULINT_CATALOG");

/// What every report begins with.
pub const HEAD: &str = r#"{"version":1,"tool":{"name":"gpulint","#;

/// The report as a line of JSON.
pub fn write(with: &Report<'_>) -> String {
    line(&report(with))
}

/// Each finding as the report has it, and behind them each file that was not understood as if it were one.
pub fn diagnostics<'r>(with: &'r Report<'r>) -> impl Iterator<Item = Value> + 'r {
    let pages = pages(with);
    let all = with.verdict.shown.iter().map(Cow::Borrowed).chain(with.unread().map(Cow::Owned));
    all.map(move |finding| diagnostic(&finding, with.sources, &pages))
}

/// The report, of which one finding after another is written.
fn report<'r>(with: &'r Report<'r>) -> impl Serialize + 'r {
    let &Report { verdict, sources, rules, .. } = with;
    let (coverage, language) = (&verdict.coverage, rules.language());
    let pages = pages(with);
    Whole {
        version: 1,
        tool: json!({"name": "gpulint", "version": env!("CARGO_PKG_VERSION"), "catalog": CATALOG}),
        diagnostics: Each(&verdict.shown, move |finding: &Finding| diagnostic(finding, sources, &pages)),
        unknown: Each(&verdict.undecided, move |undecided: &Undecided| json!({
            "rule": undecided.rule,
            "path": sources.get(undecided.span.source).path,
            "range": range(sources, undecided.span),
            "why": language.say(&undecided.why),
        })),
        configurations: coverage.configurations.iter().map(|configuration| json!({
            "path": configuration.path,
            "restrictions": configuration.by.iter().map(|(what, names)| json!({"what": what, "names": names})).collect::<Vec<_>>(),
        })).collect(),
        files: json!({
            "seen": coverage.seen,
            "linted": coverage.linted(),
            "understood": coverage.understood,
            "nothing": coverage.nothing,
            "not_understood": coverage.not_understood(),
            "unread": coverage.unread.iter().map(|unread| unread_part(unread, sources)).collect::<Vec<_>>(),
            "skipped": coverage.skipped.iter().map(|(path, reason)| json!({"path": path, "reason": language.say(reason)})).collect::<Vec<_>>(),
            "excluded": coverage.excluded.iter().map(|(by, count)| json!({"by": by, "count": count})).collect::<Vec<_>>(),
            "notes": coverage.notes.iter().map(|(path, note)| json!({"path": path, "note": language.say(note)})).collect::<Vec<_>>(),
        }),
        held_back: verdict.held_back.iter().map(|by| json!({"by": by.by, "count": by.count, "stale": by.stale.len()})).collect(),
        summary: json!({
            "error": verdict.count(Severity::Error),
            "warning": verdict.count(Severity::Warning),
            "info": verdict.count(Severity::Info),
            "waived": verdict.waived.len(),
            "unknown": verdict.undecided.len(),
        }),
    }
}

/// Where a file was not understood.
fn unread_part(unread: &Unread, sources: &Sources) -> Value {
    let words = unread.words.iter().map(|word| {
        json!({
            "range": range(sources, *word),
            "word": sources.get(word.source).text[word.range()],
        })
    });
    let path = unread.words.first().map(|word| &sources.get(word.source).path);
    json!({"path": path, "partly": unread.partly, "words": words.collect::<Vec<_>>()})
}

#[derive(Serialize)]
struct Whole<D, U> {
    version: u32,
    tool: Value,
    diagnostics: D,
    unknown: U,
    configurations: Vec<Value>,
    files: Value,
    held_back: Vec<Value>,
    summary: Value,
}

/// A list whose elements are made while they are written.
struct Each<'a, T, F>(&'a [T], F);

impl<T, F: Fn(&T) -> Value> Serialize for Each<'_, T, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(&self.1))
    }
}

/// Where the page of each rule that found something stands.
type Pages<'a> = BTreeMap<&'a str, String>;

fn pages<'r>(with: &Report<'r>) -> Pages<'r> {
    let told: BTreeSet<&str> = with.verdict.shown.iter().map(|finding| finding.rule.as_str()).collect();
    told.into_iter().filter_map(|id| Some((id, with.rules.url(id)?))).collect()
}

fn diagnostic(finding: &Finding, sources: &Sources, pages: &Pages<'_>) -> Value {
    let path = &sources.get(finding.span.source).path;
    json!({
        "rule": finding.rule,
        "pack": finding.pack,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "help": finding.help,
        "url": pages.get(finding.rule.as_str()),
        "path": path,
        "range": range(sources, finding.span),
        "related": finding.related.iter().map(|label| json!({
            "path": sources.get(label.span.source).path,
            "range": range(sources, label.span),
            "message": label.text,
        })).collect::<Vec<_>>(),
        "entity": finding.entity,
        "values": finding.values,
        "reason": finding.unlinted.map(crate::finding::Unlinted::text),
        "fingerprint": finding.fingerprint(path),
        "fix": finding.fix.as_ref().map(|fix| json!({
            "title": fix.title,
            "safe": fix.safe,
            "edits": fix.edits.iter().map(|(span, replacement)| json!({
                "path": sources.get(span.source).path,
                "range": range(sources, *span),
                "replacement": replacement,
            })).collect::<Vec<_>>(),
        })),
    })
}

/// The report as a line of JSON. Characters that could steer a terminal are escaped, and so is what a runner could take
/// for a command, so that it can be shown raw.
pub fn line(report: &impl Serialize) -> String {
    // Texts, numbers and lists can always be written.
    let mut out = escaped(&serde_json::to_string(report).unwrap_or_default());
    out.push('\n');
    out
}

/// JSON in which characters that could steer a terminal or a runner are escaped. Signs that runners know occur in texts
/// only, and what makes a line a command to others never begins a line of JSON.
pub fn escaped(json: &str) -> String {
    if let (Cow::Borrowed(_), false) = (sanitise(json), json.contains("##")) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + 1);
    let (mut buffer, mut units) = ([0; 4], [0; 2]);
    for c in json.chars() {
        match sanitise(c.encode_utf8(&mut buffer)) {
            Cow::Borrowed(_) if c == '#' && out.ends_with('#') => out.push_str("\\u0023"),
            Cow::Borrowed(same) => out.push_str(same),
            Cow::Owned(_) => c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
}

/// 1-based lines and columns; the end is exclusive in columns.
fn range(sources: &Sources, span: Span) -> Value {
    let source = sources.get(span.source);
    let (start, end) = (source.position(span.start), source.position(span.end));
    json!({
        "start": {"line": start.line, "column": start.column},
        "end": {"line": end.line, "column": end.column},
    })
}
