//! Workflows of CI: the containers that jobs run in and beside, and what their steps run. Knows the keys of GitHub, GitLab,
//! Azure Pipelines, Buildkite and CircleCI. A run of CI deploys nothing: what its scripts install into a cluster or make of
//! machines is gone with it, and stands for nothing else.

use super::wrappers::base_name;
use super::{MOST_WORKLOADS, commands, install, machinery, scripts, too_many, written};
use crate::budget::{NODE, STEP, Share};
use crate::catalog;
use crate::facts::{EnvVar, Facts, Intent, Labels, PackageFileKind, Pod, Workload, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::shell::{self, Arms, Command, Script};
use crate::parse::{Node, Problem, View};
use crate::source::{Span, Traced};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Most values that a matrix brings into one image.
const MOST_CHOICES: usize = 16;

/// Longest of them.
const LONGEST_CHOICE: usize = 256;

/// Most combinations of a matrix that are told apart.
const MOST_ROWS: usize = 256;

/// Most labels of machines that a job asks for.
const MOST_LABELS: usize = 8;

/// Most jobs that a job of GitLab extends.
const MOST_BASES: usize = 16;

/// Who runs a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    GitHub,
    /// A composite action of GitHub.
    Action,
    GitLab,
    Azure,
    Buildkite,
    CircleCi,
}

/// The kinds of objects as which rules ask for workflows as they are written.
pub const KINDS: &[&str] =
    &["GitHubWorkflow", "GitHubAction", "GitLabPipeline", "AzurePipeline", "BuildkitePipeline", "CircleCiConfig"];

/// The one of [`KINDS`] that a document is; nothing for a workflow of GitHub that stands where GitHub runs none.
pub fn kind(root: Node<'_>, path: &str) -> Option<&'static str> {
    Some(match system(root, path)? {
        System::GitHub => path.replace('\\', "/").contains(".github/workflows/").then_some(KINDS[0])?,
        System::Action => KINDS[1],
        System::GitLab => KINDS[2],
        System::Azure => KINDS[3],
        System::Buildkite => KINDS[4],
        System::CircleCi => KINDS[5],
    })
}

/// Whether a document is a workflow.
pub fn is_workflow(root: Node<'_>, path: &str) -> bool {
    system(root, path).is_some()
}

fn system(root: Node<'_>, path: &str) -> Option<System> {
    let map = |key: &str| root.get(key).filter(|node| node.is_map());
    let list = |key: &str| root.get(key).is_some_and(Node::is_seq);
    let job = |job: &Node<'_>| job.get("runs-on").is_some() || job.get("uses").is_some();
    if map("jobs").is_some_and(|jobs| jobs.entries().iter().any(|(_, one)| job(one))) {
        return Some(System::GitHub);
    }
    if map("runs").is_some_and(|runs| runs.get("using").is_some() && runs.get("steps").is_some_and(Node::is_seq)) {
        return Some(System::Action);
    }
    let path = path.replace('\\', "/");
    if path.contains("gitlab-ci") || path.contains(".gitlab/") {
        return root.is_map().then_some(System::GitLab);
    }
    if path.contains(".circleci/") && map("jobs").is_some() {
        return Some(System::CircleCi);
    }
    if path.contains(".buildkite/") && list("steps") {
        return Some(System::Buildkite);
    }
    let triggered = ["pool", "trigger", "pr"].iter().any(|key| root.get(key).is_some());
    (triggered && (list("steps") || list("jobs") || list("stages"))).then_some(System::Azure)
}

/// What one job states.
struct Job<'t> {
    name: String,
    place: Span,
    /// Images with the options of their containers: first the one that its steps run in, if any, then those beside it.
    images: Vec<(Option<Traced>, Option<Traced>)>,
    /// Variables that are set for all of its steps: the nearest first.
    env: Vec<Env>,
    /// What it asks of the machine that runs it, by the key that says so.
    runner: Vec<(&'static str, View<'t>)>,
    shells: Vec<Shell>,
    matrix: Option<View<'t>>,
}

/// What a shell is given, line by line, and variables that are set for it: the nearest first.
struct Shell {
    lines: Vec<Traced>,
    env: Vec<Env>,
    /// Whether another file may set more.
    open: bool,
}

