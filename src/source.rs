//! Bytes, files, spans and the line index. Knows nothing of formats, GPUs or rules.
//!
//! This is the only module that turns byte offsets into lines and columns, and the only one that
//! makes foreign text safe to show on a terminal or a page.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A source file, by its position in the run's sorted file list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// A half-open byte range in one source file. Both ends lie on `char` boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of `range` in `source`. Files are capped far below 4 GiB by `discover`, so offsets fit.
    pub fn new(source: SourceId, range: Range<usize>) -> Self {
        Self { source, start: range.start as u32, end: range.end as u32 }
    }

    /// The byte range, for slicing the source text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that covers both; `self` when they lie in different files.
    pub fn to(self, other: Span) -> Span {
        if self.source != other.source {
            return self;
        }
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether `other` lies within this span.
    pub fn contains(self, other: Span) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }
}

/// A 1-based line and a 1-based column counted in Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in Unicode scalar values.
    pub column: u32,
}

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// Bytes of UTF-8.
    Bytes,
    /// Units of UTF-16.
    Utf16,
    /// Unicode scalar values.
    Scalars,
}

impl Units {
    fn of(self, c: char) -> usize {
        match self {
            Units::Bytes => c.len_utf8(),
            Units::Utf16 => c.len_utf16(),
            Units::Scalars => 1,
        }
    }
}

/// One file of the run: its display path, its text and (on first use) its line index.
#[derive(Debug)]
pub struct Source {
    /// Path relative to the working directory, with `/`.
    pub path: String,
    /// The whole text, exactly as read.
    pub text: Arc<str>,
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// A source from its display path and text.
    pub fn new(path: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// Byte offsets at which lines start; the first is 0. A line ends after `\n`.
    pub fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            std::iter::once(0)
                .chain(self.text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1))
                .collect()
        })
    }

    /// 0-based index of the line that holds the byte at `offset`.
    pub fn line_of(&self, offset: u32) -> usize {
        self.line_starts().partition_point(|&start| start <= offset) - 1
    }

    /// Line and column of a byte offset. An offset past the end is clamped to the end.
    pub fn position(&self, offset: u32) -> Position {
        let (line, column) = self.line_and_column(offset, Units::Scalars);
        Position { line: line + 1, column: column + 1 }
    }

    /// The same, counted from 0 and in other units.
    pub fn line_and_column(&self, offset: u32, units: Units) -> (u32, u32) {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_of(offset);
        let start = self.line_starts()[line] as usize;
        let head = self.text.get(start..offset as usize).unwrap_or("");
        (line as u32, head.chars().map(|c| units.of(c)).sum::<usize>() as u32)
    }

    /// The byte at a line and a column, counted from 0; what lies past an end is clamped to it.
    pub fn offset(&self, line: u32, column: u32, units: Units) -> u32 {
        let starts = self.line_starts();
        let Some(&start) = starts.get(line as usize) else { return self.text.len() as u32 };
        let mut left = column as usize;
        let text = self.text[start as usize..].split('\n').next().unwrap_or_default();
        let before = text.chars().take_while(|c| {
            let fits = units.of(*c) <= left;
            left = left.saturating_sub(units.of(*c));
            fits
        });
        start + before.map(char::len_utf8).sum::<usize>() as u32
    }

    /// The text under a span of this file; empty when the span is not of this text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

/// All files of a run, addressed by [`SourceId`].
#[derive(Debug, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Takes the files in the order of their ids.
    pub fn new(files: Vec<Source>) -> Self {
        Self(files)
    }

    /// Adds a file after the existing ones (configuration, rule packs) and returns its id.
    pub fn push(&mut self, source: Source) -> SourceId {
        self.0.push(source);
        SourceId(self.0.len() as u32 - 1)
    }

    /// The same files under other paths.
    pub fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        Self(self.0.iter().map(|source| Source::new(name(&source.path), Arc::clone(&source.text))).collect())
    }

    /// The file with this id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.0[id.0 as usize]
    }

    /// The text under a span.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.source).slice(span)
    }

    /// Every file with its id, in id order.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.0.iter().enumerate().map(|(i, s)| (SourceId(i as u32), s))
    }
}

/// Decoded text whose bytes can be traced back to where they were written: a YAML scalar, a Dockerfile
/// instruction after line continuation, a heredoc, a rendered template. Sub-spans are offset arithmetic, never a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    text: Box<str>,
    whole: Span,
    origin: Origin,
}

