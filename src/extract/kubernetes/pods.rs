//! Pod specs, wherever they stand.

use super::{claims, containers};
use crate::catalog;
use crate::facts::{ContainerRole, Labels, Pod, Requirement, Toleration, Volume};
use crate::known::{Fact, Why};
use crate::parse::{Node, Raw, Tree, View};
use crate::quantity;
use std::sync::Arc;

/// A map of strings.
pub fn labels(view: View<'_>) -> Labels {
    containers::entries(view).map(|(key, value)| (key.to_owned(), value.string())).collect()
}

/// A pod from its template (`metadata` and `spec`) or from a bare spec.
pub fn template(tree: &Arc<Tree>, template: View<'_>, role: &str, replicas: Fact<i64>) -> Pod {
    let spec = if template.get("spec").get("containers").is_some() { template.get("spec") } else { template };
    let mut pod = spec_of(tree, spec, role);
    pod.replicas = replicas;
    let metadata = template.get("metadata");
    pod.labels = labels(metadata.get("labels"));
    pod.annotations = labels(metadata.get("annotations"));
    pod.spot = spot("annotation", &pod.annotations).unwrap_or(pod.spot);
    pod
}

/// A pod from its spec.
pub fn spec_of(tree: &Arc<Tree>, spec: View<'_>, role: &str) -> Pod {
    let mut pod = Pod::blank(spec.place());
    pod.role = Fact::value(role.to_owned(), spec.place());
    pod.replicas = Fact::value(1, spec.place());
    scheduling(&mut pod, spec);
    pod.volumes = spec.get("volumes").items().map(volume).collect();
    pod.resource_claims = containers::names(spec.get("resourceClaims"));
    pod.host_network = spec.get("hostNetwork").boolean().or_default(false);
    pod.host_ipc = spec.get("hostIPC").boolean().or_default(false);
    pod.host_pid = spec.get("hostPID").boolean().or_default(false);
    pod.dns_policy = spec.get("dnsPolicy").string().or_default("ClusterFirst".to_owned());
    pod.priority_class = spec.get("priorityClassName").string();
    pod.runtime_class = spec.get("runtimeClassName").string();
    pod.scheduler = spec.get("schedulerName").string();
    pod.restart_policy = spec.get("restartPolicy").string();
    pod.termination_grace_seconds = spec.get("terminationGracePeriodSeconds").int().or_default(30);
    pod.subdomain = spec.get("subdomain").string();
    pod.spec = Some(Raw::new(tree, spec));
    let containers = |key| spec.get(key).items().filter(|item| item.node().is_some_and(Node::is_map));
    for view in containers("containers") {
        pod.containers.push(containers::container(tree, view, ContainerRole::Main, &pod));
    }
    for view in containers("initContainers") {
        let sidecar = view.get("restartPolicy").string().get().is_some_and(|p| p == "Always");
        let role = if sidecar { ContainerRole::Sidecar } else { ContainerRole::Init };
        let container = containers::container(tree, view, role, &pod);
        pod.init_containers.push(container);
    }
    // A container that stands on a condition may ask for some, too.
    let doubted =
        spec.get("containers").items().find_map(|item| item.unknown().filter(|w| matches!(w, Why::Perhaps(_))));
    pod.gpus = match doubted {
        Some(why) => Fact::unknown(why, spec.get("containers").place()),
        None => gpus(&pod),
    };
    claims::leave_open(&mut pod);
    pod
}

/// Node selection, tolerations and what they say about capacity.
pub fn scheduling(pod: &mut Pod, spec: View<'_>) {
    pod.node_selector = labels(spec.get("nodeSelector"));
    let required = spec.path("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
    let terms: Vec<View<'_>> = required.get("nodeSelectorTerms").items().collect();
    // Terms are alternatives: only a single one is a requirement.
    if let [term] = terms.as_slice() {
        affine(pod, *term);
    }
    pod.tolerations = spec.get("tolerations").items().map(toleration).collect();
    pod.spot = spot("selector", &pod.node_selector).unwrap_or(Fact::absent(pod.span));
}

/// Takes the only term of a required node affinity: what leaves one value is selected.
pub fn affine(pod: &mut Pod, term: View<'_>) {
    pod.node_affinity = term.get("matchExpressions").items().map(requirement).collect();
    for term in pod.node_affinity.iter().filter(|term| term.operator.get().is_some_and(|operator| operator == "In")) {
        if let (Some(key), [value]) = (term.key.get(), term.values.as_slice()) {
            pod.node_selector.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// A match expression, or a requirement of a Karpenter pool.
pub fn requirement(view: View<'_>) -> Requirement {
    let mut out = Requirement::blank(view.place());
    out.perhaps = view.unknown();
    out.key = view.get("key").string();
    out.operator = view.get("operator").string();
    out.values = view.get("values").strings();
    out
}

/// A toleration of a pod.
pub fn toleration(view: View<'_>) -> Toleration {
    let mut out = Toleration::blank(view.place());
    out.perhaps = view.unknown();
    out.key = view.get("key").string();
    out.operator = view.get("operator").string().or_default("Equal".to_owned());
    out.value = view.get("value").string();
    out.effect = view.get("effect").string();
    out
}

/// Interruptible capacity as selectors or annotations name it.
fn spot(stands: &str, stated: &Labels) -> Option<Fact<bool>> {
    let named = |(key, value)| stated.get(key).filter(|label| label.get().is_some_and(|v: &String| v == value));
    catalog::spot_marks(stands).find_map(named).map(|label| Fact::value(true, label.span))
}

fn volume(view: View<'_>) -> Volume {
    let mut out = Volume::blank(view.place());
    out.perhaps = view.unknown();
    out.name = view.get("name").string();
    if let Some((kind, source)) = view.entries().into_iter().find(|(key, _)| *key != "name") {
        out.kind = Fact::value(kind.to_owned(), source.place());
        out.medium = source.get("medium").string();
        let size = if kind == "ephemeral" {
            source.path("volumeClaimTemplate.spec.resources.requests.storage")
        } else {
            source.get("sizeLimit")
        };
        out.size_bytes = size.parse(quantity::parse).map(|bytes| bytes as i64);
        out.host_path = if kind == "hostPath" { source.get("path").string() } else { Fact::absent(source.place()) };
        out.claim = source.get("claimName").string();
        out.config_map = if kind == "configMap" { source.get("name").string() } else { Fact::absent(source.place()) };
        if kind == "ephemeral" {
            out.access_modes = source.path("volumeClaimTemplate.spec.accessModes").strings();
        }
    }
    out
}

/// What the scheduler must find for one pod: running containers and sidecars together, or the largest init
/// container, whichever is more.
pub fn gpus(pod: &Pod) -> Fact<i64> {
    let mut sum = 0;
    let mut at = None;
    let running = pod
        .containers
        .iter()
        .chain(pod.init_containers.iter().filter(|c| c.role.get().is_some_and(|r| *r == ContainerRole::Sidecar)));
    for container in running {
        match container.gpus.get() {
            Some(&n) if n > 0 => {
                sum += n;
                at = at.or(Some(container.gpus.span));
            }
            _ if container.gpus.is_unknown() => return container.gpus.clone(),
            _ => {}
        }
    }
    for container in &pod.init_containers {
        if let Some(&n) = container.gpus.get()
            && n > sum
        {
            sum = n;
            at = Some(container.gpus.span);
        }
    }
    Fact::value(sum, at.unwrap_or(pod.span))
}
