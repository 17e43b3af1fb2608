//! The files of a run: found, read, or said why not.

use super::arguments::Lint;
use crate::discover::{self, Bringer, Found, Gate, Kind, MAX_BYTES, Options, Reason, Seen, Skipped, Template};
use crate::extract;
use crate::facts::{DockerRuntime, Listing};
use crate::finding::Unlinted;
use crate::judge::baseline;
use crate::lint::{self, Input, Named};
use crate::paths;
use crate::source::one_line;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that were read, and those that were not.
pub struct Files {
    /// Read.
    pub inputs: Vec<Input>,
    /// Paths and reasons of the others.
    pub skipped: Vec<(String, String)>,
    /// Those of the others that a tool may apply, and why they were not linted.
    pub unlinted: Vec<(String, Unlinted)>,
    /// As shown and where they stand: all that were found.
    pub found: Vec<(String, PathBuf)>,
    /// How many files and directories were not looked at, by what left them out.
    pub excluded: Vec<(String, usize)>,
    /// What stands there, whatever it is.
    pub listing: Arc<Listing>,
}

/// A file that was not read, and what is wrong if something is.
type Unread = (Skipped, Option<Unlinted>);

/// A file that was found and not read.
fn unread(found: &Found, reason: Reason) -> Unread {
    let why = unlinted(&reason).filter(|_| found.may_be_applied());
    (Skipped { path: found.path.clone(), reason }, why)
}

/// What is wrong when a file could not be read; `None` where it may be meant like that.
fn unlinted(reason: &Reason) -> Option<Unlinted> {
    match reason {
        Reason::Unreadable(_) => Some(Unlinted::Unreadable),
        Reason::TooLarge(..) => Some(Unlinted::TooLarge),
        Reason::NotUtf8(_) => Some(Unlinted::Encoding),
        Reason::TooManyLinks | Reason::RunTooLarge(_) => Some(Unlinted::Budget),
        _ => None,
    }
}

/// Finds and reads files.
///
/// # Errors
/// A bad pattern, or a root that does not exist.
pub fn files(paths: &[PathBuf], options: &Options) -> Result<Files, String> {
    let discovery = discover::discover(paths, options).map_err(|e| e.to_string())?;
    if let Some(missing) = discovery.skipped.iter().find(|s| s.reason == Reason::Missing) {
        return Err(format!("{}: {}", one_line(&missing.path), missing.reason));
    }
    let skipped = discovery.skipped;
    // A link that leads in a circle harms where its name would have been linted.
    let ours = |path: &str| discover::kind_of(path).is_some() || options.root.join(path).is_dir();
    let unlinted: Vec<(String, Unlinted)> = skipped
        .iter()
        .filter(|file| ours(&file.path))
        .filter_map(|file| Some((file.path.clone(), unlinted(&file.reason)?)))
        .collect();
    let repositories: BTreeSet<&Path> = discovery.found.iter().map(|found| found.repository.as_path()).collect();
    let repositories: Vec<&Path> = repositories.into_iter().collect();
    let charts = discover::charts(discovery.found.iter().map(|found| found.path.as_str()));
    let number = |found: &Found| repositories.binary_search(&found.repository.as_path()).unwrap_or_default();
    // What one archive takes of what the run may read is missing for the next one, so they take turns.
    let (archives, plain): (Vec<&Found>, Vec<&Found>) = discovery.found.iter().partition(|found| found.is_archive());
    let read = |found: &&Found| read(found, number(found), &charts);
    let mut read: Vec<Result<Vec<Input>, Unread>> = plain.par_iter().map(read).collect();
    let mut left = discovery.left;
    read.extend(archives.into_iter().map(|found| unpack(found, number(found), &mut left)));
    let mut all = Read { skipped, unlinted, left, ..Read::default() };
    read.into_iter().for_each(|file| all.take(file));
    let found = discovery.found.iter().map(|found| (found.path.as_str(), found.kind));
    let inline: Vec<Input> = all.inputs.par_iter().flat_map(lint::inline).collect();
    all.inputs.extend(inline);
    let brought = bring(&mut all, found, &repositories, options)?;
    all.inputs.sort_by(|a, b| a.path.cmp(&b.path));
    let mut skipped: Vec<(String, String)> = all.skipped.into_iter().map(|s| (s.path, s.reason.to_string())).collect();
    skipped.sort();
    let excluded = discovery.excluded.into_iter().map(|(by, count)| (by.to_owned(), count)).collect();
    let found = discovery.found.into_iter().chain(brought).map(|found| (found.path, found.disk)).collect();
    let Seen { there, closed, ignored, roots } = discovery.seen;
    let name = options.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let docker_runtime = asks_for_runtime(&all.inputs).then(|| of_pages(&there, options)).flatten();
    let listing = Arc::new(Listing { name, there, closed, ignored, roots, docker_runtime });
    Ok(Files { inputs: all.inputs, skipped, unlinted: all.unlinted, found, excluded, listing })
}

