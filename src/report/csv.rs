//! A table with a row for each finding, for spreadsheets and databases (RFC 4180).

use super::Report;
use crate::source::{for_log, one_line};

/// The table, with a head.
pub fn write(report: &Report<'_>) -> String {
    let mut out = String::from(
        "path,line,column,end_line,end_column,severity,rule,pack,confidence,message,help,url,fingerprint\n",
    );
    for told in report.told_with_unread() {
        let (finding, start, end) = (&told.finding, told.start, told.end);
        let place = [start.line, start.column, end.line, end.column].map(|number| number.to_string());
        let words =
            [finding.severity.name(), &one_line(&finding.rule), &one_line(&finding.pack), finding.confidence.name()];
        let texts = [&told.message, &told.help, told.url.as_deref().unwrap_or_default(), &told.fingerprint];
        let path = if is_formula(&told.path) { format!("./{}", told.path) } else { told.path };
        let cells = [path.as_str()].into_iter().chain(place.iter().map(String::as_str)).chain(words).chain(texts);
        out.push_str(&cells.map(cell).collect::<Vec<_>>().join(","));
        out.push('\n');
    }
    for_log(&out).into_owned()
}

/// A cell. What a spreadsheet would compute becomes text.
fn cell(text: &str) -> String {
    let text = if is_formula(text) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@'])
}
