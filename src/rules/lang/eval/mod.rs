//! Evaluation: three-valued, by reference, within a budget, and with the facts that decided the answer. What does not
//! depend on the loops around it is evaluated once for all their turns.

mod lists;
mod lookup;
mod operators;

use self::lookup::Index;
use self::operators::{at, binary};
use super::check::{Const, Node, Typed};
use super::values::{Number, number, weigh};
use crate::budget::{STEP, Share};
use crate::evidence;
use crate::facts::value::{Data, Value, entry};
use crate::known::Why;
use crate::parse::expression::Op;
use crate::rules::functions::{Context, Function};
use crate::source::Span;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What an expression costs to evaluate, beside the text and the lists that it touches.
const COST: usize = 2 * STEP;

/// Facts that are remembered of what is evaluated once: labels show few.
const REMEMBERED: usize = 32;

/// A fact that took part in a decision.
#[derive(Debug, Clone)]
pub struct Used<'a> {
    /// How the rule names it: `node.driver`.
    pub path: &'a str,
    /// What it is, with where it was decided; without a place what only says that something unread was used.
    pub value: Value<'a>,
    /// Whether it rests on something whose source nobody read.
    pub unread: bool,
}

/// What is kept of an expression: its value, and what it used.
type Kept<'a> = (Value<'a>, Rc<[Used<'a>]>);

/// What expressions are for everything that is asked about at one place, by their addresses, and what finding that out may
/// spend: whoever asks first does not pay for the others.
pub struct Common<'a> {
    known: RefCell<HashMap<usize, Kept<'a>>>,
    indexes: RefCell<HashMap<usize, Rc<Index>>>,
    share: Rc<Share>,
}

impl Common<'_> {
    /// Nothing is known yet.
    pub fn new(share: Share) -> Self {
        Self { known: RefCell::default(), indexes: RefCell::default(), share: Rc::new(share) }
    }
}

/// What an evaluation goes by: what it may look at, what it may spend, and what is common to all that stands there.
#[derive(Clone)]
pub struct Around<'a> {
    /// What functions may ask about the run.
    pub context: &'a Context<'a>,
    /// What is spent; then answers are unknown.
    pub share: Rc<Share>,
    /// What others that were asked about there found out.
    pub common: &'a Common<'a>,
}

