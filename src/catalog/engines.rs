//! What engines do when nothing is said, how checkpoints store weights, and what encoders take. Knows no formula.

use super::table::{Row, closest, within};
use super::tables::{ENCODER_PEAKS, ENGINE_DEFAULTS, WEIGHT_FORMATS};
use crate::version::Version;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The default of a setting in a release of an engine; some depend on the card: its memory in GiB and its id. Two
/// numbers are a range: the default changed somewhere between two releases that were read.
pub fn engine_default(
    engine: &str,
    setting: &str,
    version: &Version,
    card: Option<(f64, &str)>,
) -> Option<&'static str> {
    let (card_gib, gpu) = card.unwrap_or((0.0, ""));
    let rows = ENGINE_DEFAULTS.rows().filter(|r| r.text("engine") == engine && r.text("setting") == setting);
    let holds = rows.filter(|r| {
        within(version, r.text("versions"))
            && r.number("min_card_gib").is_none_or(|least: f64| card_gib >= least)
            && !r.words("not_gpus").any(|family| gpu.starts_with(family))
    });
    holds.max_by_key(|r| r.number::<u64>("min_card_gib").unwrap_or(0))?.filled("value")
}

/// What a weight format applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every parameter.
    All,
    /// Every parameter, as an average over the file.
    File,
    /// Linear layers; embeddings, output layer, norms, routers and vision towers stay in 16 bits.
    Linears,
    /// Feed-forwards, dense and routed; attention stays in 16 bits.
    FeedForward,
    /// Routed experts.
    Experts,
    /// Routed experts, whose width is padded to a multiple of 256 by the kernels.
    PaddedExperts,
}

/// How a checkpoint stores weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightFormat {
    /// Its name: fp16, awq, gguf-q4_k_m.
    pub name: &'static str,
    /// Bits of a weight, scales and zero points included.
    pub bits: f64,
    /// Which weights.
    pub scope: Scope,
}

/// The weight format of a name as engines and checkpoints write it.
pub fn weight_format(name: &str) -> Option<WeightFormat> {
    static NAMES: OnceLock<HashMap<&str, Row>> = OnceLock::new();
    let names = || {
        let mut out = HashMap::new();
        for row in WEIGHT_FORMATS.rows() {
            for name in [row.text("format")].into_iter().chain(row.text("aliases").split_ascii_whitespace()) {
                out.entry(name).or_insert(row);
            }
        }
        out
    };
    let row = NAMES.get_or_init(names).get(name.trim().to_lowercase().as_str())?;
    let scope = match row.text("scope") {
        "all" => Scope::All,
        "file" => Scope::File,
        "linears" => Scope::Linears,
        "feed-forward" => Scope::FeedForward,
        "experts" => Scope::Experts,
        _ => Scope::PaddedExperts,
    };
    Some(WeightFormat { name: row.text("format"), bits: row.number("bits")?, scope })
}

/// The names of the weight formats.
pub fn weight_formats() -> impl Iterator<Item = &'static str> {
    WEIGHT_FORMATS.rows().map(|r| r.text("format"))
}

/// What a vision or audio encoder takes in a profile run at the default limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EncoderPeak {
    /// GiB whatever the length.
    pub gib: f64,
    /// GiB for each 1,024 tokens of the longest request.
    pub gib_per_1k_tokens: f64,
}

/// The encoder's peak for a model name.
pub fn encoder_peak(model: &str) -> Option<EncoderPeak> {
    let row = closest(ENCODER_PEAKS.rows(), "models", model)?;
    let number = |column| row.number(column).unwrap_or(0.0);
    Some(EncoderPeak { gib: number("gib"), gib_per_1k_tokens: number("gib_per_1k_tokens") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_depend_on_release_and_card() {
        let ask =
            |setting, version, card| engine_default("vllm", setting, &Version::parse(version).expect("version"), card);
        assert_eq!(ask("gpu_memory_utilization", "0.11.0", None), Some("0.9"));
        assert_eq!(ask("gpu_memory_utilization", "0.20.0", None), Some("0.9 0.92"));
        let h100 = Some((79.1, "H100-SXM"));
        assert_eq!(ask("max_num_seqs", "0.11.0", h100), Some("1024"));
        assert_eq!(ask("max_num_seqs", "0.8.3", h100), Some("256 1024"));
        assert_eq!(ask("max_num_seqs", "0.8.4", h100), Some("256 1024"));
        assert_eq!(ask("max_num_seqs", "0.8.5", h100), Some("1024"));
        assert_eq!(ask("max_num_seqs", "0.8.5", Some((22.0, "L4"))), Some("256"));
        assert_eq!(ask("max_num_seqs", "0.7.3", h100), Some("256"));
        assert_eq!(ask("max_num_seqs", "0.11.0", Some((79.2, "A100-SXM4-80GB"))), Some("256"));
        assert_eq!(ask("max_num_batched_tokens", "0.11.0", Some((22.0, "L4"))), Some("2048"));
        assert_eq!(ask("max_num_batched_tokens", "0.6.6", h100), None, "follows the length there");
    }

    #[test]
    fn formats_by_any_name() {
        assert_eq!(weight_format("bfloat16").map(|f| f.bits), Some(16.0));
        assert_eq!(weight_format("AWQ_Marlin").map(|f| f.name), Some("awq"));
        assert_eq!(weight_format("Q4_K_M").map(|f| f.scope), Some(Scope::File));
        assert_eq!(weight_format("compressed-tensors"), None, "says nothing about the bits");
    }
}
