//! Values against `values.schema.json`: Helm refuses to install values that break it. Knows no schema but the chart's
//! own; nothing is fetched.

mod walk;

use super::install::Install;
use super::values::{Table, Value};
use crate::budget::{NODE, STEP, Share};
use crate::parse::scalar::Scalar;
use crate::parse::{Node, Problem, Shape};
use crate::source::Span;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value as Json;

const NAME: &str = "values.schema.json";

/// What the schemas of a chart and of its subcharts say of its values.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The first value that is not allowed. What is missing, or empty before somebody installs it, and what a choice between several forms leaves open, is
    /// nobody's fault yet: further values may come with a release.
    pub violation: Option<Problem>,
    /// Why Helm does not install these values: the first thing that is said against them, what is missing included.
    pub refusal: Option<String>,
}

/// Holds values against the schemas of a chart and of its subcharts: all that it is `deployed` with, or some of that.
pub fn judge(install: &Install<'_>, values: &Table<'_>, deployed: bool, share: &Share) -> Verdict {
    let file = install.chart.files.iter().find(|file| file.path == NAME);
    let mut out = file.and_then(|file| verdict(file.text, values, deployed, share)).unwrap_or_default();
    for child in &install.children {
        if out.violation.is_some() && out.refusal.is_some() || share.work(STEP).is_err() {
            break;
        }
        if let Some(Value::Table(own)) = values.get(child.name).map(|entry| &entry.value) {
            let below = judge(child, own, deployed, share);
            out = Verdict { violation: out.violation.or(below.violation), refusal: out.refusal.or(below.refusal) };
        }
    }
    out
}

fn verdict(schema: &str, values: &Table<'_>, deployed: bool, share: &Share) -> Option<Verdict> {
    share.make(schema.len() * 4).ok()?;
    let schema = serde_json::from_str(schema).ok()?;
    let instance = table(values, (share, 1))?;
    if !walk::cost(&schema, &instance, share).ok()? {
        return None;
    }
    let patterns = jsonschema::PatternOptions::fancy_regex().size_limit(1 << 18).backtrack_limit(10_000);
    let validator = jsonschema::options().with_pattern_options(patterns).build(&schema).ok()?;
    let mut out = Verdict::default();
    for error in validator.iter_errors(&instance) {
        out.refusal.get_or_insert_with(|| format!("{NAME}: {error}"));
        let stated = matches!(
            error.kind(),
            Kind::Type { .. }
                | Kind::Enum { .. }
                | Kind::Constant { .. }
                | Kind::Pattern { .. }
                | Kind::Minimum { .. }
                | Kind::Maximum { .. }
        );
        let path = error.instance_path().as_str();
        // Nothing stands where somebody has to give something: the schema is there to ask for it.
        let empty = error.instance().is_null() || error.instance().as_str() == Some("");
        if let Some(span) = Some(path).filter(|_| stated && (deployed || !empty)).and_then(|path| place(values, path)) {
            let message = format!("{NAME} does not allow this value: {error}");
            out.violation = Some(Problem { span, message });
            break;
        }
    }
    Some(out)
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

/// The values as JSON; nothing when one of them is not known, or when the share is spent.
fn table(values: &Table<'_>, (share, level): (&Share, usize)) -> Option<Json> {
    share.nest(level).ok()?;
    let entries = values.iter().map(|(key, entry)| {
        share.make(NODE + key.len()).ok()?;
        let value = match &entry.value {
            Value::Table(inner) => table(inner, (share, level + 1))?,
            Value::Leaf(node) => leaf(*node, (share, level + 1))?,
        };
        Some((key.clone(), value))
    });
    entries.collect::<Option<serde_json::Map<String, Json>>>().map(Json::Object)
}

fn leaf(node: Node<'_>, (share, level): (&Share, usize)) -> Option<Json> {
    share.nest(level).and_then(|()| share.make(NODE + node.text().map_or(0, str::len))).ok()?;
    let below = (share, level + 1);
    match node.kind() {
        Shape::Seq(_) => node.items().map(|item| leaf(item, below)).collect::<Option<Vec<Json>>>().map(Json::Array),
        Shape::Map(_) => {
            let entries = node.entries().into_iter();
            let entries = entries.map(|(key, value)| Some((key.text()?.to_owned(), leaf(value, below)?)));
            entries.collect::<Option<serde_json::Map<String, Json>>>().map(Json::Object)
        }
        Shape::Null => Some(Json::Null),
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
        violated_by(values, false)
    }

    fn violated_by(values: &str, deployed: bool) -> Option<(String, String)> {
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
        let share = Share::of(1, 0);
        let (root, table) = install(charts.first()?, &Table::new(), &share).ok()?;
        judge(&root, &table, deployed, &share).violation.map(|p| (values[p.span.range()].to_owned(), p.message))
    }

    #[test]
    fn a_value_that_the_schema_forbids_is_told_at_its_place() {
        let (place, message) = violated("gpus: \"four\"\nmodel: m\n").expect("a violation");
        assert_eq!(place, "\"four\"");
        assert!(message.contains("integer"), "{message}");
        assert_eq!(violated("gpus: 0\n").map(|(place, _)| place).as_deref(), Some("0"));
    }

    #[test]
    fn what_is_missing_or_empty_may_come_with_a_release() {
        for values in ["gpus: 2\n", "gpus:\nmodel:\n", "gpus: ''\n"] {
            assert_eq!(violated(values), None, "{values}");
        }
        assert!(violated_by("gpus:\nmodel: m\n", true).is_some(), "whoever installs it gives nothing");
    }
}
