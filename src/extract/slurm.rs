//! Scripts, and those that are batch jobs: `#SBATCH` lines, or those of other queues, as the resources, the script as what
//! they launch. Knows sbatch's options.

use super::allocation::{self, Granted, Options};
use super::queues::{QUEUES, Scheduler};
use super::scripts::Step;
use super::written::{self, Given};
use super::{TextFile, commands, install, intent, machinery, scripts, slurm_conf, wrappers};
use crate::catalog;
use crate::facts::{
    ContainerRole, Facts, Gpu, NamedPath, Node, Object, PathRole, Pod, SharedMemory, Submission, Workload,
    WorkloadFormat,
};
use crate::known::{Fact, Known, Why};
use crate::parse::shell::{Command, Word};
use crate::parse::{Builder, Dialect, Entry, NodeId, NodeKind, Problem, Raw, placeholder, shell};
use crate::source::{SourceId, Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads a script; one without `#SBATCH` lines is no job.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let whole = Traced::verbatim(text, Span::new(id, 0..text.len()), 0);
    let (options, comments) = directives(&whole);
    facts.objects.extend(script(id, (path, text), &options).map(Arc::new));
    let cut = commands_of(&whole, path, DEEPEST, facts);
    TextFile { comments, cut, ..TextFile::default() }
}

/// Scripts that scripts write out are read so deep.
pub const DEEPEST: usize = 3;

/// What the commands of a script state and launch, for a job where it has directives, and the scripts that it writes
/// out down to a depth. From where on it is not read, if too much is made of it.
pub fn commands_of(whole: &Traced, path: &str, depth: usize, facts: &mut Facts) -> Option<Problem> {
    let (mut options, mut scheduler) = (directives(whole).0, Scheduler::SLURM);
    facts.submissions.extend(submissions(whole));
    for queue in &QUEUES {
        if options.is_empty() {
            (options, scheduler) = (queue.options(whole), queue.scheduler);
        }
    }
    let script = shell::parse(whole).resolved(&|name| allocation::variable(name, &options));
    facts.package_files.extend(install::of_script(&script, path).into_iter().map(Arc::new));
    commands::read(&script, facts);
    facts.workloads.extend(script.commands.iter().flat_map(|command| wrapped(command, path)));
    commands::endings(whole, &script, facts);
    if depth == DEEPEST {
        commands::listed(&script, whole, path, facts);
    }
    machinery::read(&script, path, facts);
    for text in commands::scripts(&script).filter(|_| depth > 0) {
        let cut = commands_of(text, path, depth - 1, facts);
        facts.cut.extend(cut);
    }
    match options.values().map(|f| f.span).min() {
        Some(first) => {
            facts.paths.extend(named_paths(&script, &options));
            let given = |name: &str, command: &Command| allocation::variable_of_step(name, &command.words, &options);
            let mut launches = scripts::launches(&script, &given);
            if launches.steps.is_empty() {
                launches.steps.extend(scripts::anything(&script, &given));
            }
            let cluster = launches.cluster;
            let passes = passes_devices(&script, whole.text());
            let several = options.contains_key("hetjob") && scheduler.format == WorkloadFormat::Slurm;
            let parts = if several { parts(whole) } else { Vec::new() };
            // What runs on a part of its own shares nothing.
            let place = |step: &Step| allocation::part(&step.command.words);
            let places: Vec<_> = launches.steps.iter().filter(|step| step.beside).map(place).collect();
            for step in launches.steps.iter_mut().filter(|_| several) {
                let own = place(step);
                step.beside &= own.is_none() || places.iter().filter(|other| **other == own).count() > 1;
            }
            let job = |step: Step| {
                let part = allocation::part(&step.command.words).and_then(|part| parts.get(part));
                let options = part.unwrap_or(&options);
                job(step, (cluster, &passes), (scheduler, options, first), (path, whole.text()))
            };
            facts.workloads.extend(launches.steps.into_iter().map(job));
            launches.cut
        }
        None => scripts::read(&script, path, facts),
    }
}

