//! Package files in TOML and conda's environments. Knows their tables; opens no other file.

use super::{install, package_indexes, recipes};
use crate::budget::{NODE, Share};
use crate::facts::{Facts, Package, PackageFile, PackageFileKind, PackageManager};
use crate::known::{Fact, Why};
use crate::parse::requirements::{self, normalized};
use crate::parse::{Node, Tree, View};
use crate::paths;
use crate::source::Traced;
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet};

/// Tables of packages by name: where they stand in a file or in one of its features, and who installs them.
const TABLES: &[(&str, PackageManager)] = &[
    ("tool.poetry.dependencies", PackageManager::Pip),
    ("packages", PackageManager::Pip),
    ("pypi-dependencies", PackageManager::Pip),
    ("tool.pixi.pypi-dependencies", PackageManager::Pip),
    ("dependencies", PackageManager::Conda),
    ("tool.pixi.dependencies", PackageManager::Conda),
];

/// Tables that hold a part of the packages by its name, and the table of packages in each part.
const GROUPS: &[(&str, &str, PackageManager)] = &[
    ("tool.poetry.group", "dependencies", PackageManager::Pip),
    ("feature", "pypi-dependencies", PackageManager::Pip),
    ("feature", "dependencies", PackageManager::Conda),
    ("tool.pixi.feature", "pypi-dependencies", PackageManager::Pip),
    ("tool.pixi.feature", "dependencies", PackageManager::Conda),
];

/// pyproject.toml, Pipfile, lock files.
pub fn toml_file(tree: &Tree, path: &str, share: &Share) -> Option<PackageFile> {
    let root = tree.roots().next()?;
    let view = root.view();
    let mut out = PackageFile::blank(root.head());
    out.path = Fact::value(path.to_owned(), root.head());
    let kind = match paths::name(path) {
        "Pipfile" => PackageFileKind::Pipfile,
        "pixi.toml" => PackageFileKind::Pixi,
        name if name.ends_with(".lock") => PackageFileKind::Lock,
        _ => PackageFileKind::Pyproject,
    };
    out.kind = Fact::value(kind, root.head());
    let project = view.get("project");
    out.packages.extend(requirements_of(project.get("dependencies"), None));
    for (table, groups) in [("optional-dependencies", project), ("dependency-groups", view)] {
        let groups: BTreeMap<&str, View<'_>> = groups.get(table).entries().into_iter().collect();
        for (&name, &list) in &groups {
            for list in with_included(&groups, project.get("name"), (name, list)) {
                if share.make(NODE * (1 + list.node().map_or(0, Node::width))).is_err() {
                    break;
                }
                out.packages.extend(requirements_of(list, Some(name)));
            }
        }
    }
    for (key, manager) in TABLES {
        out.packages
            .extend(view.path(key).entries().into_iter().flat_map(|(name, value)| entries(name, value, *manager)));
    }
    for (key, packages, manager) in GROUPS {
        for (group, table) in view.path(key).entries() {
            let of_group =
                table.get(packages).entries().into_iter().flat_map(|(name, value)| entries(name, value, *manager));
            out.packages.extend(of_group.map(|package| grouped(package, group)));
        }
    }
    let development = [view.get("dev-packages"), view.path("tool.poetry.dev-dependencies")];
    for (name, value) in development.into_iter().flat_map(View::entries) {
        out.packages
            .extend(entries(name, value, PackageManager::Pip).into_iter().map(|package| grouped(package, "dev")));
    }
    optional(view.path("tool.poetry"), &mut out.packages, share);
    out.packages.extend(view.get("package").items().chain(view.get("packages").items()).map(locked));
    out.python = project.get("requires-python").string().or(|| view.get("requires-python").string());
    let overriding = view.path("tool.uv.override-dependencies").items().filter_map(|item| item.traced());
    let names = overriding.filter_map(|text| Some(requirements::requirement(&text)?.name));
    out.overrides = names.map(|name| install::fact(&name).map(|name| normalized(&name))).collect();
    package_indexes::set(view, &mut out.packages, share);
    (!out.packages.is_empty()).then_some(out)
}

/// A list of requirements and those that it includes, each once: `{include-group = "x"}`, `own-name[extra]`.
fn with_included<'t>(
    groups: &BTreeMap<&str, View<'t>>,
    project: View<'t>,
    (name, list): (&str, View<'t>),
) -> Vec<View<'t>> {
    let own = project.string();
    let named = |item: View<'t>| -> Vec<String> {
        let group = item.get("include-group").string().get().cloned();
        let extras = item.traced().as_ref().and_then(requirements::requirement).filter(|r| {
            own.get().is_some_and(|own| normalized(own) == normalized(r.name.text())) && !r.extras.is_empty()
        });
        group.into_iter().chain(extras.into_iter().flat_map(|r| r.extras)).collect()
    };
    let (mut seen, mut lists, mut at) = (BTreeSet::from([name.to_owned()]), vec![list], 0);
    while let Some(&list) = lists.get(at) {
        let others = list.items().flat_map(named).filter(|other| seen.insert(other.clone()));
        lists.extend(others.filter_map(|other| groups.get(other.as_str()).copied()));
        at += 1;
    }
    lists
}

