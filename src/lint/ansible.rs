//! Tasks of Ansible with the variables of their roles: a value that no inventory and no play gives is that of the role.

use super::Repository;
use crate::render::ansible::{self, Filled, Part, Variables};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Puts variables of roles into their tasks; where values stand that are used elsewhere.
pub fn fill(here: &mut Repository<'_>) -> Vec<(Span, Span)> {
    let mut roles: BTreeMap<&str, Variables<'_>> = BTreeMap::new();
    for wanted in [Part::Defaults, Part::Vars] {
        for (id, tree) in &here.trees {
            if let Some((role, _)) = ansible::role(here.path(*id)).filter(|(_, part)| *part == wanted) {
                ansible::add(tree, roles.entry(role).or_default());
            }
        }
    }
    if roles.is_empty() {
        return vec![];
    }
    let mut given = BTreeSet::new();
    here.trees.iter().for_each(|(id, tree)| ansible::given(here.path(*id), tree, &mut given));
    roles.values_mut().for_each(|own| own.retain(|name, _| !given.contains(name)));
    let filled = here.trees.iter().filter_map(|(id, tree)| {
        let (role, _) = ansible::role(here.path(*id)).filter(|(_, part)| *part == Part::Tasks)?;
        Some((*id, ansible::filled(tree, roles.get(role)?)?))
    });
    let filled: Vec<_> = filled.collect();
    let mut uses = vec![];
    for (id, Filled { tree, uses: own }) in filled {
        uses.extend(own);
        here.trees.insert(id, Arc::new(tree));
    }
    uses
}
