//! Training runs, and how what several files state of one comes together.

use super::settings::settings;
use super::value::entities;
use crate::known::Fact;

entities! {
    /// A training run: what the command line states, then what the configuration files that it names state, then defaults.
    Training {
        /// The file that states it, or `ConfigMap/name/key`; absent for a command line.
        path: Fact<String>,
        /// axolotl, llama-factory, torchtune, transformers, trl, megatron, nemo, litgpt, verl, nemo-rl, torchtitan; deepspeed and accelerate for their own files.
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
        /// Sequences per optimizer step, over all ranks.
        global_batch_size: Fact<i64>,
        /// GPUs of each machine that it is started on.
        devices: Fact<i64>,
        /// Machines that it is started on.
        nodes: Fact<i64>,
        /// Processes that it is started as, over all machines.
        processes: Fact<i64>,
        /// Longest sequence in tokens.
        sequence_len: Fact<i64>,
        /// Whether short samples are packed into sequences of full length.
        packing: Fact<bool>,
        /// Optimizer as stated: adamw_torch, paged_adamw_8bit, adafactor …
        optimizer: Fact<String>,
        /// bf16 and fp16 (with 32-bit master weights), pure-bf16, pure-fp16, fp32.
        precision: Fact<String>,
        /// A precision of the other 16-bit type that is stated as well.
        other_precision: Fact<String>,
        /// Whose way of keeping weights, gradients and optimizer states: autocast (32-bit weights), as-loaded, autocast-or-loaded, deepspeed, fsdp, megatron.
        stack: Fact<String>,
        /// What is sharded over the data parallel ranks: 0 nothing, 1 optimizer states, 2 and gradients, 3 and weights (FSDP full shard).
        zero_stage: Fact<i64>,
        /// Tensor parallel size.
        tensor_parallel: Fact<i64>,
        /// Pipeline parallel size.
        pipeline_parallel: Fact<i64>,
        /// Context parallel size: GPUs that share one sequence.
        context_parallel: Fact<i64>,
        /// Layers of the model, where the run states its shape.
        layers: Fact<i64>,
        /// Attention heads of the model, where the run states its shape.
        heads: Fact<i64>,
        /// What makes pipeline stages of different lengths.
        uneven_stages: Fact<String>,
        /// Tensor parallel size of the engine that generates what is learnt from (reinforcement learning).
        rollout_tensor_parallel: Fact<i64>,
        /// That engine: vllm, sglang, trtllm, hf …
        rollout_engine: Fact<String>,
        /// Share of the GPU memory that it may take.
        rollout_memory_utilization: Fact<f64>,
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
        /// Whether the optimizer steps in the backward pass, as soon as a gradient is there.
        optimizer_in_backward: Fact<bool>,
        /// What its processes talk through: nccl, gloo …
        backend: Fact<String>,
        /// What it computes on: cuda, cpu …
        device: Fact<String>,
        /// Data parallel ranks that weights are sharded over; -1 for all that the rest leaves.
        data_parallel_shards: Fact<i64>,
        /// Groups of those ranks that hold the same weights.
        data_parallel_replicas: Fact<i64>,
        /// Whether a profiler runs along.
        profiled: Fact<bool>,
        /// Whether that profiler records what the GPUs do.
        profiled_gpus: Fact<bool>,
        /// Optimizer steps after which it ends.
        steps: Fact<i64>,
        /// Optimizer steps from one checkpoint to the next; 0 where it saves at other times.
        save_interval: Fact<i64>,
        /// Configuration files that it names.
        configs: Vec<Fact<String>>,
        /// What DeepSpeed's file states otherwise than the trainer that reads it: `train_micro_batch_size_per_gpu is 4, not 2`.
        conflicts: Vec<Fact<String>>,
    }
}

settings! {
    Training: model method objective quantization micro_batch_size accumulation_steps global_batch_size devices nodes
        processes sequence_len packing optimizer precision other_precision stack zero_stage tensor_parallel pipeline_parallel context_parallel layers heads uneven_stages sequence_parallel gradient_checkpointing
        activation_offload optimizer_offload parameter_offload lora_rank attention chunked_loss
        optimizer_in_backward backend device data_parallel_shards data_parallel_replicas profiled profiled_gpus rollout_tensor_parallel rollout_engine rollout_memory_utilization
        steps save_interval
}

impl Training {
    /// States a setting by its name and a text; one that runs do not have says nothing.
    pub fn set(&mut self, setting: &str, fact: Fact<String>) {
        match setting {
            "model" => self.model = fact.map(|name| name.trim_end_matches('/').to_owned()),
            "config" => self.configs.push(fact),
            _ => {
                self.state(setting, fact);
            }
        }
    }

    /// Whether it is the file of a library below the trainer, which says nothing of the trainer itself.
    pub fn is_part(&self) -> bool {
        self.trainer.get().is_some_and(|trainer| matches!(trainer.as_str(), "deepspeed" | "accelerate"))
    }
}
