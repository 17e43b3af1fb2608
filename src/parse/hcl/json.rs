//! Terraform's language in JSON as the text in HCL that says the same: every value stands in it where it stands in the file.

use std::ops::Range;

/// Blocks, and how many labels each has.
const BLOCKS: [(&str, usize); 8] = [
    ("data", 2),
    ("locals", 0),
    ("module", 1),
    ("output", 1),
    ("provider", 1),
    ("resource", 2),
    ("terraform", 0),
    ("variable", 1),
];

/// Longest names of blocks, and how far behind its name a body is sought: both are repeated.
const MOST_REPEATED: usize = 256;

/// Texts of HCL, each with where it begins in the file.
pub(super) type Pieces = Vec<(usize, String)>;

/// The attributes that an object of JSON states.
pub(super) fn attributes(text: &str) -> Pieces {
    let mut out = vec![];
    for object in objects(text, whole(text)) {
        let mut piece = Vec::new();
        let base = object.start + 1;
        body(text, object, &mut piece);
        out.extend(String::from_utf8(piece).ok().map(|piece| (base, piece)));
    }
    out
}

/// The blocks that an object of JSON states.
pub(super) fn blocks(text: &str) -> Pieces {
    let mut out = vec![];
    for (key, value) in objects(text, whole(text)).into_iter().flat_map(|object| entries(text, object)) {
        let keyword = unquoted(text, &key);
        if let Some((_, labels)) = BLOCKS.iter().find(|(name, _)| *name == keyword) {
            block(text, (keyword.to_owned(), None), value, *labels, &mut out);
        }
    }
    out
}

/// The blocks below a name; `head` is what stands before the last label.
fn block(text: &str, head: (String, Option<Range<usize>>), value: Range<usize>, labels: usize, out: &mut Pieces) {
    for object in objects(text, value) {
        if labels == 0 {
            out.extend(piece(text, &head, object));
            continue;
        }
        for (key, value) in entries(text, object) {
            let before = head.1.as_ref().map_or(String::new(), |label| format!(" {}", &text[label.clone()]));
            if before.len() + key.len() <= MOST_REPEATED {
                block(text, (format!("{}{before}", head.0), Some(key)), value, labels - 1, out);
            }
        }
    }
}

/// A block whose last label and body stand where they stand in the file, so far as that is not far away.
fn piece(text: &str, (head, label): &(String, Option<Range<usize>>), object: Range<usize>) -> Option<(usize, String)> {
    let mut written = Vec::from(format!("{head} "));
    let mut base = object.start.checked_sub(written.len())?;
    if let Some(label) = label {
        let gap = object.start.checked_sub(label.end)?;
        let gap = if gap > MOST_REPEATED { 1 } else { gap };
        base = base.checked_sub(label.len() + gap)?;
        written.extend(text[label.clone()].bytes());
        written.resize(written.len() + gap, b' ');
    }
    written.push(b'{');
    body(text, object, &mut written);
    written.push(b'}');
    Some((base, String::from_utf8(written).ok()?))
}

/// Writes the attributes of an object, from behind its brace: the quotes of keys make room, `:` is `=`, and what stands between
/// them is blank.
fn body(text: &str, object: Range<usize>, out: &mut Vec<u8>) {
    let (from, start) = (out.len(), object.start + 1);
    let at = |place: usize| from + place - start;
    for (key, value) in entries(text, object) {
        let name = unquoted(text, &key);
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !is_name {
            continue;
        }
        // Each stands on a line of its own.
        out.resize(at(key.start), b' ');
        out.push(b'\n');
        out.extend(name.bytes());
        out.resize(at(value.start) - 1, b' ');
        out.push(b'=');
        expression(&text[value.clone()], out);
    }
    out.push(b'\n');
}

/// Writes a value; in its strings expressions of Terraform are written without the escapes of JSON.
fn expression(value: &str, out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(at) = rest.find('"') {
        let (before, quoted) = rest.split_at(at);
        let end = string_end(quoted);
        out.extend(before.bytes().map(on_one_line));
        string(&quoted[..end], out);
        rest = &quoted[end..];
    }
    out.extend(rest.bytes().map(on_one_line));
}

/// An attribute and the whole of its value begin on one line.
fn on_one_line(byte: u8) -> u8 {
    if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }
}

fn string(quoted: &str, out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(next) = quoted[at..].chars().next() {
        let rest = &quoted[at..];
        let length = match next {
            '\\' => escape(rest),
            _ if rest.starts_with("$${") || rest.starts_with("%%{") => 3,
            _ if rest.starts_with("${") || rest.starts_with("%{") => {
                at += interpolation(rest, out);
                continue;
            }
            next => next.len_utf8(),
        };
        out.extend(rest.bytes().take(length));
        at += length.min(rest.len());
    }
}

/// How long a backslash and what it escapes are.
fn escape(text: &str) -> usize {
    text.chars().take(2).map(char::len_utf8).sum()
}

