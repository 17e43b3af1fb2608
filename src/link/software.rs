//! What is installed in images: from the builds at hand and from what the catalog knows of bases and packages.

use super::boundary::{Boundary, Deployed, Layout, Reach};
use super::candidates::Candidates;
use super::{lists, packages};
use crate::budget::{Share, Spent};
use crate::catalog;
use crate::evidence;
use crate::facts::value::{Blank, REST};
use crate::facts::{
    Build, Container, DockerRuntime, Facts, Image, Launch, Package, PackageFile, PackageFileKind, PackageManager,
    PythonHome, Software, Workload, WorkloadFormat,
};
use crate::known::{Fact, Known, Why};
use crate::parse::{Problem, View};
use crate::paths;
use crate::source::{SourceId, Span};
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The registry within a cluster of OpenShift.
const OPENSHIFT: &str = "image-registry.openshift-image-registry.svc";

/// Images and the Dockerfiles that are declared to build them, by the name of the image.
type Declared<'a> = Candidates<'a, &'a str, &'a (String, Fact<String>)>;

/// The stages of Dockerfiles.
type Builds<'a> = Candidates<'a, Called, &'a Arc<Build>>;

/// Lists of packages, by the environments that they make.
type Lists<'a> = Candidates<'a, Environment, &'a Arc<PackageFile>>;

/// What lists of packages are found by.
#[derive(PartialEq, Eq, Hash)]
enum Environment {
    /// The name of an environment of conda.
    Conda(String),
    /// The path of a lock file or of a project.
    File(String),
}

/// The environments that a list makes.
fn environments(file: &PackageFile) -> Vec<Environment> {
    let path = file.path.get().cloned().unwrap_or_default();
    match (file.kind.get(), file.name.get()) {
        (Some(PackageFileKind::Conda), Some(name)) => vec![Environment::Conda(name.clone())],
        _ if matches!(paths::name(&path), "uv.lock" | "pyproject.toml") => {
            vec![Environment::File(path)]
        }
        _ => Vec::new(),
    }
}

/// The one list of the environment that is active where a container runs: the one file that makes an environment of conda
/// of this name, or what uv reads in the project whose environment it is. What requirements beside a virtual environment
/// have to do with it no file says.
fn active<'i>(
    container: &Container,
    from: SourceId,
    (lists, boundary): (&'i Lists<'i>, Boundary<'_>),
) -> Option<&'i Arc<PackageFile>> {
    let stated = container.environment.get()?;
    let sources = boundary.layout().sources();
    let own = paths::directory(&sources.get(from).path);
    let only = |key: Environment| match lists.all(boundary, &[key], |_| true)[..] {
        [only] => Some(Some(*only)),
        [] => None,
        _ => Some(None),
    };
    let beside = |directory: &str, names: &[&str]| {
        names.iter().find_map(|name| only(Environment::File(paths::join(directory, name))))
    };
    if stated == "uv" {
        return paths::above(own).find_map(|above| beside(above, &["uv.lock", "pyproject.toml"])).flatten();
    }
    if !stated.contains(['/', '.']) && stated != "venv" {
        return only(Environment::Conda(stated.clone())).flatten();
    }
    if stated.starts_with(['/', '~']) {
        return None;
    }
    let near = paths::directory(stated);
    let place = |above: &str| paths::join_inside(above, near);
    let made = ["uv.lock", "pyproject.toml"];
    paths::above(own).filter_map(place).find_map(|directory| beside(&directory, &made)).flatten()
}

/// What a list of packages brings to a machine of which nothing else is known.
fn of_environment(file: &PackageFile) -> Software {
    let machine = Fact::unknown(Why::NotStated("what the machine has".into()), file.span);
    let mut out = unknown(Software::blank(file.span), &machine);
    out.python = file.python.clone().and_then(|text| {
        let exact = text.trim_start_matches("==").trim_end_matches(".*");
        Version::parse(exact).map_or(Known::Absent, Known::Value)
    });
    let python = out.python.get().cloned();
    let target = lists::Target { python: python.as_ref(), arch: None, groups: &[], branches: &BTreeMap::new() };
    for package in lists::installed(&file.packages, target) {
        let Some(name) = package.name.get().cloned() else { continue };
        if !packages::keeps(out.packages.get(&name), &package) {
            out.packages.insert(name, package);
        }
    }
    packages::resolve(&mut out.packages, &out.python, false);
    out
}

/// What stages are found by.
#[derive(PartialEq, Eq, Hash)]
enum Called {
    /// The path of their file.
    Path(String),
    /// What the image of a final stage may be called, by the path of its file.
    Name(String),
    /// That they are final.
    Final,
    /// The file that states what a tool makes them of.
    Recipe(SourceId),
}

