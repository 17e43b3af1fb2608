//! Reads each output by the grammar of its format, with a parser that is not the writer's.

use markdown::mdast::Node;
use regex::Regex;
use serde_json::Value;

/// What an output tells of a finding.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Told {
    pub path: String,
    pub line: u32,
    pub rule: String,
    pub message: String,
}

/// The findings that a text tells in a format.
pub fn read(format: &str, text: &str) -> Vec<Told> {
    match format {
        "human" => human(text),
        "concise" => concise(text),
        "grouped" => grouped(text),
        "markdown" => markdown(text),
        "github" => github(text),
        "gitlab" => gitlab(text),
        "json" => diagnostics(&one_json(text)["diagnostics"]),
        "jsonl" => diagnostics(&text.lines().map(one_json).collect()),
        "sarif" => sarif(text),
        "rdjson" => rdjson(text),
        "junit" => junit(text),
        "checkstyle" => checkstyle(text),
        "csv" => csv(text),
        other => panic!("{other} has no reader"),
    }
}

fn told(path: &str, line: &str, rule: &str, message: &str) -> Told {
    let line = line.parse().expect("a line");
    Told { path: path.to_owned(), line, rule: rule.to_owned(), message: message.to_owned() }
}

/// A heading, then the place.
fn human(text: &str) -> Vec<Told> {
    let heading = Regex::new(r"^(?:error|warning|info)\[([^\]]+)\]: (.*)$").expect("a pattern");
    let place = Regex::new(r"^ *╭▸ (.*):(\d+):\d+$").expect("a pattern");
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2).filter_map(|pair| Some((heading.captures(pair[0])?, place.captures(pair[1])?)));
    pairs.map(|(heading, place)| told(&place[1], &place[2], &heading[1], &heading[2])).collect()
}

fn concise(text: &str) -> Vec<Told> {
    let line = Regex::new(r"^(.*?):(\d+):\d+: (?:error|warning|info)\[([^\]]+)\] (.*)$").expect("a pattern");
    text.lines().filter_map(|text| line.captures(text)).map(|c| told(&c[1], &c[2], &c[3], &c[4])).collect()
}

fn grouped(text: &str) -> Vec<Told> {
    let line = Regex::new(r"^  (\d+):\d+ +(?:error  |warning|info   ) (.*) \[([a-z-]+)\]$").expect("a pattern");
    let (mut path, mut out) = ("", Vec::new());
    for text in text.lines() {
        match line.captures(text) {
            Some(found) => out.push(told(path, &found[1], &found[3], &found[2])),
            None => path = text,
        }
    }
    out
}

fn one_json(text: &str) -> Value {
    assert_eq!(text.trim_end().lines().count(), 1, "one line of JSON");
    serde_json::from_str(text).expect("JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}"))
}

fn diagnostics(list: &Value) -> Vec<Told> {
    let schema = jsonschema::validator_for(&serde_json::json!({
        "$ref": "#/$defs/diagnostic",
        "$defs": one_json(&include_str!("../../schemas/report.json").replace('\n', " "))["$defs"],
    }));
    let schema = schema.expect("a schema");
    let list = list.as_array().expect("a list").iter();
    list.map(|one| {
        assert!(schema.is_valid(one), "{one}");
        told(text(&one["path"]), &one["range"]["start"]["line"].to_string(), text(&one["rule"]), &with_values(one))
    })
    .collect()
}

/// The message with the sets of values that it holds for, as other formats tell it.
fn with_values(diagnostic: &Value) -> String {
    let values: Vec<&str> = diagnostic["values"].as_array().into_iter().flatten().map(text).collect();
    let message = text(&diagnostic["message"]);
    if values.is_empty() { message.to_owned() } else { format!("{message} (with {})", values.join(", ")) }
}

/// What GitLab's own schema asks for, and fingerprints that tell findings apart.
fn gitlab(report: &str) -> Vec<Told> {
    let list = one_json(report);
    let list = list.as_array().expect("a list");
    let mut prints: Vec<&str> = list.iter().map(|issue| text(&issue["fingerprint"])).collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), list.len(), "fingerprints");
    let issue = |issue: &Value| {
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&text(&issue["severity"])), "{issue}");
        let place = &issue["location"];
        let line = place["lines"]["begin"].to_string();
        told(text(&place["path"]), &line, text(&issue["check_name"]), text(&issue["description"]))
    };
    list.iter().map(issue).collect()
}

