//! What the configuration promises and demands, to the workloads and resources that it is about.

use super::boundary::Boundary;
use crate::facts::{DataClass, Intent, Labels, Object, Resource, ServiceLevel, Workload};
use crate::known::Fact;
use crate::parse::View;
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
        let Some(body) = resource.body.clone() else { continue };
        let tagged = |name: &str| {
            let views = ["labels", "tags", "Tags"].map(|key| body.view().get(key).get(name));
            views.iter().find(|view| view.is_some()).map(|view| view.string())
        };
        Arc::make_mut(resource).data_class = classes.iter().find_map(|class| demanded(class, tagged));
    }
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
