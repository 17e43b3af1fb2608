//! Charts installed by Flux, Argo CD and k3s.

use crate::facts::{Facts, HelmRelease};
use crate::parse::{Raw, Tree, View};
use crate::version::Version;
use std::sync::Arc;

/// Reads a release.
pub fn read(tree: &Arc<Tree>, view: View<'_>, kind: &str, facts: &mut Facts) {
    let spec = view.get("spec");
    match kind {
        "HelmRelease" => {
            let chart = spec.path("chart.spec");
            let mut out = release(tree, view, "flux", (chart.get("chart"), chart.get("version")));
            out.values = Some(Raw::new(tree, spec.get("values")));
            facts.releases.push(Arc::new(out));
        }
        "HelmChart" if spec.get("chart").is_some() => {
            let out = release(tree, view, "k3s", (spec.get("chart"), spec.get("version")));
            facts.releases.push(Arc::new(out));
        }
        "Application" => {
            let sources = spec.get("sources").items().chain([spec.get("source")]);
            for source in sources.filter(|s| s.get("chart").is_some()) {
                let mut out = release(tree, view, "argocd", (source.get("chart"), source.get("targetRevision")));
                out.repository = source.get("repoURL").string();
                out.values = Some(Raw::new(tree, source.path("helm.valuesObject")));
                facts.releases.push(Arc::new(out));
            }
        }
        _ => {}
    }
}

fn release(tree: &Arc<Tree>, view: View<'_>, format: &str, (chart, version): (View<'_>, View<'_>)) -> HelmRelease {
    let mut out = HelmRelease::blank(chart.place());
    let _ = tree;
    out.format = crate::known::Fact::value(format.to_owned(), chart.place());
    out.name = view.path("metadata.name").string();
    out.namespace = view.path("metadata.namespace").string();
    out.chart = chart.string().map(|c| c.rsplit('/').next().unwrap_or("").to_owned());
    out.version = version.parse(Version::parse);
    out
}
