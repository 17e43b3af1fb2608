//! Runs of training platforms: experiments of Determined, runs of MosaicML, workloads of Databricks' AI Runtime. Knows their
//! YAML; where a platform spreads GPUs over machines by itself, what one of them gives is unknown.

use super::skypilot::{self, Task, vendor};
use super::{compose, image, install, kubernetes, recipes, startup};
use crate::facts::{Facts, Gpu, Node, PackageFile, PackageFileKind, Variables, Workload, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::{Node as Yaml, Raw, Tree, View};
use crate::quantity;
use crate::source::{Span, Traced};
use std::sync::Arc;

/// Whether a document is an experiment of Determined.
/// https://docs.determined.ai/latest/reference/training/experiment-config-reference.html
pub fn is_experiment(root: Yaml<'_>) -> bool {
    let map = |key: &str| root.get(key).is_some_and(Yaml::is_map);
    let slots = root.path("resources.slots_per_trial").is_some();
    map("searcher") && (slots || root.get("entrypoint").is_some() && (map("hyperparameters") || map("environment")))
}

/// Whether a document is a run of MosaicML.
/// https://docs.mosaicml.com/projects/mcli/en/latest/training/yaml_schema.html
pub fn is_run(root: Yaml<'_>) -> bool {
    let of_compute = ["gpus", "gpu_type", "instance", "nodes", "cluster"];
    let compute = of_compute.iter().any(|key| root.get("compute").is_some_and(|compute| compute.get(key).is_some()));
    compute && ["image", "command"].iter().all(|key| root.get(key).and_then(Yaml::text).is_some())
}

/// Whether a document is a workload of Databricks' AI Runtime.
/// https://docs.databricks.com/aws/en/machine-learning/ai-runtime/connecting/cli/yaml-config
pub fn is_databricks(root: Yaml<'_>) -> bool {
    root.get("experiment_name").is_some() && root.path("compute.accelerator_type").is_some()
}

/// What a run states, in the words of all platforms.
struct Run<'t> {
    format: WorkloadFormat,
    kind: &'t str,
    name: Fact<String>,
    replicas: Fact<i64>,
    /// The GPUs of the whole run, and the machines where their number is stated.
    gpus: (Fact<i64>, Fact<i64>),
    card: Fact<String>,
    image: View<'t>,
    env: Variables,
    script: Option<Traced>,
}

/// Reads an experiment: a trial has slots, which Determined finds on one machine or several.
pub fn experiment(tree: &Arc<Tree>, root: Yaml<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let (resources, environment) = (view.get("resources"), view.get("environment"));
    let single = resources.get("is_single_node");
    let nodes = match single.boolean().get() {
        Some(true) => Fact::value(1, single.place()),
        _ => Fact::absent(resources.place()),
    };
    let search = view.path("searcher.name");
    let replicas = match search.string().get().map(String::as_str) {
        Some("single") => Fact::value(1, search.place()),
        _ => Fact::unknown(Why::LeftTo("the search".into()), search.place()),
    };
    let shm = resources.get("shm_size");
    let mut out = workload(
        tree,
        view,
        path,
        facts,
        Run {
            format: WorkloadFormat::Determined,
            kind: "experiment",
            name: view.get("name").string(),
            replicas,
            gpus: (stated(resources.get("slots_per_trial"), "the slots of a trial"), nodes),
            card: Fact::absent(resources.place()),
            image: of_gpus(environment.get("image")),
            env: compose::variables(of_gpus(environment.get("environment_variables"))),
            script: command(view.get("entrypoint")),
        },
    );
    if shm.is_some() {
        let size =
            shm.parse(|text| quantity::parse(&text.replace("gb", "Gi").replace('g', "Gi")).map(|size| size as i64));
        let containers = out.pods.iter_mut().flat_map(|pod| &mut pod.containers);
        containers.for_each(|container| container.shm_bytes = size.clone());
    }
    facts.workloads.push(out);
}

