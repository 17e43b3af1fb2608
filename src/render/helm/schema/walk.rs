//! What a schema costs: how often its parts are looked at, counted before anything is held against it. Knows the keywords
//! of JSON Schema that hold schemas; validates nothing.

use crate::budget::{STEP, Share, Spent};
use serde_json::Value as Json;

/// Keywords whose schemas are for the value itself.
const HERE: &[&str] = &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keywords whose schemas are for all that is in the value.
const BELOW: &[&str] = &[
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Spends what reading a schema, and holding a value against it, may take; `false` where it refers to what no pointer
/// within it leads to, so that there is no telling.
///
/// # Errors
/// It takes more than is left.
pub fn cost(schema: &Json, instance: &Json, share: &Share) -> Result<bool, Spent> {
    let mut walk = Walk { root: schema, share, above: Vec::new(), open: false };
    walk.compile(schema)?;
    walk.apply(schema, instance)?;
    Ok(!walk.open)
}

struct Walk<'s> {
    root: &'s Json,
    share: &'s Share,
    /// Schemas that are being walked: none is entered twice for one value.
    above: Vec<*const Json>,
    /// Whether it refers to anything else than itself by a pointer.
    open: bool,
}

impl<'s> Walk<'s> {
    /// The schemas that a value of a keyword holds: one, a list or a mapping of them.
    fn schemas(held: &'s Json, named: bool) -> Box<dyn Iterator<Item = &'s Json> + 's> {
        match held {
            Json::Array(items) => Box::new(items.iter()),
            Json::Object(map) if named => Box::new(map.values()),
            one => Box::new(std::iter::once(one)),
        }
    }

    /// The schema that a reference within the same file names.
    fn named(&mut self, reference: &Json) -> Option<&'s Json> {
        let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
        let found = pointer.and_then(|pointer| self.root.pointer(pointer));
        self.open |= found.is_none();
        found
    }

    fn enter(&mut self, schema: &'s Json, inner: impl FnOnce(&mut Self) -> Result<(), Spent>) -> Result<(), Spent> {
        self.share.work(STEP + self.above.len())?;
        let this: *const Json = schema;
        if self.above.contains(&this) {
            return Ok(());
        }
        self.share.nest(self.above.len() / 8)?;
        self.above.push(this);
        let out = inner(self);
        self.above.pop();
        out
    }

    /// Every schema that is read with this one, those that are referred to anew each time.
    fn compile(&mut self, schema: &'s Json) -> Result<(), Spent> {
        self.enter(schema, |walk| {
            let Json::Object(keywords) = schema else { return Ok(()) };
            for (keyword, held) in keywords {
                walk.share.work(STEP)?;
                match keyword.as_str() {
                    "$ref" | "$dynamicRef" | "$recursiveRef" => {
                        if let Some(named) = walk.named(held) {
                            walk.compile(named)?;
                        }
                    }
                    "pattern" => walk.pattern(held.as_str().unwrap_or_default())?,
                    "patternProperties" => {
                        for (pattern, held) in held.as_object().into_iter().flatten() {
                            walk.pattern(pattern)?;
                            walk.compile(held)?;
                        }
                    }
                    "properties" | "dependentSchemas" | "dependencies" => {
                        Self::schemas(held, true).try_for_each(|held| walk.compile(held))?;
                    }
                    "enum" => walk.share.work(STEP * held.as_array().map_or(0, Vec::len))?,
                    keyword if HERE.contains(&keyword) || BELOW.contains(&keyword) => {
                        Self::schemas(held, false).try_for_each(|held| walk.compile(held))?;
                    }
                    _ => {}
                }
            }
            Ok(())
        })
    }

    /// What a pattern costs to be compiled, which its size bounds.
    fn pattern(&self, pattern: &str) -> Result<(), Spent> {
        self.share.make((1 << 12) + pattern.len() * STEP + pattern.matches(['{', '\\']).count() * (1 << 12))
    }

    /// Every schema that is held against a value and what is in it.
    fn apply(&mut self, schema: &'s Json, instance: &'s Json) -> Result<(), Spent> {
        self.enter(schema, |walk| {
            let Json::Object(keywords) = schema else { return Ok(()) };
            for (keyword, held) in keywords {
                match keyword.as_str() {
                    "$ref" | "$dynamicRef" | "$recursiveRef" => {
                        if let Some(named) = walk.named(held) {
                            walk.apply(named, instance)?;
                        }
                    }
                    "properties" => {
                        for (name, held) in held.as_object().into_iter().flatten() {
                            walk.share.work(STEP)?;
                            if let Some(inner) = instance.get(name) {
                                walk.below(held, inner)?;
                            }
                        }
                    }
                    "pattern" => {
                        // Looking back takes twice as many steps a letter, up to a limit.
                        let letters = instance.as_str().map_or(0, str::len);
                        walk.share.work(1 << letters.min(13))?;
                    }
                    "enum" => walk.share.work(STEP * held.as_array().map_or(0, Vec::len))?,
                    "uniqueItems" => walk.share.work(STEP * instance.as_array().map_or(0, Vec::len).pow(2) / 8)?,
                    keyword if HERE.contains(&keyword) => {
                        let named = keyword.starts_with("depend");
                        Self::schemas(held, named).try_for_each(|held| walk.apply(held, instance))?;
                    }
                    keyword if BELOW.contains(&keyword) => {
                        let named = keyword == "patternProperties";
                        for held in Self::schemas(held, named) {
                            walk.inner(held, instance)?;
                        }
                    }
                    _ => {}
                }
            }
            Ok(())
        })
    }

    /// A schema held against everything that is in a value.
    fn inner(&mut self, schema: &'s Json, instance: &'s Json) -> Result<(), Spent> {
        match instance {
            Json::Array(items) => items.iter().try_for_each(|item| self.below(schema, item)),
            Json::Object(map) => map.values().try_for_each(|value| self.below(schema, value)),
            _ => Ok(()),
        }
    }

    fn below(&mut self, schema: &'s Json, instance: &'s Json) -> Result<(), Spent> {
        let above = std::mem::take(&mut self.above);
        let out = self.apply(schema, instance);
        self.above = above;
        out
    }
}
