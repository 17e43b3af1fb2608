//! From files to findings. Each file is read by itself; charts, kustomizations and Compose projects of a repository are
//! expanded into variants, which are joined once and asked, and what they show is told once. Knows every stage; prints
//! nothing and reads no file.

mod ansible;
mod builds;
mod charts;
mod compose;
mod contracts;
mod coverage;
mod declared;
mod filled;
mod flux;
mod idle;
mod kustomizations;
mod named;
mod optional;
mod packed;
mod read;
mod releases;
mod repeated;
mod syntax;
mod trouble;
mod variants;

use crate::budget::{NODE, Share};
use crate::discover::{self, Kind};
use crate::evaluate::Evaluation;
use crate::extract;
use crate::facts::{Facts, Object};
use crate::finding::{Finding, Unlinted};
use crate::judge::Annotation;
use crate::known::Fact;
use crate::link::{self, Based, Directories, Variant};
use crate::mend;
use crate::parse::{Problem, Tree};
use crate::paths;
use crate::rules::Ruleset;
use crate::source::{Source, SourceId, Sources, Span};
pub use coverage::Coverage;
pub use named::{Named, inline, named};
use rayon::prelude::*;
pub use read::template;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use trouble::Trouble;

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

impl Input {
    /// Whether it stands in another file, of the same path: see [`inline`].
    pub fn is_inner(&self) -> bool {
        self.kind == Kind::Dockerfile && matches!(discover::kind_of(&self.path), Some(Kind::Yaml | Kind::Json))
    }
}

/// What a run produced.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The files, in the order of their ids.
    pub sources: Sources,
    /// The joined facts, where they are kept: of the plain files, and of charts and kustomizations in their first form.
    pub facts: Facts,
    /// Charts with other values and other kustomizations of the same files, by name.
    pub forms: Vec<(String, Facts)>,
    /// Findings and what could not be decided.
    pub evaluation: Evaluation,
    /// Comments of every file, for suppressions.
    pub comments: Vec<Span>,
    /// Suppressions that objects carry as annotations.
    pub annotations: Vec<Annotation>,
    /// What facts came out of, and where files speak of GPUs and none did.
    pub coverage: Coverage,
    /// Templates of charts that could not be read, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Files that were read in part, and charts that were not judged or were in several ways that no value tells apart: paths,
    /// with what to know of it.
    pub notes: Vec<(String, String)>,
}

/// Repositories that have so many files together are linted side by side: more are not held in memory at once.
const SIDE_BY_SIDE: usize = 256;

/// So many files are worked on together before what they gave is taken over: it is not held twice.
const IN_TURN: usize = 2048;

/// What is made of each item, in their order.
fn in_turns<'i, T: Sync, R: Send>(items: &'i [T], make: impl Fn(&'i T) -> R + Sync + 'i) -> impl Iterator<Item = R> {
    items.chunks(IN_TURN).flat_map(move |some| some.par_iter().map(&make).collect::<Vec<R>>())
}

/// The files of one repository.
struct Repository<'s> {
    sources: &'s Sources,
    files: Vec<(SourceId, Kind)>,
    /// Those in YAML and JSON, read.
    trees: BTreeMap<SourceId, Arc<Tree>>,
}

impl<'s> Repository<'s> {
    /// Its files, in the order of their ids.
    fn iter(&self) -> impl Iterator<Item = (SourceId, &'s Source)> + '_ {
        self.files.iter().map(|(id, _)| (*id, self.sources.get(*id)))
    }

    /// Files of a kind that their names tell, too.
    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = SourceId> + '_ {
        let of_kind = self.files.iter().filter(move |(_, k)| *k == kind).map(|(id, _)| *id);
        of_kind.filter(|id| discover::kind_of(self.path(*id)).is_some())
    }

    fn path(&self, id: SourceId) -> &'s str {
        &self.sources.get(id).path
    }
}

