//! From the command line to a verdict: what a run goes by, the files, what is found in them and what is shown of it.

use super::arguments::Lint;
use super::files::{Files, cwd, files, gate, named, shown, stdin};
use super::setup::Setup;
use crate::budget::Share;
use crate::discover::{self, Kind, Options};
use crate::facts::{HelmRelease, ReleaseFormat};
use crate::finding::{Confidence, Finding, Severity};
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
    /// Least severity that the configuration lets fail a run.
    pub fail_on: Option<Severity>,
    /// A path that was named and of which nothing was linted.
    pub empty: Option<PathBuf>,
}

impl<'c> Gathered<'c> {
    /// Reads configuration, rules and files.
    ///
    /// # Errors
    /// What keeps gpulint from its work: the configuration, a pack, a path that does not exist.
    pub fn new(lint: &'c Lint, language: Language) -> Result<Self, String> {
        if let Some(jobs) = lint.jobs {
            // Fails only when the pool exists already, as in tests that run several commands.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs).use_current_thread().build_global();
        }
        let mut setup = Setup::load(lint)?;
        setup.rules.all_kinds = lint.all_kinds;
        setup.rules.tell_in(language);
        let files = match lint.paths.iter().any(|path| path == Path::new("-")) {
            true => stdin(lint)?,
            false => files(&lint.paths, &walk(lint, &setup))?,
        };
        Ok(Self { lint, setup, files, language })
    }

    /// Every file that was read: nothing is written over them.
    pub fn read(&self) -> Vec<PathBuf> {
        let found = self.files.found.iter().map(|(_, disk)| disk);
        found.chain(&self.setup.read).chain(&self.lint.values).cloned().collect()
    }

    /// Lints the files and judges what is found.
    ///
    /// # Errors
    /// Values that cannot be read.
    pub fn judge(self) -> Result<Judged, String> {
        let Self { lint: asked, setup, files, language } = self;
        let by_name = |input: &lint::Input| discover::kind_of(&input.path).is_some();
        let counts = |input: &lint::Input| match input.kind {
            Kind::Chart | Kind::Data => by_name(input),
            Kind::Text => false,
            _ => true,
        };
        let inputs = (0u32..).map(SourceId).zip(&files.inputs);
        let mut read: Vec<SourceId> = inputs.filter(|(_, input)| counts(input)).map(|(id, _)| id).collect();
        // The configuration comes after the files, so that its facts have places too.
        let (config, mut extra) = setup.after(files.inputs.len());
        let mut declared = config.facts();
        declared.listing = Some(files.listing);
        declared.releases.extend(given(asked, files.inputs.len(), &mut extra)?);
        let mut outcome = lint::check(files.inputs, declared, extra, &setup.rules);
        let reasons: BTreeMap<&str, &str> =
            files.skipped.iter().map(|(path, why)| (path.as_str(), why.as_str())).collect();
        for (path, why) in files.unlinted {
            let reason = reasons.get(path.as_str()).copied().unwrap_or_default();
            let id = outcome.sources.push(Source::new(path, ""));
            outcome.evaluation.findings.push(Finding::not_linted(why, Span::new(id, 0..0), reason));
        }
        let waives = !asked.no_suppressions && !asked.isolated;
        let annotations = if waives { std::mem::take(&mut outcome.annotations) } else { Vec::new() };
        let unread = std::mem::take(&mut outcome.skipped);
        let seen = read.len() + files.skipped.len();
        let not_read: BTreeSet<&str> = unread.iter().map(|(path, _)| path.as_str()).collect();
        read.retain(|id| !not_read.contains(outcome.sources.get(*id).path.as_str()));
        let mut skipped = [files.skipped, unread].concat();
        skipped.sort();
        let empty = empty(asked, &files.found, &skipped).cloned();
        let coverage = Coverage {
            seen,
            skipped,
            excluded: files.excluded,
            configuration: setup.restrictions,
            notes: std::mem::take(&mut outcome.notes),
            ..coverage(&read, &mut outcome)
        };
        let input = judge::Input {
            findings: outcome.evaluation.findings,
            undecided: outcome.evaluation.undecided,
            comments: if waives { &outcome.comments } else { &[] },
            annotations,
            coverage,
        };
        let wishes = judge::Options {
            select: asked.select.clone(),
            ignore: asked.ignore.clone(),
            min_confidence: asked.min_confidence.map(Confidence::from),
            today: jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date(),
        };
        let mut verdict = judge::judge(input, &outcome.sources, &config, &wishes);
        verdict.shown.iter_mut().for_each(|finding| finding.tell_in(language));
        Ok(Judged {
            verdict,
            sources: outcome.sources,
            root: setup.root,
            rules: setup.rules,
            fail_on: config.fail_on,
            empty,
        })
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
fn walk(lint: &Lint, setup: &Setup) -> Options {
    Options {
        exclude: setup.config.exclude.iter().map(|word| word.text.clone()).collect(),
        base: setup.base.clone(),
        configuration: setup.configuration.clone(),
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
