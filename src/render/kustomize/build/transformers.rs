//! Transformers that an entry of `transformers` configures. Knows those that are part of kustomize; runs no others.

use super::super::{join, transform};
use super::{All, Build, Doc, Field, Gvk, Resource, Selector, items, problem};
use crate::parse::Problem;

impl Build<'_, '_> {
    /// Applies what an entry of `transformers` configures: transformers that are part of kustomize.
    pub(super) fn transformer(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        for doc in self.configurations(directory, entry)? {
            self.configured(directory, &doc, all)?;
        }
        Ok(())
    }

    /// What an entry of `transformers` or `generators` configures: a text, a file, or what a kustomization builds to.
    pub(super) fn configurations(&mut self, directory: &str, entry: &Doc) -> Result<Vec<Doc>, Problem> {
        let path = entry.text().and_then(|path| join(directory, path));
        if let Some(path) = path.filter(|path| self.files.kustomizations.contains_key(path.as_str())) {
            let mut below = All::default();
            self.directory(&path, entry.span, &mut below)?;
            return Ok(below.resources.into_iter().map(|resource| resource.doc).collect());
        }
        let inline = entry.text().is_some_and(|text| text.contains('\n'));
        let (path, text) = if inline { (None, Some(entry)) } else { (Some(entry), None) };
        Ok(self.patch_documents(directory, path, text).unwrap_or_default())
    }

    /// What is not run is said, and the file that holds it is linted by itself: it may be no configuration at all.
    pub(super) fn not_run(&mut self, doc: &Doc, what: &str) {
        let kind = doc.text_at(&["kind"]).unwrap_or(what);
        self.unread.push(problem(doc.head(), format!("`{kind}` is not run")));
        self.used.remove(&doc.span.source);
    }

    fn configured(&mut self, directory: &str, doc: &Doc, all: &mut All) -> Result<(), Problem> {
        let fields: Vec<Field> = items(doc, "fieldSpecs").iter().filter_map(Field::read).collect();
        let partial = self.partial();
        all.ids = None;
        let (resources, fields) = (&mut all.resources, (fields.as_slice(), self.share));
        match doc.text_at(&["kind"]).filter(|_| doc.text_at(&["apiVersion"]) == Some("builtin")) {
            Some("PrefixSuffixTransformer" | "PrefixTransformer" | "SuffixTransformer") => {
                for (key, suffix) in [("prefix", false), ("suffix", true)] {
                    doc.get(key).into_iter().for_each(|text| transform::affix(resources, text, suffix, fields));
                }
            }
            Some("PatchTransformer") => self.patch(directory, doc, (doc.get("patch"), all))?,
            Some("PatchJson6902Transformer") => self.patch(directory, doc, (doc.get("jsonOp"), all))?,
            Some("PatchStrategicMergeTransformer") => {
                for entry in items(doc, "paths").iter().chain(doc.get("patches")) {
                    self.strategic(directory, entry, all)?;
                }
            }
            Some("LabelTransformer") => {
                doc.get("labels").into_iter().for_each(|pairs| transform::pairs(resources, pairs, fields));
            }
            Some("AnnotationsTransformer") => {
                doc.get("annotations").into_iter().for_each(|pairs| transform::pairs(resources, pairs, fields));
            }
            Some("ImageTagTransformer") => {
                doc.get("imageTag").into_iter().for_each(|item| transform::images(resources, item, fields));
            }
            Some("ReplicaCountTransformer") => {
                doc.get("replica").map_or(Ok(()), |item| transform::replicas(resources, item, fields, partial))?;
            }
            Some("NamespaceTransformer") => {
                let namespace = doc.at(&["metadata", "namespace"]);
                namespace.into_iter().for_each(|name| transform::namespace(resources, name, fields));
            }
            Some("ReplacementTransformer") => {
                for entry in items(doc, "replacements") {
                    self.replacement(directory, entry, all)?;
                }
            }
            Some("ValueAddTransformer") => self.value_add(doc, &mut all.resources),
            // Hashes are added in the end.
            Some("HashTransformer") => {}
            _ => self.not_run(doc, "this transformer"),
        }
        Ok(())
    }

    /// Sets a value in fields of what targets select.
    fn value_add(&self, doc: &Doc, resources: &mut [Resource]) {
        let Some(value) = doc.get("value") else { return };
        for target in items(doc, "targets") {
            let selector = target.get("selector").map(Selector::read);
            let selector = selector.as_ref().map(|selector| selector.patterns(self.share));
            let field = Field::new(Gvk::default(), target.text_at(&["fieldPath"]).unwrap_or_default(), true);
            for resource in resources.iter_mut() {
                if selector.as_ref().is_none_or(|selector| selector.selects(resource)) {
                    field.visit(resource, (self.share, value.span), &mut |doc| *doc = value.clone());
                }
            }
        }
    }
}
