//! Functions of CEL: those of the language, and those that Kubernetes adds.

use super::super::format;
use super::super::uri::Uri;
use super::values::{Value, equal, ordering};
use super::{Answer, Fail};
use crate::budget::{STEP, Share};
use crate::quantity;
use std::net::IpAddr;

/// Patterns that need more memory than this are not asked.
const PATTERN: usize = 1 << 18;

/// The value of a call. A function that is not known makes an answer unknown.
pub fn call<'t>(target: Option<Value<'t>>, name: &str, args: &[Value<'t>], share: &Share) -> Answer<'t> {
    let size = |value: &Value<'t>| value.as_str().map_or(0, str::len);
    share.work(STEP + target.iter().chain(args).map(size).sum::<usize>())?;
    if let Some(Value::Optional(inner)) = &target {
        return Ok(optional(inner.as_deref(), name, args));
    }
    if target.iter().chain(args).any(Value::is_unknown) {
        return Ok(Value::Unknown);
    }
    let all: Vec<&Value<'t>> = target.iter().chain(args).collect();
    match all.as_slice() {
        [] if format::of_library(name, "").is_some() => Ok(Value::Format(name.to_owned().into())),
        [one] => of_one(one, name),
        [Value::Str(text), Value::Str(other)] => of_texts(text, name, other),
        [one, other] => of_two(one, name, other),
        [Value::Str(text), Value::Str(from), Value::Str(to)] if name == "replace" => {
            share.make(text.len() * (1 + to.len()))?;
            Ok(Value::text(text.replace(&**from, to)))
        }
        [Value::Str(text), Value::Int(from), Value::Int(to)] if name == "substring" => {
            let (from, to) = (usize::try_from(*from), usize::try_from(*to));
            let (Ok(from), Ok(to)) = (from, to) else { return Err(Fail::Error) };
            let characters = text.chars().count();
            if from > to || to > characters {
                Err(Fail::Error)
            } else {
                Ok(Value::text(text.chars().skip(from).take(to - from).collect()))
            }
        }
        _ => Ok(Value::Unknown),
    }
}

fn optional<'t>(inner: Option<&Value<'t>>, name: &str, args: &[Value<'t>]) -> Value<'t> {
    match (name, inner, args) {
        ("hasValue", inner, []) => Value::Bool(inner.is_some()),
        ("value", Some(inner), []) | ("orValue", Some(inner), [_]) => inner.clone(),
        ("orValue", None, [other]) => other.clone(),
        ("or", None, [other]) => other.clone(),
        ("or", Some(inner), [_]) => Value::Optional(Some(Box::new(inner.clone()))),
        _ => Value::Unknown,
    }
}

fn of_one<'t>(one: &Value<'t>, name: &str) -> Answer<'t> {
    let text = one.as_str();
    Ok(match (name, one) {
        ("size", one) => one.size()?,
        ("dyn", one) => one.clone(),
        ("of", one) => Value::Optional(Some(Box::new(one.clone()))),
        ("string", Value::Str(_)) => one.clone(),
        ("string", Value::Int(value)) => Value::text(value.to_string()),
        ("string", Value::Bool(value)) => Value::text(value.to_string()),
        ("string", Value::Float(value)) => Value::text(value.to_string()),
        ("int" | "uint", Value::Int(_)) => one.clone(),
        ("int" | "uint", Value::Float(value)) => Value::Int(*value as i64),
        ("int" | "uint", Value::Str(text)) => Value::Int(text.parse().map_err(|_| Fail::Error)?),
        ("double", Value::Int(value)) => Value::Float(*value as f64),
        ("double", Value::Float(_)) => one.clone(),
        ("double", Value::Str(text)) => Value::Float(text.parse().map_err(|_| Fail::Error)?),
        ("bool", Value::Bool(_)) => one.clone(),
        ("type", one) => Value::Type(type_of(one)),
        ("duration", Value::Str(text)) => Value::Duration(duration(text).ok_or(Fail::Error)?),
        ("quantity", Value::Str(text)) => Value::Quantity(quantity::parse(text).ok_or(Fail::Error)?),
        ("isQuantity", _) => Value::Bool(quantity::parse(text.ok_or(Fail::Error)?).is_some()),
        ("ip", _) => Value::Ip(text.and_then(ip).ok_or(Fail::Error)?),
        ("isIP", _) => Value::Bool(ip(text.ok_or(Fail::Error)?).is_some()),
        ("cidr", _) => cidr(text.ok_or(Fail::Error)?).ok_or(Fail::Error)?,
        ("isCIDR", _) => Value::Bool(cidr(text.ok_or(Fail::Error)?).is_some()),
        ("family", Value::Ip(ip)) => Value::Int(if ip.is_ipv4() { 4 } else { 6 }),
        ("prefixLength", Value::Cidr(_, length)) => Value::Int(i64::from(*length)),
        ("url", _) => Value::Url(text.and_then(Uri::parse).ok_or(Fail::Error)?.into()),
        ("isURL", _) => Value::Bool(Uri::parse(text.ok_or(Fail::Error)?).is_some()),
        ("getScheme", Value::Url(uri)) => Value::text(uri.scheme.clone()),
        ("getHost", Value::Url(uri)) => Value::text(uri.host.clone()),
        ("getHostname", Value::Url(uri)) => Value::text(uri.hostname().to_owned()),
        ("getPort", Value::Url(uri)) => Value::text(uri.port().to_owned()),
        ("lowerAscii", Value::Str(text)) => Value::text(text.to_ascii_lowercase()),
        ("upperAscii", Value::Str(text)) => Value::text(text.to_ascii_uppercase()),
        ("trim", Value::Str(text)) => Value::text(text.trim().to_owned()),
        ("isInteger", Value::Quantity(value)) => Value::Bool(value.fract() == 0.0),
        ("asInteger", Value::Quantity(value)) if value.fract() == 0.0 => Value::Int(*value as i64),
        ("asApproximateFloat", Value::Quantity(value)) => Value::Float(*value),
        ("sign", Value::Quantity(value)) => Value::Int(value.partial_cmp(&0.0).map_or(0, |order| order as i64)),
        ("getHours", Value::Duration(value)) => Value::Int((value / 3600.0) as i64),
        ("getMinutes", Value::Duration(value)) => Value::Int((value / 60.0) as i64),
        ("getSeconds", Value::Duration(value)) => Value::Int(*value as i64),
        ("getMilliseconds", Value::Duration(value)) => Value::Int((value * 1000.0) as i64),
        ("sum" | "min" | "max" | "isSorted" | "join", _) => of_list(one, name)?,
        _ => Value::Unknown,
    })
}

