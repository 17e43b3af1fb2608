//! Physical lines to logical ones: directives, comments, continuations and heredoc bodies.

use super::Marker;
use crate::source::{Piece, SourceId, Span, Traced};
use std::ops::Range;

pub(super) struct Lines<'a> {
    source: SourceId,
    text: &'a str,
    at: usize,
    escape: char,
    /// Heredocs without an end so far.
    endless: u32,
    pub(super) comments: Vec<Span>,
}

/// Heredocs without an end that are looked for; each costs a walk to the end of the file.
const MAX_ENDLESS: u32 = 16;

impl<'a> Lines<'a> {
    pub(super) fn new(source: SourceId, text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, text, at, escape: '\\', endless: 0, comments: Vec::new() }
    }

    /// The text under a span of this file.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The next line without its end.
    fn line(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let rest = self.text.get(start..).filter(|t| !t.is_empty())?;
        let length = rest.find('\n').unwrap_or(rest.len());
        self.at = (start + length + 1).min(self.text.len());
        Some(start..start + rest[..length].trim_end_matches('\r').len())
    }

    /// The next line without white space around it.
    fn trimmed(&self, line: &Range<usize>) -> Range<usize> {
        let text = &self.text[line.clone()];
        let start = line.start + text.len() - text.trim_start().len();
        start..start + text.trim().len()
    }

    /// Whether the line is blank or a comment, which is remembered.
    fn is_empty(&mut self, line: &Range<usize>) -> bool {
        let trimmed = self.trimmed(line);
        let comment = self.text[trimmed.clone()].starts_with('#');
        let empty = trimmed.is_empty();
        if comment {
            self.comments.push(Span::new(self.source, trimmed));
        }
        comment || empty
    }

    /// Reads the `# name=value` lines at the top and returns the escape character.
    pub(super) fn directives(&mut self) -> char {
        let start = self.at;
        while let Some(line) = self.line() {
            let comment = self.text[self.trimmed(&line)].strip_prefix('#');
            let Some((name, value)) = comment.and_then(|c| c.split_once('=')) else { break };
            let name = name.trim();
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
                break;
            }
            if name.eq_ignore_ascii_case("escape") && value.trim() == "`" {
                self.escape = '`';
            }
        }
        self.at = start;
        self.escape
    }

    /// The next instruction: its lines without continuations, comment lines and blank lines.
    pub(super) fn logical(&mut self) -> Option<Traced> {
        let mut line = self.line()?;
        while self.is_empty(&line) {
            line = self.line()?;
        }
        let start = self.trimmed(&line).start;
        line.start = start;
        let mut text = String::new();
        let mut pieces = Vec::new();
        loop {
            let kept = self.continued(&line);
            let part = &self.text[line.start..kept.unwrap_or(line.end)];
            pieces.push(Piece { at: text.len() as u32, source: line.start as u32 });
            text.push_str(part);
            let more = kept.and_then(|_| self.next_of_continuation());
            match more {
                Some(next) => line = next,
                None => break,
            }
        }
        let kept = text.len() - text.trim_start().len()..text.trim_end().len();
        let whole = Span::new(self.source, start..line.end);
        // A lone escape at the end of the file leaves nothing.
        (!kept.is_empty()).then(|| Traced::pieced(text, whole, pieces).slice(kept))
    }

    fn next_of_continuation(&mut self) -> Option<Range<usize>> {
        loop {
            let line = self.line()?;
            if !self.is_empty(&line) {
                return Some(line);
            }
        }
    }

    /// Where the kept part of a line ends that goes on in the next one: its last character is an escape
    /// that is not itself escaped.
    fn continued(&self, line: &Range<usize>) -> Option<usize> {
        let text = self.text[line.clone()].trim_end_matches([' ', '\t']);
        let kept = text.strip_suffix(self.escape)?;
        (!kept.ends_with(self.escape)).then_some(line.start + kept.len())
    }

    /// The body of a heredoc and the end of its last line. Without an end nothing is read.
    pub(super) fn heredoc(&mut self, marker: &Marker) -> Option<(Traced, u32)> {
        if self.endless >= MAX_ENDLESS {
            return None;
        }
        let start = self.at;
        let mut text = String::new();
        let mut pieces = Vec::new();
        while let Some(line) = self.line() {
            let raw = &self.text[line.clone()];
            let tabs = if marker.strip_tabs { raw.len() - raw.trim_start_matches('\t').len() } else { 0 };
            if raw[tabs..] == marker.name {
                let body = Traced::pieced(text, Span::new(self.source, start..line.start), pieces);
                return Some((body, line.end as u32));
            }
            pieces.push(Piece { at: text.len() as u32, source: (line.start + tabs) as u32 });
            text.push_str(&self.text[line.start + tabs..self.at]);
        }
        self.at = start;
        self.endless += 1;
        None
    }
}
