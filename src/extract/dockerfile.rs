//! Dockerfiles: stages, what each starts from, installs, copies and sets. Knows the instructions; what an image
//! or a package brings is joined later.

use super::{image, install, launch};
use crate::facts::{Build, EnvVar, Facts, Instruction, Labels, Package, PackageManager, PythonHome};
use crate::known::{Fact, Why};
use crate::parse::dockerfile::{self, Instruction as Line};
use crate::parse::{placeholder, shell};
use crate::source::{SourceId, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads a Dockerfile into facts.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> super::TextFile {
    let parsed = dockerfile::parse(id, text);
    let mut global: BTreeMap<String, String> = BTreeMap::new();
    let mut stages: Vec<Build> = Vec::new();
    let mut scope: BTreeMap<String, String> = BTreeMap::new();
    for line in &parsed.instructions {
        if line.keyword == "FROM" {
            scope = BTreeMap::new();
            stages.extend(start(line, path, &global, &stages));
            if let Some(stage) = stages.last() {
                let inherited = stage.env.iter().filter_map(|(k, v)| Some((k.clone(), v.get()?.clone())));
                scope.extend(inherited);
            }
            continue;
        }
        let Some(stage) = stages.last_mut() else {
            if line.keyword == "ARG" {
                for a in line.assignments() {
                    let known = a.value.and_then(|v| shell::expand(v.text(), &|n| global.get(n).cloned()));
                    global.extend(known.map(|v| (a.name.text().to_owned(), v)));
                }
            }
            continue;
        };
        instruction(line, stage, &mut scope, &global);
        inherit(line, &mut stages);
    }
    if let Some(last) = stages.last_mut() {
        last.final_stage = Fact::value(true, last.span);
    }
    facts.builds.extend(stages.into_iter().map(Arc::new));
    super::TextFile { problems: parsed.problems, comments: parsed.comments, ..super::TextFile::default() }
}

fn start(line: &Line, path: &str, global: &BTreeMap<String, String>, stages: &[Build]) -> Option<Build> {
    let base = line.base()?;
    let named = |stage: &&Build| stage.stage.get().is_some_and(|s| s.eq_ignore_ascii_case(base.image.text()));
    let mut build = match stages.iter().rev().find(named) {
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
            build
        }
    };
    build.path = Fact::value(path.to_owned(), line.keyword_span);
    build.stage = base.alias.map_or_else(|| Fact::absent(line.keyword_span), |a| install::fact(&a));
    build.final_stage = Fact::value(false, line.keyword_span);
    build.launch = build.launch.filter(|_| base.image.text() != "scratch");
    Some(build)
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

/// Adds the Python packages of an earlier stage to the last one when it copies the directory that holds them.
fn inherit(line: &Line, stages: &mut [Build]) {
    let Some((last, earlier)) = stages.split_last_mut() else { return };
    let flag = line.flags.iter().find(|f| f.name == "from").filter(|_| line.keyword == "COPY");
    let Some(from) = flag.and_then(|f| f.value.as_ref()).map(Traced::text) else { return };
    let named = |(index, stage): &(usize, &Build)| {
        stage.stage.get().is_some_and(|s| s.eq_ignore_ascii_case(from)) || from == index.to_string()
    };
    let words = line.json_array().unwrap_or_else(|| line.words());
    let copied = words.split_last().map_or(&[][..], |(_, sources)| sources);
    let Some((_, stage)) =
        earlier.iter().enumerate().rfind(named).filter(|_| copied.iter().any(|w| holds_packages(w.text())))
    else {
        return;
    };
    let of_python = |p: &&Package| {
        matches!(p.manager.get(), Some(PackageManager::Pip | PackageManager::Uv | PackageManager::Conda))
    };
    last.packages.extend(stage.packages.iter().filter(of_python).cloned());
    last.package_files.extend(stage.package_files.iter().cloned());
}

fn expanded(text: &Traced, scope: &BTreeMap<String, String>) -> Traced {
    if !text.text().contains('$') {
        return text.clone();
    }
    match shell::expand(text.text(), &|name| scope.get(name).cloned()) {
        Some(value) => Traced::opaque(value, text.whole()),
        None => text.clone(),
    }
}

fn instruction(
    line: &Line,
    stage: &mut Build,
    scope: &mut BTreeMap<String, String>,
    global: &BTreeMap<String, String>,
) {
    let text = |t: String, span| Instruction {
        perhaps: None,
        span,
        keyword: Fact::value(line.keyword.clone(), line.keyword_span),
        text: Fact::value(t, span),
        assignments: Fact::absent(span),
        program: Fact::absent(span),
        words: Vec::new(),
    };
    match line.keyword.as_str() {
        "RUN" => {
            for command in line.script().resolved(&|name| scope.get(name).cloned()).commands {
                let words: Vec<Traced> = command.words.iter().map(|w| w.traced().clone()).collect();
                let said: Vec<&str> = words.iter().map(Traced::text).collect();
                let mut run = text(said.join(" "), command.span);
                let given: Vec<String> = command
                    .assignments
                    .iter()
                    .map(|(name, value)| format!("{name}={}", value.traced().text()))
                    .collect();
                run.assignments = Fact::from_option((!given.is_empty()).then(|| given.join(" ")), command.span);
                let program = install::program(&words);
                let python = program.as_deref().and_then(|program| install::python_of(program, &words));
                // An environment of a Python that was brought along is still of that Python.
                let brought = stage.python.get().is_some_and(|kept| *kept != PythonHome::System);
                if let Some(python) = python.filter(|python| *python != PythonHome::Venv || !brought) {
                    stage.python = Fact::value(python, command.span);
                }
                run.program = Fact::from_option(program, command.span);
                run.words = words.iter().map(install::fact).collect();
                stage.instructions.push(run);
                let Some(mut found) = install::of_command(&words) else { continue };
                for package in &mut found.packages {
                    let index = scope.get("PIP_INDEX_URL").map(|u| Traced::opaque(u.as_str(), package.span));
                    let extra = scope.get("PIP_EXTRA_INDEX_URL").map(|u| Traced::opaque(u.as_str(), package.span));
                    if package.index_url.is_absent() {
                        install::set_indexes(package, index.as_ref(), &[]);
                    }
                    if package.extra_indexes.is_absent() {
                        install::set_indexes(package, None, extra.as_slice());
                    }
                }
                let redirections: Vec<Traced> = command.redirections.iter().map(|r| r.traced().clone()).collect();
                install::unquoted(&mut found.packages, &redirections);
                stage.packages.append(&mut found.packages);
                stage.package_files.append(&mut found.files);
                stage.constraints.append(&mut found.constraints);
                stage.groups.append(&mut found.groups);
            }
            return;
        }
        "ENV" | "ARG" => {
            for a in line.assignments() {
                let name = a.name.text().to_owned();
                let value = a.value.map(|v| expanded(&v, scope));
                let known = value.as_ref().filter(|v| placeholder(v.text()).is_none()).map(|v| v.text().to_owned());
                let known = known.or_else(|| global.get(&name).cloned().filter(|_| line.keyword == "ARG"));
                scope.extend(known.map(|v| (name.clone(), v)));
                let labels: &mut Labels = if line.keyword == "ENV" { &mut stage.env } else { &mut stage.args };
                // A list that goes on with what was there (`$PATH`) is known as far as it is written.
                let fact =
                    value.map_or_else(|| Fact::absent(a.name.whole()), |v| Fact::value(v.text().to_owned(), v.whole()));
                if line.keyword == "ENV" {
                    on_path(&name, &fact, &mut stage.python);
                }
                labels.insert(name, fact);
            }
        }
        "COPY" | "ADD" if !line.flags.iter().any(|f| f.name == "from") => {
            let words = line.json_array().unwrap_or_else(|| line.words());
            let sources = words.len().saturating_sub(1);
            stage.copies.extend(words[..sources].iter().map(|w| install::fact(&expanded(w, scope))));
        }
        // What another stage made may hold a Python of its own.
        "COPY" if stage.python.get() == Some(&PythonHome::System) => {
            stage.python = Fact::unknown(Why::Remote("what is copied from another stage".into()), line.span);
        }
        "CMD" | "ENTRYPOINT" => {
            let variable = |(name, value): (&String, &Fact<String>)| {
                (name.clone(), EnvVar { value: value.clone(), ..EnvVar::blank(value.span) })
            };
            let env: BTreeMap<String, EnvVar> = stage.env.iter().map(variable).collect();
            stage.launch = launch::of_script(&line.script(), &env).or(stage.launch.take());
        }
        _ => {}
    }
    let flags: Vec<String> =
        line.flags.iter().map(|f| format!("--{}={} ", f.name, f.value.as_ref().map_or("", |v| v.text()))).collect();
    stage.instructions.push(text(format!("{}{}", flags.concat(), line.rest.text()), line.span));
}
