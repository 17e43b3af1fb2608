//! What Slurm grants a step of a job: nodes, and GPUs of each. Knows the options of sbatch and srun.

use super::scripts::{self, Step};
use super::wrappers::{self, base_name};
use crate::catalog;
use crate::known::{Fact, Known, Why};
use crate::parse::placeholder;
use crate::parse::shell::Word;
use crate::source::Span;
use std::collections::BTreeMap;

/// Options by their names without dashes, as they are written.
pub type Options = BTreeMap<String, Fact<String>>;

/// What a step has of the job.
pub struct Granted {
    /// Its nodes.
    pub nodes: Fact<i64>,
    /// The GPUs of each.
    pub gpus: Fact<i64>,
    /// The GPUs of all.
    pub all: Fact<i64>,
}

/// Options that state GPUs of each node.
const OF_NODE: [&str; 3] = ["gpus-per-node", "gres", "tres-per-node"];
/// Options that state GPUs of all nodes, together or for what runs on them.
const OF_ALL: [&str; 6] = ["gpus", "G", "gpus-per-task", "gpus-per-socket", "tres-per-task", "tres-per-job"];

/// What a step of a job is granted. What runs beside others shares the GPUs of the job, unless srun or
/// `CUDA_VISIBLE_DEVICES` say which it has; in a cluster of Ray it has those of all nodes.
pub fn granted(step: &Step, cluster: bool, (job, place): (&Options, Span)) -> Granted {
    let own = srun(&step.command.words);
    let states = |names: &[&str]| own.as_ref().is_some_and(|own| names.iter().any(|name| own.contains_key(*name)));
    let (own_gpus, own_nodes) = (states(&OF_NODE) || states(&OF_ALL), states(&["nodes", "N"]) && !cluster);
    let mut options = job.clone();
    let of_gpus = |name: &str| OF_NODE.contains(&name) || OF_ALL.contains(&name);
    let of_nodes = |name: &str| ["nodes", "N", "ntasks", "n", "ntasks-per-node"].contains(&name);
    options.retain(|name, _| !(own_gpus && of_gpus(name) || own_nodes && of_nodes(name)));
    let taken = own.iter().flatten().filter(|(name, _)| {
        let name = name.as_str();
        let tasks = ["ntasks", "n", "ntasks-per-node"].contains(&name);
        own_gpus && of_gpus(name) || own_nodes && ["nodes", "N"].contains(&name) || (own_gpus || own_nodes) && tasks
    });
    options.extend(taken.map(|(name, fact)| (name.clone(), fact.clone())));
    if let Some(parts) = job.get("hetjob") {
        let unknown = || Fact::unknown(Why::NotStated("which part of the job runs it".into()), parts.span);
        return Granted { nodes: unknown(), gpus: unknown(), all: unknown() };
    }
    let nodes = nodes(&options, place);
    let mut gpus = gpus(&options, &nodes, place);
    // What is stated for all nodes of the job says nothing of some of them.
    if own_nodes && !own_gpus && per_node(job).is_none() && !gpus.is_absent() {
        gpus = Fact::unknown(Why::NotStated("the GPUs of a node".into()), gpus.span);
    }
    // srun sets the variable itself.
    let visible = scripts::visible(&step.container).filter(|_| own.is_none());
    let stated = own_gpus || own_nodes || visible.is_some();
    if let Some(visible) = visible.filter(|_| !gpus.is_absent()) {
        gpus = visible;
    } else if step.beside && !stated && !gpus.is_absent() {
        gpus = Fact::unknown(Why::NotStated("how the steps of the job share its GPUs".into()), gpus.span);
    }
    let all = match (nodes.get(), gpus.get(), all(&options)) {
        (Some(nodes), Some(count), _) => Fact::value(nodes.saturating_mul(*count), gpus.span),
        (.., Some(all)) if own_gpus || !step.beside && !own_nodes => all,
        _ => Fact::unknown(Why::NotStated("the GPUs of a node".into()), place),
    };
    Granted { nodes, gpus, all }
}

