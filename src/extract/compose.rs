//! Compose projects: services as workloads of one container.

use super::kubernetes::{environment, labels};
use super::{image, launch, training};
use crate::facts::{
    Container, ContainerRole, EnvVar, Facts, Mount, Pod, Port, SharedMemory, Volume, Workload, WorkloadFormat,
};
use crate::known::{Fact, Why};
use crate::parse::{Node, Raw, Tree, View};
use crate::paths;
use crate::source::Traced;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of /dev/shm that a container runtime gives (64 MiB).
const DEFAULT_SHM: i64 = 64 << 20;

/// Whether a document is a Compose project.
pub fn is_project(root: Node<'_>, path: &str) -> bool {
    let name = paths::name(path).to_lowercase();
    let service = |node: Node<'_>| ["image", "build", "extends"].iter().any(|key| node.get(key).is_some());
    let services = root.get("services").is_some_and(|s| s.is_map() && s.entries().iter().any(|(_, v)| service(*v)));
    services && (name.contains("compose") || root.get("version").is_some() || root.get("apiVersion").is_none())
}

/// Reads a project.
pub fn project(tree: &Arc<Tree>, root: Node<'_>, facts: &mut Facts) {
    let services = root.view().get("services");
    for (name, view) in services.entries() {
        if view.node().is_some_and(Node::is_map) {
            facts.workloads.push(service(tree, (name, view)));
        }
    }
}

/// A service.
fn service(tree: &Arc<Tree>, (name, view): (&str, View<'_>)) -> Workload {
    let get = |key: &str| view.get(key);
    let mut pod = Pod::blank(view.place());
    pod.role = Fact::value("main".to_owned(), view.place());
    pod.replicas = get("deploy").get("replicas").int().or_default(1);
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
    let words: Vec<&Traced> = ["entrypoint", "command"].iter().flat_map(|key| words(get(key))).collect();
    container.command = words.iter().map(|w| Fact::value(w.text().to_owned(), w.whole())).collect();
    container.spec = Some(Raw::new(tree, view));
    container.launch = launch::of(&container, &words);
    container.training = container.launch.as_ref().and_then(training::of);
    pod.gpus = container.gpus.clone();
    pod.containers.push(container);
    super::lone(
        (WorkloadFormat::Compose, "service"),
        Fact::value(name.to_owned(), view.place()),
        pod,
        Raw::new(tree, view),
    )
}

fn words(view: View<'_>) -> Vec<&Traced> {
    match view.node() {
        Some(node) if node.is_seq() => node.items().filter_map(|i| i.traced()).collect(),
        _ => view.traced().into_iter().collect(),
    }
}

/// A map, or a list of `NAME=value`; a bare name comes from the shell.
fn variables(view: View<'_>) -> BTreeMap<String, EnvVar> {
    if view.node().is_some_and(Node::is_map) {
        return environment(view);
    }
    let mut out = BTreeMap::new();
    for item in view.items() {
        let Some(text) = item.traced() else { continue };
        let whole = text.text();
        let (name, value) = whole.split_once('=').map_or((whole, None), |(n, v)| (n, Some(v)));
        let span = text.span(0..name.len());
        let mut variable = EnvVar::blank(span);
        variable.name = Fact::value(name.to_owned(), span);
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
        out.insert(name.to_owned(), variable);
    }
    out
}

/// Devices that the service reserves: `deploy.resources.reservations.devices`, `gpus`, `runtime: nvidia`.
fn gpus<'t>(container: &mut Container, get: &impl Fn(&str) -> View<'t>, pod: &Pod) {
    let devices: Vec<View<'_>> =
        get("deploy").path("resources.reservations.devices").items().chain(get("gpus").items()).collect();
    let wants_gpu = |device: &View<'_>| {
        let driver = device.get("driver").string().get().is_some_and(|d| d == "nvidia");
        let capability =
            device.get("capabilities").strings().iter().any(|c| c.get().is_some_and(|c| c == "gpu" || c == "nvidia"));
        driver || capability
    };
    let gpus = get("gpus");
    let (count, place) = if let Some(device) = devices.iter().find(|d| wants_gpu(d)) {
        let ids = device.get("device_ids");
        container.devices = ids.strings();
        if ids.is_some() {
            (Fact::value(ids.items().count() as i64, ids.place()), device.place())
        } else {
            (all_or_number(device.get("count")), device.place())
        }
    } else if gpus.is_some() && gpus.traced().is_some() {
        (all_or_number(gpus), gpus.place())
    } else if pod.runtime_class.get().is_some_and(|r| r == "nvidia") {
        let visible = container.env.get("NVIDIA_VISIBLE_DEVICES").and_then(|v| v.value.get());
        if visible.is_some_and(|v| v == "none" || v == "void") {
            (Fact::value(0, pod.runtime_class.span), pod.runtime_class.span)
        } else {
            (
                Fact::unknown(Why::NotStated("how many GPUs the host has".into()), pod.runtime_class.span),
                pod.runtime_class.span,
            )
        }
    } else {
        // What it extends and is not here may ask for some.
        let base = get("extends");
        let none = if base.is_some() {
            Fact::unknown(Why::NotStated("what this service extends".into()), base.place())
        } else {
            Fact::value(0, container.span)
        };
        (none, container.span)
    };
    if count.get() != Some(&0) {
        container.gpu_resource = Fact::value("nvidia".to_owned(), place);
        container.gpu_vendor = Fact::value("nvidia".to_owned(), place);
    }
    container.gpus = count;
}

fn all_or_number(view: View<'_>) -> Fact<i64> {
    if view.string().get().is_some_and(|text| text == "all") || !view.is_some() {
        return Fact::unknown(Why::NotStated("how many GPUs the host has".into()), view.place());
    }
    view.int()
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
        container.shm_bytes = Fact::value(DEFAULT_SHM, container.span);
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
