//! Values as text, as Go's `fmt` writes them, and the names of their types.

use crate::budget::{STEP, Share};
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Value};

/// A value as `%v` writes it.
pub(super) fn text(value: &Value, share: &Share) -> Text {
    match &value.data {
        Data::Str(text) => (**text).clone(),
        Data::Unknown(why) => Value::placeholder(why, value.origin),
        Data::List(_) | Data::Map(_) => {
            let mut out = Text::new();
            write(value, (share, 1), &mut out);
            out
        }
        _ => {
            let mut out = String::new();
            plain(value, &mut out);
            Text::of(out, Origin::whole(value.origin))
        }
    }
}

fn plain(value: &Value, out: &mut String) {
    match &value.data {
        Data::Nil => out.push_str("<nil>"),
        Data::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Data::Int(value) => out.push_str(&value.to_string()),
        Data::Float(value) => out.push_str(&float(*value)),
        Data::Versions(versions) => out.push_str(&format!("[{}]", versions.join(" "))),
        Data::Files(_) => out.push_str("map[]"),
        Data::Str(_) | Data::List(_) | Data::Map(_) | Data::Unknown(_) => {}
    }
}

fn write(value: &Value, (share, level): (&Share, usize), out: &mut Text) {
    let mark = |out: &mut Text, text: &str| out.push(text, Origin::default());
    match &value.data {
        _ if share.nest(level).is_err() || share.work(STEP).is_err() => mark(out, "..."),
        Data::List(items) => {
            mark(out, "[");
            for (i, item) in items.iter().enumerate() {
                mark(out, if i > 0 { " " } else { "" });
                write(item, (share, level + 1), out);
            }
            mark(out, "]");
        }
        Data::Map(map) => {
            mark(out, "map[");
            for (i, (key, entry)) in map.entries().into_iter().enumerate() {
                mark(out, if i > 0 { " " } else { "" });
                if share.make(STEP + key.len()).is_ok() {
                    mark(out, &key);
                }
                mark(out, ":");
                write(&entry.value, (share, level + 1), out);
            }
            mark(out, "]");
        }
        _ => {
            let text = text(value, share);
            if share.make(2 * text.size()).is_ok() {
                out.push_text(&text);
            }
        }
    }
}

/// A floating number as `%v` writes it: the shortest digits, with an exponent below -4 and from 6
/// on.
pub(super) fn float(value: f64) -> String {
    if let Some(special) = special(value) {
        return special.to_owned();
    }
    let (digits, exponent) = shortest(value);
    if (-4..6).contains(&exponent) { format!("{value}") } else { scientific(value, &digits, exponent) }
}

/// What is no number.
pub(super) fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        return Some("NaN");
    }
    value.is_infinite().then_some(if value > 0.0 { "+Inf" } else { "-Inf" })
}

/// The shortest digits that tell the number, and the exponent of the first.
pub(super) fn shortest(value: f64) -> (String, i32) {
    let text = format!("{:e}", value.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.replace('.', ""), exponent.parse().unwrap_or(0))
}

pub(super) fn scientific(value: f64, digits: &str, exponent: i32) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let direction = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{point}{rest}e{direction}{:02}", exponent.abs())
}

/// The type of a value, as `%T` writes it.
pub(super) fn type_of(value: &Value) -> &'static str {
    match &value.data {
        Data::Nil => "<nil>",
        Data::Bool(_) => "bool",
        Data::Int(_) => "int",
        Data::Float(_) => "float64",
        Data::Str(_) | Data::Unknown(_) => "string",
        Data::List(_) => "[]interface {}",
        Data::Map(_) => "map[string]interface {}",
        Data::Files(_) => "engine.files",
        Data::Versions(_) => "chartutil.VersionSet",
    }
}

/// The kind of a value, in the words of Go's `reflect`.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match &value.data {
        Data::Nil => "invalid",
        Data::Bool(_) => "bool",
        Data::Int(_) => "int",
        Data::Float(_) => "float64",
        Data::Str(_) | Data::Unknown(_) => "string",
        Data::List(_) | Data::Versions(_) => "slice",
        Data::Map(_) | Data::Files(_) => "map",
    }
}