/// Programs that go elsewhere, bring files, or run what they run with files of their own.
const ELSEWHERE: [&str; 20] = [
    "apptainer",
    "aws",
    "cd",
    "cp",
    "curl",
    "docker",
    "enroot",
    "git",
    "gsutil",
    "ln",
    "mv",
    "podman",
    "pushd",
    "rsync",
    "scp",
    "singularity",
    "tar",
    "tee",
    "unzip",
    "wget",
];

/// The paths of scripts that a job runs, as seen from where it is submitted. The directories of its output Slurm makes itself,
/// since 23.02: <https://github.com/SchedMD/slurm/commit/ecc671a141f8c929748e1910a86e12d446910585>.
fn named_paths(script: &shell::Script, options: &Options) -> Vec<NamedPath> {
    let moved = ["chdir", "D", "workdir"].iter().any(|name| options.contains_key(*name));
    if moved {
        return Vec::new();
    }
    let mut out = Vec::new();
    let elsewhere = |word: &Word| {
        ELSEWHERE.contains(&wrappers::base_name(word.text()))
            || word.text().starts_with("--container")
            || word.text().contains("chdir")
    };
    if script.commands.iter().flat_map(|command| &command.words).any(elsewhere) {
        return out;
    }
    for command in script.commands.iter().filter(|command| command.arms.branches().is_empty()) {
        let programs = wrappers::programs(&command.words);
        let ran = programs.into_iter().map(|at| &command.words[at]).filter(|word| !word.expands);
        let ran =
            ran.filter(|word| word.text().contains('/') && [".py", ".sh"].iter().any(|end| word.text().ends_with(end)));
        out.extend(
            ran.map(|word| NamedPath { path: Fact::value(word.text().to_owned(), word.span()), role: PathRole::Run }),
        );
    }
    out
}

/// Programs of jobs that compute nothing: what stands beside them uses the GPUs.
const IDLE: [&str; 44] = [
    ".",
    ":",
    "[",
    "[[",
    "cat",
    "cd",
    "chmod",
    "conda",
    "cp",
    "curl",
    "date",
    "df",
    "du",
    "echo",
    "env",
    "eval",
    "exit",
    "export",
    "find",
    "free",
    "git",
    "head",
    "hostname",
    "ln",
    "ls",
    "mkdir",
    "ml",
    "module",
    "mv",
    "nvidia-smi",
    "printf",
    "pwd",
    "rm",
    "rsync",
    "set",
    "sleep",
    "source",
    "tar",
    "tee",
    "trap",
    "ulimit",
    "unset",
    "wait",
    "wget",
];

/// Programs that run containers, which get no devices unless they are asked to hand them over.
const CONTAINERS: [&str; 2] = ["apptainer", "singularity"];

/// Ways to hand devices to a container: options, variables, mounts.
const HANDED: [&str; 8] =
    ["--nv", "--rocm", "_NV", "_ROCM", "/dev/dri", "/dev/kfd", "/dev/nvidia", ".singularity.d/libs"];

/// Whether the containers of a job get the devices of its node; `None` where it runs other programs, too, or no container.
fn passes_devices(script: &shell::Script, text: &str) -> Option<Fact<bool>> {
    let name = |command: &Command, at: usize| wrappers::base_name(command.words[at].text()).to_owned();
    let mut first = None;
    for command in &script.commands {
        let programs = wrappers::programs(&command.words);
        let run = programs.iter().copied().find(|at| CONTAINERS.contains(&name(command, *at).as_str()));
        let Some(at) = run else {
            let idle = |at: &usize| IDLE.contains(&name(command, *at).as_str());
            if programs.first().is_some_and(|at| !idle(at)) {
                return None;
            }
            continue;
        };
        let verb = command.words[at + 1..].iter().find(|word| !word.text().starts_with('-'))?;
        match verb.text() {
            "exec" | "run" => {}
            "build" | "cache" | "inspect" | "pull" | "version" => continue,
            _ => return None,
        }
        if command.words[at..].iter().any(Word::is_open) {
            return None;
        }
        first = first.or(Some(command.words[at].span().to(verb.span())));
    }
    let handed = HANDED.iter().any(|sign| text.contains(sign));
    first.map(|span| Fact::value(handed, span))
}

