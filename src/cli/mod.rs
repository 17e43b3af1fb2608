//! The command line: arguments in, an exit code out. Knows every other module.

mod arguments;
mod check;
mod files;
mod inspect;
mod language;
mod render;
mod setup;
mod vram;

pub use arguments::Arguments;

use crate::source::sanitise;
use arguments::Command;
use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Nothing at or above the failing severity.
pub const CLEAN: u8 = 0;
/// Findings at or above it.
pub const FINDINGS: u8 = 1;
/// gpulint could not do its work: usage, configuration, rule pack.
pub const FAILED: u8 = 2;

/// Runs a command. A fault of gpulint itself is told and ends like anything else that kept it from its work.
pub fn run(arguments: &Arguments) -> ExitCode {
    // What a panic says may quote a file, so it is neither printed raw nor for files that get a finding instead.
    std::panic::set_hook(Box::new(|_| {}));
    let code = catch_unwind(AssertUnwindSafe(|| command(&arguments.command)))
        .unwrap_or_else(|panic| Err(format!("an internal error, please report it: {}", told(panic.as_ref()))));
    ExitCode::from(code.unwrap_or_else(|message| {
        let _ = writeln!(std::io::stderr(), "gpulint: {}", sanitise(&message));
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
        Command::Rules { format } => inspect::rules(format),
        Command::Explain { rule, rules } => inspect::explain(rule, rules),
        Command::Test { directory } => inspect::test(directory.as_deref()),
        Command::Facts { paths, all } => inspect::facts(paths, *all),
        Command::Render { paths, values, bases } => render::run(paths, values, *bases),
        Command::Vram(arguments) => vram::run(arguments),
        Command::Schema { of } => inspect::schema(*of),
        Command::Completions { shell } => inspect::completions(*shell),
    }
}

/// Writes to standard output; a closed pipe is nobody's error.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