/// Where a text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// Only the whole span is known.
    Whole,
    /// It stands byte for byte in the file of the whole span, from here on, as nearly every scalar does.
    From(u32),
    /// Out of several parts.
    Tiles(Box<[Tile]>),
}

/// From byte `at` of the decoded text on, bytes stand verbatim in the source from `source` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Offset in the decoded text.
    pub at: u32,
    /// Offset in the source file.
    pub source: u32,
}

/// From byte `at` of the decoded text on, where bytes come from; files may differ from tile to tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Offset in the decoded text.
    pub at: u32,
    /// What was written. Of verbatim text only the start counts.
    pub from: Span,
    /// Whether the text stands there byte for byte, or all of it for all of `from`.
    pub verbatim: bool,
    /// The expression of the document that brought it in, for what is written elsewhere.
    pub used: Option<Span>,
}

impl Tile {
    /// What the bytes from `start` to `end` (of the decoded text) come from.
    fn span(self, start: u32, end: u32) -> Span {
        let first = self.from.start + (start - self.at);
        if self.verbatim { Span { start: first, end: first + (end - start), ..self.from } } else { self.from }
    }
}

impl Traced {
    /// Text that stands in the source byte for byte from `start` on. `whole` may be wider (quotes).
    pub fn verbatim(text: impl Into<Box<str>>, whole: Span, start: usize) -> Self {
        Self { text: text.into(), whole, origin: Origin::From(start as u32) }
    }

    /// Text put together from verbatim pieces (sorted by `at`) of one file.
    pub fn pieced(text: impl Into<Box<str>>, whole: Span, pieces: Vec<Piece>) -> Self {
        let tile = |p: Piece| Tile { at: p.at, from: Span { start: p.source, ..whole }, verbatim: true, used: None };
        Self::tiled(text, whole, pieces.into_iter().map(tile).collect())
    }

    /// Text put together from several files (tiles sorted by `at`). What lies in another file than `whole` was
    /// brought in: places of values.
    pub fn tiled(text: impl Into<Box<str>>, whole: Span, tiles: Vec<Tile>) -> Self {
        let origin = match tiles[..] {
            [] => Origin::Whole,
            [Tile { at: 0, from, verbatim: true, used: None }] if from.source == whole.source => {
                Origin::From(from.start)
            }
            _ => Origin::Tiles(tiles.into()),
        };
        Self { text: text.into(), whole, origin }
    }

    /// Texts one behind the other, each traced to where it stands.
    pub fn concat(parts: impl IntoIterator<Item = Traced>, whole: Span) -> Self {
        let (mut text, mut tiles) = (String::new(), vec![]);
        for part in parts {
            let at = text.len() as u32;
            let from = part.tiles();
            if from.is_empty() && !part.text.is_empty() {
                tiles.push(Tile { at, from: part.whole, verbatim: false, used: None });
            }
            tiles.extend(from.iter().map(|tile| Tile { at: at + tile.at, ..*tile }));
            text.push_str(&part.text);
        }
        Self::tiled(text, whole, tiles)
    }

    /// Text that was decoded (escapes, folding): only its whole span is known.
    pub fn opaque(text: impl Into<Box<str>>, whole: Span) -> Self {
        Self { text: text.into(), whole, origin: Origin::Whole }
    }

    /// The text as programs read it that split it into words themselves: line ends outside of quotes are blanks. What
    /// holds a sign of comments stays as it is.
    pub fn unwrapped(&self) -> Traced {
        if self.text.contains('#') || !self.text.contains('\n') {
            return self.clone();
        }
        let (mut quote, mut before) = (None, ' ');
        let unwrapped = |c: char| {
            match quote {
                Some(open) if c == open && before != '\\' => quote = None,
                None if matches!(c, '"' | '\'') => quote = Some(c),
                _ => {}
            }
            let blank = c == '\n' && quote.is_none() && before != '\\';
            before = c;
            if blank { ' ' } else { c }
        };
        Self { text: self.text.chars().map(unwrapped).collect::<String>().into(), ..self.clone() }
    }

    /// The decoded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The span of the whole, quotes and markers included.
    pub fn whole(&self) -> Span {
        self.whole
    }

    /// Where the text starts, if it stands byte for byte in the file of the whole.
    pub fn start(&self) -> Option<u32> {
        match self.origin {
            Origin::From(start) => Some(start),
            _ => None,
        }
    }

