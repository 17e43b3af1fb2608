//! One build: what a kustomization includes and generates, then its changes, in kustomize's order. Knows which part of
//! a kustomization does what.

mod charts;
mod patches;
mod transformers;

use super::doc::{self, Doc, Value};
use super::field::Field;
use super::fields::Fields;
use super::resource::{Behavior, Gvk, Id, Resource};
use super::select::Selector;
use super::variables::{self, Variable};
use super::{File, Files, Kustomization, generate, join, merge, references, replacements, transform};
use crate::budget::{NODE, STEP, Share};
use crate::parse::{Problem, Tree};
use crate::source::{SourceId, Span};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// What a kustomization builds to.
#[derive(Debug)]
pub struct Built {
    /// Its documents.
    pub tree: Tree,
    /// Files whose documents it speaks for: resources and patches.
    pub used: BTreeSet<SourceId>,
    /// Files of its resources, but for those that components add.
    pub resources: BTreeSet<SourceId>,
    /// Whether it installs charts, which are rendered by themselves too.
    pub charts: bool,
    /// What it includes that cannot be read here, each at its place.
    pub unread: Vec<Problem>,
    /// Documents that it includes or patches with, each with whether it is part of what is built.
    pub included: Vec<(Span, bool)>,
}

/// Why a kustomization is not built.
#[derive(Debug)]
pub struct Failure {
    /// What keeps it from being built, at its place.
    pub problem: Problem,
    /// Whether this is no fault of its author: its budget is spent.
    pub gave_up: bool,
}

/// Builds the kustomization in a directory.
///
/// # Errors
/// What keeps it from being built.
pub fn build(files: &Files<'_>, directory: &str) -> Result<Built, Failure> {
    let source = files.source(directory).unwrap_or(SourceId(0));
    let share = Share::of(files.kustomizations.len(), files.bytes(directory, &mut BTreeSet::new()));
    let built = built(files, directory, source, &share);
    match share.spent() {
        Some(spent) => {
            let message = format!("the kustomization is not built: {spent}");
            Err(Failure { problem: problem(Span::new(source, 0..0), message), gave_up: true })
        }
        None => built.map_err(|problem| Failure { problem, gave_up: false }),
    }
}

fn built(files: &Files<'_>, directory: &str, source: SourceId, share: &Share) -> Result<Built, Problem> {
    let mut build = Build::new(files, share);
    let mut all = All::default();
    build.directory(directory, Span::new(source, 0..0), &mut all)?;
    for resource in all.resources.iter_mut().filter(|resource| resource.hashed) {
        if let Some(hash) = generate::hash(resource, share) {
            resource.remember();
            resource.rename("", &format!("-{hash}"));
        }
    }
    references::update(&mut all.resources, &all.fields.references, share)?;
    variables::replace(&mut all.resources, &all.variables, (&all.fields.variables, share));
    let local = |resource: &Resource| {
        let annotation = resource.doc.at(&["metadata", "annotations", "config.kubernetes.io/local-config"]);
        annotation.is_some_and(|value| value.text() != Some("false"))
    };
    all.resources.retain(|resource| !local(resource));
    let emitted: HashSet<Span> = all.resources.iter().map(|resource| resource.read).collect();
    let tree = doc::tree(source, all.resources.into_iter().map(finished), share)
        .map_err(|spent| problem(Span::new(source, 0..0), spent.to_string()))?;
    let Build { used, resources, charts, unread, included, patches, .. } = build;
    let included = included.into_iter().map(|document| (document, emitted.contains(&document)));
    let included = included.chain(patches).collect();
    Ok(Built { tree, used, resources, charts, unread, included })
}

/// An object as entries of `patches` with texts leave it, each where it fits; nothing where one deletes it.
pub fn patched_object(object: Doc, patches: &[Doc], share: &Share) -> Option<Doc> {
    let files = Files::default();
    let mut build = Build::new(&files, share);
    let mut all = All { resources: vec![Resource::new(object)], ..All::default() };
    for entry in patches {
        let before = all.resources.clone();
        // One for another object, too, is none that can be applied.
        if build.patch("", entry, (entry.get("patch"), &mut all)).is_err() {
            all.resources = before;
        }
    }
    all.resources.pop().map(|resource| resource.doc)
}

/// An object of which more may be stated elsewhere.
pub fn opened(object: Doc) -> Doc {
    finished(Resource { open: true, ..Resource::new(object) })
}

