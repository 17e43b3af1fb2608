//! Values that a chart reads and leaves empty, and what may stand there instead: its templates have branches that its own
//! values never take. Invents values of the right shape; knows nothing of what they mean.

use super::chart::Chart;
use super::reads::{self, ITEM, Path};
use crate::parse::{Builder, Dialect, Entry, Node, NodeId, NodeKind, Raw, yaml};
use crate::source::{Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The word that stands for what nobody stated.
const WORD: &str = "optional";

/// A value that templates read and that the chart leaves empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Optional {
    path: Path,
    shape: Shape,
    /// Where a template reads it.
    place: Span,
}

/// What a value may be, as far as its default tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `false` is left: it may be true.
    Switch,
    /// `""` is left: any text.
    Text,
    /// `{}` is left.
    Map,
    /// `[]` is left.
    List,
    /// Nothing tells.
    Open,
}

/// How what may be written in several ways is written. Nothing is wrong for want of a value that stands right in one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As a word.
    Word,
    /// As a mapping, or its text.
    Map,
    /// As a list, or its text.
    List,
}

impl Form {
    /// All of them.
    pub const ALL: &[Form] = &[Form::Word, Form::Map, Form::List];
}

impl Optional {
    /// The value as people write it: `servers[].runtimeClassName`.
    pub fn name(&self) -> String {
        self.path.join(".").replace(".[]", ITEM)
    }

    /// The ways in which it may be written.
    pub fn forms(&self) -> &'static [Form] {
        if matches!(self.shape, Shape::Text | Shape::Open) { Form::ALL } else { &[Form::Word] }
    }
}

/// What is read at a place of the values, and below it.
#[derive(Default)]
struct Read {
    below: BTreeMap<String, Read>,
    place: Option<Span>,
}

/// The values that a chart leaves empty.
pub fn of(chart: &Chart<'_>) -> Vec<Optional> {
    let mut all = Read::default();
    for (path, place) in reads::paths(chart) {
        let read = path.into_iter().fold(&mut all, |read, key| read.below.entry(key).or_default());
        read.place = Some(place);
    }
    let subcharts = chart.dependencies.iter().map(|dependency| dependency.known_as());
    subcharts.chain(["global"]).for_each(|name| drop(all.below.remove(name)));
    let mut out = Vec::new();
    all.walk(chart.values.as_ref().and_then(yaml::root), &Path::new(), &mut out);
    out
}

impl Read {
    fn walk(&self, stated: Option<Node<'_>>, path: &Path, out: &mut Vec<Optional>) {
        for (key, read) in &self.below {
            let path = path.iter().chain([key]).cloned().collect();
            read.left_empty(stated.and_then(|node| node.get(key)), path, out);
        }
    }

    fn left_empty(&self, stated: Option<Node<'_>>, mut path: Path, out: &mut Vec<Optional>) {
        let stated = stated.filter(|node| !node.is_null());
        let shape = match stated {
            Some(node) if node.is_map() && node.width() > 0 => return self.walk(stated, &path, out),
            Some(node) if node.is_map() => Shape::Map,
            Some(node) if node.is_seq() && node.width() == 0 => Shape::List,
            Some(node) if node.as_bool() == Some(false) => Shape::Switch,
            Some(node) if node.as_str().is_some_and(|text| text.trim().is_empty()) => Shape::Text,
            Some(_) => return,
            None => Shape::Open,
        };
        match (shape, self.below.get(ITEM)) {
            (Shape::Switch | Shape::Text, _) => out.extend(self.place.map(|place| Optional { path, shape, place })),
            (_, None) if self.below.is_empty() => {
                out.extend(self.place.map(|place| Optional { path, shape, place }));
            }
            (Shape::List, None) => {}
            (_, None) => self.walk(None, &path, out),
            (_, Some(item)) => {
                path.push(if shape == Shape::Map { WORD } else { ITEM }.to_owned());
                item.left_empty(None, path, out);
            }
        }
    }
}

/// Invented values, by their keys.
enum Invented {
    Value(Shape, Form, Span),
    Below(BTreeMap<String, Invented>),
}

