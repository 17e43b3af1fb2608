//! Names of ports in Services and monitors, held against what they select by labels.

use super::walk::names;
use super::{Broken, Scope, called, inside, list, meant, stands_for_another, whole};
use crate::budget::{STEP, Share, Spent};
use crate::facts::{BreachClass, Facts, Labels, Object, Pod, Service};
use crate::known::Fact;
use crate::parse::View;
use crate::source::{SourceId, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What names something, and what of that leads nowhere.
pub type Lacking = (Fact<String>, Vec<Broken>);

/// The ports of the pods that a Service selects; `None` where not all of them are known.
type Ports = Option<BTreeMap<String, Span>>;

/// Ports that Services lead to and that none of their pods has.
pub fn ports(facts: &Facts, scope: &Scope<'_>) -> Vec<Lacking> {
    let mut selected: BTreeMap<Span, (&Arc<Service>, Ports)> = BTreeMap::new();
    for workload in &facts.workloads {
        for service in
            workload.services.iter().filter(|service| service.ports.iter().any(|p| p.target_name.get().is_some()))
        {
            let (_, ports) = selected.entry(service.span).or_insert((service, Some(BTreeMap::new())));
            for pod in workload.pods.iter().filter(|pod| selects(service, pod)) {
                *ports = ports.take().zip(ports_of(pod)).map(|(mut all, own)| {
                    all.extend(own);
                    all
                });
            }
        }
    }
    let wanted: BTreeSet<Span> = scope.objects.iter().map(|object| object.span).collect();
    let mut out = Vec::new();
    for (span, (service, ports)) in selected {
        let Some(ports) = ports.filter(|_| wanted.contains(&span)) else { continue };
        let missing = service.ports.iter().filter_map(|port| {
            let target = &port.target_name;
            let name = target.get().filter(|name| !ports.contains_key(*name) && !stands_for_another(name))?;
            let meant = meant(name, &ports);
            let instead = meant.as_ref().and_then(|meant| ports.get(meant)).or(ports.values().next());
            let has = list(&ports);
            Some(Broken {
                class: Fact::value(BreachClass::NameNotFound, target.span),
                says: format!(
                    "no container of the pods that this Service selects has a port {name}: it leads to none of them"
                ),
                instead: instead.map(|place| (format!("they have {has}"), *place)),
                meant,
            })
        });
        let missing: Vec<Broken> = missing.collect();
        let kind = Fact::value("Service".to_owned(), service.span);
        out.extend((!missing.is_empty()).then(|| (called(&kind, &service.name), missing)));
    }
    out
}

fn selects(service: &Service, pod: &Pod) -> bool {
    has_all(&service.selector, &pod.labels)
}

/// Whether labels hold all of a selector.
fn has_all(selector: &Labels, labels: &Labels) -> bool {
    selector.iter().all(|(key, value)| labels.get(key).is_some_and(|label| label.get() == value.get()))
}

/// What a monitor may select: where it stands, its namespace, its labels and its ports.
type Selectable<'a> = (SourceId, &'a Fact<String>, &'a Labels, Ports);

/// What monitors may select, by each of its labels.
struct Labelled<'a> {
    all: Vec<Selectable<'a>>,
    by_label: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Labelled<'a> {
    fn of(all: Vec<Selectable<'a>>) -> Self {
        let mut by_label: HashMap<_, Vec<usize>> = HashMap::new();
        for (i, (_, _, labels, _)) in all.iter().enumerate() {
            let stated = labels.iter().filter_map(|(key, value)| Some((key.as_str(), value.get()?.as_str())));
            stated.for_each(|label| by_label.entry(label).or_default().push(i));
        }
        Self { all, by_label }
    }

    /// What has all of some labels, which are not none.
    fn having(&self, selector: &Labels) -> Vec<&Selectable<'a>> {
        let stated = selector.iter().filter_map(|(key, value)| Some((key.as_str(), value.get()?.as_str())));
        let lists = stated.map(|label| self.by_label.get(&label).map_or(&[][..], Vec::as_slice));
        let fewest = lists.min_by_key(|list| list.len()).unwrap_or_default();
        fewest.iter().map(|i| &self.all[*i]).filter(|(_, _, labels, _)| has_all(selector, labels)).collect()
    }
}

