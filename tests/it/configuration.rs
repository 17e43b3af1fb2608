//! What a configuration states reaches the facts, and annotations reach the verdict.

use crate::cli::{code, directory, gpulint, out};
use gpulint::config;
use gpulint::discover::Kind;
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;
use gpulint::source::{Source, SourceId};
use serde_json::Value;
use std::path::Path;

const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {gpulint.dev/ignore: 'some-rule, other', gpulint.dev/reason: known}}
spec:
  containers:
  - name: c
    image: registry.example.com:5000/team/api:1.2
    resources: {limits: {nvidia.com/gpu: 1}}
";

fn run(configuration: &str) -> Outcome {
    let file =
        |path: &str, kind, text: &str| Input { path: path.to_owned(), kind, text: text.to_owned(), repository: 0 };
    let inputs = vec![
        file("docker/Dockerfile", Kind::Dockerfile, "FROM ubuntu:22.04\n"),
        file("docker/cuda.Dockerfile", Kind::Dockerfile, "FROM nvidia/cuda:12.8.1-runtime-ubuntu22.04\n"),
        file("k8s/pod.yaml", Kind::Yaml, POD),
    ];
    let (config, problems) = config::parse(SourceId(3), configuration);
    assert!(problems.is_empty(), "{problems:?}");
    let extra = vec![Source::new(".gpulint.yaml", configuration)];
    lint::run(inputs, config.facts(), extra, &Ruleset::empty())
}

fn built_by(outcome: &Outcome) -> Option<String> {
    let build = outcome.facts.workloads[0].pods[0].containers[0].image.build.as_ref()?;
    build.path.get().cloned()
}

#[test]
fn a_declared_image_is_built_by_its_dockerfile() {
    assert_eq!(built_by(&run("")), None);
    let with_tag = run("images: {'registry.example.com:5000/team/api:1.2': ./docker/cuda.Dockerfile}");
    assert_eq!(built_by(&with_tag).as_deref(), Some("docker/cuda.Dockerfile"));
    let without = run("images: {'registry.example.com:5000/team/api': docker/cuda.Dockerfile}");
    assert_eq!(built_by(&without).as_deref(), Some("docker/cuda.Dockerfile"));
    assert_eq!(built_by(&run("images: {'registry.example.com:5000/team/ap': docker/cuda.Dockerfile}")), None);
}

#[test]
fn a_declared_driver_reaches_the_node() {
    let text = "clusters: [{name: prod, driver: 550.54.15, node_pools: [{name: h, gpu: H100, count: 8}]}]\n";
    let outcome = run(text);
    let node = outcome.facts.workloads[0].pods[0].node.as_ref().expect("a node");
    assert_eq!(node.driver.get().map(ToString::to_string).as_deref(), Some("550.54.15"));
    assert_eq!(outcome.sources.slice(node.driver.span), "550.54.15");
    assert_eq!(node.gpu_count.get(), Some(&8));
}

#[test]
fn annotations_name_rules_a_reason_and_their_object() {
    let outcome = run("");
    let annotations = outcome.annotations.clone();
    assert_eq!(annotations.len(), 1);
    assert_eq!(annotations[0].rules, ["some-rule", "other"]);
    assert_eq!(annotations[0].reason.as_deref(), Some("known"));
    assert!(outcome.sources.slice(annotations[0].scope).contains("nvidia.com/gpu"));
}

const RULE: &str = "gpu-limit-missing";

/// Fires `gpu-limit-missing`, and nothing else.
const GUILTY: &str = "apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: main
    image: registry.example/trainer:1
    resources: {requests: {nvidia.com/gpu: 1}}
";

