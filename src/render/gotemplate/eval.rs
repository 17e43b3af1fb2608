//! The evaluator: nodes and values into text. Knows the language; asks `functions` for everything that has a name.

use super::functions::{self, Call};
use super::{Body, Doubts, Named, Noticed, RenderError, Source, Templates, add, print, read};
use crate::budget::{NODE, STEP, Share, Spent};
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

/// Most blocks, templates and parentheses within each other.
const MAX_DEPTH: usize = 200;

type Outcome<T> = Result<T, RenderError>;

/// Renders a template.
pub(super) fn render(
    templates: &Templates,
    name: &str,
    dot: &Value,
    (doubts, share): (&Doubts, &Share),
) -> Outcome<Text> {
    let Some(body) = templates.named.get(name).cloned() else {
        let nowhere = Span::new(crate::source::SourceId(0), 0..0);
        return Err(RenderError { span: nowhere, message: format!("no template {name:?}") });
    };
    let (named, noticed) = (Rc::clone(&templates.named), Rc::clone(&templates.noticed));
    let mut run = Run { named, templates: Rc::clone(&templates.files), share, doubts, depth: 0, noticed };
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

struct Run<'r> {
    named: Rc<Named>,
    /// The files that hold templates.
    templates: Rc<BTreeSet<SourceId>>,
    share: &'r Share,
    doubts: &'r Doubts,
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

impl Run<'_> {
    fn template(&mut self, body: &Body, dot: &Value) -> Outcome<Text> {
        let mut out = Text::new();
        self.execute(body, dot, &mut out)?;
        Ok(out)
    }

    fn execute(&mut self, body: &Body, dot: &Value, out: &mut Text) -> Outcome<()> {
        let mut frame = Frame { source: Rc::clone(&body.source), variables: vec![(String::new(), dot.clone())] };
        self.walk(&mut frame, &body.nodes, dot, out).map(|_| ())
    }

    fn work(&self, frame: &Frame, at: &Range<usize>, bytes: usize) -> Outcome<()> {
        self.share.work(bytes).or_else(|spent| frame.error(at, spent.to_string()))
    }

    fn make(&self, frame: &Frame, at: &Range<usize>, bytes: usize) -> Outcome<()> {
        self.share.make(bytes).or_else(|spent| frame.error(at, spent.to_string()))
    }

    fn deeper<T>(
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
                        let text = match &value.data {
                            Data::Nil => Rc::new(Text::plain(NO_VALUE)),
                            Data::Str(text) => Rc::clone(text),
                            _ => Rc::new(print::text(&value, self.share)),
                        };
                        self.make(frame, &pipe.at, text.size())?;
                        self.emit(&text, expression, out);
                    }
                }
                Node::If(branch) | Node::With(branch) => {
                    let scope = frame.variables.len();
                    let value = self.pipe(frame, dot, &branch.pipe)?;
                    let inner = if matches!(node, Node::With(_)) { &value } else { dot };
                    let holds = match value.data {
                        Data::Unknown(_) => self.doubts.decide(frame.source.span(&branch.pipe.at)),
                        _ => value.is_true(),
                    };
                    let (nodes, dot) = if holds { (&branch.body, inner) } else { (&branch.otherwise, dot) };
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
                    self.make(frame, at, text.size())?;
                    self.emit(&text, frame.source.span(at), out);
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

    fn range(&mut self, frame: &mut Frame, branch: &Branch, dot: &Value, out: &mut Text) -> Outcome<Flow> {
        let scope = frame.variables.len();
        let at = &branch.pipe.at;
        let value = self.pipe(frame, dot, &branch.pipe)?;
        let mut items: Box<dyn Iterator<Item = (Value, Value)>> = match &value.data {
            Data::Nil => Box::new(std::iter::empty()),
            Data::List(items) => Box::new(items.iter().enumerate().map(|(i, v)| (Value::from(i as i64), v.clone()))),
            Data::Map(map) => {
                self.make(frame, at, map.len() * NODE)?;
                let entries = map.entries().into_iter();
                Box::new(entries.map(|(key, entry)| (Value::from(key).at(entry.key), entry.value)))
            }
            Data::Files(files) => {
                let file = |(path, text): (&String, &Rc<Text>)| {
                    (Value::from(path.as_str()), Value { origin: text.place(), data: Data::Str(Rc::clone(text)) })
                };
                Box::new(files.iter().map(file))
            }
            Data::Int(count) => Box::new((0..*count).map(|i| (Value::from(i), Value::from(i)))),
            // How often something unknown is repeated is not known: not at all, or once.
            Data::Unknown(_) if self.doubts.decide(frame.source.span(at)) => {
                Box::new(std::iter::once((value.clone(), value.clone())))
            }
            Data::Unknown(_) => Box::new(std::iter::empty()),
            _ => {
                return frame
                    .error(at, format!("range can't iterate over {}", print::text(&value, self.share).as_str()));
            }
        };
        let mut first = items.next();
        let otherwise = if first.is_none() { &branch.otherwise[..] } else { &[] };
        let mut end = Flow::Next;
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
                    let call = Call { name, args, at: Some(frame.source.span(at)), share: self.share };
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
                if let Some(why) = name.unknown() {
                    self.noticed.borrow_mut().hidden.insert(frame.source.span(at));
                    return Ok(why.into());
                }
                let Some(found) = name.as_str().and_then(|name| self.named.get(name)).cloned() else {
                    let name = print::text(name, self.share);
                    return frame.error(at, format!("error calling include: no template {:?}", name.as_str()));
                };
                self.deeper(frame, at, |run, _| run.template(&found, dot))?.into()
            }
            ("tpl", [text, dot]) => match &text.data {
                Data::Str(source) => {
                    let source = Rc::clone(source);
                    self.deeper(frame, at, |run, frame| run.inline(frame, at, &source, dot))?
                }
                Data::Unknown(_) => {
                    self.noticed.borrow_mut().hidden.insert(frame.source.span(at));
                    text.clone()
                }
                _ => return frame.error(at, format!("wrong type for tpl: {}", print::type_of(text))),
            },
            _ => {
                let call = Call { name, args: &args, at: Some(frame.source.span(at)), share: self.share };
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
        match self.share.spent() {
            Some(spent) => frame.error(at, spent.to_string()),
            None => Ok(value),
        }
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
            self.noticed.borrow_mut().hidden.insert(frame.source.span(at));
            return Ok(Why::Template.into());
        }
        // A node of a template may be as short as five bytes.
        self.make(frame, at, NODE + text.size() * (NODE / 8))?;
        let whole = frame.source.span(at);
        let (template, source) = read(Source { text: text.clone(), whole }).map_err(|problem| RenderError {
            message: format!("error calling tpl: {}", problem.message),
            span: problem.span,
        })?;
        let body = Body { nodes: template.body, source };
        // What it defines holds within it only.
        let outer = Rc::clone(&self.named);
        if !template.defined.is_empty() {
            self.work(frame, at, outer.len() * NODE)?;
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
