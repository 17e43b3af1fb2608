//! Draws places of a file: the lines around them, with marks and labels. Knows sources and columns, nothing of findings.

use super::wrap::wrapped;
use crate::source::{Source, Span, one_line, sanitise};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::borrow::Cow;
use std::ops::Range;
use unicode_width::UnicodeWidthStr as _;

/// Bytes of a line beyond which only what stands around a mark is shown: minified files must not flood a terminal.
const LONG_LINE: usize = 1_000;

/// Bytes that are shown before and behind a mark on such a line.
const AROUND: usize = 120;

/// Lines between two marks that are drawn in one piece.
const GAP: usize = 60;

/// Columns that a line may lose to signs of what was cut off, on both sides.
const CUT: usize = 12;

/// How places are drawn.
#[derive(Debug, Clone)]
pub struct Pen {
    renderer: Renderer,
    level: Level<'static>,
    width: usize,
    /// What stands before a label that has no room in its line.
    note: String,
}

impl Pen {
    /// A pen for a severity: whether it has colours, whether it has other signs than those of ASCII, and how wide it draws.
    pub fn new(level: Level<'static>, (color, unicode, width): (bool, bool, usize), note: String) -> Self {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let decor = if unicode { DecorStyle::Unicode } else { DecorStyle::Ascii };
        Self { renderer: renderer.decor_style(decor).term_width(width), level, width, note }
    }
}

/// A file as it is drawn: sanitised once, windowed for each place.
#[derive(Debug)]
pub struct Code<'a> {
    source: &'a Source,
    /// The sanitised text: same length, so that offsets hold.
    text: Cow<'a, str>,
}

/// A place to mark.
#[derive(Debug)]
struct Mark {
    /// What is underlined, in one line.
    range: Range<usize>,
    line: usize,
    label: String,
    primary: bool,
}

impl<'a> Code<'a> {
    /// Shows a source under its own path.
    pub fn new(source: &'a Source) -> Self {
        Self { source, text: sanitise(&source.text) }
    }

    /// Places with their labels; of the file of the primary place the first one is that.
    pub fn draw(&self, places: &[(Span, &str)], has_primary: bool, pen: &Pen) -> String {
        let mark = |(i, (span, label)): (usize, &(Span, &str))| {
            let range = self.marked(*span, pen);
            let line = self.source.line_of(range.start as u32);
            Mark { range, line, label: one_line(label), primary: has_primary && i == 0 }
        };
        let mut marks: Vec<Mark> = places.iter().enumerate().map(mark).collect();
        marks.sort_by_key(|mark| mark.range.start);
        let mut groups: Vec<Vec<Mark>> = Vec::new();
        for mark in marks {
            match groups.last_mut().filter(|group| self.together(group, &mark, pen)) {
                Some(group) => group.push(mark),
                None => groups.push(vec![mark]),
            }
        }
        groups.sort_by_key(|group| !group.iter().any(|mark| mark.primary));
        groups.iter().map(|group| self.group(group, pen)).collect()
    }

    /// The part of a place that is underlined: within its first line that is not blank, and no wider than what a line can
    /// show of it.
    fn marked(&self, span: Span, pen: &Pen) -> Range<usize> {
        let text = &*self.source.text;
        let start = floor(text, span.start as usize);
        let end = floor(text, span.end as usize).max(start);
        let part = &text[start..end];
        let start = if part.trim().is_empty() { start } else { start + part.len() - part.trim_start().len() };
        let line = text[start..end].lines().next().unwrap_or_default();
        let most = pen.width.saturating_sub(CUT + 10);
        let shown = line.char_indices().nth(most).map_or(line.len(), |(at, _)| at);
        start..start + shown
    }

    /// Whether a mark can be drawn in one piece with those before it.
    fn together(&self, group: &[Mark], mark: &Mark, pen: &Pen) -> bool {
        let Some(last) = group.last() else { return true };
        let lines = group[0].line..=mark.line;
        if mark.line - last.line > GAP || lines.clone().any(|line| self.line(line).len() > LONG_LINE) {
            return false;
        }
        let column = |mark: &Mark| mark.range.start - self.line(mark.line).start;
        let ends = group.iter().chain([mark]).map(|mark| column(mark) + mark.range.len()).max().unwrap_or_default();
        let starts = group.iter().chain([mark]).map(column).min().unwrap_or_default();
        self.fits(lines, pen) || ends - starts + CUT <= columns(mark.line, pen)
    }

