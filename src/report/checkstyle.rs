//! The XML of Checkstyle, which most services of continuous integration read.

use super::Report;
use super::xml::escaped;
use crate::source::{for_log, one_line};

/// A list of files with their findings.
pub fn write(report: &Report<'_>) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"8.0\">\n");
    for in_file in report.told_with_unread().chunk_by(|a, b| a.finding.span.source == b.finding.span.source) {
        out.push_str(&format!("  <file name=\"{}\">\n", escaped(&in_file[0].path)));
        for told in in_file {
            // The parts of the source are taken for a category and a type.
            let source = escaped(&one_line(&format!("gpulint.{}.{}", told.finding.pack, told.finding.rule)));
            let help = if told.help.is_empty() { String::new() } else { format!("; help: {}", told.help) };
            out.push_str(&format!(
                "    <error line=\"{}\" column=\"{}\" severity=\"{}\" message=\"{}\" source=\"{source}\"/>\n",
                told.start.line,
                told.start.column,
                told.finding.severity.name(),
                escaped(&format!("{}{help}", told.message)),
            ));
        }
        out.push_str("  </file>\n");
    }
    out.push_str("</checkstyle>\n");
    for_log(&out).into_owned()
}
