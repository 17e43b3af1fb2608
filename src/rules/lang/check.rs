//! Types: a syntax tree into a typed tree whose names are resolved. All faults are collected.

use crate::facts::value::Type;
use crate::facts::{self, LISTS, List};
use crate::parse::expression::{Expr, Fault, Kind, Op};
use crate::rules::functions::{self, Function, Output};
use crate::suggest::did_you_mean;
use crate::version::Version;
use std::ops::Range;

/// A typed expression.
#[derive(Debug, Clone)]
pub struct Typed {
    /// What it is.
    pub node: Node,
    /// Its type.
    pub ty: Type,
    /// How it was written, for labels: `node.driver`.
    pub text: Box<str>,
    /// Where it starts in the text of its rule.
    pub start: usize,
    /// The loops around it that its value depends on, a bit for each level: `each`, then the macros that it stands in.
    pub loops: u64,
    /// Where its value is kept for all turns of the loops around it, which it does not depend on.
    pub kept: Option<usize>,
    /// Whether its value depends on what is asked about, and not only on where that stands.
    pub asks: bool,
    /// Whether its value is kept for everything that is asked about at one place.
    pub common: bool,
}

impl Typed {
    /// The literal null.
    pub fn null() -> Self {
        let (node, ty) = (Node::Const(Const::Null), Type::Null);
        Self { node, ty, text: "null".into(), start: 0, loops: 0, kept: None, asks: false, common: false }
    }
}

/// Typed forms.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Node {
    Const(Const),
    Slot(usize),
    Param(usize),
    Field(Box<Typed>, usize),
    DynField(Box<Typed>, Box<str>),
    Index(Box<Typed>, Box<Typed>),
    List(Vec<Typed>),
    Not(Box<Typed>),
    Negative(Box<Typed>),
    Binary(Op, Box<Typed>, Box<Typed>),
    Cond(Box<Typed>, Box<Typed>, Box<Typed>),
    Macro {
        kind: Macro,
        list: Box<Typed>,
        body: Box<Typed>,
        turns: Turns,
    },
    Default(Vec<Typed>),
    /// A value, null where it is unknown.
    Known(Box<Typed>),
    Entities(&'static List),
    Call {
        function: &'static Function,
        args: Vec<Typed>,
    },
}

/// The turns of a macro over the elements of its list.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// The slot of the element at hand.
    pub slot: usize,
    /// The bit of the loop, as in [`Typed::loops`].
    pub own: u64,
    /// Where the elements are kept that the first part of the body does not rule out, if that part is the same in all turns of
    /// the loops around.
    pub sieve: Option<usize>,
}

/// Literals and parameter values.
#[derive(Debug, Clone, PartialEq)]
pub enum Const {
    /// null
    Null,
    /// true, false
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    Str(String),
    /// A string literal that is compared with a version.
    Version(Version),
    /// A list of constants (parameters).
    List(Vec<Const>),
}

/// The macros over lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Macro {
    Exists,
    All,
    ExistsOne,
    Filter,
    First,
    Map,
}

/// A name that an expression may use.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether some expression used it.
    pub used: bool,
    /// The loops that its value depends on, as [`Typed::loops`].
    pub loops: u64,
    /// Whether its value depends on what is asked about, as [`Typed::asks`].
    pub asks: bool,
}

/// The names of a rule, and what was wrong with its expressions.
#[derive(Debug, Default, Clone)]
pub struct Scope {
    /// Variables by slot.
    pub variables: Vec<Variable>,
    /// Parameters by index.
    pub params: Vec<Variable>,
    /// Slots hidden again (macro variables that went out of scope).
    hidden: Vec<bool>,
    /// Loops around the expression at hand.
    level: u32,
    /// Values that are kept for all turns of a loop.
    kept: usize,
    /// Faults of the expression at hand.
    pub faults: Vec<Fault>,
    /// Whether all of it was checked before: to read a pattern costs more than everything else that is looked at.
    pub checked: bool,
}

