//! The kinds that carry pods, and what a group of them is.

use super::{containers, kaito, pods};
use crate::extract::{intent, launch};
use crate::facts::{Container, ContainerRole, Object, Pod, SharedMemory, Workload, WorkloadFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View};
use std::sync::Arc;

/// Deepest nesting in which pods are looked for.
const DEPTH: usize = 14;

/// Kinds that hold templates of pods for others, or that only configure them.
const NOT_WORKLOADS: &[&str] =
    &["CustomResourceDefinition", "ConfigMap", "Secret", "ValidatingAdmissionPolicy", "ClusterPolicy", "LimitRange"];

/// The workload of an object that carries pods or containers.
pub fn read(tree: &Arc<Tree>, view: View<'_>, object: &Object) -> Option<Workload> {
    let kind = object.kind.get()?.clone();
    if NOT_WORKLOADS.contains(&kind.as_str()) {
        return None;
    }
    let spec = view.get("spec");
    let mut out = Workload::blank(object.span);
    let (pods, group) = groups(tree, view, &kind);
    if pods.is_empty() {
        return None;
    }
    out.pods = pods;
    let per_node = [spec.get("nprocPerNode"), spec.path("trainer.numProcPerNode")].into_iter().find(|v| v.is_some());
    if let Some(stated) = per_node {
        processes_per_node(&mut out, stated);
    }
    out.format = Fact::value(WorkloadFormat::Kubernetes, object.kind.span);
    out.kind = object.kind.clone();
    out.api_version = object.api_version.clone();
    out.name = object.name.clone();
    out.namespace = object.namespace.clone();
    out.labels = object.labels.clone();
    out.annotations = object.annotations.clone();
    out.object = Some(Raw::new(tree, view));
    out.replicas = match kind.as_str() {
        "InferenceService" => view.path("spec.predictor.minReplicas").int().or_default(1),
        "RayJob" | "RayService" | "RayCluster" => Fact::value(1, out.span),
        _ => spec.get("replicas").int().or_default(1),
    };
    rollout(&mut out, spec, &kind);
    job(&mut out, view, &kind);
    group_size(&mut out, group);
    gang(&mut out, spec);
    out.intent = intent::of(&out);
    Some(out)
}

/// Training operators hand the number of processes to torchrun by its environment; the command line wins.
fn processes_per_node(out: &mut Workload, stated: View<'_>) {
    let launches = out.pods.iter_mut().flat_map(|pod| &mut pod.containers).filter_map(|c| c.launch.as_mut());
    for launch in launches.filter(|l| l.engine.get().is_some_and(|e| e == "torchrun")) {
        if launch.processes_per_node.is_absent() {
            launch.processes_per_node = stated.parse(|text| text.parse().ok());
        }
    }
}

/// How the pods of a workload belong together.
enum Group {
    /// Each pod is on its own.
    Single,
    /// All pods of one replica work as one.
    Together,
}

/// The pods of a kind, with their roles and numbers.
fn groups(tree: &Arc<Tree>, view: View<'_>, kind: &str) -> (Vec<Pod>, Group) {
    let spec = view.get("spec");
    let one = |template: View<'_>| {
        if template.get("spec").get("containers").is_some() || template.get("containers").is_some() {
            vec![pods::template(tree, template, "main", Fact::value(1, template.place()))]
        } else {
            Vec::new()
        }
    };
    match kind {
        "Pod" => {
            let mut pod = pods::template(tree, view, "main", Fact::value(1, view.place()));
            pod.labels = pods::labels(view.path("metadata.labels"));
            (vec![pod], Group::Single)
        }
        "Job" if spec.get("tasks").is_some() => (tasks(tree, spec), Group::Together),
        "Job" => {
            let pods = one(spec.get("template"));
            (pods, Group::Together)
        }
        "CronJob" => (one(spec.path("jobTemplate.spec.template")), Group::Together),
        "PodTemplate" => (one(view.get("template")), Group::Single),
        "PyTorchJob" | "TFJob" | "MPIJob" | "JAXJob" | "XGBoostJob" | "PaddleJob" | "MXJob" | "HyperPodPyTorchJob"
        | "ElasticJob" => (replica_specs(tree, spec), Group::Together),
        "Workspace" | "RAGEngine" if view.path("resource.instanceType").is_some() => {
            (kaito::pods(tree, view), Group::Together)
        }
        "TrainJob" => (train_job(tree, spec.get("trainer")), Group::Together),
        "JobSet" => (job_set(tree, spec), Group::Together),
        "LeaderWorkerSet" => (leader_workers(tree, spec), Group::Together),
        "RayCluster" => (ray(tree, spec), Group::Together),
        "RayJob" => (ray(tree, spec.get("rayClusterSpec")), Group::Together),
        "RayService" => {
            let mut pods = ray(tree, spec.get("rayClusterConfig"));
            let served = spec.get("serveConfigV2").traced().and_then(launch::of_ray_serve);
            let holds_gpus = |c: &&mut Container| c.gpus.get().is_some_and(|&n| n > 0);
            if let Some(first) = pods.iter_mut().flat_map(|p| &mut p.containers).find(holds_gpus) {
                first.launch = served.or(first.launch.take());
            }
            (pods, Group::Together)
        }
        "RayClusterFleet" | "RayClusterReplicaSet" => (ray(tree, spec.path("template.spec")), Group::Together),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => (one(spec.get("template")), Group::Single),
        "InferenceService" | "LLMInferenceService" | "LLMInferenceServiceConfig" => {
            let mut pods = by_shape(tree, view);
            let multi = spec.path("predictor.workerSpec").is_some() || spec.get("worker").is_some();
            if multi {
                let size = spec.path("predictor.workerSpec.pipelineParallelSize").int();
                if let (Some(&n), Some(worker)) = (size.get(), pods.get_mut(1)) {
                    worker.role = Fact::value("worker".to_owned(), size.span);
                    worker.replicas = Fact::value((n - 1).max(0), size.span);
                }
            }
            (pods, if multi { Group::Together } else { Group::Single })
        }
        _ => (by_shape(tree, view), Group::Single),
    }
}

