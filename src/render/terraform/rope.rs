//! Text put together from pieces of files, for templates and decoded literals.

use crate::source::{SourceId, Span, Tile, Traced};
use std::ops::Range;

/// Traced text under construction.
#[derive(Debug)]
pub(super) struct Rope {
    pub text: String,
    source: SourceId,
    tiles: Vec<Tile>,
}

impl Rope {
    /// No text yet, of what stands in a file.
    pub fn new(source: SourceId) -> Self {
        Self { text: String::new(), source, tiles: vec![] }
    }

    /// Adds text that stands in the file at `start`.
    pub fn verbatim(&mut self, text: &str, start: usize) {
        if text.is_empty() {
            return;
        }
        let (at, end) = (self.text.len() as u32, start + text.len());
        let from = Span::new(self.source, start..end);
        let follows = self.tiles.last().is_some_and(|t| t.verbatim && t.from.start + (at - t.at) == from.start);
        if !follows {
            self.tiles.push(Tile { at, from, verbatim: true, used: None });
        }
        self.text.push_str(text);
    }

    /// Adds text that stands for all of `from`: an escape, an interpolated value.
    pub fn insert(&mut self, text: &str, from: Span) {
        if !text.is_empty() {
            self.tiles.push(Tile { at: self.text.len() as u32, from, verbatim: false, used: None });
            self.text.push_str(text);
        }
    }

    /// Removes the white space that ends the last line of what was added from `start` on, its own line end with it.
    pub fn trim_line(&mut self, start: usize) {
        let Some(added) = self.text.get(start..) else { return };
        let line = added.strip_suffix('\n').unwrap_or(added).rfind('\n').map_or(start, |at| start + at + 1);
        self.text.truncate(line + self.text[line..].trim_end().len());
        let len = self.text.len() as u32;
        while self.tiles.last().is_some_and(|tile| tile.at >= len) {
            self.tiles.pop();
        }
    }

    /// Adds a literal as it stands in `source`, without so many bytes at its start, decoding its escapes. Text behind a line
    /// end that is left out begins no line.
    pub fn literal(&mut self, source: &str, range: Range<usize>, skip: usize, style: Style) {
        let mut at = range.start + skip;
        let mut line_start = skip == 0 && source[..at].ends_with('\n');
        while at < range.end {
            if let (true, Style::Heredoc(indent)) = (std::mem::take(&mut line_start), style) {
                at += indentation(&source[at..range.end], indent);
                continue;
            }
            let rest = &source[at..range.end];
            let plain = match style {
                Style::Quoted => rest.find(['\\', '$', '%']),
                Style::Heredoc(_) | Style::File => rest.find(['$', '%', '\n']),
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
                self.insert(&rest[1..3], Span::new(self.source, at..at + 3));
                at += 3;
            } else if rest.starts_with('\\') {
                let (decoded, len) = escape(rest);
                self.insert(decoded.encode_utf8(&mut [0; 4]), Span::new(self.source, at..at + len));
                at += len;
            } else if !rest.is_empty() {
                self.verbatim(&rest[..1], at);
                at += 1;
            }
        }
    }

    pub fn finish(self, whole: Span) -> Traced {
        Traced::tiled(self.text, whole, self.tiles)
    }
}

/// How a literal is escaped.
#[derive(Debug, Clone, Copy)]
pub(super) enum Style {
    /// Between quotes: backslash escapes.
    Quoted,
    /// In a heredoc, with so much indentation to take off each line.
    Heredoc(usize),
    /// A file of its own: nothing but `$${` and `%%{` is escaped.
    File,
}

/// The length of so many characters of white space at the start of a line; nothing is taken off one that is blank.
fn indentation(text: &str, indent: usize) -> usize {
    let line = text.split_inclusive('\n').next().unwrap_or_default();
    if line.ends_with('\n') && line.trim_start().is_empty() {
        return 0;
    }
    line.chars().take(indent).take_while(|c| c.is_whitespace()).map(char::len_utf8).sum()
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
