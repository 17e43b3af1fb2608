//! Command lines against the flags that releases of a program know.

use super::{Breach, Judged};
use crate::catalog::{FlagProgram, ProgramFlag, flag_program};
use crate::facts::{BreachClass as Class, Launch};
use crate::known::Fact;
use crate::source::Span;
use crate::version::Version;

/// The longest name that is no slip of another one where the release is not known.
const SHORT: usize = 4;

/// Holds a command line against the flags of its program: of its release where that is known, else of all that were read.
/// `published` says whether it runs in the newest image that the program's publisher makes.
pub fn judge(launch: &Launch, published: bool) -> Option<Judged> {
    let words = launch.words.iter().filter_map(|word| word.get().map(String::as_str));
    let program = flag_program(launch.engine.get()?, words).filter(|program| !program.is_open())?;
    let version = launch.version.get();
    // Which flags came and went between two releases is not known of what was tried out between them.
    if version.is_some_and(|version| !program.is_whole(version) || version.is_prerelease()) {
        return None;
    }
    let of_release = |name: &str| -> Vec<ProgramFlag> {
        program.find(name).filter(|flag| version.is_none_or(|version| flag.holds(version))).collect()
    };
    let mut breaches = Vec::new();
    for (name, at) in written(launch, program, &of_release) {
        let own = of_release(&name);
        if own.is_empty() {
            let all: Vec<ProgramFlag> = program.find(&name).collect();
            let missing = missing(&name, &all, (program, version));
            let place = launch.words[at].span;
            let instead = |meant: &Option<String>, class| match class {
                Class::FlagUnknown => program.only(&name, version).map(|near| format!("--{near}")),
                _ => meant.clone().filter(|new| takes_the_same(program, &all, new)),
            };
            breaches.extend(missing.map(|(class, says, meant)| {
                let instead = instead(&meant, class).filter(|_| is_spelled(&launch.words[at], &name));
                Breach { meant, instead, ..told(class, place, &name, says) }
            }));
        } else if own.iter().all(ProgramFlag::is_removed) {
            let meant = own.iter().rev().find_map(|flag| flag.replaced_by).map(|new| format!("--{new}"));
            let told = told(Class::FlagNotOfRelease, launch.words[at].span, &name, format!("--{name} was removed"));
            let elsewhere: Vec<ProgramFlag> = program.find(&name).filter(|flag| !flag.is_removed()).collect();
            let same = |new: &String| takes_the_same(program, &elsewhere, new);
            let instead = meant.clone().filter(|new| is_spelled(&launch.words[at], &name) && same(new));
            breaches.extend((version.is_some() || published).then_some(Breach { meant, instead, ..told }));
        } else if !program.starts_script() {
            breaches.extend(misused(launch, (&name, at), &own, program));
        }
    }
    let contract = version.map_or_else(
        || format!("{}, releases {}", program.name, program.versions()),
        |version| format!("{} {version}", program.name),
    );
    (!breaches.is_empty()).then_some(Judged { contract, breaches })
}

fn told(class: Class, place: Span, name: &str, says: String) -> Breach {
    Breach { class, place, field: format!("--{name}"), says, meant: None, other: None, instead: None, unknown: None }
}

/// Whether a flag takes what one that it replaces took.
fn takes_the_same(program: FlagProgram, replaced: &[ProgramFlag], new: &str) -> bool {
    let takes = replaced.last().map(|flag| flag.takes);
    program.find(new.trim_start_matches('-')).last().is_some_and(|flag| Some(flag.takes) == takes)
}

/// Whether a word states a flag under its very name, before its value if that stands in it.
fn is_spelled(word: &Fact<String>, name: &str) -> bool {
    let flag = word.get().and_then(|word| word.split('=').next());
    flag.and_then(|flag| flag.strip_prefix("--")) == Some(name)
}

/// The flags of a program and the words that state them. What is no word of the command line was stated elsewhere; what
/// stands behind a script is the script's.
fn written<'l>(
    launch: &'l Launch,
    program: FlagProgram,
    of_release: &dyn Fn(&str) -> Vec<ProgramFlag>,
) -> Vec<(String, usize)> {
    let own = if program.starts_script() { before_script(launch, program, of_release) } else { launch.words.len() };
    let stated = |name: &'l String| Some((name.clone(), places(launch, name).next().filter(|at| *at < own)?));
    launch.flags.keys().filter_map(stated).collect()
}

