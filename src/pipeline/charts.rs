//! Charts of a run: rendered with each of their value sets, linted like files, and their findings told once. Knows
//! which sets there are and what they gave; renders nothing itself.

use super::releases;
use crate::evaluate::Evaluation;
use crate::extract;
use crate::facts::{Facts, InfraFormat, Workload, WorkloadFormat};
use crate::finding::{Finding, Label, Severity};
use crate::known::Fact;
use crate::link;
use crate::parse::Problem;
use crate::render::helm::{self, Chart, File, KUBERNETES, ValueSet};
use crate::source::{SourceId, Sources, Span};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What reports call a chart's own values.
pub const DEFAULTS: &str = "the default values";

/// What a chart gave with one set of values.
pub struct Set {
    /// What reports call it.
    pub name: String,
    /// What reports call the set that it is another form of.
    pub beside: String,
    /// Facts of its documents.
    pub facts: Facts,
    /// Places of values, each with the expression that brought the value in.
    pub routes: Routes,
    /// The file of values, where nothing says that it is installed.
    pub example: Option<SourceId>,
}

impl Set {
    /// A set without routes.
    pub fn new(name: &str, beside: &str, facts: Facts) -> Self {
        Self { name: name.to_owned(), beside: beside.to_owned(), facts, routes: Vec::new(), example: None }
    }
}

/// Places of values, sorted, each with the expression of a template that brought the value in.
pub type Routes = Vec<(Span, Span)>;

/// What a label says at the expression that brought a value in.
const ROUTE: &str = "the template puts it here";

/// The charts of a run, rendered.
#[derive(Default)]
pub struct Rendered {
    /// Each chart with its own values.
    pub defaults: Vec<Set>,
    /// Each chart with every other set.
    pub variants: Vec<Set>,
    /// What kept templates from being rendered.
    pub failures: Vec<Problem>,
    /// GPUs that a template rounds away.
    pub fractions: Vec<Finding>,
    /// Comments that stand in rendered documents.
    pub comments: Vec<Span>,
    /// Templates that could not be read, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Files of values that rendered documents speak for.
    values: BTreeSet<SourceId>,
}

impl Rendered {
    /// Takes away what values alone seemed to run: the rendered documents tell it better. Profiles stay: a template
    /// only passes them on, to place what is made later.
    pub fn replace_values(&self, facts: &mut Facts) {
        let profile = |w: &Workload| w.kind.get().is_some_and(|kind| kind == "Profile");
        let guessed = |w: &Workload| w.format.get() == Some(&WorkloadFormat::Values) && !profile(w);
        facts.workloads.retain(|w| !(guessed(w) && self.values.contains(&w.span.source)));
    }
}

/// What one chart gave with one set.
struct One {
    set: Set,
    cut: Vec<(Span, Span)>,
    failure: Option<Problem>,
    comments: Vec<Span>,
    values: Vec<SourceId>,
    read: Vec<SourceId>,
    unread: Vec<(SourceId, String)>,
}

/// Why a template was not read that no chart and no set of values rendered.
const UNUSED: &str = "Helm template that no values switch on";

