//! Ansible: what tasks install on machines, and the charts that they release. Knows modules and their arguments; puts in
//! the variables of plays, and follows no roles.

use super::{MOST_PACKAGES, built, compose, embedded, install, kubernetes, machinery, startup, values, written};
use crate::facts::Node as Machine;
use crate::facts::value::REST;
use crate::facts::{
    Facts, HelmRelease, Object, Package, PackageFile, PackageFileKind, PackageManager, ReleaseFormat, Workload,
    WorkloadFormat,
};
use crate::known::{Fact, Why};
use crate::parse::{Builder, DEEPEST, Entry, Node, NodeKind, Raw, Tree, View, requirements};
use crate::render::ansible::references;
use crate::source::{Span, Traced};
use crate::version::Version;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Keys under which a play or a block lists further tasks.
const LISTS: [&str; 7] = ["pre_tasks", "tasks", "post_tasks", "handlers", "block", "rescue", "always"];

/// Modules that are read.
const MODULES: [&str; 22] = [
    "apt",
    "blockinfile",
    "command",
    "copy",
    "dnf",
    "docker_container",
    "docker_image",
    "docker_image_build",
    "dpkg_selections",
    "get_url",
    "helm",
    "k8s",
    "lineinfile",
    "package",
    "pip",
    "podman_container",
    "podman_image",
    "raw",
    "shell",
    "template",
    "yum",
    "zypper",
];

/// Whether a document is a playbook, or a list of tasks.
pub fn is_tasks(root: Node<'_>) -> bool {
    let of_task = |item: Node<'_>| item.get("hosts").is_some() || module(item).is_some();
    root.is_seq() && root.items().any(|item| of_task(item) || LISTS.iter().any(|key| item.get(key).is_some()))
}

/// Keys of plays and tasks that say what something is called, where it stands, what is told and when it is done.
const NAMES: [&str; 16] = [
    "assert",
    "debug",
    "fail",
    "import_playbook",
    "import_role",
    "import_tasks",
    "include_role",
    "include_tasks",
    "listen",
    "name",
    "notify",
    "register",
    "role",
    "roles",
    "tags",
    "when",
];

/// Where plays and tasks name what they do not state.
pub fn names(root: Node<'_>) -> Vec<Span> {
    let mut out = vec![];
    if root.is_seq() && root.items().all(|item| item.is_map()) {
        named(root, DEEPEST, &mut out);
    }
    out
}

fn named(tasks: Node<'_>, depth: usize, out: &mut Vec<Span>) {
    for task in tasks.items().filter(|_| depth > 0) {
        for (key, value) in task.entries() {
            let Some(key) = key.text() else { continue };
            if LISTS.contains(&key) {
                named(value, depth - 1, out);
            } else if key.rsplit('.').next().is_some_and(|key| NAMES.contains(&key)) {
                out.push(value.span());
            } else if key.ends_with("_container") {
                out.extend(value.get("name").map(Node::span));
            }
        }
    }
}

