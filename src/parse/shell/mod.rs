//! Shell words and commands with spans, flat: what a script runs, in order. Knows quoting, separators,
//! keywords, redirections and heredocs; runs nothing and knows no program.

mod arms;
mod effects;
mod expand;
mod faults;
mod follow;
mod heredocs;
mod lists;
mod reader;
mod variables;
mod words;

pub use arms::{Arm, Arms, Kind};
pub use effects::declares;
pub use expand::expand;
pub use faults::{Fault, fault};
pub use heredocs::Heredoc;
pub use reader::parse;
pub use variables::Variables;

use crate::paths;
use crate::source::{Span, Traced};
use std::collections::{BTreeMap, BTreeSet};

/// The simple commands of a script in the order in which they are written, whatever encloses them.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The commands.
    pub commands: Vec<Command>,
    /// Constructs of which one branch runs in any case: with an `else`, with a pattern for the rest.
    pub exhaustive: BTreeSet<u32>,
    /// Its heredocs.
    pub heredocs: Vec<Heredoc>,
    /// The constructs that are the bodies of its functions, by their names.
    functions: BTreeMap<String, Vec<u32>>,
    /// How many constructs there are.
    constructs: u32,
}

/// One simple command.
#[derive(Debug, Clone)]
pub struct Command {
    /// `NAME=value` before the first word; `NAME+` for `NAME+=value`.
    pub assignments: Vec<(String, Word)>,
    /// The program and its arguments; empty for a bare assignment.
    pub words: Vec<Word>,
    /// Redirections with their targets, as written: `>out.txt`.
    pub redirections: Vec<Word>,
    /// The branches that it stands in, the outermost first.
    pub arms: Arms,
    /// Variables that are set before it by what is no command: the head of a loop, arithmetic; and where.
    pub opens: Vec<(String, Arms)>,
    /// Whether the script goes on while it runs: an `&` ends its list.
    pub background: bool,
    /// From the first assignment or word to the end of the last one.
    pub span: Span,
}

/// A word after quote removal. Expansions stay as written.
#[derive(Debug, Clone)]
pub struct Word {
    text: Traced,
    /// Whether it holds an expansion that is not quoted away: `$X`, `$(…)`, a backtick.
    pub expands: bool,
    /// Whether it stays one word whatever its expansions give.
    quoted: bool,
}

impl Word {
    /// The text without its quotes.
    pub fn text(&self) -> &str {
        self.text.text()
    }

    /// Where the word stands, quotes included.
    pub fn span(&self) -> Span {
        self.text.whole()
    }

    /// The text with the way back to the source.
    pub fn traced(&self) -> &Traced {
        &self.text
    }

    /// Whether it is a variable on its own of which nothing is known, which may be any words or none.
    pub fn is_open(&self) -> bool {
        self.expands && variables::lone_name(self.text()).is_some()
    }

    /// Whether it stays one word whatever its expansions give.
    pub fn is_one(&self) -> bool {
        self.quoted
    }

    /// The word as `NAME=value`.
    pub fn assignment(&self) -> Option<(String, Word)> {
        let (name, value) = self.text().split_once('=')?;
        let start = self.text().len() - value.len();
        let value =
            Word { text: self.text.slice(start..self.text().len()), expands: self.expands, quoted: self.quoted };
        is_name(name).then(|| (name.to_string(), value))
    }
}

impl Command {
    /// The command of an argument list that no shell has read (exec form, `command` and `args`).
    pub fn of_arguments(arguments: &[Traced]) -> Option<Command> {
        let span = arguments.first()?.whole().to(arguments.last()?.whole());
        let words = arguments.iter().map(|a| Word { text: a.clone(), expands: false, quoted: true }).collect();
        Some(Command { words, ..Command::blank(span) })
    }

    /// `export` of variables that are set for all of a script, if there are any.
    pub fn exporting<'n>(
        variables: impl Iterator<Item = (&'n str, Traced)>,
        place: Span,
        arms: &Arms,
    ) -> Option<Command> {
        let export = Word { text: Traced::opaque("export", place), expands: false, quoted: true };
        let word = |(name, value): (&str, Traced)| {
            let (expands, whole) = (value.text().contains('$'), value.whole());
            let name = Traced::opaque(format!("{name}="), Span { end: whole.start, ..whole });
            Word { text: Traced::concat([name, value], whole), expands, quoted: true }
        };
        let words: Vec<Word> = std::iter::once(export).chain(variables.map(word)).collect();
        (words.len() > 1).then(|| Command { words, arms: arms.clone(), ..Command::blank(place) })
    }

