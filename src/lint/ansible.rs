//! Tasks of Ansible with variables put in: what their role gives and nothing else does, and what one file of an inventory
//! alone gives.

use super::Repository;
use super::filled::{self, Filled};
use crate::extract::ansible::is_tasks;
use crate::render::ansible::{self, Given, Part, Variables};
use std::collections::BTreeMap;

/// Puts variables into tasks.
pub fn fill(here: &Repository<'_>) -> Filled {
    let mut roles: BTreeMap<&str, BTreeMap<_, _>> = BTreeMap::new();
    let mut given = Given::default();
    for wanted in [Part::Defaults, Part::Vars] {
        for (id, tree) in &here.trees {
            if let Some((role, _)) = ansible::role(here.path(*id)).filter(|(_, part)| *part == wanted) {
                ansible::add(tree, roles.entry(role).or_default());
            }
        }
    }
    here.trees.iter().for_each(|(id, tree)| given.add(here.path(*id), tree));
    filled::fill(here, |path, tree| {
        let role = ansible::role(path).filter(|(_, part)| *part == Part::Tasks).map(|(role, _)| role);
        let own = role.and_then(|role| roles.get(role));
        (role.is_some() || tree.roots().any(is_tasks)).then(|| Box::new(Variables::new(own, &given, path)) as _)
    })
}
