//! Values of bjw-s' app-template, the chart that most clusters at home install everything with: controllers, their pods and
//! containers, volumes and services, as the objects that the chart makes of them. What its release decides is unknown.

use super::draft::{Draft, left};
use crate::facts::Facts;
use crate::known::{Fact, Why};
use crate::parse::{Node, NodeId, NodeKind, Raw, View};
use crate::source::Span;
use std::collections::BTreeSet;

/// Whether values are of this chart: controllers with containers, by name.
pub fn is_values(values: View<'_>) -> bool {
    let has_containers = |(_, controller): (_, View<'_>)| {
        let containers = controller.get("containers");
        let is_map = containers.node().is_some_and(Node::is_map);
        is_map && containers.entries().into_iter().any(|(_, container)| container.get("image").is_some())
    };
    values.get("controllers").entries().into_iter().any(has_containers)
}

/// Reads the objects of a release; its name and namespace are those of the release.
pub fn read(whole: &Raw, (name, namespace): (&Fact<String>, &Fact<String>), facts: &mut Facts) {
    let values = whole.view();
    let Some(root) = values.node() else { return };
    let mut draft = Draft::new(whole, root, (name, namespace));
    let controllers: Vec<_> = enabled(values.get("controllers"));
    let mut objects: Vec<NodeId> =
        controllers.iter().map(|one| draft.controller(*one, controllers.len() == 1)).collect();
    let services = enabled(values.get("service"));
    for (key, service) in &services {
        let of = service.get("controller").string().get().cloned();
        let only = || controllers.first().filter(|_| controllers.len() == 1).map(|(key, _)| (*key).to_owned());
        if let Some(controller) = of.or_else(only) {
            objects.push(draft.service((*key, *service), &controller, services.len() == 1));
        }
    }
    let names: BTreeSet<&str> = services.iter().map(|(key, _)| *key).collect();
    let (ingresses, routes) = (enabled(values.get("ingress")), enabled(values.get("route")));
    objects.extend(ingresses.iter().map(|one| draft.ingress(*one, ingresses.len() == 1, &names)));
    objects.extend(routes.iter().map(|one| draft.route(*one, routes.len() == 1, &names)));
    draft.finish(&objects, facts);
}

/// The entries of a map that are not switched off.
fn enabled(map: View<'_>) -> Vec<(&str, View<'_>)> {
    let on = |(_, view): &(&str, View<'_>)| view.get("enabled").boolean().get() != Some(&false);
    map.entries().into_iter().filter(|entry| entry.1.node().is_some_and(Node::is_map)).filter(on).collect()
}

/// Options that a controller states for its containers.
struct Defaults<'t> {
    options: View<'t>,
    /// Whether what a container states is merged into them; else it takes their place.
    merge: bool,
}

fn defaults_of<'t>(controller: View<'t>, list: &str) -> Defaults<'t> {
    let of_init = controller.get("applyDefaultContainerOptionsToInitContainers").boolean();
    let none = list == "initContainers" && of_init.get() == Some(&false);
    let strategy = controller.get("defaultContainerOptionsStrategy").string();
    let options = controller.get("defaultContainerOptions");
    Defaults {
        options: if none { View::new(None, options.place()) } else { options },
        merge: strategy.get().is_some_and(|strategy| strategy == "merge"),
    }
}

impl<'t> Draft<'t> {
    /// What an object is called: like the release, which is alone if it is the only one of its kind.
    fn called(&mut self, key: &str, lone: bool, span: Span) -> NodeId {
        match self.name.get() {
            Some(name) if lone => self.text(&name.clone(), span),
            Some(name) => self.text(&format!("{name}-{key}"), span),
            None => self.add(NodeKind::Unknown(Why::NotStated("the name of the release".into())), span),
        }
    }

    fn metadata(&mut self, (key, lone): (&str, bool), span: Span) -> Vec<(&'static str, NodeId)> {
        let mut entries = vec![("name", self.called(key, lone, span))];
        entries.extend(self.namespace.get().cloned().map(|text| ("namespace", self.text(&text, span))));
        entries
    }

