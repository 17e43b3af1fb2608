//! Terraform's functions, over known values. A function that needs the clock or chance, or that is not here,
//! gives an unknown value that names it.

mod collections;
mod files;
mod patterns;
mod texts;

use super::eval::Eval;
use super::value::{Fail, MAX_ITEMS, Val, Value, failed, too_large};
use crate::known::Why;
use crate::source::{Span, Traced};
use std::rc::Rc;

type Found = Result<Val, Fail>;

/// Calls a function. `try` is not here: it looks at its arguments one by one.
pub(super) fn call(eval: &Eval<'_>, name: &str, args: &[Val], span: Span) -> Found {
    let call = Call { eval, name, args, span };
    call.passing()
        .or_else(|| call.numbers())
        .or_else(|| call.texts())
        .or_else(|| call.collections())
        .or_else(|| call.files())
        .or_else(|| call.patterns())
        .unwrap_or_else(|| {
            let shown = args.first().map_or("", |arg| eval.place.text.get(arg.span.range()).unwrap_or(""));
            let shown = shown.trim_matches('"');
            Err(Fail::Unknown(Why::Remote(format!("{name}({shown})").into())))
        })
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

    fn key(&self, key: impl Into<Box<str>>) -> Rc<Traced> {
        Rc::new(Traced::opaque(key, self.span))
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
            "log" => self.number(0).and_then(|n| {
                let log = n.log(self.number(1)?);
                if log.is_finite() { Ok(self.val(Value::Number(log))) } else { failed("not a finite number") }
            }),
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
}
