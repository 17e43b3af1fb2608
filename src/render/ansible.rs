//! Tasks of Ansible with variables put in: those of their role, and those that one file of an inventory alone gives. Knows
//! where they stand, and plain references; runs no filter and no test.

use super::fill::{self, LONGEST, Value};
use crate::budget::{STEP, Share, Spent};
use crate::parse::{Node, Tree};
use crate::paths;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Texts that are made of texts: so deep.
const DEEPEST: usize = 8;

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

/// Variables that files give values to for roles and plays, beside the main files of the roles.
#[derive(Default)]
pub struct Given<'t> {
    /// What they are and the directory that this is for; `None` where more than one place gives it, or one that is for some
    /// plays only.
    values: BTreeMap<&'t str, Option<(&'t str, Value<'t>)>>,
}

impl<'t> Given<'t> {
    /// Adds what a file gives: what stands in the files of an inventory, in plays and in facts that tasks set.
    pub fn add(&mut self, path: &'t str, tree: &'t Arc<Tree>) {
        for item in tree.roots().flat_map(Node::items).filter(|item| item.is_map()) {
            let roles = item.get("roles").into_iter().flat_map(Node::items).filter(|role| role.is_map());
            let own = ["vars", "set_fact", "ansible.builtin.set_fact"].iter().filter_map(|key| item.get(key));
            for name in own.chain(roles).flat_map(Node::entries).filter_map(|(key, _)| key.text()) {
                self.values.insert(name, None);
            }
        }
        let Some(below) = around(path) else { return };
        for (name, value) in tree.roots().flat_map(Node::entries) {
            if let Some(name) = name.text() {
                let only = Some((below, (tree, value)));
                self.values.entry(name).and_modify(|known| *known = None).or_insert(only);
            }
        }
    }
}

/// The directory around an inventory that a file belongs to. The main files of a role are none of one.
fn around(path: &str) -> Option<&str> {
    const INVENTORY: [&str; 5] = ["group_vars", "host_vars", "vars", "inventory", "inventories"];
    let before = |part: &&str| match path.strip_prefix(*part) {
        Some(rest) if rest.starts_with('/') => Some(""),
        _ => Some(path.split_once(&format!("/{part}/"))?.0),
    };
    let of_role = matches!(role(path), Some((_, Part::Defaults | Part::Vars)));
    INVENTORY.iter().filter_map(before).min_by_key(|before| before.len()).filter(|_| !of_role)
}

/// Adds the variables of a file: they win over what is there.
pub fn add<'t>(tree: &'t Arc<Tree>, out: &mut BTreeMap<&'t str, Value<'t>>) {
    let named = tree.roots().flat_map(Node::entries).filter_map(|(key, value)| Some((key.text()?, (tree, value))));
    out.extend(named);
}

/// The variables that a file of tasks sees.
pub struct Variables<'g, 't> {
    own: Option<&'g BTreeMap<&'t str, Value<'t>>>,
    given: &'g Given<'t>,
    path: &'g str,
    texts: RefCell<Texts<'t>>,
}

/// What texts of variables are, where that is known, by how deep they may be made of others.
type Texts<'t> = HashMap<(&'t str, usize), Option<Arc<str>>>;

impl<'g, 't> Variables<'g, 't> {
    /// Those of a role that nothing else gives, with those that one file alone gives to what stands at `path`.
    pub fn new(own: Option<&'g BTreeMap<&'t str, Value<'t>>>, given: &'g Given<'t>, path: &'g str) -> Self {
        Self { own, given, path, texts: RefCell::default() }
    }

    fn known(&self, name: &str) -> Option<(&'t str, Value<'t>)> {
        let own = self.own.and_then(|own| own.get_key_value(name));
        let reaches =
            |below: &str| self.path.strip_prefix(below).is_some_and(|rest| below.is_empty() || rest.starts_with('/'));
        match (self.given.values.get_key_value(name), own) {
            (None, own) => own.map(|(name, value)| (*name, *value)),
            (Some((name, Some((below, value)))), None) if reaches(below) => Some((*name, *value)),
            _ => None,
        }
    }

    /// The text of a variable, where all that it is made of is known.
    fn made_of(&self, name: &str, depth: usize, share: &Share) -> Result<Option<Arc<str>>, Spent> {
        let (Some(below), Some((name, (_, value)))) = (depth.checked_sub(1), self.known(name)) else {
            return Ok(None);
        };
        if let Some(known) = self.texts.borrow().get(&(name, depth)) {
            return Ok(known.clone());
        }
        let made = self.made(value.text().filter(|_| !value.is_null()), below, share)?.map(Arc::from);
        self.texts.borrow_mut().insert((name, depth), made.clone());
        Ok(made)
    }

