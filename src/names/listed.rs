//! What kustomizations list: files and directories that are not there, and files that GPUs need and that they lead past. Knows
//! the listing of a repository and the keys of kustomizations that name files.

use super::Broken;
use super::absent::{is_closed, may_name};
use crate::catalog;
use crate::facts::{BreachClass, Listing};
use crate::known::Fact;
use crate::link::Variant;
use crate::parse::{Node, Tree};
use crate::paths;
use crate::source::{SourceId, Sources, Span};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// Texts that are kept out of repositories, by parts of their names.
const PRIVATE: [&str; 8] = ["secret", "cred", "token", "password", ".env", "sops", "cert", "key"];

/// The entries of kustomizations that lead to nothing in a repository that was walked as a whole; `all` are the files that were
/// read as trees.
pub fn missing(
    all: &BTreeMap<SourceId, Arc<Tree>>,
    files: &Sources,
    listing: Option<&Listing>,
) -> Vec<(Fact<String>, Broken)> {
    let Some(listing) = listing else { return Vec::new() };
    let spoken = OnceCell::new();
    let mut out = Vec::new();
    for (id, tree) in all {
        let path = files.get(*id).path.as_str();
        if !paths::is_kustomization(path) || !listing.there.contains(path) {
            continue;
        }
        let directory = paths::directory(path);
        for (entry, place, is_resource) in tree.roots().flat_map(entries) {
            let at = paths::join(directory, &entry);
            let absent = lacks(listing, &at, &entry, directory);
            let bare = is_resource && !absent && is_bare(listing, &at);
            if !(absent || bare)
                || PRIVATE.iter().any(|word| paths::name(&at).contains(word))
                || is_made(listing, (&at, bare), spoken.get_or_init(|| words(files)))
            {
                continue;
            }
            let says = match bare {
                true => format!("{entry} has no kustomization: this one is not applied"),
                false => format!(
                    "there is no {entry} in {}: this kustomization is not applied",
                    if directory.is_empty() { "this directory" } else { directory }
                ),
            };
            let meant = if absent {
                nearest(listing, &at).map(|name| paths::join(paths::directory(&entry), &name))
            } else {
                None
            };
            let class = Fact::value(BreachClass::EntryMissing, place);
            out.push((Fact::value(path.to_owned(), place), Broken { class, says, meant, instead: None }));
        }
    }
    out
}

/// The paths that a kustomization names, with whether each is a resource.
fn entries(root: Node<'_>) -> Vec<(String, Span, bool)> {
    let mut out = Vec::new();
    let mut add = |node: Node<'_>, is_resource: bool| {
        let text = node.text().unwrap_or_default();
        let elsewhere =
            text.contains("://") || text.contains("git@") || text.contains('?') || text.starts_with("github.com/");
        // operator-sdk makes the base of its bundle when it is asked for one.
        let elsewhere = elsewhere || text.ends_with(".clusterserviceversion.yaml");
        let is_path = text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c)) && !text.starts_with('/');
        if !text.is_empty() && !elsewhere && is_path && !is_host(text) {
            out.push((text.to_owned(), node.span(), is_resource));
        }
    };
    for key in ["resources", "bases", "components"] {
        root.get(key).into_iter().flat_map(Node::items).for_each(|node| add(node, true));
    }
    for key in ["crds", "configurations", "patchesStrategicMerge"] {
        root.get(key).into_iter().flat_map(Node::items).for_each(|node| add(node, false));
    }
    for key in ["patches", "patchesJson6902", "replacements"] {
        let items = root.get(key).into_iter().flat_map(Node::items);
        items.filter_map(|item| item.get("path")).for_each(|node| add(node, false));
    }
    out
}

/// Whether a path begins with a domain: `gitlab.com/group/project`.
fn is_host(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    path.contains('/')
        && !path.starts_with('.')
        && [".com", ".org", ".io", ".net", ".dev"].iter().any(|end| first.ends_with(end))
}

