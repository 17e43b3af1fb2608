//! Services, routes, budgets, autoscalers and claims to the workloads that they are about.

use super::boundary::{Boundary, Reach};
use super::same_namespace;
use crate::facts::{Autoscaler, Budget, Facts, Labels, Object, Route, Service, Volume, Workload};
use crate::known::Fact;
use crate::source::SourceId;
use std::sync::Arc;

/// What is joined with one workload by selectors and names.
#[derive(Debug, Default)]
pub struct Exposure {
    services: Vec<Arc<Service>>,
    routes: Vec<Arc<Route>>,
    budgets: Vec<Arc<Budget>>,
    autoscalers: Vec<Arc<Autoscaler>>,
}

/// What is joined with each workload of a deployment. Of plain files each goes with the workloads nearest to it, as the
/// same name may stand in many of them.
pub fn exposures(boundary: &Boundary<'_>) -> Vec<Exposure> {
    let services = Pairs::of(
        boundary,
        |f| &f.services,
        |s| s.span.source,
        |service, workload| {
            same_namespace(&service.namespace, &workload.namespace) && selects_pod(&service.selector, workload)
        },
    );
    let budgets = Pairs::of(
        boundary,
        |f| &f.budgets,
        |b| b.span.source,
        |budget, workload| {
            same_namespace(&budget.namespace, &workload.namespace) && selects_pod(&budget.selector, workload)
        },
    );
    let autoscalers = Pairs::of(
        boundary,
        |f| &f.autoscalers,
        |a| a.span.source,
        |autoscaler, workload| {
            same_namespace(&autoscaler.namespace, &workload.namespace)
                && equal(&autoscaler.target_name, &workload.name)
                && (autoscaler.target_kind.get().is_none() || equal(&autoscaler.target_kind, &workload.kind))
        },
    );
    let routes = boundary.gather(Reach::Deployment, |f| f.routes.iter().map(|r| (r.span.source, r)).collect());
    let workloads = boundary.own().workloads.iter().enumerate();
    workloads
        .map(|(i, workload)| {
            let services = services.with(i, workload.span.source);
            let leads_here = |route: &&Arc<Route>| {
                same_namespace(&route.namespace, &workload.namespace)
                    && route.backends.iter().any(|b| services.iter().any(|s| equal(b, &s.name)))
            };
            // A route goes where its Service is.
            let from = services.first().map_or(workload.span.source, |service| service.span.source);
            let routes = routes.nearest(from, leads_here).into_iter().map(|route| Arc::clone(route)).collect();
            let budgets = budgets.with(i, workload.span.source);
            Exposure { routes, budgets, autoscalers: autoscalers.with(i, workload.span.source), services }
        })
        .collect()
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

/// Objects that are about workloads, each with the workloads of one deployment that are its own.
struct Pairs<'a, T> {
    boundary: &'a Boundary<'a>,
    /// Each object, its file, and the positions of its workloads.
    objects: Vec<(&'a Arc<T>, SourceId, Vec<usize>)>,
}

impl<'a, T> Pairs<'a, T> {
    fn of(
        boundary: &'a Boundary<'a>,
        list: impl Fn(&'a Facts) -> &'a Vec<Arc<T>>,
        file: impl Fn(&T) -> SourceId,
        about: impl Fn(&T, &Workload) -> bool,
    ) -> Self {
        let layout = boundary.layout();
        let own = boundary.own();
        let fitting = |object: &T, facts: &Facts| {
            let fits = facts.workloads.iter().enumerate().filter(|(_, workload)| about(object, workload));
            fits.map(|(i, workload)| (workload.span.source, i)).collect::<Vec<_>>()
        };
        let mut objects = Vec::new();
        for object in list(own) {
            let from = file(object);
            let mut workloads = fitting(object, own);
            if boundary.plain().is_none() {
                workloads.retain(|(at, _)| layout.may_be_about(from, *at));
                objects.push((object, from, layout.nearest(from, workloads)));
            } else {
                objects.push((object, from, workloads.into_iter().map(|(_, i)| i).collect()));
            }
        }
        // A plain file may be about what a chart or kustomization deploys, unless it has workloads among its like.
        for object in boundary.plain().into_iter().flat_map(&list) {
            let from = file(object);
            let of_plain = boundary.plain().is_some_and(|plain| !fitting(object, plain).is_empty());
            let mut workloads = fitting(object, own);
            workloads.retain(|(at, _)| !of_plain && layout.may_be_about(from, *at));
            objects.push((object, from, workloads.into_iter().map(|(_, i)| i).collect()));
        }
        objects.retain(|(.., workloads)| !workloads.is_empty());
        Self { boundary, objects }
    }

    /// The objects about a workload: all of its deployment; of plain files the nearest.
    fn with(&self, workload: usize, file: SourceId) -> Vec<Arc<T>> {
        let about = self.objects.iter().filter(|(.., workloads)| workloads.contains(&workload));
        let about: Vec<(SourceId, &Arc<T>)> = about.map(|(object, at, _)| (*at, *object)).collect();
        let near = match self.boundary.plain() {
            None => self.boundary.layout().nearest(file, about),
            Some(_) => about.into_iter().map(|(_, object)| object).collect(),
        };
        near.into_iter().cloned().collect()
    }
}

/// Gives volumes what their claims state.
pub fn link(workloads: &mut [Workload], boundary: &Boundary<'_>) {
    let claims = boundary.gather(Reach::Deployment, |facts| {
        let is_claim = |o: &&Arc<Object>| o.kind.get().is_some_and(|kind| kind == "PersistentVolumeClaim");
        facts.objects.iter().filter(is_claim).map(|claim| (claim.span.source, &**claim)).collect()
    });
    if claims.is_empty() {
        return;
    }
    for workload in workloads {
        let (namespace, from) = (workload.namespace.clone(), workload.span.source);
        for volume in workload.pods.iter_mut().flat_map(|pod| &mut pod.volumes) {
            let meant = |c: &&Object| same_namespace(&c.namespace, &namespace) && equal(&c.name, &volume.claim);
            if let Some(claim) = claims.nearest(from, meant).first() {
                take_claim(volume, claim);
            }
        }
    }
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
    volume.access_modes = spec.get("accessModes").strings();
}
