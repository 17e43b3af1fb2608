//! Stores, keys and endpoints of every cloud and of clusters: what their resources and objects state, by the shapes of
//! the catalog. Knows no type of resource by name.

use super::openings;
use crate::catalog::{self, EndpointShape, KeyReferenceShape, KeyShape, ScalingShape, SpendingShape, StoreShape};
use crate::facts::{Endpoint, Facts, Key, KeyReference, ScalingPolicy, SpendingLimit, Store, StoreRole};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Shape, Tree, View};
use crate::render::terraform::reference;
use crate::source::Traced;
use crate::version::Version;
use crate::words::Word;
use std::sync::Arc;

/// Words that switch something off.
const OFF: [&str; 7] = ["false", "0", "no", "off", "disable", "disabled", "none"];

/// What says in texts that configure proxies which versions of TLS and which ciphers they accept, and where that ends.
const DIRECTIVES: [(&str, &[char], bool); 4] = [
    ("ssl_protocols ", &[';'], false),
    ("ssl_ciphers ", &[';'], true),
    ("tls_minimum_protocol_version:", &['\n', ',', '}'], false),
    ("cipher_suites:", &['\n', ']', '}'], true),
];

/// What a resource or an object is.
pub struct Stated<'s> {
    /// Its type or kind.
    pub kind: Fact<String>,
    /// Its name.
    pub name: Fact<String>,
    /// The type under which the catalog knows it.
    pub shape: &'s str,
    /// The region of what makes it, where that states one.
    pub region: Fact<String>,
}

/// Reads the stores, the key, the names of keys and the endpoints that a resource or an object states.
pub fn read(tree: &Arc<Tree>, view: View<'_>, stated: &Stated<'_>, facts: &mut Facts) {
    for shape in catalog::stores_of(stated.shape) {
        let object = Raw::new(tree, view);
        let of_block = |block| Arc::new(Store { object: Some(object.clone()), ..store(shape, view, block, stated) });
        facts.stores.extend(blocks(view, shape.at()).into_iter().map(of_block));
    }
    facts.crypto_keys.extend(catalog::key_of(stated.shape).map(|shape| Arc::new(key(shape, view, stated))));
    for shape in catalog::key_references_of(stated.shape) {
        let keys = blocks(view, shape.at()).into_iter();
        facts.key_references.extend(keys.filter_map(|key| key_reference(shape, (view, key), stated)).map(Arc::new));
    }
    for shape in catalog::endpoints_of(stated.shape) {
        let blocks = blocks(view, shape.at()).into_iter();
        facts.endpoints.extend(blocks.filter_map(|block| endpoint(shape, block, stated)).map(Arc::new));
    }
    openings::read(view, stated, facts);
    let limit = catalog::spending_limit_of(stated.shape).and_then(|shape| spending_limit(shape, view, stated));
    facts.spending_limits.extend(limit.map(Arc::new));
    let policies = catalog::scaling_policy_of(stated.shape).map(|shape| {
        let mut found = blocks(view, shape.at());
        if found.is_empty() {
            // What an alarm calls states no metric of its own.
            found.push(view);
        }
        found.into_iter().map(move |block| Arc::new(scaling_policy(shape, (view, block), stated)))
    });
    facts.scaling_policies.extend(policies.into_iter().flatten());
}

fn scaling_policy(shape: ScalingShape, (view, block): (View<'_>, View<'_>), stated: &Stated<'_>) -> ScalingPolicy {
    let mut out = ScalingPolicy::blank(block.place());
    (out.kind, out.name) = (stated.kind.clone(), stated.name.clone());
    out.target = first(view, shape.target()).unwrap_or(attribute(view, shape.target())).string();
    out.metric = metric(block, shape.metric());
    out.inward_seconds = attribute(block, shape.inward()).int();
    out.outward_seconds = attribute(block, shape.outward()).int();
    out
}

/// The metric at the first of some paths at which something stands; a block that is about one metric is called `path=metric`.
fn metric(block: View<'_>, paths: &str) -> Fact<String> {
    let found = paths.split_ascii_whitespace().find_map(|path| match path.split_once('=') {
        Some((path, name)) => Some(Fact::value(name.to_owned(), first(block, path)?.place())),
        None => Some(first(block, path)?.string()),
    });
    found.unwrap_or(Fact::absent(block.place()))
}

