//! What the commands of a script launch: each server, trainer or launcher among them, with the variables that the script
//! exports to it. Knows how scripts hand on their environment; places nothing on machines.

use super::activated::Activated;
use super::exports::{self, Exported, Outside};
use super::wrappers::{self, base_name};
use super::{image, intent, launch, training};
use crate::budget::Share;
use crate::catalog;
use crate::facts::{
    Build, Container, ContainerRole, Facts, Image, Intent, Launch, Pod, Variables, Workload, WorkloadFormat,
};
use crate::known::{Fact, Known, Why};
use crate::parse::Problem;
use crate::parse::shell::{self, Command, Kind, Script, Word};
use crate::source::Traced;
use std::collections::BTreeMap;

/// What a plain script launches on the machine that runs it, a workload for each. From where on it is not read, if too
/// much is made of it. The script has its variables put in.
pub fn read(script: &Script, path: &str, facts: &mut Facts) -> Option<Problem> {
    let launches = launches(script, &|_, _| None);
    let cluster = launches.cluster;
    let containers = launches.steps.into_iter().map(|step| step.container);
    facts.workloads.extend(containers.map(|container| workload(container, (path, cluster))));
    launches.cut
}

/// What a script launches.
#[derive(Default)]
pub struct Launches {
    /// The servers, trainers and launchers, in their order.
    pub steps: Vec<Step>,
    /// Whether it starts a cluster of Ray, which gives what runs in it GPUs of other machines.
    pub cluster: bool,
    /// From where on the script is not read.
    pub cut: Option<Problem>,
}

/// A process that a script launches.
pub struct Step {
    /// What it runs.
    pub container: Container,
    /// The command of the script that launches it, maybe by a shell.
    pub command: Command,
    /// Whether another one may run at the same time.
    pub beside: bool,
    /// How often the script has waited before it for what runs in the background.
    waits: usize,
}

fn engine(container: &Container) -> Option<&str> {
    container.launch.as_ref()?.engine.get().map(String::as_str)
}

/// The launches of a script that has its variables put in: a process each. What sets variables `outside` of it does so for
/// the shells that it starts, too.
pub fn launches(script: &Script, outside: Outside<'_>) -> Launches {
    let script = &parted(script);
    let inner = |command: &Command| if contained(&command.words) { None } else { wrappers::inner(command) };
    let unfolded = exports::unfolded(script.clone(), &inner, outside);
    let commands = &unfolded.commands;
    let share = Share::least(commands.iter().map(|command| command.span.range().len()).sum());
    let (mut exported, mut activated, mut waits) = (Exported::of(&unfolded), Activated::default(), 0);
    let mut out = Launches::default();
    for command in commands {
        exported.follow(command);
        activated.follow(command);
        waits += usize::from(command.words.first().is_some_and(|word| word.text() == "wait"));
        if contained(&command.words) {
            continue;
        }
        let mut env = BTreeMap::new();
        let Some(found) = launch::of_process(command, &env).filter(|found| is_meant(found)) else { continue };
        // What is exported is kept for each launch.
        if let Err(spent) = share.make(exported.size()) {
            out.cut = Some(Problem { span: command.span, message: format!("what runs from here on: {spent}") });
            break;
        }
        exported.at(&command.arms, &mut env);
        exports::of_words(command, &found, &mut env);
        let mut container = container(command, launch::of_process(command, &env).unwrap_or(found), env);
        container.environment = activated.of(command);
        // The command of the script begins where the one that a shell is handed does, or before.
        let outer = script.commands.partition_point(|outer| outer.span.start <= command.span.start);
        let outer = outer.checked_sub(1).map_or(command, |at| &script.commands[at]);
        let command = Command { background: command.background, ..outer.clone() };
        out.steps.push(Step { container, command, beside: false, waits });
    }
    out.cluster = out.steps.iter().any(|step| engine(&step.container) == Some("ray"));
    // What starts a cluster is no work of its own where something runs on it.
    if out.steps.iter().any(|step| !starts_cluster(&step.container)) {
        out.steps.retain(|step| !starts_cluster(&step.container));
    }
    side_by_side(&mut out.steps);
    // What is stopped again runs beside nothing that comes after.
    let stops = |command: &Command| command.words.iter().any(|word| STOPS.contains(&base_name(word.text())));
    if out.steps.len() <= MOST_TOGETHER && !commands.iter().any(stops) {
        for step in out.steps.iter_mut().filter(|step| step.beside && is_here(&step.command)) {
            step.container.beside = Fact::value(true, step.container.span);
        }
    }
    out
}

