//! Files in HCL that stand by themselves, evaluated into the tree that the same file would be in JSON: bake files of docker
//! buildx, jobs of Nomad, templates of Packer. Variables with their defaults are put in, and what functions or others decide
//! is unknown. Knows the language alone.

use crate::known::Why;
use crate::parse::hcl::{Hcl, Place};
use crate::parse::{Builder, Dialect, Entry, NodeId, NodeKind, Tree};
use crate::source::{Span, Traced};
use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ObjectKey, TraversalOperator};
use hcl_edit::structure::Body;
use hcl_edit::template::{Element, Template};
use std::collections::BTreeMap;

/// Values that are made of values: so deep, and so many bytes for each byte of the file.
const DEEPEST: usize = 32;
const MOST: usize = 16;

/// The blocks of a file as the tree `{group: {name: [{…}]}, constraint: [{…}]}`: below their labels, a list.
pub fn blocks(hcl: &Hcl) -> Tree {
    let mut file = File::of(hcl);
    let whole = Span::new(hcl.source, 0..0);
    let bodies: Vec<(Place<'_>, &Body)> = hcl.places().collect();
    let root = file.bodies(&bodies, whole, DEEPEST);
    file.builder.tree().documents.push(root);
    file.builder.finish()
}

/// The targets of a file as the tree `{target: {name: {…}}}`.
pub fn tree(hcl: &Hcl) -> Tree {
    let mut file = File::of(hcl);
    let mut targets = Vec::new();
    for (place, body) in hcl.places() {
        for block in body.blocks().filter(|block| block.ident.as_str() == "target") {
            let Some(label) = block.labels.first() else { continue };
            let span = place.span(label.span());
            let value = file.body(place, &block.body, span);
            targets.push(Entry { key: file.name(label.as_str(), span), value });
        }
    }
    let whole = Span::new(hcl.source, 0..0);
    let all = file.builder.add(NodeKind::Map(targets), whole);
    let key = file.name("target", whole);
    let root = file.builder.add(NodeKind::Map(vec![Entry { key, value: all }]), whole);
    file.builder.tree().documents.push(root);
    file.builder.finish()
}

struct File<'h> {
    variables: BTreeMap<&'h str, (Place<'h>, &'h Expression)>,
    locals: BTreeMap<&'h str, (Place<'h>, &'h Expression)>,
    builder: Builder,
    /// Bytes that texts may still be made of, and values.
    left: usize,
}

impl<'h> File<'h> {
    fn of(hcl: &'h Hcl) -> Self {
        let (mut variables, mut locals) = (BTreeMap::new(), BTreeMap::new());
        for (place, body) in hcl.places() {
            for block in body.blocks() {
                match (block.ident.as_str(), block.labels.first(), block.body.get_attribute("default")) {
                    ("variable", Some(name), Some(default)) => {
                        variables.insert(name.as_str(), (place, &default.value));
                    }
                    ("locals", ..) => {
                        locals.extend(block.body.attributes().map(|one| (one.key.as_str(), (place, &one.value))));
                    }
                    _ => {}
                }
            }
        }
        let builder = Builder::new(hcl.source, Dialect::Typed);
        Self { variables, locals, builder, left: MOST * (hcl.len() + 64) }
    }

    /// The attributes and blocks of some bodies together.
    fn bodies(&mut self, bodies: &[(Place<'h>, &'h Body)], span: Span, depth: usize) -> NodeId {
        let mut entries = Vec::new();
        let mut blocks = Blocks::default();
        for (place, body) in bodies {
            for attribute in body.attributes() {
                let key = self.name(attribute.key.as_str(), place.span(attribute.key.span()));
                entries.push(Entry { key, value: self.value(*place, &attribute.value, DEEPEST) });
            }
            for block in body.blocks() {
                let labels = block.labels.iter().map(|label| label.as_str());
                let path = std::iter::once(block.ident.as_str()).chain(labels);
                blocks.at(path).bodies.push((*place, &block.body, place.span(block.ident.span())));
            }
        }
        entries.extend(self.blocks(blocks, span, depth));
        self.builder.add(NodeKind::Map(entries), span)
    }

