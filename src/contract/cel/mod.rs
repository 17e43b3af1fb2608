//! Rules in CEL that schemas state of their values, as the API server asks them: three-valued, as what is not known may be
//! anything. What of the language is not here makes an answer unknown.

mod functions;
mod values;

use super::pack;
use crate::budget::{NODE, Share, Spent};
use crate::parse::View;
use crate::parse::expression::{Expr, Kind, OPTIONAL, Op};
use values::{Value, absent, equal, ordering};

/// Why there is no value.
#[derive(Debug)]
pub(super) enum Fail {
    /// The rule asks for what is not there, or for what cannot be: the API server refuses the object then, too.
    Error,
    /// Nothing is left to spend.
    Spent(Spent),
}

impl From<Spent> for Fail {
    fn from(spent: Spent) -> Self {
        Fail::Spent(spent)
    }
}

type Answer<'t> = Result<Value<'t>, Fail>;

/// What a rule comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds, or that cannot be told.
    Taken,
    /// It does not hold.
    Broken,
    /// It asks for what is not there, or for what cannot be.
    Unanswered,
}

/// Holds a value against a rule.
///
/// # Errors
/// The share is spent.
pub fn ask(rule: &'static str, view: View<'_>, schema: u32, share: &Share) -> Result<Verdict, Spent> {
    share.work(rule.len())?;
    let Some(expr) = pack::rule(rule) else { return Ok(Verdict::Taken) };
    let mut eval = Eval { share, names: vec![("self".to_owned(), Value::of(view, Some(schema)))] };
    match eval.value(&expr) {
        Ok(Value::Bool(false)) => Ok(Verdict::Broken),
        Ok(_) => Ok(Verdict::Taken),
        Err(Fail::Error) => Ok(Verdict::Unanswered),
        Err(Fail::Spent(spent)) => Err(spent),
    }
}

