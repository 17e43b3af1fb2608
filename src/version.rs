//! Versions as drivers, toolkits, images, charts and Python packages write them. Knows nothing else.

use std::cmp::Ordering;
use std::fmt;

/// A dotted version with an optional suffix, ordered as people expect: `12.4` = `12.4.0` < `12.4.1`,
/// `0.8.5rc1` < `0.8.5` < `0.8.5.post1`; a local part (`+cu121`) does not take part in the order.
#[derive(Debug, Clone)]
pub struct Version {
    text: Box<str>,
    release: Box<[u64]>,
    stage: Stage,
}

/// What follows the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// `.dev1`, `a1`, `b2`, `rc1`, `-rc.1`
    Pre(u8, u64),
    Final,
    Post(u64),
}

impl Version {
    /// Reads a version: an optional `v`, numbers separated by dots, then an optional suffix. `None` when
    /// there is no leading number.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let body = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let (body, _local) = body.split_once('+').unwrap_or((body, ""));
        let mut release = Vec::new();
        let mut rest = body;
        loop {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits == 0 {
                break;
            }
            release.push(rest[..digits].parse().ok()?);
            rest = &rest[digits..];
            match rest.strip_prefix('.') {
                Some(tail) if tail.starts_with(|c: char| c.is_ascii_digit()) => rest = tail,
                _ => break,
            }
        }
        if release.is_empty() {
            return None;
        }
        Some(Self { text: text.into(), release: release.into(), stage: stage(rest) })
    }

    /// The release that the tag of an image begins with, or the build that it ends with: `v0.9.1-cuda` is of 0.9.1,
    /// `server-cuda-b9279` of 9279. One number alone is none, and a build of a day is of what came after the release.
    pub fn of_tag(tag: &str) -> Option<Self> {
        // Values of charts state a digest behind it.
        let tag = tag.split('@').next()?;
        let is_day = |part: &str| part.len() == 8 && part.starts_with("20") && part.bytes().all(|b| b.is_ascii_digit());
        if tag.split('-').any(is_day) {
            return None;
        }
        let release = Self::parse(tag.split('-').next()?).filter(|version| version.release().len() > 1);
        let build = || tag.rsplit('-').next()?.strip_prefix('b').filter(|build| build.len() > 3).and_then(Self::parse);
        release.or_else(build)
    }

    /// The numbers, most significant first.
    pub fn release(&self) -> &[u64] {
        &self.release
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.release[0]
    }

    /// The second number; 0 when it is not written.
    pub fn minor(&self) -> u64 {
        self.release.get(1).copied().unwrap_or(0)
    }

    /// The local part after `+`, as in `2.1.0+cu121`.
    pub fn local(&self) -> Option<&str> {
        self.text.split_once('+').map(|(_, local)| local)
    }

    /// Whether a suffix marks it as a pre-release.
    pub fn is_prerelease(&self) -> bool {
        matches!(self.stage, Stage::Pre(..))
    }

    /// Whether it is a build of a day: `2.6.0.dev20241112`.
    pub fn is_nightly(&self) -> bool {
        matches!(self.stage, Stage::Pre(0, _))
    }

    /// Whether this version starts with the numbers of `prefix`: `12.4.1` starts with `12.4`.
    pub fn starts_with(&self, prefix: &Version) -> bool {
        self.release.starts_with(&prefix.release)
    }
}

/// Reads a suffix; an unknown one (`-py3`, `-ubuntu22.04`) is a build label, not an order.
fn stage(rest: &str) -> Stage {
    let rest = rest.trim_start_matches(['.', '-', '_']).to_ascii_lowercase();
    let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
    let number = || {
        let digits: String =
            rest[word.len()..].trim_start_matches(['.', '-']).chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    match word.as_str() {
        "dev" | "nightly" => Stage::Pre(0, number()),
        "a" | "alpha" => Stage::Pre(1, number()),
        "b" | "beta" => Stage::Pre(2, number()),
        "rc" | "c" | "pre" | "preview" => Stage::Pre(3, number()),
        "post" | "r" => Stage::Post(number()),
        _ => Stage::Final,
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let length = self.release.len().max(other.release.len());
        let part = |v: &Version, i: usize| v.release.get(i).copied().unwrap_or(0);
        (0..length)
            .map(|i| part(self, i).cmp(&part(other, i)))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
            .then(self.stage.cmp(&other.stage))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(text).unwrap_or_else(|| panic!("{text} is a version"))
    }

    #[test]
    fn orders_as_people_expect() {
        for pair in [
            "12.4 12.4.1",
            "0.8.5rc1 0.8.5",
            "0.8.5 0.8.5.post1",
            "v24.9.2 v25.3.0",
            "525.60.13 525.105.17",
            "2.9.0.dev20250101 2.9.0",
            "9.0 12.0",
            "1.17.7-ubuntu20.04 1.17.8",
        ] {
            let (low, high) = pair.split_once(' ').expect("two versions");
            assert!(v(low) < v(high), "{low} < {high}");
        }
        assert_eq!(v("12.4"), v("12.4.0"));
        assert_eq!(v("2.1.0+cu121"), v("2.1.0"));
        assert_eq!(v("2.1.0+cu121").local(), Some("cu121"));
        assert!(Version::parse("latest").is_none());
    }
}
