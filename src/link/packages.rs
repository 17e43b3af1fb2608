//! Releases and builds of Python packages that will be there: as pinned, else as pip resolves them from the index, the
//! other packages of the environment and its Python. Knows package facts and the catalog; knows no files.

use crate::catalog;
use crate::evidence;
use crate::facts::{Package, PackageManager};
use crate::known::{Fact, Known, Why};
use crate::version::Version;
use std::collections::BTreeMap;

/// Most links of a chain of requirements: an engine pins torch, which needs numpy.
const CHAIN: usize = 4;

/// The option of pip with which it looks at no requirement of what it installs.
pub const ALONE: &str = "--no-deps";

/// The package whose build decides what runs on a GPU, and that others bring along.
pub const FRAMEWORK: &str = "torch";

/// Whether an install command leaves the package that is there as it is.
pub fn keeps(there: Option<&Package>, wanted: &Package) -> bool {
    let upgrades = wanted
        .options
        .get()
        .is_some_and(|o| o.split(' ').any(|o| matches!(o, "-U" | "--upgrade" | "--force-reinstall")));
    let Some(there) = there.filter(|_| !upgrades && wanted.url.is_absent() && from_index(wanted)) else { return false };
    match (&wanted.specifier.known, there.version.get()) {
        (Known::Absent, _) => true,
        (Known::Value(range), Some(version)) => {
            // A build satisfies its release (`==2.9.1` is met by 2.9.1+cu130), and no other build.
            let build = wanted.version.get().and_then(Version::local);
            catalog::within(version, range) && (build.is_none() || build == version.local())
        }
        _ => false,
    }
}

/// Gives up what an earlier command installed and `wanted`, which is installed now, does not go with: pip takes a release in
/// its place that does. What the image brought gives way unless it is `held` by the image's constraints.
pub fn give_way(packages: &mut BTreeMap<String, Package>, wanted: &Package, held: bool) {
    let Some((name, version)) = wanted.name.get().zip(wanted.version.get()) else { return };
    let alone = wanted.options.get().is_some_and(|options| options.split(' ').any(|option| option == ALONE));
    if alone || !from_index(wanted) || !catalog::decides_others(name) {
        return;
    }
    let gives = |there: &Package| {
        let brought = !held && there.manager.get() == Some(&PackageManager::Image);
        brought || from_index(there) && !same_call(there, wanted)
    };
    for (other, there) in packages.iter_mut().filter(|(_, there)| gives(there)) {
        let range = catalog::package_requirement(name, version, other);
        let differs = |range: &String| there.version.get().is_some_and(|there| !catalog::within(there, range));
        if let Some(range) = range.filter(differs) {
            *there = brought(other, wanted, Some(range));
        }
    }
}

/// Whether one call of pip installs both; the lines of a file that is installed are one.
fn same_call(one: &Package, other: &Package) -> bool {
    match (one.options.get(), other.options.get()) {
        (None, None) => one.span.source == other.span.source,
        _ => one.options.span == other.options.span,
    }
}

/// Fills the versions that are not pinned, adds the packages that others bring along, and tells the build of each.
/// Unless the list is `complete`, something else may have decided a version: only what is pinned decides then.
pub fn resolve(packages: &mut BTreeMap<String, Package>, python: &Fact<Version>, complete: bool) {
    brought_by_extras(packages);
    for _ in 0..CHAIN {
        bring_framework(packages);
        if !complete {
            break;
        }
        let open: Vec<String> =
            packages.iter().filter(|(_, p)| is_open(p) && from_index(p)).map(|(n, _)| n.clone()).collect();
        let mut settled = false;
        let deciding: Vec<String> = packages.keys().filter(|name| catalog::decides_others(name)).cloned().collect();
        for name in open {
            let version = version_of(&name, (packages, &deciding), python);
            if let Some(package) = packages.get_mut(&name) {
                settled |= version.get().is_some();
                package.version = version;
            }
        }
        if !settled {
            break;
        }
    }
    packages.values_mut().for_each(self::complete);
}