/// A job as far as it runs one of its steps.
fn job(
    step: Step,
    (cluster, passes): (bool, &Option<Fact<bool>>),
    (scheduler, options, first): (Scheduler, &Options, Span),
    (path, text): (&str, &str),
) -> Workload {
    let tasks = allocation::tasks(&step, options);
    let Granted { nodes, gpus, all } = allocation::granted(&step, cluster, (options, first));
    let card = allocation::card(options);
    let mut container = step.container;
    container.name = Fact::value("script".to_owned(), first);
    container.role = Fact::value(ContainerRole::Main, first);
    // The shell of the node has the memory of the node.
    container.shm = Fact::value(SharedMemory::Host, first);
    container.tasks_per_node =
        tasks.filter(|_| scheduler.format == WorkloadFormat::Slurm).unwrap_or(container.tasks_per_node);
    container.gpus = gpus.clone();
    container.passes_devices = passes.clone().unwrap_or_else(|| Fact::absent(first));
    if scheduler.format == WorkloadFormat::Slurm {
        container.limits = allocation::host(options, &gpus);
    }
    if !gpus.is_absent() {
        container.gpu_vendor = vendor(card.as_ref(), text, gpus.span);
        container.device = Fact::value("gpu".to_owned(), gpus.span);
        container.device_name = Fact::value("GPU".to_owned(), gpus.span);
    }
    let mut pod = Pod::blank(first);
    pod.role = Fact::value("main".to_owned(), first);
    pod.replicas = nodes.clone();
    pod.gpus = gpus.clone();
    let mut node = Node::blank(card.as_ref().map_or(first, |(_, span)| *span));
    node.platform = Fact::value(scheduler.name.to_owned(), node.span);
    node.gpu = card.map(|(name, span)| named(&name, span));
    pod.node = Some(node);
    pod.containers.push(container);
    let mut out = Workload::blank(first);
    out.format = Fact::value(scheduler.format, first);
    out.kind = Fact::value(scheduler.command.to_owned(), first);
    let name = ["job-name", "J"].iter().find_map(|name| options.get(*name).cloned());
    out.name = name.unwrap_or_else(|| Fact::value(path.to_owned(), first));
    out.replicas = Fact::value(1, first);
    out.group_size = nodes;
    out.group_gpus = all;
    out.gpus = out.group_gpus.clone();
    out.gang = Fact::value(true, first);
    out.pods.push(pod);
    out.intent = intent::of(&out);
    out
}

