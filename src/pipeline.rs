//! From files to findings: discover's texts are parsed and extracted in parallel, joined, and asked. Knows
//! every stage; prints nothing and reads no file.

mod charts;
mod compose;
mod kustomizations;
mod releases;

use crate::discover::{self, Kind, Template};
use crate::evaluate::{self, Evaluation};
use crate::extract;
use crate::facts::{Facts, Object};
use crate::finding::{Finding, Severity};
use crate::judge::Annotation;
use crate::link;
use crate::parse::{Dialect, Problem, Tree, mask, yaml};
use crate::render::terraform::ModuleFile;
use crate::rules::Ruleset;
use crate::source::{Source, SourceId, Sources, Span};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A file to lint: its display path, its kind and its text.
#[derive(Debug, Clone)]
pub struct Input {
    /// Display path.
    pub path: String,
    /// What its name says that it is.
    pub kind: Kind,
    /// Its text.
    pub text: String,
}

/// What a run produced.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The files, in the order of their ids.
    pub sources: Sources,
    /// The joined facts.
    pub facts: Facts,
    /// Findings and what could not be decided.
    pub evaluation: Evaluation,
    /// Comments of every file, for suppressions.
    pub comments: Vec<Span>,
    /// Templates of charts that could not be read, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// What one file gave.
#[derive(Default)]
struct Read {
    facts: Facts,
    tree: Option<Arc<Tree>>,
    problems: Vec<(Problem, Trouble)>,
    comments: Vec<Span>,
    module: Option<ModuleFile>,
    /// The template language whose text cannot be read around its expressions either.
    unread: Option<Template>,
}

/// How bad a problem of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Syntax,
    Duplicate,
    Template,
    Kustomization,
    Internal,
}

/// Lints texts. `declared` are facts that the configuration states, with ids of sources after the inputs.
pub fn run(inputs: Vec<Input>, declared: Facts, extra: Vec<Source>, rules: &Ruleset) -> Outcome {
    let reads: Vec<Read> = inputs.par_iter().enumerate().map(|(i, input)| read(SourceId(i as u32), input)).collect();
    let template = |input: &Input| input.kind == Kind::Chart && discover::kind_of(&input.path).is_some();
    let templates = inputs.iter().enumerate().filter(|(_, input)| template(input));
    let templates: Vec<SourceId> = templates.map(|(i, _)| SourceId(i as u32)).collect();
    // Templates under the name of something else, that only a Terraform module makes what they are called.
    let of_modules: Vec<SourceId> = (0u32..)
        .zip(&inputs)
        .filter(|(_, input)| input.kind == Kind::Data && discover::kind_of(&input.path).is_some())
        .map(|(i, _)| SourceId(i))
        .collect();
    let mut files: Vec<Source> = inputs.into_iter().map(|input| Source::new(input.path, input.text)).collect();
    files.extend(extra);
    let sources = Sources::new(files);
    let mut trees: Vec<Option<Arc<Tree>>> = reads.iter().map(|read| read.tree.clone()).collect();
    compose::resolve(&sources, &mut trees);
    let kustomized = kustomizations::build(&sources, &trees);
    let documents: Vec<Read> = trees
        .into_par_iter()
        .enumerate()
        .map(|(i, tree)| {
            let id = SourceId(i as u32);
            let tree = tree.filter(|_| !kustomized.used.contains(&id));
            guarded(id, || documents(tree, &sources.get(id).path))
        })
        .collect();
    let language = |(i, read): (usize, &Read)| {
        let path = &sources.get(SourceId(i as u32)).path;
        read.unread.map(|template| (path.clone(), format!("{template} template")))
    };
    let mut unread: Vec<(String, String)> = reads.iter().enumerate().filter_map(language).collect();
    let mut facts = declared;
    let mut findings = Vec::new();
    let mut comments = Vec::new();
    let mut modules = Vec::new();
    for read in reads.into_iter().chain(documents) {
        facts.append(read.facts);
        findings.extend(read.problems.into_iter().map(|(problem, trouble)| problem_finding(problem, trouble)));
        comments.extend(read.comments);
        modules.extend(read.module);
    }
    let texts = sources.iter().map(|(id, source)| (source.path.as_str(), id, &*source.text));
    let read_by_modules = extract::modules(modules, texts, &mut facts);
    for id in of_modules.into_iter().filter(|id| !read_by_modules.contains(id)) {
        match literal(id, sources.get(id)) {
            Some(read) => facts.append(read),
            None => unread.push((sources.get(id).path.clone(), "template that no module here renders".to_owned())),
        }
    }
    let without = facts.context();
    facts.append(kustomized.facts);
    findings.extend(kustomized.failures.into_iter().map(|problem| problem_finding(problem, Trouble::Kustomization)));
    link::values(&mut facts, &sources);
    let rendered = charts::render(&sources, &templates, &facts);
    rendered.replace_values(&mut facts);
    comments.extend(rendered.comments);
    findings.extend(rendered.fractions);
    findings.extend(rendered.failures.into_iter().map(|problem| problem_finding(problem, Trouble::Template)));
    let context = facts.context();
    let mut routes = Vec::new();
    for set in rendered.defaults {
        facts.append(set.facts);
        routes.extend(set.routes);
    }
    routes.sort();
    link::link(&mut facts, &sources);
    let paths: Vec<&str> = sources.iter().map(|(_, source)| source.path.as_str()).collect();
    let mut evaluation = evaluate::evaluate(&facts, &Facts::default(), &paths, rules);
    charts::explain(&mut evaluation, &routes);
    facts.objects.extend(kustomizations::annotated(&kustomized.variants));
    let ask = |facts: &Facts, beside: &Facts| evaluate::evaluate(facts, beside, &paths, rules);
    charts::merge(&mut evaluation, charts::evaluate(rendered.variants, &context, &sources, ask));
    charts::merge(&mut evaluation, charts::evaluate(kustomized.variants, &without, &sources, ask));
    evaluation.findings.extend(findings);
    evaluation.settle();
    comments.sort();
    comments.dedup();
    Outcome { sources, facts, evaluation, comments, skipped: [rendered.skipped, kustomized.skipped, unread].concat() }
}

