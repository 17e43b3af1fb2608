//! TOML text into a [`Tree`]. The only module that knows the TOML parser underneath.

use super::{Builder, Dialect, Entry, NodeId, NodeKind, Problem, Tree};
use crate::known::Why;
use crate::source::{SourceId, Span, Traced};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a TOML text: one document, the top table. What stands on a broken line is left out with a problem.
pub fn parse(source: SourceId, text: &str) -> Tree {
    let mut reader = Reader { text, source, builder: Builder::new(source, Dialect::Typed), strings: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        reader.problem(error.span().unwrap_or(0..0), error.message());
    }
    let root = reader.table(table.get_ref(), table.span());
    reader.builder.tree().documents.push(root);
    reader.comments();
    reader.builder.finish()
}

struct Reader<'t> {
    text: &'t str,
    source: SourceId,
    builder: Builder,
    /// Where strings and quoted keys stand: a `#` in them starts no comment.
    strings: Vec<Range<usize>>,
}

impl<'t> Reader<'t> {
    /// `near` is where the value would stand if it could be read.
    fn value(&mut self, value: &Spanned<DeValue<'_>>, near: usize) -> NodeId {
        let range = value.span();
        match value.get_ref() {
            DeValue::Table(table) => self.table(table, range),
            DeValue::Array(items) => {
                let ids: Vec<NodeId> = items.iter().map(|item| self.value(item, range.start)).collect();
                self.container(NodeKind::Seq(ids.clone()), range, &ids)
            }
            // The parser puts a zero where it could not read a value.
            _ if range.is_empty() => {
                let span = Span::new(self.source, near..near);
                self.builder.add(NodeKind::Unknown(Why::Malformed("".into())), span)
            }
            DeValue::String(text) => self.string(text, range),
            // Dates are text to us.
            DeValue::Datetime(_) => {
                let written = self.written(&range);
                self.scalar(written, false, range)
            }
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {
                let digits = self.written(&range).replace('_', "");
                self.scalar(&digits, true, range)
            }
        }
    }

    fn table(&mut self, table: &DeTable<'_>, range: Range<usize>) -> NodeId {
        // The parser sorts by name; readers expect the order of the file.
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entries: Vec<Entry> = entries
            .into_iter()
            .map(|(key, value)| Entry {
                key: self.string(key.get_ref(), key.span()),
                value: self.value(value, key.span().end),
            })
            .collect();
        let children: Vec<NodeId> = entries.iter().flat_map(|e| [e.key, e.value]).collect();
        self.container(NodeKind::Map(entries), range, &children)
    }

    /// A container reaches from its own text (a header, brackets) to its last descendant.
    fn container(&mut self, kind: NodeKind, range: Range<usize>, children: &[NodeId]) -> NodeId {
        let own = (!range.is_empty()).then(|| Span::new(self.source, range));
        let spans = children.iter().map(|&id| self.builder.tree().node(id).span());
        let span = own.into_iter().chain(spans).reduce(Span::to).unwrap_or(Span::new(self.source, 0..0));
        self.builder.add(kind, span)
    }

    fn string(&mut self, value: &str, range: Range<usize>) -> NodeId {
        if self.written(&range).starts_with(['"', '\'']) {
            self.strings.push(range.clone());
        }
        self.scalar(value, false, range)
    }

    fn scalar(&mut self, value: &str, plain: bool, range: Range<usize>) -> NodeId {
        let written = self.written(&range);
        let span = Span::new(self.source, range.clone());
        let content = opening(written);
        let text = if written[content..].starts_with(value) {
            Traced::verbatim(value, span, range.start + content)
        } else {
            Traced::opaque(value, span)
        };
        self.builder.add(NodeKind::Scalar { text, plain }, span)
    }

    fn written(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or("")
    }