fn spending_limit(shape: SpendingShape, view: View<'_>, stated: &Stated<'_>) -> Option<SpendingLimit> {
    let amount = first(view, shape.amount())?;
    let mut out = SpendingLimit::blank(amount.place());
    (out.kind, out.name) = (stated.kind.clone(), stated.name.clone());
    out.amount = amount.string();
    let (path, word) = shape.unless().split_once('=').unwrap_or((shape.unless(), ""));
    let tells = |at: &View<'_>| at.is_some() && (word.is_empty() || at.string().get().is_some_and(|text| text == word));
    let otherwise = each(view, path).into_iter().find(|at| !path.is_empty() && tells(at));
    out.alerts = match otherwise {
        Some(at) => vec![Fact::unknown(Why::NotModelled("another way to tell".into()), at.place())],
        None => {
            let scale = if shape.unit() == "fraction" { 100.0 } else { 1.0 };
            let there = |at: &View<'_>| at.node().is_some() && !shape.alerts().is_empty();
            let stated = each(view, shape.alerts()).into_iter().filter(there);
            stated.map(|at| at.float().map(|share| share * scale)).collect()
        }
    };
    Some(out)
}

fn store(shape: StoreShape, resource: View<'_>, block: View<'_>, stated: &Stated<'_>) -> Store {
    let mut out = Store::blank(block.place());
    (out.kind, out.name) = (stated.kind.clone(), stated.name.clone());
    out.role = Fact::from_option(StoreRole::parse(shape.role()), out.span);
    let names = shape.names().split_ascii_whitespace().flat_map(|path| each(resource, path));
    out.names = std::iter::once(stated.name.clone()).chain(names.map(named)).collect();
    let key = first(block, shape.key());
    out.encrypted = match (key, shape.encrypted()) {
        (Some(key), _) => Fact::value(true, key.place()),
        (None, "") if shape.default().is_empty() => Fact::absent(out.span),
        (None, path) => switched(block, path, shape.default(), stated.shape),
    };
    let switch = Some(shape.switch().to_owned()).filter(|switch| !switch.is_empty());
    out.switch = Fact::from_option(switch, out.span);
    (out.access, out.public) = access(shape, block);
    out
}

/// Who may read a store, and whether that is everyone.
fn access(shape: StoreShape, block: View<'_>) -> (Fact<String>, Fact<bool>) {
    let stated: Vec<Fact<String>> = first(block, shape.access()).map(View::strings).unwrap_or_default();
    let everyone = |word: &String| {
        // A right is written on its own, or behind the role that it gives.
        let who = word.rsplit(':').next().unwrap_or(word);
        shape.public().split_ascii_whitespace().any(|public| public == who)
    };
    let public = stated.iter().find(|fact| fact.get().is_some_and(everyone));
    let decisive = public.or(stated.iter().find(|fact| fact.is_unknown())).or(stated.first());
    let access = decisive.cloned().unwrap_or(Fact::absent(block.place()));
    let public = access.clone().map(|_| public.is_some());
    (access, public)
}

fn key(shape: KeyShape, view: View<'_>, stated: &Stated<'_>) -> Key {
    let mut out = Key::blank(view.place());
    (out.kind, out.name) = (stated.kind.clone(), stated.name.clone());
    out.rotatable = applies(view, shape.applies());
    let period = first(view, shape.period());
    out.rotation_days = period.map_or(Fact::absent(out.span), |period| period.parse(|text| days(text, shape.unit())));
    out.rotated = match (shape.rotates(), period) {
        ("", Some(period)) => Fact::value(true, period.place()),
        (path, _) => switched(view, path, shape.default(), stated.shape),
    };
    out
}

