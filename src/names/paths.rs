//! Paths of this repository that objects of Flux name. Knows which directories hold files that were read.

use super::walk::Name;
use super::{Broken, called, whole};
use crate::facts::{Breach, BreachClass, Object};
use crate::known::Fact;
use crate::link::Deployed;
use crate::paths;
use crate::source::{SourceId, Span};
use crate::suggest::nearest;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// So many paths of a source must lead to something here before it is taken for this repository.
const MOST_LIKELY: usize = 2;

/// A path that an object names.
struct Asked<'a> {
    /// The variant that it is in.
    own: usize,
    object: &'a Object,
    path: Name,
}

/// Paths of Kustomizations that are not here, where others of the same source are, whatever builds them; each with its variant.
pub fn of_flux(deployed: Deployed<'_>, wanted: &impl Fn(Span) -> bool, all: &[&str]) -> Vec<(usize, Breach)> {
    let shown = |id: SourceId| deployed.layout().sources().get(id).path.clone();
    let mut by_source: BTreeMap<String, Vec<Asked<'_>>> = BTreeMap::new();
    let mut seen = HashSet::new();
    let variants = deployed.variants().iter().enumerate();
    for (own, object) in variants.flat_map(|(own, variant)| variant.facts.objects.iter().map(move |one| (own, one))) {
        if !seen.insert(object.span) {
            continue;
        }
        let Some((body, ("kustomize.toolkit.fluxcd.io", "Kustomization"))) = whole(object) else { continue };
        let (spec, source) = (body.get("spec"), body.path("spec.sourceRef"));
        let (path, kind, name) = (spec.get("path").string(), source.get("kind").string(), source.get("name").string());
        let (Some(text), Some(kind), Some(name)) = (path.get(), kind.get(), name.get()) else { continue };
        let asked = Asked { own, object, path: (text.clone(), path.span) };
        by_source.entry(format!("{kind} {name}")).or_default().push(asked);
    }
    if by_source.is_empty() {
        return Vec::new();
    }
    let directories: BTreeSet<&str> = all.iter().flat_map(|path| paths::above(paths::directory(path))).collect();
    let mut out = Vec::new();
    for (source, asked) in by_source {
        let Some(root) = root_of(&asked, &shown, &directories) else { continue };
        let at = |path: &str| paths::join(&root, path.trim_start_matches('/'));
        let there: BTreeSet<String> =
            asked.iter().map(|one| at(&one.path.0)).filter(|path| directories.contains(path.as_str())).collect();
        for Asked { own, object, path: (path, place) } in asked {
            let whole = at(&path);
            // What no other one applies is put away, or applied by hand.
            let file = shown(place.source);
            let applied = || paths::above(paths::directory(&file)).any(|above| there.contains(above));
            if there.contains(&whole) || !wanted(object.span) || !applied() {
                continue;
            }
            let parent = paths::directory(&whole);
            let beside = directories.iter().filter(|other| paths::directory(other) == parent && **other != parent);
            let meant = nearest(paths::name(&whole), beside.map(|other| paths::name(other)));
            let meant = meant.map(|name| paths::join(paths::directory(path.trim_end_matches('/')), name));
            let says = format!(
                "there is no {path} in this repository, where other paths of {source} are: it applies no object"
            );
            let class = Fact::value(BreachClass::NameNearlyFound, place);
            let broken = Broken { class, says, meant, instead: None };
            out.push((own, broken.entity(called(&object.kind, &object.name))));
        }
    }
    out
}

/// The directory that the paths of a source are seen from, if most of them are there.
fn root_of(asked: &[Asked<'_>], shown: &impl Fn(SourceId) -> String, directories: &BTreeSet<&str>) -> Option<String> {
    let first = shown(asked.first()?.path.1.source);
    let found = |root: &str| {
        let paths = asked.iter().map(|one| paths::join(root, one.path.0.trim_start_matches('/')));
        paths.filter(|path| path != root && directories.contains(path.as_str())).count()
    };
    let roots = paths::above(paths::directory(&first)).map(|root| (found(root), root));
    let (found, root) = roots.max_by_key(|(found, _)| *found)?;
    (found >= MOST_LIKELY && 2 * found > asked.len()).then(|| root.to_owned())
}
