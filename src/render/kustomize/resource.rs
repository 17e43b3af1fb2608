//! Resources: documents with the names that they had before. Knows what identifies an object of Kubernetes.

use super::doc::{Doc, Value};
use crate::source::{Span, Traced};

/// Group, version and kind; empty parts of a selector stand for any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Gvk {
    /// `apps`; empty for the core group.
    pub group: String,
    /// `v1`
    pub version: String,
    /// `Deployment`
    pub kind: String,
}

impl Gvk {
    /// Whether a selector with empty parts means this.
    pub fn is_selected_by(&self, selector: &Gvk) -> bool {
        let part = |selector: &str, part: &str| selector.is_empty() || selector == part;
        part(&selector.group, &self.group) && part(&selector.version, &self.version) && part(&selector.kind, &self.kind)
    }

    /// Whether objects of this kind are known to have no namespace.
    pub fn is_cluster_scoped(&self) -> bool {
        CLUSTER_SCOPED.iter().any(|(group, versions, kinds)| {
            *group == self.group && versions.contains(&self.version.as_str()) && kinds.contains(&self.kind.as_str())
        })
    }
}

/// Kinds of some versions of a group.
type Kinds = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Versions of built-in kinds without a namespace: those of Kubernetes 1.21, which kustomize carries. It takes every
/// other kind for one with a namespace.
const CLUSTER_SCOPED: &[Kinds] = &[
    ("", &["v1"], &["ComponentStatus", "Namespace", "Node", "NodeProxyOptions", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &["v1", "v1beta1"],
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    ("apiextensions.k8s.io", &["v1", "v1beta1"], &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["v1", "v1beta1"], &["APIService"]),
    ("certificates.k8s.io", &["v1", "v1beta1"], &["CertificateSigningRequest"]),
    ("flowcontrol.apiserver.k8s.io", &["v1beta1"], &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["v1", "v1beta1"], &["IngressClass"]),
    ("node.k8s.io", &["v1", "v1beta1"], &["RuntimeClass"]),
    ("policy", &["v1beta1"], &["PodSecurityPolicy"]),
    ("rbac.authorization.k8s.io", &["v1", "v1beta1"], &["ClusterRole", "ClusterRoleBinding"]),
    ("scheduling.k8s.io", &["v1", "v1beta1"], &["PriorityClass"]),
    ("storage.k8s.io", &["v1", "v1beta1"], &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
];

/// What identifies a resource in a build.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id {
    /// Its kind.
    pub gvk: Gvk,
    /// Its name.
    pub name: String,
    /// Its namespace; `default` where none is stated, empty for kinds without one.
    pub namespace: String,
}

/// How a generated resource meets one with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Behavior {
    /// There must be none.
    #[default]
    Create,
    /// It takes its place.
    Replace,
    /// Data are merged.
    Merge,
}

/// A document of a build.
#[derive(Debug, Clone)]
pub struct Resource {
    /// What it says now.
    pub doc: Doc,
    /// The document of a file that it was read as.
    pub read: Span,
    /// Kind, name and namespace that it had, oldest first.
    pub history: Vec<(String, String, String)>,
    /// Prefixes that its name got, in order.
    pub prefixes: Vec<String>,
    /// Suffixes that its name got, in order.
    pub suffixes: Vec<String>,
    /// How it was generated.
    pub behavior: Behavior,
    /// Whether its name gets a hash of its content.
    pub hashed: bool,
    /// Whether no more is known of it than what patches say: what it was made of is not here.
    pub open: bool,
}

impl Resource {
    /// A resource as it was read.
    pub fn new(doc: Doc) -> Self {
        Self {
            read: doc.span,
            doc,
            history: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            behavior: Behavior::Create,
            hashed: false,
            open: false,
        }
    }

    /// Its kind.
    pub fn gvk(&self) -> Gvk {
        let api = self.doc.text_at(&["apiVersion"]).unwrap_or_default();
        let (group, version) = api.rsplit_once('/').unwrap_or(("", api));
        Gvk { group: group.to_owned(), version: version.to_owned(), kind: self.kind().to_owned() }
    }

    /// The name of its kind.
    pub fn kind(&self) -> &str {
        self.doc.text_at(&["kind"]).unwrap_or_default()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.doc.text_at(&["metadata", "name"]).unwrap_or_default()
    }

    /// The namespace that it states.
    pub fn stated_namespace(&self) -> &str {
        self.doc.text_at(&["metadata", "namespace"]).unwrap_or_default()
    }

    fn id_of(gvk: Gvk, name: &str, namespace: &str) -> Id {
        let namespace = match namespace {
            _ if gvk.is_cluster_scoped() => "",
            "" => "default",
            stated => stated,
        };
        Id { namespace: namespace.to_owned(), name: name.to_owned(), gvk }
    }

    /// What identifies it now.
    pub fn id(&self) -> Id {
        Self::id_of(self.gvk(), self.name(), self.stated_namespace())
    }

    /// What identified it, oldest first, without the present.
    pub fn former_ids(&self) -> Vec<Id> {
        let gvk = self.gvk();
        let id = |(kind, name, namespace): &(String, String, String)| {
            Self::id_of(Gvk { kind: kind.clone(), ..gvk.clone() }, name, namespace)
        };
        self.history.iter().map(id).collect()
    }

    /// What identified it, oldest first, up to now.
    pub fn ids(&self) -> Vec<Id> {
        let mut ids = self.former_ids();
        ids.push(self.id());
        ids
    }

    /// What identified it when it was read.
    pub fn original_id(&self) -> Id {
        self.former_ids().into_iter().next().unwrap_or_else(|| self.id())
    }

    /// Remembers what identifies it before that changes.
    pub fn remember(&mut self) {
        let id = self.id();
        let entry = (id.gvk.kind, id.name, id.namespace);
        self.history.push(entry);
    }

    /// Puts text around its name.
    pub fn rename(&mut self, prefix: &str, suffix: &str) {
        if let Some(name) = self.doc.get_mut("metadata").and_then(|metadata| metadata.get_mut("name")) {
            wrap(name, prefix, suffix);
        }
    }
}

/// Puts text around a scalar, which still leads to where it was written.
pub fn wrap(doc: &mut Doc, prefix: &str, suffix: &str) {
    let Some(text) = doc.text() else { return };
    let whole = format!("{prefix}{text}{suffix}");
    doc.value = Value::Scalar { text: Traced::opaque(whole, doc.span), plain: false };
}
