//! The node that a pod lands on: the pools that its selectors allow, and what all of them agree on.

use super::boundary::{Deployed, Reach};
use super::candidates::Candidates;
use super::driver::{self, DriverSource};
use super::offers::{self, asked, offers};
use super::pools::{common, gpu_facts, most_gpus, named, unknown_gpu};
use crate::catalog;
use crate::evidence;
use crate::facts::value::Entity;
use crate::facts::{
    Build, Cluster, Container, Gpu, InfraFormat, Node, NodePool, PackageFile, PackageFileKind, Pod, Workload,
    WorkloadFormat,
};
use crate::known::{Fact, Known, Why};
use crate::source::Span;
use crate::version::Version;
use std::sync::Arc;

/// Fills `pod.pools` and `pod.node` of every pod.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let drivers = drivers(deployed);
    let configured = |format: &Fact<InfraFormat>| format.get() == Some(&InfraFormat::Configuration);
    let pools = Candidates::gather(deployed, Reach::Cluster, |facts| facts.pools.iter().map(offers::listed).collect());
    let clusters = Candidates::gather(deployed, Reach::Cluster, |facts| {
        facts.clusters.iter().map(|cluster| (cluster.span.source, vec![()], cluster)).collect()
    });
    deployed.each(workloads, |workload, boundary| {
        let from = workload.span.source;
        let format = workload.format.get().copied();
        let meant = |cluster: &&Arc<Cluster>| {
            let declared = configured(&cluster.format);
            (declared || of_clusters(format)) && boundary.is_meant(cluster.span.source, declared)
        };
        for pod in &mut workload.pods {
            let vendors = vendors(pod);
            let serverless = pod.node.as_ref().is_some_and(|node| is(&node.platform, "fargate"));
            let possible = |pool: &&Arc<NodePool>| {
                let declared = configured(&pool.format);
                (declared || format.is_none_or(|format| serves(pool, format)) && !serverless)
                    && admits(pool, pod, &vendors)
                    && boundary.is_meant(pool.span.source, declared)
            };
            let near = pools.nearest(boundary, from, pools.fewest(&asked(pod)), possible);
            pod.pools = near.into_iter().map(|pool| Arc::clone(pool)).collect();
            let mut node = pod.node.take().unwrap_or_else(|| Node::blank(pod.span));
            node.gpu = node.gpu.take().and_then(|gpu| stated(&gpu, format));
            from_selectors(&mut node, pod);
            // A machine type that the pod itself selects says more than the pools it may run on.
            from_accelerator(&mut node, pod);
            from_machine(&mut node);
            from_pools(&mut node, &pod.pools);
            from_clusters(&mut node, &clusters.nearest(boundary, from, &[()], meant));
            from_drivers(&mut node, &drivers.nearest(boundary, from, &[()], |_| true));
            from_accelerator(&mut node, pod);
            from_machine(&mut node);
            if node.driver.is_absent() {
                node.driver = Fact::unknown(Why::NotStated("the driver of the node".into()), node.span);
            }
            // Of a GPU that cannot be told the vendor is known: the one whose resource the pod asks for.
            if node.gpu.as_ref().is_none_or(|gpu| gpu.perhaps.is_some()) {
                let why = node.gpu.as_ref().and_then(|gpu| gpu.perhaps.clone());
                let why = why.unwrap_or_else(|| Why::NotStated("the GPU of the node".into()));
                node.gpu = asked_for(pod, why, node.span).or(node.gpu);
            }
            if pod.spot.is_absent() {
                pod.spot = node.spot.clone();
            }
            pod.node = Some(node);
            slices(pod);
        }
    });
}

/// Whether what a format states runs in a Kubernetes cluster.
fn of_clusters(format: Option<WorkloadFormat>) -> bool {
    format.is_none_or(|format| matches!(format, WorkloadFormat::Kubernetes | WorkloadFormat::Values))
}

