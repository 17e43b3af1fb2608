//! Training runs, and how what several files state of one comes together.

use super::value::entities;
use crate::known::{Fact, Known, Why};

entities! {
    /// A training run: what the command line states, then what the configuration files that it names state, then defaults.
    Training {
        /// axolotl, llama-factory, torchtune, transformers, megatron; deepspeed and accelerate for their own files.
        trainer: Fact<String>,
        /// Model that is trained, by name or path.
        model: Fact<String>,
        /// full, lora, qlora, freeze …
        method: Fact<String>,
        /// sft, pt, dpo, ppo, rm … as the trainer names it.
        objective: Fact<String>,
        /// How the frozen weights are quantized: nf4, int8, gptq.
        quantization: Fact<String>,
        /// Sequences per GPU and step.
        micro_batch_size: Fact<i64>,
        /// Micro batches per optimizer step.
        accumulation_steps: Fact<i64>,
        /// Longest sequence in tokens.
        sequence_len: Fact<i64>,
        /// Whether short samples are packed into sequences of full length.
        packing: Fact<bool>,
        /// Optimizer as stated: adamw_torch, paged_adamw_8bit, adafactor …
        optimizer: Fact<String>,
        /// bf16 and fp16 (with 32-bit master weights), pure-bf16, pure-fp16, fp32.
        precision: Fact<String>,
        /// Whose way of keeping weights, gradients and optimizer states: autocast (32-bit weights), as-loaded, autocast-or-loaded, deepspeed, fsdp, megatron.
        stack: Fact<String>,
        /// What is sharded over the data parallel ranks: 0 nothing, 1 optimizer states, 2 and gradients, 3 and weights (FSDP full shard).
        zero_stage: Fact<i64>,
        /// Tensor parallel size.
        tensor_parallel: Fact<i64>,
        /// Pipeline parallel size.
        pipeline_parallel: Fact<i64>,
        /// Whether activations between tensor parallel regions are split along the sequence.
        sequence_parallel: Fact<bool>,
        /// Whether activations are computed again in the backward pass.
        gradient_checkpointing: Fact<bool>,
        /// Whether saved activations wait in host memory.
        activation_offload: Fact<bool>,
        /// Whether optimizer states live in host memory.
        optimizer_offload: Fact<bool>,
        /// Whether weights live in host memory between their uses.
        parameter_offload: Fact<bool>,
        /// Rank of the adapters.
        lora_rank: Fact<i64>,
        /// Attention implementation: flash_attention_2, sdpa, eager …
        attention: Fact<String>,
        /// Whether the loss is computed in chunks, without the logits of the whole batch.
        chunked_loss: Fact<bool>,
        /// Configuration files that it names.
        configs: Vec<Fact<String>>,
        /// What DeepSpeed's file states otherwise than the trainer that reads it: `train_micro_batch_size_per_gpu is 4, not 2`.
        conflicts: Vec<Fact<String>>,
    }
}

impl Training {
    /// States a field by its name and a text; a text that is no value of the field leaves it unknown.
    pub fn set(&mut self, field: &str, fact: Fact<String>) {
        fn parsed<T: std::str::FromStr>(fact: Fact<String>) -> Fact<T> {
            fact.and_then(|text| match text.replace('_', "").parse() {
                Ok(value) => Known::Value(value),
                Err(_) => Known::Unknown(Why::Malformed(text.into())),
            })
        }
        match field {
            "model" => self.model = fact.map(|name| name.trim_end_matches('/').to_owned()),
            "method" => self.method = fact,
            "objective" => self.objective = fact,
            "quantization" => self.quantization = fact,
            "micro_batch_size" => self.micro_batch_size = parsed(fact),
            "accumulation_steps" => self.accumulation_steps = parsed(fact),
            "sequence_len" => self.sequence_len = parsed(fact),
            "packing" => self.packing = parsed(fact),
            "optimizer" => self.optimizer = fact,
            "precision" => self.precision = fact,
            "stack" => self.stack = fact,
            "zero_stage" => self.zero_stage = parsed(fact),
            "tensor_parallel" => self.tensor_parallel = parsed(fact),
            "pipeline_parallel" => self.pipeline_parallel = parsed(fact),
            "sequence_parallel" => self.sequence_parallel = parsed(fact),
            "gradient_checkpointing" => self.gradient_checkpointing = parsed(fact),
            "activation_offload" => self.activation_offload = parsed(fact),
            "optimizer_offload" => self.optimizer_offload = parsed(fact),
            "parameter_offload" => self.parameter_offload = parsed(fact),
            "lora_rank" => self.lora_rank = parsed(fact),
            "attention" => self.attention = fact,
            "chunked_loss" => self.chunked_loss = parsed(fact),
            "config" => self.configs.push(fact),
            _ => {}
        }
    }

    /// Takes over what `other` states and this run does not.
    pub fn fill(&mut self, mut other: Training) {
        fn fill<T>(mine: &mut Fact<T>, other: &mut Fact<T>) {
            if mine.is_absent() && !other.is_absent() {
                std::mem::swap(mine, other);
            }
        }
        fill(&mut self.model, &mut other.model);
        fill(&mut self.method, &mut other.method);
        fill(&mut self.objective, &mut other.objective);
        fill(&mut self.quantization, &mut other.quantization);
        fill(&mut self.micro_batch_size, &mut other.micro_batch_size);
        fill(&mut self.accumulation_steps, &mut other.accumulation_steps);
        fill(&mut self.sequence_len, &mut other.sequence_len);
        fill(&mut self.packing, &mut other.packing);
        fill(&mut self.optimizer, &mut other.optimizer);
        fill(&mut self.precision, &mut other.precision);
        fill(&mut self.stack, &mut other.stack);
        fill(&mut self.zero_stage, &mut other.zero_stage);
        fill(&mut self.tensor_parallel, &mut other.tensor_parallel);
        fill(&mut self.pipeline_parallel, &mut other.pipeline_parallel);
        fill(&mut self.sequence_parallel, &mut other.sequence_parallel);
        fill(&mut self.gradient_checkpointing, &mut other.gradient_checkpointing);
        fill(&mut self.activation_offload, &mut other.activation_offload);
        fill(&mut self.optimizer_offload, &mut other.optimizer_offload);
        fill(&mut self.parameter_offload, &mut other.parameter_offload);
        fill(&mut self.lora_rank, &mut other.lora_rank);
        fill(&mut self.attention, &mut other.attention);
        fill(&mut self.chunked_loss, &mut other.chunked_loss);
    }

    /// Whether it is the file of a library below the trainer, which says nothing of the trainer itself.
    pub fn is_part(&self) -> bool {
        self.trainer.get().is_some_and(|trainer| matches!(trainer.as_str(), "deepspeed" | "accelerate"))
    }
}
