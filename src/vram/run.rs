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
        let settings = Settings { trainer, stated };
        let stack = settings.stack(stack);
        if let Some(objective) = settings.text("objective").filter(|o| !matches!(o.as_str(), "sft" | "pt" | "pretrain"))
        {
            return Err(uncovered(format!("the objective {objective}, which keeps further models in memory,")));
        }
        let optimizer = settings.text("optimizer").unwrap_or("adamw".to_owned());
        let state_bytes =
            catalog::optimizer_state_bytes(&optimizer).ok_or(uncovered(format!("the optimizer {optimizer}")))?;
        Ok(Self {
            method: settings.method()?,
            frozen_bits: settings.frozen_bits()?,
            upcast_embeddings: settings.on("upcast_embeddings"),
            stack,
            precision: match settings.text("precision").as_deref() {
                Some("fp32") => Precision::Single,
                Some("pure-bf16" | "pure-fp16") => Precision::Half,
                _ => Precision::Mixed,
            },
            state_bytes,
            micro_batch: settings.needed("micro_batch_size")?,
            sequence: settings.needed("sequence_len")?,
            packed: settings.on("packing") || stack == Stack::Megatron,
            activations: match (settings.on("gradient_checkpointing"), settings.on("activation_offload")) {
                (false, _) => Activations::Kept,
                (true, false) => Activations::Checkpointed,
                (true, true) => Activations::Offloaded,
            },
            flash_attention: settings.text("attention").as_deref() != Some("eager"),
            chunked_loss: settings.on("chunked_loss"),
            spread: Spread {
                data: settings.count("data_parallel")?.unwrap_or(1),
                tensor: settings.count("tensor_parallel")?.unwrap_or(1),
                pipeline: settings.count("pipeline_parallel")?.unwrap_or(1),
                sequence: settings.on("sequence_parallel"),
                zero_stage: settings.zero_stage(stack)?,
            },
            optimizer_offload: settings.on("optimizer_offload"),
            parameter_offload: settings.on("parameter_offload"),
        })
    }
}

/// Settings by name: what is stated, else what the trainer does by default.
struct Settings<'a, S> {
    trainer: &'a str,
    stated: S,
}

impl<S: Fn(&str) -> Option<String>> Settings<'_, S> {
    fn default(&self, setting: &str) -> Option<&'static str> {
        catalog::training_defaults(self.trainer).find(|(name, _)| *name == setting).map(|(_, value)| value)
    }

    fn text(&self, setting: &str) -> Option<String> {
        (self.stated)(setting).or_else(|| self.default(setting).map(str::to_owned))
    }

    fn on(&self, setting: &str) -> bool {
        self.text(setting).as_deref() == Some("true")
    }

    fn count(&self, setting: &str) -> Result<Option<u64>, Gap> {
        let number = |text: &str| text.parse().ok().filter(|n| (1..=LARGEST).contains(n));
        self.text(setting)
            .map(|text| number(&text).ok_or_else(|| uncovered(format!("a {} of {text}", plain(setting)))))
            .transpose()
    }

    fn needed(&self, setting: &str) -> Result<u64, Gap> {
        self.count(setting)?.ok_or_else(|| Gap::NotStated(format!("the {}", plain(setting))))
    }

    fn method(&self) -> Result<Method, Gap> {
        match self.text("method").as_deref() {
            Some("full") => Ok(Method::Full),
            Some("lora" | "qlora") => Ok(Method::Lora(self.count("lora_rank")?.unwrap_or(RANK))),
            Some(other) => Err(uncovered(format!("the method {other}"))),
            None => Err(Gap::NotStated("the method".to_owned())),
        }
    }

    /// Bits of a frozen linear weight, with what the trainer keeps beside it.
    fn frozen_bits(&self) -> Result<f64, Gap> {
        let quantization = self.text("quantization").filter(|format| format != "none");
        let bits = match (self.text("method").as_deref(), quantization) {
            (_, Some(format)) => bits(&format).ok_or_else(|| uncovered(format!("the quantization {format}")))?,
            (Some("qlora"), None) => bits("nf4").unwrap_or(16.0),
            _ => 16.0,
        };
        let overhead = self.text("frozen_overhead").and_then(|text| text.parse().ok()).unwrap_or(1.0);
        Ok(if bits < 16.0 { bits * overhead } else { bits })
    }

    /// The stack: as stated, as the engine's name says, or the trainer's own.
    fn stack(&self, named: Option<&str>) -> Stack {
        match (self.stated)("stack").as_deref().or(named).or(self.default("stack")) {
            Some("as-loaded") => Stack::AsLoaded,
            Some("autocast") => Stack::Autocast,
            Some("deepspeed") => Stack::DeepSpeed,
            Some("fsdp") => Stack::Fsdp,
            Some("megatron") => Stack::Megatron,
            _ => Stack::Either,
        }
    }

    fn zero_stage(&self, stack: Stack) -> Result<Option<u64>, Gap> {
        let Some(stage) = (self.stated)("zero_stage") else {
            let usual = self.default("zero_stage").and_then(|text| text.parse().ok()).unwrap_or(0);
            let sharding = matches!(stack, Stack::DeepSpeed | Stack::Fsdp);
            return Ok((usual > 0 || !sharding).then_some(usual));
        };
        stage.parse().ok().filter(|s| *s <= 3).map(Some).ok_or_else(|| uncovered(format!("ZeRO stage {stage}")))
    }
}

fn uncovered(what: String) -> Gap {
    Gap::NotModelled(what)
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
