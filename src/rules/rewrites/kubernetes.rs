//! Kubernetes objects: kinds of the same shape, places and spellings of what a container is given.

use super::manifest::{is_yaml, mapping, objects, written};
use super::{Question, Rewrite, each};
use crate::rules::examples::Files;
use serde_yaml::{Mapping, Value};
use std::cell::RefCell;

pub(super) const ALL: &[Rewrite] = &[
    Rewrite {
        name: "stateful-set",
        about: "a Deployment is a StatefulSet",
        question: Question::Kinds,
        unless: &["strategy", "surge", "progress_deadline"],
        apply: |files| of_kind(files, "Deployment", stateful_set),
    },
    Rewrite {
        name: "deployment",
        about: "a StatefulSet without claims of its own is a Deployment",
        question: Question::Kinds,
        unless: &["service_name"],
        apply: |files| of_kind(files, "StatefulSet", deployment),
    },
    Rewrite {
        name: "pod-of-deployment",
        about: "a Pod that is kept running is made by a Deployment",
        question: Question::Kinds,
        unless: &[],
        apply: |files| of_kind(files, "Pod", |pod| made_by(pod, true)),
    },
    Rewrite {
        name: "pod-of-job",
        about: "a Pod that ends is made by a Job",
        question: Question::Kinds,
        unless: &[],
        apply: |files| of_kind(files, "Pod", |pod| made_by(pod, false)),
    },
    Rewrite {
        name: "cron-job",
        about: "a Job is made by a CronJob",
        question: Question::Kinds,
        unless: &[],
        apply: |files| of_kind(files, "Job", cron_job),
    },
    Rewrite {
        name: "node-affinity",
        about: "a node selector is a required node affinity to sets of one value",
        question: Question::Sets,
        unless: &[],
        apply: |files| every(files, |all| pods(all, node_affinity)),
    },
    Rewrite {
        name: "environment-from-keys",
        about: "variables come from keys of a ConfigMap beside the object",
        question: Question::References,
        unless: &[],
        apply: |files| every(files, |all| by_config_map(all, false)),
    },
    Rewrite {
        name: "environment-from-map",
        about: "variables come from a whole ConfigMap beside the object",
        question: Question::References,
        unless: &[],
        apply: |files| every(files, |all| by_config_map(all, true)),
    },
    Rewrite {
        name: "arguments-by-variables",
        about: "values of flags are variables of the container",
        question: Question::References,
        unless: &[],
        apply: |files| every(files, |all| containers(all, by_variables)),
    },
    Rewrite {
        name: "flags-joined",
        about: "a flag and its value are one word",
        question: Question::Spellings,
        unless: &[],
        apply: |files| every(files, |all| containers(all, |one| words(one, joined))),
    },
    Rewrite {
        name: "flags-apart",
        about: "a flag and its value are two words",
        question: Question::Spellings,
        unless: &[],
        apply: |files| every(files, |all| containers(all, |one| words(one, apart))),
    },
    Rewrite {
        name: "shell",
        about: "a command is a line of a shell",
        question: Question::Spellings,
        unless: &[],
        apply: |files| every(files, |all| containers(all, shell)),
    },
    Rewrite {
        name: "quantities",
        about: "quantities have other units: Mi for Gi, m for whole CPUs",
        question: Question::Spellings,
        unless: &[],
        apply: |files| every(files, |all| all.iter_mut().map(units).fold(false, |any, one| any | one)),
    },
    Rewrite {
        name: "counts-quoted",
        about: "counts of resources are texts",
        question: Question::Spellings,
        unless: &[],
        apply: |files| every(files, |all| containers(all, quoted)),
    },
    Rewrite {
        name: "requests-too",
        about: "devices that are limited are requested as well",
        question: Question::Places,
        unless: &[],
        apply: |files| every(files, |all| containers(all, requested)),
    },
    Rewrite {
        name: "sidecar",
        about: "another container stands behind those of a pod",
        question: Question::Others,
        unless: &[],
        apply: |files| every(files, |all| pods(all, sidecar)),
    },
    Rewrite {
        name: "mirrored-image",
        about: "images come from a mirror, under their own paths",
        question: Question::Kinds,
        unless: &["registry", "image.reference", "pull_secrets"],
        apply: |files| every(files, |all| containers(all, |one| image(one, mirrored))),
    },
    Rewrite {
        name: "image-with-digest",
        about: "images have a digest behind their tags",
        question: Question::Spellings,
        unless: &["digest", "image.reference"],
        apply: |files| {
            every(files, |all| {
                containers(all, |one| {
                    image(one, |image| {
                        let tagged = image.rsplit('/').next()?.contains(':') && !image.contains('@');
                        tagged.then(|| format!("{image}@sha256:{}", "0123456789abcdef".repeat(4)))
                    })
                })
            })
        },
    },
    Rewrite {
        name: "without-requests",
        about: "what is requested of CPU and memory is not stated",
        question: Question::Others,
        unless: &["cpu", "memory", "requests", "resources"],
        apply: |files| {
            every(files, |all| {
                containers(all, |one| {
                    let Some(Value::Mapping(requests)) =
                        one.get_mut("resources").and_then(|all| all.get_mut("requests"))
                    else {
                        return false;
                    };
                    requests.remove("cpu").is_some() | requests.remove("memory").is_some()
                })
            })
        },
    },
    Rewrite {
        name: "without-probes",
        about: "probes are not stated",
        question: Question::Others,
        unless: &["probe", "startup", "load"],
        apply: |files| {
            every(files, |all| {
                containers(all, |one| {
                    ["livenessProbe", "readinessProbe", "startupProbe"]
                        .iter()
                        .filter(|key| one.remove(**key).is_some())
                        .count()
                        > 0
                })
            })
        },
    },
    Rewrite {
        name: "without-replicas",
        about: "replicas are not stated",
        question: Question::Others,
        unless: &["replicas", "total", "fill"],
        apply: |files| {
            of_kind(files, "Deployment", |one| {
                let spec = one.get_mut("spec").and_then(Value::as_mapping_mut);
                spec.is_some_and(|spec| spec.remove("replicas").is_some())
            })
        },
    },
];