/// Variables by their names; nothing where it is not known what they are.
type Env = Rc<BTreeMap<String, (Span, Option<Traced>)>>;

/// A workflow, and what is set for all of it.
struct Workflow<'t> {
    root: View<'t>,
    env: Env,
    share: Share,
}

/// Reads a workflow.
pub fn read(root: Node<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let mut made = Facts::default();
    // Anchors let many jobs state the same.
    let mut workflow = Workflow { root: view, env: Env::default(), share: Share::least(root.span().range().len()) };
    let Some(system) = system(root, path) else { return };
    workflow.env = match system {
        System::GitHub | System::Buildkite => workflow.variables(view.get("env")),
        System::GitLab | System::Azure => workflow.variables(view.get("variables")),
        System::Action | System::CircleCi => Env::default(),
    };
    machinery::of_document(view, path, facts);
    for (name, job) in jobs(system, view) {
        let stated = match system {
            System::GitHub | System::Action => github,
            System::GitLab => gitlab,
            System::Azure => azure,
            System::Buildkite => buildkite,
            System::CircleCi => circleci,
        };
        let job = stated(&workflow, (name, job));
        let before = made.workloads.len();
        let texts =
            job.shells.iter().flat_map(|shell| &shell.lines).chain(job.images.iter().flat_map(|(image, _)| image));
        let texts: usize = texts.map(|text| text.text().len()).sum();
        let set: usize = job.shells.iter().flat_map(|shell| &shell.env).map(|env| env.len()).sum();
        let handed: usize = job.env.iter().map(|env| env.len()).sum();
        let made_of_it = job.images.len() * size_of::<Workload>() + handed * size_of::<EnvVar>();
        if let Err(spent) = workflow.share.make(texts + made_of_it + set * STEP) {
            let message = format!("jobs from here on: {spent}");
            facts.cut.push(Problem { span: job.place, message });
            break;
        }
        if before >= MOST_WORKLOADS {
            facts.cut.push(too_many(job.place));
            break;
        }
        for (number, (image, options)) in job.images.iter().enumerate() {
            let Some(image) = image else { continue };
            for image in chosen(image, job.matrix, &workflow.share) {
                let started = container(&image, options.as_ref());
                made.workloads
                    .extend(started.map(|started| if number == 0 { with(started, &job.env) } else { started }));
            }
        }
        let script = script(&job.shells);
        let mut files = install::of_script(&script, path);
        for file in &mut files {
            // Paths are those of a checkout that stands elsewhere.
            file.kind = Fact::value(PackageFileKind::Ci, file.span);
            file.includes.clear();
            file.constraints.clear();
        }
        facts.package_files.extend(files.into_iter().map(Arc::new));
        commands::read(&script, &mut made);
        machinery::read(&script, path, facts);
        facts.cut.extend(scripts::read(&script, path, &mut made));
        if made.workloads.len() == before {
            made.workloads.extend(on_named(&job));
        }
        made.workloads[before..].iter_mut().for_each(|workload| of_job(workload, &job));
    }
    // What is written out for a cluster is of no format of CI.
    let ours = |workload: &Workload| workload.format.get() == Some(&WorkloadFormat::Ci);
    facts.workloads.extend(made.workloads.into_iter().filter(ours));
}

/// What the shells of a job run, each in a branch of its own: what one sets is not set in another.
fn script(shells: &[Shell]) -> Script {
    let mut out = Script::default();
    for (number, Shell { lines, env, open }) in shells.iter().enumerate() {
        let Some(first) = lines.first() else { continue };
        let arms = Arms::alone(number as u32);
        let mut one = Script::default();
        lines.iter().for_each(|line| one.append(shell::parse(line), &Arms::default()));
        // The nearest one is meant, whether it is known or not.
        let set = |name: &str| env.iter().find_map(|env| env.get(name));
        let written = |name: &str, (place, value): &(Span, Option<Traced>)| {
            value.clone().unwrap_or_else(|| Traced::opaque(format!("${{{name}}}"), *place))
        };
        let more = || open.then(|| Traced::opaque("${}", first.whole()));
        let resolved = one.resolved_within(&|name| set(name).map(|set| written(name, set)).or_else(more));
        let names: BTreeSet<&String> = env.iter().flat_map(|env| env.keys()).collect();
        let handed = names.into_iter().filter_map(|name| Some((name.as_str(), written(name, set(name)?))));
        out.commands.extend(Command::exporting(handed, first.whole(), &arms));
        out.append(resolved, &arms);
    }
    out
}

