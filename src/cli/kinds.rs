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

What is no object of Kubernetes is held against what its project publishes, too: a project of Compose, a task of SkyPilot, the configuration of a
trainer. Such a kind is the name of its format ([formats.md](formats.md)), or of the trainer. Variables that nothing replaces are not judged, files
that are one project are judged as they are merged, and a field is told only where the program refuses it. The settings of a module of Google's
Cluster Toolkit, and the arguments of a component of torchtune, are a kind by the name of the module or the component: what some release takes.
A file that a command names (`trl sft --config FILE`) is a kind by that command, and its release is the one to which everything that lists the package
holds it; by its keys alone a file for TRL is held against the words of strategies only.

Resources of Terraform (in HCL) are held against what their providers publish: arguments and blocks that a resource does not have, the one written as the
other, what is missing, what the provider alone decides, and values that Terraform cannot convert. The releases are those that `required_providers` of a
root and its modules allows, and what is missing is told where it asks for the provider; behind the last bindings that are published, what is newer is read from documentation or from bindings of another kind, and any
argument that is new there is taken everywhere in its resource. Resources of `hashicorp/google` are held against what `hashicorp/google-beta` takes.

`schemas/kinds/*.json`, `schemas/documents/*.json` and `schemas/terraform/*.json` hold the schemas, one node a line; `tests/oracles/kinds.py`,
`tests/oracles/documents.py` and `tests/oracles/terraform.py` write them from the projects' repositories and packages.

| project | releases | kinds | from |
|---|---|---|---|
";

/// A project with more kinds than these has them counted.
const MOST: usize = 100;

/// Prints the page.
///
/// # Errors
/// It cannot be written.
pub fn run() -> Result<u8, String> {
    let mut out = INTRODUCTION.to_owned();
    for project in contract::projects() {
        let releases = project.releases.join(", ");
        let kinds = match project.kinds.len() {
            ..=MOST => project.kinds.join(", "),
            count => format!("{count}: {}, …", project.kinds[..3].join(", ")),
        };
        out += &format!("| {} | {releases} | {kinds} | {} |\n", project.name, project.source);
    }
    print(&out)?;
    Ok(CLEAN)
}
