//! Values of releases that their charts do not know: Helm drops them in silence.

use crate::catalog::{self, ChartValues, Taken};
use crate::facts::{Facts, HelmRelease, ReleaseFormat, UnknownValue};
use crate::known::Fact;
use crate::parse::{DEEPEST, View};
use crate::source::Span;
use crate::version::Version;
use std::sync::Arc;

/// Fills `release.unknown_values`.
pub fn link(facts: &mut Facts) {
    for release in &mut facts.releases {
        // What an umbrella chart states for a dependency its own templates and conditions may read too.
        if release.format.get() == Some(&ReleaseFormat::ChartDependency) {
            continue;
        }
        let Some(known) = known(release) else { continue };
        let mut found = Vec::new();
        if let Some(values) = &release.values {
            below(values.view(), "", (&known, DEEPEST), &mut found);
        }
        if !found.is_empty() {
            Arc::make_mut(release).unknown_values = found;
        }
    }
}

/// What the release of the chart knows. A range of releases, or one before its release, is not looked up.
fn known(release: &HelmRelease) -> Option<ChartValues> {
    let version: &Version = release.version.get()?;
    let exact = version.release().len() == 3 && !version.to_string().contains(['-', '*', 'x', '~', '^', '<', '>']);
    let repository = release.repository.get().map(String::as_str);
    catalog::chart_values(release.chart.get()?, version, repository).filter(|_| exact)
}

fn below(values: View<'_>, path: &str, (known, depth): (&ChartValues, usize), found: &mut Vec<UnknownValue>) {
    if depth == 0 {
        return;
    }
    let next = (known, depth - 1);
    match known.takes(path) {
        Taken::Anything => {}
        Taken::Elements => {
            let path = format!("{path}.*");
            values.items().for_each(|item| below(item, &path, next, found));
            values.entries().into_iter().for_each(|(_, value)| below(value, &path, next, found));
        }
        Taken::Keys => {
            for (key, value) in values.entries() {
                // Anchors that others repeat stand under such names.
                if key.starts_with(['_', '.']) || key.starts_with("x-") || key.contains('.') {
                    continue;
                }
                let here = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                if known.knows(path, key) {
                    below(value, &here, next, found);
                    continue;
                }
                let place = values.node().and_then(|node| node.entry(key)).map_or(value.place(), |(key, _)| key.span());
                found.push(unknown((path, key), place, known));
            }
        }
    }
}

fn unknown((under, key): (&str, &str), place: Span, known: &ChartValues) -> UnknownValue {
    let path = if under.is_empty() { key.to_owned() } else { format!("{under}.{key}") };
    let mut out = UnknownValue::blank(place);
    out.key = Fact::value(path, place);
    out.nearest = Fact::from_option(known.nearest(under, key), place);
    out
}
