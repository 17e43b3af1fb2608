//! Services, routes, budgets, autoscalers and claims to the workloads that they are about.

use super::Namespace;
use super::boundary::{Boundary, Deployed, Reach};
use super::candidates::Candidates;
use crate::facts::{Autoscaler, Budget, Facts, Labels, Object, Route, Service, Volume, Workload};
use crate::known::Fact;
use crate::quantity;
use crate::source::SourceId;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What is joined with one workload by selectors and names.
#[derive(Debug, Default)]
pub struct Exposure {
    services: Vec<Arc<Service>>,
    routes: Vec<Arc<Route>>,
    budgets: Vec<Arc<Budget>>,
    autoscalers: Vec<Arc<Autoscaler>>,
}

/// What workloads are found by: a label of a pod, or the name of the workload; each in a namespace. All have the last.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sign<'a> {
    Label(&'a str, &'a str),
    Name(&'a str),
    Any,
}

type Key<'a> = (Namespace<'a>, Sign<'a>);

/// The workloads of every variant, with their positions.
type Workloads<'a> = Candidates<'a, Key<'a>, (usize, &'a Workload)>;

/// A kind of objects that are about workloads.
struct About<T> {
    list: fn(&Facts) -> &Vec<Arc<T>>,
    file: fn(&T) -> SourceId,
    namespace: fn(&T) -> &Fact<String>,
    /// What every workload that it is about has; `None` where it is about nothing.
    sign: fn(&T) -> Option<Sign<'_>>,
    /// Whether it is about a workload that has the sign, in its namespace.
    fits: fn(&T, &Workload) -> bool,
}

const SERVICES: About<Service> = About {
    list: |facts| &facts.services,
    file: |service| service.span.source,
    namespace: |service| &service.namespace,
    sign: |service| label_of(&service.selector),
    fits: |service, workload| selects_pod(&service.selector, workload),
};

const BUDGETS: About<Budget> = About {
    list: |facts| &facts.budgets,
    file: |budget| budget.span.source,
    namespace: |budget| &budget.namespace,
    sign: |budget| if selects_all(budget) { Some(Sign::Any) } else { label_of(&budget.selector) },
    fits: |budget, workload| {
        selects_pod(&budget.selector, workload) || selects_all(budget) && !workload.pods.is_empty()
    },
};

const AUTOSCALERS: About<Autoscaler> = About {
    list: |facts| &facts.autoscalers,
    file: |autoscaler| autoscaler.span.source,
    namespace: |autoscaler| &autoscaler.namespace,
    sign: |autoscaler| Some(Sign::Name(autoscaler.target_name.get()?)),
    fits: |autoscaler, workload| {
        autoscaler.target_kind.get().is_none() || equal(&autoscaler.target_kind, &workload.kind)
    },
};

fn selects_all(budget: &Budget) -> bool {
    budget.selects_all.get() == Some(&true)
}

/// A label that every pod has which a selector selects.
fn label_of(selector: &Labels) -> Option<Sign<'_>> {
    let (key, value) = selector.iter().next()?;
    Some(Sign::Label(key, value.get()?))
}

/// Everything that a workload is found by.
fn keys_of(workload: &Workload) -> Vec<Key<'_>> {
    let labels = workload.pods.iter().flat_map(|pod| &pod.labels);
    let labels = labels.filter_map(|(key, value)| Some(Sign::Label(key, value.get()?)));
    let signs = labels.chain(workload.name.get().map(|name| Sign::Name(name))).chain([Sign::Any]);
    signs.flat_map(|sign| Namespace::listed(&workload.namespace, sign)).collect()
}