fn type_of(value: &Value<'_>) -> &'static str {
    match value {
        Value::Str(_) => "string",
        Value::Int(_) => "int",
        Value::Float(_) => "double",
        Value::Bool(_) => "bool",
        Value::Null => "null_type",
        Value::List(_) => "list",
        _ => "object",
    }
}

fn of_list<'t>(list: &Value<'t>, name: &str) -> Answer<'t> {
    let Some((items, true)) = list.turns() else { return Ok(Value::Unknown) };
    if items.iter().any(Value::is_unknown) {
        return Ok(Value::Unknown);
    }
    let ascending = |pair: &[Value<'t>]| ordering(&pair[0], &pair[1]).is_some_and(std::cmp::Ordering::is_le);
    Ok(match name {
        "isSorted" => Value::Bool(items.windows(2).all(ascending)),
        "join" => Value::text(items.iter().filter_map(Value::as_str).collect()),
        "sum" => {
            let add = |sum: Value<'t>, item: &Value<'t>| {
                super::values::arithmetic(crate::parse::expression::Op::Add, &sum, item)
            };
            items.iter().try_fold(Value::Int(0), add).ok_or(Fail::Error)?
        }
        _ => {
            let better = |one: Value<'t>, other: Value<'t>| {
                let smaller = ordering(&other, &one).is_some_and(std::cmp::Ordering::is_lt);
                if smaller == (name == "min") { other } else { one }
            };
            items.into_iter().reduce(better).ok_or(Fail::Error)?
        }
    })
}

fn of_texts<'t>(text: &str, name: &str, other: &str) -> Answer<'t> {
    let place = |found: Option<usize>| Value::Int(found.map_or(-1, |at| text[..at].chars().count() as i64));
    Ok(match name {
        "startsWith" => Value::Bool(text.starts_with(other)),
        "endsWith" => Value::Bool(text.ends_with(other)),
        "contains" => Value::Bool(text.contains(other)),
        "matches" | "find" => {
            let Ok(regex) = regex::RegexBuilder::new(other).size_limit(PATTERN).build() else {
                return Ok(Value::Unknown);
            };
            match name {
                "matches" => Value::Bool(regex.is_match(text)),
                _ => Value::text(regex.find(text).map_or(String::new(), |found| found.as_str().to_owned())),
            }
        }
        "split" => Value::List(text.split(other).map(|part| Value::text(part.to_owned())).collect()),
        "indexOf" => place(text.find(other)),
        "lastIndexOf" => place(text.rfind(other)),
        _ => Value::Unknown,
    })
}

