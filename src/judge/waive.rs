//! What waives findings, as text: comments beside what was found, and entries of a configuration where no comment can stand.
//! Knows how suppressions are written; reads and writes no file.

use crate::finding::Finding;
use crate::parse::{Dialect, Node, yaml};
use crate::source::{Source, SourceId};
use std::collections::{BTreeMap, BTreeSet};

/// Where a comment is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// On a line of its own above.
    Above,
    /// At the end of the line.
    Beside,
}

/// A comment that waives what is found on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The line, from 0.
    pub line: usize,
    /// The rules.
    pub rules: BTreeSet<String>,
    /// Where it is written.
    pub place: Place,
}

/// A text with comments in it; nothing else of it changes.
pub fn commented(source: &Source, comments: &[Comment], reason: &str) -> String {
    let mut at: BTreeMap<usize, Vec<&Comment>> = BTreeMap::new();
    comments.iter().for_each(|comment| at.entry(comment.line).or_default().push(comment));
    let mut out = String::new();
    for (i, line) in source.text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end_matches(['\r', '\n']);
        let end = if line.len() == bare.len() { "\n" } else { &line[bare.len()..] };
        let mut beside = String::new();
        for comment in at.get(&i).into_iter().flatten() {
            let rules = comment.rules.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let text = format!("# gpulint: ignore[{rules}] reason=\"{reason}\"");
            match comment.place {
                Place::Above => {
                    let indent = &bare[..bare.len() - bare.trim_start().len()];
                    out.push_str(&format!("{indent}{text}{end}"));
                }
                Place::Beside => beside.push_str(&format!("  {text}")),
            }
        }
        out.push_str(bare);
        out.push_str(&beside);
        out.push_str(&line[bare.len()..]);
    }
    out
}

/// An entry of `ignores` that waives a finding in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The rule.
    pub rule: String,
    /// The file.
    pub path: String,
    /// What it is about.
    pub object: String,
}

impl Entry {
    /// The entry for a finding in a file.
    pub fn of(finding: &Finding, path: &str) -> Self {
        Self { rule: finding.rule.clone(), path: globset::escape(path), object: finding.entity.clone() }
    }

    fn text(&self, reason: &str) -> String {
        // JSON strings are YAML.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let object = if self.object.is_empty() { String::new() } else { format!(", object: {}", quoted(&self.object)) };
        format!("{{rule: {}, path: {}{object}, reason: {}}}", self.rule, quoted(&self.path), quoted(reason))
    }
}

/// A configuration in YAML with further entries of `ignores`; comments and everything else stay. None where its `ignores` or
/// the whole of it are written in a way that has no place for them.
pub fn configured(text: &str, entries: &[Entry], reason: &str) -> Option<String> {
    let tree = yaml::parse(SourceId(0), text, Dialect::Core);
    let root = yaml::root(&tree);
    let list = root.and_then(|root| root.get("ignores"));
    let mut out = text.to_owned();
    let open = |out: &str| if out.is_empty() || out.ends_with('\n') { "" } else { "\n" };
    match list {
        Some(list) if list.is_seq() => {
            let last = list.items().last().map(Node::span)?;
            let start = text[..last.range().start].rfind('\n').map_or(0, |at| at + 1);
            let head = &text[start..last.range().start];
            let marker = head.trim_end().strip_suffix('-').filter(|indent| indent.trim().is_empty())?;
            let end = text[last.range().end..].find('\n').map_or(text.len(), |at| last.range().end + at + 1);
            let lines: String = entries.iter().map(|entry| format!("{marker}- {}\n", entry.text(reason))).collect();
            let open = open(&out[..end]);
            out.insert_str(end, &format!("{open}{lines}"));
        }
        Some(list) if !list.is_null() => return None,
        Some(_) => return None,
        None if root.is_some_and(|root| !root.is_null() && text[root.span().range()].starts_with(['{', '['])) => {
            return None;
        }
        None => {
            let lines: String = entries.iter().map(|entry| format!("  - {}\n", entry.text(reason))).collect();
            out.push_str(&format!("{}ignores:\n{lines}", open(&out)));
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(line: usize, place: Place) -> Comment {
        Comment { line, rules: ["a".to_owned(), "b".to_owned()].into(), place }
    }

    #[test]
    fn comments_stand_above_and_beside_and_nothing_else_changes() {
        let source = Source::new("a.yaml", "x:\r\n  y: 1\r\nz: 2");
        let text = commented(&source, &[comment(1, Place::Above), comment(2, Place::Beside)], "known");
        let sign = "# gpulint: ignore[a, b] reason=\"known\"";
        assert_eq!(text, format!("x:\r\n  {sign}\r\n  y: 1\r\nz: 2  {sign}"));
    }

    #[test]
    fn entries_join_those_of_a_configuration() {
        let entry = Entry { rule: "r".to_owned(), path: "a b.json".to_owned(), object: "Pod/p".to_owned() };
        let line = "{rule: r, path: \"a b.json\", object: \"Pod/p\", reason: \"known\"}";
        let with = |text: &str| configured(text, std::slice::from_ref(&entry), "known");
        assert_eq!(with(""), Some(format!("ignores:\n  - {line}\n")));
        assert_eq!(with("# mine\nfail_on: info"), Some(format!("# mine\nfail_on: info\nignores:\n  - {line}\n")));
        let written = "ignores:\n# first\n- rule: x # why\n  path: y\n# rest\nfail_on: info\n";
        assert_eq!(with(written), Some(written.replace("# rest", &format!("- {line}\n# rest"))));
        assert_eq!(with("ignores: [{rule: x}]\n"), None);
        assert_eq!(with("{fail_on: info}\n"), None);
    }
}