/// What is joined with each workload of each variant. Of plain files each goes with the workloads nearest to it, as the
/// same name may stand in many of them.
pub fn exposures(deployed: Deployed<'_>) -> Vec<Vec<Exposure>> {
    let all = Candidates::gather(deployed, Reach::Deployment, |facts| {
        let workloads = facts.workloads.iter().enumerate();
        workloads.map(|(i, workload)| (workload.span.source, keys_of(workload), (i, workload))).collect()
    });
    let routes =
        Candidates::gather(deployed, Reach::Deployment, |facts| facts.routes.iter().map(listed_route).collect());
    let services = joined(deployed, &all, &SERVICES);
    let budgets = joined(deployed, &all, &BUDGETS);
    let autoscalers = joined(deployed, &all, &AUTOSCALERS);
    let joined = services.into_iter().zip(budgets).zip(autoscalers).enumerate();
    let exposed = joined.map(|(own, ((services, budgets), autoscalers))| {
        let boundary = deployed.boundary(own);
        let joined = services.into_iter().zip(budgets).zip(autoscalers);
        let workloads = deployed.variants()[own].facts.workloads.iter().zip(joined);
        let exposure = |(workload, ((services, budgets), autoscalers)): (&Workload, ((Vec<Arc<Service>>, _), _))| {
            let routes = leading_to(workload, &services, (&routes, boundary));
            Exposure { services, routes, budgets, autoscalers }
        };
        workloads.map(exposure).collect()
    });
    exposed.collect()
}

/// A route under the name of every Service that it leads to.
fn listed_route(route: &Arc<Route>) -> (SourceId, Vec<(Namespace<'_>, &str)>, &Arc<Route>) {
    let namespaces = route.backend_namespaces.iter().chain(std::iter::repeat(&route.namespace));
    let backends = route.backends.iter().zip(namespaces).filter_map(|(name, namespace)| Some((name.get()?, namespace)));
    let keys = backends.flat_map(|(name, namespace)| Namespace::listed(namespace, name.as_str())).collect();
    (route.span.source, keys, route)
}

/// The routes that lead to the Services of a workload. A route goes where its Service is.
fn leading_to(
    workload: &Workload,
    services: &[Arc<Service>],
    (routes, boundary): (&Candidates<'_, (Namespace<'_>, &str), &Arc<Route>>, Boundary<'_>),
) -> Vec<Arc<Route>> {
    let Some(first) = services.first() else { return Vec::new() };
    let names = services.iter().filter_map(|service| service.name.get());
    let keys: Vec<(Namespace<'_>, &str)> =
        names.flat_map(|name| Namespace::sought(&workload.namespace, name.as_str())).collect();
    let found = routes.nearest(boundary, first.span.source, &keys, |_| true);
    found.into_iter().map(|route| Arc::clone(route)).collect()
}

/// The objects of a kind about each workload of each variant.
fn joined<T: Send + Sync>(deployed: Deployed<'_>, all: &Workloads<'_>, about: &About<T>) -> Vec<Vec<Vec<Arc<T>>>> {
    let free = free(deployed, all, about);
    let of_variant = |own: usize| {
        let (boundary, facts) = (deployed.boundary(own), &deployed.variants()[own].facts);
        let mut found: Vec<Vec<(SourceId, &Arc<T>)>> = facts.workloads.iter().map(|_| Vec::new()).collect();
        for object in (about.list)(facts) {
            let from = (about.file)(object);
            let fits = |(_, workload): &(usize, &Workload)| (about.fits)(object, workload);
            let keys = sought(&**object, about);
            let workloads = match boundary.is_plain() {
                true => all.nearest_to(boundary, from, &keys, fits),
                false => all.own(boundary, &keys, fits),
            };
            workloads.into_iter().for_each(|(i, _)| found[*i].push((from, object)));
        }
        let with = |(found, workload): (Vec<(SourceId, &Arc<T>)>, &Workload)| -> Vec<Arc<T>> {
            if boundary.is_plain() {
                return deployed.layout().nearest(workload.span.source, found).into_iter().cloned().collect();
            }
            let may_be_about = |object: &&Arc<T>| {
                let near = deployed.layout().may_be_about((about.file)(object), workload.span.source);
                near && (about.fits)(object, workload)
            };
            let keys = keys_of(workload).into_iter().filter(|(namespace, _)| *namespace != Namespace::Any);
            let keys = keys.flat_map(|(_, sign)| Namespace::sought(&workload.namespace, sign));
            let around: BTreeSet<usize> = keys.filter_map(|key| free.1.get(&key)).flatten().copied().collect();
            let around = around.into_iter().map(|i| free.0[i]).filter(may_be_about);
            found.into_iter().map(|(_, object)| object).chain(around).cloned().collect()
        };
        found.into_iter().zip(&facts.workloads).map(with).collect()
    };
    (0..deployed.variants().len()).into_par_iter().map(of_variant).collect()
}

/// What a workload has that an object is about.
fn sought<'o, T>(object: &'o T, about: &About<T>) -> Vec<Key<'o>> {
    (about.sign)(object).map(|sign| Namespace::sought((about.namespace)(object), sign)).unwrap_or_default()
}

