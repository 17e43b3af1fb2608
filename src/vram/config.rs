//! The shape that a model's own `config.json` states, in the terms of the Hugging Face hub. Knows what its keys mean,
//! not where it lies.

use super::{Architecture, Experts, Latent, Sliding};
use crate::catalog;

/// A `config.json`: the text of a scalar at a dotted path (`rope_scaling.factor`, `architectures.0`).
pub struct Config<'c> {
    get: &'c dyn Fn(&str) -> Option<String>,
}

impl<'c> Config<'c> {
    /// Reads through a function; lists are indexed by number.
    pub fn new(get: &'c dyn Fn(&str) -> Option<String>) -> Self {
        Self { get }
    }

    fn text(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| (self.get)(key)).filter(|text| text != "null")
    }

    fn whole(&self, keys: &[&str]) -> Option<u64> {
        self.text(keys)?.parse().ok()
    }

    fn says(&self, key: &str) -> Option<bool> {
        self.text(&[key])?.to_lowercase().parse().ok()
    }

    /// The architecture.
    ///
    /// # Errors
    /// What is missing, or not modelled. A class is known when the catalog has models of it that count to their size.
    pub fn architecture(&self, name: &str) -> Result<Architecture, String> {
        let class = self.text(&["architectures.0"]).ok_or("the class of the model is not stated")?;
        let like = catalog::models().filter(|m| m.text("arch") == class && m.shape_holds());
        let like: Vec<Architecture> = like.filter_map(|m| Architecture::of(&m)).collect();
        let Some(sibling) = like.first() else { return Err(format!("{class} is not in the catalog")) };
        if like.iter().any(|m| m.extra > 0 || m.linear_layers > 0 || m.kv_shared_layers > 0 || m.global_heads.is_some())
        {
            return Err(format!("{class} has parts that a configuration does not count"));
        }
        let need = |keys: &[&str]| self.whole(keys).filter(|n| *n > 0).ok_or(format!("{} is not stated", keys[0]));
        let layers = need(&["num_hidden_layers", "n_layer", "num_layers"])?;
        let hidden = need(&["hidden_size", "n_embd", "d_model"])?;
        let heads = need(&["num_attention_heads", "n_head"])?;
        let one_key_head = self.says("multi_query") == Some(true);
        let kv_heads = self.whole(&["num_key_value_heads"]).unwrap_or(if one_key_head { 1 } else { heads });
        let ffn = self.whole(&["intermediate_size", "n_inner", "ffn_dim"]).unwrap_or(4 * hidden);
        let tied = self.says("tie_word_embeddings");
        let agreed = || like.iter().all(|m| m.tied == sibling.tied).then_some(sibling.tied);
        let experts = self.experts(layers, ffn)?;
        if experts.is_some() != sibling.experts.is_some() {
            return Err(format!("the experts of {class} are stated in other terms"));
        }
        Ok(Architecture {
            name: name.to_owned(),
            layers,
            hidden,
            heads,
            kv_heads: kv_heads.max(1),
            head_dim: self.whole(&["head_dim"]).unwrap_or(hidden / heads),
            ffn,
            gated: sibling.gated,
            vocab: need(&["vocab_size"])?,
            tied: tied.or_else(agreed).ok_or("tie_word_embeddings is not stated")?,
            qkv_bias: sibling.qkv_bias,
            experts,
            latent: self.latent(),
            sliding: self.sliding(layers, sibling),
            max_position: self.positions(),
            quantization: self.quantization()?.map(str::to_owned),
            class,
            ..Architecture::default()
        })
    }

    fn experts(&self, layers: u64, ffn: u64) -> Result<Option<Experts>, String> {
        let Some(count) = self.whole(&["num_experts", "num_local_experts", "n_routed_experts"]).filter(|n| *n > 1)
        else {
            return Ok(None);
        };
        let uneven = self.whole(&["decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step"]);
        if uneven.is_some_and(|step| step != 1) || (self.get)("mlp_only_layers.0").is_some() {
            return Err("the layers that have experts are not all of the last ones".to_owned());
        }
        let expert_ffn = self.whole(&["moe_intermediate_size"]).unwrap_or(ffn);
        let shared = self.whole(&["n_shared_experts"]).map(|n| n * expert_ffn);
        Ok(Some(Experts {
            count,
            per_token: self.whole(&["num_experts_per_tok"]).ok_or("num_experts_per_tok is not stated")?,
            ffn: expert_ffn,
            shared_ffn: self.whole(&["shared_expert_intermediate_size"]).or(shared).unwrap_or(0),
            layers: layers.saturating_sub(self.whole(&["first_k_dense_replace"]).unwrap_or(0)),
        }))
    }

    fn latent(&self) -> Option<Latent> {
        Some(Latent {
            kv_rank: self.whole(&["kv_lora_rank"]).filter(|rank| *rank > 0)?,
            q_rank: self.whole(&["q_lora_rank"]).unwrap_or(0),
            nope_dim: self.whole(&["qk_nope_head_dim"])?,
            rope_dim: self.whole(&["qk_rope_head_dim"])?,
            value_dim: self.whole(&["v_head_dim"])?,
        })
    }

    /// Sliding layers as listed (`layer_types`), else in the proportion of the class.
    fn sliding(&self, layers: u64, sibling: &Architecture) -> Option<Sliding> {
        let window = self.whole(&["sliding_window"]).filter(|window| *window > 0)?;
        if self.says("use_sliding_window") == Some(false) {
            return None;
        }
        let listed = (0..layers.min(1024)).filter_map(|i| (self.get)(&format!("layer_types.{i}")));
        let kinds: Vec<String> = listed.collect();
        let counted = kinds.iter().filter(|kind| kind.starts_with("sliding")).count() as u64;
        let proportion = sibling.sliding.map_or(0, |s| layers * s.layers / sibling.layers);
        let sliding = if kinds.is_empty() { proportion } else { counted };
        (sliding > 0).then_some(Sliding { window, layers: sliding, chunked: false })
    }

    /// Longest sequence as vLLM derives it: positions, times the factor of the scaling unless the positions have it already
    /// (`_get_and_verify_max_len`).
    fn positions(&self) -> Option<u64> {
        let positions = self.whole(&["max_position_embeddings", "n_positions", "max_sequence_length"])?;
        let kind = self.text(&["rope_scaling.rope_type", "rope_scaling.type"]).unwrap_or_default();
        let factor = self.text(&["rope_scaling.factor"]).and_then(|text| text.parse::<f64>().ok());
        let original = self.whole(&["rope_scaling.original_max_position_embeddings"]);
        match (kind.as_str(), factor) {
            (_, None) | ("llama3" | "su" | "longrope" | "mrope" | "default", _) => Some(positions),
            ("yarn", Some(factor)) => Some((original.unwrap_or(positions) as f64 * factor) as u64),
            (_, Some(factor)) => Some((positions as f64 * factor) as u64),
        }
    }

    /// The weight format of `quantization_config`.
    fn quantization(&self) -> Result<Option<&'static str>, String> {
        let key = |name: &str| format!("quantization_config.{name}");
        let get = |name: &str| self.text(&[&key(name)]).map(|text| text.to_lowercase());
        let Some(method) = get("quant_method") else { return Ok(None) };
        let group = || self.text(&["quantization_config.config_groups.group_0.weights.num_bits"]);
        let written = match method.as_str() {
            "gptq" if get("bits").is_some_and(|bits| bits == "8") => "gptq-int8".to_owned(),
            "gptq" | "awq" if get("bits").is_some_and(|bits| bits != "4") => return Err("its quantization".to_owned()),
            "bitsandbytes" if get("load_in_8bit").is_some_and(|on| on == "true") => "bnb-int8".to_owned(),
            "compressed-tensors" => match (get("format").unwrap_or_default().as_str(), group().as_deref()) {
                ("pack-quantized", Some("4")) => "w4a16".to_owned(),
                ("pack-quantized", Some("8")) => "w8a16".to_owned(),
                ("float-quantized" | "int-quantized" | "naive-quantized", Some("8")) => "w8a8".to_owned(),
                ("nvfp4-pack-quantized", _) => "nvfp4".to_owned(),
                (format, _) => return Err(format!("the bits of {format} weights are not stated")),
            },
            "modelopt" => get("quant_algo").unwrap_or_default(),
            other => other.to_owned(),
        };
        let format = catalog::weight_format(&written).map(|format| format.name);
        format.map(Some).ok_or(format!("how many bits {written} takes is not known"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Architecture, String> {
        let get = |key: &str| pairs.iter().find(|(k, _)| *k == key).map(|(_, v)| (*v).to_owned());
        Config::new(&get).architecture("./model")
    }

    const LLAMA: &[(&str, &str)] = &[
        ("architectures.0", "LlamaForCausalLM"),
        ("hidden_size", "4096"),
        ("intermediate_size", "14336"),
        ("num_hidden_layers", "32"),
        ("num_attention_heads", "32"),
        ("num_key_value_heads", "8"),
        ("vocab_size", "128256"),
        ("tie_word_embeddings", "false"),
        ("max_position_embeddings", "131072"),
        ("rope_scaling.rope_type", "llama3"),
        ("rope_scaling.factor", "8.0"),
    ];

    #[test]
    fn a_configuration_counts_like_the_catalog() {
        let counted = read(LLAMA).expect("a shape");
        let known = Architecture::find("meta-llama/Llama-3.1-8B-Instruct").expect("a row");
        assert_eq!(counted.parameters(), known.parameters());
        assert_eq!(counted.max_position, Some(131_072));
    }

    #[test]
    fn quantized_weights_and_scaled_positions() {
        let with = |more: &[(&'static str, &'static str)]| read(&[more, LLAMA].concat());
        let awq = with(&[("quantization_config.quant_method", "awq"), ("quantization_config.bits", "4")]);
        assert_eq!(awq.expect("a shape").quantization.as_deref(), Some("awq"));
        let other = with(&[("quantization_config.quant_method", "compressed-tensors")]);
        assert!(other.is_err(), "the bits are not stated");
        let yarn = with(&[
            ("rope_scaling.rope_type", "yarn"),
            ("rope_scaling.factor", "4.0"),
            ("rope_scaling.original_max_position_embeddings", "32768"),
        ]);
        assert_eq!(yarn.expect("a shape").max_position, Some(131_072));
    }

    #[test]
    fn what_is_not_modelled_says_so() {
        let class = |class| read(&[&[("architectures.0", class)], LLAMA].concat()).map(|_| ());
        assert_eq!(class("NeverHeardOfForCausalLM"), Err("NeverHeardOfForCausalLM is not in the catalog".to_owned()));
        assert!(class("Qwen3VLForConditionalGeneration").is_err(), "a vision tower");
        assert!(class("MixtralForCausalLM").is_err(), "experts that nothing counts");
        assert_eq!(read(&LLAMA[..2]).map(|_| ()), Err("num_hidden_layers is not stated".to_owned()));
    }
}
