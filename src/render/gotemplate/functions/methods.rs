//! Methods of the objects that Helm hands to templates: files of the chart, versions of the cluster.

use super::{Call, Outcome};
use crate::budget::NODE;
use crate::render::gotemplate::print;
use crate::render::pattern::Pattern;
use crate::render::text::Text;
use crate::render::value::{Data, Files, Map, Value};
use std::rc::Rc;

/// Calls a method of a value.
pub(in crate::render::gotemplate) fn method(receiver: &Value, call: &Call<'_>) -> Outcome {
    if let Some(why) = call.args.iter().find_map(Value::unknown) {
        return Ok(why.into());
    }
    if let Data::Files(files) = &receiver.data {
        // Looking for one costs nothing; what all of them say is made only where all are asked for.
        call.make(if call.name.starts_with("As") { files.values().map(|f| f.size() * 2).sum() } else { NODE })?;
    }
    match (&receiver.data, call.name, call.args.len()) {
        (Data::Files(files), "Get" | "GetBytes", 1) => Ok(text(files, call)?.into()),
        (Data::Files(files), "Lines", 1) => lines(&text(files, call)?, call),
        (Data::Files(files), "Glob", 1) => Ok(Data::Files(Rc::new(glob(files, call)?)).into()),
        (Data::Files(files), "AsConfig", 0) => super::yaml::to_yaml(&named(files, Text::clone), call),
        (Data::Files(files), "AsSecrets", 0) => super::yaml::to_yaml(
            &named(files, |text| text.derived(super::hash::base64(text.as_str().as_bytes()))),
            call,
        ),
        (Data::Versions(versions), "Has", 1) => Ok(versions.iter().any(|v| Ok(v.as_str()) == call.str(0)).into()),
        _ => Err(format!("can't evaluate field {} in type {}", call.name, print::type_of(receiver))),
    }
}

fn text(files: &Files, call: &Call<'_>) -> Result<Text, String> {
    let Some(found) = files.get(call.str(0)?) else { return Ok(Text::new()) };
    call.make(found.size())?;
    Ok((**found).clone())
}

fn lines(text: &Text, call: &Call<'_>) -> Outcome {
    let whole = text.as_str().strip_suffix('\n').unwrap_or(text.as_str());
    call.make(text.size() + 2 * NODE * whole.matches('\n').count())?;
    let lines = whole.split('\n').filter(|_| !text.is_empty()).map(|line| Value::from(text.part(line)));
    Ok(lines.collect::<Vec<_>>().into())
}

/// Files by the last part of their path.
fn named(files: &Files, read: impl Fn(&Text) -> Text) -> Value {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    files.iter().map(|(path, text)| (name(path), Value::from(read(text)))).collect::<Map>().into()
}

/// Files whose path matches a pattern: `*` within a directory, `**` across, `?`, `[a-z]`, `{a,b}`.
fn glob(files: &Files, call: &Call<'_>) -> Result<Files, String> {
    let pattern = call.str(0)?;
    let mut out = String::from("^");
    let mut chars = pattern.chars().peekable();
    let mut braces = 0;
    while let Some(c) = chars.next() {
        match c {
            '*' if chars.peek() == Some(&'*') => {
                chars.next();
                out.push_str(".*");
            }
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' | ']' => out.push(c),
            '{' => {
                braces += 1;
                out.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                out.push(')');
            }
            ',' if braces > 0 => out.push('|'),
            '!' if out.ends_with('[') => out.push('^'),
            '-' if out.rfind('[') > out.rfind(']') => out.push('-'),
            c => out.push_str(&regex::escape(&c.to_string())),
        }
    }
    out.push('$');
    let Ok(pattern) = Pattern::new(&out, call.share) else { return Ok(Files::new()) };
    call.work(files.len() * NODE)?;
    let found = files.iter().filter(|(path, _)| pattern.is_match(path, call.share));
    Ok(found.map(|(path, text)| (path.clone(), Rc::clone(text))).collect())
}
