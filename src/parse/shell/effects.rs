//! What a command does to the variables of its script, by what is written alone, and where a script does so.

use super::arms::{Arms, Kind};
use super::{Command, Script, Word, is_name};
use crate::budget::{STEP, Share};
use crate::paths;
use std::collections::{BTreeMap, BTreeSet};

/// What a variable becomes.
#[derive(Debug)]
pub(super) enum New {
    /// What it was.
    Same,
    /// Something that is not written.
    Open,
    Word(Word),
    List(Vec<Word>),
}

/// What a command does to one variable, or to any (`ANY`).
#[derive(Debug)]
pub(super) struct Effect {
    pub(super) name: String,
    pub(super) new: New,
    /// Whether it is handed on to what is run from here on, if that is said.
    pub(super) exported: Option<bool>,
    /// Whether it is one of the function only.
    local: bool,
}

/// The name of every variable that has no other.
pub(super) const ANY: &str = "*";

/// Scripts that say what a shell finds its programs in, and set nothing that a script would have set itself.
const SETTINGS: [&str; 9] =
    ["activate", "conda.sh", ".bashrc", ".bash_profile", ".profile", ".zshrc", "profile", "bashrc", "nvm.sh"];

impl Effect {
    fn new(name: &str, new: New) -> Self {
        Self { name: name.to_owned(), new, exported: None, local: false }
    }

    fn open(name: &str) -> Self {
        Self::new(name, New::Open)
    }
}

/// Whether a command of this name sets the variables among its words.
pub fn declares(program: &str) -> bool {
    matches!(program, "export" | "local" | "declare" | "readonly" | "typeset")
}

/// What a command does whose words are known to be `words`.
pub(super) fn effects(command: &Command, words: &[Word]) -> Vec<Effect> {
    let program = words.first().map_or("", Word::text);
    let names = || words[1..].iter().map(Word::text).filter(|name| is_name(name));
    match program {
        "" => command.assignments.iter().map(|(name, word)| Effect::new(name, New::Word(word.clone()))).collect(),
        program if declares(program) => declared(program, &command.words[1..]),
        "set" if words.get(1).is_some_and(|word| word.text() == "--") => {
            vec![Effect::new("@", New::List(words[2..].to_vec()))]
        }
        "shift" => vec![Effect::open("@")],
        "unset" => names().map(|name| Effect { exported: Some(false), ..Effect::open(name) }).collect(),
        "read" | "mapfile" | "readarray" | "getopts" | "printf" => names().map(Effect::open).collect(),
        "let" => words[1..].iter().flat_map(|word| arithmetic(word.text())).map(|name| Effect::open(&name)).collect(),
        "source" | "." => {
            let settings = words.get(1).is_some_and(|file| SETTINGS.contains(&paths::name(file.text())));
            if settings { vec![] } else { vec![Effect::open(ANY)] }
        }
        _ => vec![],
    }
}

/// What is behind `export` and its like.
fn declared(program: &str, words: &[Word]) -> Vec<Effect> {
    let is_option = |word: &&Word| word.text().starts_with(['-', '+']);
    let option = |letter: char| {
        let found = words.iter().take_while(is_option).find(|word| word.text()[1..].contains(letter));
        found.map(|word| word.text().starts_with('-'))
    };
    if option('f').is_some() {
        return vec![];
    }
    let exported = match program {
        "export" => Some(option('n').is_none()),
        _ => option('x'),
    };
    let local = matches!(program, "local" | "declare" | "typeset") && option('g').is_none();
    let effects = words.iter().skip_while(is_option).filter_map(|word| {
        let (name, value) = word.text().split_once('=').unwrap_or((word.text(), ""));
        let new = match word.text().len() > name.len() {
            true => {
                let start = word.text().len() - value.len();
                New::Word(Word { text: word.text.slice(start..word.text().len()), ..*word })
            }
            false if program == "local" => New::Open,
            false => New::Same,
        };
        is_name(name.strip_suffix('+').unwrap_or(name)).then(|| Effect { exported, local, ..Effect::new(name, new) })
    });
    effects.collect()
}

/// The variables that arithmetic sets: `N = 4`, `N += 1`, `N++`.
pub(super) fn arithmetic(text: &str) -> Vec<String> {
    const SETS: [&str; 13] = ["++", "--", "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="];
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_part).map(|found| at + found) {
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |found| start + found);
        let (before, behind) = (text[at..start].trim_end(), text[end..].trim_start());
        let sets = !behind.starts_with("==") && SETS.iter().any(|sign| behind.starts_with(sign));
        if is_name(&text[start..end]) && (sets || before.ends_with("++") || before.ends_with("--")) {
            out.push(text[start..end].to_owned());
        }
        at = end;
    }
    out
}

