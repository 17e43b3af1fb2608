//! What scripts, variables and configurations state below workloads: for which GPUs code is compiled, versions, images and
//! machines that are named for others to use, what devices are set to, the runtimes of containers. Knows how commands and variables
//! state them; which names mean what is in the catalog.

use super::commands::FROM;
use super::wrappers::{self, base_name};
use super::{cut_off, image, install, logins};
use crate::catalog::{self, BuildOption};
use crate::facts::value::Entity;
use crate::facts::{Compilation, ContainerRuntime, DeviceSetting, Facts, Gpu, NamedImage, NamedMachine, StatedVersion};
use crate::known::{Fact, Why};
use crate::parse::shell::{self, Command, Script, Word};
use crate::parse::{DEEPEST, Problem, View, placeholder};
use crate::source::{Span, Traced};
use crate::version::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most that is read of one sort in one file.
const MOST: usize = 2_000;

/// Reads what the commands of a script state, and those that it hands to shells. The script has its variables put in.
pub fn read(script: &Script, path: &str, facts: &mut Facts) {
    script.heredocs.iter().for_each(|heredoc| of_cmake(&heredoc.text, path, facts));
    let script = script.clone().unfolded(&wrappers::inner);
    of_commands(&script.commands, path, facts);
}

/// Reads the variables that a configuration for CMake sets, which a script writes out: `set(USE_CUDA ON)`.
fn of_cmake(text: &Traced, path: &str, facts: &mut Facts) {
    let whole = text.text();
    for line in whole.lines() {
        let set = line.trim().strip_prefix("set(").and_then(|rest| rest.strip_suffix(')'));
        let Some((name, value)) = set.and_then(|set| set.split_once(' ')) else { continue };
        let value = value.trim().trim_matches('"');
        let from = value.as_ptr() as usize - whole.as_ptr() as usize;
        stated(name, &text.slice(from..from + value.len()), path, facts);
    }
}

/// Packages of Docker's daemon, and of what gives its containers GPUs.
const DOCKER: [&str; 4] = ["docker-ce", "docker.io", "docker", "moby-engine"];
const TOOLKIT: [&str; 3] = ["nvidia-container-toolkit", "nvidia-docker2", "nvidia-container-runtime"];

/// Programs that may do anything, or start the machine anew.
const SCRIPTS: [&str; 13] = [
    "bash",
    "sh",
    "source",
    ".",
    "eval",
    "make",
    "ansible-playbook",
    "reboot",
    "shutdown",
    "init",
    "pkill",
    "kill",
    "exec",
];

/// Reads what commands state.
pub fn of_commands(commands: &[Command], path: &str, facts: &mut Facts) {
    cut_off::read(commands, facts);
    logins::read(commands, facts);
    add(facts, |facts| &mut facts.container_runtimes, found_too_late(commands));
    let mut used = used_before_restart(commands);
    for (index, command) in commands.iter().enumerate() {
        for (name, value) in assignments(command) {
            stated(&name, value.traced(), path, facts);
        }
        compiled(command, path, facts);
        for at in wrappers::programs(&command.words) {
            let (program, rest) = (base_name(command.words[at].text()), &command.words[at + 1..]);
            device_settings(program, rest, facts);
            if program == "nvidia-ctk" {
                let mut runtime = configured(rest);
                if let Some((runtime, used)) = runtime.as_mut().zip(used.remove(&index)) {
                    runtime.used_before_restart = used;
                }
                add(facts, |facts| &mut facts.container_runtimes, runtime);
            }
        }
    }
}

/// Adds to a list of facts what fits, and says where the rest begins.
fn add<T: Entity>(facts: &mut Facts, list: fn(&mut Facts) -> &mut Vec<Arc<T>>, found: impl IntoIterator<Item = T>) {
    for one in found {
        if list(facts).len() < MOST {
            list(facts).push(Arc::new(one));
            continue;
        }
        let message = format!("what else is set up from here on: more than {MOST} settings of one sort in one file");
        if facts.cut.iter().all(|known| known.message != message) {
            facts.cut.push(Problem { span: one.span(), message });
        }
        return;
    }
}

