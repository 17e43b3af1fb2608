//! What is deployed held against what software publishes of itself: objects against the schemas of their kinds (those of files that
//! speak of GPUs, and of workloads that ask for some), command lines and environments against what their programs read, references of images
//! against their grammar, packages against what their wheels require, names against what they lead to.

use crate::budget::Share;
use crate::contract::{self, Judged, Stated};
use crate::extract::embedded;
use crate::facts::{
    Breach, BreachClass, Build, Facts, Image, NamedText, Object, ResourceBlock, Software, WorkloadFormat, list,
};
use crate::known::Fact;
use crate::link::{Directories, Variant};
use crate::names;
use crate::parse::{Problem, Tree, View};
use crate::paths;
use crate::render::compose;
use crate::render::helm::reads::Misread;
use crate::rules::Ruleset;
use crate::source::{SourceId, Span, Traced};
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A breach with the group and the kind of the object that it stands in, empty where that is none.
pub(super) type OfKind = ((String, String), Breach);

/// Fills `breaches`; `speaks` are the files that are looked at, where it is not all,
/// `path` is where a file stands. `of_charts` are breaches of their templates, and of objects of some kinds that they have with further values.
pub fn judge<'s>(
    variants: &mut [Variant],
    directories: &Directories<'_>,
    (speaks, path): (Option<&BTreeSet<SourceId>>, impl Fn(SourceId) -> &'s str + Sync),
    (rules, misread, of_charts): (&Ruleset, Vec<(String, Misread)>, Vec<OfKind>),
    files: (&BTreeSet<SourceId>, &BTreeMap<SourceId, Arc<Tree>>),
) {
    let asked =
        list("breaches").is_some_and(|list| rules.all().any(|(_, rules)| rules.by_subject().asks(list.subject, None)));
    if !asked {
        return;
    }
    let count = variants.iter().map(|variant| amount(&variant.facts)).sum();
    let (own, stated) = (own_kinds(variants), Versions::stated(variants));
    let mut all_asking = BTreeSet::new();
    for facts in variants.iter_mut().map(|variant| &mut variant.facts) {
        let asks = asking(facts);
        // A volume or a Service stands beside the workload that it is for, and the class of nodes beside the pool.
        let pools =
            facts.pools.iter().map(|pool| pool.span.source).filter(|source| speaks.is_some_and(|s| s.contains(source)));
        let around: BTreeSet<&str> =
            asks.iter().copied().chain(pools).map(|source| paths::directory(path(source))).collect();
        let wanted = |source: SourceId| {
            let is_near = || asks.contains(&source) || around.contains(paths::directory(path(source)));
            speaks.is_none_or(|speaks| speaks.contains(&source) || is_near())
        };
        all_asking.extend(asks.iter().copied());
        let mut found = Vec::new();
        for object in &facts.objects {
            let source = object.span.source;
            let group =
                object.api_version.get().map_or("", |version| version.split_once('/').map_or("", |(group, _)| group));
            let is_own = object.kind.get().is_some_and(|kind| own.contains(&(group.to_owned(), kind.clone())));
            if is_test(path(source)) {
                continue;
            }
            if !wanted(source) || is_own || object.drafted.get() == Some(&true) {
                continue;
            }
            match breaches(object, (&stated, count), is_patch(path(source))) {
                Ok(breaches) => found.extend(breaches),
                Err(cut) => facts.cut.push(cut),
            }
        }
        // A chart is what its templates and values are.
        let below = |source: SourceId| {
            let directory = format!("{}/", paths::directory(path(source)));
            let is_below = |of: &SourceId| directory == "/" || path(*of).starts_with(&directory);
            asks.iter().any(is_below) || speaks.is_some_and(|speaks| speaks.iter().any(is_below))
        };
        for document in &facts.documents {
            let (kind, place) = (document.kind.clone().into_owned(), document.body.place);
            if !(wanted(place.source) || kind == "chart" && below(place.source)) {
                continue;
            }
            let unknown = document.named.and_then(|place| contract::unpublished(&kind, place));
            found.extend(unknown.into_iter().flat_map(|judged| entities(judged, Fact::value(kind.clone(), place))));
            match held(document.body.view(), ("", &kind), (&stated, count), place) {
                Ok(Some(judged)) => {
                    let used = |one: &Breach| one.field.get().is_none_or(|field| !document.overridden.contains(field));
                    found.extend(entities(judged, Fact::value(kind, place)).filter(used));
                }
                Ok(None) => {}
                Err(cut) => facts.cut.push(cut),
            }
        }
        let mut told = BTreeSet::new();
        for block in facts.blocks.iter().filter(|block| wanted(block.kind.span.source)) {
            match resource(block, count, path(block.kind.span.source)) {
                // Instances of one block are told once.
                Ok(breaches) => found.extend(breaches.filter(|one| told.insert((one.span, one.field.get().cloned())))),
                Err(cut) => facts.cut.push(cut),
            }
        }
        // Texts are parsed no earlier, as most are of files that speak of no GPU.
        let asked = |text: &&NamedText| wanted(text.text.whole().source) && !is_test(path(text.text.whole().source));
        found.extend(facts.texts.iter().filter(asked).flat_map(malformed));
        let pods = facts.workloads.iter().flat_map(|workload| workload.pods.iter().map(move |pod| (workload, pod)));
        for (workload, pod) in pods {
            let launches = pod.containers.iter().filter_map(|one| Some((one.launch.as_deref()?, &one.image)));
            for (launch, image) in launches {
                let judged = contract::flags::judge(launch, contract::environment::is_published(launch, image));
                found.extend(judged.into_iter().flat_map(|judged| entities(judged, workload.name.clone())));
            }
        }
        let mut submitted = BTreeSet::new();
        for submission in &facts.submissions {
            let Some(place) = submission.words.first().map(Traced::whole) else { continue };
            if wanted(place.source) && !is_test(path(place.source)) && submitted.insert(place) {
                let judged = contract::submissions::judge(submission);
                let of = Fact::value(path(place.source).to_owned(), place);
                found.extend(judged.into_iter().flat_map(|judged| entities(judged, of.clone())));
            }
        }
        let unread = contract::environment::judge(facts);
        found.extend(unread.into_iter().flat_map(|(of, judged)| entities(judged, of)));
        // What stands on a stage has the image at the bottom.
        let mut seen = BTreeSet::new();
        for (image, of) in images(facts) {
            let place = image.reference.span;
            if wanted(place.source) && !is_test(path(place.source)) && seen.insert((place.source, place.range().start))
            {
                found
                    .extend(contract::images::judge(image).into_iter().flat_map(|judged| entities(judged, of.clone())));
            }
        }
        for file in &facts.dockerfiles {
            let Some(place) = file.instructions.first().map(|first| first.span) else { continue };
            let builds = || facts.builds.iter().filter(|build| build.span.source == place.source);
            if wanted(place.source) || builds().any(|build| is_for_gpus(build)) {
                let of = Fact::value(path(place.source).to_owned(), place);
                let judged = contract::dockerfile::judge(file, builds());
                found.extend(judged.into_iter().flat_map(|judged| entities(judged, of.clone())));
            }
        }
        for file in &facts.package_files {
            // What the catalog knows of packages is about GPUs.
            if !is_test(path(file.span.source)) {
                let judged = contract::requirements::judge(file);
                found.extend(judged.into_iter().flat_map(|judged| entities(judged, file.path.clone())));
            }
        }
        facts.breaches = found;
    }
    if let Some(first) = variants.first_mut() {
        let wanted = |found: &(String, Misread)| speaks.is_none_or(|speaks| speaks.contains(&found.1.place.source));
        first.facts.breaches.extend(misread.into_iter().filter(wanted).flat_map(unread));
        let told: BTreeSet<Span> = first.facts.breaches.iter().map(|breach| breach.span).collect();
        let new = |found: &OfKind| !own.contains(&found.0) && !told.contains(&found.1.span);
        first.facts.breaches.extend(of_charts.into_iter().filter(new).map(|(_, breach)| breach));
    }
    let wanted = |place: Span| {
        let (file, path) = (place.source, path(place.source));
        let whole = !is_test(path) && !is_patch(path);
        whole && speaks.is_none_or(|speaks| speaks.contains(&file) || all_asking.contains(&file))
    };
    names::judge(variants, directories, &wanted, files, compose::is_default);
}

