//! What a machine does when it starts, wherever a resource holds it: a script, or what cloud-init reads. Knows their forms,
//! and nothing of who starts the machine.

mod kubelet;
mod told;

use super::{commands, embedded, install, machines, slurm};
use crate::facts::{
    Facts, Gpu, Node, NodePool, PackageFile, PackageFileKind, PackageManager, Workload, WorkloadFormat, is_of_host,
};
use crate::known::{Fact, Why};
use crate::parse::{Dialect, Node as Yaml, View, mask, shell, yaml};
use crate::source::{Span, Traced};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use told::Told;
pub use told::{driver, lines_of};

/// Attributes that hold what a machine runs when it starts.
pub const ATTRIBUTES: [&str; 16] = [
    "user_data",
    "node_config.user_data",
    "node_config.initialize_script",
    "preinstall",
    "postinstall",
    "user_data_base64",
    "custom_data",
    "cloud_init_user_data",
    "template.cloud_init_user_data",
    "metadata_startup_script",
    "metadata.startup-script",
    "metadata.user-data",
    "metadata.user_data",
    "user_data_raw",
    "UserData",
    "LaunchTemplateData.UserData",
];

/// What machines run when they start. What several of them run is read once.
#[derive(Default)]
pub struct Started {
    told: HashMap<(Span, String), Told>,
    read: BTreeSet<Span>,
}

impl Started {
    /// Reads what a machine of a pool runs, what that starts on it, and what it says of the machine. `path` is that of the file.
    pub fn read(&mut self, text: &Traced, (path, pool): (&str, &mut NodePool), facts: &mut Facts) {
        let key = (text.whole(), text.text().to_owned());
        pool.start_scripts.push(Fact::value(key.1.clone(), key.0));
        if let Some(told) = self.told.get(&key) {
            return told.apply(pool);
        }
        let parts = parts(text);
        let told = Told::by(&parts, text.text());
        told.apply(pool);
        self.told.insert(key, told);
        // What is filled in for each of several machines may differ.
        if self.read.insert(text.whole()) {
            run_on(&machine(pool), parts.stated(path), facts);
        }
    }
}

/// Reads a command that is sent to machines. `path` is that of the file.
pub fn sent(text: &Traced, path: &str, facts: &mut Facts) {
    facts.append(parts(text).stated(path));
}

/// What stands in what a machine reads when it starts.
#[derive(Default)]
struct Parts {
    /// Packages that it installs before the scripts.
    packages: Vec<Traced>,
    scripts: Vec<Traced>,
    /// What nodeadm reads on machines of EKS.
    nodes: Vec<Traced>,
}

impl Parts {
    fn stated(&self, path: &str) -> Facts {
        let mut facts = Facts::default();
        if let Some(first) = self.packages.first() {
            let mut file = PackageFile::blank(first.whole());
            file.path = Fact::value(path.to_owned(), first.whole());
            file.kind = Fact::value(PackageFileKind::Script, first.whole());
            file.packages = install::of_distribution(&self.packages, PackageManager::Apt).packages;
            facts.package_files.push(Arc::new(file));
        }
        self.scripts.iter().for_each(|script| commands_of(script, path, &mut facts));
        facts
    }
}

/// Takes a text apart. https://cloudinit.readthedocs.io/en/latest/explanation/format/index.html
fn parts(text: &Traced) -> Parts {
    let mut out = Parts::default();
    for part in mime(text).unwrap_or_else(|| vec![text.clone()]) {
        if part.text().starts_with("#cloud-config") {
            cloud_config(&part, &mut out);
        } else if part.text().contains("node.eks.aws/") && !part.text().contains("#!") {
            out.nodes.push(part);
        } else {
            out.scripts.extend(script(&part));
        }
    }
    out
}

