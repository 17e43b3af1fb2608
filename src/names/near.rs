//! Whether something that is not here seems to be here under another name: one that nothing else names and that differs by a
//! slip, or by what was put before or behind one of both, or that is in another namespace. Knows names only.

use super::references::{Asked, in_facts, named_kind};
use super::walk::names;
use super::{Broken, share, whole};
use crate::catalog;
use crate::facts::{BreachClass, Object};
use crate::known::Fact;
use crate::link::{Deployed, Dir};
use crate::source::SourceId;
use crate::suggest::slips;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Shorter names are like too many others.
const SHORTEST: usize = 5;

/// Kinds that are of use only where something names them, and that are deployed with what names them.
const FOR_OTHERS: [&str; 12] = [
    "karpenter.azure.com/AKSNodeClass",
    "karpenter.k8s.aws/EC2NodeClass",
    "karpenter.k8s.gcp/GCENodeClass",
    "kueue.x-k8s.io/AdmissionCheck",
    "kueue.x-k8s.io/ClusterQueue",
    "kueue.x-k8s.io/MultiKueueCluster",
    "kueue.x-k8s.io/MultiKueueConfig",
    "kueue.x-k8s.io/ProvisioningRequestConfig",
    "kueue.x-k8s.io/ResourceFlavor",
    "kueue.x-k8s.io/Topology",
    "kueue.x-k8s.io/WorkloadPriorityClass",
    "scheduling.volcano.sh/Queue",
];

/// Longer ones are no names of objects.
const LONGEST: usize = 253;

/// What stands together: a variant, and of the plain files a directory.
type Place = (usize, Option<Dir>);

/// How a name is found that is not quite the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Sign {
    /// In small letters, with `-` for what separates words.
    Same(String),
    /// Without one letter.
    Slip(String),
    /// A part of it from the start or to the end.
    Part(String),
    /// Itself.
    Whole(String),
}

