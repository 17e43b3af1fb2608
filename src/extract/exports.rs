//! The variables that a script hands on to what it runs: those that it exports, and those that a command gives by its own
//! words. Knows how scripts hand on their environment.

use crate::facts::{EnvVar, Launch, Variables};
use crate::known::{Fact, Why};
use crate::parse::placeholder;
use crate::parse::shell::{self, Arm, Command, Script, Word};
use crate::source::Traced;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A script with those in it that it hands to other shells (`inner`), each with the variables that are exported to it or
/// set `outside`.
pub fn unfolded(
    script: Script,
    inner: &dyn Fn(&Command) -> Option<Script>,
    outside: &dyn Fn(&str) -> Option<String>,
) -> Script {
    let exported = RefCell::new(Exported::default());
    script.unfolded(&|command| {
        exported.borrow_mut().follow(command);
        let inner = inner(command)?;
        let exported = exported.borrow();
        let elsewhere = |name: &str| Some(Traced::opaque(outside(name)?, command.span));
        Some(inner.resolved_within(&|name| exported.text(name, &command.arms).or_else(|| elsewhere(name))))
    })
}

/// Variables that a command hands on by its own words: assignments before it, `env A=b`, `mpirun -x A=b`, `--export=ALL,A=b`.
pub fn of_words(command: &Command, launch: &Launch, env: &mut Variables) {
    for (name, value) in &command.assignments {
        env.insert(name.trim_end_matches('+').to_owned(), variable(name, value));
    }
    for (at, word) in command.words.iter().enumerate() {
        let handed = at > 0 && matches!(command.words[at - 1].text(), "-x" | "-genv");
        if let Some((name, value)) = word.assignment().filter(|_| handed || word.span().end <= launch.engine.span.start)
        {
            env.insert(name.clone(), variable(&name, &value));
        }
    }
}

fn variable(name: &str, value: &Word) -> Box<EnvVar> {
    let mut out = Box::new(EnvVar::blank(value.span()));
    out.name = Fact::value(name.to_owned(), value.span());
    out.written = Fact::value(value.text().to_owned(), value.span());
    let why = placeholder(value.text()).or_else(|| value.expands.then(|| Why::Variable(name.into())));
    out.value = match why {
        Some(why) => Fact::unknown(why, value.span()),
        None => Fact::value(value.text().to_owned(), value.span()),
    };
    out
}

/// The branches in which a variable is set, and what to; to nothing where it is unset.
type Place = (Vec<Arm>, Option<Word>);

/// What a script has exported so far: the branches that each variable was set in, and to what.
#[derive(Default)]
pub struct Exported {
    variables: BTreeMap<String, Vec<Place>>,
    /// What is set without being exported yet.
    set: BTreeMap<String, Word>,
}

/// So many places that set one variable are told apart.
const MOST_PLACES: usize = 64;

impl Exported {
    /// Takes note of what a command sets or exports.
    pub fn follow(&mut self, command: &Command) {
        let program = command.words.first().map_or("", Word::text);
        match program {
            "" => {
                for (name, value) in &command.assignments {
                    if self.variables.contains_key(name) {
                        self.record(name, &command.arms, Some(value.clone()));
                    } else {
                        self.set.insert(name.clone(), value.clone());
                    }
                }
            }
            "export" | "declare" | "typeset" => {
                let exports = program == "export" || command.words.iter().any(|word| word.text() == "-x");
                for word in command.words.iter().skip(1).filter(|_| exports) {
                    let set = || Some((word.text().to_owned(), self.set.get(word.text())?.clone()));
                    if let Some((name, value)) = word.assignment().or_else(set) {
                        self.record(&name, &command.arms, Some(value));
                    }
                }
            }
            "unset" => command.words.iter().skip(1).for_each(|word| self.record(word.text(), &command.arms, None)),
            _ => {}
        }
    }

    fn record(&mut self, name: &str, arms: &[Arm], value: Option<Word>) {
        if value.is_none() && !self.variables.contains_key(name) {
            return;
        }
        let all = self.variables.entry(name.to_owned()).or_default();
        all.retain(|(earlier, _)| !earlier.starts_with(arms));
        if all.len() < MOST_PLACES {
            all.push((arms.to_vec(), value));
        }
    }

    /// What a variable is in some branches, as it is written.
    fn text(&self, name: &str, arms: &[Arm]) -> Option<Traced> {
        let places = self.variables.get(name)?;
        let (set, value) = places.iter().rev().find(|(set, _)| !shell::exclusive(set, arms))?;
        Some(value.as_ref().filter(|_| arms.starts_with(set))?.traced().clone())
    }

    /// The room that the variables take at each launch.
    pub fn size(&self) -> usize {
        self.variables.len() * size_of::<EnvVar>()
    }

    /// What is exported to a command in some branches; what another branch may have set is not known.
    pub fn at(&self, arms: &[Arm], env: &mut Variables) {
        for (name, places) in &self.variables {
            let Some((set, value)) = places.iter().rev().find(|(set, _)| !shell::exclusive(set, arms)) else {
                continue;
            };
            let known = arms.starts_with(set);
            let stated = || places.iter().find_map(|(_, value)| value.clone());
            let Some(value) = value.clone().or_else(|| stated().filter(|_| !known)) else { continue };
            let mut variable = variable(name, &value);
            if !known {
                variable.value = Fact::unknown(Why::Variable(name.as_str().into()).perhaps(), variable.value.span);
            }
            env.insert(name.clone(), variable);
        }
    }
}
