//! Objects that workloads are joined with.

use super::exposure;
use super::pods::labels;
use crate::facts::{Autoscaler, Budget, Facts, Metric, Port, Route, Service};
use crate::known::{Fact, Why};
use crate::parse::{Raw, Tree, View};
use crate::quantity;
use std::sync::Arc;

/// Reads an object that is joined with workloads.
pub fn read(tree: &Arc<Tree>, view: View<'_>, kind: &str, facts: &mut Facts) {
    let version = |group: &str| view.get("apiVersion").string().get().is_some_and(|v| v.starts_with(group));
    // Others call kinds of theirs so, too: Knative and llmaz a Service, OpenShift the settings of its Ingresses.
    let of_a_group = view.get("apiVersion").string().get().is_some_and(|v| v.contains('/'));
    match kind {
        "HorizontalPodAutoscaler" => facts.autoscalers.push(Arc::new(hpa(tree, view))),
        "PodAutoscaler" if version("autoscaling.aibrix.ai/") => facts.autoscalers.push(Arc::new(aibrix(tree, view))),
        "ScaledObject" | "ScaledJob" => facts.autoscalers.push(Arc::new(keda(tree, view))),
        "Service" if !of_a_group => facts.services.push(Arc::new(service(tree, view))),
        "Ingress" if version("config.openshift.io/") => {}
        "Ingress" | "HTTPRoute" | "GRPCRoute" | "VirtualService" => {
            facts.routes.push(Arc::new(route(tree, view, kind)))
        }
        "IngressRoute" if version("traefik.") => facts.routes.push(Arc::new(route(tree, view, kind))),
        "Route" if version("route.openshift.io/") => facts.routes.push(Arc::new(route(tree, view, kind))),
        "PodDisruptionBudget" => facts.budgets.push(Arc::new(budget(tree, view))),
        _ => {}
    }
}

fn autoscaler(tree: &Arc<Tree>, view: View<'_>) -> Autoscaler {
    let name = view.path("metadata.name");
    let mut out = Autoscaler::blank(name.place());
    out.kind = view.get("kind").string();
    out.api_version = view.get("apiVersion").string();
    out.name = name.string();
    out.namespace = view.path("metadata.namespace").string();
    out.labels = labels(view.path("metadata.labels"));
    out.annotations = labels(view.path("metadata.annotations"));
    let target = view.path("spec.scaleTargetRef");
    out.target_kind = target.get("kind").string();
    out.target_name = target.get("name").string();
    out.object = Some(Raw::new(tree, view));
    out
}

fn hpa(tree: &Arc<Tree>, view: View<'_>) -> Autoscaler {
    let mut out = autoscaler(tree, view);
    let spec = view.get("spec");
    out.min_replicas = spec.get("minReplicas").int().or_default(1);
    out.max_replicas = spec.get("maxReplicas").int();
    out.cooldown_seconds = spec.path("behavior.scaleDown.stabilizationWindowSeconds").int().or_default(300);
    out.metrics = spec.get("metrics").items().map(hpa_metric).collect();
    let percent = spec.get("targetCPUUtilizationPercentage");
    if percent.is_some() {
        let mut metric = Metric::blank(percent.place());
        metric.r#type = Fact::value("Resource".to_owned(), percent.place());
        metric.name = Fact::value("cpu".to_owned(), percent.place());
        metric.target = percent.float();
        out.metrics.push(metric);
    }
    out.metrics.extend(default_metric(view));
    out
}

/// What the API server scales on where nothing is said: 80 % of the CPU that is requested.
/// <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/>
fn default_metric(view: View<'_>) -> Option<Metric> {
    const OLD: &str = "autoscaling.alpha.kubernetes.io/metrics";
    let (spec, annotations) = (view.get("spec"), view.path("metadata.annotations"));
    let is_empty = |value: View<'_>| {
        !value.is_some() || value.node().is_some_and(|node| node.is_seq() && node.items().next().is_none())
    };
    let silent = is_empty(spec.get("metrics")) && !spec.get("targetCPUUtilizationPercentage").is_some();
    let open = spec.node().is_none_or(|node| node.is_open());
    let whole = !open && spec.get("scaleTargetRef").is_some() && spec.get("maxReplicas").is_some();
    let place = spec.get("maxReplicas").place();
    (silent && whole && !annotations.get(OLD).is_some()).then(|| Metric {
        r#type: Fact::value("Resource".to_owned(), place),
        name: Fact::value("cpu".to_owned(), place),
        target: Fact::value(80.0, place),
        ..Metric::blank(place)
    })
}

