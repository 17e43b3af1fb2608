//! Conditions on what is not known: a template is rendered several times, so that each of them turns out both ways.
//! Knows places and turns; evaluates nothing.

use crate::source::Span;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most turns. Each decides a condition anew that stands within others: a chain of `else if` shows one of its branches in each,
/// and charts have chains of fifty.
const MAX_TURNS: usize = 128;

/// A condition: its place, and by which calls and rounds it is reached.
pub(super) type Key = (Span, u64);

/// How conditions turn out, turn by turn.
///
/// The first turn is that of Helm without a cluster. What it takes for granted (that there is nothing to look up, that
/// nothing is upgraded, which version the cluster has) is not known in those that follow, where charts refuse nothing.
#[derive(Debug, Default)]
pub struct Doubts {
    turn: Cell<usize>,
    granted: Rc<Cell<bool>>,
    cluster: Rc<Cell<bool>>,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How conditions turn out in this turn, where that is settled.
    now: BTreeMap<Key, bool>,
    /// What was decided, turn by turn and in this order.
    logs: Vec<Vec<(Key, bool)>>,
    taken: BTreeSet<(Key, bool)>,
    /// How those turned out that were known in the first turn.
    known: BTreeMap<Key, bool>,
    /// Conditions that turned out one way only, by the turn and the place in its log where they were met.
    open: BTreeMap<(usize, usize), Key>,
    met: BTreeMap<Key, (usize, usize)>,
}

impl Doubts {
    /// Takes note of how a condition turned out that is known.
    pub(super) fn known(&self, key: Key, way: bool) {
        if !self.doubts_all() {
            self.state.borrow_mut().known.insert(key, way);
        }
    }

    /// How a condition turns out in this turn: as it did not before, false at first where it was never known. What stands
    /// within it was looked at as known only, so that it has to turn out as it did at first once more.
    pub(super) fn decide(&self, key: Key) -> bool {
        let state = &mut *self.state.borrow_mut();
        let first = || state.known.get(&key).is_some_and(|known| !known);
        let way = state.now.get(&key).copied().unwrap_or_else(|| {
            match [true, false].map(|way| state.taken.contains(&(key, way))) {
                [false, true] => true,
                [false, false] => first(),
                _ => false,
            }
        });
        state.now.insert(key, way);
        state.taken.insert((key, way));
        let turn = self.turn.get();
        state.logs.resize_with(turn + 1, Vec::new);
        let met = *state.met.entry(key).or_insert((turn, state.logs[turn].len()));
        state.logs[turn].push((key, way));
        if state.taken.contains(&(key, !way)) {
            state.open.remove(&met);
        } else {
            state.open.insert(met, key);
        }
        way
    }

    /// The first condition that turned out one way only.
    pub fn open(&self) -> Option<Span> {
        self.state.borrow().open.values().next().map(|(place, _)| *place)
    }

    /// Takes another turn, if there is one to take: that in which the first open condition was met, all that are open
    /// turning out the other way.
    pub fn again(&self) -> bool {
        let state = &mut *self.state.borrow_mut();
        let first = state.open.keys().next().copied();
        let more = first.is_some() || self.turn.get() == 0 && (self.granted.get() || self.cluster.get());
        if !more || self.turn.get() + 1 == MAX_TURNS {
            return false;
        }
        let replayed = first.and_then(|(turn, _)| state.logs.get(turn)).into_iter().flatten();
        let (open, met) = (&state.open, &state.met);
        let is_open = |key: &Key| met.get(key).is_some_and(|met| open.contains_key(met));
        state.now = replayed.map(|(key, way)| (*key, *way != is_open(key))).collect();
        self.turn.set(self.turn.get() + 1);
        true
    }

    /// The number of the turn, from 0.
    pub fn turn(&self) -> usize {
        self.turn.get()
    }

    /// Whether nothing is taken for granted.
    pub fn doubts_all(&self) -> bool {
        self.turn.get() > 0
    }

    /// What is set where something is taken for granted.
    pub fn granted(&self) -> &Rc<Cell<bool>> {
        &self.granted
    }

    /// What is set where that is the version of the cluster, or what it serves.
    pub fn cluster(&self) -> &Rc<Cell<bool>> {
        &self.cluster
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    /// What is shown of conditions within each other, each of which must turn out in its way.
    fn shown(ways: &[bool]) -> usize {
        let doubts = Doubts::default();
        loop {
            let key = |i: usize| (Span::new(SourceId(0), i..i), 0);
            if ways.iter().enumerate().all(|(i, way)| doubts.decide(key(i)) == *way) {
                return doubts.turn() + 1;
            }
            assert!(doubts.again(), "{ways:?}");
        }
    }

    #[test]
    fn conditions_within_each_other_turn_out_in_every_way() {
        for ways in 0..256 {
            let ways: Vec<bool> = (0..8).map(|bit| ways >> bit & 1 == 1).collect();
            assert!(shown(&ways) <= 9, "{ways:?}");
        }
    }

    #[test]
    fn what_is_known_at_first_turns_out_otherwise_when_it_is_doubted() {
        let doubts = Doubts::default();
        let key = (Span::new(SourceId(0), 0..1), 0);
        doubts.known(key, true);
        assert!(!doubts.again(), "nothing was taken for granted");
        doubts.granted().set(true);
        assert!(doubts.again() && !doubts.decide(key));
        assert!(doubts.again() && doubts.decide(key) && !doubts.again());
    }
}
