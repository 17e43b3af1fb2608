//! Where a field was meant to stand that a schema does not have.

use super::pack::{self, Node, flags};
use crate::suggest;
use std::collections::{BTreeSet, VecDeque};

/// So many nodes are gone through in search of a field.
const MOST: usize = 4000;

/// What that costs.
pub const COST: usize = 64 * MOST;

/// What was meant by an unknown field: one that is spelled like it, else the place where the kind has it. `above` is the path of
/// nodes from the root to the object that does not have it, with the names of the fields that lead there.
pub fn meant(field: &str, above: &[(String, u32)]) -> Option<String> {
    let (path, here) = above.last()?;
    if let Some(near) = suggest::nearest(field, known(*here)) {
        return Some(join(path, near));
    }
    // The nearest object around it that has the field, or has it somewhere below; one place only.
    for (path, node) in above.iter().rev() {
        let mut places = below(*node, field);
        if let Some(place) = places.next() {
            let one = places.next().is_none_or(|other| other.len() > place.len());
            return one.then(|| join(path, &place.join(".")));
        }
    }
    None
}

/// The one field beside it that an unknown field is spelled like.
pub fn instead(field: &str, above: &[(String, u32)]) -> Option<String> {
    let (_, here) = above.last()?;
    suggest::only(field, known(*here)).map(str::to_owned)
}

/// The fields of an object that may be set.
fn known(here: u32) -> impl Iterator<Item = &'static str> {
    let node: &Node<'static> = pack::node(here);
    node.properties.iter().filter(|(_, child)| !pack::node(*child).has(flags::COMPUTED)).map(|(name, _)| *name)
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

/// The paths below a node that end with a field, the shortest first. Lists are gone into.
fn below(from: u32, field: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let mut queue = VecDeque::from([(from, Vec::new())]);
    let (mut seen, mut found) = (BTreeSet::from([from]), VecDeque::new());
    let mut left = MOST;
    while let Some((number, path)) = queue.pop_front() {
        if left == 0 || found.front().is_some_and(|first: &Vec<&str>| first.len() <= path.len()) {
            break;
        }
        left -= 1;
        let node: &Node<'static> = pack::node(number);
        for (name, child) in &node.properties {
            let mut path = path.clone();
            path.push(*name);
            if *name == field && !pack::node(*child).has(flags::COMPUTED) {
                found.push_back(path.clone());
            }
            let items = pack::node(*child).items;
            if seen.insert(items.unwrap_or(*child)) {
                queue.push_back((items.unwrap_or(*child), path));
            }
        }
    }
    found.into_iter()
}
