//! Rule files into rule texts, with every fault at its place.

use super::compile::{self, Rule, RuleFault};
use super::text::{Example, FixText, Page, ParamText, RuleText, Words};
use crate::facts::subjects;
use crate::parse::{Dialect, Node, Problem, Tree, yaml};
use crate::source::{SourceId, Span};
use crate::suggest::did_you_mean;

const KEYS: &[&str] = &[
    "id",
    "pack",
    "severity",
    "proof",
    "confidence",
    "applies_to",
    "each",
    "let",
    "params",
    "when",
    "forbid",
    "at",
    "labels",
    "message",
    "help",
    "why",
    "zh",
    "references",
    "fix",
    "not_after",
    "open",
    "examples",
];

/// A rule file that was read.
#[derive(Debug)]
pub struct Loaded {
    /// Its texts.
    pub text: RuleText,
    /// Its page.
    pub page: Page,
    /// The checked rule, unless something was wrong.
    pub rule: Option<Rule>,
    /// What could be said better.
    pub advice: Vec<Problem>,
    /// Where its id stands.
    pub id: Span,
}

/// Reads the rules of a file (one per document) and checks them. Problems are collected, with their places.
pub fn load(source: SourceId, text: &str) -> (Vec<Loaded>, Vec<Problem>) {
    let tree = yaml::parse(source, text, Dialect::Core);
    let mut problems = tree.problems.clone();
    let loaded = tree.roots().filter(|root| !root.is_null()).map(|root| read(&tree, root, &mut problems)).collect();
    (loaded, problems)
}

fn read(tree: &Tree, root: Node<'_>, problems: &mut Vec<Problem>) -> Loaded {
    let before = problems.len();
    let mut reader = Reader { root, problems };
    reader.keys(root, KEYS, "rule");
    for key in ["id", "pack", "severity", "applies_to", "forbid", "message", "help", "why", "references", "examples"] {
        if root.get(key).is_none() {
            reader.problem(root.head(), format!("the rule has no `{key}`"));
        }
    }
    let text = reader.rule_text();
    let page = reader.page();
    let (mut rule, mut advice) = (None, Vec::new());
    if problems.len() == before {
        match compile::compile(&text, &page.zh) {
            Ok(compiled) => {
                advice.extend(compiled.advice.iter().map(|fault| place(root, fault)));
                rule = Some(compiled);
            }
            Err(faults) => problems.extend(faults.into_iter().map(|fault| place(root, &fault))),
        }
    }
    let id = root.get("id").map_or(Span::new(tree.source, 0..0), Node::span);
    Loaded { text, page, rule, advice, id }
}

/// The place of a fault in the rule's text.
fn place(root: Node<'_>, fault: &RuleFault) -> Problem {
    let mut node = root;
    for part in fault.field.split('.') {
        let next = part.parse().ok().and_then(|i: usize| node.items().nth(i)).or_else(|| node.get(part));
        match next {
            Some(next) => node = next,
            None => break,
        }
    }
    let span = match (&fault.range, node.traced()) {
        // A fault at the very end of a text still needs a character to point at.
        (Some(range), Some(traced)) if range.is_empty() && range.start > 0 => traced.span(range.start - 1..range.start),
        (Some(range), Some(traced)) => traced.span(range.clone()),
        _ => node.head(),
    };
    Problem { span, message: fault.message.clone() }
}

struct Reader<'t, 'p> {
    root: Node<'t>,
    problems: &'p mut Vec<Problem>,
}

