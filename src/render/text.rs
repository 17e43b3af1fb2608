//! Text under construction whose bytes know where they were written, which expression put them there, and whether
//! they stand for something unknown. Knows spans; knows no template language.

use crate::source::{Span, Traced};
use std::ops::Range;

/// Where a stretch of text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Origin {
    /// What was written; `None` for text that was computed from nothing that stands anywhere.
    pub from: Option<Span>,
    /// Whether the text stands at `from` byte for byte, or all of it for all of `from`.
    pub verbatim: bool,
    /// The template expression that brought it in.
    pub via: Option<Span>,
    /// Whether it stands elsewhere than in a template: what `via` brought in is a value.
    pub value: bool,
    /// Whether it stands for something that is not known.
    pub unknown: bool,
}

impl Origin {
    /// All of the text stands for all of `from`.
    pub fn whole(from: Option<Span>) -> Self {
        Self { from, ..Self::default() }
    }

    /// The origin of what stands `skip` bytes further on.
    fn after(self, skip: u32) -> Self {
        let from = if self.verbatim { self.from.map(|s| Span { start: s.start + skip, ..s }) } else { self.from };
        Self { from, ..self }
    }
}

/// From byte `at` on, text of one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tile {
    at: u32,
    origin: Origin,
}

/// Text in tiles of known origin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    text: String,
    tiles: Vec<Tile>,
}

impl Text {
    /// No text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Text of one origin.
    pub fn of(text: impl Into<String>, origin: Origin) -> Self {
        let text = text.into();
        let tiles = if text.is_empty() { vec![] } else { vec![Tile { at: 0, origin }] };
        Self { text, tiles }
    }

