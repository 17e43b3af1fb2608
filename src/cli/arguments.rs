//! What can be asked on the command line.

use crate::discover::MAX_READ;
use crate::finding::{Confidence, Severity};
use crate::language::Language;
use crate::report::{REPORTERS, Reporter};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A policy-as-code linter for GPU deployments.
#[derive(Debug, Parser)]
#[command(name = "gpulint", version, about, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
#[command(defer = true)] // the options of a command are set up when it is asked for
pub enum Command {
    /// Lint files and directories
    Check(Box<Check>),
    /// Write what is found now to a file; `check --baseline` then shows what is new
    Baseline(Box<Baseline>),
    /// Write a first configuration, with what the files of a repository leave open
    Init(Init),
    /// List the rules
    Rules {
        /// Only those of this pack, or whose id begins with this or holds it, or whose message does
        what: Option<String>,
        /// Directories with further rule packs
        #[arg(long, value_name = "DIRECTORY")]
        rules: Vec<PathBuf>,
        /// How to list them
        #[arg(long, value_enum, default_value_t = Listing::Table)]
        format: Listing,
        #[command(flatten)]
        told: Told,
    },
    /// Show the page of a rule
    Explain {
        /// Id of the rule, or its beginning, or a word of it
        rule: String,
        /// Directories with further rule packs
        #[arg(long)]
        rules: Vec<PathBuf>,
        #[command(flatten)]
        told: Told,
    },
    /// Run the examples of the built-in packs, of some rules, or of the packs in directories
    Test {
        /// Ids of rules, rule files and directories of packs
        what: Vec<PathBuf>,
        /// Write the examples that fire in other ways, and ask the rules again
        #[arg(long)]
        brittle: bool,
    },
    /// Write a new rule, with examples that pass
    New {
        /// What to write
        #[command(subcommand)]
        what: New,
    },
    /// Show what was extracted and joined, as JSON
    Facts {
        /// Files and directories
        #[arg(required_unless_present = "at")]
        paths: Vec<PathBuf>,
        /// Show absent facts too
        #[arg(long)]
        all: bool,
        /// Only what stands at a place, by the names that rules use; of the working directory, if no paths are given
        #[arg(long, value_name = "FILE:LINE")]
        at: Option<String>,
    },
    /// Print the documents that charts render to and that kustomizations build
    Render {
        /// Directories with charts or kustomizations
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Kustomizations that others include, too
        #[arg(long)]
        bases: bool,
        /// Files of values, laid over the charts' own in this order
        #[arg(long, short = 'f')]
        values: Vec<PathBuf>,
    },
    /// Say which formats are read, as a page in Markdown
    Formats,
    /// Say of which kinds the schemas are known, as a page in Markdown
    Kinds,
    /// Say whether a model fits the memory of GPUs, with the sum
    Vram(Box<Vram>),
    /// Serve an editor: the Language Server Protocol over standard input and output
    Lsp {
        /// What many editors say; there is no other way
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Print a JSON schema (draft 2020-12)
    Schema {
        /// Of what
        #[arg(value_enum)]
        of: Schema,
    },
    /// Write a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // its words would stand in the place of what the command says of itself
pub enum New {
    /// Write a rule file, and the manifest of its pack where there is none
    Rule {
        /// The directory of the pack and the id of the rule: policies/gpu-job-without-owner
        #[arg(value_name = "PACK/ID")]
        path: PathBuf,
    },
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Schema {
    /// A rule file
    Rule,
    /// .gpulint.yaml
    Config,
    /// The JSON report
    Report,
    /// What `gpulint facts` prints
    Facts,
    /// pack.yaml
    Pack,
}

/// How rules are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// Ids only
    List,
    /// Id, severity, pack and what it asks about
    Table,
    /// Everything
    Json,
    /// The pages of all rules
    Markdown,
    /// The reference of the rule language
    Language,
}

/// Reads the name of an output format.
fn reporter() -> impl TypedValueParser<Value = &'static Reporter> {
    let names = REPORTERS.iter().map(|reporter| PossibleValue::new(reporter.name).help(reporter.about));
    PossibleValuesParser::new(names)
        .map(|name| REPORTERS.iter().find(|reporter| reporter.name == name).unwrap_or(&REPORTERS[0]))
}

/// Severities as arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum SeverityArg {
    Info,
    Warning,
    Error,
}

