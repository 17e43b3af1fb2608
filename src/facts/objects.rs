//! Objects that rules join with, and raw documents.

use super::value::entities;
use super::words::{BreachClass, ResourceFormat};
use super::{DataClass, Labels, NodePool, Port};
use crate::known::Fact;
use crate::parse::Raw;
use std::sync::Arc;

entities! {
    /// A Kubernetes document as written.
    Object {
        /// apiVersion.
        api_version: Fact<String>,
        /// kind.
        kind: Fact<String>,
        /// metadata.name.
        name: Fact<String>,
        /// Whether its name is made from one of a release that no file states.
        assumed_name: Fact<bool>,
        /// metadata.namespace.
        namespace: Fact<String>,
        /// Labels.
        labels: Labels,
        /// Annotations.
        annotations: Labels,
        /// The document: `object.body.spec.replicas`.
        body: Option<Raw>,
        /// Whether it is no document that is applied as it is written: another format states it in fields of its own, or a
        /// script only shows it.
        drafted: Fact<bool>,
    }

    /// Something that breaks a contract: what software publishes about itself.
    Breach {
        /// What breaks it: Deployment serve.
        of: Fact<String>,
        /// What kind of breach it is.
        class: Fact<BreachClass>,
        /// The field, as a path from the object: spec.template.spec.containers[0].image.
        field: Fact<String>,
        /// What is wrong, as a sentence.
        says: Fact<String>,
        /// The field that was meant.
        meant: Fact<String>,
        /// What alone can have been meant to stand in its place: a name, a flag or a value.
        instead: Fact<String>,
        /// What it does not go with, where that stands.
        other: Fact<String>,
        /// The contract, with its releases.
        contract: Fact<String>,
    }

    /// An infrastructure resource as written: a Terraform resource block, a CloudFormation or ROS resource, a resource of Pulumi under the names of Terraform.
    Resource {
        /// The format that states it.
        format: Fact<ResourceFormat>,
        /// Type: aws_efs_file_system, AWS::EFS::FileSystem, ALIYUN::ECS::Instance.
        r#type: Fact<String>,
        /// Name in its file.
        name: Fact<String>,
        /// The class of data that its labels or tags put it into.
        data_class: Option<DataClass>,
        /// The region of its provider, where that states one.
        region: Fact<String>,
        /// The tags or labels that its provider gives to all that it makes.
        default_tags: Labels,
        /// The releases of its provider that its module asks for, as written: ~> 3.0.
        provider_versions: Fact<String>,
        /// Its attributes or properties: `resource.body.encrypted`.
        body: Option<Raw>,
    }

    /// An autoscaler of a workload.
    Autoscaler {
        /// HorizontalPodAutoscaler, ScaledObject, ScaledJob, VerticalPodAutoscaler …
        kind: Fact<String>,
        /// apiVersion.
        api_version: Fact<String>,
        /// Its name.
        name: Fact<String>,
        /// Its namespace.
        namespace: Fact<String>,
        /// Kind of the target.
        target_kind: Fact<String>,
        /// Name of the target.
        target_name: Fact<String>,
        /// Fewest replicas after defaulting (HPA 1, KEDA 0).
        min_replicas: Fact<i64>,
        /// Most replicas after defaulting (KEDA 100).
        max_replicas: Fact<i64>,
        /// What it scales on.
        metrics: Vec<Metric>,
        /// Seconds of calm before it scales in: KEDA cooldownPeriod, HPA scale-down stabilisation window.
        cooldown_seconds: Fact<i64>,
        /// Labels.
        labels: Labels,
        /// Annotations.
        annotations: Labels,
        /// The document as written.
        object: Option<Raw>,
    }

    /// A policy by which a cloud scales something.
    ScalingPolicy {
        /// The type of the resource or the kind of the file that states it.
        kind: Fact<String>,
        /// Its name.
        name: Fact<String>,
        /// What it scales: service/cluster/name.
        target: Fact<String>,
        /// The pools of the group that it scales, where that is here.
        #[joined = true]
        pools: Vec<Arc<NodePool>>,
        /// The metric that it scales on.
        metric: Fact<String>,
        /// Seconds that it waits before it takes capacity away.
        inward_seconds: Fact<i64>,
        /// Seconds that it waits before it adds capacity.
        outward_seconds: Fact<i64>,
    }

    /// A metric or trigger of an autoscaler.
    Metric {
        /// Resource, ContainerResource, Pods, Object, External; a KEDA trigger type in lower case.
        r#type: Fact<String>,
        /// Metric name, resource name or query.
        name: Fact<String>,
        /// Target value as stated.
        target: Fact<f64>,
    }

    /// A Service.
    Service {
        /// Its name.
        name: Fact<String>,
        /// Whether its name is made from one of a release that no file states.
        assumed_name: Fact<bool>,
        /// Its namespace.
        namespace: Fact<String>,
        /// ClusterIP, NodePort, LoadBalancer after defaulting.
        r#type: Fact<String>,
        /// Whether it is headless (clusterIP: None).
        headless: Fact<bool>,
        /// Whether the internet reaches it: by what its annotations, addresses and class say of its load balancer, else by the default of the platform; unknown for a NodePort.
        #[joined = true]
        public: Fact<bool>,
        /// publishNotReadyAddresses.
        publish_not_ready: Fact<bool>,
        /// Selector.
        selector: Labels,
        /// Ports.
        ports: Vec<Port>,
        /// Labels.
        labels: Labels,
        /// Annotations.
        annotations: Labels,
        /// The document as written.
        object: Option<Raw>,
    }

    /// An Ingress, HTTPRoute, IngressRoute, Gateway listener or VirtualService.
    Route {
        /// Kind.
        kind: Fact<String>,
        /// Its name.
        name: Fact<String>,
        /// Its namespace.
        namespace: Fact<String>,
        /// Ingress class or parent gateway.
        class: Fact<String>,
        /// Names of the services it leads to.
        backends: Vec<Fact<String>>,
        /// Namespaces of the services, one for each, where a kind may lead into others than its own.
        backend_namespaces: Vec<Fact<String>>,
        /// Whether it ends TLS.
        tls: Fact<bool>,
        /// Whether it asks for a credential, or a proxy does that it passes: by annotations, labels and middlewares.
        authenticated: Fact<bool>,
        /// Whether it asks for a credential or limits its clients (auth annotations, source ranges), or leads to private names or an internal load balancer.
        protected: Fact<bool>,
        /// Annotations.
        annotations: Labels,
        /// The document as written.
        object: Option<Raw>,
    }

    /// A PodDisruptionBudget.
    Budget {
        /// Its name.
        name: Fact<String>,
        /// Its namespace.
        namespace: Fact<String>,
        /// minAvailable as written.
        min_available: Fact<String>,
        /// maxUnavailable as written.
        max_unavailable: Fact<String>,
        /// Selector.
        selector: Labels,
        /// Whether it is about every pod of its namespace: since policy/v1 a selector without conditions is.
        selects_all: Fact<bool>,
        /// The document as written.
        object: Option<Raw>,
    }
}
