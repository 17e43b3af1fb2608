//! Evaluation of expressions and templates, as far as their values can be known from the files of one module.
//! Knows `var`, `local` and names bound by `for`; everything else that is referred to is unknown.

use super::functions;
use super::heredoc;
use super::module::Registry;
use super::rope::{Rope, Style};
use super::value::{Fail, MAX_ITEMS, Val, Value, equal, failed, too_large};
use crate::budget::{NODE, STEP};
use crate::known::Why;
use crate::parse::hcl::Place;
use crate::paths;
use crate::source::{Span, Traced};
use hcl_edit::Decorated;
use hcl_edit::Span as _;
use hcl_edit::expr::{
    BinaryOp, BinaryOperator, Conditional, Expression, ForExpr, FuncCall, Object, ObjectKey, Traversal,
    TraversalOperator, UnaryOp, UnaryOperator,
};
use hcl_edit::structure::Body;
use hcl_edit::template::Element;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Deeper expressions, through locals and variables too, are not evaluated.
const MAX_DEPTH: u32 = 120;

/// An expression and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written<'m> {
    pub place: Place<'m>,
    pub expr: &'m Expression,
}

/// A name bound by `for`, `for_each` or `dynamic`.
#[derive(Debug)]
pub(super) struct Scope<'s> {
    pub name: &'s str,
    pub value: Val,
    pub parent: Option<&'s Scope<'s>>,
}

/// An evaluator at one place of one module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eval<'e> {
    pub registry: &'e Registry<'e>,
    pub place: Place<'e>,
    pub scope: Option<&'e Scope<'e>>,
    depth: u32,
}

impl<'e> Eval<'e> {
    pub fn new(registry: &'e Registry<'e>, place: Place<'e>) -> Self {
        Self { registry, place, scope: None, depth: 0 }
    }

    /// The evaluator with one more name bound.
    pub fn with<'s>(&self, scope: &'s Scope<'s>) -> Eval<'s>
    where
        'e: 's,
    {
        Eval { scope: Some(scope), ..*self }
    }

    /// The evaluator at another place of the module, where no name is bound.
    pub fn elsewhere(&self, place: Place<'e>) -> Self {
        Self { place, scope: None, ..*self }
    }

    /// The value that `each`, or the iterator of a `dynamic` block, has for one item.
    pub fn iterator(key: Val, value: Val, span: Span) -> Val {
        let entry = |name: &str, value| (Rc::new(Traced::opaque(name, span)), value);
        Val::new(Value::map([entry("key", key), entry("value", value)]), span)
    }

    /// Counts one step of work.
    pub fn spend(&self) -> Result<(), Fail> {
        self.pay(STEP)
    }

    /// Counts work on so many bytes.
    pub fn pay(&self, bytes: usize) -> Result<(), Fail> {
        self.registry.share.work(bytes).map_err(|_| too_large())
    }

    /// Counts bytes that are made.
    pub fn make(&self, bytes: usize) -> Result<(), Fail> {
        self.registry.share.make(bytes).map_err(|_| too_large())
    }

    /// The value of an expression; its span is the text of the expression.
    pub fn eval(&self, expr: &Expression) -> Val {
        let span = self.place.span(expr.span());
        if self.depth >= MAX_DEPTH {
            return Val::result(Err(too_large()), span);
        }
        if let Err(fail) = self.spend() {
            return Val::result(Err(fail), span);
        }
        let deeper = Eval { depth: self.depth + 1, ..*self };
        deeper.expression(expr, span).unwrap_or_else(|fail| Val::result(Err(fail), span)).at(span)
    }

    fn expression(&self, expr: &Expression, span: Span) -> Result<Val, Fail> {
        let value = match expr {
            Expression::Null(_) => Value::Null,
            Expression::Bool(value) => Value::Bool(*value.value()),
            Expression::Number(value) => match value.value().as_f64() {
                Some(number) => Value::Number(number),
                None => return failed("not a number"),
            },
            Expression::String(_) => {
                let range = span.range();
                let mut rope = Rope::new(self.place.source);
                rope.literal(self.place.text, range.start + 1..range.end.saturating_sub(1), 0, Style::Quoted);
                Value::Str(Rc::new(rope.finish(span)))
            }
            Expression::StringTemplate(template) => {
                let elements: Vec<&Element> = template.iter().collect();
                if let [Element::Interpolation(only)] = elements[..] {
                    return Ok(self.eval(&only.expr));
                }
                self.template(&elements, Style::Quoted, span)?
            }
            Expression::HeredocTemplate(heredoc) => {
                let elements: Vec<&Element> = heredoc.template.iter().collect();
                let flush = self.place.slice(Some(span.range())).starts_with("<<-");
                let indent = if flush { heredoc::indentation(self.place, &heredoc.template) } else { 0 };
                self.template(&elements, Style::Heredoc(indent), span)?
            }
            Expression::Array(items) => Value::list(items.iter().map(|item| self.eval(item)).collect()),
            Expression::Object(object) => self.object(object)?,
            Expression::Parenthesis(inner) => return Ok(self.eval(inner.inner())),
            Expression::Variable(name) => match self.bound(name.as_str()) {
                Some(value) => return Ok(value),
                None => Value::Unknown(Why::Remote(name.as_str().into())),
            },
            Expression::Conditional(conditional) => return self.conditional(conditional),
            Expression::FuncCall(call) => return self.call(call, span),
            Expression::Traversal(traversal) => return self.traversal(traversal, span),
            Expression::UnaryOp(op) => self.unary(op)?,
            Expression::BinaryOp(op) => self.binary(op)?,
            Expression::ForExpr(for_expr) => self.for_expr(for_expr, span)?,
        };
        Ok(Val::new(value, span))
    }