/// Whether something that is installed in an image was made for a CUDA release, wherever that is listed.
fn is_for_gpus(build: &Build) -> bool {
    let made_for = |software: &Arc<Software>| software.packages.values().any(|package| package.cuda.get().is_some());
    build.software.as_ref().is_some_and(made_for)
}

/// What breaks a chart's own values, as rules are asked about it.
fn unread((chart, found): (String, Misread)) -> impl Iterator<Item = Breach> {
    let Misread { place, read, stated } = found;
    let says = format!("templates read {read}, which the values do not have, and not their {stated}");
    let class = BreachClass::ChartValueUnread;
    let breach = contract::Breach {
        class,
        place,
        field: read,
        says,
        meant: Some(stated),
        other: None,
        instead: None,
        unknown: None,
    };
    entities(Judged { contract: format!("values of {chart}"), breaches: vec![breach] }, Fact::value(chart, place))
}

/// What is wrong with a template of a chart, as rules are asked about it.
pub(super) fn of_template(chart: &str, class: BreachClass, Problem { span: place, message: says }: Problem) -> Breach {
    let field = "template".to_owned();
    let breach = contract::Breach { class, place, field, says, meant: None, other: None, instead: None, unknown: None };
    let judged = Judged { contract: format!("templates of {chart}"), breaches: vec![breach] };
    entities(judged, Fact::value(chart.to_owned(), place)).next().unwrap_or_else(|| Breach::blank(place))
}

