//! An object against a schema, three-valued: what is not known breaks nothing, and neither does what depends on it.

use super::pack::{self, Limit, Node, flags, types};
use super::{Breach, cel};
use crate::budget::{NODE, STEP, Share, Spent};
use crate::facts::BreachClass as Class;
use crate::known::Known;
use crate::parse::scalar::Scalar;
use crate::parse::{INTERPOLATED, Shape, View, placeholder};
use crate::quantity;
use crate::source::Span;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::ops::Bound;

/// Where a value stands in its object: the path of its field, and those of the objects around it with their schemas.
struct Place {
    path: String,
    above: Vec<(String, u32)>,
}

struct Judge<'s> {
    share: &'s Share,
    /// Whether it is an object of Kubernetes, with apiVersion, kind and metadata.
    of_kubernetes: bool,
    /// The fields that are looked at, where it is not all.
    only: Option<BTreeSet<&'s str>>,
    found: Vec<Breach>,
}

/// What of a value breaks a schema, an object of Kubernetes or another document; of `only` where that is given: what another release takes is asked no more.
///
/// # Errors
/// The share is spent.
pub fn breaches(
    object: View<'_>,
    (root, of_kubernetes): (u32, bool),
    only: Option<&[Breach]>,
    share: &Share,
) -> Result<Vec<Breach>, Spent> {
    let only = only.map(|only| only.iter().map(|breach| breach.field.as_str()).collect());
    let mut judge = Judge { share, of_kubernetes, only, found: Vec::new() };
    judge.value(object, root, &mut Place { path: String::new(), above: Vec::new() })?;
    Ok(judge.found)
}

