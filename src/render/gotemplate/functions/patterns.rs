//! Regular expressions. Go's and ours share their syntax but for rarities.

use super::{Call, Function, Outcome};
use crate::budget::NODE;
use crate::render::pattern::Pattern;
use crate::render::text::Text;
use crate::render::value::Value;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "regexMatch" => (|c| Ok(regex(c)?.is_match(c.str(1)?, c.share).into()), 2, 2),
        "regexFind" => (find_one, 2, 2),
        "regexFindAll" => (find_all, 3, 3),
        "regexReplaceAll" => (|c| replace(c, true), 3, 3),
        "regexReplaceAllLiteral" => (|c| replace(c, false), 3, 3),
        "regexSplit" => (split, 3, 3),
        "regexQuoteMeta" => (|c| Ok(c.text(0)?.derived(regex::escape(c.str(0)?)).into()), 1, 1),
        _ => return None,
    })
}

fn regex(call: &Call<'_>) -> Result<Pattern, String> {
    Pattern::new(call.str(0)?, call.share)
}

fn find_one(call: &Call<'_>) -> Outcome {
    let text = call.text(1)?;
    let found = regex(call)?.find(text.as_str(), call.share).map_or("", |found| found.as_str());
    Ok(text.part(found).into())
}

/// How many: all for a negative number.
fn most(call: &Call<'_>) -> Result<usize, String> {
    Ok(usize::try_from(call.int(2)?).unwrap_or(usize::MAX))
}

fn find_all(call: &Call<'_>) -> Outcome {
    let (regex, text) = (regex(call)?, call.text(1)?);
    let mut out = Vec::new();
    for found in regex.find_all(text.as_str(), call.share).take(most(call)?) {
        call.make(2 * NODE)?;
        out.push(Value::from(text.slice(found)));
    }
    Ok(out.into())
}

fn replace(call: &Call<'_>, expand: bool) -> Outcome {
    let (regex, text, by) = (regex(call)?, call.text(1)?, call.text(2)?);
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

fn split(call: &Call<'_>) -> Outcome {
    let (regex, text) = (regex(call)?, call.text(1)?);
    let (most, mut at, mut out) = (most(call)?, 0, Vec::new());
    for found in regex.find_all(text.as_str(), call.share).take(most.saturating_sub(1)) {
        call.make(2 * NODE)?;
        out.push(Value::from(text.slice(at..found.start)));
        at = found.end;
    }
    if most > 0 {
        out.push(Value::from(text.slice(at..text.len())));
    }
    Ok(out.into())
}
