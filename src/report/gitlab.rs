//! The Code Quality report of GitLab: issues of the Code Climate specification, as far as GitLab reads it.

use super::{Report, json};
use crate::finding::Severity;
use serde_json::{Value, json};

/// What every report with findings begins with.
pub const HEAD: &str = r#"[{"type":"issue","engine_name":"gpulint","#;

/// The report of a run without findings.
pub const EMPTY: &str = "[]";

/// A list of issues.
pub fn write(report: &Report<'_>) -> String {
    let issues = report.told_with_unread().into_iter().map(|told| {
        let severity = match told.finding.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Info => "info",
        };
        let body: Vec<String> =
            [Some(told.help).filter(|help| !help.is_empty()), told.url].into_iter().flatten().collect();
        json!({
            "type": "issue",
            "engine_name": "gpulint",
            "check_name": told.finding.rule,
            "description": told.message,
            "content": {"body": body.join("\n\n")},
            "categories": [if told.finding.pack == "security" { "Security" } else { "Bug Risk" }],
            "severity": severity,
            "fingerprint": told.fingerprint,
            "location": {
                "path": told.source.path,
                "lines": {"begin": told.start.line, "end": told.end.line},
            },
        })
    });
    json::line(&Value::Array(issues.collect()))
}
