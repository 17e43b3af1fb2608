//! Semantic versions and constraints on them, as Masterminds/semver reads them.

use super::{Call, Function, Outcome, numbers};
use crate::render::class::Class;
use crate::render::gotemplate::print;
use crate::render::value::{Data, Map, Value};
use std::cmp::Ordering;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "semverCompare" => (compare, 2, 2),
        "semver" => (semver, 1, 1),
        _ => return None,
    })
}

fn compare(call: &Call<'_>) -> Outcome {
    let (constraint, text) = (call.str(0)?, call.str(1)?);
    let version = read(text)?;
    let allowed = allows(constraint, &version).ok_or_else(|| format!("improper constraint: {constraint}"))?;
    Ok(allowed.into())
}

fn read(text: &str) -> Result<Version, String> {
    Version::parse(text).ok_or_else(|| format!("Invalid Semantic Version: {text:?}"))
}

fn semver(call: &Call<'_>) -> Outcome {
    let text = call.str(0)?;
    let meta = text.split_once('+').map_or("", |(_, meta)| meta);
    Ok(object(&read(text)?, meta, call.args[0].clone()))
}

fn object(version: &Version, meta: &str, original: Value) -> Value {
    let [major, minor, patch] = version.numbers.map(|n| Value::from(Data::Int(n as i64, "uint64")));
    let (pre, meta) = (version.pre.as_str().into(), meta.into());
    let parts = [("Major", major), ("Minor", minor), ("Patch", patch), ("Prerelease", pre), ("Metadata", meta)];
    parts.into_iter().chain([("Original", original)]).collect::<Map>().as_class(Class::Version).into()
}

/// A version that was made an object, and what stands after its plus sign.
fn version(value: &Value) -> Option<(Version, String)> {
    let map = value.as_map().filter(|map| map.class() == Class::Version)?;
    let part = |name: &str| map.get(name).unwrap_or_default();
    let number = |name: &str| numbers::int(&part(name)) as u64;
    let text = |name: &str| part(name).as_str().unwrap_or_default().to_owned();
    let numbers = [number("Major"), number("Minor"), number("Patch")];
    Some((Version { numbers, pre: text("Prerelease") }, text("Metadata")))
}

/// Calls a method of a version, if there is such a one.
pub(super) fn method(receiver: &Value, call: &Call<'_>) -> Option<Outcome> {
    let (own, meta) = version(receiver)?;
    let with = |numbers: [u64; 3], pre: &str, meta: &str| {
        let version = Version { numbers, pre: pre.to_owned() };
        let full = print::text(&object(&version, meta, Value::NIL), call.share);
        object(&version, meta, full.into())
    };
    let [major, minor, patch] = own.numbers;
    let order = || {
        let other = call
            .args
            .first()
            .and_then(version)
            .ok_or_else(|| "wrong type for value; expected *semver.Version".to_owned())?;
        Ok::<_, String>(own.order(&other.0))
    };
    let given = || call.str(0).map(|text| text.trim_start_matches(['-', '+']).to_owned());
    let (wants, answer): (usize, Outcome) = match (call.name, call.args.len()) {
        ("Major" | "Minor" | "Patch" | "Prerelease" | "Metadata" | "Original", _) => {
            (0, Ok(receiver.as_map().and_then(|map| map.get(call.name)).unwrap_or_default()))
        }
        ("String", _) => (0, Ok(print::text(receiver, call.share).into())),
        ("IncPatch", _) => {
            let patch = if own.pre.is_empty() { patch.saturating_add(1) } else { patch };
            (0, Ok(with([major, minor, patch], "", "")))
        }
        ("IncMinor", _) => (0, Ok(with([major, minor.saturating_add(1), 0], "", ""))),
        ("IncMajor", _) => (0, Ok(with([major.saturating_add(1), 0, 0], "", ""))),
        ("SetPrerelease", 1) => (1, given().map(|pre| with(own.numbers, &pre, &meta))),
        ("SetMetadata", 1) => (1, given().map(|meta| with(own.numbers, &own.pre, &meta))),
        ("Compare", 1) => (1, order().map(|order| (order as i64).into())),
        ("LessThan", 1) => (1, order().map(|order| order.is_lt().into())),
        ("LessThanEqual", 1) => (1, order().map(|order| order.is_le().into())),
        ("GreaterThan", 1) => (1, order().map(|order| order.is_gt().into())),
        ("GreaterThanEqual", 1) => (1, order().map(|order| order.is_ge().into())),
        ("Equal", 1) => (1, order().map(|order| order.is_eq().into())),
        _ => return None,
    };
    let unknown = call.args.iter().find_map(Value::unknown).map(|why| Ok(why.into()));
    let wrong = || Err(format!("wrong number of args for {}: want {wants} got {}", call.name, call.args.len()));
    Some(unknown.unwrap_or_else(|| if call.args.len() == wants { answer } else { wrong() }))
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    numbers: [u64; 3],
    pre: String,
}

