//! `toYaml` and `fromYaml`. What is written looks as sigs.k8s.io/yaml writes it, byte for byte: keys in their natural
//! order, lists not indented under keys, long lines folded at spaces.

use super::{Call, Function, Outcome};
use crate::budget::{NODE, STEP, Share};
use crate::parse::{Dialect, yaml};
use crate::render::gotemplate::print;
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Map, Value};
use std::cmp::Ordering;

/// Column after which lines are folded.
const WIDTH: usize = 80;

/// Longest key that stands before its colon on one line.
const MAX_SIMPLE_KEY: usize = 128;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "toYaml" | "toYamlPretty" => (|c| to_yaml(&c.args[0], c), 1, 1),
        "mustFromJson" => (must_from_json, 1, 1),
        "fromYaml" => (|c| from(c, Dialect::Kubernetes, false), 1, 1),
        "fromYamlArray" => (|c| from(c, Dialect::Kubernetes, true), 1, 1),
        "fromJson" => (|c| from(c, Dialect::Typed, false), 1, 1),
        "fromJsonArray" => (|c| from(c, Dialect::Typed, true), 1, 1),
        _ => return None,
    })
}

/// A value as YAML, without a line end after it.
pub(super) fn to_yaml(value: &Value, call: &Call<'_>) -> Outcome {
    let mut writer = Writer { out: Text::new(), column: 0, share: call.share };
    writer.node(value, Place { indent: 0, inline: true, level: 1 });
    call.work(writer.out.size())?;
    let length = writer.out.as_str().strip_suffix('\n').unwrap_or(writer.out.as_str()).len();
    Ok(writer.out.slice(0..length).into())
}

/// Any JSON; what is wrong with it is an error.
fn must_from_json(call: &Call<'_>) -> Outcome {
    let Some(whole) = call.at else { return Ok(Value::NIL) };
    call.make(call.text(0)?.size() * (NODE / 8))?;
    let tree = yaml::parse_traced(&call.text(0)?.traced(whole), Dialect::Typed);
    match tree.problems.first() {
        Some(problem) => Err(problem.message.clone()),
        None => Ok(yaml::root(&tree).map(|root| Value::from_node(root, call.share)).unwrap_or_default()),
    }
}

/// The first document of a text; Helm turns what is wrong with it into a value.
fn from(call: &Call<'_>, dialect: Dialect, list: bool) -> Outcome {
    let Some(whole) = call.at else { return Ok(Value::NIL) };
    // A node of the tree may be as short as two bytes.
    call.make(call.text(0)?.size() * (NODE / 8))?;
    let tree = yaml::parse_traced(&call.text(0)?.traced(whole), dialect);
    let value = yaml::root(&tree).map(|root| Value::from_node(root, call.share)).unwrap_or_default();
    match (tree.problems.first(), &value.data) {
        (Some(_), _) => {}
        (None, Data::Map(_)) if !list => return Ok(value),
        (None, Data::List(_)) if list => return Ok(value),
        (None, Data::Unknown(_)) => return Ok(value),
        (None, Data::Nil) if list => return Ok(Vec::new().into()),
        (None, Data::Nil) => return Ok(Map::new().into()),
        _ => {}
    }
    // Nobody knows Go's words for what is wrong.
    let mut message = Text::plain("error: ");
    message.push("$(error)", Origin { unknown: true, ..Origin::whole(call.at) });
    let message = Value::from(message);
    Ok(if list { vec![message].into() } else { Map::from_iter([("Error", message)]).into() })
}

/// Where a node is written.
#[derive(Clone, Copy)]
struct Place {
    /// Indentation of the entries of a collection.
    indent: usize,
    /// Whether the first entry goes on in the current line.
    inline: bool,
    level: usize,
}

struct Writer<'s> {
    out: Text,
    column: usize,
    share: &'s Share,
}

