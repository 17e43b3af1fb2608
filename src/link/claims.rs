//! What pods get by claims of devices (Dynamic Resource Allocation), and by extended resources that stand for a
//! DeviceClass.

use super::Namespace;
use super::boundary::{Boundary, Deployed, Reach};
use super::candidates::Candidates;
use super::pools::named;
use crate::catalog;
use crate::facts::{Container, DeviceClaim, DeviceClass, DeviceRequest, Node, Pod, Workload};
use crate::known::{Fact, Known, Why};
use crate::parse::View;
use crate::source::{SourceId, Span};
use std::sync::Arc;

/// DeviceClasses by their names and by the extended resources that stand for them.
type Classes<'a> = Candidates<'a, (bool, String), &'a DeviceClass>;
/// Claims by whether they are templates, and their namespaces and names.
type Claims<'a> = Candidates<'a, (bool, Namespace<'a>, &'a str), &'a DeviceClaim>;

/// Tells claims what the DeviceClasses of the files hand out, and counts the accelerators of each.
pub fn complete(claims: &mut [Vec<Arc<DeviceClaim>>], deployed: Deployed<'_>) {
    if claims.iter().all(Vec::is_empty) {
        return;
    }
    let classes = classes(deployed);
    deployed.each(claims, |claim, boundary| {
        let claim = Arc::make_mut(claim);
        let strange =
            |request: &&mut DeviceRequest| matches!(&request.device.known, Known::Unknown(Why::NotInCatalog(_)));
        for request in claim.requests.iter_mut().filter(strange) {
            let Some(class) = request.device_class.get() else { continue };
            let object = classes.only(boundary, request.span.source, &[(false, class.clone())], |_| true);
            if let Some((object, handed)) = object.and_then(|object| Some((object, handed_out(object)?))) {
                describe(request, handed);
                if request.mig_profile.is_absent() {
                    request.mig_profile = object.mig_profile.clone();
                }
            }
        }
        claim.gpus = counted(claim, None).map_or(Fact::absent(claim.span), |found| found.count);
    });
}

/// Fills what containers and pods get by claims, and counts the GPUs of their workloads again.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let all = || workloads.iter().flatten().flat_map(|workload| &workload.pods);
    let strange = |c: &Container| matches!(&c.gpus.known, Known::Unknown(Why::NotInCatalog(_)));
    let claiming = all().any(|pod| !pod.resource_claims.is_empty());
    if !claiming && !all().flat_map(|pod| &pod.containers).any(strange) {
        return;
    }
    let classes = classes(deployed);
    let claims: Claims<'_> = Candidates::gather(deployed, Reach::Deployment, |facts| {
        let listed = facts.device_claims.iter().filter_map(|claim| {
            let (template, name) = (claim.kind.get()? == "ResourceClaimTemplate", claim.name.get()?.as_str());
            let keys = Namespace::listed(&claim.namespace, name).into_iter();
            Some((claim.span.source, keys.map(|(space, name)| (template, space, name)).collect(), &**claim))
        });
        listed.collect()
    });
    let made = made_by_domains(deployed);
    deployed.each(workloads, |workload, boundary| {
        let from = workload.span.source;
        let (namespace, mut changed) = (workload.namespace.clone(), false);
        let one = |fact: &Fact<i64>| fact.get() == Some(&1);
        let alone = one(&workload.replicas) && matches!(&workload.pods[..], [pod] if one(&pod.replicas));
        for pod in &mut workload.pods {
            changed |= by_resource(pod, (&classes, boundary), from);
            if pod.resource_claims.is_empty() {
                continue;
            }
            changed = true;
            let stated = of_pod(pod, |template, name: &str| {
                let keys: Vec<_> = Namespace::sought(&namespace, name);
                let keys: Vec<_> = keys.into_iter().map(|(space, name)| (template, space, name)).collect();
                let domain = || made.only(boundary, from, &[name.to_owned()], |_| true).is_some();
                match claims.only(boundary, from, &keys, |_| true) {
                    Some(claim) => Asked::For(claim),
                    None if template && domain() => Asked::Channel,
                    None => Asked::Unknown,
                }
            });
            give(pod, &stated);
            // Pods that name one claim get the same devices.
            let by_name = stated.iter().find(|one| !one.template && one.gpus(None).is_some());
            if let Some(one) = by_name.filter(|_| !alone) {
                let why = Why::NotModelled(format!("a claim that several pods share ({})", one.name).into());
                pod.gpus = Fact::unknown(why, one.place);
            }
        }
        if changed {
            recount(workload);
        }
    });
}