fn hpa_metric(view: View<'_>) -> Metric {
    let mut out = Metric::blank(view.place());
    out.r#type = view.get("type").string();
    let source = ["resource", "containerResource", "pods", "object", "external"]
        .iter()
        .map(|k| view.get(k))
        .find(|v| v.is_some());
    if let Some(source) = source {
        out.name = source
            .get("name")
            .string()
            .or(|| source.path("metric.name").string())
            .or(|| source.get("metricName").string());
        let target = source.get("target");
        let target =
            ["averageUtilization", "averageValue", "value"].iter().map(|k| target.get(k)).find(|v| v.is_some());
        let old = ["targetAverageUtilization", "targetAverageValue", "targetValue"]
            .iter()
            .map(|k| source.get(k))
            .find(|v| v.is_some());
        if let Some(target) = target.or(old) {
            out.target = target.parse(quantity::parse);
        }
    }
    out
}

/// An autoscaler of AIBrix: sources of metrics, each with its target. What it leaves out its own defaults decide.
fn aibrix(tree: &Arc<Tree>, view: View<'_>) -> Autoscaler {
    let mut out = autoscaler(tree, view);
    let spec = view.opened(super::open()).get("spec");
    out.min_replicas = spec.get("minReplicas").int();
    out.max_replicas = spec.get("maxReplicas").int();
    let metric = |source: View<'_>| {
        let mut metric = Metric::blank(source.place());
        metric.r#type = source.get("metricSourceType").string();
        metric.name = source.get("targetMetric").string();
        metric.target = source.get("targetValue").parse(quantity::parse);
        metric
    };
    out.metrics = spec.get("metricsSources").items().map(metric).collect();
    out.cooldown_seconds = Fact::unknown(Why::LeftTo("the strategy of the autoscaler".into()), spec.place());
    out
}

fn keda(tree: &Arc<Tree>, view: View<'_>) -> Autoscaler {
    let mut out = autoscaler(tree, view);
    let spec = view.get("spec");
    out.target_kind = out.target_kind.or_default("Deployment".to_owned());
    out.min_replicas = spec.get("minReplicaCount").int().or_default(0);
    out.max_replicas = spec.get("maxReplicaCount").int().or_default(100);
    out.cooldown_seconds = spec.get("cooldownPeriod").int().or_default(300);
    out.metrics = spec
        .get("triggers")
        .items()
        .map(|trigger| {
            let mut metric = Metric::blank(trigger.place());
            let metadata = trigger.get("metadata");
            metric.r#type = trigger.get("type").string().map(|t| t.to_lowercase());
            metric.name = metadata.get("query").string().or(|| metadata.get("metricName").string());
            metric.target = ["threshold", "value", "queueLength"]
                .iter()
                .map(|k| metadata.get(k))
                .find(|v| v.is_some())
                .map_or(Fact::absent(trigger.place()), |v| v.parse(quantity::parse));
            metric
        })
        .collect();
    out
}

