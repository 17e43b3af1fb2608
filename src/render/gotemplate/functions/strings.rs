//! Functions on texts. Parts of texts keep their places.

use super::{ANY, Call, Function, Outcome, cases, print};
use crate::budget::{NODE, STEP, Share};
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Value};
use std::ops::Range;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "quote" => (quote, 0, ANY),
        "squote" => (squote, 0, ANY),
        "nindent" | "indent" => (indent, 2, 2),
        "trim" => (|c| part(c, 0, str::trim), 1, 1),
        "trimAll" | "trimall" => (|c| trim_set(c, |text, set| text.trim_matches(set)), 2, 2),
        "trimSuffix" => (|c| trim_affix(c, |text, affix| text.strip_suffix(affix)), 2, 2),
        "trimPrefix" => (|c| trim_affix(c, |text, affix| text.strip_prefix(affix)), 2, 2),
        "trunc" => (trunc, 2, 2),
        "substr" => (substr, 3, 3),
        "lower" => (|c| mapped(c, |text| text.to_lowercase()), 1, 1),
        "upper" => (|c| mapped(c, upper), 1, 1),
        "title" => (|c| mapped(c, |text| initials(text, |ch, out| out.extend(ch.to_uppercase()))), 1, 1),
        "untitle" => (|c| mapped(c, |text| initials(text, |ch, out| out.extend(ch.to_lowercase()))), 1, 1),
        "swapcase" => (|c| mapped(c, swapcase), 1, 1),
        "nospace" => (|c| mapped(c, |text| text.split_whitespace().collect()), 1, 1),
        "initials" => {
            (|c| mapped(c, |text| text.split_whitespace().filter_map(|word| word.chars().next()).collect()), 1, 1)
        }
        "snakecase" => (|c| mapped(c, |text| cases::lower(text, '_')), 1, 1),
        "kebabcase" => (|c| mapped(c, |text| cases::lower(text, '-')), 1, 1),
        "camelcase" => (|c| mapped(c, cases::pascal), 1, 1),
        "contains" => (|c| Ok(c.str(1)?.contains(c.str(0)?).into()), 2, 2),
        "hasPrefix" => (|c| Ok(c.str(1)?.starts_with(c.str(0)?).into()), 2, 2),
        "hasSuffix" => (|c| Ok(c.str(1)?.ends_with(c.str(0)?).into()), 2, 2),
        "replace" => (replace, 3, 3),
        "repeat" => (repeat, 2, 2),
        "plural" => (|c| Ok(c.args[if super::numbers::int(&c.args[2]) == 1 { 0 } else { 1 }].clone()), 3, 3),
        "cat" => (|c| joined(&c.args.iter().filter(|a| !a.is_nil()).collect::<Vec<_>>(), " ", c), 0, ANY),
        "toString" => (|c| Ok(c.shown(0).into()), 1, 1),
        "wrap" => (|c| wrap(c, "\n", 1), 2, 2),
        "wrapWith" => (|c| wrap(c, c.str(1)?, 2), 3, 3),
        "abbrev" => (|c| abbreviated(c, 0, c.int(0)?), 2, 2),
        "abbrevboth" => (|c| abbreviated(c, c.int(0)?, c.int(1)?), 3, 3),
        "base" | "osBase" => (|c| mapped(c, |path| base(path).to_owned()), 1, 1),
        "dir" | "osDir" => (|c| mapped(c, |path| clean(path.rfind('/').map_or("", |at| &path[..=at]))), 1, 1),
        "clean" | "osClean" => (|c| mapped(c, clean), 1, 1),
        "ext" | "osExt" => (|c| part(c, 0, |path| base(path).rfind('.').map_or("", |at| &base(path)[at..])), 1, 1),
        "isAbs" | "osIsAbs" => (|c| Ok(c.str(0)?.starts_with('/').into()), 1, 1),
        "hello" => (|_| Ok("Hello!".into()), 0, 0),
        "html" => (|c| escaped_all(c, html), 0, ANY),
        "js" => (|c| escaped_all(c, js), 0, ANY),
        "urlquery" => (|c| escaped_all(c, percent), 0, ANY),
        _ => return None,
    })
}

