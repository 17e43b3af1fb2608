//! The text format of protocol buffers into a [`Tree`]: https://protobuf.dev/reference/protobuf/textformat-spec/
//! A field that stands several times is a list of its values, in their order; `${name}` is a value that is filled in later.
//! Nothing is known of what fields there are.

use super::{Builder, DEEPEST, Dialect, Entry, NodeId, NodeKind, Problem, Tree};
use crate::known::Why;
use crate::source::{SourceId, Span, Traced};
use std::collections::BTreeMap;

/// Reads a text: one document, the fields of the message. What stands behind something that is not understood is left out,
/// with a problem.
pub fn parse(source: SourceId, text: &str) -> Tree {
    let mut reader = Reader { text, source, at: 0, builder: Builder::new(source, Dialect::Typed) };
    reader.blank();
    let from = reader.at;
    let (fields, wrong) = reader.fields(None, DEEPEST);
    let root = reader.builder.add(NodeKind::Map(fields), Span::new(source, from..text.trim_end().len().max(from)));
    reader.builder.tree().documents.push(root);
    if let Some(wanted) = wrong {
        let span = Span::new(source, super::visible(text, reader.at..reader.at));
        let message = format!("not valid text of protocol buffers: expected {wanted}");
        reader.builder.tree().problems.push(Problem { span, message });
    }
    reader.builder.finish()
}

/// A value, or what was expected in its place.
type Read<T> = Result<T, &'static str>;

struct Reader<'t> {
    /// What is read; it outlives the reader.
    text: &'t str,
    source: SourceId,
    at: usize,
    builder: Builder,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self, from: usize) -> Span {
        Span::new(self.source, from..self.at)
    }

    /// Goes over blanks and comments.
    fn blank(&mut self) {
        loop {
            let rest = self.rest().trim_start();
            self.at = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return;
            }
            let from = self.at;
            self.at += rest.find('\n').unwrap_or(rest.len());
            let comment = self.span(from);
            self.builder.tree().comments.push(comment);
        }
    }

    /// Goes over a sign, and what is blank behind it.
    fn sign(&mut self, sign: char) -> bool {
        let is = self.rest().starts_with(sign);
        if is {
            self.at += sign.len_utf8();
            self.blank();
        }
        is
    }

    /// The fields of a message up to its closing bracket, or to the end; with what was expected where it breaks off.
    fn fields(&mut self, close: Option<char>, depth: usize) -> (Vec<Entry>, Option<&'static str>) {
        let mut entries: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let wrong = loop {
            match (self.rest().chars().next(), close) {
                (None, None) => break None,
                (None, Some(_)) => break Some("a closing bracket"),
                (first, Some(_)) if first == close => break None,
                _ => {}
            }
            let (name, key, value) = match self.field(depth) {
                Ok(field) => field,
                Err(wanted) => break Some(wanted),
            };
            let at = *known.entry(name).or_insert(entries.len());
            if at == entries.len() {
                entries.push((key, Vec::new()));
            }
            // A list adds all that it has.
            entries[at].1.push(value);
            let _ = self.sign(';') || self.sign(',');
        };
        (entries.into_iter().map(|(key, values)| Entry { key, value: self.together(values) }).collect(), wrong)
    }

    /// The values of a field: the only one, or a list of all.
    fn together(&mut self, mut values: Vec<NodeId>) -> NodeId {
        if let [only] = values[..] {
            return only;
        }
        let tree = self.builder.tree();
        let span =
            values.iter().map(|id| tree.node(*id).span()).reduce(Span::to).unwrap_or(Span::new(self.source, 0..0));
        values = values
            .iter()
            .flat_map(|id| {
                tree.node(*id)
                    .is_seq()
                    .then(|| tree.node(*id).items().map(super::Node::id).collect())
                    .unwrap_or(vec![*id])
            })
            .collect();
        self.builder.add(NodeKind::Seq(values), span)
    }

    fn field(&mut self, depth: usize) -> Read<(String, NodeId, NodeId)> {
        let from = self.at;
        let name = match self.rest().strip_prefix('[') {
            // An extension, or the type of an Any.
            Some(rest) => rest.find(']').map_or(0, |end| end + 2),
            None => self.word(),
        };
        if name == 0 || depth == 0 {
            return Err("a field");
        }
        self.at += name;
        let written = self.text[from..self.at].to_owned();
        let key = self.builder.scalar(&written, false, self.span(from), from);
        self.blank();
        let colon = self.sign(':');
        let value = match self.rest().chars().next() {
            Some('{' | '<') => self.message(depth - 1)?,
            Some('[') if colon || self.rest()[1..].trim_start().starts_with(['{', '<', ']', '#']) => {
                self.list(depth - 1)?
            }
            _ if !colon => return Err("a colon or a message"),
            _ => self.scalar()?,
        };
        Ok((written, key, value))
    }

    fn message(&mut self, depth: usize) -> Read<NodeId> {
        let from = self.at;
        let close = if self.sign('{') {
            '}'
        } else if self.sign('<') {
            '>'
        } else {
            return Err("a message");
        };
        let (fields, wrong) = self.fields(Some(close), depth);
        if let Some(wanted) = wrong {
            return Err(wanted);
        }
        self.at += close.len_utf8();
        let node = self.builder.add(NodeKind::Map(fields), self.span(from));
        self.blank();
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Read<NodeId> {
        let from = self.at;
        let mut items = Vec::new();
        let mut more = self.sign('[') && !self.rest().starts_with(']');
        while more {
            items.push(match self.rest().chars().next() {
                Some('{' | '<') if depth > 0 => self.message(depth)?,
                _ => self.scalar()?,
            });
            more = self.sign(',');
        }
        if !self.rest().starts_with(']') {
            return Err("a comma or a closing bracket");
        }
        self.at += 1;
        let node = self.builder.add(NodeKind::Seq(items), self.span(from));
        self.blank();
        Ok(node)
    }

    /// How long the word is that stands here.
    fn word(&self) -> usize {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) { 0 } else { end }
    }

    fn scalar(&mut self) -> Read<NodeId> {
        let from = self.at;
        let rest = self.rest();
        if rest.starts_with(['"', '\'']) {
            return self.string();
        }
        if let Some(name) =
            rest.strip_prefix("${").and_then(|rest| rest.split_once('}')).map(|(name, _)| name.to_owned())
        {
            self.at += name.len() + "${}".len();
            let node = self.builder.add(NodeKind::Unknown(Why::Variable(name.into())), self.span(from));
            self.blank();
            return Ok(node);
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_.+-".contains(c)).unwrap_or(rest.len());
        if end == 0 {
            return Err("a value");
        }
        self.at += end;
        let (written, span) = (self.text[from..self.at].to_owned(), self.span(from));
        let plain = |text: &str| NodeKind::Scalar { text: Traced::opaque(text, span), plain: true };
        let node = match written.as_str() {
            "True" | "t" => self.builder.add(plain("true"), span),
            "False" | "f" => self.builder.add(plain("false"), span),
            // Numbers may say that they are of single precision.
            word if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') && word.ends_with(['f', 'F']) => {
                self.builder.add(plain(&word[..word.len() - 1]), span)
            }
            word => self.builder.scalar(word, is_number(word) || word == "true" || word == "false", span, from),
        };
        self.blank();
        Ok(node)
    }

    /// A string; those that follow each other are one.
    fn string(&mut self) -> Read<NodeId> {
        let (from, mut parts, mut decoded) = (self.at, 0, String::new());
        let (mut inner, mut end) = (from + 1, from);
        while let Some(quote) = self.rest().chars().next().filter(|c| matches!(c, '"' | '\'')) {
            inner = self.at + 1;
            let mut escaped = false;
            let closes = |(_, c): &(usize, char)| {
                let closes = !escaped && *c == quote;
                escaped = !escaped && *c == '\\';
                closes || *c == '\n'
            };
            let close = self.text[inner..].char_indices().find(closes).filter(|(_, c)| *c == quote);
            let Some((length, _)) = close else { return Err("a closing quote") };
            decoded += &unescaped(&self.text[inner..inner + length]);
            self.at = inner + length + 1;
            end = self.at;
            parts += 1;
            self.blank();
        }
        let span = Span::new(self.source, from..end);
        Ok(match parts == 1 && self.text[inner..].starts_with(&decoded) {
            true => self.builder.scalar(&decoded, false, span, inner),
            false => self.builder.add(NodeKind::Scalar { text: Traced::opaque(decoded, span), plain: false }, span),
        })
    }
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok() && word.contains(|c: char| c.is_ascii_digit())
}