/// The document of a resource. kustomize keeps notes in annotations and takes these away when, without its notes,
/// nothing is left.
fn finished(mut resource: Resource) -> Doc {
    let gvk = resource.gvk();
    if let Some(metadata) = resource.doc.get_mut("metadata")
        && metadata.get("annotations").is_some_and(|annotations| annotations.entries().is_empty())
    {
        metadata.remove("annotations");
    }
    if resource.open {
        merge::open(&mut resource.doc, &gvk, &[]);
    }
    resource.doc
}

/// What a kustomization has gathered.
struct All {
    resources: Vec<Resource>,
    fields: Arc<Fields>,
    variables: Vec<Variable>,
    /// What identifies the resources, while nothing changes them.
    ids: Option<HashSet<Id>>,
}

impl Default for All {
    fn default() -> Self {
        Self { resources: Vec::new(), fields: Fields::built_in(), variables: Vec::new(), ids: None }
    }
}

struct Build<'b, 'a> {
    files: &'b Files<'a>,
    used: BTreeSet<SourceId>,
    resources: BTreeSet<SourceId>,
    charts: bool,
    unread: Vec<Problem>,
    above: Vec<String>,
    /// Documents of the files that were read.
    included: Vec<Span>,
    /// Patches of files that targets are for, each with whether it changed something of its kind.
    patches: Vec<(Span, bool)>,
    share: &'b Share,
}

fn problem(span: Span, message: impl Into<String>) -> Problem {
    Problem { span, message: message.into() }
}

fn items<'d>(doc: &'d Doc, key: &str) -> &'d [Doc] {
    doc.field(key).map(Doc::items).unwrap_or_default()
}

impl<'b, 'a> Build<'b, 'a> {
    fn new(files: &'b Files<'a>, share: &'b Share) -> Self {
        Self {
            files,
            share,
            used: BTreeSet::new(),
            resources: BTreeSet::new(),
            charts: false,
            unread: Vec::new(),
            above: Vec::new(),
            included: Vec::new(),
            patches: Vec::new(),
        }
    }

    /// Adds what the kustomization in a directory builds to.
    fn directory(&mut self, directory: &str, at: Span, all: &mut All) -> Result<(), Problem> {
        let Some(kustomization) = self.files.kustomizations.get(directory) else {
            return Err(problem(at, format!("`{directory}` has no kustomization")));
        };
        if self.above.iter().any(|above| above == directory) {
            return Err(problem(at, "this kustomization includes itself"));
        }
        let entered = self.share.make(64 * NODE).and_then(|()| self.share.nest(self.above.len() * 4));
        entered.map_err(|spent| problem(at, spent.to_string()))?;
        if let Some(spent) = kustomization.lacks {
            self.share.fail(spent);
        }
        self.above.push(directory.to_owned());
        let result = self.kustomization(directory, kustomization, all);
        self.above.pop();
        result
    }

    fn kustomization(&mut self, directory: &str, file: &Kustomization, all: &mut All) -> Result<(), Problem> {
        let doc = &file.doc;
        for key in ["resources", "bases"] {
            for entry in items(doc, key) {
                self.resource(directory, entry, all)?;
            }
        }
        for entry in items(doc, "configurations") {
            match self.documents(directory, entry).and_then(|documents| documents.first()) {
                Some(configuration) => Arc::make_mut(&mut all.fields).add(configuration, self.share),
                None => self.missing(entry),
            }
        }
        self.generators(directory, doc, all)?;
        for entry in items(doc, "components") {
            match entry.text().and_then(|path| join(directory, path)) {
                Some(path) if self.files.kustomizations.contains_key(path.as_str()) => {
                    self.directory(&path, entry.span, all)?;
                }
                _ => self.missing(entry),
            }
        }
        for entry in items(doc, "helmCharts") {
            let home = doc.text_at(&["helmGlobals", "chartHome"]);
            self.chart(directory, entry, home.unwrap_or("charts"), all)?;
        }
        for entry in items(doc, "generators") {
            self.generator(directory, entry, all)?;
        }
        if let Some(entry) = doc.field("helmChartInflationGenerator").filter(|entry| !entry.items().is_empty()) {
            self.unread.push(problem(entry.span, "what `helmChartInflationGenerator` adds is not built"));
        }
        self.transform(directory, doc, all)?;
        for entry in items(doc, "transformers") {
            self.transformer(directory, entry, all)?;
        }
        all.variables.extend(items(doc, "vars").iter().filter_map(Variable::read));
        Ok(())
    }

