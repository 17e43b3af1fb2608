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
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

impl Selector {
    /// Reads a selector.
    pub fn read(doc: &Doc) -> Selector {
        let text = |key| doc.text_at(&[key]).unwrap_or_default().to_owned();
        Selector {
            gvk: Gvk { group: text("group"), version: text("version"), kind: text("kind") },
            name: text("name"),
            namespace: text("namespace"),
            labels: requirements(&text("labelSelector")),
            annotations: requirements(&text("annotationSelector")),
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

    /// Whether labels and annotations of a resource are selected; what is not paid for is not.
    pub fn selects_labels(&self, resource: &Resource, share: &Share) -> bool {
        let selects = |wanted: &[Requirement], key| {
            let stated = resource.doc.at(&["metadata", key]);
            let width = 1 + stated.map_or(0, |stated| stated.entries().len());
            share.work(wanted.len() * width * STEP / 2).is_ok() && wanted.iter().all(|one| one.holds(stated))
        };
        selects(&self.labels, "labels") && selects(&self.annotations, "annotations")
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
            && self.selector.selects_labels(resource, self.share)
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

/// What a label selector asks of a label: to be there, to have one of some values, or not to.
#[derive(Debug, Clone)]
struct Requirement {
    key: String,
    values: Option<Vec<String>>,
    holds: bool,
}

impl Requirement {
    fn read(text: &str) -> Self {
        let of = |key: &str, values: Option<&str>, holds| {
            let listed = |values: &str| values.split(',').map(|value| value.trim().to_owned()).collect();
            Self { key: key.trim().to_owned(), values: values.map(listed), holds }
        };
        for (sign, holds) in [(" notin ", false), (" in ", true)] {
            if let Some((key, values)) = text.split_once(sign) {
                return of(key, Some(values.trim().trim_matches(['(', ')'])), holds);
            }
        }
        for (sign, holds) in [("!=", false), ("==", true), ("=", true)] {
            if let Some((key, value)) = text.split_once(sign) {
                return of(key, Some(value), holds);
            }
        }
        match text.strip_prefix('!') {
            Some(key) => of(key, None, false),
            None => of(text, None, true),
        }
    }

    fn holds(&self, labels: Option<&Doc>) -> bool {
        let label = labels.and_then(|labels| labels.get(&self.key)).map(|value| value.text().unwrap_or_default());
        let is = |label: &str| self.values.as_ref().is_none_or(|values| values.iter().any(|value| value == label));
        label.is_some_and(is) == self.holds
    }
}

/// The requirements of a label selector (`a=b,c!=d,e in (f, g),h,!i`): commas in parentheses do not part them.
fn requirements(selector: &str) -> Vec<Requirement> {
    let mut depth = 0;
    let comma = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    selector.split(comma).map(str::trim).filter(|part| !part.is_empty()).map(Requirement::read).collect()
}
