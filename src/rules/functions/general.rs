//! Functions over values and over the facts of the run.

use super::*;
use crate::facts::value::{Data, REST, key_of};
use crate::parse::{Node, View};
use crate::quantity;
use crate::rules::lang::values::{elements, list, number, same, version};
use crate::suggest;
use crate::version::Version;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

macro_rules! functions {
    ($($name:literal ($($param:expr),*) -> $output:expr, $null:literal, $doc:literal, $call:expr;)*) => {
        /// The rows of this table.
        pub(super) const FUNCTIONS: &[Function] = &[$(Function {
            name: $name,
            params: &[$($param),*],
            output: $output,
            takes_null: $null,
            doc: $doc,
            call: $call,
        },)*];
    };
}
pub(super) use functions;

functions! {
    "size" (param("value", dyn_type)) -> Output::Type(int_type), true, "Elements of a list or map, characters of a text; 0 of null.", |a, _| {
        if let Data::Str(text) = &a[0].data {
            return Value::of(Data::Int(text.chars().count() as i64));
        }
        let all = elements(&a[0]);
        // What has no place stands for any number of elements.
        let rest = all.iter().find(|e| e.span.is_none() && matches!(e.data, Data::Unknown(_)));
        rest.cloned().unwrap_or_else(|| Value::of(Data::Int(all.len() as i64)))
    };
    "contains" (param("text", dyn_type), param("part", dyn_type)) -> Output::Type(bool_type), false, "Whether a text contains a part, or a list an element.", |a, _| {
        Value::of(Data::Bool(match (text(&a[0]), text(&a[1])) {
            (Some(whole), Some(part)) => whole.contains(part.as_ref()),
            _ => elements(&a[0]).iter().any(|item| same(item, &a[1])),
        }))
    };
    "startsWith" (param("text", dyn_type), param("prefix", str_type)) -> Output::Type(bool_type), false, "Whether a text starts with a prefix.", |a, _| on_texts(a, |t, p| t.starts_with(p));
    "endsWith" (param("text", dyn_type), param("suffix", str_type)) -> Output::Type(bool_type), false, "Whether a text ends with a suffix.", |a, _| on_texts(a, |t, p| t.ends_with(p));
    "matches" (param("text", dyn_type), param("pattern", str_type)) -> Output::Type(bool_type), false, "Whether a regular expression matches somewhere in a text.", |a, _| on_texts(a, matches);
    "lower" (param("text", dyn_type)) -> Output::Type(str_type), false, "The text in lower case.", |a, _| {
        text(&a[0]).map_or(Value::of(Data::Null), |t| string(t.to_lowercase(), &a[0]))
    };
    "split" (param("text", dyn_type), param("separator", str_type)) -> Output::Type(strings_type), false, "The parts of a text.", |a, _| {
        let (Some(whole), Some(separator)) = (text(&a[0]), text(&a[1])) else { return Value::of(Data::Null) };
        list(whole.split(separator.as_ref()).map(|part| string(part.to_owned(), &a[0])))
    };
    "join" (param("list", dyn_type), param("separator", str_type)) -> Output::Type(str_type), false, "The elements of a list as one text.", |a, _| {
        let separator = text(&a[1]).unwrap_or_default();
        let parts: Vec<String> = elements(&a[0]).iter().filter(|v| !matches!(v.data, Data::Null)).map(Value::to_string).collect();
        Value::of(Data::Str(Cow::Owned(parts.join(separator.as_ref()))))
    };
    "replace" (param("text", dyn_type), param("from", str_type), param("to", str_type)) -> Output::Type(str_type), false, "The text with every `from` replaced.", |a, _| {
        let (Some(whole), Some(from), Some(to)) = (text(&a[0]), text(&a[1]), text(&a[2])) else { return Value::of(Data::Null) };
        string(whole.replace(from.as_ref(), &to), &a[0])
    };
    "first" (param("list", dyn_type)) -> Output::Element, true, "The first element; null of an empty list.", |a, _| {
        elements(&a[0]).first().cloned().unwrap_or(Value::of(Data::Null))
    };
    "last" (param("list", dyn_type)) -> Output::Element, true, "The last element; null of an empty list.", |a, _| {
        elements(&a[0]).last().cloned().unwrap_or(Value::of(Data::Null))
    };
    "keys" (param("map", dyn_type)) -> Output::Type(strings_type), true, "The keys of a map.", |a, _| match &a[0].data {
        Data::Map(map) => list(map.iter().map(key_of)),
        Data::Node(view) => list(view.entries().into_iter().map(|(k, v)| Value::at(Data::Str(Cow::Borrowed(k)), v.place()))),
        _ => list([]),
    };
    "values" (param("map", dyn_type)) -> Output::ListOfElement, true, "The values of a map.", |a, _| Value::of(Data::List(elements(&a[0])));
    "keys" (param("map", dyn_type)) -> Output::Type(strings_type), true, "The names in a map.", |a, _| {
        let name = |name: &str| string(name.to_owned(), &a[0]);
        match &a[0].data {
            Data::Map(map) => list(map.keys().filter(|key| *key != REST).map(|key| name(key))),
            Data::Node(view) => list(view.entries().into_iter().map(|(key, _)| name(key))),
            _ => list([]),
        }
    };
    "distinct" (param("list", dyn_type)) -> Output::ListOfElement, true, "The elements without repetitions.", |a, _| {
        let mut out: Vec<Value<'_>> = Vec::new();
        for item in elements(&a[0]).iter() {
            if !out.iter().any(|seen| same(seen, item)) {
                out.push(item.clone());
            }
        }
        list(out)
    };
    "containers" (param("workload", Workload::ty)) -> Output::Type(entity_list::<Container>), false, "The containers of all pods of a workload that run side by side.", |a, _| {
        let pods = given::<Workload>(&a[0]).into_iter().flat_map(|workload| &workload.pods);
        entities(pods.flat_map(|pod| &pod.containers))
    };
    "flatten" (param("lists", dyn_type)) -> Output::Flattened, true, "The elements of the lists in a list.", |a, _| {
        list(elements(&a[0]).iter().flat_map(|inner| elements(inner).to_vec()))
    };
    "sum" (param("list", dyn_type)) -> Output::Type(float_type), true, "The sum of the numbers in a list.", |a, _| {
        fold(&elements(&a[0]), 0.0, |x, y| x + y)
    };
    "max" (param("a", dyn_type), optional("b", dyn_type)) -> Output::Extreme, true, "The larger of two values, or the largest of a list; null does not count.", |a, _| extreme(a, std::cmp::Ordering::is_gt);
    "min" (param("a", dyn_type), optional("b", dyn_type)) -> Output::Extreme, true, "The smaller of two values, or the smallest of a list; null does not count.", |a, _| extreme(a, std::cmp::Ordering::is_lt);
    "int" (param("value", dyn_type)) -> Output::Type(int_type), false, "A whole number: the number rounded towards zero, or the number in a text.", |a, _| {
        number(&a[0]).map_or(Value::of(Data::Null), |n| Value { data: Data::Int(n.float().trunc() as i64), span: a[0].span })
    };
    "double" (param("value", dyn_type)) -> Output::Type(float_type), false, "A number, or the number in a text.", |a, _| {
        number(&a[0]).map_or(Value::of(Data::Null), |n| Value { data: Data::Float(n.float()), span: a[0].span })
    };
    "string" (param("value", dyn_type)) -> Output::Type(str_type), false, "A value as text.", |a, _| string(a[0].to_string(), &a[0]);
    "version" (param("value", dyn_type)) -> Output::Type(version_type), false, "A version in a text; null when there is none.", |a, _| {
        let found = version(&a[0]).map(Cow::into_owned);
        found.map_or(Value::of(Data::Null), |v| Value { data: Data::Version(Cow::Owned(v)), span: a[0].span })
    };
    "major" (param("version", version_type)) -> Output::Type(int_type), false, "The first number of a version.", |a, _| {
        version(&a[0]).map_or(Value::of(Data::Null), |v| Value::of(Data::Int(v.major() as i64)))
    };
    "minor" (param("version", version_type)) -> Output::Type(version_type), false, "The first two numbers of a version: 2.5 of 2.5.1.", |a, _| {
        let short = version(&a[0]).and_then(|v| Version::parse(&format!("{}.{}", v.major(), v.minor())));
        short.map_or(Value::of(Data::Null), |v| Value { data: Data::Version(Cow::Owned(v)), span: a[0].span })
    };
    "abs" (param("number", float_type)) -> Output::Joined, false, "The absolute value.", |a, _| {
        number(&a[0]).map_or(Value::of(Data::Null), |n| Value::of(Data::Float(n.float().abs())))
    };
    "ceil" (param("number", float_type)) -> Output::Type(int_type), false, "Rounded up.", |a, _| {
        number(&a[0]).map_or(Value::of(Data::Null), |n| Value::of(Data::Int(n.float().ceil() as i64)))
    };
    "floor" (param("number", float_type)) -> Output::Type(int_type), false, "Rounded down.", |a, _| {
        number(&a[0]).map_or(Value::of(Data::Null), |n| Value::of(Data::Int(n.float().floor() as i64)))
    };
    "gib" (param("bytes", float_type)) -> Output::Type(str_type), false, "Bytes as text in GiB.", |a, _| {
        let told = |bytes: f64| match bytes / f64::from(1u32 << 30) {
            small if small.abs() < 0.95 => format!("{:.0} MiB", small * 1024.0),
            gib => format!("{gib:.1} GiB"),
        };
        number(&a[0]).map_or(Value::of(Data::Null), |n| string(told(n.float()), &a[0]))
    };
    "quantity" (param("value", dyn_type)) -> Output::Type(float_type), false, "A Kubernetes quantity in base units: 64Gi, 500m.", |a, _| {
        let parsed = match number(&a[0]) {
            Some(n) => Some(n.float()),
            None => text(&a[0]).and_then(|t| quantity::parse(&t)),
        };
        parsed.map_or(Value::of(Data::Null), |q| Value { data: Data::Float(q), span: a[0].span })
    };
    "duration" (param("value", dyn_type)) -> Output::Type(float_type), false, "Seconds of a duration: 300, 30s, 5m30s, 720h.", |a, _| {
        let parsed = match number(&a[0]) {
            Some(n) => Some(n.float()),
            None => text(&a[0]).and_then(|t| quantity::seconds(&t)),
        };
        parsed.map_or(Value::of(Data::Null), |s| Value { data: Data::Float(s), span: a[0].span })
    };
    "nearest" (param("word", dyn_type), param("words", dyn_type)) -> Output::Type(str_type), false, "The word of a list that is spelled most like this one; null when none is close.", |a, _| {
        let Some(word) = text(&a[0]) else { return Value::of(Data::Null) };
        let known: Vec<_> = elements(&a[1]).iter().filter_map(|v| Some(text(v)?.into_owned())).collect();
        // Names of one thing share half of their letters: `llm` and `llm-server`.
        let closest = suggest::closest(&word, known.iter().map(String::as_str)).filter(|(slips, other)| *slips <= 2 + other.len().max(word.len()) / 2);
        closest.map_or(Value::of(Data::Null), |(_, other)| string(other.to_owned(), &a[0]))
    };
    "only_near" (param("word", dyn_type), param("words", dyn_type)) -> Output::Type(str_type), false, "The only word of a list that this one can have been meant to be; null where none is near, or several are as near.", |a, _| {
        let Some(word) = text(&a[0]) else { return Value::of(Data::Null) };
        let known: Vec<_> = elements(&a[1]).iter().filter_map(|v| Some(text(v)?.into_owned())).collect();
        let only = suggest::only(&word, known.iter().map(String::as_str));
        only.map_or(Value::of(Data::Null), |only| string(only.to_owned(), &a[0]))
    };
    "non_strings" (param("document", dyn_type), param("paths", strings_type)) -> Output::Type(list_type), false, "Values under the maps at these paths that are not strings as YAML types them.", |a, _| {
        let Data::Node(view) = a[0].data else { return list([]) };
        let maps: Vec<_> = elements(&a[1]).iter().filter_map(|p| text(p).map(|p| view.path(&p))).collect();
        let values = maps.into_iter().flat_map(|map| map.entries()).map(|(_, child)| Value::of_view(child));
        list(values.filter(|v| matches!(v.data, Data::Bool(_) | Data::Int(_) | Data::Float(_))))
    };
    "plural" (param("number", float_type), param("noun", str_type), optional("plural", str_type)) -> Output::Type(str_type), false, "A number with its noun: `1 GPU`, `8 GPUs`; the plural is the noun with an s, unless it is given or not in Latin letters.", |a, _| {
        let one = number(&a[0]).is_some_and(|n| n.float() == 1.0);
        let noun = match a.get(2) {
            _ if one => a[1].to_string(),
            Some(plural) => plural.to_string(),
            // Chinese nouns have one form.
            None if !a[1].to_string().is_ascii() => a[1].to_string(),
            None => format!("{}s", a[1]),
        };
        string(format!("{} {noun}", a[0]), &a[0])
    };
    "directory" (param("entity", dyn_type)) -> Output::Type(str_type), false, "The directory of the file that states something.", |a, context| {
        a[0].span.map_or(Value::of(Data::Null), |s| Value::of(Data::Str(Cow::Borrowed(context.directory(s.source)))))
    };
    "same_file" (param("entity", dyn_type), param("other", dyn_type)) -> Output::Type(bool_type), false, "Whether one file states both.", |a, _| {
        let stated = a[0].span.zip(a[1].span);
        Value::of(Data::Bool(stated.is_some_and(|(one, other)| one.source == other.source)))
    };
    "written" (param("map", dyn_type), param("key", str_type)) -> Output::Type(str_type), false, "A text of a document as it is written, with what would stand for a value elsewhere: `${NAME}` of a script.", |a, _| {
        let (Data::Node(view), Some(key)) = (&a[0].data, text(&a[1])) else { return Value::of(Data::Null) };
        let stated = view.get(&key);
        match stated.node().and_then(Node::text) {
            Some(text) => Value::at(Data::Str(Cow::Owned(text.to_owned())), stated.place()),
            None => Value::of(Data::Null),
        }
    };
    "reference" (param("map", dyn_type), param("key", str_type)) -> Output::Type(str_type), false, "The resource that a value of a document refers to (`aws_s3_bucket.copy`, in templates its name alone), under a path of keys and numbers of items; null for what is no reference.", |a, _| {
        let (Data::Node(view), Some(key)) = (&a[0].data, text(&a[1])) else { return Value::of(Data::Null) };
        let stated = key.split('.').fold(*view, below);
        let named = stated.unknown().and_then(|why| match why {
            Why::Variable(name) => Some(name.to_string()),
            Why::Remote(reference) => {
                let call = reference.strip_prefix("!GetAtt ").and_then(|call| call.split('.').next());
                let mut parts = reference.split('.');
                let mut path = || Some(format!("{}.{}", parts.next()?, parts.next()?.split('[').next()?));
                call.map(str::to_owned).or_else(&mut path)
            }
            _ => None,
        });
        named.map_or(Value::of(Data::Null), |named| Value::at(Data::Str(Cow::Owned(named)), stated.place()))
    };
    "same_place" (param("value", dyn_type), param("other", dyn_type)) -> Output::Type(bool_type), false, "Whether the same text states both.", |a, _| {
        let stated = a[0].span.zip(a[1].span);
        Value::of(Data::Bool(stated.is_some_and(|(one, other)| one == other)))
    };
    "takes_gpus" (param("container", Container::ty)) -> Output::Type(bool_type), false, "Whether a container is given GPUs, be it all that its host has, whose number no file states.", |a, _| {
        let Some(container) = given::<Container>(&a[0]) else { return no_entity() };
        container.takes_gpus().reflect().into_leaf()
    };
    "all_read" () -> Output::Type(bool_type), true, "True where everything was read that may be deployed with what is asked about; else unknown: a template that was not rendered or a file that does not parse may hold what is missed.", |_, context| {
        context.unread().map_or(Value::of(Data::Bool(true)), |path| Value::unknown(Why::Unread(path.into()), None))
    };
    "objects" (param("kind", str_type)) -> Output::Type(entity_list::<Object>), false, "Raw Kubernetes documents of a kind that may be deployed with what is asked about.", |a, context| {
        listed(Listed::Objects(&text(&a[0]).unwrap_or_default()), context)
    };
    "resources" (param("type", str_type)) -> Output::Type(entity_list::<Resource>), false, "Raw infrastructure resources of a type that may be deployed with what is asked about.", |a, context| {
        listed(Listed::Resources(&text(&a[0]).unwrap_or_default()), context)
    };
}

