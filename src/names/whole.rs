//! Names of things that only files like these make, in a repository that makes the others of their kind itself: what is named
//! and made nowhere is missing. Knows what is named and what is there; says nothing where more may come from elsewhere.

use super::references::{Asked, in_facts, named_kind};
use super::{Broken, near};
use crate::facts::{BreachClass, Object};
use crate::known::Fact;
use crate::link::Deployed;
use crate::paths;
use crate::source::SourceId;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The kinds of Flux, by their groups.
const FLUX: &str = ".toolkit.fluxcd.io/";

const CLAIM: &str = "core/PersistentVolumeClaim";

/// So many others of its kind must be here that files name.
const OTHERS: usize = 3;

/// To each that is missing so many must be here.
const FOR_EACH: usize = 4;

/// What a repository makes of such kinds.
pub struct Whole<'a> {
    deployed: Deployed<'a>,
    idle: &'a BTreeSet<SourceId>,
    count: usize,
    made: OnceCell<Made<'a>>,
    asked: OnceCell<BTreeSet<(&'static str, String)>>,
    counted: OnceCell<HashMap<&'static str, (usize, usize)>>,
    remote: OnceCell<bool>,
}

#[derive(Default)]
struct Made<'a> {
    /// Those of each name, with whether something deploys them.
    named: HashMap<(&'static str, &'a str), Vec<(&'a Object, bool)>>,
    /// Kinds of which some are called by what is put in later.
    open: HashSet<&'static str>,
}

/// Whether a kind is one of Flux.
pub fn is_flux(kind: &str) -> bool {
    kind.contains(FLUX)
}

impl<'a> Whole<'a> {
    /// Of what is deployed; nothing leads to the files that are `idle`.
    pub fn new(deployed: Deployed<'a>, idle: &'a BTreeSet<SourceId>, count: usize) -> Self {
        let (made, asked, counted, remote) = (OnceCell::new(), OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { deployed, idle, count, made, asked, counted, remote }
    }

    /// Whether something that is called so is made by no file that is deployed.
    pub fn find(&self, asked: &Asked) -> Option<Broken> {
        let (kind, name) = (asked.kind, asked.name.0.as_str());
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        // What is put in later, and a part of one that something else is made of, decides what is meant.
        if !(is_flux(kind) || kind == CLAIM && asked.row.at.starts_with("spec.values")) || !name.chars().all(is_name) {
            return None;
        }
        let made = self.made();
        let there = made.named.get(&(kind, name)).map(Vec::as_slice).unwrap_or_default();
        // One that is here and that nothing deploys is what is meant: none of that name comes from elsewhere.
        let is_put_away = is_flux(kind) && !there.is_empty();
        if there.iter().any(|(_, deployed)| *deployed) || !is_put_away && (made.open.contains(kind) || self.is_remote())
        {
            return None;
        }
        let (here, lost) = self.counted().get(kind).copied().unwrap_or_default();
        if here < OTHERS || here < FOR_EACH * lost {
            return None;
        }
        let short = kind.rsplit('/').next().unwrap_or(kind);
        if kind == CLAIM && self.may_be_of_chart(asked) || there.is_empty() && self.is_written(short, name) {
            return None;
        }
        let idle = there.first().map(|(object, _)| (format!("this {short}, which no file deploys"), object.span));
        let says = match &idle {
            Some(_) => format!("no file deploys {short} {name}: {}", asked.row.fails),
            None => {
                format!("no file here makes {short} {name}, as it does all others that are named: {}", asked.row.fails)
            }
        };
        let meant = idle.is_none().then(|| self.meant(kind, name)).flatten();
        let class = Fact::watched(|| {
            asked.row.used();
            Fact::value(BreachClass::NameNowhere, asked.name.1)
        });
        Some(Broken { class, says, meant, instead: idle })
    }

    fn made(&self) -> &Made<'a> {
        self.made.get_or_init(|| {
            let mut made = Made::default();
            for object in self.deployed.variants().iter().flat_map(|variant| &variant.facts.objects) {
                let Some(kind) = named_kind(object).filter(|kind| kind.contains(FLUX) || *kind == CLAIM) else {
                    continue;
                };
                let deployed = !self.idle.contains(&object.span.source);
                match object.name.get().filter(|name| !name.contains(['$', '{', '<'])) {
                    Some(name) => made.named.entry((kind, name.as_str())).or_default().push((object, deployed)),
                    None => drop(made.open.insert(kind)),
                }
            }
            made
        })
    }