impl Writer<'_> {
    fn push(&mut self, text: &str, origin: Origin) {
        self.out.push(text, origin);
        self.moved(text);
    }

    fn push_text(&mut self, text: &Text) {
        self.out.push_text(text);
        self.moved(text.as_str());
    }

    fn moved(&mut self, text: &str) {
        match text.rfind('\n') {
            Some(at) => self.column = text[at + 1..].chars().count(),
            None => self.column += text.chars().count(),
        }
    }

    fn mark(&mut self, text: &str) {
        self.push(text, Origin::default());
    }

    /// Starts a line.
    fn line(&mut self, indent: usize) {
        if self.column > 0 {
            self.mark("\n");
        }
        self.mark(&" ".repeat(indent));
    }

    fn node(&mut self, value: &Value, place: Place) {
        if let Some(value) = print::encodable(value, self.share) {
            return self.node(&value, place);
        }
        let bytes = NODE + place.indent + 2 * super::read(value);
        if self.share.nest(place.level).and_then(|()| self.share.make(bytes)).is_err() {
            return self.mark("null");
        }
        match &value.data {
            Data::Map(map) if !map.is_empty() => self.mapping(map, place),
            Data::List(items) if !items.is_empty() => {
                for (i, item) in items.iter().enumerate() {
                    if i > 0 || !place.inline {
                        self.line(place.indent);
                    }
                    self.mark("- ");
                    self.node(item, Place { indent: place.indent + 2, inline: true, level: place.level + 1 });
                }
            }
            _ => self.scalar(value, place.indent.max(2), false),
        }
    }

    fn mapping(&mut self, map: &Map, place: Place) {
        let mut entries = print::entries(map);
        if self.share.work(entries.iter().map(|(key, _)| STEP * (4 + key.len())).sum()).is_err() {
            return;
        }
        entries.sort_by(|(a, _), (b, _)| natural(a, b));
        for (i, (key, entry)) in entries.iter().enumerate() {
            if i > 0 || !place.inline {
                self.line(place.indent);
            }
            let verbatim = entry.key.is_some_and(|span| (span.end - span.start) as usize == key.len());
            let origin = Origin { verbatim, ..Origin::whole(entry.key) };
            let name = Value::from(Text::of(key.as_str(), origin));
            let simple = key.len() <= MAX_SIMPLE_KEY && !key.contains('\n');
            if simple {
                self.scalar(&name, 0, true);
                self.mark(":");
            } else {
                self.mark("? ");
                self.scalar(&name, place.indent + 2, false);
                self.line(place.indent);
                self.mark(":");
            }
            let inner = Place { indent: place.indent + 2, inline: false, level: place.level + 1 };
            let value = print::encodable(&entry.value, self.share).unwrap_or_else(|| entry.value.clone());
            match &value.data {
                Data::Map(map) if !map.is_empty() => self.node(&value, inner),
                // Lists are not indented under their key.
                Data::List(items) if !items.is_empty() => {
                    self.node(&value, Place { indent: place.indent, ..inner });
                }
                _ => {
                    self.mark(" ");
                    self.node(&value, inner);
                }
            }
        }
    }

    /// A scalar; `indent` is that of the lines it goes on in.
    fn scalar(&mut self, value: &Value, indent: usize, key: bool) {
        let place = Origin::whole(value.origin);
        match &value.data {
            Data::Nil => self.push("null", place),
            Data::Map(_) | Data::Files(_) => self.push("{}", place),
            Data::List(_) => self.push("[]", place),
            Data::Float(number) if number.fract() == 0.0 && number.abs() < 9e18 => {
                self.push(&format!("{number:.0}"), place);
            }
            Data::Float(number) if number.is_finite() => self.push(&print::float(*number), place),
            Data::Str(text) => self.string(text, indent, key),
            _ => self.push_text(&print::text(value, self.share)),
        }
    }

    fn string(&mut self, text: &Text, indent: usize, key: bool) {
        // Lines that go on are indented anew.
        let lines = text.as_str().matches(['\n', ' ']).count();
        if self.share.make(lines * (STEP + indent)).is_err() {
            return;
        }
        let shape = Shape::of(text.as_str());
        match shape.style(text.as_str(), key) {
            Style::Plain => self.folded(text, Quote::None, indent, !key),
            Style::Single => self.folded(text, Quote::Single, indent, !key),
            Style::Double => self.folded(text, Quote::Double, indent, !key),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn folded(&mut self, text: &Text, quote: Quote, indent: usize, fold: bool) {
        // Quotes stand for the whole text: it is what a person would edit.
        let around = Origin::whole(text.place());
        let mark = match quote {
            Quote::None => "",
            Quote::Single => "'",
            Quote::Double => "\"",
        };
        self.push(mark, around);
        let content = text.as_str();
        let escape = |c: char| match quote {
            Quote::None => None,
            Quote::Single => (c == '\'').then(|| "''".to_owned()),
            Quote::Double => double_escape(c),
        };
        let (mut kept, mut after_space) = (0, false);
        for (at, c) in content.char_indices() {
            let next = at + c.len_utf8();
            let room = match quote {
                Quote::None => !content[next..].starts_with(' '),
                Quote::Single => at > 0 && next < content.len() && !content[next..].starts_with(' '),
                Quote::Double => at > 0 && next < content.len(),
            };
            // The column counts what was not written yet.
            let far = || self.column + content[kept..at].chars().count() > WIDTH;
            let folds = c == ' ' && fold && !after_space && room && far();
            after_space = c == ' ';
            let other = escape(c);
            if !folds && other.is_none() {
                continue;
            }
            self.push_text(&text.slice(kept..at));
            kept = next;
            if folds {
                self.push("\n", around);
                self.push(&" ".repeat(indent), around);
                if matches!(quote, Quote::Double) && content[next..].starts_with(' ') {
                    self.push("\\", around);
                }
            } else if let Some(other) = other.filter(|_| self.share.make(NODE).is_ok()) {
                self.push_text(&text.slice(at..next).derived(other));
            }
        }
        self.push_text(&text.slice(kept..content.len()));
        self.push(mark, around);
    }

    fn literal(&mut self, text: &Text, indent: usize) {
        let content = text.as_str();
        let around = Origin::whole(text.place());
        let hint = if content.starts_with([' ', '\n']) { "2" } else { "" };
        let chomp = match content.strip_suffix('\n') {
            None => "-",
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => "+",
            Some(_) => "",
        };
        self.push(&format!("|{hint}{chomp}\n"), around);
        let mut at = 0;
        for line in content.split_inclusive('\n') {
            if line != "\n" {
                self.push(&" ".repeat(indent), around);
            }
            self.push_text(&text.slice(at..at + line.len()));
            at += line.len();
        }
    }
}

#[derive(Clone, Copy)]
enum Quote {
    None,
    Single,
    Double,
}

enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// What a text allows, in the terms of libyaml's emitter.
struct Shape {
    plain: bool,
    single: bool,
    block: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Shape { plain: true, single: true, block: !text.is_empty() };
        let spaced = |c: Option<char>| c.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
        let (mut before, mut special) = (None, false);
        let mut chars = text.chars().peekable();
        shape.plain &= !text.starts_with("---") && !text.starts_with("...");
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            let first = before.is_none();
            shape.plain &= match c {
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
                    if first =>
                {
                    false
                }
                '?' | '-' if first => !spaced(next),
                ':' => !spaced(next),
                '#' => !spaced(before),
                '\n' | '\r' => false,
                _ => true,
            };
            special |= !printable(c);
            if matches!(c, ' ' | '\n') && (first || next.is_none()) {
                shape.plain = false;
            }
            match (before, c) {
                (Some('\n'), ' ') => (shape.plain, shape.single) = (false, false),
                (Some(' '), '\n') => special = true,
                _ => {}
            }
            before = Some(c);
        }
        shape.block &= !text.ends_with(' ');
        if special {
            shape = Shape { plain: false, single: false, block: false };
        }
        shape
    }

    fn style(&self, text: &str, key: bool) -> Style {
        if text.contains('\n') {
            return if self.block && !key { Style::Literal } else { Style::Double };
        }
        match (resolves(text), self) {
            (true, _) => Style::Double,
            (false, Shape { plain: true, .. }) => Style::Plain,
            (false, Shape { single: true, .. }) => Style::Single,
            _ => Style::Double,
        }
    }
}