/// Severity, path and rule of what is found.
fn found(root: &Path, arguments: &[&str]) -> Vec<String> {
    let output = gpulint(root, &[&["check", "--format", "json", "--exit-zero"], arguments].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let list = report["diagnostics"].as_array().expect("a list").iter();
    let text = |finding: &Value, key: &str| finding[key].as_str().expect("a text").to_owned();
    list.map(|finding| format!("{} {} {}", text(finding, "severity"), text(finding, "path"), text(finding, "rule")))
        .collect()
}

/// What keeps a run from its work.
fn refused(root: &Path, arguments: &[&str]) -> String {
    let output = gpulint(root, &[&["check"], arguments].concat());
    assert_eq!(code(&output), 2, "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_configuration_has_one_of_four_names() {
    let off = format!("$schema: https://gpulint.github.io/schemas/config.json\nrules: {{{RULE}: off}}\n");
    let table = format!("[project]\nname = \"a\"\n\n[tool.gpulint.rules]\n{RULE} = \"off\"\n");
    for (name, text) in
        [(".gpulint.yaml", &off), (".gpulint.yml", &off), ("gpulint.yaml", &off), ("pyproject.toml", &table)]
    {
        let tree = directory(&[("pod.yaml", GUILTY), (name, text)]);
        assert_eq!(found(tree.path(), &[]), [""; 0], "{name}");
    }
    let other = directory(&[("pod.yaml", GUILTY), ("pyproject.toml", "[tool.ruff]\nline-length = 100\n")]);
    assert_eq!(found(other.path(), &[]), [format!("error pod.yaml {RULE}")]);
    let two = directory(&[("pod.yaml", GUILTY), (".gpulint.yaml", ""), ("pyproject.toml", &table)]);
    assert!(refused(two.path(), &[]).contains(".gpulint.yaml and pyproject.toml are both configurations"));
    let wrong = directory(&[("pod.yaml", GUILTY), ("pyproject.toml", "[tool.gpulint]\nfail_om = \"error\"\n")]);
    let told = refused(wrong.path(), &[]);
    assert!(told.contains("pyproject.toml:2:1") && told.contains("did you mean `fail_on`?"), "{told}");
}

#[test]
fn the_nearest_configuration_holds_and_may_extend_another() {
    let off = format!("rules: {{{RULE}: off}}\n");
    let own = "fail_on: info\n";
    let with = format!("extends: ../.gpulint.yaml\nrules: {{{RULE}: warning}}\n");
    let tree = directory(&[
        (".git/HEAD", ""),
        (".gpulint.yaml", &off),
        ("pod.yaml", GUILTY),
        ("own/.gpulint.yaml", own),
        ("own/deep/pod.yaml", GUILTY),
        ("same/.gpulint.yaml", "extends: ../.gpulint.yaml\n"),
        ("same/pod.yaml", GUILTY),
        ("with/gpulint.yaml", &with),
        ("with/pod.yaml", GUILTY),
    ]);
    let root = tree.path();
    let all = [format!("error own/deep/pod.yaml {RULE}"), format!("warning with/pod.yaml {RULE}")];
    assert_eq!(found(root, &[]), all);
    // From any directory, and of any part, the same holds.
    assert_eq!(found(&root.join("own/deep"), &["../.."]), all);
    assert_eq!(found(&root.join("own/deep"), &[]), all[..1]);
    assert_eq!(found(root, &["with", "pod.yaml"]), all[1..]);
    assert_eq!(found(root, &["--no-config"]).len(), 4);
    // One that is asked for holds for everything.
    assert_eq!(found(root, &["--config", "with/gpulint.yaml"]).len(), 4);
    // What fails is said by each, too.
    assert_eq!(code(&gpulint(root, &["check", "with", "--quiet"])), 0);
    assert_eq!(code(&gpulint(root, &["check", "own", "--quiet"])), 1);
}

#[test]
fn patterns_and_ignores_are_meant_from_their_file() {
    let tree = directory(&[
        (".git/HEAD", ""),
        (".gpulint.yaml", "exclude: ['*.gen.yaml', /old/]\n"),
        ("a.gen.yaml", GUILTY),
        ("old/.gpulint.yaml", "what: is not read\n"),
        (
            "team/.gpulint.yaml",
            &format!("exclude: [/x.yaml]\nignores:\n- {{rule: {RULE}, path: 'k8s/*', reason: known}}\n"),
        ),
        ("team/a.gen.yaml", GUILTY),
        ("team/x.yaml", GUILTY),
        ("team/k8s/a.yaml", GUILTY),
        ("k8s/a.yaml", GUILTY),
        ("x.yaml", GUILTY),
    ]);
    let here = ["k8s/a.yaml", "team/a.gen.yaml", "x.yaml"].map(|path| format!("error {path} {RULE}"));
    assert_eq!(found(tree.path(), &[]), here);
    assert_eq!(found(&tree.path().join("team"), &[".."]), here);
}

#[test]
fn parameters_and_packs_hold_below_their_configuration() {
    let rule = "id: pods-are-called-b\npack: house\nseverity: warning\nconfidence: high\napplies_to: workload\nforbid: \"workload.name != 'b'\"\n\
                message: \"{workload.name}\"\nhelp: \"call it b\"\nwhy: |\n  House style.\nreferences: [\"https://example.com\"]\nexamples:\n\
                - fires: {a.yaml: \"‹{apiVersion: v1, kind: Pod, metadata: {name: a}}›\"}\n\
                - silent: {a.yaml: \"{apiVersion: v1, kind: Pod, metadata: {name: b}}\"}\n  because: \"it is\"\n";
    let tree = directory(&[
        (".git/HEAD", ""),
        ("pod.yaml", GUILTY),
        ("team/.gpulint.yaml", &format!("packs: [rules]\nrules: {{{RULE}: off}}\n")),
        ("team/rules/pods-are-called-b.yaml", rule),
        ("team/pod.yaml", GUILTY),
    ]);
    let all = [format!("error pod.yaml {RULE}"), "warning team/pod.yaml pods-are-called-b".to_owned()];
    assert_eq!(found(tree.path(), &[]), all);
    let explained = gpulint(tree.path(), &["explain", "pods-are-called-b"]);
    assert!(out(&explained).contains("House style."), "{explained:?}");
}

#[test]
fn what_a_configuration_states_of_clusters_holds_below_it_alone() {
    let pod = GUILTY.replace("requests", "limits");
    let cluster = |taints: &str| format!("clusters:\n- node_pools: [{{name: h, gpu: H100, count: 8{taints}}}]\n");
    let tainted = cluster(", taints: ['nvidia.com/gpu=present:NoSchedule']");
    let tree = |outer: &str, inner: &str| {
        let tree = directory(&[
            (".git/HEAD", ""),
            (".gpulint.yaml", outer),
            ("a/pod.yaml", &pod),
            ("team/.gpulint.yaml", inner),
            ("team/pod.yaml", &pod),
        ]);
        found(tree.path(), &["--select", "taint-not-tolerated"])
    };
    let [outer, inner] = ["a/pod.yaml", "team/pod.yaml"].map(|path| format!("error {path} taint-not-tolerated"));
    assert_eq!(tree(&tainted, &cluster("")), [outer.as_str()]);
    assert_eq!(tree(&cluster(""), &tainted), [inner.as_str()]);
    assert_eq!(tree(&tainted, "fail_on: error\n"), [outer.as_str()]);
    assert_eq!(tree(&tainted, "extends: ../.gpulint.yaml\n"), [outer, inner]);
}

#[test]
fn what_cannot_be_extended_is_said_at_its_place() {
    let tree = directory(&[
        ("repo/.git/HEAD", ""),
        ("repo/pod.yaml", GUILTY),
        ("repo/a/.gpulint.yaml", "# one\nextends: ../b.yaml\n"),
        ("repo/b.yaml", "extends: a/.gpulint.yaml\n"),
        ("repo/c/.gpulint.yaml", "extends: ../../outside.yaml\n"),
        ("repo/d/.gpulint.yaml", "extends: missing.yaml\n"),
        ("outside.yaml", ""),
    ]);
    let root = tree.path().join("repo");
    let told = refused(&root, &["a"]);
    assert!(
        told.contains("b.yaml:1:10") && told.contains("a/.gpulint.yaml extends b.yaml extends a/.gpulint.yaml"),
        "{told}"
    );
    let told = refused(&root, &["c"]);
    assert!(told.contains("c/.gpulint.yaml:1:10") && told.contains("outside of the repository"), "{told}");
    assert!(refused(&root, &["d"]).contains("`missing.yaml` is not read"));
}

#[cfg(unix)]
#[test]
fn a_configuration_behind_a_link_out_of_the_repository_is_not_read() {
    let tree = directory(&[
        ("repo/.git/HEAD", ""),
        ("repo/team/pod.yaml", GUILTY),
        ("elsewhere.yaml", &format!("rules: {{{RULE}: off}}\n")),
        ("elsewhere.toml", &format!("[tool.gpulint.rules]\n{RULE} = \"off\"\n")),
    ]);
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, tree.path().join("repo/team").join(name)).expect("a link")
    };
    link("../../elsewhere.toml", "pyproject.toml");
    assert_eq!(found(&tree.path().join("repo"), &[]), [format!("error team/pod.yaml {RULE}")]);
    link("../../elsewhere.yaml", ".gpulint.yaml");
    assert!(refused(&tree.path().join("repo"), &[]).contains("a symbolic link that leads out"));
}