fn tasks(tree: &Arc<Tree>, spec: View<'_>) -> Vec<Pod> {
    let tasks = spec.get("tasks").items();
    tasks
        .map(|task| {
            let role = task.get("name").string().get().cloned().unwrap_or_else(|| "task".to_owned());
            pods::template(tree, task.get("template"), &role, task.get("replicas").int().or_default(1))
        })
        .collect()
}

fn replica_specs(tree: &Arc<Tree>, spec: View<'_>) -> Vec<Pod> {
    let specs = spec.entries().into_iter().find(|(key, _)| key.ends_with("ReplicaSpecs") || *key == "replicaSpecs");
    let entries =
        specs.map(|(_, view)| if view.node().is_some_and(|n| n.is_seq()) { Vec::new() } else { view.entries() });
    entries
        .unwrap_or_default()
        .into_iter()
        .filter(|(_, replica)| replica.get("template").is_some())
        .map(|(role, replica)| {
            pods::template(
                tree,
                replica.get("template"),
                &role.to_lowercase(),
                replica.get("replicas").int().or_default(1),
            )
        })
        .collect()
}

fn train_job(tree: &Arc<Tree>, trainer: View<'_>) -> Vec<Pod> {
    if !trainer.is_some() {
        return Vec::new();
    }
    let mut pod = Pod::blank(trainer.place());
    pod.role = Fact::value("node".to_owned(), trainer.place());
    pod.replicas = trainer.get("numNodes").int().or_default(1);
    pod.spec = Some(Raw::new(tree, trainer));
    let mut container = containers::container(tree, trainer, ContainerRole::Main, &pod);
    containers::resources(&mut container, trainer.get("resourcesPerNode"));
    // The runtime may mount a volume at /dev/shm.
    container.shm = Fact::unknown(Why::Remote("the training runtime".into()), trainer.place());
    pod.containers.push(container);
    pod.gpus = pods::gpus(&pod);
    vec![pod]
}

fn job_set(tree: &Arc<Tree>, spec: View<'_>) -> Vec<Pod> {
    let jobs = spec.get("replicatedJobs").items();
    jobs.map(|job| {
        let role = job.get("name").string().get().cloned().unwrap_or_default();
        let job_spec = job.path("template.spec");
        let per_job = job_spec.get("parallelism").int().or_default(1);
        let replicas = job.get("replicas").int().or_default(1);
        let number = product(&replicas, &per_job);
        pods::template(tree, job_spec.get("template"), &role, number)
    })
    .collect()
}

fn leader_workers(tree: &Arc<Tree>, spec: View<'_>) -> Vec<Pod> {
    let group = spec.get("leaderWorkerTemplate");
    let size = group.get("size").int().or_default(1);
    let worker = group.get("workerTemplate");
    let leader = if group.get("leaderTemplate").is_some() { group.get("leaderTemplate") } else { worker };
    let mut out = vec![pods::template(tree, leader, "leader", Fact::value(1, leader.place()))];
    if size.get() != Some(&1) {
        out.push(pods::template(tree, worker, "worker", size.map(|n| n - 1)));
    }
    out
}