/// What is stated for GPUs, of what may be stated for each kind of slots.
fn of_gpus(view: View<'_>) -> View<'_> {
    let kinds = ["cuda", "gpu"].into_iter().map(|kind| view.get(kind));
    kinds.into_iter().find(|of| of.is_some()).unwrap_or(view)
}

/// A command as a text, or as a list of its words.
fn command(view: View<'_>) -> Option<Traced> {
    let blank = |word: Traced| [Traced::opaque(" ", word.whole()), word];
    let words = || view.items().filter_map(View::traced).take(MOST_WORDS).flat_map(blank);
    view.traced().or_else(|| view.node().filter(|node| node.is_seq()).map(|node| Traced::concat(words(), node.span())))
}

/// Most words of a command.
const MOST_WORDS: usize = 4096;

/// Reads a run of MosaicML: GPUs are those of all machines.
pub fn run(tree: &Arc<Tree>, root: Yaml<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let compute = view.get("compute");
    let out = workload(
        tree,
        view,
        path,
        facts,
        Run {
            format: WorkloadFormat::Mosaicml,
            kind: "run",
            name: view.get("name").string(),
            replicas: Fact::value(1, compute.place()),
            gpus: (stated(compute.get("gpus"), "the GPUs of the run"), compute.get("nodes").int()),
            card: compute.get("gpu_type").string().map(|card| card.replace('_', "-")),
            image: view.get("image"),
            env: kubernetes::environment(view.get("env_variables")),
            script: view.get("command").traced(),
        },
    );
    facts.workloads.push(out);
}

/// Reads a workload of Databricks: its type of accelerator is a machine with so many of a card.
pub fn databricks(tree: &Arc<Tree>, root: Yaml<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let compute = view.get("compute");
    let kind = compute.get("accelerator_type");
    let machine = kind.traced().and_then(|text| {
        let (count, card) = text.text().strip_prefix("GPU_")?.split_once('x')?;
        let end = text.text().len();
        Some((count.parse::<i64>().ok().filter(|count| *count > 0)?, text.slice(end - card.len()..end)))
    });
    let all = stated(compute.get("num_accelerators"), "the GPUs of the workload");
    let other = || Why::Malformed(kind.string().get().cloned().unwrap_or_default().into());
    let (nodes, card) = match machine {
        Some((each, card)) => (all.clone().map(|all| all / each), install::fact(&card)),
        None => (Fact::unknown(other(), kind.place()), Fact::unknown(other(), kind.place())),
    };
    let dependencies = view.path("environment.dependencies");
    let mut file = PackageFile::blank(dependencies.place());
    file.path = Fact::value(path.to_owned(), file.span);
    file.kind = Fact::value(PackageFileKind::Requirements, file.span);
    file.packages = recipes::listed(dependencies, facts, install::of_requirements);
    facts.package_files.extend((!file.packages.is_empty()).then(|| Arc::new(file)));
    let out = workload(
        tree,
        view,
        path,
        facts,
        Run {
            format: WorkloadFormat::Databricks,
            kind: "workload",
            name: view.get("experiment_name").string(),
            replicas: Fact::value(1, compute.place()),
            gpus: (all, nodes),
            card,
            // It runs in the runtime of the platform.
            image: View::new(None, compute.place()),
            env: Variables::new(),
            script: view.get("command").traced(),
        },
    );
    facts.workloads.push(out);
}

/// A number, unknown where it is left out.
fn stated(view: View<'_>, what: &str) -> Fact<i64> {
    view.int().or(|| Fact::unknown(Why::NotStated(what.into()), view.place()))
}

/// The workload that a run is.
fn workload(tree: &Arc<Tree>, view: View<'_>, path: &str, facts: &mut Facts, run: Run<'_>) -> Workload {
    let (all, nodes) = run.gpus;
    let spread = |what: &str| Fact::unknown(Why::LeftTo(format!("the platform, {what},").into()), all.span);
    let nodes = match all.get() {
        Some(0 | 1) if nodes.is_absent() => Fact::value(1, all.span),
        _ => nodes.or(|| spread("which spreads GPUs over machines")),
    };
    let each = match (all.get(), nodes.get()) {
        (Some(all_gpus), Some(&nodes)) if nodes > 0 && all_gpus % nodes == 0 => Fact::value(all_gpus / nodes, all.span),
        _ => spread("which spreads GPUs over machines"),
    };
    let mut node = Node::blank(all.span);
    node.platform = Fact::value(run.format.to_string(), all.span);
    let maker = match run.card.is_absent() {
        true => maker(run.image, all.span),
        false => vendor(&run.card),
    };
    if !run.card.is_absent() {
        let mut gpu = Gpu::blank(run.card.span);
        gpu.id = run.card;
        node.gpu = Some(gpu);
    }
    if let Some(script) = &run.script {
        startup::commands_on(script, (path, &node), facts);
    }
    let mut out = skypilot::workload(Task {
        format: run.format,
        kind: run.kind,
        name: run.name,
        nodes,
        replicas: run.replicas,
        node,
        cards: (each, maker),
        image: run.image.is_some().then(|| image::at(run.image)),
        ports: vec![],
        env: run.env,
        script: run.script,
        object: Raw::new(tree, view),
    });
    (out.gpus, out.group_gpus) = (all.times(&out.replicas), all);
    for container in out.pods.iter_mut().flat_map(|pod| &mut pod.containers) {
        container.shm =
            Fact::unknown(Why::NotStated("the shared memory that the platform gives".into()), container.span);
        container.shm_bytes = container.shm.clone().map(|_| 0);
    }
    out
}

/// Whose GPUs they are, as the name of an image says it.
fn maker(image: View<'_>, place: Span) -> Fact<String> {
    let name = image.string().get().cloned().unwrap_or_default();
    match (name.contains("cuda") || name.contains("nvidia"), name.contains("rocm")) {
        (true, false) => Fact::value("nvidia".to_owned(), image.place()),
        (false, true) => Fact::value("amd".to_owned(), image.place()),
        _ => Fact::unknown(Why::NotStated("whose GPUs they are".into()), place),
    }
}
