//! `.gpulint.yaml`: what the repository cannot say and what the user wants, for what stands below the directory of the
//! file. Knows its own keys, each with its place; knows neither formats nor how findings are made.

mod read;

use crate::facts::{Cluster, Facts, HelmRelease, NodePool, Object};
use crate::finding::{Confidence, FILE_NOT_LINTED, OWN_RULES, Severity, Unlinted};
use crate::known::Fact;
use crate::parse::{Dialect, Node, Problem, Tree, toml, yaml};
use crate::paths;
use crate::rules::Ruleset;
use crate::source::{SourceId, Span};
use crate::version::Version;
use crate::words::Word as _;
use globset::GlobMatcher;
use jiff::civil::Date;
use std::ops::Range;
use std::sync::Arc;

/// Names of the file.
pub const FILE_NAMES: [&str; 4] = [FILE_NAME, ".gpulint.yml", "gpulint.yaml", PYPROJECT];

/// The name of a new one.
pub const FILE_NAME: &str = ".gpulint.yaml";

/// The file of other tools that may hold a configuration under `tool.gpulint`.
pub const PYPROJECT: &str = "pyproject.toml";

/// A word of the configuration, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// What is changed about a rule.
#[derive(Debug, Clone)]
pub struct Override {
    /// Id of the rule.
    pub rule: Word,
    /// Its severity (`Some(None)` is off) and where that stands.
    pub severity: Option<(Option<Severity>, Span)>,
    /// Names and values of parameters.
    pub params: Vec<(Word, Vec<String>)>,
}

/// A finding that is known and accepted.
#[derive(Debug, Clone)]
pub struct Ignore {
    /// Rule or pack.
    pub rule: Word,
    /// Files it holds for; every file when left out.
    pub path: Option<GlobMatcher>,
    /// Text that the name of the entity contains.
    pub object: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Last day on which it holds.
    pub until: Option<Date>,
}

/// A configuration, and those that hold in its place further below.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The directory that it holds for; empty for every file.
    pub home: String,
    /// The sources that it was read from.
    pub sources: Range<u32>,
    /// Configurations of directories below.
    pub below: Vec<Config>,
    /// The configuration that holds for what this one does not state.
    pub extends: Option<Word>,
    /// The keys that it states.
    stated: Vec<String>,
    /// Clusters.
    pub clusters: Vec<Arc<Cluster>>,
    /// Node pools of the clusters.
    pub pools: Vec<Arc<NodePool>>,
    /// Clusters, by their place in the list, and files with what nvidia-smi said of their drivers.
    pub driver_files: Vec<(usize, Word)>,
    /// Image names and the Dockerfiles that build them.
    pub images: Vec<(Word, Word)>,
    /// Ways in which charts of the repository are installed.
    pub releases: Vec<Arc<HelmRelease>>,
    /// Service levels, classes of data and datasets, as raw objects of kind `ServiceLevel`, `DataClass` and `StoredDataset`.
    pub promises: Vec<Arc<Object>>,
    /// Directories with further rules.
    pub packs: Vec<Word>,
    /// Changes to rules.
    pub overrides: Vec<Override>,
    /// Only these rules or packs; empty for all.
    pub select: Vec<Word>,
    /// Not these rules or packs.
    pub ignore: Vec<Word>,
    /// Files to leave out, in the syntax of `.gitignore`.
    pub exclude: Vec<Word>,
    /// Accepted findings.
    pub ignores: Vec<Ignore>,
    /// Whether every suppression must give a reason.
    pub require_reason: bool,
    /// Least severity that fails a run.
    pub fail_on: Option<Severity>,
    /// Least confidence of findings that are shown.
    pub min_confidence: Option<Confidence>,
}

/// Whether a file of one of the names is a configuration.
pub fn is_one(path: &str, text: &str) -> bool {
    let table = |tree: &Tree| own_table(tree).is_some();
    paths::name(path) != PYPROJECT || text.contains("gpulint") && table(&toml::parse(SourceId(0), text))
}

/// The table of gpulint among those of other tools.
fn own_table(tree: &Tree) -> Option<Node<'_>> {
    tree.roots().next()?.get("tool")?.get("gpulint")
}

