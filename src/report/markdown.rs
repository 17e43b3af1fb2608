//! A page in Markdown: a comment on a pull request, or the summary of a step. Text that may hold what files say stands in
//! code, where nothing of it is a link, a name of somebody, an image or a tag.

use super::{Report, summary};
use crate::finding::Finding;
use crate::source::{for_log, one_line};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Bytes after which no row and no advice is added: a comment has room for 65,536 characters.
const ROOM: [usize; 2] = [40_000, 56_000];

/// What was found as a table, the worst first, then what to do, and what was looked at.
pub fn write(report: &Report<'_>) -> String {
    let counts = summary::counts(report);
    let mut out = format!("### gpulint: {}\n", summary::found(report));
    let link = |rule: &str| match report.rules.url(rule).filter(|url| is_plain(url)) {
        Some(url) => format!("[{}]({url})", cell(rule)),
        None => cell(rule),
    };
    if report.human.statistics && !counts.is_empty() {
        out.push_str("\n| count | files | severity | rule |\n| ---: | ---: | --- | --- |\n");
        for count in &counts {
            let (severity, rule) = (count.severity.name(), link(count.rule));
            out.push_str(&format!("| {} | {} | {severity} | {rule} |\n", count.count, count.files));
        }
    } else if !counts.is_empty() {
        out.push_str("\n| | rule | place | finding |\n| --- | --- | --- | --- |\n");
        let mut advice: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut rows = 0;
        let mut findings: Vec<&Finding> = report.limited().iter().collect();
        findings.sort_by_key(|finding| Reverse(finding.severity));
        for finding in findings {
            if out.len() > ROOM[0] {
                break;
            }
            rows += 1;
            let source = report.sources.get(finding.span.source);
            let at = source.position(finding.span.start);
            let place = cell(&format!("{}:{}:{}", source.path, at.line, at.column));
            let (severity, rule) = (finding.severity.name(), link(&finding.rule));
            out.push_str(&format!("| {severity} | {rule} | {place} | {} |\n", cell(&report.message(finding))));
            let help = finding.help.as_deref().filter(|help| !help.is_empty());
            help.iter().for_each(|help| *advice.entry((&finding.rule, help)).or_default() += 1);
        }
        let more = report.verdict.shown.len() - rows;
        if more > 0 {
            out.push_str(&format!("\nand {} that this table has no room for\n", summary::plural(more, "more finding")));
        }
        let mut told = String::new();
        for ((rule, help), count) in advice {
            if out.len() + told.len() < ROOM[1] {
                let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
                told.push_str(&format!("- {}{times}: {}\n", link(rule), code(help)));
            }
        }
        if !told.is_empty() {
            out.push_str(&details(&report.say("What to do"), &told));
        }
    }
    if report.human.summary {
        let lines: Vec<String> = summary::lines(report).iter().map(|line| format!("- {}\n", code(line))).collect();
        out.push_str(&details(&report.say("What was looked at"), &lines.concat()));
    }
    for_log(&out).into_owned()
}

/// What is shown on demand.
fn details(title: &str, body: &str) -> String {
    format!("\n<details>\n<summary>{title}</summary>\n\n{body}\n</details>\n")
}

/// Text as code in a cell of a table, which a bar would end.
fn cell(text: &str) -> String {
    code(&text.replace("\\|", "\\ |").replace('|', "\\|"))
}

/// Text as code: between more backticks than it holds in a row.
fn code(text: &str) -> String {
    let text = one_line(text);
    let runs = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(runs + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Whether an address can be the target of a link as it is.
fn is_plain(url: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:?#=&%+,".contains(&byte);
    url.starts_with("https://") && url.bytes().all(plain)
}
