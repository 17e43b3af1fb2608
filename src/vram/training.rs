//! Memory of one GPU in a training run: weights, gradients, optimizer states, activations, logits. Knows trainers only by
//! what the catalog says of their defaults.
//!
//! Bytes per parameter follow ZeRO (Rajbhandari et al., arXiv 1910.02054, section 3.1), activations follow Korthikanti et
//! al. (arXiv 2205.05198, section 4), both counted again for gated feed-forwards, grouped queries and adapters.

use super::run::{Activations, Method, Precision, Run, Spread, Stack};
use super::serving::{Ledger, Line};
use super::{Architecture, DecidedBy, GIB, TIGHT, Verdict};

/// CUDA context and library workspaces: between the peak that PyTorch reports (0.3 GiB above the tensors) and what
/// nvidia-smi shows (1.2 GiB) in measured runs.
const PROCESS: f64 = 1.0 * GIB;

/// The least that a CUDA context takes.
const CONTEXT: f64 = 0.3 * GIB;

/// NCCL's buffers and channels where several GPUs take part.
const COMMUNICATION: f64 = 0.5 * GIB;

/// Elements of a reduce or gather bucket: `reduce_bucket_size` and `allgather_bucket_size` of DeepSpeed.
const BUCKET: f64 = 5e8;

/// Tokens of which a chunked loss holds the logits at once.
const LOSS_CHUNK: f64 = 512.0;

/// The ledger of a run, held against the memory of one GPU in bytes.
///
/// It does not fit when what no shorter sample takes away is more than the GPU has; above [`TIGHT`]
/// of the GPU it is tight. Where the verdict hangs on something that is not known, it is unknown.
pub fn ledger(shape: &Architecture, run: &Run, card: f64) -> Ledger {
    let peak = peak(shape, run);
    let judge = |peak: &Peak, more: f64| match peak.certain + more > card {
        true => Verdict::DoesNotFit,
        false if peak.total() + more > card * TIGHT => Verdict::Tight,
        false => Verdict::Fits,
    };
    let verdict = judge(&peak, 0.0);
    let changed = |run: Run| judge(&self::peak(shape, &run), 0.0) != verdict;
    let sharded = Spread { zero_stage: Some(3), ..run.spread };
    let open = if shape.linear_layers > 0 {
        Some("layers with a recurrent state are not modelled")
    } else if run.spread.zero_stage.is_none() && changed(Run { spread: sharded, ..run.clone() }) {
        Some("it depends on the ZeRO stage, which is not stated")
    } else if run.stack == Stack::Either && changed(Run { stack: Stack::AsLoaded, ..run.clone() }) {
        Some("it depends on whether the script loads the weights in 32 or in 16 bits")
    } else if judge(&peak, unquantized_experts(shape, run)) != verdict {
        Some("it depends on whether the experts are quantized, which differs between versions of transformers")
    } else {
        None
    };
    let reason = open.map_or_else(|| format!("{:.1} GiB of {:.1} GiB", peak.total() / GIB, card / GIB), str::to_owned);
    let verdict = if open.is_some() { Verdict::Unknown(reason.clone()) } else { verdict };
    let decided_by = if verdict == Verdict::Fits { None } else { Some(peak.decided_by(card * TIGHT)) };
    Ledger { verdict, reason, decided_by, parts: peak.parts, card, budget: card, serving: None }
}

/// A change to a run.
type Change = fn(&Run) -> Option<(String, Run)>;

/// One change after which a run fits, the gentlest first, with its ledger. `None` when none of them is enough.
pub fn remedy(shape: &Architecture, run: &Run, card: f64) -> Option<(String, Ledger)> {
    const CHANGES: &[Change] =
        &[checkpointing, one_at_a_time, full_sharding, eight_bit_states, host_states, adapters, qlora];
    CHANGES.iter().filter_map(|change| change(run)).find_map(|(what, changed)| {
        let ledger = ledger(shape, &changed, card);
        (ledger.verdict == Verdict::Fits).then_some((what, ledger))
    })
}

fn checkpointing(run: &Run) -> Option<(String, Run)> {
    let changed = Run { activations: Activations::Checkpointed, ..run.clone() };
    (run.activations == Activations::Kept).then(|| ("gradient checkpointing".to_owned(), changed))
}

