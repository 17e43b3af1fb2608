//! A value by itself against its schema: its type, and what it may be.

use super::format;
use super::pack::{self, Limit, Node, flags, types};
use super::validate::Manner;
use crate::parse::scalar::Scalar;
use crate::parse::{INTERPOLATED, Shape, View, placeholder};
use crate::quantity;
use serde_json::Value as Json;

impl Node<'_> {
    /// Whether a flag is set.
    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The types that are allowed, in words.
    pub(super) fn wanted(&self) -> String {
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

/// Whether null is written.
pub fn is_null(view: View<'_>) -> bool {
    view.node().is_some_and(|node| node.is_null())
}

/// What is wrong with a value by itself.
pub fn wrong_value(view: View<'_>, schema: &Node<'static>, path: &str, manner: Manner) -> Option<String> {
    let text = view.node()?.text();
    // Only older YAML has other truth values than these: what reads YAML 1.2 takes them for text.
    let is_word = |text: &str| !["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_bool = view.node().is_some_and(|node| matches!(node.scalar(), Some(Scalar::Bool(_))));
    if !manner.of_kubernetes && !schema.has(flags::TRUTHS) && is_bool && text.is_some_and(is_word) {
        return None;
    }
    // The types of Kubernetes, and of webhooks, leave text out that is empty.
    if !manner.as_written && text.is_some_and(str::is_empty) {
        return None;
    }
    // Few values are wrong, and finding out whether one stands for another takes longer.
    let stands = || text.map_or_else(|| in_braces(view), |text| placeholder(text).is_some());
    against(view, schema, path).filter(|_| !stands())
}

/// Whether a mapping is a name in braces, which somebody is to fill in: `{volume-id}`.
fn in_braces(view: View<'_>) -> bool {
    matches!(view.entries()[..], [(_, value)] if is_null(value))
}

/// What is wrong with a value, be it empty or stand for another.
pub fn against(view: View<'_>, schema: &Node<'static>, path: &str) -> Option<String> {
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
        None => {
            // null is dropped from an object before it is held against the schema.
            let dropped = view.entries().iter().filter(|(_, value)| is_null(*value)).count();
            wrong_size((node.width() - dropped) as u64, is, schema, path)
        }
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
        Limit::Format(format) if is == types::STRING && !format::fits(format, text) && !format::is_stand_in(text) => {
            let mut formats = format::FORMATS.iter().chain(&format::PYTHON);
            let (_, wanted) = formats.find(|(known, _)| *known == format)?;
            // What is in base64 may be a secret, and the message goes into logs.
            let shown = if format == "byte" { String::new() } else { format!(" is {text}, and") };
            Some(format!("{path}{shown} has to be {wanted}"))
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
