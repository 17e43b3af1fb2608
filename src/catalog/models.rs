//! Models of the hub: published totals and the shapes behind them. Knows no formula.

use super::engines::weight_formats;
use super::table::Row;
use super::tables::ARCHITECTURES;
use crate::evidence::watched;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A row of `architectures.csv`: a model of the hub, its columns by name.
#[derive(Clone, Copy)]
pub struct Model(Row);

impl Model {
    /// Name on the hub.
    pub fn name(&self) -> &'static str {
        self.0.text("model")
    }

    /// All parameters, in billions.
    pub fn parameters_b(&self) -> Option<f64> {
        self.0.number("parameters_b")
    }

    /// Quantization of the published checkpoint; empty for none.
    pub fn quantization(&self) -> &'static str {
        self.0.text("quantization")
    }

    /// Size of the published checkpoint in GiB.
    pub fn files_gib(&self) -> Option<f64> {
        self.0.number("files_gib")
    }

    /// Whether the shape counts to the model's size: `hub` (size of the published files, within 1 %), `published`
    /// (published total, within 1 %), `name` (the size in its name, within 12 %), `shape` (the total was computed from
    /// the shape). With `total` the total holds and the shape does not.
    pub fn shape_holds(&self) -> bool {
        self.0.text("check") != "total"
    }

    /// The text of a column; empty where the catalog does not say.
    pub fn text(&self, column: &str) -> &'static str {
        self.0.text(column)
    }
}

/// Every model of the catalog.
pub fn models() -> impl Iterator<Item = Model> {
    ARCHITECTURES.rows().map(Model)
}

/// How the weights of a model of exactly this name are published, in lower case, when they are quantized.
pub fn published_quantization(name: &str) -> Option<String> {
    let known = model(name).filter(|known| known.name().eq_ignore_ascii_case(name))?;
    Some(known.quantization().to_lowercase()).filter(|method| !method.is_empty())
}

/// The model of a hub name; else one whose name says the same weights: another publisher's copy, or a quantized copy
/// (`…-AWQ`, `…-FP8`, `…-bnb-4bit`) of a model of the catalog.
pub fn model(name: &str) -> Option<Model> {
    static NAMES: OnceLock<HashMap<String, Model>> = OnceLock::new();
    static BASES: OnceLock<HashMap<String, Model>> = OnceLock::new();
    let names = || by(models(), str::to_ascii_lowercase);
    let bases = || {
        // Of several a model that is not quantized comes first; to look is not yet to use a row.
        let (plain, quantized): (Vec<_>, Vec<_>) =
            watched(|| models().partition(|model| model.quantization().is_empty())).0;
        by(plain.into_iter().chain(quantized), base_name)
    };
    let name = name.trim();
    let known = NAMES.get_or_init(names).get(&name.to_ascii_lowercase());
    known.or_else(|| BASES.get_or_init(bases).get(&base_name(name))).copied()
}

/// Models by what is made of their names, the first of each.
fn by(models: impl Iterator<Item = Model>, key: fn(&str) -> String) -> HashMap<String, Model> {
    let mut out = HashMap::new();
    for model in models {
        out.entry(key(model.name())).or_insert(model);
    }
    out
}

/// Parts at the end of a name that say how weights are stored, and nothing else.
const STORAGE: &[&str] = &[
    "-awq",
    "-gptq",
    "-int4",
    "-int8",
    "-fp8",
    "-fp8-dynamic",
    "-bf16",
    "-fp16",
    "-4bit",
    "-8bit",
    "-bnb",
    "-unsloth",
    "-nvfp4",
    "-gguf",
    "-hf",
    "-dynamic",
    "-quantized.w4a16",
    "-quantized.w8a8",
    "-quantized.w8a16",
    "-w4a16",
    "-w8a8",
    "-g128",
];

/// The name without publisher and storage, in lower case.
fn base_name(name: &str) -> String {
    let lower = name.rsplit('/').next().unwrap_or(name).to_lowercase().replace("meta-llama-", "llama-");
    let mut base = without_file_format(&lower);
    while let Some(shorter) = STORAGE.iter().find_map(|suffix| base.strip_suffix(suffix)) {
        base = shorter;
    }
    base.to_owned()
}

/// A file name without what says that it is one: `-Q4_K_M-00001-of-00002.gguf`.
fn without_file_format(name: &str) -> &str {
    let Some(stem) = name.strip_suffix(".gguf") else { return name };
    let part = stem.rsplit_once("-of-").filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
    let stem = part.and_then(|(head, _)| head.rsplit_once('-')).map_or(stem, |(head, _)| head);
    let types = weight_formats().filter_map(|f| f.strip_prefix("gguf-"));
    let ends = types.filter_map(|t| stem.strip_suffix(t)?.strip_suffix(['-', '.']));
    ends.min_by_key(|rest| rest.len()).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_stem() {
        assert_eq!(without_file_format("llama-3.1-8b-instruct-q4_k_m.gguf"), "llama-3.1-8b-instruct");
        assert_eq!(without_file_format("x.q8_0-00001-of-00002.gguf"), "x");
        assert_eq!(without_file_format("llama-3.1-8b"), "llama-3.1-8b");
    }

    #[test]
    fn copies_are_the_same_model() {
        let name = |text| model(text).map(|m| m.name());
        assert_eq!(name("meta-llama/llama-3.1-8b-instruct"), Some("meta-llama/Llama-3.1-8B-Instruct"));
        assert_eq!(
            name("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4"),
            Some("meta-llama/Llama-3.1-70B-Instruct")
        );
        assert_eq!(name("unsloth/Qwen2.5-7B-Instruct-bnb-4bit"), Some("Qwen/Qwen2.5-7B-Instruct"));
        assert_eq!(name("someone/Llama-3.1-70B-Instruct-pruned"), None);
    }
}
