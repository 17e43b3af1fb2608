//! What facts came out of, and where a file speaks of GPUs and none did. Knows facts by their places only.

use super::Repository;
use crate::catalog;
use crate::discover::Kind;
use crate::extract::{self, ansible};
use crate::facts::value::{Data, Entity, EntityType, Type, Value};
use crate::facts::{Container, HelmRelease, LISTS, Object};
use crate::link::Variant;
use crate::parse::{DEEPEST, Node, Tree};
use crate::paths;
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
const HOLDERS: [&str; 12] = [
    "AnsibleTasks",
    "CloudConfig",
    "ConfigMap",
    "GitHubAction",
    "GitHubJob",
    "GitHubWorkflow",
    "GitLabPipeline",
    "Kustomization",
    "Secret",
    "ShellScript",
    "SystemdUnit",
    "Values",
];

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
pub fn names(tree: &Tree, path: &str) -> Vec<Span> {
    let mut out: Vec<Span> = tree.roots().filter(|root| ansible::is_tasks(*root)).flat_map(ansible::names).collect();
    out.extend(tree.roots().filter(|root| extract::describes_others(*root)).map(Node::span));
    tree.roots().for_each(|root| called(root, path, &mut out));
    for root in tree.roots().filter(|root| root.get("apiVersion").is_some() && root.get("kind").is_some()) {
        let metadata = root.get("metadata");
        let named = ["name", "generateName", "namespace"].iter().filter_map(|key| metadata?.get(key));
        out.extend(named.map(Node::span));
        let labels = metadata.and_then(|metadata| metadata.get("labels")).into_iter().flat_map(Node::entries);
        out.extend(labels.filter(|(key, _)| key.text().is_some_and(is_name)).map(|(_, value)| value.span()));
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

/// What a chart says of itself but for the charts that it installs.
const CHART: &str = "dependencies";

/// What a service of Compose is called, and what it calls others.
const OF_SERVICES: [&str; 6] = ["container_name", "depends_on", "extends", "hostname", "links", "networks"];

/// What a pipeline, a job or a step is called, and when it runs.
const OF_PIPELINES: [&str; 18] = [
    "concurrency",
    "dependencies",
    "dependsOn",
    "depends_on",
    "displayName",
    "except",
    "id",
    "if",
    "name",
    "needs",
    "on",
    "only",
    "pr",
    "rules",
    "run-name",
    "stage",
    "stages",
    "trigger",
];

/// What a step of a pipeline is given may be called so as well.
const GIVEN: [&str; 5] = ["env", "inputs", "matrix", "variables", "with"];

/// What of it only selects files.
const SELECTS: [&str; 4] = ["filters", "key", "path", "paths"];

/// Where formats without `metadata` name things.
fn called(root: Node<'_>, path: &str, out: &mut Vec<Span>) {
    if paths::name(path) == "Chart.yaml" && root.get("name").is_some() {
        let others = root.entries().into_iter().filter(|(key, _)| key.text() != Some(CHART));
        out.extend(others.map(|(_, value)| value.span()));
        return;
    }
    // Objects of Kubernetes have `metadata`.
    let format = Some(root).filter(|root| root.get("kind").is_none()).and_then(|root| extract::format(root, path));
    match format.map(|format| format.name) {
        Some("compose") => {
            let services = root.get("services");
            out.extend(keys(services).chain(keys(root.get("volumes"))).chain(keys(root.get("networks"))));
            for (_, service) in services.into_iter().flat_map(Node::entries) {
                out.extend(OF_SERVICES.iter().filter_map(|key| Some(service.get(key)?.span())));
            }
        }
        Some("ci") => {
            let jobs = root.get("jobs").unwrap_or(root);
            out.extend(keys(Some(jobs)));
            of_pipeline(root, DEEPEST, out);
        }
        _ => {}
    }
}

fn keys(map: Option<Node<'_>>) -> impl Iterator<Item = Span> {
    map.into_iter().flat_map(Node::entries).map(|(key, _)| key.span())
}

fn of_pipeline(node: Node<'_>, depth: usize, out: &mut Vec<Span>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    node.items().for_each(|item| of_pipeline(item, depth, out));
    for (key, value) in node.entries() {
        match key.text() {
            Some(key) if OF_PIPELINES.contains(&key) => out.push(value.span()),
            Some(key) if GIVEN.contains(&key) => {
                out.extend(SELECTS.iter().filter_map(|key| Some(value.get(key)?.span())));
            }
            _ => of_pipeline(value, depth, out),
        }
    }
}

/// The patches of a Kustomization, of kustomize or of Flux.
fn places_of_patches(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let lists = [Some(root), root.get("spec")].into_iter().flatten().filter_map(|place| place.get("patches"));
    lists.flat_map(Node::items)
}

/// Whether a label says what something is called.
/// <https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/>
fn is_name(label: &str) -> bool {
    matches!(label, "app" | "k8s-app") || label.starts_with("app.kubernetes.io/")
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

/// Whether a word stands in a text as a key, or in the one word that a key has: what is only spoken of may be prose.
pub fn states(text: &str, word: Span) -> bool {
    let line = line(text, word);
    let whole = &text[line.0 as usize..line.1 as usize];
    let (before, behind) = (&text[line.0 as usize..word.range().start], &text[word.range().end..line.1 as usize]);
    let quote = |c: char| matches!(c, '"' | '\'');
    let before = before.trim_end_matches(quote).trim();
    let begins = before.is_empty() || before.ends_with(['{', ',', '-']);
    let pair = whole.trim().trim_start_matches("- ").split_once(": ");
    let one = |part: &str| !part.trim().contains(char::is_whitespace);
    begins && behind.trim_start_matches(quote).trim_start().starts_with(':')
        || pair.is_some_and(|(key, value)| one(key) && one(value))
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
        apart: BTreeMap::new(),
        fields: BTreeMap::new(),
    };
    let asked = rules.by_subject();
    let open = open_values(variants);
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
            if let Some(release) = entity.downcast::<HelmRelease>().filter(|release| is_known(release)) {
                release.set.values().for_each(|value| read.place(Some(value.span)));
                let root = release.values.as_ref().and_then(|values| values.view().node());
                read.understood.extend(root.into_iter().flat_map(Node::entries).map(|(key, _)| key.span().source));
            }
            if whole && let Data::Node(body) = entity.named_field("body").data {
                body.node().into_iter().for_each(|node| read.body(node, &open));
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
    let mut apart = std::mem::take(&mut read.apart);
    open.into_iter().for_each(|(id, open)| apart.entry(id).or_default().extend(open));
    for (id, lines) in &mut mentions {
        let text: &str = &here.sources.get(*id).text;
        let places = places.get(id).map_or(&[][..], Vec::as_slice);
        let groups = merged(groups.remove(id).unwrap_or_default());
        let apart = merged(apart.remove(id).unwrap_or_default());
        let around = |word: Span| {
            let (start, end) = line(text, word);
            // What stands on the line before values of a chart or a script says nothing of them.
            let inside = apart.iter().find(|part| part.0 <= word.start && word.end <= part.1);
            inside.map_or((start, end), |part| (start.max(part.0), end.min(part.1)))
        };
        lines.retain(|word| ![places, &groups].iter().any(|places| overlap(places, around(*word))));
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

/// Where values of charts stand: nobody says what a chart makes of them but by the facts that came out of them. Of a chart
/// whose values are known those count in which it may be told to ask for devices.
fn open_values(variants: &[Variant]) -> BTreeMap<SourceId, Vec<(u32, u32)>> {
    let mut out: BTreeMap<SourceId, Vec<(u32, u32)>> = BTreeMap::new();
    for release in variants.iter().flat_map(|variant| &variant.facts.releases) {
        let root = release.values.as_ref().and_then(|values| values.view().node());
        let mut places = Vec::new();
        if is_known(release) {
            root.into_iter().for_each(|root| asks(root, DEEPEST, &mut places));
        } else {
            root.into_iter().for_each(|root| entries(root, &mut places));
            places.extend(release.set.values().map(|value| value.span));
        }
        places.into_iter().for_each(|span: Span| out.entry(span.source).or_default().push(ends(span)));
    }
    out.into_iter().map(|(id, places)| (id, merged(places))).collect()
}

/// Whether all values of a chart are known, so that rules are asked about them.
fn is_known(release: &HelmRelease) -> bool {
    let repository = release.repository.get().map(String::as_str);
    release.chart.get().is_some_and(|chart| catalog::knows_chart(chart, repository))
}

/// The entries of a mapping, each with its key where that stands before its value.
fn entries(map: Node<'_>, out: &mut Vec<Span>) {
    for (key, value) in map.entries() {
        let (key, value) = (key.span(), value.span());
        match key.source == value.source && key.end <= value.start {
            true => out.push(Span { end: value.end, ..key }),
            false => out.extend([key, value]),
        }
    }
}

/// The entries of what values ask for.
fn asks(node: Node<'_>, depth: usize, out: &mut Vec<Span>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    node.items().for_each(|item| asks(item, depth, out));
    for (key, value) in node.entries() {
        match key.text() {
            Some("limits" | "requests") => entries(value, out),
            _ => asks(value, depth, out),
        }
    }
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
    /// Where texts stand that are scripts and files of their own.
    apart: BTreeMap<SourceId, Vec<(u32, u32)>>,
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

    /// An object that rules are asked about as it is written, but for values of charts and for the scripts and files that it
    /// holds.
    fn body(&mut self, body: Node<'_>, open: &BTreeMap<SourceId, Vec<(u32, u32)>>) {
        let whole = body.span();
        if !self.texts.contains_key(&whole.source) {
            return;
        }
        let mut holes = Vec::new();
        self.held(body, DEEPEST, &mut holes);
        let mut holes: Vec<_> = holes.into_iter().filter(|span: &Span| span.source == whole.source).map(ends).collect();
        self.apart.entry(whole.source).or_default().extend(&holes);
        holes.extend(open.get(&whole.source).into_iter().flatten());
        let mut from = whole.start;
        for (start, end) in merged(holes).into_iter().filter(|hole| whole.start < hole.1 && hole.0 < whole.end) {
            self.place((from < start).then_some(Span { start: from, end: start, ..whole }));
            from = from.max(end);
        }
        self.place((from < whole.end).then_some(Span { start: from, ..whole }));
    }

    /// The texts of several lines below a node.
    fn held(&self, node: Node<'_>, depth: usize, out: &mut Vec<Span>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if node.text().is_some() && self.is_long(node.span()) {
            out.push(node.span());
        }
        node.items()
            .chain(node.entries().into_iter().map(|(_, value)| value))
            .for_each(|below| self.held(below, depth, out));
    }

    fn place(&mut self, span: Option<Span>) {
        let Some(span) = span else { return };
        // What is stated in values of a chart came out of their file, which may speak of no GPU.
        self.understood.insert(span.source);
        if self.texts.contains_key(&span.source) {
            self.places.entry(span.source).or_default().push(ends(span));
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
    // What is set by name is a value of a chart like those that are written inline.
    let fields = fields.filter(|(_, field)| entity.name != "HelmRelease" || field.name != "set");
    fields.filter(|(_, field)| !field.joined && !others((field.ty)())).map(|(index, _)| index).collect()
}

fn ends(span: Span) -> (u32, u32) {
    (span.start, span.end)
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
    let first = places.partition_point(|place| place.1 <= start);
    places.get(first).is_some_and(|place| place.0 < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_stated_as_a_key_or_as_the_value_of_one() {
        let stated = |text: &str, word: &str| {
            let at = text.find(word).expect("the word");
            states(text, Span::new(SourceId(0), at..at + word.len()))
        };
        assert!(
            stated("a: {gpus: 16, gpu_type: a100\n", "gpus")
                && stated("x:\n  - machine: p4d.24xlarge\n", "p4d.24xlarge")
                && stated("image: \"nvidia/cuda:12.4.1-base\"\n", "nvidia/cuda")
        );
        assert!(!stated("For LiteLLM: test it\n", "LiteLLM") && !stated("note: vllm is fast\n", "vllm"));
    }

    #[test]
    fn what_a_site_reads_is_told_by_its_place() {
        assert!(keeps_house(".github/ISSUE_TEMPLATE/bug.yml") && keeps_house("a/.github/labeler.yml"));
        assert!(!keeps_house(".github/workflows/gpu.yml") && !keeps_house(".github/actions/a/action.yml"));
        assert!(!keeps_house("github/values.yaml"));
    }
}
