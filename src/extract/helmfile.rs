//! Charts that helmfile installs: `helmfile.yaml` and the files of `helmfile.d`. Knows how it inherits, switches and names
//! values; evaluates none of its templates.

use super::kubernetes;
use crate::budget::{STEP, Share, Spent};
use crate::facts::{Facts, HelmRelease, NamedPath, PathRole, ReleaseFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Problem, Raw, Tree, View, merged};
use crate::version::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether a document lists releases of charts.
pub fn is_helmfile(root: Node<'_>) -> bool {
    let chart = |item: Node<'_>| ["chart", "inherit"].iter().any(|key| item.get(key).is_some());
    let release = |item: Node<'_>| item.get("name").is_some() && chart(item);
    root.get("apiVersion").is_none() && root.get("releases").is_some_and(|list| list.items().any(release))
}

/// Reads a document: each release once, or once for each environment that its values depend on.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, facts: &mut Facts) {
    let environments: Vec<&str> = entries(tree, "environments").map(|(name, _)| name).collect();
    let mut templates = BTreeMap::new();
    for (name, view) in entries(tree, "templates") {
        templates.entry(name).or_insert(view);
    }
    // Many releases may inherit from one template that is large.
    let share = Share::least(tree.len() * STEP);
    for item in root.view().get("releases").items() {
        let names = item.get("inherit").items().filter_map(|i| i.get("template").string().get().cloned());
        let templates = names.filter_map(|name| templates.get(name.as_str()).copied());
        let layers: Vec<Raw> = templates.chain([item]).map(|view| Raw::new(tree, view)).collect();
        let installed = merged(&layers, &share).and_then(|whole| match whole {
            Some(whole) => install(&whole, tree, (&environments, &share), facts),
            None => Ok(()),
        });
        if let Err(spent) = installed {
            let message = format!("releases from here on: {spent}");
            facts.cut.push(Problem { span: item.place(), message });
            return;
        }
    }
}

/// Adds a release, in each of the environments that its values depend on.
fn install(whole: &Raw, tree: &Tree, (environments, share): (&[&str], &Share), facts: &mut Facts) -> Result<(), Spent> {
    let view = whole.view();
    if is_off(view, tree) {
        return Ok(());
    }
    let dependent = given(view).any(|values| values.traced().is_some_and(|text| environment_in(text.text()).is_some()));
    let environments = environments.iter().map(|name| Some(*name));
    let environments: Vec<Option<&str>> = environments.filter(|_| dependent).collect();
    let environments = if environments.is_empty() { vec![None] } else { environments };
    for (at, environment) in environments.into_iter().enumerate() {
        let release = release(whole, tree, (environment, share))?;
        // What stands inline is the same in every environment.
        if at == 0 {
            kubernetes::in_values(&release, facts);
            let chart = view.get("chart").string();
            if chart.get().is_some_and(|chart| chart.starts_with("./") || chart.starts_with("../")) {
                facts.paths.push(NamedPath { path: chart, role: PathRole::Chart });
            }
        }
        facts.releases.push(Arc::new(release));
    }
    Ok(())
}

/// The entries under a key in any document of the file.
fn entries<'t>(tree: &'t Tree, key: &str) -> impl Iterator<Item = (&'t str, View<'t>)> {
    let roots: Vec<View<'t>> = tree.roots().map(|root| root.view().get(key)).collect();
    roots.into_iter().flat_map(View::entries)
}

/// Whether a release is installed nowhere: it says so, or the value that switches it is false in every environment.
fn is_off(view: View<'_>, tree: &Tree) -> bool {
    let condition = view.get("condition").string();
    let off = |values: View<'_>, path: &str| {
        let stated = values.items().filter_map(|layer| layer.path(path).boolean().get().copied());
        stated.last().or_else(|| values.path(path).boolean().get().copied()) == Some(false)
    };
    let everywhere = |path: &String| {
        let environments: Vec<View<'_>> = entries(tree, "environments").map(|(_, view)| view.get("values")).collect();
        !environments.is_empty() && environments.into_iter().all(|values| off(values, path))
    };
    view.get("installed").boolean().get() == Some(&false) || condition.get().is_some_and(everywhere)
}

/// What a release takes values from, in order of rising precedence. Its `secrets` are credentials.
fn given(view: View<'_>) -> impl Iterator<Item = View<'_>> {
    view.get("values").items().chain(view.get("valuesTemplate").items())
}

fn release(whole: &Raw, tree: &Tree, (environment, share): (Option<&str>, &Share)) -> Result<HelmRelease, Spent> {
    let view = whole.view();
    let chart = view.get("chart");
    let mut out = HelmRelease::blank(chart.place());
    out.format = Fact::value(ReleaseFormat::Helmfile, chart.place());
    out.name = view.get("name").string();
    out.namespace = view.get("namespace").string();
    out.chart =
        chart.string().map(|chart| chart.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
    out.version = view.get("version").parse(Version::parse);
    out.kubernetes = view.get("kubeVersion").string();
    let repositories: Vec<View<'_>> = tree.roots().flat_map(|root| root.view().get("repositories").items()).collect();
    let repository = chart.string().get().and_then(|chart| {
        let (name, _) = chart.split_once('/')?;
        repositories.iter().find(|repository| repository.get("name").string().get().is_some_and(|n| n == name))
    });
    match repository {
        Some(repository) => out.repository = repository.get("url").string(),
        None => out.path = chart.string(),
    }
    let given: Vec<View<'_>> = given(view).collect();
    let files = given.iter().rposition(|item| !item.node().is_some_and(Node::is_map)).map_or(0, |last| last + 1);
    let (below, above) = given.split_at(files);
    out.values_from = below.iter().map(|item| file(*item, environment)).collect();
    out.values = merged(&above.iter().map(|item| Raw::new(&whole.tree, *item)).collect::<Vec<_>>(), share)?;
    let single = ["set", "setString", "setTemplate"].into_iter().flat_map(|key| view.get(key).items());
    out.set = single
        .filter_map(|set| {
            let value = set.get("value").string();
            let listed = || Fact::unknown(Why::NotModelled("a value from a list or a file".into()), set.place());
            Some((set.get("name").string().get()?.clone(), if value.is_absent() { listed() } else { value }))
        })
        .collect();
    out.set_text = view.get("setString").items().map(|set| set.get("name").string()).collect();
    Ok(out)
}

/// The file of values that an item names, in an environment.
fn file(item: View<'_>, environment: Option<&str>) -> Fact<String> {
    if item.node().is_some_and(Node::is_map) {
        return Fact::unknown(Why::NotModelled("values under those of a file".into()), item.place());
    }
    let named = item.string();
    let (Known::Unknown(_), Some(text), Some(environment)) = (&named.known, item.traced(), environment) else {
        return named;
    };
    let mut path = text.text().to_owned();
    while let Some(at) = environment_in(&path) {
        path.replace_range(at, environment);
    }
    if crate::parse::placeholder(&path).is_some() { named } else { Fact::value(path, item.place()) }
}

/// Where the name of the environment is asked for, as written or as a masked template leaves it.
fn environment_in(text: &str) -> Option<std::ops::Range<usize>> {
    [("{{", "}}"), ("$(", ")")].into_iter().find_map(|(open, close)| {
        let start = text.find(open)?;
        let end = start + text[start..].find(close)?;
        let inner = text[start + open.len()..end].trim_matches([' ', '-', '.']);
        (inner == "Environment.Name").then_some(start..end + close.len())
    })
}
