//! Services that texts name by their full names in the DNS of a cluster, with a port that they do not have or where there is no such
//! Service. Knows how such names are written and what is deployed into which namespace.

use super::Broken;
use super::hosts::is_comment;
use crate::facts::{BreachClass, Object, Service};
use crate::known::Fact;
use crate::link::Variant;
use crate::parse::{Node, Tree};
use crate::paths;
use crate::source::{SourceId, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Shorter names of other things are parts of too many.
const SHORTEST: usize = 3;

/// Kinds that bring no Service along.
const SERVES_NOTHING: [&str; 26] = [
    "CiliumNetworkPolicy",
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "CronJob",
    "ExternalSecret",
    "GitRepository",
    "GrafanaDashboard",
    "HTTPRoute",
    "HelmRepository",
    "HorizontalPodAutoscaler",
    "Ingress",
    "Kustomization",
    "NetworkPolicy",
    "OCIRepository",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodMonitor",
    "PrometheusRule",
    "ReplicationDestination",
    "ReplicationSource",
    "Role",
    "ScaledObject",
    "Secret",
    "ServiceAccount",
    "ServiceMonitor",
];

/// A Service by its full name.
struct Host<'t> {
    name: &'t str,
    space: &'t str,
    port: Option<&'t str>,
    /// Where the name stands in its text, and the port.
    at: (usize, usize),
}

/// What is known of the Services of a repository.
struct Known<'a> {
    services: Vec<(&'a Service, Option<String>)>,
    /// Names of everything else, with whether all Services are known that it makes.
    others: BTreeMap<&'a str, bool>,
    /// Beginnings and ends of names between which something is put in later.
    forms: Vec<(String, String)>,
}

/// The names in texts that lead to no Service or to none of its ports.
pub fn lost(
    all: &BTreeMap<SourceId, Arc<Tree>>,
    files: &Sources,
    idle: &BTreeSet<SourceId>,
    variants: &[Variant],
) -> Vec<(Fact<String>, Broken)> {
    let in_use = || all.iter().filter(|(id, _)| !idle.contains(id) && files.get(**id).text.contains(".svc"));
    if in_use().next().is_none() {
        return Vec::new();
    }
    let known = Known::of(files, idle, variants);
    let mut out = Vec::new();
    for (id, tree) in in_use() {
        for text in tree.nodes().filter_map(Node::traced) {
            for host in hosts(text.text()) {
                let name = text.span(host.at.0..host.at.0 + host.name.len());
                let port = host.port.map_or(name, |port| text.span(host.at.1..host.at.1 + port.len()));
                let of = || Fact::value(files.get(*id).path.clone(), name);
                out.extend(known.judge(&host, (name, port)).map(|broken| (of(), broken)));
            }
        }
    }
    out
}

