//! Files with variables put in, whatever tool does that. Knows neither syntax nor where values stand.

use super::Repository;
use crate::budget::{STEP, Share};
use crate::parse::{Problem, Tree};
use crate::render::fill::{self, Variables};
use crate::source::{SourceId, Span};
use std::sync::Arc;

/// What came of it.
#[derive(Default)]
pub struct Filled {
    /// The files that refer to variables, with their values.
    pub trees: Vec<(SourceId, Arc<Tree>)>,
    /// Where values stand that are used elsewhere, and where that is.
    pub uses: Vec<(Span, Span)>,
    /// What is too much with its variables.
    pub cut: Vec<Problem>,
}

/// Puts variables into the files that see some.
pub fn fill<'v>(
    here: &'v Repository<'_>,
    seen: impl Fn(&'v str, &'v Arc<Tree>) -> Option<Box<dyn Variables + 'v>>,
) -> Filled {
    let mut out = Filled::default();
    for (id, tree) in &here.trees {
        let Some(variables) = seen(here.path(*id), tree) else { continue };
        match fill::filled(tree, &*variables, &Share::least(tree.len() * STEP)) {
            Ok(Some(filled)) => {
                out.uses.extend(filled.uses);
                out.trees.push((*id, Arc::new(filled.tree)));
            }
            Ok(None) => {}
            Err(spent) => {
                out.cut.extend(tree.roots().next().map(|root| Problem {
                    span: root.span(),
                    message: format!("this file with its variables: {spent}"),
                }))
            }
        }
    }
    out
}