impl Scope {
    /// Declares a variable and returns its slot.
    pub fn declare(&mut self, name: &str, ty: Type) -> usize {
        self.variables.push(Variable { name: name.to_owned(), ty, used: false, loops: 0, asks: true });
        self.hidden.push(false);
        self.variables.len() - 1
    }

    /// Declares the variable of a loop: what is checked from now on stands in it.
    pub fn open_loop(&mut self, name: &str, ty: Type) -> usize {
        let slot = self.declare(name, ty);
        (self.variables[slot].loops, self.variables[slot].asks) = (1 << self.level, false);
        self.level += 1;
        slot
    }

    /// Declares a name for an expression.
    pub fn bind(&mut self, name: &str, typed: &Typed) -> usize {
        let slot = self.declare(name, typed.ty.clone());
        (self.variables[slot].loops, self.variables[slot].asks) = (typed.loops, typed.asks);
        slot
    }

    fn find(&mut self, name: &str) -> Option<usize> {
        let slot = (0..self.variables.len()).rev().find(|&i| !self.hidden[i] && self.variables[i].name == name)?;
        self.variables[slot].used = true;
        Some(slot)
    }

    fn fault(&mut self, range: &Range<usize>, message: impl Into<String>) {
        self.faults.push(Fault::new(range.clone(), message));
    }

    /// Types an expression of `text`. Faults are added to the scope; the result is usable only without any.
    pub fn check(&mut self, expr: &Expr, text: &str) -> Typed {
        let (node, ty) = self.node(expr, text);
        let (loops, asks) = (self.loops(&node), self.asks(&node));
        let worth = match node {
            Node::Macro { .. } | Node::Call { .. } | Node::Entities(_) => true,
            Node::Field(..) | Node::DynField(..) | Node::Index(..) => matches!(ty, Type::List(_) | Type::Map(_)),
            _ => false,
        };
        let kept = (worth && loops == 0 && self.level > 0).then(|| self.keep());
        Typed {
            node,
            ty,
            text: text.get(expr.range.clone()).unwrap_or("").into(),
            start: expr.range.start,
            loops,
            kept,
            asks,
            common: worth && loops == 0 && !asks,
        }
    }

    fn keep(&mut self) -> usize {
        self.kept += 1;
        self.kept - 1
    }

    /// The loops that the value of a node depends on.
    fn loops(&self, node: &Node) -> u64 {
        let all = |parts: &[Typed]| parts.iter().fold(0, |loops, part| loops | part.loops);
        match node {
            Node::Const(_) | Node::Param(_) | Node::Entities(_) => 0,
            Node::Slot(slot) => self.variables[*slot].loops,
            Node::Field(inner, _) | Node::DynField(inner, _) => inner.loops,
            Node::Not(inner) | Node::Negative(inner) | Node::Known(inner) => inner.loops,
            Node::Index(a, b) | Node::Binary(_, a, b) => a.loops | b.loops,
            Node::Cond(a, b, c) => a.loops | b.loops | c.loops,
            Node::List(items) | Node::Default(items) | Node::Call { args: items, .. } => all(items),
            Node::Macro { list, body, turns, .. } => list.loops | body.loops & !turns.own,
        }
    }

    /// Whether the value of a node depends on what is asked about.
    fn asks(&self, node: &Node) -> bool {
        match node {
            Node::Const(_) | Node::Param(_) | Node::Entities(_) => false,
            Node::Slot(slot) => self.variables[*slot].asks,
            Node::Field(inner, _) | Node::DynField(inner, _) => inner.asks,
            Node::Not(inner) | Node::Negative(inner) | Node::Known(inner) => inner.asks,
            Node::Index(a, b) | Node::Binary(_, a, b) => a.asks || b.asks,
            Node::Cond(a, b, c) => a.asks || b.asks || c.asks,
            Node::List(items) | Node::Default(items) | Node::Call { args: items, .. } => items.iter().any(|i| i.asks),
            Node::Macro { list, body, .. } => list.asks || body.asks,
        }
    }

    fn boxed(&mut self, expr: &Expr, text: &str) -> Box<Typed> {
        Box::new(self.check(expr, text))
    }

