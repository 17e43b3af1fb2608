//! Bytes of keys and values. Knows layouts of caches, not how much room there is.

use super::{Architecture, Parallel};

/// Bytes of an element of the cache, by the dtype as engines name it; `wide` for a model in 32 bits. Blocks of GGUF types
/// have 32 elements and a 16-bit scale.
pub fn element_bytes(dtype: &str, wide: bool) -> f64 {
    match dtype {
        _ if dtype.starts_with("fp8") || dtype == "int8" => 1.0,
        "q8_0" => 34.0 / 32.0,
        "q4_0" => 18.0 / 32.0,
        "float32" | "fp32" | "f32" => 4.0,
        "auto" if wide => 4.0,
        _ => 2.0,
    }
}

/// A paged cache of keys and values on one GPU.
#[derive(Debug, Clone, Copy)]
pub struct Cache<'a> {
    /// The model.
    pub shape: &'a Architecture,
    /// How it is divided.
    pub parallel: Parallel,
    /// Bytes of an element.
    pub bytes: f64,
    /// Tokens of a block; 1 for a cache without blocks.
    pub block: u64,
    /// Whether sliding-window layers keep their window only; else they keep every token.
    pub windows: bool,
    /// Whether latent attention stores expanded heads, padded to 256.
    pub expanded: bool,
}

impl Cache<'_> {
    /// Key (or value) heads on one GPU: at least one, copied when there are more GPUs than heads.
    fn heads(&self) -> f64 {
        let (heads, tensor) = (self.shape.kv_heads, self.parallel.tensor);
        if heads.is_multiple_of(tensor) || tensor.is_multiple_of(heads) {
            (heads as f64 / tensor as f64).max(1.0)
        } else {
            heads.div_ceil(tensor) as f64
        }
    }

    /// Bytes of one token in one layer. Attention with heads: 2 x heads x width. Latent attention keeps one vector of
    /// `kv_lora_rank + qk_rope_head_dim` (arXiv 2405.04434, section 2.1.2), on every GPU.
    fn layer_token(&self) -> f64 {
        let elements = match self.shape.latent {
            Some(latent) if !self.expanded => (latent.kv_rank + latent.rope_dim) as f64,
            Some(_) => 2.0 * (self.shape.heads / self.parallel.tensor).max(1) as f64 * 256.0,
            None => 2.0 * self.heads() * self.shape.head_dim as f64,
        };
        elements * self.bytes
    }

    fn stage_layers(&self, layers: u64) -> f64 {
        layers.div_ceil(self.parallel.pipeline) as f64
    }

    /// Bytes of one token in every layer of a stage.
    pub fn token(&self) -> f64 {
        self.stage_layers(self.shape.layers - self.shape.kv_shared_layers) * self.layer_token()
    }

    /// Bytes of one request of a length, when `batched` tokens are computed at once: sliding layers keep
    /// `window - 1 + batched` tokens and one more block.
    pub fn request(&self, length: u64, batched: u64) -> f64 {
        let blocks = |tokens: u64| tokens.div_ceil(self.block) as f64;
        let block = self.block as f64 * self.layer_token();
        match self.shape.sliding.filter(|_| self.windows) {
            Some(sliding) => {
                let stages = self.parallel.pipeline as f64;
                let full = (self.shape.layers - sliding.layers) as f64 / stages;
                let kept = (sliding.window.saturating_sub(1) + batched).min(length);
                (full * blocks(length) + sliding.layers as f64 / stages * (blocks(kept) + 1.0)) * block
            }
            None => self.token() * self.block as f64 * blocks(length),
        }
    }

    /// Tokens that fit in some bytes, as vLLM prints them ("GPU KV cache size"). With sliding layers apart it counts in
    /// groups of equally many layers, so the figure understates what fits.
    pub fn tokens(&self, available: f64) -> u64 {
        if available <= 0.0 {
            return 0;
        }
        let (groups, layers) = match self.shape.sliding.filter(|s| self.windows && s.layers < self.shape.layers) {
            Some(sliding) => {
                let full = self.shape.layers - sliding.layers;
                let group = full.min(sliding.layers);
                (full.div_ceil(group) + sliding.layers.div_ceil(group), group as f64)
            }
            None => (1, self.stage_layers(self.shape.layers - self.shape.kv_shared_layers)),
        };
        let blocks = (available / (layers * self.layer_token() * self.block as f64)) as u64;
        blocks / groups * self.block
    }

    /// The longest request that fits in some bytes; 0 when none does.
    pub fn longest(&self, available: f64, batched: u64) -> u64 {
        let (mut fits, mut too_long) = (0, 1u64 << 27);
        while too_long - fits > 1 {
            let middle = fits + (too_long - fits) / 2;
            if self.request(middle, batched) <= available { fits = middle } else { too_long = middle }
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vram::GIB;

    fn cache(shape: &Architecture, tensor: u64) -> Cache<'_> {
        let parallel = Parallel { tensor, ..Parallel::ONE };
        Cache { shape, parallel, bytes: 2.0, block: 16, windows: true, expanded: false }
    }

    #[test]
    fn bytes_of_a_token() {
        let llama = Architecture::find("meta-llama/Llama-3.1-8B-Instruct").expect("a row");
        assert_eq!(cache(&llama, 1).token(), 131_072.0);
        assert_eq!(cache(&llama, 16).token(), 16_384.0, "one head at least");
        assert_eq!(cache(&llama, 1).request(131_072, 2048) / GIB, 16.0);
        let deepseek = Architecture::find("deepseek-ai/DeepSeek-V3").expect("a row");
        assert_eq!(cache(&deepseek, 8).token(), 61.0 * 576.0 * 2.0, "not divided");
    }

    #[test]
    fn windows_bound_a_long_request() {
        let gpt_oss = Architecture::find("openai/gpt-oss-20b").expect("a row");
        let apart = cache(&gpt_oss, 1);
        let whole = Cache { windows: false, ..apart };
        assert!(apart.request(131_072, 2048) < 0.6 * whole.request(131_072, 2048));
        assert_eq!(apart.longest(apart.request(65_536, 2048), 2048), 65_536);
    }
}
