//! Makefiles: what their recipes run, as scripts. Knows which lines a shell is given, and what all of them are handed.

use super::{TextFile, commands, install, machinery, scripts};
use crate::budget::{NODE, Share};
use crate::facts::Facts;
use crate::parse::shell::{self, Arms, Command, Script};
use crate::parse::{Problem, make};
use crate::source::{SourceId, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads a Makefile.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let make = make::parse(id, text);
    let mut script = Script::default();
    let share = Share::least(text.len());
    let exported: BTreeMap<&str, &Traced> = make.exported.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let mut cut = make.cut;
    for lines in make.recipes.chunk_by(|(one, _), (other, _)| one == other) {
        let (shell, first) = &lines[0];
        let arms = Arms::alone(*shell);
        let mut one = Script::default();
        lines.iter().for_each(|(_, line)| one.append(shell::parse(line), &Arms::default()));
        // What one shell sets is not set in another.
        let resolved = one.resolved_within(&|name| exported.get(name).map(|value| (*value).clone()));
        if let Err(spent) = share.make(make.exported.len() * NODE) {
            let message = format!("recipes from here on: {spent}");
            cut = cut.or(Some(Problem { span: first.whole(), message }));
            break;
        }
        let handed = make.exported.iter().map(|(name, value)| (name.as_str(), value.clone()));
        script.commands.extend(Command::exporting(handed, first.whole(), &arms));
        script.append(resolved, &arms);
    }
    facts.package_files.extend(install::of_script(&script, path).into_iter().map(Arc::new));
    commands::read(&script, facts);
    machinery::read(&script, path, facts);
    make.variables.iter().for_each(|(name, value)| machinery::stated(name, value, path, facts));
    let read = scripts::read(&script, path, facts);
    TextFile { comments: make.comments, cut: cut.or(read), ..TextFile::default() }
}
