//! The walk through directories: what is entered, what is found, and what is left out by whom. Knows names and links, not
//! contents.

use super::ignored::Ignored;
use super::repository::work_tree;
use super::{Discovery, Exclude, Options, Reason, kind_of, shown};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Linked directories that one run enters: links can multiply paths without ever forming a loop.
pub(super) const MAX_LINKED_DIRECTORIES: usize = 4_096;

/// Directories that hold what tools wrote or fetched.
const TOOL_DIRECTORIES: &[&str] = &[
    ".git",
    ".hg",
    ".idea",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".terragrunt-cache",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "node_modules",
    "site-packages",
];

/// The one that cannot be part of what is committed.
const OF_GIT: &str = ".git";

/// Directories of inputs of tests: as Go's tools pass over the first, and as tests of Terraform call them.
const TEST_DATA: &[&str] = &["testdata", "test-fixtures"];

/// Directories that by their name hold what is kept for history, also behind a dot or an underscore.
const SET_ASIDE: &[&str] =
    &["archive", "archived", "attic", "deprecated", "disabled", "graveyard", "obsolete", "old", "retired", "unused"];

/// Words at the start or the end of names of files that are kept for history.
const OLD: &[&str] = &["archived", "deprecated", "obsolete", "old", "retired"];

/// A walk through some directories.
pub(super) struct Walk<'a> {
    pub options: &'a Options,
    pub exclude: &'a Exclude,
    /// Without links: links may lead to what is in them.
    pub roots: Vec<PathBuf>,
    /// Linked directories that were entered.
    pub linked: usize,
}

/// A directory on the way.
struct Level {
    /// Without links.
    real: PathBuf,
    /// Whether a link led here.
    linked: bool,
}

impl Walk<'_> {
    /// Finds the files below a directory.
    pub fn walk(&mut self, root: &Path, out: &mut Discovery) {
        let Ok(real) = root.canonicalize() else { return };
        let mut ignored = Ignored::above(&real);
        if work_tree(&real).is_none_or(|tree| tree == real) {
            out.seen.roots.insert(shown(root, &self.options.root));
        }
        let above = ignored.depth();
        let mut way = Vec::new();
        let mut entries = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.failed(&error, out);
                    continue;
                }
            };
            let depth = entry.depth();
            way.truncate(depth);
            ignored.leave(above + depth);
            let here = Level {
                real: match way.last() {
                    None => real.clone(),
                    Some(_) if entry.path_is_symlink() => entry.path().canonicalize().unwrap_or_default(),
                    Some(Level { real, .. }) => real.join(entry.file_name()),
                },
                linked: entry.path_is_symlink() || way.last().is_some_and(|level| level.linked),
            };
            let is_dir = entry.file_type().is_dir();
            // What is walked as it was given is matched as it lies below the root of its repository.
            let matched = real.join(entry.path().strip_prefix(root).unwrap_or(entry.path()));
            let by = ignored.by(&matched, is_dir).filter(|_| !self.options.no_ignore);
            if depth > 0 && !self.lets(&entry, &here, by, out) {
                out.see(entry.path(), &self.options.root, |seen| &mut seen.closed);
                if is_dir {
                    entries.skip_current_dir();
                }
                continue;
            }
            out.see(entry.path(), &self.options.root, |seen| &mut seen.there);
            if is_dir {
                ignored.enter(&matched);
                way.push(here);
            } else if self.options.is_own(entry.path()) {
            } else if entry.file_type().is_file() {
                out.file(entry.into_path(), here.linked.then_some(here.real), &self.options.root, false);
            } else if kind_of(&shown(entry.path(), &self.options.root)).is_some() {
                out.skip(entry.path(), &self.options.root, Reason::Unreadable("not a regular file".into()));
            }
        }
        out.seen.ignored.append(&mut ignored.lines);
        for (path, reason) in ignored.unread.into_iter().filter(|_| !self.options.no_ignore) {
            let path = path.strip_prefix(&real).map_or(path.clone(), |below| root.join(below));
            out.skip(&path, &self.options.root, reason);
        }
    }

    /// Whether an entry is entered or yielded; if not, that is counted or told.
    fn lets(&mut self, entry: &DirEntry, here: &Level, ignored: Option<&'static str>, out: &mut Discovery) -> bool {
        let (path, is_dir) = (entry.path(), entry.file_type().is_dir());
        let root = &self.options.root;
        let counts = is_dir || kind_of(&shown(path, root)).is_some();
        let excluded = ignored.or_else(|| {
            if is_dir && is_tool_directory(path) && !is_rendered(path) {
                return Some(if entry.file_name() == OF_GIT { "" } else { TOOL_DIRECTORY });
            }
            self.exclude.holds(path, is_dir).then_some(EXCLUDE)
        });
        if let Some(by) = excluded {
            if counts && !by.is_empty() {
                out.exclude(by);
            }
            return false;
        }
        let aside = if is_dir { is_set_aside(path) } else { counts && is_old(path) };
        if aside && !is_rendered(path) {
            out.skip(path, root, Reason::SetAside);
            return false;
        }
        if !entry.path_is_symlink() {
            return true;
        }
        if !self.roots.iter().any(|walked| here.real.starts_with(walked)) {
            if counts {
                out.skip(path, root, Reason::OutsideRoots);
            }
            return false;
        }
        self.linked += usize::from(is_dir);
        if self.linked > MAX_LINKED_DIRECTORIES {
            out.skip(path, root, Reason::TooManyLinks);
            return false;
        }
        true
    }

    fn failed(&self, error: &walkdir::Error, out: &mut Discovery) {
        let Some(path) = error.path() else { return };
        let root = &self.options.root;
        out.see(path, root, |seen| &mut seen.closed);
        match error.io_error() {
            _ if error.loop_ancestor().is_some() => out.skip(path, root, Reason::Loop),
            // A dangling link says something only where its name would have been linted.
            Some(io) if io.kind() == ErrorKind::NotFound && kind_of(&shown(path, root)).is_none() => {}
            Some(io) if io.kind() == ErrorKind::NotFound => out.skip(path, root, Reason::Dangling),
            Some(io) => out.skip(path, root, Reason::Unreadable(io.to_string())),
            None => {}
        }
    }
}

