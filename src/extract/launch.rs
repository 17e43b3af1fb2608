//! Command lines: what a container, a script or a Dockerfile launches. Knows launchers and their flags (which
//! are rows of the catalog); knows no format.

use super::exports;
use super::kubernetes;
use super::wrappers::{self, base_name};
use crate::catalog::{self, ImageModel};
use crate::facts::value::{Blank, REST};
use crate::facts::{Build, Container, EnvVar, Image, Launch, Variables};
use crate::known::{Fact, Why};
use crate::parse::shell::{self, Command, Word};
use crate::parse::{Dialect, Node, Raw, View, placeholder, yaml};
use crate::source::{Span, Traced};
use std::cell::Cell;
use std::collections::BTreeMap;

/// What a container launches, by its command line, else by its image.
pub fn of(container: &Container, words: &[&Traced]) -> Option<Box<Launch>> {
    let name = container.image.registry.get().zip(container.image.repository.get());
    let image = name.map(|(registry, repository)| catalog::familiar_name(registry, repository));
    let by_image = image.as_deref().and_then(catalog::server_of_image);
    let shell = words.first().is_some_and(|first| shell::is_shell(first.text()));
    let commands = commands(words, &container.env);
    let mut launch = of_commands(&commands, &container.env)
        .or_else(|| {
            // Options alone, behind a model where the image takes one, go to the image's own server.
            let words: Vec<Word> = commands.iter().flat_map(|command| command.words.clone()).collect();
            let words = if shell { &[] } else { words.as_slice() };
            let told = !words.is_empty() || container.command.is_empty();
            told.then(|| of_image(by_image?, container.image.repository.span, (words, &container.env)))?
        })
        .or_else(|| commands.iter().rev().find_map(|command| of_python(command, &container.env)))
        .or_else(|| hidden(&commands, by_image.is_some()))?;
    if let (true, Some(server)) = (launch.model.is_absent(), launch.engine.get().and_then(|e| catalog::server(e))) {
        launch.model = fetched(server, &commands, &container.env).unwrap_or(launch.model);
    }
    defaults(&mut launch, container);
    Some(launch)
}

/// What an image starts by itself that is built on another one and states nothing of it.
pub fn of_base(base: &Image) -> Option<Box<Launch>> {
    of(&Container { image: base.clone(), ..Container::blank(base.reference.span) }, &[])
}

/// What a container launches whose image starts as the one that it is built on: the words of the container go to the server of
/// that image.
pub fn on_base(container: &Container, build: &Build) -> Option<Box<Launch>> {
    let mut inner = Container { image: build.base.clone(), ..container.clone() };
    for (name, value) in &build.env {
        let variable = || Box::new(EnvVar { value: value.clone(), ..EnvVar::blank(value.span) });
        inner.env.entry(name.clone()).or_insert_with(variable);
    }
    let view = container.spec.as_ref().map(Raw::view);
    let stated = view.map(|view| ["command", "args"].map(|key| kubernetes::words(view.get(key))).concat());
    let stated = stated.filter(|words| words.len() == container.command.len()).unwrap_or_else(|| {
        let word = |fact: &Fact<String>| Some(Traced::opaque(fact.get()?.as_str(), fact.span));
        container.command.iter().map(word).collect::<Option<_>>().unwrap_or_default()
    });
    let words: Vec<Traced> = stated.iter().map(Traced::unwrapped).collect();
    of(&inner, &words.iter().collect::<Vec<_>>()).filter(|_| words.len() == container.command.len())
}

/// What an operator starts of an engine that it is told by name, with some arguments; `None` for one that is no server.
pub fn of_arguments(engine: &str, place: Span, (words, env): (&[&Traced], &Variables)) -> Option<Box<Launch>> {
    let engine = catalog::server(engine)?.engine;
    let words: Vec<Word> = commands(words, env).into_iter().flat_map(|command| command.words).collect();
    Some(read(engine, place, (&words, env)))
}

/// What KServe's own runtime serves, where no other one is named: vLLM behind a server that takes its flags.
pub fn of_kserve(model: View<'_>, container: &Container, words: &[&Traced]) -> Option<Box<Launch>> {
    let format = model.path("modelFormat.name");
    let runtime = model.get("runtime");
    let own = |node: Node<'_>| node.text().is_some_and(|name| name.starts_with("kserve-huggingfaceserver"));
    let named = runtime.node().is_some_and(|node| !own(node));
    if named || format.string().get().is_none_or(|name| name != "huggingface") {
        return None;
    }
    let words: Vec<Word> = commands(words, &container.env).into_iter().flat_map(|command| command.words).collect();
    let engine = catalog::server_of_program("kserve", Some("huggingface"))?.engine;
    let mut out = read(engine, format.place(), (&words, &container.env));
    if out.flags.get("backend").is_some_and(|backend| backend.get().is_none_or(|b| b != "vllm" && b != "auto")) {
        return None;
    }
    let uri = || model.get("storageUri").string().map(|uri| kubernetes::model_of(&uri).to_owned());
    out.model = out.flags.get("model-id").cloned().unwrap_or_else(uri);
    Some(out)
}