/// The objects of a repository, as far as it was asked for them.
pub struct Nearby<'a> {
    deployed: Deployed<'a>,
    /// What is asked for, by where and of which kind.
    sought: HashMap<(Place, &'static str), HashSet<String>>,
    count: usize,
    index: OnceCell<Index<'a>>,
    named: OnceCell<HashSet<(&'static str, String)>>,
    made: OnceCell<HashSet<(&'static str, String)>>,
}

#[derive(Default)]
struct Index<'a> {
    by_name: HashMap<(&'static str, &'a str), Vec<(Place, &'a Object)>>,
    /// Those of kinds that are there for others.
    by_kind: HashMap<(Place, &'static str), Vec<&'a Object>>,
    by_sign: HashMap<(Place, &'static str, Sign), Vec<&'a Object>>,
}

impl<'a> Nearby<'a> {
    /// What may stand near to what is asked for, each by the variant that asks.
    pub fn new(deployed: Deployed<'a>, asked: &[(usize, Asked)], count: usize) -> Self {
        let mut sought: HashMap<_, HashSet<String>> = HashMap::new();
        for (own, one) in asked {
            let place = place(deployed, *own, one.name.1.source);
            sought.entry((place, one.kind)).or_default().insert(one.name.0.clone());
        }
        Self { deployed, sought, count, index: OnceCell::new(), named: OnceCell::new(), made: OnceCell::new() }
    }

    /// What seems to be meant by a name that leads nowhere.
    pub fn find(&self, own: usize, asked: &Asked) -> Option<Broken> {
        let name = asked.name.0.as_str();
        if self.is_made(asked.kind, name) {
            return None;
        }
        let place = place(self.deployed, own, asked.name.1.source);
        let index = self.index();
        let kind = asked.kind.rsplit('/').next().unwrap_or(asked.kind);
        let (object, says) = match index.by_name.get(&(asked.kind, name)) {
            Some(same) => {
                // One of them may be in the right namespace, as long as that is not said.
                let here = asked.namespace.get()?;
                if same.iter().any(|(_, object)| object.namespace.get().is_none_or(|other| other == here)) {
                    return None;
                }
                let (_, object) = same.iter().find(|(at, _)| *at == place)?;
                let other = object.namespace.get()?;
                (*object, format!("{kind} {name} is not in the namespace {here}, but in {other}: {}", asked.row.fails))
            }
            None => {
                if let Some(object) = self.similar(place, asked).or_else(|| self.idle(place, asked)) {
                    let other = object.name.get()?;
                    (
                        object,
                        format!("no {kind} {name} is here, but {other}, which no field names: {}", asked.row.fails),
                    )
                } else {
                    let object = self.keyed(own, asked)?;
                    let (other, key) = (object.name.get()?, &asked.parts.first()?.0);
                    let says = format!(
                        "the chart makes no {kind} {name}, but {other}, which has the key {key}: {}",
                        asked.row.fails
                    );
                    (object, says)
                }
            }
        };
        let class = Fact::watched(|| {
            asked.row.used();
            Fact::value(BreachClass::NameNearlyFound, asked.name.1)
        });
        let meant = object.name.get().filter(|other| *other != name).cloned();
        Some(Broken { class, says, meant, instead: Some((format!("this {kind}"), object.span)) })
    }

    /// Whether something makes an object of this name.
    pub fn is_made(&self, kind: &'static str, name: &str) -> bool {
        is_constant(kind, name) || self.made().contains(&(kind, name.to_owned()))
    }

    /// The only object beside a reference whose name is nearly the one that is named, and that nothing names.
    fn similar(&self, place: Place, asked: &Asked) -> Option<&'a Object> {
        let name = asked.name.0.as_str();
        if !(SHORTEST..=LONGEST).contains(&name.len()) {
            return None;
        }
        // Clients that are not here name Services.
        let service = asked.kind == "core/Service";
        let mut wanted = signs(name);
        wanted.extend(parts(name).map(|part| Sign::Whole(part.to_owned())));
        wanted.push(Sign::Part(name.to_owned()));
        let index = self.index();
        let mut found: Vec<&Object> = Vec::new();
        for sign in wanted {
            let objects = index.by_sign.get(&(place, asked.kind, sign.clone())).map(Vec::as_slice).unwrap_or_default();
            let fits = |other: &str| match sign {
                Sign::Same(_) => true,
                Sign::Slip(_) => slips(name, other) == 1 && without_digits(name) != without_digits(other),
                Sign::Part(_) => !service && other != name && other.len() > name.len(),
                Sign::Whole(_) => !service && other.len() < name.len() && other.len() >= SHORTEST,
            };
            found.extend(objects.iter().filter(|o| o.name.get().is_some_and(|other| fits(other))));
        }
        found.sort_by_key(|object| object.span);
        found.dedup_by_key(|object| object.span);
        let namespace = |object: &&&Object| match (object.namespace.get(), asked.namespace.get()) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let [only] = found[..] else { return None };
        Some(only).filter(|only| namespace(&only)).filter(|only| {
            let other = only.name.get().cloned().unwrap_or_default();
            !self.named().contains(&(asked.kind, other))
        })
    }

    /// The only object beside a reference that nothing names, where the reference is the only one of its kind that leads
    /// nowhere: the one is there for the other, whatever they are called.
    fn idle(&self, place: Place, asked: &Asked) -> Option<&'a Object> {
        if !FOR_OTHERS.contains(&asked.kind) {
            return None;
        }
        let key = (place, asked.kind);
        let mut lost = self.sought.get(&key)?.iter().filter(|name| !self.is_made(asked.kind, name));
        if lost.next().is_none() || lost.next().is_some() {
            return None;
        }
        let is_idle = |object: &&&Object| {
            object.name.get().is_some_and(|name| !self.named().contains(&(asked.kind, name.clone())))
        };
        let mut idle = self.index().by_kind.get(&key)?.iter().filter(is_idle);
        idle.next().filter(|_| idle.next().is_none()).copied()
    }

    /// The only object of a chart that has the keys that are asked of one that the chart does not make, where both are
    /// called by the release.
    fn keyed(&self, own: usize, asked: &Asked) -> Option<&'a Object> {
        let path = &self.deployed.layout().sources().get(asked.name.1.source).path;
        if !matches!(asked.kind, "core/Secret" | "core/ConfigMap")
            || asked.parts.is_empty()
            || !path.contains("templates/")
        {
            return None;
        }
        let objects = self.deployed.variants()[own].facts.objects.iter().map(|object| &**object);
        let has = |object: &Object| {
            let data = object.body.as_ref().map(|body| body.view());
            let key = |key: &str| {
                data.is_some_and(|data| {
                    ["data", "stringData"].iter().any(|at| data.get(at).entries().iter().any(|(name, _)| *name == key))
                })
            };
            asked.parts.iter().all(|(part, _)| key(part))
        };
        let mut found = objects.filter(|object| named_kind(object) == Some(asked.kind) && has(object));
        let only = found.next().filter(|_| found.next().is_none())?;
        // What both begin with is the name of a release that nothing states.
        let other = only.name.get().filter(|_| only.assumed_name.get() == Some(&true))?;
        let release = other.split('-').next().filter(|release| !release.is_empty())?;
        asked.name.0.strip_prefix(release)?.starts_with('-').then_some(only)
    }

    fn index(&self) -> &Index<'a> {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for (own, variant) in self.deployed.variants().iter().enumerate() {
                for object in &variant.facts.objects {
                    let (Some(kind), Some(name)) = (named_kind(object), object.name.get()) else { continue };
                    let place = place(self.deployed, own, object.span.source);
                    index.by_name.entry((kind, name)).or_default().push((place, object));
                    if !self.sought.contains_key(&(place, kind)) || name.len() > LONGEST {
                        continue;
                    }
                    if FOR_OTHERS.contains(&kind) {
                        index.by_kind.entry((place, kind)).or_default().push(object);
                    }
                    let all = signs(name).into_iter().chain([Sign::Whole(name.clone())]);
                    for sign in all.chain(parts(name).map(|part| Sign::Part(part.to_owned()))) {
                        index.by_sign.entry((place, kind, sign)).or_default().push(object);
                    }
                }
            }
            index
        })
    }

    /// The names that something names.
    fn named(&self) -> &HashSet<(&'static str, String)> {
        self.named.get_or_init(|| {
            let facts = self.deployed.variants().iter().map(|variant| &variant.facts);
            facts.flat_map(|facts| in_facts(facts, self.count)).map(|asked| (asked.kind, asked.name.0)).collect()
        })
    }

    /// The names that objects of other kinds make.
    fn made(&self) -> &HashSet<(&'static str, String)> {
        self.made.get_or_init(|| {
            let facts = self.deployed.variants().iter().map(|variant| &variant.facts);
            facts.flat_map(|facts| &facts.objects).flat_map(|object| made_by(object, self.count)).collect()
        })
    }
}