/// Writes `${…}` at the start of a text; how long it is. Its own texts give back behind their ends what escapes make them shorter.
fn interpolation(text: &str, out: &mut Vec<u8>) -> usize {
    let (mut depth, mut inner, mut owed) = (0usize, false, 0);
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let rest = &text[at..];
        at += match byte {
            b'\\' if rest.starts_with("\\\"") => {
                out.extend(if inner { "\"" } else { " \"" }.bytes());
                out.extend(std::iter::repeat_n(b' ', if inner { owed + 1 } else { 0 }));
                (inner, owed) = (!inner, 0);
                2
            }
            // An escape of JSON, then one of the language.
            b'\\' if inner && rest.starts_with("\\\\") && rest.is_char_boundary(3) => {
                let escaped = if rest[2..].starts_with('\\') { 4 } else { 3 }.min(rest.len());
                out.extend([b'\\', rest.as_bytes()[escaped - 1]]);
                owed += escaped - 2;
                escaped
            }
            b'\\' => {
                out.extend(std::iter::repeat_n(b' ', escape(rest)));
                escape(rest)
            }
            _ => {
                out.push(byte);
                depth += usize::from(byte == b'{' && !inner);
                if byte == b'}' && !inner {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                1
            }
        };
        if !text.is_char_boundary(at) {
            let end = (at..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
            out.extend(&text.as_bytes()[at..end]);
            at = end;
        }
    }
    text.len()
}

fn whole(text: &str) -> Range<usize> {
    let blank = ['\u{feff}', ' ', '\t', '\r', '\n'];
    text.len() - text.trim_start_matches(blank).len()..text.trim_end_matches(blank).len()
}

/// The object at a place, or the objects of a list.
fn objects(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let is_object = |range: &Range<usize>| text[range.clone()].starts_with('{') && text[range.clone()].ends_with('}');
    let all = if text[range.clone()].starts_with('[') { parts(text, range) } else { vec![range] };
    all.into_iter().filter(|range| range.len() > 1 && is_object(range)).collect()
}

/// The keys of an object, with their quotes, and its values.
fn entries(text: &str, object: Range<usize>) -> Vec<(Range<usize>, Range<usize>)> {
    let entry = |part: Range<usize>| {
        let inner = text.get(part.clone()).filter(|inner| inner.starts_with('"'))?;
        let end = string_end(inner);
        let value = inner[end..].trim_start().strip_prefix(':')?.trim_start();
        (!value.is_empty() && end > 1).then(|| (part.start..part.start + end, part.end - value.len()..part.end))
    };
    parts(text, object).into_iter().filter_map(entry).collect()
}

/// What commas separate in the brackets of a list or an object.
fn parts(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let (mut out, mut depth, mut at, mut from) = (vec![], 0usize, range.start, range.start + 1);
    let mut add = |from: usize, to: usize| {
        let part = &text[from..to];
        let start = from + part.len() - part.trim_start().len();
        out.extend((!part.trim().is_empty()).then(|| start..start + part.trim().len()));
    };
    while at < range.end {
        match text.as_bytes()[at] {
            b'"' => {
                at += string_end(&text[at..range.end]);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    add(from, at);
                    break;
                }
            }
            b',' if depth == 1 => {
                add(from, at);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// Where the string ends that a text begins with.
fn string_end(text: &str) -> usize {
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn unquoted<'t>(text: &'t str, key: &Range<usize>) -> &'t str {
    text[key.clone()].trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_where_they_are_written() {
        let text = r#"{"resource": {"aws_instance": {"a": {"instance_type": "${lower(\"G5\")}", "//": {"x": 1},
 "tags": {"k": ["v"]}}}}, "locals": {"n": 1}}"#;
        let pieces = blocks(text);
        let at = |(base, piece): &(usize, String), word: &str| {
            let found = piece.find(word).expect(word);
            assert!(text[base + found..].starts_with(word), "{piece}");
        };
        assert_eq!(pieces.len(), 2);
        assert!(pieces[0].1.starts_with(r#"resource "aws_instance" "a" "#), "{}", pieces[0].1);
        ["\"a\"", "{\"k\": [\"v\"]}", "${lower("].iter().for_each(|word| at(&pieces[0], word));
        assert!(pieces[0].1.contains(r#"${lower( "G5" )}"#) && !pieces[0].1.contains("//"), "{}", pieces[0].1);
        assert!(pieces[1].1.starts_with("locals {"), "{}", pieces[1].1);
        at(&pieces[1], "1");
    }

    #[test]
    fn odd_escapes_take_no_block_away() {
        for value in ["x \\é y", "${a \\é}", "${f(\\\"\\\\é\\\")}", "${f(\\\"\\\\\\\\é\\\")} \\u00e9", "\\é"] {
            let text = format!(r#"{{"locals": {{"a": "{value}", "b": 1}}}}"#);
            assert_eq!(blocks(&text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_is_no_block_gives_nothing() {
        for text in
            ["", "{", "[]", "{\"resource\": 1}", "{\"resource\": {\"a\": {\"b\": {", "{\"x\": {}}", "\"", "{\"\\"]
        {
            assert_eq!(blocks(text), [], "{text}");
        }
        assert_eq!(attributes("[1]"), []);
    }
}
