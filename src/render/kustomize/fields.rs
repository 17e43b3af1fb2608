//! Fields that transformations change, by kind. Knows the built-in kinds of Kubernetes as kustomize does; takes further
//! fields from `configurations`.

use super::doc::Doc;
use super::field::Field;
use super::resource::Gvk;
use crate::budget::Share;
use std::sync::{Arc, LazyLock};

/// Fields of one transformation: group, kind, path, whether it is made.
type Row = (&'static str, &'static str, &'static str, bool);

fn fields(rows: &[Row]) -> Vec<Field> {
    let field = |&(group, kind, path, create): &Row| {
        let gvk = Gvk { group: group.to_owned(), version: String::new(), kind: kind.to_owned() };
        Field::new(gvk, path, create)
    };
    rows.iter().map(field).collect()
}

const METADATA_LABELS: &[Row] = &[
    ("", "", "metadata/labels", true),
    ("", "ReplicationController", "spec/template/metadata/labels", true),
    ("", "Deployment", "spec/template/metadata/labels", true),
    ("", "ReplicaSet", "spec/template/metadata/labels", true),
    ("", "DaemonSet", "spec/template/metadata/labels", true),
    ("apps", "StatefulSet", "spec/template/metadata/labels", true),
    ("apps", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
    ("batch", "Job", "spec/template/metadata/labels", true),
    ("batch", "CronJob", "spec/jobTemplate/metadata/labels", true),
    ("batch", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
];

const SELECTORS: &[Row] = &[
    ("", "Service", "spec/selector", true),
    ("", "ReplicationController", "spec/selector", true),
    ("", "Deployment", "spec/selector/matchLabels", true),
    ("", "ReplicaSet", "spec/selector/matchLabels", true),
    ("", "DaemonSet", "spec/selector/matchLabels", true),
    ("apps", "StatefulSet", "spec/selector/matchLabels", true),
    ("batch", "Job", "spec/selector/matchLabels", false),
    ("batch", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
    ("policy", "PodDisruptionBudget", "spec/selector/matchLabels", false),
    ("networking.k8s.io", "NetworkPolicy", "spec/podSelector/matchLabels", false),
    ("networking.k8s.io", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
    ("networking.k8s.io", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
];

/// Label selectors in pod templates, for Deployments and StatefulSets.
const POD_SELECTORS: &[&str] = &[
    "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm",
    "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution",
    "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm",
    "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution",
    "topologySpreadConstraints",
];

const ANNOTATIONS: &[Row] = &[
    ("", "", "metadata/annotations", true),
    ("", "ReplicationController", "spec/template/metadata/annotations", true),
    ("", "Deployment", "spec/template/metadata/annotations", true),
    ("", "ReplicaSet", "spec/template/metadata/annotations", true),
    ("", "DaemonSet", "spec/template/metadata/annotations", true),
    ("", "StatefulSet", "spec/template/metadata/annotations", true),
    ("batch", "Job", "spec/template/metadata/annotations", true),
    ("batch", "CronJob", "spec/jobTemplate/metadata/annotations", true),
    ("batch", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations", true),
];

const IMAGES: &[Row] = &[
    ("", "", "spec/containers[]/image", false),
    ("", "", "spec/initContainers[]/image", false),
    ("", "", "spec/volumes[]/image/reference", false),
    ("", "", "spec/template/spec/containers[]/image", false),
    ("", "", "spec/template/spec/initContainers[]/image", false),
    ("", "", "spec/template/spec/volumes[]/image/reference", false),
];

const REPLICAS: &[Row] = &[
    ("", "Deployment", "spec/replicas", true),
    ("", "ReplicationController", "spec/replicas", true),
    ("", "ReplicaSet", "spec/replicas", true),
    ("", "StatefulSet", "spec/replicas", true),
];

const NAMESPACES: &[Row] = &[
    ("", "Namespace", "metadata/name", true),
    ("apiregistration.k8s.io", "APIService", "spec/service/namespace", true),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "spec/conversion/webhook/clientConfig/service/namespace",
        false,
    ),
];

/// Fields of every transformation: what kustomize knows and what `configurations` add.
#[derive(Debug, Clone)]
pub struct Fields {
    /// Names that get prefixes.
    pub prefix: Vec<Field>,
    /// Names that get suffixes.
    pub suffix: Vec<Field>,
    /// Namespaces beside `metadata.namespace`.
    pub namespace: Vec<Field>,
    /// Labels and selectors: `commonLabels`.
    pub common_labels: Vec<Field>,
    /// Labels of objects and of pod templates.
    pub template_labels: Vec<Field>,
    /// Further places of `labels`.
    pub labels: Vec<Field>,
    /// Annotations.
    pub annotations: Vec<Field>,
    /// Images.
    pub images: Vec<Field>,
    /// Replicas.
    pub replicas: Vec<Field>,
    /// Kinds, and the fields that name them.
    pub references: Vec<(Gvk, Vec<Field>)>,
    /// Fields in which variables are replaced.
    pub variables: Vec<Field>,
}

impl Fields {
    /// Those that kustomize knows, shared until something is added.
    pub fn built_in() -> Arc<Fields> {
        static BUILT_IN: LazyLock<Arc<Fields>> = LazyLock::new(|| Arc::new(Fields::known()));
        Arc::clone(&BUILT_IN)
    }

    fn known() -> Self {
        let mut common_labels = fields(SELECTORS);
        for kind in ["Deployment", "StatefulSet"] {
            let gvk = Gvk { group: "apps".to_owned(), version: String::new(), kind: kind.to_owned() };
            let path = |place: &&str| format!("spec/template/spec/{place}/labelSelector/matchLabels");
            common_labels.extend(POD_SELECTORS.iter().map(|p| Field::new(gvk.clone(), &path(p), false)));
        }
        common_labels.extend(fields(METADATA_LABELS));
        Self {
            prefix: fields(&[("", "", "metadata/name", false)]),
            suffix: fields(&[("", "", "metadata/name", false)]),
            namespace: fields(NAMESPACES),
            common_labels,
            template_labels: fields(METADATA_LABELS),
            labels: Vec::new(),
            annotations: fields(ANNOTATIONS),
            images: fields(IMAGES),
            replicas: fields(REPLICAS),
            references: super::references::builtin(),
            variables: super::variables::fields(),
        }
    }
}

impl Fields {
    /// Adds what a file of `configurations` states.
    pub fn add(&mut self, doc: &Doc, share: &Share) {
        for (key, list) in [
            ("namePrefix", &mut self.prefix),
            ("nameSuffix", &mut self.suffix),
            ("namespace", &mut self.namespace),
            ("commonLabels", &mut self.common_labels),
            ("templateLabels", &mut self.template_labels),
            ("labels", &mut self.labels),
            ("commonAnnotations", &mut self.annotations),
            ("images", &mut self.images),
            ("replicas", &mut self.replicas),
            ("varReference", &mut self.variables),
        ] {
            merge(list, doc.get(key).map(Doc::items).unwrap_or_default(), share);
        }
        for item in doc.get("nameReference").map(Doc::items).unwrap_or_default() {
            let text = |key| item.text_at(&[key]).unwrap_or_default().to_owned();
            let gvk = Gvk { group: text("group"), version: text("version"), kind: text("kind") };
            let specs = item.get("fieldSpecs").map(Doc::items).unwrap_or_default();
            match self.references.iter_mut().find(|(known, _)| *known == gvk) {
                Some((_, list)) => merge(list, specs, share),
                None => {
                    let mut list = Vec::new();
                    merge(&mut list, specs, share);
                    self.references.push((gvk, list));
                }
            }
        }
    }

    /// Adds the fields that another configuration has.
    pub fn join(&mut self, other: &Fields, share: &Share) {
        for (list, more) in [
            (&mut self.prefix, &other.prefix),
            (&mut self.suffix, &other.suffix),
            (&mut self.namespace, &other.namespace),
            (&mut self.common_labels, &other.common_labels),
            (&mut self.template_labels, &other.template_labels),
            (&mut self.labels, &other.labels),
            (&mut self.annotations, &other.annotations),
            (&mut self.images, &other.images),
            (&mut self.replicas, &other.replicas),
            (&mut self.variables, &other.variables),
        ] {
            extend(list, more, share);
        }
        for (gvk, more) in &other.references {
            match self.references.iter_mut().find(|(known, _)| known == gvk) {
                Some((_, list)) => extend(list, more, share),
                None => self.references.push((gvk.clone(), more.clone())),
            }
        }
    }
}

fn merge(list: &mut Vec<Field>, specs: &[Doc], share: &Share) {
    extend(list, &specs.iter().filter_map(Field::read).collect::<Vec<_>>(), share);
}

fn extend(list: &mut Vec<Field>, more: &[Field], share: &Share) {
    if share.work(list.len() * more.len()).is_err() {
        return;
    }
    let new: Vec<Field> = more.iter().filter(|field| !list.contains(field)).cloned().collect();
    list.extend(new);
}
