//! Text and actions, and the tokens of actions.

use super::Fault;
use std::ops::Range;

/// A stretch of a template.
#[derive(Debug)]
pub(super) enum Segment {
    /// Text, trimmed as the actions around it ask.
    Text(Range<usize>),
    /// The tokens between the braces.
    Action(Vec<Token>, Range<usize>),
}

/// A token and its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    pub at: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Space,
    /// An identifier, a keyword, `true`, `false` or `nil`.
    Word(String),
    /// `.name`
    Field(String),
    /// `$name`, without `$`
    Variable(String),
    Dot,
    Int(i64),
    Float(f64),
    String(String),
    Declare,
    Assign,
    Pipe,
    Open,
    Close,
    Comma,
}

const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Splits a template.
pub(super) fn segments(text: &str) -> Result<Vec<Segment>, Fault> {
    let mut out = Vec::new();
    let (mut at, mut trim) = (0, false);
    loop {
        let open = text[at..].find("{{").map(|found| at + found);
        let mut plain = at..open.unwrap_or(text.len());
        if trim {
            plain.start = plain.end - text[plain.clone()].trim_start_matches(SPACE).len();
        }
        let Some(open) = open else {
            push_text(&mut out, plain);
            return Ok(out);
        };
        let mut start = open + 2;
        if text[start..].starts_with('-') && text[start + 1..].starts_with(SPACE) {
            plain.end = plain.start + text[plain.clone()].trim_end_matches(SPACE).len();
            start += 2;
        }
        push_text(&mut out, plain);
        (at, trim) = if text[start..].starts_with("/*") {
            comment(text, start)?
        } else {
            let mut lexer = Lexer { text, at: start, parens: Vec::new(), tokens: Vec::new() };
            let trim = lexer.action()?;
            out.push(Segment::Action(lexer.tokens, open..lexer.at));
            (lexer.at, trim)
        };
    }
}

fn push_text(out: &mut Vec<Segment>, range: Range<usize>) {
    if !range.is_empty() {
        out.push(Segment::Text(range));
    }
}

/// Skips a comment; tells where it ends and whether the text after it is trimmed.
fn comment(text: &str, start: usize) -> Result<(usize, bool), Fault> {
    let fault = |message: &str| Fault { at: start..start + 2, message: message.to_owned(), ours: false };
    let end = text[start..].find("*/").map(|found| start + found + 2).ok_or_else(|| fault("unclosed comment"))?;
    match right_delimiter(&text[end..]) {
        Some((length, trim)) => Ok((end + length, trim)),
        None => Err(fault("comment ends before closing delimiter")),
    }
}

