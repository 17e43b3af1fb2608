//! Variables: `vars` name a field of a resource, `$(NAME)` stands for its value elsewhere. Knows in which fields of the
//! built-in kinds they are replaced.

use super::doc::{Doc, Value};
use super::field::Field;
use super::resource::{Gvk, Id, Resource};
use crate::budget::{STEP, Share};
use crate::source::Traced;
use std::collections::BTreeMap;

/// Kinds with pods, and where these are.
const PODS: &[(&str, &str)] = &[
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("Deployment", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("Pod", "spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
];

const IN_PODS: &[&str] = &[
    "containers/args",
    "containers/command",
    "containers/env/value",
    "containers/volumeMounts/mountPath",
    "initContainers/args",
    "initContainers/command",
    "initContainers/env/value",
    "initContainers/volumeMounts/mountPath",
    "volumes/nfs/server",
];

const OTHERS: &[(&str, &str)] = &[
    ("Deployment", "spec/template/metadata/annotations"),
    ("Ingress", "spec/rules/host"),
    ("Ingress", "spec/tls/hosts"),
    ("Ingress", "spec/tls/secretName"),
    ("Service", "spec/ports/port"),
    ("Service", "spec/ports/targetPort"),
    ("StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server"),
    ("PersistentVolume", "spec/nfs/server"),
    ("", "metadata/labels"),
    ("", "metadata/annotations"),
];

/// The fields in which variables are replaced.
pub fn fields() -> Vec<Field> {
    let kind = |kind: &str| Gvk { kind: kind.to_owned(), ..Gvk::default() };
    let in_pods = PODS.iter().flat_map(|(holder, at)| {
        IN_PODS.iter().map(move |path| Field::new(kind(holder), &format!("{at}/{path}"), false))
    });
    in_pods.chain(OTHERS.iter().map(|(holder, path)| Field::new(kind(holder), path, false))).collect()
}

/// A variable and what it stands for.
#[derive(Debug, Clone)]
pub struct Variable {
    name: String,
    object: Id,
    any_namespace: bool,
    path: Vec<String>,
}

impl Variable {
    /// Reads an item of `vars`.
    pub fn read(doc: &Doc) -> Option<Variable> {
        let object = doc.get("objref")?;
        let text = |key| object.text_at(&[key]).unwrap_or_default().to_owned();
        let api = text("apiVersion");
        let (group, version) = api.rsplit_once('/').unwrap_or(("", &api));
        let (group, version) = (group.to_owned(), version.to_owned());
        let path = doc.text_at(&["fieldref", "fieldpath"]).or_else(|| doc.text_at(&["fieldref", "fieldPath"]));
        Some(Variable {
            name: doc.text_at(&["name"])?.to_owned(),
            any_namespace: text("namespace").is_empty(),
            object: Id {
                gvk: Gvk { group, version, kind: text("kind") },
                name: text("name"),
                namespace: text("namespace"),
            },
            path: super::replacements::parts(path.unwrap_or("metadata.name")),
        })
    }

    fn value<'r>(&self, resources: &'r [Resource]) -> Option<&'r Doc> {
        let meant = |id: &Id| {
            id.gvk.is_selected_by(&self.object.gvk)
                && id.name == self.object.name
                && (self.any_namespace || id.namespace == self.object.namespace)
        };
        let holder = resources.iter().find(|resource| resource.ids().iter().any(meant))?;
        self.path.iter().try_fold(&holder.doc, |doc, part| {
            let key = part.split('[').next().unwrap_or_default();
            let next = if key.is_empty() { Some(doc) } else { doc.get(key) }?;
            match part.split_once('[').and_then(|(_, index)| index.trim_end_matches(']').parse::<usize>().ok()) {
                Some(index) => next.items().get(index),
                None => Some(next),
            }
        })
    }
}

/// Replaces variables by the values that they stand for.
pub fn replace(resources: &mut [Resource], variables: &[Variable], (fields, share): (&[Field], &Share)) {
    // Of two with the same name the first holds.
    let known = variables.iter().rev().take_while(|_| share.work(4 * STEP * resources.len()).is_ok());
    let values: Values<'_> = known.filter_map(|v| Some((v.name.as_str(), v.value(resources)?.clone()))).collect();
    if values.is_empty() {
        return;
    }
    for resource in resources {
        let span = resource.doc.span;
        for field in fields {
            field.visit(resource, (share, span), &mut |doc| replace_in(doc, &values, share));
        }
    }
}

/// What variables stand for.
type Values<'v> = BTreeMap<&'v str, Doc>;

fn replace_in(doc: &mut Doc, values: &Values<'_>, share: &Share) {
    if doc.open(share).is_err() {
        return;
    }
    match &mut doc.value {
        Value::Seq(items) => {
            items.iter_mut().filter(|item| item.text().is_some()).for_each(|i| replace_in(i, values, share))
        }
        Value::Map(entries) => {
            entries
                .iter_mut()
                .filter(|(_, v)| v.text().is_some())
                .for_each(|(_, value)| replace_in(value, values, share));
        }
        _ => {
            let Some(text) = doc.text().filter(|text| text.contains("$(")) else { return };
            let whole = text.strip_prefix("$(").and_then(|inner| values.get(inner.strip_suffix(')')?));
            if let Some(value) = whole.filter(|value| value.text().is_some()) {
                *doc = value.clone();
                return;
            }
            let new = expand(text, values, share);
            if new != text {
                doc.value = Value::Scalar { text: Traced::opaque(new, doc.span), plain: false };
            }
        }
    }
}

/// `$(NAME)` becomes the value, `$$` a dollar; an unknown name stays as it is.
fn expand(text: &str, values: &Values<'_>, share: &Share) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$').filter(|at| share.make(STEP + at).is_ok()) {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let name = after.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        rest = match name {
            _ if after.starts_with('$') => {
                out.push('$');
                &after[1..]
            }
            Some((name, beyond)) => {
                match values.get(name).and_then(Doc::text) {
                    Some(value) if share.make(value.len()).is_ok() => out.push_str(value),
                    Some(_) => {}
                    None => out.push_str(&format!("$({name})")),
                }
                beyond
            }
            None => {
                out.push('$');
                after
            }
        };
    }
    out + rest
}