/// Changes the objects of each file that holds nothing else.
fn every(files: &Files, change: impl Fn(&mut Vec<Value>) -> bool) -> Option<Files> {
    each(files, is_yaml, |text| {
        let mut all = objects(text)?;
        change(&mut all).then(|| written(&all))?
    })
}

/// Changes the objects of a kind, and what refers to the kind they had.
fn of_kind(files: &Files, kind: &str, change: impl Fn(&mut Value) -> bool) -> Option<Files> {
    let own = |one: &Value| one["apiVersion"].as_str().is_some_and(|api| ["v1", "apps/v1", "batch/v1"].contains(&api));
    let made = RefCell::new(None);
    let files = every(files, |all| {
        let objects = all.iter_mut().filter(|one| one["kind"] == *kind && own(one) && one["spec"].is_mapping());
        let changed = objects.filter_map(|one| change(one).then(|| one["kind"].clone()));
        made.replace_with(|made| changed.last().or(made.take()));
        true
    })?;
    let made = made.into_inner()?;
    Some(
        every(&files, |all| all.iter_mut().map(|one| retarget(one, kind, &made)).fold(false, |any, one| any | one))
            .unwrap_or(files),
    )
}

/// What names an object of a kind names one of another.
fn retarget(one: &mut Value, kind: &str, made: &Value) -> bool {
    let Some(spec) = one.get_mut("spec").and_then(Value::as_mapping_mut) else { return false };
    let targets = spec.iter_mut().filter(|(key, _)| *key == "scaleTargetRef" || *key == "targetRef");
    let targets = targets.filter_map(|(_, target)| target.as_mapping_mut()).map(|target| {
        // Of a ScaledObject that names no kind it is a Deployment.
        let named = target.entry("kind".into()).or_insert_with(|| "Deployment".into());
        let of_kind = *named == *kind;
        if of_kind {
            named.clone_from(made);
        }
        of_kind
    });
    targets.fold(false, |any, one| any | one)
}

fn stateful_set(one: &mut Value) -> bool {
    let name = one["metadata"]["name"].clone();
    let Some(spec) = one["spec"].as_mapping_mut().filter(|spec| !spec.contains_key("strategy")) else { return false };
    spec.remove("progressDeadlineSeconds");
    spec.insert("serviceName".into(), name);
    one["kind"] = "StatefulSet".into();
    true
}

fn deployment(one: &mut Value) -> bool {
    let Some(spec) = one["spec"].as_mapping_mut().filter(|spec| !spec.contains_key("volumeClaimTemplates")) else {
        return false;
    };
    ["serviceName", "podManagementPolicy", "updateStrategy", "persistentVolumeClaimRetentionPolicy"].iter().for_each(
        |key| {
            spec.remove(*key);
        },
    );
    one["kind"] = "Deployment".into();
    true
}

