//! Branches of a chart that its own values leave off: rendered with values for what is empty, and what is wrong there whatever
//! those values are. Knows what is tried and what it gave; invents no values itself.

use super::contracts::{self, OfKind, Versions};
use crate::budget::Share;
use crate::extract;
use crate::facts::{Breach, BreachClass, Facts, Object};
use crate::parse::Problem;
use crate::render::gotemplate::Doubts;
use crate::render::helm::optional::{self, Form, Optional};
use crate::render::helm::{self, Chart, Rendered, ValueSet};
use crate::source::{SourceId, Sources, Span};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Most questions about one chart that look for the values that turn a fault on, and the fewest.
const MOST: usize = 40;
const FEWEST: usize = 12;
/// So many bytes are rendered for such questions, where that is more than the fewest.
const BYTES: usize = 4 << 20;
/// Most values that are told together; beyond them it is hard to say what is wrong.
const TOGETHER: usize = 3;

/// What is wrong with templates of a chart where values are set that it leaves empty.
#[derive(Debug, Default)]
pub struct Found {
    /// Templates that render to what is no YAML, and fields that no object of the kind has, each with the group and the kind.
    pub breaches: Vec<OfKind>,
    /// Whether gpulint failed on it.
    pub failed: bool,
}

/// Tells a text of a template from others.
pub fn digest(template: SourceId, text: &str) -> u64 {
    let mut out = DefaultHasher::new();
    (template, text).hash(&mut out);
    out.finish()
}

/// What a chart gave as it is.
#[derive(Debug, Default)]
pub struct Before {
    /// [`digest`]s of what templates rendered to.
    pub texts: BTreeSet<u64>,
    /// Templates that rendered to what is no YAML.
    pub broken: BTreeSet<SourceId>,
    /// Templates that were not rendered.
    pub unread: BTreeSet<SourceId>,
}

/// A value as it is written.
type Chosen<'o> = (&'o Optional, Form);

/// Judges a chart with its optional values. A set is one that it is rendered with otherwise.
pub fn judge(chart: &Chart<'_>, set: &ValueSet, before: &Before, (sources, count): (&Sources, usize)) -> Found {
    let optional = optional::of(chart);
    let mut out = Found::default();
    if optional.is_empty() {
        return out;
    }
    let bytes = helm::bytes(chart, set);
    let left = Cell::new((BYTES / bytes.max(1)).clamp(FEWEST, MOST));
    let trial = Trial { chart, set, before, sources, count, share: Share::of(count, bytes), left };
    let mut all: Vec<Chosen<'_>> = optional.iter().map(|one| (one, Form::ALL[0])).collect();
    let mut rendered = trial.render(&all, None);
    let mut given_up = before.broken.clone();
    // What is broken hides what else is wrong with a template.
    while trial.mend(&rendered, &mut all, (&mut given_up, &mut out.breaches)) {
        rendered = trial.render(&all, None);
    }
    let mut told = BTreeSet::new();
    for (template, key, found) in trial.fields(rendered) {
        let place = found.span;
        // What is wrong as the chart is, is told there.
        if told.insert(place)
            && !trial.has_field(template, place, &[])
            && let Some(values) = trial.least(&all, |some| trial.has_field(template, place, some))
        {
            let says = |says: String| format!("{says}, where {}", set_of(&values));
            out.breaches.push((key, Breach { says: found.says.map(says), ..found }));
        }
    }
    out
}

struct Trial<'c> {
    chart: &'c Chart<'c>,
    set: &'c ValueSet,
    before: &'c Before,
    sources: &'c Sources,
    count: usize,
    share: Share,
    left: Cell<usize>,
}

/// What becomes of a template.
#[derive(PartialEq)]
enum Outcome {
    Fine,
    /// It is no YAML.
    Broken(Problem),
    /// It does not take the values.
    Refused,
}

