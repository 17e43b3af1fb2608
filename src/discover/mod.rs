//! Finds the files to lint and reads them. Knows the file system, ignore files and what a name says; knows
//! neither rules nor GPUs.

mod archive;
mod gate;
mod ignored;
mod kind;
mod named;
mod repository;
mod template;
mod walk;

pub use gate::{Gate, MAX_SETTINGS, bytes, text};
pub use kind::{Kind, charts, is_named_format, kind_in, kind_of, without_template_suffix};
pub use template::{Template, is_template_name};

use crate::paths;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use repository::work_tree;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};
use std::sync::Arc;
use walk::{COPY, EXCLUDE, MAX_LINKED_DIRECTORIES, REPETITION, TOOL_FILE, Walk};

/// The largest file that is read unless the options say otherwise.
pub const MAX_BYTES: u64 = 8 << 20;

/// Bytes that one run reads unless the options say otherwise.
pub const MAX_READ: u64 = 256 << 20;

/// Bytes that one run reads again because links give files further names, and what a name costs at least. Modules and charts
/// share small files in this way.
const MAX_REPEATED: u64 = 4 << 20;
const NAME: u64 = 1 << 10;

/// Paths that one run takes down.
const MOST_SEEN: usize = 200_000;

/// How to look for files.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the roots of the walk are relative to.
    pub cwd: PathBuf,
    /// Where paths as shown are relative to: see [`root`].
    pub root: PathBuf,
    /// Files and directories to leave out, by the directories for which that holds; the nearest one is heard.
    pub exclude: Vec<Excluded>,
    /// Whether `exclude` also holds for files named on the command line, as pre-commit hooks need.
    pub force_exclude: bool,
    /// Whether `.gitignore`, `.ignore` and `.gpulintignore` have no say.
    pub no_ignore: bool,
    /// Bytes that the run reads in all.
    pub max_read: u64,
    /// What the run goes by and is nothing to lint: its configuration, a baseline.
    pub own: Vec<PathBuf>,
    /// Texts in the place of what files hold, or will hold.
    pub unsaved: Unsaved,
}

/// Files and directories to leave out of what stands below a directory.
#[derive(Debug, Clone, Default)]
pub struct Excluded {
    /// The directory.
    pub home: PathBuf,
    /// Where the patterns are relative to: the directory of the file that states them.
    pub base: PathBuf,
    /// In the syntax of `.gitignore`.
    pub patterns: Vec<String>,
}

/// Texts that were not saved yet, by the files that they are of.
pub type Unsaved = BTreeMap<PathBuf, Arc<str>>;

impl Options {
    /// Nothing excluded but what ignore files say.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self {
            root: cwd.clone(),
            cwd,
            exclude: vec![],
            force_exclude: false,
            no_ignore: false,
            max_read: MAX_READ,
            own: Vec::new(),
            unsaved: Unsaved::new(),
        }
    }

    fn is_own(&self, disk: &Path) -> bool {
        self.own
            .iter()
            .filter(|own| own.file_name() == disk.file_name())
            .any(|own| self.cwd.join(own).canonicalize().is_ok_and(|own| disk.canonicalize().is_ok_and(|at| at == own)))
    }
}

/// A file to lint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// As shown: relative to the working directory, with `/`.
    pub path: String,
    /// Where it is read from.
    pub disk: PathBuf,
    /// Where it stands, if a link led to it.
    pub linked: Option<PathBuf>,
    /// What its name says that it is.
    pub kind: Kind,
    /// Whether it stands under `templates/` of a Helm chart.
    pub in_chart: bool,
    /// Whether it stands in a directory with Terraform files, or below one: `templatefile` may read it.
    pub in_module: bool,
    /// The directory of the repository that it belongs to: the Git work tree around it, else the root that holds it.
    pub repository: PathBuf,
    /// Its text, if it was not saved yet.
    pub unsaved: Option<Arc<str>>,
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
    /// More bytes than the run may read.
    RunTooLarge(u64),
    /// Names more files than one run looks for.
    TooManyNamed,
    /// A template of another language: its text is not the syntax of its name.
    Template(Template),
    /// A link to nothing.
    Dangling,
    /// A directory of test inputs or of what is kept for history.
    SetAside,
    /// Encrypted in its place, by this program.
    Encrypted(&'static str),
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
            Reason::RunTooLarge(limit) => write!(f, "beyond what one run reads: {limit} bytes, see --max-read"),
            Reason::TooManyNamed => f.write_str("names files beyond those that one run looks for"),
            Reason::Template(template) => write!(f, "{template} template"),
            Reason::Multipart => f.write_str("a MIME message of several parts"),
            Reason::Encrypted(by) => write!(f, "encrypted by {by}"),
            Reason::SetAside => f.write_str("test data or an archive: lint it by naming it"),
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
    /// How many files and directories were not looked at, by what left them out.
    pub excluded: BTreeMap<&'static str, usize>,
    /// Bytes that may still be read, after everything found.
    pub left: u64,
    /// What stands there, whatever it is.
    pub seen: Seen,
}

