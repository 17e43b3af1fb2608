//! Strategic merge patches: maps key by key, lists of known kinds by the merge keys of their items. Knows the lists of
//! the Kubernetes API that have merge keys; every other list is replaced.

use super::doc::{Doc, Value};
use super::resource::Gvk;
use crate::budget::{STEP, Share};
use crate::known::Why;
use crate::parse::Problem;
use crate::source::Span;

/// Where the pod template of a built-in kind is, for kinds that have one.
const POD_SPECS: &[(&str, &str, &[&str])] = &[
    ("", "Pod", &["spec"]),
    ("", "PodTemplate", &["template", "spec"]),
    ("", "ReplicationController", &["spec", "template", "spec"]),
    ("apps", "DaemonSet", &["spec", "template", "spec"]),
    ("apps", "Deployment", &["spec", "template", "spec"]),
    ("apps", "ReplicaSet", &["spec", "template", "spec"]),
    ("apps", "StatefulSet", &["spec", "template", "spec"]),
    ("batch", "CronJob", &["spec", "jobTemplate", "spec", "template", "spec"]),
    ("batch", "Job", &["spec", "template", "spec"]),
];

/// Merge keys of the lists of a pod, by their path in its `spec`; keys of lists are left out of the path.
const POD_LISTS: &[(&[&str], &[&str])] = &[
    (&["containers"], &["name"]),
    (&["initContainers"], &["name"]),
    (&["ephemeralContainers"], &["name"]),
    (&["hostAliases"], &["ip"]),
    (&["imagePullSecrets"], &["name"]),
    (&["topologySpreadConstraints"], &["topologyKey", "whenUnsatisfiable"]),
    (&["volumes"], &["name"]),
];

/// Merge keys of the lists of a container.
const CONTAINER_LISTS: &[(&str, &[&str])] = &[
    ("env", &["name"]),
    ("ports", &["containerPort", "protocol"]),
    ("volumeDevices", &["devicePath"]),
    ("volumeMounts", &["mountPath"]),
];

/// Merge keys of lists of other built-in kinds; an empty key stands for items that are their own keys.
const OTHER_LISTS: &[(&str, &str, &[&str], &[&str])] = &[
    ("", "Service", &["spec", "ports"], &["port", "protocol"]),
    ("", "ServiceAccount", &["secrets"], &["name"]),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", &["webhooks"], &["name"]),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", &["webhooks"], &["name"]),
];

/// Groups whose kinds are built in.
const BUILT_IN: &[&str] = &["", "apps", "autoscaling", "batch", "extensions", "policy"];

/// The merge keys of the list at a path, when its items are merged.
fn merge_keys(gvk: &Gvk, path: &[&str]) -> Option<&'static [&'static str]> {
    let built_in = BUILT_IN.contains(&gvk.group.as_str()) || gvk.group.ends_with(".k8s.io");
    let metadata = match path {
        [.., "metadata", "finalizers"] => Some(&[""] as &[&str]),
        [.., "metadata", "ownerReferences"] => Some(&["uid"] as &[&str]),
        _ => None,
    };
    if metadata.is_some() && built_in {
        return metadata;
    }
    let is = |group: &str, kind: &str| gvk.group == group && gvk.kind == kind;
    if let Some((.., keys)) = OTHER_LISTS.iter().find(|(group, kind, at, _)| is(group, kind) && *at == path) {
        return Some(keys);
    }
    let (.., spec) = POD_SPECS.iter().find(|(group, kind, _)| is(group, kind))?;
    match path.strip_prefix(*spec)? {
        ["containers" | "initContainers" | "ephemeralContainers", list] => {
            CONTAINER_LISTS.iter().find(|(name, _)| name == list).map(|(_, keys)| *keys)
        }
        rest => POD_LISTS.iter().find(|(at, _)| *at == rest).map(|(_, keys)| *keys),
    }
}

/// Applies a patch; `false` when it deletes the document.
///
/// # Errors
/// A patch that has another shape than what it changes.
pub fn apply(doc: &mut Doc, patch: &Doc, gvk: &Gvk, share: &Share) -> Result<bool, Problem> {
    let old = std::mem::replace(doc, Doc::null(patch.span));
    let merged = Merge { gvk, share }.value(Some(old), Some(patch.clone()), &[])?;
    Ok(merged.map(|merged| *doc = merged).is_some())
}

