//! The functions of the rule language. Adding one is a row here and a small pure function; what it knows of
//! hardware, versions and images comes from the catalog.

mod catalog;
mod general;
mod memory;
mod names;
mod training;

use super::lang::values::{elements, list as values};
use crate::facts::value::{Data, Entity, Reflect, Type, Value};
use crate::facts::{Container, Facts, LISTS, List, Object, Resource, Workload};
use crate::known::Why;
use crate::paths;
use crate::source::{SourceId, Span};
use std::collections::HashMap;

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

/// What the variants of a repository state, by what is asked for.
pub struct Surroundings<'a> {
    levels: Vec<Level<'a>>,
    plain: Option<usize>,
    /// Forms that stand for their things.
    firsts: Vec<usize>,
    /// The workload of one of those that an entity is joined with, by the entity's address.
    elsewhere: HashMap<usize, &'a Workload>,
    /// Display paths of the sources, by id.
    paths: &'a [&'a str],
    /// Whether what stands in one file may be deployed with what stands in another.
    near: &'a (dyn Fn(SourceId, SourceId) -> bool + Sync),
}

/// What one variant states.
struct Level<'a> {
    stated: Stated<'a>,
    objects: HashMap<&'a str, Vec<&'a Object>>,
    resources: HashMap<&'a str, Vec<&'a Resource>>,
    /// The workload that an entity is joined with, by the entity's address.
    workloads: HashMap<usize, &'a Workload>,
}

impl<'a> Surroundings<'a> {
    /// Indexes the variants of a repository.
    pub fn new(
        stated: impl IntoIterator<Item = Stated<'a>>,
        near: &'a (dyn Fn(SourceId, SourceId) -> bool + Sync),
        paths: &'a [&'a str],
    ) -> Self {
        let levels: Vec<Level<'a>> = stated.into_iter().map(Level::new).collect();
        let plain = levels.iter().position(|level| level.stated.thing.is_none());
        let stands = |i: &usize| levels[*i].stated.first && levels[*i].stated.thing.is_some();
        let firsts: Vec<usize> = (0..levels.len()).filter(stands).collect();
        let mut elsewhere = HashMap::new();
        for (address, workload) in firsts.iter().flat_map(|i| joined(levels[*i].stated.facts)) {
            elsewhere.entry(address).or_insert(workload);
        }
        Self { levels, plain, firsts, elsewhere, paths, near }
    }

    /// Facts that nothing stands beside.
    #[cfg(test)]
    pub fn alone(facts: &'a Facts) -> Self {
        Self::new([Stated { facts, thing: Some(SourceId(0)), first: true }], &|_, _| true, &[])
    }
}

/// The workloads that entities are joined with, by the entities' addresses.
fn joined(facts: &Facts) -> impl Iterator<Item = (usize, &Workload)> {
    let of_workload = || LISTS.iter().filter(|list| list.subject.of_workload);
    facts.workloads.iter().flat_map(move |workload| {
        let items = of_workload().flat_map(|list| elements(&workload.named_field(list.name)));
        let addresses = items.filter_map(|item| match item.data {
            Data::Entity(item) => Some(address(item)),
            _ => None,
        });
        addresses.map(|address| (address, workload)).collect::<Vec<_>>()
    })
}

impl<'a> Level<'a> {
    fn new(stated: Stated<'a>) -> Self {
        let facts = stated.facts;
        let mut objects: HashMap<&str, Vec<&Object>> = HashMap::new();
        for object in &facts.objects {
            objects.entry(object.kind.get().map_or("", String::as_str)).or_default().push(object);
        }
        let mut resources: HashMap<&str, Vec<&Resource>> = HashMap::new();
        for resource in &facts.resources {
            resources.entry(resource.r#type.get().map_or("", String::as_str)).or_default().push(resource);
        }
        let mut workloads = HashMap::new();
        for (address, workload) in joined(facts) {
            workloads.entry(address).or_insert(workload);
        }
        Self { stated, objects, resources, workloads }
    }
}

/// What functions may ask about the run: what an entity of a list may be joined with where it stands.
pub struct Context<'a> {
    around: &'a Surroundings<'a>,
    /// The variant that states it.
    own: usize,
    from: SourceId,
    /// Whether it is there for the whole cluster, and so are the workloads of every variant for it.
    of_cluster: bool,
}

