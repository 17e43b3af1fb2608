//! What facts came out of, and where a file speaks of GPUs and none did. Knows facts by their places only.

use super::Repository;
use crate::catalog;
use crate::facts::value::{Data, Entity, Value};
use crate::facts::{LISTS, Object};
use crate::link::Variant;
use crate::rules::Ruleset;
use crate::source::{Source, SourceId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// What of the files was understood.
#[derive(Debug, Default)]
pub struct Coverage {
    /// Files that facts came out of.
    pub understood: BTreeSet<SourceId>,
    /// Where files speak of GPUs and no fact came of it: the first word of each line.
    pub unread: BTreeMap<SourceId, Vec<Span>>,
}

/// So many lines of a file are told that speak of GPUs.
const MOST: usize = 1000;

/// API groups of the API server whose objects ask for no device: what speaks of GPUs in them is a name or a description.
const GROUPS: [&str; 10] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "autoscaling",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// Those of the core group.
const CORE: [&str; 8] = [
    "Endpoints",
    "LimitRange",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ResourceQuota",
    "Service",
    "ServiceAccount",
];

/// Whether an object is of a kind that asks for no device.
fn asks_for_nothing(object: &Object) -> bool {
    let (Some(version), Some(kind)) = (object.api_version.get(), object.kind.get()) else { return false };
    match version.split_once('/') {
        Some((group, _)) => GROUPS.contains(&group),
        None => CORE.contains(&kind.as_str()),
    }
}

/// Where a text speaks of GPUs outside of its comments: the first word of each line.
pub fn mentions(id: SourceId, source: &Source, comments: &[Span]) -> Vec<Span> {
    let text: &str = &source.text;
    let mut told = 0;
    let mut comments = comments.iter().peekable();
    let mut out = Vec::new();
    for word in catalog::mentions(text) {
        if word.start < told {
            continue;
        }
        let line = text[..word.start].rfind('\n').map_or(0, |end| end + 1);
        while comments.next_if(|comment| comment.end as usize <= word.start).is_some() {}
        let inside = comments.peek().is_some_and(|comment| comment.start as usize <= word.start);
        told = text[word.end..].find('\n').map_or(text.len(), |end| word.end + end);
        if !inside && !text[line..word.start].trim_start().starts_with(['#', '/']) {
            out.push(Span::new(id, word));
        }
        if out.len() == MOST {
            break;
        }
    }
    out
}

/// What came out of the files of a repository; `mentions` is where they speak of GPUs.
pub(super) fn coverage(
    here: &Repository<'_>,
    mut mentions: BTreeMap<SourceId, Vec<Span>>,
    variants: &[Variant],
    rules: &Ruleset,
) -> Coverage {
    let mut read = Places { wanted: mentions.keys().copied().collect(), ..Places::default() };
    let asked = rules.by_subject();
    for list in LISTS {
        for entity in variants.iter().flat_map(|variant| (list.entities)(&variant.facts)) {
            let kind = list.subject.kind.map(|field| entity.named_field(field).to_string());
            // A document that no rule asks for is not understood because it could be parsed.
            let whole = kind.as_deref().is_some_and(|kind| {
                entity.downcast::<Object>().is_some_and(asks_for_nothing) || asked.asks(list.subject, Some(kind))
            });
            if kind.is_none() || whole {
                read.understood.insert(entity.span().source);
                read.entity(entity);
            }
            if whole && let Data::Node(body) = entity.named_field("body").data {
                read.place(body.node().map(|node| node.span()));
            }
        }
    }
    for (id, lines) in &mut mentions {
        let text: &str = &here.sources.get(*id).text;
        let places = merged(read.places.remove(id).unwrap_or_default());
        lines.retain(|word| !overlap(&places, line(text, *word)));
        // What came out of a part of it came out of it.
        if !places.is_empty() {
            read.understood.insert(*id);
        }
    }
    mentions.retain(|_, lines| !lines.is_empty());
    Coverage { understood: read.understood, unread: mentions }
}

/// Where facts stand.
#[derive(Default)]
struct Places {
    /// Files whose places matter.
    wanted: BTreeSet<SourceId>,
    understood: BTreeSet<SourceId>,
    places: BTreeMap<SourceId, Vec<(u32, u32)>>,
}

impl Places {
    fn entity(&mut self, entity: &dyn Entity) {
        let fields = entity.entity().fields.iter().enumerate().filter(|(_, field)| !field.joined);
        fields.for_each(|(index, _)| self.value(&entity.field(index)));
    }

    fn value(&mut self, value: &Value<'_>) {
        match &value.data {
            // What is not there stands nowhere, and what is kept as written was not understood by that.
            Data::Null | Data::Node(_) => {}
            Data::List(items) => items.iter().for_each(|item| self.value(item)),
            Data::Map(entries) => entries.values().for_each(|entry| self.value(entry)),
            Data::Entity(entity) => self.entity(*entity),
            _ => self.place(value.span),
        }
    }

    fn place(&mut self, span: Option<Span>) {
        if let Some(span) = span.filter(|span| self.wanted.contains(&span.source)) {
            self.places.entry(span.source).or_default().push((span.start, span.end));
        }
    }
}

/// The line of a word.
fn line(text: &str, word: Span) -> (u32, u32) {
    let range = word.range();
    let start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |end| range.end + end);
    (start as u32, end as u32)
}

/// Places in their order, none of which overlap.
fn merged(mut places: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    places.sort_unstable();
    places.dedup_by(|next, last| {
        let overlap = next.0 <= last.1;
        last.1 = if overlap { last.1.max(next.1) } else { last.1 };
        overlap
    });
    places
}

/// Whether one of the places, which do not overlap, reaches into a line.
fn overlap(places: &[(u32, u32)], (start, end): (u32, u32)) -> bool {
    let first = places.partition_point(|place| place.1 < start);
    places.get(first).is_some_and(|place| place.0 < end)
}
