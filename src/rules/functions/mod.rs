//! The functions of the rule language. Adding one is a row here and a small pure function; what it knows of
//! hardware, versions and images comes from the catalog.

mod catalog;
mod costs;
mod general;
mod memory;
mod names;
mod training;

use super::lang::values::{elements, list as values, weigh};
use crate::budget::{NODE, Share, Spent};
use crate::facts::value::{Data, Entity, Reflect, Type, Value};
use crate::facts::{Container, Facts, LISTS, List, Object, Resource, Workload};
use crate::known::{Fact, Why};
use crate::paths;
use crate::shelf::Shelf;
use crate::source::{SourceId, Span};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::iter;
use std::ops::Range;

/// What a variant of a repository states.
#[derive(Clone, Copy)]
pub struct Stated<'a> {
    /// Its facts.
    pub facts: &'a Facts,
    /// The chart or kustomization that it is a form of; none of plain files, of which those beside and above what is asked
    /// about may be deployed with it.
    pub thing: Option<SourceId>,
    /// Whether it stands for the other forms where something else looks at the thing: what it states for the whole cluster
    /// may hold for that.
    pub first: bool,
}

/// Where the files of a repository stand.
pub trait Places: Sync {
    /// The place of a file.
    fn place(&self, file: SourceId) -> u32;
    /// The places of what may be deployed with what a file states.
    fn around(&self, file: SourceId) -> Vec<Range<u32>>;
    /// Whether what stands in one file may be deployed with what stands in another.
    fn near(&self, one: SourceId, other: SourceId) -> bool;
    /// Whether what may be deployed with one file is what may be deployed with another.
    fn alike(&self, one: SourceId, other: SourceId) -> bool;
    /// Whether nothing deploys a file, so that what stands in it is not there for others.
    fn is_idle(&self, file: SourceId) -> bool;
}

/// What functions list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Listed<'k> {
    /// The entities of a list, by its name.
    List(&'k str),
    /// Raw Kubernetes documents of a kind.
    Objects(&'k str),
    /// Raw infrastructure resources of a type.
    Resources(&'k str),
}

/// What the variants of a repository state, by what is asked for.
pub struct Surroundings<'a> {
    variants: Vec<Variant<'a>>,
    plain: Option<usize>,
    /// What the forms state that stand for their things.
    elsewhere: Level<'a>,
    /// The workload of one of those that an entity is joined with, by the entity's address.
    joined_elsewhere: HashMap<usize, &'a Workload>,
    /// Display paths of the sources, by id.
    paths: &'a [&'a str],
    places: &'a dyn Places,
}

/// Entities, each with the thing that states it where that may be the asking one.
type Level<'a> = Shelf<u32, Listed<'a>, (Option<SourceId>, &'a dyn Entity)>;

/// What one variant states.
struct Variant<'a> {
    stated: Stated<'a>,
    level: Level<'a>,
    /// The workload that an entity is joined with, by the entity's address.
    workloads: HashMap<usize, &'a Workload>,
}

impl<'a> Surroundings<'a> {
    /// Indexes the variants of a repository.
    pub fn new(stated: impl IntoIterator<Item = Stated<'a>>, places: &'a dyn Places, paths: &'a [&'a str]) -> Self {
        let variants = stated.into_iter().map(|stated| Variant {
            stated,
            level: Shelf::of(listed(stated.facts, None, places)),
            workloads: joined([stated.facts]),
        });
        let variants: Vec<Variant<'a>> = variants.collect();
        let plain = variants.iter().position(|variant| variant.stated.thing.is_none());
        let stated = variants.iter().map(|variant| variant.stated);
        let firsts: Vec<Stated<'a>> = stated.filter(|stated| stated.first && stated.thing.is_some()).collect();
        let elsewhere = Shelf::of(firsts.iter().flat_map(|first| listed(first.facts, first.thing, places)));
        let joined_elsewhere = joined(firsts.iter().map(|first| first.facts));
        Self { variants, plain, elsewhere, joined_elsewhere, paths, places }
    }

    /// Facts that nothing stands beside.
    #[cfg(test)]
    pub fn alone(facts: &'a Facts) -> Self {
        struct Anywhere;
        impl Places for Anywhere {
            fn place(&self, _: SourceId) -> u32 {
                0
            }
            fn around(&self, _: SourceId) -> Vec<Range<u32>> {
                std::iter::once(0..1).collect()
            }
            fn near(&self, _: SourceId, _: SourceId) -> bool {
                true
            }
            fn is_idle(&self, _: SourceId) -> bool {
                false
            }
            fn alike(&self, _: SourceId, _: SourceId) -> bool {
                true
            }
        }
        Self::new([Stated { facts, thing: Some(SourceId(0)), first: true }], &Anywhere, &[])
    }
}

