//! Compose projects: services as workloads of one container.

use super::kubernetes::{self, environment, labels};
use super::{MOST_WORKLOADS, embedded, image, launch, too_many, training};
use crate::catalog;
use crate::facts::value::REST;
use crate::facts::{
    Container, ContainerRole, EnvVar, Facts, Labels, Launch, Mount, Pod, Port, SharedMemory, Variables, Volume,
    Workload, WorkloadFormat, of_host,
};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View, shell};
use crate::paths;
use crate::source::{Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether a document is a Compose project.
pub fn is_project(root: Node<'_>, path: &str) -> bool {
    let name = paths::name(path).to_lowercase();
    let service = |node: Node<'_>| ["image", "build", "extends", "provider"].iter().any(|key| node.get(key).is_some());
    let services = root.get("services").is_some_and(|s| s.is_map() && s.entries().iter().any(|(_, v)| service(*v)));
    services && (name.contains("compose") || root.get("version").is_some() || root.get("apiVersion").is_none())
}

/// Reads a project.
pub fn project(tree: &Arc<Tree>, root: Node<'_>, facts: &mut Facts) {
    embedded::read(root.view().get("configs"), "configs", facts);
    let services = root.view().get("services");
    let services = services.entries();
    facts.cut.extend(services.get(MOST_WORKLOADS).map(|(_, view)| too_many(view.place())));
    let together = services.len() <= super::scripts::MOST_TOGETHER;
    for (name, view) in root.view().get("models").entries().into_iter().take(MOST_WORKLOADS) {
        facts.workloads.extend(model(tree, (name, view), view));
    }
    for (name, view) in services.into_iter().take(MOST_WORKLOADS) {
        let provider = view.get("provider");
        if provider.get("type").string().get().is_some_and(|kind| kind == "model") {
            facts.workloads.extend(model(tree, (name, view), provider.get("options")));
        } else if view.node().is_some_and(Node::is_map) {
            super::built::service(view, facts);
            let mut service = service(tree, (name, view));
            let containers = service.pods.iter_mut().flat_map(|pod| &mut pod.containers).filter(|_| together);
            containers.for_each(|container| container.beside = Fact::value(true, container.span));
            facts.workloads.push(service);
        }
    }
}

/// A model that a runner of models on the machine serves, which has the GPUs that the machine has: an entry of `models`, or a
/// service whose provider is such a runner. <https://docs.docker.com/reference/compose-file/models/>
fn model(tree: &Arc<Tree>, (name, view): (&str, View<'_>), of: View<'_>) -> Option<Workload> {
    let stated = of.get("model");
    let artifact = stated.string();
    let place = stated.is_some().then(|| view.place())?;
    let mut container = Container::blank(place);
    container.name = Fact::value(name.to_owned(), place);
    container.role = Fact::value(ContainerRole::Main, place);
    // It takes what the machine has, which may be no GPU.
    container.gpus = Fact::unknown(Why::NotStated("whether the machine has GPUs".into()), place);
    container.gpu_vendor = container.gpus.clone().and_then(|_| Known::Absent);
    container.shm = Fact::unknown(Why::LeftTo("the runner of models".into()), place);
    let flags: Vec<Traced> = of.get("runtime_flags").items().filter_map(View::traced).collect();
    let words: Vec<&Traced> = flags.iter().collect();
    // Weights that are quantized as in files of GGUF are read by one engine alone.
    let format = artifact.get().and_then(|name| name.rsplit_once(':')?.1.rsplit('-').next().map(str::to_lowercase));
    let gguf = format.and_then(|format| catalog::weight_format(&format)).is_some_and(|f| f.name.starts_with("gguf"));
    let known = || launch::of_arguments(GGUF, stated.place(), (&words, &container.env));
    let mut launch = gguf.then(known).flatten().unwrap_or_else(|| {
        let engine = Fact::unknown(Why::LeftTo("the runner of models".into()), stated.place());
        Box::new(Launch { engine, ..Launch::blank(stated.place()) })
    });
    launch.model = artifact;
    if of.get("context_size").is_some() {
        launch.max_model_len = of.get("context_size").int();
    }
    container.launch = Some(launch);
    container.spec = Some(Raw::new(tree, of));
    let mut pod = Pod::blank(place);
    pod.role = Fact::value("main".to_owned(), place);
    pod.replicas = Fact::value(1, place);
    pod.gpus = container.gpus.clone();
    pod.containers.push(container);
    let name = Fact::value(name.to_owned(), place);
    Some(super::lone((WorkloadFormat::Compose, "model"), name, pod, Raw::new(tree, view)))
}

/// The engine of files of GGUF.
const GGUF: &str = "llama.cpp";

/// A service.
pub(super) fn service(tree: &Arc<Tree>, (name, view): (&str, View<'_>)) -> Workload {
    let get = |key: &str| view.get(key);
    let mut pod = Pod::blank(view.place());
    pod.role = Fact::value("main".to_owned(), view.place());
    pod.replicas = get("deploy").get("replicas").int().or(|| get("scale").int()).or_default(1);
    pod.labels = labels(get("labels"));
    pod.host_network = get("network_mode").string().map(|m| m == "host").or_default(false);
    pod.host_ipc = get("ipc").string().map(|m| m == "host").or_default(false);
    pod.host_pid = get("pid").string().map(|m| m == "host").or_default(false);
    pod.runtime_class = get("runtime").string();
    pod.restart_policy = get("restart").string();
    pod.spec = Some(Raw::new(tree, view));
    let mut container = Container::blank(view.place());
    container.name = Fact::value(name.to_owned(), view.place());
    container.role = Fact::value(ContainerRole::Main, view.place());
    container.image = image::at(get("image"));
    container.env = variables(get("environment"));
    gpus(&mut container, &get, &pod);
    container.ports = get("ports").items().map(port).collect();
    for volume in get("volumes").items() {
        let (mount, volume) = bind(volume);
        container.mounts.push(mount);
        pod.volumes.push(volume);
    }
    container.privileged = get("privileged").boolean().or_default(false);
    container.capabilities = get("cap_add").strings();
    shared_memory(&mut container, get("shm_size"), &pod);
    let stated = get("mem_limit");
    let limit = if stated.is_some() { stated } else { get("deploy").path("resources.limits.memory") };
    if limit.is_some() {
        container.limits.insert("memory".to_owned(), limit.parse(bytes).map(|bytes| bytes as f64));
    }
    let stated = get("cpus");
    let limit = if stated.is_some() { stated } else { get("deploy").path("resources.limits.cpus") };
    if limit.is_some() {
        container.limits.insert("cpu".to_owned(), limit.parse(|cpus| cpus.trim().parse().ok()));
    }
    let words = command_line(get("entrypoint"), get("command"));
    let words: Vec<&Traced> = words.iter().collect();
    container.entrypoint = Fact::value(get("entrypoint").is_some(), view.place());
    container.command = words.iter().map(|w| kubernetes::word(w)).collect();
    container.spec = Some(Raw::new(tree, view));
    container.launch = launch::of(&container, &words);
    container.training = container.launch.as_deref().and_then(training::of);
    if let Some(why) = ["entrypoint", "command"].into_iter().find_map(|key| kubernetes::open_words(get(key))) {
        kubernetes::leave_launch_open(&mut container, &why);
    }
    pod.gpus = container.gpus.clone();
    pod.containers.push(container);
    super::lone(
        (WorkloadFormat::Compose, "service"),
        Fact::value(name.to_owned(), view.place()),
        pod,
        Raw::new(tree, view),
    )
}

/// The words of a service's command line. A text alone stays whole: a shell may be what it begins with.
fn command_line(entrypoint: View<'_>, command: View<'_>) -> Vec<Traced> {
    let alone = |other: View<'_>| other.items().next().is_none() && other.traced().is_none();
    let is_list = |view: View<'_>| view.node().is_some_and(|node| node.is_seq());
    let whole = |view: View<'_>| match view.traced().filter(|_| !is_list(view)) {
        Some(text) => vec![text.unwrapped()],
        None => kubernetes::words(view),
    };
    if alone(entrypoint) || alone(command) {
        return [whole(entrypoint), whole(command)].concat();
    }
    let words = |view: View<'_>| match view.traced().filter(|_| !is_list(view)) {
        Some(text) => {
            let commands = shell::parse(&text.unwrapped()).commands;
            commands.iter().flat_map(|command| command.words.iter().map(|word| word.traced().clone())).collect()
        }
        None => kubernetes::words(view),
    };
    let mut out: Vec<Traced> = words(entrypoint);
    // A shell takes the script as one word, however it is written.
    let script = out.last().is_some_and(|last| last.text().ends_with('c') && last.text().starts_with('-'));
    out.extend(if script { kubernetes::words(command) } else { words(command) });
    out
}

/// The arguments that a service gives the build of its image.
pub fn arguments(build: View<'_>) -> Labels {
    variables(build.get("args")).into_iter().map(|(name, variable)| (name, variable.value)).collect()
}

/// What stands for the images that a build starts from: of Compose, or of bake.
pub fn contexts(build: View<'_>) -> Labels {
    let stated = ["additional_contexts", "contexts"].map(|key| variables(build.get(key)));
    stated.into_iter().flatten().map(|(name, context)| (name, context.value)).collect()
}

/// A map, or a list of `NAME=value`; a bare name comes from the shell.
pub(super) fn variables(view: View<'_>) -> Variables {
    if view.node().is_some_and(Node::is_map) {
        return environment(view);
    }
    let mut out = BTreeMap::new();
    for item in view.items() {
        let Some(text) = item.traced() else { continue };
        let whole = text.text();
        let (name, value) = whole.split_once('=').map_or((whole, None), |(n, v)| (n, Some(v)));
        let span = text.span(0..name.len());
        let mut variable = Box::new(EnvVar::blank(span));
        variable.name = named(name, span);
        let key = if variable.name.is_unknown() { REST } else { name };
        variable.value = match value {
            None => Fact::unknown(Why::Variable(name.into()), span),
            Some(value) => {
                let place =
                    if value.is_empty() { text.whole() } else { text.span(whole.len() - value.len()..whole.len()) };
                match crate::parse::placeholder(value) {
                    Some(why) => Fact::unknown(why, place),
                    None => Fact::value(value.to_owned(), place),
                }
            }
        };
        out.insert(key.to_owned(), variable);
    }
    out
}

/// A name, unless it is a placeholder.
fn named(name: &str, span: Span) -> Fact<String> {
    match crate::parse::placeholder(name) {
        Some(why) => Fact::unknown(why, span),
        None => Fact::value(name.to_owned(), span),
    }
}

/// The GPUs that a service asks for, in any of the ways that there are.
fn gpus<'t>(container: &mut Container, get: &impl Fn(&str) -> View<'t>, pod: &Pod) {
    let reserved = get("deploy").path("resources.reservations.devices");
    let gpus = get("gpus");
    let devices: Vec<View<'_>> = reserved.items().chain(gpus.items()).collect();
    // What stands under `gpus` is a GPU without saying so: https://docs.docker.com/reference/compose-file/services/#gpus
    let unsaid = |device: &View<'_>| !["capabilities", "driver"].iter().any(|key| device.get(key).is_some());
    let mut asked = gpus.items().filter(|device| device.unknown().is_none() && unsaid(device));
    let known = || devices.iter().copied().find(|device| is_gpu(*device) == Some(true));
    let (count, vendor, place) = if let Some(device) = asked.next().or_else(known) {
        container.devices = device.get("device_ids").strings();
        (of_device(device), Some("nvidia"), device.place())
    } else if gpus.is_some() && gpus.traced().is_some() {
        (all_or_number(gpus), Some("nvidia"), gpus.place())
    } else if let Some(device) = devices.iter().find(|device| is_gpu(**device).is_none()) {
        (Fact::unknown(Why::NotStated("what device this is".into()), device.place()), None, device.place())
    } else if let Some((count, vendor, place)) = mapped(get("devices")) {
        (count, Some(vendor), place)
    } else if let Some((count, vendor)) = generic(get("deploy").path("resources.reservations.generic_resources")) {
        let place = count.span;
        (count, vendor, place)
    } else if pod.runtime_class.get().is_some_and(|r| r == "nvidia") {
        let visible = container.env.get("NVIDIA_VISIBLE_DEVICES").and_then(|v| v.value.get());
        let place = pod.runtime_class.span;
        match visible.map(String::as_str) {
            Some("none" | "void") => (Fact::value(0, place), None, place),
            _ => (of_host(place), Some("nvidia"), place),
        }
    } else {
        // What it extends and is not here may ask for some.
        let base = get("extends");
        let none = if base.is_some() {
            Fact::unknown(Why::NotStated("what this service extends".into()), base.place())
        } else {
            Fact::value(0, container.span)
        };
        (none, None, container.span)
    };
    let vendor = match vendor {
        _ if count.get() == Some(&0) => Fact::absent(place),
        Some(vendor) => Fact::value(vendor.to_owned(), place),
        None => count.clone().and_then(|_| Known::Unknown(Why::NotStated("what device this is".into()))),
    };
    (container.gpu_resource, container.gpu_vendor) = (vendor.clone(), vendor);
    container.gpus = count;
}

