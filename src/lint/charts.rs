//! Charts of a run: rendered with each of their value sets, linted like files, and their findings told once. Knows
//! which sets there are and what they gave; renders nothing itself.

use super::contracts;
use super::optional::{self, Before};
use super::read::{self, Read};
use super::trouble::Trouble;
use super::{Repository, releases};
use crate::budget::Share;
use crate::discover::Kind;
use crate::extract;
use crate::facts::{BreachClass, Facts, HelmRelease, Object, ReleaseFormat, Workload, WorkloadFormat};
use crate::finding::Unlinted;
use crate::known::{Fact, Known, Why};
use crate::link::{Routes, Variant};
use crate::parse::{Builder, Dialect, Entry, NodeKind, Problem, Raw};
use crate::render::gotemplate::Doubts;
use crate::render::helm::reads::{Misread, misread};
use crate::render::helm::sets::{MAX_SETS, Release};
use crate::render::helm::{self, Chart, File, KUBERNETES, ValueSet};
use crate::source::{SourceId, Sources, Span, Traced};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What reports call a chart's own values.
pub const DEFAULTS: &str = "the default values";

/// The charts of a run, rendered.
#[derive(Default)]
pub struct Rendered {
    /// Each chart with its own values, and with every other set.
    pub variants: Vec<Variant>,
    /// What kept templates from being rendered.
    pub failures: Vec<(Problem, Trouble)>,
    /// Comments that stand in rendered documents.
    pub comments: Vec<Span>,
    /// Templates that could not be read, with the reason.
    pub skipped: Vec<(String, String)>,
    /// What files of charts state that nothing renders, and that are manifests as they stand.
    pub manifests: Vec<Read>,
    /// What templates read by a name that no values have, with the names of the charts.
    pub misread: Vec<(String, Misread)>,
    /// What is wrong with templates, also where values are set that charts leave empty; fields that no object has with the group
    /// and the kind.
    pub breaches: Vec<contracts::OfKind>,
    /// Charts that were not judged, or with and without what operators serve, with what to know of it.
    pub notes: Vec<(String, String)>,
    /// Files of values that rendered documents speak for.
    values: BTreeSet<SourceId>,
    /// Charts that some values install: which of their dependencies are installed, and how, is told with those.
    installed: BTreeSet<SourceId>,
}

impl Rendered {
    /// Takes away what values and lists of dependencies alone seemed to run: the rendered charts tell it better. Profiles
    /// stay: a template only passes them on, to place what is made later.
    pub fn replace_values(&self, facts: &mut Facts) {
        let profile = |w: &Workload| w.kind.get().is_some_and(|kind| kind == "Profile");
        let guessed = |w: &Workload| w.format.get() == Some(&WorkloadFormat::Values) && !profile(w);
        facts.workloads.retain(|w| !(guessed(w) && self.values.contains(&w.span.source)));
        let listed = |r: &HelmRelease| r.format.get() == Some(&ReleaseFormat::ChartDependency);
        facts.releases.retain(|r| !(listed(r) && self.installed.contains(&r.span.source)));
    }
}

/// What one chart gave with one set.
struct One {
    facts: Facts,
    routes: Routes,
    failure: Option<Problem>,
    gave_up: Option<(Problem, Trouble)>,
    /// What Helm renders and is not understood here.
    missed: Vec<Problem>,
    in_part: Vec<(SourceId, String)>,
    /// A condition on what is not known of which one side was not looked at.
    open: Option<Span>,
    /// Whether it is another side of the same set.
    elsewhere: bool,
    /// Whether it is what the chart would give, did it not refuse the set.
    overruled: bool,
    /// Tells its documents from others.
    digest: u64,
    /// What its documents take up, in bytes.
    size: usize,
    comments: Vec<Span>,
    values: Vec<SourceId>,
    read: Vec<SourceId>,
    unread: Vec<(SourceId, String)>,
    refused: Option<String>,
    apis: Vec<String>,
    /// Expressions that put a mapping where text stands.
    printed: Vec<Span>,
    before: Before,
    /// What is wrong where values are set that the chart leaves empty.
    optional: optional::Found,
}

