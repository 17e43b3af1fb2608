//! Dockerfiles held against what a builder makes of them: names and variables that are not there where they are used, lists
//! that are none, steps that leave nothing behind. What the shell and the programs of a step say is told below.

mod arguments;
mod programs;
mod shell;

use super::{Breach, Judged};
use crate::catalog::{self, BaseImage};
use crate::facts::{BreachClass, Build, Image, Software};
use crate::parse::dockerfile::{Dockerfile, Instruction};
use crate::parse::shell::Script;
use crate::source::{Span, Traced};
use crate::suggest;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Most instructions of a file that are looked at, with those that stages take over.
const MOST_INSTRUCTIONS: usize = 2_000;

/// A stage as it is built.
struct Stage<'f> {
    from: &'f Instruction,
    /// Its name in lower case.
    name: Option<String>,
    /// Its instructions behind those of the stages underneath.
    lines: Vec<&'f Instruction>,
    /// How many of them stand underneath.
    under: usize,
    /// The image at the bottom, where all is known of it that matters here.
    base: Option<BaseImage>,
    software: Option<&'f Software>,
}

impl<'f> Stage<'f> {
    fn own(&self) -> &[&'f Instruction] {
        &self.lines[self.under..]
    }
}

/// Holds a Dockerfile against what a builder does with it; `builds` are its stages as facts.
pub fn judge<'f>(file: &'f Dockerfile, builds: impl Iterator<Item = &'f Arc<Build>>) -> Vec<Judged> {
    let is_template = |line: &Instruction| {
        [&line.keyword, line.rest.text()].iter().any(|text| text.contains("{{") || text.contains("{%"))
    };
    // What a template makes of it is not here, and what is no instruction is told by itself.
    if file.escape != '\\' || !file.problems.is_empty() || file.instructions.iter().any(is_template) {
        return Vec::new();
    }
    let builds: Vec<&Arc<Build>> = builds.filter(|build| build.built_for.is_empty()).collect();
    let first = file.instructions.iter().position(|line| line.keyword == "FROM").unwrap_or(file.instructions.len());
    let (before, rest) = file.instructions.split_at(first);
    let stages = stages(rest, &builds);
    let mut found: Vec<Breach> = file.instructions.iter().filter_map(malformed_from).collect();
    found.extend(outside_of_stages(before, rest));
    for (at, stage) in stages.iter().enumerate() {
        found.extend(arguments::in_from(stage, (before, &file.instructions)));
        found.extend(copies(stage, at, &stages));
        if stage.lines.len() <= MOST_INSTRUCTIONS {
            found.extend(arguments::in_stage(stage, before));
            found.extend(shell::judge(stage));
            found.extend(programs::judge(stage));
        }
        found.extend(stage.own().iter().filter_map(|line| not_a_list(line)));
        found.extend(ignored_command(stage));
    }
    let mut told = BTreeSet::new();
    found.retain(|breach| told.insert(breach.place));
    let judged = Judged { contract: "Dockerfile".to_owned(), breaches: found };
    if judged.breaches.is_empty() { Vec::new() } else { vec![judged] }
}

