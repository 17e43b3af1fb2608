//! Commands of scripts that state what a document would: containers that are run, charts that are installed, pools and
//! machines that are made, and manifests that are written out. Each is read as the document that says the same. Knows the
//! options of their programs; runs nothing. Of several branches all are read: each says what may be deployed.

use super::written::{self, Document, Given, parts, stated};
use super::{compose, embedded, kubernetes, machines, slurm, wrappers};
use crate::budget::{NODE, Share};
use crate::catalog;
use crate::facts::{
    Cluster, Facts, HelmRelease, InfraFormat, NodePool, ReleaseFormat, Submission, Workload, WorkloadFormat,
};
use crate::known::{Fact, Known, Why};
use crate::parse::shell::{self, Heredoc, Script, Word};
use crate::parse::{Builder, Dialect, NodeKind, Problem, Raw, merged};
use crate::source::Traced;
use crate::version::Version;
use std::sync::Arc;

/// Reads what the commands of a script state, and the objects that it writes out. The script has its variables put in.
pub fn read(script: &Script, facts: &mut Facts) {
    read_to(script, slurm::DEEPEST, facts);
    facts.clusters.extend(installed(script).map(Arc::new));
}

/// Adds the commands of a script as a raw object of kind [`SCRIPT`]: `commands` with the `text` of each, what it assigns and its
/// words without their quotes, and whether it runs in the `background`.
pub fn listed(script: &Script, whole: &Traced, path: &str, facts: &mut Facts) {
    let (place, share) = (whole.whole(), Share::least(whole.text().len()));
    let mut builder = Builder::new(place.source, Dialect::Typed);
    let mut commands = Vec::new();
    for command in &script.commands {
        let assigned = command.assignments.iter().map(|(name, value)| format!("{name}={}", value.text()));
        let words: Vec<String> = assigned.chain(command.words.iter().map(|word| word.text().to_owned())).collect();
        let (text, span) = (words.join(" "), command.span);
        if let Err(spent) = share.make(3 * NODE + text.len()) {
            facts.cut.push(Problem { span, message: format!("commands as they are written, from here on: {spent}") });
            break;
        }
        let mut scalar =
            |text: String, plain| builder.add(NodeKind::Scalar { text: Traced::opaque(text, span), plain }, span);
        let entries = [("text", scalar(text, false)), ("background", scalar(command.background.to_string(), true))];
        commands.push(slurm::map(&mut builder, span, &entries));
    }
    if commands.is_empty() {
        return;
    }
    let list = builder.add(NodeKind::Seq(commands), place);
    let root = slurm::map(&mut builder, place, &[("commands", list)]);
    builder.tree().documents.push(root);
    let tree = Arc::new(builder.finish());
    facts.objects.push(Arc::new(embedded::object(&tree, tree.node(root), SCRIPT, path)));
}

/// What rules ask for as the commands of a script.
pub const SCRIPT: &str = "ShellScript";

/// Where k3s and RKE2 are installed from.
pub(super) const FROM: [(&str, &str); 2] = [("get.k3s.io", "k3s"), ("get.rke2.io", "rke2")];

/// The cluster that a script makes of the machine: what it hands to a shell comes from where k3s and RKE2 are installed
/// from. Whether NVIDIA's runtime is made the default of its containerd is another question, which answers that nothing is
/// told here.
fn installed(script: &Script) -> Option<Cluster> {
    const DEFAULTS: [&str; 3] = ["default-runtime", "default_runtime", "set-as-default"];
    let words = || script.commands.iter().flat_map(|command| command.words.iter().chain(&command.redirections));
    let texts = words().map(Word::text).chain(script.heredocs.iter().map(|heredoc| heredoc.text.text()));
    if texts.clone().any(|text| DEFAULTS.iter().any(|sign| text.contains(sign))) {
        return None;
    }
    // What a shell puts among the options of the installation may say it.
    let open = |command: &shell::Command| {
        let shell = command.words.iter().position(|word| shell::is_shell(word.text()));
        let behind = shell.map_or(&[][..], |at| &command.words[at..]);
        behind.iter().any(|word| word.expands)
            || command.words.iter().any(|word| word.text().starts_with("INSTALL_K3S_EXEC=") && word.expands)
    };
    if script.commands.iter().any(open) {
        return None;
    }
    let found = words().find_map(|word| {
        let (_, platform) = FROM.iter().find(|(host, _)| word.text().contains(&format!("://{host}")))?;
        Some((*platform, word.span()))
    });
    let (platform, span) = found?;
    let mut out = Cluster::blank(span);
    out.format = Fact::value(InfraFormat::Shell, span);
    out.platform = Fact::value(platform.to_owned(), span);
    Some(out)
}

