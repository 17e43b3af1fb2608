//! Programs that a stage starts and that its image does not have, and package managers that cannot do what they are told.
//! Speaks of images whose Dockerfile was read as a whole, and as long as nothing is brought along that nobody looked at.

use super::{Stage, breach, script};
use crate::catalog;
use crate::contract::Breach;
use crate::facts::BreachClass;
use crate::parse::dockerfile::Instruction;
use crate::parse::shell::{self, Command};
use crate::source::Traced;
use std::collections::BTreeSet;

/// What is in the image of a stage so far.
struct There<'f> {
    stage: &'f Stage<'f>,
    /// Programs by name, and words of the instructions that may be some.
    words: BTreeSet<String>,
    /// Whether anything may be there.
    open: bool,
    /// Whether packages come from lists of the distribution that are there.
    lists: Lists,
    /// Whether what runs is not root.
    unprivileged: bool,
    /// Whether pip has installed something.
    pip: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Lists {
    Missing,
    There,
    Unknown,
}

/// What fails in a stage.
pub fn judge(stage: &Stage<'_>) -> Vec<Breach> {
    if stage.base.is_none() {
        return Vec::new();
    }
    let mut there =
        There { stage, words: BTreeSet::new(), open: false, lists: Lists::Missing, unprivileged: false, pip: false };
    let mut found = Vec::new();
    let mut starts = Vec::new();
    for (at, line) in stage.lines.iter().enumerate() {
        let own = at >= stage.under;
        match line.keyword.as_str() {
            "RUN" => {
                let failed = there.run(line);
                found.extend(failed.filter(|_| own));
            }
            "COPY" | "ADD" => there.copy(line),
            "USER" => {
                let user = line.rest.text().split(':').next().unwrap_or_default().trim();
                there.unprivileged = !user.contains('$') && !matches!(user, "root" | "0" | "");
            }
            "ENV" if line.rest.text().contains("APT_CONFIG") => there.lists = Lists::Unknown,
            "CMD" | "ENTRYPOINT" => starts.push((own, *line, line.json_array().or_else(|| Some(first_words(line))))),
            "HEALTHCHECK" => {
                let command = line
                    .rest
                    .text()
                    .strip_prefix("CMD ")
                    .map(|_| Instruction::stating("CMD", &line.rest.slice(4..line.rest.text().len())));
                starts.extend(
                    command.map(|command| (own, *line, command.json_array().or_else(|| Some(first_words(&command))))),
                );
            }
            _ => {}
        }
    }
    for (_, _, words) in starts.iter().filter(|(own, ..)| *own) {
        let program = words.as_ref().and_then(|words| words.first());
        found.extend(program.and_then(|program| there.lacking(program)));
    }
    found
}

/// The words of the first command of a text that a shell reads.
fn first_words(line: &Instruction) -> Vec<Traced> {
    let script = line.script();
    let first = script.commands.first().into_iter();
    first.flat_map(|command| &command.words).map(|word| word.traced().clone()).collect()
}

