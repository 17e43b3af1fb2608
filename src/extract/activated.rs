//! Which environment of Python is active where a command of a script runs. Knows how conda, virtual environments and uv
//! are asked for one; what a branch decides is not known.

use super::wrappers::{self, base_name};
use crate::known::{Fact, Why};
use crate::parse::shell::{Command, Word};

/// What activates environments of conda.
const CONDA: [&str; 3] = ["conda", "mamba", "micromamba"];

/// What is activated up to a place.
#[derive(Default)]
pub struct Activated(Option<Fact<String>>);

impl Activated {
    /// Takes in a command.
    pub fn follow(&mut self, command: &Command) {
        let Some((first, rest)) = command.words.split_first() else { return };
        let (program, next) = (base_name(first.text()), rest.first().map(Word::text));
        let asked = match (program, next) {
            (name, Some("activate")) if CONDA.contains(&name) => Some(rest.get(1)),
            ("source" | ".", Some(file)) if base_name(file) == "activate" => match file.strip_suffix("bin/activate") {
                Some(path) if !path.is_empty() => Some(rest.first()),
                // What stands behind the program of conda itself is the name.
                _ => Some(rest.get(1)),
            },
            (name, Some("deactivate")) if CONDA.contains(&name) => Some(None),
            ("deactivate", _) => Some(None),
            _ => None,
        };
        let Some(asked) = asked else { return };
        let asked = asked.map(stated);
        self.0 = match command.arms.branches().is_empty() {
            true => asked,
            false => Some(Fact::unknown(Why::NotStated("which branch of the script runs".into()), command.span)),
        };
    }

    /// What a command runs in: what it asks for itself, else what is active.
    pub fn of(&self, command: &Command) -> Fact<String> {
        own(&command.words).or_else(|| self.0.clone()).unwrap_or_else(|| Fact::absent(command.span))
    }
}

/// A name, or the path of a virtual environment, unless a shell puts something into it.
fn stated(word: &Word) -> Fact<String> {
    if word.expands || word.text().contains(['$', '`']) {
        return Fact::unknown(Why::Variable(word.text().trim_matches(['$', '{', '}']).into()), word.span());
    }
    Fact::value(word.text().trim_end_matches("/bin/activate").to_owned(), word.span())
}

/// The environment that a command names: `conda run -n NAME`, `uv run`.
fn own(words: &[Word]) -> Option<Fact<String>> {
    let at = wrappers::programs(words).into_iter().find(|at| {
        let name = base_name(words[*at].text());
        words.get(at + 1).is_some_and(|verb| verb.text() == "run") && (CONDA.contains(&name) || name == "uv")
    })?;
    let behind = &words[at + 2..];
    if base_name(words[at].text()) == "uv" {
        let elsewhere = |word: &Word| {
            ["--directory", "--project", "--no-project", "--isolated", "--with"]
                .iter()
                .any(|o| word.text().starts_with(o))
        };
        let place = words[at].span().to(words[at + 1].span());
        return Some(match behind.iter().any(elsewhere) {
            true => Fact::unknown(Why::NotModelled("another project".into()), place),
            false => Fact::value("uv".to_owned(), place),
        });
    }
    let named = behind.windows(2).find(|pair| matches!(pair[0].text(), "-n" | "--name")).map(|pair| stated(&pair[1]));
    named.or_else(|| Some(Fact::unknown(Why::NotStated("the environment".into()), words[at].span())))
}
