//! Where the kinds of Kubernetes and of operators carry pods, which of their fields are absent when missing, and by which
//! keys configuration files are known.

use super::table::Row;
use super::tables::{
    CONFIGURATIONS, DISTINCT_ITEMS, FIELD_FLAGS, KINDS_WITHOUT_DEVICES, SERVING_RUNTIMES, WORKLOAD_KINDS,
};
use std::sync::LazyLock;

/// A place in a kind at which pods are described.
#[derive(Debug, Clone, Copy)]
pub struct PodPlace {
    /// Keys from the root of the object; `[]` steps into each item, `{}` into each value.
    pub path: &'static str,
    /// What stands there.
    pub stands: Stands,
    /// Role of the pods: a word, `{name}` of the item or `{key}` of the entry that they stand in.
    pub role: &'static str,
    /// Factors of the number of pods: paths from the item or entry that they stand in, alternatives after `|`.
    pub count: &'static str,
    /// Path of the replicas of the whole; blank where the kind has one.
    pub replicas: &'static str,
    /// Whether the pods work as one group.
    pub together: bool,
    /// What it means that a field is missing.
    pub absence: Absence,
}

/// What stands at a [`PodPlace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// `metadata` and `spec` of a pod.
    Template,
    /// The same, of a group of Ray's nodes.
    RayGroup,
    /// The spec of a pod.
    Spec,
    /// One container.
    Container,
    /// A group of a leader and workers.
    LeaderWorker,
    /// The trainer of a TrainJob.
    Trainer,
    /// A preset on machines of a type.
    Preset,
    /// A model, and the engine that serves it.
    Model,
    /// A service of Dynamo.
    Dynamo,
    /// The driver or the executors of a Spark application.
    Spark,
    /// A runtime of the production stack of vLLM.
    VllmRuntime,
    /// A service of LLMKube.
    LlmKube,
    /// A Playground of llmaz.
    Llmaz,
    /// A microservice of NIM.
    Nim,
    /// What fills a cache of NIM.
    NimCache,
    /// A container of Run:ai, whose fields are objects with a value.
    RunAi,
    /// An object of its own.
    Object,
    /// Something that its operator makes pods of in a way of its own.
    Shape,
}

/// What it means that a field is missing.
#[derive(Debug, Clone, Copy)]
pub enum Absence {
    /// It is absent, with the default of the API.
    Api,
    /// The same, but these fields are set by the operator.
    ApiBut(&'static [&'static str]),
    /// Only these fields are absent; another object or the operator may state the others.
    Only(&'static [&'static str]),
}

/// The kinds that hold templates of pods, each once: its API group and itself.
pub fn workload_kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut before = None;
    let kinds = WORKLOAD_KINDS.rows().map(|row| (row.text("group"), row.text("kind")));
    kinds.filter(move |kind| before.replace(*kind) != Some(*kind))
}

/// The places at which a kind carries pods; `None` for a kind without a row. Of a version whose schema was not read,
/// nothing that is missing is known.
pub fn pod_places(api_version: &str, kind: &str) -> Option<Vec<PodPlace>> {
    let (group, version) = group(api_version);
    let rows = WORKLOAD_KINDS.rows().filter(|row| row.text("group") == group && row.text("kind") == kind);
    let places: Vec<PodPlace> = rows.map(|row| place(row, version)).collect();
    (!places.is_empty()).then_some(places)
}

/// Whether objects of a kind ask for no device: what speaks of GPUs in them is a name, a metric or a description, or joins
/// look it up.
pub fn asks_for_no_device(api_version: &str, kind: &str) -> bool {
    let group = group(api_version).0;
    KINDS_WITHOUT_DEVICES.rows().any(|row| row.text("group") == group && ["*", kind].contains(&row.text("kind")))
}

/// Whether the API server refuses items of a list of pods or Services whose keys are the same.
pub fn are_distinct(field: &str, keys: &[&str]) -> bool {
    DISTINCT_ITEMS.about(field).any(|row| row.words("keys").eq(keys.iter().copied()))
}

