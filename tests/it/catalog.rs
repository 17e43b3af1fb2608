//! The tables of the catalog: sourced, dated, sorted, unique, and agreeing with each other.

use gpulint::catalog;
use gpulint::discover::kind_of;
use gpulint::facts::Facts;
use gpulint::finding::Severity;
use gpulint::lint::{self, Input};
use gpulint::rules::Ruleset;
use gpulint::source::SourceId;
use gpulint::version::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How the source of a row was read: by a person or program that saw the statement in it, or computed by a program from
/// what the publisher ships; `unread` rows name where to look, and no error rests on them.
const EVIDENCE: &[&str] = &["opened", "derived", "unread"];

type Row = BTreeMap<String, String>;

fn read(path: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    reader.deserialize().map(|row| row.unwrap_or_else(|e| panic!("{}: {e}", path.display()))).collect()
}

fn table(name: &str) -> Vec<Row> {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/catalog").join(name).with_extension("csv"))
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 4 && bytes[..4].iter().all(u8::is_ascii_digit) && text.len() <= 10
}

#[test]
fn every_table_is_as_declared_sourced_and_dated() {
    let sources: BTreeMap<String, Row> = table("sources").into_iter().map(|r| (r["id"].clone(), r)).collect();
    assert!(
        sources.values().all(|s| !s["text"].is_empty() && is_date(&s["as_of"])),
        "each source has a text and a date"
    );
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/catalog")).expect("rules/catalog")
    {
        let name = entry.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned();
        files.insert(name);
    }
    files.remove("sources");
    assert_eq!(
        files,
        catalog::tables().map(str::to_owned).collect(),
        "each table is declared in src/catalog/tables.rs"
    );
    assert_eq!(catalog::faults(), Vec::<String>::new());
    for name in catalog::tables() {
        let rows = table(name);
        assert!(!rows.is_empty(), "{name} is empty");
        for row in &rows {
            let interned = |id: &str| sources.contains_key(id);
            let dated = row.get("as_of").is_some_and(|d| is_date(d)) && !row["source"].is_empty();
            let by_id = !row["source"].is_empty() && row["source"].split(' ').all(interned);
            assert!(dated || by_id, "{name}: {row:?} has no source");
            assert!(
                EVIDENCE.contains(&row["evidence"].as_str()),
                "{name}: {row:?} does not say how its source was read"
            );
            assert!(row.values().all(|v| !v.contains(['"', '\n'])), "{name}: {row:?} holds a quote or a line end");
        }
    }
}

#[test]
fn references_resolve() {
    for row in table("instances").iter().chain(&table("mig_profiles")).chain(&table("gpu_names")) {
        assert!(row["gpu"].is_empty() || catalog::gpu(&row["gpu"]).is_some(), "{row:?}");
    }
    for gpu in catalog::gpus().iter().filter(|g| g.vendor == "nvidia") {
        let cc = gpu.compute_capability.as_ref().unwrap_or_else(|| panic!("{} has no compute capability", gpu.id));
        assert!(catalog::architecture(cc).is_some(), "{}: {cc} has no row", gpu.id);
        assert!(
            gpu.mig || catalog::mig_profiles(gpu.id).is_some_and(|profiles| profiles.is_empty()),
            "{} has MIG profiles without MIG",
            gpu.id
        );
    }
    for row in table("gcp_attachable_gpus").iter().chain(&table("cloud_run_gpus")) {
        assert!(catalog::gpu(&row["accelerator"]).is_some(), "{row:?}");
    }
    for row in table("image_families").iter().filter(|r| !r["tag"].is_empty()) {
        regex::Regex::new(&row["tag"]).unwrap_or_else(|e| panic!("{}: {e}", row["family"]));
    }
}

#[test]
fn floors_rise_with_cuda() {
    let mut releases: Vec<Version> = table("cuda").iter().filter_map(|r| Version::parse(&r["cuda"])).collect();
    releases.sort();
    for pair in releases.windows(2) {
        assert!(catalog::min_driver(&pair[0]) <= catalog::min_driver(&pair[1]), "{} and {}", pair[0], pair[1]);
    }
    let mut branches: Vec<(u64, Version)> = Vec::new();
    for row in table("driver_branches") {
        branches.extend(row["branch"].parse().ok().zip(Version::parse(&row["native_cuda"])));
    }
    branches.sort();
    assert!(branches.windows(2).all(|pair| pair[0].1 <= pair[1].1), "newer branches support newer CUDA");
}

#[test]
fn image_tags_seen_in_public_manifests_read_as_recorded() {
    let observed = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/catalog/image_tags_observed.csv"));
    assert!(observed.len() > 1500);
    let mut wrong = Vec::new();
    for row in &observed {
        let found = catalog::image(&row["image"], &row["tag"]);
        let result = match &found {
            Ok(_) => "match",
            Err(catalog::Unrecognised::Tag(_)) => "no match",
            Err(catalog::Unrecognised::Repository) => "no family",
        };
        if result != row["result"] {
            wrong.push(format!("{}:{} is {result}, recorded {}", row["image"], row["tag"], row["result"]));
        }
        if let Ok(info) = found
            && let (Some(month), Some(cuda)) = (&info.ngc, &info.cuda)
        {
            assert_ne!(month, cuda, "{}:{}: the month is not a CUDA release", row["image"], row["tag"]);
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Severities at which rules of severity error fire on a pod that selects a machine type: by a function of the catalog, by
/// a fact that the catalog completes, and by such a fact in the scope.
fn severities(machine: &str) -> Vec<Severity> {
    let conditions = [
        ("\"true\"", "instance_gpus(node.instance_type) > 0"),
        ("\"true\"", "node.gpu_count > 0"),
        ("node.gpu_count > 0", "\"true\""),
    ];
    let mut rules = Ruleset::empty();
    for (number, (when, forbid)) in conditions.iter().enumerate() {
        let rule = format!(
            "id: r{number}\npack: p\nseverity: error\napplies_to: container\nwhen: {when}\nforbid: {forbid}\nmessage: m\n\
             help: h\nwhy: w\nreferences: ['https://a.example']\nexamples: [{{fires: {{a.yaml: ''}}}}]\n"
        );
        let problems = rules.add(SourceId(1), "r.yaml", &rule);
        assert!(problems.is_empty(), "{problems:?}");
    }
    let text = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  nodeSelector: {{node.kubernetes.io/instance-type: \
         {machine}}}\n  containers:\n  - name: c\n    image: registry.example.com/c:1\n"
    );
    let input = Input { path: "p.yaml".to_owned(), kind: kind_of("p.yaml").expect("a kind"), text, repository: 0 };
    let outcome = lint::run(vec![input], Facts::default(), Vec::new(), &rules);
    outcome.evaluation.findings.iter().map(|finding| finding.severity).collect()
}

#[test]
fn no_error_rests_on_a_row_whose_source_nobody_read() {
    let machines = table("instances");
    let of = |read: &dyn Fn(&str) -> bool| {
        let row = machines.iter().find(|row| read(&row["evidence"]) && row["gpu_count"] == "8");
        row.expect("a machine type of each kind")["instance_type"].clone()
    };
    assert_eq!(severities(&of(&|evidence| evidence == "unread")), [Severity::Warning; 3]);
    assert_eq!(severities(&of(&|evidence| evidence != "unread")), [Severity::Error; 3]);
}
