//! Configuration files that stand as a text in another document: the data of a ConfigMap, a value of a chart, a file that a
//! script writes. Knows in which formats programs read such files; not who reads them.

use super::formats::{self, Format};
use super::{machinery, managed, nginx, options, slurm_conf, training, triton, units};
use crate::catalog;
use crate::facts::{Facts, NamedText, Object};
use crate::known::Fact;
use crate::parse::{DEEPEST, Dialect, Node, Problem, Raw, Tree, View, pbtxt, toml, yaml};
use crate::paths;
use crate::source::{SourceId, Traced};
use serde::de::IgnoredAny;
use std::sync::Arc;

/// Whether a text may be of a format.
type Shows = fn(&str) -> bool;

/// Formats of files that stand in other documents, with what shows them.
static INSIDE: &[(&str, Shows)] = &[
    ("llama-swap", |text| text.contains("models:") && text.contains("cmd:")),
    ("ray-serve", |text| text.contains("import_path")),
    ("training", training::may_be_file),
    ("server-options", options::may_be_file),
    ("component", may_be_component),
];

/// Formats that a machine runs from a file which it is given.
const RUN: [&str; 2] = ["compose", "kubernetes"];

/// Endings of names that say what a text is.
const SYNTAXES: [&str; 5] = ["json", "yaml", "yml", "toml", "pbtxt"];

/// What a text shows that a template fills in, or a program before it reads it.
const FILLED: [&str; 6] = ["{{", "${", "$(", "<%", "{%", "__"];