/// The group and the version of an API.
fn group(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("core", api_version))
}

fn place(row: Row, version: &str) -> PodPlace {
    let read = row.words("versions").any(|read| read == version);
    PodPlace {
        path: row.text("path"),
        stands: match row.text("stands") {
            "template" => Stands::Template,
            "ray-group" => Stands::RayGroup,
            "spec" => Stands::Spec,
            "container" => Stands::Container,
            "leader-worker" => Stands::LeaderWorker,
            "trainer" => Stands::Trainer,
            "preset" => Stands::Preset,
            "model" => Stands::Model,
            "dynamo" => Stands::Dynamo,
            "spark" => Stands::Spark,
            "vllm-runtime" => Stands::VllmRuntime,
            "llmkube" => Stands::LlmKube,
            "llmaz" => Stands::Llmaz,
            "nim" => Stands::Nim,
            "nim-cache" => Stands::NimCache,
            "run-ai" => Stands::RunAi,
            "object" => Stands::Object,
            _ => Stands::Shape,
        },
        role: row.text("role"),
        count: row.text("count"),
        replicas: row.text("replicas"),
        together: row.text("together") == "yes",
        absence: if read { absence(row) } else { Absence::Only(&[]) },
    }
}

/// `api`, `api but` and fields, `only` and fields; blank for nothing that is known to be absent.
fn absence(row: Row) -> Absence {
    let text = row.text("absent");
    match text {
        "" => return Absence::Only(&[]),
        "api" => return Absence::Api,
        _ => {}
    }
    // The table is embedded and small: what is kept here is kept once for each of its rows.
    static FIELDS: std::sync::OnceLock<Vec<(&'static str, Vec<&'static str>)>> = std::sync::OnceLock::new();
    let all = FIELDS.get_or_init(|| {
        let texts = WORKLOAD_KINDS.rows().map(|row| row.text("absent"));
        texts
            .map(|text| (text, text.split(' ').filter(|word| !["api", "but", "only"].contains(word)).collect()))
            .collect()
    });
    let fields = all.iter().find(|(of, _)| *of == text).map_or(&[][..], |(_, fields)| fields);
    match text.split(' ').next() {
        Some("api") => Absence::ApiBut(fields),
        Some("only") => Absence::Only(fields),
        _ => Absence::Only(&[]),
    }
}
/// A field of a kind that its operator turns into a flag of the server.
#[derive(Debug, Clone, Copy)]
pub struct FieldFlag {
    /// Path of the field from `spec`.
    pub field: &'static str,
    /// The flag.
    pub flag: &'static str,
    /// Whether the flag stands alone, where the field is true.
    pub switch: bool,
}

/// The fields of a kind that become flags.
pub fn field_flags(kind: &str) -> impl Iterator<Item = FieldFlag> {
    FIELD_FLAGS.rows().filter(move |row| row.text("kind") == kind).map(|row| FieldFlag {
        field: row.text("field"),
        flag: row.text("flag"),
        switch: row.flag("switch") == Some(true),
    })
}

/// What KServe adds to the tag of a runtime's image for a model that asks for GPUs.
pub fn gpu_suffix(runtime: &str) -> Option<&'static str> {
    SERVING_RUNTIMES.rows().find(|row| row.text("runtime") == runtime).map(|row| row.text("gpu_suffix"))
}

/// Configuration files that are known by their keys, with the kind of object that each is read as: LiteLLMConfig,
/// MigConfig. A key is a path from the root, with the shape of what stands there: `model_list:seq`.
pub fn configurations() -> &'static [(&'static str, Vec<&'static str>)] {
    static ALL: LazyLock<Vec<(&str, Vec<&str>)>> =
        LazyLock::new(|| CONFIGURATIONS.rows().map(|row| (row.text("kind"), row.words("keys").collect())).collect());
    &ALL
}
