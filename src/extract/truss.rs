//! Models that Baseten serves: the machine, the image and the server of a Truss. Knows its `config.yaml`.
//! https://docs.baseten.co/reference/truss-configuration

use super::recipes::{self, Recipe};
use super::skypilot::{self, Task};
use super::{image, kubernetes, launch};
use crate::facts::{Facts, Gpu, Launch, Node, Variables, WorkloadFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node as Yaml, Raw, Tree, View};
use crate::source::Traced;
use crate::version::Version;
use std::sync::Arc;

/// Keys that only a Truss has beside its name and resources.
const OWN: [&str; 10] = [
    "model_metadata",
    "docker_server",
    "trt_llm",
    "base_image",
    "environment_variables",
    "model_class_name",
    "model_cache",
    "external_package_dirs",
    "build_commands",
    "python_version",
];

/// Keys of the machine that it runs on.
const RESOURCES: [&str; 7] = ["accelerator", "cpu", "memory", "use_gpu", "node_count", "instance_type", "fabric"];

/// Settings of the engine that Baseten builds, and the options of the engine's own server that say the same.
const ENGINE: [(&str, &str); 8] = [
    ("build.tensor_parallel_count", "tp-size"),
    ("build.pipeline_parallel_count", "pp-size"),
    ("build.max_seq_len", "max-seq-len"),
    ("build.max_batch_size", "max-batch-size"),
    ("runtime.tensor_parallel_size", "tp-size"),
    ("runtime.max_seq_len", "max-seq-len"),
    ("runtime.max_batch_size", "max-batch-size"),
    ("runtime.kv_cache_free_gpu_mem_fraction", "kv-cache-free-gpu-memory-fraction"),
];

/// Whether a document is a Truss.
pub fn is_truss(root: Yaml<'_>) -> bool {
    let Some(resources) = root.get("resources").filter(|resources| resources.is_map()) else { return false };
    let known = |(key, _): &(Yaml<'_>, Yaml<'_>)| key.text().is_some_and(|key| RESOURCES.contains(&key));
    let named = root.get("model_name").is_some() || root.get("trt_llm").is_some();
    let own = OWN.iter().filter(|key| root.get(key).is_some()).count();
    own >= if named { 1 } else { 2 } && resources.entries().iter().all(known)
}

/// Reads a Truss.
pub fn read(tree: &Arc<Tree>, root: Yaml<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let (resources, server) = (view.get("resources"), view.get("docker_server"));
    let base = view.path("base_image.image");
    let env = kubernetes::environment(view.get("environment_variables"));
    let recipe = Recipe {
        tool: "truss",
        base: base.traced().ok_or(root.head()),
        system: view.get("system_packages"),
        python: view.get("requirements"),
        file: view.get("requirements_file"),
        commands: view.get("build_commands").items().filter_map(View::traced).collect(),
        env: Variables::new(),
    };
    if let Some(mut build) = recipes::build(recipe, path, facts) {
        // An image of one's own has a Python of its own.
        if !base.is_some() {
            build.python_release = view.get("python_version").parse(release);
        }
        facts.builds.push(Arc::new(build));
    }
    let (name, count) = cards(resources);
    let mut node = Node::blank(name.span);
    node.platform = Fact::value("baseten".to_owned(), name.span);
    // It has no others.
    let maker = name.clone().map(|_| "nvidia".to_owned());
    if !name.is_absent() {
        let mut gpu = Gpu::blank(name.span);
        gpu.id = name;
        node.gpu = Some(gpu);
    }
    let mut out = skypilot::workload(Task {
        format: WorkloadFormat::Truss,
        kind: "model",
        name: view.get("model_name").string(),
        nodes: resources.get("node_count").int().or_default(1),
        replicas: Fact::unknown(Why::LeftTo("the autoscaling of Baseten".into()), root.head()),
        node,
        cards: (count, maker),
        image: base.is_some().then(|| image::at(base)),
        ports: skypilot::ports(server.get("server_port")),
        env,
        script: server.get("start_command").traced(),
        object: Raw::new(tree, view),
    });
    let engine = view.get("trt_llm");
    for container in out.pods.iter_mut().flat_map(|pod| &mut pod.containers) {
        container.launch = container.launch.take().or_else(|| engine.is_some().then(|| built(engine)).flatten());
        container.shm = Fact::unknown(Why::NotStated("the shared memory that Baseten gives".into()), container.span);
        container.shm_bytes = container.shm.clone().map(|_| 0);
    }
    facts.workloads.push(out);
}

/// `py311` is Python 3.11.
fn release(text: &str) -> Option<Version> {
    let digits = text.strip_prefix("py")?;
    Version::parse(&format!("{}.{}", digits.get(..1)?, digits.get(1..)?))
}

/// The card of a machine and the number of it: `H100:2`. A machine that is named by itself is what it is.
fn cards(resources: View<'_>) -> (Fact<String>, Fact<i64>) {
    let machine = resources.get("instance_type");
    if machine.is_some() {
        let why = || Why::NotInCatalog(machine.string().get().cloned().unwrap_or_default().into());
        return (Fact::unknown(why(), machine.place()), Fact::unknown(why(), machine.place()));
    }
    let stated = resources.get("accelerator");
    let Some(text) = stated.traced() else {
        let gpu = resources.get("use_gpu");
        let none = gpu.boolean().get() != Some(&true);
        let untold = || Why::NotStated("the accelerator".into());
        return match none {
            true => (Fact::absent(resources.place()), Fact::value(0, resources.place())),
            false => (Fact::unknown(untold(), gpu.place()), Fact::unknown(untold(), gpu.place())),
        };
    };
    let (name, count) = skypilot::cards(&text);
    (name.map(|name| name.replace('_', "-")), count)
}

/// The engine that Baseten builds and starts by itself.
fn built(engine: View<'_>) -> Option<Box<Launch>> {
    let stated = ENGINE.iter().filter_map(|(key, option)| Some((option, engine.path(key).traced()?)));
    let words: Vec<Traced> =
        stated.flat_map(|(option, value)| [Traced::opaque(format!("--{option}"), value.whole()), value]).collect();
    let words: Vec<&Traced> = words.iter().collect();
    let mut out = launch::of_arguments("tensorrt-llm", engine.place(), (&words, &Variables::new()))?;
    let checkpoint = engine.path("build.checkpoint_repository");
    let of_hub = checkpoint.get("source").string().get().is_some_and(|source| source == "HF");
    out.model = match of_hub {
        true => checkpoint.get("repo").string(),
        false => Fact::unknown(Why::NotStated("the model".into()), checkpoint.place()),
    };
    out.revision = checkpoint.get("revision").string();
    out.quantization = engine.path("build.quantization_type").string().and_then(|kind| match kind.as_str() {
        "no_quant" => Known::Absent,
        "fp8" | "fp8_kv" => Known::Value("fp8".to_owned()),
        other => Known::Unknown(Why::NotModelled(format!("the quantisation {other}").into())),
    });
    Some(out)
}
