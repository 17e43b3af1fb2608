//! The tree of a configuration into [`Config`], with every fault at its place.

use super::{Config, Ignore, Override, Word};
use crate::facts::{Cluster, HelmRelease, InfraFormat, NodePool, Object, ReleaseFormat, Taint};
use crate::finding::{Confidence, Severity};
use crate::known::Fact;
use crate::parse::{Node, Problem, Raw, Tree};
use crate::source::Span;
use crate::suggest::did_you_mean;
use crate::version::Version;
use globset::{Glob, GlobMatcher};
use jiff::civil::Date;
use std::sync::Arc;

const KEYS: &[&str] = &[
    "$schema",
    "extends",
    "clusters",
    "images",
    "helm",
    "sla",
    "data_classes",
    "datasets",
    "packs",
    "rules",
    "select",
    "ignore",
    "exclude",
    "ignores",
    "require_reason",
    "fail_on",
    "min_confidence",
];

/// A promise that rules hold deployments against: the kind of its raw object, what it is called, the key that
/// names it, its numbers, and its other keys.
pub(super) struct Promise {
    pub(super) kind: &'static str,
    what: &'static str,
    name: &'static str,
    percentages: &'static [&'static str],
    switches: &'static [&'static str],
    keys: &'static [&'static str],
}

pub(super) const SERVICE_LEVEL: Promise = Promise {
    kind: "ServiceLevel",
    what: "a service level",
    name: "workload",
    percentages: &["availability", "network", "durability"],
    switches: &[],
    keys: &["workload", "availability", "network", "durability", "replacement_hours", "qps", "qps_per_gpu"],
};

pub(super) const DATA_CLASS: Promise = Promise {
    kind: "DataClass",
    what: "a data class",
    name: "name",
    percentages: &[],
    switches: &["encrypted", "audit_log"],
    keys: &["name", "label", "regions", "encrypted", "audit_log"],
};

pub(super) const DATASET: Promise = Promise {
    kind: "StoredDataset",
    what: "a dataset",
    name: "store",
    percentages: &[],
    switches: &[],
    keys: &["store", "read_mb_per_s", "samples_per_s", "sample_mb"],
};

/// Most entries of a list that every path or finding is held against.
const MOST_PATTERNS: usize = 1000;

/// Reads the root of a configuration.
pub fn config(tree: &Arc<Tree>, root: Node<'_>, problems: &mut Vec<Problem>) -> Config {
    let mut reader = Reader { problems };
    let mut out = Config::default();
    for (key, value) in reader.entries(root, KEYS, "the configuration") {
        let key = key.text().unwrap_or("");
        // A list of directories is what the command line calls --rules.
        let key = if key == "rules" && value.is_seq() { "packs" } else { key };
        out.stated.push(key.to_owned());
        match key {
            "extends" => out.extends = reader.word(value),
            "clusters" => reader.clusters(value, &mut out),
            "images" => out.images = reader.named(value),
            "helm" => out.releases = self::releases(&mut reader, value),
            "sla" => out.promises.extend(reader.promises(tree, value, &SERVICE_LEVEL)),
            "data_classes" => out.promises.extend(reader.promises(tree, value, &DATA_CLASS)),
            "datasets" => out.promises.extend(reader.promises(tree, value, &DATASET)),
            "packs" => out.packs.extend(reader.words(value)),
            "rules" => out.overrides = reader.overrides(value),
            "select" => out.select = reader.words(value),
            "ignore" => out.ignore = reader.words(value),
            "exclude" => out.exclude = reader.few(value).into_iter().flat_map(|value| reader.words(value)).collect(),
            "ignores" => {
                let items = reader.few(value).into_iter().flat_map(Node::items);
                out.ignores = items.filter_map(|item| reader.ignore(item)).collect();
            }
            "require_reason" => out.require_reason = reader.boolean(value).unwrap_or(false),
            "fail_on" => out.fail_on = reader.choice(value, "info, warning or error", Severity::parse),
            "min_confidence" => out.min_confidence = reader.choice(value, "low, medium or high", Confidence::parse),
            _ => {}
        }
    }
    out
}

struct Reader<'p> {
    problems: &'p mut Vec<Problem>,
}

