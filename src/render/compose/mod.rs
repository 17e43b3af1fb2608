//! Compose projects put together: variables replaced by what `.env` and their defaults say, services filled up from
//! what they extend, the file that overrides and the files that are included. Knows Compose's syntax of variables and rules of merging; knows no services.

mod variables;

pub use variables::variables;

use super::kustomize::doc::{self, Doc, Value};
use super::kustomize::{File, join};
use crate::budget::{NODE, STEP, Share, Spent};
use crate::known::Why;
use crate::parse::{Node, Tree};
use crate::paths;
use crate::source::{SourceId, Span};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Longest chain of services that extend each other.
const MAX_DEPTH: usize = 16;

/// What a project is made of.
const KINDS: [&str; 5] = ["services", "volumes", "networks", "secrets", "configs"];

/// Lists that a service states as a whole.
const WHOLE: &[&str] = &["command", "entrypoint", "test"];

/// Mappings that may be written as lists of `NAME=value`.
const NAMED: &[&str] = &["environment", "labels", "args"];

/// Takes a value out of what it is laid over.
const RESET: Option<&str> = Some("!reset");
/// Puts a value in the place of what it is laid over, whatever would be merged.
const OVERRIDE: Option<&str> = Some("!override");

/// Files by their paths.
pub type Files<'a> = BTreeMap<&'a str, File<'a>>;

/// Names that the tool looks for when it is given none, and those of files that it lays over them; the first is taken.
const DEFAULTS: [&str; 4] = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];
const OVERRIDES: [&str; 4] =
    ["compose.override.yml", "compose.override.yaml", "docker-compose.override.yml", "docker-compose.override.yaml"];

/// A project that was put together.
#[derive(Debug)]
pub struct Project {
    /// What it states.
    pub tree: Tree,
    /// The other files that it is made of.
    pub parts: Vec<SourceId>,
    /// What of its file the file that overrides it says otherwise.
    pub replaced: Vec<Span>,
}

/// The project that a document of the file at `path` states; `None` when it can be read as it is. What it extends and
/// is not at hand stays under `extends`.
///
/// # Errors
/// It is too large once it is put together.
pub fn project(files: &Files<'_>, path: &str, root: Node<'_>, share: &Share) -> Result<Option<Project>, Spent> {
    let mut reader = Reader { files, share, read: BTreeMap::new(), variables: BTreeMap::new() };
    let project = reader.project(path, root);
    match share.spent() {
        Some(spent) => Err(spent),
        None => Ok(project),
    }
}

/// Puts one project together. What is spent ends each step, and is told at the end.
struct Reader<'r, 'a> {
    files: &'r Files<'a>,
    share: &'r Share,
    /// First documents of files.
    read: BTreeMap<String, Doc>,
    /// Files of variables.
    variables: BTreeMap<String, Vec<(Doc, Doc)>>,
}

impl Reader<'_, '_> {
    fn project(&mut self, path: &str, root: Node<'_>) -> Option<Project> {
        let files = self.files;
        let file = files.get(path)?;
        let over = overriding(files, path);
        if over.is_none()
            && !["$", "extends", "env_file", "include", "!reset", "!override"]
                .iter()
                .any(|sign| file.text.contains(sign))
        {
            return None;
        }
        self.read.insert(path.to_owned(), Doc::read(root, self.share).ok()?);
        let mut project = self.loaded(path)?;
        let (mut parts, mut replaced) = (vec![], vec![]);
        if let Some(over) = over
            .filter(|path| files.get(path).is_some_and(|file| file.tree.is_some_and(|t| t.roots().next().is_some())))
        {
            project = merged(project, self.loaded(over)?, "", self.share);
            let above = files.get(over).and_then(|file| file.tree?.roots().next());
            above.into_iter().for_each(|above| said_otherwise((root, above), MAX_DEPTH, self.share, &mut replaced));
            parts.extend(files.get(over).map(|file| file.source));
        }
        self.include(path, &mut project, (&mut parts, MAX_DEPTH));
        if holds(&project, &|doc| doc.tag.as_deref() == RESET, self.share) {
            settle(&mut project, self.share);
        }
        Some(Project { tree: doc::tree(file.source, [project], self.share).ok()?, parts, replaced })
    }

