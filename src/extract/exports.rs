//! The variables that a script hands on to what it runs: those that it exports, and those that a command gives by its own
//! words. Knows how scripts hand on their environment.

use super::wrappers::base_name;
use crate::facts::{EnvVar, Launch, Variables};
use crate::known::{Fact, Why};
use crate::parse::placeholder;
use crate::parse::shell::{self, Arms, Command, Script, Word};
use crate::source::Traced;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What a variable is for the shell that a command starts, where something else than the script sets it.
pub type Outside<'a> = &'a dyn Fn(&str, &Command) -> Option<String>;

/// A script with those in it that it hands to other shells (`inner`), each with the variables that are exported to it or
/// set `outside`.
pub fn unfolded(script: Script, inner: &dyn Fn(&Command) -> Option<Script>, outside: Outside<'_>) -> Script {
    let exported = RefCell::new(Exported::of(&script));
    script.unfolded(&|command| {
        exported.borrow_mut().follow(command);
        let inner = inner(command)?;
        let exported = exported.borrow();
        let elsewhere = |name: &str| Some(Traced::opaque(outside(name, command)?, command.span));
        Some(inner.resolved_within(&|name| exported.text(name, command).or_else(|| elsewhere(name))))
    })
}

/// Variables that a command hands on by its own words: assignments before it, `env A=b`, `mpirun -x A=b`,
/// `--export=ALL,A=b`; and those that it keeps back.
pub fn of_words(command: &Command, launch: &Launch, env: &mut Variables) {
    withheld(command, launch, env);
    for (name, value) in &command.assignments {
        env.insert(name.trim_end_matches('+').to_owned(), variable(name, value));
    }
    for word in command.words.iter().filter(|word| word.span().end <= launch.engine.span.start) {
        env.extend(word.assignment().map(|(name, value)| (name.clone(), variable(&name, &value))));
    }
    handed(&command.words, env);
}

/// Variables that a launcher is told to hand to what it starts: `mpirun -x A=b`.
pub fn handed(words: &[Word], env: &mut Variables) {
    let behind = words.windows(2).filter(|pair| matches!(pair[0].text().trim_end(), "-x" | "-genv"));
    env.extend(
        behind.filter_map(|pair| pair[1].assignment()).map(|(name, value)| (name.clone(), variable(&name, &value))),
    );
}

