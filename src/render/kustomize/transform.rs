//! What a kustomization does to all its resources: namespace, names, labels, annotations, replicas, images. Knows how
//! kustomize spells and orders it.

use super::doc::{Doc, Value};
use super::field::Field;
use super::resource::{Gvk, Resource, wrap};
use crate::budget::{NODE, STEP, Share};
use crate::parse::Problem;
use crate::render::pattern::Pattern;
use crate::source::{Piece, Span, Traced};
use std::ops::Range;

/// Puts resources into a namespace.
pub fn namespace(resources: &mut [Resource], namespace: &Doc, (fields, share): (&[Field], &Share)) {
    let Some(name) = namespace.text().filter(|name| !name.is_empty()) else { return };
    let span = namespace.span;
    for resource in resources {
        resource.remember();
        if !resource.gvk().is_cluster_scoped()
            && let Some(metadata) = resource.doc.entry("metadata", span)
        {
            metadata.set(Doc::string("namespace", span), namespace.clone());
        }
        if matches!(resource.kind(), "RoleBinding" | "ClusterRoleBinding")
            && let Some(Value::Seq(subjects)) = resource.doc.get_mut("subjects").map(|doc| &mut doc.value)
        {
            for subject in subjects.iter_mut().filter(|s| s.text_at(&["name"]) == Some("default")) {
                subject.set(Doc::string("namespace", span), namespace.clone());
            }
        }
        let core = resource.doc.text_at(&["apiVersion"]) == Some("v1");
        let hard_coded = |field: &&Field| {
            let path = field.path.join("/");
            path == "metadata/namespace"
                || path == "metadata/name" && !core
                || path == "subjects/namespace" && field.gvk.kind.ends_with("RoleBinding")
        };
        for field in fields.iter().filter(|field| !hard_coded(field)) {
            field.visit(resource, (share, span), &mut |doc| *doc = Doc { span, ..Doc::string(name, span) });
        }
    }
}

/// Puts a prefix before names, or a suffix after them.
pub fn affix(resources: &mut [Resource], text: &Doc, suffix: bool, (fields, share): (&[Field], &Share)) {
    let Some(affix) = text.text().filter(|affix| !affix.is_empty()) else { return };
    let kept = |gvk: &Gvk| {
        matches!(gvk.kind.as_str(), "CustomResourceDefinition" | "Namespace")
            || gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io"
    };
    for resource in resources {
        let first = resource.original_id().gvk;
        if kept(&first) {
            continue;
        }
        for field in fields.iter().filter(|field| first.is_selected_by(&field.gvk)) {
            if share.make(2 * affix.len() + STEP).is_err() {
                return;
            }
            if field.path == ["metadata", "name"] {
                if suffix { &mut resource.suffixes } else { &mut resource.prefixes }.push(affix.to_owned());
                resource.remember();
            }
            let (before, after) = if suffix { ("", affix) } else { (affix, "") };
            field.visit(resource, (share, text.span), &mut |doc| {
                if share.make(affix.len() + doc.text().map_or(0, str::len)).is_ok() {
                    wrap(doc, before, after);
                }
            });
        }
    }
}

/// Sets labels or annotations in fields that hold maps of them.
pub fn pairs(resources: &mut [Resource], pairs: &Doc, (fields, share): (&[Field], &Share)) {
    if pairs.entries().is_empty() {
        return;
    }
    for resource in resources {
        for field in fields {
            field.visit(resource, (share, pairs.span), &mut |doc| {
                // Labels are strings, whatever they look like.
                let text = |(key, value): &(Doc, Doc)| {
                    let mut value = value.clone();
                    if let Value::Scalar { plain, .. } = &mut value.value {
                        *plain = false;
                    }
                    (key.clone(), value)
                };
                if share.make(NODE * (pairs.entries().len() + doc.entries().len())).is_ok() {
                    doc.extend(pairs.entries().iter().map(text));
                }
            });
        }
    }
}

/// Sets the number of replicas of the workloads with a name.
///
/// # Errors
/// No workload has the name.
pub fn replicas(
    resources: &mut [Resource],
    item: &Doc,
    (fields, share): (&[Field], &Share),
    partial: bool,
) -> Result<(), Problem> {
    let (Some(name), Some(count)) = (item.get("name"), item.get("count")) else { return Ok(()) };
    let mut found = false;
    for field in fields {
        for resource in resources.iter_mut().take_while(|_| share.work(4 * STEP).is_ok()) {
            let ids = resource.ids();
            if ids.iter().any(|id| Some(id.name.as_str()) == name.text() && id.gvk.is_selected_by(&field.gvk)) {
                found = true;
                field.visit(resource, (share, count.span), &mut |doc| *doc = count.clone());
            }
        }
    }
    if found || partial || share.spent().is_some() {
        return Ok(());
    }
    let message = format!("no workload of this build is called `{}`", name.text().unwrap_or_default());
    Err(Problem { span: name.span, message })
}

