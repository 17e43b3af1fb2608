//! The findings of the JSON report, one in each line, for what reads line by line.

use super::{Report, json};

/// A line of JSON for each finding.
pub fn write(report: &Report<'_>) -> String {
    let mut lines = String::new();
    json::diagnostics(report).for_each(|diagnostic| lines.push_str(&json::line(&diagnostic)));
    lines
}
