//! From the command line to a verdict: what a run goes by, the files, what is found in them and what is shown of it.

use super::arguments::Lint;
use super::changed::Diff;
use super::files::{Files, cwd, files, gate, named, shown, stdin};
use super::setup::Setup;
use crate::budget::Share;
use crate::config::{self, Config, PYPROJECT};
use crate::discover::{self, Kind, Options, Unsaved};
use crate::facts::{HelmRelease, Listing, ReleaseFormat};
use crate::finding::{Confidence, Finding};
use crate::judge::baseline::{Baseline, Known, Standing};
use crate::judge::{self, Coverage, Unread, Verdict};
use crate::known::Fact;
use crate::language::Language;
use crate::lint;
use crate::parse::{Dialect, Raw, merged, yaml};
use crate::rules::Ruleset;
use crate::source::{Source, SourceId, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a run goes by, and the files that it lints.
pub struct Gathered<'c> {
    lint: &'c Lint,
    setup: Setup,
    files: Files,
    language: Language,
}

/// What a run came to.
pub struct Judged {
    /// What is shown and what is not.
    pub verdict: Verdict,
    /// What findings point into.
    pub sources: Sources,
    /// Where their paths start.
    pub root: PathBuf,
    /// The rules that were asked.
    pub rules: Ruleset,
    /// The configurations.
    pub config: Config,
    /// A path that was named and of which nothing was linted.
    pub empty: Option<PathBuf>,
}

/// What findings are held against: they may be known.
#[derive(Default)]
pub struct Against {
    /// A baseline, and its text.
    pub baseline: Option<(Baseline, String)>,
    /// What changed.
    pub diff: Option<Diff>,
}

/// What is found in files.
pub struct Found {
    /// What is shown and what is not.
    pub verdict: Verdict,
    /// What findings point into.
    pub sources: Sources,
    config: Config,
    empty: Option<PathBuf>,
}

impl<'c> Gathered<'c> {
    /// Reads configuration, rules and files.
    ///
    /// # Errors
    /// What keeps gpulint from its work: the configuration, a pack, a path that does not exist.
    pub fn new(lint: &'c Lint, baseline: Option<&Path>, language: Language) -> Result<Self, String> {
        if let Some(jobs) = lint.jobs {
            // Fails only when the pool exists already, as in tests that run several commands.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs).use_current_thread().build_global();
        }
        let mut setup = Setup::load(lint)?;
        setup.rules.all_kinds = lint.all_kinds;
        setup.rules.tell_in(language);
        let files = match lint.paths.iter().any(|path| path == Path::new("-")) {
            true => stdin(lint)?,
            false => files(&lint.paths, &walk(lint, &setup, baseline))?,
        };
        Ok(Self { lint, setup, files, language })
    }

    /// Reads files, by what is known already, with texts in the place of what some of them hold.
    ///
    /// # Errors
    /// A path that does not exist.
    pub fn by(lint: &'c Lint, (setup, language): (Setup, Language), unsaved: &Unsaved) -> Result<Self, String> {
        let options = Options { unsaved: unsaved.clone(), ..walk(lint, &setup, None) };
        Ok(Self { lint, files: files(&lint.paths, &options)?, setup, language })
    }

    /// Rules are asked only about what stands in some of the files.
    pub fn about(&mut self, files: Option<&BTreeSet<PathBuf>>) {
        let here = |files: &BTreeSet<PathBuf>| {
            let found = self.files.found.iter().filter(|(_, disk)| files.contains(disk));
            found.map(|(path, _)| path.clone()).collect()
        };
        self.setup.rules.about = files.map(here);
    }

    /// What the run went by.
    pub fn into_setup(self) -> Setup {
        self.setup
    }

    /// Where paths are shown from.
    pub fn root(&self) -> &Path {
        &self.setup.root
    }

    /// The configuration of a file and its text: the one that is gone by, or else where one would stand.
    pub fn configuration(&self, path: &str) -> (PathBuf, String) {
        self.setup.text(path).unwrap_or_else(|| (self.setup.root.join(config::FILE_NAME), String::new()))
    }