/// Renames images and gives them tags.
pub fn images(resources: &mut [Resource], item: &Doc, (fields, share): (&[Field], &Share)) {
    let Some(name) = item.text_at(&["name"]) else { return };
    let pattern =
        |name: &str| Pattern::new(&format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$"), share);
    let Ok(pattern) = pattern(name).or_else(|_| pattern(&regex::escape(name))) else { return };
    let change = |doc: &mut Doc| {
        if doc.text().is_some_and(|text| pattern.is_match(text, share)) {
            retag(doc, item);
        }
    };
    for resource in resources {
        if resource.kind() != "CustomResourceDefinition" {
            containers(&mut resource.doc, (share, &change));
        }
        for field in fields {
            field.visit(resource, (share, item.span), &mut |doc| change(doc));
        }
    }
}

/// Changes the images of everything that is called containers.
fn containers(doc: &mut Doc, (share, change): (&Share, &dyn Fn(&mut Doc))) {
    if doc.open(share).is_err() {
        return;
    }
    match &mut doc.value {
        Value::Seq(items) => items.iter_mut().for_each(|item| containers(item, (share, change))),
        Value::Map(entries) => {
            for (key, value) in entries.iter_mut() {
                containers(value, (share, change));
                if let (Some("containers" | "initContainers"), Value::Seq(items)) = (key.text(), &mut value.value) {
                    items.iter_mut().filter_map(|item| item.get_mut("image")).for_each(change);
                }
            }
        }
        _ => {}
    }
}

/// Where name, tag and digest of an image stand in its text.
fn split(image: &str) -> (Range<usize>, Option<Range<usize>>, Option<Range<usize>>) {
    let after = image.find('/').unwrap_or(0);
    let at = image[after..].find('@').map(|at| at + after);
    let end = at.unwrap_or(image.len());
    let colon = image[after..end].find(':').map(|at| at + after);
    (0..colon.unwrap_or(end), colon.map(|colon| colon + 1..end), at.map(|at| at + 1..image.len()))
}

fn retag(doc: &mut Doc, item: &Doc) {
    let Value::Scalar { text: old, .. } = &doc.value else { return };
    let (name, old_tag, old_digest) = split(old.text());
    let new = |key: &str| match item.get(key).map(|doc| &doc.value) {
        Some(Value::Scalar { text, .. }) if !text.text().is_empty() => Some(text.clone()),
        _ => None,
    };
    let kept = |range: Option<Range<usize>>| range.map(|range| old.slice(range));
    let (tag, digest) = match (new("newTag"), new("digest"), new("tagSuffix")) {
        (None, None, None) => (kept(old_tag), kept(old_digest)),
        (None, None, Some(suffix)) => {
            let tag = kept(old_tag).map(|tag| format!("{}{}", tag.text(), suffix.text()));
            (Some(Traced::opaque(tag.unwrap_or_else(|| suffix.text().to_owned()), suffix.whole())), None)
        }
        (tag, digest, _) => (tag, digest),
    };
    let mut parts = Parts::new(new("newName").unwrap_or_else(|| old.slice(name)));
    tag.into_iter().for_each(|tag| parts.push(":", &tag));
    digest.into_iter().for_each(|digest| parts.push("@", &digest));
    let text = parts.traced();
    doc.span = text.whole();
    doc.value = Value::Scalar { text, plain: false };
}

/// Text put together from texts of several files; it stands where the last of them does.
struct Parts {
    text: String,
    spans: Vec<(Range<usize>, Span)>,
    whole: Span,
}

impl Parts {
    fn new(part: Traced) -> Self {
        let mut out = Self { text: String::new(), spans: Vec::new(), whole: part.whole() };
        out.push("", &part);
        out
    }

    fn push(&mut self, sign: &str, part: &Traced) {
        self.text.push_str(sign);
        let start = self.text.len();
        self.text.push_str(part.text());
        self.spans.push((start..self.text.len(), part.span(0..part.text().len())));
        self.whole = part.whole();
    }

    fn traced(self) -> Traced {
        let verbatim = |(range, span): &&(Range<usize>, Span)| {
            span.source == self.whole.source && span.range().len() == range.len()
        };
        let piece = |(range, span): &(Range<usize>, Span)| Piece { at: range.start as u32, source: span.start };
        let pieces = self.spans.iter().filter(verbatim).map(piece).collect();
        Traced::pieced(self.text, self.whole, pieces)
    }
}
