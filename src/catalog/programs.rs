//! Programs and images that serve models, launch training or run another command. Knows no formula and no command line.

use super::table::{Row, Table};
use super::tables::{LAUNCHERS, SERVERS, STATING_COMMANDS, WRAPPERS};
use std::collections::HashMap;
use std::str::SplitAsciiWhitespace;
use std::sync::LazyLock;

/// How an engine divides the memory of a GPU when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planner {
    /// A profile run, then the cache takes what is left of a share of the card.
    Profiled,
    /// Weights and cache take a fixed share.
    StaticFraction,
    /// A warm-up over the largest batch, then the rest is cache.
    WarmedUp,
    /// The cache takes a share of what is free once the weights are loaded.
    ShareOfFree,
    /// Layers are spread over the GPUs with their cache.
    Layered,
    /// Nothing is known but that weights and cache must fit.
    Plain,
}

/// Where a server's image tells the model when nothing else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageModel {
    /// The first argument that is no option.
    Argument,
    /// The name of the image itself, behind the part that all of its images share.
    Name,
}

/// An inference server, a notebook server or another program that listens.
#[derive(Clone, Copy)]
pub struct Server {
    /// Its name in the vocabulary: vllm, sglang, tgi …
    pub engine: &'static str,
    /// Whether it serves a model.
    pub serves: bool,
    /// Whether a person works in it.
    pub notebook: bool,
    /// Its default port.
    pub port: Option<i64>,
    /// How it divides memory; `None` for what holds no model of its own.
    pub planner: Option<Planner>,
    /// Whether it spreads over every GPU it sees without being told.
    pub spreads: bool,
    /// Whether it lays weights out by itself, so that a checkpoint's padding does not count.
    pub own_layout: bool,
    /// Whether each request has the context of its own (else all share one).
    pub context_each: bool,
    /// Where its image tells the model.
    pub image_model: Option<ImageModel>,
    row: Row,
}

impl Server {
    fn read(row: Row) -> Self {
        Self {
            engine: row.text("engine"),
            serves: row.text("serves") == "yes",
            notebook: row.text("serves") == "notebook",
            port: row.number("port"),
            planner: match row.text("planner") {
                "profiled" => Some(Planner::Profiled),
                "static-fraction" => Some(Planner::StaticFraction),
                "warmed-up" => Some(Planner::WarmedUp),
                "share-of-free" => Some(Planner::ShareOfFree),
                "layered" => Some(Planner::Layered),
                "plain" => Some(Planner::Plain),
                _ => None,
            },
            spreads: row.flag("spreads") == Some(true),
            own_layout: row.flag("own_layout") == Some(true),
            context_each: row.flag("context_each") == Some(true),
            image_model: match row.text("image_model") {
                "argument" => Some(ImageModel::Argument),
                "name" => Some(ImageModel::Name),
                _ => None,
            },
            row,
        }
    }

    /// Whether a program runs it behind a frontend, and does not listen to clients itself.
    pub fn is_worker(&self, program: &str) -> bool {
        self.row.words("workers").any(|worker| worker == program)
    }

