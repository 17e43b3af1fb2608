//! Syntaxes: text in, a spanned [`Tree`] out, with comments, and problems instead of failure.
//! Knows bytes and grammars; knows neither Kubernetes nor GPUs.

pub mod dockerfile;
mod dotted;
pub mod expression;
pub mod gotemplate;
pub mod hcl;
pub mod make;
pub mod markers;
pub mod mask;
mod merge;
pub mod nginx;
pub mod pbtxt;
pub mod requirements;
pub mod scalar;
pub mod shell;
pub mod slurm_conf;
pub mod toml;
mod tree;
mod view;
pub mod wheel;
pub mod yaml;

pub use dotted::laid_over;
pub use merge::{merged, overlaid};
pub use tree::{Builder, DEEPEST, Dialect, Entry, INTERPOLATED, Node, NodeId, NodeKind, Problem, Shape, Tree};
pub use view::{Missing, Open, Raw, View};

use crate::known::Why;

/// The place of an error, moved onto a character that can be seen: errors are noticed at the end of a line or of
/// the file.
fn visible(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    if text.get(range.clone()).is_some_and(|t| !t.trim().is_empty()) {
        return range;
    }
    let at = (0..=range.start.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let line = text[at..].split('\n').next().unwrap_or("");
    let (start, c) = match line.char_indices().find(|(_, c)| !c.is_whitespace()) {
        Some((ahead, c)) => (at + ahead, Some(c)),
        None => {
            let before = text[..at].trim_end();
            let last = before.chars().next_back();
            (before.len() - last.map_or(0, char::len_utf8), last)
        }
    };
    start..start + c.map_or(0, char::len_utf8)
}

/// Whether a scalar is a placeholder rather than a value, and of which sort: `{{ … }}`, `${X}`, `$X`, `$$X`,
/// `$(x)`, `<X>`, `@X@`, `__X__`, `%X%`, `REPLACE_ME`. Text that only contains a placeholder is unknown as a whole.
pub fn placeholder(text: &str) -> Option<Why> {
    let text = text.trim();
    if text.contains("{{") || text.contains("{%") {
        return Some(Why::Template);
    }
    if let Some(at) = text.find("${").or_else(|| text.find("$(")) {
        let name: String =
            text[at + 2..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '.').collect();
        return Some(if name.is_empty() { Why::Template } else { Why::Variable(name.into()) });
    }
    let name = text.trim_start_matches('$');
    if name.len() < text.len() && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Some(Why::Variable(name.into()));
    }
    let bracketed = text.starts_with('<') && text.ends_with('>') && text.len() > 2 && !text.contains("://");
    let capital = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let between = |sign| text.strip_prefix(sign).and_then(|text| text.strip_suffix(sign)).is_some_and(capital);
    let bracketed = bracketed || ["@", "__", "%"].into_iter().any(between);
    let upper = text.to_ascii_uppercase();
    let words =
        ["REPLACE_ME", "REPLACEME", "CHANGE_ME", "CHANGEME", "PLACEHOLDER", "REPLACED-BY-KUSTOMIZE", "REPLACE-ME"];
    (bracketed || words.iter().any(|w| upper.contains(w)) || upper.starts_with("YOUR_") || upper.starts_with("YOUR-"))
        .then_some(Why::Placeholder)
}

/// Why the text of a key is no name, if it is none: `{{ x }}/label`, `${NAME}`, `$NAME`, `<name>`. What begins with one
/// dollar and a small letter is a name of JSON schemas and query languages.
fn placeholder_key(text: &str) -> Option<Why> {
    let sign = ["{{", "{%", "${", "$("].iter().any(|sign| text.contains(sign));
    let variable = text.strip_prefix('$').is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    });
    let bracketed = text.starts_with('<') && text.ends_with('>') && text.len() > 2;
    if sign || variable || bracketed { placeholder(text) } else { None }
}
