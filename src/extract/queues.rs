//! Directives of PBS, LSF and Grid Engine, in the words of Slurm: nodes, and GPUs of each or of all. Knows the options of
//! both programs called `qsub` and of `bsub`.

use super::allocation::Options;
use crate::facts::WorkloadFormat;
use crate::known::{Fact, Why};
use crate::parse::shell::{self, Word};
use crate::source::{Span, Traced};

/// What queues the jobs of scripts.
#[derive(Clone, Copy)]
pub struct Scheduler {
    /// The format of its jobs.
    pub format: WorkloadFormat,
    /// The command that takes a script.
    pub command: &'static str,
    /// What it is called.
    pub name: &'static str,
}

impl Scheduler {
    /// Slurm.
    pub const SLURM: Scheduler = Scheduler { format: WorkloadFormat::Slurm, command: "sbatch", name: "slurm" };
    const PBS: Scheduler = Scheduler { format: WorkloadFormat::Pbs, command: "qsub", name: "pbs" };
    const SGE: Scheduler = Scheduler { format: WorkloadFormat::Sge, command: "qsub", name: "sge" };
    const LSF: Scheduler = Scheduler { format: WorkloadFormat::Lsf, command: "bsub", name: "lsf" };
}

/// How the scripts of a scheduler state what they need.
pub struct Queue {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// What its directives begin with.
    mark: &'static str,
    read: fn(&[Word], &mut Options),
}

/// All of them but Slurm.
pub const QUEUES: [Queue; 3] = [
    Queue { scheduler: Scheduler::PBS, mark: "#PBS", read: pbs },
    Queue { scheduler: Scheduler::LSF, mark: "#BSUB", read: lsf },
    Queue { scheduler: Scheduler::SGE, mark: "#$", read: sge },
];

impl Queue {
    /// What the directives before the first command of a script say.
    pub fn options(&self, script: &Traced) -> Options {
        let mut words = Vec::new();
        let mut offset = 0;
        for line in script.text().split_inclusive('\n') {
            let from = offset;
            offset += line.len();
            match line.strip_prefix(self.mark).filter(|rest| rest.starts_with([' ', '\t', '-'])) {
                Some(rest) => {
                    let option = shell::parse(&script.slice(from + line.len() - rest.len()..offset));
                    words.extend(option.commands.into_iter().flat_map(|command| command.words));
                }
                None if line.starts_with('#') || line.trim().is_empty() => {}
                None => break,
            }
        }
        let mut out = Options::new();
        (self.read)(&words, &mut out);
        out
    }
}

/// The values of a short option: `-l a`, `-la`.
fn values<'w>(words: &'w [Word], option: &'w str) -> impl Iterator<Item = Traced> + 'w {
    words.iter().enumerate().filter_map(move |(at, word)| match word.text().strip_prefix(option)? {
        "" => Some(words.get(at + 1)?.traced().clone()),
        inline if option.len() == 2 => Some(word.traced().slice(word.text().len() - inline.len()..word.text().len())),
        _ => None,
    })
}

/// The parts of a text between separators.
fn parts<'t>(text: &'t Traced, separator: char) -> impl Iterator<Item = Traced> + 't {
    let mut at = 0;
    text.text().split(separator).map(move |part| {
        let from = at;
        at += part.len() + separator.len_utf8();
        text.slice(from..from + part.len())
    })
}

fn fact(text: &Traced) -> Fact<String> {
    match text.text().contains('$') {
        true => Fact::unknown(Why::Variable(text.text().into()), text.whole()),
        false => Fact::value(text.text().to_owned(), text.span(0..text.text().len())),
    }
}

/// The value of `name=value`.
fn assigned(text: &Traced, names: &[&str]) -> Option<Traced> {
    let (name, value) = text.text().split_once('=')?;
    names.contains(&name.trim()).then(|| text.slice(text.text().len() - value.len()..text.text().len()))
}

fn put(out: &mut Options, name: &str, fact: Fact<String>) {
    out.insert(name.to_owned(), fact);
}

fn open(why: &str, place: Span) -> Fact<String> {
    Fact::unknown(Why::NotStated(why.into()), place)
}

