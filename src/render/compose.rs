//! Compose projects put together: variables replaced by what `.env` and their defaults say, services filled up from
//! what they extend, the file that overrides and the files that are included. Knows Compose's syntax of variables and rules of merging; knows no services.

use super::kustomize::doc::{self, Doc, Value};
use super::kustomize::{File, join};
use crate::known::Why;
use crate::parse::{Node, Tree};
use crate::paths;
use crate::source::{SourceId, Span, Tile, Traced};
use std::collections::BTreeMap;

/// Longest chain of services that extend each other, and deepest nesting of defaults.
const MAX_DEPTH: usize = 16;

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
}

/// The project that a document of the file at `path` states; `None` when it can be read as it is. What it extends and
/// is not at hand stays under `extends`.
pub fn project(files: &Files<'_>, path: &str, root: Node<'_>) -> Option<Project> {
    let file = files.get(path)?;
    let over = overriding(files, path);
    if over.is_none()
        && !["$", "extends", "env_file", "include", "!reset", "!override"].iter().any(|sign| file.text.contains(sign))
    {
        return None;
    }
    let mut project = loaded(files, path, root)?;
    let mut parts = vec![];
    if let Some((over, root)) = over.and_then(|path| Some((path, files.get(path)?.tree?.roots().next()?))) {
        project = merged(project, loaded(files, over, root)?, "");
        parts.extend(files.get(over).map(|file| file.source));
    }
    include(files, path, &mut project, (&mut parts, MAX_DEPTH));
    settle(&mut project);
    Some(Project { tree: doc::tree(file.source, [project]), parts })
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

/// Adds the services of files that a project includes, each read where it stands.
fn include(files: &Files<'_>, path: &str, project: &mut Doc, (parts, depth): (&mut Vec<SourceId>, usize)) {
    let directory = paths::directory(path);
    let (Some(list), Some(depth)) = (project.remove("include"), depth.checked_sub(1)) else { return };
    for item in list.items() {
        let one = item.get("path").unwrap_or(item);
        let layers = if one.items().is_empty() { std::slice::from_ref(one) } else { one.items() };
        let mut included: Option<Doc> = None;
        for path in layers.iter().filter_map(Doc::text).filter_map(|path| join(directory, path)) {
            let Some(file) = files.get(path.as_str()) else { continue };
            let root = file.tree.and_then(|tree| tree.roots().next());
            let Some(mut layer) = root.and_then(|root| loaded(files, &path, root)) else { continue };
            parts.push(file.source);
            include(files, &path, &mut layer, (parts, depth));
            included = Some(match included {
                Some(below) => merged(below, layer, ""),
                None => layer,
            });
        }
        let services = included.as_mut().and_then(|doc| doc.remove("services"));
        let (Some(services), Some(own)) = (services, project.entry("services", item.span)) else { continue };
        for (name, service) in services.entries() {
            if name.text().is_some_and(|name| own.get(name).is_none()) {
                own.set(name.clone(), service.clone());
            }
        }
    }
}

/// A file of a project: its services filled up, its variables replaced.
fn loaded(files: &Files<'_>, path: &str, root: Node<'_>) -> Option<Doc> {
    let directory = paths::directory(path);
    let mut project = Doc::read(root)?;
    if let Some(services) = project.get_mut("services") {
        let original = services.clone();
        if let Value::Map(entries) = &mut services.value {
            for (_, service) in entries {
                *service = extended(files, directory, &original, service.clone(), MAX_DEPTH);
                environment(files, directory, service);
            }
        }
    }
    let dotenv = join(directory, ".env").and_then(|path| files.get(path.as_str()));
    interpolate(&mut project, &dotenv.map(|file| variables(file.source, file.text)).unwrap_or_default());
    Some(project)
}

/// A service with what it extends.
fn extended(files: &Files<'_>, directory: &str, services: &Doc, mut service: Doc, depth: usize) -> Doc {
    let Some(name) = service.text_at(&["extends", "service"]).or(service.text_at(&["extends"])) else { return service };
    let (Some(depth), name) = (depth.checked_sub(1), name.to_owned()) else { return service };
    let base = match service.text_at(&["extends", "file"]) {
        None => services.get(&name).map(|base| extended(files, directory, services, base.clone(), depth)),
        Some(file) => join(directory, file).and_then(|path| {
            let root = files.get(path.as_str())?.tree?.roots().next()?;
            let services = Doc::read(root.get("services")?)?;
            let directory = paths::directory(&path);
            Some(extended(files, directory, &services, services.get(&name)?.clone(), depth))
        }),
    };
    match base {
        Some(base) => {
            service.remove("extends");
            merged(base, service, "")
        }
        None => service,
    }
}

/// Adds the variables of files to those that the service states, which win.
fn environment(files: &Files<'_>, directory: &str, service: &mut Doc) {
    let Some(list) = service.get("env_file").cloned() else { return };
    let one = [list.clone()];
    let paths = if list.items().is_empty() { one.as_slice() } else { list.items() };
    let mut all = Doc::map(list.span);
    for path in paths.iter().filter_map(|path| path.text().or(path.text_at(&["path"]))) {
        let found = join(directory, path).and_then(|path| files.get(path.as_str()));
        if found.is_none() {
            // What is kept out of the repository may set anything.
            let why = Why::NotStated(format!("what {path} sets").into());
            all.set(Doc::string("<<", list.span), Doc { value: Value::Unknown(why), ..Doc::null(list.span) });
        }
        for (key, value) in found.map(|file| variables(file.source, file.text)).into_iter().flatten() {
            all.set(Doc::string(key, value.whole()), Doc::traced(value));
        }
    }
    let Some(stated) = service.entry("environment", list.span) else { return };
    name(stated);
    if stated.is_null() || matches!(stated.value, Value::Map(_)) {
        stated.entries().iter().for_each(|(key, value)| all.set(key.clone(), value.clone()));
        *stated = all;
    }
}

/// What a service states over what it extends.
fn merged(mut base: Doc, mut own: Doc, key: &str) -> Doc {
    if NAMED.contains(&key) {
        name(&mut base);
        name(&mut own);
    }
    match (&mut base.value, own.value) {
        (Value::Map(_), Value::Map(entries)) => {
            for (key, value) in entries {
                let name = key.text().unwrap_or_default().to_owned();
                let value = match base.remove(&name) {
                    _ if value.tag.as_deref() == RESET => continue,
                    Some(old) if value.tag.as_deref() != OVERRIDE => merged(old, value, &name),
                    _ => value,
                };
                base.set(key, value);
            }
            Doc { span: own.span, ..base }
        }
        (Value::Seq(items), Value::Seq(more)) if !WHOLE.contains(&key) => {
            if key == "volumes" {
                items.retain(|item| target(item).is_none_or(|path| more.iter().all(|own| target(own) != Some(path))));
            }
            items.extend(more);
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
fn name(doc: &mut Doc) {
    let Value::Seq(items) = &doc.value else { return };
    let mut out = Doc { tag: doc.tag.clone(), ..Doc::map(doc.span) };
    for item in items {
        let Value::Scalar { text, .. } = &item.value else { continue };
        let (name, value) = text.text().split_once('=').map_or((text.text(), None), |(n, v)| (n, Some(v)));
        let value = match value {
            Some("") => Doc::string("", item.span),
            Some(_) => Doc::traced(text.slice(name.len() + 1..text.text().len())),
            None => Doc { value: Value::Unknown(Why::Variable(name.into())), ..Doc::null(item.span) },
        };
        out.set(Doc::traced(text.slice(0..name.len())), value);
    }
    *doc = out;
}

/// Takes out what is reset without standing over anything.
fn settle(doc: &mut Doc) {
    match &mut doc.value {
        Value::Map(entries) => {
            entries.retain(|(_, value)| value.tag.as_deref() != RESET);
            entries.iter_mut().for_each(|(_, value)| settle(value));
        }
        Value::Seq(items) => items.iter_mut().for_each(settle),
        _ => {}
    }
}

/// Whether the tool reads a file of this name without being told.
pub fn is_default(name: &str) -> bool {
    DEFAULTS.contains(&name) || OVERRIDES.contains(&name)
}

/// The variables of a `.env` file. Values that refer to others are left out.
pub fn variables(source: SourceId, text: &str) -> BTreeMap<&str, Traced> {
    let mut out = BTreeMap::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((key, value)) = line.split_once('=').filter(|_| !line.trim_start().starts_with('#')) else { continue };
        let from = start + key.len() + 1 + (value.len() - value.trim_start().len());
        let value = value.trim();
        let quoted = |quote: char| value.strip_prefix(quote).and_then(|v| v.split_once(quote)).map(|(inner, _)| inner);
        let (from, value) = match quoted('"').or_else(|| quoted('\'')) {
            Some(inner) => (from + 1, inner),
            None => (from, value.split(" #").next().unwrap_or(value).trim_end()),
        };
        if !value.contains('$') {
            let span = Span::new(source, from..from + value.len());
            let key = key.trim().trim_start_matches("export ").trim();
            out.insert(key, Traced::verbatim(value, span, from));
        }
    }
    out
}

fn interpolate(doc: &mut Doc, variables: &BTreeMap<&str, Traced>) {
    match &mut doc.value {
        Value::Seq(items) => items.iter_mut().for_each(|item| interpolate(item, variables)),
        Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| interpolate(value, variables)),
        Value::Scalar { text, plain } if text.text().contains('$') => {
            let new = replaced(text, variables, MAX_DEPTH);
            // A value that is a variable as a whole takes its type from what the variable says.
            *plain |= new.whole() != text.whole();
            doc.span = new.whole();
            *text = new;
        }
        _ => {}
    }
}

/// Text put together from parts.
#[derive(Default)]
struct Parts {
    text: String,
    tiles: Vec<Tile>,
}

impl Parts {
    fn push(&mut self, part: &Traced) {
        let at = self.text.len() as u32;
        self.tiles.extend(part.tiles().iter().map(|tile| Tile { at: at + tile.at, ..*tile }));
        self.text.push_str(part.text());
    }
}

/// The text with variables replaced; those without any value stay as they are written.
fn replaced(text: &Traced, variables: &BTreeMap<&str, Traced>, depth: usize) -> Traced {
    let Some(depth) = depth.checked_sub(1) else { return text.clone() };
    let (whole, mut at, mut parts) = (text.text(), 0, Parts::default());
    while let Some(dollar) = whole[at..].find('$').map(|offset| at + offset) {
        parts.push(&text.slice(at..dollar));
        let (end, value) = variable(text, dollar, variables, depth);
        if let Some(value) = value {
            if dollar == 0 && end == whole.len() {
                return value;
            }
            parts.push(&value);
        } else {
            parts.push(&text.slice(dollar..end));
        }
        at = end;
    }
    parts.push(&text.slice(at..whole.len()));
    Traced::tiled(parts.text, text.whole(), parts.tiles)
}

/// Where the variable at a dollar ends, and its value.
fn variable(text: &Traced, dollar: usize, known: &BTreeMap<&str, Traced>, depth: usize) -> (usize, Option<Traced>) {
    let rest = &text.text()[dollar + 1..];
    let letters = |text: &str| text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    // `$$` is a dollar of the container's own.
    if rest.starts_with('$') {
        return (dollar + 2, Some(text.slice(dollar..dollar + 1)));
    }
    let Some(inner) = rest.strip_prefix('{') else {
        let end = letters(rest);
        return (dollar + 1 + end, known.get(&rest[..end]).cloned());
    };
    let mut open = 1;
    let close = inner.char_indices().find(|(_, c)| {
        open += i32::from(*c == '{') - i32::from(*c == '}');
        open == 0
    });
    let Some((close, _)) = close else { return (dollar + 2, None) };
    let name = &inner[..letters(inner)];
    let operator = &inner[name.len()..close];
    let from = dollar + 2 + name.len();
    let default = |skip: usize| Some(replaced(&text.slice(from + skip..dollar + 2 + close), known, depth));
    let stated = known.get(name);
    let value = match operator {
        _ if operator.starts_with(":-") => stated.filter(|v| !v.text().is_empty()).cloned().or_else(|| default(2)),
        _ if operator.starts_with('-') => stated.cloned().or_else(|| default(1)),
        _ if operator.contains('+') => None,
        _ => stated.cloned(),
    };
    (dollar + 3 + close, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};

    /// The place of a key of the service `s` of the first file, and its text.
    fn at(files: &[(&str, &str)], path: &str) -> (String, String) {
        let trees: Vec<Tree> =
            (0..).zip(files).map(|(i, (_, text))| yaml::parse(SourceId(i), text, Dialect::Kubernetes)).collect();
        let file = |(i, ((path, text), tree))| (path, File { source: SourceId(i), text, tree: Some(tree) });
        let all: Files<'_> = (0..).zip(files.iter().map(|(p, t)| (*p, *t)).zip(&trees)).map(file).collect();
        let root = yaml::root(&trees[0]).expect("a document");
        let tree = project(&all, files[0].0, root).expect("a project").tree;
        let service = yaml::root(&tree).expect("a document").view().path("services.s");
        let view = path.split('.').fold(service, |view, key| match key.parse() {
            Ok(index) => view.items().nth(index).expect("an item"),
            Err(_) => view.get(key),
        });
        let text = view.traced().expect("a scalar");
        let span = text.whole();
        let (path, source) = files[span.source.0 as usize];
        (text.text().to_owned(), format!("{path}: {}", &source[span.range()]))
    }

    fn value(text: &str, dotenv: &str) -> (String, String) {
        at(&[("c/compose.yaml", &format!("services: {{s: {{a: {text}}}}}")), ("c/.env", dotenv)], "a")
    }

    fn pair(text: &str, place: &str) -> (String, String) {
        (text.to_owned(), place.to_owned())
    }

    #[test]
    fn variables_are_read_from_the_file_beside_and_lead_there() {
        let dotenv = "# A=0\nexport A=1 # one\nB='two words'\nC=$A\n";
        assert_eq!(value("'${A}'", dotenv), pair("1", "c/.env: 1"));
        assert_eq!(value("$B", dotenv), pair("two words", "c/.env: two words"));
        assert_eq!(value("'v${A}-$A'", dotenv), pair("v1-1", "c/compose.yaml: 'v${A}-$A'"));
        for unknown in ["${C}", "x-${NONE}", "${A:+y}", "${NONE:?missing}"] {
            assert_eq!(value(&format!("'{unknown}'"), dotenv).0, unknown);
        }
    }

    #[test]
    fn a_default_holds_where_nothing_is_stated() {
        assert_eq!(value("'${TP:-8}'", ""), pair("8", "c/compose.yaml: 8"));
        assert_eq!(value("'${TP:-8}'", "TP=2"), pair("2", "c/.env: 2"));
        assert_eq!(value("'${TP:-8}'", "TP="), pair("8", "c/compose.yaml: 8"));
        assert_eq!(value("'${A-${B:-3}}'", "").0, "3");
        assert_eq!(value("'$$HOME'", "HOME=x").0, "$HOME");
        for broken in ["${", "$", "${A", "${A:-"] {
            assert_eq!(value(&format!("'{broken}'"), "").0, broken);
        }
    }

    #[test]
    fn a_service_is_filled_up_from_what_it_extends() {
        let files = [
            (
                "c/compose.yaml",
                "services: {s: {extends: {file: ../b.yaml, service: gpu}, x: {own: 1}, command: [mine]}}",
            ),
            ("b.yaml", "services: {gpu: {extends: base, x: {own: 0, more: 2}, command: [theirs]}, base: {image: i}}"),
        ];
        assert_eq!(at(&files, "image"), pair("i", "b.yaml: i"));
        assert_eq!(at(&files, "x.own"), pair("1", "c/compose.yaml: 1"));
        assert_eq!(at(&files, "x.more"), pair("2", "b.yaml: 2"));
    }

    #[test]
    fn the_file_that_overrides_is_laid_over_the_first_default_one() {
        let base = "services: {s: {image: i, x: {own: 1}, ports: ['1:1'], command: [a]}}";
        let over = "services: {s: {x: {own: 2}, ports: ['2:2'], command: [b]}}";
        for (name, other) in [
            ("c/compose.yaml", "c/compose.override.yaml"),
            ("c/docker-compose.yml", "c/docker-compose.override.yml"),
            ("docker-compose.yaml", "compose.override.yml"),
        ] {
            let files = [(name, base), (other, over)];
            assert_eq!(at(&files, "x.own"), pair("2", &format!("{other}: 2")));
            assert_eq!(at(&files, "ports.1").0, "2:2");
            assert_eq!(at(&files, "command.0").0, "b");
        }
    }

    #[test]
    fn services_of_included_files_belong_to_the_project() {
        let files = [
            ("c/compose.yaml", "include: [../b.yaml, {path: [d/one.yaml, d/two.yaml]}]\nservices: {other: {image: o}}"),
            ("b.yaml", "services: {other: {image: no}, t: {image: \"${A:-t}\"}}"),
            ("c/d/one.yaml", "services: {s: {image: one, x: {own: 1}}}"),
            ("c/d/two.yaml", "services: {s: {x: {own: 2}}}"),
        ];
        assert_eq!(at(&files, "image"), pair("one", "c/d/one.yaml: one"));
        assert_eq!(at(&files, "x.own").0, "2");
    }

    #[test]
    fn services_that_extend_each_other_end() {
        let text = "services: {s: {extends: t, a: 1}, t: {extends: s, b: 2}}";
        assert_eq!(at(&[("c/compose.yaml", text)], "a").0, "1");
    }

    #[test]
    fn variables_of_a_file_are_the_environment() {
        let files =
            [("c/compose.yaml", "services: {s: {env_file: [a.env], environment: {B: 3}}}"), ("c/a.env", "A=1\nB=2\n")];
        assert_eq!(at(&files, "environment.A"), pair("1", "c/a.env: 1"));
        assert_eq!(at(&files, "environment.B").0, "3");
    }
}