/// What a stage is found by.
fn called(build: &Build) -> Vec<Called> {
    // What a tool builds is run by that tool.
    if !build.tool.is_absent() {
        return vec![Called::Recipe(build.span.source)];
    }
    let Some(stated) = build.path.get() else { return is_final(build).then_some(Called::Final).into_iter().collect() };
    let mut out = vec![Called::Path(stated.clone())];
    if is_final(build) {
        let path = stated.to_lowercase();
        let stem = path.ends_with(".dockerfile").then(|| paths::name(&path).trim_end_matches(".dockerfile"));
        let names = [Some(paths::name(paths::directory(&path))), Some(variant(&path)), stem];
        out.extend(names.into_iter().flatten().map(|name| Called::Name(plain(name))));
        out.push(Called::Final);
    }
    out
}

/// Fills the software of builds, and lists what each of them installs.
pub fn complete(facts: &mut Facts, layout: &Layout<'_>) {
    let files = facts.package_files.clone();
    let lists = lists::Files::new(&files);
    // Many images may install one long list, and many lists may include each other.
    let stated = files.iter().map(|file| size_of_val(&*file.packages)).sum();
    let (of_builds, of_files) = (Share::of(1, stated), Share::of(1, stated));
    let mut made = Vec::new();
    for build in &mut facts.builds {
        let build = Arc::make_mut(build);
        match installed(build, &lists, (&of_builds, layout)) {
            Ok(ways) => {
                made.extend(lists_of(build, &ways));
                build.software = agreed(ways).map(Arc::new);
            }
            Err(spent) => facts.cut.push(too_many(build.span, spent)),
        }
    }
    let idle = lists.named_as_constraints();
    let installs = |file: &&Arc<PackageFile>| {
        let constrains = file.kind.get() == Some(&PackageFileKind::Constraints);
        !constrains && !file.path.get().is_some_and(|path| idle.contains(path.as_str()))
    };
    facts.package_files = Vec::new();
    for file in files.iter().filter(installs) {
        let packages = lists.packages(file, true, &of_files);
        match packages.and_then(|packages| lists::alternatives(file, &packages, &of_files)) {
            Ok(lists) => facts.package_files.extend(lists.into_iter().map(Arc::new)),
            Err(spent) => facts.cut.push(too_many(file.span, spent)),
        }
    }
    facts.package_files.extend(made);
}

fn too_many(span: Span, spent: Spent) -> Problem {
    Problem { span, message: format!("what is installed here with all that it includes: {spent}") }
}