fn is_open(package: &Package) -> bool {
    package.version.get().is_none() && package.url.is_absent()
}

fn from_index(package: &Package) -> bool {
    matches!(package.manager.get(), Some(PackageManager::Pip | PackageManager::Uv))
}

/// The version of a package that is not pinned: the newest that its specifier, the Python and the other packages allow, of
/// which those `deciding` say something of others.
fn version_of(
    name: &str,
    (packages, deciding): (&BTreeMap<String, Package>, &[String]),
    python: &Fact<Version>,
) -> Fact<Version> {
    let package = &packages[name];
    let unknown = |why: Why| Fact::unknown(why, package.span);
    let not_stated = |what: String| unknown(Why::NotStated(what.into()));
    let mut ranges = match &package.specifier.known {
        Known::Value(range) => vec![range.clone()],
        Known::Absent => Vec::new(),
        Known::Unknown(why) => return unknown(why.clone()),
    };
    let mut open = Vec::new();
    for other in deciding.iter().filter(|other| *other != name) {
        match packages[other].version.get() {
            Some(version) => ranges.extend(catalog::package_requirement(other, version, name)),
            None if catalog::constrains(other, name) => open.push(other),
            None => {}
        }
    }
    let Some(python) = python.get() else {
        return not_stated(format!("the Python that decides the version of {name}"));
    };
    let variant = match &package.index_url.known {
        Known::Absent => None,
        Known::Value(url) => match variant_of(url) {
            Some(variant) => Some(variant),
            None if url.contains("pypi.org") => None,
            None => return not_stated(format!("what the index {url} holds")),
        },
        Known::Unknown(why) => return unknown(why.clone()),
    };
    let newest =
        |ranges: &[String]| catalog::newest_release(name, Some(python), (variant.as_deref(), &ranges.join(",")));
    let found = newest(&ranges);
    // The newest releases of both go together, or something has to give way.
    for other in open {
        let goes = newest_beside(&packages[other], python, name).map(|range| [ranges.as_slice(), &[range]].concat());
        if variant.is_some() || goes.is_none_or(|ranges| newest(&ranges) != found) {
            return not_stated(format!("the version of {other}, which decides the one of {name},"));
        }
    }
    match found {
        Some(version) => Fact::value(version, package.span),
        None => not_stated("the version that will be installed".to_owned()),
    }
}

/// What the newest release of a package that nobody pins requires of another one.
fn newest_beside(package: &Package, python: &Version, other: &str) -> Option<String> {
    let free =
        package.specifier.is_absent() && package.index_url.is_absent() && from_index(package) && is_open(package);
    let name = package.name.get().filter(|_| free)?;
    catalog::package_requirement(name, &catalog::newest_wheel(name, python)?, other)
}

/// Adds the framework that a pinned package brings along when nothing installs it by name.
fn bring_framework(packages: &mut BTreeMap<String, Package>) {
    if packages.contains_key(FRAMEWORK) {
        return;
    }
    let brings = |(name, p): (&String, &Package)| {
        let range = catalog::package_requirement(name, p.version.get()?, FRAMEWORK)?;
        from_index(p).then(|| (range, p.clone()))
    };
    if let Some((range, bringer)) = packages.iter().filter(|(name, _)| catalog::decides_others(name)).find_map(brings) {
        packages.insert(FRAMEWORK.to_owned(), brought(FRAMEWORK, &bringer, Some(range)));
    }
}

/// Adds what extras bring along.
fn brought_by_extras(packages: &mut BTreeMap<String, Package>) {
    let extras = packages.iter().flat_map(|(name, package)| {
        let extras = package.extras.get().map_or("", String::as_str).split(',');
        let names = extras.flat_map(move |extra| catalog::extra_packages(name, extra));
        names.map(move |brings| (brings, package.clone())).collect::<Vec<_>>()
    });
    for (name, bringer) in extras.collect::<Vec<_>>() {
        packages.entry(name.to_owned()).or_insert_with(|| brought(name, &bringer, None));
    }
}