/// `-l select=2:ncpus=32:ngpus=4 -l place=scatter`, `-l nodes=2:ppn=8:gpus=4`, `-l ngpus=4`. Chunks may share a node where
/// they are not scattered.
fn pbs(words: &[Word], out: &mut Options) {
    if let Some(name) = values(words, "-N").next() {
        put(out, "job-name", fact(&name));
    }
    let lists: Vec<Traced> = values(words, "-l").collect();
    let resources: Vec<Traced> = lists.iter().flat_map(|list| parts(list, ',').collect::<Vec<_>>()).collect();
    let stated = |names: &[&str]| resources.iter().find_map(|resource| assigned(resource, names));
    let scattered = stated(&["place"]).is_some_and(|place| place.text().starts_with("scatter"));
    if let Some(all) = stated(&["ngpus"]) {
        put(out, "gpus", fact(&all));
        put(out, "nodes", open("on how many nodes PBS places the job", all.whole()));
    }
    for (name, gpus) in [("select", "ngpus"), ("nodes", "gpus")] {
        let Some(chunks) = stated(&[name]) else { continue };
        if chunks.text().contains('+') {
            put(out, "hetjob", fact(&chunks));
            continue;
        }
        let parts: Vec<Traced> = parts(&chunks, ':').collect();
        let count = parts.first().filter(|part| !part.text().contains('=')).cloned();
        let count = count.unwrap_or_else(|| Traced::opaque("1", chunks.whole()));
        let each = parts.iter().find_map(|part| assigned(part, &[gpus]));
        let card = parts.iter().find_map(|part| assigned(part, &["gpu_type", "gputype", "gpu_model", "gpu_name"]));
        let whole = name == "nodes" || scattered || count.text() == "1";
        let (nodes, of_node) = match whole {
            true => (fact(&count), "gpus-per-node"),
            false => (open("on how many nodes PBS places the chunks", count.whole()), "gpus-per-chunk"),
        };
        put(out, "nodes", nodes);
        let Some(each) = each else { continue };
        let named = |count: String| match card.as_ref().filter(|_| whole) {
            Some(card) => format!("{}:{count}", card.text()),
            None => count,
        };
        put(out, of_node, fact(&each).map(named));
        if let (false, Ok(chunks), Ok(gpus)) = (whole, count.text().parse::<i64>(), each.text().parse::<i64>()) {
            let all = chunks.saturating_mul(gpus);
            let all = card.as_ref().map_or(all.to_string(), |card| format!("{}:{all}", card.text()));
            put(out, "gpus", Fact::value(all, each.whole()));
        }
    }
}

/// `-l gpu=2,gpu_type=A100 -pe smp 8`. What a resource is called is left to the site, and so is whether it is counted for
/// each slot of a parallel environment or for all.
fn sge(words: &[Word], out: &mut Options) {
    if let Some(name) = values(words, "-N").next() {
        put(out, "job-name", fact(&name));
    }
    let lists: Vec<Traced> = values(words, "-l").collect();
    let resources: Vec<Traced> = lists.iter().flat_map(|list| parts(list, ',').collect::<Vec<_>>()).collect();
    let stated = |names: &[&str]| resources.iter().find_map(|resource| assigned(resource, names));
    let environment = words.iter().position(|word| word.text() == "-pe").and_then(|at| words.get(at + 2));
    let several = environment.filter(|slots| slots.text() != "1");
    let Some(gpus) = stated(&["gpu", "gpus", "ngpus", "gpu_card", "cuda"]) else { return };
    let card = stated(&["gpu_type", "gputype", "gpu_model", "gpu_name"]);
    let named = |count: String| card.as_ref().map_or(count.clone(), |card| format!("{}:{count}", card.text()));
    match several {
        Some(slots) => {
            put(out, "nodes", open("on how many nodes Grid Engine places the slots", slots.span()));
            put(out, "gpus-per-node", open("whether the site counts GPUs for each slot or for all", gpus.whole()));
        }
        None => {
            put(out, "nodes", Fact::value("1".to_owned(), gpus.whole()));
            put(out, "gpus-per-node", fact(&gpus).map(named));
        }
    }
}

