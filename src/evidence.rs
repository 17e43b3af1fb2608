//! Whether an answer rests on something that nobody read in its source. Knows nothing else.
//!
//! Tables are asked deep inside of joins and formulas; their answers are plain values. A row whose source was not read
//! leaves a note when it is used, and whoever asks can see whether one was left.

use std::cell::Cell;

thread_local! {
    static UNREAD: Cell<bool> = const { Cell::new(false) };
}

/// Notes that something was used whose source was not read.
pub fn note_unread() {
    UNREAD.set(true);
}

/// What `ask` answers, and whether that rests on something unread. The note stays inside.
pub fn watched<T>(ask: impl FnOnce() -> T) -> (T, bool) {
    let before = UNREAD.replace(false);
    let answer = ask();
    (answer, UNREAD.replace(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_stays_inside() {
        let ((inner, outer), all) = watched(|| {
            let inner = watched(note_unread).1;
            (inner, watched(|| ()).1)
        });
        assert_eq!((inner, outer, all), (true, false, false));
    }
}
