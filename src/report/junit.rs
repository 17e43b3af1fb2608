//! JUnit XML, as Jenkins' schema of it (`junit-10.xsd`) has it: what shows tests shows findings. A file is a suite, a
//! finding a test case that failed.

use super::xml::escaped;
use super::{Report, summary};
use crate::source::{for_log, one_line};

/// The suites.
pub fn write(report: &Report<'_>) -> String {
    let told = report.told();
    let count = told.len();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpulint\" tests=\"{}\" failures=\"{count}\" errors=\"0\">\n",
        count + 1
    );
    for in_file in told.chunk_by(|a, b| a.finding.span.source == b.finding.span.source) {
        let (name, failed) = (escaped(&in_file[0].path), in_file.len());
        out.push_str(&format!(
            "  <testsuite name=\"{name}\" tests=\"{failed}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">\n"
        ));
        for told in in_file {
            let rule = escaped(&one_line(&told.finding.rule));
            let (line, column) = (told.start.line, told.start.column);
            let lines =
                [format!("{}:{line}:{column}", told.path), told.help.clone(), told.url.clone().unwrap_or_default()];
            let lines: Vec<String> = lines.iter().filter(|line| !line.is_empty()).map(|line| escaped(line)).collect();
            out.push_str(&format!(
                "    <testcase classname=\"{name}\" name=\"{rule} at {line}:{column}\">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                told.finding.severity.name(),
                escaped(&told.message),
                lines.join("\n"),
            ));
        }
        out.push_str("  </testsuite>\n");
    }
    // A report without any test is taken for a run that failed.
    out.push_str("  <testsuite name=\"gpulint\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">\n");
    out.push_str("    <testcase classname=\"gpulint\" name=\"files were linted\"/>\n");
    let lines: Vec<String> = summary::lines(report).iter().map(|line| escaped(line)).collect();
    out.push_str(&format!("    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>\n", lines.join("\n")));
    for_log(&out).into_owned()
}
