//! Charts, kustomizations and projects that make much out of little, or hide what they hold: a finding tells each of
//! them, and what stands beside it is linted all the same.

use gpulint::discover::{Kind, charts, kind_in};
use gpulint::facts::Facts;
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;

fn run(files: &[(&str, &str)]) -> Outcome {
    let known = charts(files.iter().map(|(path, _)| *path));
    let mut inputs: Vec<Input> = files
        .iter()
        .map(|(path, text)| Input {
            path: (*path).to_owned(),
            kind: kind_in(&known, path).unwrap_or(Kind::Data),
            text: (*text).to_owned(),
            repository: 0,
        })
        .collect();
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    lint::run(inputs, Facts::default(), Vec::new(), &Ruleset::builtin())
}

/// Paths of the findings of a rule.
fn of(outcome: &Outcome, rule: &str) -> Vec<String> {
    let found = outcome.evaluation.findings.iter().filter(|finding| finding.rule == rule);
    found.map(|finding| outcome.sources.get(finding.span.source).path.clone()).collect()
}

const CHART: (&str, &str) = ("c/Chart.yaml", "name: c\nversion: 1.0.0\n");
/// More GPUs requested than allowed.
const BAD: &str = "apiVersion: v1
kind: Pod
metadata: {name: bad}
spec:
  containers:
  - name: c
    image: nvidia/cuda:12.4.1-base-ubuntu22.04
    resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}
";
const RULE: &str = "gpu-request-differs-from-limit";
const DATA: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {b: b}\n";

#[test]
fn templates_that_grow_are_told_and_other_charts_are_linted() {
    let doubled = "{{- $a := dict \"x\" \"y\" }}{{- range until 60 }}{{- $a = dict \"x\" $a \"y\" $a }}{{- end }}";
    for use_of_it in [
        "{{ $a }}",
        "{{ printf \"%v\" $a }}",
        "{{ quote $a }}",
        "{{ join \",\" (list $a) }}",
        "{{ cat $a }}",
        "{{ len (deepCopy $a) }}",
        "{{ toToml $a | len }}",
        "{{ toYaml $a | len }}",
        "{{ toJson $a | len }}",
        "{{ deepEqual $a (deepCopy $a) }}",
        "{{ $b := dict }}{{ range until 60 }}{{ $b = dict \"x\" $b \"y\" $b }}{{ end }}{{ mergeOverwrite $a $b }}",
        "{{ splitList \"\" (repeat 8000000 \"a\") | len }}",
        "{{ range 3000000 }}{{ $x := sha256sum (repeat 100000 \"a\") }}{{ end }}",
        "{{ regexFindAll \"(a{1,100}){1,90}b\" (repeat 100000 \"a\") -1 | len }}",
        "{{ range 100000000 }}{{ end }}",
        "{{ uniq (until 10000) | len }}{{ range 1000 }}{{ $x := uniq (until 1000) }}{{ end }}",
        "{{ printf \"%1000000000.70000f\" 1.0 }}",
        "{{ snakecase (repeat 10000000 \"aA\") | len }}",
        "{{ range $i := until 300 }}{{ $a = dict \"x\" $a }}{{ end }}{{ toYaml $a }}",
    ] {
        let template = format!("{doubled}\nx: {use_of_it}\n");
        let outcome =
            run(&[CHART, ("c/templates/a.yaml", &template), ("d/Chart.yaml", "name: d"), ("d/templates/a.yaml", BAD)]);
        assert_eq!(of(&outcome, "file-not-linted"), ["c/Chart.yaml"], "{use_of_it}");
        assert_eq!(of(&outcome, RULE), ["d/templates/a.yaml"], "{use_of_it}");
    }
}

#[test]
fn a_number_with_many_digits_is_no_failure() {
    let template = format!("{BAD}x: {{{{ printf \"%.70000f %.70000e %.70000g\" 1.0 1.0 1.0 | len }}}}\n");
    let outcome = run(&[CHART, ("c/templates/a.yaml", &template)]);
    assert_eq!((of(&outcome, RULE).len(), of(&outcome, "file-not-linted").len()), (1, 0));
}