/// What stands under a key, or in a list under the number of an item.
fn below<'t>(view: View<'t>, part: &str) -> View<'t> {
    let item = part.parse().ok().and_then(|at| view.items().nth(at));
    item.unwrap_or_else(|| view.get(part))
}

/// What is listed, whatever states it.
fn listed<'a>(what: Listed<'_>, context: &Context<'a>) -> Value<'a> {
    list(context.listed(what, true).into_iter().map(|entity| Value::at(Data::Entity(entity), entity.span())))
}

/// The text of a value.
pub(super) fn text<'v>(value: &'v Value<'_>) -> Option<Cow<'v, str>> {
    match &value.data {
        Data::Str(text) => Some(Cow::Borrowed(text.as_ref())),
        Data::Int(_) | Data::Float(_) | Data::Bool(_) | Data::Version(_) => Some(Cow::Owned(value.to_string())),
        _ => None,
    }
}

/// A computed text that keeps the place of the value it came from.
pub(super) fn string<'a>(text: String, from: &Value<'a>) -> Value<'a> {
    Value { data: Data::Str(Cow::Owned(text)), span: from.span }
}

fn on_texts<'a>(a: &[Value<'a>], ask: impl Fn(&str, &str) -> bool) -> Value<'a> {
    match (text(&a[0]), text(&a[1])) {
        (Some(whole), Some(part)) => Value::of(Data::Bool(ask(&whole, &part))),
        _ => Value::of(Data::Bool(false)),
    }
}

