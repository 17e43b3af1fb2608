//! What a run may spend. A file is small and what it asks for is not: aliases, loops, templates and copies make much out
//! of little. Whoever loops over what a user wrote spends from a [`Share`], in proportion to the bytes that are touched or
//! made. Knows numbers only.

use std::cell::Cell;
use std::fmt;

/// Work of a whole run, in bytes touched.
const RUN_WORK: u64 = 8 << 30;
/// Least and most work of a share, beside what grows with its text.
const WORK: (u64, u64) = (4 << 20, 128 << 20);
/// Work for each byte of text.
const WORK_PER_BYTE: u64 = 256;
/// Bytes that a whole run may make.
const RUN_MADE: u64 = 1 << 30;
/// Least and most bytes that a share may make, beside what grows with its text.
const MADE: (u64, u64) = (1 << 20, 64 << 20);
/// Bytes made for each byte of text.
const MADE_PER_BYTE: u64 = 16;
/// Where text is short, so many times as much may be made of it and done with it, however much else there is to do: a tree
/// alone is fifty times the text that has two nodes in five bytes.
const SHORT: u64 = 4;
/// What a step costs that touches few bytes: evaluating one node, visiting one element.
pub const STEP: usize = 32;
/// What a node of a tree costs to make, whatever its text.
pub const NODE: usize = 128;
/// Deepest nesting of what is made, and most parts of a path into it: everything that walks documents recurses.
pub const DEPTH: usize = 128;

/// The part of a run's budget that one file, chart, kustomization or module may spend. It depends on nothing but how
/// much there is to do, so that the same input is answered in the same way on any machine.
#[derive(Debug)]
pub struct Share {
    work: Cell<u64>,
    made: Cell<u64>,
    lacks: Cell<Option<Spent>>,
}

/// A share is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// Too much to do.
    Work,
    /// Too much to hold in memory.
    Made,
    /// Too deep to walk.
    Deep,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Spent::Work => "it takes more work than one file may ask for",
            Spent::Made => "it grows larger than one file may",
            Spent::Deep => "it nests deeper than one file may",
        })
    }
}

impl Share {
    /// The share of one of `units` that are worked on in a stage, which is given `bytes` of text.
    pub fn of(units: usize, bytes: usize) -> Self {
        let part = |run: u64, (least, most): (u64, u64), per_byte: u64| {
            let of_text = bytes as u64 * per_byte;
            Cell::new((run / units.max(1) as u64).clamp((SHORT * of_text).clamp(least, most), most) + of_text)
        };
        let (work, made) = (part(RUN_WORK, WORK, WORK_PER_BYTE), part(RUN_MADE, MADE, MADE_PER_BYTE));
        Self { work, made, lacks: Cell::new(None) }
    }

    /// The least share, beside what grows with `bytes` of text: for what is read by itself, however many there are of it.
    pub fn least(bytes: usize) -> Self {
        Self::of(usize::MAX, bytes)
    }

    /// The part of it that one of `units` may spend which are worked on at once.
    pub fn among(self, units: usize) -> Self {
        let part = |all: Cell<u64>| Cell::new(all.get() / units.max(1) as u64);
        Self { work: part(self.work), made: part(self.made), lacks: self.lacks }
    }

    /// Spends work on `bytes` that are read, compared or copied for a moment; [`STEP`] where they are few.
    ///
    /// # Errors
    /// Nothing is left; it stays so.
    pub fn work(&self, bytes: usize) -> Result<(), Spent> {
        self.take(&self.work, bytes, Spent::Work)
    }

    /// Spends on `bytes` that are made and kept, and on the work of making them.
    ///
    /// # Errors
    /// As for [`Share::work`].
    pub fn make(&self, bytes: usize) -> Result<(), Spent> {
        self.work(bytes)?;
        self.take(&self.made, bytes, Spent::Made)
    }

    /// Runs something of which only a part outlives it, as many bytes as `kept` says: it gives back what else it made.
    pub fn for_a_moment<T>(&self, inner: impl FnOnce() -> T, kept: impl FnOnce(&T) -> usize) -> T {
        let before = self.made.get();
        let out = inner();
        if self.spent().is_none() {
            self.made.set(before.saturating_sub(kept(&out) as u64).max(self.made.get()));
        }
        out
    }

    /// Goes as many levels deep.
    ///
    /// # Errors
    /// They are more than [`DEPTH`]; from then on nothing is left.
    pub fn nest(&self, levels: usize) -> Result<(), Spent> {
        if levels > DEPTH { Err(self.out(Spent::Deep)) } else { Ok(()) }
    }

    /// Takes over what another share lacks.
    pub fn fail(&self, spent: Spent) {
        self.out(spent);
    }

    /// Adds what `bytes` of text bring, where it is told later how much there is to do. What is spent stays spent.
    pub fn grow(&self, bytes: usize) {
        if self.spent().is_none() {
            self.work.set(self.work.get() + bytes as u64 * WORK_PER_BYTE);
            self.made.set(self.made.get() + bytes as u64 * MADE_PER_BYTE);
        }
    }

    /// What it lacks, if something asked for more than was left.
    pub fn spent(&self) -> Option<Spent> {
        self.lacks.get()
    }

    fn take(&self, from: &Cell<u64>, bytes: usize, spent: Spent) -> Result<(), Spent> {
        if let Some(spent) = self.lacks.get() {
            return Err(spent);
        }
        match from.get().checked_sub(bytes as u64) {
            Some(left) => {
                from.set(left);
                Ok(())
            }
            None => Err(self.out(spent)),
        }
    }

    /// What is asked for and not given leaves nothing, so that whoever goes on regardless gets nothing either.
    fn out(&self, spent: Spent) -> Spent {
        let spent = self.lacks.get().unwrap_or(spent);
        self.lacks.set(Some(spent));
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_stays_spent() {
        let share = Share::of(1, 0);
        assert_eq!(share.make(1 << 20), Ok(()));
        assert_eq!(share.make(1 << 40), Err(Spent::Work));
        assert_eq!(share.work(1), Err(Spent::Work));
        assert_eq!(share.spent(), Some(Spent::Work));
    }

    #[test]
    fn what_is_made_for_a_moment_is_given_back() {
        let share = Share::of(1, 0);
        let made = |kept: usize| share.for_a_moment(|| share.make(24 << 20), |_| kept);
        assert_eq!([made(0), made(24 << 20), made(24 << 20)], [Ok(()); 3]);
        assert_eq!(made(0), Err(Spent::Made), "what is kept is not given back");
        assert_eq!(made(0), Err(Spent::Made), "and what is spent stays spent");
    }

    #[test]
    fn many_get_less_than_one_and_a_long_text_gets_more() {
        let most = |share: Share| (0..).take_while(|_| share.make(1 << 16).is_ok()).count();
        let (one, many, long) = (most(Share::of(1, 0)), most(Share::of(10_000, 0)), most(Share::of(10_000, 1 << 20)));
        assert!(many < one && many < long, "{one} {many} {long}");
    }
}