    /// The object of a controller.
    fn controller(&mut self, (key, of): (&'t str, View<'t>), lone: bool) -> NodeId {
        let span = of.place();
        let kind = of.get("type").string();
        let (version, kind) = match kind.get().map(String::as_str) {
            Some("statefulset") => ("apps/v1", "StatefulSet"),
            Some("daemonset") => ("apps/v1", "DaemonSet"),
            Some("cronjob") => ("batch/v1", "CronJob"),
            Some("job") => ("batch/v1", "Job"),
            _ => ("apps/v1", "Deployment"),
        };
        let template = self.template((key, of));
        let mut spec = self.copied(of, &["replicas"]);
        spec.push(("template", template));
        if kind == "Deployment" {
            let strategy = match of.get("strategy").node() {
                Some(node) => {
                    let stated = self.copy(node);
                    self.map(vec![("type", stated)], node.span())
                }
                None => self.add(left(), span),
            };
            spec.push(("strategy", strategy));
        }
        let mut spec = self.map(spec, span);
        if kind == "CronJob" {
            let job = self.map(vec![("spec", spec)], span);
            spec = self.map(vec![("jobTemplate", job)], span);
        }
        let metadata = self.metadata((key, lone), span);
        self.object((version, kind), (metadata, spec), span)
    }

    /// The labels by which services find the pods of a controller.
    fn selector(&mut self, controller: &str, span: Span) -> Vec<(&'t str, NodeId)> {
        let controller = self.text(controller, span);
        let release = match self.name.get() {
            Some(release) => self.text(&release.clone(), span),
            None => self.add(NodeKind::Unknown(Why::NotStated("the name of the release".into())), span),
        };
        vec![("app.kubernetes.io/controller", controller), ("app.kubernetes.io/instance", release)]
    }

    /// The labels of the pods of a controller: what its options state, and what the chart adds.
    fn labels(&mut self, controller: &str, stated: [View<'t>; 2], span: Span) -> NodeId {
        let mut labels = self.selector(controller, span);
        // It has two names to choose from, by its release.
        labels.push(("app.kubernetes.io/name", self.add(left(), span)));
        for (name, value) in stated.into_iter().flat_map(|options| options.get("labels").entries()) {
            let value = value.node().map(|node| self.copy(node));
            labels.extend(value.map(|value| (name, value)));
        }
        self.map(labels, span)
    }

    fn template(&mut self, (key, of): (&'t str, View<'t>)) -> NodeId {
        let (span, own, defaults) = (of.place(), of.get("pod"), self.values.get("defaultPodOptions"));
        let labels = self.labels(key, [own, defaults], span);
        let annotations = if own.get("annotations").is_some() { own } else { defaults };
        let mut metadata = self.copied(annotations, &["annotations"]);
        metadata.push(("labels", labels));
        let metadata = self.map(metadata, span);
        let mut spec: Vec<(&str, NodeId)> = Vec::new();
        for (name, value) in own.entries() {
            let value = value.node().map(|node| self.copy(node));
            spec.extend(value.map(|value| (name, value)));
        }
        for (name, value) in defaults.entries().into_iter().filter(|(name, _)| !own.get(name).is_some()) {
            let value = value.node().map(|node| self.copy(node));
            spec.extend(value.map(|value| (name, value)));
        }
        spec.retain(|(name, _)| !matches!(*name, "labels" | "annotations"));
        // The chart fills these in by what else is stated.
        for decided in ["restartPolicy", "dnsPolicy"] {
            if !spec.iter().any(|(name, _)| *name == decided) {
                spec.push((decided, self.add(left(), span)));
            }
        }
        for list in ["containers", "initContainers"] {
            let defaults = defaults_of(of, list);
            let mut containers = Vec::new();
            for one in enabled(of.get(list)) {
                if self.cut.is_none() {
                    containers.push(self.container(key, one, &defaults));
                }
            }
            if !containers.is_empty() {
                let containers = self.list(containers, of.get(list).place());
                spec.push((list, containers));
            }
        }
        // A pod has the volumes that some container of its controller may mount.
        let elsewhere = |of: View<'_>| {
            let (global, own) = (of.get("globalMounts"), of.get("advancedMounts"));
            own.is_some() && !global.is_some() && !own.get(key).is_some()
        };
        let volumes = enabled(self.values.get("persistence")).into_iter().filter(|(_, of)| !elsewhere(*of));
        let volumes: Vec<NodeId> = volumes.map(|one| self.volume(one)).collect();
        if !volumes.is_empty() {
            let volumes = self.list(volumes, self.values.get("persistence").place());
            spec.push(("volumes", volumes));
        }
        let spec = self.map(spec, span);
        self.map(vec![("metadata", metadata), ("spec", spec)], span)
    }

