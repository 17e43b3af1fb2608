//! What a model server takes of each GPU, and whether it starts. Knows how engines decide; defaults by release are rows
//! of the catalog.

use super::runtime::{body_peak, context, encoder_peak, graphs, non_torch, sampler_peak};
use super::{Architecture, Cache, GIB, Parallel, Stored, Verdict, weight_bytes};
use crate::catalog::{self, WeightFormat};
use crate::version::Version;

/// A GPU, or the slice of one that a process sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// Id in the catalog, else the name as given.
    pub gpu: String,
    /// Bytes that CUDA reports as total.
    pub bytes: f64,
    /// Whether GPUs of a machine are joined by NVLink.
    pub nvlink: bool,
}

impl Card {
    /// A GPU of the catalog by any name. Cards whose total nobody logged: 98.5 % of nvidia-smi's figure, the median of
    /// those that somebody did.
    pub fn find(name: &str) -> Option<Self> {
        let gpu = catalog::gpu(name)?;
        let logged = catalog::gpu_total_gib(gpu.id).map(|gib| gib * GIB);
        let bytes = logged.or_else(|| Some(gpu.memory_mib? as f64 * 1024.0 * 1024.0 * 0.985))?;
        Some(Self { gpu: gpu.id.to_owned(), bytes, nvlink: gpu.nvlink_gbs.is_some_and(|speed| speed > 0) })
    }
}

/// How a server is started. What is not said is the engine's default.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// vllm, sglang, tgi, tensorrt-llm, nim, lmdeploy, aphrodite, llama.cpp, ollama, transformers, tei …
    pub engine: String,
    /// Its release.
    pub version: Option<Version>,
    /// Whether a release that has both engines of vLLM runs the old one (V0).
    pub v0: bool,
    /// Division over GPUs.
    pub parallel: Parallel,
    /// Format of the weights.
    pub format: WeightFormat,
    /// Whether 16-bit weights are quantized after they were loaded.
    pub online: bool,
    /// Bytes of an element of the cache.
    pub cache_bytes: f64,
    /// Longest request in tokens.
    pub length: Option<u64>,
    /// Share of the card's memory.
    pub utilization: Option<f64>,
    /// Sequences at once.
    pub sequences: Option<u64>,
    /// Tokens computed at once.
    pub batched: Option<u64>,
    /// Bytes of cache asked for outright (`--kv-cache-memory-bytes`).
    pub cache_limit: Option<f64>,
    /// Whether CUDA graphs are off.
    pub eager: bool,
    /// Whether LoRA adapters are served.
    pub lora: bool,
    /// Layers on the GPU (llama.cpp).
    pub gpu_layers: Option<u64>,
}

impl Launch {
    /// An engine with everything at its defaults, in 16 bits on one GPU.
    pub fn new(engine: &str) -> Self {
        Self {
            engine: engine.to_owned(),
            version: None,
            v0: false,
            parallel: Parallel::ONE,
            format: WeightFormat { name: "fp16", bits: 16.0, scope: catalog::Scope::All },
            online: false,
            cache_bytes: 2.0,
            length: None,
            utilization: None,
            sequences: None,
            batched: None,
            cache_limit: None,
            eager: false,
            lora: false,
            gpu_layers: None,
        }
    }
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What takes it.
    pub name: &'static str,
    /// Bytes on each GPU.
    pub bytes: f64,
    /// How it came about.
    pub how: String,
}

/// What each GPU holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// Whether it fits.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// What decided: weights, cache, heads, utilization, activations, graphs; empty when it fits.
    pub decided_by: &'static str,
    /// Its parts, largest concern first; the cache counts as one request of the maximum length.
    pub parts: Vec<Line>,
    /// Bytes of the card.
    pub card: f64,
    /// Bytes that the engine lets itself take.
    pub budget: f64,
    /// The server's part of it.
    pub serving: Option<Serving>,
}