/// So many processes of a file are told to run together: each may be compared with each.
pub const MOST_TOGETHER: usize = 100;

/// A script in which each program that one launcher starts with others is a command of its own: `srun A : B`.
fn parted(script: &Script) -> Script {
    let mut out = script.clone();
    let parts = |command: Command| {
        if !command.words.iter().any(|word| word.text() == ":") {
            return vec![command];
        }
        let launcher = |at: &usize| ["srun", "mpirun", "mpiexec"].contains(&base_name(command.words[*at].text()));
        let Some(at) = wrappers::programs(&command.words).into_iter().find(launcher) else { return vec![command] };
        let (before, behind) = command.words.split_at(at + 1);
        let part = |(number, part): (usize, &[Word])| {
            let place = part.first().zip(part.last()).map(|(first, last)| first.span().to(last.span()));
            let span = if number == 0 { command.span } else { place.unwrap_or(command.span) };
            Command { words: [before, part].concat(), span, ..command.clone() }
        };
        behind.split(|word| word.text() == ":").enumerate().map(part).collect()
    };
    out.commands = std::mem::take(&mut out.commands).into_iter().flat_map(parts).collect();
    out
}

/// Programs that stop others.
const STOPS: [&str; 4] = ["fuser", "kill", "killall", "pkill"];

/// Whether a command surely runs, on the machine of the script.
fn is_here(command: &Command) -> bool {
    let local = |word: &Word| !["mpirun", "pdsh", "srun", "ssh"].contains(&base_name(word.text()));
    command.arms.iter().all(|arm| arm.kind == Kind::Chain) && command.words.first().is_some_and(local)
}

/// What a script exports to what it launches at a place.
pub fn exported_to(script: &Traced, launch: &Launch) -> Variables {
    let script = shell::parse(script).resolved(&|_| None);
    let is = |step: &Step| step.container.launch.as_ref().is_some_and(|other| other.span == launch.span);
    launches(&script, &|_, _| None).steps.into_iter().find(is).map(|step| step.container.env).unwrap_or_default()
}

/// What a script runs that launches nothing that we know: the process that can be told best, in the image that one starts.
pub fn anything(script: &Script, outside: Outside<'_>) -> Option<Step> {
    let commands = exports::unfolded(script.clone(), &wrappers::inner, outside).commands;
    let launch = launch::of_resolved(&commands, &BTreeMap::new());
    let images = script.commands.iter().find(|command| started(&command.words).is_some());
    let runs = |command: &&Command| command.arms.branches().is_empty() && wrappers::file(&command.words).is_some();
    let command = images.or(script.commands.iter().rfind(runs)).or(script.commands.last())?;
    let mut container = Container::blank(command.span);
    let mut activated = Activated::default();
    script.commands.iter().take_while(|other| other.span != command.span).for_each(|other| activated.follow(other));
    container.environment = activated.of(command);
    if let Some(file) = wrappers::file(&command.words) {
        container.script = Fact::value(file.text().to_owned(), file.whole());
    }
    container.image = started(&command.words).unwrap_or(container.image);
    let mut exported = Exported::of(script);
    script.commands.iter().take_while(|one| one.span != command.span).for_each(|one| exported.follow(one));
    exported.at(&command.arms, &mut container.env);
    container.training = launch.as_deref().and_then(training::of);
    container.launch = launch;
    Some(Step { container, command: command.clone(), beside: false, waits: 0 })
}

