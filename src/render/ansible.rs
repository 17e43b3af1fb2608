//! Roles of Ansible: tasks with the variables of their role put in. Knows where a role keeps them, and plain references; runs
//! no filter and no test.

use crate::parse::{Builder, Node, NodeId, NodeKind, Shape, Tree};
use crate::paths;
use crate::source::{Span, Traced};
use std::collections::{BTreeMap, BTreeSet};

/// Values that are made of values: so deep, and so long.
const DEEPEST: usize = 8;
const LONGEST: usize = 4096;

/// What a file is to a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What its variables are when nobody says otherwise.
    Defaults,
    /// What its variables are.
    Vars,
    /// What it does.
    Tasks,
}

/// The directory of the role that a file belongs to, and what it is to it.
pub fn role(path: &str) -> Option<(&str, Part)> {
    let (directory, name) = paths::split(path);
    let (role, part) = paths::split(directory);
    let main = matches!(name, "main.yml" | "main.yaml");
    let part = match part {
        "defaults" if main => Part::Defaults,
        "vars" if main => Part::Vars,
        "tasks" | "handlers" => Part::Tasks,
        _ => return None,
    };
    Some((role, part))
}

/// Names of variables that a file gives values to for other roles and plays: what stands in the files of an inventory, beside
/// the main file of a role's variables, in plays and in facts that tasks set.
pub fn given<'t>(path: &str, tree: &'t Tree, out: &mut BTreeSet<&'t str>) {
    let names = |node: Node<'t>| node.entries().into_iter().filter_map(|(key, _)| key.text());
    let inventory = paths::parts(path).any(|part| matches!(part, "group_vars" | "host_vars" | "vars" | "inventory"));
    for root in tree.roots() {
        if inventory && !matches!(role(path), Some((_, Part::Vars))) {
            out.extend(names(root));
        }
        for item in root.items().filter(|item| item.is_map()) {
            out.extend(item.get("vars").into_iter().flat_map(names));
            let roles = item.get("roles").into_iter().flat_map(Node::items);
            out.extend(roles.filter(|role| role.is_map()).flat_map(names));
            out.extend(["set_fact", "ansible.builtin.set_fact"].iter().filter_map(|key| item.get(key)).flat_map(names));
        }
    }
}

/// Variables with their values and where these stand.
pub type Variables<'t> = BTreeMap<&'t str, (&'t str, Span)>;

/// Adds the variables of a file: they win over what is there.
pub fn add<'t>(tree: &'t Tree, out: &mut Variables<'t>) {
    for (key, value) in tree.roots().flat_map(Node::entries) {
        let scalar = value.text().filter(|_| !value.is_null());
        match (key.text(), scalar) {
            (Some(key), Some(text)) => drop(out.insert(key, (text, value.span()))),
            (Some(key), None) => drop(out.remove(key)),
            (None, _) => {}
        }
    }
}

/// Documents with variables put in.
pub struct Filled {
    /// The documents. What is nothing but a variable stands where its value is written.
    pub tree: Tree,
    /// Where such values stand, and where they are used.
    pub uses: Vec<(Span, Span)>,
}

/// The same documents with variables put in; `None` where they refer to none of them.
pub fn filled(tree: &Tree, variables: &Variables<'_>) -> Option<Filled> {
    let refers = |node: Node<'_>| node.text().is_some_and(|text| text.contains("{{"));
    if variables.is_empty() || !tree.nodes().any(refers) {
        return None;
    }
    let mut builder = Builder::new(tree.source, tree.dialect);
    let roots: Vec<NodeId> = tree.roots().map(|root| builder.copy(root)).collect();
    let text = |node: Node<'_>| match node.kind() {
        Shape::Scalar { plain, .. } => Some((node.id(), expanded(&node.traced()?, variables)?, plain, node.span())),
        _ => None,
    };
    let found: Vec<(NodeId, Traced, bool, Span)> = builder.tree().nodes().filter_map(text).collect();
    let mut uses = vec![];
    let any = !found.is_empty();
    for (id, text, plain, used) in found {
        let elsewhere = text.whole().source != used.source;
        let span = if elsewhere { text.whole() } else { used };
        uses.extend(elsewhere.then_some((span, used)));
        builder.set(id, NodeKind::Scalar { text, plain }, span);
    }
    builder.tree().documents.extend(roots);
    any.then(|| Filled { tree: builder.finish(), uses })
}