/// What the walk met, as shown: linted or not.
#[derive(Debug, Default)]
pub struct Seen {
    /// Files and directories; nothing at all where they are too many.
    pub there: BTreeSet<String>,
    /// Files and directories that were not looked at or into.
    pub closed: BTreeSet<String>,
    /// Lines of ignore files.
    pub ignored: BTreeSet<String>,
    /// Repositories that were walked as a whole; none where too much stands in them.
    pub roots: BTreeSet<String>,
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
    let exclude = Exclude::new(&options.exclude)?;
    let mut out = Discovery { left: options.max_read, ..Discovery::default() };
    let mut directories = Vec::new();
    let gate = Gate::new(&options.cwd, &[]);
    for root in roots {
        let disk = target(&options.cwd.join(root), &options.root);
        let to = match gate.admit(&disk) {
            Err(reason @ Reason::OutsideRoots) => {
                out.skip(&disk, &options.root, reason);
                continue;
            }
            to => to.ok(),
        };
        match fs::metadata(&disk) {
            Ok(meta) if meta.is_dir() => directories.push(disk),
            Ok(_) if options.force_exclude && exclude.with_parents(&disk, false) => out.exclude(EXCLUDE),
            Ok(_) if options.is_own(&disk) => out.skip(&disk, &options.root, Reason::UnknownKind),
            Ok(_) => out.file(disk, to, &options.root, true),
            Err(_) if options.unsaved.contains_key(&disk) => out.file(disk, to, &options.root, true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                out.skip(&disk, &options.root, Reason::Missing);
            }
            Err(error) => out.skip(&disk, &options.root, Reason::Unreadable(error.to_string())),
        }
    }
    let real = directories.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let mut walk = Walk { options, exclude: &exclude, roots: real, linked: 0 };
    directories.iter().for_each(|root| walk.walk(root, &mut out));
    out.lay_over(&directories, options, &exclude);
    if out.seen.there.len() + out.seen.closed.len() >= MOST_SEEN {
        out.seen.roots.clear();
    }
    out.found.sort_by(|a, b| (&a.path, &a.disk).cmp(&(&b.path, &b.disk)));
    out.found.dedup_by(|a, b| a.disk == b.disk);
    let mut limits = Limits::new(&out);
    // What names say is asked of files that are read, and what a chart brings along is known then.
    out.limit(&mut limits, options, |file| kind_of(&file.path).is_some());
    out.charts();
    out.limit(&mut limits, options, |file| kind_of(&file.path).is_none());
    let starts: Vec<PathBuf> =
        roots.iter().map(|root| repository::start(&options.cwd.join(root), &options.cwd)).collect();
    repository::tell(&mut out.found, &starts);
    out.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    out.skipped.dedup_by(|a, b| a.path == b.path);
    Ok(out)
}

/// What is known of files and of what links repeat of them.
struct Limits {
    /// Files, by where they stand.
    known: BTreeSet<PathBuf>,
    /// Bytes that may still be repeated.
    repeated: u64,
}

impl Limits {
    fn new(discovery: &Discovery) -> Self {
        let plain = discovery.found.iter().filter(|file| file.linked.is_none() && kind_of(&file.path).is_some());
        Self { known: plain.map(|file| file.disk.clone()).collect(), repeated: MAX_REPEATED }
    }
}

