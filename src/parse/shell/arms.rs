//! Where a command of a script stands: the branches, loops, subshells and functions around it, and what is known of
//! something at one place that was told at another. Runs nothing.

use crate::budget::{DEPTH, STEP, Share};
use std::sync::Arc;

/// Why a command is not simply run in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It may not run: it stands in `if` or `case`, behind `&&` of a test, or behind `||`.
    Branch,
    /// It may run often.
    Loop,
    /// It runs as long as nothing fails, as what stands behind `&&` does, or in a shell of its own, as behind a pipe.
    Chain,
    /// What it sets is gone with the shell that it runs in.
    Subshell,
    /// It runs where it is called.
    Function,
}

/// One branch of a construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arm {
    /// The number of the construct.
    pub construct: u32,
    /// Which of its branches.
    pub branch: u32,
    /// What the construct is.
    pub kind: Kind,
}

/// The branches that a command stands in. Those around them are shared: a script has as many places as branches.
#[derive(Debug, Clone, Default)]
pub struct Arms(Option<Arc<Within>>);

#[derive(Debug)]
struct Within {
    arm: Arm,
    outer: Arms,
    depth: usize,
    /// How many of the branches are left when what is set here is gone.
    scope: usize,
}

impl Arms {
    /// One branch more. What stands in so many that it cannot be told apart stands with what is around it.
    pub fn within(&self, arm: Arm) -> Arms {
        let depth = self.depth() + 1;
        if depth > DEPTH {
            return self.clone();
        }
        let scope = if matches!(arm.kind, Kind::Subshell | Kind::Function) { depth } else { self.scope() };
        Arms(Some(Arc::new(Within { arm, outer: self.clone(), depth, scope })))
    }

    /// One of several scripts of which each has a shell of its own.
    pub fn alone(number: u32) -> Arms {
        Arms::default().within(Arm { construct: 0, branch: number, kind: Kind::Branch })
    }

    /// The branches, the innermost first.
    pub fn iter(&self) -> impl Iterator<Item = Arm> + '_ {
        self.around().filter_map(|arms| Some(arms.0.as_ref()?.arm))
    }

    /// Those that may not run, the outermost first.
    pub fn branches(&self) -> Vec<Arm> {
        let mut out: Vec<Arm> = self.iter().filter(|arm| matches!(arm.kind, Kind::Branch | Kind::Loop)).collect();
        out.reverse();
        out
    }

    /// How many there are.
    pub(super) fn depth(&self) -> usize {
        self.0.as_ref().map_or(0, |within| within.depth)
    }

    fn scope(&self) -> usize {
        self.0.as_ref().map_or(0, |within| within.scope)
    }

    /// These and those around them, without the last.
    fn around(&self) -> impl Iterator<Item = &Arms> {
        std::iter::successors(Some(self), |arms| arms.0.as_ref().map(|within| &within.outer))
    }

    /// The outermost ones of them.
    fn first(&self, depth: usize) -> &Arms {
        self.around().find(|arms| arms.depth() <= depth).unwrap_or(self)
    }

    fn arm(&self) -> Option<Arm> {
        self.0.as_ref().map(|within| within.arm)
    }

    /// Whether they stand in all branches of `outer`. A branch is in one place only.
    pub(super) fn starts_with(&self, outer: &Arms) -> bool {
        self.first(outer.depth()).arm() == outer.arm()
    }

    /// Whether two places stand in different branches of one construct.
    pub fn exclusive(&self, other: &Arms) -> bool {
        let depth = self.depth().min(other.depth());
        let pairs = self.first(depth).iter().zip(other.first(depth).iter());
        let differ = pairs.take_while(|(a, b)| a != b).last();
        differ.is_some_and(|(a, b)| a.construct == b.construct)
    }

    /// Whether what is set at `place` is gone here: it was set in a subshell that has ended, or in a function.
    fn is_out_of(&self, place: &Arms) -> bool {
        !self.starts_with(place.first(place.scope()))
    }
}

/// What was told in one place.
#[derive(Debug)]
pub(super) struct Place<V> {
    pub(super) arms: Arms,
    /// What it is within its branches.
    pub(super) value: Option<V>,
    /// What it may be behind them.
    pub(super) behind: Option<V>,
    /// The number of the command that tells it.
    pub(super) at: usize,
}

/// What was told of one thing in a script, in order.
#[derive(Debug)]
pub(super) struct Places<V>(Vec<Place<V>>);

impl<V> Default for Places<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Places that tell of one thing; of what is told in more nothing is known.
const MAX_PLACES: usize = 256;

/// What is known at a place, by what.
pub(super) struct Seen<'v, V> {
    pub(super) value: Option<&'v V>,
    pub(super) at: usize,
    /// How many branches that was in.
    pub(super) depth: usize,
}

impl<V> Places<V> {
    pub(super) fn record(&mut self, place: Place<V>) {
        // What is told at the same place again is gone.
        self.0.retain(|earlier| !earlier.arms.starts_with(&place.arms));
        if self.0.len() >= MAX_PLACES {
            self.0 = vec![Place { arms: Arms::default(), value: None, behind: None, at: place.at }];
        } else {
            self.0.push(place);
        }
    }

    /// What is known in some branches; nothing is when the share is spent.
    pub(super) fn find(&self, arms: &Arms, share: &Share) -> Option<Seen<'_, V>> {
        for place in self.0.iter().rev() {
            if share.work(STEP * (1 + place.arms.depth().abs_diff(arms.depth()))).is_err() {
                return Some(Seen { value: None, at: usize::MAX, depth: 0 });
            }
            if arms.is_out_of(&place.arms) || place.arms.exclusive(arms) {
                continue;
            }
            let value = if arms.starts_with(&place.arms) { &place.value } else { &place.behind };
            return Some(Seen { value: value.as_ref(), at: place.at, depth: place.arms.depth() });
        }
        None
    }
}
