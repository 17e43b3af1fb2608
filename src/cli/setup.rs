//! What a run goes by: the rules, the packs beside them and the configuration. Everything that is wrong with them
//! is told at once, drawn at its place.

use super::arguments::Lint;
use super::files::{cwd, gate, root, shown};
use super::output::complain;
use crate::config::{self, Config, Word};
use crate::discover::{self, Gate, MAX_SETTINGS, Reason};
use crate::finding::{Confidence, Finding, OWN_PACK, OWN_RULES, Severity};
use crate::judge::Restrictions;
use crate::parse::{Dialect, Node, Problem, yaml};
use crate::report::human::{self, HumanOptions};
use crate::rules::{Ruleset, pack};
use crate::source::{Source, SourceId, Sources, Span};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a run goes by.
pub struct Setup {
    /// The rules, with the configuration's changes.
    pub rules: Ruleset,
    /// The configuration; its places are of a run that holds nothing else.
    pub config: Config,
    /// Where paths are shown from.
    pub root: PathBuf,
    /// The directory that paths of the configuration start from.
    pub base: PathBuf,
    /// What the configuration turns off, if there is one.
    pub restrictions: Option<Restrictions>,
    /// Where the configuration stands, if there is one.
    pub configuration: Option<PathBuf>,
    /// Path and text of the configuration, if there is one.
    file: Option<(String, String)>,
    /// Paths and texts of the files that name drivers.
    driver_files: Vec<(String, String)>,
    /// Every file that was read for it.
    pub read: Vec<PathBuf>,
}

impl Setup {
    /// Reads configuration and packs.
    ///
    /// # Errors
    /// A file that cannot be read, or everything that is wrong with them.
    pub fn load(lint: &Lint) -> Result<Self, String> {
        let own = !lint.no_config && !lint.isolated;
        let config = lint.config.clone().or_else(|| Self::find(&lint.paths).filter(|_| own));
        let setup = Self::read(config, &lint.rules, &lint.paths)?;
        for word in lint.select.iter().chain(&lint.ignore) {
            if !setup.rules.names(word) && word != OWN_PACK && !OWN_RULES.iter().any(|(id, _)| id == word) {
                return Err(format!("there is no rule or pack `{word}`{}", setup.rules.hint(word)));
            }
        }
        Ok(setup)
    }

    /// The configuration of the first target: in its directory or above, up to the root of its repository.
    pub fn find(targets: &[PathBuf]) -> Option<PathBuf> {
        let start = targets.first().map_or_else(cwd, |target| cwd().join(target));
        for directory in start.ancestors().filter(|d| d.is_dir()) {
            let file = directory.join(config::FILE_NAME);
            // Whatever has this name is meant as one: what cannot be read must not pass for none.
            if file.symlink_metadata().is_ok() {
                return Some(file);
            }
            if directory.join(".git").exists() {
                return None;
            }
        }
        None
    }

    /// Reads a configuration and the packs beside it.
    ///
    /// # Errors
    /// As for [`Setup::load`].
    pub fn read(found: Option<PathBuf>, packs: &[PathBuf], targets: &[PathBuf]) -> Result<Self, String> {
        let (root, gate) = (root(targets), &gate(targets));
        let mut faults = Faults::default();
        let mut rules = Ruleset::builtin();
        for directory in packs {
            faults.add_pack(&mut rules, directory, gate)?;
        }
        // Whoever calls gpulint may replace rules.
        faults.replaced.clear();
        let (mut config, mut file, mut base) = (Config::default(), None, cwd());
        let configuration = found.clone();
        let (mut driver_files, mut by) = (Vec::new(), Vec::new());
        if let Some(path) = found {
            let refused = |path: &Path, reason: Reason| format!("{}: {reason}", shown(path));
            let text = gate.read(&path, MAX_SETTINGS).map_err(|reason| refused(&path, reason))?;
            faults.read.push(path.clone());
            let id = faults.source(&path, &text);
            let (read, problems) = config::parse(id, &text);
            faults.extend(problems);
            base = base.join(path.with_file_name(""));
            let home = base.canonicalize().unwrap_or_else(|_| base.clone());
            let below = |named: &str| gate.admit_below(&home, named);
            for pack in &read.packs {
                match below(&pack.text) {
                    Ok(directory) => faults.add_pack(&mut rules, &directory, gate)?,
                    Err(reason) => faults.tell(pack.span, format!("the pack `{}` is not read: {reason}", pack.text)),
                }
            }
            by = restrictions(&read, std::mem::take(&mut faults.replaced), &rules);
            faults.extend(read.apply(&mut rules));
            for (_, word) in &read.driver_files {
                match below(&word.text).and_then(|path| Ok((gate.read(&path, MAX_SETTINGS)?, path))) {
                    Ok((text, path)) => {
                        if !Config::default().set_driver(0, SourceId(0), &text) {
                            faults.tell(word.span, "there is no column driver_version in this file".to_owned());
                        }
                        driver_files.push((discover::shown(&path, &root), text));
                        faults.read.push(path);
                    }
                    Err(reason) => faults.tell(word.span, format!("`{}` is not read: {reason}", word.text)),
                }
            }
            let shown = discover::shown(&discover::target(&cwd().join(path), &root), &root);
            (config, file) = (read, Some((shown, text)));
        }
        faults.none("the configuration")?;
        let restrictions = file.as_ref().map(|(path, _): &(String, String)| Restrictions { path: path.clone(), by });
        Ok(Self { rules, config, root, base, restrictions, configuration, file, driver_files, read: faults.read })
    }

    /// The configuration and its text.
    pub fn text(&self) -> Option<(PathBuf, String)> {
        Some((self.configuration.clone()?, self.file.as_ref()?.1.clone()))
    }

    /// The configuration with places in the source after `inputs` others, and its sources. `was` tells the text of a file
    /// that is to be gone by instead of the one that it has.
    pub fn after(&self, inputs: usize, was: impl Fn(&str, &str) -> Option<String>) -> (Config, Vec<Source>) {
        match &self.file {
            Some((path, text)) => {
                let text = was(path, text).unwrap_or_else(|| text.clone());
                let (mut config, _) = config::parse(SourceId(inputs as u32), &text);
                let mut sources = vec![Source::new(path.clone(), text)];
                let clusters: Vec<usize> = config.driver_files.iter().map(|(cluster, _)| *cluster).collect();
                for (cluster, (path, text)) in clusters.into_iter().zip(&self.driver_files) {
                    config.set_driver(cluster, SourceId((inputs + sources.len()) as u32), text);
                    sources.push(Source::new(path.clone(), text.clone()));
                }
                (config, sources)
            }
            None => (Config::default(), Vec::new()),
        }
    }
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
