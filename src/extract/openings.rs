//! What security groups and firewalls of every cloud let in, by the shapes of the catalog. Knows no type of resource by name.

use super::protection::{Stated, applies, blocks, each, first};
use crate::catalog::{self, OpeningShape};
use crate::facts::{Facts, Opening, PortRange};
use crate::known::{Fact, Known, Why};
use crate::parse::View;
use std::sync::Arc;

/// Every port.
const ALL: (i64, i64) = (0, 65535);

/// Reads what a resource lets in.
pub fn read(view: View<'_>, stated: &Stated<'_>, facts: &mut Facts) {
    for shape in catalog::openings_of(stated.shape) {
        let found = blocks(view, shape.at()).into_iter();
        facts.openings.extend(found.filter_map(|block| opening(shape, (view, block), stated)).map(Arc::new));
    }
}

fn opening(shape: OpeningShape, (resource, block): (View<'_>, View<'_>), stated: &Stated<'_>) -> Option<Opening> {
    let mut open = None;
    for condition in shape.applies().split_ascii_whitespace() {
        let path = condition.split('=').next().unwrap_or_default();
        let holder = if block.get(path).is_some() { block } else { resource };
        match applies(holder, condition).known {
            Known::Value(false) => return None,
            Known::Unknown(why) => open = Some(why),
            Known::Value(true) | Known::Absent => {}
        }
    }
    let mut out = Opening::blank(block.place());
    (out.kind, out.name) = (stated.kind.clone(), stated.name.clone());
    out.ranges = ranges(shape, block);
    let from = |holder: View<'_>| -> Vec<Fact<String>> {
        let paths = shape.sources().split_ascii_whitespace();
        paths.flat_map(|path| each(holder, path)).flat_map(View::strings).collect()
    };
    let mut sources = from(block);
    if sources.is_empty() {
        sources = from(resource);
    }
    let everywhere = |source: &Fact<String>| source.get().is_some_and(|s| shape.public().split(' ').any(|p| p == s));
    let public = sources.iter().find(|source| everywhere(source));
    out.source = public.or(sources.iter().find(|source| source.is_unknown())).or(sources.first())?.clone();
    out.public = match open {
        Some(why) => Fact::unknown(why, out.source.span),
        None => out.source.clone().map(|_| public.is_some()),
    };
    Some(out)
}

/// The ports of a block; all where none are stated.
fn ranges(shape: OpeningShape, block: View<'_>) -> Vec<PortRange> {
    let range = |span, (first, last): (Fact<i64>, Fact<i64>)| {
        let mut out = PortRange::blank(span);
        (out.first, out.last) = match (first.get(), last.get()) {
            (Some(-1), Some(-1)) => (Fact::value(ALL.0, first.span), Fact::value(ALL.1, last.span)),
            _ => (first, last),
        };
        out
    };
    if shape.ports().is_empty() {
        let end = |paths, default| {
            first(block, paths).map_or(Fact::value(default, block.place()), |at| at.int().or_default(default))
        };
        return vec![range(block.place(), (end(shape.from(), ALL.0), end(shape.to(), ALL.1)))];
    }
    let ports = first(block, shape.ports()).map(View::strings).unwrap_or_default();
    if ports.is_empty() {
        let every = |port| Fact::value(port, block.place());
        return vec![range(block.place(), (every(ALL.0), every(ALL.1)))];
    }
    let of = |text: Fact<String>| {
        let span = text.span;
        let end = |pick: fn((i64, i64)) -> i64| {
            text.clone().and_then(|text| {
                bounds(&text)
                    .map_or_else(|| Known::Unknown(Why::Malformed(text.as_str().into())), |b| Known::Value(pick(b)))
            })
        };
        range(span, (end(|(first, _)| first), end(|(_, last)| last)))
    };
    ports.into_iter().map(of).collect()
}

/// The ends of `8000-9000`, `8000/9000` or `8000`.
fn bounds(text: &str) -> Option<(i64, i64)> {
    if matches!(text, "*" | "-1/-1") || text.eq_ignore_ascii_case("all") {
        return Some(ALL);
    }
    let (first, last) = text.split_once(['-', '/']).unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_by_every_spelling() {
        for (text, wanted) in [("8888", (8888, 8888)), ("8000-9000", (8000, 9000)), ("1/200", (1, 200)), ("*", ALL)] {
            assert_eq!(bounds(text), Some(wanted), "{text}");
        }
        assert_eq!(bounds("http"), None);
    }
}