impl<'a> Context<'a> {
    /// As seen from an entity of a list of a variant.
    pub fn new(around: &'a Surroundings<'a>, own: usize, list: &List, entity: &dyn Entity) -> Self {
        Self { around, own, from: entity.span().source, of_cluster: list.shared }
    }

    /// As seen from nowhere.
    #[cfg(test)]
    pub fn anywhere(around: &'a Surroundings<'a>) -> Self {
        Self { around, own: 0, from: SourceId(0), of_cluster: true }
    }

    /// The variant itself and the plain files.
    fn beside(&self) -> impl Iterator<Item = &'a Level<'a>> {
        let levels = [Some(self.own), self.around.plain.filter(|plain| *plain != self.own)];
        levels.into_iter().flatten().map(|i| &self.around.levels[i])
    }

    /// Those and what stands for the other things, nearest first.
    fn levels(&self) -> impl Iterator<Item = &'a Level<'a>> {
        let (around, own) = (self.around, self.around.levels[self.own].stated.thing);
        let others = around.firsts.iter().map(|i| &around.levels[*i]).filter(move |level| level.stated.thing != own);
        self.beside().chain(others)
    }

    /// Whether something that a file of a level states may be deployed with what is asked about.
    fn holds(&self, level: &Level<'_>, stating: SourceId) -> bool {
        let together = std::ptr::eq(level, &self.around.levels[self.own]) && level.stated.thing.is_some();
        together || stating == self.from || (self.around.near)(stating, self.from)
    }

    /// The entities of a list, nearest first.
    pub fn entities(&self, list: &List) -> Value<'a> {
        let held = |level: &'a Level<'a>| {
            let all = (list.entities)(level.stated.facts).into_iter();
            all.filter(|entity| self.holds(level, entity.span().source)).collect::<Vec<_>>()
        };
        let found: Vec<&dyn Entity> = match list.shared || self.of_cluster {
            true => self.levels().flat_map(held).collect(),
            false => self.beside().flat_map(held).collect(),
        };
        values(found.into_iter().map(|entity| Value::at(Data::Entity(entity), entity.span())))
    }

    /// The workload that an entity is joined with: of several the first one. What stands in a plain file may be joined with
    /// what a chart runs.
    pub fn workload_of(&self, entity: &dyn Entity) -> Value<'a> {
        let address = address(entity);
        let own = self.beside().find_map(|level| level.workloads.get(&address));
        let found = own.or_else(|| self.around.elsewhere.get(&address).filter(|_| self.around.plain == Some(self.own)));
        found.map_or(Value::of(Data::Null), |workload| workload.reflect())
    }

    /// The expression that uses a value written elsewhere.
    pub fn use_of(&self, value: Span, from: Span) -> Option<Span> {
        self.levels().find_map(|level| level.stated.facts.use_of(value, from))
    }

    /// Raw Kubernetes documents of a kind.
    pub fn objects(&self, kind: &str) -> impl Iterator<Item = &'a Object> {
        let of_kind = |level: &'a Level<'a>| level.objects.get(kind).into_iter().flatten().map(move |o| (level, *o));
        self.levels().flat_map(of_kind).filter(|(level, object)| self.holds(level, object.span.source)).map(|(_, o)| o)
    }

    /// Raw infrastructure resources of a type.
    pub fn resources(&self, kind: &str) -> impl Iterator<Item = &'a Resource> {
        let of_type = |level: &'a Level<'a>| level.resources.get(kind).into_iter().flatten().map(move |r| (level, *r));
        self.levels().flat_map(of_type).filter(|(level, r)| self.holds(level, r.span.source)).map(|(_, r)| r)
    }

    /// The path of a file that may state something for what is asked about, and could not be read as a whole.
    pub fn unread(&self) -> Option<&'a str> {
        let mut files =
            self.beside().flat_map(|level| level.stated.facts.unread.iter().map(move |file| (level, *file)));
        let (_, file) = files.find(|(level, file)| self.holds(level, *file))?;
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
}
