//! Documents laid over each other. What only one of them states is shared, not copied.

use super::tree::{Builder, DEEPEST, Entry, Node, NodeId, NodeKind, Shape, Tree};
use super::view::Raw;
use crate::budget::{NODE, Share, Spent};
use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::sync::Arc;

/// A node, and a tree that holds it.
pub type Layer<'t> = (&'t Arc<Tree>, Node<'t>);

/// Documents laid over each other, as Helm merges values: maps key by key, anything else is replaced by the later one.
/// Every node keeps its own place. `None` when there is nothing.
///
/// # Errors
/// The maps that more than one of them states are too large.
pub fn merged(layers: &[Raw], share: &Share) -> Result<Option<Raw>, Spent> {
    let stated: Vec<(&Raw, Node<'_>)> = layers.iter().filter_map(|raw| Some((raw, raw.view().node()?))).collect();
    let says = |node: Node<'_>| !node.is_null() && !matches!(node.kind(), Shape::Map([]));
    let mut present: Vec<_> = stated.iter().filter(|(_, node)| says(*node)).collect();
    present.dedup_by_key(|(raw, _)| (Arc::as_ptr(&raw.tree), raw.id));
    let (last, above) = match present[..] {
        [] => return Ok(stated.last().map(|(raw, _)| (*raw).clone())),
        [only] => return Ok(Some(only.0.clone())),
        [.., last] => (last, &present),
    };
    let mut builder = Builder::new(last.1.span().source, last.1.tree().dialect);
    let layers: Vec<Layer<'_>> = above.iter().map(|(raw, node)| (&raw.tree, *node)).collect();
    let root = overlaid(&mut builder, &layers, share)?;
    builder.tree().documents.push(root);
    Ok(Some(Raw { id: Some(root), place: last.1.span(), tree: Arc::new(builder.finish()), open: None }))
}

/// The same of nodes, of which there is at least one, as a part of what is put together.
///
/// # Errors
/// As for [`merged`].
pub fn overlaid(builder: &mut Builder, layers: &[Layer<'_>], share: &Share) -> Result<NodeId, Spent> {
    overlay(builder, layers, (share, DEEPEST))
}

/// Below `depth` levels the text is left out.
fn overlay(builder: &mut Builder, layers: &[Layer<'_>], (share, depth): (&Share, usize)) -> Result<NodeId, Spent> {
    let (tree, last) = layers[layers.len() - 1];
    share.make(NODE)?;
    if depth == 0 {
        return Ok(builder.add(NodeKind::Null, last.span()));
    }
    // Only the maps above the last node that is none take part.
    let from = layers.iter().rposition(|(_, node)| !node.is_map()).map_or(0, |at| at + 1);
    let maps = &layers[from..];
    if maps.len() < 2 {
        return Ok(builder.share(tree, last));
    }
    let mut keys: Vec<(Layer<'_>, Vec<Layer<'_>>)> = vec![];
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (tree, map) in maps {
        share.work(map.width() * NODE)?;
        for (key, value) in map.entries_and_rest() {
            let Some(text) = key.text() else { continue };
            share.work(text.len())?;
            match places.entry(text) {
                MapEntry::Occupied(place) => keys[*place.get()].1.push((tree, value)),
                MapEntry::Vacant(place) => {
                    place.insert(keys.len());
                    keys.push(((tree, key), vec![(tree, value)]));
                }
            }
        }
    }
    let mut entries = Vec::with_capacity(keys.len());
    for ((tree, key), values) in keys {
        let key = builder.share(tree, key);
        entries.push(Entry { key, value: overlay(builder, &values, (share, depth - 1))? });
    }
    Ok(builder.add(NodeKind::Map(entries), last.span()))
}