/// A Pod becomes the template of what makes it; whether it is kept running says which that is.
fn made_by(pod: &mut Value, kept: bool) -> bool {
    let restarts = pod["spec"].get("restartPolicy").and_then(Value::as_str).unwrap_or("Always");
    if (restarts == "Always") != kept {
        return false;
    }
    let Some(metadata) = pod["metadata"].as_mapping().cloned() else { return false };
    let stays = |key: &str| ["name", "namespace"].contains(&key);
    let (own, mut of_pod): (Mapping, Mapping) =
        metadata.into_iter().partition(|(key, _)| key.as_str().is_some_and(stays));
    if kept && !of_pod.contains_key("labels") {
        of_pod.insert("labels".into(), mapping([("app", own.get("name").cloned().unwrap_or_default())]));
    }
    let labels = of_pod.get("labels").cloned().unwrap_or_default();
    let template = mapping([("metadata", of_pod.into()), ("spec", pod["spec"].clone())]);
    *pod = if kept {
        let spec = mapping([("selector", mapping([("matchLabels", labels)])), ("template", template)]);
        mapping([
            ("apiVersion", "apps/v1".into()),
            ("kind", "Deployment".into()),
            ("metadata", own.into()),
            ("spec", spec),
        ])
    } else {
        let spec = mapping([("template", template)]);
        mapping([("apiVersion", "batch/v1".into()), ("kind", "Job".into()), ("metadata", own.into()), ("spec", spec)])
    };
    true
}

fn cron_job(job: &mut Value) -> bool {
    let stays = |key: &str| ["name", "namespace"].contains(&key);
    let Some(metadata) = job["metadata"].as_mapping().cloned() else { return false };
    let (own, of_job): (Mapping, Mapping) = metadata.into_iter().partition(|(key, _)| key.as_str().is_some_and(stays));
    let template = mapping([("metadata", of_job.into()), ("spec", job["spec"].clone())]);
    job["metadata"] = own.into();
    job["spec"] = mapping([("schedule", "0 2 * * *".into()), ("jobTemplate", template)]);
    job["kind"] = "CronJob".into();
    true
}

/// Changes each pod, wherever it is described.
fn pods(all: &mut [Value], change: impl Fn(&mut Mapping) -> bool + Copy) -> bool {
    fn visit(value: &mut Value, change: impl Fn(&mut Mapping) -> bool + Copy) -> bool {
        match value {
            Value::Mapping(map) if map.get("containers").is_some_and(Value::is_sequence) => change(map),
            Value::Mapping(map) => {
                map.iter_mut().map(|(_, value)| visit(value, change)).fold(false, |any, one| any | one)
            }
            Value::Sequence(all) => all.iter_mut().map(|value| visit(value, change)).fold(false, |any, one| any | one),
            _ => false,
        }
    }
    all.iter_mut().map(|value| visit(value, change)).fold(false, |any, one| any | one)
}

/// Changes each container of each pod.
fn containers(all: &mut [Value], change: impl Fn(&mut Mapping) -> bool + Copy) -> bool {
    pods(all, |pod| {
        let Some(Value::Sequence(all)) = pod.get_mut("containers") else { return false };
        all.iter_mut().filter_map(Value::as_mapping_mut).map(change).fold(false, |any, one| any | one)
    })
}

fn node_affinity(pod: &mut Mapping) -> bool {
    let states = pod.get("affinity").is_some_and(|affinity| affinity.get("nodeAffinity").is_some());
    if states {
        return false;
    }
    let Some(Value::Mapping(labels)) = pod.remove("nodeSelector") else { return false };
    let expressions = labels.into_iter().map(|(key, value)| {
        mapping([("key", key), ("operator", "In".into()), ("values", Value::Sequence(vec![value]))])
    });
    let term = mapping([("matchExpressions", Value::Sequence(expressions.collect()))]);
    let required = mapping([("nodeSelectorTerms", Value::Sequence(vec![term]))]);
    let affinity = mapping([("requiredDuringSchedulingIgnoredDuringExecution", required)]);
    let all = pod.entry("affinity".into()).or_insert_with(|| Value::Mapping(Mapping::new()));
    all["nodeAffinity"] = affinity;
    true
}

