//! What stands in the repositories of a run, whatever it is.

use crate::known::Fact;
use std::collections::BTreeSet;

/// The paths of a run, as they are shown.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// What the directory is called that they start in.
    pub name: String,
    /// Files and directories that were met.
    pub there: BTreeSet<String>,
    /// Files and directories that were not looked at or into.
    pub closed: BTreeSet<String>,
    /// Lines of ignore files: what they name may be made at any time.
    pub ignored: BTreeSet<String>,
    /// Directories of repositories that were walked as a whole.
    pub roots: BTreeSet<String>,
    /// What pages say of the NVIDIA runtime of Docker, where something asks for it.
    pub docker_runtime: Option<DockerRuntime>,
}

/// How the NVIDIA runtime is set up for Docker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DockerRuntime {
    /// Docker knows it.
    Registered,
    /// It runs every container that names no other.
    Default,
}

/// A path that a file names.
#[derive(Debug, Clone)]
pub struct NamedPath {
    /// The path as written, without what the file decides later, at its place.
    pub path: Fact<String>,
    /// What is to stand there.
    pub role: PathRole,
}

/// What is to stand at a path that a file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRole {
    /// A script that a job runs.
    Run,
    /// The directory of a chart, as seen from the file that installs it.
    Chart,
}
