//! Files that others name: what generators of kustomizations and services of Compose take their data from may be
//! called anything. Knows where such names are written, not what for.

use super::{Found, Kind, MAX_BYTES};
use std::collections::BTreeSet;

/// Paths that kustomizations with generators name, and the variables of Compose projects: every word, taken for a path.
pub(super) fn paths(found: &[Found]) -> BTreeSet<String> {
    let read = |found: &Found| {
        let (directory, name) = found.path.rsplit_once('/').unwrap_or(("", &found.path));
        let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(name);
        let compose = found.kind == Kind::Yaml && name.contains("compose");
        let sign = if compose { "env_file" } else { "Generator:" };
        let named = compose || stem.eq_ignore_ascii_case("kustomization");
        let text = named.then(|| found.read(MAX_BYTES).ok())??;
        let words = text.split(|c: char| c.is_whitespace() || "\"'=,[]{}".contains(c));
        let words = words.filter(|word| text.contains(sign) && !word.is_empty());
        let paths = words.chain(compose.then_some(".env")).map(|word| below(directory, word));
        Some(paths.collect::<Vec<_>>())
    };
    found.iter().filter_map(read).flatten().collect()
}

/// A path that is meant from a directory.
fn below(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let root = if directory.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn paths_are_meant_from_the_directory() {
        for (directory, path, whole) in [
            ("", "a.env", "a.env"),
            ("k8s/base", "./files/a.conf", "k8s/base/files/a.conf"),
            ("k8s/overlays/x", "../../base/a", "k8s/base/a"),
            ("k8s", "../../a", "../a"),
            ("../k8s", "../a", "../a"),
            ("/srv/k8s", "../a", "/srv/a"),
        ] {
            assert_eq!(below(directory, path), whole, "{directory} {path}");
        }
    }
}
