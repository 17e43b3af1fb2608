//! Command lines: what a container, a script or a Dockerfile launches. Knows launchers and their flags (which
//! are rows of the catalog); knows no format.

use crate::catalog;
use crate::facts::{Container, EnvVar, Launch};
use crate::known::{Fact, Why};
use crate::parse::shell::{self, Command, Word};
use crate::parse::{Dialect, View, placeholder, yaml};
use crate::source::{Span, Traced};
use std::collections::BTreeMap;

/// Words that run another command.
const PREFIXES: &[&str] = &[
    "env",
    "exec",
    "nohup",
    "sudo",
    "time",
    "uv",
    "run",
    "poetry",
    "tini",
    "--",
    "srun",
    "numactl",
    "dumb-init",
    "stdbuf",
];

/// What a container launches, by its command line, else by its image.
pub fn of(container: &Container, words: &[&Traced]) -> Option<Launch> {
    let name = container.image.registry.get().zip(container.image.repository.get());
    let image = name.map(|(registry, repository)| super::image::full_name(registry, repository));
    let by_image = image.as_deref().and_then(catalog::server_of_image);
    let mut launch = commands(words)
        .iter()
        .find_map(|command| of_command(command, &container.env))
        .or_else(|| {
            // Flags alone go to the image's own server.
            let server = by_image?;
            let place = container.image.repository.span;
            let words: Vec<Word> =
                words.first().filter(|w| w.text().starts_with('-')).map(|_| arguments(words)).unwrap_or_default();
            let idle = !words.is_empty() || container.command.is_empty();
            idle.then(|| read(server.engine, place, (&words, &container.env)))
        })
        .or_else(|| {
            let first = commands(words).into_iter().find_map(|c| c.words.into_iter().next())?;
            let program = base_name(first.text()).to_owned();
            program.starts_with("python").then(|| {
                let all = commands(words).into_iter().next().map(|c| c.words).unwrap_or_default();
                read("python", first.span(), (&all, &container.env))
            })
        })?;
    if let (true, Some(server)) = (launch.model.is_absent(), launch.engine.get().and_then(|e| catalog::server(e))) {
        launch.model = fetched(server, &commands(words), &container.env).unwrap_or(launch.model);
    }
    defaults(&mut launch, container);
    Some(launch)
}

/// What KServe's own runtime serves: vLLM behind a server that takes its flags.
pub fn of_kserve(model: View<'_>, container: &Container, words: &[&Traced]) -> Option<Launch> {
    let format = model.path("modelFormat.name");
    if format.string().get().is_none_or(|name| name != "huggingface") {
        return None;
    }
    let mut out = read("vllm", format.place(), (&arguments(words), &container.env));
    if out.flags.get("backend").is_some_and(|backend| backend.get().is_none_or(|b| b != "vllm" && b != "auto")) {
        return None;
    }
    let uri = || model.get("storageUri").string();
    out.model = out.flags.get("model-id").cloned().unwrap_or_else(uri);
    Some(out)
}

/// The engine that a Ray Serve application configures (`engine_kwargs`), with places in the embedded text.
pub fn of_ray_serve(config: &Traced) -> Option<Launch> {
    let tree = yaml::parse_traced(config, Dialect::Core);
    let of = tree.nodes().find(|node| node.get("engine_kwargs").is_some())?.view();
    let arguments = of.get("engine_kwargs");
    let mut out = Launch::blank(arguments.place());
    out.engine = Fact::value("vllm".to_owned(), arguments.place());
    let loading = of.get("model_loading_config");
    out.model = loading.get("model_source").string().or(|| loading.get("model_id").string());
    for (name, value) in arguments.entries() {
        out.flags.insert(name.replace('_', "-"), value.string());
    }
    for flag in catalog::launch_flags("vllm") {
        if let Some(fact) = flag.flags.split_whitespace().find_map(|name| out.flags.get(name).cloned()) {
            out.set(flag.field, fact);
        }
    }
    Some(out)
}

