//! What would decide most of what could not be decided. Knows the keys of the configuration by name.

use crate::finding::Undecided;

/// Checks that wait for one thing.
#[derive(Debug)]
pub struct Waiting<'u> {
    /// Why they could not be decided.
    pub why: &'u str,
    /// What would decide them, where it can be told.
    pub decided_by: Option<&'static str>,
    /// The checks, in the order of their places.
    pub checks: Vec<&'u Undecided>,
}

/// What people can do about it, by how the reason begins.
const ADVICE: &[(&str, &str)] = &[
    ("the driver of the node", "state clusters[].driver in .gpulint.yaml"),
    ("the GPU of the node", "state clusters[].node_pools[].gpu in .gpulint.yaml"),
    ("whose GPUs the nodes have", "state clusters[].node_pools[].gpu in .gpulint.yaml"),
    ("the release of the engine", "pin the tag of its image, or its package"),
    ("the tag of the image", "pin it"),
    ("the version that will be installed", "pin it"),
];

/// Checks by what they wait for, most first. Those that wait for a row of the catalog are left out: nobody who reads of them
/// can state it.
pub fn waiting(undecided: &[Undecided]) -> Vec<Waiting<'_>> {
    let mut checks: Vec<&Undecided> = undecided.iter().filter(|check| !check.lacks_row).collect();
    checks.sort_by(|a, b| (&a.why, a.span, &a.rule).cmp(&(&b.why, b.span, &b.rule)));
    let mut groups: Vec<Waiting<'_>> = Vec::new();
    for check in checks {
        match groups.last_mut().filter(|group| group.why == check.why) {
            Some(group) => group.checks.push(check),
            None => groups.push(Waiting {
                why: &check.why,
                decided_by: ADVICE.iter().find(|(reason, _)| check.why.starts_with(reason)).map(|(_, by)| *by),
                checks: vec![check],
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.checks.len()));
    groups
}