/// What is in a stage in each of the ways to build it.
fn installed(
    build: &mut Build,
    lists: &lists::Files<'_>,
    (share, layout): (&Share, &Layout<'_>),
) -> Result<Vec<Software>, Spent> {
    let constraints: Vec<Option<&PackageFile>> =
        build.constraints.iter().map(|name| lists.meant(name, build, layout).pop()).collect();
    let named: Vec<Vec<&PackageFile>> =
        build.package_files.iter().map(|name| lists.meant(name, build, layout)).collect();
    let complete = named.iter().all(|files| !files.is_empty());
    let mut listed = Vec::new();
    // Where each of them is installed: a later install takes the place of an earlier one.
    let mut places = Vec::new();
    let places_of_files =
        build.package_files.iter().zip(named).map(|(name, files)| (name.span.start, Some(name), files));
    let own = project_file(build, lists);
    let locked = |file: &PackageFile| own.is_some_and(|(own, locked)| locked && std::ptr::eq(own, file));
    let last = own.map(|(file, _)| (u32::MAX, None, vec![file]));
    for (place, name, files) in places_of_files.chain(last) {
        let first = listed.len();
        for file in files {
            listed.extend(lists.packages(file, locked(file), share)?);
        }
        places.resize(listed.len(), place);
        if let Some(name) = name.filter(|name| is_installed_alone(build, name.span)) {
            let alone = Fact::value(packages::ALONE.to_owned(), name.span);
            listed[first..].iter_mut().for_each(|package| package.options = alone.clone());
        }
    }
    for packages in [&mut build.packages, &mut listed] {
        lists::constrain(packages, &constraints);
    }
    let ways = lists::branches(&build.packages);
    // Each way holds them, and so does the list of it.
    share.make(2 * (1 + ways.len()) * size_of_val(&*listed))?;
    let in_commands = build.packages.iter().map(|package| (package.span.start, package));
    let mut placed: Vec<(u32, &Package)> = in_commands.chain(places.into_iter().zip(&listed)).collect();
    placed.sort_by_key(|(place, _)| *place);
    let packages: Vec<Package> = placed.into_iter().map(|(_, package)| package.clone()).collect();
    Ok(ways.iter().map(|branches| of_build(build, &packages, (branches, complete))).collect())
}

/// Whether the command that names a package file there installs nothing but what the file lists.
fn is_installed_alone(build: &Build, name: Span) -> bool {
    let command = build
        .instructions
        .iter()
        .find(|i| i.span.source == name.source && i.span.range().contains(&name.range().start));
    command.is_some_and(|i| i.words.iter().any(|word| word.get().is_some_and(|word| word == packages::ALONE)))
}

/// What is in a stage whichever branches of its scripts run; what they decide is unknown.
fn agreed(mut ways: Vec<Software>) -> Option<Software> {
    let mut out = ways.pop()?;
    let others: Vec<&Package> = ways.iter().flat_map(|way| way.packages.values()).collect();
    for package in others {
        let name = package.name.get().cloned().unwrap_or_default();
        out.packages.entry(name).or_insert_with(|| package.clone());
    }
    for (name, package) in &mut out.packages {
        let same = |other: &Package| {
            other.version.known == package.version.known && other.variant.known == package.variant.known
        };
        if !ways.iter().all(|way| way.packages.get(name).is_some_and(same)) {
            leave_open(package);
        }
    }
    Some(out)
}

/// Makes everything unknown that the release of a package decides.
fn leave_open(package: &mut Package) {
    let why = Why::NotStated("which branch of the script runs".into());
    let text = |fact: &mut Fact<String>| fact.known = Known::Unknown(why.clone());
    let version = |fact: &mut Fact<Version>| fact.known = Known::Unknown(why.clone());
    [&mut package.variant, &mut package.sm, &mut package.ptx].into_iter().for_each(text);
    let versions =
        [&mut package.version, &mut package.cuda, &mut package.min_compute_capability, &mut package.min_driver];
    versions.into_iter().for_each(version);
    package.pinned.known = Known::Unknown(why.clone());
}

/// What a container launches whose image starts as the one that it is built on, which launchers know.
pub type Starts = fn(&Container, &Build) -> Option<Box<Launch>>;

/// Fills the software of containers, and joins them with the builds of their images.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>, starts: Starts) {
    let builds: Builds<'_> = Candidates::gather(deployed, Reach::Deployment, |facts| {
        facts.builds.iter().map(|build| (build.span.source, called(build), build)).collect()
    });
    let images: Declared<'_> = Candidates::gather(deployed, Reach::Deployment, |facts| {
        facts.images.iter().map(|image| (image.1.span.source, vec![canonical(&image.0)], image)).collect()
    });
    let lists: Lists<'_> = Candidates::gather(deployed, Reach::Deployment, |facts| {
        facts.package_files.iter().map(|file| (file.span.source, environments(file), file)).collect()
    });
    let listing = deployed.variants().iter().find_map(|variant| variant.facts.listing.as_deref());
    let of_scripts = deployed.variants().iter().filter_map(|variant| variant.facts.docker_runtime).max();
    let runtime = match listing.and_then(|listing| listing.docker_runtime).max(of_scripts) {
        Some(DockerRuntime::Registered) => Some("registered"),
        Some(DockerRuntime::Default) => Some("default"),
        None => None,
    };
    let open = deployed.variants().iter().flat_map(|variant| &variant.facts.images).map(|(name, _)| name.as_str());
    let open: Vec<&str> = open.filter(|name| name.contains('*')).collect();
    let project = listing.map(|listing| listing.name.as_str()).filter(|_| !builds.is_empty()).unwrap_or_default();
    let alone: Vec<bool> = workloads.iter().map(|workloads| runs_one_image(workloads)).collect();
    deployed.each(workloads, |workload, boundary| {
        let alone = alone[boundary.own()];
        let from = workload.span.source;
        let context = workload.object.as_ref().map(|o| o.view().get("build"));
        let of_itself = workload.format.get() == Some(&WorkloadFormat::Image);
        let own = workload.name.get().filter(|_| of_itself).and_then(|path| {
            let here = |build: &&Arc<Build>| is_final(build) && build.span.source == from;
            builds.find(boundary, &[Called::Path(path.clone())], here)
        });
        let own = own.or_else(|| builds.find(boundary, &[Called::Recipe(from)], |_| true));
        for pod in &mut workload.pods {
            pod.docker_runtime = Fact::from_option(runtime.map(str::to_owned), pod.span);
            for container in pod.containers.iter_mut().chain(&mut pod.init_containers) {
                let made = made(&container.image, from, (&images, boundary));
                let stated = || match (context, declared(&made, boundary)) {
                    (Some(context), _) if context.is_some() => built_by_service(context, from, (&builds, boundary)),
                    (_, Some(path)) => {
                        path.and_then(|path| builds.find(boundary, &[Called::Path(path)], |build| is_final(build)))
                    }
                    (_, None) => of_name(&container.image, from, (&builds, boundary)).or_else(|| {
                        let near = |build: &&&Arc<Build>| is_evident(build, container, (from, boundary));
                        let lone = alone && is_private(&container.image);
                        let only = || builds.only(boundary, from, &[Called::Final], |_| true);
                        lone.then(only).flatten().filter(near)
                    }),
                };
                let build = own.or_else(stated).copied();
                let active = || {
                    let queued = workload.format.get().is_some_and(|format| format.is_queued());
                    let alone = queued && container.image.reference.is_absent();
                    Some(Arc::new(of_environment(active(container, from, (&lists, boundary)).filter(|_| alone)?)))
                };
                let software = match build {
                    Some(build) => build.software.clone(),
                    None => active().or_else(|| Some(Arc::new(of_image(&container.image)))),
                };
                if container.launch.is_none() && container.command.is_empty() {
                    container.launch = build.and_then(|build| build.launch.clone());
                }
                if container.launch.is_none() && container.entrypoint.get() == Some(&false) {
                    let on_base = |build: &Arc<Build>| build.entrypoint.get() == Some(&false);
                    container.launch = build.and_then(|build| match on_base(build) {
                        true => starts(container, build),
                        false => entered(build),
                    });
                }
                let stated = build.is_some() || !made.is_empty() || context.is_some_and(View::is_some);
                let here = stated || is_called_like(&container.image, project) || is_pushed(&container.image, &open);
                container.image.made_here = Fact::value(here, container.image.reference.span);
                container.image.build = build.cloned();
                container.software = software;
            }
        }
    });
}

