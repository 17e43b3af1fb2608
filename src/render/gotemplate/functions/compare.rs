//! Comparisons, with Go's strictness about types.

use super::{ANY, Call, Function};
use crate::budget::{NODE, STEP, Share};
use crate::render::gotemplate::print;
use crate::render::value::{Data, Value};
use std::cmp::Ordering;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "eq" => (|c| equal(c).map(Value::from), 2, ANY),
        "ne" => (|c| equal(c).map(|same| (!same).into()), 2, 2),
        "lt" => (|c| Ok((order(c)? == Some(Ordering::Less)).into()), 2, 2),
        "le" => (|c| Ok(matches!(order(c)?, Some(Ordering::Less | Ordering::Equal)).into()), 2, 2),
        "gt" => (|c| Ok((!matches!(order(c)?, Some(Ordering::Less | Ordering::Equal))).into()), 2, 2),
        "ge" => (|c| Ok((order(c)? != Some(Ordering::Less)).into()), 2, 2),
        "deepEqual" => (|c| Ok(same(&c.args[0], &c.args[1], c.share).into()), 2, 2),
        _ => return None,
    })
}

fn mismatch() -> String {
    "incompatible types for comparison".to_owned()
}

/// Whether the first is one of the others.
fn equal(call: &Call<'_>) -> Result<bool, String> {
    let first = &call.args[0];
    for other in &call.args[1..] {
        let truth = match (&first.data, &other.data) {
            (Data::Nil, Data::Nil) => true,
            (Data::Nil, _) | (_, Data::Nil) => false,
            (Data::Bool(a), Data::Bool(b)) => a == b,
            (Data::Int(a, _), Data::Int(b, _)) => a == b,
            (Data::Float(a), Data::Float(b)) => a == b,
            (Data::Str(a), Data::Str(b)) => a.as_str() == b.as_str(),
            (Data::List(_) | Data::Map(_), _) | (_, Data::List(_) | Data::Map(_)) => {
                return Err(format!("non-comparable types {}, {}", print::type_of(first), print::type_of(other)));
            }
            _ => return Err(mismatch()),
        };
        if truth {
            return Ok(true);
        }
    }
    Ok(false)
}

fn order(call: &Call<'_>) -> Result<Option<Ordering>, String> {
    match (&call.args[0].data, &call.args[1].data) {
        (Data::Int(a, _), Data::Int(b, _)) => Ok(Some(a.cmp(b))),
        (Data::Float(a), Data::Float(b)) => Ok(a.partial_cmp(b)),
        (Data::Str(a), Data::Str(b)) => Ok(Some(a.as_str().cmp(b.as_str()))),
        (Data::Int(..) | Data::Float(_) | Data::Str(_), Data::Int(..) | Data::Float(_) | Data::Str(_)) => {
            Err(mismatch())
        }
        _ => Err("invalid type for comparison".to_owned()),
    }
}

/// Whether two values are equal through and through.
pub(super) fn same(a: &Value, b: &Value, share: &Share) -> bool {
    same_to(a, b, (share, 1))
}

fn same_to(a: &Value, b: &Value, (share, level): (&Share, usize)) -> bool {
    let bytes = match (&a.data, &b.data) {
        (Data::Str(a), Data::Str(b)) => a.len().min(b.len()),
        (Data::Map(a), Data::Map(b)) => (a.len() + b.len()) * NODE,
        _ => 0,
    };
    if share.nest(level).and_then(|()| share.work(STEP + bytes)).is_err() {
        return false;
    }
    let below = (share, level + 1);
    match (&a.data, &b.data) {
        (Data::Nil, Data::Nil) => true,
        (Data::Bool(a), Data::Bool(b)) => a == b,
        (Data::Int(a, of), Data::Int(b, other)) => a == b && of == other,
        (Data::Float(a), Data::Float(b)) => a == b,
        (Data::Str(a), Data::Str(b)) => a.as_str() == b.as_str(),
        (Data::List(a), Data::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_to(a, b, below))
        }
        (Data::Map(a), Data::Map(b)) => {
            let (a, b) = (a.entries(), b.entries());
            a.len() == b.len()
                && a.iter().zip(&b).all(|((ka, a), (kb, b))| ka == kb && same_to(&a.value, &b.value, below))
        }
        _ => false,
    }
}
