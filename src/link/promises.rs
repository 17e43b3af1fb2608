//! What the configuration promises and demands, to the workloads and resources that it is about.

use super::boundary::{Boundary, Reach};
use crate::facts::{DataClass, Intent, Labels, Object, Resource, ServiceLevel, Store, Workload};
use crate::known::Fact;
use crate::parse::{Raw, View};
use std::sync::Arc;

/// Fills `workload.promise` and `pod.data_class`.
pub fn link(workloads: &mut [Workload], boundary: &Boundary<'_>) {
    let (levels, classes) = (of_kind(boundary, "ServiceLevel"), of_kind(boundary, "DataClass"));
    for workload in workloads {
        workload.promise = levels.iter().find(|level| is_promised(level, workload)).and_then(|level| promise(level));
        for pod in &mut workload.pods {
            let labels = |name: &str| label(&pod.labels, name).or_else(|| label(&workload.labels, name));
            pod.data_class = classes.iter().find_map(|class| demanded(class, labels));
        }
    }
}

/// Fills `resource.data_class`.
pub fn of_resources(resources: &mut [Arc<Resource>], boundary: &Boundary<'_>) {
    let classes = of_kind(boundary, "DataClass");
    for resource in resources.iter_mut().filter(|_| !classes.is_empty()) {
        let class = class_of(resource.body.as_ref(), &classes);
        Arc::make_mut(resource).data_class = class;
    }
}

/// Fills `store.data_class`, and says of stores that they are encrypted where something encrypts all of an account.
pub fn of_stores(stores: &mut [Arc<Store>], boundary: &Boundary<'_>) {
    let classes = of_kind(boundary, "DataClass");
    let resources = boundary.gather(Reach::Cluster, |f| f.resources.iter().map(|r| (r.span.source, r)).collect());
    let is_on = |resource: &Resource| {
        let body = resource.body.as_ref().map(|body| body.view().get("enabled").boolean());
        body.is_none_or(|enabled| enabled.get() != Some(&false))
    };
    for store in stores {
        let class = class_of(store.object.as_ref(), &classes);
        let switch = store.switch.get().and_then(|switch| {
            let meant = |r: &&Arc<Resource>| r.r#type.get() == Some(switch) && is_on(r);
            resources.nearest(store.span.source, meant).first().map(|resource| resource.span)
        });
        if class.is_some() || switch.is_some() {
            let store = Arc::make_mut(store);
            store.data_class = class;
            store.encrypted = switch.map_or(store.encrypted.clone(), |place| Fact::value(true, place));
        }
    }
}

/// The class that the labels or tags of a resource or document put it into.
fn class_of(body: Option<&Raw>, classes: &[&Arc<Object>]) -> Option<DataClass> {
    let body = body?.view();
    let tagged = |name: &str| {
        let maps = ["labels", "tags", "Tags", "freeform_tags", "metadata.labels"].map(|path| body.path(path));
        let listed = maps[2].items().find(|tag| tag.get("Key").string().get().is_some_and(|key| key == name));
        let views = maps.map(|map| map.get(name)).into_iter().chain(listed.map(|tag| tag.get("Value")));
        views.filter(|view| view.is_some()).map(View::string).next()
    };
    classes.iter().find_map(|class| demanded(class, tagged))
}

/// What the configuration states stands beside the plain files.
fn of_kind<'a>(boundary: &Boundary<'a>, kind: &str) -> Vec<&'a Arc<Object>> {
    let all = boundary.own().objects.iter().chain(boundary.plain().into_iter().flat_map(|plain| &plain.objects));
    all.filter(|object| object.kind.get().is_some_and(|k| k == kind)).collect()
}

/// Whether a level is the workload's: by name, or, without one, of everything that serves.
fn is_promised(level: &Object, workload: &Workload) -> bool {
    match level.name.get() {
        Some(name) => workload.name.get() == Some(name),
        None => workload.intent.get() == Some(&Intent::Serving),
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

fn label(labels: &Labels, name: &str) -> Option<Fact<String>> {
    labels.get(name).cloned()
}

/// The class, where the label that marks its data has its name.
fn demanded(class: &Object, label: impl Fn(&str) -> Option<Fact<String>>) -> Option<DataClass> {
    let body: View<'_> = class.body.as_ref()?.view();
    let name = body.get("label").string().or_default("data-class".to_owned());
    let mark = label(name.get()?).filter(|mark| mark.get().is_some() && mark.get() == class.name.get())?;
    let mut out = DataClass::blank(mark.span);
    out.name = class.name.clone();
    out.mark = mark;
    out.regions = body.get("regions").strings();
    out.encrypted = body.get("encrypted").boolean();
    out.audit_log = body.get("audit_log").boolean();
    Some(out)
}
