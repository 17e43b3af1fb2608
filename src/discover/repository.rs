//! Where repositories begin: at a Git work tree, or else at a path that was given. Knows directories, not contents.

use super::Found;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the repository of a given path starts unless Git says otherwise: a directory is one by itself, and files are
/// picked from the working directory.
pub(super) fn start(given: &Path, cwd: &Path) -> PathBuf {
    let given = canonical(given);
    let cwd = canonical(cwd);
    match given.is_dir() {
        true => given,
        false if given.starts_with(&cwd) => cwd,
        false => given.parent().map_or_else(|| cwd.clone(), Path::to_owned),
    }
}

/// Tells every file its repository. Of paths that hold each other the outermost counts.
pub(super) fn tell(found: &mut [Found], starts: &[PathBuf]) {
    let mut known: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for file in found {
        let Some(directory) = file.disk.parent() else { continue };
        if !known.contains_key(directory) {
            known.insert(directory.to_owned(), repository(&canonical(directory), starts));
        }
        file.repository = known.get(directory).cloned().unwrap_or_default();
    }
}

/// The Git work tree around a directory.
pub(super) fn work_tree(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|above| above.join(".git").exists())
}

fn repository(directory: &Path, starts: &[PathBuf]) -> PathBuf {
    let tree = work_tree(directory);
    let given =
        || starts.iter().filter(|start| directory.starts_with(start)).min_by_key(|start| start.components().count());
    tree.map(Path::to_owned).or_else(|| given().cloned()).unwrap_or_else(|| directory.to_owned())
}

/// A path without links and `..`.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