/// Literal variables of containers move into a ConfigMap of their object.
fn by_config_map(all: &mut Vec<Value>, whole: bool) -> bool {
    let mut maps = Vec::new();
    for object in all.iter_mut() {
        let mut data = Mapping::new();
        let (mut name, mut metadata) = (object["metadata"].clone(), Mapping::new());
        name = format!("{}-environment", name["name"].as_str().unwrap_or("stack")).into();
        let mut one = std::mem::take(object);
        let take = RefCell::new(&mut data);
        containers(std::slice::from_mut(&mut one), |container| {
            let Some(Value::Sequence(variables)) = container.get_mut("env") else { return false };
            let mut moved = false;
            variables.retain_mut(|variable| {
                let (Some(key), Some(Value::String(value))) =
                    (variable.get("name").cloned(), variable.get("value").cloned())
                else {
                    return true;
                };
                let mut data = take.borrow_mut();
                if value.contains("$(") || data.get(&key).is_some_and(|other| *other != *value) {
                    return true;
                }
                data.insert(key.clone(), value.into());
                moved = true;
                let reference = mapping([("configMapKeyRef", mapping([("name", name.clone()), ("key", key.clone())]))]);
                *variable = mapping([("name", key), ("valueFrom", reference)]);
                !whole
            });
            if whole && moved {
                let empty = variables.is_empty();
                if empty {
                    container.remove("env");
                }
                let from = container.entry("envFrom".into()).or_insert_with(|| Value::Sequence(Vec::new()));
                let reference = mapping([("configMapRef", mapping([("name", name.clone())]))]);
                from.as_sequence_mut().into_iter().for_each(|all| all.push(reference.clone()));
            }
            moved
        });
        *object = one;
        if !data.is_empty() {
            metadata.insert("name".into(), name);
            if let Some(namespace) = object["metadata"].get("namespace") {
                metadata.insert("namespace".into(), namespace.clone());
            }
            let entries = [("apiVersion", "v1".into()), ("kind", "ConfigMap".into()), ("metadata", metadata.into())];
            let mut map = mapping(entries);
            map["data"] = data.into();
            maps.push(map);
        }
    }
    let any = !maps.is_empty();
    all.extend(maps);
    any
}

/// Whether a word is a flag with a name.
fn is_flag(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Changes the words of a command, unless a shell reads them.
fn words(container: &mut Mapping, change: impl Fn(Vec<String>) -> Vec<String>) -> bool {
    let mut changed = false;
    for key in ["command", "args"] {
        let Some(Value::Sequence(all)) = container.get_mut(key) else { continue };
        let Some(old) = all.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        if old.iter().any(|word| word.contains(char::is_whitespace)) {
            continue;
        }
        let new = change(old.clone());
        changed |= new != old;
        *all = new.into_iter().map(Value::String).collect();
    }
    changed
}

fn joined(words: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in words {
        match out.last_mut() {
            Some(flag) if is_flag(flag) && !flag.contains('=') && !word.starts_with('-') => {
                *flag += &format!("={word}")
            }
            _ => out.push(word),
        }
    }
    out
}

fn apart(words: Vec<String>) -> Vec<String> {
    let split = |word: String| match word.split_once('=').filter(|_| is_flag(&word)) {
        Some((flag, value)) => vec![flag.to_owned(), value.to_owned()],
        None => vec![word],
    };
    words.into_iter().flat_map(split).collect()
}

fn by_variables(container: &mut Mapping) -> bool {
    let variables = RefCell::new(Vec::new());
    let by_variable = |value: &str| {
        let name = format!("ARGUMENT_{}", variables.borrow().len());
        let text = format!("$({name})");
        variables.borrow_mut().push(mapping([("name", name.into()), ("value", value.into())]));
        text
    };
    let literal = |value: &str| !value.is_empty() && !value.contains('$');
    words(container, |words| {
        let mut after = false;
        let words = words.into_iter().map(|word| {
            let value = std::mem::replace(&mut after, is_flag(&word) && !word.contains('='));
            match word.split_once('=').filter(|_| is_flag(&word)) {
                Some((flag, value)) if literal(value) => format!("{flag}={}", by_variable(value)),
                None if value && literal(&word) && !word.starts_with('-') => by_variable(&word),
                _ => word,
            }
        });
        words.collect()
    });
    let variables = variables.into_inner();
    let any = !variables.is_empty();
    if any {
        let all = container.entry("env".into()).or_insert_with(|| Value::Sequence(Vec::new()));
        all.as_sequence_mut().into_iter().for_each(|all| all.extend(variables.clone()));
    }
    any
}

fn shell(container: &mut Mapping) -> bool {
    let words = |key: &str| -> Option<Vec<String>> {
        let Some(all) = container.get(key) else { return Some(Vec::new()) };
        all.as_sequence()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let Some(command) = words("command").filter(|all| !all.is_empty() && !all[0].ends_with("sh")) else { return false };
    let Some(args) = words("args") else { return false };
    let plain =
        |word: &String| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c));
    let quoted = |word: &String| if plain(word) { word.clone() } else { format!("'{word}'") };
    let all: Vec<String> = command.into_iter().chain(args).collect();
    if all.iter().any(|word| word.contains(['$', '\'', '\n'])) {
        return false;
    }
    let line = format!("exec {}", all.iter().map(quoted).collect::<Vec<_>>().join(" "));
    container.insert("command".into(), Value::Sequence(vec!["/bin/sh".into(), "-c".into()]));
    container.insert("args".into(), Value::Sequence(vec![line.into()]));
    true
}

