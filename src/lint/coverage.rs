//! What facts came out of, and where a file speaks of GPUs and none did. Knows facts by their places only.

use super::Repository;
use crate::catalog;
use crate::discover::Kind;
use crate::extract::{self, ansible};
use crate::facts::value::{Data, Entity, EntityType, Type, Value};
use crate::facts::{Container, LISTS, Object};
use crate::link::Variant;
use crate::parse::{Node, Tree};
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

/// What of a Kustomization only names something: other files, and objects that it does not state.
const NAMES: [&str; 14] = [
    "bases",
    "commonLabels",
    "components",
    "crds",
    "dependsOn",
    "healthChecks",
    "labels",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "path",
    "resources",
    "sourceRef",
    "targetNamespace",
];

/// Kinds that hold texts and objects of any sort: a rule that looks for something in them has not read the rest.
const HOLDERS: [&str; 6] = ["AnsibleTasks", "CloudConfig", "ConfigMap", "Kustomization", "Secret", "ShellScript"];

/// Whether an object is of a kind that is read as a whole, or asks for no device.
fn settled(object: &Object) -> bool {
    object
        .api_version
        .get()
        .zip(object.kind.get())
        .is_some_and(|(version, kind)| catalog::asks_for_no_device(version, kind))
}

/// Where the objects of a file are named, and name others: what something is called says nothing of what it runs on, and
/// neither does a document about others.
pub fn names(tree: &Tree) -> Vec<Span> {
    let mut out: Vec<Span> = tree.roots().filter(|root| ansible::is_tasks(*root)).flat_map(ansible::names).collect();
    out.extend(tree.roots().filter(|root| extract::describes_others(*root)).map(Node::span));
    for root in tree.roots().filter(|root| root.get("apiVersion").is_some() && root.get("kind").is_some()) {
        let metadata = root.get("metadata");
        let named = ["name", "generateName", "namespace"].iter().filter_map(|key| metadata?.get(key));
        out.extend(named.map(Node::span));
        if root.get("kind").and_then(Node::text).is_some_and(|kind| kind == "Kustomization" || kind == "Component") {
            let places = [Some(root), root.get("spec")].into_iter().flatten();
            out.extend(places.flat_map(|place| NAMES.iter().filter_map(move |key| Some(place.get(key)?.span()))));
            let patches = places_of_patches(root);
            out.extend(patches.filter_map(|patch| Some(patch.get("target")?.span())));
        }
        // What a runtime can load is called as frameworks are.
        out.extend(root.path("spec.supportedModelFormats").map(Node::span));
    }
    out.sort_unstable();
    out
}

/// The patches of a Kustomization, of kustomize or of Flux.
fn places_of_patches(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let lists = [Some(root), root.get("spec")].into_iter().flatten().filter_map(|place| place.get("patches"));
    lists.flat_map(Node::items)
}

/// Whether a file is read by the site that keeps the repository, for issues, labels and owners: nothing is deployed or run
/// by it.
fn keeps_house(path: &str) -> bool {
    let below = path.strip_prefix(".github/").or_else(|| path.split_once("/.github/").map(|(_, below)| below));
    below.is_some_and(|below| !["workflows/", "actions/"].iter().any(|run| below.starts_with(run)))
}