/// A text that is not what its name says, as rules are asked about it.
fn malformed(text: &NamedText) -> Option<Breach> {
    let (syntax, Problem { span: place, message: says }) = embedded::malformed(text)?;
    let (class, field) = (BreachClass::TextMalformed, text.at.clone());
    let breach = contract::Breach { class, place, field, says, meant: None, other: None, instead: None, unknown: None };
    let judged = Judged { contract: syntax.to_owned(), breaches: vec![breach] };
    entities(judged, Fact::value(text.at.clone(), place)).next()
}

/// The images that runtimes and builds fetch as they are written, with the names of what states them.
fn images(facts: &Facts) -> impl Iterator<Item = (&Image, Fact<String>)> {
    use WorkloadFormat::{AwsBatch, Compose, Ecs, Kubernetes, Nomad, Sagemaker};
    let read = |format| matches!(format, Kubernetes | Compose | Ecs | AwsBatch | Sagemaker | Nomad);
    let workloads =
        facts.workloads.iter().filter(move |workload| workload.format.get().is_some_and(|format| read(*format)));
    let pods = workloads.flat_map(|workload| workload.pods.iter().map(move |pod| (workload, pod)));
    let run = pods.flat_map(|(workload, pod)| {
        pod.containers.iter().map(move |container| (&container.image, workload.name.clone()))
    });
    // With a build argument it is another at every build.
    let literal = |build: &&Arc<Build>| build.from.get().is_some_and(|from| !from.contains('$'));
    let built = facts.builds.iter().filter(literal).map(|build| (&build.base, build.stage.clone()));
    run.chain(built)
}

/// Packages whose releases are those of a project, as the pack of schemas names what installs it.
const PACKAGES: [(&str, &str); 1] = [("trl", "pypi.org/trl")];

/// What the repository states of versions.
#[derive(Default)]
pub(super) struct Versions {
    kubernetes: Vec<Version>,
    charts: BTreeMap<String, Vec<Version>>,
}

impl Versions {
    fn stated(variants: &[Variant]) -> Self {
        let mut out = Self::default();
        let facts = || variants.iter().map(|variant| &variant.facts);
        let clusters: Vec<_> =
            facts().flat_map(|facts| &facts.clusters).map(|cluster| cluster.kubernetes.get()).collect();
        if clusters.iter().all(Option::is_some) {
            out.kubernetes = clusters.into_iter().flatten().cloned().collect();
        }
        let mut open = BTreeSet::new();
        for release in facts().flat_map(|facts| &facts.releases) {
            match (release.chart.get(), release.version.get()) {
                (Some(chart), Some(version)) => out.charts.entry(chart.clone()).or_default().push(version.clone()),
                (Some(chart), None) => drop(open.insert(chart)),
                _ => {}
            }
        }
        // One that may be of any version decides nothing.
        out.charts.retain(|chart, _| !open.contains(chart));
        let packages = || facts().flat_map(|facts| &facts.package_files).flat_map(|file| &file.packages);
        for (name, project) in PACKAGES {
            let stated = packages().filter(|package| package.name.get().is_some_and(|own| own == name));
            let pinned = stated.map(|package| {
                let exact = package.pinned.get() == Some(&true) && package.url.is_absent();
                package.version.get().filter(|_| exact).cloned()
            });
            out.charts.extend(pinned.collect::<Option<Vec<_>>>().map(|versions| (project.to_owned(), versions)));
        }
        out
    }
}

impl Stated for Versions {
    fn kubernetes(&self) -> &[Version] {
        &self.kubernetes
    }

    fn chart(&self, name: &str) -> &[Version] {
        self.charts.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Kinds that the repository defines itself, by their groups: what was released says nothing of them.
fn own_kinds(variants: &[Variant]) -> BTreeSet<(String, String)> {
    let objects = variants.iter().flat_map(|variant| &variant.facts.objects);
    let definitions = objects.filter(|object| object.kind.get().is_some_and(|kind| kind == "CustomResourceDefinition"));
    let named = definitions.filter_map(|object| {
        let spec = object.body.as_ref()?.view().get("spec");
        Some((spec.get("group").string().get()?.clone(), spec.path("names.kind").string().get()?.clone()))
    });
    named.collect()
}

/// Whether a file is called like a patch, which states a part of an object.
fn is_patch(path: &str) -> bool {
    path.rsplit('/').take(2).any(|part| part.to_ascii_lowercase().contains("patch"))
}

/// Whether a script is called like a test, which writes what is to fail, too.
fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".sh") && (name.starts_with("test") || name.ends_with("_test.sh"))
}

