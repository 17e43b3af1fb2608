//! Baselines: findings that were there before and are known by what they mean, not by where they stand. Knows what a
//! baseline says; reads and writes no file.

use crate::finding::Finding;
use crate::source::Sources;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What every baseline begins with.
pub const HEAD: &str = "{\n  \"kind\": \"gpulint-baseline\",\n";

/// Findings that are known: of one rule, about one object, for the same words, in one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The file, from the root of the repository on.
    pub path: String,
    /// Id of the rule.
    pub rule: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub entity: String,
    /// What was said of it, for whoever reads the baseline.
    pub message: String,
    /// Of rule, object and words.
    pub meaning: String,
    /// How often it is found there.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub count: usize,
}

fn once() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_once(count: &usize) -> bool {
    *count == 1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: String,
    version: u32,
    findings: Vec<Known>,
}

/// The findings of a baseline.
///
/// # Errors
/// It is none, or one of another version.
pub fn parse(text: &str) -> Result<Vec<Known>, String> {
    let file: File = serde_json::from_str(text).map_err(|error| format!("not a baseline: {error}"))?;
    match (file.kind.as_str(), file.version) {
        ("gpulint-baseline", 1) => Ok(file.findings),
        ("gpulint-baseline", version) => {
            Err(format!("a baseline of version {version}, and this gpulint reads version 1"))
        }
        _ => Err("not a baseline".to_owned()),
    }
}

/// A baseline as text: a line for each, in order, so that changes show as lines.
pub fn text(known: &[Known]) -> String {
    let mut counted: BTreeMap<(&str, &str, &str, &str), Known> = BTreeMap::new();
    for one in known {
        let of = counted.entry((&one.path, &one.rule, &one.entity, &one.meaning));
        of.and_modify(|same| same.count = same.count.saturating_add(one.count)).or_insert_with(|| one.clone());
    }
    // Texts and numbers can always be written.
    let line = |one: &Known| format!("    {}", serde_json::to_string(one).unwrap_or_default());
    let lines: Vec<String> = counted.values().map(line).collect();
    let open = if lines.is_empty() { "[" } else { "[\n" };
    let close = if lines.is_empty() { "]" } else { "\n  ]" };
    format!("{HEAD}  \"version\": 1,\n  \"findings\": {open}{}{close}\n}}\n", lines.join(",\n"))
}

impl Known {
    /// A finding as a baseline has it.
    pub fn of(finding: &Finding, sources: &Sources) -> Self {
        let source = sources.get(finding.span.source);
        let meaning = finding.identity(&source.path, source.slice(finding.span));
        Self {
            path: source.path.clone(),
            rule: finding.rule.clone(),
            entity: finding.entity.clone(),
            message: finding.english().to_owned(),
            meaning,
            count: 1,
        }
    }
}

/// What a run has to do with the file of a finding that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether it stands where the run looks.
    pub linted: bool,
    /// Whether it is there.
    pub there: bool,
}

/// A baseline as a run meets it.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// What holds findings back, in words: `the baseline known.json`.
    pub name: String,
    known: Vec<(Known, Standing)>,
    /// How many findings of each are still to come.
    left: Vec<usize>,
}

impl Baseline {
    /// Findings that are known, and what the run has to do with their files.
    pub fn new(name: String, known: Vec<Known>, standing: impl Fn(&str) -> Standing) -> Self {
        let left = known.iter().map(|one| one.count).collect();
        let known = known.into_iter().map(|one| {
            let standing = standing(&one.path);
            (one, standing)
        });
        Self { name, known: known.collect(), left }
    }

    /// Tells findings that are known from those that are not, in their order. A file that is not there any more may have
    /// another name now.
    pub fn split(&mut self, findings: Vec<Finding>, sources: &Sources) -> (Vec<Finding>, Vec<Finding>) {
        let mut places: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        let mut gone: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, (known, standing)) in self.known.iter().enumerate().rev() {
            places.entry((&known.meaning, &known.path)).or_default().push(i);
            if !standing.there {
                gone.entry(&known.meaning).or_default().push(i);
            }
        }
        let meanings: Vec<Known> = findings.iter().map(|finding| Known::of(finding, sources)).collect();
        let mut is_known = vec![false; findings.len()];
        for (is_known, one) in is_known.iter_mut().zip(&meanings) {
            *is_known =
                places.get_mut(&(one.meaning.as_str(), one.path.as_str())).is_some_and(|at| take(at, &mut self.left));
        }
        for (is_known, one) in is_known.iter_mut().zip(&meanings).filter(|(is_known, _)| !**is_known) {
            *is_known = gone.get_mut(one.meaning.as_str()).is_some_and(|at| take(at, &mut self.left));
        }
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for (finding, is_known) in findings.into_iter().zip(is_known) {
            if is_known { &mut known } else { &mut new }.push(finding);
        }
        (new, known)
    }

    /// What was not found any more, where the run looked, with how often; `open` tells of what it may be found tomorrow.
    pub fn stale(&self, open: impl Fn(&Known) -> bool) -> Vec<Known> {
        self.over(|known, standing| standing.linted && !open(known))
    }

    /// What is left over and was not looked for, or could not be decided.
    pub fn untried(&self, open: impl Fn(&Known) -> bool) -> Vec<Known> {
        self.over(|known, standing| !standing.linted || open(known))
    }

    fn over(&self, of: impl Fn(&Known, Standing) -> bool) -> Vec<Known> {
        let left =
            self.known.iter().zip(&self.left).filter(|((known, standing), left)| **left > 0 && of(known, *standing));
        left.map(|((known, _), left)| Known { count: *left, ..known.clone() }).collect()
    }
}

/// Takes one of what is still to come.
fn take(at: &mut Vec<usize>, left: &mut [usize]) -> bool {
    while let Some(&i) = at.last() {
        if left[i] > 0 {
            left[i] -= 1;
            return true;
        }
        at.pop();
    }
    false
}