/// Reads a configuration at a path. What is wrong is told all at once; the rest holds.
pub fn parse_at(source: SourceId, path: &str, text: &str) -> (Config, Vec<Problem>) {
    if paths::name(path) != PYPROJECT {
        return parse(source, text);
    }
    let tree = Arc::new(toml::parse(source, text));
    let mut problems = tree.problems.clone();
    let config = own_table(&tree).map(|table| read::config(&tree, table, &mut problems));
    (config.unwrap_or_default(), problems)
}

/// Reads a configuration in YAML.
pub fn parse(source: SourceId, text: &str) -> (Config, Vec<Problem>) {
    let tree = Arc::new(yaml::parse(source, text, Dialect::Core));
    let mut problems = tree.problems.clone();
    problems.extend(
        yaml::duplicate_keys(&tree)
            .into_iter()
            .map(|d| Problem { span: d.span, message: format!("the key `{}` is written twice", d.key) }),
    );
    let mut config = Config::default();
    let mut roots = tree.roots().filter(|root| !root.is_null());
    if let Some(root) = roots.next() {
        config = read::config(&tree, root, &mut problems);
    }
    if let Some(more) = roots.next() {
        problems.push(Problem { span: more.head(), message: "only one document is read".to_owned() });
    }
    (config, problems)
}

/// The lowest driver in the output of `nvidia-smi --query-gpu=driver_version --format=csv`, which every node has at
/// least. Other columns may stand beside it.
fn lowest_driver(source: SourceId, text: &str) -> Option<Fact<Version>> {
    let mut lines = text.split_inclusive('\n');
    let column = lines.next()?.split(',').position(|name| name.trim() == "driver_version")?;
    let mut start = text.len() - lines.clone().map(str::len).sum::<usize>();
    let mut lowest: Option<Fact<Version>> = None;
    for line in lines {
        let cell = line.split(',').nth(column).unwrap_or_default();
        let before: usize = line.split(',').take(column).map(|c| c.len() + 1).sum();
        let at = start + before + cell.len() - cell.trim_start().len();
        start += line.len();
        let Some(version) = Version::parse(cell.trim()) else { continue };
        if lowest.as_ref().and_then(|l| l.get().cloned()).is_none_or(|l| version < l) {
            lowest = Some(Fact::value(version, Span::new(source, at..at + cell.trim().len())));
        }
    }
    lowest
}

impl Config {
    /// The one that holds for a file: the nearest above it.
    pub fn of(&self, path: &str) -> &Config {
        paths::nearest(path, self.below.iter().map(|config| (config.home.as_str(), config))).unwrap_or(self)
    }

    /// This one and those below.
    pub fn all(&self) -> impl Iterator<Item = &Config> {
        std::iter::once(self).chain(&self.below)
    }

    /// Takes from the configuration that it extends what it does not state itself, of rules and images one by one.
    pub fn extend(&mut self, outer: Config) {
        let states = |key: &str| self.stated.iter().any(|stated| stated == key);
        if !states("clusters") {
            (self.clusters, self.pools, self.driver_files) = (outer.clusters, outer.pools, outer.driver_files);
        }
        let promises =
            [("sla", &read::SERVICE_LEVEL), ("data_classes", &read::DATA_CLASS), ("datasets", &read::DATASET)];
        for (key, kind) in promises.map(|(key, promise)| (key, promise.kind)) {
            let of_kind = outer.promises.iter().filter(|object| object.kind.get().is_some_and(|own| own == kind));
            self.promises.extend(of_kind.filter(|_| !states(key)).cloned());
        }
        let lists = [
            ("packs", &mut self.packs, outer.packs),
            ("select", &mut self.select, outer.select),
            ("ignore", &mut self.ignore, outer.ignore),
            ("exclude", &mut self.exclude, outer.exclude),
        ];
        for (_, list, theirs) in lists.into_iter().filter(|(key, ..)| !states(key)) {
            *list = theirs;
        }
        if !states("helm") {
            self.releases = outer.releases;
        }
        if !states("ignores") {
            self.ignores = outer.ignores;
        }
        if !states("require_reason") {
            self.require_reason = outer.require_reason;
        }
        self.fail_on = self.fail_on.or(outer.fail_on);
        self.min_confidence = self.min_confidence.or(outer.min_confidence);
        let (images, overrides) = (&self.images, &self.overrides);
        let images: Vec<_> = outer.images.into_iter().filter(|(name, _)| !has(images, name, |own| &own.0)).collect();
        let rules = outer.overrides.into_iter().filter(|change| !has(overrides, &change.rule, |own| &own.rule));
        let rules: Vec<_> = rules.collect();
        self.images.extend(images);
        self.overrides.extend(rules);
        self.stated.extend(outer.stated);
    }

