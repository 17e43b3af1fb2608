//! The schemas say what the program reads and writes: rule files, configurations and reports.

use gpulint::config;
use gpulint::discover::Kind;
use gpulint::judge::{self, Coverage, Restrictions};
use gpulint::lint::{self, Input};
use gpulint::report::human::HumanOptions;
use gpulint::report::{Report, json};
use gpulint::rules::Ruleset;
use gpulint::source::SourceId;
use serde_json::{Value, json};

const RULE: &str = include_str!("../../schemas/rule.json");
const CONFIG: &str = include_str!("../../schemas/config.json");
const REPORT: &str = include_str!("../../schemas/report.json");

fn validator(schema: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
    jsonschema::draft202012::new(&schema).expect("a schema follows draft 2020-12")
}

fn faults(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

fn yaml(text: &str) -> Value {
    serde_yaml::from_str(text).expect("YAML")
}

#[test]
fn every_built_in_rule_follows_the_schema() {
    let validator = validator(RULE);
    let mut told = Vec::new();
    for entry in Ruleset::builtin().entries() {
        told.extend(faults(&validator, &yaml(entry.file().1)).into_iter().map(|f| format!("{}: {f}", entry.file().0)));
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn the_rule_schema_and_the_loader_refuse_the_same_keys() {
    let validator = validator(RULE);
    let entry = &Ruleset::builtin();
    let mut rule = yaml(entry.entries()[0].file().1);
    rule["forbids"] = json!("true");
    assert!(!validator.is_valid(&rule));
    let (_, problems) = gpulint::rules::load::load(SourceId(0), &rule.to_string());
    assert!(problems.iter().any(|p| p.message.contains("forbids")));
}

#[test]
fn the_rule_schema_names_every_subject() {
    let schema: Value = serde_json::from_str(RULE).expect("JSON");
    let applies_to = &schema["properties"]["applies_to"]["oneOf"];
    let of_kind = |name: &str, key: &str| {
        let forms = applies_to.as_array().expect("a list");
        forms.iter().any(|form| form["properties"][name]["properties"][key].is_object())
    };
    let mut plain = Vec::new();
    for (subject, _) in gpulint::facts::subjects() {
        match subject.kind {
            Some(key) => assert!(of_kind(subject.name, key), "{}", subject.name),
            None => plain.push(subject.name),
        }
    }
    assert_eq!(applies_to[0]["enum"], json!(plain));
}

/// A configuration with every key.
const SAMPLE: &str = "
$schema: https://gpulint.github.io/schemas/config.json
extends: ../.gpulint.yaml
clusters:
- name: prod
  platform: eks
  kubernetes: '1.30'
  driver: 550.54.15
  node_pools:
  - name: h100
    gpu: H100
    count: 8
    instance_type: p5.48xlarge
    driver: 550
    labels: {tier: gpu}
    taints: ['nvidia.com/gpu=present:NoSchedule', {key: a, value: b, effect: NoExecute}]
    min_nodes: 0
    max_nodes: 4
    spot: false
helm: [{chart: charts/api, release: api, namespace: ml, kubernetes: '1.32', values: [prod.yaml], set: {gpu.count: 8}}]
images: {registry.example.com/api: docker/Dockerfile}
sla: [{workload: chat, availability: 99.95, network: 99.99, durability: 99.999999999, replacement_hours: 4}]
data_classes: [{name: phi, label: data-class, regions: [eu-], encrypted: true, audit_log: true}]
datasets: [{store: scans, read_mb_per_s: 2000}, {store: clips, samples_per_s: 400, sample_mb: 1.5}]
packs: [policies]
rules:
  syntax-error: {severity: warning, params: {}}
  duplicate-key: off
select: [compatibility]
ignore: []
exclude: [third_party/]
ignores: [{rule: syntax-error, path: 'k8s/**', object: api, reason: known, until: 2030-12-31}]
require_reason: true
fail_on: warning
min_confidence: high
";

#[test]
fn the_configuration_schema_and_the_reader_agree() {
    let validator = validator(CONFIG);
    let accepted = |text: &str| (validator.is_valid(&yaml(text)), config::parse(SourceId(0), text).1.is_empty());
    assert_eq!(faults(&validator, &yaml(SAMPLE)), Vec::<String>::new());
    assert_eq!(accepted(SAMPLE), (true, true));
    for good in ["", "rules: [policies]", "select: compatibility", "clusters: []"] {
        assert_eq!(accepted(good), (true, true), "{good}");
    }
    for bad in [
        "cluster: []",
        "fail_on: fatal",
        "require_reason: sometimes",
        "rules: {a: loud}",
        "rules: {a: {severities: off}}",
        "ignores: [{path: a}]",
        "ignores: [{rule: a, until: soon}]",
        "clusters: [{nam: a}]",
        "clusters: [{node_pools: [{count: many}]}]",
        "clusters: {}",
        "exclude: [{a: b}]",
        "sla: [{availability: often}]",
        "data_classes: [{name: a, encrypted: perhaps}]",
        "datasets: [{store: a, read_gb_per_s: 2}]",
    ] {
        assert_eq!(accepted(bad), (false, false), "{bad}");
    }
}

#[test]
fn a_report_follows_the_schema() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec:\n  replicas: 1\n  template:\n    \
                      spec:\n      containers:\n      - name: server\n        image: vllm/vllm-openai:v0.6.0\n        \
                      command: [sleep, infinity]\n        resources: {limits: {nvidia.com/gpu: 8}}\n";
    let inputs = vec![
        Input { path: "k8s/api.yaml".to_owned(), kind: Kind::Yaml, text: deployment.to_owned(), repository: 0 },
        Input {
            path: "k8s/broken.yaml".to_owned(),
            kind: Kind::Yaml,
            text: "apiVersion: [\n".to_owned(),
            repository: 0,
        },
    ];
    let rules = Ruleset::builtin();
    let outcome = lint::run(inputs, Default::default(), Vec::new(), &rules);
    let input = judge::Input {
        findings: outcome.evaluation.findings,
        undecided: outcome.evaluation.undecided,
        comments: &outcome.comments,
        annotations: Vec::new(),
        coverage: Coverage {
            seen: 3,
            understood: 2,
            nothing: 0,
            unread: vec![],
            skipped: vec![("big.yaml".to_owned(), "too large".to_owned())],
            excluded: vec![(".gitignore".to_owned(), 3)],
            configurations: vec![Restrictions {
                path: ".gpulint.yaml".to_owned(),
                by: vec![("rules turned off", vec!["some-rule".to_owned()])],
            }],
            notes: vec![("api/Chart.yaml".to_owned(), "not judged: a model is needed".to_owned())],
        },
        ..judge::Input::default()
    };
    let options = judge::Options {
        select: Vec::new(),
        ignore: Vec::new(),
        min_confidence: None,
        today: jiff::civil::date(2026, 11, 21),
    };
    let verdict = judge::judge(input, &outcome.sources, &config::Config::default(), &options);
    let human = HumanOptions::default();
    let text = json::write(&Report { verdict: &verdict, sources: &outcome.sources, rules: &rules, human });
    let report: Value = serde_json::from_str(&text).expect("JSON");
    for told in report["diagnostics"].as_array().into_iter().flatten() {
        let page = format!("https://gpulint.github.io/rules/{}/", told["rule"].as_str().expect("a rule"));
        assert_eq!(told["url"], page);
    }
    let validator = validator(REPORT);
    assert_eq!(faults(&validator, &report), Vec::<String>::new());
    let rules: Vec<&str> =
        report["diagnostics"].as_array().into_iter().flatten().filter_map(|d| d["rule"].as_str()).collect();
    assert!(rules.contains(&"syntax-error") && rules.len() > 1, "{rules:?}");
    let mut changed = report;
    changed["diagnostics"][0]["range"]["start"]["line"] = json!(0);
    assert!(!validator.is_valid(&changed));
}
