//! Kustomizations of a run: the ones that no other includes are built, and what they build is linted instead of what
//! they are built from. Knows which are deployed together; builds nothing itself.

use super::Repository;
use super::trouble::Trouble;
use crate::extract;
use crate::facts::Facts;
use crate::finding::Unlinted;
use crate::link::Variant;
use crate::parse::{Problem, Tree};
use crate::paths;
use crate::render::kustomize::{self, File, Files};
use crate::source::{SourceId, Span};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The kustomizations of a run, built.
#[derive(Default)]
pub struct Kustomized {
    /// What each of them gave.
    pub variants: Vec<Variant>,
    /// Files whose documents the built ones speak for.
    pub used: BTreeSet<SourceId>,
    /// What kept kustomizations from being built.
    pub failures: Vec<(Problem, Trouble)>,
    /// What files hold beside what is built of them, as they are linted by themselves then.
    pub swallowed: BTreeMap<SourceId, Arc<Tree>>,
    /// Kustomizations that include what is not here, with what that is.
    pub skipped: Vec<(String, String)>,
}

/// What several kustomizations are forms of.
struct Thing {
    /// The first of them.
    source: SourceId,
    name: String,
    resources: BTreeSet<SourceId>,
}

/// What one kustomization gave.
struct One {
    name: String,
    source: SourceId,
    facts: Facts,
    used: BTreeSet<SourceId>,
    /// Files of its resources, but for those of components.
    resources: BTreeSet<SourceId>,
    charts: bool,
    unread: Vec<Problem>,
    /// Documents that it includes, each with whether it is part of what is built.
    included: Vec<(Span, bool)>,
}

/// Builds every kustomization that no other one includes.
pub fn build(repository: &Repository<'_>) -> Kustomized {
    if !repository.iter().any(|(_, source)| paths::is_kustomization(&source.path)) {
        return Kustomized::default();
    }
    let files = Files::new(repository.iter().map(|(id, source)| {
        let tree = repository.trees.get(&id);
        (source.path.as_str(), File { source: id, text: &source.text, tree })
    }));
    let alone = |root: &&str, one: &Result<One, (Problem, Trouble)>| {
        files.is_component(root) && matches!(one, Err((_, Trouble::Kustomization)))
    };
    let built = files.roots().into_par_iter().map(|root| (root, guarded(&files, root)));
    let built: Vec<Result<One, (Problem, Trouble)>> =
        built.filter(|(root, one)| !alone(root, one)).map(|(_, one)| one).collect();
    let mut out = Kustomized::default();
    let mut things: Vec<Thing> = Vec::new();
    let mut included: BTreeMap<Span, bool> = BTreeMap::new();
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
            out.skipped
                .push((repository.path(one.source).to_owned(), format!("built in part: {}{more}", first.message)));
        }
        out.used.extend(&one.used);
        one.included.iter().for_each(|(document, is_built)| *included.entry(*document).or_default() |= is_built);
        // Forms of one thing are made of the same documents.
        let same = things.iter_mut().find(|thing| !thing.resources.is_disjoint(&one.resources));
        let (thing, beside, first) = match same {
            Some(thing) => {
                thing.resources.extend(&one.resources);
                (thing.source, Some(thing.name.clone()), false)
            }
            None => {
                things.push(Thing { source: one.source, name: one.name.clone(), resources: one.resources });
                (one.source, None, !one.charts)
            }
        };
        let beside = if one.charts { Some(super::charts::DEFAULTS.to_owned()) } else { beside };
        let (name, mut facts) = (one.name, one.facts);
        facts.unread.extend((!one.unread.is_empty()).then_some(one.source));
        out.variants.push(Variant { name, facts, thing: Some(thing), first, beside, ..Variant::default() });
    }
    out.swallowed = swallowed(repository, &included);
    out
}

/// The files of which some documents are part of nothing that is built, with these documents alone.
fn swallowed(repository: &Repository<'_>, included: &BTreeMap<Span, bool>) -> BTreeMap<SourceId, Arc<Tree>> {
    let gone: BTreeSet<Span> = included.iter().filter(|(_, is_built)| !**is_built).map(|(span, _)| *span).collect();
    let files: BTreeSet<SourceId> = gone.iter().map(|span| span.source).collect();
    let only = |id: SourceId| {
        let mut tree = Tree::clone(repository.trees.get(&id)?);
        let documents = std::mem::take(&mut tree.documents);
        tree.documents = documents.into_iter().filter(|root| gone.contains(&tree.node(*root).span())).collect();
        Some((id, Arc::new(tree)))
    };
    files.into_iter().filter_map(only).collect()
}

/// Builds a kustomization; a panic is a finding on its file.
fn guarded(files: &Files<'_>, directory: &str) -> Result<One, (Problem, Trouble)> {
    let source = files.source(directory).unwrap_or(SourceId(0));
    catch_unwind(AssertUnwindSafe(|| one(files, directory, source))).unwrap_or_else(|_| {
        let message = "gpulint failed on this kustomization".to_owned();
        Err((Problem { span: Span::new(source, 0..0), message }, Trouble::NotLinted(Unlinted::Failure)))
    })
}

fn one(files: &Files<'_>, directory: &str, source: SourceId) -> Result<One, (Problem, Trouble)> {
    let built = kustomize::build(files, directory).map_err(|failure| {
        let trouble = if failure.gave_up { Trouble::NotLinted(Unlinted::Budget) } else { Trouble::Kustomization };
        (failure.problem, trouble)
    })?;
    let mut facts = Facts::default();
    extract::documents(&Arc::new(built.tree), directory, &mut facts);
    let name = if directory.is_empty() { "." } else { directory };
    // What runs tells one thing from another better than a namespace or an account that many share.
    let running: BTreeSet<SourceId> = facts.workloads.iter().map(|workload| workload.span.source).collect();
    let (mut resources, unread) = (built.resources, built.unread);
    if !running.is_disjoint(&resources) {
        resources.retain(|file| running.contains(file));
    }
    let (used, charts, included) = (built.used, built.charts, built.included);
    Ok(One { name: name.to_owned(), source, facts, used, resources, charts, unread, included })
}
