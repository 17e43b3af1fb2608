//! Package files in TOML and conda's environments. Knows their tables; opens no other file.

use super::install;
use crate::facts::{Package, PackageFile, PackageFileKind, PackageManager};
use crate::known::{Fact, Known};
use crate::parse::requirements::{self, normalized};
use crate::parse::{Node, Tree, View};
use crate::source::Traced;
use crate::version::Version;

/// pyproject.toml, Pipfile, lock files.
pub fn toml_file(tree: &Tree, path: &str) -> Option<PackageFile> {
    let root = tree.roots().next()?;
    let view = root.view();
    let mut out = PackageFile::blank(root.head());
    out.path = Fact::value(path.to_owned(), root.head());
    let kind = match path.rsplit('/').next().unwrap_or(path) {
        "Pipfile" => PackageFileKind::Pipfile,
        "pixi.toml" => PackageFileKind::Pixi,
        name if name.ends_with(".lock") => PackageFileKind::Lock,
        _ => PackageFileKind::Pyproject,
    };
    out.kind = Fact::value(kind, root.head());
    let project = view.get("project");
    let mut lists: Vec<View<'_>> = vec![project.get("dependencies")];
    lists.extend(project.get("optional-dependencies").entries().into_iter().map(|(_, list)| list));
    lists.extend(view.get("dependency-groups").entries().into_iter().map(|(_, list)| list));
    for item in lists.into_iter().flat_map(|list| list.items().collect::<Vec<_>>()) {
        let requirement = item.traced().and_then(requirements::requirement);
        out.packages.extend(requirement.map(|r| install::of_requirement(&r, PackageManager::Pip)));
    }
    for key in ["tool.poetry.dependencies", "packages", "dependencies", "pypi-dependencies"] {
        for (name, value) in view.path(key).entries() {
            out.packages.extend(table_entry(name, value));
        }
    }
    for item in view.get("package").items() {
        let mut locked = Package::blank(item.get("name").place());
        locked.name = item.get("name").string().map(|n| normalized(&n));
        locked.manager = Fact::value(PackageManager::Lock, locked.span);
        locked.version = item.get("version").parse(Version::parse);
        locked.pinned = Fact::value(true, locked.span);
        out.packages.push(locked);
    }
    out.python = project.get("requires-python").string();
    // uv: an index by name, and the packages that come from it.
    let named: Vec<(String, Traced)> = view
        .path("tool.uv")
        .get("index")
        .items()
        .filter_map(|i| Some((i.get("name").string().get()?.clone(), i.get("url").traced()?.clone())))
        .collect();
    for (name, source) in view.path("tool.uv.sources").entries() {
        let source = if source.node().is_some_and(Node::is_seq) { source.items().next()? } else { source };
        let index = source.get("index").string();
        let url = named.iter().find(|(n, _)| Some(n) == index.get()).map(|(_, url)| url.clone());
        let wanted = normalized(name);
        for package in out.packages.iter_mut().filter(|p| p.name.get() == Some(&wanted)) {
            install::set_indexes(package, url.as_ref(), &[]);
        }
    }
    (!out.packages.is_empty()).then_some(out)
}

fn table_entry(name: &str, value: View<'_>) -> Option<Package> {
    if name == "python" {
        return None;
    }
    let spec = if value.get("version").is_some() { value.get("version") } else { value };
    let mut out = Package::blank(value.place());
    out.name = Fact::value(normalized(name), value.place());
    out.manager = Fact::value(PackageManager::Pip, value.place());
    out.specifier = spec.string();
    let exact = out.specifier.get().filter(|t| !t.contains(['>', '<', '~', '^', '*', ',']));
    let version = exact.and_then(|t| Version::parse(t.trim_start_matches('=')));
    out.pinned = Fact::value(version.is_some(), value.place());
    out.version = Fact::from_option(version, spec.place());
    Some(out)
}

/// Whether a document is a conda environment.
pub fn is_conda(root: Node<'_>) -> bool {
    let list = root.get("dependencies").is_some_and(Node::is_seq);
    list && (root.get("channels").is_some() || root.get("name").is_some() && root.get("version").is_none())
}

/// A conda environment: `dependencies` of texts, with a list for pip.
pub fn conda_file(root: Node<'_>, path: &str) -> Option<PackageFile> {
    let view = root.view();
    let dependencies = view.get("dependencies");
    let mut out = PackageFile::blank(dependencies.place());
    out.path = Fact::value(path.to_owned(), out.span);
    out.kind = Fact::value(PackageFileKind::Conda, out.span);
    for item in dependencies.items() {
        if let Some(text) = item.traced() {
            out.packages.extend(conda(text));
        }
        for requirement in item.get("pip").items().filter_map(View::traced) {
            out.packages.extend(
                requirements::requirement(requirement).map(|r| install::of_requirement(&r, PackageManager::Pip)),
            );
        }
    }
    (!out.packages.is_empty()).then_some(out)
}

fn conda(text: &Traced) -> Option<Package> {
    let whole = text.text().trim();
    let name = whole.split(['=', '<', '>', ' ']).next()?;
    let mut out = Package::blank(text.whole());
    out.name = Fact::value(name.rsplit("::").next()?.to_lowercase(), text.whole());
    out.manager = Fact::value(PackageManager::Conda, text.whole());
    let exact = whole[name.len()..].trim_start_matches('=');
    let version = Version::parse(exact).filter(|_| whole[name.len()..].starts_with('='));
    out.pinned = Fact::value(version.is_some(), text.whole());
    out.version = Fact { known: version.map_or(Known::Absent, Known::Value), span: text.whole() };
    Some(out)
}