impl<'t> Workflow<'t> {
    /// The variables that a map sets, or a list of Azure.
    fn variables(&self, view: View<'t>) -> Env {
        let mut out = BTreeMap::new();
        // GitLab describes some.
        let described = |(name, value): (&str, View<'t>)| {
            let inner = value.get("value");
            (name.to_owned(), if inner.is_some() { inner } else { value })
        };
        let listed = view.items().filter_map(|item| {
            let name = item.get("name").string().get()?.to_uppercase().replace('.', "_");
            Some((name, item.get("value")))
        });
        for (name, value) in view.entries().into_iter().map(described).chain(listed) {
            let known = value.string().get().and_then(|_| value.traced());
            out.insert(name, (value.place(), known));
            if self.share.make(NODE).is_err() {
                break;
            }
        }
        Rc::new(out)
    }
}

/// A job of which nothing is known but that it asks for a machine with GPUs, by a name that says so.
fn on_named(job: &Job<'_>) -> Option<Workload> {
    let selector = selector(job);
    // Each part of a label says what the machine has, as a key does.
    let says = |part: &str| {
        catalog::mentions(&format!("{part}:")).next().is_some() || catalog::gpus_called(part).next().is_some()
    };
    let speaks = |label: &String| {
        let machines = label.split(['-', '_', ' ']);
        machines.chain(label.split(['-', '_', '.', ' '])).any(says)
    };
    selector.values().filter_map(Fact::get).find(|label| speaks(label))?;
    let mut pod = Pod::blank(job.place);
    pod.role = Fact::value("main".to_owned(), job.place);
    pod.replicas = Fact::value(1, job.place);
    let mut out = Workload::blank(job.place);
    out.format = Fact::value(WorkloadFormat::Ci, job.place);
    out.pods.push(pod);
    Some(out)
}

/// What a job asks of the machine that runs it, as a pod selects its node.
fn selector(job: &Job<'_>) -> Labels {
    let mut out = Labels::new();
    for (key, view) in &job.runner {
        let listed = view.items().chain(view.entries().into_iter().flat_map(|(_, inner)| inner.items().chain([inner])));
        let labels = [*view].into_iter().chain(listed).take(MOST_LABELS).map(View::string);
        let known = labels.filter(|label| label.get().is_some());
        out.extend(known.enumerate().map(|(number, label)| match number {
            0 => ((*key).to_owned(), label),
            _ => (format!("{key}.{number}"), label),
        }));
    }
    out
}

/// Makes a container or a process one of a job.
fn of_job(workload: &mut Workload, job: &Job<'_>) {
    let ours = |format: &WorkloadFormat| {
        matches!(format, WorkloadFormat::Ci | WorkloadFormat::Docker | WorkloadFormat::Script)
    };
    if !workload.format.get().is_some_and(ours) {
        return;
    }
    let place = workload.span;
    workload.format = Fact::value(WorkloadFormat::Ci, place);
    workload.kind = Fact::value("job".to_owned(), place);
    workload.name = Fact::value(job.name.clone(), place);
    workload.intent = Fact::value(Intent::Batch, place);
    let runner = Why::NotStated("what the runner gives the job".into());
    let open = |gpus: &mut Fact<i64>| {
        // Who asks for none may be given some.
        if gpus.is_absent() || gpus.get() == Some(&0) {
            *gpus = Fact::unknown(runner.clone(), gpus.span);
        }
    };
    open(&mut workload.gpus);
    open(&mut workload.group_gpus);
    for pod in &mut workload.pods {
        pod.node_selector = selector(job);
        open(&mut pod.gpus);
        pod.containers.iter_mut().for_each(|container| open(&mut container.gpus));
    }
}

