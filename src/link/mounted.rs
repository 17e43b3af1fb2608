//! Files of ConfigMaps at the paths where containers mount them; the scripts among them that containers run.

use super::boundary::{Boundary, Deployed, Reach};
use super::candidates::Candidates;
use crate::facts::{Container, Pod, Workload};
use crate::known::Fact;
use crate::paths;
use crate::source::SourceId;

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

/// The file that a path in a container means: a key of a mounted ConfigMap, else a file of the repository whose path
/// ends the same way. The nearest one, if it is one. `shown` says where a file stands.
pub fn find<'f, T: Copy>(
    name: &Fact<String>,
    (pod, container): (&Pod, &Container),
    (files, boundary): (&Candidates<'f, &'f str, T>, Boundary<'_>),
    shown: impl Fn(&T) -> Option<(String, SourceId)>,
) -> Option<T> {
    let (path, from) = (name.get()?, name.span.source);
    if let Some((map, key)) = config_map_key(path, pod, container) {
        let wanted = format!("ConfigMap/{map}/{key}");
        let is = |file: &T| shown(file).is_some_and(|(path, _)| path == wanted);
        return files.only(boundary, from, &[paths::name(&wanted)], is).copied();
    }
    // A file of its own name needs a directory in common, or to lie beside the one that names it.
    let layout = boundary.layout();
    let wanted: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let fits = |file: &T| {
        let Some((candidate, source)) = shown(file) else { return false };
        let mut ends = candidate.rsplit('/').zip(wanted.iter().rev());
        let shared = ends.by_ref().take_while(|(a, b)| a == *b).count();
        let beside = layout.directories().holds(layout.at(from), layout.at(source));
        !candidate.starts_with("ConfigMap/") && (shared >= 2 || shared == 1 && (wanted.len() == 1 || beside))
    };
    files.only(boundary, from, &[wanted.last().copied()?], fits).copied()
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
