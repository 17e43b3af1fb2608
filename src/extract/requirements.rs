//! Requirement files: one package file with its packages. Knows pip's lines; opens no included file.

use super::{indexes, install};
use crate::budget::Share;
use crate::facts::{Facts, PackageFile, PackageFileKind, PackageManager};
use crate::known::Fact;
use crate::parse::requirements::{self, Line};
use crate::paths;
use crate::source::{SourceId, Span, Traced};
use std::sync::Arc;

/// Reads a requirements file into facts.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> super::TextFile {
    let parsed = requirements::parse(id, text);
    let whole = Span::new(id, 0..0);
    let mut file = PackageFile::blank(whole);
    file.path = Fact::value(path.to_owned(), whole);
    let name = paths::name(path);
    let kind = if name.contains("constraint") { PackageFileKind::Constraints } else { PackageFileKind::Requirements };
    file.kind = Fact::value(kind, whole);
    let mut index: Option<Traced> = None;
    let mut extra: Vec<Traced> = Vec::new();
    let share = Share::least(text.len());
    for line in &parsed.lines {
        match line {
            Line::Requirement(_) if file.packages.len() > super::MOST_PACKAGES => {}
            Line::Requirement(requirement) => {
                file.packages.push(install::of_requirement(requirement, PackageManager::Pip))
            }
            Line::Option { name, value: Some(value), .. } => match name.as_str() {
                "--index-url" => index = Some(value.clone()),
                "--extra-index-url" | "--find-links" => extra.push(value.clone()),
                "--requirement" => file.includes.push(install::fact(value)),
                "--constraint" => file.constraints.push(install::fact(value)),
                _ => {}
            },
            _ => {}
        }
    }
    file.index_url = index.as_ref().map_or_else(|| Fact::absent(whole), install::fact);
    file.extra_indexes = extra.iter().map(install::fact).collect();
    let urls: usize = index.iter().chain(&extra).map(|url| url.text().len()).sum();
    for package in &mut file.packages {
        if share.make(urls).is_err() {
            break;
        }
        install::set_indexes(package, index.as_ref(), &extra);
    }
    // What a command installs from several files comes from the indexes of all of them.
    if !file.includes.is_empty() || !file.constraints.is_empty() {
        let named = std::iter::once(&file.index_url).chain(&file.extra_indexes);
        facts.indexes.extend(named.filter_map(indexes::for_others));
    }
    let cut = super::bounded(&mut file, &share);
    facts.package_files.push(Arc::new(file));
    super::TextFile { problems: parsed.problems, comments: parsed.comments, cut, ..super::TextFile::default() }
}