impl Judge<'_> {
    fn tell(&mut self, class: Class, place: Span, field: &str, says: String) -> Result<(), Spent> {
        self.share.make(NODE + field.len() + says.len())?;
        self.found.push(Breach {
            class,
            place,
            field: field.to_owned(),
            says,
            meant: None,
            other: None,
            unknown: None,
        });
        Ok(())
    }

    /// Whether something is asked of a field, or below it.
    fn asks(&self, path: &str) -> bool {
        let below =
            |field: &&str| field.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        let Some(only) = &self.only else { return true };
        path.is_empty()
            || only
                .range::<str, _>((Bound::Included(path), Bound::Unbounded))
                .take_while(|field| field.starts_with(path))
                .any(below)
    }

    /// Whether something is asked of a field itself.
    fn asks_of(&self, path: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(path))
    }

    fn value(&mut self, view: View<'_>, number: u32, at: &mut Place) -> Result<(), Spent> {
        // null is as good as nothing to kubectl and to the API server, where it is not a value.
        if !view.is_some() || view.unknown().is_some() || !self.asks(&at.path) {
            return Ok(());
        }
        self.share.work(NODE)?;
        let schema = pack::node(number);
        if let Some(says) = wrong_value(view, schema, &at.path) {
            return self.tell(Class::ValueNotAllowed, view.place(), &at.path, says);
        }
        let asked = self.asks_of(&at.path);
        if asked {
            self.together(view, schema, at)?;
        }
        for rule in schema.rules.iter().filter(|_| asked) {
            if cel::holds(rule.rule, view, number, self.share)? == Some(false) {
                let says = if rule.message.is_empty() {
                    format!("{} has to hold", rule.rule)
                } else {
                    rule.message.to_owned()
                };
                let says = if at.path.is_empty() { says } else { format!("{}: {says}", at.path) };
                self.tell(Class::ContractViolated, view.place(), &at.path, says)?;
            }
        }
        match view.node().map(|node| node.kind()) {
            Some(Shape::Map(_)) => self.object(view, number, at),
            Some(Shape::Seq(_)) => self.list(view, schema, at),
            _ => Ok(()),
        }
    }

    fn list(&mut self, view: View<'_>, schema: &Node<'static>, at: &mut Place) -> Result<(), Spent> {
        let Some(items) = schema.items else { return Ok(()) };
        let whole = at.path.len();
        for (index, item) in view.items().enumerate() {
            at.path += &format!("[{index}]");
            self.value(item, items, at)?;
            at.path.truncate(whole);
        }
        Ok(())
    }

    fn object(&mut self, view: View<'_>, number: u32, at: &mut Place) -> Result<(), Spent> {
        let schema = pack::node(number);
        at.above.push((at.path.clone(), number));
        let whole = at.path.len();
        for (key, value) in view.entries() {
            let child = field(schema, key);
            if at.path.is_empty() && self.of_kubernetes || schema.has(flags::EMBEDDED) {
                // Every object has these.
                if matches!(key, "apiVersion" | "kind") || key == "metadata" && child.is_none() {
                    continue;
                }
            }
            push(&mut at.path, key);
            match child {
                Some(child) => self.value(value, metadata(child), at)?,
                None if schema.has(flags::EXTENSIONS) && key.starts_with("x-") => {}
                None if is_closed(schema) && !key.starts_with('$') => self.unknown_field(view, key, at)?,
                None => {}
            }
            at.path.truncate(whole);
        }
        let stated = |name: &str| view.node().is_some_and(|node| node.get(name).is_some());
        let by_default = |name: &str| field(schema, name).is_some_and(|child| pack::node(child).default.is_some());
        let root = at.path.is_empty() && self.of_kubernetes;
        let every = |name: &str| root && name == "metadata";
        let lacks = |name: &&str| !(stated(name) || by_default(name) || every(name));
        let missing: Vec<&str> = schema.required.iter().copied().filter(lacks).collect();
        for name in missing.into_iter().filter(|_| is_whole(view)) {
            push(&mut at.path, name);
            let says = format!("{} is missing", at.path);
            self.tell(Class::RequiredFieldMissing, view.place(), &at.path.clone(), says)?;
            at.path.truncate(whole);
        }
        at.above.pop();
        Ok(())
    }

    fn unknown_field(&mut self, object: View<'_>, key: &str, at: &Place) -> Result<(), Spent> {
        let Some((own, _)) = object.node().and_then(|node| node.entry(key)) else { return Ok(()) };
        self.tell(Class::UnknownField, own.span(), &at.path, format!("there is no field {}", at.path))?;
        self.share.make(at.above.iter().map(|(path, _)| NODE + path.len()).sum())?;
        if let Some(last) = self.found.last_mut() {
            last.unknown = Some((key.to_owned(), at.above.clone()));
        }
        Ok(())
    }

    /// What has to hold of a value beside its parts.
    fn together(&mut self, view: View<'_>, schema: &Node<'static>, at: &Place) -> Result<(), Spent> {
        for part in &schema.all_of {
            if holds(view, *part, self.share)? == Some(false) {
                let says =
                    of_forms(&[*part], "must be set").unwrap_or_else(|| format!("{} is not as it has to be", name(at)));
                self.tell(Class::ContractViolated, view.place(), &at.path, says)?;
            }
        }
        for (forms, one) in [(&schema.one_of, true), (&schema.any_of, false)] {
            if forms.is_empty() {
                continue;
            }
            let mut answers = Vec::new();
            for form in forms {
                answers.push(holds(view, *form, self.share)?);
            }
            let yes = answers.iter().filter(|answer| **answer == Some(true)).count();
            let says = if answers.iter().all(|answer| *answer == Some(false)) {
                of_forms(
                    forms,
                    if one { "must be set, exactly one of them" } else { "must be set, at least one of them" },
                )
                .unwrap_or_else(|| format!("{} has none of the forms that are allowed", name(at)))
            } else if one && yes > 1 {
                of_forms(forms, "exclude each other")
                    .unwrap_or_else(|| format!("{} has several forms that exclude each other", name(at)))
            } else {
                continue;
            };
            let says = if at.path.is_empty() { says } else { format!("{}: {says}", at.path) };
            self.tell(Class::ContractViolated, view.place(), &at.path, says)?;
        }
        if let Some(not) = schema.not
            && holds(view, not, self.share)? == Some(true)
        {
            let says = of_forms(&[not], "must not be set together")
                .unwrap_or_else(|| format!("{} is as it must not be", name(at)));
            self.tell(Class::ContractViolated, view.place(), &at.path, says)?;
        }
        Ok(())
    }
}

fn name(at: &Place) -> &str {
    if at.path.is_empty() { "the object" } else { &at.path }
}

/// The fields that forms of an object ask for, with what is to be said of them; nothing where they ask for more.
fn of_forms(forms: &[u32], says: &str) -> Option<String> {
    let mut names = Vec::new();
    for form in forms {
        let form = pack::node(*form);
        let only = Node { required: form.required.clone(), types: form.types, ..Node::default() };
        if form.required.is_empty() || *form != only {
            return None;
        }
        names.push(form.required.join(" and "));
    }
    Some(format!("{} {says}", names.join(", ")))
}

/// Appends a field to a path.
fn push(path: &mut String, field: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(field);
}

/// The schema of a field.
fn field(schema: &Node<'_>, name: &str) -> Option<u32> {
    let at = schema.properties.binary_search_by_key(&name, |(known, _)| known).ok();
    let other = || schema.properties.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
    let at = at.or_else(|| schema.has(flags::CASELESS).then(other).flatten());
    at.map(|at| schema.properties[at].1).or(schema.additional)
}