    fn blocks(&mut self, blocks: Blocks<'h>, span: Span, depth: usize) -> Vec<Entry> {
        let Some(depth) = depth.checked_sub(1) else { return vec![] };
        let mut entries = Vec::new();
        for (name, inner) in blocks.inner {
            let place = inner.place().unwrap_or(span);
            let key = self.name(name, place);
            let bodies: Vec<NodeId> =
                inner.bodies.iter().map(|(at, body, span)| self.bodies(&[(*at, body)], *span, depth)).collect();
            let value = match bodies.is_empty() {
                true => {
                    let labelled = self.blocks(inner, place, depth);
                    self.builder.add(NodeKind::Map(labelled), place)
                }
                false => self.builder.add(NodeKind::Seq(bodies), place),
            };
            entries.push(Entry { key, value });
        }
        entries
    }

    /// What `var.name` and `local.name` stand for.
    fn referred(&self, value: &Expression) -> Option<(Place<'h>, &'h Expression)> {
        let Expression::Traversal(traversal) = value else { return None };
        let (Expression::Variable(root), [operator]) = (&traversal.expr, &traversal.operators[..]) else { return None };
        let TraversalOperator::GetAttr(name) = operator.value() else { return None };
        let from = match root.as_str() {
            "var" => &self.variables,
            "local" => &self.locals,
            _ => return None,
        };
        from.get(name.as_str()).copied()
    }

    fn name(&mut self, name: &str, span: Span) -> NodeId {
        self.builder.add(NodeKind::Scalar { text: Traced::opaque(name, span), plain: false }, span)
    }

    fn body(&mut self, place: Place<'h>, body: &'h Body, span: Span) -> NodeId {
        let mut entries = Vec::new();
        for attribute in body.attributes() {
            let key = self.name(attribute.key.as_str(), place.span(attribute.key.span()));
            entries.push(Entry { key, value: self.value(place, &attribute.value, DEEPEST) });
        }
        self.builder.add(NodeKind::Map(entries), span)
    }

    fn value(&mut self, place: Place<'h>, value: &'h Expression, depth: usize) -> NodeId {
        let span = place.span(value.span());
        let spent = self.left == 0;
        self.left = self.left.saturating_sub(1);
        if let Some((place, referred)) = self.referred(value).filter(|_| depth > 0 && !spent) {
            return self.value(place, referred, depth - 1);
        }
        let kind = match value {
            _ if depth == 0 || spent => NodeKind::Unknown(Why::NotModelled("an expression so deep".into())),
            Expression::Parenthesis(inner) => return self.value(place, inner.inner(), depth - 1),
            Expression::Array(items) => {
                NodeKind::Seq(items.iter().map(|item| self.value(place, item, depth - 1)).collect())
            }
            Expression::Object(object) => {
                let mut entries = Vec::new();
                for (key, value) in object.iter() {
                    let name = match key {
                        ObjectKey::Ident(name) => name.as_str(),
                        ObjectKey::Expression(Expression::Variable(name)) => name.as_str(),
                        ObjectKey::Expression(Expression::String(name)) => name.as_str(),
                        ObjectKey::Expression(_) => continue,
                    };
                    let value = self.value(place, value.expr(), depth - 1);
                    entries.push(Entry { key: self.name(name, span), value });
                }
                NodeKind::Map(entries)
            }
            _ => match self.text(place, value, depth) {
                Ok(Some((text, quoted))) => {
                    NodeKind::Scalar { text: written(place, value, text, span), plain: !quoted }
                }
                Ok(None) => NodeKind::Null,
                Err(why) => NodeKind::Unknown(why),
            },
        };
        self.builder.add(kind, span)
    }

