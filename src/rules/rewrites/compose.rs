//! Compose files: the two forms of environments and commands, and values from variables.

use super::manifest::{documents, mapping, written};
use super::{Question, Rewrite, each};
use crate::rules::examples::Files;
use serde_yaml::{Mapping, Value};

pub(super) const ALL: &[Rewrite] = &[
    Rewrite {
        name: "compose-environment",
        about: "the environment of a service is a list instead of a mapping, or the reverse",
        question: Question::Spellings,
        unless: &[],
        apply: |files| services(files, environment),
    },
    Rewrite {
        name: "compose-command",
        about: "the command of a service is a list instead of a line, or the reverse",
        question: Question::Spellings,
        unless: &[],
        apply: |files| services(files, command),
    },
    Rewrite {
        name: "compose-variable",
        about: "the image of a service is the default of a variable",
        question: Question::References,
        unless: &[],
        apply: |files| {
            services(files, |service| match service.get_mut("image") {
                Some(Value::String(image)) if !image.contains('$') => {
                    *image = format!("${{IMAGE:-{image}}}");
                    true
                }
                _ => false,
            })
        },
    },
    Rewrite {
        name: "compose-devices",
        about: "`gpus: all` is a reservation of all devices",
        question: Question::Places,
        unless: &[],
        apply: |files| {
            services(files, |service| {
                if service.get("gpus") != Some(&"all".into()) || service.contains_key("deploy") {
                    return false;
                }
                service.remove("gpus");
                let capabilities = Value::Sequence(vec!["gpu".into()]);
                let device =
                    mapping([("driver", "nvidia".into()), ("count", "all".into()), ("capabilities", capabilities)]);
                let reservations = mapping([("devices", Value::Sequence(vec![device]))]);
                service.insert("deploy".into(), mapping([("resources", mapping([("reservations", reservations)]))]));
                true
            })
        },
    },
];

fn services(files: &Files, change: impl Fn(&mut Mapping) -> bool) -> Option<Files> {
    let is_compose =
        |path: &str| path.ends_with("ml") && path.rsplit('/').next().is_some_and(|name| name.contains("compose"));
    each(files, is_compose, |text| {
        let mut all = documents(text)?;
        let services = all.iter_mut().filter_map(|one| one.get_mut("services")?.as_mapping_mut());
        let services = services.flat_map(|all| all.values_mut()).filter_map(Value::as_mapping_mut);
        services.map(&change).fold(false, |any, one| any | one).then(|| written(&all))?
    })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn environment(service: &mut Mapping) -> bool {
    let Some(all) = service.get_mut("environment") else { return false };
    let new: Option<Value> = match &*all {
        Value::Mapping(map) => {
            let line = |(key, value): (&Value, &Value)| Some(format!("{}={}", key.as_str()?, scalar(value)?).into());
            map.iter().map(line).collect::<Option<Vec<Value>>>().map(Value::Sequence)
        }
        Value::Sequence(lines) => {
            let entry = |line: &Value| line.as_str()?.split_once('=').map(|(key, value)| (key.into(), value.into()));
            lines.iter().map(entry).collect::<Option<Mapping>>().map(Value::Mapping)
        }
        _ => None,
    };
    new.map(|new| *all = new).is_some()
}

fn command(service: &mut Mapping) -> bool {
    let Some(all) = service.get_mut("command") else { return false };
    let plain = |text: &str| !text.contains(['"', '\'', '\\', '$', '|', '&', ';', '\n']);
    let new: Option<Value> = match &*all {
        Value::String(line) if plain(line) => Some(Value::Sequence(line.split_whitespace().map(Value::from).collect())),
        Value::Sequence(words) => {
            let word =
                |word: &Value| scalar(word).filter(|word| plain(word) && !word.contains(' ') && !word.is_empty());
            words.iter().map(word).collect::<Option<Vec<String>>>().map(|words| words.join(" ").into())
        }
        _ => None,
    };
    new.map(|new| *all = new).is_some()
}
