//! Training runs: what command lines and configuration files state about them. Knows how the files of trainers look;
//! what their options mean are rows of the catalog.

use super::{install, launch};
use crate::catalog;
use crate::facts::value::REST;
use crate::facts::{Document, Facts, Launch, Training};
use crate::known::{Fact, Known};
use crate::parse::{Node, Raw, Tree, View, placeholder, shell};
use crate::source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keys by which a configuration file is known: all of the first list, one of the second.
const SHAPES: &[(&str, &[&str], &[&str])] = &[
    ("deepspeed", &[], &["zero_optimization", "train_micro_batch_size_per_gpu"]),
    ("accelerate", &["distributed_type"], &["compute_environment", "mixed_precision", "num_processes"]),
    ("axolotl", &["base_model"], &["micro_batch_size", "sequence_len", "datasets", "adapter"]),
    ("llama-factory", &["model_name_or_path"], &["finetuning_type", "cutoff_len", "stage"]),
    ("transformers", &["model_name_or_path"], &["per_device_train_batch_size", "num_train_epochs", "max_steps"]),
];

/// The same for files whose keys stand below others.
const NESTED: &[(&str, &[&str])] = &[
    ("kaito", &["training_config.TrainingArguments"]),
    ("nemo", &["trainer.devices", "model.micro_batch_size"]),
    ("litgpt", &["train.micro_batch_size", "train.global_batch_size", "devices"]),
    ("megatron", &["MODEL_ARGS.--micro-batch-size"]),
    ("verl", &["actor_rollout_ref.rollout", "trainer.n_gpus_per_node"]),
    ("verl", &["actor_rollout_ref.rollout", "actor_rollout_ref.actor"]),
    ("nemo-rl", &["policy.model_name", "cluster.gpus_per_node"]),
];

/// Trainers that Hydra configures, and how the assignments among the words of their commands begin.
const HYDRA: &[(&str, &[&str])] = &[
    ("verl", &["actor_rollout_ref.", "trainer.n_gpus_per_node="]),
    ("nemo-rl", &["cluster.gpus_per_node=", "cluster.num_nodes=", "policy.generation."]),
];

/// Parts of a policy of NeMo RL of which one is in use, and whether it is the one without being said so.
const BACKENDS: [(&str, bool); 2] = [("policy.dtensor_cfg.", true), ("policy.megatron_cfg.", false)];

/// Flags of Megatron that state the shape of the model.
const SHAPE: [&str; 11] = [
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "ffn_hidden_size",
    "kv_channels",
    "num_query_groups",
    "vocab_size",
    "swiglu",
    "untie_embeddings_and_output_weights",
    "num_experts",
    "multi_latent_attention",
];

/// The key under which a file holds the flags of Megatron's command.
const FLAGS: &str = "MODEL_ARGS";

/// Programs and modules by which the trainer of a command is known, and flags that no other one has.
const COMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("axolotl", &["axolotl", "axolotl.cli.train"], &[]),
    ("llama-factory", &["llamafactory-cli", "lmf"], &["finetuning-type", "cutoff-len"]),
    ("torchtune", &["tune"], &[]),
    ("megatron-swift", &["megatron"], &[]),
    ("megatron", &[], &["tensor-model-parallel-size", "use-distributed-optimizer", "recompute-granularity"]),
    ("swift", &["swift"], &[]),
    ("torchtitan", &["torchtitan.train"], &["job.config-file", "parallelism.tensor-parallel-degree"]),
    ("trl", &["trl"], &[]),
    ("transformers", &[], &["per-device-train-batch-size"]),
];

/// Words of launchers behind which stands what they run.
const RUNS: &[&str] = &["-m", "--module", "launch"];

/// Flags that name a configuration file.
const FILES: &[&str] =
    &["deepspeed", "deepspeed-config", "deepspeed-config-file", "config", "config-file", "fsdp-config"];

/// The flag that names the configuration of torchtitan, which is TOML.
const TOML_FILE: &str = "job.config-file";

/// Launchers whose scripts may take their options from a file.
const LAUNCHERS: &[&str] = &["accelerate", "deepspeed", "torchrun", "mpirun", "python"];

