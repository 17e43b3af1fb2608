//! Charts that a kustomization installs (`helmCharts`). Knows charts among the files of the run only; fetches none.

use super::super::{Files, doc, join};
use super::{All, Build, Doc, add_document, items, problem};
use crate::parse::{Dialect, Problem, Raw, Tree, yaml};
use crate::render::gotemplate::Doubts;
use crate::render::helm::sets::Release;
use crate::render::helm::{self, Chart, KUBERNETES, ValueSet};
use crate::source::SourceId;
use std::sync::Arc;

impl<'a> Files<'a> {
    fn chart(&self, directory: &str) -> Option<&Chart<'a>> {
        self.charts.iter().map(|chart| &**chart).find(|chart| chart.directory.trim_end_matches('/') == directory)
    }
}

impl Build<'_, '_> {
    /// Adds what a generator of a file makes, where it is part of kustomize and not a plugin.
    pub(super) fn generator(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        for doc in self.configurations(directory, entry)? {
            match doc.text_at(&["kind"]).filter(|_| doc.text_at(&["apiVersion"]) == Some("builtin")) {
                Some("HelmChartInflationGenerator") => {
                    let home = doc.text_at(&["chartHome"]).unwrap_or("charts").to_owned();
                    self.chart(directory, &doc, &home, all)?;
                }
                Some(kind @ ("ConfigMapGenerator" | "SecretGenerator")) => {
                    let mut item = doc.clone();
                    item.extend(doc.get("metadata").into_iter().flat_map(Doc::entries).cloned());
                    self.generate(directory, (kind.trim_end_matches("Generator"), &item), None, all)?;
                }
                _ => self.not_run(&doc, "this generator"),
            }
        }
        Ok(())
    }

    /// Adds the documents of a chart that stands under `home`.
    pub(super) fn chart(&mut self, directory: &str, entry: &Doc, home: &str, all: &mut All) -> Result<(), Problem> {
        let name = entry.text_at(&["name"]).unwrap_or_default();
        let version = entry.text_at(&["version"]).unwrap_or_default();
        let places = [format!("{home}/{name}-{version}/{name}"), format!("{home}/{name}")];
        let files = self.files;
        let chart = places.iter().find_map(|path| files.chart(&join(directory, path)?));
        let Some(chart) = chart else {
            self.unread.push(problem(entry.head(), format!("the chart `{name}` is not among the files of this run")));
            return Ok(());
        };
        let Some(layers) = self.layers(directory, entry) else { return Ok(()) };
        let release = Release {
            name: entry.text_at(&["releaseName"]).unwrap_or(name).to_owned(),
            assumed: false,
            namespace: entry.text_at(&["namespace"]).unwrap_or("default").to_owned(),
            kubernetes: entry.text_at(&["kubeVersion"]).unwrap_or(KUBERNETES).to_owned(),
            apis: Vec::new(),
        };
        let set = ValueSet { name: String::new(), layers, release, example: None, deployed: true };
        let rendered = helm::render(chart, &set, &Doubts::default(), self.share);
        self.charts = true;
        if let Some(failure) = rendered.failure {
            return Err(failure);
        }
        for (_, why) in rendered.unread {
            self.unread.push(problem(entry.head(), format!("a template of the chart `{name}` is not read: {why}")));
        }
        let crds = rendered.crds.iter().filter(|_| entry.get("includeCRDs").is_some_and(Doc::is_true));
        let crds: Vec<&Tree> = crds.filter_map(|id| self.tree_of(*id)).collect();
        for root in crds.into_iter().chain(rendered.documents.iter().map(|d| &d.tree)).flat_map(Tree::roots) {
            let read = Doc::read(root, self.share).map_err(|spent| problem(entry.span, spent.to_string()))?;
            add_document(&read, (root.span(), entry), all, self.share)?;
        }
        Ok(())
    }

    fn tree_of(&self, source: SourceId) -> Option<&Tree> {
        self.files.files.values().find(|file| file.source == source)?.tree.map(|tree| &**tree)
    }

    /// The values that an entry states, in order of rising precedence; `None` when a file of them is not here.
    fn layers(&mut self, directory: &str, entry: &Doc) -> Option<Vec<Raw>> {
        let mut files = Vec::new();
        for file in entry.get("valuesFile").into_iter().chain(items(entry, "additionalValuesFiles")) {
            let Some(found) = self.file(directory, file.text()?) else {
                self.missing(file);
                return None;
            };
            files.extend(whole(yaml::parse(found.source, found.text, Dialect::Kubernetes)));
        }
        let inline = entry.get("valuesInline").cloned();
        let inline = inline.and_then(|values| whole(doc::tree(values.span.source, [values], self.share).ok()?));
        Some(match entry.text_at(&["valuesMerge"]) {
            Some("replace") if inline.is_some() => inline.into_iter().collect(),
            Some("merge") => inline.into_iter().chain(files).collect(),
            _ => files.into_iter().chain(inline).collect(),
        })
    }
}

fn whole(tree: Tree) -> Option<Raw> {
    let tree = Arc::new(tree);
    let root = yaml::root(&tree)?.view();
    Some(Raw::new(&tree, root))
}