    fn node(&mut self, expr: &Expr, text: &str) -> (Node, Type) {
        match &expr.kind {
            Kind::Null => (Node::Const(Const::Null), Type::Null),
            Kind::Bool(v) => (Node::Const(Const::Bool(*v)), Type::Bool),
            Kind::Int(v) => (Node::Const(Const::Int(*v)), Type::Int),
            Kind::Float(v) => (Node::Const(Const::Float(*v)), Type::Float),
            Kind::Str(v) => (Node::Const(Const::Str(v.clone())), Type::Str),
            Kind::List(items) => {
                let items: Vec<Typed> = items.iter().map(|item| self.check(item, text)).collect();
                let ty = items.iter().fold(Type::Null, |ty, item| join(&ty, &item.ty).unwrap_or(Type::Dyn));
                (Node::List(items), Type::List(Box::new(ty)))
            }
            Kind::Ident(name) => self.name(name, &expr.range),
            Kind::Field(base, name) => self.field(base, name, expr, text),
            Kind::Index(base, index) => self.index(base, index, text),
            Kind::Not(inner) => {
                let inner = self.boxed(inner, text);
                self.want(&inner, &Type::Bool, &expr.range);
                (Node::Not(inner), Type::Bool)
            }
            Kind::Negative(inner) => {
                let inner = self.boxed(inner, text);
                let ty = inner.ty.clone();
                self.want(&inner, &Type::Float, &expr.range);
                (Node::Negative(inner), ty)
            }
            Kind::Binary(op, left, right) => self.binary(*op, left, right, (text, &expr.range)),
            Kind::Cond(condition, yes, no) => {
                let condition = self.boxed(condition, text);
                self.want(&condition, &Type::Bool, &expr.range);
                let (yes, no) = (self.boxed(yes, text), self.boxed(no, text));
                let ty = join(&yes.ty, &no.ty).unwrap_or(Type::Dyn);
                (Node::Cond(condition, yes, no), ty)
            }
            Kind::Call { target, name, args } => self.call(target.as_deref(), name, args, (text, &expr.range)),
        }
    }

    fn name(&mut self, name: &str, range: &Range<usize>) -> (Node, Type) {
        if let Some(slot) = self.find(name) {
            return (Node::Slot(slot), self.variables[slot].ty.clone());
        }
        let known = self.variables.iter().map(|v| v.name.as_str());
        let message = format!("unknown name `{name}`{}", did_you_mean(name, known));
        self.fault(range, message);
        (Node::Const(Const::Null), Type::Dyn)
    }

    fn field(&mut self, base: &Expr, name: &str, expr: &Expr, text: &str) -> (Node, Type) {
        if matches!(&base.kind, Kind::Ident(p) if p == "params") {
            if let Some(index) = self.params.iter().position(|p| p.name == name) {
                self.params[index].used = true;
                return (Node::Param(index), self.params[index].ty.clone());
            }
            let message = format!(
                "unknown parameter `{name}`{}",
                did_you_mean(name, self.params.iter().map(|p| p.name.as_str()))
            );
            self.fault(&expr.range, message);
            return (Node::Const(Const::Null), Type::Dyn);
        }
        let inner = self.boxed(base, text);
        match inner.ty.clone() {
            Type::Entity(entity) => match entity.field(name) {
                Some((index, field)) => (Node::Field(inner, index), (field.ty)()),
                None => {
                    let known = entity.fields.iter().map(|f| f.name);
                    let message = format!("{} has no field `{name}`{}", entity.name, did_you_mean(name, known));
                    let range = expr.range.end - name.len()..expr.range.end;
                    self.fault(&range, message);
                    (Node::Const(Const::Null), Type::Dyn)
                }
            },
            Type::Dyn | Type::Null => (Node::DynField(inner, name.into()), Type::Dyn),
            other => {
                self.fault(&expr.range, format!("a {other} has no fields"));
                (Node::Const(Const::Null), Type::Dyn)
            }
        }
    }

