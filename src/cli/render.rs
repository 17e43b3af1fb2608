//! `gpulint render`.

use super::files::{cwd, files, gate, named, root, shown};
use super::{CLEAN, FINDINGS, print};
use crate::budget::Share;
use crate::discover::{Kind, Options, kind_of};
use crate::parse::scalar::Scalar;
use crate::parse::{Dialect, Node, Problem, Raw, Shape, yaml};
use crate::render::gotemplate::Doubts;
use crate::render::helm::{self, File, KUBERNETES};
use crate::render::kustomize::{self, Files};
use crate::source::{Source, Sources};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Prints the documents of the charts and kustomizations below some directories; charts are rendered with their own
/// values and those of the files, later ones over earlier ones. With `bases`, kustomizations that others include are
/// built on their own, too.
///
/// # Errors
/// A path that does not exist, or values that cannot be read.
pub fn run(paths: &[PathBuf], values: &[PathBuf], bases: bool) -> Result<u8, String> {
    let inputs = files(paths, &Options { root: root(paths), ..Options::new(cwd()) })?.inputs;
    let mut sources = Sources::new(inputs.into_iter().map(|input| Source::new(input.path, input.text)).collect());
    let count = sources.iter().count();
    let gate = gate(paths);
    for path in values {
        sources.push(Source::new(shown(path), named(path, &gate)?));
    }
    let all: Vec<File<'_>> =
        sources.iter().map(|(id, source)| File { source: id, path: &source.path, text: &source.text }).collect();
    let charts = helm::chart::find(&all[..count]);
    let mut out = String::new();
    let mut code = CLEAN;
    for (chart, sets) in charts.iter().zip(helm::sets::sets(&charts, &[], KUBERNETES)) {
        for mut set in sets {
            for file in &all[count..] {
                let tree = Arc::new(yaml::parse(file.source, file.text, Dialect::Kubernetes));
                set.layers.extend(yaml::root(&tree).map(|root| Raw::new(&tree, root.view())));
            }
            let share = Share::of(charts.len(), helm::bytes(chart, &set));
            let rendered = helm::render(chart, &set, &Doubts::default(), &share);
            for document in rendered.documents {
                out.push_str(&format!("---\n# Source: {}\n", sources.get(document.template).path));
                out.push_str(document.text.trim_end());
                out.push('\n');
            }
            for source in rendered.crds.iter().map(|id| sources.get(*id)) {
                out.push_str(&format!("---\n# Source: {}\n{}\n", source.path, source.text.trim_end()));
            }
            if let Some(failure) = rendered.failure.as_ref().or(rendered.gave_up.as_ref()) {
                out.push_str(&told(failure, &sources));
                code = FINDINGS;
            }
            for (template, why) in rendered.unread.iter().chain(&rendered.in_part) {
                out.push_str(&format!("# {}: not rendered: {why}\n", sources.get(*template).path));
            }
        }
    }
    if !kustomizations(&sources, count, bases, &mut out) {
        code = FINDINGS;
    }
    print(&out)?;
    Ok(code)
}

/// A problem as a comment.
fn told(problem: &Problem, sources: &Sources) -> String {
    let source = sources.get(problem.span.source);
    let at = source.position(problem.span.start);
    format!("# {}:{}:{}: {}\n", source.path, at.line, at.column, problem.message)
}

/// Adds what kustomizations build, each document as JSON; `false` when one cannot be built.
fn kustomizations(sources: &Sources, count: usize, bases: bool, out: &mut String) -> bool {
    let parse = |id, text| yaml::parse(id, text, Dialect::Kubernetes);
    let trees: Vec<_> = sources
        .iter()
        .take(count)
        .map(|(id, source)| {
            let data = matches!(kind_of(&source.path), Some(Kind::Yaml | Kind::Json));
            data.then(|| Arc::new(parse(id, &source.text)))
        })
        .collect();
    let files = Files::new(sources.iter().zip(&trees).map(|((source, file), tree)| {
        (file.path.as_str(), kustomize::File { source, text: &file.text, tree: tree.as_ref() })
    }));
    let mut good = true;
    for directory in if bases { files.all() } else { files.roots() } {
        out.push_str(&format!("---\n# Kustomization: {directory}\n"));
        match kustomize::build(&files, directory) {
            Ok(built) => {
                for root in built.tree.roots() {
                    out.push_str(&format!("---\n{}\n", json(root)));
                }
                built.unread.iter().for_each(|problem| out.push_str(&told(problem, sources)));
            }
            Err(failure) => {
                out.push_str(&told(&failure.problem, sources));
                good = false;
            }
        }
    }
    good
}

/// A node as data; what is unknown is text that says so.
fn json(node: Node<'_>) -> Value {
    match node.kind() {
        Shape::Map(_) => Value::Object(
            node.entries().into_iter().map(|(k, v)| (k.text().unwrap_or("null").to_owned(), json(v))).collect(),
        ),
        Shape::Seq(_) => Value::Array(node.items().map(json).collect()),
        Shape::Unknown(why) => Value::String(format!("unknown: {why}")),
        _ => match node.scalar() {
            Some(Scalar::Bool(value)) => Value::Bool(value),
            Some(Scalar::Int(value)) => Value::from(value),
            Some(Scalar::Float(value)) => Value::from(value),
            Some(Scalar::Str(text)) => Value::String(text.to_owned()),
            Some(Scalar::Null) | None => Value::Null,
        },
    }
}