fn units(value: &mut Value) -> bool {
    match value {
        Value::Mapping(map) => map
            .iter_mut()
            .map(|(key, value)| {
                let whole = || match &*value {
                    Value::Number(number) => number.as_u64(),
                    Value::String(text) => text.parse().ok(),
                    _ => None,
                };
                if let Some(cpus) = whole().filter(|_| key == "cpu") {
                    *value = format!("{}m", cpus * 1000).into();
                    return true;
                }
                units(value)
            })
            .fold(false, |any, one| any | one),
        Value::Sequence(all) => all.iter_mut().map(units).fold(false, |any, one| any | one),
        Value::String(text) => {
            let gibibytes = text.strip_suffix("Gi").and_then(|count| count.parse::<u64>().ok());
            gibibytes.map(|count| *text = format!("{}Mi", count * 1024)).is_some()
        }
        _ => false,
    }
}

/// What a container requests or may take.
fn amounts(container: &mut Mapping, change: impl Fn(&mut Mapping) -> bool) -> bool {
    let Some(resources) = container.get_mut("resources").and_then(Value::as_mapping_mut) else { return false };
    resources.iter_mut().filter_map(|(_, all)| all.as_mapping_mut()).map(change).fold(false, |any, one| any | one)
}

fn quoted(container: &mut Mapping) -> bool {
    amounts(container, |all| {
        let numbers = all.iter_mut().filter(|(_, amount)| amount.is_number());
        let changed = numbers.map(|(_, amount)| {
            if let Some(count) = amount.as_u64() {
                *amount = count.to_string().into();
            }
        });
        changed.count() > 0
    })
}

fn requested(container: &mut Mapping) -> bool {
    let Some(resources) = container.get_mut("resources").and_then(Value::as_mapping_mut) else { return false };
    let limits = resources.get("limits").and_then(Value::as_mapping).cloned().unwrap_or_default();
    let requests = resources.entry("requests".into()).or_insert_with(|| Value::Mapping(Mapping::new()));
    let Some(requests) = requests.as_mapping_mut() else { return false };
    let before = requests.len();
    let devices = limits.into_iter().filter(|(key, _)| key.as_str().is_some_and(|key| key.contains('/')));
    devices.for_each(|(key, count)| {
        requests.entry(key).or_insert(count);
    });
    requests.len() > before
}

fn sidecar(pod: &mut Mapping) -> bool {
    let Some(Value::Sequence(all)) = pod.get_mut("containers") else { return false };
    let command: Vec<Value> = ["tail", "-F", "/var/log/stack.log"].map(Value::from).to_vec();
    let amounts = || mapping([("cpu", "50m".into()), ("memory", "64Mi".into())]);
    all.push(mapping([
        ("name", "log-shipper".into()),
        ("image", "docker.io/library/busybox:1.37.0".into()),
        ("command", command.into()),
        ("resources", mapping([("requests", amounts()), ("limits", amounts())])),
    ]));
    true
}

fn image(container: &mut Mapping, change: impl Fn(&str) -> Option<String>) -> bool {
    let Some(Value::String(image)) = container.get_mut("image") else { return false };
    change(image).map(|new| *image = new).is_some()
}

/// An image in a registry of one's own: `registry.internal/vllm/vllm-openai` for `vllm/vllm-openai`.
fn mirrored(image: &str) -> Option<String> {
    let (first, rest) = image.split_once('/').unwrap_or(("", image));
    let path = if first.contains(['.', ':']) { rest } else { image };
    (!first.contains("internal") && !image.is_empty()).then(|| format!("registry.acme.internal/{path}"))
}