/// What is known of a claim that a pod lists.
enum Asked<'a> {
    For(&'a DeviceClaim),
    /// The channel of a ComputeDomain, which is no accelerator.
    Channel,
    Unknown,
}

/// A claim that a pod lists.
struct Stated<'a> {
    name: String,
    place: Span,
    template: bool,
    asked: Asked<'a>,
}

/// Accelerators of one kind.
struct Found {
    count: Fact<i64>,
    first: Option<DeviceRequest>,
}

impl Stated<'_> {
    /// The accelerators of one request, or of all; `None` where it gives none.
    fn gpus(&self, request: Option<&str>) -> Option<Found> {
        match &self.asked {
            Asked::For(claim) => counted(claim, request),
            Asked::Channel => None,
            Asked::Unknown => {
                let why = Why::NotStated(format!("what the claim {} asks for", self.name).into());
                Some(Found { count: Fact::unknown(why, self.place), first: None })
            }
        }
    }
}

fn of_pod<'a>(pod: &Pod, find: impl Fn(bool, &str) -> Asked<'a>) -> Vec<Stated<'a>> {
    let Some(spec) = &pod.spec else { return Vec::new() };
    let read = |item: View<'_>| {
        let name = item.get("name").string();
        // Before v1.31 the two stood under `source`.
        let of = |key: &str| {
            let own = item.get(key);
            if own.is_some() { own.string() } else { item.get("source").get(key).string() }
        };
        let (template, claim) = (of("resourceClaimTemplateName"), of("resourceClaimName"));
        let asked = match (template.get(), claim.get()) {
            (Some(template), _) => find(true, template),
            (None, Some(claim)) => find(false, claim),
            (None, None) => Asked::Unknown,
        };
        let place = name.span;
        Some(Stated { name: name.get()?.clone(), place, template: claim.get().is_none(), asked })
    };
    spec.view().get("resourceClaims").items().filter_map(read).collect()
}

