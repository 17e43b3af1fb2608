//! Findings as the protocol tells them.

use super::Linted;
use super::place::{address, range};
use crate::finding::{Finding, Severity};
use crate::source::{Span, Units, sanitise};
use serde_json::{Value, json};

/// Tags of diagnostics: what can be taken out, and what should not be used any more.
const UNNECESSARY: u8 = 1;
const DEPRECATED: u8 = 2;

/// A finding as a diagnostic.
pub fn diagnostic(finding: &Finding, linted: &Linted, units: Units) -> Value {
    let at = |span: Span| range(linted.sources.get(span.source), span, units);
    let related = finding.related.iter().map(|label| {
        let location = json!({"uri": address(&linted.file(label.span.source)), "range": at(label.span)});
        json!({"location": location, "message": sanitise(&label.text)})
    });
    let related: Vec<Value> = related.collect();
    let mut out = json!({
        "range": at(finding.span),
        "severity": severity(finding.severity),
        "code": finding.rule,
        "codeDescription": {"href": page(&finding.rule)},
        "source": "gpulint",
        "message": message(finding),
        "relatedInformation": related,
    });
    if let Some(tag) = tag(&finding.rule) {
        out["tags"] = json!([tag]);
    }
    out
}

/// The address of the page of a rule.
pub fn page(rule: &str) -> String {
    format!("https://gpulint.github.io/rules/{rule}/")
}

/// What is wrong and what to do about it: editors show nothing else.
fn message(finding: &Finding) -> String {
    let help = finding.help.iter().map(|help| format!("\nhelp: {help}"));
    sanitise(&(finding.text() + &help.collect::<String>())).into_owned()
}

fn severity(severity: Severity) -> u8 {
    match severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Info => 3,
    }
}

fn tag(rule: &str) -> Option<u8> {
    match rule {
        "unused-suppression" | "expired-suppression" => Some(UNNECESSARY),
        _ if rule.ends_with("-deprecated") => Some(DEPRECATED),
        _ => None,
    }
}
