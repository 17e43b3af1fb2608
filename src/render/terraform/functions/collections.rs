//! Functions on lists, sets and maps.

use super::{Call, Found};
use crate::budget::NODE;
use crate::render::terraform::value::{Fail, MAX_ITEMS, Val, Value, failed, too_large};
use crate::source::Traced;
use std::collections::BTreeMap;
use std::rc::Rc;

impl Call<'_> {
    pub(super) fn collections(&self) -> Option<Found> {
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
            "setintersection" => list(self.common()),
            "setsubtract" => list(self.items(0).and_then(|items| {
                let other = self.items(1)?;
                let items = self.distinct(items)?;
                self.filtered(items, |item| Ok(!self.holds(&other, item)?))
            })),
            "setproduct" => list(self.product()),
            "matchkeys" => list(self.matching()),
            "transpose" => self.transpose(),
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
            if out.len() > MAX_ITEMS {
                return Err(too_large());
            }
            match &item.value {
                Value::List(inner) => self.flatten(inner, out)?,
                // An unknown item may be a list of any length.
                Value::Unknown(why) => return Err(Fail::Unknown(why.clone())),
                _ => out.push(item.clone()),
            }
        }
        Ok(())
    }

    fn holds(&self, items: &[Val], wanted: &Val) -> Result<bool, Fail> {
        for item in items {
            if self.eval.equal(item, wanted)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn filtered(&self, items: Vec<Val>, keep: impl Fn(&Val) -> Result<bool, Fail>) -> Result<Vec<Val>, Fail> {
        items.into_iter().map(|item| Ok(keep(&item)?.then_some(item))).filter_map(Result::transpose).collect()
    }

    fn common(&self) -> Result<Vec<Val>, Fail> {
        let others = self.args.iter().skip(1).map(Val::items).collect::<Result<Vec<_>, _>>()?;
        let first = self.distinct(self.items(0)?)?;
        others.iter().try_fold(first, |kept, other| self.filtered(kept, |item| self.holds(other, item)))
    }

    fn product(&self) -> Result<Vec<Val>, Fail> {
        let mut rows: Vec<Vec<Val>> = vec![vec![]];
        for arg in self.args {
            let items = arg.items()?;
            let count = rows.len().saturating_mul(items.len());
            if count > MAX_ITEMS {
                return Err(too_large());
            }
            self.eval.make(NODE.saturating_mul(count).saturating_mul(1 + rows.first().map_or(0, Vec::len)))?;
            rows = rows
                .iter()
                .flat_map(|row| items.iter().map(move |item| row.iter().chain([item]).cloned().collect()))
                .collect();
        }
        Ok(rows.into_iter().map(|row| self.val(Value::list(row))).collect())
    }

    fn matching(&self) -> Result<Vec<Val>, Fail> {
        let (values, keys, wanted) = (self.items(0)?, self.items(1)?, self.items(2)?);
        let mut out = vec![];
        for (value, key) in values.into_iter().zip(&keys) {
            if self.holds(&wanted, key)? {
                out.push(value);
            }
        }
        Ok(out)
    }

    fn transpose(&self) -> Found {
        let mut groups: BTreeMap<String, Vec<Val>> = BTreeMap::new();
        for (key, values) in self.arg(0)?.pairs()? {
            self.eval.make(values.width())?;
            for value in values.items()? {
                groups.entry(value.string()?).or_default().push(key.clone());
            }
        }
        let entry = |(key, keys)| (self.key(String::into_boxed_str(key)), self.val(Value::list(keys)));
        Ok(self.val(Value::map(groups.into_iter().map(entry))))
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

    /// The last value of a key counts. Around what is not known the rest is kept.
    fn merge(&self) -> Found {
        let mut entries: Vec<(Rc<Traced>, Val, bool)> = vec![];
        let mut unknown = None;
        let mut places = BTreeMap::new();
        for arg in self.args.iter().filter(|arg| !arg.is_null()) {
            let stated: Vec<(Rc<Traced>, Val, bool)> = match (&arg.value, arg.entries()) {
                (_, Ok(stated)) => stated.iter().map(|(key, value)| (Rc::clone(key), value.clone(), true)).collect(),
                (value, Err(Fail::Unknown(why))) => {
                    entries.iter_mut().for_each(|(.., settled)| *settled = false);
                    unknown.get_or_insert(why);
                    if let Value::PartialMap(stated, _) = value { stated.to_vec() } else { vec![] }
                }
                (_, Err(fail)) => return Err(fail),
            };
            for entry in stated {
                match places.get(entry.0.text()) {
                    Some(&at) => entries[at] = entry,
                    None => {
                        places.insert(entry.0.text().to_owned(), entries.len());
                        entries.push(entry);
                    }
                }
            }
        }
        match unknown {
            Some(why) if entries.is_empty() => Err(Fail::Unknown(why)),
            Some(why) => Ok(self.val(Value::PartialMap(Rc::new(entries), why))),
            None => Ok(self.val(Value::map(entries.into_iter().map(|(key, value, _)| (key, value))))),
        }
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
