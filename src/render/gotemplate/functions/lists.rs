//! Functions on lists.

use super::compare::same;
use super::strings::{joined, texts};
use super::{ANY, Call, Function, Outcome};
use crate::budget::{NODE, STEP};
use crate::render::gotemplate::print;
use crate::render::text::Text;
use crate::render::value::{ANYTHING, Data, Items, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "list" | "tuple" => (|c| Ok(c.args.to_vec().into()), 0, ANY),
        "first" => (|c| Ok(c.list(0)?.first().cloned().unwrap_or_default()), 1, 1),
        "last" => (|c| Ok(c.list(0)?.last().cloned().unwrap_or_default()), 1, 1),
        "rest" => (|c| part(c, c.walk(0)?.get(1..)), 1, 1),
        "initial" => (initial, 1, 1),
        "append" | "push" => (|c| added(c, true), 2, 2),
        "prepend" => (|c| added(c, false), 2, 2),
        "concat" => (concat, 0, ANY),
        "reverse" => (|c| Ok(c.walk(0)?.iter().rev().cloned().collect::<Vec<_>>().into()), 1, 1),
        "uniq" => (uniq, 1, 1),
        "without" => (without, 1, ANY),
        "has" => (has, 2, 2),
        "compact" => (|c| Ok(c.walk(0)?.iter().filter(|v| v.is_true()).cloned().collect::<Vec<_>>().into()), 1, 1),
        "chunk" => (chunk, 2, 2),
        "slice" => (slice, 1, 3),
        "len" => (len, 1, 1),
        "index" => (index, 1, ANY),
        "join" => (join, 2, 2),
        "sortAlpha" => (sort_alpha, 1, 1),
        "toStrings" => (|c| Ok(strings(texts(&c.args[0], c.share))), 1, 1),
        "split" => (|c| Ok(super::maps::numbered(parts(c, usize::MAX)?)), 2, 2),
        "splitn" => (|c| Ok(super::maps::numbered(splitn(c)?)), 3, 3),
        "splitList" => (|c| Ok(Items::of(parts(c, usize::MAX)?, "string").into()), 2, 2),
        _ => return None,
    })
}

fn initial(call: &Call<'_>) -> Outcome {
    part(call, call.walk(0)?.split_last().map(|(_, before)| before))
}

/// A part of a list: of one without items there is none.
fn part(call: &Call<'_>, items: Option<&[Value]>) -> Outcome {
    let is_empty = call.list(0)?.is_empty();
    let items = items.unwrap_or_default().to_vec();
    Ok(if is_empty { Items::appended(items, ANYTHING).into() } else { items.into() })
}

fn added(call: &Call<'_>, last: bool) -> Outcome {
    let mut items = call.walk(0)?.to_vec();
    items.insert(if last { items.len() } else { 0 }, call.args[1].clone());
    Ok(items.into())
}

fn concat(call: &Call<'_>) -> Outcome {
    let mut out = Vec::new();
    for i in 0..call.args.len() {
        call.make(size_of_val(call.list(i)?))?;
        out.extend_from_slice(call.list(i)?);
    }
    Ok(Items::appended(out, ANYTHING).into())
}

fn uniq(call: &Call<'_>) -> Outcome {
    let items = call.walk(0)?;
    let mut out: Vec<Value> = Vec::new();
    for item in items {
        call.work(STEP)?;
        if !out.iter().any(|seen| same(seen, item, call.share)) {
            out.push(item.clone());
        }
    }
    Ok(out.into())
}

fn without(call: &Call<'_>) -> Outcome {
    let kept = call.walk(0)?.iter().filter(|item| !call.args[1..].iter().any(|gone| same(gone, item, call.share)));
    Ok(kept.cloned().collect::<Vec<_>>().into())
}

fn has(call: &Call<'_>) -> Outcome {
    if call.args[1].is_nil() {
        return Ok(false.into());
    }
    Ok(call.walk(1)?.iter().any(|item| same(item, &call.args[0], call.share)).into())
}

fn chunk(call: &Call<'_>) -> Outcome {
    let size = call.count(0)?.max(1);
    call.make(call.list(1)?.len() * (size_of::<Value>() + NODE / size))?;
    let chunks = call.list(1)?.chunks(size).map(|part| Value::from(part.to_vec())).collect();
    Ok(Items::of(chunks, "[]interface {}").into())
}