/// What the emitter writes as it is: neither control characters nor anything beyond the basic plane.
fn printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

fn double_escape(c: char) -> Option<String> {
    let code = u32::from(c);
    let letter = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        c if printable(c) => return None,
        _ if code <= 0xff => return Some(format!("\\x{code:02X}")),
        _ if code <= 0xffff => return Some(format!("\\u{code:04X}")),
        _ => return Some(format!("\\U{code:08X}")),
    };
    Some(format!("\\{letter}"))
}

/// Whether a reader would take the plain text for something other than text.
fn resolves(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes.first() {
        None => true,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            let mut chars = text.chars();
            let capital =
                |rest: &str| rest.chars().all(|c| c.is_ascii_lowercase()) || text == text.to_ascii_uppercase();
            chars.next();
            const WORDS: &[&str] = &["y", "yes", "n", "no", "true", "false", "on", "off", "null", "~"];
            WORDS.contains(&text.to_ascii_lowercase().as_str()) && capital(chars.as_str())
        }
        Some(b'.') => {
            matches!(text, ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF")
                || text.bytes().any(|b| b.is_ascii_digit()) && text.parse::<f64>().is_ok()
        }
        Some(b'+' | b'-' | b'0'..=b'9') => {
            let plain = text.replace('_', "");
            matches!(text, "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF")
                || timestamp(text)
                || integer(&plain)
                || plain.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
                    && plain.parse::<f64>().is_ok()
                || base_60(text)
        }
        Some(_) => false,
    }
}

