//! Facts about hardware, drivers and images stand in the catalog alone: neither the conditions of rules nor the code
//! name a GPU, a machine type, a compute capability or a release.

use regex::Regex;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// What a fact looks like, and what it is.
const SUSPECTS: &[(&str, &str)] = &[
    (
        r"\b(K80|M60|P4|P40|P100|V100|T4G?|A10G?|A16|A30|A40|A100|L4|L40S?|H100|H200|H20|GH200|B200|GB200|B300|RTX)\b",
        "a GPU",
    ),
    (r"\b(p[2-6][a-z]*|g[4-7][a-z]*|trn\d|inf\d)\.(x|\d+x)?large\b", "a machine type"),
    (r"\b(a2|a3|a4|g2)-(high|mega|ultra|standard)[a-z]*-", "a machine type"),
    (r"_N[CDV](\d|\[)", "a machine type"),
    (r"\b(470|510|515|525|530|535|545|550|555|560|565|570|575|580|590|595)\.\d+", "a driver"),
    (r"\b1[0-3]\.\d\.\d\b", "a CUDA release"),
    (r"\bsm_?\d{2,3}\b", "a compute capability"),
    (r"compute_capability *[<>=]+ *'?\d", "a compute capability"),
    (r"version\('\d", "a release"),
    (r"\$\d+\.\d\d", "a price"),
];

/// Places where such a text is no fact about hardware, with the reason.
const ALLOWED: &[(&str, &str, &str)] =
    &[("vgpu-machine-without-grid-driver", "a machine type", "a family of sizes, named by its pattern")];

fn files(directory: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, extension, out);
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}

static PATTERNS: LazyLock<Vec<(Regex, &str)>> =
    LazyLock::new(|| SUSPECTS.iter().map(|(p, what)| (Regex::new(p).expect("a pattern"), *what)).collect());

/// The complaints about some text of a file.
fn complaints(path: &Path, text: &str) -> Vec<String> {
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let allowed = |what: &str| ALLOWED.iter().any(|(name, kind, _)| *name == stem && *kind == what);
    let found = PATTERNS.iter().filter(|(pattern, what)| pattern.is_match(text) && !allowed(what));
    found
        .map(|(pattern, what)| {
            let said = pattern.find(text).map_or("", |m| m.as_str());
            format!("{}: `{said}` looks like {what}", path.display())
        })
        .collect()
}

#[test]
fn what_a_fact_looks_like() {
    let path = Path::new("some.yaml");
    for text in ["g.name == 'A100'", "t == 'p5.48xlarge'", "node.driver < version('535')", "cc >= '8.0' && sm_90"] {
        assert!(!complaints(path, text).is_empty(), "{text}");
    }
    assert!(complaints(path, "node.driver < min_driver(software.cuda)").is_empty());
}

#[test]
fn conditions_of_rules_name_no_hardware() {
    let mut rules = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rules"), "yaml", &mut rules);
    let mut found = Vec::new();
    for path in &rules {
        let text = fs::read_to_string(path).expect("a rule");
        let mut conditions = String::new();
        let mut inside = false;
        for line in text.lines() {
            if !line.starts_with(' ') {
                inside = ["when:", "forbid:", "let:"].iter().any(|key| line.starts_with(key));
            }
            if inside {
                conditions.push_str(line);
                conditions.push('\n');
            }
        }
        found.extend(complaints(path, &conditions));
    }
    assert!(rules.len() > 100, "the rules are there");
    assert!(found.is_empty(), "these belong in rules/catalog/:\n{}", found.join("\n"));
}

#[test]
fn code_names_no_hardware() {
    let mut sources = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "rs", &mut sources);
    let mut found = Vec::new();
    for path in sources.iter().filter(|p| !p.ends_with("tests.rs")) {
        let text = fs::read_to_string(path).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or("");
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or(""));
        found.extend(complaints(path, &lines.collect::<Vec<_>>().join("\n")));
    }
    assert!(found.is_empty(), "these belong in rules/catalog/:\n{}", found.join("\n"));
}

/// Words in formulas that are also names of engines or vendors, with the reason.
const NO_NAMES: &[(&str, &str)] = &[("deepspeed", "a stack of training that options state, whatever launched it")];

#[test]
fn formulas_name_no_engine_vendor_or_model() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<String> = Vec::new();
    for (table, column) in [("servers", 0), ("launchers", 0), ("gpus", 3), ("architectures", 0), ("model_names", 2)] {
        let mut rows = csv::Reader::from_path(root.join(format!("rules/catalog/{table}.csv"))).expect("a table");
        names.extend(rows.records().map(|row| row.expect("a row")[column].to_owned()));
    }
    let (mut sources, mut found) = (Vec::new(), Vec::new());
    files(&root.join("src/vram"), "rs", &mut sources);
    files(&root.join("src/rules/functions"), "rs", &mut sources);
    let literal = Regex::new(r#""([^"]+)""#).expect("a pattern");
    for path in sources.iter().filter(|p| !p.ends_with("tests.rs")) {
        let text = fs::read_to_string(path).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or("");
        for line in code.lines().map(|line| line.split("//").next().unwrap_or("")) {
            let words = literal.captures_iter(line).map(|c| c[1].to_owned());
            let named = words.filter(|w| names.contains(w) && !NO_NAMES.iter().any(|(word, _)| word == w));
            found.extend(named.map(|name| format!("{}: {name}", path.display())));
        }
    }
    assert!(sources.len() > 10 && names.len() > 400, "there are formulas and names");
    assert!(found.is_empty(), "how an engine behaves is a row of rules/catalog/servers.csv:\n{}", found.join("\n"));
}
