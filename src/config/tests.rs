use super::*;
use crate::source::Source;

fn config(text: &str) -> (Config, Vec<Problem>) {
    parse(SourceId(3), text)
}

/// Messages with the text under their carets.
fn told(text: &str) -> Vec<(String, String)> {
    let source = Source::new(FILE_NAME, text);
    let (_, problems) = config(text);
    problems.into_iter().map(|p| (source.slice(p.span).to_owned(), p.message)).collect()
}

#[test]
fn clusters_become_facts_with_places() {
    let text = "clusters:\n- name: prod\n  platform: eks\n  kubernetes: 1.30\n  driver: 550.54.15\n  node_pools:\n  \
                - {name: h100, gpu: H100, count: 8, taints: ['nvidia.com/gpu=present:NoSchedule'], labels: {tier: gpu}}\n";
    let (config, problems) = config(text);
    assert!(problems.is_empty(), "{problems:?}");
    let facts = config.facts();
    let (cluster, pool) = (&facts.clusters[0], &facts.pools[0]);
    assert_eq!(cluster.format.get(), Some(&crate::facts::InfraFormat::Configuration));
    assert_eq!(cluster.kubernetes.get().map(ToString::to_string).as_deref(), Some("1.30"));
    assert_eq!(pool.gpu_count.get(), Some(&8));
    assert_eq!(pool.platform.get().map(String::as_str), Some("eks"));
    assert_eq!(pool.taints[0].effect.get().map(String::as_str), Some("NoSchedule"));
    assert_eq!(pool.labels["tier"].get().map(String::as_str), Some("gpu"));
    assert_eq!(cluster.driver.span.source, SourceId(3));
    assert_eq!(&text[cluster.driver.span.range()], "550.54.15");
}

#[test]
fn releases_become_facts() {
    let text =
        "helm:\n- {chart: charts/api, release: prod, kubernetes: 1.30, values: [a.yaml], set: {gpu.count: 8}}\n- {}\n";
    let (config, problems) = config(text);
    assert_eq!(
        problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(),
        ["a release names the directory of its `chart`"]
    );
    let release = &config.facts().releases[0];
    assert_eq!(release.path.get().map(String::as_str), Some("charts/api"));
    assert_eq!(release.kubernetes.get().map(String::as_str), Some("1.30"));
    assert_eq!(release.set["gpu.count"].get().map(String::as_str), Some("8"));
    assert_eq!(release.values_from.len(), 1);
}

#[test]
fn every_fault_is_told_at_its_place() {
    let text = "clusterz: []\nfail_on: fatal\nrequire_reason: maybe\nignores:\n- {path: '[', rule: x}\n- {reason: y}\n\
                clusters:\n- kubernetes: new\n  node_pools: {}\n";
    let told = told(text);
    let has = |under: &str, message: &str| told.iter().any(|(u, m)| u == under && m.contains(message));
    assert!(has("clusterz", "did you mean `clusters`?"), "{told:?}");
    assert!(has("fatal", "info, warning or error"), "{told:?}");
    assert!(has("maybe", "true or false"), "{told:?}");
    assert!(has("'['", "unclosed") || has("'['", "character class"), "{told:?}");
    assert!(has("reason", "names its `rule`"), "{told:?}");
    assert!(has("new", "a version"), "{told:?}");
    assert!(told.iter().any(|(_, m)| m == "a list is expected"), "{told:?}");
}

#[test]
fn lists_that_everything_is_held_against_have_an_end() {
    let long = |key: &str, entry: &str| told(&format!("{key}:\n{}", format!("- {entry}\n").repeat(1001)));
    assert!(long("ignores", "{rule: x}").iter().any(|(_, message)| message.contains("more than 1000 entries")));
    assert!(long("exclude", "a*b").iter().any(|(_, message)| message.contains("more than 1000 entries")));
}

#[test]
fn a_wrong_path_never_widens_an_ignore() {
    let (config, _) = config("ignores:\n- {rule: x, path: '['}\n- {rule: x, until: soon}\n- {rule: x}\n");
    assert_eq!(config.ignores.len(), 1);
}

#[test]
fn overrides_change_rules_and_unknown_names_are_problems() {
    let mut rules = Ruleset::builtin();
    let id = rules.entries()[0].id.to_string();
    let (config, problems) = config(&format!(
        "rules:\n  {id}: off\n  {id}x: {{severity: info}}\n  unused-suppression: info\nselect: [no-such-thing]\n"
    ));
    assert!(problems.is_empty(), "{problems:?}");
    let told: Vec<String> = config.apply(&mut rules).into_iter().map(|p| p.message).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains(&format!("did you mean `{id}`?")), "{told:?}");
    assert_eq!(rules.get(&id).and_then(|e| e.severity), None);
    assert_eq!(config.severity("unused-suppression"), Some(Some(Severity::Info)));
}

#[test]
fn rules_may_be_a_list_of_directories() {
    let (config, problems) = config("rules: [policies, more]\npacks: third\n");
    assert!(problems.is_empty());
    assert_eq!(config.packs.iter().map(|w| w.text.as_str()).collect::<Vec<_>>(), ["policies", "more", "third"]);
}

#[test]
fn nothing_is_a_configuration_and_a_list_is_not() {
    assert!(config("").1.is_empty());
    assert!(config("# only a comment\n").1.is_empty());
    assert!(!config("- a\n").1.is_empty());
}

#[test]
fn promises_become_objects() {
    let text = "sla:\n- {workload: chat, availability: 99.95}\n- {availability: often}\ndata_classes:\n- {name: phi, regions: [eu-west-1], encrypted: true}\n";
    let (config, problems) = config(text);
    assert_eq!(problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(), ["a percentage is expected"]);
    let objects = config.facts().objects;
    let kinds: Vec<_> = objects.iter().filter_map(|o| o.kind.get().map(String::as_str)).collect();
    assert_eq!(kinds, ["ServiceLevel", "ServiceLevel", "DataClass"]);
    assert_eq!(objects[2].name.get().map(String::as_str), Some("phi"));
    assert_eq!(&text[objects[0].name.span.range()], "chat");
}

#[test]
fn the_lowest_driver_of_a_file_is_the_clusters() {
    let (mut config, problems) = parse(SourceId(3), "clusters: [{name: prod, driver_file: nodes.csv}]\n");
    assert!(problems.is_empty() && config.driver_files[0].1.text == "nodes.csv", "{problems:?}");
    let text = "name, driver_version\nNVIDIA L4, 550.54.15\nNVIDIA L4, 535.183.01\n";
    assert!(config.set_driver(0, SourceId(4), text));
    let driver = &config.clusters[0].driver;
    assert_eq!(&text[driver.span.range()], "535.183.01");
    assert_eq!(driver.get().map(ToString::to_string).as_deref(), Some("535.183.01"));
    assert!(!config.set_driver(0, SourceId(4), "name\nNVIDIA L4\n"));
}

#[test]
fn a_reason_not_to_lint_a_file_has_a_severity_of_its_own() {
    let (config, problems) =
        config("rules: {file-not-linted: {severity: warning, params: {too-large: off, encoding: error, x: y}}}\n");
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(config.not_linted(Unlinted::TooLarge), Some(None));
    assert_eq!(config.not_linted(Unlinted::Encoding), Some(Some(Severity::Error)));
    assert_eq!(config.not_linted(Unlinted::Budget), Some(Some(Severity::Warning)));
    let told = config.apply(&mut Ruleset::builtin());
    assert_eq!(told.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(), ["`file-not-linted` has no parameter `x`"]);
}
