//! Unified diffs: which lines of which files changed, and what stood there before. Knows no files and no findings.

use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};
use diffy::{DiffOptions, Line, Patch};
use std::borrow::Cow;
use std::ops::Range;

/// What a diff says of one file.
#[derive(Debug)]
pub struct Change {
    /// Its path before; none of a new file.
    pub before: Option<String>,
    /// Its path now; none of a file that is gone.
    pub now: Option<String>,
    /// What changed of its text, where that can be told.
    hunks: Option<Vec<Hunk>>,
}

/// Lines that follow each other.
#[derive(Debug)]
struct Hunk {
    /// The line of the text as it is now, from 0, at which it stands.
    at: usize,
    lines: Vec<(Role, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Kept,
    Removed,
    Added,
}

/// What changes from one text of a file to another, as a unified diff.
pub fn written(path: &str, before: &str, now: &str) -> String {
    let mut options = DiffOptions::new();
    options.set_original_filename(path.to_owned()).set_modified_filename(path.to_owned());
    options.create_patch(before, now).to_string()
}

/// Reads a diff as Git writes it.
///
/// # Errors
/// It is none, one of several parents, or names a file twice.
pub fn parse(diff: &[u8]) -> Result<Vec<Change>, String> {
    if diff.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let mut lines = diff.split(|byte| *byte == b'\n');
    if lines.any(|line| line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ")) {
        return Err("a diff of a merge with several parents; write one of two trees".to_owned());
    }
    let patches = PatchSet::parse_bytes(diff, ParseOptions::gitdiff()).collect::<Result<Vec<_>, _>>();
    let patches = patches.map_err(|error| format!("not a diff as `git diff` writes it: {error}"))?;
    let plain = patches.iter().any(|patch| match patch.operation() {
        FileOperation::Modify { original, modified } => original == modified,
        _ => false,
    });
    let changes: Vec<Change> = patches.iter().map(|patch| change(patch, plain)).collect();
    let mut names: Vec<&String> = changes.iter().filter_map(|change| change.now.as_ref()).collect();
    names.sort_unstable();
    match names.windows(2).find(|two| two[0] == two[1]) {
        Some(twice) => Err(format!("{} is changed twice; write one diff of two trees", twice[0])),
        None => Ok(changes),
    }
}

/// `plain` when paths have no prefix (`diff.noprefix`).
fn change(patch: &FilePatch<'_, [u8]>, plain: bool) -> Change {
    let name = |path: &Cow<'_, [u8]>| String::from_utf8_lossy(path).into_owned();
    // `a/`, `b/`, or the letter of what is compared.
    let prefixed = |path: &Cow<'_, [u8]>| {
        let path = name(path);
        let rest =
            path.split_once('/').filter(|(prefix, _)| !plain && prefix.len() == 1).map(|(_, rest)| rest.to_owned());
        rest.unwrap_or(path)
    };
    let (before, now) = match patch.operation() {
        FileOperation::Create(path) => (None, Some(prefixed(path))),
        FileOperation::Delete(path) => (Some(prefixed(path)), None),
        FileOperation::Modify { original, modified } => (Some(prefixed(original)), Some(prefixed(modified))),
        FileOperation::Rename { from, to } => (Some(name(from)), Some(name(to))),
        FileOperation::Copy { to, .. } => (None, Some(name(to))),
    };
    let is_file = |mode: Option<&FileMode>| !matches!(mode, Some(FileMode::Symlink | FileMode::Gitlink));
    let told = !patch.operation().is_copy() && is_file(patch.old_mode()) && is_file(patch.new_mode());
    let hunks = match patch.patch() {
        PatchKind::Text(text) if told => hunks(text),
        _ => None,
    };
    Change { before, now, hunks }
}

/// None where a line is no text.
fn hunks(patch: &Patch<'_, [u8]>) -> Option<Vec<Hunk>> {
    let hunk = |hunk: &diffy::Hunk<'_, [u8]>| {
        let range = hunk.new_range();
        // What has no lines stands behind the line that it names.
        let at = if range.is_empty() { range.start() } else { range.start().saturating_sub(1) };
        let line = |line: &Line<'_, [u8]>| {
            let (role, bytes) = match line {
                Line::Context(bytes) => (Role::Kept, bytes),
                Line::Delete(bytes) => (Role::Removed, bytes),
                Line::Insert(bytes) => (Role::Added, bytes),
            };
            Some((role, str::from_utf8(bytes).ok()?.to_owned()))
        };
        Some(Hunk { at, lines: hunk.lines().iter().map(line).collect::<Option<_>>()? })
    };
    patch.hunks().iter().map(hunk).collect()
}

