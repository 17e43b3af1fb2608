//! What may be opened. A repository can hold links to anything on the machine that lints it, and can name anything: what
//! stands in one is read only where it leads nowhere else. Knows paths and kinds of files, not contents.

use super::Reason;
use super::repository::work_tree;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The largest configuration, rule, list of drivers or ignore file that is read.
pub const MAX_SETTINGS: u64 = 1 << 20;

/// Lets paths through that lead where they seem to lead.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The working directory, without links.
    cwd: PathBuf,
    /// Directories, without links, that are repositories where Git says nothing else.
    roots: Vec<PathBuf>,
}

impl Gate {
    /// The gate of a run in `cwd` over some paths. Where Git says nothing else, a directory among them is a repository, and
    /// so is the working directory.
    pub fn new(cwd: &Path, paths: &[PathBuf]) -> Self {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let directories = paths.iter().map(|path| canonical(&cwd.join(path))).filter(|path| path.is_dir());
        Self { cwd: canonical(cwd), roots: directories.collect() }
    }

    /// Where a path leads. A link that stands in a repository must not lead out of it; links elsewhere are those of whoever
    /// keeps the machine.
    ///
    /// # Errors
    /// A link that leads out or nowhere.
    pub fn admit(&self, path: &Path) -> Result<PathBuf, Reason> {
        self.follow(path, |home, to| if to.starts_with(home) { Ok(()) } else { Err(Reason::OutsideRoots) })
    }

    /// Where a path leads that something is to be written to: through no link of a repository.
    ///
    /// # Errors
    /// A link of a repository.
    pub fn admit_output(&self, path: &Path) -> Result<PathBuf, Reason> {
        self.follow(path, |_, _| Err(Reason::Link))
    }

    /// Follows the links of a path; those that stand in a repository only where they are let through.
    fn follow(&self, path: &Path, lets: impl Fn(&Path, &Path) -> Result<(), Reason>) -> Result<PathBuf, Reason> {
        let mut at = PathBuf::new();
        for part in self.cwd.join(path).components() {
            match part {
                Component::CurDir => continue,
                // There is no link left in what was walked.
                Component::ParentDir => {
                    at.pop();
                    continue;
                }
                part => at.push(part),
            }
            if !fs::symlink_metadata(&at).is_ok_and(|meta| meta.file_type().is_symlink()) {
                continue;
            }
            let to = at.canonicalize();
            match at.parent().and_then(|directory| self.home(directory)) {
                Some(home) => lets(&home, to.as_ref().map_or(Path::new(""), PathBuf::as_path))?,
                // Pipes of the shell (`/dev/fd/63`) have no path.
                None if to.is_err() => return Ok(path.to_owned()),
                None => {}
            }
            at = to.map_err(|error| unreadable(&error))?;
        }
        Ok(at)
    }

    /// Where a path leads that a file in `base` (without links) names: nowhere out of the repository of that file. Nothing
    /// is said of what exists elsewhere.
    ///
    /// # Errors
    /// As for [`Gate::admit`], and a path that names another place.
    pub fn admit_below(&self, base: &Path, path: &str) -> Result<PathBuf, Reason> {
        let home = self.home(base).unwrap_or_else(|| base.to_owned());
        let mut named = PathBuf::new();
        for part in base.join(path).components() {
            match part {
                Component::ParentDir => drop(named.pop()),
                part => named.push(part),
            }
        }
        if !named.starts_with(&home) {
            return Err(Reason::OutsideRepository);
        }
        self.admit(&named).and_then(|to| if to.starts_with(&home) { Ok(to) } else { Err(Reason::OutsideRoots) })
    }

    /// The text of a file that somebody named. In a repository it must be a regular file; elsewhere it may be a pipe.
    ///
    /// # Errors
    /// As for [`Gate::admit`]; a file that cannot be read, is larger than `limit` bytes or not UTF-8.
    pub fn read(&self, path: &Path, limit: u64) -> Result<String, Reason> {
        text(self.open(path)?, limit)
    }