/// The cache of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Serving {
    /// Longest request, given or by default.
    pub length: u64,
    /// Sequences at once.
    pub sequences: u64,
    /// Tokens computed at once.
    pub batched: u64,
    /// Bytes left for the cache; negative when there are none.
    pub available: f64,
    /// Bytes of one request of the maximum length.
    pub request: f64,
    /// Tokens that the engine will report.
    pub tokens: u64,
    /// The longest request that fits.
    pub longest: u64,
}

impl Ledger {
    /// A ledger that cannot be drawn up.
    pub fn unknown(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            verdict: Verdict::Unknown(reason.clone()),
            reason,
            decided_by: "",
            parts: Vec::new(),
            card: 0.0,
            budget: 0.0,
            serving: None,
        }
    }

    /// Bytes of a part; 0 for one that it does not have.
    pub fn part(&self, name: &str) -> f64 {
        self.parts.iter().filter(|part| part.name == name).map(|part| part.bytes).sum()
    }

    /// Bytes of all parts.
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// Two bounds of a term that is not known exactly.
#[derive(Debug, Clone, Copy)]
struct Between {
    least: f64,
    most: f64,
}

impl Between {
    /// One number, or two.
    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(str::parse::<f64>);
        let least = numbers.next()?.ok()?;
        Some(Self { least, most: numbers.next().and_then(Result::ok).unwrap_or(least) })
    }
}

/// Defaults of an engine's release on a card.
struct Defaults<'a> {
    launch: &'a Launch,
    card: &'a Card,
    version: Version,
}

impl<'a> Defaults<'a> {
    fn new(launch: &'a Launch, card: &'a Card) -> Option<Self> {
        let any = Version::parse("0")?;
        let assumed =
            || catalog::engine_default(&launch.engine, "assumed_version", &any, None).and_then(Version::parse);
        let version = launch.version.clone().or_else(assumed).unwrap_or(any);
        Some(Self { launch, card, version })
    }

    fn text(&self, setting: &str) -> Option<&'static str> {
        let card = Some((self.card.bytes / GIB, self.card.gpu.as_str()));
        catalog::engine_default(&self.launch.engine, setting, &self.version, card)
    }

    fn whole(&self, setting: &str) -> Option<u64> {
        self.text(setting)?.parse().ok()
    }

    fn between(&self, setting: &str) -> Option<Between> {
        Between::read(self.text(setting)?)
    }

    fn holds(&self, setting: &str) -> bool {
        self.text(setting) == Some("true")
    }
}

/// The ledger of a model server, per GPU.
pub fn ledger(shape: &Architecture, launch: &Launch, card: &Card) -> Ledger {
    if shape.linear_layers > 0 {
        return Ledger::unknown(format!(
            "{} mixes attention with recurrent layers, whose state is not modelled",
            shape.name
        ));
    }
    let parallel = launch.parallel;
    if parallel.tensor == 0 || parallel.pipeline == 0 || card.bytes <= 0.0 {
        return Ledger::unknown("no GPU to put it on");
    }
    let Some(defaults) = Defaults::new(launch, card) else { return Ledger::unknown("no defaults of the engine") };
    let heads = heads_divide(shape, parallel.tensor);
    if parallel.tensor > 1 && launch.engine != "llama.cpp" && launch.engine != "ollama" && !heads {
        let mut ledger = Ledger::unknown(format!(
            "{} attention heads cannot be divided by a tensor parallel size of {}",
            shape.heads, parallel.tensor
        ));
        (ledger.verdict, ledger.decided_by, ledger.card) = (Verdict::DoesNotFit, "heads", card.bytes);
        return ledger;
    }
    match launch.engine.as_str() {
        "vllm" | "aphrodite" => Plan::new(shape, &defaults).profiled(),
        "sglang" => Plan::new(shape, &defaults).static_fraction(),
        "tgi" => Plan::new(shape, &defaults).warmed_up(),
        "tensorrt-llm" | "nim" | "lmdeploy" => Plan::new(shape, &defaults).share_of_free(),
        "llama.cpp" | "ollama" => Plan::new(shape, &defaults).layered(),
        _ => Plan::new(shape, &defaults).plain(),
    }
}

