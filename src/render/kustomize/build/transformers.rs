//! Transformers that an entry of `transformers` configures. Knows those that are part of kustomize; runs no others.

use super::super::transform;
use super::{All, Build, Doc, Field, items, problem};
use crate::parse::Problem;

impl Build<'_, '_> {
    /// Applies what an entry of `transformers` configures: transformers that are part of kustomize.
    pub(super) fn transformer(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
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
        all.ids = None;
        let (resources, fields) = (&mut all.resources, (fields.as_slice(), self.share));
        match doc.text_at(&["kind"]).filter(|_| doc.text_at(&["apiVersion"]) == Some("builtin")) {
            Some("PrefixSuffixTransformer" | "PrefixTransformer" | "SuffixTransformer") => {
                for (key, suffix) in [("prefix", false), ("suffix", true)] {
                    doc.get(key).into_iter().for_each(|text| transform::affix(resources, text, suffix, fields));
                }
            }
            Some("PatchTransformer" | "PatchJson6902Transformer") => self.patch(directory, doc, all)?,
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
            kind => {
                let kind = kind.or(doc.text_at(&["kind"])).unwrap_or("this transformer");
                self.unread.push(problem(doc.head(), format!("`{kind}` is not run")));
            }
        }
        Ok(())
    }
}
