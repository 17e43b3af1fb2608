//! The Reviewdog Diagnostic Format: comments on a pull request through reviewdog.

use super::{HOME, Report, json};
use crate::finding::{Fix, Severity};
use crate::source::{Source, Span, one_line};
use serde_json::{Value, json};

/// What every report begins with.
pub const HEAD: &str = r#"{"source":{"name":"gpulint","#;

/// A result with a diagnostic for each finding.
pub fn write(report: &Report<'_>) -> String {
    let diagnostics = report.told_with_unread().into_iter().map(|told| {
        let severity = match told.finding.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info => "INFO",
        };
        let mut code = json!({"value": told.finding.rule});
        if let Some(url) = told.url {
            code["url"] = json!(url);
        }
        // The format's own reader refuses fields that its release does not know, so other places are told in words.
        let related = told.finding.related.iter().map(|label| {
            let source = report.sources.get(label.span.source);
            format!("{}:{}: {}", one_line(&source.path), source.position(label.span.start).line, one_line(&label.text))
        });
        let parts: Vec<String> =
            [told.message, told.help].into_iter().chain(related).filter(|part| !part.is_empty()).collect();
        json!({
            "message": parts.join("\n\n"),
            "location": location(told.source, told.finding.span),
            "severity": severity,
            "code": code,
            "suggestions": told.finding.fix.iter().filter_map(|fix| suggestion(fix, told.source, told.finding.span)).collect::<Vec<_>>(),
        })
    });
    json::line(&json!({
        "source": {"name": "gpulint", "url": HOME},
        "diagnostics": diagnostics.collect::<Vec<Value>>(),
    }))
}

/// A fix of one edit in the file of the finding; there is no way to say more.
fn suggestion(fix: &Fix, source: &Source, place: Span) -> Option<Value> {
    let [(span, text)] = fix.edits.as_slice() else { return None };
    (span.source == place.source).then(|| json!({"range": range(source, *span), "text": text}))
}

fn location(source: &Source, span: Span) -> Value {
    json!({"path": source.path, "range": range(source, span)})
}

fn range(source: &Source, span: Span) -> Value {
    json!({"start": position(source, span.start), "end": position(source, span.end.max(span.start))})
}

/// Columns count bytes here.
fn position(source: &Source, offset: u32) -> Value {
    let offset = offset.min(source.text.len() as u32);
    let line = source.line_of(offset);
    json!({"line": line + 1, "column": offset - source.line_starts()[line] + 1})
}