    fn comments(&mut self) {
        self.strings.sort_by_key(|s| s.start);
        let mut from = 0;
        while let Some(at) = self.text[from..].find('#').map(|at| from + at) {
            let before = self.strings.partition_point(|s| s.start <= at).checked_sub(1);
            if let Some(string) = before.map(|i| &self.strings[i]).filter(|s| s.end > at) {
                from = string.end;
                continue;
            }
            let line = self.text[at..].lines().next().unwrap_or("");
            from = at + line.len();
            let span = Span::new(self.source, at..from);
            self.builder.tree().comments.push(span);
        }
    }

    fn problem(&mut self, range: Range<usize>, message: &str) {
        let span = Span::new(self.source, super::visible(self.text, range));
        self.builder.tree().problems.push(Problem { span, message: format!("not valid TOML: {message}") });
    }
}

/// Where the content of a string starts: after the quotes and, with three of them, a line end.
fn opening(written: &str) -> usize {
    match written.strip_prefix("\"\"\"").or_else(|| written.strip_prefix("'''")) {
        Some(rest) => 3 + rest.len() - rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(rest).len(),
        None => usize::from(written.starts_with(['"', '\''])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::scalar::Scalar;
    use crate::parse::{Node, Shape};

    fn slice(text: &str, span: Span) -> &str {
        &text[span.range()]
    }

    #[test]
    fn spans_slice_to_what_was_written() {
        let text = "\u{feff}[project] # a \"note\"\nname = \"é#\" # next\nrequires = [\"torch==2.8.0\", 'vllm']\n\
                    [[tool.uv.index]]\nurl = \"\"\"\nhttps://x\"\"\"\nfirst.deep = 1_000\n";
        let tree = parse(SourceId(0), text);
        assert!(tree.problems.is_empty(), "{:?}", tree.problems);
        let root = tree.roots().next().expect("a document");
        let requires: Vec<_> = root.path("project.requires").expect("a list").items().collect();
        assert_eq!(slice(text, requires[0].span()), "\"torch==2.8.0\"");
        assert_eq!(slice(text, requires[0].traced().expect("text").span(7..12)), "2.8.0");
        assert_eq!(slice(text, root.path("project").expect("a table").span()).lines().count(), 3);
        let index = root.path("tool.uv.index").and_then(|i| i.items().next()).expect("an index");
        assert_eq!(slice(text, index.get("url").and_then(Node::traced).expect("text").span(0..5)), "https");
        assert_eq!(index.path("first.deep").and_then(Node::scalar), Some(Scalar::Int(1000)));
        let comments: Vec<_> = tree.comments.iter().map(|&c| slice(text, c)).collect();
        assert_eq!(comments, ["# a \"note\"", "# next"]);
    }

    #[test]
    fn types_are_those_of_the_syntax() {
        let text = "a = \"1\"\nb = 0x10\nc = 1.5\nd = true\ne = 2026-01-02\nf = \"x\\ty\"\n";
        let tree = parse(SourceId(0), text);
        let root = tree.roots().next().expect("a document");
        let values: Vec<_> = root.entries().iter().filter_map(|(_, v)| v.scalar()).collect();
        let text = Scalar::Str;
        assert_eq!(
            values,
            [text("1"), Scalar::Int(16), Scalar::Float(1.5), Scalar::Bool(true), text("2026-01-02"), text("x\ty")]
        );
    }

    #[test]
    fn a_broken_line_loses_only_itself() {
        let text = "a = 1\nb = = 2\nc = 3\n[d\n";
        let tree = parse(SourceId(0), text);
        let root = tree.roots().next().expect("a document");
        assert_eq!(root.get("a").and_then(Node::as_int), Some(1));
        assert!(matches!(root.get("b").expect("b").kind(), Shape::Unknown(_)));
        assert_eq!(root.get("c").and_then(Node::as_int), Some(3));
        assert!(tree.problems.iter().all(|p| !slice(text, p.span).trim().is_empty()), "{:?}", tree.problems);
        assert!(tree.problems.len() >= 2);
    }

    #[test]
    fn hostile_input_ends_with_a_problem() {
        for text in [format!("a = {}", "[".repeat(200_000)), format!("{}a = 1", "a.".repeat(200_000))] {
            assert!(!parse(SourceId(0), &text).problems.is_empty());
        }
    }
}
