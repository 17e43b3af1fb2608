//! `printf` and its kin, with Go's verbs. Values keep their places where they are written as they are.

use super::strings::quoted;
use super::{ANY, Call, Function, Outcome};
use crate::budget::{NODE, STEP, Share};
use crate::render::gotemplate::print;
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Value};
use std::rc::Rc;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "printf" => (printf, 1, ANY),
        "print" => (print_all, 0, ANY),
        "println" => (println, 0, ANY),
        _ => return None,
    })
}

fn print_all(call: &Call<'_>) -> Outcome {
    Ok(printed(call)?.into())
}

/// Values one after the other, with spaces between those that are not text.
pub(super) fn printed(call: &Call<'_>) -> Result<Text, String> {
    let mut out = Text::new();
    for (i, value) in call.args.iter().enumerate() {
        let text = |value: &Value| matches!(value.data, Data::Str(_));
        if i > 0 && !text(value) && !text(&call.args[i - 1]) {
            out.push(" ", Origin::default());
        }
        let text = print::text(value, call.share);
        call.make(STEP + text.size())?;
        out.push_text(&text);
    }
    Ok(out)
}

fn println(call: &Call<'_>) -> Outcome {
    let values: Vec<&Value> = call.args.iter().collect();
    let line = super::strings::joined(&values, " ", call)?;
    let mut out = print::text(&line, call.share);
    out.push("\n", Origin::default());
    Ok(out.into())
}

/// Most digits after the point: no number has more that differ from zero.
const MAX_DIGITS: usize = 1100;

/// A verb with what stands between it and the percent sign.
#[derive(Debug, Default)]
struct Verb {
    letter: char,
    minus: bool,
    plus: bool,
    sharp: bool,
    zero: bool,
    space: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// A format on the way through its verbs.
struct Reader<'c> {
    text: &'c str,
    at: usize,
    values: &'c [Value],
    /// The value that is next.
    next: usize,
    /// Whether an index was used: then nothing is left over.
    reordered: bool,
    /// Whether an index is one of no value.
    bad_index: bool,
}

impl<'c> Reader<'c> {
    fn eat(&mut self, c: char) -> bool {
        let found = self.text[self.at..].starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    /// `[2]`: which value is next. Tells whether there is such an index.
    fn index(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let Some(inner) = rest.strip_prefix('[') else { return false };
        self.reordered = true;
        let Some(end) = inner.find(']') else {
            self.bad_index = true;
            self.at += 1;
            return false;
        };
        self.at += end + 2;
        let digits = Some(&inner[..end]).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse::<usize>().ok()).filter(|n| (1..=self.values.len()).contains(n)) {
            Some(n) => self.next = n - 1,
            None => self.bad_index = true,
        }
        true
    }

    fn value(&mut self) -> Option<&'c Value> {
        let value = self.values.get(self.next);
        self.next += usize::from(value.is_some());
        value
    }

    fn digits(&mut self) -> Option<usize> {
        let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        let number = self.text[self.at..self.at + digits].parse().ok();
        self.at += digits;
        number
    }

    /// A width or precision out of a value, `None` where that is no whole number.
    fn star(&mut self) -> Option<i64> {
        self.value().and_then(|value| if let Data::Int(number, _) = value.data { Some(number) } else { None })
    }

    /// Flags, width, precision and letter; what is wrong with them is written.
    fn verb(&mut self, out: &mut Text) -> Option<Verb> {
        let mut verb = Verb::default();
        self.bad_index = false;
        while let Some(flag) = self.text[self.at..].chars().next() {
            match flag {
                '-' => verb.minus = true,
                '+' => verb.plus = true,
                '#' => verb.sharp = true,
                '0' => verb.zero = true,
                ' ' => verb.space = true,
                _ => break,
            }
            self.at += 1;
        }
        let mut indexed = self.index();
        if self.eat('*') {
            match self.star() {
                Some(width) => {
                    verb.minus |= width < 0;
                    verb.width = usize::try_from(width.unsigned_abs()).ok();
                }
                None => out.push("%!(BADWIDTH)", Origin::default()),
            }
            indexed = false;
        } else {
            verb.width = self.digits();
            self.bad_index |= indexed && verb.width.is_some();
        }
        if self.eat('.') {
            self.bad_index |= indexed;
            indexed = self.index();
            if self.eat('*') {
                match self.star() {
                    Some(precision) => verb.precision = usize::try_from(precision).ok(),
                    None => out.push("%!(BADPREC)", Origin::default()),
                }
                indexed = false;
            } else {
                verb.precision = Some(self.digits().unwrap_or(0));
            }
        }
        if !indexed {
            self.index();
        }
        verb.letter = self.text[self.at..].chars().next()?;
        self.at += verb.letter.len_utf8();
        Some(verb)
    }
}