    /// Nothing, at a place.
    fn blank(span: Span) -> Command {
        Command {
            assignments: Vec::new(),
            words: Vec::new(),
            redirections: Vec::new(),
            arms: Arms::default(),
            opens: Vec::new(),
            background: false,
            span,
        }
    }

    /// The same within branches of another script.
    fn within(self, arms: &Arms) -> Command {
        Command { arms: arms.clone(), ..self }
    }

    /// The script that this command hands to a shell: `bash -c '…'`.
    pub fn inner(&self) -> Option<Script> {
        let (program, arguments) = self.words.split_first()?;
        let is_option = |w: &Word| w.text().starts_with(['-', '+']);
        let commands = arguments
            .iter()
            .take_while(|w| is_option(w))
            .position(|w| w.text().starts_with('-') && !w.text().starts_with("--") && w.text().ends_with('c'))?;
        // `bash -c -- …`: the options end before the script.
        let script = arguments[commands + 1..].iter().find(|word| word.text() != "--");
        script.filter(|_| is_shell(program.text())).map(|script| parse(&script.text))
    }
}

/// Whether `program` is a shell, by its file name.
pub fn is_shell(program: &str) -> bool {
    let name = paths::name(program);
    ["sh", "bash", "dash", "ash", "zsh", "ksh"].contains(&name)
}

impl From<Option<Command>> for Script {
    fn from(command: Option<Command>) -> Self {
        Self { commands: command.into_iter().collect(), ..Self::default() }
    }
}

impl Script {
    /// The script with the variables put in that it sets itself, or that are set outside of it.
    pub fn resolved(&self, outside: &dyn Fn(&str) -> Option<String>) -> Script {
        variables::resolved(self, &|name, place| outside(name).map(|text| Traced::opaque(text, place)))
    }

    /// The same where what is set outside is written somewhere. What stands in it with a `$` is known in part.
    pub fn resolved_within(&self, outside: &dyn Fn(&str) -> Option<Traced>) -> Script {
        variables::resolved(self, &|name, _| outside(name))
    }

    /// The command that a heredoc is given to, or the last one of its line.
    pub fn command_of(&self, heredoc: &Heredoc) -> Option<&Command> {
        self.commands.get(heredoc.commands.checked_sub(1)?)
    }

    /// A number for a construct.
    fn number(&mut self) -> u32 {
        self.constructs += 1;
        self.constructs
    }

    /// Commands that run only if the one before them fails, with that one, by their numbers and that of the construct.
    pub fn fallbacks(&self) -> Vec<(usize, usize, u32)> {
        let arm = |command: &Command| command.arms.iter().next().filter(|arm| arm.kind == Kind::Branch);
        let first =
            |construct| self.commands.iter().filter_map(arm).any(|arm| arm.construct == construct && arm.branch == 0);
        let numbered = self.commands.iter().enumerate().skip(1);
        let behind = numbered.filter_map(|(at, command)| {
            let arm = arm(command).filter(|arm| arm.branch == 1)?;
            let before = &self.commands[at - 1];
            let apart = before.arms.iter().all(|one| one.construct != arm.construct);
            (apart && !first(arm.construct)).then_some((at - 1, at, arm.construct))
        });
        behind.collect()
    }

    /// Adds what another script runs, within some branches of this one.
    pub fn append(&mut self, other: Script, within: &Arms) {
        let (from, before) = (self.constructs, self.commands.len());
        let moved = |heredoc: Heredoc| Heredoc { commands: heredoc.commands + before, ..heredoc };
        self.heredocs.extend(other.heredocs.into_iter().map(moved));
        let mut places = Moved { from, within, known: BTreeMap::new() };
        self.commands.extend(other.commands.into_iter().map(|mut command| {
            command.arms = places.place(&command.arms);
            command.opens.iter_mut().for_each(|(_, arms)| *arms = places.place(arms));
            command
        }));
        self.exhaustive.extend(other.exhaustive.iter().map(|construct| construct + from));
        for (name, bodies) in other.functions {
            self.functions.entry(name).or_default().extend(bodies.iter().map(|construct| construct + from));
        }
        self.constructs += other.constructs;
    }