/// The options of a command that submits a job, and what follows them.
fn submission(program: &'static str, words: &[Word]) -> Submission {
    let words = words.iter().map(|word| word.traced().clone()).collect();
    Submission { program, words, directive: false, ends: true }
}

/// The same with what it hands to shells, down to a depth.
fn read_to(script: &Script, depth: usize, facts: &mut Facts) {
    for command in &script.commands {
        let words = &command.words;
        let quoted = depth > 0 && words.iter().any(|word| word.text().contains(' '));
        if let Some(inner) =
            Some(command).filter(|_| quoted && wrappers::image(words).is_none()).and_then(wrappers::inner)
        {
            read_to(&inner, depth - 1, facts);
        }
        for at in wrappers::programs(words) {
            match wrappers::base_name(words[at].text()) {
                "docker" | "podman" | "nerdctl" => facts.workloads.extend(container(words, at)),
                "helm" | "helm3" | "microk8s.helm" | "microk8s.helm3" => {
                    facts.releases.extend(release(words, at).map(Arc::new))
                }
                "runai" => submitted(words, at, facts),
                "kubectl" | "oc" => submitted(words, at, facts),
                "sbatch" => facts.submissions.push(submission("sbatch", &words[at + 1..])),
                "salloc" => facts.submissions.push(submission("salloc", &words[at + 1..])),
                "srun" => facts.submissions.push(submission("srun", &words[at + 1..])),
                program => {
                    facts.pools.extend(pool(program, words, at).map(Arc::new));
                    facts.clusters.extend(cluster(program, words, at).map(Arc::new));
                    if program == "gcloud" {
                        submitted(words, at, facts);
                    }
                }
            }
        }
    }
    for heredoc in &script.heredocs {
        let read = |facts: &mut Facts| kubernetes::text(&heredoc.text, facts);
        if is_kept(script, heredoc) {
            read(facts)
        } else {
            kubernetes::drafted(facts, read)
        }
        let mut redirections = script.command_of(heredoc).into_iter().flat_map(|command| &command.redirections);
        if let Some(file) = redirections.find_map(|word| word.text().split_once('>')) {
            embedded::text(&heredoc.text, file.1.trim_matches(['>', '|', ' ']), facts);
        }
    }
}

/// What the catalog says of a command that ends machines.
const ENDED: &str = "EndedMachines";

/// So many bytes of scripts are held beside the commands that end machines in one of them, each of which has the whole.
const MOST_AROUND: usize = 1 << 22;

/// Each command that ends machines, as an object with the script around it: whether that looks before is a question of rules.
pub fn endings(whole: &Traced, script: &Script, facts: &mut Facts) {
    let mut room = MOST_AROUND.div_ceil(whole.text().len().max(1));
    for command in &script.commands {
        let words = &command.words;
        // What is read from elsewhere is handed to the program behind.
        let handed = words.first().is_some_and(|word| wrappers::base_name(word.text()) == "xargs");
        let places: Vec<usize> = if handed { (1..words.len()).collect() } else { wrappers::programs(words) };
        for at in places {
            let program = wrappers::base_name(words[at].text());
            let Some((row, _)) = stating(program, &words[at + 1..]).filter(|(row, _)| row.says() == ENDED) else {
                continue;
            };
            if room == 0 {
                let message = "the commands that end machines from here on: there are too many of them".to_owned();
                return facts.cut.push(Problem { span: command.span, message });
            }
            room -= 1;
            let said: Vec<&str> = words[at..].iter().map(Word::text).collect();
            let mut document = Document::new(command.span);
            let (said, around) = (document.own(&said.join(" ")), document.traced(whole));
            document.put("command", said);
            document.put("script", around);
            let tree = document.finish();
            facts.objects.extend(tree.roots().map(|root| {
                let mut ended = embedded::object(&tree, root, ENDED, row.text());
                ended.drafted = Fact::value(true, command.span);
                Arc::new(ended)
            }));
        }
    }
}

