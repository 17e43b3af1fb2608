//! Where text goes: standard output, standard error, and files of reports. Text that may hold what a file says is made safe
//! for terminals and for logs of runners here, whatever it is.

use super::arguments::Check;
use super::files::{cwd, shown};
use crate::discover::Gate;
use crate::judge::baseline;
use crate::language::Language;
use crate::report::human::HumanOptions;
use crate::report::is_report;
use crate::source::{for_log, sanitise};
use clap::ColorChoice;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
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

/// Writes a diff of files: as they are, but for what could steer a terminal or a runner.
///
/// # Errors
/// As for [`print`].
pub fn print_diff(text: &str) -> Result<(), String> {
    let lines = text.split_inclusive('\n').map(|line| match line.strip_suffix("\r\n") {
        Some(line) => format!("{}\r\n", sanitise(line)),
        None => sanitise(line).into_owned(),
    });
    print_as_is(&for_log(&lines.collect::<String>()))
}

/// Tells on standard error what keeps gpulint from its work. There is nobody left to tell when that fails.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{}", for_log(&sanitise(message)));
}

/// Fewest and most columns that a terminal is taken to have: narrower ones wrap, and long lines are hard to read.
const COLUMNS: (usize, usize) = (60, 120);

/// How people want a report shown on standard output, or in a file.
pub fn human_options(check: &Check, stdout: bool) -> HumanOptions {
    let out = io::stdout();
    let colors = || anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never;
    let color = match check.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => stdout && colors(),
    };
    let terminal = stdout && out.is_terminal();
    let columns = terminal_size::terminal_size_of(&out).filter(|_| terminal);
    let wide = |(width, _): (terminal_size::Width, _)| usize::from(width.0).clamp(COLUMNS.0, COLUMNS.1);
    let defaults = HumanOptions::default();
    HumanOptions {
        color,
        links: terminal && color && supports_hyperlinks::supports_hyperlinks(),
        // Who asks for another language has its signs.
        unicode: !stdout || check.told.language() != Language::English || has_unicode(|name| std::env::var(name).ok()),
        width: columns.map_or(defaults.width, wide),
        show_unknown: check.show_unknown,
        show_unread: check.show_unread,
        summary: !check.quiet,
        statistics: check.statistics,
        limit: check.limit,
    }
}

/// Whether the locale, by the variables that state it in this order, is one of UTF-8. Where none is stated, as in many
/// containers, that is what logs and terminals take.
fn has_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let stated = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| variable(name).filter(|v| !v.is_empty()));
    stated.is_none_or(|locale| locale.to_lowercase().replace('-', "").ends_with("utf8"))
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

    /// Whether nothing stands there, or what gpulint wrote.
    pub fn is_ours(&self) -> bool {
        self.direct || !self.to.exists() || holds_report(&self.to)
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
        replace(&self.to, text, None).map_err(failed)
    }
}

/// Puts a text in the place of a file, all of it or nothing.
fn replace(to: &Path, text: &str, rights: Option<fs::Permissions>) -> io::Result<()> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let beside = to.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = || {
        let mut file = File::create_new(&beside)?;
        file.write_all(text.as_bytes())?;
        rights.map_or(Ok(()), |rights| file.set_permissions(rights))?;
        file.sync_all()?;
        fs::rename(&beside, to)
    };
    written().inspect_err(|error| {
        if error.kind() != ErrorKind::AlreadyExists {
            let _ = fs::remove_file(&beside);
        }
    })
}

/// Writes a file anew that whoever calls gpulint asked it to change, through no link of a repository; it keeps its rights.
///
/// # Errors
/// It cannot be written, or is no regular file.
pub fn rewrite(path: &Path, text: &str, gate: &Gate) -> Result<(), String> {
    let refused = |why: &dyn std::fmt::Display| format!("{}: {why}", shown(path));
    let to = gate.admit_output(path).map_err(|reason| refused(&reason))?;
    let rights = match fs::symlink_metadata(&to) {
        Ok(meta) if !meta.is_file() => return Err(refused(&"not a regular file")),
        Ok(meta) => Some(meta.permissions()),
        Err(_) => None,
    };
    replace(&to, text, rights).map_err(|error| refused(&error))
}

/// Whether a file holds a report or a baseline of gpulint.
fn holds_report(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 10).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    read.is_ok() && (is_report(&head) || head.starts_with(baseline::HEAD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_states_a_locale_counts() {
        let has = |set: &[(&str, &str)]| {
            has_unicode(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(has(&[]) && has(&[("LANG", "")]));
        assert!(has(&[("LANG", "C.UTF-8")]) && has(&[("LANG", "C"), ("LC_ALL", "de_DE.utf8")]));
        assert!(!has(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]) && !has(&[("LANG", "de_DE.ISO-8859-1")]));
    }
}
