//! Names that lead nowhere: references inside one object, to parts of other objects, and to objects that are not here. Knows
//! how references are followed; which fields are some is told by the catalog, what is deployed together by the joins.

mod absent;
mod clients;
mod compose;
mod hosts;
mod inside;
mod listed;
mod near;
mod paths;
mod references;
mod selected;
mod walk;
mod whole;

use crate::budget::{Share, Spent};
use crate::facts::{Breach, BreachClass, Facts, Object, Workload, WorkloadFormat};
use crate::known::Fact;
use crate::link::{Deployed, Directories, Layout, Variant};
use crate::parse::{Problem, Tree, View};
use crate::source::{SourceId, Span};
use crate::suggest::nearest;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A name that leads nowhere.
struct Broken {
    /// How sure that is, at the name.
    class: Fact<BreachClass>,
    /// What is wrong, as a sentence.
    says: String,
    /// The name that was meant.
    meant: Option<String>,
    /// What stands where the name was looked for.
    instead: Option<(String, Span)>,
}

impl Broken {
    /// As rules are asked about it; `of` is what states the name.
    fn entity(self, of: Fact<String>) -> Breach {
        let mut out = Breach::blank(self.class.span);
        out.of = of;
        out.field = Fact::value(String::new(), self.class.span);
        out.says = Fact::value(self.says, self.class.span);
        out.meant = Fact::from_option(self.meant, self.class.span);
        out.other = match self.instead {
            Some((text, place)) => Fact::value(text, place),
            None => Fact::absent(self.class.span),
        };
        out.class = self.class;
        out
    }
}

/// Adds to `breaches` of every variant; `wanted` says which places are looked at, `is_project` which names of files Compose
/// finds by itself; nothing leads to the files that are `idle`.
pub fn judge(
    variants: &mut [Variant],
    directories: &Directories<'_>,
    wanted: &(impl Fn(Span) -> bool + Sync),
    (idle, trees): (&BTreeSet<SourceId>, &BTreeMap<SourceId, Arc<Tree>>),
    is_project: fn(&str) -> bool,
) {
    let layout = Layout::of(variants, directories);
    let deployed = Deployed::of(variants, &layout);
    let count = variants.iter().map(|variant| variant.facts.objects.len()).sum::<usize>().max(1);
    let scopes: Vec<Scope<'_>> = variants.iter().map(|variant| Scope::of(&variant.facts, wanted)).collect();
    let read: Vec<&str> = layout.sources().iter().map(|(_, source)| source.path.as_str()).collect();
    let of_variant = |(variant, scope): (&Variant, &Scope<'_>)| {
        let mut told = of_variant(&variant.facts, scope, count);
        let whole = |file| is_project(crate::paths::name(&layout.sources().get(file).path));
        let (found, cut) = compose::projects(&variant.facts, (wanted, |file| layout.at(file)), whole, count);
        told.0.extend(found);
        told.1.extend(cut);
        let together = |one, other| !variant.is_plain() || layout.at(one) == layout.at(other);
        let place = variant.facts.workloads.first().map_or(Span::new(SourceId(0), 0..0), |workload| workload.span);
        match selected::monitored(&variant.facts, scope, together, &Share::of(1, 0)) {
            Ok(found) => found.into_iter().for_each(|(of, found)| told.tell(of.span, of.clone(), Ok(found))),
            Err(spent) => told.tell(place, Fact::absent(place), Err(spent)),
        }
        let files = layout.sources();
        told.0.extend(absent::paths(&variant.facts, files, wanted));
        told
    };
    let mut inside: Vec<Told> = variants.par_iter().zip(&scopes).map(of_variant).collect();
    for (own, (found, cut)) in references::all(deployed, &scopes, idle, count).into_iter().enumerate() {
        inside[own].0.extend(found);
        inside[own].1.extend(cut);
    }
    let listing = variants.iter().find_map(|variant| variant.facts.listing.as_deref());
    let mut missing = listed::missing(trees, layout.sources(), listing);
    missing.extend(listed::unlisted(trees, layout.sources(), idle, variants));
    let told: BTreeSet<Span> = inside.iter().flat_map(|told| &told.0).map(|breach| breach.field.span).collect();
    let clients = clients::lost(trees, layout.sources(), idle, variants);
    missing.extend(clients.into_iter().filter(|(_, found)| !told.contains(&found.class.span)));
    if let (Some(first), false) = (inside.first_mut(), missing.is_empty()) {
        first.0.extend(missing.into_iter().map(|(of, found)| found.entity(of)));
    }
    for (own, breach) in paths::of_flux(deployed, wanted, &read) {
        inside[own].0.push(breach);
    }
    for (own, of, found) in whole::twice(deployed, idle) {
        inside[own].0.push(found.entity(of));
    }
    for (variant, (found, cut)) in variants.iter_mut().zip(inside) {
        variant.facts.breaches.extend(found);
        variant.facts.cut.extend(cut);
    }
}

/// What is looked at in one variant.
struct Scope<'a> {
    objects: Vec<&'a Object>,
    workloads: Vec<&'a Workload>,
    /// Objects of Flux that speak of no GPU: what they wait for keeps others waiting.
    flux: Vec<&'a Object>,
}

