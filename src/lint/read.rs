//! One file: its text parsed by its kind, with what is wrong with it. Knows syntaxes and templates; joins nothing.

use super::trouble::Trouble;
use super::{Input, syntax};
use crate::discover::{self, Kind};
use crate::extract;
use crate::facts::Facts;
use crate::parse::{Dialect, Problem, Tree, mask, yaml};
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
}

/// Reads one file.
pub fn read(id: SourceId, input: &Input) -> Read {
    guarded(id, || read_file(id, input))
}

/// A panic is a finding on its file; the others are read all the same.
fn guarded(id: SourceId, read: impl FnOnce() -> Read) -> Read {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let message = "gpulint failed on this file; please report it".to_owned();
        Read { problems: vec![(Problem { span: Span::new(id, 0..0), message }, Trouble::Internal)], ..Read::default() }
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
    discover::template(&source.path, kind, &source.text)?;
    let mut read = read(id, &Input { path: source.path.clone(), kind, text: source.text.to_string(), repository: 0 });
    if let Some(tree) = read.tree.take() {
        read.facts.append(documents(id, &tree, &source.path).facts);
    }
    read.skipped.is_none().then_some(read.facts)
}

fn read_file(id: SourceId, input: &Input) -> Read {
    let mut out = Read::default();
    let template = discover::template(&input.path, input.kind, &input.text);
    let masked = template.map(|_| mask::mask(&input.text));
    let text = masked.as_ref().unwrap_or(&input.text);
    match input.kind {
        Kind::Yaml | Kind::Json => {
            let dialect = if input.kind == Kind::Json { Dialect::Typed } else { Dialect::Kubernetes };
            let mut tree = yaml::parse(id, text, dialect);
            out.comments = std::mem::take(&mut tree.comments);
            if template.is_some() {
                tree.doubt(&mask::conditions(&input.text));
                // Branches may state a key twice; broken text is not the author's fault.
                out.skipped = template.filter(|_| !tree.problems.is_empty()).map(|t| format!("{t} template"));
                out.tree = out.skipped.is_none().then(|| Arc::new(tree));
                return out;
            }
            match syntax::documents(&mut tree, &input.path, &input.text) {
                Ok(problems) => out.problems = problems,
                Err(reason) => out.skipped = Some(reason),
            }
            out.tree = Some(Arc::new(tree));
        }
        Kind::Chart | Kind::Data => {}
        kind => {
            let file = extract::text(id, &input.path, text, kind, &mut out.facts);
            out.problems = syntax::text(&file, &out.facts, template.is_none());
            out.comments = file.comments;
            out.module = file.module;
        }
    }
    out
}