/// Confidences as arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum ConfidenceArg {
    Low,
    Medium,
    High,
}

impl From<SeverityArg> for Severity {
    fn from(argument: SeverityArg) -> Self {
        match argument {
            SeverityArg::Info => Severity::Info,
            SeverityArg::Warning => Severity::Warning,
            SeverityArg::Error => Severity::Error,
        }
    }
}

impl From<ConfidenceArg> for Confidence {
    fn from(argument: ConfidenceArg) -> Self {
        match argument {
            ConfidenceArg::Low => Confidence::Low,
            ConfidenceArg::Medium => Confidence::Medium,
            ConfidenceArg::High => Confidence::High,
        }
    }
}

// In which language findings and pages are told. Said as documentation, it would be what `--help` says of each command.
#[allow(missing_docs)]
#[derive(Debug, Args)]
pub struct Told {
    /// Language of findings and pages; by default that of the environment (LC_ALL, LC_MESSAGES, LANG)
    #[arg(long, value_parser = language())]
    pub lang: Option<Language>,
}

/// Reads the code of a language.
fn language() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(["en", "zh"]).map(|code| if code == "zh" { Language::Chinese } else { Language::English })
}

impl Told {
    /// The one that was asked for, else that of the environment.
    pub fn language(&self) -> Language {
        self.lang.unwrap_or_else(|| Language::of(|name| std::env::var(name).ok()))
    }
}

/// What is linted, and what a run goes by.
#[derive(Debug, Args)]
pub struct Lint {
    /// Files and directories; `-` reads standard input
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Only these rules or packs
    #[arg(long, value_delimiter = ',')]
    pub select: Vec<String>,
    /// Not these rules or packs
    #[arg(long, value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Least confidence of rules that are asked
    #[arg(long, value_enum)]
    pub min_confidence: Option<ConfidenceArg>,
    /// Configuration file instead of those that are found above and below the targets
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// Go by no configuration of the repository
    #[arg(long, conflicts_with = "config")]
    pub no_config: bool,
    /// Let no comment and no annotation waive a finding
    #[arg(long)]
    pub no_suppressions: bool,
    /// Go by nothing that stands in what is linted: as --no-config (unless --config names one), --no-suppressions and
    /// --no-ignore
    #[arg(long)]
    pub isolated: bool,
    /// Directory with further rules; may be repeated
    #[arg(long)]
    pub rules: Vec<PathBuf>,
    /// Values to render charts with as well, beside their own; may be repeated, later files lie over earlier ones
    #[arg(long)]
    pub values: Vec<PathBuf>,
    /// Hold every object against the schema of its kind, in files that speak of no GPU too
    #[arg(long)]
    pub all_kinds: bool,
    /// Threads
    #[arg(long)]
    pub jobs: Option<usize>,
    /// Name of standard input, for its kind and for the report
    #[arg(long, default_value = "stdin.yaml")]
    pub stdin_filename: String,
    /// Apply exclusions to files that are named, too
    #[arg(long)]
    pub force_exclude: bool,
    /// Read files that ignore files leave out
    #[arg(long)]
    pub no_ignore: bool,
    /// Most MiB of files that are read in all
    #[arg(long, value_name = "MIB", default_value_t = MAX_READ >> 20)]
    pub max_read: u64,
}