fn one_at_a_time(run: &Run) -> Option<(String, Run)> {
    let activations = if run.activations == Activations::Kept { Activations::Checkpointed } else { run.activations };
    let what = "a micro batch of 1, gradient checkpointing and more accumulation steps".to_owned();
    (run.micro_batch > 1).then(|| (what, Run { micro_batch: 1, activations, ..run.clone() }))
}

fn full_sharding(run: &Run) -> Option<(String, Run)> {
    let spread = Spread { zero_stage: Some(3), ..run.spread };
    let what = format!("ZeRO stage 3 (FSDP full shard) over {} GPUs", run.spread.data);
    (run.spread.data > 1 && run.spread.zero_stage != Some(3)).then(|| (what, Run { spread, ..run.clone() }))
}

fn eight_bit_states(run: &Run) -> Option<(String, Run)> {
    let changed = Run { state_bytes: (2.0, 2.0), ..run.clone() };
    (run.method == Method::Full && run.state_bytes.0 > 2.0)
        .then(|| ("an 8-bit optimizer (adamw_8bit)".to_owned(), changed))
}

fn host_states(run: &Run) -> Option<(String, Run)> {
    let sharded = run.spread.zero_stage.unwrap_or(0) >= 2 && !run.optimizer_offload;
    sharded.then(|| ("optimizer states in host memory".to_owned(), Run { optimizer_offload: true, ..run.clone() }))
}

fn adapters(run: &Run) -> Option<(String, Run)> {
    (run.method == Method::Full).then(|| smallest(Run { method: Method::Lora(16), ..run.clone() }, "LoRA of rank 16"))
}

fn qlora(run: &Run) -> Option<(String, Run)> {
    let frozen_bits = crate::catalog::weight_format("nf4")?.bits;
    let method = if run.method == Method::Full { Method::Lora(16) } else { run.method };
    let changed = Run { method, frozen_bits, ..run.clone() };
    (run.frozen_bits >= 16.0).then(|| smallest(changed, "QLoRA (4-bit weights)"))
}

/// A method with the smallest activations.
fn smallest(run: Run, method: &str) -> (String, Run) {
    let activations = if run.activations == Activations::Kept { Activations::Checkpointed } else { run.activations };
    let batch = if run.micro_batch > 1 { " and a micro batch of 1" } else { "" };
    (format!("{method} with gradient checkpointing{batch}"), Run { activations, micro_batch: 1, ..run })
}

/// What is added up at the fullest moment.
struct Peak {
    parts: Vec<Line>,
    /// Bytes of which no shorter sample takes anything away.
    certain: f64,
}

/// Parts that shrink with the batch and its sequences.
const FLOWING: &[&str] = &["activations", "logits", "layer in work"];

impl Peak {
    /// What decides: the flowing parts when the others alone are below a limit.
    fn decided_by(&self, limit: f64) -> DecidedBy {
        let fixed: f64 = self.parts.iter().filter(|p| !FLOWING.contains(&p.name)).map(|part| part.bytes).sum();
        if fixed < limit { DecidedBy::Activations } else { DecidedBy::Weights }
    }