/// How often a step starts its process on each node, where `srun` starts it: as its options say, else those of the job.
pub fn tasks(step: &Step, job: &Options) -> Option<Fact<i64>> {
    let own = srun(&step.command.words)?;
    let place = step.command.span;
    let unknown = |why: &str| Fact::unknown(Why::NotStated(why.into()), place);
    let other = ["ntasks-per-gpu", "ntasks-per-core", "ntasks-per-socket", "overcommit", "O", "hetjob", "multi-prog"];
    if other.iter().any(|name| own.contains_key(*name) || job.contains_key(*name)) {
        return Some(unknown("the tasks of a node"));
    }
    let stated = |options: &Options, names: &[&str]| names.iter().find_map(|name| options.get(*name)).map(number);
    let (all, each) = (&["ntasks", "n"], &["ntasks-per-node"]);
    // What the job states of all its nodes says nothing of a step on some of them.
    let moved = ["nodes", "N", "nodelist", "w"].iter().any(|name| own.contains_key(*name));
    let from_job = |names: &[&str]| stated(job, names).filter(|_| !moved);
    let nodes = || nodes(if moved { &own } else { job }, place);
    if let Some(each) = stated(&own, each) {
        return Some(each);
    }
    if let Some(tasks) = stated(&own, all).or_else(|| from_job(all)) {
        return Some(match (tasks.get(), nodes().get()) {
            (Some(count), Some(nodes @ 1..)) if count % nodes == 0 => Fact::value(count / nodes, tasks.span),
            _ => unknown("the tasks of a node"),
        });
    }
    if moved && (stated(job, all).is_some() || stated(job, each).is_some()) {
        return Some(unknown("the tasks of a node"));
    }
    Some(from_job(each).unwrap_or_else(|| Fact::value(1, place)))
}

/// The CPUs and the memory in bytes of each node of a job, as far as its directives state them.
/// <https://slurm.schedmd.com/sbatch.html>
pub fn host(job: &Options, gpus: &Fact<i64>) -> BTreeMap<String, Fact<f64>> {
    let place = gpus.span;
    let stated = |names: &[&str]| names.iter().find_map(|name| job.get(*name));
    let count = |names: &[&str]| stated(names).map(number);
    let each = count(&["ntasks-per-node"]);
    let tasks = match (&each, count(&["ntasks", "n"]), nodes(job, place).get()) {
        (Some(each), ..) => each.get().copied(),
        (None, None, _) => Some(1),
        (None, Some(all), Some(nodes @ 1..)) => all.get().filter(|&all| all % nodes == 0).map(|all| all / nodes),
        _ => None,
    };
    let times = |one: Fact<f64>, many: Option<i64>| {
        let why = || Known::Unknown(Why::NotStated("the tasks or the GPUs of a node".into()));
        one.and_then(|one| many.map_or_else(why, |many| Known::Value(one * many as f64)))
    };
    let real = |fact: Fact<i64>| fact.map(|n| n as f64);
    // A whole node has what it has.
    let whole = job.contains_key("exclusive") || job.contains_key("hetjob");
    let cpus = count(&["cpus-per-task", "c"]).map(|one| times(real(one), tasks));
    let cpus = cpus.or_else(|| count(&["cpus-per-gpu"]).map(|one| times(real(one), gpus.get().copied())));
    let memory = stated(&["mem"]).map(bytes);
    let memory = memory.or_else(|| stated(&["mem-per-gpu"]).map(|one| times(bytes(one), gpus.get().copied())));
    let memory = memory.filter(|memory| memory.get() != Some(&0.0));
    let named = [("cpu", cpus.filter(|_| !whole)), ("memory", memory.filter(|_| !job.contains_key("hetjob")))];
    named.into_iter().filter_map(|(name, fact)| Some((name.to_owned(), fact?))).collect()
}

