//! Annotations of GitHub Actions: commands that the runner reads from the log.
//!
//! The grammar is that of the runner: `::command key=value,key=value::data`, in which values must not hold line ends,
//! percent signs, colons and commas, and data no line ends and percent signs.

use super::{Report, summary};
use crate::finding::Severity;
use crate::source::{for_log, one_line};

/// An annotation for each finding, and a notice that says what was looked at.
pub fn write(report: &Report<'_>) -> String {
    let mut out = String::new();
    for told in report.told() {
        let command = match told.finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let (start, end) = (told.start, told.end);
        let file = property(&told.path);
        let mut place = format!("file={file},line={}", start.line);
        // Columns of a place of several lines are refused.
        if start.line == end.line {
            place.push_str(&format!(",col={},endColumn={}", start.column, end.column));
        } else {
            place.push_str(&format!(",endLine={}", end.line));
        }
        let title = property(&format!("gpulint: {}", one_line(&told.finding.rule)));
        let lines = [told.message, told.help, told.url.unwrap_or_default()];
        let lines: Vec<String> = lines.iter().filter(|line| !line.is_empty()).map(|line| data(line)).collect();
        out.push_str(&format!("::{command} {place},title={title}::{}\n", lines.join("%0A")));
    }
    let lines: Vec<String> = summary::lines(report).iter().map(|line| data(line)).collect();
    out.push_str(&format!("::notice title=gpulint::{}\n", lines.join("%0A")));
    out
}

/// What stands behind the command. Signs of the older grammar, which is read anywhere in a line, are defused.
fn data(text: &str) -> String {
    for_log(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
