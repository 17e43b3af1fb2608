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

impl Pattern {
    /// Reads an expression.
    ///
    /// # Errors
    /// It is none. What is too large to be compiled spends the share.
    pub fn new(pattern: &str, share: &Share) -> Result<Self, String> {
        // Few letters may name thousands of characters, each time anew.
        let read = share.work(pattern.len().saturating_mul(pattern.len().max(32)));
        read.map_err(|spent| spent.to_string())?;
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
