//! SARIF 2.1.0, for code scanning. Knows the format's own words, the verdict and the pages of the rules.

mod log;

use super::told::Numbers;
use super::{HOME, Report, json};
use crate::finding::{Confidence, Finding, Fix, OWN_PACK, OWN_RULES, Severity};
use crate::judge::Verdict;
use crate::language::Language;
use crate::rules::Ruleset;
use crate::rules::text::outline;
use crate::source::{Source, Sources, Span, one_line};
use log::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What relative paths start from.
const ROOT: &str = "%SRCROOT%";

/// What every report begins with.
pub const HEAD: &str = r#"{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":{"name":"gpulint","#;

/// The report as a line of JSON.
pub fn write(with: &Report<'_>) -> String {
    json::line(&report(with.verdict, with.sources, with.rules))
}

/// The report as one JSON value.
fn report(verdict: &Verdict, sources: &Sources, rules: &Ruleset) -> Value {
    let language = rules.language();
    let waived = verdict.waived.iter().map(|(finding, reason)| (finding, Some(reason.as_str())));
    let all: Vec<(&Finding, Option<&str>)> = verdict.shown.iter().map(|f| (f, None)).chain(waived).collect();
    let ids: BTreeSet<&str> = all.iter().map(|(finding, _)| finding.rule.as_str()).collect();
    let index: BTreeMap<&str, usize> = ids.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    let mut results: Vec<Outcome<'_>> = Vec::new();
    let mut numbers = Numbers::default();
    for (finding, waived) in all {
        let rule_index = index.get(finding.rule.as_str()).copied().unwrap_or_default();
        let mut outcome = outcome(finding, waived, rule_index, (sources, language));
        let print = &mut outcome.partial_fingerprints.meaning;
        *print = numbers.distinct(std::mem::take(print));
        results.push(outcome);
    }
    let coverage = &verdict.coverage;
    let say = |text: String| language.say(text).into_owned();
    let skipped = coverage.skipped.iter().map(|(path, reason)| (path, say(format!("not linted: {reason}"))));
    let told = skipped.chain(coverage.notes.iter().map(|(path, note)| (path, say(note.clone()))));
    let unread = coverage.unread.iter().filter_map(|unread| {
        let path = &sources.get(unread.words.first()?.source).path;
        Some((path, say(unread.text(sources))))
    });
    let told = told.chain(unread).map(|(path, text)| notification(Some(path), &text));
    let excluded = coverage.excluded.iter().map(|(by, count)| say(format!("excluded by {by}: {count}")));
    let excluded = excluded.map(|text| notification(None, &text));
    let restrictions = coverage.configurations.iter();
    let restrictions = restrictions.flat_map(|c| c.lines().map(|line| notification(Some(&c.path), &say(line))));
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: "gpulint",
                semantic_version: env!("CARGO_PKG_VERSION"),
                information_uri: HOME,
                rules: ids.iter().map(|id| descriptor(id, rules)).collect(),
            },
        },
        column_kind: "unicodeCodePoints",
        original_uri_base_ids: Bases {
            root: Base { description: Text { text: "The root of the repository.".to_owned() } },
        },
        invocations: [Invocation {
            execution_successful: true,
            tool_execution_notifications: told.chain(excluded).collect(),
            tool_configuration_notifications: restrictions.collect(),
        }],
        results,
    };
    let log = Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
    serde_json::to_value(log).unwrap_or_default()
}

/// The page of a rule. What gpulint says of the run itself has none.
fn descriptor(id: &str, rules: &Ruleset) -> Descriptor {
    let entry = rules.get(id);
    let (text, page) = entry.map(crate::rules::Entry::told).unzip();
    let (text, page) = (text.as_deref(), page.unwrap_or_default());
    let severity = entry.and_then(|e| e.severity).unwrap_or(Severity::Warning);
    let precision = match text.and_then(|t| Confidence::parse(&t.confidence)) {
        Some(Confidence::Low) => "low",
        Some(Confidence::Medium) => "medium",
        Some(Confidence::High) | None => "high",
    };
    let pack = text.map_or(OWN_PACK, |t| t.pack.as_str());
    let own = OWN_RULES.iter().find(|(own, _)| *own == id && entry.is_none());
    let why = own.map_or(page.why.trim().into(), |(_, meaning)| rules.language().say(*meaning));
    let mut markdown = why.to_string();
    if let Some(text) = text {
        markdown.push_str(&format!("\n\n**{}**: {}", rules.language().say("What to do"), outline(&text.help)));
    }
    for reference in &page.references {
        markdown.push_str(&format!("\n- <{reference}>"));
    }
    Descriptor {
        id: id.to_owned(),
        name: pascal_case(id),
        short_description: Text { text: id.replace('-', " ") },
        full_description: Text { text: beginning(&why) },
        help: Help { text: markdown.clone(), markdown },
        help_uri: rules.url(id),
        default_configuration: Configuration { level: level(severity) },
        properties: Properties { tags: tags(pack), precision, security_severity: security_severity(pack, severity) },
    }
}