/// Values for what is left empty, as a layer above all others. They stand where templates read them.
pub fn layer(chart: &Chart<'_>, optional: &[(&Optional, Form)]) -> Raw {
    let mut root = BTreeMap::new();
    for (one, form) in optional {
        let Some((last, above)) = one.path.split_last() else { continue };
        let mut table = Some(&mut root);
        for key in above {
            let below = table.map(|table| table.entry(key.clone()).or_insert(Invented::Below(BTreeMap::new())));
            table = match below {
                Some(Invented::Below(below)) => Some(below),
                _ => None,
            };
        }
        table
            .into_iter()
            .for_each(|table| drop(table.insert(last.clone(), Invented::Value(one.shape, *form, one.place))));
    }
    let place = Span::new(chart.metadata.source, 0..0);
    let mut builder = Builder::new(place.source, Dialect::Kubernetes);
    let id = Invented::Below(root).node(&mut builder, place);
    builder.tree().documents.push(id);
    Raw { place, id: Some(id), open: None, tree: Arc::new(builder.finish()) }
}

impl Invented {
    /// The value as a node; what holds others stands at `whole`.
    fn node(&self, builder: &mut Builder, whole: Span) -> NodeId {
        let scalar = |builder: &mut Builder, text: &str, plain, place| {
            builder.add(NodeKind::Scalar { text: Traced::opaque(text, place), plain }, place)
        };
        let (shape, form, place) = match self {
            Self::Value(shape, form, place) => (*shape, *form, *place),
            Self::Below(below) => {
                if let Some(item) = below.get(ITEM) {
                    let item = item.node(builder, whole);
                    return builder.add(NodeKind::Seq(vec![item]), whole);
                }
                let mut entries = Vec::new();
                for (key, value) in below {
                    let key = scalar(builder, key, false, whole);
                    entries.push(Entry { key, value: value.node(builder, whole) });
                }
                return builder.add(NodeKind::Map(entries), whole);
            }
        };
        let text = match (shape, form) {
            (Shape::Switch, _) => return scalar(builder, "true", true, place),
            (Shape::Text, Form::Map) => format!("{WORD}: {WORD}"),
            (Shape::Text, Form::List) => format!("- {WORD}"),
            _ => WORD.to_owned(),
        };
        let text = scalar(builder, &text, false, place);
        match (shape, form) {
            (Shape::Map, _) | (Shape::Open, Form::Map) => {
                let key = scalar(builder, WORD, false, place);
                builder.add(NodeKind::Map(vec![Entry { key, value: text }]), place)
            }
            (Shape::List, _) | (Shape::Open, Form::List) => builder.add(NodeKind::Seq(vec![text]), place),
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chart::{File, find};
    use super::*;
    use crate::source::SourceId;

    /// The names of what a chart leaves empty.
    fn names(template: &str, values: &str) -> Vec<String> {
        let files = [("Chart.yaml", "name: c"), ("templates/a.yaml", template), ("values.yaml", values)];
        let file = |(i, (path, text))| File { source: SourceId(i as u32), path, text };
        let files: Vec<File<'_>> = files.into_iter().enumerate().map(file).collect();
        of(&find(&files)[0]).iter().map(Optional::name).collect()
    }

    #[test]
    fn what_templates_read_and_values_leave_empty_is_optional() {
        let template = "{{ .Values.image }}{{ .Values.full.a }}{{ .Values.full.b }}{{ if .Values.off }}x{{ end }}\
                        {{ with .Values.map }}{{ toYaml . }}{{ end }}{{ .Values.deep.er }}";
        let values = "image: ''\nfull: {a: 1}\noff: false\nmap: {}\nunread: ''\n";
        assert_eq!(names(template, values), ["deep.er", "full.b", "image", "map", "off"]);
    }

    #[test]
    fn a_loop_over_nothing_shows_what_its_items_have() {
        let template = "{{ range $m := .Values.models }}{{ if $m.class }}{{ $m.class }}{{ end }}{{ end }}\
                        {{ range .Values.env }}{{ .name }}{{ end }}{{ range $k, $v := .Values.labels }}{{ $v }}{{ end }}";
        let found = names(template, "models: []\nenv: [{name: a}]\nlabels: {}\n");
        assert_eq!(found, ["labels.optional", "models[].class"]);
    }
}
