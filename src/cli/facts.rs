//! `gpulint facts`: what was understood, as JSON, and its schema.

use super::files::{cwd, files};
use super::setup::Setup;
use super::{CLEAN, print_as_is};
use crate::discover::Options;
use crate::facts::value::{Data, Entity, EntityType, Type, Value as Fact};
use crate::facts::{Facts, LISTS, List};
use crate::lint::{self, Outcome};
use crate::report::json::escaped;
use crate::rules::Ruleset;
use crate::source::{Sources, Span};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The version of what is printed.
const VERSION: u32 = 1;

/// What is printed of deeper levels is where they stand: what is joined has entries of its own.
const DEEPEST: usize = 14;

/// Runs the command.
///
/// # Errors
/// A path that does not exist.
pub fn run(paths: &[PathBuf], all: bool) -> Result<u8, String> {
    let (outcome, _) = understood(paths)?;
    let show = Show { sources: &outcome.sources, all };
    let mut out = Map::from_iter([("version".to_owned(), json!(VERSION))]);
    out.extend(show.lists(&outcome.facts));
    let forms = outcome.forms.iter().map(|(name, facts)| {
        let mut form = show.lists(facts);
        form.insert("form".to_owned(), json!(name));
        Value::Object(form)
    });
    out.insert("forms".to_owned(), forms.collect());
    let text = serde_json::to_string_pretty(&Value::Object(out)).map_err(|e| e.to_string())?;
    print_as_is(&(escaped(&text) + "\n"))?;
    Ok(CLEAN)
}

/// What is understood of files, and where their paths start.
///
/// # Errors
/// A path that does not exist.
pub fn understood(paths: &[PathBuf]) -> Result<(Outcome, PathBuf), String> {
    let setup = Setup::of(paths, &[])?;
    let files = files(paths, &Options { root: setup.root.clone(), ..Options::new(cwd()) })?;
    let (config, extra) = setup.after(files.inputs.len(), |_, _| None);
    Ok((lint::run(files.inputs, config.facts(), extra, &Ruleset::empty()), setup.root))
}

struct Show<'a> {
    sources: &'a Sources,
    all: bool,
}

impl Show<'_> {
    fn lists(&self, facts: &Facts) -> Map<String, Value> {
        let items = |list: &List| (list.entities)(facts).into_iter().map(|entity| self.entity(entity, 0)).collect();
        LISTS.iter().map(|list| (list.name.to_owned(), items(list))).collect()
    }

    fn place(&self, span: Span) -> String {
        let source = self.sources.get(span.source);
        let at = source.position(span.start);
        format!("{}:{}:{}", source.path, at.line, at.column)
    }

    fn entity(&self, entity: &dyn Entity, depth: usize) -> Value {
        let mut out = Map::new();
        out.insert("at".to_owned(), json!(self.place(entity.span())));
        for (i, field) in entity.entity().fields.iter().enumerate() {
            if let Some(value) = self.value(&entity.field(i), depth + 1) {
                out.insert(field.name.to_owned(), value);
            }
        }
        Value::Object(out)
    }

    fn value(&self, value: &Fact<'_>, depth: usize) -> Option<Value> {
        let leaf = |key: &str, shown: Value| {
            let mut out = Map::new();
            out.insert(key.to_owned(), shown);
            if let Some(span) = value.span {
                out.insert("at".to_owned(), json!(self.place(span)));
            }
            Some(Value::Object(out))
        };
        match &value.data {
            Data::Null => self.all.then(|| leaf("absent", json!(true))).flatten(),
            Data::Unknown(why) => leaf("unknown", json!(why.to_string())),
            Data::Bool(b) => leaf("value", json!(b)),
            Data::Int(i) => leaf("value", json!(i)),
            Data::Float(f) => leaf("value", json!(f)),
            Data::Str(s) => leaf("value", json!(s)),
            Data::Version(v) => leaf("value", json!(v.to_string())),
            Data::List(items) if items.is_empty() && !self.all => None,
            Data::List(items) => Some(Value::Array(items.iter().filter_map(|v| self.value(v, depth + 1)).collect())),
            Data::Map(map) if map.is_empty() && !self.all => None,
            Data::Map(map) => {
                let entries = map.iter().filter_map(|(k, v)| Some((k.to_string(), self.value(v, depth + 1)?)));
                Some(Value::Object(entries.collect()))
            }
            Data::Entity(entity) if depth > DEEPEST => Some(json!({"at": self.place(entity.span())})),
            Data::Entity(entity) => Some(self.entity(*entity, depth + 1)),
            // Facts hold nothing that functions compute.
            Data::Record(_) | Data::Node(_) => None,
        }
    }
}

