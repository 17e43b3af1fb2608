//! Suppressions: comments, annotations and the `ignores` of the configuration. Knows where each holds and
//! whether it was of use.

mod comment;

pub use comment::is_directive;

use super::Input;
use crate::config::{Config, Word};
use crate::finding::{COVERAGE, Finding, Fix, OWN_PACK, Severity, Undecided};
use crate::rules::Ruleset;
use crate::source::{SourceId, Sources, Span};
use crate::suggest;
use globset::GlobMatcher;
use jiff::civil::Date;
use std::collections::{HashMap, HashSet};

/// A suppression written as an annotation of an object.
#[derive(Debug, Clone)]
pub struct Annotation {
    /// The whole object: what starts within it is waived.
    pub scope: Span,
    /// Rules or packs.
    pub rules: Vec<String>,
    /// Why.
    pub reason: Option<String>,
    /// The annotation itself.
    pub span: Span,
}

/// Where a suppression holds.
#[derive(Debug)]
enum Place {
    /// On a line, counted from 0.
    Line(SourceId, usize),
    /// In a file.
    File(SourceId),
    /// Within an object.
    Scope(Span),
    /// In files of a configuration with these paths, as seen from its directory or as shown, for entities whose name
    /// contains the text.
    Named { home: String, path: Option<GlobMatcher>, object: Option<String> },
}

impl Place {
    fn reach(&self) -> Reach {
        match self {
            Place::Line(file, line) => Reach::Line(*file, *line),
            Place::File(file) => Reach::File(*file),
            Place::Scope(scope) => Reach::File(scope.source),
            Place::Named { .. } => Reach::Anywhere,
        }
    }

    fn holds(&self, finding: &Finding, sources: &Sources, config: &Config) -> bool {
        let source = finding.span.source;
        match self {
            Place::Line(file, line) => *file == source && sources.get(source).line_of(finding.span.start) == *line,
            Place::File(file) => *file == source,
            Place::Scope(scope) => {
                scope.source == source && scope.start <= finding.span.start && finding.span.start < scope.end
            }
            Place::Named { home, path, object } => {
                let shown = sources.get(source).path.as_str();
                let below = shown.strip_prefix(home.as_str()).and_then(|below| below.strip_prefix('/'));
                config.of(shown).home == *home
                    && path.as_ref().is_none_or(|glob| below.into_iter().chain([shown]).any(|path| glob.is_match(path)))
                    && object.as_ref().is_none_or(|text| finding.entity.contains(text.as_str()))
            }
        }
    }
}

/// One suppression.
#[derive(Debug)]
struct Waiver {
    place: Place,
    words: Vec<(Word, bool)>,
    reason: Option<String>,
    until: Option<Date>,
    span: Span,
}

impl Waiver {
    fn expired(&self, today: Date) -> bool {
        self.until.is_some_and(|until| until < today)
    }
}

/// Every suppression of a run.
#[derive(Debug, Default)]
pub struct Waivers {
    waivers: Vec<Waiver>,
    /// The words of suppressions, by where to look for them.
    index: HashMap<(Reach, String), Vec<(usize, usize)>>,
    malformed: Vec<Finding>,
}

/// Where a finding looks for what waives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Reach {
    Line(SourceId, usize),
    File(SourceId),
    Anywhere,
}

/// Most words of one suppression that are told to be of no use.
const MOST_UNUSED: usize = 20;

impl Waivers {
    /// Gathers comments, annotations and the configuration's `ignores`.
    pub fn collect(input: &Input<'_>, sources: &Sources, config: &Config) -> Self {
        let mut out = Self::default();
        for &span in input.comments {
            match comment::read(span, sources.get(span.source)) {
                None => {}
                Some(Ok(waiver)) => out.waivers.push(waiver),
                Some(Err((span, why))) => {
                    let help =
                        "write `gpulint: ignore[rule-id] reason=\"…\"`, and `until=2030-12-31` where it shall end";
                    out.malformed.push(own(
                        "malformed-suppression",
                        span,
                        format!("this suppresses nothing: {why}"),
                        help,
                    ));
                }
            }
        }
        out.waivers.extend(input.annotations.iter().map(|a| Waiver {
            place: Place::Scope(a.scope),
            words: a.rules.iter().map(|rule| (Word { text: rule.clone(), span: a.span }, false)).collect(),
            reason: a.reason.clone(),
            until: None,
            span: a.span,
        }));
        let ignores = config.all().flat_map(|config| config.ignores.iter().map(move |i| (&config.home, i)));
        out.waivers.extend(ignores.map(|(home, i)| Waiver {
            place: Place::Named { home: home.clone(), path: i.path.clone(), object: i.object.clone() },
            words: vec![(i.rule.clone(), false)],
            reason: i.reason.clone(),
            until: i.until,
            span: i.rule.span,
        }));
        for (at, waiver) in out.waivers.iter().enumerate() {
            for (word, (text, _)) in waiver.words.iter().enumerate() {
                out.index.entry((waiver.place.reach(), text.text.clone())).or_default().push((at, word));
            }
        }
        out
    }