/// The engine that a Ray Serve application configures (`engine_kwargs`), with places in the embedded text.
pub fn of_ray_serve(config: &Traced) -> Option<Box<Launch>> {
    let tree = yaml::parse_traced(config, Dialect::Core);
    let of = tree.nodes().find(|node| node.get("engine_kwargs").is_some())?.view();
    of_llm_config(of)
}

/// The engine of one of the models that Ray Serve is told to serve. <https://docs.ray.io/en/latest/serve/llm/quick-start.html>
pub fn of_llm_config(of: View<'_>) -> Option<Box<Launch>> {
    let arguments = of.get("engine_kwargs");
    let engine = catalog::server_of_program("ray.serve.llm", None)?.engine;
    let mut out = Box::new(Launch::blank(arguments.place()));
    out.engine = Fact::value(engine.to_owned(), arguments.place());
    out.accelerator = of.get("accelerator_type").string();
    let loading = of.get("model_loading_config");
    out.model = loading.get("model_source").string().or(|| loading.get("model_id").string());
    for (name, value) in arguments.entries() {
        out.flags.insert(name.replace('_', "-"), value.string());
    }
    for flag in catalog::launch_flags(engine) {
        if let Some(fact) = flag.flags.split_whitespace().find_map(|name| out.flags.get(name).cloned()) {
            out.set(flag.field, fact);
        }
    }
    Some(out)
}

/// What a script launches: an engine, else the last of its programs of Python.
pub fn of_script(script: &shell::Script, env: &Variables) -> Option<Box<Launch>> {
    let commands = resolved(script, env);
    of_resolved(&commands, env).or_else(|| commands.iter().rev().find_map(|command| of_python(command, env)))
}

/// What the commands of a script launch that has its variables put in.
pub fn of_resolved(commands: &[Command], env: &Variables) -> Option<Box<Launch>> {
    of_commands(commands, env).or_else(|| hidden(commands, false))
}

/// What a server's image starts when it is told nothing but options, and a model where it takes one.
fn of_image(server: catalog::Server, place: Span, (words, env): (&[Word], &Variables)) -> Option<Box<Launch>> {
    let first = words.first();
    let model = first.filter(|first| server.image_model == Some(ImageModel::Argument) && is_model(first));
    if first.is_some_and(|first| !first.text().starts_with('-')) && model.is_none() {
        return None;
    }
    let mut launch = read(server.engine, place, (words, env));
    if let Some(model) = model {
        launch.model = value(model.text(), model.span(), env);
    }
    Some(launch)
}

/// A launch of which nothing can be told: a server is named behind a program that nobody knows, or a script decides what a
/// server's image starts.
fn hidden(commands: &[Command], of_server: bool) -> Option<Box<Launch>> {
    let server = |words: &[Word]| {
        let (name, verb) = (base_name(words[0].text()), words.get(1).map(Word::text));
        let plain = !name.contains('.') && catalog::server_of_program(name, None).is_some();
        !plain && catalog::server_of_program(name, verb).is_some()
    };
    let script = |program: &str| program.ends_with(".sh") || program.starts_with("./");
    let program = commands.iter().find_map(|command| {
        let program = command.words.first()?;
        let named = (1..command.words.len()).any(|at| server(&command.words[at..]));
        (named || of_server && script(program.text())).then_some(program)
    })?;
    let why = Why::NotStated(format!("what {} starts", program.text()).into());
    let mut out = Box::new(Launch::blank(program.span()));
    out.leave_open(&why);
    out.perhaps = Some(why);
    Some(out)
}

/// The commands of a script and of those that it hands to a shell, with the variables that it sets.
fn resolved(script: &shell::Script, env: &Variables) -> Vec<Command> {
    let outside = |name: &str| env.get(name).and_then(|variable| variable.value.get().cloned());
    exports::unfolded(script.resolved(&outside), &wrappers::inner, &|name, _| outside(name)).commands
}