impl Reader<'_> {
    fn tell(&mut self, span: Span, message: impl Into<String>) {
        self.problems.push(Problem { span, message: message.into() });
    }

    /// A list that every path or finding is held against, unless it is too long.
    fn few<'t>(&mut self, list: Node<'t>) -> Option<Node<'t>> {
        let more = list.items().nth(MOST_PATTERNS);
        if let Some(more) = more {
            self.tell(more.span(), format!("more than {MOST_PATTERNS} entries: name directories, or turn rules off"));
        }
        Some(list).filter(|_| more.is_none())
    }

    /// Entries of a mapping with known keys.
    fn entries<'t>(&mut self, map: Node<'t>, known: &[&str], what: &str) -> Vec<(Node<'t>, Node<'t>)> {
        if !map.is_map() && !map.is_null() {
            self.tell(map.head(), format!("{what} is a mapping of {}", known.join(", ")));
        }
        let (good, bad): (Vec<_>, Vec<_>) =
            map.entries().into_iter().partition(|(key, _)| key.text().is_some_and(|k| known.contains(&k)));
        for (key, _) in bad {
            let name = key.text().unwrap_or("");
            let hint = did_you_mean(name, known.iter().copied());
            self.tell(key.span(), format!("{what} has no key `{name}`{hint}"));
        }
        good
    }

    fn word(&mut self, node: Node<'_>) -> Option<Word> {
        match node.text() {
            Some(text) => Some(Word { text: text.to_owned(), span: node.span() }),
            None => {
                self.tell(node.head(), "a text is expected");
                None
            }
        }
    }

    /// A list of texts, or one text.
    fn words(&mut self, node: Node<'_>) -> Vec<Word> {
        if node.is_seq() {
            return node.items().filter_map(|item| self.word(item)).collect();
        }
        if node.is_null() { vec![] } else { self.word(node).into_iter().collect() }
    }

    /// A mapping of names to texts.
    fn named(&mut self, node: Node<'_>) -> Vec<(Word, Word)> {
        self.any_entries(node).into_iter().filter_map(|(k, v)| Some((self.word(k)?, self.word(v)?))).collect()
    }

    /// Entries of a mapping with keys that the user makes up.
    fn any_entries<'t>(&mut self, map: Node<'t>) -> Vec<(Node<'t>, Node<'t>)> {
        if !map.is_map() && !map.is_null() {
            self.tell(map.head(), "a mapping is expected");
        }
        map.entries()
    }

    fn items<'t>(&mut self, list: Node<'t>) -> Vec<Node<'t>> {
        if !list.is_seq() && !list.is_null() {
            self.tell(list.head(), "a list is expected");
        }
        list.items().collect()
    }

    fn boolean(&mut self, node: Node<'_>) -> Option<bool> {
        let value = node.as_bool();
        if value.is_none() {
            self.tell(node.head(), "true or false is expected");
        }
        value
    }

    fn choice<T>(&mut self, node: Node<'_>, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = node.text().and_then(parse);
        if value.is_none() {
            self.tell(node.head(), format!("{expected} is expected"));
        }
        value
    }

    fn string(&mut self, node: Node<'_>) -> Option<Fact<String>> {
        self.word(node).map(|word| Fact::value(word.text, word.span))
    }

    fn version(&mut self, node: Node<'_>) -> Option<Fact<Version>> {
        self.choice(node, "a version", Version::parse).map(|version| Fact::value(version, node.span()))
    }

    fn count(&mut self, node: Node<'_>) -> Option<Fact<i64>> {
        let value = node.as_int().filter(|&n| n >= 0);
        if value.is_none() {
            self.tell(node.head(), "a whole number is expected");
        }
        value.map(|n| Fact::value(n, node.span()))
    }

    fn overrides(&mut self, node: Node<'_>) -> Vec<Override> {
        let mut out = Vec::new();
        for (key, value) in self.any_entries(node) {
            let Some(rule) = self.word(key) else { continue };
            let mut change = Override { rule, severity: None, params: Vec::new() };
            // `rule: off` is short for `rule: {severity: off}`.
            if value.text().is_some() {
                change.severity = self.severity(value);
                out.push(change);
                continue;
            }
            for (key, value) in self.entries(value, &["severity", "params"], "a rule") {
                if key.text() == Some("severity") {
                    change.severity = self.severity(value);
                    continue;
                }
                for (name, value) in self.any_entries(value) {
                    let Some(name) = self.word(name) else { continue };
                    change.params.push((name, self.words(value).into_iter().map(|w| w.text).collect()));
                }
            }
            out.push(change);
        }
        out
    }

    fn severity(&mut self, node: Node<'_>) -> Option<(Option<Severity>, Span)> {
        let parse = |text: &str| if text == "off" { Some(None) } else { Severity::parse(text).map(Some) };
        self.choice(node, "off, info, warning or error", parse).map(|severity| (severity, node.span()))
    }

    fn ignore(&mut self, node: Node<'_>) -> Option<Ignore> {
        let (mut rule, mut path, mut object, mut reason, mut until) = (None, None, None, None, None);
        for (key, value) in self.entries(node, &["rule", "path", "object", "reason", "until"], "an ignore") {
            match key.text().unwrap_or("") {
                "rule" => rule = self.word(value),
                "path" => path = self.glob(value),
                "object" => object = self.word(value).map(|w| w.text),
                "reason" => reason = self.word(value).map(|w| w.text),
                _ => until = self.choice(value, "a date like 2030-12-31", |text| text.parse::<Date>().ok()),
            }
        }
        if node.is_map() && node.get("rule").is_none() {
            self.tell(node.head(), "an ignore names its `rule`");
        }
        // A pattern or a date that is wrong must not widen what is ignored.
        let narrowed =
            (path.is_some() || node.get("path").is_none()) && (until.is_some() || node.get("until").is_none());
        Some(Ignore { rule: rule.filter(|_| narrowed)?, path, object, reason, until })
    }

    fn glob(&mut self, node: Node<'_>) -> Option<GlobMatcher> {
        let word = self.word(node)?;
        match Glob::new(&word.text) {
            Ok(glob) => Some(glob.compile_matcher()),
            Err(error) => {
                self.tell(word.span, error.to_string());
                None
            }
        }
    }

    fn clusters(&mut self, node: Node<'_>, out: &mut Config) {
        for item in self.items(node) {
            let mut cluster = Cluster::blank(item.head());
            cluster.format = Fact::value(InfraFormat::Configuration, item.head());
            let mut pools = Vec::new();
            let keys = ["name", "platform", "kubernetes", "driver", "driver_file", "node_pools"];
            for (key, value) in self.entries(item, &keys, "a cluster") {
                match key.text().unwrap_or("") {
                    "name" => set(&mut cluster.name, self.string(value)),
                    "platform" => set(&mut cluster.platform, self.string(value)),
                    "kubernetes" => set(&mut cluster.kubernetes, self.version(value)),
                    "driver" => set(&mut cluster.driver, self.version(value)),
                    "driver_file" => out.driver_files.extend(self.words(value).pop().map(|w| (out.clusters.len(), w))),
                    _ => pools = self.items(value).into_iter().map(|pool| self.pool(pool)).collect(),
                }
            }
            for pool in &mut pools {
                pool.cluster = cluster.name.clone();
                pool.platform = cluster.platform.clone();
                pool.kubernetes = cluster.kubernetes.clone();
            }
            out.clusters.push(Arc::new(cluster));
            out.pools.extend(pools.into_iter().map(Arc::new));
        }
    }

    /// Promises as raw objects, which rules ask for by kind.
    fn promises(&mut self, tree: &Arc<Tree>, list: Node<'_>, promise: &Promise) -> Vec<Arc<Object>> {
        let mut out = Vec::new();
        for item in self.items(list) {
            for (key, value) in self.entries(item, promise.keys, promise.what) {
                let key = key.text().unwrap_or("");
                if promise.percentages.contains(&key) {
                    let percentage = |text: &str| text.parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p));
                    self.choice(value, "a percentage", percentage);
                } else if promise.switches.contains(&key) {
                    self.boolean(value);
                } else {
                    self.words(value);
                }
            }
            let mut object = Object::blank(item.head());
            object.kind = Fact::value(promise.kind.to_owned(), item.head());
            object.name = item.view().get(promise.name).string();
            object.body = Some(Raw::new(tree, item.view()));
            out.push(Arc::new(object));
        }
        out
    }

    fn pool(&mut self, node: Node<'_>) -> NodePool {
        const KEYS: &[&str] =
            &["name", "gpu", "count", "instance_type", "driver", "labels", "taints", "min_nodes", "max_nodes", "spot"];
        let mut pool = NodePool::blank(node.head());
        pool.format = Fact::value(InfraFormat::Configuration, node.head());
        for (key, value) in self.entries(node, KEYS, "a node pool") {
            match key.text().unwrap_or("") {
                "name" => set(&mut pool.name, self.string(value)),
                "gpu" => set(&mut pool.accelerator, self.string(value)),
                "count" => set(&mut pool.gpu_count, self.count(value)),
                "instance_type" => {
                    pool.instance_types = self.words(value).into_iter().map(|w| Fact::value(w.text, w.span)).collect();
                }
                "driver" => set(&mut pool.driver, self.version(value)),
                "labels" => {
                    let labels = self.named(value).into_iter();
                    pool.labels = labels.map(|(k, v)| (k.text, Fact::value(v.text, v.span))).collect();
                }
                "taints" => pool.taints = self.items(value).into_iter().filter_map(|t| self.taint(t)).collect(),
                "min_nodes" => set(&mut pool.min_nodes, self.count(value)),
                "max_nodes" => set(&mut pool.max_nodes, self.count(value)),
                _ => set(&mut pool.spot, self.boolean(value).map(|spot| Fact::value(spot, value.span()))),
            }
        }
        pool.accelerator_count = pool.gpu_count.clone();
        pool
    }

    /// `key=value:Effect`, as kubectl writes taints, or a mapping.
    fn taint(&mut self, node: Node<'_>) -> Option<Taint> {
        let mut taint = Taint::blank(node.head());
        if node.is_map() {
            for (key, value) in self.entries(node, &["key", "value", "effect"], "a taint") {
                match key.text().unwrap_or("") {
                    "key" => set(&mut taint.key, self.string(value)),
                    "value" => set(&mut taint.value, self.string(value)),
                    _ => set(&mut taint.effect, self.string(value)),
                }
            }
            return Some(taint);
        }
        let word = self.word(node)?;
        let Some((key, effect)) = word.text.rsplit_once(':') else {
            self.tell(word.span, "a taint is written `key=value:Effect`");
            return None;
        };
        let (key, value) = key.split_once('=').map_or((key, None), |(key, value)| (key, Some(value)));
        let fact = |text: &str| Fact::value(text.to_owned(), word.span);
        taint.key = fact(key);
        taint.effect = fact(effect);
        if let Some(value) = value {
            taint.value = fact(value);
        }
        Some(taint)
    }
}

