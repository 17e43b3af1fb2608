//! The words of an instruction, and the views of it that are made of words.

use super::{Flag, Instruction};
use crate::parse::shell::{self, Command, Script};
use crate::source::Traced;
use std::ops::Range;

/// `NAME=value` of ENV, ARG or LABEL.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The name.
    pub name: Traced,
    /// The value without quotes, `\$` and expansions as written; `None` for an ARG without a default.
    pub value: Option<Traced>,
}

/// What FROM says.
#[derive(Debug, Clone)]
pub struct Base {
    /// The image or the earlier stage, as written.
    pub image: Traced,
    /// The value of `--platform`.
    pub platform: Option<Traced>,
    /// The name after AS.
    pub alias: Option<Traced>,
}

/// A word: where it stands, and the parts of it that remain without quotes and escapes.
pub(super) struct Word {
    pub(super) range: Range<usize>,
    parts: Vec<Range<usize>>,
}

/// The words of a text, split at white space outside quotes.
pub(super) fn split(text: &str, escape: char) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        if at == text.len() {
            return words;
        }
        let word = Word::read(text, at, escape);
        at = word.range.end;
        words.push(word);
    }
}

impl Word {
    /// The word that starts at `start`.
    pub(super) fn read(text: &str, start: usize, escape: char) -> Self {
        Self::read_until(text, start, escape, char::is_whitespace)
    }

    /// The word that starts at `start` and ends outside quotes where `stop` says so.
    fn read_until(text: &str, start: usize, escape: char, stop: impl Fn(char) -> bool) -> Self {
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut quote: Option<char> = None;
        let mut chars = text[start..].char_indices().map(|(i, c)| (start + i, c)).peekable();
        let mut end = text.len();
        while let Some((at, c)) = chars.next() {
            let (mut from, mut to) = (at, at + c.len_utf8());
            match quote {
                None if stop(c) => {
                    end = at;
                    break;
                }
                None if c == '"' || c == '\'' => {
                    quote = Some(c);
                    continue;
                }
                Some(open) if open == c => {
                    quote = None;
                    continue;
                }
                _ => {}
            }
            if c == escape && quote != Some('\'') {
                let escapable = |next: char| quote.is_none() || next == '"' || next == '$' || next == escape;
                if let Some((after, next)) = chars.next_if(|&(_, next)| escapable(next)) {
                    to = after + next.len_utf8();
                    // An escaped dollar keeps its escape: expansion comes later and has to see it.
                    if next != '$' {
                        from = after;
                    }
                }
            }
            match parts.last_mut() {
                Some(last) if last.end == from => last.end = to,
                _ => parts.push(from..to),
            }
        }
        Self { range: start..end, parts }
    }

    /// The word without quotes.
    fn text(&self, source: &Traced) -> Traced {
        source.join(&self.parts, source.span(self.range.clone()))
    }

    /// The word as `--name=value`.
    pub(super) fn flag(&self, source: &Traced) -> Flag {
        let word = self.text(source);
        let body = word.text().trim_start_matches('-');
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(word.slice(word.text().len() - value.len()..word.text().len()))),
            None => (body, None),
        };
        Flag { name: name.to_string(), value, span: source.span(self.range.clone()) }
    }
}

impl Instruction {
    /// The arguments without quotes.
    pub fn words(&self) -> Vec<Traced> {
        split(self.rest.text(), self.escape).iter().map(|w| w.text(&self.rest)).collect()
    }

    /// The arguments in exec form, `["a", "b"]`; `None` when they are anything else.
    pub fn json_array(&self) -> Option<Vec<Traced>> {
        let text = self.rest.text();
        let inner = text.trim_end().strip_prefix('[')?.strip_suffix(']')?;
        let end = 1 + inner.len();
        let mut elements = Vec::new();
        let mut at = skip_space(text, 1);
        while at < end {
            let length = string_length(&text[at..end])?;
            elements.push(self.json_string(at..at + length)?);
            at = skip_space(text, at + length);
            if at < end {
                let after = text[at..end].strip_prefix(',')?;
                at = skip_space(text, end - after.len());
                // A comma is followed by an element.
                (at < end).then_some(())?;
            }
        }
        Some(elements)
    }