fn integer(plain: &str) -> bool {
    let digits = plain.trim_start_matches(['+', '-']);
    let all = |rest: &str, radix: u32| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix));
    plain.len() - digits.len() <= 1
        && match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => all(&digits[2..], 16),
            [b'0', b'o' | b'O', ..] => all(&digits[2..], 8),
            [b'0', b'b' | b'B', ..] => all(&digits[2..], 2),
            _ => all(digits, 10),
        }
}

/// `1:30`, which YAML 1.1 took for a number to the base of 60.
fn base_60(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let mut parts = digits.split('.').next().unwrap_or("").split(':');
    let whole = parts.next().is_some_and(|p| p.starts_with(|c: char| c.is_ascii_digit()) && number(p));
    let rest: Vec<&str> = parts.collect();
    let sixty = |p: &&str| matches!(p.len(), 1 | 2) && p.parse::<u8>().is_ok_and(|n| n < 60);
    whole && !rest.is_empty() && rest.iter().all(sixty) && digits.split('.').skip(1).all(number)
}

fn number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// A date, with or without a time.
fn timestamp(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let parts: Vec<&str> = date.split('-').collect();
    let within = |p: &str, most: u32| matches!(p.len(), 1 | 2) && p.parse().is_ok_and(|n: u32| (1..=most).contains(&n));
    let dated = match parts.as_slice() {
        [year, month, day] => {
            year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()) && within(month, 12) && within(day, 31)
        }
        _ => false,
    };
    dated
        && time.is_none_or(|time| {
            let clock = time.find(['Z', '+', '-']).map_or(time, |at| &time[..at]);
            clock.split(':').count() == 3 && clock.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'))
        })
}

/// The order of keys: letters after everything else, runs of digits by their number.
fn natural(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    for i in 0..a.len().min(b.len()) {
        if a[i] == b[i] {
            continue;
        }
        match (a[i].is_alphabetic(), b[i].is_alphabetic()) {
            (true, true) => return a[i].cmp(&b[i]),
            (left, right) if left || right => return if right { Ordering::Less } else { Ordering::Greater },
            _ => {}
        }
        let zero = a[i] == '0' || b[i] == '0';
        let inside = zero && a[..i].iter().rev().take_while(|c| c.is_ascii_digit()).any(|c| *c != '0');
        let start = u64::from(inside);
        let run = |chars: &[char]| {
            let digits = chars[i..].iter().take_while(|c| c.is_ascii_digit());
            digits.fold((start, 0), |(n, len), c| {
                (n.wrapping_mul(10).wrapping_add(u64::from(c.to_digit(10).unwrap_or(0))), len + 1)
            })
        };
        return run(&a).cmp(&run(&b)).then(a[i].cmp(&b[i]));
    }
    a.len().cmp(&b.len())
}