/// Most pages that are read for what they say of the runtime, and most bytes of one.
const MOST_PAGES: (usize, u64) = (500, 256 << 10);

/// Whether a file leaves GPUs to a runtime of Docker that somebody sets up.
fn asks_for_runtime(inputs: &[Input]) -> bool {
    inputs.iter().any(|input| {
        input.text.contains("services:")
            && (input.text.contains("NVIDIA_VISIBLE_DEVICES")
                || input.text.contains("runtime:") && input.text.contains("nvidia"))
    })
}

/// What pages say of the runtime: they are read for nothing else, and no further than anything else of a repository.
fn of_pages(there: &BTreeSet<String>, options: &Options) -> Option<DockerRuntime> {
    let gate = Gate::new(&options.cwd, &[]);
    let is_page = |path: &&String| [".md", ".rst", ".mdx", ".adoc"].iter().any(|end| path.ends_with(end));
    let pages = there.iter().filter(is_page).take(MOST_PAGES.0);
    let texts = pages.filter_map(|path| gate.read(&options.root.join(path), MOST_PAGES.1).ok());
    texts.filter_map(|text| extract::runtimes::of_text(&text)).max()
}

/// What was read so far.
#[derive(Default)]
struct Read {
    inputs: Vec<Input>,
    skipped: Vec<Skipped>,
    unlinted: Vec<(String, Unlinted)>,
    /// Bytes that may still be read.
    left: u64,
}

impl Read {
    fn take(&mut self, file: Result<Vec<Input>, Unread>) {
        match file {
            Ok(texts) => self.inputs.extend(texts),
            Err((file, why)) => {
                self.unlinted.extend(why.map(|why| (file.path.clone(), why)));
                self.skipped.push(file);
            }
        }
    }
}

/// Paths that one run looks at because files name them.
const MOST_LOOKS: usize = 20_000;

/// Reads what files name and nobody has read as what they name it, and what that names; those files.
fn bring<'f>(
    all: &mut Read,
    found: impl Iterator<Item = (&'f str, Kind)>,
    repositories: &[&Path],
    options: &Options,
) -> Result<Vec<Found>, String> {
    let bringer = Bringer::new(options).map_err(|error| error.to_string())?;
    let mut known: BTreeMap<String, Vec<Kind>> = BTreeMap::new();
    found.for_each(|(path, kind)| known.entry(path.to_owned()).or_default().push(kind));
    let (mut brought, mut looked, mut asked) = (Vec::new(), BTreeSet::new(), 0);
    while asked < all.inputs.len() {
        let named: Vec<Vec<Named>> = all.inputs[asked..].par_iter().map(lint::named).collect();
        let by = asked..all.inputs.len();
        asked = all.inputs.len();
        for (by, Named { paths, kind }) in by.zip(named).flat_map(|(by, named)| named.into_iter().map(move |n| (by, n)))
        {
            for path in paths {
                let kinds = known.get(&path).map(Vec::as_slice);
                if kinds.is_some_and(|kinds| !reads_otherwise(kinds, kind)) {
                    break;
                }
                if looked.len() >= MOST_LOOKS {
                    let reason = Reason::TooManyNamed;
                    all.take(Err((Skipped { path: all.inputs[by].path.clone(), reason }, Some(Unlinted::Budget))));
                    return Ok(brought);
                }
                if !looked.insert((path.clone(), kind)) {
                    continue;
                }
                let repository = all.inputs[by].repository;
                let Some(file) = repositories.get(repository).and_then(|home| bringer.bring(&path, kind, home)) else {
                    continue;
                };
                let kinds = known.entry(file.path.clone()).or_default();
                if kinds.is_empty() || reads_otherwise(kinds, kind) {
                    kinds.push(kind);
                    let text = within(&file, &mut all.left, options);
                    all.take(text.and_then(|()| read(&file, repository, &BTreeSet::new())));
                    brought.push(file);
                }
                break;
            }
        }
    }
    Ok(brought)
}

/// Whether a file that is read as these kinds is another thing to whoever reads it as this one.
fn reads_otherwise(kinds: &[Kind], kind: Kind) -> bool {
    let none = |others: &[Kind]| !kinds.iter().any(|kind| others.contains(kind));
    match kind {
        Kind::Yaml => none(&[Kind::Yaml, Kind::Json]),
        Kind::Dockerfile => none(&[Kind::Dockerfile]),
        Kind::Requirements => none(&[Kind::Requirements, Kind::Toml, Kind::Yaml, Kind::Json]),
        _ => false,
    }
}

