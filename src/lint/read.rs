//! One file: its text parsed by its kind, with what is wrong with it. Knows syntaxes and templates; joins nothing.

use super::coverage;
use super::syntax;
use super::trouble::Trouble;
use crate::discover::{self, Kind, Template};
use crate::extract;
use crate::facts::Facts;
use crate::finding::Unlinted;
use crate::judge;
use crate::parse::{Dialect, Node, Problem, Shape, Tree, mask, yaml};
use crate::render::terraform::ModuleFile;
use crate::source::{Source, SourceId, Span};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What one file gave.
#[derive(Default)]
pub struct Read {
    /// What it states by itself.
    pub facts: Facts,
    /// Its documents, in YAML and JSON.
    pub tree: Option<Arc<Tree>>,
    /// What is wrong with its text.
    pub problems: Vec<(Problem, Trouble)>,
    /// Its comments.
    pub comments: Vec<Span>,
    /// For Terraform: the file, to be evaluated with its module.
    pub module: Option<ModuleFile>,
    /// Why it was not linted, if it was not.
    pub skipped: Option<String>,
    /// Where it speaks of GPUs.
    pub mentions: Vec<Span>,
    /// Where a syntax of its own only names something.
    names: Vec<Span>,
    /// What of it was not read, if something was not.
    pub note: Option<String>,
}

/// Reads one file.
pub fn read(id: SourceId, source: &Source, kind: Kind) -> Read {
    guarded(id, || {
        let mut read = read_file(id, source, kind);
        read.comments.sort_unstable();
        let mut names = std::mem::take(&mut read.names);
        match (&read.tree, &read.module) {
            (Some(tree), _) => names.extend(coverage::names(tree, &source.path)),
            (None, Some(module)) => names.extend(module.hcl.names()),
            (None, None) => {}
        }
        names.sort_unstable();
        read.mentions = coverage::mentions(id, source, (&read.comments, &names));
        read
    })
}

/// A panic is a finding on its file; the others are read all the same.
fn guarded(id: SourceId, read: impl FnOnce() -> Read) -> Read {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let message = "gpulint failed on this file".to_owned();
        let problem = Problem { span: Span::new(id, 0..0), message };
        Read { problems: vec![(problem, Trouble::NotLinted(Unlinted::Failure))], ..Read::default() }
    })
}

/// Facts of a file of documents.
pub fn documents(id: SourceId, tree: &Arc<Tree>, path: &str) -> Read {
    guarded(id, || {
        let mut out = Read::default();
        extract::documents(tree, path, &mut out.facts);
        out
    })
}

/// What is literal in a template that is meant for a module; `None` when it cannot be read by itself.
pub fn literal(id: SourceId, source: &Source) -> Option<Facts> {
    let kind = discover::kind_of(&source.path)?;
    template(&source.path, kind, &source.text)?;
    let mut read = read(id, source, kind);
    if let Some(tree) = read.tree.take() {
        read.facts.append(documents(id, &tree, &source.path).facts);
    }
    read.skipped.is_none().then_some(read.facts)
}

/// What a file states that a chart brings along and does not render, where it holds manifests as it stands: whoever
/// applies it needs no Helm. `None` for anything else.
pub fn manifests(id: SourceId, source: &Source) -> Option<Read> {
    let kind = discover::kind_of(&source.path).filter(|kind| matches!(kind, Kind::Yaml | Kind::Json))?;
    if template(&source.path, kind, &source.text).is_some() {
        return None;
    }
    let mut read = read(id, source, kind);
    let tree = read.tree.take()?;
    let expression = |node: Node<'_>| matches!(node.kind(), Shape::Unknown(_));
    let object = |root| extract::format(root, &source.path).is_some_and(|format| format.name == "kubernetes");
    if !tree.roots().any(object) || tree.nodes().any(expression) {
        return None;
    }
    let documents = documents(id, &tree, &source.path);
    read.facts.append(documents.facts);
    read.problems.extend(documents.problems);
    Some(read)
}

fn read_file(id: SourceId, source: &Source, kind: Kind) -> Read {
    match kind {
        Kind::Yaml | Kind::Json => read_documents(id, source, kind),
        Kind::Chart | Kind::Data | Kind::Text => Read::default(),
        _ => read_text(id, source, kind),
    }
}

