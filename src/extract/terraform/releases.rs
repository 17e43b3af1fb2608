//! Charts that Terraform installs.

use crate::budget::Share;
use crate::facts::value::REST;
use crate::facts::{Facts, HelmRelease, ReleaseFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Dialect, Problem, Raw, Tree, View, merged, yaml};
use crate::version::Version;
use std::sync::Arc;

/// A chart: the items of `values` are merged in order, and `set` blocks lie over them. The facts are told where that is too
/// much.
pub fn release(tree: &Arc<Tree>, view: View<'_>, share: &Share, facts: &mut Facts) -> HelmRelease {
    let chart = view.get("chart");
    let mut out = HelmRelease::blank(chart.place());
    out.format = Fact::value(ReleaseFormat::Terraform, chart.place());
    out.name = view.get("name").string();
    out.namespace = view.get("namespace").string();
    out.chart = chart.string().map(|c| c.trim_end_matches('/').rsplit('/').next().unwrap_or("").to_owned());
    out.path = chart.string();
    out.version = view.get("version").parse(Version::parse);
    out.repository = view.get("repository").string();
    let values = view.get("values");
    let told = share.spent().is_some();
    let layers: Vec<Option<Raw>> = values.items().map(|item| layer(tree, item, share)).collect();
    // What is not at hand may set anything.
    let known = layers.iter().all(Option::is_some) && values.node().is_none_or(|n| n.is_seq());
    out.values_complete = Fact::value(known, values.place());
    let missing = values.items().zip(&layers).filter(|(_, layer)| layer.is_none()).map(|(item, _)| item.string());
    out.values_from = missing.collect();
    let layers: Vec<Raw> = layers.into_iter().flatten().collect();
    out.values = merged(&layers, share).ok().flatten();
    if let Some(spent) = share.spent() {
        out.values_complete = Fact::value(false, values.place());
        let message = format!("the values of releases from here on: {spent}");
        facts.cut.extend((!told).then(|| Problem { span: values.place(), message }));
    }
    let given = ["set", "set_string", "set_sensitive", "set_wo"].into_iter().flat_map(|key| view.get(key).items());
    out.set = given.filter_map(single).collect();
    let is_text = |set: &View<'_>| set.get("type").string().get().is_some_and(|ty| ty == "string");
    let texts = view.get("set_string").items().chain(view.get("set").items().filter(is_text));
    out.set_text = texts.map(|set| set.get("name").string()).collect();
    let lists = view.get("set_list").items().filter_map(single);
    out.set.extend(lists.map(|(name, value)| {
        let why = Why::NotModelled("a value from a list".into());
        (name, Fact::unknown(why, value.span))
    }));
    out
}

/// A value that is set by name; where the name cannot be told it may be any.
fn single(set: View<'_>) -> Option<(String, Fact<String>)> {
    let name = set.get("name").string();
    match name.known {
        Known::Value(name) => Some((name, set.get("value").string())),
        Known::Unknown(_) => Some((REST.to_owned(), name)),
        Known::Absent => None,
    }
}

/// An application of Nebius' catalog: a chart with values of its own, of which this sets some.
/// https://github.com/nebius/nebius-solutions-library modules/gpu-operator/main.tf
pub fn of_nebius(view: View<'_>) -> HelmRelease {
    let product = view.get("product_slug");
    let mut out = HelmRelease::blank(product.place());
    out.format = Fact::value(ReleaseFormat::Terraform, product.place());
    out.name = view.get("application_name").string();
    out.namespace = view.get("namespace").string();
    out.chart = product.string().map(|slug| slug.rsplit('/').next().unwrap_or_default().to_owned());
    out.values_complete = Fact::value(false, product.place());
    let set = view.get("set").entries().into_iter().filter(|(_, value)| value.is_some());
    out.set = set.map(|(name, value)| (name.to_owned(), value.string())).collect();
    out
}

/// Bytes that reading makes of each byte of a text.
const READ: usize = 8;

/// One item of `values`: a collection that was encoded, or text with spans of its own.
fn layer(tree: &Arc<Tree>, item: View<'_>, share: &Share) -> Option<Raw> {
    if item.node().is_some_and(|n| n.is_map()) {
        return Some(Raw::new(tree, item));
    }
    let text = item.traced()?;
    share.make(READ * text.text().len()).ok()?;
    let inner = Arc::new(yaml::parse_traced(&text, Dialect::Kubernetes));
    let root = inner.roots().next();
    Some(Raw { id: root.map(|r| r.id()), place: item.place(), tree: Arc::clone(&inner), open: None })
}
