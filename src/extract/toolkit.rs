//! Blueprints of Google's Cluster Toolkit and configurations of Ray's cluster launcher: the machines that they make. Knows
//! their YAML.

use super::{ansible, commands, embedded, image, machinery, machines, startup};
use crate::facts::{
    Cluster, Container, ContainerRole, Document, Facts, InfraFormat, NodePool, Pod, SharedMemory, Taint, WorkloadFormat,
};
use crate::known::{Fact, Known, Why};
use crate::parse::{Dialect, Node, Raw, Tree, View, shell, yaml};
use crate::source::Traced;
use crate::version::Version;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether a document is a blueprint.
pub fn is_blueprint(root: Node<'_>) -> bool {
    root.get("blueprint_name").is_some() && root.get("deployment_groups").is_some_and(Node::is_seq)
}

/// Modules that make machines, what they make in Terraform's words, and whether those are nodes of a cluster of Kubernetes.
/// https://github.com/GoogleCloudPlatform/cluster-toolkit modules/README.md
const MODULES: [(&str, &str); 7] = [
    ("compute/gke-node-pool", "google_container_node_pool"),
    ("compute/vm-instance", "google_compute_instance"),
    ("schedmd-slurm-gcp-v6-nodeset", "google_compute_instance"),
    ("schedmd-slurm-gcp-v6-nodeset-dynamic", "google_compute_instance"),
    ("compute/gke-nodeset", "google_container_node_pool"),
    ("compute/htcondor-execute-point", "google_compute_instance"),
    ("remote-desktop/chrome-remote-desktop", "google_compute_instance"),
];

/// Reads a blueprint.
pub fn blueprint(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    machinery::of_document(root.view(), path, facts);
    let mut run = BTreeSet::new();
    let groups = root.view().get("deployment_groups").items();
    for module in groups.flat_map(|group| group.get("modules").items().collect::<Vec<_>>()) {
        let source = module.get("source").string();
        let Some(source) = source.get() else { continue };
        let vars = root.view().get("vars");
        let settings = module.get("settings");
        if let Some(released) = released(source).filter(|_| settings.is_some()) {
            let named = Some(module.get("source").place());
            facts.documents.push(Document { named, ..Document::new(released.to_owned(), Raw::new(tree, settings)) });
        }
        // What aliases repeat is read once.
        let runners = settings.get("runners").items().filter(|runner| run.insert(runner.get("content").place()));
        runners.for_each(|runner| run_by(runner, path, facts));
        let source = source.split('?').next().unwrap_or_default();
        if let Some((_, kind)) = MODULES.iter().find(|(name, _)| source.ends_with(name)) {
            facts.pools.extend(pool(tree, module, (kind, vars)).map(Arc::new));
        } else if source.contains("scheduler/gke-cluster") {
            let mut cluster = Cluster::blank(module.place());
            cluster.format = Fact::value(InfraFormat::Blueprint, module.place());
            cluster.platform = Fact::value("gke".to_owned(), module.place());
            let version = filled(module.path("settings.version_prefix").string(), vars);
            cluster.kubernetes = version.and_then(|text| {
                let version = Version::parse(text.trim_end_matches('.'));
                version.map_or(Known::Unknown(Why::Malformed(text.into())), Known::Value)
            });
            cluster.object = Some(Raw::new(tree, module));
            facts.clusters.push(Arc::new(cluster));
        }
    }
}

/// Reads a step of what machines do when they start, or of how their image is made: a playbook, a script, a file.
/// https://github.com/GoogleCloudPlatform/cluster-toolkit modules/scripts/startup-script/README.md
fn run_by(runner: View<'_>, path: &str, facts: &mut Facts) {
    let Some(content) = runner.get("content").traced() else { return };
    let (kind, at) = (runner.get("type").string(), runner.get("destination").string());
    // A job that is laid down for others is a script as well.
    let is_script = content.text().starts_with("#!");
    match kind.get().map(String::as_str) {
        Some("ansible-local") => {
            let tree = Arc::new(yaml::parse_traced(&content, Dialect::Core));
            let playbooks = tree.roots().filter(|root| ansible::is_tasks(*root));
            playbooks.for_each(|root| ansible::read(&tree, root, path, facts));
        }
        Some(kind) if kind == "shell" || is_script => startup::commands_of(&content, path, facts),
        _ => embedded::written(&content, at.get().map_or("", String::as_str), facts),
    }
}

