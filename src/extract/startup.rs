//! What a machine does when it starts, wherever a resource holds it: a script, or what cloud-init reads. Knows their forms,
//! and nothing of who starts the machine.

use super::{commands, install, slurm};
use crate::facts::{Facts, Gpu, Node, NodePool, PackageFile, PackageFileKind, PackageManager, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::{Dialect, Node as Yaml, View, mask, shell, yaml};
use crate::source::{Span, Traced};
use std::sync::Arc;

/// Attributes that hold what a machine runs when it starts.
pub const ATTRIBUTES: [&str; 10] = [
    "user_data",
    "user_data_base64",
    "custom_data",
    "cloud_init_user_data",
    "template.cloud_init_user_data",
    "metadata_startup_script",
    "metadata.startup-script",
    "metadata.user_data",
    "UserData",
    "LaunchTemplateData.UserData",
];

/// Reads what a machine of a pool runs when it starts, and what that starts on it. `path` is that of the file.
pub fn read(text: &Traced, (path, pool): (&str, Option<&NodePool>), facts: &mut Facts) {
    let mut stated = Facts::default();
    if text.text().starts_with("#cloud-config") {
        cloud_config(text, path, &mut stated);
    } else if let Some(script) = script(text) {
        commands_of(&script, path, &mut stated);
    }
    match pool {
        Some(pool) => run_on(&machine(pool), stated, facts),
        None => facts.append(stated),
    }
}

/// Takes over what a script states; what it starts by itself runs on a machine.
fn run_on(node: &Node, mut stated: Facts, facts: &mut Facts) {
    let own = stated.workloads.iter_mut().filter(|workload| workload.format.get() != Some(&WorkloadFormat::Kubernetes));
    own.flat_map(|workload| &mut workload.pods).for_each(|pod| pod.node = Some(node.clone()));
    facts.append(stated);
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

/// Commands of a list as the script that they are.
pub fn lines(view: View<'_>) -> Option<Traced> {
    let mut size = 0;
    let fits = |line: &Traced| {
        size += line.text().len();
        size <= MOST_LINES
    };
    let end = |line: Traced| [Traced::opaque("\n", line.whole()), line].into_iter().rev();
    let lines: Vec<Traced> = view.items().filter_map(View::traced).take_while(fits).flat_map(end).collect();
    let whole = view.node().map_or(view.place(), Yaml::span);
    (!lines.is_empty() && size <= MOST_LINES).then(|| Traced::concat(lines, whole))
}

/// The script of a text, which other parts may stand around.
fn script(text: &Traced) -> Option<Traced> {
    let whole = text.text();
    let from = whole.find("#!")?;
    let boundary = (whole.starts_with("Content-Type:") || whole.starts_with("MIME-Version:")).then_some("\n--");
    let length = boundary.and_then(|boundary| whole[from..].find(boundary)).unwrap_or(whole.len() - from);
    // Programs of other languages are none of these commands.
    let first = whole[from..].lines().next().unwrap_or_default();
    ["sh", "bash"]
        .iter()
        .any(|shell| first.trim_end().ends_with(shell) || first.contains(&format!("{shell} ")))
        .then(|| text.slice(from..from + length))
}

/// Reads the commands of a script; what a template fills in is a variable to them.
pub fn commands_of(script: &Traced, path: &str, facts: &mut Facts) {
    let masked = mask::mask(script.text());
    let place = Span::new(script.whole().source, 0..masked.len());
    let script = Traced::verbatim(masked, place, 0).retraced(script);
    let cut = slurm::commands_of(&script, path, slurm::DEEPEST, facts);
    facts.cut.extend(cut);
}

/// What cloud-init installs and runs. https://cloudinit.readthedocs.io/en/latest/reference/modules.html
fn cloud_config(text: &Traced, path: &str, facts: &mut Facts) {
    let tree = yaml::parse_traced(text, Dialect::Core);
    let Some(root) = tree.roots().next().map(Yaml::view) else { return };
    let name = |item: View<'_>| item.traced().or_else(|| item.items().next()?.traced());
    let names: Vec<Traced> = root.get("packages").items().filter_map(name).collect();
    if let Some(first) = names.first() {
        let mut file = PackageFile::blank(first.whole());
        file.path = Fact::value(path.to_owned(), first.whole());
        file.kind = Fact::value(PackageFileKind::Script, first.whole());
        file.packages = install::of_distribution(&names, PackageManager::Apt).packages;
        facts.package_files.push(Arc::new(file));
    }
    for item in ["bootcmd", "runcmd"].into_iter().flat_map(|key| root.get(key).items()) {
        // A list is a command without a shell.
        let words: Vec<&str> = item.node().into_iter().flat_map(Yaml::items).filter_map(Yaml::text).collect();
        let line = item.traced().unwrap_or_else(|| Traced::opaque(words.join(" "), item.place()));
        commands_of(&line, path, facts);
    }
    for file in root.get("write_files").items() {
        if let Some(script) = file.get("content").traced().as_ref().and_then(script) {
            commands_of(&script, path, facts);
        }
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