/// What a configuration document is, by its keys or by the name of its file (`@dataset_info.json`): MigConfig, LiteLLMConfig.
pub fn kind(root: Node<'_>, at: &str) -> Option<&'static str> {
    let stands = |key: &str| {
        if let Some(name) = key.strip_prefix('@') {
            return paths::name(at) == name;
        }
        let (path, shape) = key.split_once(':').unwrap_or((key, ""));
        root.path(path).is_some_and(|node| match shape {
            "map" => node.is_map(),
            "seq" => node.is_seq(),
            "text" => node.text().is_some(),
            _ => true,
        })
    };
    let mut known = catalog::configurations().iter().filter(|_| root.is_map());
    known.find(|(_, keys)| keys.iter().all(|key| stands(key))).map(|(kind, _)| *kind)
}

/// Whether a text holds the words of such keys.
fn may_be_component(text: &str) -> bool {
    let holds = |key: &str| {
        let path = key.split(':').next().unwrap_or(key);
        path.split('.').all(|part| text.contains(part))
    };
    catalog::configurations().iter().any(|(_, keys)| keys.iter().all(|key| holds(key)))
}

/// Reads such a document as a raw object of its kind.
pub fn component(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    let Some(kind) = kind(root, path) else { return };
    if kind == "DockerDaemonConfig" {
        machinery::docker_daemon(root.view(), facts);
    }
    managed::read(kind, tree, root.view(), facts);
    facts.objects.push(Arc::new(object(tree, root, kind, path)));
}

/// A configuration document as a raw object of a kind.
pub fn object(tree: &Arc<Tree>, root: Node<'_>, kind: &str, path: &str) -> Object {
    let mut out = Object::blank(root.head());
    out.kind = Fact::value(kind.to_owned(), root.head());
    out.name = Fact::value(path.to_owned(), root.head());
    out.body = Some(Raw::new(tree, root.view()));
    out
}

/// Reads every text of a document that is a configuration; spans lead into the text. `at` is where the document stands.
pub fn read(view: View<'_>, at: &str, facts: &mut Facts) {
    search(view, (DEEPEST, at), facts);
}

fn search(view: View<'_>, (depth, at): (usize, &str), facts: &mut Facts) {
    let Some(node) = view.node().filter(|_| depth > 0) else { return };
    if node.text().is_some() {
        // What stands on one line is a value, not a file.
        if let Some(text) = node.traced().filter(|text| text.text().contains('\n')) {
            self::text(&text, at, facts);
            let named = at.rsplit_once('.').is_some_and(|(_, end)| SYNTAXES.contains(&end));
            facts.texts.extend(named.then(|| NamedText { at: at.to_owned(), text }));
        }
        return;
    }
    view.items().for_each(|item| search(item, (depth - 1, at), facts));
    for (key, child) in view.entries() {
        let at = if at.is_empty() { key.to_owned() } else { format!("{at}/{key}") };
        search(child, (depth - 1, &at), facts);
    }
}

/// Reads a text that is written to a file as what that file would be, if it is of a format that a machine runs by itself.
pub fn written(text: &Traced, at: &str, facts: &mut Facts) {
    let tree = Arc::new(yaml::parse_traced(text, Dialect::Core));
    let run = |root: Node<'_>| formats::format(root, at).filter(|format| RUN.contains(&format.name));
    let found: Vec<(Node<'_>, &Format)> = tree.roots().filter_map(|root| Some((root, run(root)?))).collect();
    if found.is_empty() {
        return self::text(text, at, facts);
    }
    found.into_iter().for_each(|(root, format)| format.document(&tree, root, at, facts));
}

/// Reads a text if it is of a format that stands in other documents.
pub fn text(text: &Traced, at: &str, facts: &mut Facts) {
    if at.ends_with("config.pbtxt") {
        return triton::embedded(text, at, facts);
    }
    if nginx::is_file(at, text.text()) {
        return nginx::embedded(text, at, facts);
    }
    if slurm_conf::is_file(at) {
        return slurm_conf::embedded(text, at, facts);
    }
    if units::is_file(at) {
        return units::embedded(text, at, facts);
    }
    let may_be = INSIDE.iter().filter(|(_, shows)| shows(text.text())).map(|(name, _)| *name);
    let may_be: Vec<&Format> = may_be.filter_map(formats::named).collect();
    if may_be.is_empty() {
        return;
    }
    let tree = Arc::new(yaml::parse_traced(text, Dialect::Core));
    for root in tree.roots() {
        if let Some(format) = may_be.iter().find(|format| (format.is)(root, at)) {
            format.document(&tree, root, at, facts);
        }
    }
}

/// What keeps a text from being what its name says that it is: `config.json`, `config.yaml`, `config.toml`; with what that is.
pub fn malformed(NamedText { at, text }: &NamedText) -> Option<(&'static str, Problem)> {
    let written = text.text();
    if FILLED.iter().any(|sign| written.contains(sign)) {
        return None;
    }
    let read = |parse: fn(SourceId, &str) -> Tree| {
        let mut tree = parse(text.whole().source, written);
        tree.retrace(text);
        tree.problems.into_iter().next()
    };
    match at.rsplit_once('.')?.1 {
        "json" => Some(("JSON", not_json(text)?)),
        "yaml" | "yml" => Some(("YAML", read(|source, text| yaml::parse(source, text, Dialect::Core))?)),
        "toml" => Some(("TOML", read(toml::parse)?)),
        "pbtxt" => Some(("text of protocol buffers", read(pbtxt::parse)?)),
        _ => None,
    }
}

/// Why a text is no JSON; comments are let be, as programs that allow them call their files so, too.
fn not_json(text: &Traced) -> Option<Problem> {
    let written = text.text();
    if written.contains("//")
        || written.contains("/*")
        || written.lines().any(|line| line.trim_start().starts_with('#'))
    {
        return None;
    }
    let error = serde_json::from_str::<IgnoredAny>(written).err()?;
    let line = written.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    // Columns are counted in bytes, from one.
    let mut at = (line + error.column().saturating_sub(1)).min(written.len());
    while !written.is_char_boundary(at) {
        at -= 1;
    }
    let end = written[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or(&said);
    Some(Problem { span: text.span(at..end), message: format!("not valid JSON: {said}") })
}
