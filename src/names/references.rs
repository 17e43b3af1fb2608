//! Names of other objects and of their parts. Knows the table of them and what is deployed together.

use super::hosts;
use super::near::Nearby;
use super::walk::{self, Name, names, views};
use super::whole::{Whole, is_flux};
use super::{Broken, Scope, Tell, Told, called, inside, list, meant, share, stands_for_another, whole};
use crate::budget::{Share, Spent};
use crate::catalog::{self, Reference, references};
use crate::facts::{BreachClass, Facts, Object, Workload};
use crate::known::Fact;
use crate::link::{Candidates, Deployed, Namespace, Reach};
use crate::parse::View;
use crate::source::SourceId;
use std::collections::{BTreeMap, BTreeSet};

/// Objects that something may name, by namespace, kind and name.
type Named<'a> = Candidates<'a, (Namespace<'a>, (&'static str, &'a str)), &'a Object>;

/// A reference in an object.
pub struct Asked {
    pub row: &'static Reference,
    /// What it stands in.
    pub of: Fact<String>,
    pub file: SourceId,
    pub namespace: Fact<String>,
    /// The kind that it names, as `group/Kind`.
    pub kind: &'static str,
    pub name: Name,
    /// The parts of it that are named.
    pub parts: Vec<Name>,
}

/// What references of every variant lead nowhere.
pub fn all(deployed: Deployed<'_>, scopes: &[Scope<'_>], idle: &BTreeSet<SourceId>, count: usize) -> Vec<Told> {
    let mut out: Vec<Told> = Vec::new();
    let (mut asked, mut of_flux) = (Vec::new(), Vec::new());
    for (own, scope) in scopes.iter().enumerate() {
        let mut waiting = Vec::new();
        in_all((&scope.flux, &[]), count, &mut waiting, &mut Told::default());
        of_flux.extend(waiting.into_iter().map(|one| (own, one)));
    }
    for scope in scopes {
        let mut told = Told::default();
        let mut found = Vec::new();
        in_all((&scope.objects, &scope.workloads), count, &mut found, &mut told);
        asked.push(found);
        out.push(told);
    }
    if asked.iter().all(Vec::is_empty) && of_flux.is_empty() {
        return out;
    }
    let named: Named<'_> = Candidates::gather(deployed, Reach::Deployment, |facts| {
        let listed = facts.objects.iter().filter_map(|object| {
            let kind = named_kind(object)?;
            let keys = Namespace::listed(&object.namespace, (kind, object.name.get()?.as_str()));
            Some((object.span.source, keys.into(), &**object))
        });
        listed.collect()
    });
    let mut lost = Vec::new();
    let mut found = Vec::new();
    for (own, one) in asked.into_iter().enumerate().flat_map(|(own, list)| list.into_iter().map(move |one| (own, one)))
    {
        let keys = Namespace::sought(&one.namespace, (one.kind, one.name.0.as_str()));
        let objects = named.nearest(deployed.boundary(own), one.file, &keys, |_| true);
        let deployed = |object: &&Object| !is_flux(one.kind) || !idle.contains(&object.span.source);
        let objects: Vec<&Object> = objects.into_iter().copied().filter(deployed).collect();
        match (objects.is_empty(), one.row.near, one.parts.is_empty()) {
            (true, true, _) => lost.push((own, one)),
            (false, _, false) => found.push((own, one, objects)),
            _ => {}
        }
    }
    let nearby = Nearby::new(deployed, &lost, count);
    for (own, one, objects) in found.into_iter().filter(|(_, one, _)| !nearby.is_made(one.kind, &one.name.0)) {
        let bytes = objects.iter().filter_map(|object| object.body.as_ref()?.view().node());
        let share = Share::of(count, bytes.map(|node| node.span().range().len()).sum());
        out[own].tell(one.name.1, one.of.clone(), of_parts(&one, &objects, &share));
    }
    let whole = Whole::new(deployed, idle, count);
    for (own, one) in &lost {
        let made = || nearby.is_made(one.kind, &one.name.0);
        let broken = nearby.find(*own, one).or_else(|| whole.find(one).filter(|_| !made()));
        out[*own].tell(one.name.1, one.of.clone(), Ok(broken.into_iter().collect()));
    }
    for (own, one) in of_flux.iter().filter(|(_, one)| !nearby.is_made(one.kind, &one.name.0)) {
        out[*own].tell(one.name.1, one.of.clone(), Ok(whole.find(one).into_iter().collect()));
    }
    out
}

