//! Terraform modules: the blocks of HCL files over a common tree, with values evaluated where the files of one
//! module decide them. Knows `variable`, `locals` and Terraform's functions; knows no resource type.
//!
//! - A value that is not known is [`Shape::Unknown`]. [`Why::Remote`] holds a reference as it is written
//!   (`aws_launch_template.gpu.id`), so that blocks can be joined by it: see [`reference`].
//! - A node has the span of its value as written, be it in a default, a `.tfvars` line or the argument of a call;
//!   [`Uses`] tells the expressions that use it from elsewhere.
//! - A template with unknown parts is a scalar in which those parts stand as written (`${aws_x.y.id}`).
//! - Encodings are transparent: `jsonencode`, `yamlencode`, `base64encode` and `base64gzip` give what they encode.

mod emit;
mod eval;
mod functions;
mod heredoc;
mod module;
mod rope;
mod template;
#[cfg(test)]
mod tests;
mod value;
mod workspace;

pub use emit::Uses;
pub use workspace::{Evaluated, ModuleFile, Workspace};

use crate::known::{Known, Why};
use crate::parse::{Node, NodeId, Shape, Tree};
use crate::source::Span;
use std::sync::Arc;

/// A top-level block of a module, evaluated.
#[derive(Debug, Clone)]
pub struct Block {
    /// `resource`, `module`, `provider`, …
    pub keyword: String,
    /// The keyword as written.
    pub keyword_span: Span,
    /// Labels, without their quotes, with the span of their text.
    pub labels: Vec<(String, Span)>,
    /// Whether it is written in JSON, where blocks and mappings look alike.
    pub json: bool,
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
        Shape::Unknown(Why::Remote(reference)) => Some(reference),
        _ => None,
    }
}
