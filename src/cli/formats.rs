//! `gpulint formats`: the page of what is read. Knows Markdown.

use super::{CLEAN, print};
use crate::catalog;
use crate::extract::{DOCUMENTS, TEXTS};
use std::collections::BTreeMap;

const INTRODUCTION: &str = "\
# Formats

Written by `gpulint formats`. What a document is shows in its content, wherever it stands: a value, a ConfigMap, a variable or a heredoc of another
file holds the same as a file of its own. Helm charts are rendered, kustomizations built and Terraform modules evaluated before they are read.
Folders of `fixtures/formats/` that begin with the name of a format have files of it, and what comes of them.
";

/// Prints the page.
///
/// # Errors
/// It cannot be written.
pub fn run() -> Result<u8, String> {
    let mut out = INTRODUCTION.to_owned();
    let row = |name: &str, about: &str| format!("| {name} | {about} |\n");
    let format =
        |(name, about, objects): (&str, &str, &[&str])| row(name, &format!("{about} | {}", objects.join(", ")));
    let head = "\n\n| format | what is read | objects as which rules ask for it as written |\n|---|---|---|\n";
    out.extend(["\n## Documents in YAML and JSON", head]);
    out.extend(DOCUMENTS.iter().map(|it| format((it.name, it.about, it.objects))));
    out.extend(["\n## Other files", head]);
    out.extend(TEXTS.iter().map(|it| format((it.name, it.about, it.objects))));
    out.push_str("\n## Kinds of Kubernetes that hold pods\n\n| API group | kinds |\n|---|---|\n");
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    catalog::workload_kinds().for_each(|(group, kind)| kinds.entry(group).or_default().push(kind));
    out.extend(
        kinds.iter().map(|(group, kinds)| row(if group.is_empty() { "(core)" } else { group }, &kinds.join(", "))),
    );
    print(&out)?;
    Ok(CLEAN)
}