/// A value as Sprig takes it for text.
pub(super) fn text(value: &Value, share: &Share) -> Text {
    match &value.data {
        Data::Bytes(text) => (**text).clone(),
        _ => print::text(value, share),
    }
}

/// Texts with a separator between them.
pub(super) fn joined(values: &[&Value], separator: &str, call: &Call<'_>) -> Outcome {
    let mut out = Text::new();
    for (i, value) in values.iter().enumerate() {
        let text = text(value, call.share);
        call.make(STEP + separator.len() + text.size())?;
        if i > 0 {
            out.push(separator, Origin::default());
        }
        out.push_text(&text);
    }
    Ok(out.into())
}

/// Texts of which places of lines are kept when they are escaped, and no others: those of whole files.
const LONG: usize = 32 << 10;

/// Every character through `escape`; what it leaves alone keeps its place.
pub(super) fn escaped(text: &Text, escape: fn(char) -> Option<String>, share: &Share) -> Text {
    let mut out = Text::new();
    if text.len() > LONG {
        let mut at = 0;
        for line in text.as_str().split_inclusive('\n') {
            if share.make(NODE + line.len()).is_err() {
                return out;
            }
            let written = line.chars().map(|c| escape(c).unwrap_or_else(|| c.to_string())).collect::<String>();
            out.push_text(&text.slice(at..at + line.len()).derived(written));
            at += line.len();
        }
        return out;
    }
    let mut kept = 0;
    for (at, c) in text.as_str().char_indices() {
        if let Some(other) = escape(c) {
            if share.make(NODE).is_err() {
                return out;
            }
            out.push_slice(text, kept..at);
            kept = at + c.len_utf8();
            out.push_text(&text.slice(at..kept).derived(other));
        }
    }
    out.push_slice(text, kept..text.len());
    out
}

/// A character inside Go's double quotes, when it is not written as it is.
fn go_escape(c: char) -> Option<String> {
    Some(match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\u{7}' => "\\a".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\u{b}' => "\\v".to_owned(),
        '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{feff}' => {
            format!("\\u{:04x}", u32::from(c))
        }
        c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        _ => return None,
    })
}

/// A text in double quotes, as `%q` writes it.
pub(super) fn quoted(text: &Text, share: &Share) -> Text {
    let mut out = Text::plain("\"");
    out.push_text(&escaped(text, go_escape, share));
    out.push("\"", Origin::default());
    out
}

fn quote(call: &Call<'_>) -> Outcome {
    let quoted: Vec<Value> = (0..call.args.len())
        .filter(|&i| !call.args[i].is_nil())
        .map(|i| quoted(&call.shown(i), call.share).into())
        .collect();
    joined(&quoted.iter().collect::<Vec<_>>(), " ", call)
}

fn squote(call: &Call<'_>) -> Outcome {
    let mut out = Text::new();
    for i in (0..call.args.len()).filter(|&i| !call.args[i].is_nil()) {
        out.push(if out.is_empty() { "'" } else { " '" }, Origin::default());
        out.push_text(&call.shown(i));
        out.push("'", Origin::default());
    }
    Ok(out.into())
}

fn indent(call: &Call<'_>) -> Outcome {
    let (count, text) = (call.count(0)?, call.text(1)?);
    let lines = text.as_str().split('\n').count();
    call.make(lines.saturating_mul(count.saturating_add(2 * NODE)))?;
    let pad = " ".repeat(count);
    let mut out = Text::new();
    if call.name == "nindent" {
        out.push("\n", Origin::default());
    }
    let mut at = 0;
    for line in text.as_str().split_inclusive('\n') {
        out.push(&pad, Origin::default());
        out.push_slice(text, at..at + line.len());
        at += line.len();
    }
    if text.is_empty() || text.as_str().ends_with('\n') {
        out.push(&pad, Origin::default());
    }
    Ok(out.into())
}