/// Files of some names below a directory, found as by a walk that follows no link.
pub(super) fn named(names: &[&str], below: &Path, no_ignore: bool) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let Ok(real) = below.canonicalize() else { return out };
    let mut ignored = Ignored::above(&real);
    let above = ignored.depth();
    let mut entries = WalkDir::new(&real).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let Ok(entry) = entry else { continue };
        let path = entry.path();
        if !entry.file_type().is_dir() {
            let is_named = names.iter().any(|name| entry.file_name() == *name);
            out.extend(is_named.then(|| below.join(path.strip_prefix(&real).unwrap_or(path))));
            continue;
        }
        ignored.leave(above + entry.depth());
        let left_out = || !no_ignore && ignored.by(path, true).is_some();
        if entry.depth() > 0 && (is_tool_directory(path) || is_set_aside(path) || left_out()) {
            entries.skip_current_dir();
        } else {
            ignored.enter(path);
        }
    }
    out.sort_by_key(|path| path.components().count());
    out
}

/// What left a path out, as the summary counts it, beside the names of ignore files.
pub(super) const EXCLUDE: &str = "exclude";
const TOOL_DIRECTORY: &str = "directory of a tool";
pub(super) const TOOL_FILE: &str = "file of a tool";
pub(super) const COPY: &str = "copy, patch or encrypted file";
/// A further name of a file that is read under another one.
pub(super) const REPETITION: &str = "link to what is read already";

fn is_tool_directory(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    TOOL_DIRECTORIES.iter().any(|tool| name == *tool)
        // Go's vendored modules; any other `vendor` may be what is deployed.
        || name == "vendor" && path.join("modules.txt").exists()
}

/// Whether Helm renders what lies there, whatever the directory is called.
fn is_rendered(path: &Path) -> bool {
    let chart =
        |at: &Path| at.file_name().is_some_and(|name| name == "templates") && at.with_file_name("Chart.yaml").is_file();
    path.file_name().is_some_and(|name| name != OF_GIT) && path.ancestors().skip(1).any(chart)
}

fn is_set_aside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let bare = name.strip_prefix(['.', '_']).unwrap_or(&name);
    TEST_DATA.contains(&&*name)
        || SET_ASIDE.contains(&bare)
        || name.starts_with("retired_")
        || name.starts_with("retired-")
}

fn is_old(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let words: Vec<&str> = stem.split(['.', '-', '_']).collect();
    let ends = [words.first(), words.last()];
    ends.into_iter().flatten().any(|word| OLD.contains(word))
}