    fn index(&mut self, base: &Expr, index: &Expr, text: &str) -> (Node, Type) {
        let (base_typed, index_typed) = (self.boxed(base, text), self.boxed(index, text));
        let ty = match &base_typed.ty {
            Type::List(item) => {
                self.want(&index_typed, &Type::Int, &index.range);
                (**item).clone()
            }
            Type::Map(value) => {
                self.want(&index_typed, &Type::Str, &index.range);
                (**value).clone()
            }
            Type::Dyn | Type::Null => Type::Dyn,
            other => {
                let message = format!("a {other} cannot be indexed");
                self.fault(&base.range, message);
                Type::Dyn
            }
        };
        (Node::Index(base_typed, index_typed), ty)
    }

    fn binary(&mut self, op: Op, left: &Expr, right: &Expr, (text, range): (&str, &Range<usize>)) -> (Node, Type) {
        let (mut a, mut b) = (self.boxed(left, text), self.boxed(right, text));
        if matches!(op, Op::Eq | Op::Ne | Op::In) {
            self.word_literals(right, &a.ty);
            self.word_literals(left, &b.ty);
        }
        self.version_literal(&mut b, &a.ty, &right.range);
        self.version_literal(&mut a, &b.ty, &left.range);
        let ty = match op {
            Op::And | Op::Or => {
                self.want(&a, &Type::Bool, &left.range);
                self.want(&b, &Type::Bool, &right.range);
                Type::Bool
            }
            Op::Eq | Op::Ne => {
                if join(&a.ty, &b.ty).is_none() {
                    self.fault(range, format!("a {} never equals a {}", a.ty, b.ty));
                }
                Type::Bool
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let ordered = |ty: &Type| {
                    matches!(ty, Type::Int | Type::Float | Type::Str | Type::Version | Type::Dyn | Type::Null)
                };
                if join(&a.ty, &b.ty).is_none() || !ordered(&a.ty) || !ordered(&b.ty) {
                    self.fault(range, format!("a {} cannot be ordered against a {}", a.ty, b.ty));
                }
                Type::Bool
            }
            Op::In => {
                let fits = match &b.ty {
                    Type::List(item) => join(&a.ty, item).is_some(),
                    Type::Map(_) | Type::Str => join(&a.ty, &Type::Str).is_some(),
                    Type::Dyn | Type::Null => true,
                    _ => false,
                };
                if !fits {
                    self.fault(range, format!("a {} cannot be in a {}", a.ty, b.ty));
                }
                Type::Bool
            }
            Op::Add if is_text(&a.ty) || is_text(&b.ty) => Type::Str,
            Op::Add if matches!((&a.ty, &b.ty), (Type::List(_), Type::List(_))) => {
                join(&a.ty, &b.ty).unwrap_or(Type::List(Box::new(Type::Dyn)))
            }
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem => {
                self.want(&a, &Type::Float, &left.range);
                self.want(&b, &Type::Float, &right.range);
                match (&a.ty, &b.ty) {
                    (Type::Int, Type::Int) => Type::Int,
                    (Type::Dyn, _) | (_, Type::Dyn) => Type::Dyn,
                    _ => Type::Float,
                }
            }
        };
        (Node::Binary(op, a, b), ty)
    }

    /// A text that is compared with words of a closed vocabulary, or a list of texts, must be of them.
    fn word_literals(&mut self, literal: &Expr, other: &Type) {
        match (&literal.kind, other) {
            (Kind::List(items), _) => items.iter().for_each(|item| self.word_literals(item, other)),
            (_, Type::List(item)) => self.word_literals(literal, item),
            (Kind::Str(text), Type::Word(words)) if !words.has(text) => {
                let hint = did_you_mean(text, words.words.iter().map(|(word, _)| *word));
                self.fault(&literal.range, format!("`{text}` is no word of {}{hint}", words.name));
            }
            _ => {}
        }
    }

    /// A string literal beside a version is read as a version, once.
    fn version_literal(&mut self, literal: &mut Typed, other: &Type, range: &Range<usize>) {
        if *other != Type::Version {
            return;
        }
        if let Node::Const(Const::Str(text)) = &literal.node {
            match Version::parse(text) {
                Some(version) => {
                    literal.node = Node::Const(Const::Version(version));
                    literal.ty = Type::Version;
                }
                None => self.fault(range, format!("{text:?} is no version")),
            }
        }
    }

