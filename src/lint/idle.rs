//! Manifests that nothing deploys, where kustomizations list what stands beside them or Kustomizations of Flux lead there. Knows
//! where paths are written; reads no manifest.

use super::Repository;
use crate::discover::Kind;
use crate::parse::{Node, Tree};
use crate::paths;
use crate::source::SourceId;
use std::collections::{BTreeMap, BTreeSet};

/// Why findings in such a file are not told.
const LEFT_OUT: &str = "not deployed: the kustomizations here lead to what stands beside it, and not to it";

/// Why findings in a form are not told.
const FORM: &str = "not deployed: a form, in which a name is to be filled in";

/// A longer word is no path that anybody writes, in bytes.
const LONGEST: usize = 512;

/// Objects that others apply what they name by.
const STARTS: [&str; 2] = ["Application", "ApplicationSet"];

/// Files of manifests that nobody deploys, with the reason.
pub fn files(here: &Repository<'_>) -> BTreeMap<SourceId, &'static str> {
    let forms = here.trees.iter().filter(|(_, tree)| is_form(tree)).map(|(id, _)| (*id, FORM));
    left_out(here).into_iter().map(|id| (id, LEFT_OUT)).chain(forms).collect()
}

/// Whether an object in it is called `<name>` or the like, which no API server takes.
fn is_form(tree: &Tree) -> bool {
    let blank = |text: &str| text.find('<').is_some_and(|at| text[at..].contains('>'));
    let objects = tree.roots().filter(|root| root.get("apiVersion").is_some());
    let mut names = objects.filter_map(|object| object.path("metadata.name")?.text());
    names.any(blank)
}

/// Files of manifests that nothing leads to. Where anything else names them, who applies them is not known.
fn left_out(here: &Repository<'_>) -> BTreeSet<SourceId> {
    let ways = Ways::of(here);
    let manifests = here.trees.iter().filter(|(_, tree)| holds_objects(tree)).map(|(id, _)| (*id, here.path(*id)));
    let left: Vec<(SourceId, Vec<&str>)> =
        manifests.map(|(id, path)| (id, ways.left_out(path))).filter(|(_, places)| !places.is_empty()).collect();
    if left.is_empty() {
        return BTreeSet::new();
    }
    let places = left.iter().flat_map(|(_, places)| places.iter().copied()).collect();
    let spoken = Spoken::of(here, &places);
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
    /// Directories below which patterns or variables lead somewhere.
    open: BTreeSet<String>,
    /// Files and directories that are there.
    there: BTreeSet<&'r str>,
}

impl<'r> Ways<'r> {
    fn of(here: &'r Repository<'_>) -> Self {
        let files = || here.files.iter().map(|(id, _)| here.path(*id));
        let directories: BTreeSet<&str> = files().flat_map(|path| paths::above(paths::directory(path))).collect();
        let mut out = Self { there: directories.iter().copied().chain(files()).collect(), ..Self::default() };
        for (id, tree) in &here.trees {
            let path = here.path(*id);
            let directory = paths::directory(path);
            for root in tree.roots() {
                let text = |key: &str| root.get(key).and_then(Node::text);
                // It is meant from the root of the repository, of which this may be a part.
                let found = |to: &str| {
                    let from = paths::above(directory).map(|root| paths::join(root, to));
                    from.filter(|to| to.is_empty() || directories.contains(to.as_str())).last()
                };
                match (text("apiVersion"), text("kind")) {
                    (_, Some("ApplicationSet")) => out.open.extend(known_parts(root).iter().filter_map(|to| found(to))),
                    (Some(api), Some("Kustomization")) if api.starts_with("kustomize.toolkit.fluxcd.io/") => {
                        let to = root.path("spec.path").and_then(Node::text).unwrap_or_default();
                        out.released.insert(directory);
                        match known_part(to) {
                            Some(known) => out.open.extend(found(known)),
                            None => out.flux.extend(found(to).map(|to| (to, directory))),
                        }
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
        let open = |at: &str| self.open.iter().any(|open| within(at, open) || within(open, at));
        (is_listed || leads && !open(at)) && !self.is_named(at) && !self.is_reached(at) && !self.builds_on(at, parent)
    }

    /// Whether a path leads to a file or a directory.
    fn stands(&self, path: &str) -> bool {
        self.there.contains(path)
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

    /// Whether it is built from what stands beside it: one of several forms of that, which may be applied instead.
    fn builds_on(&self, at: &str, parent: &str) -> bool {
        let beside = |name: &str| within(name, parent) && !within(name, at) && self.stands(name);
        self.named.iter().any(|(name, by)| beside(name) && by.iter().any(|directory| within(directory, at)))
    }
}

/// The directory up to where a pattern or a variable begins in a path.
fn known_part(path: &str) -> Option<&str> {
    path.find(['$', '{', '*', '?', '[']).map(|at| paths::directory(&path[..at]))
}

/// The directories below which an ApplicationSet looks for what it deploys. A path that a generator gives is below its own.
fn known_parts(set: Node<'_>) -> BTreeSet<&str> {
    fn listed<'t>(node: Node<'t>, path: &str) -> Vec<Node<'t>> {
        node.path(path).into_iter().flat_map(Node::items).collect()
    }
    let outer = listed(set, "spec.generators");
    let inner = outer.iter().flat_map(|one| [listed(*one, "matrix.generators"), listed(*one, "merge.generators")]);
    let generators: Vec<Node<'_>> = inner.flatten().chain(outer.iter().copied()).collect();
    let given = generators.iter().flat_map(|one| [listed(*one, "git.directories"), listed(*one, "git.files")]);
    let sources = listed(set, "spec.template.spec.sources").into_iter().chain(set.path("spec.template.spec.source"));
    let written = given.flatten().chain(sources).filter_map(|node| node.get("path")?.text());
    let (given, known): (Vec<&str>, Vec<&str>) = written.partition(|path| path.starts_with("{{"));
    let known: BTreeSet<&str> = known.into_iter().map(|path| known_part(path).unwrap_or(path)).collect();
    if known.is_empty() && !given.is_empty() { BTreeSet::from([""]) } else { known }
}

/// What other files say of some paths.
#[derive(Default)]
struct Spoken<'r> {
    /// Directories of files that name a path: from where they stand, or from above.
    by: BTreeMap<String, BTreeSet<&'r str>>,
    /// Directories of files that name what ends so.
    ends: BTreeMap<String, BTreeSet<&'r str>>,
    /// How many paths of the repository end so.
    count: BTreeMap<&'r str, usize>,
}

impl<'r> Spoken<'r> {
    /// Looks for what may name one of some paths.
    fn of(here: &'r Repository<'_>, asked: &BTreeSet<&str>) -> Self {
        let mut out = Self::default();
        let names: BTreeSet<&str> = asked.iter().map(|path| paths::name(path)).collect();
        let files = || here.files.iter().map(|(id, kind)| (here.path(*id), kind, &here.sources.get(*id).text));
        let all: BTreeSet<&str> = files().flat_map(|(path, ..)| paths::above(path)).collect();
        for path in all.into_iter().filter(|path| names.contains(paths::name(path))) {
            ends(path).for_each(|end| *out.count.entry(end).or_default() += 1);
        }
        for (path, kind, text) in files().filter(|(path, ..)| !paths::is_kustomization(path)) {
            let script = matches!(kind, Kind::Shell | Kind::Makefile | Kind::Text | Kind::Unit);
            let from = paths::directory(path);
            for word in text.split(|c: char| !c.is_alphanumeric() && !"._-/".contains(c)) {
                if !script && !word.contains(['/', '.']) {
                    continue;
                }
                // What names something in a directory names the directory, too.
                // A host stands behind `//`.
                let path = |word: &&str| word.len() <= LONGEST && !word.starts_with("//");
                let word = Some(word.trim_end_matches('/')).filter(path).unwrap_or_default();
                for named in paths::above(word).filter(|path| names.contains(paths::name(path))) {
                    let whole = paths::above(from).map(|above| paths::join(above, named));
                    for path in whole.filter(|path| asked.contains(path.as_str())) {
                        out.by.entry(path).or_default().insert(from);
                    }
                    let end = paths::join("", named);
                    if is_file(&end) || end.contains('/') {
                        out.ends.entry(end).or_default().insert(from);
                    }
                }
            }
        }
        out
    }

    /// Whether a file elsewhere names it: by its path, or by an end of it that nothing else has.
    fn is_named(&self, at: &str) -> bool {
        let outside = |from: Option<&BTreeSet<&str>>| from.into_iter().flatten().any(|from| !within(from, at));
        outside(self.by.get(at))
            || ends(at).any(|end| self.count.get(end).is_none_or(|count| *count == 1) && outside(self.ends.get(end)))
    }
}

/// A path without more and more of the directories that it begins with.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.split_once('/').map(|(_, rest)| rest))
}

fn is_file(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end))
}

/// Whether a path is a directory or stands in it.
fn within(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