    fn missing(&mut self, entry: &Doc) {
        let path = entry.text().unwrap_or("this");
        self.unread.push(problem(entry.span, format!("`{path}` is not among the files of this run")));
    }

    /// Whether something that the build includes could not be read.
    fn partial(&self) -> bool {
        !self.unread.is_empty()
    }

    fn file(&self, directory: &str, path: &str) -> Option<File<'a>> {
        self.files.files.get(join(directory, path)?.as_str()).copied()
    }

    /// The documents of a file; those of one that is too large spend the share.
    fn documents(&self, directory: &str, entry: &Doc) -> Option<&'b [Doc]> {
        let read = self.files.documents(join(directory, entry.text()?)?.as_str())?;
        read.map_err(|spent| self.share.fail(spent)).ok()
    }

    /// Adds an entry of `resources`: a file, or a directory with a kustomization.
    fn resource(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        let Some(path) = entry.text() else { return Ok(()) };
        if let Some(documents) = self.documents(directory, entry) {
            let Some(file) = self.file(directory, path) else { return Ok(()) };
            self.used.insert(file.source);
            if !self.above.iter().any(|above| self.files.is_component(above)) {
                self.resources.insert(file.source);
            }
            for document in documents {
                self.included.push(document.span);
                add_document(document, (document.span, entry), all, self.share)?;
            }
            return Ok(());
        }
        let base = join(directory, path).filter(|path| self.files.kustomizations.contains_key(path.as_str()));
        let Some(base) = base else {
            self.missing(entry);
            return Ok(());
        };
        let mut below = All::default();
        self.directory(&base, entry.span, &mut below)?;
        for resource in below.resources {
            add(resource, entry.span, all, self.share)?;
        }
        if !Arc::ptr_eq(&below.fields, &Fields::built_in()) {
            Arc::make_mut(&mut all.fields).join(&below.fields, self.share);
        }
        all.variables.extend(below.variables);
        Ok(())
    }

    fn generators(&mut self, directory: &str, doc: &Doc, all: &mut All) -> Result<(), Problem> {
        let options = doc.field("generatorOptions");
        for (key, kind) in [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")] {
            for item in items(doc, key) {
                self.generate(directory, (kind, item), options, all)?;
            }
        }
        Ok(())
    }

    /// Adds the ConfigMap or Secret that an entry generates.
    fn generate(
        &mut self,
        directory: &str,
        (kind, item): (&str, &Doc),
        options: Option<&Doc>,
        all: &mut All,
    ) -> Result<(), Problem> {
        let mut unread = Vec::new();
        let files = self.files;
        let mut read = |entry: &Doc, path: &str| {
            let file = join(directory, path).and_then(|path| files.files.get(path.as_str()).copied());
            if file.is_none() {
                unread.push(problem(entry.span, format!("`{path}` is not among the files of this run")));
            }
            file.map(|file| (file.source, file.text))
        };
        let mut new = generate::generate(kind, item, options, self.share, &mut read)?;
        // Without all of its content there is no telling its hash.
        new.hashed &= unread.is_empty();
        let id = new.id();
        all.ids = None;
        let looked = self.share.work(4 * STEP * all.resources.len());
        looked.map_err(|spent| problem(item.span, spent.to_string()))?;
        let mut same = all.resources.iter_mut().filter(|old| old.ids().contains(&id));
        match (same.next(), new.behavior) {
            (None, Behavior::Create) => all.resources.push(new),
            (None, _) if self.unread.is_empty() => {
                return Err(problem(item.span, format!("there is no {kind} `{}` to change", id.name)));
            }
            (None, _) => all.resources.push(new),
            (Some(_), Behavior::Create) => {
                return Err(problem(item.span, format!("there is a {kind} `{}` already", id.name)));
            }
            (Some(old), _) => *old = generate::absorb(old.clone(), new),
        }
        self.unread.extend(unread);
        Ok(())
    }

    fn transform(&mut self, directory: &str, doc: &Doc, all: &mut All) -> Result<(), Problem> {
        for entry in items(doc, "patchesStrategicMerge") {
            self.strategic(directory, entry, all)?;
        }
        for entry in items(doc, "patches") {
            self.patch(directory, entry, (entry.get("patch"), all))?;
        }
        let (partial, share) = (self.partial(), self.share);
        all.ids = None;
        let All { resources, fields, .. } = all;
        if let Some(namespace) = doc.field("namespace") {
            transform::namespace(resources, namespace, (&fields.namespace, share));
            unique(resources, namespace.span)?;
        }
        for (key, suffix, fields) in [("namePrefix", false, &fields.prefix), ("nameSuffix", true, &fields.suffix)] {
            doc.field(key).into_iter().for_each(|text| transform::affix(resources, text, suffix, (fields, share)));
        }
        for entry in items(doc, "labels") {
            let pairs = entry.get("pairs");
            let fields = label_fields(entry, fields);
            pairs.into_iter().for_each(|pairs| transform::pairs(resources, pairs, (&fields, share)));
        }
        for (key, fields) in [("commonLabels", &fields.common_labels), ("commonAnnotations", &fields.annotations)] {
            doc.field(key).into_iter().for_each(|pairs| transform::pairs(resources, pairs, (fields, share)));
        }
        for entry in items(doc, "patchesJson6902") {
            self.patch(directory, entry, (entry.get("patch"), all))?;
        }
        let All { resources, fields, .. } = all;
        items(doc, "replicas")
            .iter()
            .try_for_each(|item| transform::replicas(resources, item, (&fields.replicas, share), partial))?;
        items(doc, "images").iter().for_each(|item| transform::images(resources, item, (&fields.images, share)));
        items(doc, "replacements").iter().try_for_each(|entry| self.replacement(directory, entry, all))
    }

    /// Applies a replacement, or those of a file.
    fn replacement(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        let about = (self.share, self.partial());
        let Some(path) = entry.get("path") else { return replacements::apply(&mut all.resources, entry, about) };
        match self.documents(directory, path).and_then(|documents| documents.first()) {
            Some(Doc { value: Value::Seq(list), .. }) => {
                list.iter().try_for_each(|one| replacements::apply(&mut all.resources, one, about))
            }
            Some(one) => replacements::apply(&mut all.resources, one, about),
            None => {
                self.missing(path);
                Ok(())
            }
        }
    }
}

