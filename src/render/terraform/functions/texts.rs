//! Functions on text.

use super::{Call, Found};
use crate::budget::NODE;
use crate::known::Why;
use crate::render::terraform::value::{Fail, MAX_ITEMS, MAX_TEXT, Val, Value, failed, number_text, too_large};
use std::rc::Rc;

impl Call<'_> {
    pub(super) fn texts(&self) -> Option<Found> {
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
                let text = self.string(1)?;
                if n > 256 || text.len() + n * text.matches('\n').count() > MAX_TEXT {
                    return Err(too_large());
                }
                Ok(self.text(text.replace('\n', &format!("\n{}", " ".repeat(n)))))
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
            return self.replace_pattern(&text, &from[1..from.len() - 1], &to);
        }
        if text.len().saturating_add(text.matches(from.as_str()).count().saturating_mul(to.len())) > MAX_TEXT {
            return Err(too_large());
        }
        Ok(self.text(text.replace(&from, &to)))
    }

    fn format(&self, args: &[Val]) -> Result<String, Fail> {
        let spec = self.string(0)?;
        let (mut out, mut rest, mut args) = (String::new(), spec.as_str(), args.iter());
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            if out.len() > MAX_TEXT {
                return Err(too_large());
            }
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
            let text = self.format(&args)?;
            self.eval.make(NODE + text.len())?;
            Ok(self.text(text))
        };
        Ok(self.val(Value::list((0..rows).map(row).collect::<Result<_, _>>()?)))
    }

    fn join(&self) -> Found {
        let (separator, mut out, mut first) = (self.string(0)?, String::new(), true);
        for list in self.args.iter().skip(1) {
            for item in list.items()? {
                if !std::mem::take(&mut first) {
                    out.push_str(&separator);
                }
                out.push_str(&item.string()?);
                if out.len() > MAX_TEXT {
                    return Err(too_large());
                }
            }
        }
        Ok(self.text(out))
    }

    fn split(&self) -> Found {
        let (separator, text) = (self.string(0)?, self.string(1)?);
        let Value::Str(traced) = &self.args[1].value else { return failed("not a string") };
        if !separator.is_empty() && text.matches(separator.as_str()).count() >= MAX_ITEMS
            || separator.is_empty() && text.len() > MAX_ITEMS
        {
            return Err(too_large());
        }
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
