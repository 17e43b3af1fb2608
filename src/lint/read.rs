//! One file: its text parsed by its kind, with what is wrong with it. Knows syntaxes and templates; joins nothing.

use super::Input;
use crate::discover::{self, Kind, Template};
use crate::extract;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
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
    /// The template language whose text cannot be read around its expressions either.
    pub unread: Option<Template>,
}

/// How bad a problem of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It does not parse.
    Syntax,
    /// A key is written twice.
    Duplicate,
    /// A chart could not be rendered.
    Template,
    /// A kustomization could not be built.
    Kustomization,
    /// gpulint failed.
    Internal,
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
    read.unread.is_none().then_some(read.facts)
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
                // Branches may state a key twice; broken text is not the author's fault.
                out.unread = template.filter(|_| !tree.problems.is_empty());
                out.tree = out.unread.is_none().then(|| Arc::new(tree));
                return out;
            }
            out.problems.extend(tree.problems.drain(..).map(|p| (p, Trouble::Syntax)));
            out.problems.extend(yaml::duplicate_keys(&tree).into_iter().map(|(key, _, span)| duplicate(&key, span)));
            out.tree = Some(Arc::new(tree));
        }
        Kind::Chart | Kind::Data => {}
        kind => {
            let file = extract::text(id, &input.path, text, kind, &mut out.facts);
            let problems = file.problems.into_iter().filter(|_| template.is_none());
            out.problems.extend(problems.map(|p| (p, Trouble::Syntax)));
            out.problems.extend(file.repeated.iter().map(|(key, span)| duplicate(key, *span)));
            out.comments = file.comments;
            out.module = file.module;
        }
    }
    shorten(id, &mut out.problems);
    out
}

fn duplicate(key: &str, span: Span) -> (Problem, Trouble) {
    let message = format!("the key `{key}` is written twice in one mapping; the first value is lost");
    (Problem { span, message }, Trouble::Duplicate)
}

/// A file that is something else than its name says has a problem on every line: the first few tell it.
fn shorten(id: SourceId, problems: &mut Vec<(Problem, Trouble)>) {
    const MOST: usize = 5;
    let syntax = problems.iter().filter(|(_, trouble)| *trouble == Trouble::Syntax).count();
    if syntax > MOST {
        let mut kept = 0;
        problems.retain(|(_, trouble)| {
            *trouble != Trouble::Syntax || {
                kept += 1;
                kept <= MOST
            }
        });
        let span = problems.iter().rfind(|(_, t)| *t == Trouble::Syntax).map_or(Span::new(id, 0..0), |(p, _)| p.span);
        if let Some((last, _)) = problems.iter_mut().rfind(|(p, _)| p.span == span) {
            last.message.push_str(&format!(" (and {} more problems in this file)", syntax - MOST));
        }
    }
}

/// A problem of a file as a finding.
pub fn finding(problem: Problem, trouble: Trouble) -> Finding {
    let (rule, severity, help) = match trouble {
        Trouble::Syntax => ("syntax-error", Severity::Error, "mend the syntax; the rest of the file was linted"),
        Trouble::Duplicate => ("duplicate-key", Severity::Warning, "remove one of the two"),
        Trouble::Template => {
            ("template-error", Severity::Warning, "mend the template or the values; the other templates were linted")
        }
        Trouble::Kustomization => {
            let help = "mend the kustomization; until then its files are linted one by one";
            ("kustomization-error", Severity::Warning, help)
        }
        Trouble::Internal => ("internal-error", Severity::Error, "report the file at the project's issue tracker"),
    };
    let help = Some(help.to_owned());
    Finding { help, ..Finding::own(rule, severity, problem.span, problem.message) }
}
