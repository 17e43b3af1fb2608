//! `gpulint check`.

use super::arguments::Check;
use super::files::{cwd, files, gate, named, shown, stdin};
use super::output::Output;
use super::setup::Setup;
use super::{CLEAN, FINDINGS, print_as_is};
use crate::budget::Share;
use crate::discover::{self, Kind, Options};
use crate::facts::{HelmRelease, ReleaseFormat};
use crate::finding::{Confidence, Finding, Severity};
use crate::judge::{self, Coverage, Unread, Verdict};
use crate::known::Fact;
use crate::lint;
use crate::parse::{Dialect, Raw, merged, yaml};
use crate::report::Report;
use crate::report::human::{self, HumanOptions};
use crate::rules::Ruleset;
use crate::source::{Source, SourceId, Sources, Span};
use clap::ColorChoice;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the command.
///
/// # Errors
/// gpulint could not do its work.
pub fn run(check: &Check) -> Result<u8, String> {
    if let Some(jobs) = check.jobs {
        // Fails only when the pool exists already, as in tests that run several commands.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs).use_current_thread().build_global();
    }
    let mut setup = Setup::load(check)?;
    setup.rules.all_kinds = check.all_kinds;
    let language = check.told.language();
    setup.rules.tell_in(language);
    let files = match check.paths.iter().any(|path| path == Path::new("-")) {
        true => stdin(check)?,
        false => files(&check.paths, &walk(check, &setup))?,
    };
    let found: Vec<PathBuf> = files.found.iter().map(|(_, disk)| disk.clone()).collect();
    let outputs = outputs(check, &[found, setup.read.clone(), check.values.clone()].concat())?;
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
    declared.releases.extend(given(check, files.inputs.len(), &mut extra)?);
    let mut outcome = lint::check(files.inputs, declared, extra, &setup.rules);
    let reasons: BTreeMap<&str, &str> = files.skipped.iter().map(|(path, why)| (path.as_str(), why.as_str())).collect();
    for (path, why) in files.unlinted {
        let reason = reasons.get(path.as_str()).copied().unwrap_or_default();
        let id = outcome.sources.push(Source::new(path, ""));
        outcome.evaluation.findings.push(Finding::not_linted(why, Span::new(id, 0..0), reason));
    }
    let waives = !check.no_suppressions && !check.isolated;
    let annotations = if waives { std::mem::take(&mut outcome.annotations) } else { Vec::new() };
    let unread = std::mem::take(&mut outcome.skipped);
    let seen = read.len() + files.skipped.len();
    let not_read: BTreeSet<&str> = unread.iter().map(|(path, _)| path.as_str()).collect();
    read.retain(|id| !not_read.contains(outcome.sources.get(*id).path.as_str()));
    let mut skipped = [files.skipped, unread].concat();
    skipped.sort();
    let empty = empty(check, &files.found, &skipped);
    let coverage = Coverage {
        seen,
        skipped,
        excluded: files.excluded,
        configuration: setup.restrictions.clone(),
        notes: std::mem::take(&mut outcome.notes),
        ..coverage(&read, &mut outcome)
    };
    let all_read = coverage.unread.is_empty();
    let input = judge::Input {
        findings: outcome.evaluation.findings,
        undecided: outcome.evaluation.undecided,
        comments: if waives { &outcome.comments } else { &[] },
        annotations,
        coverage,
    };
    let wishes = judge::Options {
        select: check.select.clone(),
        ignore: check.ignore.clone(),
        min_confidence: check.min_confidence.map(Confidence::from),
        today: jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date(),
    };
    let mut verdict = judge::judge(input, &outcome.sources, &config, &wishes);
    verdict.shown.iter_mut().for_each(|finding| finding.tell_in(language));
    write(check, &outputs, &verdict, &outcome.sources, &setup.rules)?;
    let fail_on = check.fail_on.map(Severity::from).or(config.fail_on).unwrap_or(Severity::Error);
    let failed = verdict.shown.iter().any(|f| f.severity >= fail_on) || check.fail_on_unread && !all_read;
    // The process ends here: giving back piece by piece what it holds is for nothing.
    std::mem::forget((setup.rules, verdict, outcome.sources));
    match empty {
        _ if failed && !check.exit_zero => Ok(FINDINGS),
        Some(path) if !check.allow_empty => {
            Err(format!("nothing was linted of {}; --allow-empty takes that as no fault", shown(path)))
        }
        _ => Ok(CLEAN),
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
fn walk(check: &Check, setup: &Setup) -> Options {
    Options {
        exclude: setup.config.exclude.iter().map(|word| word.text.clone()).collect(),
        base: setup.base.clone(),
        configuration: setup.configuration.clone(),
        force_exclude: check.force_exclude,
        no_ignore: check.no_ignore || check.isolated,
        max_read: check.max_read.saturating_mul(1 << 20),
        ..Options::new(cwd())
    }
}

/// A path that was named and of which nothing was linted. Files that `--force-exclude` leaves out are meant to be.
fn empty<'c>(check: &'c Check, found: &[(String, PathBuf)], skipped: &[(String, String)]) -> Option<&'c PathBuf> {
    let skipped: BTreeSet<&str> = skipped.iter().map(|(path, _)| path.as_str()).collect();
    let linted = |(path, _): &&(String, PathBuf)| discover::kind_of(path).is_some() && !skipped.contains(path.as_str());
    let linted: Vec<&PathBuf> = found.iter().filter(linted).map(|(_, disk)| disk).collect();
    check.paths.iter().filter(|path| *path != Path::new("-")).find(|path| {
        let root: PathBuf = cwd().join(path).components().collect();
        let left_out = check.force_exclude && root.is_file();
        !left_out && !linted.iter().any(|disk| disk.starts_with(&root))
    })
}

/// The release of any chart with values that the command line names; their files come after the other sources.
fn given(check: &Check, inputs: usize, extra: &mut Vec<Source>) -> Result<Option<Arc<HelmRelease>>, String> {
    let mut layers = Vec::new();
    let gate = gate(&check.paths);
    for path in &check.values {
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

/// The files that reports are written to.
fn outputs(check: &Check, read: &[PathBuf]) -> Result<Vec<Output>, String> {
    if let Some(surplus) = check.output.get(check.format.len()) {
        return Err(format!("--output {}: no --format is left for it", shown(surplus)));
    }
    if let Some(twice) = check.output.iter().enumerate().find(|(i, path)| check.output[..*i].contains(path)) {
        return Err(format!("--output {}: given twice", shown(twice.1)));
    }
    let gate = gate(&check.paths);
    check.output.iter().map(|path| Output::new(path, read, &gate)).collect()
}

/// Writes every report that was asked for.
fn write(
    check: &Check,
    outputs: &[Output],
    verdict: &Verdict,
    sources: &Sources,
    rules: &Ruleset,
) -> Result<(), String> {
    for (i, reporter) in check.format.iter().enumerate() {
        let output = outputs.get(i);
        let human = human_options(check, output.is_none());
        let text = (reporter.write)(&Report { verdict, sources, rules, human });
        match output {
            Some(output) => output.write(&text)?,
            None => print_as_is(&text)?,
        }
    }
    Ok(())
}

fn human_options(check: &Check, terminal: bool) -> HumanOptions {
    let color = match check.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            terminal && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        }
    };
    HumanOptions {
        color,
        width: human::WIDTH,
        show_unknown: check.show_unknown,
        show_unread: check.show_unread,
        summary: !check.quiet,
    }
}
