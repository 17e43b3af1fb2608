//! Containers: found by their shape, in any kind.

use crate::catalog::{self, Accelerator};
use crate::extract::wrappers::base_name;
use crate::extract::{exports, image, launch, scripts, training};
use crate::facts::value::{Blank, REST};
use crate::facts::{
    Container, ContainerRole, EnvSource, EnvVar, Launch, Mount, Pod, Port, Probe, SharedMemory, Variables,
};
use crate::known::{Fact, Known, Why};
use crate::parse::shell::Command;
use crate::parse::{Missing, Node, Raw, Shape, Tree, View};
use crate::quantity;
use crate::source::Traced;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether a map is a container: an image beside resources, a command, ports or environment; or resources
/// beside a model.
pub fn looks_like_container(view: View<'_>) -> bool {
    let has = |key| view.get(key).is_some();
    let image = has("image") && view.get("image").traced().is_some() || view.path("image.repository").is_some();
    let runs = ["resources", "command", "args", "ports", "env"].iter().any(|key| has(key));
    image && runs
        || view.path("resources.limits").is_some() && (has("modelFormat") || has("storageUri") || has("runner"))
}

/// A container; `pod` gives the volumes and the IPC namespace that it runs with.
pub fn container(tree: &Arc<Tree>, view: View<'_>, role: ContainerRole, pod: &Pod) -> Container {
    let name = view.get("name");
    let mut out = Container::blank(if name.is_some() { name.place() } else { view.place() });
    out.name = name.string();
    out.role = Fact::value(role, view.place());
    out.image = image::at(view.get("image"));
    out.env = environment(view.get("env"));
    if let Some(source) = view.get("envFrom").items().next() {
        let mut rest = Box::new(EnvVar::blank(source.place()));
        let why = source.unknown().unwrap_or_else(|| Why::Remote("what envFrom names".into()));
        rest.value = Fact::unknown(why, source.place());
        out.env.entry(REST.to_owned()).or_insert(rest);
    }
    resources(&mut out, view.get("resources"));
    out.claims = names(view.path("resources.claims"));
    out.ports = view.get("ports").items().map(port).collect();
    out.mounts = view.get("volumeMounts").items().map(mount).collect();
    out.startup_probe = probe(view.get("startupProbe"), &out.ports);
    out.readiness_probe = probe(view.get("readinessProbe"), &out.ports);
    out.liveness_probe = probe(view.get("livenessProbe"), &out.ports);
    out.privileged = view.path("securityContext.privileged").boolean().or_default(false);
    out.capabilities = view.path("securityContext.capabilities.add").strings();
    shared_memory(&mut out, view, pod);
    let stated: Vec<Traced> = ["command", "args"].iter().flat_map(|key| words(view.get(key))).collect();
    let words: Vec<&Traced> = stated.iter().collect();
    out.entrypoint = Fact { known: view.has("command"), ..Fact::absent(view.place()) };
    out.command = words.iter().map(|w| word(w)).collect();
    out.spec = Some(Raw::new(tree, view));
    out.launch = launch::of(&out, &words).or_else(|| launch::of_kserve(view, &out, &words));
    out.training = out.launch.as_deref().and_then(training::of);
    if let Some(launch) = &out.launch {
        let scripts = stated.iter().filter(|word| word.text().contains('\n') && word.text().contains("export "));
        scripts.for_each(|script| out.env.extend(exported(script, launch)));
    }
    let launches = |word: &&&Traced| catalog::launcher_of_program(base_name(word.text()), None).is_some();
    if let Some(command) = words.first().filter(launches).and(Command::of_arguments(&stated)) {
        exports::handed(&command.words, &mut out.env);
    }
    let named = view.has("modelFormat") == Known::Value(true);
    // What KServe's own runtime is given beside them is known.
    let complete = out.launch.is_some() && named && !view.get("runtime").is_some();
    let command = view.get("command");
    let runtime = || named.then(|| Why::Remote("what the runtime adds to the arguments".into()));
    let unknown = if complete { None } else { view.get("args").unknown().or_else(runtime) };
    let unknown = unknown.or_else(|| ["command", "args"].iter().find_map(|key| open_words(view.get(key))));
    if let Some(why) = unknown.or_else(|| command.node().and_then(|_| command.unknown())) {
        leave_launch_open(&mut out, &why);
    }
    out
}