/// What a script launches: the first command with a known launcher.
pub fn of_script(script: &shell::Script, env: &BTreeMap<String, EnvVar>) -> Option<Launch> {
    script.commands.iter().find_map(|command| match command.inner() {
        Some(inner) => inner.commands.iter().find_map(|c| of_command(c, env)),
        None => of_command(command, env),
    })
}

/// The commands behind a list of words: the words themselves, or the script that they hand to a shell.
fn commands(words: &[&Traced]) -> Vec<Command> {
    let owned: Vec<Traced> = words.iter().map(|w| (*w).clone()).collect();
    let Some(command) = Command::of_arguments(&owned) else { return Vec::new() };
    if let Some(inner) = command.inner() {
        return inner.commands;
    }
    // One text with spaces is a command line that some shell splits.
    match words {
        [only] if only.text().contains(char::is_whitespace) => shell::parse(only).commands,
        [shell, script] if shell::is_shell(shell.text()) && script.text().contains(char::is_whitespace) => {
            shell::parse(script).commands
        }
        _ => vec![command],
    }
}

fn arguments(words: &[&Traced]) -> Vec<Word> {
    match words {
        [only] if only.text().contains(char::is_whitespace) => {
            shell::parse(only).commands.into_iter().flat_map(|c| c.words).collect()
        }
        _ => commands(words).into_iter().flat_map(|c| c.words).collect(),
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The engine that one command starts.
fn of_command(command: &Command, env: &BTreeMap<String, EnvVar>) -> Option<Launch> {
    let (at, engine) = command.words.iter().enumerate().take(24).find_map(|(i, word)| {
        let program = base_name(word.text());
        let module = program.strip_suffix(".py").unwrap_or(program);
        let before = &command.words[..i];
        let flag = |w: &Word| w.text().starts_with('-');
        let first = before.iter().enumerate().all(|(i, w)| {
            let text = base_name(w.text());
            let value = i.checked_sub(1).is_some_and(|previous| flag(&before[previous]));
            PREFIXES.contains(&text) || text.starts_with("python") || flag(w) || value || w.assignment().is_some()
        });
        // A launcher may stand behind another one: mpirun … python, ray … vllm.
        let verb = command.words.get(i + 1).map(Word::text);
        let server = catalog::server_of_program(program, verb).or_else(|| catalog::server_of_program(module, verb));
        let engine = server.map(|s| s.engine).or_else(|| catalog::launcher_of_program(program, verb))?;
        first.then_some((i, engine))
    })?;
    let word = &command.words[at];
    Some(read(engine, word.span(), (&command.words[at..], env)))
}

/// Reads the flags of an engine.
fn read(engine: &str, place: Span, (words, env): (&[Word], &BTreeMap<String, EnvVar>)) -> Launch {
    let mut out = Launch::blank(place);
    out.engine = Fact::value(engine.to_owned(), place);
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
    // KServe puts what the storage URI names there.
    if let Some(uri) = env.get("STORAGE_URI").filter(|_| out.model.get().is_some_and(|m| m == "/mnt/models")) {
        out.model = uri.value.clone();
    }
    out
}

/// The model that a script fetches for its server, or runs; nothing when there are several.
fn fetched(server: catalog::Server, commands: &[Command], env: &BTreeMap<String, EnvVar>) -> Option<Fact<String>> {
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
fn flags(words: &[Word], env: &BTreeMap<String, EnvVar>) -> BTreeMap<String, Fact<String>> {
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
fn value(text: &str, span: Span, env: &BTreeMap<String, EnvVar>) -> Fact<String> {
    if !text.contains('$') {
        return match placeholder(text) {
            Some(why) => Fact::unknown(why, span),
            None => Fact::value(text.trim_matches(['\'', '"']).to_owned(), span),
        };
    }
    // Kubernetes writes $(NAME), shells write ${NAME}.
    let shell_form = kubernetes_to_shell(text);
    let lookup = |name: &str| env.get(name).and_then(|v| v.value.get().cloned());
    match shell::expand(&shell_form, &lookup) {
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
    if let (true, Some(port)) = (launch.port.is_absent(), server.port) {
        launch.port = Fact::value(port, launch.engine.span);
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
        (None, None) => Fact::value(false, launch.engine.span),
    };
}