impl Discovery {
    /// Takes a file; `real` is where it stands.
    fn file(&mut self, disk: PathBuf, real: Option<PathBuf>, root: &Path, named: bool) {
        let path = shown(&disk, root);
        let linked = real.filter(|real| *real != disk);
        let found = |in_chart, kind, (path, disk)| Found {
            path,
            disk,
            linked,
            kind,
            in_chart,
            in_module: false,
            repository: PathBuf::new(),
            unsaved: None,
        };
        match kind_of(&path) {
            Some(kind) => self.found.push(found(in_chart(&disk), kind, (path, disk))),
            None if named => {
                let found = found(false, Kind::Chart, (path, disk));
                match shown_by_start(&found) {
                    Some(kind) => self.found.push(Found { kind, ..found }),
                    None => self.skip(&found.disk, root, Reason::UnknownKind),
                }
            }
            None => self.found.push(found(false, Kind::Chart, (path, disk))),
        }
    }

    /// Leaves out what is more than one run reads, of some of the files: further names of the same ones, and those after too
    /// many bytes.
    fn limit(&mut self, limits: &mut Limits, options: &Options, of: impl Fn(&Found) -> bool) {
        for file in std::mem::take(&mut self.found) {
            if !of(&file) {
                self.found.push(file);
                continue;
            }
            let bytes = fs::metadata(&file.disk).map_or(0, |meta| meta.len());
            let again = file.linked.as_ref().is_some_and(|real| !limits.known.insert(real.clone()));
            if again && bytes.max(NAME) > limits.repeated {
                self.exclude(REPETITION);
            } else if bytes <= MAX_BYTES && bytes > self.left {
                self.skip(&file.disk, &options.root, Reason::RunTooLarge(options.max_read));
            } else {
                limits.repeated -= if again { bytes.max(NAME) } else { 0 };
                self.left -= if bytes <= MAX_BYTES { bytes } else { 0 };
                self.found.push(file);
            }
        }
    }

    /// Takes texts that were not saved in the place of those that were, and where nothing stands yet.
    fn lay_over(&mut self, directories: &[PathBuf], options: &Options, exclude: &Exclude) {
        let new = options.unsaved.keys().filter(|disk| directories.iter().any(|root| disk.starts_with(root)));
        for disk in new.filter(|disk| !disk.exists() && !exclude.with_parents(disk, false)) {
            self.see(disk, &options.root, |seen| &mut seen.there);
            self.file(disk.clone(), None, &options.root, false);
        }
        for found in &mut self.found {
            found.unsaved = options.unsaved.get(&found.disk).cloned();
        }
    }

    /// Takes down that something stands at a path, unless there is too much.
    fn see(&mut self, path: &Path, root: &Path, which: impl Fn(&mut Seen) -> &mut BTreeSet<String>) {
        if self.seen.there.len() + self.seen.closed.len() < MOST_SEEN {
            which(&mut self.seen).insert(shown(path, root));
        }
    }

    fn exclude(&mut self, by: &'static str) {
        *self.excluded.entry(by).or_default() += 1;
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
        let (mut of_tools, mut copies) = (0, 0);
        self.found.retain_mut(|found| {
            found.in_module = found.disk.ancestors().skip(1).any(|directory| modules.contains(directory));
            let template = found.in_module && kind::is_terraform_template(&found.path);
            let data = || (template || named.contains(&found.path)).then_some(Kind::Data);
            let kind = kind_in(&charts, &found.path).or_else(data).or_else(|| shown_by_start(found));
            found.kind = kind.unwrap_or(found.kind);
            of_tools += usize::from(kind.is_none() && kind::is_of_a_tool(&found.path));
            copies += usize::from(kind.is_none() && kind::is_copy(&found.path));
            kind.is_some()
        });
        for (by, count) in [(TOOL_FILE, of_tools), (COPY, copies)] {
            if count > 0 {
                self.excluded.insert(by, count);
            }
        }
    }

    fn skip(&mut self, disk: &Path, root: &Path, reason: Reason) {
        self.skipped.push(Skipped { path: shown(disk, root), reason });
    }
}

/// The `exclude` patterns, by the directories that they hold for.
struct Exclude(Vec<(PathBuf, Gitignore)>);

impl Exclude {
    fn new(all: &[Excluded]) -> Result<Self, BadPattern> {
        let bad = |pattern: &str, why: &dyn fmt::Display| BadPattern { pattern: pattern.into(), why: why.to_string() };
        let built = |excluded: &Excluded| {
            let mut patterns = GitignoreBuilder::new(&excluded.base);
            for pattern in &excluded.patterns {
                patterns.add_line(None, pattern).map_err(|error| bad(pattern, &error))?;
            }
            let built = patterns.build().map_err(|error| bad(&excluded.patterns.join(" "), &error))?;
            Ok((excluded.home.clone(), built))
        };
        all.iter().map(built).collect::<Result<_, _>>().map(Self)
    }

