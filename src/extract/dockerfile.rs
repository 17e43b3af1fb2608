//! Dockerfiles: stages, what each starts from, installs, copies and sets. Knows the instructions; what an image
//! or a package brings is joined later.

mod told;

pub use told::{Told, built_with};

use super::{image, install, launch, machinery, scripts, wrappers};
use crate::budget::{NODE, Share, Spent};
use crate::facts::value::REST;
use crate::facts::{Build, Container, EnvVar, Facts, Instruction, Labels, Launch, Package, PackageManager, PythonHome};
use crate::known::{Fact, Known, Why};
use crate::parse::dockerfile::{self, Instruction as Line};
use crate::parse::{Problem, markers, placeholder, shell};
use crate::paths;
use crate::source::{SourceId, Span, Traced};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Reads a Dockerfile into facts.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> super::TextFile {
    let parsed = dockerfile::parse(id, text);
    let (stages, cut) = stages(&parsed.instructions, path, &Labels::new());
    facts.workloads.extend(stages.last().and_then(scripts::of_image));
    facts.builds.extend(stages.into_iter().map(Arc::new));
    below(&parsed.instructions, path, facts);
    let (problems, comments) = (parsed.problems.clone(), parsed.comments.clone());
    facts.dockerfiles.push(Arc::new(parsed));
    super::TextFile { problems, comments, cut, ..super::TextFile::default() }
}

/// What its variables and its commands state below the packages: what code is compiled for, versions. A variable of the
/// environment is what it was last set to as it is written; arguments are up to who builds it.
fn below(lines: &[Line], path: &str, facts: &mut Facts) {
    let mut set: BTreeMap<String, String> = BTreeMap::new();
    for line in lines {
        match line.keyword.as_str() {
            "ENV" | "ARG" => {
                for assigned in line.assignments() {
                    let Some(value) = assigned.value else { continue };
                    machinery::stated(assigned.name.text(), &value, path, facts);
                    let fixed = line.keyword == "ENV" && !value.text().contains('$');
                    let plain = fixed.then(|| value.text().to_owned());
                    set.extend(plain.map(|value| (assigned.name.text().to_owned(), value)));
                }
            }
            "RUN" => machinery::read(&line.script().resolved(&|name| set.get(name).cloned()), path, facts),
            _ => {}
        }
    }
}

/// Variables by name. What is looked up is paid for: values may be made of values.
struct Scope<'s> {
    values: BTreeMap<String, String>,
    /// Where values are written out that nothing overrides.
    written: BTreeMap<String, Traced>,
    /// Files that the stage writes out of heredocs, by their names.
    files: BTreeMap<String, Traced>,
    share: &'s Share,
}

impl<'s> Scope<'s> {
    fn new(share: &'s Share) -> Self {
        Self { values: BTreeMap::new(), written: BTreeMap::new(), files: BTreeMap::new(), share }
    }

    fn get(&self, name: &str) -> Option<String> {
        let value = self.values.get(name)?;
        self.share.make(value.len()).ok()?;
        Some(value.clone())
    }
}

/// The stages, and the problem that the rest is not read, where too much is made of the text.
pub(super) fn stages(lines: &[Line], path: &str, given: &Labels) -> (Vec<Build>, Option<Problem>) {
    let share = Share::least(lines.iter().map(|line| line.span.range().len()).sum());
    let (global, scope) = (Scope::new(&share), Scope::new(&share));
    let mut reader = Reader { share: &share, stages: vec![], starts: vec![], names: BTreeMap::new(), global, scope };
    let cut = lines.iter().find_map(|line| {
        let spent = reader.line(line, path, given).err().or(share.spent())?;
        Some(Problem { span: line.keyword_span, message: format!("the stages from here on: {spent}") })
    });
    let mut stages = reader.stages;
    if let Some(last) = stages.last_mut() {
        last.final_stage = Fact::value(true, last.span);
    }
    (stages, cut)
}