    /// The first document of a file.
    fn document(&mut self, path: &str) -> Option<Doc> {
        if let Some(read) = self.read.get(path) {
            return Some(read.clone());
        }
        let root = self.files.get(path)?.tree?.roots().next()?;
        let read = Doc::read(root, self.share).ok()?;
        self.read.insert(path.to_owned(), read.clone());
        Some(read)
    }

    /// Adds the services of files that a project includes, each read where it stands.
    fn include(&mut self, path: &str, project: &mut Doc, (parts, depth): (&mut Vec<SourceId>, usize)) {
        let directory = paths::directory(path);
        let (Some(list), Some(depth)) = (project.remove("include"), depth.checked_sub(1)) else { return };
        for item in list.items() {
            let one = item.get("path").unwrap_or(item);
            let layers = if one.items().is_empty() { std::slice::from_ref(one) } else { one.items() };
            let mut included: Option<Doc> = None;
            for path in layers.iter().filter_map(Doc::text).filter_map(|path| join(directory, path)) {
                let Some(mut layer) = self.loaded(&path) else {
                    self.leave_open(project, item.span, &path);
                    continue;
                };
                parts.extend(self.files.get(path.as_str()).map(|file| file.source));
                self.include(&path, &mut layer, (parts, depth));
                included = Some(match included {
                    Some(below) => merged(below, layer, "", self.share),
                    None => layer,
                });
            }
            for kind in KINDS {
                let all = included.as_mut().and_then(|doc| doc.remove(kind)).filter(|all| !all.entries().is_empty());
                let (Some(all), Some(own)) = (all, project.entry(kind, item.span)) else { continue };
                let size = all.entries().len() + own.entries().len();
                if self.share.make(size * NODE).is_err() {
                    return;
                }
                let names: HashSet<String> =
                    own.entries().iter().filter_map(|(key, _)| key.text().map(str::to_owned)).collect();
                let new = |(name, _): &&(Doc, Doc)| name.text().is_some_and(|name| !names.contains(name));
                own.extend(all.entries().iter().filter(new).cloned());
            }
        }
    }

    /// Lets a project have more than is written, as it includes what is not at hand.
    fn leave_open(&self, project: &mut Doc, place: Span, path: &str) {
        let why = Why::NotStated(format!("what {path} holds").into());
        for kind in KINDS {
            let Some(own) = project.entry(kind, place) else { continue };
            if own.is_null() {
                *own = Doc::map(place);
            }
            own.set(Doc::string("<<", place), Doc { value: Value::Unknown(why.clone()), ..Doc::null(place) });
        }
    }

    /// A file of a project: its services filled up, its variables replaced.
    fn loaded(&mut self, path: &str) -> Option<Doc> {
        let directory = paths::directory(path);
        let mut project = self.document(path)?;
        self.share.work(STEP).ok()?;
        if let Some(services) = project.get_mut("services") {
            let original = services.clone();
            services.open(self.share).ok()?;
            if let Value::Map(entries) = &mut services.value {
                for (_, service) in entries.iter_mut() {
                    *service = self.extended(directory, &original, service.clone(), MAX_DEPTH);
                    self.environment(directory, service);
                }
            }
        }
        if holds(&project, &|doc| doc.text().is_some_and(|text| text.contains('$')), self.share) {
            let dotenv = join(directory, ".env").and_then(|path| self.files.get(path.as_str()));
            let known = dotenv.map(|file| variables(file.source, file.text)).unwrap_or_default();
            variables::interpolate(&mut project, &known, self.share);
        }
        Some(project)
    }