    /// Words of its command line behind which the model stands.
    pub fn model_after(&self) -> SplitAsciiWhitespace<'static> {
        self.row.text("model_after").split_ascii_whitespace()
    }

    /// Subcommands that fetch the model that is named behind them.
    pub fn fetches(&self) -> SplitAsciiWhitespace<'static> {
        self.row.text("fetches").split_ascii_whitespace()
    }

    /// Flags that give it a credential to ask for.
    pub fn auth_flags(&self) -> SplitAsciiWhitespace<'static> {
        self.row.text("auth_flags").split_ascii_whitespace()
    }

    /// Variables that do.
    pub fn auth_envs(&self) -> SplitAsciiWhitespace<'static> {
        self.row.text("auth_envs").split_ascii_whitespace()
    }

    /// What switches its login off: `NAME=value`, of options and of variables in capitals.
    pub fn login_off(&self) -> SplitAsciiWhitespace<'static> {
        self.row.text("login_off").split_ascii_whitespace()
    }

    /// Credentials that its documentation shows.
    pub fn sample_keys(&self) -> SplitAsciiWhitespace<'static> {
        self.row.text("sample_keys").split_ascii_whitespace()
    }

    /// The variable that forces a release of FlashAttention by its number, if it has one.
    pub fn attention_env(&self) -> Option<&'static str> {
        self.row.filled("attention_env")
    }

    /// The model that the name of an image says.
    pub fn model_of_image<'n>(&self, name: &'n str) -> Option<&'n str> {
        self.image_model.filter(|told| *told == ImageModel::Name)?;
        let shared = self.row.words("images").find_map(|pattern| pattern.split_once('*'))?.0;
        name.split_once(shared).map(|(_, model)| model).filter(|model| !model.is_empty())
    }
}

/// Every server.
pub fn servers() -> impl Iterator<Item = Server> {
    SERVERS.rows().map(Server::read)
}

/// The server of an engine name.
pub fn server(engine: &str) -> Option<Server> {
    SERVERS.find("engine", engine).map(Server::read)
}

/// Rows by the names of programs, in the order of their file, each with a subcommand that it is about alone: they are asked
/// for with each word of each command line.
type ByProgram = HashMap<&'static str, Vec<(Option<&'static str>, Row)>>;

/// Rows by the programs (`name`, or `name:subcommand`) that some columns hold.
fn by_program(table: &'static Table, columns: &[&str]) -> ByProgram {
    let mut out = ByProgram::new();
    for row in table.rows() {
        for written in columns.iter().flat_map(|column| row.words(column)) {
            let (name, verb) = written.split_once(':').map_or((written, None), |(name, verb)| (name, Some(verb)));
            out.entry(name).or_default().push((verb, row));
        }
    }
    out
}

/// The first row about a program with a subcommand.
fn row_of(rows: &ByProgram, program: &str, subcommand: Option<&str>) -> Option<Row> {
    let fits = |(verb, _): &&(Option<&str>, Row)| verb.is_none() || *verb == subcommand;
    rows.get(program)?.iter().find(fits).map(|(_, row)| *row)
}

/// The server that a program or Python module starts; some only with a subcommand (`vllm serve`, not `vllm bench serve`).
pub fn server_of_program(program: &str, subcommand: Option<&str>) -> Option<Server> {
    static ROWS: LazyLock<ByProgram> = LazyLock::new(|| by_program(&SERVERS, &["programs", "workers"]));
    row_of(&ROWS, program, subcommand).map(Server::read)
}

/// The launcher (torchrun, accelerate, mpirun …) that a program or Python module is.
pub fn launcher_of_program(program: &str, subcommand: Option<&str>) -> Option<&'static str> {
    static ROWS: LazyLock<ByProgram> = LazyLock::new(|| by_program(&LAUNCHERS, &["programs"]));
    row_of(&ROWS, program, subcommand).map(|row| row.text("engine"))
}

/// Whether an engine is a launcher of training.
pub fn is_launcher(engine: &str) -> bool {
    LAUNCHERS.find("engine", engine).is_some()
}

/// The server that an image starts by itself: by the last parts of its name, as its publisher or a mirror writes it; tag
/// and digest aside. Names that only contain an engine's are other images.
pub fn server_of_image(reference: &str) -> Option<Server> {
    let reference = reference.split('@').next().unwrap_or(reference);
    let tag = reference.rfind(':').filter(|colon| !reference[*colon..].contains('/'));
    let name = &reference[..tag.unwrap_or(reference.len())];
    SERVERS.rows().find(|row| row.words("images").any(|pattern| ends_with(name, pattern))).map(Server::read)
}

