//! Methods of the objects that Helm hands to templates: files of the chart, versions of the cluster.

use super::{Call, Outcome};
use crate::budget::NODE;
use crate::render::class::Class;
use crate::render::gotemplate::print;
use crate::render::pattern::Pattern;
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Files, Items, Map, Value};
use std::rc::Rc;

/// Calls a method of a value, if it has such a one.
pub(in crate::render::gotemplate) fn method(receiver: &Value, call: &Call<'_>) -> Option<Outcome> {
    let class = receiver.as_map().map(Map::class);
    let wants = match (&receiver.data, class, call.name) {
        (.., Some(Class::Version), _) => return super::semver::method(receiver, call),
        (Data::Files(_), _, "Get" | "GetBytes" | "Lines" | "Glob") => 1,
        (Data::Files(_), _, "AsConfig" | "AsSecrets") => 0,
        (Data::Versions(_), _, "Has") => 1,
        (_, Some(Class::Values), "Table" | "PathValue") => 1,
        (_, Some(Class::Values), "AsMap" | "YAML") => 0,
        (_, Some(Class::KubeVersion), "String" | "GitVersion") => 0,
        (_, Some(Class::Capabilities), "Copy") => 0,
        (_, Some(Class::Chart), "Metadata") => 0,
        _ => return None,
    };
    Some(match call.args.iter().find_map(Value::unknown) {
        Some(why) => Ok(why.into()),
        None if call.args.len() == wants => answer(receiver, call),
        None => Err(format!("wrong number of args for {}: want {wants} got {}", call.name, call.args.len())),
    })
}

fn answer(receiver: &Value, call: &Call<'_>) -> Outcome {
    match &receiver.data {
        Data::Files(files) => of_files(files, call),
        Data::Versions(versions) => Ok(versions.iter().any(|v| Ok(v.as_str()) == call.str(0)).into()),
        Data::Map(map) => match call.name {
            "AsMap" => Ok(map.as_class(Class::Plain).into()),
            "Metadata" => Ok(map.as_class(Class::Metadata).into()),
            "YAML" => {
                let mut text = print::text(&super::yaml::to_yaml(receiver, call)?, call.share);
                text.push("\n", Origin::default());
                Ok(text.into())
            }
            "Table" => Ok(table(map, call.str(0)?)?.as_class(Class::Values).into()),
            "PathValue" => path_value(map, call.str(0)?),
            "String" | "GitVersion" => Ok(map.get("Version").unwrap_or_default()),
            _ => Ok(receiver.clone()),
        },
        _ => Ok(Value::NIL),
    }
}

fn of_files(files: &Rc<Files>, call: &Call<'_>) -> Outcome {
    // Looking for one costs nothing; what all of them say is made only where all are asked for.
    call.make(if call.name.starts_with("As") { files.values().map(|f| f.size() * 2).sum() } else { NODE })?;
    match call.name {
        "Get" => Ok(text(files, call)?.into()),
        "GetBytes" => {
            let text = text(files, call)?;
            Ok(Value { origin: text.place(), data: Data::Bytes(Rc::new(text)) })
        }
        "Lines" => lines(&text(files, call)?, call),
        "Glob" => Ok(Data::Files(Rc::new(glob(files, call)?)).into()),
        "AsConfig" => super::yaml::to_yaml(&named(files, Text::clone), call),
        _ => {
            let encoded = |text: &Text| text.derived(super::hash::base64(text.as_str().as_bytes()));
            super::yaml::to_yaml(&named(files, encoded), call)
        }
    }
}

/// `.Values.Table "a.b"`: mappings within each other.
fn table(map: &Map, path: &str) -> Result<Map, String> {
    path.split('.').try_fold(map.clone(), |table, name| match table.get(name).map(|found| found.data) {
        Some(Data::Map(inner)) => Ok(inner),
        _ => Err(format!("{name:?} is not a table")),
    })
}

/// `.Values.PathValue "a.b"`: what stands there, unless it is a mapping.
fn path_value(map: &Map, path: &str) -> Outcome {
    let found = match path.rsplit_once('.') {
        Some((above, name)) => table(map, above)?.get(name),
        None => map.get(path),
    };
    let found = found.filter(|found| !matches!(found.data, Data::Map(_)));
    found.ok_or_else(|| format!("{path:?} is not a value"))
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
    Ok(Items::of(lines.collect(), "string").into())
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
