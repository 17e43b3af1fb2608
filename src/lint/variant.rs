//! Variants: the documents of a chart under one set of values, or of a kustomization, under a name, instead of those of
//! its other forms. Knows what each gave; makes none itself.

use crate::evaluate::{self, Evaluation};
use crate::facts::Facts;
use crate::finding::{Finding, Label};
use crate::link::Deployment;
use crate::rules::Ruleset;
use crate::source::{Sources, Span};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Places of values, sorted, each with the expression of a template that brought the value in.
pub type Routes = Vec<(Span, Span)>;

/// What a label says at the expression that brought a value in.
const ROUTE: &str = "the template puts it here";

/// One form of what is deployed together.
pub struct Variant {
    /// What reports call it.
    pub name: String,
    /// What reports call the form that is asked about first, where this is another one.
    pub beside: Option<String>,
    /// Whether it differs by what the cluster offers alone: what the form beside it shows too is not told of it.
    pub elsewhere: bool,
    /// Its facts.
    pub deployment: Deployment,
    /// Places of values, each with the expression that brought the value in.
    pub routes: Routes,
}

/// The plain files and the variants, for joining.
pub fn deployments<'d>(plain: &'d mut Deployment, variants: &'d mut [Variant]) -> Vec<&'d mut Deployment> {
    std::iter::once(plain).chain(variants.iter_mut().map(|variant| &mut variant.deployment)).collect()
}

/// Asks the rules about everything: the plain files and first forms together, then every other form among what is plain.
/// A rule that fires at a place under several forms is told once, with their names.
pub fn ask(
    plain: Facts,
    variants: Vec<Variant>,
    sources: &Sources,
    rules: &Ruleset,
) -> (Facts, Vec<(String, Facts)>, Evaluation) {
    let paths: Vec<&str> = sources.iter().map(|(_, source)| source.path.as_str()).collect();
    let (first, further): (Vec<Variant>, Vec<Variant>) = variants.into_iter().partition(|v| v.beside.is_none());
    let context = plain.context();
    let mut facts = plain;
    let mut routes = Vec::new();
    for variant in first {
        facts.append(variant.deployment.facts);
        routes.extend(variant.routes);
    }
    routes.sort();
    let mut evaluation = evaluate::evaluate(&facts, &Facts::default(), &paths, rules);
    explain(&mut evaluation, &routes);
    let asked: Vec<(Variant, Evaluation)> = further
        .into_par_iter()
        .map(|variant| {
            let mut evaluation = evaluate::evaluate(&variant.deployment.facts, &context, &paths, rules);
            explain(&mut evaluation, &variant.routes);
            (variant, evaluation)
        })
        .collect();
    let mut forms = Vec::new();
    let mut further = Vec::new();
    for (variant, evaluation) in asked {
        forms.push((variant.name.clone(), variant.deployment.facts));
        further.push((variant.name, variant.beside.unwrap_or_default(), variant.elsewhere, evaluation));
    }
    merge(&mut evaluation, further);
    (facts, forms, evaluation)
}

/// Adds to each finding at a value the expression that put the value where it does harm.
fn explain(evaluation: &mut Evaluation, routes: &[(Span, Span)]) {
    if routes.is_empty() {
        return;
    }
    for finding in &mut evaluation.findings {
        let place = finding.span;
        let first = routes.partition_point(|(from, _)| from.source < place.source);
        let before =
            routes[first..].iter().take_while(|(from, _)| from.source == place.source && from.start <= place.start);
        // The innermost of those that hold the place.
        let Some(&(_, via)) = before.filter(|(from, _)| from.contains(place)).last() else { continue };
        if !finding.related.iter().any(|label| label.span.contains(via) || via.contains(label.span)) {
            finding.related.push(Label { span: via, text: ROUTE.to_owned() });
        }
    }
}

/// Adds the findings of further sets. A rule that fires at a place under several of them is told once, with their
/// names.
fn merge(into: &mut Evaluation, varied: Vec<(String, String, bool, Evaluation)>) {
    let mut told: BTreeMap<(String, Span), usize> = BTreeMap::new();
    let key = |finding: &Finding| (finding.rule.clone(), finding.span);
    into.findings.iter().enumerate().for_each(|(i, finding)| {
        told.entry(key(finding)).or_insert(i);
    });
    for (name, beside, elsewhere, evaluation) in varied {
        for mut finding in evaluation.findings {
            match told.get(&key(&finding)) {
                Some(_) if elsewhere => {}
                Some(&i) => {
                    let names = &mut into.findings[i].values;
                    if names.is_empty() {
                        names.push(beside.clone());
                    }
                    if !names.contains(&name) {
                        names.push(name.clone());
                    }
                }
                None => {
                    finding.values.push(name.clone());
                    told.insert(key(&finding), into.findings.len());
                    into.findings.push(finding);
                }
            }
        }
        into.undecided.extend(evaluation.undecided);
    }
}