/// Whether a heredoc is given to a program of Kubernetes, or written to a file.
fn is_kept(script: &Script, heredoc: &Heredoc) -> bool {
    let command = script.command_of(heredoc);
    let given = |word: &Word| matches!(wrappers::base_name(word.text()), "kubectl" | "oc" | "k3s" | "microk8s" | "tee");
    let to_file = |word: &Word| word.text().contains('>');
    command.is_some_and(|command| command.redirections.iter().any(to_file) || command.words.iter().any(given))
}

/// The scripts that a script writes out or hands to a shell: heredocs that begin like one, that are given to a shell or to
/// `sbatch`, or whose file is called like one.
pub fn scripts(script: &Script) -> impl Iterator<Item = &Traced> {
    let is_script = |heredoc: &&Heredoc| {
        let first = heredoc.text.text().lines().next().unwrap_or_default();
        let command = script.command_of(heredoc);
        let words = || command.iter().flat_map(|command| &command.words).map(Word::text);
        let files = || command.iter().flat_map(|command| &command.redirections).map(Word::text);
        first.starts_with("#!") && first.contains("sh")
            || words().any(|word| shell::is_shell(word) || wrappers::base_name(word) == "sbatch")
            || files().any(|file| [".sh", ".sbatch", ".slurm"].iter().any(|end| file.ends_with(end)))
    };
    script.heredocs.iter().filter(is_script).map(|heredoc| &heredoc.text)
}

/// A container that is run, as a Compose service.
pub fn container(words: &[Word], at: usize) -> Option<Workload> {
    let image = wrappers::image(words).filter(|image| *image > at)?;
    if !words[at + 1..image].iter().any(|word| word.text() == "run") {
        return None;
    }
    let command = catalog::stating_commands("docker").next()?;
    let options = written::options(&words[at + 1..image]);
    let mut document = Document::new(words[at].span());
    for (name, value) in &options {
        match command.key(name) {
            Some("environment") => document.variable("environment.{}", value),
            Some("gpus") => {
                let devices = document.gpus(value);
                document.put("gpus", devices);
                // As Docker itself reads it.
                if wrappers::base_name(words[at].text()) == "docker" {
                    let option = document.value(value);
                    document.put("x-gpus", option);
                }
            }
            Some(key) => {
                let value = document.value(value);
                document.put(key, value);
            }
            None => {}
        }
    }
    // What a shell puts in may be any option, unless more stands in the word: `"$DATA":/data`.
    let is_open = |word: &&Word| {
        let alone = |rest: &str| match rest.find('}') {
            Some(end) => end + 1 == rest.len(),
            None => rest.starts_with('(') || !rest.contains([':', '/', '=']),
        };
        word.expands && word.text().strip_prefix('$').is_some_and(alone)
    };
    if let Some(word) = words[at + 1..=image].iter().find(is_open) {
        document.leave_open(command.keys(), word.span());
    }
    let reference = document.text(&words[image]);
    document.put("image", reference);
    for word in &words[image + 1..] {
        let word = document.text(word);
        document.put("command[]", word);
    }
    let name = options.iter().find(|(name, _)| name == "name").and_then(|(_, value)| value.text());
    let (tree, span) = (document.finish(), words[at].span());
    let view = tree.roots().next()?.view();
    let mut out = compose::service(&tree, (name.as_deref().unwrap_or("container"), view));
    out.format = Fact::value(WorkloadFormat::Docker, span);
    out.kind = Fact::value("docker run".to_owned(), span);
    Some(out)
}

