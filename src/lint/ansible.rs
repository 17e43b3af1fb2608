//! Tasks of Ansible with variables put in: what their role gives and nothing else does, and what one file of an inventory
//! alone gives.

use super::Repository;
use crate::budget::{STEP, Share};
use crate::extract::ansible::is_tasks;
use crate::parse::{Node, Problem};
use crate::render::ansible::{self, Given, Part, Variables};
use crate::render::fill::{Filled, filled as put_in};
use crate::source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where values stand that are used elsewhere, and what would be too much with its variables put in.
pub type Uses = (Vec<(Span, Span)>, Vec<Problem>);

/// Puts variables into tasks.
pub fn fill(here: &mut Repository<'_>) -> Uses {
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
    let (mut filled, mut uses, mut cut) = (vec![], vec![], vec![]);
    for (id, tree) in &here.trees {
        let path = here.path(*id);
        let role = ansible::role(path).filter(|(_, part)| *part == Part::Tasks).map(|(role, _)| role);
        if role.is_none() && !tree.roots().any(is_tasks) {
            continue;
        }
        let variables = Variables::new(role.and_then(|role| roles.get(role)), &given, path);
        match put_in(tree, &variables, &Share::least(tree.len() * STEP)) {
            Ok(Some(Filled { tree, uses: own })) => {
                uses.extend(own);
                filled.push((*id, Arc::new(tree)));
            }
            Ok(None) => {}
            Err(spent) => cut.extend(tree.roots().next().map(|root: Node<'_>| Problem {
                span: root.span(),
                message: format!("these tasks with their variables: {spent}"),
            })),
        }
    }
    here.trees.extend(filled);
    (uses, cut)
}