/// Where the script of a launcher stands, or what may be it.
fn before_script(launch: &Launch, program: FlagProgram, of_release: &dyn Fn(&str) -> Vec<ProgramFlag>) -> usize {
    let words = &launch.words;
    let mut at =
        words.iter().position(|word| word.get().is_some_and(|word| program.is_command(word))).map_or(0, |at| at + 1);
    while let Some(flag) = words.get(at).and_then(Fact::get).filter(|word| word.starts_with('-')) {
        at += 1;
        if flag.contains('=') {
            continue;
        }
        match of_release(flag).first().map(|flag| flag.takes) {
            Some("none" | "boolean") => {}
            Some("one" | "int" | "float") => at += 1,
            // What follows may be its value or the script.
            _ => return at,
        }
    }
    at
}

/// The words that a flag is written with.
fn places(launch: &Launch, name: &str) -> impl Iterator<Item = usize> {
    let is_flag = move |word: &Fact<String>| {
        let Some(text) = word.get().filter(|text| text.starts_with('-')) else { return false };
        text.split('=').next().is_some_and(|flag| flag.trim_start_matches('-').replace('_', "-") == name)
    };
    (0..launch.words.len()).filter(move |at| is_flag(&launch.words[*at]))
}

/// What is wrong with the use of a flag that the release has.
fn misused(launch: &Launch, (name, at): (&str, usize), own: &[ProgramFlag], program: FlagProgram) -> Option<Breach> {
    // A key within the JSON of a flag stands behind a dot, and takes whatever it takes.
    let part = name.contains('.') && own.iter().all(|flag| matches!(flag.takes, "json" | "pairs"));
    let value = &launch.flags[name];
    if let Some(says) = wrong_value(&format!("--{name}"), value, own).filter(|_| !part) {
        return Some(told(Class::ValueNotAllowed, value.span, name, says));
    }
    let word = &launch.words[at];
    if own.iter().all(|flag| matches!(flag.takes, "none" | "boolean")) {
        let bare = |text: &String| ["true", "false", "1", "0"].contains(&text.to_lowercase().as_str());
        let next = || launch.words.get(at + 1).filter(|next| next.get().is_some_and(bare));
        let given = if word.get()?.contains('=') { Some(word) } else { next() };
        if let Some(given) = given {
            return Some(told(Class::FlagMisused, given.span, name, format!("--{name} takes no value")));
        }
    }
    if let Some(other) = excluded(own, launch) {
        return Some(told(Class::FlagMisused, word.span, name, format!("--{name} does not go with --{other}")));
    }
    if let Some(other) = needed(name, own, launch) {
        let needs = told(Class::FlagMisused, word.span, name, format!("--{name} needs --{other}"));
        return Some(Breach { meant: Some(format!("--{other}, too")), ..needs });
    }
    repeated(launch, name, own, program)
}

/// A flag that takes one value and is stated with two.
fn repeated(launch: &Launch, name: &str, own: &[ProgramFlag], program: FlagProgram) -> Option<Breach> {
    let value = |at: usize| {
        let text = launch.words[at].get()?;
        let value = match text.split_once('=') {
            Some((_, value)) => value,
            None => launch.words.get(at + 1)?.get()?,
        };
        (!value.contains('$')).then_some((value, launch.words[at].span))
    };
    let values: Vec<(&str, Span)> = places(launch, name).map(value).collect::<Option<_>>()?;
    let [(first, place), .., (last, other)] = values[..] else { return None };
    let single = own.iter().all(|flag| matches!(flag.takes, "one" | "int" | "float" | "size"));
    if !single || program.takes_lists() || first == last && !program.takes_once() {
        return None;
    }
    let (class, says) = match program.takes_once() {
        true => (Class::FlagMisused, format!("--{name} may be stated once, and is {first} and {last}")),
        false => (Class::FlagRepeated, format!("--{name} is {first} and {last}: the last one holds")),
    };
    Some(Breach { other: Some((format!("--{name}"), other)), ..told(class, place, name, says) })
}

