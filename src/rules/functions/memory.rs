//! Functions over the memory of GPUs: what a container launches, held against the GPU it lands on.

use super::general::{functions, string};
use super::*;
use crate::catalog::{self as tables, NamedModel, named_model};
use crate::facts::value::Data;
use crate::known::Why;
use crate::rules::lang::eval::{Number, number, version};
use crate::version::Version;
use crate::vram::serving::{self, Card, Launch, Ledger};
use crate::vram::{Architecture, Config, DecidedBy, GIB, Parallel, Verdict, advice, element_bytes, format_of, sum};
use std::borrow::Cow;
use std::rc::Rc;

functions! {
    "serving_memory" (param("container", dyn_type), param("node", dyn_type)) -> Output::Type(dyn_type), false, "The memory ledger of the model server that a container launches on a node's GPU, per GPU: `verdict` (fits, tight, does-not-fit), `decided_by` (weights, cache, heads, utilization, activations, graphs), `reason`, `sum`, `total_gib`, `card_gib`, `weights_gib`, `request_gib`, `left_gib`, `length`, `longest`, `change` (one change with which it fits), `smaller` (a GPU less than half as large on which it fits, when it takes less than a quarter of this one) and `at` (the setting that decides). Null for what serves no model; unknown with the fact that is missing.", |a, _| {
        Asked { container: a[0].clone(), node: a[1].clone() }.ledger().unwrap_or_else(|missing| *missing)
    };
    "memory_share" (param("container", dyn_type)) -> Output::Type(float_type), false, "The share of a GPU's memory that a container's model server takes at its start: as stated, else the default of its release; null for engines that take what they need.", |a, _| {
        let asked = Asked { container: a[0].clone(), node: Value::of(Data::Null) };
        asked.share().unwrap_or_else(|missing| *missing)
    };
    "checkpoint_gib" (param("container", dyn_type)) -> Output::Type(float_type), false, "Size in GiB of the checkpoint that a container's model server downloads; null when the catalog does not know the model.", |a, _| {
        let asked = Asked { container: a[0].clone(), node: Value::of(Data::Null) };
        asked.checkpoint().unwrap_or_else(|missing| *missing)
    };
}

/// A value that ends the calculation: null or unknown.
type Missing<'a> = Box<Value<'a>>;

/// One change with which a launch fits, and a much smaller GPU that it fits.
type Advice = (Option<String>, Option<String>);

/// A container on a node.
struct Asked<'a> {
    container: Value<'a>,
    node: Value<'a>,
}

/// A field of an entity or a key of a map; null where there is none.
fn field<'a>(base: &Value<'a>, name: &str) -> Value<'a> {
    match &base.data {
        Data::Entity(entity) => {
            let index = entity.entity().field(name).map(|(index, _)| index);
            index.map_or(Value::of(Data::Null), |index| entity.field(index))
        }
        Data::Map(map) => map.get(name).cloned().unwrap_or(Value::of(Data::Null)),
        _ => base.clone(),
    }
}

/// A field that may be absent but must not be unknown.
fn known<'a>(base: &Value<'a>, name: &str) -> Result<Value<'a>, Missing<'a>> {
    let value = field(base, name);
    if let Data::Unknown(_) = value.data { Err(Box::new(value)) } else { Ok(value) }
}

fn real(value: &Value<'_>) -> Option<f64> {
    number(value).map(Number::float)
}

fn whole<'a>(base: &Value<'a>, name: &str) -> Result<Option<u64>, Missing<'a>> {
    Ok(real(&known(base, name)?).filter(|n| *n >= 1.0 && *n <= 1e9).map(|n| n as u64))
}

fn text<'a>(base: &Value<'a>, name: &str) -> Result<Option<String>, Missing<'a>> {
    Ok(super::general::text(&known(base, name)?).map(Cow::into_owned))
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