impl<'t> Reader<'t, '_> {
    fn problem(&mut self, span: Span, message: impl Into<String>) {
        self.problems.push(Problem { span, message: message.into() });
    }

    fn keys(&mut self, map: Node<'t>, known: &[&str], what: &str) {
        for (key, _) in map.entries() {
            let name = key.text().unwrap_or("");
            if !known.contains(&name) {
                let hint = did_you_mean(name, known.iter().copied());
                self.problem(key.span(), format!("a {what} has no key `{name}`{hint}"));
            }
        }
    }

    fn string(&mut self, node: Option<Node<'t>>) -> String {
        let Some(node) = node else { return String::new() };
        match node.text() {
            Some(text) => text.trim_end_matches('\n').to_owned(),
            None => {
                self.problem(node.head(), "expected a text");
                String::new()
            }
        }
    }

    fn optional(&mut self, key: &str) -> Option<String> {
        let node = self.root.get(key)?;
        Some(self.string(Some(node)))
    }

    fn rule_text(&mut self) -> RuleText {
        let root = self.root;
        let (applies_to, kinds) = self.applies_to();
        RuleText {
            id: self.string(root.get("id")),
            pack: self.string(root.get("pack")),
            severity: self.string(root.get("severity")),
            confidence: self.optional("confidence").unwrap_or_else(|| "high".to_owned()),
            applies_to,
            kinds,
            each: self.pairs("each").into_iter().next(),
            lets: self.pairs("let"),
            params: self.params(),
            when: self.optional("when"),
            forbid: self.string(root.get("forbid")),
            at: self.optional("at"),
            labels: self.labels(),
            message: self.string(root.get("message")),
            help: self.string(root.get("help")),
            proof: self.optional("proof"),
            fix: root.get("fix").map(|fix| {
                self.keys(fix, &["at", "replace", "rename", "remove", "set", "safe"], "fix");
                let mut text = |key| fix.get(key).map(|text| self.string(Some(text)));
                let (replace, rename) = (text("replace"), text("rename"));
                let holds = |key| fix.get(key).and_then(Node::as_bool).unwrap_or(false);
                let set = fix.get("set").map(Node::entries).unwrap_or_default();
                if set.len() > 1 {
                    self.problem(set[1].0.span(), "one key is set by a fix");
                }
                FixText {
                    at: self.string(fix.get("at")),
                    replace,
                    rename,
                    remove: holds("remove"),
                    set: set.first().map(|(key, value)| (self.string(Some(*key)), self.string(Some(*value)))),
                    safe: holds("safe"),
                }
            }),
        }
    }

    /// `container`, `{object: {kind: K}}`, `{resource: {type: [T, U]}}`.
    fn applies_to(&mut self) -> (String, Vec<String>) {
        let Some(node) = self.root.get("applies_to") else { return (String::new(), Vec::new()) };
        let kinds = subjects().iter().filter_map(|(subject, _)| Some((subject.name, subject.kind?)));
        for (name, key) in kinds {
            if let Some(inner) = node.get(name) {
                self.keys(inner, &[key], name);
                let kinds = inner.get(key).map(|k| k.view().strings()).unwrap_or_default();
                let kinds: Vec<String> = kinds.iter().filter_map(|k| k.get().cloned()).collect();
                if kinds.is_empty() {
                    self.problem(inner.head(), format!("`{name}` needs a `{key}`"));
                }
                return (name.to_owned(), kinds);
            }
        }
        (self.string(Some(node)), Vec::new())
    }

    fn pairs(&mut self, key: &str) -> Vec<(String, String)> {
        let entries = self.root.get(key).map(Node::entries).unwrap_or_default();
        entries.into_iter().map(|(k, v)| (k.text().unwrap_or("").to_owned(), self.string(Some(v)))).collect()
    }

    fn params(&mut self) -> Vec<ParamText> {
        let entries = self.root.get("params").map(Node::entries).unwrap_or_default();
        entries
            .into_iter()
            .map(|(name, param)| {
                self.keys(param, &["type", "default", "description"], "parameter");
                let default = match param.get("default") {
                    Some(list) if list.is_seq() => list.items().map(|i| self.string(Some(i))).collect(),
                    one => vec![self.string(one)],
                };
                ParamText {
                    name: name.text().unwrap_or("").to_owned(),
                    ty: self.string(param.get("type")),
                    default,
                    description: self.string(param.get("description")),
                }
            })
            .collect()
    }

    fn labels(&mut self) -> Vec<(String, String)> {
        let items: Vec<Node<'t>> = self.root.get("labels").map(|l| l.items().collect()).unwrap_or_default();
        items
            .into_iter()
            .map(|label| {
                self.keys(label, &["at", "text"], "label");
                (self.string(label.get("at")), self.string(label.get("text")))
            })
            .collect()
    }

    /// What it says in Chinese.
    fn words(&mut self) -> Words {
        let Some(zh) = self.root.get("zh") else { return Words::default() };
        self.keys(zh, &["message", "help", "labels", "why"], "text in Chinese");
        let mut text = |key| zh.get(key).map(|node| self.string(Some(node)));
        let (message, help, why) = (text("message"), text("help"), text("why"));
        let labels: Vec<Node<'t>> = zh.get("labels").map(|l| l.items().collect()).unwrap_or_default();
        Words { message, help, why, labels: labels.into_iter().map(|label| self.string(Some(label))).collect() }
    }

    fn page(&mut self) -> Page {
        let references = self.root.get("references").map(|r| r.view().strings()).unwrap_or_default();
        let items: Vec<Node<'t>> = self.root.get("examples").map(|e| e.items().collect()).unwrap_or_default();
        let examples = items
            .into_iter()
            .map(|example| {
                self.keys(example, &["fires", "silent", "fixed", "because", "also"], "example");
                let fires = example.get("fires");
                let texts = |node: Option<Node<'t>>| -> Vec<(String, String)> {
                    let files = node.map(Node::entries).unwrap_or_default().into_iter();
                    let owned = |node: Node<'t>| node.text().unwrap_or("").to_owned();
                    files.map(|(path, text)| (owned(path), owned(text))).collect()
                };
                let (files, fixed) = (texts(fires.or(example.get("silent"))), texts(example.get("fixed")));
                let also = example.get("also").map(|also| also.view().strings()).unwrap_or_default();
                let also = also.iter().filter_map(|rule| rule.get().cloned()).collect();
                Example { fires: fires.is_some(), files, fixed, because: self.string(example.get("because")), also }
            })
            .collect();
        let why = self.string(self.root.get("why"));
        Page {
            why,
            references: references.iter().filter_map(|r| r.get().cloned()).collect(),
            examples,
            zh: self.words(),
            not_after: self.pairs("not_after").into_iter().collect(),
            open: self.pairs("open").into_iter().collect(),
        }
    }
}