/// Lints texts. `declared` are facts that the configuration states, with ids of sources after the inputs; they hold for
/// every repository.
pub fn run(inputs: Vec<Input>, declared: Facts, extra: Vec<Source>, rules: &Ruleset) -> Outcome {
    repositories(inputs, (declared, extra), (rules, true))
}

/// The same, without the facts: what was asked about is not needed any more.
pub fn check(inputs: Vec<Input>, declared: Facts, extra: Vec<Source>, rules: &Ruleset) -> Outcome {
    repositories(inputs, (declared, extra), (rules, false))
}

/// Lints one repository after another, small ones side by side.
fn repositories(
    inputs: Vec<Input>,
    (declared, extra): (Facts, Vec<Source>),
    (rules, keep): (&Ruleset, bool),
) -> Outcome {
    let mut files: BTreeMap<usize, Vec<(SourceId, Kind)>> = BTreeMap::new();
    if inputs.is_empty() {
        // A configuration alone is asked about too.
        files.insert(0, Vec::new());
    }
    for (id, input) in (0u32..).map(SourceId).zip(&inputs) {
        files.entry(input.repository).or_default().push((id, input.kind));
    }
    // A text in another file stands elsewhere than it says, and what values of a chart are used for only its templates say.
    let templates: BTreeSet<String> =
        inputs.iter().filter_map(|input| Some(input.path.rsplit_once("/templates/")?.0.to_owned())).collect();
    let of_chart = |path: &str| paths::above(paths::directory(path)).any(|above| templates.contains(above));
    let edited = |input: &Input| !input.is_inner() && (input.kind == Kind::Chart || !of_chart(&input.path));
    let kinds: Vec<Option<Kind>> = inputs.iter().map(|i| Some(i.kind).filter(|_| edited(i))).collect();
    let inputs = inputs.into_iter().map(|input| Source::new(input.path, input.text));
    let sources = Sources::new(inputs.chain(extra).collect());
    let directories = Directories::of(&sources);
    let paths: Vec<&str> = sources.iter().map(|(_, source)| source.path.as_str()).collect();
    let mut out = Outcome::default();
    let mut files = files.into_values().peekable();
    while let Some(first) = files.next() {
        let mut some = vec![first];
        let count = |some: &[Vec<_>]| some.iter().map(Vec::len).sum::<usize>();
        while let Some(next) = files.next_if(|next| count(&some) + next.len() <= SIDE_BY_SIDE) {
            some.push(next);
        }
        let lint = |files| repository(files, declared.clone(), (&directories, &paths), (rules, keep));
        let done: Vec<Outcome> = some.into_par_iter().map(lint).collect();
        done.into_iter().for_each(|one| out.append(one));
    }
    out.evaluation.settle();
    fix(&mut out.evaluation.findings, &sources, &kinds);
    out.comments.sort();
    out.comments.dedup();
    out.annotations.sort_by_key(|annotation| (annotation.span, annotation.scope));
    out.annotations.dedup_by_key(|annotation| (annotation.span, annotation.scope));
    out.sources = sources;
    out
}

/// Bytes that are read anew of one file for its fixes: each fix reads all of it, and the rest wait until
/// the first were made.
const READ_ANEW: usize = 1 << 21;

/// Makes edits of what rules ask to be written, where that is certain.
fn fix(findings: &mut [Finding], sources: &Sources, kinds: &[Option<Kind>]) {
    let mut files: BTreeMap<SourceId, Option<mend::File<'_>>> = BTreeMap::new();
    let mut read: BTreeMap<SourceId, usize> = BTreeMap::new();
    for finding in findings {
        let Some(wish) = finding.wish.take() else { continue };
        let Some(id) = wish.places.first().map(|(place, _)| place.source) else { continue };
        let spent = read.entry(id).or_default();
        if *spent >= READ_ANEW {
            continue;
        }
        *spent += sources.get(id).text.len();
        let kind = kinds.get(id.0 as usize).copied().flatten();
        // A finding is told all the same where gpulint fails on its fix.
        let fix = catch_unwind(AssertUnwindSafe(|| {
            let file = files.entry(id).or_insert_with(|| mend::File::new(id, sources.get(id), kind?));
            file.as_ref().and_then(|file| file.fix(&wish))
        }));
        finding.fix = fix.ok().flatten();
    }
}

