//! Values that a release takes from files and objects of the repository, and by name.

use super::boundary::{Boundary, Deployed, Reach};
use super::candidates::Candidates;
use crate::budget::{Share, Spent};
use crate::facts::value::REST;
use crate::facts::{HelmRelease, Object, ReleaseFormat};
use crate::known::Fact;
use crate::parse::{Dialect, Problem, Raw, laid_over, merged, yaml};
use crate::paths;
use crate::source::SourceId;
use crate::version::Version;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Values files and ConfigMaps, by the last part of their names, which are paths where they are files.
type Objects<'a> = Candidates<'a, &'a str, &'a Object>;

/// Lays the values that releases name under those they state inline, and those that they set by name over both. `cut` is
/// told of those whose values are too much.
pub fn complete(releases: &mut [Vec<Arc<HelmRelease>>], deployed: Deployed<'_>, cut: &mut Vec<Problem>) {
    if releases.iter().all(Vec::is_empty) {
        return;
    }
    sources(releases, deployed);
    let objects: Objects<'_> = Candidates::gather(deployed, Reach::Deployment, |facts| {
        let holds = |o: &&Arc<Object>| o.kind.get().is_some_and(|kind| matches!(kind.as_str(), "Values" | "ConfigMap"));
        let objects = facts.objects.iter().filter(holds);
        objects.filter_map(|o| Some((o.span.source, vec![paths::name(o.name.get()?)], &**o))).collect()
    });
    // Many releases of one file may name one large file of values.
    let mut files: HashMap<SourceId, usize> = HashMap::new();
    releases.iter().flatten().for_each(|release| *files.entry(release.span.source).or_default() += 1);
    let spent = Mutex::new(Vec::new());
    deployed.each(releases, |shared, boundary| {
        let share = Share::of(files.len(), 0).among(files[&shared.span.source]);
        if let Err(lacks) = with_named(shared, (&objects, boundary), &share).and_then(|()| set_by_name(shared, &share))
        {
            let message = format!("the values of releases in this file: {lacks}");
            let release = Arc::make_mut(shared);
            release.values_complete = Fact::value(false, release.span);
            spent.lock().unwrap_or_else(PoisonError::into_inner).push(Problem { span: release.span, message });
        }
    });
    let mut spent = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    spent.sort_by_key(|problem: &Problem| problem.span);
    spent.dedup_by_key(|problem| problem.span.source);
    cut.extend(spent);
}

/// Lays the values that a release names under those it states inline.
fn with_named(
    shared: &mut Arc<HelmRelease>,
    (objects, boundary): (&Objects<'_>, Boundary<'_>),
    share: &Share,
) -> Result<(), Spent> {
    let known = shared.values.as_ref().is_some_and(|values| values.id.is_some());
    let beside = shared.format.get() == Some(&ReleaseFormat::ChartDependency) && !known;
    if shared.values_from.is_empty() && !beside {
        return Ok(());
    }
    let release = Arc::make_mut(shared);
    let from = |path: &str| boundary.layout().relative(release.span.source, path);
    let found: Vec<Option<Raw>> = match beside {
        true => vec![beside_chart(release, &from("values.yaml"), (objects, boundary))],
        false => release.values_from.iter().map(|name| named(name, release, (objects, boundary), &from)).collect(),
    };
    release.values_complete = Fact::value(beside || found.iter().all(Option::is_some), release.span);
    let layers: Vec<Raw> = found.into_iter().flatten().chain(release.values.clone()).collect();
    release.values = merged(&layers, share)?;
    Ok(())
}

/// Lays over the values of a release what it sets by name: that wins, as with Helm.
fn set_by_name(shared: &mut Arc<HelmRelease>, share: &Share) -> Result<(), Spent> {
    if shared.set.is_empty() {
        return Ok(());
    }
    let release = Arc::make_mut(shared);
    let texts: BTreeSet<&String> = release.set_text.iter().filter_map(Fact::get).collect();
    let named = release
        .set
        .iter()
        .filter(|(name, _)| *name != REST)
        .map(|(name, value)| (name.as_str(), value, texts.contains(name)));
    let rest = release.set.get(REST);
    release.values = Some(laid_over(release.values.as_ref(), named, rest, (release.span, share))?);
    Ok(())
}

