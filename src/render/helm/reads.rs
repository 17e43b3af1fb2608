//! Which values the templates of a chart read, as they are written; evaluates nothing. What templates ask for by a name that no
//! values have, while values of nearly that name are read by nothing, is a slip of one of the two.

use super::chart::{Chart, File};
use super::sets::ValueSet;
use crate::parse::gotemplate::{self, Command, Expr, ExprKind, Node, Pipe};
use crate::parse::{self, yaml};
use crate::source::Span;
use crate::suggest::slips;
use std::collections::{BTreeMap, BTreeSet};

/// Most values of a chart that are looked at because no values have them.
const MOST: usize = 500;

/// A value that templates read and no values have, and the one that has nearly its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread {
    /// Where a template reads it.
    pub place: Span,
    /// As it is read: `workers.start_params`.
    pub read: String,
    /// What values.yaml states and nothing reads: `workers.startParams`.
    pub stated: String,
}

/// The slips of a chart. Where something may read values by names that are computed, or out of sight, there are none.
pub fn misread(chart: &Chart<'_>, sets: &[ValueSet]) -> Vec<Misread> {
    let (Some(file), true) = (values_file(chart), chart.dependencies.is_empty() && chart.subcharts.is_empty()) else {
        return Vec::new();
    };
    let Some(stated) = chart.values.as_ref().and_then(yaml::root).map(|root| leaves(root)) else { return Vec::new() };
    let Some(reads) = Reads::of(chart, file.text.contains("{{")).filter(|reads| !reads.lost) else { return Vec::new() };
    let has = |path: &Path| {
        sets.iter().flat_map(|set| &set.layers).any(|layer| {
            let at = path.iter().try_fold(layer.view().node(), |node, key| node.map(|node| node.get(key)));
            at.flatten().is_some()
        })
    };
    let schema = chart.files.iter().find(|file| file.path == "values.schema.json").map_or("", |file| file.text);
    // What a comment shows, or the schema lists, may be left out.
    let is_optional = |name: &str| {
        schema.contains(&format!("\"{name}\""))
            || file.text.lines().any(|line| line.contains('#') && line.contains(&format!("{name}:")))
    };
    let unread: Vec<&Path> = stated.iter().filter(|path| !reads.reach(path)).collect();
    let mut by_name: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for path in &stated {
        by_name.entry(path.last().map_or("", String::as_str)).or_default().push(path);
    }
    let mut out = Vec::new();
    let mut told = BTreeSet::new();
    let missing = reads.places.iter().filter(|(read, _)| read.first().is_some_and(|first| first != "global"));
    let missing = missing.filter(|(read, _)| !read.iter().any(|key| key == ITEM) && !has(read));
    for (read, place) in missing.filter(|(read, _)| told.insert(read)).take(MOST) {
        let Some((name, above)) = read.split_last().filter(|(name, _)| !is_optional(name)) else { continue };
        let beside = unread.iter().find(|path| {
            let key = &path[above.len().min(path.len() - 1)];
            path.len() > above.len()
                && path.starts_with(above)
                && is_slip(name, key)
                && !reads.reach_below(&path[..=above.len()])
        });
        let elsewhere = || match by_name.get(name.as_str()).map(Vec::as_slice) {
            Some([only]) if name.len() >= 6 && unread.contains(only) => Some(*only),
            _ => None,
        };
        let meant = beside.map(|path| path[..=above.len()].join(".")).or_else(|| Some(elsewhere()?.join(".")));
        if let Some(stated) = meant {
            out.push(Misread { place: *place, read: read.join("."), stated });
        }
    }
    out
}

/// The keys from the root of the values; [`ITEM`] leads to what a loop walks.
pub type Path = Vec<String>;

/// The step from a list or a mapping to each of its items.
pub const ITEM: &str = "[]";

/// Every value that the templates of a chart read by a name that is written there, each with a place where one does.
pub fn paths(chart: &Chart<'_>) -> BTreeMap<Path, Span> {
    let places = Reads::of(chart, false).into_iter().flat_map(|reads| reads.places);
    places.filter(|(path, _)| !path.is_empty()).collect()
}

fn values_file<'c>(chart: &'c Chart<'_>) -> Option<&'c File<'c>> {
    chart.files.iter().find(|file| file.path == "values.yaml")
}