/// The commands behind a list of words: the words themselves, or the script that they hand to a shell.
pub fn commands(words: &[&Traced], env: &Variables) -> Vec<Command> {
    let owned: Vec<Traced> = words.iter().map(|w| (*w).clone()).collect();
    let Some(command) = Command::of_arguments(&owned) else { return Vec::new() };
    if let Some(inner) = wrappers::inner(&command) {
        return resolved(&inner, env);
    }
    // One text with spaces is a command line that some shell splits.
    match words {
        [only] if only.text().contains(char::is_whitespace) => resolved(&shell::parse(only), env),
        [shell, script] if shell::is_shell(shell.text()) && script.text().contains(char::is_whitespace) => {
            resolved(&shell::parse(script), env)
        }
        _ => vec![command],
    }
}

/// Whether the first argument of a server's image names a model: `org/name`, not a program.
fn is_model(word: &Word) -> bool {
    let text = word.text();
    let path = text.starts_with(['/', '.']) || text.ends_with(".sh") || text.ends_with(".py");
    text.starts_with('$') || text.contains('/') && !path && !text.starts_with('-')
}

/// What a list of commands launches: the first server among them, else the first launcher.
fn of_commands(commands: &[Command], env: &Variables) -> Option<Box<Launch>> {
    let serves = |launch: &Launch| {
        launch.engine.get().and_then(|engine| catalog::server(engine)).is_some_and(|server| server.serves)
    };
    let mut found = commands.iter().filter_map(|command| of_command(command, env));
    let first = found.next()?;
    if serves(&first) { Some(first) } else { found.find(|launch| serves(launch)).or(Some(first)) }
}

/// The engine that one command starts: the server behind its wrappers and launchers, else the launcher.
fn of_command(command: &Command, env: &Variables) -> Option<Box<Launch>> {
    let programs = wrappers::programs(&command.words);
    let named = |at: usize| {
        let program = base_name(command.words[at].text());
        (program, program.strip_suffix(".py").unwrap_or(program), command.words.get(at + 1).map(Word::text))
    };
    let server = |at: &usize| {
        let (program, module, verb) = named(*at);
        let server = catalog::server_of_program(program, verb).or_else(|| catalog::server_of_program(module, verb))?;
        Some((*at, server.engine))
    };
    let launcher = |at: &usize| {
        let (program, _, verb) = named(*at);
        Some((*at, catalog::launcher_of_program(program, verb)?))
    };
    let started = || {
        let at = wrappers::image(&command.words)?;
        let name = command.words[at].text().trim_start_matches("docker://");
        of_image(catalog::server_of_image(name)?, command.words[at].span(), (&command.words[at + 1..], env))
    };
    let read = |(at, engine): (usize, &str)| read(engine, command.words[at].span(), (&command.words[at..], env));
    let server = programs.iter().find_map(server).map(read).or_else(started);
    server.or_else(|| programs.iter().rev().find_map(launcher).map(read)).or_else(|| handed_on(&command.words, env))
}

/// Options by which programs are told what engine they start.
const NAMES_ENGINE: [&str; 3] = ["--backend", "--engine", "--framework"];

/// The engine that a program is told by its name, with the options that it hands on in one word:
/// `--framework vllm --framework-args "--model m --tensor-parallel-size 4"`.
fn handed_on(words: &[Word], env: &Variables) -> Option<Box<Launch>> {
    let name = words.windows(2).find(|pair| NAMES_ENGINE.contains(&pair[0].text())).map(|pair| &pair[1])?;
    let engine = catalog::server(name.text()).filter(|server| server.serves)?.engine;
    let handed = words.windows(2).find(|pair| {
        let option = pair[0].text().strip_suffix("-args");
        option.is_some_and(|option| NAMES_ENGINE.contains(&option)) && pair[1].text().starts_with("--")
    })?;
    let options = shell::parse(handed[1].traced()).commands;
    let options: Vec<Word> = options.into_iter().flat_map(|command| command.words).collect();
    Some(read(engine, name.span(), (&options, env)))
}

/// What one command of a script runs: an engine, else a program of Python.
pub fn of_process(command: &Command, env: &Variables) -> Option<Box<Launch>> {
    of_command(command, env).or_else(|| of_python(command, env))
}

/// The program of Python that a command runs.
fn of_python(command: &Command, env: &Variables) -> Option<Box<Launch>> {
    let words = &command.words;
    let is_python = |at: &usize| wrappers::is_python(base_name(words[*at].text()));
    let at = wrappers::programs(words).into_iter().find(is_python)?;
    Some(read("python", words[at].span(), (&words[at..], env)))
}

