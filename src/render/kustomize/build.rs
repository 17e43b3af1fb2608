//! One build: what a kustomization includes and generates, then its changes, in kustomize's order. Knows which part of
//! a kustomization does what.

use super::doc::{self, Doc, Value};
use super::fields::{Field, Fields};
use super::resource::{Behavior, Gvk, Resource};
use super::select::Selector;
use super::variables::{self, Variable};
use super::{File, Files, Kustomization, generate, join, json6902, merge, references, replacements, transform};
use crate::parse::{Dialect, Problem, Tree, yaml};
use crate::source::{SourceId, Span};
use std::collections::BTreeSet;

/// Most resources of one build.
const MAX_RESOURCES: usize = 10_000;

/// Most kustomizations that one build visits, repeats counted.
const MAX_VISITS: usize = 1_000;

/// What a kustomization builds to.
#[derive(Debug)]
pub struct Built {
    /// Its documents.
    pub tree: Tree,
    /// Files whose documents it speaks for: resources and patches.
    pub used: BTreeSet<SourceId>,
    /// What it includes that cannot be read here, each at its place.
    pub unread: Vec<Problem>,
}

/// Builds the kustomization in a directory.
///
/// # Errors
/// What keeps it from being built, at its place.
pub fn build(files: &Files<'_>, directory: &str) -> Result<Built, Problem> {
    let root = files.kustomizations.get(directory);
    let source = root.map_or(SourceId(0), |root| root.source);
    let mut build = Build { files, used: BTreeSet::new(), unread: Vec::new(), above: Vec::new(), visits: 0 };
    let mut all = All { resources: Vec::new(), fields: Fields::default(), variables: Vec::new() };
    build.directory(directory, Span::new(source, 0..0), &mut all)?;
    for resource in all.resources.iter_mut().filter(|resource| resource.hashed) {
        if let Some(hash) = generate::hash(resource) {
            resource.remember();
            resource.rename("", &format!("-{hash}"));
        }
    }
    references::update(&mut all.resources, &all.fields)?;
    variables::replace(&mut all.resources, &all.variables, &all.fields);
    let local = |resource: &Resource| {
        let annotation = resource.doc.at(&["metadata", "annotations", "config.kubernetes.io/local-config"]);
        annotation.is_some_and(|value| value.text() != Some("false"))
    };
    let documents = all.resources.into_iter().filter(|resource| !local(resource)).map(finished);
    Ok(Built { tree: doc::tree(source, documents), used: build.used, unread: build.unread })
}

/// The document of a resource. kustomize keeps notes in annotations and takes these away when, without its notes,
/// nothing is left.
fn finished(mut resource: Resource) -> Doc {
    if let Some(metadata) = resource.doc.get_mut("metadata")
        && metadata.get("annotations").is_some_and(|annotations| annotations.entries().is_empty())
    {
        metadata.remove("annotations");
    }
    resource.doc
}

/// What a kustomization has gathered.
struct All {
    resources: Vec<Resource>,
    fields: Fields,
    variables: Vec<Variable>,
}

struct Build<'b, 'a> {
    files: &'b Files<'a>,
    used: BTreeSet<SourceId>,
    unread: Vec<Problem>,
    above: Vec<String>,
    visits: usize,
}

fn problem(span: Span, message: impl Into<String>) -> Problem {
    Problem { span, message: message.into() }
}

fn items<'d>(doc: &'d Doc, key: &str) -> &'d [Doc] {
    doc.get(key).map(Doc::items).unwrap_or_default()
}