#[test]
fn names_that_nothing_here_has_are_told_where_all_of_it_is_looked_at() {
    let chart = "apiVersion: v2\nname: api\nversion: 0.1.0\n";
    let good = "clusters: [{node_pools: [{gpu: H100}]}]\nhelm: [{chart: charts/api, values: [prod.yaml]}]\n\
                sla: [{workload: trainer, availability: 99, network: 99, durability: 99, replacement_hours: 4}]\nimages: {a/b: docker/Dockerfile}\n";
    let wrong = good
        .replace("H100", "H10O")
        .replace("charts/api", "charts/apy")
        .replace("prod.yaml", "prdo.yaml")
        .replace("trainer", "trainr")
        .replace("docker/", "dockr/");
    let tree = |configuration: &str| {
        directory(&[
            (".git/HEAD", ""),
            (".gpulint.yaml", configuration),
            ("pod.yaml", &GUILTY.replace("requests", "limits")),
            ("prod.yaml", "a: 1\n"),
            ("docker/Dockerfile", "FROM ubuntu:22.04\n"),
            ("charts/api/Chart.yaml", chart),
            ("charts/api/values.yaml", "a: 1\n"),
        ])
    };
    let told = |root: &Path, paths: &[&str]| -> Vec<String> {
        let run = gpulint(root, &[&["check", "--format", "concise", "--select", "gpulint"], paths].concat());
        out(&run).lines().filter(|line| line.contains("[configuration]")).map(str::to_owned).collect()
    };
    assert_eq!(told(tree(good).path(), &[]), [""; 0]);
    let tree = tree(&wrong);
    let all = told(tree.path(), &[]);
    for (place, name, meant) in [
        ("1:32", "GPU `H10O`", "h100"),
        ("2:16", "chart `charts/apy`", "charts/api"),
        ("2:37", "file `prdo.yaml`", "prod.yaml"),
        ("3:18", "workload `trainr`", "trainer"),
        ("4:15", "file `dockr/Dockerfile`", "docker/Dockerfile"),
    ] {
        let is = |line: &&String| {
            line.contains(place) && line.contains(name) && line.contains(&format!("did you mean `{meant}`?"))
        };
        assert!(all.iter().any(|line| is(&line)), "{place} {name}: {all:#?}");
    }
    assert_eq!(all.len(), 5, "{all:#?}");
    let part = told(tree.path(), &["docker"]);
    assert!(part.len() == 1 && part[0].contains("GPU"), "{part:#?}");
}