fn printf(call: &Call<'_>) -> Outcome {
    let format = call.text(0)?;
    let text = format.as_str();
    let values = &call.args[1..];
    let mut reader = Reader { text, at: 0, values, next: 0, reordered: false, bad_index: false };
    let mut out = Text::new();
    while let Some(found) = text[reader.at..].find('%') {
        out.push_slice(format, reader.at..reader.at + found);
        reader.at += found + 1;
        let Some(mut verb) = reader.verb(&mut out) else {
            out.push("%!(NOVERB)", Origin::default());
            break;
        };
        call.make(NODE + verb.width.unwrap_or(0).saturating_add(verb.precision.unwrap_or(0)))?;
        verb.precision = verb.precision.map(|digits| digits.min(MAX_DIGITS));
        let letter = verb.letter;
        if letter == '%' {
            out.push("%", Origin::default());
        } else if reader.bad_index {
            out.push(&format!("%!{letter}(BADINDEX)"), Origin::default());
        } else if let Some(value) = reader.value() {
            if verb.is_rare(value) {
                return call.missed(&format!("the verb {letter} of printf"));
            }
            let text = padded(&verb, value, call.share);
            call.make(text.size())?;
            out.push_text(&text);
        } else {
            out.push(&format!("%!{letter}(MISSING)"), Origin::default());
        }
    }
    out.push_slice(format, reader.at.min(text.len())..text.len());
    let extra = values.get(reader.next..).filter(|_| !reader.reordered).unwrap_or_default();
    if !extra.is_empty() {
        let each = extra.iter().map(|v| match v.data {
            Data::Nil => "<nil>".to_owned(),
            _ => format!("{}={}", print::type_of(v), print::text(v, call.share).as_str()),
        });
        let each = each.collect::<Vec<_>>().join(", ");
        call.make(2 * each.len())?;
        out.push(&format!("%!(EXTRA {each})"), Origin::default());
    }
    Ok(out.into())
}

/// A value as a verb writes it, each of the items of a list as wide as asked for.
fn padded(verb: &Verb, value: &Value, share: &Share) -> Text {
    let collection = matches!(value.data, Data::List(_) | Data::Map(_)) && verb.letter != 'T';
    let text = if collection { collected(verb, value, share) } else { written(verb, value, share) };
    let missing = verb.width.unwrap_or(0).saturating_sub(text.as_str().chars().count());
    if missing == 0 || collection {
        return text;
    }
    let mut out = Text::new();
    if verb.minus {
        out.push_text(&text);
        out.push(&" ".repeat(missing), Origin::default());
    } else if verb.zero && !matches!(value.data, Data::Str(_) | Data::Bytes(_)) {
        let sign = usize::from(text.as_str().starts_with(['-', '+', ' ']));
        out.push_slice(&text, 0..sign);
        out.push(&"0".repeat(missing), Origin::default());
        out.push_slice(&text, sign..text.len());
    } else {
        let fill = if verb.zero { "0" } else { " " };
        out.push(&fill.repeat(missing), Origin::default());
        out.push_text(&text);
    }
    out
}

