//! Charts among the files of a run: what belongs to which, their metadata and their dependencies. Knows the layout
//! that Helm prescribes; evaluates nothing.

use super::ignore::Ignore;
use crate::parse::{Dialect, Node, Tree, yaml};
use crate::source::SourceId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// Deepest nesting of charts in charts.
const MAX_DEPTH: usize = 8;

/// A file of the run.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Its place in the run.
    pub source: SourceId,
    /// Display path; in a chart, relative to the chart.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// A chart with the charts that it brings along.
#[derive(Debug)]
pub struct Chart<'a> {
    /// Display path of its directory, with `/` at the end unless it is the working directory.
    pub directory: &'a str,
    /// The name by which its parent knows it: an alias, or the name in `Chart.yaml`.
    pub name: String,
    /// `Chart.yaml`.
    pub metadata: Tree,
    /// `values.yaml`.
    pub values: Option<Tree>,
    /// Its own files but for those of its subcharts, paths relative to the chart, sorted.
    pub files: Vec<File<'a>>,
    /// Dependencies that `Chart.yaml` (or `requirements.yaml`) lists.
    pub dependencies: Vec<Dependency>,
    /// Charts under `charts/`, and those that a `file://` repository leads to.
    pub subcharts: Vec<Arc<Chart<'a>>>,
}

/// A dependency as listed.
#[derive(Debug, Clone, Default)]
pub struct Dependency {
    /// Name of the chart.
    pub name: String,
    /// Name under which it is installed; empty for the chart's own.
    pub alias: String,
    /// Where it comes from.
    pub repository: String,
    /// Paths of values that switch it, the first that is a Boolean decides.
    pub conditions: Vec<String>,
    /// Names under `tags` that switch it.
    pub tags: Vec<String>,
    /// What the parent takes over: (path in the child, path in the parent).
    pub imports: Vec<(String, String)>,
}

impl Dependency {
    /// The name under which the parent's values speak of it.
    pub fn known_as(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }
}

impl<'a> Chart<'a> {
    /// The root of `Chart.yaml`.
    pub fn meta(&self) -> Option<Node<'_>> {
        yaml::root(&self.metadata)
    }

    /// Whether it only defines templates for others.
    pub fn is_library(&self) -> bool {
        self.meta().and_then(|m| m.get("type")).and_then(Node::text) == Some("library")
    }

    /// Its templates: everything under `templates/`, partials and notes included.
    pub fn templates(&self) -> impl Iterator<Item = &File<'a>> {
        self.files.iter().filter(|file| file.path.starts_with("templates/"))
    }

    /// What `.Files` offers: everything that Helm has no use of its own for.
    pub fn extra_files(&self) -> impl Iterator<Item = &File<'a>> {
        const OWN: &[&str] = &[
            "Chart.yaml",
            "Chart.lock",
            "values.yaml",
            "values.schema.json",
            "requirements.yaml",
            "requirements.lock",
            ".helmignore",
        ];
        self.files.iter().filter(|f| !f.path.starts_with("templates/") && !OWN.contains(&f.path))
    }

    /// Whether it says where it is published, as charts do that others take over.
    pub fn is_published(&self) -> bool {
        self.meta().is_some_and(|meta| meta.get("home").is_some() || meta.get("sources").is_some())
    }

    /// The name in `Chart.yaml`.
    pub fn own_name(&self) -> &str {
        self.meta().and_then(|m| m.get("name")).and_then(Node::text).unwrap_or("")
    }
}

/// The charts of a run that no other chart holds, in the order of their directories. `files` are sorted by path.
pub fn find<'a>(files: &[File<'a>]) -> Vec<Arc<Chart<'a>>> {
    let mut index = Index::new(files);
    let subchart = |d: &str| parent(d).is_some_and(|parent| index.charts.contains(parent));
    let (held, top): (Vec<&str>, Vec<&str>) = index.charts.iter().copied().partition(|d| subchart(d));
    let mut out: Vec<Arc<Chart<'a>>> = top.iter().filter_map(|d| index.chart((d, d), MAX_DEPTH)).collect();
    let mut seen = BTreeSet::new();
    out.iter().for_each(|chart| reached(chart, &mut seen));
    // One that its parent ignores, or that stands too deep, is a chart of its own.
    for directory in held {
        if !seen.contains(directory)
            && let Some(chart) = index.chart((directory, directory), MAX_DEPTH)
        {
            reached(&chart, &mut seen);
            out.push(chart);
        }
    }
    out.sort_by_key(|chart| chart.directory);
    out
}

/// Directories of a chart and of those that it brings along.
fn reached<'a>(chart: &Chart<'a>, seen: &mut BTreeSet<&'a str>) {
    if seen.insert(chart.directory) {
        chart.subcharts.iter().for_each(|chart| reached(chart, seen));
    }
}

