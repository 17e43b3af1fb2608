//! `--changed-in` and `--changed-since`: the tree of a run as it was before a diff, and what of a finding the diff touches.

use super::files::{cwd, shown};
use crate::changes::{self, Change};
use crate::discover::{self, Gate};
use crate::facts::Listing;
use crate::finding::{COVERAGE, Finding};
use crate::lint::{self, Input};
use crate::paths;
use crate::source::{Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The largest diff that is read.
const MAX_DIFF: u64 = 64 << 20;

/// What changed in a run.
pub struct Diff {
    changes: Vec<Change>,
    /// Which change is of the file that has a path now.
    now: BTreeMap<String, usize>,
}

/// The files of a run as they were.
pub struct Before {
    /// The files.
    pub inputs: Vec<Input>,
    /// What stood there.
    pub listing: Listing,
}

impl Diff {
    /// Reads a diff of the tree whose paths start at `root`; `-` is standard input.
    ///
    /// # Errors
    /// It cannot be read, is none, or names a file that is not there.
    pub fn read(path: &Path, gate: &Gate, root: &Path) -> Result<Self, String> {
        let option = format!("--changed-in {}", shown(path));
        let bytes = match path == Path::new("-") {
            true => discover::bytes(std::io::stdin(), MAX_DIFF),
            false => gate.read_bytes(path, MAX_DIFF),
        };
        Self::parse(&bytes.map_err(|reason| format!("{option}: {reason}"))?, &option, root)
    }

    /// What changed below `root` since its history left that of a revision, committed or not. New files count that Git
    /// does not leave out.
    ///
    /// # Errors
    /// Git is missing, or cannot say it.
    pub fn since(revision: &str, root: &Path) -> Result<Self, String> {
        let option = format!("--changed-since {revision}");
        let git = |arguments: &[&str]| {
            let run = Command::new("git").current_dir(root).args(arguments).output();
            let run = run.map_err(|error| format!("{option}: git: {error}"))?;
            let said = String::from_utf8_lossy(&run.stderr);
            let why = said.lines().next().unwrap_or_default();
            if run.status.success() { Ok(run.stdout) } else { Err(format!("{option}: git: {why}")) }
        };
        // What a person has set for diffs changes neither their form nor what is run for them.
        let form = ["--no-ext-diff", "--no-textconv", "--no-color", "--relative", "--src-prefix=a/", "--dst-prefix=b/"];
        let of = ["diff", "--merge-base"];
        let mut diff = git(&[&of[..], &form, &["--end-of-options", revision, "--"]].concat())?;
        let new = git(&["ls-files", "--others", "--exclude-standard"])?;
        for path in String::from_utf8_lossy(&new).lines() {
            // A path of unusual characters stands in quotes.
            let side = |letter: char| match path.strip_prefix('"') {
                Some(quoted) => format!("\"{letter}/{quoted}"),
                None => format!("{letter}/{path}"),
            };
            let (a, b) = (side('a'), side('b'));
            let all = format!("diff --git {a} {b}\nnew file mode 100644\nBinary files /dev/null and {b} differ\n");
            diff.extend(all.into_bytes());
        }
        Self::parse(&diff, &option, root)
    }

    fn parse(diff: &[u8], option: &str, root: &Path) -> Result<Self, String> {
        let failed = |why: &dyn std::fmt::Display| format!("{option}: {why}");
        let changes = changes::parse(diff).map_err(|why| failed(&why))?;
        let now: BTreeMap<String, usize> =
            changes.iter().enumerate().filter_map(|(i, change)| Some((change.now.clone()?, i))).collect();
        let there =
            |path: &&String| paths::join_inside("", path).is_some() && root.join(path).symlink_metadata().is_ok();
        match now.keys().find(|path| !there(path)) {
            Some(missing) => {
                Err(failed(&format!("{missing} is not here: paths of a diff start at {}", shown_root(root))))
            }
            None => Ok(Self { changes, now }),
        }
    }

    /// The change of a file, or of the packed chart that it is in.
    fn of(&self, path: &str) -> Option<&Change> {
        let packed = |path: &&str| path.ends_with(".tgz") || path.ends_with(".tar.gz");
        let archive = || paths::above(paths::directory(path)).filter(packed).find_map(|above| self.now.get(above));
        let at = self.now.get(path).or_else(archive);
        at.map(|at| &self.changes[*at])
    }

    /// What a file of before is called now.
    pub fn renamed(&self, path: String) -> String {
        let change = self.changes.iter().find(|change| change.before.as_ref() == Some(&path));
        change.and_then(|change| change.now.clone()).unwrap_or(path)
    }

    /// Whether a file changed.
    pub fn changed(&self, path: &str) -> bool {
        self.of(path).is_some()
    }

    /// Whether a place of a finding stands on a line that changed. What says that a file was not linted is about all of it.
    pub fn touches(&self, finding: &Finding, sources: &Sources) -> bool {
        let whole = COVERAGE.contains(&finding.rule.as_str());
        let touched = |span: Span| {
            let source = sources.get(span.source);
            let lines = source.line_of(span.start)..source.line_of(span.end.max(span.start + 1) - 1) + 1;
            self.of(&source.path).is_some_and(|change| whole || change.touches(lines))
        };
        touched(finding.span) || finding.related.iter().any(|label| touched(label.span))
    }

    /// A text as it was; the same where it did not change, none where that is not known.
    ///
    /// # Errors
    /// The diff is of another text.
    pub fn undo(&self, path: &str, text: &str, root: &Path) -> Result<Option<String>, String> {
        let Some(change) = self.of(path) else { return Ok(Some(text.to_owned())) };
        // The diff of a link shows where it leads.
        let link = root.join(path).symlink_metadata().is_ok_and(|meta| meta.file_type().is_symlink());
        match change.undo(text) {
            Ok(text) => Ok(text.filter(|_| change.before.is_some())),
            Err(_) if link => Ok(None),
            Err(line) => {
                Err(format!("line {line} of {path} is another one than in the diff: it is a diff of other files"))
            }
        }
    }

    /// The files of a run before the diff.
    ///
    /// # Errors
    /// As for [`Diff::undo`].
    pub fn before(&self, inputs: &[Input], listing: &Listing, root: &Path) -> Result<Before, String> {
        let gone = self.changes.iter().filter(|change| change.now != change.before).filter_map(|c| c.before.as_deref());
        let gone: BTreeSet<&str> = gone.collect();
        let charts = discover::charts(inputs.iter().map(|input| input.path.as_str()).chain(gone.iter().copied()));
        let mut out = Vec::new();
        for input in inputs {
            let Some(change) = self.of(&input.path) else {
                out.push(input.clone());
                continue;
            };
            // Files that stand in others are made of those anew.
            let text = if input.is_inner() { None } else { self.undo(&input.path, &input.text, root)? };
            let (Some(text), Some(path)) = (text, change.before.clone()) else { continue };
            let kind = if path == input.path { Some(input.kind) } else { discover::kind_in(&charts, &path) };
            out.extend(kind.map(|kind| Input { path, kind, text, repository: input.repository }));
        }
        let repository = inputs.first().map_or(0, |input| input.repository);
        let closed = |path: &str| paths::above(path).any(|above| listing.closed.contains(above));
        for change in self.changes.iter().filter(|change| change.now.is_none()) {
            let Some(path) = change.before.clone().filter(|path| !closed(path)) else { continue };
            let text = change.undo("").unwrap_or_default();
            let kind = discover::kind_in(&charts, &path);
            out.extend(kind.zip(text).map(|(kind, text)| Input { path, kind, text, repository }));
        }
        let again: Vec<Input> = out
            .iter()
            .filter(|input| self.changed(&input.path) || gone.contains(input.path.as_str()))
            .flat_map(lint::inline)
            .collect();
        out.extend(again);
        out.sort_by(|a, b| a.path.cmp(&b.path));
        let mut listing = listing.clone();
        let new = self.changes.iter().filter(|change| change.now != change.before).filter_map(|c| c.now.as_deref());
        for path in new {
            listing.there.remove(path);
        }
        listing.there.extend(gone.iter().flat_map(|path| paths::above(path)).map(str::to_owned));
        Ok(Before { inputs: out, listing })
    }
}

fn shown_root(root: &Path) -> String {
    if root == cwd() { "this directory".to_owned() } else { shown(root) }
}
