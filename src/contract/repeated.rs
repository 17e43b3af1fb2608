//! Items of a list that is a map or a set, by what tells them apart.

use super::pack::{self, Node, flags};
use crate::budget::{STEP, Share, Spent};
use crate::parse::{View, placeholder};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The places of items whose keys an item before them has, or that are the same text, with the place of that one; of more like it
/// one. An item that is not known, or removes another one, is no other.
///
/// # Errors
/// The share is spent.
pub fn items(list: View<'_>, schema: &Node<'static>, share: &Share) -> Result<Vec<(usize, usize)>, Spent> {
    let mut seen = BTreeMap::new();
    let mut found = Vec::new();
    let told_apart = schema.has(flags::SET) || !schema.keys.is_empty();
    let Some(of) = schema.items.filter(|_| told_apart).map(pack::node) else { return Ok(found) };
    for (at, item) in list.items().enumerate() {
        share.work(STEP * (1 + schema.keys.len()))?;
        let keys: Option<Vec<String>> = match schema.keys.is_empty() {
            true => text(item).map(|text| vec![text]),
            false => schema.keys.iter().map(|name| key(item, name, of)).collect(),
        };
        let Some(keys) = keys.filter(|_| !item.get("$patch").is_some()) else { continue };
        let (first, told) = seen.entry(keys).or_insert((at, false));
        if *first != at && !std::mem::replace(told, true) {
            found.push((at, *first));
        }
    }
    Ok(found)
}

/// A text that is known.
fn text(value: View<'_>) -> Option<String> {
    value.node()?.text().filter(|text| placeholder(text).is_none()).map(str::to_owned)
}

/// A key of an item as text, by default too.
fn key(item: View<'_>, name: &str, schema: &Node<'static>) -> Option<String> {
    let value = item.get(name);
    if value.is_some() || value.unknown().is_some() {
        return text(value);
    }
    let at = schema.properties.binary_search_by_key(&name, |(known, _)| known).ok()?;
    let default: Json = serde_json::from_str(pack::node(schema.properties[at].1).default?).ok()?;
    Some(default.as_str().map_or(default.to_string(), str::to_owned))
}
