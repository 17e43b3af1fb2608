//! How a server is started on which GPU, and what its release does when nothing is said. Knows no formula.

use super::{GIB, Parallel};
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

/// Two bounds of a term that is not known exactly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Between {
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Between {
    /// One number, or two.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(str::parse::<f64>);
        let least = numbers.next()?.ok()?;
        Some(Self { least, most: numbers.next().and_then(Result::ok).unwrap_or(least) })
    }
}

/// Defaults of an engine's release on a card.
pub(super) struct Defaults<'a> {
    pub(super) launch: &'a Launch,
    pub(super) card: &'a Card,
    version: Version,
}

impl<'a> Defaults<'a> {
    pub(super) fn new(launch: &'a Launch, card: &'a Card) -> Option<Self> {
        let any = Version::parse("0")?;
        let assumed =
            || catalog::engine_default(&launch.engine, "assumed_version", &any, None).and_then(Version::parse);
        let version = launch.version.clone().or_else(assumed).unwrap_or(any);
        Some(Self { launch, card, version })
    }

    pub(super) fn text(&self, setting: &str) -> Option<&'static str> {
        let card = Some((self.card.bytes / GIB, self.card.gpu.as_str()));
        catalog::engine_default(&self.launch.engine, setting, &self.version, card)
    }

    pub(super) fn whole(&self, setting: &str) -> Option<u64> {
        self.text(setting)?.parse().ok()
    }

    pub(super) fn between(&self, setting: &str) -> Option<Between> {
        Between::read(self.text(setting)?)
    }

    pub(super) fn holds(&self, setting: &str) -> bool {
        self.text(setting) == Some("true")
    }
}
