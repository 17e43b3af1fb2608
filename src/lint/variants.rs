//! What rules find in every variant of a repository, told once. Knows findings and variants; makes neither.

use crate::evaluate::{self, Evaluation};
use crate::facts::Facts;
use crate::finding::{Finding, Label};
use crate::link::{Routes, Variant};
use crate::rules::Ruleset;
use crate::source::{Sources, Span};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What a label says at the expression that brought a value in.
const ROUTE: &str = "the template puts it here";

/// Asks the rules about everything: what is told first all together, then every other form among what is plain.
/// A rule that fires at a place under several forms is told once, with their names.
pub fn ask(variants: &[Variant], sources: &Sources, rules: &Ruleset) -> Evaluation {
    let paths: Vec<&str> = sources.iter().map(|(_, source)| source.path.as_str()).collect();
    let (first, further): (Vec<&Variant>, Vec<&Variant>) = variants.iter().partition(|v| v.beside.is_none());
    let plain: Vec<&Facts> = variants.iter().filter(|v| v.is_plain()).map(|v| &v.facts).collect();
    let ask = |variants: &[&Variant], beside: &[&Facts]| {
        let facts: Vec<&Facts> = variants.iter().map(|variant| &variant.facts).collect();
        let mut evaluation = evaluate::evaluate(&facts, beside, &paths, rules);
        explain(&mut evaluation, variants);
        evaluation
    };
    let mut evaluation = ask(&first, &[]);
    let asked: Vec<Evaluation> = further.par_iter().map(|variant| ask(&[variant], &plain)).collect();
    merge(&mut evaluation, further.into_iter().zip(asked));
    evaluation
}

/// Adds to each finding at a value the expression that put the value where it does harm.
fn explain(evaluation: &mut Evaluation, variants: &[&Variant]) {
    let mut routes: Routes = variants.iter().flat_map(|variant| &variant.routes).copied().collect();
    routes.sort();
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

/// Adds the findings of further forms. A rule that fires at a place under several of them is told once, with their names.
fn merge<'v>(into: &mut Evaluation, further: impl Iterator<Item = (&'v Variant, Evaluation)>) {
    let mut told: BTreeMap<(String, Span), usize> = BTreeMap::new();
    let key = |finding: &Finding| (finding.rule.clone(), finding.span);
    into.findings.iter().enumerate().for_each(|(i, finding)| {
        told.entry(key(finding)).or_insert(i);
    });
    for (variant, evaluation) in further {
        for mut finding in evaluation.findings {
            match told.get(&key(&finding)) {
                Some(_) if variant.elsewhere => {}
                Some(&i) => {
                    let names = &mut into.findings[i].values;
                    if names.is_empty() {
                        names.extend(variant.beside.clone());
                    }
                    if !names.contains(&variant.name) {
                        names.push(variant.name.clone());
                    }
                }
                None => {
                    finding.values.push(variant.name.clone());
                    told.insert(key(&finding), into.findings.len());
                    into.findings.push(finding);
                }
            }
        }
        into.undecided.extend(evaluation.undecided);
    }
}