/// Whether what a format states may land on machines like these.
fn serves(pool: &NodePool, format: WorkloadFormat) -> bool {
    match format {
        WorkloadFormat::Kubernetes => !pool.in_cluster.is_unknown() && pool.in_cluster.get() != Some(&false),
        WorkloadFormat::Values => true,
        WorkloadFormat::Compose => pool.in_cluster.is_unknown(),
        WorkloadFormat::Ecs => pool.in_ecs.get() == Some(&true),
        WorkloadFormat::AwsBatch => pool.platform.get().is_none_or(|platform| platform == "batch"),
        // Schedulers of their own place these.
        WorkloadFormat::Docker
        | WorkloadFormat::Sagemaker
        | WorkloadFormat::Dstack
        | WorkloadFormat::Skypilot
        | WorkloadFormat::Truss
        | WorkloadFormat::Determined
        | WorkloadFormat::Mosaicml
        | WorkloadFormat::Databricks
        | WorkloadFormat::RayServe
        | WorkloadFormat::Nomad
        | WorkloadFormat::Sge
        | WorkloadFormat::Slurm
        | WorkloadFormat::Pbs
        | WorkloadFormat::Lsf => false,
        // Nothing says which machine runs it.
        WorkloadFormat::Ci | WorkloadFormat::Script | WorkloadFormat::Image => false,
    }
}

/// The card that a format itself names, as people do. Sites have names of their own, and so has SkyPilot.
fn stated(gpu: &Gpu, format: Option<WorkloadFormat>) -> Option<Gpu> {
    let span = gpu.id.span;
    match (&gpu.id.known, format) {
        (
            Known::Value(name),
            Some(
                WorkloadFormat::Slurm
                | WorkloadFormat::Pbs
                | WorkloadFormat::Lsf
                | WorkloadFormat::Sge
                | WorkloadFormat::RayServe,
            ),
        ) => named(name, span, || catalog::gpus_called(name)),
        (Known::Value(name), Some(WorkloadFormat::Skypilot)) => named(name, span, || catalog::skypilot_gpus(name, "")),
        (Known::Value(name), _) => named(name, span, || catalog::gpus_named(name)),
        (Known::Unknown(why), _) => Some(unknown_gpu(why.clone(), span)),
        (Known::Absent, _) => None,
    }
}

/// The GPU of which nothing but the vendor is known; `None` when the pod asks for none.
fn asked_for(pod: &Pod, why: Why, span: Span) -> Option<Gpu> {
    if pod.gpus.is_absent() || pod.gpus.get() == Some(&0) {
        return None;
    }
    let mut gpu = unknown_gpu(why, span);
    let asking = pod.containers.iter().filter(|c| c.gpus.get() != Some(&0));
    if let Some(vendor) = agree(asking.map(|c| &c.gpu_vendor)).filter(|vendor| vendor.get().is_some()) {
        (gpu.vendor, gpu.perhaps) = (vendor, None);
    }
    Some(gpu)
}

/// Statements about drivers that may hold for a deployment.
fn drivers<'a>(deployed: Deployed<'a>) -> Candidates<'a, (), DriverSource> {
    Candidates::gather(deployed, Reach::Cluster, |facts| {
        driver::sources(facts).into_iter().map(|d| (d.file, vec![()], d)).collect()
    })
}

/// Tells builds the driver that they will meet, where one is stated near them.
pub fn drivers_of_builds(builds: &mut [Vec<Arc<Build>>], deployed: Deployed<'_>) {
    // What a tool builds runs where that tool runs it.
    met(builds, deployed, |build| build.tool.is_absent().then_some(&mut build.driver));
}

/// Tells environments of conda the driver that they will meet.
pub fn drivers_of_environments(files: &mut [Vec<Arc<PackageFile>>], deployed: Deployed<'_>) {
    let is_conda = |file: &PackageFile| file.kind.get() == Some(&PackageFileKind::Conda);
    met(files, deployed, |file| is_conda(file).then_some(&mut file.driver));
}