/// Takes away what `env -u NAME` and `env -i` do; behind `sudo` and `ssh` nobody knows what is left.
fn withheld(command: &Command, launch: &Launch, env: &mut Variables) {
    let before = command.words.iter().map(Word::text).take_while(|_| !env.is_empty());
    let words: Vec<&str> = before
        .zip(&command.words)
        .filter(|(_, word)| word.span().end <= launch.engine.span.start)
        .map(|(w, _)| w)
        .collect();
    let program = |name: &str| words.iter().position(|word| base_name(word) == name);
    for pair in program("env").map_or(&[][..], |at| &words[at..]).windows(2) {
        match pair {
            ["-u" | "--unset", name] => drop(env.remove(*name)),
            [_, "-i" | "-" | "--ignore-environment"] => env.clear(),
            [_, option] => {
                let name = option.strip_prefix("--unset=").or_else(|| option.strip_prefix("-u"));
                name.map(|name| env.remove(name));
            }
            _ => {}
        }
    }
    let keeps = |word: &&str| word.starts_with("--preserve-env") || (word.starts_with('-') && word.contains('E'));
    if program("ssh").is_some() || program("sudo").is_some_and(|at| !words[at..].iter().any(keeps)) {
        for (name, variable) in env {
            variable.value = Fact::unknown(Why::Variable(name.as_str().into()).perhaps(), variable.value.span);
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

/// What a script has exported so far.
pub struct Exported {
    variables: shell::Variables<'static>,
    /// How each variable was set last: what it is shows there if no more is known of it.
    written: BTreeMap<String, Word>,
}

impl Exported {
    /// Nothing yet, of a script that has its variables put in.
    pub fn of(script: &Script) -> Self {
        Self { variables: shell::Variables::of_resolved(script), written: BTreeMap::new() }
    }

    /// Takes note of what a command sets or exports.
    pub fn follow(&mut self, command: &Command) {
        self.variables.follow(command);
        let set: Vec<(String, Word)> = match command.words.first().map_or("", Word::text) {
            "" => command.assignments.clone(),
            program if shell::declares(program) => command.words.iter().filter_map(Word::assignment).collect(),
            _ => return,
        };
        self.written.extend(set.into_iter().map(|(name, word)| (name.trim_end_matches('+').to_owned(), word)));
    }

    /// What a variable is in some branches; its name if that is not known.
    fn text(&self, name: &str, command: &Command) -> Option<Traced> {
        let handed = self.variables.handed(name, &command.arms)?;
        Some(handed.cloned().unwrap_or_else(|| Traced::opaque(format!("${{{name}}}"), command.span)))
    }

    /// The room that the variables take at each launch.
    pub fn size(&self) -> usize {
        self.variables.exported().len() * size_of::<EnvVar>()
    }

    /// What is exported to a command in some branches; what another branch may have set is not known.
    pub fn at(&self, arms: &Arms, env: &mut Variables) {
        for name in self.variables.exported() {
            let Some(handed) = self.variables.handed(name, arms) else { continue };
            let Some(written) = self.written.get(name) else { continue };
            let mut variable = variable(name, written);
            match handed {
                Some(text) if text.text() != written.text() => {
                    let span = text.whole();
                    variable.written = Fact::value(text.text().to_owned(), span);
                    variable.value = match placeholder(text.text()) {
                        Some(why) => Fact::unknown(why, span),
                        None => Fact::value(text.text().to_owned(), span),
                    };
                }
                // What is said there is what it is here.
                Some(_) => {}
                None => variable.value = Fact::unknown(Why::Variable(name.into()).perhaps(), variable.value.span),
            }
            env.insert(name.to_owned(), variable);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripts;
    use crate::parse::shell::parse;
    use crate::source::{SourceId, Span, Traced};

    /// What each launch of a script is told of its devices: nothing (`-`), or something that is not known (`?`).
    fn devices(text: &str) -> Vec<String> {
        let script = parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0)).resolved(&|_| None);
        let told = |step: &scripts::Step| match step.container.env.get("CUDA_VISIBLE_DEVICES") {
            Some(variable) => variable.value.get().cloned().unwrap_or("?".to_owned()),
            None => "-".to_owned(),
        };
        scripts::launches(&script, &|_, _| None).steps.iter().map(told).collect()
    }

    #[test]
    fn a_launch_has_what_is_exported_to_it_and_nothing_more() {
        for (script, expected) in [
            ("export X=0,1; vllm serve m", "0,1"),
            ("X=0,1; vllm serve m; export X; vllm serve m", "- 0,1"),
            ("export X=0\nX+=,1\nvllm serve m", "0,1"),
            ("if a; then X=0; else X=0,1; fi\nexport X\nvllm serve m", "?"),
            ("if a; then export X=0; vllm serve m; else vllm serve m; fi\nvllm serve m", "0 - ?"),
            ("(export X=0; vllm serve m)\nvllm serve m", "0 -"),
            ("export X=0,1\n(export X=0; a)\nvllm serve m", "0,1"),
            ("export X=0,1\ngrep -q a b && export X=0\nvllm serve m", "?"),
            ("cd a && export X=0,1 && vllm serve m", "0,1"),
            ("one() { export X=0; }\ntwo() { export X=0,1; }\none\nvllm serve m", "?"),
            ("one() { export X=0; }\nexport X=0,1\nvllm serve m", "0,1"),
            ("one() { local X=0; a; }\nexport X=0,1\none\nvllm serve m", "0,1"),
            ("export X=0\nserve() { vllm serve m; }\nexport X=1\nserve", "?"),
            ("export X=0,1\nexport -n X\nvllm serve m", "-"),
            ("export X=0,1\nunset X\nvllm serve m", "-"),
            ("export X=0,1\nread -r X <a\nvllm serve m", "?"),
            ("export X=0,1\nsource ./a.sh\nvllm serve m", "?"),
            ("export X=0,1\n. .venv/bin/activate\nvllm serve m", "0,1"),
            ("set -a\nX=0,1\nset +a\nvllm serve m", "0,1"),
            ("set -euo pipefail\nX=0,1\nvllm serve m", "-"),
            ("declare -rx X=0,1\nvllm serve m", "0,1"),
            ("export X=0,1\nenv -u X vllm serve m\nenv -i A=b vllm serve m\nenv A=b vllm serve m", "- - 0,1"),
            ("export X=0,1\nsudo vllm serve m\nsudo -E vllm serve m", "? 0,1"),
            ("export X=0,1\nbash -c 'export X=0; vllm serve m'\nvllm serve m", "0 0,1"),
            ("export X=0,1\nfor X in 0 1; do vllm serve m; done", "?"),
        ] {
            let script = script.replace('X', "CUDA_VISIBLE_DEVICES");
            assert_eq!(devices(&script).join(" "), expected, "{script}");
        }
    }
}