    fn bound(&self, name: &str) -> Option<Val> {
        let mut scope = self.scope;
        while let Some(at) = scope {
            if at.name == name {
                return Some(at.value.clone());
            }
            scope = at.parent;
        }
        None
    }

    fn object(&self, object: &Object) -> Result<Value, Fail> {
        let mut entries = vec![];
        for (key, value) in object.iter() {
            let key = match key {
                ObjectKey::Ident(name) => Rc::new(self.written_name(name.span())),
                ObjectKey::Expression(Expression::Variable(name)) => Rc::new(self.written_name(name.span())),
                ObjectKey::Expression(expr) => {
                    let key = self.eval(expr);
                    match &key.value {
                        Value::Str(text) => Rc::clone(text),
                        _ => Rc::new(Traced::opaque(key.string()?, key.span)),
                    }
                }
            };
            entries.push((key, self.eval(value.expr())));
        }
        Ok(Value::map(entries))
    }

    fn conditional(&self, conditional: &Conditional) -> Result<Val, Fail> {
        match self.eval(&conditional.cond_expr).boolean() {
            Ok(true) => Ok(self.eval(&conditional.true_expr)),
            Ok(false) => Ok(self.eval(&conditional.false_expr)),
            Err(Fail::Unknown(why)) => {
                let (yes, no) = (self.eval(&conditional.true_expr), self.eval(&conditional.false_expr));
                match self.equal(&yes, &no) {
                    Ok(true) => Ok(yes),
                    _ if yes.may_be_null() || no.may_be_null() => Err(Fail::Unknown(why.perhaps())),
                    _ => Err(Fail::Unknown(why)),
                }
            }
            Err(fail) => Err(fail),
        }
    }

    pub fn equal(&self, a: &Val, b: &Val) -> Result<bool, Fail> {
        equal(a, b, &self.registry.share)
    }

    fn unary(&self, op: &UnaryOp) -> Result<Value, Fail> {
        let value = self.eval(&op.expr);
        Ok(match op.operator.value() {
            UnaryOperator::Neg => Value::Number(-value.number()?),
            UnaryOperator::Not => Value::Bool(!value.boolean()?),
        })
    }

    fn binary(&self, op: &BinaryOp) -> Result<Value, Fail> {
        use BinaryOperator as Op;
        let left = self.eval(&op.lhs_expr);
        let operator = *op.operator.value();
        if let Op::And | Op::Or = operator {
            // Either side alone may decide, whatever the other is.
            let decides = operator == Op::Or;
            let left = left.boolean();
            if matches!(left, Ok(value) if value == decides) {
                return Ok(Value::Bool(decides));
            }
            let right = self.eval(&op.rhs_expr).boolean();
            return match (left, right) {
                (Err(Fail::Failed(message)), _) => Err(Fail::Failed(message)),
                (_, Ok(value)) if value == decides => Ok(Value::Bool(decides)),
                (Ok(_), Ok(value)) => Ok(Value::Bool(value)),
                (Err(fail), _) | (_, Err(fail)) => Err(fail),
            };
        }
        let right = self.eval(&op.rhs_expr);
        if let Op::Eq | Op::NotEq = operator {
            return Ok(Value::Bool(self.equal(&left, &right)? == (operator == Op::Eq)));
        }
        let (a, b) = (left.number()?, right.number()?);
        let number = match operator {
            Op::Less => return Ok(Value::Bool(a < b)),
            Op::LessEq => return Ok(Value::Bool(a <= b)),
            Op::Greater => return Ok(Value::Bool(a > b)),
            Op::GreaterEq => return Ok(Value::Bool(a >= b)),
            Op::Plus => a + b,
            Op::Minus => a - b,
            Op::Mul => a * b,
            Op::Div => a / b,
            Op::Mod => a % b,
            Op::And | Op::Or | Op::Eq | Op::NotEq => return failed("not an arithmetic operator"),
        };
        if number.is_finite() { Ok(Value::Number(number)) } else { failed("not a finite number") }
    }

