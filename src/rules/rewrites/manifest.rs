//! Documents in YAML and JSON, whatever they say: their order, their syntax, the files in which they stand.

use super::{Question, Rewrite, each, ends};
use crate::rules::examples::Files;
use serde::Deserialize as _;
use serde_yaml::{Mapping, Value};

pub(super) const ALL: &[Rewrite] = &[
    Rewrite {
        name: "documents-reversed",
        about: "the documents of a file stand in the opposite order",
        question: Question::Halves,
        unless: &[],
        apply: |files| each(files, is_yaml, reversed),
    },
    Rewrite {
        name: "keys-reversed",
        about: "the keys of every mapping stand in the opposite order",
        question: Question::Halves,
        unless: &[],
        apply: |files| {
            each(files, is_yaml, |text| written(&documents(text)?.into_iter().map(turned).collect::<Vec<_>>()))
        },
    },
    Rewrite {
        name: "json",
        about: "a document in YAML is written in JSON",
        question: Question::Spellings,
        unless: &[],
        apply: |files| {
            each(files, is_yaml, |text| {
                let [document] = &documents(text)?[..] else { return None };
                serde_json::to_string_pretty(document).ok()
            })
        },
    },
    Rewrite {
        name: "windows-line-ends",
        about: "lines end with CR LF",
        question: Question::Spellings,
        unless: &[],
        apply: |files| each(files, |_| true, |text| Some(text.replace("\r\n", "\n").replace('\n', "\r\n"))),
    },
    Rewrite {
        name: "folder",
        about: "all files stand in a folder",
        question: Question::Places,
        unless: &[],
        apply: |files| {
            let rooted = |(path, text): &(String, String)| {
                path.starts_with('.') || text.contains("path: ") || text.contains("-modules ")
            };
            let moved = files.iter().map(|(path, text)| (format!("deploy/live/{path}"), text.clone()));
            (!files.iter().any(rooted)).then(|| moved.collect())
        },
    },
    Rewrite {
        name: "files-apart",
        about: "each Kubernetes object stands in a file of its own",
        question: Question::Places,
        unless: &[],
        apply: apart,
    },
    Rewrite {
        name: "list",
        about: "the Kubernetes objects of a file are the items of a List",
        question: Question::Places,
        unless: &[],
        apply: |files| {
            each(files, is_yaml, |text| {
                let items = objects(text)?;
                let list = [("apiVersion", "v1".into()), ("kind", "List".into()), ("items", Value::Sequence(items))];
                written(&[mapping(list)])
            })
        },
    },
    Rewrite {
        name: "kustomized",
        about: "the Kubernetes objects are the resources of an overlay's base",
        question: Question::Places,
        unless: &[],
        apply: kustomized,
    },
    Rewrite {
        name: "chart",
        about: "the Kubernetes objects are templates of a chart, with their images as values",
        question: Question::References,
        unless: &[],
        apply: chart,
    },
];

pub(super) fn is_yaml(path: &str) -> bool {
    ends(path, &[".yaml", ".yml"]) && !path.contains(".gpulint")
}

/// The documents of a text that no template engine and no anchor fills in.
pub(super) fn documents(text: &str) -> Option<Vec<Value>> {
    if ["{{", "{%", ": &", "- &", ": *", "- *", "<<:", ": !", "- !"].iter().any(|sign| text.contains(sign)) {
        return None;
    }
    // Words that an older YAML reads as truth values would lose their quotes.
    if ["yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|word| text.contains(&format!("\"{word}\"")) || text.contains(&format!("'{word}'")))
    {
        return None;
    }
    let all: Result<Vec<Value>, _> = serde_yaml::Deserializer::from_str(text).map(Value::deserialize).collect();
    Some(all.ok()?.into_iter().filter(|one| !one.is_null()).collect()).filter(|all: &Vec<Value>| !all.is_empty())
}

/// The same, if all of them are Kubernetes objects.
pub(super) fn objects(text: &str) -> Option<Vec<Value>> {
    let is_object = |one: &Value| one.get("apiVersion").is_some() && one.get("kind").is_some();
    documents(text).filter(|all| all.iter().all(is_object))
}