/// Reads a playbook or a list of tasks.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    let mut found = PackageFile::blank(root.head());
    found.path = Fact::value(path.to_owned(), root.head());
    found.kind = Fact::value(PackageFileKind::Ansible, root.head());
    let mut run = BTreeSet::new();
    for play in root.items() {
        let variables = Variables::of(play);
        machinery::of_variables(play.view().get("vars"), path, &|text| variables.put_into(text), facts);
    }
    for (variables, tasks) in plays(root) {
        let (packages_before, workloads_before) = (found.packages.len(), facts.workloads.len());
        let fetched = fetched(&tasks, &variables);
        for (name, task, arguments) in &tasks {
            let held = held(name, (*task, *arguments), &variables);
            match *name {
                "helm" => facts.releases.push(Arc::new(release(tree, *arguments))),
                "apt" | "dnf" | "package" | "pip" | "yum" | "zypper" => {
                    found.packages.extend(packages(name, (*task, *arguments), (&variables, &fetched)));
                }
                "command" | "raw" | "shell" => {
                    let text = command(*arguments);
                    let looped = text.as_ref().is_some_and(|text| text.text().trim_matches(['{', '}', ' ']) == "item");
                    let items = || variables.listed(first(task.view(), &["loop", "with_items"]));
                    let mut lines: Vec<Traced> = if looped { items() } else { text.into_iter().collect() };
                    // What a task holds of a list is told below.
                    lines.retain(|line| held.is_empty() || !line.text().contains("{{"));
                    // What aliases repeat is read once.
                    // Without a shell the words are split wherever they end.
                    let line = |line: &Traced| if *name == "command" { line.unwrapped() } else { line.clone() };
                    let new = lines
                        .iter()
                        .map(|text| variables.put_into(&line(text)))
                        .filter(|line| run.insert(line.whole()));
                    new.for_each(|line| startup::commands_of(&line, path, facts));
                }
                "copy" => {
                    let (at, content) = (arguments.get("dest").string(), arguments.get("content").traced());
                    if let Some((at, content)) = at.get().zip(content).filter(|(_, text)| run.insert(text.whole())) {
                        embedded::written(&content, at, facts);
                    }
                }
                "docker_container" | "podman_container" if !removes(*arguments) => {
                    facts.workloads.extend(container(tree, *arguments, name));
                }
                // What an image is built from stands in `build`, or beside its name.
                "docker_image" | "docker_image_build" | "podman_image"
                    if *name == "docker_image_build"
                        || ["build", "path"].iter().any(|key| arguments.get(key).is_some()) =>
                {
                    built::by_others(arguments.get("name"), facts);
                }
                "k8s" if !removes(*arguments) => {
                    let stated = first(*arguments, &["definition", "resource_definition"]);
                    let listed = stated.node().into_iter().flat_map(|node| node.is_seq().then(|| node.items()));
                    let objects: Vec<Node<'_>> = listed.flatten().chain(stated.node()).collect();
                    let objects = objects.into_iter().filter(|node| kubernetes::is_object(*node));
                    objects.for_each(|object| kubernetes::document(tree, object, facts));
                }
                _ => {}
            }
            if held.is_empty() && holds(name, *arguments) {
                let mut hold = Object::blank(arguments.place());
                hold.kind = Fact::value("PackageHold".to_owned(), arguments.place());
                facts.objects.push(Arc::new(hold));
            }
            found.held.extend(held);
        }
        if let Some(driver) = driver(&tasks, &found.packages[packages_before..]) {
            let started = facts.workloads[workloads_before..].iter_mut();
            let here = started.filter(|workload| workload.format.get() != Some(&WorkloadFormat::Kubernetes));
            for pod in here.flat_map(|workload| &mut workload.pods) {
                pod.node.get_or_insert_with(|| Machine::blank(driver.span)).driver = driver.clone();
            }
        }
    }
    if !found.packages.is_empty() || !found.held.is_empty() {
        facts.package_files.push(Arc::new(found));
    }
}

/// Where files that tasks fetch come from, by where they lie then.
fn fetched(tasks: &[Task<'_>], variables: &Variables<'_>) -> BTreeMap<String, Traced> {
    let of_task = |(name, _, arguments): &Task<'_>| {
        let text = |key: &str| Some(variables.put_into(&arguments.get(key).traced()?));
        (*name == "get_url").then(|| Some((text("dest")?.text().to_owned(), text("url")?))).flatten()
    };
    tasks.iter().filter_map(of_task).collect()
}

/// The command line of a task: a text, or its words.
fn command(arguments: View<'_>) -> Option<Traced> {
    arguments.traced().or_else(|| arguments.get("cmd").traced()).or_else(|| startup::words(arguments.get("argv")))
}

/// The packages that a task keeps as they are: those that it names, or gives its command one by one.
fn held<'t>(module: &str, (task, arguments): (Node<'t>, View<'t>), variables: &Variables<'t>) -> Vec<Fact<String>> {
    let named = match module {
        "dpkg_selections" => arguments.get("name").traced().map(|name| vec![install::fact(&variables.put_into(&name))]),
        // What a command names itself is told as what any script holds.
        "command" | "raw" | "shell" => command(arguments).map(|line| variables.put_into(&line)).and_then(|line| {
            let each = ["apt-mark", "hold", "{{", "item"].iter().all(|word| line.text().contains(word));
            let items = || variables.listed(first(task.view(), &["loop", "with_items"]));
            each.then(|| items().iter().map(install::fact).collect())
        }),
        _ => None,
    };
    named.unwrap_or_default().into_iter().filter(|name| name.get().is_some()).collect()
}

/// The variables of a play.
#[derive(Default)]
struct Variables<'t> {
    values: BTreeMap<&'t str, View<'t>>,
    /// Items of lists that are read of it: many tasks may name one list.
    read: Cell<usize>,
}

/// A variable that is another one is followed so often.
const MOST_STEPS: usize = 4;

