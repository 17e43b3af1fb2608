//! A script followed command by command: what is set where, and what is handed on to what is run.

use super::arms::{Arms, Place, Places};
use super::effects::{ANY, Effect, New, Sets, effects};
use super::variables::{Found, Outside, Value, Variables};
use super::{Command, Script, Word};
use crate::budget::Share;
use crate::source::{Span, Traced};
use std::collections::BTreeMap;

/// What is set outside of a script where nothing is.
fn nothing(_: &str, _: Span) -> Option<Traced> {
    None
}

impl Variables<'static> {
    /// Those of a script that has its variables put in.
    pub fn of_resolved(script: &Script) -> Self {
        Self::new(script, &nothing, true)
    }
}

impl<'o> Variables<'o> {
    pub(super) fn new(script: &Script, outside: Outside<'o>, resolved: bool) -> Self {
        let share = Share::least(script.commands.iter().map(|command| command.span.range().len()).sum());
        Variables {
            set: BTreeMap::new(),
            exported: BTreeMap::new(),
            exports_all: Places::default(),
            opened: Places::default(),
            sets: Sets::of(script, &share),
            outside,
            resolved,
            at: 0,
            share,
        }
    }

    /// The names of what is handed on somewhere.
    pub fn exported(&self) -> impl ExactSizeIterator<Item = &str> {
        self.exported.keys().map(String::as_str)
    }

    /// What a variable is to what is run in some branches: `None` if it is not handed on, and nothing more if it is not
    /// known, or not known to be. What of it cannot be told stands in it with a `$`.
    pub fn handed(&self, name: &str, arms: &Arms) -> Option<Option<&Traced>> {
        let seen = self.exported.get(name)?.find(arms, &self.share)?;
        if seen.value == Some(&false) {
            return None;
        }
        match self.find(name, arms) {
            Found::Known(Value::Text(text) | Value::Partly(text)) => Some(seen.value.map(|_| text)),
            Found::Known(Value::List(_)) | Found::Open => Some(None),
            Found::Unset => None,
        }
    }

    /// Takes note of what a command sets.
    pub fn follow(&mut self, command: &Command) {
        self.open(command);
        self.run(command, &command.words);
    }

    /// A command with the variables put in, and what it sets.
    pub(super) fn command(&mut self, command: &Command) -> Command {
        self.open(command);
        let words: Vec<Word> = command.words.iter().flat_map(|word| self.word(word, &command.arms)).collect();
        let before = |(name, value): &(String, Word)| (name.clone(), self.one(value, &command.arms));
        let assignments = command.assignments.iter().map(before).collect();
        self.run(command, &words);
        Command { words, assignments, ..command.clone() }
    }

    fn open(&mut self, command: &Command) {
        command.opens.iter().for_each(|(name, arms)| self.record(name, arms, None, None));
    }

    /// Does what a command does, whose words are known to be `words`.
    fn run(&mut self, command: &Command, words: &[Word]) {
        let arms = &command.arms;
        for effect in effects(command, words) {
            self.affect(effect, arms);
        }
        if let Some(program) = words.first().filter(|program| self.sets.calls(program)) {
            self.call(program, arms);
        }
        if let Some(all) = exports_all(words) {
            self.exports_all.record(Place { arms: arms.clone(), value: Some(all), behind: None, at: self.at });
        }
        self.at += 1;
    }

    fn affect(&mut self, effect: Effect, arms: &Arms) {
        let Effect { name, new, exported, .. } = effect;
        if name == ANY {
            return self.open_all(arms);
        }
        let plain = name.strip_suffix('+').unwrap_or(&name);
        let all = || self.exports_all.find(arms, &self.share).map(|seen| seen.value.copied());
        if let Some(exported) = exported.map(Some).or_else(|| all().filter(|all| *all != Some(false))) {
            self.export(plain, arms, exported);
        }
        match new {
            New::Same => {}
            New::Open => self.record(plain, arms, None, None),
            New::List(words) => self.record(plain, arms, Some(Value::List(words)), None),
            // What could be told of it is put in.
            New::Word(word) if self.resolved && word.expands => {
                let value = (name == plain).then_some(Value::Partly(word.text));
                self.record(plain, arms, value, None);
            }
            New::Word(word) => self.assign(&name, &word, arms),
        }
    }

    /// From here on any variable may be something else.
    fn open_all(&mut self, arms: &Arms) {
        self.opened.record(Place { arms: arms.clone(), value: None, behind: None, at: self.at });
    }

    fn export(&mut self, name: &str, arms: &Arms, value: Option<bool>) {
        let place = Place { arms: arms.clone(), value, behind: None, at: self.at };
        self.exported.entry(name.to_owned()).or_default().record(place);
    }

    /// What a function sets is not known where it is called.
    fn call(&mut self, program: &Word, arms: &Arms) {
        let called = self.sets.called(program, &self.share).filter(|called| !called.contains_key(ANY));
        let Some(called) = called else { return self.open_all(arms) };
        let called: Vec<(String, bool)> =
            called.into_iter().map(|(name, exports)| (name.to_owned(), exports)).collect();
        for (name, exports) in called {
            self.record(&name, arms, None, None);
            if exports {
                self.export(&name, arms, None);
            }
        }
    }
}

/// Whether `set` makes a script hand on all that it sets from here on, or no more.
fn exports_all(words: &[Word]) -> Option<bool> {
    let (_, options) = words.split_first().filter(|(program, _)| program.text() == "set")?;
    let options: Vec<&str> = options.iter().map(Word::text).take_while(|option| *option != "--").collect();
    let by_name = options.windows(2).find(|pair| pair[1] == "allexport").map(|pair| pair[0] == "-o");
    let letters = |option: &&&str| option.starts_with(['-', '+']) && option[1..].contains('a');
    by_name.or_else(|| options.iter().find(letters).map(|option| option.starts_with('-')))
}