/// The files whose workloads ask for GPUs.
fn asking(facts: &Facts) -> BTreeSet<SourceId> {
    let asks = facts.workloads.iter().filter(|w| w.pods.iter().any(|pod| pod.gpus.get().is_some_and(|gpus| *gpus > 0)));
    asks.map(|workload| workload.span.source).collect()
}

/// What an object breaks of what is published of its kind. A patch lacks what it does not change.
pub(super) fn breaches(
    object: &Object,
    (stated, count): (&Versions, usize),
    patch: bool,
) -> Result<Vec<Breach>, Problem> {
    let (Some(version), Some(kind), Some(body)) = (object.api_version.get(), object.kind.get(), &object.body) else {
        return Ok(Vec::new());
    };
    let view = body.view();
    // What SOPS encrypts is not what is applied.
    if view.get("sops").is_some() {
        return Ok(Vec::new());
    }
    let Some(judged) = held(view, (version, kind), (stated, count), object.span)? else { return Ok(Vec::new()) };
    let of = object.kind.clone().map(|kind| match object.name.get() {
        Some(name) => format!("{kind} {name}"),
        None => kind,
    });
    let told = |found: &contract::Breach| match found.class {
        BreachClass::RequiredFieldMissing => !patch,
        // A rule of its own tells this of every kind.
        BreachClass::ValueNotAllowed => !found.field.contains("metadata.annotations."),
        _ => true,
    };
    let breaches = judged.breaches.into_iter().filter(told).collect();
    Ok(entities(Judged { breaches, ..judged }, of).collect())
}

/// How much is held against schemas.
fn amount(facts: &Facts) -> usize {
    facts.objects.len() + facts.documents.len() + facts.blocks.len()
}

/// What of a resource breaks what its provider publishes. A file that overrides others states parts, and so do fragments: what
/// is missing is told where the provider is asked for.
fn resource(block: &ResourceBlock, count: usize, path: &str) -> Result<impl Iterator<Item = Breach>, Problem> {
    let view = block.body.view();
    let (kind, span) = (block.kind.get().map_or("", String::as_str), block.kind.span);
    let bytes = view.node().map_or(0, |node| node.span().range().len());
    let cut = |spent| Problem { span, message: format!("this resource against its schema: {spent}") };
    let judged = contract::blocks::judge(view, kind, &block.providers, &Share::of(count, bytes)).map_err(cut)?;
    let asked = block.providers.iter().any(|one| kind.split('_').next() == Some(&one.name));
    let partial = !asked || path.ends_with("_override.tf") || path.rsplit('/').next() == Some("override.tf");
    let of = Fact::value(block.address.clone(), span);
    let breaches = judged.into_iter().flat_map(move |judged| entities(judged, of.clone()));
    Ok(breaches.filter(move |one| !(partial && one.class.get() == Some(&BreachClass::RequiredFieldMissing))))
}

/// A document held against what is published of its kind, with its share of what is spent on `count` of them.
fn held(
    view: View<'_>,
    kind: (&str, &str),
    (stated, count): (&Versions, usize),
    span: Span,
) -> Result<Option<Judged>, Problem> {
    let bytes = view.node().map_or(0, |node| node.span().range().len());
    let cut = |spent| Problem { span, message: format!("this document against its schema: {spent}") };
    contract::judge(view, kind, stated, &Share::of(count, bytes)).map_err(cut)
}

/// What breaks a contract, as rules are asked about it; `of` is what breaks it.
fn entities(judged: Judged, of: Fact<String>) -> impl Iterator<Item = Breach> {
    judged.breaches.into_iter().map(move |found| {
        let mut out = Breach::blank(found.place);
        out.instead = Fact::from_option(found.only(), found.place);
        out.of = of.clone();
        out.class = Fact::value(found.class, found.place);
        out.field = Fact::value(found.field, found.place);
        out.says = Fact::value(found.says, found.place);
        let other = found.other.map(|(says, place)| Fact::value(says, place));
        out.other = other.unwrap_or(Fact::absent(found.place));
        out.meant = Fact::from_option(found.meant, found.place);
        out.contract = Fact::value(judged.contract.clone(), found.place);
        out
    })
}