/// What functions said of entities, by their names and the addresses of the entities, and whether it rests on something unread.
type Said<'a> = HashMap<(&'static str, Vec<usize>), (Value<'a>, bool)>;

/// The state of one evaluation: slots of variables, and what was used.
pub struct Eval<'a> {
    around: Around<'a>,
    params: &'a [Const],
    slots: Vec<Option<Value<'a>>>,
    /// How many of them were given: those stay for the next rule.
    given: usize,
    /// Bindings that are evaluated on first use: slot, expression, and what it used.
    lets: &'a [(usize, Typed)],
    let_trails: Vec<Option<Rc<[Used<'a>]>>>,
    trail: Vec<Used<'a>>,
    /// What is the same in all turns of the loops around it, with what it used.
    kept: Vec<Option<Kept<'a>>>,
    /// What stays for the next rule.
    said: Said<'a>,
}

impl<'a> Eval<'a> {
    /// The expression that uses a value written elsewhere, for what stands at `from`.
    pub fn use_of(&self, value: Span, from: Span) -> Option<Span> {
        self.around.context.use_of(value, from)
    }

    /// An evaluation in which the first slots hold what is asked about.
    pub fn of(around: Around<'a>, given: &[Value<'a>]) -> Self {
        let slots = given.iter().cloned().map(Some).collect();
        let (let_trails, trail, kept) = (Vec::new(), Vec::new(), Vec::new());
        let said = Said::default();
        Self { around, params: &[], slots, given: given.len(), lets: &[], let_trails, trail, kept, said }
    }

    /// Begins anew, with what one rule binds: `slots` variables in all.
    pub fn begin(&mut self, params: &'a [Const], lets: &'a [(usize, Typed)], slots: usize) {
        (self.params, self.lets) = (params, lets);
        self.slots.truncate(self.given);
        self.slots.resize(slots.max(self.given), None);
        self.let_trails.clear();
        self.let_trails.resize(lets.len(), None);
        self.trail.clear();
        self.kept.clear();
    }

    /// What it may spend.
    pub fn share(&self) -> &Rc<Share> {
        &self.around.share
    }

    /// Makes place for more variables: what a rule says may bind some that it does not ask with.
    pub fn widen(&mut self, slots: usize) {
        self.slots.resize(slots.max(self.slots.len()), None);
    }

    /// Sets a variable.
    pub fn set(&mut self, slot: usize, value: Value<'a>) {
        self.slots[slot] = Some(value);
    }

    /// Forgets the values of bindings, for the next element of `each`.
    pub fn forget_lets(&mut self) {
        for (slot, _) in self.lets.iter().filter(|(_, typed)| typed.loops != 0) {
            self.slots[*slot] = None;
        }
    }

    /// Evaluates, and returns the facts that decided the answer beside it.
    pub fn run(&mut self, typed: &'a Typed) -> (Value<'a>, Vec<Used<'a>>) {
        self.trail.clear();
        let value = self.value(typed);
        (value, std::mem::take(&mut self.trail))
    }

    /// The value of an expression, what is kept of it first.
    fn value(&mut self, typed: &'a Typed) -> Value<'a> {
        if typed.common {
            return self.common(typed);
        }
        let Some(place) = typed.kept else { return self.evaluated(typed) };
        if let Some((value, used)) = self.kept.get(place).and_then(Option::as_ref) {
            self.trail.extend_from_slice(used);
            return value.clone();
        }
        let (value, used) = self.apart(|eval| eval.evaluated(typed));
        self.trail.extend_from_slice(&used);
        self.keep(place, (value.clone(), used));
        value
    }

    /// The value of an expression that is the same for everything that is asked about there.
    fn common(&mut self, typed: &'a Typed) -> Value<'a> {
        let address = std::ptr::from_ref(typed) as usize;
        let common = self.around.common;
        let known = common.known.borrow().get(&address).cloned();
        let (value, used) = known.unwrap_or_else(|| {
            let found = self.for_all(|eval| eval.evaluated(typed));
            common.known.borrow_mut().insert(address, found.clone());
            found
        });
        common.share.spent().into_iter().for_each(|spent| self.around.share.fail(spent));
        self.trail.extend_from_slice(&used);
        value
    }

    /// Evaluates apart, at the expense of all that is asked about there.
    fn for_all(&mut self, evaluate: impl FnOnce(&mut Self) -> Value<'a>) -> Kept<'a> {
        let own = std::mem::replace(&mut self.around.share, Rc::clone(&self.around.common.share));
        let found = self.apart(evaluate);
        self.around.share = own;
        found
    }

    /// Evaluates with a trail of its own, and returns the trail, too.
    fn apart(&mut self, evaluate: impl FnOnce(&mut Self) -> Value<'a>) -> (Value<'a>, Rc<[Used<'a>]>) {
        let before = std::mem::take(&mut self.trail);
        let value = evaluate(self);
        self.forget(REMEMBERED.min(self.trail.len()));
        (value, std::mem::replace(&mut self.trail, before).into())
    }

    /// How a value reads in a message.
    pub fn shown(&mut self, typed: &'a Typed) -> String {
        let value = self.run(typed).0;
        if weigh(&value, &self.around.share).is_err() { "…".to_owned() } else { value.to_string() }
    }

    fn keep(&mut self, place: usize, kept: Kept<'a>) {
        self.kept.resize(self.kept.len().max(place + 1), None);
        self.kept[place] = Some(kept);
    }

    fn evaluated(&mut self, typed: &'a Typed) -> Value<'a> {
        if self.around.share.work(COST).is_err() {
            return too_much();
        }
        match &typed.node {
            Node::Const(constant) => constant_value(constant),
            Node::Param(index) => constant_value(&self.params[*index]),
            Node::Slot(slot) => self.slot(*slot),
            Node::Field(base, index) => self.field(typed, base, *index),
            Node::DynField(base, name) => self.entry_of(typed, base, name),
            Node::Index(base, index) => {
                let (base, index) = (self.value(base), self.value(index));
                let value = at(&base, &index);
                self.used(typed, &value);
                value
            }
            Node::List(items) => Value::of(Data::List(items.iter().map(|item| self.value(item)).collect())),
            Node::Not(inner) => match truth(self.value(inner)) {
                Truth::Unknown(value) => value,
                answer => Value::of(Data::Bool(answer == Truth::False)),
            },
            Node::Negative(inner) => {
                let inner = self.value(inner);
                match number(&inner) {
                    Some(Number::Int(value)) => Value::of(value.checked_neg().map_or(Data::Null, Data::Int)),
                    Some(Number::Float(value)) => Value::of(Data::Float(-value)),
                    None => inner,
                }
            }
            Node::Binary(Op::And, a, b) => self.both(a, b),
            Node::Binary(Op::Or, a, b) => self.either(a, b),
            Node::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                self.binary(*op, a, b)
            }
            Node::Cond(condition, yes, no) => match truth(self.value(condition)) {
                Truth::True => self.value(yes),
                Truth::Unknown(value) => value.perhaps(),
                Truth::False => self.value(no),
            },
            Node::Macro { kind, list, body, turns } => self.over(*kind, list, body, *turns),
            Node::Default(items) => {
                let mut values = items.iter().map(|item| self.value(item));
                values.find(|value| !matches!(value.data, Data::Null)).unwrap_or(Value::of(Data::Null))
            }
            Node::Known(inner) => match self.value(inner) {
                Value { data: Data::Unknown(_), span } => Value { data: Data::Null, span },
                value => value,
            },
            Node::Entities(list) => self.around.context.entities(list),
            Node::Call { function, args } => self.call(function, args),
        }
    }

    fn field(&mut self, typed: &'a Typed, base: &'a Typed, index: usize) -> Value<'a> {
        let base = self.value(base);
        let (value, unread) = match base.data {
            Data::Entity(entity) => evidence::watched(|| entity.field(index)),
            Data::Record(record) => (record.fields.get(index).cloned().unwrap_or(Value::of(Data::Null)), false),
            Data::Unknown(_) => return base.perhaps(),
            _ => (Value { data: Data::Null, span: base.span }, false),
        };
        self.used(typed, &value);
        self.rests_on(unread);
        value
    }

    fn entry_of(&mut self, typed: &'a Typed, base: &'a Typed, name: &str) -> Value<'a> {
        let base = self.value(base);
        let value = match base.data {
            Data::Node(view) => Value::of_view(view.get(name)),
            Data::Map(map) => entry(&map, name).unwrap_or(Value::of(Data::Null)),
            Data::Unknown(_) => return base.perhaps(),
            _ => Value { data: Data::Null, span: base.span },
        };
        self.used(typed, &value);
        value
    }

    fn call(&mut self, function: &'static Function, args: &'a [Typed]) -> Value<'a> {
        let args: Vec<Value<'a>> = args.iter().map(|arg| self.value(arg)).collect();
        if let Some(unknown) = args.iter().find(|a| matches!(a.data, Data::Unknown(_))) {
            return unknown.clone().perhaps();
        }
        if !function.takes_null && args.iter().any(|a| matches!(a.data, Data::Null)) {
            return Value::of(Data::Null);
        }
        if function.pay(&args, &self.around.share).is_err() {
            return too_much();
        }
        let (mut value, unread) = self.said(function, &args);
        self.rests_on(unread);
        if value.span.is_none() {
            value.span = args.iter().find_map(|a| a.span);
        }
        value
    }

    /// What a function says, and whether that rests on something unread.
    fn said(&mut self, function: &'static Function, args: &[Value<'a>]) -> (Value<'a>, bool) {
        let say = || evidence::watched(|| (function.call)(args, self.around.context));
        let address = |arg: &Value<'_>| match arg.data {
            Data::Entity(entity) => Some(std::ptr::from_ref(entity).cast::<()>() as usize),
            _ => None,
        };
        let entities = function.is_kept().then(|| args.iter().map(address).collect::<Option<Vec<_>>>()).flatten();
        let Some(entities) = entities else { return say() };
        let key = (function.name, entities);
        if let Some(said) = self.said.get(&key) {
            return said.clone();
        }
        let said = say();
        self.said.insert(key, said.clone());
        said
    }

    fn slot(&mut self, slot: usize) -> Value<'a> {
        if let Some(value) = &self.slots[slot] {
            if let Some(index) = self.lets.iter().position(|(s, _)| *s == slot) {
                self.trail.extend_from_slice(self.let_trails[index].as_deref().unwrap_or_default());
            }
            return value.clone();
        }
        let Some(index) = self.lets.iter().position(|(s, _)| *s == slot) else { return Value::of(Data::Null) };
        let lets = self.lets;
        let (value, own) = self.apart(|eval| eval.value(&lets[index].1));
        self.trail.extend_from_slice(&own);
        self.let_trails[index] = Some(own);
        self.slots[slot] = Some(value.clone());
        value
    }

    /// Remembers a leaf that was read.
    fn used(&mut self, typed: &'a Typed, value: &Value<'a>) {
        let leaf =
            matches!(value.data, Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Str(_) | Data::Version(_));
        if leaf && value.span.is_some() {
            self.trail.push(Used { path: &typed.text, value: value.clone(), unread: false });
        }
    }

    /// Remembers that something was used whose source nobody read.
    fn rests_on(&mut self, unread: bool) {
        if unread {
            self.trail.push(Used { path: "", value: Value::of(Data::Null), unread });
        }
    }

    /// Forgets what was used since `start`, but not that some of it was unread.
    fn forget(&mut self, start: usize) {
        let unread = self.trail.drain(start..).any(|used| used.unread);
        self.rests_on(unread);
    }

    /// Applies an operator that touches both of its sides.
    fn binary(&mut self, op: Op, a: Value<'a>, b: Value<'a>) -> Value<'a> {
        let spent = match (op, &a.data, &b.data) {
            (Op::Add, Data::Str(_) | Data::List(_), _) | (Op::Add, _, Data::Str(_)) => weigh(&a, &self.around.share)
                .and_then(|a| Ok(a + weigh(&b, &self.around.share)?))
                .and_then(|made| self.around.share.make(made)),
            (_, Data::Str(_) | Data::List(_) | Data::Map(_), Data::Str(_) | Data::List(_)) => {
                weigh(&a, &self.around.share).and_then(|_| weigh(&b, &self.around.share)).map(drop)
            }
            (Op::In, _, Data::List(_)) => weigh(&b, &self.around.share).map(drop),
            _ => Ok(()),
        };
        if spent.is_err() { too_much() } else { binary(op, a, b) }
    }

    fn both(&mut self, a: &'a Typed, b: &'a Typed) -> Value<'a> {
        let start = self.trail.len();
        let left = truth(self.value(a));
        if left == Truth::False {
            return Value::of(Data::Bool(false));
        }
        let middle = self.trail.len();
        let right = truth(self.value(b));
        match (left, right) {
            (_, Truth::False) => {
                self.trail.drain(start..middle);
                Value::of(Data::Bool(false))
            }
            (Truth::True, Truth::True) => Value::of(Data::Bool(true)),
            (Truth::Unknown(value), _) | (_, Truth::Unknown(value)) => value,
            (Truth::False, _) => Value::of(Data::Bool(false)),
        }
    }

    fn either(&mut self, a: &'a Typed, b: &'a Typed) -> Value<'a> {
        let start = self.trail.len();
        let left = truth(self.value(a));
        if left == Truth::True {
            return Value::of(Data::Bool(true));
        }
        let middle = self.trail.len();
        let right = truth(self.value(b));
        match (left, right) {
            (_, Truth::True) => {
                self.trail.drain(start..middle);
                Value::of(Data::Bool(true))
            }
            (Truth::Unknown(value), _) | (_, Truth::Unknown(value)) => value,
            _ => Value::of(Data::Bool(false)),
        }
    }
}