/// Ports that monitors scrape and that nothing has which they select. `together` tells whether two files are deployed together.
pub fn monitored(
    facts: &Facts,
    scope: &Scope<'_>,
    together: impl Fn(SourceId, SourceId) -> bool,
    share: &Share,
) -> Result<Vec<Lacking>, Spent> {
    let of_kind = |wanted: &str| -> Vec<&Object> {
        let is = |object: &&&Object| object.kind.get().is_some_and(|kind| kind == wanted);
        scope.objects.iter().filter(is).copied().collect()
    };
    let mut out = Vec::new();
    let (services, pods) = (of_kind("ServiceMonitor"), of_kind("PodMonitor"));
    if !services.is_empty() {
        let all = facts.services.iter().map(|s| (s.span.source, &s.namespace, &s.labels, ports_of_service(s)));
        let all = Labelled::of(all.collect());
        for monitor in services {
            out.extend(scraped(monitor, ("Service", "endpoints[].port"), (&all, &together), share)?);
        }
    }
    if !pods.is_empty() {
        let all = facts.workloads.iter().flat_map(|workload| workload.pods.iter().map(move |pod| (workload, pod)));
        let all = all.map(|(workload, pod)| (pod.span.source, &workload.namespace, &pod.labels, ports_of(pod)));
        let all = Labelled::of(all.collect());
        for monitor in pods {
            out.extend(scraped(monitor, ("pod", "podMetricsEndpoints[].port"), (&all, &together), share)?);
        }
    }
    Ok(out)
}

fn scraped(
    monitor: &Object,
    (what, path): (&str, &str),
    (all, together): (&Labelled<'_>, &impl Fn(SourceId, SourceId) -> bool),
    share: &Share,
) -> Result<Option<Lacking>, Spent> {
    let Some((body, _)) = whole(monitor) else { return Ok(None) };
    let (spec, selector) = (body.get("spec"), body.path("spec.selector"));
    let elsewhere = spec.get("namespaceSelector").is_some();
    let labels = labels(selector.get("matchLabels"));
    let stated = !labels.is_empty() && labels.values().all(|label| label.get().is_some());
    if elsewhere || !stated || selector.get("matchExpressions").is_some() {
        return Ok(None);
    }
    let same = |namespace: &Fact<String>| match (namespace.get(), monitor.namespace.get()) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    let selected = all.having(&labels);
    share.work(selected.len() * STEP)?;
    let near = |(file, namespace, ..): &&&Selectable<'_>| same(namespace) && together(*file, monitor.span.source);
    let selected: Vec<&Ports> = selected.iter().filter(near).map(|(.., ports)| ports).collect();
    let mut ports = BTreeMap::new();
    for own in &selected {
        let Some(own) = own else { return Ok(None) };
        ports.extend(own.iter().map(|(name, place)| (name.clone(), *place)));
    }
    if selected.is_empty() {
        return Ok(None);
    }
    let missing = names(spec, path, share)?.all;
    let missing = missing.into_iter().filter(|(name, _)| !ports.contains_key(name) && !stands_for_another(name));
    let missing: Vec<Broken> = missing
        .map(|(name, place)| {
            let meant = meant(&name, &ports);
            let shown = meant.as_ref().and_then(|meant| ports.get(meant)).or(ports.values().next());
            let has = list(&ports);
            Broken {
                class: Fact::value(BreachClass::NameNotFound, place),
                says: format!("no {what} that it selects has a port {name}: it scrapes none"),
                instead: shown.map(|place| (format!("there is {has}"), *place)),
                meant,
            }
        })
        .collect();
    Ok((!missing.is_empty()).then(|| (called(&monitor.kind, &monitor.name), missing)))
}

/// The names of the ports of a Service.
fn ports_of_service(service: &Service) -> Ports {
    let body = service.object.as_ref()?.view();
    let found = names(body, "spec.ports[].name", &Share::least(0)).ok().filter(|found| !found.open)?;
    Some(found.all.into_iter().collect())
}

/// Labels as a selector states them.
fn labels(view: View<'_>) -> Labels {
    let stated = view.entries().into_iter().map(|(key, value)| (key.to_owned(), value.string()));
    let rest = view.rest().map(|rest| ("".to_owned(), Fact::unknown(crate::known::Why::Template, rest.place())));
    stated.chain(rest).collect()
}

/// The names of the ports of a pod.
fn ports_of(pod: &Pod) -> Ports {
    let spec = inside::whole(pod)?;
    let mut out = BTreeMap::new();
    for containers in ["containers", "initContainers"].map(|key| spec.get(key)) {
        let known = |view: View<'_>| view.unknown().is_none();
        for container in containers.items() {
            let ports = container.get("ports");
            if !known(container) || !known(ports) {
                return None;
            }
            for name in ports.items().map(|port| port.get("name").string()) {
                if name.is_unknown() {
                    return None;
                }
                out.extend(name.get().map(|text| (text.clone(), name.span)));
            }
        }
    }
    Some(out)
}