/// `-n 8 -R "span[ptile=4]" -gpu "num=4:mode=exclusive_process"`. GPUs are those of each host.
fn lsf(words: &[Word], out: &mut Options) {
    if let Some(name) = values(words, "-J").next() {
        put(out, "job-name", fact(&name).map(|name| name.split('[').next().unwrap_or_default().to_owned()));
    }
    let needs: Vec<Traced> = values(words, "-R").collect();
    // `span[ptile=4]`, whatever stands around it.
    let within = |name: &str| {
        needs.iter().find_map(|need| {
            let from = need.text().find(name)? + name.len();
            let end = need.text()[from..].find([']', ',', ':', ' '])?;
            Some(need.slice(from..from + end))
        })
    };
    let tasks = values(words, "-n").next();
    let place = tasks.as_ref().or(needs.first()).map(Traced::whole).or(words.first().map(Word::span));
    let Some(place) = place else { return };
    let number = |text: &Traced| text.text().parse::<i64>().ok();
    let nodes = match (values(words, "-nnodes").next(), within("span[ptile="), &tasks) {
        (Some(nodes), ..) => fact(&nodes),
        (None, Some(each), Some(tasks)) => match (number(tasks), number(&each)) {
            (Some(tasks @ 1..), Some(each @ 1..)) => Fact::value((1 + (tasks - 1) / each).to_string(), place),
            _ => open("how many hosts LSF gives", place),
        },
        (None, _, tasks) => match tasks.as_ref().map_or(Some(1), number) {
            Some(1) => Fact::value("1".to_owned(), place),
            _ if within("span[hosts=").is_some_and(|hosts| hosts.text() == "1") => Fact::value("1".to_owned(), place),
            _ => open("how many hosts LSF gives", place),
        },
    };
    put(out, "nodes", nodes);
    let reserved = ["ngpus_excl_p=", "ngpus_physical=", "ngpus_shared="].iter().find_map(|name| within(name));
    if let Some(gpus) = values(words, "-gpu").last() {
        let stated: Vec<Traced> = parts(&gpus, ':').collect();
        let count = stated.iter().find_map(|part| assigned(part, &["num"]));
        let card = stated.iter().find_map(|part| assigned(part, &["gmodel"]));
        let count =
            count.map_or(Fact::value("1".to_owned(), gpus.whole()), |count| match count.text().split_once('/') {
                Some((number, "host")) => fact(&count.slice(0..number.len())),
                Some(_) => open("the GPUs of a host: they are stated for each task", count.whole()),
                None => fact(&count),
            });
        put(
            out,
            "gpus-per-node",
            count.map(|count| card.map_or(count.clone(), |card| format!("{}:{count}", card.text()))),
        );
    } else if let Some(reserved) = reserved {
        put(out, "gpus-per-node", open("whether LSF reserves GPUs for each host or each slot", reserved.whole()));
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::Facts;
    use crate::source::SourceId;

    /// The format, the nodes, the GPUs of each and of all that a job gets; -1 for what is not known.
    fn job(directives: &str) -> (String, i64, i64, i64) {
        let mut facts = Facts::default();
        let text = format!("#!/bin/bash\n{directives}\n\ntorchrun train.py\n");
        crate::extract::slurm::read(SourceId(0), "job.sh", &text, &mut facts);
        let [job] = &facts.workloads[..] else { panic!("one workload for {directives}") };
        let known = |fact: &crate::known::Fact<i64>| fact.get().copied().unwrap_or(-1);
        let format = job.format.get().map_or_else(String::new, |format| format.to_string());
        (format, known(&job.group_size), known(&job.pods[0].gpus), known(&job.gpus))
    }

    #[test]
    fn directives_state_nodes_and_gpus() {
        for (directives, format, nodes, gpus, all) in [
            ("#PBS -l select=2:ncpus=8:ngpus=4\n#PBS -l place=scatter", "pbs", 2, 4, 8),
            ("#PBS -lselect=1:ngpus=4:gpu_type=A100,walltime=1:00:00", "pbs", 1, 4, 4),
            ("#PBS -l select=ngpus=2", "pbs", 1, 2, 2),
            ("#PBS -l select=4:ngpus=1", "pbs", -1, -1, 4),
            ("#PBS -l select=1:ngpus=4+2:ncpus=8", "pbs", -1, -1, -1),
            ("#PBS -l nodes=2:ppn=8:gpus=2", "pbs", 2, 2, 4),
            ("#PBS -l ngpus=8\n#PBS -l ncpus=96", "pbs", -1, -1, 8),
            ("#PBS -N a\n#PBS -l select=$N:ngpus=4\n#PBS -l place=scatter", "pbs", -1, 4, -1),
            ("#BSUB -n 16\n#BSUB -R \"rusage[mem=4] span[ptile=8]\"\n#BSUB -gpu \"num=4:mode=shared\"", "lsf", 2, 4, 8),
            ("#BSUB -n 8\n#BSUB -R span[hosts=1]\n#BSUB -gpu num=4", "lsf", 1, 4, 4),
            ("#BSUB -nnodes 2\n#BSUB -gpu \"num=6/host\"", "lsf", 2, 6, 12),
            ("#BSUB -n 8\n#BSUB -gpu -", "lsf", -1, 1, -1),
            ("#BSUB -n 2\n#BSUB -gpu \"num=1/task\"", "lsf", -1, -1, -1),
            ("#BSUB -R \"rusage[ngpus_excl_p=2]\"", "lsf", 1, -1, -1),
            ("#$ -S /bin/bash\n#$ -cwd -l gpu=2,h_rt=1:00:00", "sge", 1, 2, 2),
            ("#$ -l gpu=1\n#$ -pe smp 8", "sge", -1, -1, -1),
            ("#$ -l gpus=$N -N a", "sge", 1, -1, -1),
        ] {
            assert_eq!(job(directives), (format.to_owned(), nodes, gpus, all), "{directives}");
        }
        assert_eq!(job("##BSUB -gpu num=4\n#PBSX -l ngpus=1").0, "script");
        assert_eq!(job("#$ -cwd -l h_vmem=4G").0, "script", "nothing says that it has GPUs");
        assert_eq!(job("echo a\n#PBS -l ngpus=1").0, "script", "qsub reads none behind a command");
    }
}