/// Memory as Slurm writes it: `64G`, in MiB without a unit; 0 is all that the node has.
fn bytes(stated: &Fact<String>) -> Fact<f64> {
    stated.clone().and_then(|text| {
        let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let exponent = match unit.trim_end_matches(['B', 'b']) {
            "K" | "k" => 1,
            "" | "M" | "m" => 2,
            "G" | "g" => 3,
            "T" | "t" => 4,
            _ => return Known::Unknown(Why::Malformed(text.into())),
        };
        match digits.parse::<f64>() {
            Ok(number) => Known::Value(number * 1024f64.powi(exponent)),
            Err(_) => Known::Unknown(Why::Malformed(text.into())),
        }
    })
}

/// What Slurm sets a variable of a job's script to, as far as its directives tell.
pub fn variable(name: &str, job: &Options) -> Option<String> {
    let place = job.values().next()?.span;
    if job.contains_key("hetjob") {
        return None;
    }
    let stated = |names: &[&str]| number(names.iter().find_map(|name| job.get(*name))?).get().copied();
    let number = match name {
        "SLURM_NNODES" | "SLURM_JOB_NUM_NODES" => nodes(job, place).get().copied(),
        "SLURM_NTASKS" | "SLURM_NPROCS" => stated(&["ntasks", "n"]),
        "SLURM_NTASKS_PER_NODE" => stated(&["ntasks-per-node"]),
        "SLURM_CPUS_PER_TASK" => stated(&["cpus-per-task", "c"]),
        "SLURM_GPUS_ON_NODE" => gpus(job, &nodes(job, place), place).get().copied(),
        _ => None,
    };
    number.map(|number| number.to_string())
}

/// What Slurm sets a variable to for what a command starts: as for the job, unless `srun` gives it nodes or tasks of its own.
pub fn variable_of_step(name: &str, words: &[Word], job: &Options) -> Option<String> {
    let own = srun(words).unwrap_or_default();
    let shape = ["nodes", "N", "nodelist", "w", "ntasks", "n", "ntasks-per-node", "hetjob"];
    let of_task = if name == "SLURM_CPUS_PER_TASK" { &["cpus-per-task", "c"][..] } else { &[] };
    let options = shape.iter().chain(&OF_NODE).chain(&OF_ALL).chain(of_task);
    let reshaped = options.into_iter().any(|option| own.contains_key(*option));
    if reshaped { None } else { variable(name, job) }
}

/// The part of a job of several that a command runs on: the first, unless `srun` names another one; `None` where it runs on
/// more than one. <https://slurm.schedmd.com/heterogeneous_jobs.html>
pub fn part(words: &[Word]) -> Option<usize> {
    let own = srun(words).unwrap_or_default();
    match ["het-group", "pack-group"].iter().find_map(|name| own.get(*name)) {
        Some(group) => group.get()?.parse().ok(),
        None => Some(0),
    }
}

/// The options of the `srun` among some words; `None` where there is none.
fn srun(words: &[Word]) -> Option<Options> {
    let programs = wrappers::programs(words);
    let at = programs.iter().position(|at| base_name(words[*at].text()) == "srun")?;
    let wrapper = catalog::wrappers("srun").next()?;
    let end = programs.get(at + 1).copied().unwrap_or(words.len());
    let mut rest = words[programs[at] + 1..end].iter();
    let mut out = Options::new();
    while let Some(word) = rest.next() {
        let Some(option) = word.text().strip_prefix('-') else { break };
        let long = option.strip_prefix('-');
        let (name, inline) = match long {
            Some(long) => long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))),
            // `-N2`
            None => option.split_at_checked(1).map_or((option, None), |(name, value)| {
                (name, Some(value.trim_start_matches('=')).filter(|value| !value.is_empty()))
            }),
        };
        let end = word.text().len();
        let value = match inline {
            Some(value) => Some((word.traced().slice(end - value.len()..end), word.expands)),
            None if wrapper.takes_value(name) => rest.next().map(|value| (value.traced().clone(), value.expands)),
            None => None,
        };
        let Some((value, expands)) = value else { continue };
        let why = placeholder(value.text()).or_else(|| expands.then(|| Why::Variable(name.into())));
        let fact = match why {
            Some(why) => Fact::unknown(why, value.whole()),
            None => Fact::value(value.text().to_owned(), value.whole()),
        };
        out.insert(name.to_owned(), fact);
    }
    Some(out)
}

