//! Finds the files to lint and reads them. Knows the file system, ignore files and what a name says; knows
//! neither rules nor GPUs.

mod archive;
mod gate;
mod kind;
mod named;
mod repository;
mod template;

pub use gate::{Gate, MAX_SETTINGS, text};
pub use kind::{Kind, charts, is_named_format, kind_in, kind_of};
pub use template::{Template, is_template_name};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

/// The largest file that is read unless the options say otherwise.
pub const MAX_BYTES: u64 = 8 << 20;

/// Linked directories that one run enters: links can multiply paths without ever forming a loop.
const MAX_LINKED_DIRECTORIES: usize = 4_096;

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

/// Directories that by their name hold what is never deployed, as Go's tools pass over them: inputs of tests, and what is kept
/// for history.
const SET_ASIDE: &[&str] = &["_archive", "_archived", "archived", "testdata"];

/// How to look for files.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where paths as shown are relative to.
    pub cwd: PathBuf,
    /// Where the patterns of `exclude` are relative to: the directory of the file that states them.
    pub base: PathBuf,
    /// Files and directories to leave out, in the syntax of `.gitignore`.
    pub exclude: Vec<String>,
    /// Whether `exclude` also holds for files named on the command line, as pre-commit hooks need.
    pub force_exclude: bool,
    /// Whether `.gitignore`, `.ignore` and `.gpulintignore` have no say.
    pub no_ignore: bool,
}

impl Options {
    /// Nothing excluded but what ignore files say.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self { base: cwd.clone(), cwd, exclude: vec![], force_exclude: false, no_ignore: false }
    }
}

/// A file to lint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// As shown: relative to the working directory, with `/`.
    pub path: String,
    /// Where it is read from.
    pub disk: PathBuf,
    /// What its name says that it is.
    pub kind: Kind,
    /// Whether it stands under `templates/` of a Helm chart.
    pub in_chart: bool,
    /// Whether it stands in a directory with Terraform files, or below one: `templatefile` may read it.
    pub in_module: bool,
    /// The directory of the repository that it belongs to: the Git work tree around it, else the root that holds it.
    pub repository: PathBuf,
}

/// A file or directory that was not linted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// As shown.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

/// Why something was not linted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A root that does not exist.
    Missing,
    /// Named on the command line, but of no kind that is linted.
    UnknownKind,
    /// Larger than the limit, both in bytes.
    TooLarge(u64, u64),
    /// Not text in UTF-8; the encoding that it seems to be in.
    NotUtf8(&'static str),
    /// The file system's own words.
    Unreadable(String),
    /// A link to a directory that it stands in.
    Loop,
    /// A link that leads out of the roots.
    OutsideRoots,
    /// A path in a configuration that leads out of its repository.
    OutsideRepository,
    /// A link, where something is to be written.
    Link,
    /// More linked directories than one run enters.
    TooManyLinks,
    /// A template of another language: its text is not the syntax of its name.
    Template(Template),
    /// A link to nothing.
    Dangling,
    /// A directory of test inputs or of what is kept for history.
    SetAside,
    /// Named like JSON, but text that starts like none: logs, lines with a prefix.
    NotJson,
    /// Several files in one message, as cloud-init reads them.
    Multipart,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Missing => f.write_str("no such file or directory"),
            Reason::UnknownKind => f.write_str("not a kind of file that is linted"),
            Reason::TooLarge(bytes, limit) => write!(f, "too large: {bytes} bytes, the limit is {limit}"),
            Reason::NotUtf8(seems) => write!(f, "not UTF-8 but {seems}"),
            Reason::Unreadable(why) => write!(f, "not readable: {why}"),
            Reason::Loop => f.write_str("a symbolic link to a directory that contains it"),
            Reason::OutsideRoots => f.write_str("a symbolic link that leads out of the linted directories"),
            Reason::OutsideRepository => f.write_str("outside of the repository"),
            Reason::Link => f.write_str("a symbolic link"),
            Reason::TooManyLinks => write!(f, "more than {MAX_LINKED_DIRECTORIES} linked directories"),
            Reason::Template(template) => write!(f, "{template} template"),
            Reason::Multipart => f.write_str("a MIME message of several parts"),
            Reason::SetAside => f.write_str("test data or an archive: lint it by naming it"),
            Reason::NotJson => f.write_str("neither a JSON object nor an array"),
            Reason::Dangling => f.write_str("a symbolic link to nothing"),
        }
    }
}

