//! Blocks of Terraform: what is written as a block and what as an argument, what only a provider decides, and which releases of a
//! provider its constraints allow.

use super::Judged;
use super::pack::{Node, Project, flags, types};
use crate::budget::{Share, Spent};
use crate::facts::{BreachClass as Class, ProviderRequirement};
use crate::parse::{Node as Written, Shape, View};
use crate::source::Span;
use crate::version::Version;

/// Holds a resource against what its provider publishes of its type. A breach is one of every release that may be installed, of
/// those that were read.
///
/// # Errors
/// The share is spent.
pub fn judge(
    body: View<'_>,
    kind: &str,
    required: &[ProviderRequirement],
    share: &Share,
) -> Result<Option<Judged>, Spent> {
    super::in_all(body, ("", kind), (&|provider| releases(provider, kind, required), true), share)
}

/// The places of the releases of a provider that its constraints allow; where they allow none that was read, those before and
/// behind. Nothing where it is another provider, or one that was not read.
fn releases(provider: &Project<'_>, kind: &str, required: &[ProviderRequirement]) -> Option<Vec<u16>> {
    let own = |one: &&ProviderRequirement| provider.charts.contains(&one.address.as_str());
    let prefix = kind.split('_').next()?;
    if required.iter().any(|one| one.name == prefix && !own(&one)) {
        return None;
    }
    let read: Vec<Version> = provider.releases.iter().filter_map(|text| Version::parse(text)).collect();
    let bounds: Vec<Bound> =
        required.iter().filter(own).map(|one| bounds(&one.versions)).collect::<Option<Vec<_>>>()?.concat();
    let mut allowed: Vec<usize> =
        (0..read.len()).filter(|at| bounds.iter().all(|bound| bound.allows(&read[*at]))).collect();
    let above = bounds.iter().filter_map(Bound::end).min();
    match (&above, allowed.is_empty()) {
        // What is new in releases that were not read is in the one behind them; the last one of a major release was read.
        (Some(end), false) if end.release()[1..].iter().any(|part| *part != 0) => {
            allowed.extend(read.iter().position(|release| release >= end));
        }
        (Some(end), true) => {
            let behind = read.iter().position(|release| release >= end)?;
            allowed.extend([behind.checked_sub(1)?, behind]);
        }
        (None, true) => return None,
        _ => {}
    }
    allowed.dedup();
    Some(allowed.into_iter().map(|at| at as u16).collect())
}

/// One part of a constraint.
#[derive(Debug, Clone)]
struct Bound {
    sign: &'static str,
    version: Version,
}

/// The parts of a constraint; nothing where one is not understood.
fn bounds(text: &str) -> Option<Vec<Bound>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let bound = |part: &str| {
        let sign = ["~>", ">=", "<=", "!=", ">", "<", "="].into_iter().find(|sign| part.starts_with(sign));
        let version = Version::parse(part.trim_start_matches(sign.unwrap_or_default()).trim())?;
        Some(Bound { sign: sign.unwrap_or("="), version })
    };
    parts.map(bound).collect()
}

impl Bound {
    fn allows(&self, release: &Version) -> bool {
        match self.sign {
            "~>" => {
                let fixed = self.version.release().len() - 1;
                *release >= self.version && release.release().iter().take(fixed).eq(&self.version.release()[..fixed])
            }
            ">=" => *release >= self.version,
            ">" => *release > self.version,
            "<=" => *release <= self.version,
            "<" => *release < self.version,
            "!=" => *release != self.version,
            _ => *release == self.version,
        }
    }

    /// What is allowed ends here, or before.
    fn end(&self) -> Option<Version> {
        match (self.sign, self.version.release()) {
            ("~>", [fixed @ .., last, _]) => {
                let parts: Vec<String> = fixed.iter().chain([&(last + 1)]).map(u64::to_string).collect();
                Version::parse(&parts.join("."))
            }
            ("<" | "<=" | "=", _) => Some(self.version.clone()),
            _ => None,
        }
    }
}

