//! `gpulint facts --at FILE:LINE`: what a rule can ask about at a place, by the names that it would use.

use super::facts::understood;
use super::files::cwd;
use super::{CLEAN, print};
use crate::discover::shown;
use crate::facts::value::{Data, Entity, Value};
use crate::facts::{LISTS, Subject};
use crate::lint::Outcome;
use crate::rules::lang::values::elements;
use crate::source::{SourceId, Sources, Span, one_line};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

/// Names that lead over more entities help nobody.
const MOST_STEPS: usize = 5;

/// So many entities of a kind are shown.
const MOST_ENTITIES: usize = 3;

/// Runs the command; `at` is FILE:LINE.
///
/// # Errors
/// A path that does not exist, or a file that is not read.
pub fn run(at: &str, paths: &[PathBuf], all: bool) -> Result<u8, String> {
    let line = at.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<usize>().ok()?.checked_sub(1)?)));
    let (file, line) = line.ok_or_else(|| format!("{at}: FILE:LINE is expected, with lines counted from 1"))?;
    let here = [PathBuf::from(".")];
    let (outcome, root) = understood(if paths.is_empty() { &here } else { paths })?;
    let path = shown(&cwd().join(file).components().collect::<PathBuf>(), &root);
    let of_path = outcome.sources.iter().filter(|(_, source)| source.path == path);
    let files: BTreeSet<SourceId> = of_path.map(|(id, _)| id).collect();
    if files.is_empty() {
        return Err(format!("{file} is not among the files that are read: name a directory that holds it, too"));
    }
    let place = Place { sources: &outcome.sources, files, line, all };
    let sections = place.sections(&outcome);
    let mut out = String::new();
    for (heading, entities) in &sections {
        for (entity, names) in entities.iter().take(MOST_ENTITIES) {
            out.push_str(&format!("applies_to: {heading}    # {entity}\n"));
            names.iter().for_each(|(name, value)| out.push_str(&format!("  {name} = {value}\n")));
            out.push('\n');
        }
        if let more @ 1.. = entities.len().saturating_sub(MOST_ENTITIES) {
            out.push_str(&format!("and {more} more such\n\n"));
        }
    }
    if sections.is_empty() {
        out = format!("no rule can ask about what stands at {at}: `gpulint facts {file}` shows what is understood\n");
    }
    print(&out)?;
    Ok(CLEAN)
}

/// A line of a file.
struct Place<'o> {
    sources: &'o Sources,
    files: BTreeSet<SourceId>,
    /// Counted from 0.
    line: usize,
    /// Whether what is absent counts.
    all: bool,
}

/// Names of facts and their values.
type Names = Vec<(String, String)>;

/// What rules are asked about, as `applies_to` has it; the entities of each, with the names that lead to the place.
type Sections = BTreeMap<String, Vec<(String, Names)>>;

impl Place<'_> {
    fn sections(&self, outcome: &Outcome) -> Sections {
        let mut out = Sections::new();
        for facts in [&outcome.facts].into_iter().chain(outcome.forms.iter().map(|(_, facts)| facts)) {
            for list in LISTS {
                (list.entities)(facts).into_iter().for_each(|entity| self.subject(list.subject, entity, &mut out));
            }
        }
        out
    }

    /// An entity and its parts.
    fn subject(&self, subject: &Subject, entity: &dyn Entity, out: &mut Sections) {
        let short = subject.short.iter().map(|(name, field)| ((*name).to_owned(), entity.named_field(field)));
        let own = (subject.variable.to_owned(), Value::at(Data::Entity(entity), entity.span()));
        let names = self.names(short.chain([own]).collect());
        if !names.is_empty() {
            let kind = subject.kind.map(|kind| entity.named_field(kind).to_string());
            let heading = match subject.kind.zip(kind) {
                Some((key, kind)) => format!("{{{}: {{{key}: {kind}}}}}", subject.name),
                None => subject.name.to_owned(),
            };
            let entities = out.entry(heading).or_default();
            let place = self.sources.get(entity.span().source);
            let place = format!("{}:{}", place.path, place.line_of(entity.span().start) + 1);
            let told = (place, names);
            // What several forms of a chart have in common is told once.
            if !entities.contains(&told) {
                entities.push(told);
            }
        }
        for (fields, part) in subject.parts {
            for item in fields.iter().flat_map(|field| elements(&entity.named_field(field)).to_vec()) {
                if let Data::Entity(item) = item.data {
                    self.subject(part, item, out);
                }
            }
        }
    }

    /// The shortest names, from these variables on, of what stands on the line.
    fn names(&self, variables: Vec<(String, Value<'_>)>) -> Names {
        let mut out = Vec::new();
        let (mut known, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        let mut queue: VecDeque<(String, Value<'_>, usize)> =
            variables.into_iter().map(|(name, value)| (name, value, 0)).collect();
        while let Some((name, value, steps)) = queue.pop_front() {
            let here = value.span.is_some_and(|span| self.holds(span));
            let mut below = Vec::new();
            match &value.data {
                Data::Null if !self.all => {}
                // What is written can be reached in several ways.
                Data::Node(view) if !view.node().is_some_and(|node| nodes.insert(node.span())) => {}
                Data::List(items) => below.extend(indexed(&name, items.iter().cloned())),
                Data::Map(map) => below.extend(map.iter().map(|(key, value)| (under(&name, key), value.clone()))),
                Data::Node(view) if view.node().is_some_and(|node| node.is_seq()) => {
                    below.extend(indexed(&name, view.items().map(Value::of_view)));
                }
                Data::Node(view) => {
                    let entries = view.entries().into_iter();
                    below.extend(entries.map(|(key, child)| (under(&name, key), Value::of_view(child))));
                }
                Data::Entity(entity) if steps < MOST_STEPS => {
                    let address = std::ptr::from_ref(*entity).cast::<()>() as usize;
                    if known.insert((address, entity.entity().name)) {
                        let fields = entity.entity().fields.iter().enumerate();
                        below.extend(fields.map(|(i, field)| (under(&name, field.name), entity.field(i))));
                    }
                }
                Data::Entity(_) | Data::Record(_) => {}
                leaf if here => out.push((name, written(leaf))),
                _ => {}
            }
            let steps = steps + usize::from(matches!(value.data, Data::Entity(_)));
            queue.extend(below.into_iter().map(|(name, value)| (name, value, steps)));
        }
        out
    }

    fn holds(&self, span: Span) -> bool {
        let source = self.sources.get(span.source);
        let last = span.end.saturating_sub(1).max(span.start);
        self.files.contains(&span.source) && (source.line_of(span.start)..=source.line_of(last)).contains(&self.line)
    }
}

fn indexed<'v>(name: &str, items: impl Iterator<Item = Value<'v>>) -> Vec<(String, Value<'v>)> {
    items.enumerate().map(|(i, item)| (format!("{name}[{i}]"), item)).collect()
}

/// The name of what stands under a key.
fn under(name: &str, key: &str) -> String {
    let plain =
        key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !key.starts_with(|c: char| c.is_ascii_digit());
    if plain && !key.is_empty() { format!("{name}.{key}") } else { format!("{name}['{}']", key.replace('\'', "\\'")) }
}

/// A value as a rule would write it.
fn written(leaf: &Data<'_>) -> String {
    match leaf {
        Data::Null => "null".to_owned(),
        Data::Str(text) => format!("{:?}", one_line(text)),
        Data::Version(version) => format!("{:?}", version.to_string()),
        other => Value::of(other.clone()).to_string(),
    }
}