    /// A service with what it extends.
    fn extended(&mut self, directory: &str, services: &Doc, mut service: Doc, depth: usize) -> Doc {
        let Some(name) = service.text_at(&["extends", "service"]).or(service.text_at(&["extends"])) else {
            return service;
        };
        let (Some(depth), name) = (depth.checked_sub(1), name.to_owned()) else { return service };
        if services.open(self.share).is_err() {
            return service;
        }
        let base = match service.text_at(&["extends", "file"]) {
            None => services.get(&name).cloned().map(|base| self.extended(directory, services, base, depth)),
            Some(file) => join(directory, file).and_then(|path| {
                let services = self.document(&path)?.get("services")?.clone();
                services.open(self.share).ok()?;
                let base = services.get(&name)?.clone();
                Some(self.extended(paths::directory(&path), &services, base, depth))
            }),
        };
        match base {
            Some(base) => {
                service.remove("extends");
                merged(base, service, "", self.share)
            }
            None => service,
        }
    }

    /// Adds the variables of files to those that the service states, which win.
    fn environment(&mut self, directory: &str, service: &mut Doc) {
        let Some(list) = service.get("env_file").cloned() else { return };
        let one = [list.clone()];
        let paths = if list.items().is_empty() { one.as_slice() } else { list.items() };
        let mut all = Doc::map(list.span);
        for path in paths.iter().filter_map(|path| path.text().or(path.text_at(&["path"]))) {
            let found = join(directory, path).filter(|path| self.files.contains_key(path.as_str()));
            let Some(found) = found else {
                // What is kept out of the repository may set anything.
                let why = Why::NotStated(format!("what {path} sets").into());
                all.set(Doc::string("<<", list.span), Doc { value: Value::Unknown(why), ..Doc::null(list.span) });
                continue;
            };
            let share = self.share;
            let pairs = self.pairs(&found);
            if share.make(NODE * pairs.len()).is_ok() {
                all.extend(pairs.iter().cloned());
            }
        }
        let Some(stated) = service.entry("environment", list.span) else { return };
        name(stated, self.share);
        if stated.is_null() || matches!(stated.value, Value::Map(_)) {
            all.extend(stated.entries().iter().cloned());
            *stated = all;
        }
    }

    /// What a file of variables says.
    fn pairs(&mut self, path: &str) -> &[(Doc, Doc)] {
        if !self.variables.contains_key(path) {
            let file = self.files.get(path).filter(|file| self.share.make(8 * file.text.len()).is_ok());
            let pairs = file.map(|file| variables(file.source, file.text)).into_iter().flatten();
            let pairs = pairs.map(|(key, value)| (Doc::string(key, value.whole()), Doc::traced(value))).collect();
            self.variables.insert(path.to_owned(), pairs);
        }
        &self.variables[path]
    }
}

/// The file that the tool lays over this one without being told.
fn overriding<'f>(files: &Files<'f>, path: &str) -> Option<&'f str> {
    let (directory, name) = paths::split(path);
    let beside = |name: &&str| {
        let path = join(directory, name)?;
        files.get_key_value(path.as_str()).map(|(path, _)| *path)
    };
    let default = DEFAULTS.iter().find(|default| beside(default).is_some())?;
    OVERRIDES.iter().find_map(beside).filter(|_| *default == name)
}

/// Whether any node is such a one.
fn holds(doc: &Doc, is: &dyn Fn(&Doc) -> bool, share: &Share) -> bool {
    share.work(STEP + doc.text().map_or(0, str::len)).is_ok()
        && (is(doc)
            || doc.items().iter().any(|item| holds(item, is, share))
            || doc.entries().iter().any(|(_, value)| holds(value, is, share)))
}

/// What of a document another one over it says otherwise: values, and lists that are stated as a whole.
fn said_otherwise((below, above): (Node<'_>, Node<'_>), depth: usize, share: &Share, out: &mut Vec<Span>) {
    let Some(depth) = depth.checked_sub(1).filter(|_| share.work(above.width() * NODE).is_ok()) else { return };
    for (key, over) in above.entries() {
        let Some((key, old)) = key.text().and_then(|key| Some((key, below.get(key)?))) else { continue };
        match (old.is_map() && over.is_map(), old.is_seq() && over.is_seq() && !WHOLE.contains(&key)) {
            (true, _) => said_otherwise((old, over), depth, share, out),
            (_, true) => {}
            _ => out.push(old.span()),
        }
    }
}

