//! The command line: arguments in, an exit code out. Knows every other module.

mod analysis;
mod arguments;
mod at;
mod baseline;
mod changed;
mod check;
mod facts;
mod files;
mod fix;
mod formats;
mod ignores;
mod init;
mod inspect;
mod kinds;
mod language;
mod new;
mod output;
mod progress;
mod render;
mod server;
mod setup;
mod vram;

pub use arguments::Arguments;

use arguments::{Command, New};
use clap::Parser;
use output::{complain, print, print_as_is};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Nothing at or above the failing severity.
pub const CLEAN: u8 = 0;
/// Findings at or above it.
pub const FINDINGS: u8 = 1;
/// gpulint could not do its work: usage, configuration, rule pack.
pub const FAILED: u8 = 2;

/// Runs the command that the command line asks for. A fault of gpulint itself is told and ends like anything else that kept
/// it from its work.
pub fn run() -> ExitCode {
    // What a panic says may quote a file, so it is neither printed raw nor for files that get a finding instead.
    std::panic::set_hook(Box::new(|_| {}));
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Names of files are arguments too.
        Err(error) if error.use_stderr() => {
            complain(error.render().to_string().trim_end());
            return ExitCode::from(FAILED);
        }
        Err(help) => {
            let _ = help.print();
            return ExitCode::from(CLEAN);
        }
    };
    let code = catch_unwind(AssertUnwindSafe(|| command(&arguments.command)))
        .unwrap_or_else(|panic| Err(format!("an internal error, please report it: {}", told(panic.as_ref()))));
    ExitCode::from(code.unwrap_or_else(|message| {
        complain(&format!("gpulint: {message}"));
        FAILED
    }))
}

/// What a panic says.
fn told(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

fn command(command: &Command) -> Result<u8, String> {
    match command {
        Command::Check(check) => check::run(check),
        Command::Baseline(arguments) => baseline::run(arguments),
        Command::Init(init) => init::run(init),
        Command::Rules { what, format, rules, told } => {
            inspect::rules(what.as_deref(), format, (rules, told.language()))
        }
        Command::Explain { rule, rules, told } => inspect::explain(rule, rules, told.language()),
        Command::Test { what, brittle } => inspect::test(what, *brittle),
        Command::New { what: New::Rule { path } } => new::rule(path),
        Command::Facts { at: Some(at), paths, all } => at::run(at, paths, *all),
        Command::Facts { paths, all, at: None } => facts::run(paths, *all),
        Command::Render { paths, values, bases } => render::run(paths, values, *bases),
        Command::Formats => formats::run(),
        Command::Kinds => kinds::run(),
        Command::Vram(arguments) => vram::run(arguments),
        Command::Lsp { .. } => server::run(),
        Command::Schema { of } => inspect::schema(*of),
        Command::Completions { shell } => inspect::completions(*shell),
    }
}