    /// The text of a scalar, and whether it is quoted; nothing for null.
    fn text(&mut self, place: Place<'h>, value: &'h Expression, depth: usize) -> Result<Option<(String, bool)>, Why> {
        let depth = depth.checked_sub(1).ok_or(Why::NotModelled("an expression so deep".into()))?;
        if let Some((place, referred)) = self.referred(value) {
            return self.text(place, referred, depth);
        }
        let made = match value {
            Expression::Null(_) => return Ok(None),
            Expression::Bool(value) => (value.to_string(), false),
            Expression::Number(value) => (value.to_string(), false),
            Expression::String(text) => (text.as_str().to_owned(), true),
            Expression::Parenthesis(inner) => return self.text(place, inner.inner(), depth),
            Expression::StringTemplate(template) => (self.template(place, template.iter(), depth)?, true),
            Expression::HeredocTemplate(heredoc) => {
                let template: &Template = &heredoc.template;
                (self.template(place, template.iter(), depth)?, true)
            }
            Expression::Variable(name) => {
                let unknown = || Why::Variable(name.as_str().into());
                let (place, default) = *self.variables.get(name.as_str()).ok_or_else(unknown)?;
                return self.text(place, default, depth);
            }
            Expression::Traversal(_) => return Err(Why::Variable(place.slice(value.span()).trim().into())),
            _ => return Err(Why::Template),
        };
        self.left = self.left.checked_sub(made.0.len() + 1).ok_or(Why::NotModelled("a text so long".into()))?;
        Ok(Some(made))
    }

    fn template(
        &mut self,
        place: Place<'h>,
        elements: impl Iterator<Item = &'h Element>,
        depth: usize,
    ) -> Result<String, Why> {
        let mut out = String::new();
        for element in elements {
            match element {
                Element::Literal(text) => out.push_str(text.as_str()),
                Element::Interpolation(inner) => {
                    out.push_str(&self.text(place, &inner.expr, depth)?.map_or(String::new(), |(text, _)| text));
                }
                Element::Directive(_) => return Err(Why::Template),
            }
        }
        Ok(out)
    }
}

/// A text with its places, where it is what is written.
fn written(place: Place<'_>, value: &Expression, text: String, span: Span) -> Traced {
    let source = place.slice(value.span());
    match source.find(text.as_str()).filter(|_| !text.is_empty()) {
        Some(at) => Traced::verbatim(text, span, place.range(value.span()).start + at),
        None => Traced::opaque(text, span),
    }
}

/// Blocks by their names and labels.
#[derive(Default)]
struct Blocks<'h> {
    inner: BTreeMap<&'h str, Blocks<'h>>,
    bodies: Vec<(Place<'h>, &'h Body, Span)>,
}

impl<'h> Blocks<'h> {
    fn at(&mut self, path: impl Iterator<Item = &'h str>) -> &mut Self {
        path.fold(self, |blocks, name| blocks.inner.entry(name).or_default())
    }

    /// Where the first of them stands.
    fn place(&self) -> Option<Span> {
        let below = || self.inner.values().find_map(Blocks::place);
        self.bodies.first().map(|(.., span)| *span).or_else(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::hcl;
    use crate::source::SourceId;

    #[test]
    fn variables_are_put_in_and_the_rest_is_unknown() {
        let text = "variable \"CUDA\" { default = \"12.8.1\" }\nvariable \"A\" { default = \"${CUDA}-x\" }\n\
                    target \"t\" {\n  args = { V = CUDA, W = \"${A}-y\", X = lower(CUDA), Y = item }\n  platforms = [\"linux/arm64\"]\n}\n";
        let tree = tree(&hcl::parse(SourceId(0), text));
        let target = tree.roots().next().expect("a root").view().path("target.t");
        let text = |key: &str| target.get("args").get(key).string();
        assert_eq!(text("V").get().map(String::as_str), Some("12.8.1"));
        assert_eq!(text("W").get().map(String::as_str), Some("12.8.1-x-y"));
        assert!(text("X").is_unknown() && text("Y").is_unknown());
        assert_eq!(target.get("platforms").strings().len(), 1);
    }

    #[test]
    fn values_made_of_themselves_are_unknown() {
        let mut text =
            "variable \"V0\" { default = \"${V0}\" }\ntarget \"t\" { args = { A = V0, B = W9 } }\n".to_owned();
        text.push_str("variable \"W0\" { default = \"aaaaaaaaaaaaaaaaaaaa\" }\n");
        for i in 1..10 {
            let before = format!("${{W{}}}", i - 1);
            text.push_str(&format!("variable \"W{i}\" {{ default = \"{}\" }}\n", before.repeat(8)));
        }
        let tree = tree(&hcl::parse(SourceId(0), &text));
        let args = tree.roots().next().expect("a root").view().path("target.t.args");
        assert!(args.get("A").string().is_unknown() && args.get("B").string().is_unknown());
    }
}
