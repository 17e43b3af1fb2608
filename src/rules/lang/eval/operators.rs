//! What operators make of values. Knows no expressions.

use crate::facts::value::{Data, REST, Value, entry};
use crate::known::Known;
use crate::parse::View;
use crate::parse::expression::Op;
use crate::rules::lang::values::{Number, elements, list, number, order, same};
use std::borrow::Cow;
use std::cmp::Ordering;

/// `base[index]`; null when there is no such element.
pub fn at<'a>(base: &Value<'a>, index: &Value<'a>) -> Value<'a> {
    for value in [base, index] {
        if let Data::Unknown(_) = value.data {
            return value.clone().perhaps();
        }
    }
    let missing = Value { data: Data::Null, span: base.span };
    match (&base.data, &index.data) {
        (Data::List(items), Data::Int(i)) => {
            usize::try_from(*i).ok().and_then(|i| items.get(i)).cloned().unwrap_or(missing)
        }
        (Data::Map(map), Data::Str(key)) => entry(map, key).unwrap_or(missing),
        (Data::Node(view), Data::Str(key)) => Value::of_view(view.get(key)),
        (Data::Node(view), Data::Int(i)) => {
            let item: Option<View<'a>> = usize::try_from(*i).ok().and_then(|i| view.items().nth(i));
            item.map_or(missing, Value::of_view)
        }
        _ => missing,
    }
}

/// What an operator other than `&&` and `||` makes of its two sides.
pub fn binary<'a>(op: Op, a: Value<'a>, b: Value<'a>) -> Value<'a> {
    // What is stated is not nothing, whatever its value.
    if let (Op::Eq | Op::Ne, (Data::Unknown(why), Data::Null) | (Data::Null, Data::Unknown(why))) =
        (op, (&a.data, &b.data))
        && why.is_stated()
    {
        return Value::of(Data::Bool(op == Op::Ne));
    }
    if let Data::Unknown(_) = a.data {
        return a;
    }
    if let Data::Unknown(_) = b.data {
        return b;
    }
    let truth = |value: bool| Value::of(Data::Bool(value));
    match op {
        Op::Eq => truth(same(&a, &b)),
        Op::Ne => truth(!same(&a, &b)),
        Op::Lt => truth(order(&a, &b).is_some_and(Ordering::is_lt)),
        Op::Le => truth(order(&a, &b).is_some_and(Ordering::is_le)),
        Op::Gt => truth(order(&a, &b).is_some_and(Ordering::is_gt)),
        Op::Ge => truth(order(&a, &b).is_some_and(Ordering::is_ge)),
        Op::In => within(&a, &b),
        Op::Add if matches!((&a.data, &b.data), (Data::Str(_), Data::Null) | (Data::Null, Data::Str(_))) => {
            Value::of(Data::Null)
        }
        Op::Add if matches!(a.data, Data::Str(_)) || matches!(b.data, Data::Str(_)) => {
            Value::of(Data::Str(Cow::Owned(format!("{a}{b}"))))
        }
        Op::Add if matches!((&a.data, &b.data), (Data::List(_), Data::List(_))) => {
            list(elements(&a).iter().chain(elements(&b).iter()).cloned())
        }
        _ => arithmetic(op, &a, &b),
    }
}

/// Whether a value is in a list, a key in a map, a text in a text. An unknown element leaves it open.
fn within<'a>(a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
    if let (Data::Str(part), Data::Str(whole)) = (&a.data, &b.data) {
        return Value::of(Data::Bool(whole.contains(part.as_ref())));
    }
    if let (Data::Map(map), Data::Str(key)) = (&b.data, &a.data) {
        let present = Value::of(Data::Bool(map.contains_key(key.as_ref())));
        return map.get(REST).filter(|_| !map.contains_key(key.as_ref())).cloned().unwrap_or(present);
    }
    if let (Data::Node(view), Data::Str(key)) = (&b.data, &a.data)
        && view.node().is_some_and(|n| n.is_map())
    {
        return match view.has(key) {
            Known::Value(has) => Value::of(Data::Bool(has)),
            Known::Unknown(why) => Value::unknown(why, b.span),
            Known::Absent => Value::of(Data::Bool(false)),
        };
    }
    let items = elements(b);
    if items.iter().any(|item| same(a, item)) {
        return Value::of(Data::Bool(true));
    }
    let unknown = items.iter().find(|item| matches!(item.data, Data::Unknown(_)));
    unknown.cloned().unwrap_or(Value::of(Data::Bool(false)))
}

fn arithmetic<'a>(op: Op, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
    let (Some(x), Some(y)) = (number(a), number(b)) else { return Value::of(Data::Null) };
    if let (Number::Int(x), Number::Int(y)) = (x, y) {
        let whole = match op {
            Op::Add => x.checked_add(y),
            Op::Sub => x.checked_sub(y),
            Op::Mul => x.checked_mul(y),
            // Division rounds towards zero, as in CEL; by zero it is nothing.
            Op::Div => x.checked_div(y),
            _ => x.checked_rem(y),
        };
        return Value::of(whole.map_or(Data::Null, Data::Int));
    }
    let (x, y) = (x.float(), y.float());
    let value = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        _ => x % y,
    };
    Value::of(if value.is_finite() { Data::Float(value) } else { Data::Null })
}