/// The schema of what is printed, from the vocabulary itself.
///
/// # Errors
/// None.
pub fn schema() -> serde_json::Result<String> {
    let mut entities = Vec::new();
    LISTS.iter().for_each(|list| reach(list.subject.entity, &mut entities));
    entities.sort_by_key(|entity| entity.name);
    let mut defs: Map<String, Value> =
        entities.iter().map(|entity| (entity.name.to_owned(), of_entity(entity))).collect();
    let leaf = |key: &str, value: Value, about: &str| {
        let at = json!({"description": "Where: path:line:column", "type": "string"});
        json!({"description": about, "type": "object", "additionalProperties": false, "required": [key],
               "properties": {key: value, "at": at}})
    };
    defs.insert("unknown".to_owned(), leaf("unknown", json!({"type": "string"}), "Not known, and why"));
    defs.insert("absent".to_owned(), leaf("absent", json!({"const": true}), "Not stated; with --all only"));
    let lists = |more: &[(&str, Value)]| {
        let items = |list: &List| json!({"description": list.doc.trim(), "type": "array", "items": reference(list.subject.entity.name)});
        let mut properties: Map<String, Value> = LISTS.iter().map(|list| (list.name.to_owned(), items(list))).collect();
        properties.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let required: Vec<&String> = properties.keys().collect();
        json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
    };
    let form =
        lists(&[("form", json!({"description": "The set of values, the profile or the overlay", "type": "string"}))]);
    let forms = json!({"description": "The same of charts with other values and of other kustomizations of the same files",
                       "type": "array", "items": form});
    let mut out = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://gpulint.github.io/schemas/facts.json",
        "title": "What `gpulint facts` prints",
    });
    let all = lists(&[("version", json!({"const": VERSION})), ("forms", forms)]);
    if let (Some(out), Value::Object(all)) = (out.as_object_mut(), all) {
        out.extend(all);
        out.insert("$defs".to_owned(), Value::Object(defs));
    }
    Ok(serde_json::to_string_pretty(&out)? + "\n")
}

/// The entities that one leads to, each once.
fn reach(entity: &'static EntityType, out: &mut Vec<&'static EntityType>) {
    fn of_type(ty: &Type, out: &mut Vec<&'static EntityType>) {
        match ty {
            Type::List(inner) | Type::Map(inner) => of_type(inner, out),
            Type::Entity(entity) => reach(entity, out),
            _ => {}
        }
    }
    if !out.contains(&entity) {
        out.push(entity);
        entity.fields.iter().for_each(|field| of_type(&(field.ty)(), out));
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn of_entity(entity: &EntityType) -> Value {
    let mut properties = Map::from_iter([("at".to_owned(), json!({"type": "string"}))]);
    for field in entity.fields {
        let mut value = of_type(&(field.ty)());
        value["description"] = json!(field.doc.trim());
        properties.insert(field.name.to_owned(), value);
    }
    json!({"description": entity.doc.trim(), "type": "object", "additionalProperties": false, "required": ["at"],
           "properties": properties})
}

/// What stands for a value of a type: the value, or that it is not known, or not stated.
fn of_type(ty: &Type) -> Value {
    let value = match ty {
        Type::List(item) => json!({"type": "array", "items": of_type(item)}),
        Type::Map(value) => json!({"type": "object", "additionalProperties": of_type(value)}),
        Type::Entity(entity) => reference(entity.name),
        leaf => {
            let at = json!({"type": "string"});
            json!({"type": "object", "additionalProperties": false, "required": ["value"],
                   "properties": {"value": of_leaf(leaf), "at": at}})
        }
    };
    json!({"anyOf": [value, reference("unknown"), reference("absent")]})
}

fn of_leaf(ty: &Type) -> Value {
    match ty {
        Type::Bool => json!({"type": "boolean"}),
        Type::Int => json!({"type": "integer"}),
        Type::Float => json!({"type": "number"}),
        Type::Word(words) => json!({"enum": words.words.iter().map(|(word, _)| word).collect::<Vec<_>>()}),
        Type::Dyn => json!({"type": ["boolean", "integer", "number", "string"]}),
        _ => json!({"type": "string"}),
    }
}