impl Change {
    /// Whether one of some lines, from 0, changed; every line may have where the diff does not show them.
    pub fn touches(&self, lines: Range<usize>) -> bool {
        let Some(hunks) = &self.hunks else { return true };
        hunks.iter().any(|hunk| {
            let now = hunk.lines.iter().filter(|(role, _)| *role != Role::Removed).map(|(role, _)| role);
            (hunk.at..).zip(now).any(|(at, role)| *role == Role::Added && lines.contains(&at))
        })
    }

    /// The text before, of the one that it is now. None where the diff does not show it.
    ///
    /// # Errors
    /// The line, from 1, at which the text is another one than that of the diff.
    pub fn undo(&self, now: &str) -> Result<Option<String>, usize> {
        let Some(hunks) = &self.hunks else { return Ok(None) };
        let lines: Vec<&str> = now.split_inclusive('\n').collect();
        let (mut out, mut at) = (String::new(), 0);
        for hunk in hunks {
            let kept = lines.get(at..hunk.at).ok_or(lines.len() + 1)?;
            out.extend(kept.iter().copied());
            at = hunk.at;
            for (role, text) in &hunk.lines {
                if *role == Role::Removed {
                    out.push_str(text);
                    continue;
                }
                // Git may store other line ends than it writes.
                let line = lines.get(at).filter(|line| line.trim_end() == text.trim_end()).ok_or(at + 1)?;
                at += 1;
                if *role == Role::Kept {
                    out.push_str(line);
                }
            }
        }
        out.extend(lines.get(at..).unwrap_or_default().iter().copied());
        Ok(Some(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/k8s/a.yaml b/k8s/a.yaml\nindex 1..2 100644\n--- a/k8s/a.yaml\n+++ b/k8s/a.yaml\n\
                        @@ -1,0 +2 @@ x\n+two\n@@ -4,2 +5,0 @@\n-six\n-- a/seven\n@@ -8 +7 @@\n-nine\n+NINE\n\
                        \\ No newline at end of file\n\
                        diff --git a/old.tf b/new.tf\nsimilarity index 100%\nrename from old.tf\nrename to new.tf\n\
                        diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\n\
                        diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+text\n\
                        diff --git a/b.tgz b/b.tgz\nindex 1..2 100644\nBinary files a/b.tgz and b/b.tgz differ\n";

    #[test]
    fn a_diff_gives_changed_lines_and_what_stood_there() {
        let changes = parse(DIFF.as_bytes()).expect("a diff");
        let names: Vec<_> = changes.iter().map(|one| (one.before.as_deref(), one.now.as_deref())).collect();
        let expected = [
            (Some("k8s/a.yaml"), Some("k8s/a.yaml")),
            (Some("old.tf"), Some("new.tf")),
            (Some("gone"), None),
            (None, Some("x")),
            (Some("b.tgz"), Some("b.tgz")),
        ];
        assert_eq!(names, expected);
        let now = "one\ntwo\nthree\nfour\nfive\neight\nNINE";
        let undone = changes[0].undo(now);
        assert_eq!(undone, Ok(Some("one\nthree\nfour\nfive\nsix\n- a/seven\neight\nnine\n".to_owned())));
        let touched: Vec<usize> = (0..9).filter(|line| changes[0].touches(*line..line + 1)).collect();
        assert_eq!(touched, [1, 6]);
        assert_eq!(changes[0].undo("one\ntwo\nthree\nfour\nfive\nNINE\n"), Err(7));
        assert_eq!(changes[0].undo("one\n2\n"), Err(2));
        assert_eq!(changes[1].undo("same\n"), Ok(Some("same\n".to_owned())));
        assert!(!changes[1].touches(0..9));
        assert_eq!(changes[2].undo(""), Ok(Some("text\n".to_owned())));
        assert!(changes[4].touches(0..1) && changes[4].undo("x") == Ok(None));
    }

    #[test]
    fn paths_may_have_no_prefix_and_other_diffs_are_refused() {
        let plain = "diff --git b/a.tf b/a.tf\n--- b/a.tf\n+++ b/a.tf\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(parse(plain.as_bytes()).expect("a diff")[0].now.as_deref(), Some("b/a.tf"));
        assert!(parse(b" \n").expect("no change").is_empty());
        for bad in ["apiVersion: v1\n", "diff --cc a\nindex 1,2..3\n", &format!("{plain}{plain}")] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
