//! Regular expressions. Go's and ours share their syntax but for rarities.

use super::{Call, Function, Outcome};
use crate::render::text::Text;
use crate::render::value::Value;
use regex::{Regex, RegexBuilder};

/// Most bytes of a compiled expression.
const MAX_SIZE: usize = 1 << 20;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "regexMatch" => (|c| Ok(regex(c)?.is_match(c.str(1)?).into()), 2, 2),
        "regexFind" => (|c| part(c, 1, |regex, text| regex.find(text).map_or("", |found| found.as_str())), 2, 2),
        "regexFindAll" => (find_all, 3, 3),
        "regexReplaceAll" => (|c| replace(c, true), 3, 3),
        "regexReplaceAllLiteral" => (|c| replace(c, false), 3, 3),
        "regexSplit" => (split, 3, 3),
        "regexQuoteMeta" => (|c| Ok(c.text(0)?.derived(regex::escape(c.str(0)?)).into()), 1, 1),
        _ => return None,
    })
}

fn regex(call: &Call<'_>) -> Result<Regex, String> {
    let pattern = call.str(0)?;
    RegexBuilder::new(pattern).size_limit(MAX_SIZE).build().map_err(|_| format!("error parsing regexp: {pattern}"))
}

fn part(call: &Call<'_>, index: usize, find: impl for<'t> Fn(&Regex, &'t str) -> &'t str) -> Outcome {
    let text = call.text(index)?;
    Ok(text.part(find(&regex(call)?, text.as_str())).into())
}

/// How many: all for a negative number.
fn most(call: &Call<'_>) -> Result<usize, String> {
    Ok(usize::try_from(call.int(2)?).unwrap_or(usize::MAX))
}

fn find_all(call: &Call<'_>) -> Outcome {
    let (regex, text) = (regex(call)?, call.text(1)?);
    let found = regex.find_iter(text.as_str()).take(most(call)?);
    Ok(found.map(|found| Value::from(text.slice(found.range()))).collect::<Vec<_>>().into())
}

fn replace(call: &Call<'_>, expand: bool) -> Outcome {
    let (regex, text, by) = (regex(call)?, call.text(1)?, call.text(2)?);
    let (mut out, mut at) = (Text::new(), 0);
    for captures in regex.captures_iter(text.as_str()) {
        let Some(found) = captures.get(0) else { continue };
        out.push_slice(text, at..found.start());
        if expand && by.as_str().contains('$') {
            let mut expanded = String::new();
            captures.expand(by.as_str(), &mut expanded);
            out.push_text(&text.slice(found.range()).derived(expanded));
        } else {
            out.push_text(by);
        }
        at = found.end();
        call.bounded(out.len())?;
    }
    out.push_slice(text, at..text.len());
    Ok(out.into())
}

fn split(call: &Call<'_>) -> Outcome {
    let (regex, text) = (regex(call)?, call.text(1)?);
    let parts = regex.splitn(text.as_str(), most(call)?);
    Ok(parts.map(|part| Value::from(text.part(part))).collect::<Vec<_>>().into())
}
