//! Environment variables against those that the program of an image reads.

use super::flags::wrong_value;
use super::{Breach, Judged};
use crate::catalog::{Environment, ProgramFlag, environments, is_tagged_by_release};
use crate::facts::value::REST;
use crate::facts::{BreachClass as Class, Build, Container, EnvVar, Facts, Image, Launch};
use crate::known::Fact;
use crate::source::Span;
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet};

/// By how many slips a variable of a library differs at most from the one that was meant: plugins of it read others of its
/// prefix.
const SLIPS: usize = 2;

/// A variable that is misread, with the program that does.
type Misread = (String, Breach);

/// Holds the variables of containers and of Dockerfiles against what the releases of their programs read. What is stated once for
/// several containers is a breach where it is one for each of them.
pub fn judge(facts: &Facts) -> Vec<(Fact<String>, Judged)> {
    let mut found: BTreeMap<Span, Option<(Fact<String>, Misread)>> = BTreeMap::new();
    let mut told = |place: Span, misread: Option<(Fact<String>, Misread)>| {
        let before = found.entry(place).or_insert_with(|| misread.clone());
        *before = before.take().filter(|_| misread.is_some());
    };
    let pods =
        || facts.workloads.iter().flat_map(|workload| workload.pods.iter().map(move |pod| (&workload.name, pod)));
    for (of, pod) in pods() {
        for container in pod.containers.iter().chain(&pod.init_containers) {
            for variable in known(container) {
                let of = || of.clone();
                told(variable.name.span, of_container(container, variable).map(|misread| (of(), misread)));
            }
        }
    }
    let own = |container: &&Container| container.image.made_here.get() == Some(&true);
    let containers = || pods().flat_map(|(_, pod)| pod.containers.iter().chain(&pod.init_containers));
    let mentioned: BTreeSet<&str> = containers().filter(own).flat_map(texts).flat_map(names).collect();
    for build in &facts.builds {
        for (name, value) in build.env.iter().filter(|(name, _)| !mentioned.contains(name.as_str())) {
            let misread = of_build(build, name, value);
            told(value.span, misread.map(|misread| (build.stage.clone(), misread)));
        }
    }
    let judged = |(of, (contract, breach))| (of, Judged { contract, breaches: vec![breach] });
    found.into_values().flatten().map(judged).collect()
}

/// The variables of a container whose names begin as those of some program do.
fn known(container: &Container) -> impl Iterator<Item = &EnvVar> {
    let known = |name: &str| name != REST && environments(name).next().is_some();
    container.env.iter().filter(move |(name, _)| known(name)).map(|(_, variable)| &**variable)
}

/// What is wrong with a variable of a container.
fn of_container(container: &Container, variable: &EnvVar) -> Option<Misread> {
    let name = variable.name.get()?;
    let all: Vec<&str> = texts(container).collect();
    // What is not known of the command, and files that it names, may read any variable.
    if container.command.iter().any(|word| word.get().is_none()) || all.iter().any(|text| brings_code(text)) {
        return None;
    }
    let first = container.command.first().and_then(Fact::get);
    let told = |reader: Environment| {
        let launch = container.launch.as_deref().filter(|launch| launch.perhaps.is_none());
        let runs = match reader.engine() {
            Some(engine) => launch.is_some_and(|launch| launch.engine.get().is_some_and(|own| own == engine)),
            // What are no options may be another program.
            None => reader.is_library() || first.is_none_or(|word| word.starts_with('-')),
        };
        let own = !reader.is_library() && is_in(reader, &container.image);
        let library = reader.is_library() && container.gpus.get().is_some_and(|gpus| *gpus > 0);
        if !(runs && (own || library)) {
            return None;
        }
        let installed = launch.filter(|_| own).and_then(|launch| launch.version.get()).cloned();
        let version = installed.or_else(|| release(reader, &container.image));
        if own && version.is_none() && !is_newest(&container.image) {
            return None;
        }
        misread(reader, (name, variable.name.span), &variable.value, version.as_ref())
    };
    let mentions = |text: &&str| names(text).any(|word| word == name);
    environments(name).find_map(told).filter(|_| !all.iter().any(mentions))
}

/// What is wrong with a variable of a stage that adds nothing but settings to the image of a program.
fn of_build(build: &Build, name: &str, value: &Fact<String>) -> Option<Misread> {
    let is = |of: &[&str], keyword: &Fact<String>| keyword.get().is_none_or(|own| of.contains(&own.as_str()));
    let adds = build.instructions.iter().any(|i| is(&["COPY", "ADD", "RUN"], &i.keyword));
    let mut starts = build.instructions.iter().filter(|i| is(&["CMD", "ENTRYPOINT"], &i.keyword));
    let reads = |text: &str| brings_code(text) || names(text).any(|word| word == name);
    if adds || !build.copies.is_empty() || starts.any(|i| i.text.get().is_none_or(|text| reads(text))) {
        return None;
    }
    let told = |reader: Environment| {
        let version = release(reader, &build.base);
        let own = is_in(reader, &build.base) && (version.is_some() || is_newest(&build.base));
        own.then(|| misread(reader, (name, value.span), value, version.as_ref()))?
    };
    environments(name).find_map(told)
}

