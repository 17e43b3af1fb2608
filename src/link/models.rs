//! Models whose `config.json` lies in the repository: beside what names them, behind a mount, or copied into the image.

use super::boundary::{Boundary, Candidates, Reach};
use crate::facts::{Container, Pod, Workload};
use crate::parse::Raw;
use crate::source::SourceId;

/// Gives launches the configuration of the model that they name.
pub fn link(workloads: &mut [Workload], boundary: &Boundary<'_>) {
    let configs = boundary.gather(Reach::Deployment, |facts| {
        facts.model_configs.iter().map(|config| (config.place.source, config)).collect()
    });
    if configs.is_empty() {
        return;
    }
    for pod in workloads.iter_mut().flat_map(|workload| &mut workload.pods) {
        let mut containers = std::mem::take(&mut pod.containers);
        for container in &mut containers {
            let stated =
                container.launch.as_ref().map(|launch| (launch.model.get().cloned(), launch.model.span.source));
            let Some((Some(model), from)) = stated else { continue };
            let found = places(&model, pod, container).iter().find_map(|place| at(place, from, (&configs, boundary)));
            if let Some(launch) = &mut container.launch {
                launch.config = found;
            }
        }
        pod.containers = containers;
    }
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
fn at(place: &str, from: SourceId, (configs, boundary): (&Candidates<'_, &Raw>, &Boundary<'_>)) -> Option<Raw> {
    let parts: Vec<&str> = place.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let wanted = if place.starts_with(['/', '~']) { parts.last().map(std::slice::from_ref)? } else { &parts[..] };
    let beside = wanted.is_empty() && place.starts_with('.');
    let fits = |config: &&Raw| {
        let there = boundary.layout().directories(config.place.source);
        let here = || boundary.layout().directories(from);
        if beside { there == here() } else { !wanted.is_empty() && there.ends_with(wanted) }
    };
    configs.only(from, fits).map(|config| (*config).clone())
}