/// The script as a raw object of kind SlurmScript: `shebang` where a `#!` line stands below the first line,
/// `directives` with the text of each `#SBATCH` line (`text`) and whether a command precedes it (`late`), `partition`, and
/// `minutes` of its time limit.
fn script(id: SourceId, (path, text): (&str, &str), options: &Options) -> Option<Object> {
    let mut builder = Builder::new(id, Dialect::Typed);
    let (mut directives, mut entries) = (vec![], vec![]);
    let (mut offset, mut late, mut heredoc) = (0, false, None::<String>);
    let mut first = None;
    for line in text.split_inclusive('\n') {
        let (start, trimmed) = (offset, line.trim_end());
        offset += line.len();
        if let Some(end) = &heredoc {
            if trimmed.trim() == end {
                heredoc = None;
            }
            continue;
        }
        let span = Span::new(id, start..start + trimmed.len());
        if let Some(rest) = trimmed.strip_prefix("#SBATCH") {
            first = first.or(Some(span));
            let body = rest.trim_start();
            let at = start + trimmed.len() - body.len();
            let text = builder.scalar(body, false, Span::new(id, at..start + trimmed.len()), at);
            let late = builder.scalar(if late { "true" } else { "false" }, true, span, start);
            directives.push(map(&mut builder, span, &[("text", text), ("late", late)]));
        } else if trimmed.starts_with("#!") && start > 0 && !late && first.is_none() {
            let node = builder.scalar(trimmed, false, span, start);
            entries.push(("shebang", node));
        } else if !trimmed.trim().is_empty() && !trimmed.starts_with('#') {
            late = true;
            let word = trimmed.split_once("<<").map(|(_, word)| word.trim_start_matches(['-', ' ']));
            heredoc =
                word.and_then(|w| w.split_whitespace().next()).map(|w| w.trim_matches(['"', '\'', '\\']).to_owned());
        }
    }
    let first = first?;
    let mut stated = |name, value: Option<Fact<String>>| {
        let Some((value, span)) = value.as_ref().and_then(|fact| Some((fact.get()?, fact.span))) else { return };
        let node = builder.add(NodeKind::Scalar { text: Traced::opaque(value.as_str(), span), plain: true }, span);
        entries.push((name, node));
    };
    let option = |names: [&str; 2]| names.iter().find_map(|name| options.get(*name)).cloned();
    let minutes =
        |text: String| slurm_conf::minutes(&text).map_or(Known::Absent, |minutes| Known::Value(minutes.to_string()));
    stated("partition", option(["partition", "p"]));
    stated("minutes", option(["time", "t"]).map(|time| time.and_then(minutes)));
    let list = builder.add(NodeKind::Seq(directives), first);
    entries.push(("directives", list));
    let root = map(&mut builder, first, &entries);
    builder.tree().documents.push(root);
    let tree = Arc::new(builder.finish());
    let mut out = Object::blank(first);
    out.kind = Fact::value("SlurmScript".to_owned(), first);
    out.name = Fact::value(path.to_owned(), first);
    out.body = Some(Raw::new(&tree, tree.node(root).view()));
    Some(out)
}

pub(super) fn map(builder: &mut Builder, span: Span, entries: &[(&str, NodeId)]) -> NodeId {
    let entries = entries
        .iter()
        .map(|(key, value)| Entry {
            key: builder.add(NodeKind::Scalar { text: Traced::opaque(*key, span), plain: false }, span),
            value: *value,
        })
        .collect();
    builder.add(NodeKind::Map(entries), span)
}

/// Options of the `#SBATCH` lines before the first command, and every comment of the script.
fn directives(script: &Traced) -> (Options, Vec<Span>) {
    let text = script.text();
    let (mut options, mut comments) = (BTreeMap::new(), Vec::new());
    let mut offset = 0;
    // What follows is about another part of the job.
    let mut hetjob = false;
    let mut commands = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_end();
        if trimmed.starts_with('#') {
            comments.push(script.span(offset..offset + trimmed.len()));
        } else if !trimmed.trim().is_empty() {
            commands = true;
        }
        // sbatch stops reading at the first command.
        if let (false, false, Some(rest)) = (commands, hetjob, trimmed.strip_prefix("#SBATCH")) {
            let part = rest.trim();
            if part == "hetjob" || part == "packjob" {
                hetjob = true;
                let place = script.span(offset..offset + trimmed.len());
                options.insert("hetjob".to_owned(), Fact::value("true".to_owned(), place));
            }
            let at = offset + "#SBATCH".len();
            for (name, from, value) in stated(rest) {
                let from = at + from;
                let span = script.span(from..from + value.len());
                let value = if value.is_empty() { "true" } else { value };
                let fact = match placeholder(value) {
                    Some(why) => Fact::unknown(why, span),
                    None => Fact::value(value.trim_matches(['"', '\'']).to_owned(), span),
                };
                options.insert(name.to_owned(), fact);
            }
        }
        offset += line.len();
    }
    (options, comments)
}

