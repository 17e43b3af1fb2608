//! Models whose `config.json` lies in the repository: beside what names them, behind a mount, or copied into the image.

use super::boundary::{Boundary, Deployed, Reach};
use super::candidates::Candidates;
use crate::facts::{Container, Pod, Workload};
use crate::parse::Raw;
use crate::source::SourceId;

/// Configurations of models, by the name of their directory.
type Configs<'a> = Candidates<'a, Option<&'a str>, &'a Raw>;

/// Gives launches the configuration of the model that they name.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>) {
    let directory = |config: &Raw| deployed.layout().directories().name(deployed.layout().at(config.place.source));
    let configs = Candidates::gather(deployed, Reach::Deployment, |facts| {
        facts.model_configs.iter().map(|config| (config.place.source, vec![directory(config)], config)).collect()
    });
    if configs.is_empty() {
        return;
    }
    deployed.each(workloads, |workload, boundary| {
        workload.pods.iter_mut().for_each(|pod| {
            let mut containers = std::mem::take(&mut pod.containers);
            for container in &mut containers {
                let stated =
                    container.launch.as_ref().map(|launch| (launch.model.get().cloned(), launch.model.span.source));
                let Some((Some(model), from)) = stated else { continue };
                let found =
                    places(&model, pod, container).iter().find_map(|place| at(place, from, (&configs, boundary)));
                if let Some(launch) = &mut container.launch {
                    launch.config = found;
                }
            }
            pod.containers = containers;
        })
    });
}

/// The directories of the repository that a path in a container may be, likeliest first.
fn places(model: &str, pod: &Pod, container: &Container) -> Vec<String> {
    let under = |at: &str| -> Option<String> {
        let rest = model.strip_prefix(at.trim_end_matches('/'))?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
    };
    let mut out = Vec::new();
    for mount in &container.mounts {
        let volume = pod.volumes.iter().find(|v| v.name.get().is_some() && v.name.get() == mount.volume.get());
        let host = volume.and_then(|v| v.host_path.get());
        if let (Some(host), Some(rest)) = (host, mount.path.get().and_then(|at| under(at))) {
            out.push(format!("{}{rest}", host.trim_end_matches('/')));
        }
    }
    let instructions = container.image.build.iter().flat_map(|build| &build.instructions);
    for copy in instructions.filter(|i| i.keyword.get().is_some_and(|keyword| keyword == "COPY")) {
        let words = copy.text.get().map(|text| text.split_whitespace().collect::<Vec<_>>()).unwrap_or_default();
        if let [source, target] = words[..]
            && let Some(rest) = under(target)
        {
            out.push(format!("{}{rest}", source.trim_end_matches('/')));
        }
    }
    out.push(model.to_owned());
    out
}

/// The configuration in a directory, if the nearest one that fits is the only one. A path from a root is known by its last
/// directory, any other one as a whole.
fn at(place: &str, from: SourceId, (configs, boundary): (&Configs<'_>, Boundary<'_>)) -> Option<Raw> {
    let parts: Vec<&str> = place.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let wanted = if place.starts_with(['/', '~']) { parts.last().map(std::slice::from_ref)? } else { &parts[..] };
    let layout = boundary.layout();
    let here = layout.at(from);
    let beside = wanted.is_empty() && place.starts_with('.');
    let fits = |config: &&Raw| {
        let there = layout.at(config.place.source);
        if beside { there == here } else { !wanted.is_empty() && layout.directories().ends_with(there, wanted) }
    };
    let name = if beside { layout.directories().name(here) } else { wanted.last().copied() };
    configs.only(boundary, from, &[name], fits).map(|config| (*config).clone())
}
