//! Dockerfiles as services and targets of bake build them: with arguments of their own. Knows which of them names which file.

use super::Repository;
use crate::budget::Share;
use crate::extract::dockerfile::{self, Told};
use crate::extract::{bake, compose};
use crate::facts::{Build, Facts};
use crate::known::Fact;
use crate::link;
use crate::parse::{Problem, View};
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
    let services = facts.workloads.iter().filter_map(|workload| {
        let build = workload.object.as_ref()?.view().get("build");
        Some(Context { build, name: workload.name.get().cloned().unwrap_or_default(), by_bake: false })
    });
    let targets = facts.objects.iter().filter(|object| object.kind.get().is_some_and(|kind| kind == bake::TARGET));
    let targets = targets.filter_map(|object| {
        let (build, name) = (object.body.as_ref()?.view(), object.name.get()?.clone());
        Some(Context { build, name, by_bake: true })
    });
    let mut baked: BTreeMap<String, usize> = BTreeMap::new();
    for context in services.chain(targets) {
        let (arguments, contexts) = (compose::arguments(context.build), compose::contexts(context.build));
        let told = Told { arguments, contexts, platform: context.platform() };
        let inline = ["dockerfile_inline", "dockerfile-inline"].iter().any(|key| context.build.get(key).is_some());
        if inline || told.arguments.is_empty() && told.contexts.is_empty() && told.platform.is_none() {
            continue;
        }
        let (file, _) = link::named_by(context.build);
        let place = context.build.place();
        let path = paths::join(paths::directory(here.path(place.source)), &file);
        let Some((id, text)) = files.get(path.as_str()) else { continue };
        let made = share.work(text.len()).map(|()| dockerfile::built_with(*id, &path, text, &told));
        let made = made.and_then(|builds| share.make(builds.iter().map(size).sum()).map(|()| builds));
        match made {
            Ok(builds) => {
                if context.by_bake && !builds.is_empty() {
                    *baked.entry(path).or_default() += 1;
                }
                built.extend(builds.into_iter().map(|mut build| {
                    build.built_for.push(Fact::value(context.name.clone(), place));
                    build
                }));
            }
            Err(spent) => {
                let message = format!("what {path} builds with these arguments: {spent}");
                facts.cut.push(Problem { span: place, message });
            }
        }
    }
    // What bake builds is not built with the defaults; what one target alone builds is the image.
    let by_bake = |build: &Build| build.path.get().and_then(|path| baked.get(path)).copied();
    facts.builds.retain(|build| by_bake(build).is_none());
    built.iter_mut().filter(|build| by_bake(build) == Some(1)).for_each(|build| build.built_for.clear());
    let built: Vec<Arc<Build>> = built.into_iter().map(Arc::new).collect();
    facts.builds.extend(built);
}

/// What builds a Dockerfile in its own way.
struct Context<'f> {
    build: View<'f>,
    name: String,
    by_bake: bool,
}

impl Context<'_> {
    /// The platform that a target of bake builds for, where that is one.
    fn platform(&self) -> Option<Fact<String>> {
        let mut platforms = self.build.get("platforms").strings();
        platforms.pop().filter(|last| self.by_bake && platforms.is_empty() && !last.is_unknown())
    }
}

/// Bytes of a stage. Its packages are in its software, too.
fn size(build: &Build) -> usize {
    size_of::<Build>() + size_of_val(&*build.instructions) + 2 * size_of_val(&*build.packages)
}
