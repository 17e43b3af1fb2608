//! Arithmetic and conversions of numbers.

use super::{ANY, Call, Function, Outcome};
use crate::parse::gotemplate;
use crate::render::value::{Data, Items, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "int" => (|c| Ok(int(&c.args[0]).into()), 1, 1),
        "int64" => (|c| Ok(Value::long(int(&c.args[0]))), 1, 1),
        "float64" => (|c| Ok(float(&c.args[0]).into()), 1, 1),
        "atoi" => (|c| Ok(c.str(0)?.parse::<i64>().unwrap_or(0).into()), 1, 1),
        "toDecimal" => (|c| Ok(Value::long(i64::from_str_radix(c.shown(0).as_str(), 8).unwrap_or(0))), 1, 1),
        "add" => (|c| Ok(Value::long(c.args.iter().fold(0, |sum: i64, v| sum.wrapping_add(int(v))))), 0, ANY),
        "add1" => (|c| Ok(Value::long(int(&c.args[0]).wrapping_add(1))), 1, 1),
        "sub" => (|c| Ok(Value::long(int(&c.args[0]).wrapping_sub(int(&c.args[1])))), 2, 2),
        "mul" => (|c| Ok(Value::long(c.args.iter().fold(1, |all: i64, v| all.wrapping_mul(int(v))))), 1, ANY),
        "div" => (|c| divided(c, i64::checked_div), 2, 2),
        "mod" => (|c| divided(c, i64::checked_rem), 2, 2),
        "max" | "biggest" => (|c| Ok(Value::long(c.args.iter().map(int).max().unwrap_or(0))), 1, ANY),
        "min" => (|c| Ok(Value::long(c.args.iter().map(int).min().unwrap_or(0))), 1, ANY),
        "maxf" => (|c| folded(c, f64::max), 1, ANY),
        "minf" => (|c| folded(c, f64::min), 1, ANY),
        "addf" => (|c| folded(c, |a, b| a + b), 1, ANY),
        "subf" => (|c| folded(c, |a, b| a - b), 1, ANY),
        "mulf" => (|c| folded(c, |a, b| a * b), 1, ANY),
        "divf" => (|c| folded(c, |a, b| a / b), 1, ANY),
        "add1f" => (|c| Ok((float(&c.args[0]) + 1.0).into()), 1, 1),
        "ceil" => (|c| Ok(float(&c.args[0]).ceil().into()), 1, 1),
        "floor" => (|c| Ok(float(&c.args[0]).floor().into()), 1, 1),
        "round" => (round, 2, 3),
        "until" => (|c| until(c, 0, c.int(0)?, c.int(0)?.signum()), 1, 1),
        "untilStep" => (|c| until(c, c.int(0)?, c.int(1)?, c.int(2)?), 3, 3),
        "seq" => (seq, 0, ANY),
        _ => return None,
    })
}

/// Any value as a whole number; 0 for what is none.
pub(super) fn int(value: &Value) -> i64 {
    match &value.data {
        Data::Int(value, _) => *value,
        Data::Float(value) => *value as i64,
        Data::Bool(value) => i64::from(*value),
        Data::Str(text) => parse_int(text.as_str()).unwrap_or(0),
        _ => 0,
    }
}

fn parse_int(text: &str) -> Option<i64> {
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        Some(_) => return None,
        None => text,
    };
    // Digits may stand in groups.
    let grouped = !whole.starts_with('_') && !whole.ends_with('_') && !whole.contains("__");
    gotemplate::integer(&whole.replace(if grouped { "_" } else { "\n" }, ""))
}

/// Any value as a floating number; 0 for what is none.
pub(super) fn float(value: &Value) -> f64 {
    match &value.data {
        Data::Int(value, _) => *value as f64,
        Data::Float(value) => *value,
        Data::Bool(value) => f64::from(u8::from(*value)),
        Data::Str(text) => text.as_str().parse().unwrap_or(0.0),
        _ => 0.0,
    }
}

fn divided(call: &Call<'_>, by: fn(i64, i64) -> Option<i64>) -> Outcome {
    by(int(&call.args[0]), int(&call.args[1])).map(Value::long).ok_or_else(|| "integer divide by zero".to_owned())
}

/// Sprig computes with decimals: what binary fractions add is rounded off.
fn folded(call: &Call<'_>, step: fn(f64, f64) -> f64) -> Outcome {
    let result = call.args.iter().map(float).reduce(step).unwrap_or(0.0);
    Ok(format!("{result:.15e}").parse().unwrap_or(result).into())
}

fn round(call: &Call<'_>) -> Outcome {
    let value = float(&call.args[0]);
    let places = int(&call.args[1]).clamp(-300, 300) as i32;
    let up_from = call.args.get(2).map_or(0.5, float);
    let scaled = value * 10f64.powi(places);
    let rounded = if scaled.fract().abs() >= up_from { scaled.trunc() + scaled.signum() } else { scaled.trunc() };
    Ok((rounded / 10f64.powi(places)).into())
}

/// Numbers from `start` on, up to and without `end`.
fn numbers(call: &Call<'_>, start: i64, end: i64, step: i64) -> Result<Vec<i64>, String> {
    let distance = end.saturating_sub(start);
    if step == 0 || distance.signum() != step.signum() {
        return Ok(Vec::new());
    }
    let count = distance.unsigned_abs().div_ceil(step.unsigned_abs());
    call.make(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(2 * size_of::<Value>()))?;
    Ok((0..count as i64).map(|i| start.wrapping_add(i.wrapping_mul(step))).collect())
}

fn until(call: &Call<'_>, start: i64, end: i64, step: i64) -> Outcome {
    let numbers = numbers(call, start, end, step)?.into_iter().map(Value::from).collect();
    Ok(Items::of(numbers, "int").into())
}

/// Numbers as the shell's `seq` prints them.
fn seq(call: &Call<'_>) -> Outcome {
    let given: Vec<i64> = call.args.iter().map(int).collect();
    let (start, step, end) = match given.as_slice() {
        [] => return Ok("".into()),
        [end] => (1, if *end < 1 { -1 } else { 1 }, *end),
        [start, end] => (*start, if end < start { -1 } else { 1 }, *end),
        [start, step, end] => (*start, *step, *end),
        _ => return Ok("".into()),
    };
    let past = end.saturating_add(step.signum());
    let texts: Vec<String> = numbers(call, start, past, step)?.iter().map(i64::to_string).collect();
    Ok(texts.join(" ").into())
}