/// The paths of what is no map, or an empty one.
fn leaves(root: parse::Node<'_>) -> Vec<Path> {
    let mut out = Vec::new();
    let mut open = vec![(root, Path::new())];
    while let Some((node, path)) = open.pop() {
        let entries = if node.is_map() { node.entries() } else { Vec::new() };
        if entries.is_empty() && !path.is_empty() {
            out.push(path);
            continue;
        }
        for (key, value) in entries {
            let key = key.text().unwrap_or_default().to_owned();
            open.push((value, path.iter().cloned().chain([key]).collect()));
        }
    }
    out.sort();
    out
}

/// Whether one name is a slip of the other: the same words joined otherwise, or a letter more, less, changed or moved.
fn is_slip(a: &str, b: &str) -> bool {
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    // A CPU is no slip of a GPU.
    let other = plain(a).replace("gpu", "cpu") == plain(b).replace("gpu", "cpu") && plain(a) != plain(b);
    a != b && !other && (plain(a) == plain(b) || a.len().min(b.len()) >= 6 && slips(a, b) == 1)
}

/// What an expression stands for.
#[derive(Debug, Clone, PartialEq)]
enum Place {
    /// What a template is called with: its `.Values` are the values.
    Root,
    /// A value, by its path.
    Values(Path),
    /// Anything else.
    Other,
}

impl Place {
    fn step(self, fields: &[String]) -> Self {
        match (self, fields.iter().position(|field| field == "Values")) {
            (Self::Values(mut path), _) => {
                path.extend_from_slice(fields);
                Self::Values(path)
            }
            // A root may be passed on as a part of something else.
            (_, Some(at)) => Self::Values(fields[at + 1..].to_vec()),
            (place, None) if fields.is_empty() => place,
            _ => Self::Other,
        }
    }
}

#[derive(Default)]
struct Reads {
    /// Every value that is read, with its place.
    places: Vec<(Path, Span)>,
    /// Values that are read with all below them.
    whole: BTreeSet<Path>,
    /// Values that only a condition asks for.
    tested: BTreeSet<Path>,
    /// Whether something is read that cannot be told.
    lost: bool,
    variables: Vec<(String, Place)>,
}

impl Reads {
    /// What all templates read; `None` where one of them does not parse.
    fn of(chart: &Chart<'_>, values_are_templates: bool) -> Option<Self> {
        let mut out = Self::default();
        for file in chart.templates() {
            let template = gotemplate::parse(file.text).ok()?;
            let bodies = [&template.body].into_iter().chain(template.defined.iter().map(|(_, body)| body));
            for body in bodies {
                out.variables.clear();
                out.nodes(body, &Place::Root, file);
            }
            out.lost |= values_are_templates && file.text.contains("tpl");
        }
        // Files may hold templates.
        let of_files = |file: &&File<'_>| file.text.contains("tpl") && file.text.contains(".Files");
        out.lost |= chart.templates().any(|file| of_files(&file));
        Some(out)
    }

    /// Whether a value is read.
    fn reach(&self, path: &[String]) -> bool {
        (1..=path.len()).any(|len| self.whole.contains(&path[..len]))
            || self.tested.contains(path)
            || self.reach_below(path)
    }

    /// Whether something at or below a path is read.
    fn reach_below(&self, path: &[String]) -> bool {
        let below =
            |set: &BTreeSet<Path>| set.range(path.to_vec()..).next().is_some_and(|found| found.starts_with(path));
        below(&self.whole) || below(&self.tested)
    }

