//! Formats and launchers: trees into facts. Knows what documents mean; knows neither rules nor severities.

pub mod compose;
pub mod image;
pub mod intent;
pub mod kubernetes;
pub mod launch;
pub mod values;

use crate::facts::Facts;
use crate::parse::{Node, Tree};
use std::sync::Arc;

/// Facts of every document of a YAML or JSON file.
pub fn documents(tree: &Arc<Tree>, path: &str, facts: &mut Facts) {
    for root in tree.roots() {
        document(tree, root, path, facts);
    }
}

fn document(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    if kubernetes::is_object(root) {
        kubernetes::document(tree, root, facts);
    } else if compose::is_project(root, path) {
        compose::project(tree, root, facts);
    } else if values::is_values(root, path) {
        values::read(tree, root, path, facts);
    }
}
