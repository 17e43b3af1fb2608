//! Package files as lists of what can be installed together: files that they include, pins of constraint files, and one
//! list for each extra, group and environment. Knows package facts and markers; resolves no version.

use super::boundary::Layout;
use crate::budget::{NODE, Share, Spent};
use crate::facts::{Build, Package, PackageFile, PackageManager};
use crate::known::{Fact, Known, Why};
use crate::parse::markers::{self, Marker};
use crate::parse::requirements::normalized;
use crate::paths;
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most environments that the markers of a file are tried in.
const MAX_ENVIRONMENTS: usize = 64;

/// Names of the files that tools lock the packages of a project in.
const LOCKS: [&str; 3] = ["uv.lock", "poetry.lock", "pdm.lock"];

/// Package files by path, and by name.
pub struct Files<'f>(BTreeMap<&'f str, &'f PackageFile>, BTreeMap<&'f str, Vec<&'f PackageFile>>);

/// Where packages are installed: what is known of it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'t> {
    /// Its Python.
    pub python: Option<&'t Version>,
    /// Its architecture, `amd64` or `arm64`.
    pub arch: Option<&'t str>,
    /// Extras and groups that are asked for.
    pub groups: &'t [String],
    /// Which branch of each construct of its scripts runs.
    pub branches: &'t BTreeMap<String, String>,
}

impl<'f> Files<'f> {
    /// The files of a run.
    pub fn new(files: &'f [Arc<PackageFile>]) -> Self {
        let mut called: BTreeMap<&str, Vec<&PackageFile>> = BTreeMap::new();
        for (file, path) in files.iter().filter_map(|file| Some((file, file.path.get()?))) {
            called.entry(paths::name(path)).or_default().push(file);
        }
        Self(files.iter().filter_map(|file| Some((file.path.get()?.as_str(), &**file))).collect(), called)
    }

    /// The file at a path.
    pub fn at(&self, path: &str) -> Option<&'f PackageFile> {
        self.0.get(path).copied()
    }

    /// The files that an install command names: the same name, nearest to the Dockerfile.
    pub fn meant(&self, name: &Fact<String>, build: &Build, layout: &Layout<'_>) -> Vec<&'f PackageFile> {
        let Some(written) = name.get() else { return Vec::new() };
        let suffix = written.trim_start_matches(['.', '/']);
        let called = |name: &str| self.1.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut candidates = called(paths::name(written));
        if candidates.is_empty() {
            // Copied under another name.
            let mut copies = build.copies.iter().filter_map(|c| c.get());
            let copied = copies.find(|c| c.contains("require") && c.ends_with(".txt"));
            candidates = copied.map(|c| called(paths::name(c))).unwrap_or_default();
        }
        let ends = |file: &&PackageFile| file.path.get().is_some_and(|path| path.ends_with(suffix));
        let exact = candidates.iter().copied().filter(ends).map(|file| (file.span.source, file)).collect::<Vec<_>>();
        let all = || candidates.iter().map(|file| (file.span.source, *file)).collect();
        let found = layout.nearest(build.span.source, if exact.is_empty() { all() } else { exact });
        if found.len() == 1 { found } else { Vec::new() }
    }

    /// A file that another one names.
    fn named(&self, from: &PackageFile, name: &Fact<String>) -> Option<&'f PackageFile> {
        let path = paths::join(paths::directory(from.path.get()?), name.get()?);
        self.0.get(path.as_str()).copied()
    }

    /// The packages of a file and of those that it includes, with the pins of their constraints, and of the lock file beside
    /// it where that is `locked`.
    ///
    /// # Errors
    /// They are more than `share` lets it make.
    pub fn packages(&self, file: &'f PackageFile, locked: bool, share: &Share) -> Result<Vec<Package>, Spent> {
        let files = self.included(file, share)?;
        share.make(files.iter().map(|file| size_of_val(&*file.packages)).sum())?;
        let mut packages: Vec<Package> = files.iter().flat_map(|file| file.packages.iter().cloned()).collect();
        let named = files.iter().rev().flat_map(|from| from.constraints.iter().map(|name| self.named(from, name)));
        constrain(&mut packages, &named.chain(self.lock(file).filter(|_| locked).map(Some)).collect::<Vec<_>>());
        Ok(packages)
    }

    /// The lock file beside a project, which tools install its packages from.
    fn lock(&self, project: &PackageFile) -> Option<&'f PackageFile> {
        let (directory, name) = paths::split(project.path.get()?);
        let mut locks = LOCKS.iter().map(|lock| paths::join(directory, lock));
        locks.find_map(|lock| self.at(&lock)).filter(|_| name == "pyproject.toml")
    }

    /// A file behind those that it includes, each once: nothing is installed twice.
    fn included(&self, file: &'f PackageFile, share: &Share) -> Result<Vec<&'f PackageFile>, Spent> {
        let mut seen = BTreeSet::from([file.span]);
        let (mut open, mut out) = (vec![(file, file.includes.iter())], Vec::new());
        while let Some((from, names)) = open.last_mut() {
            match names.next() {
                Some(name) => {
                    share.work(NODE)?;
                    let next = self.named(from, name).filter(|file| seen.insert(file.span));
                    open.extend(next.map(|file| (file, file.includes.iter())));
                }
                None => out.extend(open.pop().map(|(file, _)| file)),
            }
        }
        Ok(out)
    }

    /// The files that others name as constraints: they install nothing.
    pub fn named_as_constraints(&self) -> BTreeSet<&'f str> {
        let named = |file: &&'f PackageFile| {
            let names = file.constraints.iter().filter_map(|name| self.named(file, name));
            names.filter_map(|file| file.path.get().map(String::as_str)).collect::<Vec<_>>()
        };
        self.0.values().flat_map(named).collect()
    }
}

