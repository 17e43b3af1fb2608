//! What the files of a module declare: variables with their types, and locals.

use super::eval::{Eval, Written};
use super::value::{Val, Value, failed};
use crate::known::Why;
use crate::source::{Span, Traced};
use hcl_edit::expr::{Expression, ObjectKey};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Expressions evaluated for one module.
const MAX_STEPS: u32 = 1_000_000;

/// A declared variable.
#[derive(Debug, Default)]
pub(super) struct Variable<'m> {
    pub kind: Option<Written<'m>>,
    pub default: Option<Written<'m>>,
    /// The line of the last `.tfvars` file that sets it.
    pub set: Option<Written<'m>>,
}

/// What the files of a module declare, and what has been evaluated of it.
#[derive(Debug)]
pub(super) struct Registry<'m> {
    pub variables: BTreeMap<&'m str, Variable<'m>>,
    pub locals: BTreeMap<&'m str, Written<'m>>,
    /// Values of variables given by a call of the module.
    pub inputs: BTreeMap<&'m str, Val>,
    /// Named values, by `var.name` or `local.name`; `None` while they are being evaluated.
    pub cache: RefCell<BTreeMap<String, Option<Val>>>,
    /// Steps of work that are left.
    pub steps: Cell<u32>,
}

impl Registry<'_> {
    pub fn new() -> Self {
        Self {
            variables: BTreeMap::new(),
            locals: BTreeMap::new(),
            inputs: BTreeMap::new(),
            cache: RefCell::default(),
            steps: Cell::new(MAX_STEPS),
        }
    }
}

impl<'e> Eval<'e> {
    /// The value of `var.name` or `local.name`.
    pub fn named(&self, root: &str, name: &str, span: Span) -> Val {
        let id = format!("{root}.{name}");
        if let Some(known) = self.registry.cache.borrow().get(&id) {
            return match known {
                Some(value) => value.clone(),
                None => Val::result(failed(format!("{id} refers to itself")), span),
            };
        }
        self.registry.cache.borrow_mut().insert(id.clone(), None);
        let outer = |written: Written<'e>| self.elsewhere(written.place).eval(written.expr);
        let value = if root == "local" {
            self.registry.locals.get(name).map(|&written| outer(written))
        } else {
            self.registry.variables.get(name).and_then(|variable| {
                let value = match self.registry.inputs.get(name) {
                    Some(value) => value.clone(),
                    None => outer(variable.set.or(variable.default)?),
                };
                Some(match variable.kind {
                    Some(kind) => self.elsewhere(kind.place).conform(value, kind.expr),
                    None => value,
                })
            })
        };
        let value = value.unwrap_or_else(|| {
            let why = if root == "var" { Why::Variable(name.into()) } else { Why::Remote(id.as_str().into()) };
            Val::unknown(why, span)
        });
        self.registry.cache.borrow_mut().insert(id, Some(value.clone()));
        value
    }

    /// A value under a type constraint: optional attributes are filled in.
    fn conform(&self, value: Val, kind: &Expression) -> Val {
        let Expression::FuncCall(call) = kind else { return value };
        let Some(inner) = call.args.get(0) else { return value };
        let (span, origin) = (value.span, value.origin);
        let keep = |value: Value| Val::new(value, span).from(origin);
        match (&value.value, call.name.name.as_str(), inner) {
            (Value::List(items), "list" | "set", kind) => {
                keep(Value::list(items.iter().map(|item| self.conform(item.clone(), kind)).collect()))
            }
            (Value::Map(entries), "map", kind) => {
                keep(Value::map(entries.iter().map(|(k, v)| (Rc::clone(k), self.conform(v.clone(), kind)))))
            }
            (Value::Map(entries), "object", Expression::Object(object)) => {
                let mut out = entries.to_vec();
                for (key, value) in object.iter() {
                    let Some(name) = attribute_name(key) else { continue };
                    let (kind, default) = match value.expr() {
                        Expression::FuncCall(call) if call.name.name.as_str() == "optional" => {
                            (call.args.get(0), Some(call.args.get(1)))
                        }
                        kind => (Some(kind), None),
                    };
                    let found = out.iter_mut().find(|(k, _)| k.text() == name);
                    match (found, default) {
                        (Some((_, value)), default) => {
                            if let (true, Some(Some(default))) = (value.is_null(), default) {
                                *value = self.eval(default);
                            }
                            if let Some(kind) = kind {
                                *value = self.conform(value.clone(), kind);
                            }
                        }
                        (None, Some(default)) => {
                            let value = default.map_or(Val::new(Value::Null, span), |d| self.eval(d));
                            let value = kind.map_or(value.clone(), |kind| self.conform(value, kind));
                            out.push((Rc::new(Traced::opaque(name, span)), value));
                        }
                        (None, None) => {}
                    }
                }
                keep(Value::map(out))
            }
            _ => value,
        }
    }
}

fn attribute_name(key: &ObjectKey) -> Option<&str> {
    match key {
        ObjectKey::Ident(name) => Some(name.as_str()),
        ObjectKey::Expression(Expression::Variable(name)) => Some(name.as_str()),
        ObjectKey::Expression(Expression::String(name)) => Some(name.as_str()),
        ObjectKey::Expression(_) => None,
    }
}
