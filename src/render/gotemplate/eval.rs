//! The evaluator: nodes and values into text. Knows the language; asks `functions` for everything that has a name.

use super::{Body, Doubts, Named, Noticed, RenderError, Source, Templates, print};
use crate::budget::{NODE, STEP, Share, Spent};
use crate::parse::gotemplate::{Branch, Choice, Command, Expr, ExprKind, Node, Pipe};
use crate::render::text::Text;
use crate::render::value::{Data, Value};
use crate::source::{SourceId, Span};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// What Go writes for nothing, and Helm takes out of the output.
const NO_VALUE: &str = "<no value>";

/// Most blocks, templates and parentheses within each other.
const MAX_DEPTH: usize = 200;

pub(super) type Outcome<T> = Result<T, RenderError>;

/// Renders a template.
pub(super) fn render(
    templates: &Templates,
    name: &str,
    dot: &Value,
    (doubts, share): (&Doubts, &Share),
) -> Outcome<Text> {
    let Some(body) = templates.named.get(name).cloned() else {
        let nowhere = Span::new(crate::source::SourceId(0), 0..0);
        return Err(RenderError { span: nowhere, message: format!("no template {name:?}"), ours: true });
    };
    let (named, noticed) = (Rc::clone(&templates.named), Rc::clone(&templates.noticed));
    let way = name.bytes().fold(0, |way, byte| further(way, byte.into()));
    let mut run = Run { named, templates: Rc::clone(&templates.files), share, doubts, depth: 0, way, noticed };
    run.template(&body, dot).map(|text| without_no_value(&text))
}

pub(super) fn without_no_value(text: &Text) -> Text {
    let mut out = Text::new();
    let mut at = 0;
    while let Some(found) = text.as_str()[at..].find(NO_VALUE) {
        out.push_slice(text, at..at + found);
        at += found + NO_VALUE.len();
    }
    if at == 0 {
        return text.clone();
    }
    out.push_slice(text, at..text.len());
    out
}

/// A step on the way to a condition: a call, or a round of a loop.
fn further(way: u64, step: u64) -> u64 {
    (way ^ step.wrapping_add(1)).wrapping_mul(0x0100_0000_01b3)
}

/// The step that a call at a place is.
pub(super) fn step(place: Span) -> u64 {
    u64::from(place.source.0) << 32 | u64::from(place.start)
}

/// How a list of nodes ended.
enum Flow {
    Next,
    Break,
    Continue,
}

/// What stands after a function: operands, and the value that is piped into it.
pub(super) struct Given<'e> {
    pub operands: &'e [Expr],
    pub last: Option<Value>,
}

pub(super) struct Run<'r> {
    pub named: Rc<Named>,
    /// The files that hold templates.
    templates: Rc<BTreeSet<SourceId>>,
    pub share: &'r Share,
    pub doubts: &'r Doubts,
    depth: usize,
    /// By which calls and rounds what is executed was reached.
    way: u64,
    pub noticed: Rc<RefCell<Noticed>>,
}

/// One execution of a template.
pub(super) struct Frame {
    pub source: Rc<Source>,
    variables: Vec<(String, Value)>,
}

impl Frame {
    pub fn error<T>(&self, at: &Range<usize>, message: impl Into<String>) -> Outcome<T> {
        Err(RenderError { span: self.source.span(at), message: message.into(), ours: false })
    }
}