    /// Takes the driver of a cluster from what nvidia-smi said of its nodes. False when the text says nothing of drivers.
    pub fn set_driver(&mut self, cluster: usize, source: SourceId, text: &str) -> bool {
        let driver = lowest_driver(source, text);
        let known = driver.is_some();
        if let (Some(driver), Some(cluster)) = (driver, self.clusters.get_mut(cluster)) {
            Arc::make_mut(cluster).driver = driver;
        }
        known
    }

    /// What it and those below state of clusters, pools, charts and images, as facts.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        for config in self.all() {
            let images = config.images.iter();
            facts.append(Facts {
                clusters: config.clusters.clone(),
                pools: config.pools.clone(),
                releases: config.releases.clone(),
                objects: config.promises.clone(),
                images: images
                    .map(|(name, file)| (name.text.clone(), Fact::value(file.text.clone(), file.span)))
                    .collect(),
                ..Facts::default()
            });
            let several = !self.below.is_empty() && !config.sources.is_empty();
            facts.governed.extend(several.then(|| (config.home.clone(), config.sources.clone())));
        }
        facts
    }

    /// The severity that a rule is given; `Some(None)` is off.
    pub fn severity(&self, rule: &str) -> Option<Option<Severity>> {
        let given = self.overrides.iter().rev().find(|o| o.rule.text == rule)?;
        given.severity.map(|(severity, _)| severity)
    }

    /// The severity that a reason not to lint a file is given; `Some(None)` is off.
    pub fn not_linted(&self, why: Unlinted) -> Option<Option<Severity>> {
        let changes = self.overrides.iter().rev().filter(|change| change.rule.text == FILE_NOT_LINTED);
        let mut given = changes.flat_map(|change| &change.params).filter(|(name, _)| name.text == why.text());
        given.find_map(|(_, value)| severity(value)).or_else(|| self.severity(FILE_NOT_LINTED))
    }

    /// Changes the rules as configured. What names no rule, pack or parameter is a problem.
    pub fn apply(&self, rules: &mut Ruleset) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut tell = |span: Span, message: String| problems.push(Problem { span, message });
        let own = |word: &str| OWN_RULES.iter().any(|(id, _)| *id == word) || word == crate::finding::OWN_PACK;
        let named = self.select.iter().chain(&self.ignore).chain(self.ignores.iter().map(|i| &i.rule));
        for word in named.filter(|w| !rules.names(&w.text)) {
            tell(word.span, format!("there is no rule or pack `{}`{}", word.text, rules.hint(&word.text)));
        }
        for change in &self.overrides {
            let id = &change.rule.text;
            if own(id) {
                for (name, value) in &change.params {
                    if id != FILE_NOT_LINTED || Unlinted::parse(&name.text).is_none() {
                        tell(name.span, format!("`{id}` has no parameter `{}`", name.text));
                    } else if severity(value).is_none() {
                        tell(name.span, "expected off, info, warning or error".to_owned());
                    }
                }
                continue;
            }
            if rules.get(id).is_none() {
                tell(change.rule.span, format!("there is no rule `{id}`{}", rules.hint(id)));
                continue;
            }
            if let Some((severity, span)) = change.severity
                && let Err(why) = rules.set_severity(id, severity)
            {
                tell(span, why);
            }
            for (name, value) in &change.params {
                if let Err(why) = rules.set_param(id, &name.text, value.clone()) {
                    tell(name.span, why);
                }
            }
        }
        problems
    }
}

/// Whether a list has an entry of the same name.
fn has<T>(list: &[T], name: &Word, of: impl Fn(&T) -> &Word) -> bool {
    list.iter().any(|own| of(own).text == name.text)
}

/// A severity that stands as the value of a parameter; `Some(None)` is off.
fn severity(value: &[String]) -> Option<Option<Severity>> {
    match value {
        [word] if word == "off" => Some(None),
        [word] => Severity::parse(word).map(Some),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