/// Longest text that variables are put into: a name, an address, a line.
const LONGEST: usize = 1024;

impl<'t> Variables<'t> {
    fn of(play: Node<'t>) -> Self {
        Self::among(play.view().get("vars"))
    }

    /// Those that a file or a play sets.
    fn among(view: View<'t>) -> Self {
        Self { values: view.entries().into_iter().collect(), read: Cell::new(0) }
    }

    /// The variable that a text is, with nothing beside it.
    fn alone(&self, text: &str) -> Option<View<'t>> {
        let (range, name) = references(text).next().filter(|_| text.len() <= LONGEST)?;
        (range.len() == text.trim().len()).then(|| self.values.get(name).copied()).flatten()
    }

    /// The text of a variable that may be another one.
    fn followed(&self, text: &Traced) -> Traced {
        let mut text = text.clone();
        for _ in 0..MOST_STEPS {
            let Some(value) = self.alone(text.text()).and_then(View::traced) else { break };
            text = value;
        }
        text
    }

    /// A text with the variables that it names, as far as the play says what they are.
    fn put_into(&self, text: &Traced) -> Traced {
        let mut out = self.followed(text);
        if out.text().len() > LONGEST {
            return out;
        }
        let named: Vec<_> = references(out.text()).map(|(range, name)| (range, self.values.get(name))).collect();
        let texts = named.into_iter().rev().filter_map(|(range, value)| Some((range, value?.traced()?)));
        for (range, value) in texts.map(|(range, value)| (range, self.followed(&value))).collect::<Vec<_>>() {
            if out.text().len() + value.text().len() <= LONGEST {
                out = out.replaced(range, &value);
            }
        }
        out
    }

    /// The texts of a list, or of the variable that stands for one.
    fn listed(&self, view: View<'t>) -> Vec<Traced> {
        let named = view.traced().and_then(|text| self.alone(self.followed(&text).text()));
        let list = named.filter(|value| value.node().is_some_and(Node::is_seq)).unwrap_or(view);
        let left = MOST_PACKAGES.saturating_sub(self.read.get());
        let more = list.items().take(left + 1).count();
        self.read.set(self.read.get() + more);
        if more > left {
            return vec![];
        }
        match list.node() {
            Some(node) if node.is_seq() => node.items().filter_map(Node::traced).map(|t| self.put_into(&t)).collect(),
            _ => list.traced().map(|text| split(&self.put_into(&text))).unwrap_or_default(),
        }
    }
}

/// Arguments of the module that starts a container, and the keys of a Compose service that say the same.
/// https://docs.ansible.com/ansible/latest/collections/community/docker/docker_container_module.html
const CONTAINER: [(&str, &str); 20] = [
    ("capabilities", "cap_add"),
    ("command", "command"),
    ("device_requests", "gpus"),
    ("devices", "devices"),
    ("entrypoint", "entrypoint"),
    ("env", "environment"),
    ("gpus", "gpus"),
    ("image", "image"),
    ("ipc_mode", "ipc"),
    ("memory", "mem_limit"),
    ("mounts", "volumes"),
    ("network_mode", "network_mode"),
    ("pid_mode", "pid"),
    ("ports", "ports"),
    ("privileged", "privileged"),
    ("published_ports", "ports"),
    ("restart_policy", "restart"),
    ("runtime", "runtime"),
    ("shm_size", "shm_size"),
    ("volumes", "volumes"),
];

/// A container that a task starts, as a Compose service.
fn container(tree: &Arc<Tree>, arguments: View<'_>, module: &str) -> Option<Workload> {
    let node = arguments.node().filter(|node| node.get("image").is_some())?;
    let mut builder = Builder::new(tree.source, tree.dialect);
    let mut entries = vec![];
    for (key, value) in node.entries() {
        let Some((_, known)) = CONTAINER.iter().find(|(name, _)| key.text() == Some(*name)) else { continue };
        let name = NodeKind::Scalar { text: Traced::opaque(*known, key.span()), plain: false };
        let (key, value) = (builder.add(name, key.span()), builder.copy(value));
        entries.push(Entry { key, value });
    }
    let root = builder.add(NodeKind::Map(entries), node.span());
    builder.tree().documents.push(root);
    let built = Arc::new(builder.finish());
    let name = arguments.get("name").string();
    let mut out = compose::service(&built, (name.get().map_or(module, String::as_str), built.node(root).view()));
    out.format = Fact::value(WorkloadFormat::Docker, arguments.place());
    out.kind = Fact::value(module.to_owned(), arguments.place());
    Some(out)
}

