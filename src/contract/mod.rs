//! What software publishes about itself, and what breaks it: schemas of kinds by release of the project that serves them.
//! Knows what is written and what is allowed there; nothing of what it means, and nothing of rules or findings.

pub mod blocks;
mod cel;
pub mod dockerfile;
pub mod environment;
mod find;
pub mod flags;
mod format;
pub mod images;
mod pack;
mod repeated;
pub mod requirements;
pub mod submissions;
mod uri;
mod validate;
mod value;

use crate::budget::{STEP, Share, Spent};
use crate::facts::BreachClass;
use crate::parse::View;
use crate::source::Span;
use crate::suggest;
use crate::version::Version;
use pack::{Kind, Project};
use validate::Manner;

/// Something that breaks a contract.
#[derive(Debug, Clone, PartialEq)]
pub struct Breach {
    /// What kind of breach it is.
    pub class: BreachClass,
    /// The text that breaks it: the key of an unknown field, else the value; what something is missing from.
    pub place: Span,
    /// The field, as a path from the object.
    pub field: String,
    /// What is wrong, as a sentence without a full stop.
    pub says: String,
    /// What was meant, where that can be told.
    pub meant: Option<String>,
    /// What it does not go with, and where that stands.
    pub other: Option<(String, Span)>,
    /// What alone can have been meant to stand in its place.
    pub instead: Option<String>,
    /// An unknown field by its name, and the objects around it with their schemas.
    pub(crate) unknown: Option<(String, Vec<(String, u32)>)>,
}

/// What an object breaks, and the contract that says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The contract, with the releases that it is of.
    pub contract: String,
    /// What breaks it.
    pub breaches: Vec<Breach>,
}

/// A project that publishes schemas.
#[derive(Debug)]
pub struct Published {
    /// Its name.
    pub name: &'static str,
    /// Where its schemas stand.
    pub source: &'static str,
    /// The releases that were read, ascending.
    pub releases: Vec<&'static str>,
    /// Its kinds, with their versions.
    pub kinds: Vec<String>,
}

/// All projects whose schemas are known.
pub fn projects() -> Vec<Published> {
    let kinds: Vec<Kind<'_>> = pack::all_kinds().collect();
    let published = |at| {
        let Project { name, source, releases, .. } = pack::project(at);
        let own = kinds.iter().filter(|kind| kind.project as usize == at);
        Published { name, source, releases, kinds: own.map(called).collect() }
    };
    (0..pack::projects()).map(published).collect()
}

/// Which release of a project serves: what is stated of its charts, and of Kubernetes.
pub trait Stated {
    /// All versions of Kubernetes that are stated; none where one is not known.
    fn kubernetes(&self) -> &[Version];
    /// All versions of a chart that are stated; none where one is not known.
    fn chart(&self, name: &str) -> &[Version];
}

/// Holds an object of Kubernetes against the contracts of its kind, or another document (of no version of an API) against those
/// of what it is called. A breach is one of every release of every project that may serve it.
///
/// # Errors
/// The share is spent.
pub fn judge(
    object: View<'_>,
    (api_version, kind): (&str, &str),
    stated: &impl Stated,
    share: &Share,
) -> Result<Option<Judged>, Spent> {
    in_all(object, (api_version, kind), (&|project| releases(project, stated), false), share)
}

/// How the kinds of projects begin that are known as a whole, the field that names one, and the project.
const FAMILIES: [(&str, &str, &str); 3] = [
    ("torchtune.", "_component_", "torchtune"),
    ("modules/", "source", "cluster-toolkit"),
    ("community/modules/", "source", "cluster-toolkit"),
];

