//! Names in Compose projects: services, volumes, networks, secrets and configs that Compose looks for in the project. Knows
//! the fields of a service that name some.

use super::walk::{Found, names};
use super::{Broken, Tell, Told, called, list, meant, share};
use crate::budget::{STEP, Share, Spent};
use crate::facts::{BreachClass, Facts, Workload, WorkloadFormat};
use crate::known::Fact;
use crate::parse::{Node, Tree, View};
use crate::source::{SourceId, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a project declares, and what Compose calls one of it.
const KINDS: [(&str, &str); 5] = [
    ("services", "service"),
    ("volumes", "volume"),
    ("networks", "network"),
    ("secrets", "secret"),
    ("configs", "config"),
];

/// What a project declares, by kind; nothing of a kind of which more may stand elsewhere.
type Declared = BTreeMap<&'static str, BTreeMap<String, Span>>;

/// What a service names that its project does not declare.
pub fn projects(
    facts: &Facts,
    (wanted, directory): (&impl Fn(Span) -> bool, impl Fn(SourceId) -> crate::link::Dir),
    is_project: impl Fn(SourceId) -> bool,
    count: usize,
) -> Told {
    let of_compose = |w: &&Workload| w.format.get() == Some(&WorkloadFormat::Compose);
    let services: Vec<(&Workload, &Arc<Tree>)> = facts
        .workloads
        .iter()
        .filter(of_compose)
        .filter_map(|workload| Some((workload, &workload.object.as_ref()?.tree)))
        .collect();
    let mut declared: BTreeMap<SourceId, Option<Declared>> = BTreeMap::new();
    // Several files of a directory may be laid over each other by the command line.
    let mut beside: BTreeMap<_, BTreeSet<(&str, String)>> = BTreeMap::new();
    for (_, tree) in &services {
        declared.entry(tree.source).or_insert_with(|| {
            let declared = project(tree, count).ok().flatten();
            let all =
                declared.iter().flatten().flat_map(|(kind, names)| names.keys().map(move |name| (*kind, name.clone())));
            beside.entry(directory(tree.source)).or_default().extend(all);
            declared
        });
    }
    let mut out = Told::default();
    for (workload, tree) in services.into_iter().filter(|(workload, _)| wanted(workload.span)) {
        let (Some(Some(declared)), Some(service)) = (declared.get(&tree.source), workload.object.as_ref()) else {
            continue;
        };
        let others = &beside[&directory(tree.source)];
        let found = undeclared(service.view(), declared, &share(count, service.view())).map(|mut found| {
            // A file of another name is one of those that `-f` names, and nobody says which the others are.
            let whole = is_project(tree.source);
            found.retain(|(kind, name, _)| {
                let told = whole || name.contains('/') || meant(name, &declared[kind]).is_some();
                !others.contains(&(*kind, name.clone())) && told
            });
            let broken = |(kind, name, place)| broken(workload, declared, (kind, name, place));
            found.into_iter().map(broken).collect()
        });
        let kind = Fact::value("service".to_owned(), workload.span);
        out.tell(workload.span, called(&kind, &workload.name), found);
    }
    out
}

fn broken(workload: &Workload, declared: &Declared, (kind, name, place): (&'static str, String, Span)) -> Broken {
    let known = &declared[kind];
    // A path is one only where it begins like one.
    let meant = if name.contains('/') { Some(format!("./{name}")) } else { meant(&name, known) };
    let one = KINDS.iter().find(|(all, _)| *all == kind).map_or(kind, |(_, one)| one);
    let service = workload.name.get().map_or("", String::as_str);
    let instead = meant.as_ref().and_then(|meant| known.get(meant)).or(known.values().next());
    let has = list(known);
    Broken {
        class: Fact::value(BreachClass::NameNotFound, place),
        says: format!(
            "the service {service} names the {one} {name}, which the project does not declare: Compose refuses it"
        ),
        instead: instead.map(|place| (format!("it declares {has}"), *place)),
        meant,
    }
}

/// What a project declares; `None` for one that is laid over another, as some services have no image of their own.
fn project(tree: &Arc<Tree>, count: usize) -> Result<Option<Declared>, Spent> {
    let Some(root) = tree.roots().next().map(Node::view) else { return Ok(None) };
    let share = share(count, root);
    let runs = |(_, service): (&str, View<'_>)| {
        ["image", "build", "extends", "provider"].iter().any(|key| service.get(key).is_some())
    };
    if root.has("include") != crate::known::Known::Value(false) || !root.get("services").entries().into_iter().all(runs)
    {
        return Ok(None);
    }
    let mut out = Declared::new();
    for (kind, _) in KINDS {
        let Found { all, open } = names(root, &format!("{kind}.{{key}}"), &share)?;
        if !open {
            out.insert(kind, all.into_iter().collect());
        }
    }
    if let Some(networks) = out.get_mut("networks") {
        networks.entry("default".to_owned()).or_insert(root.place());
    }
    Ok(Some(out))
}

/// What a service names, with what it is and where; without what is declared or may be.
fn undeclared(
    service: View<'_>,
    declared: &Declared,
    share: &Share,
) -> Result<Vec<(&'static str, String, Span)>, Spent> {
    let mut out = Vec::new();
    let mut add = |kind: &'static str, name: &str, place: Span| -> Result<(), Spent> {
        share.work(STEP + name.len())?;
        let signs = if kind == "volumes" { "._-/" } else { "._-" };
        let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || signs.contains(letter));
        let known = declared.get(kind).is_none_or(|known| known.contains_key(name));
        if plain && !name.is_empty() && !known {
            out.push((kind, name.to_owned(), place));
        }
        Ok(())
    };
    let needs = service.get("depends_on");
    for (name, place) in names(service, "depends_on[]", share)?.all {
        add("services", &name, place)?;
    }
    for (key, _) in needs.node().map(Node::entries).unwrap_or_default() {
        let name = key.text().unwrap_or_default();
        if needs.get(name).get("required").boolean().get() != Some(&false) {
            add("services", name, key.span())?;
        }
    }
    for list in ["links", "volumes_from"] {
        for item in service.get(list).items().filter_map(View::traced) {
            let name = item.text().split(':').next().unwrap_or_default();
            if name != "container" {
                add("services", name, item.span(0..name.len()))?;
            }
        }
    }
    for mode in ["network_mode", "ipc", "pid"] {
        let Some(text) = service.get(mode).traced() else { continue };
        if let Some(name) = text.text().strip_prefix("service:") {
            add("services", name, text.span("service:".len()..text.text().len()))?;
        }
    }
    let base = service.get("extends");
    if !base.get("file").is_some() {
        let name = if base.get("service").is_some() { base.get("service") } else { base };
        if let Some(text) = name.traced() {
            add("services", text.text(), text.whole())?;
        }
    }
    for item in service.get("volumes").items() {
        let typed = item.get("type").string();
        if typed.get().is_some_and(|kind| kind == "volume") {
            let source = item.get("source").string();
            source.get().map_or(Ok(()), |name| add("volumes", name, source.span))?;
        } else if let Some((text, (name, _))) =
            item.traced().as_ref().and_then(|text| Some((text, text.text().split_once(':')?)))
        {
            // `.`, `/` and `~` start paths, and one letter is a drive.
            if name.len() > 1 && !name.starts_with(['.', '/', '~']) {
                add("volumes", name, text.span(0..name.len()))?;
            }
        }
    }
    for (path, kind) in
        [("networks[]", "networks"), ("networks.{key}", "networks"), ("secrets[]", "secrets"), ("configs[]", "configs")]
    {
        for (name, place) in names(service, path, share)?.all {
            add(kind, &name, place)?;
        }
    }
    for kind in ["secrets", "configs"] {
        for item in service.get(kind).items() {
            let source = item.get("source").string();
            source.get().map_or(Ok(()), |name| add(kind, name, source.span))?;
        }
    }
    Ok(out)
}