/// What is to be linted and what is not, both sorted by path.
#[derive(Debug, Default)]
pub struct Discovery {
    /// To lint.
    pub found: Vec<Found>,
    /// Not linted, with the reason.
    pub skipped: Vec<Skipped>,
}

/// A pattern that is not in the syntax of `.gitignore`.
#[derive(Debug, thiserror::Error)]
#[error("bad pattern `{pattern}`: {why}")]
pub struct BadPattern {
    /// As given.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

/// Looks for files under the roots. A root that is a file is taken even where an ignore file names it.
pub fn discover(roots: &[PathBuf], options: &Options) -> Result<Discovery, BadPattern> {
    let exclude = Exclude::new(options)?;
    let mut out = Discovery::default();
    let mut directories = Vec::new();
    let gate = Gate { cwd: &options.cwd, roots: &[] };
    for root in roots {
        // Without `.` components, so that the same file has the same name from every root.
        let disk: PathBuf = options.cwd.join(root).components().collect();
        if let Err(reason @ Reason::OutsideRoots) = gate.admit(&disk) {
            out.skip(&disk, &options.cwd, reason);
            continue;
        }
        match fs::metadata(&disk) {
            Ok(meta) if meta.is_dir() => directories.push(disk),
            Ok(_) if options.force_exclude && exclude.with_parents(&disk) => {}
            Ok(_) => out.file(disk, &options.cwd, true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                out.skip(&disk, &options.cwd, Reason::Missing);
            }
            Err(error) => out.skip(&disk, &options.cwd, Reason::Unreadable(error.to_string())),
        }
    }
    if let Some((first, rest)) = directories.split_first() {
        let mut walk = WalkBuilder::new(first);
        rest.iter().for_each(|root| {
            walk.add(root);
        });
        out.walk(&mut walk, &directories, (exclude, options));
    }
    out.found.sort_by(|a, b| a.path.cmp(&b.path));
    out.found.dedup_by(|a, b| a.path == b.path);
    out.charts();
    let starts: Vec<PathBuf> =
        roots.iter().map(|root| repository::start(&options.cwd.join(root), &options.cwd)).collect();
    repository::tell(&mut out.found, &starts);
    out.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    out.skipped.dedup_by(|a, b| a.path == b.path);
    Ok(out)
}

impl Discovery {
    fn walk(&mut self, walk: &mut WalkBuilder, roots: &[PathBuf], (exclude, options): (Exclude, &Options)) {
        let (tell, told) = mpsc::channel();
        let gate = Sieve {
            exclude,
            roots: roots.iter().filter_map(|root| root.canonicalize().ok()).collect(),
            linked: AtomicUsize::new(0),
            tell,
        };
        walk.standard_filters(!options.no_ignore)
            .require_git(false)
            // What a user's own machine ignores must not change the answer.
            .git_global(false)
            .hidden(false)
            .follow_links(true)
            .filter_entry(move |entry| gate.lets(entry));
        if !options.no_ignore {
            walk.add_custom_ignore_filename(".gpulintignore");
        }
        for entry in walk.build() {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|t| t.is_file()) => {
                    self.file(entry.into_path(), &options.cwd, false);
                }
                Ok(_) => {}
                Err(error) => self.failed(&error, &options.cwd),
            }
        }
        self.skipped.extend(told.try_iter().map(|(path, reason)| Skipped { path: shown(&path, &options.cwd), reason }));
    }

    fn file(&mut self, disk: PathBuf, cwd: &Path, named: bool) {
        let path = shown(&disk, cwd);
        let found = |in_chart, kind, (path, disk)| Found {
            path,
            disk,
            kind,
            in_chart,
            in_module: false,
            repository: PathBuf::new(),
        };
        match kind_of(&path) {
            Some(kind) => self.found.push(found(in_chart(&disk), kind, (path, disk))),
            None if named => self.skip(&disk, cwd, Reason::UnknownKind),
            None => self.found.push(found(false, Kind::Chart, (path, disk))),
        }
    }

    /// Tells the files of charts from the others; what has no kind of its own is kept in a chart only, or where a
    /// kustomization names it.
    fn charts(&mut self) {
        let charts = charts(self.found.iter().map(|f| f.path.as_str()));
        let named = named::paths(&self.found);
        let modules: BTreeSet<PathBuf> = self
            .found
            .iter()
            .filter(|found| found.kind == Kind::Terraform)
            .filter_map(|found| found.disk.parent().map(Path::to_owned))
            .collect();
        self.found.retain_mut(|found| {
            found.in_module = found.disk.ancestors().skip(1).any(|directory| modules.contains(directory));
            let template = found.in_module && kind::is_terraform_template(&found.path);
            let data = || (template || named.contains(&found.path)).then_some(Kind::Data);
            let kind = kind_in(&charts, &found.path).or_else(data);
            found.kind = kind.unwrap_or(found.kind);
            kind.is_some()
        });
    }

    fn skip(&mut self, disk: &Path, cwd: &Path, reason: Reason) {
        self.skipped.push(Skipped { path: shown(disk, cwd), reason });
    }

    fn failed(&mut self, error: &ignore::Error, cwd: &Path) {
        match error {
            ignore::Error::WithPath { path, err } => match err.io_error() {
                // A dangling link says something only where its name would have been linted.
                Some(io) if io.kind() == std::io::ErrorKind::NotFound && kind_of(&shown(path, cwd)).is_none() => {}
                Some(io) if io.kind() == std::io::ErrorKind::NotFound => self.skip(path, cwd, Reason::Dangling),
                Some(io) => self.skip(path, cwd, Reason::Unreadable(io.to_string())),
                None => self.failed(err, cwd),
            },
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => self.failed(err, cwd),
            ignore::Error::Loop { child, .. } => self.skip(child, cwd, Reason::Loop),
            // A bad line of an ignore file is passed over, as git does.
            _ => {}
        }
    }
}

