//! What rules find in every variant of a repository, told once. Knows findings and variants; makes neither.

use crate::evaluate::{self, Evaluation};
use crate::finding::{Finding, Label};
use crate::link::{Deployed, Directories, Layout, Variant};
use crate::rules::Ruleset;
use crate::source::{SourceId, Span};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What a label says at the expression that brought a value in.
const ROUTE: &str = "the template puts it here";

/// Asks the rules about everything but what stands in idle files. A rule that fires at a place under several forms of one
/// thing is told once, with their names.
pub fn ask(
    variants: &[Variant],
    (directories, paths): (&Directories<'_>, &[&str]),
    idle: &BTreeSet<SourceId>,
    rules: &Ruleset,
) -> Evaluation {
    let layout = Layout::of(variants, directories).without(idle.clone());
    let mut asked = evaluate::evaluate(Deployed::of(variants, &layout), paths, rules);
    asked.par_iter_mut().zip(variants).for_each(|(evaluation, variant)| explain(evaluation, &variant.routes));
    let (first, further): (Vec<_>, Vec<_>) = variants.iter().zip(asked).partition(|(v, _)| v.beside.is_none());
    let mut out = Evaluation::default();
    first.into_iter().for_each(|(_, evaluation)| out.append(evaluation));
    out.settle();
    merge(&mut out, further);
    out
}

/// Adds to each finding at a value the expression that put the value where it does harm.
fn explain(evaluation: &mut Evaluation, routes: &[(Span, Span)]) {
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
fn merge(into: &mut Evaluation, further: Vec<(&Variant, Evaluation)>) {
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
