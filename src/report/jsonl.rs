//! The findings of the JSON report, one in each line, for what reads line by line.

use super::{Report, json};

/// A line of JSON for each finding, and behind them for each file that was not understood.
pub fn write(report: &Report<'_>) -> String {
    let mut lines = String::new();
    json::diagnostics(report).for_each(|diagnostic| lines.push_str(&json::line(&diagnostic)));
    lines
}
