//! Makefiles: what their recipes run, as scripts. Knows that each line is a shell of its own.

use super::{TextFile, commands, install, scripts};
use crate::facts::Facts;
use crate::parse::make;
use crate::parse::shell::{self, Arms, Script};
use crate::source::SourceId;
use std::sync::Arc;

/// Reads a Makefile.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let make = make::parse(id, text);
    let mut script = Script::default();
    for (line, recipe) in make.recipes.iter().enumerate() {
        // What one line sets is not set in another.
        script.append(shell::parse(recipe).resolved(&|_| None), &Arms::alone(line as u32));
    }
    facts.package_files.extend(install::of_script(&script, path).into_iter().map(Arc::new));
    commands::read(&script, facts);
    let cut = scripts::read(&script, path, facts);
    TextFile { comments: make.comments, cut: make.cut.or(cut), ..TextFile::default() }
}