/// Whether the tags of an image are releases of an engine: its publisher's, by that name here or at a mirror. Others count
/// releases of their own (`lmcache/vllm-openai:v0.3.9`).
pub fn is_tagged_by_release(name: &str, engine: &str) -> bool {
    let row = SERVERS.find("engine", engine);
    row.is_some_and(|row| row.words("release_images").any(|pattern| ends_with(name, pattern)))
}

/// Whether a name ends with the parts of a pattern; `*` stands for any text within a part.
pub(super) fn ends_with(name: &str, pattern: &str) -> bool {
    let mut parts = name.rsplit('/');
    pattern.rsplit('/').all(|wanted| parts.next().is_some_and(|part| is_like(part, wanted)))
}

fn is_like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((start, end)) => text.len() > start.len() + end.len() && text.starts_with(start) && text.ends_with(end),
    }
}

/// The server whose metrics have this name.
pub fn server_of_metric(metric: &str) -> Option<Server> {
    let named = |row: &Row| row.filled("metric_prefix").is_some_and(|prefix| metric.contains(prefix));
    SERVERS.rows().find(named).map(Server::read)
}

/// A program that runs the command behind it: `srun`, `uv run`, `apptainer exec IMAGE`, `su -c SCRIPT`.
#[derive(Clone, Copy)]
pub struct Wrapper(Row);

impl Wrapper {
    /// Words that must follow, one after the other; none for a program that runs a command in any case.
    pub fn subcommands(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.0.text("subcommands").split(':').filter(|word| !word.is_empty())
    }

    /// Words of its own between its options and the command: the image of `apptainer exec`.
    pub fn operands(&self) -> usize {
        self.0.number("operands").unwrap_or(0)
    }

    /// Whether the word behind an option (named without dashes) is the option's value.
    pub fn takes_value(&self, option: &str) -> bool {
        self.0.words("value_options").any(|known| known == option)
    }

    /// Whether the value of an option is a script for a shell.
    pub fn takes_script(&self, option: &str) -> bool {
        self.0.words("script_options").any(|known| known == option)
    }

    /// Whether it starts what an image starts by itself when no command follows: its operand is the image.
    pub fn runs_image(&self) -> bool {
        self.0.flag("runs_image") == Some(true)
    }

    /// Whether the command stands behind `--` only.
    pub fn behind_dashes(&self) -> bool {
        self.0.flag("behind_dashes") == Some(true)
    }
}

/// The ways in which a program wraps others: by its name, else by what its name is like.
pub fn wrappers(program: &str) -> impl Iterator<Item = Wrapper> {
    static ROWS: LazyLock<ByProgram> = LazyLock::new(|| by_program(&WRAPPERS, &["program"]));
    static PATTERNS: LazyLock<Vec<(&str, Row)>> = LazyLock::new(|| {
        let patterns = WRAPPERS.rows().map(|row| (row.text("program"), row));
        patterns.filter(|(pattern, _)| pattern.contains('*')).collect()
    });
    let named = ROWS.get(program).map(Vec::as_slice).unwrap_or_default();
    let patterns = if named.is_empty() { PATTERNS.as_slice() } else { &[] };
    let like = patterns.iter().filter(move |(pattern, _)| is_like(program, pattern)).map(|(_, row)| row);
    named.iter().map(|(_, row)| row).chain(like).map(|row| Wrapper(*row))
}

/// A command whose options say what a document would: `docker run` as a service of Compose does, `az vm create` as a
/// resource of Terraform.
#[derive(Clone, Copy)]
pub struct StatingCommand(Row);