    fn made(&self, text: Option<&'t str>, depth: usize, share: &Share) -> Result<Option<String>, Spent> {
        let Some(text) = text.filter(|text| !text.contains("{%")) else { return Ok(None) };
        share.work(text.len())?;
        let (mut out, mut from) = (String::new(), 0);
        for (range, name) in references(text) {
            let Some(value) = self.made_of(name, depth, share)? else { return Ok(None) };
            share.work(STEP + value.len())?;
            out.push_str(&text[from..range.start]);
            out.push_str(&value);
            from = range.end;
            if out.len() > LONGEST {
                return Ok(None);
            }
        }
        out.push_str(&text[from..]);
        Ok(Some(out).filter(|out| out.len() <= LONGEST && !out.contains("{{")))
    }
}

impl fill::Variables for Variables<'_, '_> {
    fn references<'x>(&self, text: &'x str) -> Box<dyn Iterator<Item = (Range<usize>, &'x str)> + 'x> {
        Box::new(references(text))
    }

    fn find(&self, name: &str, _: &Share) -> Result<Option<Value<'_>>, Spent> {
        Ok(self.known(name).map(|(_, value)| value))
    }

    fn text(&self, name: &str, share: &Share) -> Result<Option<Arc<str>>, Spent> {
        self.made_of(name, DEEPEST, share)
    }
}

/// Where a text refers to a variable by nothing but its name.
pub fn references(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    text.match_indices("{{").filter_map(|(start, _)| {
        let inner = text[start + 2..].trim_start_matches([' ', '-']);
        let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let (name, behind) = inner.split_at(length);
        let behind = behind.trim_start_matches([' ', '-']).strip_prefix("}}")?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        is_name.then(|| (start..text.len() - behind.len(), name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::render::fill::filled;
    use crate::source::SourceId;

    fn read(text: &str) -> Arc<Tree> {
        Arc::new(yaml::parse(SourceId(0), text, Dialect::Kubernetes))
    }

    fn filled_with(tasks: &str, defaults: &str, share: &Share) -> Result<Option<String>, Spent> {
        let (tasks, defaults) = (read(tasks), read(defaults));
        let mut own = BTreeMap::new();
        add(&defaults, &mut own);
        let filled = filled(&tasks, &Variables::new(Some(&own), &Given::default(), ""), share)?;
        Ok(filled.and_then(|filled| filled.tree.roots().next()?.view().get("name").string().get().cloned()))
    }

    fn text_of(tasks: &str, defaults: &str) -> Option<String> {
        filled_with(tasks, defaults, &Share::least(0)).expect("little is made")
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
        let grown = |first: &str, times: usize| {
            let level = |i: usize| format!("v{i}: '{}'\n", format!("{{{{ v{} }}}}", i - 1).repeat(times));
            format!("v0: '{first}'\n{}", (1..8).map(level).collect::<String>())
        };
        assert_eq!(text_of("name: '{{ v7 }}'", &grown("aaaaaaaaaaaaaaaa", 16)), None);
        // Nothing is long here, and to put it together level by level would take 60 to the power of 7 steps.
        assert_eq!(text_of("name: 'x{{ v7 }}'", &grown("", 60)).as_deref(), Some("x"));
        let many = format!("name: x\nlist:{}", "\n- 'x{{ long }}'".repeat(2000));
        let spent = filled_with(&many, &format!("long: {}", "a".repeat(4000)), &Share::least(0));
        assert_eq!(spent, Err(Spent::Made));
    }

    #[test]
    fn what_one_file_of_an_inventory_alone_gives_is_known() {
        let tasks = read("- helm: {values: '{{ gpu }}', name: '{{ name }}', chart: '{{ chart }}'}\n");
        let files = [
            (
                "site/group_vars/gpu.yml",
                read("gpu: {driver: {version: '{{ driver }}'}}\ndriver: 535.1\nname: a\nchart: x\n"),
            ),
            ("site/host_vars/one.yml", read("name: b\n")),
        ];
        let mut given = Given::default();
        files.iter().for_each(|(path, tree)| given.add(path, tree));
        let defaults = read("chart: y\n");
        let mut own = BTreeMap::new();
        add(&defaults, &mut own);
        let filled_at =
            |path: &str| filled(&tasks, &Variables::new(Some(&own), &given, path), &Share::least(0)).expect("little");
        let here = filled_at("site/roles/gpu/tasks/main.yml").expect("it is given");
        let task = here.tree.roots().next().and_then(|root| root.items().next()).expect("a task").view().get("helm");
        assert_eq!(task.path("values.driver.version").node().and_then(Node::text), Some("535.1"));
        // Two hosts, and two files that say different things of a chart.
        assert_eq!(task.get("name").node().and_then(Node::text), Some("{{ name }}"));
        assert_eq!(task.get("chart").node().and_then(Node::text), Some("{{ chart }}"));
        assert!(filled_at("other/roles/gpu/tasks/main.yml").is_none());
    }

    #[test]
    fn files_of_a_role_are_told_by_where_they_stand() {
        assert_eq!(role("roles/gpu/tasks/install.yml"), Some(("roles/gpu", Part::Tasks)));
        assert_eq!(role("defaults/main.yaml"), Some(("", Part::Defaults)));
        assert_eq!(role("roles/gpu/vars/ubuntu.yml"), None);
    }
}
