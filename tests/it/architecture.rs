//! Arrows between modules go one way: every `use crate::…` must be an edge of this table, which is the
//! table of `docs/architecture.md`.

use gpulint::facts::subjects;
use gpulint::facts::value::{EntityType, Type};
use gpulint::rules::Ruleset;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Who may use whom: the table of `docs/architecture.md`, whose last column names what a module uses. A module may
/// always use itself; what uses anything is on top.
fn edges() -> BTreeMap<&'static str, Option<Vec<&'static str>>> {
    let rows = include_str!("../../docs/architecture.md").lines().filter(|line| line.starts_with("| `"));
    let quoted = |cell: &'static str| cell.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/'));
    let mut out = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, modules, _, _, uses, _] = cells[..] else { panic!("{row}") };
        for module in quoted(modules) {
            out.insert(module, (uses != "anything").then(|| quoted(uses).collect()));
        }
    }
    out
}

fn rust_files(directory: &Path, out: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(directory).expect("src is readable").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Modules named by `crate::name` in a text, `use crate::{a, b}` included.
fn used(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let name = |s: &str| s.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
        match rest.strip_prefix('{') {
            Some(list) => {
                let list = &list[..list.find(';').unwrap_or(list.len())];
                let mut depth = 0;
                let mut word = true;
                for (i, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' => word = depth == 0,
                        _ if word && c.is_ascii_lowercase() => {
                            out.insert(name(&list[i..]));
                            word = false;
                        }
                        _ => {}
                    }
                }
            }
            None => {
                out.insert(name(rest));
            }
        }
    }
    out
}

#[test]
fn arrows_go_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let edges = edges();
    assert!(edges.len() > 20, "the table was not read: {edges:?}");
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&src).expect("a file of src").with_extension("");
        let module = relative.iter().next().and_then(|p| p.to_str()).expect("UTF-8").to_owned();
        let Some(allowed) = edges.get(module.as_str()) else {
            wrong.push(format!("{module} is in no row of the table"));
            continue;
        };
        let Some(allowed) = allowed else { continue };
        let text = fs::read_to_string(&file).expect("a Rust file");
        // Inline tests may build their input with any module.
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in used(product) {
            if edges.contains_key(name.as_str()) && name != module && !allowed.contains(&name.as_str()) {
                wrong.push(format!("{} uses crate::{name}", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "edges that are not in the table:\n{}", wrong.join("\n"));
}

#[test]
fn files_and_environment_belong_to_discover_and_the_command_line() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    for file in files {
        let relative = file.strip_prefix(&src).expect("a file of src");
        let module = relative.iter().next().and_then(|p| p.to_str()).expect("UTF-8").trim_end_matches(".rs");
        if ["discover", "cli", "main"].contains(&module) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a Rust file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for forbidden in ["std::fs", "std::env::", "File::open"] {
            assert!(!code.contains(forbidden), "{} touches {forbidden}", relative.display());
        }
    }
}

/// Entities that a type leads to.
fn reached(ty: &Type, out: &mut Vec<&'static EntityType>) {
    match ty {
        Type::List(inner) | Type::Map(inner) => reached(inner, out),
        Type::Entity(entity) if !out.contains(entity) => {
            out.push(entity);
            entity.fields.iter().for_each(|field| reached(&(field.ty)(), out));
        }
        _ => {}
    }
}

/// Whether a text reads a field: `.name`, not followed by an assignment.
fn reads(text: &str, field: &str) -> bool {
    let named = format!(".{field}");
    text.match_indices(&named).any(|(at, _)| {
        let rest = &text[at + named.len()..];
        let whole = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let assigned = rest.starts_with(" = ") || rest.starts_with(".push(");
        whole && !assigned
    })
}

#[test]
fn no_fact_is_set_and_never_read() {
    /// What no rule and no join reads by its name, and why it is there.
    const READ_OTHERWISE: &[(&str, &[&str], &str)] = &[
        (
            "Training",
            &["objective", "sequence_len", "packing", "sequence_parallel", "activation_offload"],
            "the ledger of training reads settings by the names of the catalog",
        ),
        (
            "DeviceRequest",
            &["min_memory_bytes"],
            "requests of classes and claims are laid over each other where they are read",
        ),
        ("Flavor", &["node_labels"], "gpulint facts shows what a queue hands out"),
    ];
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    files.retain(|file| !["facts", "extract", "config", "config.rs"].iter().any(|m| file.starts_with(src.join(m))));
    let product = |file: &std::path::PathBuf| {
        let text = fs::read_to_string(file).expect("a Rust file");
        text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
    };
    let rules = Ruleset::builtin();
    let readers: Vec<String> =
        files.iter().map(product).chain(rules.entries().iter().map(|entry| entry.file().1.to_owned())).collect();
    let mut entities = Vec::new();
    subjects().iter().flat_map(|(_, variables)| variables).for_each(|(_, ty)| reached(ty, &mut entities));
    let excepted =
        |entity: &str, field: &str| READ_OTHERWISE.iter().any(|(e, fields, _)| *e == entity && fields.contains(&field));
    let mut unread = Vec::new();
    for entity in entities {
        for field in entity.fields.iter().filter(|field| !readers.iter().any(|text| reads(text, field.name))) {
            if !excepted(entity.name, field.name) {
                unread.push(format!("{}.{}", entity.name, field.name));
            }
        }
    }
    assert!(unread.is_empty(), "facts that nothing reads: {}", unread.join(", "));
}