/// Reads instructions one after the other.
struct Reader<'l, 's> {
    share: &'s Share,
    stages: Vec<Build>,
    starts: Vec<Start<'l>>,
    /// The last stage of each name, in lower case.
    names: BTreeMap<String, usize>,
    global: Scope<'s>,
    scope: Scope<'s>,
}

impl<'l> Reader<'l, '_> {
    fn line(&mut self, line: &'l Line, path: &str, given: &Labels) -> Result<(), Spent> {
        self.share.work(line.span.range().len())?;
        if line.keyword == "FROM" {
            return self.from(line, path);
        }
        let Some(stage) = self.stages.last_mut() else {
            if line.keyword == "ARG" {
                for a in line.assignments() {
                    let plain = a.value.as_ref().filter(|value| !value.text().contains('$'));
                    self.global.written.extend(plain.map(|v| (a.name.text().to_owned(), (*v).clone())));
                    let known = a.value.and_then(|v| shell::expand(v.text(), &|n| self.global.get(n)));
                    self.global.values.extend(known.map(|v| (a.name.text().to_owned(), v)));
                }
                give(line, given, &mut self.global, &mut Labels::new());
            }
            return Ok(());
        };
        instruction(line, stage, &mut self.scope, &self.global);
        give(line, given, &mut self.scope, &mut stage.args);
        if let Some(start) = self.starts.last_mut()
            && start.takes(line)
        {
            self.share.work(NODE * (1 + stage.env.len()))?;
            stage.launch = start.launch(stage);
            if line.keyword == "ENTRYPOINT" {
                stage.entrypoint = Fact::value(true, line.keyword_span);
            }
        }
        self.inherit(line)
    }

    /// Opens a stage, on an earlier one or on an image.
    fn from(&mut self, line: &'l Line, path: &str) -> Result<(), Spent> {
        self.scope.values.clear();
        self.scope.files.clear();
        let Some(base) = line.base() else { return Ok(()) };
        let under = self.names.get(&base.image.text().to_ascii_lowercase()).copied();
        if let Some(at) = under {
            let (stage, deferred) = (&self.stages[at], &self.starts[at].deferred);
            let lists = stage.packages.len() + stage.package_files.len() + stage.env.len() + stage.args.len();
            self.share.make(NODE * (lists + stage.copies.len() + stage.constraints.len() + deferred.len()))?;
        }
        let mut stage = start(line, &base, path, &self.global, under.map(|at| &self.stages[at]));
        let mut start = under.map_or_else(Start::default, |at| self.starts[at].inherited());
        let inherited = stage.env.iter().filter_map(|(k, v)| Some((k.clone(), v.get()?.clone())));
        self.scope.values.extend(inherited);
        for deferred in std::mem::take(&mut start.deferred) {
            self.share.make(deferred.rest.text().len())?;
            instruction(&deferred, &mut stage, &mut self.scope, &self.global);
        }
        if let Some(name) = stage.stage.get() {
            self.names.insert(name.to_ascii_lowercase(), self.stages.len());
        }
        self.stages.push(stage);
        self.starts.push(start);
        Ok(())
    }

    /// Adds the Python packages of an earlier stage to the last one when it copies the directory that holds them.
    fn inherit(&mut self, line: &Line) -> Result<(), Spent> {
        let Some((last, earlier)) = self.stages.split_last_mut() else { return Ok(()) };
        let flag = line.flags.iter().find(|f| f.name == "from").filter(|_| line.keyword == "COPY");
        let Some(from) = flag.and_then(|f| f.value.as_ref()).map(Traced::text) else { return Ok(()) };
        let named = self.names.get(&from.to_ascii_lowercase()).copied().or_else(|| from.parse().ok());
        let words = line.json_array().unwrap_or_else(|| line.words());
        let copied = words.split_last().map_or(&[][..], |(_, sources)| sources);
        let stage = named.and_then(|at| earlier.get(at)).filter(|_| copied.iter().any(|w| holds_packages(w.text())));
        let Some(stage) = stage else { return Ok(()) };
        self.share.make(NODE * (stage.packages.len() + last.packages.len() + stage.package_files.len()))?;
        // What was copied before, by this way or another, is there once.
        let key = |p: &Package| (p.span, p.name.get().cloned());
        let mut there: BTreeSet<_> = last.packages.iter().map(key).collect();
        let of_python = |p: &&Package| {
            matches!(p.manager.get(), Some(PackageManager::Pip | PackageManager::Uv | PackageManager::Conda))
        };
        last.packages.extend(stage.packages.iter().filter(of_python).filter(|p| there.insert(key(p))).cloned());
        let mut there: BTreeSet<_> = last.package_files.iter().map(|file| (file.span, file.get().cloned())).collect();
        let new = stage.package_files.iter().filter(|file| there.insert((file.span, file.get().cloned())));
        last.package_files.extend(new.cloned());
        Ok(())
    }
}

