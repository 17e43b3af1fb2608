//! Things that are found by keys, everywhere or at some places. Knows neither what the things are nor what a place is.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// Things in an order, each at a place.
#[derive(Debug)]
pub struct Shelf<P, K, T> {
    items: Vec<(P, T)>,
    /// Positions of things, in the order of their places.
    by_key: HashMap<K, Vec<u32>>,
}

impl<P: Copy + Ord, K: Hash + Eq, T> Shelf<P, K, T> {
    /// Puts things onto a shelf, each at its place and under its keys.
    pub fn of(listed: impl IntoIterator<Item = (P, Vec<K>, T)>) -> Self {
        let mut items = Vec::new();
        let mut order = Vec::new();
        for (place, keys, item) in listed {
            order.push((place, items.len() as u32, keys));
            items.push((place, item));
        }
        order.sort_by_key(|(place, position, _)| (*place, *position));
        let mut by_key: HashMap<K, Vec<u32>> = HashMap::new();
        for (_, position, keys) in order {
            keys.into_iter().for_each(|key| by_key.entry(key).or_default().push(position));
        }
        Self { items, by_key }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How much is found by a key.
    pub fn count(&self, key: &K) -> usize {
        self.by_key.get(key).map_or(0, Vec::len)
    }

    /// The thing at a position.
    pub fn at(&self, position: u32) -> &T {
        &self.items[position as usize].1
    }

    /// Positions of what is found by one of some keys, at any place or in some ranges of places, in their order.
    pub fn find(&self, keys: &[K], within: Option<&[Range<P>]>, fits: impl Fn(&T) -> bool) -> Vec<u32> {
        let mut out = Vec::new();
        for list in keys.iter().filter_map(|key| self.by_key.get(key)) {
            let before = |place: P| list.partition_point(|i| self.items[*i as usize].0 < place);
            let found = |out: &mut Vec<u32>, part: &[u32]| out.extend(part.iter().filter(|i| fits(self.at(**i))));
            match within {
                None => found(&mut out, list),
                Some(ranges) => ranges.iter().for_each(|r| found(&mut out, &list[before(r.start)..before(r.end)])),
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_found_by_key_and_by_place() {
        let shelf = Shelf::of([(3, vec!['a'], "x"), (1, vec!['a', 'b'], "y"), (2, vec!['b'], "z"), (1, vec![], "w")]);
        let found = |keys: &[char], within: Option<&[Range<i32>]>| -> String {
            shelf.find(keys, within, |item| *item != "w").into_iter().map(|i| *shelf.at(i)).collect()
        };
        assert_eq!(found(&['a'], None), "xy");
        assert_eq!(found(&['a', 'b', 'c'], None), "xyz");
        assert_eq!(found(&['a', 'b'], Some(&[0..2, 1..2])), "y");
        assert_eq!(found(&['b'], Some(&[2..9, 0..1])), "z");
        assert_eq!((shelf.count(&'b'), shelf.count(&'c')), (2, 0));
    }
}