/// What is wrong where a mapping is put where text stands.
const PRINTED: &str = "keys are put where text stands: they come out as Go prints them, as in map[key:value]";

/// What is wrong where conditions within each other are too many.
const OPEN: &str = "one side of it is not looked at: too many conditions on what is not known stand within each other";

/// Why a template was not read that no chart and no set of values rendered.
const UNUSED: &str = "Helm template that no values switch on";

/// Renders every chart of a repository with every set of values that is meant for it. `variants` are what may
/// install charts; `speaks` are the files that speak of what is linted, where that is not all.
pub fn render(repository: &Repository<'_>, variants: &[Variant], speaks: Option<&BTreeSet<SourceId>>) -> Rendered {
    let sources = repository.sources;
    let files: Vec<File<'_>> =
        repository.iter().map(|(id, source)| File { source: id, path: &source.path, text: &source.text }).collect();
    let charts = helm::chart::find(&files);
    let mut sets = helm::sets::sets(&charts, &files, KUBERNETES);
    let releases: Vec<&HelmRelease> =
        variants.iter().flat_map(|v| &v.facts.releases).map(|release| &**release).collect();
    let open = releases::add(&mut sets, &charts, &releases, sources);
    let left: Vec<Vec<String>> = sets.iter_mut().map(leave_out).collect();
    let by_chart = |release: &&&HelmRelease| release.format.get() == Some(&ReleaseFormat::ChartDependency);
    let listed: Vec<&HelmRelease> = releases.iter().filter(by_chart).copied().collect();
    let misread = charts.par_iter().zip(&sets).flat_map_iter(|(chart, sets)| {
        misread(chart, sets).into_iter().map(|found| (chart.own_name().to_owned(), found))
    });
    let mut out = Rendered { misread: misread.collect(), ..Rendered::default() };
    let mut done = every_set(&charts, sets, (&listed, speaks), sources);
    let made = made_releases(&charts, &files, &done, sources);
    done.extend(every_set(&charts, made, (&listed, speaks), sources));
    let given = given(&charts, &done, (&open, &releases));
    done.retain(|(chart, set, _)| set.deployed || !given.contains(chart));
    // A template that some chart or some set rendered was read.
    let mut read = BTreeSet::new();
    let mut unread: BTreeMap<SourceId, String> = BTreeMap::new();
    let is_installed = |one: &One| one.refused.is_none() && !one.elsewhere;
    let installed: BTreeSet<SourceId> =
        done.iter().filter(|(.., one)| is_installed(one)).map(|(chart, ..)| *chart).collect();
    let refusing: BTreeSet<SourceId> = done
        .iter()
        .filter(|(_, set, one)| set.name.is_empty() && one.refused.is_some())
        .map(|(chart, ..)| *chart)
        .collect();
    out.notes = notes(&charts, &done, (&open, &left), sources);
    let failed = open.iter().filter_map(|release| release.failed);
    out.failures.extend(
        failed.map(|span| (Problem { span, message: PANIC.to_owned() }, Trouble::NotLinted(Unlinted::Failure))),
    );
    let mut given_up = BTreeSet::new();
    let mut missed = BTreeSet::new();
    let mut told = BTreeSet::new();
    let mut in_part = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for chart in charts.iter().filter(|chart| installed.contains(&chart.metadata.source)) {
        lists(chart, &mut out.installed, &mut BTreeSet::new());
    }
    for (chart, set, one) in done {
        if !one.facts.workloads.is_empty() {
            out.values.extend(one.values);
        }
        out.breaches.extend(one.optional.breaches);
        if one.optional.failed {
            let problem = Problem { span: Span::new(chart, 0..0), message: PANIC.to_owned() };
            out.failures.push((problem, Trouble::NotLinted(Unlinted::Failure)));
        }
        let printed = one.printed.into_iter().filter(|place| one.refused.is_none() && told.insert(*place));
        out.breaches.extend(printed.map(|span| {
            let problem = Problem { span, message: PRINTED.to_owned() };
            let name = charts.iter().find(|one| one.metadata.source == chart).map_or("", |chart| chart.own_name());
            (Default::default(), contracts::of_template(name, BreachClass::MappingPrinted, problem))
        }));
        // What only another set lacks or breaks is seldom meant to be complete; but where the chart refuses its own values,
        // another set is what it is made for.
        let own = set.name.is_empty();
        let judged = one.refused.is_none() && (own || refusing.contains(&chart)) || own && !installed.contains(&chart);
        if judged || set.deployed && one.refused.is_some() {
            let new = one.failure.filter(|problem| told.insert(problem.span));
            out.failures.extend(new.map(|problem| (problem, Trouble::Template)));
            unread.extend(one.unread);
        }
        out.failures.extend(one.gave_up.filter(|_| given_up.insert(chart)));
        let new = one.missed.into_iter().filter(|problem| missed.insert(problem.span));
        out.failures.extend(new.map(|problem| (problem, Trouble::NotLinted(Unlinted::Failure))));
        let open =
            one.open.filter(|place| missed.insert(*place)).map(|span| Problem { span, message: OPEN.to_owned() });
        out.failures.extend(open.map(|problem| (problem, Trouble::NotLinted(Unlinted::Budget))));
        in_part.extend(one.in_part);
        // What a chart refuses is judged where nothing else tells what it gives.
        if one.overruled && installed.contains(&chart) {
            continue;
        }
        if let Some(why) = one.refused {
            // What cannot be installed is not judged.
            if !installed.contains(&chart) {
                let why = format!("the chart refuses its values, and no others are here: {why}");
                unread.extend(one.read.into_iter().map(|id| (id, why.clone())));
            }
            continue;
        }
        read.extend(one.read);
        out.comments.extend(one.comments);
        let is_first = !one.elsewhere && seen.insert(chart);
        out.variants.push(Variant {
            first: is_first,
            beside: (!(own || is_first && given.contains(&chart))).then(|| DEFAULTS.to_owned()),
            elsewhere: one.elsewhere,
            name: set.name,
            facts: one.facts,
            thing: Some(chart),
            example: set.example,
            routes: one.routes,
        });
    }
    // Files that only a chart can read.
    let skipped = repository.of_kind(Kind::Chart).filter(|id| !read.contains(id));
    let why = |id: &SourceId| {
        let template = sources.get(*id).path.split('/').any(|part| part == "templates");
        unread.get(id).cloned().unwrap_or_else(|| if template { UNUSED } else { "Go template" }.to_owned())
    };
    let skipped: Vec<SourceId> = skipped.collect();
    for (id, manifests) in
        skipped.into_par_iter().map(|id| (id, read::manifests(id, sources.get(id)))).collect::<Vec<_>>()
    {
        match manifests {
            Some(manifests) => out.manifests.push(manifests),
            None => out.skipped.push((sources.get(id).path.clone(), why(&id))),
        }
    }
    let in_part = in_part.into_iter().map(|(id, why)| (sources.get(id).path.clone(), format!("read in part: {why}")));
    out.skipped.extend(in_part);
    out
}