/// What a service states over what it extends.
fn merged(mut base: Doc, mut own: Doc, key: &str, share: &Share) -> Doc {
    if NAMED.contains(&key) {
        name(&mut base, share);
        name(&mut own, share);
    }
    // All of the result is new, but not what is in it.
    let size = base.entries().len() + base.items().len() + own.entries().len() + own.items().len();
    if share.work(STEP).and_then(|()| share.make(size * NODE)).is_err() {
        return base;
    }
    match (&mut base.value, own.value) {
        (Value::Map(olds), Value::Map(entries)) => {
            let named = |(key, value): &(Doc, Doc)| (key.text().unwrap_or_default().to_owned(), value.clone());
            let mut before: HashMap<String, Doc> = olds.iter().map(named).collect();
            let mut out: Vec<(Doc, Doc)> = Vec::new();
            for (key, value) in entries.own() {
                let name = key.text().unwrap_or_default().to_owned();
                let value = match before.remove(&name) {
                    _ if value.tag.as_deref() == RESET => continue,
                    Some(old) if value.tag.as_deref() != OVERRIDE => merged(old, value, &name, share),
                    _ => value,
                };
                out.push((key, value));
            }
            olds.retain(|(key, _)| before.contains_key(key.text().unwrap_or_default()));
            base.extend(out);
            Doc { span: own.span, ..base }
        }
        (Value::Seq(items), Value::Seq(more)) if !WHOLE.contains(&key) => {
            if key == "volumes" {
                let targets: HashSet<&str> = more.iter().filter_map(target).collect();
                items.retain(|item| target(item).is_none_or(|path| !targets.contains(path)));
            }
            items.extend(more.own());
            base
        }
        (_, value) => Doc { value, ..own },
    }
}

/// Where a volume is mounted.
fn target(volume: &Doc) -> Option<&str> {
    volume.text_at(&["target"]).or_else(|| volume.text()?.split(':').nth(1))
}

/// A list of `NAME=value` as the mapping that it stands for; a name alone takes its value from where the tool runs.
fn name(doc: &mut Doc, share: &Share) {
    let Value::Seq(items) = &doc.value else { return };
    if share.make(2 * NODE * items.len()).is_err() {
        return;
    }
    let mut out = Doc { tag: doc.tag.clone(), ..Doc::map(doc.span) };
    let pair = |item: &Doc| {
        let Value::Scalar { text, .. } = &item.value else { return None };
        let (name, value) = text.text().split_once('=').map_or((text.text(), None), |(n, v)| (n, Some(v)));
        let value = match value {
            Some("") => Doc::string("", item.span),
            Some(_) => Doc::traced(text.slice(name.len() + 1..text.text().len())),
            None => Doc { value: Value::Unknown(Why::Variable(name.into())), ..Doc::null(item.span) },
        };
        Some((Doc::traced(text.slice(0..name.len())), value))
    };
    out.extend(items.iter().filter_map(pair));
    *doc = out;
}

/// Takes out what is reset without standing over anything.
fn settle(doc: &mut Doc, share: &Share) {
    if doc.open(share).is_err() {
        return;
    }
    match &mut doc.value {
        Value::Map(entries) => {
            entries.retain(|(_, value)| value.tag.as_deref() != RESET);
            entries.iter_mut().for_each(|(_, value)| settle(value, share));
        }
        Value::Seq(items) => items.iter_mut().for_each(|item| settle(item, share)),
        _ => {}
    }
}

/// Whether the tool reads a file of this name without being told.
pub fn is_default(name: &str) -> bool {
    DEFAULTS.contains(&name) || OVERRIDES.contains(&name)
}

#[cfg(test)]
mod tests;
