//! Values against `values.schema.json`: Helm refuses to install values that break it. Knows no schema but the chart's
//! own; nothing is fetched.

use super::install::Install;
use super::values::{Table, Value};
use crate::parse::scalar::Scalar;
use crate::parse::{Node, NodeKind, Problem};
use crate::source::Span;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value as Json;

const NAME: &str = "values.schema.json";

/// The first value of a chart or of one of its subcharts that its schema does not allow. What is missing, and what a
/// choice between several forms leaves open, is nobody's fault yet: further values may come with a release.
pub fn violation(install: &Install<'_>, values: &Table<'_>) -> Option<Problem> {
    let own = install.chart.files.iter().find(|file| file.path == NAME).and_then(|file| broken(file.text, values));
    own.or_else(|| {
        install.children.iter().find_map(|child| match values.get(child.name).map(|entry| &entry.value) {
            Some(Value::Table(own)) => violation(child, own),
            _ => None,
        })
    })
}

/// Why Helm does not install these values: the first thing that a schema says against them, what is missing included.
pub fn refusal(install: &Install<'_>, values: &Table<'_>) -> Option<String> {
    let own = install.chart.files.iter().find(|file| file.path == NAME).and_then(|file| {
        let validator = jsonschema::validator_for(&serde_json::from_str(file.text).ok()?).ok()?;
        let error = validator.iter_errors(&table(values)?).next().map(|error| error.to_string());
        error.map(|error| format!("{NAME}: {error}"))
    });
    own.or_else(|| {
        install.children.iter().find_map(|child| match values.get(child.name).map(|entry| &entry.value) {
            Some(Value::Table(own)) => refusal(child, own),
            _ => None,
        })
    })
}

fn broken(schema: &str, values: &Table<'_>) -> Option<Problem> {
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).ok()?).ok()?;
    let instance = table(values)?;
    validator.iter_errors(&instance).find_map(|error| {
        let stated = matches!(
            error.kind(),
            Kind::Type { .. }
                | Kind::Enum { .. }
                | Kind::Constant { .. }
                | Kind::Pattern { .. }
                | Kind::Minimum { .. }
                | Kind::Maximum { .. }
        );
        let path = error.instance_path().as_str().to_owned();
        let span = stated.then(|| place(values, &path))??;
        Some(Problem { span, message: format!("{NAME} does not allow this value: {error}") })
    })
}

/// Where the value of a JSON pointer is written.
fn place(values: &Table<'_>, pointer: &str) -> Option<Span> {
    let (first, rest) = pointer
        .strip_prefix('/')?
        .split_once('/')
        .map_or((pointer.get(1..)?, ""), |(f, _)| (f, &pointer[1 + f.len()..]));
    let entry = values.get(&first.replace("~1", "/").replace("~0", "~"))?;
    match &entry.value {
        Value::Table(inner) if !rest.is_empty() => place(inner, rest),
        Value::Table(_) => entry.key,
        Value::Leaf(node) => Some(node.span()),
    }
}

/// The values as JSON; nothing when one of them is not known.
fn table(values: &Table<'_>) -> Option<Json> {
    let entries = values.iter().map(|(key, entry)| {
        let value = match &entry.value {
            Value::Table(inner) => table(inner)?,
            Value::Leaf(node) => leaf(*node)?,
        };
        Some((key.clone(), value))
    });
    entries.collect::<Option<serde_json::Map<String, Json>>>().map(Json::Object)
}

fn leaf(node: Node<'_>) -> Option<Json> {
    match node.kind() {
        NodeKind::Seq(_) => node.items().map(leaf).collect::<Option<Vec<Json>>>().map(Json::Array),
        NodeKind::Map(_) => {
            let entries = node.entries().into_iter();
            let entries = entries.map(|(key, value)| Some((key.text()?.to_owned(), leaf(value)?)));
            entries.collect::<Option<serde_json::Map<String, Json>>>().map(Json::Object)
        }
        NodeKind::Null => Some(Json::Null),
        _ => match node.scalar()? {
            Scalar::Bool(value) => Some(value.into()),
            Scalar::Int(value) => Some(value.into()),
            Scalar::Float(value) => Some(value.into()),
            Scalar::Null => Some(Json::Null),
            _ => node.text().map(Json::from),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::chart::{File, find};
    use super::super::install::install;
    use super::*;
    use crate::source::SourceId;

    fn violated(values: &str) -> Option<(String, String)> {
        let schema =
            r#"{"type": "object", "required": ["model"], "properties": {"gpus": {"type": "integer", "minimum": 1}}}"#;
        let files =
            [("Chart.yaml", "name: llm\nversion: 1.0.0\n"), ("values.schema.json", schema), ("values.yaml", values)];
        let file =
            |(i, (path, text)): (usize, &(&'static str, &'static str))| File { source: SourceId(i as u32), path, text };
        let leaked: Vec<(&'static str, &'static str)> =
            files.iter().map(|(p, t)| (*p, &*Box::leak((*t).to_owned().into_boxed_str()))).collect();
        let files: Vec<File<'static>> = leaked.iter().enumerate().map(file).collect();
        let charts = find(&files);
        let (root, table) = install(charts.first()?, &Table::new());
        violation(&root, &table).map(|p| (values[p.span.range()].to_owned(), p.message))
    }

    #[test]
    fn a_value_that_the_schema_forbids_is_told_at_its_place() {
        let (place, message) = violated("gpus: \"four\"\nmodel: m\n").expect("a violation");
        assert_eq!(place, "\"four\"");
        assert!(message.contains("integer"), "{message}");
        assert_eq!(violated("gpus: 0\n").map(|(place, _)| place).as_deref(), Some("0"));
    }

    #[test]
    fn what_is_missing_may_come_with_a_release() {
        assert_eq!(violated("gpus: 2\n"), None);
    }
}
