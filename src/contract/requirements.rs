//! What one call of a resolver installs, held against what the wheels of the pinned releases require.

use super::{Breach, Judged};
use crate::catalog::{self, Bounds, WheelRequirement, wheel_requirements};
use crate::facts::{BreachClass, Package, PackageFile, PackageFileKind as Kind, PackageManager};
use crate::known::Fact;
use crate::source::Span;
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet};

/// Most links of a chain of releases that require each other exactly.
const CHAIN: usize = 4;

/// Options with which nothing is resolved, or something is resolved in another way.
const UNRESOLVED: [&str; 5] = ["--no-deps", "--no-dependencies", "--override", "--overrides", "--use-deprecated"];

/// The newest minor release of Python that a range is tried with.
const PYTHONS: u64 = 20;

/// Holds what each call of a resolver installs against what its releases require of each other.
pub fn judge(file: &PackageFile) -> Vec<Judged> {
    let overridden: BTreeSet<&str> = file.overrides.iter().filter_map(|name| name.get().map(String::as_str)).collect();
    let judged = calls(file).into_iter().flat_map(|call| {
        let required = required(&call, file.python.get().map(String::as_str));
        required.into_iter().filter(|(package, _)| !overridden.contains(package)).flat_map(|(_, ends)| conflicts(&ends))
    });
    judged.collect()
}

/// The packages that are resolved together: those of a file, or of one command of a Dockerfile.
fn calls(file: &PackageFile) -> Vec<Vec<&Package>> {
    let of_pip = |p: &&Package| matches!(p.manager.get(), Some(PackageManager::Pip | PackageManager::Uv));
    let mut calls: BTreeMap<Option<Span>, Vec<&Package>> = BTreeMap::new();
    for package in file.packages.iter().filter(of_pip) {
        let command = package.options.get().map(|_| package.options.span);
        match file.kind.get() {
            None | Some(Kind::Lock | Kind::Ansible | Kind::Constraints) => {}
            // What a Dockerfile takes from a file is resolved with that file; what a tool lists makes one call.
            Some(Kind::Dockerfile) if command.is_none() && package.span.source != file.span.source => {}
            Some(Kind::Dockerfile) => calls.entry(command).or_default().push(package),
            Some(_) => calls.entry(None).or_default().push(package),
        }
    }
    let resolved = |p: &&Package| {
        let mut options = p.options.get().map_or("", String::as_str).split(' ');
        !options.any(|option| UNRESOLVED.contains(&option.split('=').next().unwrap_or_default()))
    };
    calls.into_values().filter(|call| call.iter().all(resolved)).collect()
}

/// One requirement of a package.
struct End<'p> {
    /// The package of the call that it comes from.
    package: &'p Package,
    /// The releases that lead to it, from that package on; none where the call itself states it.
    chain: Vec<(&'p str, Version)>,
    /// What is required.
    target: &'p str,
    /// Of it these releases, as pip writes them.
    range: String,
    bounds: Bounds,
}

