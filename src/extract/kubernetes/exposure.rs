//! Who reaches a Service or an Ingress: what annotations, addresses, classes and ranges say of it.

use crate::catalog::{self, Reach};
use crate::facts::{Labels, Route};
use crate::known::{Fact, Known, Why};
use crate::parse::View;
use crate::paths;
use crate::source::Span;
use std::net::IpAddr;

/// Words of annotations that limit who is served.
const SOURCES: [&str; 5] = ["whitelist", "allowlist", "source-ranges", "source-range", "inbound-cidrs"];

/// Ranges of addresses that hold everybody.
const ANYWHERE: [&str; 2] = ["0.0.0.0/0", "::/0"];

/// Domains that exist in private networks only: RFC 6761, RFC 6762, RFC 8375, and the one that ICANN reserved for them.
const PRIVATE_DOMAINS: [&str; 4] = ["home.arpa", "internal", "local", "localhost"];

/// Whether the internet reaches a Service: absent where its balancer is public or not by what makes it, which nothing in
/// the Service says.
pub fn of_service(kind: &Fact<String>, annotations: &Labels, spec: View<'_>) -> Fact<bool> {
    let place = kind.span;
    let public = kind.clone().and_then(|kind| match kind.as_str() {
        "LoadBalancer" => {
            let limited = limits(&spec.get("loadBalancerSourceRanges").strings(), place);
            let limited = any([limited].into_iter().chain(ranges(annotations)), place);
            limited
                .and_then(
                    |limited| if limited { Known::Value(false) } else { of_balancer(annotations, spec, place).known },
                )
                .known
        }
        "NodePort" => Known::Unknown(Why::LeftTo("the network of the nodes".into())),
        _ => Known::Value(false),
    });
    Fact { span: place, ..public }
}

fn of_balancer(annotations: &Labels, spec: View<'_>, place: Span) -> Fact<bool> {
    let address = spec.get("loadBalancerIP").string().and_then(|text| reached_at(&text));
    let class = spec.get("loadBalancerClass").string();
    let left = class.clone().and_then(|class| Known::Unknown(Why::LeftTo(format!("the class {class}").into())));
    first([annotated(annotations, place), address, by_default(&class), left], place)
}

/// Whether an Ingress or route asks for a credential: by its annotations and labels, which an authenticating proxy goes by, or
/// by what it is passed through.
pub fn is_authenticated(route: &Route, labels: &Labels, spec: View<'_>) -> Fact<bool> {
    let named = |name: &Fact<String>| name.clone().map(|name| catalog::names_login(&name));
    let signs = || route.annotations.iter().chain(labels);
    let asked = signs().filter(|(key, _)| catalog::names_login(paths::name(key))).map(|(_, value)| asks(value));
    let passed = signs().filter(|(key, _)| key.ends_with("middlewares")).map(|(_, value)| named(value));
    let of_rule = |rule: View<'_>| {
        let middlewares = rule.get("middlewares").items().map(|one| one.get("name").string());
        let filters = rule.get("filters").items().map(|one| one.path("extensionRef.name").string());
        any(middlewares.chain(filters).map(|name| named(&name).or_default(false)), rule.place())
    };
    let rules = ["routes", "rules"].map(|key| spec.get(key).items().map(of_rule).collect::<Vec<_>>());
    let asks = any(asked.chain(passed).chain(rules.map(|of| all(of, route.span))), route.span);
    asks.and_then(|asks| if asks { Known::Value(true) } else { Known::Absent })
}

/// Whether an Ingress or route asks for a credential, limits its clients or cannot be reached from the internet.
pub fn is_protected(route: &Route, spec: View<'_>) -> Fact<bool> {
    let place = route.span;
    // An Ingress of a class that the catalog does not know is as open as the balancer before its controller.
    let public = first([annotated(&route.annotations, place), by_default(&route.class)], place);
    let inside = public.map(|public| !public).or_default(false);
    let hosts: Vec<Fact<String>> = spec.get("rules").items().map(|rule| rule.get("host").string()).collect();
    let named = hosts.iter().all(|host| host.get().is_some_and(|host| is_private_name(host))) && !hosts.is_empty();
    let guards = ranges(&route.annotations).chain([inside, Fact::value(named, place)]);
    any([route.authenticated.clone()].into_iter().chain(guards), place)
}

/// Whether annotations say that the internet reaches the balancer; of several that say something, the private one counts.
fn annotated(annotations: &Labels, place: Span) -> Fact<bool> {
    let stated = annotations.iter().filter(|(key, _)| catalog::is_about_reach(key)).map(|(key, value)| {
        Fact::watched(|| {
            value.clone().and_then(|text| match catalog::reach_of_annotation(key, &text) {
                Some(Reach::Private) => Known::Value(false),
                Some(Reach::Public) => Known::Value(true),
                Some(Reach::Addresses) => reached_at(&text),
                Some(Reach::Elsewhere) => Known::Unknown(Why::LeftTo(key.as_str().into())),
                None => Known::Absent,
            })
        })
    });
    let mut stated: Vec<Fact<bool>> = stated.filter(|fact| !fact.is_absent()).collect();
    stated.sort_by_key(|fact| fact.get().map_or(1, |public| if *public { 2 } else { 0 }));
    stated.into_iter().next().unwrap_or_else(|| Fact::absent(place))
}