fn sarif(report: &str) -> Vec<Told> {
    let log = one_json(report);
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results").iter();
    let shown = results.filter(|result| result["suppressions"].as_array().is_some_and(Vec::is_empty));
    shown
        .map(|result| {
            let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("an index") as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            for key in ["name", "shortDescription", "fullDescription", "help", "helpUri"] {
                assert!(!rule[key].is_null(), "{key} of {rule}");
            }
            let place = &result["locations"][0]["physicalLocation"];
            assert!(!text(&result["message"]["text"]).contains("](https://evil"), "a link");
            let path = percent_decoded(text(&place["artifactLocation"]["uri"]));
            let message = text(&result["message"]["text"]);
            // Help follows in a line of its own.
            let said = message.lines().next().unwrap_or_default();
            told(&path, &place["region"]["startLine"].to_string(), text(&result["ruleId"]), said)
        })
        .collect()
}

fn percent_decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        match tail {
            [high, low, tail @ ..] if *first == b'%' => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).expect("digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("digits"));
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// Only what the message of the format has: its own reader refuses everything else.
fn rdjson(report: &str) -> Vec<Told> {
    let result = one_json(report);
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&result), ["source", "diagnostics"]);
    let list = result["diagnostics"].as_array().expect("a list").iter();
    list.map(|one| {
        assert_eq!(keys(one), ["message", "location", "severity", "code", "suggestions"], "{one}");
        let (place, lines) = (&one["location"], text(&one["message"]));
        let line = place["range"]["start"]["line"].to_string();
        let said = lines.split("\n\n").next().unwrap_or_default();
        told(text(&place["path"]), &line, text(&one["code"]["value"]), said)
    })
    .collect()
}

/// The grammar of the runner: `::command key=value,key=value::data`, values escaped.
fn github(text: &str) -> Vec<Told> {
    let unescaped = |value: &str| {
        let value = value.replace("%3A", ":").replace("%2C", ",").replace("%0D", "\r").replace("%0A", "\n");
        value.replace("%25", "%")
    };
    let mut out = Vec::new();
    for line in text.lines() {
        let command = line.strip_prefix("::").unwrap_or_else(|| panic!("no command: {line}"));
        let (head, data) = command.split_once("::").expect("data");
        let (name, properties) = head.split_once(' ').expect("properties");
        let properties: Vec<(&str, String)> = properties
            .split(',')
            .map(|property| property.split_once('=').expect("a property"))
            .map(|(key, value)| (key, unescaped(value)))
            .collect();
        let of = |key: &str| properties.iter().find(|(k, _)| *k == key).map(|(_, value)| value.as_str());
        let known = ["file", "line", "endLine", "col", "endColumn", "title"];
        assert!(properties.iter().all(|(key, _)| known.contains(key)), "{line}");
        let Some(path) = of("file") else {
            assert_eq!((name, of("title")), ("notice", Some("gpulint")));
            continue;
        };
        assert!(["error", "warning", "notice"].contains(&name), "{line}");
        let rule = of("title").and_then(|title| title.strip_prefix("gpulint: ")).expect("the rule");
        let message = unescaped(data.split("%0A").next().unwrap_or_default());
        out.push(told(path, of("line").expect("a line"), rule, &message));
    }
    out
}

fn checkstyle(text: &str) -> Vec<Told> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "checkstyle");
    let files = root.children().filter(roxmltree::Node::is_element);
    let of = |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).expect("an attribute").to_owned();
    files
        .flat_map(|file| file.children().filter(roxmltree::Node::is_element).map(move |error| (file, error)))
        .map(|(file, error)| {
            assert_eq!(
                (file.tag_name().name(), error.tag_name().name(), error.has_children()),
                ("file", "error", false)
            );
            assert!(["error", "warning", "info"].contains(&of(error, "severity").as_str()));
            let (source, message) = (of(error, "source"), of(error, "message"));
            let said = message.rsplit_once("; help: ").map_or(message.as_str(), |(said, _)| said);
            let rule = source.rsplit('.').next().unwrap_or_default();
            told(&of(file, "name"), &of(error, "line"), rule, said)
        })
        .collect()
}