/// The options of each part of a job of several.
fn parts(script: &Traced) -> Vec<Options> {
    let mut cuts = vec![0];
    let mut offset = 0;
    for line in script.text().split_inclusive('\n') {
        let directive = line.trim_end().strip_prefix("#SBATCH").map(str::trim);
        if directive.is_some_and(|part| ["hetjob", "packjob"].contains(&part)) {
            cuts.extend([offset, offset + line.len()]);
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            break;
        }
        offset += line.len();
    }
    cuts.push(script.text().len());
    cuts.chunks_exact(2).map(|range| directives(&script.slice(range[0]..range[1])).0).collect()
}

/// What `sbatch --wrap` runs, as a job with the options of the command.
fn wrapped(command: &Command, path: &str) -> Vec<Workload> {
    let words = &command.words;
    let programs = wrappers::programs(words);
    let Some(at) = programs.into_iter().find(|at| wrappers::base_name(words[*at].text()) == "sbatch") else {
        return Vec::new();
    };
    let given = written::options(&words[at + 1..]);
    let Some(Given::Word(script, _)) = given.iter().find(|(name, _)| name == "wrap").map(|(_, given)| given) else {
        return Vec::new();
    };
    let options: Options = given.iter().map(|(name, given)| (name.clone(), given.fact())).collect();
    let script = shell::parse(script).resolved(&|name| allocation::variable(name, &options));
    let outside = |name: &str, command: &Command| allocation::variable_of_step(name, &command.words, &options);
    let launches = scripts::launches(&script, &outside);
    let (cluster, first) = (launches.cluster, words[at].span());
    let job = |step| job(step, (cluster, &None), (Scheduler::SLURM, &options, first), (path, ""));
    launches.steps.into_iter().map(job).collect()
}

/// The lines of directives before the first command, for each part of the job.
fn submissions(script: &Traced) -> Vec<Submission> {
    let (mut out, mut offset) = (Vec::<Submission>::new(), 0);
    for line in script.text().split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        if !line.trim().is_empty() && !line.starts_with('#') {
            break;
        }
        let Some(rest) = line.trim_end().strip_prefix("#SBATCH") else { continue };
        let part = ["hetjob", "packjob"].contains(&rest.trim());
        let option = rest.trim_start().starts_with('-');
        if let Some(last) = out.last_mut() {
            last.ends = option || part;
        }
        if !part {
            let at = start + "#SBATCH".len();
            let word = |(from, word): &(usize, &str)| script.slice(at + from..at + from + word.len());
            let words = words(rest).iter().map(word).collect();
            out.push(Submission { program: "sbatch", words, directive: true, ends: true });
        }
    }
    out
}

/// Options of one line as names, offsets of their values and values: `--nodes=2 --gres gpu:8`, `-N 2`, `-N2`. One without a
/// value has none where its name ends.
fn stated(rest: &str) -> Vec<(&str, usize, &str)> {
    let words = words(rest);
    let mut words = words.iter().peekable();
    let mut out = Vec::new();
    while let Some(&(start, word)) = words.next() {
        let Some(option) = word.strip_prefix('-') else { continue };
        let (name, inline) = match option.strip_prefix('-') {
            Some(long) => long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))),
            None => {
                let (name, value) = option.split_at_checked(1).unwrap_or((option, ""));
                (name, Some(value.trim_start_matches('=')).filter(|value| !value.is_empty()))
            }
        };
        let end = start + word.len();
        let inline = inline.map(|value| (end - value.len(), value));
        let (at, value) =
            inline.or_else(|| words.next_if(|(_, next)| !next.starts_with('-')).copied()).unwrap_or((end, ""));
        out.push((name, at, value));
    }
    out
}

/// Words of one line with their offsets, as sbatch tells them apart: quotes hold blanks together, and a word that begins with
/// `#` ends the line.
fn words(rest: &str) -> Vec<(usize, &str)> {
    let (mut out, mut start, mut quote) = (Vec::new(), None, None);
    for (at, c) in rest.char_indices().chain([(rest.len(), ' ')]) {
        match (start, quote) {
            (_, Some(open)) => quote = quote.filter(|_| c != open),
            (Some(from), None) if c.is_whitespace() => {
                out.push((from, &rest[from..at]));
                start = None;
            }
            (None, None) if c == '#' => return out,
            (None, None) if c.is_whitespace() => {}
            _ => {
                start = start.or(Some(at));
                quote = Some(c).filter(|c| matches!(c, '"' | '\''));
            }
        }
    }
    out.extend(start.map(|from| (from, &rest[from..])));
    out
}