/// A container as `docker run` would start it.
fn container(image: &Traced, options: Option<&Traced>) -> Option<Workload> {
    let words = ["docker", "run"].map(|word| Traced::opaque(word, image.whole()));
    let mut command = Command::of_arguments(&words)?;
    let options = options.map(shell::parse).into_iter().flat_map(|script| script.commands);
    command.words.extend(options.flat_map(|command| command.words));
    command.words.extend(Command::of_arguments(std::slice::from_ref(image))?.words);
    commands::container(&command.words, 0)
}

/// A container with the variables that are set for what runs in it; the options that start it win.
fn with(mut started: Workload, env: &[Env]) -> Workload {
    for container in started.pods.iter_mut().flat_map(|pod| &mut pod.containers) {
        for (name, (place, value)) in env.iter().flat_map(|env| env.iter()) {
            let known = value.as_ref().map(|value| written::stated(value, false));
            let mut variable = EnvVar::blank(*place);
            variable.name = Fact::value(name.clone(), *place);
            variable.value = known.unwrap_or_else(|| Fact::unknown(Why::Variable(name.as_str().into()), *place));
            variable.written = variable.value.clone();
            container.env.entry(name.clone()).or_insert_with(|| Box::new(variable));
        }
    }
    started
}

/// A text with the values that a matrix has for it: one for each of its combinations.
fn chosen(text: &Traced, matrix: Option<View<'_>>, share: &Share) -> Vec<Traced> {
    let matrix = matrix.filter(|matrix| matrix.is_some() && !matrix.get("exclude").is_some());
    let rows = matrix.filter(|_| reference(text.text()).is_some()).and_then(|matrix| rows(text, matrix, share));
    let mut out: Vec<Traced> = Vec::new();
    for row in rows.iter().flatten() {
        let mut one = text.clone();
        while let Some((range, value)) = reference(one.text()).and_then(|(range, key)| Some((range, row.get(&key)?))) {
            one = one.replaced(range, value);
        }
        if out.len() < MOST_CHOICES && out.iter().all(|other| other.text() != one.text()) {
            out.push(one);
        }
    }
    if out.is_empty() { vec![text.clone()] } else { out }
}

/// One combination of a matrix: its values by their keys.
type Row = BTreeMap<String, Traced>;

/// The combinations of a matrix as far as a text asks for them; `None` if not all are known.
fn rows(text: &Traced, matrix: View<'_>, share: &Share) -> Option<Vec<Row>> {
    let included: Vec<View<'_>> = matrix.get("include").items().collect();
    let axes: Vec<(&str, View<'_>)> = matrix.entries().into_iter().filter(|(key, _)| *key != "include").collect();
    let value = |view: View<'_>| {
        let value = view.string().get().and_then(|_| view.traced())?;
        (value.text().len() <= LONGEST_CHOICE).then_some(value)
    };
    // What a row of its own has to agree with counts as well.
    let asked = |key: &str| text.text().contains(key) || included.iter().any(|row| row.get(key).is_some());
    let mut out = if axes.is_empty() { vec![] } else { vec![Row::new()] };
    for (key, values) in axes.iter().filter(|(key, _)| asked(key)) {
        let values: Option<Vec<Traced>> = values.items().map(value).collect();
        let values = values.filter(|values| !values.is_empty() && out.len() * values.len() <= MOST_ROWS)?;
        share.make(out.len() * values.len() * NODE).ok()?;
        let more = |row: &Row| {
            let with = |value: &Traced| row.clone().into_iter().chain([((*key).to_owned(), value.clone())]).collect();
            values.iter().map(with).collect::<Vec<Row>>()
        };
        out = out.iter().flat_map(more).collect();
    }
    let combined = out.len();
    for row in included {
        let stated = row.entries();
        share.make(NODE + out.len() * (1 + stated.len()) * STEP).ok()?;
        let is_axis = |key: &str| axes.iter().any(|(axis, _)| *axis == key);
        if stated.iter().any(|(key, view)| (is_axis(key) || text.text().contains(key)) && value(*view).is_none()) {
            return None;
        }
        let own: Row = stated.into_iter().filter_map(|(key, view)| Some((key.to_owned(), value(view)?))).collect();
        let agrees = |of: &&mut Row| {
            let mut fixed = own.iter().filter(|(key, _)| is_axis(key));
            fixed.all(|(key, value)| of.get(key).is_none_or(|other| other.text() == value.text()))
        };
        let mut met = false;
        for of in out[..combined].iter_mut().filter(agrees) {
            met = true;
            of.extend(own.iter().filter(|(key, _)| !is_axis(key)).map(|(key, value)| (key.clone(), value.clone())));
        }
        if !met && out.len() < MOST_ROWS {
            out.push(own);
        }
    }
    Some(out)
}