/// The path of a module in a release of the toolkit: one of its own, or of a tag of its repository.
fn released(source: &str) -> Option<&str> {
    let own = |path: &&str| path.starts_with("modules/") || path.starts_with("community/modules/");
    let (path, query) = source.split_once('?').unwrap_or((source, ""));
    let path = path.trim_end_matches('/');
    let Some((repository, inner)) = path.rsplit_once("//") else { return Some(path).filter(own) };
    let name = repository.trim_end_matches(".git").rsplit('/').next()?;
    let tagged = query.split('&').any(|part| part.starts_with("ref=v"));
    let published = repository.contains("GoogleCloudPlatform/") && ["hpc-toolkit", "cluster-toolkit"].contains(&name);
    Some(inner).filter(|inner| published && tagged && own(inner))
}

/// What a module makes.
fn pool(tree: &Arc<Tree>, module: View<'_>, (kind, vars): (&str, View<'_>)) -> Option<NodePool> {
    let settings = module.get("settings");
    let id = module.get("id").string();
    let name = id.get().map_or("", String::as_str);
    let mut out = machines::pool(tree, settings, (kind, name), module.get("id").place())?;
    out.format = Fact::value(InfraFormat::Blueprint, out.span);
    out.name = id.clone();
    let text = |path: &str| filled(machines::at(settings, path).string(), vars);
    let number = |path: &str| {
        text(path).and_then(|text| text.parse().map_or(Known::Unknown(Why::Malformed(text.into())), Known::Value))
    };
    out.instance_types = vec![text("machine_type")].into_iter().filter(|machine| !machine.is_absent()).collect();
    let accelerator = machines::at(settings, "guest_accelerator");
    if accelerator.is_some() {
        out.accelerator = text("guest_accelerator.type");
        out.accelerator_count = number("guest_accelerator.count");
        out.driver_mode = text("guest_accelerator.gpu_driver_installation_config.gpu_driver_version");
    }
    let open = || Fact::unknown(Why::NotStated("in how many zones the pool has nodes".into()), out.span);
    let zones = machines::gke::listed(settings.get("zones")).unwrap_or_else(open);
    let fixed = || machines::gke::of_all(number("static_node_count"), &zones);
    let slurm = || number("node_count_static").or(|| number("instance_count"));
    out.min_nodes = number("autoscaling_total_min_nodes").or(fixed).or(slurm);
    out.max_nodes = number("autoscaling_total_max_nodes").or(fixed).or(slurm);
    // A nodeset of Slurm starts nodes beside those that are always there.
    let more = number("node_count_dynamic_max");
    if !more.is_absent() {
        let always = out.max_nodes.or_default(0);
        let sum = |always: i64, more: i64| Known::Value(always.saturating_add(more));
        out.max_nodes = more.and_then(|more| always.and_then(|always| sum(always, more)).known);
    }
    out.disk_bytes = number("disk_size_gb").map(|size| machines::gib(size as f64));
    out.image_type = text("image_type");
    out.spot = text("spot").or(|| text("enable_spot_vm")).map(|spot| spot == "true");
    out.labels = machines::labels(settings.get("kubernetes_labels"));
    out.taints = machines::taints(settings, "taints");
    if out.taints.is_empty() && kind == "google_container_node_pool" {
        // The module taints some machines by itself.
        let mut taint = Taint::blank(out.span);
        let why = Why::NotStated("the taint that the module gives".into());
        (taint.key, taint.effect) = (Fact::unknown(why.clone(), out.span), Fact::unknown(why, out.span));
        out.taints.push(taint);
    }
    Some(out)
}

/// A text with the variable of the blueprint that it is.
fn filled(text: Fact<String>, vars: View<'_>) -> Fact<String> {
    let Known::Unknown(Why::Variable(name)) = &text.known else { return text };
    let Some(name) = name.strip_prefix("vars.") else { return text };
    let value = vars.get(name).string();
    if value.get().is_some() { value } else { text }
}