    /// The reason of a suppression that waives the finding; every suppression that would is marked as used.
    pub fn waive(&mut self, finding: &Finding, sources: &Sources, (config, today): (&Config, Date)) -> Option<String> {
        let source = finding.span.source;
        let coverage = finding.pack == OWN_PACK && COVERAGE.contains(&finding.rule.as_str());
        let placed = [Reach::Line(source, sources.get(source).line_of(finding.span.start)), Reach::File(source)];
        let reaches = placed.into_iter().filter(|_| !coverage).chain([Reach::Anywhere]);
        let mut found: Vec<(usize, usize)> = reaches
            .flat_map(|reach| [&finding.rule, &finding.pack].map(|word| (reach, word.clone())))
            .filter_map(|key| self.index.get(&key))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        let mut waived = None;
        for (at, word) in found {
            let waiver = &mut self.waivers[at];
            if waiver.place.holds(finding, sources, config) {
                waiver.words[word].1 = true;
                if !waiver.expired(today) && waived.is_none() {
                    waived = Some(waiver.reason.clone().unwrap_or_default());
                }
            }
        }
        waived
    }

    /// What is wrong with the suppressions themselves, after every finding was tried.
    pub fn findings(
        self,
        undecided: &[Undecided],
        (sources, rules): (&Sources, Option<&Ruleset>),
        (config, today): (&Config, Date),
    ) -> Vec<Finding> {
        let mut out = self.malformed;
        for found in &mut out {
            // What it names is wrong as well, and would be told next.
            let whole = sources.get(found.span.source);
            let line = whole.text.get(..found.span.start as usize).and_then(|text| text.rsplit('\n').next());
            let listed = line.and_then(|line| line.split_once('[')?.1.split_once(']')).map_or("", |(list, _)| list);
            let words = listed.split(',').map(str::trim).filter(|word| !word.is_empty());
            for word in words.filter(|word| rules.is_some_and(|rules| !rules.names(word))).take(MOST_UNUSED) {
                let hint = rules.map(|rules| rules.hint(word)).unwrap_or_default();
                found.message.push_str(&format!("; there is no rule or pack `{word}`{hint}"));
            }
        }
        // What several configurations extend is one text.
        let at = |word: &Word| (sources.get(word.span.source).path.clone(), word.span.start);
        let words = self.waivers.iter().flat_map(|waiver| &waiver.words);
        let used: HashSet<_> = words.filter(|(_, used)| *used).map(|(word, _)| at(word)).collect();
        let open: HashSet<&str> = undecided.iter().map(|one| one.rule.as_str()).collect();
        for waiver in self.waivers {
            let config = config.of(&sources.get(waiver.span.source).path);
            if waiver.expired(today) {
                let until = waiver.until.map(|d| d.to_string()).unwrap_or_default();
                let message = format!("this suppression expired after {until}");
                out.push(own("expired-suppression", waiver.span, message, "mend the finding, or set a later date"));
                continue;
            }
            if config.require_reason && waiver.reason.as_deref().is_none_or(|r| r.trim().is_empty()) {
                let message = "this suppression gives no reason".to_owned();
                out.push(own("suppression-without-reason", waiver.span, message, "add reason=\"…\""));
            }
            // A rule that is off or that could not be decided may fire tomorrow.
            let idle = |word: &Word| config.severity(&word.text) != Some(None) && !open.contains(word.text.as_str());
            let mut unused =
                waiver.words.iter().filter(|(word, _)| !used.contains(&at(word)) && idle(word)).map(|(word, _)| word);
            let first = out.len();
            for word in unused.by_ref().take(MOST_UNUSED) {
                if let Some(rules) = rules.filter(|rules| !rules.names(&word.text)) {
                    let message = format!("there is no rule or pack `{}`{}", word.text, rules.hint(&word.text));
                    let fix = respelled(word, rules, sources);
                    let help = fix.as_ref().map_or("name what it is to waive, or remove it", |fix| &fix.title);
                    let found = own("unused-suppression", word.span, message, help);
                    out.push(Finding { fix, ..found });
                    continue;
                }
                let message = match COVERAGE.contains(&word.text.as_str()) {
                    true => {
                        format!("`{}` says what was not linted, which only the configuration can accept", word.text)
                    }
                    false => format!("nothing here is found by `{}`, so this suppresses nothing", word.text),
                };
                out.push(own("unused-suppression", word.span, message, "remove it"));
            }
            if let (more @ 1.., Some(last)) = (unused.count(), out[first..].last_mut()) {
                last.message.push_str(&format!(" (and {more} more such words)"));
            }
        }
        out
    }
}

/// The only rule or pack that a word of a suppression that names none can have been meant to name.
fn respelled(word: &Word, rules: &Ruleset, sources: &Sources) -> Option<Fix> {
    let names = rules.all_names();
    let meant = suggest::only(&word.text, names.into_iter()).filter(|_| sources.slice(word.span) == word.text)?;
    Some(Fix { title: format!("write {meant}"), edits: vec![(word.span, meant.to_owned())], safe: true })
}

/// A finding of gpulint about what was written for gpulint.
fn own(rule: &str, span: Span, message: String, help: &str) -> Finding {
    Finding { help: Some(help.to_owned()), ..Finding::own(rule, Severity::Warning, span, message) }
}