/// Takes a file from what the run may read.
fn within(file: &Found, left: &mut u64, options: &Options) -> Result<(), Unread> {
    let bytes = std::fs::metadata(&file.disk).map_or(0, |meta| meta.len());
    if bytes <= MAX_BYTES && bytes > *left {
        return Err(unread(file, Reason::RunTooLarge(options.max_read)));
    }
    *left -= bytes.min(*left);
    Ok(())
}

/// Reads the texts of a packed chart.
fn unpack(found: &Found, repository: usize, left: &mut u64) -> Result<Vec<Input>, Unread> {
    let texts = found.unpack(left).map_err(|reason| unread(found, reason))?;
    let input = |(path, text)| Input { path, kind: found.kind, text, repository };
    Ok(texts.into_iter().map(input).collect())
}

/// Reads a file. What a chart merely brings along may be anything: its templates may
/// read what is a template itself.
fn read(found: &Found, repository: usize, charts: &BTreeSet<String>) -> Result<Vec<Input>, Unread> {
    let told = |reason: Reason| unread(found, reason);
    let of_kind = |kind, (path, text)| Input { path, kind, text, repository };
    let input = |file| of_kind(found.kind, file);
    let text = match found.read(MAX_BYTES) {
        Err(_) if discover::kind_of(&found.path).is_none() && !found.is_named() => return Ok(Vec::new()),
        read => read.map_err(told)?,
    };
    let in_chart = || charts.iter().any(|directory| found.path.starts_with(directory.as_str()));
    if found.kind == Kind::Json && text.starts_with(baseline::HEAD) {
        return Ok(Vec::new());
    }
    // Text that parses is no template, whatever its comments look like; a chart's templates are.
    let documents = matches!(found.kind, Kind::Yaml | Kind::Json);
    let stands = || documents && lint::template(&found.path, found.kind, &text).is_none();
    match found.template(&text).filter(|template| *template == Template::Helm || !stands()) {
        // A module may render it; what no module renders is told later.
        Some(Template::Terraform | Template::Variables) if found.in_module => {
            Ok(vec![of_kind(Kind::Data, (found.path.clone(), text))])
        }
        Some(Template::Go) if in_chart() => Ok(vec![of_kind(Kind::Chart, (found.path.clone(), text))]),
        Some(Template::Helm) => Err(told(Reason::Template(Template::Helm))),
        Some(template) if discover::template(&found.path, found.kind, &text).is_none() => {
            Err(told(Reason::Template(template)))
        }
        _ => Ok(vec![input((found.path.clone(), text))]),
    }
}

/// The working directory.
pub fn cwd() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// The gate that paths which people and configurations name go through in a run over some paths.
pub fn gate(targets: &[PathBuf]) -> Gate {
    Gate::new(&cwd(), targets)
}

/// Where the paths of a run over some targets are shown from.
pub fn root(targets: &[PathBuf]) -> PathBuf {
    discover::root(&cwd(), targets)
}

/// A path of a report, which starts at `root`, as whoever called gpulint would write it.
pub fn called(path: &str, root: &Path) -> String {
    match cwd().strip_prefix(root) {
        Ok(below) => paths::relative(&discover::shown(below, root), path),
        Err(_) => discover::shown(&root.join(path), &cwd()),
    }
}

/// A path as whoever called gpulint would write it.
pub fn shown(path: &Path) -> String {
    one_line(&discover::shown(path, &cwd()))
}

/// The text of a file that the command line names.
///
/// # Errors
/// It cannot be read, or is larger than what is linted.
pub fn named(path: &Path, gate: &Gate) -> Result<String, String> {
    gate.read(path, MAX_BYTES).map_err(|reason| format!("{}: {reason}", shown(path)))
}

/// The text that comes in on standard input, as the file that the command line calls it.
///
/// # Errors
/// It cannot be read, or its name is no kind of file that is linted.
pub fn stdin(lint: &Lint) -> Result<Files, String> {
    let text = discover::text(std::io::stdin(), MAX_BYTES).map_err(|reason| format!("standard input: {reason}"))?;
    let path = lint.stdin_filename.clone();
    let kind = discover::kind_of(&path).ok_or_else(|| format!("{path}: not a kind of file that is linted"))?;
    let inputs = vec![Input { path, kind, text, repository: 0 }];
    Ok(Files {
        inputs,
        skipped: Vec::new(),
        unlinted: Vec::new(),
        found: Vec::new(),
        excluded: Vec::new(),
        listing: Arc::default(),
    })
}
