//! Ignore files: which paths a repository itself leaves out, from its root downwards. Knows how their lines are weighed;
//! what a line says is known to the `ignore` crate.

use super::Reason;
use super::gate::{self, Gate, MAX_SETTINGS};
use super::repository::work_tree;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Ignore files of a directory, those first that others give way to.
const FILES: [&str; 4] = [".gpulintignore", ".ignore", ".gitignore", ".git/info/exclude"];

/// Bytes of ignore files that one walk reads: a line can cost as much as a thousand others.
const MAX_IGNORED: u64 = 512 << 10;

/// Those from here on are Git's: they end at the root of a work tree.
const OF_GIT: usize = 2;

/// What the directories on the way to one say, from the root of the repository on.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    /// The root of the repository.
    top: PathBuf,
    levels: Vec<Level>,
    /// Bytes that may still be read.
    left: u64,
    /// Ignore files that were not read, with the reason.
    pub unread: Vec<(PathBuf, Reason)>,
    /// What was read.
    pub lines: BTreeSet<String>,
}

/// The ignore files of one directory.
#[derive(Debug)]
struct Level {
    said: [Gitignore; FILES.len()],
    /// Whether it is the root of a work tree.
    root: bool,
}

impl Ignored {
    /// What holds in a directory (without links) because of those above it, down from the root of its repository: nothing
    /// above that is any of its business.
    pub fn above(directory: &Path) -> Self {
        let top = work_tree(directory).unwrap_or(directory);
        let mut out = Self {
            top: top.to_owned(),
            levels: Vec::new(),
            left: MAX_IGNORED,
            unread: Vec::new(),
            lines: BTreeSet::new(),
        };
        let mut above: Vec<&Path> = directory.ancestors().skip(1).take_while(|above| above.starts_with(top)).collect();
        above.reverse();
        above.into_iter().for_each(|directory| out.enter(directory));
        out
    }

    /// How many directories were entered.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Leaves directories until so many are left.
    pub fn leave(&mut self, depth: usize) {
        self.levels.truncate(depth);
    }

    /// Reads what a directory says of what is in it.
    pub fn enter(&mut self, directory: &Path) {
        let said = FILES.map(|name| self.read(directory, name).unwrap_or_else(Gitignore::empty));
        self.levels.push(Level { said, root: directory.join(".git").exists() });
    }

    fn read(&mut self, directory: &Path, name: &str) -> Option<Gitignore> {
        let path = directory.join(name);
        path.symlink_metadata().ok()?;
        // A link may lead to another file of the repository, and nothing but a regular file is opened.
        let bytes = Gate::new(&self.top, &[])
            .admit(&path)
            .and_then(|to| gate::bytes(gate::open(&to)?, MAX_SETTINGS.min(self.left)));
        let bytes = match bytes {
            Ok(bytes) => {
                self.left -= bytes.len() as u64;
                bytes
            }
            Err(reason) => {
                self.unread.push((path, reason));
                return None;
            }
        };
        let mut lines = GitignoreBuilder::new(directory);
        for line in String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').lines() {
            // A bad line is passed over, as Git does.
            let _ = lines.add_line(None, line);
            self.lines.insert(line.trim().to_owned());
        }
        lines.build().ok()
    }

    /// The ignore file that leaves a path out, if one does. The deepest directory speaks first.
    pub fn by(&self, path: &Path, is_dir: bool) -> Option<&'static str> {
        FILES.iter().enumerate().find_map(|(i, name)| {
            for level in self.levels.iter().rev() {
                match level.said[i].matched(path, is_dir) {
                    Match::None if i >= OF_GIT && level.root => return None,
                    Match::None => {}
                    Match::Ignore(_) => return Some(Some(*name)),
                    Match::Whitelist(_) => return Some(None),
                }
            }
            None
        })?
    }
}
