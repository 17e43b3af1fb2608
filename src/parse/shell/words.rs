//! Cuts shell text into words: quotes, escapes, nesting, redirections and heredoc bodies.

use std::ops::Range;

/// A word: the parts of the text that remain after quote removal.
#[derive(Debug)]
pub(super) struct Lexeme {
    pub(super) parts: Vec<Range<usize>>,
    pub(super) range: Range<usize>,
    pub(super) expands: bool,
}

impl Lexeme {
    /// Whether this is the `2` of `2>`.
    pub(super) fn is_descriptor(&self, lexer: &Lexer) -> bool {
        matches!(lexer.peek(0), Some(b'<' | b'>')) && lexer.text[self.range.clone()].bytes().all(|b| b.is_ascii_digit())
    }
}

/// The body of a heredoc.
#[derive(Debug, Clone)]
pub(super) struct Body {
    /// Where it stands.
    pub(super) range: Range<usize>,
    /// Whether tabs before its lines do not count.
    pub(super) strips: bool,
    /// Whether variables are put into it.
    pub(super) expands: bool,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    pub(super) at: usize,
    /// Heredocs whose bodies start after the next newline, by their delimiters.
    heredocs: Vec<(String, Body)>,
    /// The bodies of heredocs.
    pub(super) bodies: Vec<Body>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, heredocs: Vec::new(), bodies: Vec::new() }
    }

    /// The byte `ahead` of the current one.
    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Length of a `\`-newline here.
    fn continuation(&self) -> Option<usize> {
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (Some(b'\\'), Some(b'\n'), _) => Some(2),
            (Some(b'\\'), Some(b'\r'), Some(b'\n')) => Some(3),
            _ => None,
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            match (self.peek(0), self.continuation()) {
                (Some(b' ' | b'\t' | b'\r'), _) => self.at += 1,
                (_, Some(length)) => self.at += length,
                _ => return,
            }
        }
    }

    /// Moves to the end of the line.
    pub(super) fn skip_line(&mut self) {
        self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |i| self.at + i);
    }

    /// Moves past a newline and the heredoc bodies that follow it.
    pub(super) fn skip_newline(&mut self) {
        self.at += 1;
        for (delimiter, heredoc) in std::mem::take(&mut self.heredocs) {
            let (body, mut end) = (self.at, self.text.len());
            while self.at < self.text.len() {
                let start = self.at;
                self.skip_line();
                let line = self.text[start..self.at].trim_end_matches('\r');
                self.at = (self.at + 1).min(self.text.len());
                if (if heredoc.strips { line.trim_start_matches('\t') } else { line }) == delimiter {
                    end = start;
                    break;
                }
            }
            self.bodies.push(Body { range: body..end, ..heredoc });
        }
    }

    /// Moves past a redirection and its target; remembers a heredoc.
    pub(super) fn skip_redirection(&mut self) {
        let start = self.at;
        while matches!(self.peek(0), Some(b'<' | b'>' | b'&' | b'|')) && self.at - start < 3 {
            self.at += 1;
        }
        let mut operator = &self.text[start..self.at];
        if operator.starts_with("<<") && operator != "<<<" {
            operator = "<<";
            self.at = start + 2;
        }
        let strip = operator == "<<" && self.peek(0) == Some(b'-');
        self.at += usize::from(strip);
        self.skip_blanks();
        let substitution = self.peek(1) == Some(b'(');
        match self.peek(0) {
            Some(b'<' | b'>') if substitution => {}
            None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') => return,
            _ => {}
        }
        let target = self.word();
        if operator == "<<" {
            let delimiter: String = target.parts.iter().map(|part| &self.text[part.clone()]).collect();
            let expands = delimiter == self.text[target.range];
            self.heredocs.push((delimiter, Body { range: 0..0, strips: strip, expands }));
        }
    }

    /// Reads a word. The current byte starts one.
    pub(super) fn word(&mut self) -> Lexeme {
        let start = self.at;
        let mut word = Builder { parts: Vec::new(), expands: false };
        while let Some(byte) = self.peek(0) {
            let at = self.at;
            match byte {
                b'<' | b'>' if at == start && self.peek(1) == Some(b'(') => {
                    self.skip_nested(b')', 2);
                    word.expands = true;
                    word.push(at..self.at);
                }
                // `NAME=(a b)`: an array is one word.
                b'(' if at > start && self.text[..at].ends_with('=') => {
                    self.skip_nested(b')', 1);
                    word.expands = true;
                    word.push(at..self.at);
                }
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'\'' => self.single(&mut word),
                b'"' => self.double(&mut word),
                b'$' if self.peek(1) == Some(b'\'') => {
                    self.at += 1;
                    self.ansi(&mut word);
                }
                b'$' if self.peek(1) == Some(b'"') => self.at += 1,
                b'$' | b'`' => self.expansion(&mut word),
                b'\\' => self.escape(&mut word),
                _ => self.plain(&mut word),
            }
        }
        Lexeme { parts: word.parts, range: start..self.at, expands: word.expands }
    }

    /// Takes one character as it stands.
    fn plain(&mut self, word: &mut Builder) {
        let at = self.at;
        self.at += self.text[at..].chars().next().map_or(1, char::len_utf8);
        word.push(at..self.at);
    }

    /// `\x` stands for x; `\`-newline for nothing.
    fn escape(&mut self, word: &mut Builder) {
        if let Some(length) = self.continuation() {
            self.at += length;
        } else if self.peek(1).is_none() {
            self.plain(word);
        } else {
            self.at += 1;
            self.plain(word);
        }
    }

    fn single(&mut self, word: &mut Builder) {
        let start = self.at + 1;
        let end = self.text[start..].find('\'').map_or(self.text.len(), |i| start + i);
        word.push(start..end);
        self.at = (end + 1).min(self.text.len());
    }

    /// `$'…'`: a backslash protects the quote; escapes stay as written.
    fn ansi(&mut self, word: &mut Builder) {
        let start = self.at + 1;
        let mut end = start;
        let bytes = self.text.as_bytes();
        while end < bytes.len() && bytes[end] != b'\'' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let end = self.boundary(end);
        word.push(start..end);
        self.at = (end + 1).min(self.text.len());
    }

    fn double(&mut self, word: &mut Builder) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'$' | b'`' => self.expansion(word),
                b'\\' if matches!(self.peek(1), Some(b'$' | b'`' | b'"' | b'\\' | b'\n' | b'\r')) => self.escape(word),
                _ => self.plain(word),
            }
        }
    }

    /// An expansion, kept as written; a lone `$` is itself.
    fn expansion(&mut self, word: &mut Builder) {
        let start = self.at;
        match (self.peek(0), self.peek(1)) {
            (Some(b'`'), _) => self.skip_nested(b'`', 1),
            (_, Some(b'(')) => self.skip_nested(b')', 2),
            (_, Some(b'{')) => self.skip_nested(b'}', 2),
            (_, Some(b)) if b.is_ascii_alphanumeric() || b"_@*#?$!-".contains(&b) => self.at += 2,
            _ => return self.plain(word),
        }
        word.expands = true;
        word.push(start..self.at);
    }

    /// Moves past `opening` bytes and on past the matching `close`, over quotes and nested expansions.
    pub(super) fn skip_nested(&mut self, close: u8, opening: usize) {
        let bytes = self.text.as_bytes();
        let mut stack = vec![close];
        let mut at = self.at + opening;
        while let Some(&top) = stack.last() {
            let Some(&byte) = bytes.get(at) else { break };
            let next = bytes.get(at + 1).copied();
            let quoted = top == b'"' || (top == b'}' && stack.len() > 1 && stack[stack.len() - 2] == b'"');
            at += 1;
            match byte {
                b'\\' => at += 1,
                _ if byte == top => {
                    stack.pop();
                }
                b'$' if next == Some(b'(') => {
                    at += 1;
                    stack.push(b')');
                }
                b'$' if next == Some(b'{') => {
                    at += 1;
                    stack.push(b'}');
                }
                b'`' => stack.push(b'`'),
                b'"' => stack.push(b'"'),
                b'\'' if !quoted => {
                    at = self.text.get(at..).and_then(|t| t.find('\'')).map_or(bytes.len(), |i| at + i + 1)
                }
                b'(' if top == b')' => stack.push(b')'),
                _ => {}
            }
        }
        self.at = self.boundary(at);
    }

    /// The next character boundary at or after `at`, at most the end.
    fn boundary(&self, at: usize) -> usize {
        (at..self.text.len()).find(|&i| self.text.is_char_boundary(i)).unwrap_or(self.text.len())
    }
}

