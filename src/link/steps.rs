//! What a step of a job runs by a script of the repository: what the script launches runs in the job. Knows where scripts
//! may be started from; reads none.

use super::boundary::Layout;
use crate::facts::{Container, Launch, Workload, WorkloadFormat};
use crate::known::{Fact, Known, Why};
use crate::paths;
use std::collections::BTreeMap;

/// What Slurm calls the nodes of a step.
const NODES: [&str; 2] = ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"];

/// What it calls the GPUs of a node.
const GPUS: [&str; 2] = ["SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"];

/// Launches of scripts by the paths of their files; nothing where a file has several.
type Launches = BTreeMap<String, Option<Container>>;

/// Gives jobs that run a script what that launches.
pub fn link(workloads: &mut [Vec<Workload>], layout: &Layout<'_>) {
    for list in workloads {
        let mut launches: Launches = list
            .iter()
            .flat_map(|job| waiting(job).flat_map(|one| places(job, one, layout)))
            .map(|at| (at, None))
            .collect();
        if launches.is_empty() {
            continue;
        }
        gather(list, &mut launches, layout);
        for job in list.iter_mut() {
            let found: Vec<Option<Container>> =
                containers(job).map(|one| meant(job, one, (&launches, layout))).collect();
            if found.iter().all(Option::is_none) {
                continue;
            }
            let nodes = job.group_size.clone();
            let all = job.pods.iter_mut().flat_map(|pod| &mut pod.containers);
            for (container, found) in all.zip(found) {
                let Some(found) = found else { continue };
                take(container, found, &nodes);
            }
        }
    }
}

fn containers(job: &Workload) -> impl Iterator<Item = &Container> {
    job.pods.iter().flat_map(|pod| &pod.containers)
}

/// The containers of a job that run a script and of which nothing else is known.
fn waiting(job: &Workload) -> impl Iterator<Item = &Container> {
    containers(job).filter(|one| one.launch.is_none() && one.script.get().is_some())
}

/// Where the script may stand that a container runs: a job is handed in from its own directory, or from one above.
fn places(job: &Workload, container: &Container, layout: &Layout<'_>) -> Vec<String> {
    let Some(script) = container.script.get() else { return Vec::new() };
    let own = paths::directory(&layout.sources().get(job.span.source).path);
    paths::above(own).filter_map(|above| paths::join_inside(above, script)).collect()
}

/// Puts in what the scripts launch that are asked for.
fn gather(list: &[Workload], launches: &mut Launches, layout: &Layout<'_>) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for script in list.iter().filter(|workload| workload.format.get() == Some(&WorkloadFormat::Script)) {
        let path = layout.sources().get(script.span.source).path.as_str();
        let Some(place) = launches.get_mut(path) else { continue };
        for container in containers(script).filter(|one| one.launch.is_some()) {
            let count = seen.entry(path).or_default();
            *count += 1;
            *place = (*count == 1).then(|| container.clone());
        }
    }
}

/// What the one script launches that a container may run.
fn meant(job: &Workload, one: &Container, (launches, layout): (&Launches, &Layout<'_>)) -> Option<Container> {
    if one.launch.is_some() || one.script.get().is_none() {
        return None;
    }
    let mut found: Vec<&Container> =
        places(job, one, layout).iter().filter_map(|at| launches.get(at)?.as_ref()).collect();
    found.dedup_by_key(|container| container.span);
    if let [only] = found[..] { Some(only.clone()) } else { None }
}

/// Takes over what a script launches, with what the job says of its variables.
fn take(container: &mut Container, script: Container, nodes: &Fact<i64>) {
    let Some(mut launch) = script.launch else { return };
    granted(&mut launch, nodes, &container.gpus);
    container.launch = Some(launch);
    container.training = script.training;
    container.command = script.command;
    if container.environment.is_absent() {
        container.environment = script.environment;
    }
    for (name, variable) in script.env {
        container.env.entry(name).or_insert(variable);
    }
}

fn granted(launch: &mut Launch, nodes: &Fact<i64>, gpus: &Fact<i64>) {
    let put = |fact: &mut Fact<i64>, names: [&str; 2], value: &Fact<i64>| {
        let Known::Unknown(Why::Variable(name)) = &fact.known else { return };
        if let (true, Some(value)) = (names.contains(&&**name), value.get()) {
            *fact = Fact::value(*value, fact.span);
        }
    };
    put(&mut launch.nodes, NODES, nodes);
    put(&mut launch.processes_per_node, GPUS, gpus);
}
