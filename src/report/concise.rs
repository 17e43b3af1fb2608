//! One line for each finding, as compilers write them, for people, editors and `grep`.

use super::{Report, summary};
use crate::source::one_line;

/// The findings, or how often each rule is told, then the counts.
pub fn write(report: &Report<'_>) -> String {
    let options = &report.human;
    let mut out = String::new();
    if options.statistics {
        out.push_str(&summary::table(report, &summary::counts(report)));
    } else {
        for finding in report.limited() {
            let source = report.sources.get(finding.span.source);
            let (path, at) = (one_line(&source.path), source.position(finding.span.start));
            let rule = options.link(&one_line(&finding.rule), report.rules.url(&finding.rule).as_deref());
            let rule = options.paint_severity(finding.severity, &format!("{}[{rule}]", finding.severity.name()));
            out.push_str(&format!("{path}:{}:{}: {rule} {}\n", at.line, at.column, report.message(finding)));
        }
        report.more().iter().for_each(|more| out.push_str(&format!("{more}\n")));
    }
    if options.summary {
        summary::lines(report).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    options.finished(&out)
}
