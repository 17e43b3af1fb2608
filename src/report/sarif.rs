//! SARIF 2.1.0, for code scanning. Knows the format's own words, the verdict and the pages of the rules.

use super::{Report, json};
use crate::finding::{Confidence, Finding, Fix, OWN_PACK, Severity};
use crate::judge::Verdict;
use crate::language::Language;
use crate::rules::Ruleset;
use crate::rules::text::outline;
use crate::source::{Source, Sources, Span};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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
    for (finding, waived) in all {
        let rule_index = index.get(finding.rule.as_str()).copied().unwrap_or_default();
        results.push(outcome(finding, waived, rule_index, (sources, language)));
    }
    number_equal_fingerprints(&mut results);
    let coverage = &verdict.coverage;
    let say = |text: String| language.say(text).into_owned();
    let skipped = coverage.skipped.iter().map(|(path, reason)| (path, say(format!("not linted: {reason}"))));
    let told = skipped.chain(coverage.notes.iter().map(|(path, note)| (path, say(note.clone()))));
    let unread = coverage.unread.iter().filter_map(|unread| {
        let path = &sources.get(unread.words.first()?.source).path;
        Some((path, say(unread.text(sources))))
    });
    let told = told.chain(unread).map(|(path, text)| Notification::new(Some(path), &text));
    let excluded = coverage.excluded.iter().map(|(by, count)| say(format!("excluded by {by}: {count}")));
    let excluded = excluded.map(|text| Notification::new(None, &text));
    let configuration = coverage.configuration.iter();
    let restrictions = configuration.flat_map(|c| c.lines().map(|line| Notification::new(Some(&c.path), &say(line))));
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: "gpulint",
                semantic_version: env!("CARGO_PKG_VERSION"),
                information_uri: env!("CARGO_PKG_REPOSITORY"),
                rules: ids.iter().map(|id| descriptor(id, rules)).collect(),
            },
        },
        column_kind: "unicodeCodePoints",
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
    let pack = text.map_or(OWN_PACK, |t| t.pack.as_str()).to_owned();
    let mut markdown = page.why.trim().to_owned();
    if let Some(text) = text {
        markdown.push_str(&format!("\n\n**{}**: {}", rules.language().say("What to do"), outline(&text.help)));
    }
    for reference in &page.references {
        markdown.push_str(&format!("\n- <{reference}>"));
    }
    Descriptor {
        id: id.to_owned(),
        short_description: Text { text: id.replace('-', " ") },
        help: (!markdown.trim().is_empty()).then(|| Help { text: markdown.clone(), markdown }),
        help_uri: page.references.first().cloned(),
        default_configuration: Configuration { level: level(severity) },
        properties: Properties { tags: vec![pack], precision },
    }
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
    let mut text = language.say(finding.text()).into_owned();
    if let Some(help) = finding.help.as_deref().filter(|help| !help.is_empty()) {
        text = format!("{text}\n{help}");
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

/// Results that mean the same are told apart by their number, or a consumer would merge them.
fn number_equal_fingerprints(results: &mut [Outcome<'_>]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for result in results {
        let meaning = &mut result.partial_fingerprints.meaning;
        let count = seen.entry(meaning.clone()).or_default();
        *count += 1;
        meaning.push_str(&format!(":{count}"));
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

fn artifact(path: &str) -> Artifact {
    Artifact { uri: uri(path) }
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

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    column_kind: &'static str,
    invocations: [Invocation; 1],
    results: Vec<Outcome<'a>>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: String,
    short_description: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Help>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
    default_configuration: Configuration,
    properties: Properties,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Properties {
    tags: Vec<String>,
    precision: &'static str,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

impl Text {
    /// Text that may hold what a file says: the format would read `[text](address)` as a link.
    fn of(text: &str) -> Self {
        Self { text: text.replace("](", "] (") }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_configuration_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Text,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
}

impl Notification {
    fn new(path: Option<&String>, text: &str) -> Self {
        let physical = |path: &String| Physical { artifact_location: artifact(path), region: None };
        let location = |path| Location { physical_location: physical(path), message: None };
        Self { level: "note", message: Text::of(text), locations: path.map(location).into_iter().collect() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Related>,
    partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Mending>,
    suppressions: Vec<Suppression>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Mending {
    description: Text,
    artifact_changes: Vec<Change>,
    properties: Safety,
}

#[derive(Serialize)]
struct Safety {
    /// Whether it keeps the meaning of everything else.
    safe: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    artifact_location: Artifact,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
}

#[derive(Serialize)]
struct Fingerprints {
    /// Rule, path, entity and message: stable under edits elsewhere.
    #[serde(rename = "gpulintMeaning/v1")]
    meaning: String,
}

#[derive(Serialize)]
struct Suppression {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    justification: Option<String>,
}

#[derive(Serialize)]
struct Related {
    id: usize,
    #[serde(flatten)]
    location: Location,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
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