/// A part of an argument.
fn part(call: &Call<'_>, index: usize, cut: impl Fn(&str) -> &str) -> Outcome {
    let text = call.text(index)?;
    Ok(text.part(cut(text.as_str())).into())
}

fn trim_set(call: &Call<'_>, cut: impl for<'t> Fn(&'t str, &[char]) -> &'t str) -> Outcome {
    let set: Vec<char> = call.str(0)?.chars().collect();
    part(call, 1, |text| cut(text, &set))
}

fn trim_affix(call: &Call<'_>, cut: impl for<'t> Fn(&'t str, &str) -> Option<&'t str>) -> Outcome {
    let affix = call.str(0)?;
    part(call, 1, |text| cut(text, affix).unwrap_or(text))
}

/// The nearest boundaries of characters, inwards.
fn within(text: &str, range: Range<usize>) -> Range<usize> {
    let end = (0..=range.end.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let start = (range.start.min(end)..=end).find(|&at| text.is_char_boundary(at)).unwrap_or(end);
    start..end
}

fn trunc(call: &Call<'_>) -> Outcome {
    let (count, text) = (call.int(0)?, call.text(1)?);
    let length = text.len();
    let size = count.unsigned_abs() as usize;
    let range = match count {
        _ if size >= length => 0..length,
        0.. => 0..size,
        _ => length - size..length,
    };
    Ok(text.slice(within(text.as_str(), range)).into())
}

fn substr(call: &Call<'_>) -> Outcome {
    let (start, end, text) = (call.int(0)?, call.int(1)?, call.text(2)?);
    let length = text.len() as i64;
    let range = match (start, end) {
        (..0, _) => 0..end.clamp(0, length),
        (_, _) if end < 0 || end > length => start.min(length)..length,
        _ => start.min(end)..end,
    };
    Ok(text.slice(within(text.as_str(), range.start as usize..range.end as usize)).into())
}

fn mapped(call: &Call<'_>, change: impl Fn(&str) -> String) -> Outcome {
    let text = call.text(0)?;
    let changed = change(text.as_str());
    Ok(if changed == text.as_str() { call.args[0].clone() } else { text.derived(changed).into() })
}

/// Changes the first character of every word.
fn initials(text: &str, change: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.push(c)
        } else {
            change(c, &mut out)
        }
        inside = c.is_alphanumeric() || c == '_';
    }
    out
}

fn swapcase(text: &str) -> String {
    let swap = |c: char| if c.is_uppercase() { c.to_lowercase().to_string() } else { c.to_uppercase().to_string() };
    text.chars().map(swap).collect()
}

/// Capitals as Go has them: one for one.
fn upper(text: &str) -> String {
    text.chars().map(cases::upper).collect()
}

fn replace(call: &Call<'_>) -> Outcome {
    let (old, new, text) = (call.str(0)?, call.text(1)?, call.text(2)?);
    let found = text.as_str().matches(old).count();
    call.make(found.saturating_mul(new.size() + NODE))?;
    let (mut out, mut at) = (Text::new(), 0);
    for (start, found) in text.as_str().match_indices(old) {
        out.push_slice(text, at..start);
        out.push_text(new);
        at = start + found.len();
    }
    out.push_slice(text, at..text.len());
    Ok(out.into())
}

fn repeat(call: &Call<'_>) -> Outcome {
    let (count, text) = (call.count(0)?, call.text(1)?);
    call.work(text.size().saturating_add(STEP).saturating_mul(count))?;
    call.make(text.size().saturating_mul(count))?;
    let mut out = Text::new();
    for _ in 0..if text.is_empty() { 0 } else { count } {
        out.push_text(text);
    }
    Ok(out.into())
}

/// Lines of no more bytes than a width, as goutils breaks them: at spaces, and `wrapWith` within words.
fn wrap(call: &Call<'_>, separator: &str, index: usize) -> Outcome {
    let (width, text) = (call.count(0)?.max(1), call.text(index)?);
    let separator = if separator.is_empty() { "\n" } else { separator };
    let bytes = text.as_str().as_bytes();
    call.make(bytes.len() + separator.len().saturating_mul(bytes.len()))?;
    let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
    let (mut out, mut at) = (Vec::new(), 0);
    while bytes.len() - at > width {
        if bytes[at] == b' ' {
            at += 1;
            continue;
        }
        let last = part(at..at + width + 1).iter().rposition(|b| *b == b' ').map(|found| at + found);
        let next = || part(at + width..bytes.len()).iter().position(|b| *b == b' ').map(|found| at + width + found);
        let (end, following) = match last {
            Some(space) => (space, space + 1),
            None if index == 2 => (at + width, at + width),
            None => match next() {
                Some(space) => (space, space + 1),
                None => break,
            },
        };
        out.extend_from_slice(&bytes[at..end]);
        out.extend_from_slice(separator.as_bytes());
        at = following;
    }
    out.extend_from_slice(&bytes[at..]);
    Ok(text.derived(String::from_utf8_lossy(&out).into_owned()).into())
}

/// A text in no more bytes than a width, from an offset on, as goutils abbreviates it.
fn abbreviated(call: &Call<'_>, offset: i64, width: i64) -> Outcome {
    let last = call.args.len() - 1;
    let (text, length) = (call.text(last)?, call.text(last)?.len() as i64);
    if width < 4 || offset > 0 && width < 7 || length <= width {
        return Ok(call.args[last].clone());
    }
    let part = |from: i64, to: i64| &text.as_str()[within(text.as_str(), from.max(0) as usize..to.max(0) as usize)];
    let offset = offset.min(length).min(length - (width - 3));
    let short = if offset <= 4 {
        format!("{}...", part(0, width - 3))
    } else if offset + width - 3 < length {
        let rest = part(offset, length);
        if rest.len() as i64 <= width - 3 {
            format!("...{rest}")
        } else {
            format!("...{}...", part(offset, offset + width - 6))
        }
    } else {
        format!("...{}", part(length - (width - 3), length))
    };
    Ok(text.derived(short).into())
}

fn base(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (trimmed, path) {
        ("", "") => ".",
        ("", _) => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// A path without `.`, `..` and doubled slashes.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

fn html(c: char) -> Option<String> {
    let entity = match c {
        '<' => "&lt;",
        '>' => "&gt;",
        '&' => "&amp;",
        '"' => "&#34;",
        '\'' => "&#39;",
        _ => return None,
    };
    Some(entity.to_owned())
}

/// What Go's templates escape for JavaScript.
fn js(c: char) -> Option<String> {
    match c {
        '\\' | '\'' | '"' => Some(format!("\\{c}")),
        '<' | '>' | '&' | '=' => Some(format!("\\u{:04X}", u32::from(c))),
        c if c < ' '
            || c.is_control()
            || matches!(c, '\u{a0}' | '\u{ad}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{feff}') =>
        {
            Some(if c.is_ascii() { format!("\\u{:04X}", u32::from(c)) } else { format!("\\u{:04x}", u32::from(c)) })
        }
        _ => None,
    }
}

/// All arguments as one text, escaped.
fn escaped_all(call: &Call<'_>, escape: fn(char) -> Option<String>) -> Outcome {
    let all = super::format::printed(call)?;
    Ok(escaped(&all, escape, call.share).into())
}

fn percent(c: char) -> Option<String> {
    match c {
        ' ' => Some("+".to_owned()),
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~') => None,
        c => Some(c.to_string().bytes().map(|b| format!("%{b:02X}")).collect()),
    }
}

/// The texts of a list, or of a single value, that are not nothing.
pub(super) fn texts(value: &Value, share: &Share) -> Vec<Text> {
    let text = |value: &Value| {
        let text = self::text(value, share);
        if share.make(NODE + text.size()).is_ok() { text } else { Text::new() }
    };
    match &value.data {
        Data::Nil => Vec::new(),
        Data::List(items) => items.iter().filter(|item| !item.is_nil()).map(text).collect(),
        _ => vec![text(value)],
    }
}