/// Whether every GPU gets equally many query heads.
pub fn heads_divide(shape: &Architecture, tensor: u64) -> bool {
    shape.heads.is_multiple_of(tensor)
}

/// A ledger in the making.
struct Plan<'a> {
    shape: &'a Architecture,
    launch: &'a Launch,
    defaults: &'a Defaults<'a>,
    length: u64,
    sequences: u64,
    batched: u64,
    weights: f64,
    non_torch: f64,
    graphs: f64,
}

impl<'a> Plan<'a> {
    fn new(shape: &'a Architecture, defaults: &'a Defaults<'a>) -> Self {
        let launch = defaults.launch;
        let longest = defaults.whole("longest_default_len").unwrap_or(u64::MAX);
        let of_model = || shape.max_position.map(|positions| positions.min(longest));
        let length = launch
            .length
            .or_else(|| defaults.whole("max_model_len"))
            .or_else(of_model)
            .unwrap_or(2048)
            .clamp(1, 1 << 26);
        let chunks = defaults.whole("chunked_prefill_tokens").filter(|_| length > 32_768);
        let by_length = || chunks.unwrap_or(length.max(2048));
        let batched = launch.batched.or_else(|| defaults.whole("max_num_batched_tokens")).unwrap_or_else(by_length);
        let sequences = launch.sequences.or_else(|| defaults.whole("max_num_seqs")).unwrap_or(1).min(batched);
        let stored = Stored {
            format: launch.format,
            plain_bytes: if launch.format.bits > 16.0 { 4.0 } else { 2.0 },
            engine_layout: matches!(launch.engine.as_str(), "vllm" | "aphrodite" | "sglang"),
        };
        Self {
            shape,
            launch,
            defaults,
            length,
            sequences,
            batched,
            // Buffers for adapters: 6.25 GiB instead of 6.02 on a 3B model.
            weights: weight_bytes(shape, &stored, &launch.parallel) * if launch.lora { 1.037 } else { 1.0 },
            non_torch: non_torch(&launch.parallel, defaults.card.nvlink),
            graphs: if launch.eager { 0.0 } else { graphs(shape) },
        }
    }