/// The trainer whose configuration a document is.
pub fn kind(root: Node<'_>) -> Option<&'static str> {
    let has = |key: &&str| root.get(key).is_some();
    // Where several models are trained together, none of them is called so.
    let component = |key: &str| root.get(key)?.get("_component_")?.text();
    let components = ["model", "policy_model", "tokenizer"].into_iter().filter_map(component);
    if components.into_iter().any(|name| name.starts_with("torchtune.")) {
        return Some("torchtune");
    }
    let nested = |(_, keys): &&(&str, &[&str])| keys.iter().all(|key| root.path(key).is_some());
    let shape = |(_, all, any): &&(_, &[&str], &[&str])| all.iter().all(has) && (any.is_empty() || any.iter().any(has));
    let shape = || SHAPES.iter().find(shape).map(|(trainer, ..)| *trainer);
    let nested = || NESTED.iter().find(nested).map(|(trainer, _)| *trainer);
    if root.is_map() { shape().or_else(nested) } else { None }
}

/// Options of TRL that no other trainer's files have beside those of transformers.
const OF_TRL: [&str; 7] = [
    "dataset_mixer",
    "dataset_mixture",
    "dataset_test_split",
    "dataset_train_split",
    "reward_funcs",
    "use_bnb_nested_quant",
    "use_peft",
];

/// Whether a trainer's configuration is one for TRL: its own options beside those of transformers.
pub fn is_of_trl(root: Node<'_>) -> bool {
    kind(root) == Some("transformers") && OF_TRL.iter().any(|key| root.get(key).is_some())
}

/// The components of torchtune that a configuration names, down to a depth: each is a document, of its arguments.
pub fn components(tree: &Arc<Tree>, view: View<'_>, depth: usize, facts: &mut Facts) {
    if depth == 0 {
        return;
    }
    let name = view.get("_component_").string();
    if let Some(kind) = name.get().filter(|name| name.starts_with("torchtune.")) {
        facts.documents.push(Document { named: Some(name.span), ..Document::new(kind.clone(), Raw::new(tree, view)) });
    }
    let inner = view.items().chain(view.entries().into_iter().map(|(_, child)| child));
    inner.for_each(|child| components(tree, child, depth - 1, facts));
}

/// What a file in TOML states that a command names as the configuration of torchtitan. Other files in TOML have no flavors
/// of models beside degrees of parallelism.
pub fn of_toml(root: Node<'_>, path: &str) -> Option<Training> {
    let degrees = ["parallelism", "training", "experimental"].iter().any(|table| root.get(table).is_some());
    (degrees && root.path("model.flavor").is_some()).then(|| document("torchtitan", root, path))
}

/// What a trainer's configuration file states.
pub fn document(trainer: &str, root: Node<'_>, path: &str) -> Training {
    let mut out = Training::blank(root.head());
    out.path = Fact::value(path.to_owned(), root.head());
    out.trainer = Fact::value(trainer.to_owned(), root.head());
    read(trainer, &mut out, |key| {
        let view = option(trainer, root.view(), key);
        let items = view.strings();
        match items.first() {
            // A list of switches reads like the text that names them.
            Some(first) => {
                let text: Vec<&str> = items.iter().filter_map(|item| item.get().map(String::as_str)).collect();
                Some(Fact::value(text.join(" "), first.span))
            }
            None => Some(scalar(view)).filter(|fact| !fact.is_absent()),
        }
    });
    out
}

/// Where an option stands: below the keys that lead to it, or under the flag that it is.
fn option<'t>(trainer: &str, root: View<'t>, key: &str) -> View<'t> {
    match root.node().and_then(|node| node.get(FLAGS)) {
        Some(_) if trainer == "megatron" => root.get(FLAGS).get(&format!("--{}", key.replace('_', "-"))),
        _ => root.path(key),
    }
}

/// A scalar as text; a collection where a text is expected says nothing.
fn scalar(view: View<'_>) -> Fact<String> {
    match view.node() {
        Some(node) if node.is_map() || node.is_seq() => Fact::absent(view.place()),
        _ => view.string(),
    }
}

