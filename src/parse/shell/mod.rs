//! Shell words and commands with spans, flat: what a script runs, in order. Knows quoting, separators,
//! keywords, redirections and heredocs; runs nothing and knows no program.

mod expand;
mod heredocs;
mod lists;
mod variables;
mod words;

pub use expand::expand;
pub use heredocs::Heredoc;
pub use variables::{Arm, exclusive};

use crate::budget::DEPTH;
use crate::paths;
use crate::source::{Span, Traced};
use lists::Lists;
use std::collections::BTreeSet;
use words::{Lexeme, Lexer};

/// The simple commands of a script in the order in which they are written, whatever encloses them.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The commands.
    pub commands: Vec<Command>,
    /// Constructs of which one branch runs in any case: with an `else`, with a pattern for the rest.
    pub exhaustive: BTreeSet<u32>,
    /// Its heredocs.
    pub heredocs: Vec<Heredoc>,
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
    pub arms: Vec<Arm>,
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
        Some(Command {
            assignments: Vec::new(),
            words,
            redirections: Vec::new(),
            arms: Vec::new(),
            background: false,
            span,
        })
    }

    /// The same within branches of another script.
    fn within(self, arms: &[Arm]) -> Command {
        Command { arms: arms.to_vec(), ..self }
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

    /// Adds what another script runs, within some branches of this one.
    pub fn append(&mut self, other: Script, within: &[Arm]) {
        let (from, before) = (self.constructs, self.commands.len());
        let moved = |heredoc: Heredoc| Heredoc { commands: heredoc.commands + before, ..heredoc };
        self.heredocs.extend(other.heredocs.into_iter().map(moved));
        self.commands.extend(other.commands.into_iter().map(|mut command| {
            let own = command.arms.iter().map(|(construct, arm)| (construct + from, *arm));
            command.arms = within.iter().copied().chain(own).collect();
            command
        }));
        self.exhaustive.extend(other.exhaustive.iter().map(|construct| construct + from));
        self.constructs += other.constructs;
    }

    /// The script with others in the place of the commands that run them.
    pub fn unfolded(self, inner: &dyn Fn(&Command) -> Option<Script>) -> Script {
        let mut out = Script {
            commands: Vec::new(),
            exhaustive: self.exhaustive,
            heredocs: self.heredocs,
            constructs: self.constructs,
        };
        for command in self.commands {
            match inner(&command) {
                Some(mut script) => {
                    script.commands.iter_mut().for_each(|inner| inner.background |= command.background);
                    out.append(script, &command.arms);
                }
                None => out.commands.push(command),
            }
        }
        out
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

/// Reads a script. Never fails: an unterminated quote or heredoc reaches to the end.
pub fn parse(text: &Traced) -> Script {
    let mut parser = Parser {
        source: text,
        lexer: Lexer::new(text.text()),
        script: Script::default(),
        current: Vec::new(),
        redirections: Vec::new(),
        mode: Mode::Commands,
        cases: 0,
        constructs: Vec::new(),
        list: None,
        numbered: 0,
        lists: Lists::default(),
    };
    parser.run();
    parser.lists.mark(&mut parser.script.commands);
    Script { constructs: parser.numbered, ..parser.script }
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

/// What the words being read belong to.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Commands,
    /// `for x in a b`: no command until the separator.
    Header,
    /// `case x in`.
    CaseHead,
    /// `a | b)` of a case.
    Pattern,
    /// `[[ a && b ]]`: operators do not separate.
    Test,
}

struct Parser<'a> {
    source: &'a Traced,
    lexer: Lexer<'a>,
    script: Script,
    current: Vec<Lexeme>,
    redirections: Vec<Word>,
    mode: Mode,
    cases: u32,
    /// The constructs that are open: `None` for the branch while its condition is read.
    constructs: Vec<(u32, Option<u32>)>,
    /// What stands behind `&&` of a test, or behind `||`.
    list: Option<Arm>,
    /// How many constructs there were.
    numbered: u32,
    lists: Lists,
}

impl Parser<'_> {
    fn run(&mut self) {
        loop {
            self.lexer.skip_blanks();
            let Some(byte) = self.lexer.peek(0) else { break };
            let next = self.lexer.peek(1);
            match byte {
                b'#' => self.lexer.skip_line(),
                b'\n' => {
                    self.finish();
                    self.list = None;
                    self.end_list(false);
                    self.lexer.skip_newline();
                    let bodies = self.lexer.bodies.drain(..);
                    let commands = self.script.commands.len();
                    self.script.heredocs.extend(bodies.map(|body| Heredoc::of(self.source, &body, commands)));
                }
                b'<' | b'>' if next == Some(b'(') => self.word(),
                b'<' | b'>' if self.mode == Mode::Test => self.lexer.at += 1,
                b'<' | b'>' => self.redirection(),
                b'&' if next == Some(b'>') => self.redirection(),
                b';' | b'&' | b'|' | b'(' | b')' => self.operator(byte, next),
                _ => self.word(),
            }
        }
        self.finish();
    }

    fn redirection(&mut self) {
        let start = self.lexer.at;
        self.lexer.skip_redirection();
        let text = self.source.slice(start..self.lexer.at);
        self.redirections.push(Word { text, expands: false, quoted: true });
    }

    fn operator(&mut self, byte: u8, next: Option<u8>) {
        let arithmetic = byte == b'(' && next == Some(b'(') && self.current.is_empty();
        match self.mode {
            Mode::Test if byte != b';' => self.lexer.at += 1,
            Mode::Pattern => {
                self.lexer.at += 1;
                if byte == b')' {
                    self.mode = Mode::Commands;
                }
            }
            _ if arithmetic => self.lexer.skip_nested(b')', 1),
            _ if byte == b'(' && self.current.len() == 1 => {
                // `name()` opens a function: the name is not a command.
                self.current.clear();
                self.lexer.at += 1;
                self.lexer.skip_blanks();
                self.lexer.at += usize::from(self.lexer.peek(0) == Some(b')'));
            }
            _ => {
                let tests = self
                    .current
                    .first()
                    .is_some_and(|first| matches!(&self.source.text()[first.range.clone()], "[" | "[[" | "test"));
                self.finish();
                self.lexer.at += 1;
                match (byte, next == Some(byte)) {
                    (b'(', _) => self.open_list(),
                    (b')', _) => self.lists.close(),
                    (b';', _) | (b'&', false) => self.end_list(byte == b'&'),
                    _ => {}
                }
                match (byte, next == Some(byte)) {
                    (b'&', true) if tests && self.list.is_none() => self.list = Some((self.number(), 0)),
                    (b'|', true) => {
                        self.script.exhaustive.extend(self.list.map(|(number, _)| number));
                        let (number, arm) = self.list.unwrap_or_else(|| (self.number(), 0));
                        self.list = Some((number, arm + 1));
                    }
                    (b'&', true) | (b'|', false) => {}
                    _ => self.list = None,
                }
                if matches!(byte, b'&' | b'|') && next == Some(byte) {
                    self.lexer.at += 1;
                }
                if byte == b';' && matches!(next, Some(b';' | b'&')) {
                    self.another();
                    self.lexer.at += 1;
                    if self.cases > 0 {
                        self.mode = Mode::Pattern;
                    }
                }
            }
        }
    }

    fn word(&mut self) {
        let lexeme = self.lexer.word();
        if lexeme.is_descriptor(&self.lexer) {
            return;
        }
        let raw = &self.source.text()[lexeme.range.clone()];
        match self.mode {
            Mode::Commands if self.current.is_empty() => match raw {
                "if" => {
                    self.open(None);
                    self.open_list();
                }
                "then" | "elif" => self.another(),
                "else" => {
                    self.another();
                    self.exhaust();
                }
                "do" => {
                    self.open(Some(0));
                    self.exhaust();
                }
                "fi" | "done" => {
                    self.constructs.pop();
                    self.lists.close();
                }
                "while" | "until" | "{" => self.open_list(),
                "}" => self.lists.close(),
                "!" | "time" | "exec" => {}
                "for" | "select" => {
                    self.open_list();
                    self.mode = Mode::Header;
                }
                "case" => {
                    self.open_list();
                    self.cases += 1;
                    self.open(Some(0));
                    self.mode = Mode::CaseHead;
                }
                "esac" => self.esac(),
                "function" => {
                    self.lexer.skip_blanks();
                    self.lexer.word();
                }
                _ => {
                    if raw == "[[" {
                        self.mode = Mode::Test;
                    }
                    self.current.push(lexeme);
                }
            },
            Mode::Commands => self.current.push(lexeme),
            Mode::Test => {
                if raw == "]]" {
                    self.mode = Mode::Commands;
                }
                self.current.push(lexeme);
            }
            Mode::CaseHead if raw == "in" => self.mode = Mode::Pattern,
            Mode::Pattern if raw == "esac" => {
                self.esac();
                self.mode = Mode::Commands;
            }
            Mode::Pattern if raw == "*" => self.exhaust(),
            Mode::Header | Mode::CaseHead | Mode::Pattern => {}
        }
    }

    fn number(&mut self) -> u32 {
        self.numbered += 1;
        self.numbered
    }

    fn open(&mut self, arm: Option<u32>) {
        let number = self.number();
        self.constructs.push((number, arm));
    }

    /// Goes on to the next branch of the innermost construct.
    fn another(&mut self) {
        if let Some((_, arm)) = self.constructs.last_mut() {
            *arm = Some(arm.map_or(0, |arm| arm + 1));
        }
    }

    /// The branch at hand runs when no other one of its construct does.
    fn exhaust(&mut self) {
        self.script.exhaustive.extend(self.constructs.last().map(|(number, _)| *number));
    }

    fn open_list(&mut self) {
        self.lists.open(self.script.commands.len());
    }

    fn end_list(&mut self, background: bool) {
        self.lists.end(self.script.commands.len(), background);
    }

    fn esac(&mut self) {
        self.lists.close();
        self.cases = self.cases.saturating_sub(1);
        self.constructs.pop();
    }

    /// Ends the current command.
    fn finish(&mut self) {
        if matches!(self.mode, Mode::Header | Mode::Test) {
            self.mode = Mode::Commands;
        }
        let redirections = std::mem::take(&mut self.redirections);
        let lexemes = std::mem::take(&mut self.current);
        let (Some(first), Some(last)) = (lexemes.first(), lexemes.last()) else { return };
        let span = self.source.span(first.range.start..last.range.end);
        // What stands in so many constructs may not run, whatever more it stands in.
        let constructs = self.constructs.iter().filter_map(|(number, arm)| Some((*number, (*arm)?))).take(DEPTH);
        let mut command = Command {
            assignments: Vec::new(),
            words: Vec::new(),
            redirections,
            arms: constructs.chain(self.list).collect(),
            background: false,
            span,
        };
        for lexeme in lexemes {
            let raw = &self.source.text()[lexeme.range.clone()];
            let name = raw.split('=').next().unwrap_or(raw);
            let assigns = command.words.is_empty() && raw.contains('=');
            let word = Word {
                text: self.source.join(&lexeme.parts, self.source.span(lexeme.range.clone())),
                expands: lexeme.expands,
                quoted: raw.contains('"') && !raw[name.len()..].starts_with("=("),
            };
            let named = name.strip_suffix('+').unwrap_or(name);
            if assigns && is_name(named) {
                let start = word.text().find('=').map_or(0, |at| at + 1);
                let value = Word { text: word.text.slice(start..word.text().len()), ..word };
                command.assignments.push((name.to_string(), value));
            } else {
                command.words.push(word);
            }
        }
        self.script.commands.push(command);
    }
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