    /// Text that was computed.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::of(text, Origin::default())
    }

    /// Text as read from a file.
    pub fn read(text: &Traced) -> Self {
        if text.tiles().is_empty() {
            return Self::of(text.text(), Origin::whole(Some(text.whole())));
        }
        let origin = |tile: &crate::source::Tile| Origin { verbatim: tile.verbatim, ..Origin::whole(Some(tile.from)) };
        let mut tiles: Vec<Tile> = text.tiles().iter().map(|t| Tile { at: t.at, origin: origin(t) }).collect();
        if tiles.first().is_some_and(|t| t.at > 0) {
            tiles.insert(0, Tile { at: 0, origin: Origin::whole(Some(text.whole())) });
        }
        Self { text: text.text().to_owned(), tiles }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Bytes that it holds in memory.
    pub fn size(&self) -> usize {
        self.text.len() + self.tiles.len() * size_of::<Tile>()
    }

    /// The text without lines of which nothing is known, if there are such lines.
    pub fn without_unknown_lines(&self) -> Option<Text> {
        let (mut out, mut at) = (Text::new(), 0);
        for line in self.text.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let mut parts = self.parts(range.clone()).filter(|(text, _)| !text.trim().is_empty()).peekable();
            if parts.peek().is_none() || parts.any(|(_, origin)| !origin.unknown) {
                out.push_slice(self, range);
            }
        }
        (out.len() < self.len()).then_some(out)
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether any of it stands for something unknown.
    pub fn is_unknown(&self) -> bool {
        self.tiles.iter().any(|t| t.origin.unknown)
    }

    /// Adds text of one origin.
    pub fn push(&mut self, text: &str, origin: Origin) {
        if text.is_empty() {
            return;
        }
        let at = self.text.len() as u32;
        let follows = self.tiles.last().is_some_and(|last| {
            let expected = last.origin.after(at - last.at);
            expected.verbatim == origin.verbatim
                && (expected.via, expected.value) == (origin.via, origin.value)
                && expected.unknown == origin.unknown
                && match (expected.from, origin.from) {
                    (Some(a), Some(b)) if origin.verbatim => a.source == b.source && a.start == b.start,
                    (a, b) => a == b,
                }
        });
        if !follows {
            self.tiles.push(Tile { at, origin });
        }
        self.text.push_str(text);
    }

    /// Adds a part of another text.
    pub fn push_slice(&mut self, other: &Text, range: Range<usize>) {
        other.parts(range).for_each(|(text, origin)| self.push(text, origin));
    }

    /// Adds another text.
    pub fn push_text(&mut self, other: &Text) {
        self.push_slice(other, 0..other.len());
    }

    /// Parts of one origin each, in order.
    pub fn parts(&self, range: Range<usize>) -> impl Iterator<Item = (&str, Origin)> {
        let (start, end) = (range.start as u32, range.end as u32);
        let first = self.tiles.partition_point(|t| t.at <= start).saturating_sub(1);
        let last = self.tiles.partition_point(|t| t.at < end);
        (first..last).filter_map(move |i| {
            let next = self.tiles.get(i + 1).map_or(self.text.len() as u32, |next| next.at);
            let (from, to) = (self.tiles[i].at.max(start), next.min(end));
            let text = self.text.get(from as usize..to as usize).filter(|t| !t.is_empty())?;
            Some((text, self.tiles[i].origin.after(from - self.tiles[i].at)))
        })
    }

    /// A part of the text.
    pub fn slice(&self, range: Range<usize>) -> Text {
        let mut out = Text::new();
        out.push_slice(self, range);
        out
    }

    /// The part of this text that `part`, a slice of [`Text::as_str`], is.
    pub fn part(&self, part: &str) -> Text {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        match start.checked_add(part.len()) {
            Some(end) if end <= self.text.len() => self.slice(start..end),
            _ => self.derived(part),
        }
    }

    /// Another text that was computed from this one as a whole: of what several files hold, it stands nowhere.
    pub fn derived(&self, text: impl Into<String>) -> Text {
        let mut sources = self.parts(0..self.len()).filter_map(|(_, origin)| Some(origin.from?.source));
        let first = sources.next();
        let from = if sources.all(|source| Some(source) == first) { self.place() } else { None };
        Text::of(text, Origin { unknown: self.is_unknown(), ..Origin::whole(from) })
    }

    /// What a person would edit to change the text: its longest stretch that stands somewhere.
    pub fn place(&self) -> Option<Span> {
        self.place_of(0..self.len())
    }

    /// The same for a part of the text.
    pub fn place_of(&self, range: Range<usize>) -> Option<Span> {
        let placed = self.parts(range).filter_map(|(text, origin)| {
            let from = origin.from?;
            let end = if origin.verbatim { from.start + text.len() as u32 } else { from.end };
            Some((text.len(), Span { end, ..from }))
        });
        placed.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, span)| span)
    }

    /// Adds text as the output of an expression. A value stands where it is stated, and whole lines stand where they are
    /// written, be it in a helper. What else an expression puts into a line stands for the expression.
    pub fn emit(&mut self, text: &Text, expression: Span, in_template: impl Fn(Span) -> bool) {
        let lines = text.as_str().trim_end().contains('\n');
        for (part, origin) in text.parts(0..text.len()) {
            let value = origin.from.is_some_and(|from| !in_template(from));
            let own = |from: Span| expression.contains(from);
            let origin = match origin.from {
                Some(_) if lines => Origin { via: origin.via.or(Some(expression)), value, ..origin },
                Some(from) if value || own(from) => Origin { via: Some(expression), value, ..origin },
                _ => Origin { from: Some(expression), verbatim: false, via: None, ..origin },
            };
            self.push(part, origin);
        }
    }

    /// The finished text; `whole` stands for what has no place of its own.
    pub fn traced(&self, whole: Span) -> Traced {
        let tile = |t: &Tile| crate::source::Tile {
            at: t.at,
            from: t.origin.from.unwrap_or(whole),
            verbatim: t.origin.verbatim && t.origin.from.is_some(),
            used: t.origin.via.filter(|_| t.origin.value),
        };
        Traced::tiled(self.text.as_str(), whole, self.tiles.iter().map(tile).collect())
    }

    /// Places that were brought in by an expression that stands elsewhere, with that expression.
    pub fn routes(&self) -> impl Iterator<Item = (Span, Span)> {
        self.parts(0..self.len()).filter_map(|(text, origin)| {
            let (from, via) = (origin.from?, origin.via?);
            let end = if origin.verbatim { from.start + text.len() as u32 } else { from.end };
            (!via.contains(from)).then_some((Span { end, ..from }, via))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn span(source: u32, start: usize, end: usize) -> Span {
        Span::new(SourceId(source), start..end)
    }

    fn verbatim(source: u32, start: usize) -> Origin {
        Origin { verbatim: true, ..Origin::whole(Some(span(source, start, start))) }
    }

    #[test]
    fn parts_keep_their_places_through_slicing_and_joining() {
        let mut text = Text::of("image: ", verbatim(0, 10));
        text.push("nginx", verbatim(1, 40));
        text.push(":", Origin::default());
        text.push("1.2", Origin::whole(Some(span(1, 60, 65))));
        let mut image = Text::new();
        image.emit(&text.slice(7..16), span(0, 17, 30), |from| from.source == SourceId(0));
        assert_eq!(image.as_str(), "nginx:1.2");
        let traced = image.traced(span(0, 0, 99));
        assert_eq!(traced.span(0..5), span(1, 40, 45));
        assert_eq!(traced.span(1..3), span(1, 41, 43));
        assert_eq!(traced.span(5..6), span(0, 17, 30));
        assert_eq!(traced.span(6..9), span(1, 60, 65));
        assert_eq!(traced.span(0..9), span(0, 17, 30), "the expression that puts the values together");
        assert_eq!(image.routes().map(|(from, _)| from).collect::<Vec<_>>(), [span(1, 40, 45), span(1, 60, 65)]);
    }

    #[test]
    fn text_that_follows_in_the_source_is_one_tile() {
        let mut text = Text::of("ab", verbatim(0, 3));
        text.push("cd", verbatim(0, 5));
        assert_eq!(text, Text::of("abcd", verbatim(0, 3)));
    }
}
