//! Helm charts: which files make one, and what it renders to. Knows Helm's layout and rules of values; knows neither
//! Kubernetes nor GPUs.

pub mod chart;
mod ignore;
pub mod install;
pub mod objects;
pub mod optional;
pub mod reads;
mod schema;
pub mod sets;
#[cfg(test)]
mod tests;
pub mod values;

pub use chart::{Chart, File};
pub use sets::ValueSet;

use super::class::Class;
use super::gotemplate::{Doubts, RenderError, Templates};
use super::text::Text;
use super::value::{Map, Value};
use crate::budget::{NODE, STEP, Share};
use crate::parse::{Dialect, Problem, Raw, Tree, yaml};
use crate::source::{SourceId, Span, Traced};
use objects::Scope;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Version of Kubernetes that charts are told when nothing states one: what Helm 3.16 tells them without a cluster.
pub const KUBERNETES: &str = "1.31.0";

/// A document that a chart renders to.
#[derive(Debug)]
pub struct Document {
    /// The template.
    pub template: SourceId,
    /// What it rendered to.
    pub text: String,
    /// The same, read; every node leads to what a person would edit.
    pub tree: Tree,
    /// Places of values, each with the expression that brought the value in.
    pub routes: Vec<(Span, Span)>,
}

/// What a chart renders to.
#[derive(Debug, Default)]
pub struct Rendered {
    /// Documents in the order of their templates.
    pub documents: Vec<Document>,
    /// Templates that were rendered, if only to nothing.
    pub read: Vec<SourceId>,
    /// Files under `crds/` of the chart and of its subcharts, which Helm installs as they stand.
    pub crds: Vec<SourceId>,
    /// Numbers that lost their fraction, each with the expression that made a whole number of it.
    pub cut: Vec<(Span, Span)>,
    /// Expressions that put a mapping where text stands.
    pub printed: Vec<Span>,
    /// Why these values cannot be installed, if the chart refuses them.
    pub refused: Option<String>,
    /// APIs that the templates asked for and that only what is installed beside Kubernetes would serve.
    pub apis: Vec<String>,
    /// Expressions that Helm evaluates and that are not understood here.
    pub missed: Vec<Problem>,
    /// What is wrong with the chart: its first fault, since one value often breaks many templates.
    pub failure: Option<Problem>,
    /// Whether what the cluster serves decides which documents there are.
    pub for_some_cluster: bool,
    /// Dependencies that these values switch on, with what they see.
    pub dependencies: Vec<Dependency>,
    /// Templates that were not rendered, and why.
    pub unread: Vec<(SourceId, String)>,
    /// Templates of which something is not known that may hold documents, and what.
    pub in_part: Vec<(SourceId, String)>,
    /// Templates that render to what is no YAML.
    pub broken: Vec<(SourceId, Problem)>,
    /// Whether this is not all: what it may spend is spent.
    pub gave_up: Option<Problem>,
    /// What the documents take up, in bytes.
    pub size: usize,
}

/// A dependency that is installed with a chart.
#[derive(Debug)]
pub struct Dependency {
    /// The `Chart.yaml` that lists it.
    pub listed: SourceId,
    /// Name of the chart.
    pub name: String,
    /// Name under which it is installed.
    pub known_as: String,
    /// Its values as far as they are stated here; nothing where none are.
    pub values: Option<Raw>,
    /// Whether the chart is at hand.
    pub here: bool,
}

/// A template with what it sees.
struct Template<'c> {
    name: String,
    base: String,
    file: File<'c>,
    dot: Map,
}

/// Which templates are rendered, and which texts of theirs are read: not those that were read before.
pub type Wanted<'w> = &'w dyn Fn(SourceId, Option<&str>) -> bool;

/// Renders a chart with a set of values, conditions on what is not known turning out as `doubts` tells.
pub fn render(chart: &Chart<'_>, set: &ValueSet, doubts: &Doubts, share: &Share) -> Rendered {
    render_some(chart, set, (doubts, share), &|_, _| true)
}

/// The same of some templates.
pub fn render_some(
    chart: &Chart<'_>,
    set: &ValueSet,
    (doubts, share): (&Doubts, &Share),
    wanted: Wanted<'_>,
) -> Rendered {
    let mut out = rendered(chart, set, (doubts, share), wanted);
    out.gave_up = share.spent().map(|spent| {
        let span = Span::new(chart.metadata.source, 0..0);
        Problem { span, message: format!("the chart is not rendered to its end: {spent}") }
    });
    out
}