/// Elements and attributes of `junit-10.xsd`.
fn junit(text: &str) -> Vec<Told> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> usize {
        node.attribute(name).expect("a count").parse().expect("a number")
    };
    let named = |node: &roxmltree::Node<'_, '_>, name: &str| node.has_tag_name(name);
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let (attributes, children): (&[&str], &[&str]) = match node.tag_name().name() {
            "testsuites" => (&["name", "tests", "failures", "errors"], &["testsuite"]),
            "testsuite" => (&["name", "tests", "failures", "errors", "skipped"], &["testcase", "system-out"]),
            "testcase" => (&["classname", "name"], &["failure"]),
            "failure" => (&["type", "message"], &[]),
            "system-out" => (&[], &[]),
            other => panic!("{other} is no element of the format"),
        };
        assert!(node.attributes().map(|attribute| attribute.name()).eq(attributes.iter().copied()), "{node:?}");
        let elements = || node.children().filter(roxmltree::Node::is_element);
        assert!(elements().all(|child| children.contains(&child.tag_name().name())), "{node:?}");
        if node.tag_name().name().starts_with("testsuite") {
            let count = |name: &str| node.descendants().filter(|node| named(node, name)).count();
            assert_eq!((number(&node, "tests"), number(&node, "failures")), (count("testcase"), count("failure")));
            assert!(number(&node, "tests") > 0, "no test at all");
        }
    }
    let failures = document.descendants().filter(|node| named(node, "failure"));
    failures
        .map(|failure| {
            let case = failure.parent().expect("a test case");
            let name = case.attribute("name").expect("a name");
            let (rule, at) = name.rsplit_once(" at ").expect("a place");
            let line = at.split(':').next().unwrap_or_default();
            told(case.attribute("classname").expect("a class"), line, rule, failure.attribute("message").expect("it"))
        })
        .collect()
}

fn csv(text: &str) -> Vec<Told> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().expect("a head").clone();
    let rows = reader.records().map(|row| row.expect("a row of as many cells as the head has"));
    rows.map(|row| {
        for cell in &row {
            assert!(!cell.starts_with(['=', '+', '-', '@']), "a formula: {cell}");
        }
        let of = |name: &str| &row[head.iter().position(|column| column == name).expect("a column")];
        let plain = |cell: &str, mark: &str| match cell.strip_prefix(mark) {
            Some(formula) if formula.starts_with(['=', '+', '-', '@']) => formula.to_owned(),
            _ => cell.to_owned(),
        };
        told(&plain(of("path"), "./"), of("line"), of("rule"), &plain(of("message"), "'"))
    })
    .collect()
}

/// What GitHub makes of it: the rows of the table, and nothing else than our own links and tags.
fn markdown(text: &str) -> Vec<Told> {
    let page = markdown::to_mdast(text, &markdown::ParseOptions::gfm()).expect("Markdown");
    let mut out = Vec::new();
    visit(&page, &mut out);
    out
}

fn visit(node: &Node, out: &mut Vec<Told>) {
    match node {
        Node::Html(html) => {
            let tags = ["<details>\n<summary>What to do</summary>", "<details>\n<summary>What was looked at</summary>"];
            assert!(tags.contains(&html.value.as_str()) || html.value == "</details>", "{}", html.value);
        }
        Node::Link(link) => assert!(link.url.starts_with("https://gpulint.github.io/rules/"), "{}", link.url),
        Node::Text(said) => {
            assert!(!said.value.contains(['@', '#', '<', '`']) && !said.value.contains("evil"), "{}", said.value);
        }
        Node::TableRow(row) => {
            // In a table a backslash before a bar is kept apart from it.
            let cells: Vec<String> = row.children.iter().map(|cell| cell.to_string().replace("\\ |", "\\|")).collect();
            if let [severity, rule, place, message] = cells.as_slice()
                && ["error", "warning", "info"].contains(&severity.as_str())
            {
                let mut place = place.rsplitn(3, ':');
                let (_, line, path) = (place.next(), place.next().expect("a line"), place.next().expect("a path"));
                out.push(told(path, line, rule, message));
            }
        }
        Node::Image(_) | Node::Code(_) | Node::Definition(_) | Node::FootnoteDefinition(_) => panic!("{node:?}"),
        _ => {}
    }
    node.children().into_iter().flatten().for_each(|child| visit(child, out));
}
