//! JSON and TOML.

use super::strings::escaped;
use super::{Call, Function, Outcome, yaml};
use crate::budget::{NODE, STEP, Share};
use crate::render::gotemplate::print;
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Map, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "toJson" => (|c| json(c, None, true), 1, 1),
        "toRawJson" => (|c| json(c, None, false), 1, 1),
        "toPrettyJson" => (|c| json(c, Some(0), true), 1, 1),
        "toToml" => (to_toml, 1, 1),
        name => return yaml::find(name),
    })
}

fn json(call: &Call<'_>, indent: Option<usize>, html: bool) -> Outcome {
    let mut writer = Json { out: Text::new(), html, share: call.share };
    writer.value(&call.args[0], indent, 1);
    Ok(writer.out.into())
}

struct Json<'s> {
    out: Text,
    html: bool,
    share: &'s Share,
}

impl Json<'_> {
    fn mark(&mut self, text: &str) {
        self.out.push(text, Origin::default());
    }

    fn line(&mut self, indent: Option<usize>) {
        if let Some(indent) = indent {
            self.mark(&format!("\n{}", " ".repeat(indent)));
        }
    }

    fn value(&mut self, value: &Value, indent: Option<usize>, level: usize) {
        if let Some(value) = print::encodable(value, self.share) {
            return self.value(&value, indent, level);
        }
        let inner = indent.map(|indent| indent + 2);
        match &value.data {
            _ if self.share.nest(level).is_err() || self.share.make(NODE + indent.unwrap_or(0)).is_err() => {
                self.mark("null");
            }
            Data::List(items) if !items.is_empty() => {
                for (i, item) in items.iter().enumerate() {
                    self.mark(if i == 0 { "[" } else { "," });
                    self.line(inner);
                    self.value(item, inner, level + 1);
                }
                self.line(indent);
                self.mark("]");
            }
            Data::Map(map) if !map.is_empty() => {
                for (i, (key, entry)) in print::entries(map).into_iter().enumerate() {
                    self.mark(if i == 0 { "{" } else { "," });
                    self.line(inner);
                    self.string(&Text::of(key, Origin::whole(entry.key)));
                    self.mark(if indent.is_some() { ": " } else { ":" });
                    self.value(&entry.value, inner, level + 1);
                }
                self.line(indent);
                self.mark("}");
            }
            Data::Str(text) => self.string(text),
            Data::Unknown(_) => self.string(&print::text(value, self.share)),
            Data::Nil => self.mark("null"),
            Data::List(_) => self.mark("[]"),
            Data::Map(_) | Data::Files(_) => self.mark("{}"),
            Data::Float(number) => self.out.push(&json_float(*number), Origin::whole(value.origin)),
            _ => self.out.push_text(&print::text(value, self.share)),
        }
    }

    fn string(&mut self, text: &Text) {
        if self.share.make(2 * text.size()).is_err() {
            return;
        }
        self.mark("\"");
        self.out.push_text(&escaped(text, if self.html { html_escape } else { json_escape }, self.share));
        self.mark("\"");
    }
}

fn json_escape(c: char) -> Option<String> {
    Some(match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", u32::from(c)),
        _ => return None,
    })
}

fn html_escape(c: char) -> Option<String> {
    match c {
        '<' | '>' | '&' => Some(format!("\\u{:04x}", u32::from(c))),
        c => json_escape(c),
    }
}

fn json_float(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-6..1e21).contains(&size) && value.is_finite() {
        let (digits, exponent) = print::shortest(value);
        return print::scientific(value, &digits, exponent).replace("e-0", "e-");
    }
    format!("{value}")
}

fn to_toml(call: &Call<'_>) -> Outcome {
    let mut out = Text::new();
    match &call.args[0].data {
        Data::Map(map) => table(map, &[], &mut out, call.share),
        Data::Str(_) => toml_value(&call.args[0], &mut out, (call.share, 1)),
        _ => return Ok(call.shown(0).into()),
    }
    Ok(out.into())
}

/// A table: what is not a table first, then the tables in it.
fn table(map: &Map, path: &[String], out: &mut Text, share: &Share) {
    // Every table tells the whole way to it.
    let bytes = path.iter().map(|part| part.len() + STEP).sum::<usize>() + map.len() * NODE;
    if share.nest(path.len() + 1).and_then(|()| share.make(bytes)).is_err() {
        return;
    }
    let pad = "  ".repeat(path.len().saturating_sub(1));
    let is_table = |value: &Value| matches!(value.data, Data::Map(_));
    let tables = |value: &Value| value.as_list().is_some_and(|l| !l.is_empty() && l.iter().all(is_table));
    let inner = if path.is_empty() { String::new() } else { format!("{pad}  ") };
    let entries = map.entries();
    for (key, entry) in entries.iter().filter(|(_, e)| !is_table(&e.value) && !tables(&e.value) && !e.value.is_nil()) {
        out.push(&inner, Origin::default());
        out.push(&toml_key(key), Origin::whole(entry.key));
        out.push(" = ", Origin::default());
        toml_value(&entry.value, out, (share, path.len() + 2));
        out.push("\n", Origin::default());
    }
    for (key, entry) in &entries {
        let path = [path, &[toml_key(key)]].concat();
        let head = |out: &mut Text, open: &str, close: &str| {
            let apart = path.len() == 1 || open.len() > 1;
            let blank = if out.is_empty() || !apart { "" } else { "\n" };
            let pad = "  ".repeat(path.len() - 1);
            out.push(&format!("{blank}{pad}{open}{}{close}\n", path.join(".")), Origin::whole(entry.key));
        };
        match &entry.value.data {
            Data::Map(inner) => {
                head(out, "[", "]");
                table(inner, &path, out, share);
            }
            Data::List(items) if tables(&entry.value) => {
                for item in items.iter().filter_map(Value::as_map) {
                    head(out, "[[", "]]");
                    table(item, &path, out, share);
                }
            }
            _ => {}
        }
    }
}

fn toml_key(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if bare { key.to_owned() } else { format!("{key:?}") }
}

fn toml_value(value: &Value, out: &mut Text, (share, level): (&Share, usize)) {
    match &value.data {
        _ if share.nest(level).is_err() || share.make(NODE + 2 * super::read(value)).is_err() => {
            out.push("\"\"", Origin::default());
        }
        Data::Str(_) | Data::Unknown(_) => {
            out.push("\"", Origin::default());
            out.push_text(&escaped(&print::text(value, share), json_escape, share));
            out.push("\"", Origin::default());
        }
        Data::Float(number) if number.fract() == 0.0 => {
            out.push(&format!("{number:.1}"), Origin::whole(value.origin));
        }
        Data::List(items) => {
            out.push("[", Origin::default());
            for (i, item) in items.iter().enumerate() {
                out.push(if i > 0 { ", " } else { "" }, Origin::default());
                toml_value(item, out, (share, level + 1));
            }
            out.push("]", Origin::default());
        }
        Data::Map(map) => {
            out.push("{", Origin::default());
            for (i, (key, entry)) in map.entries().into_iter().enumerate() {
                out.push(if i > 0 { ", " } else { "" }, Origin::default());
                out.push(&format!("{} = ", toml_key(&key)), Origin::whole(entry.key));
                toml_value(&entry.value, out, (share, level + 1));
            }
            out.push("}", Origin::default());
        }
        _ => out.push_text(&print::text(value, share)),
    }
}