    /// The script with others in the place of the commands that run them, each in a shell of its own but those of `eval`.
    pub fn unfolded(mut self, inner: &dyn Fn(&Command) -> Option<Script>) -> Script {
        let commands = std::mem::take(&mut self.commands);
        for command in commands {
            match inner(&command) {
                Some(mut script) => {
                    script.commands.iter_mut().for_each(|inner| inner.background |= command.background);
                    let own = Arm { construct: self.number(), branch: 0, kind: Kind::Subshell };
                    let evaluates = command.words.first().is_some_and(|word| word.text() == "eval");
                    let within = if evaluates { command.arms.clone() } else { command.arms.within(own) };
                    self.append(script, &within);
                }
                None => self.commands.push(command),
            }
        }
        self
    }

    /// The commands that run for the sake of what they print: those in `$(…)`, backquotes and `<(…)` of the words.
    pub fn substituted(&self) -> Vec<Command> {
        let mut out = Vec::new();
        substituted(&self.commands, &mut out, DEEPEST_SUBSTITUTION);
        out
    }

    /// What `export NAME=value` sets, in order.
    pub fn exports(&self) -> Vec<(String, Word)> {
        let exports = self.commands.iter().filter(|c| c.words.first().is_some_and(|w| w.text() == "export"));
        exports.flat_map(|c| &c.words[1..]).filter_map(Word::assignment).collect()
    }
}

/// The branches of a script that becomes part of another one.
struct Moved<'w> {
    /// What its constructs are counted from.
    from: u32,
    /// The branches that it stands in.
    within: &'w Arms,
    known: BTreeMap<(u32, u32), Arms>,
}

impl Moved<'_> {
    fn place(&mut self, arms: &Arms) -> Arms {
        let mut out = self.within.clone();
        let mut own = Vec::new();
        for arm in arms.iter() {
            if let Some(known) = self.known.get(&(arm.construct, arm.branch)) {
                out = known.clone();
                break;
            }
            own.push(arm);
        }
        for arm in own.into_iter().rev() {
            out = out.within(Arm { construct: arm.construct + self.from, ..arm });
            self.known.insert((arm.construct, arm.branch), out.clone());
        }
        out
    }
}

/// How deep commands in commands are looked for; each level is read again.
const DEEPEST_SUBSTITUTION: usize = 4;

fn substituted(commands: &[Command], out: &mut Vec<Command>, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for command in commands {
        let words = command.assignments.iter().map(|(_, word)| word).chain(&command.words);
        for word in words.filter(|word| word.expands) {
            for range in words::substitutions(word.text()) {
                let inner = parse(&word.text.slice(range)).commands.into_iter();
                let inner: Vec<Command> = inner.map(|one| one.within(&command.arms)).collect();
                substituted(&inner, out, depth);
                out.extend(inner);
            }
        }
    }
}