/// What the walk may enter and yield.
struct Sieve {
    exclude: Exclude,
    roots: Vec<PathBuf>,
    linked: AtomicUsize,
    tell: Sender<(PathBuf, Reason)>,
}

impl Sieve {
    fn lets(&self, entry: &DirEntry) -> bool {
        let is_dir = entry.file_type().is_some_and(|t| t.is_dir());
        if is_dir && is_tool_directory(entry.path()) || self.exclude.holds(entry.path(), is_dir) {
            return false;
        }
        if is_dir && is_set_aside(entry.path()) {
            // The receiver outlives the walk.
            let _ = self.tell.send((entry.path().to_owned(), Reason::SetAside));
            return false;
        }
        if !entry.path_is_symlink() {
            return true;
        }
        let inside = entry.path().canonicalize().is_ok_and(|to| self.roots.iter().any(|root| to.starts_with(root)));
        let refused = if !inside {
            if !is_dir && kind_of(&entry.path().to_string_lossy()).is_none() {
                return false;
            }
            Reason::OutsideRoots
        } else if is_dir && self.linked.fetch_add(1, Ordering::Relaxed) >= MAX_LINKED_DIRECTORIES {
            Reason::TooManyLinks
        } else {
            return true;
        };
        // The receiver outlives the walk.
        let _ = self.tell.send((entry.path().to_owned(), refused));
        false
    }
}

fn is_tool_directory(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    TOOL_DIRECTORIES.iter().any(|tool| name == *tool)
        // Go's vendored modules; any other `vendor` may be what is deployed.
        || name == "vendor" && path.join("modules.txt").exists()
}

fn is_set_aside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    SET_ASIDE.contains(&&*name) || name.starts_with("retired_") || name.starts_with("retired-")
}

/// The `exclude` patterns.
struct Exclude(Gitignore);

impl Exclude {
    fn new(options: &Options) -> Result<Self, BadPattern> {
        let bad = |pattern: &str, why: &dyn fmt::Display| BadPattern { pattern: pattern.into(), why: why.to_string() };
        let mut patterns = GitignoreBuilder::new(&options.base);
        for pattern in &options.exclude {
            patterns.add_line(None, pattern).map_err(|error| bad(pattern, &error))?;
        }
        patterns.build().map(Self).map_err(|error| bad(&options.exclude.join(" "), &error))
    }

    fn holds(&self, path: &Path, is_dir: bool) -> bool {
        self.0.matched(path, is_dir).is_ignore()
    }