/// What constraint files say of packages, `None` for one that is not at hand: the pin of one holds when the package is
/// installed.
pub fn constrain(packages: &mut [Package], constraints: &[Option<&PackageFile>]) {
    let mut pins: BTreeMap<&str, &Package> = BTreeMap::new();
    let mut several: BTreeSet<&str> = BTreeSet::new();
    for pin in constraints.iter().flatten().flat_map(|file| &file.packages) {
        let name = pin.name.get().map_or("", String::as_str);
        let first = *pins.entry(name).or_insert(pin);
        // A lock file holds one release for each environment that it is for.
        let locked = pin.manager.get() == Some(&PackageManager::Lock);
        several.extend(Some(name).filter(|_| locked && first.version.get() != pin.version.get()));
    }
    for package in packages.iter_mut().filter(|p| p.pinned.get() == Some(&false) && p.url.is_absent()) {
        match package.name.get().and_then(|name| pins.get(name.as_str())) {
            Some(pin) if several.contains(pin.name.get().map_or("", String::as_str)) => {
                undecided(package, Why::NotStated("which of the locked releases is installed".into()));
            }
            Some(pin) if pin.marker.is_absent() => {
                package.specifier = match (package.specifier.get(), pin.specifier.get()) {
                    (Some(own), Some(other)) => Fact::value(format!("{own},{other}"), package.specifier.span),
                    _ => pin.specifier.clone(),
                };
                (package.version, package.pinned) = (pin.version.clone(), pin.pinned.clone());
                package.variant = package.variant.clone().or(|| pin.variant.clone());
            }
            Some(pin) => undecided(package, Why::NotStated(condition(pin).into())),
            None if constraints.iter().any(Option::is_none) => {
                undecided(package, Why::NotStated("what the constraints hold it to".into()));
            }
            None => {}
        }
    }
}

fn undecided(package: &mut Package, why: Why) {
    package.version.known = Known::Unknown(why.clone());
    package.pinned.known = Known::Unknown(why);
}

fn condition(package: &Package) -> String {
    match package.marker.get() {
        Some(marker) if markers::BRANCHES.iter().any(|sign| marker.contains(sign)) => "which branch runs".to_owned(),
        Some(marker) => format!("whether {marker}"),
        None => "whether its condition holds".to_owned(),
    }
}