    fn call(&self, call: &FuncCall, span: Span) -> Result<Val, Fail> {
        let name = call.name.name.as_str();
        let mut args = call.args.iter().map(|arg| self.eval(arg));
        if name == "try" {
            let found = args.find(|value| !matches!(value.value, Value::Failed(_)));
            let found = found.ok_or(Fail::Failed("no argument of try succeeds".into()))?;
            return match found.value {
                Value::Unknown(why) if args.any(|value| value.may_be_null()) => Err(Fail::Unknown(why.perhaps())),
                _ => Ok(found),
            };
        }
        let mut args: Vec<Val> = args.collect();
        if call.args.expand_final()
            && let Some(last) = args.pop()
        {
            args.extend(last.items()?);
        }
        if !call.name.namespace.is_empty() {
            return Err(Fail::Unknown(Why::Remote(self.place.slice(call.span()).into())));
        }
        args.iter().try_for_each(|arg| self.pay(arg.width()))?;
        let found = functions::call(self, name, &args, span);
        if let Ok(value) = &found {
            self.make(value.width())?;
        }
        match found {
            Err(Fail::Unknown(why)) if name == "one" || args.iter().any(Val::may_be_null) => {
                Err(Fail::Unknown(why.perhaps()))
            }
            found => found,
        }
    }

    fn traversal(&self, traversal: &Traversal, span: Span) -> Result<Val, Fail> {
        let mut operators = &traversal.operators[..];
        let root = match &traversal.expr {
            Expression::Variable(name) => match (self.bound(name.as_str()), name.as_str(), operators.first()) {
                (Some(value), ..) => value,
                (None, root @ ("var" | "local" | "module"), Some(first)) => {
                    let attribute = match first.value() {
                        TraversalOperator::GetAttr(name) => name.as_str().to_owned(),
                        TraversalOperator::Index(key) => self.eval(key).string()?,
                        _ => return failed("not an attribute"),
                    };
                    operators = &operators[1..];
                    self.named(root, &attribute, span)
                }
                (None, "path", Some(first)) => match (first.value(), operators.len()) {
                    (TraversalOperator::GetAttr(name), 1) => return self.path(name.as_str(), span),
                    _ => return failed("not an attribute"),
                },
                (None, root, _) => match self.resource(root, operators) {
                    Some((value, rest)) => {
                        operators = rest;
                        value
                    }
                    // An attribute of a resource, `each` outside its block, `count`, `self`, `terraform`.
                    None => return Err(Fail::Unknown(Why::Remote(self.place.slice(traversal.span()).into()))),
                },
            },
            expr => self.eval(expr),
        };
        let operators: Vec<&TraversalOperator> = operators.iter().map(|o| o.value()).collect();
        self.apply(root, &operators)
    }