/// The length of the closing braces that the text starts with, and whether they trim.
fn right_delimiter(rest: &str) -> Option<(usize, bool)> {
    if rest.starts_with("}}") {
        return Some((2, false));
    }
    let marked = rest.starts_with(SPACE) && rest[1..].starts_with("-}}");
    marked.then_some((4, true))
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    parens: Vec<usize>,
    tokens: Vec<Token>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn fault<T>(&self, at: Range<usize>, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { at, message: message.into(), ours: false })
    }

    fn push(&mut self, kind: Kind, length: usize) {
        self.tokens.push(Token { kind, at: self.at..self.at + length });
        self.at += length;
    }

    /// Reads to the closing braces; tells whether they trim.
    fn action(&mut self) -> Result<bool, Fault> {
        let open = self.at;
        loop {
            let rest = self.rest();
            if let Some((length, trim)) = right_delimiter(rest) {
                if let Some(&at) = self.parens.last() {
                    return self.fault(at..at + 1, "unclosed left paren");
                }
                self.at += length;
                return Ok(trim);
            }
            let Some(c) = rest.chars().next() else {
                return self.fault(open.saturating_sub(2)..open, "unclosed action");
            };
            match c {
                ' ' | '\t' | '\r' | '\n' => self.space(),
                '=' => self.push(Kind::Assign, 1),
                ':' if rest.starts_with(":=") => self.push(Kind::Declare, 2),
                ':' => return self.fault(self.at..self.at + 1, "expected :="),
                '|' => self.push(Kind::Pipe, 1),
                ',' => self.push(Kind::Comma, 1),
                '"' => self.quoted()?,
                '`' => self.raw()?,
                '\'' => self.character()?,
                '$' => {
                    let name = word(&rest[1..]);
                    self.push(Kind::Variable(name.to_owned()), 1 + name.len());
                    self.terminated()?;
                }
                '.' if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.field()?,
                '+' | '-' | '.' | '0'..='9' => self.number()?,
                '(' => {
                    self.parens.push(self.at);
                    self.push(Kind::Open, 1);
                }
                ')' => {
                    if self.parens.pop().is_none() {
                        return self.fault(self.at..self.at + 1, "unexpected right paren");
                    }
                    self.push(Kind::Close, 1);
                }
                c if c.is_alphabetic() || c == '_' => {
                    let name = word(rest);
                    self.push(Kind::Word(name.to_owned()), name.len());
                    self.terminated()?;
                }
                c => return self.unexpected(c),
            }
        }
    }

    fn unexpected<T>(&self, c: char) -> Result<T, Fault> {
        self.fault(self.at..self.at + c.len_utf8(), format!("unexpected {c:?} in an action"))
    }

    /// White space, but for the one character that belongs to ` -}}`.
    fn space(&mut self) {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches(SPACE).len();
        let marker = rest[length..].starts_with("-}}");
        match length - usize::from(marker) {
            0 => {}
            length => self.push(Kind::Space, length),
        }
    }

    fn field(&mut self) -> Result<(), Fault> {
        let name = word(&self.rest()[1..]);
        if name.is_empty() {
            self.push(Kind::Dot, 1);
        } else {
            self.push(Kind::Field(name.to_owned()), 1 + name.len());
        }
        self.terminated()
    }

    /// Whether what follows may follow a name.
    fn terminated(&self) -> Result<(), Fault> {
        match self.rest().chars().next() {
            None | Some(' ' | '\t' | '\r' | '\n' | '.' | ',' | '|' | ':' | ')' | '(' | '}' | '=') => Ok(()),
            Some(c) => self.unexpected(c),
        }
    }

    fn quoted(&mut self) -> Result<(), Fault> {
        let mut chars = self.rest().char_indices().skip(1);
        let mut end = None;
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '"' => {
                    end = Some(at);
                    break;
                }
                '\n' => break,
                _ => {}
            }
        }
        let Some(end) = end else { return self.fault(self.at..self.at + 1, "unterminated quoted string") };
        match unquote(&self.rest()[1..end]) {
            Some(text) => {
                self.push(Kind::String(text), end + 1);
                Ok(())
            }
            None => self.fault(self.at..self.at + end + 1, "invalid escape in a quoted string"),
        }
    }

    fn raw(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        match rest[1..].find('`') {
            Some(end) => {
                self.push(Kind::String(rest[1..=end].replace('\r', "")), end + 2);
                Ok(())
            }
            None => self.fault(self.at..self.at + 1, "unterminated raw quoted string"),
        }
    }

    fn character(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let escaped = rest[1..].starts_with('\\');
        let first = rest.char_indices().nth(if escaped { 3 } else { 2 }).map_or(rest.len(), |(at, _)| at);
        let end = rest[first..].find('\'').map(|found| first + found);
        let code = end.and_then(|end| unquote(&rest[1..end])).and_then(|text| {
            let mut chars = text.chars();
            chars.next().filter(|_| chars.next().is_none())
        });
        match (code, end) {
            (Some(c), Some(end)) => {
                self.push(Kind::Int(i64::from(u32::from(c))), end + 1);
                Ok(())
            }
            _ => self.fault(self.at..self.at + 1, "malformed character constant"),
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let mut end = usize::from(rest.starts_with(['+', '-']));
        let hex = rest[end..].starts_with("0x") || rest[end..].starts_with("0X");
        while let Some(c) = rest[end..].chars().next() {
            let exponent = matches!(c, 'p' | 'P') || !hex && matches!(c, 'e' | 'E');
            if !c.is_ascii_alphanumeric() && c != '.' && c != '_' {
                break;
            }
            end += c.len_utf8();
            if exponent && rest[end..].starts_with(['+', '-']) {
                end += 1;
            }
        }
        let text = rest[..end].replace('_', "");
        let kind = match integer(&text) {
            Some(value) => Kind::Int(value),
            None => match if hex { hexadecimal(&text) } else { decimal(&text) } {
                Some(value) => Kind::Float(value),
                None => {
                    let message = format!("bad number syntax: {text:?}");
                    return Err(Fault { at: self.at..self.at + end.max(1), message, ours: text.ends_with('i') });
                }
            },
        };
        self.push(kind, end);
        Ok(())
    }
}

/// The identifier that a text starts with.
fn word(rest: &str) -> &str {
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    &rest[..end]
}

/// A whole number as Go writes it: with a sign, and in base 2, 8 or 16 by its prefix.
pub fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

fn decimal(text: &str) -> Option<f64> {
    text.parse().ok().filter(|_| text.ends_with(|c: char| c.is_ascii_digit() || c == '.'))
}

/// A floating number in base 16, whose exponent is one of 2: `0x1.8p-2`.
fn hexadecimal(text: &str) -> Option<f64> {
    let (negative, digits) = (text.starts_with('-'), text.trim_start_matches(['+', '-']).get(2..)?);
    let (digits, exponent) = digits.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent = exponent.parse::<i32>().ok()?.saturating_sub(4 * fraction.len() as i32);
    let value = (!digits.is_empty()).then(|| value * 2f64.powi(exponent))?;
    Some(if negative { -value } else { value })
}

/// The text that stands between quotes.
fn unquote(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest[at + 1..].chars().next()?;
        let number = |digits: usize, radix: u32, from: usize| {
            let code = rest.get(from..from + digits).and_then(|d| u32::from_str_radix(d, radix).ok())?;
            Some((char::from_u32(code)?, from + digits))
        };
        let (c, end) = match escape {
            'a' => ('\u{7}', at + 2),
            'b' => ('\u{8}', at + 2),
            'f' => ('\u{c}', at + 2),
            'n' => ('\n', at + 2),
            'r' => ('\r', at + 2),
            't' => ('\t', at + 2),
            'v' => ('\u{b}', at + 2),
            '\\' | '"' | '\'' => (escape, at + 2),
            'x' => number(2, 16, at + 2)?,
            'u' => number(4, 16, at + 2)?,
            'U' => number(8, 16, at + 2)?,
            '0'..='7' => number(3, 8, at + 1)?,
            _ => return None,
        };
        out.push(c);
        rest = &rest[end..];
    }
    out.push_str(rest);
    Some(out)
}
