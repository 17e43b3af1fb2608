//! Commands of scripts that state what a document would: containers that are run, charts that are installed, pools and
//! machines that are made, and manifests that are written out. Each is read as the document that says the same. Knows the
//! options of their programs; runs nothing.

use super::{compose, kubernetes, machines, wrappers};
use crate::facts::{Facts, HelmRelease, NodePool, ReleaseFormat, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::shell::{Script, Word};
use crate::parse::{Builder, Dialect, Entry, NodeId, NodeKind, Tree, placeholder};
use crate::source::{Span, Traced};
use crate::version::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads what the commands of a script state, and the objects that it writes out. The script has its variables put in.
pub fn read(script: &Script, facts: &mut Facts) {
    for command in &script.commands {
        let words = &command.words;
        for at in wrappers::programs(words) {
            match wrappers::base_name(words[at].text()) {
                "docker" | "podman" | "nerdctl" => facts.workloads.extend(container(words, at)),
                "helm" | "helm3" | "microk8s.helm" | "microk8s.helm3" => {
                    facts.releases.extend(release(words, at).map(Arc::new))
                }
                program => facts.pools.extend(pool(program, words, at).map(Arc::new)),
            }
        }
    }
    script.heredocs.iter().for_each(|text| kubernetes::text(text, facts));
}

/// Options of `docker run` and the keys of a Compose service that say the same. A key with `[]` collects them.
const RUN: &[(&str, &str)] = &[
    ("cap-add", "cap_add[]"),
    ("device", "devices[]"),
    ("e", "environment"),
    ("entrypoint", "entrypoint"),
    ("env", "environment"),
    ("gpus", "gpus"),
    ("ipc", "ipc"),
    ("net", "network_mode"),
    ("network", "network_mode"),
    ("p", "ports[]"),
    ("pid", "pid"),
    ("privileged", "privileged"),
    ("publish", "ports[]"),
    ("restart", "restart"),
    ("runtime", "runtime"),
    ("shm-size", "shm_size"),
    ("v", "volumes[]"),
    ("volume", "volumes[]"),
];

/// A container that is run, as a Compose service.
pub fn container(words: &[Word], at: usize) -> Option<crate::facts::Workload> {
    let image = wrappers::image(words).filter(|image| *image > at)?;
    if !words[at + 1..image].iter().any(|word| word.text() == "run") {
        return None;
    }
    let options = options(&words[at + 1..image]);
    let mut document = Document::new(words[at].span());
    for (name, value) in &options {
        match RUN.iter().find(|(option, _)| option == name).map(|(_, key)| *key) {
            Some("environment") => document.variable(value),
            Some("gpus") => {
                let devices = document.gpus(value);
                document.put("gpus", devices);
            }
            Some(key) => {
                let value = document.value(value);
                document.put(key, value);
            }
            None => {}
        }
    }
    // What a shell puts in may be any option.
    if let Some(word) = words[at + 1..=image].iter().find(|word| word.expands && word.text().starts_with('$')) {
        document.leave_open(RUN, word.span());
    }
    let reference = document.text(&words[image]);
    document.put("image", reference);
    for word in &words[image + 1..] {
        let word = document.text(word);
        document.put("command[]", word);
    }
    let name = options.iter().find(|(name, _)| name == "name").and_then(|(_, value)| value.text());
    let (tree, span) = (document.finish(), words[at].span());
    let view = tree.roots().next()?.view();
    let mut out = compose::service(&tree, (name.as_deref().unwrap_or("container"), view));
    out.format = Fact::value(WorkloadFormat::Docker, span);
    out.kind = Fact::value("docker run".to_owned(), span);
    Some(out)
}

/// A chart that `helm install` or `helm upgrade` installs.
fn release(words: &[Word], at: usize) -> Option<HelmRelease> {
    // https://helm.sh/docs/helm/helm_upgrade/
    const TAKE: &[&str] = &[
        "ca-file",
        "cert-file",
        "description",
        "f",
        "history-max",
        "key-file",
        "keyring",
        "kube-as-group",
        "kube-as-user",
        "kube-context",
        "kubeconfig",
        "l",
        "labels",
        "n",
        "namespace",
        "password",
        "post-renderer",
        "post-renderer-args",
        "repo",
        "set",
        "set-file",
        "set-json",
        "set-literal",
        "set-string",
        "timeout",
        "username",
        "values",
        "version",
    ];
    let verb = words[at + 1..].iter().position(|word| matches!(word.text(), "install" | "upgrade"))? + at + 1;
    let mut operands = Vec::new();
    let mut rest = words[verb + 1..].iter().peekable();
    let mut given = Vec::new();
    while let Some(word) = rest.next() {
        let option = word.text().trim_start_matches('-');
        match word.text().strip_prefix('-') {
            None => operands.push(word),
            Some(_) if option.contains('=') && word.text().starts_with("--") => {
                given.extend(self::options(std::slice::from_ref(word)))
            }
            Some(_) if TAKE.contains(&option) => {
                given.extend(
                    rest.next().map(|value| (option.to_owned(), Given::Word(value.traced().clone(), value.expands))),
                );
            }
            Some(_) => {}
        }
    }
    // Where there are more, a shell puts options among them.
    let chart = operands.pop().filter(|_| operands.len() < 2)?;
    let mut out = HelmRelease::blank(chart.span());
    let fact = |word: &Word| stated(word.traced(), word.expands);
    out.format = Fact::value(ReleaseFormat::Shell, chart.span());
    out.name = operands.last().map_or(Fact::absent(chart.span()), |name| fact(name));
    out.path = fact(chart);
    out.chart = fact(chart).map(|chart| chart.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
    let one =
        |names: &[&str]| given.iter().rfind(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value.fact());
    let absent = || Fact::absent(chart.span());
    out.namespace = one(&["n", "namespace"]).unwrap_or_else(absent);
    out.repository = one(&["repo"]).unwrap_or_else(absent);
    out.version = one(&["version"]).map_or(Fact::absent(chart.span()), |version| {
        version.and_then(|text| {
            Version::parse(&text)
                .map_or_else(|| crate::known::Known::Unknown(Why::Malformed(text.into())), crate::known::Known::Value)
        })
    });
    let all = |names: &'static [&str]| given.iter().filter(|(name, _)| names.contains(&name.as_str()));
    out.values_from = all(&["f", "values"]).map(|(_, value)| value.fact()).collect();
    for (name, value) in all(&["set", "set-string", "set-file", "set-json", "set-literal"]) {
        let Given::Word(text, expands) = value else { continue };
        // Lists, JSON and files have forms of their own.
        let plain = matches!(name.as_str(), "set" | "set-string") && !text.text().contains(['{', '\\']);
        let assignments = if plain { parts(text) } else { vec![text.clone()] };
        for part in assignments {
            let Some((key, _)) = part.text().split_once('=') else { continue };
            let value = part.slice(key.len() + 1..part.text().len());
            let value = match plain {
                true => stated(&value, *expands),
                false => Fact::unknown(Why::NotModelled("a value from a list or a file".into()), value.whole()),
            };
            out.set.insert(key.replace('\\', ""), value);
        }
    }
    Some(out)
}

/// The assignments of a `--set`, which commas separate.
fn parts(text: &Traced) -> Vec<Traced> {
    let mut from = 0;
    let mut out = Vec::new();
    for part in text.text().split(',') {
        out.push(text.slice(from..from + part.len()));
        from += part.len() + 1;
    }
    out
}

/// A command that makes machines: its first words, the resource of Terraform that says the same, and its options with the
/// attributes that do. `[]` behind an attribute stands for a list, `?` before it for what is stated in a form of its own: not known.
struct Maker {
    command: &'static [&'static str],
    kind: &'static str,
    options: &'static [(&'static str, &'static str)],
}

const MAKERS: &[Maker] = &[
    Maker {
        command: &["gcloud", "container", "node-pools", "create"],
        kind: "google_container_node_pool",
        options: GKE,
    },
    Maker { command: &["gcloud", "container", "clusters", "create"], kind: "google_container_node_pool", options: GKE },
    Maker {
        command: &["gcloud", "compute", "instances", "create"],
        kind: "google_compute_instance",
        options: &[("boot-disk-size", "boot_disk.initialize_params.size"), ("machine-type", "machine_type")],
    },
    Maker {
        command: &["az", "aks", "nodepool", "add"],
        kind: "azurerm_kubernetes_cluster_node_pool",
        options: &[
            ("cluster-name", "cluster_name"),
            ("labels", "?node_labels"),
            ("max-count", "max_count"),
            ("min-count", "min_count"),
            ("name", "name"),
            ("node-count", "node_count"),
            ("node-osdisk-size", "os_disk_size_gb"),
            ("node-taints", "node_taints[]"),
            ("node-vm-size", "vm_size"),
            ("os-sku", "os_sku"),
            ("priority", "priority"),
        ],
    },
    Maker {
        command: &["az", "aks", "create"],
        kind: "azurerm_kubernetes_cluster_node_pool",
        options: &[
            ("node-count", "node_count"),
            ("node-vm-size", "vm_size"),
            ("nodepool-labels", "?node_labels"),
            ("nodepool-taints", "node_taints[]"),
            ("os-sku", "os_sku"),
        ],
    },
    Maker {
        command: &["az", "vm", "create"],
        kind: "azurerm_linux_virtual_machine",
        options: &[("priority", "priority"), ("size", "size")],
    },
    Maker { command: &["eksctl", "create", "nodegroup"], kind: "aws_eks_node_group", options: EKSCTL },
    Maker { command: &["eksctl", "create", "cluster"], kind: "aws_eks_node_group", options: EKSCTL },
    Maker {
        command: &["aws", "ec2", "run-instances"],
        kind: "aws_instance",
        options: &[("image-id", "ami"), ("instance-type", "instance_type")],
    },
    Maker {
        command: &["aws", "eks", "create-nodegroup"],
        kind: "aws_eks_node_group",
        options: &[
            ("ami-type", "ami_type"),
            ("capacity-type", "capacity_type"),
            ("cluster-name", "cluster_name"),
            ("disk-size", "disk_size"),
            ("instance-types", "instance_types[]"),
            ("labels", "?labels"),
            ("scaling-config", "?scaling_config"),
            ("taints", "?taint"),
        ],
    },
];

const GKE: &[(&str, &str)] = &[
    ("cluster", "cluster"),
    ("disk-size", "node_config.disk_size_gb"),
    ("image-type", "node_config.image_type"),
    ("machine-type", "node_config.machine_type"),
    ("max-nodes", "autoscaling.max_node_count"),
    ("min-nodes", "autoscaling.min_node_count"),
    ("node-labels", "?node_config.labels"),
    ("node-taints", "?node_config.taint"),
    ("num-nodes", "node_count"),
    ("preemptible", "node_config.spot"),
    ("spot", "node_config.spot"),
];

const EKSCTL: &[(&str, &str)] = &[
    ("cluster", "cluster_name"),
    ("config-file", "?labels"),
    ("f", "?labels"),
    ("instance-types", "instance_types[]"),
    ("node-labels", "?labels"),
    ("node-type", "instance_types[]"),
    ("node-volume-size", "disk_size"),
    ("nodes-max", "scaling_config.max_size"),
    ("nodes-min", "scaling_config.min_size"),
    ("spot", "?capacity_type"),
    ("t", "instance_types[]"),
];

/// The pool or machine that a command makes.
fn pool(program: &str, words: &[Word], at: usize) -> Option<NodePool> {
    let behind = &words[at + 1..];
    let said = |maker: &&Maker| {
        let mut verbs = behind
            .iter()
            .filter(|word| !word.text().starts_with('-') && word.text() != "beta" && word.text() != "alpha");
        maker.command[0] == program
            && maker.command[1..].iter().all(|verb| verbs.next().is_some_and(|w| w.text() == *verb))
    };
    let maker = MAKERS.iter().find(said)?;
    let last = *maker.command.last()?;
    let verb = behind.iter().position(|word| word.text() == last)?;
    let options = options(&behind[verb + 1..]);
    let mut document = Document::new(words[at].span());
    for (name, value) in &options {
        if name == "accelerator" {
            document.accelerator(value);
        } else if let Some((_, key)) = maker.options.iter().find(|(option, _)| option == name) {
            document.attribute(key, value);
        }
    }
    if let Some(word) = behind[verb + 1..].iter().find(|word| word.expands && word.text().starts_with('$')) {
        document.leave_open(maker.options, word.span());
    }
    let operand = behind.get(verb + 1).filter(|word| !word.text().starts_with('-'));
    let named = options.iter().find(|(name, _)| matches!(name.as_str(), "name" | "n" | "nodegroup-name"));
    let name = operand.map(|word| word.text().to_owned()).or_else(|| named.and_then(|(_, value)| value.text()));
    let tree = document.finish();
    let view = tree.roots().next()?.view();
    let span = words[at].span();
    let mut out = machines::pool(&tree, view, (maker.kind, name.as_deref().unwrap_or(last)), span)?;
    out.format = Fact::value(crate::facts::InfraFormat::Shell, span);
    out.kind = Fact::value(maker.command.join(" "), span);
    Some(out)
}

/// What an option is given.
#[derive(Clone)]
enum Given {
    /// A word, and whether a shell puts something into it.
    Word(Traced, bool),
    /// Nothing: a switch, which stands here.
    Switch(Span),
}

impl Given {
    fn text(&self) -> Option<String> {
        self.fact().get().cloned()
    }

    fn fact(&self) -> Fact<String> {
        match self {
            Given::Word(text, expands) => stated(text, *expands),
            Given::Switch(span) => Fact::value("true".to_owned(), *span),
        }
    }
}

/// A text, unless a shell puts something into it.
fn stated(text: &Traced, expands: bool) -> Fact<String> {
    let why = placeholder(text.text())
        .or_else(|| expands.then(|| Why::Variable(text.text().trim_matches(['$', '{', '}']).into())));
    match why {
        Some(why) => Fact::unknown(why, text.whole()),
        None => Fact::value(text.text().to_owned(), text.whole()),
    }
}

/// Options with what they are given: `--name=value`, `--name value`, `--name`.
fn options(words: &[Word]) -> Vec<(String, Given)> {
    let mut out = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let Some(option) = word.text().strip_prefix('-') else { continue };
        let option = option.trim_start_matches('-');
        let given = match option.split_once('=') {
            Some((_, value)) => {
                let end = word.text().len();
                Given::Word(word.traced().slice(end - value.len()..end), word.expands)
            }
            None => match rest.next_if(|next| !next.text().starts_with('-')) {
                Some(value) => Given::Word(value.traced().clone(), value.expands),
                None => Given::Switch(word.span()),
            },
        };
        out.push((option.split('=').next().unwrap_or(option).to_owned(), given));
    }
    out
}

