//! `gpulint kinds`: the page of the kinds whose schemas are known. Knows Markdown.

use super::{CLEAN, print};
use crate::contract;

const INTRODUCTION: &str = "\
# Kinds

Written by `gpulint kinds`. Objects of these kinds are held against the schemas that their projects publish, rules in CEL included, where their file speaks
of GPUs or asks for some (`--all-kinds`: everywhere). `unknown-field`, `value-not-allowed`, `required-field-missing` and `contract-violated` tell what
breaks them. The release is that of the cluster (`clusters[].kubernetes`, or what the infrastructure states) or of the chart that the
repository installs; where none is stated, a finding holds for every release below. A repository that defines a kind itself is not held against
what was released of it, and neither are objects that other formats state in fields of their own.

`schemas/kinds/*.json` hold the schemas, one node a line; `tests/oracles/kinds.py` writes them from the projects' repositories.

| project | releases | kinds | from |
|---|---|---|---|
";

/// Prints the page.
///
/// # Errors
/// It cannot be written.
pub fn run() -> Result<u8, String> {
    let mut out = INTRODUCTION.to_owned();
    for project in contract::projects() {
        let releases = project.releases.join(", ");
        out += &format!("| {} | {releases} | {} | {} |\n", project.name, project.kinds.join(", "), project.source);
    }
    print(&out)?;
    Ok(CLEAN)
}