/// A workload that a command submits, as the object that it makes of it: `runai submit`, `kubectl run`, `gcloud run deploy`.
fn submitted(words: &[Word], at: usize, facts: &mut Facts) {
    let dashes = words.iter().skip(at).position(|word| word.text() == "--").map_or(words.len(), |dashes| at + dashes);
    let (program, behind) = (wrappers::base_name(words[at].text()), &words[at + 1..dashes]);
    let Some((command, verb)) = stating(program, behind) else { return };
    let Some((api_version, mut kind)) = object_of(command.says()) else { return };
    let options = written::options(&behind[verb + 1..]);
    let mut document = Document::new(words[at].span());
    let mut arguments = command.key("--").unwrap_or("spec.arguments.value[]");
    // What the object is laid over with.
    let mut overrides = None;
    for (name, given) in &options {
        match (name.as_str(), given) {
            // A name alone is that of an asset, which states what nobody reads here.
            ("e" | "environment" | "environment-variable", Given::Word(text, _))
                if program == "runai" && text.text().contains('=') =>
            {
                document.variable("spec.environment.items.{}.value", given);
            }
            ("c" | "command", Given::Switch(_)) => {
                arguments = command.key("command--").unwrap_or("spec.command.value[]");
            }
            ("interactive", _) if program == "runai" => kind = "InteractiveWorkload",
            ("overrides", Given::Word(text, expands)) => overrides = Some(written::structured(text, *expands)),
            _ => command.key(name).into_iter().for_each(|key| document.attribute(key, given)),
        }
    }
    if let Some(word) = behind[verb + 1..].iter().find(|word| word.expands && word.text().starts_with('$')) {
        document.leave_open(command.keys(), word.span());
    }
    for word in words[dashes..].iter().skip(1) {
        let word = document.text(word);
        document.put(arguments, word);
    }
    let name = behind.get(verb + 1).filter(|word| !word.text().starts_with('-'));
    if let Some(name) = name {
        let given = Given::Word(name.traced().clone(), name.expands);
        let own = command.key("NAME").into_iter();
        ["metadata.name"].into_iter().chain(own).for_each(|key| document.attribute(key, &given));
    }
    for (key, text) in [("apiVersion", api_version), ("kind", kind)] {
        let text = document.own(text);
        document.put(key, text);
    }
    let mut layers = vec![document.finish()];
    layers.extend(overrides);
    // What is laid over it and not known may change all of it.
    let raws: Vec<Raw> = layers.iter().flat_map(|tree| tree.roots().map(|root| Raw::new(tree, root.view()))).collect();
    if raws.iter().any(|raw| raw.view().node().is_none_or(|root| !root.is_map())) {
        return;
    }
    let size = words.iter().map(|word| word.text().len()).sum();
    let Ok(Some(whole)) = merged(&raws, &Share::least(size)) else { return };
    whole.tree.roots().for_each(|root| kubernetes::document(&whole.tree, root, facts));
}

/// The version and the kind of the object that a row of commands states, where it states one.
fn object_of(says: &'static str) -> Option<(&'static str, &'static str)> {
    match says.rsplit_once('/') {
        Some(object) => Some(object),
        None => says.ends_with("Workload").then_some(("run.ai/v2alpha1", says)),
    }
}

/// The row of what a program is told to make, and where the last of its words stands.
fn stating(program: &str, behind: &[Word]) -> Option<(catalog::StatingCommand, usize)> {
    let said = |command: &catalog::StatingCommand| {
        let verbs = verbs(command, behind);
        (command.verbs().count() <= verbs.len()
            && command.verbs().zip(&verbs).all(|(verb, at)| behind[*at].text() == verb))
        .then(|| command.verbs().count().checked_sub(1).and_then(|last| verbs.get(last).copied()))
        .flatten()
    };
    catalog::stating_commands(program).find_map(|command| Some((command, said(&command)?)))
}

/// Places of the words that are no options of a command, nor the values of those that may stand before its verbs.
fn verbs(command: &catalog::StatingCommand, behind: &[Word]) -> Vec<usize> {
    let mut out = Vec::new();
    let mut taken = false;
    for (at, word) in behind.iter().enumerate() {
        let option = word.text().trim_start_matches('-');
        let is_option = word.text().starts_with('-');
        if !is_option && !taken && !["alpha", "beta"].contains(&word.text()) {
            out.push(at);
        }
        taken = is_option && command.takes_value(option);
    }
    out
}

