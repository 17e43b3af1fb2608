//! Files of ConfigMaps at the paths where containers mount them; the scripts among them that containers run.

use super::boundary::{Deployed, Reach};
use super::candidates::Candidates;
use crate::facts::{Container, Pod, Workload};

/// Where a path in a container leads: the name of the ConfigMap and the key in it.
pub fn config_map_key<'p>(path: &'p str, pod: &'p Pod, container: &'p Container) -> Option<(&'p str, &'p str)> {
    let mounts = container.mounts.iter().filter_map(|mount| {
        let at = mount.path.get()?.trim_end_matches('/');
        let key = match path.strip_prefix(at)? {
            // A subPath mounts one key as a file.
            "" => at.rsplit('/').next()?,
            rest => rest.strip_prefix('/')?,
        };
        let volume = pod.volumes.iter().find(|v| v.name.get().is_some() && v.name.get() == mount.volume.get())?;
        Some((at.len(), volume.config_map.get()?.as_str(), key))
    });
    mounts.max_by_key(|(depth, ..)| *depth).map(|(_, map, key)| (map, key))
}

/// Gives containers that run a script of a ConfigMap what the script launches.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let scripts = Candidates::gather(deployed, Reach::Deployment, |facts| {
        facts.scripts.iter().map(|script| (script.1.span.source, vec![script.0.as_str()], script)).collect()
    });
    if scripts.is_empty() {
        return;
    }
    deployed.each(workloads, |workload, boundary| {
        workload.pods.iter_mut().for_each(|pod| {
            let mut containers = std::mem::take(&mut pod.containers);
            for container in containers.iter_mut().filter(|container| container.launch.is_none()) {
                let words =
                    container.command.iter().filter_map(|word| word.get()).flat_map(|word| word.split_whitespace());
                let names = words.filter_map(|word| config_map_key(word, pod, container));
                let from = container.span.source;
                let run = names
                    .map(|(map, key)| format!("ConfigMap/{map}/{key}"))
                    .find_map(|wanted| scripts.only(boundary, from, &[wanted.as_str()], |_| true).copied());
                if let Some((_, launch, training)) = run {
                    (container.launch, container.training) = (Some(launch.clone()), training.clone());
                }
            }
            pod.containers = containers;
        })
    });
}
