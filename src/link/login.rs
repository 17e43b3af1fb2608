//! Whether a container is reached only through what asks for a credential. Knows routes, policies about them and the labels that
//! proxies of containers read.

use super::boundary::Deployed;
use crate::catalog;
use crate::facts::{Container, Labels, Object, Port, Route, Service, Workload};
use crate::known::{Fact, Known};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Kinds and names of what policies ask for a credential at.
type Policies = BTreeSet<(String, String)>;

/// Fills `behind_login` of every container.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let objects = deployed.variants().iter().flat_map(|variant| &variant.facts.objects);
    let policies: Policies = objects.flat_map(|object| targets(object)).collect();
    deployed.each(workloads, |workload, _| {
        let (services, routes) = (&workload.services, &workload.routes);
        for pod in &mut workload.pods {
            for container in &mut pod.containers {
                let published = container.ports.iter().any(|port| !port.host_port.is_absent());
                let behind = match published || pod.host_network.get() == Some(&true) {
                    true => Fact::value(false, container.span),
                    false => by_labels(&pod.labels, container.span)
                        .unwrap_or_else(|| by_routes(container, (services, routes), &policies)),
                };
                container.behind_login = behind.and_then(|is| if is { Known::Value(true) } else { Known::Absent });
            }
        }
    });
}

/// What a policy of a gateway is about, if it asks for a credential.
fn targets(object: &Object) -> Vec<(String, String)> {
    let Some(body) = object.body.as_ref().filter(|_| is_policy(object)) else { return Vec::new() };
    let spec = body.view().get("spec");
    let named = [spec.get("targetRef")].into_iter().chain(spec.get("targetRefs").items());
    named
        .filter_map(|at| Some((at.get("kind").string().get()?.clone(), at.get("name").string().get()?.clone())))
        .collect()
}

fn is_policy(object: &Object) -> bool {
    let says = |key: &str| object.body.as_ref().is_some_and(|body| body.view().get("spec").get(key).is_some());
    match object.kind.get().map(String::as_str) {
        Some("SecurityPolicy") => ["extAuth", "oidc", "basicAuth", "jwt", "apiKeyAuth"].into_iter().any(says),
        Some("AuthorizationPolicy") => says("provider"),
        _ => false,
    }
}

/// What labels say that a proxy of containers reads: a router of Traefik passes requests through middlewares.
fn by_labels(labels: &Labels, place: Span) -> Option<Fact<bool>> {
    let mut routers: BTreeMap<&str, Fact<bool>> = BTreeMap::new();
    for (key, value) in labels {
        let Some((router, option)) = key.strip_prefix("traefik.http.routers.").and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let asks = routers.entry(router).or_insert(Fact::value(false, place));
        if option == "middlewares" {
            *asks = value.clone().map(|names| catalog::names_login(&names));
        }
    }
    (!routers.is_empty()).then(|| all(routers.into_values(), place))
}

/// Whether there are routes to a container, which all ask for a credential, and no Service of it is reached otherwise.
fn by_routes(
    container: &Container,
    (services, routes): (&[Arc<Service>], &[Arc<Route>]),
    policies: &Policies,
) -> Fact<bool> {
    let mut leading: BTreeMap<&String, BTreeSet<String>> = BTreeMap::new();
    let named = || services.iter().filter_map(|service| Some((service.name.get()?, service)));
    for (name, service) in named().filter(|(_, service)| leads_to(service, container)) {
        leading.insert(name, entries(service, container));
    }
    if leading.is_empty() {
        leading = named().map(|(name, _)| (name, BTreeSet::new())).collect();
    }
    let mut routes = routes.iter().filter(|route| enters(route, &leading)).peekable();
    if routes.peek().is_none() {
        return Fact::value(false, container.span);
    }
    let asks = |route: &Arc<Route>| {
        let about = |kind: &str, name: &Fact<String>| {
            name.get().is_some_and(|name| policies.contains(&(kind.to_owned(), name.clone())))
        };
        let kind = route.kind.get().map_or("", String::as_str);
        match about(kind, &route.name) || about("Gateway", &route.class) {
            true => Fact::value(true, route.span),
            false => route.authenticated.clone(),
        }
    };
    let inside = |service: &Arc<Service>| {
        service.r#type.clone().map(|kind| !matches!(kind.as_str(), "LoadBalancer" | "NodePort"))
    };
    let leading = named().filter(|(name, _)| leading.contains_key(name)).map(|(_, service)| service);
    all(leading.map(inside).chain(routes.map(asks)), container.span)
}

/// Whether a Service is called like a container, or a port of it is one that the container is known to listen on.
fn leads_to(service: &Service, container: &Container) -> bool {
    let alike = |name: &String| service.name.get().and_then(|own| own.strip_suffix(name.as_str()));
    container.name.get().and_then(alike).is_some_and(|before| before.is_empty() || before.ends_with('-'))
        || service.ports.iter().any(|port| is_of(port, container))
}

/// Names and numbers of the ports of a Service that a container is known to listen on.
fn entries(service: &Service, container: &Container) -> BTreeSet<String> {
    let ports = service.ports.iter().filter(|port| is_of(port, container));
    ports.flat_map(|port| [port.name.get().cloned(), port.host_port.get().map(i64::to_string)]).flatten().collect()
}

fn is_of(port: &Port, container: &Container) -> bool {
    let launched = container.launch.as_ref().and_then(|launch| launch.port.get());
    let number = port.port.get();
    number.is_some() && number == launched
        || container.ports.iter().any(|own| {
            let named = port.target_name.get().is_some() && port.target_name.get() == own.name.get();
            named || number.is_some() && number == own.port.get()
        })
}

/// Whether a route leads to one of these Services, at one of the ports where some are known.
fn enters(route: &Route, services: &BTreeMap<&String, BTreeSet<String>>) -> bool {
    let spec = route.object.as_ref().map(|object| object.view().get("spec"));
    let rules = spec.into_iter().flat_map(|spec| spec.get("rules").items().chain(spec.get("routes").items()));
    let backends = rules.flat_map(|rule| {
        let paths = rule.path("http.paths").items().map(|path| path.path("backend.service"));
        rule.get("backendRefs").items().chain(rule.get("services").items()).chain(paths).collect::<Vec<_>>()
    });
    let backends: Vec<(Fact<String>, Fact<String>)> = backends
        .map(|backend| {
            let port = backend.get("port");
            let stated = port.string().or(|| port.get("number").string()).or(|| port.get("name").string());
            (backend.get("name").string(), stated)
        })
        .collect();
    let leads = |name: &String| {
        let Some(open) = services.get(name) else { return false };
        let mut at = backends.iter().filter(|(of, _)| of.get() == Some(name)).map(|(_, port)| port).peekable();
        let unstated = open.is_empty() || at.peek().is_none();
        unstated || at.any(|port| port.get().is_none_or(|port| open.contains(port)))
    };
    route.backends.iter().filter_map(Fact::get).any(leads)
}

/// Whether each is true; else unknown where none is false.
fn all(facts: impl Iterator<Item = Fact<bool>>, place: Span) -> Fact<bool> {
    let mut out = Fact::value(true, place);
    for fact in facts {
        match fact.get() {
            Some(true) => {}
            None if fact.is_unknown() => out = fact,
            _ => return Fact::value(false, fact.span),
        }
    }
    out
}
