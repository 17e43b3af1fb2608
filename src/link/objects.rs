//! Services, routes, budgets, autoscalers and claims to the workloads that they are about.

use super::same_namespace;
use crate::facts::{Facts, Labels, Object, Volume, Workload};
use crate::known::Fact;
use std::sync::Arc;

/// Fills the joined lists of every workload.
pub fn link(facts: &mut Facts) {
    let claims: Vec<Arc<Object>> =
        facts.objects.iter().filter(|o| o.kind.get().is_some_and(|k| k == "PersistentVolumeClaim")).cloned().collect();
    for workload in &mut facts.workloads {
        workload.services = facts
            .services
            .iter()
            .filter(|s| same_namespace(&s.namespace, &workload.namespace) && selects_pod(&s.selector, workload))
            .cloned()
            .collect();
        workload.routes = facts
            .routes
            .iter()
            .filter(|r| same_namespace(&r.namespace, &workload.namespace))
            .filter(|r| r.backends.iter().any(|b| workload.services.iter().any(|s| equal(b, &s.name))))
            .cloned()
            .collect();
        workload.budgets = facts
            .budgets
            .iter()
            .filter(|b| same_namespace(&b.namespace, &workload.namespace) && selects_pod(&b.selector, workload))
            .cloned()
            .collect();
        workload.autoscalers = facts
            .autoscalers
            .iter()
            .filter(|a| same_namespace(&a.namespace, &workload.namespace))
            .filter(|a| equal(&a.target_name, &workload.name))
            .filter(|a| a.target_kind.get().is_none() || equal(&a.target_kind, &workload.kind))
            .cloned()
            .collect();
        let namespace = workload.namespace.clone();
        for volume in workload.pods.iter_mut().flat_map(|pod| &mut pod.volumes) {
            let claim =
                claims.iter().find(|c| same_namespace(&c.namespace, &namespace) && equal(&c.name, &volume.claim));
            if let Some(claim) = claim {
                take_claim(volume, claim);
            }
        }
    }
}

/// Both known and the same.
fn equal(a: &Fact<String>, b: &Fact<String>) -> bool {
    matches!((a.get(), b.get()), (Some(a), Some(b)) if a == b)
}

/// Whether a non-empty selector selects some pod of the workload.
fn selects_pod(selector: &Labels, workload: &Workload) -> bool {
    !selector.is_empty()
        && workload
            .pods
            .iter()
            .any(|pod| selector.iter().all(|(key, value)| pod.labels.get(key).is_some_and(|label| equal(label, value))))
}

fn take_claim(volume: &mut Volume, claim: &Object) {
    let Some(body) = &claim.body else { return };
    let spec = body.view().get("spec");
    volume.access_modes = spec.get("accessModes").strings();
}