impl<'a> Known<'a> {
    fn of(files: &Sources, idle: &BTreeSet<SourceId>, variants: &'a [Variant]) -> Self {
        let objects = || variants.iter().flat_map(|variant| &variant.facts.objects);
        let flux: Vec<(String, Option<String>)> = objects().filter_map(|object| applied(object)).collect();
        let space = |place: Span| {
            let path = files.get(place.source).path.as_str();
            let of = paths::above(paths::directory(path)).find_map(|at| {
                let ways = flux.iter().filter(|(to, _)| at == to || at.ends_with(&format!("/{to}")));
                let spaces: BTreeSet<_> = ways.map(|(_, space)| space).collect();
                (!spaces.is_empty())
                    .then(|| spaces.iter().next().cloned().cloned().flatten().filter(|_| spaces.len() == 1))
            });
            of.flatten()
        };
        let deployed = |place: &Span| !idle.contains(&place.source);
        let services = variants.iter().flat_map(|variant| &variant.facts.services).filter(|one| deployed(&one.span));
        let services = services.map(|one| (&**one, one.namespace.get().cloned().or_else(|| space(one.span)))).collect();
        let drafted: BTreeSet<SourceId> =
            objects().filter(|one| one.drafted.get() == Some(&true)).map(|one| one.span.source).collect();
        let mut others: BTreeMap<&str, bool> = BTreeMap::new();
        let mut forms = Vec::new();
        for object in objects() {
            let kind = object.kind.get().map_or("", String::as_str);
            let whole = drafted.contains(&object.span.source) || SERVES_NOTHING.contains(&kind);
            match object.name.get().filter(|name| !name.contains('$')) {
                Some(_) if matches!(kind, "Namespace" | "Service") => {}
                Some(name) if name.len() >= SHORTEST => *others.entry(name).or_insert(true) &= whole,
                Some(_) => {}
                None if whole => {}
                // What is put in later stands between what is written.
                None => forms.extend(object.body.as_ref().and_then(|body| {
                    let written = body.view().path("metadata.name").written();
                    let text = written.get()?;
                    let (start, end) = (text.find(['$', '{'])?, text.rfind('}')? + 1);
                    // What is called by that alone is called like its application, which others name.
                    Some((text[..start].to_owned(), text[end..].to_owned()))
                        .filter(|(start, end)| !(start.is_empty() && end.is_empty()))
                })),
            }
        }
        for release in variants.iter().flat_map(|variant| &variant.facts.releases) {
            let whole = drafted.contains(&release.span.source);
            let names = [release.name.get(), release.chart.get().filter(|_| !whole)];
            names
                .into_iter()
                .flatten()
                .filter(|name| name.len() >= SHORTEST)
                .for_each(|name| *others.entry(name).or_insert(true) &= whole);
        }
        Self { services, others, forms }
    }

    fn judge(&self, host: &Host<'_>, (at, port_at): (Span, Span)) -> Option<Broken> {
        let in_space = |space: &Option<String>| space.as_deref().is_none_or(|space| space == host.space);
        let named = |one: &&(&Service, Option<String>)| one.0.name.get().is_some_and(|name| name == host.name);
        let same: Vec<_> = self.services.iter().filter(named).collect();
        let here = same.iter().filter(|one| in_space(&one.1));
        if !same.is_empty() {
            let port = host.port?;
            let mut has = BTreeSet::new();
            for (service, space) in here {
                let ports = known_ports(service)?;
                // Another one of the name may be meant as long as it is not said where this one is.
                space.as_ref()?;
                has.extend(ports);
            }
            if has.is_empty() || has.contains(port) {
                return None;
            }
            let list = has.iter().cloned().collect::<Vec<_>>().join(", ");
            let says = format!("Service {} has no port {port}: it does not answer there", host.name);
            let place = same.iter().find(|one| in_space(&one.1))?.0.span;
            let meant = has.iter().next().filter(|_| has.len() == 1).cloned();
            let class = Fact::value(BreachClass::NameNotFound, port_at);
            return Some(Broken { class, says, meant, instead: Some((format!("it has {list}"), place)) });
        }
        // What something else makes of which not all is known.
        let related = |other: &str| host.name.contains(other) || other.contains(host.name);
        if self.others.iter().any(|(other, whole)| !whole && related(other))
            || self.others.contains_key(host.name)
            || self
                .forms
                .iter()
                .any(|(start, end)| host.name.starts_with(start.as_str()) && host.name.ends_with(end.as_str()))
        {
            return None;
        }
        let beside: Vec<&(&Service, Option<String>)> =
            self.services.iter().filter(|one| one.1.as_deref() == Some(host.space)).collect();
        let serves = |one: &&&(&Service, Option<String>)| {
            let port = host.port.filter(|port| !matches!(*port, "80" | "443" | "8080" | "3000"));
            port.is_some_and(|port| known_ports(one.0).is_some_and(|ports| ports.contains(port)))
        };
        let begins = |one: &&&(&Service, Option<String>)| {
            one.0
                .name
                .get()
                .is_some_and(|name| host.name.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('-')))
        };
        let mut likely: Vec<_> = beside
            .iter()
            .filter(begins)
            .filter(|one| {
                host.port.is_none()
                    || known_ports(one.0).is_some_and(|ports| host.port.is_none_or(|port| ports.contains(port)))
            })
            .collect();
        if likely.is_empty() {
            likely = beside.iter().filter(serves).collect();
        }
        let [(service, _)] = likely[..] else { return None };
        let name = service.name.get()?;
        let says = match host.port {
            Some(port) => format!(
                "no Service {} is in the namespace {}, where {name} has the port {port}: it is not found",
                host.name, host.space
            ),
            None => format!("no Service {} is in the namespace {}, but {name}: it is not found", host.name, host.space),
        };
        let class = Fact::value(BreachClass::NameNearlyFound, at);
        Some(Broken {
            class,
            says,
            meant: Some(name.clone()),
            instead: Some(("this Service".to_owned(), service.span)),
        })
    }
}

