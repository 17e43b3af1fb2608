//! What variables, locals, arguments of modules and files of values name for others to use: versions, images, machines. Knows
//! no resource type; who uses them is evaluated elsewhere.

use crate::extract::machinery;
use crate::facts::Facts;
use crate::parse::{Node, Tree, hcl::Hcl};
use crate::render::bake;

/// Reads a file; `values` says that it only sets variables.
pub fn read(hcl: &Hcl, path: &str, values: bool, facts: &mut Facts) {
    let tree = bake::blocks(hcl);
    match values {
        true => tree.roots().for_each(|root| machinery::of_names(root.view(), path, facts)),
        false => in_blocks(&tree, path, facts),
    }
}

/// Reads the blocks of a file.
pub fn in_blocks(tree: &Tree, path: &str, facts: &mut Facts) {
    for root in tree.roots().map(Node::view) {
        for (name, blocks) in root.get("variable").entries() {
            for default in blocks.items().map(|block| block.get("default")) {
                match default.traced() {
                    Some(text) => machinery::named(name, &text, path, facts),
                    None => machinery::of_names(default, path, facts),
                }
            }
        }
        root.get("locals").items().for_each(|locals| machinery::of_names(locals, path, facts));
        let calls = root.get("module").entries().into_iter().flat_map(|(_, calls)| calls.items());
        calls.for_each(|call| machinery::of_names(call, path, facts));
    }
}
