//! Workflows of CI: the containers that jobs run in and beside, and what their steps run. Knows the keys of GitHub, GitLab,
//! Azure Pipelines, Buildkite and CircleCI. A run of CI deploys nothing: what its scripts install into a cluster or make of
//! machines is gone with it, and stands for nothing else.

use super::{MOST_WORKLOADS, commands, install, scripts, too_many};
use crate::budget::Share;
use crate::facts::{Facts, Intent, PackageFileKind, Workload, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::shell::{self, Arms, Command, Script};
use crate::parse::{Node, Problem, View};
use crate::source::{Span, Traced};
use std::sync::Arc;

/// Most values that a matrix brings into one image.
const MOST_CHOICES: usize = 16;

/// Longest of them.
const LONGEST_CHOICE: usize = 256;

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
    /// Images with the options of their containers.
    images: Vec<(Option<Traced>, Option<Traced>)>,
    /// What each shell is given, line by line, and variables that are set for it: the nearest first.
    shells: Vec<(Vec<Traced>, Vec<View<'t>>)>,
    matrix: Option<View<'t>>,
}

/// Reads a workflow.
pub fn read(root: Node<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let mut made = Facts::default();
    // Anchors let many jobs state the same.
    let share = Share::least(root.span().range().len());
    let Some(system) = system(root, path) else { return };
    for (name, job) in jobs(system, view) {
        let stated = match system {
            System::GitHub | System::Action => github,
            System::GitLab => gitlab,
            System::Azure => azure,
            System::Buildkite => buildkite,
            System::CircleCi => circleci,
        };
        let job = stated(view, (name, job));
        let before = made.workloads.len();
        let texts =
            job.shells.iter().flat_map(|(lines, _)| lines).chain(job.images.iter().flat_map(|(image, _)| image));
        let texts: usize = texts.map(|text| text.text().len()).sum();
        if let Err(spent) = share.make(texts + job.images.len() * size_of::<Workload>()) {
            let message = format!("jobs from here on: {spent}");
            facts.cut.push(Problem { span: job.place, message });
            break;
        }
        if before >= MOST_WORKLOADS {
            facts.cut.push(too_many(job.place));
            break;
        }
        for (image, options) in &job.images {
            let Some(image) = image else { continue };
            for image in chosen(image, job.matrix) {
                made.workloads.extend(container(&image, options.as_ref()));
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
        facts.cut.extend(scripts::read(&script, path, &mut made));
        made.workloads[before..].iter_mut().for_each(|workload| of_job(workload, &job.name));
    }
    // What is written out for a cluster is of no format of CI.
    let ours = |workload: &Workload| workload.format.get() == Some(&WorkloadFormat::Ci);
    facts.workloads.extend(made.workloads.into_iter().filter(ours));
}

/// What the shells of a job run, each in a branch of its own: what one sets is not set in another.
fn script(shells: &[(Vec<Traced>, Vec<View<'_>>)]) -> Script {
    let mut out = Script::default();
    for (number, (lines, variables)) in shells.iter().enumerate() {
        let mut one = Script::default();
        lines.iter().for_each(|line| one.append(shell::parse(line), &Arms::default()));
        let set = |name: &str| variables.iter().find_map(|of| of.get(name).string().get().cloned());
        out.append(one.resolved(&set), &Arms::alone(number as u32));
    }
    out
}

/// Makes a container or a process one of a job.
fn of_job(workload: &mut Workload, name: &str) {
    if !workload.format.get().is_some_and(|format| matches!(format, WorkloadFormat::Docker | WorkloadFormat::Script)) {
        return;
    }
    let place = workload.span;
    workload.format = Fact::value(WorkloadFormat::Ci, place);
    workload.kind = Fact::value("job".to_owned(), place);
    workload.name = Fact::value(name.to_owned(), place);
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

/// A text with the values that a matrix has for it, each on its own.
fn chosen(text: &Traced, matrix: Option<View<'_>>) -> Vec<Traced> {
    let mut out = vec![text.clone()];
    let Some(matrix) = matrix.filter(|matrix| !matrix.get("exclude").is_some()) else { return out };
    while let Some((range, key)) = out.first().and_then(|first| reference(first.text())) {
        let listed = matrix.get(&key).items();
        let included = matrix.get("include").items().map(|item| item.get(&key)).filter(|value| value.is_some());
        let values: Option<Vec<Traced>> = listed.chain(included).map(|value| value.traced()).collect();
        let values = values.filter(|values| {
            !values.is_empty() && values.iter().all(|v| v.text().len() <= LONGEST_CHOICE && !v.text().contains("${{"))
        });
        let Some(values) = values.filter(|values| out.len() * values.len() <= MOST_CHOICES) else { break };
        // The places of an expression differ from text to text: what stands before it may.
        let next = out.iter().flat_map(|text| {
            let (at, _) = reference(text.text()).unwrap_or((range.clone(), String::new()));
            values.iter().map(move |value| text.replaced(at.clone(), value)).collect::<Vec<_>>()
        });
        out = next.collect();
    }
    out
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
        System::GitLab => {
            let jobs = root.entries().into_iter().filter(|(_, job)| job.get("script").is_some());
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

fn github<'t>(root: View<'t>, (name, job): (String, View<'t>)) -> Job<'t> {
    let services = job.get("services").entries().into_iter().map(|(_, service)| service);
    let containers = std::iter::once(job.get("container")).chain(services);
    let shells = job.get("steps").items().filter_map(|step| {
        let variables = vec![step.get("env"), job.get("env"), root.get("env")];
        Some((vec![step.get("run").traced()?], variables))
    });
    Job {
        name,
        place: job.place(),
        images: containers.map(|one| (image(one, "image"), one.get("options").traced())).collect(),
        shells: shells.collect(),
        matrix: Some(job.path("strategy.matrix")),
    }
}

fn gitlab<'t>(root: View<'t>, (name, job): (String, View<'t>)) -> Job<'t> {
    let default = root.get("default");
    let stated = |key: &str| [job, default, root].into_iter().map(|of| of.get(key)).find(|view| view.is_some());
    let services = stated("services").into_iter().flat_map(View::items);
    let images = stated("image").into_iter().chain(services).map(|one| (image(one, "name"), None));
    let parts = [stated("before_script"), Some(job.get("script"))].into_iter().flatten();
    Job {
        name,
        place: job.place(),
        images: images.collect(),
        shells: vec![(parts.flat_map(lines).collect(), vec![job.get("variables"), root.get("variables")])],
        matrix: None,
    }
}

fn circleci<'t>(_: View<'t>, (name, job): (String, View<'t>)) -> Job<'t> {
    let script = |step: View<'t>| image(step.get("run"), "command");
    Job {
        name,
        place: job.place(),
        images: job.get("docker").items().map(|one| (one.get("image").traced(), None)).collect(),
        shells: job
            .get("steps")
            .items()
            .filter_map(|step| Some((vec![script(step)?], vec![job.get("environment")])))
            .collect(),
        matrix: None,
    }
}

fn azure<'t>(root: View<'t>, (name, job): (String, View<'t>)) -> Job<'t> {
    let script = |step: View<'t>| step.get("script").traced().or_else(|| step.get("bash").traced());
    let shells = job.get("steps").items().filter_map(|step| {
        Some((vec![script(step)?], vec![step.get("env"), job.get("variables"), root.get("variables")]))
    });
    let container = job.get("container");
    Job {
        name,
        place: job.place(),
        images: vec![(image(container, "image"), container.get("options").traced())],
        shells: shells.collect(),
        matrix: None,
    }
}

fn buildkite<'t>(root: View<'t>, (name, step): (String, View<'t>)) -> Job<'t> {
    let parts = ["command", "commands"].map(|key| step.get(key));
    let plugins = step.get("plugins").items().flat_map(|plugin| plugin.entries());
    let images =
        plugins.filter(|(name, _)| name.starts_with("docker#")).map(|(_, of)| (of.get("image").traced(), None));
    Job {
        name,
        place: step.place(),
        images: images.collect(),
        shells: vec![(parts.into_iter().flat_map(lines).collect(), vec![step.get("env"), root.get("env")])],
        matrix: None,
    }
}

/// The lines of a script: a text, or a list of them.
fn lines(view: View<'_>) -> Vec<Traced> {
    let one = view.traced();
    if one.is_some() { one.into_iter().collect() } else { view.items().filter_map(View::traced).collect() }
}
