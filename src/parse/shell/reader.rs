//! Cuts a script into commands, each with the branches that it stands in. Never fails: what does not close reaches to the
//! end.

use super::arms::{Arm, Arms, Kind};
use super::effects::arithmetic;
use super::lists::Lists;
use super::words::{Lexeme, Lexer};
use super::{Command, Heredoc, Script, Word, is_name};
use crate::source::Traced;

/// Reads a script. Never fails: an unterminated quote or heredoc reaches to the end.
pub fn parse(text: &Traced) -> Script {
    let mut reader = Reader {
        source: text,
        lexer: Lexer::new(text.text()),
        script: Script::default(),
        current: Vec::new(),
        redirections: Vec::new(),
        mode: Mode::Commands,
        frames: Vec::new(),
        list: List::default(),
        function: None,
        opens: Vec::new(),
        lists: Lists::default(),
    };
    reader.run();
    reader.lists.mark(&mut reader.script.commands);
    reader.script
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

/// Constructs that another one ends with itself, where they lack an end.
const MOST_UNCLOSED: usize = 8;

/// A construct that is open.
struct Frame {
    sort: Sort,
    /// The list that it is a part of.
    list: List,
    number: u32,
    /// The branch at hand; none while a condition is read that runs in any case.
    branch: Option<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Sort {
    If,
    Loop,
    Case,
    Braces,
    Parentheses,
}

/// Commands that `&&`, `||` and `|` join.
#[derive(Clone, Default)]
struct List {
    /// The branches that all of it stands in.
    base: Arms,
    /// Those of the command at hand.
    arms: Arms,
    /// The same without those of a pipe.
    unpiped: Arms,
}

impl List {
    fn of(base: Arms) -> Self {
        Self { arms: base.clone(), unpiped: base.clone(), base }
    }

    fn go_on(&mut self, arms: Arms) {
        self.unpiped = arms.clone();
        self.arms = arms;
    }

    /// The branch that an operator of this list has opened last.
    fn last(&self) -> Option<Arm> {
        self.unpiped.iter().next().filter(|_| self.unpiped.depth() > self.base.depth())
    }
}

struct Reader<'a> {
    source: &'a Traced,
    lexer: Lexer<'a>,
    script: Script,
    current: Vec<Lexeme>,
    redirections: Vec<Word>,
    mode: Mode,
    frames: Vec<Frame>,
    list: List,
    /// The function whose body comes next.
    function: Option<String>,
    /// Variables that what is no command sets.
    opens: Vec<(String, Arms)>,
    lists: Lists,
}

impl Reader<'_> {
    fn run(&mut self) {
        loop {
            self.lexer.skip_blanks();
            let Some(byte) = self.lexer.peek(0) else { break };
            let next = self.lexer.peek(1);
            match byte {
                b'#' => self.lexer.skip_line(),
                b'\n' => {
                    self.finish();
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
            _ if arithmetic => self.arithmetic(),
            _ if byte == b'(' && self.current.len() == 1 => {
                // `name()` opens a function: the name is not a command.
                let name = self.current.pop().map(|name| self.source.text()[name.range].to_owned());
                self.function = name;
                self.lexer.at += 1;
                self.lexer.skip_blanks();
                self.lexer.at += usize::from(self.lexer.peek(0) == Some(b')'));
            }
            _ => self.separator(byte, next == Some(byte)),
        }
    }

    fn arithmetic(&mut self) {
        let start = self.lexer.at;
        self.lexer.skip_nested(b')', 1);
        let names = arithmetic(&self.source.text()[start..self.lexer.at]);
        self.opens.extend(names.into_iter().map(|name| (name, self.list.arms.clone())));
    }

    fn separator(&mut self, byte: u8, twice: bool) {
        let first = self.current.first().map(|first| &self.source.text()[first.range.clone()]);
        let tests = first.is_some_and(|first| matches!(first, "[" | "[[" | "test"));
        self.finish();
        self.lexer.at += 1;
        match (byte, twice) {
            (b'(', _) => self.open(Sort::Parentheses),
            (b')', _) => self.close(Sort::Parentheses),
            (b'&', true) => self.and(tests),
            (b'|', true) => self.or(),
            (b'|', false) => {
                let arm = Arm { construct: self.script.number(), branch: 0, kind: Kind::Chain };
                self.list.arms = self.list.unpiped.within(arm);
            }
            _ => self.end_list(byte == b'&'),
        }
        if matches!(byte, b'&' | b'|') && twice {
            self.lexer.at += 1;
        }
        if byte == b';' && matches!(self.lexer.peek(0), Some(b';' | b'&')) {
            self.another(Sort::Case);
            self.lexer.at += 1;
            if self.frames.last().is_some_and(|frame| frame.sort == Sort::Case) {
                self.mode = Mode::Pattern;
            }
        }
    }

    /// What comes next runs if what is before does not fail.
    fn and(&mut self, tests: bool) {
        let last = self.list.last();
        let arms = match last {
            // Behind `||` it runs if either does not.
            Some(arm) if arm.kind == Kind::Branch && arm.branch > 0 => &self.list.base,
            Some(arm) if arm.kind == Kind::Branch || !tests => return self.list.arms = self.list.unpiped.clone(),
            _ => &self.list.unpiped,
        };
        let kind = if tests { Kind::Branch } else { Kind::Chain };
        let arm = Arm { construct: self.script.number(), branch: 0, kind };
        self.list.go_on(arms.within(arm));
    }

    /// What comes next runs if what is before fails.
    fn or(&mut self) {
        let (construct, branch) = match self.list.last().filter(|arm| arm.kind == Kind::Branch) {
            Some(arm) => {
                self.script.exhaustive.insert(arm.construct);
                (arm.construct, arm.branch + 1)
            }
            None => (self.script.number(), 1),
        };
        self.list.go_on(self.list.base.within(Arm { construct, branch, kind: Kind::Branch }));
    }

    fn word(&mut self) {
        let lexeme = self.lexer.word();
        if lexeme.is_descriptor(&self.lexer) {
            return;
        }
        let raw = &self.source.text()[lexeme.range.clone()];
        match self.mode {
            Mode::Commands if self.current.is_empty() => self.first(raw, lexeme),
            Mode::Commands => self.current.push(lexeme),
            Mode::Test => {
                if raw == "]]" {
                    self.mode = Mode::Commands;
                }
                self.current.push(lexeme);
            }
            Mode::CaseHead if raw == "in" => self.mode = Mode::Pattern,
            Mode::Pattern if raw == "esac" => {
                self.close(Sort::Case);
                self.mode = Mode::Commands;
            }
            Mode::Pattern if raw == "*" => self.exhaust(Sort::Case),
            Mode::Header | Mode::CaseHead | Mode::Pattern => {}
        }
    }

    /// The first word of a command, or a keyword.
    fn first(&mut self, raw: &str, lexeme: Lexeme) {
        match raw {
            "if" => self.open(Sort::If),
            "then" | "elif" => self.another(Sort::If),
            "else" => {
                self.another(Sort::If);
                self.exhaust(Sort::If);
            }
            "do" => {
                self.another(Sort::Loop);
                self.exhaust(Sort::Loop);
            }
            "fi" => self.close(Sort::If),
            "done" => self.close(Sort::Loop),
            "while" | "until" => self.open(Sort::Loop),
            "{" => self.open(Sort::Braces),
            "}" => self.close(Sort::Braces),
            "!" | "time" | "exec" => {}
            "for" | "select" => {
                self.lexer.skip_blanks();
                if self.lexer.peek(0) != Some(b'(') {
                    let name = self.lexer.word();
                    self.opens.push((self.source.text()[name.range].to_owned(), self.list.arms.clone()));
                }
                self.open(Sort::Loop);
                self.mode = Mode::Header;
            }
            "case" => {
                self.open(Sort::Case);
                self.another(Sort::Case);
                self.mode = Mode::CaseHead;
            }
            "esac" => self.close(Sort::Case),
            "function" => {
                self.lexer.skip_blanks();
                let name = self.lexer.word();
                self.function = Some(self.source.text()[name.range].to_owned());
                self.lexer.skip_blanks();
                if (self.lexer.peek(0), self.lexer.peek(1)) == (Some(b'('), Some(b')')) {
                    self.lexer.at += 2;
                }
            }
            _ => {
                if raw == "[[" {
                    self.mode = Mode::Test;
                }
                self.function = None;
                self.current.push(lexeme);
            }
        }
    }

    /// A construct begins, in a shell of its own, or as the body of a function, or as none of them.
    fn open(&mut self, sort: Sort) {
        self.lists.open(self.script.commands.len());
        let number = self.script.number();
        let arm = |kind| Arm { construct: number, branch: 0, kind };
        let mut base = self.list.arms.clone();
        if let Some(name) = self.function.take() {
            base = base.within(arm(Kind::Function));
            self.script.functions.entry(name).or_default().push(number);
        } else if sort == Sort::Parentheses {
            base = base.within(arm(Kind::Subshell));
        }
        let list = std::mem::replace(&mut self.list, List::of(base));
        self.frames.push(Frame { sort, list, number, branch: None });
    }

    /// It ends, and its list goes on. What ends nothing is no end.
    fn close(&mut self, sort: Sort) {
        let unclosed = self.frames.iter().rev().take(MOST_UNCLOSED).position(|frame| frame.sort == sort);
        for _ in 0..unclosed.map_or(0, |unclosed| unclosed + 1) {
            self.lists.close();
            self.list = self.frames.pop().map(|frame| frame.list).unwrap_or_default();
        }
    }

    /// Goes on to the next branch of the innermost construct.
    fn another(&mut self, sort: Sort) {
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.sort == sort) else { return };
        let branch = frame.branch.map_or(0, |branch| branch + 1);
        frame.branch = Some(branch);
        let kind = if sort == Sort::Loop { Kind::Loop } else { Kind::Branch };
        let arms = frame.list.arms.within(Arm { construct: frame.number, branch, kind });
        self.list = List::of(arms);
    }

    /// The branch at hand runs when no other one of its construct does.
    fn exhaust(&mut self, sort: Sort) {
        let frame = self.frames.last().filter(|frame| frame.sort == sort);
        self.script.exhaustive.extend(frame.map(|frame| frame.number));
    }

    fn end_list(&mut self, background: bool) {
        let base = self.list.base.clone();
        self.list.go_on(base);
        self.lists.end(self.script.commands.len(), background);
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
        let mut command = Command {
            redirections,
            arms: self.list.arms.clone(),
            opens: std::mem::take(&mut self.opens),
            ..Command::blank(span)
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
