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
use std::collections::BTreeMap;

/// How near facts are to what is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nearness {
    /// All of them are deployed with it.
    Together,
    /// They stand in the plain files of its repository, of which those beside it and above it may be.
    Beside,
    /// They are another thing that is deployed there: what it states for the whole cluster may hold for it.
    Elsewhere,
}

/// What the entities of one variant may be joined with.
pub struct Surroundings<'a> {
    levels: Vec<Level<'a>>,
    /// The workload that an entity of the variant is joined with, by the entity's address.
    workloads: BTreeMap<usize, &'a Workload>,
    /// Display paths of the sources, by id.
    paths: &'a [&'a str],
    /// Whether what stands in one file may be deployed with what stands in another.
    near: &'a (dyn Fn(SourceId, SourceId) -> bool + Sync),
}

/// Facts that are equally near.
struct Level<'a> {
    nearness: Nearness,
    facts: &'a Facts,
    objects: BTreeMap<&'a str, Vec<&'a Object>>,
    resources: BTreeMap<&'a str, Vec<&'a Resource>>,
}

impl<'a> Surroundings<'a> {
    /// Indexes facts, those of the variant first.
    pub fn new(
        facts: impl IntoIterator<Item = (&'a Facts, Nearness)>,
        near: &'a (dyn Fn(SourceId, SourceId) -> bool + Sync),
        paths: &'a [&'a str],
    ) -> Self {
        let levels: Vec<Level<'a>> = facts.into_iter().map(|(facts, nearness)| Level::new(facts, nearness)).collect();
        let mut workloads = BTreeMap::new();
        // What stands in a plain file may be joined with what a chart runs.
        for workload in levels.iter().flat_map(|level| &level.facts.workloads) {
            for list in LISTS.iter().filter(|list| list.subject.of_workload) {
                for item in elements(&workload.named_field(list.name)) {
                    if let Data::Entity(item) = item.data {
                        workloads.entry(address(item)).or_insert(workload);
                    }
                }
            }
        }
        Self { levels, workloads, paths, near }
    }

    /// Facts that nothing stands beside.
    pub fn alone(facts: &'a Facts) -> Self {
        Self::new([(facts, Nearness::Together)], &|_, _| true, &[])
    }
}

impl<'a> Level<'a> {
    fn new(facts: &'a Facts, nearness: Nearness) -> Self {
        let mut objects: BTreeMap<&str, Vec<&Object>> = BTreeMap::new();
        for object in &facts.objects {
            objects.entry(object.kind.get().map_or("", String::as_str)).or_default().push(object);
        }
        let mut resources: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
        for resource in &facts.resources {
            resources.entry(resource.r#type.get().map_or("", String::as_str)).or_default().push(resource);
        }
        Self { nearness, facts, objects, resources }
    }
}

/// What functions may ask about the run: what an entity of a list may be joined with where it stands.
pub struct Context<'a> {
    around: &'a Surroundings<'a>,
    from: SourceId,
    /// Whether it is there for the whole cluster, and so are the workloads of every variant for it.
    of_cluster: bool,
}

impl<'a> Context<'a> {
    /// As seen from an entity of a list.
    pub fn new(around: &'a Surroundings<'a>, list: &List, entity: &dyn Entity) -> Self {
        Self { around, from: entity.span().source, of_cluster: list.shared }
    }

    /// As seen from nowhere.
    #[cfg(test)]
    pub fn anywhere(around: &'a Surroundings<'a>) -> Self {
        Self { around, from: SourceId(0), of_cluster: true }
    }

    /// Whether something that a file of a level states may be deployed with what is asked about.
    fn holds(&self, level: &Level<'_>, stating: SourceId) -> bool {
        level.nearness == Nearness::Together || stating == self.from || (self.around.near)(stating, self.from)
    }

    /// The entities of a list, nearest first.
    pub fn entities(&self, list: &List) -> Value<'a> {
        let whole = |level: &&Level<'_>| list.shared || self.of_cluster || level.nearness != Nearness::Elsewhere;
        let found = self.around.levels.iter().filter(whole).flat_map(|level| {
            (list.entities)(level.facts).into_iter().filter(|entity| self.holds(level, entity.span().source))
        });
        values(found.map(|entity| Value::at(Data::Entity(entity), entity.span())))
    }

    /// The workload that an entity is joined with: of several the first one.
    pub fn workload_of(&self, entity: &dyn Entity) -> Value<'a> {
        self.around.workloads.get(&address(entity)).map_or(Value::of(Data::Null), |workload| workload.reflect())
    }

    /// The expression that uses a value written elsewhere.
    pub fn use_of(&self, value: Span, from: Span) -> Option<Span> {
        self.around.levels.iter().find_map(|level| level.facts.use_of(value, from))
    }

    /// Raw Kubernetes documents of a kind.
    pub fn objects(&self, kind: &str) -> impl Iterator<Item = &'a Object> {
        let of_kind = |level: &'a Level<'a>| level.objects.get(kind).into_iter().flatten().map(move |o| (level, *o));
        let all = self.around.levels.iter().flat_map(of_kind);
        all.filter(|(level, object)| self.holds(level, object.span.source)).map(|(_, object)| object)
    }

    /// Raw infrastructure resources of a type.
    pub fn resources(&self, kind: &str) -> impl Iterator<Item = &'a Resource> {
        let of_type = |level: &'a Level<'a>| level.resources.get(kind).into_iter().flatten().map(move |r| (level, *r));
        let all = self.around.levels.iter().flat_map(of_type);
        all.filter(|(level, resource)| self.holds(level, resource.span.source)).map(|(_, resource)| resource)
    }

    /// The path of a file that may state something for what is asked about, and could not be read as a whole.
    pub fn unread(&self) -> Option<&'a str> {
        let files = self.around.levels.iter().filter(|level| level.nearness != Nearness::Elsewhere);
        let mut files = files.flat_map(|level| level.facts.unread.iter().map(move |file| (level, *file)));
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
