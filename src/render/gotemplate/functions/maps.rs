//! Functions on mappings, which some of them change in place.

use super::{ANY, Call, Function, Outcome};
use crate::budget::{NODE, STEP, Share};
use crate::render::class::Class;
use crate::render::gotemplate::print;
use crate::render::value::{Data, Items, Map, Value};
use std::collections::BTreeSet;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "dict" => (dict, 0, ANY),
        "get" => (|c| Ok(c.map(0)?.get(c.str(1)?).unwrap_or_else(|| "".into())), 2, 2),
        "set" => (set, 3, 3),
        "unset" => (unset, 2, 2),
        "hasKey" => (|c| Ok(c.map(0)?.has(c.str(1)?).into()), 2, 2),
        "keys" => (keys, 0, ANY),
        "values" => (|c| Ok(c.entries(0)?.into_iter().map(|(_, e)| e.value).collect::<Vec<_>>().into()), 1, 1),
        "pick" => (|c| filtered(c, true), 1, ANY),
        "omit" => (|c| filtered(c, false), 1, ANY),
        "pluck" => (pluck, 1, ANY),
        "merge" => (|c| merge(c, false), 1, ANY),
        "mergeOverwrite" => (|c| merge(c, true), 1, ANY),
        "dig" => (dig, 3, ANY),
        "deepCopy" => (deep_copy, 1, 1),
        _ => return None,
    })
}

/// A mapping whose keys are `_0`, `_1` and so on.
pub(super) fn numbered(values: Vec<Value>) -> Value {
    values
        .into_iter()
        .enumerate()
        .map(|(i, value)| (format!("_{i}"), value))
        .collect::<Map>()
        .as_class(Class::Texts)
        .into()
}

fn dict(call: &Call<'_>) -> Outcome {
    let map = Map::new();
    for pair in call.args.chunks(2) {
        let key = print::text(&pair[0], call.share);
        map.insert(key.as_str(), pair[0].origin, pair.get(1).cloned().unwrap_or_else(|| "".into()));
    }
    Ok(map.into())
}

fn set(call: &Call<'_>) -> Outcome {
    call.make(NODE + call.str(1)?.len())?;
    call.map(0)?.insert(call.str(1)?, call.args[1].origin, call.args[2].clone());
    Ok(call.args[0].clone())
}

fn unset(call: &Call<'_>) -> Outcome {
    call.map(0)?.remove(call.str(1)?);
    Ok(call.args[0].clone())
}

fn keys(call: &Call<'_>) -> Outcome {
    let mut out: Vec<Value> = Vec::new();
    for i in 0..call.args.len() {
        out.extend(call.entries(i)?.into_iter().map(|(key, entry)| Value::from(key).at(entry.key)));
    }
    Ok(Items::of(out, "string").into())
}

fn filtered(call: &Call<'_>, keep: bool) -> Outcome {
    let names: BTreeSet<String> =
        call.args[1..].iter().map(|arg| print::text(arg, call.share).as_str().to_owned()).collect();
    let out = Map::new();
    for (key, entry) in call.entries(0)? {
        if names.contains(&key) == keep {
            out.insert(&key, entry.key, entry.value);
        }
    }
    Ok(Value::from(out).at(call.args[0].origin))
}

fn pluck(call: &Call<'_>) -> Outcome {
    let key = call.str(0)?;
    let mut out: Vec<Value> = Vec::new();
    for i in 1..call.args.len() {
        out.extend(call.map(i)?.get(key));
    }
    Ok(out.into())
}

fn merge(call: &Call<'_>, overwrite: bool) -> Outcome {
    let target = call.map(0)?;
    for i in 1..call.args.len() {
        merge_into(target, call.map(i)?, overwrite, (call.share, 1));
    }
    Ok(call.args[0].clone())
}

/// Adds what `from` has, but for null. Without `overwrite`, what is there and not empty stays; with it, null takes its place.
fn merge_into(target: &Map, from: &Map, overwrite: bool, (share, level): (&Share, usize)) {
    let spent = share.nest(level).and_then(|()| share.make(STEP + from.len() * NODE)).is_err();
    if spent || target.is(from) {
        return;
    }
    for (key, entry) in from.entries() {
        let own = target.get(&key);
        match (own.as_ref().map(|value| &value.data), &entry.value.data) {
            (Some(Data::Map(own)), Data::Map(other)) if !(own.is_empty() && other.is_empty()) => {
                merge_into(own, other, overwrite, (share, level + 1));
            }
            (_, Data::Nil) if !overwrite => {}
            _ if overwrite || !own.as_ref().is_some_and(|value| value.is_true() || value.unknown().is_some()) => {
                target.remove(&key);
                target.insert(&key, entry.key, entry.value);
            }
            _ => {}
        }
    }
}

fn deep_copy(call: &Call<'_>) -> Outcome {
    match &call.args[0].data {
        Data::Nil => Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
        _ => Ok(call.args[0].deep_copy(call.share)),
    }
}

/// `dig "a" "b" default map`: what stands under the keys, one within the other.
fn dig(call: &Call<'_>) -> Outcome {
    let last = call.args.len() - 1;
    let (mut value, default) = (call.args[last].clone(), &call.args[last - 1]);
    for i in 0..last - 1 {
        value = match &value.data {
            Data::Map(map) => match map.get(call.str(i)?) {
                Some(found) => found,
                None => return Ok(default.clone()),
            },
            Data::Unknown(_) => return Ok(value),
            _ => return Err(format!("interface conversion: {} is not a map", print::type_of(&value))),
        };
    }
    Ok(value)
}
