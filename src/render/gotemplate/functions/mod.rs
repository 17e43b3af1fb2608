//! The functions of templates: Go's own, Sprig's and Helm's. Each knows values and nothing of the engine; those that
//! run templates (`include`, `tpl`) are the engine's.

mod cases;
mod compare;
mod encode;
mod format;
mod hash;
mod lists;
mod logic;
mod maps;
mod methods;
mod numbers;
mod patterns;
mod semver;
mod strings;
mod urls;
mod yaml;

pub(super) use hash::base64;
pub(super) use methods::method;

use super::{Noticed, print};
use crate::budget::{NODE, STEP, Share};
use crate::known::Why;
use crate::render::class::Class;
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Entry, Map, Value};
use crate::source::Span;
use std::cell::RefCell;
use std::rc::Rc;

/// A function by name, with its arguments.
pub(super) struct Call<'a> {
    /// The name.
    pub name: &'a str,
    /// The arguments, the piped one last.
    pub args: &'a [Value],
    /// The expression.
    pub at: Option<Span>,
    /// What it may spend.
    pub share: &'a Share,
    /// What rendering shows beside the text.
    pub noticed: &'a RefCell<Noticed>,
}

type Outcome = Result<Value, String>;

/// A function with the least and the most arguments it takes.
type Function = (fn(&Call<'_>) -> Outcome, usize, usize);

/// As many arguments as there are.
const ANY: usize = usize::MAX;

/// Functions that put unknown values somewhere without looking at them.
const CARRIERS: &[&str] = &[
    "append",
    "cat",
    "concat",
    "date",
    "dateInZone",
    "date_in_zone",
    "deepCopy",
    "dict",
    "dig",
    "get",
    "hasKey",
    "indent",
    "join",
    "list",
    "merge",
    "mergeOverwrite",
    "mustAppend",
    "mustDeepCopy",
    "mustMerge",
    "mustMergeOverwrite",
    "mustPrepend",
    "nindent",
    "prepend",
    "print",
    "printf",
    "println",
    "push",
    "quote",
    "set",
    "squote",
    "toString",
    "toYaml",
    "trim",
    "tuple",
    "unset",
    "mustPush",
    "toRawJson",
    "toJson",
    "toPrettyJson",
    "mustToYaml",
    "mustToJson",
];

/// Calls a function. Of something unknown, everything is unknown.
pub(super) fn call(call: &Call<'_>) -> Outcome {
    let name = call.name;
    // `mustX` differs from `x` in how it fails only.
    let plain = name.strip_prefix("must").map(|rest| {
        let mut chars = rest.chars();
        chars.next().map(|c| c.to_ascii_lowercase()).into_iter().chain(chars).collect::<String>()
    });
    let Some((function, least, most)) = find(name).or_else(|| find(plain.as_deref()?)) else {
        return Err(format!("function {name:?} not defined"));
    };
    if !(least..=most).contains(&call.args.len()) {
        let want = if most == ANY { format!("at least {least}") } else { least.to_string() };
        return Err(format!("wrong number of args for {name}: want {want} got {}", call.args.len()));
    }
    let unknown = call.args.iter().find_map(|arg| Some((arg.unknown()?, arg.origin)));
    // A text of which a part is unknown is a text.
    let typed = matches!(name, "kindIs" | "kindOf" | "typeIs" | "typeOf") && !call.args.iter().any(nothing_known);
    if let Some((why, origin)) = unknown.clone().filter(|_| !typed && !CARRIERS.contains(&name)) {
        return Ok(Value { data: Data::Unknown(why), origin });
    }
    call.work(STEP + call.args.iter().map(read).sum::<usize>())?;
    let value = match function(call) {
        Err(_) if unknown.is_some() => Why::Template.into(),
        other => other.map_err(|message| format!("error calling {name}: {message}"))?,
    };
    call.make(value.fresh())?;
    Ok(placed(value, call))
}

fn nothing_known(arg: &Value) -> bool {
    matches!(arg.data, Data::Unknown(_))
}

/// Bytes of an argument that any function may look at; those that walk lists and mappings spend on that themselves.
fn read(arg: &Value) -> usize {
    if let Data::Str(text) = &arg.data { text.size() } else { 0 }
}

fn find(name: &str) -> Option<Function> {
    let groups = [
        strings::find,
        compare::find,
        logic::find,
        maps::find,
        lists::find,
        encode::find,
        numbers::find,
        patterns::find,
        format::find,
        hash::find,
        semver::find,
        urls::find,
    ];
    groups.iter().find_map(|group| group(name))
}

/// What was computed leads to what it was computed from.
fn placed(value: Value, call: &Call<'_>) -> Value {
    let source = || call.args.iter().find_map(|arg| arg.origin);
    match &value.data {
        _ if value.origin.is_some() => value,
        Data::Str(text) if text.place().is_none() && !text.is_empty() => match source() {
            Some(origin) => {
                let origin = Origin { unknown: text.is_unknown(), ..Origin::whole(Some(origin)) };
                Text::of(text.as_str(), origin).into()
            }
            None => value,
        },
        Data::Int(..) | Data::Float(_) | Data::Bool(_) => value.at(source()),
        Data::Unknown(_) => value.at(call.at),
        _ => value,
    }
}

impl<'a> Call<'a> {
    fn wrong(&self, index: usize, want: &str) -> String {
        format!("wrong type for value; expected {want}; got {}", print::type_of(&self.args[index]))
    }

    /// A text, and nothing else.
    fn text(&self, index: usize) -> Result<&'a Rc<Text>, String> {
        match &self.args[index].data {
            Data::Str(text) => Ok(text),
            _ => Err(self.wrong(index, "string")),
        }
    }

    fn str(&self, index: usize) -> Result<&'a str, String> {
        self.text(index).map(|text| text.as_str())
    }

    /// A whole number, and nothing else.
    fn int(&self, index: usize) -> Result<i64, String> {
        match &self.args[index].data {
            Data::Int(value, _) => Ok(*value),
            _ => Err(self.wrong(index, "int")),
        }
    }

    /// A count of things to make.
    fn count(&self, index: usize) -> Result<usize, String> {
        Ok(self.int(index)?.max(0) as usize)
    }

    fn map(&self, index: usize) -> Result<&'a Map, String> {
        let found = self.args[index].as_map().filter(|map| map.class() != Class::Texts);
        found.ok_or_else(|| self.wrong(index, "map[string]interface {}"))
    }

    fn list(&self, index: usize) -> Result<&'a [Value], String> {
        self.args[index].as_list().ok_or_else(|| self.wrong(index, "[]interface {}"))
    }

    /// The text of any value.
    fn shown(&self, index: usize) -> Text {
        strings::text(&self.args[index], self.share)
    }

    /// Spends work, as [`Share::work`].
    fn work(&self, bytes: usize) -> Result<(), String> {
        self.share.work(bytes).map_err(|spent| spent.to_string())
    }

    /// Spends on what is made beside the value itself, as [`Share::make`].
    fn make(&self, bytes: usize) -> Result<(), String> {
        self.share.make(bytes).map_err(|spent| spent.to_string())
    }

    /// The items of a list, to be walked.
    fn walk(&self, index: usize) -> Result<&'a [Value], String> {
        let items = self.list(index)?;
        self.work(items.len() * STEP)?;
        Ok(items)
    }

    /// The keys and values of a mapping as they are now.
    fn entries(&self, index: usize) -> Result<Vec<(String, Entry)>, String> {
        let map = self.map(index)?;
        self.work(map.len() * NODE)?;
        Ok(map.entries())
    }

    /// What Helm evaluates and nobody here does.
    fn missed(&self, what: &str) -> Outcome {
        if let Some(at) = self.at {
            self.noticed.borrow_mut().missed.entry(at).or_insert_with(|| format!("{what} is not understood"));
        }
        Ok(Value::from(Why::Template).at(self.at))
    }

    /// What only a cluster, a clock or chance can tell.
    fn unknown(&self) -> Outcome {
        Ok(Why::Remote(self.name.into()).into())
    }
}
