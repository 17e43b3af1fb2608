//! Terraform's language: HCL files into blocks over a common tree, with values evaluated where the files of
//! one module decide them. Knows the syntax, `variable`, `locals` and Terraform's functions; knows no
//! resource type.
//!
//! - A value that is not known is [`NodeKind::Unknown`]. [`Why::Remote`] holds a reference as it is written
//!   (`aws_launch_template.gpu.id`), so that blocks can be joined by it: see [`reference`].
//! - A node has the span of its value as written, be it in a default, a `.tfvars` line or the argument of a call;
//!   [`Uses`] tells the expressions that use it from elsewhere.
//! - A template with unknown parts is a scalar in which those parts stand as written (`${aws_x.y.id}`).
//! - Encodings are transparent: `jsonencode`, `yamlencode`, `base64encode` and `base64gzip` give what they encode.

mod cut;
mod emit;
mod eval;
mod functions;
mod module;
mod rope;
mod template;
#[cfg(test)]
mod tests;
mod value;
mod workspace;

pub use emit::Uses;
pub use workspace::{Evaluated, ModuleFile, Workspace};

use super::{Node, NodeId, NodeKind, Problem, Tree};
use crate::known::{Known, Why};
use crate::source::{SourceId, Span};
use hcl_edit::structure::Body;
use std::sync::Arc;

/// A parsed file, before evaluation.
#[derive(Debug)]
pub struct Hcl {
    /// The file.
    pub source: SourceId,
    /// Comments, with their signs and without the line end.
    pub comments: Vec<Span>,
    /// What could not be parsed; the other top-level blocks are kept.
    pub problems: Vec<Problem>,
    text: Box<str>,
    parts: Vec<Part>,
}

/// Text that parsed on its own, and where it starts.
#[derive(Debug)]
struct Part {
    base: usize,
    body: Body,
}

/// A top-level block of a module, evaluated.
#[derive(Debug, Clone)]
pub struct Block {
    /// `resource`, `module`, `provider`, …
    pub keyword: String,
    /// The keyword as written.
    pub keyword_span: Span,
    /// Labels, without their quotes, with the span of their text.
    pub labels: Vec<(String, Span)>,
    /// The tree of the file.
    pub tree: Arc<Tree>,
    /// The body, a mapping in `tree`: attributes, and a sequence of mappings for each type of nested block.
    pub body: NodeId,
    /// How many instances this block stands for: those of `count` or of an unknown `for_each`, 1 otherwise (a known
    /// `for_each` gives a block an instance). 0 is a block that is not there.
    pub count: Known<i64>,
    /// The key of the instance, for a block with a known `for_each`.
    pub instance: Option<String>,
    /// Address of the module that the block stands in, empty for a root: `module.pools["gpu"]`.
    pub module: String,
}

impl Block {
    /// The body.
    pub fn body(&self) -> Node<'_> {
        self.tree.node(self.body)
    }

    /// The text of a label.
    pub fn label(&self, index: usize) -> Option<&str> {
        self.labels.get(index).map(|(text, _)| text.as_str())
    }
}

/// The reference that a node is, when it is nothing else: `aws_launch_template.gpu.id`.
pub fn reference<'t>(node: Node<'t>) -> Option<&'t str> {
    match node.kind() {
        NodeKind::Unknown(Why::Remote(reference)) => Some(reference),
        _ => None,
    }
}

/// Parses a `.tf` or `.tfvars` file. A syntax error costs the top-level block it stands in, no more.
pub fn parse(source: SourceId, text: &str) -> Hcl {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let scan = cut::scan(&text[start..]);
    let span = |r: std::ops::Range<usize>| Span::new(source, r.start + start..r.end + start);
    let comments = scan.comments.iter().cloned().map(span).collect();
    let mut hcl = Hcl { source, comments, problems: vec![], text: text.into(), parts: vec![] };
    match text[start..].parse() {
        Ok(body) => hcl.parts.push(Part { base: start, body }),
        Err(_) => {
            // hcl-edit minds line ends where the language does not, and what matters is only where things stand.
            let blanked = format!("{}{}", &text[..start], scan.blanked(&text[start..]));
            let mut from = start;
            for cut in scan.cuts.into_iter().map(|cut| cut + start).chain([text.len()]) {
                hcl.part(&blanked[..cut], from);
                from = cut;
            }
        }
    }
    hcl
}

impl Hcl {
    fn part(&mut self, text: &str, from: usize) {
        let text = &text[from..];
        if text.trim().is_empty() {
            return;
        }
        match text.parse::<Body>() {
            Ok(body) => self.parts.push(Part { base: from, body }),
            Err(error) => {
                // An error at the very end is shown at the first line: that is the block left open.
                let offset = error.location().offset().min(text.len());
                let at = if text[offset..].trim().is_empty() { text.len() - text.trim_start().len() } else { offset };
                let line = text[at..].lines().next().unwrap_or("").trim_end();
                let len =
                    if line.is_empty() { text[at..].chars().next().map_or(0, char::len_utf8) } else { line.len() };
                let span = Span::new(self.source, from + at..from + at + len);
                self.problems.push(Problem { span, message: error.message().trim_end_matches('.').to_owned() });
            }
        }
    }

    fn places(&self) -> impl Iterator<Item = (eval::Place<'_>, &Body)> {
        self.parts
            .iter()
            .map(|part| (eval::Place { source: self.source, text: &self.text, base: part.base }, &part.body))
    }
}
