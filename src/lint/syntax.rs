//! What is said of text that does not parse. Knows that a broken file of another tool is none of our business; knows
//! no rule.

use super::trouble::{Lost, Trouble};
use crate::discover::{self, Kind};
use crate::extract::{self, TextFile};
use crate::facts::Facts;
use crate::finding::{Severity, Unlinted};
use crate::known::Why;
use crate::parse::{self, Problem, Tree, yaml};
use crate::source::{Source, Span};
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::ops::Deref;

/// Most problems that are told of one file: one that is something else than its name says has one on every line.
const MOST: usize = 5;

/// Most keys that are told of one file.
const MOST_KEYS: usize = 50;

/// Problems of a file of documents; the reason to skip it where it does not parse, no tool that we know reads it, it is not
/// `ours` by what it says, and nobody `meant` it to be linted.
pub fn documents(
    tree: &mut Tree,
    (path, text): (&str, &str),
    meant: bool,
    ours: impl Fn() -> bool,
) -> Result<Vec<(Problem, Trouble)>, String> {
    let mut problems = std::mem::take(&mut tree.problems);
    problems.retain(|problem| tree.cut.as_ref() != Some(problem));
    let broken = !problems.is_empty();
    // Asked of every document: most files have no problem, and no key twice.
    let known = LazyCell::new(|| {
        meant
            || discover::is_named_format(path)
            || extract::is_known(tree, path)
            || broken && (extract::speaks_of_a_format(text) || ours())
    });
    match problems.first() {
        // A template may have signs of its own: what they part is put together elsewhere.
        Some(first) if !*known || discover::is_template_name(path) => return Err(reason(first, text)),
        _ => {}
    }
    let lost = match tree.unfinished.is_empty() && !tree.documents.is_empty() {
        true => Lost::Part,
        false if tree.roots().any(|root| extract::format(root, path).is_some()) => Lost::Documents,
        false => Lost::File,
    };
    let mut out = shortened(problems, lost);
    let twice = duplicates(tree, path, &known);
    out.extend(tree.cut.clone().map(|cut| (cut, Trouble::NotLinted(Unlinted::Budget))));
    out.extend(twice);
    Ok(out)
}

/// Problems of a file in a syntax of its own, whose name says what it is. What is wrong with a template is not the
/// author's fault, unless it is `plain` text.
pub fn text(file: &TextFile, facts: &Facts, plain: bool) -> Vec<(Problem, Trouble)> {
    let blocks = file.module.iter().flat_map(|module| module.hcl.places()).any(|(_, body)| !body.is_empty());
    let packages = facts.package_files.iter().any(|file| !file.packages.is_empty());
    let read = blocks || packages || !facts.builds.is_empty();
    let problems = file.problems.iter().filter(|_| plain).cloned().collect();
    let mut out = shortened(problems, if read { Lost::Part } else { Lost::File });
    out.extend(file.cut.iter().map(|cut| (cut.clone(), Trouble::NotLinted(Unlinted::Budget))));
    out.extend(file.repeated.iter().map(|(key, span)| {
        let message = format!("the key `{key}` is written twice in one object: Terraform keeps the last value");
        (Problem { span: *span, message }, Trouble::Duplicate(Severity::Warning))
    }));
    out
}

/// Whether a problem stands at a line that something puts others in for, or begins behind it: a name in signs (`__FILES__`) and
/// nothing else.
pub fn is_filled_in(problem: &Problem, text: &str) -> bool {
    let stands_for_others =
        |line: &str| !line.contains(char::is_whitespace) && parse::placeholder(line) == Some(Why::Placeholder);
    let before = text.get(..problem.span.range().start).unwrap_or(text);
    let from = before.rfind('\n').map_or(0, |end| end + 1);
    let here = text[from..].lines().next();
    here.into_iter().chain(before[..from].lines().next_back()).any(|line| stands_for_others(line.trim()))
}

fn reason(problem: &Problem, text: &str) -> String {
    let at = Source::new("", text).position(problem.span.start);
    format!("{} (line {}, column {})", problem.message, at.line, at.column)
}

fn shortened(mut problems: Vec<Problem>, lost: Lost) -> Vec<(Problem, Trouble)> {
    let more = problems.len().saturating_sub(MOST);
    problems.truncate(MOST);
    if let Some(last) = problems.last_mut().filter(|_| more > 0) {
        last.message.push_str(&format!(" (and {more} more problems in this file)"));
    }
    problems.into_iter().map(|problem| (problem, Trouble::Syntax(lost))).collect()
}

/// Keys that are written twice, where a value is lost or a tool refuses the file.
fn duplicates(tree: &Tree, path: &str, known: &impl Deref<Target = bool>) -> Vec<(Problem, Trouble)> {
    // Delimiters that look like comments (`#% if %#`) may part the two: which ones a template has, its tool is told elsewhere.
    if discover::is_template_name(path) {
        return Vec::new();
    }
    let mut formats: BTreeMap<usize, Option<&str>> = BTreeMap::new();
    let mut format_at = |span: Span| {
        let after = tree.documents.partition_point(|&root| tree.node(root).span().start <= span.start);
        let at = after.checked_sub(1)?;
        let format = || extract::format(tree.node(tree.documents[at]), path).map(|format| format.name);
        *formats.entry(at).or_insert_with(format)
    };
    let told = |duplicate: yaml::Duplicate| {
        let (consequence, for_the_same) = consequence(format_at(duplicate.span), path);
        let (severity, value) = match duplicate.same {
            true => (for_the_same.filter(|_| **known)?, "the same value"),
            false if **known => (Severity::Warning, "another value"),
            false => (Severity::Info, "another value"),
        };
        let message =
            format!("the key `{}` is written twice in one mapping, with {value}: {consequence}", duplicate.key);
        Some((Problem { span: duplicate.span, message }, Trouble::Duplicate(severity)))
    };
    let keys = yaml::duplicate_keys(tree).into_iter().filter(|duplicate| !is_stand_in(&duplicate.key));
    let mut all = keys.filter_map(told);
    let mut out: Vec<_> = all.by_ref().take(MOST_KEYS).collect();
    if let (Some((last, _)), more @ 1..) = (out.last_mut(), all.count()) {
        last.message.push_str(&format!(" (and {more} more such keys in this file)"));
    }
    out
}

/// Whether a key stands for what somebody writes in its place: `x.x.x.x`, `<ip>`, `xxx`, `...`.
fn is_stand_in(key: &str) -> bool {
    let mut letters = key.chars().filter(|c| !".:-_/…*?".contains(*c)).peekable();
    let crossed = letters.peek().is_none() || key.len() > 1 && letters.all(|c| matches!(c, 'x' | 'X'));
    crossed || parse::placeholder(key).is_some()
}

/// What becomes of a key that is written twice, and how bad it is with the same value twice, if it is.
fn consequence(format: Option<&str>, path: &str) -> (&'static str, Option<Severity>) {
    let json = discover::kind_of(path) == Some(Kind::Json);
    let kustomization = path.rsplit('/').next().is_some_and(|name| name.starts_with("kustomization"));
    match format {
        _ if json => ("readers of JSON keep the last one", None),
        _ if kustomization => ("kustomize keeps the last one", None),
        Some("compose") => ("Docker Compose refuses the file", Some(Severity::Warning)),
        Some("kubernetes") => ("kubectl keeps the last one, and kustomize refuses the file", Some(Severity::Info)),
        _ => ("most readers keep the last one", None),
    }
}