impl Run<'_> {
    pub fn template(&mut self, body: &Body, dot: &Value) -> Outcome<Text> {
        let mut out = Text::new();
        self.execute(body, dot, &mut out)?;
        Ok(out)
    }

    fn execute(&mut self, body: &Body, dot: &Value, out: &mut Text) -> Outcome<()> {
        let mut frame = Frame { source: Rc::clone(&body.source), variables: vec![(String::new(), dot.clone())] };
        self.walk(&mut frame, &body.nodes, dot, out).map(|_| ())
    }

    pub fn work(&self, frame: &Frame, at: &Range<usize>, bytes: usize) -> Outcome<()> {
        self.share.work(bytes).or_else(|spent| frame.error(at, spent.to_string()))
    }

    pub fn make(&self, frame: &Frame, at: &Range<usize>, bytes: usize) -> Outcome<()> {
        self.share.make(bytes).or_else(|spent| frame.error(at, spent.to_string()))
    }

    pub fn deeper<T>(
        &mut self,
        frame: &mut Frame,
        at: &Range<usize>,
        inner: impl FnOnce(&mut Self, &mut Frame) -> Outcome<T>,
    ) -> Outcome<T> {
        if self.depth == MAX_DEPTH {
            self.share.fail(Spent::Deep);
            return frame.error(at, "templates are nested too deeply");
        }
        self.depth += 1;
        let out = inner(self, frame);
        self.depth -= 1;
        out
    }

    fn walk(&mut self, frame: &mut Frame, nodes: &[Node], dot: &Value, out: &mut Text) -> Outcome<Flow> {
        for node in nodes {
            match node {
                Node::Text(at) => {
                    self.make(frame, at, STEP + at.len())?;
                    let source = Rc::clone(&frame.source);
                    out.push_slice(&source.text, at.clone());
                }
                Node::Action(pipe) => {
                    let value = self.pipe(frame, dot, pipe)?;
                    if pipe.variables.is_empty() {
                        let expression = frame.source.span(&pipe.at);
                        if matches!(&value.data, Data::Map(map) if !map.is_empty() && !map.class().is_struct()) {
                            self.printed(out, expression);
                        }
                        let text = match &value.data {
                            Data::Nil => Rc::new(Text::plain(NO_VALUE)),
                            Data::Str(text) => Rc::clone(text),
                            _ => Rc::new(print::text(&value, self.share)),
                        };
                        self.make(frame, &pipe.at, text.size())?;
                        self.emit(&text, expression, out);
                    }
                }
                Node::If(choice) | Node::With(choice) => {
                    let flow = self.choice(frame, choice, (dot, matches!(node, Node::With(_))), out)?;
                    if !matches!(flow, Flow::Next) {
                        return Ok(flow);
                    }
                }
                Node::Range(branch) => {
                    let flow = self.range(frame, branch, dot, out)?;
                    if !matches!(flow, Flow::Next) {
                        return Ok(flow);
                    }
                }
                Node::Template { name, pipe, at } => {
                    let value = match pipe {
                        Some(pipe) => self.pipe(frame, dot, pipe)?,
                        None => Value::NIL,
                    };
                    let Some(body) = self.named.get(name.as_str()).cloned() else {
                        return frame.error(at, format!("template {name:?} not defined"));
                    };
                    let text = self.called(frame, at, &body, &value)?;
                    self.make(frame, at, text.size())?;
                    self.emit(&text, frame.source.span(at), out);
                }
                Node::Break => return Ok(Flow::Break),
                Node::Continue => return Ok(Flow::Continue),
            }
        }
        Ok(Flow::Next)
    }

    /// The nodes of the first condition that holds. `with` makes its value their dot.
    fn choice(
        &mut self,
        frame: &mut Frame,
        choice: &Choice,
        (dot, with): (&Value, bool),
        out: &mut Text,
    ) -> Outcome<Flow> {
        let scope = frame.variables.len();
        let mut chosen = (&choice.otherwise, dot.clone());
        for (pipe, body) in &choice.arms {
            let value = self.pipe(frame, dot, pipe)?;
            if self.holds(frame, &pipe.at, &value)? {
                chosen = (body, if with { value } else { dot.clone() });
                break;
            }
        }
        let (nodes, dot) = chosen;
        let at = &choice.arms[0].0.at;
        let flow = self.deeper(frame, at, |run, frame| run.walk(frame, nodes, &dot, out))?;
        frame.variables.truncate(scope);
        Ok(flow)
    }

    /// Whether a condition holds, in this turn where it is not known.
    pub fn holds(&self, frame: &Frame, at: &Range<usize>, value: &Value) -> Outcome<bool> {
        self.make(frame, at, NODE)?;
        let key = (frame.source.span(at), self.way);
        let nothing_known = match &value.data {
            Data::Unknown(_) => true,
            Data::Str(text) => !text.is_empty() && text.parts(0..text.len()).all(|(_, origin)| origin.unknown),
            _ => false,
        };
        if nothing_known {
            return Ok(self.doubts.decide(key));
        }
        self.doubts.known(key, value.is_true());
        Ok(value.is_true())
    }

    /// What is executed further on the way: in a call, or in a round of a loop.
    pub fn further<T>(&mut self, step: u64, inner: impl FnOnce(&mut Self) -> T) -> T {
        let way = self.way;
        self.way = further(way, step);
        let out = inner(self);
        self.way = way;
        out
    }

    /// A template that is called at a place.
    pub fn called(&mut self, frame: &mut Frame, at: &Range<usize>, body: &Body, dot: &Value) -> Outcome<Text> {
        self.further(step(frame.source.span(at)), |run| run.deeper(frame, at, |run, _| run.template(body, dot)))
    }

    /// Takes note of a mapping that is put where text stands, as Go prints it; in a comment it does no harm.
    fn printed(&self, before: &Text, expression: Span) {
        let line = before.as_str().rsplit('\n').next().unwrap_or_default();
        if !line.trim_start().starts_with('#') {
            self.noticed.borrow_mut().printed.insert(expression);
        }
    }

    fn emit(&self, text: &Text, expression: Span, out: &mut Text) {
        out.emit(text, expression, |from| self.templates.contains(&from.source));
    }

    fn range(&mut self, frame: &mut Frame, branch: &Branch, dot: &Value, out: &mut Text) -> Outcome<Flow> {
        let scope = frame.variables.len();
        let at = &branch.pipe.at;
        let value = self.pipe(frame, dot, &branch.pipe)?;
        let mut items: Box<dyn Iterator<Item = (Value, Value)>> = match &value.data {
            Data::Nil => Box::new(std::iter::empty()),
            Data::List(items) => Box::new(items.iter().enumerate().map(|(i, v)| (Value::from(i as i64), v.clone()))),
            Data::Versions(versions) => {
                self.doubts.cluster().set(true);
                let version = |(i, version): (usize, &String)| (Value::from(i as i64), Value::from(version.as_str()));
                Box::new(versions.iter().enumerate().map(version))
            }
            Data::Bytes(text) => {
                let byte = |(i, byte): (usize, u8)| (Value::from(i as i64), Value::from(i64::from(byte)));
                Box::new(text.as_str().bytes().enumerate().map(byte))
            }
            Data::Map(map) if !map.class().is_struct() => {
                self.make(frame, at, map.len() * NODE)?;
                let entries = map.entries().into_iter();
                Box::new(entries.map(|(key, entry)| (Value::from(key).at(entry.key), entry.value)))
            }
            Data::Files(files) => {
                let file = |(path, text): (&String, &Rc<Text>)| {
                    (Value::from(path.as_str()), Value { origin: text.place(), data: Data::Bytes(Rc::clone(text)) })
                };
                Box::new(files.iter().map(file))
            }
            Data::Int(count, _) => Box::new((0..*count).map(|i| (Value::from(i), Value::from(i)))),
            // How often something unknown is repeated is not known: not at all, or once.
            Data::Unknown(_) => {
                let once = self.holds(frame, at, &value)?;
                Box::new(once.then(|| (value.clone(), value.clone())).into_iter())
            }
            _ => {
                return frame
                    .error(at, format!("range can't iterate over {}", print::text(&value, self.share).as_str()));
            }
        };
        let mut first = items.next();
        let otherwise = if first.is_none() { &branch.otherwise[..] } else { &[] };
        let (mut end, mut round) = (Flow::Next, 0);
        while let Some((key, item)) = first.take().or_else(|| items.next()) {
            self.work(frame, at, STEP)?;
            frame.variables.truncate(scope);
            let values: &[&Value] = if branch.pipe.variables.len() == 1 { &[&item] } else { &[&key, &item] };
            for (name, value) in branch.pipe.variables.iter().zip(values) {
                if branch.pipe.assigns {
                    assign(frame, name, (*value).clone());
                } else {
                    frame.variables.push((name.clone(), (*value).clone()));
                }
            }
            round += 1;
            match self
                .further(round, |run| run.deeper(frame, at, |run, frame| run.walk(frame, &branch.body, &item, out)))?
            {
                Flow::Break => break,
                Flow::Next | Flow::Continue => {}
            }
        }
        if !otherwise.is_empty() {
            end = self.deeper(frame, at, |run, frame| run.walk(frame, otherwise, dot, out))?;
        }
        frame.variables.truncate(scope);
        Ok(end)
    }

    fn pipe(&mut self, frame: &mut Frame, dot: &Value, pipe: &Pipe) -> Outcome<Value> {
        let mut value = None;
        for command in &pipe.commands {
            value = Some(self.command(frame, dot, command, value)?);
        }
        let value = value.unwrap_or_default();
        // A range sets its variables itself, for each item.
        if let [name] = pipe.variables.as_slice() {
            if pipe.assigns {
                assign(frame, name, value.clone());
            } else {
                frame.variables.push((name.clone(), value.clone()));
            }
        }
        Ok(value)
    }

    fn command(&mut self, frame: &mut Frame, dot: &Value, command: &Command, last: Option<Value>) -> Outcome<Value> {
        self.work(frame, &command.at, STEP + frame.variables.len())?;
        let Some((first, operands)) = command.operands.split_first() else { return Ok(Value::NIL) };
        let (base, names) = match &first.kind {
            ExprKind::Function(name) => return self.call(frame, dot, (name, &command.at), Given { operands, last }),
            ExprKind::Field(names) => (dot.clone(), names),
            ExprKind::Variable(name, names) => (variable(frame, name), names),
            ExprKind::Chain(inner, names) => (self.operand(frame, dot, inner)?, names),
            _ => (self.operand(frame, dot, first)?, &Vec::new()),
        };
        let mut args = self.operands(frame, dot, operands)?;
        args.extend(last);
        self.fields(frame, &first.at, (base, names), &args)
    }

    pub fn operands(&mut self, frame: &mut Frame, dot: &Value, operands: &[Expr]) -> Outcome<Vec<Value>> {
        operands.iter().map(|operand| self.operand(frame, dot, operand)).collect()
    }

    pub fn operand(&mut self, frame: &mut Frame, dot: &Value, expr: &Expr) -> Outcome<Value> {
        let (base, names) = match &expr.kind {
            ExprKind::Dot => return Ok(dot.clone()),
            ExprKind::Nil => return Ok(Value::NIL),
            ExprKind::Bool(value) => return Ok((*value).into()),
            ExprKind::Int(value) => return Ok((*value).into()),
            ExprKind::Float(value) => return Ok((*value).into()),
            ExprKind::String(text) => return Ok(self.literal(frame, text, &expr.at)),
            ExprKind::Pipe(pipe) => return self.deeper(frame, &expr.at, |run, frame| run.pipe(frame, dot, pipe)),
            ExprKind::Function(name) => {
                return self.call(frame, dot, (name, &expr.at), Given { operands: &[], last: None });
            }
            ExprKind::Field(names) => (dot.clone(), names),
            ExprKind::Variable(name, names) => (variable(frame, name), names),
            ExprKind::Chain(inner, names) => (self.operand(frame, dot, inner)?, names),
        };
        self.fields(frame, &expr.at, (base, names), &[])
    }

    /// A string that stands in the template.
    fn literal(&self, frame: &Frame, text: &str, at: &Range<usize>) -> Value {
        let inner = at.start + 1..at.end.saturating_sub(1).max(at.start + 1);
        let source = &frame.source.text;
        if source.as_str().get(inner.clone()) == Some(text) {
            return source.slice(inner).into();
        }
        Text::of(text, crate::render::text::Origin::whole(Some(frame.source.span(at)))).into()
    }
}

fn variable(frame: &Frame, name: &str) -> Value {
    frame.variables.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.clone()).unwrap_or_default()
}

fn assign(frame: &mut Frame, name: &str, value: Value) {
    if let Some((_, slot)) = frame.variables.iter_mut().rev().find(|(n, _)| n == name) {
        *slot = value;
    }
}
