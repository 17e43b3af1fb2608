//! The facts that each format gives: every folder of `fixtures/formats/` holds files of one format and `facts.json`, the
//! part of `gpulint facts` that they must give.
//!
//! Where a folder has `findings.txt`, those are the findings in its files: pack, rule, file and line. Each pack that concerns
//! what a format can state must find something in one of its folders.
//!
//! In `facts.json` a value stands for itself, `"?"` for an unknown, `null` for nothing stated. Of a map the named keys
//! count, of a list every item.

use gpulint::extract::{DOCUMENTS, TEXTS};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// What differs, with the path to it.
fn differences(expected: &Value, actual: Option<&Value>, at: &str, out: &mut Vec<String>) {
    // An entity may have a field called `value`, which is a fact with a place of its own.
    let leaf = |fact: &&Value| fact.get("at").is_none();
    let stated = actual.and_then(|fact| fact.get("value")).filter(leaf).or(actual);
    match (expected, stated) {
        (Value::Null, None) => {}
        (Value::String(text), Some(found)) if text == "?" => {
            if found.get("unknown").is_none() {
                out.push(format!("{at}: {found} where it should be unknown"));
            }
        }
        (Value::Object(keys), Some(found)) if found.is_object() => {
            for (key, value) in keys {
                differences(value, found.get(key), &format!("{at}.{key}"), out);
            }
        }
        (Value::Array(items), Some(Value::Array(found))) if items.len() == found.len() => {
            for (i, (item, found)) in items.iter().zip(found).enumerate() {
                differences(item, Some(found), &format!("{at}[{i}]"), out);
            }
        }
        // An empty list is not printed.
        (Value::Array(items), None) if items.is_empty() => {}
        (expected, found) if found == Some(expected) => {}
        (expected, found) => {
            let found = found.map_or("nothing".to_owned(), |found| format!("{found:.300}"));
            out.push(format!("{at}: {found} where {expected} is stated"));
        }
    }
}

/// What was printed, with its paths as seen from a folder of the work tree.
fn below(folder: &str, printed: &[u8]) -> Value {
    serde_json::from_str(&String::from_utf8_lossy(printed).replace(folder, "")).expect("JSON")
}

#[test]
fn each_format_gives_its_facts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/formats");
    let mut folders: Vec<_> =
        std::fs::read_dir(&root).expect("fixtures").map(|f| f.expect("a folder").path()).collect();
    folders.sort();
    let mut faults = Vec::new();
    for folder in &folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let expected =
            std::fs::read_to_string(folder.join("facts.json")).unwrap_or_else(|_| panic!("{name}: facts.json"));
        let expected: Value = serde_json::from_str(&expected).unwrap_or_else(|e| panic!("{name}: {e}"));
        let done = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(["facts", "."]).current_dir(folder).output();
        let facts = below(&format!("fixtures/formats/{name}/"), &done.expect("gpulint runs").stdout);
        differences(&expected, Some(&facts), &name, &mut faults);
    }
    assert!(folders.len() > 2, "no fixtures");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn each_format_has_files_that_show_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/formats");
    let folders: Vec<String> = std::fs::read_dir(&root)
        .expect("fixtures")
        .map(|folder| folder.expect("a folder").file_name().to_string_lossy().into_owned())
        .collect();
    let names = DOCUMENTS.iter().map(|format| format.name).chain(TEXTS.iter().map(|format| format.name));
    let missing: Vec<&str> = names.filter(|name| !folders.iter().any(|folder| folder.starts_with(name))).collect();
    assert!(missing.is_empty(), "no folder for {missing:?}");
}

/// Why the packs that a format has no row of are not about it.
const BUILDS: &str = "it says what an image or an environment is made of: nobody is served, scheduled or scaled by it";
const PROCESSES: &str =
    "it starts processes on machines that others state: it has no words for their pools, prices and disks";
const MACHINES: &str = "it states machines and what they run first: what is deployed to them is stated elsewhere";
const OPTIONS: &str = "it holds options of one program: where and for whom that runs is stated elsewhere";
const CHARTS: &str = "what a chart makes of its values is not stated by them";
const BUILT: &str = "it deploys what others build";

const ALL: &[&str] =
    &["autoscaling", "compatibility", "cost", "encryption", "interconnect", "scheduling", "security", "sla", "vram"];

