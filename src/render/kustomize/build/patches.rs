//! Patches of a build: where they are written and what they are for. Knows both kinds; how they change a document is
//! told elsewhere.

use super::super::{json6902, merge};
use super::{All, Build, Doc, Resource, Selector, Value, problem};
use crate::budget::{STEP, Share};
use crate::parse::{Dialect, Problem, yaml};

impl Build<'_, '_> {
    /// The documents of a patch: a file, or a text in the kustomization.
    pub(super) fn patch_documents(
        &mut self,
        directory: &str,
        path: Option<&Doc>,
        text: Option<&Doc>,
    ) -> Option<Vec<Doc>> {
        let documents = match (path, text.map(|text| &text.value)) {
            (_, Some(Value::Scalar { text, .. })) => {
                self.share.work(text.text().len()).ok()?;
                let tree = yaml::parse_traced(text, Dialect::Kubernetes);
                tree.roots().map(|root| Doc::read(root, self.share)).collect::<Result<Vec<_>, _>>().ok()?
            }
            (Some(path), _) => match self.documents(directory, path) {
                Some(documents) => {
                    self.used.extend(path.text().and_then(|path| self.file(directory, path)).map(|file| file.source));
                    documents.to_vec()
                }
                None => {
                    self.missing(path);
                    return None;
                }
            },
            _ => return None,
        };
        Some(documents.into_iter().filter(|doc| !doc.is_null()).collect())
    }

    /// Applies an entry of `patches` or `patchesJson6902`.
    pub(super) fn patch(
        &mut self,
        directory: &str,
        entry: &Doc,
        (text, all): (Option<&Doc>, &mut All),
    ) -> Result<(), Problem> {
        let Some(patches) = self.patch_documents(directory, entry.get("path"), text) else {
            return Ok(());
        };
        let selector = entry.get("target").map(Selector::read);
        let option = |key: &str| entry.at(&["options", key]).is_some_and(Doc::is_true);
        let selector = selector.as_ref().map(|selector| selector.patterns(self.share));
        all.ids = None;
        for patch in patches {
            let Some(selector) = &selector else {
                self.by_name(&patch, entry, &mut all.resources)?;
                continue;
            };
            let (mut kept, mut applied) = (Vec::new(), false);
            let operations = matches!(patch.value, Value::Seq(_));
            for mut resource in std::mem::take(&mut all.resources) {
                let selected = selector.selects(&resource);
                applied |= selected && (operations || patch.text_at(&["kind"]) == Some(resource.kind()));
                let stays = if !selected {
                    true
                } else if operations {
                    resource.remember();
                    let done = json6902::apply(&mut resource.doc, &patch, self.share);
                    if resource.open { true } else { done.map(|()| true)? }
                } else {
                    strategic(
                        &mut resource,
                        &patch,
                        (option("allowNameChange"), option("allowKindChange")),
                        self.share,
                    )?
                };
                if stays {
                    kept.push(resource);
                }
            }
            all.resources = kept;
            if !applied && !operations && self.partial() {
                let (own, target) = (patch.at(&["metadata", "name"]), entry.at(&["target", "name"]));
                let meant = target.filter(|target| own.is_none_or(|own| own.text() != target.text())).or(own);
                all.resources.extend(absent(&patch, meant, self.share));
            }
            // A whole object that changes none of its kind is not told by what is built, if all of that is here.
            if !operations && entry.get("path").is_some() {
                self.patches.push((patch.span, applied || self.partial()));
            }
        }
        Ok(())
    }

    /// Applies an entry of `patchesStrategicMerge`: a path, or the patch itself.
    pub(super) fn strategic(&mut self, directory: &str, entry: &Doc, all: &mut All) -> Result<(), Problem> {
        let inline = entry.text().is_some_and(|text| text.contains('\n'));
        let (path, text) = if inline { (None, Some(entry)) } else { (Some(entry), None) };
        for patch in self.patch_documents(directory, path, text).unwrap_or_default() {
            all.ids = None;
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
        self.share.work(4 * STEP * resources.len()).map_err(|spent| problem(entry.span, spent.to_string()))?;
        let mut found = (0..resources.len()).filter(|&i| resources[i].ids().contains(&id));
        match (found.next(), found.next()) {
            (Some(at), None) => {
                if !strategic(&mut resources[at], patch, (false, false), self.share)? {
                    resources.remove(at);
                }
                Ok(())
            }
            (None, _) if self.partial() => {
                resources.extend(absent(patch, patch.at(&["metadata", "name"]), self.share));
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

/// The resource that a patch is for, where it is not here, by its name: no more is known of it than the patch says.
fn absent(patch: &Doc, name: Option<&Doc>, share: &Share) -> Option<Resource> {
    let stated = |key: &str| patch.text_at(&[key]).is_some();
    let name = name.filter(|name| name.text().is_some_and(|name| !name.contains(['*', '(', '|', '[', '^', '$', '+'])));
    let (true, Some(name)) = (stated("kind") && stated("apiVersion"), name) else { return None };
    let mut doc = Doc::map(patch.span);
    let stays = merge::apply(&mut doc, patch, &Resource::new(patch.clone()).gvk(), share).ok()?;
    let metadata = doc.entry("metadata", name.span)?;
    metadata.set(Doc::string("name", name.span), name.clone());
    stays.then(|| Resource { open: true, ..Resource::new(doc) })
}

/// Applies a strategic merge patch; `false` when it deletes the resource.
fn strategic(
    resource: &mut Resource,
    patch: &Doc,
    (rename, rekind): (bool, bool),
    share: &Share,
) -> Result<bool, Problem> {
    if rename || rekind {
        resource.remember();
    }
    let keep = |path: &[&str]| resource.doc.at(path).cloned();
    let (kind, name, namespace) = (keep(&["kind"]), keep(&["metadata", "name"]), keep(&["metadata", "namespace"]));
    let gvk = resource.gvk();
    if !merge::apply(&mut resource.doc, patch, &gvk, share)? {
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