/// Sprig's `slice`: part of a list. It hides Go's own, which cuts texts too.
fn slice(call: &Call<'_>) -> Outcome {
    let items = call.walk(0)?;
    let bound = |i: usize, default: usize| match call.args.get(i) {
        Some(value) => usize::try_from(super::numbers::int(value)).unwrap_or(usize::MAX),
        None => default,
    };
    let (start, end) = (bound(1, 0), bound(2, items.len()));
    let found = items.get(start..end).ok_or_else(|| "slice bounds out of range".to_owned())?;
    part(call, Some(found))
}

fn len(call: &Call<'_>) -> Outcome {
    let length = match &call.args[0].data {
        Data::Str(text) | Data::Bytes(text) => text.len(),
        Data::List(items) => items.len(),
        Data::Map(map) => map.len(),
        Data::Files(files) => files.len(),
        Data::Versions(versions) => versions.len(),
        Data::Nil => return Err("len of nil pointer".to_owned()),
        _ => return Err(format!("len of type {}", print::type_of(&call.args[0]))),
    };
    Ok((length as i64).into())
}

fn index(call: &Call<'_>) -> Outcome {
    let mut value = call.args[0].clone();
    for (i, key) in call.args.iter().enumerate().skip(1) {
        value = match &value.data {
            Data::Nil => return Err("index of untyped nil".to_owned()),
            Data::Unknown(_) => return Ok(value),
            Data::Map(map) => map.get(call.str(i)?).unwrap_or_default(),
            Data::List(items) => {
                let at = call.int(i)?;
                let found = usize::try_from(at).ok().and_then(|at| items.get(at));
                found.cloned().ok_or_else(|| format!("index out of range: {at}"))?
            }
            Data::Files(files) => {
                let text = files.get(call.str(i)?).cloned().unwrap_or_default();
                Value { origin: text.place(), data: Data::Bytes(text) }
            }
            Data::Str(text) | Data::Bytes(text) => {
                let byte = usize::try_from(call.int(i)?).ok().and_then(|at| text.as_str().as_bytes().get(at).copied());
                Data::Int(i64::from(byte.ok_or("index out of range")?), "uint8").into()
            }
            _ => return Err(format!("can't index item of type {}", print::type_of(&value))),
        };
        if key.is_nil() {
            return Err("index of nil".to_owned());
        }
    }
    Ok(value)
}

fn join(call: &Call<'_>) -> Outcome {
    let separator = call.str(0)?;
    let values: Vec<&Value> = match &call.args[1].data {
        Data::List(items) if call.make(items.len() * STEP).is_ok() => {
            items.iter().filter(|item| !item.is_nil()).collect()
        }
        Data::Nil => Vec::new(),
        _ => vec![&call.args[1]],
    };
    joined(&values, separator, call)
}

fn sort_alpha(call: &Call<'_>) -> Outcome {
    let mut out = match call.args[0].data {
        Data::List(_) => texts(&call.args[0], call.share),
        _ => vec![call.shown(0)],
    };
    // Each text is compared with some others.
    call.work(16 * out.iter().map(|text| STEP + text.len()).sum::<usize>())?;
    out.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    Ok(strings(out))
}

/// A list of texts.
pub(super) fn strings(texts: Vec<Text>) -> Value {
    Items::of(texts.into_iter().map(Value::from).collect(), "string").into()
}

/// The parts of the last argument between separators.
fn parts(call: &Call<'_>, most: usize) -> Result<Vec<Value>, String> {
    let text = call.text(call.args.len() - 1)?;
    let separator = call.str(0)?;
    let part = |part: &str| Value::from(text.part(part));
    let count = if separator.is_empty() { text.len() } else { text.as_str().matches(separator).count() + 1 };
    call.make(count.min(most).saturating_mul(2 * NODE).saturating_add(text.size()))?;
    Ok(if separator.is_empty() {
        let ends = text.as_str().char_indices();
        ends.map(|(at, c)| Value::from(text.slice(at..at + c.len_utf8()))).collect()
    } else {
        text.as_str().splitn(most, separator).map(part).collect()
    })
}

fn splitn(call: &Call<'_>) -> Result<Vec<Value>, String> {
    let most = call.int(1)?;
    parts(call, usize::try_from(most).unwrap_or(usize::MAX))
}
