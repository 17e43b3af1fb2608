//! One line for each finding, below the file that it is in, for people.

use super::{Report, summary};
use crate::source::one_line;
use anstyle::Style;

/// The findings by file, or how often each rule is told, then the counts.
pub fn write(report: &Report<'_>) -> String {
    let options = &report.human;
    let mut out = String::new();
    if options.statistics {
        out.push_str(&summary::table(report, &summary::counts(report)));
        out.push('\n');
    } else {
        for in_file in report.limited().chunk_by(|a, b| a.span.source == b.span.source) {
            let source = report.sources.get(in_file[0].span.source);
            out.push_str(&options.paint(Style::new().bold(), &one_line(&source.path)));
            out.push('\n');
            for finding in in_file {
                let at = source.position(finding.span.start);
                let at = format!("{}:{}", at.line, at.column);
                let severity = options.paint_severity(finding.severity, &format!("{:7}", finding.severity.name()));
                let rule = options.link(&one_line(&finding.rule), report.rules.url(&finding.rule).as_deref());
                out.push_str(&format!("  {at:<8} {severity} {} [{rule}]\n", report.message(finding)));
            }
            out.push('\n');
        }
        report.more().iter().for_each(|more| out.push_str(&format!("{more}\n\n")));
    }
    if options.summary {
        summary::lines(report).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    options.finished(&out)
}
