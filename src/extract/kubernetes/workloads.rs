//! The kinds that carry pods, and what a group of them is.

use super::{places, ray};
use crate::extract::{intent, launch};
use crate::facts::value::Blank;
use crate::facts::{Container, Object, Workload, WorkloadFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Problem, Raw, Tree, View};
use std::sync::Arc;

/// Kinds that hold templates of pods for others, or that only configure them.
const NOT_WORKLOADS: &[&str] =
    &["CustomResourceDefinition", "ConfigMap", "Secret", "ValidatingAdmissionPolicy", "ClusterPolicy", "LimitRange"];

/// The workload of an object that carries pods or containers; where there are too many is added to `cut`.
pub fn read(tree: &Arc<Tree>, view: View<'_>, object: &Object, cut: &mut Vec<Problem>) -> Option<Workload> {
    let kind = object.kind.get()?.clone();
    if NOT_WORKLOADS.contains(&kind.as_str()) {
        return None;
    }
    let spec = view.get("spec");
    let mut out = Workload::blank(object.span);
    let version = object.api_version.get().map_or("", String::as_str);
    let found = places::read(tree, view, (version, &kind));
    cut.extend(found.cut);
    if found.pods.is_empty() {
        return None;
    }
    out.pods = found.pods;
    if kind == "RayService" {
        ray_serve(&mut out, spec.get("serveConfigV2"));
    }
    ray::variables(&mut out, view, &kind);
    processes_per_node(&mut out, spec);
    out.format = Fact::value(WorkloadFormat::Kubernetes, object.kind.span);
    out.kind = object.kind.clone();
    out.api_version = object.api_version.clone();
    out.name = object.name.clone();
    out.namespace = object.namespace.clone();
    out.labels = object.labels.clone();
    out.annotations = object.annotations.clone();
    if kind == "CronJob" {
        // Queues and classes are read from the jobs that it makes.
        let jobs = spec.path("jobTemplate.metadata");
        out.labels.extend(super::pods::labels(jobs.get("labels")));
        out.annotations.extend(super::pods::labels(jobs.get("annotations")));
    }
    out.object = Some(Raw::new(tree, view));
    out.replicas = found.replicas;
    rollout(&mut out, spec, &kind);
    job(&mut out, view, &kind);
    group_size(&mut out, found.together);
    gang(&mut out, spec);
    if let Some(open) = found.open {
        out.leave_open(open.why);
    }
    out.intent = intent::of(&out);
    Some(out)
}

/// What Ray Serve runs on the first container that has GPUs.
fn ray_serve(out: &mut Workload, config: View<'_>) {
    let holds_gpus = |c: &&mut Container| c.gpus.get().is_some_and(|&n| n > 0);
    let served = config.traced().as_ref().and_then(launch::of_ray_serve);
    if let Some(first) = out.pods.iter_mut().flat_map(|p| &mut p.containers).find(holds_gpus) {
        first.launch = served.or(first.launch.take());
    }
}

/// Training operators hand the number of processes to torchrun by its environment; the command line wins. Before 1.8 the
/// operator of PyTorchJobs did so only beside a master.
fn processes_per_node(out: &mut Workload, spec: View<'_>) {
    let of_job = spec.get("nprocPerNode");
    let stated = if of_job.is_some() { of_job } else { spec.path("trainer.numProcPerNode") };
    if !stated.is_some() {
        return;
    }
    let handed = !of_job.is_some() || spec.path("pytorchReplicaSpecs.Master").is_some();
    let launches = out.pods.iter_mut().flat_map(|pod| &mut pod.containers).filter_map(|c| c.launch.as_mut());
    for launch in launches.filter(|l| l.engine.get().is_some_and(|e| e == "torchrun")) {
        if launch.processes_per_node.is_absent() {
            launch.processes_per_node = match handed {
                true => stated.parse(|text| text.parse().ok()),
                false => Fact::unknown(Why::NotStated("the release of the training operator".into()), stated.place()),
            };
        }
    }
}

/// Strategy and its arithmetic: surge rounds up, unavailable rounds down.
fn rollout(out: &mut Workload, spec: View<'_>, kind: &str) {
    let builtin = out.api_version.get().is_some_and(|v| v.starts_with("apps/") || v.starts_with("extensions/"));
    let (strategy, default) = match kind {
        "Deployment" if builtin => (spec.get("strategy"), "RollingUpdate"),
        "StatefulSet" | "DaemonSet" if builtin => (spec.get("updateStrategy"), "RollingUpdate"),
        "Rollout" | "CloneSet" | "DeploymentConfig" => return rollout_elsewhere(out, kind),
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

/// Kinds that replace their pods in ways of their own.
fn rollout_elsewhere(out: &mut Workload, kind: &str) {
    let why = || Why::NotModelled(format!("how a {kind} replaces its pods").into());
    out.strategy = Fact::unknown(why(), out.span);
    for number in [&mut out.surge_pods, &mut out.unavailable_pods, &mut out.progress_deadline_seconds] {
        *number = Fact::unknown(why(), number.span);
    }
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
    let ttl = || spec.path("runPolicy.ttlSecondsAfterFinished").int();
    out.ttl_seconds_after_finished = job.get("ttlSecondsAfterFinished").int().or(ttl);
    out.min_available = spec.get("minAvailable").int();
    if kind == "CronJob" {
        out.concurrency_policy = spec.get("concurrencyPolicy").string().or_default("Allow".to_owned());
    }
    let plain_job = matches!(kind, "Job" | "CronJob") && spec.get("tasks").node().is_none();
    if plain_job {
        out.parallelism = job.get("parallelism").int().or_default(1);
    }
}

/// Pods and GPUs of one group, and of everything.
fn group_size(out: &mut Workload, together: bool) {
    let mut size = Fact::value(0, out.span);
    let mut gpus = Fact::value(0, out.span);
    for pod in &out.pods {
        size = size.plus(pod.replicas.clone());
        gpus = gpus.plus(pod.gpus.times(&pod.replicas));
    }
    // An object whose pods do not work together counts each pod as its own group.
    out.group_gpus = if !together && out.pods.len() == 1 { out.pods[0].gpus.clone() } else { gpus.clone() };
    out.group_size = if together { size } else { Fact::value(1, out.span) };
    out.gpus = gpus.times(&out.replicas);
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
