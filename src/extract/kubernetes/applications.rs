//! Sets of applications of Argo CD: their template filled with what their generators give. Lists are at hand, with products and
//! joins of them; what clusters, repositories and others give is not.
//! <https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators/>

use crate::budget::{NODE, STEP, Share, Spent};
use crate::parse::{Node, Problem, Tree, View};
use crate::render::fill::{self, Value};
use std::ops::Range;
use std::sync::Arc;

/// Generators within generators: Argo CD takes two.
const DEEPEST: usize = 3;

/// What an application is made with: elements of lists, the later ones over the earlier. None is at hand where it is empty.
type Parameters<'t> = Vec<Node<'t>>;

/// The template of a set, filled for each application; `None` for the template as it is written.
pub fn templates(tree: &Arc<Tree>, spec: View<'_>, cut: &mut Vec<Problem>) -> Vec<Option<Arc<Tree>>> {
    let Some(template) = spec.get("template").node() else { return vec![] };
    let share = Share::least(tree.len() * STEP);
    let mut out = Vec::new();
    let mut fill = |generator: View<'_>| {
        for elements in parameters(generator, DEEPEST, &share)? {
            let filled = fill::part(tree, std::iter::once(template), &Elements { tree, elements }, &share)?;
            out.push(filled.map(|filled| Arc::new(filled.tree)));
        }
        Ok(())
    };
    let generators = spec.get("generators");
    for generator in generators.items() {
        if let Err(spent) = fill(generator) {
            let spent: Spent = spent;
            cut.push(Problem { span: generator.place(), message: format!("applications from here on: {spent}") });
            return out;
        }
    }
    if out.is_empty() && generators.items().next().is_none() {
        out.push(None);
    }
    out.dedup_by(|one, before| one.is_none() && before.is_none());
    out
}

fn parameters<'t>(generator: View<'t>, depth: usize, share: &Share) -> Result<Vec<Parameters<'t>>, Spent> {
    let unknown = vec![Vec::new()];
    // A selector leaves out some of what is given.
    let Some(depth) = depth.checked_sub(1).filter(|_| !generator.get("selector").is_some()) else { return Ok(unknown) };
    if let Some(list) = generator.path("list.elements").node().filter(|list| list.is_seq()) {
        share.make(NODE * list.width())?;
        return Ok(list.items().filter(|item| item.is_map()).map(|item| vec![item]).collect());
    }
    if generator.get("matrix").is_some() {
        let mut out = unknown;
        for inner in generator.path("matrix.generators").items() {
            let given = parameters(inner, depth, share)?;
            share.make(NODE * out.len() * given.len())?;
            out = out.iter().flat_map(|first| given.iter().map(|second| [&first[..], second].concat())).collect();
        }
        return Ok(out);
    }
    if generator.get("merge").is_some() {
        let keys = generator.path("merge.mergeKeys").strings();
        let keys: Vec<&str> = keys.iter().filter_map(|key| Some(key.get()?.as_str())).collect();
        let mut all = generator.path("merge.generators").items();
        let mut out = all.next().map_or(Ok(vec![]), |first| parameters(first, depth, share))?;
        for inner in all {
            let given = parameters(inner, depth, share)?;
            // What is not at hand may replace anything.
            if out.iter().chain(&given).any(Vec::is_empty) {
                return Ok(unknown);
            }
            share.work(NODE * out.len() * given.len() * keys.len())?;
            let same = |one: &[Node<'_>], other: &[Node<'_>]| keys.iter().all(|key| text(one, key) == text(other, key));
            for one in &mut out {
                let over: Parameters<'t> = given.iter().filter(|other| same(one, other)).flatten().copied().collect();
                one.extend(over);
            }
        }
        return Ok(out);
    }
    Ok(unknown)
}

fn find<'t>(elements: &[Node<'t>], name: &str) -> Option<Node<'t>> {
    elements.iter().rev().find_map(|element| element.path(name))
}

fn text<'t>(elements: &[Node<'t>], name: &str) -> Option<&'t str> {
    find(elements, name)?.text()
}

/// Elements by whose fields a template is filled: `{{name}}`, `{{.values.size}}`.
struct Elements<'t> {
    tree: &'t Arc<Tree>,
    elements: Parameters<'t>,
}

impl fill::Variables for Elements<'_> {
    fn references<'x>(&self, text: &'x str) -> Box<dyn Iterator<Item = (Range<usize>, &'x str)> + 'x> {
        let found = text.match_indices("{{").filter_map(|(start, _)| {
            let inner = text[start + 2..].trim_start_matches([' ', '-', '.']);
            let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.'))?;
            let behind = inner[length..].trim_start_matches([' ', '-']).strip_prefix("}}")?;
            Some((start..text.len() - behind.len(), &inner[..length]))
        });
        Box::new(found)
    }

    fn find(&self, name: &str, share: &Share) -> Result<Option<Value<'_>>, Spent> {
        share.work(self.elements.iter().map(|element| element.width()).sum::<usize>() + name.len())?;
        Ok(find(&self.elements, name).map(|node| (self.tree, node)))
    }
}
