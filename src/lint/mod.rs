//! From files to findings: discover's texts are parsed and extracted in parallel, joined, and asked. Knows
//! every stage; prints nothing and reads no file.

mod charts;
mod compose;
mod kustomizations;
mod releases;
mod variant;

pub use variant::Variant;

use crate::discover::{self, Kind, Template};
use crate::evaluate::Evaluation;
use crate::extract;
use crate::facts::{Facts, Object};
use crate::finding::{Finding, Severity};
use crate::judge::Annotation;
use crate::link::{self, Deployment};
use crate::parse::{Dialect, Problem, Tree, mask, yaml};
use crate::render::terraform::ModuleFile;
use crate::rules::Ruleset;
use crate::source::{Source, SourceId, Sources, Span};
use rayon::prelude::*;
use std::collections::BTreeMap;
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
    /// The number of the repository that it belongs to: nothing is joined across repositories.
    pub repository: usize,
}

/// What a run produced.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The files, in the order of their ids.
    pub sources: Sources,
    /// The joined facts: of the plain files, and of charts and kustomizations in their first form.
    pub facts: Facts,
    /// Charts with other values and other kustomizations of the same files, by name.
    pub forms: Vec<(String, Facts)>,
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

/// The files of one repository.
struct Repository<'s> {
    sources: &'s Sources,
    files: Vec<SourceId>,
    /// Those in YAML and JSON, read.
    trees: BTreeMap<SourceId, Arc<Tree>>,
}

impl<'s> Repository<'s> {
    /// Its files, in the order of their ids.
    fn iter(&self) -> impl Iterator<Item = (SourceId, &'s Source)> + '_ {
        self.files.iter().map(|id| (*id, self.sources.get(*id)))
    }

    fn path(&self, id: SourceId) -> &'s str {
        &self.sources.get(id).path
    }
}

/// Lints texts. `declared` are facts that the configuration states, with ids of sources after the inputs; they hold for
/// every repository.
pub fn run(inputs: Vec<Input>, declared: Facts, extra: Vec<Source>, rules: &Ruleset) -> Outcome {
    let reads: Vec<Read> = inputs.par_iter().enumerate().map(|(i, input)| read(SourceId(i as u32), input)).collect();
    // A configuration alone is asked about too.
    let mut repositories: BTreeMap<usize, Vec<(SourceId, Kind, Read)>> = BTreeMap::new();
    if inputs.is_empty() {
        repositories.insert(0, Vec::new());
    }
    for (id, (input, read)) in (0u32..).map(SourceId).zip(inputs.iter().zip(reads)) {
        repositories.entry(input.repository).or_default().push((id, input.kind, read));
    }
    let mut files: Vec<Source> = inputs.into_iter().map(|input| Source::new(input.path, input.text)).collect();
    files.extend(extra);
    let sources = Sources::new(files);
    let mut out = Outcome::default();
    let mut declared = Some(declared);
    let last = repositories.keys().next_back().copied();
    for (number, files) in repositories {
        let stated = if Some(number) == last { declared.take() } else { declared.as_ref().map(Facts::context) };
        out.append(repository(files, stated.unwrap_or_default(), &sources, rules));
    }
    out.evaluation.settle();
    out.comments.sort();
    out.comments.dedup();
    out.sources = sources;
    out
}