/// Arguments that are given take the place of defaults; those that cannot be told leave them open.
fn give(line: &Line, given: &Labels, scope: &mut Scope<'_>, args: &mut Labels) {
    for argument in line.assignments().into_iter().filter(|_| line.keyword == "ARG") {
        let name = argument.name.text();
        let Some(fact) = given.get(name).or_else(|| given.get(REST)) else { continue };
        match fact.get() {
            Some(value) => drop(scope.values.insert(name.to_owned(), value.clone())),
            None => drop(scope.values.remove(name)),
        }
        scope.written.remove(name);
        args.insert(name.to_owned(), fact.clone());
    }
}

/// What the image of a stage starts, and what it defers to the stages on it.
#[derive(Debug, Clone, Default)]
struct Start<'l> {
    entrypoint: Option<&'l Line>,
    command: Option<&'l Line>,
    /// Whether the command is that of the stage underneath.
    command_is_inherited: bool,
    deferred: Vec<Line>,
}

impl<'l> Start<'l> {
    fn inherited(&self) -> Self {
        Self { command_is_inherited: true, ..self.clone() }
    }

    /// Takes in an instruction; whether it changes what is started.
    fn takes(&mut self, line: &'l Line) -> bool {
        match line.keyword.as_str() {
            "ENTRYPOINT" => {
                self.entrypoint = Some(line);
                // An entrypoint takes the command of the image underneath away.
                self.command = self.command.filter(|_| !self.command_is_inherited);
            }
            "CMD" => (self.command, self.command_is_inherited) = (Some(line), false),
            _ => {
                self.deferred.extend(line.deferred());
                return false;
            }
        }
        true
    }

    /// What is launched: the command is the arguments of an entrypoint that is a list; another entrypoint ignores it. Without
    /// an entrypoint, that of the base takes it.
    fn launch(&self, stage: &Build) -> Option<Box<Launch>> {
        let span = self.entrypoint.or(self.command)?.span;
        let variable = |(name, value): (&String, &Fact<String>)| {
            let called = Fact::value(name.clone(), value.span);
            (name.clone(), Box::new(EnvVar { name: called, value: value.clone(), ..EnvVar::blank(value.span) }))
        };
        let mut container = Container::blank(span);
        container.env = stage.env.iter().map(variable).collect();
        let entrypoint = self.entrypoint.map(|line| (line, line.json_array()));
        let command = self.command.map(|line| (line, line.json_array()));
        let words = match (entrypoint, command) {
            (Some((line, None)), _) | (None, Some((line, None))) => {
                return launch::of_script(&line.script(), &container.env);
            }
            (Some((_, Some(words))), None) => words,
            (Some((_, Some(words))), Some((_, Some(arguments)))) => [words, arguments].concat(),
            (Some((_, Some(words))), Some((line, None))) => {
                let shell = ["/bin/sh", "-c"].map(|word| Traced::opaque(word, line.keyword_span));
                [words, shell.to_vec(), vec![line.rest.clone()]].concat()
            }
            (None, Some((_, Some(arguments)))) => {
                container.image = stage.base.clone();
                arguments
            }
            (None, None) => return None,
        };
        container.command = words.iter().map(install::fact).collect();
        launch::of(&container, &words.iter().collect::<Vec<_>>())
    }
}