/// `driver-too-old` as `DriverTooOld`.
fn pascal_case(id: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str())
    };
    id.split('-').filter_map(word).collect()
}

/// The first sentences of a text, as many as a description has room for.
fn beginning(text: &str) -> String {
    const ROOM: usize = 1_000;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(ROOM) {
        None => text,
        Some((room, _)) => {
            let end = text[..room].rfind(". ").map_or(room, |at| at + 1);
            text[..end].to_owned()
        }
    }
}

/// The pack, and what code scanning goes by to list a rule among those about security.
fn tags(pack: &str) -> Vec<String> {
    let security = (SECURITY.contains(&pack) && pack != SECURITY[0]).then_some(SECURITY[0]);
    [pack].into_iter().chain(security).map(str::to_owned).collect()
}

/// Packs about security.
const SECURITY: [&str; 2] = ["security", "encryption"];

/// How bad a fault of security is, in the numbers of CVSS: the middle of high, medium and low.
fn security_severity(pack: &str, severity: Severity) -> Option<&'static str> {
    let number = match severity {
        Severity::Error => "8.0",
        Severity::Warning => "5.5",
        Severity::Info => "2.0",
    };
    SECURITY.contains(&pack).then_some(number)
}

fn outcome<'a>(
    finding: &'a Finding,
    waived: Option<&str>,
    rule_index: usize,
    (sources, language): (&Sources, Language),
) -> Outcome<'a> {
    let source = sources.get(finding.span.source);
    let suppression = |reason: &str| Suppression {
        kind: "external",
        justification: (!reason.is_empty()).then(|| Text::of(reason).text),
    };
    let mut text = one_line(&language.say(finding.text()));
    if let Some(help) = finding.help.as_deref().filter(|help| !help.is_empty()) {
        text = format!("{text}\n{}", one_line(help));
    }
    let mut related: Vec<Related> = Vec::new();
    for (i, label) in finding.related.iter().enumerate() {
        related.push(Related { id: i, location: location(label.span, Some(&label.text), sources) });
    }
    Outcome {
        rule_id: &finding.rule,
        rule_index,
        level: level(finding.severity),
        message: Text::of(&text),
        locations: [location(finding.span, None, sources)],
        related_locations: related,
        partial_fingerprints: Fingerprints { meaning: finding.fingerprint(&source.path) },
        fixes: finding.fix.iter().map(|fix| mending(fix, sources)).collect(),
        // An empty list says that the result is known not to be suppressed.
        suppressions: waived.map(suppression).into_iter().collect(),
    }
}