/// Where a script sets its variables, and what its functions do.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// The last command outside of functions that sets a variable.
    last: BTreeMap<String, usize>,
    /// The loops that a variable is set in.
    loops: BTreeMap<String, BTreeSet<u32>>,
    /// Two of the functions that set a variable which is not their own.
    setters: BTreeMap<String, Vec<u32>>,
    /// What functions set that is not their own; whether it is handed on, or no more.
    functions: BTreeMap<u32, BTreeMap<String, bool>>,
    /// What functions call.
    calls: BTreeMap<u32, BTreeSet<String>>,
    /// The functions by their names.
    named: BTreeMap<String, Vec<u32>>,
    /// Whether there is too much to tell.
    lost: bool,
}

/// What a look into the table costs.
const LOOK: usize = 4 * STEP;

impl Sets {
    pub(super) fn of(script: &Script, share: &Share) -> Self {
        let mut out = Self { named: script.functions.clone(), ..Self::default() };
        for (at, command) in script.commands.iter().enumerate() {
            for (name, arms) in &command.opens {
                out.add((at, arms), &Effect::open(name), share);
            }
            for effect in effects(command, &command.words) {
                out.add((at, &command.arms), &effect, share);
            }
            let Some(program) = command.words.first() else { continue };
            if out.named.contains_key(program.text()) || (is_any(program) && !out.named.is_empty()) {
                for arm in command.arms.iter().filter(|arm| arm.kind == Kind::Function) {
                    out.lost |= share.work(LOOK).is_err();
                    out.calls.entry(arm.construct).or_default().insert(program.text().to_owned());
                }
            }
        }
        out
    }

    fn add(&mut self, (at, arms): (usize, &Arms), effect: &Effect, share: &Share) {
        let name = effect.name.strip_suffix('+').unwrap_or(&effect.name);
        let called = arms.iter().any(|arm| arm.kind == Kind::Function);
        if !called {
            self.last.insert(name.to_owned(), at);
        }
        for arm in arms.iter().filter(|arm| matches!(arm.kind, Kind::Loop | Kind::Function)) {
            if share.work(LOOK).is_err() {
                self.lost = true;
                return;
            }
            if arm.kind == Kind::Loop {
                self.loops.entry(name.to_owned()).or_default().insert(arm.construct);
            } else if !effect.local {
                let exports = self.functions.entry(arm.construct).or_default().entry(name.to_owned()).or_default();
                *exports |= effect.exported.is_some();
                let setters = self.setters.entry(name.to_owned()).or_default();
                if setters.len() < 2 && !setters.contains(&arm.construct) {
                    setters.push(arm.construct);
                }
            }
        }
    }

    /// Whether what was told of a variable outside of the innermost branches may be something else when a command runs: its
    /// loop sets it behind, or something else does before its function is called. `depth` is how many branches are around.
    pub(super) fn changes(&self, name: &str, (at, arms): (usize, &Arms), depth: usize) -> bool {
        let inner = arms.iter().take(arms.depth().saturating_sub(depth));
        let mut around = inner.filter(|arm| matches!(arm.kind, Kind::Loop | Kind::Function));
        around.any(|arm| {
            // Each function has arguments of its own.
            self.lost
                || (name == "@" && arm.kind == Kind::Function)
                || match arm.kind {
                    Kind::Loop => self.loops.get(name).is_some_and(|loops| loops.contains(&arm.construct)),
                    _ => {
                        let others =
                            self.setters.get(name).is_some_and(|all| all.iter().any(|one| *one != arm.construct));
                        others || self.last.get(name).is_some_and(|last| *last >= at)
                    }
                }
        })
    }

    /// What a command may set by calling functions of the script, each with whether it is handed on; `None` if there is too
    /// much of it.
    pub(super) fn called(&self, program: &Word, share: &Share) -> Option<BTreeMap<&str, bool>> {
        let mut out = BTreeMap::new();
        let all = || self.named.keys().map(String::as_str);
        let mut any = is_any(program);
        let mut waiting: Vec<&str> = match any {
            true => all().collect(),
            false => self.named.get_key_value(program.text()).map(|(name, _)| name.as_str()).into_iter().collect(),
        };
        let mut seen = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            for construct in self.named.get(name).into_iter().flatten().filter(|one| seen.insert(**one)) {
                for (name, exports) in self.functions.get(construct).into_iter().flatten() {
                    share.work(LOOK).ok()?;
                    *out.entry(name.as_str()).or_default() |= *exports;
                }
                for call in self.calls.get(construct).into_iter().flatten() {
                    share.work(LOOK).ok()?;
                    match self.named.contains_key(call) {
                        true => waiting.push(call),
                        false if any => {}
                        false => {
                            any = true;
                            waiting.extend(all());
                        }
                    }
                }
            }
        }
        (!self.lost).then_some(out)
    }

    /// Whether a command may call a function of the script.
    pub(super) fn calls(&self, program: &Word) -> bool {
        !self.named.is_empty() && (is_any(program) || self.named.contains_key(program.text()))
    }
}

/// Whether a program may be any function: a variable of which nothing is known.
fn is_any(program: &Word) -> bool {
    program.expands && program.text().starts_with('$') && !program.text().contains(['/', '('])
}
