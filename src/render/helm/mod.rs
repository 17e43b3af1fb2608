//! Helm charts: which files make one, and what it renders to. Knows Helm's layout and rules of values; knows neither
//! Kubernetes nor GPUs.

pub mod chart;
mod ignore;
pub mod install;
pub mod objects;
pub mod sets;
pub mod values;

pub use chart::{Chart, File};
pub use sets::ValueSet;

use crate::parse::{Dialect, Problem, Tree, yaml};
use crate::source::{SourceId, Span};

/// Version of Kubernetes that charts are told when nothing states one: what Helm 3.16 tells them without a cluster.
pub const KUBERNETES: &str = "1.31.0";

/// A document that a chart renders to.
#[derive(Debug)]
pub struct Document {
    /// The template.
    pub template: SourceId,
    /// What it rendered to.
    pub text: String,
    /// The same, read; every node leads to what a person would edit.
    pub tree: Tree,
    /// Places of values, each with the expression that brought the value in.
    pub routes: Vec<(Span, Span)>,
}

/// What a chart renders to.
#[derive(Debug, Default)]
pub struct Rendered {
    /// Documents in the order of their templates.
    pub documents: Vec<Document>,
    /// What is wrong with templates.
    pub failures: Vec<Problem>,
    /// Templates that could not be rendered for want of something that is not here, and what.
    pub unread: Vec<(SourceId, String)>,
}

/// Renders a chart with a set of values.
pub fn render(chart: &Chart<'_>, set: &ValueSet) -> Rendered {
    let table = set.table();
    let (root, _values) = install::install(chart, &table);
    let mut out = Rendered::default();
    templates(&root, &mut out);
    out
}

/// Templates that are YAML as they stand.
fn templates(install: &install::Install<'_>, out: &mut Rendered) {
    for file in install.chart.templates().filter(|file| file.path.ends_with(".yaml") || file.path.ends_with(".yml")) {
        if file.text.contains("{{") {
            out.unread.push((file.source, "Helm template".to_owned()));
        } else {
            let tree = yaml::parse(file.source, file.text, Dialect::Kubernetes);
            out.documents.push(Document {
                template: file.source,
                text: file.text.to_owned(),
                tree,
                routes: Vec::new(),
            });
        }
    }
    install.children.iter().for_each(|child| templates(child, out));
}