/// Sets for releases that charts themselves make: applications of Argo CD, releases of Flux.
fn made_releases(
    charts: &[Arc<Chart<'_>>],
    files: &[File<'_>],
    done: &[(SourceId, ValueSet, One)],
    sources: &Sources,
) -> Vec<Vec<ValueSet>> {
    let by_tool =
        |release: &&HelmRelease| matches!(release.format.get(), Some(ReleaseFormat::Argocd | ReleaseFormat::Flux));
    let installed = done.iter().filter(|(.., one)| !one.elsewhere && one.refused.is_none());
    let all = installed.flat_map(|(.., one)| &one.facts.releases).map(|release| &**release).filter(by_tool);
    // Several sets of values make a release with the same values, or much the same.
    let mut told = BTreeSet::new();
    let releases: Vec<&HelmRelease> =
        all.filter(|release| told.insert((release.span, release.name.get().cloned()))).collect();
    if releases.is_empty() {
        return charts.iter().map(|_| Vec::new()).collect();
    }
    let mut sets = helm::sets::sets(charts, files, KUBERNETES);
    releases::add(&mut sets, charts, &releases, sources);
    for sets in &mut sets {
        sets.retain(|set| set.deployed);
        leave_out(sets);
    }
    sets
}

/// Published charts that are installed here and whose values are all at hand: what they give with their own values alone
/// nobody here deploys.
fn given(
    charts: &[Arc<Chart<'_>>],
    done: &[(SourceId, ValueSet, One)],
    (open, releases): (&[releases::Open], &[&HelmRelease]),
) -> BTreeSet<SourceId> {
    if releases.iter().any(|release| release.format.get() == Some(&ReleaseFormat::CommandLine)) {
        return BTreeSet::new();
    }
    let rendered = |id: SourceId| {
        let gives = |one: &One| one.refused.is_none() && one.gave_up.is_none() && one.failure.is_none();
        done.iter().any(|(chart, set, one)| *chart == id && set.deployed && !one.elsewhere && gives(one))
    };
    let all = charts.iter().enumerate().filter(|(i, chart)| {
        chart.is_published() && open.iter().all(|one| one.chart != *i) && rendered(chart.metadata.source)
    });
    all.map(|(_, chart)| chart.metadata.source).collect()
}

/// Takes away the sets beyond those that are rendered: of files that nothing installs before those of releases. What
/// they are called.
fn leave_out(sets: &mut Vec<ValueSet>) -> Vec<String> {
    let mut more = sets.len().saturating_sub(MAX_SETS);
    let mut out = Vec::new();
    for examples in [true, false] {
        let mut kept = Vec::new();
        for set in std::mem::take(sets).into_iter().rev() {
            if more > 0 && set.example.is_some() == examples {
                more -= 1;
                out.push(set.name);
            } else {
                kept.push(set);
            }
        }
        kept.reverse();
        *sets = kept;
    }
    out
}

/// What every chart gives with each of its sets, and where it asks what a cluster serves, with that as well.
fn every_set(
    charts: &[Arc<Chart<'_>>],
    sets: Vec<Vec<ValueSet>>,
    (listed, speaks): (&[&HelmRelease], Option<&BTreeSet<SourceId>>),
    sources: &Sources,
) -> Vec<(SourceId, ValueSet, One)> {
    let jobs: Vec<(&Chart<'_>, ValueSet)> =
        charts.iter().zip(sets).flat_map(|(chart, sets)| sets.into_iter().map(move |set| (&**chart, set))).collect();
    let held = held(charts);
    let about = (listed, sources, jobs.len());
    jobs.into_par_iter()
        .flat_map_iter(|(chart, set)| {
            let mut sides = every_side(chart, set, about);
            let (set, one) = &mut sides[0];
            let speaks = || speaks.is_none_or(|speaks| chart.files.iter().any(|file| speaks.contains(&file.source)));
            if set.name.is_empty() && speaks() {
                let judge = || optional::judge(chart, set, &one.before, (sources, about.2));
                let failed = || optional::Found { failed: true, ..optional::Found::default() };
                one.optional = catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|_| failed());
            }
            sides
                .iter_mut()
                .for_each(|(_, one)| one.failure = one.failure.take().filter(|_| !held.contains(chart.directory)));
            sides.into_iter().map(|(set, one)| (chart.metadata.source, set, one))
        })
        .collect()
}

/// What a chart gives with a set, and what it gives where that turns out otherwise which is not known.
fn every_side(chart: &Chart<'_>, set: ValueSet, about: About<'_>) -> Vec<(ValueSet, One)> {
    let mut out = turns(chart, set, about);
    let (set, one) = &out[0];
    // Whether an operator is installed is not known: the other side is looked at too.
    if set.example.is_none() && !one.apis.is_empty() {
        let served = turns(chart, with_apis(set, &one.apis), about);
        out.extend(served.into_iter().map(|(set, one)| (set, One { elsewhere: true, ..one })));
    }
    out
}

/// What a chart gives with a set at first, and where conditions on what is not known turn out otherwise.
fn turns(chart: &Chart<'_>, set: ValueSet, about: About<'_>) -> Vec<(ValueSet, One)> {
    let share = || Share::of(about.2, helm::bytes(chart, &set));
    let (later, doubts) = (share(), Doubts::default());
    let mut first = guarded(chart, &set, (&doubts, &share()), about);
    let overruled = first.refused.is_some();
    let (mut others, mut seen) = (Vec::new(), BTreeSet::from([first.digest]));
    while doubts.again() {
        let turn = || guarded(chart, &set, (&doubts, &later), about);
        let one = later.for_a_moment(turn, |one| if seen.contains(&one.digest) { 0 } else { one.size });
        if !seen.insert(one.digest) {
            first.missed.extend(one.missed);
            first.gave_up = first.gave_up.take().or(one.gave_up);
            continue;
        }
        let values = if set.name.is_empty() { DEFAULTS } else { &set.name };
        let turn = if others.is_empty() { String::new() } else { format!(" ({})", others.len() + 1) };
        let name = match overruled {
            true => format!("{values}, if the chart took them{turn}"),
            false => format!("{values} where what is not known turns out otherwise{turn}"),
        };
        let set = ValueSet { name, layers: set.layers.clone(), release: set.release.clone(), ..set };
        others.push((set, One { elsewhere: true, overruled, ..one }));
    }
    first.open = doubts.open();
    std::iter::once((set, first)).chain(others).collect()
}

/// What to know of how charts were judged: which are not, with the reason, and which with and without what operators
/// serve. A chart that others hold is judged with them.
fn notes(
    charts: &[Arc<Chart<'_>>],
    done: &[(SourceId, ValueSet, One)],
    (open, left): (&[releases::Open], &[Vec<String>]),
    sources: &Sources,
) -> Vec<(String, String)> {
    let held = held(charts);
    let mut out = Vec::new();
    let mut by_chart: BTreeMap<SourceId, Vec<(&ValueSet, &One)>> = BTreeMap::new();
    for (id, set, one) in done {
        by_chart.entry(*id).or_default().push((set, one));
    }
    for (i, chart) in charts.iter().enumerate() {
        let mut note = |text: String| out.push((sources.get(chart.metadata.source).path.clone(), text));
        let of_chart = || by_chart.get(&chart.metadata.source).into_iter().flatten();
        if let [first, more @ ..] = left[i].as_slice() {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            note(format!("not judged: {first}{more} left out, as there are more than {MAX_SETS} ways to install it"));
        }
        if of_chart().any(|(set, one)| one.elsewhere && !one.overruled && set.release.apis.is_empty()) {
            note("judged with and without what is not known before it is installed".to_owned());
        }
        let refused = of_chart().find_map(|(_, one)| one.refused.as_ref());
        if let Some(why) = refused.filter(|_| of_chart().all(|(_, one)| one.refused.is_some() || one.elsewhere))
            && !held.contains(chart.directory)
        {
            note(format!("judged as if it took them: the chart refuses its values, and no others are here: {why}"));
        }
        for release in open.iter().filter(|release| release.chart == i) {
            note(format!("not judged: as {} installs it: {}", release.name, release.why));
        }
        let apis: BTreeSet<&str> = of_chart().flat_map(|(set, _)| &set.release.apis).map(String::as_str).collect();
        if !apis.is_empty() {
            let apis = apis.into_iter().collect::<Vec<_>>().join(", ");
            note(format!("judged with and without what operators serve: {apis}"));
        }
    }
    out.sort_by_key(|(_, text)| !text.starts_with("not judged"));
    out
}

/// The `Chart.yaml` of a chart and of those that it brings along.
fn lists(chart: &Chart<'_>, out: &mut BTreeSet<SourceId>, seen: &mut BTreeSet<SourceId>) {
    if seen.insert(chart.metadata.source) {
        out.insert(chart.metadata.source);
        chart.subcharts.iter().for_each(|subchart| lists(subchart, out, seen));
    }
}

/// Directories of charts that others depend on: they need not work alone.
fn held<'c>(charts: &[Arc<Chart<'c>>]) -> BTreeSet<&'c str> {
    charts.iter().flat_map(|chart| chart.subcharts.iter().map(|c| c.directory)).collect()
}

/// The same values in a cluster that serves further APIs.
fn with_apis(set: &ValueSet, apis: &[String]) -> ValueSet {
    let values = if set.name.is_empty() { DEFAULTS } else { &set.name };
    ValueSet {
        name: format!("{values} where {} is served", apis.join(", ")),
        layers: set.layers.clone(),
        release: Release { apis: apis.to_vec(), ..set.release.clone() },
        ..*set
    }
}

/// Whether a name is put together from that of a release: it stands nowhere as it is.
fn is_assumed(name: &Fact<String>, release: &str, sources: &Sources) -> Fact<bool> {
    let place = name.span;
    let stands = |name: &str| sources.get(place.source).slice(place).trim_matches(['"', '\'']) == name;
    let made = |name: &String| name.contains(release) && !stands(name);
    name.clone().and_then(|name| if made(&name) { Known::Value(true) } else { Known::Absent })
}

/// A number that lost its fraction, as an object: its key, its value, and the expression that made a whole number of it.
fn truncated(value: Span, by: Span, sources: &Sources) -> Option<Object> {
    let source = sources.get(value.source);
    let number = source.slice(value);
    number.trim_matches(['"', '\'']).parse::<f64>().ok()?;
    let line = source.text.get(..value.start as usize)?.rsplit('\n').next()?;
    let key = line.trim_end().strip_suffix(':')?.rsplit(['{', ',', ' ']).next()?;
    let mut builder = Builder::new(value.source, Dialect::Kubernetes);
    let parts =
        [("key", key, value), ("value", number.trim_matches(['"', '\'']), value), ("by", sources.slice(by), by)];
    let entries = parts.map(|(name, text, place)| {
        let mut scalar =
            |text, plain| builder.add(NodeKind::Scalar { text: Traced::opaque(text, place), plain }, place);
        Entry { key: scalar(name, false), value: scalar(text, name == "value") }
    });
    let id = builder.add(NodeKind::Map(entries.into()), value);
    builder.tree().documents.push(id);
    let mut out = Object::blank(value);
    out.kind = Fact::value("TruncatedNumber".to_owned(), value);
    out.name = Fact::value(key.to_owned(), value);
    out.body = Some(Raw { place: value, id: Some(id), open: None, tree: Arc::new(builder.finish()) });
    Some(out)
}

const PANIC: &str = "gpulint failed on it";

/// What rendering a chart is told: the releases that are listed, the files, and how many charts are rendered.
type About<'a> = (&'a [&'a HelmRelease], &'a Sources, usize);

/// Renders a chart; a panic is a finding on its `Chart.yaml`.
fn guarded(chart: &Chart<'_>, set: &ValueSet, spent: (&Doubts, &Share), about: About<'_>) -> One {
    let span = Span::new(chart.metadata.source, 0..0);
    catch_unwind(AssertUnwindSafe(|| one(chart, set, spent, about))).unwrap_or_else(|_| One {
        facts: Facts::default(),
        routes: Routes::new(),
        failure: None,
        gave_up: Some((Problem { span, message: PANIC.to_owned() }, Trouble::NotLinted(Unlinted::Failure))),
        missed: Vec::new(),
        in_part: Vec::new(),
        open: None,
        elsewhere: false,
        overruled: false,
        digest: 0,
        size: 0,
        comments: Vec::new(),
        values: Vec::new(),
        read: Vec::new(),
        unread: Vec::new(),
        refused: None,
        apis: Vec::new(),
        printed: Vec::new(),
        before: Before::default(),
        optional: optional::Found::default(),
    })
}

/// A dependency with the values that the chart gives it, as the release that its `Chart.yaml` lists.
fn dependency(installed: helm::Dependency, listed: &[&HelmRelease]) -> Option<Arc<HelmRelease>> {
    let is = |fact: &Fact<String>, name: &str| fact.get().is_some_and(|text| text == name);
    let mut found = listed.iter().filter(|r| r.span.source == installed.listed && is(&r.chart, &installed.name));
    let named = |r: &&&HelmRelease| r.name.get().or_else(|| r.chart.get()) == Some(&installed.known_as);
    let mut release = HelmRelease::clone(found.find(named)?);
    release.values = installed.values.map(|values| Raw { place: release.span, ..values });
    release.values_complete = Fact::value(true, release.span);
    Some(Arc::new(release))
}

fn one(chart: &Chart<'_>, set: &ValueSet, (doubts, share): (&Doubts, &Share), (listed, sources, _): About<'_>) -> One {
    let rendered = helm::render(chart, set, doubts, share);
    let mut facts = Facts::default();
    let mut comments = Vec::new();
    let mut routes = Vec::new();
    let mut digest = DefaultHasher::new();
    rendered.refused.is_some().hash(&mut digest);
    let texts = rendered.documents.iter().map(|document| optional::digest(document.template, &document.text));
    let broken = rendered.broken.iter().map(|(template, _)| *template);
    let unread = rendered.unread.iter().map(|(template, _)| *template);
    let before = Before { texts: texts.collect(), broken: broken.collect(), unread: unread.collect() };
    for document in rendered.documents {
        (document.template, &document.text).hash(&mut digest);
        routes.extend(document.routes);
        let path = &sources.get(document.template).path;
        comments.extend(document.tree.comments.iter().copied());
        extract::documents(&Arc::new(document.tree), path, &mut facts);
    }
    let truncated = rendered.cut.into_iter().filter_map(|(value, by)| truncated(value, by, sources));
    facts.objects.extend(truncated.map(Arc::new));
    if set.release.assumed {
        let is_assumed = |name: &Fact<String>| is_assumed(name, &set.release.name, sources);
        for object in facts.objects.iter_mut().map(Arc::make_mut) {
            object.assumed_name = is_assumed(&object.name);
        }
        for service in facts.services.iter_mut().map(Arc::make_mut) {
            service.assumed_name = is_assumed(&service.name);
        }
    }
    if rendered.for_some_cluster {
        // It may be one that serves what others do not.
        for object in facts.objects.iter_mut().map(Arc::make_mut) {
            object.api_version = Fact::unknown(Why::Remote("the cluster".into()), object.api_version.span);
        }
    }
    facts.unread = rendered.unread.iter().chain(&rendered.in_part).map(|(template, _)| *template).collect();
    let missing = rendered.dependencies.iter().any(|dependency| !dependency.here);
    facts.unread.extend(missing.then_some(chart.metadata.source));
    facts.releases.extend(rendered.dependencies.into_iter().filter_map(|one| dependency(one, listed)));
    let own = chart.values.as_ref().map(|tree| tree.source);
    let values = own.into_iter().chain(set.layers.iter().map(|layer| layer.tree.source)).collect();
    routes.sort();
    routes.dedup();
    One {
        facts,
        routes,
        failure: rendered.failure,
        gave_up: rendered.gave_up.map(|problem| (problem, Trouble::NotLinted(Unlinted::Budget))),
        missed: rendered.missed,
        in_part: rendered.in_part,
        open: None,
        elsewhere: false,
        overruled: false,
        digest: digest.finish(),
        size: rendered.size,
        comments,
        values,
        read: rendered.read,
        unread: rendered.unread,
        refused: rendered.refused,
        apis: rendered.apis,
        printed: rendered.printed,
        before,
        optional: optional::Found::default(),
    }
}