/// What an entrypoint launches that is given other arguments: the engine, and nothing else is known.
fn entered(build: &Build) -> Option<Box<Launch>> {
    let instruction = build.instructions.iter().rfind(|i| i.keyword.get().is_some_and(|k| k == "ENTRYPOINT"))?;
    let takes_arguments = instruction.text.get()?.starts_with('[');
    let engine = &build.launch.as_ref()?.engine;
    let mut out = Box::new(Launch::blank(engine.span));
    let why = Why::NotModelled("arguments for the entrypoint of a build".into());
    out.engine = engine.clone();
    out.leave_open(&why);
    out.flags.insert(REST.to_owned(), Fact::unknown(why, engine.span));
    (takes_arguments && instruction.span.contains(engine.span)).then_some(out)
}

/// What makes an image, as the configuration or something that builds it says of exactly this name, with or without its
/// tag. A name within a registry is meant wherever it stands.
fn made<'i>(
    image: &Image,
    from: SourceId,
    (images, boundary): (&Declared<'i>, Boundary<'_>),
) -> Vec<&'i (String, Fact<String>)> {
    let Some(reference) = image.reference.get() else { return Vec::new() };
    let reference = canonical(reference);
    let name = reference.split('@').next().unwrap_or(reference);
    let untagged = untagged(name);
    let mut names = vec![name, untagged];
    // A stream of OpenShift is an image of its registry.
    if name.starts_with(OPENSHIFT) {
        names.extend([paths::name(name), paths::name(untagged)]);
    }
    let mut found = images.nearest(boundary, from, &names, |_| true);
    if found.is_empty() && name.contains('/') {
        found = images.all(boundary, &names, |_| true);
    }
    found.into_iter().copied().collect()
}

/// The name of an image without its tag and its digest.
fn untagged(reference: &str) -> &str {
    let name = reference.split('@').next().unwrap_or(reference);
    match name.rsplit_once(':') {
        Some((untagged, tag)) if !tag.contains('/') => untagged,
        _ => name,
    }
}

/// The path of the one Dockerfile that makes an image: `Some(None)` where several do.
fn declared(made: &[&(String, Fact<String>)], boundary: Boundary<'_>) -> Option<Option<String>> {
    let path = |(_, file): &&(String, Fact<String>)| Some(boundary.layout().relative(file.span.source, file.get()?));
    let mut paths: BTreeSet<String> = made.iter().filter_map(path).collect();
    let first = paths.pop_first()?;
    Some(Some(first).filter(|_| paths.is_empty()))
}

/// The name of an image without the registry that is meant where none is.
fn canonical(name: &str) -> &str {
    name.trim_start_matches("docker.io/").trim_start_matches("localhost/")
}

/// The build that a Compose service names, with its own arguments where it gives some.
fn built_by_service<'i>(
    context: View<'_>,
    from: SourceId,
    (builds, boundary): (&'i Builds<'i>, Boundary<'_>),
) -> Option<&'i &'i Arc<Build>> {
    let inline = context.get("dockerfile_inline");
    if inline.is_some() {
        let sources = boundary.layout().sources();
        let line = |place: Span, offset| sources.get(place.source).line_of(offset);
        // It is read as a file of the same path, with every line on the line that it is written on.
        let place = inline.place();
        let lines = line(place, place.start)..=line(place, place.end);
        let within = |build: &&Arc<Build>| is_final(build) && lines.contains(&line(build.span, build.span.start));
        return builds.find(boundary, &[Called::Path(sources.get(from).path.clone())], within);
    }
    let (path, target) = named_by(context);
    let path = boundary.layout().relative(from, &path);
    let named = |build: &Build| {
        let last = || build.final_stage.get() == Some(&true);
        target.as_ref().map_or_else(last, |stage| build.stage.get() == Some(stage))
    };
    let given = |build: &Build| build.built_for.iter().any(|service| service.span == context.place());
    let path = [Called::Path(path)];
    let own = builds.find(boundary, &path, |build| named(build) && given(build));
    own.or_else(|| builds.find(boundary, &path, |build| named(build) && build.built_for.is_empty()))
}