/// The references in objects and in the pods of workloads.
pub fn in_all<'a>(
    (objects, workloads): (&[&'a Object], &[&'a Workload]),
    count: usize,
    out: &mut Vec<Asked>,
    told: &mut Told,
) {
    for object in objects {
        let Some((body, (group, kind))) = whole(object) else { continue };
        let rows = references(group, kind);
        let holder = Holder { of: called(&object.kind, &object.name), namespace: &object.namespace, view: body };
        let share = share(count, body);
        let mut spent = rows.iter().try_for_each(|row| holder.asks(row, &share, out));
        if (group, kind) == ("core", "ConfigMap") {
            spent = spent.and_then(|()| hosts::of_data(body, (&holder.of, holder.namespace), &share, out));
        }
        told.tell(object.span, holder.of, spent.map(|()| Vec::new()));
    }
    for workload in workloads {
        let Some(object) = workload.object.as_ref() else { continue };
        let share = share(count, object.view());
        let of = called(&workload.kind, &workload.name);
        let holder = Holder { of, namespace: &workload.namespace, view: object.view() };
        // Labels and annotations that mean the same in every kind.
        let spent = references("*", "*").iter().try_for_each(|row| holder.asks(row, &share, out));
        told.tell(workload.span, holder.of, spent.map(|()| Vec::new()));
        for spec in workload.pods.iter().filter_map(inside::whole) {
            let of = called(&workload.kind, &workload.name);
            let holder = Holder { of, namespace: &workload.namespace, view: spec };
            let containers = ["containers", "initContainers"].into_iter().flat_map(|key| spec.get(key).items());
            let mut spent = references("core", "Pod").iter().try_for_each(|row| holder.asks(row, &share, out));
            for container in containers {
                spent =
                    spent.and_then(|()| hosts::of_container(container, (&holder.of, holder.namespace), &share, out));
            }
            told.tell(workload.span, holder.of, spent.map(|()| Vec::new()));
        }
    }
}

/// Everything of one variant.
pub fn in_facts(facts: &Facts, count: usize) -> Vec<Asked> {
    let objects: Vec<&Object> = facts.objects.iter().map(|object| &**object).collect();
    let workloads: Vec<&Workload> = facts.workloads.iter().collect();
    let mut out = Vec::new();
    in_all((&objects, &workloads), count, &mut out, &mut Told::default());
    out
}

/// The kind of an object that something may name.
pub fn named_kind(object: &Object) -> Option<&'static str> {
    catalog::named_kind(super::group(object.api_version.get()?), object.kind.get()?)
}

/// What references stand in.
struct Holder<'a> {
    of: Fact<String>,
    namespace: &'a Fact<String>,
    view: View<'a>,
}

impl Holder<'_> {
    fn asks(&self, row: &'static Reference, share: &Share, out: &mut Vec<Asked>) -> Result<(), Spent> {
        for at in views(self.view, row.at, share)?.all {
            let name = if row.name == "." { at.string() } else { walk::at(at, row.name).string() };
            let Some(text) = name.get().filter(|name| !name.is_empty() && !stands_for_another(name)) else { continue };
            let may_lack = |key: &str| !matches!(at.get(key).boolean().get(), Some(false)) && at.get(key).is_some();
            if !row.optional.is_empty() && may_lack(row.optional) {
                continue;
            }
            let mut kinds = row.names.split(' ');
            let stated =
                if row.kind_at.is_empty() { Fact::absent(name.span) } else { walk::at(at, row.kind_at).string() };
            let kind = match stated.get() {
                Some(stated) => kinds.find(|kind| kind.rsplit('/').next() == Some(stated)),
                None if stated.is_absent() => kinds.next(),
                None => None,
            };
            let Some(kind) = kind else { continue };
            let namespace = match row.namespace_at {
                "" => self.namespace.clone(),
                "cluster" => Fact::absent(name.span),
                key => at.get(key).string().or(|| self.namespace.clone()),
            };
            if namespace.is_unknown() {
                continue;
            }
            let parts = if row.part.is_empty() { Vec::new() } else { names(at, row.part, share)?.all };
            out.push(Asked {
                row,
                of: self.of.clone(),
                file: name.span.source,
                namespace,
                kind,
                name: (text.clone(), name.span),
                parts,
            });
        }
        Ok(())
    }
}