/// The first `${{ matrix.KEY }}` of a text.
fn reference(text: &str) -> Option<(std::ops::Range<usize>, String)> {
    let start = text.find("${{")?;
    let end = start + text[start..].find("}}")?;
    let key = text[start + 3..end].trim().strip_prefix("matrix.")?;
    let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    plain.then(|| (start..end + 2, key.to_owned()))
}

/// The jobs of a workflow by their names.
fn jobs<'t>(system: System, root: View<'t>) -> Vec<(String, View<'t>)> {
    let named = |(name, job): (&str, View<'t>)| (name.to_owned(), job);
    let called = |job: View<'t>, keys: &[&str]| {
        let name = keys.iter().find_map(|key| job.get(key).string().get().cloned());
        (name.unwrap_or_default(), job)
    };
    match system {
        System::GitHub | System::CircleCi => root.get("jobs").entries().into_iter().map(named).collect(),
        System::Action => vec![(called(root, &["name"]).0, root.get("runs"))],
        // What begins with a dot is there for others to extend.
        System::GitLab => {
            let runs = |job: View<'_>| job.get("script").is_some() || job.get("extends").is_some();
            let jobs = root.entries().into_iter().filter(|(name, job)| !name.starts_with('.') && runs(*job));
            jobs.map(named).collect()
        }
        System::Azure => {
            let stages = root.get("stages").items().flat_map(|stage| stage.get("jobs").items());
            let own = root.get("steps").is_some().then_some(root);
            stages.chain(root.get("jobs").items()).chain(own).map(|job| called(job, &["job", "name"])).collect()
        }
        System::Buildkite => root.get("steps").items().map(|step| called(step, &["label"])).collect(),
    }
}

/// An image: a text, or what stands under a key.
fn image(view: View<'_>, key: &str) -> Option<Traced> {
    view.traced().or_else(|| view.get(key).traced())
}

fn github<'t>(workflow: &Workflow<'t>, (name, job): (String, View<'t>)) -> Job<'t> {
    let services = job.get("services").entries().into_iter().map(|(_, service)| service);
    let containers = std::iter::once(job.get("container")).chain(services);
    let images = containers.map(|one| (image(one, "image"), one.get("options").traced()));
    let run = |step: View<'_>| {
        let text = step.get("uses").traced()?;
        let start = text.text().strip_prefix("docker://").map(|image| text.text().len() - image.len())?;
        Some((Some(text.slice(start..text.text().len())), None))
    };
    let own = workflow.variables(job.get("env"));
    let default = [job, workflow.root].map(|of| of.path("defaults.run.shell"));
    let shells = job.get("steps").items().filter(|step| is_shell([step.get("shell"), default[0], default[1]]));
    let shells = shells.filter_map(|step| {
        let env = vec![workflow.variables(step.get("env")), own.clone(), workflow.env.clone()];
        Some(Shell { lines: vec![step.get("run").traced()?], env, open: false })
    });
    Job {
        name,
        place: job.place(),
        shells: shells.collect(),
        env: vec![own.clone(), workflow.env.clone()],
        runner: vec![("runs-on", job.get("runs-on"))],
        images: images.chain(job.get("steps").items().filter_map(run)).collect(),
        matrix: Some(job.path("strategy.matrix")),
    }
}

