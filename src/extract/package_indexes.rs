//! Indexes that package files in TOML name: uv, Poetry, PDM, Pipenv, pixi. Knows their tables; opens no other file.

use super::package_tables::by_name;
use super::{indexes, install};
use crate::budget::{NODE, Share};
use crate::catalog;
use crate::facts::{IndexSetting, Package, PackageManager};
use crate::known::{Fact, Known, Why};
use crate::parse::markers::{self, Marker};
use crate::parse::requirements::normalized;
use crate::parse::{Node, View};
use crate::source::Traced;
use std::collections::BTreeMap;

/// Lists of indexes by their names. <https://docs.astral.sh/uv/concepts/indexes/>,
/// <https://python-poetry.org/docs/repositories/>, <https://pipenv.pypa.io/en/latest/indexes.html>
const LISTS: [&str; 5] = ["tool.uv.index", "index", "tool.poetry.source", "tool.pdm.source", "source"];

/// Tables with URLs of indexes, and their keys there.
const TABLES: [&str; 6] = ["tool.uv", "tool.uv.pip", "pip", "pypi-options", "tool.pixi.pypi-options", "tool.pdm"];
const URLS: [&str; 5] = ["index-url", "extra-index-url", "extra-index-urls", "find-links", "default-index"];

/// Most indexes that a package names beside its own: each package states all of them.
const MOST: usize = 8;

/// States where each package of a file is looked for.
pub fn set(view: View<'_>, packages: &mut [Package], share: &Share) {
    let (named, everywhere) = stated(view);
    sources(view.path("tool.uv.sources"), &named, packages, share);
    let size: usize = everywhere.iter().map(|url| url.text().len()).sum();
    for package in packages {
        if share.make(NODE + size).is_err() {
            return;
        }
        match package.index_url.get().filter(|url| !url.contains("://")).map(|name| named.get(name)) {
            Some(Some(url)) => install::set_indexes(package, Some(url), &[]),
            Some(None) => {
                package.index_url =
                    Fact::unknown(Why::NotStated("the URL of the index".into()), package.index_url.span);
            }
            None => {}
        }
        let open = package.index_url.is_absent() && package.url.is_absent();
        if open && package.manager.get() != Some(&PackageManager::Conda) {
            install::set_indexes(package, None, &everywhere);
        }
    }
}

/// The indexes of the configuration of uv, which hold for what other files list.
pub fn of_configuration(view: View<'_>) -> impl Iterator<Item = IndexSetting> {
    stated(view).1.into_iter().filter_map(|url| indexes::for_others(&install::fact(&url)))
}

/// Indexes by their names, and those that every package may come from beside the default one.
fn stated(view: View<'_>) -> (BTreeMap<String, Traced>, Vec<Traced>) {
    let (mut named, mut everywhere) = (BTreeMap::<String, Traced>::new(), Vec::new());
    for index in LISTS.iter().flat_map(|list| view.path(list).items()) {
        let Some(url) = index.get("url").traced() else { continue };
        let explicit = index.get("explicit").boolean().get() == Some(&true)
            || index.get("priority").string().get().is_some_and(|priority| priority == "explicit");
        everywhere.extend((!explicit).then(|| url.clone()));
        if let Some(name) = index.get("name").string().get() {
            named.entry(name.clone()).or_insert(url);
        }
    }
    for table in TABLES {
        let urls = URLS.iter().map(|key| view.path(table).get(key));
        everywhere.extend(urls.flat_map(|urls| urls.traced().into_iter().chain(urls.items().filter_map(View::traced))));
    }
    everywhere.retain(|url| !catalog::is_default_index(url.text()));
    everywhere.truncate(MOST);
    (named, everywhere)
}

/// uv: the packages that come from an index by its name; a package may have one for each extra or platform.
fn sources(stated: View<'_>, named: &BTreeMap<String, Traced>, packages: &mut [Package], share: &Share) {
    let places = by_name(packages);
    for (name, source) in stated.entries() {
        let sources: Vec<View<'_>> =
            if source.node().is_some_and(Node::is_seq) { source.items().collect() } else { vec![source] };
        let wanted = normalized(name);
        for &at in places.get(&wanted).into_iter().flatten() {
            if share.work(NODE * (1 + sources.len())).is_err() {
                return;
            }
            let package = &mut packages[at];
            let taken = sources.iter().find_map(|source| match from_here(*source, package) {
                Some(false) => None,
                certain => Some((certain, source)),
            });
            let Some((certain, source)) = taken else { continue };
            let index = source.get("index").string();
            let url = index.get().and_then(|index| named.get(index));
            match certain {
                Some(_) => install::set_indexes(package, url, &[]),
                None => {
                    let marker = source.get("marker").string().get().cloned().unwrap_or_default();
                    package.index_url =
                        Fact::unknown(Why::NotStated(format!("whether {marker}").into()), source.place());
                }
            }
        }
    }
}

/// Whether a package comes from a source; `None` where the environment decides.
fn from_here(source: View<'_>, package: &Package) -> Option<bool> {
    let of_group = ["extra", "group"].iter().map(|key| source.get(key).string()).find(|group| !group.is_absent());
    if let Some(group) = of_group
        && group.get().map(|g| normalized(g)) != package.group.get().cloned()
    {
        return Some(false);
    }
    match source.get("marker").string().known {
        Known::Absent => Some(true),
        Known::Unknown(_) => None,
        Known::Value(marker) => {
            Marker::parse(&marker)?.holds(&|variable| markers::of_linux(variable).map(str::to_owned))
        }
    }
}