/// Leaves open what else a document has: other keys of its maps, other items of lists that are merged. Any other list is
/// replaced as a whole.
pub fn open(doc: &mut Doc, gvk: &Gvk, path: &[&str]) {
    let why = || Why::NotStated("the base of the kustomization".into());
    let unknown = |why, span| Doc { value: Value::Unknown(why), span, tag: None };
    let span = doc.span;
    match &mut doc.value {
        Value::Map(entries) => {
            for (key, value) in entries.iter_mut() {
                open(value, gvk, &[path, &[key.text().unwrap_or_default()]].concat());
            }
            // What kind of document it is, it says itself.
            if !path.is_empty() {
                entries.push((Doc::string("<<", span), unknown(why(), span)));
            }
        }
        Value::Seq(items) if merge_keys(gvk, path).is_some() => {
            items.iter_mut().for_each(|item| open(item, gvk, path));
            items.push(unknown(Why::Perhaps(Box::new(why())), span));
        }
        _ => {}
    }
}

struct Merge<'a> {
    gvk: &'a Gvk,
    share: &'a Share,
}

/// What `$patch` asks for.
#[derive(Clone, Copy, PartialEq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive(text: Option<&str>, span: Span) -> Result<Directive, Problem> {
    match text {
        None | Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        Some(other) => {
            Err(Problem { span, message: format!("`$patch: {other}` is none of merge, replace and delete") })
        }
    }
}

/// Takes the directive out of a patch.
fn take_directive(patch: &mut Doc) -> Result<Directive, Problem> {
    let found = match &mut patch.value {
        Value::Map(_) => patch.remove("$patch"),
        Value::Seq(items) => {
            // Beside other keys it is about its item only.
            let at = items.iter().position(|item| item.get("$patch").is_some());
            let alone = at.filter(|&at| items[at].entries().len() == 1);
            alone.and_then(|at| items.remove(at).remove("$patch"))
        }
        _ => None,
    };
    directive(found.as_ref().and_then(Doc::text), patch.span)
}