    fn cache(&self, block: u64) -> Cache<'a> {
        let chunked = self.shape.sliding.is_some_and(|s| s.chunked);
        let setting = if chunked { "chunked_attention_apart" } else { "sliding_apart" };
        Cache {
            shape: self.shape,
            parallel: self.launch.parallel,
            bytes: self.launch.cache_bytes,
            block,
            windows: self.defaults.holds(setting),
            expanded: self.defaults.holds("latent_expanded"),
        }
    }

    fn card(&self) -> f64 {
        self.defaults.card.bytes
    }

    fn utilization(&self, otherwise: f64) -> Between {
        let given = self.launch.utilization.map(|share| Between { least: share, most: share });
        given
            .or_else(|| self.defaults.between("gpu_memory_utilization"))
            .unwrap_or(Between { least: otherwise, most: otherwise })
    }

    /// vLLM: a profile run at the largest batch, then the cache takes what is left of the budget; it must hold one request
    /// (`determine_available_memory`, `check_enough_kv_cache_memory`).
    fn profiled(self) -> Ledger {
        let v1 = self.defaults.holds("v1") && !self.launch.v0;
        let body = body_peak(self.shape, self.batched, self.launch.parallel.tensor);
        // The chunked profile run of V0 never reaches the sampler.
        let samples = v1 || self.batched >= self.length;
        let each =
            self.defaults.between("sampler_bytes").filter(|_| samples).unwrap_or(Between { least: 0.0, most: 0.0 });
        let sampler = |each| sampler_peak(self.shape, self.sequences, each);
        let encoder = encoder_peak(self.shape, self.length);
        let peak =
            Between { least: body.max(sampler(each.least)) + encoder, most: body.max(sampler(each.most)) + encoder };
        let how = if sampler(each.most) > body {
            format!("sampling {} sequences over {} entries of the vocabulary", self.sequences, self.shape.vocab)
        } else {
            format!("a batch of {} tokens", self.batched)
        };
        let counted = if self.defaults.holds("graphs_in_budget") { self.graphs } else { 0.0 };
        let share = self.utilization(0.9);
        let left = |share: f64, peak: f64| share * self.card() - self.weights - peak - self.non_torch - counted;
        let (worst, best) = (left(share.least, peak.most), left(share.most, peak.least));
        let cache = self.cache(16);
        let request = cache.request(self.length, self.batched);
        let available = self.launch.cache_limit.unwrap_or(worst);
        let mut ledger = self.ledger(peak.most, how, &cache, available);
        ledger.budget = share.least * self.card();
        let outside = self.card() - ledger.budget;
        if share.most >= 0.995 {
            ledger.decide(
                Verdict::DoesNotFit,
                "utilization",
                "all of the card's memory leaves nothing for the CUDA context",
            );
        } else if self.weights + GIB / 2.0 > self.card() {
            ledger.decide(Verdict::DoesNotFit, "weights", "the weights do not fit on the card");
        } else if let Some(limit) = self.launch.cache_limit {
            ledger.compare(limit - request, limit - request, "cache", "the cache that is asked for");
        } else if best <= 0.0 {
            ledger.compare(
                worst,
                best,
                if self.weights > ledger.budget { "weights" } else { "activations" },
                "what the engine may take",
            );
        } else {
            ledger.compare(worst - request, best - request, "cache", "one request of the maximum length");
        }
        if ledger.verdict == Verdict::Fits && counted == 0.0 && self.graphs > outside {
            ledger.decide(Verdict::Tight, "graphs", "CUDA graphs are captured outside of the budget, and may not fit");
        }
        if ledger.verdict == Verdict::Fits && self.launch.online && self.plain_weights() > self.card() {
            ledger.decide(Verdict::Tight, "weights", "weights that are quantized while loading take 16 bits first");
        }
        ledger
    }

    /// SGLang: weights and cache take a fixed share, graphs and activations live in the rest
    /// (`mem_fraction_static`; its default follows `ServerArgs._handle_gpu_memory_settings`).
    fn static_fraction(self) -> Ledger {
        let batch = self.defaults.whole("cuda_graph_max_batch").unwrap_or(256) as f64;
        let mib = 512.0
            + 1.5 * self.batched.max(2048) as f64
            + 2.0 * batch
            + self.launch.parallel.gpus() as f64 / 8.0 * 1024.0;
        let least = if self.card() > 60.0 * GIB { 10.0 * GIB } else { 0.0 };
        let reserved = (mib * 1024.0 * 1024.0).max(least);
        let share = self.utilization(((self.card() - reserved) / self.card()).max(0.1)).least;
        let budget = share * self.card();
        let cache = self.cache(1);
        let available = budget - self.weights - self.non_torch;
        let body = body_peak(self.shape, self.batched, self.launch.parallel.tensor);
        let mut ledger = self.ledger(body, format!("a chunk of {} tokens", self.batched), &cache, available);
        ledger.budget = budget;
        let what = "weights and cache in their share of the card";
        ledger.compare(available, available, "weights", what);
        let request = cache.request(self.length, self.batched);
        if ledger.verdict == Verdict::Fits && available < request {
            ledger.decide(Verdict::Tight, "cache", "the cache holds less than one request of the maximum length");
        }
        if ledger.verdict == Verdict::Fits && body + self.graphs > self.card() - budget {
            ledger.decide(
                Verdict::Tight,
                "activations",
                "activations and CUDA graphs do not fit beside the share of weights and cache",
            );
        }
        ledger
    }

    /// Text Generation Inference: a warm-up over the largest prefill, with logits of every token in 32 bits, then the rest is
    /// cache, which must hold one request.
    fn warmed_up(self) -> Ledger {
        let share = self.utilization(1.0).least;
        let logits = self.batched as f64 * self.shape.vocab as f64 * 4.0;
        let peak = body_peak(self.shape, self.batched, self.launch.parallel.tensor) + logits;
        let cache = self.cache(16);
        let available = share * self.card() - self.weights - peak - self.non_torch;
        let mut ledger =
            self.ledger(peak, format!("warm-up over {} tokens with their logits", self.batched), &cache, available);
        ledger.budget = share * self.card();
        let by = if available <= 0.0 { "activations" } else { "cache" };
        let slack = available - cache.request(self.length, self.batched);
        ledger.compare(slack, slack, by, "one request of the maximum length");
        ledger
    }

    /// TensorRT-LLM, NIM, LMDeploy: the cache takes a share of what is free once the engine is loaded; longer requests are
    /// turned away, not refused at the start.
    fn share_of_free(self) -> Ledger {
        let share = self.utilization(0.9).least;
        let peak = body_peak(self.shape, self.batched, self.launch.parallel.tensor);
        let free = self.card() - self.weights - peak - self.non_torch;
        let cache = self.cache(64);
        let mut ledger = self.ledger(peak, format!("a batch of {} tokens", self.batched), &cache, free * share);
        ledger.budget = self.card();
        ledger.compare(free, free, "weights", "weights and activations");
        if ledger.verdict == Verdict::Fits && free * share < cache.request(self.length, self.batched) {
            ledger.decide(Verdict::Tight, "cache", "the cache holds less than one request of the maximum length");
        }
        ledger
    }

    /// llama.cpp and Ollama: layers are spread over the GPUs with their cache; one compute buffer on each. The token embedding
    /// stays in the memory of the host.
    fn layered(mut self) -> Ledger {
        let layers = self.shape.layers + 1;
        let there = self.launch.gpu_layers.map_or(1.0, |n| n.min(layers) as f64 / layers as f64);
        let bits = self.launch.format.bits / 8.0;
        let embedding = if self.shape.tied { 0.0 } else { (self.shape.vocab * self.shape.hidden) as f64 * bits };
        let gpus = self.launch.parallel.gpus() as f64;
        self.weights = (self.weights - embedding / gpus) * there;
        self.graphs = 0.0;
        self.non_torch = context();
        let one = Cache { parallel: Parallel::ONE, ..self.cache(1) };
        let request = one.request(self.length, self.batched) * self.launch.sequences.unwrap_or(1) as f64 * there / gpus;
        let buffer = self.batched as f64 * (self.shape.vocab as f64 * 4.0 + 16.0 * self.shape.hidden as f64);
        let available = self.card() - self.weights - buffer - self.non_torch;
        let mut ledger = self.ledger(buffer, format!("one buffer for {} tokens", self.batched), &one, available);
        for part in ledger.parts.iter_mut().filter(|part| part.name == KV_CACHE) {
            part.bytes = request;
        }
        if let Some(serving) = &mut ledger.serving {
            serving.request = request;
        }
        ledger.budget = self.card();
        ledger.compare(available - request, available - request, "weights", "layers, cache and buffer");
        if ledger.verdict == Verdict::DoesNotFit && self.launch.gpu_layers.is_none() {
            ledger.decide(Verdict::Tight, "weights", "not every layer fits: some will run on the CPU");
        }
        ledger
    }

    /// A plain process (transformers, diffusers, embedding servers): weights, one batch of activations with its cache, and the
    /// CUDA context.
    fn plain(mut self) -> Ledger {
        self.graphs = 0.0;
        self.non_torch = context();
        let cache = self.cache(1);
        let sequences = self.launch.sequences.unwrap_or(1);
        let tokens = self.launch.batched.unwrap_or(self.length * sequences);
        let peak = body_peak(self.shape, tokens, self.launch.parallel.tensor);
        let request = cache.request(self.length, tokens) * sequences as f64;
        let available = self.card() - self.weights - peak - self.non_torch;
        let mut ledger = self.ledger(peak, format!("a batch of {tokens} tokens"), &cache, available);
        ledger.budget = self.card();
        ledger.compare(available - request, available - request, "weights", "weights and one batch");
        ledger
    }

    fn plain_weights(&self) -> f64 {
        let format = Launch::new("").format;
        weight_bytes(self.shape, &Stored { format, plain_bytes: 2.0, engine_layout: true }, &self.launch.parallel)
    }

    fn ledger(&self, peak: f64, how: String, cache: &Cache<'_>, available: f64) -> Ledger {
        let parallel = self.launch.parallel;
        let request = cache.request(self.length, self.batched);
        let parameters = self.shape.parameters().total() as f64 / 1e9;
        let divided = if parallel.gpus() > 1 { format!(" over {} GPUs", parallel.gpus()) } else { String::new() };
        let part = |name, bytes, how| Line { name, bytes, how };
        let mut parts = vec![
            part(WEIGHTS, self.weights, format!("{parameters:.1}B parameters in {}{divided}", self.launch.format.name)),
            part(
                KV_CACHE,
                request,
                format!("one request of {} tokens at {:.0} bytes", self.length, request / self.length as f64),
            ),
            part(ACTIVATIONS, peak, how),
            part(
                CONTEXT,
                self.non_torch,
                if parallel.gpus() > 1 { "CUDA context and NCCL".into() } else { "CUDA context".into() },
            ),
        ];
        if self.graphs > 0.0 {
            parts.push(part(GRAPHS, self.graphs, "captured decode steps".to_owned()));
        }
        Ledger {
            parts,
            card: self.card(),
            serving: Some(Serving {
                length: self.length,
                sequences: self.sequences,
                batched: self.batched,
                available,
                request,
                tokens: cache.tokens(available),
                longest: cache.longest(available, self.batched),
            }),
            ..Ledger::unknown("")
        }
    }
}