/// Whether a task takes away what it names.
fn removes(arguments: View<'_>) -> bool {
    arguments.get("state").string().get().is_some_and(|state| ["absent", "removed"].contains(&state.as_str()))
}

/// Reads a file of variables or an inventory: the values of the GPU operator that a task hands to its chart, and what others say by their names.
pub fn variables(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    let of_variables = |part: &str| ["group_vars", "host_vars", "vars", "defaults"].contains(&part);
    if path.split('/').any(of_variables) || is_inventory(root) {
        let maps = root.view().entries().into_iter().map(|(_, value)| value);
        let of_operator = maps.filter(|v| v.node().is_some_and(values::shaped_like_operator));
        facts.releases.extend(of_operator.map(|view| Arc::new(values::operator_values(tree, view))));
        let variables = Variables::among(root.view());
        machinery::of_variables(root.view(), path, &|text| variables.put_into(text), facts);
    }
}

/// Whether a document is an inventory: hosts and groups of them, with their variables.
/// <https://docs.ansible.com/ansible/latest/inventory_guide/intro_inventory.html>
fn is_inventory(root: Node<'_>) -> bool {
    let all = root.get("all").filter(|all| all.is_map());
    all.is_some_and(|all| ["children", "hosts"].iter().any(|key| all.get(key).is_some_and(Node::is_map)))
}

/// The module of a task and its arguments: `ansible.builtin.apt: {name: …}`.
fn module(task: Node<'_>) -> Option<(&'static str, View<'_>)> {
    let entries = task.view().entries().into_iter();
    let named = |key: &str| MODULES.into_iter().find(|module| key.rsplit('.').next() == Some(*module));
    entries.filter_map(|(key, value)| Some((named(key)?, value))).next()
}

/// A task: its module, itself, and the arguments of the module.
type Task<'t> = (&'static str, Node<'t>, View<'t>);

/// The tasks of each play with its variables; a list of tasks is part of one.
fn plays(root: Node<'_>) -> Vec<(Variables<'_>, Vec<Task<'_>>)> {
    if root.items().any(|item| item.get("hosts").is_some()) {
        return root.items().map(|play| (Variables::of(play), tasks(std::iter::once(play)))).collect();
    }
    vec![(Variables::default(), tasks(root.items()))]
}

fn tasks<'t>(items: impl Iterator<Item = Node<'t>>) -> Vec<Task<'t>> {
    let mut out = vec![];
    items.for_each(|item| add(item, DEEPEST, &mut out));
    out
}

/// Adds a task, and those of a block or a play.
fn add<'t>(task: Node<'t>, depth: usize, out: &mut Vec<Task<'t>>) {
    out.extend(module(task).map(|(name, arguments)| (name, task, arguments)));
    let lists = LISTS.iter().filter_map(|key| task.get(key)).filter(|_| depth > 1);
    lists.flat_map(Node::items).for_each(|inner| add(inner, depth - 1, out));
}

/// The driver that the tasks of a play install out of a file of NVIDIA; none where packages may bring another one.
fn driver(tasks: &[Task<'_>], packages: &[Package]) -> Option<Fact<Version>> {
    let other = |name: &String| ["nvidia-driver", "nvidia-headless", "nvidia-open"].iter().any(|p| name.starts_with(p));
    if packages.iter().any(|package| package.name.get().is_some_and(other)) {
        return None;
    }
    let text = |(name, _, arguments): &Task<'_>| match *name {
        "apt" => arguments.get("deb").traced(),
        "command" | "raw" | "shell" => command(*arguments),
        _ => None,
    };
    let mut stated = tasks.iter().filter_map(text).filter_map(|text| startup::driver(&text));
    let first = stated.next()?;
    stated.all(|other| other.known == first.known).then_some(first)
}

fn first<'t>(view: View<'t>, keys: &[&str]) -> View<'t> {
    keys.iter().map(|key| view.get(key)).find(|v| v.is_some()).unwrap_or(View::new(None, view.place()))
}