/// For each format the packs that concern what it can state, and why the others do not.
const PACKS: &[(&str, &[&str], &str)] = &[
    ("ansible", &["build", "compatibility", "interconnect", "scheduling", "security", "sla", "vram"], PROCESSES),
    ("kubernetes", ALL, BUILT),
    ("cloudformation", ALL, BUILT),
    ("ecs", &["compatibility", "interconnect", "scheduling", "security", "vram"], PROCESSES),
    ("ci", &["compatibility", "interconnect", "scheduling", "security"], PROCESSES),
    ("cloud-setting", &["autoscaling", "encryption"], OPTIONS),
    ("cloud-init", &["compatibility", "scheduling", "security"], PROCESSES),
    ("skypilot", &["build", "compatibility", "cost", "interconnect", "security", "sla", "vram"], PROCESSES),
    ("dstack", &["interconnect", "security", "vram"], PROCESSES),
    ("truss", &["compatibility", "interconnect", "security", "vram"], PROCESSES),
    ("determined", &["interconnect", "security"], PROCESSES),
    ("mosaicml", &["compatibility", "interconnect", "security"], PROCESSES),
    ("databricks", &["compatibility", "interconnect", "vram"], PROCESSES),
    ("packer", &["compatibility", "security"], BUILDS),
    ("cog", &["build", "compatibility", "security"], BUILDS),
    ("bentoml", &["build", "security"], BUILDS),
    ("blueprint", &["cost", "interconnect", "scheduling", "security"], MACHINES),
    ("hyperpod", &["compatibility", "interconnect", "vram"], MACHINES),
    ("parallelcluster", &["autoscaling", "cost", "interconnect", "scheduling"], MACHINES),
    ("pulumi", &["compatibility", "cost", "encryption", "interconnect", "scheduling", "security"], MACHINES),
    ("ray", &["compatibility", "cost", "security", "vram"], MACHINES),
    ("compose", &["compatibility", "interconnect", "scheduling", "security", "vram"], PROCESSES),
    ("docker-bake", &["build", "compatibility", "security"], BUILDS),
    ("helmfile", &["compatibility", "interconnect", "scheduling", "security", "vram"], CHARTS),
    ("conda", &["build"], BUILDS),
    ("python-env", &["compatibility"], BUILDS),
    ("llama-swap", &["interconnect", "security", "vram"], PROCESSES),
    ("ray-serve", &["compatibility"], OPTIONS),
    ("model", &["vram"], OPTIONS),
    ("training", &["compatibility", "interconnect", "vram"], OPTIONS),
    ("server-options", &["interconnect", "scheduling", "security", "vram"], OPTIONS),
    ("component", &["compatibility", "scheduling"], OPTIONS),
    ("values", &["compatibility", "interconnect", "scheduling", "security", "vram"], CHARTS),
    ("terraform", ALL, BUILT),
    ("terraform-json", &["autoscaling", "compatibility", "cost", "encryption", "scheduling", "security"], MACHINES),
    ("nomad", &["interconnect", "security"], PROCESSES),
    ("dockerfile", &["build", "compatibility", "security", "vram"], BUILDS),
    ("pyproject", &["build", "compatibility"], BUILDS),
    ("shell-script", &["compatibility", "interconnect", "scheduling", "security"], PROCESSES),
    ("slurm-configuration", &["interconnect", "scheduling", "security"], OPTIONS),
    ("nginx", &["sla"], OPTIONS),
    ("setup", &["compatibility"], BUILDS),
    ("systemd", &["interconnect", "scheduling", "security"], PROCESSES),
    ("makefile", &["compatibility", "cost", "interconnect", "security"], PROCESSES),
    ("triton", &["compatibility"], OPTIONS),
    ("requirements", &["build", "compatibility"], BUILDS),
];

/// The format that a folder shows: `ray-serve-faults` is of `ray-serve`, not of `ray`.
fn format_of(folder: &str) -> Option<&'static str> {
    let shows = |name: &&str| folder.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    PACKS.iter().map(|(name, ..)| *name).filter(shows).max_by_key(|name| name.len())
}

#[test]
fn each_pack_that_concerns_a_format_finds_something_in_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/formats");
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for folder in std::fs::read_dir(&root).expect("fixtures").map(|folder| folder.expect("a folder")) {
        let Some(format) = format_of(&folder.file_name().to_string_lossy()) else { continue };
        let findings = std::fs::read_to_string(folder.path().join("findings.txt")).unwrap_or_default();
        let packs = findings.lines().filter_map(|line| Some(line.split_once('/')?.0.to_owned()));
        found.entry(format).or_default().extend(packs);
    }
    let names = DOCUMENTS.iter().map(|format| format.name).chain(TEXTS.iter().map(|format| format.name));
    for name in names {
        let row = PACKS.iter().find(|(format, ..)| *format == name);
        let (_, packs, others) = row.unwrap_or_else(|| panic!("{name}: which packs concern it?"));
        let of_them = found.get(name).cloned().unwrap_or_default();
        let silent: Vec<_> = packs.iter().filter(|pack| !of_them.contains(**pack)).collect();
        assert!(!packs.is_empty() && silent.is_empty(), "{name}: no rule of {silent:?} finds anything in its folders");
        let more: Vec<_> = of_them.iter().filter(|pack| !packs.contains(&pack.as_str())).collect();
        assert!(more.is_empty(), "{name}: {more:?} concern it, though \"{others}\"");
    }
}

#[test]
fn the_rules_speak_in_each_format() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/formats");
    let mut faults = Vec::new();
    for folder in std::fs::read_dir(&root).expect("fixtures").map(|folder| folder.expect("a folder").path()) {
        let Ok(expected) = std::fs::read_to_string(folder.join("findings.txt")) else { continue };
        let arguments = ["check", ".", "--no-config", "--exit-zero", "--format", "json"];
        let done = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(&folder).output();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let report = below(&format!("fixtures/formats/{name}/"), &done.expect("gpulint runs").stdout);
        let line = |finding: &Value| {
            let [pack, rule, path] = ["pack", "rule", "path"].map(|key| finding[key].as_str().unwrap_or_default());
            format!("{pack}/{rule} {path}:{}\n", finding["range"]["start"]["line"])
        };
        let mut found: Vec<String> = report["diagnostics"].as_array().into_iter().flatten().map(line).collect();
        found.sort();
        if found.concat() != expected {
            faults.push(format!("{}:\n{}", folder.display(), found.concat()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
