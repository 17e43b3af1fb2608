//! The evaluator: nodes and values into text. Knows the language; asks `functions` for everything that has a name.

use super::functions::{self, Call};
use super::{Body, Limits, Named, Noticed, RenderError, Source, add, print, read};
use crate::known::Why;
use crate::parse::gotemplate::{Branch, Command, Expr, ExprKind, Node, Pipe};
use crate::render::text::Text;
use crate::render::value::{Data, Value};
use crate::source::{SourceId, Span};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// What Go writes for nothing, and Helm takes out of the output.
const NO_VALUE: &str = "<no value>";

type Outcome<T> = Result<T, RenderError>;

/// Renders a template.
pub(super) fn render(
    named: Rc<Named>,
    name: &str,
    dot: &Value,
    limits: Limits,
    noticed: &Rc<RefCell<Noticed>>,
) -> Outcome<Text> {
    let Some(body) = named.get(name).cloned() else {
        let nowhere = Span::new(crate::source::SourceId(0), 0..0);
        return Err(RenderError { span: nowhere, message: format!("no template {name:?}") });
    };
    let templates = named.values().map(|body| body.source.whole.source).collect();
    let mut run = Run { named, templates, limits, steps: limits.steps, depth: 0, noticed: Rc::clone(noticed) };
    run.template(&body, dot).map(|text| without_no_value(&text))
}

fn without_no_value(text: &Text) -> Text {
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

/// Whether an API is none of Kubernetes' own: `monitoring.coreos.com/v1`, not `batch/v1` or `gateway.networking.k8s.io/v1`.
fn is_installed_beside(api: &str) -> bool {
    let group = api.split('/').next().unwrap_or(api);
    let own = ["authentication", "authorization", "networking", "storage", "scheduling", "resource", "node", "policy"];
    group.contains('.') && !group.strip_suffix(".k8s.io").is_some_and(|name| own.contains(&name))
}

/// How a list of nodes ended.
enum Flow {
    Next,
    Break,
    Continue,
}

/// What stands after a function: operands, and the value that is piped into it.
struct Given<'e> {
    operands: &'e [Expr],
    last: Option<Value>,
}

struct Run {
    named: Rc<Named>,
    /// The files that hold templates.
    templates: BTreeSet<SourceId>,
    limits: Limits,
    steps: usize,
    depth: usize,
    noticed: Rc<RefCell<Noticed>>,
}

/// One execution of a template.
struct Frame {
    source: Rc<Source>,
    variables: Vec<(String, Value)>,
}

impl Frame {
    fn error<T>(&self, at: &Range<usize>, message: impl Into<String>) -> Outcome<T> {
        Err(RenderError { span: self.source.span(at), message: message.into() })
    }
}

impl Run {
    fn template(&mut self, body: &Body, dot: &Value) -> Outcome<Text> {
        let mut out = Text::new();
        self.execute(body, dot, &mut out)?;
        Ok(out)
    }

    fn execute(&mut self, body: &Body, dot: &Value, out: &mut Text) -> Outcome<()> {
        let mut frame = Frame { source: Rc::clone(&body.source), variables: vec![(String::new(), dot.clone())] };
        self.walk(&mut frame, &body.nodes, dot, out).map(|_| ())
    }