/// Reads the flags of an engine.
fn read(engine: &str, place: Span, (words, env): (&[Word], &Variables)) -> Box<Launch> {
    let mut out = Box::new(Launch::blank(place));
    let known = || catalog::server(engine).map_or(engine, |server| server.engine);
    out.engine = Fact::watched(|| Fact::value(known().to_owned(), place));
    out.words = words.iter().map(|w| Fact::value(w.text().to_owned(), w.span())).collect();
    out.flags = flags(words, env);
    let mut before = catalog::server(engine).into_iter().flat_map(|server| server.model_after());
    let after = |word: &str| words.iter().position(|w| base_name(w.text()) == word).and_then(|i| words.get(i + 1));
    if let Some(model) = before.find_map(after).filter(|w| !w.text().starts_with('-')) {
        out.model = value(model.text(), model.span(), env);
    }
    for flag in catalog::launch_flags(engine) {
        let stated = flag.flags.split_whitespace().find_map(|name| out.flags.get(name).cloned());
        let stated =
            stated.or_else(|| flag.envs.split_whitespace().find_map(|name| env.get(name)).map(|v| v.value.clone()));
        let Some(fact) = stated else { continue };
        // What is no fact of its own stands among the flags, wherever it was stated.
        if let Some(fact) = out.set(flag.field, fact)
            && let Some(name) = flag.flags.split_whitespace().next()
        {
            out.flags.entry(name.to_owned()).or_insert(fact);
        }
    }
    if let Some((variable, span)) = open(words, out.model.span) {
        out.open = Fact::value(variable.clone(), span);
        let stated = |flag: &catalog::LaunchFlag| {
            let mut names = flag.flags.split_whitespace();
            names.any(|name| out.flags.contains_key(name))
                || flag.envs.split_whitespace().any(|name| env.contains_key(name))
        };
        // What stands behind the script of a launcher is for the script.
        let script = words.iter().skip(1).find(|word| word.text().ends_with(".py"));
        let script = script.filter(|script| catalog::is_launcher(engine) && script.span().start < span.start);
        let missing = catalog::launch_flags(engine).filter(|flag| script.is_none() && !stated(flag));
        let missing: Vec<_> = missing.filter(|flag| flag.field != "model" || out.model.is_absent()).collect();
        for flag in missing {
            out.set(flag.field, Fact::unknown(Why::Variable(variable.as_str().into()).perhaps(), span));
        }
    }
    // KServe puts what the storage URI names there.
    if let Some(uri) = env.get("STORAGE_URI").filter(|_| out.model.get().is_some_and(|m| m == "/mnt/models")) {
        out.model = uri.value.clone();
    }
    out
}

/// A variable on its own among the words of a shell, where no option takes it for its value: it may bring any options.
fn open(words: &[Word], model: Span) -> Option<(String, Span)> {
    let lone = |word: &Word| {
        let text = word.text();
        let name = text.strip_prefix("${").and_then(|t| t.strip_suffix('}')).or_else(|| text.strip_prefix('$'))?;
        let variable = !name.starts_with('(') && !name.contains(['$', '/', ':', '-', ' ']);
        (word.expands && variable && word.span() != model).then(|| (name.to_owned(), word.span()))
    };
    let taken =
        |before: Option<&Word>| before.is_some_and(|word| word.text().starts_with('-') && !word.text().contains('='));
    let places = (0..words.len()).filter(|&at| !taken(at.checked_sub(1).and_then(|at| words.get(at))));
    places.skip(1).find_map(|at| lone(&words[at]))
}

/// The model that a script fetches for its server, or runs; nothing when there are several.
fn fetched(server: catalog::Server, commands: &[Command], env: &Variables) -> Option<Fact<String>> {
    let named = commands.iter().filter_map(|command| {
        let at = command.words.iter().position(|w| base_name(w.text()) == server.engine)?;
        let verb = command.words.get(at + 1).filter(|w| server.fetches().any(|verb| verb == w.text()));
        verb.and(command.words.get(at + 2)).map(|w| value(w.text(), w.span(), env))
    });
    let mut names: Vec<Fact<String>> = named.collect();
    names.dedup_by(|a, b| a.known == b.known);
    if names.len() == 1 { names.pop() } else { None }
}