/// The metadata of objects is what Kubernetes says it is.
fn metadata(child: u32) -> u32 {
    if pack::node(child).has(flags::METADATA) { pack::METADATA } else { child }
}

/// Whether an object may have the named fields only: others are dropped or refused.
fn is_closed(schema: &Node<'_>) -> bool {
    let named = !schema.properties.is_empty() || schema.has(flags::CLOSED);
    named && schema.types & types::OBJECT != 0 && schema.additional.is_none() && !schema.has(flags::PRESERVE)
}

/// Whether all fields of an object are written here.
fn is_whole(view: View<'_>) -> bool {
    let written = view.node().map_or(0, |node| node.entries().len());
    view.rest().is_none() && view.open().is_none() && view.entries().len() == written
}

impl Node<'_> {
    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The types that are allowed, in words.
    fn wanted(&self) -> String {
        let names = [
            (types::OBJECT, "an object"),
            (types::ARRAY, "a list"),
            (types::STRING, "text"),
            (types::INTEGER, "a whole number"),
            (types::NUMBER, "a number"),
            (types::BOOLEAN, "true or false"),
        ];
        let names: Vec<&str> = names.iter().filter(|(bit, _)| self.types & bit != 0).map(|(_, name)| *name).collect();
        names.join(" or ")
    }
}

/// What is wrong with a value by itself.
fn wrong_value(view: View<'_>, schema: &Node<'static>, path: &str) -> Option<String> {
    let text = view.node()?.text();
    // Text that is empty is as if it were not there.
    if text.is_some_and(str::is_empty) {
        return None;
    }
    // Few values are wrong, and finding out whether one stands for another takes longer.
    against(view, schema, path).filter(|_| text.is_none_or(|text| placeholder(text).is_none()))
}

fn against(view: View<'_>, schema: &Node<'static>, path: &str) -> Option<String> {
    let node = view.node()?;
    let text = node.text();
    let (is, shown) = match (node.kind(), node.scalar()) {
        (Shape::Map(_), _) => (types::OBJECT, "an object"),
        (Shape::Seq(_), _) => (types::ARRAY, "a list"),
        (_, Some(Scalar::Bool(_))) => (types::BOOLEAN, "true or false"),
        (_, Some(Scalar::Int(_))) => (types::INTEGER | types::NUMBER, "a number"),
        (_, Some(Scalar::Float(value))) if value.fract() == 0.0 => (types::INTEGER | types::NUMBER, "a number"),
        (_, Some(Scalar::Float(_))) => (types::NUMBER, "a number"),
        (_, Some(Scalar::Str(_))) => (types::STRING, "text"),
        _ => return None,
    };
    // What a variable is replaced by is text, and what the text says where the place takes that.
    let is = if node.tag() == Some(INTERPOLATED) { is | types::STRING } else { is };
    let whole = is & types::INTEGER != 0;
    if schema.has(flags::QUANTITY) {
        let amount = is & (types::NUMBER | types::STRING) != 0 && text.is_some_and(|t| quantity::parse(t).is_some());
        return (!amount).then(|| format!("{path} is {}, and has to be an amount", text.unwrap_or(shown)));
    }
    if schema.has(flags::INT_OR_STRING) {
        let fits = whole || is == types::STRING;
        let wrong = (!fits).then(|| format!("{path} is {shown}, and has to be a whole number or text"));
        return wrong.or_else(|| text.and_then(|text| wrong_text(text, is, schema, path)));
    }
    if schema.types != 0 && schema.types & is == 0 {
        let value = text.filter(|_| is & (types::OBJECT | types::ARRAY) == 0);
        let value = value.map_or(shown.to_owned(), |text| format!("{shown} ({text})"));
        return Some(format!("{path} is {value}, and has to be {}", schema.wanted()));
    }
    match text {
        Some(text) => wrong_text(text, is, schema, path),
        None => wrong_size(node.width() as u64, is, schema, path),
    }
}

fn wrong_size(size: u64, is: u8, schema: &Node<'_>, path: &str) -> Option<String> {
    schema.limits.iter().find_map(|limit| match limit {
        Limit::Items(least, most) if is == types::ARRAY => out_of(size, (*least, *most), path, "items"),
        Limit::Fields(least, most) if is == types::OBJECT => out_of(size, (*least, *most), path, "fields"),
        _ => None,
    })
}

