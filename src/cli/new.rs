//! `gpulint new`: files to start from.

use super::files::shown;
use super::{CLEAN, print};
use crate::rules::pack;
use crate::rules::{Ruleset, load};
use crate::source::SourceId;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// `gpulint new rule PACK/ID`: a rule with every key, whose examples pass, and where there is none yet, the manifest of the pack.
///
/// # Errors
/// A name that is none, a rule that exists, a file that cannot be written.
pub fn rule(path: &Path) -> Result<u8, String> {
    let path = path.with_extension("");
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let directory = path.parent().filter(|directory| name(directory).is_some());
    let (Some(id), Some(directory)) = (name(&path).filter(|id| is_name(id)), directory) else {
        return Err(format!(
            "{}: the directory of a pack and the id of a rule are expected, PACK/ID: {NAMES}",
            shown(&path)
        ));
    };
    if Ruleset::builtin().get(&id).is_some() {
        return Err(format!("there is a rule `{id}`: see `gpulint explain {id}`"));
    }
    let manifest = directory.join(pack::FILE_NAME);
    let known = fs::read_to_string(&manifest).ok().map(|text| pack::read(SourceId(0), &text).0.name);
    let pack = known.clone().or_else(|| name(directory)).unwrap_or_default();
    if !is_name(&pack) {
        return Err(format!("`{pack}` is no name of a pack: {NAMES}"));
    }
    let file = path.with_extension("yaml");
    let text = RULE.replace("PACK", &pack).replace("NAME", &id).replace("FILE", &shown(&file));
    if let Some(problem) = load::load(SourceId(0), &text).1.first() {
        return Err(format!("{}: {}", shown(&path), problem.message));
    }
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", shown(directory)))?;
    write(&file, &text)?;
    let mut out = format!("wrote {}\n", shown(&file));
    if known.is_none() && !manifest.exists() {
        write(&manifest, &MANIFEST.replace("PACK", &pack).replace("VERSION", env!("CARGO_PKG_VERSION")))?;
        out.push_str(&format!("wrote {}\n", shown(&manifest)));
    }
    print(&format!("{out}next: gpulint test {}\n", shown(&file)))?;
    Ok(CLEAN)
}

/// How packs and rules are called.
const NAMES: &str = "lower-case letters, digits and -";

fn is_name(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    plain && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Writes a file that is not there yet.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => format!("{} is there already", shown(path)),
        _ => format!("{}: {error}", shown(path)),
    })
}

const MANIFEST: &str = "\
name: PACK
version: 0.1.0
requires: {gpulint: VERSION}
";

const RULE: &str = include_str!("new_rule.yaml");