/// The ports of a Service, where all are stated and it leads to them alone.
fn known_ports(service: &Service) -> Option<BTreeSet<String>> {
    if service.headless.get() == Some(&true) || service.ports.is_empty() {
        return None;
    }
    service.ports.iter().map(|port| port.host_port.get().map(ToString::to_string)).collect()
}

/// The path of a Kustomization of Flux and the namespace that it deploys into.
fn applied(object: &Object) -> Option<(String, Option<String>)> {
    let group = object.api_version.get()?;
    let spec = object.body.as_ref().filter(|_| group.starts_with("kustomize.toolkit.fluxcd.io/"))?.view().get("spec");
    let path = spec.get("path").string().get()?.trim_start_matches("./").trim_matches('/').to_owned();
    (!path.is_empty()).then(|| (path, spec.get("targetNamespace").string().get().cloned()))
}

/// The full names of Services in a text.
fn hosts(text: &str) -> impl Iterator<Item = Host<'_>> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.match_indices(".svc").filter_map(move |(end, sign)| {
        let rest = text[end + sign.len()..].strip_prefix(".cluster.local").unwrap_or(&text[end + sign.len()..]);
        let start = text[..end].trim_end_matches(|c: char| is_of_name(c) || c == '.').len();
        let (name, space) = text[start..end].split_once('.')?;
        let before = text[..start].chars().next_back();
        let alone = before.is_none_or(|c| matches!(c, '/' | '"' | '\'' | ' ' | '=' | ',' | '@' | ';'));
        let port =
            rest.strip_prefix(':').map(|rest| &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())]);
        let behind = port.map_or(rest, |port| &rest[1 + port.len()..]);
        let ends = behind.is_empty() || behind.starts_with(['/', '"', '\'', ' ', ',', ';', '\n', '?']);
        let port_at = text.len() - rest.len() + 1;
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('-') && !name.contains('.')
        };
        let port = port.filter(|port| !port.is_empty());
        let stated = alone && ends && !is_comment(text, start);
        (stated && is_name(name) && is_name(space)).then_some(Host { name, space, port, at: (start, port_at) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_named_by_name_namespace_and_svc() {
        let found = |text: &str| -> Vec<String> {
            let shown = |host: Host<'_>| format!("{} {} {}", host.name, host.space, host.port.unwrap_or_default());
            hosts(text).map(shown).collect()
        };
        assert_eq!(found("http://vllm.ai.svc.cluster.local:8000/v1"), ["vllm ai 8000"]);
        assert_eq!(found("vllm.ai.svc,x@db.data.svc:5432"), ["vllm ai ", "db data 5432"]);
        assert_eq!(found("- a:\n    #  url: http://vllm.ai.svc:80\n"), [""; 0], "comments name nothing");
        assert_eq!(found("‹vllm.ai.svc:80 ”vllm.ai.svc:80"), [""; 0]);
        assert_eq!(found("http://${HOST}.ai.svc:80 *.ai.svc pod.vllm.ai.svc:80 a.b.svc.clusterset.local"), [""; 0]);
    }
}
