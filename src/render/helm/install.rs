//! A chart with one set of values: which subcharts are on, under which names, and what values each chart sees.
//! Knows how Helm switches dependencies; evaluates no template.

use super::chart::{Chart, Dependency};
use super::values::{Entry, Nulls, Table, Value, at, fill, hand_down_globals, table, weight};
use crate::budget::{NODE, Share, Spent};
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
///
/// # Errors
/// They are too many.
pub fn install<'c>(chart: &'c Chart<'c>, given: &Table<'c>, share: &Share) -> Result<(Install<'c>, Table<'c>), Spent> {
    let mut root = Install::all(chart, &chart.name, share)?;
    share.make(2 * weight(given))?;
    let mut values = given.clone();
    root.merge_defaults(&mut values, Nulls::Delete, share)?;
    root.switch(&values, "", share)?;
    root.import(share)?;
    let mut values = given.clone();
    root.merge_defaults(&mut values, Nulls::Delete, share)?;
    match share.spent() {
        Some(spent) => Err(spent),
        None => Ok((root, values)),
    }
}

impl<'c> Install<'c> {
    /// The chart with every subchart that is at hand.
    fn all(chart: &'c Chart<'c>, name: &'c str, share: &Share) -> Result<Self, Spent> {
        share.make(NODE * (1 + chart.dependencies.len() + chart.subcharts.len()))?;
        share.work(chart.dependencies.len() * chart.subcharts.len())?;
        let unlisted = |c: &&Chart<'c>| !chart.dependencies.iter().any(|d| d.name == c.own_name());
        let subcharts = || chart.subcharts.iter().map(|chart| &**chart);
        let mut children = Vec::new();
        for subchart in subcharts().filter(unlisted) {
            children.push(Install::all(subchart, subchart.own_name(), share)?);
        }
        for dependency in &chart.dependencies {
            if let Some(subchart) = subcharts().find(|c| c.own_name() == dependency.name) {
                children.push(Install::all(subchart, dependency.known_as(), share)?);
            }
        }
        let values = chart.values.as_ref().and_then(yaml::root);
        let defaults = values.map(|root| table(root, share)).unwrap_or_default();
        Ok(Self { chart, name, children, defaults })
    }

    /// Switches subcharts off by their conditions and tags. `values` are those of the topmost chart.
    fn switch(&mut self, values: &Table<'c>, path: &str, share: &Share) -> Result<(), Spent> {
        share.work(NODE * (1 + self.children.len()) + self.children.len() * self.chart.dependencies.len())?;
        let dependencies = &self.chart.dependencies;
        let off = |name: &str| dependencies.iter().any(|d| d.known_as() == name && !is_on(d, values, path));
        self.children.retain(|child| !off(child.name));
        for child in &mut self.children {
            let path = format!("{path}{}.", child.name);
            child.switch(values, &path, share)?;
        }
        Ok(())
    }

    /// What is switched on of the dependencies of the chart, here and below.
    pub fn installed(&self, values: &Table<'c>, path: &str, share: &Share) -> Vec<Installed<'c>> {
        let looked = self.chart.dependencies.len() * (16 * NODE + self.chart.subcharts.len() + path.len());
        if share.make(looked).is_err() {
            return Vec::new();
        }
        let here = |name: &str| self.chart.subcharts.iter().any(|chart| chart.own_name() == name);
        let own = self.chart.dependencies.iter().filter(|d| is_on(d, values, path)).map(|dependency| Installed {
            listed: self.chart.metadata.source,
            dependency,
            path: format!("{path}{}", dependency.known_as()),
            here: here(&dependency.name),
        });
        let below =
            self.children.iter().flat_map(|child| child.installed(values, &format!("{path}{}.", child.name), share));
        own.chain(below).collect()
    }

    /// Takes over what children export; the chart's own defaults win.
    fn import(&mut self, share: &Share) -> Result<(), Spent> {
        self.children.iter_mut().try_for_each(|child| child.import(share))?;
        if self.chart.dependencies.iter().all(|d| d.imports.is_empty()) {
            return Ok(());
        }
        let mut own = Table::new();
        self.merge_defaults(&mut own, Nulls::Keep, share)?;
        let mut imported = Table::new();
        for dependency in &self.chart.dependencies {
            for (child, parent) in &dependency.imports {
                let path = format!("{}.{child}", dependency.known_as());
                if let Some(Value::Table(found)) = at(&own, &path) {
                    share.nest(parent.split('.').count())?;
                    share.make(2 * weight(found) + NODE * parent.split('.').count())?;
                    fill(&mut imported, &nested(parent, found.clone()), Nulls::Keep);
                }
            }
        }
        share.make(weight(&imported))?;
        fill(&mut own, &imported, Nulls::Keep);
        self.defaults = own;
        Ok(())
    }

    /// Fills values from the defaults of this chart and, under their names, of its subcharts.
    fn merge_defaults(&self, values: &mut Table<'c>, nulls: Nulls, share: &Share) -> Result<(), Spent> {
        share.make(weight(&self.defaults))?;
        share.work(self.defaults.len() * self.children.len())?;
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
            if let Some(Value::Table(globals)) = values.get("global").map(|entry| &entry.value) {
                share.make(weight(globals))?;
            }
            hand_down_globals(values, &mut own);
            child.merge_defaults(&mut own, nulls, share)?;
            values.insert(child.name.to_owned(), Entry { key, value: Value::Table(own) });
        }
        Ok(())
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

    fn charts<'a>(files: &[(&'a str, &'a str)]) -> Vec<std::sync::Arc<Chart<'a>>> {
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
        let share = Share::of(1, 0);
        let given = yaml::root(&given).map(|root| table(root, &share)).unwrap();
        let (root, all) = install(&charts[0], &given, &share).unwrap();
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
            let share = Share::of(1, 0);
            let given = yaml::root(&given).map(|root| table(root, &share)).unwrap_or_default();
            let (root, _) = install(&charts[0], &given, &share).unwrap();
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
        let (_, all) = install(&charts[0], &Table::new(), &Share::of(1, 0)).unwrap();
        assert_eq!((text(&all, "port"), text(&all, "own"), text(&all, "p.q.w")), ("1", "2", "7"));
    }
}
