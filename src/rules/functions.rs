//! The functions of the rule language. Adding one is a row here and a small pure function; what it knows of
//! hardware, versions and images comes from the catalog.

mod catalog;
mod general;
mod memory;
mod training;

use crate::facts::value::{Entity, Reflect, Type, Value};
use crate::facts::{Facts, Object, Resource};
use crate::source::SourceId;
use std::collections::BTreeMap;

/// What functions may ask about the run.
pub struct Context<'a> {
    /// Every fact of the run.
    pub facts: &'a Facts,
    objects: BTreeMap<&'a str, Vec<&'a Object>>,
    resources: BTreeMap<&'a str, Vec<&'a Resource>>,
    directories: Vec<&'a str>,
}

impl<'a> Context<'a> {
    /// Indexes the facts of a run; `paths` are the display paths of its sources, by id.
    pub fn new(facts: &'a Facts, paths: &[&'a str]) -> Self {
        let mut objects: BTreeMap<&str, Vec<&Object>> = BTreeMap::new();
        for object in &facts.objects {
            objects.entry(object.kind.get().map_or("", String::as_str)).or_default().push(object);
        }
        let mut resources: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
        for resource in &facts.resources {
            resources.entry(resource.r#type.get().map_or("", String::as_str)).or_default().push(resource);
        }
        let directories = paths.iter().map(|p| p.rsplit_once('/').map_or("", |(d, _)| d)).collect();
        Self { facts, objects, resources, directories }
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
}

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

/// References to entities as values.
fn entities<'a, E: Entity + 'a>(items: impl Iterator<Item = &'a E>) -> Value<'a> {
    use crate::facts::value::Data;
    super::lang::eval::list(items.map(|e| Value::at(Data::Entity(e), e.span())))
}

/// Every function, general ones first.
pub static ALL: std::sync::LazyLock<Vec<&'static Function>> = std::sync::LazyLock::new(|| tables().collect());

/// The function of a name.
pub fn find(name: &str) -> Option<&'static Function> {
    tables().find(|f| f.name == name)
}

fn tables() -> impl Iterator<Item = &'static Function> {
    general::FUNCTIONS.iter().chain(catalog::FUNCTIONS).chain(memory::FUNCTIONS).chain(training::FUNCTIONS)
}