/// Flags by long name: `--a-b c`, `--a_b=c`, `-tp 2`; a bare flag is `true`.
fn flags(words: &[Word], env: &Variables) -> BTreeMap<String, Fact<String>> {
    let mut out = BTreeMap::new();
    let mut i = 1.min(words.len());
    // Flags alone: there is no program before them.
    if words.first().is_some_and(|w| w.text().starts_with('-')) {
        i = 0;
    }
    while let Some(word) = words.get(i) {
        i += 1;
        let text = word.text();
        let Some(name) = text.strip_prefix("--").or_else(|| text.strip_prefix('-')) else { continue };
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let (name, fact) = match name.split_once('=') {
            Some((name, inline)) => {
                let start = text.len() - inline.len();
                (name, value(inline, word.traced().span(start..text.len()), env))
            }
            None => {
                match words.get(i).filter(|next| !next.text().starts_with('-') || next.text().parse::<f64>().is_ok()) {
                    Some(next) => {
                        i += 1;
                        (name, value(next.text(), next.span(), env))
                    }
                    None => (name, Fact::value("true".to_owned(), word.span())),
                }
            }
        };
        out.insert(name.replace('_', "-"), fact);
    }
    out
}

/// A word with its variables resolved; unknown when one has no value here.
fn value(text: &str, span: Span, env: &Variables) -> Fact<String> {
    if !text.contains('$') {
        return match placeholder(text) {
            Some(why) => Fact::unknown(why, span),
            None => Fact::value(text.trim_matches(['\'', '"']).to_owned(), span),
        };
    }
    // Kubernetes writes $(NAME), shells write ${NAME}.
    let shell_form = kubernetes_to_shell(text);
    // A default that was certain is put in: where one is left, something may set the variable.
    let open = Cell::new(false);
    let lookup = |name: &str| {
        let known = env.get(name).and_then(|v| v.value.get().cloned());
        open.set(open.get() || known.is_none());
        known
    };
    match shell::expand(&shell_form, &lookup).filter(|_| !open.get()) {
        Some(value) => Fact::value(value, span),
        None => Fact::unknown(placeholder(text).unwrap_or_else(|| Why::Variable(text.into())), span),
    }
}

/// `$(NAME)` as `${NAME}`; a command substitution stays as it is.
fn kubernetes_to_shell(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("$(") {
        let inner = &rest[at + 2..];
        let end = inner.find(')');
        let name = end.map(|e| &inner[..e]).filter(|n| n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        match (name, end) {
            (Some(name), Some(end)) => {
                out.push_str(&rest[..at]);
                out.push_str(&format!("${{{name}}}"));
                rest = &inner[end + 1..];
            }
            _ => {
                out.push_str(&rest[..at + 2]);
                rest = inner;
            }
        }
    }
    out + rest
}

/// What the server does when nothing is stated.
fn defaults(launch: &mut Launch, container: &Container) {
    let Some(server) = launch.engine.get().and_then(|engine| catalog::server(engine)) else { return };
    if launch.words.first().and_then(Fact::get).is_some_and(|word| server.is_worker(base_name(word))) {
        let frontend = || Why::LeftTo("the frontend".into());
        launch.port = Fact::unknown(frontend(), launch.engine.span);
        launch.authenticated = Fact::unknown(frontend(), launch.engine.span);
        return;
    }
    if let (true, Some(port)) = (launch.port.is_absent(), server.port) {
        launch.port = Fact::value(port, launch.engine.span).resting_on(launch.engine.unread);
    }
    let image = &container.image.repository;
    // Images of NIM are named as the model that they hold.
    let named = container.image.registry.get().zip(image.get()).map(|(host, name)| format!("{host}/{name}"));
    let model = named.as_deref().and_then(|name| server.model_of_image(name));
    if let (true, Some(model)) = (launch.model.is_absent(), model) {
        launch.model = Fact::value(model.to_owned(), image.span);
    }
    let flag = server.auth_flags().find_map(|f| launch.flags.get(f));
    let env = server.auth_envs().find_map(|e| container.env.get(e));
    let empty = |fact: &Fact<String>| fact.get().is_some_and(|v| v.trim_matches(['\'', '"']).is_empty());
    launch.authenticated = match (flag, env) {
        (Some(flag), _) => Fact::value(!empty(flag), flag.span),
        (None, Some(env)) => Fact::value(!empty(&env.value), env.span),
        (None, None) if container.env.contains_key(REST) => container.env[REST].value.clone().map(|_| false),
        (None, None) if launch.open.get().is_some() => {
            Fact::unknown(Why::Variable(launch.open.get().map_or("", String::as_str).into()), launch.open.span)
        }
        (None, None) => Fact::value(false, launch.engine.span).resting_on(launch.engine.unread),
    };
}