fn requirements_of(list: View<'_>, group: Option<&str>) -> Vec<Package> {
    let read = |item: View<'_>| {
        let package = install::of_requirement(&requirements::requirement(&item.traced()?)?, PackageManager::Pip);
        Some(match group {
            Some(group) => grouped(package, group),
            None => package,
        })
    };
    list.items().filter_map(read).collect()
}

pub(super) fn grouped(mut package: Package, group: &str) -> Package {
    package.group = Fact::value(normalized(group), package.span);
    package
}

/// The places of packages by their names.
pub(super) fn by_name(packages: &[Package]) -> BTreeMap<String, Vec<usize>> {
    let mut out: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, name) in packages.iter().enumerate().filter_map(|(at, package)| Some((at, package.name.get()?))) {
        out.entry(name.clone()).or_default().push(at);
    }
    out
}

/// The extras of Poetry: lists of names of packages that are optional.
fn optional(poetry: View<'_>, packages: &mut Vec<Package>, share: &Share) {
    let places = by_name(packages);
    let (mut copies, mut taken) = (Vec::new(), BTreeSet::new());
    for (extra, names) in poetry.get("extras").entries() {
        let names: BTreeSet<String> = names.strings().iter().filter_map(|n| n.get().map(|n| normalized(n))).collect();
        let named = names.iter().filter_map(|name| places.get(name)).flatten();
        let paid = named.take_while(|_| share.make(NODE).is_ok());
        let of_extra: BTreeSet<usize> = paid.copied().collect();
        copies.extend(of_extra.iter().map(|&at| grouped(packages[at].clone(), extra)));
        taken.extend(of_extra);
    }
    let mut at = 0..;
    packages.retain(|package| !at.next().is_some_and(|at| taken.contains(&at)) || package.group.get().is_some());
    packages.extend(copies);
}

/// A package of a lock file.
fn locked(item: View<'_>) -> Package {
    let mut out = Package::blank(item.get("name").place());
    out.name = item.get("name").string().map(|n| normalized(&n));
    out.manager = Fact::value(PackageManager::Lock, out.span);
    out.version = item.get("version").parse(Version::parse);
    out.pinned = Fact::value(true, out.span);
    let source = item.get("source");
    out.index_url = [item.get("index"), source.get("registry"), source.get("url")]
        .into_iter()
        .find(|url| url.is_some())
        .map_or(out.index_url, View::string);
    let conditions = ["resolution-markers", "markers", "marker"].iter().map(|key| item.get(key));
    if let Some(conditions) = conditions.into_iter().find(|view| view.is_some()) {
        let all: Vec<String> =
            conditions.strings().into_iter().filter_map(|c| c.get().map(|c| format!("({c})"))).collect();
        out.marker = Fact::from_option((!all.is_empty()).then(|| all.join(" or ")), conditions.place());
    }
    out
}

/// A package by its name in a table: a version, a table, or a list of tables of which one holds.
fn entries(name: &str, value: View<'_>, manager: PackageManager) -> Vec<Package> {
    match value.node() {
        _ if name == "python" => vec![],
        Some(node) if node.is_seq() => value.items().map(|item| entry(name, item, manager)).collect(),
        _ => vec![entry(name, value, manager)],
    }
}

fn entry(name: &str, value: View<'_>, manager: PackageManager) -> Package {
    let spec = if value.get("version").is_some() { value.get("version") } else { value };
    let mut out = Package::blank(value.place());
    out.name = Fact::value(normalized(name), value.place());
    out.manager = Fact::value(manager, value.place());
    out.specifier = if value.node().is_some_and(Node::is_map) { value.get("version").string() } else { spec.string() };
    let exact = out.specifier.get().filter(|t| !t.contains(['>', '<', '~', '^', '*', ',']));
    let version = exact.and_then(|t| Version::parse(t.trim_start_matches('=')));
    out.pinned = Fact::value(version.is_some(), value.place());
    out.version = match version {
        Some(version) => Fact::value(version, spec.place()),
        None => Fact::unknown(Why::NotStated("the version that will be installed".into()), spec.place()),
    };
    for key in ["url", "git", "path", "file"] {
        out.url = out.url.or(|| value.get(key).string());
    }
    out.marker = condition(value);
    // The name that Poetry and Pipenv give an index; its URL stands elsewhere.
    out.index_url = value.get("source").string().or(|| value.get("index").string());
    out
}

