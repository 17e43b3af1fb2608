//! Values as text, as Go's `fmt` writes them, and the names of their types.

use super::functions::base64;
use crate::budget::{NODE, STEP, Share};
use crate::known::Why;
use crate::render::class::Class;
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Entry, Map, Value};
use std::rc::Rc;

/// A value as `%v` writes it.
pub(super) fn text(value: &Value, share: &Share) -> Text {
    match &value.data {
        Data::Str(text) => (**text).clone(),
        Data::Unknown(why) => Value::placeholder(why, value.origin),
        Data::Map(map) if map.class() == Class::Version => version(map),
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

/// The bytes of a text as Go writes a list of them.
fn bytes(text: &str) -> String {
    format!("[{}]", text.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(" "))
}

/// A semantic version in full.
fn version(map: &Map) -> Text {
    let part = |name: &str| map.get(name).unwrap_or_default();
    let number = |name: &str| if let Data::Int(number, _) = part(name).data { number } else { 0 };
    let after = |mark: &str, name: &str| part(name).as_str().filter(|s| !s.is_empty()).map(|s| format!("{mark}{s}"));
    let numbers = format!("{}.{}.{}", number("Major"), number("Minor"), number("Patch"));
    let (pre, meta) = (after("-", "Prerelease"), after("+", "Metadata"));
    Text::of(numbers + &pre.unwrap_or_default() + &meta.unwrap_or_default(), Origin::whole(part("Original").origin))
}

/// What JSON and YAML write of what has no form of its own there.
pub(super) fn encodable(value: &Value, share: &Share) -> Option<Value> {
    let encoded = |text: &Rc<Text>| Value::from(text.derived(base64(text.as_str().as_bytes())));
    let made = |bytes: usize| share.make(bytes).is_ok();
    Some(match &value.data {
        Data::Bytes(text) if made(2 * text.size()) => encoded(text),
        Data::Files(files) if made(files.values().map(|text| NODE + 2 * text.size()).sum()) => {
            files.iter().map(|(path, text)| (path, encoded(text))).collect::<Map>().into()
        }
        Data::Versions(versions) if made(versions.len() * NODE) => {
            versions.iter().map(|version| Value::from(version.as_str())).collect::<Vec<_>>().into()
        }
        Data::Map(map) if map.class() == Class::Version => version(map).into(),
        Data::List(items) if items.is_nil() => Value::NIL,
        _ => return None,
    })
}

/// The keys and values that JSON and YAML write of a mapping, fields in their order.
pub(super) fn entries(map: &Map) -> Vec<(String, Entry)> {
    let mut found = map.entries();
    let fields = map.class().fields();
    if fields.is_empty() {
        return found;
    }
    let place = |name: &str| fields.iter().position(|(field, ..)| *field == name);
    found.retain(|(name, entry)| place(name).is_some_and(|at| fields[at].2 || entry.value.is_true()));
    found.sort_by_key(|(name, _)| place(name));
    found.iter_mut().for_each(|(name, _)| *name = place(name).map_or(String::new(), |at| fields[at].1.to_owned()));
    found
}

fn plain(value: &Value, out: &mut String) {
    match &value.data {
        Data::Nil => out.push_str("<nil>"),
        Data::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Data::Int(value, _) => out.push_str(&value.to_string()),
        Data::Float(value) => out.push_str(&float(*value)),
        Data::Versions(versions) => out.push_str(&format!("[{}]", versions.join(" "))),
        Data::Bytes(text) => out.push_str(&bytes(text.as_str())),
        Data::Files(files) => {
            let each = files.iter().map(|(path, text)| format!("{path}:{}", bytes(text.as_str())));
            out.push_str(&format!("map[{}]", each.collect::<Vec<_>>().join(" ")));
        }
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
        // Where they lie in memory.
        Data::Map(map) if map.class().kind() == "ptr" && map.class() != Class::Version => {
            out.push_text(&Value::placeholder(&Why::Template, value.origin));
        }
        Data::Map(map) if map.class() == Class::Chart => {
            mark(out, "{");
            write(&map.as_class(Class::Metadata).into(), (share, level + 1), out);
            mark(out, if map.get("IsRoot").is_some_and(|root| root.is_true()) { " true}" } else { " false}" });
        }
        Data::Map(map) if map.class().is_struct() && map.class() != Class::Version => {
            mark(out, "{");
            for (i, (name, ..)) in map.class().fields().iter().enumerate() {
                mark(out, if i > 0 { " " } else { "" });
                write(&map.get(name).unwrap_or_default(), (share, level + 1), out);
            }
            mark(out, "}");
        }
        Data::Map(map) if map.class() != Class::Version => {
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
pub(super) fn type_of(value: &Value) -> String {
    let name = match &value.data {
        Data::Nil => "<nil>",
        Data::Bool(_) => "bool",
        Data::Int(_, name) => name,
        Data::Float(_) => "float64",
        Data::Str(_) | Data::Unknown(_) => "string",
        Data::Bytes(_) => "[]uint8",
        Data::List(items) => return format!("[]{}", items.element()),
        Data::Map(map) => map.class().name(),
        Data::Files(_) => "engine.files",
        Data::Versions(_) => "chartutil.VersionSet",
    };
    name.to_owned()
}

/// The kind of a value, in the words of Go's `reflect`.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match &value.data {
        Data::Nil => "invalid",
        Data::Bool(_) => "bool",
        Data::Int(_, name) => name,
        Data::Float(_) => "float64",
        Data::Str(_) | Data::Unknown(_) => "string",
        Data::List(_) | Data::Versions(_) | Data::Bytes(_) => "slice",
        Data::Map(map) => map.class().kind(),
        Data::Files(_) => "map",
    }
}