impl<'a> Build<'_, 'a> {
    /// Adds what the kustomization in a directory builds to.
    fn directory(&mut self, directory: &str, at: Span, all: &mut All) -> Result<(), Problem> {
        let Some(kustomization) = self.files.kustomizations.get(directory) else {
            return Err(problem(at, format!("`{directory}` has no kustomization")));
        };
        self.visits += 1;
        if self.above.iter().any(|above| above == directory) {
            return Err(problem(at, "this kustomization includes itself"));
        }
        if self.visits > MAX_VISITS || self.above.len() > 32 {
            return Err(problem(at, "too many kustomizations include each other"));
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
            match self.tree(directory, entry).and_then(|tree| tree.roots().next()).and_then(Doc::read) {
                Some(configuration) => all.fields.add(&configuration),
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
        for key in ["helmCharts", "helmChartInflationGenerator", "generators"] {
            if let Some(entry) = doc.get(key).filter(|entry| !entry.items().is_empty()) {
                self.unread.push(problem(entry.span, format!("what `{key}` adds is not built")));
            }
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

    fn tree(&self, directory: &str, entry: &Doc) -> Option<&'a Tree> {
        self.file(directory, entry.text()?)?.tree
    }

    /// Adds an entry of `resources`: a file, or a directory with a kustomization.
    fn resource(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        let Some(path) = entry.text() else { return Ok(()) };
        if let Some(tree) = self.tree(directory, entry) {
            self.used.insert(tree.source);
            for root in tree.roots() {
                let read = Doc::read(root).ok_or_else(|| problem(entry.span, "this resource is too large"))?;
                add_document(read, entry, &mut all.resources)?;
            }
            return Ok(());
        }
        let base = join(directory, path).filter(|path| self.files.kustomizations.contains_key(path.as_str()));
        let Some(base) = base else {
            self.missing(entry);
            return Ok(());
        };
        let mut below = All { resources: Vec::new(), fields: Fields::default(), variables: Vec::new() };
        self.directory(&base, entry.span, &mut below)?;
        for resource in below.resources {
            add(resource, entry.span, &mut all.resources)?;
        }
        all.fields.join(&below.fields);
        all.variables.extend(below.variables);
        Ok(())
    }

    fn generators(&mut self, directory: &str, doc: &Doc, all: &mut All) -> Result<(), Problem> {
        let options = doc.get("generatorOptions");
        for (key, kind) in [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")] {
            for item in items(doc, key) {
                let mut unread = Vec::new();
                let files = self.files;
                let mut read = |entry: &Doc, path: &str| {
                    let file = join(directory, path).and_then(|path| files.files.get(path.as_str()).copied());
                    if file.is_none() {
                        unread.push(problem(entry.span, format!("`{path}` is not among the files of this run")));
                    }
                    file.map(|file| (file.source, file.text))
                };
                let mut new = generate::generate(kind, item, options, &mut read)?;
                // Without all of its content there is no telling its hash.
                new.hashed &= unread.is_empty();
                let id = new.id();
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
            }
        }
        Ok(())
    }

    fn transform(&mut self, directory: &str, doc: &Doc, all: &mut All) -> Result<(), Problem> {
        for entry in items(doc, "patchesStrategicMerge") {
            self.strategic(directory, entry, all)?;
        }
        for entry in items(doc, "patches") {
            self.patch(directory, entry, all)?;
        }
        let partial = self.partial();
        let All { resources, fields, .. } = all;
        if let Some(namespace) = doc.get("namespace") {
            transform::namespace(resources, namespace, &fields.namespace);
            unique(resources, namespace.span)?;
        }
        for (key, suffix, fields) in [("namePrefix", false, &fields.prefix), ("nameSuffix", true, &fields.suffix)] {
            doc.get(key).into_iter().for_each(|text| transform::affix(resources, text, suffix, fields));
        }
        for entry in items(doc, "labels") {
            let pairs = entry.get("pairs");
            pairs.into_iter().for_each(|pairs| transform::pairs(resources, pairs, &label_fields(entry, fields)));
        }
        for (key, fields) in [("commonLabels", &fields.common_labels), ("commonAnnotations", &fields.annotations)] {
            doc.get(key).into_iter().for_each(|pairs| transform::pairs(resources, pairs, fields));
        }
        for entry in items(doc, "patchesJson6902") {
            self.patch(directory, entry, all)?;
        }
        let All { resources, fields, .. } = all;
        items(doc, "replicas")
            .iter()
            .try_for_each(|item| transform::replicas(resources, item, &fields.replicas, partial))?;
        items(doc, "images").iter().for_each(|item| transform::images(resources, item, &fields.images));
        for entry in items(doc, "replacements") {
            let Some(path) = entry.get("path") else {
                replacements::apply(resources, entry, partial)?;
                continue;
            };
            match self.tree(directory, path).and_then(|tree| tree.roots().next()).and_then(Doc::read) {
                Some(Doc { value: Value::Seq(list), .. }) => {
                    list.iter().try_for_each(|one| replacements::apply(resources, one, partial))?;
                }
                Some(one) => replacements::apply(resources, &one, partial)?,
                None => self.missing(path),
            }
        }
        Ok(())
    }

    /// Applies what an entry of `transformers` configures: transformers that are part of kustomize.
    fn transformer(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        let inline = entry.text().is_some_and(|text| text.contains('\n'));
        let (path, text) = if inline { (None, Some(entry)) } else { (Some(entry), None) };
        for doc in self.patch_documents(directory, path, text).unwrap_or_default() {
            self.configured(directory, &doc, all)?;
        }
        Ok(())
    }

    fn configured(&mut self, directory: &str, doc: &Doc, all: &mut All) -> Result<(), Problem> {
        let fields: Vec<Field> = items(doc, "fieldSpecs").iter().filter_map(Field::read).collect();
        let partial = self.partial();
        let resources = &mut all.resources;
        match doc.text_at(&["kind"]).filter(|_| doc.text_at(&["apiVersion"]) == Some("builtin")) {
            Some("PrefixSuffixTransformer" | "PrefixTransformer" | "SuffixTransformer") => {
                for (key, suffix) in [("prefix", false), ("suffix", true)] {
                    doc.get(key).into_iter().for_each(|text| transform::affix(resources, text, suffix, &fields));
                }
            }
            Some("PatchTransformer" | "PatchJson6902Transformer") => self.patch(directory, doc, all)?,
            Some("PatchStrategicMergeTransformer") => {
                for entry in items(doc, "paths").iter().chain(doc.get("patches")) {
                    self.strategic(directory, entry, all)?;
                }
            }
            Some("LabelTransformer") => {
                doc.get("labels").into_iter().for_each(|pairs| transform::pairs(resources, pairs, &fields));
            }
            Some("AnnotationsTransformer") => {
                doc.get("annotations").into_iter().for_each(|pairs| transform::pairs(resources, pairs, &fields));
            }
            Some("ImageTagTransformer") => {
                doc.get("imageTag").into_iter().for_each(|item| transform::images(resources, item, &fields));
            }
            Some("ReplicaCountTransformer") => {
                doc.get("replica").map_or(Ok(()), |item| transform::replicas(resources, item, &fields, partial))?;
            }
            Some("NamespaceTransformer") => {
                let namespace = doc.at(&["metadata", "namespace"]);
                namespace.into_iter().for_each(|name| transform::namespace(resources, name, &fields));
            }
            kind => {
                let kind = kind.or(doc.text_at(&["kind"])).unwrap_or("this transformer");
                self.unread.push(problem(doc.head(), format!("`{kind}` is not run")));
            }
        }
        Ok(())
    }

    /// The documents of a patch: a file, or a text in the kustomization.
    fn patch_documents(&mut self, directory: &str, path: Option<&Doc>, text: Option<&Doc>) -> Option<Vec<Doc>> {
        let parsed;
        let tree = match (path, text.map(|text| &text.value)) {
            (_, Some(Value::Scalar { text, .. })) => {
                parsed = yaml::parse_traced(text, Dialect::Kubernetes);
                &parsed
            }
            (Some(path), _) => match self.tree(directory, path) {
                Some(tree) => {
                    self.used.insert(tree.source);
                    tree
                }
                None => {
                    self.missing(path);
                    return None;
                }
            },
            _ => return None,
        };
        Some(tree.roots().filter_map(Doc::read).filter(|doc| !doc.is_null()).collect())
    }

    /// Applies an entry of `patches` or `patchesJson6902`.
    fn patch(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        let Some(patches) = self.patch_documents(directory, entry.get("path"), entry.get("patch")) else {
            return Ok(());
        };
        let selector = entry.get("target").map(Selector::read);
        let option = |key: &str| entry.at(&["options", key]).is_some_and(Doc::is_true);
        for patch in patches {
            let Some(selector) = &selector else {
                self.by_name(&patch, entry, &mut all.resources)?;
                continue;
            };
            let mut kept = Vec::new();
            for mut resource in std::mem::take(&mut all.resources) {
                let stays = if !selector.selects(&resource) {
                    true
                } else if matches!(patch.value, Value::Seq(_)) {
                    resource.remember();
                    json6902::apply(&mut resource.doc, &patch)?;
                    true
                } else {
                    strategic(&mut resource, &patch, option("allowNameChange"), option("allowKindChange"))?
                };
                if stays {
                    kept.push(resource);
                }
            }
            all.resources = kept;
        }
        Ok(())
    }

    /// Applies an entry of `patchesStrategicMerge`: a path, or the patch itself.
    fn strategic(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        let inline = entry.text().is_some_and(|text| text.contains('\n'));
        let (path, text) = if inline { (None, Some(entry)) } else { (Some(entry), None) };
        for patch in self.patch_documents(directory, path, text).unwrap_or_default() {
            self.by_name(&patch, entry, &mut all.resources)?;
        }
        Ok(())
    }

    /// Applies a strategic merge patch to the resource that it names.
    fn by_name(&mut self, patch: &Doc, entry: &Doc, resources: &mut Vec<Resource>) -> Result<(), Problem> {
        if !matches!(patch.value, Value::Map(_)) {
            return Err(problem(entry.span, "a JSON patch needs a target"));
        }
        let id = Resource::new(patch.clone()).id();
        let mut found = (0..resources.len()).filter(|&i| resources[i].ids().contains(&id));
        match (found.next(), found.next()) {
            (Some(at), None) => {
                if !strategic(&mut resources[at], patch, false, false)? {
                    resources.remove(at);
                }
                Ok(())
            }
            (None, _) if self.partial() => {
                // It is for a resource that is not here, so it is read on its own.
                self.used.remove(&patch.span.source);
                Ok(())
            }
            (None, _) => Err(problem(
                patch.head(),
                format!("this patch is for {} `{}`, which is not in the build", id.gvk.kind, id.name),
            )),
            _ => Err(problem(patch.head(), format!("this patch may be for several {} `{}`", id.gvk.kind, id.name))),
        }
    }
}

/// Applies a strategic merge patch; `false` when it deletes the resource.
fn strategic(resource: &mut Resource, patch: &Doc, rename: bool, rekind: bool) -> Result<bool, Problem> {
    if rename || rekind {
        resource.remember();
    }
    let keep = |path: &[&str]| resource.doc.at(path).cloned();
    let (kind, name, namespace) = (keep(&["kind"]), keep(&["metadata", "name"]), keep(&["metadata", "namespace"]));
    let gvk = resource.gvk();
    if !merge::apply(&mut resource.doc, patch, &gvk)? {
        return Ok(false);
    }
    if let Some(kind) = kind.filter(|_| !rekind) {
        resource.doc.set(Doc::string("kind", kind.span), kind);
    }
    if let Some(metadata) = resource.doc.get_mut("metadata") {
        if let Some(name) = name.filter(|_| !rename) {
            metadata.set(Doc::string("name", name.span), name);
        }
        match namespace {
            Some(namespace) => metadata.set(Doc::string("namespace", namespace.span), namespace),
            None => drop(metadata.remove("namespace")),
        }
    }
    Ok(true)
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

/// Adds a document of a file; a List is added item by item.
fn add_document(doc: Doc, entry: &Doc, resources: &mut Vec<Resource>) -> Result<(), Problem> {
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
        return list.iter().try_for_each(|item| add_document(item.clone(), entry, resources));
    }
    add(Resource::new(doc), entry.span, resources)
}

fn add(resource: Resource, at: Span, resources: &mut Vec<Resource>) -> Result<(), Problem> {
    let id = resource.id();
    if resources.len() >= MAX_RESOURCES {
        return Err(problem(at, "this kustomization has too many resources"));
    }
    if !id.name.is_empty() && resources.iter().any(|old| old.id() == id) {
        return Err(problem(at, format!("{} `{}` is in this kustomization twice", id.gvk.kind, id.name)));
    }
    resources.push(resource);
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