fn start(line: &Line, base: &dockerfile::Base, path: &str, global: &Scope<'_>, under: Option<&Build>) -> Build {
    let mut build = match under {
        Some(under) => Build { instructions: Vec::new(), span: line.span, ..under.clone() },
        None => {
            let mut build = Build::blank(line.span);
            build.python = Fact::value(PythonHome::System, line.span);
            build.base = image::reference(&expanded(&base.image, global));
            build.from = Fact::value(base.image.text().to_owned(), base.image.whole());
            if build.base.repository.get().is_some_and(|name| name.contains("conda") || name.contains("mamba")) {
                build.python = Fact::value(PythonHome::Conda, base.image.whole());
            }
            if let Some(platform) = &base.platform {
                build.base.platform = install::fact(&expanded(platform, global));
            }
            build.entrypoint = Fact::value(false, base.image.whole());
            // A server's image starts the server until the stage says otherwise.
            build.launch = launch::of_base(&build.base);
            build
        }
    };
    build.path = Fact::value(path.to_owned(), line.keyword_span);
    build.stage = base.alias.as_ref().map_or_else(|| Fact::absent(line.keyword_span), install::fact);
    build.final_stage = Fact::value(false, line.keyword_span);
    build.launch = build.launch.filter(|_| base.image.text() != "scratch");
    build
}

/// What the search path says about the Python of a stage.
fn on_path(name: &str, value: &Fact<String>, python: &mut Fact<PythonHome>) {
    let path = value.get().map_or("", String::as_str);
    match name {
        "VIRTUAL_ENV" => *python = Fact::value(PythonHome::Venv, value.span),
        "PATH" if path.contains("venv") => *python = Fact::value(PythonHome::Venv, value.span),
        "PATH" if path.contains("conda") => *python = Fact::value(PythonHome::Conda, value.span),
        "PATH" if path.contains("/opt/") || path.contains("/app") => {
            *python = Fact::unknown(Why::Remote("what stands first in PATH".into()), value.span);
        }
        _ => {}
    }
}

/// Whether a path is one that holds the Python packages of a stage: an environment, wheels, a prefix.
fn holds_packages(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let within =
        |part: &str| ["venv", ".venv", "site-packages", "dist-packages"].contains(&part) || part.ends_with(".whl");
    let prefix = ["local", ".local", "conda", "env", "install", "wheels", "wheelhouse", "dist", "deps", "packages"];
    let last = parts.clone().next_back().unwrap_or_default();
    parts.any(within) || prefix.contains(&last) || last.starts_with("python3.")
}

fn expanded(text: &Traced, scope: &Scope<'_>) -> Traced {
    if !text.text().contains('$') {
        return text.clone();
    }
    // What a variable alone stands for is changed where it is written.
    let lone = text.text().strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let name = lone.or(text.text().strip_prefix('$'));
    if let Some(written) = name.and_then(|name| scope.written.get(name)) {
        return written.clone();
    }
    match shell::expand(text.text(), &|name| scope.get(name)) {
        Some(value) => Traced::opaque(value, text.whole()),
        None => text.clone(),
    }
}