    /// Where the text comes from, in order; none when only the whole is known.
    pub fn tiles(&self) -> Cow<'_, [Tile]> {
        match &self.origin {
            Origin::Whole => Cow::Borrowed(&[]),
            Origin::From(start) => {
                let from = Span { start: *start, ..self.whole };
                Cow::Owned(vec![Tile { at: 0, from, verbatim: true, used: None }])
            }
            Origin::Tiles(tiles) => Cow::Borrowed(tiles),
        }
    }

    /// The tiles that `range` touches, each with the part of the range that it covers; `None` when its start is
    /// covered by none.
    fn touched(&self, start: u32, end: u32) -> Option<impl DoubleEndedIterator<Item = (Tile, u32, u32)>> {
        let tiles = self.tiles();
        let first = tiles.partition_point(|t| t.at <= start).checked_sub(1)?;
        let last = tiles.partition_point(|t| t.at < end).max(first + 1);
        Some((first..last).map(move |i| {
            let next = tiles.get(i + 1).map_or(u32::MAX, |next| next.at);
            (tiles[i], tiles[i].at.max(start), next.min(end).max(start))
        }))
    }

    /// Where `range` of the decoded text was written. What is put together of several values stands where they are used;
    /// where that is not known, at the first part that was brought in from another file than the whole lies in. The whole
    /// span when it cannot be traced.
    pub fn span(&self, range: Range<usize>) -> Span {
        let (start, end) = (range.start as u32, range.end as u32);
        if let Origin::From(first) = self.origin {
            return Span { start: first + start, end: first + end.max(start), ..self.whole };
        }
        if let Some(used) = self.composed(start, end) {
            return used;
        }
        let Some(mut touched) = self.touched(start, end) else { return self.whole };
        let Some((tile, from, to)) = touched.next() else { return self.whole };
        let first = tile.span(from, to);
        // The last tile is traced on its own: the range may run over a line continuation.
        let Some((tile, from, to)) = touched.next_back() else { return first };
        let last = tile.span(from, to);
        let Some(mut between) = self.touched(start, end) else { return self.whole };
        match between.find(|(tile, ..)| tile.from.source != self.whole.source) {
            Some((tile, from, to)) if between.any(|(t, ..)| t.from.source != tile.from.source) => tile.span(from, to),
            Some((tile, from, to)) if first.source != tile.from.source || first.start >= last.end => {
                tile.span(from, to)
            }
            None if first.start >= last.end => self.whole,
            _ => first.to(last),
        }
    }

    /// Where the parts of a range are used, if they are of several origins.
    fn composed(&self, start: u32, end: u32) -> Option<Span> {
        let parts = || self.touched(start, end).into_iter().flatten();
        let used = parts().find_map(|(tile, ..)| tile.used)?;
        if parts().all(|(tile, ..)| tile.used == Some(used)) {
            return None;
        }
        let here = parts().map(|(tile, from, to)| tile.used.unwrap_or(tile.span(from, to)));
        here.filter(|span| span.source == used.source).reduce(Span::to)
    }

    /// Where a scalar was written: quotes around a value from another file do not count.
    pub fn scalar(&self, range: Range<usize>) -> Span {
        let outer = self.span(range.clone());
        let quoted = self.text.get(range.clone()).is_some_and(|t| t.len() > 2 && t.starts_with(['"', '\'']));
        let inner = if quoted { self.span(range.start + 1..range.end - 1) } else { outer };
        if inner.source == outer.source { outer } else { inner }
    }

    /// Where a collection that `range` holds was written: what lies in the file in which it starts.
    pub fn extent(&self, range: Range<usize>) -> Span {
        let (start, end) = (range.start as u32, range.end as u32);
        let Some(touched) = self.touched(start, end) else { return self.whole };
        let parts = touched.map(|(tile, from, to)| tile.span(from, to));
        parts.reduce(Span::to).unwrap_or(self.whole)
    }

    /// This text, which was read from the decoded text `outer`, traced to where `outer` was written.
    pub fn retraced(&self, outer: &Traced) -> Traced {
        let mut tiles: Vec<Tile> = Vec::new();
        let own = self.tiles();
        for (i, tile) in own.iter().enumerate() {
            let end = own.get(i + 1).map_or(self.text.len() as u32, |next| next.at);
            if !tile.verbatim {
                tiles.push(Tile { from: outer.span(tile.from.range()), ..*tile });
                continue;
            }
            let inner = tile.from.start;
            for (from, start, to) in outer.touched(inner, inner + (end - tile.at)).into_iter().flatten() {
                tiles.push(Tile { at: tile.at + (start - inner), from: from.span(start, to), ..from });
            }
        }
        Traced::tiled(self.text.clone(), outer.scalar(self.whole.range()), tiles)
    }

    /// A part of this text, still traced.
    pub fn slice(&self, range: Range<usize>) -> Traced {
        let whole = self.span(range.clone());
        self.join(&[range], whole)
    }

    /// This text with another one in the place of a part, which asks for it.
    pub fn replaced(&self, part: Range<usize>, value: &Traced) -> Traced {
        let used = Some(self.span(part.clone()));
        let (before, behind) = (self.slice(0..part.start), self.slice(part.end..self.text.len()));
        Self::of_parts(&[(before, None), (value.clone(), used), (behind, None)], self.whole)
    }

    /// Several texts put together; beside each the place that asks for it, where it is brought in.
    pub fn of_parts(parts: &[(Traced, Option<Span>)], whole: Span) -> Traced {
        let mut text = String::new();
        let mut tiles: Vec<Tile> = Vec::new();
        for (part, used) in parts {
            let at = text.len() as u32;
            let whole = || vec![Tile { at: 0, from: part.whole, verbatim: false, used: None }];
            let own = if matches!(part.origin, Origin::Whole) { whole() } else { part.tiles().into_owned() };
            tiles.extend(own.iter().map(|tile| Tile { at: tile.at + at, used: tile.used.or(*used), ..*tile }));
            text.push_str(part.text());
        }
        Traced::tiled(text, whole, tiles)
    }

    /// The given parts put together (quotes, escapes and continuations left out), still traced.
    pub fn join(&self, parts: &[Range<usize>], whole: Span) -> Traced {
        let mut text = String::new();
        let mut tiles: Vec<Tile> = Vec::new();
        for part in parts {
            let (start, end) = (part.start as u32, part.end as u32);
            let at = text.len() as u32;
            for (tile, from, to) in self.touched(start, end).into_iter().flatten() {
                tiles.push(Tile { at: at + from - start, from: tile.span(from, to), ..tile });
            }
            text.push_str(&self.text[part.clone()]);
        }
        Traced::tiled(text, whole, tiles)
    }
}

