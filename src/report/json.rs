//! The JSON report, version 1; its schema is `schemas/report.json`.

use crate::finding::{Finding, Severity, Undecided};
use crate::source::{Sources, Span};
use serde_json::{Value, json};

/// What the report is about.
pub struct Report<'a> {
    /// The files.
    pub sources: &'a Sources,
    /// Findings to show.
    pub findings: &'a [Finding],
    /// Rules that could not be decided.
    pub undecided: &'a [Undecided],
    /// How many findings were waived.
    pub waived: usize,
    /// Files seen.
    pub seen: usize,
    /// Files linted.
    pub linted: usize,
    /// Paths and reasons of files that were not.
    pub skipped: &'a [(String, String)],
}

/// Date of the newest data in the catalog.
const CATALOG: &str = "2026-11";

/// The report as one JSON value.
pub fn report(report: &Report<'_>) -> Value {
    let count = |severity: Severity| report.findings.iter().filter(|f| f.severity == severity).count();
    json!({
        "version": 1,
        "tool": {"name": "gpulint", "version": env!("CARGO_PKG_VERSION"), "catalog": CATALOG},
        "diagnostics": report.findings.iter().map(|f| diagnostic(f, report.sources)).collect::<Vec<_>>(),
        "unknown": report.undecided.iter().map(|u| json!({
            "rule": u.rule,
            "path": report.sources.get(u.span.source).path,
            "range": range(report.sources, u.span),
            "why": u.why,
        })).collect::<Vec<_>>(),
        "files": {
            "seen": report.seen,
            "linted": report.linted,
            "skipped": report.skipped.iter().map(|(path, reason)| json!({"path": path, "reason": reason})).collect::<Vec<_>>(),
        },
        "summary": {
            "error": count(Severity::Error),
            "warning": count(Severity::Warning),
            "info": count(Severity::Info),
            "waived": report.waived,
            "unknown": report.undecided.len(),
        },
    })
}

fn diagnostic(finding: &Finding, sources: &Sources) -> Value {
    let path = &sources.get(finding.span.source).path;
    json!({
        "rule": finding.rule,
        "pack": finding.pack,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "help": finding.help,
        "url": finding.url,
        "path": path,
        "range": range(sources, finding.span),
        "related": finding.related.iter().map(|label| json!({
            "path": sources.get(label.span.source).path,
            "range": range(sources, label.span),
            "message": label.text,
        })).collect::<Vec<_>>(),
        "entity": finding.entity,
        "fingerprint": finding.fingerprint(path),
        "fix": finding.fix.as_ref().map(|fix| json!({
            "path": sources.get(fix.span.source).path,
            "range": range(sources, fix.span),
            "replacement": fix.replacement,
            "safe": fix.safe,
        })),
    })
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