/// The parts that none of the objects has which a reference may mean.
fn of_parts(asked: &Asked, objects: &[&Object], share: &Share) -> Result<Vec<Broken>, Spent> {
    let mut declared = BTreeMap::new();
    for object in objects {
        let Some((body, _)) = whole(object).filter(|_| !is_filled(object)) else { return Ok(Vec::new()) };
        let before = declared.len();
        for path in asked.row.parts.split(' ') {
            let found = names(body, path, share)?;
            if found.open {
                return Ok(Vec::new());
            }
            declared.extend(found.all);
        }
        // What has no parts at all is there to be filled.
        if declared.len() == before {
            return Ok(Vec::new());
        }
    }
    let kind = asked.kind.rsplit('/').next().unwrap_or(asked.kind);
    let missing = asked.parts.iter().filter(|(part, _)| !declared.contains_key(part));
    let broken = |(part, place): &Name| {
        let meant = meant(part, &declared);
        let shown = meant.as_ref().and_then(|meant| declared.get(meant)).or(declared.values().next());
        let has = list(&declared);
        Broken {
            class: Fact::watched(|| {
                asked.row.used();
                Fact::value(BreachClass::NameNotFound, *place)
            }),
            says: format!("{kind} {} has no {} {part}: {}", asked.name.0, word(asked.row.part), asked.row.fails),
            instead: shown.map(|place| (format!("it has {has}"), *place)),
            meant,
        }
    };
    Ok(missing.map(broken).collect())
}

/// What the part is called that a path leads to.
fn word(path: &str) -> &str {
    let mut steps = path.rsplit('.').map(|step| step.trim_end_matches("[]"));
    steps.find(|step| !matches!(*step, "name" | "number")).unwrap_or("part")
}

/// Whether a Service has ports that it does not state: names lead to the pods themselves, or to somewhere else.
fn headless(object: &Object) -> bool {
    let Some(spec) = object.body.as_ref().map(|body| body.view().get("spec")) else { return true };
    let is = |key: &str, value: &str| spec.get(key).string().get().is_some_and(|stated| stated == value);
    named_kind(object) == Some("core/Service") && (is("clusterIP", "None") || is("type", "ExternalName"))
}

/// Whether an object has parts that are not written. A controller puts keys into a ConfigMap or Secret: its type or an
/// annotation says so.
fn is_filled(object: &Object) -> bool {
    let typed = object.body.as_ref().map(|body| body.view().get("type").string());
    let plain = |kind: Fact<String>| kind.is_absent() || kind.get().is_some_and(|kind| kind == "Opaque");
    let data = matches!(named_kind(object), Some("core/ConfigMap" | "core/Secret"));
    const KNOWN: [&str; 4] = ["helm.sh/", "argocd.argoproj.io/", "kubectl.kubernetes.io/", "meta.helm.sh/"];
    let known = |key: &String| KNOWN.iter().any(|start| key.starts_with(start));
    headless(object) || data && (!typed.is_none_or(plain) || !object.annotations.keys().all(known) || labelled(object))
}

/// Whether a label says that something fills the object: OpenShift puts certificates into such ConfigMaps.
fn labelled(object: &Object) -> bool {
    object.labels.keys().any(|key| key.contains("inject"))
}
