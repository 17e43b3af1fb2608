//! Functions over the memory of GPUs: what a container launches, held against the GPU it lands on.

use super::general::functions;
use super::*;
use crate::catalog::{self as tables, NamedModel, named_model};
use crate::facts::value::{REST, entities};
use crate::facts::{Container, Node};
use crate::known::{Fact, Known, Why};
use crate::version::Version;
use crate::vram::serving::{self, Card, Launch, Ledger};
use crate::vram::{
    Architecture, Config, DecidedBy, Fit, GIB, Parallel, Verdict, advice, element_bytes, format_of, sum,
};

entities! {
    /// What a model server takes of one GPU.
    Memory {
        /// Whether it fits.
        verdict: Fact<Fit>,
        /// What decides; absent when it fits.
        decided_by: Fact<DecidedBy>,
        /// The setting that decides, by its name.
        at: Fact<String>,
        /// Why, in words.
        reason: Fact<String>,
        /// Its parts and their sum, in words.
        sum: Fact<String>,
        /// All of it in GiB.
        total_gib: Fact<f64>,
        /// The GPU, or the slice of one, in GiB.
        card_gib: Fact<f64>,
        /// What the server lets itself take, in GiB.
        budget_gib: Fact<f64>,
        /// The cache of one request of the longest length in GiB.
        request_gib: Fact<f64>,
        /// What is left for the cache in GiB; negative when nothing is.
        left_gib: Fact<f64>,
        /// Tokens of the longest request, as stated or by default.
        length: Fact<i64>,
        /// Tokens of the longest request that fits.
        longest: Fact<i64>,
        /// One change with which it fits; absent when no single change is enough.
        change: Fact<String>,
        /// A GPU less than half as large on which it fits, when it takes less than a quarter of this one.
        smaller: Fact<String>,
    }
}

functions! {
    "serving_memory" (param("container", Container::ty), param("node", Node::ty)) -> Output::Type(Memory::ty), false, "The memory of the model server that a container launches on a node's GPU, per GPU. Null for what serves no model; unknown with the fact that is missing.", |a, _| {
        let (Some(container), Some(node)) = (given(&a[0]), given(&a[1])) else { return no_entity() };
        answer(Served::by(container).and_then(|served| served.memory(node)).map(|memory| Value::computed(&memory)))
    };
    "memory_share" (param("container", Container::ty)) -> Output::Type(float_type), false, "The share of a GPU's memory that a container's model server takes at its start: as stated, else the default of its release; null for engines that take what they need.", |a, _| {
        let Some(container) = given(&a[0]) else { return no_entity() };
        answer(Served::by(container).and_then(|served| served.share()).map(|share| share.reflect().into_leaf()))
    };
    "undivided_heads" (param("container", Container::ty)) -> Output::Type(int_type), false, "The attention heads of the model that a container serves, where its tensor parallel size as stated does not divide them; null where it does, and for engines that split no heads.", |a, _| {
        let Some(container) = given(&a[0]) else { return no_entity() };
        answer(Served::by(container).and_then(|served| served.undivided_heads()).map(|heads| heads.reflect().into_leaf()))
    };
    "checkpoint_gib" (param("container", Container::ty)) -> Output::Type(float_type), false, "Size in GiB of the checkpoint that a container's model server downloads; null when nothing names a model, unknown when the catalog does not know it.", |a, _| {
        let Some(container) = given(&a[0]) else { return no_entity() };
        answer(Served::by(container).and_then(|served| served.checkpoint()).map(|gib| gib.reflect().into_leaf()))
    };
}

/// Why there is no answer.
enum Missing {
    /// What is asked about does not exist.
    Nothing,
    /// A fact is not known, and where it would stand.
    Unknown(Why, Span),
}

fn answer<'a>(found: Result<Value<'a>, Missing>) -> Value<'a> {
    match found {
        Ok(value) => value,
        Err(Missing::Nothing) => Value::of(Data::Null),
        Err(Missing::Unknown(why, span)) => Value::unknown(why, Some(span)),
    }
}

