//! Values of releases that their charts do not know: Helm drops them in silence.

use crate::catalog::{self, ChartValues, Taken};
use crate::facts::{Facts, HelmRelease, UnknownValue};
use crate::known::Fact;
use crate::parse::{DEEPEST, View};
use crate::source::Span;
use crate::version::Version;
use std::sync::Arc;

/// Fills `release.unknown_values`.
pub fn link(facts: &mut Facts) {
    for release in &mut facts.releases {
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
    for (key, value) in values.entries() {
        // Anchors that others repeat stand under such names.
        if key.starts_with(['_', '.']) || key.starts_with("x-") || key.contains('.') {
            continue;
        }
        let here = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match known.takes(&here) {
            Taken::Map => below(value, &here, (known, depth - 1), found),
            Taken::Unknown => {
                let place = values.node().and_then(|node| node.entry(key)).map_or(value.place(), |(key, _)| key.span());
                found.push(unknown(&here, place, known));
            }
            Taken::Whole => {}
        }
    }
}

fn unknown(path: &str, place: Span, known: &ChartValues) -> UnknownValue {
    let mut out = UnknownValue::blank(place);
    out.key = Fact::value(path.to_owned(), place);
    out.nearest = Fact::from_option(known.nearest(path).map(str::to_owned), place);
    out
}
