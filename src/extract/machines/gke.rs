//! How many nodes a pool of GKE has: what it states of each of its zones makes that of all. Knows names of locations.
//! https://docs.cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler#minimum_and_maximum_node_pool_size

use super::at;
use crate::facts::NodePool;
use crate::known::{Fact, Known, Why};
use crate::parse::View;

/// Fills in the least and most nodes of a pool from its resource and that of its cluster, where that is at hand.
pub fn nodes(pool: &mut NodePool, own: View<'_>, cluster: Option<View<'_>>) {
    let zones = zones(own, cluster);
    let scaling = at(own, "autoscaling");
    let of = |total: &str, each: &str| {
        let each = || scaling.get(each).int().or(|| own.get("node_count").int());
        scaling.get(total).int().or(|| of_all(each(), &zones))
    };
    pool.min_nodes = of("total_min_node_count", "min_node_count");
    pool.max_nodes = of("total_max_node_count", "max_node_count");
}

/// A number for each zone as that for all; none is none.
pub fn of_all(each: Fact<i64>, zones: &Fact<i64>) -> Fact<i64> {
    match each.get() {
        None | Some(0) => each,
        Some(_) => each.times(zones),
    }
}

/// In how many zones a pool has nodes: those that it lists, else those of its cluster.
pub fn zones(own: View<'_>, cluster: Option<View<'_>>) -> Fact<i64> {
    let own_place = location(own);
    if let Some(listed) = listed(own.get("node_locations")) {
        return listed;
    }
    let Some(cluster) = cluster.filter(|_| own_place.is_absent()) else { return one(own_place) };
    let place = location(cluster);
    match listed(cluster.get("node_locations")) {
        // A cluster of one zone lists the others.
        Some(others) => match one(place.clone()).get() {
            Some(own) => others.map(|others| others.saturating_add(*own)),
            None if place.get().is_some() => others,
            None => one(place),
        },
        None => one(place),
    }
}

fn location(view: View<'_>) -> Fact<String> {
    view.get("location").string().or(|| view.get("zone").string())
}

/// How many zones a list names, or a text with commas.
pub fn listed(zones: View<'_>) -> Option<Fact<i64>> {
    let node = zones.node().filter(|node| !node.is_null())?;
    Some(match zones.unknown() {
        Some(why) => Fact::unknown(why, zones.place()),
        None if node.is_seq() => Fact::value(node.items().count() as i64, zones.place()),
        None => zones.string().map(|text| text.split(',').filter(|zone| !zone.trim().is_empty()).count() as i64),
    })
    .filter(|zones| zones.get() != Some(&0))
}

/// One, where a location is a zone (`us-central1-a`): a region has several.
fn one(location: Fact<String>) -> Fact<i64> {
    let open = || Why::NotStated("in how many zones the pool has nodes".into());
    let zone = |text: String| text.rsplit_once('-').is_some_and(|(_, last)| last.len() == 1);
    match location.is_absent() {
        true => Fact::unknown(open(), location.span),
        false => location.and_then(|text| if zone(text) { Known::Value(1) } else { Known::Unknown(open()) }),
    }
}