#[test]
fn charts_that_hold_each_other_many_times_are_told() {
    let aliases = |name: &str| (0..100).map(|i| format!("- {{name: {name}, alias: {name}{i}}}\n")).collect::<String>();
    let chart = |name: &str, below: &str| format!("name: {name}\nversion: 1.0.0\ndependencies:\n{}", aliases(below));
    let outcome = run(&[
        ("c/Chart.yaml", &chart("c", "d")),
        ("c/charts/d/Chart.yaml", &chart("d", "e")),
        ("c/charts/d/charts/e/Chart.yaml", &chart("e", "f")),
        ("c/charts/d/charts/e/charts/f/Chart.yaml", "name: f\nversion: 1.0.0\n"),
    ]);
    assert_eq!(of(&outcome, "file-not-linted"), ["c/Chart.yaml"]);
    let itself: String = (0..10).map(|i| format!("- {{name: d{i}, repository: \"file://.\"}}\n")).collect();
    let itself = format!("name: c\nversion: 1.0.0\ndependencies:\n{itself}");
    let outcome = run(&[("c/Chart.yaml", &itself), ("c/templates/a.yaml", BAD)]);
    assert_eq!(of(&outcome, RULE), ["c/templates/a.yaml"]);
}

#[test]
fn a_schema_that_doubles_is_told() {
    let one = |i: usize| {
        let next = format!("{{\"$ref\": \"#/definitions/a{}\"}}", i + 1);
        format!("\"a{i}\": {{\"allOf\": [{next}, {next}]}}")
    };
    let definitions: Vec<String> = (0..40).map(one).collect();
    let schema =
        format!("{{\"definitions\": {{{}, \"a40\": {{}}}}, \"$ref\": \"#/definitions/a0\"}}", definitions.join(", "));
    let outcome = run(&[
        CHART,
        ("c/values.schema.json", &schema),
        ("c/values.yaml", "n: 1\n"),
        ("c/templates/a.yaml", "{{ 1 }}"),
    ]);
    assert_eq!(of(&outcome, "file-not-linted"), ["c/Chart.yaml"]);
}

#[test]
fn kustomizations_that_grow_or_nest_are_told() {
    let deep = ".a".repeat(1000);
    let copies: String = (0..60).map(|i| format!("    - {{op: copy, from: /data, path: /data/a{i}}}\n")).collect();
    let moves = "    - {op: add, path: /b, value: {}}\n    - {op: move, from: /data, path: /b/data}\n    \
                 - {op: move, from: /b, path: /data}\n"
        .repeat(200);
    let patch = |operations: &str| format!("patches:\n- target: {{kind: ConfigMap}}\n  patch: |\n{operations}");
    let replacement = |options: &str, to: &str| {
        format!(
            "- source: {{kind: ConfigMap, fieldPath: data}}\n  targets:\n  - select: {{kind: ConfigMap}}\n    options: \
             {{{options}}}\n    fieldPaths: [\"data{to}\"]\n"
        )
    };
    let many: String = (0..60).map(|i| replacement("create: true", &format!(".a{i}"))).collect();
    let others = (0..100)
        .map(|i| format!("---\n{}", DATA.replace("ConfigMap", "Secret").replace("name: x", &format!("name: x{i}"))));
    let resources = format!("{DATA}{}", others.collect::<String>());
    let fields = format!("commonLabels:\n- path: data{}\n  create: true\n", "/a".repeat(1000));
    for kustomization in [
        format!("replacements:\n{}", replacement("create: true", &deep)),
        format!("replacements:\n{many}"),
        "commonLabels: {a: b}\nconfigurations: [fields.yaml]\n".to_owned(),
        format!("nameSuffix: {}\n", "a".repeat(1 << 20)),
        patch(&copies),
        patch(&moves),
    ] {
        let kustomization = format!("resources: [r.yaml, bad.yaml]\n{kustomization}");
        let files = [
            ("k/kustomization.yaml", kustomization.as_str()),
            ("k/r.yaml", &resources),
            ("k/bad.yaml", BAD),
            ("k/fields.yaml", &fields),
        ];
        let outcome = run(&files);
        assert_eq!(of(&outcome, "file-not-linted"), ["k/kustomization.yaml"], "{kustomization:.200}");
        assert_eq!(of(&outcome, RULE), ["k/bad.yaml"], "its files are linted one by one");
    }
}

