//! Selectors: which resources a patch or a replacement is for. Knows regular expressions of targets and label
//! selectors.

use super::doc::Doc;
use super::resource::{Gvk, Id, Resource};
use crate::budget::{STEP, Share};
use crate::render::pattern::Pattern;

/// The `target` of a patch, or a selector of a replacement.
#[derive(Debug, Default, Clone)]
pub struct Selector {
    gvk: Gvk,
    name: String,
    namespace: String,
    labels: String,
    annotations: String,
}

impl Selector {
    /// Reads a selector.
    pub fn read(doc: &Doc) -> Selector {
        let text = |key| doc.text_at(&[key]).unwrap_or_default().to_owned();
        Selector {
            gvk: Gvk { group: text("group"), version: text("version"), kind: text("kind") },
            name: text("name"),
            namespace: text("namespace"),
            labels: text("labelSelector"),
            annotations: text("annotationSelector"),
        }
    }

    /// Whether it selects by what identifies a resource.
    pub fn has_id(&self) -> bool {
        self.gvk != Gvk::default() || !self.name.is_empty() || !self.namespace.is_empty()
    }

    /// Whether it selects by labels or annotations.
    pub fn has_labels(&self) -> bool {
        !self.labels.is_empty() || !self.annotations.is_empty()
    }

    /// The same with its parts read as regular expressions over the whole text.
    pub fn patterns<'s>(&'s self, share: &'s Share) -> Patterns<'s> {
        let whole = |text: &'s String| Whole { text, pattern: Pattern::new(&format!("^(?:{text})$"), share).ok() };
        let Gvk { group, version, kind } = &self.gvk;
        let parts = [group, version, kind, &self.name, &self.namespace].map(whole);
        Patterns { selector: self, parts, share }
    }

    /// Whether one of the ids of a resource is the one that is meant, its parts read as they stand.
    pub fn names(&self, resource: &Resource) -> bool {
        let part = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
        resource.ids().iter().any(|id| {
            id.gvk.is_selected_by(&self.gvk) && part(&self.name, &id.name) && part(&self.namespace, &id.namespace)
        })
    }

    /// Whether labels and annotations of a resource are selected.
    pub fn selects_labels(&self, resource: &Resource) -> bool {
        let map = |key| resource.doc.at(&["metadata", key]);
        selects(&self.labels, map("labels")) && selects(&self.annotations, map("annotations"))
    }
}

/// A selector whose parts are regular expressions.
pub struct Patterns<'s> {
    selector: &'s Selector,
    /// Group, version, kind, name and namespace.
    parts: [Whole<'s>; 5],
    share: &'s Share,
}

impl Patterns<'_> {
    /// Whether it selects a resource.
    pub fn selects(&self, resource: &Resource) -> bool {
        if self.share.work(8 * STEP).is_err() {
            return false;
        }
        let (now, first) = (resource.id(), resource.original_id());
        let [group, version, kind, name, namespace] = &self.parts;
        let is = |part: &Whole<'_>, text: &str| part.is(text, self.share);
        let either = |part, of: fn(&Id) -> &str| is(part, of(&first)) || is(part, of(&now));
        either(namespace, |id| &id.namespace)
            && either(name, |id| &id.name)
            && is(group, &now.gvk.group)
            && is(version, &now.gvk.version)
            && is(kind, &now.gvk.kind)
            && self.selector.selects_labels(resource)
    }
}

/// A text, and the same as a regular expression over whole texts.
struct Whole<'s> {
    text: &'s str,
    pattern: Option<Pattern>,
}

impl Whole<'_> {
    fn is(&self, text: &str, share: &Share) -> bool {
        self.text.is_empty()
            || self.text == text
            || self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text, share))
    }
}

/// Whether a label selector (`a=b,c!=d,e in (f, g),h,!i`) selects labels.
fn selects(selector: &str, labels: Option<&Doc>) -> bool {
    let label = |key: &str| labels.and_then(|labels| labels.get(key)).map(|v| v.text().unwrap_or_default());
    requirements(selector).iter().all(|requirement| {
        let set = |open: &str| {
            let (key, values) = requirement.split_once(open)?;
            let values: Vec<&str> = values.trim().trim_matches(['(', ')']).split(',').map(str::trim).collect();
            Some((key.trim(), values))
        };
        if let Some((key, values)) = set(" notin ") {
            return label(key).is_none_or(|value| !values.contains(&value));
        }
        if let Some((key, values)) = set(" in ") {
            return label(key).is_some_and(|value| values.contains(&value));
        }
        if let Some((key, value)) = requirement.split_once("!=") {
            return label(key.trim()) != Some(value.trim());
        }
        if let Some((key, value)) = requirement.split_once("==").or_else(|| requirement.split_once('=')) {
            return label(key.trim()) == Some(value.trim());
        }
        match requirement.strip_prefix('!') {
            Some(key) => label(key.trim()).is_none(),
            None => label(requirement).is_some(),
        }
    })
}

/// The requirements of a label selector: commas in parentheses do not part them.
fn requirements(selector: &str) -> Vec<&str> {
    let mut depth = 0;
    let comma = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    selector.split(comma).map(str::trim).filter(|part| !part.is_empty()).collect()
}