/// Fills the driver of things with the one that is stated near them, where they want it.
fn met<T: Entity + Clone>(
    things: &mut [Vec<Arc<T>>],
    deployed: Deployed<'_>,
    wanted: impl Fn(&mut T) -> Option<&mut Fact<Version>> + Sync,
) {
    if things.iter().all(Vec::is_empty) {
        return;
    }
    let drivers = drivers(deployed);
    let pools = Candidates::gather(deployed, Reach::Cluster, |facts| {
        let on_gpus = facts.pools.iter().filter(|pool| pool.gpu_count.get().is_some_and(|&count| count > 0));
        on_gpus.map(|pool| (pool.span.source, vec![()], &pool.driver)).collect()
    });
    deployed.each(things, |thing, boundary| {
        let from = thing.span().source;
        let Some(slot) = wanted(Arc::make_mut(thing)) else { return };
        let near = drivers.nearest(boundary, from, &[()], |_| true);
        let mut stated: Vec<&Fact<Version>> = near.iter().map(|d| &d.driver).filter(|d| !d.is_absent()).collect();
        if near.is_empty() {
            let of_pools = pools.nearest(boundary, from, &[()], |_| true);
            stated.extend(of_pools.iter().copied().filter(|_| of_pools.iter().all(|driver| !driver.is_absent())));
        }
        if let Some(driver) = agree::<Version>(stated.into_iter()) {
            *slot = driver;
        }
    });
}

/// Whether the pod's selectors and its need of GPUs let it run on the pool.
fn admits(pool: &NodePool, pod: &Pod, vendors: &[&str]) -> bool {
    let wants_gpu = pod.gpus.get().is_some_and(|&n| n > 0);
    let has_gpu = pool.gpu.is_some() || pool.gpu_count.get().is_some_and(|&n| n > 0);
    let selects = !pod.node_selector.is_empty() || !pod.node_affinity.is_empty();
    if wants_gpu && !has_gpu {
        return false;
    }
    if !wants_gpu && !selects || !makes(pool, vendors) || offers::reserved(pool, pod) {
        return false;
    }
    let by_selector = pod.node_selector.iter().all(|(key, value)| match value.get() {
        Some(value) => offers(pool, key, std::slice::from_ref(value)),
        None => true,
    });
    let by_affinity = pod.node_affinity.iter().all(|term| match (term.key.get(), term.operator.get()) {
        (Some(key), Some(operator)) if operator == "In" => {
            let values: Vec<String> = term.values.iter().filter_map(|v| v.get().cloned()).collect();
            values.len() < term.values.len() || offers(pool, key, &values)
        }
        _ => true,
    });
    by_selector && by_affinity
}

/// The vendors whose resources the pod asks for.
fn vendors(pod: &Pod) -> Vec<&'static str> {
    let asked = pod.containers.iter().filter_map(|c| catalog::accelerator(c.gpu_resource.get()?));
    asked.map(|accelerator| accelerator.vendor).collect()
}

/// Whether the pool's accelerators can be of the vendors whose resources a pod asks for.
fn makes(pool: &NodePool, vendors: &[&str]) -> bool {
    let vendor = pool.gpu.as_ref().and_then(|gpu| gpu.vendor.get());
    vendor.is_none_or(|vendor| vendors.iter().all(|asked| asked == vendor))
}

fn is(fact: &Fact<String>, value: &str) -> bool {
    fact.get().is_some_and(|v| v == value)
}