    /// A path as seen from the directory that its configuration holds for.
    pub fn below<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(self.setup.config.of(path).home.as_str()).unwrap_or(path).trim_start_matches('/')
    }

    /// Every file that was read: nothing is written over them.
    pub fn read(&self) -> Vec<PathBuf> {
        let found = self.files.found.iter().map(|(_, disk)| disk);
        found.chain(&self.setup.read).chain(&self.lint.values).cloned().collect()
    }

    /// The files that are linted.
    pub fn inputs(&self) -> &[lint::Input] {
        &self.files.inputs
    }

    /// Where files stand that no link led to.
    pub fn disks(&self) -> BTreeMap<String, PathBuf> {
        let plain = |(_, disk): &&(String, PathBuf)| disk.symlink_metadata().is_ok_and(|meta| meta.is_file());
        self.files.found.iter().filter(plain).cloned().collect()
    }

    /// Lints the files and judges what is found.
    ///
    /// # Errors
    /// Values that cannot be read, or a diff of other files.
    pub fn judge(mut self, against: &Against) -> Result<Judged, String> {
        let before = against.diff.as_ref().map(|diff| self.before(diff)).transpose()?;
        let inputs = std::mem::take(&mut self.files.inputs);
        let found = self.judged(inputs, against, before)?;
        Ok(self.finish(found))
    }

    /// Lints files in the place of those that were read, and judges what is found.
    ///
    /// # Errors
    /// As for [`Gathered::judge`].
    pub fn judge_with(&self, inputs: Vec<lint::Input>, against: &Against) -> Result<Found, String> {
        let before = against.diff.as_ref().map(|diff| self.before(diff)).transpose()?;
        self.judged(inputs, against, before)
    }

    /// What a run came to, by what was found.
    pub fn finish(self, found: Found) -> Judged {
        let Found { verdict, sources, config, empty } = found;
        Judged { verdict, sources, root: self.setup.root, rules: self.setup.rules, config, empty }
    }

    fn judged(&self, inputs: Vec<lint::Input>, against: &Against, before: Option<Baseline>) -> Result<Found, String> {
        let files = &self.files;
        let by_name = |input: &lint::Input| discover::kind_of(&input.path).is_some();
        let counts = |input: &lint::Input| match input.kind {
            Kind::Chart | Kind::Data => by_name(input),
            _ => true,
        };
        let ids = (0u32..).map(SourceId).zip(&inputs);
        let mut read: Vec<SourceId> = ids.clone().filter(|(_, input)| counts(input)).map(|(id, _)| id).collect();
        let texts = ids.filter(|(_, input)| input.kind == Kind::Text).map(|(id, _)| id).collect::<BTreeSet<_>>();
        let (mut outcome, config) = self.found(inputs, Arc::clone(&files.listing), None)?;
        // Of a text of any sort little is read: it counts where it speaks of GPUs.
        let of = &outcome.coverage;
        read.retain(|id| !texts.contains(id) || of.unread.contains_key(id) || of.understood.contains(id));
        let unread = std::mem::take(&mut outcome.skipped);
        let seen = read.len() + files.skipped.len();
        let not_read: BTreeSet<&str> = unread.iter().map(|(path, _)| path.as_str()).collect();
        read.retain(|id| !not_read.contains(outcome.sources.get(*id).path.as_str()));
        let mut skipped = [&files.skipped[..], &unread].concat();
        skipped.sort();
        let empty = empty(self.lint, &files.found, &skipped).cloned();
        let coverage = Coverage {
            seen,
            skipped,
            excluded: files.excluded.clone(),
            configurations: self.setup.restrictions.clone(),
            notes: std::mem::take(&mut outcome.notes),
            ..coverage(&read, &mut outcome)
        };
        let baseline = against.baseline.clone().map(|(known, text)| {
            let source = Source::new(known.name.clone(), text);
            (known, Span::new(outcome.sources.push(source), 0..0))
        });
        let sources = outcome.sources;
        let touched = |finding: &Finding| against.diff.as_ref().is_some_and(|diff| diff.touches(finding, &sources));
        let input = judge::Input {
            findings: outcome.evaluation.findings,
            undecided: outcome.evaluation.undecided,
            comments: &outcome.comments,
            annotations: outcome.annotations,
            coverage,
            baseline,
            before: before.map(|known| judge::Before { known, touched: &touched }),
            rules: Some(&self.setup.rules),
        };
        let mut verdict = judge::judge(input, &sources, &config, &wishes(self.lint));
        verdict.shown.iter_mut().for_each(|finding| finding.tell_in(self.language));
        Ok(Found { verdict, sources, config, empty })
    }

    /// What the rules find in files; of a tree before a diff, with the configuration as it was.
    fn found(
        &self,
        inputs: Vec<lint::Input>,
        listing: Arc<Listing>,
        diff: Option<&Diff>,
    ) -> Result<(lint::Outcome, Config), String> {
        let count = inputs.len();
        let was = |path: &str, text: &str| diff?.undo(path, text, &self.setup.root).ok()?;
        // The configuration comes after the files, so that its facts have places too.
        let (config, mut extra) = self.setup.after(count, was);
        let mut declared = config.facts();
        declared.listing = Some(listing);
        declared.releases.extend(given(self.lint, count, &mut extra)?);
        let mut outcome = lint::check(inputs, declared, extra, &self.setup.rules);
        outcome.told_once(count);
        let reasons: BTreeMap<&str, &str> =
            self.files.skipped.iter().map(|(path, why)| (path.as_str(), why.as_str())).collect();
        for (path, why) in self.files.unlinted.iter().filter(|(path, _)| diff.is_none_or(|diff| !diff.changed(path))) {
            let reason = reasons.get(path.as_str()).copied().unwrap_or_default();
            let id = outcome.sources.push(Source::new(path.clone(), ""));
            outcome.evaluation.findings.push(Finding::not_linted(*why, Span::new(id, 0..0), reason));
        }
        if self.lint.no_suppressions || self.lint.isolated {
            outcome.comments.clear();
            outcome.annotations.clear();
        }
        Ok((outcome, config))
    }

    /// What was found before a diff.
    fn before(&self, diff: &Diff) -> Result<Baseline, String> {
        let before = diff.before(&self.files.inputs, &self.files.listing, &self.setup.root)?;
        let (outcome, config) = self.found(before.inputs, Arc::new(before.listing), Some(diff))?;
        let input = judge::Input {
            findings: outcome.evaluation.findings,
            undecided: outcome.evaluation.undecided,
            comments: &outcome.comments,
            annotations: outcome.annotations,
            ..judge::Input::default()
        };
        let verdict = judge::judge(input, &outcome.sources, &config, &wishes(self.lint));
        let known = verdict.shown.iter().map(|finding| Known::of(finding, &outcome.sources));
        let known = known.map(|known| Known { path: diff.renamed(known.path), ..known }).collect();
        let here: BTreeSet<&str> = self.files.inputs.iter().map(|input| input.path.as_str()).collect();
        let standing = |path: &str| Standing { linted: false, there: here.contains(path) };
        Ok(Baseline::new("the diff".to_owned(), known, standing))
    }
}

