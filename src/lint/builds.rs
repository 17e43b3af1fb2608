//! Dockerfiles as services build them: with arguments of their own. Knows which service names which file.

use super::Repository;
use crate::budget::Share;
use crate::extract::{compose, dockerfile};
use crate::facts::{Build, Facts};
use crate::known::Fact;
use crate::link;
use crate::parse::Problem;
use crate::paths;
use crate::source::SourceId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Adds the stages of the Dockerfiles that services give arguments.
pub fn with_arguments(here: &Repository<'_>, facts: &mut Facts) {
    let files: BTreeMap<&str, (SourceId, &str)> =
        here.iter().map(|(id, source)| (source.path.as_str(), (id, &*source.text))).collect();
    // Many services may build one long Dockerfile.
    let share = Share::of(1, 0);
    let mut built = Vec::new();
    for workload in &facts.workloads {
        let Some(context) = workload.object.as_ref().map(|object| object.view().get("build")) else { continue };
        let given = compose::arguments(context);
        if given.is_empty() {
            continue;
        }
        let (file, _) = link::named_by(context);
        let path = paths::join(paths::directory(here.path(workload.span.source)), &file);
        let Some((id, text)) = files.get(path.as_str()) else { continue };
        let made = share.work(text.len()).map(|()| dockerfile::built_with(*id, &path, text, &given));
        let made = made.and_then(|builds| share.make(builds.iter().map(size).sum()).map(|()| builds));
        match made {
            Ok(builds) => built.extend(builds.into_iter().map(|mut build| {
                let name = workload.name.get().cloned().unwrap_or_default();
                build.built_for.push(Fact::value(name, context.place()));
                Arc::new(build)
            })),
            Err(spent) => {
                let message = format!("what {path} builds with these arguments: {spent}");
                facts.cut.push(Problem { span: context.place(), message });
            }
        }
    }
    facts.builds.extend(built);
}

/// Bytes of a stage. Its packages are in its software, too.
fn size(build: &Build) -> usize {
    size_of::<Build>() + size_of_val(&*build.instructions) + 2 * size_of_val(&*build.packages)
}
