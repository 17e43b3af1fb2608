//! Names in other cases, as xstrings writes them. Knows letters only.

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    /// It starts with a capital.
    Capital,
    Letters,
    Connector,
    Punctuation,
    Other,
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

fn kind(c: char) -> Kind {
    match c {
        c if is_connector(c) => Kind::Connector,
        c if c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c) => Kind::Punctuation,
        c if c.is_uppercase() => Kind::Capital,
        c if c.is_alphabetic() => Kind::Letters,
        c if c.is_numeric() => Kind::Number,
        _ => Kind::Other,
    }
}

/// The words of a name: `HTTPServer` has two.
fn words(text: &str) -> Vec<(Kind, &str)> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let whole = kind(first);
        let run = |from: usize, of: Kind| {
            let end = rest[from..].find(|c| kind(c) != of);
            end.map_or(rest.len(), |end| from + end)
        };
        let mut end = run(0, whole);
        if whole == Kind::Capital {
            let small = |at: usize| rest[at..].starts_with(|c| kind(c) == Kind::Letters);
            let last = rest[..end].char_indices().last().map_or(0, |(at, _)| at);
            end = match last {
                0 => run(end, Kind::Letters),
                // The last capital belongs to the word that follows.
                _ if small(end) => last,
                _ => end,
            };
        }
        out.push((whole, &rest[..end]));
        rest = &rest[end..];
    }
    out
}

/// `FirstName` as `first_name`, or with another connector.
pub(super) fn lower(text: &str, connector: char) -> String {
    let words = words(text);
    let kind = |i: usize| words.get(i).map(|(kind, _)| *kind);
    let joins = |i: usize| !matches!(kind(i), None | Some(Kind::Connector | Kind::Punctuation));
    let mut out = String::with_capacity(text.len() + words.len());
    let write = |out: &mut String, i: usize| match words.get(i) {
        Some((Kind::Capital | Kind::Connector, word)) => {
            word.chars().for_each(|c| out.push(if is_connector(c) { connector } else { one(c, c.to_lowercase()) }));
        }
        Some((_, word)) => out.push_str(word),
        None => {}
    };
    let tail = |out: &mut String, mut i: usize| {
        while matches!(kind(i), Some(Kind::Letters | Kind::Number)) {
            write(out, i);
            i += 1;
        }
        out.extend(joins(i).then_some(connector));
        i
    };
    let mut i = 0;
    while i + 1 < words.len() {
        write(&mut out, i);
        i += 1;
        match kind(i - 1) {
            Some(Kind::Number) => i = tail(&mut out, i),
            Some(Kind::Connector | Kind::Punctuation) => {}
            _ if kind(i) != Some(Kind::Number) => out.extend(joins(i).then_some(connector)),
            _ if i + 1 == words.len() => {}
            // A number with letters after it starts a word, any other belongs to the word before.
            _ if kind(i + 1) == Some(Kind::Letters) => {
                out.push(connector);
                write(&mut out, i);
                i = tail(&mut out, i + 1);
            }
            _ => {
                write(&mut out, i);
                i += 1;
                out.extend(joins(i).then_some(connector));
            }
        }
    }
    write(&mut out, i);
    out
}

/// `http_server` as `HttpServer`; connectors at the start stay.
pub(super) fn pascal(text: &str) -> String {
    let start = text.find(|c| !is_connector(c)).unwrap_or(text.len());
    let mut out = text[..start].to_owned();
    let mut chars = text[start..].chars();
    let Some(first) = chars.next() else { return out };
    let (mut before, mut capitals) = (upper(first), first.is_uppercase());
    for c in chars {
        let mut now = c;
        match (is_connector(before), is_connector(c)) {
            (true, true) => out.push(before),
            (true, false) => {
                capitals = c.is_uppercase();
                now = upper(c);
            }
            _ => {
                if capitals && c.is_uppercase() {
                    now = one(c, c.to_lowercase());
                } else {
                    capitals = false;
                }
                out.push(before);
            }
        }
        before = now;
    }
    out.push(before);
    out
}

/// A capital as Go has it: one for one.
pub(super) fn upper(c: char) -> char {
    one(c, c.to_uppercase())
}

fn one(c: char, mut others: impl ExactSizeIterator<Item = char>) -> char {
    if others.len() == 1 { others.next().unwrap_or(c) } else { c }
}