fn ray(tree: &Arc<Tree>, cluster: View<'_>) -> Vec<Pod> {
    let head = cluster.get("headGroupSpec");
    let mut out = Vec::new();
    if head.get("template").is_some() {
        out.push(pods::template(tree, head.get("template"), "head", Fact::value(1, head.place())));
    }
    for group in cluster.get("workerGroupSpecs").items() {
        let hosts = group.get("numOfHosts").int().or_default(1);
        let replicas = group.get("replicas").int().or(|| group.get("minReplicas").int()).or_default(1);
        out.push(pods::template(tree, group.get("template"), "worker", product(&replicas, &hosts)));
    }
    // KubeRay mounts a memory volume at /dev/shm of the first container, for the object store (`BuildPod` in its
    // controllers/ray/common/pod.go).
    let first = out.iter_mut().filter_map(|pod| pod.containers.first_mut());
    for container in first.filter(|c| c.shm.get().is_some_and(|shm| *shm == SharedMemory::Default)) {
        container.shm = Fact::value(SharedMemory::Volume, container.span);
        container.shm_bytes = Fact::absent(container.span);
    }
    out
}

/// Pods of any other kind: every map with a list of containers, and maps that look like a container.
fn by_shape(tree: &Arc<Tree>, view: View<'_>) -> Vec<Pod> {
    let mut out = Vec::new();
    let spec = view.get("spec");
    search(tree, (spec, spec), (DEPTH, Fact::value(1, view.place())), &mut out);
    out
}

/// Looks for pods in a map, which stands in `parent`: a container that says nothing of nodes is placed as its parent says.
fn search(
    tree: &Arc<Tree>,
    (view, parent): (View<'_>, View<'_>),
    (depth, replicas): (usize, Fact<i64>),
    out: &mut Vec<Pod>,
) {
    if depth == 0 || out.len() > 64 {
        return;
    }
    let Some(node) = view.node() else { return };
    if node.is_seq() {
        view.items().for_each(|item| search(tree, (item, parent), (depth - 1, replicas.clone()), out));
        return;
    }
    if !node.is_map() {
        return;
    }
    if view.get("containers").node().is_some_and(Node::is_seq)
        && view.get("containers").items().any(|c| c.node().is_some_and(Node::is_map))
    {
        let mut pod = pods::spec_of(tree, view, "main");
        pod.replicas = replicas;
        out.push(pod);
        return;
    }
    if containers::looks_like_container(view) {
        let mut pod = Pod::blank(view.place());
        pod.role = Fact::value("main".to_owned(), view.place());
        pod.replicas = replicas.clone();
        let placed = ["nodeSelector", "tolerations", "affinity"].iter().any(|key| view.get(key).is_some());
        pods::scheduling(&mut pod, if placed { view } else { parent });
        pod.spec = Some(Raw::new(tree, view));
        let container = containers::container(tree, view, ContainerRole::Main, &pod);
        pod.containers.push(container);
        pod.gpus = pods::gpus(&pod);
        out.push(pod);
    }
    let stated = ["replicas", "minReplicas"].iter().map(|k| view.get(k)).find(|v| v.is_some());
    let replicas = stated.map_or(replicas, |v| v.int().or_default(1));
    for (key, child) in view.entries() {
        if !matches!(key, "env" | "labels" | "annotations" | "status") {
            search(tree, (child, view), (depth - 1, replicas.clone()), out);
        }
    }
}

fn product(a: &Fact<i64>, b: &Fact<i64>) -> Fact<i64> {
    match (a.get(), b.get()) {
        (Some(x), Some(y)) => Fact::value(x.saturating_mul(*y), if *x > 1 { a.span } else { b.span }),
        (None, _) => a.clone(),
        _ => b.clone(),
    }
}

/// Strategy and its arithmetic: surge rounds up, unavailable rounds down.
fn rollout(out: &mut Workload, spec: View<'_>, kind: &str) {
    let (strategy, default) = match kind {
        "Deployment" => (spec.get("strategy"), "RollingUpdate"),
        "StatefulSet" | "DaemonSet" => (spec.get("updateStrategy"), "RollingUpdate"),
        _ => return,
    };
    out.strategy = strategy.get("type").string().or_default(default.to_owned());
    if kind != "Deployment" {
        return;
    }
    out.progress_deadline_seconds = spec.get("progressDeadlineSeconds").int().or_default(600);
    let rolling = strategy.get("rollingUpdate");
    out.surge_pods = share(rolling.get("maxSurge"), &out.replicas, f64::ceil);
    out.unavailable_pods = share(rolling.get("maxUnavailable"), &out.replicas, f64::floor);
}

