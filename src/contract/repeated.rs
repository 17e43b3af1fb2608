//! Items of a list that is a map, by what tells them apart.

use super::pack::{self, Node};
use crate::budget::{STEP, Share, Spent};
use crate::parse::{View, placeholder};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The places of items whose keys an item before them has, with the place of that one; of more with the same keys one. An item
/// whose keys are not known is no other.
///
/// # Errors
/// The share is spent.
pub fn items(list: View<'_>, schema: &Node<'static>, share: &Share) -> Result<Vec<(usize, usize)>, Spent> {
    let mut seen = BTreeMap::new();
    let mut found = Vec::new();
    let Some(of) = schema.items.filter(|_| !schema.keys.is_empty()).map(pack::node) else { return Ok(found) };
    for (at, item) in list.items().enumerate() {
        share.work(STEP * schema.keys.len())?;
        let keys: Option<Vec<String>> = schema.keys.iter().map(|name| key(item, name, of)).collect();
        let Some(keys) = keys else { continue };
        let (first, told) = seen.entry(keys).or_insert((at, false));
        if *first != at && !std::mem::replace(told, true) {
            found.push((at, *first));
        }
    }
    Ok(found)
}

/// A key of an item as text, by default too.
fn key(item: View<'_>, name: &str, schema: &Node<'static>) -> Option<String> {
    let value = item.get(name);
    if value.is_some() || value.unknown().is_some() {
        return value.node()?.text().filter(|text| placeholder(text).is_none()).map(str::to_owned);
    }
    let at = schema.properties.binary_search_by_key(&name, |(known, _)| known).ok()?;
    let default: Json = serde_json::from_str(pack::node(schema.properties[at].1).default?).ok()?;
    Some(default.as_str().map_or(default.to_string(), str::to_owned))
}
