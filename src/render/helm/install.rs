//! A chart with one set of values: which subcharts are on, under which names, and what values each chart sees.
//! Knows how Helm switches dependencies; evaluates no template.

use super::chart::{Chart, Dependency};
use super::values::{Entry, Nulls, Table, Value, at, fill, hand_down_globals, table};
use crate::parse::yaml;
use crate::source::SourceId;

/// A chart that is switched on, with its own defaults.
#[derive(Debug)]
pub struct Install<'c> {
    /// The chart.
    pub chart: &'c Chart<'c>,
    /// Its name in the parent's values.
    pub name: &'c str,
    /// Its subcharts that are switched on.
    pub children: Vec<Install<'c>>,
    defaults: Table<'c>,
}

/// A dependency that is switched on.
#[derive(Debug)]
pub struct Installed<'c> {
    /// The `Chart.yaml` that lists it.
    pub listed: SourceId,
    /// As listed.
    pub dependency: &'c Dependency,
    /// Where its values stand in those of the topmost chart.
    pub path: String,
    /// Whether the chart is at hand.
    pub here: bool,
}

/// The charts that a set of values switches on, and the values that all of them see together: a subchart's own
/// stand under its name.
pub fn install<'c>(chart: &'c Chart<'c>, given: &Table<'c>) -> (Install<'c>, Table<'c>) {
    let mut root = Install::all(chart, &chart.name);
    let mut values = given.clone();
    root.coalesce(&mut values);
    root.switch(&values, "");
    root.import();
    let mut values = given.clone();
    root.coalesce(&mut values);
    (root, values)
}

impl<'c> Install<'c> {
    /// The chart with every subchart that is at hand.
    fn all(chart: &'c Chart<'c>, name: &'c str) -> Self {
        let unlisted = |c: &&Chart<'c>| !chart.dependencies.iter().any(|d| d.name == c.own_name());
        let mut children: Vec<Self> =
            chart.subcharts.iter().filter(unlisted).map(|c| Install::all(c, c.own_name())).collect();
        for dependency in &chart.dependencies {
            let found = chart.subcharts.iter().find(|c| c.own_name() == dependency.name);
            children.extend(found.map(|c| Install::all(c, dependency.known_as())));
        }
        let defaults = chart.values.as_ref().and_then(yaml::root).map(table).unwrap_or_default();
        Self { chart, name, children, defaults }
    }

    /// Switches subcharts off by their conditions and tags. `values` are those of the topmost chart.
    fn switch(&mut self, values: &Table<'c>, path: &str) {
        let dependencies = &self.chart.dependencies;
        let off = |name: &str| dependencies.iter().any(|d| d.known_as() == name && !is_on(d, values, path));
        self.children.retain(|child| !off(child.name));
        for child in &mut self.children {
            let path = format!("{path}{}.", child.name);
            child.switch(values, &path);
        }
    }

    /// What is switched on of the dependencies of the chart, here and below.
    pub fn installed(&self, values: &Table<'c>, path: &str) -> Vec<Installed<'c>> {
        let here = |name: &str| self.chart.subcharts.iter().any(|chart| chart.own_name() == name);
        let own = self.chart.dependencies.iter().filter(|d| is_on(d, values, path)).map(|dependency| Installed {
            listed: self.chart.metadata.source,
            dependency,
            path: format!("{path}{}", dependency.known_as()),
            here: here(&dependency.name),
        });
        let below = self.children.iter().flat_map(|child| child.installed(values, &format!("{path}{}.", child.name)));
        own.chain(below).collect()
    }

    /// Takes over what children export; the chart's own defaults win.
    fn import(&mut self) {
        self.children.iter_mut().for_each(Install::import);
        if self.chart.dependencies.iter().all(|d| d.imports.is_empty()) {
            return;
        }
        let mut own = Table::new();
        self.merge_defaults(&mut own, Nulls::Keep);
        let mut imported = Table::new();
        for dependency in &self.chart.dependencies {
            for (child, parent) in &dependency.imports {
                let path = format!("{}.{child}", dependency.known_as());
                if let Some(Value::Table(found)) = at(&own, &path) {
                    fill(&mut imported, &nested(parent, found.clone()), Nulls::Keep);
                }
            }
        }
        fill(&mut own, &imported, Nulls::Keep);
        self.defaults = own;
    }

    /// Fills values from the defaults of this chart and, under their names, of its subcharts.
    fn coalesce(&self, values: &mut Table<'c>) {
        self.merge_defaults(values, Nulls::Delete);
    }

    fn merge_defaults(&self, values: &mut Table<'c>, nulls: Nulls) {
        for (key, default) in &self.defaults {
            match (values.get_mut(key).map(|e| &mut e.value), &default.value) {
                (None, _) => {
                    values.insert(key.clone(), default.clone());
                }
                (Some(own), _) if own.is_null() && nulls == Nulls::Delete => {
                    values.remove(key);
                }
                (Some(Value::Table(own)), Value::Table(default)) => {
                    let child = self.children.iter().any(|c| c.name == key);
                    fill(own, default, if child { Nulls::Keep } else { nulls });
                }
                _ => {}
            }
        }
        for child in &self.children {
            // Values of another shape than the subchart's are refused by Helm; here the subchart keeps its own.
            let (key, mut own) = match values.remove(child.name) {
                Some(Entry { key, value: Value::Table(own) }) => (key, own),
                _ => (None, Table::new()),
            };
            hand_down_globals(values, &mut own);
            child.merge_defaults(&mut own, nulls);
            values.insert(child.name.to_owned(), Entry { key, value: Value::Table(own) });
        }
    }
}

fn nested<'t>(path: &str, inner: Table<'t>) -> Table<'t> {
    let parts = path.split('.').filter(|part| !part.is_empty());
    parts.rev().fold(inner, |table, part| Table::from([(part.to_owned(), table.into())]))
}

