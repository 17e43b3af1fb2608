//! What a training run is, and how its settings are read by name. Knows the defaults of trainers from the catalog, and no
//! formula.

use crate::catalog;

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Every weight.
    Full,
    /// Adapters of this rank on every linear layer of the body, beside frozen weights.
    Lora(u64),
}

/// Whose way of keeping weights, gradients and optimizer states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// 32-bit weights, of which autocast keeps 16-bit copies.
    Autocast,
    /// As autocast, or as loaded: the script decides, and releases of transformers differ.
    Either,
    /// Everything in the type that the weights were loaded in.
    AsLoaded,
    /// 16-bit weights and gradients, 32-bit master weights; a 32-bit copy of the gradients during the step.
    DeepSpeed,
    /// 32-bit shards, gathered in 16 bit.
    Fsdp,
    /// 16-bit weights, 32-bit gradients and master weights.
    Megatron,
}

/// How numbers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 16-bit arithmetic, 32-bit optimizer.
    Mixed,
    /// 16 bits everywhere.
    Half,
    /// 32 bits everywhere.
    Single,
}

/// What of the activations is kept for the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activations {
    /// All of them.
    Kept,
    /// The input of each layer; the rest is computed again.
    Checkpointed,
    /// As checkpointed, and the inputs wait in host memory.
    Offloaded,
}

/// Over how many GPUs a run is spread, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// GPUs that hold copies or shards of one stage (data parallel).
    pub data: u64,
    /// Tensor parallel size.
    pub tensor: u64,
    /// Pipeline stages.
    pub pipeline: u64,
    /// Whether tensor parallel ranks split what lies between their matrices too.
    pub sequence: bool,
    /// 0 nothing is sharded, 1 optimizer states, 2 and gradients, 3 and weights; `None` where the stack shards and nothing
    /// says how far.
    pub zero_stage: Option<u64>,
}

/// Why a run cannot be drawn up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gap {
    /// Nothing states a setting: which.
    NotStated(String),
    /// A setting has a value that the formulas do not cover: the value.
    NotModelled(String),
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Gap::NotStated(what) => write!(f, "{what} is not stated"),
            Gap::NotModelled(what) => write!(f, "{what} is not modelled"),
        }
    }
}

/// A training run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What is trained.
    pub method: Method,
    /// Bits of a frozen linear weight with its scales; 16 when it is not quantized.
    pub frozen_bits: f64,
    /// Whether embeddings, output layer and norms of a quantized model are kept in 32 bits
    /// (`prepare_model_for_kbit_training` of PEFT).
    pub upcast_embeddings: bool,
    /// How states are kept.
    pub stack: Stack,
    /// How numbers are kept.
    pub precision: Precision,
    /// Bytes of optimizer state per trained parameter: 32-bit states, and states in a 16-bit type.
    pub state_bytes: (f64, f64),
    /// Sequences per GPU and step.
    pub micro_batch: u64,
    /// Tokens of a sequence, at most.
    pub sequence: u64,
    /// Whether sequences have that length: packed, or cut from a stream. Else they may be shorter.
    pub packed: bool,
    /// What is kept for the backward pass.
    pub activations: Activations,
    /// Whether attention materializes no scores.
    pub flash_attention: bool,
    /// Whether the loss never holds the logits of the whole batch.
    pub chunked_loss: bool,
    /// Over which GPUs.
    pub spread: Spread,
    /// Whether optimizer states (and master weights) live in host memory.
    pub optimizer_offload: bool,
    /// Whether weights live in host memory between their uses.
    pub parameter_offload: bool,
}

