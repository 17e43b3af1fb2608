//! What a model server takes of each GPU, and whether it starts. Knows how engines decide; defaults by release are rows
//! of the catalog.

use super::launch::{Between, Defaults};
use super::ledger::{ACTIVATIONS, CONTEXT, GRAPHS, REQUEST_TABLE};
use super::runtime::{body_peak, context, encoder_peak, graphs, non_torch, sampler_peak};
use super::{Architecture, Cache, DecidedBy, GIB, Parallel, Stored, Verdict, weight_bytes};
use crate::catalog::{self, Planner};

pub use super::launch::{Card, Launch};
pub use super::ledger::{KV_CACHE, Ledger, Line, Serving, WEIGHTS};

/// The ledger of a model server, per GPU. No verdict where the engine chooses the format of 16-bit weights by the GPU, and
/// the formats disagree.
pub fn ledger(shape: &Architecture, launch: &Launch, card: &Card) -> Ledger {
    let ledger = in_format(shape, launch, card);
    let formats = Defaults::new(launch, card).and_then(|defaults| defaults.text("formats"));
    let formats = formats.filter(|_| launch.format.bits == 16.0).unwrap_or_default().split_ascii_whitespace();
    let verdict = |format| in_format(shape, &Launch { format, ..launch.clone() }, card).verdict;
    match formats.filter_map(catalog::weight_format).find(|format| verdict(*format) != ledger.verdict) {
        Some(other) => {
            Ledger::unknown(format!("{} may choose {} weights, which change the verdict", launch.engine, other.name))
        }
        None => ledger,
    }
}

/// The ledger of a model of which only the number of parameters is known (a diffusion pipeline, an encoder): weights and
/// the CUDA context. Its activations are not modelled, so that it is not said to fit.
pub fn weights_only(parameters: f64, launch: &Launch, card: &Card) -> Ledger {
    let how = format!("{:.1}B parameters in {}", parameters / 1e9, launch.format.name);
    let weights = parameters * launch.format.bits / 8.0;
    let part = |name, bytes, how| Line { name, bytes, how };
    let parts = vec![part(WEIGHTS, weights, how), part(CONTEXT, context(), "CUDA context".to_owned())];
    let mut ledger = Ledger { parts, card: card.bytes, budget: card.bytes, ..Ledger::unknown("") };
    let left = card.bytes - ledger.total();
    ledger.compare(left, left, DecidedBy::Weights, "weights alone");
    if ledger.verdict == Verdict::Fits {
        ledger.reason = "its weights fit; its activations are not modelled".to_owned();
        ledger.verdict = Verdict::Unknown(ledger.reason.clone());
    }
    ledger
}