/// A list or a mapping, each value as the verb writes it.
fn collected(verb: &Verb, value: &Value, share: &Share) -> Text {
    let plain = verb.letter == 'v' && verb.width.is_none() && verb.precision.is_none() && !verb.sharp;
    if plain || share.nest(2).is_err() {
        return print::text(value, share);
    }
    let go = verb.letter == 'v' && verb.sharp;
    let (open, close) = if go { ("{", "}") } else { ("[", "]") };
    let mut out = Text::plain(if go { print::type_of(value) } else { String::new() });
    let mark = |out: &mut Text, text: &str| out.push(text, Origin::default());
    let separator = |i: usize| {
        if i == 0 {
            ""
        } else if go {
            ", "
        } else {
            " "
        }
    };
    // What a verb adds to each item is not more than what it adds to one.
    let room = |size: usize| share.make(NODE + size + verb.precision.unwrap_or(0) + verb.width.unwrap_or(0)).is_ok();
    let add = |out: &mut Text, item: &Value| {
        let nil = go && item.is_nil();
        let deep = matches!(item.data, Data::List(_) | Data::Map(_)) && share.work(STEP * 64).is_err();
        let text = if nil {
            Text::plain("interface {}(nil)")
        } else if deep {
            Text::new()
        } else {
            padded(verb, item, share)
        };
        if room(text.size()) {
            out.push_text(&text);
        }
    };
    match &value.data {
        Data::List(items) => {
            mark(&mut out, open);
            for (i, item) in items.iter().enumerate() {
                mark(&mut out, separator(i));
                add(&mut out, item);
            }
        }
        Data::Map(map) if !map.class().is_struct() => {
            mark(&mut out, if go { "{" } else { "map[" });
            for (i, (key, entry)) in map.entries().into_iter().enumerate() {
                mark(&mut out, separator(i));
                add(&mut out, &Value::from(key).at(entry.key));
                mark(&mut out, ":");
                add(&mut out, &entry.value);
            }
        }
        _ => return print::text(value, share),
    }
    mark(&mut out, close);
    out
}

/// A value as a verb writes it, without padding.
fn written(verb: &Verb, value: &Value, share: &Share) -> Text {
    let place = Origin { unknown: value.unknown().is_some(), ..Origin::whole(value.origin) };
    let computed = |text: String| Text::of(text, place);
    match (verb.letter, &value.data) {
        (_, Data::Unknown(_)) => print::text(value, share),
        ('T', _) => computed(print::type_of(value)),
        ('v', Data::Nil) => print::text(value, share),
        (letter, Data::Nil) => computed(format!("%!{letter}(<nil>)")),
        ('v' | 'd', Data::Bytes(_)) => print::text(value, share),
        ('v' | 's' | 'q' | 'x' | 'X', Data::Str(text) | Data::Bytes(text)) => of_text(verb, text, share),
        ('v' | 'd' | 'x' | 'X' | 'o' | 'O' | 'b', Data::Int(number, _)) => computed(whole(verb, *number)),
        ('U', Data::Int(number, _)) if verb.sharp => computed(format!("U+{number:04X} '{}'", character(*number))),
        ('U', Data::Int(number, _)) => computed(format!("U+{number:04X}")),
        ('c', Data::Int(number, _)) => computed(character(*number).to_string()),
        ('q', Data::Int(number, _)) => computed(format!("'{}'", character(*number))),
        ('t' | 'v', Data::Bool(_)) => print::text(value, share),
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'v', Data::Float(number)) => {
            computed(signed(verb, floating(verb, *number)))
        }
        ('v', _) => print::text(value, share),
        (letter, _) => {
            computed(format!("%!{letter}({}={})", print::type_of(value), print::text(value, share).as_str()))
        }
    }
}

fn character(number: i64) -> char {
    u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
}