/// A document that says what a command says: its keys, and the values under them in their order.
struct Document {
    builder: Builder,
    span: Span,
    keys: BTreeMap<String, Vec<NodeId>>,
}

impl Document {
    fn new(span: Span) -> Self {
        Self { builder: Builder::new(span.source, Dialect::Kubernetes), span, keys: BTreeMap::new() }
    }

    fn text(&mut self, word: &Word) -> NodeId {
        self.builder.add(NodeKind::Scalar { text: word.traced().clone(), plain: false }, word.span())
    }

    fn value(&mut self, given: &Given) -> NodeId {
        let fact = given.fact();
        let kind = match (given, fact.why()) {
            (_, Some(why)) => NodeKind::Unknown(why.clone()),
            (Given::Word(text, _), None) => NodeKind::Scalar { text: text.clone(), plain: true },
            (Given::Switch(span), None) => NodeKind::Scalar { text: Traced::opaque("true", *span), plain: true },
        };
        self.builder.add(kind, fact.span)
    }

    /// An attribute of a resource; commas separate the items of a list.
    fn attribute(&mut self, key: &str, given: &Given) {
        match (key.strip_prefix('?'), given) {
            (Some(key), _) => {
                let why = Why::NotModelled("what the option says".into());
                let unknown = self.builder.add(NodeKind::Unknown(why), given.fact().span);
                self.put(key, unknown);
            }
            (None, Given::Word(text, expands)) if key.ends_with("[]") => {
                for part in parts(text) {
                    let item = self.value(&Given::Word(part, *expands));
                    self.put(key, item);
                }
            }
            (None, _) => {
                let value = self.value(given);
                self.put(key, value);
            }
        }
    }