/// What is required of each package.
fn required<'p>(call: &[&'p Package], python: Option<&str>) -> BTreeMap<&'p str, Vec<End<'p>>> {
    let mut out: BTreeMap<&str, Vec<End<'_>>> = BTreeMap::new();
    let (mut pinned, mut open) = (BTreeSet::new(), Vec::new());
    for package in call.iter().filter(|p| p.url.is_absent() && p.pinned.get().is_some()) {
        let Some(target) = package.name.get() else { continue };
        if let Some((range, bounds)) = package.specifier.get().and_then(|range| Some((range, Bounds::of(range)?))) {
            let exact = if range.starts_with(|c: char| c.is_ascii_digit()) { "==" } else { "" };
            let range = format!("{exact}{}", range.replace(' ', ""));
            out.entry(target).or_default().push(End { package, chain: vec![], target, range, bounds });
        }
        if let (Some(true), Some(version), Some(_)) = (package.pinned.get(), package.version.get(), index(package)) {
            pinned.insert(target.as_str());
            open.push((*package, vec![(target.as_str(), version.clone())]));
        }
    }
    while let Some((package, chain)) = open.pop() {
        let Some((name, version)) = chain.last() else { continue };
        let extras = package.extras.get().filter(|_| chain.len() == 1).map_or("", String::as_str);
        let own_build = index(package) != Some(Index::Pypi) || version.local().is_some();
        let holds = |one: &WheelRequirement| {
            one.is_asked_for(extras.split(',')) && is_certain(one.python, python) && !(one.linux_only && own_build)
        };
        for one in wheel_requirements(name, version).filter(holds) {
            let Some(bounds) = Bounds::of(one.range) else { continue };
            let exact =
                one.range.strip_prefix("==").filter(|exact| !exact.contains(['*', ' '])).and_then(Version::parse);
            if let Some(exact) = exact.filter(|_| chain.len() < CHAIN && pinned.insert(one.package)) {
                open.push((package, chain.iter().cloned().chain([(one.package, exact)]).collect()));
            }
            let (chain, target, range) = (chain.clone(), one.package, one.range.replace(' ', ","));
            out.entry(target).or_default().push(End { package, chain, target, range, bounds });
        }
    }
    out
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Index {
    /// The Python Package Index.
    Pypi,
    /// The indexes of PyTorch, whose builds require what those of the first require, but for the libraries of CUDA.
    Pytorch,
}

/// Where a package comes from; `None` where that may hold anything.
fn index(package: &Package) -> Option<Index> {
    let stated = [&package.index_url, &package.extra_indexes];
    if stated.iter().all(|urls| urls.is_absent()) {
        return Some(Index::Pypi);
    }
    let known =
        |urls: &&Fact<String>| urls.is_absent() || urls.get().is_some_and(|urls| catalog::is_public_index(urls));
    stated.iter().all(known).then_some(Index::Pytorch)
}

/// Whether all Pythons that may be there are within a range.
fn is_certain(needed: &str, stated: Option<&str>) -> bool {
    let Some(stated) = stated.filter(|_| !needed.is_empty()) else { return needed.is_empty() };
    let within = |text: String, range| Version::parse(&text).is_some_and(|version| catalog::within(&version, range));
    // `>=3.8.1` allows some releases of 3.8.
    let allowed = |minor: &u64| ["0", "99"].iter().any(|patch| within(format!("3.{minor}.{patch}"), stated));
    let mut there = (5..=PYTHONS).filter(allowed).peekable();
    there.peek().is_some() && there.all(|minor| within(format!("3.{minor}"), needed))
}

/// The requirements of a package that do not go together: each release that does not take what the call states, else the
/// two that leave least of the package.
fn conflicts(ends: &[End<'_>]) -> Vec<Judged> {
    let apart =
        |one: &End<'_>, other: &End<'_>| one.bounds.excludes(&other.bounds) && one.package.span != other.package.span;
    let required = || ends.iter().filter(|end| !end.chain.is_empty());
    if let Some(stated) = ends.iter().find(|end| end.chain.is_empty()) {
        // What a release requires by way of others comes behind what it requires itself.
        let mut seen = BTreeSet::new();
        let excluding = required().filter(|end| apart(end, stated) && seen.insert(end.package.span));
        let told: Vec<Judged> = excluding.map(|end| told(end, stated)).collect();
        if !told.is_empty() {
            return told;
        }
    }
    let strictest = |beats: fn(&Bounds, &Bounds) -> bool| {
        required().reduce(|best, end| if beats(&end.bounds, &best.bounds) { end } else { best })
    };
    let pair = strictest(Bounds::begins_above).zip(strictest(Bounds::ends_below));
    let found = pair.filter(|(above, below)| apart(above, below)).map(|(above, below)| {
        let last_first = above.package.span > below.package.span;
        if last_first { told(above, below) } else { told(below, above) }
    });
    found.into_iter().collect()
}

fn told(release: &End<'_>, other: &End<'_>) -> Judged {
    let (name, version) = &release.chain[0];
    // What is required by way of another release is not chosen here.
    let direct = release.chain.len() == 1;
    let newest = direct.then(|| catalog::newest_release_with(name, release.target, &other.bounds)).flatten();
    let required = (direct && other.chain.is_empty()).then(|| format!("{}{}", release.target, release.range));
    let meant: Vec<String> = newest.map(|newest| format!("{name}=={newest}")).into_iter().chain(required).collect();
    let breach = Breach {
        class: BreachClass::RequirementConflict,
        place: release.package.span,
        field: format!("{name}=={version}"),
        says: format!("{}, and {}", says(release), says(other)),
        meant: (!meant.is_empty()).then(|| meant.join(" or ")),
        other: Some((says(other), other.package.span)),
        instead: None,
        unknown: None,
    };
    Judged { contract: format!("metadata of {name} {version}"), breaches: vec![breach] }
}

/// What an end says: who requires what.
fn says(end: &End<'_>) -> String {
    let what = format!("{}{}", end.target, end.range);
    let Some(((name, version), rest)) = end.chain.split_first() else { return format!("{what} is asked for") };
    let links: String = rest.iter().map(|(name, version)| format!(" requires {name}=={version}, which")).collect();
    format!("{name} {version}{links} requires {what}")
}