/// Whether a reserved device is a GPU, where that can be told.
fn is_gpu(device: View<'_>) -> Option<bool> {
    let named = device.get("driver").string();
    let capabilities = device.get("capabilities").strings();
    let gpu = named.get().is_some_and(|driver| driver == "nvidia" || driver == "cdi")
        || capabilities.iter().any(|c| c.get().is_some_and(|c| c == "gpu" || c == "nvidia"));
    let open = named.is_unknown() || capabilities.iter().any(Fact::is_unknown) || device.unknown().is_some();
    if gpu { Some(true) } else { (!open).then_some(false) }
}

/// How many GPUs a reserved device stands for: its identifiers, which may stand in one text, or its count.
fn of_device(device: View<'_>) -> Fact<i64> {
    let ids = device.get("device_ids");
    if !ids.is_some() {
        return all_or_number(device.get("count"));
    }
    let texts = ids.strings();
    if let Some(unknown) = texts.iter().find(|id| id.is_unknown()) {
        return unknown.clone().map(|_| 0);
    }
    if texts.iter().any(|id| id.get().is_some_and(|id| id == "all" || id.ends_with("=all"))) {
        return of_host(ids.place());
    }
    let count = texts.iter().filter_map(Fact::get).flat_map(|id| id.split(',')).filter(|id| !id.trim().is_empty());
    Fact::value(count.count() as i64, ids.place())
}

