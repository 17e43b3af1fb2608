//! What a run goes by: the rules, the packs beside them and the configuration. Everything that is wrong with them
//! is told at once, drawn at its place.

use super::arguments::Check;
use super::files::cwd;
use crate::config::{self, Config};
use crate::finding::{Finding, OWN_PACK, OWN_RULES, Severity};
use crate::parse::Problem;
use crate::report::human::{self, HumanOptions};
use crate::rules::Ruleset;
use crate::source::{Source, SourceId, Sources};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What a run goes by.
pub struct Setup {
    /// The rules, with the configuration's changes.
    pub rules: Ruleset,
    /// The configuration; its places are of a run that holds nothing else.
    pub config: Config,
    /// The directory that paths of the configuration start from.
    pub base: PathBuf,
    /// Path and text of the configuration, if there is one.
    file: Option<(String, String)>,
    /// Paths and texts of the files that name drivers.
    driver_files: Vec<(String, String)>,
}

impl Setup {
    /// Reads configuration and packs.
    ///
    /// # Errors
    /// A file that cannot be read, or everything that is wrong with them.
    pub fn load(check: &Check) -> Result<Self, String> {
        let config = check.config.clone().or_else(|| Self::find(&check.paths));
        let setup = Self::read(config, &check.rules)?;
        for word in check.select.iter().chain(&check.ignore) {
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
            if file.is_file() {
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
    pub fn read(found: Option<PathBuf>, packs: &[PathBuf]) -> Result<Self, String> {
        let mut faults = Faults::default();
        let mut rules = Ruleset::builtin();
        for directory in packs {
            faults.add_pack(&mut rules, directory)?;
        }
        let (mut config, mut file, mut base) = (Config::default(), None, cwd());
        let mut driver_files = Vec::new();
        if let Some(path) = found {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let id = faults.source(&path, &text);
            let (read, problems) = config::parse(id, &text);
            faults.extend(problems);
            for pack in &read.packs {
                faults.add_pack(&mut rules, &path.with_file_name("").join(&pack.text))?;
            }
            faults.extend(read.apply(&mut rules));
            for (_, word) in &read.driver_files {
                let path = path.with_file_name("").join(&word.text);
                let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                if !Config::default().set_driver(0, SourceId(0), &text) {
                    let message = "there is no column driver_version in this file".to_owned();
                    faults.extend(vec![Problem { span: word.span, message }]);
                }
                driver_files.push((shown(&path), text));
            }
            base = base.join(path.with_file_name(""));
            (config, file) = (read, Some((shown(&path), text)));
        }
        faults.none("the configuration")?;
        Ok(Self { rules, config, base, file, driver_files })
    }

    /// The configuration with places in the source after `inputs` others, and its sources.
    pub fn after(&self, inputs: usize) -> (Config, Vec<Source>) {
        match &self.file {
            Some((path, text)) => {
                let (mut config, _) = config::parse(SourceId(inputs as u32), text);
                let mut sources = vec![Source::new(path.clone(), text.clone())];
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

/// A path as reports show it.
fn shown(path: &Path) -> String {
    let cwd = cwd();
    path.strip_prefix(&cwd).unwrap_or(path).to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

/// Adds the rule files of a directory.
///
/// # Errors
/// A file that is not readable or not right, with all of its faults.
pub fn add_pack(rules: &mut Ruleset, directory: &Path) -> Result<(), String> {
    let mut faults = Faults::default();
    faults.add_pack(rules, directory)?;
    faults.none("the rules")
}

/// What is wrong with what the user wrote for gpulint.
#[derive(Default)]
struct Faults {
    sources: Sources,
    findings: Vec<Finding>,
}

impl Faults {
    fn source(&mut self, path: &Path, text: &str) -> SourceId {
        self.sources.push(Source::new(shown(path), text))
    }

    fn extend(&mut self, problems: Vec<Problem>) {
        let own = |problem: Problem| Finding::own("configuration", Severity::Error, problem.span, problem.message);
        self.findings.extend(problems.into_iter().map(own));
    }

    fn add_pack(&mut self, rules: &mut Ruleset, directory: &Path) -> Result<(), String> {
        let mut paths: Vec<PathBuf> = walkdir::WalkDir::new(directory)
            .into_iter()
            .filter_map(Result::ok)
            .map(walkdir::DirEntry::into_path)
            .filter(|p| p.extension().is_some_and(|e| e == "yaml" || e == "yml"))
            .collect();
        paths.sort();
        if paths.is_empty() {
            return Err(format!("{}: no rule files", directory.display()));
        }
        for path in paths {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let id = self.source(&path, &text);
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
        let options = HumanOptions { color: false, width: human::WIDTH, show_unknown: false, summary: false };
        let drawn = human::problems(&self.findings, &self.sources, &options);
        if self.findings.iter().all(|finding| finding.severity < Severity::Error) {
            let _ = writeln!(std::io::stderr().lock(), "{}", drawn.trim_end());
            return Ok(());
        }
        Err(format!("{what} cannot be used\n\n{}", drawn.trim_end()))
    }
}