/// A string without its escapes, as far as they are of one letter.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            (c, false) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "# a model\nname: \"llama\" # the directory\nmax_batch_size: 8\ninput [\n  { name: 'ids', data_type: TYPE_INT32 dims: [ -1, 2 ] },\n  { name: \"len\" }\n]\n\
                          instance_group { kind: KIND_GPU; gpus: 0 gpus: [1, 2] }\nparameters: { key: \"a\" value: { string_value: \"x\" \"y\\n\" } }\nok: True\n";

    #[test]
    fn fields_are_read_with_their_places() {
        let tree = parse(SourceId(0), CONFIG);
        assert!(tree.problems.is_empty(), "{:?}", tree.problems);
        let root = tree.roots().next().unwrap();
        assert_eq!(root.scalar_at("name"), Some("llama"));
        assert_eq!(&CONFIG[root.get("name").unwrap().span().range()], "\"llama\"");
        assert_eq!(root.get("input").unwrap().items().count(), 2);
        assert_eq!(root.path("instance_group.gpus").unwrap().items().count(), 3, "a field that stands twice is a list");
        assert_eq!(root.scalar_at("instance_group.kind"), Some("KIND_GPU"));
        assert_eq!(root.scalar_at("parameters.value.string_value"), Some("xy\n"));
        assert_eq!(root.get("ok").unwrap().as_bool(), Some(true));
        assert_eq!(root.get("max_batch_size").unwrap().as_int(), Some(8));
        assert_eq!(tree.comments.len(), 2);
    }

    #[test]
    fn what_is_broken_is_told_where_it_breaks() {
        for (text, at) in
            [("name \"x\"", 5), ("a { b: 1", 8), ("a: [1 2]", 6), ("a: 'x\n'", 3), ("a: }", 3), ("= 1", 0)]
        {
            let tree = parse(SourceId(0), text);
            let start = tree.problems.first().map(|problem| problem.span.start as usize);
            assert!(start.is_some_and(|start| start.abs_diff(at) <= 1), "{text}: {:?}", tree.problems);
        }
        let deep = "a{".repeat(100_000);
        assert_eq!(parse(SourceId(0), &deep).problems.len(), 1);
    }
}