impl<'a> Asked<'a> {
    fn unknown(&self, why: impl Into<String>) -> Missing<'a> {
        let model = field(&field(&self.container, "launch"), "model");
        Box::new(Value::unknown(Why::NotInCatalog(why.into().into()), model.span))
    }

    fn nothing() -> Missing<'a> {
        Box::new(Value::of(Data::Null))
    }

    /// The model: as its own configuration in the repository says, else as the catalog knows the name.
    fn model(&self, launch: &Value<'a>) -> Result<(NamedModel, Architecture), Missing<'a>> {
        let engine = text(launch, "engine")?.unwrap_or_default();
        let model = text(launch, "model")?.ok_or_else(Self::nothing)?;
        if let Data::Node(config) = field(launch, "config").data {
            let get = |path: &str| config.node()?.scalar_at(path).map(str::to_owned);
            let shape = Config::new(&get).architecture(&model);
            let shape =
                shape.map_err(|why| Box::new(Value::unknown(Why::NotModelled(why.into()), Some(config.place()))))?;
            let format = shape.quantization.as_deref().and_then(tables::weight_format).map(|format| format.name);
            return Ok((NamedModel { name: String::new(), format, sure: true }, shape));
        }
        let named = named_model(&engine, &model).ok_or_else(|| self.unknown(model.clone()))?;
        let shape = Architecture::find(&named.name).ok_or_else(|| self.unknown(named.name.clone()))?;
        Ok((named, shape))
    }

    /// Where a default changed between two releases that were read, the smaller one.
    fn share(&self) -> Result<Value<'a>, Missing<'a>> {
        let launch = known(&self.container, "launch")?;
        let engine = text(&launch, "engine")?.ok_or_else(Self::nothing)?;
        let stated = known(&launch, "gpu_memory_utilization")?;
        if real(&stated).is_some() {
            return Ok(stated);
        }
        let planner = tables::server(&engine).and_then(|server| server.planner);
        if planner != Some(tables::Planner::Profiled) {
            return Err(Self::nothing());
        }
        let release = self.release(&engine)?.or_else(|| tables::newest_release(&engine, None, (None, "")));
        let default = release.and_then(|r| tables::engine_default(&engine, "gpu_memory_utilization", &r, None));
        let share = default.and_then(|text| text.split(' ').next()?.parse().ok()).ok_or_else(Self::nothing)?;
        Ok(Value { data: Data::Float(share), span: field(&launch, "engine").span })
    }

    fn checkpoint(&self) -> Result<Value<'a>, Missing<'a>> {
        let launch = known(&self.container, "launch")?;
        let engine = text(&launch, "engine")?.unwrap_or_default();
        let name = text(&launch, "model")?.ok_or_else(Self::nothing)?;
        let named = named_model(&engine, &name).ok_or_else(|| self.unknown(name.clone()))?;
        let Some(model) = tables::model(&named.name) else { return Ok(*Self::nothing()) };
        // Engines that quantize while loading still download what is published.
        let format = format_of(&named.name, named.format, None).ok_or_else(|| self.unknown(name))?;
        let own = named.format.is_none() && model.name().eq_ignore_ascii_case(&named.name);
        let published = model.files_gib().filter(|_| own);
        let gib = published.or_else(|| Some(model.parameters_b()? * 1e9 * format.bits / 8.0 / GIB));
        Ok(gib
            .map_or(Value::of(Data::Null), |gib| Value { data: Data::Float(gib), span: field(&launch, "model").span }))
    }

    /// The GPU, or the slice of one.
    fn card(&self) -> Result<Card, Missing<'a>> {
        let gpu = known(&self.node, "gpu")?;
        let id = text(&gpu, "id")?.ok_or_else(Self::nothing)?;
        let card = Card::find(&id).ok_or_else(|| self.unknown(id.clone()))?;
        match text(&self.container, "mig_profile")? {
            None => Ok(card),
            Some(profile) => {
                let slice = tables::mig_profile(&card.gpu, &profile).and_then(|p| p.memory_mib);
                let mib = slice.ok_or_else(|| self.unknown(profile.clone()))?;
                Ok(Card { bytes: mib as f64 * 1024.0 * 1024.0, nvlink: false, ..card })
            }
        }
    }

    fn ledger(&self) -> Result<Value<'a>, Missing<'a>> {
        let stated = known(&self.container, "launch")?;
        let engine = text(&stated, "engine")?.ok_or_else(Self::nothing)?;
        if tables::server(&engine).is_none_or(|server| server.planner.is_none()) {
            return Err(Self::nothing());
        }
        let flags = known(&stated, "flags")?;
        for moves in
            ["cpu-offload-gb", "config", "num-gpu-blocks-override", "hf-overrides", "model-loader-extra-config"]
        {
            let given = known(&flags, moves)?;
            if !matches!(given.data, Data::Null) {
                return Err(Box::new(Value::unknown(Why::NotInCatalog(format!("--{moves}").into()), given.span)));
            }
        }
        let (named, shape) = self.model(&stated)?;
        let card = self.card()?;
        let launch = self.launch(&engine, &named, &stated, &flags)?;
        let ledger = serving::ledger(&shape, &launch, &card);
        if let Verdict::Unknown(why) = &ledger.verdict {
            return Err(self.unknown(why.clone()));
        }
        let ledger = self.whatever_the_release(&shape, &launch, &card, ledger);
        let mut ledger = ledger;
        if !named.sure && ledger.verdict == Verdict::DoesNotFit && ledger.decided_by != Some(DecidedBy::Heads) {
            ledger.verdict = Verdict::Tight;
        }
        let change = advice::change(&shape, &launch, &card, &ledger).map(|change| change.to_string());
        let much = ledger.verdict == Verdict::Fits && ledger.total() * 4.0 < ledger.card;
        let smaller = advice::smaller(&shape, &launch, &card).filter(|_| much).map(|card| card.gpu);
        Ok(self.told(&stated, &flags, &ledger, (change, smaller)))
    }

    /// Without a release the verdict must hold for the newest one, too.
    fn whatever_the_release(&self, shape: &Architecture, launch: &Launch, card: &Card, now: Ledger) -> Ledger {
        let newest = tables::newest_release(&launch.engine, None, (None, "")).filter(|_| launch.version.is_none());
        let Some(newest) = newest else { return now };
        let other = serving::ledger(shape, &Launch { version: Some(newest), ..launch.clone() }, card);
        if other.verdict == now.verdict { now } else { Ledger { verdict: Verdict::Tight, ..now } }
    }

    fn launch(
        &self,
        engine: &str,
        named: &NamedModel,
        stated: &Value<'a>,
        flags: &Value<'a>,
    ) -> Result<Launch, Missing<'a>> {
        let name = named.name.as_str();
        let quantization = text(stated, "quantization")?.or_else(|| named.format.map(str::to_owned));
        let format = format_of(name, quantization.as_deref(), text(stated, "dtype")?.as_deref())
            .ok_or_else(|| self.unknown(quantization.clone().unwrap_or_default()))?;
        let gpus = whole(&self.container, "gpus")?.ok_or_else(Self::nothing)?;
        let spreads = tables::server(engine).is_some_and(|server| server.spreads);
        let tensor = whole(stated, "tensor_parallel")?.unwrap_or(if spreads { gpus } else { 1 });
        let pipeline = whole(stated, "pipeline_parallel")?.unwrap_or(1);
        let flag =
            |name: &str| -> Result<Option<u64>, Missing<'a>> { Ok(text(flags, name)?.and_then(|t| t.parse().ok())) };
        let on = |name: &str| -> Result<bool, Missing<'a>> { Ok(text(flags, name)?.is_some_and(|t| t != "false")) };
        let dtype = text(stated, "kv_cache_dtype")?.unwrap_or_else(|| "auto".to_owned());
        let published = format_of(name, named.format, None).is_some_and(|f| f == format);
        Ok(Launch {
            version: self.release(engine)?,
            parallel: Parallel {
                tensor,
                pipeline,
                data: whole(stated, "data_parallel")?.unwrap_or(1),
                experts: on("enable-expert-parallel")? || flag("ep-size")?.is_some_and(|size| size > 1),
            },
            format,
            online: quantization.as_deref() == Some("fp8") && !published,
            cache_bytes: element_bytes(&dtype, format.bits > 16.0),
            length: self.length(stated, flags)?,
            utilization: real(&known(stated, "gpu_memory_utilization")?),
            sequences: whole(stated, "max_num_seqs")?.or(flag("parallel")?),
            batched: flag("max-num-batched-tokens")?
                .or(flag("max-batch-prefill-tokens")?)
                .or(flag("chunked-prefill-size")?),
            cache_limit: flag("kv-cache-memory-bytes")?.map(|bytes| bytes as f64),
            eager: on("enforce-eager")?,
            lora: on("enable-lora")?,
            gpu_layers: flag("n-gpu-layers")?.or(flag("gpu-layers")?).or(flag("ngl")?),
            ..Launch::new(engine)
        })
    }

    /// The length as stated; one that the engine chooses by what fits is as short as can be.
    fn length(&self, stated: &Value<'a>, flags: &Value<'a>) -> Result<Option<u64>, Missing<'a>> {
        const CHOSEN: u64 = 1024;
        let value = field(stated, "max_model_len");
        match text(flags, "max-model-len")? {
            Some(written) if matches!(written.as_str(), "auto" | "-1") => Ok(Some(CHOSEN)),
            Some(written) => tokens(&written).map(Some).ok_or_else(|| Box::new(value)),
            None => whole(stated, "max_model_len"),
        }
    }

    /// The release of the engine: of the package that is installed, else of the image's tag when the image is the engine's own.
    fn release(&self, engine: &str) -> Result<Option<Version>, Missing<'a>> {
        let package = field(&field(&field(&self.container, "software"), "packages"), engine);
        if let Some(found) = version(&field(&package, "version")) {
            return Ok(Some(found.into_owned()));
        }
        let image = known(&self.container, "image")?;
        let reference = text(&image, "reference")?.unwrap_or_default();
        let own = tables::server_of_image(&reference).is_some_and(|s| s.engine == engine);
        let tag = text(&image, "tag")?.filter(|_| own);
        Ok(tag.and_then(|t| Version::parse(&t)).filter(|v| v.release().len() > 1))
    }

    fn told(&self, stated: &Value<'a>, flags: &Value<'a>, ledger: &Ledger, advice: Advice) -> Value<'a> {
        let (change, smaller) = advice;
        let model = field(stated, "model");
        let of = |found: Value<'a>| {
            if found.span.is_some() && !matches!(found.data, Data::Null) { Some(found) } else { None }
        };
        let place = match ledger.decided_by {
            Some(DecidedBy::Cache) => of(field(stated, "max_model_len")),
            Some(DecidedBy::Heads) => of(field(stated, "tensor_parallel")),
            Some(DecidedBy::Utilization | DecidedBy::Graphs) => of(field(stated, "gpu_memory_utilization")),
            Some(DecidedBy::Activations) => {
                of(field(stated, "max_num_seqs")).or_else(|| of(field(flags, "max-num-batched-tokens")))
            }
            _ => None,
        };
        let gib = |bytes: f64| Value::of(Data::Float((bytes / GIB * 100.0).round() / 100.0));
        let count = |n: u64| Value::of(Data::Int(i64::try_from(n).unwrap_or(i64::MAX)));
        let say = |text: String| string(text, &model);
        let mut out: BTreeMap<Cow<'a, str>, Value<'a>> = BTreeMap::new();
        let mut add = |name: &'static str, value: Value<'a>| out.insert(Cow::Borrowed(name), value);
        add("verdict", say(ledger.verdict.to_string()));
        add("decided_by", ledger.decided_by.map_or(Value::of(Data::Null), |by| say(by.to_string())));
        add("reason", say(ledger.reason.clone()));
        add("sum", say(sum(&ledger.parts)));
        add("total_gib", gib(ledger.total()));
        add("card_gib", gib(ledger.card));
        add("budget_gib", gib(ledger.budget));
        add("weights_gib", gib(ledger.part(serving::WEIGHTS)));
        add("request_gib", gib(ledger.part(serving::KV_CACHE)));
        add("change", change.map_or(Value::of(Data::Null), say));
        add("smaller", smaller.map_or(Value::of(Data::Null), say));
        add("at", place.unwrap_or_else(|| model.clone()));
        if let Some(serving) = ledger.serving {
            add("left_gib", gib(serving.available));
            add("length", count(serving.length));
            add("longest", count(serving.longest));
        }
        Value { data: Data::Map(Rc::new(out)), span: model.span }
    }
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