    /// For a file that was not reached through its directories.
    fn with_parents(&self, path: &Path) -> bool {
        let below = path.ancestors().skip(1).take_while(|parent| parent.starts_with(self.0.path()));
        self.holds(path, false) || below.into_iter().any(|parent| self.holds(parent, true))
    }
}

/// A path as shown: relative to the working directory where it lies below, with `/`.
pub fn shown(disk: &Path, cwd: &Path) -> String {
    let path = disk.strip_prefix(cwd).unwrap_or(disk);
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

fn in_chart(disk: &Path) -> bool {
    disk.ancestors().skip(1).any(|directory| {
        directory.file_name().is_some_and(|name| name == "templates")
            && directory.with_file_name("Chart.yaml").is_file()
    })
}

impl Found {
    /// Reads the text; a byte order mark stays. Refuses what is larger than `limit` bytes.
    pub fn read(&self, limit: u64) -> Result<String, Reason> {
        let file = gate::open(&self.disk)?;
        let long = file.metadata().map_or(0, |meta| meta.len());
        let bytes = gate::bytes(file, limit).map_err(|reason| match reason {
            Reason::TooLarge(read, limit) => Reason::TooLarge(long.max(read), limit),
            other => other,
        })?;
        match &bytes[..] {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=255, ..] | [1..=255, 0, ..] => Err(Reason::NotUtf8("UTF-16")),
            _ if bytes.contains(&0) => Err(Reason::NotUtf8("binary data")),
            _ => {
                let text = match String::from_utf8(bytes) {
                    Ok(text) => text,
                    Err(error) if self.kind.is_bytes() => readable(error.as_bytes()),
                    Err(_) => return Err(Reason::NotUtf8("another encoding")),
                };
                let start = text.trim_start_matches('\u{feff}').trim_start();
                match self.kind {
                    Kind::Yaml if text.starts_with("MIME-Version:") || text.starts_with("Content-Type: multipart/") => {
                        Err(Reason::Multipart)
                    }
                    Kind::Json if !start.starts_with(['{', '[']) => Err(Reason::NotJson),
                    _ => Ok(text),
                }
            }
        }
    }

    /// Whether a tool that deploys may read it, which is asked of what could not be read: its name says so, or an API
    /// version stands in it, in whatever encoding.
    pub fn may_be_applied(&self) -> bool {
        is_named_format(&self.path) || self.is_archive() || gate::open(&self.disk).is_ok_and(holds_api_version)
    }

    /// Whether this is a packed chart.
    pub fn is_archive(&self) -> bool {
        self.kind == Kind::Chart && archive::is_archive(&self.path)
    }

    /// The texts of a packed chart, as if it were a directory.
    pub fn unpack(&self) -> Result<Vec<(String, String)>, Reason> {
        archive::unpack(&self.path, gate::open(&self.disk)?).map_err(|error| Reason::Unreadable(error.to_string()))
    }

    /// The template language that must be run before `text` is what the name says; `None` for text that can be
    /// read as it stands, placeholders included.
    pub fn template(&self, text: &str) -> Option<Template> {
        template::detect(&self.path, self.kind, self.in_chart, text)
    }
}

/// The most of a file that is searched for what it may be.
const MOST_SEARCHED: u64 = 64 << 20;

fn holds_api_version(file: fs::File) -> bool {
    const WIDE: &[u8] = b"a\0p\0i\0V\0e\0r\0s\0i\0o\0n";
    let mut window = Vec::new();
    let mut file = file.take(MOST_SEARCHED);
    let holds = |bytes: &[u8], word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    loop {
        // What is split between two pieces is found in the second.
        window.drain(..window.len().saturating_sub(WIDE.len()));
        match file.by_ref().take(1 << 20).read_to_end(&mut window) {
            Ok(0) | Err(_) => return false,
            Ok(_) if holds(&window, b"apiVersion") || holds(&window, WIDE) => return true,
            Ok(_) => {}
        }
    }
}

/// Bytes that are no UTF-8 as question marks, each in its place.
fn readable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    out
}

/// The template language of a text outside a chart, in which what is literal can be read: see [`Found::template`].
pub fn template(path: &str, kind: Kind, text: &str) -> Option<Template> {
    let readable = matches!(kind, Kind::Yaml | Kind::Json | Kind::Dockerfile | Kind::Requirements);
    readable.then(|| template::detect(path, kind, false, text)).flatten()
}

#[cfg(all(test, unix))]
mod tests;
