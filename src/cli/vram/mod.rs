//! `gpulint vram`: whether a model fits the GPUs that are named, with the sum.

mod recommend;
mod show;

use super::arguments::{Vram, VramFormat, VramTask};
use super::files::{gate, named};
use super::{CLEAN, FINDINGS, print, print_as_is};
use crate::catalog;
use crate::parse::{Dialect, yaml};
use crate::report::json::escaped;
use crate::source::SourceId;
use crate::version::Version;
use crate::vram::run::Run;
use crate::vram::serving::{self, Card, Launch, Ledger};
use crate::vram::{
    Architecture, Config, DecidedBy, GIB, Parallel, Verdict, advice, element_bytes, format_of, training,
};
use std::path::Path;

/// `gpulint vram`.
///
/// # Errors
/// A GPU that the catalog does not know and whose memory is not given.
pub fn run(arguments: &Vram) -> Result<u8, String> {
    let Some(gpu) = arguments.gpu.as_deref().filter(|_| !arguments.recommend) else {
        print(&recommend::run(arguments)?)?;
        return Ok(CLEAN);
    };
    let card = card(gpu, arguments.gpu_memory_gib)?;
    let answer = match arguments.task {
        VramTask::Serve => serve(arguments, &card),
        VramTask::Train => train(arguments, &card),
    };
    match arguments.format {
        VramFormat::Human => print(&show::human(arguments, &card, &alike(gpu, &card), &answer))?,
        VramFormat::Json => print_as_is(&escaped(&show::json(&answer.ledger, answer.change.as_deref())))?,
    }
    Ok(if answer.ledger.verdict == Verdict::DoesNotFit { FINDINGS } else { CLEAN })
}

/// The card of a name; its memory may be given, then the name may be anything.
fn card(gpu: &str, gib: Option<f64>) -> Result<Card, String> {
    let known = Card::find(gpu).or_else(|| Card::find(&gpu.replace(' ', "-")));
    match (known, gib) {
        (Some(card), None) => Ok(card),
        (Some(card), Some(gib)) => Ok(Card { bytes: gib * GIB, ..card }),
        (None, Some(gib)) => Ok(Card { gpu: gpu.to_owned(), bytes: gib * GIB, nvlink: false }),
        (None, None) => Err(format!("the catalog has no GPU {gpu}; give its memory with --gpu-memory-gib")),
    }
}

/// Other cards of a name that several have: `H100` is one in a slot and one on a board.
fn alike(gpu: &str, card: &Card) -> Vec<&'static str> {
    let named = catalog::gpus_named(gpu).map(|other| other.id);
    named.filter(|id| *id != card.gpu && catalog::gpu(gpu).is_some_and(|taken| taken.id == card.gpu)).collect()
}

/// What the `config.json` in a directory, or of that name, says; `None` when there is no such file.
fn local(model: &str) -> Option<Result<Architecture, String>> {
    let path = Path::new(model);
    let file = if path.is_dir() { path.join("config.json") } else { path.to_owned() };
    let text = file.file_name().filter(|name| *name == "config.json").and_then(|_| named(&file, &gate(&[])).ok())?;
    let tree = yaml::parse(SourceId(0), &text, Dialect::Typed);
    let get = |key: &str| yaml::root(&tree)?.scalar_at(key).map(str::to_owned);
    Some(Config::new(&get).architecture(model))
}

/// The shape of a model, or why there is none.
fn shape(model: &str) -> Result<Architecture, String> {
    if let Some(stated) = local(model) {
        return stated;
    }
    Architecture::find(model).ok_or_else(|| {
        let known = catalog::model(model).is_some();
        let why = if known { "its shape does not count to its size" } else { "the catalog does not know it" };
        format!("{model}: {why}")
    })
}

/// The ledger of a training run.
fn train(arguments: &Vram, card: &Card) -> Answer {
    let stated = |field: &str| match field {
        "method" => Some(arguments.method.clone()),
        "micro_batch_size" => arguments.batch_size.map(|n| n.to_string()),
        "sequence_len" => arguments.seq_len.map(|n| n.to_string()),
        "zero_stage" => arguments.zero_stage.map(|n| n.to_string()),
        "gradient_checkpointing" => arguments.gradient_checkpointing.then(|| "true".to_owned()),
        "quantization" => arguments.quantization.clone().filter(|q| q != "none"),
        "data_parallel" => Some(arguments.gpus.max(1).to_string()),
        // The length that is asked about is meant.
        "packing" => Some("true".to_owned()),
        "precision" => arguments.precision.clone(),
        "optimizer" => arguments.optimizer.clone(),
        "lora_rank" => arguments.lora_rank.map(|n| n.to_string()),
        _ => None,
    };
    match (shape(&arguments.model), Run::read(&arguments.engine, stated).map_err(|gap| gap.to_string())) {
        (Ok(shape), Ok(run)) => {
            let ledger = training::ledger(&shape, &run, card.bytes);
            let short = matches!(ledger.verdict, Verdict::Tight | Verdict::DoesNotFit);
            let remedy = short.then(|| training::remedy(&shape, &run, card.bytes)).flatten();
            let tell = |(what, after): (String, Ledger)| format!("{what}: {:.1} GiB", after.total() / GIB);
            Answer { ledger, change: remedy.map(tell) }
        }
        (Err(why), _) | (_, Err(why)) => Ledger::unknown(why).into(),
    }
}

