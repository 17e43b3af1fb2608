//! Regular expressions. Go's and ours share their syntax but for rarities.

use super::lists::strings;
use super::strings::escaped;
use super::{Call, Function, Outcome};
use crate::budget::NODE;
use crate::render::pattern::Pattern;
use crate::render::text::Text;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "regexMatch" => (matches, 2, 2),
        "regexFind" => (|c| with(c, find_one), 2, 2),
        "regexFindAll" => (|c| with(c, find_all), 3, 3),
        "regexReplaceAll" => (|c| with(c, |c, regex| replace(c, regex, true)), 3, 3),
        "regexReplaceAllLiteral" => (|c| with(c, |c, regex| replace(c, regex, false)), 3, 3),
        "regexSplit" => (|c| with(c, split), 3, 3),
        "regexQuoteMeta" => (|c| Ok(escaped(c.text(0)?, quoted, c.share).into()), 1, 1),
        _ => return None,
    })
}

/// An expression that Go does not read matches nothing.
fn matches(call: &Call<'_>) -> Outcome {
    let refused = translated(call.str(0)?).is_err() && !call.name.starts_with("must");
    if refused { Ok(false.into()) } else { with(call, |c, regex| Ok(regex.is_match(c.str(1)?, c.share).into())) }
}

/// Does something with the expression that is given first.
fn with(call: &Call<'_>, act: fn(&Call<'_>, &Pattern) -> Outcome) -> Outcome {
    match Pattern::new(&translated(call.str(0)?)?, call.share) {
        Ok(regex) => act(call, &regex),
        Err(_) if call.share.spent().is_none() => call.missed("the regular expression"),
        Err(spent) => Err(spent),
    }
}

fn quoted(c: char) -> Option<String> {
    "\\.+*?()|[]{}^$".contains(c).then(|| format!("\\{c}"))
}

/// What Go reads as this expression, in the syntax used here: classes of letters are those of ASCII.
fn translated(pattern: &str) -> Result<String, String> {
    let refused = || format!("error parsing regexp: {pattern}");
    let (mut out, mut rest, mut repeated) = (String::with_capacity(pattern.len()), pattern, false);
    while let Some(c) = rest.chars().next() {
        let repeats = repetition(rest);
        let (text, length) = match (c, repeats) {
            (_, Some(_)) if repeated => return Err(refused()),
            (_, Some(length)) => (rest[..length].to_owned(), length),
            ('\\', _) => escape(rest, false).ok_or_else(refused)?,
            ('[', _) => class(rest).ok_or_else(refused)?,
            ('(', _) if rest.starts_with("(?") => {
                let flags = rest[2..].split([')', ':', 'P', '<']).next().unwrap_or("");
                if flags.contains(|c: char| !"imsU-".contains(c)) {
                    return Err(refused());
                }
                ("(?".to_owned(), 2)
            }
            ('{', _) => ("\\{".to_owned(), 1),
            _ => (c.to_string(), c.len_utf8()),
        };
        out.push_str(&text);
        repeated = repeats.is_some();
        rest = &rest[length..];
    }
    Ok(out)
}

/// The length of `*`, `+`, `?` or `{2,3}`, with the question mark that asks for the shortest.
fn repetition(rest: &str) -> Option<usize> {
    let length = match rest.as_bytes().first()? {
        b'*' | b'+' | b'?' => 1,
        b'{' => {
            let inner = &rest[1..rest.find('}')?];
            let counts = inner.bytes().all(|b| b.is_ascii_digit() || b == b',') && !inner.starts_with(',');
            (counts && !inner.is_empty()).then_some(inner.len() + 2)?
        }
        _ => return None,
    };
    Some(length + usize::from(rest[length..].starts_with('?')))
}