/// Scripts that a ConfigMap holds.
pub fn config_map(view: View<'_>, facts: &mut Facts) {
    let name = view.path("metadata.name").string();
    let Some(name) = name.get() else { return };
    for (key, text) in view.get("data").entries() {
        let Some(text) = text.traced().filter(|t| t.text().contains('\n')) else { continue };
        let at = format!("ConfigMap/{name}/{key}");
        if key.ends_with(".sh") || text.text().starts_with("#!") {
            let script = shell::parse(&text);
            facts.package_files.extend(install::of_script(&script, &at).into_iter().map(Arc::new));
            facts.scripts.extend(launch::of_script(&script, &BTreeMap::new()).map(|launch| {
                let training = of(&launch);
                (at, launch, training)
            }));
        }
    }
}

/// Whether a text may be a trainer's configuration.
pub fn may_be_file(text: &str) -> bool {
    let keys = SHAPES.iter().flat_map(|(_, all, any)| all.iter().chain(*any));
    keys.chain(&["_component_", "training_config", "actor_rollout_ref", "gpus_per_node"]).any(|key| text.contains(key))
}

/// The training run that a command starts; `None` when nothing says that it is one.
pub fn of(launch: &Launch) -> Option<Box<Training>> {
    let words: Vec<&Fact<String>> = launch.words.iter().filter(|w| w.get().is_some()).collect();
    let text = |fact: &Fact<String>| fact.get().map_or("", |t| t.rsplit('/').next().unwrap_or(t)).to_owned();
    // What runs stands first, or where a launcher is told what to run.
    let told = |before: &Fact<String>| before.get().is_some_and(|word| RUNS.contains(&word.as_str()));
    let inner = words.windows(2).filter(|pair| told(pair[0])).map(|pair| text(pair[1]));
    let run: Vec<String> = words.first().map(|program| text(program)).into_iter().chain(inner).collect();
    let named = |(_, programs, marks): &&(&str, &[&str], &[&str])| {
        run.iter().any(|program| programs.contains(&program.as_str()))
            || marks.iter().any(|m| launch.flags.contains_key(*m))
    };
    let trainer = COMMANDS.iter().find(named).map(|(trainer, ..)| *trainer).or_else(|| by_hydra(&launch.words));
    let configs = configurations(launch, &words, trainer);
    let launched = launch.engine.get().is_some_and(|engine| LAUNCHERS.contains(&engine.as_str()));
    if trainer.is_none() && (!launched || configs.is_empty()) {
        return None;
    }
    let mut out = Box::new(Training::blank(launch.span));
    if let Some(trainer) = trainer {
        out.trainer = Fact::value(trainer.to_owned(), launch.engine.span);
        read(trainer, &mut out, |key| {
            let assigned = || launch.words.iter().rev().find_map(|word| assignment(word, key));
            launch.flags.get(&key.replace('_', "-")).cloned().or_else(assigned)
        });
    }
    out.configs = configs;
    Some(out)
}

/// The files that a command names: by a flag, or as a word of their own. A recipe of torchtune is one that is not at hand.
fn configurations(launch: &Launch, words: &[&Fact<String>], trainer: Option<&str>) -> Vec<Fact<String>> {
    let recipe = |flag: &str| trainer == Some("torchtune") && flag == "config";
    let is_file = |fact: &Fact<String>| fact.get().is_none_or(|text| is_configuration(text));
    let flagged = launch.flags.iter().filter(|(flag, value)| {
        FILES.contains(&flag.as_str()) && (recipe(flag) || is_file(value)) || flag.as_str() == TOML_FILE
    });
    let starts = |word: &Fact<String>, sign: &str| word.get().is_some_and(|text| text.starts_with(sign));
    let alone = words.windows(2).filter(|pair| {
        !starts(pair[0], "--") && !starts(pair[1], "-") && !pair[1].get().is_some_and(|t| t.contains('='))
    });
    let alone = alone.map(|pair| pair[1]).filter(|word| word.get().is_some_and(|text| is_configuration(text)));
    let mut out: Vec<Fact<String>> = flagged.map(|(_, value)| value.clone()).chain(alone.cloned()).collect();
    out.sort_by_key(|config| config.span);
    out.dedup_by_key(|config| config.span);
    out
}