    /// Of how many names of a kind something is deployed, and of how many nothing is.
    fn counted(&self) -> &HashMap<&'static str, (usize, usize)> {
        self.counted.get_or_init(|| {
            let named = &self.made().named;
            let mut counted: HashMap<_, (usize, usize)> = HashMap::new();
            for (kind, name) in self.asked() {
                let is_there = named.get(&(*kind, name.as_str())).is_some_and(|all| all.iter().any(|one| one.1));
                let (here, lost) = counted.entry(*kind).or_default();
                *(if is_there { here } else { lost }) += 1;
            }
            counted
        })
    }

    /// What files name, by kind.
    fn asked(&self) -> &BTreeSet<(&'static str, String)> {
        self.asked.get_or_init(|| {
            let facts = self.deployed.variants().iter().map(|variant| &variant.facts);
            let asked = facts.flat_map(|facts| in_facts(facts, self.count));
            let deployed = asked.filter(|one| !self.idle.contains(&one.file));
            deployed.map(|one| (one.kind, one.name.0)).filter(|(kind, name)| !near::is_constant(kind, name)).collect()
        })
    }

    /// Whether something of another repository is applied, which may make anything: a directory of a kustomization, a path
    /// of Flux that is not here.
    fn is_remote(&self) -> bool {
        *self.remote.get_or_init(|| {
            let sources = self.deployed.layout().sources();
            let directories: BTreeSet<&str> =
                sources.iter().flat_map(|(_, source)| paths::above(paths::directory(&source.path))).collect();
            let here = |path: &str| {
                let path = path.trim_start_matches("./").trim_matches('/');
                let inner = format!("/{path}");
                path.is_empty() || directories.iter().any(|at| *at == path || at.ends_with(&inner))
            };
            let objects = self.deployed.variants().iter().flat_map(|variant| &variant.facts.objects);
            let mut paths = objects.filter(|object| !self.idle.contains(&object.span.source)).filter_map(|object| {
                let is_one = named_kind(object)? == "kustomize.toolkit.fluxcd.io/Kustomization";
                object.body.as_ref().filter(|_| is_one)?.view().path("spec.path").string().get().cloned()
            });
            paths.any(|path| !here(&path)) || sources.iter().any(|(_, source)| lists_remote(&source.path, &source.text))
        })
    }

    /// Whether a chart may make the claim: its name begins like that of another release, or ends like one of a replica.
    fn may_be_of_chart(&self, asked: &Asked) -> bool {
        let name = asked.name.0.as_str();
        let of = asked.of.get().and_then(|of| of.split(' ').next_back()).unwrap_or_default();
        let begins = |other: &str| {
            other != of && name.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let releases = self.deployed.variants().iter().flat_map(|variant| &variant.facts.releases);
        name.rsplit('-').next().is_some_and(|last| last.parse::<u32>().is_ok())
            || releases.filter_map(|release| release.name.get()).any(|other| begins(other))
    }

    /// Whether a text here makes one of the name that was not read as an object: a template, a script.
    fn is_written(&self, kind: &str, name: &str) -> bool {
        let is_line = |line: &str| {
            let value = line.trim().trim_start_matches("- ").strip_prefix("name:").unwrap_or_default();
            value.split_whitespace().any(|word| word.trim_matches(['"', '\'', '&', '*']) == name)
        };
        let makes = |text: &str| {
            text.contains(name)
                && (text.contains(&format!("kind: {kind}")) && defines(text, kind, is_line)
                    || ["create source", "create helmrelease", "helm repo add"].iter().any(|one| text.contains(one)))
        };
        self.deployed.layout().sources().iter().any(|(_, source)| makes(&source.text))
    }

    /// The only one whose name is nearly that.
    fn meant(&self, kind: &str, name: &str) -> Option<String> {
        let names: BTreeSet<&str> =
            self.made().named.iter().filter(|((other, _), _)| *other == kind).map(|((_, name), _)| *name).collect();
        crate::suggest::nearest(name, names.into_iter()).map(str::to_owned)
    }
}

/// Whether the metadata of a document of a kind has such a line. Documents are told apart by their lines alone.
fn defines(text: &str, kind: &str, is_line: impl Fn(&str) -> bool + Copy) -> bool {
    text.split("\n---").any(|document| {
        let mut lines = document.lines().map(str::trim_end);
        lines.clone().any(|line| line.strip_prefix("kind: ").is_some_and(|value| value.trim() == kind))
            && lines.by_ref().any(|line| line == "metadata:")
            && lines.take_while(|line| line.starts_with([' ', '#']) || line.is_empty()).any(is_line)
    })
}

