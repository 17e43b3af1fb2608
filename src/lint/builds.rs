//! Dockerfiles as services build them: with arguments of their own. Knows which service names which file.

use super::Repository;
use crate::extract::{compose, dockerfile};
use crate::facts::Facts;
use crate::known::Fact;
use crate::link;
use crate::paths;
use std::sync::Arc;

/// Adds the stages of the Dockerfiles that services give arguments.
pub fn with_arguments(here: &Repository<'_>, facts: &mut Facts) {
    let mut built = Vec::new();
    for workload in &facts.workloads {
        let Some(context) = workload.object.as_ref().map(|object| object.view().get("build")) else { continue };
        let given = compose::arguments(context);
        if given.is_empty() {
            continue;
        }
        let (file, _) = link::named_by(context);
        let path = paths::join(paths::directory(here.path(workload.span.source)), &file);
        let Some((id, source)) = here.iter().find(|(_, source)| source.path == path) else { continue };
        for mut build in dockerfile::built_with(id, &path, &source.text, &given) {
            let name = workload.name.get().cloned().unwrap_or_default();
            build.built_for.push(Fact::value(name, context.place()));
            built.push(Arc::new(build));
        }
    }
    facts.builds.extend(built);
}