impl<'a> Scope<'a> {
    fn of(facts: &'a Facts, wanted: &impl Fn(Span) -> bool) -> Self {
        let asks = |w: &&Workload| w.pods.iter().any(|pod| pod.gpus.get().is_some_and(|gpus| *gpus > 0));
        // What is about a workload with GPUs belongs to it, wherever it stands.
        let joined: BTreeSet<Span> = facts.workloads.iter().filter(asks).flat_map(about).collect();
        let drafted: BTreeSet<Span> =
            facts.objects.iter().filter(|o| o.drafted.get() == Some(&true)).map(|o| o.span).collect();
        let applied = |object: &&Object| {
            let encrypted = object.body.as_ref().is_some_and(|body| body.view().get("sops").is_some());
            !drafted.contains(&object.span) && !encrypted
        };
        let is_wanted = |place: Span| wanted(place) || joined.contains(&place);
        let objects = facts.objects.iter().map(|object| &**object);
        let of_flux = |object: &&Object| {
            let group = object.api_version.get().map_or("core", |version| group(version));
            group.ends_with(".toolkit.fluxcd.io") && !is_wanted(object.span)
        };
        let kubernetes =
            |w: &&Workload| w.format.get() == Some(&WorkloadFormat::Kubernetes) && !drafted.contains(&w.span);
        Self {
            flux: objects.clone().filter(applied).filter(of_flux).collect(),
            objects: objects.filter(applied).filter(|object| is_wanted(object.span)).collect(),
            workloads: facts.workloads.iter().filter(kubernetes).filter(|w| is_wanted(w.span)).collect(),
        }
    }
}

/// Places of what is joined with a workload.
fn about(workload: &Workload) -> Vec<Span> {
    let services = workload.services.iter().map(|service| service.span);
    let routes = workload.routes.iter().map(|route| route.span);
    let autoscalers = workload.autoscalers.iter().map(|autoscaler| autoscaler.span);
    services.chain(routes).chain(autoscalers).collect()
}

/// What is found, and what was too much to look at.
type Told = (Vec<Breach>, Vec<Problem>);

fn of_variant(facts: &Facts, scope: &Scope<'_>, count: usize) -> Told {
    let mut out = Told::default();
    for object in &scope.objects {
        let Some((body, kind)) = whole(object) else { continue };
        out.tell(object.span, called(&object.kind, &object.name), inside::of_object(body, kind, &share(count, body)));
    }
    for workload in &scope.workloads {
        let Some(object) = workload.object.as_ref() else { continue };
        let (Some(version), Some(kind)) = (workload.api_version.get(), workload.kind.get()) else { continue };
        let (share, object) = (share(count, object.view()), (object.view(), (group(version), kind.as_str())));
        for pod in &workload.pods {
            let of = called(&workload.kind, &workload.name);
            out.tell(workload.span, of, inside::of_pod(pod, object, &share));
        }
    }
    for (of, found) in selected::ports(facts, scope) {
        out.tell(of.span, of, Ok(found));
    }
    out
}

trait Tell {
    /// Adds what was found in something, or that it was too much.
    fn tell(&mut self, place: Span, of: Fact<String>, found: Result<Vec<Broken>, Spent>);
}

impl Tell for Told {
    fn tell(&mut self, span: Span, of: Fact<String>, found: Result<Vec<Broken>, Spent>) {
        match found {
            Ok(found) => self.0.extend(found.into_iter().map(|broken| broken.entity(of.clone()))),
            Err(spent) => self.1.push(Problem { span, message: format!("the names in this object: {spent}") }),
        }
    }
}

/// The share of an object, by the bytes that it is written in.
fn share(count: usize, object: View<'_>) -> Share {
    Share::of(count, object.node().map_or(0, |node| node.span().range().len()))
}

/// What reports call something.
fn called(kind: &Fact<String>, name: &Fact<String>) -> Fact<String> {
    kind.clone().map(|kind| name.get().map_or(kind.clone(), |name| format!("{kind} {name}")))
}

/// The body of an object, its group and its kind, where it is stated as a whole.
fn whole(object: &Object) -> Option<(View<'_>, (&str, &str))> {
    let view = object.body.as_ref()?.view();
    let stated = view.get("metadata").node().is_none_or(|metadata| !metadata.is_open());
    stated.then_some((view, (group(object.api_version.get()?), object.kind.get()?.as_str())))
}

/// The group of an API version; `core` where it has none.
fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("core", |(group, _)| group)
}

/// Whether a text stands for a name that is still to be written: no name is in capitals.
fn stands_for_another(name: &str) -> bool {
    name.chars().any(|letter| letter.is_ascii_uppercase()) && !name.chars().any(|letter| letter.is_ascii_lowercase())
}

/// Names in a sentence, not all where they are many.
fn list(names: &BTreeMap<String, Span>) -> String {
    const MOST: usize = 6;
    let shown: Vec<&str> = names.keys().take(MOST).map(String::as_str).collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The name that was meant by one that is not among them, if they are few enough to compare.
fn meant(name: &str, names: &BTreeMap<String, Span>) -> Option<String> {
    const FEW: usize = 128;
    nearest(name, names.keys().take(FEW).map(String::as_str)).map(str::to_owned)
}
