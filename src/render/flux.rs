//! What Flux puts into the objects of a Kustomization after it is built: `${NAME}`, with a default or without. Knows the
//! references and where a Kustomization states the values; joins nothing.
//! <https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution>

use super::fill::{self, Value};
use crate::budget::{Share, Spent};
use crate::parse::{Node, Tree};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The values for the objects below a path.
#[derive(Clone)]
pub struct Substitution<'t> {
    /// The path, from the root of the repository.
    pub path: &'t str,
    /// Values that are stated here; they win over those of others.
    stated: Option<Value<'t>>,
    /// ConfigMaps and Secrets that others stand in, as kind and name; the later wins.
    pub from: Vec<(&'t str, &'t str)>,
    /// What these hold, the one that wins first.
    data: Vec<Value<'t>>,
    /// Whether a value may stand in what is not at hand.
    open: bool,
}

impl<'t> Substitution<'t> {
    /// What a document states, where it is such a Kustomization and has values to put in.
    pub fn of(tree: &'t Arc<Tree>, root: Node<'t>) -> Option<Self> {
        let api = root.get("apiVersion").and_then(Node::text)?;
        api.starts_with("kustomize.toolkit.fluxcd.io/").then_some(())?;
        let spec = root.get("spec")?;
        let (path, post) = (spec.get("path")?.text()?, spec.get("postBuild")?);
        let stated = post.get("substitute").map(|values| (tree, values));
        let named = |item: Node<'t>| Some((item.get("kind")?.text()?, item.get("name")?.text()?));
        let from = post.get("substituteFrom").into_iter().flat_map(Node::items).filter_map(named).collect();
        let path = path.trim_start_matches("./").trim_matches('/');
        Some(Self { path, stated, from, data: Vec::new(), open: false })
    }

    /// Adds the object that it names last of those that were not added; `None` where that is not at hand.
    pub fn add(&mut self, object: Option<Value<'t>>) {
        match object.map(|(tree, object)| (tree, object.get("data"))) {
            Some((tree, data)) => self.data.extend(data.map(|data| (tree, data))),
            None => self.open = true,
        }
    }

    /// Whether it puts the same in as another one.
    pub fn is_like(&self, other: &Self) -> bool {
        let texts = |one: &Self| -> BTreeMap<_, _> {
            let stated = one.stated.iter().flat_map(|(_, values)| values.entries());
            stated.map(|(name, value)| (name.text(), value.text())).collect()
        };
        self.from == other.from && texts(self) == texts(other)
    }
}

impl fill::Variables for Substitution<'_> {
    fn references<'x>(&self, text: &'x str) -> Box<dyn Iterator<Item = (Range<usize>, &'x str)> + 'x> {
        let found = text.match_indices("${").filter_map(|(start, _)| {
            let inner = &text[start + 2..];
            let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
            // A default ends at the first brace: none in it stands for another variable.
            let length = match &inner[length..] {
                behind if behind.starts_with('}') => length,
                behind if [":-", ":="].iter().any(|sign| behind.starts_with(sign)) => {
                    let end = length + behind.find(['{', '}', '\n'])?;
                    inner[end..].starts_with('}').then_some(end)?
                }
                _ => return None,
            };
            let escaped = text[..start].ends_with('$');
            (length > 0 && !escaped).then(|| (start..start + 2 + length + 1, &inner[..length]))
        });
        Box::new(found)
    }

    fn find(&self, reference: &str, share: &Share) -> Result<Option<Value<'_>>, Spent> {
        let name = reference.split(':').next().unwrap_or_default();
        for (tree, values) in self.stated.iter().chain(&self.data) {
            share.work(values.width())?;
            if let Some(value) = values.get(name) {
                return Ok(Some((tree, value)));
            }
        }
        Ok(None)
    }

    fn leaves(&self, root: Node<'_>) -> bool {
        let says = |list: Node<'_>| {
            list.get("kustomize.toolkit.fluxcd.io/substitute").and_then(Node::text) == Some("disabled")
        };
        ["annotations", "labels"].iter().any(|list| root.get("metadata").and_then(|m| m.get(list)).is_some_and(says))
    }

    fn text(&self, reference: &str, share: &Share) -> Result<Option<Arc<str>>, Spent> {
        let stated = self.find(reference, share)?.and_then(|(_, node)| node.text());
        let default = || reference.split_once(':').filter(|_| !self.open).map(|(_, default)| &default[1..]);
        Ok(stated.or_else(default).filter(|text| !text.contains("${")).map(Arc::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::render::fill::filled;
    use crate::source::SourceId;

    fn read(text: &str) -> Arc<Tree> {
        Arc::new(yaml::parse(SourceId(0), text, Dialect::Kubernetes))
    }

    #[test]
    fn values_and_defaults_are_put_in() {
        let kustomization = read(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec:\n  path: ./apps/llm\n  postBuild:\n    \
             substitute: {TAG: v0.8.5, GPUS: '2'}\n    substituteFrom: [{kind: ConfigMap, name: settings}, {kind: Secret, name: keys}]\n",
        );
        let settings = read("data: {TAG: latest, ZONE: a}\n");
        let root = |tree: &'static Arc<Tree>| tree.roots().next().expect("a document");
        let (kustomization, settings) = (Box::leak(Box::new(kustomization)), Box::leak(Box::new(settings)));
        let mut values = Substitution::of(kustomization, root(kustomization)).expect("it puts values in");
        assert_eq!((values.path, &*values.from), ("apps/llm", &[("ConfigMap", "settings"), ("Secret", "keys")][..]));
        values.add(Some((settings, root(settings))));
        let objects = read(
            "image: vllm:${TAG}\ngpus: ${GPUS}\nzone: ${ZONE:=b}\nport: ${PORT:-8000}\nkey: ${KEY}\nraw: $${TAG}\n",
        );
        let text = |values: &Substitution<'_>, key: &str| {
            let filled = filled(&objects, values, &Share::least(0)).expect("little").expect("some").tree;
            filled.roots().next().and_then(|root| root.get(key)?.text().map(str::to_owned)).expect("a text")
        };
        for (key, expected) in [
            ("image", "vllm:v0.8.5"),
            ("gpus", "2"),
            ("zone", "a"),
            ("port", "8000"),
            ("key", "${KEY}"),
            ("raw", "$${TAG}"),
        ] {
            assert_eq!(text(&values, key), expected, "{key}");
        }
        let left = read(
            "metadata: {annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}}\nspec: {image: 'x:${TAG}'}\n",
        );
        assert!(filled(&left, &values, &Share::least(0)).is_ok_and(|filled| filled.is_none()));
        // A Secret that is not here may state the port.
        values.add(None);
        assert_eq!(text(&values, "port"), "${PORT:-8000}");
    }
}
