//! Regular expressions, and what is done with their matches.

use super::lists::strings;
use super::strings::escaped;
use super::{Call, Function, Outcome};
use crate::budget::NODE;
use crate::render::pattern::{Pattern, of_go};
use crate::render::text::Text;
use crate::render::value::{Items, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "regexMatch" => (matches, 2, 2),
        "regexFind" => (|c| with(c, find_one), 2, 2),
        "regexFindAll" => (|c| with(c, find_all), 3, 3),
        "regexReplaceAll" => (|c| with(c, |c, regex| replace(c, regex, true)), 3, 3),
        "regexReplaceAllLiteral" => (|c| with(c, |c, regex| replace(c, regex, false)), 3, 3),
        "regexSplit" => (|c| with(c, split), 3, 3),
        "regexQuoteMeta" => (|c| Ok(escaped(c.text(0)?, quoted, c.share).into()), 1, 1),
        _ => return None,
    })
}

/// An expression that Go does not read matches nothing.
fn matches(call: &Call<'_>) -> Outcome {
    let refused = of_go(call.str(0)?).is_err() && !call.name.starts_with("must");
    if refused { Ok(false.into()) } else { with(call, |c, regex| Ok(regex.is_match(c.str(1)?, c.share).into())) }
}

/// Does something with the expression that is given first.
fn with(call: &Call<'_>, act: fn(&Call<'_>, &Pattern) -> Outcome) -> Outcome {
    let pattern = call.str(0)?;
    of_go(pattern)?;
    match Pattern::new(pattern, call.share) {
        Ok(regex) => act(call, &regex),
        Err(_) if call.share.spent().is_none() => call.missed("the regular expression"),
        Err(spent) => Err(spent),
    }
}

fn quoted(c: char) -> Option<String> {
    "\\.+*?()|[]{}^$".contains(c).then(|| format!("\\{c}"))
}

fn find_one(call: &Call<'_>, regex: &Pattern) -> Outcome {
    let text = call.text(1)?;
    let found = regex.find(text.as_str(), call.share).map_or("", |found| found.as_str());
    Ok(text.part(found).into())
}

/// How many: all for a negative number.
fn most(call: &Call<'_>) -> Result<usize, String> {
    Ok(usize::try_from(call.int(2)?).unwrap_or(usize::MAX))
}

fn find_all(call: &Call<'_>, regex: &Pattern) -> Outcome {
    let text = call.text(1)?;
    let mut out = Vec::new();
    for found in regex.find_all(text.as_str(), call.share).take(most(call)?) {
        call.make(2 * NODE)?;
        out.push(text.slice(found));
    }
    let found = out.into_iter().map(Value::from).collect();
    Ok(Items::appended(found, "string").into())
}

fn replace(call: &Call<'_>, regex: &Pattern, expand: bool) -> Outcome {
    let (text, by) = (call.text(1)?, call.text(2)?);
    let (mut out, mut at) = (Text::new(), 0);
    for captures in regex.captures(text.as_str(), call.share) {
        let Some(found) = captures.get(0) else { continue };
        out.push_slice(text, at..found.start());
        if expand && by.as_str().contains('$') {
            let mut expanded = String::new();
            // Every reference may stand for all that was found.
            let references = by.as_str().matches('$').count();
            call.make(by.len() + references.saturating_mul(found.len()))?;
            captures.expand(by.as_str(), &mut expanded);
            out.push_text(&text.slice(found.range()).derived(expanded));
        } else {
            out.push_text(by);
        }
        call.make(NODE + by.size())?;
        at = found.end();
    }
    out.push_slice(text, at..text.len());
    Ok(out.into())
}

fn split(call: &Call<'_>, regex: &Pattern) -> Outcome {
    let text = call.text(1)?;
    let (most, mut at, mut end, mut out) = (most(call)?, 0, 0, Vec::new());
    if most == 0 {
        return Ok(strings(out));
    }
    if text.is_empty() && !call.str(0)?.is_empty() {
        return Ok(strings(vec![Text::new()]));
    }
    for found in regex.find_all(text.as_str(), call.share).take(most - 1) {
        call.make(2 * NODE)?;
        end = found.start;
        // Nothing stands before a match of nothing at the start.
        if found.end > 0 {
            out.push(text.slice(at..end));
        }
        at = found.end;
    }
    if end != text.len() {
        out.push(text.slice(at..text.len()));
    }
    Ok(strings(out))
}
