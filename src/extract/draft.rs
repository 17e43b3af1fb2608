//! Objects that a chart makes of its values, put together of what these state and of what the chart adds. Knows which charts
//! are read so, and nothing of what they make.

use super::{app_template, kubernetes, vllm_stack};
use crate::budget::{NODE, STEP, Share, Spent};
use crate::facts::Facts;
use crate::known::{Fact, Why};
use crate::parse::{Builder, Entry, Node, NodeId, NodeKind, Problem, Raw, View, overlaid};
use crate::source::{Span, Traced};
use std::sync::Arc;

/// Reads the objects of a release whose values are of a chart that is known by their shape; whether they are.
pub fn known(values: &Raw, release: (&Fact<String>, &Fact<String>), facts: &mut Facts) -> bool {
    if app_template::is_values(values.view()) {
        app_template::read(values, release, facts);
    } else if vllm_stack::is_values(values.view()) {
        vllm_stack::read(values, release, facts);
    } else {
        return false;
    }
    true
}

/// What the chart decides that nobody states here.
pub fn left() -> NodeKind {
    NodeKind::Unknown(Why::LeftTo("the release of the chart".into()))
}

/// Objects that are put together.
pub struct Draft<'t> {
    whole: &'t Raw,
    /// The values of the release.
    pub values: View<'t>,
    /// The name of the release.
    pub name: &'t Fact<String>,
    /// Its namespace.
    pub namespace: &'t Fact<String>,
    builder: Builder,
    /// What may be made of the values: each container has every volume, and each pod what is stated for all.
    share: Share,
    /// Where it was spent: no objects are read then.
    pub cut: Option<Problem>,
}

impl<'t> Draft<'t> {
    /// Nothing yet, for a release with its name and namespace.
    pub fn new(whole: &'t Raw, root: Node<'t>, (name, namespace): (&'t Fact<String>, &'t Fact<String>)) -> Self {
        let builder = Builder::new(root.tree().source, root.tree().dialect);
        let share = Share::least(root.tree().len() * STEP);
        Self { whole, values: whole.view(), name, namespace, builder, share, cut: None }
    }

    /// Reads the objects as what the release deploys.
    pub fn finish(mut self, objects: &[NodeId], facts: &mut Facts) {
        if let Some(cut) = self.cut {
            facts.cut.push(cut);
            return;
        }
        self.builder.tree().documents.extend(objects);
        let tree = Arc::new(self.builder.finish());
        kubernetes::drafted(facts, |facts| tree.roots().for_each(|root| kubernetes::document(&tree, root, facts)));
    }

    /// A node.
    pub fn add(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.spend(span);
        self.builder.add(kind, span)
    }

    /// A node as it stands, with all below it.
    pub fn copy(&mut self, node: Node<'t>) -> NodeId {
        self.spend(node.span());
        self.builder.share(&self.whole.tree, node)
    }

    /// The last of some nodes over those before it.
    pub fn overlaid(&mut self, layers: &[Node<'t>]) -> NodeId {
        let span = layers.last().map_or(self.values.place(), |node| node.span());
        let layers: Vec<_> = layers.iter().map(|node| (&self.whole.tree, *node)).collect();
        match overlaid(&mut self.builder, &layers, &self.share) {
            Ok(id) => id,
            Err(spent) => {
                self.lacks(spent, span);
                self.builder.add(left(), span)
            }
        }
    }

    fn spend(&mut self, span: Span) {
        if let Err(spent) = self.share.make(NODE) {
            self.lacks(spent, span);
        }
    }

    fn lacks(&mut self, spent: Spent, span: Span) {
        self.cut.get_or_insert(Problem { span, message: format!("the objects of these values: {spent}") });
    }

    /// A text that the chart writes, for what stands at a place.
    pub fn text(&mut self, text: &str, span: Span) -> NodeId {
        self.add(NodeKind::Scalar { text: Traced::opaque(text, span), plain: false }, span)
    }

    /// A mapping.
    pub fn map(&mut self, entries: Vec<(&str, NodeId)>, span: Span) -> NodeId {
        let entry = |(key, value): (&str, NodeId)| Entry { key: self.text(key, span), value };
        let entries = entries.into_iter().map(entry).collect();
        self.add(NodeKind::Map(entries), span)
    }

    /// A list.
    pub fn list(&mut self, items: Vec<NodeId>, span: Span) -> NodeId {
        self.add(NodeKind::Seq(items), span)
    }

    /// What stands under some keys, as it stands.
    pub fn copied(&mut self, view: View<'t>, keys: &[&'static str]) -> Vec<(&'static str, NodeId)> {
        let stated = keys.iter().filter_map(|key| Some((*key, view.get(key).node()?)));
        stated.map(|(key, node)| (key, self.copy(node))).collect()
    }

    /// An object of a kind.
    pub fn object(
        &mut self,
        (version, kind): (&str, &str),
        (metadata, spec): (Vec<(&str, NodeId)>, NodeId),
        span: Span,
    ) -> NodeId {
        let (version, kind) = (self.text(version, span), self.text(kind, span));
        let metadata = self.map(metadata, span);
        self.map(vec![("apiVersion", version), ("kind", kind), ("metadata", metadata), ("spec", spec)], span)
    }
}
