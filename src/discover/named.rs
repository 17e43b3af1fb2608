//! Files that others name: what generators of kustomizations and services of Compose take their data from may be
//! called anything. Knows where such names are written, not what for.

use super::{Found, Kind, MAX_BYTES, kind_of};
use crate::paths;
use std::collections::BTreeSet;

/// Those of the files without a kind that kustomizations with generators name, and the variables of Compose projects: every
/// word is taken for a path.
pub(super) fn paths(found: &[Found]) -> BTreeSet<String> {
    let files: BTreeSet<&str> =
        found.iter().map(|found| found.path.as_str()).filter(|path| kind_of(path).is_none()).collect();
    let mut out = BTreeSet::new();
    for found in found {
        let (directory, name) = paths::split(&found.path);
        let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(name);
        let compose = found.kind == Kind::Yaml && name.contains("compose");
        let sign = if compose { "env_file" } else { "Generator:" };
        if !compose && !stem.eq_ignore_ascii_case("kustomization") {
            continue;
        }
        let Ok(text) = found.read(MAX_BYTES) else { continue };
        let names = text.contains(sign);
        let words = text.split(|c: char| c.is_whitespace() || "\"'=,[]{}".contains(c));
        let words = words.filter(|word| names && !word.is_empty());
        let named = words.chain(compose.then_some(".env")).map(|word| paths::join(directory, word));
        out.extend(named.filter(|path| files.contains(path.as_str())));
    }
    out
}