    /// As [`Gate::read`], of what may be no text.
    ///
    /// # Errors
    /// As for [`Gate::read`].
    pub fn read_bytes(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Reason> {
        bytes(self.open(path)?, limit)
    }

    fn open(&self, path: &Path) -> Result<File, Reason> {
        let to = self.admit(path)?;
        let pipes = to.parent().is_none_or(|directory| self.home(directory).is_none());
        if pipes { open_any(&to) } else { open(&to) }
    }

    /// The repository that a directory (without links) belongs to, if it belongs to one.
    pub fn home(&self, directory: &Path) -> Option<PathBuf> {
        let holds = |root: &&PathBuf| directory.starts_with(root);
        // Of directories that hold each other the outermost counts.
        let root = || self.roots.iter().filter(holds).min_by_key(|root| root.components().count());
        let root = || root().or_else(|| Some(&self.cwd).filter(holds)).map(PathBuf::as_path);
        work_tree(directory).or_else(root).map(Path::to_owned)
    }
}

/// A file to read. Anything but a regular file is left alone: pipes wait for a writer, and devices never end.
///
/// # Errors
/// What cannot be opened, or is no regular file.
pub fn open(path: &Path) -> Result<File, Reason> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => open_any(path),
        Ok(_) => Err(Reason::Unreadable("not a regular file".into())),
        Err(error) => Err(unreadable(&error)),
    }
}

fn open_any(path: &Path) -> Result<File, Reason> {
    File::open(path).map_err(|error| unreadable(&error))
}

/// Everything that a file holds, if that is not more than `limit` bytes: it may grow while it is read.
///
/// # Errors
/// What cannot be read, or is larger.
pub fn bytes(from: impl Read, limit: u64) -> Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > limit { Err(Reason::TooLarge(bytes.len() as u64, limit)) } else { Ok(bytes) }
}

/// As [`bytes`], as text.
///
/// # Errors
/// As for [`bytes`], and what is not UTF-8.
pub fn text(from: impl Read, limit: u64) -> Result<String, Reason> {
    String::from_utf8(bytes(from, limit)?).map_err(|_| Reason::NotUtf8("another encoding"))
}

fn unreadable(error: &io::Error) -> Reason {
    Reason::Unreadable(error.to_string())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_of_a_repository_stay_in_it_and_others_are_the_machines() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let top = dir.path().canonicalize().expect("a path");
        for directory in ["repo/.git", "repo/sub", "other"] {
            fs::create_dir_all(top.join(directory)).expect("a directory");
        }
        fs::write(top.join("repo/sub/a"), "a").expect("a file");
        fs::write(top.join("other/secret"), "s").expect("a file");
        for (to, at) in [
            ("sub/a", "repo/inside"),
            ("../other/secret", "repo/out"),
            ("../other", "repo/directory"),
            ("out", "repo/chain"),
            ("nowhere", "repo/gone"),
            ("repo", "elsewhere"),
            ("/dev/zero", "repo/zero"),
        ] {
            symlink(to, top.join(at)).expect("a link");
        }
        let gate = Gate::new(&top.join("repo/sub"), &[]);
        for (path, text) in
            [("a", "a"), ("../inside", "a"), ("../../elsewhere/sub/a", "a"), ("../../other/secret", "s")]
        {
            assert_eq!(gate.read(Path::new(path), 9), Ok(text.to_owned()), "{path}");
        }
        for path in ["../out", "../directory/secret", "../chain", "../../elsewhere/out", "../zero"] {
            assert_eq!(gate.read(Path::new(path), 9), Err(Reason::OutsideRoots), "{path}");
        }
        assert!(gate.read(Path::new("../gone"), 9).is_err());
        assert_eq!(gate.admit_output(Path::new("../inside")), Err(Reason::Link));
        assert_eq!(gate.admit_output(Path::new("../directory/new")), Err(Reason::Link));
        assert_eq!(gate.admit_output(Path::new("../../elsewhere/new")), Ok(top.join("repo/new")));
        assert_eq!(gate.read(Path::new("/dev/zero"), 9), Err(Reason::TooLarge(10, 9)));
        let below = |path| gate.admit_below(&top.join("repo/sub"), path);
        assert_eq!(below("../inside"), Ok(top.join("repo/sub/a")));
        for path in ["/etc/passwd", "../../other/secret", "../../nothing", "/nothing"] {
            assert_eq!(below(path), Err(Reason::OutsideRepository), "{path}");
        }
        assert_eq!(below("../directory"), Err(Reason::OutsideRoots));
        fs::remove_dir(top.join("repo/.git")).expect("a directory");
        let out = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            Gate::new(&top, &paths).read(&top.join("repo/out"), 9)
        };
        assert_eq!(out(&["repo"]), Err(Reason::OutsideRoots));
        assert_eq!(out(&["repo", "."]), Ok("s".to_owned()), "what is linted may lead to what is linted");
    }
}