/// Every entity with its place and what it is listed as.
fn listed<'a>(
    facts: &'a Facts,
    thing: Option<SourceId>,
    places: &'a dyn Places,
) -> impl Iterator<Item = (u32, Vec<Listed<'a>>, (Option<SourceId>, &'a dyn Entity))> {
    let kind = |fact: &'a Fact<String>| fact.get().map_or("", String::as_str);
    let of_lists = LISTS.iter().flat_map(move |list| {
        let raw = move |entity: &'a dyn Entity| match (entity.downcast::<Object>(), entity.downcast::<Resource>()) {
            (Some(object), _) => Some(Listed::Objects(kind(&object.kind))),
            (_, Some(resource)) => Some(Listed::Resources(kind(&resource.r#type))),
            _ => None,
        };
        let all = (list.entities)(facts).into_iter().filter(|entity| !places.is_idle(entity.span().source));
        all.map(move |entity| (iter::once(Listed::List(list.name)).chain(raw(entity)).collect(), entity))
    });
    of_lists.map(move |(keys, entity)| (places.place(entity.span().source), keys, (thing, entity)))
}

/// The workload that an entity is joined with, by the entity's address: of several the first one.
fn joined<'a>(facts: impl IntoIterator<Item = &'a Facts>) -> HashMap<usize, &'a Workload> {
    let mut out = HashMap::new();
    for workload in facts.into_iter().flat_map(|facts| &facts.workloads) {
        for list in LISTS.iter().filter(|list| list.subject.of_workload) {
            for item in elements(&workload.named_field(list.name)).iter() {
                if let Data::Entity(item) = item.data {
                    out.entry(address(item)).or_insert(workload);
                }
            }
        }
    }
    out
}

/// Whether nothing is deployed with an entity but what its own file states: what a script or a run of CI starts.
pub fn is_alone(entity: &dyn Entity) -> bool {
    let format = entity.downcast::<Workload>().and_then(|workload| workload.format.get());
    format.is_some_and(|format| !format.is_deployed())
}

/// What functions may ask about the run: what an entity of a list may be joined with where it stands.
pub struct Context<'a> {
    around: &'a Surroundings<'a>,
    /// The variant that states it.
    own: usize,
    from: SourceId,
    /// The places of what may be deployed with it.
    places: OnceCell<Vec<Range<u32>>>,
    /// Whether it is there for the whole cluster, and so are the workloads of every variant for it.
    of_cluster: bool,
    /// Whether nothing is deployed with it but what its own file states.
    alone: bool,
}

impl<'a> Context<'a> {
    /// As seen from an entity of a list of a variant.
    pub fn new(around: &'a Surroundings<'a>, own: usize, list: &List, entity: &dyn Entity) -> Self {
        let (from, alone) = (entity.span().source, is_alone(entity));
        Self { around, own, from, places: OnceCell::new(), of_cluster: list.shared, alone }
    }

    /// As seen from nowhere.
    #[cfg(test)]
    pub fn anywhere(around: &'a Surroundings<'a>) -> Self {
        Self { around, own: 0, from: SourceId(0), places: OnceCell::new(), of_cluster: true, alone: false }
    }

    fn own(&self) -> &'a Variant<'a> {
        &self.around.variants[self.own]
    }

    /// Whether what is asked about stands in plain files, of which those beside it and above it may be deployed with it.
    fn is_plain(&self) -> bool {
        self.own().stated.thing.is_none()
    }

    /// The variant itself and the plain files.
    fn beside(&self) -> impl Iterator<Item = &'a Variant<'a>> {
        let plain = self.around.plain.filter(|plain| *plain != self.own);
        [Some(self.own), plain].into_iter().flatten().map(|i| &self.around.variants[i])
    }