/// What the command line asks for.
fn wishes(lint: &Lint) -> judge::Options {
    judge::Options {
        select: lint.select.clone(),
        ignore: lint.ignore.clone(),
        min_confidence: lint.min_confidence.map(Confidence::from),
        today: jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date(),
    }
}

/// What of the files that were read was understood.
fn coverage(read: &[SourceId], outcome: &mut lint::Outcome) -> Coverage {
    let lint::Coverage { understood, mut unread } = std::mem::take(&mut outcome.coverage);
    let mut out = Coverage::default();
    for id in read {
        let partly = understood.contains(id);
        out.understood += usize::from(partly);
        match unread.remove(id) {
            Some(words) => out.unread.push(Unread { partly, words }),
            None => out.nothing += usize::from(!partly),
        }
    }
    out
}

/// What is found below the paths, and what is left out.
fn walk(lint: &Lint, setup: &Setup, baseline: Option<&Path>) -> Options {
    // What other tools go by is read for what it says of those.
    let own = setup.configurations().filter(|path| !path.ends_with(PYPROJECT));
    Options {
        exclude: setup.exclude.clone(),
        own: own.cloned().chain(baseline.map(Path::to_owned)).collect(),
        force_exclude: lint.force_exclude,
        no_ignore: lint.no_ignore || lint.isolated,
        max_read: lint.max_read.saturating_mul(1 << 20),
        root: setup.root.clone(),
        ..Options::new(cwd())
    }
}

/// A path that was named and of which nothing was linted. Files that `--force-exclude` leaves out are meant to be.
fn empty<'c>(lint: &'c Lint, found: &[(String, PathBuf)], skipped: &[(String, String)]) -> Option<&'c PathBuf> {
    let skipped: BTreeSet<&str> = skipped.iter().map(|(path, _)| path.as_str()).collect();
    let linted = |(path, _): &&(String, PathBuf)| discover::kind_of(path).is_some() && !skipped.contains(path.as_str());
    let linted: Vec<&PathBuf> = found.iter().filter(linted).map(|(_, disk)| disk).collect();
    lint.paths.iter().filter(|path| *path != Path::new("-")).find(|path| {
        let root: PathBuf = cwd().join(path).components().collect();
        let left_out = lint.force_exclude && root.is_file();
        !left_out && !linted.iter().any(|disk| disk.starts_with(&root))
    })
}

/// The release of any chart with values that the command line names; their files come after the other sources.
fn given(lint: &Lint, inputs: usize, extra: &mut Vec<Source>) -> Result<Option<Arc<HelmRelease>>, String> {
    let mut layers = Vec::new();
    let gate = gate(&lint.paths);
    for path in &lint.values {
        let text = named(path, &gate)?;
        let id = SourceId((inputs + extra.len()) as u32);
        let tree = Arc::new(yaml::parse(id, &text, Dialect::Kubernetes));
        let root = yaml::root(&tree).filter(|root| root.is_map() && tree.problems.is_empty());
        layers.push(Raw::new(&tree, root.ok_or_else(|| format!("{}: not a mapping", shown(path)))?.view()));
        extra.push(Source::new(shown(path), text));
    }
    let Some(last) = layers.last() else { return Ok(None) };
    let mut release = HelmRelease::blank(last.place);
    release.format = Fact::value(ReleaseFormat::CommandLine, last.place);
    release.values = merged(&layers, &Share::of(1, 0)).map_err(|spent| format!("--values: {spent}"))?;
    Ok(Some(Arc::new(release)))
}
