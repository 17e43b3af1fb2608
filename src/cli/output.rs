//! Where text goes: standard output, standard error, and files of reports. Text that may hold what a file says is made safe
//! for terminals and for logs of runners here, whatever it is.

use super::files::{cwd, shown};
use crate::discover::Gate;
use crate::report::is_report;
use crate::source::{for_log, sanitise};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Writes text to standard output.
///
/// # Errors
/// It cannot be written. A closed pipe is nobody's error.
pub fn print(text: &str) -> Result<(), String> {
    print_as_is(&for_log(&sanitise(text)))
}

/// Writes text that is safe already: reports, colours, JSON.
///
/// # Errors
/// As for [`print`].
pub fn print_as_is(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

/// Tells on standard error what keeps gpulint from its work. There is nobody left to tell when that fails.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{}", for_log(&sanitise(message)));
}

/// A file that a report is written to.
#[derive(Debug)]
pub struct Output {
    to: PathBuf,
    /// Pipes and devices are written to as they are.
    direct: bool,
}

impl Output {
    /// Makes sure that a report may be written to a path: not through a link of a repository, and not over one of the
    /// files that were read.
    ///
    /// # Errors
    /// It may not.
    pub fn new(path: &Path, read: &[PathBuf], gate: &Gate) -> Result<Self, String> {
        let refused = |why: &dyn std::fmt::Display| format!("--output {}: {why}", shown(path));
        let to = gate.admit_output(path).map_err(|reason| refused(&reason))?;
        let special = ["/dev", "/proc"].iter().any(|mount| cwd().join(path).starts_with(mount));
        let Ok(meta) = fs::metadata(&to) else { return Ok(Self { to, direct: special }) };
        if meta.is_dir() {
            return Err(refused(&"a directory"));
        }
        let is_it = |input: &PathBuf| input.canonicalize().is_ok_and(|input| input == to);
        // What an earlier run wrote to the same place is read by the next one.
        if meta.is_file() && !special && !holds_report(&to) && read.iter().any(is_it) {
            return Err(refused(&"a file that is linted"));
        }
        Ok(Self { direct: special || !meta.is_file(), to })
    }

    /// Writes a report: all of it or nothing, in place of what stood there.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, text: &str) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", shown(&self.to));
        if self.direct {
            return OpenOptions::new()
                .write(true)
                .open(&self.to)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(failed);
        }
        let name = self.to.file_name().unwrap_or_default().to_string_lossy();
        let beside = self.to.with_file_name(format!(".{name}.{}", std::process::id()));
        let written = || {
            let mut file = File::create_new(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &self.to)
        };
        written().map_err(|error| {
            if error.kind() != ErrorKind::AlreadyExists {
                let _ = fs::remove_file(&beside);
            }
            failed(error)
        })
    }
}

/// Whether a file holds a report of gpulint.
fn holds_report(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 10).read_to_end(&mut head));
    read.is_ok() && is_report(&String::from_utf8_lossy(&head))
}