/// A fact that may be absent but must not be unknown.
fn known<T>(fact: &Fact<T>) -> Result<Option<&T>, Missing> {
    match &fact.known {
        Known::Value(value) => Ok(Some(value)),
        Known::Absent => Ok(None),
        Known::Unknown(why) => Err(Missing::Unknown(why.clone(), fact.span)),
    }
}

/// A fact that must be known.
fn needed<T>(fact: &Fact<T>) -> Result<&T, Missing> {
    known(fact)?.ok_or(Missing::Nothing)
}

fn count(fact: &Fact<i64>) -> Result<Option<u64>, Missing> {
    Ok(known(fact)?.filter(|n| (1..=1_000_000_000).contains(*n)).map(|n| n.unsigned_abs()))
}

/// Tokens as vLLM reads them: `32768`, `32k` (thousands), `32K` (1024s); `None` for `auto` and the like.
fn tokens(text: &str) -> Option<u64> {
    let (digits, unit) = match text.trim() {
        t if t.ends_with('k') => (&t[..t.len() - 1], 1000),
        t if t.ends_with('K') => (&t[..t.len() - 1], 1024),
        t => (t, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|n| *n > 0)
}

/// A container with what it launches.
struct Served<'a> {
    container: &'a Container,
    launch: &'a crate::facts::Launch,
    engine: &'a str,
}

impl<'a> Served<'a> {
    fn by(container: &'a Container) -> Result<Self, Missing> {
        let launch = container.launch.as_ref().ok_or(Missing::Nothing)?;
        Ok(Self { container, launch, engine: needed(&launch.engine)? })
    }

    fn not_in_catalog(&self, what: impl Into<Box<str>>) -> Missing {
        Missing::Unknown(Why::NotInCatalog(what.into()), self.launch.model.span)
    }