/// Most states of patterns that a thread keeps compiled, some times those of all rules: names of a file may stand in patterns.
const MOST_STATES: usize = 1 << 18;

/// A pattern that was asked for.
struct Pattern {
    states: usize,
    /// Compiled when a text is first held against it.
    compiled: OnceCell<Option<regex::Regex>>,
}

#[derive(Default)]
struct Patterns {
    known: HashMap<String, Pattern>,
    states: usize,
}

thread_local! {
    /// The patterns of this thread.
    static PATTERNS: RefCell<Patterns> = RefCell::default();
}

fn with_pattern<T>(pattern: &str, ask: impl FnOnce(&Pattern) -> T) -> T {
    PATTERNS.with_borrow_mut(|all| {
        if let Some(known) = all.known.get(pattern) {
            return ask(known);
        }
        let states = states(pattern);
        all.states = all.states.saturating_add(states);
        if all.states > MOST_STATES {
            all.known.clear();
            all.states = states;
        }
        ask(all.known.entry(pattern.to_owned()).or_insert(Pattern { states, compiled: OnceCell::new() }))
    })
}

fn matches(text: &str, pattern: &str) -> bool {
    let compile = || regex::RegexBuilder::new(pattern).size_limit(1 << 20).build().ok();
    with_pattern(pattern, |known| {
        known.compiled.get_or_init(compile).as_ref().is_some_and(|regex| regex.is_match(text))
    })
}

