//! Findings into a verdict: what is shown, what is waived and why, which waivers are stale. Knows the
//! configuration and suppressions; knows nothing of how findings are made.

pub mod baseline;
mod suppress;
mod waiting;
pub mod waive;

pub use suppress::{Annotation, is_directive};
pub use waiting::{Waiting, waiting};

use crate::config::Config;
use crate::finding::{Confidence, Finding, OWN_PACK, STALE_BASELINE, Severity, Undecided};
use crate::paths;
use crate::rules::Ruleset;
use crate::source::{Sources, Span};
use baseline::{Baseline, Known};
use jiff::civil::Date;
use std::collections::BTreeSet;

/// Which files were looked at.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Files seen.
    pub seen: usize,
    /// How many of them facts came out of.
    pub understood: usize,
    /// How many of them were read, speak of no GPU, and hold nothing that we know.
    pub nothing: usize,
    /// Where the others, and parts of those that facts came out of, speak of GPUs.
    pub unread: Vec<Unread>,
    /// Paths and reasons of those that were not read.
    pub skipped: Vec<(String, String)>,
    /// How many files and directories were not looked at, by what left them out.
    pub excluded: Vec<(String, usize)>,
    /// The configurations, with what they turn off.
    pub configurations: Vec<Restrictions>,
    /// Files that were read in part, and charts that were not judged or with and without what operators serve: paths, with what to
    /// know of it.
    pub notes: Vec<(String, String)>,
}

/// Where a file speaks of GPUs and no fact came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Whether facts came out of other parts of the file.
    pub partly: bool,
    /// The first word of each line that does.
    pub words: Vec<Span>,
}

impl Unread {
    /// What of the file was not understood, with the words that speak of GPUs there.
    pub fn text(&self, sources: &Sources) -> String {
        const MOST: usize = 5;
        let mut words: Vec<&str> = Vec::new();
        for word in self.words.iter().map(|word| &sources.get(word.source).text[word.range()]) {
            if !words.contains(&word) && words.len() <= MOST {
                words.push(word);
            }
        }
        let more = if words.len() > MOST { ", …" } else { "" };
        let part = if self.partly { " in part" } else { "" };
        let lines = self.words.len();
        let on = if lines == 1 { "one line speaks".to_owned() } else { format!("{lines} lines speak") };
        format!("not understood{part}: {on} of GPUs ({}{more})", words[..words.len().min(MOST)].join(", "))
    }
}

impl Coverage {
    /// The same of files under other paths.
    pub fn renamed(mut self, name: impl Fn(&str) -> String) -> Self {
        let paths = self.skipped.iter_mut().chain(&mut self.notes).map(|(path, _)| path);
        paths.chain(self.configurations.iter_mut().map(|by| &mut by.path)).for_each(|path| *path = name(path));
        self
    }

    /// How many files were read.
    pub fn linted(&self) -> usize {
        self.understood + self.nothing + self.not_understood()
    }

    /// How many files speak of GPUs and were not understood.
    pub fn not_understood(&self) -> usize {
        self.unread.iter().filter(|unread| !unread.partly).count()
    }

    /// How many files were understood in part.
    pub fn partly(&self) -> usize {
        self.unread.iter().filter(|unread| unread.partly).count()
    }
}

/// What a configuration keeps from being told.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Restrictions {
    /// The configuration.
    pub path: String,
    /// What of it does so, with the names that it gives.
    pub by: Vec<(&'static str, Vec<String>)>,
}

impl Restrictions {
    /// One line for each.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        const MOST: usize = 3;
        self.by.iter().map(|(what, names)| {
            let shown = names[..names.len().min(MOST)].join(", ");
            match names.len().saturating_sub(MOST) {
                0 => format!("{what}: {shown}"),
                more => format!("{what}: {shown} and {more} more"),
            }
        })
    }
}

/// What a run found, before anybody's wishes are applied.
#[derive(Default)]
pub struct Input<'a> {
    /// Findings of every rule.
    pub findings: Vec<Finding>,
    /// What could not be decided.
    pub undecided: Vec<Undecided>,
    /// Comments of every file, from the comment sign on.
    pub comments: &'a [Span],
    /// Suppressions written as annotations of objects.
    pub annotations: Vec<Annotation>,
    /// Which files were looked at.
    pub coverage: Coverage,
    /// What is known already, and where it is stated.
    pub baseline: Option<(Baseline, Span)>,
    /// What was found before a change.
    pub before: Option<Before<'a>>,
    /// The rules that may be waived, where they are known.
    pub rules: Option<&'a Ruleset>,
}