/// Makes foreign text safe to show: control characters, bidirectional overrides and characters that nobody can see are
/// replaced by visible stand-ins **of the same UTF-8 length**, so offsets stay valid. Newline and tab are kept.
pub fn sanitise(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    if plain || !text.chars().any(|c| stand_in(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match stand_in(c) {
            Some(s) => out.push_str(s),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A value as part of a line: sanitised, with a sign where its own lines end.
pub fn one_line(text: &str) -> String {
    sanitise(text.trim_end()).replace('\n', "␊").replace('\t', " ")
}

/// Lines as a log may show them: none of them is a command to the runner of a continuous-integration service, whatever
/// values stand in it. The last thing that happens to text before it is written for people. GitHub obeys lines that begin
/// with `::` and `##[…]` anywhere; others have words between these signs (`##vso[`).
pub fn for_log(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive('\n') {
        let start = line.len() - after_unseen(line).len();
        let (before, mut rest) = line.split_at(start);
        out.push_str(before);
        if let Some(told) = rest.strip_prefix("::") {
            out.push('∷');
            rest = told;
        }
        while let Some(at) = rest.find("##") {
            let signs = rest[at..].bytes().take_while(|b| *b == b'#').count();
            let word = rest[at + signs..].bytes().take_while(u8::is_ascii_alphanumeric).count();
            let (head, tail) = rest.split_at(at + signs + word);
            out.push_str(head);
            rest = tail.strip_prefix('[').map_or(tail, |tail| {
                out.push('(');
                tail
            });
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

/// A line from the first character on that is seen: not a blank, a colour or what sanitising would show.
fn after_unseen(line: &str) -> &str {
    let mut rest = line;
    loop {
        rest =
            rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n' || stand_in(c).is_some() && c != '\u{1b}');
        let Some(colour) = rest.strip_prefix("\u{1b}[") else { return rest };
        let Some(end) = colour.find(|c: char| c.is_ascii_alphabetic()) else { return rest };
        rest = &colour[end + 1..];
    }
}

/// The stand-in of a character that must not reach a terminal; same UTF-8 length.
fn stand_in(c: char) -> Option<&'static str> {
    match c {
        '\n' | '\t' => None,
        '\r' => Some(" "),
        '\0'..='\u{1f}' | '\u{7f}' => Some("?"),
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' => Some("·"),
        // Fillers and vowel signs without a shape, marks of direction, joiners, line ends of Unicode, annotations.
        '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{fffe}'..='\u{ffff}' => Some("\u{fffd}"),
        // Tags and further selectors can spell whole sentences that nobody sees.
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => Some("\u{10101}"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span::new(SourceId(0), start..end)
    }

    #[test]
    fn line_ends_outside_of_quotes_are_blanks() {
        let unwrapped = |text: &str| Traced::verbatim(text, span(0, text.len()), 0).unwrapped().text().to_owned();
        assert_eq!(unwrapped("vllm serve m\n--port 1"), "vllm serve m --port 1");
        for kept in ["sh -c 'a\nb'", "sh -c \"a\nb\"", "a \\\nb", "a # b\nc"] {
            assert_eq!(unwrapped(kept), kept);
        }
    }

    #[test]
    fn columns_count_scalar_values() {
        let source = Source::new("a", "é: x\nb");
        assert_eq!(source.position(4), Position { line: 1, column: 4 });
        assert_eq!(source.position(6), Position { line: 2, column: 1 });
        assert_eq!(source.position(99), Position { line: 2, column: 2 });
    }

    #[test]
    fn columns_count_what_is_asked_for_and_lead_back() {
        let source = Source::new("a", "x\né𝄞: y\r\n");
        let colon = 8;
        assert_eq!(source.slice(span(colon, colon + 1)), ":");
        for (units, column) in [(Units::Bytes, 6), (Units::Utf16, 3), (Units::Scalars, 2)] {
            assert_eq!(source.line_and_column(colon as u32, units), (1, column));
            assert_eq!(source.offset(1, column, units), colon as u32);
            assert_eq!(source.offset(1, 99, units), 12, "the end of the line");
            assert_eq!(source.offset(9, 0, units), 13, "the end of the text");
        }
        assert_eq!(source.offset(1, 2, Units::Utf16), 4, "within a character: where it starts");
    }

    #[test]
    fn stand_ins_keep_the_length() {
        let four = ['\u{e0001}', '\u{e0041}', '\u{e007f}', '\u{e0100}', '\u{1d173}'];
        let three = [
            '\u{202e}', '\u{feff}', '\u{200b}', '\u{180e}', '\u{fff9}', '\u{fffb}', '\u{3164}', '\u{2028}', '\u{ffff}',
        ];
        for c in ['\u{1b}', '\u{9b}', '\u{61c}', '\u{ad}', '\u{85}'].into_iter().chain(three).chain(four) {
            let shown = sanitise(&c.to_string()).into_owned();
            assert_eq!(shown.len(), c.len_utf8());
            assert_ne!(shown, c.to_string());
        }
        assert!(matches!(sanitise("plain é\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_line_is_a_command_of_a_runner() {
        for (text, shown) in [
            ("::error::x\n", "∷error::x\n"),
            ("a\n \t\u{a0}::add-mask::x", "a\n \t\u{a0}∷add-mask::x"),
            ("\u{1b}[31m  ::error::x", "\u{1b}[31m  ∷error::x"),
            ("\u{200b}::x", "\u{200b}∷x"),
            ("a ::x, b: std::fs", "a ::x, b: std::fs"),
            ("a ##[error]b ##vso[task.x] ###[c]", "a ##(error]b ##vso(task.x] ###(c]"),
            ("## a [b]\n# [c]", "## a [b]\n# [c]"),
            ("::##[x]", "∷##(x]"),
        ] {
            assert_eq!(for_log(text), shown);
        }
        assert_eq!(one_line("a\nb\tc\n"), "a␊b c");
    }

    #[test]
    fn traced_text_points_into_its_pieces() {
        // source: `pip \` newline `  install x`, decoded: `pip   install x`
        let text = Traced::pieced(
            "pip   install x",
            span(0, 17),
            vec![Piece { at: 0, source: 0 }, Piece { at: 4, source: 6 }],
        );
        assert_eq!(text.span(0..3), span(0, 3));
        assert_eq!(text.span(6..13), span(8, 15));
        assert_eq!(text.span(0..13), span(0, 15));
        let word = text.slice(6..13);
        assert_eq!(word.text(), "install");
        assert_eq!(word.span(2..7), span(10, 15));
        assert_eq!(Traced::opaque("a", span(3, 9)).span(0..1), span(3, 9));
    }
}