impl Trial<'_> {
    /// Tells which templates are no YAML, and takes the values away that make them so, or writes those in another way that they
    /// do not take as they are written. Whether something changed.
    fn mend(
        &self,
        rendered: &Rendered,
        all: &mut Vec<Chosen<'_>>,
        (given_up, told): (&mut BTreeSet<SourceId>, &mut Vec<OfKind>),
    ) -> bool {
        let broken: BTreeSet<SourceId> = rendered.broken.iter().map(|(template, _)| *template).collect();
        let unread: BTreeSet<SourceId> = rendered.unread.iter().map(|(template, _)| *template).collect();
        let mut changed = false;
        for template in unread.difference(&given_up.clone()) {
            let found = match broken.contains(template) {
                true => self.broken(*template, all).map(|(values, problem)| {
                    let breach = contracts::of_template(self.chart.own_name(), BreachClass::BranchMalformed, problem);
                    told.push(((String::new(), String::new()), breach));
                    values
                }),
                false if self.before.unread.contains(template) => None,
                false => self.least(all, |some| self.outcome(*template, some) == Outcome::Refused),
            };
            let Some(&(culprit, _)) = found.as_deref().and_then(<[_]>::first) else {
                given_up.insert(*template);
                continue;
            };
            let Some(at) = all.iter().position(|(one, _)| *one == culprit) else { continue };
            let taken = culprit.forms().iter().find(|form| {
                all[at].1 = **form;
                self.outcome(*template, all) == Outcome::Fine
            });
            if taken.is_none() {
                all.remove(at);
            }
            changed = true;
        }
        changed
    }

    /// Renders the chart, or one of its templates, with some of the values; what it gave before is left out.
    fn render(&self, some: &[Chosen<'_>], only: Option<SourceId>) -> Rendered {
        let mut layers = self.set.layers.clone();
        layers.push(optional::layer(self.chart, some));
        let set =
            ValueSet { name: String::new(), layers, release: self.set.release.clone(), example: None, deployed: false };
        let wanted = |template, text: Option<&str>| match text {
            None if only.is_some() => only == Some(template),
            None => self.chart.templates().any(|file| file.source == template),
            Some(text) => !self.before.texts.contains(&digest(template, text)),
        };
        let render = || helm::render_some(self.chart, &set, (&Doubts::default(), &self.share), &wanted);
        self.share.for_a_moment(render, |_| 0)
    }

    /// How a template turns out with some of the values.
    fn outcome(&self, template: SourceId, some: &[Chosen<'_>]) -> Outcome {
        let rendered = self.render(some, Some(template));
        let lost = !rendered.unread.is_empty() || !rendered.in_part.is_empty() || rendered.gave_up.is_some();
        match rendered.broken.into_iter().next() {
            Some((_, problem)) => Outcome::Broken(problem),
            None if lost => Outcome::Refused,
            None => Outcome::Fine,
        }
    }

    /// The problem of a template that is no YAML in whatever way the values are written, with the fewest of them.
    fn broken<'o>(&self, template: SourceId, all: &[Chosen<'o>]) -> Option<(Vec<Chosen<'o>>, Problem)> {
        let values = self.least(all, |some| {
            let in_form = |form: &Form| some.iter().map(|(one, _)| (*one, *form)).collect();
            let ways: Vec<Vec<Chosen<'_>>> = [some.to_vec()].into_iter().chain(Form::ALL.iter().map(in_form)).collect();
            self.in_every_way(template, &ways).is_some()
        })?;
        let mut ways: Vec<Vec<Chosen<'_>>> = vec![Vec::new()];
        for (one, _) in &values {
            let mut further = Vec::new();
            for (way, form) in ways.iter().flat_map(|way| one.forms().iter().map(move |form| (way, form))) {
                further.push([&way[..], &[(*one, *form)]].concat());
            }
            ways = further;
        }
        let problem = self.in_every_way(template, &ways)?;
        let message = format!("where {}, {}", set_of(&values), problem.message);
        Some((values, Problem { message, ..problem }))
    }

    /// What is wrong with a template if none of several ways of writing its values makes it right.
    fn in_every_way(&self, template: SourceId, ways: &[Vec<Chosen<'_>>]) -> Option<Problem> {
        let mut found = None;
        for way in ways {
            match self.outcome(template, way) {
                Outcome::Fine => return None,
                Outcome::Broken(problem) => found = found.or(Some(problem)),
                Outcome::Refused => {}
            }
        }
        found
    }

    /// The fields that no object of the kind has, as the templates name them: the template, the group and kind, and the breach.
    fn fields(&self, rendered: Rendered) -> Vec<(SourceId, (String, String), Breach)> {
        let mut out = Vec::new();
        for document in rendered.documents {
            let mut facts = Facts::default();
            let path = &self.sources.get(document.template).path;
            extract::documents(&Arc::new(document.tree), path, &mut facts);
            let found = facts.objects.iter().flat_map(|object| self.unknown(object));
            out.extend(found.map(|(key, breach)| (document.template, key, breach)));
        }
        out
    }

    fn unknown(&self, object: &Object) -> Vec<OfKind> {
        let version = object.api_version.get().map_or("", String::as_str);
        let group = version.split_once('/').map_or("", |(group, _)| group).to_owned();
        let key = (group, object.kind.get().cloned().unwrap_or_default());
        let found = contracts::breaches(object, (&Versions::default(), self.count), false).unwrap_or_default();
        let written = |breach: &Breach| {
            let (name, field) = (self.sources.slice(breach.field.span), breach.field.get());
            breach.class.get() == Some(&BreachClass::UnknownField)
                && self.chart.templates().any(|file| file.source == breach.field.span.source)
                && field.is_some_and(|field| !name.is_empty() && field.ends_with(name))
        };
        found.into_iter().filter(written).map(|breach| (key.clone(), breach)).collect()
    }

    fn has_field(&self, template: SourceId, place: Span, some: &[Chosen<'_>]) -> bool {
        let rendered = self.render(some, Some(template));
        self.fields(rendered).iter().any(|(.., found)| found.span == place)
    }

    /// The fewest of the values with which it still holds: none if it holds without any, or only with many.
    fn least<'o>(&self, all: &[Chosen<'o>], holds: impl Fn(&[Chosen<'o>]) -> bool) -> Option<Vec<Chosen<'o>>> {
        self.left.set(self.left.get().checked_sub(1)?);
        if !holds(all) {
            return None;
        }
        let mut kept = all.to_vec();
        let mut size = kept.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < kept.len() {
                let end = (at + size).min(kept.len());
                let without = [&kept[..at], &kept[end..]].concat();
                self.left.set(self.left.get().checked_sub(1)?);
                if holds(&without) {
                    kept = without;
                } else {
                    at = end;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        (1..=TOGETHER).contains(&kept.len()).then_some(kept)
    }
}

/// The names of values in a sentence.
fn set_of(values: &[Chosen<'_>]) -> String {
    let names: Vec<String> = values.iter().map(|(one, _)| one.name()).collect();
    match names.split_last() {
        Some((last, [])) => format!("{last} is set"),
        Some((last, others)) => format!("{} and {last} are set", others.join(", ")),
        None => String::new(),
    }
}
