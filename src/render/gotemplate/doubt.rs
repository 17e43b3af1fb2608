//! Conditions on what is not known: a template is rendered several times, so that each of them turns out both ways.
//! Knows places and turns; evaluates nothing.

use crate::source::Span;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// Most turns. Conditions within each other take one more each.
const MAX_TURNS: usize = 6;

/// How conditions turn out, turn by turn.
#[derive(Debug, Default)]
pub struct Doubts {
    turn: Cell<usize>,
    now: RefCell<BTreeMap<Span, bool>>,
    taken: RefCell<BTreeSet<(Span, bool)>>,
}

impl Doubts {
    /// How the condition at a place turns out in this turn: as it did not before, false at first.
    pub(super) fn decide(&self, place: Span) -> bool {
        let mut taken = self.taken.borrow_mut();
        let mut now = self.now.borrow_mut();
        let decided =
            *now.entry(place).or_insert_with(|| match [false, true].map(|way| taken.contains(&(place, way))) {
                [false, _] => false,
                [_, false] => true,
                // What stands within it may not have been seen.
                _ => self.turn.get() % 2 == 1,
            });
        taken.insert((place, decided));
        decided
    }

    /// The first condition that turned out one way only.
    pub fn open(&self) -> Option<Span> {
        let taken = self.taken.borrow();
        taken.iter().map(|(place, way)| (*place, !way)).find(|other| !taken.contains(other)).map(|(place, _)| place)
    }

    /// Takes another turn, if there is one to take.
    pub fn again(&self) -> bool {
        let more = self.open().is_some() && self.turn.get() + 1 < MAX_TURNS;
        if more {
            self.turn.set(self.turn.get() + 1);
            self.now.borrow_mut().clear();
        }
        more
    }

    /// The number of the turn, from 0.
    pub fn turn(&self) -> usize {
        self.turn.get()
    }
}
