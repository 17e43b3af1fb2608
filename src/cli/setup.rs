//! What a run goes by: the rules, the packs beside them and the configuration. Everything that is wrong with them
//! is told at once, drawn at its place.

use super::arguments::Lint;
use super::files::{cwd, gate, root, shown};
use super::output::complain;
use crate::config::{self, Config, FILE_NAME, FILE_NAMES, PYPROJECT, Word};
use crate::discover::{self, Excluded, Gate, MAX_SETTINGS, Reason};
use crate::finding::{Confidence, Finding, Severity};
use crate::judge::Restrictions;
use crate::parse::{Dialect, Node, Problem, yaml};
use crate::paths;
use crate::report::human::{self, HumanOptions};
use crate::rules::{Ruleset, pack};
use crate::source::{Source, SourceId, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a run goes by.
pub struct Setup {
    /// The rules, with the changes of each configuration.
    pub rules: Ruleset,
    /// The configurations; their places are of a run that holds nothing else.
    pub config: Config,
    /// Where paths are shown from.
    pub root: PathBuf,
    /// What the configurations turn off.
    pub restrictions: Vec<Restrictions>,
    /// Files that the configurations leave out.
    pub exclude: Vec<Excluded>,
    /// Every file that was read for it.
    pub read: Vec<PathBuf>,
    settings: Vec<Settings>,
}

/// The configuration of a directory, as it was read.
struct Settings {
    /// The directory, as it is shown; empty for every file.
    home: String,
    /// Where it stands.
    at: PathBuf,
    /// Paths and texts: its own, and of those that it extends.
    files: Vec<(String, String)>,
    /// Paths and texts of the files that name drivers.
    driver_files: Vec<(String, String)>,
}

/// Configurations that one run goes by, and that one extends.
const MOST: usize = 200;
const MOST_EXTENDED: usize = 16;

impl Setup {
    /// Reads configurations and packs.
    ///
    /// # Errors
    /// A file that cannot be read, or everything that is wrong with them.
    pub fn load(lint: &Lint) -> Result<Self, String> {
        let below = |start: &Path| discover::files_named(&FILE_NAMES, start, lint.no_ignore);
        let setup = match &lint.config {
            Some(path) => Self::read(std::slice::from_ref(path), true, &lint.rules, &lint.paths)?,
            None if lint.no_config || lint.isolated => Self::read(&[], true, &lint.rules, &lint.paths)?,
            None => Self::read(&Self::find(&lint.paths, &below)?, false, &lint.rules, &lint.paths)?,
        };
        for word in lint.select.iter().chain(&lint.ignore) {
            if !setup.rules.names(word) {
                return Err(format!("there is no rule or pack `{word}`{}", setup.rules.hint(word)));
            }
        }
        Ok(setup)
    }

    /// Reads the configurations of some paths, and packs.
    ///
    /// # Errors
    /// As for [`Setup::load`].
    pub fn of(paths: &[PathBuf], packs: &[PathBuf]) -> Result<Self, String> {
        let below = |start: &Path| discover::files_named(&FILE_NAMES, start, false);
        Self::read(&Self::find(paths, &below)?, false, packs, paths)
    }

    /// Reads the configurations of the working directory, and packs; outside of a repository nothing is looked for further
    /// down.
    ///
    /// # Errors
    /// As for [`Setup::load`].
    pub fn here(packs: &[PathBuf]) -> Result<Self, String> {
        let here = [PathBuf::from(".")];
        if cwd().ancestors().any(|directory| directory.join(".git").exists()) {
            return Self::of(&here, packs);
        }
        let alone = |start: &Path| vec![start.join(FILE_NAME)];
        Self::read(&Self::find(&here, &alone)?, false, packs, &here)
    }

    /// The configurations that some paths may go by: in directories above them, up to the root of their repository, and
    /// below them, where `below` finds some.
    fn find(targets: &[PathBuf], below: &dyn Fn(&Path) -> Vec<PathBuf>) -> Result<Vec<PathBuf>, String> {
        let root = root(targets);
        let gate = gate(targets);
        let mut out = Vec::new();
        for target in targets {
            let start = discover::target(&cwd().join(target), &root);
            let top = start.ancestors().position(|directory| directory.join(".git").exists());
            let above = start.ancestors().take(top.map_or(usize::MAX, |top| top + 1));
            let above = above.map(|directory| configurations(directory, &gate)).filter(|some| !some.is_empty());
            // Where no repository ends, the nearest one is what is meant.
            let above: Vec<Vec<PathBuf>> = above.take(top.map_or(1, |top| top + 1)).collect();
            out.extend(above.into_iter().rev().flatten());
            let named = below(&start);
            let mut directories: Vec<&Path> = named.iter().filter_map(|path| path.parent()).collect();
            directories.dedup();
            out.extend(directories.into_iter().flat_map(|directory| configurations(directory, &gate)));
        }
        let mut seen = BTreeSet::new();
        out.retain(|path| seen.insert(path.clone()));
        match out.get(MOST) {
            Some(path) => Err(format!("{}: more than {MOST} configurations", shown(path))),
            None => Ok(out),
        }
    }

    /// Reads configurations, those of directories above others before them, and the packs that they name. One that was asked
    /// for holds for every file.
    fn read(found: &[PathBuf], asked: bool, packs: &[PathBuf], targets: &[PathBuf]) -> Result<Self, String> {
        let gate = &gate(targets);
        let mut faults = Faults::default();
        let mut rules = Ruleset::builtin();
        for directory in packs {
            faults.add_pack(&mut rules, directory, gate)?;
        }
        // Whoever calls gpulint may replace rules.
        faults.replaced.clear();
        let mut setup = Self {
            rules: rules.again(),
            config: Config::default(),
            root: root(targets),
            restrictions: Vec::new(),
            exclude: Vec::new(),
            read: Vec::new(),
            settings: Vec::new(),
        };
        for path in found {
            setup.take(path, asked, &rules, (gate, &mut faults))?;
        }
        faults.none("the configuration")?;
        setup.config = setup.after(0, |_, _| None).0;
        setup.read.append(&mut faults.read);
        Ok(setup)
    }

    /// Takes in a configuration, unless one above leaves out the directory that it stands in.
    fn take(
        &mut self,
        path: &Path,
        asked: bool,
        rules: &Ruleset,
        (gate, faults): (&Gate, &mut Faults),
    ) -> Result<(), String> {
        let at = discover::target(&cwd().join(path), &self.root);
        let directory = at.parent().unwrap_or(&self.root).to_owned();
        if discover::excludes(&self.exclude, &directory).map_err(|bad| bad.to_string())? {
            return Ok(());
        }
        if let Some(other) = self.settings.iter().find(|settings| settings.at.parent() == path.parent()) {
            let [one, other] = [other.at.as_path(), path].map(shown);
            return Err(format!("{one} and {other} are both configurations of one directory: keep one"));
        }
        let (config, files) = self.chain(path, (gate, faults))?;
        // A word is meant from the file that states it.
        let stated_in = |word: &Word| {
            let file = files.iter().find(|(id, _)| *id == word.span.source);
            file.and_then(|(_, path)| path.parent()).unwrap_or(&directory).to_owned()
        };
        let below = |word: &Word| {
            let base = stated_in(word);
            gate.admit_below(&base.canonicalize().unwrap_or(base), &word.text)
        };
        let mut own = rules.again();
        for pack in &config.packs {
            match below(pack) {
                Ok(directory) => {
                    if let Err(reason) = faults.add_pack(&mut own, &directory, gate) {
                        let hint = match rules.names(&pack.text) {
                            true => format!("; `{}` is on without being listed here", pack.text),
                            false => rules.hint(&pack.text),
                        };
                        if hint.is_empty() {
                            return Err(reason);
                        }
                        faults.tell(pack.span, format!("{reason}{hint}"));
                    }
                }
                Err(reason) => faults.tell(pack.span, format!("the pack `{}` is not read: {reason}", pack.text)),
            }
        }
        let by = restrictions(&config, std::mem::take(&mut faults.replaced), &own);
        faults.extend(config.apply(&mut own));
        let mut driver_files = Vec::new();
        for (_, word) in &config.driver_files {
            match below(word).and_then(|path| Ok((gate.read(&path, MAX_SETTINGS)?, path))) {
                Ok((text, path)) => {
                    if !Config::default().set_driver(0, SourceId(0), &text) {
                        faults.tell(word.span, "there is no column driver_version in this file".to_owned());
                    }
                    driver_files.push((discover::shown(&path, &self.root), text));
                    faults.read.push(path);
                }
                Err(reason) => faults.tell(word.span, format!("`{}` is not read: {reason}", word.text)),
            }
        }
        // What stands above the directory that paths are shown from holds for all of them.
        let all = asked || self.root.starts_with(&directory);
        let home = if all { String::new() } else { discover::shown(&directory, &self.root) };
        self.exclude.push(Excluded {
            home: if asked { PathBuf::new() } else { directory.clone() },
            base: config.exclude.first().map_or_else(|| directory.clone(), stated_in),
            patterns: config.exclude.iter().map(|word| word.text.clone()).collect(),
        });
        let name = |path: &Path| discover::shown(path, &self.root);
        self.restrictions.push(Restrictions { path: name(&at), by });
        let texts = files.iter().map(|(id, path)| (name(path), faults.sources.get(*id).text.to_string())).collect();
        self.settings.push(Settings { home: home.clone(), at: path.to_owned(), files: texts, driver_files });
        match home.as_str() {
            "" => {
                own.below = std::mem::take(&mut self.rules.below);
                self.rules = own;
            }
            _ => self.rules.below.push((home, own)),
        }
        Ok(())
    }

    /// Reads a configuration and those that it extends; their sources and where they stand.
    fn chain(
        &self,
        path: &Path,
        (gate, faults): (&Gate, &mut Faults),
    ) -> Result<(Config, Vec<(SourceId, PathBuf)>), String> {
        let mut configs: Vec<Config> = Vec::new();
        let mut files: Vec<(SourceId, PathBuf)> = Vec::new();
        let mut next = Some(path.to_owned());
        while let Some(path) = next.take() {
            let refused = |reason: Reason| format!("{}: {reason}", shown(&path));
            let text = gate.read(&path, MAX_SETTINGS).map_err(refused)?;
            faults.read.push(path.clone());
            let id = faults.source(&path, &text);
            let (config, problems) = config::parse_at(id, &discover::shown(&path, &self.root), &text);
            faults.extend(problems);
            files.push((id, discover::target(&cwd().join(&path), &self.root)));
            if let Some(word) = &config.extends {
                let directory = files[files.len() - 1].1.with_file_name("");
                let directory = directory.canonicalize().unwrap_or(directory);
                let same = |at: &Path| files.iter().any(|(_, file)| file.canonicalize().is_ok_and(|file| file == at));
                match gate.admit_below(&directory, &word.text) {
                    Err(reason) => faults.tell(word.span, format!("`{}` is not read: {reason}", word.text)),
                    Ok(at) if same(&at) => {
                        let way = files.iter().map(|(_, path)| discover::shown(path, &self.root));
                        let way: Vec<String> = way.chain([discover::shown(&at, &self.root)]).collect();
                        faults.tell(word.span, format!("it extends itself: {}", way.join(" extends ")));
                    }
                    Ok(_) if files.len() > MOST_EXTENDED => {
                        faults.tell(word.span, format!("more than {MOST_EXTENDED} configurations extend each other"));
                    }
                    Ok(at) if !at.is_file() => {
                        faults.tell(word.span, format!("`{}` is not read: not a regular file", word.text));
                    }
                    Ok(at) => next = Some(at),
                }
            }
            configs.push(config);
        }
        Ok((joined(configs), files))
    }

    /// Where configurations stand.
    pub fn configurations(&self) -> impl Iterator<Item = &PathBuf> {
        self.settings.iter().map(|settings| &settings.at)
    }

    /// Where the configuration stands that holds for a file, and its text.
    pub fn text(&self, path: &str) -> Option<(PathBuf, String)> {
        let all = self.settings.iter().map(|settings| (settings.home.as_str(), settings));
        let settings = paths::nearest(path, all)?;
        Some((settings.at.clone(), settings.files.first()?.1.clone()))
    }

    /// The configurations with places in sources after `inputs` others, and those sources. `was` tells the text of a file
    /// that is to be gone by instead of the one that it has.
    pub fn after(&self, inputs: usize, was: impl Fn(&str, &str) -> Option<String>) -> (Config, Vec<Source>) {
        let (mut out, mut sources) = (Config::default(), Vec::new());
        for settings in &self.settings {
            let mut configs = Vec::new();
            let next = |sources: &Vec<Source>| SourceId((inputs + sources.len()) as u32);
            let first = next(&sources).0;
            for (path, text) in &settings.files {
                let text = was(path, text).unwrap_or_else(|| text.clone());
                configs.push(config::parse_at(next(&sources), path, &text).0);
                sources.push(Source::new(path.clone(), text));
            }
            let mut config = joined(configs);
            let clusters: Vec<usize> = config.driver_files.iter().map(|(cluster, _)| *cluster).collect();
            for (cluster, (path, text)) in clusters.into_iter().zip(&settings.driver_files) {
                config.set_driver(cluster, next(&sources), text);
                sources.push(Source::new(path.clone(), text.clone()));
            }
            config.sources = first..next(&sources).0;
            config.home.clone_from(&settings.home);
            match config.home.as_str() {
                "" => {
                    config.below = out.below;
                    out = config;
                }
                _ => out.below.push(config),
            }
        }
        (out, sources)
    }
}

/// A configuration with what it takes from those that it extends, the nearest first.
fn joined(configs: Vec<Config>) -> Config {
    let outer = configs.into_iter().rev().reduce(|outer, mut inner| {
        inner.extend(outer);
        inner
    });
    outer.unwrap_or_default()
}

/// The configurations in a directory, of which there is to be one.
pub fn configurations(directory: &Path, gate: &Gate) -> Vec<PathBuf> {
    let files = FILE_NAMES.iter().map(|name| directory.join(name));
    files
        .filter(|file| match file.ends_with(PYPROJECT) {
            true => gate.read(file, MAX_SETTINGS).is_ok_and(|text| config::is_one(PYPROJECT, &text)),
            // Whatever has its name is meant as one: what cannot be read must not pass for none.
            false => file.symlink_metadata().is_ok(),
        })
        .collect()
}

/// What a configuration keeps from being told; its packs have replaced some rules.
fn restrictions(config: &Config, replaced: Vec<String>, rules: &Ruleset) -> Vec<(&'static str, Vec<String>)> {
    let (mut off, mut lowered, mut params) = (Vec::new(), Vec::new(), Vec::new());
    for change in &config.overrides {
        let id = &change.rule.text;
        let usual = rules.get(id).and_then(|entry| Severity::parse(&entry.text().severity)).unwrap_or(Severity::Error);
        match change.severity {
            Some((None, _)) => off.push(id.clone()),
            Some((Some(severity), _)) if severity < usual => lowered.push(id.clone()),
            _ => {}
        }
        params.extend(change.params.iter().map(|(name, _)| format!("{id}.{}", name.text)));
    }
    let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
    let sure = config.min_confidence.filter(|least| *least > Confidence::Medium);
    let all = [
        ("rules turned off", off),
        ("rules lowered", lowered),
        ("parameters set", params),
        ("rules replaced", replaced),
        ("rules or packs selected, all others turned off", texts(&config.select)),
        ("rules or packs turned off", texts(&config.ignore)),
        ("confidence only, less turned off", sure.iter().map(|least| least.name().to_owned()).collect()),
        ("patterns of paths excluded", texts(&config.exclude)),
        ("rules or packs with accepted findings", config.ignores.iter().map(|i| i.rule.text.clone()).collect()),
    ];
    all.into_iter().filter(|(_, names): &(_, Vec<String>)| !names.is_empty()).collect()
}

/// Adds the rule files of a directory.
///
/// # Errors
/// A file that is not readable or not right, with all of its faults.
pub fn add_pack(rules: &mut Ruleset, directory: &Path) -> Result<(), String> {
    let mut faults = Faults::default();
    faults.add_pack(rules, directory, &gate(&[]))?;
    faults.none("the rules")
}

/// What a rule calls itself and its pack, and where it says that.
type Stated = (String, Option<(String, Span)>);

/// The ids and packs of rules that a text states, right or wrong.
fn stated(source: SourceId, text: &str) -> Vec<Stated> {
    let tree = yaml::parse(source, text, Dialect::Core);
    let pack = |root: Node<'_>| root.get("pack").and_then(|pack| Some((pack.text()?.to_owned(), pack.span())));
    tree.roots().filter_map(|root| Some((root.get("id")?.text()?.to_owned(), pack(root)))).collect()
}

/// What is wrong with what the user wrote for gpulint.
#[derive(Default)]
struct Faults {
    sources: Sources,
    findings: Vec<Finding>,
    /// The files that were read.
    read: Vec<PathBuf>,
    /// Rules that were there before a pack brought others of their names.
    replaced: Vec<String>,
}

impl Faults {
    fn source(&mut self, path: &Path, text: &str) -> SourceId {
        self.sources.push(Source::new(shown(path), text))
    }

    fn extend(&mut self, problems: Vec<Problem>) {
        problems.into_iter().for_each(|problem| self.tell(problem.span, problem.message));
    }

    fn tell(&mut self, span: Span, message: String) {
        self.findings.push(Finding::own("configuration", Severity::Error, span, message));
    }

    fn add_pack(&mut self, rules: &mut Ruleset, directory: &Path, gate: &Gate) -> Result<(), String> {
        let directory = gate.admit(directory).map_err(|reason| format!("{}: {reason}", shown(directory)))?;
        let mut paths: Vec<PathBuf> = walkdir::WalkDir::new(&directory)
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| !entry.file_type().is_dir())
            .map(walkdir::DirEntry::into_path)
            .filter(|p| p.extension().is_some_and(|e| e == "yaml" || e == "yml"))
            .collect();
        paths.sort();
        let (manifests, paths): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.ends_with(pack::FILE_NAME));
        if paths.is_empty() {
            return Err(format!("{}: no rule files", shown(&directory)));
        }
        let mut packs = BTreeMap::new();
        for path in manifests {
            let text = gate.read(&path, MAX_SETTINGS).map_err(|reason| format!("{}: {reason}", shown(&path)))?;
            let id = self.source(&path, &text);
            let (pack, problems) = pack::read(id, &text);
            // Rules that a later release understands are not held against this one.
            if !problems.is_empty() {
                self.extend(problems);
                return Ok(());
            }
            packs.insert(path.with_file_name(""), pack.name);
            self.read.push(path);
        }
        for path in paths {
            let text = gate.read(&path, MAX_SETTINGS).map_err(|reason| format!("{}: {reason}", shown(&path)))?;
            self.read.push(path.clone());
            let id = self.source(&path, &text);
            let stated = stated(id, &text);
            if stated.is_empty() {
                // What else it holds is not for the log of a run.
                return Err(format!("{}: not a rule file: it has no `id`", shown(&path)));
            }
            let own = path.ancestors().skip(1).find_map(|above| packs.get(above));
            for (rule, pack) in stated {
                if let (Some(own), Some((pack, span))) = (own, pack.filter(|(pack, _)| Some(pack) != own)) {
                    self.tell(span, format!("the rule is of the pack `{pack}`, and its directory of the pack `{own}`"));
                }
                self.replaced.extend(Some(rule).filter(|rule| rules.get(rule).is_some()));
            }
            let problems = rules.add(id, &shown(&path), &text);
            self.extend(problems);
            let own = |advice: Problem| Finding::own("configuration", Severity::Warning, advice.span, advice.message);
            self.findings.extend(std::mem::take(&mut rules.advice).into_iter().map(own));
        }
        Ok(())
    }

    /// Everything that is wrong, drawn, unless nothing is. What could only be said better is said on the way.
    fn none(&self, what: &str) -> Result<(), String> {
        if self.findings.is_empty() {
            return Ok(());
        }
        let drawn = human::problems(&self.findings, &self.sources, &HumanOptions::default());
        if self.findings.iter().all(|finding| finding.severity < Severity::Error) {
            complain(drawn.trim_end());
            return Ok(());
        }
        Err(format!("{what} cannot be used\n\n{}", drawn.trim_end()))
    }
}
