//! Go's text/template syntax: text in, a tree of nodes with byte ranges out. Knows the grammar; knows no function and
//! evaluates nothing.

mod lexer;
mod parser;

#[cfg(test)]
mod tests;

pub use lexer::integer;

use std::ops::Range;

/// What is wrong with a template, and where; the first fault ends the reading, as it does in Go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Bytes of the template.
    pub at: Range<usize>,
    /// What, as a sentence without a full stop.
    pub message: String,
    /// Whether Go takes it, and it is too much for this reader alone.
    pub ours: bool,
}

/// A template and the templates that it defines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Template {
    /// Its own nodes.
    pub body: Vec<Node>,
    /// Templates that `define` and `block` name, in order; the last of a name holds.
    pub defined: Vec<(String, Vec<Node>)>,
}

/// Text, or an action.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Text that is written as it stands.
    Text(Range<usize>),
    /// A pipeline whose value is written, unless it only sets variables.
    Action(Pipe),
    /// `if`.
    If(Choice),
    /// `range`.
    Range(Branch),
    /// `with`.
    With(Choice),
    /// `template`, and the place where a `block` stands.
    Template {
        /// Name of the template.
        name: String,
        /// What it sees as its dot.
        pipe: Option<Pipe>,
        /// The action.
        at: Range<usize>,
    },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
}

/// Conditions in their order, and what stands after the last `else`.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// What is tested, and the nodes for the first value that is true; at least one.
    pub arms: Vec<(Pipe, Vec<Node>)>,
    /// Nodes where none is.
    pub otherwise: Vec<Node>,
}

/// What is walked, with its two lists of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// What is walked.
    pub pipe: Pipe,
    /// Nodes for each item.
    pub body: Vec<Node>,
    /// Nodes where there is no item.
    pub otherwise: Vec<Node>,
}

/// Commands, each of which takes the value of the one before as its last argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipe {
    /// Variables that take the value, without `$`.
    pub variables: Vec<String>,
    /// Whether the variables are there already (`=`) or are declared (`:=`).
    pub assigns: bool,
    /// The commands; at least one.
    pub commands: Vec<Command>,
    /// Bytes of the whole; of an action, braces included.
    pub at: Range<usize>,
}

/// A function or field with arguments, or a single value.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The operands; at least one.
    pub operands: Vec<Expr>,
    /// Bytes of the whole.
    pub at: Range<usize>,
}

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its bytes.
    pub at: Range<usize>,
}

/// What an operand is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `.`
    Dot,
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// A whole number, or a character by its code.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string, decoded.
    String(String),
    /// Fields of the dot: `.a.b`.
    Field(Vec<String>),
    /// A variable, without `$`, and its fields.
    Variable(String, Vec<String>),
    /// A function.
    Function(String),
    /// A pipeline in parentheses.
    Pipe(Box<Pipe>),
    /// Fields of something else.
    Chain(Box<Expr>, Vec<String>),
}

/// Reads a template.
pub fn parse(text: &str) -> Result<Template, Fault> {
    parser::template(lexer::segments(text)?)
}