/// What was found before a change, which is shown again only where the change touches it.
pub struct Before<'a> {
    /// What was found.
    pub known: Baseline,
    /// Whether the change touches a finding.
    pub touched: &'a dyn Fn(&Finding) -> bool,
}

/// What was asked for on this run; the configuration fills what is left open.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only these rules or packs; empty for all.
    pub select: Vec<String>,
    /// Not these rules or packs.
    pub ignore: Vec<String>,
    /// Least confidence.
    pub min_confidence: Option<Confidence>,
    /// The day on which suppressions expire or not.
    pub today: Date,
}

/// The outcome of a run.
#[derive(Debug, Default, Clone)]
pub struct Verdict {
    /// Findings to show, in the order of places.
    pub shown: Vec<Finding>,
    /// Findings that somebody waived, with the reason given.
    pub waived: Vec<(Finding, String)>,
    /// What could not be decided.
    pub undecided: Vec<Undecided>,
    /// Which files were looked at.
    pub coverage: Coverage,
    /// What held findings back because they are known: they are waived.
    pub held_back: Vec<HeldBack>,
}

/// Something that knows findings already.
#[derive(Debug, Clone)]
pub struct HeldBack {
    /// What it is called.
    pub by: String,
    /// How many findings it holds back.
    pub count: usize,
    /// What it knows and was found, as it was found, or was not looked for.
    pub kept: Vec<Known>,
    /// What it knows and is found no more.
    pub stale: Vec<Known>,
}

impl HeldBack {
    /// In words.
    pub fn text(&self) -> String {
        let stale =
            if self.stale.is_empty() { String::new() } else { format!(", which has {} stale", self.stale.len()) };
        format!("{} held back by {}{stale}", self.count, self.by)
    }
}

impl Verdict {
    /// How many findings somebody waived one by one.
    pub fn waived_apart(&self) -> usize {
        self.waived.len().saturating_sub(self.held_back.iter().map(|by| by.count).sum())
    }

    /// How many findings of a severity are shown.
    pub fn count(&self, severity: Severity) -> usize {
        self.shown.iter().filter(|f| f.severity == severity).count()
    }
}

/// Judges the findings of a run.
pub fn judge(input: Input<'_>, sources: &Sources, config: &Config, options: &Options) -> Verdict {
    // Every finding meets the suppressions, wanted or not: a suppression is not stale because of `--select`.
    let mut waivers = suppress::Waivers::collect(&input, sources, config);
    let (undecided, coverage) = (input.undecided, input.coverage);
    let mut verdict = Verdict { undecided, coverage, ..Verdict::default() };
    for finding in input.findings {
        match waivers.waive(&finding, sources, (config, options.today)) {
            Some(reason) => verdict.waived.push((finding, reason)),
            None => verdict.shown.push(finding),
        }
    }
    let own = waivers.findings(&verdict.undecided, (sources, input.rules), (config, options.today));
    verdict.shown.extend(own);
    let wish = Wishes::new(config, options, sources);
    if let Some(known) = input.baseline {
        verdict.hold_back(known, sources, (config, &wish));
    }
    if let Some(Before { mut known, touched }) = input.before {
        let (touched, rest): (Vec<_>, Vec<_>) = verdict.shown.into_iter().partition(touched);
        let (new, held) = known.split(rest, sources);
        verdict.shown = [touched, new].concat();
        let by = HeldBack { by: known.name, count: 0, kept: Vec::new(), stale: Vec::new() };
        verdict.waive_known(held, by, &wish);
    }
    verdict.shown.retain_mut(|finding| wish.of(finding.span).override_own(finding) && wish.wants(finding));
    verdict.waived.retain(|(finding, _)| wish.wants(finding));
    verdict.undecided.retain(|one| wish.of(one.span).wants(&one.rule, &one.pack, one.confidence));
    verdict.shown.sort_by(|a, b| (a.span, &a.rule, &a.message).cmp(&(b.span, &b.rule, &b.message)));
    verdict
}