/// The fields that an entry of `labels` is for.
fn label_fields(entry: &Doc, fields: &Fields) -> Vec<Field> {
    let set = |key: &str| entry.get(key).is_some_and(Doc::is_true);
    let mut out: Vec<Field> = items(entry, "fields").iter().filter_map(Field::read).collect();
    out.extend(fields.labels.iter().cloned());
    if set("includeSelectors") {
        out.extend(fields.common_labels.iter().cloned());
        return out;
    }
    if set("includeTemplates") {
        out.extend(fields.template_labels.iter().cloned());
    }
    out.push(Field::new(Gvk::default(), "metadata/labels", true));
    out
}

/// Adds a document that was read as the one at `read`; a List is added item by item.
fn add_document(doc: &Doc, (read, entry): (Span, &Doc), all: &mut All, share: &Share) -> Result<(), Problem> {
    if doc.is_null() || doc.entries().is_empty() && matches!(doc.value, Value::Map(_)) {
        return Ok(());
    }
    let kind = doc.text_at(&["kind"]);
    let Some(kind) = kind.filter(|_| doc.get("apiVersion").is_some() || doc.get("metadata").is_some()) else {
        return Err(problem(entry.span, "this resource has a document that is no object of Kubernetes"));
    };
    if kind.ends_with("List")
        && let Some(Value::Seq(list)) = doc.get("items").map(|items| &items.value)
    {
        return list.iter().try_for_each(|item| add_document(item, (read, entry), all, share));
    }
    add(Resource { read, ..Resource::new(doc.clone()) }, entry.span, all, share)
}

fn add(resource: Resource, at: Span, all: &mut All, share: &Share) -> Result<(), Problem> {
    let ids = all.ids.get_or_insert_with(|| {
        let _ = share.work(4 * STEP * all.resources.len());
        all.resources.iter().map(Resource::id).collect()
    });
    let id = resource.id();
    share.make(4 * NODE).map_err(|spent| problem(at, spent.to_string()))?;
    if !id.name.is_empty() && ids.contains(&id) {
        return Err(problem(at, format!("{} `{}` is in this kustomization twice", id.gvk.kind, id.name)));
    }
    ids.insert(id);
    all.resources.push(resource);
    Ok(())
}

/// Whether every resource still is another one.
fn unique(resources: &[Resource], at: Span) -> Result<(), Problem> {
    let mut seen = BTreeSet::new();
    for resource in resources {
        let id = resource.id();
        let key = (id.gvk.group, id.gvk.version, id.gvk.kind, id.namespace, id.name);
        let text = format!("in this namespace there are two {} `{}`", key.2, key.4);
        if !key.4.is_empty() && !seen.insert(key) {
            return Err(problem(at, text));
        }
    }
    Ok(())
}
