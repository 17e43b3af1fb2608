//! SkyPilot tasks: accelerators as the node, `run` as what is launched. Knows its YAML.

use super::{image, intent, launch, scripts, startup, training};
use crate::catalog;
use crate::facts::{
    Container, ContainerRole, EnvSource, Facts, Gpu, Image, Node, Pod, Port, SharedMemory, Variables, Workload,
    WorkloadFormat,
};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node as Yaml, Raw, Tree, View, shell};
use crate::source::Traced;
use std::sync::Arc;

/// Keys of a task. https://docs.skypilot.co/en/latest/reference/yaml-spec.html
const KEYS: [&str; 17] = [
    "config",
    "envs",
    "event_callback",
    "experimental",
    "file_mounts",
    "inputs",
    "name",
    "num_nodes",
    "outputs",
    "pool",
    "resources",
    "run",
    "secrets",
    "service",
    "setup",
    "volumes",
    "workdir",
];

/// Whether a document is a SkyPilot task: it has nothing but keys of one, and says what it runs on.
pub fn is_task(root: Yaml<'_>) -> bool {
    let Some(resources) = root.get("resources").filter(|resources| resources.is_map()) else { return false };
    let own = |(key, _): (Yaml<'_>, Yaml<'_>)| key.text().is_none_or(|key| KEYS.contains(&key));
    // Resources alone may be of anything.
    let keys: &[&str] = match ["run", "setup"].iter().any(|key| root.get(key).is_some()) {
        true => &["accelerators", "gpus", "image_id", "instance_type"],
        false => &["accelerators"],
    };
    let machine = |view: View<'_>| keys.iter().any(|key| view.get(key).is_some());
    root.entries().into_iter().all(own) && (machine(resources.view()) || choices(resources.view()).any(machine))
}

/// The resources of which SkyPilot chooses one.
fn choices(resources: View<'_>) -> impl Iterator<Item = View<'_>> {
    ["any_of", "ordered"].into_iter().flat_map(move |key| resources.get(key).items())
}

/// A card and the number of it.
pub(super) type Cards = (Fact<String>, Fact<i64>);

/// The accelerators that may be given: `H100:8`, `{H100: 8}`, or a list of them.
fn accelerators(stated: View<'_>) -> Vec<Cards> {
    if let Some(text) = stated.traced() {
        return vec![match stated.string().why() {
            Some(why) => (Fact::unknown(why.clone(), stated.place()), Fact::unknown(why.clone(), stated.place())),
            None => cards(&text),
        }];
    }
    let node = stated.node();
    let entries = node.into_iter().flat_map(Yaml::entries).filter_map(|(key, value)| {
        let text = key.traced()?;
        Some(match value.is_null() {
            true => cards(&text),
            false => (Fact::value(text.text().to_owned(), text.whole()), number(text.text(), value.view().float())),
        })
    });
    let items = node.into_iter().flat_map(Yaml::items).filter_map(|item| item.traced().map(|text| cards(&text)));
    entries.chain(items).collect()
}

/// `H100:8`, or `H100` for one.
pub(super) fn cards(text: &Traced) -> Cards {
    let whole = text.text();
    let (name, count) = whole.split_once(':').unwrap_or((whole, ""));
    let span = if count.is_empty() { text.whole() } else { text.span(whole.len() - count.len()..whole.len()) };
    let count = match (count, count.trim().parse::<f64>()) {
        ("", _) => Fact::value(1.0, span),
        (_, Ok(count)) => Fact::value(count, span),
        (_, Err(_)) => Fact::unknown(Why::Malformed(count.into()), span),
    };
    (Fact::value(name.trim().to_owned(), text.span(0..name.len())), number(name, count))
}

/// What all that may be given have in common.
pub(super) fn common<T: Clone + PartialEq>(
    all: impl Iterator<Item = Fact<T>>,
    none: impl FnOnce() -> Fact<T>,
) -> Fact<T> {
    let mut all = all.peekable();
    let Some(first) = all.next() else { return none() };
    match all.find(|other| other.known != first.known) {
        Some(other) => Fact::unknown(Why::Ambiguous("several accelerators are allowed".into()), other.span),
        None => first,
    }
}

/// A part of a GPU is one that is shared; a TPU is named as a slice of chips.
fn number(name: &str, count: Fact<f64>) -> Fact<i64> {
    count.and_then(|count| match name.starts_with("tpu-") {
        true => Known::Unknown(Why::NotModelled("the chips of a TPU slice".into())),
        false => Known::Value(count.ceil() as i64),
    })
}

/// The vendor of what a name stands for.
pub(super) fn vendor(name: &Fact<String>) -> Fact<String> {
    name.clone().and_then(|name| match catalog::gpu(&name) {
        Some(gpu) => Known::Value(gpu.vendor.to_owned()),
        None => Known::Unknown(Why::NotInCatalog(name.into())),
    })
}

/// The vendor of what is in a machine of a type.
fn maker(machine: String) -> Known<String> {
    let gpu = catalog::instance(&machine).and_then(|machine| catalog::gpu(machine.gpu));
    gpu.map_or(Known::Absent, |gpu| Known::Value(gpu.vendor.to_owned()))
}

/// What each machine gives that SkyPilot may choose: a choice states what differs from what holds for all.
fn machines<'t>(resources: View<'t>) -> impl Iterator<Item = (Vec<Cards>, Fact<String>)> {
    let mut chosen: Vec<View<'t>> = choices(resources).collect();
    if chosen.is_empty() {
        chosen.push(resources);
    }
    chosen.into_iter().map(move |choice| {
        let stated = [choice, resources].into_iter().flat_map(|of| ["accelerators", "gpus"].map(|key| of.get(key)));
        let cards = stated.into_iter().find(|view| view.is_some()).map(accelerators).unwrap_or_default();
        let machine = choice.get("instance_type").string().or(|| resources.get("instance_type").string());
        (cards, machine)
    })
}

