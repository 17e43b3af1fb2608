//! Regular expressions that files bring along: what they may cost is spent before they run. Knows nothing of who asks.

use crate::budget::{Share, Spent};
use regex::{Captures, Error, Match, Regex, RegexBuilder};
use std::ops::Range;

/// Bytes of compiled expressions, as powers of two: searching costs in proportion.
const SIZES: std::ops::RangeInclusive<u32> = 12..=20;

/// A regular expression, and what looking at one byte with it may cost.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
    per_byte: usize,
}

/// An expression as Go reads it, in the syntax of this library: `\d`, `\w`, `\s` and `\b` are those of ASCII.
/// <https://github.com/google/re2/wiki/Syntax>
///
/// # Errors
/// Go does not read it.
pub fn of_go(pattern: &str) -> Result<String, String> {
    let refused = || format!("error parsing regexp: {pattern}");
    let (mut out, mut rest, mut repeated) = (String::with_capacity(pattern.len()), pattern, false);
    while let Some(c) = rest.chars().next() {
        let repeats = repetition(rest);
        let (text, length) = match (c, repeats) {
            (_, Some(_)) if repeated => return Err(refused()),
            (_, Some(length)) => (rest[..length].to_owned(), length),
            ('\\', _) => escape(rest).ok_or_else(refused)?,
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

/// What follows a backslash outside classes, with its length; nothing where Go has no such escape or nobody here does.
fn escape(rest: &str) -> Option<(String, usize)> {
    let letter = rest[1..].chars().next()?;
    let text = match letter {
        'Q' => {
            let literal = rest[2..].split("\\E").next()?;
            return Some((regex::escape(literal), (2 + literal.len() + 2).min(rest.len())));
        }
        'd' | 'w' | 's' => format!("[{}]", ascii(letter)),
        'D' | 'W' | 'S' => format!("[^{}]", ascii(letter)),
        'b' => "(?-u:\\b)".to_owned(),
        'C' => return None,
        letter if letter.is_ascii_punctuation() => regex::escape(letter.encode_utf8(&mut [0; 4])),
        letter => format!("\\{letter}"),
    };
    Some((text, 1 + letter.len_utf8()))
}

/// A class in brackets, with its length. Neither brackets nor operators within it mean anything to Go, and a `-` that stands
/// between no two characters is one itself.
fn class(whole: &str) -> Option<(String, usize)> {
    let mut out = String::from(if whole.starts_with("[^") { "[^" } else { "[" });
    let mut rest = &whole[out.len()..];
    let mut first = true;
    while first || !rest.starts_with(']') {
        first = false;
        if let Some((text, length)) = set(rest) {
            out.push_str(&text);
            rest = &rest[length..];
            continue;
        }
        let (low, length) = member(rest)?;
        out.push_str(&low);
        rest = &rest[length..];
        if let Some(high) = rest.strip_prefix('-').filter(|high| !high.starts_with(']')) {
            let (text, length) = member(high)?;
            out.push('-');
            out.push_str(&text);
            rest = &high[length..];
        }
    }
    Some((out + "]", whole.len() - rest.len() + 1))
}

/// What stands in a class for many characters, with its length: `\w`, `\pL`, `[:alpha:]`.
fn set(rest: &str) -> Option<(String, usize)> {
    if rest.starts_with("[:") {
        let length = rest.find(":]")? + 2;
        return Some((rest[..length].to_owned(), length));
    }
    let letter = rest.strip_prefix('\\')?.chars().next()?;
    match letter {
        'd' | 'w' | 's' => Some((ascii(letter).to_owned(), 2)),
        'D' | 'W' | 'S' => Some((format!("[^{}]", ascii(letter)), 2)),
        'p' | 'P' => {
            let length = match rest[2..].chars().next()? {
                '{' => rest.find('}')? + 1,
                name => 2 + name.len_utf8(),
            };
            Some((rest[..length].to_owned(), length))
        }
        _ => None,
    }
}

/// One character of a class, with its length.
fn member(rest: &str) -> Option<(String, usize)> {
    let c = rest.chars().next()?;
    let literal = |c: char| if "[]&~-^\\".contains(c) { format!("\\{c}") } else { c.to_string() };
    if c != '\\' {
        return Some((literal(c), c.len_utf8()));
    }
    let escaped = rest[1..].chars().next()?;
    let length = match escaped {
        'x' if rest[2..].starts_with('{') => rest.find('}')? + 1,
        'x' => rest.char_indices().nth(4).map_or(rest.len(), |(at, _)| at),
        'a' | 'f' | 'n' | 'r' | 't' | 'v' => 2,
        escaped if escaped.is_ascii_punctuation() => return Some((literal(escaped), 2)),
        _ => return None,
    };
    Some((rest[..length].to_owned(), length))
}

/// What stands in a class for `\d`, `\w` or `\s`, or their opposites.
fn ascii(letter: char) -> &'static str {
    match letter.to_ascii_lowercase() {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        _ => "\\t\\n\\f\\r ",
    }
}

impl Pattern {
    /// Reads an expression of Go.
    ///
    /// # Errors
    /// It is none. What is too large to be compiled spends the share.
    pub fn new(pattern: &str, share: &Share) -> Result<Self, String> {
        // Few letters may name thousands of characters, each time anew.
        let read = share.work(pattern.len().saturating_mul(pattern.len().max(32)));
        read.map_err(|spent| spent.to_string())?;
        let pattern = &of_go(pattern)?;
        for size in SIZES.step_by(2).map(|bits| 1usize << bits) {
            share.work(size / 4).map_err(|spent| spent.to_string())?;
            match RegexBuilder::new(pattern).size_limit(size).build() {
                Ok(regex) => return Ok(Self { regex, per_byte: size >> 7 }),
                Err(Error::CompiledTooBig(_)) => {}
                Err(_) => return Err(format!("error parsing regexp: {pattern}")),
            }
        }
        share.fail(Spent::Work);
        Err(Spent::Work.to_string())
    }

    /// Whether the text matches; what is not looked at for want of budget does not.
    pub fn is_match(&self, text: &str, share: &Share) -> bool {
        self.look(text, share) && self.regex.is_match(text)
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t str, share: &Share) -> Option<Match<'t>> {
        if self.look(text, share) { self.regex.find(text) } else { None }
    }

    /// Every match, from left to right.
    pub fn find_all<'p>(&'p self, text: &'p str, share: &'p Share) -> impl Iterator<Item = Range<usize>> + 'p {
        self.captures(text, share).filter_map(|found| Some(found.get(0)?.range()))
    }

    /// Every match with its groups.
    pub fn captures<'p>(&'p self, text: &'p str, share: &'p Share) -> impl Iterator<Item = Captures<'p>> + 'p {
        let mut found = self.regex.captures_iter(text);
        let mut left = if self.look(text, share) { text.len() + 1 } else { 0 };
        std::iter::from_fn(move || {
            // A match may be sure only when the rest of the text was seen.
            let next = if share.work(left * self.per_byte / 32).is_ok() { found.next()? } else { return None };
            left = next.get(0).map_or(0, |all| text.len() - all.end() + 1);
            Some(next)
        })
    }

    fn look(&self, text: &str, share: &Share) -> bool {
        share.work(text.len().saturating_add(1).saturating_mul(self.per_byte)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_go() {
        let is = |pattern: &str, text: &str| {
            let share = Share::of(1, 1 << 20);
            Pattern::new(pattern, &share).expect(pattern).is_match(text, &share)
        };
        assert!(is(r"^[\w-\.]+$", "my-master.1") && !is(r"^[\w-\.]+$", "a b"));
        assert!(is("^[[&~]+$", "[&~") && !is("^[[&~]+$", "a"));
        assert!(is("^[[:alpha:]-_]+$", "a-_") && is("^[]a]+$", "]a") && is("^[^]a]$", "b"));
        assert!(is("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b9"));
        assert!(is(r"^[\w-]+$", "a-b") && is(r"^[\d-x]+$", "1-x") && is("^[+--]+$", "+,-") && is("^[a-z-9]+$", "b-9"));
        assert!(
            is(r"^[\s\S]$", "x") && is(r"^[^\W_]+$", "a1") && !is(r"^[^\W_]+$", "_") && is(r"^[\pL\p{N}-_]+$", "é1-_")
        );
        assert!(is(r"^[\x41-\x{43}\]\\^-]+$", r"ABC]\^-") && is(r"^\Qa.b\E\z", "a.b") && is(r"^\<\_\/$", "<_/"));
    }

    #[test]
    fn what_go_refuses_is_none() {
        for pattern in [r"[a-\d]", "[a", "a**", "(?x)a", r"[\z]"] {
            assert!(Pattern::new(pattern, &Share::of(1, 1 << 20)).is_err(), "{pattern}");
        }
    }
}
