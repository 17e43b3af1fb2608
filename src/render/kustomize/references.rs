//! References by name: fields that name other resources follow them when they are renamed. Knows which fields of the
//! built-in kinds are references.

use super::doc::{Doc, Value};
use super::field::Field;
use super::resource::{Gvk, Id, Resource};
use crate::budget::{STEP, Share};
use crate::parse::Problem;
use crate::source::Traced;
use std::collections::{BTreeSet, HashMap};

/// Kinds of group, version and kind.
fn gvk(group: &str, version: &str, kind: &str) -> Gvk {
    Gvk { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
}

/// Where kinds with pods keep what their pods are.
const PODS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
];

/// Kinds with pods whose ConfigMaps and Secrets are followed.
const DATA: std::ops::Range<usize> = 0..8;

/// References in pods: group, version and kind of what is named, and the fields in `spec`.
const IN_PODS: &[(&str, &[&str])] = &[
    (
        "ConfigMap",
        &[
            "volumes/configMap/name",
            "containers/env/valueFrom/configMapKeyRef/name",
            "initContainers/env/valueFrom/configMapKeyRef/name",
            "containers/envFrom/configMapRef/name",
            "initContainers/envFrom/configMapRef/name",
            "volumes/projected/sources/configMap/name",
        ],
    ),
    (
        "Secret",
        &[
            "volumes/secret/secretName",
            "containers/env/valueFrom/secretKeyRef/name",
            "initContainers/env/valueFrom/secretKeyRef/name",
            "containers/envFrom/secretRef/name",
            "initContainers/envFrom/secretRef/name",
            "imagePullSecrets/name",
            "volumes/projected/sources/secret/name",
        ],
    ),
    ("ServiceAccount", &["serviceAccountName"]),
    ("PersistentVolumeClaim", &["volumes/persistentVolumeClaim/claimName"]),
    ("PriorityClass", &["priorityClassName"]),
];

