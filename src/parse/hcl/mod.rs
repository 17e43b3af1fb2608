//! Terraform's language: HCL files into syntax trees, each in pieces that parse on their own. Knows the syntax alone:
//! values are worked out in `render::terraform`.

mod cut;
mod json;
mod names;
mod repeated;

use super::Problem;
use crate::budget::Share;
use crate::source::{SourceId, Span};
use hcl_edit::structure::Body;
use std::ops::Range;

/// A parsed file, before evaluation.
#[derive(Debug)]
pub struct Hcl {
    /// The file.
    pub source: SourceId,
    /// Comments, with their signs and without the line end.
    pub comments: Vec<Span>,
    /// What could not be parsed; the other top-level blocks are kept.
    pub problems: Vec<Problem>,
    /// Keys that an object states again, where they do.
    pub repeated: Vec<(String, Span)>,
    text: Box<str>,
    json: bool,
    parts: Vec<Part>,
}

/// Text that parsed on its own, and where it starts.
#[derive(Debug)]
struct Part {
    base: usize,
    body: Body,
}

/// Text that was parsed on its own: where it stands in its file.
#[derive(Debug, Clone, Copy)]
pub struct Place<'m> {
    /// The file.
    pub source: SourceId,
    /// The whole file.
    pub text: &'m str,
    /// Where the parsed text starts in the file.
    pub base: usize,
    /// Whether the file is JSON, where only the last label of a block and its body stand at their places.
    pub json: bool,
}

impl<'m> Place<'m> {
    /// A range of the parsed text, in the file.
    pub fn range(&self, range: Option<Range<usize>>) -> Range<usize> {
        let range = range.unwrap_or(0..0);
        range.start + self.base..range.end + self.base
    }

    /// The span of a range of the parsed text.
    pub fn span(&self, range: Option<Range<usize>>) -> Span {
        Span::new(self.source, self.range(range))
    }

    /// What stands in a range of the parsed text.
    pub fn slice(&self, range: Option<Range<usize>>) -> &'m str {
        self.text.get(self.range(range)).unwrap_or("")
    }
}

/// Parses a `.tf` or `.tfvars` file. A syntax error costs the top-level block it stands in, no more.
pub fn parse(source: SourceId, text: &str) -> Hcl {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let scan = cut::scan(&text[start..]);
    let span = |r: Range<usize>| Span::new(source, r.start + start..r.end + start);
    let comments = scan.comments.iter().cloned().map(span).collect();
    let mut hcl =
        Hcl { source, comments, problems: vec![], repeated: vec![], text: text.into(), json: false, parts: vec![] };
    match repeated::parse(&text[start..], &Share::least(text.len())) {
        (Ok(body), attributes) => hcl.keep(start, body, attributes),
        (Err(_), _) => {
            // hcl-edit minds line ends where the language does not, and what matters is only where things stand.
            let blanked = format!("{}{}", &text[..start], scan.blanked(&text[start..]));
            let mut from = start;
            let share = Share::least(text.len());
            for cut in scan.cuts.into_iter().map(|cut| cut + start).chain([text.len()]) {
                hcl.part(&blanked[from..cut], from, &share);
                from = cut;
            }
        }
    }
    hcl.repeated = hcl.places().flat_map(|(place, body)| repeated::keys(place, body)).collect();
    hcl
}

/// Parses a `.tfvars.json` file: the attributes that its object states.
pub fn parse_values(source: SourceId, text: &str) -> Hcl {
    Hcl::of_json(source, text, json::attributes(text))
}

/// Parses a `.tf.json` file: the blocks that its object states.
pub fn parse_json(source: SourceId, text: &str) -> Hcl {
    Hcl::of_json(source, text, json::blocks(text))
}

impl Hcl {
    fn of_json(source: SourceId, text: &str, pieces: json::Pieces) -> Self {
        let (comments, problems, repeated) = (vec![], vec![], vec![]);
        let mut hcl = Self { source, comments, problems, repeated, text: text.into(), json: true, parts: vec![] };
        let share = Share::least(text.len());
        pieces.iter().for_each(|(base, piece)| hcl.part(piece, *base, &share));
        hcl.repeated = hcl.places().flat_map(|(place, body)| repeated::keys(place, body)).collect();
        hcl
    }

    /// A text that stands at `from`.
    fn part(&mut self, text: &str, from: usize, share: &Share) {
        if text.trim().is_empty() {
            return;
        }
        match repeated::parse(text, share) {
            (Ok(body), attributes) => self.keep(from, body, attributes),
            (Err(error), _) => {
                // The parser counts bytes, and may stop inside of a character.
                let stopped = error.location().offset().min(text.len());
                let offset = (0..=stopped).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
                // An error at the very end is shown at the first line: that is the block left open.
                let at = if text[offset..].trim().is_empty() { text.len() - text.trim_start().len() } else { offset };
                let line = text[at..].lines().next().unwrap_or("").trim_end();
                let len =
                    if line.is_empty() { text[at..].chars().next().map_or(0, char::len_utf8) } else { line.len() };
                let span = Span::new(self.source, from + at..from + at + len);
                self.problems.push(Problem { span, message: error.message().trim_end_matches('.').to_owned() });
            }
        }
    }

    fn keep(&mut self, base: usize, body: Body, attributes: Vec<Range<usize>>) {
        for name in attributes {
            let span = Span::new(self.source, name.start + base..name.end + base);
            let message = format!("the attribute `{}` is set twice in one block", &self.text[span.range()]);
            self.problems.push(Problem { span, message });
        }
        self.parts.push(Part { base, body });
    }

    /// Bytes of the text.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The pieces that parsed, and where each stands.
    pub fn places(&self) -> impl Iterator<Item = (Place<'_>, &Body)> {
        self.parts
            .iter()
            .map(|part| (Place { source: self.source, text: &self.text, base: part.base, json: self.json }, &part.body))
    }
    /// What it says of nothing that it states, in order: names, descriptions, constraints and references.
    pub fn names(&self) -> Vec<Span> {
        let mut names: Vec<Span> = self.places().flat_map(|(place, body)| names::names(place, body)).collect();
        names.sort_unstable();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_inside_of_a_character_is_told_where_it_begins() {
        let hcl = parse(SourceId(0), "s={e\u{fffd}");
        let [problem] = &hcl.problems[..] else { panic!("one problem: {:?}", hcl.problems) };
        assert_eq!(problem.span.range(), 4..7);
    }
}
