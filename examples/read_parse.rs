//! Finds, reads and span-parses the files that `gpulint check` would lint, and nothing else: the floor that
//! `benches/figures.sh` measures a whole run against.

use gpulint::discover::{self, Found, Kind, MAX_BYTES, Options};
use gpulint::parse::{Dialect, dockerfile, hcl, pbtxt, requirements, toml, yaml};
use gpulint::source::SourceId;
use rayon::prelude::*;
use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let roots: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let discovery = discover::discover(&roots, &Options::new(std::env::current_dir()?))?;
    let bytes: usize = discovery.found.par_iter().enumerate().map(|(i, f)| parse(SourceId(i as u32), f)).sum();
    writeln!(std::io::stdout(), "{} files found, {bytes} bytes parsed", discovery.found.len())?;
    Ok(())
}

/// Parses a file as what its name says; the number of bytes, 0 for what cannot be read as it stands.
fn parse(id: SourceId, found: &Found) -> usize {
    let Ok(text) = found.read(MAX_BYTES) else { return 0 };
    if found.template(&text).is_some() {
        return 0;
    }
    match found.kind {
        Kind::Yaml => drop(black_box(yaml::parse(id, &text, Dialect::Kubernetes))),
        Kind::Json | Kind::TerraformJson => drop(black_box(yaml::parse(id, &text, Dialect::Typed))),
        Kind::Dockerfile => drop(black_box(dockerfile::parse(id, &text))),
        Kind::Requirements => drop(black_box(requirements::parse(id, &text))),
        Kind::Toml => drop(black_box(toml::parse(id, &text))),
        Kind::Terraform | Kind::TerraformVars | Kind::Bake => drop(black_box(hcl::parse(id, &text))),
        Kind::Pbtxt => drop(black_box(pbtxt::parse(id, &text))),
        Kind::Nomad
        | Kind::Packer
        | Kind::Setup
        | Kind::Shell
        | Kind::Slurm
        | Kind::Makefile
        | Kind::Unit
        | Kind::Nginx
        | Kind::Text
        | Kind::Chart
        | Kind::Data => {}
    }
    text.len()
}