/// What a task installs: the names in its arguments, or the items that it loops over.
fn packages<'t>(
    module: &str,
    (task, arguments): (Node<'t>, View<'t>),
    (variables, fetched): (&Variables<'t>, &BTreeMap<String, Traced>),
) -> Vec<Package> {
    if removes(arguments) {
        return vec![];
    }
    let named = first(arguments, &["name", "pkg", "package"]);
    let loops = named.traced().is_some_and(|text| text.text().contains("item"));
    let listed = if loops { first(task.view(), &["loop", "with_items"]) } else { named };
    let texts = variables.listed(listed);
    if let Some(archive) = arguments.get("deb").traced().filter(|_| module == "apt") {
        let archive = variables.put_into(&archive);
        return install::of_archives(&[fetched.get(archive.text()).cloned().unwrap_or(archive)]).packages;
    }
    if module == "pip" {
        let read = texts.iter().filter_map(requirements::requirement);
        return read.map(|requirement| install::of_requirement(&requirement, PackageManager::Pip)).collect();
    }
    install::of_distribution(&texts, PackageManager::Apt).packages
}

/// The parts of `a, b`.
fn split(text: &Traced) -> Vec<Traced> {
    let whole = text.text();
    let start = |part: &str| part.as_ptr() as usize - whole.as_ptr() as usize;
    whole.split(',').map(str::trim).map(|part| text.slice(start(part)..start(part) + part.len())).collect()
}

/// Whether a task may keep packages of the driver as they are: a hold, a pin, an exception of automatic upgrades.
fn holds(module: &str, arguments: View<'_>) -> bool {
    let texts = [arguments].into_iter().chain(["cmd", "content", "block", "line"].map(|key| arguments.get(key)));
    let texts = texts.filter_map(View::traced).chain(startup::words(arguments.get("argv")));
    let says = |text: &str| {
        let excepted = ["Blacklist", "Pin", "exclude"].iter().any(|word| text.contains(word));
        text.contains("apt-mark hold") || text.contains("versionlock") || excepted && text.contains("nvidia")
    };
    let file = arguments.get("dest").string();
    let settings = |dest: &String| ["unattended", "apt.conf", "preferences"].iter().any(|word| dest.contains(word));
    module == "dpkg_selections"
        // What a file holds that is copied is not read here.
        || ["template", "copy"].contains(&module)
            && ["content", "block"].iter().all(|key| !arguments.get(key).is_some())
            && file.get().is_none_or(settings)
        || texts.into_iter().any(|text| says(text.text()) && install::held(&text).is_empty())
}

/// A chart that a task releases.
fn release(tree: &Arc<Tree>, arguments: View<'_>) -> HelmRelease {
    let values = first(arguments, &["release_values", "values"]);
    let chart = arguments.get("chart_ref");
    let span: Span = chart.place();
    let mut out = HelmRelease::blank(span);
    out.format = Fact::value(ReleaseFormat::Ansible, span);
    out.name = first(arguments, &["release_name", "name"]).string();
    out.chart = chart.string().map(|chart| chart.rsplit('/').next().unwrap_or_default().to_owned());
    out.version = arguments.get("chart_version").parse(Version::parse);
    out.namespace = first(arguments, &["release_namespace", "namespace"]).string();
    out.values = Some(Raw::new(tree, values));
    out.values_from = arguments.get("values_files").strings();
    out.set = arguments.get("set_values").items().filter_map(assignment).collect();
    let is_text = |item: &View<'_>| item.get("value_type").string().get().is_some_and(|ty| ty == "string");
    let texts = arguments.get("set_values").items().filter(is_text).filter_map(assignment);
    out.set_text = texts.map(|(name, value)| Fact::value(name, value.span)).collect();
    if values.is_some() && !values.node().is_some_and(Node::is_map) {
        // They stand in a variable.
        out.set.insert(REST.to_owned(), Fact::unknown(Why::Template, values.place()));
    }
    out
}