/// About how many states a pattern has, which is counted once.
pub(super) fn states_of(pattern: &str) -> usize {
    with_pattern(pattern, |known| known.states)
}

/// About how many states a pattern has, with its counted repetitions written out.
fn states(pattern: &str) -> usize {
    // The sizes of the groups that are open, and of what stands before.
    let (mut open, mut last) = (vec![0usize], 0usize);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        last = match c {
            '(' => {
                open.push(0);
                0
            }
            ')' if open.len() > 1 => open.pop().unwrap_or(0),
            '{' => {
                let count = rest.as_str().split('}').next().unwrap_or("");
                let most = count.split(',').filter_map(|n| n.trim().parse::<usize>().ok()).max();
                last.saturating_mul(most.unwrap_or(1).saturating_sub(1))
            }
            '\\' => usize::from(rest.next().is_some()),
            _ => 1,
        };
        if let Some(group) = open.last_mut() {
            *group = group.saturating_add(last);
        }
    }
    open.into_iter().fold(0, usize::saturating_add)
}

fn fold<'a>(items: &[Value<'a>], start: f64, f: impl Fn(f64, f64) -> f64) -> Value<'a> {
    if let Some(unknown) = items.iter().find(|v| matches!(v.data, Data::Unknown(_))) {
        return unknown.clone();
    }
    Value::of(Data::Float(items.iter().filter_map(number).fold(start, |x, n| f(x, n.float()))))
}

fn extreme<'a>(a: &[Value<'a>], better: impl Fn(std::cmp::Ordering) -> bool) -> Value<'a> {
    let listed = elements(&a[0]);
    let items = if a.len() == 1 { &listed[..] } else { a };
    let mut best: Option<&Value<'a>> = None;
    for item in items {
        match (&item.data, best) {
            (Data::Unknown(_), _) => return item.clone(),
            (Data::Null, _) => {}
            (_, None) => best = Some(item),
            (Data::Version(_), Some(so_far)) => {
                if let (Some(x), Some(y)) = (version(item), version(so_far))
                    && better(x.cmp(&y))
                {
                    best = Some(item);
                }
            }
            (_, Some(so_far)) => {
                let ordering = number(item).zip(number(so_far)).and_then(|(x, y)| x.float().partial_cmp(&y.float()));
                if ordering.is_some_and(&better) {
                    best = Some(item);
                }
            }
        }
    }
    best.cloned().unwrap_or(Value::of(Data::Null))
}