/// Whether a document is the configuration of a cluster that `ray up` starts.
pub fn is_ray(root: Node<'_>) -> bool {
    root.get("available_node_types").is_some_and(Node::is_map) && root.get("provider").is_some()
}

/// Reads the machines of a cluster, and the container that runs on each.
/// https://docs.ray.io/en/latest/cluster/vms/references/ray-cluster-configuration.html
pub fn ray(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let provider = view.path("provider.type").string();
    let kind = match provider.get().map(String::as_str) {
        Some("aws") => "aws_instance",
        Some("gcp") => "google_compute_instance",
        Some("azure") => "azurerm_linux_virtual_machine",
        _ => return,
    };
    for key in ["initialization_commands", "setup_commands", "head_setup_commands", "worker_setup_commands"] {
        if let Some(script) = startup::lines(view.get(key)) {
            startup::commands_of(&script, path, facts);
        }
    }
    for (name, of) in view.get("available_node_types").entries() {
        let config = of.get("node_config");
        let Some(mut out) = machines::pool(tree, config, (kind, name), of.place()) else { continue };
        out.format = Fact::value(InfraFormat::Ray, of.place());
        out.in_cluster = Fact::value(false, of.place());
        out.name = Fact::value(name.to_owned(), of.place());
        let types =
            ["InstanceType", "machineType", "azure_arm_parameters.vmSize"].map(|path| config.path(path).string());
        out.instance_types = types.into_iter().filter(|machine| !machine.is_absent()).collect();
        let accelerator = machines::at(config, "guestAccelerators");
        if accelerator.is_some() {
            let name = accelerator.get("acceleratorType").string();
            out.accelerator = name.map(|name| name.rsplit('/').next().unwrap_or_default().to_owned());
            out.accelerator_count = accelerator.get("acceleratorCount").int();
        }
        let (disk, spot) = match kind {
            "aws_instance" => (
                "BlockDeviceMappings[DeviceName=/dev/xvda|/dev/sda1].Ebs.VolumeSize",
                "InstanceMarketOptions.MarketType=spot",
            ),
            "google_compute_instance" => (
                "disks[boot=true|].initializeParams.diskSizeGb",
                "scheduling.provisioningModel=SPOT scheduling.preemptible=true",
            ),
            _ => ("", "azure_arm_parameters.priority=Spot"),
        };
        out.disk_bytes = machines::item(config, disk, View::float).map(machines::gib);
        out.spot = machines::spot(config, spot);
        out.min_nodes = of.get("min_workers").int();
        out.max_nodes = of.get("max_workers").int();
        let head = view.get("head_node_type").string().get().is_some_and(|head| head == name);
        facts.workloads.extend(container(tree, (view, of, head), &out));
        facts.pools.push(Arc::new(out));
    }
}

/// The container of a machine, which has all of its devices.
fn container(
    tree: &Arc<Tree>,
    (root, of, head): (View<'_>, View<'_>, bool),
    pool: &NodePool,
) -> Option<crate::facts::Workload> {
    let (root, own) = (root.get("docker"), of.get("docker"));
    let (image, options) =
        if head { ("head_image", "head_run_options") } else { ("worker_image", "worker_run_options") };
    let stated = [own.get(image), root.get(image), root.get("image")].into_iter().find(|view| view.is_some())?;
    let options = [root.get("run_options"), root.get(options), own.get(options)].into_iter().flat_map(View::items);
    let mut pod = Pod::blank(of.place());
    let mut out = Container::blank(stated.place());
    out.role = Fact::value(ContainerRole::Main, stated.place());
    // Where nothing says it, Ray takes a part of the memory of the machine.
    out.shm = Fact::unknown(Why::LeftTo("Ray".into()), of.place());
    out.shm_bytes = out.shm.clone().map(|_| 0);
    if let Some(run) = run(options.filter_map(View::traced).collect(), stated) {
        if run.shm.get() != Some(&SharedMemory::Default) {
            (out.shm, out.shm_bytes) = (run.shm, run.shm_bytes);
        }
        (out.env, out.privileged) = (run.env, run.privileged);
    }
    out.image = image::at(stated);
    out.gpus = match &pool.instance_types[..] {
        _ if !pool.accelerator_count.is_absent() => pool.accelerator_count.clone(),
        [only] => machines::gpus_of(only),
        _ => Fact::unknown(Why::NotStated("the machine type".into()), of.place()),
    };
    pod.role = Fact::value(if head { "head" } else { "worker" }.to_owned(), of.place());
    pod.gpus = out.gpus.clone();
    pod.replicas = Fact::value(1, of.place());
    pod.node = Some(startup::machine(pool));
    pod.containers.push(out);
    Some(super::lone((WorkloadFormat::Docker, "ray up"), pool.name.clone(), pod, Raw::new(tree, of)))
}

