//! Heredocs: their text, and the variables of the script within it.

use super::words::{Body, expansions};
use crate::source::{Span, Traced};

/// A heredoc of a script.
#[derive(Debug, Clone)]
pub struct Heredoc {
    /// Its text.
    pub text: Traced,
    /// Whether the shell puts variables into it: its delimiter has no quotes.
    pub expands: bool,
    /// How many commands stand before its text, the one that it is given to included.
    pub(super) commands: usize,
}

impl Heredoc {
    /// A heredoc of a text.
    pub(super) fn of(text: &Traced, body: &Body, commands: usize) -> Self {
        let mut parts = Vec::new();
        let mut at = body.range.start;
        for line in text.text()[body.range.clone()].split_inclusive('\n') {
            let kept = if body.strips { line.trim_start_matches('\t') } else { line };
            parts.push(at + line.len() - kept.len()..at + line.len());
            at += line.len();
        }
        let text =
            if body.strips { text.join(&parts, text.span(body.range.clone())) } else { text.slice(body.range.clone()) };
        Self { text, expands: body.expands, commands }
    }

    /// The text with what its expansions give. One that cannot be told is left as it is, in braces.
    pub(super) fn with(&self, value: &dyn Fn(&str) -> Option<String>) -> Heredoc {
        let whole = self.text.text();
        let mut parts: Vec<(Traced, Option<Span>)> = Vec::new();
        let mut at = 0;
        for range in expansions(whole) {
            let written = &whole[range.clone()];
            let place = self.text.span(range.clone());
            let open = || match written.strip_prefix('$') {
                Some(name) if !name.starts_with(['{', '(']) => format!("${{{name}}}"),
                _ => written.to_owned(),
            };
            let given = match written.strip_prefix('\\') {
                Some(plain) => plain.to_owned(),
                None => value(written).unwrap_or_else(open),
            };
            parts.push((self.text.slice(at..range.start), None));
            parts.push((Traced::opaque(given, place), Some(place)));
            at = range.end;
        }
        if parts.is_empty() {
            return self.clone();
        }
        parts.push((self.text.slice(at..whole.len()), None));
        Heredoc { text: Traced::of_parts(&parts, self.text.whole()), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::shell::parse;
    use crate::source::{SourceId, Span, Traced};

    #[test]
    fn variables_are_put_into_heredocs_that_take_them() {
        for (text, expected) in [
            (
                "A=1\ncat <<EOF\na: $A\nb: ${A}x$B ${C:-2} \\$A $(id) $1\nEOF\nA=3\n",
                "a: 1\nb: 1x${B} 2 $A $(id) ${1}\n",
            ),
            ("A=1\ncat <<'EOF'\na: $A\nEOF\n", "a: $A\n"),
            ("A=1\ncat <<-EOF >x\n\t\ta: $A\n\tEOF\n", "a: 1\n"),
            ("if x; then A=1; fi\ncat <<EOF\na: $A\nEOF\n", "a: ${A}\n"),
        ] {
            let script = parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0));
            let resolved = script.resolved(&|_| None);
            assert_eq!(resolved.heredocs[0].text.text(), expected, "{text}");
        }
        let text = "A=1\ncat <<EOF\na: $A, b: c\nEOF\n";
        let script = parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0)).resolved(&|_| None);
        let body = &script.heredocs[0].text;
        assert_eq!(&text[body.span(3..4).range()], "$A");
        assert_eq!(&text[body.span(6..7).range()], "b");
    }
}
