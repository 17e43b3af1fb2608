//! The same names in different spellings: those of files and Pulumi (`instanceType`), of CloudFormation (`InstanceType`) and of
//! Terraform (`instance_type`).

use crate::parse::{Node, View};

/// A name as Terraform calls it: `instance_group_name` of `InstanceGroupName` and `instanceGroupName`.
pub fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// A value under a name, in the spelling at hand.
pub fn get<'t>(view: View<'t>, name: &str) -> View<'t> {
    let capital = format!("{}{}", name[..1].to_ascii_uppercase(), &name[1..]);
    let spellings = [name, &capital, &snake_case(name)].map(|name| view.get(name));
    spellings.into_iter().find(|view| view.is_some()).unwrap_or(spellings[0])
}

/// What stands at a dotted path of such names; steps into the first item of each list of blocks.
pub fn at<'t>(view: View<'t>, path: &str) -> View<'t> {
    path.split('.').fold(view, |view, name| {
        let next = get(view, name);
        let first = next.node().filter(|node| node.is_seq()).and_then(|node| node.items().find(|item| item.is_map()));
        first.map_or(next, |first: Node<'t>| View::new(Some(first), next.place()))
    })
}