/// A text with the variables that are known; `None` where it refers to none.
fn expanded(text: &Traced, variables: &Variables<'_>) -> Option<Traced> {
    let whole = text.text();
    let (mut parts, mut from, mut made) = (vec![], 0, 0);
    for (range, name) in references(whole) {
        let Some(value) = value(name, variables, DEEPEST).filter(|value| made + value.len() <= LONGEST) else {
            continue;
        };
        if let Some((_, span)) = variables.get(name).filter(|_| range.len() == whole.len()) {
            return Some(Traced::opaque(value, *span));
        }
        made += value.len();
        parts.push(text.slice(from..range.start));
        parts.push(Traced::opaque(value, text.span(range.clone())));
        from = range.end;
    }
    if parts.is_empty() {
        return None;
    }
    parts.push(text.slice(from..whole.len()));
    Some(Traced::concat(parts, text.whole()))
}

/// The value of a variable, where all that it is made of is known.
fn value(name: &str, variables: &Variables<'_>, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let (text, _) = *variables.get(name)?;
    let (mut out, mut from) = (String::new(), 0);
    for (range, name) in references(text) {
        out.push_str(&text[from..range.start]);
        out.push_str(&value(name, variables, depth)?);
        from = range.end;
        if out.len() > LONGEST {
            return None;
        }
    }
    out.push_str(&text[from..]);
    (out.len() <= LONGEST && !out.contains("{{") && !out.contains("{%")).then_some(out)
}

/// Where a text refers to a variable by nothing but its name.
fn references(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, &str)> {
    text.match_indices("{{").filter_map(|(start, _)| {
        let inner = text[start + 2..].split_once("}}")?.0;
        let name = inner.trim_matches([' ', '-']);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| (start..start + 2 + inner.len() + 2, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    fn text_of(tasks: &str, defaults: &str) -> Option<String> {
        let read = |text| yaml::parse(SourceId(0), text, Dialect::Kubernetes);
        let (tasks, defaults) = (read(tasks), read(defaults));
        let mut variables = Variables::new();
        add(&defaults, &mut variables);
        let filled = filled(&tasks, &variables)?;
        let root = filled.tree.roots().next()?.view();
        root.get("name").string().get().cloned()
    }

    #[test]
    fn variables_of_a_role_are_put_in() {
        let defaults = "branch: 535\nflavor: server\npackage: 'nvidia-{{ branch }}-{{ flavor }}'\nself: '{{ self }}'\n";
        assert_eq!(text_of("name: 'x-{{ package }}'", defaults).as_deref(), Some("x-nvidia-535-server"));
        assert_eq!(text_of("name: cuda-{{branch}}", defaults).as_deref(), Some("cuda-535"));
        for open in
            ["name: '{{ self }}'", "name: '{{ other }}'", "name: \"{{ branch | default('1') }}\"", "name: plain"]
        {
            assert_eq!(text_of(open, defaults), None, "{open}");
        }
    }

    #[test]
    fn values_that_grow_without_end_are_left_out() {
        let mut defaults = "v0: aaaaaaaaaaaaaaaa\n".to_owned();
        for i in 1..8 {
            defaults.push_str(&format!("v{i}: '{}'\n", format!("{{{{ v{} }}}}", i - 1).repeat(16)));
        }
        assert_eq!(text_of("name: '{{ v7 }}'", &defaults), None);
    }

    #[test]
    fn files_of_a_role_are_told_by_where_they_stand() {
        assert_eq!(role("roles/gpu/tasks/install.yml"), Some(("roles/gpu", Part::Tasks)));
        assert_eq!(role("defaults/main.yaml"), Some(("", Part::Defaults)));
        assert_eq!(role("roles/gpu/vars/ubuntu.yml"), None);
    }
}
