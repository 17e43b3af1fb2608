//! Jobs of Nomad: a group is a workload, its tasks are the containers that run on one machine, each read as the Compose
//! service that says the same. Knows the job specification. https://developer.hashicorp.com/nomad/docs/job-specification

use super::{MOST_WORKLOADS, TextFile, compose, intent, too_many};
use crate::facts::value::REST;
use crate::facts::{Container, EnvVar, Facts, Gpu, Node as Machine, SharedMemory, Workload, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::{Builder, Dialect, Entry, Node, NodeId, NodeKind, Raw, Tree, View, hcl};
use crate::render::bake;
use crate::source::{SourceId, Traced};
use std::sync::Arc;

/// Keys of a task's `config`, and what a service of Compose calls them.
const KEYS: [(&str, &str); 8] = [
    ("image", "image"),
    ("entrypoint", "entrypoint"),
    ("shm_size", "shm_size"),
    ("privileged", "privileged"),
    ("cap_add", "cap_add"),
    ("ipc_mode", "ipc"),
    ("network_mode", "network_mode"),
    ("runtime", "runtime"),
];

/// Reads the jobs of a file.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    // HCL is the language of many others.
    if !path.contains(".nomad") && !text.lines().any(|line| line.starts_with("job \"")) {
        return TextFile::default();
    }
    let hcl = hcl::parse(id, text);
    let tree = Arc::new(bake::blocks(&hcl));
    let root = tree.roots().next().map(|root| root.view());
    let jobs = root.into_iter().flat_map(|root| labelled(root, "job"));
    let of_job =
        |job: View<'_>| matches!(job.get("type").string().get().map(String::as_str), Some("system" | "sysbatch"));
    let groups = jobs.flat_map(|(_, job)| labelled(job, "group").into_iter().map(move |group| (of_job(job), group)));
    let groups: Vec<(bool, (&str, View<'_>))> = groups.collect();
    facts.cut.extend(groups.get(MOST_WORKLOADS).map(|(_, (_, view))| too_many(view.place())));
    for (everywhere, group) in groups.into_iter().take(MOST_WORKLOADS) {
        let Some(mut out) = workload(&tree, group) else { continue };
        if everywhere {
            out.replicas = Fact::unknown(Why::NotStated("on how many machines the job runs".into()), out.replicas.span);
            out.gpus = out.group_gpus.times(&out.replicas);
        }
        facts.workloads.push(out);
    }
    TextFile { names: hcl.names(), problems: hcl.problems, comments: hcl.comments, ..TextFile::default() }
}

/// Blocks of a name with their labels, where they begin.
fn labelled<'t>(view: View<'t>, name: &str) -> Vec<(&'t str, View<'t>)> {
    let labels = view.get(name).node().into_iter().flat_map(|labels| labels.entries());
    let block = |(label, blocks): (Node<'t>, Node<'t>)| {
        let at = move |block| Some((label.text()?, View::new(Some(block), label.span())));
        blocks.items().filter_map(at).collect::<Vec<_>>()
    };
    labels.flat_map(block).collect()
}

/// A group: so many allocations, each with all of its tasks on one machine.
fn workload(tree: &Arc<Tree>, (name, group): (&str, View<'_>)) -> Option<Workload> {
    let mut tasks = labelled(group, "task").into_iter().map(task);
    let mut out = tasks.next()?;
    let pod = out.pods.first_mut()?;
    for other in tasks.flat_map(|other| other.pods) {
        pod.gpus = pod.gpus.clone().plus(other.gpus.clone());
        pod.containers.extend(other.containers);
    }
    pod.node = Some(node(group));
    out.format = Fact::value(WorkloadFormat::Nomad, group.place());
    out.kind = Fact::value("group".to_owned(), group.place());
    out.name = Fact::value(name.to_owned(), group.place());
    out.replicas = group.get("count").int().or_default(1);
    out.group_gpus = pod.gpus.clone();
    out.gpus = out.group_gpus.times(&out.replicas);
    out.object = Some(Raw::new(tree, group));
    out.intent = intent::of(&out);
    Some(out)
}

/// A task, as the service that says the same.
fn task((name, task): (&str, View<'_>)) -> Workload {
    let config = task.get("config").items().next().unwrap_or(View::new(None, task.place()));
    let (service, root) = service(config, task.get("env").items().next());
    let mut out = compose::service(&service, (name, View::new(service.node(root).into(), task.place())));
    let pod = &mut out.pods[0];
    let container = &mut pod.containers[0];
    let driver = task.get("driver").string();
    if !driver.get().is_some_and(|driver| driver == "docker" || driver == "podman") {
        let why = || Why::NotStated("the shared memory of the task".into());
        container.shm = match driver.get().map(String::as_str) {
            Some("raw_exec" | "exec" | "java") => Fact::value(SharedMemory::Host, driver.span),
            _ => Fact::unknown(why(), driver.span),
        };
        container.shm_bytes = Fact::unknown(why(), driver.span);
    }
    granted(container, task);
    limited(container, task);
    pod.gpus = container.gpus.clone();
    // A template may write any variable.
    let sets = |template: &View<'_>| template.get("env").boolean().get() == Some(&true);
    if let Some(template) = task.get("template").items().find(sets) {
        let why = Why::NotStated("what the template sets".into());
        let variable = EnvVar { value: Fact::unknown(why, template.place()), ..EnvVar::blank(template.place()) };
        container.env.insert(REST.to_owned(), Box::new(variable));
    }
    out
}

/// The devices that a task is given; it has no others.
fn granted(container: &mut Container, task: View<'_>) {
    let mut all = devices(task).into_iter().map(|(kind, device)| {
        let vendor = kind.split('/').next().filter(|vendor| *vendor != "gpu");
        (vendor, device.get("count").int().or_default(1), device.place())
    });
    let Some((vendor, first, place)) = all.next() else { return };
    container.gpus = all.fold(first, |sum, (_, count, _)| sum.plus(count));
    container.gpu_vendor = match vendor {
        Some(vendor) => Fact::value(vendor.to_owned(), place),
        None => Fact::unknown(Why::NotStated("whose GPUs they are".into()), place),
    };
    container.gpu_resource = container.gpu_vendor.clone();
}

/// The cores and the memory that a task is given. A share in megahertz is no number of cores.
fn limited(container: &mut Container, task: View<'_>) {
    const MIB: f64 = 1_048_576.0;
    for resources in task.get("resources").items() {
        let most = resources.get("memory_max");
        let memory = if most.is_some() { most } else { resources.get("memory") };
        for (stated, called, unit) in [(resources.get("cores"), "cpu", 1.0), (memory, "memory", MIB)] {
            if stated.is_some() {
                container.limits.insert(called.to_owned(), stated.int().map(|number| number as f64 * unit));
            }
        }
    }
}

/// What Compose would be told: the configuration of the driver, and the environment.
fn service(config: View<'_>, env: Option<View<'_>>) -> (Arc<Tree>, NodeId) {
    let place = config.place();
    let mut builder = Builder::new(place.source, Dialect::Typed);
    let mut entries = Vec::new();
    let mut put = |builder: &mut Builder, key: &str, value: NodeId| {
        let text = Traced::opaque(key, place);
        let key = builder.add(NodeKind::Scalar { text, plain: false }, place);
        entries.push(Entry { key, value });
    };
    for (key, called) in KEYS {
        if let Some(node) = config.get(key).node() {
            let value = builder.copy(node);
            put(&mut builder, called, value);
        }
    }
    let words = config
        .get("command")
        .node()
        .into_iter()
        .chain(config.get("args").node().into_iter().flat_map(|args| args.items()));
    let words: Vec<NodeId> = words.map(|word| builder.copy(word)).collect();
    if !words.is_empty() {
        let command = builder.add(NodeKind::Seq(words), place);
        put(&mut builder, "command", command);
    }
    if let Some(env) = env.and_then(View::node) {
        let env = builder.copy(env);
        put(&mut builder, "environment", env);
    }
    let root = builder.add(NodeKind::Map(entries), place);
    builder.tree().documents.push(root);
    (Arc::new(builder.finish()), root)
}

/// The devices of a task that are GPUs, by their type: `nvidia/gpu`, `nvidia/gpu/…` with a model, `gpu`.
fn devices<'t>(task: View<'t>) -> Vec<(&'t str, View<'t>)> {
    let resources = task.get("resources").items().flat_map(|resources| labelled(resources, "device"));
    resources.filter(|(kind, _)| kind.split('/').any(|part| part == "gpu")).collect()
}

/// The machine of a group, as the devices of its tasks say: the model that one must be.
fn node(group: View<'_>) -> Machine {
    let mut out = Machine::blank(group.place());
    out.platform = Fact::value("nomad".to_owned(), group.place());
    let is_model = |constraint: &View<'_>| {
        let operator = constraint.get("operator").string();
        let attribute = constraint.get("attribute").string();
        let of_model = matches!(attribute.why(), Some(Why::Variable(name)) if **name == *"device.model");
        of_model && operator.get().is_none_or(|operator| ["=", "==", "is"].contains(&operator.as_str()))
    };
    let model = |(kind, device): (&str, View<'_>)| {
        let stated = device.get("constraint").items().find(is_model).map(|constraint| constraint.get("value").string());
        stated.or_else(|| Some(Fact::value(kind.splitn(3, '/').nth(2)?.to_owned(), device.place())))
    };
    let mut devices = labelled(group, "task").into_iter().flat_map(|(_, task)| devices(task));
    out.gpu = devices.find_map(model).map(|model| {
        let mut gpu = Gpu::blank(model.span);
        gpu.id = model;
        gpu
    });
    out
}