    /// What the directory that holds a path goes by.
    fn of(&self, path: &Path) -> Option<&Gitignore> {
        let above = |(home, _): &&(PathBuf, _)| path != home && path.starts_with(home);
        let nearest = self.0.iter().filter(above).max_by_key(|(home, _)| home.as_os_str().len());
        nearest.map(|(_, patterns)| patterns)
    }

    fn holds(&self, path: &Path, is_dir: bool) -> bool {
        self.of(path).is_some_and(|patterns| patterns.matched(path, is_dir).is_ignore())
    }

    /// For a file that was not reached through its directories.
    fn with_parents(&self, path: &Path, is_dir: bool) -> bool {
        let within = |parent: &Path| self.of(parent).is_some_and(|patterns| parent.starts_with(patterns.path()));
        let below = path.ancestors().skip(1).filter(|parent| within(parent));
        self.holds(path, is_dir) || below.into_iter().any(|parent| self.holds(parent, true))
    }
}

/// Whether a directory is left out.
///
/// # Errors
/// A pattern that is none.
pub fn excludes(all: &[Excluded], directory: &Path) -> Result<bool, BadPattern> {
    Ok(Exclude::new(all)?.with_parents(directory, true))
}

/// The files of some names below a directory, but for what every walk leaves out, and what ignore files do; directories
/// come after those that they are in.
pub fn files_named(names: &[&str], below: &Path, no_ignore: bool) -> Vec<PathBuf> {
    walk::named(names, below, no_ignore)
}

/// Where the paths of a run are shown from: the Git work tree that holds all of its targets, so that they are the same from
/// every working directory; where there is none, the working directory.
pub fn root(cwd: &Path, targets: &[PathBuf]) -> PathBuf {
    let mut trees = targets.iter().map(|target| work_tree(&plain(&cwd.join(target))).map(Path::to_owned));
    let first = trees.next().flatten();
    first.filter(|first| trees.all(|tree| tree.as_ref() == Some(first))).unwrap_or_else(|| cwd.to_owned())
}

/// A root of the walk, named so that the same file has the same name from every one.
pub fn target(path: &Path, root: &Path) -> PathBuf {
    let plain = plain(path);
    if plain.starts_with(root) { plain } else { path.components().collect() }
}

/// A path without `.` and `..`; links before a `..` are followed, as the file system does.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out = out.canonicalize().unwrap_or(out);
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// A path as shown: relative to what paths are shown from where it lies below, with `/`. Bytes that are no text are written as
/// `\xff`, so that no two paths are shown alike.
pub fn shown(disk: &Path, root: &Path) -> String {
    let path = disk.strip_prefix(root).unwrap_or(disk);
    let mut out = String::new();
    for part in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        out.push_str(&part.valid().replace(MAIN_SEPARATOR_STR, "/").replace("\\x", "\\x5cx"));
        part.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    }
    out
}

fn in_chart(disk: &Path) -> bool {
    disk.ancestors().skip(1).any(|directory| {
        directory.file_name().is_some_and(|name| name == "templates")
            && directory.with_file_name("Chart.yaml").is_file()
    })
}

/// Opens what other files name, wherever it stands in their repository.
pub struct Bringer<'o> {
    options: &'o Options,
    exclude: Exclude,
    gate: Gate,
    root: PathBuf,
}

impl<'o> Bringer<'o> {
    /// For the files of a run.
    ///
    /// # Errors
    /// As for [`discover`].
    pub fn new(options: &'o Options) -> Result<Self, BadPattern> {
        let root = options.root.canonicalize().unwrap_or_else(|_| options.root.clone());
        Ok(Self { options, exclude: Exclude::new(&options.exclude)?, gate: Gate::new(&options.cwd, &[]), root })
    }