fn out_of(size: u64, (least, most): (Option<u64>, Option<u64>), path: &str, of: &str) -> Option<String> {
    let least = least.filter(|least| size < *least).map(|least| format!("at least {least}"));
    let most = || most.filter(|most| size > *most).map(|most| format!("at most {most}"));
    Some(format!("{path} has {size} {of}, and has to have {}", least.or_else(most)?))
}

/// What is wrong with a scalar of the right type.
fn wrong_text(text: &str, is: u8, schema: &Node<'static>, path: &str) -> Option<String> {
    if !schema.choices.is_empty() {
        let choices: Vec<Json> = schema.choices.iter().filter_map(|choice| serde_json::from_str(choice).ok()).collect();
        // What is no text is written as JSON writes it.
        let same = |choice: &Json| match choice {
            Json::String(choice) if schema.has(flags::CASELESS) => choice.eq_ignore_ascii_case(text),
            Json::String(choice) => is & types::STRING != 0 && choice == text,
            other => serde_json::from_str::<Json>(text).is_ok_and(|value| value == *other),
        };
        // Words say nothing of what may be something else than text.
        let is_other = is & types::STRING == 0 && schema.types & is != 0 && choices.iter().all(Json::is_string);
        if !is_other && !choices.iter().any(same) {
            let choices: Vec<String> =
                choices.iter().map(|c| c.as_str().map_or(c.to_string(), str::to_owned)).collect();
            return Some(format!("{path} is {text}, and has to be one of {}", choices.join(", ")));
        }
    }
    let number = || text.parse::<f64>().ok().filter(|_| is & types::NUMBER != 0);
    let than =
        |wrong: bool, how: &str, bound: f64| wrong.then(|| format!("{path} is {text}, and has to be {how} {bound}"));
    schema.limits.iter().find_map(|limit| match *limit {
        Limit::Pattern(pattern) if is == types::STRING => {
            (!pack::pattern(pattern)?.is_match(text)).then(|| format!("{path} is {text}, and has to match {pattern}"))
        }
        Limit::Length(least, most) if is == types::STRING => {
            out_of(text.chars().count() as u64, (least, most), path, "characters")
        }
        Limit::Minimum(least) => than(number()? < least, "at least", least),
        Limit::Above(least) => than(number()? <= least, "above", least),
        Limit::Maximum(most) => than(number()? > most, "at most", most),
        Limit::Below(most) => than(number()? >= most, "below", most),
        Limit::MultipleOf(of) => than(number()? % of != 0.0, "a multiple of", of),
        _ => None,
    })
}

/// Whether a value has a form; unknown where what decides it is not known.
fn holds(view: View<'_>, number: u32, share: &Share) -> Result<Option<bool>, Spent> {
    share.work(NODE)?;
    let schema = pack::node(number);
    if view.unknown().is_some() {
        return Ok(None);
    }
    let text = view.node().and_then(|node| node.text());
    if text.is_some_and(|text| placeholder(text).is_some()) {
        return Ok(None);
    }
    if against(view, schema, "").is_some() {
        return Ok(Some(false));
    }
    let mut known = true;
    for name in &schema.required {
        share.work(STEP)?;
        match view.has(name) {
            Known::Value(true) => {}
            Known::Unknown(_) => known = false,
            _ if is_whole(view) => return Ok(Some(false)),
            _ => known = false,
        }
    }
    let mut parts: Vec<(View<'_>, u32)> = schema.all_of.iter().map(|part| (view, *part)).collect();
    let stated = schema.properties.iter().map(|(name, child)| (view.get(name), *child));
    parts.extend(stated.filter(|(value, _)| value.is_some()));
    parts.extend(schema.items.into_iter().flat_map(|items| view.items().map(move |item| (item, items))));
    for (value, part) in parts {
        match holds(value, part, share)? {
            Some(true) => {}
            Some(false) => return Ok(Some(false)),
            None => known = false,
        }
    }
    if let Some(not) = schema.not {
        match holds(view, not, share)? {
            Some(true) => return Ok(Some(false)),
            Some(false) => {}
            None => known = false,
        }
    }
    for (forms, one) in [(&schema.one_of, true), (&schema.any_of, false)] {
        let mut answers = Vec::new();
        for form in forms {
            answers.push(holds(view, *form, share)?);
        }
        let yes = answers.iter().filter(|answer| **answer == Some(true)).count();
        if !forms.is_empty() && (answers.iter().all(|a| *a == Some(false)) || one && yes > 1) {
            return Ok(Some(false));
        }
        known &= forms.is_empty() || yes > 0 && (!one || !answers.contains(&None));
    }
    Ok(known.then_some(true))
}