/// Whether nothing stands at a path of the repository that a directory is in, and nothing says that it may be made.
fn lacks(listing: &Listing, path: &str, entry: &str, from: &str) -> bool {
    let below = |path: &str, root: &str| {
        root.is_empty() && !path.starts_with(['/', '.'])
            || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
    };
    let Some(_) = listing.roots.iter().find(|root| (below(from, root) || from == root.as_str()) && below(path, root))
    else {
        return false;
    };
    let inner = format!("{path}/");
    let is_there = listing.there.contains(path)
        || listing.there.range(inner.clone()..).next().is_some_and(|one| one.starts_with(&inner));
    !is_there
        && !is_closed(listing, path)
        && !listing.ignored.iter().any(|line| paths::parts(entry).any(|part| may_name(line, part)))
}

/// Whether a path is a directory that holds files, and no kustomization.
fn is_bare(listing: &Listing, path: &str) -> bool {
    let inner = format!("{path}/");
    let mut below = listing.there.range(inner.clone()..).take_while(|one| one.starts_with(&inner)).peekable();
    below.peek().is_some()
        && !below.any(|one| paths::KUSTOMIZATIONS.contains(&&one[inner.len()..]))
        && !is_closed(listing, path)
        && !paths::KUSTOMIZATIONS.iter().any(|name| listing.closed.contains(&format!("{inner}{name}")))
}

/// The words of scripts and pages: of files that are no data.
fn words(files: &Sources) -> HashSet<&str> {
    let is_data = |path: &str| [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end));
    let texts = files.iter().map(|(_, source)| source).filter(|source| !is_data(&source.path));
    texts.flat_map(|source| source.text.split(|c: char| !c.is_alphanumeric() && !"._-".contains(c))).collect()
}

/// Whether a script or a page speaks of the file, or a template of it stands there.
fn is_made(listing: &Listing, (path, bare): (&str, bool), spoken: &HashSet<&str>) -> bool {
    let mut beside = listing.there.range(path.to_owned()..).take_while(|one| one.starts_with(path));
    !bare && beside.any(|one| one != path) || spoken.contains(paths::name(path))
}

/// The only thing beside a path whose name is nearly that.
fn nearest(listing: &Listing, path: &str) -> Option<String> {
    let directory = paths::directory(path);
    let beside = listing.there.iter().filter(|one| paths::directory(one) == directory).map(|one| paths::name(one));
    let beside: Vec<&str> = beside.filter(|name| !paths::KUSTOMIZATIONS.contains(name)).collect();
    let found = crate::suggest::nearest(paths::name(path), beside.iter().copied());
    found.or_else(|| beside.first().copied().filter(|_| beside.len() == 1)).map(str::to_owned)
}