/// Whether a process is `ray start`.
fn starts_cluster(container: &Container) -> bool {
    let verb = container.launch.as_ref().and_then(|launch| launch.words.get(1)?.get().cloned());
    engine(container) == Some("ray") && verb.as_deref() == Some("start")
}

/// Tells the steps that may run at the same time as others: those in the background up to the next `wait`, and what comes
/// behind them. One in a branch may be in a loop.
fn side_by_side(steps: &mut [Step]) {
    let (mut waits, mut running, mut alone) = (0, false, None);
    for at in 0..steps.len() {
        if steps[at].waits > waits {
            (waits, running, alone) = (steps[at].waits, false, None);
        }
        if running {
            steps[at].beside = true;
        }
        if let Some(first) = alone.take() {
            let first: &mut Step = &mut steps[first];
            first.beside = true;
        }
        let (background, branch) = (steps[at].command.background, !steps[at].command.arms.branches().is_empty());
        if background {
            steps[at].beside |= branch;
            alone = (!steps[at].beside).then_some(at);
            running = true;
        }
    }
}

/// Whether a program is a server, a launcher or a trainer: any script of Python is a program.
fn is_meant(launch: &Launch) -> bool {
    let python = launch.engine.get().is_some_and(|engine| engine == "python");
    !python || training::of(launch).is_some_and(|training| !training.trainer.is_absent())
}

/// Whether a command runs in a container that it states itself.
fn contained(words: &[Word]) -> bool {
    let engine = |at: usize| matches!(base_name(words[at].text()), "docker" | "podman" | "nerdctl");
    wrappers::programs(words).into_iter().any(engine)
}

fn container(command: &Command, launch: Box<Launch>, env: Variables) -> Container {
    let mut out = Container::blank(launch.span);
    out.name = Fact::value("script".to_owned(), launch.span);
    out.role = Fact::value(ContainerRole::Main, launch.span);
    out.image = started(&command.words).unwrap_or(out.image);
    out.training = training::of(&launch);
    out.command.clone_from(&launch.words);
    out.launch = Some(launch);
    out.env = env;
    out
}

/// The image at a registry in which a program for containers runs something else than what it starts by itself:
/// `apptainer exec docker://IMAGE COMMAND`.
fn entered(words: &[Word]) -> Option<Traced> {
    let programs = wrappers::programs(words);
    let at = programs.into_iter().find(|at| ["apptainer", "singularity"].contains(&base_name(words[*at].text())))?;
    let verb = words[at + 1..].iter().position(|word| !word.text().starts_with('-'))?;
    let behind = words[at + 1 + verb..].iter().skip(1);
    let image = behind.take_while(|word| word.text() != "--").find(|word| word.text().starts_with("docker://"))?;
    (words[at + 1 + verb].text() == "exec").then(|| image.traced().clone())
}

/// What the last stage of a Dockerfile starts whoever runs its image, where that is a server, a launcher or a trainer.
pub fn of_image(build: &Build) -> Option<Workload> {
    let launch = build.launch.clone().filter(|launch| launch.perhaps.is_none() && is_meant(launch))?;
    let mut container = Container::blank(launch.span);
    container.name = Fact::value("image".to_owned(), launch.span);
    container.role = Fact::value(ContainerRole::Main, launch.span);
    container.training = training::of(&launch);
    container.launch = Some(launch);
    let mut out = workload(container, (build.path.get()?, false));
    out.format = Fact::value(WorkloadFormat::Image, out.span);
    out.kind = Fact::value("Dockerfile".to_owned(), out.span);
    Some(out)
}