/// What follows a backslash, with its length; nothing where Go has no such escape or nobody here does.
fn escape(rest: &str, class: bool) -> Option<(String, usize)> {
    let letter = rest[1..].chars().next()?;
    let text = match letter {
        'Q' if !class => {
            let literal = rest[2..].split("\\E").next()?;
            return Some((regex::escape(literal), (2 + literal.len() + 2).min(rest.len())));
        }
        'd' | 'w' | 's' if class => ascii(letter).to_owned(),
        'd' | 'w' | 's' => format!("[{}]", ascii(letter)),
        'D' | 'W' | 'S' => format!("[^{}]", ascii(letter)),
        'b' if !class => "(?-u:\\b)".to_owned(),
        'C' => return None,
        letter => format!("\\{letter}"),
    };
    Some((text, 1 + letter.len_utf8()))
}

/// A class in brackets, with its length. Neither brackets nor operators within it mean anything to Go.
fn class(whole: &str) -> Option<(String, usize)> {
    let mut out = String::from(if whole.starts_with("[^") { "[^" } else { "[" });
    let mut rest = &whole[out.len()..];
    let mut first = true;
    loop {
        let c = rest.chars().next()?;
        let (text, length) = match c {
            ']' if !first => return Some((out + "]", whole.len() - rest.len() + 1)),
            '\\' => escape(rest, true)?,
            '[' if rest.starts_with("[:") => {
                let length = rest.find(":]")? + 2;
                (rest[..length].to_owned(), length)
            }
            '&' | '-' | '~' if rest[1..].starts_with(c) => (format!("\\{c}"), 1),
            '[' | ']' => (format!("\\{c}"), 1),
            c => (c.to_string(), c.len_utf8()),
        };
        out.push_str(&text);
        rest = &rest[length..];
        first = false;
    }
}

/// What stands in a class for `\d`, `\w` or `\s`, or their opposites.
fn ascii(letter: char) -> &'static str {
    match letter.to_ascii_lowercase() {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        _ => "\\t\\n\\f\\r ",
    }
}

fn find_one(call: &Call<'_>, regex: &Pattern) -> Outcome {
    let text = call.text(1)?;
    let found = regex.find(text.as_str(), call.share).map_or("", |found| found.as_str());
    Ok(text.part(found).into())
}

/// How many: all for a negative number.
fn most(call: &Call<'_>) -> Result<usize, String> {
    Ok(usize::try_from(call.int(2)?).unwrap_or(usize::MAX))
}

fn find_all(call: &Call<'_>, regex: &Pattern) -> Outcome {
    let text = call.text(1)?;
    let mut out = Vec::new();
    for found in regex.find_all(text.as_str(), call.share).take(most(call)?) {
        call.make(2 * NODE)?;
        out.push(text.slice(found));
    }
    Ok(strings(out))
}

fn replace(call: &Call<'_>, regex: &Pattern, expand: bool) -> Outcome {
    let (text, by) = (call.text(1)?, call.text(2)?);
    let (mut out, mut at) = (Text::new(), 0);
    for captures in regex.captures(text.as_str(), call.share) {
        let Some(found) = captures.get(0) else { continue };
        out.push_slice(text, at..found.start());
        if expand && by.as_str().contains('$') {
            let mut expanded = String::new();
            // Every reference may stand for all that was found.
            let references = by.as_str().matches('$').count();
            call.make(by.len() + references.saturating_mul(found.len()))?;
            captures.expand(by.as_str(), &mut expanded);
            out.push_text(&text.slice(found.range()).derived(expanded));
        } else {
            out.push_text(by);
        }
        call.make(NODE + by.size())?;
        at = found.end();
    }
    out.push_slice(text, at..text.len());
    Ok(out.into())
}

fn split(call: &Call<'_>, regex: &Pattern) -> Outcome {
    let text = call.text(1)?;
    let (most, mut at, mut end, mut out) = (most(call)?, 0, 0, Vec::new());
    if most == 0 {
        return Ok(strings(out));
    }
    if text.is_empty() && !call.str(0)?.is_empty() {
        return Ok(strings(vec![Text::new()]));
    }
    for found in regex.find_all(text.as_str(), call.share).take(most - 1) {
        call.make(2 * NODE)?;
        end = found.start;
        // Nothing stands before a match of nothing at the start.
        if found.end > 0 {
            out.push(text.slice(at..end));
        }
        at = found.end;
    }
    if end != text.len() {
        out.push(text.slice(at..text.len()));
    }
    Ok(strings(out))
}