/// The machine that a task runs on, the number of its accelerators and who makes them.
fn node(resources: View<'_>) -> (Node, Fact<i64>, Fact<String>) {
    let place = resources.place();
    let (mut cards, mut types, mut vendors): (Vec<Cards>, Vec<_>, Vec<_>) = (vec![], vec![], vec![]);
    for (of, machine) in machines(resources) {
        if of.is_empty() {
            let count = match machine.is_absent() {
                true => Fact::value(0, place),
                false => super::machines::gpus_of(&machine),
            };
            vendors.push(Fact::watched(|| machine.clone().and_then(maker)));
            cards.push((Fact::absent(place), count));
        }
        vendors.extend(of.iter().map(|(name, _)| vendor(name)));
        cards.extend(of);
        types.push(machine);
    }
    let vendor = common(vendors.into_iter(), || Fact::absent(place));
    let name = common(cards.iter().map(|(name, _)| name.clone()), || Fact::absent(place));
    let place = if name.is_absent() { place } else { name.span };
    let mut node = Node::blank(place);
    node.platform = Fact::value("skypilot".to_owned(), place);
    node.spot = spot(resources);
    node.instance_type = common(types.into_iter(), || Fact::absent(place));
    if !name.is_absent() {
        let mut gpu = Gpu::blank(name.span);
        gpu.id = of_cloud(name, resources);
        node.gpu = Some(gpu);
    }
    (node, common(cards.into_iter().map(|(_, count)| count), || Fact::absent(place)), vendor)
}

/// Whether the machines are interruptible: stated for all, or for each of those that are allowed.
fn spot(resources: View<'_>) -> Fact<bool> {
    let for_all = resources.get("use_spot").boolean();
    let of = |choice: View<'_>| {
        if choice.get("use_spot").is_some() { choice.get("use_spot").boolean() } else { for_all.clone() }
    };
    let choices = resources.get("any_of").items().chain(resources.get("ordered").items());
    common(choices.map(of), || for_all.clone())
}

/// The card that a name is on the cloud that a task names, if it is one.
fn of_cloud(name: Fact<String>, resources: View<'_>) -> Fact<String> {
    let infra = resources.get("infra").string().map(|infra| infra.split('/').next().unwrap_or_default().to_owned());
    let Some(cloud) = resources.get("cloud").string().or(|| infra).get().map(|cloud| cloud.to_lowercase()) else {
        return name;
    };
    Fact::watched(|| {
        name.map(|name| {
            let mut cards = catalog::skypilot_gpus(&name, &cloud);
            let card = cards.next().filter(|_| cards.next().is_none()).map(|card| card.id.to_owned());
            card.unwrap_or(name)
        })
    })
}

/// The image of a container; others are those of machines.
fn image(stated: View<'_>) -> Option<Image> {
    let text = stated.traced()?;
    let whole = text.text();
    let host = whole.split_once('/').is_some_and(|(host, _)| host.contains('.'));
    let from = whole.strip_prefix("docker:").map(|image| whole.len() - image.len()).or(host.then_some(0))?;
    Some(image::reference(&text.slice(from..whole.len())))
}

/// Ports that it opens; a range of them says nothing of one.
pub(super) fn ports(stated: View<'_>) -> Vec<Port> {
    let listed = stated.node().is_some_and(Yaml::is_seq);
    let items: Vec<View<'_>> = if listed { stated.items().collect() } else { vec![stated] };
    let numbers =
        items.into_iter().map(|item| item.string().and_then(|text| text.parse().map_or(Known::Absent, Known::Value)));
    let port = |number: Fact<i64>| Port { port: number.clone(), ..Port::blank(number.span) };
    numbers.filter(|number| !number.is_absent()).map(port).collect()
}