    fn want(&mut self, typed: &Typed, wanted: &Type, range: &Range<usize>) {
        if !accepts(wanted, &typed.ty) {
            self.fault(range, format!("expected a {wanted}, found a {}", typed.ty));
        }
    }

    fn call(
        &mut self,
        target: Option<&Expr>,
        name: &str,
        args: &[Expr],
        (text, range): (&str, &Range<usize>),
    ) -> (Node, Type) {
        if let Some(special) = self.special_form(target, name, args, (text, range)) {
            return special;
        }
        let Some(function) = functions::find(name) else {
            let known = functions::ALL.iter().map(|f| f.name).chain(LISTS.iter().map(|list| list.name));
            let message = format!("unknown function `{name}`{}", did_you_mean(name, known));
            self.fault(range, message);
            return (Node::Const(Const::Null), Type::Dyn);
        };
        let typed: Vec<Typed> = target.into_iter().chain(args).map(|arg| self.check(arg, text)).collect();
        if typed.len() < function.required() || typed.len() > function.params.len() {
            self.fault(range, format!("{name} takes {} argument(s), not {}", function.params.len(), typed.len()));
            return (Node::Const(Const::Null), Type::Dyn);
        }
        for (arg, param) in typed.iter().zip(function.params) {
            let wanted = (param.ty)();
            if !accepts(&wanted, &arg.ty) {
                self.fault(range, format!("{name} wants a {wanted} as {}, not a {}", param.name, arg.ty));
            }
        }
        if function.name == "matches"
            && !self.checked
            && let Node::Const(Const::Str(pattern)) = &typed[1].node
            && let Err(error) = regex_syntax::parse(pattern)
        {
            let place = args.last().map_or(range, |pattern| &pattern.range);
            let reason = error.to_string();
            self.fault(place, format!("not a pattern: {}", reason.lines().last().unwrap_or(&reason)));
        }
        let ty = self.output(function, &typed, range);
        let typed = if function.name == "first" { first_of_filter(typed) } else { Err(typed) };
        (typed.unwrap_or_else(|args| Node::Call { function, args }), ty)
    }

    /// What looks like a call but is not one: macros over lists, `has`, `known`, `default`, the lists of entities.
    fn special_form(
        &mut self,
        target: Option<&Expr>,
        name: &str,
        args: &[Expr],
        (text, range): (&str, &Range<usize>),
    ) -> Option<(Node, Type)> {
        let kind = match name {
            "exists" => Some(Macro::Exists),
            "all" => Some(Macro::All),
            "exists_one" => Some(Macro::ExistsOne),
            "filter" => Some(Macro::Filter),
            "map" => Some(Macro::Map),
            _ => None,
        };
        if let (Some(kind), Some(target)) = (kind, target) {
            return Some(self.list_macro(kind, target, args, (text, range)));
        }
        match (name, target, args) {
            ("has", None, [arg]) => {
                let inner = self.boxed(arg, text);
                Some((Node::Binary(Op::Ne, inner, Box::new(Typed::null())), Type::Bool))
            }
            ("known", None, [arg]) => {
                let inner = self.boxed(arg, text);
                let ty = inner.ty.clone();
                Some((Node::Known(inner), ty))
            }
            ("default", ..) if target.iter().len() + args.len() > 1 => {
                let typed: Vec<Typed> = target.into_iter().chain(args).map(|arg| self.check(arg, text)).collect();
                let ty = typed.iter().fold(Type::Null, |ty, arg| join(&ty, &arg.ty).unwrap_or(Type::Dyn));
                Some((Node::Default(typed), ty))
            }
            (_, None, []) => {
                let list = facts::list(name)?;
                Some((Node::Entities(list), Type::List(Box::new(Type::Entity(list.subject.entity)))))
            }
            _ => None,
        }
    }

