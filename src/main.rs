//! The `gpulint` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    gpulint::cli::run()
}