/// What a share is to be given for a chart: its own texts, those of its subcharts and the values of a set.
pub fn bytes(chart: &Chart<'_>, set: &ValueSet) -> usize {
    fn all<'c>(chart: &'c Chart<'_>, seen: &mut BTreeSet<&'c str>) -> usize {
        if !seen.insert(chart.directory) {
            return 0;
        }
        let own: usize = chart.files.iter().map(|file| file.text.len()).sum();
        own + chart.subcharts.iter().map(|chart| all(chart, seen)).sum::<usize>()
    }
    all(chart, &mut BTreeSet::new()) + set.layers.iter().map(|layer| layer.tree.len() * STEP).sum::<usize>()
}

fn rendered(chart: &Chart<'_>, set: &ValueSet, (doubts, share): (&Doubts, &Share), wanted: Wanted<'_>) -> Rendered {
    let table = set.table(share);
    let Ok((root, values)) = install::install(chart, &table, share) else { return Rendered::default() };
    let scope = objects::scope(&root, &values, &set.release, (doubts, share));
    let mut templates = Vec::new();
    collect(&scope, &mut templates, share);
    templates.retain(|t| is_partial(&t.name) || wanted(t.file.source, None));
    // Templates share their values, so that the order in which Helm takes them shows.
    templates.sort_by_key(|t| Reverse((t.name.matches('/').count(), t.name.clone())));
    let files: Vec<(String, SourceId, &str)> =
        templates.iter().map(|t| (t.name.clone(), t.file.source, t.file.text)).collect();
    if share.spent().is_some() {
        return Rendered::default();
    }
    let (parsed, problems) = Templates::parse(&files);
    let installed = root.installed(&values, "", share);
    let missing: Vec<String> =
        installed.iter().filter(|one| !one.here).map(|one| one.dependency.name.clone()).collect();
    let verdict = schema::judge(&root, &values, set.deployed, share);
    let mut out = Rendered { crds: crds(&root), ..Rendered::default() };
    problems.into_iter().for_each(|problem| out.fail(problem.span.source, problem, &missing));
    for template in templates.iter().filter(|t| is_document(&t.name) && parsed.has(&t.name)) {
        let about: Map = [("Name", template.name.as_str()), ("BasePath", template.base.as_str())]
            .into_iter()
            .map(|(key, text)| (key, Value::from(text)))
            .collect();
        template.dot.insert("Template", None, about.as_class(Class::Values).into());
        match parsed.render(&template.name, &Value::from(template.dot.clone()), doubts, share) {
            // A tree of what was written, and its text.
            Ok(text) if !wanted(template.file.source, Some(text.as_str())) => {}
            Ok(text) if share.make(text.size() * 2).is_ok() => {
                out.size += text.size() * 2;
                out.document(template.file, &text);
            }
            Ok(_) => {}
            Err(_) if share.spent().is_some() => {
                out.unread.push((template.file.source, "the budget of its chart is spent".to_owned()));
            }
            Err(error) => out.fail(template.file.source, error, &missing),
        }
    }
    // What does not parse or render fails with other values, too.
    out.failure = out.failure.or(verdict.violation);
    let noticed = parsed.noticed();
    out.missed.extend(noticed.missed.into_iter().map(|(span, message)| Problem { span, message }));
    out.cut = noticed.cut.into_iter().collect();
    out.printed = noticed.printed.into_iter().collect();
    out.for_some_cluster = doubts.doubts_all() && doubts.cluster().get();
    out.refused = verdict.refusal.filter(|_| !doubts.doubts_all()).or(noticed.refused);
    if out.refused.is_some() {
        doubts.granted().set(true);
    }
    let hidden = |span: Span| (span.source, "what is not known decides which template is taken in".to_owned());
    out.in_part.extend(noticed.hidden.into_iter().map(hidden));
    out.apis = noticed.apis.into_iter().collect();
    out.documents.sort_by_key(|document| document.template);
    out.dependencies = installed.iter().map(|one| dependency(one, &values, share)).collect();
    out
}

fn dependency(one: &install::Installed<'_>, values: &values::Table<'_>, share: &Share) -> Dependency {
    let stated = match values::at(values, &one.path) {
        Some(values::Value::Table(table)) => Some(table),
        _ => None,
    };
    Dependency {
        listed: one.listed,
        name: one.dependency.name.clone(),
        known_as: one.dependency.known_as().to_owned(),
        values: stated.and_then(|table| values::document(table, Span::new(one.listed, 0..0), share).ok()),
        here: one.here,
    }
}