/// A version of which parts may be left open.
struct Partial {
    version: Version,
    /// How many numbers are given.
    given: usize,
    /// Whether a wildcard stands for one.
    open: bool,
}

impl Partial {
    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (numbers, pre) = text.split_once('-').unwrap_or((text, ""));
        let (mut out, mut given, mut open) = ([0; 3], 0, false);
        for (i, part) in numbers.split('.').enumerate() {
            match part {
                "x" | "X" | "*" => open = true,
                digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
                    *out.get_mut(i)? = digits.parse().ok()?;
                    if !open {
                        given = i + 1;
                    }
                }
                _ => return None,
            }
        }
        Some(Self { version: Version { numbers: out, pre: pre.to_owned() }, given, open })
    }
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        Partial::parse(text).filter(|p| p.given > 0 && !p.open).map(|p| p.version)
    }

    fn order(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => identifiers(&self.pre, &other.pre),
        })
    }
}

fn identifiers(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.split('.'), b.split('.'));
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Whether any of the alternatives between `||` holds; `None` when the text is no constraint.
fn allows(constraint: &str, version: &Version) -> Option<bool> {
    let mut any = false;
    for alternative in constraint.split("||") {
        let mut all = true;
        for (operator, bound) in terms(alternative)? {
            all &= holds(&operator, &Partial::parse(&bound)?, version);
        }
        any |= all;
    }
    Some(any)
}

/// Operators and versions; `a - b` is a range.
fn terms(text: &str) -> Option<Vec<(String, String)>> {
    let spaced = text.replace(',', " ");
    let mut out: Vec<(String, String)> = Vec::new();
    let mut operator = String::new();
    for word in spaced.split_whitespace() {
        if word == "-" && operator.is_empty() {
            out.last_mut()?.0 = ">=".to_owned();
            operator = "<=".to_owned();
            continue;
        }
        let at = word.find(|c: char| !"=!<>~^".contains(c)).unwrap_or(word.len());
        operator.push_str(&word[..at]);
        if at < word.len() {
            out.push((std::mem::take(&mut operator), word[at..].to_owned()));
        }
    }
    (operator.is_empty() && !out.is_empty()).then_some(out)
}

fn holds(operator: &str, bound: &Partial, version: &Version) -> bool {
    let order = version.order(&bound.version);
    // A version before a release is meant only by constraints that name one.
    if !version.pre.is_empty() && bound.version.pre.is_empty() && operator != "!=" {
        return false;
    }
    let same = |count: usize| version.numbers[..count] == bound.version.numbers[..count];
    match operator {
        "" | "=" if bound.given < 3 => same(bound.given),
        "" | "=" => order == Ordering::Equal,
        "!=" if bound.given < 3 => !same(bound.given),
        "!=" => order != Ordering::Equal,
        ">" if bound.given < 3 => order == Ordering::Greater && !same(bound.given),
        ">" => order == Ordering::Greater,
        "<" => order == Ordering::Less,
        ">=" | "=>" => order != Ordering::Less,
        "<=" | "=<" if bound.given < 3 => order == Ordering::Less || same(bound.given),
        "<=" | "=<" => order != Ordering::Greater,
        "~" | "~>" => order != Ordering::Less && same(bound.given.min(2)),
        "^" => {
            let numbers = bound.version.numbers;
            let leading = numbers.iter().position(|n| *n != 0).map_or(bound.given, |at| at + 1).min(bound.given);
            order != Ordering::Less && same(leading)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints() {
        for (constraint, version, allowed) in [
            (">=1.19-0", "v1.31.0", true),
            (">= 1.19-0", "v1.18.0", false),
            (">=1.21.0", "1.31.0-gke.100", false),
            (">=1.21-0", "v1.31.0-gke.100", true),
            ("<1.14-0", "1.13.5", true),
            (">=1.19-0 <1.22-0", "1.20.1", true),
            (">=1.19, <1.22", "1.22.0", false),
            ("1.2 - 1.4", "1.4.0", true),
            ("~1.2.3", "1.2.9", true),
            ("~1.2.3", "1.3.0", false),
            ("^1.2.3", "1.9.0", true),
            ("^0.2.3", "0.3.0", false),
            ("1.x", "1.9.0", true),
            ("*", "3.0.0", true),
            ("^1 || ^3", "3.1.4", true),
            ("!=1.2.3", "1.2.3", false),
            (">1", "1.5.0", false),
            ("<=1.2", "1.2.9", true),
        ] {
            let version = Version::parse(version).unwrap();
            assert_eq!(allows(constraint, &version), Some(allowed), "{constraint} {version:?}");
        }
        assert_eq!(allows("nonsense", &Version::parse("1").unwrap()), None);
        assert!(Version::parse("abc").is_none() && Version::parse("1.x").is_none());
        assert!(Version::parse("v1.2.3-beta.1+x").is_some());
    }
}