/// Whether the internet reaches what the controller of a class makes by default; absent for a class that has no row.
fn by_default(class: &Fact<String>) -> Fact<bool> {
    Fact::watched(|| {
        class.clone().and_then(|class| match catalog::default_reach(&class) {
            Some(Reach::Private) => Known::Value(false),
            Some(Reach::Public) => Known::Value(true),
            Some(_) => Known::Unknown(Why::LeftTo(format!("the class {class}").into())),
            None => Known::Absent,
        })
    })
}

/// Whether the internet reaches one of these addresses, which commas separate.
fn reached_at(text: &str) -> Known<bool> {
    let addresses: Option<Vec<bool>> = text.split(',').map(|address| is_public(address.trim())).collect();
    match addresses {
        Some(public) => Known::Value(public.contains(&true)),
        None => Known::Unknown(Why::Malformed(text.into())),
    }
}

/// Whether an address is one of the internet; `None` where it is none, or stands for another one.
fn is_public(text: &str) -> Option<bool> {
    let address: IpAddr = text.parse().ok()?;
    let private = match address.to_canonical() {
        IpAddr::V4(v4) => {
            if v4.is_unspecified() || v4.is_documentation() {
                return None;
            }
            let shared = v4.octets()[0] == 100 && v4.octets()[1] & 0xc0 == 64;
            v4.is_private() || v4.is_link_local() || v4.is_loopback() || shared
        }
        IpAddr::V6(v6) => {
            if v6.is_unspecified() || v6.segments()[..2] == [0x2001, 0xdb8] {
                return None;
            }
            v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_loopback()
        }
    };
    Some(!private)
}

fn is_private_name(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    PRIVATE_DOMAINS
        .iter()
        .any(|domain| host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}

/// What the first says that is not absent.
fn first(facts: impl IntoIterator<Item = Fact<bool>>, place: Span) -> Fact<bool> {
    facts.into_iter().find(|fact| !fact.is_absent()).unwrap_or_else(|| Fact::absent(place))
}

/// Whether one is true; else unknown where one is.
fn any(facts: impl Iterator<Item = Fact<bool>>, place: Span) -> Fact<bool> {
    let mut out = Fact::value(false, place);
    for fact in facts {
        if fact.get() == Some(&true) {
            return fact;
        }
        if fact.is_unknown() {
            out = fact;
        }
    }
    out
}

/// Whether there are some and each is true; else unknown where none is false.
fn all(facts: Vec<Fact<bool>>, place: Span) -> Fact<bool> {
    let some = !facts.is_empty();
    any(facts.into_iter().map(|fact| fact.map(|holds| !holds)), place).map(|fails| some && !fails)
}

/// Whether ranges of addresses leave somebody out: none is no limit.
fn limits(ranges: &[Fact<String>], place: Span) -> Fact<bool> {
    let everybody = ranges.iter().map(|range| range.clone().map(|text| ANYWHERE.contains(&text.trim())));
    let everybody = any(everybody, place);
    if ranges.is_empty() { everybody } else { everybody.map(|everybody| !everybody) }
}

/// Whether each annotation with ranges of addresses leaves somebody out.
fn ranges(annotations: &Labels) -> impl Iterator<Item = Fact<bool>> {
    annotations.iter().filter(|(key, _)| has_word(key, &SOURCES)).map(|(_, value)| {
        let ranges: Vec<Fact<String>> = match value.get() {
            Some(text) => text.split(',').map(|range| Fact::value(range.trim().to_owned(), value.span)).collect(),
            None => vec![value.clone()],
        };
        limits(&ranges, value.span)
    })
}

/// Whether the value of an annotation asks for a credential.
fn asks(value: &Fact<String>) -> Fact<bool> {
    value.clone().map(|text| !["", "false", "none", "off"].contains(&text.trim().to_lowercase().as_str()))
}

fn has_word(key: &str, words: &[&str]) -> bool {
    words.iter().any(|word| paths::name(key).contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_internet_and_others() {
        for (text, public) in [
            ("10.0.0.5", Some(false)),
            ("192.168.178.20", Some(false)),
            ("100.100.3.4", Some(false)),
            ("fd12::1", Some(false)),
            ("34.118.20.7", Some(true)),
            ("2a01:4f8::1", Some(true)),
            ("0.0.0.0", None),
            ("203.0.113.9", None),
            ("my-address", None),
        ] {
            assert_eq!(is_public(text), public, "{text}");
        }
        assert_eq!(reached_at("10.0.0.5, 34.118.20.7"), Known::Value(true));
    }

    #[test]
    fn names_of_private_networks() {
        assert!(is_private_name("chat.lab.home.arpa") && is_private_name("LLM.local."));
        assert!(!is_private_name("notlocal") && !is_private_name("local.example.org"));
    }
}