/// Whether a shell reads a step: the first thing that is said of it names one, or nothing is said.
fn is_shell(stated: [View<'_>; 3]) -> bool {
    let program = stated.into_iter().find_map(|view| view.string().get().cloned());
    program.is_none_or(|line| line.split_whitespace().next().is_none_or(|name| shell::is_shell(base_name(name))))
}

/// A job of GitLab and those that it extends, the nearest first; whether these are all.
fn extended<'t>(root: View<'t>, job: View<'t>) -> (Vec<View<'t>>, bool) {
    let (mut out, mut complete) = (vec![job], true);
    let mut at = 0;
    while let Some(of) = out.get(at).copied() {
        let extends = of.get("extends");
        let lone = Some(extends).filter(|extends| extends.traced().is_some());
        let names = lone.into_iter().chain(extends.items()).take(MOST_BASES);
        // The last one lies over those before it, and what each extends lies below it.
        let bases: Vec<Option<View<'t>>> =
            names.map(|name| Some(root.get(name.string().get()?)).filter(|base| base.is_some())).collect();
        complete &= bases.iter().all(Option::is_some);
        at += 1;
        out.splice(at..at, bases.into_iter().rev().flatten());
        if out.len() > MOST_BASES {
            return (out, false);
        }
    }
    (out, complete)
}