/// Ways in which charts of the repository are installed.
fn releases(reader: &mut Reader<'_>, node: Node<'_>) -> Vec<Arc<HelmRelease>> {
    const KEYS: &[&str] = &["chart", "release", "namespace", "kubernetes", "values", "set"];
    let mut out = Vec::new();
    for item in reader.items(node) {
        let mut release = HelmRelease::blank(item.head());
        release.format = Fact::value(ReleaseFormat::Configuration, item.head());
        for (key, value) in reader.entries(item, KEYS, "a release") {
            match key.text().unwrap_or("") {
                "chart" => set(&mut release.path, reader.string(value)),
                "release" => set(&mut release.name, reader.string(value)),
                "namespace" => set(&mut release.namespace, reader.string(value)),
                "kubernetes" => set(&mut release.kubernetes, reader.string(value)),
                "values" => {
                    let files = reader.words(value).into_iter();
                    release.values_from = files.map(|w| Fact::value(w.text, w.span)).collect();
                }
                _ => {
                    let values = reader.named(value).into_iter();
                    release.set = values.map(|(k, v)| (k.text, Fact::value(v.text, v.span))).collect();
                }
            }
        }
        if item.is_map() && item.get("chart").is_none() {
            reader.tell(item.head(), "a release names the directory of its `chart`");
        }
        out.push(Arc::new(release));
    }
    out
}

/// Keeps what was read.
fn set<T>(slot: &mut Fact<T>, fact: Option<Fact<T>>) {
    if let Some(fact) = fact {
        *slot = fact;
    }
}