/// Documents as a text.
pub(super) fn written(documents: &[Value]) -> Option<String> {
    let texts: Result<Vec<String>, _> = documents.iter().map(serde_yaml::to_string).collect();
    Some(texts.ok()?.join("---\n"))
}

pub(super) fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Mapping(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<Mapping>())
}

fn reversed(text: &str) -> Option<String> {
    let mut all = documents(text).filter(|all| all.len() > 1)?;
    all.reverse();
    written(&all)
}

fn turned(value: Value) -> Value {
    match value {
        Value::Mapping(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, turned(value))).collect();
            entries.reverse();
            entries.into_iter().collect::<Mapping>().into()
        }
        Value::Sequence(items) => items.into_iter().map(turned).collect::<Vec<_>>().into(),
        other => other,
    }
}

/// Whether the files are manifests that stand for themselves.
fn are_plain(files: &Files) -> bool {
    let (manifests, others): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| is_yaml(path));
    let plain = |text: &String| objects(text).is_some_and(|all| all.iter().all(|one| one["kind"] != *"Kustomization"));
    let refers = |text: &String| manifests.iter().any(|(path, _)| text.contains(path.as_str()));
    !manifests.is_empty()
        && manifests.iter().all(|(_, text)| plain(text))
        && !others.iter().any(|(_, text)| refers(text))
        && !manifests.iter().any(|(path, _)| path.contains("templates/") || path.contains("kustomization"))
}

fn apart(files: &Files) -> Option<Files> {
    if !are_plain(files) {
        return None;
    }
    let mut out = Files::new();
    for (path, text) in files {
        match objects(text).filter(|all| is_yaml(path) && all.len() > 1) {
            Some(all) => {
                for (i, one) in all.iter().enumerate() {
                    out.push((
                        format!("{}-{i}.yaml", path.trim_end_matches(".yaml").trim_end_matches(".yml")),
                        written(std::slice::from_ref(one))?,
                    ));
                }
            }
            None => out.push((path.clone(), text.clone())),
        }
    }
    (out.len() > files.len()).then_some(out)
}

fn kustomized(files: &Files) -> Option<Files> {
    if !are_plain(files) {
        return None;
    }
    let names = files.iter().filter(|(path, _)| is_yaml(path)).map(|(path, _)| path.as_str());
    let base = names.map(|path| format!("- {path}\n")).collect::<String>();
    let moved = files.iter().map(|(path, text)| match is_yaml(path) {
        true => (format!("base/{path}"), text.clone()),
        false => (path.clone(), text.clone()),
    });
    let mut out: Files = moved.collect();
    out.push(("base/kustomization.yaml".to_owned(), format!("resources:\n{base}")));
    out.push(("overlays/live/kustomization.yaml".to_owned(), "resources:\n- ../../base\n".to_owned()));
    Some(out)
}

fn chart(files: &Files) -> Option<Files> {
    // What a repository's own path or another chart fills is no template.
    let delivered = |text: &String| ["kind: Application", "kind: HelmRelease"].iter().any(|kind| text.contains(kind));
    if !are_plain(files) || files.iter().any(|(_, text)| delivered(text)) {
        return None;
    }
    let (mut out, mut images) = (Files::new(), Mapping::new());
    for (path, text) in files {
        if !is_yaml(path) {
            out.push((path.clone(), text.clone()));
            continue;
        }
        let mut all = objects(text)?;
        all.iter_mut().for_each(|one| by_values(one, &mut images));
        out.push((format!("chart/templates/{}", path.replace('/', "-")), written(&all)?));
    }
    out.push(("chart/Chart.yaml".to_owned(), "apiVersion: v2\nname: stack\nversion: 1.0.0\n".to_owned()));
    out.push(("chart/values.yaml".to_owned(), written(&[mapping([("images", images.into())])])?));
    Some(out)
}

/// Images become values.
fn by_values(value: &mut Value, images: &mut Mapping) {
    match value {
        Value::Mapping(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(image) if key == "image" => {
                        let name = format!("image{}", images.len());
                        let new = format!("{{{{ .Values.images.{name} }}}}");
                        images.insert(name.into(), std::mem::replace(image, new).into());
                    }
                    other => by_values(other, images),
                }
            }
        }
        Value::Sequence(items) => items.iter_mut().for_each(|one| by_values(one, images)),
        _ => {}
    }
}