/// Name of the weights in a ledger.
pub const WEIGHTS: &str = "weights";
/// Name of the cache in a ledger.
pub const KV_CACHE: &str = "KV cache";
/// Name of the activations in a ledger.
pub const ACTIVATIONS: &str = "activations";
/// Name of what CUDA and NCCL take in a ledger.
pub const CONTEXT: &str = "context";
/// Name of the CUDA graphs in a ledger.
pub const GRAPHS: &str = "CUDA graphs";

impl Ledger {
    fn decide(&mut self, verdict: Verdict, by: &'static str, reason: &str) {
        (self.verdict, self.decided_by, self.reason) = (verdict, by, reason.to_owned());
    }

    /// Decides by what is left over, in the worst and in the best case.
    pub(super) fn compare(&mut self, worst: f64, best: f64, by: &'static str, what: &str) {
        let close = 0.02 * self.card + 0.5 * GIB;
        let gib = |bytes: f64| bytes.abs() / GIB;
        if best < -close {
            self.decide(Verdict::DoesNotFit, by, &format!("{what}: {:.1} GiB short", gib(best)));
        } else if worst > close {
            self.decide(Verdict::Fits, "", &format!("{:.1} GiB to spare", gib(worst)));
        } else if worst < 0.0 && best > 0.0 {
            self.decide(
                Verdict::Tight,
                by,
                &format!("{what}: between {:.1} GiB short and {:.1} GiB to spare", gib(worst), gib(best)),
            );
        } else {
            let side = if worst < 0.0 { "short" } else { "to spare" };
            self.decide(
                Verdict::Tight,
                by,
                &format!("{what}: {:.1} GiB {side}, within the error of the estimate", gib(worst)),
            );
        }
    }
}