/// Device plugins and rules for labels of nodes that nothing deploys, although what is deployed needs them and nothing else
/// brings them.
pub fn unlisted(
    all: &BTreeMap<SourceId, Arc<Tree>>,
    files: &Sources,
    idle: &BTreeSet<SourceId>,
    variants: &[Variant],
) -> Vec<(Fact<String>, Broken)> {
    let text = |id: &SourceId| -> &str { &files.get(*id).text };
    let in_use = || all.iter().filter(|(id, _)| !idle.contains(id));
    let mut out: BTreeMap<(Span, String), (Fact<String>, Broken)> = BTreeMap::new();
    for id in idle {
        let Some(tree) = all.get(id) else { continue };
        let needed = match plugin(text(id)) {
            Some(domain) => asking(variants, domain, idle).filter(|_| {
                let machines = variants.iter().any(|variant| !variant.facts.pools.is_empty());
                !machines && !in_use().any(|(id, _)| plugin(text(id)) == Some(domain))
            }),
            None => tree.roots().find_map(labels).and_then(|labels| {
                let selects = |label: &String| {
                    let users: Vec<_> = in_use().filter(|(id, _)| says(text(id), label)).collect();
                    let only = users.iter().all(|(id, tree)| selected(tree, label) >= count(text(id), label));
                    users
                        .first()
                        .filter(|_| only)
                        .map(|(id, _)| (format!("its nodeSelector asks for {label}"), Span::new(**id, 0..0)))
                };
                labels.iter().find_map(selects)
            }),
        };
        let Some((needs, user)) = needed else { continue };
        let path = files.get(*id).path.as_str();
        let found = paths::above(paths::directory(path)).find_map(|at| {
            let names = paths::KUSTOMIZATIONS.map(|name| paths::join(at, name));
            let (list, tree) = in_use().find(|(id, _)| names.contains(&files.get(**id).path))?;
            let resources = tree.roots().find_map(|root| root.get("resources"))?;
            Some((at, list, resources.items().last()?.span()))
        });
        let Some((at, list, place)) = found else { continue };
        let child = path[at.len()..].trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        // Whoever put a comment around it did not forget it.
        if text(list).lines().any(|line| line.trim_start().starts_with('#') && line.contains(child.as_str())) {
            continue;
        }
        let user = files.get(user.source).path.as_str();
        let says = format!("{child} is listed nowhere, so it is not deployed: {user} needs it, {needs}");
        let broken = Broken { class: Fact::value(BreachClass::NotListed, place), says, meant: None, instead: None };
        let of = Fact::value(files.get(*list).path.clone(), place);
        out.entry((place, child)).or_insert((of, broken));
    }
    out.into_values().collect()
}

/// The lines of a text that are no comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with('#'))
}

/// The domain of what the device plugin offers that a file installs.
fn plugin(text: &str) -> Option<&'static str> {
    text.contains("apiVersion:").then(|| lines(text).find_map(catalog::device_plugin)).flatten()
}

/// What is deployed and asks for something of a domain, with where it stands.
fn asking(variants: &[Variant], domain: &str, idle: &BTreeSet<SourceId>) -> Option<(String, Span)> {
    let workloads = variants.iter().flat_map(|variant| &variant.facts.workloads);
    let containers = workloads.filter(|one| !idle.contains(&one.span.source)).flat_map(|one| {
        one.pods.iter().flat_map(move |pod| pod.containers.iter().map(move |container| (one, container)))
    });
    let mut asks = containers.filter_map(|(workload, container)| {
        let resource = container.gpu_resource.get().filter(|resource| resource.starts_with(domain))?;
        container.gpus.get().filter(|gpus| **gpus > 0).map(|_| (format!("it asks for {resource}"), workload.span))
    });
    asks.next()
}

/// The labels of accelerators that a rule of Node Feature Discovery sets.
fn labels(root: Node<'_>) -> Option<Vec<String>> {
    let is_one = root.get("kind").and_then(Node::text) == Some("NodeFeatureRule");
    let rules = root.path("spec.rules").filter(|_| is_one)?;
    let set = rules.items().filter_map(|rule| rule.get("labels")).flat_map(Node::entries);
    let names = set
        .filter_map(|(key, _)| key.text())
        .filter(|name| ["nvidia", "amd", "gpu", "intel"].iter().any(|word| name.contains(word)));
    Some(names.map(str::to_owned).collect())
}

fn says(text: &str, label: &str) -> bool {
    text.contains(label) && count(text, label) > 0
}

fn count(text: &str, label: &str) -> usize {
    lines(text).filter(|line| line.contains(label)).count()
}

/// How often nodes are selected by a label.
fn selected(tree: &Tree, label: &str) -> usize {
    let entries = tree.nodes().flat_map(Node::entries);
    let selects = |(key, value): &(Node<'_>, Node<'_>)| match key.text() {
        Some("nodeSelector") => value.get(label).is_some(),
        Some("key") => value.text() == Some(label),
        _ => false,
    };
    entries.filter(selects).count()
}