/// A package that another one brings along: from the same indexes, and written where that one is.
fn brought(name: &str, bringer: &Package, range: Option<String>) -> Package {
    let mut out = Package::blank(bringer.span);
    out.name = Fact::value(name.to_owned(), bringer.span);
    out.manager = bringer.manager.clone();
    out.pinned = Fact::value(false, bringer.span);
    out.version = Fact::unknown(Why::NotStated(format!("the version of {name}").into()), bringer.span);
    out.specifier = Fact::from_option(range, bringer.span);
    out.index_url = bringer.index_url.clone();
    out.extra_indexes = bringer.extra_indexes.clone();
    out
}

/// The build variant that an index holds: `https://download.pytorch.org/whl/cu118`,
/// `https://www.paddlepaddle.org.cn/packages/stable/cu126/`.
fn variant_of(url: &str) -> Option<String> {
    let (_, tail) = url.split_once("/whl/").or_else(|| url.split_once("/packages/"))?;
    let names = |p: &&str| p.starts_with("cu") || p.starts_with("rocm") || p.starts_with("xpu") || *p == "cpu";
    tail.split(['/', ' ']).find(names).map(str::to_owned)
}

/// The build of a release: by its local version, its index, its extras, else the one that the package index serves.
pub fn complete(package: &mut Package) {
    let Some(name) = package.name.get().cloned() else { return };
    if package.variant.is_absent() {
        let of_index = |url: &Fact<String>| Some((variant_of(url.get()?)?, url.span));
        let found = of_index(&package.index_url).or_else(|| of_index(&package.extra_indexes));
        if let Some((variant, span)) = found {
            package.variant = Fact::value(variant, span);
        }
    }
    if let Some(why) = package.variant.why() {
        package.cuda = Fact::unknown(why.clone(), package.variant.span);
        return;
    }
    // Builds of conda are not those of wheels.
    let Some(version) = package.version.get().filter(|_| package.manager.get() != Some(&PackageManager::Conda)) else {
        return;
    };
    let extras: Vec<&str> = package.extras.get().map_or("", String::as_str).split(',').collect();
    // A package that has GPU code only with one of its extras.
    if from_index(package) && catalog::gpu_package(&name, Some(version), &extras).flatten().is_some() {
        return;
    }
    if package.variant.is_absent() {
        let stem = |extra: &str| extra.split(['_', '-']).next().unwrap_or(extra).to_owned();
        let built = extras
            .iter()
            .map(|e| stem(e))
            .find(|e| !e.is_empty() && catalog::framework_build(&name, version, Some(e)).is_some());
        package.variant = Fact::from_option(built, package.extras.span);
    }
    // 2.6.2.post117 is the build for CUDA 11.7.
    if package.variant.is_absent() {
        let text = version.to_string();
        let variant = text.rsplit_once(".post").map(|(_, toolkit)| format!("cu{toolkit}"));
        let built = variant.filter(|v| catalog::framework_build(&name, version, Some(v)).is_some());
        package.variant = Fact::from_option(built, package.version.span);
    }
    let variant = package.variant.get().map(String::as_str);
    let (build, unread) = evidence::watched(|| catalog::framework_build(&name, version, variant));
    let Some(build) = build else { return };
    let span = if package.variant.is_absent() { package.version.span } else { package.variant.span };
    if package.cuda.is_absent() {
        package.cuda = Fact::from_option(build.cuda.clone(), span).resting_on(unread);
    }
    if package.variant.is_absent() && !build.variant.is_empty() {
        package.variant = Fact::value(build.variant.to_owned(), span);
    }
    carries(package, build, (span, unread));
}