/// What the selectors alone tell of the node.
fn from_selectors(node: &mut Node, pod: &Pod) {
    for (key, value) in &pod.node_selector {
        let Some(text) = value.get() else { continue };
        let fact = || Fact::value(text.clone(), value.span);
        match key.as_str() {
            "node.kubernetes.io/instance-type" | "beta.kubernetes.io/instance-type" => node.instance_type = fact(),
            "kubernetes.io/arch" => node.arch = fact(),
            "cloud.google.com/gke-accelerator"
            | "nvidia.com/gpu.product"
            | "k8s.amazonaws.com/accelerator"
            | "gpu.nvidia.com/class"
            | "gpu.nvidia.com/model" => node.gpu = named(text, value.span, || catalog::gpus_named(text)),
            "karpenter.k8s.aws/instance-gpu-name" => {
                node.gpu = named(text, value.span, || catalog::karpenter_gpus(text));
            }
            "karpenter.k8s.aws/instance-family" => {
                node.gpu = gpu_facts(value.span, || catalog::instance_family_gpu(text).flatten());
            }
            // A label of one's own that names a GPU.
            _ if ["accelerator", "gpu-type", "gpu_type", "gpu-name", "gpu-model"]
                .iter()
                .any(|word| key.contains(word))
                && node.gpu.is_none() =>
            {
                node.gpu = named(text, value.span, || catalog::gpus_called(text));
            }
            _ => {}
        }
        let platform = if key.starts_with("cloud.google.com/") {
            "gke"
        } else if key.starts_with("eks.amazonaws.com/") {
            "eks"
        } else if key.starts_with("kubernetes.azure.com/") {
            "aks"
        } else {
            continue;
        };
        node.platform = Fact::value(platform.to_owned(), value.span);
    }
}

/// Nodes whose GPUs are all cut alike say so in the product's name, and their slices are asked for as GPUs.
fn slices(pod: &mut Pod) {
    let product = pod.node_selector.get("nvidia.com/gpu.product");
    let Some((text, span)) = product.and_then(|label| Some((label.get()?, label.span))) else { return };
    let Some((_, profile)) = text.split_once("-MIG-") else { return };
    let profile = profile.strip_suffix("-SHARED").unwrap_or(profile).to_owned();
    let asks = |c: &&mut Container| c.mig_profile.is_absent() && c.gpus.get().is_some_and(|&n| n > 0);
    for container in pod.containers.iter_mut().filter(asks) {
        container.mig_profile = Fact::value(profile.clone(), span);
    }
}

/// The value that all candidates agree on; unknown when they do not or one does not know.
fn agree<'f, T: Clone + PartialEq + 'f>(candidates: impl Iterator<Item = &'f Fact<T>> + Clone) -> Option<Fact<T>> {
    if let Some(unknown) = candidates.clone().find(|f| f.is_unknown()) {
        return Some(unknown.clone());
    }
    // What one states and another leaves out is no agreement: a pool without a spot setting is not a spot pool.
    let stated = candidates.clone().find(|f| !f.is_absent())?;
    if candidates.clone().any(|f| f.known != stated.known) {
        return Some(Fact::unknown(Why::Ambiguous("the pools it may run on differ".into()), stated.span));
    }
    Some(stated.clone())
}

/// Keeps what is already decided, else takes what the candidates agree on.
fn fill<'f, T: Clone + PartialEq + 'f>(slot: &mut Fact<T>, candidates: impl Iterator<Item = &'f Fact<T>> + Clone) {
    if slot.is_absent()
        && let Some(fact) = agree(candidates)
    {
        *slot = fact;
    }
}

