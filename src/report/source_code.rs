//! Windows of a source for the diagnostics renderer: sanitised, without a pass over the file, and clipped where
//! lines are long. Knows nothing of findings.

use crate::source::{Source, Span, one_line, sanitise};
use miette::{MietteError, SourceCode, SourceSpan, SpanContents};
use std::borrow::Cow;

/// Bytes of a line beyond which it is clipped: minified files must not flood a terminal.
const LONG_LINE: usize = 240;

/// Bytes shown before a label on a clipped line.
const LEAD: usize = 40;

/// Bytes of a label that are underlined at most.
const LONGEST_LABEL: usize = 120;

/// The part of a span to underline: within its first line that is not blank, within the text, at most
/// [`LONGEST_LABEL`] bytes.
pub fn shown(source: &Source, span: Span) -> SourceSpan {
    let text = &*source.text;
    let start = floor(text, span.start as usize);
    let end = floor(text, (span.end as usize).min(start + LONGEST_LABEL)).max(start);
    let part = &text[start..end];
    let start = if part.trim().is_empty() { start } else { start + part.len() - part.trim_start().len() };
    let end = text[start..end].find('\n').map_or(end, |at| start + at);
    let end = start + text[start..end].trim_end_matches('\r').len();
    (start, end - start).into()
}

/// The char boundary at or before an offset, within the text.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// A source as the renderer reads it: made once per file, windowed per label.
#[derive(Debug)]
pub struct Code<'a> {
    source: &'a Source,
    /// The sanitised text: same length, so that offsets hold.
    text: Cow<'a, str>,
    name: String,
}

impl<'a> Code<'a> {
    /// Shows a source under its own path.
    pub fn new(source: &'a Source) -> Self {
        Self { source, text: sanitise(&source.text), name: one_line(&source.path) }
    }

    /// The byte range of a line, without its line end.
    fn line(&self, index: usize) -> std::ops::Range<usize> {
        let starts = self.source.line_starts();
        let start = starts[index] as usize;
        let end = starts.get(index + 1).map_or(self.source.text.len(), |&next| next as usize - 1);
        start..end.max(start)
    }

    fn is_long(&self, index: usize) -> bool {
        self.line(index).len() > LONG_LINE
    }
}

impl SourceCode for Code<'_> {
    fn read_span<'s>(
        &'s self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'s> + 's>, MietteError> {
        let text = &*self.source.text;
        let offset = floor(text, span.offset());
        let end = floor(text, span.offset().saturating_add(span.len())).max(offset);
        let first = self.source.line_of(offset as u32);
        let last = self.source.line_of(end.max(offset + 1) as u32 - 1).max(first);
        let position = self.source.position(offset as u32);
        let contents = |range: std::ops::Range<usize>, line: usize, lines: usize| Window {
            data: self.text[range.clone()].as_bytes(),
            span: (range.start, range.len()).into(),
            line,
            column: if before == 0 { position.column as usize - 1 } else { 0 },
            lines,
            name: &self.name,
        };
        if (first..=last).any(|line| self.is_long(line)) {
            // Two labels far apart on long lines are shown in windows of their own.
            if first != last || end - offset > LONG_LINE {
                return Err(MietteError::OutOfBounds);
            }
            let line = self.line(first);
            let start = floor(text, offset.saturating_sub(LEAD)).max(line.start);
            let stop = floor(text, start + LONG_LINE).max(end).min(line.end.max(end));
            return Ok(Box::new(contents(start..stop, first, 1)));
        }
        let lines = self.source.line_starts().len();
        let from = (first.saturating_sub(before)..first).rev().take_while(|&l| !self.is_long(l)).last();
        let to = (last + 1..lines.min(last + 1 + after)).take_while(|&l| !self.is_long(l)).last();
        let (from, to) = (from.unwrap_or(first), to.unwrap_or(last));
        Ok(Box::new(contents(self.line(from).start..self.line(to).end.max(end), from, to - from + 1)))
    }
}

/// What the renderer gets to see.
struct Window<'a> {
    data: &'a [u8],
    span: SourceSpan,
    line: usize,
    column: usize,
    lines: usize,
    name: &'a str,
}

impl<'a> SpanContents<'a> for Window<'a> {
    fn data(&self) -> &'a [u8] {
        self.data
    }

    fn span(&self) -> &SourceSpan {
        &self.span
    }

    fn line(&self) -> usize {
        self.line
    }

    fn column(&self) -> usize {
        self.column
    }

    fn line_count(&self) -> usize {
        self.lines
    }

    fn name(&self) -> Option<&str> {
        Some(self.name)
    }
}
