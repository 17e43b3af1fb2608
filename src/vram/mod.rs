//! Memory of a GPU: how many bytes a model, its cache and its training take, by formulas whose sources are named.
//! Knows no files, no facts of a deployment and no rules; every size is bytes unless a name says GiB (2^30 bytes).

pub mod advice;
mod architecture;
mod cache;
mod config;
mod launch;
mod ledger;
pub mod run;
mod runtime;
pub mod serving;
pub mod training;
mod verdict;
mod weights;

pub use architecture::{Architecture, Experts, Latent, Parameters, Sliding};
pub use cache::{Cache, element_bytes};
pub use config::Config;
pub use verdict::{DecidedBy, Fit, TIGHT, Verdict, sum};
pub use weights::{Parallel, Stored, format_of, weight_bytes};

/// Bytes of a GiB.
pub const GIB: f64 = (1u64 << 30) as f64;