    fn spend(&mut self, frame: &Frame, at: &Range<usize>, cost: usize) -> Outcome<()> {
        match self.steps.checked_sub(cost) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => frame.error(at, "rendering takes too many steps"),
        }
    }

    fn deeper<T>(
        &mut self,
        frame: &mut Frame,
        at: &Range<usize>,
        inner: impl FnOnce(&mut Self, &mut Frame) -> Outcome<T>,
    ) -> Outcome<T> {
        if self.depth == self.limits.depth {
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
                    self.spend(frame, at, 1)?;
                    let source = Rc::clone(&frame.source);
                    out.push_slice(&source.text, at.clone());
                    self.bounded(frame, at, out.len())?;
                }
                Node::Action(pipe) => {
                    let value = self.pipe(frame, dot, pipe)?;
                    if pipe.variables.is_empty() {
                        let expression = frame.source.span(&pipe.at);
                        match &value.data {
                            Data::Nil => self.emit(&Text::plain(NO_VALUE), expression, out),
                            Data::Str(text) => self.emit(text, expression, out),
                            _ => self.emit(&print::text(&value), expression, out),
                        }
                        self.bounded(frame, &pipe.at, out.len())?;
                    }
                }
                Node::If(branch) | Node::With(branch) => {
                    let scope = frame.variables.len();
                    let value = self.pipe(frame, dot, &branch.pipe)?;
                    let inner = if matches!(node, Node::With(_)) { &value } else { dot };
                    let (nodes, dot) = if value.is_true() { (&branch.body, inner) } else { (&branch.otherwise, dot) };
                    let flow = self.deeper(frame, &branch.pipe.at, |run, frame| run.walk(frame, nodes, dot, out))?;
                    frame.variables.truncate(scope);
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
                    let text = self.deeper(frame, at, |run, _| run.template(&body, &value))?;
                    self.emit(&text, frame.source.span(at), out);
                    self.bounded(frame, at, out.len())?;
                }
                Node::Break => return Ok(Flow::Break),
                Node::Continue => return Ok(Flow::Continue),
            }
        }
        Ok(Flow::Next)
    }

    fn emit(&self, text: &Text, expression: Span, out: &mut Text) {
        out.emit(text, expression, |from| self.templates.contains(&from.source));
    }

    fn bounded(&self, frame: &Frame, at: &Range<usize>, bytes: usize) -> Outcome<()> {
        if bytes > self.limits.bytes { frame.error(at, "the output is too long") } else { Ok(()) }
    }

    fn range(&mut self, frame: &mut Frame, branch: &Branch, dot: &Value, out: &mut Text) -> Outcome<Flow> {
        let scope = frame.variables.len();
        let at = &branch.pipe.at;
        let value = self.pipe(frame, dot, &branch.pipe)?;
        let items: Vec<(Value, Value)> = match &value.data {
            Data::Nil => Vec::new(),
            Data::List(items) => items.iter().enumerate().map(|(i, v)| (Value::from(i as i64), v.clone())).collect(),
            Data::Map(map) => {
                let entries = map.entries().into_iter();
                entries.map(|(key, entry)| (Value::from(key).at(entry.key), entry.value)).collect()
            }
            Data::Files(files) => {
                files.iter().map(|(path, text)| (Value::from(path.as_str()), Value::from((**text).clone()))).collect()
            }
            Data::Int(count) => {
                let count = (*count).max(0) as usize;
                self.spend(frame, at, count)?;
                (0..count as i64).map(|i| (Value::from(i), Value::from(i))).collect()
            }
            // How often something unknown is repeated is not known: it is left out, with its alternative.
            Data::Unknown(_) => return Ok(Flow::Next),
            _ => return frame.error(at, format!("range can't iterate over {}", print::text(&value).as_str())),
        };
        let otherwise = if items.is_empty() { &branch.otherwise[..] } else { &[] };
        let mut end = Flow::Next;
        for (key, item) in items {
            self.spend(frame, at, 1)?;
            frame.variables.truncate(scope);
            let values: &[&Value] = if branch.pipe.variables.len() == 1 { &[&item] } else { &[&key, &item] };
            for (name, value) in branch.pipe.variables.iter().zip(values) {
                if branch.pipe.assigns {
                    assign(frame, name, (*value).clone());
                } else {
                    frame.variables.push((name.clone(), (*value).clone()));
                }
            }
            match self.deeper(frame, at, |run, frame| run.walk(frame, &branch.body, &item, out))? {
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
        self.spend(frame, &command.at, 1)?;
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

    fn operands(&mut self, frame: &mut Frame, dot: &Value, operands: &[Expr]) -> Outcome<Vec<Value>> {
        operands.iter().map(|operand| self.operand(frame, dot, operand)).collect()
    }

    fn operand(&mut self, frame: &mut Frame, dot: &Value, expr: &Expr) -> Outcome<Value> {
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

    /// The fields of a value, one within the other; the last may be a method that takes arguments.
    fn fields(
        &mut self,
        frame: &Frame,
        at: &Range<usize>,
        (mut value, names): (Value, &[String]),
        args: &[Value],
    ) -> Outcome<Value> {
        for (i, name) in names.iter().enumerate() {
            let args = if i + 1 == names.len() { args } else { &[] };
            value = match &value.data {
                Data::Unknown(_) => value,
                Data::Map(map) if args.is_empty() => map.get(name).unwrap_or_default(),
                Data::Nil => return frame.error(at, format!("nil pointer evaluating interface {{}}.{name}")),
                Data::Files(_) | Data::Versions(_) => {
                    let call = Call { name, args, at: Some(frame.source.span(at)), limit: self.limits.bytes };
                    if let (Data::Versions(versions), "Has", [Value { data: Data::Str(api), .. }]) =
                        (&value.data, &**name, args)
                        && !versions.iter().any(|version| version == api.as_str())
                        && is_installed_beside(api.as_str())
                    {
                        self.noticed.borrow_mut().apis.insert(api.as_str().to_owned());
                    }
                    functions::method(&value, &call).or_else(|message| frame.error(at, message))?
                }
                Data::Map(_) => return frame.error(at, format!("{name} is not a method but has arguments")),
                _ => return frame.error(at, format!("can't evaluate field {name} in type {}", print::type_of(&value))),
            };
        }
        if names.is_empty() && !args.is_empty() {
            return frame.error(at, "can't give argument to non-function");
        }
        Ok(value)
    }

    fn call(
        &mut self,
        frame: &mut Frame,
        dot: &Value,
        (name, at): (&str, &Range<usize>),
        given: Given<'_>,
    ) -> Outcome<Value> {
        if matches!(name, "and" | "or") {
            return self.logic(frame, dot, name == "and", given);
        }
        let mut args = self.operands(frame, dot, given.operands)?;
        args.extend(given.last);
        let value = match (name, args.as_slice()) {
            ("include", [name, dot]) => {
                let Some(found) = name.as_str().and_then(|name| self.named.get(name)).cloned() else {
                    let name = print::text(name);
                    return frame.error(at, format!("error calling include: no template {:?}", name.as_str()));
                };
                self.deeper(frame, at, |run, _| run.template(&found, dot))?.into()
            }
            ("tpl", [text, dot]) => match &text.data {
                Data::Str(source) => {
                    let source = Rc::clone(source);
                    self.deeper(frame, at, |run, frame| run.inline(frame, at, &source, dot))?
                }
                Data::Unknown(_) => text.clone(),
                _ => return frame.error(at, format!("wrong type for tpl: {}", print::type_of(text))),
            },
            _ => {
                let call = Call { name, args: &args, at: Some(frame.source.span(at)), limit: self.limits.bytes };
                if let ("int" | "int64", [Value { data: Data::Float(number), origin: Some(from) }]) = (name, &*args)
                    && number.fract() != 0.0
                {
                    self.noticed.borrow_mut().cut.insert((*from, frame.source.span(at)));
                }
                let refuses = match (name, &*args) {
                    ("fail", [message]) => Some(message),
                    ("required", [message, given]) if given.is_nil() || given.as_str() == Some("") => Some(message),
                    _ => None,
                };
                if let Some(message) = refuses.and_then(Value::as_str) {
                    self.noticed.borrow_mut().refused.get_or_insert_with(|| message.trim().to_owned());
                }
                functions::call(&call).or_else(|message| frame.error(at, message))?
            }
        };
        let size = match &value.data {
            Data::Str(text) => text.len(),
            Data::List(items) => items.len() * 16,
            _ => 0,
        };
        self.bounded(frame, at, size)?;
        self.spend(frame, at, size / 16)?;
        Ok(value)
    }

    /// `and`, `or`: the first operand that decides, the rest unread.
    fn logic(&mut self, frame: &mut Frame, dot: &Value, all: bool, given: Given<'_>) -> Outcome<Value> {
        let (mut value, mut unknown) = (Value::NIL, None);
        for operand in given.operands.iter().map(Some).chain(given.last.as_ref().map(|_| None)) {
            value = match operand {
                Some(operand) => self.operand(frame, dot, operand)?,
                None => given.last.clone().unwrap_or_default(),
            };
            match value.unknown() {
                Some(why) => unknown = unknown.or(Some((why, value.origin))),
                None if value.is_true() != all => break,
                None => {}
            }
        }
        let decided = all && !value.is_true() && value.unknown().is_none();
        Ok(match unknown {
            Some((why, origin)) if !decided => Value { data: Data::Unknown(why), origin },
            _ => value,
        })
    }

    /// A text that is a template itself.
    fn inline(&mut self, frame: &Frame, at: &Range<usize>, text: &Text, dot: &Value) -> Outcome<Value> {
        if !text.as_str().contains("{{") {
            return Ok(text.clone().into());
        }
        if text.is_unknown() {
            return Ok(Why::Template.into());
        }
        self.spend(frame, at, text.len() / 16)?;
        let whole = frame.source.span(at);
        let (template, source) = read(Source { text: text.clone(), whole }).map_err(|problem| RenderError {
            message: format!("error calling tpl: {}", problem.message),
            span: problem.span,
        })?;
        let body = Body { nodes: template.body, source };
        // What it defines holds within it only.
        let outer = Rc::clone(&self.named);
        if !template.defined.is_empty() {
            let mut named = (*outer).clone();
            template.defined.into_iter().for_each(|(name, nodes)| add(&mut named, &name, nodes, &body.source));
            self.named = Rc::new(named);
        }
        let out = self.template(&body, dot);
        self.named = outer;
        Ok(without_no_value(&out?).into())
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