/// The trainer whose options of Hydra stand among the words of a command.
fn by_hydra(words: &[Fact<String>]) -> Option<&'static str> {
    let assigns = |word: &Fact<String>, start: &str| {
        word.get().is_some_and(|text| text.contains('=') && text.trim_start_matches('+').starts_with(start))
    };
    let of = |(_, starts): &&(&str, &[&str])| starts.iter().any(|start| words.iter().any(|word| assigns(word, start)));
    HYDRA.iter().find(of).map(|(trainer, _)| *trainer)
}

/// The value of a word `key=value`; Hydra adds a key behind `+`.
fn assignment(word: &Fact<String>, key: &str) -> Option<Fact<String>> {
    let value = word.get()?.trim_start_matches('+').strip_prefix(key)?.strip_prefix('=')?;
    let start = word.span.end as usize - value.len().min(word.span.range().len());
    let place = Span::new(word.span.source, start..word.span.end as usize);
    Some(match placeholder(value) {
        Some(why) => Fact::unknown(why, place),
        None => Fact::value(value.trim_matches(['\'', '"']).to_owned(), place),
    })
}

fn is_configuration(text: &str) -> bool {
    !text.contains("://") && [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end) && text.len() > end.len())
}

/// Reads the options of a trainer; an option that is left to the trainer (`auto`) states nothing.
fn read(trainer: &str, out: &mut Training, lookup: impl Fn(&str) -> Option<Fact<String>>) {
    let in_use = |key: &str| {
        let Some((backend, unsaid)) = BACKENDS.iter().find(|(start, _)| key.starts_with(start)) else { return true };
        match lookup(&format!("{backend}enabled")) {
            Some(stated) => stated.get().is_some_and(|stated| stated.eq_ignore_ascii_case("true")),
            None => *unsaid,
        }
    };
    for option in catalog::training_options(trainer) {
        let Some(fact) = lookup(option.key).filter(|_| in_use(option.key)) else { continue };
        let meaning = fact.and_then(|value| match option.meaning(&value) {
            Some("auto" | "none" | "None" | "null" | "") | None => Known::Absent,
            Some(meaning) => Known::Value(meaning.to_owned()),
        });
        if meaning.is_absent() {
            continue;
        }
        let half = |precision: &Fact<String>| precision.get().filter(|t| t.contains("16")).map(|t| t.contains("bf16"));
        let both = half(&out.precision).zip(half(&meaning));
        if option.field == "precision" && both.is_some_and(|(first, second)| first != second) {
            out.other_precision = std::mem::replace(&mut out.precision, Fact::absent(out.span));
        }
        out.set(option.field, meaning);
    }
    if trainer == "megatron"
        && out.model.is_absent()
        && let Some(model) = shape(lookup)
    {
        out.model = model;
    }
}

/// The model that Megatron is told by its shape: the flags that state it, as they are written.
fn shape(lookup: impl Fn(&str) -> Option<Fact<String>>) -> Option<Fact<String>> {
    let stated: Vec<(&str, Fact<String>)> = SHAPE.iter().filter_map(|key| Some((*key, lookup(key)?))).collect();
    let (_, first) = stated.first().filter(|(key, _)| *key == SHAPE[0])?;
    // What else is stated may be about the shape, too.
    let open = stated.iter().map(|(_, fact)| fact.clone()).chain(lookup(REST)).find(Fact::is_unknown);
    if open.is_some() {
        return open;
    }
    let flag = |(key, fact): &(&str, Fact<String>)| {
        let name = key.replace('_', "-");
        match fact.get().map(String::as_str) {
            Some("false") => None,
            Some("true" | "") | None => Some(format!("--{name}")),
            Some(value) => Some(format!("--{name} {value}")),
        }
    };
    Some(Fact::value(stated.iter().filter_map(flag).collect::<Vec<_>>().join(" "), first.span))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    #[test]
    fn a_configuration_of_torchtune_is_told_by_its_components() {
        let of = |text: &str| yaml::parse(SourceId(0), text, Dialect::Core).roots().next().and_then(kind);
        assert_eq!(of("model: {_component_: torchtune.models.gemma.gemma_2b}"), Some("torchtune"));
        assert_eq!(of("policy_model: {_component_: torchtune.models.llama2.llama2_7b}"), Some("torchtune"));
        assert_eq!(of("tokenizer: {_component_: other.Tokenizer}"), None);
    }
}