#[test]
fn rules_are_found_by_pack_beginning_and_word() {
    let tree = directory(&[]);
    let run = |arguments: &[&str]| out(&gpulint(tree.path(), arguments));
    let pack = run(&["rules", "vram"]);
    assert!(pack.lines().count() > 5 && pack.lines().all(|line| line.contains(" vram ")), "{pack}");
    assert!(run(&["rules", "gpulint", "--format", "list"]).contains("file-not-linted\n"));
    assert!(run(&["explain", "gpu-limit-miss"]).starts_with(RULE));
    assert!(run(&["explain", "unused-supp"]).contains("waives nothing"));
    let several = run(&["explain", "taint"]);
    assert!(several.contains("taint-not-tolerated") && several.lines().count() > 1, "{several}");
}

#[test]
fn a_suppression_of_no_rule_is_told_the_one_that_is_meant() {
    let waived =
        GUILTY.replace("    resources", "    # gpulint: ignore[gpu-limit-mising] reason=\"known\"\n    resources");
    let tree = directory(&[("pod.yaml", &waived)]);
    let run = gpulint(tree.path(), &["check", "--format", "concise"]);
    let told = format!("there is no rule or pack `gpu-limit-mising`; did you mean `{RULE}`?");
    assert!(out(&run).contains(&told), "{}", out(&run));
}