fn of_two<'t>(one: &Value<'t>, name: &str, other: &Value<'t>) -> Answer<'t> {
    let order = || ordering(one, other).ok_or(Fail::Error);
    Ok(match (name, one, other) {
        ("isGreaterThan", Value::Quantity(_), Value::Quantity(_)) => Value::Bool(order()?.is_gt()),
        ("isLessThan", Value::Quantity(_), Value::Quantity(_)) => Value::Bool(order()?.is_lt()),
        ("compareTo", Value::Quantity(_), Value::Quantity(_)) => Value::Int(order()? as i64),
        ("add", Value::Quantity(a), Value::Quantity(b)) => Value::Quantity(a + b),
        ("sub", Value::Quantity(a), Value::Quantity(b)) => Value::Quantity(a - b),
        ("validate", Value::Format(format), Value::Str(text)) => match format::of_library(format, text) {
            // What is wrong with it is said in a list.
            Some(lacks) => Value::Optional(lacks.map(|lacks| Box::new(Value::List([Value::Str(lacks.into())].into())))),
            None => Value::Unknown,
        },
        ("join", list, Value::Str(between)) => {
            let Some((items, true)) = list.turns() else { return Ok(Value::Unknown) };
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            texts.map_or(Value::Unknown, |texts| Value::text(texts.join(between)))
        }
        ("charAt", Value::Str(text), Value::Int(at)) => {
            let at = usize::try_from(*at).ok().filter(|at| *at <= text.chars().count()).ok_or(Fail::Error)?;
            Value::text(text.chars().skip(at).take(1).collect())
        }
        ("substring", Value::Str(text), Value::Int(from)) => {
            let from = usize::try_from(*from).map_err(|_| Fail::Error)?;
            Value::text(text.chars().skip(from).collect())
        }
        ("indexOf", list, wanted) => {
            let Some((items, true)) = list.turns() else { return Ok(Value::Unknown) };
            let found = items.iter().position(|item| equal(item, wanted) == Some(true));
            Value::Int(found.map_or(-1, |at| at as i64))
        }
        ("contains", list, items) => {
            let Some((items, true)) = items.turns() else { return Ok(Value::Unknown) };
            let answers: Result<Vec<_>, Fail> = items.iter().map(|item| list.contains(item)).collect();
            let answers = answers?;
            match () {
                () if answers.iter().any(|a| matches!(a, Value::Bool(false))) => Value::Bool(false),
                () if answers.iter().any(Value::is_unknown) => Value::Unknown,
                () => Value::Bool(true),
            }
        }
        ("containsIP", Value::Cidr(net, length), Value::Ip(ip)) => Value::Bool(within((*net, *length), *ip)),
        _ => Value::Unknown,
    })
}

/// Seconds of a duration in Go's notation, which has a unit, and none for days.
fn duration(text: &str) -> Option<f64> {
    let bare = text.trim_start_matches(['-', '+']);
    let seconds = if bare == "0" {
        0.0
    } else {
        quantity::seconds(bare).filter(|_| bare.ends_with(['s', 'm', 'h']) && !bare.contains('d'))?
    };
    Some(if text.starts_with('-') { -seconds } else { seconds })
}

/// An address; none of IPv6 that stands for one of IPv4.
fn ip(text: &str) -> Option<IpAddr> {
    text.parse().ok().filter(|ip| !matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some()))
}

fn cidr<'t>(text: &str) -> Option<Value<'t>> {
    let (address, length) = text.split_once('/')?;
    let is_plain = length == "0" || !length.starts_with(['0', '+']);
    let (ip, length): (IpAddr, u8) = (ip(address)?, length.parse().ok().filter(|_| is_plain)?);
    (length <= if ip.is_ipv4() { 32 } else { 128 }).then_some(Value::Cidr(ip, length))
}

fn within((net, length): (IpAddr, u8), ip: IpAddr) -> bool {
    let bits = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()) << 96,
        IpAddr::V6(ip) => ip.to_bits(),
    };
    let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
    net.is_ipv4() == ip.is_ipv4() && bits(net) & mask == bits(ip) & mask
}