/// Whether a directory stands in an archive, where nothing is ignored.
fn is_packed(directory: &str) -> bool {
    directory.split('/').any(|part| part.ends_with(".tgz") || part.ends_with(".tar.gz"))
}

/// The directory whose `charts/` a subchart, or its archive, stands right under.
fn parent(directory: &str) -> Option<&str> {
    let (above, name) = directory.strip_suffix('/')?.rsplit_once('/')?;
    let parent = above.strip_suffix("charts").filter(|parent| parent.is_empty() || parent.ends_with('/'))?;
    (!name.is_empty() && !name.starts_with(['_', '.'])).then_some(parent)
}

struct Index<'a> {
    charts: BTreeSet<&'a str>,
    /// Files by the directory of the innermost chart, paths relative to it.
    files: BTreeMap<&'a str, Vec<File<'a>>>,
    /// Those that were read, by the chart whose `.helmignore` holds and by how many levels are read below them: several
    /// charts may hold one.
    read: BTreeMap<(&'a str, &'a str, usize), Option<Arc<Chart<'a>>>>,
    /// What charts that are loaded from directories ignore.
    ignores: BTreeMap<&'a str, Arc<Ignore>>,
}

/// The directory of a chart, and that of the one it is loaded with, whose `.helmignore` holds.
type Place<'a> = (&'a str, &'a str);

/// Most charts that a file belongs to: one that stands in another, but not in its `charts/`, holds files of both.
const MAX_HOLDERS: usize = 4;

impl<'a> Index<'a> {
    fn new(files: &[File<'a>]) -> Self {
        let directory = |path: &'a str| path.strip_suffix("Chart.yaml").filter(|d| d.is_empty() || d.ends_with('/'));
        let charts: BTreeSet<&str> = files.iter().filter_map(|f| directory(f.path)).collect();
        let mut out = Self { charts, files: BTreeMap::new(), read: BTreeMap::new(), ignores: BTreeMap::new() };
        for file in files {
            let ends = file.path.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
            let holders = ends.map(|end| file.path.split_at(end)).filter(|(d, _)| out.charts.contains(d));
            let mut inner: Option<&str> = None;
            for (directory, path) in holders.take(MAX_HOLDERS) {
                // What stands in `charts/` is loaded as a chart of its own.
                if inner.is_some_and(|inner| inner[directory.len()..].starts_with("charts/")) {
                    break;
                }
                inner = Some(directory);
                out.files.entry(directory).or_default().push(File { path, ..*file });
            }
        }
        out
    }

    fn chart(&mut self, (directory, root): Place<'a>, depth: usize) -> Option<Arc<Chart<'a>>> {
        if let Some(read) = self.read.get(&(directory, root, depth)) {
            return read.clone();
        }
        let read = self.parsed((directory, root), depth).map(Arc::new);
        self.read.insert((directory, root, depth), read.clone());
        read
    }

    /// What is ignored of a chart that is loaded from a directory.
    fn ignore(&mut self, root: &'a str) -> Arc<Ignore> {
        let file = self.files.get(root).and_then(|files| files.iter().find(|file| file.path == ".helmignore"));
        let read = || Arc::new(Ignore::new(file.map_or("", |file| file.text)));
        Arc::clone(self.ignores.entry(root).or_insert_with(read))
    }

    fn parsed(&mut self, (directory, root): Place<'a>, depth: usize) -> Option<Chart<'a>> {
        let all = self.files.get(directory)?.clone();
        let text = |name: &str| all.iter().find(|f| f.path == name);
        let (inner, ignore) = (&directory[root.len()..], (!is_packed(directory)).then(|| self.ignore(root)));
        let ignored = |path: &str| ignore.as_ref().is_some_and(|ignore| ignore.holds(path));
        let files: Vec<File<'a>> =
            all.iter().copied().filter(|file| !ignored(&format!("{inner}{}", file.path))).collect();
        let parse = |name: &str| text(name).map(|f| yaml::parse(f.source, f.text, Dialect::Kubernetes));
        let metadata = parse("Chart.yaml")?;
        let mut dependencies = yaml::root(&metadata).map(dependencies).unwrap_or_default();
        if dependencies.is_empty() {
            let old = parse("requirements.yaml");
            dependencies = old.as_ref().and_then(yaml::root).map(self::dependencies).unwrap_or_default();
        }
        let mut subcharts: Vec<Arc<Chart<'_>>> = Vec::new();
        if depth > 0 {
            let below = format!("{directory}charts/");
            let after = self.charts.range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded)).copied();
            let here = |d: &&str| parent(d) == Some(directory) && !ignored(&format!("{}Chart.yaml", &d[root.len()..]));
            let held: Vec<&'a str> = after.take_while(|d| d.starts_with(&below)).filter(here).collect();
            for directory in held {
                subcharts.extend(self.chart((directory, root), depth - 1));
            }
            let names: BTreeSet<String> = subcharts.iter().map(|c| c.own_name().to_owned()).collect();
            // A chart does not hold itself, nor another one twice.
            let mut seen = BTreeSet::from([directory]);
            for dependency in dependencies.iter().filter(|d| !names.contains(&d.name)) {
                let local = dependency.repository.strip_prefix("file://").and_then(|path| self.local(directory, path));
                if let Some(local) = local.filter(|local| seen.insert(local)) {
                    subcharts.extend(self.chart((local, local), depth - 1));
                }
            }
        }
        let values = parse("values.yaml");
        let name = yaml::root(&metadata).and_then(|m| m.get("name")).and_then(Node::text)?.to_owned();
        Some(Chart { directory, name, metadata, values, files, dependencies, subcharts })
    }

    /// The chart that a path relative to a directory leads to.
    fn local(&self, directory: &str, path: &str) -> Option<&'a str> {
        let mut parts: Vec<&str> = directory.split('/').filter(|p| !p.is_empty()).collect();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                name => parts.push(name),
            }
        }
        let target = parts.iter().map(|part| format!("{part}/")).collect::<String>();
        self.charts.get(target.as_str()).copied()
    }
}