    /// The type of what a function gives for these arguments.
    fn output(&mut self, function: &Function, typed: &[Typed], range: &Range<usize>) -> Type {
        match function.output {
            Output::Type(ty) => ty(),
            Output::Element => match &typed[0].ty {
                Type::List(item) | Type::Map(item) => (**item).clone(),
                _ => Type::Dyn,
            },
            Output::ListOfElement => match &typed[0].ty {
                Type::Map(item) => Type::List(item.clone()),
                other => other.clone(),
            },
            Output::Flattened => match &typed[0].ty {
                Type::List(inner) if matches!(**inner, Type::List(_)) => (**inner).clone(),
                _ => Type::List(Box::new(Type::Dyn)),
            },
            Output::Extreme if typed.len() == 1 => match &typed[0].ty {
                Type::List(item) | Type::Map(item) => (**item).clone(),
                _ => Type::Dyn,
            },
            Output::Column => match &typed[0].node {
                Node::Const(Const::Str(column)) => {
                    functions::column_type(column, typed.len() - 1).unwrap_or_else(|message| {
                        self.fault(range, message);
                        Type::Dyn
                    })
                }
                _ => {
                    self.fault(range, format!("{} wants the column as text in quotes", function.name));
                    Type::Dyn
                }
            },
            Output::Joined | Output::Extreme => {
                typed.iter().fold(Type::Null, |ty, arg| join(&ty, &arg.ty).unwrap_or(Type::Dyn))
            }
        }
    }

    fn list_macro(
        &mut self,
        kind: Macro,
        target: &Expr,
        args: &[Expr],
        (text, range): (&str, &Range<usize>),
    ) -> (Node, Type) {
        let list = self.boxed(target, text);
        let item = match &list.ty {
            Type::List(item) | Type::Map(item) => (**item).clone(),
            Type::Dyn | Type::Null => Type::Dyn,
            other => {
                let message = format!("a {other} is no list");
                self.fault(&target.range, message);
                Type::Dyn
            }
        };
        let [Expr { kind: Kind::Ident(name), .. }, body] = args else {
            self.fault(range, "a macro takes a name and an expression: list.exists(x, x > 1)");
            return (Node::Const(Const::Null), Type::Dyn);
        };
        let slot = self.open_loop(name, item.clone());
        let checked = self.boxed(body, text);
        self.hidden[slot] = true;
        self.level -= 1;
        if kind != Macro::Map {
            self.want(&checked, &Type::Bool, &body.range);
        }
        let ty = match kind {
            Macro::Exists | Macro::All | Macro::ExistsOne => Type::Bool,
            Macro::Filter | Macro::First => Type::List(Box::new(item)),
            Macro::Map => Type::List(Box::new(checked.ty.clone())),
        };
        let own = self.variables[slot].loops;
        let sifts = matches!(kind, Macro::Filter | Macro::Exists) && list.loops == 0 && checked.loops & !own != 0;
        let sieve = (sifts && sieve(&checked, own).is_some()).then(|| self.keep());
        (Node::Macro { kind, list, body: checked, turns: Turns { slot, own, sieve } }, ty)
    }
}

/// The first element that a filter leaves, if that is what is asked for: the others are not sought.
fn first_of_filter(mut args: Vec<Typed>) -> Result<Node, Vec<Typed>> {
    match args.pop() {
        Some(Typed { node: Node::Macro { kind: Macro::Filter, list, body, turns }, .. }) if args.is_empty() => {
            Ok(Node::Macro { kind: Macro::First, list, body, turns })
        }
        last => {
            args.extend(last);
            Err(args)
        }
    }
}

/// The longest first part of a conjunction that depends on no other loop than its own: an element that it rules out is ruled
/// out in every turn of the loops around.
pub fn sieve(body: &Typed, own: u64) -> Option<&Typed> {
    first_part(body, &|first| first.loops & !own == 0)
}

/// The longest first part of a conjunction that nothing but the element decides: one that it rules out is ruled out for
/// everything that is asked about.
pub fn common_sieve(body: &Typed, own: u64) -> Option<&Typed> {
    first_part(body, &|first| first.loops & own != 0 && first.loops & !own == 0 && !first.asks)
}

fn first_part<'t>(body: &'t Typed, fits: &dyn Fn(&Typed) -> bool) -> Option<&'t Typed> {
    let Node::Binary(Op::And, first, _) = &body.node else { return None };
    if fits(first) { Some(first) } else { first_part(first, fits) }
}