/// The condition of a table: `markers`, `python`, `platform`, `sys_platform`, `platform_machine`.
fn condition(value: View<'_>) -> Fact<String> {
    let marker = ["markers", "marker"].iter().map(|key| value.get(key).string()).find(|fact| !fact.is_absent());
    let mut all: Vec<Fact<String>> = marker.map(|m| m.map(|m| format!("({m})"))).into_iter().collect();
    for (key, variable) in
        [("platform", "sys_platform"), ("sys_platform", "sys_platform"), ("platform_machine", "platform_machine")]
    {
        let text = value.get(key).string();
        // Pipfile writes the comparison, Poetry the value.
        all.push(text.map(|t| {
            if t.contains("==") || t.contains("!=") {
                format!("{variable} {t}")
            } else {
                format!("{variable} == '{t}'")
            }
        }));
    }
    let python = value.get("python").string();
    let clauses = |range: String| {
        let each = range.split(',').map(|clause| {
            let at = clause.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
            let (operator, version) = clause.split_at(at);
            let operator = match operator.trim() {
                "" => "==",
                "^" => ">=",
                "~" => "~=",
                other => other,
            };
            format!("python_version {operator} '{}'", version.trim())
        });
        each.collect::<Vec<_>>().join(" and ")
    };
    all.push(python.map(clauses));
    let stated: Vec<&Fact<String>> = all.iter().filter(|fact| !fact.is_absent()).collect();
    let Some(first) = stated.first() else { return Fact::absent(value.place()) };
    match stated.iter().find(|fact| fact.is_unknown()) {
        Some(unknown) => (*unknown).clone(),
        None => {
            let texts: Vec<&str> = stated.iter().filter_map(|fact| fact.get().map(String::as_str)).collect();
            Fact::value(texts.join(" and "), first.span)
        }
    }
}

/// Whether a document is a conda environment.
pub fn is_conda(root: Node<'_>) -> bool {
    // Those of a chart are mappings.
    let package = |item: Node<'_>| item.text().is_some() || item.get("pip").is_some();
    let list = root.get("dependencies").is_some_and(|list| list.items().any(package));
    list && (root.get("channels").is_some() || root.get("name").is_some() && root.get("version").is_none())
}

/// Whether a document is an environment of MLflow. https://mlflow.org/docs/latest/ml/projects
pub fn is_python_env(root: Node<'_>) -> bool {
    let list = |key: &str| root.get(key).is_some_and(Node::is_seq);
    list("dependencies") && list("build_dependencies") && root.get("channels").is_none()
}

/// An environment of MLflow: lines of a requirements file.
pub fn python_env(root: Node<'_>, path: &str, facts: &mut Facts) -> PackageFile {
    let view = root.view();
    let dependencies = view.get("dependencies");
    let mut out = PackageFile::blank(dependencies.place());
    out.path = Fact::value(path.to_owned(), out.span);
    out.kind = Fact::value(PackageFileKind::Requirements, out.span);
    out.python = view.get("python").string();
    out.packages = recipes::listed(dependencies, facts, install::of_requirements);
    let included = |line: Traced| {
        let name = ["-r ", "--requirement "].iter().find_map(|option| line.text().strip_prefix(option))?.trim();
        Some(Fact::value(name.to_owned(), line.whole()))
    };
    out.includes = dependencies.items().filter_map(View::traced).filter_map(included).collect();
    out
}

/// A conda environment: `dependencies` of texts, with a list for pip.
pub fn conda_file(root: Node<'_>, path: &str) -> Option<PackageFile> {
    let view = root.view();
    let dependencies = view.get("dependencies");
    let mut out = PackageFile::blank(dependencies.place());
    out.path = Fact::value(path.to_owned(), out.span);
    out.kind = Fact::value(PackageFileKind::Conda, out.span);
    out.name = view.get("name").string();
    let channels: Vec<Traced> = view.get("channels").items().filter_map(View::traced).collect();
    for item in dependencies.items() {
        if let Some(mut package) = item.traced().and_then(|text| install::conda(&text)) {
            install::look_in(&mut package, &channels);
            out.packages.push(package);
        }
        for requirement in item.get("pip").items().filter_map(View::traced) {
            out.packages.extend(
                requirements::requirement(&requirement).map(|r| install::of_requirement(&r, PackageManager::Pip)),
            );
        }
    }
    (!out.packages.is_empty()).then_some(out)
}