/// Reads a task.
pub fn read(tree: &Arc<Tree>, root: Yaml<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let resources = view.get("resources");
    let (node, gpus, vendor) = node(resources);
    for script in ["setup", "run"].into_iter().filter_map(|key| view.get(key).traced()) {
        startup::commands_on(&script, (path, &node), facts);
    }
    let mut out = workload(Task {
        format: WorkloadFormat::Skypilot,
        kind: "task",
        name: view.get("name").string(),
        nodes: view.get("num_nodes").int().or_default(1),
        replicas: replicas(view.get("service")),
        node,
        cards: (gpus, vendor),
        image: image(resources.get("image_id")),
        ports: ports(resources.get("ports")),
        env: environment(view),
        script: view.get("run").traced(),
        object: Raw::new(tree, view),
    });
    out.pods.iter_mut().flat_map(|pod| &mut pod.containers).for_each(|container| host(container, resources));
    facts.workloads.push(out);
}

/// The processors and the memory that are asked for beside the accelerators. Behind `8+` a machine may have more.
fn host(container: &mut Container, resources: View<'_>) {
    const GIB: f64 = 1_073_741_824.0;
    for (key, called, unit) in [("cpus", "cpu", 1.0), ("memory", "memory", GIB)] {
        let stated = resources.get(key);
        if stated.is_some() {
            let number = stated.string().and_then(|text| match text.parse::<f64>() {
                Ok(number) => Known::Value(number * unit),
                Err(_) => Known::Unknown(Why::LeftTo("the machine that SkyPilot chooses".into())),
            });
            container.requests.insert(called.to_owned(), number);
        }
    }
}

/// The variables of a task. A secret without a value is handed over when it is launched.
fn environment(view: View<'_>) -> Variables {
    let mut out = super::kubernetes::environment(view.get("envs"));
    for (name, mut secret) in super::kubernetes::environment(view.get("secrets")) {
        if secret.value.is_absent() {
            secret.from = Fact::value(EnvSource::Secret, secret.name.span);
        }
        out.insert(name, secret);
    }
    out
}

/// How often a task runs: once, or as often as the service that it is says.
fn replicas(service: View<'_>) -> Fact<i64> {
    let policy = service.get("replica_policy");
    if policy.is_some() {
        return Fact::unknown(Why::LeftTo("the policy of the service".into()), policy.place());
    }
    service.get("replicas").int().or_default(1)
}

/// What a task runs on equal machines, in the words of a format of its own.
pub(super) struct Task<'t> {
    pub format: WorkloadFormat,
    pub kind: &'t str,
    pub name: Fact<String>,
    pub nodes: Fact<i64>,
    pub replicas: Fact<i64>,
    pub node: Node,
    /// The number of accelerators of a machine, and who makes them.
    pub cards: (Fact<i64>, Fact<String>),
    pub image: Option<Image>,
    pub ports: Vec<Port>,
    pub env: Variables,
    pub script: Option<Traced>,
    pub object: Raw,
}

/// The workload that a task is: a process on each machine.
pub(super) fn workload(task: Task<'_>) -> Workload {
    let (place, nodes, (gpus, vendor)) = (task.node.span, task.nodes, task.cards);
    let mut container = Container::blank(place);
    container.name = Fact::value("task".to_owned(), place);
    container.role = Fact::value(ContainerRole::Main, place);
    container.env = task.env;
    if let Some(image) = task.image {
        container.image = image;
    }
    container.ports = task.ports;
    container.launch = task.script.as_ref().and_then(|run| launch::of_script(&shell::parse(run), &container.env));
    if let (Some(run), Some(launch)) = (&task.script, &container.launch) {
        container.env.extend(scripts::exported_to(run, launch));
        container.command.clone_from(&launch.words);
    }
    container.training = container.launch.as_deref().and_then(training::of);
    container.gpus = gpus.clone();
    // Processes that are told their devices share the machine.
    if let Some(run) = task.script.filter(|run| run.text().contains("CUDA_VISIBLE_DEVICES=")) {
        let why = Why::NotModelled("processes that are given a part of the devices each".into());
        container.gpus = Fact::unknown(why, run.whole());
    }
    container.gpu_vendor = vendor;
    container.shm = Fact::value(SharedMemory::Host, place);
    let mut pod = Pod::blank(place);
    pod.role = Fact::value("main".to_owned(), place);
    pod.replicas = nodes.clone();
    pod.gpus = gpus.clone();
    pod.spot = task.node.spot.clone();
    pod.node = Some(task.node);
    pod.containers.push(container);
    let mut out = Workload::blank(place);
    out.format = Fact::value(task.format, place);
    out.kind = Fact::value(task.kind.to_owned(), place);
    out.name = task.name;
    out.replicas = task.replicas;
    out.group_size = nodes.clone();
    let (none, all) = (gpus.get() == Some(&0), gpus.times(&nodes));
    out.group_gpus = if none { gpus.clone() } else { all };
    out.gpus = if none { gpus } else { out.group_gpus.times(&out.replicas) };
    out.gang = Fact::value(true, place);
    out.object = Some(task.object);
    out.pods.push(pod);
    out.intent = intent::of(&out);
    out
}