/// Whether `text` is a variable name.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn traced(text: &str) -> Traced {
        Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0)
    }

    /// The commands as `A=b|word|word`, and every span checked against the text.
    fn commands(text: &str) -> Vec<String> {
        let script = parse(&traced(text));
        for command in &script.commands {
            for word in command.words.iter().chain(command.assignments.iter().map(|(_, w)| w)) {
                assert!(command.span.contains(word.span()), "{text:?}");
            }
        }
        let show = |c: &Command| {
            let assignments = c.assignments.iter().map(|(n, w)| format!("{n}={}", w.text()));
            assignments.chain(c.words.iter().map(|w| w.text().to_string())).collect::<Vec<_>>().join("|")
        };
        script.commands.iter().map(show).collect()
    }

    #[test]
    fn quotes_escapes_and_continuations_are_removed() {
        assert_eq!(commands(r#"pip install 'a b'"c $X"d\ e"#), ["pip|install|a bc $Xd e"]);
        assert_eq!(commands("vllm serve \\\n  --tp 2 \\\r\n  --dtype half"), ["vllm|serve|--tp|2|--dtype|half"]);
        assert_eq!(commands("a \"x\\\ny\" \"q\\\"\" \"\\n\""), ["a|xy|q\"|\\n"]);
        assert_eq!(commands("echo '' \"\""), ["echo||"]);
        assert_eq!(commands("echo 'open"), ["echo|open"]);
        assert_eq!(commands("echo a#b # c; d"), ["echo|a#b"]);
    }

    #[test]
    fn separators_and_keywords_leave_a_flat_list() {
        assert_eq!(commands("a && b || c; d | e & f\ng"), ["a", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(commands("if [ -f x ]; then a; else b; fi"), ["[|-f|x|]", "a", "b"]);
        assert_eq!(commands("for x in a b; do run $x; done"), ["run|$x"]);
        assert_eq!(commands("for ((i=0;i<3;i++)); do run; done"), ["run"]);
        assert_eq!(commands("while true; do { a; (b); }; done"), ["true", "a", "b"]);
        assert_eq!(commands("case $x in\n a|b) one;;\n *) two\nesac\nthree"), ["one", "two", "three"]);
        assert_eq!(commands("a && case $x in 1|2) I=1 ;; *) b && c ;; esac && d"), ["a", "I=1", "b", "c", "d"]);
        assert_eq!(commands("start() {\n exec vllm serve m\n}\nfunction g { h; }"), ["vllm|serve|m", "h"]);
        assert_eq!(commands("[[ a && b ]] && c"), ["[[|a|b|]]", "c"]);
        assert_eq!(commands("(( x = 1 << 2 )); y"), ["y"]);
    }

    #[test]
    fn redirections_and_heredocs_are_data() {
        assert_eq!(commands("a 2>&1 > out.txt < in &> log b"), ["a|b"]);
        assert_eq!(commands("cat <<EOF > f\nrm -rf /\nEOF\nnext"), ["cat", "next"]);
        assert_eq!(commands("cat <<-'A' <<B\n\tx\n\tA\ny\nB\nnext"), ["cat", "next"]);
        assert_eq!(commands("exec > >(tee log) 2>&1; next"), ["next"]);
        assert_eq!(commands("cat <<< word; next"), ["cat", "next"]);
        assert_eq!(commands("echo $((1 << 2)); next"), ["echo|$((1 << 2))", "next"]);
        assert_eq!(commands("diff <(a b) c"), ["diff|<(a b)|c"]);
        assert_eq!(commands("cat <<EOF\nnever ends"), ["cat"]);
    }

    #[test]
    fn substitutions_stay_in_their_word() {
        assert_eq!(commands(r#"a $(b "$(c ')')" | d) `e f` "${G:-h i}" x"#).len(), 1);
        let text = traced(r#"a '$X' \$X "$X" $(b) x$ "#);
        let expands: Vec<bool> = parse(&text).commands[0].words.iter().map(|w| w.expands).collect();
        assert_eq!(expands, [false, false, false, true, true, false]);
        let deep = format!("a {}", "$(\"${".repeat(50_000));
        assert_eq!(commands(&deep).len(), 1);
    }

    #[test]
    fn assignments_and_exports() {
        assert_eq!(commands("A=1 B='x y' cmd C=3"), ["A=1|B=x y|cmd|C=3"]);
        assert_eq!(commands("ARGS=(--tp 2) PATH+=:/x run"), ["ARGS=(--tp 2)|PATH+=:/x|run"]);
        let exports = parse(&traced("export NCCL_DEBUG=INFO X=\"$Y\"; export Z")).exports();
        assert_eq!(
            exports.iter().map(|(n, w)| (n.as_str(), w.text())).collect::<Vec<_>>(),
            [("NCCL_DEBUG", "INFO"), ("X", "$Y")]
        );
    }

    #[test]
    fn scripts_within_commands() {
        let inner = |text: &str| parse(&traced(text)).commands[0].inner();
        assert_eq!(inner("/bin/bash -lc 'a && b' x").map(|s| s.commands.len()), Some(2));
        assert_eq!(inner("bash -e -c 'a; b'").map(|s| s.commands.len()), Some(2));
        assert_eq!(inner("bash -c -- 'a; b'").map(|s| s.commands.len()), Some(2));
        for text in ["bash run.sh -c x", "python -c 'x'", "bash -c", "sh --rcfile x"] {
            assert!(inner(text).is_none(), "{text}");
        }
        let arguments = [traced("sh"), traced("-c"), traced("exec vllm serve")];
        let inner = Command::of_arguments(&arguments).and_then(|c| c.inner()).expect("a script");
        assert_eq!(inner.commands[0].words[0].text(), "vllm");
    }

    #[test]
    fn spans_point_at_the_word_and_into_it() {
        let text = "pip install \\\n  'torch==2.5.1'";
        let script = parse(&traced(text));
        let word = &script.commands[0].words[2];
        assert_eq!(&text[word.span().range()], "'torch==2.5.1'");
        assert_eq!(&text[word.traced().span(7..12).range()], "2.5.1");
    }
}
