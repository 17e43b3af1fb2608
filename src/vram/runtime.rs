//! What an engine takes beside weights and cache: activations of its profile run, the CUDA context and NCCL, CUDA
//! graphs. Knows measured coefficients; each says where it comes from.

use super::{Architecture, GIB, Parallel};
use crate::catalog;

/// Bytes that a forward pass of `tokens` takes at its peak: three copies of the residual stream and the widest
/// feed-forward's inputs, in 16 bits; routed tokens are copied to their experts and back, on every GPU.
///
/// `tokens x 2 x (3 hidden + 3 ffn / tensor)`, checked against profile runs of 20 and 29 thousand tokens (Llama-3.1-8B:
/// 110.6 kB a token).
pub fn body_peak(shape: &Architecture, tokens: u64, tensor: u64) -> f64 {
    let (hidden, ffn) = (shape.hidden as f64, shape.active_ffn() as f64);
    let routed = shape.experts.map_or(0.0, |experts| 4.0 * experts.per_token as f64 * hidden);
    tokens as f64 * (2.0 * (3.0 * hidden + 3.0 * ffn / tensor as f64) + routed)
}

/// Bytes of sampling `sequences` at once, where an entry of the vocabulary costs `each` bytes: logits in 16 and 32 bits, a
/// full sort for top-p (values, 64-bit indices, double buffers) and probabilities. Every GPU holds the whole vocabulary.
pub fn sampler_peak(shape: &Architecture, sequences: u64, each: f64) -> f64 {
    sequences as f64 * shape.vocab as f64 * each
}

/// Bytes of a vision or audio encoder's profile run; 0 for text models.
pub fn encoder_peak(shape: &Architecture, length: u64) -> f64 {
    if shape.extra == 0 {
        return 0.0;
    }
    let peak = catalog::encoder_peak(&shape.name);
    peak.map_or(0.0, |p| (p.gib + p.gib_per_1k_tokens * length.min(32_768) as f64 / 1024.0) * GIB)
}

/// Bytes of the CUDA context's growth and NCCL's buffers, as vLLM counts them ("non-torch memory"): medians of start-up
/// logs, 0.01-0.14 GiB on one GPU, 0.2-0.4 over PCIe, 0.5-2.2 over NVLink and growing with the group.
pub fn non_torch(parallel: &Parallel, nvlink: bool) -> f64 {
    let gib = match parallel.tensor {
        _ if parallel.gpus() == 1 => 0.12,
        _ if !nvlink => 0.3,
        0..=3 => 0.6,
        4..=7 => 1.0,
        _ => 1.5,
    };
    gib * GIB
}

/// Bytes of captured CUDA graphs: 0.2 GiB and 6 MiB a layer, at most 1.5 GiB (measured 0.17-1.9).
pub fn graphs(shape: &Architecture) -> f64 {
    (0.2 + 0.006 * shape.layers as f64).min(1.5) * GIB
}

/// Bytes of a plain PyTorch process: CUDA context and libraries (nvidia-smi shows 0.3-1.2 GiB).
pub fn context() -> f64 {
    0.5 * GIB
}
