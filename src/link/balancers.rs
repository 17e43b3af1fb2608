//! Whether the internet reaches a load balancer of which nothing is said: the platform that makes it has a default.

use super::variant::Variant;
use crate::catalog::{self, Reach};
use crate::evidence;
use crate::facts::{Service, Workload};
use crate::known::{Fact, Why};
use crate::source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Completes `service.public` by the platform of the workloads behind each Service. What is one Service stays one.
pub fn link(variants: &mut [Variant]) {
    let address = |service: &Arc<Service>| Arc::as_ptr(service).addr();
    // With what each was, so that no other one gets its address.
    let mut completed: BTreeMap<usize, [Arc<Service>; 2]> = BTreeMap::new();
    for workload in variants.iter_mut().flat_map(|variant| &mut variant.facts.workloads) {
        let public = by_platform(workload);
        for service in workload.services.iter_mut().filter(|service| service.public.is_absent()) {
            let both = || [Arc::clone(service), complete(service, &public)];
            *service = Arc::clone(&completed.entry(address(service)).or_insert_with(both)[1]);
        }
    }
    let services = variants.iter_mut().flat_map(|variant| &mut variant.facts.services);
    for service in services.filter(|service| service.public.is_absent()) {
        *service = match completed.get(&address(service)) {
            Some([_, completed]) => Arc::clone(completed),
            None => complete(service, &unknown(service.span)),
        };
    }
}

fn complete(service: &Service, public: &Fact<bool>) -> Arc<Service> {
    let public = Fact { span: service.public.span, ..public.clone() };
    Arc::new(Service { public, ..service.clone() })
}

fn by_platform(workload: &Workload) -> Fact<bool> {
    let platform = workload.pods.iter().find_map(|pod| pod.node.as_ref()?.platform.get());
    let (reach, unread) = evidence::watched(|| catalog::default_reach(platform?));
    match reach {
        Some(Reach::Public) => Fact::value(true, workload.span).resting_on(unread),
        Some(Reach::Private) => Fact::value(false, workload.span).resting_on(unread),
        _ => unknown(workload.span),
    }
}

fn unknown(span: Span) -> Fact<bool> {
    Fact::unknown(Why::NotStated("what makes the load balancer".into()), span)
}