/// A key that is named; an empty name is none.
fn key_reference(
    shape: KeyReferenceShape,
    (resource, key): (View<'_>, View<'_>),
    stated: &Stated<'_>,
) -> Option<KeyReference> {
    let mut out = KeyReference::blank(key.place());
    out.key = Some(key.string()).filter(|key| key.get().is_none_or(|text| !text.is_empty()))?;
    (out.kind, out.name) = (stated.kind.clone(), stated.name.clone());
    out.form = Fact::value(shape.form().to_owned(), out.span);
    out.role = Fact::from_option(StoreRole::parse(shape.role()), out.span);
    out.place = match first(resource, shape.place()).filter(|_| !shape.place().is_empty()) {
        Some(place) => place.string(),
        None if shape.is_of_provider() => stated.region.clone(),
        None => Fact::absent(out.span),
    };
    Some(out)
}

fn endpoint(shape: EndpointShape, block: View<'_>, stated: &Stated<'_>) -> Option<Endpoint> {
    let applies = applies(block, shape.applies());
    let tls = first(block, shape.tls());
    let ciphers = first(block, shape.ciphers()).filter(|_| !shape.ciphers().is_empty());
    if applies.get() == Some(&false) || (tls.is_none() && ciphers.is_none() && shape.default() == "none") {
        return None;
    }
    let mut out = Endpoint::blank(block.place());
    (out.kind, out.name) = (stated.kind.clone(), stated.name.clone());
    let place = attribute(block, shape.tls()).place();
    out.ciphers = ciphers.map_or(Fact::absent(out.span), joined);
    out.tls = match (tls, shape.default()) {
        (Some(tls), _) => joined(tls),
        (None, "none") => Fact::absent(place),
        (None, "") => Fact::unknown(Why::NotInCatalog(stated.shape.into()), place),
        (None, default) => Fact::watched(|| Fact::value(default.to_owned(), place)),
    };
    if let Known::Unknown(why) = applies.known {
        out.tls = Fact::unknown(why, applies.span);
    }
    out.tls_minimum = oldest(&out.tls);
    Some(out)
}

/// What a text states, or a list of texts as one.
fn joined(view: View<'_>) -> Fact<String> {
    if !view.node().is_some_and(Node::is_seq) {
        return view.string();
    }
    let stated: Option<Vec<String>> = view.strings().iter().map(|fact| fact.get().cloned()).collect();
    let unknown = || Fact::unknown(Why::NotStated("all that it accepts".into()), view.place());
    stated.map_or_else(unknown, |stated| Fact::value(stated.join(" "), view.place()))
}

/// The oldest version of TLS that a text allows: versions, or a policy.
fn oldest(tls: &Fact<String>) -> Fact<Version> {
    let policy = |text: String| Known::Unknown(Why::NotInCatalog(text.into()));
    Fact::watched(|| {
        tls.clone().and_then(|text| catalog::tls_minimum(&text).map_or_else(|| policy(text), Known::Value))
    })
}

/// Reads where a text that configures a proxy says which versions of TLS and which ciphers a server accepts.
pub fn of_text(text: &Traced, stated: &Stated<'_>, facts: &mut Facts) {
    let whole = text.text();
    for (directive, ends, of_ciphers) in DIRECTIVES {
        for (at, _) in whole.match_indices(directive) {
            let before = whole[..at].rsplit('\n').next().unwrap_or_default();
            let behind = &whole[at + directive.len()..];
            let blank = behind.len() - behind.trim_start_matches([' ', '[', '"', '\'']).len();
            let from = at + directive.len() + blank;
            let Some(end) = whole[from..].find(ends).filter(|_| !before.contains('#')) else { continue };
            let said = whole[from..from + end].trim_end_matches([' ', '"', '\'']);
            if said.is_empty() {
                continue;
            }
            let mut out = Endpoint::blank(text.span(at..from + end));
            (out.kind, out.name) = (stated.kind.clone(), stated.name.clone());
            let said = Fact::value(said.to_owned(), out.span);
            if of_ciphers {
                out.ciphers = said;
            } else {
                out.tls_minimum = oldest(&said);
                out.tls = said;
            }
            facts.endpoints.push(Arc::new(out));
        }
    }
}

/// Whether something is switched on that a path states; by default, where nothing is.
fn switched(view: View<'_>, path: &str, default: &'static str, kind: &str) -> Fact<bool> {
    let place = attribute(view, path).place();
    match first(view, path) {
        // A block is there to switch something on.
        Some(view) if view.node().is_some_and(|node| node.is_map() || node.is_seq()) => Fact::value(true, view.place()),
        Some(view) => view.string().map(|text| !OFF.contains(&text.to_ascii_lowercase().as_str())),
        None if default.is_empty() => Fact::unknown(Why::NotInCatalog(kind.into()), place),
        None => Fact::watched(|| Fact::value(default == "yes", place)),
    }
}