    fn nodes(&mut self, nodes: &[Node], dot: &Place, file: &File<'_>) {
        let scope = self.variables.len();
        for node in nodes {
            match node {
                Node::Text(_) | Node::Break | Node::Continue => {}
                Node::Action(pipe) => {
                    let found = self.pipe(pipe, dot, file);
                    if pipe.variables.is_empty() {
                        self.all(&found, pipe, file);
                    }
                }
                Node::If(choice) | Node::With(choice) => {
                    let inside = self.variables.len();
                    for (pipe, body) in &choice.arms {
                        let found = self.pipe(pipe, dot, file);
                        if let Place::Values(path) = &found {
                            self.places.push((path.clone(), span(file, &pipe.commands[0].at)));
                            self.tested.insert(path.clone());
                        }
                        self.nodes(body, if matches!(node, Node::With(_)) { &found } else { dot }, file);
                    }
                    self.nodes(&choice.otherwise, dot, file);
                    self.variables.truncate(inside);
                }
                Node::Range(branch) => {
                    let inside = self.variables.len();
                    let found = self.pipe(&branch.pipe, dot, file);
                    self.all(&found, &branch.pipe, file);
                    let item = found.step_by(vec![ITEM.to_owned()]);
                    self.all(&item, &branch.pipe, file);
                    if let Some((item_name, keys)) = branch.pipe.variables.split_last() {
                        self.variables.extend(keys.iter().map(|key| (key.clone(), Place::Other)));
                        self.variables.push((item_name.clone(), item.clone()));
                    }
                    self.nodes(&branch.body, &item, file);
                    self.nodes(&branch.otherwise, dot, file);
                    self.variables.truncate(inside);
                }
                Node::Template { pipe, .. } => {
                    if let Some(pipe) = pipe {
                        let found = self.pipe(pipe, dot, file);
                        self.all(&found, pipe, file);
                    }
                }
            }
        }
        self.variables.truncate(scope);
    }

    /// A value is used with all that is below it.
    fn all(&mut self, found: &Place, pipe: &Pipe, file: &File<'_>) {
        self.used(found, span(file, &pipe.commands[pipe.commands.len() - 1].at));
    }

    fn used(&mut self, found: &Place, place: Span) {
        if let Place::Values(path) = found {
            self.lost |= path.is_empty();
            self.places.push((path.clone(), place));
            self.whole.insert(path.clone());
        }
    }

    fn pipe(&mut self, pipe: &Pipe, dot: &Place, file: &File<'_>) -> Place {
        let mut found = Place::Other;
        for (at, command) in pipe.commands.iter().enumerate() {
            if at > 0 {
                self.used(&found, span(file, &pipe.commands[at - 1].at));
            }
            found = self.command(command, dot, file);
        }
        for variable in &pipe.variables {
            if pipe.assigns {
                self.used(&found, span(file, &pipe.at));
            }
            self.variables.push((variable.clone(), if pipe.assigns { Place::Other } else { found.clone() }));
        }
        found
    }

    fn command(&mut self, command: &Command, dot: &Place, file: &File<'_>) -> Place {
        let [first, arguments @ ..] = &command.operands[..] else { return Place::Other };
        let function = match &first.kind {
            ExprKind::Function(name) => name.as_str(),
            _ if arguments.is_empty() => return self.expression(first, dot, file),
            _ => "",
        };
        let text = |expr: &Expr| match &expr.kind {
            ExprKind::String(text) => Some(text.clone()),
            _ => None,
        };
        // The map that is looked into, and the keys.
        let (map, keys) = match (function, arguments) {
            ("index" | "get" | "hasKey", [map, keys @ ..]) => (Some(map), keys),
            ("dig", [keys @ .., _, map]) => (Some(map), keys),
            _ => (None, arguments),
        };
        let names: Option<Path> = keys.iter().map(text).collect();
        if let (Some(map), Some(names)) = (map, names) {
            return self.expression(map, dot, file).step_by(names);
        }
        for operand in &command.operands {
            let found = self.expression(operand, dot, file);
            self.used(&found, span(file, &operand.at));
        }
        Place::Other
    }

    fn expression(&mut self, expr: &Expr, dot: &Place, file: &File<'_>) -> Place {
        match &expr.kind {
            ExprKind::Dot => dot.clone(),
            ExprKind::Field(fields) => dot.clone().step(fields),
            ExprKind::Variable(name, fields) if name.is_empty() => Place::Root.step(fields),
            ExprKind::Variable(name, fields) => {
                let bound = self.variables.iter().rfind(|(variable, _)| variable == name);
                bound.map_or(Place::Other, |(_, place)| place.clone()).step(fields)
            }
            ExprKind::Pipe(pipe) => self.pipe(pipe, dot, file),
            ExprKind::Chain(inner, fields) => self.expression(inner, dot, file).step(fields),
            _ => Place::Other,
        }
    }
}

impl Place {
    /// What stands under keys that are given one by one.
    fn step_by(self, names: Path) -> Self {
        match self {
            Self::Values(mut path) => {
                path.extend(names);
                Self::Values(path)
            }
            _ => Self::Other,
        }
    }
}

fn span(file: &File<'_>, at: &std::ops::Range<usize>) -> Span {
    Span::new(file.source, at.clone())
}