/// What the Python of a stage has in each of the ways to build it, as lists of packages like those of files. A list
/// within another one says nothing more and is left out.
fn lists_of(build: &Build, ways: &[Software]) -> Vec<Arc<PackageFile>> {
    let mut out: Vec<Arc<PackageFile>> = Vec::new();
    let within = |list: &PackageFile, other: &PackageFile| {
        let there: BTreeSet<_> = other.packages.iter().map(|p| (p.span, p.name.get())).collect();
        list.packages.iter().all(|p| there.contains(&(p.span, p.name.get())))
    };
    for list in ways.iter().filter_map(|software| list_of(build, software)) {
        if !out.iter().any(|other| within(&list, other)) {
            out.retain(|other| !within(other, &list));
            out.push(list);
        }
    }
    out
}

fn list_of(build: &Build, software: &Software) -> Option<Arc<PackageFile>> {
    let from_index = |p: &&Package| {
        matches!(p.manager.get(), Some(PackageManager::Pip | PackageManager::Uv | PackageManager::Image))
    };
    let mut list = PackageFile::blank(build.span);
    list.path = build.path.clone();
    list.kind = Fact::value(PackageFileKind::Dockerfile, build.span);
    list.python = software.python.clone().map(|python| format!("=={}.{}.*", python.major(), python.minor()));
    list.packages = software.packages.values().filter(from_index).cloned().collect();
    // What is already there stays, and what was asked for is said all the same.
    let kept = build.packages.iter().filter(|p| p.unquoted.get().is_some());
    list.packages.extend(kept.filter(|p| !software.packages.values().any(|q| q.span == p.span)).cloned());
    (!list.packages.is_empty()).then(|| Arc::new(list))
}

fn is_final(build: &Build) -> bool {
    build.final_stage.get() == Some(&true) && build.built_for.is_empty()
}

/// The Dockerfile and the target that a Compose service names, as seen from its file.
pub fn named_by(context: View<'_>) -> (String, Option<String>) {
    let stated = |key: &str| context.get(key).string().get().cloned();
    let root = context.string().get().cloned().or_else(|| stated("context")).unwrap_or_else(|| ".".to_owned());
    (format!("{root}/{}", stated("dockerfile").unwrap_or_else(|| "Dockerfile".to_owned())), stated("target"))
}

/// The build that is called like the image, when there is exactly one near it.
fn of_name<'i>(
    image: &Image,
    from: SourceId,
    (builds, boundary): (&'i Builds<'i>, Boundary<'_>),
) -> Option<&'i &'i Arc<Build>> {
    if is_public(image) {
        return None;
    }
    let name = plain(paths::name(image.repository.get()?));
    builds.only(boundary, from, &[Called::Name(name)], |_| true)
}

/// A name without what it is divided with.
fn plain(text: &str) -> String {
    text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "")
}

/// What follows `Dockerfile` in a name.
fn variant(path: &str) -> &str {
    paths::name(path).trim_start_matches("dockerfile").trim_matches(['.', '-', '_'])
}

/// Whether an image is of a family that is pulled, not built here.
fn is_public(image: &Image) -> bool {
    let server = |name: &String| catalog::server_of_image(name).is_some();
    image.family.get().is_some() || image.reference.get().is_none_or(server)
}

/// Whether a pipeline pushes an image whose name it puts together of what it is not told here: each `*` is one part of the
/// name, and what is left of it is the image's.
fn is_pushed(image: &Image, open: &[&str]) -> bool {
    let Some(reference) = image.reference.get().filter(|_| !open.is_empty() && !is_public(image)) else { return false };
    let parts = |name| untagged(canonical(name)).split('/').collect::<Vec<_>>();
    let name = parts(reference);
    open.iter().any(|open| {
        let open = parts(open);
        let alike = |(open, part): (&&str, &&str)| *open == "*" || open == part;
        open.len() == name.len() && open.last() != Some(&"*") && open.iter().zip(&name).all(alike)
    })
}

/// Whether an image has the name of the project around it: `team/my-tool` in `MyTool`.
fn is_called_like(image: &Image, project: &str) -> bool {
    let name = image.repository.get().map(|repository| plain(paths::name(repository))).unwrap_or_default();
    !name.is_empty() && name == plain(project) && !is_public(image)
}

fn is_private(image: &Image) -> bool {
    !is_public(image) && image.registry.get().is_some_and(|registry| registry != "docker.io")
}

/// Whether workloads run one image of a registry of one's own, and not several.
fn runs_one_image(workloads: &[Workload]) -> bool {
    let pods = workloads.iter().flat_map(|workload| &workload.pods);
    let containers = pods.flat_map(|pod| pod.containers.iter().chain(&pod.init_containers));
    let images = containers.map(|container| &container.image).filter(|image| is_private(image));
    images.filter_map(|image| image.repository.get()).collect::<BTreeSet<_>>().len() == 1
}