fn number(fact: &Fact<String>) -> Fact<i64> {
    fact.clone().and_then(|text| match text.parse() {
        Ok(number) => Known::Value(number),
        Err(_) if text.contains('-') => Known::Unknown(Why::Ambiguous(text.into())),
        Err(_) => Known::Unknown(Why::Malformed(text.into())),
    })
}

/// The nodes of the job: stated, or as many as its tasks and GPUs need.
fn nodes(options: &Options, place: Span) -> Fact<i64> {
    let stated = |names: [&str; 2]| names.iter().find_map(|name| options.get(*name)).map(number);
    if let Some(nodes) = stated(["nodes", "N"]) {
        return nodes;
    }
    let (all, each) = (stated(["ntasks", "n"]), options.get("ntasks-per-node").map(number));
    let named = ["nodelist", "w", "nodefile", "F"].iter().any(|name| options.contains_key(*name));
    match (all.as_ref().map(Fact::get), each.as_ref().map(Fact::get), stated(["gpus", "G"])) {
        (Some(Some(all @ 1..)), Some(Some(each @ 1..)), _) => Fact::value((all - 1) / each + 1, place),
        (None | Some(Some(1)), _, None) if !named => Fact::value(1, place),
        _ => Fact::unknown(Why::NotStated("how many nodes the job gets".into()), place),
    }
}

/// GPUs of a node: `--gpus-per-node=h100:8`, `--gres=gpu:a100:8`; nothing on clusters that give whole nodes. GPUs that are
/// stated for the job or its tasks are so many on all of its nodes.
fn gpus(options: &Options, nodes: &Fact<i64>, place: Span) -> Fact<i64> {
    if let Some(stated) = per_node(options) {
        return stated.and_then(|kinds| kinds.iter().map(|kind| count_of(kind)).fold(Known::Value(0), Known::plus));
    }
    let elsewhere = |fact: &&Fact<String>| fact.get().is_none_or(|text| !text.contains('=') || text.contains("gpu"));
    let Some(other) = OF_ALL.iter().find_map(|name| options.get(*name)).filter(elsewhere) else {
        return Fact::absent(place);
    };
    match (all(options), nodes.get()) {
        (Some(all), Some(1)) => all,
        _ => per_task(options, &["ntasks-per-node"])
            .unwrap_or_else(|| Fact::unknown(Why::NotStated("how the GPUs are spread over nodes".into()), other.span)),
    }
}

/// The GPUs that are stated for all nodes together.
fn all(options: &Options) -> Option<Fact<i64>> {
    let stated = ["gpus", "G"].iter().find_map(|name| options.get(*name));
    stated.map(|all| all.clone().and_then(|text| count_of(&text))).or_else(|| per_task(options, &["ntasks", "n"]))
}

/// The GPUs of so many tasks as an option states.
fn per_task(options: &Options, tasks: &[&str]) -> Option<Fact<i64>> {
    let each = options.get("gpus-per-task")?.clone().and_then(|text| count_of(&text));
    let tasks = number(tasks.iter().find_map(|name| options.get(*name))?);
    Some(Fact::value(each.get()?.checked_mul(*tasks.get()?)?, each.span))
}

/// What is stated of the GPUs of one node, each kind without the word `gpu`: `a100:8`, `8`, `a100`, nothing for one.
fn per_node(options: &Options) -> Option<Fact<Vec<String>>> {
    let split = |stated: &Fact<String>| stated.clone().map(|text| text.split(',').map(str::to_owned).collect());
    if let Some(stated) = options.get("gpus-per-node") {
        return Some(split(stated));
    }
    let gres = ["gres", "tres-per-node"].iter().find_map(|name| options.get(*name))?;
    let gpu = |resource: &String| {
        let gpu = resource.trim().trim_start_matches("gres/").strip_prefix("gpu")?;
        (gpu.is_empty() || gpu.starts_with([':', '='])).then(|| gpu.trim_start_matches([':', '=']).to_owned())
    };
    let gpus: Fact<Vec<String>> = split(gres).map(|all: Vec<String>| all.iter().filter_map(gpu).collect());
    Some(gpus).filter(|gpus| gpus.get().is_none_or(|gpus| !gpus.is_empty()))
}

