//! Templates of OpenShift with the values that they state for their own parameters: `${NAME}` is put into a text, `${{NAME}}` as
//! it is written. Knows the references and where the values stand.
//! <https://docs.okd.io/latest/openshift_images/using-templates.html#templates-writing-parameters_using-templates>

use super::fill::{self, Value};
use crate::budget::{Share, Spent};
use crate::parse::{Node, Tree};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Whether a document is a template.
fn is_template(root: Node<'_>) -> bool {
    let text = |key: &str| root.get(key).and_then(Node::text);
    let of_openshift = |version: &str| version == "v1" || version.starts_with("template.openshift.io/");
    text("kind") == Some("Template") && text("apiVersion").is_some_and(of_openshift)
}

/// The values of the parameters of the templates of a file.
pub struct Parameters<'t> {
    /// `None` where two templates state different ones.
    values: BTreeMap<&'t str, Option<Value<'t>>>,
}

impl<'t> Parameters<'t> {
    /// The parameters of a file with templates. One that states no value, or an empty one, is left to who processes it.
    pub fn of(tree: &'t Arc<Tree>) -> Option<Self> {
        let mut values: BTreeMap<&str, Option<Value<'_>>> = BTreeMap::new();
        for root in tree.roots().filter(|root| is_template(*root)) {
            for parameter in root.get("parameters").into_iter().flat_map(Node::items) {
                let Some(name) = parameter.get("name").and_then(Node::text) else { continue };
                let stated = parameter.get("value").filter(|value| value.text().is_some_and(|text| !text.is_empty()));
                let value = stated.map(|value| (tree, value));
                let same = |known: &Option<Value<'_>>| text(known) == text(&value);
                let known = values.entry(name).or_insert(value);
                if !same(known) {
                    *known = None;
                }
            }
        }
        (!values.is_empty()).then_some(Self { values })
    }
}

fn text<'t>(value: &Option<Value<'t>>) -> Option<&'t str> {
    value.and_then(|(_, node)| node.text())
}

impl fill::Variables for Parameters<'_> {
    fn references<'x>(&self, text: &'x str) -> Box<dyn Iterator<Item = (Range<usize>, &'x str)> + 'x> {
        let found = text.match_indices("${").filter_map(|(start, _)| {
            let inner = &text[start + 2..];
            let braces = usize::from(inner.starts_with('{'));
            let name = &inner[braces..];
            let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
            let closed = name[length..].starts_with(&"}}"[..=braces]);
            // The name keeps its second braces: what stands in them is no text.
            (length > 0 && closed).then(|| (start..start + 3 + length + 2 * braces, &inner[..length + 2 * braces]))
        });
        Box::new(found)
    }

    fn find(&self, reference: &str, _: &Share) -> Result<Option<Value<'_>>, Spent> {
        Ok(self.values.get(reference.trim_matches(['{', '}'])).copied().flatten())
    }

    fn leaves(&self, root: Node<'_>) -> bool {
        !is_template(root)
    }

    fn is_bare(&self, reference: &str) -> bool {
        reference.starts_with('{')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::scalar::Scalar;
    use crate::parse::{Dialect, yaml};
    use crate::render::fill::filled;
    use crate::source::SourceId;

    #[test]
    fn values_of_parameters_are_put_in() {
        let text = "kind: Template\napiVersion: template.openshift.io/v1\nobjects:\n- {image: 'vllm:${TAG}', gpus: '${{GPUS}}', \
                    model: '${MODEL}', text: '${GPUS}', key: '${KEY}', both: '${TAG}-${GPUS}'}\nparameters:\n- {name: TAG, value: v0.8.5}\n\
                    - {name: GPUS, value: '2'}\n- {name: MODEL, value: ''}\n- {name: KEY, generate: expression, from: '[a-z]{8}'}\n";
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Kubernetes));
        let parameters = Parameters::of(&tree).expect("a template");
        let filled = filled(&tree, &parameters, &Share::least(0)).expect("little").expect("some").tree;
        let object = filled.roots().next().and_then(|root| root.get("objects")?.items().next()).expect("an object");
        let of = |key: &str| object.get(key).and_then(Node::text).expect("a text");
        let shown = ["image", "gpus", "model", "text", "key", "both"].map(of);
        assert_eq!(shown, ["vllm:v0.8.5", "2", "${MODEL}", "2", "${KEY}", "v0.8.5-2"]);
        let number = |key: &str| matches!(object.get(key).and_then(Node::scalar), Some(Scalar::Int(2)));
        assert!(number("gpus") && !number("text"));
    }
}
