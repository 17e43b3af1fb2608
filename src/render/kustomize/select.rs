//! Selectors: which resources a patch or a replacement is for. Knows regular expressions of targets and label
//! selectors.

use super::doc::Doc;
use super::resource::{Gvk, Id, Resource};
use regex::Regex;

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

    /// Whether it selects a resource, its parts read as regular expressions over the whole text.
    pub fn selects(&self, resource: &Resource) -> bool {
        let (now, first) = (resource.id(), resource.original_id());
        let either = |pattern: &str, part: &dyn Fn(&Id) -> String| {
            matches(pattern, &part(&first)) || matches(pattern, &part(&now))
        };
        either(&self.namespace, &|id| id.namespace.clone())
            && either(&self.name, &|id| id.name.clone())
            && matches(&self.gvk.group, &now.gvk.group)
            && matches(&self.gvk.version, &now.gvk.version)
            && matches(&self.gvk.kind, &now.gvk.kind)
            && self.selects_labels(resource)
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

fn matches(pattern: &str, text: &str) -> bool {
    pattern.is_empty()
        || pattern == text
        || Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(text))
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