/// Where a text speaks of GPUs outside of its comments and of names: the first word of each line.
pub fn mentions(id: SourceId, source: &Source, (comments, names): (&[Span], &[Span])) -> Vec<Span> {
    let text: &str = &source.text;
    if keeps_house(&source.path) {
        return vec![];
    }
    let mut told = 0;
    let (mut comments, mut names) = (comments.iter().peekable(), names.iter().peekable());
    let mut out = Vec::new();
    for word in catalog::mentions(text) {
        if word.start < told {
            continue;
        }
        while names.next_if(|name| name.end as usize <= word.start).is_some() {}
        if names.peek().is_some_and(|name| name.start as usize <= word.start) {
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
    let mut read = Places {
        texts: mentions.keys().map(|id| (*id, &*here.sources.get(*id).text)).collect(),
        places: BTreeMap::new(),
        understood: BTreeSet::new(),
        fields: BTreeMap::new(),
    };
    let asked = rules.by_subject();
    // What breaks a contract says nothing of what the rest is.
    for list in LISTS.iter().filter(|list| list.name != "breaches") {
        for entity in variants.iter().flat_map(|variant| (list.entities)(&variant.facts)) {
            let kind = list.subject.kind.map(|field| entity.named_field(field).to_string());
            // A document that no rule asks for is not understood because it could be parsed.
            let whole = kind.as_deref().is_some_and(|kind| {
                let asked = !HOLDERS.contains(&kind) && asked.asks(list.subject, Some(kind));
                asked || entity.downcast::<Object>().is_some_and(settled)
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
    let pods = variants.iter().flat_map(|variant| &variant.facts.workloads).flat_map(|workload| &workload.pods);
    pods.flat_map(|pod| pod.containers.iter().chain(&pod.init_containers)).for_each(|container| read.asked(container));
    let places: BTreeMap<SourceId, _> = read.places.into_iter().map(|(id, places)| (id, merged(places))).collect();
    let mut groups: BTreeMap<SourceId, Vec<(u32, u32)>> = BTreeMap::new();
    let objects = variants.iter().flat_map(|variant| &variant.facts.objects);
    for object in objects.filter(|object| object.api_version.get().is_some()) {
        // The group of an API says no more than what was read of the object.
        let (place, body) =
            (object.api_version.span, object.body.as_ref().and_then(|body| Some(body.view().node()?.span())));
        let read = |body: Span| places.get(&place.source).is_some_and(|all| overlap(all, (body.start, body.end)));
        if body.is_some_and(|body| body.source == place.source && read(body)) {
            groups.entry(place.source).or_default().push((place.start, place.end));
        }
    }
    for (id, lines) in &mut mentions {
        let text: &str = &here.sources.get(*id).text;
        let places = places.get(id).map_or(&[][..], Vec::as_slice);
        let groups = merged(groups.remove(id).unwrap_or_default());
        lines.retain(|word| ![places, &groups].iter().any(|places| overlap(places, line(text, *word))));
        if !lines.is_empty() && !places.is_empty() {
            let heads = heads(here, *id, places);
            lines.retain(|word| !overlap(&heads, (word.start, word.end)) && !heads_read(here, (*id, *word), places));
        }
        // What came out of a part of it came out of it.
        if !places.is_empty() {
            read.understood.insert(*id);
        }
    }
    mentions.retain(|_, lines| !lines.is_empty());
    Coverage { understood: read.understood, unread: mentions }
}

/// The keys of what was read: they say what is below them.
fn heads(here: &Repository<'_>, id: SourceId, places: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let nodes = here.trees.get(&id).into_iter().flat_map(|tree| tree.parts()).flat_map(Tree::nodes);
    // What a mapping merges into itself stands elsewhere in the tree.
    let entries = nodes.filter(|node| node.is_map() && node.span().source == id).flat_map(Node::own);
    let read = |value: Span| overlap(places, (value.start, value.end));
    let below = entries.filter(|(_, value)| (value.is_map() || value.is_seq()) && read(value.span()));
    merged(below.map(|(key, _)| (key.span().start, key.span().end)).collect())
}

/// Whether a word of Terraform stands before a block or an object of which something was read.
fn heads_read(here: &Repository<'_>, (id, word): (SourceId, Span), places: &[(u32, u32)]) -> bool {
    if !here
        .files
        .iter()
        .any(|(file, kind)| *file == id && matches!(kind, Kind::Terraform | Kind::TerraformJson | Kind::TerraformVars))
    {
        return false;
    }
    let text: &str = &here.sources.get(id).text;
    let head = text[word.range().end..].lines().next().unwrap_or_default().split('#').next().unwrap_or_default();
    if !head.trim_end().ends_with(['{', '[', '(']) {
        return false;
    }
    let from = word.range().end + head.trim_end().len();
    let mut depth = 1;
    let end = text[from..].bytes().position(|byte| {
        depth += i32::from(matches!(byte, b'{' | b'[' | b'(')) - i32::from(matches!(byte, b'}' | b']' | b')'));
        depth == 0
    });
    overlap(places, (from as u32, (from + end.unwrap_or(0)) as u32))
}

/// Where facts stand.
struct Places<'t> {
    /// The texts of files whose places matter.
    texts: BTreeMap<SourceId, &'t str>,
    understood: BTreeSet<SourceId>,
    places: BTreeMap<SourceId, Vec<(u32, u32)>>,
    /// By the type of an entity, the fields in which it states something itself.
    fields: BTreeMap<&'static str, Vec<usize>>,
}

impl Places<'_> {
    fn entity(&mut self, entity: &dyn Entity) {
        let ty = entity.entity();
        let fields = self.fields.entry(ty.name).or_insert_with(|| own_fields(ty)).clone();
        // What only says that it is there, a path or a kind, was not read from its lines.
        let whole = Some(entity.span()).filter(|span| self.is_long(*span));
        let stated = fields.into_iter().map(|index| entity.field(index));
        stated.filter(|value| whole.is_none() || value.span != whole).for_each(|value| self.value(&value));
    }

    /// Whether a place has several lines.
    fn is_long(&self, span: Span) -> bool {
        self.texts.get(&span.source).is_some_and(|text| text[span.range()].trim_end().contains('\n'))
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

    /// The names of the resources that a container asks for: how much of them may stand elsewhere.
    fn asked(&mut self, container: &Container) {
        let resources = container.spec.as_ref().map(|spec| spec.view().get("resources"));
        for list in resources.iter().flat_map(|of| ["limits", "requests"].map(|key| of.get(key))) {
            let keys = list.node().into_iter().flat_map(|node| node.entries());
            keys.for_each(|(key, _)| self.place(Some(key.span())));
        }
    }

    fn place(&mut self, span: Option<Span>) {
        if let Some(span) = span.filter(|span| self.texts.contains_key(&span.source)) {
            self.places.entry(span.source).or_default().push((span.start, span.end));
        }
    }
}

/// The fields of an entity but for those that hold what others state, each of which is met in its own list, and an
/// instruction as it is written: what was understood of it is a fact of its own.
fn own_fields(entity: &'static EntityType) -> Vec<usize> {
    let listed =
        |ty: &Type| matches!(ty, Type::Entity(entity) if LISTS.iter().any(|list| list.subject.entity == *entity));
    let others = |ty: Type| match ty {
        Type::List(item) => listed(&item),
        ty => listed(&ty),
    };
    if entity.name == "Instruction" {
        return Vec::new();
    }
    let fields = entity.fields.iter().enumerate();
    fields.filter(|(_, field)| !field.joined && !others((field.ty)())).map(|(index, _)| index).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_site_reads_is_told_by_its_place() {
        assert!(keeps_house(".github/ISSUE_TEMPLATE/bug.yml") && keeps_house("a/.github/labeler.yml"));
        assert!(!keeps_house(".github/workflows/gpu.yml") && !keeps_house(".github/actions/a/action.yml"));
        assert!(!keeps_house("github/values.yaml"));
    }
}