/// The bodies of the parts of a text that has several. https://datatracker.ietf.org/doc/html/rfc2046#section-5.1
fn mime(text: &Traced) -> Option<Vec<Traced>> {
    let whole = text.text();
    let head = whole.split("\n\n").next().filter(|head| head.contains("multipart/"))?;
    let (_, boundary) = head.split_once("boundary=")?;
    let boundary = boundary.split(['\n', ';']).next()?.trim().trim_matches('"');
    let (mut out, mut from, mut at) = (vec![], None, 0);
    for line in whole.split_inclusive('\n') {
        let ends = line.trim_start().strip_prefix("--").is_some_and(|rest| rest.trim_start().starts_with(boundary));
        if ends {
            out.extend(from.take().map(|from| text.slice(from..at)));
        }
        at += line.len();
        if ends {
            from = Some(at);
        }
    }
    out.extend(from.map(|from| text.slice(from..at)));
    Some(out.iter().map(body).collect())
}

/// What follows the headers of a part, which a blank line ends.
fn body(part: &Traced) -> Traced {
    let mut at = 0;
    for line in part.text().split_inclusive('\n') {
        at += line.len();
        if line.trim().is_empty() {
            break;
        }
    }
    part.slice(at..part.text().len())
}

/// Takes over what a script states; what it starts by itself runs on a machine.
fn run_on(node: &Node, mut stated: Facts, facts: &mut Facts) {
    let own = stated.workloads.iter_mut().filter(|workload| workload.format.get() != Some(&WorkloadFormat::Kubernetes));
    own.for_each(|workload| place(workload, node));
    facts.append(stated);
}

/// Places a workload on a machine: what is given all GPUs has those of the machine.
fn place(workload: &mut Workload, node: &Node) {
    let stated = node.gpu_count.get().is_some();
    let gpus = if stated { node.gpu_count.clone() } else { machines::gpus_of(&node.instance_type) };
    let give = |fact: &mut Fact<i64>| {
        if is_of_host(fact) && gpus.get().is_some_and(|count| *count > 0) {
            (fact.known, fact.unread) = (gpus.known.clone(), gpus.unread);
        }
    };
    give(&mut workload.gpus);
    give(&mut workload.group_gpus);
    for pod in &mut workload.pods {
        pod.node = Some(node.clone());
        give(&mut pod.gpus);
        pod.containers.iter_mut().for_each(|container| give(&mut container.gpus));
    }
}

/// What a script installs, and the containers that it starts on a machine. What else it launches is not read.
pub fn commands_on(script: &Traced, (path, node): (&str, &Node), facts: &mut Facts) {
    let mut stated = Facts::default();
    let script = shell::parse(script).resolved(&|_| None);
    stated.package_files.extend(install::of_script(&script, path).into_iter().map(Arc::new));
    commands::read(&script, &mut stated);
    run_on(node, stated, facts);
}

/// Longest script that a list is put together to, and read at all: aliases may repeat its items.
const MOST_LINES: usize = 1 << 20;

/// Commands of a list as the script that they are: a list of words is a command by itself.
pub fn lines(view: View<'_>) -> Option<Traced> {
    let mut size = 0;
    let fits = |line: &Traced| {
        size += line.text().len();
        size <= MOST_LINES
    };
    let command = |item: View<'_>| item.traced().or_else(|| words(item));
    let end = |line: Traced| [Traced::opaque("\n", line.whole()), line].into_iter().rev();
    let lines: Vec<Traced> = view.items().filter_map(command).take_while(fits).flat_map(end).collect();
    let whole = view.node().map_or(view.place(), Yaml::span);
    (!lines.is_empty() && size <= MOST_LINES).then(|| Traced::concat(lines, whole))
}

/// A list of words as a shell would write it.
pub fn words(list: View<'_>) -> Option<Traced> {
    let words: Vec<Traced> = list.node()?.items().filter_map(Yaml::traced).collect();
    let between = |text: &str| Traced::opaque(text, list.place());
    let word = |word: Traced| match word.text().contains('\'') {
        true => vec![Traced::opaque(format!("'{}' ", word.text().replace('\'', "'\\''")), word.whole())],
        false => vec![between("'"), word, between("' ")],
    };
    (!words.is_empty()).then(|| Traced::concat(words.into_iter().flat_map(word).collect::<Vec<_>>(), list.place()))
}