impl Run {
    /// A run by the names of its settings (`method`, `micro_batch_size`, `sequence_len`, `optimizer` …); what is not
    /// stated is what the trainer does by default. An engine may name its stack too: `transformers+deepspeed`.
    ///
    /// # Errors
    /// The setting that nothing states, or whose value is not covered.
    pub fn read(engine: &str, stated: impl Fn(&str) -> Option<String>) -> Result<Self, Gap> {
        let (trainer, stack) = engine.split_once('+').map_or((engine, None), |(trainer, stack)| (trainer, Some(stack)));
        let default =
            |field: &str| catalog::training_defaults(trainer).find(|(f, _)| *f == field).map(|(_, v)| v.to_owned());
        let text = |field: &str| stated(field).or_else(|| default(field));
        let uncovered = |what: String| Gap::NotModelled(what);
        let count = |field: &str| -> Result<Option<u64>, Gap> {
            let number = |text: String| text.parse().ok().filter(|n| (1..=LARGEST).contains(n));
            text(field).map(|t| number(t.clone()).ok_or(uncovered(format!("a {} of {t}", plain(field))))).transpose()
        };
        let needed = |field: &str| count(field)?.ok_or(Gap::NotStated(format!("the {}", plain(field))));
        let on = |field: &str| text(field).as_deref() == Some("true");
        let quantization = text("quantization").filter(|q| q != "none");
        let method = match text("method").as_deref() {
            Some("full") => Method::Full,
            Some("lora" | "qlora") => Method::Lora(count("lora_rank")?.unwrap_or(RANK)),
            Some(other) => return Err(uncovered(format!("the method {other}"))),
            None => return Err(Gap::NotStated("the method".to_owned())),
        };
        if let Some(objective) = text("objective").filter(|o| !matches!(o.as_str(), "sft" | "pt" | "pretrain")) {
            return Err(uncovered(format!("the objective {objective}, which keeps further models in memory,")));
        }
        let frozen_bits = match (text("method").as_deref(), quantization) {
            (_, Some(format)) => bits(&format).ok_or(uncovered(format!("the quantization {format}")))?,
            (Some("qlora"), None) => bits("nf4").unwrap_or(16.0),
            _ => 16.0,
        };
        let overhead = text("frozen_overhead").and_then(|t| t.parse().ok()).unwrap_or(1.0);
        let frozen_bits = if frozen_bits < 16.0 { frozen_bits * overhead } else { frozen_bits };
        let optimizer = text("optimizer").unwrap_or("adamw".to_owned());
        let state_bytes =
            catalog::optimizer_state_bytes(&optimizer).ok_or(uncovered(format!("the optimizer {optimizer}")))?;
        let activations = match (on("gradient_checkpointing"), on("activation_offload")) {
            (false, _) => Activations::Kept,
            (true, false) => Activations::Checkpointed,
            (true, true) => Activations::Offloaded,
        };
        let precision = match text("precision").as_deref() {
            Some("fp32") => Precision::Single,
            Some("pure-bf16" | "pure-fp16") => Precision::Half,
            _ => Precision::Mixed,
        };
        let stack = match stated("stack").as_deref().or(stack).or(default("stack").as_deref()) {
            Some("as-loaded") => Stack::AsLoaded,
            Some("autocast") => Stack::Autocast,
            Some("deepspeed") => Stack::DeepSpeed,
            Some("fsdp") => Stack::Fsdp,
            Some("megatron") => Stack::Megatron,
            _ => Stack::Either,
        };
        let sharding = matches!(stack, Stack::DeepSpeed | Stack::Fsdp);
        let zero = match stated("zero_stage") {
            Some(stage) => {
                Some(stage.parse().ok().filter(|s| *s <= 3).ok_or(uncovered(format!("ZeRO stage {stage}")))?)
            }
            None => {
                let usual = default("zero_stage").and_then(|t| t.parse().ok()).unwrap_or(0);
                (usual > 0 || !sharding).then_some(usual)
            }
        };
        Ok(Self {
            method,
            frozen_bits,
            upcast_embeddings: on("upcast_embeddings"),
            stack,
            precision,
            state_bytes,
            micro_batch: needed("micro_batch_size")?,
            sequence: needed("sequence_len")?,
            packed: on("packing") || stack == Stack::Megatron,
            activations,
            flash_attention: text("attention").as_deref() != Some("eager"),
            chunked_loss: on("chunked_loss"),
            spread: Spread {
                data: count("data_parallel")?.unwrap_or(1),
                tensor: count("tensor_parallel")?.unwrap_or(1),
                pipeline: count("pipeline_parallel")?.unwrap_or(1),
                sequence: on("sequence_parallel"),
                zero_stage: zero,
            },
            optimizer_offload: on("optimizer_offload"),
            parameter_offload: on("parameter_offload"),
        })
    }
}

/// Largest count that is believed; products of two stay far below 2^64.
const LARGEST: u64 = 1 << 24;

/// Rank of adapters where neither a file nor the trainer says one (`ModelConfig` of TRL).
const RANK: u64 = 16;

/// A setting's name in a sentence.
fn plain(field: &str) -> String {
    field.replace('_', " ").replace("sequence len", "sequence length")
}

/// Bits of a quantized linear weight.
fn bits(format: &str) -> Option<f64> {
    catalog::weight_format(format).map(|format| format.bits)
}