/// What the script of a container exports to what it launches. Processes that are told their devices one by one share them.
fn exported(script: &Traced, launch: &Launch) -> Variables {
    const DEVICES: &str = "CUDA_VISIBLE_DEVICES";
    let mut out = scripts::exported_to(script, launch);
    if script.text().matches(&format!("{DEVICES}=")).count() > 1 {
        out.remove(DEVICES);
    }
    out
}

/// Arguments that stand elsewhere may state what the words at hand leave out.
pub fn leave_launch_open(out: &mut Container, why: &Why) {
    let hidden = || Box::new(Launch { perhaps: Some(why.clone()), ..Launch::blank(out.span) });
    let launch = out.launch.get_or_insert_with(hidden);
    launch.leave_open(why);
    launch.flags.insert(REST.to_owned(), Fact::unknown(why.clone(), launch.span));
    if let Some(training) = &mut out.training {
        training.leave_open(why);
    }
}

/// The words of a command: a list of texts, or one text. An expression stands for a word.
pub fn words(view: View<'_>) -> Vec<Traced> {
    let word = |item: Node<'_>| match item.kind() {
        Shape::Unknown(Why::Variable(name) | Why::Remote(name)) => {
            Some(Traced::opaque(format!("${{{name}}}"), item.span()))
        }
        Shape::Unknown(_) => Some(Traced::opaque("${expression}", item.span())),
        _ => item.traced(),
    };
    match view.node() {
        Some(node) if node.is_seq() => node.items().filter_map(word).collect(),
        _ => view.traced().into_iter().collect(),
    }
}

/// Why a list of words may hold more than is written: an expression that is no option's value.
pub fn open_words(view: View<'_>) -> Option<Why> {
    let items: Vec<Node<'_>> = view.node().into_iter().flat_map(Node::items).collect();
    let option = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| items[at].text());
        before.is_some_and(|text| text.starts_with('-') && !text.contains('='))
    };
    items.iter().enumerate().find_map(|(at, item)| match item.kind() {
        Shape::Unknown(why) if matches!(why, Why::Perhaps(_)) || !option(at) => Some(why.clone()),
        _ => None,
    })
}

/// A word of a command; unknown where an expression stands for all of it.
pub fn word(text: &Traced) -> Fact<String> {
    let expression = text.text().strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match expression.filter(|name| !name.contains(['$', '{', ' '])) {
        Some(name) => Fact::unknown(Why::Variable(name.into()), text.whole()),
        None => Fact::value(text.text().to_owned(), text.whole()),
    }
}

/// Environment variables of a list of `{name, value | valueFrom}`, or of a map.
pub fn environment(view: View<'_>) -> Variables {
    let mut out = BTreeMap::new();
    if view.node().is_some_and(|n| n.is_map()) {
        for (key, value) in entries(view) {
            let mut variable = Box::new(EnvVar::blank(value.place()));
            let name = if key == REST { value.string() } else { Fact::value(key.to_owned(), value.place()) };
            variable.name = name;
            variable.value = env_value(value);
            variable.written = value.written();
            out.insert(key.to_owned(), variable);
        }
        return out;
    }
    for item in view.items() {
        let name = item.get("name");
        let Fact { known, span, .. } = name.string();
        let key = match known {
            Known::Value(key) => key,
            Known::Unknown(_) => REST.to_owned(),
            Known::Absent => continue,
        };
        let mut variable = Box::new(EnvVar::blank(span));
        variable.name = name.string();
        variable.value = env_value(item.get("value"));
        variable.written = item.get("value").written();
        if let Some((source, place)) = item.get("valueFrom").entries().first() {
            let from = match *source {
                "secretKeyRef" => EnvSource::Secret,
                "configMapKeyRef" => EnvSource::Config,
                "fieldRef" => EnvSource::Field,
                _ => EnvSource::Resource,
            };
            variable.from = Fact::value(from, place.place());
        }
        out.insert(key, variable);
    }
    out
}

/// A literal value; an empty text is a value, not nothing.
fn env_value(view: View<'_>) -> Fact<String> {
    match view.traced() {
        Some(text) if text.text().is_empty() => Fact::value(String::new(), view.place()),
        // `$(VAR)` is expanded by the kubelet; any other dollar is literal text, `${X}` included.
        Some(text) => match crate::parse::placeholder(text.text()) {
            Some(why) => Fact::unknown(why, view.place()),
            None => Fact::value(text.text().to_owned(), view.place()),
        },
        None => view.string(),
    }
}