/// A chart that `helm install` or `helm upgrade` installs.
fn release(words: &[Word], at: usize) -> Option<HelmRelease> {
    let command = catalog::stating_commands("helm").next()?;
    let verb = words[at + 1..].iter().position(|word| matches!(word.text(), "install" | "upgrade"))? + at + 1;
    let mut operands = Vec::new();
    let mut rest = words[verb + 1..].iter().peekable();
    let mut given = Vec::new();
    while let Some(word) = rest.next() {
        let option = word.text().trim_start_matches('-');
        match word.text().strip_prefix('-') {
            None => operands.push(word),
            Some(_) if option.contains('=') && word.text().starts_with("--") => {
                given.extend(written::options(std::slice::from_ref(word)))
            }
            Some(_) if command.takes_value(option) => {
                given.extend(
                    rest.next().map(|value| (option.to_owned(), Given::Word(value.traced().clone(), value.expands))),
                );
            }
            Some(_) => {}
        }
    }
    // Where there are more, a shell puts options among them.
    let chart = operands.pop().filter(|_| operands.len() < 2)?;
    let mut out = HelmRelease::blank(chart.span());
    let fact = |word: &Word| stated(word.traced(), word.expands);
    out.format = Fact::value(ReleaseFormat::Shell, chart.span());
    out.name = operands.last().map_or(Fact::absent(chart.span()), |name| fact(name));
    out.path = fact(chart);
    out.chart = fact(chart).map(|chart| chart.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
    let one =
        |names: &[&str]| given.iter().rfind(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value.fact());
    let absent = || Fact::absent(chart.span());
    out.namespace = one(&["n", "namespace"]).unwrap_or_else(absent);
    out.repository = one(&["repo"]).unwrap_or_else(absent);
    out.version = one(&["version"]).map_or(Fact::absent(chart.span()), |version| {
        version.and_then(|text| {
            Version::parse(&text).map_or_else(|| Known::Unknown(Why::Malformed(text.into())), Known::Value)
        })
    });
    let all = |names: &'static [&str]| given.iter().filter(|(name, _)| names.contains(&name.as_str()));
    out.values_from = all(&["f", "values"]).map(|(_, value)| value.fact()).collect();
    for (name, value) in all(&["set", "set-string", "set-file", "set-json", "set-literal"]) {
        let Given::Word(text, expands) = value else { continue };
        let single = matches!(name.as_str(), "set" | "set-string");
        let assignments = if single { parts(text) } else { vec![text.clone()] };
        for part in assignments {
            let Some((key, _)) = part.text().split_once('=') else { continue };
            let value = part.slice(key.len() + 1..part.text().len());
            // Lists, JSON and files have forms of their own.
            let value = match single && !value.text().contains(['\\', '{']) {
                true => stated(&value, *expands),
                false => Fact::unknown(Why::NotModelled("a value from a list or a file".into()), value.whole()),
            };
            if name == "set-string" {
                out.set_text.push(Fact::value(key.to_owned(), value.span));
            }
            out.set.insert(key.to_owned(), value);
        }
    }
    Some(out)
}

/// The word behind the first one that may be any options. What is quoted is one word: behind a verb it is a name, behind
/// an option what that is given.
fn open_word(words: &[Word]) -> Option<&Word> {
    let given = |before: &Word, at: usize| at == 0 || before.text().starts_with("--") && !before.text().contains('=');
    let mut pairs = words.windows(2).enumerate().map(|(at, pair)| (&pair[0], at, &pair[1]));
    let open = |word: &Word| word.expands && word.text().starts_with('$');
    pairs.find(|(before, at, word)| open(word) && !(word.is_one() && given(before, *at))).map(|(_, _, word)| word)
}

/// What a command makes of machines, as far as its row says: the row, its options and what it is about by name.
fn made(program: &str, behind: &[Word]) -> Option<(catalog::StatingCommand, Options, Option<Fact<String>>)> {
    let (command, verb) = stating(program, behind)?;
    let takes = |name: &str, word: &Word| match command.key(name) {
        Some(key) if key.ends_with("[+]") => true,
        Some(key) => key.trim_end_matches(']').ends_with('}') && written::is_structured(word),
        None => false,
    };
    let options = written::options_of(&behind[verb + 1..], &takes);
    let operand = behind.get(verb + 1).filter(|word| !word.text().starts_with('-'));
    let named = options.iter().find(|(name, _)| matches!(name.as_str(), "name" | "n" | "nodegroup-name"));
    let name = operand.map(|word| stated(word.traced(), word.expands)).or_else(|| named.map(|(_, given)| given.fact()));
    Some((command, options, name))
}

/// Options with what they are given.
type Options = Vec<(String, Given)>;

/// The cluster that a command makes, where a row tells its version.
fn cluster(program: &str, words: &[Word], at: usize) -> Option<Cluster> {
    let (command, options, name) = made(program, &words[at + 1..])?;
    let version = |(name, given): &(String, Given)| Some((command.key(name)?.strip_prefix('@')?, given.fact()));
    let (platform, version) = options.iter().find_map(version)?;
    let span = words[at].span();
    let mut out = Cluster::blank(span);
    out.format = Fact::value(InfraFormat::Shell, span);
    out.platform = Fact::value(platform.to_owned(), span);
    out.name = name.unwrap_or_else(|| Fact::absent(span));
    out.kubernetes = version.and_then(|text| {
        Version::parse(&text).map_or_else(|| Known::Unknown(Why::Malformed(text.into())), Known::Value)
    });
    Some(out)
}

/// The pool or machine that a command makes.
fn pool(program: &str, words: &[Word], at: usize) -> Option<NodePool> {
    let behind = &words[at + 1..];
    let (command, verb) = stating(program, behind)?;
    let (_, options, name) = made(program, behind)?;
    let mut document = Document::new(words[at].span());
    for (name, value) in &options {
        match command.key(name) {
            Some(key) if key.starts_with('@') => {}
            Some(key) => document.attribute(key, value),
            None => document.fields(&command.fields(name), value),
        }
    }
    if let Some(word) = open_word(&behind[verb..]) {
        document.leave_open(command.keys(), word.span());
    }
    let name = name.and_then(|name| name.get().cloned());
    let tree = document.finish();
    let view = tree.roots().next()?.view();
    let span = words[at].span();
    let mut out =
        machines::pool(&tree, view, (command.says(), name.as_deref().unwrap_or(words[at + 1 + verb].text())), span)?;
    out.format = Fact::value(InfraFormat::Shell, span);
    out.kind = Fact::value(command.text().to_owned(), span);
    Some(out)
}

#[cfg(test)]
mod tests {
    use crate::extract;
    use crate::facts::Facts;
    use crate::source::SourceId;

    fn facts(script: &str) -> Facts {
        let mut facts = Facts::default();
        extract::text(SourceId(0), "up.sh", script, crate::discover::Kind::Shell, &mut facts);
        facts
    }

    #[test]
    fn what_a_shell_puts_in_is_not_known() {
        let facts =
            facts("docker run --gpus $N --shm-size ${SHM} img:1\naws ec2 run-instances --instance-type $TYPE\n");
        let container = &facts.workloads[0].pods[0].containers[0];
        assert!(container.gpus.is_unknown() && container.shm_bytes.is_unknown());
        assert!(facts.pools[0].instance_types[0].is_unknown());
    }

    #[test]
    fn options_that_a_shell_puts_in_are_not_taken_as_absent() {
        let facts = facts(
            "docker run --name a $OPTIONS vllm/vllm-openai:v0.11.0\n\
             gcloud container node-pools create a --machine-type g2-standard-8 --node-taints x=y:NoSchedule --node-labels a=b\n\
             helm upgrade a nvidia/gpu-operator --set-file x=y.yaml --set 'l={a,b},c=d'\n",
        );
        let container = &facts.workloads[0].pods[0].containers[0];
        assert!(container.gpus.is_unknown(), "{:?}", container.gpus);
        let release = &facts.releases[0];
        assert_eq!(release.chart.get().map(String::as_str), Some("gpu-operator"));
        assert!(release.set["x"].is_unknown() && release.set["l"].is_unknown());
        let pool = &facts.pools[0];
        assert_eq!(pool.labels["a"].get().map(String::as_str), Some("b"));
        assert_eq!(pool.taints[0].value.get().map(String::as_str), Some("y"));
    }

    #[test]
    fn options_in_forms_of_their_own_are_read() {
        let facts = facts(
            "aws ec2 run-instances --instance-type p4d.24xlarge --count 2 --instance-market-options MarketType=spot \\\n\
             --block-device-mappings '[{\"DeviceName\":\"/dev/sda1\",\"Ebs\":{\"VolumeSize\":500}}]' \\\n\
             --placement AvailabilityZone=us-east-1a\n\
             aws eks create-nodegroup --instance-types g5.xlarge g5.2xlarge --scaling-config minSize=0,maxSize=3 \\\n\
             --taints key=a,value=b,effect=NO_SCHEDULE key=c,effect=NO_EXECUTE --labels x=y,z=w\n\
             gcloud compute instances create vm --zone us-central1-a --boot-disk-size=200GB --accelerator type=nvidia-l4,count=2\n\
             az vmss create --vm-sku Standard_ND96asr_v4 --zones 1 2 --instance-count 2\n\
             eksctl create nodegroup --node-type g5.xlarge --spot\n\
             gcloud container clusters create ml --cluster-version 1.29\n",
        );
        let [instance, group, machine, set, spot, _] = &facts.pools[..] else { panic!("{}", facts.pools.len()) };
        assert_eq!((instance.spot.get(), instance.max_nodes.get()), (Some(&true), Some(&2)));
        assert_eq!(instance.disk_bytes.get(), Some(&(500 << 30)));
        assert_eq!(instance.zones[0].get().map(String::as_str), Some("us-east-1a"));
        assert_eq!((group.instance_types.len(), group.min_nodes.get(), group.max_nodes.get()), (2, Some(&0), Some(&3)));
        let effects: Vec<_> = group.taints.iter().filter_map(|taint| taint.effect.get()).collect();
        assert_eq!(effects, ["NoSchedule", "NoExecute"]);
        assert_eq!(group.labels["z"].get().map(String::as_str), Some("w"));
        assert_eq!((machine.disk_bytes.get(), machine.accelerator_count.get()), (Some(&(200 << 30)), Some(&2)));
        assert_eq!((set.zones.len(), set.max_nodes.get()), (2, Some(&2)));
        assert_eq!(spot.spot.get(), Some(&true));
        assert_eq!(facts.clusters[0].name.get().map(String::as_str), Some("ml"));
        let open = self::facts(
            "aws ec2 run-instances --instance-type a --instance-market-options $M --block-device-mappings file://d.json\n",
        );
        assert!(open.pools[0].spot.is_unknown() && open.pools[0].disk_bytes.is_unknown());
    }

    #[test]
    fn a_pod_that_is_run_is_laid_over_with_what_the_command_says() {
        let facts = facts(
            "kubectl -n ml run a --image=img:1 --env A=b --overrides='{\"spec\":{\"nodeName\":\"n\"}}' -- vllm serve m\n\
             kubectl run b --image=img:1 --overrides=\"$O\"\n\
             gcloud beta run deploy s --image i:1 --gpu 1 --gpu-type nvidia-l4 --port 8000\n",
        );
        let [pod, service] = &facts.workloads[..] else { panic!("{}", facts.workloads.len()) };
        let container = &pod.pods[0].containers[0];
        assert_eq!((container.name.get().map(String::as_str), container.command.len()), (Some("a"), 3));
        assert!(container.env.contains_key("A"));
        assert_eq!(service.pods[0].containers[0].gpus.get(), Some(&1));
    }

    #[test]
    fn commands_that_make_nothing_state_nothing() {
        let script = "docker build -t a .\ndocker exec c nvidia-smi\nhelm repo add nvidia https://x\nhelm list\n\
                      gcloud container node-pools list\naz aks nodepool delete --name gpu\naws ec2 describe-instances\n";
        let facts = facts(script);
        assert!(facts.workloads.is_empty() && facts.releases.is_empty() && facts.pools.is_empty());
    }

    #[test]
    fn a_script_is_not_held_for_each_of_many_commands() {
        let script = "aws ec2 terminate-instances --instance-ids i-1\n".repeat(1000);
        let mut facts = Facts::default();
        extract::text(SourceId(0), "down.sh", &script, crate::discover::Kind::Shell, &mut facts);
        let each = facts.objects.iter().filter(|object| object.kind.get().is_some_and(|kind| kind != super::SCRIPT));
        let held = each.count() * script.len();
        assert!(held > 0 && held <= super::MOST_AROUND + script.len(), "{held}");
        assert!(facts.cut.iter().any(|problem| problem.message.contains("from here on")));
    }
}