/// What stands in `$(…)`, backquotes and `<(…)` of a word.
pub(super) fn substitutions(text: &str) -> Vec<Range<usize>> {
    let mut lexer = Lexer::new(text);
    let mut out = Vec::new();
    while let Some(byte) = lexer.peek(0) {
        let (next, start) = (lexer.peek(1), lexer.at);
        let opening = match byte {
            b'`' => 1,
            b'$' if next == Some(b'(') && lexer.peek(2) != Some(b'(') => 2,
            b'<' | b'>' if next == Some(b'(') => 2,
            _ => {
                lexer.at += 1;
                continue;
            }
        };
        lexer.skip_nested(if byte == b'`' { b'`' } else { b')' }, opening);
        let end = lexer.at.saturating_sub(1);
        if text.is_char_boundary(end) && end > start + opening {
            out.push(start + opening..end);
        }
    }
    out
}

/// Where the shell puts something into a heredoc: `$NAME`, `${…}`, `$(…)`, backquotes, and what a backslash protects.
pub(super) fn expansions(text: &str) -> Vec<Range<usize>> {
    let mut lexer = Lexer::new(text);
    let mut out = Vec::new();
    while let Some(at) = text[lexer.at..].find(['$', '`', '\\']).map(|at| lexer.at + at) {
        lexer.at = at;
        match (lexer.peek(0), lexer.peek(1)) {
            (Some(b'\\'), Some(b'$' | b'`' | b'\\')) => lexer.at += 2,
            (Some(b'`'), _) => lexer.skip_nested(b'`', 1),
            (Some(b'$'), Some(b'(')) => lexer.skip_nested(b')', 2),
            (Some(b'$'), Some(b'{')) => lexer.skip_nested(b'}', 2),
            (Some(b'$'), Some(b)) if b.is_ascii_alphabetic() || b == b'_' => {
                let name = text[at + 1..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
                lexer.at += 1 + name;
            }
            (Some(b'$'), Some(b)) if b.is_ascii_digit() || b"@*#?".contains(&b) => lexer.at += 2,
            _ => {
                lexer.at += 1;
                continue;
            }
        }
        out.push(at..lexer.at);
    }
    out
}

struct Builder {
    parts: Vec<Range<usize>>,
    expands: bool,
}

impl Builder {
    /// Adds a part, joined to the one before where they touch.
    fn push(&mut self, range: Range<usize>) {
        match self.parts.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => {}
            _ => self.parts.push(range),
        }
    }
}