/// Requests and limits, and the accelerators among them.
pub fn resources(out: &mut Container, view: View<'_>) {
    let read = |view: View<'_>| -> BTreeMap<String, Fact<f64>> {
        entries(view).map(|(key, value)| (key.to_owned(), value.parse(quantity::parse))).collect()
    };
    out.requests = read(view.get("requests"));
    out.limits = read(view.get("limits"));
    let asked = out.limits.iter().chain(out.requests.iter().filter(|(name, _)| !out.limits.contains_key(*name)));
    let fabric = asked.filter(|(name, _)| catalog::is_fabric(name));
    out.fabric = fabric.map(|(name, quantity)| Fact::value(name.clone(), quantity.span)).collect();
    let accelerators = [&out.limits, &out.requests].into_iter().flat_map(|map| map.iter());
    let known = accelerators.filter_map(|(name, quantity)| Some((name, quantity, catalog::accelerator(name)?)));
    let asks = |quantity: &Fact<f64>| quantity.get().is_none_or(|q| *q > 0.0);
    let whole = known.clone().find(|(_, quantity, accelerator)| accelerator.devices && asks(quantity));
    let found = known
        // A resource of zero devices says nothing when another one asks for some.
        .max_by_key(|(_, quantity, _)| asks(quantity));
    let Some((name, quantity, accelerator)) = found else {
        // What an expression brings in may ask for some, and so may a resource that nobody knows.
        let rest = ["limits", "requests"].iter().find_map(|key| view.get(key).rest());
        let rest = rest.map(|rest| (rest.unknown().unwrap_or(Why::Template), rest.place()));
        let stranger = || {
            let mut all = out.limits.iter().chain(&out.requests);
            let (name, quantity) = all.find(|(name, _)| catalog::resource_unknown(name))?;
            Some((Why::NotInCatalog(name.as_str().into()), quantity.span))
        };
        out.gpus = Fact::value(0, view.place());
        if let Some((why, place)) = rest.or_else(stranger) {
            out.gpus = Fact::unknown(why.clone(), place);
            out.gpu_resource = Fact::unknown(why.clone().perhaps(), place);
            out.gpu_vendor = Fact::unknown(why.perhaps(), place);
        }
        return;
    };
    let (name, quantity) = (name.clone(), quantity.clone());
    out.gpu_resource = Fact::value(name.clone(), quantity.span);
    let of_row = |column: fn(&Accelerator) -> &'static str| {
        let text = || catalog::accelerator(&name).map(|row| column(&row).to_owned());
        Fact::watched(|| Fact::from_option(text(), quantity.span))
    };
    out.gpu_vendor = of_row(|row| row.vendor);
    out.device = of_row(|row| row.device);
    out.device_name = of_row(|row| row.name);
    let profile = name.split_once("/mig-").map(|(_, profile)| profile.strip_suffix(".shared").unwrap_or(profile));
    out.mig_profile = Fact::from_option(profile.map(str::to_owned), quantity.span);
    // A share of the memory or of the cores may stand beside the number of devices it is taken from.
    let devices = if accelerator.devices { Some(quantity.clone()) } else { whole.map(|(_, q, _)| q.clone()) };
    out.gpus = match devices {
        Some(devices) => devices.and_then(|q| {
            if q.fract() == 0.0 { Known::Value(q as i64) } else { Known::Unknown(Why::Malformed(q.to_string().into())) }
        }),
        // Memory or cores of a shared device: one device is used.
        None => quantity.map(|q| i64::from(q > 0.0)),
    };
}

fn port(view: View<'_>) -> Port {
    let mut out = Port::blank(view.place());
    out.perhaps = view.unknown();
    out.name = view.get("name").string();
    out.port = view.get("containerPort").int();
    out.host_port = view.get("hostPort").int();
    out.host_ip = view.get("hostIP").string();
    out
}

fn mount(view: View<'_>) -> Mount {
    let mut out = Mount::blank(view.place());
    out.perhaps = view.unknown();
    out.path = view.get("mountPath").string();
    out.volume = view.get("name").string();
    out
}