impl There<'_> {
    /// Takes in what a RUN does; the first thing in it that fails.
    fn run(&mut self, line: &Instruction) -> Option<Breach> {
        let Some(script) = script(line) else {
            self.anything();
            return None;
        };
        let body = line.heredocs.first().map_or(line.rest.text(), |heredoc| heredoc.body.text());
        let cached = line
            .flags
            .iter()
            .any(|flag| flag.name == "mount" && flag.value.as_ref().is_some_and(|v| v.text().contains("/apt")));
        if cached {
            self.lists = Lists::Unknown;
        }
        // What fails may be meant to.
        let certain = !body.contains("||") && !body.contains("set +e") && script.substituted().is_empty();
        let mut failed = None;
        for command in &script.commands {
            let plain = certain
                && command.arms.branches().is_empty()
                && command.arms.iter().all(|arm| arm.kind != shell::Kind::Function);
            let here = self.command(command).filter(|_| plain);
            failed = failed.or(here);
        }
        failed
    }

    fn command(&mut self, command: &Command) -> Option<Breach> {
        let words: Vec<Traced> = command.words.iter().map(|word| word.traced().clone()).collect();
        let root = words.first().is_some_and(|word| word.text() == "sudo");
        let skip = words
            .iter()
            .take_while(|word| {
                matches!(word.text(), "sudo" | "-E" | "env" | "exec" | "time") || word.text().contains('=')
            })
            .count();
        let (program, rest) = words[skip..].split_first()?;
        let name = program.text();
        let mut failed = self.lacking(words.first()?).or_else(|| self.lacking(program));
        let arguments: Vec<&str> = rest.iter().map(Traced::text).collect();
        match name {
            "apt" | "apt-get" => {
                let unprivileged = self.unprivileged && !root && !self.open;
                let changes = arguments.iter().any(|word| matches!(*word, "install" | "update" | "upgrade" | "remove"));
                if failed.is_none() && unprivileged && changes {
                    let says = format!("{name} runs as the user of USER, who is not root");
                    failed = Some(breach(
                        BreachClass::PackagesRefused,
                        program.whole(),
                        "RUN",
                        says,
                        Some("USER root before it".to_owned()),
                    ));
                }
                failed = self.apt(program, rest, command).filter(|_| failed.is_none()).or(failed);
            }
            "add-apt-repository" | "apt-add-repository" | "aptitude" => self.lists = Lists::Unknown,
            "rm" if arguments.iter().any(|word| word.starts_with("/var/lib/apt/lists") || *word == "/var/lib/apt") => {
                // In a branch they may stay.
                self.lists = if command.arms.branches().is_empty() { Lists::Missing } else { Lists::Unknown };
            }
            "pip" | "pip3" | "uv" | "pipx" => {
                self.pip = true;
                let of_git =
                    rest.iter().find(|word| word.text().contains("git+http") || word.text().contains("git+ssh"));
                let installs = arguments.contains(&"install");
                failed = failed.or_else(|| self.missing("git", of_git.filter(|_| installs)?));
            }
            "python" | "python3" => self.pip |= arguments.contains(&"pip"),
            _ if brings_anything(name, command) => self.anything(),
            _ => {}
        }
        self.mention(words.iter().map(Traced::text));
        failed
    }

    /// What apt is told to install.
    fn apt(&mut self, program: &Traced, rest: &[Traced], command: &Command) -> Option<Breach> {
        let arguments: Vec<&str> = rest.iter().map(Traced::text).collect();
        if arguments.contains(&"update") {
            self.lists = if command.arms.branches().is_empty() { Lists::There } else { Lists::Unknown };
            return None;
        }
        let install = arguments.iter().position(|word| *word == "install")?;
        let names = || rest[install + 1..].iter().filter(|word| !word.text().starts_with('-'));
        let known = |word: &&Traced| {
            catalog::system_package(plain_name(word.text())).is_some() && !self.words.contains(plain_name(word.text()))
        };
        let yes = |word: &&&str| {
            matches!(**word, "--yes" | "--assume-yes" | "--download-only" | "-s" | "--help")
                || word.starts_with("-o")
                || word.starts_with('-') && !word.starts_with("--") && (word.contains('y') || word.contains("qq"))
        };
        let piped = command.arms.iter().any(|arm| arm.kind == shell::Kind::Chain) && self.words.contains("yes");
        let asks = !arguments.iter().any(|word| yes(&word))
            && !arguments.windows(2).any(|two| two == ["-q", "-q"])
            && !piped
            && !self.words.contains("apt.conf.d");
        let failed = if self.open {
            None
        } else if let Some(package) = names().find(known).filter(|_| self.lists == Lists::Missing) {
            let says = format!(
                "{} has no lists of packages here: no update comes before it in this stage, or what it fetched is removed",
                program.text()
            );
            let meant = Some(format!("{} update before it, in the same RUN", program.text()));
            Some(breach(BreachClass::PackagesRefused, package.whole(), "RUN", says, meant))
        } else if asks
            && names()
                .filter(known)
                .filter_map(|word| catalog::system_package(word.text()))
                .any(catalog::SystemPackage::needs_more)
        {
            let says = format!("{} asks whether to go on, and nobody answers in a build", program.text());
            Some(breach(
                BreachClass::PackagesRefused,
                program.whole().to(rest[install].whole()),
                "RUN",
                says,
                Some(format!("{} install -y", program.text())),
            ))
        } else {
            None
        };
        let names: Vec<String> = names().map(|word| plain_name(word.text()).to_owned()).collect();
        for name in names {
            match catalog::system_package(&name) {
                Some(package) => self.words.extend(package.programs().map(str::to_owned)),
                None => self.open = true,
            }
            self.words.insert(name);
        }
        failed
    }

    fn copy(&mut self, line: &Instruction) {
        let words = line.json_array().unwrap_or_else(|| line.words());
        let target = words.last().map_or("", Traced::text);
        let from_elsewhere = line.flag("from").is_some() || line.keyword == "ADD";
        let of_system =
            ["/usr", "/bin", "/sbin", "/etc", "/opt", "/root", "/lib"].iter().any(|start| target.starts_with(start))
                || target == "/";
        self.open |= from_elsewhere || of_system && target.contains("bin") || target == "/";
        if of_system {
            self.lists = Lists::Unknown;
        }
        self.mention(words.iter().map(Traced::text));
    }

    fn anything(&mut self) {
        (self.open, self.lists) = (true, Lists::Unknown);
    }

    /// Words of what was done, each of which may be the name of a program that is there now.
    fn mention<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        for word in words {
            let parts = word.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.' | '+' | '_'));
            self.words.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        }
    }

    /// A program that is not there.
    fn lacking(&self, program: &Traced) -> Option<Breach> {
        self.missing(program.text(), program)
    }

    fn missing(&self, name: &str, place: &Traced) -> Option<Breach> {
        let (package, by_pip) = catalog::package_of_program(name)?;
        let base = self.stage.base?;
        let there = self.open || self.words.contains(name) || by_pip && self.pip || !base.lacks(name);
        // pip comes by scripts and archives of many names.
        if there
            || name.starts_with("pip") && self.words.iter().any(|word| word.contains("pip") || word.contains("venv"))
        {
            return None;
        }
        let says = format!("{name} is not in this image, and no step before installs it");
        let release = if package.is_empty() { None } else { Some(format!("apt-get install -y {package} before it")) };
        Some(breach(BreachClass::ProgramMissing, place.whole(), name, says, release))
    }
}

