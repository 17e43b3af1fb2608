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

/// An expression of Go in the syntax of this library. In a class of Go `[`, `&` and `~` stand for themselves, and so does a `-`
/// behind `\w`. https://github.com/google/re2/wiki/Syntax
fn of_go(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.char_indices().peekable();
    // The letters of a class that were read; one that is first may be `]`.
    let mut class: Option<usize> = None;
    let mut behind_set = false;
    while let Some((at, c)) = chars.next() {
        let was_behind = std::mem::take(&mut behind_set);
        match (c, class) {
            ('\\', _) => {
                out.push(c);
                if let Some((_, escaped)) = chars.next() {
                    out.push(escaped);
                    behind_set = class.is_some() && "wWdDsS".contains(escaped);
                }
                class = class.map(|read| read + 1);
            }
            ('[', None) => {
                out.push(c);
                if chars.next_if(|(_, next)| *next == '^').is_some() {
                    out.push('^');
                }
                class = Some(0);
            }
            (']', Some(read)) if read > 0 => {
                out.push(c);
                class = None;
            }
            ('[', Some(read)) if pattern[at..].starts_with("[:") && pattern[at..].contains(":]") => {
                let end = at + pattern[at..].find(":]").map_or(1, |end| end + 2);
                out.push_str(&pattern[at..end]);
                while chars.next_if(|(next, _)| *next < end).is_some() {}
                (behind_set, class) = (true, Some(read + 1));
            }
            ('[' | '&' | '~', Some(read)) => {
                out.extend(['\\', c]);
                class = Some(read + 1);
            }
            ('-', Some(read)) if was_behind && chars.peek().is_some_and(|(_, next)| *next != ']') => {
                out.push_str("\\-");
                class = Some(read + 1);
            }
            _ => {
                out.push(c);
                class = class.map(|read| read + 1);
            }
        }
    }
    out
}

impl Pattern {
    /// Reads an expression.
    ///
    /// # Errors
    /// It is none. What is too large to be compiled spends the share.
    pub fn new(pattern: &str, share: &Share) -> Result<Self, String> {
        // Few letters may name thousands of characters, each time anew.
        let read = share.work(pattern.len().saturating_mul(pattern.len().max(32)));
        read.map_err(|spent| spent.to_string())?;
        let pattern = &of_go(pattern);
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
    }
}