/// A probe after defaulting.
fn probe(view: View<'_>, ports: &[Port]) -> Option<Box<Probe>> {
    let mut out = Box::new(Probe::blank(view.place()));
    out.perhaps = view.unknown();
    if !view.is_some() && out.perhaps.is_none() {
        return None;
    }
    let action = ["httpGet", "tcpSocket", "grpc"].iter().map(|key| view.get(key)).find(|v| v.is_some());
    let action = action.unwrap_or_else(|| view.get("httpGet"));
    out.path = action.get("path").string();
    let port = action.get("port");
    out.port = port.int();
    if out.port.is_unknown() && port.unknown().is_none() {
        out.port_name = port.string();
        let named = ports.iter().find(|p| p.name.get().is_some() && p.name.get() == out.port_name.get());
        out.port = named.map_or(out.port.clone(), |p| Fact { span: port.place(), ..p.port.clone() });
    }
    out.initial_delay_seconds = view.get("initialDelaySeconds").int().or_default(0);
    out.period_seconds = view.get("periodSeconds").int().or_default(10);
    out.timeout_seconds = view.get("timeoutSeconds").int().or_default(1);
    out.failure_threshold = view.get("failureThreshold").int().or_default(3);
    let parts = (out.initial_delay_seconds.get(), out.period_seconds.get(), out.failure_threshold.get());
    out.budget_seconds = match parts {
        (Some(delay), Some(period), Some(failures)) => {
            let decided = [&out.failure_threshold, &out.period_seconds].into_iter().find(|f| f.span != out.span);
            let budget = delay.saturating_add(period.saturating_mul(*failures));
            Fact::value(budget, decided.map_or(out.span, |f| f.span))
        }
        _ => Fact::unknown(Why::NotStated("a number of the probe".into()), out.span),
    };
    Some(out)
}

/// What stands at /dev/shm.
fn shared_memory(out: &mut Container, view: View<'_>, pod: &Pod) {
    // Who fills in what is missing may mount something there, beside what is stated.
    let filled = view.open().filter(|open| matches!(open.missing, Missing::AllBut(_))).map(|open| open.why.clone());
    let mount = out.mounts.iter().find(|m| m.path.get().is_some_and(|p| p.trim_end_matches('/') == "/dev/shm"));
    if let Some(mount) = mount {
        let volume = pod.volumes.iter().find(|v| v.name.get().is_some() && v.name.get() == mount.volume.get());
        out.shm = Fact::value(SharedMemory::Volume, mount.path.span);
        out.shm_bytes = volume.map_or(Fact::absent(mount.path.span), |v| v.size_bytes.clone());
    } else if pod.host_ipc.get() == Some(&true) {
        out.shm = Fact::value(SharedMemory::Host, pod.host_ipc.span);
    } else if let Some(why) = out.mounts.iter().find_map(|mount| mount.perhaps.clone()).or(filled) {
        out.shm = Fact::unknown(why.clone(), out.span);
        out.shm_bytes = Fact::unknown(why, out.span);
    } else {
        out.shm = Fact::value(SharedMemory::Default, out.span);
        out.shm_bytes = Fact::value(crate::extract::DEFAULT_SHM, out.span);
    }
}

/// The entries of a map of facts; those that cannot be told are one unknown under [`REST`].
pub fn entries(view: View<'_>) -> impl Iterator<Item = (&str, View<'_>)> {
    view.entries().into_iter().chain(view.rest().map(|rest| (REST, rest)))
}

/// The names of the items that are written in a list.
pub fn names(list: View<'_>) -> Vec<Fact<String>> {
    list.items().filter(|item| item.unknown().is_none()).map(|item| item.get("name").string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    #[test]
    fn what_a_script_exports_is_there_for_what_it_launches() {
        let env = |script: &str| {
            let text =
                format!("image: x\nenv: [{{name: NCCL_NET, value: old}}]\ncommand:\n- bash\n- -c\n- |\n  {script}\n");
            let tree = Arc::new(yaml::parse(SourceId(0), &text, Dialect::Core));
            let root = tree.roots().next().expect("a document").view();
            let out = container(&tree, root, ContainerRole::Main, &Pod::blank(root.place()));
            let value = |name: &str| out.env.get(name).and_then(|v| v.value.get().cloned()).unwrap_or("?".to_owned());
            ["NCCL_NET", "CUDA_VISIBLE_DEVICES"].map(value).join(" ")
        };
        assert_eq!(env("export NCCL_NET=gIB\n  mpirun -np 8 all_gather_perf"), "gIB ?");
        assert_eq!(env("mpirun -np 8 all_gather_perf\n  export NCCL_NET=late"), "old ?");
        assert_eq!(env("export CUDA_VISIBLE_DEVICES=0\n  vllm serve m"), "old 0");
        let each = "export CUDA_VISIBLE_DEVICES=0\n  vllm serve m &\n  export CUDA_VISIBLE_DEVICES=1\n  vllm serve m";
        assert_eq!(env(each), "old ?");
    }
}