/// The number in `a100:8`, `8`, `a100:8(S:0-1)`; a type alone is one of it.
fn count_of(text: &str) -> Known<i64> {
    let text = text.split('(').next().unwrap_or(text);
    let last = text.rsplit([':', '=']).next().unwrap_or(text);
    match last.parse() {
        Ok(count) => Known::Value(count),
        Err(_) if !text.contains(':') => Known::Value(1),
        Err(_) => Known::Unknown(Why::Malformed(text.into())),
    }
}

/// The card that an option names, or a feature of the nodes that is called like one.
pub fn card(options: &Options) -> Option<(String, Span)> {
    let of_nodes = || {
        let feature = ["constraint", "C"].iter().find_map(|name| options.get(*name))?;
        let name = feature.get().filter(|name| catalog::gpus_called(name).next().is_some())?;
        Some((name.clone(), feature.span))
    };
    of_gpus(options).or_else(of_nodes)
}

fn of_gpus(options: &Options) -> Option<(String, Span)> {
    // Nodes with several kinds of cards have no card of which one could speak.
    let of_nodes = per_node(options).map(|kinds| {
        kinds.and_then(|kinds| match &kinds[..] {
            [one] => Known::Value(one.clone()),
            _ => Known::Unknown(Why::Ambiguous(kinds.join(", ").into())),
        })
    });
    let stated = of_nodes.or_else(|| options.get("gpus").or_else(|| options.get("G")).cloned())?;
    let (name, counted) =
        stated.get()?.split_once(':').map_or((stated.get()?.as_str(), false), |(name, _)| (name, true));
    (!name.is_empty() && (counted || name.parse::<i64>().is_err())).then(|| (name.to_owned(), stated.span))
}

#[cfg(test)]
mod tests {
    use crate::facts::Facts;
    use crate::source::SourceId;

    /// The engine, the nodes and the GPUs of each node of what a job runs; -1 for what is not known.
    fn steps(text: &str) -> Vec<(String, i64, i64)> {
        let mut facts = Facts::default();
        let text = format!("#!/bin/bash\n{text}");
        crate::extract::slurm::read(SourceId(0), "t.sbatch", &text, &mut facts);
        let step = |workload: &crate::facts::Workload| {
            let container = &workload.pods[0].containers[0];
            let engine = container.launch.as_ref().and_then(|launch| launch.engine.get().cloned());
            let known = |fact: &crate::known::Fact<i64>| fact.get().copied().unwrap_or(-1);
            (engine.unwrap_or_default(), known(&workload.group_size), known(&workload.pods[0].gpus))
        };
        facts.workloads.iter().map(step).collect()
    }