/// Gives releases of Flux what the objects that they name say of repositories and charts: a HelmRepository where it is, an
/// OCIRepository which chart in which release, too.
fn sources(releases: &mut [Vec<Arc<HelmRelease>>], deployed: Deployed<'_>) {
    if releases.iter().flatten().all(|release| release.source.get().is_none()) {
        return;
    }
    let repositories: Objects<'_> = Candidates::gather(deployed, Reach::Cluster, |facts| {
        let is_source = |o: &&Arc<Object>| is(o, "OCIRepository") || is(o, "HelmRepository");
        let objects = facts.objects.iter().filter(is_source);
        objects.filter_map(|o| Some((o.span.source, vec![o.name.get()?.as_str()], &**o))).collect()
    });
    deployed.each(releases, |shared, boundary| {
        let Some(name) = shared.source.get().cloned() else { return };
        let of_oci = shared.chart.is_absent();
        let kind = if of_oci { "OCIRepository" } else { "HelmRepository" };
        let found = repositories.only(boundary, shared.span.source, &[name.as_str()], |object| is(object, kind));
        let Some(spec) = found.and_then(|object| Some(object.body.as_ref()?.view().get("spec"))) else { return };
        let release = Arc::make_mut(shared);
        let url = spec.get("url").string();
        if of_oci {
            release.chart = url.clone().map(|url| paths::name(url.trim_end_matches('/')).to_owned());
            release.version = spec.path("ref.tag").parse(Version::parse);
        }
        release.repository = url;
    });
}

/// The part of the values.yaml beside a Chart.yaml that is its dependency's.
fn beside_chart(release: &HelmRelease, path: &str, objects: (&Objects<'_>, Boundary<'_>)) -> Option<Raw> {
    let name = release.name.get().or_else(|| release.chart.get())?;
    let body = file(path, objects)?;
    Some(Raw::new(&body.tree, body.view().get(name)))
}

/// A values file by its path from the release, a file of a source of Argo CD or Flux (`$values/path`), or a key of a ConfigMap
/// (`ConfigMap/name/key`).
fn named(
    name: &Fact<String>,
    release: &HelmRelease,
    (objects, boundary): (&Objects<'_>, Boundary<'_>),
    from: &dyn Fn(&str) -> String,
) -> Option<Raw> {
    let (name, here) = (name.get()?, release.span.source);
    if let Some(("ConfigMap", rest)) = name.split_once('/') {
        let (name, key) = rest.split_once('/')?;
        let fits = |o: &&Object| {
            is(o, "ConfigMap")
                && o.name.get().is_some_and(|n| n == name)
                && (o.namespace.get().is_none() || release.namespace.get().is_none_or(|n| o.namespace.get() == Some(n)))
        };
        let data = objects.only(boundary, here, &[paths::name(name)], fits)?.body.as_ref()?.view().get("data");
        let tree = Arc::new(yaml::parse_traced(&data.get(key).traced()?, Dialect::Kubernetes));
        let root = yaml::root(&tree)?.view();
        return Some(Raw::new(&tree, root));
    }
    if let Some((_, path)) = name.strip_prefix('$').and_then(|rest| rest.split_once('/')) {
        let suffix = format!("/{path}");
        let ends = |o: &&Object| is(o, "Values") && o.name.get().is_some_and(|n| n == path || n.ends_with(&suffix));
        return objects.find(boundary, &[paths::name(path)], ends)?.body.clone();
    }
    let objects = (objects, boundary);
    file(&from(name), objects).or_else(|| lone(name.trim_start_matches("./"), objects))
}

fn is(object: &Object, kind: &str) -> bool {
    object.kind.get().is_some_and(|k| k == kind)
}

/// The values in the only file whose path ends as stated: tools may run in another directory than the one of the release.
fn lone(path: &str, (objects, boundary): (&Objects<'_>, Boundary<'_>)) -> Option<Raw> {
    let ends = |o: &&Object| {
        is(o, "Values")
            && o.name
                .get()
                .and_then(|n| n.strip_suffix(path))
                .is_some_and(|above| above.is_empty() || above.ends_with('/'))
    };
    match objects.all(boundary, &[paths::name(path)], |o| path.contains('/') && ends(o))[..] {
        [only] => only.body.clone(),
        _ => None,
    }
}

/// The values in a file of the run, by its display path.
fn file(path: &str, (objects, boundary): (&Objects<'_>, Boundary<'_>)) -> Option<Raw> {
    let fits = |o: &&Object| is(o, "Values") && o.name.get().is_some_and(|n| n == path);
    objects.find(boundary, &[paths::name(path)], fits)?.body.clone()
}