/// What a command assigns: before its words, as what sets variables, or as arguments of a build of an image.
fn assignments(command: &Command) -> Vec<(String, Word)> {
    let sets = command.words.first().is_some_and(|word| shell::declares(word.text()));
    let words = command.words.iter().skip(1).filter(|_| sets).filter_map(Word::assignment);
    let handed =
        command.words.windows(2).filter(|pair| pair[0].text() == "--build-arg").filter_map(|p| p[1].assignment());
    let alone = command.words.is_empty();
    let before = command.assignments.iter().filter(|(name, _)| alone || catalog::build_option(name).is_none());
    before.cloned().chain(words).chain(handed).collect()
}

/// Reads a variable or a key by its name: a version, an image, a machine, what code is compiled for.
pub fn stated(name: &str, value: &Traced, path: &str, facts: &mut Facts) {
    named(name, value, path, facts);
    if let Some(says) = catalog::build_option(name).filter(|_| is_one_line(value)) {
        let mut out = compilation(value.whole(), path);
        state(&mut out, (name, says), value);
        add(facts, |facts| &mut facts.compilations, [out]);
    }
}

fn is_one_line(value: &Traced) -> bool {
    !value.text().is_empty() && !value.text().contains('\n')
}

/// Reads what a variable or a key names for others to use: a version, an image, a machine.
pub fn named(name: &str, value: &Traced, path: &str, facts: &mut Facts) {
    if !is_one_line(value) {
        return;
    }
    machine(name, value, facts);
    if let Some(software) = catalog::version_variable(name)
        && let Some((version, place)) = version(software, value)
    {
        let mut out = StatedVersion::blank(place);
        out.path = Fact::value(path.to_owned(), place);
        out.variable = Fact::value(name.to_owned(), place);
        out.software = Fact::value(software.to_owned(), place);
        out.version = Fact::value(version, place);
        // What is set for all jobs of a workflow is handed to each of them.
        if !facts.stated_versions.iter().any(|other| other.span == place) {
            add(facts, |facts| &mut facts.stated_versions, [out]);
        }
    }
    if value.text().contains('/') && (names_image(name) || names_container(name)) {
        let found = image_of(name, value).filter(|found| names_image(name) || !found.image.tag.is_absent());
        add(facts, |facts| &mut facts.named_images, found);
    }
}

/// Reads the machine that a variable names: one that there is, or one of a family all of which are known; or the GPU.
fn machine(name: &str, value: &Traced, facts: &mut Facts) {
    let (text, place) = (value.text(), value.whole());
    let plain = text.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._".contains(&c));
    let of_family = || names_machine(name) && catalog::machine_names(text).is_some_and(|names| !names.is_empty());
    // What several modules are handed is stated once; a selector of nodes is no variable.
    let told = || name.contains('/') || facts.named_machines.iter().any(|other| other.span == place);
    let is_machine = plain && (catalog::is_machine(text) || of_nebius(name, text) || of_family());
    let gpu = catalog::gpu_named_in(text).filter(|_| !is_machine && name.to_lowercase().contains("gpu"));
    if (is_machine || gpu.is_some()) && !told() {
        let mut out = NamedMachine::blank(place);
        out.variable = Fact::value(name.to_owned(), place);
        out.machine = Fact::from_option(is_machine.then(|| text.to_owned()), place);
        out.gpu = gpu.map(|gpu| Gpu { id: Fact::value(gpu.id.to_owned(), place), ..Gpu::blank(place) });
        add(facts, |facts| &mut facts.named_machines, [out]);
    }
}

/// Whether a variable holds a platform of Nebius with GPUs, or how many of them a machine has: `gpu-h100-sxm`,
/// `8gpu-128vcpu-1600gb`. <https://docs.nebius.com/compute/virtual-machines/types>
fn of_nebius(name: &str, text: &str) -> bool {
    let count = || text.split_once("gpu-").is_some_and(|(count, rest)| is_number(count) && rest.contains("vcpu-"));
    name.ends_with("platform") && text.starts_with("gpu-") && catalog::gpu_named_in(text).is_some()
        || name.ends_with("preset") && count()
}