/// Whether an entry is written as blocks: these have no value of their own, so their place is their name.
fn is_blocks(key: Written<'_>, value: Written<'_>) -> bool {
    key.span() == value.span() && value.items().all(|item| item.is_unknown() || matches!(item.kind(), Shape::Map(_)))
}

/// How an entry is written.
pub fn word(body: View<'_>, key: &str) -> &'static str {
    let entry = body.node().and_then(|node| node.entry(key));
    if entry.is_some_and(|(own, value)| is_blocks(own, value)) { "block" } else { "argument" }
}

/// What is wrong with what an entry is, whatever its value; its name.
pub fn misplaced(body: View<'_>, key: &str, schema: &Node<'_>, path: &str) -> Option<(Span, Class, String)> {
    let (own, value) = body.node()?.entry(key)?;
    // No block may be made of a `dynamic` one.
    let none = matches!(value.kind(), Shape::Seq(_)) && value.width() == 0;
    if none || value.is_null() || value.is_unknown() && !schema.has(flags::COMPUTED) {
        return None;
    }
    if schema.has(flags::COMPUTED) {
        let says = format!("{path} is what the provider decides, and cannot be set");
        return Some((own.span(), Class::ValueNotAllowed, says));
    }
    let says = match is_blocks(own, value) {
        true if schema.has(flags::ARGUMENT) => {
            let shape = if schema.types & types::ARRAY != 0 { "[…]" } else { "…" };
            format!("{path} is an argument, and no block: {key} = {shape}")
        }
        false if schema.has(flags::BLOCK) => {
            format!("{path} is a block, and no argument: {key} {{ … }}")
        }
        _ => return None,
    };
    Some((own.span(), Class::UnknownField, says))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(versions: &str) -> Option<Vec<&'static str>> {
        let provider = Project {
            name: "hashicorp/aws",
            source: "",
            releases: vec!["4.15.1", "4.67.0", "5.0.0", "5.50.0", "5.100.0", "6.0.0"],
            charts: vec!["hashicorp/aws"],
            is_core: false,
        };
        let required =
            [ProviderRequirement { name: "aws".into(), address: "hashicorp/aws".into(), versions: versions.into() }];
        let found = releases(&provider, "aws_instance", &required)?;
        Some(found.into_iter().map(|at| provider.releases[at as usize]).collect())
    }

    #[test]
    fn constraints_choose_the_releases_that_were_read() {
        for (versions, expected) in [
            ("", vec!["4.15.1", "4.67.0", "5.0.0", "5.50.0", "5.100.0", "6.0.0"]),
            (">= 5.0", vec!["5.0.0", "5.50.0", "5.100.0", "6.0.0"]),
            ("~> 5.0", vec!["5.0.0", "5.50.0", "5.100.0"]),
            ("~> 5", vec!["5.0.0", "5.50.0", "5.100.0", "6.0.0"]),
            (">= 4.66, < 5.0", vec!["4.67.0"]),
            ("5.50.0", vec!["5.50.0"]),
            // What was added between two releases stands in the later one.
            ("= 5.31.0", vec!["5.0.0", "5.50.0"]),
            ("~> 5.31.0", vec!["5.0.0", "5.50.0"]),
            ("<= 5.60", vec!["4.15.1", "4.67.0", "5.0.0", "5.50.0", "5.100.0"]),
        ] {
            assert_eq!(allowed(versions).as_deref(), Some(&*expected), "{versions}");
        }
    }

    #[test]
    fn releases_that_were_not_read_say_nothing() {
        for versions in ["~> 3.0", "= 4.0.0", ">= 6.1", "6.12.0", "latest"] {
            assert_eq!(allowed(versions), None, "{versions}");
        }
    }

    #[test]
    fn another_provider_of_the_same_name_is_not_judged() {
        let required =
            [ProviderRequirement { name: "aws".into(), address: "example/aws".into(), versions: String::new() }];
        let provider =
            Project { name: "", source: "", releases: vec!["5.0.0"], charts: vec!["hashicorp/aws"], is_core: false };
        assert_eq!(releases(&provider, "aws_instance", &required), None);
    }
}
