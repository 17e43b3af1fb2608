//! Variables whose values stand in a ConfigMap, and what they change in what a container launches.

use super::Namespace;
use super::boundary::{Boundary, Deployed, Reach};
use super::candidates::Candidates;
use crate::budget::{STEP, Share, Spent};
use crate::catalog;
use crate::facts::value::REST;
use crate::facts::{Container, EnvSource, EnvVar, Launch, Object, Variables, Workload};
use crate::known::{Fact, Known, Why};
use crate::parse::{Problem, View};
use crate::source::SourceId;

/// ConfigMaps by namespace and name.
type ConfigMaps<'a> = Candidates<'a, (Namespace<'a>, &'a str), &'a Object>;

/// Gives containers the variables that they take from ConfigMaps, and their launches the values of those. `cut` is told of
/// those that are left as they are.
pub fn link(workloads: &mut [Vec<Workload>], deployed: Deployed<'_>, cut: &mut Vec<Problem>) {
    let maps = config_maps(deployed);
    if maps.is_empty() {
        return;
    }
    // Many containers may take one large ConfigMap.
    let share = Share::of(1, 0);
    let all = workloads.iter_mut().enumerate();
    for (workload, boundary) in all.flat_map(|(i, list)| list.iter_mut().map(move |one| (one, deployed.boundary(i)))) {
        let namespace = workload.namespace.clone();
        for container in workload.pods.iter_mut().flat_map(|pod| &mut pod.containers) {
            let from = container.span.source;
            let data = |name: View<'_>| named((&maps, boundary), name, &namespace, from);
            let taken = match variables(container, data, &share) {
                Ok(taken) if taken.is_empty() => continue,
                Ok(taken) => taken,
                Err(spent) => {
                    let message = format!("the variables that this container takes from ConfigMaps: {spent}");
                    cut.push(Problem { span: container.span, message });
                    continue;
                }
            };
            if complete(container, data) {
                container.env.remove(REST);
            }
            for (name, view) in taken {
                let place = view.place();
                let called = || EnvVar { name: Fact::value(name.clone(), place), ..EnvVar::blank(place) };
                let variable = container.env.entry(name.clone()).or_insert_with(|| Box::new(called()));
                (variable.value, variable.written) = (view.string(), view.written());
                variable.from.known = Known::Value(EnvSource::Config);
            }
            let env = std::mem::take(&mut container.env);
            container.launch.iter_mut().for_each(|launch| resolve(launch, &env));
            container.env = env;
        }
    }
}

/// The ConfigMaps that a deployment may take values from.
fn config_maps<'a>(deployed: Deployed<'a>) -> ConfigMaps<'a> {
    Candidates::gather(deployed, Reach::Deployment, |facts| {
        let maps = facts.objects.iter().filter(|object| object.kind.get().is_some_and(|kind| kind == "ConfigMap"));
        maps.filter_map(|map| {
            let keys = Namespace::listed(&map.namespace, map.name.get()?.as_str());
            Some((map.span.source, keys.into(), &**map))
        })
        .collect()
    })
}

/// The data of the ConfigMap that a reference names, if the nearest one is the only one.
fn named<'m>(
    (maps, boundary): (&ConfigMaps<'m>, Boundary<'_>),
    name: View<'_>,
    namespace: &Fact<String>,
    from: SourceId,
) -> Option<View<'m>> {
    let name = name.string();
    let map = maps.only(boundary, from, &Namespace::sought(namespace, name.get()?.as_str()), |_| true)?;
    Some(map.body.as_ref()?.view().get("data"))
}

/// What a container takes from ConfigMaps: whole ones, then single keys.
fn variables<'m>(
    container: &Container,
    data: impl Fn(View<'_>) -> Option<View<'m>>,
    share: &Share,
) -> Result<Vec<(String, View<'m>)>, Spent> {
    let Some(spec) = container.spec.as_ref() else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for source in spec.view().get("envFrom").items() {
        // Nothing is looked at any more for what cannot be paid.
        share.work(STEP)?;
        let prefix = source.get("prefix").string().get().cloned().unwrap_or_default();
        let entries = data(source.path("configMapRef.name")).map(View::entries).unwrap_or_default();
        share.make(entries.len() * size_of::<EnvVar>())?;
        let own = |name: &String| container.env.contains_key(name);
        let taken = entries.into_iter().map(|(key, value)| (format!("{prefix}{key}"), value));
        out.extend(taken.filter(|(name, _)| !own(name)));
    }
    for variable in spec.view().get("env").items() {
        let reference = variable.path("valueFrom.configMapKeyRef");
        let (Some(name), Some(key)) =
            (variable.get("name").string().get().cloned(), reference.get("key").string().get().cloned())
        else {
            continue;
        };
        out.extend(data(reference.get("name")).map(|map| (name, map.get(&key))));
    }
    share.make(out.iter().map(|(name, value)| name.len() + value.place().range().len()).sum())?;
    Ok(out)
}

/// Whether everything that a container takes whole is at hand.
fn complete<'m>(container: &Container, data: impl Fn(View<'_>) -> Option<View<'m>>) -> bool {
    let Some(spec) = container.spec.as_ref() else { return false };
    let mut sources = spec.view().get("envFrom").items().peekable();
    sources.peek().is_some() && sources.all(|source| data(source.path("configMapRef.name")).is_some())
}

/// Gives settings that a variable stands for its value, and settings that nothing states those of their own variables.
fn resolve(launch: &mut Launch, env: &Variables) {
    let value = |fact: &Fact<String>| {
        let Known::Unknown(Why::Variable(name)) = &fact.known else { return None };
        // The variable alone: $NAME, ${NAME}, $(NAME).
        let length = (fact.span.end - fact.span.start) as usize;
        let alone = matches!(length.saturating_sub(name.len()), 1 | 3);
        env.get(&**name).filter(|_| alone).map(|variable| variable.value.clone())
    };
    if let Some(model) = value(&launch.model) {
        launch.model = model;
    }
    let Some(engine) = launch.engine.get().cloned() else { return };
    for flag in catalog::launch_flags(&engine) {
        let stated = flag.flags.split_whitespace().find_map(|name| launch.flags.get(name).cloned());
        let own = || flag.envs.split_whitespace().find_map(|name| env.get(name)).map(|variable| variable.value.clone());
        if let Some(fact) = stated.as_ref().map_or_else(own, value) {
            launch.set(flag.field, fact);
        }
    }
    for fact in launch.flags.values_mut() {
        if let Some(known) = value(fact) {
            *fact = known;
        }
    }
}