/// Whether an image is the publisher's own, which nothing here makes.
fn is_in(reader: Environment, image: &Image) -> bool {
    let name = image.registry.get().zip(image.repository.get());
    let made_here = image.made_here.get() == Some(&true);
    !made_here && name.is_some_and(|(registry, repository)| reader.is_in(&format!("{registry}/{repository}")))
}

/// The release that the tag of the publisher's image names.
fn release(reader: Environment, image: &Image) -> Option<Version> {
    image.tag.get().filter(|_| is_in(reader, image)).and_then(|tag| Version::of_tag(tag))
}

/// Whether a launch runs in the image that the publisher of its engine makes of it today.
pub fn is_published(launch: &Launch, image: &Image) -> bool {
    let name = image.registry.get().zip(image.repository.get());
    let own = launch.engine.get().zip(name).is_some_and(|(engine, (registry, repository))| {
        is_tagged_by_release(&format!("{registry}/{repository}"), engine)
    });
    own && is_newest(image) && image.made_here.get() != Some(&true)
}

/// Whether an image is what its tag names today; what a digest names or a variable may be of any age.
fn is_newest(image: &Image) -> bool {
    image.digest.is_absent() && !image.tag.is_unknown() && !image.tag.get().is_some_and(|tag| tag.contains('@'))
}

/// What is wrong with a variable, in a release where that is known, else in all that were read.
fn misread(
    reader: Environment,
    (name, place): (&str, Span),
    value: &Fact<String>,
    version: Option<&Version>,
) -> Option<Misread> {
    let program = reader.variables()?;
    if version.is_some_and(|version| !program.is_whole(version)) {
        return None;
    }
    let contract = version.map_or_else(
        || format!("{}, releases {}", reader.name(), program.versions()),
        |version| format!("{} {version}", reader.name()),
    );
    let all: Vec<ProgramFlag> = program.find(name).collect();
    // A name that is spelled like another one may be meant to hold something else.
    let breach = |class, place, says, meant: Option<String>| {
        let instead = meant.clone().filter(|_| !all.is_empty());
        let field = name.to_owned();
        (contract.clone(), Breach { class, place, field, says, meant, other: None, instead, unknown: None })
    };
    let own: Vec<ProgramFlag> =
        all.iter().copied().filter(|flag| version.is_none_or(|version| flag.holds(version))).collect();
    if !own.is_empty() && own.iter().all(ProgramFlag::is_removed) {
        let since = own.iter().rev().find_map(|flag| flag.replaced_by).map(str::to_owned);
        return Some(breach(Class::VariableUnread, place, format!("{name} was removed"), since));
    }
    if !own.is_empty() {
        let says = wrong_value(name, value, &own)?;
        return Some(breach(Class::ValueNotAllowed, value.span, says, None));
    }
    if !all.is_empty() {
        let versions: Vec<&str> = all.iter().map(|flag| flag.versions).collect();
        let since = all.iter().rev().find_map(|flag| flag.replaced_by).map(str::to_owned);
        let says = format!("{name} is not read; other releases do ({})", versions.join(", "));
        return Some(breach(Class::VariableUnread, place, says, since));
    }
    let closest = program.closest(name, version);
    let near = |most: usize| closest.filter(|(slips, _)| *slips <= most).map(|(_, known)| known.to_owned());
    let meant = near(SLIPS.max(name.len() / 5));
    if reader.is_library() && near(SLIPS).is_none() {
        return None;
    }
    Some(breach(Class::VariableUnread, place, format!("{name} is not read"), meant))
}

/// The texts of a container that may name variables or files that read them.
fn texts(container: &Container) -> impl Iterator<Item = &str> {
    let words = container.command.iter().filter_map(|word| word.get().map(String::as_str));
    let mounts = container.mounts.iter().filter_map(|mount| mount.path.get().map(String::as_str));
    // Kubernetes puts `$(NAME)` in.
    let written = container.env.values().filter_map(|variable| variable.written.get().map(String::as_str));
    words.chain(mounts).chain(written.filter(|text| text.contains("$("))).chain(hooks(container))
}

/// The words of what runs in a container beside its command: hooks and probes.
fn hooks(container: &Container) -> impl Iterator<Item = &str> {
    const PLACES: [&str; 6] = [
        "lifecycle.postStart.exec.command",
        "lifecycle.preStop.exec.command",
        "livenessProbe.exec.command",
        "readinessProbe.exec.command",
        "startupProbe.exec.command",
        "healthcheck.test",
    ];
    let spec = container.spec.iter().map(|spec| spec.view());
    spec.flat_map(|spec| {
        let started = spec.get("post_start").items().map(|hook| hook.get("command"));
        let places = PLACES.map(|place| spec.path(place)).into_iter().chain(started);
        places.flat_map(|place| place.items().chain([place])).filter_map(|word| word.node()?.text())
    })
}

/// Whether a text names a file with a program, or installs one.
fn brings_code(text: &str) -> bool {
    [".sh", ".py", "install"].iter().any(|sign| text.contains(sign))
}

/// The words of a text that may be names of variables.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
