//! Whether something fits, and the parts that its sum is made of.

use super::GIB;
use super::serving::Line;
use crate::words::{Word, words};
use std::fmt;

/// Share of a GPU above which a sum that fits is tight.
pub const TIGHT: f64 = 0.9;

/// The answer of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It fits with room to spare.
    Fits,
    /// It fits, or fails by little: the formulas are not that exact.
    Tight,
    /// It does not fit.
    DoesNotFit,
    /// It cannot be told, and why.
    Unknown(String),
}

words! {
    /// Whether something fits.
    Fit {
        /// It fits with room to spare.
        Fits = "fits",
        /// It fits, or fails by little: the formulas are not that exact.
        Tight = "tight",
        /// It does not fit.
        DoesNotFit = "does-not-fit",
    }

    /// What decides whether something fits.
    DecidedBy {
        /// Weights (of a training run also gradients and optimizer states).
        Weights = "weights",
        /// The cache of keys and values.
        Cache = "cache",
        /// Attention heads that cannot be divided among the GPUs.
        Heads = "heads",
        /// The share of the memory that the server may take.
        Utilization = "utilization",
        /// Captured CUDA graphs.
        Graphs = "graphs",
        /// What grows with the batch and its sequences.
        Activations = "activations",
    }
}

impl Verdict {
    /// The verdict as a word.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub fn fit(&self) -> Result<Fit, &str> {
        match self {
            Verdict::Fits => Ok(Fit::Fits),
            Verdict::Tight => Ok(Fit::Tight),
            Verdict::DoesNotFit => Ok(Fit::DoesNotFit),
            Verdict::Unknown(why) => Err(why),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.fit().map_or("unknown", Word::text))
    }
}

/// Parts as a sum for people: `weights 14.0 + gradients 14.0 + … = 98.3 GiB`; parts below 0.05 GiB are left out.
pub fn sum(parts: &[Line]) -> String {
    let shown = parts.iter().filter(|part| part.bytes >= 0.05 * GIB);
    let terms: Vec<String> = shown.map(|part| format!("{} {:.1}", part.name, part.bytes / GIB)).collect();
    let total: f64 = parts.iter().map(|part| part.bytes).sum();
    format!("{} = {:.1} GiB", terms.join(" + "), total / GIB)
}
