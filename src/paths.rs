//! Paths as text: display paths have `/` on every system. Knows nothing of what stands at them.

/// Directory and name: `("a/b", "c")` of `a/b/c`; the directory is empty where the path has none.
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The directory that a path stands in; empty where it has none.
pub fn directory(path: &str) -> &str {
    split(path).0
}

/// A directory and those that it stands in, up to the empty one.
pub fn above(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |path| (!path.is_empty()).then(|| self::directory(path)))
}

/// The last part of a path.
pub fn name(path: &str) -> &str {
    split(path).1
}

/// Names of the file that a directory stands for where kustomize reads it.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether a path is that of a kustomization.
pub fn is_kustomization(path: &str) -> bool {
    KUSTOMIZATIONS.contains(&name(path))
}

/// The parts of a path, without empty ones and `.`.
pub fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !matches!(*part, "" | "."))
}

/// A path that is meant from a directory, with `.` and `..` resolved. What leads out of it begins with `..`.
pub fn join(directory: &str, path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for part in parts(directory).chain(parts(path)) {
        match (part, out.last()) {
            ("..", Some(last)) if *last != ".." => drop(out.pop()),
            _ => out.push(part),
        }
    }
    let root = if directory.starts_with('/') { "/" } else { "" };
    format!("{root}{}", out.join("/"))
}

/// As [`join`]; `None` where it leads out of what relative paths are seen from.
pub fn join_inside(directory: &str, path: &str) -> Option<String> {
    Some(join(directory, path)).filter(|path| parts(path).next() != Some(".."))
}

/// A directory as seen from another one; `.` when they are the same.
pub fn relative(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (parts(from).collect(), parts(to).collect());
    let shared = shared(&from, &to);
    let up = std::iter::repeat_n("..", from.len() - shared);
    let path = up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/");
    if path.is_empty() { ".".to_owned() } else { path }
}

/// Whether a path stands in a directory or below it; everything stands below the empty one.
pub fn holds(directory: &str, path: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// What goes with the nearest directory above a path, of some directories and what goes with each.
pub fn nearest<'d, T>(path: &str, all: impl Iterator<Item = (&'d str, T)>) -> Option<T> {
    all.filter(|(directory, _)| holds(directory, path)).max_by_key(|(directory, _)| directory.len()).map(|(_, it)| it)
}

/// The number of first parts that are the same.
pub fn shared(a: &[&str], b: &[&str]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_meant_from_a_directory() {
        for (directory, path, whole) in [
            ("", "a.env", "a.env"),
            ("k8s/base", "./files/a.conf", "k8s/base/files/a.conf"),
            ("k8s/base/", "a", "k8s/base/a"),
            ("k8s/overlays/x", "../../base/a", "k8s/base/a"),
            ("k8s", "../../a", "../a"),
            ("../k8s", "../a", "../a"),
            ("/srv/k8s", "../a", "/srv/a"),
        ] {
            assert_eq!(join(directory, path), whole, "{directory} {path}");
        }
        assert_eq!(join_inside("k8s", "../../a"), None);
        assert_eq!(join_inside("k8s", "../a").as_deref(), Some("a"));
    }

    #[test]
    fn a_directory_is_seen_from_another() {
        assert_eq!(relative("a/b", "a/c/d"), "../c/d");
        assert_eq!(relative("a", "a"), ".");
        assert_eq!(relative("", "a"), "a");
    }
}