/// A ledger, and one change after which it fits.
struct Answer {
    ledger: Ledger,
    change: Option<String>,
}

impl From<Ledger> for Answer {
    fn from(ledger: Ledger) -> Self {
        Self { ledger, change: None }
    }
}

/// The ledger of a model whose total alone is known, on an engine that keeps no cache.
fn by_total(model: &str, arguments: &Vram, card: &Card) -> Option<Ledger> {
    let parameters = catalog::model(model)?.parameters_b()? * 1e9;
    let cached = catalog::launch_flags(&arguments.engine).any(|flag| flag.field == "max_model_len");
    let format = format_of(model, arguments.quantization.as_deref(), arguments.dtype.as_deref())?;
    let launch = Launch { format, ..Launch::new(&arguments.engine) };
    (!cached).then(|| serving::weights_only(parameters, &launch, card))
}

/// The ledger of a server.
fn serve(arguments: &Vram, card: &Card) -> Answer {
    let named = catalog::named_model(&arguments.engine, &arguments.model);
    let model = named.as_ref().map_or(arguments.model.as_str(), |named| &named.name);
    let shape = match shape(model) {
        Ok(shape) => shape,
        Err(why) => return by_total(model, arguments, card).unwrap_or_else(|| Ledger::unknown(why)).into(),
    };
    // What a file of the model's own says of its weights.
    let stated = shape.quantization.as_deref().filter(|_| catalog::model(model).is_none());
    let in_name = named.as_ref().and_then(|named| named.format).or(stated);
    let (quantization, dtype) = (arguments.quantization.as_deref().or(in_name), arguments.dtype.as_deref());
    let Some(format) = format_of(model, quantization, dtype) else {
        return Ledger::unknown(format!(
            "how many bits {} takes is not known",
            quantization.unwrap_or("its quantization")
        ))
        .into();
    };
    let launch = launch(arguments, format);
    let mut ledger = serving::ledger(&shape, &launch, card);
    // Who names an 8-bit format may have a checkpoint in it.
    if launch.online && ledger.verdict == Verdict::DoesNotFit {
        let stored = serving::ledger(&shape, &Launch { online: false, ..launch.clone() }, card);
        if stored.verdict != Verdict::DoesNotFit {
            ledger.verdict = Verdict::Tight;
            ledger.reason = format!("{}; a checkpoint that is stored in {} fits", ledger.reason, format.name);
        }
    }
    // Who asks about a model and names no length may choose one.
    let longest = ledger.serving.map_or(0, |s| s.longest);
    if arguments.max_model_len.is_none() && ledger.decided_by == Some(DecidedBy::Cache) && longest > 0 {
        let wanted = ledger.serving.map_or(0, |s| s.length);
        ledger.verdict = Verdict::Tight;
        ledger.reason =
            format!("a request of the model's own maximum of {wanted} tokens needs more; up to {longest} tokens fit");
    }
    let change = advice::change(&shape, &launch, card, &ledger).map(|change| change.to_string());
    Answer { ledger, change }
}

/// What the arguments say of the launch.
fn launch(arguments: &Vram, format: catalog::WeightFormat) -> Launch {
    let pipeline = arguments.pipeline_parallel_size.unwrap_or(1).max(1);
    let gpus = arguments.gpus.max(1);
    let tensor = arguments.tensor_parallel_size.unwrap_or((gpus / pipeline).max(1)).max(1);
    let (version, v0) = release(arguments.engine_version.as_deref().unwrap_or_default());
    let published = format_of(&arguments.model, None, None).is_some_and(|f| f == format);
    Launch {
        version,
        v0,
        parallel: Parallel {
            tensor,
            pipeline,
            data: (gpus / (tensor * pipeline)).max(1),
            experts: arguments.enable_expert_parallel,
        },
        format,
        online: arguments.quantization.as_deref() == Some("fp8") && !published,
        cache_bytes: element_bytes(arguments.kv_cache_dtype.as_deref().unwrap_or("auto"), format.bits > 16.0),
        length: arguments.max_model_len,
        utilization: arguments.gpu_memory_utilization,
        sequences: arguments.max_num_seqs,
        batched: arguments.max_num_batched_tokens,
        eager: arguments.enforce_eager,
        ..Launch::new(&arguments.engine)
    }
}

/// A release as people write it (`0.8.x`, `0.2x` for any of the twenties), and whether it is said to run vLLM's old
/// engine (`0.8.5 (v0)`).
fn release(text: &str) -> (Option<Version>, bool) {
    let number = text.split_ascii_whitespace().next().unwrap_or_default().trim_end_matches('+');
    let digits = match number.strip_suffix('x').filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit())) {
        Some(decade) => format!("{decade}0"),
        None => number.to_owned(),
    };
    (Version::parse(&digits).filter(|_| digits != "0.x"), text.contains("(v0)"))
}