/// Other references: what is named, then group, kind and field of who names it.
const OTHERS: &[(&str, &str, &str, &str)] = &[
    ("Deployment", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("ReplicationController", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("ReplicaSet", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("StatefulSet", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("ConfigMap", "", "Node", "spec/configSource/configMap"),
    ("ConfigMap", "", "Role", "rules/resourceNames"),
    ("ConfigMap", "", "ClusterRole", "rules/resourceNames"),
    ("ConfigMap", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap"),
    ("Secret", "", "Ingress", "spec/tls/secretName"),
    ("Secret", "", "Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret"),
    ("Secret", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret"),
    ("Secret", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret"),
    ("Secret", "", "ServiceAccount", "imagePullSecrets/name"),
    ("Secret", "", "StorageClass", "parameters/secretName"),
    ("Secret", "", "StorageClass", "parameters/adminSecretName"),
    ("Secret", "", "StorageClass", "parameters/userSecretName"),
    ("Secret", "", "StorageClass", "parameters/secretRef"),
    ("Secret", "", "Role", "rules/resourceNames"),
    ("Secret", "", "ClusterRole", "rules/resourceNames"),
    ("Secret", "serving.knative.dev", "Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
    ("Secret", "", "PersistentVolume", "spec/azureFile/secretName"),
    ("Service", "apps", "StatefulSet", "spec/serviceName"),
    ("Service", "", "Ingress", "spec/rules/http/paths/backend/serviceName"),
    ("Service", "", "Ingress", "spec/backend/serviceName"),
    ("Service", "", "Ingress", "spec/rules/http/paths/backend/service/name"),
    ("Service", "", "Ingress", "spec/defaultBackend/service/name"),
    ("Service", "apiregistration.k8s.io", "APIService", "spec/service/name"),
    ("Service", "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
    ("Service", "admissionregistration.k8s.io", "MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
    ("Role", "rbac.authorization.k8s.io", "RoleBinding", "roleRef/name"),
    ("ClusterRole", "rbac.authorization.k8s.io", "RoleBinding", "roleRef/name"),
    ("ClusterRole", "rbac.authorization.k8s.io", "ClusterRoleBinding", "roleRef/name"),
    ("ServiceAccount", "rbac.authorization.k8s.io", "RoleBinding", "subjects"),
    ("ServiceAccount", "rbac.authorization.k8s.io", "ClusterRoleBinding", "subjects"),
    ("PersistentVolume", "", "PersistentVolumeClaim", "spec/volumeName"),
    ("PersistentVolume", "", "ClusterRole", "rules/resourceNames"),
    ("StorageClass", "", "PersistentVolume", "spec/storageClassName"),
    ("StorageClass", "", "PersistentVolumeClaim", "spec/storageClassName"),
    ("StorageClass", "", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
    (
        "ValidatingAdmissionPolicy",
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        "spec/policyName",
    ),
];

/// Group and version of kinds that are named; the others are meant in any group.
const NAMED: &[(&str, &str, &str)] = &[
    ("ConfigMap", "", "v1"),
    ("Secret", "", "v1"),
    ("Service", "", "v1"),
    ("ServiceAccount", "", "v1"),
    ("PersistentVolumeClaim", "", "v1"),
    ("PersistentVolume", "", "v1"),
    ("Role", "rbac.authorization.k8s.io", ""),
    ("ClusterRole", "rbac.authorization.k8s.io", ""),
    ("StorageClass", "storage.k8s.io", "v1"),
    ("PriorityClass", "scheduling.k8s.io", "v1"),
    ("ValidatingAdmissionPolicy", "admissionregistration.k8s.io", ""),
];

fn named(kind: &str) -> Gvk {
    let (_, group, version) = NAMED.iter().find(|(named, ..)| *named == kind).copied().unwrap_or((kind, "", ""));
    gvk(group, version, kind)
}

/// Every kind that is named, with the fields that name it.
pub fn builtin() -> Vec<(Gvk, Vec<Field>)> {
    let mut all: Vec<(Gvk, Vec<Field>)> = Vec::new();
    let mut push = |kind: &str, field: Field| {
        let kind = named(kind);
        match all.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, fields)) => fields.push(field),
            None => all.push((kind, vec![field])),
        }
    };
    for (kind, paths) in IN_PODS {
        let holders: Vec<&(&str, &str)> = match *kind {
            "ConfigMap" | "Secret" => PODS[DATA].iter().collect(),
            _ => PODS.iter().filter(|(holder, _)| !matches!(*holder, "PodTemplate" | "ReplicaSet")).collect(),
        };
        for (holder, at) in holders {
            paths.iter().for_each(|path| push(kind, Field::new(gvk("", "", holder), &format!("{at}/{path}"), false)));
        }
    }
    OTHERS.iter().for_each(|(kind, group, holder, path)| push(kind, Field::new(gvk(group, "", holder), path, false)));
    all
}

/// Lets every reference follow what it names.
///
/// # Errors
/// A name that may mean several resources.
pub fn update(resources: &mut [Resource], references: &[(Gvk, Vec<Field>)], share: &Share) -> Result<(), Problem> {
    let targets: Vec<Resource> = resources.to_vec();
    if targets.iter().all(|target| target.history.is_empty()) {
        return Ok(());
    }
    let ids: Vec<(&Resource, Vec<Id>)> = targets.iter().map(|target| (target, target.former_ids())).collect();
    let mut named: Vec<(Candidates<'_>, &[Field])> = Vec::new();
    for (kind, fields) in references.iter().take_while(|_| share.work(STEP * ids.len()).is_ok()) {
        let of_kind = ids.iter().filter(|(_, ids)| ids.iter().any(|id| id.gvk.is_selected_by(kind)));
        named.push((Candidates::new(of_kind), fields));
    }
    named.retain(|(candidates, _)| !candidates.all.is_empty());
    for resource in resources {
        let first = resource.original_id().gvk;
        let referrer = resource.clone();
        let mut failed = None;
        for (candidates, list) in &named {
            for field in list.iter().filter(|f| first.is_selected_by(&f.gvk)) {
                let names = Names { referrer: &referrer, candidates, field, share };
                let span = resource.doc.span;
                field.visit(resource, (share, span), &mut |doc| {
                    if let Err(problem) = names.set(doc) {
                        failed.get_or_insert(problem);
                    }
                });
            }
        }
        if let Some(problem) = failed {
            return Err(problem);
        }
    }
    Ok(())
}

/// Resources that may be meant, and those of a name.
#[derive(Default)]
struct Candidates<'a> {
    all: Vec<&'a Resource>,
    by_name: HashMap<&'a str, Vec<&'a Resource>>,
}

impl<'a> Candidates<'a> {
    fn new(of_kind: impl Iterator<Item = &'a (&'a Resource, Vec<Id>)>) -> Self {
        let mut out = Self::default();
        for (target, ids) in of_kind {
            out.all.push(target);
            for name in ids.iter().map(|id| id.name.as_str()).collect::<BTreeSet<_>>() {
                out.by_name.entry(name).or_default().push(target);
            }
        }
        out
    }
}

struct Names<'a> {
    referrer: &'a Resource,
    candidates: &'a Candidates<'a>,
    field: &'a Field,
    share: &'a Share,
}

impl Names<'_> {
    fn set(&self, doc: &mut Doc) -> Result<(), Problem> {
        if doc.open(self.share).is_err() {
            return Ok(());
        }
        match &mut doc.value {
            Value::Seq(items) => items.iter_mut().try_for_each(|item| self.set(item)),
            Value::Map(_) => self.set_map(doc),
            _ => self.set_scalar(doc),
        }
    }

    fn set_scalar(&self, doc: &mut Doc) -> Result<(), Problem> {
        let Some(old) = doc.text() else { return Ok(()) };
        let target = self.target(old, doc, None)?;
        if let Some(target) = target.filter(|target| target.name() != old) {
            doc.set_text(Traced::opaque(target.name(), doc.span));
        }
        Ok(())
    }

    fn set_map(&self, doc: &mut Doc) -> Result<(), Problem> {
        let Some(old) = doc.text_at(&["name"]) else { return Ok(()) };
        let target = self.target(old, doc, doc.text_at(&["namespace"]))?;
        let Some(target) = target.filter(|t| t.name() != old || !t.stated_namespace().is_empty()) else {
            return Ok(());
        };
        let (name, namespace) = (target.name(), target.stated_namespace());
        for (key, text) in [("name", name), ("namespace", namespace)] {
            let span = doc.get(key).map_or(doc.span, |old| old.span);
            if !text.is_empty() && doc.text_at(&[key]) != Some(text) {
                doc.set(Doc::string(key, span), Doc::string(text, span));
            }
        }
        Ok(())
    }

    /// The resource that a name means.
    fn target(&self, name: &str, at: &Doc, namespace: Option<&str>) -> Result<Option<&Resource>, Problem> {
        let here = self.referrer.id();
        let bound = self.bound_namespaces();
        let cluster = here.gvk.is_cluster_scoped();
        // Whoever may be named at all: in the same namespace, in none, or in one that a binding states.
        let reachable = |target: &&Resource| {
            let id = target.id();
            cluster
                || id.gvk.is_cluster_scoped()
                || id.namespace == here.namespace
                || bound.contains(&target.stated_namespace())
        };
        let in_namespace = |target: &&Resource, first: bool| {
            let id = if first { target.original_id() } else { target.id() };
            namespace.is_none_or(|namespace| id.namespace == namespace)
        };
        let role = self.role();
        let fits = |target: &&Resource| {
            let ids = target.former_ids();
            let id = target.id();
            ids.iter().any(|id| id.name == name)
                && role.as_ref().is_none_or(|role| ids.iter().any(|id| id.gvk.is_selected_by(role)))
                && (cluster
                    || id.gvk.is_cluster_scoped()
                    || id.gvk.kind == "ServiceAccount"
                    || id.namespace == here.namespace)
        };
        // Whether any is in the namespace that is stated decides, whatever its name.
        let of_name = || self.candidates.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        let candidates = if namespace.is_some() { &self.candidates.all } else { of_name() };
        if self.share.work(8 * STEP * (1 + candidates.len())).is_err() {
            return Ok(None);
        }
        let all: Vec<&Resource> = candidates.iter().copied().filter(reachable).collect();
        let first: Vec<&Resource> = all.iter().copied().filter(|t| in_namespace(t, true)).collect();
        let pool = if first.is_empty() { all.into_iter().filter(|t| in_namespace(t, false)).collect() } else { first };
        let mut found: Vec<&Resource> = pool.into_iter().filter(fits).collect();
        if found.len() > 1 {
            found.retain(|target| same_context(target, self.referrer, true));
        }
        if found.len() > 1 {
            found.retain(|target| same_context(target, self.referrer, false));
        }
        let agree = found.iter().all(|t| {
            t.name() == found[0].name() && (namespace.is_none() || t.stated_namespace() == found[0].stated_namespace())
        });
        if !agree {
            let message = format!("`{name}` may mean {} resources of this build", found.len());
            return Err(Problem { span: at.span, message });
        }
        Ok(found.first().copied())
    }

    /// The kind that the `roleRef` of a binding states.
    fn role(&self) -> Option<Gvk> {
        if !self.field.path.ends_with(&["roleRef".to_owned(), "name".to_owned()]) {
            return None;
        }
        let text = |key| self.referrer.doc.text_at(&["roleRef", key]);
        Some(gvk(text("apiGroup")?, "", text("kind")?))
    }

    fn bound_namespaces(&self) -> Vec<&str> {
        if self.referrer.kind() != "RoleBinding" {
            return Vec::new();
        }
        let subjects = self.referrer.doc.get("subjects").map(Doc::items).unwrap_or_default();
        let accounts = subjects.iter().filter(|subject| subject.text_at(&["kind"]) == Some("ServiceAccount"));
        accounts.filter_map(|subject| subject.text_at(&["namespace"])).collect()
    }
}

/// Whether two resources got the same prefixes and suffixes from the outermost inwards.
fn same_context(a: &Resource, b: &Resource, empty_fits: bool) -> bool {
    let same = |a: &[String], b: &[String]| {
        let shorter = a.len().min(b.len());
        empty_fits && shorter == 0
            || (shorter > 0 || a.len() == b.len()) && a[a.len() - shorter..] == b[b.len() - shorter..]
    };
    same(&a.prefixes, &b.prefixes) && same(&a.suffixes, &b.suffixes)
}