/// What is wrong with a name at a place that no release of its project has, where it is a slip of one that some release has, or
/// leads elsewhere. What is like none may be an addition of somebody's own.
pub fn unpublished(kind: &str, place: Span) -> Option<Judged> {
    let (_, field, project) = FAMILIES.iter().find(|(start, ..)| kind.starts_with(start))?;
    // What a module keeps for itself is not listed.
    if kind.contains("._") || pack::kinds("", kind).next().is_some() {
        return None;
    }
    let all: Vec<Kind<'_>> =
        pack::all_kinds().filter(|one| pack::project(one.project as usize).name == *project).collect();
    let last = |name: &str| name.rsplit(['.', '/']).next().unwrap_or_default().to_owned();
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let own = last(kind);
    let slip = || {
        let (slips, near) = suggest::closest(kind, all.iter().map(|one| one.kind))?;
        (slips <= 1 + own.len() / 12 && digits(near) == digits(kind)).then_some(near)
    };
    let elsewhere = || all.iter().map(|one| one.kind).filter(|name| last(name) == own).min_by_key(|name| name.len());
    let meant = slip().or_else(elsewhere)?;
    let Project { name, releases, .. } = pack::project(all.first()?.project as usize);
    let contract = format!("{name} {} to {}", releases.first()?, releases.last()?);
    let breach = Breach {
        class: BreachClass::ValueNotAllowed,
        place,
        field: (*field).to_owned(),
        says: format!("no release has {kind}: the nearest name is {meant}"),
        meant: Some(meant.to_owned()),
        other: None,
        instead: None,
        unknown: None,
    };
    Some(Judged { contract, breaches: vec![breach] })
}

impl Breach {
    /// What alone can have been meant: of the values that are allowed, the one that is spelled like the one that is not.
    pub fn only(&self) -> Option<String> {
        let spelled = || {
            let (is, allowed) = self.says.rsplit_once(", and has to be one of ")?;
            let (_, value) = is.split_once(" is ")?;
            let near = suggest::only(value, allowed.split(", "))?;
            // More than one way of writing it out may be meant.
            let longer = |other: &str| other != near && other.contains(value);
            Some(near).filter(|_| !allowed.split(", ").any(longer))
        };
        self.instead.clone().or_else(|| spelled().map(str::to_owned))
    }
}