/// Longest options of a container that are read: they may be those of every machine.
const LONGEST_OPTIONS: usize = 1024;

/// The container that `docker run` starts with some options.
fn run(options: Vec<Traced>, image: View<'_>) -> Option<Container> {
    if options.iter().map(|option| option.text().len()).sum::<usize>() > LONGEST_OPTIONS {
        return None;
    }
    let between = || Traced::opaque(" ", image.place());
    let mut parts = vec![Traced::opaque("docker run ", image.place())];
    parts.extend(options.into_iter().flat_map(|option| [option, between()]));
    parts.push(image.traced()?);
    let line = shell::parse(&Traced::concat(parts, image.place()));
    let workload = commands::container(&line.commands.first()?.words, 0)?;
    workload.pods.into_iter().flat_map(|pod| pod.containers).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    #[test]
    fn steps_of_startup_scripts_are_read_as_what_they_are() {
        let text = "blueprint_name: a
deployment_groups:
- group: a
  modules:
  - id: script
    source: modules/scripts/startup-script
    settings:
      runners:
      - type: ansible-local
        destination: cuda.yml
        content: |
          - hosts: all
            vars: {listed: [cuda-toolkit-13-0]}
            tasks:
            - apt: {name: '{{ listed }}'}
      - type: shell
        destination: run.sh
        content: |
          apt-get install -y datacenter-gpu-manager
      - type: data
        destination: /opt/job.sh
        content: |
          #!/bin/bash
          #SBATCH --gpus 2
          torchrun train.py
      - type: data
        destination: /etc/systemd/system/a.service.d/b.conf
        content: |
          [Service]
          ExecStart=/usr/bin/nvidia-persistenced
";
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Core));
        let mut facts = Facts::default();
        tree.roots().for_each(|root| blueprint(&tree, root, "a.yaml", &mut facts));
        let packages = facts.package_files.iter().flat_map(|file| &file.packages);
        let places = packages.map(|package| &text[package.span.range()]);
        assert_eq!(places.collect::<Vec<_>>(), ["cuda-toolkit-13-0", "datacenter-gpu-manager"]);
        assert_eq!(facts.workloads[0].gpus.get(), Some(&2));
        let unit = facts.objects.iter().find(|object| object.kind.get().is_some_and(|kind| kind == "SystemdUnit"));
        let started = unit.and_then(|unit| unit.body.as_ref()).expect("a unit").view().get("ExecStart");
        let started = started.items().next().expect("a command").place();
        assert_eq!(&text[started.range()], "/usr/bin/nvidia-persistenced");
    }

    #[test]
    fn modules_of_releases_are_told_from_others() {
        let tag = "github.com/GoogleCloudPlatform/hpc-toolkit//community/modules/compute/x?ref=v1.40.0&depth=1";
        assert_eq!(released("modules/network/vpc"), Some("modules/network/vpc"));
        assert_eq!(released(tag), Some("community/modules/compute/x"));
        for other in ["./modules/network/vpc", "github.com/o/cluster-toolkit//modules/network/vpc?ref=v1.1.0"] {
            assert_eq!(released(other), None);
        }
        assert_eq!(released("github.com/GoogleCloudPlatform/cluster-toolkit//modules/network/vpc?ref=develop"), None);
    }
}