    #[test]
    fn a_job_gives_its_steps_its_gpus() {
        let four = "#SBATCH --nodes=2 --gres=gpu:4\n";
        for (script, expected) in [
            ("torchrun a.py\ntorchrun b.py", vec![("torchrun", 2, 4), ("torchrun", 2, 4)]),
            ("vllm serve a &\nvllm serve b", vec![("vllm", 2, -1), ("vllm", 2, -1)]),
            ("vllm serve a &\nwait\nvllm serve b", vec![("vllm", 2, 4), ("vllm", 2, 4)]),
            (
                "CUDA_VISIBLE_DEVICES=0,1 vllm serve a &\nCUDA_VISIBLE_DEVICES=2 vllm serve b",
                vec![("vllm", 2, 2), ("vllm", 2, 1)],
            ),
            ("for i in 0 1; do CUDA_VISIBLE_DEVICES=$i vllm serve a & done", vec![("vllm", 2, -1)]),
            ("for i in 0 1; do vllm serve a & done", vec![("vllm", 2, -1)]),
            (
                "srun -N1 -w $A vllm serve a &\nsrun --nodes=1 --gres=gpu:2 bash -c 'vllm serve b' &",
                vec![("vllm", 1, 4), ("vllm", 1, 2)],
            ),
            ("ray start --head\nvllm serve m", vec![("vllm", 2, 4)]),
            ("srun -N1 ray start --head --block &\nsrun -N 1 vllm serve m", vec![("vllm", 2, 4)]),
            ("srun ray start --head --block", vec![("ray", 2, 4)]),
            ("srun ./a.out", vec![("", 2, 4)]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(name, n, g)| (name.to_owned(), n, g)).collect();
            assert_eq!(steps(&format!("{four}{script}\n")), expected, "{script}");
        }
    }

    #[test]
    fn variables_of_slurm_are_what_the_directives_say() {
        let mut facts = Facts::default();
        let text = "#!/bin/bash\n#SBATCH --nodes=2 --gres=gpu:8\nWORLD=$(($SLURM_NNODES * SLURM_GPUS_ON_NODE))\n\
                    torchrun --nnodes $SLURM_JOB_NUM_NODES --nproc_per_node $SLURM_GPUS_ON_NODE t.py --world $WORLD --n $SLURM_NTASKS\n";
        crate::extract::slurm::read(SourceId(0), "t.sb", text, &mut facts);
        let launch = facts.workloads[0].pods[0].containers[0].launch.as_ref().expect("a launch");
        assert_eq!((launch.nodes.get(), launch.processes_per_node.get()), (Some(&2), Some(&8)));
        assert_eq!(launch.flags["world"].get().map(String::as_str), Some("16"));
        assert!(launch.flags["n"].is_unknown());
    }

    #[test]
    fn gpus_of_tasks_are_those_of_the_nodes_that_they_run_on() {
        for (options, expected) in [
            ("--nodes=2 --ntasks-per-node=4 --gpus-per-task=1", (2, 4)),
            ("--nodes=1 --ntasks=8 --gpus-per-task=h100:1", (1, 8)),
            ("--nodes=2 --ntasks=8 --gpus-per-task=1", (2, -1)),
            ("-N 1 -G 4", (1, 4)),
            ("-N2 --gres=gpu:4 # was -N 4 --gres=gpu:8", (2, 4)),
            ("-N\t2\t--gres\tgpu:8", (2, 8)),
            ("-N 1 --comment=\"sweep -N 2 --gres=gpu:1\" --gres=gpu:4", (1, 4)),
            ("-N 1 --gres=gpu:a100:2,gpu:v100:2", (1, 4)),
            ("--nodelist=gpu[01-04] --gres=gpu:4", (-1, 4)),
            ("--ntasks=9223372036854775807 --ntasks-per-node=2 --gres=gpu:4", (i64::MAX / 2 + 1, 4)),
            ("-N 2 --gpus=a100:16", (2, -1)),
            ("-N 1 --gres=gpu:8\n#SBATCH hetjob\n#SBATCH -N 4", (1, 8)),
        ] {
            let (nodes, gpus) = expected;
            let steps = steps(&format!("#SBATCH {options}\nsrun torchrun t.py\n"));
            assert_eq!(steps, [("torchrun".to_owned(), nodes, gpus)], "{options}");
        }
    }

    #[test]
    fn gpus_of_all_nodes_of_a_job_are_not_those_of_a_step_on_some() {
        let of_step = |gpus: &str| steps(&format!("#SBATCH -N 2 {gpus}\nsrun -N1 torchrun t.py\n"));
        assert_eq!(of_step("-G 16"), [("torchrun".to_owned(), 1, -1)]);
        assert_eq!(of_step("--gres=gpu:8"), [("torchrun".to_owned(), 1, 8)]);
    }
}