impl StatingCommand {
    /// The command.
    pub fn text(&self) -> &'static str {
        self.0.text("command")
    }

    /// Its words behind the program.
    pub fn verbs(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.text().split(' ').skip(1)
    }

    /// The type of what it states.
    pub fn says(&self) -> &'static str {
        self.0.text("says")
    }

    /// The key that an option, named without dashes, stands for, with signs for the form of its value. `@platform` stands for
    /// the version of Kubernetes of a cluster of that platform; the option `NAME` is the name that has no option, `--` what
    /// stands behind the dashes, and `command--` the same where it is the command.
    pub fn key(&self, option: &str) -> Option<&'static str> {
        self.pairs().find(|(name, _)| *name == option).map(|(_, key)| key)
    }

    /// The fields of what an option is given as pairs or JSON, and their keys: rows write `option.field=key`.
    pub fn fields(&self, option: &str) -> Vec<(&'static str, &'static str)> {
        let of = |(name, key): (&'static str, &'static str)| {
            Some((name.strip_prefix(option)?.strip_prefix('.')?, key)).filter(|_| !option.is_empty())
        };
        self.pairs().filter_map(of).collect()
    }

    /// Every key.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.pairs().map(|(_, key)| key)
    }

    /// Whether the word behind an option is its value.
    pub fn takes_value(&self, option: &str) -> bool {
        self.0.words("value_options").any(|known| known == option)
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.0.words("keys").filter_map(|pair| pair.split_once('='))
    }
}

/// The commands of a program that state something.
pub fn stating_commands(program: &str) -> impl Iterator<Item = StatingCommand> {
    let of = move |row: &Row| row.text("command").split(' ').next() == Some(program);
    STATING_COMMANDS.rows().filter(of).map(StatingCommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_image(name: &str) -> Option<&'static str> {
        server_of_image(name).map(|s| s.engine)
    }

    #[test]
    fn an_image_is_a_server_by_its_own_name() {
        assert_eq!(of_image("vllm/vllm-openai:v0.10.2"), Some("vllm"));
        assert_eq!(of_image("mirror.example.com:5000/vllm/vllm-openai"), Some("vllm"));
        assert_eq!(of_image("vllm/vllm-openai-rocm@sha256:00"), Some("vllm"));
        assert_eq!(of_image("nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.5"), Some("nim"));
        assert_eq!(of_image("quay.io/jupyter/pytorch-notebook"), Some("jupyter"));
        for other in
            ["quay.io/rh-aiservices-bu/gradio-rag-vllm-openai", "someone/chat-ui-for-vllm-openai", "acme/my-ollama"]
        {
            assert_eq!(of_image(other), None, "{other}");
        }
        assert_eq!(of_image("ghcr.io/huggingface/text-generation-inference-benchmark"), None);
    }

    #[test]
    fn a_program_is_a_server_with_the_subcommand_that_serves() {
        let of = |program, verb| server_of_program(program, verb).map(|s| s.engine);
        assert_eq!(of("vllm", Some("serve")), Some("vllm"));
        assert_eq!(of("vllm", Some("bench")), None);
        assert_eq!(of("vllm.entrypoints.openai.api_server", None), Some("vllm"));
        assert_eq!(of("serve", Some("something")), None);
        assert_eq!(of("tritonserver", None), Some("triton"));
        assert_eq!(launcher_of_program("accelerate", Some("launch")), Some("accelerate"));
        assert_eq!(launcher_of_program("accelerate", Some("config")), None);
    }

    #[test]
    fn what_stands_before_a_command() {
        let apptainer = wrappers("apptainer").next().expect("a row");
        assert!(apptainer.operands() == 1 && apptainer.takes_value("bind") && !apptainer.takes_value("nv"));
        assert!(wrappers("siteexec").next().is_some() && wrappers("vllm").next().is_none());
        let verbs: Vec<Vec<_>> = wrappers("uv").map(|w| w.subcommands().collect()).collect();
        assert_eq!(verbs, [vec!["run"], vec!["tool", "run"]]);
    }

    #[test]
    fn images_named_as_their_model() {
        let nim = server("nim").expect("a row");
        assert_eq!(nim.model_of_image("nvcr.io/nim/meta/llama3-8b-instruct"), Some("meta/llama3-8b-instruct"));
        assert_eq!(server("vllm").and_then(|s| s.model_of_image("vllm/vllm-openai")), None);
    }
}