/// Whether something beside their being the only ones tells that a Dockerfile makes the image of a container: it stands
/// beside or above what runs it, in a directory of the container's name, its variant is in the tag, or what it starts is
/// called like the image.
fn is_evident(build: &Build, container: &Container, (from, boundary): (SourceId, Boundary<'_>)) -> bool {
    let layout = boundary.layout();
    let (above, here) = (layout.at(build.span.source), layout.at(from));
    let image = &container.image;
    let path = build.path.get().map_or(String::new(), |path| path.to_lowercase());
    let tagged = |tag: &String| tag.split(['-', '_', '.']).any(|word| !word.is_empty() && word == variant(&path));
    layout.directories().holds(above, here)
        || container.name.get().is_some_and(|name| layout.directories().name(above) == Some(name.as_str()))
        || image.tag.get().is_some_and(tagged)
        || image.name.get().is_some_and(|name| starts(build, name))
}

/// Whether a program or module of a name is what an image starts.
fn starts(build: &Build, name: &str) -> bool {
    let started =
        build.instructions.iter().filter(|i| matches!(i.keyword.get().map(String::as_str), Some("CMD" | "ENTRYPOINT")));
    let plain = |word: &str| word.replace('_', "-").to_lowercase();
    let words = |text: &String| {
        text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').any(|word| plain(word) == plain(name))
    };
    started.filter_map(|instruction| instruction.text.get()).any(words)
}

/// What the catalog knows of an image by its name.
pub fn of_image(image: &Image) -> Software {
    let span = image.reference.span;
    let mut out = Software::blank(span);
    let place = if image.tag.is_absent() { image.repository.span } else { image.tag.span };
    let (Some(registry), Some(repository)) = (image.registry.get(), image.repository.get()) else {
        return unknown(out, &image.reference);
    };
    let name = if registry == "docker.io" { repository.clone() } else { format!("{registry}/{repository}") };
    // Mirrors keep Docker's official images below `library`.
    let name = name.rsplit_once("/library/").map_or(name.clone(), |(_, official)| official.to_owned());
    let Some(tag) = image.tag.get() else {
        out.os = distribution(&name, "latest").map_or(Fact::absent(place), |(os, _)| Fact::value(os, place));
        return if image.tag.is_absent() && image.digest.is_absent() { out } else { unknown(out, &image.tag) };
    };
    let (info, unread) = evidence::watched(|| catalog::image(&name, tag));
    if let Ok(info) = info {
        holds(&mut out, info, (place, unread));
    } else if let Some((os, version)) = distribution(&name, tag) {
        out.os = Fact::value(os, place);
        out.os_version = Fact::from_option(version, place);
        out.nvcc = Fact::value(false, place);
    }
    // python:3.11-slim
    if name == "python" {
        let python = Version::parse(tag.split('-').next().unwrap_or(tag)).filter(|v| v.release().len() > 1);
        out.python = Fact::from_option(python, place).or(|| out.python.clone());
        out.externally_managed = Fact::value(false, place);
    }
    let devel = out.flavor.get().is_some_and(|f| f == "devel");
    let plain_cuda = out.flavor.get().is_some();
    if plain_cuda {
        out.nvcc = Fact::value(devel, place);
        out.compiler = Fact::value(devel, place);
        out.python_headers = Fact::value(false, place);
    }
    base_os(&mut out);
    out
}

/// Takes in what the catalog lists of an image, decided at `place` by rows that somebody read or not.
fn holds(out: &mut Software, info: catalog::ImageInfo, (place, unread): (Span, bool)) {
    let version = |v: Option<Version>| Fact::from_option(v, place).resting_on(unread);
    let word = |text: Option<String>| Fact::from_option(text, place).resting_on(unread);
    out.cuda = version(info.cuda);
    out.cudnn = version(info.cudnn);
    out.tensorrt = version(info.tensorrt);
    out.ngc = version(info.ngc);
    out.flavor = word(info.flavor);
    out.os = word(info.os);
    out.os_version = version(info.os_version);
    out.python = version(info.python);
    out.min_driver = version(info.min_driver);
    out.forward_compat = Fact::value(info.forward_compat, place).resting_on(unread);
    out.min_compute_capability = version(info.min_compute_capability);
    let shipped = [(info.framework, info.framework_version), (Some("torch"), info.torch)];
    for (name, release) in shipped {
        let Some(name) = name.filter(|n| !out.packages.contains_key(*n)) else { continue };
        if release.is_none() && info.framework != Some(name) {
            continue;
        }
        let mut package = Package::blank(place);
        package.name = Fact::value(name.to_owned(), place);
        package.manager = Fact::value(PackageManager::Image, place);
        package.pinned = Fact::value(true, place);
        package.version = version(release);
        package.cuda = out.cuda.clone();
        let built = |toolkit: &str, dot: &str, v: &Version| format!("{toolkit}{}{dot}{}", v.major(), v.minor());
        let variant = out.cuda.get().map(|cuda| built("cu", "", cuda));
        let variant = variant.or_else(|| info.rocm.as_ref().map(|rocm| built("rocm", ".", rocm)));
        package.variant = Fact::from_option(variant, place);
        // The builds that are listed are for NVIDIA's GPUs where they do not say otherwise.
        if matches!(info.accelerator, None | Some("nvidia" | "cpu")) {
            packages::complete(&mut package);
        }
        out.packages.insert(name.to_owned(), package);
    }
    if let Some(build) = info.build.filter(|b| !b.sm.is_empty() || !b.ptx.is_empty())
        && let Some(package) = out.packages.get_mut(build.package)
    {
        packages::carries(package, build, (place, unread));
    }
}

fn unknown(mut out: Software, reason: &Fact<String>) -> Software {
    let why = match &reason.known {
        Known::Unknown(why) => why.clone(),
        _ => Why::NotStated("the tag of the image".into()),
    };
    out.cuda = Fact::unknown(why.clone(), reason.span);
    out.cudnn = Fact::unknown(why.clone(), reason.span);
    out.nvcc = Fact::unknown(why.clone(), reason.span);
    out.compiler = Fact::unknown(why.clone(), reason.span);
    out.os = Fact::unknown(why, reason.span);
    out
}

/// Distribution of official images: ubuntu:22.04, debian:bookworm, python:3.11-slim-bullseye, alpine:3.20.
fn distribution(name: &str, tag: &str) -> Option<(String, Option<Version>)> {
    let official = !name.contains('/');
    match name {
        "ubuntu" | "debian" | "alpine" | "rockylinux" | "almalinux" | "fedora" | "amazonlinux" => {
            let first = tag.split('-').next().unwrap_or(tag);
            Some((name.to_owned(), Version::parse(first).or_else(|| codename(first))))
        }
        _ if official && tag.contains("alpine") => {
            let version = tag.split("alpine").nth(1).and_then(Version::parse);
            Some(("alpine".to_owned(), version))
        }
        _ if official => {
            let version = tag.split('-').find_map(codename).map(|version| ("debian", version));
            let version = version.or_else(|| catalog::base_image(name, tag)?.os());
            version.map(|(os, version)| (os.to_owned(), Some(version)))
        }
        _ => None,
    }
}

/// The release behind a codename of Debian or Ubuntu.
fn codename(word: &str) -> Option<Version> {
    ["debian", "ubuntu"].iter().find_map(|d| catalog::base_os(d, word)).and_then(|os| os.version)
}

/// What the distribution brings: glibc, Python.
fn base_os(out: &mut Software) {
    let (Some(os), place) = (out.os.get().cloned(), out.os.span) else { return };
    let version = out.os_version.get().map_or(String::new(), ToString::to_string);
    let (row, unread) = evidence::watched(|| catalog::base_os(&os, &version));
    let Some(row) = row else { return };
    out.glibc = Fact::from_option(row.glibc, place).resting_on(unread);
    // A Python of its own (python:3.11, python:slim, conda) comes before the distribution's.
    if out.python.is_absent() && out.externally_managed.is_absent() {
        out.python = Fact::from_option(row.python, place).resting_on(unread);
        out.externally_managed = Fact::value(row.externally_managed, place).resting_on(unread);
    }
}

/// What is in a stage when it is finished, with the packages of its own commands and those that files list in the order in
/// which they are installed. Whether all files are at hand decides what is known of the others.
fn of_build(build: &Build, packages: &[Package], (branches, complete): (&BTreeMap<String, String>, bool)) -> Software {
    let mut out = of_image(&build.base);
    out.span = build.span;
    out.env = build.env.clone();
    if !build.tool.is_absent() {
        chosen(&mut out, build);
    }
    let platform = build.base.platform.get().and_then(|p| p.rsplit('/').next().map(str::to_owned));
    out.arch = Fact::from_option(platform, build.base.platform.span);
    for package in &build.packages {
        let name = package.name.get().map_or("", String::as_str);
        system_package(&mut out, name, package.span);
    }
    let groups: Vec<String> = build.groups.iter().filter_map(|g| g.get().cloned()).collect();
    let python = out.python.get().cloned();
    let arch = out.arch.get().cloned();
    let target = lists::Target { python: python.as_ref(), arch: arch.as_deref(), groups: &groups, branches };
    let texts = build.instructions.iter().filter_map(|i| i.text.get());
    let uninstalled: BTreeSet<&str> =
        texts.filter(|text| text.contains("uninstall ")).flat_map(|text| text.split(' ')).collect();
    let held = constrains_pip(build);
    for package in lists::installed(packages, target) {
        let Some(name) = package.name.get().cloned() else { continue };
        if uninstalled.contains(name.as_str()) || !packages::keeps(out.packages.get(&name), &package) {
            packages::give_way(&mut out.packages, &package, held);
            out.packages.insert(name, package);
        }
    }
    let framework =
        out.packages.get_mut(packages::FRAMEWORK).filter(|p| p.variant.is_absent() && p.index_url.is_absent());
    if let Some(framework) = framework {
        framework.variant = build.variant.clone();
    }
    brought_along(&mut out, build);
    packages::resolve(&mut out.packages, &out.python, complete);
    out
}

/// Whether the base image holds pip to what it brings, and the build does not take that away.
fn constrains_pip(build: &Build) -> bool {
    let (family, tag) = (build.base.family.get().zip(build.base.tag.get())).map_or(("", ""), |(f, t)| (f, t));
    let frees = |text: &Fact<String>| text.get().is_some_and(|text| text.contains("PIP_CONSTRAINT"));
    catalog::image_traits(family, tag).is_some_and(|traits| traits.contains(&"pip-constraint"))
        && !build.instructions.iter().any(|i| frees(&i.text) || frees(&i.assignments))
}

/// What a tool brings that chooses the base.
fn chosen(out: &mut Software, build: &Build) {
    if !build.cuda.is_absent() {
        out.cuda = build.cuda.clone();
    }
    if !build.python_release.is_absent() {
        out.python = build.python_release.clone();
        out.externally_managed = Fact::value(false, build.python_release.span);
    }
}

/// What is not installed may have been brought along: by conda, by a Python of its own, or out of another stage.
fn brought_along(out: &mut Software, build: &Build) {
    let words = || build.instructions.iter().filter_map(|i| i.text.get());
    let conda = build.python.get() == Some(&PythonHome::Conda) || words().any(|text| text.contains("conda"));
    let copied = |part: &str| words().any(|text| text.contains("--from=") && text.contains(part));
    let unless = |fact: &mut Fact<bool>, brought: bool, what: &str| {
        if brought && fact.get() == Some(&false) {
            *fact = Fact::unknown(Why::Remote(what.into()), fact.span);
        }
    };
    let cuda = ["cuda", "nvcc", "nvidia"].iter().any(|part| copied(part)) || words().any(|text| text.contains("nvcc"));
    unless(&mut out.nvcc, conda || cuda, "what conda or another stage brings");
    unless(&mut out.compiler, conda || words().any(|text| text.contains("gcc")), "what conda brings");
    let own = build.python.get().is_none_or(|python| !matches!(python, PythonHome::System | PythonHome::Venv));
    unless(&mut out.python_headers, own || conda, "a Python of its own");
}

/// What a package of the distribution changes: compilers, the toolkit, Python.
fn system_package(out: &mut Software, name: &str, span: Span) {
    let yes = Fact::value(true, span);
    if matches!(name, "build-essential" | "gcc" | "g++" | "clang" | "build-base" | "gcc-c++")
        || name.starts_with("gcc-")
        || name.starts_with("g++-")
    {
        out.compiler = yes.clone();
    }
    if name.contains("python") && ["-dev", "-devel", "-full"].iter().any(|end| name.ends_with(end)) {
        out.python_headers = yes.clone();
    }
    if name.starts_with("cuda-toolkit")
        || name.starts_with("cuda-nvcc")
        || name.starts_with("cuda-compiler")
        || name == "nvidia-cuda-toolkit"
    {
        out.nvcc = yes;
    }
    // What belongs to a Python (python3.11-venv) brings it.
    let python = name.strip_prefix("python").and_then(|rest| rest.split('-').next());
    let python = python.filter(|version| version.contains('.')).and_then(Version::parse);
    if let Some(python) = python {
        out.python = Fact::value(python, span);
        out.externally_managed = Fact::value(false, span);
    }
}

/// The pyproject.toml beside the Dockerfile, when the project itself is installed, and whether as its lock file says: pip
/// reads none.
fn project_file<'f>(build: &Build, lists: &lists::Files<'f>) -> Option<(&'f PackageFile, bool)> {
    let locked = build.instructions.iter().filter_map(|i| i.text.get()).filter_map(|text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let project = words.contains(&".") || words.iter().any(|w| w.starts_with(".["));
        match words.as_slice() {
            ["uv" | "pixi", "sync" | "install", ..] | ["poetry", "install", ..] | ["pdm", "install" | "sync", ..] => {
                Some(true)
            }
            words if project && words.contains(&"install") => Some(false),
            _ => None,
        }
    });
    let locked = locked.max()?;
    let here = paths::directory(build.path.get()?);
    Some((lists.at(&paths::join(here, "pyproject.toml"))?, locked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Span, Traced};

    #[test]
    fn an_image_carries_what_the_row_of_its_build_states() {
        let text = "tensorflow/tensorflow:2.18.0-gpu";
        let image = crate::extract::image::reference(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0));
        let build = catalog::framework_build("tensorflow", &Version::parse("2.18.0").expect("a version"), None);
        let build = build.expect("a row");
        let software = of_image(&image);
        let package = software.packages.get("tensorflow").expect("the framework");
        assert_eq!(package.sm.get().map(String::as_str), Some(build.sm));
        assert!(!build.ptx.is_empty(), "the wheel has PTX for newer GPUs");
        assert_eq!(package.ptx.get().map(String::as_str), Some(build.ptx));
    }
}