    /// A flag as stated, or the unknown that stands for those that cannot be told.
    fn stated(&self, flag: &str) -> Option<&'a Fact<String>> {
        self.launch.flags.get(flag).or_else(|| self.launch.flags.get(REST))
    }

    fn flag(&self, name: &str) -> Result<Option<&'a str>, Missing> {
        let stated = self.stated(name).map(known).transpose()?;
        Ok(stated.flatten().map(String::as_str))
    }

    fn number(&self, flag: &str) -> Result<Option<u64>, Missing> {
        Ok(self.flag(flag)?.and_then(|text| text.parse().ok()))
    }

    fn on(&self, flag: &str) -> Result<bool, Missing> {
        Ok(self.flag(flag)?.is_some_and(|text| text != "false"))
    }

    /// The model: as its own configuration in the repository says, else as the catalog knows the name.
    fn model(&self) -> Result<(NamedModel, Architecture), Missing> {
        let model = needed(&self.launch.model)?;
        if let Some(config) = &self.launch.config {
            let get = |path: &str| config.view().node()?.scalar_at(path).map(str::to_owned);
            let shape = Config::new(&get).architecture(model);
            let shape = shape.map_err(|why| Missing::Unknown(Why::NotModelled(why.into()), config.place))?;
            let format = shape.quantization.as_deref().and_then(tables::weight_format).map(|format| format.name);
            return Ok((NamedModel { name: String::new(), format, sure: true }, shape));
        }
        let named = named_model(self.engine, model).ok_or_else(|| self.not_in_catalog(model.as_str()))?;
        let shape = Architecture::find(&named.name).ok_or_else(|| self.not_in_catalog(named.name.as_str()))?;
        Ok((named, shape))
    }

    /// The heads of the model, where the ranks of a group cannot have equally many of them.
    fn undivided_heads(&self) -> Result<Fact<i64>, Missing> {
        let planner = tables::server(self.engine).and_then(|server| server.planner).ok_or(Missing::Nothing)?;
        let size = count(&self.launch.tensor_parallel)?.filter(|size| *size > 1 && planner != tables::Planner::Layered);
        let size = size.ok_or(Missing::Nothing)?;
        let (_, shape) = self.model()?;
        if serving::heads_divide(&shape, size) {
            return Err(Missing::Nothing);
        }
        Ok(Fact::value(i64::try_from(shape.heads).unwrap_or(i64::MAX), self.launch.model.span))
    }

    /// Where a default changed between two releases that were read, the smaller one.
    fn share(&self) -> Result<Fact<f64>, Missing> {
        if known(&self.launch.gpu_memory_utilization)?.is_some() {
            return Ok(self.launch.gpu_memory_utilization.clone());
        }
        let planner = tables::server(self.engine).and_then(|server| server.planner);
        if planner != Some(tables::Planner::Profiled) {
            return Err(Missing::Nothing);
        }
        let release = self.release()?.or_else(|| tables::newest_release(self.engine, None, (None, "")));
        let default = release.and_then(|r| tables::engine_default(self.engine, "gpu_memory_utilization", &r, None));
        let share = default.and_then(|text| text.split(' ').next()?.parse().ok());
        Ok(Fact::value(share.ok_or(Missing::Nothing)?, self.launch.engine.span))
    }

    fn checkpoint(&self) -> Result<Fact<f64>, Missing> {
        let name = needed(&self.launch.model)?;
        let unknown = || self.not_in_catalog(name.as_str());
        let named = named_model(self.engine, name).ok_or_else(unknown)?;
        let model = tables::model(&named.name).ok_or_else(unknown)?;
        // Engines that quantize while loading still download what is published.
        let format = format_of(&named.name, named.format, None).ok_or_else(unknown)?;
        let own = named.format.is_none() && model.name().eq_ignore_ascii_case(&named.name);
        let published = model.files_gib().filter(|_| own);
        let gib = published.or_else(|| Some(model.parameters_b()? * 1e9 * format.bits / 8.0 / GIB));
        Ok(Fact::value(gib.ok_or_else(unknown)?, self.launch.model.span))
    }

    /// A GPU, or the slice of one.
    fn card(&self, id: &Fact<String>) -> Result<Card, Missing> {
        let id = needed(id)?;
        let card = Card::find(id).ok_or_else(|| self.not_in_catalog(id.as_str()))?;
        let Some(profile) = known(&self.container.mig_profile)? else { return Ok(card) };
        let slice = tables::mig_profile(&card.gpu, profile).and_then(|p| p.memory_mib);
        let mib = slice.ok_or_else(|| self.not_in_catalog(profile.as_str()))?;
        Ok(Card { bytes: mib as f64 * 1024.0 * 1024.0, nvlink: false, ..card })
    }

    fn memory(&self, node: &Node) -> Result<Memory, Missing> {
        if tables::server(self.engine).is_none_or(|server| server.planner.is_none()) {
            return Err(Missing::Nothing);
        }
        for moves in
            ["cpu-offload-gb", "config", "num-gpu-blocks-override", "hf-overrides", "model-loader-extra-config"]
        {
            if let Some(stated) = self.stated(moves)
                && known(stated)?.is_some()
            {
                return Err(Missing::Unknown(Why::NotModelled(format!("--{moves}").into()), stated.span));
            }
        }
        let (named, shape) = self.model()?;
        let gpu = node.gpu.as_ref().ok_or(Missing::Nothing)?;
        let launch = self.launch(&named)?;
        let of_card = |card: Card| -> Result<(Card, Ledger), Missing> {
            let ledger = serving::ledger(&shape, &launch, &card);
            if let Verdict::Unknown(why) = &ledger.verdict {
                return Err(self.not_in_catalog(why.as_str()));
            }
            let mut ledger = whatever_the_release(&shape, &launch, &card, ledger);
            if !named.sure && ledger.verdict == Verdict::DoesNotFit && ledger.decided_by != Some(DecidedBy::Heads) {
                ledger.verdict = Verdict::Tight;
                ledger.reason = format!("if it is {}: {}", named.name, ledger.reason);
            }
            Ok((card, ledger))
        };
        // Of several cards that it may be, what does not fit the largest fits none, and what fits the smallest fits all.
        let (mut card, mut ledger) = of_card(self.card(&gpu.largest)?)?;
        if gpu.smallest.get() != gpu.largest.get() && ledger.verdict != Verdict::DoesNotFit {
            let verdict = ledger.verdict;
            (card, ledger) = of_card(self.card(&gpu.smallest)?)?;
            if ledger.verdict != verdict {
                needed(&gpu.id)?;
            }
        }
        let change = advice::change(&shape, &launch, &card, &ledger).map(|change| change.to_string());
        let much = ledger.verdict == Verdict::Fits && ledger.total() * 4.0 < ledger.card;
        let smaller = much.then(|| advice::smaller(&shape, &launch, &card)).flatten().map(|card| card.gpu);
        Ok(self.told(&ledger, change, smaller))
    }

    fn launch(&self, named: &NamedModel) -> Result<Launch, Missing> {
        let (stated, name) = (self.launch, named.name.as_str());
        let quantization = known(&stated.quantization)?.map(String::as_str).or(named.format);
        let format = format_of(name, quantization, known(&stated.dtype)?.map(String::as_str))
            .ok_or_else(|| self.not_in_catalog(quantization.unwrap_or_default()))?;
        let gpus = count(&self.container.gpus)?.ok_or(Missing::Nothing)?;
        let spreads = tables::server(self.engine).is_some_and(|server| server.spreads);
        let published = format_of(name, named.format, None).is_some_and(|f| f == format);
        let dtype = known(&stated.kv_cache_dtype)?.map_or("auto", String::as_str);
        Ok(Launch {
            version: self.release()?,
            parallel: Parallel {
                tensor: count(&stated.tensor_parallel)?.unwrap_or(if spreads { gpus } else { 1 }),
                pipeline: count(&stated.pipeline_parallel)?.unwrap_or(1),
                data: count(&stated.data_parallel)?.unwrap_or(1),
                experts: self.on("enable-expert-parallel")? || self.number("ep-size")?.is_some_and(|size| size > 1),
            },
            format,
            online: quantization == Some("fp8") && !published,
            cache_bytes: element_bytes(dtype, format.bits > 16.0),
            length: self.length()?,
            utilization: known(&stated.gpu_memory_utilization)?.copied(),
            sequences: count(&stated.max_num_seqs)?.or(self.number("parallel")?),
            batched: self
                .number("max-num-batched-tokens")?
                .or(self.number("max-batch-prefill-tokens")?)
                .or(self.number("chunked-prefill-size")?),
            cache_limit: self.number("kv-cache-memory-bytes")?.map(|bytes| bytes as f64),
            eager: self.on("enforce-eager")?,
            lora: self.on("enable-lora")?,
            gpu_layers: self.number("n-gpu-layers")?.or(self.number("gpu-layers")?).or(self.number("ngl")?),
            ..Launch::new(self.engine)
        })
    }

    /// The length as stated; one that the engine chooses by what fits is as short as can be.
    fn length(&self) -> Result<Option<u64>, Missing> {
        const CHOSEN: u64 = 1024;
        match self.flag("max-model-len")? {
            Some("auto" | "-1") => Ok(Some(CHOSEN)),
            Some(written) => tokens(written)
                .map(Some)
                .ok_or_else(|| Missing::Unknown(Why::Malformed(written.into()), self.launch.max_model_len.span)),
            None => count(&self.launch.max_model_len),
        }
    }

    /// The release of the engine, where one is stated.
    fn release(&self) -> Result<Option<Version>, Missing> {
        if let Some(version) = self.launch.version.get() {
            return Ok(Some(version.clone()));
        }
        let image = &self.container.image;
        // An image that the operator chooses has some release.
        if !matches!(&image.reference.known, Known::Unknown(why) if !why.is_stated()) {
            known(&image.reference)?;
            known(&image.tag)?;
        }
        Ok(None)
    }

    /// The setting that decides: where it stands, and its name.
    fn decides(&self, by: Option<DecidedBy>) -> (Span, &'static str) {
        let launch = self.launch;
        let batched = launch.flags.get("max-num-batched-tokens");
        let (place, name) = match by {
            Some(DecidedBy::Cache) => (stated(&launch.max_model_len), "max_model_len"),
            Some(DecidedBy::Heads) => (stated(&launch.tensor_parallel), "tensor_parallel"),
            Some(DecidedBy::Utilization | DecidedBy::Graphs) => {
                (stated(&launch.gpu_memory_utilization), "gpu_memory_utilization")
            }
            Some(DecidedBy::Activations) if launch.max_num_seqs.is_absent() => {
                (batched.and_then(stated), "max_num_batched_tokens")
            }
            Some(DecidedBy::Activations) => (stated(&launch.max_num_seqs), "max_num_seqs"),
            Some(DecidedBy::Weights) | None => (None, ""),
        };
        place.map_or((launch.model.span, "model"), |place| (place, name))
    }

    fn told(&self, ledger: &Ledger, change: Option<String>, smaller: Option<String>) -> Memory {
        let span = self.launch.model.span;
        let gib = |bytes: f64| Fact::value((bytes / GIB * 100.0).round() / 100.0, span);
        let tokens = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let (place, setting) = self.decides(ledger.decided_by);
        Memory {
            perhaps: None,
            verdict: Fact::from_option(ledger.verdict.fit().ok(), span),
            decided_by: Fact::from_option(ledger.decided_by, span),
            at: Fact::value(setting.to_owned(), place),
            reason: Fact::value(ledger.reason.clone(), span),
            sum: Fact::value(sum(&ledger.parts), span),
            total_gib: gib(ledger.total()),
            card_gib: gib(ledger.card),
            budget_gib: gib(ledger.budget),
            request_gib: gib(ledger.part(serving::KV_CACHE)),
            left_gib: ledger.serving.map_or(Fact::absent(span), |serving| gib(serving.available)),
            length: Fact::from_option(ledger.serving.map(|serving| tokens(serving.length)), span),
            longest: Fact::from_option(ledger.serving.map(|serving| tokens(serving.longest)), span),
            change: Fact::from_option(change, span),
            smaller: Fact::from_option(smaller, span),
            span,
        }
    }
}

/// Where a fact is stated.
fn stated<T>(fact: &Fact<T>) -> Option<Span> {
    (!fact.is_absent()).then_some(fact.span)
}

/// Without a release the verdict must hold for the newest one, too.
fn whatever_the_release(shape: &Architecture, launch: &Launch, card: &Card, now: Ledger) -> Ledger {
    let newest = tables::newest_release(&launch.engine, None, (None, "")).filter(|_| launch.version.is_none());
    let Some(newest) = newest else { return now };
    let other = serving::ledger(shape, &Launch { version: Some(newest.clone()), ..launch.clone() }, card);
    if other.verdict == now.verdict {
        return now;
    }
    let reason =
        format!("no release is stated; by older defaults {}, by those of {newest} {}", now.reason, other.reason);
    Ledger { verdict: Verdict::Tight, decided_by: now.decided_by.or(other.decided_by), reason, ..now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_as_people_write_them() {
        assert_eq!((tokens("32768"), tokens("32k"), tokens("32K")), (Some(32_768), Some(32_000), Some(32_768)));
        assert_eq!((tokens("auto"), tokens("-1"), tokens("0")), (None, None, None));
    }
}