/// Whether all of some conditions `path=word|word` hold; a blank word stands for nothing stated.
pub(super) fn applies(view: View<'_>, conditions: &str) -> Fact<bool> {
    let holds = |condition: &str| {
        let (path, words) = condition.split_once('=')?;
        let stated = attribute(view, path).string().or_default(String::new());
        Some(stated.map(|text| words.split('|').any(|word| word == text)))
    };
    let mut all: Vec<Fact<bool>> = conditions.split_ascii_whitespace().filter_map(holds).collect();
    // What does not hold decides, then what is not known.
    all.sort_by_key(|fact| (fact.get() != Some(&false), !fact.is_unknown()));
    all.into_iter().next().unwrap_or(Fact::value(true, view.place()))
}

/// What something is called: a text, or the reference that stands for it.
fn named(view: View<'_>) -> Fact<String> {
    match view.node().and_then(reference) {
        Some(reference) => Fact::value(reference.to_owned(), view.place()),
        None => view.string(),
    }
}

/// The days of a period: `7776000s`, `90d`, `P3M`, or so many of a unit.
fn days(text: &str, unit: &str) -> Option<f64> {
    let (number, unit) = match text.strip_prefix('P') {
        Some(iso) => (iso, ""),
        None => (text, unit),
    };
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: f64 = digits.parse().ok()?;
    Some(
        count
            * match (&number[digits.len()..], unit) {
                ("s", _) => 1.0 / 86_400.0,
                ("m", _) => 1.0 / 1440.0,
                ("h", _) => 1.0 / 24.0,
                ("d" | "D", _) | ("", "days") => 1.0,
                ("W", _) => 7.0,
                ("M", _) | ("", "months") => 30.0,
                ("Y", _) => 365.0,
                _ => return None,
            },
    )
}

/// The first of some paths at which something stands.
pub(super) fn first<'t>(view: View<'t>, paths: &str) -> Option<View<'t>> {
    paths.split_ascii_whitespace().flat_map(|path| each(view, path)).find(|found| found.is_some())
}

/// What stands at the first of some paths, or would.
pub(super) fn attribute<'t>(view: View<'t>, paths: &str) -> View<'t> {
    let path = paths.split_ascii_whitespace().next().unwrap_or_default();
    each(view, path).into_iter().next().unwrap_or(View::new(None, view.place()))
}

/// The blocks at a path that are there; the whole for a blank one.
pub(super) fn blocks<'t>(view: View<'t>, path: &str) -> Vec<View<'t>> {
    let mut out = each(view, path);
    out.retain(|block| path.is_empty() || block.is_some());
    out
}

/// What stands at a dotted path, in every block on the way; what is left of it may be one key, dots and all.
pub(super) fn each<'t>(view: View<'t>, path: &str) -> Vec<View<'t>> {
    if path.is_empty() {
        return vec![view];
    }
    let whole = matches!(view.has(path), Known::Value(true));
    let (key, rest) = path.split_once('.').filter(|_| !whole).unwrap_or((path, ""));
    let next = view.get(key);
    let is_block = |item: &Node<'_>| item.is_map() || matches!(item.kind(), Shape::Unknown(_));
    let items: Vec<Node<'t>> = next.node().filter(|node| node.is_seq()).into_iter().flat_map(Node::items).collect();
    if items.is_empty() || !items.iter().all(is_block) {
        return each(next, rest);
    }
    items.into_iter().flat_map(|item| each(View::new(Some(item), next.place()), rest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_by_every_spelling() {
        for (text, unit, wanted) in [
            ("7776000s", "", 90.0),
            ("365d", "", 365.0),
            ("P90D", "", 90.0),
            ("P1Y", "", 365.0),
            ("3", "months", 90.0),
            ("180", "days", 180.0),
        ] {
            assert_eq!(days(text, unit), Some(wanted), "{text}");
        }
        assert_eq!(days("often", "days"), None);
        assert_eq!(days("90", ""), None);
    }
}
