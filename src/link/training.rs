//! Configuration files that training commands name: in the repository, or in a ConfigMap that the pod mounts.

use super::boundary::{Deployed, Reach};
use super::candidates::Candidates;
use super::mounted::find;
use crate::catalog;
use crate::facts::{Launch, Training, Workload};
use crate::known::{Fact, Known, Why};
use crate::paths;
use crate::source::{SourceId, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Most files that are read for one run, with those that they name.
const MOST_FILES: usize = 32;

/// Files of trainers, by the last part of their names, which are paths.
type Files<'a> = Candidates<'a, &'a str, &'a Training>;

/// What `trl` trains with, and the files that it is told to read for that.
const METHODS: [&str; 6] = ["sft", "dpo", "grpo", "kto", "reward", "rloo"];

/// The commands that read a file, each with the keys of the file that its own options state again.
pub type Commands = BTreeMap<String, BTreeSet<String>>;

/// Fills what command lines leave out from the files that they name, then with what the trainer does by default. `named` is told
/// which files a program reads by itself.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>, named: &mut BTreeMap<Span, Commands>) {
    let told = Mutex::new(named);
    let files: Files<'_> = Candidates::gather(deployed, Reach::Deployment, |facts| {
        facts.trainings.iter().map(|file| (file.span.source, vec![paths::name(path(file))], &**file)).collect()
    });
    deployed.each(workloads, |workload, boundary| {
        workload.pods.iter_mut().for_each(|pod| {
            let mut containers = std::mem::take(&mut pod.containers);
            for container in &mut containers {
                let Some(mut training) = container.training.take() else { continue };
                if let Some(launch) = container.launch.as_deref()
                    && let Some((method, name)) = by_trl(launch)
                    && let Some(file) = find(name, (pod, container), (&files, boundary), shown)
                {
                    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                    let commands = told.entry(file.span).or_default();
                    commands.entry(format!("trl {method}")).or_default().extend(options(launch));
                }
                complete(&mut training, |name| find(name, (pod, container), (&files, boundary), shown));
                container.training = Some(training);
            }
            pod.containers = containers;
        })
    });
}

/// The method that a command of `trl` trains with, and the file that it reads. Only a word of its own names one.
fn by_trl(launch: &Launch) -> Option<(&str, &Fact<String>)> {
    let word = |fact: &Fact<String>| fact.get().map_or("", String::as_str).to_owned();
    let starts = |pair: &[Fact<String>]| word(&pair[0]).rsplit('/').next() == Some("trl");
    let method = launch.words.windows(2).find(|pair| starts(pair)).and_then(|pair| pair[1].get())?;
    let file = launch.words.windows(2).find(|pair| word(&pair[0]) == "--config").map(|pair| &pair[1])?;
    METHODS.contains(&method.as_str()).then_some((method.as_str(), file))
}

/// The names of the options of a command, as keys of a file of arguments are spelt.
fn options(launch: &Launch) -> impl Iterator<Item = String> {
    let words = launch.words.iter().filter_map(|word| word.get()?.strip_prefix("--"));
    words.map(|word| word.split_once('=').map_or(word, |(name, _)| name).replace('-', "_"))
}

/// Takes over the files that a run names, and the files that those name. While one of them is not at hand, what
/// nobody states is unknown.
fn complete<'f>(training: &mut Training, find: impl Fn(&Fact<String>) -> Option<&'f Training>) {
    let mut missing = None;
    let mut next = 0;
    while let Some(name) = training.configs.get(next).filter(|_| next < MOST_FILES).cloned() {
        next += 1;
        match find(&name) {
            Some(file) => {
                training.configs.extend(file.configs.iter().cloned());
                if training.trainer.is_absent() && !file.is_part() {
                    training.trainer = file.trainer.clone();
                }
                if file.trainer.get().is_some_and(|trainer| trainer == "deepspeed") {
                    let found = conflicts(training, file);
                    training.conflicts.extend(found);
                }
                training.fill(file.clone());
            }
            None => missing = missing.or(Some(name)),
        }
    }
    let supplied = match missing.or_else(|| training.configs.get(next).cloned()) {
        Some(name) => unknown(&name),
        None => defaults(training),
    };
    training.fill(supplied);
}

/// What DeepSpeed's file and a trainer of the transformers family both state, and differently: the trainer compares
/// them when it starts.
fn conflicts(training: &Training, file: &Training) -> Vec<Fact<String>> {
    let compares = |trainer: &String| matches!(trainer.as_str(), "transformers" | "trl" | "llama-factory" | "axolotl");
    if !training.trainer.get().is_some_and(compares) {
        return Vec::new();
    }
    fn differ<T: PartialEq + std::fmt::Display>(key: &str, stated: &Fact<T>, file: &Fact<T>) -> Option<Fact<String>> {
        let (stated, found) = (stated.get()?, file.get()?);
        (stated != found).then(|| Fact::value(format!("{key} is {found}, not {stated}"), file.span))
    }
    let batch = differ("train_micro_batch_size_per_gpu", &training.micro_batch_size, &file.micro_batch_size);
    let steps = differ("gradient_accumulation_steps", &training.accumulation_steps, &file.accumulation_steps);
    let precision = differ("precision", &training.precision, &file.precision);
    batch.into_iter().chain(steps).chain(precision).collect()
}

/// Every field unknown because a file is not at hand.
fn unknown(name: &Fact<String>) -> Training {
    let what = name.get().map_or("a configuration file", String::as_str);
    let mut out = Training::blank(name.span);
    for field in Training::TYPE.fields {
        out.set(field.name, Fact::unknown(Why::Remote(what.into()), name.span));
    }
    out
}

/// What the trainer does when nothing is stated.
fn defaults(training: &Training) -> Training {
    let mut out = Training::blank(training.trainer.span);
    if let Known::Value(trainer) = &training.trainer.known {
        for (field, value) in catalog::training_defaults(trainer) {
            out.set(field, Fact::value(value.to_owned(), training.trainer.span));
        }
    }
    out
}

/// Where a file stands.
fn shown(file: &&Training) -> Option<(String, SourceId)> {
    Some((path(file).to_owned(), file.span.source))
}

fn path(file: &Training) -> &str {
    file.path.get().map_or("", String::as_str)
}