fn dependencies(root: Node<'_>) -> Vec<Dependency> {
    let text = |node: Node<'_>, key: &str| node.get(key).and_then(Node::text).unwrap_or("").to_owned();
    let items = root.get("dependencies").into_iter().flat_map(Node::items).filter(|d| d.is_map());
    items
        .map(|d| Dependency {
            name: text(d, "name"),
            alias: text(d, "alias"),
            repository: text(d, "repository"),
            conditions: text(d, "condition")
                .split(',')
                .map(|c| c.trim().to_owned())
                .filter(|c| !c.is_empty())
                .collect(),
            tags: d.get("tags").into_iter().flat_map(Node::items).filter_map(|t| t.text().map(str::to_owned)).collect(),
            imports: d.get("import-values").into_iter().flat_map(Node::items).filter_map(import).collect(),
        })
        .collect()
}

/// `{child: a, parent: b}`, or the name of something under `exports` of the child.
fn import(node: Node<'_>) -> Option<(String, String)> {
    match node.text() {
        Some(name) => Some((format!("exports.{name}"), String::new())),
        None => Some((node.get("child")?.text()?.to_owned(), node.get("parent")?.text()?.trim_matches('.').to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charts<'a>(files: &[(&'a str, &'a str)]) -> Vec<Arc<Chart<'a>>> {
        let files: Vec<File<'_>> =
            files.iter().enumerate().map(|(i, (path, text))| File { source: SourceId(i as u32), path, text }).collect();
        find(&files)
    }

    #[test]
    fn subcharts_belong_to_their_parent() {
        let found = charts(&[
            ("a/Chart.yaml", "name: a\ndependencies: [{name: b}, {name: c, repository: 'https://x'}]"),
            ("a/charts/b-1.tgz/Chart.yaml", "name: b"),
            ("a/charts/b-1.tgz/templates/x.yaml", "x"),
            ("a/templates/_h.tpl", "h"),
            ("a/templates/y.yaml", "y"),
            ("charts/d/Chart.yaml", "name: d"),
        ]);
        assert_eq!(found.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a", "d"]);
        assert_eq!(found[0].subcharts[0].templates().map(|f| f.path).collect::<Vec<_>>(), ["templates/x.yaml"]);
        assert_eq!(found[0].templates().count(), 2);
    }

    #[test]
    fn a_local_repository_is_followed_and_a_loop_ends() {
        let found = charts(&[
            ("x/a/Chart.yaml", "name: a\ndependencies: [{name: b, repository: 'file://../b'}]"),
            ("x/b/Chart.yaml", "name: b\ndependencies: [{name: a, repository: 'file://../a'}]"),
        ]);
        assert_eq!(found[0].subcharts[0].name, "b");
        assert_eq!(found[0].subcharts[0].directory, "x/b/");
    }

    #[test]
    fn dependencies_are_read_with_their_switches() {
        let text = "name: a\ndependencies:\n- name: b\n  alias: c\n  condition: c.enabled, global.c\n  tags: [gpu]\n  \
                    import-values: [data, {child: x.y, parent: z}]\n";
        let found = charts(&[("Chart.yaml", text)]);
        let dependency = &found[0].dependencies[0];
        assert_eq!(dependency.known_as(), "c");
        assert_eq!(dependency.conditions, ["c.enabled", "global.c"]);
        let imports = [("exports.data", ""), ("x.y", "z")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(dependency.imports, imports);
    }
}