/// Whose GPUs these are: the card's vendor, else the vendor whose tools the script uses.
fn vendor(card: Option<&(String, Span)>, script: &str, place: Span) -> Fact<String> {
    let of_card = card.and_then(|(name, span)| Some(Fact::value(catalog::gpu(name)?.vendor.to_owned(), *span)));
    let uses = |words: &[&str]| words.iter().any(|word| script.contains(word));
    let of_tools = || match (uses(&["nvidia", "nvcr.io", "--nv ", "load cuda"]), uses(&["rocm", "--rocm ", "amd.com"]))
    {
        (true, false) => Fact::value("nvidia".to_owned(), place),
        (false, true) => Fact::value("amd".to_owned(), place),
        _ => Fact::unknown(Why::NotStated("whose GPUs the nodes have".into()), place),
    };
    of_card.unwrap_or_else(of_tools)
}

/// A GPU by its name at the site; what the catalog knows of it is joined later.
fn named(id: &str, span: Span) -> Gpu {
    let mut gpu = Gpu::blank(span);
    gpu.id = Fact::value(id.to_owned(), span);
    gpu
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_run_on_the_part_of_the_job_that_they_name() {
        let text = "#!/bin/bash\n#SBATCH -N 1 --gres=gpu:2\n#SBATCH hetjob\n#SBATCH -N 2 --gres=gpu:8\n\
                    srun --het-group=0 vllm serve m &\nsrun --het-group=1 torchrun t.py\nwait\n\
                    srun vllm serve a : --het-group=1 torchrun u.py\nsrun --het-group=0,1 torchrun v.py\n";
        let mut facts = Facts::default();
        read(SourceId(0), "a.sbatch", text, &mut facts);
        let known = |fact: &Fact<i64>| fact.get().copied().unwrap_or(-1);
        let steps: Vec<_> = facts.workloads.iter().map(|w| (known(&w.group_size), known(&w.pods[0].gpus))).collect();
        assert_eq!(steps, [(1, 2), (2, 8), (1, 2), (2, 8), (-1, -1)]);
    }

    #[test]
    fn what_sbatch_wraps_is_a_job_with_its_options() {
        let text =
            "#!/bin/bash\nsbatch --nodes=2 --gres=gpu:4 --wrap \"torchrun --nproc_per_node=8 t.py\"\nsbatch job.sh\n";
        let mut facts = Facts::default();
        read(SourceId(0), "submit.sh", text, &mut facts);
        let [job] = &facts.workloads[..] else { panic!("{}", facts.workloads.len()) };
        assert_eq!((job.group_size.get(), job.pods[0].gpus.get()), (Some(&2), Some(&4)));
    }

    #[test]
    fn directives_state_nodes_and_gpus() {
        let text = "#!/bin/bash\n#SBATCH --job-name=train --nodes=4\n#SBATCH --gres=gpu:8 # all\nset -e\n#SBATCH --nodes=9\nsrun torchrun --nnodes=4 --nproc-per-node=8 t.py\n";
        let mut facts = Facts::default();
        read(SourceId(0), "t.sbatch", text, &mut facts);
        let workload = &facts.workloads[0];
        assert_eq!(workload.group_size.get(), Some(&4));
        assert_eq!(&text[workload.group_size.span.range()], "4");
        assert_eq!(workload.gpus.get(), Some(&32));
        assert_eq!(&text[workload.pods[0].gpus.span.range()], "gpu:8");
        assert_eq!(workload.intent.get(), Some(&crate::facts::Intent::Training));
    }

    #[test]
    fn the_image_of_a_step_is_the_containers() {
        let text = "#!/bin/bash\n#SBATCH --gpus-per-node=v100:2\nsrun -n 2 --container-image=vllm/vllm-openai:v0.20.0 vllm serve m\n";
        let mut facts = Facts::default();
        read(SourceId(0), "t.sbatch", text, &mut facts);
        let container = &facts.workloads[0].pods[0].containers[0];
        assert_eq!(container.image.tag.get().map(String::as_str), Some("v0.20.0"));
        let launch = container.launch.as_ref().expect("a launch");
        assert_eq!(launch.engine.get().map(String::as_str), Some("vllm"));
    }

    /// The engine, the nodes and the processes of each node of what a file launches.
    fn launched(text: &str) -> Vec<(String, Option<i64>, Option<i64>)> {
        let mut facts = Facts::default();
        read(SourceId(0), "t.sh", text, &mut facts);
        let containers = facts.workloads.iter().flat_map(|workload| &workload.pods).flat_map(|pod| &pod.containers);
        let launches = containers.filter_map(|container| container.launch.as_deref());
        let engine = |launch: &crate::facts::Launch| launch.engine.get().cloned().unwrap_or_default();
        let known = |fact: &Fact<i64>| fact.get().copied();
        launches.map(|l| (engine(l), known(&l.nodes), known(&l.processes_per_node))).collect()
    }

    #[test]
    fn command_lines_in_variables_are_read_as_far_as_they_are_known() {
        let head = "MASTER=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\nN=4\n";
        let launcher = "\"python -u -m torch.distributed.run --nproc_per_node 8 --nnodes $N --master_addr $MASTER \"";
        for text in [
            format!("export LAUNCHER={launcher}\nexport CMD=\" `pwd`/train.py --x $Y\"\nsrun bash -c '$LAUNCHER --node_rank $SLURM_PROCID $CMD'\n"),
            format!("LAUNCHER={launcher}\nsrun bash -c \"$LAUNCHER --node_rank \\$SLURM_PROCID t.py\"\n"),
            format!("RUN={launcher}\neval $RUN t.py $MORE 2>&1\n"),
            format!("RUN={launcher}\n$PREFIX $RUN t.py\n"),
            "ARGS=(--nproc_per_node 8 --nnodes $N --master_addr $MASTER)\nsrun ${RESUME} -l \"${MORE[@]}\" torchrun \"${ARGS[@]}\" t.py\n".to_owned(),
            "cat >job.sbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=$N\nsrun torchrun --nnodes $N --nproc_per_node 8 t.py\nEOF\nsbatch job.sbatch\n".to_owned(),
            "sbatch <<'EOF'\n#!/bin/bash\ntorchrun --nnodes=4 --nproc_per_node=8 t.py\nEOF\n".to_owned(),
        ] {
            let text = format!("#!/bin/bash\n{head}{text}");
            assert_eq!(launched(&text), [("torchrun".to_owned(), Some(4), Some(8))], "{text}");
        }
        let open = launched("#!/bin/bash\nRUN=\"torchrun --nnodes 2 $OPTIONS\"\n$RUN t.py\n");
        assert_eq!(open, [("torchrun".to_owned(), Some(2), None)], "an option that nobody reads may say it");
        assert!(launched("cat >notes.txt <<EOF\ntorchrun t.py\nEOF\n").is_empty());
    }

    #[test]
    fn scripts_in_scripts_are_read_so_deep_only() {
        let nested = |depth: usize| {
            let inner = "torchrun --nnodes 1 t.py\n".to_owned();
            (0..depth).fold(inner, |inner, at| format!("bash <<'E{at}'\n{inner}E{at}\n"))
        };
        assert_eq!(launched(&nested(DEEPEST)).len(), 1);
        assert!(launched(&nested(DEEPEST + 1)).is_empty());
    }

    #[test]
    fn a_plain_script_is_no_job() {
        let mut facts = Facts::default();
        read(SourceId(0), "t.sh", "#!/bin/bash\npip install torch\n", &mut facts);
        assert!(facts.workloads.is_empty());
    }
}
