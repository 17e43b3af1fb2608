//! What each GPU holds, part by part, and how close that is to its limit. Knows no engine.

use super::{DecidedBy, GIB, Verdict};

/// Name of the weights in a ledger.
pub const WEIGHTS: &str = "weights";
/// Name of the cache in a ledger.
pub const KV_CACHE: &str = "KV cache";
/// Name of the activations in a ledger.
pub const ACTIVATIONS: &str = "activations";
/// Name of what CUDA and NCCL take in a ledger.
pub const CONTEXT: &str = "context";
/// Name of SGLang's table of requests in a ledger.
pub const REQUEST_TABLE: &str = "request table";
/// Name of the CUDA graphs in a ledger.
pub const GRAPHS: &str = "CUDA graphs";

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What takes it.
    pub name: &'static str,
    /// Bytes on each GPU.
    pub bytes: f64,
    /// How it came about.
    pub how: String,
}

/// What each GPU holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// Whether it fits.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// What decided; nothing when it fits.
    pub decided_by: Option<DecidedBy>,
    /// Its parts, largest concern first; the cache counts as one request of the maximum length.
    pub parts: Vec<Line>,
    /// Bytes of the card.
    pub card: f64,
    /// Bytes that the engine lets itself take.
    pub budget: f64,
    /// The server's part of it.
    pub serving: Option<Serving>,
}

/// The cache of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Serving {
    /// Longest request, given or by default.
    pub length: u64,
    /// Sequences at once.
    pub sequences: u64,
    /// Tokens computed at once.
    pub batched: u64,
    /// Bytes left for the cache; negative when there are none.
    pub available: f64,
    /// Bytes of one request of the maximum length.
    pub request: f64,
    /// Tokens that the engine will report.
    pub tokens: u64,
    /// The longest request that fits.
    pub longest: u64,
}

impl Ledger {
    /// A ledger that cannot be drawn up.
    pub fn unknown(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            verdict: Verdict::Unknown(reason.clone()),
            reason,
            decided_by: None,
            parts: Vec::new(),
            card: 0.0,
            budget: 0.0,
            serving: None,
        }
    }

    /// Bytes of a part; 0 for one that it does not have.
    pub fn part(&self, name: &str) -> f64 {
        self.parts.iter().filter(|part| part.name == name).map(|part| part.bytes).sum()
    }

    /// Bytes of all parts.
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

impl Ledger {
    /// Sets verdict, what decides it and why.
    pub(super) fn decide(&mut self, verdict: Verdict, by: Option<DecidedBy>, reason: &str) {
        (self.verdict, self.decided_by, self.reason) = (verdict, by, reason.to_owned());
    }

    /// Holds the worst moment of loading against the card.
    pub(super) fn must_load(&mut self, bytes: Option<f64>) {
        let Some(left) = bytes.map(|bytes| self.card - bytes).filter(|left| *left < self.close()) else { return };
        if self.verdict != Verdict::DoesNotFit {
            self.compare(left, left, DecidedBy::Weights, "weights in 16 bits, as they are before they are quantized");
        }
    }

    /// What the formulas cannot tell apart.
    fn close(&self) -> f64 {
        0.02 * self.card + 0.5 * GIB
    }

    /// Decides by what is left over, in the worst and in the best case.
    pub(super) fn compare(&mut self, worst: f64, best: f64, by: DecidedBy, what: &str) {
        let close = self.close();
        let gib = |bytes: f64| bytes.abs() / GIB;
        if best < -close {
            self.decide(Verdict::DoesNotFit, Some(by), &format!("{what}: {:.1} GiB short", gib(best)));
        } else if worst > close {
            self.decide(Verdict::Fits, None, &format!("{:.1} GiB to spare", gib(worst)));
        } else if worst < 0.0 && best > 0.0 {
            self.decide(
                Verdict::Tight,
                Some(by),
                &format!("{what}: between {:.1} GiB short and {:.1} GiB to spare", gib(worst), gib(best)),
            );
        } else {
            let side = if worst < 0.0 { "short" } else { "to spare" };
            self.decide(
                Verdict::Tight,
                Some(by),
                &format!("{what}: {:.1} GiB {side}, within the error of the estimate", gib(worst)),
            );
        }
    }
}