#[test]
fn what_a_kustomization_deletes_is_linted_by_itself() {
    let delete =
        "patches:\n- patch: |\n    $patch: delete\n    apiVersion: v1\n    kind: Pod\n    metadata: {name: bad}\n";
    let kustomization = format!("resources: [bad.yaml]\n{delete}");
    let outcome = run(&[("k/kustomization.yaml", &kustomization), ("k/bad.yaml", BAD)]);
    assert_eq!(of(&outcome, RULE), ["k/bad.yaml"]);
    let local = BAD.replace("{name: bad}", "{name: bad, annotations: {config.kubernetes.io/local-config: \"true\"}}");
    let outcome = run(&[("k/kustomization.yaml", "resources: [bad.yaml]\n"), ("k/bad.yaml", &local)]);
    assert_eq!(of(&outcome, RULE), ["k/bad.yaml"]);
}

#[test]
fn projects_that_grow_are_told() {
    let services: String = (1..3000).map(|i| format!("  s{i}: {{extends: s0}}\n")).collect();
    let extends = format!("services:\n  s0: {{image: x, cap: [{}]}}\n{services}", ["a"; 20_000].join(","));
    let variables = format!("services:\n  s:\n    image: x\n    command: \"{}\"\n", "$A".repeat(20_000));
    let dotenv = format!("A={}\n", "x".repeat(20_000));
    for project in [&extends, &variables] {
        let files = [("compose.yaml", project.as_str()), (".env", dotenv.as_str())];
        let outcome = run(&files);
        assert_eq!(of(&outcome, "file-not-linted"), ["compose.yaml"]);
    }
}

#[test]
fn conditions_on_what_is_not_known_are_looked_at_from_both_sides() {
    for template in [
        format!("{{{{ if uuidv4 }}}}\n{BAD}{{{{ end }}}}\n"),
        format!("{{{{ if uuidv4 }}}}\n{{{{ else }}}}\n{BAD}{{{{ end }}}}\n"),
        format!(
            "{{{{ if not (eq uuidv4 \"x\") }}}}\n{{{{ if uuidv4 }}}}{{{{ else }}}}\n{BAD}{{{{ end }}}}{{{{ end }}}}\n"
        ),
        format!("{{{{ if uuidv4 }}}}{{{{ else if now }}}}\n{BAD}{{{{ end }}}}\n"),
        format!("{{{{ range (splitList \"\" (randAlpha 1)) }}}}\n{BAD}---\n{{{{ end }}}}\n"),
        format!("{{{{ with now }}}}\n{BAD}{{{{ end }}}}\n"),
        format!("{{{{ if kindIs \"map\" (fromYaml (randAlpha 3)) }}}}\n{BAD}{{{{ end }}}}\n"),
        format!("{{{{ if hasKey (fromYaml (randAlpha 3)) \"a\" }}}}\n{BAD}{{{{ end }}}}\n"),
        format!("{BAD}{{{{ randAlpha 0 }}}}\n"),
        format!("{BAD}{{{{ osBase \"\" | trimAll \".\" }}}}\n"),
    ] {
        let outcome = run(&[CHART, ("c/templates/a.yaml", &template)]);
        assert_eq!(of(&outcome, RULE), ["c/templates/a.yaml"], "{template}");
    }
}