    /// The argument of a resource that a traversal starts with, and the rest of it: `type.name[key].argument`.
    fn resource<'o>(
        &self,
        root: &str,
        operators: &'o [Decorated<TraversalOperator>],
    ) -> Option<(Val, &'o [Decorated<TraversalOperator>])> {
        let attribute = |at: usize| match operators.get(at)?.value() {
            TraversalOperator::GetAttr(name) => Some(name.as_str()),
            _ => None,
        };
        let (kind, at) = match root {
            "data" => (Cow::Owned(format!("data.{}", attribute(0)?)), 1),
            kind => (Cow::Borrowed(kind), 0),
        };
        let name = attribute(at)?;
        let (key, at) = match operators.get(at + 1)?.value() {
            TraversalOperator::Index(key) => (Some(self.eval(key)), at + 2),
            _ => (None, at + 1),
        };
        let value = self.argument((&kind, name), key.as_ref(), attribute(at)?)?;
        Some((value, &operators[at + 1..]))
    }

    /// `path.module` and its like, as seen from the directory of the root.
    fn path(&self, name: &str, span: Span) -> Result<Val, Fail> {
        let text = match name {
            "module" => paths::relative(self.registry.root, self.registry.directory),
            "root" => ".".to_owned(),
            _ => return Err(Fail::Unknown(Why::Remote(format!("path.{name}").into()))),
        };
        Ok(Val::text(text, span))
    }

    fn apply(&self, mut value: Val, operators: &[&TraversalOperator]) -> Result<Val, Fail> {
        for (at, &operator) in operators.iter().enumerate() {
            self.spend()?;
            let full = matches!(operator, TraversalOperator::FullSplat(_));
            if full || matches!(operator, TraversalOperator::AttrSplat(_)) {
                let rest = &operators[at + 1..];
                let attributes = rest.iter().take_while(|o| matches!(o, TraversalOperator::GetAttr(_))).count();
                let (inner, outer) = rest.split_at(if full { rest.len() } else { attributes });
                let items = match value.known()? {
                    Value::Null => vec![],
                    Value::List(items) => items.to_vec(),
                    _ => vec![value.clone()],
                };
                self.make(NODE * items.len())?;
                let each = |item: Val| {
                    let span = item.span;
                    self.apply(item, inner).unwrap_or_else(|fail| Val::result(Err(fail), span))
                };
                let list = Val::new(Value::list(items.into_iter().map(each).collect()), value.span);
                return self.apply(list, outer);
            }
            value = self.step(&value, operator)?;
        }
        Ok(value)
    }

    fn step(&self, value: &Val, operator: &TraversalOperator) -> Result<Val, Fail> {
        let key = match operator {
            TraversalOperator::GetAttr(name) => Val::text(name.as_str(), value.span),
            TraversalOperator::Index(key) => self.eval(key),
            TraversalOperator::LegacyIndex(index) => Val::new(Value::Number(*index.value() as f64), value.span),
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => return failed("a splat"),
        };
        if let Value::Unknown(Why::Remote(reference)) = &value.value {
            let suffix = match operator {
                TraversalOperator::GetAttr(name) => format!(".{}", name.as_str()),
                _ => format!("[{}]", key.string().unwrap_or_else(|_| "*".into())),
            };
            self.make(reference.len() + suffix.len())?;
            let reference = format!("{reference}{suffix}");
            return Err(Fail::Unknown(Why::Remote(reference.into())));
        }
        if let Value::Map(entries) = &value.value {
            self.pay(entries.len())?;
        }
        match value.known()? {
            Value::List(items) => match items.get(key.index()?) {
                Some(item) => Ok(item.clone()),
                None => failed("an index out of range"),
            },
            Value::Map(_) => match value.get(&key.string()?)? {
                Some(item) => Ok(item),
                None => failed(format!("no attribute {}", key.string()?)),
            },
            _ => failed("not a collection"),
        }
    }

    fn for_expr(&self, for_expr: &ForExpr, span: Span) -> Result<Value, Fail> {
        let intro = &for_expr.intro;
        let collection = self.eval(&intro.collection_expr);
        self.pay(collection.width())?;
        let pairs = collection.pairs()?;
        let (mut items, mut entries) = (vec![], vec![]);
        for (key, value) in pairs {
            self.spend()?;
            let key_name = intro.key_var.as_ref().map_or("", |k| k.as_str());
            let outer = Scope { name: key_name, value: key, parent: self.scope };
            let scope = Scope { name: intro.value_var.as_str(), value, parent: Some(&outer) };
            let inner = self.with(&scope);
            if let Some(cond) = &for_expr.cond
                && !inner.eval(&cond.expr).boolean()?
            {
                continue;
            }
            let value = inner.eval(&for_expr.value_expr);
            self.make(NODE)?;
            match &for_expr.key_expr {
                Some(key) => entries.push((Rc::new(Traced::opaque(inner.eval(key).string()?, span)), value)),
                None => items.push(value),
            }
            if items.len() + entries.len() > MAX_ITEMS {
                return Err(too_large());
            }
        }
        if for_expr.key_expr.is_none() {
            return Ok(Value::list(items));
        }
        if !for_expr.grouping {
            return Ok(Value::map(entries));
        }
        let mut groups: BTreeMap<String, (Rc<Traced>, Vec<Val>)> = BTreeMap::new();
        for (key, value) in entries {
            groups.entry(key.text().to_owned()).or_insert_with(|| (key, vec![])).1.push(value);
        }
        Ok(Value::map(groups.into_values().map(|(key, values)| (key, Val::new(Value::list(values), span)))))
    }

    /// The attributes of a body as values.
    pub fn attributes(&self, body: &Body) -> Vec<(Rc<Traced>, Val)> {
        let mut out = vec![];
        for attribute in body.attributes() {
            out.push((Rc::new(self.written_name(attribute.key.span())), self.eval(&attribute.value)));
        }
        out
    }

    /// The text of the one file that an archive is made of, as the attribute that states it in words.
    pub fn packed(&self, body: &Body) -> Option<(Rc<Traced>, Val)> {
        let path = self.eval(&body.get_attribute("source_file")?.value).string().ok()?;
        let path = paths::join_inside(self.registry.root, &path)?;
        let (source, text) = self.registry.workspace.text(&path)?;
        let whole = Span::new(source, 0..text.len());
        let value = Value::Str(Rc::new(Traced::verbatim(text, whole, 0)));
        Some((Rc::new(Traced::opaque("source_content", whole)), Val::new(value, whole)))
    }

    /// A name as it stands in the file.
    fn written_name(&self, range: Option<std::ops::Range<usize>>) -> Traced {
        let span = self.place.span(range.clone());
        Traced::verbatim(self.place.slice(range), span, span.range().start)
    }
}