    /// The file at a path (as shown) that is named in a repository, to be read as this kind: a regular file below the
    /// repository that the configuration does not leave out. Of a directory, the kustomization in it.
    pub fn bring(&self, path: &str, kind: Kind, repository: &Path) -> Option<Found> {
        let admit = |path: &str| self.gate.admit_below(repository, self.root.join(path).to_str()?).ok();
        let mut path = path.to_owned();
        let mut disk = admit(&path)?;
        if disk.is_dir() && kind == Kind::Yaml {
            let inner = paths::KUSTOMIZATIONS.iter().find(|name| disk.join(name).is_file())?;
            path = format!("{}/{inner}", path.trim_end_matches('/'));
            disk = admit(&path)?;
        }
        let own = self.options.root.join(&path);
        let left_out = self.exclude.with_parents(&own, false) || self.options.is_own(&own);
        (disk.is_file() && !left_out).then(|| Found {
            unsaved: self.options.unsaved.get(&own).cloned(),
            path,
            disk,
            linked: None,
            kind,
            in_chart: false,
            in_module: false,
            repository: repository.to_owned(),
        })
    }
}

impl Found {
    /// Whether it has no kind by its name, and is read as what another file says that it is.
    pub fn is_named(&self) -> bool {
        kind_of(&self.path).is_none() && !matches!(self.kind, Kind::Chart | Kind::Data)
    }

    /// Reads the text; a byte order mark stays. Refuses what is larger than `limit` bytes.
    pub fn read(&self, limit: u64) -> Result<String, Reason> {
        let text = match &self.unsaved {
            Some(text) if text.len() as u64 > limit => return Err(Reason::TooLarge(text.len() as u64, limit)),
            Some(text) => text.to_string(),
            None => self.saved(limit)?,
        };
        match self.kind {
            Kind::Yaml if text.starts_with("MIME-Version:") || text.starts_with("Content-Type: multipart/") => {
                Err(Reason::Multipart)
            }
            _ => Ok(text),
        }
    }

    fn saved(&self, limit: u64) -> Result<String, Reason> {
        let file = gate::open(&self.disk)?;
        let long = file.metadata().map_or(0, |meta| meta.len());
        let bytes = gate::bytes(file, limit).map_err(|reason| match reason {
            Reason::TooLarge(read, limit) => Reason::TooLarge(long.max(read), limit),
            other => other,
        })?;
        if let Some((_, by)) = SEALS.iter().find(|(head, _)| bytes.starts_with(head)) {
            return Err(Reason::Encrypted(by));
        }
        match &bytes[..] {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=255, ..] | [1..=255, 0, ..] => Err(Reason::NotUtf8("UTF-16")),
            _ if bytes.contains(&0) => Err(Reason::NotUtf8("binary data")),
            _ => match String::from_utf8(bytes) {
                Ok(text) => Ok(text),
                Err(error) if self.kind.is_bytes() => Ok(readable(error.as_bytes())),
                Err(_) => Err(Reason::NotUtf8("another encoding")),
            },
        }
    }

    /// Whether a tool that deploys may read it, which is asked of what could not be read: its name says so, or an API
    /// version stands in it, in whatever encoding.
    pub fn may_be_applied(&self) -> bool {
        self.is_named()
            || is_named_format(&self.path)
            || self.is_archive()
            || gate::open(&self.disk).is_ok_and(holds_api_version)
    }

    /// Whether this is a packed chart.
    pub fn is_archive(&self) -> bool {
        self.kind == Kind::Chart && archive::is_archive(&self.path)
    }

    /// The texts of a packed chart, as if it were a directory. What is unpacked is taken from `left`, and there is no more
    /// of it than that.
    pub fn unpack(&self, left: &mut u64) -> Result<Vec<(String, String)>, Reason> {
        archive::unpack(&self.path, gate::open(&self.disk)?, left)
            .map_err(|error| Reason::Unreadable(error.to_string()))
    }

    /// The template language that must be run before `text` is what the name says; `None` for text that can be
    /// read as it stands, placeholders included.
    pub fn template(&self, text: &str) -> Option<Template> {
        template::detect(&self.path, self.kind, self.in_chart, text)
    }
}

/// How encrypted files begin, and what reads them.
const SEALS: [(&[u8], &str); 2] = [(b"\0GITCRYPT\0", "git-crypt"), (b"age-encryption.org/v1", "age")];

/// How much of a file shows what it is.
const START: u64 = 8 << 10;

/// The kind of a file that its text shows, where its name leaves it open.
fn shown_by_start(found: &Found) -> Option<Kind> {
    if !kind::may_show(&found.path) {
        return None;
    }
    let mut start = Vec::new();
    match &found.unsaved {
        Some(text) => start.extend(text.bytes().take(START as usize)),
        None => drop(gate::open(&found.disk).ok()?.take(START).read_to_end(&mut start)),
    }
    kind::kind_by_start(&found.path, &String::from_utf8_lossy(&start))
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