/// What mends a result: by file what is replaced, and by what.
fn mending(fix: &Fix, sources: &Sources) -> Mending {
    let mut changes: BTreeMap<&str, Vec<Replacement>> = BTreeMap::new();
    for (span, text) in &fix.edits {
        let source = sources.get(span.source);
        let replacement =
            Replacement { deleted_region: region(source, *span), inserted_content: Text { text: text.clone() } };
        changes.entry(&source.path).or_default().push(replacement);
    }
    let change = |(path, replacements)| Change { artifact_location: artifact(path), replacements };
    Mending {
        description: Text::of(&fix.title),
        artifact_changes: changes.into_iter().map(change).collect(),
        properties: Safety { safe: fix.safe },
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn location(span: Span, text: Option<&str>, sources: &Sources) -> Location {
    let source = sources.get(span.source);
    Location {
        physical_location: Physical { artifact_location: artifact(&source.path), region: Some(region(source, span)) },
        message: text.filter(|text| !text.is_empty()).map(Text::of),
    }
}

/// Lines and columns from 1, columns in Unicode scalar values, the end exclusive.
fn region(source: &Source, span: Span) -> Region {
    let (start, end) = (source.position(span.start), source.position(span.end.max(span.start)));
    Region { start_line: start.line, start_column: start.column, end_line: end.line, end_column: end.column }
}

fn notification(path: Option<&String>, text: &str) -> Notification {
    let physical = |path: &String| Physical { artifact_location: artifact(path), region: None };
    let location = |path| Location { physical_location: physical(path), message: None };
    Notification { level: "note", message: Text::of(text), locations: path.map(location).into_iter().collect() }
}

fn artifact(path: &str) -> Artifact {
    Artifact { uri: uri(path), uri_base_id: (!path.starts_with('/')).then_some(ROOT) }
}

/// A path as a URI reference: what is not plain is percent-encoded, an absolute path is a file.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Label;
    use crate::judge::Coverage;
    use crate::source::SourceId;

    fn finding(rule: &str) -> Finding {
        Finding {
            rule: rule.to_owned(),
            pack: "compatibility".to_owned(),
            severity: Severity::Error,
            confidence: Confidence::High,
            span: Span::new(SourceId(0), 6..9),
            message: "wrong".to_owned(),
            meaning: None,
            related: vec![Label { span: Span::new(SourceId(1), 0..1), text: "other half".to_owned() }],
            help: Some("mend it".to_owned()),
            entity: "Pod/a".to_owned(),
            values: Vec::new(),
            fix: Some(Fix {
                title: "write é".to_owned(),
                edits: vec![
                    (Span::new(SourceId(0), 6..9), "é".to_owned()),
                    (Span::new(SourceId(1), 1..1), "\n".into()),
                ],
                safe: true,
            }),
            unlinted: None,
        }
    }

    #[test]
    fn results_have_places_rules_and_reasons() {
        let rules = Ruleset::builtin();
        let id = rules.entries()[0].id.to_string();
        let sources = Sources::new(vec![Source::new("a b/é.yaml", "é: x\ncafé\n"), Source::new("/abs/p.tf", "x\n")]);
        let verdict = Verdict {
            shown: vec![finding(&id), finding("syntax-error"), finding(&id)],
            waived: vec![(finding(&id), "known".to_owned())],
            coverage: Coverage {
                seen: 3,
                understood: 2,
                skipped: vec![("big.yaml".to_owned(), "too large".to_owned())],
                ..Coverage::default()
            },
            ..Verdict::default()
        };
        let log = report(&verdict, &sources, &rules);
        let run = &log["runs"][0];
        let result = &run["results"][0];
        let physical = &result["locations"][0]["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uri"], "a%20b/%C3%A9.yaml");
        let expected = serde_json::json!({"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 4});
        assert_eq!(physical["region"], expected);
        let related = &result["relatedLocations"][0];
        assert_eq!(related["physicalLocation"]["artifactLocation"]["uri"], "file:///abs/p.tf");
        assert_eq!(related["message"]["text"], "other half");
        let fix = &result["fixes"][0];
        assert_eq!((&fix["description"]["text"], &fix["properties"]["safe"]), (&"write é".into(), &true.into()));
        let changes = &fix["artifactChanges"];
        let inserted = &changes[0]["replacements"][0];
        assert_eq!(changes[0]["artifactLocation"]["uri"], "file:///abs/p.tf");
        assert_eq!(
            (&inserted["insertedContent"]["text"], &inserted["deletedRegion"]["startColumn"]),
            (&"\n".into(), &2.into())
        );
        assert_eq!(changes[1]["replacements"][0]["deletedRegion"], expected);
        for result in run["results"].as_array().into_iter().flatten() {
            let index = result["ruleIndex"].as_u64().unwrap_or(99) as usize;
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        }
        assert_eq!(result["suppressions"], serde_json::json!([]));
        assert_eq!(run["results"][3]["suppressions"][0]["justification"], "known");
        let prints: BTreeSet<String> = (0..4).map(|i| run["results"][i]["partialFingerprints"].to_string()).collect();
        assert_eq!(prints.len(), 4);
        let told = &run["invocations"][0]["toolExecutionNotifications"][0];
        assert_eq!(told["message"]["text"], "not linted: too large");
        let helped = run["tool"]["driver"]["rules"].as_array().into_iter().flatten();
        assert!(helped.clone().any(|r| r["id"] == *id && r["help"]["markdown"].is_string()));
    }
}