/// Whether an object of this name is made of which no file says so.
pub fn is_constant(kind: &str, name: &str) -> bool {
    catalog::creators(kind).any(|creator| creator.by.is_empty() && fits(creator.name, name))
}

/// What stands together with a file of a variant.
fn place(deployed: Deployed<'_>, own: usize, file: SourceId) -> Place {
    let plain = deployed.plain_position() == Some(own);
    (own, plain.then(|| deployed.layout().at(file)))
}

/// The kinds and names of what an object makes.
fn made_by(object: &Object, count: usize) -> Vec<(&'static str, String)> {
    let Some((body, (group, kind))) = whole(object) else { return Vec::new() };
    let mut out = Vec::new();
    for (makes, creator) in catalog::made_by(group, kind) {
        let Some((before, (paths, behind))) =
            creator.name.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        else {
            continue;
        };
        let share = share(count, body);
        let found =
            paths.split('|').filter_map(|path| names(body, path, &share).ok()).find(|found| !found.all.is_empty());
        let all = found.into_iter().flat_map(|found| found.all);
        out.extend(all.map(|(name, _)| (*makes, format!("{before}{name}{behind}"))));
    }
    out
}

/// Whether a name is of a form in which `*` stands for any text.
fn fits(form: &str, name: &str) -> bool {
    match form.split_once('*') {
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
        None => form == name,
    }
}

/// By what a name is found that differs by its letters.
fn signs(name: &str) -> Vec<Sign> {
    let same = name.to_lowercase().replace(['_', '.'], "-");
    let letters = name.char_indices().map(|(at, letter)| {
        let (before, behind) = (&name[..at], &name[at + letter.len_utf8()..]);
        Sign::Slip(format!("{before}{behind}"))
    });
    letters.chain([Sign::Slip(name.to_owned()), Sign::Same(same)]).collect()
}

/// The parts of a name before and behind each `-` that are names by themselves.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let cuts = name.match_indices('-');
    cuts.flat_map(move |(at, _)| [&name[..at], &name[at + 1..]]).filter(|part| part.len() >= SHORTEST)
}

fn without_digits(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}