/// Whether the first condition that is a Boolean, else the tags, let a dependency be installed.
fn is_on(dependency: &Dependency, values: &Table<'_>, path: &str) -> bool {
    let condition = dependency.conditions.iter().find_map(|c| at(values, &format!("{path}{c}"))?.as_bool());
    condition.unwrap_or_else(|| {
        let tags: Vec<bool> =
            dependency.tags.iter().filter_map(|tag| at(values, &format!("tags.{tag}"))?.as_bool()).collect();
        tags.is_empty() || tags.contains(&true)
    })
}

#[cfg(test)]
mod tests {
    use super::super::chart::{File, find};
    use super::*;
    use crate::parse::{Dialect, Tree};

    fn charts<'a>(files: &[(&'a str, &'a str)]) -> Vec<Chart<'a>> {
        let file = |(i, (path, text)): (usize, &(&'a str, &'a str))| File { source: SourceId(i as u32), path, text };
        find(&files.iter().enumerate().map(file).collect::<Vec<_>>())
    }

    fn values(text: &str) -> Tree {
        yaml::parse(SourceId(9), text, Dialect::Kubernetes)
    }

    fn text<'v>(table: &'v Table<'_>, path: &str) -> &'v str {
        match at(table, path) {
            Some(Value::Leaf(node)) => node.text().unwrap_or("null"),
            Some(Value::Table(_)) => "a table",
            None => "absent",
        }
    }

    #[test]
    fn a_parent_overrides_its_subchart_and_hands_globals_down() {
        let charts = charts(&[
            ("Chart.yaml", "name: a"),
            ("charts/b/Chart.yaml", "name: b"),
            ("charts/b/values.yaml", "x: 1\ny: 2\nz: 3\nglobal: {g: 1, h: 2}"),
            ("values.yaml", "b: {w: 20, z: null}\nglobal: {g: 10}"),
        ]);
        let given = values("b: {x: 100}");
        let (root, all) = install(&charts[0], &yaml::root(&given).map(table).unwrap());
        assert_eq!(root.children.len(), 1);
        for (path, value) in
            [("b.x", "100"), ("b.w", "20"), ("b.z", "absent"), ("b.global.g", "10"), ("b.global.h", "2")]
        {
            assert_eq!(text(&all, path), value, "{path}");
        }
    }

    #[test]
    fn conditions_and_tags_switch_dependencies_and_aliases_rename_them() {
        let chart = "name: a\ndependencies:\n- {name: b, condition: 'one.enabled', alias: one}\n- {name: b, alias: two, \
                     tags: [t]}\n- {name: c, tags: [t], condition: c.enabled}\n";
        let files = [
            ("Chart.yaml", chart),
            ("charts/b/Chart.yaml", "name: b"),
            ("charts/c/Chart.yaml", "name: c"),
            ("values.yaml", "one: {enabled: true}"),
        ];
        let charts = charts(&files);
        let on = |given: &str| {
            let given = values(given);
            let (root, _) = install(&charts[0], &yaml::root(&given).map(table).unwrap_or_default());
            root.children.iter().map(|c| c.name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(on(""), ["one", "two", "c"]);
        assert_eq!(on("one: {enabled: false}\ntags: {t: false}"), [""; 0]);
        assert_eq!(on("tags: {t: false}\nc: {enabled: true}"), ["one", "c"]);
    }

    #[test]
    fn what_children_export_is_taken_over_below_the_parents_own() {
        let chart = "name: a\ndependencies:\n- name: b\n  import-values: [data, {child: deep.x, parent: p.q}]\n";
        let charts = charts(&[
            ("Chart.yaml", chart),
            ("charts/b/Chart.yaml", "name: b"),
            ("charts/b/values.yaml", "exports: {data: {port: 1, own: 1}}\ndeep: {x: {w: 7}}"),
            ("values.yaml", "own: 2"),
        ]);
        let (_, all) = install(&charts[0], &Table::new());
        assert_eq!((text(&all, "port"), text(&all, "own"), text(&all, "p.q.w")), ("1", "2", "7"));
    }
}
