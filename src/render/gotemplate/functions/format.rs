//! `printf` and its kin, with Go's verbs. Values keep their places where they are written as they are.

use super::numbers;
use super::strings::quoted;
use super::{ANY, Call, Function, Outcome};
use crate::budget::{NODE, STEP, Share};
use crate::render::gotemplate::print;
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "printf" => (printf, 1, ANY),
        "print" => (print_all, 0, ANY),
        "println" => (println, 0, ANY),
        _ => return None,
    })
}

/// Values one after the other, with spaces between those that are not text.
fn print_all(call: &Call<'_>) -> Outcome {
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
    Ok(out.into())
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
    minus: bool,
    plus: bool,
    sharp: bool,
    zero: bool,
    space: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

fn printf(call: &Call<'_>) -> Outcome {
    let format = call.text(0)?;
    let text = format.as_str();
    let mut values = call.args[1..].iter();
    let (mut out, mut at) = (Text::new(), 0);
    while let Some(found) = text[at..].find('%') {
        out.push_slice(format, at..at + found);
        at += found + 1;
        let mut verb = Verb::default();
        while let Some(flag) = text[at..].chars().next() {
            match flag {
                '-' => verb.minus = true,
                '+' => verb.plus = true,
                '#' => verb.sharp = true,
                '0' => verb.zero = true,
                ' ' => verb.space = true,
                _ => break,
            }
            at += 1;
        }
        verb.width = number(text, &mut at, &mut values);
        if text[at..].starts_with('.') {
            at += 1;
            verb.precision = Some(number(text, &mut at, &mut values).unwrap_or(0));
        }
        call.make(NODE + verb.width.unwrap_or(0).saturating_add(verb.precision.unwrap_or(0)))?;
        verb.precision = verb.precision.map(|digits| digits.min(MAX_DIGITS));
        let Some(letter) = text[at..].chars().next() else {
            out.push("%!(NOVERB)", Origin::default());
            break;
        };
        at += letter.len_utf8();
        match letter {
            '%' => out.push("%", Origin::default()),
            letter => match values.next() {
                None => out.push(&format!("%!{letter}(MISSING)"), Origin::default()),
                Some(value) => {
                    let text = padded(&verb, letter, value, call.share);
                    call.make(text.size())?;
                    out.push_text(&text);
                }
            },
        }
    }
    out.push_slice(format, at.min(text.len())..text.len());
    let extra: Vec<Value> = values.cloned().collect();
    if !extra.is_empty() {
        let each: Vec<String> =
            extra.iter().map(|v| format!("{}={}", print::type_of(v), print::text(v, call.share).as_str())).collect();
        call.make(2 * each.iter().map(String::len).sum::<usize>())?;
        out.push(&format!("%!(EXTRA {})", each.join(", ")), Origin::default());
    }
    Ok(out.into())
}

/// A width or precision: digits, or `*` for the next value.
fn number(text: &str, at: &mut usize, values: &mut std::slice::Iter<'_, Value>) -> Option<usize> {
    if text[*at..].starts_with('*') {
        *at += 1;
        return values.next().map(|value| usize::try_from(numbers::int(value)).unwrap_or(0));
    }
    let digits = text[*at..].bytes().take_while(u8::is_ascii_digit).count();
    let number = text[*at..*at + digits].parse().ok();
    *at += digits;
    number
}

fn padded(verb: &Verb, letter: char, value: &Value, share: &Share) -> Text {
    let text = written(verb, letter, value, share);
    let missing = verb.width.unwrap_or(0).saturating_sub(text.as_str().chars().count());
    if missing == 0 {
        return text;
    }
    let mut out = Text::new();
    if verb.minus {
        out.push_text(&text);
        out.push(&" ".repeat(missing), Origin::default());
    } else if verb.zero && letter != 's' && letter != 'v' {
        let sign = usize::from(text.as_str().starts_with(['-', '+']));
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

/// A value as a verb writes it, without padding.
fn written(verb: &Verb, letter: char, value: &Value, share: &Share) -> Text {
    let place = Origin { unknown: value.unknown().is_some(), ..Origin::whole(value.origin) };
    let computed = |text: String| Text::of(text, place);
    match (letter, &value.data) {
        (_, Data::Unknown(_)) => print::text(value, share),
        ('T', _) => computed(print::type_of(value).to_owned()),
        ('v', Data::Str(text)) if verb.sharp => quoted(text, share),
        ('v', Data::Float(number)) if verb.precision.is_some() => computed(general(*number, verb.precision)),
        ('v' | 'd', Data::Int(number)) => computed(signed(verb, number.to_string())),
        ('v', _) => print::text(value, share),
        ('s', Data::Str(text)) => match verb.precision {
            Some(most) => {
                let end = text.as_str().char_indices().nth(most).map_or(text.len(), |(at, _)| at);
                text.slice(0..end)
            }
            None => (**text).clone(),
        },
        ('q', Data::Str(text)) => quoted(text, share),
        ('x' | 'X', Data::Str(text)) => {
            let hex: String = text.as_str().bytes().map(|b| format!("{b:02x}")).collect();
            computed(if letter == 'X' { hex.to_uppercase() } else { hex })
        }
        ('x', Data::Int(number)) => computed(based(*number, format!("{:x}", number.unsigned_abs()))),
        ('X', Data::Int(number)) => computed(based(*number, format!("{:X}", number.unsigned_abs()))),
        ('o', Data::Int(number)) => computed(based(*number, format!("{:o}", number.unsigned_abs()))),
        ('b', Data::Int(number)) => computed(based(*number, format!("{:b}", number.unsigned_abs()))),
        ('U', Data::Int(number)) => computed(format!("U+{number:04X}")),
        ('c' | 'q', Data::Int(number)) => {
            let c = u32::try_from(*number).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
            computed(if letter == 'c' { c.to_string() } else { format!("'{c}'") })
        }
        ('t', Data::Bool(_)) => print::text(value, share),
        ('f' | 'F', Data::Float(number)) => computed(signed(verb, format!("{number:.*}", verb.precision.unwrap_or(6)))),
        ('e' | 'E', Data::Float(number)) => {
            let text = format!("{number:.*e}", verb.precision.unwrap_or(6));
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let sign = if exponent < 0 { '-' } else { '+' };
            computed(signed(verb, format!("{digits}{letter}{sign}{:02}", exponent.abs())))
        }
        ('g' | 'G', Data::Float(number)) => computed(signed(verb, general(*number, verb.precision))),
        (_, Data::Nil) => computed(format!("%!{letter}(<nil>)")),
        (_, Data::List(items)) => {
            let mut out = Text::plain("[");
            for (i, item) in items.iter().enumerate() {
                out.push(if i > 0 { " " } else { "" }, Origin::default());
                let list = matches!(item.data, Data::List(_));
                let text = if list { print::text(item, share) } else { written(verb, letter, item, share) };
                // What a verb adds to each item is not more than what it adds to one.
                let added = text.size() + verb.precision.unwrap_or(0);
                if share.make(NODE + added).is_err() {
                    break;
                }
                out.push_text(&text);
            }
            out.push("]", Origin::default());
            out
        }
        (_, Data::Map(_)) => print::text(value, share),
        _ => computed(format!("%!{letter}({}={})", print::type_of(value), print::text(value, share).as_str())),
    }
}

fn signed(verb: &Verb, text: String) -> String {
    match (verb.plus, verb.space) {
        (true, _) if !text.starts_with('-') => format!("+{text}"),
        (_, true) if !text.starts_with('-') => format!(" {text}"),
        _ => text,
    }
}

fn based(number: i64, digits: String) -> String {
    if number < 0 { format!("-{digits}") } else { digits }
}

fn general(number: f64, precision: Option<usize>) -> String {
    let Some(digits) = precision else { return print::float(number) };
    let rounded: f64 = format!("{number:.*e}", digits.max(1) - 1).parse().unwrap_or(number);
    let (_, exponent) = print::shortest(rounded);
    if (-4..digits.max(1) as i32).contains(&exponent) { format!("{rounded}") } else { print::float(rounded) }
}
