//! Kustomizations of a run: the ones that no other includes are built, and what they build is linted instead of what
//! they are built from. Knows which are deployed together; builds nothing itself.

use super::charts::Set;
use crate::extract;
use crate::facts::{Facts, Object};
use crate::parse::{Problem, Tree};
use crate::render::kustomize::{self, File, Files};
use crate::source::{SourceId, Sources, Span};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The kustomizations of a run, built.
#[derive(Default)]
pub struct Kustomized {
    /// Facts of those that share no file with one before them.
    pub facts: Facts,
    /// The others: the same objects in another form.
    pub variants: Vec<Set>,
    /// Files whose documents the built ones speak for.
    pub used: BTreeSet<SourceId>,
    /// What kept kustomizations from being built.
    pub failures: Vec<Problem>,
    /// Kustomizations that include what is not here, with what that is.
    pub skipped: Vec<(String, String)>,
}

/// What one kustomization gave.
struct One {
    name: String,
    source: SourceId,
    facts: Facts,
    used: BTreeSet<SourceId>,
    charts: bool,
    unread: Vec<Problem>,
}

/// Builds every kustomization that no other one includes. `trees` are the files in YAML and JSON.
pub fn build(sources: &Sources, trees: &[Option<Arc<Tree>>]) -> Kustomized {
    if !sources.iter().any(|(_, source)| kustomize::is_kustomization(&source.path)) {
        return Kustomized::default();
    }
    let files = Files::new(sources.iter().map(|(id, source)| {
        let tree = trees.get(id.0 as usize).and_then(Option::as_deref);
        (source.path.as_str(), File { source: id, text: &source.text, tree })
    }));
    let built: Vec<Result<One, Problem>> = files.roots().into_par_iter().map(|root| guarded(&files, root)).collect();
    let mut out = Kustomized::default();
    let mut firsts: Vec<(String, BTreeSet<SourceId>)> = Vec::new();
    for one in built {
        let one = match one {
            Ok(one) => one,
            Err(problem) => {
                out.failures.push(problem);
                continue;
            }
        };
        if let Some(first) = one.unread.first() {
            let more = match one.unread.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            out.skipped.push((sources.get(one.source).path.clone(), format!("built in part: {}{more}", first.message)));
        }
        out.used.extend(&one.used);
        if one.charts {
            out.variants.push(Set::new(&one.name, super::charts::DEFAULTS, one.facts));
            continue;
        }
        match firsts.iter_mut().find(|(_, used)| !used.is_disjoint(&one.used)) {
            Some((first, used)) => {
                used.extend(&one.used);
                out.variants.push(Set::new(&one.name, first, one.facts));
            }
            None => {
                firsts.push((one.name.clone(), one.used));
                out.facts.append(one.facts);
            }
        }
    }
    out
}

/// Objects of further sets that carry suppressions.
pub fn annotated(sets: &[Set]) -> Vec<Arc<Object>> {
    let annotated = |object: &&Arc<Object>| object.annotations.contains_key("gpulint.dev/ignore");
    sets.iter().flat_map(|set| set.facts.objects.iter().filter(annotated).cloned()).collect()
}

/// Builds a kustomization; a panic is a finding on its file.
fn guarded(files: &Files<'_>, directory: &str) -> Result<One, Problem> {
    let source = files.source(directory).unwrap_or(SourceId(0));
    catch_unwind(AssertUnwindSafe(|| one(files, directory, source))).unwrap_or_else(|_| {
        let message = "gpulint failed on this kustomization; please report it".to_owned();
        Err(Problem { span: Span::new(source, 0..0), message })
    })
}

fn one(files: &Files<'_>, directory: &str, source: SourceId) -> Result<One, Problem> {
    let built = kustomize::build(files, directory)?;
    let mut facts = Facts::default();
    extract::documents(&Arc::new(built.tree), directory, &mut facts);
    let name = if directory.is_empty() { "." } else { directory };
    Ok(One { name: name.to_owned(), source, facts, used: built.used, charts: built.charts, unread: built.unread })
}
