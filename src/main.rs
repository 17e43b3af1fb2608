//! The `gpulint` binary.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    gpulint::cli::run(&gpulint::cli::Arguments::parse())
}
