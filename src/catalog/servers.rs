//! Accelerator resources, flags of launchers, what engines need, Kubernetes and TLS tables.

use super::complete;
use super::table::{Patterned, Row, closest};
use super::tables::{
    ACCELERATOR_RESOURCES, ACCELERATOR_VENDORS, DEVICE_CLASSES, DEVICE_PLUGINS, FABRIC_RESOURCES,
    FEATURE_COMPUTE_CAPABILITIES, GATED_MODELS, KUBERNETES_API_REMOVALS, LAUNCH_FLAGS, MODEL_SUPPORT,
};
use crate::suggest::{self, slips};
use crate::version::Version;
use std::sync::OnceLock;

/// An extended resource that stands for accelerators.
#[derive(Debug, Clone, Copy)]
pub struct Accelerator {
    /// nvidia, amd, intel, google, aws, habana …
    pub vendor: &'static str,
    /// Whether its quantity counts devices (else memory, cores or percent of one).
    pub devices: bool,
    /// What is counted: gpu, mig-slice, share, tpu-chip, neuron-device, neuron-core, gaudi, npu, mlu, gcu.
    pub device: &'static str,
    /// What one of them is called.
    pub name: &'static str,
}

/// The resource by which every DeviceClass may be asked for, before the name of the class.
const OF_CLASS: &str = "deviceclass.resource.kubernetes.io/";

fn resource_row(resource: &str) -> Option<Row> {
    let class = resource.strip_prefix(OF_CLASS).and_then(|class| DEVICE_CLASSES.find("class", class));
    let resource = class.map_or(resource, |class| class.text("resource"));
    ACCELERATOR_RESOURCES.rows().find(|r| match r.text("resource").strip_suffix('*') {
        Some(prefix) => resource.starts_with(prefix),
        None => resource == r.text("resource"),
    })
}

/// The resource by which whole GPUs of a vendor are asked for.
pub fn whole_gpu(vendor: &str) -> &'static str {
    let counts =
        |row: &Row| row.text("vendor") == vendor && row.text("unit") == "device" && row.text("device") == "gpu";
    ACCELERATOR_RESOURCES.rows().find(counts).map_or("", |row| row.text("resource"))
}

/// The accelerator behind an extended resource name; a pattern ends in `*`.
pub fn accelerator(resource: &str) -> Option<Accelerator> {
    let row = resource_row(resource).filter(|row| row.text("vendor") != "none")?;
    let (device, name) = (row.text("device"), row.text("name"));
    Some(Accelerator { vendor: row.text("vendor"), devices: row.text("unit") == "device", device, name })
}

/// Whose accelerators a device of the host stands for: by its name in the Container Device Interface, or as the driver
/// calls it.
pub fn device_vendor(device: &str) -> Option<&'static str> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    if let Some((kind, _)) = device.split_once('=') {
        return Some(accelerator(kind)?.vendor);
    }
    let mut nodes = READ.get_or_init(|| Patterned::all(&ACCELERATOR_VENDORS, "nodes")).iter();
    nodes.find(|row| row.pattern().is_some_and(|nodes| nodes.is_match(device))).map(|row| row.row.text("vendor"))
}

/// Whether an extended resource has no row and so may stand for accelerators of any unit. Names of Kubernetes' own
/// domains and those without a domain are no extended resources.
pub fn resource_unknown(resource: &str) -> bool {
    if let Some(class) = resource.strip_prefix(OF_CLASS) {
        return DEVICE_CLASSES.find("class", class).is_none();
    }
    let domain = resource.split_once('/').map(|(domain, _)| domain);
    domain.is_some_and(|domain| !domain.ends_with("kubernetes.io")) && resource_row(resource).is_none()
}

/// The domain of what a device plugin offers, where a line names its image or its chart.
pub fn device_plugin(line: &str) -> Option<&'static str> {
    DEVICE_PLUGINS.rows().find(|row| line.contains(row.text("sign"))).map(|row| row.text("domain"))
}

/// What a DeviceClass of a published driver hands out: accelerators, or other devices.
pub fn device_class(class: &str) -> Option<Option<Accelerator>> {
    Some(accelerator(DEVICE_CLASSES.find("class", class)?.text("resource")))
}

/// The DeviceClass of a published driver that selects by the driver and the `type` of its devices.
pub fn device_class_of(driver: &str, kind: Option<&str>) -> Option<&'static str> {
    let fits =
        |row: &Row| row.text("driver") == driver && (row.text("type").is_empty() || kind == Some(row.text("type")));
    DEVICE_CLASSES.rows().find(|row| !driver.is_empty() && fits(row)).map(|row| row.text("class"))
}

/// Whether an extended resource is a device of a fast network.
pub fn is_fabric(resource: &str) -> bool {
    FABRIC_RESOURCES.rows().any(|row| match row.text("resource").trim_matches('*') {
        part if row.text("resource").starts_with('*') => resource.contains(part),
        part if row.text("resource").ends_with('*') => resource.starts_with(part),
        name => resource == name,
    })
}

/// The accelerator resource that an unknown name means: a slip of a letter or two, or another case.
pub fn nearest_accelerator(resource: &str) -> Option<&'static str> {
    let (domain, name) = resource.split_once('/')?;
    if accelerator(resource).is_some() {
        return None;
    }
    let rows = ACCELERATOR_RESOURCES.rows().filter(|row| row.text("vendor") != "none");
    let known = rows.map(|r| r.text("resource")).filter(|r| !r.ends_with('*'));
    let like = |known: &&str| {
        known.split_once('/').is_some_and(|(other_domain, other)| {
            slips(domain, other_domain) == 0 && slips(name, other) <= 1
                || name == other && slips(domain, other_domain) <= 4
        })
    };
    suggest::closest(resource, known.filter(like)).map(|(_, known)| known)
}