    /// Everything of a kind that may be deployed with what is asked about, nearest first; of other things where they state it
    /// for the whole cluster.
    pub fn listed(&self, what: Listed<'_>, of_cluster: bool) -> Vec<&'a dyn Entity> {
        let near = |entity: &dyn Entity| {
            let stating = entity.span().source;
            stating == self.from || !self.alone && self.around.places.near(stating, self.from)
        };
        let own = self.own().stated.thing;
        let fits =
            |(thing, entity): &(Option<SourceId>, &dyn Entity)| (thing.is_none() || *thing != own) && near(*entity);
        let places = || Some(self.places.get_or_init(|| self.around.places.around(self.from)).as_slice());
        let mut out = Vec::new();
        let mut add = |level: &'a Level<'a>, found: Vec<u32>| out.extend(found.into_iter().map(|i| level.at(i).1));
        for variant in self.beside().filter(|variant| variant.level.count(&what) > 0) {
            // All of a chart or kustomization is deployed together.
            let together = variant.stated.thing.is_some();
            add(
                &variant.level,
                match together {
                    true => variant.level.find(&[what], None, |_| true),
                    false => variant.level.find(&[what], places(), fits),
                },
            );
        }
        if of_cluster && self.around.elsewhere.count(&what) > 0 {
            add(&self.around.elsewhere, self.around.elsewhere.find(&[what], places(), fits));
        }
        out
    }

    /// The entities of a list, nearest first.
    pub fn entities(&self, list: &'static List) -> Value<'a> {
        let found = self.listed(Listed::List(list.name), list.shared || self.of_cluster);
        values(found.into_iter().map(|entity| Value::at(Data::Entity(entity), entity.span())))
    }

    /// The workload that an entity is joined with: of several the first one. What stands in a plain file may be joined with
    /// what a chart runs.
    pub fn workload_of(&self, entity: &dyn Entity) -> Value<'a> {
        let address = address(entity);
        let own = self.beside().find_map(|variant| variant.workloads.get(&address));
        let found = own.or_else(|| self.around.joined_elsewhere.get(&address).filter(|_| self.is_plain()));
        found.map_or(Value::of(Data::Null), |workload| workload.reflect())
    }

    /// The expression that uses a value written elsewhere.
    pub fn use_of(&self, value: Span, from: Span) -> Option<Span> {
        let own = self.own().stated.thing;
        let others = self.around.variants.iter().map(|variant| variant.stated);
        let others = others.filter(|other| other.first && other.thing.is_some() && other.thing != own);
        let all = self.beside().map(|variant| variant.stated).chain(others);
        all.map(|stated| stated.facts).find_map(|facts| facts.use_of(value, from))
    }

    /// The path of a file that may state something for what is asked about, and could not be read as a whole.
    pub fn unread(&self) -> Option<&'a str> {
        let near = |variant: &Variant<'_>, file: SourceId| {
            variant.stated.thing.is_some() || file == self.from || self.around.places.near(file, self.from)
        };
        let unread = |variant: &'a Variant<'a>| variant.stated.facts.unread.iter().find(|file| near(variant, **file));
        let file = self.beside().find_map(unread)?;
        self.around.paths.get(file.0 as usize).copied()
    }

    /// The directory of a source.
    pub fn directory(&self, source: SourceId) -> &'a str {
        self.around.paths.get(source.0 as usize).map_or("", |path| paths::directory(path))
    }
}

/// A parameter of a function.
pub struct Param {
    /// Its name, for messages.
    pub name: &'static str,
    /// Its type.
    pub ty: fn() -> Type,
    /// Whether it may be left out.
    pub optional: bool,
}

/// The type of a function's result.
pub enum Output {
    /// Always this.
    Type(fn() -> Type),
    /// An element of the first argument.
    Element,
    /// A list like the first argument, or of its values.
    ListOfElement,
    /// A list of the elements of the lists in the first argument.
    Flattened,
    /// What holds every argument.
    Joined,
    /// An element of the only list, or what holds every argument.
    Extreme,
    /// What the column of the catalog that the first argument names holds.
    Column,
}

pub use catalog::column_type;