/// Whether what a variable holds is a machine type, as its name says.
fn names_machine(name: &str) -> bool {
    let joined: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    ["instancetype", "machinetype", "vmsize", "vmsku", "nodetype"].iter().any(|end| joined.ends_with(end))
}

/// The version that a value states: by itself, or as the end of the name of a directory, `/usr/local/cuda-12.4`.
fn version(software: &str, value: &Traced) -> Option<(Version, Span)> {
    let text = value.text();
    let from = match text.contains('/') {
        true => text.find(&format!("/{software}-"))? + software.len() + 2,
        false => 0,
    };
    let part = text[from..].split('/').next().unwrap_or_default();
    // Packages of CUDA have dashes in their names: cuda-toolkit-12-2.
    let dashed =
        part.split_once('-').filter(|(major, minor)| software == "cuda" && is_number(major) && is_number(minor));
    let version =
        dashed.map_or_else(|| Version::parse(part), |(major, minor)| Version::parse(&format!("{major}.{minor}")));
    let version = version.filter(|version| version.release().len() > 1)?;
    placeholder(part).is_none().then(|| (version, value.span(from..from + part.len())))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

/// Whether what a variable holds is an image, as its name says.
fn names_image(name: &str) -> bool {
    let lower = name.to_lowercase();
    let word = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    word.ends_with("image") || word.ends_with("image_name") && word.contains("container")
}

/// Whether what a variable holds may be an image: `base_container: nvcr.io/nvidia/pytorch:24.08-py3`, also a path to one.
fn names_container(name: &str) -> bool {
    name.to_lowercase().ends_with("container")
}

/// The image that a variable names, as far as a tag or a registry shows that it is one.
fn image_of(name: &str, value: &Traced) -> Option<NamedImage> {
    let text = value.text();
    let shows = !text.starts_with(['/', '.', '$', '~', '{']) && !text.contains(' ') && !text.contains("://");
    let image = image::reference(value);
    (shows && image.repository.get().is_some()).then(|| {
        let place = value.whole();
        NamedImage { perhaps: None, span: place, variable: Fact::value(name.to_owned(), place), image }
    })
}

fn compilation(place: Span, path: &str) -> Compilation {
    let mut out = Compilation::blank(place);
    out.path = Fact::value(path.to_owned(), place);
    out
}

/// Takes over what an option of a build says.
fn state(out: &mut Compilation, (name, says): (&str, BuildOption), value: &Traced) {
    match says {
        BuildOption::Architectures if out.architectures.is_absent() => {
            out.option = Fact::value(name.to_owned(), value.whole());
            out.architectures = match listed(value.text()) {
                Some(list) => Fact::value(list, value.whole()),
                None => install::fact(value),
            };
        }
        BuildOption::Architectures => {}
        BuildOption::Switch => drop(out.switches.insert(name.to_owned(), install::fact(value))),
    }
}

/// The architectures of options of nvcc, as a list: `-gencode=arch=compute_80,code=sm_80` is for 80.
fn listed(options: &str) -> Option<String> {
    let real = |word: &str| {
        let digits = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"))?;
        digits.starts_with(|c: char| c.is_ascii_digit()).then(|| digits.to_owned())
    };
    let mut out: Vec<String> = vec![];
    for found in options.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter_map(real) {
        if !out.contains(&found) {
            out.push(found);
        }
    }
    (!out.is_empty()).then(|| out.join(";"))
}

/// Adds what a command is told about the GPUs that it compiles for: by variables before it, `-DNAME=VALUE`, options of nvcc.
fn compiled(command: &Command, path: &str, facts: &mut Facts) {
    let mut out = compilation(command.span, path);
    if !command.words.is_empty() {
        for (name, value) in &command.assignments {
            if let Some(says) = catalog::build_option(name) {
                state(&mut out, (name, says), value.traced());
            }
        }
    }
    let mut words = command.words.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.text();
        let defined = match text.strip_prefix("-D") {
            Some("") => words.peek().map(|next| next.traced().clone()),
            Some(rest) => Some(word.traced().slice(text.len() - rest.len()..text.len())),
            None => None,
        };
        if let Some(defined) = defined
            && let Some((name, value)) = defined.text().split_once('=')
        {
            let name = name.split(':').next().unwrap_or_default();
            let value = defined.slice(defined.text().len() - value.len()..defined.text().len());
            if let Some(says) = catalog::build_option(name) {
                state(&mut out, (name, says), &value);
            }
        }
        let nvcc = ["-gencode", "--generate-code", "-arch", "--gpu-architecture"];
        let option = nvcc
            .iter()
            .find(|option| text.strip_prefix(**option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')));
        if let Some(option) = option {
            let value = if text == *option { words.peek().copied() } else { Some(word) };
            let value = value.filter(|value| listed(value.text()).is_some()).map(Word::traced);
            value.into_iter().for_each(|value| state(&mut out, ("gencode", BuildOption::Architectures), value));
        }
    }
    if !out.architectures.is_absent() || !out.switches.is_empty() {
        add(facts, |facts| &mut facts.compilations, [out]);
    }
}

/// What a command of a vendor sets devices to.
fn device_settings(program: &str, words: &[Word], facts: &mut Facts) {
    for (at, word) in words.iter().enumerate() {
        let (option, given) = match word.text().split_once('=') {
            Some((option, value)) => {
                (option, Some(word.traced().slice(word.text().len() - value.len()..word.text().len())))
            }
            None => (word.text(), words.get(at + 1).map(|next| next.traced().clone())),
        };
        let Some(setting) = catalog::device_option(program, option) else { continue };
        let Some(value) = given else { continue };
        let mut out = DeviceSetting::blank(word.span());
        out.program = Fact::value(program.to_owned(), word.span());
        out.setting = Fact::value(setting.to_owned(), word.span());
        out.state = install::fact(&value);
        add(facts, |facts| &mut facts.device_settings, [out]);
    }
}

/// The runtime that `nvidia-ctk runtime configure` writes into the configuration of a daemon.
/// <https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html>
fn configured(words: &[Word]) -> Option<ContainerRuntime> {
    let said = |wanted: &str| words.iter().find(|word| word.text() == wanted);
    let (_, configures) = (said("runtime")?, said("configure")?);
    let option = |name: &str| {
        let joined = words.iter().find_map(|word| {
            let value = word.text().strip_prefix(name)?.strip_prefix('=')?;
            Some(word.traced().slice(word.text().len() - value.len()..word.text().len()))
        });
        joined.or_else(|| words.windows(2).find(|pair| pair[0].text() == name).map(|pair| pair[1].traced().clone()))
    };
    let place = configures.span();
    let mut out = ContainerRuntime::blank(place);
    // Without the option it is Docker.
    out.program = option("--runtime").map_or(Fact::value("docker".to_owned(), place), |name| install::fact(&name));
    let name = option("--nvidia-runtime-name").map_or("nvidia".to_owned(), |name| name.text().to_owned());
    let default = words
        .iter()
        .find(|word| word.text().starts_with("--nvidia-set-as-default") || word.text() == "--set-as-default");
    out.default_runtime = default.map_or(Fact::absent(place), |word| Fact::value(name.clone(), word.span()));
    out.runtimes.insert(name, Fact::value("nvidia-container-runtime".to_owned(), place));
    Some(out)
}

/// The programs of a command with what follows each.
fn programs(command: &Command) -> impl Iterator<Item = (&str, &[Word])> {
    let words = &command.words;
    wrappers::programs(words).into_iter().map(|at| (base_name(words[at].text()), &words[at + 1..]))
}

/// Whether a command installs one of some packages, or pipes what installs it into a shell.
fn installs(command: &Command, packages: &[&str]) -> bool {
    let named = |word: &Word| packages.contains(&base_package(word));
    let says = |(_, rest): (&str, &[Word])| rest.iter().any(|word| word.text() == "install") && rest.iter().any(named);
    programs(command).any(says)
}

/// The toolkit where commands install it behind the start of k3s or RKE2, which look for it when they start: nothing does that
/// again, or may, behind it. <https://docs.k3s.io/advanced#nvidia-container-runtime>
fn found_too_late(commands: &[Command]) -> Option<ContainerRuntime> {
    let at = commands.iter().rposition(|command| installs(command, &TOOLKIT))?;
    let place = commands[at].words.iter().find(|word| TOOLKIT.contains(&base_package(word)))?.span();
    let started = commands[..at].iter().flat_map(|command| &command.words).find_map(|word| {
        let (_, name) = FROM.iter().find(|(host, _)| word.text().contains(host))?;
        Some(Fact::value((*name).to_owned(), word.span()))
    })?;
    let again = |command: &Command| {
        let starts = ["systemctl", "service", "rc-service"];
        programs(command).any(|(program, _)| may_restart(program) || starts.contains(&program))
            || command.words.iter().any(|word| word.text().contains("reboot") || word.text().contains("restart"))
    };
    if commands[at + 1..].iter().any(again) {
        return None;
    }
    let mut out = ContainerRuntime::blank(place);
    out.program = started.clone();
    out.started_before = started;
    Some(out)
}

/// Whether a program may do anything, or starts the machine anew.
fn may_restart(program: &str) -> bool {
    SCRIPTS.contains(&program) || program.ends_with(".sh") || program.contains("restart")
}

/// The name of a package, without the release that may follow it.
fn base_package(word: &Word) -> &str {
    word.text().split('=').next().unwrap_or_default()
}

/// By the place of the command that writes a runtime for Docker: the command that runs a container with GPUs before `dockerd`,
/// which reads runtimes when it starts and looks for the toolkit then, too, was started anew, or may have been.
/// <https://docs.docker.com/reference/cli/dockerd/#daemon-configuration-file>
fn used_before_restart(commands: &[Command]) -> BTreeMap<usize, Fact<String>> {
    let fetched = |command: &Command| command.words.iter().any(|word| word.text().contains("get.docker.com"));
    let (mut out, mut written, mut late) = (BTreeMap::new(), None, None);
    for (index, command) in commands.iter().enumerate() {
        let toolkit = installs(command, &TOOLKIT);
        // What one command installs is set up in an order of its own.
        if (toolkit || late.is_some()) && (installs(command, &DOCKER) || fetched(command)) {
            late = Some(false);
        } else if toolkit {
            late.get_or_insert(true);
        }
        let writes = |(program, rest)| if program == "nvidia-ctk" { configured(rest) } else { None };
        if let Some(runtime) = programs(command).find_map(writes) {
            let of_docker = runtime.program.get().is_some_and(|program| program == "docker");
            let name = runtime.runtimes.into_keys().next().filter(|_| of_docker);
            written = written.or(name.map(|name| (index, name)));
        } else if let Some((at, name)) = &written {
            match used(command, name, late == Some(true)) {
                Use::None => {}
                Use::Perhaps => written = None,
                Use::Of(text) => {
                    out.extend(command.words.first().map(|word| (*at, Fact::value(text.to_owned(), word.span()))));
                    written = None;
                }
            }
        }
    }
    out
}

/// What a command does with a runtime that Docker has not read yet.
enum Use {
    None,
    /// It may start Docker anew.
    Perhaps,
    /// It runs a container with it.
    Of(&'static str),
}

fn used(command: &Command, name: &str, late: bool) -> Use {
    const OWN: [&str; 6] = ["apt-mark", "docker", "docker-compose", "echo", "mkdir", "usermod"];
    for (program, rest) in programs(command) {
        let has = |wanted: &str| rest.iter().any(|word| word.text() == wanted);
        let by_name = rest.windows(2).any(|pair| pair[0].text() == "--runtime" && pair[1].text() == name)
            || has(&format!("--runtime={name}"));
        let gpus = rest.iter().any(|word| word.text().starts_with("--gpus"));
        let composes = program == "docker-compose" || program == "docker" && has("compose");
        if composes && has("up") && late {
            return Use::Of("docker compose up");
        }
        if program == "docker" && (has("run") || has("create")) && (by_name || gpus && late) {
            return Use::Of("docker run");
        }
        let speaks = program.contains("docker") || rest.iter().any(|word| word.text().contains("docker"));
        if !OWN.contains(&program) && (speaks || may_restart(program)) {
            return Use::Perhaps;
        }
    }
    Use::None
}

/// The configuration of Docker's daemon. <https://docs.docker.com/reference/cli/dockerd/#daemon-configuration-file>
pub fn docker_daemon(view: View<'_>, facts: &mut Facts) {
    let mut out = ContainerRuntime::blank(view.place());
    out.program = Fact::value("docker".to_owned(), view.place());
    out.default_runtime = view.get("default-runtime").string();
    let runtimes = view.get("runtimes");
    let program = |runtime: View<'_>| {
        let stated = [runtime.get("path"), runtime.get("runtimeType")].into_iter().find(|value| value.is_some());
        stated.map_or(Fact::absent(runtime.place()), View::string)
    };
    out.runtimes = runtimes.entries().into_iter().map(|(name, runtime)| (name.to_owned(), program(runtime))).collect();
    if let Some(why) = runtimes.unknown() {
        out.runtimes.insert(crate::facts::value::REST.to_owned(), Fact::unknown(why, runtimes.place()));
    }
    add(facts, |facts| &mut facts.container_runtimes, [out]);
}

/// Reads what a document states by the names of its keys: variables of workflows, values of charts.
pub fn of_document(view: View<'_>, path: &str, facts: &mut Facts) {
    of_variables(view, path, &Traced::clone, facts);
}

/// The same of variables of Ansible, which may be put into others.
pub fn of_variables(view: View<'_>, path: &str, put_into: &dyn Fn(&Traced) -> Traced, facts: &mut Facts) {
    let tell = |key: &str, text: &Traced, facts: &mut Facts| {
        // What something else fills in is no value yet.
        let text = Some(put_into(text)).filter(|text| !text.text().contains("{{"));
        text.into_iter().for_each(|text| stated(key, &text, path, facts));
    };
    keys(view, DEEPEST, &tell, facts);
}

/// What a document names for others to use by its keys: nothing is compiled where it stands.
pub fn of_names(view: View<'_>, path: &str, facts: &mut Facts) {
    keys(view, DEEPEST, &|key, text, facts| named(key, text, path, facts), facts);
}

/// Tells each text by its key; of a list those that may be versions and machines. Nothing uses a part that is switched off.
fn keys(view: View<'_>, depth: usize, tell: &dyn Fn(&str, &Traced, &mut Facts), facts: &mut Facts) {
    if depth == 0 || view.get("enabled").boolean().get() == Some(&false) {
        return;
    }
    view.items().for_each(|item| keys(item, depth - 1, tell, facts));
    add(facts, |facts| &mut facts.named_images, assembled(view));
    for (key, value) in view.entries() {
        if let Some(text) = value.traced() {
            tell(key, &text, facts);
            continue;
        }
        let is_listed = |text: &Traced| catalog::version_variable(key).is_some() || catalog::is_machine(text.text());
        let listed: Vec<Traced> = value.items().filter_map(View::traced).filter(is_listed).collect();
        listed.iter().for_each(|text| tell(key, text, facts));
        keys(value, depth - 1, tell, facts);
    }
}

/// An image whose parts stand in a map: `repository` and `tag`, or `repository`, `image` and `version` as operators have them.
fn assembled(view: View<'_>) -> Option<NamedImage> {
    let repository = view.get("repository").traced().filter(|text| !text.text().contains(' '))?;
    let text =
        |keys: &[&str]| keys.iter().find_map(|key| view.get(key).traced().filter(|text| !text.text().is_empty()));
    let name = text(&["image"]);
    let tag = text(&["tag", "version"]);
    if name.is_none() && !view.get("tag").is_some() && !view.get("pullPolicy").is_some()
        || repository.text().contains("://")
    {
        return None;
    }
    let place = repository.whole();
    let sign = |sign: &str| Traced::opaque(sign, place);
    let registry = text(&["registry"]).map(|registry| [registry, sign("/")]);
    let whole =
        [Some(vec![repository.clone()]), name.map(|name| vec![sign("/"), name]), tag.map(|tag| vec![sign(":"), tag])];
    let parts = registry.into_iter().flatten().chain(whole.into_iter().flatten().flatten());
    let mut image = image::reference(&Traced::concat(parts.collect::<Vec<_>>(), place));
    if image.tag.is_absent() {
        image.tag = Fact::unknown(Why::NotStated("the tag of the image".into()), place);
    }
    image.repository.get()?;
    Some(NamedImage { perhaps: None, span: place, variable: Fact::value("repository".to_owned(), place), image })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn facts(text: &str) -> Facts {
        let whole = Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0);
        let mut facts = Facts::default();
        read(&shell::parse(&whole).resolved(&|_| None), "build.sh", &mut facts);
        facts
    }

    #[test]
    fn commands_say_what_they_compile_for() {
        for (text, option, architectures) in [
            ("cmake -B b -DCMAKE_CUDA_ARCHITECTURES='80;90'", "CMAKE_CUDA_ARCHITECTURES", "80;90"),
            ("cmake -B b -D CMAKE_CUDA_ARCHITECTURES:STRING=87", "CMAKE_CUDA_ARCHITECTURES", "87"),
            ("TORCH_CUDA_ARCH_LIST=8.0 pip install .", "TORCH_CUDA_ARCH_LIST", "8.0"),
            ("export TORCH_CUDA_ARCH_LIST='8.0 8.9'", "TORCH_CUDA_ARCH_LIST", "8.0 8.9"),
            ("nvcc -gencode arch=compute_90a,code=sm_90a x.cu", "gencode", "90a"),
            ("bash -c 'nvcc -arch=sm_80 x.cu'", "gencode", "80"),
        ] {
            let facts = facts(text);
            let [found] = &facts.compilations[..] else { panic!("{text}: {}", facts.compilations.len()) };
            assert_eq!(found.option.get().map(String::as_str), Some(option), "{text}");
            assert_eq!(found.architectures.get().map(String::as_str), Some(architectures), "{text}");
        }
        let found = facts("cmake -B b -DGGML_CUDA=ON");
        assert_eq!(found.compilations[0].switches["GGML_CUDA"].get().map(String::as_str), Some("ON"));
        assert!(facts("cmake -B b -DBUILD_TESTS=ON; echo nvcc").compilations.is_empty());
    }

    #[test]
    fn variables_state_versions_and_images() {
        let text = "CUDA_VER=12.8\nNCCL_VER=2.25.1-1+cuda$CUDA_VER\nexport CUDA_HOME=/usr/local/cuda-12.1\n\
                    BASE_IMAGE=nvidia/cuda:12.8.1-devel-ubuntu24.04\nCUDA=1\nAPP_VERSION=1.2\n";
        let found = facts(text);
        let stated: Vec<String> = found
            .stated_versions
            .iter()
            .filter_map(|one| Some(format!("{} {}", one.software.get()?, one.version.get()?)))
            .collect();
        assert_eq!(stated, ["cuda 12.8", "nccl 2.25.1-1+cuda12.8", "cuda 12.1"]);
        assert_eq!(found.named_images.len(), 1);
    }

    #[test]
    fn devices_are_set_and_runtimes_configured() {
        let found = facts(
            "sudo nvidia-smi -i 0 -pm 1\nnvidia-smi --query-gpu=name\nnvidia-ctk runtime configure --runtime=docker\n",
        );
        let [setting] = &found.device_settings[..] else { panic!("one setting") };
        assert_eq!(setting.setting.get().map(String::as_str), Some("persistence"));
        assert_eq!(setting.state.get().map(String::as_str), Some("1"));
        assert_eq!(found.container_runtimes[0].program.get().map(String::as_str), Some("docker"));
    }
}