    /// The JSON string at `range`, quotes included.
    fn json_string(&self, range: Range<usize>) -> Option<Traced> {
        let raw = &self.rest.text()[range.clone()];
        let whole = self.rest.span(range.clone());
        if raw.contains('\\') {
            return Some(Traced::opaque(serde_json::from_str::<String>(raw).ok()?, whole));
        }
        let inner = range.start + 1..range.end - 1;
        Some(self.rest.join(std::slice::from_ref(&inner), whole))
    }

    /// The assignments of ENV, ARG and LABEL, in the legacy form `ENV NAME value` too.
    pub fn assignments(&self) -> Vec<Assignment> {
        let text = self.rest.text();
        let words = split(text, self.escape);
        let Some(first) = words.first() else { return Vec::new() };
        if self.keyword != "ARG" && !text[first.range.clone()].contains('=') {
            let at = skip_space(text, first.range.end);
            let value = Word::read_until(text, at, self.escape, |_| false);
            return vec![Assignment { name: first.text(&self.rest), value: Some(value.text(&self.rest)) }];
        }
        let assignments = words.iter().map(|word| {
            let name = Word::read_until(&text[..word.range.end], word.range.start, self.escape, |c| c == '=');
            let value = (name.range.end < word.range.end)
                .then(|| Word::read_until(&text[..word.range.end], name.range.end + 1, self.escape, |_| false));
            Assignment { name: name.text(&self.rest), value: value.map(|v| v.text(&self.rest)) }
        });
        assignments.collect()
    }

    /// What RUN, CMD or ENTRYPOINT runs: the exec form as one command, the shell form as a script, and the
    /// heredocs that a shell reads.
    pub fn script(&self) -> Script {
        if let Some(arguments) = self.json_array() {
            return Command::of_arguments(&arguments).into();
        }
        let mut script = shell::parse(&self.rest);
        let reads_heredoc = match script.commands.as_slice() {
            [] => true,
            [command] => command.words.first().is_some_and(|w| shell::is_shell(w.text())),
            _ => false,
        };
        let bodies = self.heredocs.iter().map(|h| &h.body).filter(|_| reads_heredoc && self.keyword == "RUN");
        for body in bodies {
            let interpreter = body.text().lines().next().and_then(|line| line.strip_prefix("#!"));
            if interpreter.is_none_or(|i| i.split_whitespace().any(shell::is_shell)) {
                script.append(shell::parse(body), &shell::Arms::default());
            }
        }
        script
    }

    /// What FROM names; `None` for other instructions and for an empty FROM.
    pub fn base(&self) -> Option<Base> {
        let text = self.rest.text();
        if self.keyword != "FROM" || text.is_empty() {
            return None;
        }
        let words = split(text, self.escape);
        let (image, alias) = match words.as_slice() {
            [first, .., before, keyword, alias] if text[keyword.range.clone()].eq_ignore_ascii_case("as") => {
                (first.range.start..before.range.end, Some(alias.text(&self.rest)))
            }
            [image, keyword, alias] if text[keyword.range.clone()].eq_ignore_ascii_case("as") => {
                (image.range.clone(), Some(alias.text(&self.rest)))
            }
            // A template is one image, blanks and all.
            [first, .., last] if text.contains("{{") => (first.range.start..last.range.end, None),
            [first, ..] => (first.range.clone(), None),
            [] => return None,
        };
        let quoted = |image: &Traced| {
            let text = image.text();
            ['"', '\''].iter().any(|quote| text.len() > 1 && text.starts_with(*quote) && text.ends_with(*quote))
        };
        let image = self.rest.slice(image);
        // A builder reads the name as a shell reads a word.
        let image = if quoted(&image) { image.slice(1..image.text().len() - 1) } else { image };
        Some(Base { image, platform: self.flag("platform").cloned(), alias })
    }
}

/// The offset of the first character at or after `at` that is not white space.
fn skip_space(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

/// Length of the JSON string at the start, quotes included.
fn string_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = usize::from(bytes.first() == Some(&b'"'));
    if at == 0 {
        return None;
    }
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