impl Verdict {
    /// Waives what a baseline knows. Every finding meets it, wanted or not, as for suppressions.
    fn hold_back(
        &mut self,
        (mut known, at): (Baseline, Span),
        sources: &Sources,
        (config, wish): (&Config, &Wishes<'_>),
    ) {
        let (new, held) = known.split(std::mem::take(&mut self.shown), sources);
        self.shown = new;
        let undecided: BTreeSet<(&str, &str)> =
            self.undecided.iter().map(|one| (one.rule.as_str(), one.entity.as_str())).collect();
        // A rule that is off or that could not be decided may fire tomorrow.
        let open = |one: &Known| {
            config.of(&one.path).severity(&one.rule) == Some(None)
                || undecided.contains(&(one.rule.as_str(), one.entity.as_str()))
        };
        let stale = known.stale(open);
        let found = held.iter().map(|finding| Known::of(finding, sources));
        let kept = found.chain(known.untried(open)).collect();
        if let Some(first) = stale.first() {
            let at = sources
                .get(at.source)
                .text
                .find(&first.meaning)
                .map_or(at, |start| Span::new(at.source, start..start + first.meaning.len()));
            self.shown.push(over(&stale, &known.name, at));
        }
        self.waive_known(held, HeldBack { by: known.name, count: 0, kept, stale }, wish);
    }

    fn waive_known(&mut self, held: Vec<Finding>, by: HeldBack, wish: &Wishes<'_>) {
        let held: Vec<Finding> = held.into_iter().filter(|finding| wish.wants(finding)).collect();
        let by = HeldBack { count: held.len(), ..by };
        self.waived.extend(held.into_iter().map(|finding| (finding, format!("held back by {}", by.by))));
        self.held_back.push(by);
    }
}

/// That a baseline knows what is found no more.
fn over(stale: &[Known], baseline: &str, at: Span) -> Finding {
    const MOST: usize = 3;
    let named = |one: &Known| match one.entity.replace(&one.path, "").as_str() {
        "" => format!("{} in {}", one.rule, one.path),
        entity => format!("{} of {entity} in {}", one.rule, one.path),
    };
    let names: Vec<String> = stale.iter().take(MOST).map(named).collect();
    let more = if stale.len() > MOST { format!(" and {} more", stale.len() - MOST) } else { String::new() };
    let message = format!("{baseline} knows what is found no more: {}{more}", names.join(", "));
    let help = "remove it with `gpulint baseline --prune`".to_owned();
    Finding { help: Some(help), ..Finding::own(STALE_BASELINE, Severity::Info, at, message) }
}

/// What the command line and each configuration ask for together.
struct Wishes<'a> {
    all: Vec<Wish<'a>>,
    sources: &'a Sources,
}

impl<'a> Wishes<'a> {
    fn new(config: &'a Config, options: &'a Options, sources: &'a Sources) -> Self {
        Self { all: config.all().map(|config| Wish::new(config, options)).collect(), sources }
    }

    /// What holds at a place.
    fn of(&self, place: Span) -> &Wish<'a> {
        let path = &self.sources.get(place.source).path;
        let all = self.all.iter().map(|wish| (wish.config.home.as_str(), wish));
        paths::nearest(path, all).unwrap_or(&self.all[0])
    }

    fn wants(&self, finding: &Finding) -> bool {
        self.of(finding.span).wants(&finding.rule, &finding.pack, finding.confidence)
    }
}

/// What the command line and a configuration ask for together.
struct Wish<'a> {
    config: &'a Config,
    select: Vec<&'a str>,
    ignore: Vec<&'a str>,
    least: Confidence,
}

impl<'a> Wish<'a> {
    fn new(config: &'a Config, options: &'a Options) -> Self {
        let mut select: Vec<&str> = options.select.iter().map(String::as_str).collect();
        if select.is_empty() {
            select = config.select.iter().map(|w| w.text.as_str()).collect();
        }
        let ignore = options.ignore.iter().map(String::as_str);
        Self {
            config,
            select,
            ignore: ignore.chain(config.ignore.iter().map(|w| w.text.as_str())).collect(),
            least: options.min_confidence.or(config.min_confidence).unwrap_or(Confidence::Medium),
        }
    }

    fn wants(&self, rule: &str, pack: &str, confidence: Confidence) -> bool {
        let named = |list: &[&str]| list.iter().any(|w| *w == rule || *w == pack);
        // What gpulint says about the run itself is no rule that was left unselected.
        let selected = self.select.is_empty() || named(&self.select) || pack == OWN_PACK;
        let sure = confidence >= self.least || self.select.contains(&rule);
        selected && sure && !named(&self.ignore)
    }

    /// Applies a severity that the configuration gives one of gpulint's own findings; whether it is still on.
    fn override_own(&self, finding: &mut Finding) -> bool {
        if finding.pack != OWN_PACK {
            return true;
        }
        let given = match finding.unlinted {
            Some(why) => self.config.not_linted(why),
            None => self.config.severity(&finding.rule),
        };
        match given {
            Some(Some(severity)) => finding.severity = severity,
            Some(None) => return false,
            None => {}
        }
        true
    }
}

#[cfg(test)]
mod tests;
