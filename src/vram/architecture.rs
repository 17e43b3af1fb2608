//! The shape of a transformer and its parameters, counted. Knows nothing of engines and GPUs.

use crate::catalog::{self, Model};

/// A decoder (or encoder) stack: what a `config.json` says, in its terms.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Architecture {
    /// Name on the hub, or of the file it was read from.
    pub name: String,
    /// Class of the model: LlamaForCausalLM.
    pub class: String,
    /// Layers (`num_hidden_layers`).
    pub layers: u64,
    /// Width of the residual stream (`hidden_size`).
    pub hidden: u64,
    /// Query heads (`num_attention_heads`).
    pub heads: u64,
    /// Key and value heads (`num_key_value_heads`).
    pub kv_heads: u64,
    /// Width of a head (`head_dim`; not always hidden / heads).
    pub head_dim: u64,
    /// Width of the dense feed-forward (`intermediate_size`).
    pub ffn: u64,
    /// Whether the feed-forward has a gate (three matrices instead of two).
    pub gated: bool,
    /// Entries of the vocabulary.
    pub vocab: u64,
    /// Whether the output layer is the embedding (`tie_word_embeddings`).
    pub tied: bool,
    /// Whether queries, keys and values have biases.
    pub qkv_bias: bool,
    /// Mixture of experts.
    pub experts: Option<Experts>,
    /// Multi-head latent attention.
    pub latent: Option<Latent>,
    /// Sliding-window layers.
    pub sliding: Option<Sliding>,
    /// Layers with a recurrent state instead of a cache: a hybrid.
    pub linear_layers: u64,
    /// Layers that read the keys and values of another layer.
    pub kv_shared_layers: u64,
    /// Width of a head and number of key heads of full-attention layers where they differ from the sliding ones.
    pub global_heads: Option<(u64, u64)>,
    /// Longest sequence that it was made for (`max_position_embeddings`, with rope scaling).
    pub max_position: Option<u64>,
    /// Parameters beside the text stack: vision tower, projector.
    pub extra: u64,
    /// All parameters as published, where somebody publishes them.
    pub published: Option<u64>,
    /// Quantization of the published checkpoint.
    pub quantization: Option<String>,
}

/// Mixture-of-experts layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts {
    /// Routed experts of a layer.
    pub count: u64,
    /// Experts that a token is sent to.
    pub per_token: u64,
    /// Width of an expert.
    pub ffn: u64,
    /// Width of the experts that every token passes, together; 0 for none.
    pub shared_ffn: u64,
    /// Layers with experts; the others are dense.
    pub layers: u64,
}

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): keys and values come from one small vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latent {
    /// Width of that vector (`kv_lora_rank`).
    pub kv_rank: u64,
    /// Width of the compressed queries (`q_lora_rank`); 0 for uncompressed ones.
    pub q_rank: u64,
    /// Width of a query head without position (`qk_nope_head_dim`).
    pub nope_dim: u64,
    /// Width of a query head with position (`qk_rope_head_dim`).
    pub rope_dim: u64,
    /// Width of a value head (`v_head_dim`).
    pub value_dim: u64,
}

/// Layers that attend to the last tokens only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sliding {
    /// Tokens they see.
    pub window: u64,
    /// How many there are.
    pub layers: u64,
    /// Whether the window is a fixed chunk (Llama-4) instead of the last tokens.
    pub chunked: bool,
}

/// Parameters by what becomes of them: quantized, sharded or replicated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parameters {
    /// Attention projections and their biases.
    pub attention: u64,
    /// Feed-forwards of dense layers.
    pub dense: u64,
    /// Routed experts.
    pub experts: u64,
    /// Shared experts.
    pub shared: u64,
    /// Routers.
    pub router: u64,
    /// Norms.
    pub norms: u64,
    /// Token embedding.
    pub embedding: u64,
    /// Output layer; 0 when it is the embedding.
    pub head: u64,
    /// Beside the text stack.
    pub extra: u64,
}

impl Parameters {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.body() + self.embedding + self.head + self.extra
    }

    /// Those of the layers.
    pub fn body(&self) -> u64 {
        self.attention + self.dense + self.experts + self.shared + self.router + self.norms
    }
}

impl Architecture {
    /// The architecture of a hub name from the catalog. `None` for a model that the catalog does not know, or whose
    /// shape does not count to its published size.
    pub fn find(name: &str) -> Option<Self> {
        catalog::model(name).and_then(|model| Self::of(&model))
    }