fn constant_value(constant: &Const) -> Value<'_> {
    Value::of(match constant {
        Const::Null => Data::Null,
        Const::Bool(value) => Data::Bool(*value),
        Const::Int(value) => Data::Int(*value),
        Const::Float(value) => Data::Float(*value),
        Const::Str(value) => Data::Str(Cow::Borrowed(value)),
        Const::Version(value) => Data::Version(Cow::Borrowed(value)),
        Const::List(items) => Data::List(items.iter().map(constant_value).collect()),
    })
}

/// A condition's answer.
pub enum Truth<'a> {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It cannot be told: the operand that is unknown.
    Unknown(Value<'a>),
}

impl PartialEq for Truth<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// Absent is not true; text of a raw document counts when it spells a Boolean.
pub fn truth(value: Value<'_>) -> Truth<'_> {
    match &value.data {
        Data::Bool(true) => Truth::True,
        Data::Str(text) if text.eq_ignore_ascii_case("true") => Truth::True,
        Data::Unknown(_) => Truth::Unknown(value),
        _ => Truth::False,
    }
}

/// The answer where the share is spent.
fn too_much<'a>() -> Value<'a> {
    Value::unknown(Why::Malformed("a rule that takes too many steps".into()), None)
}

#[cfg(test)]
mod tests;
