//! Command lines against the flags that releases of a program know.

use super::{Breach, Judged};
use crate::catalog::{FlagProgram, ProgramFlag, flag_program};
use crate::facts::{BreachClass as Class, Launch};
use crate::known::Fact;
use crate::source::Span;
use crate::version::Version;

/// Holds a command line against the flags of its program: of its release where that is known, else of all that were read.
pub fn judge(launch: &Launch) -> Option<Judged> {
    let words = launch.words.iter().filter_map(|word| word.get().map(String::as_str));
    let program = flag_program(launch.engine.get()?, words).filter(|program| !program.is_open())?;
    let version = launch.version.get();
    if version.is_some_and(|version| !program.is_whole(version)) {
        return None;
    }
    let mut breaches = Vec::new();
    for (name, value) in &launch.flags {
        // What is no word of the command line was stated elsewhere.
        let Some(place) = place(launch, name) else { continue };
        let all: Vec<ProgramFlag> = program.find(name).collect();
        // A key within the JSON of a flag stands behind a dot, and takes whatever it takes.
        let part = name.contains('.') && all.iter().all(|flag| flag.takes == "json");
        let own: Vec<ProgramFlag> =
            all.iter().copied().filter(|flag| version.is_none_or(|version| flag.holds(version))).collect();
        if own.is_empty() {
            let known = (program, version);
            breaches
                .extend(missing(name, &all, known).map(|(class, says, meant)| told(class, place, name, says, meant)));
        } else if let Some(says) = wrong_value(name, value, &own).filter(|_| !part) {
            breaches.push(told(Class::ValueNotAllowed, value.span, name, says, None));
        } else if let Some(other) = excluded(&own, launch) {
            breaches.push(told(
                Class::ContractViolated,
                place,
                name,
                format!("--{name} does not go with --{other}"),
                None,
            ));
        }
    }
    let contract = version.map_or_else(
        || format!("{}, releases {}", program.name, program.versions()),
        |version| format!("{} {version}", program.name),
    );
    (!breaches.is_empty()).then_some(Judged { contract, breaches })
}

fn told(class: Class, place: Span, name: &str, says: String, meant: Option<String>) -> Breach {
    Breach { class, place, field: format!("--{name}"), says, meant, other: None, unknown: None }
}

/// The word that a flag is written with.
fn place(launch: &Launch, name: &str) -> Option<Span> {
    let is_flag = |word: &&Fact<String>| {
        let Some(text) = word.get().filter(|text| text.starts_with('-')) else { return false };
        text.split('=').next().is_some_and(|flag| flag.trim_start_matches('-').replace('_', "-") == name)
    };
    launch.words.iter().find(is_flag).map(|word| word.span)
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
    let near = program.nearest(name, version).map(|near| format!("--{near}"));
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

/// What is wrong with the value of a flag in every release that may run.
/// Whether a text is neither JSON nor what a shell, a template or a file may make JSON of. Older releases read key=value, too.
fn is_no_json(text: &str) -> bool {
    !text.contains(['$', '<', '{', '=', '/', '\'', '\\'])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()
}

fn wrong_value(name: &str, value: &Fact<String>, own: &[ProgramFlag]) -> Option<String> {
    let text = value.get()?;
    let wrong = |flag: &ProgramFlag| {
        let choices = flag.choices();
        match flag.takes {
            "none" | "boolean" | "optional" => None,
            "int" if text.parse::<i64>().is_err() && text != "true" => Some("a whole number".to_owned()),
            "float" if text.parse::<f64>().is_err() && text != "true" => Some("a number".to_owned()),
            "json" if is_no_json(text) => Some("JSON".to_owned()),
            "one" if choices.clone().next().is_some() && choices.clone().all(|choice| choice != text) => {
                Some(format!("one of {}", choices.collect::<Vec<_>>().join(", ")))
            }
            _ => None,
        }
    };
    let wanted: Option<Vec<String>> = own.iter().map(wrong).collect();
    let wanted = wanted?.pop()?;
    Some(format!("--{name} is {text}, and has to be {wanted}"))
}

/// A flag of the command line that a flag does not go with, in every release that may run.
fn excluded(own: &[ProgramFlag], launch: &Launch) -> Option<&'static str> {
    let given = |name: &&str| launch.flags.contains_key(&name.replace('_', "-"));
    let (first, others) = own.split_first()?;
    first.excludes().filter(given).find(|name| others.iter().all(|flag| flag.excludes().any(|other| other == *name)))
}
