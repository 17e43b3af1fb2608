//! Suppression comments: `gpulint: ignore[rule, other] reason="…" until=2030-12-31` after any comment sign.

use super::{Place, Waiver};
use crate::config::Word;
use crate::source::{Source, Span};
use jiff::civil::Date;

/// So long a text is told as the reason that it may be.
const LONGEST_REASON: usize = 80;

/// What is wrong with a comment, and where.
type Fault = (Span, String);

/// Whether a comment speaks to gpulint.
pub fn is_directive(span: Span, source: &Source) -> bool {
    read(span, source).is_some()
}

/// Reads a comment. `None` when it does not speak to gpulint.
pub fn read(span: Span, source: &Source) -> Option<Result<Waiver, Fault>> {
    let text = source.slice(span);
    let at = text.find("gpulint:")?;
    let spoken = text[..at].chars().all(|c| c.is_whitespace() || "#/*".contains(c));
    let rest = text[at + "gpulint:".len()..].trim_start();
    if !spoken && !rest.starts_with("ignore") {
        return None;
    }
    let start = span.start as usize + text.len() - rest.len();
    let end = rest.trim_end().trim_end_matches("*/").trim_end();
    Some(directive(Cursor { text: end, at: start, span }, source))
}

/// What is left of a directive, and where it stands.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
    span: Span,
}

impl<'t> Cursor<'t> {
    /// Skips white space, then takes `length` bytes.
    fn take(&mut self, length: usize) -> (&'t str, Span) {
        let (head, tail) = self.text.split_at(length);
        let span = Span::new(self.span.source, self.at..self.at + length);
        self.text = tail;
        self.at += length;
        (head, span)
    }

    fn skip_space(&mut self) {
        self.take(self.text.len() - self.text.trim_start().len());
    }

    /// The next word, up to white space or an opening bracket.
    fn word(&mut self) -> (&'t str, Span) {
        self.skip_space();
        self.take(self.text.find(|c: char| c.is_whitespace() || c == '[').unwrap_or(self.text.len()))
    }
}

fn directive(mut cursor: Cursor<'_>, source: &Source) -> Result<Waiver, Fault> {
    let whole = Span::new(cursor.span.source, cursor.at..cursor.at + cursor.text.len());
    let (verb, at) = cursor.word();
    let place = match verb {
        "ignore" => Place::Line(whole.source, target(cursor.span, source)),
        "ignore-file" => Place::File(whole.source),
        _ => {
            return Err((
                if at.start == at.end { cursor.span } else { at },
                "`ignore` or `ignore-file` is expected".into(),
            ));
        }
    };
    let words = rules(&mut cursor).ok_or((at, "rules in brackets are expected".to_owned()))?;
    let mut waiver = Waiver { place, words, reason: None, until: None, span: whole };
    loop {
        cursor.skip_space();
        if cursor.text.is_empty() {
            return Ok(waiver);
        }
        if let Some(quoted) = cursor.text.strip_prefix("reason=\"") {
            let (_, opening) = cursor.take("reason=\"".len());
            let length = quoted.find('"').ok_or((opening, "the reason has no closing quote".to_owned()))?;
            waiver.reason = Some(cursor.take(length).0.to_owned());
            cursor.take(1);
            continue;
        }
        let rest = cursor.text.trim_end();
        let (word, at) = cursor.word();
        let Some(date) = word.strip_prefix("until=") else {
            let loose = rest.strip_prefix("reason").unwrap_or(rest).trim_start_matches([':', '=', '-', ' ']);
            let said = loose.trim_matches(['"', '\'']);
            // A reason in quotes that does not end says so itself.
            if said.is_empty() || said.contains('"') || said.chars().count() > LONGEST_REASON {
                return Err((at, format!("`{word}` is not expected here")));
            }
            return Err((at, format!("`{word}` is not expected here; a reason is written reason=\"{said}\"")));
        };
        let date: Date = date.parse().map_err(|_| (at, format!("`{date}` is no date like 2030-12-31")))?;
        waiver.until = Some(date);
    }
}

/// `[rule, other]`; `None` unless there is at least one.
fn rules(cursor: &mut Cursor<'_>) -> Option<Vec<(Word, bool)>> {
    cursor.skip_space();
    let close = cursor.text.strip_prefix('[')?.find(']')? + 1;
    let (list, span) = cursor.take(close + 1);
    let mut words = Vec::new();
    let mut at = span.start as usize + 1;
    for part in list[1..close].split(',') {
        let text = part.trim();
        if !text.is_empty() {
            let start = at + part.len() - part.trim_start().len();
            let span = Span::new(span.source, start..start + text.len());
            words.push((Word { text: text.to_owned(), span }, false));
        }
        at += part.len() + 1;
    }
    (!words.is_empty()).then_some(words)
}

/// Whether a comment is one to the shell only: `#SBATCH`, `#PBS`, `#$`.
fn is_directive_of_a_queue(comment: &str) -> bool {
    let word = comment.strip_prefix('#').and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
    word == "$" || word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase())
}

/// The line that a comment is about: its own where something stands before it, else the next one that is
/// neither empty nor a comment.
fn target(span: Span, source: &Source) -> usize {
    let starts = source.line_starts();
    let line = |i: usize| {
        let end = starts.get(i + 1).map_or(source.text.len(), |&e| e as usize);
        &source.text[starts[i] as usize..end]
    };
    let own = source.line_of(span.start);
    if is_directive_of_a_queue(source.slice(span))
        || !source.text[starts[own] as usize..span.start as usize].trim().is_empty()
    {
        return own;
    }
    let comment = |text: &str| ["#", "//", "/*"].iter().any(|sign| text.starts_with(sign));
    let below = source.line_of(span.end) + 1;
    (below..starts.len()).find(|&i| !line(i).trim().is_empty() && !comment(line(i).trim_start())).unwrap_or(own)
}