/// Gives a pod and its containers what their claims ask for.
fn give(pod: &mut Pod, stated: &[Stated<'_>]) {
    let mut product = None;
    for container in pod.containers.iter_mut().chain(&mut pod.init_containers) {
        let Some(spec) = container.spec.clone() else { continue };
        let used: Vec<(String, Fact<String>, Span)> = spec
            .view()
            .path("resources.claims")
            .items()
            .filter_map(|item| {
                let name = item.get("name").string();
                Some((name.get()?.clone(), item.get("request").string(), name.span))
            })
            .collect();
        if used.is_empty() {
            continue;
        }
        let open = |fact: &Fact<i64>| matches!(&fact.known, Known::Unknown(Why::NotStated(what)) if what.starts_with("what the claim "));
        let mut sum = if open(&container.gpus) { Fact::value(0, container.gpus.span) } else { container.gpus.clone() };
        for (name, request, place) in used {
            let Some(one) = stated.iter().find(|one| one.name == name) else {
                sum = container.gpus.clone();
                break;
            };
            let Some(found) = one.gpus(request.get().map(String::as_str)) else { continue };
            // What devices of its own asks for already is not asked for by a claim that nobody sees.
            if found.count.is_unknown() && found.first.is_none() && sum.get().is_some_and(|&own| own > 0) {
                continue;
            }
            sum = Fact { span: place, ..sum.plus(found.count) };
            if let Some(first) = found.first {
                product = product.or_else(|| first.product.get().map(|name| (name.clone(), first.product.span)));
                take(container, &first);
            }
        }
        container.gpus = sum;
    }
    let of_containers = |pod: &Pod| {
        let resources = pod.containers.iter().filter(|container| container.claims.is_empty());
        resources.fold(Fact::value(0, pod.span), |sum, container| sum.plus(container.gpus.clone()))
    };
    let mut sum = of_containers(pod);
    // A claim is allocated once, however many containers share it.
    for one in stated {
        let Some(found) = one.gpus(None) else { continue };
        if found.count.is_unknown()
            && found.first.is_none()
            && pod.containers.iter().any(|c| c.gpus.get().is_some_and(|&own| own > 0))
        {
            continue;
        }
        sum = Fact { span: one.place, ..sum.plus(found.count) };
    }
    let own = pod.containers.iter().filter(|c| !c.claims.is_empty() && c.gpu_resource.get().is_some());
    for container in own {
        let limits =
            container.gpu_resource.get().and_then(|name| container.limits.get(name).or(container.requests.get(name)));
        if let Some(limit) = limits {
            sum = sum.plus(limit.clone().map(|number| number as i64));
        }
    }
    pod.gpus = sum;
    if let Some((name, span)) = product {
        let found = named(&name, span, || match catalog::gpus_named(&name).collect::<Vec<_>>() {
            none if none.is_empty() => catalog::gpus_called(&name).collect(),
            found => found,
        });
        let node = pod.node.get_or_insert_with(|| Node::blank(pod.span));
        node.gpu = found.or(node.gpu.take());
    }
}

/// The accelerators that a claim asks for: of alternatives that agree, one; `None` where it asks for none.
fn counted(claim: &DeviceClaim, request: Option<&str>) -> Option<Found> {
    let root = |one: &DeviceRequest| one.alternative_of.get().or(one.name.get()).cloned();
    let wanted = |one: &&DeviceRequest| match request {
        Some(name) => root(one).as_deref() == Some(name) || one.name.get().is_some_and(|own| own == name),
        None => true,
    };
    let all: Vec<&DeviceRequest> = claim.requests.iter().filter(wanted).collect();
    let mut groups: Vec<Vec<&DeviceRequest>> = Vec::new();
    for one in all {
        match groups.last_mut() {
            Some(last) if one.alternative_of.get().is_some() && root(last[0]) == root(one) => last.push(one),
            _ => groups.push(vec![one]),
        }
    }
    let mut found: Option<Found> = None;
    for group in groups {
        let Some(one) = alike(&group) else { continue };
        found = Some(match found {
            None => one,
            Some(before) => {
                let same =
                    matches!((&before.first, &one.first), (Some(a), Some(b)) if a.device.known == b.device.known);
                let mut first = before.first.or(one.first);
                if let Some(first) = first.as_mut().filter(|_| !same) {
                    let why = Why::Ambiguous("the claim asks for several kinds of devices".into());
                    first.device = Fact::unknown(why, first.device.span);
                    (first.product, first.mig_profile) = (Fact::absent(first.span), Fact::absent(first.span));
                }
                Found { count: before.count.plus(one.count), first }
            }
        });
    }
    found
}

/// What the alternatives of one request agree on.
fn alike(group: &[&DeviceRequest]) -> Option<Found> {
    let first = *group.first()?;
    if group.iter().all(|one| one.device.is_absent()) {
        return None;
    }
    let mut out = first.clone();
    let mut count = match &first.perhaps {
        Some(why) => Fact::unknown(why.clone(), first.span),
        None => first.count.clone(),
    };
    if first.device.is_unknown() {
        count = Fact { known: first.device.clone().and_then::<i64>(|_| Known::Absent).known, ..count };
    }
    let why = || Why::Ambiguous("the alternatives of the request".into());
    for other in &group[1..] {
        if other.device.known != out.device.known {
            out.device = Fact::unknown(why(), out.device.span);
            out.device_name = Fact::value("device".to_owned(), out.device.span);
        }
        if other.count.known != first.count.known || other.device.is_absent() != first.device.is_absent() {
            count = Fact::unknown(why(), first.span);
        }
        if other.gpu_vendor.known != out.gpu_vendor.known {
            out.gpu_vendor = Fact::unknown(why(), first.span);
        }
        if other.product.known != out.product.known {
            out.product = Fact::unknown(why(), first.span);
        }
        if other.mig_profile.known != out.mig_profile.known {
            out.mig_profile = Fact::unknown(why(), first.span);
        }
    }
    Some(Found { count, first: Some(out) })
}

/// What a container holds, as its claim says.
fn take(container: &mut Container, request: &DeviceRequest) {
    if !container.device.is_absent() && container.device.known != request.device.known {
        container.device =
            Fact::unknown(Why::Ambiguous("the claims are of several kinds of devices".into()), request.span);
        return;
    }
    container.device = request.device.clone();
    container.device_name = request.device_name.clone();
    container.gpu_vendor = request.gpu_vendor.clone();
    if container.mig_profile.is_absent() {
        container.mig_profile = request.mig_profile.clone();
    }
}

/// Counts what containers ask for by the extended resource of a DeviceClass of the files.
fn by_resource(pod: &mut Pod, (classes, boundary): (&Classes<'_>, Boundary<'_>), from: SourceId) -> bool {
    let mut changed = false;
    for container in pod.containers.iter_mut().chain(&mut pod.init_containers) {
        let Known::Unknown(Why::NotInCatalog(name)) = &container.gpus.known else { continue };
        let name = name.to_string();
        let mut keys = vec![(true, name.clone())];
        keys.extend(name.strip_prefix("deviceclass.resource.kubernetes.io/").map(|class| (false, class.to_owned())));
        let object = classes.only(boundary, from, &keys, |_| true);
        let Some(handed) = object.and_then(|object| handed_out(object)) else { continue };
        let Some(quantity) = container.limits.get(&name).or(container.requests.get(&name)).cloned() else { continue };
        let mut request = DeviceRequest::blank(quantity.span);
        describe(&mut request, handed);
        changed = true;
        container.gpus = match request.device.is_absent() {
            true => Fact::value(0, container.span),
            false => quantity.map(|number| number as i64),
        };
        (container.gpu_resource, container.gpu_vendor) =
            (Fact::value(name, container.gpus.span), Fact::absent(container.span));
        if !request.device.is_absent() {
            take(container, &request);
        }
    }
    if changed {
        pod.gpus = pod.containers.iter().fold(Fact::value(0, pod.span), |sum, c| {
            let span = if c.gpus.get() == Some(&0) { sum.span } else { c.gpus.span };
            Fact { span, ..sum.plus(c.gpus.clone()) }
        });
    }
    changed
}

fn classes<'a>(deployed: Deployed<'a>) -> Classes<'a> {
    Candidates::gather(deployed, Reach::Cluster, |facts| {
        let listed = facts.device_classes.iter().filter_map(|class| {
            let resource = class.extended_resource.get().map(|resource| (true, resource.clone()));
            let keys = std::iter::once((false, class.name.get()?.clone())).chain(resource).collect();
            Some((class.span.source, keys, &**class))
        });
        listed.collect()
    })
}