fn from_pools(node: &mut Node, pools: &[Arc<NodePool>]) {
    if pools.is_empty() {
        return;
    }
    if node.gpu.is_none() && pools.iter().all(|pool| pool.gpu.is_some()) {
        node.gpu = common(pools.iter().filter_map(|pool| pool.gpu.as_ref()));
    }
    if pools.iter().all(|p| !p.instance_types.is_empty()) {
        fill(&mut node.instance_type, pools.iter().flat_map(|p| &p.instance_types));
    }
    fill(&mut node.driver, pools.iter().map(|p| &p.driver));
    fill(&mut node.kubernetes, pools.iter().map(|p| &p.kubernetes));
    fill(&mut node.spot, pools.iter().map(|p| &p.spot));
    fill(&mut node.disk_bytes, pools.iter().map(|p| &p.disk_bytes));
    fill(&mut node.platform, pools.iter().map(|p| &p.platform));
    fill(&mut node.os, pools.iter().map(|p| &p.image_type));
    if node.gpu_count.is_absent() {
        // A pod fits when some allowed machine is large enough: the largest one decides.
        let counts: Vec<Fact<i64>> = pools.iter().map(|p| most_gpus(p)).collect();
        node.gpu_count = counts
            .iter()
            .find(|c| c.is_unknown())
            .or_else(|| counts.iter().max_by_key(|c| c.get().copied()))
            .cloned()
            .unwrap_or_else(|| Fact::absent(node.span));
    }
}

fn from_clusters(node: &mut Node, clusters: &[&&Arc<Cluster>]) {
    fill(&mut node.platform, clusters.iter().map(|c| &c.platform));
    fill(&mut node.kubernetes, clusters.iter().map(|c| &c.kubernetes));
}

fn from_drivers(node: &mut Node, sources: &[&DriverSource]) {
    if !node.driver.is_absent() {
        return;
    }
    let known: Vec<&&DriverSource> = sources.iter().filter(|s| !s.driver.is_absent()).collect();
    if let Some(driver) = agree::<Version>(known.iter().map(|s| &s.driver)) {
        node.driver = driver;
    }
}

/// The machine type of a GKE accelerator that only one type has.
fn from_accelerator(node: &mut Node, pod: &Pod) {
    let Some(label) = pod.node_selector.get("cloud.google.com/gke-accelerator") else { return };
    if node.instance_type.is_absent()
        && let (Some(machine), unread) = evidence::watched(|| label.get().and_then(|text| catalog::gke_machine(text)))
    {
        node.instance_type = Fact::value(machine.to_owned(), label.span).resting_on(unread);
    }
}

/// What the catalog knows of the machine type.
fn from_machine(node: &mut Node) {
    let (stated, span) = (node.instance_type.clone(), node.instance_type.span);
    let Some(name) = stated.get() else { return };
    let (found, unread) = evidence::watched(|| catalog::instance(name).map(|machine| (machine, machine.arch())));
    let Some((machine, arch)) = found else { return };
    let unread = unread || stated.unread;
    if node.gpu.is_none() {
        node.gpu = gpu_facts(span, || catalog::instance_gpu(name));
    }
    let from = |value: Option<i64>| Fact::from_option(value, span).resting_on(unread);
    let text = |value: Option<&str>| Fact::from_option(value.map(str::to_owned), span).resting_on(unread);
    fill(&mut node.gpu_count, [from(machine.gpu_count)].iter());
    fill(&mut node.vcpus, [from(machine.vcpus)].iter());
    fill(&mut node.memory_bytes, [from(machine.memory_bytes())].iter());
    fill(&mut node.fabric, [text(machine.fabric())].iter());
    fill(&mut node.fabric_devices, [from(machine.rdma_nics)].iter());
    fill(&mut node.nvlink, [Fact::from_option(machine.nvlink, span).resting_on(unread)].iter());
    fill(&mut node.arch, [text(arch)].iter());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    #[test]
    fn what_one_pool_leaves_out_is_not_agreed_on() {
        let span = Span::new(SourceId(0), 0..1);
        let spot = || Fact::value(true, span);
        assert_eq!(agree([spot(), spot()].iter()).and_then(|f| f.get().copied()), Some(true));
        for mixed in [[spot(), Fact::absent(span)], [Fact::absent(span), spot()]] {
            assert!(agree(mixed.iter()).is_some_and(|f| f.is_unknown()));
        }
        assert!(agree::<bool>([Fact::absent(span), Fact::absent(span)].iter()).is_none());
    }
}
