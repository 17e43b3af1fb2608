//! What buyers' guides to GPU servers tell people to write, and what gpulint says to it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Folders of `fixtures/guides` and the rules that must fire there.
const WRONG: &[(&str, &[&str])] = &[
    ("base-image-without-pins", &["framework-not-pinned"]),
    ("driver-in-image", &["driver-installer-in-image"]),
    ("hpa-on-gpu-resource", &["hpa-resource-metric-unsupported"]),
    ("malformed-key", &["kms-key-reference-malformed"]),
    ("priority-class-broken", &["syntax-error"]),
    ("scaling-on-cpu", &["gpu-scaled-on-cpu-policy"]),
];

/// Folders in which nothing is an error.
const CLEAN: &[&str] = &["priority-class", "stacks/enterprise", "stacks/research", "stacks/start-up"];

/// The JSON report of `gpulint check` in a folder, which may have a configuration of its own.
fn check(folder: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(["check", "--format", "json", "--exit-zero", "--allow-empty", "."])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guides").join(folder))
        .output()
        .expect("gpulint runs");
    assert!(output.status.success(), "{folder}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a JSON report")
}

fn rules(report: &Value, severity: Option<&str>) -> BTreeSet<String> {
    let diagnostics = report["diagnostics"].as_array().expect("diagnostics").iter();
    let wanted = diagnostics.filter(|d| severity.is_none_or(|s| d["severity"] == s));
    wanted.map(|d| d["rule"].as_str().expect("a rule").to_owned()).collect()
}

#[test]
fn wrong_advice_is_found() {
    for (folder, wanted) in WRONG {
        let found = rules(&check(folder), None);
        for rule in *wanted {
            assert!(found.contains(*rule), "{folder}: {rule} is missing, found {found:?}");
        }
    }
}

#[test]
fn sound_deployments_have_no_error() {
    for folder in CLEAN {
        let report = check(folder);
        assert_eq!(rules(&report, Some("error")), BTreeSet::new(), "{folder}: {}", report["diagnostics"]);
        assert_eq!(report["files"]["seen"], report["files"]["linted"], "{folder}");
    }
}

#[test]
fn four_processors_and_sixteen_gigabytes_per_gpu_are_few() {
    let found = rules(&check("stacks/start-up"), Some("info"));
    assert!(found.contains("gpu-machine-with-little-host"), "found {found:?}");
}

/// The folders in a folder.
fn names(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).expect("a directory").filter_map(Result::ok);
    entries.filter(|e| e.path().is_dir()).map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

/// A row of the guides has one folder per cloud or format, whose `expected.txt` says what is told there: `rule path:line`.
/// Of what is innocent nothing else is told. What is owed (`rows.csv`) is not asked for. `docs/guides.md` holds it all; rewrite
/// it with `UPDATE=1 cargo test guides`.
#[test]
fn rows_are_told_on_every_cloud() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guides");
    let mut listed = csv::Reader::from_path(guides.join("rows.csv")).expect("rows.csv");
    let listed: Vec<Row> = listed.deserialize().collect::<Result<_, _>>().expect("rows");
    let folders: BTreeSet<(String, String)> = names(&guides.join("rows"))
        .into_iter()
        .flat_map(|row| names(&guides.join("rows").join(&row)).into_iter().map(move |variant| (row.clone(), variant)))
        .collect();
    assert_eq!(folders, listed.iter().map(|row| (row.row.clone(), row.variant.clone())).collect());
    let mut page = String::from(PREFACE);
    let mut last = "";
    let mut silent: Vec<&Row> = Vec::new();
    for row in &listed {
        if last != row.row {
            page += &twins(&std::mem::take(&mut silent));
            page += &row.heading();
            last = &row.row;
        }
        let folder = format!("rows/{}/{}", row.row, row.variant);
        let expected = std::fs::read_to_string(guides.join(&folder).join("expected.txt")).expect(&folder);
        let wanted: BTreeSet<&str> = expected.lines().collect();
        let report = check(&folder);
        let root = format!("fixtures/guides/{folder}/");
        let path = |d: &Value| d["path"].as_str().expect("a path").replace(&root, "").replace("./", "");
        let place = |d: &Value| format!("{}:{}", path(d), d["range"]["start"]["line"]);
        let line = |d: &Value| format!("{} {}", d["rule"].as_str().expect("a rule"), place(d));
        let found = report["diagnostics"].as_array().expect("a list");
        let told: BTreeMap<String, &Value> = found.iter().map(|d| (line(d), d)).collect();
        assert!(wanted.iter().all(|line| told.contains_key(*line)), "{folder}: wanted {wanted:?}, found {told:?}");
        assert!(!row.innocent() || told.len() == wanted.len(), "{folder}: found {told:?}");
        if row.innocent() && wanted.is_empty() && row.missing.is_empty() {
            silent.push(row);
            continue;
        }
        page += &row.line(wanted.iter().map(|line| (*line, told[*line]["message"].as_str().unwrap_or_default())));
    }
    page += &twins(&silent);
    let path = guides.join("../../docs/guides.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).expect("the page is written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("docs/guides.md"), page, "UPDATE=1 cargo test guides");
}

