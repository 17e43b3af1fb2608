//! Ranges of versions as bounds: whether some version can lie in two of them.

use crate::version::Version;
use std::cmp::Ordering;

/// The least and the most that a range of versions allows; what it leaves out between them does not matter here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    least: Option<Bound>,
    most: Option<Bound>,
}

/// A version, and whether it belongs to the range itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    version: Version,
    included: bool,
}

impl Bounds {
    /// The bounds of a range as pip writes it, commas or blanks between its clauses; `None` for one that pip does not take,
    /// or that asks for a release which is not final.
    pub fn of(range: &str) -> Option<Self> {
        let mut out = Self { least: None, most: None };
        // `>= 2.1` is one clause.
        let joined = range.replace("= ", "=").replace("> ", ">").replace("< ", "<");
        for clause in joined.split([' ', ',']).filter(|clause| !clause.is_empty()) {
            let text = clause.trim_start_matches(['<', '>', '=', '!', '~']);
            let operator = &clause[..clause.len() - text.len()];
            let whole = text.strip_suffix(".*");
            let version = plain(whole.unwrap_or(text))?;
            let bound = |version, included| Some(Bound { version, included });
            let (least, most) = match (operator, whole) {
                ("" | "=" | "==", None) => (bound(version.clone(), true), bound(version, true)),
                ("==", Some(_)) => (bound(version.clone(), true), bound(behind(&version, 0)?, false)),
                ("~=", None) => (bound(version.clone(), true), bound(behind(&version, 1)?, false)),
                (">=", None) => (bound(version, true), None),
                (">", None) => (bound(version, false), None),
                ("<=", None) => (None, bound(version, true)),
                ("<", None) => (None, bound(version, false)),
                ("!=", _) => (None, None),
                _ => return None,
            };
            out.least = stricter(out.least, least, Ordering::Greater);
            out.most = stricter(out.most, most, Ordering::Less);
        }
        Some(out)
    }

    /// Whether no version lies in both.
    pub fn excludes(&self, other: &Self) -> bool {
        let above = |one: &Self, other: &Self| match (&one.least, &other.most) {
            (Some(least), Some(most)) => match least.version.cmp(&most.version) {
                Ordering::Greater => true,
                Ordering::Equal => !(least.included && most.included),
                Ordering::Less => false,
            },
            _ => false,
        };
        above(self, other) || above(other, self)
    }

    /// Whether it keeps newer versions out.
    pub fn caps(&self) -> bool {
        self.most.is_some()
    }

    /// Whether it begins higher than another one.
    pub fn begins_above(&self, other: &Self) -> bool {
        stricter(other.least.clone(), self.least.clone(), Ordering::Greater) != other.least
    }

    /// Whether it ends lower than another one.
    pub fn ends_below(&self, other: &Self) -> bool {
        stricter(other.most.clone(), self.most.clone(), Ordering::Less) != other.most
    }
}

/// The stricter one of two bounds, the first where they are alike.
fn stricter(one: Option<Bound>, other: Option<Bound>, wanted: Ordering) -> Option<Bound> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let order = other.version.cmp(&one.version);
            let takes = order == wanted || order == Ordering::Equal && one.included && !other.included;
            Some(if takes { other } else { one })
        }
        (one, other) => one.or(other),
    }
}

/// A version of numbers, perhaps with `.post1` or a local part.
fn plain(text: &str) -> Option<Version> {
    let body = text.split('+').next().unwrap_or(text);
    let suffix = body.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let post = suffix.strip_prefix("post").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    Version::parse(text).filter(|_| suffix.is_empty() || post)
}

/// The first release behind all that begin with a version, without its last `without` numbers.
fn behind(version: &Version, without: usize) -> Option<Version> {
    let release = version.release();
    let (last, rest) = release[..release.len().checked_sub(without)?].split_last()?;
    let numbers: Vec<String> = rest.iter().chain([&last.checked_add(1)?]).map(u64::to_string).collect();
    Version::parse(&numbers.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excludes(one: &str, other: &str) -> bool {
        Bounds::of(one).expect(one).excludes(&Bounds::of(other).expect(other))
    }

    #[test]
    fn ranges_that_no_version_lies_in() {
        for (one, other) in [
            ("==2.4.0", "==2.2.0"),
            ("<2", ">=2.0"),
            (">2.0", "<=2.0"),
            ("==2.4.*", "==2.5.1"),
            ("~=2.1.3", ">=2.2"),
            (">= 0.20, <0.21", ">=0.21"),
            ("==1.0.post1", "<=1.0"),
        ] {
            assert!(excludes(one, other) && excludes(other, one), "{one} and {other}");
        }
        for (one, other) in [
            ("==2.4.0+cu121", "==2.4.0"),
            ("==2.4", "==2.4.0"),
            ("~=2.1", "==2.9"),
            ("!=2.0", "==2.0"),
            ("", "==1"),
            (">=1,<3", ">=2"),
        ] {
            assert!(!excludes(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn what_pip_does_not_take_has_no_bounds() {
        for range in ["^2.1", "==2.x", "==1!2.0", "===2.0", ">=2.0rc1", "==$VERSION", "*", "~=2", "==2.4.0 ; a"] {
            assert_eq!(Bounds::of(range), None, "{range}");
        }
    }
}