    /// The architecture that flags of Megatron state: `--num-layers 96 --hidden-size 12288 --num-attention-heads 96`. Without
    /// `--vocab-size` it has no embedding: its parameters are the fewest that there are. `None` for experts and latent attention.
    pub fn of_megatron(flags: &str) -> Option<Self> {
        let mut words = flags.split_whitespace().peekable();
        let mut stated = std::collections::BTreeMap::new();
        while let Some(word) = words.next() {
            let value = words.next_if(|next| !next.starts_with("--"));
            stated.insert(word.strip_prefix("--")?, value);
        }
        let has = |name: &str| stated.contains_key(name);
        let get = |name: &str| stated.get(name).copied().flatten()?.parse::<u64>().ok().filter(|n| *n > 0);
        if has("num-experts") || has("multi-latent-attention") {
            return None;
        }
        let (hidden, heads, gated) = (get("hidden-size")?, get("num-attention-heads")?, has("swiglu"));
        // `ffn_hidden_size` of megatron/training/arguments.py.
        let wide = if gated { 4 * hidden * 2 / 3 / 64 * 64 } else { 4 * hidden };
        Some(Self {
            name: flags.to_owned(),
            layers: get("num-layers")?,
            hidden,
            heads,
            kv_heads: get("num-query-groups").unwrap_or(heads),
            head_dim: get("kv-channels").unwrap_or(hidden / heads),
            ffn: get("ffn-hidden-size").unwrap_or(wide),
            gated,
            vocab: get("vocab-size").unwrap_or(0),
            tied: !has("untie-embeddings-and-output-weights"),
            ..Self::default()
        })
    }

    /// The architecture in a row of the catalog; `None` when its shape does not hold.
    pub fn of(model: &Model) -> Option<Self> {
        let get = |column: &str| model.text(column).parse::<u64>().ok();
        let says = |column: &str| model.text(column) == "true";
        let billions = |column: &str| model.text(column).parse::<f64>().ok().map(|b| (b * 1e9).round() as u64);
        let (layers, hidden) = (get("layers")?, get("hidden")?);
        let heads = get("heads").filter(|heads| *heads > 0)?;
        let ffn = get("ffn").unwrap_or(0);
        let shape = Self {
            name: model.name().to_owned(),
            class: model.text("arch").to_owned(),
            layers,
            hidden,
            heads,
            kv_heads: get("kv_heads").filter(|kv| *kv > 0).unwrap_or(heads),
            head_dim: get("head_dim").unwrap_or(hidden / heads),
            ffn,
            gated: model.text("gated") != "false",
            vocab: get("vocab")?,
            tied: says("tied"),
            qkv_bias: says("qkv_bias"),
            experts: get("experts").filter(|count| *count > 0).map(|count| Experts {
                count,
                per_token: get("experts_per_token").unwrap_or(1),
                ffn: get("expert_ffn").unwrap_or(ffn),
                shared_ffn: get("shared_ffn").unwrap_or(0),
                layers: get("moe_layers").unwrap_or(layers).min(layers),
            }),
            latent: get("kv_lora_rank").filter(|rank| *rank > 0).map(|kv_rank| Latent {
                kv_rank,
                q_rank: get("q_lora_rank").unwrap_or(0),
                nope_dim: get("qk_nope_head_dim").unwrap_or(0),
                rope_dim: get("qk_rope_head_dim").unwrap_or(0),
                value_dim: get("v_head_dim").unwrap_or(0),
            }),
            sliding: get("sliding_window").zip(get("sliding_layers")).and_then(|(window, sliding)| {
                (window > 0 && sliding > 0).then(|| Sliding {
                    window,
                    layers: sliding.min(layers),
                    chunked: model.text("arch").starts_with("Llama4"),
                })
            }),
            linear_layers: get("linear_layers").unwrap_or(0),
            kv_shared_layers: get("kv_shared_layers").unwrap_or(0).min(layers),
            global_heads: get("global_head_dim").zip(get("global_kv_heads")),
            max_position: get("max_position"),
            extra: billions("extra_parameters_b").unwrap_or(0),
            published: billions("parameters_b"),
            quantization: Some(model.quantization().to_owned()).filter(|q| !q.is_empty()),
        };
        model.shape_holds().then_some(shape)
    }