/// Whether a value of type `found` may stand where `wanted` is asked for.
pub fn accepts(wanted: &Type, found: &Type) -> bool {
    match (wanted, found) {
        (Type::Dyn, _) | (_, Type::Dyn | Type::Null) => true,
        (Type::Float, Type::Int) | (Type::Version, Type::Str) | (Type::Str, Type::Word(_)) => true,
        (Type::List(a), Type::List(b) | Type::Map(b)) => accepts(a, b),
        (Type::Map(a), Type::Map(b)) => accepts(a, b),
        (a, b) => a == b,
    }
}

fn is_text(ty: &Type) -> bool {
    matches!(ty, Type::Str | Type::Word(_))
}

/// The type that holds both; `None` when nothing does.
fn join(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (Type::Null, other) | (other, Type::Null) => Some(other.clone()),
        (Type::Dyn, _) | (_, Type::Dyn) => Some(Type::Dyn),
        (Type::Int, Type::Float) | (Type::Float, Type::Int) => Some(Type::Float),
        (Type::Word(a), Type::Word(b)) if a == b => Some(Type::Word(a)),
        (a, b) if is_text(a) && is_text(b) => Some(Type::Str),
        (Type::List(a), Type::List(b)) => join(a, b).map(|t| Type::List(Box::new(t))),
        (a, b) => (a == b).then(|| a.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::value::Reflect;
    use crate::facts::{Cluster, Container, Node, NodePool, Workload};
    use crate::parse::expression as ast;

    /// The text at each fault and its message.
    fn faults(text: &str) -> Vec<(String, String)> {
        let mut scope = Scope::default();
        scope.declare("workload", Workload::ty());
        scope.declare("pool", NodePool::ty());
        scope.declare("cluster", Cluster::ty());
        scope.declare("container", Container::ty());
        scope.declare("node", Node::ty());
        scope.check(&ast::expression(text).expect("syntax"), text);
        scope.faults.into_iter().map(|fault| (text[fault.range].to_owned(), fault.message)).collect()
    }

    #[test]
    fn a_text_that_is_no_word_of_the_vocabulary_is_refused_where_it_stands() {
        for text in [
            "workload.format == 'kuberntes'",
            "'kuberntes' != workload.format",
            "workload.format in ['compose', 'kuberntes']",
            "workloads().exists(w, w.format == 'kuberntes')",
            "'kuberntes' in workloads().map(w, w.format)",
            "(pool == null ? workload.format : null) == 'kuberntes'",
        ] {
            let wanted = "`kuberntes` is no word of WorkloadFormat; did you mean `kubernetes`?";
            assert_eq!(faults(text), [("'kuberntes'".to_owned(), wanted.to_owned())], "{text}");
        }
        assert_eq!(faults("workload.intent == 'kubernetes'").len(), 1);
        assert_eq!(faults("workload.intent == 1").len(), 1);
    }

    #[test]
    fn what_functions_compute_is_typed() {
        for (text, place, wanted) in [
            ("serving_memory(container, node).verdct != null", "verdct", "did you mean `verdict`?"),
            ("serving_memory(container, node).decided_by == 'cash'", "'cash'", "did you mean `cache`?"),
            ("training_fit(container.training, node.gpu, 8) == 'fit'", "'fit'", "did you mean `fits`?"),
            ("memory_share(container.launch) > 0.5", "memory_share(container.launch)", "wants a Container"),
        ] {
            let faults = faults(text);
            assert!(matches!(&faults[..], [(at, said)] if at == place && said.contains(wanted)), "{text}: {faults:?}");
        }
    }

    #[test]
    fn words_read_as_text() {
        for text in [
            "workload.format == 'kubernetes' && 'x ' + workload.format != workload.kind",
            "workload.kind == workload.format || workload.format == pool.format || cluster.format == pool.format",
            "workload.format.startsWith('k') && workload.labels[workload.format] == null",
            "workload.intent in [workload.name, 'training'] && workload.intent != null",
        ] {
            assert_eq!(faults(text), [], "{text}");
        }
    }
}