    /// A container of a controller, which may state options for all of its own.
    fn container(&mut self, controller: &str, (key, of): (&'t str, View<'t>), defaults: &Defaults<'t>) -> NodeId {
        const KEPT: [&str; 9] =
            ["image", "command", "args", "env", "envFrom", "resources", "securityContext", "ports", "restartPolicy"];
        let span = of.place();
        let mut entries = vec![("name", self.text(key, span))];
        for field in KEPT {
            let layers: Vec<Node<'t>> =
                [defaults.options.get(field), of.get(field)].into_iter().filter_map(View::node).collect();
            let layers = if defaults.merge { &layers[..] } else { &layers[layers.len().saturating_sub(1)..] };
            if !layers.is_empty() {
                entries.push((field, self.overlaid(layers)));
            }
        }
        for (kind, name) in
            [("startup", "startupProbe"), ("readiness", "readinessProbe"), ("liveness", "livenessProbe")]
        {
            let probe = of.get("probes").get(kind);
            let custom = probe.get("custom").boolean().get() == Some(&true);
            match (probe.get("enabled").boolean().get(), probe.get("spec").node().filter(|_| custom)) {
                (Some(false), _) => {}
                (Some(true), Some(spec)) => entries.push((name, self.copy(spec))),
                _ => entries.push((name, self.add(left(), span))),
            }
        }
        let mounts = enabled(self.values.get("persistence"));
        let mounts: Vec<NodeId> = mounts.into_iter().flat_map(|one| self.mounts(one, (controller, key))).collect();
        if !mounts.is_empty() {
            entries.push(("volumeMounts", self.list(mounts, span)));
        }
        self.map(entries, span)
    }

    /// Where a volume is mounted in a container: where the values say so, else under its name.
    fn mounts(&mut self, (key, of): (&'t str, View<'t>), (controller, container): (&str, &str)) -> Vec<NodeId> {
        let (global, own) = (of.get("globalMounts"), of.get("advancedMounts"));
        let places = global.items().chain(own.get(controller).get(container).items());
        let mut paths: Vec<(NodeId, Span)> = Vec::new();
        for place in places {
            if let Some(path) = place.get("path").node() {
                paths.push((self.copy(path), path.span()));
            }
        }
        if paths.is_empty() && !global.is_some() && !own.is_some() {
            paths.push((self.text(&format!("/{key}"), of.place()), of.place()));
        }
        let mount = |(path, span): (NodeId, Span)| {
            let name = self.text(key, span);
            self.map(vec![("name", name), ("mountPath", path)], span)
        };
        paths.into_iter().map(mount).collect()
    }

    fn volume(&mut self, (key, of): (&'t str, View<'t>)) -> NodeId {
        let span = of.place();
        let kind = of.get("type").string().or_default("persistentVolumeClaim".to_owned());
        let mut entries = vec![("name", self.text(key, span))];
        let source = match kind.get().map(String::as_str) {
            Some("persistentVolumeClaim") => {
                let claim = of.get("existingClaim").node().map(|node| self.copy(node));
                let claim = claim.unwrap_or_else(|| self.add(left(), span));
                Some(("persistentVolumeClaim", self.map(vec![("claimName", claim)], span)))
            }
            Some("emptyDir") => {
                let stated = self.copied(of, &["medium", "sizeLimit"]);
                Some(("emptyDir", self.map(stated, span)))
            }
            Some("hostPath") => {
                let path = of.get("hostPath").node().map(|node| ("path", self.copy(node)));
                Some(("hostPath", self.map(path.into_iter().collect(), span)))
            }
            Some("configMap") => {
                let stated = self.copied(of, &["name"]);
                Some(("configMap", self.map(stated, span)))
            }
            Some("secret") => Some(("secret", self.map(Vec::new(), span))),
            Some("nfs") => {
                let stated = self.copied(of, &["server", "path"]);
                Some(("nfs", self.map(stated, span)))
            }
            _ => None,
        };
        entries.extend(source);
        self.map(entries, span)
    }

