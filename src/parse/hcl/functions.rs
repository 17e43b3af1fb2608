//! Terraform's functions, over known values. A function that reads files or the clock, or that is not here,
//! gives an unknown value that names it.

use super::eval::Eval;
use super::value::{Fail, MAX_ITEMS, Val, Value, failed, number_text, too_large};
use crate::known::Why;
use crate::source::{Span, Traced};
use std::rc::Rc;

type Found = Result<Val, Fail>;

/// Calls a function. `try` is not here: it looks at its arguments one by one.
pub(super) fn call(eval: &Eval<'_>, name: &str, args: &[Val], span: Span) -> Found {
    let call = Call { eval, name, args, span };
    call.passing().or_else(|| call.numbers()).or_else(|| call.texts()).or_else(|| call.collections()).unwrap_or_else(
        || {
            let shown = args.first().map_or("", |arg| eval.place.text.get(arg.span.range()).unwrap_or(""));
            let shown = shown.trim_matches('"');
            Err(Fail::Unknown(Why::Remote(format!("{name}({shown})").into())))
        },
    )
}

struct Call<'c> {
    eval: &'c Eval<'c>,
    name: &'c str,
    args: &'c [Val],
    span: Span,
}

impl Call<'_> {
    fn arg(&self, index: usize) -> Result<&Val, Fail> {
        self.args.get(index).ok_or_else(|| Fail::Failed(format!("{} needs more arguments", self.name).into()))
    }

    fn string(&self, index: usize) -> Result<String, Fail> {
        self.arg(index)?.string()
    }

    fn number(&self, index: usize) -> Result<f64, Fail> {
        self.arg(index)?.number()
    }

    fn items(&self, index: usize) -> Result<Vec<Val>, Fail> {
        self.arg(index)?.items()
    }

    fn val(&self, value: Value) -> Val {
        Val::new(value, self.span)
    }

    fn text(&self, text: impl Into<Box<str>>) -> Val {
        Val::text(text, self.span)
    }

    /// Functions that give one of their arguments, or judge it without looking inside.
    fn passing(&self) -> Option<Found> {
        Some(match self.name {
            "jsonencode" | "yamlencode" | "base64encode" | "base64gzip" | "textencodebase64" | "sensitive"
            | "nonsensitive" | "ephemeralasnull" => self.arg(0).cloned(),
            "can" => self.arg(0).and_then(|v| match v.known() {
                Err(Fail::Unknown(why)) => Err(Fail::Unknown(why)),
                known => Ok(self.val(Value::Bool(known.is_ok()))),
            }),
            "coalesce" => self.coalesce(|v| v.is_null() || matches!(&v.value, Value::Str(t) if t.text().is_empty())),
            "coalescelist" => self.coalesce(|v| matches!(&v.value, Value::List(items) if items.is_empty())),
            "lookup" => self.lookup(),
            "element" => self.element(),
            "one" => self.items(0).and_then(|items| match &items[..] {
                [] => Ok(self.val(Value::Null)),
                [only] => Ok(only.clone()),
                _ => failed("one of several items"),
            }),
            _ => return None,
        })
    }

    fn coalesce(&self, skip: impl Fn(&Val) -> bool) -> Found {
        for arg in self.args {
            arg.known()?;
            if !skip(arg) {
                return Ok(arg.clone());
            }
        }
        failed("nothing to coalesce to")
    }

    fn lookup(&self) -> Found {
        match self.arg(0)?.get(&self.string(1)?)? {
            Some(value) => Ok(value),
            None => self.arg(2).cloned(),
        }
    }

    fn element(&self) -> Found {
        let (items, index) = (self.items(0)?, self.number(1)?);
        if items.is_empty() || index.fract() != 0.0 {
            return failed("no such element");
        }
        Ok(items[(index as i64).rem_euclid(items.len() as i64) as usize].clone())
    }

    fn numbers(&self) -> Option<Found> {
        let number = |f: fn(f64) -> f64| self.number(0).map(|n| self.val(Value::Number(f(n))));
        Some(match self.name {
            "abs" => number(f64::abs),
            "ceil" => number(f64::ceil),
            "floor" => number(f64::floor),
            "signum" => number(|n| if n == 0.0 { 0.0 } else { n.signum() }),
            "max" => self.fold(f64::max),
            "min" => self.fold(f64::min),
            "sum" => self.items(0).and_then(|items| {
                items.iter().map(Val::number).sum::<Result<f64, Fail>>().map(|n| self.val(Value::Number(n)))
            }),
            "pow" => self.number(0).and_then(|a| {
                let power = a.powf(self.number(1)?);
                if power.is_finite() { Ok(self.val(Value::Number(power))) } else { failed("not a finite number") }
            }),
            "parseint" => self.parse_int(),
            "tonumber" => self.convert(|v| v.number().map(Value::Number)),
            "tobool" => self.convert(|v| v.boolean().map(Value::Bool)),
            "tostring" => self.convert(|v| match &v.value {
                Value::Str(text) => Ok(Value::Str(Rc::clone(text))),
                _ => Ok(Value::text(v.string()?, v.span)),
            }),
            "range" => self.range(),
            _ => return None,
        })
    }

    fn fold(&self, f: fn(f64, f64) -> f64) -> Found {
        let numbers = self.args.iter().map(Val::number).collect::<Result<Vec<f64>, Fail>>()?;
        match numbers.into_iter().reduce(f) {
            Some(number) => Ok(self.val(Value::Number(number))),
            None => failed("no numbers"),
        }
    }

    fn parse_int(&self) -> Found {
        let base = self.arg(1)?.index()? as u32;
        let valid = (2..=36).contains(&base);
        match i64::from_str_radix(&self.string(0)?, if valid { base } else { 10 }) {
            Ok(value) if valid => Ok(self.val(Value::Number(value as f64))),
            _ => failed("not a number in that base"),
        }
    }

    fn convert(&self, f: impl Fn(&Val) -> Result<Value, Fail>) -> Found {
        let value = self.arg(0)?;
        if value.is_null() { Ok(value.clone()) } else { f(value).map(|v| self.val(v)) }
    }

    fn range(&self) -> Found {
        let (start, end) = match self.args.len() {
            1 => (0.0, self.number(0)?),
            _ => (self.number(0)?, self.number(1)?),
        };
        let step = if self.args.len() > 2 { self.number(2)? } else { f64::from(if start <= end { 1 } else { -1 }) };
        let count = ((end - start) / step).ceil().max(0.0);
        if count.is_nan() || count > MAX_ITEMS as f64 {
            return Err(too_large());
        }
        let item = |i: usize| self.val(Value::Number(start + step * i as f64));
        Ok(self.val(Value::list((0..count as usize).map(item).collect())))
    }

    fn texts(&self) -> Option<Found> {
        let map = |f: &dyn Fn(&str) -> String| self.string(0).map(|s| self.text(f(&s)));
        let flag = |f: fn(&str, &str) -> bool| Ok(self.val(Value::Bool(f(&self.string(0)?, &self.string(1)?))));
        Some(match self.name {
            "upper" => map(&str::to_uppercase),
            "lower" => map(&str::to_lowercase),
            "title" => map(&title),
            "strrev" => map(&|s| s.chars().rev().collect()),
            "trimspace" => self.part(|s| s.trim()),
            "chomp" => self.part(|s| s.trim_end_matches(['\n', '\r'])),
            "trimprefix" => self.string(1).and_then(|p| self.part(|s| s.strip_prefix(p.as_str()).unwrap_or(s))),
            "trimsuffix" => self.string(1).and_then(|p| self.part(|s| s.strip_suffix(p.as_str()).unwrap_or(s))),
            "trim" => self.string(1).and_then(|p| self.part(|s| s.trim_matches(|c| p.contains(c)))),
            "startswith" => flag(|s, p| s.starts_with(p)),
            "endswith" => flag(|s, p| s.ends_with(p)),
            "strcontains" => flag(|s, p| s.contains(p)),
            "substr" => self.substr(),
            "replace" => self.replace(),
            "format" => self.format(&self.args[1.min(self.args.len())..]).map(|s| self.text(s)),
            "formatlist" => self.format_list(),
            "join" => self.join(),
            "split" => self.split(),
            "indent" => self.arg(0).and_then(Val::index).and_then(|n| {
                if n > 256 {
                    return Err(too_large());
                }
                Ok(self.text(self.string(1)?.replace('\n', &format!("\n{}", " ".repeat(n)))))
            }),
            "base64decode" => self.string(0).and_then(|s| match base64(&s) {
                Some(text) => Ok(self.text(text)),
                // Encoding is transparent here, so this may be text that was encoded in this module.
                None => Err(Fail::Unknown(Why::Remote("base64decode()".into()))),
            }),
            "jsondecode" => self.json_decode(),
            _ => return None,
        })
    }

    /// A part of the first argument, still traced to where it is written.
    fn part(&self, f: impl Fn(&str) -> &str) -> Found {
        let whole = self.string(0)?;
        let Value::Str(traced) = &self.args[0].value else { return Ok(self.text(f(&whole))) };
        let part = f(traced.text());
        let start = part.as_ptr() as usize - traced.text().as_ptr() as usize;
        Ok(self.val(Value::Str(Rc::new(traced.slice(start..start + part.len())))))
    }

    fn substr(&self) -> Found {
        let (text, offset, length) = (self.string(0)?, self.number(1)?, self.number(2)?);
        let count = text.chars().count() as f64;
        let start = if offset < 0.0 { (count + offset).max(0.0) } else { offset };
        let take = if length < 0.0 { usize::MAX } else { length as usize };
        Ok(self.text(text.chars().skip(start as usize).take(take).collect::<String>()))
    }

    fn replace(&self) -> Found {
        let (text, from, to) = (self.string(0)?, self.string(1)?, self.string(2)?);
        if from.len() > 1 && from.starts_with('/') && from.ends_with('/') {
            return Err(Fail::Unknown(Why::Remote(format!("replace({from})").into())));
        }
        if text.len().saturating_mul(to.len().max(1)) > super::value::MAX_TEXT * 16 {
            return Err(too_large());
        }
        Ok(self.text(text.replace(&from, &to)))
    }

    fn format(&self, args: &[Val]) -> Result<String, Fail> {
        let spec = self.string(0)?;
        let (mut out, mut rest, mut args) = (String::new(), spec.as_str(), args.iter());
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let verb = rest.find(|c: char| c.is_ascii_alphabetic() || c == '%');
            let Some(verb) = verb else { return failed("a format verb is missing") };
            let (flags, kind) = (&rest[..verb], rest.as_bytes()[verb]);
            rest = &rest[verb + 1..];
            if kind == b'%' {
                out.push('%');
                continue;
            }
            let Some(arg) = args.next() else { return failed("too few arguments to format") };
            let body = match kind {
                b's' | b'v' => arg.string()?,
                b'd' => number_text(arg.number()?.trunc()),
                b'q' => format!("{:?}", arg.string()?),
                b't' => arg.boolean()?.to_string(),
                b'f' => {
                    let precision = flags.split_once('.').map_or(Ok(6), |(_, p)| p.parse::<usize>());
                    format!("{:.*}", precision.unwrap_or(6).min(64), arg.number()?)
                }
                b'x' => format!("{:x}", arg.number()? as i64),
                b'X' => format!("{:X}", arg.number()? as i64),
                _ => return Err(Fail::Unknown(Why::Remote(format!("format({spec})").into()))),
            };
            let width = flags.split('.').next().unwrap_or("");
            let size = width.trim_start_matches(['-', '0', '+', ' ', '#']).parse::<usize>().unwrap_or(0).min(1024);
            let pad = |fill: &str| fill.repeat(size.saturating_sub(body.chars().count()));
            out.push_str(&match width.chars().next() {
                Some('-') => format!("{body}{}", pad(" ")),
                Some('0') => format!("{}{body}", pad("0")),
                _ => format!("{}{body}", pad(" ")),
            });
        }
        out.push_str(rest);
        Ok(out)
    }

    fn format_list(&self) -> Found {
        let args = &self.args[1.min(self.args.len())..];
        let lists = args.iter().filter_map(|a| a.items().ok().map(|items| items.len()));
        let rows = lists.max().unwrap_or(1);
        let row = |i: usize| {
            let cell = |arg: &Val| match &arg.value {
                Value::List(items) => {
                    items.get(i).cloned().ok_or_else(|| Fail::Failed("lists differ in length".into()))
                }
                _ => Ok(arg.clone()),
            };
            let args = args.iter().map(cell).collect::<Result<Vec<_>, _>>()?;
            self.format(&args).map(|s| self.text(s))
        };
        Ok(self.val(Value::list((0..rows).map(row).collect::<Result<_, _>>()?)))
    }

    fn join(&self) -> Found {
        let lists = self.args.iter().skip(1).map(Val::items).collect::<Result<Vec<_>, Fail>>()?;
        let parts = lists.concat().iter().map(Val::string).collect::<Result<Vec<_>, Fail>>()?;
        if parts.iter().map(String::len).sum::<usize>() > super::value::MAX_TEXT {
            return Err(too_large());
        }
        Ok(self.text(parts.join(&self.string(0)?)))
    }

    fn split(&self) -> Found {
        let (separator, text) = (self.string(0)?, self.string(1)?);
        let Value::Str(traced) = &self.args[1].value else { return failed("not a string") };
        let mut items = vec![];
        let mut at = 0;
        for part in text.split(separator.as_str()).filter(|p| !separator.is_empty() || !p.is_empty()) {
            let part = traced.slice(at..at + part.len());
            at += part.text().len() + separator.len();
            let whole = part.whole();
            items.push(Val::new(Value::Str(Rc::new(part)), whole));
        }
        Ok(self.val(Value::list(items)))
    }

    fn json_decode(&self) -> Found {
        // What `jsonencode` was given is passed on as it is.
        let Value::Str(_) = &self.arg(0)?.value else { return self.arg(0).cloned() };
        match serde_json::from_str(&self.string(0)?) {
            Ok(json) => Ok(self.json(json)),
            Err(_) => failed("not JSON text"),
        }
    }

    fn json(&self, json: serde_json::Value) -> Val {
        use serde_json::Value as Json;
        match json {
            Json::Null => self.val(Value::Null),
            Json::Bool(value) => self.val(Value::Bool(value)),
            Json::Number(value) => self.val(Value::Number(value.as_f64().unwrap_or(0.0))),
            Json::String(text) => self.text(text),
            Json::Array(items) => self.val(Value::list(items.into_iter().map(|i| self.json(i)).collect())),
            Json::Object(entries) => {
                let entry = |(key, value)| (self.key(key), self.json(value));
                self.val(Value::map(entries.into_iter().map(entry)))
            }
        }
    }

    fn key(&self, key: impl Into<Box<str>>) -> Rc<Traced> {
        Rc::new(Traced::opaque(key, self.span))
    }

    fn collections(&self) -> Option<Found> {
        let list = |items: Result<Vec<Val>, Fail>| items.map(|items| self.val(Value::list(items)));
        Some(match self.name {
            "length" => self.length(),
            "concat" => list(self.args.iter().map(Val::items).collect::<Result<Vec<_>, _>>().map(|l| l.concat())),
            "tolist" | "values" => list(self.items(0)),
            "keys" => list(self.arg(0).and_then(|v| {
                v.entries()?;
                Ok(v.pairs()?.into_iter().map(|(key, _)| key).collect())
            })),
            "tomap" => self.convert(|v| v.entries().map(|_| v.value.clone())),
            "toset" => list(self.items(0).and_then(|items| sorted(self.distinct(items)?))),
            "distinct" => list(self.items(0).and_then(|items| self.distinct(items))),
            "setunion" => list(
                self.args.iter().map(Val::items).collect::<Result<Vec<_>, _>>().and_then(|l| self.distinct(l.concat())),
            ),
            "sort" => list(self.items(0).and_then(sorted)),
            "reverse" => list(self.items(0).map(|items| items.into_iter().rev().collect())),
            "compact" => list(self.items(0).and_then(|items| {
                let full = |v: Val| Ok((!v.is_null() && !v.string()?.is_empty()).then_some(v));
                items.into_iter().map(full).filter_map(Result::transpose).collect()
            })),
            "flatten" => {
                let mut out = vec![];
                list(self.items(0).and_then(|items| self.flatten(&items, &mut out)).map(|()| out))
            }
            "slice" => list(self.slice()),
            "chunklist" => self.chunks(),
            "contains" => self.contains(),
            "index" => self.index_of(),
            "alltrue" => self.every(true),
            "anytrue" => self.every(false),
            "merge" => self.merge(),
            "zipmap" => self.zipmap(),
            _ => return None,
        })
    }

    fn length(&self) -> Found {
        let value = self.arg(0)?;
        let length = match value.known()? {
            Value::Str(text) => text.text().chars().count(),
            _ => value.items()?.len(),
        };
        Ok(self.val(Value::Number(length as f64)))
    }

    fn distinct(&self, items: Vec<Val>) -> Result<Vec<Val>, Fail> {
        let mut out: Vec<Val> = vec![];
        for item in items {
            let mut seen = false;
            for other in &out {
                seen = seen || self.eval.equal(other, &item)?;
            }
            if !seen {
                out.push(item);
            }
        }
        Ok(out)
    }

    fn flatten(&self, items: &[Val], out: &mut Vec<Val>) -> Result<(), Fail> {
        for item in items {
            self.eval.spend()?;
            match &item.value {
                Value::List(inner) => self.flatten(inner, out)?,
                // An unknown item may be a list of any length.
                Value::Unknown(why) => return Err(Fail::Unknown(why.clone())),
                _ => out.push(item.clone()),
            }
        }
        Ok(())
    }

    fn slice(&self) -> Result<Vec<Val>, Fail> {
        let items = self.items(0)?;
        match items.get(self.arg(1)?.index()?..self.arg(2)?.index()?) {
            Some(part) => Ok(part.to_vec()),
            None => failed("a slice out of range"),
        }
    }

    fn chunks(&self) -> Found {
        let (items, size) = (self.items(0)?, self.arg(1)?.index()?);
        let chunk = |items: &[Val]| self.val(Value::list(items.to_vec()));
        Ok(self.val(Value::list(items.chunks(size.max(1)).map(chunk).collect())))
    }

    fn contains(&self) -> Found {
        let mut unknown = None;
        for item in self.items(0)? {
            match self.eval.equal(&item, self.arg(1)?) {
                Ok(true) => return Ok(self.val(Value::Bool(true))),
                Ok(false) => {}
                Err(fail) => unknown = Some(fail),
            }
        }
        unknown.map_or_else(|| Ok(self.val(Value::Bool(false))), Err)
    }

    fn index_of(&self) -> Found {
        for (at, item) in self.items(0)?.iter().enumerate() {
            if self.eval.equal(item, self.arg(1)?)? {
                return Ok(self.val(Value::Number(at as f64)));
            }
        }
        failed("not an item of the list")
    }

    /// Whether all items are true (`all`), or any of them.
    fn every(&self, all: bool) -> Found {
        let mut unknown = None;
        for item in self.items(0)? {
            match item.boolean() {
                Ok(value) if value != all => return Ok(self.val(Value::Bool(!all))),
                Ok(_) => {}
                Err(fail) => unknown = Some(fail),
            }
        }
        unknown.map_or_else(|| Ok(self.val(Value::Bool(all))), Err)
    }

    fn merge(&self) -> Found {
        let mut entries = vec![];
        for arg in self.args.iter().filter(|arg| !arg.is_null()) {
            entries.extend_from_slice(arg.entries()?);
        }
        Ok(self.val(Value::map(entries)))
    }

    fn zipmap(&self) -> Found {
        let (keys, values) = (self.items(0)?, self.items(1)?);
        if keys.len() != values.len() {
            return failed("keys and values differ in number");
        }
        let entry = |(key, value): (Val, Val)| Ok((self.key(key.string()?), value));
        Ok(self.val(Value::map(keys.into_iter().zip(values).map(entry).collect::<Result<Vec<_>, Fail>>()?)))
    }
}

/// Items in the order of their texts; lists of collections keep their order.
fn sorted(items: Vec<Val>) -> Result<Vec<Val>, Fail> {
    if items.iter().any(|v| matches!(v.value, Value::List(_) | Value::Map(_))) {
        return Ok(items);
    }
    if items.iter().all(|v| matches!(v.value, Value::Number(_))) {
        let mut keyed = items.into_iter().map(|v| Ok((v.number()?, v))).collect::<Result<Vec<_>, Fail>>()?;
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        return Ok(keyed.into_iter().map(|(_, v)| v).collect());
    }
    let mut keyed = items.into_iter().map(|v| Ok((v.string()?, v))).collect::<Result<Vec<_>, Fail>>()?;
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(keyed.into_iter().map(|(_, v)| v).collect())
}

fn title(text: &str) -> String {
    let mut start = true;
    let letter = |c: char| {
        let shown = if start { c.to_uppercase().next().unwrap_or(c) } else { c };
        start = !c.is_alphanumeric();
        shown
    };
    text.chars().map(letter).collect()
}

/// Text from standard Base64; `None` when it is not that, or not text.
fn base64(text: &str) -> Option<String> {
    let (mut bytes, mut bits, mut count) = (vec![], 0u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}