/// Fills the joined lists of workloads.
pub fn expose(workloads: &mut [Workload], exposures: Vec<Exposure>) {
    for (workload, exposure) in workloads.iter_mut().zip(exposures) {
        workload.services = exposure.services;
        workload.routes = exposure.routes;
        workload.budgets = exposure.budgets;
        workload.autoscalers = exposure.autoscalers;
    }
}

/// Objects of plain files, and those that may be about what a chart or kustomization deploys: they have no workloads among
/// their like.
type Free<'a, T> = (Vec<&'a Arc<T>>, HashMap<Key<'a>, Vec<usize>>);

fn free<'a, T>(deployed: Deployed<'a>, all: &Workloads<'_>, about: &About<T>) -> Free<'a, T> {
    let (mut objects, mut by_key) = (Vec::new(), HashMap::<_, Vec<usize>>::new());
    let (several, plain) = (deployed.variants().len() > 1, deployed.plain_position());
    for (own, object) in plain
        .filter(|_| several)
        .into_iter()
        .flat_map(|own| (about.list)(&deployed.variants()[own].facts).iter().map(move |object| (own, object)))
    {
        let of_plain = |(_, workload): &(usize, &Workload)| (about.fits)(object, workload);
        if !all.own(deployed.boundary(own), &sought(&**object, about), of_plain).is_empty() {
            continue;
        }
        let keys = (about.sign)(object).map(|sign| Namespace::listed((about.namespace)(object), sign));
        keys.into_iter().flatten().for_each(|key| by_key.entry(key).or_default().push(objects.len()));
        objects.push(object);
    }
    (objects, by_key)
}

/// Gives volumes what their claims state, or the caches of NIM that they are.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let claims = Candidates::gather(deployed, Reach::Deployment, |facts| {
        let listed = facts.objects.iter().filter_map(|claim| {
            let cache = match claim.kind.get()?.as_str() {
                "PersistentVolumeClaim" => false,
                "NIMCache" => true,
                _ => return None,
            };
            let keys = Namespace::listed(&claim.namespace, (cache, claim.name.get()?.as_str()));
            Some((claim.span.source, keys.into(), &**claim))
        });
        listed.collect()
    });
    if claims.is_empty() {
        return;
    }
    deployed.each(workloads, |workload, boundary| {
        for volume in workload.pods.iter_mut().flat_map(|pod| &mut pod.volumes) {
            let Some(name) = volume.claim.get() else { continue };
            let cache = volume.kind.get().is_some_and(|kind| kind == "nimCache");
            let keys = Namespace::sought(&workload.namespace, (cache, name.as_str()));
            if let Some(claim) = claims.nearest(boundary, workload.span.source, &keys, |_| true).first() {
                take_claim(volume, claim);
            }
        }
    });
}

/// Both known and the same.
fn equal(a: &Fact<String>, b: &Fact<String>) -> bool {
    matches!((a.get(), b.get()), (Some(a), Some(b)) if a == b)
}

/// Whether a non-empty selector selects some pod of the workload.
fn selects_pod(selector: &Labels, workload: &Workload) -> bool {
    !selector.is_empty()
        && workload
            .pods
            .iter()
            .any(|pod| selector.iter().all(|(key, value)| pod.labels.get(key).is_some_and(|label| equal(label, value))))
}

fn take_claim(volume: &mut Volume, claim: &Object) {
    let Some(body) = &claim.body else { return };
    let spec = body.view().get("spec");
    if volume.kind.get().is_some_and(|kind| kind == "nimCache") {
        let claim = spec.path("storage.pvc");
        volume.kind = volume.kind.clone().map(|_| "persistentVolumeClaim".to_owned());
        volume.size_bytes = claim.get("size").parse(quantity::parse).map(|bytes| bytes as i64);
        let mode = claim.get("volumeAccessMode");
        volume.access_modes = mode.is_some().then(|| mode.string()).into_iter().collect();
        return;
    }
    volume.access_modes = spec.get("accessModes").strings();
}
