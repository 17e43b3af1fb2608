//! Bytes of weights on the fullest GPU. Knows how tensors are divided, not what else is on the card.

use super::Architecture;
use crate::catalog::{self, Scope, WeightFormat, weight_format, weight_formats};

/// How a model is divided over GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallel {
    /// Tensor parallel size.
    pub tensor: u64,
    /// Pipeline stages.
    pub pipeline: u64,
    /// Replicas of the attention (data-parallel attention), or of the whole model.
    pub data: u64,
    /// Whether whole experts are spread over all GPUs of a stage instead of being cut.
    pub experts: bool,
}

impl Parallel {
    /// One GPU.
    pub const ONE: Self = Self { tensor: 1, pipeline: 1, data: 1, experts: false };

    /// GPUs of one replica.
    pub fn gpus(&self) -> u64 {
        self.tensor * self.pipeline
    }
}

/// How weights are stored and laid out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stored {
    /// Format of the quantized part.
    pub format: WeightFormat,
    /// Bytes of a parameter that is not quantized.
    pub plain_bytes: f64,
    /// Whether the engine pads the vocabulary to 64 and keeps a table of rotary positions (vLLM, SGLang).
    pub engine_layout: bool,
}

/// The format that a checkpoint is loaded in: by the engine's quantization setting, else by what the model's name says
/// (`…-AWQ`, `…-FP8`, `…-bnb-4bit`, `…Q4_K_M.gguf`), else as it is published, else by the dtype. `None` when a setting
/// leaves the bits open (`compressed-tensors` with a name that says nothing).
pub fn format_of(model: &str, quantization: Option<&str>, dtype: Option<&str>) -> Option<WeightFormat> {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let said = || in_name(&name).and_then(weight_format);
    let published = catalog::model(model).and_then(|m| weight_format(m.quantization()));
    if let Some(quantization) = quantization.filter(|q| !q.is_empty()) {
        let generic =
            matches!(quantization, "gptq" | "gptq_marlin" | "fp8" | "compressed-tensors" | "gguf" | "modelopt");
        let named = said().filter(|_| generic).or_else(|| weight_format(quantization));
        // Engines load a checkpoint as it is: a setting of as many bits only confirms what was published.
        let confirms = |p: &WeightFormat| named.is_none_or(|n| (n.bits - p.bits).abs() < 1.0);
        return published.filter(confirms).or(named);
    }
    if let Some(format) = said() {
        return Some(format);
    }
    if name.contains("gguf") {
        return None;
    }
    if catalog::model(model).is_some_and(|m| !m.quantization().is_empty()) {
        return published;
    }
    weight_format(dtype.filter(|d| weight_format(d).is_some()).unwrap_or("fp16"))
}

/// The weight format that a model's name ends in.
fn in_name(name: &str) -> Option<&'static str> {
    let says = |part: &str| name.contains(part);
    let eight = says("int8") || says("8bit") || says("-8-bit");
    let gguf = || weight_formats().filter_map(|f| Some((f, f.strip_prefix("gguf-")?))).filter(|(_, t)| says(t));
    Some(match () {
        () if says("gguf") => gguf().max_by_key(|(_, t)| t.len())?.0,
        () if says("awq") => "awq",
        () if says("gptq") && eight => "gptq-int8",
        () if says("gptq") => "gptq-int4",
        () if says("w4a16") => "w4a16",
        () if says("w8a16") => "w8a16",
        () if says("nvfp4") || says("-fp4") => "nvfp4",
        () if says("mxfp4") => "mxfp4",
        () if says("405b") && says("fp8") && says("meta") => "fbgemm_fp8",
        () if says("fp8") || says("w8a8") => "w8a8",
        () if says("bnb-4bit") => "bitsandbytes",
        () => return None,
    })
}

/// Bytes of weights on the fullest GPU.
///
/// Linear layers and both ends of the vocabulary are cut in `tensor` parts (Megatron-LM, arXiv 1909.08053, section 3);
/// norms, routers and the down-projections of latent attention are on every GPU, and so are key and value heads once
/// there are more GPUs than heads. A pipeline stage holds ⌈layers / stages⌉ layers and at most one end of the
/// vocabulary. Experts are cut like other feed-forwards, or spread whole.
pub fn weight_bytes(shape: &Architecture, stored: &Stored, parallel: &Parallel) -> f64 {
    let tensor = parallel.tensor as f64;
    let parameters = shape.parameters();
    let plain = stored.plain_bytes;
    let quantized = stored.format.bits / 8.0;
    if stored.format.scope == Scope::File {
        let total = shape.published.unwrap_or(parameters.total()) as f64;
        return total * quantized / parallel.gpus() as f64;
    }
    let if_in = |scopes: &[Scope]| if scopes.contains(&stored.format.scope) { quantized } else { plain };
    let attention_bytes = if_in(&[Scope::Linears]);
    let dense_bytes = if_in(&[Scope::Linears, Scope::FeedForward]);
    let expert_bytes = if_in(&[Scope::Linears, Scope::FeedForward, Scope::Experts, Scope::PaddedExperts]);

    let attention = shape.layers as f64 * attention_shard(shape, tensor) * attention_bytes;
    let dense = parameters.dense as f64 * dense_bytes / tensor;
    let shared = parameters.shared as f64 * dense_bytes / tensor;
    let routed = shape.experts.map_or(0.0, |experts| {
        let padded = stored.format.scope == Scope::PaddedExperts;
        let width = if padded { experts.ffn.next_multiple_of(256) } else { experts.ffn };
        let all = (experts.layers * experts.count * shape.ffn_parameters(width)) as f64;
        let shares = if parallel.experts { tensor * parallel.data as f64 } else { tensor };
        all * expert_bytes / shares
    });
    let everywhere = (parameters.norms + parameters.router) as f64 * plain;
    let body = attention + dense + shared + routed + everywhere;

    let vocab = if stored.engine_layout { shape.vocab.next_multiple_of(64) } else { shape.vocab };
    let end = (vocab * shape.hidden) as f64 * plain / tensor;
    let head = if shape.tied { 0.0 } else { end };
    let extra = parameters.extra as f64 * plain / if stored.engine_layout { tensor } else { 1.0 };
    let positions = if stored.engine_layout { rotary_table(shape, plain) } else { 0.0 };
    if parallel.pipeline > 1 {
        let share = shape.layers.div_ceil(parallel.pipeline) as f64 / shape.layers as f64;
        return body * share + end.max(head) + positions + extra;
    }
    body + end + head + positions + extra
}