/// Lints one repository.
fn repository(files: Vec<(SourceId, Kind, Read)>, declared: Facts, sources: &Sources, rules: &Ruleset) -> Outcome {
    let mut here = Repository { sources, files: files.iter().map(|(id, ..)| *id).collect(), trees: BTreeMap::new() };
    let of_kind = |wanted: Kind| {
        let named = |id: SourceId| discover::kind_of(here.path(id)).is_some();
        files.iter().filter(move |(id, kind, _)| *kind == wanted && named(*id)).map(|(id, ..)| *id).collect::<Vec<_>>()
    };
    let templates = of_kind(Kind::Chart);
    // Templates under the name of something else, that only a Terraform module makes what they are called.
    let of_modules = of_kind(Kind::Data);
    let mut skipped = Vec::new();
    let mut findings = Vec::new();
    let mut comments = Vec::new();
    let mut modules = Vec::new();
    let mut facts = declared;
    for (id, _, read) in files {
        skipped.extend(read.unread.map(|template| (here.path(id).to_owned(), format!("{template} template"))));
        facts.append(read.facts);
        findings.extend(read.problems.into_iter().map(|(problem, trouble)| problem_finding(problem, trouble)));
        comments.extend(read.comments);
        modules.extend(read.module);
        here.trees.extend(read.tree.map(|tree| (id, tree)));
    }
    compose::resolve(&mut here);
    let kustomized = kustomizations::build(&here);
    let texts = here.iter().map(|(id, source)| (source.path.as_str(), id, &*source.text));
    let mut of_roots = Facts::default();
    let taken_in = extract::modules(modules, texts, &mut of_roots);
    let read_elsewhere = |id: &SourceId| kustomized.used.contains(id) || taken_in.templates.contains(id);
    let plain = here.trees.par_iter().filter(|(id, _)| !read_elsewhere(id));
    let documents: Vec<Read> = plain.map(|(id, tree)| guarded(*id, || documents(tree, here.path(*id)))).collect();
    for read in documents {
        facts.append(read.facts);
        findings.extend(read.problems.into_iter().map(|(problem, trouble)| problem_finding(problem, trouble)));
    }
    facts.append(of_roots);
    for id in of_modules.into_iter().filter(|id| !taken_in.files.contains(id)) {
        match literal(id, sources.get(id)) {
            Some(read) => facts.append(read),
            None => skipped.push((here.path(id).to_owned(), "template that no module here renders".to_owned())),
        }
    }
    findings.extend(kustomized.failures.into_iter().map(|problem| problem_finding(problem, Trouble::Kustomization)));
    skipped.extend(kustomized.skipped);
    let mut plain = Deployment::plain(facts);
    let mut variants = kustomized.variants;
    link::complete(&mut variant::deployments(&mut plain, &mut variants), sources);
    let releases =
        std::iter::once(&plain).chain(variants.iter().map(|v| &v.deployment)).flat_map(|d| &d.facts.releases);
    let rendered = charts::render(&here, &templates, &releases.cloned().collect::<Vec<_>>());
    rendered.replace_values(&mut plain.facts);
    comments.extend(rendered.comments);
    findings.extend(rendered.failures.into_iter().map(|problem| problem_finding(problem, Trouble::Template)));
    skipped.extend(rendered.skipped);
    variants.extend(rendered.variants);
    link::complete(&mut variant::deployments(&mut plain, &mut variants), sources);
    link::join(&mut variant::deployments(&mut plain, &mut variants), sources);
    let (facts, forms, mut evaluation) = variant::ask(plain.facts, variants, sources, rules);
    evaluation.findings.extend(findings);
    Outcome { facts, forms, evaluation, comments, skipped, ..Outcome::default() }
}

impl Outcome {
    /// Takes over what another repository gave.
    fn append(&mut self, other: Outcome) {
        self.facts.append(other.facts);
        self.forms.extend(other.forms);
        self.evaluation.findings.extend(other.evaluation.findings);
        self.evaluation.undecided.extend(other.evaluation.undecided);
        self.comments.extend(other.comments);
        self.skipped.extend(other.skipped);
    }

    /// Every form of the facts.
    fn every_form(&self) -> impl Iterator<Item = &Facts> {
        std::iter::once(&self.facts).chain(self.forms.iter().map(|(_, facts)| facts))
    }
}

/// Suppressions that objects carry as annotations: `gpulint.dev/ignore: "rule, other"` and `gpulint.dev/reason`.
pub fn annotations(outcome: &Outcome) -> Vec<Annotation> {
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
    let mut out: Vec<Annotation> = outcome.every_form().flat_map(|facts| &facts.objects).filter_map(read).collect();
    out.dedup_by_key(|annotation| (annotation.span, annotation.scope));
    out
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
fn documents(tree: &Arc<Tree>, path: &str) -> Read {
    let mut out = Read::default();
    extract::documents(tree, path, &mut out.facts);
    out
}

/// What is literal in a template that is meant for a module; `None` when it cannot be read by itself.
fn literal(id: SourceId, source: &Source) -> Option<Facts> {
    let kind = discover::kind_of(&source.path)?;
    discover::template(&source.path, kind, &source.text)?;
    let mut read = read(id, &Input { path: source.path.clone(), kind, text: source.text.to_string(), repository: 0 });
    if let Some(tree) = read.tree.take() {
        read.facts.append(guarded(id, || documents(&tree, &source.path)).facts);
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