/// What is named like JSON and is none is YAML: its readers do not look at the name.
fn dialect(kind: Kind, text: &str) -> Dialect {
    let json = kind == Kind::Json && text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
    if json { Dialect::Typed } else { Dialect::Kubernetes }
}

/// The template language of a text of documents that has to be run before a tool can read it: text that parses is read
/// as the tool reads it, whatever its comments and values look like.
pub fn template(path: &str, kind: Kind, text: &str) -> Option<Template> {
    let template = discover::template(path, kind, text)?;
    let stands = || yaml::parse(SourceId(0), text, dialect(kind, text)).problems.is_empty();
    let documents = matches!(kind, Kind::Yaml | Kind::Json) && !discover::is_template_name(path);
    (!(documents && stands())).then_some(template)
}

fn read_documents(id: SourceId, source: &Source, kind: Kind) -> Read {
    let text: &str = &source.text;
    let mut out = Read::default();
    let Some(template) = template(&source.path, kind, text) else {
        let mut tree = yaml::parse(id, text, dialect(kind, text));
        out.comments = std::mem::take(&mut tree.comments);
        // Who speaks to gpulint in a file means it to be linted.
        let meant = out.comments.iter().any(|&comment| judge::is_directive(comment, source));
        out.comments.sort_unstable();
        // What states GPUs and does not parse is nobody else's business.
        let states = || {
            let words = coverage::mentions(id, source, (&out.comments, &[]));
            words.into_iter().any(|word| coverage::states(text, word))
        };
        match syntax::documents(&mut tree, (&source.path, text), meant, states) {
            Ok(problems) => out.problems = problems,
            Err(reason) => out.skipped = Some(reason),
        }
        out.tree = Some(Arc::new(tree));
        return out;
    };
    let mut tree = yaml::parse(id, &mask::mask(text), dialect(kind, text));
    out.comments = std::mem::take(&mut tree.comments);
    let conditions = mask::conditions(text);
    tree.doubt(&conditions);
    // Branches may state a key twice; broken text is not the author's fault.
    if tree.problems.is_empty() {
        out.note = masked(template, &conditions);
        out.tree = Some(Arc::new(tree));
    } else {
        out.skipped = Some(format!("{template} template"));
    }
    out
}

/// A text in a syntax of its own, as it stands or, where it does not parse, around the directives of a template.
fn read_text(id: SourceId, source: &Source, kind: Kind) -> Read {
    let (path, text): (&str, &str) = (&source.path, &source.text);
    let template = discover::template(path, kind, text);
    let mut facts = Facts::default();
    let mut file = extract::text(id, path, text, kind, &mut facts);
    let template = template.filter(|_| discover::is_template_name(path) || !file.problems.is_empty());
    if template.is_some() {
        facts = Facts::default();
        file = extract::text(id, path, &mask::mask(text), kind, &mut facts);
    }
    if let Some(image) = frontend(kind, text).filter(|_| !file.problems.is_empty()) {
        return Read { skipped: Some(format!("written for the BuildKit frontend {image}")), ..Read::default() };
    }
    let plain = template.is_none() && !file.problems.iter().any(|problem| syntax::is_filled_in(problem, text));
    Read {
        problems: syntax::text(&file, &facts, plain),
        note: template.and_then(|template| masked(template, &mask::conditions(text))),
        comments: file.comments,
        names: file.names,
        module: file.module,
        facts,
        ..Read::default()
    }
}

/// The frontend that the `syntax` directive of a Dockerfile names, unless it is that of Dockerfiles.
fn frontend(kind: Kind, text: &str) -> Option<&str> {
    let directive = text.lines().next().filter(|_| kind == Kind::Dockerfile)?.strip_prefix('#')?.trim_start();
    let image = directive.strip_prefix("syntax")?.trim_start().strip_prefix('=')?.trim();
    (!image.contains("dockerfile")).then_some(image)
}

/// What is left out of a template that is read by itself.
fn masked(template: Template, conditions: &[mask::Condition]) -> Option<String> {
    match conditions.iter().filter(|condition| condition.otherwise).count() {
        0 => None,
        n => Some(format!(
            "{template} template, read in part: the other side of {n} condition{} was left out",
            if n == 1 { "" } else { "s" }
        )),
    }
}