    /// What is not stated of some keys may be stated where nobody reads it.
    fn leave_open(&mut self, keys: &[(&str, &str)], span: Span) {
        for (_, key) in keys {
            let key = key.trim_end_matches("[]").trim_start_matches('?');
            if !self.keys.keys().any(|stated| stated.trim_end_matches("[]").split('.').next() == key.split('.').next())
            {
                let why = Why::NotStated("what the shell puts in".into());
                let unknown = self.builder.add(NodeKind::Unknown(why), span);
                self.put(key, unknown);
            }
        }
    }

    /// `-e NAME=value`; a bare name takes what the shell has.
    fn variable(&mut self, given: &Given) {
        let Given::Word(text, expands) = given else { return };
        let name = text.text().split('=').next().unwrap_or_default();
        let value = match text.text().strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            Some(value) => {
                let value = text.slice(text.text().len() - value.len()..text.text().len());
                let open = *expands && value.text().contains(['$', '`']);
                self.value(&Given::Word(value, open))
            }
            None => self.builder.add(NodeKind::Unknown(Why::Variable(name.into())), text.whole()),
        };
        self.put(&format!("environment.{name}"), value);
    }

    /// `--gpus all`, `--gpus 2`, `--gpus device=0,1` and `--gpus '"device=0,1"'`.
    fn gpus(&mut self, given: &Given) -> NodeId {
        let Given::Word(text, _) = given else { return self.value(given) };
        let whole = text.text();
        let Some(at) = whole.find("device=").map(|at| at + "device=".len()) else { return self.value(given) };
        let mut from = at;
        let mut devices = Vec::new();
        for id in whole[at..].trim_end_matches(['"', '\'']).split(',') {
            let id_text = text.slice(from..from + id.len());
            let span = id_text.whole();
            devices.push(self.builder.add(NodeKind::Scalar { text: id_text, plain: false }, span));
            from += id.len() + 1;
        }
        let span = text.whole();
        let driver = self.builder.add(NodeKind::Scalar { text: Traced::opaque("nvidia", span), plain: false }, span);
        let devices = self.builder.add(NodeKind::Seq(devices), span);
        let device = self.map(&[("driver", driver), ("device_ids", devices)], span);
        self.builder.add(NodeKind::Seq(vec![device]), span)
    }

    /// `--accelerator type=nvidia-l4,count=1,gpu-driver-version=latest`.
    fn accelerator(&mut self, given: &Given) {
        let Given::Word(text, expands) = given else { return };
        for part in parts(text) {
            let key = match part.text().split_once('=').map(|(key, _)| key) {
                Some("type") => "node_config.guest_accelerator.type",
                Some("count") => "node_config.guest_accelerator.count",
                Some("gpu-driver-version") => {
                    "node_config.guest_accelerator.gpu_driver_installation_config.gpu_driver_version"
                }
                _ => continue,
            };
            let value = part.slice(part.text().find('=').map_or(0, |at| at + 1)..part.text().len());
            let open = *expands && value.text().contains('$');
            let value = self.value(&Given::Word(value, open));
            self.put(key, value);
        }
    }

    fn put(&mut self, key: &str, value: NodeId) {
        self.keys.entry(key.to_owned()).or_default().push(value);
    }

    fn map(&mut self, entries: &[(&str, NodeId)], span: Span) -> NodeId {
        let entries = entries.iter().map(|(key, value)| {
            let text = Traced::opaque(*key, span);
            Entry { key: self.builder.add(NodeKind::Scalar { text, plain: false }, span), value: *value }
        });
        let entries = entries.collect();
        self.builder.add(NodeKind::Map(entries), span)
    }

    /// The keys as nested mappings.
    fn nested(&mut self, keys: Vec<(String, NodeId)>) -> NodeId {
        let mut inner: BTreeMap<String, Vec<(String, NodeId)>> = BTreeMap::new();
        let mut entries = Vec::new();
        for (key, value) in keys {
            match key.split_once('.') {
                Some((first, rest)) => inner.entry(first.to_owned()).or_default().push((rest.to_owned(), value)),
                None => entries.push((key, value)),
            }
        }
        for (key, below) in inner {
            let below = self.nested(below);
            entries.push((key, below));
        }
        let entries: Vec<(&str, NodeId)> = entries.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        self.map(&entries, self.span)
    }

    fn finish(mut self) -> Arc<Tree> {
        let mut keys = Vec::new();
        for (key, values) in std::mem::take(&mut self.keys) {
            let Some(&last) = values.last() else { continue };
            match key.strip_suffix("[]") {
                Some(key) => {
                    let list = self.builder.add(NodeKind::Seq(values), self.span);
                    keys.push((key.to_owned(), list));
                }
                None => keys.push((key, last)),
            }
        }
        let root = self.nested(keys);
        self.builder.tree().documents.push(root);
        Arc::new(self.builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use crate::extract;
    use crate::facts::Facts;
    use crate::source::SourceId;

    fn facts(script: &str) -> Facts {
        let mut facts = Facts::default();
        extract::text(SourceId(0), "up.sh", script, crate::discover::Kind::Shell, &mut facts);
        facts
    }

    #[test]
    fn what_a_shell_puts_in_is_not_known() {
        let facts =
            facts("docker run --gpus $N --shm-size ${SHM} img:1\naws ec2 run-instances --instance-type $TYPE\n");
        let container = &facts.workloads[0].pods[0].containers[0];
        assert!(container.gpus.is_unknown() && container.shm_bytes.is_unknown());
        assert!(facts.pools[0].instance_types[0].is_unknown());
    }

    #[test]
    fn options_that_a_shell_puts_in_are_not_taken_as_absent() {
        let facts = facts(
            "docker run --name a $OPTIONS vllm/vllm-openai:v0.11.0\n\
             gcloud container node-pools create a --machine-type g2-standard-8 --node-taints x=y:NoSchedule --node-labels a=b\n\
             helm upgrade a nvidia/gpu-operator --set-file x=y.yaml --set 'l={a,b},c=d'\n",
        );
        let container = &facts.workloads[0].pods[0].containers[0];
        assert!(container.gpus.is_unknown(), "{:?}", container.gpus);
        let release = &facts.releases[0];
        assert_eq!(release.chart.get().map(String::as_str), Some("gpu-operator"));
        assert!(release.set["x"].is_unknown() && release.set["l"].is_unknown());
        let pool = &facts.pools[0];
        assert!(pool.labels.values().all(|label| label.is_unknown()) && !pool.labels.is_empty(), "{:?}", pool.labels);
        assert!(pool.taints.iter().all(|taint| taint.key.is_unknown()) && !pool.taints.is_empty(), "{:?}", pool.taints);
    }

    #[test]
    fn commands_that_make_nothing_state_nothing() {
        let script = "docker build -t a .\ndocker exec c nvidia-smi\nhelm repo add nvidia https://x\nhelm list\n\
                      gcloud container node-pools list\naz aks nodepool delete --name gpu\naws ec2 describe-instances\n";
        let facts = facts(script);
        assert!(facts.workloads.is_empty() && facts.releases.is_empty() && facts.pools.is_empty());
    }
}
