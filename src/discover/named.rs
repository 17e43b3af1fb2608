//! Files that others name: what generators of kustomizations and services of Compose take their data from may be
//! called anything. Knows where such names are written, not what for.

use super::{Found, Kind, MAX_BYTES};
use crate::paths;
use std::collections::BTreeSet;

/// Paths that kustomizations with generators name, and the variables of Compose projects: every word, taken for a path.
pub(super) fn paths(found: &[Found]) -> BTreeSet<String> {
    let read = |found: &Found| {
        let (directory, name) = paths::split(&found.path);
        let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(name);
        let compose = found.kind == Kind::Yaml && name.contains("compose");
        let sign = if compose { "env_file" } else { "Generator:" };
        let named = compose || stem.eq_ignore_ascii_case("kustomization");
        let text = named.then(|| found.read(MAX_BYTES).ok())??;
        let words = text.split(|c: char| c.is_whitespace() || "\"'=,[]{}".contains(c));
        let words = words.filter(|word| text.contains(sign) && !word.is_empty());
        let named = words.chain(compose.then_some(".env")).map(|word| paths::join(directory, word));
        Some(named.collect::<Vec<_>>())
    };
    found.iter().filter_map(read).flatten().collect()
}
