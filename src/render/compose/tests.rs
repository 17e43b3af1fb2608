//! Small projects, and where what they state leads.

use super::*;
use crate::parse::{Dialect, yaml};
use std::sync::Arc;

/// The place of a key of the service `s` of the first file, and its text.
fn at(files: &[(&str, &str)], path: &str) -> (String, String) {
    let trees: Vec<Arc<Tree>> =
        (0..).zip(files).map(|(i, (_, text))| Arc::new(yaml::parse(SourceId(i), text, Dialect::Kubernetes))).collect();
    let file = |(i, ((path, text), tree))| (path, File { source: SourceId(i), text, tree: Some(tree) });
    let all: Files<'_> = (0..).zip(files.iter().map(|(p, t)| (*p, *t)).zip(&trees)).map(file).collect();
    let root = yaml::root(&trees[0]).expect("a document");
    let tree = project(&all, files[0].0, root, &Share::of(1, 0)).expect("enough").expect("a project").tree;
    let service = yaml::root(&tree).expect("a document").view().path("services.s");
    let view = path.split('.').fold(service, |view, key| match key.parse() {
        Ok(index) => view.items().nth(index).expect("an item"),
        Err(_) => view.get(key),
    });
    let text = view.traced().expect("a scalar");
    let span = text.whole();
    let (path, source) = files[span.source.0 as usize];
    (text.text().to_owned(), format!("{path}: {}", &source[span.range()]))
}

fn value(text: &str, dotenv: &str) -> (String, String) {
    at(&[("c/compose.yaml", &format!("services: {{s: {{a: {text}}}}}")), ("c/.env", dotenv)], "a")
}

fn pair(text: &str, place: &str) -> (String, String) {
    (text.to_owned(), place.to_owned())
}

#[test]
fn variables_are_read_from_the_file_beside_and_lead_there() {
    let dotenv = "# A=0\nexport A=1 # one\nB='two words'\nC=$A\n";
    assert_eq!(value("'${A}'", dotenv), pair("1", "c/.env: 1"));
    assert_eq!(value("$B", dotenv), pair("two words", "c/.env: two words"));
    assert_eq!(value("'v${A}-$A'", dotenv), pair("v1-1", "c/compose.yaml: 'v${A}-$A'"));
    for unknown in ["${C}", "x-${NONE}", "${A:+y}", "${NONE:?missing}"] {
        assert_eq!(value(&format!("'{unknown}'"), dotenv).0, unknown);
    }
}

#[test]
fn a_default_holds_where_nothing_is_stated() {
    assert_eq!(value("'${TP:-8}'", ""), pair("8", "c/compose.yaml: 8"));
    assert_eq!(value("'${TP:-8}'", "TP=2"), pair("2", "c/.env: 2"));
    assert_eq!(value("'${TP:-8}'", "TP="), pair("8", "c/compose.yaml: 8"));
    assert_eq!(value("'${A-${B:-3}}'", "").0, "3");
    assert_eq!(value("'$$HOME'", "HOME=x").0, "$HOME");
    for broken in ["${", "$", "${A", "${A:-"] {
        assert_eq!(value(&format!("'{broken}'"), "").0, broken);
    }
}

#[test]
fn a_service_is_filled_up_from_what_it_extends() {
    let files = [
        ("c/compose.yaml", "services: {s: {extends: {file: ../b.yaml, service: gpu}, x: {own: 1}, command: [mine]}}"),
        ("b.yaml", "services: {gpu: {extends: base, x: {own: 0, more: 2}, command: [theirs]}, base: {image: i}}"),
    ];
    assert_eq!(at(&files, "image"), pair("i", "b.yaml: i"));
    assert_eq!(at(&files, "x.own"), pair("1", "c/compose.yaml: 1"));
    assert_eq!(at(&files, "x.more"), pair("2", "b.yaml: 2"));
}

#[test]
fn the_file_that_overrides_is_laid_over_the_first_default_one() {
    let base = "services: {s: {image: i, x: {own: 1}, ports: ['1:1'], command: [a]}}";
    let over = "services: {s: {x: {own: 2}, ports: ['2:2'], command: [b]}}";
    for (name, other) in [
        ("c/compose.yaml", "c/compose.override.yaml"),
        ("c/docker-compose.yml", "c/docker-compose.override.yml"),
        ("docker-compose.yaml", "compose.override.yml"),
    ] {
        let files = [(name, base), (other, over)];
        assert_eq!(at(&files, "x.own"), pair("2", &format!("{other}: 2")));
        assert_eq!(at(&files, "ports.1").0, "2:2");
        assert_eq!(at(&files, "command.0").0, "b");
    }
}

#[test]
fn services_of_included_files_belong_to_the_project() {
    let files = [
        ("c/compose.yaml", "include: [../b.yaml, {path: [d/one.yaml, d/two.yaml]}]\nservices: {other: {image: o}}"),
        ("b.yaml", "services: {other: {image: no}, t: {image: \"${A:-t}\"}}"),
        ("c/d/one.yaml", "services: {s: {image: one, x: {own: 1}}}"),
        ("c/d/two.yaml", "services: {s: {x: {own: 2}}}"),
    ];
    assert_eq!(at(&files, "image"), pair("one", "c/d/one.yaml: one"));
    assert_eq!(at(&files, "x.own").0, "2");
}

#[test]
fn services_that_extend_each_other_end() {
    let text = "services: {s: {extends: t, a: 1}, t: {extends: s, b: 2}}";
    assert_eq!(at(&[("c/compose.yaml", text)], "a").0, "1");
}

#[test]
fn variables_of_a_file_are_the_environment() {
    let files =
        [("c/compose.yaml", "services: {s: {env_file: [a.env], environment: {B: 3}}}"), ("c/a.env", "A=1\nB=2\n")];
    assert_eq!(at(&files, "environment.A"), pair("1", "c/a.env: 1"));
    assert_eq!(at(&files, "environment.B").0, "3");
}