/// A function of the rule language.
pub struct Function {
    /// Its name; `a.name(b)` is `name(a, b)`.
    pub name: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Its result.
    pub output: Output,
    /// Whether it wants to see null; else a null argument makes the result null.
    pub takes_null: bool,
    /// What it does.
    pub doc: &'static str,
    /// How. Arguments are never unknown.
    pub call: for<'a> fn(&[Value<'a>], &Context<'a>) -> Value<'a>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Function {
    /// Spends what a call with these arguments costs: what it reads, and more where it makes more of it.
    ///
    /// # Errors
    /// Nothing is left of the share.
    pub fn pay(&self, args: &[Value<'_>], share: &Share) -> Result<(), Spent> {
        let weights = args.iter().map(|arg| weigh(arg, share)).collect::<Result<Vec<_>, _>>()?;
        let text = |at: usize| args.get(at).and_then(general::text).unwrap_or_default();
        let count = |at: usize| elements(&args[at]).len();
        match self.name {
            "replace" => {
                let places = text(0).matches(text(1).as_ref()).count();
                share.make(weights[0] + places.saturating_mul(text(2).len()))
            }
            "join" => share.make(weights[0] + count(0).saturating_mul(weights[1])),
            "split" => share.make(weights[0] + NODE * text(0).matches(text(1).as_ref()).count()),
            // Each element is compared with those before it, each word letter by letter.
            "distinct" => share.work(count(0).saturating_mul(weights[0])),
            "nearest" => share.work(weights[0].saturating_mul(weights[1])),
            // Where a pattern has many states, each letter may touch all of them.
            "matches" => share.work((weights[0] + weights[1]).saturating_mul(1 + general::states_of(&text(1)) / 64)),
            "flatten" | "keys" | "values" | "lower" | "string" => share.make(weights[0]),
            _ => Ok(()),
        }
    }

    /// Whether what it says of something is kept for the next rule that asks: it takes far longer to find than to keep.
    pub fn is_kept(&self) -> bool {
        self.name == "serving_memory"
    }

    /// How many arguments it needs.
    pub fn required(&self) -> usize {
        self.params.iter().filter(|p| !p.optional).count()
    }
}

fn bool_type() -> Type {
    Type::Bool
}

fn int_type() -> Type {
    Type::Int
}

fn float_type() -> Type {
    Type::Float
}

fn str_type() -> Type {
    Type::Str
}

fn version_type() -> Type {
    Type::Version
}

fn dyn_type() -> Type {
    Type::Dyn
}

fn list_type() -> Type {
    Type::List(Box::new(Type::Dyn))
}

fn strings_type() -> Type {
    Type::List(Box::new(Type::Str))
}

fn ints_type() -> Type {
    Type::List(Box::new(Type::Int))
}

fn entity_list<E: Reflect>() -> Type {
    Type::List(Box::new(E::ty()))
}

/// A parameter that must be given.
const fn param(name: &'static str, ty: fn() -> Type) -> Param {
    Param { name, ty, optional: false }
}

/// A parameter that may be left out.
const fn optional(name: &'static str, ty: fn() -> Type) -> Param {
    Param { name, ty, optional: true }
}

/// The entity that was given as an argument of its type.
fn given<'a, E: Entity + 'static>(value: &Value<'a>) -> Option<&'a E> {
    match value.data {
        Data::Entity(entity) => entity.downcast(),
        _ => None,
    }
}

/// The answer about what is no entity of the type that is asked for.
fn no_entity<'a>() -> Value<'a> {
    Value::unknown(Why::NotStated("what is asked about".into()), None)
}

/// Where an entity lies in memory: two documents of one template state the same place.
fn address(entity: &dyn Entity) -> usize {
    std::ptr::from_ref(entity).cast::<()>().addr()
}

/// References to entities as values.
fn entities<'a, E: Entity + 'a>(items: impl Iterator<Item = &'a E>) -> Value<'a> {
    values(items.map(|e| Value::at(Data::Entity(e), e.span())))
}

/// Every function, general ones first.
pub static ALL: std::sync::LazyLock<Vec<&'static Function>> = std::sync::LazyLock::new(|| tables().collect());

/// The function of a name.
pub fn find(name: &str) -> Option<&'static Function> {
    tables().find(|f| f.name == name)
}

/// Whether a function may answer unknown to what is known: it looks something up that has no row, or computes with it.
pub fn may_miss(function: &Function) -> bool {
    let looks_up = [catalog::FUNCTIONS, memory::FUNCTIONS, training::FUNCTIONS];
    looks_up.into_iter().flatten().any(|row| row.name == function.name)
}

fn tables() -> impl Iterator<Item = &'static Function> {
    general::FUNCTIONS
        .iter()
        .chain(names::FUNCTIONS)
        .chain(catalog::FUNCTIONS)
        .chain(memory::FUNCTIONS)
        .chain(training::FUNCTIONS)
        .chain(costs::FUNCTIONS)
}
