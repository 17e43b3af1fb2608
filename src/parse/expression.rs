//! CEL's grammar: expressions of rules and of the schemas of kinds into a syntax tree, and `text {expression} text` for
//! messages. Knows nothing of types or facts.

use std::ops::Range;

/// Longest expression, in bytes.
const LONGEST: usize = 4096;
/// Deepest nesting: the loops around an expression, and `each`, are bits of a number.
const DEEPEST: usize = 60;

/// Something wrong with a text, at bytes of that text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where in the text.
    pub range: Range<usize>,
    /// What, as a sentence without a full stop.
    pub message: String,
}

impl Fault {
    /// A fault.
    pub fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self { range, message: message.into() }
    }
}

/// An expression and the bytes it was written with.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// Where it stands in its text.
    pub range: Range<usize>,
}

/// The forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `8`
    Int(i64),
    /// `0.9`
    Float(f64),
    /// `'text'`
    Str(String),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `container`
    Ident(String),
    /// `a.b`
    Field(Box<Expr>, String),
    /// `a[b]`
    Index(Box<Expr>, Box<Expr>),
    /// `!a`
    Not(Box<Expr>),
    /// `-a`
    Negative(Box<Expr>),
    /// `a + b` and its kin
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(a)`, `a.f(b)`
    Call {
        /// What stands before the dot.
        target: Option<Box<Expr>>,
        /// Name of the function.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
    },
}

/// Binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'t> {
    Int(i64),
    Float(f64),
    /// As it is written, with its quotes.
    Str(&'t str),
    Ident(&'t str),
    Sign(&'t str),
    End,
}

/// The length of the operator that a text starts with.
fn sign(text: &str) -> Option<usize> {
    match text.as_bytes() {
        [b'&', b'&', ..] | [b'|', b'|', ..] | [b'=' | b'!' | b'<' | b'>', b'=', ..] => Some(2),
        [b'<' | b'>' | b'!' | b'+' | b'-' | b'*' | b'/' | b'%' | b'?' | b':' | b'.' | b',', ..] => Some(1),
        [b'(' | b')' | b'[' | b']', ..] => Some(1),
        _ => None,
    }
}

/// Splits into tokens with their ranges.
fn tokens(text: &str, base: usize) -> Result<Vec<(Token<'_>, Range<usize>)>, Fault> {
    let mut out = Vec::with_capacity(text.len() / 4 + 1);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let token = if let Some(quote) = quoted(&text[at..]) {
            let closed = quote.end_of(&text[at..]);
            at += closed.ok_or_else(|| Fault::new(base + start..base + text.len(), "the string is not closed"))?;
            Token::Str(&text[start..at])
        } else if c.is_ascii_digit() {
            let body = &text[at..];
            let length = body
                .char_indices()
                .find(|&(i, c)| {
                    !(c.is_ascii_digit() || (c == '.' && body[i + 1..].starts_with(|d: char| d.is_ascii_digit())))
                })
                .map_or(body.len(), |(i, _)| i);
            at += length;
            let digits = &body[..length];
            let number = digits.parse().map(Token::Int).or_else(|_| digits.parse().map(Token::Float));
            at += usize::from(text[at..].starts_with('u'));
            number.map_err(|_| Fault::new(base + start..base + at, "not a number"))?
        } else if c.is_ascii_alphabetic() || c == '_' {
            let body = &text[at..];
            let ends = |b: &u8| !b.is_ascii_alphanumeric() && *b != b'_';
            let length = body.as_bytes().iter().position(ends).unwrap_or(body.len());
            at += length;
            Token::Ident(&body[..length])
        } else if let Some(length) = sign(&text[at..]) {
            at += length;
            Token::Sign(&text[start..at])
        } else {
            return Err(Fault::new(base + at..base + at + c.len_utf8(), format!("{c:?} is no part of an expression")));
        };
        out.push((token, base + start..base + at));
    }
    out.push((Token::End, base + text.len()..base + text.len()));
    Ok(out)
}

/// How a string is written: `'text'`, `"text"`, `r'as it stands'`, and the same in three quotes.
struct Quoted {
    raw: bool,
    quote: char,
    quotes: usize,
}

/// How the string is written that a text starts with, if it starts with one.
fn quoted(text: &str) -> Option<Quoted> {
    let body = text.strip_prefix(['r', 'R']).unwrap_or(text);
    let quote = body.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let quotes = if body.starts_with(&quote.to_string().repeat(3)) { 3 } else { 1 };
    Some(Quoted { raw: body.len() < text.len(), quote, quotes })
}

impl Quoted {
    /// Bytes before the text.
    fn before(&self) -> usize {
        usize::from(self.raw) + self.quotes
    }

    /// Where the string ends that a text starts with.
    fn end_of(&self, text: &str) -> Option<usize> {
        let closing = self.quote.to_string().repeat(self.quotes);
        let mut at = self.before();
        while let Some(c) = text.get(at..)?.chars().next() {
            match c {
                _ if text[at..].starts_with(&closing) => return Some(at + self.quotes),
                '\\' if !self.raw => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
                c => at += c.len_utf8(),
            }
        }
        None
    }
}

/// The value of a string with its quotes.
fn string(written: &str) -> String {
    let Some(form) = quoted(written) else { return String::new() };
    let text = &written[form.before()..written.len() - form.quotes];
    if form.raw {
        return text.to_owned();
    }
    let mut value = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            (_, Some('n')) => value.push('\n'),
            (_, Some('t')) => value.push('\t'),
            (_, Some(c)) if c == '\\' || c == form.quote => value.push(c),
            // A backslash before anything else stays, so that regular expressions read as usual.
            (_, Some(c)) => value.extend(['\\', c]),
            (c, None) => value.push(c),
        }
    }
    value
}

/// Reads one expression.
pub fn expression(text: &str) -> Result<Expr, Fault> {
    expression_at(text, 0)
}

/// Reads an expression that stands `base` bytes into a larger text.
fn expression_at(text: &str, base: usize) -> Result<Expr, Fault> {
    if text.len() > LONGEST {
        return Err(Fault::new(base..base + text.len(), format!("longer than {LONGEST} bytes")));
    }
    let mut parser = Parser { tokens: tokens(text, base)?, at: 0, depth: 0 };
    let expr = parser.ternary()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

/// The name of the call that `a.?b` and `a[?b]` are read as.
pub const OPTIONAL: &str = "?";

fn optionally(target: Expr, key: Expr, range: Range<usize>) -> Expr {
    Expr { kind: Kind::Call { target: Some(target.into()), name: OPTIONAL.to_owned(), args: vec![key] }, range }
}

struct Parser<'t> {
    tokens: Vec<(Token<'t>, Range<usize>)>,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> &Token<'t> {
        &self.tokens[self.at].0
    }

    fn range(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    fn next(&mut self) -> (Token<'t>, Range<usize>) {
        let token = self.tokens[self.at].clone();
        // The end stays: looking past it is harmless.
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<Range<usize>, Fault> {
        let range = self.range();
        if self.take(sign) { Ok(range) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Token::End => "the expression ends".to_owned(),
            Token::Sign(s) => format!("`{s}`"),
            Token::Ident(name) => format!("`{name}`"),
            _ => "a literal".to_owned(),
        };
        Fault::new(self.range(), format!("expected {wanted}, found {found}"))
    }

    fn ternary(&mut self) -> Result<Expr, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(self.range(), format!("nested deeper than {DEEPEST}")));
        }
        let condition = self.binary(0)?;
        let expr = if self.take("?") {
            let yes = self.ternary()?;
            self.expect(":")?;
            let no = self.ternary()?;
            let range = condition.range.start..no.range.end;
            Expr { kind: Kind::Cond(condition.into(), yes.into(), no.into()), range }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn operator(&self) -> Option<(Op, u8)> {
        Some(match self.peek() {
            Token::Sign("||") => (Op::Or, 1),
            Token::Sign("&&") => (Op::And, 2),
            Token::Sign("==") => (Op::Eq, 3),
            Token::Sign("!=") => (Op::Ne, 3),
            Token::Sign("<") => (Op::Lt, 3),
            Token::Sign("<=") => (Op::Le, 3),
            Token::Sign(">") => (Op::Gt, 3),
            Token::Sign(">=") => (Op::Ge, 3),
            Token::Ident("in") => (Op::In, 3),
            Token::Sign("+") => (Op::Add, 4),
            Token::Sign("-") => (Op::Sub, 4),
            Token::Sign("*") => (Op::Mul, 5),
            Token::Sign("/") => (Op::Div, 5),
            Token::Sign("%") => (Op::Rem, 5),
            _ => return None,
        })
    }

    fn binary(&mut self, least: u8) -> Result<Expr, Fault> {
        let mut left = self.unary()?;
        while let Some((op, power)) = self.operator() {
            if power <= least {
                break;
            }
            self.next();
            let right = self.binary(power)?;
            let range = left.range.start..right.range.end;
            left = Expr { kind: Kind::Binary(op, left.into(), right.into()), range };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Fault> {
        let start = self.range().start;
        let kind: fn(Box<Expr>) -> Kind = if self.take("!") {
            Kind::Not
        } else if self.take("-") {
            Kind::Negative
        } else {
            return self.postfix();
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(self.range(), format!("nested deeper than {DEEPEST}")));
        }
        let operand = self.unary()?;
        self.depth -= 1;
        let range = start..operand.range.end;
        Ok(Expr { kind: kind(operand.into()), range })
    }

    fn postfix(&mut self) -> Result<Expr, Fault> {
        let mut expr = self.primary()?;
        // Chains are read in a loop, so their length is bound by the text's length only.
        loop {
            let start = expr.range.start;
            if self.take(".") {
                let optional = self.take("?");
                let (Token::Ident(name), range) = self.next() else {
                    self.at -= 1;
                    return Err(self.unexpected("a field or method name"));
                };
                let name = name.to_owned();
                expr = if optional {
                    let name = Expr { kind: Kind::Str(name), range: range.clone() };
                    optionally(expr, name, start..range.end)
                } else if self.take("(") {
                    let (args, end) = self.arguments(")")?;
                    Expr { kind: Kind::Call { target: Some(expr.into()), name, args }, range: start..end }
                } else {
                    Expr { kind: Kind::Field(expr.into(), name), range: start..range.end }
                };
            } else if self.take("[") {
                let optional = self.take("?");
                let index = self.ternary()?;
                let end = self.expect("]")?.end;
                if optional {
                    expr = optionally(expr, index, start..end);
                    continue;
                }
                expr = Expr { kind: Kind::Index(expr.into(), index.into()), range: start..end };
            } else {
                return Ok(expr);
            }
        }
    }

    fn arguments(&mut self, close: &str) -> Result<(Vec<Expr>, usize), Fault> {
        let mut args = Vec::new();
        loop {
            let end = self.range().end;
            if self.take(close) {
                return Ok((args, end));
            }
            if !args.is_empty() {
                self.expect(",")?;
            }
            args.push(self.ternary()?);
        }
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        let (token, range) = self.next();
        let kind = match token {
            Token::Int(value) => Kind::Int(value),
            Token::Float(value) => Kind::Float(value),
            Token::Str(written) => Kind::Str(string(written)),
            Token::Ident(name) => match name {
                "null" => Kind::Null,
                "true" => Kind::Bool(true),
                "false" => Kind::Bool(false),
                _ if self.take("(") => {
                    let (args, end) = self.arguments(")")?;
                    let kind = Kind::Call { target: None, name: name.to_owned(), args };
                    return Ok(Expr { kind, range: range.start..end });
                }
                _ => Kind::Ident(name.to_owned()),
            },
            Token::Sign("(") => {
                let inner = self.ternary()?;
                let end = self.expect(")")?.end;
                return Ok(Expr { kind: inner.kind, range: range.start..end });
            }
            Token::Sign("[") => {
                let (items, end) = self.arguments("]")?;
                return Ok(Expr { kind: Kind::List(items), range: range.start..end });
            }
            _ => {
                self.at -=
                    usize::from(self.at > 0 && !matches!(self.peek(), Token::End) || self.tokens[self.at].1 != range);
                return Err(Fault::new(range, "expected a value"));
            }
        };
        Ok(Expr { kind, range })
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// A value to show.
    Expr(Expr),
}

/// Reads `text {expression} text`; `{{` and `}}` are braces.
pub fn template(text: &str) -> Result<Vec<Piece>, Fault> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '{' | '}' if text[at + 1..].starts_with(c) => {
                plain.push(c);
                at += 2;
            }
            '{' => {
                let end =
                    closing_brace(text, at + 1).ok_or_else(|| Fault::new(at..text.len(), "the brace is not closed"))?;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Expr(expression_at(&text[at + 1..end], at + 1)?));
                at = end + 1;
            }
            '}' => return Err(Fault::new(at..at + 1, "a brace without its other half; write }} for a brace")),
            _ => {
                plain.push(c);
                at += c.len_utf8();
            }
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

/// The next closing brace outside of strings.
fn closing_brace(text: &str, from: usize) -> Option<usize> {
    let mut quote = None;
    for (i, c) in text[from..].char_indices() {
        match (quote, c) {
            (None, '}') => return Some(from + i),
            (None, '\'' | '"') => quote = Some(c),
            (Some(q), _) if q == c => quote = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_and_ranges() {
        let text = "a.b + 1 * 2 > 3 && !c || d in ['x', \"y\"]";
        let expr = expression(text).expect("valid");
        let Kind::Binary(Op::Or, left, right) = &expr.kind else { panic!("{expr:?}") };
        assert_eq!(&text[left.range.clone()], "a.b + 1 * 2 > 3 && !c");
        assert_eq!(&text[right.range.clone()], "d in ['x', \"y\"]");
        let Kind::Binary(Op::And, gt, _) = &left.kind else { panic!("{left:?}") };
        assert!(matches!(gt.kind, Kind::Binary(Op::Gt, ..)));
    }

    #[test]
    fn calls_methods_and_indexes() {
        let expr = expression("a.items.exists(x, x.name == 'y')[0]").expect("valid");
        assert!(matches!(expr.kind, Kind::Index(..)));
        assert!(matches!(expression("f(1, 2.5)").expect("valid").kind, Kind::Call { target: None, .. }));
    }

    #[test]
    fn faults_point_at_the_text() {
        for (text, at) in [("a &&", 4), ("a b", 2), ("'x", 0), ("a.#", 2), ("(a", 2), ("a..b", 2)] {
            let fault = expression(text).expect_err(text);
            assert_eq!(fault.range.start, at, "{text}: {fault:?}");
        }
        assert!(expression(&"(".repeat(5000)).is_err());
        assert!(expression(&"!".repeat(3000)).is_err());
        assert!(expression(&format!("a{}", ".b".repeat(1000))).is_ok());
    }

    #[test]
    fn templates_hold_expressions() {
        let pieces = template("CUDA {a.b} {{x}} {f('}')}").expect("valid");
        assert_eq!(pieces.len(), 4);
        assert_eq!(pieces[2], Piece::Text(" {x} ".into()));
        assert!(template("a {b").is_err());
        assert!(template("a }").is_err());
    }
}