/// A text with what its verb asks for.
fn of_text(verb: &Verb, text: &Rc<Text>, share: &Share) -> Text {
    let text = match verb.precision {
        Some(most) if !matches!(verb.letter, 'x' | 'X') => {
            let end = text.as_str().char_indices().nth(most).map_or(text.len(), |(at, _)| at);
            Rc::new(text.slice(0..end))
        }
        _ => Rc::clone(text),
    };
    match verb.letter {
        'x' | 'X' => {
            let (mark, between) = (if verb.sharp { "0x" } else { "" }, if verb.space { " " } else { "" });
            let bytes = text.as_str().bytes().take(verb.precision.unwrap_or(usize::MAX));
            let each = bytes.enumerate().map(|(i, byte)| match (i, verb.space) {
                (0, _) => format!("{mark}{byte:02x}"),
                (_, true) => format!("{between}{mark}{byte:02x}"),
                _ => format!("{byte:02x}"),
            });
            let hex: String = each.collect();
            text.derived(if verb.letter == 'X' { hex.to_uppercase() } else { hex })
        }
        'q' if verb.sharp
            && !text.as_str().contains(|c: char| c == '`' || c.is_control() && c != '\t' || c == '\u{feff}') =>
        {
            let mut out = Text::plain("`");
            out.push_text(&text);
            out.push("`", Origin::default());
            out
        }
        'q' if verb.plus => {
            let text = quoted(&text, share);
            super::strings::escaped(
                &text,
                |c| {
                    (!c.is_ascii()).then(|| match u32::from(c) {
                        code @ ..=0xffff => format!("\\u{code:04x}"),
                        code => format!("\\U{code:08x}"),
                    })
                },
                share,
            )
        }
        'q' => quoted(&text, share),
        'v' if verb.sharp => quoted(&text, share),
        _ => (*text).clone(),
    }
}

/// A whole number in the base of its verb.
fn whole(verb: &Verb, number: i64) -> String {
    let size = number.unsigned_abs();
    let (digits, mark) = match verb.letter {
        'x' => (format!("{size:x}"), "0x"),
        'X' => (format!("{size:X}"), "0X"),
        'o' => (format!("{size:o}"), "0"),
        'O' => (format!("{size:o}"), "0o"),
        'b' => (format!("{size:b}"), "0b"),
        _ => (size.to_string(), ""),
    };
    let digits = match verb.precision {
        Some(0) if number == 0 => String::new(),
        Some(least) => format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len()))),
        None => digits,
    };
    let mark = if verb.sharp && verb.letter != 'v' || verb.letter == 'O' { mark } else { "" };
    signed(verb, format!("{}{mark}{digits}", if number < 0 { "-" } else { "" }))
}

fn signed(verb: &Verb, text: String) -> String {
    match (verb.plus && !(verb.letter == 'v' && verb.sharp), verb.space) {
        (true, _) if !text.starts_with(['-', '+']) => format!("+{text}"),
        (_, true) if !text.starts_with(['-', '+']) => format!(" {text}"),
        _ => text,
    }
}

fn floating(verb: &Verb, number: f64) -> String {
    if let Some(special) = print::special(number) {
        let plus = verb.letter == 'v' || verb.plus;
        return special.trim_start_matches(if plus { "" } else { "+" }).to_owned();
    }
    let text = match verb.letter {
        'f' | 'F' => format!("{number:.*}", verb.precision.unwrap_or(6)),
        'e' | 'E' => {
            let text = format!("{number:.*e}", verb.precision.unwrap_or(6));
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => general(number, verb.precision),
    };
    if matches!(verb.letter, 'E' | 'G') { text.to_uppercase() } else { text }
}

fn general(number: f64, precision: Option<usize>) -> String {
    let Some(digits) = precision else { return print::float(number) };
    let rounded: f64 = format!("{number:.*e}", digits.max(1) - 1).parse().unwrap_or(number);
    let (shortest, exponent) = print::shortest(rounded);
    let plain = (-4..digits.max(1) as i32).contains(&exponent);
    if plain { format!("{rounded}") } else { print::scientific(rounded, &shortest, exponent) }
}

impl Verb {
    /// Whether it writes numbers in ways that nobody here does.
    fn is_rare(&self, value: &Value) -> bool {
        match value.data {
            Data::Float(_) => matches!(self.letter, 'x' | 'X' | 'b') || self.sharp && self.letter != 'v',
            _ => self.letter == 'p',
        }
    }
}