    fn service(&mut self, (key, of): (&'t str, View<'t>), controller: &str, lone: bool) -> NodeId {
        let span = of.place();
        let mut spec =
            self.copied(of, &["type", "clusterIP", "loadBalancerSourceRanges", "loadBalancerIP", "loadBalancerClass"]);
        let selector = self.selector(controller, span);
        spec.push(("selector", self.map(selector, span)));
        let mut ports = Vec::new();
        for (name, port) in enabled(of.get("ports")) {
            let mut entries = vec![("name", self.text(name, port.place()))];
            entries.extend(self.copied(port, &["port", "targetPort"]));
            ports.push(self.map(entries, port.place()));
        }
        spec.push(("ports", self.list(ports, span)));
        self.exposing(("v1", "Service"), (key, of, lone), spec)
    }

    /// The service that a path or a route leads to, by its name or by its key in these values.
    fn backend(&mut self, of: View<'t>, services: &BTreeSet<&str>) -> NodeId {
        let span = of.place();
        let key = of.get("identifier").string();
        match (of.get("name").node(), key.get().filter(|key| services.contains(key.as_str()))) {
            (Some(name), _) => self.copy(name),
            (None, Some(key)) => self.called(&key.clone(), services.len() == 1, span),
            (None, None) => self.add(left(), span),
        }
    }

    fn ingress(&mut self, (key, of): (&'t str, View<'t>), lone: bool, services: &BTreeSet<&str>) -> NodeId {
        let span = of.place();
        let mut rules = Vec::new();
        for path in of.get("hosts").items().flat_map(|host| host.get("paths").items()) {
            let name = self.backend(path.get("service"), services);
            let service = self.map(vec![("name", name)], path.place());
            let backend = self.map(vec![("service", service)], path.place());
            let path = self.map(vec![("backend", backend)], path.place());
            let paths = self.list(vec![path], span);
            let http = self.map(vec![("paths", paths)], span);
            rules.push(self.map(vec![("http", http)], span));
        }
        let mut spec = self.copied(of, &["tls", "defaultBackend"]);
        spec.extend(of.get("className").node().map(|class| ("ingressClassName", self.copy(class))));
        spec.push(("rules", self.list(rules, span)));
        self.exposing(("networking.k8s.io/v1", "Ingress"), (key, of, lone), spec)
    }

    fn route(&mut self, (key, of): (&'t str, View<'t>), lone: bool, services: &BTreeSet<&str>) -> NodeId {
        let span = of.place();
        let mut rules = Vec::new();
        for rule in of.get("rules").items() {
            let mut backends = Vec::new();
            for backend in rule.get("backendRefs").items() {
                let mut entries = vec![("name", self.backend(backend, services))];
                entries.extend(self.copied(backend, &["namespace", "port"]));
                backends.push(self.map(entries, backend.place()));
            }
            let backends = self.list(backends, rule.place());
            let mut entries = vec![("backendRefs", backends)];
            entries.extend(self.copied(rule, &["filters"]));
            rules.push(self.map(entries, rule.place()));
        }
        let mut spec = self.copied(of, &["parentRefs", "hostnames"]);
        spec.push(("rules", self.list(rules, span)));
        let kind = of.get("kind").string();
        let kind = kind.get().map_or("HTTPRoute", String::as_str);
        self.exposing(("gateway.networking.k8s.io/v1", kind), (key, of, lone), spec)
    }

    /// An object that leads to something; its annotations and labels say who may follow.
    fn exposing(
        &mut self,
        kind: (&str, &str),
        (key, of, lone): (&'t str, View<'t>, bool),
        spec: Vec<(&str, NodeId)>,
    ) -> NodeId {
        let (span, mut metadata) = (of.place(), self.metadata((key, lone), of.place()));
        metadata.extend(self.copied(of, &["annotations", "labels"]));
        let spec = self.map(spec, span);
        self.object(kind, (metadata, spec), span)
    }
}
