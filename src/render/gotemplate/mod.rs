//! Go templates with the functions that Helm gives them: values in, text out, of which every byte leads back to what
//! was written. Knows the language; knows no chart.

mod calls;
mod doubt;
mod eval;
mod functions;
mod print;
#[cfg(test)]
mod tests;

pub use doubt::Doubts;

use super::text::{Origin, Text};
use super::value::Value;
use crate::budget::Share;
use crate::parse::gotemplate::{self, Node};
use crate::source::{SourceId, Span};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Why a template was not rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderError {
    /// The expression.
    pub span: Span,
    /// What is wrong with it, as a sentence without a full stop.
    pub message: String,
    /// Whether Helm renders it.
    pub ours: bool,
}

/// Where nodes point into.
#[derive(Debug)]
struct Source {
    text: Text,
    /// Stands for what has no place of its own.
    whole: Span,
}

impl Source {
    fn span(&self, at: &std::ops::Range<usize>) -> Span {
        self.text.place_of(at.clone()).unwrap_or(self.whole)
    }
}

/// A template.
#[derive(Debug)]
struct Body {
    nodes: Vec<Node>,
    source: Rc<Source>,
}

/// Templates by name.
type Named = BTreeMap<Rc<str>, Rc<Body>>;

/// The templates of a chart and its subcharts, which see each other.
#[derive(Debug, Default)]
pub struct Templates {
    named: Rc<Named>,
    /// The files that hold templates.
    files: Rc<BTreeSet<SourceId>>,
    noticed: Rc<RefCell<Noticed>>,
}

/// What rendering shows beside the text.
#[derive(Debug, Clone, Default)]
pub struct Noticed {
    /// Numbers that lost their fraction, each with the expression that made a whole number of it.
    pub cut: BTreeSet<(Span, Span)>,
    /// Mappings that stand as Go prints them, each with the expression that puts it there.
    pub printed: BTreeSet<Span>,
    /// Why the templates refuse the values, in their first words: `fail`, or something required that is not given.
    pub refused: Option<String>,
    /// APIs that were asked for and that only what is installed beside Kubernetes would serve.
    pub apis: BTreeSet<String>,
    /// Expressions that would bring in templates of which nothing is known.
    pub hidden: BTreeSet<Span>,
    /// Expressions that Helm evaluates and that are not understood here, each with what is not.
    pub missed: BTreeMap<Span, String>,
}

impl Templates {
    /// Reads templates: their names (paths below the topmost chart, its name first), files and texts. Of definitions
    /// with the same name, that of the shallowest path holds, then that of the first.
    pub fn parse(files: &[(String, SourceId, &str)]) -> (Templates, Vec<RenderError>) {
        let mut files: Vec<_> = files.iter().collect();
        files.sort_by_key(|(name, ..)| Reverse((name.matches('/').count(), name)));
        let (mut named, mut problems) = (Named::new(), Vec::new());
        for (name, id, text) in files {
            let whole = Span::new(*id, 0..text.len());
            let origin = Origin { verbatim: true, ..Origin::whole(Some(whole)) };
            let source = Source { text: Text::of(*text, origin), whole };
            match read(source) {
                Ok((template, source)) => {
                    template.defined.into_iter().for_each(|(name, nodes)| add(&mut named, &name, nodes, &source));
                    add(&mut named, name, template.body, &source);
                }
                Err(problem) => problems.push(problem),
            }
        }
        let files = named.values().map(|body| body.source.whole.source).collect();
        (Templates { named: Rc::new(named), files: Rc::new(files), noticed: Rc::default() }, problems)
    }

    /// Whether there is such a template.
    pub fn has(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// What was noticed in what was rendered so far.
    pub fn noticed(&self) -> Noticed {
        self.noticed.borrow().clone()
    }

    /// What a template writes when `.` is `dot`. Conditions on what is not known turn out as `doubts` tells.
    ///
    /// # Errors
    /// Whatever stops Helm, and a share that is spent.
    pub fn render(&self, name: &str, dot: &Value, doubts: &Doubts, share: &Share) -> Result<Text, RenderError> {
        eval::render(self, name, dot, (doubts, share))
    }
}

/// Reads a text.
fn read(source: Source) -> Result<(gotemplate::Template, Rc<Source>), RenderError> {
    match gotemplate::parse(source.text.as_str()) {
        Ok(template) => Ok((template, Rc::new(source))),
        Err(fault) => Err(RenderError { span: source.span(&fault.at), message: fault.message, ours: fault.ours }),
    }
}

/// Adds a template, unless it is blank and would replace one.
fn add(named: &mut Named, name: &str, nodes: Vec<Node>, source: &Rc<Source>) {
    let blank = |node: &Node| matches!(node, Node::Text(at) if source.text.as_str()[at.clone()].trim().is_empty());
    if !nodes.iter().all(blank) || !named.contains_key(name) {
        named.insert(name.into(), Rc::new(Body { nodes, source: Rc::clone(source) }));
    }
}