/// A value that is set by name, `driver.version=580.95.05`.
fn assignment(item: View<'_>) -> Option<(String, Fact<String>)> {
    let assigned = item.get("value").traced()?;
    let (name, _) = assigned.text().split_once('=')?;
    let value = assigned.slice(name.len() + 1..assigned.text().len());
    Some((name.to_owned(), written::stated(&value, false)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    fn facts(path: &str, text: &str) -> Facts {
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Core));
        let mut facts = Facts::default();
        crate::extract::documents(&tree, path, &mut facts);
        facts
    }

    /// What tasks hold, beside the tasks as they are written.
    fn held(facts: &Facts) -> impl Iterator<Item = &Arc<crate::facts::Object>> {
        facts.objects.iter().filter(|object| object.kind.get().is_some_and(|kind| kind != "AnsibleTasks"))
    }

    #[test]
    fn tasks_of_plays_and_blocks_install_packages() {
        let facts = facts(
            "site.yml",
            "- hosts: gpu\n  tasks:\n  - block:\n    - apt: {name: 'nvidia-driver-535, dkms'}\n  \
             - ansible.builtin.package: {name: '{{ item }}'}\n    loop: [cuda-toolkit-12-4]\n  \
             - pip: {name: [torch==2.5.1]}\n  - apt: {name: nouveau, state: absent}\n",
        );
        assert_eq!(held(&facts).count(), 0);
        let names: Vec<_> = facts.package_files[0].packages.iter().filter_map(|p| p.name.get()).collect();
        assert_eq!(names, ["nvidia-driver-535", "dkms", "cuda-toolkit-12-4", "torch"]);
    }

    #[test]
    fn what_is_held_is_told() {
        let task = "copy: {dest: x, content: '${a} Package-Blacklist {nvidia}'}";
        assert_eq!(held(&facts("main.yml", &format!("- {task}\n"))).count(), 1);
        for (task, names) in [
            ("shell: apt-mark hold nvidia-driver-535", "nvidia-driver-535"),
            ("command: {argv: [apt-mark, hold, '{{ item }}']}\n  loop: [a, libnvidia-*]", "a libnvidia-*"),
            ("command: apt-mark hold {{ item }}\n  loop: '{{ kept }}'", "b c"),
            ("dpkg_selections: {name: nvidia-utils-535, selection: hold}", "nvidia-utils-535"),
            ("command: apt-mark unhold a", ""),
        ] {
            let play =
                format!("- hosts: all\n  vars: {{kept: [b, c]}}\n  tasks:\n  - {}\n", task.replace('\n', "\n  "));
            let facts = facts("main.yml", &play);
            let held = facts.package_files.iter().flat_map(|file| &file.held).filter_map(|name| name.get().cloned());
            assert_eq!(held.collect::<Vec<_>>().join(" "), names, "{task}");
        }
    }

    #[test]
    fn variables_of_a_play_are_put_in() {
        let facts = facts(
            "site.yml",
            "- hosts: gpu\n  vars:\n    cuda: 12-4\n    repo: 'https://x/{{ distribution }}/cuda-keyring_1.1-1_all.deb'\n    \
             listed: ['cuda-toolkit-{{ cuda }}', dkms]\n    same: '{{ listed }}'\n  tasks:\n  - apt: {deb: '{{ repo }}'}\n  \
             - get_url: {url: 'https://y/nvidia-x_2_all.deb', dest: '/tmp/{{ repo | basename }}'}\n  \
             - apt: {deb: '/tmp/{{ repo | basename }}'}\n  - apt: {name: '{{ same }}'}\n  - dnf: {name: '{{ elsewhere }}'}\n- hosts: other\n  tasks:\n  - apt: {name: '{{ listed }}'}\n",
        );
        let names: Vec<_> = facts.package_files[0].packages.iter().filter_map(|p| p.name.get()).collect();
        assert_eq!(names, ["cuda-keyring", "nvidia-x", "cuda-toolkit-12-4", "dkms"]);
    }

    #[test]
    fn a_list_that_many_tasks_name_is_read_for_few_of_them() {
        let listed = (0..20_000).map(|i| format!("p{i}, ")).collect::<String>();
        let tasks = "  - apt: {name: '{{ listed }}'}\n".repeat(20_000);
        let facts = facts("site.yml", &format!("- hosts: gpu\n  vars: {{listed: [{listed}]}}\n  tasks:\n{tasks}"));
        assert!(facts.package_files[0].packages.len() <= MOST_PACKAGES);
    }

    #[test]
    fn charts_have_values_of_their_task_or_of_variables() {
        let task = "- kubernetes.core.helm: {name: op, chart_ref: nvidia/gpu-operator, chart_version: v24.9.2, \
                    values: {driver: {version: 550.54.15}}}\n";
        let facts_of_task = facts("roles/op/tasks/main.yml", task);
        assert_eq!(facts_of_task.releases[0].chart.get().map(String::as_str), Some("gpu-operator"));
        let variables = "operator: {driver: {enabled: true, version: 525.105.17}, toolkit: {enabled: true}}\n";
        assert_eq!(facts("group_vars/all.yml", variables).releases.len(), 1);
        assert_eq!(facts("other/all.yml", variables).releases.len(), 0);
    }
}