/// The script of a text, which other lines may stand before.
fn script(text: &Traced) -> Option<Traced> {
    let whole = text.text();
    let from = whole.find("#!")?;
    // Programs of other languages are none of these commands.
    let first = whole[from..].lines().next().unwrap_or_default();
    ["sh", "bash"]
        .iter()
        .any(|shell| first.trim_end().ends_with(shell) || first.contains(&format!("{shell} ")))
        .then(|| text.slice(from..whole.len()))
}

/// Reads the commands of a script; what a template fills in is a variable to them.
pub fn commands_of(script: &Traced, path: &str, facts: &mut Facts) {
    let masked = mask::mask(script.text());
    let place = Span::new(script.whole().source, 0..masked.len());
    let script = Traced::verbatim(masked, place, 0).retraced(script);
    let cut = slurm::commands_of(&script, path, slurm::DEEPEST, facts);
    facts.cut.extend(cut);
}

/// What cloud-init installs and runs. What it runs is one script. https://cloudinit.readthedocs.io/en/latest/reference/modules.html
fn cloud_config(text: &Traced, out: &mut Parts) {
    let tree = yaml::parse_traced(text, Dialect::Core);
    tree.roots().take(1).for_each(|root| configured(root.view(), out));
}

/// Takes apart what cloud-init is told.
fn configured(root: View<'_>, out: &mut Parts) {
    let name = |item: View<'_>| item.traced().or_else(|| item.items().next()?.traced());
    out.packages.extend(root.get("packages").items().filter_map(name));
    out.scripts.extend(["bootcmd", "runcmd"].into_iter().filter_map(|key| lines(root.get(key))));
    let files = root.get("write_files").items();
    out.scripts.extend(files.filter_map(|file| script(&file.get("content").traced()?)));
}

/// Whether a document is what cloud-init reads, in a file of its own.
/// <https://cloudinit.readthedocs.io/en/latest/reference/examples.html>
pub fn is_cloud_config(root: Yaml<'_>) -> bool {
    let list = |key: &str| root.get(key).is_some_and(Yaml::is_seq);
    let writes = root.get("write_files").into_iter().flat_map(Yaml::items).any(|file| file.get("path").is_some());
    list("runcmd") || list("bootcmd") || writes
}

/// Reads what cloud-init is told in a file of its own: what a machine installs, writes and runs, whichever machine it is.
pub fn document(root: Yaml<'_>, path: &str, facts: &mut Facts) {
    let (view, mut parts) = (root.view(), Parts::default());
    configured(view, &mut parts);
    let end = |line: &Traced| [line.clone(), Traced::opaque("\n", line.whole())];
    let lines: Vec<Traced> = parts.packages.iter().chain(&parts.scripts).flat_map(end).collect();
    let (kind, name) = (Fact::value("cloud-init".to_owned(), root.head()), Fact::value(path.to_owned(), root.head()));
    facts.start_scripts.push(machines::start_script(&Traced::concat(lines, root.span()), &kind, &name));
    facts.append(parts.stated(path));
    let plain =
        |file: &View<'_>| matches!(file.get("encoding").string().get().map(String::as_str), None | Some("text/plain"));
    for file in view.get("write_files").items().filter(plain) {
        let (Some(at), Some(content)) = (file.get("path").string().get().cloned(), file.get("content").traced()) else {
            continue;
        };
        embedded::written(&content, &at, facts);
    }
}

/// The machine that the pool makes, as far as there is one.
pub fn machine(pool: &NodePool) -> Node {
    let mut out = Node::blank(pool.span);
    out.platform = pool.platform.clone();
    out.driver = pool.driver.clone();
    if out.driver.is_absent() {
        out.driver = Fact::unknown(Why::NotStated("the driver of the machine".into()), pool.span);
    }
    out.spot = pool.spot.clone();
    if let [only] = &pool.instance_types[..] {
        out.instance_type = only.clone();
    }
    if !pool.accelerator.is_absent() {
        let mut gpu = Gpu::blank(pool.accelerator.span);
        gpu.id = pool.accelerator.clone();
        (out.gpu, out.gpu_count) = (Some(gpu), pool.accelerator_count.clone());
    }
    out
}