fn service(tree: &Arc<Tree>, view: View<'_>) -> Service {
    let name = view.path("metadata.name");
    let spec = view.get("spec");
    let mut out = Service::blank(name.place());
    out.name = name.string();
    out.namespace = view.path("metadata.namespace").string();
    out.labels = labels(view.path("metadata.labels"));
    out.annotations = labels(view.path("metadata.annotations"));
    out.r#type = spec.get("type").string().or_default("ClusterIP".to_owned());
    let cluster_ip = spec.get("clusterIP").string();
    out.headless = Fact::value(cluster_ip.get().is_some_and(|ip| ip == "None"), cluster_ip.span);
    out.publish_not_ready = spec.get("publishNotReadyAddresses").boolean().or_default(false);
    out.selector = labels(spec.get("selector"));
    out.ports = spec.get("ports").items().map(port).collect();
    out.public = exposure::of_service(&out.r#type, &out.annotations, spec);
    out.object = Some(Raw::new(tree, view));
    out
}

fn port(view: View<'_>) -> Port {
    let mut out = Port::blank(view.place());
    out.name = view.get("name").string();
    let target = view.get("targetPort");
    out.port = target.int().or(|| view.get("port").int());
    if out.port.is_unknown() {
        out.target_name = target.string();
    }
    out.host_port = view.get("port").int();
    out
}

fn route(tree: &Arc<Tree>, view: View<'_>, kind: &str) -> Route {
    let name = view.path("metadata.name");
    let spec = view.get("spec");
    let mut out = Route::blank(name.place());
    out.kind = view.get("kind").string();
    out.name = name.string();
    out.namespace = view.path("metadata.namespace").string();
    out.annotations = labels(view.path("metadata.annotations"));
    let class = out.annotations.get("kubernetes.io/ingress.class").cloned();
    out.class = spec.get("ingressClassName").string();
    if let (true, Some(class)) = (out.class.is_absent(), class) {
        out.class = class;
    }
    match kind {
        "Ingress" => {
            let rules: Vec<View<'_>> =
                spec.get("rules").items().flat_map(|r| r.path("http.paths").items().collect::<Vec<_>>()).collect();
            let backends =
                rules.into_iter().map(|p| p.get("backend")).chain([spec.get("defaultBackend"), spec.get("backend")]);
            for backend in backends.filter(|b| b.is_some()) {
                out.backends.push(backend.path("service.name").string().or(|| backend.get("serviceName").string()));
            }
            let tls = spec.get("tls");
            out.tls = Fact::value(tls.is_some(), tls.place());
        }
        // A Route of OpenShift leads to one Service, and to others with weights.
        "Route" => {
            let backends = [spec.get("to")].into_iter().chain(spec.get("alternateBackends").items());
            out.backends = backends.map(|backend| backend.get("name").string()).collect();
            let tls = spec.get("tls");
            out.tls = Fact::value(tls.is_some(), tls.place());
        }
        "IngressRoute" => {
            for service in spec.get("routes").items().flat_map(|r| r.get("services").items().collect::<Vec<_>>()) {
                out.backends.push(service.get("name").string());
                let namespace = service.get("namespace").string();
                out.backend_namespaces.push(if namespace.is_absent() { out.namespace.clone() } else { namespace });
            }
            let tls = spec.get("tls");
            out.tls = Fact::value(tls.is_some(), tls.place());
        }
        "VirtualService" => {
            for http in spec.get("http").items() {
                for destination in http.get("route").items().map(|r| r.get("destination")) {
                    let host = destination.get("host").string();
                    let part = |n: usize| host.clone().map(|host| host.split('.').nth(n).unwrap_or("").to_owned());
                    out.backends.push(part(0));
                    let namespace = Some(part(1)).filter(|part| part.get().is_none_or(|part| !part.is_empty()));
                    out.backend_namespaces.push(namespace.unwrap_or_else(|| out.namespace.clone()));
                }
            }
        }
        _ => {
            out.class =
                spec.get("parentRefs").items().next().map_or(Fact::absent(out.span), |p| p.get("name").string());
            for backend in spec.get("rules").items().flat_map(|r| r.get("backendRefs").items().collect::<Vec<_>>()) {
                out.backends.push(backend.get("name").string());
                let namespace = backend.get("namespace").string();
                out.backend_namespaces.push(if namespace.is_absent() { out.namespace.clone() } else { namespace });
            }
        }
    }
    out.authenticated = exposure::is_authenticated(&out, &labels(view.path("metadata.labels")), spec);
    out.protected = exposure::is_protected(&out, spec);
    out.object = Some(Raw::new(tree, view));
    out
}

fn budget(tree: &Arc<Tree>, view: View<'_>) -> Budget {
    let name = view.path("metadata.name");
    let spec = view.get("spec");
    let mut out = Budget::blank(name.place());
    out.name = name.string();
    out.namespace = view.path("metadata.namespace").string();
    out.min_available = spec.get("minAvailable").string();
    out.max_unavailable = spec.get("maxUnavailable").string();
    out.selector = labels(spec.path("selector.matchLabels"));
    for term in spec.path("selector.matchExpressions").items() {
        let (key, values) = (term.get("key").string(), term.get("values").strings());
        let is_in = term.get("operator").string().get().is_some_and(|operator| operator == "In");
        if let (Some(key), [value], true) = (key.get(), &values[..], is_in) {
            out.selector.insert(key.clone(), value.clone());
        }
    }
    let stated = spec.get("selector");
    let conditions = ["matchLabels", "matchExpressions"].map(|key| stated.get(key));
    let none = stated.node().is_some_and(|node| node.is_map())
        && conditions.iter().all(|of| of.unknown().is_none() && of.entries().is_empty() && of.items().next().is_none());
    out.selects_all = view.get("apiVersion").string().map(|version| none && version == "policy/v1");
    out.object = Some(Raw::new(tree, view));
    out
}