/// Renders every chart among the files with every set of values that is meant for it. `templates` are the files that
/// only a chart can read.
pub fn render(sources: &Sources, templates: &[SourceId], facts: &Facts) -> Rendered {
    let files: Vec<File<'_>> =
        sources.iter().map(|(id, source)| File { source: id, path: &source.path, text: &source.text }).collect();
    let charts = helm::chart::find(&files);
    let mut sets = helm::sets::sets(&charts, &files, KUBERNETES);
    releases::add(&mut sets, &charts, facts, sources);
    let jobs: Vec<(&Chart<'_>, &ValueSet)> =
        charts.iter().zip(&sets).flat_map(|(chart, sets)| sets.iter().map(move |set| (chart, set))).collect();
    // A chart that others depend on need not work alone.
    let held: BTreeSet<&str> = charts.iter().flat_map(|chart| chart.subcharts.iter().map(|c| c.directory)).collect();
    let done: Vec<One> = jobs
        .into_par_iter()
        .map(|(chart, set)| {
            let mut one = guarded(chart, set, sources);
            one.failure = one.failure.filter(|_| !held.contains(chart.directory));
            one
        })
        .collect();
    let mut out = Rendered::default();
    // A template that some chart or some set rendered was read.
    let mut read = BTreeSet::new();
    let mut unread: BTreeMap<SourceId, String> = BTreeMap::new();
    let mut cut = BTreeMap::new();
    for one in done {
        read.extend(one.read);
        cut.extend(one.cut);
        if !one.set.facts.workloads.is_empty() {
            out.values.extend(one.values);
        }
        out.comments.extend(one.comments);
        // What only another set lacks or breaks is seldom meant to be complete.
        if one.set.name.is_empty() {
            out.failures.extend(one.failure);
            unread.extend(one.unread);
            out.defaults.push(one.set);
        } else {
            out.variants.push(one.set);
        }
    }
    out.fractions = cut.into_iter().filter_map(|(value, at)| lost(value, at, sources)).collect();
    let skipped = templates.iter().filter(|id| !read.contains(id));
    let why = |id: &SourceId| {
        let template = sources.get(*id).path.split('/').any(|part| part == "templates");
        unread.get(id).cloned().unwrap_or_else(|| if template { UNUSED } else { "Go template" }.to_owned())
    };
    out.skipped = skipped.map(|id| (sources.get(*id).path.clone(), why(id))).collect();
    out
}

/// A part of a GPU that a template makes none of: nothing is asked for, and nothing says so.
fn lost(value: Span, at: Span, sources: &Sources) -> Option<Finding> {
    let source = sources.get(value.source);
    let text = source.slice(value);
    let number: f64 = text.trim_matches(['"', '\'']).parse().ok()?;
    let key = source.text.get(..value.start as usize)?.rsplit('\n').next()?.to_ascii_lowercase();
    if number <= 0.0 || number >= 1.0 || !key.contains("gpu") {
        return None;
    }
    let message = format!("{text} GPUs become 0: the template keeps whole numbers only, so that no GPU is asked for");
    let help = "ask for whole GPUs, or for a share by the resource of a sharing scheme (MIG, time-slicing)";
    let related = vec![Label { span: at, text: "the fraction is dropped here".to_owned() }];
    let own = Finding::own("fraction-dropped", Severity::Warning, value, message);
    Some(Finding { help: Some(help.to_owned()), related, ..own })
}

/// Renders a chart; a panic is a finding on its `Chart.yaml`.
fn guarded(chart: &Chart<'_>, set: &ValueSet, sources: &Sources) -> One {
    catch_unwind(AssertUnwindSafe(|| one(chart, set, sources))).unwrap_or_else(|_| One {
        set: Set::new(&set.name, DEFAULTS, Facts::default()),
        failure: Some(Problem {
            span: Span::new(chart.metadata.source, 0..0),
            message: "gpulint failed on this chart; please report it".to_owned(),
        }),
        cut: Vec::new(),
        comments: Vec::new(),
        values: Vec::new(),
        read: Vec::new(),
        unread: Vec::new(),
    })
}

fn one(chart: &Chart<'_>, set: &ValueSet, sources: &Sources) -> One {
    let rendered = helm::render(chart, set);
    let mut facts = Facts::default();
    let mut comments = Vec::new();
    let mut routes = Vec::new();
    for document in rendered.documents {
        routes.extend(document.routes);
        let path = &sources.get(document.template).path;
        comments.extend(document.tree.comments.iter().copied());
        extract::documents(&Arc::new(document.tree), path, &mut facts);
    }
    let own = chart.values.as_ref().map(|tree| tree.source);
    let values = own.into_iter().chain(set.layers.iter().map(|layer| layer.tree.source)).collect();
    routes.sort();
    routes.dedup();
    let set = Set { routes, example: set.example, ..Set::new(&set.name, DEFAULTS, facts) };
    One {
        set,
        cut: rendered.cut,
        failure: rendered.failure,
        comments,
        values,
        read: rendered.read,
        unread: rendered.unread,
    }
}

/// Asks about what each further set gave, joined with the context. `ask` asks about facts beside others.
pub fn evaluate(
    variants: Vec<Set>,
    context: &Facts,
    sources: &Sources,
    ask: impl Fn(&Facts, &Facts) -> Evaluation + Sync,
) -> Vec<([String; 2], Evaluation)> {
    variants
        .into_par_iter()
        .map(|set| {
            let mut facts = context.context();
            if let Some(values) = set.example {
                stated_above(&mut facts, values, sources);
            }
            let beside = facts.context();
            facts.append(set.facts);
            link::link(&mut facts, sources);
            let mut added = facts.past(&beside);
            // Joining lists what builds install, which they were asked about before.
            added.package_files.clear();
            let mut evaluation = ask(&added, &beside);
            explain(&mut evaluation, &set.routes);
            ([set.name, set.beside], evaluation)
        })
        .collect()
}

/// Leaves out the machines that are not stated in the configuration, or in a directory above a file of values: which
/// cluster an example is meant for is not said elsewhere.
fn stated_above(facts: &mut Facts, values: SourceId, sources: &Sources) {
    let path = &sources.get(values).path;
    let above = |span: Span, format: &Fact<InfraFormat>| {
        let stating = &sources.get(span.source).path;
        let directory = &stating[..stating.rfind('/').map_or(0, |at| at + 1)];
        format.get() == Some(&InfraFormat::Configuration) || path.starts_with(directory)
    };
    facts.pools.retain(|pool| above(pool.span, &pool.format));
    facts.clusters.retain(|cluster| above(cluster.span, &cluster.format));
}

/// Adds to each finding at a value the expression that put the value where it does harm.
pub fn explain(evaluation: &mut Evaluation, routes: &[(Span, Span)]) {
    if routes.is_empty() {
        return;
    }
    for finding in &mut evaluation.findings {
        let place = finding.span;
        let first = routes.partition_point(|(from, _)| from.source < place.source);
        let before =
            routes[first..].iter().take_while(|(from, _)| from.source == place.source && from.start <= place.start);
        // The innermost of those that hold the place.
        let Some(&(_, via)) = before.filter(|(from, _)| from.contains(place)).last() else { continue };
        if !finding.related.iter().any(|label| label.span.contains(via) || via.contains(label.span)) {
            finding.related.push(Label { span: via, text: ROUTE.to_owned() });
        }
    }
}

/// Adds the findings of further sets. A rule that fires at a place under several of them is told once, with their
/// names.
pub fn merge(into: &mut Evaluation, varied: Vec<([String; 2], Evaluation)>) {
    let mut told: BTreeMap<(String, Span), usize> = BTreeMap::new();
    let key = |finding: &Finding| (finding.rule.clone(), finding.span);
    into.findings.iter().enumerate().for_each(|(i, finding)| {
        told.entry(key(finding)).or_insert(i);
    });
    for ([name, beside], evaluation) in varied {
        for mut finding in evaluation.findings {
            match told.get(&key(&finding)) {
                Some(&i) => {
                    let names = &mut into.findings[i].values;
                    if names.is_empty() {
                        names.push(beside.clone());
                    }
                    if !names.contains(&name) {
                        names.push(name.clone());
                    }
                }
                None => {
                    finding.values.push(name.clone());
                    told.insert(key(&finding), into.findings.len());
                    into.findings.push(finding);
                }
            }
        }
        into.undecided.extend(evaluation.undecided);
    }
}
