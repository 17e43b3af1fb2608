//! Images that projects publish to be run as they are: what they are built for, and what they start.

use super::table::{Patterned, Row, Table};
use super::tables::{IMAGE_BUILDS, IMAGE_PROGRAMS};
use std::sync::OnceLock;

/// The name of an image as Docker shows it and the catalog has it: Docker Hub's images without their host.
pub fn familiar_name(registry: &str, repository: &str) -> String {
    if matches!(registry, "docker.io" | "index.docker.io" | "registry-1.docker.io") {
        repository.to_owned()
    } else {
        format!("{registry}/{repository}")
    }
}

/// What a published image is built for, where there are builds for the CPU and for GPUs.
#[derive(Debug, Clone, Copy)]
pub struct ImageBuild(Row);

impl ImageBuild {
    /// `cpu` or `cuda`.
    pub fn accelerator(self) -> &'static str {
        self.0.text("accelerator")
    }

    /// The tag of the same release that is built for CUDA.
    pub fn cuda_tag(self, tag: &str) -> Option<String> {
        let suffix = self.0.filled("cuda_suffix")?;
        Some(format!("{}{suffix}", tag.strip_suffix(self.0.text("own_suffix")).unwrap_or(tag)))
    }

    /// The environment variable that tells its program on which device to compute.
    pub fn device_variable(self) -> Option<&'static str> {
        self.0.filled("device_variable")
    }
}

/// The build that an image is, by its repository (with the registry, docker.io left off) and tag.
pub fn image_build(repository: &str, tag: &str) -> Option<ImageBuild> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    of_image(&READ, &IMAGE_BUILDS, repository, tag).map(ImageBuild)
}

/// The program of a published image, and whether its entrypoint starts it; else the entrypoint runs what it is given.
pub fn image_program(repository: &str, tag: &str) -> Option<(&'static str, bool)> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let row = of_image(&READ, &IMAGE_PROGRAMS, repository, tag)?;
    Some((row.text("program"), row.flag("starts") == Some(true)))
}

/// The first row that is about an image; no tag is `latest`.
fn of_image(
    read: &'static OnceLock<Vec<Patterned>>,
    table: &'static Table,
    repository: &str,
    tag: &str,
) -> Option<Row> {
    let tag = if tag.is_empty() { "latest" } else { tag };
    let mut all = read.get_or_init(|| Patterned::all(table, "tag")).iter();
    let row = all.find(|found| found.row.text("repository") == repository && found.is_about(tag))?.row;
    row.used();
    Some(row)
}