/// Lints one repository: reads, expands into variants, joins them once, and asks.
fn repository(
    files: Vec<(SourceId, Kind)>,
    declared: Facts,
    (directories, paths): (&Directories<'_>, &[&str]),
    (rules, keep): (&Ruleset, bool),
) -> Outcome {
    let sources = directories.sources();
    let mut out = Outcome::default();
    let mut here = Repository { sources, files, trees: BTreeMap::new() };
    let names = declared::Names::of(&declared);
    let mut facts = declared;
    let mut modules = Vec::new();
    let mut mentions = BTreeMap::new();
    let files = here.files.clone();
    for (id, read) in in_turns(&files, |(id, kind)| (*id, read::read(*id, sources.get(*id), *kind))) {
        let in_part = |trouble: &Trouble| matches!(trouble, Trouble::Syntax(_) | Trouble::NotLinted(_));
        let in_part = read.problems.iter().any(|(_, trouble)| in_part(trouble));
        facts.unread.extend((read.skipped.is_some() || in_part).then_some(id));
        mentions.extend((!read.mentions.is_empty()).then_some((id, read.mentions)));
        out.skipped.extend(read.skipped.map(|reason| (here.path(id).to_owned(), reason)));
        out.notes.extend(read.note.map(|note| (here.path(id).to_owned(), note)));
        out.tell(read.problems);
        out.comments.extend(read.comments);
        facts.append(read.facts);
        modules.extend(read.module);
        here.trees.extend(read.tree.map(|tree| (id, tree)));
    }
    let compose::Resolved { failed, replaced } = compose::resolve(&mut here);
    out.tell(failed);
    for span in replaced {
        let words = mentions.get_mut(&span.source);
        words.into_iter().for_each(|words| words.retain(|word| word.start < span.start || span.end <= word.start));
    }
    for fill in [ansible::fill, flux::patch, flux::fill] {
        let filled = fill(&here);
        here.trees.extend(filled.trees);
        out.tell(filled.cut.into_iter().map(|problem| (problem, Trouble::NotLinted(Unlinted::Budget))));
        for (value, used) in filled.uses {
            facts.uses.entry(value).or_default().push(used);
        }
    }
    let kustomized = kustomizations::build(&here);
    out.tell(kustomized.failures);
    out.skipped.extend(kustomized.skipped);
    let mut of_roots = Facts::default();
    let texts = here.iter().map(|(id, source)| (source.path.as_str(), id, &*source.text));
    let taken_in = extract::modules(modules, texts, &mut of_roots);
    facts.unread.extend(taken_in.problems.iter().map(|problem| problem.span.source));
    let cut = taken_in.problems.iter().map(|problem| (problem.clone(), Trouble::NotLinted(Unlinted::Budget)));
    out.tell(cut);
    let read_elsewhere = |id: &SourceId| kustomized.used.contains(id) || taken_in.templates.contains(id);
    let plain: Vec<_> = here.trees.iter().filter(|(id, _)| !read_elsewhere(id)).chain(&kustomized.swallowed).collect();
    for read in in_turns(&plain, |(id, tree)| read::documents(**id, tree, here.path(**id))) {
        facts.append(read.facts);
        out.tell(read.problems);
    }
    // A file that a module reads is read as it stands, too.
    let kept = of_roots.workloads.iter().filter(|workload| workload.replicas_kept.get() == Some(&true));
    let kept: BTreeMap<Span, Fact<bool>> = kept.map(|one| (one.span, one.replicas_kept.clone())).collect();
    for workload in &mut facts.workloads {
        if let Some(is) = kept.get(&workload.span) {
            workload.replicas_kept = is.clone();
        }
    }
    facts.append(of_roots);
    builds::with_arguments(&here, &mut facts);
    facts.indexes.extend(here.iter().flat_map(|(id, source)| extract::indexes::of_text(id, &source.text)));
    facts.images.extend(here.iter().flat_map(|(id, source)| extract::made::of_text(id, &source.text)));
    let told = here.iter().filter_map(|(_, source)| extract::runtimes::of_text(&source.text)).max();
    facts.docker_runtime = facts.docker_runtime.max(told);
    let (stated, unread) = unrendered(&here, &taken_in.files);
    facts.append(stated);
    facts.unread.extend(&unread);
    let reason = |id| (here.path(id).to_owned(), "template that no module here renders".to_owned());
    out.skipped.extend(unread.into_iter().map(reason));
    let profiles = compose::profiles(&here, &mut facts);
    let mut variants = vec![Variant::plain(facts)];
    variants.extend(kustomized.variants);
    variants.extend(profiles);
    variants.extend(taken_in.forms.into_iter().map(|form| with_values(&here, form)));
    let named = releases::named_values(&here, &variants);
    variants[0].facts.append(named);
    link::complete(&mut variants, directories);
    let speaks: Option<BTreeSet<SourceId>> = (!rules.all_kinds).then(|| mentions.keys().copied().collect());
    let rendered = charts::render(&here, &variants, speaks.as_ref());
    variants.iter_mut().filter(|v| v.is_plain()).for_each(|plain| rendered.replace_values(&mut plain.facts));
    out.tell(rendered.failures);
    out.comments.extend(rendered.comments);
    for read in rendered.manifests {
        variants[0].facts.append(read.facts);
        out.comments.extend(read.comments);
        out.tell(read.problems);
    }
    out.skipped.extend(rendered.skipped);
    out.notes.extend(rendered.notes);
    variants.extend(rendered.variants);
    rebase(&mut variants, directories);
    link::join(&mut variants, directories);
    let asked = (speaks.as_ref(), |id| here.path(id));
    let not_deployed = idle::files(&here);
    let idle: BTreeSet<SourceId> = not_deployed.keys().copied().collect();
    contracts::judge(
        &mut variants,
        directories,
        asked,
        (rules, rendered.misread, rendered.breaches),
        (&idle, &here.trees),
    );
    // What is completed twice lacks the same twice.
    let mut cut: Vec<Problem> =
        variants.iter_mut().flat_map(|variant| std::mem::take(&mut variant.facts.cut)).collect();
    let mut told = HashSet::new();
    cut.retain(|problem| told.insert((problem.span, problem.message.clone())));
    out.tell(cut.into_iter().map(|problem| (problem, Trouble::NotLinted(Unlinted::Budget))));
    out.evaluation.findings.extend(names.absent(&here, &variants));
    let asked = variants::ask(&variants, (directories, paths), &idle, rules);
    out.evaluation.append(asked);
    out.evaluation.findings.retain(|finding| !idle.contains(&finding.span.source));
    out.evaluation.undecided.retain(|undecided| !idle.contains(&undecided.span.source));
    packed::place(&mut out.evaluation.findings, &here);
    repeated::merge(&mut out.evaluation.findings, sources);
    out.skipped.extend(not_deployed.into_iter().map(|(id, reason)| (here.path(id).to_owned(), reason.to_owned())));
    out.coverage = coverage::coverage(&here, mentions, &variants, rules);
    out.annotations =
        variants.iter().flat_map(|variant| &variant.facts.objects).filter_map(|o| annotation(o)).collect();
    if keep {
        out.take(variants);
    }
    out
}

/// Puts what KServe deploys in the place of services that are based on other objects.
fn rebase(variants: &mut [Variant], directories: &Directories<'_>) {
    let based = link::based(variants, directories);
    let share = Share::of(1, based.len() * NODE);
    for Based { variant, workload, bases } in based {
        let facts = &mut variants[variant].facts;
        let Some(service) = &facts.workloads[workload].object else { continue };
        match extract::kubernetes::based(service, &bases, &share) {
            Ok(Some(whole)) => facts.workloads[workload] = whole,
            Ok(None) => {}
            Err(cut) => facts.cut.push(cut),
        }
    }
}

/// A Terraform root with the values of a file that only a command line can name: beside the root without it.
fn with_values(here: &Repository<'_>, form: extract::terraform::Form) -> Variant {
    let directory = crate::paths::directory(here.path(form.root));
    let beside = if directory.is_empty() { "the variables of this directory" } else { directory };
    Variant {
        name: form.path,
        facts: form.facts,
        thing: Some(form.root),
        beside: Some(beside.to_owned()),
        ..Variant::default()
    }
}

/// What is literal in templates under the name of something else, that only a Terraform module makes what they are called;
/// those that cannot be read by themselves.
fn unrendered(here: &Repository<'_>, taken_in: &BTreeSet<SourceId>) -> (Facts, Vec<SourceId>) {
    let (mut stated, mut unread) = (Facts::default(), Vec::new());
    for id in here.of_kind(Kind::Data).filter(|id| !taken_in.contains(id)) {
        match read::literal(id, here.sources.get(id)) {
            Some(facts) => stated.append(facts),
            None => unread.push(id),
        }
    }
    (stated, unread)
}

impl Outcome {
    /// Adds what is wrong with files.
    fn tell(&mut self, problems: impl IntoIterator<Item = (Problem, Trouble)>) {
        let findings = problems.into_iter().map(|(problem, trouble)| trouble::finding(problem, trouble));
        self.evaluation.findings.extend(findings);
    }

    /// Takes over the facts of variants: those that are told first as one.
    fn take(&mut self, variants: Vec<Variant>) {
        for variant in variants {
            match variant.beside {
                None => self.facts.append(variant.facts),
                Some(_) => self.forms.push((variant.name, variant.facts)),
            }
        }
    }

    /// Tells what is found in sources after the inputs once where they are the same file: what several configurations
    /// extend is read for each of them.
    pub fn told_once(&mut self, inputs: usize) {
        let sources = &self.sources;
        let mut told = HashSet::new();
        let mut first = |span: Span, rule: &str, text: &str| {
            let place = (sources.get(span.source).path.clone(), span.start, span.end);
            (span.source.0 as usize) < inputs || told.insert((place, rule.to_owned(), text.to_owned()))
        };
        self.evaluation.findings.retain(|finding| first(finding.span, &finding.rule, &finding.message));
        self.evaluation.undecided.retain(|one| first(one.span, &one.rule, &one.why));
    }

    /// Takes over what another repository gave.
    fn append(&mut self, other: Outcome) {
        self.facts.append(other.facts);
        self.forms.extend(other.forms);
        self.evaluation.append(other.evaluation);
        self.comments.extend(other.comments);
        self.annotations.extend(other.annotations);
        self.coverage.understood.extend(other.coverage.understood);
        self.coverage.unread.extend(other.coverage.unread);
        self.skipped.extend(other.skipped);
        self.notes.extend(other.notes);
    }
}

/// The suppression that an object carries as annotations: `gpulint.dev/ignore: "rule, other"` and `gpulint.dev/reason`.
fn annotation(object: &Object) -> Option<Annotation> {
    let ignore = object.annotations.get("gpulint.dev/ignore")?;
    let words = ignore.get()?.split(',').map(|word| word.trim().to_owned());
    Some(Annotation {
        scope: object.body.as_ref()?.view().node()?.span(),
        rules: words.filter(|word| !word.is_empty()).collect(),
        reason: object.annotations.get("gpulint.dev/reason").and_then(|reason| reason.get().cloned()),
        span: ignore.span,
    })
}