/// Templates that ComputeDomains make, by their names.
fn made_by_domains<'a>(deployed: Deployed<'a>) -> Candidates<'a, String, ()> {
    Candidates::gather(deployed, Reach::Deployment, |facts| {
        let domains = facts.objects.iter().filter(|object| object.kind.get().is_some_and(|k| k == "ComputeDomain"));
        let listed = domains.filter_map(|domain| {
            let name = domain.body.as_ref()?.view().path("spec.channel.resourceClaimTemplate.name").string();
            Some((domain.span.source, vec![name.get()?.clone()], ()))
        });
        listed.collect()
    })
}

/// The class of a published driver whose devices a DeviceClass of the files hands out.
fn handed_out(class: &DeviceClass) -> Option<&'static str> {
    catalog::device_class_of(class.driver.get()?, class.devices.get().map(String::as_str))
}

fn describe(request: &mut DeviceRequest, class: &str) {
    let span = request.device_class.span;
    request.device = Fact::absent(span);
    if let Some(accelerator) = catalog::device_class(class).flatten() {
        request.device = Fact::value(accelerator.device.to_owned(), span);
        request.device_name = Fact::value(accelerator.name.to_owned(), span);
        request.gpu_vendor = Fact::value(accelerator.vendor.to_owned(), span);
    }
}

/// Counts the GPUs of a group and of everything again.
fn recount(workload: &mut Workload) {
    let none = Fact::value(0, workload.span);
    let all = workload.pods.iter().fold(none, |sum, pod| sum.plus(pod.gpus.times(&pod.replicas)));
    let apart = workload.pods.len() == 1 && workload.group_size.get() == Some(&1);
    workload.group_gpus = if apart { workload.pods[0].gpus.clone() } else { all.clone() };
    workload.gpus = all.times(&workload.replicas);
}