/// GPUs among the devices that are mapped into a container: by their names in the Container Device Interface, or the
/// driver's own device.
fn mapped<'t>(devices: View<'t>) -> Option<(Fact<i64>, &'static str, Span)> {
    let all: Vec<Fact<String>> = devices.strings();
    let known = |device: &Fact<String>| {
        let name = device.get()?;
        Some((name.clone(), catalog::device_vendor(name)?, device.span))
    };
    let known: Vec<(String, &'static str, Span)> = all.iter().filter_map(known).collect();
    let named: Vec<_> = known.iter().filter(|(name, ..)| name.contains('=')).collect();
    let Some((_, vendor, place)) = named.first() else {
        let (_, vendor, place) = known.first()?;
        return Some((of_host(*place), vendor, *place));
    };
    let whole = named.iter().any(|(name, ..)| name.ends_with("=all"));
    let count = if whole { of_host(*place) } else { Fact::value(named.len() as i64, *place) };
    Some((count, vendor, *place))
}

/// GPUs that nodes of a swarm offer as resources of their own, by names that a site gives them.
fn generic(resources: View<'_>) -> Option<(Fact<i64>, Option<&'static str>)> {
    resources.items().find_map(|item| {
        let spec = item.get("discrete_resource_spec");
        let kind = spec.get("kind").string().get()?.to_lowercase();
        let vendor = ["nvidia", "amd"].into_iter().find(|vendor| kind.contains(vendor));
        kind.contains("gpu").then(|| (spec.get("value").int(), vendor))
    })
}

fn all_or_number(view: View<'_>) -> Fact<i64> {
    if view.string().get().is_some_and(|text| text == "all") || !view.is_some() {
        return of_host(view.place());
    }
    match view.int() {
        count if count.get() == Some(&-1) => of_host(count.span),
        count => count,
    }
}

/// `8000`, `8000:8000`, `127.0.0.1:8000:8000/tcp`, or the long form.
fn port(view: View<'_>) -> Port {
    let mut out = Port::blank(view.place());
    if view.get("target").is_some() {
        out.port = view.get("target").int();
        out.host_port = view.get("published").int();
        out.host_ip = view.get("host_ip").string();
        return out;
    }
    let Some(text) = view.traced() else { return out };
    let whole = text.text().split('/').next().unwrap_or("");
    if crate::parse::placeholder(whole).is_some() && whole.contains("${") {
        out.port = Fact::unknown(Why::Placeholder, text.whole());
        return out;
    }
    let parts: Vec<&str> = whole.rsplitn(3, ':').collect();
    let number = |part: Option<&&str>| -> Fact<i64> {
        match part.map(|p| p.parse()) {
            Some(Ok(number)) => Fact::value(number, text.whole()),
            Some(Err(_)) => Fact::unknown(Why::Malformed(whole.into()), text.whole()),
            None => Fact::absent(text.whole()),
        }
    };
    out.port = number(parts.first());
    out.host_port = number(parts.get(1));
    out.host_ip = Fact::from_option(parts.get(2).map(|ip| (*ip).to_owned()), text.whole());
    out
}

fn bind(view: View<'_>) -> (Mount, Volume) {
    let mut mount = Mount::blank(view.place());
    let mut volume = Volume::blank(view.place());
    let (source, target) = match view.traced() {
        Some(text) => {
            let mut parts = text.text().split(':');
            let first = parts.next().unwrap_or("").to_owned();
            let target = parts.next().map_or(first.clone(), str::to_owned);
            (Fact::value(first, text.whole()), Fact::value(target, text.whole()))
        }
        None => (view.get("source").string(), view.get("target").string()),
    };
    let is_path = source.get().is_some_and(|s| s.starts_with(['/', '.', '~', '$']));
    volume.kind = Fact::value(if is_path { "bind" } else { "volume" }.to_owned(), view.place());
    volume.name = source.clone();
    if is_path {
        volume.host_path = source.clone();
    }
    mount.volume = source;
    mount.path = target;
    (mount, volume)
}

fn shared_memory(container: &mut Container, size: View<'_>, pod: &Pod) {
    if size.is_some() {
        container.shm = Fact::value(SharedMemory::Size, size.place());
        container.shm_bytes = size.parse(bytes);
    } else if pod.host_ipc.get() == Some(&true) {
        container.shm = Fact::value(SharedMemory::Host, pod.host_ipc.span);
    } else if container.mounts.iter().any(|m| m.path.get().is_some_and(|p| p == "/dev/shm")) {
        container.shm = Fact::value(SharedMemory::Volume, container.span);
    } else {
        container.shm = Fact::value(SharedMemory::Default, container.span);
        container.shm_bytes = Fact::value(crate::extract::DEFAULT_SHM, container.span);
    }
}

/// Docker's sizes: `8gb`, `512m`, `1073741824`; powers of 1024.
fn bytes(text: &str) -> Option<i64> {
    let lower = text.trim().to_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let value: f64 = lower[..digits].parse().ok()?;
    let factor = match lower[digits..].trim().trim_end_matches('b').trim_end_matches('i') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024.0 * 1024.0,
        "g" => 1024.0 * 1024.0 * 1024.0,
        "t" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some((value * factor) as i64)
}