#[test]
fn a_template_that_nobody_knows_is_told() {
    let template = "{{ include (printf \"x%s\" (randAlpha 0)) . }}\n";
    let helper = format!("{{{{ define \"x\" }}}}{BAD}{{{{ end }}}}");
    let outcome = run(&[CHART, ("c/templates/a.yaml", template), ("c/templates/_h.tpl", &helper)]);
    let told = |(path, why): &(String, String)| path == "c/templates/a.yaml" && why.starts_with("read in part");
    assert!(outcome.skipped.iter().any(told), "{:?}", outcome.skipped);
}

#[test]
fn sets_of_values_beyond_those_that_are_rendered_are_told() {
    let values: Vec<String> = (0..70).map(|i| format!("c/values-a{i:02}.yaml")).collect();
    let mut files = vec![CHART, ("c/values-prod.yaml", "gpus: 2\n"), ("c/templates/a.yaml", BAD)];
    files.extend(values.iter().map(|path| (path.as_str(), "x: 1\n")));
    let outcome = run(&files);
    let told = |(_, note): &(String, String)| note.starts_with("not judged: ") && note.contains("left out");
    assert!(outcome.notes.iter().any(told), "{:?}", outcome.notes);
}

#[test]
fn a_long_list_that_many_images_install_is_told() {
    let packages: String = (0..2000).map(|i| format!("p{i}==1.0\n")).collect();
    let image = |i: usize| (format!("d{i}/Dockerfile"), "FROM x\nRUN pip install -r requirements.txt\n".to_owned());
    let images: Vec<(String, String)> = (0..100).map(image).collect();
    let mut files: Vec<(&str, &str)> = images.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.extend([("requirements.txt", packages.as_str()), ("z/pod.yaml", BAD)]);
    let outcome = run(&files);
    assert!(of(&outcome, "file-not-linted").iter().all(|path| path.ends_with("/Dockerfile")));
    assert!(!of(&outcome, "file-not-linted").is_empty());
    assert_eq!(of(&outcome, RULE), ["z/pod.yaml"]);
}

#[test]
fn requirements_that_include_each_other_are_read_once() {
    let names: Vec<String> = (0..40).map(|i| format!("requirements-{i}.txt")).collect();
    let include: String = names.iter().map(|name| format!("-r {name}\n")).collect();
    let text = format!("{include}torch==1.13.1+cu116\n");
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let outcome = run(&files);
    assert_eq!(of(&outcome, "file-not-linted"), Vec::<String>::new());
    let packages = |file: &std::sync::Arc<gpulint::facts::PackageFile>| file.packages.len();
    assert_eq!(outcome.facts.package_files.iter().map(packages).max(), Some(40));
}

#[test]
fn what_many_services_build_with_arguments_is_told() {
    let service = |i: usize| format!("  s{i}: {{build: {{context: ., args: {{A: '{i}'}}}}}}\n");
    let services: String = (0..40).map(service).collect();
    let lines: String = (0..1500).map(|i| format!("RUN pip install p{i}==$A\n")).collect();
    let outcome = run(&[
        ("compose.yaml", &format!("services:\n{services}")),
        ("Dockerfile", &format!("FROM x\nARG A\n{lines}")),
        ("z/pod.yaml", BAD),
    ]);
    assert!(of(&outcome, "file-not-linted").contains(&"compose.yaml".to_owned()));
    assert_eq!(of(&outcome, RULE), ["z/pod.yaml"]);
}

#[test]
fn a_large_config_map_that_many_containers_take_is_told() {
    let data: String = (0..4000).map(|i| format!("  K{i}: v\n")).collect();
    let container = |i: usize| format!("  - {{name: c{i}, image: x, envFrom: [{{configMapRef: {{name: m}}}}]}}\n");
    let containers: String = (0..200).map(container).collect();
    let outcome = run(&[
        ("map.yaml", &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata:\n{data}")),
        ("pod.yaml", &format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n{containers}")),
        ("z/pod.yaml", BAD),
    ]);
    assert!(of(&outcome, "file-not-linted").contains(&"pod.yaml".to_owned()));
    assert_eq!(of(&outcome, RULE), ["z/pod.yaml"]);
}