struct Eval<'t, 's> {
    share: &'s Share,
    names: Vec<(String, Value<'t>)>,
}

impl<'t> Eval<'t, '_> {
    fn value(&mut self, expr: &Expr) -> Answer<'t> {
        self.share.work(NODE)?;
        Ok(match &expr.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Int(value) => Value::Int(*value),
            Kind::Float(value) => Value::Float(*value),
            Kind::Str(text) => Value::text(text.clone()),
            Kind::List(items) => {
                let items: Result<Vec<_>, Fail> = items.iter().map(|item| self.value(item)).collect();
                Value::List(items?.into())
            }
            Kind::Ident(name) => {
                let known = self.names.iter().rev().find(|(known, _)| known == name);
                known.map_or(Value::Unknown, |(_, value)| value.clone())
            }
            // The API server fills metadata in.
            Kind::Field(base, name) if matches!(&base.kind, Kind::Field(_, above) if above == "metadata") => {
                self.value(base)?.field(&unescaped(name)).unwrap_or(Value::Unknown)
            }
            Kind::Field(base, name) => self.value(base)?.field(&unescaped(name))?,
            Kind::Index(base, index) => {
                let (base, index) = (self.value(base)?, self.value(index)?);
                base.at(&index)?
            }
            Kind::Not(inner) => match self.value(inner)? {
                Value::Bool(value) => Value::Bool(!value),
                Value::Unknown => Value::Unknown,
                _ => return Err(Fail::Error),
            },
            Kind::Negative(inner) => match self.value(inner)? {
                Value::Int(value) => Value::Int(value.checked_neg().ok_or(Fail::Error)?),
                Value::Float(value) => Value::Float(-value),
                Value::Unknown => Value::Unknown,
                _ => return Err(Fail::Error),
            },
            Kind::Cond(condition, yes, no) => match self.value(condition)? {
                Value::Bool(holds) => self.value(if holds { yes } else { no })?,
                Value::Unknown => {
                    // Both ways may come to the same.
                    let (yes, no) = (self.value(yes)?, self.value(no)?);
                    if equal(&yes, &no) == Some(true) { yes } else { Value::Unknown }
                }
                _ => return Err(Fail::Error),
            },
            Kind::Binary(op @ (Op::And | Op::Or), left, right) => self.either(*op == Op::Or, left, right)?,
            Kind::Binary(op, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                binary(*op, &left, &right)?
            }
            Kind::Call { target, name, args } => self.call(target.as_deref(), name, args)?,
        })
    }

    /// `a || b` and `a && b`: decided by one side whatever the other is.
    fn either(&mut self, deciding: bool, left: &Expr, right: &Expr) -> Answer<'t> {
        let mut failed = None;
        let mut unknown = false;
        for side in [left, right] {
            match self.value(side) {
                Ok(Value::Bool(value)) if value == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => {}
                Ok(Value::Unknown) => unknown = true,
                Ok(_) => failed = Some(Fail::Error),
                Err(Fail::Spent(spent)) => return Err(Fail::Spent(spent)),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            _ if unknown => Ok(Value::Unknown),
            Some(error) => Err(error),
            None => Ok(Value::Bool(!deciding)),
        }
    }

    fn call(&mut self, target: Option<&Expr>, name: &str, args: &[Expr]) -> Answer<'t> {
        match (target, name, args) {
            (None, "has", [Expr { kind: Kind::Field(base, field), .. }]) => {
                Ok(self.value(base)?.has(&unescaped(field))?.map_or(Value::Unknown, Value::Bool))
            }
            (
                Some(Expr { kind: Kind::Ident(cel), .. }),
                "bind",
                [Expr { kind: Kind::Ident(name), .. }, value, body],
            ) if cel == "cel" => {
                let value = self.value(value)?;
                self.with(name, value, body)
            }
            (Some(base), OPTIONAL, [key]) => {
                let (base, key) = (self.value(base)?, self.value(key)?);
                Ok(base.optional(&key))
            }
            (Some(base), "optMap" | "optFlatMap", [Expr { kind: Kind::Ident(turn), .. }, body]) => {
                match self.value(base)? {
                    Value::Optional(Some(inner)) => {
                        let made = self.with(turn, *inner, body)?;
                        let flat = name == "optFlatMap" || made.is_unknown();
                        Ok(if flat { made } else { Value::Optional(Some(Box::new(made))) })
                    }
                    other => Ok(other),
                }
            }
            (Some(base), _, [Expr { kind: Kind::Ident(turn), .. }, rest @ ..])
                if matches!(
                    (name, rest.len()),
                    ("all" | "exists" | "exists_one" | "existsOne" | "filter", 1) | ("map", 1 | 2)
                ) =>
            {
                let base = self.value(base)?;
                self.turns(&base, turn, name, rest)
            }
            (target, _, _) => {
                let target = target.filter(|t| !matches!(&t.kind, Kind::Ident(name) if self.is_library(name)));
                let target = target.map(|target| self.value(target)).transpose()?;
                let args: Result<Vec<_>, Fail> = args.iter().map(|arg| self.value(arg)).collect();
                functions::call(target, name, &args?, self.share)
            }
        }
    }

    /// Whether a name is one of a group of functions: `sets.contains(a, b)`.
    fn is_library(&self, name: &str) -> bool {
        matches!(name, "sets" | "math" | "lists" | "optional" | "format")
            && self.names.iter().all(|(known, _)| known != name)
    }

    fn with(&mut self, name: &str, value: Value<'t>, body: &Expr) -> Answer<'t> {
        self.names.push((name.to_owned(), value));
        let out = self.value(body);
        self.names.pop();
        out
    }

    /// The loops: `all`, `exists`, `exists_one`, `filter` and `map`.
    fn turns(&mut self, base: &Value<'t>, turn: &str, name: &str, body: &[Expr]) -> Answer<'t> {
        let Some((items, whole)) = base.turns() else {
            return if base.is_unknown() { Ok(Value::Unknown) } else { Err(Fail::Error) };
        };
        let (mut yes, mut unknown, mut failed, mut made) = (0, !whole, None, Vec::new());
        for item in items {
            let answer = match self.with(turn, item.clone(), &body[0]) {
                Err(Fail::Spent(spent)) => return Err(Fail::Spent(spent)),
                other => other,
            };
            match (name, answer) {
                ("map", Ok(value)) if body.len() == 1 => made.push(value),
                ("map" | "filter", Ok(Value::Bool(false))) => {}
                ("map", Ok(Value::Bool(true))) => made.push(self.with(turn, item, &body[1])?),
                ("filter", Ok(Value::Bool(true))) => made.push(item),
                ("all", Ok(Value::Bool(false))) => return Ok(Value::Bool(false)),
                ("exists", Ok(Value::Bool(true))) => return Ok(Value::Bool(true)),
                (_, Ok(Value::Bool(holds))) => yes += usize::from(holds),
                (_, Ok(Value::Unknown)) => unknown = true,
                (_, Ok(_)) => failed = Some(Fail::Error),
                (_, Err(error)) => failed = Some(error),
            }
        }
        match failed {
            _ if unknown => Ok(Value::Unknown),
            Some(error) => Err(error),
            None => Ok(match name {
                "all" => Value::Bool(true),
                "exists" => Value::Bool(false),
                "filter" | "map" => Value::List(made.into()),
                _ => Value::Bool(yes == 1),
            }),
        }
    }
}

fn binary<'t>(op: Op, left: &Value<'t>, right: &Value<'t>) -> Answer<'t> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if matches!(op, Op::Eq | Op::Ne) {
        return Ok(equal(left, right).map_or(Value::Unknown, |same| Value::Bool(same == (op == Op::Eq))));
    }
    if op == Op::In {
        return right.contains(left);
    }
    if left.is_unknown() || right.is_unknown() {
        return Ok(Value::Unknown);
    }
    if let (Op::Lt | Op::Le | Op::Gt | Op::Ge, Some(order)) = (op, ordering(left, right)) {
        let holds = match op {
            Op::Lt => order == Less,
            Op::Le => matches!(order, Less | Equal),
            Op::Gt => order == Greater,
            _ => matches!(order, Greater | Equal),
        };
        return Ok(Value::Bool(holds));
    }
    values::arithmetic(op, left, right).ok_or(Fail::Error)
}

