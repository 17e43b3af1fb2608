//! Manifests that nothing deploys, where kustomizations list what stands beside them or Kustomizations of Flux lead there. Knows
//! where paths are written; reads no manifest.

use super::Repository;
use crate::discover::Kind;
use crate::parse::{Node, Tree};
use crate::paths;
use crate::source::SourceId;
use std::collections::{BTreeMap, BTreeSet};

/// Why findings in such a file are not told.
pub const REASON: &str = "not deployed: the kustomizations here lead to what stands beside it, and not to it";

/// Objects that others apply what they name by.
const STARTS: [&str; 2] = ["Application", "ApplicationSet"];

/// Files of manifests that nothing leads to. Where anything else names them, who applies them is not known.
pub fn files(here: &Repository<'_>) -> BTreeSet<SourceId> {
    let ways = Ways::of(here);
    let manifests = here.trees.iter().filter(|(_, tree)| holds_objects(tree)).map(|(id, _)| (*id, here.path(*id)));
    let left: Vec<(SourceId, Vec<&str>)> =
        manifests.map(|(id, path)| (id, ways.left_out(path))).filter(|(_, places)| !places.is_empty()).collect();
    if left.is_empty() {
        return BTreeSet::new();
    }
    let spoken = Spoken::of(here);
    let idle = |(_, places): &(SourceId, Vec<&str>)| places.iter().any(|place| !spoken.is_named(place));
    left.into_iter().filter(idle).map(|(id, _)| id).collect()
}

/// Whether every document of a file is an object, or a kustomization.
fn holds_objects(tree: &Tree) -> bool {
    let is_one = |root: Node<'_>| {
        let text = |key: &str| root.get(key).and_then(Node::text);
        text("apiVersion").is_some() && text("kind").is_some_and(|kind| !STARTS.contains(&kind))
            || root.get("resources").is_some()
    };
    !tree.documents.is_empty() && tree.roots().all(is_one)
}

/// What leads to manifests.
#[derive(Default)]
struct Ways<'r> {
    /// What each kustomization includes, by its directory.
    lists: BTreeMap<&'r str, BTreeSet<String>>,
    /// Everything that kustomizations name, with their directories.
    named: BTreeMap<String, BTreeSet<&'r str>>,
    /// Directories that Kustomizations of Flux lead to, with those that these stand in.
    flux: Vec<(String, &'r str)>,
    /// Directories that Kustomizations of Flux stand in.
    released: BTreeSet<&'r str>,
    /// Whether patterns or variables lead somewhere.
    open: bool,
}

impl<'r> Ways<'r> {
    fn of(here: &'r Repository<'_>) -> Self {
        let mut out = Self::default();
        let files = here.files.iter().map(|(id, _)| paths::directory(here.path(*id)));
        let directories: BTreeSet<&str> = files.flat_map(paths::above).collect();
        for (id, tree) in &here.trees {
            let path = here.path(*id);
            let directory = paths::directory(path);
            for root in tree.roots() {
                let text = |key: &str| root.get(key).and_then(Node::text);
                match (text("apiVersion"), text("kind")) {
                    (_, Some("ApplicationSet")) => out.open = true,
                    (Some(api), Some("Kustomization")) if api.starts_with("kustomize.toolkit.fluxcd.io/") => {
                        let to = root.path("spec.path").and_then(Node::text).unwrap_or_default();
                        out.open |= to.contains('$');
                        out.released.insert(directory);
                        // It is meant from the root of the repository, of which this may be a part.
                        let from = paths::above(directory).map(|root| paths::join(root, to));
                        let found = from.filter(|to| to.is_empty() || directories.contains(to.as_str())).last();
                        out.flux.extend(found.map(|to| (to, directory)));
                    }
                    _ if paths::is_kustomization(path) => out.kustomization(directory, (tree, root)),
                    _ => {}
                }
            }
        }
        out
    }

