//! What the configuration promises and demands, to the workloads and resources that it is about.

use super::boundary::{Boundary, Deployed, Reach};
use super::candidates::Candidates;
use crate::facts::{DataClass, Intent, Labels, Object, Resource, ServiceLevel, Store, Workload};
use crate::known::{Fact, Known};
use crate::parse::{Raw, View};
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

/// Where resources and documents have their labels or tags.
const MARKED: [&str; 11] = [
    "labels",
    "tags",
    "Tags",
    "freeform_tags",
    "defined_tags",
    "metadata.labels",
    "resource_labels",
    "settings.user_labels",
    "node_config.labels",
    "node_config.resource_labels",
    "Replicas.Tags",
];

/// Fills `workload.promise` and `pod.data_class`.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let levels = of_kind(deployed, "ServiceLevel", |level| Some(level.name.get().map(String::as_str)));
    let classes = Classes::of(deployed);
    deployed.each(workloads, |workload, boundary| {
        let serves = workload.intent.get() == Some(&Intent::Serving);
        let name = workload.name.get().map(|name| Some(name.as_str()));
        let keys: Vec<Option<&str>> = name.into_iter().chain(serves.then_some(None)).collect();
        workload.promise = levels.find(boundary, &keys, |_| true).and_then(|level| promise(level));
        for pod in &mut workload.pods {
            let labels =
                pod.labels.iter().chain(workload.labels.iter().filter(|(name, _)| !pod.labels.contains_key(*name)));
            pod.data_class = classes.first(boundary, labels.map(|(name, mark)| (name.as_str(), mark.clone())));
        }
    });
}

/// Fills `resource.data_class`.
pub fn of_resources(resources: &mut [Vec<Arc<Resource>>], deployed: Deployed<'_>) {
    let classes = Classes::of(deployed);
    if classes.0.is_empty() {
        return;
    }
    deployed.each(resources, |resource, boundary| {
        let class = classes.of_body(resource.body.as_ref(), &resource.default_tags, boundary);
        Arc::make_mut(resource).data_class = class;
    });
}

/// Fills `store.data_class`, and says of stores that they are encrypted where something encrypts all of an account.
pub fn of_stores(stores: &mut [Vec<Arc<Store>>], deployed: Deployed<'_>) {
    if stores.iter().all(Vec::is_empty) {
        return;
    }
    let classes = Classes::of(deployed);
    let is_on = |resource: &&Arc<Resource>| {
        let body = resource.body.as_ref().map(|body| body.view().get("enabled").boolean());
        body.is_none_or(|enabled| enabled.get() != Some(&false))
    };
    let resources = Candidates::gather(deployed, Reach::Cluster, |facts| {
        let of_type = facts.resources.iter();
        of_type.filter_map(|r| Some((r.span.source, vec![r.r#type.get()?.as_str()], r))).collect()
    });
    deployed.each(stores, |store, boundary| {
        let class = classes.of_body(store.object.as_ref(), &store.default_tags, boundary);
        let switch = store.switch.get().and_then(|switch| {
            let found = resources.nearest(boundary, store.span.source, &[switch.as_str()], is_on);
            found.first().map(|resource| resource.span)
        });
        if class.is_some() || switch.is_some() {
            let store = Arc::make_mut(store);
            store.data_class = class;
            store.encrypted = switch.map_or(store.encrypted.clone(), |place| Fact::value(true, place));
        }
    });
}

/// What the configuration states stands beside the plain files.
fn of_kind<'a, K: Hash + Eq>(
    deployed: Deployed<'a>,
    kind: &str,
    key: impl Fn(&'a Object) -> Option<K>,
) -> Candidates<'a, K, &'a Object> {
    Candidates::gather(deployed, Reach::Deployment, |facts| {
        let of_kind = facts.objects.iter().filter(|object| object.kind.get().is_some_and(|k| k == kind));
        of_kind.filter_map(|object| Some((object.span.source, vec![key(object)?], &**object))).collect()
    })
}

/// Classes of data, by the label that marks their data and the value that it has then.
struct Classes<'a>(Candidates<'a, (String, &'a str), &'a Object>);

impl<'a> Classes<'a> {
    fn of(deployed: Deployed<'a>) -> Self {
        Self(of_kind(deployed, "DataClass", |class| Some((label_of(class)?, class.name.get()?.as_str()))))
    }

    /// The first class that one of some labels demands.
    fn first<'l>(
        &self,
        boundary: Boundary<'_>,
        labels: impl Iterator<Item = (&'l str, Fact<String>)>,
    ) -> Option<DataClass> {
        if self.0.is_empty() {
            return None;
        }
        let marks: BTreeMap<&str, Fact<String>> = labels.filter(|(_, mark)| mark.get().is_some()).collect();
        let keys = marks.iter().filter_map(|(name, mark)| Some(((*name).to_owned(), mark.get()?.as_str())));
        let class = self.0.find(boundary, &keys.collect::<Vec<_>>(), |_| true)?;
        demanded(class, marks.get(label_of(class)?.as_str())?)
    }

    /// The class that the labels or tags of a resource or document put it into, or those that its provider adds to them.
    fn of_body(&self, body: Option<&Raw>, defaults: &Labels, boundary: Boundary<'_>) -> Option<DataClass> {
        let body = body.filter(|_| !self.0.is_empty())?.view();
        let maps = MARKED.map(|path| path.split('.').fold(body, |view, key| first_block(view).get(key)));
        // Lists of CloudFormation, and blocks of Terraform.
        let listed = maps.iter().flat_map(|list| list.items()).filter_map(|tag| {
            let stated = |key: &str, value: &str| Some((tag.get(key).node()?.text()?, tag.get(value)));
            stated("Key", "Value").or_else(|| stated("key", "value"))
        });
        let views = maps.iter().flat_map(|map| map.entries()).chain(listed).filter(|(_, view)| view.is_some());
        let mut first: BTreeMap<&str, Fact<String>> = BTreeMap::new();
        for (name, view) in views {
            first.entry(name).or_insert_with(|| view.string());
        }
        // Tags of its own go before, also those that cannot be read.
        let added = |name: &str| maps.iter().all(|map| matches!(map.has(name), Known::Value(false)));
        for (name, mark) in defaults.iter().filter(|(name, _)| added(name)) {
            first.entry(name).or_insert_with(|| mark.clone());
        }
        self.first(boundary, first.into_iter())
    }
}

/// The first of blocks that are written alike; the whole of anything else.
fn first_block(view: View<'_>) -> View<'_> {
    match view.node() {
        Some(node) if node.is_seq() => view.items().next().unwrap_or(view),
        _ => view,
    }
}

fn promise(level: &Object) -> Option<ServiceLevel> {
    let body = level.body.as_ref()?.view();
    let mut out = ServiceLevel::blank(level.span);
    out.availability = body.get("availability").float();
    out.qps = body.get("qps").float();
    out.qps_per_gpu = body.get("qps_per_gpu").float();
    Some(out)
}

/// The label that marks the data of a class.
fn label_of(class: &Object) -> Option<String> {
    let label = class.body.as_ref()?.view().get("label").string();
    label.or_default("data-class".to_owned()).get().cloned()
}

/// The class, where a label demands it.
fn demanded(class: &Object, mark: &Fact<String>) -> Option<DataClass> {
    let body: View<'_> = class.body.as_ref()?.view();
    let mut out = DataClass::blank(mark.span);
    out.name = class.name.clone();
    out.mark = mark.clone();
    out.regions = body.get("regions").strings();
    out.encrypted = body.get("encrypted").boolean();
    out.audit_log = body.get("audit_log").boolean();
    Some(out)
}
