//! Lays the rule files out as Rust, so that a run decodes nothing at start-up. A test compares the result with
//! what the loader of user packs reads from the same files.

use serde_yaml::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=rules");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo:rustc-env=GPULINT_CATALOG={}", catalog_month(&root.join("rules/catalog")));
    let mut files = Vec::new();
    rule_files(&root.join("rules"), &mut files);
    files.sort();
    let mut out = String::from("pub fn rules() -> Vec<(&'static str, &'static str, RuleText)> {\n    vec![\n");
    for file in &files {
        let text = fs::read_to_string(file).expect("a rule file is readable");
        let value: Value = serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let path = file.strip_prefix(&root).expect("under the root").to_string_lossy().replace('\\', "/");
        writeln!(out, "        ({path:?}, include_str!({:?}), {}),", file.display().to_string(), rule(&value))
            .expect("a String takes everything");
    }
    out.push_str("    ]\n}\n");
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("rules.rs");
    fs::write(target, out).expect("OUT_DIR is writable");
}

/// The newest month in which a source of the catalog was read: tables end with it, or name a source that does.
fn catalog_month(directory: &Path) -> String {
    let mut newest = String::new();
    for entry in fs::read_dir(directory).expect("the catalog is readable").flatten() {
        let text = fs::read_to_string(entry.path()).expect("a table is readable");
        let months = text.lines().filter_map(|line| line.rsplit(',').next()?.get(..7));
        let dated = months.filter(|m| m.as_bytes()[4] == b'-' && m.as_bytes()[..4].iter().all(u8::is_ascii_digit));
        newest = newest.max(dated.max().unwrap_or("").to_owned());
    }
    newest
}

fn rule_files(directory: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            rule_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "yaml") {
            out.push(path);
        }
    }
}

/// A scalar as the text it was written with.
fn scalar(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.trim_end_matches('\n').to_owned(),
        Some(Value::Bool(value)) => value.to_string(),
        Some(Value::Number(value)) => value.to_string(),
        _ => String::new(),
    }
}

fn string(value: Option<&Value>) -> String {
    format!("{:?}.to_owned()", scalar(value))
}

fn optional(value: Option<&Value>) -> String {
    if value.is_some() { format!("Some({})", string(value)) } else { "None".to_owned() }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("vec![{}]", items.collect::<Vec<_>>().join(", "))
}

fn pairs(value: Option<&Value>) -> Vec<String> {
    let entries = value.and_then(Value::as_mapping).into_iter().flatten();
    entries.map(|(k, v)| format!("({}, {})", string(Some(k)), string(Some(v)))).collect()
}

fn strings(value: Option<&Value>) -> String {
    match value {
        Some(Value::Sequence(items)) => list(items.iter().map(|i| string(Some(i)))),
        other => list(std::iter::once(string(other))),
    }
}

fn rule(value: &Value) -> String {
    let applies_to = value.get("applies_to");
    let raw = |name: &str, key: &str| applies_to?.get(name).map(|inner| (name.to_owned(), strings(inner.get(key))));
    let (subject, kinds) = raw("object", "kind")
        .or_else(|| raw("resource", "type"))
        .unwrap_or_else(|| (scalar(applies_to), "vec![]".to_owned()));
    let params = value.get("params").and_then(Value::as_mapping).into_iter().flatten().map(|(name, p)| {
        format!(
            "ParamText {{ name: {}, ty: {}, default: {}, description: {} }}",
            string(Some(name)),
            string(p.get("type")),
            strings(p.get("default")),
            string(p.get("description"))
        )
    });
    let labels = value.get("labels").and_then(Value::as_sequence).into_iter().flatten();
    let labels = labels.map(|l| format!("({}, {})", string(l.get("at")), string(l.get("text"))));
    let fix = value.get("fix").map_or("None".to_owned(), |fix| {
        let safe = fix.get("safe").and_then(Value::as_bool).unwrap_or(false);
        format!(
            "Some(FixText {{ at: {}, replace: {}, safe: {safe} }})",
            string(fix.get("at")),
            string(fix.get("replace"))
        )
    });
    let confidence = if value.get("confidence").is_some() {
        string(value.get("confidence"))
    } else {
        "\"high\".to_owned()".to_owned()
    };
    format!(
        "RuleText {{ id: {}, pack: {}, severity: {}, confidence: {confidence}, applies_to: {subject:?}.to_owned(), kinds: {kinds}, \
         each: {}, lets: {}, params: {}, when: {}, forbid: {}, at: {}, labels: {}, message: {}, help: {}, fix: {fix} }}",
        string(value.get("id")),
        string(value.get("pack")),
        string(value.get("severity")),
        pairs(value.get("each")).first().map_or("None".to_owned(), |p| format!("Some({p})")),
        list(pairs(value.get("let")).into_iter()),
        list(params),
        optional(value.get("when")),
        string(value.get("forbid")),
        optional(value.get("at")),
        list(labels),
        string(value.get("message")),
        string(value.get("help")),
    )
}
