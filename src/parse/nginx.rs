//! Directives of nginx: words that `;` ends, and blocks in braces.

use std::ops::Range;

/// A word, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// Where it stands.
    pub at: Range<usize>,
}

/// What a file says, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A directive with its arguments.
    Directive(Vec<Word>),
    /// A directive whose block begins.
    Begins(Vec<Word>),
    /// The end of the innermost block.
    Ends,
}

/// The directives of a text and the places of its comments; `None` for what no nginx reads.
pub fn parse(text: &str) -> Option<(Vec<Event>, Vec<Range<usize>>)> {
    let (mut events, mut comments, mut words) = (Vec::new(), Vec::new(), Vec::new());
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(next) = text[at..].chars().next() {
        match next {
            '#' => {
                let end = text[at..].find('\n').map_or(text.len(), |line| at + line);
                comments.push(at..end);
                at = end;
            }
            ';' => {
                events.push(Event::Directive(std::mem::take(&mut words)));
                at += 1;
            }
            '{' => {
                events.push(Event::Begins(std::mem::take(&mut words)));
                (depth, at) = (depth + 1, at + 1);
            }
            '}' => {
                depth = depth.checked_sub(1).filter(|_| words.is_empty())?;
                events.push(Event::Ends);
                at += 1;
            }
            _ if next.is_whitespace() => at += next.len_utf8(),
            _ => {
                let word = word(text, at)?;
                at = word.0;
                words.push(word.1);
            }
        }
    }
    (depth == 0 && words.is_empty()).then_some((events, comments))
}

/// The word that begins at an offset, and where it ends.
fn word(text: &str, start: usize) -> Option<(usize, Word)> {
    let rest = &text[start..];
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let mut escaped = false;
        let close = rest[1..].char_indices().find(|(_, c)| {
            let ends = *c == quote && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        })?;
        let inner = start + 1..start + 1 + close.0;
        return Some((inner.end + 1, Word { text: text[inner.clone()].to_owned(), at: inner }));
    }
    let (mut variable, mut before) = (false, ' ');
    let end = rest.char_indices().find(|(_, c)| {
        let ends = !variable && (c.is_whitespace() || matches!(c, ';' | '}' | '{') && !(*c == '{' && before == '$'));
        variable = *c == '{' && before == '$' || variable && *c != '}';
        before = *c;
        ends
    });
    let at = start..end.map_or(text.len(), |(end, _)| start + end);
    Some((at.end, Word { text: text[at.clone()].to_owned(), at }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_blocks_and_comments_are_told_apart() {
        let text = "upstream a { server b:8000; } # c\nlog_format x 'a \"b\" ; {';\nset $u http://${host}:80;\n";
        let (events, comments) = parse(text).expect("directives");
        let words = |event: &Event| match event {
            Event::Directive(words) | Event::Begins(words) => words.iter().map(|w| w.text.clone()).collect::<Vec<_>>(),
            Event::Ends => vec!["}".to_owned()],
        };
        let told: Vec<String> = events.iter().map(|event| words(event).join(" ")).collect();
        assert_eq!(told, ["upstream a", "server b:8000", "}", "log_format x a \"b\" ; {", "set $u http://${host}:80"]);
        assert_eq!(&text[comments[0].clone()], "# c");
    }

    #[test]
    fn what_is_not_closed_is_nothing() {
        for text in ["server {", "}", "a", "a 'b;", "a { b }"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