/// A number of pods, or a percentage (25 % by default) of the replicas.
fn share(view: View<'_>, replicas: &Fact<i64>, round: fn(f64) -> f64) -> Fact<i64> {
    let text = view.string().or_default("25%".to_owned());
    let Some(&replicas) = replicas.get() else {
        return Fact::unknown(Why::NotStated("the number of replicas".into()), view.place());
    };
    text.and_then(|text| match text.strip_suffix('%').map(str::parse::<f64>) {
        Some(Ok(percent)) => Known::Value(round(percent * replicas as f64 / 100.0) as i64),
        Some(Err(_)) => Known::Unknown(Why::Malformed(text.into())),
        None => text.parse().map_or_else(|_| Known::Unknown(Why::Malformed(text.clone().into())), Known::Value),
    })
}

fn job(out: &mut Workload, view: View<'_>, kind: &str) {
    let spec = view.get("spec");
    let job = if kind == "CronJob" { spec.path("jobTemplate.spec") } else { spec };
    out.backoff_limit = job.get("backoffLimit").int().or(|| spec.path("runPolicy.backoffLimit").int());
    out.active_deadline_seconds =
        job.get("activeDeadlineSeconds").int().or(|| spec.path("runPolicy.activeDeadlineSeconds").int());
    out.ttl_seconds_after_finished = job.get("ttlSecondsAfterFinished").int();
    out.completions = job.get("completions").int();
    out.completion_mode = job.get("completionMode").string();
    out.min_available = spec.get("minAvailable").int();
    if kind == "CronJob" {
        out.concurrency_policy = spec.get("concurrencyPolicy").string().or_default("Allow".to_owned());
    }
    let plain_job = matches!(kind, "Job" | "CronJob") && spec.get("tasks").node().is_none();
    if plain_job {
        out.parallelism = job.get("parallelism").int().or_default(1);
        if let Some(pod) = out.pods.first_mut() {
            pod.replicas = out.parallelism.clone();
        }
    }
}

/// Pods and GPUs of one group, and of everything.
fn group_size(out: &mut Workload, group: Group) {
    let mut size = Fact::value(0, out.span);
    let mut gpus = Fact::value(0, out.span);
    for pod in &out.pods {
        size = sum(size, pod.replicas.clone());
        gpus = sum(gpus, product(&pod.gpus, &pod.replicas));
    }
    // An object whose pods do not work together counts each pod as its own group.
    let single = matches!(group, Group::Single);
    out.group_gpus = if single && out.pods.len() == 1 { out.pods[0].gpus.clone() } else { gpus.clone() };
    out.group_size = if single { Fact::value(1, out.span) } else { size };
    let everything = product(&gpus, &out.replicas);
    out.gpus = if matches!(out.kind.get().map(String::as_str), Some("DaemonSet")) { gpus } else { everything };
}

fn sum(a: Fact<i64>, b: Fact<i64>) -> Fact<i64> {
    match (a.get(), b.get()) {
        (Some(x), Some(y)) => Fact::value(x.saturating_add(*y), if *y > 0 { b.span } else { a.span }),
        (None, _) => a,
        _ => b,
    }
}

/// Whether something starts the group all at once, and the queue it waits in.
fn gang(out: &mut Workload, spec: View<'_>) {
    let label = |out: &Workload, key: &str| {
        let of_pods = out.pods.iter().find_map(|p| p.labels.get(key).or(p.annotations.get(key)).cloned());
        out.labels.get(key).or(out.annotations.get(key)).cloned().or(of_pods)
    };
    let queue = label(out, "kueue.x-k8s.io/queue-name").or_else(|| label(out, "kai.scheduler/queue"));
    let volcano = out.api_version.get().is_some_and(|v| v.starts_with("batch.volcano.sh"));
    if let Some(queue) = queue.clone() {
        out.queue = queue;
    } else if volcano {
        out.queue = spec.get("queue").string();
    }
    let group = [
        "scheduling.x-k8s.io/pod-group",
        "pod-group.scheduling.sigs.k8s.io",
        "scheduling.k8s.io/group-name",
        "scheduling.volcano.sh/group-name",
    ]
    .iter()
    .find_map(|key| label(out, key));
    let scheduler = out.pods.iter().map(|p| &p.scheduler).find(|s| {
        s.get().is_some_and(|s| {
            ["volcano", "kai-scheduler", "scheduler-plugins-scheduler", "yunikorn", "koord-scheduler"]
                .contains(&s.as_str())
        })
    });
    let policy = spec.path("runPolicy.schedulingPolicy");
    let evidence = queue
        .map(|q| q.span)
        .or(group.map(|g| g.span))
        .or(scheduler.map(|s| s.span))
        .or(policy.is_some().then(|| policy.place()))
        .or(volcano.then_some(out.api_version.span));
    // The leader starts its workers, but nothing holds the whole group back until it fits.
    out.gang = match evidence {
        Some(span) => Fact::value(true, span),
        None => Fact::value(false, out.span),
    };
}