fn stages<'f>(lines: &'f [Instruction], builds: &[&'f Arc<Build>]) -> Vec<Stage<'f>> {
    let mut stages: Vec<Stage<'_>> = Vec::new();
    for line in lines {
        if line.keyword != "FROM" {
            stages.iter_mut().last().into_iter().for_each(|stage| stage.lines.push(line));
            continue;
        }
        let base = line.base();
        let named = base.as_ref().map(|base| base.image.text().to_ascii_lowercase());
        let under = stages.iter().rev().find(|stage| stage.name.is_some() && stage.name == named);
        let build = builds.iter().find(|build| build.span.range().start == line.span.range().start);
        let software = build.and_then(|build| build.software.as_deref());
        let (lines, bottom) = match under {
            Some(under) if under.lines.len() <= MOST_INSTRUCTIONS => (under.lines.clone(), under.base),
            Some(_) => (Vec::new(), None),
            // A stage whose image an argument names may only be built with another one.
            None if named.is_none_or(|named| named.split(':').next().is_some_and(|name| name.contains('$'))) => {
                (Vec::new(), None)
            }
            None => (Vec::new(), build.and_then(|build| of_image(&build.base))),
        };
        let name = base.and_then(|base| Some(base.alias?.text().to_ascii_lowercase()));
        let under = lines.len();
        stages.push(Stage { from: line, name, lines, under, base: bottom, software });
    }
    stages
}

/// A FROM that states neither an image alone nor an image, AS and the name of a stage; a builder knows no comment behind it.
/// <https://github.com/moby/buildkit/blob/master/frontend/dockerfile/instructions/parse.go> (`parseBuildStageName`)
fn malformed_from(line: &Instruction) -> Option<Breach> {
    // Another tool fills in what such signs stand around.
    if line.keyword != "FROM" || line.rest.text().contains(['<', '>', '%', '"', '\'']) {
        return None;
    }
    let words: Vec<&str> = line.rest.text().split_whitespace().collect();
    let is_as = |word: &str| word.eq_ignore_ascii_case("as");
    let refused = |place, says, meant| Some(breach(BreachClass::BuildRefused, place, "FROM", says, meant));
    let whole = || line.rest.span(0..line.rest.text().trim_end().len());
    let takes = "FROM takes an image, or an image, AS and the name of a stage";
    match words[..] {
        [_] => None,
        [] => refused(line.keyword_span, format!("{takes}; it is empty"), None),
        [_, word, name] if is_as(word) => {
            let first = |c: char| c.is_ascii_alphabetic();
            let named = name.starts_with(first)
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
            let place = line.words().pop()?.whole();
            let says =
                format!("no stage can be called {name}: a name is a letter, then letters, digits, `-`, `_` and `.`");
            // A variable may be filled in before the builder reads it.
            if named || name.contains('$') { None } else { refused(place, says, None) }
        }
        [image, ref rest @ ..] => {
            let comment = rest.iter().position(|word| word.starts_with('#'));
            let meant = match (comment, rest) {
                (Some(0), _) => Some(format!("FROM {image}")),
                (Some(2), [word, name, ..]) if is_as(word) => Some(format!("FROM {image} AS {name}")),
                (None, [word]) if is_as(word) => Some(format!("FROM {image}")),
                (None, [name]) if !is_as(image) => Some(format!("FROM {image} AS {name}")),
                _ => None,
            };
            refused(whole(), format!("{takes}; it gets `{}`", shortened(&words.join(" "))), meant)
        }
    }
}

/// The first instruction before the first FROM that is not ARG. What has no FROM at all is a part that a tool puts into others.
fn outside_of_stages(before: &[Instruction], rest: &[Instruction]) -> Option<Breach> {
    let line = before.iter().find(|line| line.keyword != "ARG").filter(|_| !rest.is_empty())?;
    let says = format!("{} stands before the first FROM, where only ARG may: it is of no stage", line.keyword);
    Some(breach(BreachClass::BuildRefused, line.keyword_span, &line.keyword, says, None))
}

/// What is known of an image.
fn of_image(image: &Image) -> Option<BaseImage> {
    let (registry, repository) = (image.registry.get()?, image.repository.get()?);
    let name = if registry == "docker.io" { repository.clone() } else { format!("{registry}/{repository}") };
    catalog::base_image(&name, image.tag.get()?)
}

/// What is copied from a stage that is not there: behind this one, of a higher number, of nearly that name.
fn copies<'f>(stage: &Stage<'f>, at: usize, stages: &[Stage<'f>]) -> Vec<Breach> {
    let names = |stages: &[Stage<'_>]| stages.iter().filter_map(|stage| stage.name.clone()).collect::<Vec<_>>();
    let (before, all) = (names(&stages[..at]), names(stages));
    let sources = stage.own().iter().filter(|line| line.keyword == "COPY").filter_map(|line| line.flag("from"));
    let read = |from: &Traced| {
        let text = from.text().to_ascii_lowercase();
        if before.contains(&text) || text.contains(['$', '/', ':', '@']) {
            return None;
        }
        let (says, meant) = match text.parse::<usize>() {
            Ok(number) if number >= at => {
                (format!("COPY takes from stage {text}, and {} before this one", stands(at)), None)
            }
            Ok(_) => return None,
            _ if all.contains(&text) => {
                (format!("COPY takes from stage {text}, which does not come before this one"), None)
            }
            _ => {
                let near = suggest::nearest(&text, before.iter().map(String::as_str))?;
                (format!("COPY takes from {text}, which is no stage before this one"), Some(near.to_owned()))
            }
        };
        Some(breach(BreachClass::BuildRefused, from.whole(), "COPY --from", says, meant))
    };
    sources.filter_map(read).collect()
}

/// How many stages stand somewhere, with the verb.
fn stands(count: usize) -> String {
    match count {
        0 => "no stage stands".to_owned(),
        1 => "only stage 0 stands".to_owned(),
        _ => format!("only stages 0 to {} stand", count - 1),
    }
}

/// A command that looks like a list and is none, so that a shell gets its brackets.
fn not_a_list(line: &Instruction) -> Option<Breach> {
    let command = match line.keyword.as_str() {
        "CMD" | "ENTRYPOINT" => (*line).clone(),
        "HEALTHCHECK" if line.rest.text().starts_with("CMD ") => {
            Instruction::stating("CMD", &line.rest.slice(4..line.rest.text().len()))
        }
        _ => return None,
    };
    let text = command.rest.text().trim();
    let inner = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    if !inner.starts_with(['\'', '"', '\u{201c}', '\u{2018}']) || command.json_array().is_some() {
        return None;
    }
    let says =
        format!("the list of {} is no JSON, so a shell is to run it as it stands: {}", line.keyword, shortened(text));
    Some(breach(BreachClass::ListMalformed, line.span, &line.keyword, says, None))
}

/// A CMD that an ENTRYPOINT of the same stage does not take: one that is no list is run by a shell, which gets no arguments.
fn ignored_command(stage: &Stage<'_>) -> Option<Breach> {
    let last = |keyword: &str| stage.own().iter().rev().find(|line| line.keyword == keyword);
    let (entrypoint, command) = (last("ENTRYPOINT")?, last("CMD")?);
    let text = entrypoint.rest.text();
    let takes = text.is_empty() || text.contains(['@', '*', '[']) || text.contains("$0") || text.contains("$1");
    if takes || command.rest.text().is_empty() || command.json_array().is_some_and(|words| words.is_empty()) {
        return None;
    }
    let says = "ENTRYPOINT is no list, so a shell runs it without the arguments of CMD".to_owned();
    Some(Breach {
        other: Some((format!("ENTRYPOINT {}", shortened(text)), entrypoint.span)),
        ..breach(BreachClass::StepWithoutEffect, command.span, "CMD", says, None)
    })
}

/// The commands of a RUN as a shell of the image reads them; `None` where another program does.
fn script(line: &Instruction) -> Option<Script> {
    let read_by_another = !line.heredocs.is_empty() && !line.rest.text().starts_with("<<");
    let interpreted = line.heredocs.iter().any(|heredoc| heredoc.body.text().starts_with("#!"));
    (line.keyword == "RUN" && line.json_array().is_none() && !read_by_another && !interpreted).then(|| line.script())
}

/// A text as far as a message shows it.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn breach(class: BreachClass, place: Span, field: &str, says: String, meant: Option<String>) -> Breach {
    Breach { class, place, field: field.to_owned(), says, meant, other: None, instead: None, unknown: None }
}