/// The GPU code of a build and what it needs: all that its row states. Without a list of binaries and of PTX nothing is
/// said of the code.
pub fn carries(package: &mut Package, build: catalog::Build, (span, unread): (crate::source::Span, bool)) {
    let listed =
        |codes: &str| Fact::from_option(Some(codes.to_owned()).filter(|c| !c.is_empty()), span).resting_on(unread);
    package.sm = listed(build.sm);
    package.ptx = listed(build.ptx);
    package.min_compute_capability = Fact::from_option(build.min_compute_capability, span).resting_on(unread);
    package.min_driver = Fact::from_option(build.min_driver, span).resting_on(unread);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::install;
    use crate::parse::shell;
    use crate::source::{SourceId, Span, Traced};

    /// The release and build of a package after some install commands.
    fn resolved(script: &str, python: Option<&str>, name: &str) -> (Known<String>, Option<String>) {
        let span = Span::new(SourceId(0), 0..script.len());
        let mut packages = BTreeMap::new();
        for command in shell::parse(&Traced::verbatim(script, span, 0)).commands {
            let words: Vec<Traced> = command.words.iter().map(|w| w.traced().clone()).collect();
            for package in install::of_command(&words).map(|i| i.packages).unwrap_or_default() {
                packages.insert(package.name.get().cloned().unwrap_or_default(), package);
            }
        }
        let python = python.and_then(Version::parse);
        resolve(&mut packages, &Fact::from_option(python, span), true);
        let package = packages.get(name).expect(name);
        (package.version.clone().map(|v| v.to_string()).known, package.variant.get().cloned())
    }

    fn value(version: &str, variant: &str) -> (Known<String>, Option<String>) {
        (Known::Value(version.to_owned()), Some(variant.to_owned()))
    }

    #[test]
    fn the_python_decides_what_is_not_pinned() {
        assert_eq!(resolved("pip install torch", Some("3.8"), "torch"), value("2.4.1", "cu121"));
        assert_eq!(resolved("pip install 'torch<2.3'", Some("3.10"), "torch"), value("2.2.2", "cu121"));
        assert!(matches!(resolved("pip install torch", None, "torch").0, Known::Unknown(_)));
        assert!(matches!(
            resolved("pip install torch -i https://mirror/simple", Some("3.8"), "torch").0,
            Known::Unknown(_)
        ));
    }

    #[test]
    fn pinned_packages_bring_their_framework() {
        assert_eq!(resolved("pip install vllm==0.8.5", Some("3.12"), "torch"), value("2.6.0", "cu124"));
        assert_eq!(resolved("pip install torch torchvision==0.17.2", Some("3.10"), "torch"), value("2.2.2", "cu121"));
        let open = resolved("pip install torch vllm -i https://mirror/simple", Some("3.12"), "torch");
        assert!(matches!(open.0, Known::Unknown(_)), "vllm decides, and its version is open");
    }

    #[test]
    fn extras_choose_builds_and_bring_packages() {
        assert_eq!(resolved("pip install 'jax[cuda12_local]==0.4.30'", Some("3.11"), "jax"), value("0.4.30", "cuda12"));
        assert_eq!(resolved("pip install jax==0.4.30", Some("3.11"), "jax").1, None, "a CPU build");
        resolved("pip install 'vllm[flashinfer]==0.11.0'", Some("3.12"), "flashinfer-python");
    }

    #[test]
    fn what_is_there_stays_unless_it_is_replaced() {
        let package = |text: &str| {
            let source = Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0);
            let requirement = crate::parse::requirements::requirement(&source).expect(text);
            install::of_requirement(&requirement, crate::facts::PackageManager::Pip)
        };
        let there = package("torch==2.4.0");
        assert!(keeps(Some(&there), &package("torch")) && keeps(Some(&there), &package("torch>=2.1")));
        assert!(!keeps(Some(&there), &package("torch==2.6.0")) && !keeps(Some(&there), &package("torch>=2.6")));
        let build = package("torch==2.4.0+cu118");
        assert!(keeps(Some(&build), &there) && keeps(Some(&build), &build) && !keeps(Some(&there), &build));
    }
}