const PREFACE: &str = "\
# The guides, row by row

What buyers' guides to GPU servers say, written as files on several clouds and in several formats (`fixtures/guides/rows`), what
gpulint says to it, and what the guide itself gets wrong. An innocent twin holds the same construct where nothing is wrong with it: without GPUs, or stated right. The page is written from what a run finds there.
";

/// A line of `fixtures/guides/rows.csv`: one folder of one row of the guides.
#[derive(serde::Deserialize)]
struct Row {
    row: String,
    guide: String,
    says: String,
    variant: String,
    formats: String,
    result: String,
    missing: String,
    guide_wrong: String,
}

impl Row {
    fn innocent(&self) -> bool {
        self.variant.starts_with("innocent")
    }

    fn heading(&self) -> String {
        let wrong = if self.guide_wrong.is_empty() {
            String::new()
        } else {
            format!("\nWhat is wrong with it: {}.\n", self.guide_wrong)
        };
        let title = self.row.replacen('-', " ", 1).replace('-', " ");
        format!(
            "\n## {title}\n\nGuide {}: {}.\n{wrong}\n| files | formats | gpulint says |\n|---|---|---|\n",
            self.guide, self.says
        )
    }

    fn line<'t>(&self, told: impl Iterator<Item = (&'t str, &'t str)>) -> String {
        let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
        let said: Vec<String> = told
            .map(|(line, message)| {
                let (rule, place) = line.split_once(' ').unwrap_or_default();
                format!("`{place}` [{rule}](rules.md#{rule}): {}", cell(message))
            })
            .collect();
        let silent = match self.result.as_str() {
            "silent" | "clean" if self.missing.is_empty() => "nothing, as it should be".to_owned(),
            "silent" | "clean" => format!("nothing, as it should be: {}", cell(&self.missing)),
            _ => format!("nothing yet: {}", cell(&self.missing)),
        };
        let said = if said.is_empty() { silent } else { said.join("<br>") };
        format!("| [{0}](../fixtures/guides/rows/{1}/{0}) | {2} | {said} |\n", self.variant, self.row, self.formats)
    }
}

/// The line of the innocent twins of a row, of which nothing is told.
fn twins(rows: &[&Row]) -> String {
    let links = rows.iter().map(|row| format!("[{0}](../fixtures/guides/rows/{1}/{0})", row.variant, row.row));
    let formats: BTreeSet<&str> = rows.iter().flat_map(|row| row.formats.split(", ")).collect();
    let (links, formats): (Vec<String>, Vec<&str>) = (links.collect(), formats.into_iter().collect());
    if links.is_empty() {
        return String::new();
    }
    format!("| {} | {} | nothing, as it should be |\n", links.join(", "), formats.join(", "))
}

/// Each way of writing a row has a twin of the same construct where nothing is wrong: without GPUs, or stated right.
#[test]
fn every_row_has_its_twin() {
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guides/rows");
    for row in names(&rows) {
        let variants = names(&rows.join(&row));
        let (innocent, told): (Vec<&String>, Vec<&String>) = variants.iter().partition(|v| v.starts_with("innocent"));
        assert!(told.len() > 3, "{row}: {told:?}");
        for variant in told {
            assert!(
                innocent.iter().any(|twin| **twin == format!("innocent-{variant}")),
                "{row}: {variant} has no twin"
            );
        }
    }
}

/// The sum of the guide, 700 W with a PUE of 1.5 over a year, as often as a pool that always runs has such GPUs.
#[test]
fn energy_of_machines_that_always_run_is_told() {
    for (variant, gpus) in [("gke-terraform", 8), ("gke-script", 8), ("blueprint", 8), ("pulumi", 4)] {
        let report = check(&format!("rows/23-energy/{variant}"));
        let wanted = format!("{gpus} GPUs of 700 W: {} kWh a year", gpus * 9198);
        let mut notes =
            report["diagnostics"].as_array().expect("a list").iter().flat_map(|d| {
                d["related"].as_array().into_iter().flatten().filter_map(|note| note["message"].as_str())
            });
        assert!(notes.any(|note| note.starts_with(&wanted)), "{variant}: {report}");
    }
}

#[test]
fn every_folder_is_expected() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guides");
    let mut found = names(&guides);
    found.remove("rows");
    found.remove("stacks");
    found.extend(names(&guides.join("stacks")).into_iter().map(|n| format!("stacks/{n}")));
    let expected: BTreeSet<String> =
        WRONG.iter().map(|(folder, _)| *folder).chain(CLEAN.iter().copied()).map(str::to_owned).collect();
    assert_eq!(found, expected);
}