/// The branches of a script that a command stands in, as a condition on the ones that run.
fn branch(line: &Line, script: &shell::Script, command: &shell::Command) -> Option<String> {
    let [either, branch] = markers::BRANCHES;
    let condition = |shell::Arm { construct, branch: arm, .. }: &shell::Arm| {
        let sign = if script.exhaustive.contains(construct) { either } else { branch };
        format!("{sign}{}_{construct} == '{arm}'", line.span.start)
    };
    let all: Vec<String> = command.arms.branches().iter().map(condition).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

fn instruction(line: &Line, stage: &mut Build, scope: &mut Scope<'_>, global: &Scope<'_>) {
    match line.keyword.as_str() {
        "RUN" => return run(line, stage, scope),
        "ENV" | "ARG" => assign(line, stage, scope, global),
        "COPY" | "ADD" if !line.flags.iter().any(|f| f.name == "from") => {
            let words = line.json_array().unwrap_or_else(|| line.words());
            let sources = words.len().saturating_sub(1);
            let target = words.last().map_or("", Traced::text);
            for heredoc in &line.heredocs {
                let name = if target.ends_with('/') { &heredoc.name } else { paths::name(target) };
                scope.files.insert(name.to_owned(), heredoc.body.clone());
            }
            stage.copies.extend(words[..sources].iter().map(|w| install::fact(&expanded(w, scope))));
        }
        // What another stage made may hold a Python of its own.
        "COPY" if stage.python.get() == Some(&PythonHome::System) => {
            stage.python = Fact::unknown(Why::Remote("what is copied from another stage".into()), line.span);
        }
        _ => {}
    }
    let flags: Vec<String> =
        line.flags.iter().map(|f| format!("--{}={} ", f.name, f.value.as_ref().map_or("", |v| v.text()))).collect();
    stage.instructions.push(stated(line, format!("{}{}", flags.concat(), line.rest.text()), line.span));
}

/// An instruction, or a command of one.
fn stated(line: &Line, text: String, span: Span) -> Instruction {
    Instruction {
        perhaps: None,
        span,
        keyword: Fact::value(line.keyword.clone(), line.keyword_span),
        text: Fact::value(text, span),
        assignments: Fact::absent(span),
        program: Fact::absent(span),
        words: Vec::new(),
    }
}

/// The commands of a `RUN`, each by itself, with what they install.
fn run(line: &Line, stage: &mut Build, scope: &Scope<'_>) {
    let known = |name: &str| scope.get(name);
    let inner = |command: &shell::Command| Some(wrappers::inner(command)?.resolved(&known));
    let script = line.script().resolved(&known).unfolded(&inner);
    for command in &script.commands {
        if scope.share.make(NODE * (1 + command.words.len())).is_err() {
            return;
        }
        let words: Vec<Traced> = command.words.iter().map(|w| w.traced().clone()).collect();
        let said: Vec<&str> = words.iter().map(Traced::text).collect();
        let given = |(name, value): &(String, shell::Word)| format!("{name}={}", value.traced().text());
        let given: Vec<String> = command.assignments.iter().map(given).collect();
        let program = install::program(&words);
        let python = program.as_deref().and_then(|program| install::python_of(program, &words));
        // An environment of a Python that was brought along is still of that Python.
        let brought = stage.python.get().is_some_and(|kept| *kept != PythonHome::System);
        if let Some(python) = python.filter(|python| *python != PythonHome::Venv || !brought) {
            stage.python = Fact::value(python, command.span);
        }
        stage.instructions.push(Instruction {
            assignments: Fact::from_option((!given.is_empty()).then(|| given.join(" ")), command.span),
            program: Fact::from_option(program, command.span),
            words: words.iter().map(install::fact).collect(),
            ..stated(line, said.join(" "), command.span)
        });
        installed(command, &words, branch(line, &script, command), stage, scope);
    }
    script.fallbacks().into_iter().for_each(|fallback| tried_first(line, &script, fallback, stage));
    for command in script.substituted() {
        let words: Vec<Traced> = command.words.iter().map(|w| w.traced().clone()).collect();
        if scope.share.make(NODE * (1 + words.len())).is_err() {
            return;
        }
        installed(&command, &words, branch(line, &script, &command), stage, scope);
    }
}

/// Of a package that a command installs, and that the one behind its `||` installs too, one of the two is there.
fn tried_first(line: &Line, script: &shell::Script, (first, then, construct): (usize, usize, u32), stage: &mut Build) {
    let [either, branch] = markers::BRANCHES;
    let of = |at: usize| script.commands[at].span;
    let within = |package: &Package, at: usize| of(at).contains(package.span);
    let name = |package: &Package| package.name.get().cloned();
    let names = |at| stage.packages.iter().filter(|one| within(one, at)).filter_map(name).collect::<BTreeSet<_>>();
    let both: BTreeSet<String> = names(first).intersection(&names(then)).cloned().collect();
    let variable = format!("{}_{construct}", line.span.start);
    for package in stage.packages.iter_mut().filter(|one| one.name.get().is_some_and(|name| both.contains(name))) {
        if of(first).contains(package.span) {
            let own = package.marker.get().map(|own| format!("({own}) and "));
            let marker = format!("{}{either}{variable} == '0'", own.unwrap_or_default());
            package.marker = Fact::value(marker, of(first));
        } else if of(then).contains(package.span)
            && let Known::Value(marker) = &mut package.marker.known
        {
            *marker = marker.replace(&format!("{branch}{variable} "), &format!("{either}{variable} "));
        }
    }
}

/// What a command installs into a stage, from the indexes of its environment, if its branch runs.
fn installed(command: &shell::Command, words: &[Traced], branch: Option<String>, stage: &mut Build, scope: &Scope<'_>) {
    let Some(mut found) = install::of_command(words) else { return };
    for package in &mut found.packages {
        let variable = |name| scope.get(name).map(|url| Traced::opaque(url, package.span));
        let (index, extra) = (variable("PIP_INDEX_URL"), variable("PIP_EXTRA_INDEX_URL"));
        if package.index_url.is_absent() {
            install::set_indexes(package, index.as_ref(), &[]);
        }
        if package.extra_indexes.is_absent() {
            install::set_indexes(package, None, extra.as_slice());
        }
    }
    written(&mut found, scope);
    let redirections: Vec<Traced> = command.redirections.iter().map(|r| r.traced().clone()).collect();
    install::unquoted(&mut found.packages, &redirections);
    if let Some(branch) = branch {
        for package in &mut found.packages {
            let own = package.marker.get().map(|own| format!("({own}) and "));
            package.marker = Fact::value(format!("{}{branch}", own.unwrap_or_default()), command.span);
        }
        for file in &mut found.files {
            *file = Fact::unknown(Why::NotStated("which branch of the script runs".into()), file.span);
        }
    }
    stage.packages.append(&mut found.packages);
    stage.package_files.append(&mut found.files);
    stage.constraints.append(&mut found.constraints);
    stage.groups.append(&mut found.groups);
}

/// Takes the packages of requirement files that the Dockerfile itself writes.
fn written(found: &mut install::Install, scope: &Scope<'_>) {
    for file in std::mem::take(&mut found.files) {
        let body = file.get().and_then(|path| scope.files.get(paths::name(path)));
        match body.filter(|body| scope.share.make(body.text().len()).is_ok()) {
            Some(body) => {
                let mut packages = install::of_requirements(body);
                packages
                    .iter_mut()
                    .for_each(|package| package.options.clone_from(found.options.as_ref().unwrap_or(&file)));
                found.packages.append(&mut packages);
            }
            None => found.files.push(file),
        }
    }
}

/// The variables that an `ENV` or an `ARG` sets.
fn assign(line: &Line, stage: &mut Build, scope: &mut Scope<'_>, global: &Scope<'_>) {
    let of_environment = line.keyword == "ENV";
    for a in line.assignments() {
        let name = expanded(&a.name, scope).text().to_owned();
        // A name that a variable makes up may be any.
        if let Some(why) = placeholder(&name) {
            stage.env.insert(REST.to_owned(), Fact::unknown(why, a.name.whole()));
            continue;
        }
        let value = a.value.map(|v| expanded(&v, scope));
        let known = value.as_ref().filter(|v| placeholder(v.text()).is_none()).map(|v| v.text().to_owned());
        let known = known.or_else(|| global.get(&name).filter(|_| !of_environment));
        scope.values.extend(known.map(|v| (name.clone(), v)));
        // A list that goes on with what was there (`$PATH`) is known as far as it is written.
        let fact = value.map_or_else(|| Fact::absent(a.name.whole()), |v| Fact::value(v.text().to_owned(), v.whole()));
        if of_environment {
            on_path(&name, &fact, &mut stage.python);
        }
        let variables: &mut Labels = if of_environment { &mut stage.env } else { &mut stage.args };
        variables.insert(name, fact);
    }
}