fn gitlab<'t>(workflow: &Workflow<'t>, (name, job): (String, View<'t>)) -> Job<'t> {
    let root = workflow.root;
    let (own, complete) = extended(root, job);
    // What a file that is not here may state is not taken from further away.
    let around = [root.get("default"), root].into_iter().filter(|_| complete);
    let all: Vec<View<'t>> = own.iter().copied().chain(around).collect();
    let stated = |key: &str| all.iter().map(|of| of.get(key)).find(|view| view.is_some());
    let services = stated("services").into_iter().flat_map(View::items);
    let own_image = stated("image").and_then(|one| image(one, "name"));
    let beside = services.map(|one| (image(one, "name"), None));
    let images = std::iter::once((own_image, None)).chain(beside).collect();
    let script = own.iter().map(|of| of.get("script")).find(|view| view.is_some());
    let parts = [stated("before_script").filter(|_| script.is_some()), script].into_iter().flatten();
    let variables = own.iter().map(|of| workflow.variables(of.get("variables")));
    let env: Vec<Env> = variables.chain(complete.then(|| workflow.env.clone())).collect();
    let shells = vec![Shell { lines: parts.flat_map(lines).collect(), env: env.clone(), open: !complete }];
    let runner = stated("tags").map(|tags| ("tags", tags)).into_iter().collect();
    Job { name, place: job.place(), images, env, runner, shells, matrix: None }
}

fn circleci<'t>(workflow: &Workflow<'t>, (name, job): (String, View<'t>)) -> Job<'t> {
    let executor = job.get("executor");
    let executor = executor.string().get().or(executor.get("name").string().get()).cloned();
    let executor = workflow.root.get("executors").get(executor.as_deref().unwrap_or_default());
    let docker = [job, executor].map(|of| of.get("docker")).into_iter().find(|docker| docker.is_some());
    let around = [job, executor].map(|of| workflow.variables(of.get("environment")));
    let shells = job.get("steps").items().filter_map(|step| {
        let run = step.get("run");
        let env = [workflow.variables(run.get("environment"))].into_iter().chain(around.clone()).collect();
        let lines = vec![image(run, "command")?];
        is_shell([run.get("shell"), job.get("shell"), executor.get("shell")]).then_some(Shell {
            lines,
            env,
            open: false,
        })
    });
    Job {
        name,
        place: job.place(),
        images: docker.into_iter().flat_map(View::items).map(|one| (one.get("image").traced(), None)).collect(),
        shells: shells.collect(),
        env: around.to_vec(),
        runner: [job, executor].map(|of| ("resource_class", of.get("resource_class"))).into_iter().rev().collect(),
        matrix: None,
    }
}

fn azure<'t>(workflow: &Workflow<'t>, (name, job): (String, View<'t>)) -> Job<'t> {
    let script = |step: View<'t>| step.get("script").traced().or_else(|| step.get("bash").traced());
    let own = workflow.variables(job.get("variables"));
    let shells = job.get("steps").items().filter_map(|step| {
        let env = vec![workflow.variables(step.get("env")), own.clone(), workflow.env.clone()];
        Some(Shell { lines: vec![script(step)?], env, open: false })
    });
    // A name may be that of a container which all jobs share.
    let stated = job.get("container");
    let named = |of: &View<'_>| of.get("container").string().get().is_some_and(|n| Some(n) == stated.string().get());
    let container = workflow.root.path("resources.containers").items().find(named).unwrap_or(stated);
    Job {
        name,
        place: job.place(),
        images: vec![(image(container, "image"), container.get("options").traced())],
        shells: shells.collect(),
        env: vec![own.clone(), workflow.env.clone()],
        runner: vec![("pool", workflow.root.get("pool")), ("pool", job.get("pool"))],
        matrix: None,
    }
}

fn buildkite<'t>(workflow: &Workflow<'t>, (name, step): (String, View<'t>)) -> Job<'t> {
    let parts = ["command", "commands"].map(|key| step.get(key));
    let plugins = step.get("plugins").items().flat_map(|plugin| plugin.entries());
    let images =
        plugins.filter(|(name, _)| name.starts_with("docker#")).map(|(_, of)| (of.get("image").traced(), None));
    let env = vec![workflow.variables(step.get("env")), workflow.env.clone()];
    Job {
        name,
        place: step.place(),
        images: images.collect(),
        env: env.clone(),
        runner: vec![("agents", step.get("agents"))],
        shells: vec![Shell { lines: parts.into_iter().flat_map(lines).collect(), env, open: false }],
        matrix: None,
    }
}

/// The lines of a script: a text, or a list of them, or of such lists.
fn lines(view: View<'_>) -> Vec<Traced> {
    let one = view.traced();
    if one.is_some() { one.into_iter().collect() } else { view.items().flat_map(lines).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    fn workloads(path: &str, text: &str) -> Vec<Workload> {
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Core));
        let mut facts = Facts::default();
        tree.roots().for_each(|root| read(root, path, &mut facts));
        facts.workloads
    }

    #[test]
    fn what_runs_in_the_container_of_a_job_has_its_variables() {
        for (path, text, name, value) in [
            (
                ".github/workflows/a.yml",
                "env: {A: top, B: top}\njobs:\n  a:\n    runs-on: gpu\n    env: {A: job}\n    container: {image: x/y:1, options: -e B=own}\n    services: {z: {image: z:1}}\n",
                "A B",
                "job own",
            ),
            (".gitlab-ci.yml", "variables: {A: top}\na:\n  image: x/y:1\n  script: [make]\n", "A", "top"),
            (".gitlab-ci.yml", "variables: {A: top}\na:\n  services: [x/y:1]\n  script: [make]\n", "A", "?"),
            (
                ".circleci/config.yml",
                "jobs:\n  a:\n    docker: [{image: 'x/y:1'}]\n    environment: {A: job}\n",
                "A",
                "job",
            ),
        ] {
            let made = workloads(path, text);
            let env = &made[0].pods[0].containers[0].env;
            let value_of = |name: &str| env.get(name).and_then(|v| v.value.get().cloned()).unwrap_or("?".to_owned());
            assert_eq!(name.split(' ').map(value_of).collect::<Vec<_>>().join(" "), value, "{text}");
            assert!(made.iter().skip(1).all(|beside| beside.pods[0].containers[0].env.is_empty()), "{text}");
        }
    }

    #[test]
    fn what_a_job_asks_of_its_machine_selects_it() {
        for (path, text, labels) in [
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    runs-on: [self-hosted, a100]\n    steps: []\n",
                "runs-on=self-hosted runs-on.1=a100",
            ),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    runs-on: {group: aws-g5.xlarge}\n    steps: []\n",
                "runs-on=aws-g5.xlarge",
            ),
            (".gitlab-ci.yml", "a:\n  tags: [nvidia-l4]\n  script: [make]\n", "tags=nvidia-l4"),
            // A machine without GPUs, and one of which nobody knows.
            (".github/workflows/a.yml", "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps: []\n", ""),
            (".github/workflows/a.yml", "jobs:\n  a:\n    runs-on: ${{ matrix.gpu }}\n    steps: []\n", ""),
        ] {
            let made = workloads(path, text);
            let selectors = made.iter().flat_map(|workload| &workload.pods).flat_map(|pod| &pod.node_selector);
            let written = selectors.map(|(key, label)| format!("{key}={}", label.get().expect("it is known")));
            assert_eq!(written.collect::<Vec<_>>().join(" "), labels, "{text}");
        }
    }
}