/// Parameters of one layer's attention on one GPU.
fn attention_shard(shape: &Architecture, tensor: f64) -> f64 {
    let all = shape.attention_parameters() as f64;
    let hidden = shape.hidden as f64;
    match shape.latent {
        Some(latent) => {
            let everywhere = hidden * (latent.kv_rank + latent.rope_dim + latent.q_rank) as f64;
            everywhere + (all - everywhere) / tensor
        }
        None => {
            let keys = 2.0 * hidden * (shape.kv_heads * shape.head_dim) as f64;
            let copies = (tensor / shape.kv_heads as f64).max(1.0);
            (all - keys) / tensor + keys * copies / tensor
        }
    }
}

/// Cosines and sines of every position, on every GPU: positions x rotary width x 2 bytes (`RotaryEmbedding` of vLLM), half
/// a GiB at most.
fn rotary_table(shape: &Architecture, bytes: f64) -> f64 {
    let width = shape.latent.map_or(shape.head_dim, |latent| latent.rope_dim);
    (shape.max_position.unwrap_or(0) as f64 * width as f64 * bytes).min(super::GIB / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vram::GIB;

    fn gib(model: &str, format: &str, tensor: u64) -> f64 {
        let shape = Architecture::find(model).expect(model);
        let format = weight_format(format).expect(format);
        let stored = Stored { format, plain_bytes: 2.0, engine_layout: true };
        weight_bytes(&shape, &stored, &Parallel { tensor, ..Parallel::ONE }) / GIB
    }

    #[test]
    fn what_engines_log() {
        let near =
            |got: f64, logged: f64, error: f64| assert!((got / logged - 1.0).abs() <= error, "{got} for {logged}");
        near(gib("meta-llama/Llama-3.1-8B-Instruct", "fp16", 1), 14.9888, 0.001);
        near(gib("openai/gpt-oss-120b", "mxfp4", 1), 64.38, 0.002);
        near(gib("meta-llama/Llama-3.1-8B-Instruct", "q4_k_m", 1), 4.58, 0.002);
    }

    #[test]
    fn formats_by_flag_name_and_publication() {
        let name = |model, quantization| format_of(model, quantization, None).map(|f| f.name);
        assert_eq!(name("TheBloke/Llama-2-70B-GPTQ", Some("gptq")), Some("gptq-int4"));
        assert_eq!(name("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", None), Some("gptq-int8"));
        assert_eq!(name("x/Llama-3.1-8B-Instruct-Q4_K_M.gguf", None), Some("gguf-q4_k_m"));
        assert_eq!(name("deepseek-ai/DeepSeek-V3", None), Some("w8a8"));
        assert_eq!(name("openai/gpt-oss-20b", None), Some("mxfp4"));
        assert_eq!(name("meta-llama/Llama-3.1-8B-Instruct", None), Some("fp16"));
        assert_eq!(name("x/y", Some("compressed-tensors")), None);
    }

    #[test]
    fn quantized_checkpoints_have_the_size_of_their_files() {
        for model in catalog::models().filter(|m| !m.quantization().is_empty()) {
            let (Some(files), Some(shape)) = (model.files_gib(), Architecture::of(&model)) else { continue };
            let Some(format) = weight_format(model.quantization()) else { continue };
            if format.scope == Scope::PaddedExperts {
                continue; // these repositories hold every weight twice
            }
            let stored = Stored { format, plain_bytes: 2.0, engine_layout: false };
            let counted = weight_bytes(&shape, &stored, &Parallel::ONE) / GIB;
            assert!((counted / files - 1.0).abs() < 0.06, "{}: {counted} of {files}", model.name());
        }
    }

    #[test]
    fn replicated_parts_do_not_shrink() {
        let whole = gib("deepseek-ai/DeepSeek-V3", "fp8", 1);
        assert!(gib("deepseek-ai/DeepSeek-V3", "fp8", 8) > whole / 8.0);
        let model = "Qwen/Qwen2.5-7B-Instruct"; // 4 key heads
        assert!(
            gib(model, "fp16", 4) - gib(model, "fp16", 1) / 4.0 < gib(model, "fp16", 14) - gib(model, "fp16", 1) / 14.0
        );
    }
}