impl Merge<'_> {
    /// The value of a field that one or both sides have; `None` when it is to go.
    fn value(&self, old: Option<Doc>, patch: Option<Doc>, path: &[&str]) -> Result<Option<Doc>, Problem> {
        let Some(patch) = patch else { return Ok(old.and_then(|old| self.kept(old, path))) };
        if [Some(&patch), old.as_ref()].into_iter().flatten().any(|doc| doc.open(self.share).is_err()) {
            return Ok(None);
        }
        if patch.is_null() {
            return Ok(None);
        }
        let old = old.filter(|old| !old.is_null());
        match (&patch.value, old.as_ref().map(|old| &old.value)) {
            (Value::Unknown(_), _) | (_, Some(Value::Unknown(_))) => Ok(Some(patch)),
            (Value::Map(_), None | Some(Value::Map(_))) => self.map(old, patch, path),
            (Value::Seq(_), None | Some(Value::Seq(_))) => match merge_keys(self.gvk, path) {
                Some(keys) => self.list(old, patch, keys, path),
                None => Ok(Some(patch)),
            },
            (Value::Scalar { .. } | Value::Null, None | Some(Value::Scalar { .. } | Value::Null)) => Ok(Some(patch)),
            _ => {
                let message = format!("the patch of `{}` has another type than what it patches", path.join("."));
                Err(Problem { span: patch.span, message })
            }
        }
    }

    /// What a patch leaves alone, without the nulls that were left out rather than written.
    fn kept(&self, mut old: Doc, path: &[&str]) -> Option<Doc> {
        if implied_null(&old) || old.open(self.share).is_err() {
            return None;
        }
        match &mut old.value {
            Value::Map(entries) => {
                let under = |(key, value): (Doc, Doc)| {
                    let value = self.kept(value, &[path, &[key.text().unwrap_or_default()]].concat())?;
                    Some((key, value))
                };
                *entries = std::mem::take(entries).own().into_iter().filter_map(under).collect();
            }
            Value::Seq(items) if merge_keys(self.gvk, path).is_some() => {
                *items = std::mem::take(items).own().into_iter().filter_map(|item| self.kept(item, path)).collect();
            }
            _ => {}
        }
        Some(old)
    }

    fn map(&self, old: Option<Doc>, mut patch: Doc, path: &[&str]) -> Result<Option<Doc>, Problem> {
        let directive = take_directive(&mut patch)?;
        if directive == Directive::Delete {
            return Ok(None);
        }
        let old = old.filter(|_| directive == Directive::Merge);
        let Value::Map(changes) = patch.value else { return Ok(Some(patch)) };
        let (span, tag) = old.as_ref().map_or((patch.span, None), |old| (old.span, old.tag.clone()));
        let mut changes: Vec<Option<(Doc, Doc)>> = changes.own().into_iter().map(Some).collect();
        let mut entries = Vec::new();
        let olds = match old.map(|old| old.value) {
            Some(Value::Map(entries)) => entries.own(),
            _ => Vec::new(),
        };
        for (key, value) in olds {
            if self.share.work(changes.len()).is_err() {
                return Ok(None);
            }
            let same = |change: &&mut Option<(Doc, Doc)>| change.as_ref().is_some_and(|(k, _)| k.text() == key.text());
            let change = changes.iter_mut().find(same).and_then(Option::take).map(|(_, value)| value);
            let merged = self.under(&key, Some(value), change, path)?;
            entries.extend(merged.map(|value| (key, value)));
        }
        for (key, change) in changes.into_iter().flatten() {
            let merged = self.under(&key, None, Some(change), path)?;
            entries.extend(merged.map(|value| (key, value)));
        }
        Ok(Some(Doc { value: Value::Map(entries.into_iter().collect()), span, tag }))
    }

    fn under(&self, key: &Doc, old: Option<Doc>, patch: Option<Doc>, path: &[&str]) -> Result<Option<Doc>, Problem> {
        let path = [path, &[key.text().unwrap_or_default()]].concat();
        self.value(old, patch, &path)
    }

    fn list(&self, old: Option<Doc>, mut patch: Doc, keys: &[&str], path: &[&str]) -> Result<Option<Doc>, Problem> {
        let directive = take_directive(&mut patch)?;
        if directive == Directive::Delete {
            return Ok(None);
        }
        let (span, tag) = old.as_ref().map_or((patch.span, None), |old| (old.span, old.tag.clone()));
        let olds = match old.filter(|_| directive == Directive::Merge).map(|old| old.value) {
            Some(Value::Seq(items)) => items.own(),
            _ => Vec::new(),
        };
        let Value::Seq(changes) = patch.value else { return Ok(Some(patch)) };
        let mut left: Vec<Option<Doc>> = olds.into_iter().map(Some).collect();
        let mut items: Vec<Doc> = Vec::new();
        // Items that the patch names come first, in its order.
        for change in changes.own() {
            if self.share.work(STEP * (left.len() + items.len())).is_err() {
                return Ok(None);
            }
            let known = left.iter_mut().find(|item| item.as_ref().is_some_and(|item| same_item(item, &change, keys)));
            let old = known.and_then(Option::take);
            match items.iter_mut().find(|item| same_item(item, &change, keys)).filter(|_| old.is_none()) {
                Some(twice) => {
                    let first = std::mem::replace(twice, Doc::null(span));
                    if let Some(merged) = self.value(Some(first), Some(change), path)? {
                        *twice = merged;
                    }
                }
                None => items.extend(self.value(old, Some(change), path)?),
            }
        }
        items.extend(left.into_iter().flatten().filter_map(|item| self.kept(item, path)));
        Ok(Some(Doc { value: Value::Seq(items.into_iter().collect()), span, tag }))
    }
}

/// A null that was left out rather than written.
fn implied_null(doc: &Doc) -> bool {
    match &doc.value {
        Value::Null => true,
        Value::Scalar { text, plain: true } => text.text().is_empty(),
        _ => false,
    }
}

/// Whether two items mean the same; a key that one of them leaves out does not part them.
fn same_item(a: &Doc, b: &Doc, keys: &[&str]) -> bool {
    if keys == [""] {
        return a.text().is_some() && a.text() == b.text();
    }
    let text = |doc: &'_ Doc, key: &str| doc.get(key).and_then(Doc::text).map(str::to_owned);
    let pairs: Vec<_> = keys.iter().map(|key| (text(a, key), text(b, key))).collect();
    pairs.iter().any(|(a, b)| a.is_some() && a == b) && pairs.iter().all(|(a, b)| a.is_none() || b.is_none() || a == b)
}