/// The packages that are installed somewhere; one whose condition cannot be told there has an unknown version.
pub fn installed(packages: &[Package], target: Target<'_>) -> Vec<Package> {
    let environment = |variable: &str| target.variable(variable);
    let asked = |package: &Package| match &package.group.known {
        Known::Value(group) => target.groups.contains(group),
        _ => true,
    };
    let mut out = vec![];
    for package in packages.iter().filter(|package| asked(package)) {
        let mut package = package.clone();
        match holds(&package, &environment) {
            Some(false) => continue,
            Some(true) => {}
            None => {
                let why = Why::NotStated(condition(&package).into());
                undecided(&mut package, why);
            }
        }
        (package.marker, package.group) = (Fact::absent(package.span), Fact::absent(package.span));
        out.push(package);
    }
    out
}

impl Target<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "python_version" => self.python.map(|v| format!("{}.{}", v.major(), v.minor())),
            "python_full_version" => self.python.filter(|v| v.release().len() > 2).map(ToString::to_string),
            "platform_machine" => self.arch.map(|arch| machine(arch).to_owned()),
            _ => self.branches.get(name).cloned().or_else(|| markers::of_linux(name).map(str::to_owned)),
        }
    }
}

/// The ways in which the scripts run that install some packages, as the branches that run in each.
pub fn branches(packages: &[Package]) -> Vec<BTreeMap<String, String>> {
    let markers: Vec<Marker> =
        packages.iter().filter_map(|p| p.marker.get()).filter_map(|text| Marker::parse(text)).collect();
    let [either, branch] = markers::BRANCHES;
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (variable, value) in markers.iter().flat_map(Marker::comparisons) {
        if variable.starts_with(either) {
            values.entry(variable).or_default().insert(value.to_owned());
        } else if variable.starts_with(branch) {
            values.entry(variable).or_default().extend([value.to_owned(), String::new()]);
        }
    }
    combinations(values)
}

fn machine(arch: &str) -> &str {
    match arch {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    }
}

fn holds(package: &Package, environment: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
    match &package.marker.known {
        Known::Absent => Some(true),
        Known::Unknown(_) => None,
        Known::Value(marker) => Marker::parse(marker)?.holds(environment),
    }
}

/// A file as the lists of packages that it can install together: for each extra or group, in each environment that its
/// markers tell apart. A list within another one says nothing more and is left out.
///
/// # Errors
/// They are more than `share` lets it make.
pub fn alternatives(file: &PackageFile, packages: &[Package], share: &Share) -> Result<Vec<PackageFile>, Spent> {
    let mut groups: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (index, package) in packages.iter().enumerate() {
        groups.entry(package.group.get().map(String::as_str)).or_default().push(index);
    }
    let markers: Vec<Marker> =
        packages.iter().filter_map(|p| p.marker.get()).filter_map(|text| Marker::parse(text)).collect();
    let always = groups.remove(&None).unwrap_or_default();
    if groups.is_empty() && markers.is_empty() {
        return Ok(vec![PackageFile { packages: ambiguous(packages.to_vec()), ..file.clone() }]);
    }
    let environments = environments(&markers, file.python.get().map(String::as_str));
    let mut lists: Vec<(BTreeSet<usize>, &str)> = vec![];
    // Each group adds packages of its own: only lists of one group can hold one another, and those to which it adds nothing.
    let mut plain: Vec<BTreeSet<usize>> = vec![];
    for (group, own) in
        groups.iter().map(|(group, own)| (group.unwrap_or_default(), own.as_slice())).chain([("", &[][..])])
    {
        let mut of_group = vec![];
        for environment in &environments {
            let value =
                |name: &str| environment.get(name).cloned().or_else(|| markers::of_linux(name).map(str::to_owned));
            share.work(always.len() + own.len())?;
            let there = |indices: &[usize]| -> BTreeSet<usize> {
                indices.iter().copied().filter(|i| holds(&packages[*i], &value) != Some(false)).collect()
            };
            let (list, added) = (there(&always), there(own));
            let lists = if added.is_empty() { &mut plain } else { &mut of_group };
            add_unless_held(lists, list.into_iter().chain(added).collect());
        }
        lists.extend(of_group.into_iter().map(|list| (list, group)));
    }
    plain.retain(|list| !lists.iter().any(|(other, _)| list.is_subset(other)));
    lists.extend(plain.into_iter().map(|list| (list, "")));
    share.make(lists.iter().map(|(list, _)| list.len() * size_of::<Package>()).sum())?;
    let blank = PackageFile { packages: vec![], ..file.clone() };
    let of_list = |(list, group): (BTreeSet<usize>, &str)| {
        let mut out = blank.clone();
        out.group = Fact::from_option(Some(group.to_owned()).filter(|g| !g.is_empty()), file.span);
        let own = |mut p: Package| {
            (p.marker, p.group) = (Fact::absent(p.span), Fact::absent(p.span));
            p
        };
        out.packages = ambiguous(list.into_iter().map(|i| own(packages[i].clone())).collect());
        out
    };
    Ok(lists.into_iter().map(of_list).collect())
}