/// The name of a field as it stands in the object: CEL has no other letters than those of identifiers.
fn unescaped(name: &str) -> String {
    if !name.contains("__") {
        return name.to_owned();
    }
    let inner = name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).filter(|inner| !inner.contains("__"));
    inner.map_or_else(
        || {
            name.replace("__dash__", "-")
                .replace("__dot__", ".")
                .replace("__slash__", "/")
                .replace("__underscores__", "__")
        },
        str::to_owned,
    )
}

/// What holds where a field is missing: its default.
fn default_of<'t>(schema: Option<u32>) -> Option<Value<'t>> {
    let schema = schema?;
    let default = serde_json::from_str(pack::node(schema).default?).ok()?;
    Some(absent(default, Some(schema)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::{SourceId, Span};
    use serde_json::Value as Json;
    use std::sync::LazyLock;

    /// What the libraries of the API server say of texts (`tests/oracles/cel/formats.py`).
    static SAID: LazyLock<Json> =
        LazyLock::new(|| serde_json::from_str(include_str!("../../../tests/data/formats.json")).expect("JSON"));

    #[test]
    fn rules_hold_of_the_texts_of_which_the_api_server_says_so() {
        let rules = SAID["taken"].as_object().expect("rules").iter().filter(|(rule, _)| rule.contains("self"));
        for (rule, taken) in rules {
            for text in SAID["texts"].as_array().expect("texts") {
                let json = text.to_string();
                let tree = yaml::parse(SourceId(0), &json, Dialect::Kubernetes);
                let view = View::new(yaml::root(&tree), Span::new(SourceId(0), 0..json.len()));
                let holds = ask(rule, view, 0, &Share::of(1, json.len())).expect("a share") == Verdict::Taken;
                assert_eq!(holds, taken.as_array().expect("texts").contains(text), "{rule} of {text}");
            }
        }
    }
}