/// Suppressions that objects carry as annotations: `gpulint.dev/ignore: "rule, other"` and `gpulint.dev/reason`.
pub fn annotations(facts: &Facts) -> Vec<Annotation> {
    let read = |object: &Arc<Object>| {
        let ignore = object.annotations.get("gpulint.dev/ignore")?;
        let words = ignore.get()?.split(',').map(|word| word.trim().to_owned());
        Some(Annotation {
            scope: object.body.as_ref()?.view().node()?.span(),
            rules: words.filter(|word| !word.is_empty()).collect(),
            reason: object.annotations.get("gpulint.dev/reason").and_then(|reason| reason.get().cloned()),
            span: ignore.span,
        })
    };
    facts.objects.iter().filter_map(read).collect()
}

/// Reads one file.
fn read(id: SourceId, input: &Input) -> Read {
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
fn documents(tree: Option<Arc<Tree>>, path: &str) -> Read {
    let mut out = Read::default();
    if let Some(tree) = tree {
        extract::documents(&tree, path, &mut out.facts);
    }
    out
}

/// What is literal in a template that is meant for a module; `None` when it cannot be read by itself.
fn literal(id: SourceId, source: &Source) -> Option<Facts> {
    let kind = discover::kind_of(&source.path)?;
    discover::template(&source.path, kind, &source.text)?;
    let mut read = read(id, &Input { path: source.path.clone(), kind, text: source.text.to_string() });
    read.facts.append(guarded(id, || documents(read.tree.take(), &source.path)).facts);
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
            out.problems.extend(yaml::duplicate_keys(&tree).into_iter().map(|(key, _, span)| {
                let message = format!("the key `{key}` is written twice in one mapping; the first value is lost");
                (Problem { span, message }, Trouble::Duplicate)
            }));
            out.tree = Some(Arc::new(tree));
        }
        Kind::Chart | Kind::Data => {}
        kind => {
            let file = extract::text(id, &input.path, text, kind, &mut out.facts);
            let problems = file.problems.into_iter().filter(|_| template.is_none());
            out.problems.extend(problems.map(|p| (p, Trouble::Syntax)));
            out.comments = file.comments;
            out.module = file.module;
        }
    }
    shorten(id, &mut out.problems);
    out
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

fn problem_finding(problem: Problem, trouble: Trouble) -> Finding {
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