/// Keeps the lists that no other one holds.
fn add_unless_held(lists: &mut Vec<BTreeSet<usize>>, list: BTreeSet<usize>) {
    if !lists.iter().any(|other| list.is_subset(other)) {
        lists.retain(|other| !other.is_subset(&list));
        lists.push(list);
    }
}

/// A lock file holds several releases of a package for environments that it does not tell apart here.
fn ambiguous(mut packages: Vec<Package>) -> Vec<Package> {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let locked = |p: &&mut Package| p.manager.get() == Some(&PackageManager::Lock);
    for package in packages.iter_mut().filter(locked) {
        if let (Some(name), Some(version)) = (package.name.get(), package.version.get()) {
            versions.entry(name.clone()).or_default().insert(version.to_string());
        }
    }
    for package in packages.iter_mut().filter(locked) {
        let several = package.name.get().and_then(|name| versions.get(name)).filter(|all| all.len() > 1);
        if let Some(all) = several {
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let why = Why::Ambiguous(all.join(", ").into());
            undecided(package, why);
        }
    }
    packages
}

/// Environments that the markers tell apart.
fn environments(markers: &[Marker], python: Option<&str>) -> Vec<BTreeMap<String, String>> {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (variable, value) in markers.iter().flat_map(Marker::comparisons) {
        match variable {
            "python_version" | "python_full_version" => {
                let of_version = values.entry(variable).or_default();
                of_version.extend(around(value).into_iter().filter(|v| allowed(v, python)));
            }
            "platform_machine" => {
                values.entry(variable).or_default().extend(["x86_64", "aarch64"].map(str::to_owned));
            }
            "extra" => {
                values.entry(variable).or_default().extend([normalized(value), String::new()]);
            }
            _ => {}
        }
    }
    // One Python has one version, whichever variable tells it.
    if values.contains_key("python_version")
        && let Some(full) = values.remove("python_full_version")
    {
        let short = full.iter().filter_map(|v| Version::parse(v)).map(|v| format!("{}.{}", v.major(), v.minor()));
        values.entry("python_version").or_default().extend(short);
    }
    combinations(values)
}

/// Every combination of the values of some variables; variables that would make too many are left out.
fn combinations(values: BTreeMap<&str, BTreeSet<String>>) -> Vec<BTreeMap<String, String>> {
    let mut out = vec![BTreeMap::new()];
    for (variable, values) in values {
        let with = |environment: &BTreeMap<String, String>| {
            let set = |value: &String| {
                let mut environment = environment.clone();
                environment.insert(variable.to_owned(), value.clone());
                if variable == "python_version" {
                    environment.insert("python_full_version".to_owned(), format!("{value}.0"));
                }
                environment
            };
            values.iter().map(set).collect::<Vec<_>>()
        };
        let next: Vec<BTreeMap<String, String>> = out.iter().flat_map(with).collect();
        if !next.is_empty() && next.len() <= MAX_ENVIRONMENTS {
            out = next;
        }
    }
    out
}