/// What is wrong with a flag that the release does not have; nothing where that cannot be told.
fn missing(
    name: &str,
    elsewhere: &[ProgramFlag],
    (program, version): (FlagProgram, Option<&Version>),
) -> Option<(Class, String, Option<String>)> {
    if program.abbreviates(name, version) {
        return None;
    }
    // A short name is like many others.
    let like = |_: &&str| version.is_some() || name.len() > SHORT;
    let near = program.nearest(name, version).filter(like).map(|near| format!("--{near}"));
    if elsewhere.is_empty() {
        // Another program of the name may know it, unless it is a slip.
        let says = format!("there is no flag --{name}");
        return (version.is_some() || near.is_some()).then_some((Class::FlagUnknown, says, near));
    }
    let versions: Vec<&str> = elsewhere.iter().map(|flag| flag.versions).collect();
    let says = format!("there is no flag --{name}: other releases have it ({})", versions.join(", "));
    let since = elsewhere.iter().rev().find_map(|flag| flag.replaced_by);
    Some((Class::FlagNotOfRelease, says, since.map(|new| format!("--{new}"))))
}

/// Whether a text is neither JSON nor what a shell, a template or a file may make JSON of.
fn is_no_json(text: &str) -> bool {
    !text.contains(['$', '<', '{', '/', '\'', '\\']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()
}

/// What is wrong with the value of a flag in every release that may run.
pub(super) fn wrong_value(name: &str, value: &Fact<String>, own: &[ProgramFlag]) -> Option<String> {
    let text = value.get()?;
    let wrong = |flag: &ProgramFlag| {
        let choices = flag.choices();
        let number = text.parse::<i64>().ok();
        let other = |choice: &str| choice != text && (number.is_none() || choice.parse::<i64>().ok() != number);
        match flag.takes {
            "none" | "boolean" | "optional" => None,
            "int" if number.is_none() && text != "true" => Some("a whole number".to_owned()),
            "float" if text.parse::<f64>().is_err() && text != "true" => Some("a number".to_owned()),
            "json" if is_no_json(text) => Some("JSON".to_owned()),
            "pairs" if is_no_json(text) && !text.contains('=') => Some("JSON".to_owned()),
            // A flag without a value is read as `true`.
            "int" if text == "true" => None,
            "one" | "int" if choices.clone().next().is_some() && choices.clone().all(other) => {
                Some(format!("one of {}", choices.collect::<Vec<_>>().join(", ")))
            }
            _ => None,
        }
    };
    let wanted: Option<Vec<String>> = own.iter().map(wrong).collect();
    let wanted = wanted?.pop()?;
    Some(format!("{name} is {text}, and has to be {wanted}"))
}

/// What a rule of its own tells, of any release.
const TOLD: &str = "enable-auto-tool-choice";

/// A flag that a flag needs in every release that may run, and that neither the command line nor what it leads to may state.
fn needed(name: &str, own: &[ProgramFlag], launch: &Launch) -> Option<&'static str> {
    let may_state = |word: &Fact<String>| word.get().is_none_or(|word| word.contains('$'));
    let whole = launch.open.is_absent() && !launch.flags.contains_key("config") && !launch.words.iter().any(may_state);
    if name == TOLD || !whole || launch.flags[name].get().is_none_or(|value| value == "false") {
        return None;
    }
    let lacking = |name: &&str| !launch.flags.contains_key(&name.replace('_', "-"));
    let (first, others) = own.split_first()?;
    first.needs().filter(lacking).find(|name| others.iter().all(|flag| flag.needs().any(|other| other == *name)))
}

/// A flag of the command line that a flag does not go with, in every release that may run.
fn excluded(own: &[ProgramFlag], launch: &Launch) -> Option<&'static str> {
    let given = |name: &&str| launch.flags.contains_key(&name.replace('_', "-"));
    let (first, others) = own.split_first()?;
    first.excludes().filter(given).find(|name| others.iter().all(|flag| flag.excludes().any(|other| other == *name)))
}