/// A flag of a launcher that states a fact.
#[derive(Debug, Clone, Copy)]
pub struct LaunchFlag {
    /// Field of the launch.
    pub field: &'static str,
    /// Names of the flag without dashes, space separated.
    pub flags: &'static str,
    /// Variables that stand for it.
    pub envs: &'static str,
}

/// The flags of an engine.
pub fn launch_flags(engine: &str) -> impl Iterator<Item = LaunchFlag> {
    LAUNCH_FLAGS.rows().filter(move |r| r.text("engine") == engine).map(|row| LaunchFlag {
        field: row.text("field"),
        flags: row.text("flags"),
        envs: row.text("envs"),
    })
}

/// The flag of an engine that names a file of options, and whether what that states comes before the command line.
pub fn options_file(engine: &str) -> Option<(LaunchFlag, bool)> {
    launch_flags(engine).find_map(|flag| match flag.field {
        "options_file" => Some((flag, false)),
        "options_file_first" => Some((flag, true)),
        _ => None,
    })
}

/// The Kubernetes release that no longer serves an API version of a kind; none for the other versions of a kind of which all
/// removals are rows.
pub fn api_removed_in(api_version: &str, kind: &str) -> Option<Option<Version>> {
    let table = &KUBERNETES_API_REMOVALS;
    match table.rows().find(|r| r.text("api_version") == api_version && r.text("kind") == kind) {
        Some(row) => Some(row.version("removed_in")),
        None => complete(table.name, kind).then_some(None),
    }
}

/// The compute capabilities that a feature of an engine runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureNeeds {
    /// The lowest; absent when `only` says it all.
    pub min: Option<Version>,
    /// The only ones, space separated; empty when every newer one does.
    pub only: &'static str,
}

impl FeatureNeeds {
    /// Whether a compute capability will do.
    pub fn met_by(&self, compute_capability: &Version) -> bool {
        let listed = || self.only.split_ascii_whitespace().filter_map(Version::parse).any(|v| v == *compute_capability);
        self.min.as_ref().is_none_or(|min| compute_capability >= min) && (self.only.is_empty() || listed())
    }
}

/// What a feature of an engine needs: `feature` is dtype, quantization, kv_cache_dtype, attention_backend, or engine
/// with an empty value for the engine itself. Rows that depend on the version answer only when it is known.
pub fn feature_needs(engine: &str, feature: &str, value: &str, version: Option<&Version>) -> Option<FeatureNeeds> {
    let named = |r: &Row| {
        r.text("engine") == engine && r.text("feature") == feature && r.text("value").eq_ignore_ascii_case(value)
    };
    let holds = |r: &Row| r.text("versions").is_empty() || version.is_some_and(|v| r.holds(v));
    // A row without versions says what holds of all releases; it stands before those that say more of some.
    let row = FEATURE_COMPUTE_CAPABILITIES.rows().filter(|r| named(r) && holds(r)).last()?;
    Some(FeatureNeeds { min: row.version("min"), only: row.text("only") })
}

/// The first release of an engine that serves a model.
pub fn model_supported_since(engine: &str, model: &str) -> Option<Version> {
    let name = model.rsplit('/').next().unwrap_or(model);
    closest(MODEL_SUPPORT.rows().filter(|row| row.text("engine") == engine), "models", name)?.version("since")
}

/// Whether the files of a model of Hugging Face go only to accounts that accepted its licence.
pub fn model_gated(model: &str) -> bool {
    closest(GATED_MODELS.rows(), "models", model).inspect(|row| row.used()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(text).expect("version")
    }

    #[test]
    fn features_and_hardware() {
        let bfloat16 = feature_needs("vllm", "dtype", "bfloat16", None).expect("a row");
        assert!(!bfloat16.met_by(&v("7.5")) && bfloat16.met_by(&v("8.0")));
        let fa3 = feature_needs("sglang", "attention_backend", "fa3", None).expect("a row");
        assert!(fa3.met_by(&v("9.0")) && fa3.met_by(&v("8.9")) && !fa3.met_by(&v("10.0")));
        let early = feature_needs("sglang", "attention_backend", "fa3", Some(&v("0.4.6"))).expect("a row");
        assert!(!early.met_by(&v("8.9")), "the first releases ask for Hopper");
        let fp8 = |release: &str| feature_needs("vllm", "quantization", "fp8", Some(&v(release))).expect("a row");
        assert!(fp8("0.9.2").met_by(&v("8.0")) && !fp8("0.5.0").met_by(&v("8.0")));
        let unknown = feature_needs("vllm", "quantization", "fp8", None).expect("a row");
        assert!(unknown.met_by(&v("7.5")), "a newer release may run it");
        assert_eq!(feature_needs("vllm", "engine", "", None), None, "depends on the version");
    }

    #[test]
    fn models_and_engines() {
        assert_eq!(model_supported_since("vllm", "openai/gpt-oss-20b"), Some(v("0.10.1")));
        assert_eq!(model_supported_since("vllm", "Qwen/Qwen3-8B"), Some(v("0.8.4")));
        assert_eq!(model_supported_since("vllm", "Qwen/Qwen2.5-7B"), None);
    }
}