/// A version, the one before and the one after.
fn around(value: &str) -> Vec<String> {
    let Some(version) = Version::parse(value) else { return vec![] };
    let (major, minor) = (version.major(), version.minor());
    [minor.checked_sub(1), Some(minor), Some(minor + 1)]
        .into_iter()
        .flatten()
        .map(|minor| format!("{major}.{minor}"))
        .collect()
}

fn allowed(version: &str, python: Option<&str>) -> bool {
    let Some(version) = Version::parse(version) else { return false };
    python.is_none_or(|range| crate::catalog::within(&version, &range.replace(' ', "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::install;
    use crate::source::{SourceId, Span, Traced};

    fn package(text: &str, group: &str) -> Package {
        let traced = Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0);
        let requirement = crate::parse::requirements::requirement(&traced).expect(text);
        let mut package = install::of_requirement(&requirement, PackageManager::Pip);
        package.group = Fact::from_option(Some(group.to_owned()).filter(|g| !g.is_empty()), package.span);
        package
    }

    /// The lists of a file, each as names with their specifiers.
    fn lists(packages: &[(&str, &str)]) -> BTreeSet<Vec<String>> {
        let packages: Vec<Package> = packages.iter().map(|(text, group)| package(text, group)).collect();
        let file = PackageFile::blank(Span::new(SourceId(0), 0..0));
        let shown =
            |p: &Package| format!("{}{}", p.name.get().expect("a name"), p.specifier.get().map_or("", String::as_str));
        let lists = alternatives(&file, &packages, &Share::of(1, 0)).expect("little is made");
        lists.iter().map(|list| list.packages.iter().map(shown).collect()).collect()
    }

    fn set(lists: &[&[&str]]) -> BTreeSet<Vec<String>> {
        lists.iter().map(|list| list.iter().map(|p| (*p).to_owned()).collect()).collect()
    }

    #[test]
    fn requirements_that_exclude_each_other_are_in_no_list_together() {
        let by_python = [("torch==2.2.0; python_version < '3.9'", ""), ("torch==2.5.1; python_version >= '3.9'", "")];
        assert_eq!(lists(&by_python), set(&[&["torch==2.2.0"], &["torch==2.5.1"]]));
        let by_machine = [
            ("onnxruntime-gpu; platform_machine == 'x86_64'", ""),
            ("onnxruntime; platform_machine != 'x86_64'", ""),
            ("numpy<2", ""),
        ];
        assert_eq!(lists(&by_machine), set(&[&["onnxruntime-gpu", "numpy<2"], &["onnxruntime", "numpy<2"]]));
        let by_platform =
            [("torch==2.2.2; sys_platform == 'darwin'", ""), ("torch==2.5.1; sys_platform != 'darwin'", "")];
        assert_eq!(lists(&by_platform), set(&[&["torch==2.5.1"]]));
        let by_extra = [("torch==2.5.1", "cpu"), ("torch==2.6.0", "cu126"), ("numpy", "")];
        assert_eq!(lists(&by_extra), set(&[&["torch==2.5.1", "numpy"], &["torch==2.6.0", "numpy"]]));
    }

    #[test]
    fn the_place_of_installation_decides_what_is_there() {
        let packages = || {
            vec![
                package("a; python_version < '3.9'", ""),
                package("b==1; platform_machine == 'aarch64'", ""),
                package("c==1", "x"),
            ]
        };
        let python = Version::parse("3.11");
        let here = |arch, groups: &[String]| {
            installed(&packages(), Target { python: python.as_ref(), arch, groups, branches: &BTreeMap::new() })
                .iter()
                .map(|p| (p.name.get().cloned().expect("a name"), p.version.get().is_some()))
                .collect::<Vec<_>>()
        };
        assert_eq!(here(Some("arm64"), &[]), [("b".to_owned(), true)]);
        assert_eq!(here(Some("amd64"), &["x".to_owned()]), [("c".to_owned(), true)]);
        assert_eq!(here(None, &[]), [("b".to_owned(), false)]);
    }
}