/// The name of a package without its release and architecture.
fn plain_name(word: &str) -> &str {
    word.split(['=', ':', '/']).next().unwrap_or(word)
}

/// Whether a command may put any program into the image.
fn brings_anything(name: &str, command: &Command) -> bool {
    const KNOWN: [&str; 34] = [
        "cd",
        "echo",
        "export",
        "mkdir",
        "rm",
        "chmod",
        "chown",
        "set",
        "touch",
        "cat",
        "sed",
        "grep",
        "useradd",
        "groupadd",
        "adduser",
        "addgroup",
        "usermod",
        "true",
        "ls",
        "test",
        "[",
        "sleep",
        "locale-gen",
        "ldconfig",
        "git",
        "curl",
        "wget",
        "printf",
        "find",
        "id",
        "nvcc",
        "nvidia-smi",
        "whoami",
        "exit",
    ];
    let to_file = command
        .words
        .iter()
        .any(|word| ["/bin", "/usr", "/opt", "/etc/apt"].iter().any(|place| word.text().contains(place)));
    let writes = command
        .redirections
        .iter()
        .any(|redirection| ["/bin", "/etc", "/usr", "/opt"].iter().any(|place| redirection.text().contains(place)));
    let name = name.rsplit('/').next().unwrap_or(name);
    let removes = matches!(name, "rm" | "ls" | "grep" | "test" | "[" | "cat" | "chmod");
    !KNOWN.contains(&name) || writes || to_file && !removes
}