/// Whether a kustomization takes in a directory of another repository.
fn lists_remote(path: &str, text: &str) -> bool {
    let lines =
        text.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim_start().starts_with("repo:"));
    let mut words = lines.flat_map(|line| line.split([' ', ',', '[', ']', '"', '\'']));
    let is_remote = |word: &str| {
        let other = word.contains("://") || word.starts_with("github.com/") || word.starts_with("git@");
        // Flux itself makes none of what we look for.
        other && !word.contains("github.com/fluxcd/flux2") && !word.ends_with(".yaml") && !word.ends_with(".yml")
    };
    paths::is_kustomization(path) && words.any(is_remote)
}

/// Two objects that are one.
pub fn twice(deployed: Deployed<'_>, idle: &BTreeSet<SourceId>) -> Vec<(usize, Fact<String>, Broken)> {
    const KINDS: [&str; 5] = ["HelmRelease", "Deployment", "StatefulSet", "DaemonSet", "Application"];
    let sources = deployed.layout().sources();
    let objects =
        || deployed.variants().iter().enumerate().flat_map(|(own, v)| v.facts.objects.iter().map(move |o| (own, o)));
    let mut applied: Vec<(String, Option<String>)> = Vec::new();
    for (_, object) in
        objects().filter(|(_, object)| named_kind(object) == Some("kustomize.toolkit.fluxcd.io/Kustomization"))
    {
        let Some(spec) = object.body.as_ref().map(|body| body.view().get("spec")) else { continue };
        let Some(path) =
            spec.get("path").string().get().map(|path| path.trim_start_matches("./").trim_matches('/').to_owned())
        else {
            continue;
        };
        let elsewhere =
            spec.get("kubeConfig").is_some() || spec.get("namePrefix").is_some() || spec.get("nameSuffix").is_some();
        let space = spec.get("targetNamespace").string().get().cloned().or(elsewhere.then(String::new));
        applied.push((path, space));
    }
    let within = |at: &str, path: &str| at == path || at.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    let by = |at: &str| -> Vec<&(String, Option<String>)> {
        applied.iter().filter(|(path, _)| !path.is_empty() && within(at, path)).collect()
    };
    let mut seen: BTreeMap<_, Vec<(usize, &Object)>> = BTreeMap::new();
    for (own, object) in
        objects().filter(|(_, object)| !idle.contains(&object.span.source) && object.drafted.get() != Some(&true))
    {
        let (Some(kind), Some(name), Some(space)) = (object.kind.get(), object.name.get(), object.namespace.get())
        else {
            continue;
        };
        if KINDS.contains(&kind.as_str()) && !name.contains(['$', '{']) && !space.contains(['$', '{']) {
            seen.entry((kind.clone(), space.clone(), name.clone())).or_default().push((own, &**object));
        }
    }
    let mut out = Vec::new();
    for ((kind, space, name), mut all) in seen {
        all.sort_by_key(|(_, object)| object.span);
        all.dedup_by_key(|(_, object)| object.span);
        let [(_, first), (own, second)] = all[..] else { continue };
        let at = |object: &Object| paths::directory(&sources.get(object.span.source).path);
        let (one, other) = (at(first), at(second));
        let same_file = first.span.source == second.span.source && deployed.plain_position() == Some(own);
        let of_flux = || {
            let (ways, others) = (by(one), by(other));
            let as_stated = |ways: &[&(String, Option<String>)]| {
                ways.iter().all(|(_, to)| to.as_ref().is_none_or(|to| *to == space))
            };
            // One Kustomization leads to both, through others or by itself.
            ways.iter().any(|way| others.contains(way)) && as_stated(&ways) && as_stated(&others)
        };
        if !same_file && (one == other || !of_flux()) {
            continue;
        }
        let place = second.body.as_ref().map_or(second.span, |body| body.view().path("metadata.name").place());
        let earlier = first.body.as_ref().map_or(first.span, |body| body.view().path("metadata.name").place());
        let says = format!("{kind} {name} stands twice in namespace {space}: what is applied last replaces the other");
        let class = Fact::value(BreachClass::NamedTwice, place);
        out.push((
            own,
            super::called(&second.kind, &second.name),
            Broken { class, says, meant: None, instead: Some(("and here".to_owned(), earlier)) },
        ));
    }
    out.sort_by_key(|(_, _, broken)| broken.class.span);
    out
}