    /// Parameters of the attention of one layer. Latent attention: the down-projections, the up-projections and the
    /// output projection of arXiv 2405.04434, section 2.1.
    pub fn attention_parameters(&self) -> u64 {
        let (hidden, heads) = (self.hidden, self.heads);
        match self.latent {
            Some(latent) => {
                let query = heads * (latent.nope_dim + latent.rope_dim);
                let queries =
                    if latent.q_rank > 0 { hidden * latent.q_rank + latent.q_rank * query } else { hidden * query };
                let values = heads * latent.value_dim * hidden;
                queries
                    + hidden * (latent.kv_rank + latent.rope_dim)
                    + latent.kv_rank * heads * (latent.nope_dim + latent.value_dim)
                    + values
            }
            None => {
                let (query, keys) = (heads * self.head_dim, self.kv_heads * self.head_dim);
                let bias = if self.qkv_bias { query + 2 * keys } else { 0 };
                2 * hidden * (query + keys) + bias
            }
        }
    }

    /// Parameters of a feed-forward of a width.
    pub fn ffn_parameters(&self, width: u64) -> u64 {
        (if self.gated { 3 } else { 2 }) * self.hidden * width
    }

    /// Layers without experts.
    pub fn dense_layers(&self) -> u64 {
        self.layers - self.experts.map_or(0, |e| e.layers)
    }

    /// Every parameter, by kind.
    pub fn parameters(&self) -> Parameters {
        let embedding = self.vocab * self.hidden;
        let experts = self.experts;
        Parameters {
            attention: self.layers * self.attention_parameters(),
            dense: self.dense_layers() * self.ffn_parameters(self.ffn),
            experts: experts.map_or(0, |e| e.layers * e.count * self.ffn_parameters(e.ffn)),
            shared: experts.map_or(0, |e| e.layers * self.ffn_parameters(e.shared_ffn)),
            router: experts.map_or(0, |e| e.layers * e.count * self.hidden),
            norms: (2 * self.layers + 1) * self.hidden,
            embedding,
            head: if self.tied { 0 } else { embedding },
            extra: self.extra,
        }
    }

    /// Width of the feed-forward that one token passes: the widest layer's.
    pub fn active_ffn(&self) -> u64 {
        let routed = self.experts.map_or(0, |e| e.ffn * e.per_token + e.shared_ffn);
        if self.dense_layers() > 0 { routed.max(self.ffn) } else { routed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::models;

    fn total(name: &str) -> f64 {
        Architecture::find(name).expect(name).parameters().total() as f64 / 1e9
    }

    #[test]
    fn published_totals() {
        for (name, published) in [
            ("meta-llama/Llama-3.1-8B-Instruct", 8.03),
            ("deepseek-ai/DeepSeek-V3", 671.03),
            ("mistralai/Mixtral-8x7B-v0.1", 46.70),
            ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 108.67),
            ("openai/gpt-oss-120b", 116.83),
            ("(paper) GPT-3 175B", 175.0),
        ] {
            let counted = total(name);
            assert!((counted / published - 1.0).abs() < 0.002, "{name}: {counted}");
        }
    }

    #[test]
    fn every_accepted_row_counts_to_its_total_within_one_percent() {
        let mut accepted = 0;
        for model in models() {
            let Some(shape) = Architecture::of(&model) else { continue };
            accepted += 1;
            let counted = shape.parameters().total() as f64;
            let near = |total: f64| (counted / total - 1.0).abs() <= 0.01;
            let published = shape.published.is_some_and(|p| near(p as f64));
            let files = model.files_gib().is_some_and(|gib| near(gib * crate::vram::GIB / 2.0));
            assert!(published || files, "{}: {counted}", model.name());
        }
        assert!(accepted > 300, "{accepted} rows");
    }

    #[test]
    fn flags_of_megatron_state_a_shape() {
        let flags = "--num-layers 96 --hidden-size 12288 --num-attention-heads 96";
        let total = |flags: &str| Some(Architecture::of_megatron(flags)?.parameters().total() as f64 / 1e9);
        assert_eq!(total(flags).map(f64::round), Some(174.0), "GPT-3 without its embedding");
        assert_eq!(total(&format!("{flags} --vocab-size 50304")).map(f64::round), Some(175.0));
        assert_eq!(total(&format!("{flags} --num-experts 8")), None);
        let llama = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 14336 --swiglu \
                     --num-query-groups 8 --vocab-size 128256 --untie-embeddings-and-output-weights";
        let counted = Architecture::of_megatron(llama).expect("a shape").parameters();
        assert_eq!(Some(counted), Architecture::find("meta-llama/Llama-3.1-8B-Instruct").map(|m| m.parameters()));
    }

    #[test]
    fn unknown_and_incomplete_models_have_none() {
        assert_eq!(Architecture::find("somebody/never-heard-of"), None);
        assert_eq!(Architecture::find("Qwen/Qwen3.5-4B"), None, "the row counts to 0.8 of 4.7 billion");
    }
}
