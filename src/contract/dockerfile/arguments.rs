//! Build arguments where they do not reach: a FROM knows those before the first one, a stage those that it declares.

use super::{Stage, breach, script};
use crate::contract::Breach;
use crate::facts::BreachClass;
use crate::parse::dockerfile::Instruction;
use crate::parse::shell::Command;
use crate::source::Traced;
use crate::suggest;
use std::collections::{BTreeMap, BTreeSet};

/// Arguments that a builder knows without a declaration. <https://docs.docker.com/reference/dockerfile/#predefined-args>
const PREDEFINED: [&str; 10] = [
    "BUILDARCH",
    "BUILDOS",
    "BUILDPLATFORM",
    "BUILDVARIANT",
    "TARGETARCH",
    "TARGETOS",
    "TARGETPLATFORM",
    "TARGETSTAGE",
    "TARGETVARIANT",
    "BUILDKIT_SYNTAX",
];

/// Programs that take a release or an address from a variable.
const FETCH: [&str; 9] = ["pip", "pip3", "uv", "python", "python3", "wget", "curl", "git", "conda"];

/// A FROM whose image is malformed without the variables that nothing declares before the first stage.
///
/// What the file declares nowhere is filled in by another tool: the author means an argument of the build where a stage declares
/// it, or one of nearly that name stands before.
pub fn in_from(stage: &Stage<'_>, (before, all): (&[Instruction], &[Instruction])) -> Option<Breach> {
    let image = stage.from.base()?.image;
    let declared = declared_in(before);
    let known = |name: &str| declared.contains_key(name) || PREDEFINED.contains(&name);
    let mut missing = Vec::new();
    let mut text = String::new();
    let mut from = 0;
    for (range, name, plain) in variables(image.text()) {
        text.push_str(&image.text()[from..range.start]);
        from = range.end;
        match plain && !known(&name) {
            true => missing.push(name),
            false => text.push('x'),
        }
    }
    text.push_str(&image.text()[from..]);
    let (first, last) = (text.chars().next(), text.chars().next_back());
    let separates = |c: Option<char>| c.is_none_or(|c| matches!(c, ':' | '/' | '@' | '.' | '-' | '_'));
    let malformed =
        separates(first) || separates(last) || [":-", ":.", "//", "::", "/:"].iter().any(|part| text.contains(part));
    let anywhere = declared_in(all);
    let meant = |name: &String| {
        anywhere.contains_key(name) || suggest::nearest(name, declared.keys().map(String::as_str)).is_some()
    };
    let name = missing.into_iter().next().filter(|name| malformed && meant(name))?;
    let says = format!("no ARG before the first FROM declares {name}, so that the image is `{text}`");
    Some(breach(
        BreachClass::BuildRefused,
        image.whole(),
        "FROM",
        says,
        Some(format!("ARG {name} before the first FROM")),
    ))
}

/// What a stage fetches by variables that are declared before the first FROM only.
pub fn in_stage(stage: &Stage<'_>, before: &[Instruction]) -> Vec<Breach> {
    let mut open = declared_in(before);
    let Some(base) = stage.base.filter(|_| !open.is_empty()) else { return Vec::new() };
    // What is empty by default is as empty without a declaration.
    open.retain(|name, value| !value.as_ref().is_some_and(|value| value.text().is_empty()) && !base.sets(name));
    let mut found = Vec::new();
    for (at, line) in stage.lines.iter().enumerate() {
        if matches!(line.keyword.as_str(), "ARG" | "ENV") {
            line.assignments().iter().for_each(|a| drop(open.remove(a.name.text())));
        }
        let own = at >= stage.under;
        let Some(script) = script(line).filter(|_| own) else { continue };
        // What a script sets itself, or reads, may be any.
        let mut set: BTreeSet<&str> =
            script.commands.iter().flat_map(|c| c.opens.iter().map(|(name, _)| name.as_str())).collect();
        for command in &script.commands {
            set.extend(command.assignments.iter().map(|(name, _)| name.as_str()));
            set.extend(command.words.iter().filter_map(|word| word.text().split_once('=')).map(|(name, _)| name));
            if command.words.first().is_some_and(|word| matches!(word.text(), "read" | "eval" | "." | "source")) {
                break;
            }
            if let Some((name, value)) = fetched(command, |name| open.contains_key(name) && !set.contains(name)) {
                let says = format!("{name} is declared before the first FROM only, and is empty in this stage");
                let declaration = open.get(&name).and_then(Option::as_ref).map(Traced::whole);
                let other = declaration.map(|place| (format!("ARG {name}"), place));
                let meant = Some(format!("ARG {name} in the stage, behind its FROM"));
                found.push(Breach {
                    other,
                    ..breach(BreachClass::ArgumentNotInStage, value.whole(), &name, says, meant)
                });
            }
        }
    }
    found
}

/// The variable of a command that fetches something, where `missing` says so, and the word that it stands in.
fn fetched(command: &Command, missing: impl Fn(&str) -> bool) -> Option<(String, Traced)> {
    let program = command.words.first()?.text();
    if !FETCH.contains(&program) || !command.arms.branches().is_empty() {
        return None;
    }
    command.words[1..].iter().filter(|word| word.expands).find_map(|word| {
        let (_, name, _) = variables(word.text()).into_iter().find(|(_, name, plain)| *plain && missing(name))?;
        Some((name, word.traced().clone()))
    })
}

/// The arguments of instructions, with what each is by default.
fn declared_in(lines: &[Instruction]) -> BTreeMap<String, Option<Traced>> {
    let arguments = lines.iter().filter(|line| line.keyword == "ARG").flat_map(Instruction::assignments);
    arguments.map(|a| (a.name.text().to_owned(), Some(a.value.unwrap_or(a.name)))).collect()
}

/// The variables of a text: where each stands, its name, and whether it stands for nothing where it is not set.
fn variables(text: &str) -> Vec<(std::ops::Range<usize>, String, bool)> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find('$') {
        let start = at + found;
        let braced = text[start + 1..].starts_with('{');
        let from = start + 1 + usize::from(braced);
        let length = text[from..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len() - from);
        let name = &text[from..from + length];
        let after = from + length;
        let end = match braced {
            true => text[after..].find('}').map_or(text.len(), |end| after + end + 1),
            false => after,
        };
        let escaped = text[..start].ends_with('\\');
        if !name.is_empty() && !escaped && !name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push((start..end, name.to_owned(), !braced || text[after..].starts_with('}')));
        }
        at = end.max(start + 1);
    }
    out
}
