//! Text put together from pieces of the source, for templates and decoded literals.

use crate::source::{Piece, Span, Traced};
use std::ops::Range;

/// Longer inserted texts are not traced byte by byte.
const MAX_INSERTED: usize = 4096;

/// Traced text under construction.
#[derive(Debug, Default)]
pub(super) struct Rope {
    pub text: String,
    pieces: Vec<Piece>,
    opaque: bool,
}

impl Rope {
    /// Adds text that stands in the source at `source`.
    pub fn verbatim(&mut self, text: &str, source: usize) {
        if text.is_empty() {
            return;
        }
        let (at, source) = (self.text.len() as u32, source as u32);
        let follows = self.pieces.last().is_some_and(|p| p.source + (at - p.at) == source);
        if !follows {
            self.pieces.push(Piece { at, source });
        }
        self.text.push_str(text);
    }

    /// Adds text that stands for the source range `whole`: an escape, an interpolated value. Its first byte is
    /// traced to the start of that range, its last to the end.
    pub fn insert(&mut self, text: &str, whole: Range<usize>) {
        let at = self.text.len() as u32;
        self.text.push_str(text);
        let Some(last) = (text.len() as u32).checked_sub(1) else { return };
        self.opaque |= text.len() > MAX_INSERTED;
        if !self.opaque {
            self.pieces.extend((0..=last).map(|i| Piece { at: at + i, source: whole.start as u32 }));
            if last > 0
                && let Some(piece) = self.pieces.last_mut()
            {
                piece.source = whole.end as u32 - 1;
            }
        }
    }

    /// Removes white space at the end.
    pub fn trim_end(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        let len = self.text.len() as u32;
        self.pieces.retain(|p| p.at < len);
    }

    /// Adds a literal as it stands in `source`, decoding its escapes.
    pub fn literal(&mut self, source: &str, range: Range<usize>, style: Style) {
        let mut at = range.start;
        let mut line_start = matches!(style, Style::Heredoc(_)) && source[..at].ends_with('\n');
        while at < range.end {
            if let (true, Style::Heredoc(indent)) = (line_start, style) {
                let line = &source[at..range.end];
                at += line.bytes().take(indent).take_while(|b| matches!(b, b' ' | b'\t')).count();
                line_start = false;
                continue;
            }
            let rest = &source[at..range.end];
            let plain = match style {
                Style::Quoted => rest.find(['\\', '$', '%']),
                Style::Heredoc(_) => rest.find(['$', '%', '\n']),
            }
            .unwrap_or(rest.len());
            self.verbatim(&rest[..plain], at);
            at += plain;
            let rest = &rest[plain..];
            if rest.starts_with('\n') {
                self.verbatim("\n", at);
                at += 1;
                line_start = true;
            } else if rest.starts_with("$${") || rest.starts_with("%%{") {
                self.insert(&rest[1..3], at..at + 3);
                at += 3;
            } else if rest.starts_with('\\') {
                let (decoded, len) = escape(rest);
                self.insert(decoded.encode_utf8(&mut [0; 4]), at..at + len);
                at += len;
            } else if !rest.is_empty() {
                self.verbatim(&rest[..1], at);
                at += 1;
            }
        }
    }

    pub fn finish(self, whole: Span) -> Traced {
        if self.opaque { Traced::opaque(self.text, whole) } else { Traced::pieced(self.text, whole, self.pieces) }
    }
}

/// How a literal is escaped.
#[derive(Debug, Clone, Copy)]
pub(super) enum Style {
    /// Between quotes: backslash escapes.
    Quoted,
    /// In a heredoc, with so much indentation to take off each line.
    Heredoc(usize),
}

/// The character a backslash escape stands for, and its length in bytes.
fn escape(rest: &str) -> (char, usize) {
    let hex = |digits: usize| {
        let code = rest.get(2..2 + digits).and_then(|h| u32::from_str_radix(h, 16).ok());
        code.and_then(char::from_u32).map(|c| (c, 2 + digits))
    };
    let next = rest[1..].chars().next();
    match next {
        Some('n') => ('\n', 2),
        Some('r') => ('\r', 2),
        Some('t') => ('\t', 2),
        Some('u') => hex(4).unwrap_or(('\\', 1)),
        Some('U') => hex(8).unwrap_or(('\\', 1)),
        Some(c) => (c, 1 + c.len_utf8()),
        None => ('\\', 1),
    }
}