/// A process on machines of which nothing is known. One that is told which devices it may see has no others, unless a
/// cluster of Ray gives it more.
fn workload(mut container: Container, (path, cluster): (&str, bool)) -> Workload {
    let place = container.span;
    let unstated = |what: &str| Why::NotStated(what.into());
    let on = "the GPUs of the machine that runs the script";
    container.gpus = visible(&container).unwrap_or_else(|| Fact::unknown(unstated(on), place));
    container.gpu_vendor = Fact::unknown(unstated("whose GPUs the machine has"), place);
    container.device = Fact::value("gpu".to_owned(), container.gpus.span);
    container.device_name = Fact::value("GPU".to_owned(), container.gpus.span);
    container.shm_bytes = Fact::unknown(unstated("the shared memory of the machine that runs the script"), place);
    let nodes = container.launch.as_ref().map(|launch| launch.nodes.clone()).filter(|nodes| !nodes.is_absent());
    let lone = !cluster && container.gpus.get().is_some() && !engine(&container).is_some_and(catalog::is_launcher);
    let nodes = nodes.unwrap_or_else(|| match lone {
        true => Fact::value(1, container.gpus.span),
        false => Fact::unknown(unstated("on how many machines the script runs"), place),
    });
    let mut pod = Pod::blank(place);
    pod.role = Fact::value("main".to_owned(), place);
    pod.replicas = nodes.clone();
    pod.gpus = container.gpus.clone();
    pod.containers.push(container);
    let mut out = Workload::blank(place);
    out.format = Fact::value(WorkloadFormat::Script, place);
    out.kind = Fact::value("script".to_owned(), place);
    out.name = Fact::value(path.to_owned(), place);
    out.replicas = Fact::value(1, place);
    out.group_gpus = match (nodes.get(), pod.gpus.get()) {
        (Some(nodes), Some(gpus)) => Fact::value(nodes.saturating_mul(*gpus), pod.gpus.span),
        _ => Fact::unknown(unstated(on), place),
    };
    out.group_size = nodes;
    out.gpus = out.group_gpus.clone();
    out.gang = Fact::value(true, place);
    let trainer = pod.containers[0].training.as_ref().map(|training| training.trainer.span);
    out.pods.push(pod);
    out.intent = trainer.map_or_else(|| intent::of(&out), |trainer| Fact::value(Intent::Training, trainer));
    out
}

/// How many devices a process is told to see, where it is told: it has no others. A list without numbers is not counted.
pub fn visible(container: &Container) -> Option<Fact<i64>> {
    let list = &container.env.get("CUDA_VISIBLE_DEVICES")?.value;
    let count = |list: String| {
        let numbers = list.split(',').map(|number| number.trim().parse::<u32>());
        let count = numbers.collect::<Result<Vec<_>, _>>().ok().and_then(|all| i64::try_from(all.len()).ok());
        count.map_or_else(|| Known::Unknown(Why::NotModelled("names of devices".into())), Known::Value)
    };
    Some(list.clone().and_then(count))
}

/// The image of a registry that a command starts what it launches from.
fn started(words: &[Word]) -> Option<Image> {
    const FLAG: &str = "--container-image";
    let named = words.windows(2).find_map(|pair| match pair[0].text().split_once('=') {
        Some((FLAG, name)) => Some(pair[0].traced().slice(pair[0].text().len() - name.len()..pair[0].text().len())),
        None if pair[0].text() == FLAG => Some(pair[1].traced().clone()),
        _ => None,
    });
    let enroot = named.is_some();
    let name =
        named.or_else(|| wrappers::image(words).map(|at| words[at].traced().clone())).or_else(|| entered(words))?;
    let file = name.text().starts_with(['/', '.', '$', '<'])
        || [".sqsh", ".sif", ".img"].iter().any(|end| name.text().contains(end));
    if file {
        return None;
    }
    Some(match name.text().trim_start_matches("docker://") {
        // Enroot writes REGISTRY#IMAGE: what has no sign of it is an image of Docker Hub.
        plain if enroot && plain.split('/').next().is_some_and(|first| first.contains('.') && !first.contains('#')) => {
            image::reference(&Traced::opaque(format!("docker.io/{plain}"), name.whole()))
        }
        plain if plain.len() == name.text().len() && !plain.contains('#') => image::reference(&name),
        other => image::reference(&Traced::opaque(other.replacen('#', "/", 1), name.whole())),
    })
}
