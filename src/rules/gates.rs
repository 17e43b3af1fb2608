//! Conditions that several built-in rules about the same thing share, and those of rules that are asked about each element of a
//! list. Each is asked once about a thing, and a rule is neither asked nor compiled where one of its conditions does not hold.
//! Which they are is found out at build time.

use super::compile::condition;
use super::lang::check::Typed;
use super::lang::eval::{Eval, Truth, truth};
use super::{Entry, builtin};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, OnceLock};

/// What was found out of the conditions about one thing.
#[derive(Debug)]
pub struct Gates {
    shut: Vec<Option<bool>>,
}

impl Default for Gates {
    fn default() -> Self {
        Self { shut: vec![None; builtin::GATES.len()] }
    }
}

impl Gates {
    /// Whether a rule cannot fire about the thing that an evaluation is about.
    pub fn are_shut(&mut self, entry: &Entry, eval: &mut Eval<'_>) -> bool {
        let shut = &mut self.shut;
        entry.gates().iter().any(|gate| *shut[*gate].get_or_insert_with(|| is_shut(*gate, eval)))
    }
}

/// Whether a condition does not hold. One that panics is left to the rules, which tell it.
fn is_shut(gate: usize, eval: &mut Eval<'_>) -> bool {
    let Some((typed, slots)) = compiled(gate) else { return false };
    let ask = || {
        eval.begin(&[], &[], *slots);
        truth(eval.run(typed).0) == Truth::False
    };
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or(false)
}

/// A condition and the slots that it takes.
fn compiled(gate: usize) -> Option<&'static (Typed, usize)> {
    type Compiled = OnceLock<Option<(Typed, usize)>>;
    static ALL: LazyLock<Vec<Compiled>> = LazyLock::new(|| builtin::GATES.iter().map(|_| OnceLock::new()).collect());
    let (subject, text) = builtin::GATES[gate];
    ALL[gate].get_or_init(|| condition(subject, text)).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_compiles() {
        let failed =
            (0..builtin::GATES.len()).filter(|gate| compiled(*gate).is_none()).map(|gate| builtin::GATES[gate]);
        assert_eq!(failed.collect::<Vec<_>>(), []);
        assert!(builtin::GATES.len() > 100);
    }
}