impl Lint {
    /// What `gpulint check TARGET` lints, and goes by.
    ///
    /// # Errors
    /// None that is known of.
    pub fn of(target: &Path) -> Result<Self, String> {
        let words = ["gpulint", "check", "--"].map(OsString::from);
        match Arguments::try_parse_from(words.into_iter().chain([target.into()])) {
            Ok(Arguments { command: Command::Check(check) }) => Ok(check.lint),
            _ => Err(format!("{}: not a path to lint", target.display())),
        }
    }
}

/// Write a first configuration, with what the files of a repository leave open
#[derive(Debug, Args)]
pub struct Init {
    /// The directory that it is for
    #[arg(default_value = ".")]
    pub directory: PathBuf,
    /// Write over a .gpulint.yaml that is there
    #[arg(long)]
    pub force: bool,
    /// Print it instead
    #[arg(long)]
    pub stdout: bool,
}

/// Write what is found now to a file; `check --baseline` then shows what is new
#[derive(Debug, Args)]
pub struct Baseline {
    /// What is linted
    #[command(flatten)]
    pub lint: Lint,
    /// The baseline
    #[arg(long, default_value = "gpulint-baseline.json")]
    pub output: PathBuf,
    /// Only remove what is found no more
    #[arg(long)]
    pub prune: bool,
    /// Take up what says that a file was not linted, too
    #[arg(long)]
    pub accept_unlinted: bool,
}

/// Lint files and directories
#[derive(Debug, Args)]
pub struct Check {
    /// What is linted
    #[command(flatten)]
    pub lint: Lint,
    #[command(flatten)]
    pub told: Told,
    /// Format of the report; may be repeated, each with its own --output
    #[arg(long, value_parser = reporter(), default_value = REPORTERS[0].name)]
    pub format: Vec<&'static Reporter>,
    /// File for the report; the n-th belongs to the n-th --format
    #[arg(long)]
    pub output: Vec<PathBuf>,
    /// Count findings by rule instead of showing them, in formats for people
    #[arg(long)]
    pub statistics: bool,
    /// Most findings to show, in formats for people; all of them count
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// A file that `gpulint baseline` wrote: what it knows is not shown and does not fail
    #[arg(long)]
    pub baseline: Option<PathBuf>,
    /// A file (or `-`) that `git diff` wrote: shown is what stands on its lines and what is found because of them
    #[arg(long, value_name = "FILE")]
    pub changed_in: Option<PathBuf>,
    /// A revision, such as origin/main: the same for what has changed since, committed or not
    #[arg(long, value_name = "REV", conflicts_with = "changed_in")]
    pub changed_since: Option<String>,
    /// Write the safe fixes of what would be shown, and report what is left
    #[arg(long, conflicts_with_all = ["add_ignore", "changed_in", "changed_since"])]
    pub fix: bool,
    /// Print what --fix would write as a unified diff, and write nothing; exit with 1 if there is something
    #[arg(long, conflicts_with_all = ["add_ignore", "changed_in", "changed_since", "output"])]
    pub diff: bool,
    /// With --fix and --diff: fixes that may change what is meant, too
    #[arg(long)]
    pub unsafe_fixes: bool,
    /// Least severity that makes the exit code 1
    #[arg(long, value_enum)]
    pub fail_on: Option<SeverityArg>,
    /// List what could not be decided, and why
    #[arg(long)]
    pub show_unknown: bool,
    /// List where files speak of GPUs and were not understood
    #[arg(long)]
    pub show_unread: bool,
    /// Exit with 1 when a file speaks of GPUs and was not understood, or not as a whole
    #[arg(long)]
    pub fail_on_unread: bool,
    /// Take it as no fault when nothing was linted of a path that is named
    #[arg(long)]
    pub allow_empty: bool,
    /// Write a comment that waives it at each finding that would be shown, or an entry of the configuration where no comment
    /// can stand
    #[arg(long, conflicts_with_all = ["isolated", "no_suppressions", "no_config", "output"])]
    pub add_ignore: bool,
    /// The reason that --add-ignore gives
    #[arg(long, requires = "add_ignore", value_name = "TEXT")]
    pub reason: Option<String>,
    /// Exit with 0 whatever was found
    #[arg(long)]
    pub exit_zero: bool,
    /// Whether to use colour; auto goes by the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, value_enum, default_value_t = clap::ColorChoice::Auto)]
    pub color: clap::ColorChoice,
    /// Print no summary
    #[arg(long, short)]
    pub quiet: bool,
}

