//! What images are made of that others start from: variables, programs, the shell of a distribution; and what packages of
//! distributions bring of programs.

use super::table::{Patterned, Row};
use super::tables::{BASE_IMAGES, BASE_OS, PROGRAMS, SYSTEM_PACKAGES};
use crate::version::Version;
use std::sync::OnceLock;

/// An image whose Dockerfile was read as a whole: it sets no SHELL, runs as root and holds no lists of packages.
#[derive(Debug, Clone, Copy)]
pub struct BaseImage(Row);

impl BaseImage {
    /// Whether it sets a variable of its environment.
    pub fn sets(self, variable: &str) -> bool {
        self.0.words("env").any(|name| match name.strip_suffix('*') {
            Some(start) => variable.starts_with(start),
            None => name == variable,
        })
    }

    /// Its distribution with the release, where its tag alone does not tell.
    pub fn os(self) -> Option<(&'static str, Version)> {
        Some((self.0.filled("os")?, self.0.version("os_version")?))
    }

    /// Whether it does not have a program.
    pub fn lacks(self, program: &str) -> bool {
        self.0.words("lacks").any(|lacking| lacking == program)
    }
}

/// The image of a repository (with the registry, docker.io left off) and tag.
pub fn base_image(repository: &str, tag: &str) -> Option<BaseImage> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let all = READ.get_or_init(|| Patterned::all(&BASE_IMAGES, "tag"));
    let found = all.iter().find(|found| found.row.text("repository") == repository && found.is_about(tag))?;
    found.row.used();
    Some(BaseImage(found.row))
}

/// Whether /bin/sh of a release of a distribution is dash, which has no more than POSIX asks for.
pub fn shell_is_dash(distribution: &str, version: &str) -> bool {
    let is = |row: &Row| row.text("distribution") == distribution && row.text("version") == version;
    BASE_OS.rows().find(is).inspect(|row| row.used()).is_some_and(|row| row.text("sh") == "dash")
}

/// The package of Debian and Ubuntu that brings a program, and whether pip may bring it as well.
pub fn package_of_program(program: &str) -> Option<(&'static str, bool)> {
    let row = PROGRAMS.find("program", program)?;
    row.used();
    Some((row.text("package"), row.flag("pip") == Some(true)))
}

/// What a package of Debian and Ubuntu brings.
#[derive(Debug, Clone, Copy)]
pub struct SystemPackage(Row);

impl SystemPackage {
    /// The programs of the table that come with it and with all that it depends on or recommends.
    pub fn programs(self) -> impl Iterator<Item = &'static str> {
        self.0.words("programs")
    }

    /// Whether it needs packages that no base image has, so that apt asks before it installs them.
    pub fn needs_more(self) -> bool {
        self.0.flag("needs_more") == Some(true)
    }
}

/// A package by its name; `None` for one that was not looked at.
pub fn system_package(package: &str) -> Option<SystemPackage> {
    let row = SYSTEM_PACKAGES.about(package).next()?;
    row.used();
    Some(SystemPackage(row))
}