/// The ledger with the weights in the format of the launch.
fn in_format(shape: &Architecture, launch: &Launch, card: &Card) -> Ledger {
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
    // `0.8` may be any release of that series.
    let release = launch.version.as_ref().filter(|version| version.release().len() > 2);
    let since = catalog::model_supported_since(&launch.engine, &shape.name);
    if let Some((since, version)) = since.zip(release).filter(|(since, version)| *version < since) {
        return Ledger::unknown(format!(
            "{} {version} does not serve {}: {since} is the first",
            launch.engine, shape.name
        ));
    }
    let heads = heads_divide(shape, parallel.tensor);
    let planner = catalog::server(&launch.engine).and_then(|server| server.planner).unwrap_or(Planner::Plain);
    if parallel.tensor > 1 && planner != Planner::Layered && !heads {
        let mut ledger = Ledger::unknown(format!(
            "{} attention heads cannot be divided by a tensor parallel size of {}",
            shape.heads, parallel.tensor
        ));
        (ledger.verdict, ledger.decided_by, ledger.card) = (Verdict::DoesNotFit, Some(DecidedBy::Heads), card.bytes);
        return ledger;
    }
    let plan = Plan::new(shape, &defaults);
    let loading = plan.loading();
    let mut ledger = match planner {
        Planner::Profiled => plan.profiled(),
        Planner::StaticFraction => plan.static_fraction(),
        Planner::WarmedUp => plan.warmed_up(),
        Planner::ShareOfFree => plan.share_of_free(),
        Planner::Layered => plan.layered(),
        Planner::Plain => plan.plain(),
    };
    ledger.must_load(loading);
    ledger
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
        // Of releases that may start either of two engines the default that keeps less memory is taken.
        let fewest = || defaults.between("max_num_seqs").map(|between| between.least as u64);
        let sequences = launch.sequences.or_else(fewest).unwrap_or(1).min(batched);
        let stored = Stored {
            format: launch.format,
            plain_bytes: if launch.format.bits > 16.0 { 4.0 } else { 2.0 },
            engine_layout: catalog::server(&launch.engine).is_some_and(|server| server.own_layout),
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
                Some(DecidedBy::Utilization),
                "all of the card's memory leaves nothing for the CUDA context",
            );
        } else if self.weights + GIB / 2.0 > self.card() {
            ledger.decide(Verdict::DoesNotFit, Some(DecidedBy::Weights), "the weights do not fit on the card");
        } else if let Some(limit) = self.launch.cache_limit {
            ledger.compare(limit - request, limit - request, DecidedBy::Cache, "the cache that is asked for");
        } else if best <= 0.0 {
            ledger.compare(
                worst,
                best,
                if self.weights > ledger.budget { DecidedBy::Weights } else { DecidedBy::Activations },
                "what the engine may take",
            );
        } else {
            ledger.compare(worst - request, best - request, DecidedBy::Cache, "one request of the maximum length");
        }
        if ledger.verdict == Verdict::Fits && counted == 0.0 && self.graphs > outside {
            ledger.decide(
                Verdict::Tight,
                Some(DecidedBy::Graphs),
                "CUDA graphs are captured outside of the budget, and may not fit",
            );
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
        ledger.compare(available, available, DecidedBy::Weights, what);
        let request = cache.request(self.length, self.batched);
        if ledger.verdict == Verdict::Fits && available < request {
            ledger.decide(
                Verdict::Tight,
                Some(DecidedBy::Cache),
                "the cache holds less than one request of the maximum length",
            );
        }
        let outside = self.card() - budget;
        let table = self.request_table(cache.tokens(available));
        ledger.parts.push(Line {
            name: REQUEST_TABLE,
            bytes: table,
            how: "a slot of every request for every position".into(),
        });
        if table > outside {
            ledger.compare(
                outside - table,
                outside - table,
                DecidedBy::Cache,
                "the table of requests beside weights and cache",
            );
        }
        if ledger.verdict == Verdict::Fits && body + self.graphs + table > outside {
            ledger.decide(
                Verdict::Tight,
                Some(DecidedBy::Activations),
                "activations and CUDA graphs do not fit beside the share of weights and cache",
            );
        }
        ledger
    }

    /// SGLang's table from requests and positions to cache slots, 4 bytes each (`ReqToTokenPool`): as many requests as
    /// asked for, else 512 for each that fits at full length, within bounds.
    fn request_table(&self, tokens: u64) -> f64 {
        let bounds = self.defaults.between("request_slots").unwrap_or(Between { least: 0.0, most: 0.0 });
        let fitting = (tokens as f64 / self.length as f64 * 512.0).clamp(bounds.least, bounds.most);
        self.launch.sequences.map_or(fitting, |asked| asked as f64) * self.length as f64 * 4.0
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
        let by = if available <= 0.0 { DecidedBy::Activations } else { DecidedBy::Cache };
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
        ledger.compare(free, free, DecidedBy::Weights, "weights and activations");
        if ledger.verdict == Verdict::Fits && free * share < cache.request(self.length, self.batched) {
            ledger.decide(
                Verdict::Tight,
                Some(DecidedBy::Cache),
                "the cache holds less than one request of the maximum length",
            );
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
        // llama.cpp divides its context among the requests, Ollama gives each one its own.
        let each = catalog::server(&self.launch.engine).is_some_and(|server| server.context_each);
        let sequences = self.launch.sequences.filter(|_| each).unwrap_or(1) as f64;
        let request = one.request(self.length, self.batched) * sequences * there / gpus;
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
        ledger.compare(available - request, available - request, DecidedBy::Weights, "layers, cache and buffer");
        if ledger.verdict == Verdict::DoesNotFit && self.launch.gpu_layers.is_none() {
            ledger.decide(Verdict::Tight, Some(DecidedBy::Weights), "not every layer fits: some will run on the CPU");
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
        ledger.compare(available - request, available - request, DecidedBy::Weights, "weights and one batch");
        ledger
    }

    /// Bytes on the card at the worst moment of loading, where weights are quantized after they were read: all of them in 16
    /// bits, in some releases beside the quantized ones, in later ones a layer at a time (vllm-project/vllm#31914).
    fn loading(&self) -> Option<f64> {
        let format = Launch::new("").format;
        let plain = Stored { format, plain_bytes: 2.0, engine_layout: true };
        let whole = || weight_bytes(self.shape, &plain, &self.launch.parallel) + self.non_torch;
        match self.defaults.text("online_quantization").filter(|_| self.launch.online)? {
            "whole" => Some(whole()),
            "whole-and-quantized" => Some(whole() + self.weights),
            _ => None,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    fn verdict(
        engine: &str,
        version: &str,
        model: &str,
        (gpu, tensor): (&str, u64),
        change: fn(&mut Launch),
    ) -> Verdict {
        let shape = Architecture::find(model).expect(model);
        let mut launch = Launch {
            version: Version::parse(version),
            parallel: Parallel { tensor, ..Parallel::ONE },
            ..Launch::new(engine)
        };
        change(&mut launch);
        ledger(&shape, &launch, &Card::find(gpu).expect(gpu)).verdict
    }

    fn quantized_while_loading(launch: &mut Launch) {
        launch.format = catalog::weight_format("fp8").expect("a row");
        (launch.online, launch.length, launch.sequences) = (true, Some(2048), Some(16));
    }

    #[test]
    fn weights_that_are_quantized_after_loading_must_fit_before() {
        let of = |version, gpu| verdict("vllm", version, "Qwen/Qwen2.5-14B-Instruct", gpu, quantized_while_loading);
        assert_eq!(of("0.11.0", ("L4", 1)), Verdict::DoesNotFit, "28 GiB in 16 bits");
        assert_eq!(of("0.17.0", ("L4", 1)), Verdict::Fits, "one layer at a time");
        assert_eq!(of("0.11.0", ("A100-SXM4-40GB", 1)), Verdict::Fits);
        assert_eq!(of("0.14.0", ("A100-SXM4-40GB", 1)), Verdict::DoesNotFit, "both copies at once");
    }

    #[test]
    fn ten_million_positions_take_a_table_that_no_card_holds() {
        let scout = "meta-llama/Llama-4-Scout-17B-16E-Instruct";
        let of = |change| verdict("sglang", "0.4.5", scout, ("H100-SXM", 8), change);
        assert_eq!(of(|_| ()), Verdict::DoesNotFit, "2048 requests x 10,485,760 positions x 4 bytes = 80 GiB");
        assert_eq!(of(|launch| launch.length = Some(131_072)), Verdict::Fits);
    }

    #[test]
    fn a_release_that_does_not_serve_the_model_has_no_verdict() {
        let of = |version| {
            verdict("vllm", version, "Qwen/Qwen3-VL-2B-Instruct", ("H100-SXM", 1), |launch| launch.length = Some(8192))
        };
        assert!(matches!(of("0.10.2"), Verdict::Unknown(_)));
        assert_eq!(of("0.11.0"), Verdict::Fits);
        assert_eq!(of("0.10"), Verdict::Fits, "may be any of the series");
    }
}
