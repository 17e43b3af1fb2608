//! The command line: arguments in, an exit code out. Knows every other module.

mod arguments;
mod check;
mod inspect;
mod setup;

pub use arguments::Arguments;

use arguments::Command;
use std::io::Write;
use std::process::ExitCode;

/// Nothing at or above the failing severity.
pub const CLEAN: u8 = 0;
/// Findings at or above it.
pub const FINDINGS: u8 = 1;
/// gpulint could not do its work: usage, configuration, rule pack.
pub const FAILED: u8 = 2;

/// Runs a command.
pub fn run(arguments: &Arguments) -> ExitCode {
    let code = match &arguments.command {
        Command::Check(check) => check::run(check),
        Command::Rules { format } => inspect::rules(format),
        Command::Explain { rule } => inspect::explain(rule),
        Command::Test { directory } => inspect::test(directory.as_deref()),
        Command::Facts { paths, all } => inspect::facts(paths, *all),
        Command::Schema { of } => inspect::schema(*of),
        Command::Completions { shell } => inspect::completions(*shell),
    };
    ExitCode::from(code.unwrap_or_else(|message| {
        let _ = writeln!(std::io::stderr(), "gpulint: {}", crate::source::sanitise(&message));
        FAILED
    }))
}

/// Writes to standard output; a closed pipe is nobody's error.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