/// Formats of `vram`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VramFormat {
    /// A table with bars
    Human,
    /// One JSON object
    Json,
}

/// What is asked of the GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VramTask {
    /// Answer requests
    Serve,
    /// Train or fine-tune
    Train,
}

/// Say whether a model fits the memory of GPUs, with the sum
#[derive(Debug, Clone, Args)]
pub struct Vram {
    /// Model by its name on the hub
    #[arg(long)]
    pub model: String,
    /// GPU by any name: H100, L4, nvidia-tesla-t4; without it, what fits is listed
    #[arg(long)]
    pub gpu: Option<String>,
    /// Memory of the GPU in GiB, as CUDA reports it
    #[arg(long)]
    pub gpu_memory_gib: Option<f64>,
    /// Number of GPUs
    #[arg(long, default_value_t = 1)]
    pub gpus: u64,
    /// List the GPUs and machine types that it fits, cheapest first
    #[arg(long)]
    pub recommend: bool,
    /// Format of the answer
    #[arg(long, value_enum, default_value_t = VramFormat::Human)]
    pub format: VramFormat,
    /// What is asked of the GPUs
    #[arg(long, value_enum, default_value_t = VramTask::Serve)]
    pub task: VramTask,
    /// vllm, sglang, tgi, tensorrt-llm, nim, lmdeploy, llama.cpp, ollama, transformers …, or a trainer
    #[arg(long, default_value = "vllm")]
    pub engine: String,
    /// Release of the engine
    #[arg(long)]
    pub engine_version: Option<String>,
    /// Tensor parallel size; every GPU by default
    #[arg(long)]
    pub tensor_parallel_size: Option<u64>,
    /// Pipeline stages
    #[arg(long)]
    pub pipeline_parallel_size: Option<u64>,
    /// Longest request in tokens
    #[arg(long)]
    pub max_model_len: Option<u64>,
    /// Share of the GPU's memory that the engine may take
    #[arg(long)]
    pub gpu_memory_utilization: Option<f64>,
    /// Quantization, as the engine names it; none for 16 bits
    #[arg(long)]
    pub quantization: Option<String>,
    /// dtype of what is not quantized
    #[arg(long)]
    pub dtype: Option<String>,
    /// dtype of the KV cache
    #[arg(long)]
    pub kv_cache_dtype: Option<String>,
    /// Sequences at once
    #[arg(long)]
    pub max_num_seqs: Option<u64>,
    /// Tokens computed at once
    #[arg(long)]
    pub max_num_batched_tokens: Option<u64>,
    /// No CUDA graphs
    #[arg(long)]
    pub enforce_eager: bool,
    /// Experts are spread whole
    #[arg(long)]
    pub enable_expert_parallel: bool,
    /// Training: full, lora or qlora
    #[arg(long, default_value = "full")]
    pub method: String,
    /// Training: sequences of a step on one GPU
    #[arg(long)]
    pub batch_size: Option<u64>,
    /// Training: tokens of a sequence
    #[arg(long)]
    pub seq_len: Option<u64>,
    /// Training: ZeRO stage (3 for FSDP's full shard)
    #[arg(long)]
    pub zero_stage: Option<u64>,
    /// Training: bf16 or fp16 (with 32-bit states), pure-bf16, fp32
    #[arg(long)]
    pub precision: Option<String>,
    /// Training: optimizer, as the trainer names it
    #[arg(long)]
    pub optimizer: Option<String>,
    /// Training: rank of the adapters
    #[arg(long)]
    pub lora_rank: Option<u64>,
    /// Training: activations are computed again
    #[arg(long)]
    pub gradient_checkpointing: bool,
}
