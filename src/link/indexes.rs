//! Indexes that an environment, a configuration or another command names: the packages near them may come from there.

use super::boundary::Layout;
use crate::facts::{Build, Facts, IndexSetting, Package, PackageFile};
use crate::known::{Fact, Why};
use crate::paths;
use crate::source::SourceId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings by the directories that they are about, and by the files of which they are about every command.
pub struct Settings<'s> {
    directories: BTreeMap<&'s str, &'s IndexSetting>,
    files: BTreeMap<SourceId, &'s IndexSetting>,
}

impl<'s> Settings<'s> {
    /// The settings of a run.
    pub fn of(all: &'s [IndexSetting], layout: &Layout<'s>) -> Self {
        let about = |setting: &'s IndexSetting| {
            let path = &layout.sources().get(setting.url.span.source).path;
            (directory(paths::directory(path)), setting)
        };
        let whole = all.iter().filter(|setting| !setting.of_command);
        Self {
            directories: all.iter().map(about).collect(),
            files: whole.map(|setting| (setting.url.span.source, setting)).collect(),
        }
    }

    /// The one that may be about what a file in a directory lists: it stands above it or below it.
    fn around(&self, directory: &str) -> Option<&'s IndexSetting> {
        let above = paths::above(directory).find_map(|above| self.directories.get(above));
        let mut below = self.directories.range(directory..);
        above.or_else(|| below.next().filter(|(at, _)| is_below(at, directory)).map(|(_, setting)| setting)).copied()
    }
}

/// What a setting in a directory is about: tools keep theirs in directories with a dot.
fn directory(path: &str) -> &str {
    let hidden = |part: &&str| part.starts_with('.') && !matches!(*part, "." | "..");
    match path.split('/').find(hidden) {
        Some(part) => path[..part.as_ptr().addr() - path.as_ptr().addr()].trim_end_matches('/'),
        None => path,
    }
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Leaves open where packages come from that name no index, where something near them names one.
pub fn link(facts: &mut Facts, settings: &Settings<'_>) {
    if settings.directories.is_empty() {
        return;
    }
    for file in &mut facts.package_files {
        let around = file.path.get().and_then(|path| settings.around(paths::directory(path)));
        if let Some(setting) = around.filter(|_| file.packages.iter().any(names_none)) {
            let file: &mut PackageFile = Arc::make_mut(file);
            file.packages.iter_mut().filter(|package| names_none(package)).for_each(|package| open(package, setting));
        }
    }
    for build in &mut facts.builds {
        let setting = settings.files.get(&build.span.source).copied();
        if let Some(setting) = setting.filter(|_| build.packages.iter().any(names_none)) {
            let build: &mut Build = Arc::make_mut(build);
            build.packages.iter_mut().filter(|package| names_none(package)).for_each(|package| open(package, setting));
        }
    }
}

fn names_none(package: &Package) -> bool {
    package.index_url.is_absent() && package.extra_indexes.is_absent() && package.url.is_absent()
}

fn open(package: &mut Package, setting: &IndexSetting) {
    let why = match setting.url.get() {
        Some(url) => Why::NotStated(format!("whether it is installed from {url}").into()),
        None => Why::NotStated("which index it is installed from".into()),
    };
    package.extra_indexes = Fact::unknown(why, package.span);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_tools_are_about_where_their_directory_stands() {
        assert_eq!(directory("a/.github/workflows"), "a");
        assert_eq!((directory(".devcontainer"), directory("../b"), directory("a/b")), ("", "../b", "a/b"));
        assert!(is_below("a/b", "a") && is_below("a", "") && !is_below("ab", "a") && !is_below("a", "a"));
    }
}