    fn total(&self) -> f64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// The largest of three moments: the loss (saved activations and logits), the backward pass of a layer (saved activations
/// and that layer's own), the optimizer step.
fn peak(shape: &Architecture, run: &Run) -> Peak {
    let states = states(shape, run);
    let flow = activations(shape, run);
    let spread = run.spread;
    let several = spread.data > 1 || spread.tensor > 1 || spread.pipeline > 1;
    let tokens = format!("{} x {} tokens", run.micro_batch, run.sequence);
    let (moment, second) =
        if flow.logits > flow.layer { ("logits", flow.logits) } else { ("layer in work", flow.layer) };
    let mut parts = vec![
        part("weights", states.weights, "frozen or trained"),
        part("adapters", states.adapters, "trained"),
        part("gradients", states.gradients, "of what is trained"),
        part("optimizer states", states.optimizer, "with master weights where there are any"),
        part("gathered layers", states.gathered, "unsharded while in work"),
        part("buckets", states.buckets, "to reduce and gather"),
    ];
    if states.step > flow.saved + second {
        parts.push(part("step", states.step, "32-bit copy of the gradients"));
    } else {
        parts.push(part("activations", flow.saved, &tokens));
        parts.push(part(moment, second, &tokens));
    }
    let tensors: f64 = parts.iter().map(|part| part.bytes).sum();
    parts.push(part("allocator", tensors * FRAGMENTS, "blocks that cannot be handed out again"));
    parts.push(part("context", PROCESS + if several { COMMUNICATION } else { 0.0 }, "CUDA and libraries"));
    parts.retain(|part| part.bytes > 0.0);
    let fixed = states.weights + states.adapters + states.gradients + states.optimizer + CONTEXT;
    let flowing = if run.packed { (flow.saved + second) * CERTAIN } else { 0.0 };
    Peak { parts, certain: fixed + flowing }
}

fn part(name: &'static str, bytes: f64, how: &str) -> Line {
    Line { name, bytes, how: how.to_owned() }
}

/// What experts take more where they are one tensor of all, which bitsandbytes leaves in 16 bits: it replaces
/// `torch.nn.Linear` only.
fn unquantized_experts(shape: &Architecture, run: &Run) -> f64 {
    if run.method == Method::Full || run.frozen_bits >= 16.0 {
        return 0.0;
    }
    let model = (run.spread.tensor * run.spread.pipeline) as f64;
    shape.parameters().experts as f64 * (2.0 - run.frozen_bits / 8.0) / model
}

/// Share of what is allocated that the caching allocator holds beyond it: rounding and fragments, at the low end of what
/// GMLake (arXiv 2401.08156, section 2) measured.
const FRAGMENTS: f64 = 0.05;

/// Share of the estimated activations that is certain when sequences are full: nine of ten measured runs are within 30 %.
const CERTAIN: f64 = 0.7;

/// Weights, gradients and optimizer states of one GPU, in bytes.
struct States {
    weights: f64,
    adapters: f64,
    gradients: f64,
    optimizer: f64,
    gathered: f64,
    buckets: f64,
    step: f64,
}

/// Bytes per parameter, and what each ZeRO stage divides (arXiv 1910.02054, sections 3.1 and 5).
fn states(shape: &Architecture, run: &Run) -> States {
    let (weights, trained) = (frozen(shape, run), trained(shape, run));
    let spread = run.spread;
    let zero = spread.zero_stage.unwrap_or(0);
    let stage = |bytes: f64, from: u64| if zero >= from { bytes / spread.data as f64 } else { bytes };
    let model = (spread.tensor * spread.pipeline) as f64;
    let parallel = |bytes: f64| bytes / model;
    let per = per_parameter(run);
    let host = |bytes: f64, offloaded: bool| if offloaded { 0.0 } else { bytes };
    let trained = parallel(trained);
    let (weights, adapters) = match run.method {
        Method::Full => (trained * per.weight, 0.0),
        Method::Lora(_) => (parallel(weights), trained * per.weight),
    };
    let buckets =
        if run.stack == Stack::DeepSpeed && matches!(zero, 1 | 2) { 2.0 * 2.0 * BUCKET.min(trained) } else { 0.0 };
    States {
        weights: host(stage(weights, 3), run.parameter_offload),
        adapters: stage(adapters, 3),
        gradients: host(stage(trained * per.gradient, 2), run.optimizer_offload && zero >= 2),
        optimizer: host(stage(trained * per.optimizer, 1), run.optimizer_offload),
        gathered: gathered(shape, run),
        buckets,
        step: host(stage(trained * per.step, 1), run.optimizer_offload),
    }
}

/// Bytes that the whole run keeps in host memory, over all nodes: master weights and optimizer states, gradients from stage
/// 2 on, and 16-bit weights, of what is offloaded (ZeRO-Offload, arXiv 2101.06840, section 3; ZeRO-Infinity, arXiv
/// 2104.07857, section 3). Pinned buffers come on top.
pub fn host_bytes(shape: &Architecture, run: &Run) -> f64 {
    let (per, trained) = (per_parameter(run), trained(shape, run));
    let states = if run.optimizer_offload { trained * per.optimizer } else { 0.0 };
    let sharded = run.optimizer_offload && run.spread.zero_stage.unwrap_or(0) >= 2;
    let gradients = if sharded { trained * per.gradient } else { 0.0 };
    let weights = match run.method {
        Method::Full => trained * per.weight,
        Method::Lora(_) => frozen(shape, run),
    };
    states + gradients + if run.parameter_offload { weights } else { 0.0 }
}

/// Bytes per trained parameter.
struct PerParameter {
    weight: f64,
    gradient: f64,
    optimizer: f64,
    step: f64,
}

/// 16 bytes with Adam for DeepSpeed and for 32-bit weights (arXiv 1910.02054, section 3.1), 18 where 16-bit copies or
/// 32-bit gradients come on top (PyTorch's autocast cache; Megatron-LM's main gradients), 8 where everything is 16-bit.
/// Adapters are kept in 32 bits beside a 16-bit model (`autocast_adapter_dtype` of PEFT), in the type of the model where
/// everything is.
fn per_parameter(run: &Run) -> PerParameter {
    let (full, half) = run.state_bytes;
    let of = |weight, gradient, optimizer, step| PerParameter { weight, gradient, optimizer, step };
    match (run.precision, run.stack) {
        (Precision::Single, _) => of(4.0, 4.0, full, 0.0),
        (Precision::Half, _) => of(2.0, 2.0, half, 0.0),
        (Precision::Mixed, _) if run.method != Method::Full => of(4.0, 4.0, full, 0.0),
        (Precision::Mixed, Stack::AsLoaded) => of(2.0, 2.0, half, 0.0),
        (Precision::Mixed, Stack::Autocast | Stack::Either) => of(6.0, 4.0, full, 0.0),
        (Precision::Mixed, Stack::Fsdp) => of(4.0, 4.0, full, 0.0),
        (Precision::Mixed, Stack::Megatron) => of(2.0, 4.0, 4.0 + full, 0.0),
        (Precision::Mixed, Stack::DeepSpeed) => of(2.0, 2.0, 4.0 + full, 4.0),
    }
}

/// Parameters that are trained. An adapter of rank r on an m x n matrix has r (m + n) (Hu et al., arXiv 2106.09685,
/// section 4.1); adapters on routed experts are not counted, which most trainers leave out.
fn trained(shape: &Architecture, run: &Run) -> f64 {
    let rank = match run.method {
        Method::Full => return total(shape),
        Method::Lora(rank) => rank,
    };
    let (query, keys) = (shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim);
    let attention = (shape.hidden + query) * 2 + (shape.hidden + keys) * 2;
    let matrices = if shape.gated { 3 } else { 2 };
    let width = shape.experts.map_or(0, |e| e.shared_ffn);
    let feed_forward = |width: u64| if width > 0 { matrices * (shape.hidden + width) } else { 0 };
    let layers = shape.layers * attention
        + shape.dense_layers() * feed_forward(shape.ffn)
        + shape.experts.map_or(0, |e| e.layers) * feed_forward(width);
    (rank * layers) as f64
}

/// All parameters: as published where the shape counts to fewer.
fn total(shape: &Architecture) -> f64 {
    shape.parameters().total().max(shape.published.unwrap_or(0)) as f64
}

/// Bytes of the frozen weights: linear layers at their bits, the rest at 16 (Dettmers et al., arXiv 2305.14314, section
/// 3: only linear layers of the body are quantized).
fn frozen(shape: &Architecture, run: &Run) -> f64 {
    let parameters = shape.parameters();
    let linear = (parameters.attention + parameters.dense + parameters.experts + parameters.shared) as f64;
    if run.frozen_bits >= 16.0 {
        return total(shape) * run.frozen_bits / 8.0;
    }
    let upcast = if run.upcast_embeddings { 2.0 } else { 0.0 };
    let wide = (parameters.embedding + parameters.head + parameters.norms) as f64 * upcast;
    linear * run.frozen_bits / 8.0 + (total(shape) - linear) * 2.0 + wide
}

/// What full sharding holds unsharded: the layer in work and the one fetched ahead, and the embeddings, which belong to
/// the outermost unit (Zhao et al., arXiv 2304.11277, sections 3.2 and 3.3).
fn gathered(shape: &Architecture, run: &Run) -> f64 {
    let spread = run.spread;
    let sharded = spread.zero_stage.unwrap_or(0) >= 3 && spread.data > 1 || run.parameter_offload;
    if !sharded {
        return 0.0;
    }
    let parameters = shape.parameters();
    let bytes = match run.method {
        Method::Lora(_) => run.frozen_bits.min(16.0) / 8.0,
        Method::Full if run.precision == Precision::Single => 4.0,
        Method::Full => 2.0,
    };
    let layer = parameters.body() as f64 / shape.layers.max(1) as f64;
    let units = 2.0 * layer * bytes + (parameters.embedding + parameters.head) as f64 * 2.0;
    units.min(total(shape) * bytes) / spread.tensor as f64
}

/// What flows through one GPU, in bytes.
struct Flow {
    /// Kept until the backward pass.
    saved: f64,
    /// Of one layer, while it is in work.
    layer: f64,
    /// Logits and what the loss makes of them.
    logits: f64,
}

/// Activations of one micro batch.
///
/// A layer keeps, per token, in 16 bits (arXiv 2205.05198, section 4.1: 34 h for a plain layer): input and output of
/// both norms (8 h) with the 32-bit copy that RMSNorm makes (8 h) or the dropout masks of a plain layer (2 h), queries and attention output (4 heads x width), keys and
/// values (4 kv heads x width), and the feed-forward: four vectors of its width with a gate (8 f), two without (4 f).
/// Without flash attention scores, softmax and dropout mask come on top (5 heads x tokens). With tensor parallelism the
/// 10 h outside of matrices are split only with sequence parallelism (section 4.2.2). A pipeline's first stage keeps as
/// many micro batches as there are stages, each of its share of the layers (section 4.2.3).
///
/// Logits: 16-bit logits, the 32-bit log-softmax that the backward pass needs, and two 32-bit gradients of it: 14 bytes.
fn activations(shape: &Architecture, run: &Run) -> Flow {
    let spread = run.spread;
    let tokens = (run.micro_batch * run.sequence) as f64;
    let width = if run.precision == Precision::Single { 2.0 } else { 1.0 };
    let (hidden, layers, vocabulary) = (shape.hidden as f64, shape.layers as f64, shape.vocab as f64);
    let head = |count: u64| (count * shape.head_dim) as f64;
    let feed_forward = shape.active_ffn() as f64 * if shape.gated { 8.0 } else { 4.0 };
    let norms = if shape.gated { 16.0 * hidden } else { 10.0 * hidden };
    let mut per_token = norms + 4.0 * head(shape.heads) + 4.0 * head(shape.kv_heads) + feed_forward;
    if !run.flash_attention {
        per_token += 5.0 * (shape.heads * run.sequence) as f64;
    }
    let tensor = spread.tensor as f64;
    let shared = if spread.sequence { 0.0 } else { 10.0 * hidden * (1.0 - 1.0 / tensor) };
    let layer = tokens * width * (per_token / tensor + shared);
    let inputs = tokens * width * 2.0 * hidden * layers / if spread.sequence { tensor } else { 1.0 };
    let logits = match run.chunked_loss {
        true => tokens.min(LOSS_CHUNK) * 10.0 * vocabulary,
        false => tokens * 14.0 * vocabulary,
    };
    let (saved, layer) = match run.activations {
        Activations::Kept => (layer * layers, 0.0),
        Activations::Checkpointed => (inputs, layer),
        Activations::Offloaded => (0.0, layer),
    };
    Flow { saved, layer, logits: logits / tensor }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn shape(model: &str) -> Architecture {
        Architecture::find(model).expect(model)
    }

    /// A run of an engine with settings, in a text of `name=value`.
    fn run(engine: &str, settings: &str) -> Run {
        let stated: BTreeMap<&str, &str> = settings.split_whitespace().filter_map(|s| s.split_once('=')).collect();
        Run::read(engine, |field| stated.get(field).map(|v| (*v).to_owned())).expect("a complete run")
    }

    fn gib(ledger: &Ledger, names: &[&str]) -> f64 {
        ledger.parts.iter().filter(|part| names.contains(&part.name)).map(|part| part.bytes).sum::<f64>() / GIB
    }

    const STATES: &[&str] = &["weights", "gradients", "optimizer states"];

    #[test]
    fn adam_takes_sixteen_bytes_per_parameter() {
        let model = shape("meta-llama/Llama-2-7b-hf");
        let parameters = model.parameters().total() as f64;
        for (engine, precision) in
            [("transformers", "fp32"), ("transformers+deepspeed", "bf16"), ("transformers+fsdp", "bf16")]
        {
            let run = run(engine, &format!("method=full precision={precision} micro_batch_size=1 sequence_len=512"));
            let states = gib(&ledger(&model, &run, 80.0 * GIB), STATES) * GIB;
            assert!((states / parameters - 16.0).abs() < 0.1, "{engine}: {}", states / parameters);
        }
    }

    #[test]
    fn bert_base_trains_in_six_to_eight_gib() {
        let run = run("transformers", "method=full precision=fp32 attention=eager micro_batch_size=8 sequence_len=384");
        let ledger = ledger(&shape("google-bert/bert-base-uncased"), &run, 16.0 * GIB);
        assert!((6.0..8.0).contains(&(ledger.total() / GIB)), "{ledger:#?}");
        assert_eq!(ledger.verdict, Verdict::Fits);
    }

    #[test]
    fn zero_divides_states_then_gradients_then_weights() {
        let model = shape("meta-llama/Llama-3.1-8B");
        let states = |stage: u32| {
            let settings = format!(
                "method=full precision=bf16 micro_batch_size=1 sequence_len=512 data_parallel=8 zero_stage={stage}"
            );
            gib(&ledger(&model, &run("transformers+deepspeed", &settings), 80.0 * GIB), STATES)
        };
        let parameters = model.parameters().total() as f64 / GIB;
        for (stage, bytes) in [(0, 16.0), (1, 4.0 + 12.0 / 8.0), (2, 2.0 + 14.0 / 8.0), (3, 2.0)] {
            assert!((states(stage) / parameters - bytes).abs() < 0.1, "stage {stage}: {}", states(stage) / parameters);
        }
    }

    #[test]
    fn verdicts_wait_for_what_decides_them() {
        let settings = "method=full precision=bf16 micro_batch_size=1 sequence_len=512 gradient_checkpointing=true";
        let model = shape("meta-llama/Llama-3.1-8B");
        let of = |engine, more: &str| ledger(&model, &run(engine, &format!("{settings} {more}")), 79.0 * GIB).verdict;
        assert_eq!(of("transformers+deepspeed", "zero_stage=2"), Verdict::DoesNotFit, "16 bytes x 8 billion");
        assert!(matches!(of("transformers+deepspeed", "data_parallel=8"), Verdict::Unknown(_)), "the stage decides");
        assert_eq!(of("transformers+deepspeed", "data_parallel=8 zero_stage=3"), Verdict::Fits);
        assert_eq!(of("transformers+deepspeed", "zero_stage=2 optimizer_offload=true"), Verdict::Fits);
        assert!(matches!(of("transformers", ""), Verdict::Unknown(_)), "weights loaded in 16 bits would fit");
    }

    #[test]
    fn the_remedy_is_a_change_after_which_it_fits() {
        let settings = "method=full precision=bf16 micro_batch_size=8 sequence_len=4096 zero_stage=2";
        let (what, after) =
            remedy(&shape("meta-llama/Llama-3.1-8B"), &run("transformers+deepspeed", settings), 79.0 * GIB)
                .expect("a remedy");
        assert_eq!(
            (what.as_str(), after.verdict),
            ("LoRA of rank 16 with gradient checkpointing and a micro batch of 1", Verdict::Fits)
        );
    }

    #[test]
    fn a_quantized_base_leaves_adapters_and_activations() {
        let settings = "method=qlora micro_batch_size=1 sequence_len=1024 gradient_checkpointing=true";
        let run = run("transformers", settings);
        let ledger = ledger(&shape("meta-llama/Llama-3.1-8B"), &run, 22.0 * GIB);
        assert!((5.0..10.0).contains(&gib(&ledger, &["weights"])), "{ledger:#?}");
        assert_eq!(ledger.verdict, Verdict::Fits);
    }

    #[test]
    fn offloaded_states_need_host_memory() {
        let settings =
            "method=full precision=bf16 micro_batch_size=1 sequence_len=512 zero_stage=3 optimizer_offload=true";
        let model = shape("meta-llama/Llama-3.1-8B");
        let bytes = host_bytes(&model, &run("transformers+deepspeed", settings)) / model.parameters().total() as f64;
        assert!((bytes - 14.0).abs() < 0.1, "{bytes}");
    }

    #[test]
    fn what_nothing_states_is_named() {
        let missing = Run::read("transformers", |field| (field == "method").then(|| "full".to_owned()));
        assert_eq!(missing.unwrap_err().to_string(), "the sequence length is not stated");
    }
}