    /// Whether no line has to be cut.
    fn fits(&self, mut lines: impl Iterator<Item = usize>, pen: &Pen) -> bool {
        lines.all(|line| self.text[self.line(line)].width() <= columns(line, pen))
    }

    fn group(&self, marks: &[Mark], pen: &Pen) -> String {
        let first = marks[0].line;
        let last = marks.last().map_or(first, |mark| mark.line);
        let (window, shown) = self.window(marks, first, last);
        let text = &self.text[window.clone()];
        let at = marks.iter().find(|mark| mark.primary).unwrap_or(&marks[0]);
        let position = self.source.position(at.range.start as u32);
        let relative = |range: &Range<usize>| range.start - window.start..range.end - window.start;
        let mut snippet = Snippet::source(text).line_start(shown.start + 1);
        let mut below = Vec::new();
        let fits = self.fits(marks.iter().map(|mark| mark.line), pen);
        for mark in marks {
            let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            // A line that is cut is cut around its marks and their labels.
            let (from, cut) = if fits { (self.line(mark.line).start, 0) } else { (mark.range.start, CUT) };
            let taken = self.text[from..mark.range.end].width() + cut;
            let room = columns(mark.line, pen).saturating_sub(taken);
            let annotation = kind.span(relative(&mark.range));
            let inline = !mark.label.is_empty() && mark.label.width() < room;
            if !inline && !mark.label.is_empty() {
                let at = self.source.position(mark.range.start as u32);
                below.push(format!("{}:{}: {}", at.line, at.column, mark.label));
            }
            snippet = snippet.annotation(if inline { annotation.label(mark.label.clone()) } else { annotation });
        }
        for line in shown {
            let near = |mark: &Mark| mark.line.abs_diff(line) == 1 && fits;
            let line = self.line(line);
            if marks.iter().any(near) && !self.text[line.clone()].trim().is_empty() {
                snippet = snippet.annotation(AnnotationKind::Visible.span(relative(&line)));
            }
        }
        let drawn = pen.renderer.render(&[Group::with_level(pen.level.clone()).element(snippet)]);
        // The renderer sees the window only, so it is not asked for the place; it begins with an empty line for it.
        let (empty, lines) = drawn.split_once('\n').unwrap_or(("", &drawn));
        let path = one_line(&self.source.path);
        let (head, blank) =
            if empty.contains('|') { (empty.replacen('|', "-->", 1), " ") } else { (empty.to_owned(), "") };
        let mut out = format!("{head}{blank}{path}:{}:{}\n{lines}\n", position.line, position.column);
        for label in below {
            out.push_str(&wrapped(&format!("{} {label}", pen.note), pen.width, 8));
            out.push('\n');
        }
        out
    }

    /// The bytes that are shown, and which lines they are: a line before and behind, or what stands around a mark on a long
    /// line.
    fn window(&self, marks: &[Mark], first: usize, last: usize) -> (Range<usize>, Range<usize>) {
        let is_long = |line: usize| self.line(line).len() > LONG_LINE;
        if is_long(first) {
            let line = self.line(first);
            let start = floor(&self.source.text, marks[0].range.start.saturating_sub(AROUND));
            let end = floor(&self.source.text, marks[0].range.end.saturating_add(AROUND));
            return (start.max(line.start)..end.min(line.end).max(marks[0].range.end), first..first + 1);
        }
        let before = first.checked_sub(1).filter(|line| !is_long(*line)).unwrap_or(first);
        let lines = self.source.line_starts().len();
        let behind = Some(last + 1).filter(|line| *line < lines && !is_long(*line)).unwrap_or(last);
        (self.line(before).start..self.line(behind).end, before..behind + 1)
    }

    /// The byte range of a line, without its line end.
    fn line(&self, index: usize) -> Range<usize> {
        let starts = self.source.line_starts();
        let start = starts[index] as usize;
        let end = starts.get(index + 1).map_or(self.source.text.len(), |&next| next as usize - 1);
        start..end.max(start)
    }
}

/// Columns that there are for text beside the number of a line.
fn columns(line: usize, pen: &Pen) -> usize {
    pen.width.saturating_sub((line + 2).to_string().len() + 4)
}

/// The char boundary at or before an offset, within the text.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