/// The templates of a chart and its subcharts; of a library only what it defines.
fn collect<'c>(scope: &Scope<'c>, out: &mut Vec<Template<'c>>, share: &Share) {
    let chart = scope.install.chart;
    for file in chart.templates() {
        // Each use of a chart reads its templates; a node of one may be as short as five bytes.
        let nodes = file.text.matches("{{").count() * 2;
        if share.make(NODE * (2 + nodes) + scope.path.len() * 4).is_err() {
            return;
        }
        let name = format!("{}/{}", scope.path, file.path);
        if !chart.is_library() || is_partial(&name) {
            let base = format!("{}/templates", scope.path);
            out.push(Template { name, base, file: *file, dot: scope.dot.clone() });
        }
    }
    scope.children.iter().for_each(|child| collect(child, out, share));
}

fn crds(install: &install::Install<'_>) -> Vec<SourceId> {
    let own = install.chart.files.iter().filter(|file| file.path.starts_with("crds/")).map(|file| file.source);
    own.chain(install.children.iter().flat_map(crds)).collect()
}

fn is_partial(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}

fn is_document(name: &str) -> bool {
    !is_partial(name) && !name.ends_with("NOTES.txt")
}

impl Rendered {
    fn document(&mut self, file: File<'_>, text: &Text) {
        if text.as_str().trim().is_empty() {
            self.read.push(file.source);
            return;
        }
        let whole = Span::new(file.source, 0..file.text.len());
        let mut traced = separated(text.traced(whole));
        let mut tree = yaml::parse_traced(&traced, Dialect::Kubernetes);
        // What is not known may be any lines, even none.
        if !tree.problems.is_empty()
            && let Some(known) = text.without_unknown_lines()
        {
            self.in_part.push((file.source, "lines of which nothing is known stand in it".to_owned()));
            traced = separated(known.traced(whole));
            tree = yaml::parse_traced(&traced, Dialect::Kubernetes);
        }
        match tree.problems.drain(..).next() {
            None => self.read.push(file.source),
            Some(_) if text.is_unknown() => {
                self.in_part.push((file.source, "a value that is not known shapes the document".to_owned()));
            }
            Some(problem) => {
                self.read.push(file.source);
                let message = format!("the template renders to what is {}", problem.message);
                self.broken.push((file.source, Problem { span: problem.span, message: message.clone() }));
                self.fail(file.source, RenderError { message, span: problem.span, ours: false }, &[]);
            }
        }
        self.documents.push(Document {
            template: file.source,
            text: traced.text().to_owned(),
            tree,
            routes: text.routes().collect(),
        });
    }

    /// A template that cannot be rendered. Where a dependency or a value is missing it may be for want of that.
    fn fail(&mut self, template: SourceId, error: RenderError, missing: &[String]) {
        let problem = Problem { span: error.span, message: error.message };
        if error.ours {
            self.unread.push((template, problem.message.clone()));
            return self.missed.push(problem);
        }
        let (reason, fault) = if !missing.is_empty() {
            (format!("a chart that is not here: {}", missing.join(", ")), false)
        } else if wants_values(&problem.message) {
            (format!("values that are not stated: {}", problem.message), false)
        } else {
            (format!("template error: {}", problem.message), true)
        };
        self.unread.push((template, reason));
        if fault {
            self.failure.get_or_insert(problem);
        }
    }
}

/// The text with every document on lines of its own: Helm parts documents at `---` even where the first line follows at
/// once, as trimmed white space makes it.
fn separated(text: Traced) -> Traced {
    let whole = text.text();
    let glued = |&(at, _): &(usize, &str)| whole[at + 4..].starts_with(|c: char| !c.is_whitespace() && c != '-');
    let breaks: Vec<usize> = whole.match_indices("\n---").filter(glued).map(|(at, _)| at).collect();
    if breaks.is_empty() {
        return text;
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for at in breaks {
        parts.extend([start..at + 4, at..at + 1]);
        start = at + 4;
    }
    parts.push(start..whole.len());
    text.join(&parts, text.whole())
}

/// Whether a template stopped for want of a value: what is absent has fields or is computed with, or the chart itself
/// refuses the values.
fn wants_values(message: &str) -> bool {
    message.contains("nil pointer") || message.ends_with("got <nil>") || message.contains("error calling fail")
}