/// The places of the releases of a project that may serve.
type Serving<'s> = &'s dyn Fn(&Project<'_>) -> Option<Vec<u16>>;

/// What breaks the contracts of a kind in all releases that may serve it; `blocks` is whether it is a block of Terraform.
fn in_all(
    object: View<'_>,
    (api_version, kind): (&str, &str),
    (serving, blocks): (Serving<'_>, bool),
    share: &Share,
) -> Result<Option<Judged>, Spent> {
    let mut breaches = None;
    let mut contract = None;
    let provider = provider(object);
    let of_provider = |served: &Kind<'_>| provider.is_none_or(|group| serves_with(served.project, api_version, group));
    for served in pack::kinds(api_version, kind).filter(of_provider) {
        let project = pack::project(served.project as usize);
        let Some(releases) = serving(&project) else { return Ok(None) };
        for (first, last, root) in &served.roots {
            if !releases.iter().any(|release| (*first..=*last).contains(release)) {
                continue;
            }
            let of_kubernetes = !served.version.is_empty();
            let as_written = of_kubernetes && !project.is_core && !served.mutated;
            let manner = Manner { of_kubernetes, as_written, blocks };
            let mut found = validate::breaches(object, (*root, manner), breaches.as_deref(), share)?;
            found.retain(|breach| !served.mutated || breach.class != BreachClass::RequiredFieldMissing);
            breaches = Some(in_both(breaches, found, share)?);
            contract.get_or_insert_with(|| named(&served, &project, &releases));
            if breaches.as_ref().is_some_and(Vec::is_empty) {
                return Ok(None);
            }
        }
    }
    let Some((contract, mut breaches)) = contract.zip(breaches) else { return Ok(None) };
    for breach in &mut breaches {
        if let Some((field, above)) = breach.unknown.take() {
            share.work(find::COST)?;
            breach.meant = find::meant(&field, &above);
            breach.instead = find::instead(&field, &above);
        }
    }
    Ok(Some(Judged { contract, breaches: together(breaches) }))
}

/// The group of the class of machines that an object names: it is that of one provider of Karpenter.
fn provider(object: View<'_>) -> Option<&str> {
    let places = ["spec.template.spec.nodeClassRef.group", "spec.nodeClassRef.group"];
    places.iter().find_map(|place| object.path(place).node()?.text()).filter(|group| group.contains('.'))
}

/// Whether a project serves a group of kinds beside what it shares with other projects, or nothing but that.
fn serves_with(project: u16, api_version: &str, group: &str) -> bool {
    let shared = api_version.split('/').next().unwrap_or_default();
    let groups = || pack::all_kinds().filter(|kind| kind.project == project).map(|kind| kind.group);
    groups().any(|own| own == group) || groups().all(|own| own == shared)
}

/// The places of the releases of a project that may serve: all where none is stated; nothing where none that was read is as old as
/// one that is stated.
fn releases(project: &Project<'_>, stated: &impl Stated) -> Option<Vec<u16>> {
    let all = || (0..project.releases.len() as u16).collect();
    let versions: Vec<&Version> = match project.is_core {
        true => stated.kubernetes().iter().collect(),
        false => project.charts.iter().flat_map(|chart| stated.chart(chart)).collect(),
    };
    if versions.is_empty() {
        return Some(all());
    }
    let read: Vec<Version> = project.releases.iter().filter_map(|text| Version::parse(text)).collect();
    // A version may leave out what the releases of its minor differ in.
    let minor = |version: &Version| (version.major(), version.minor());
    let place = |version: &&Version| {
        let before = read.iter().rposition(|release| release <= *version);
        before.max(read.iter().position(|release| minor(release) == minor(version))).map(|at| at as u16)
    };
    let mut found: Vec<u16> = versions.iter().map(place).collect::<Option<_>>()?;
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// What breaks one contract and another; at and below a field that the other does not have, everything breaks it.
fn in_both(before: Option<Vec<Breach>>, found: Vec<Breach>, share: &Share) -> Result<Vec<Breach>, Spent> {
    let Some(before) = before else { return Ok(found) };
    share.work(STEP * before.len() * found.len().max(1))?;
    let same = |a: &Breach, b: &Breach| (a.class, a.place, &a.field) == (b.class, b.place, &b.field);
    let within = |a: &Breach, b: &Breach| {
        let rest = a.field.strip_prefix(&*b.field).filter(|_| b.class == BreachClass::UnknownField);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    Ok(before.into_iter().filter(|one| found.iter().any(|other| same(one, other) || within(one, other))).collect())
}

/// What is missing from one object is told once.
fn together(breaches: Vec<Breach>) -> Vec<Breach> {
    let mut out: Vec<Breach> = Vec::new();
    for breach in breaches {
        let missing = |one: &Breach| one.class == BreachClass::RequiredFieldMissing;
        match out.last_mut().filter(|last| missing(last) && missing(&breach) && last.place == breach.place) {
            Some(last) => {
                let before = last.says.trim_end_matches(" is missing").trim_end_matches(" are missing");
                last.says = format!("{before}, {} are missing", breach.field);
            }
            None => out.push(breach),
        }
    }
    out
}

/// How a contract is called: `karpenter.sh/v1 NodePool, Karpenter 1.0.10 to 1.8.1`.
fn named(served: &Kind<'_>, project: &Project<'_>, releases: &[u16]) -> String {
    let serves = |release: &&u16| served.roots.iter().any(|(first, last, _)| (first..=last).contains(release));
    let own: Vec<&str> = releases.iter().filter(serves).map(|at| project.releases[*at as usize]).collect();
    let range = match own.as_slice() {
        [one] => (*one).to_owned(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    };
    format!("{}, {} {range}", called(served), project.name)
}

/// A kind by its name: `karpenter.sh/v1 NodePool`; another document by what it is called.
fn called(kind: &Kind<'_>) -> String {
    match (kind.group, kind.version) {
        (_, "") => kind.kind.to_owned(),
        ("", version) => format!("{version} {}", kind.kind),
        (group, version) => format!("{group}/{version} {}", kind.kind),
    }
}
