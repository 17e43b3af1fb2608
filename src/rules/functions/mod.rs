//! The functions of the rule language. Adding one is a row here and a small pure function; what it knows of
//! hardware, versions and images comes from the catalog.

mod catalog;
mod general;
mod memory;
mod names;
mod training;

use super::lang::values::{elements, list as values};
use crate::facts::value::{Data, Entity, Reflect, Type, Value};
use crate::facts::{Facts, LISTS, List, Object, Resource, Workload};
use crate::known::Why;
use crate::paths;
use crate::source::{SourceId, Span};
use std::collections::BTreeMap;

/// What functions may ask about the run.
pub struct Context<'a> {
    /// What is asked about.
    asked: &'a [&'a Facts],
    /// What stands beside it: of its lists only what any variant may be joined with.
    beside: &'a [&'a Facts],
    /// The workload that an entity is joined with, by the entity's address.
    workloads: BTreeMap<usize, &'a Workload>,
    objects: BTreeMap<&'a str, Vec<&'a Object>>,
    resources: BTreeMap<&'a str, Vec<&'a Resource>>,
    directories: Vec<&'a str>,
}

impl<'a> Context<'a> {
    /// Indexes what is asked about and what stands beside it; `paths` are the display paths of the sources, by id.
    pub fn new(asked: &'a [&'a Facts], beside: &'a [&'a Facts], paths: &[&'a str]) -> Self {
        let all = || beside.iter().chain(asked);
        let mut objects: BTreeMap<&str, Vec<&Object>> = BTreeMap::new();
        for object in all().flat_map(|facts| &facts.objects) {
            objects.entry(object.kind.get().map_or("", String::as_str)).or_default().push(object);
        }
        let mut resources: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
        for resource in all().flat_map(|facts| &facts.resources) {
            resources.entry(resource.r#type.get().map_or("", String::as_str)).or_default().push(resource);
        }
        let mut workloads = BTreeMap::new();
        for workload in asked.iter().flat_map(|facts| &facts.workloads) {
            for list in LISTS.iter().filter(|list| list.subject.of_workload) {
                for item in elements(&workload.named_field(list.name)) {
                    if let Data::Entity(item) = item.data {
                        workloads.entry(address(item)).or_insert(workload);
                    }
                }
            }
        }
        let directories = paths.iter().map(|path| paths::directory(path)).collect();
        Self { asked, beside, workloads, objects, resources, directories }
    }

    /// The entities of a list: shared ones that stand beside, then those that are asked about.
    pub fn entities(&self, list: &List) -> Value<'a> {
        let beside = self.beside.iter().filter(|_| list.shared);
        let found = beside.chain(self.asked).flat_map(|facts| (list.entities)(facts));
        values(found.map(|entity| Value::at(Data::Entity(entity), entity.span())))
    }

    /// The workload that an entity is joined with: of several the first one.
    pub fn workload_of(&self, entity: &dyn Entity) -> Value<'a> {
        self.workloads.get(&address(entity)).map_or(Value::of(Data::Null), |workload| workload.reflect())
    }

    /// The expression that uses a value written elsewhere.
    pub fn use_of(&self, value: Span, from: Span) -> Option<Span> {
        self.asked.iter().chain(self.beside).find_map(|facts| facts.use_of(value, from))
    }

    /// Raw Kubernetes documents of a kind.
    pub fn objects(&self, kind: &str) -> &[&'a Object] {
        self.objects.get(kind).map_or(&[], Vec::as_slice)
    }

    /// Raw infrastructure resources of a type.
    pub fn resources(&self, kind: &str) -> &[&'a Resource] {
        self.resources.get(kind).map_or(&[], Vec::as_slice)
    }

    /// The directory of a source, with `/`.
    pub fn directory(&self, source: SourceId) -> &'a str {
        self.directories.get(source.0 as usize).copied().unwrap_or("")
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

fn tables() -> impl Iterator<Item = &'static Function> {
    general::FUNCTIONS
        .iter()
        .chain(names::FUNCTIONS)
        .chain(catalog::FUNCTIONS)
        .chain(memory::FUNCTIONS)
        .chain(training::FUNCTIONS)
}
