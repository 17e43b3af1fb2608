//! The one change that makes a server fit. Knows which changes cost least, not who asks.

use super::serving::{Card, Launch, Ledger, ledger};
use super::{Architecture, DecidedBy, GIB, Parallel, Verdict};
use crate::catalog::{self, Gpu};

/// A change and what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What to do, as a command reads: `--max-model-len 32768`.
    pub what: String,
    /// The ledger with it.
    pub ledger: Ledger,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ledger { card, .. } = self.ledger;
        write!(f, "{}: {:.1} of {:.1} GiB", self.what, self.ledger.total() / GIB, card / GIB)
    }
}

/// How an engine's settings are written.
fn flag(engine: &str, setting: &str) -> Option<&'static str> {
    let name = catalog::launch_flags(engine).find(|f| f.field == setting)?.flags.split_ascii_whitespace().next();
    name.filter(|name| !name.is_empty())
}

/// The first change, of those that cost little to those that cost a machine, with which a launch fits: fewer sequences, a
/// shorter request, an 8-bit cache, a larger group, a larger GPU. `None` when it fits already, or when none of them helps.
pub fn change(shape: &Architecture, launch: &Launch, card: &Card, now: &Ledger) -> Option<Change> {
    if matches!(now.verdict, Verdict::Fits | Verdict::Unknown(_)) {
        return None;
    }
    let fits = |what: String, launch: &Launch, card: &Card| {
        let ledger = ledger(shape, launch, card);
        (ledger.verdict == Verdict::Fits).then_some(Change { what, ledger })
    };
    let serving = now.serving;
    let written = |setting: &str| flag(&launch.engine, setting).map(|name| format!("--{name}"));
    let fewer = || {
        let (setting, most) = (written("max_num_seqs")?, serving?.sequences);
        let counts = [256, 128, 64, 32, 16].into_iter().filter(|count| *count < most);
        counts.into_iter().find_map(|count| {
            fits(format!("{setting} {count}"), &Launch { sequences: Some(count), ..launch.clone() }, card)
        })
    };
    let shorter = || {
        let (setting, serving) = (written("max_model_len")?, serving?);
        let lengths = (0..16).map(|part| serving.longest / 16 * (16 - part) / 1024 * 1024);
        // A small fraction of what was asked for is no advice.
        let useful =
            lengths.filter(|length| *length >= 2048 && *length * 16 >= serving.length && *length < serving.length);
        useful.into_iter().find_map(|length| {
            fits(format!("{setting} {length}"), &Launch { length: Some(length), ..launch.clone() }, card)
        })
    };
    let narrow = || {
        let setting = written("kv_cache_dtype").filter(|_| launch.cache_bytes >= 2.0)?;
        fits(format!("{setting} fp8"), &Launch { cache_bytes: 1.0, ..launch.clone() }, card)
    };
    let wider = || {
        let setting = written("tensor_parallel")?;
        let tensor = launch.parallel.tensor;
        let sizes = (tensor + 1..=16).filter(|size| shape.heads.is_multiple_of(*size) && size.is_power_of_two());
        sizes.into_iter().find_map(|size| {
            let parallel = Parallel { tensor: size, ..launch.parallel };
            fits(format!("{setting} {size} on {size} GPUs"), &Launch { parallel, ..launch.clone() }, card)
        })
    };
    let larger = || {
        let mut larger = cards(&launch.engine).into_iter().filter(|other| other.bytes > card.bytes + GIB);
        larger.find_map(|other| fits(format!("{} ({:.0} GiB)", other.gpu, other.bytes / GIB), launch, &other))
    };
    match now.decided_by {
        Some(DecidedBy::Heads) => wider(),
        Some(DecidedBy::Cache) => fewer().or_else(shorter).or_else(narrow).or_else(wider).or_else(larger),
        _ => fewer().or_else(wider).or_else(narrow).or_else(larger),
    }
}

/// Data-center GPUs that an engine runs on in bfloat16 and that new CUDA releases still compile for.
pub fn suitable(engine: &str) -> impl Iterator<Item = &'static Gpu> {
    let needs = catalog::feature_needs(engine, "dtype", "bfloat16", None);
    let runs = move |gpu: &&Gpu| {
        let known = gpu.compute_capability.as_ref();
        let current = known.and_then(catalog::architecture).is_some_and(|a| a.last_cuda.is_none());
        current && known.zip(needs.as_ref()).is_none_or(|(capability, needs)| needs.met_by(capability))
    };
    catalog::gpus().iter().filter(|gpu| gpu.datacenter).filter(runs)
}

/// Those GPUs by memory, smallest first.
fn cards(engine: &str) -> Vec<Card> {
    let mut cards: Vec<Card> = suitable(engine).filter_map(|gpu| Card::find(gpu.id)).collect();
    cards.sort_by(|a, b| a.bytes.total_cmp(&b.bytes).then_with(|| a.gpu.cmp(&b.gpu)));
    cards
}

/// The smallest data-center GPU, less than half as large, that some cloud's machine has and on which a launch fits as it is.
pub fn smaller(shape: &Architecture, launch: &Launch, card: &Card) -> Option<Card> {
    let fits = |other: &Card| catalog::is_offered(&other.gpu) && ledger(shape, launch, other).verdict == Verdict::Fits;
    cards(&launch.engine).into_iter().take_while(|other| other.bytes * 2.0 < card.bytes).find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(model: &str, gpu: &str, launch: &Launch) -> Option<String> {
        let shape = Architecture::find(model).expect(model);
        let card = Card::find(gpu).expect(gpu);
        let now = ledger(&shape, launch, &card);
        change(&shape, launch, &card, &now).map(|change| change.what)
    }

    #[test]
    fn the_cheapest_change_comes_first() {
        let vllm = Launch::new("vllm");
        assert_eq!(advice("meta-llama/Llama-3.1-8B-Instruct", "H100-SXM", &vllm), None, "it fits");
        let long = advice("meta-llama/Llama-3.1-8B-Instruct", "L4", &vllm).expect("a change");
        assert!(long.starts_with("--max-model-len "), "{long}");
        let large = advice("meta-llama/Llama-3.1-70B-Instruct", "A100-SXM4-80GB", &vllm).expect("a change");
        assert!(large.starts_with("--tensor-parallel-size 4"), "{large}");
        let three = Launch { parallel: Parallel { tensor: 3, ..Parallel::ONE }, ..vllm };
        assert_eq!(
            advice("meta-llama/Llama-3.1-8B-Instruct", "H100-SXM", &three).as_deref(),
            Some("--tensor-parallel-size 4 on 4 GPUs")
        );
    }
}