    fn kustomization(&mut self, directory: &'r str, (tree, root): (&Tree, Node<'_>)) {
        let path = |node: Node<'_>| {
            let text = node.text().filter(|text| !text.contains("://") && !text.contains('\n'))?;
            Some(paths::join(directory, text))
        };
        let keys = ["resources", "bases", "components"].into_iter().filter_map(|key| root.get(key));
        self.lists.entry(directory).or_default().extend(keys.flat_map(Node::items).filter_map(path));
        for name in tree.nodes().filter_map(path) {
            self.named.entry(name).or_default().insert(directory);
        }
    }

    /// What is left out of the file at a path and the directories that it stands in: something beside it is not.
    fn left_out<'p>(&self, path: &'p str) -> Vec<&'p str> {
        let directories = paths::above(paths::directory(path)).filter(|directory| directory.contains('/'));
        let mut out: Vec<&str> = directories.filter(|at| self.is_left_out(at, true)).collect();
        out.extend(Some(path).filter(|_| !paths::is_kustomization(path) && self.is_left_out(path, false)));
        out
    }

    fn is_left_out(&self, at: &str, is_directory: bool) -> bool {
        let parent = paths::directory(at);
        let beside = |other: &str| within(other, parent) && !within(other, at) && other != parent;
        let listed =
            |other: &String| beside(other) && is_directory != (is_file(other) && paths::directory(other) == parent);
        let is_listed = self.lists.get(parent).is_some_and(|list| list.iter().any(listed));
        // A Kustomization of Flux does nothing until something applies it.
        let waits = is_directory && {
            let mut from = self.released.range(at..).take_while(|directory| directory.starts_with(at));
            from.any(|directory| within(directory, at))
        };
        let is_listed = is_listed || waits && self.lists.contains_key(parent);
        // What leads there from within is applied by hand, or by what it leads to itself.
        let outside = |from: &str| !within(from, at);
        let leads = is_directory
            && self.flux.iter().any(|(to, from)| beside(to) && paths::directory(to) == parent && outside(from));
        (is_listed || leads && !self.open) && !self.is_named(at) && !self.is_reached(at) && !self.builds_on(at, parent)
    }

    /// Whether a kustomization elsewhere names it or something in it.
    fn is_named(&self, at: &str) -> bool {
        let inner = self.named.range(at.to_owned()..).take_while(|(name, _)| name.starts_with(at));
        inner.filter(|(name, _)| within(name, at)).any(|(_, by)| by.iter().any(|directory| !within(directory, at)))
    }

    /// Whether Flux applies something in it, or all that stands in a directory around it.
    fn is_reached(&self, at: &str) -> bool {
        let around = |to: &str| {
            let mut between = paths::above(paths::directory(at)).take_while(|directory| within(directory, to));
            within(at, to) && !between.any(|directory| self.lists.contains_key(directory))
        };
        self.flux.iter().any(|(to, from)| !within(from, at) && (within(to, at) || around(to)))
    }

    /// Whether a kustomization in it names what stands beside it: one of several forms of that, which may be applied instead.
    fn builds_on(&self, at: &str, parent: &str) -> bool {
        let beside = |name: &str| within(name, parent) && !within(name, at);
        self.named.iter().any(|(name, by)| beside(name) && by.iter().any(|directory| within(directory, at)))
    }
}

/// What other files say of paths.
struct Spoken<'r> {
    /// Names of files, and directories with the one around them, with the directories of the files that speak of them.
    paths: BTreeMap<String, BTreeSet<&'r str>>,
}

impl<'r> Spoken<'r> {
    fn of(here: &'r Repository<'_>) -> Self {
        let mut out: BTreeMap<String, BTreeSet<&'r str>> = BTreeMap::new();
        for (id, kind) in here.files.iter().filter(|(id, _)| !paths::is_kustomization(here.path(*id))) {
            let (path, text) = (here.path(*id), &here.sources.get(*id).text);
            let script = matches!(kind, Kind::Shell | Kind::Makefile | Kind::Text | Kind::Unit);
            for word in text.split(|c: char| !c.is_alphanumeric() && !"._-/".contains(c)) {
                if !script && !word.contains(['/', '.']) {
                    continue;
                }
                let parts: Vec<&str> = paths::parts(word).collect();
                let pairs = parts.windows(2).map(|pair| pair.join("/"));
                let last = parts.last().filter(|name| script || is_file(name)).map(|name| (*name).to_owned());
                for name in pairs.chain(last) {
                    out.entry(name).or_default().insert(paths::directory(path));
                }
            }
        }
        Self { paths: out }
    }

    /// Whether a file elsewhere names it: a script beside it by its name alone.
    fn is_named(&self, at: &str) -> bool {
        let (parent, name) = paths::split(at);
        let outside = |name: &str| self.paths.get(name).into_iter().flatten().filter(|from| !within(from, at));
        outside(&format!("{}/{name}", paths::name(parent))).next().is_some()
            || outside(name).any(|from| is_file(name) || within(parent, from))
    }
}

fn is_file(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end))
}

/// Whether a path is a directory or stands in it.
fn within(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
