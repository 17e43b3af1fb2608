//! Charts through a whole run: what is found, where it stands, what is not read.

use gpulint::discover::{charts, kind_in};
use gpulint::facts::Facts;
use gpulint::finding::Finding;
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;
use gpulint::source::Span;

fn run(files: &[(&str, &str)]) -> Outcome {
    let known = charts(files.iter().map(|(path, _)| *path));
    let mut inputs: Vec<Input> = files
        .iter()
        .map(|(path, text)| Input {
            path: (*path).to_owned(),
            kind: kind_in(&known, path).expect("a kind"),
            text: (*text).to_owned(),
            repository: 0,
        })
        .collect();
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    lint::run(inputs, Facts::default(), Vec::new(), &Ruleset::builtin())
}

/// `path:line: text` of a place.
fn place(outcome: &Outcome, span: Span) -> String {
    let source = outcome.sources.get(span.source);
    format!("{}:{}: {}", source.path, source.position(span.start).line, source.slice(span))
}

fn of<'o>(outcome: &'o Outcome, rule: &str) -> Vec<&'o Finding> {
    outcome.evaluation.findings.iter().filter(|f| f.rule == rule).collect()
}

const CHART: (&str, &str) = ("api/Chart.yaml", "apiVersion: v2\nname: api\nversion: 1.0.0\n");
const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: {{ .Release.Name }}}
spec:
  containers:
    - name: server
      image: vllm/vllm-openai:v0.11.0
      args: [--model, m, --tensor-parallel-size, {{ .Values.parallel | quote }}]
      resources:
        limits: {nvidia.com/gpu: {{ .Values.gpus }}}
";

/// More ranks than GPUs.
const RULE: &str = "tensor-parallel-exceeds-gpus";

#[test]
fn a_finding_stands_at_the_value_and_names_the_template() {
    let outcome =
        run(&[CHART, ("api/templates/pod.yaml", POD), ("api/values.yaml", "gpus: 2\nparallel: 4\nother: true\n")]);
    let found = of(&outcome, RULE);
    assert_eq!(found.len(), 1, "{:#?}", outcome.evaluation.findings);
    assert_eq!(place(&outcome, found[0].span), "api/values.yaml:2: 4");
    let related: Vec<String> = found[0].related.iter().map(|label| place(&outcome, label.span)).collect();
    assert!(related.iter().any(|r| r.starts_with("api/templates/pod.yaml:8: ")), "{related:?}");
    assert!(found[0].values.is_empty());
}

#[test]
fn quotes_of_a_helper_do_not_hide_the_value() {
    let helper = "{{ define \"res\" }}limits:\n  nvidia.com/gpu: {{ .gpus | quote }}{{ end }}";
    let pod = POD.replace("limits: {nvidia.com/gpu: {{ .Values.gpus }}}", "{{- include \"res\" .Values | nindent 8 }}");
    let outcome = run(&[
        CHART,
        ("api/templates/_helpers.tpl", helper),
        ("api/templates/pod.yaml", &pod),
        ("api/values.yaml", "gpus: 2\nparallel: 4\n"),
    ]);
    let gpus = &outcome.facts.workloads[0].gpus;
    assert_eq!(gpus.get(), Some(&2));
    assert_eq!(place(&outcome, gpus.span), "api/values.yaml:1: 2");
}

#[test]
fn a_finding_under_several_sets_is_told_once_with_their_names() {
    let outcome = run(&[
        CHART,
        ("api/ci/small-values.yaml", "other: 1\n"),
        ("api/templates/pod.yaml", POD),
        ("api/values-large.yaml", "gpus: 8\n"),
        ("api/values.yaml", "gpus: 2\nparallel: 4\n"),
    ]);
    let found = of(&outcome, RULE);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].values, ["the default values", "api/ci/small-values.yaml"]);
}

#[test]
fn a_template_that_is_wrong_is_one_finding_and_the_others_are_linted() {
    let outcome = run(&[
        CHART,
        ("api/templates/broken.yaml", "a: {{ .Values.gpus.count.of }}\n"),
        ("api/templates/pod.yaml", POD),
        ("api/values.yaml", "gpus: 2\nparallel: 4\n"),
    ]);
    let wrong = of(&outcome, "template-error");
    assert_eq!(wrong.len(), 1);
    assert!(place(&outcome, wrong[0].span).starts_with("api/templates/broken.yaml:1: "));
    assert_eq!(of(&outcome, RULE).len(), 1);
}

#[test]
fn what_a_missing_dependency_defines_is_no_fault_of_the_template() {
    let outcome = run(&[
        ("api/Chart.yaml", "name: api\ndependencies: [{name: common, repository: 'https://x', version: 1.x}]\n"),
        ("api/templates/pod.yaml", POD),
        ("api/templates/remote.yaml", "kind: {{ include \"common.kind\" . }}\na: {{ .Values.common.x.y }}\n"),
        ("api/values.yaml", "gpus: 2\nparallel: 4\n"),
    ]);
    assert!(of(&outcome, "template-error").is_empty());
    assert_eq!(of(&outcome, RULE).len(), 1);
}

#[test]
fn values_that_are_rendered_are_not_read_as_containers_too() {
    let values = "server:\n  image: vllm/vllm-openai:v0.11.0\n  args: [--model, m, --tensor-parallel-size, '4']\n  \
                  resources: {limits: {nvidia.com/gpu: 2}}\n";
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: server\n    image: {{ \
               .Values.server.image }}\n    args: {{ toYaml .Values.server.args | nindent 4 }}\n    resources:\n      {{- toYaml \
               .Values.server.resources | nindent 6 }}\n";
    let alone = run(&[("values.yaml", values)]);
    let rendered = run(&[CHART, ("api/templates/pod.yaml", pod), ("api/values.yaml", values)]);
    assert_eq!(of(&alone, RULE).len(), 1);
    assert_eq!(of(&rendered, RULE).len(), 1);
    assert_eq!(rendered.facts.workloads.len(), 1);
    assert_eq!(place(&rendered, of(&rendered, RULE)[0].span), "api/values.yaml:3: 4");
}

#[test]
fn a_release_of_the_repository_is_a_set_of_values() {
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: prod}\nspec:\n  source:\n    path: \
                       deploy/api\n    helm:\n      valueFiles: [extra.yaml]\n      parameters: [{name: parallel, value: '16'}]\n";
    let outcome = run(&[
        ("apps/prod.yaml", application),
        ("deploy/api/Chart.yaml", "name: api\n"),
        ("deploy/api/extra.yaml", "gpus: 8\n"),
        ("deploy/api/templates/pod.yaml", POD),
        ("deploy/api/values.yaml", "gpus: 4\nparallel: 4\n"),
    ]);
    let found = of(&outcome, RULE);
    assert_eq!(found.len(), 1, "{:#?}", outcome.evaluation.findings);
    assert_eq!(place(&outcome, found[0].span), "apps/prod.yaml:9: '16'");
    assert_eq!(found[0].values, ["the release prod of apps/prod.yaml"]);
    assert!(found[0].message.contains('8'), "{}", found[0].message);
}

#[test]
fn templates_that_nothing_renders_are_said_to_be_skipped() {
    let outcome = run(&[
        ("api/Chart.yaml", "name: api\ndependencies: [{name: b, condition: b.enabled}]\n"),
        ("api/charts/b/Chart.yaml", "name: b\n"),
        ("api/charts/b/templates/x.yaml", "a: 1\n"),
        ("api/templates/empty.yaml", "{{ if .Values.never }}a: 1{{ end }}\n"),
        ("api/values.yaml", "b: {enabled: false}\n"),
    ]);
    let skipped: Vec<&str> = outcome.skipped.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(skipped, ["api/charts/b/templates/x.yaml"]);
}

#[test]
fn a_part_of_a_gpu_that_becomes_none_is_told_at_the_value() {
    let pod = POD.replace(
        "limits: {nvidia.com/gpu: {{ .Values.gpus }}}",
        "limits: {cpu: 1 {{- if gt (int .Values.gpus) 0 }}, nvidia.com/gpu: {{ .Values.gpus }}{{ end }}}",
    );
    let outcome =
        run(&[CHART, ("api/templates/pod.yaml", &pod), ("api/values.yaml", "gpus: 0.5\nparallel: 1\ncpus: 0.5\n")]);
    let found = of(&outcome, "fraction-dropped");
    assert_eq!(found.len(), 1);
    assert_eq!(place(&outcome, found[0].span), "api/values.yaml:1: 0.5");
    assert!(place(&outcome, found[0].related[0].span).starts_with("api/templates/pod.yaml:10: "));
}

#[test]
fn a_kustomization_installs_a_chart_with_values_of_its_own() {
    let kustomization = "helmCharts:\n- name: api\n  valuesFile: extra.yaml\n  valuesInline: {gpus: 2}\n";
    let outcome = run(&[
        ("app/charts/api/Chart.yaml", "name: api\n"),
        ("app/charts/api/templates/pod.yaml", POD),
        ("app/charts/api/values.yaml", "gpus: 4\nparallel: 4\n"),
        ("app/extra.yaml", "gpus: 4\nparallel: 8\n"),
        ("app/kustomization.yaml", kustomization),
    ]);
    let found = of(&outcome, RULE);
    assert_eq!(found.len(), 1, "{:#?}", outcome.evaluation.findings);
    assert_eq!(place(&outcome, found[0].span), "app/extra.yaml:2: 8");
    assert!(found[0].related.iter().any(|label| place(&outcome, label.span) == "app/kustomization.yaml:4: 2"));
    assert_eq!(found[0].values, ["app"]);
    assert!(outcome.skipped.is_empty(), "{:?}", outcome.skipped);
}

#[test]
fn documents_are_parted_where_trimmed_space_glues_them_to_their_separator() {
    let two =
        format!("apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\n---\n{{{{- if true }}}}\n{POD}{{{{- end }}}}\n");
    let glued = two.replace("{{- if true }}\n", "{{- if true -}}\n");
    let outcome = run(&[CHART, ("api/templates/all.yaml", &glued), ("api/values.yaml", "gpus: 2\nparallel: 4\n")]);
    assert_eq!(outcome.facts.services.len(), 1);
    assert_eq!(place(&outcome, of(&outcome, RULE)[0].span), "api/values.yaml:2: 4");
}

#[test]
fn what_no_chart_states_is_told_without_their_values() {
    let outcome = run(&[
        CHART,
        ("api/templates/pod.yaml", POD),
        ("api/values-large.yaml", "gpus: 8\n"),
        ("api/values.yaml", "gpus: 2\nparallel: 2\n"),
        ("image/Dockerfile", "FROM python:3.12\nRUN pip install torch==2.3.0\nCMD [\"python\", \"x.py\"]\n"),
    ]);
    let found = of(&outcome, "torch-vulnerable");
    assert_eq!(found.len(), 1, "{:#?}", outcome.evaluation.findings);
    assert!(found[0].values.is_empty(), "{:?}", found[0].values);
}

#[test]
fn releases_by_flux_and_terraform_are_sets_of_values_too() {
    let flux = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: prod}\nspec:\n  chart: {spec: {chart: \
                ./deploy/api, valuesFiles: [deploy/api/values.yaml, ./env/flux-values.yaml]}}\n  values: {parallel: 16}\n";
    let terraform = "resource \"helm_release\" \"api\" {\n  name = \"test\"\n  chart = \"./deploy/api\"\n  set {\n    name = \
                     \"parallel\"\n    value = 32\n  }\n}\n";
    let outcome = run(&[
        ("deploy/api/Chart.yaml", "name: api\n"),
        ("deploy/api/templates/pod.yaml", POD),
        ("deploy/api/values.yaml", "gpus: 4\nparallel: 4\n"),
        ("env/flux-values.yaml", "gpus: 2\nparallel: 2\n"),
        ("flux.yaml", flux),
        ("main.tf", terraform),
    ]);
    let mut places: Vec<String> = of(&outcome, RULE).iter().map(|found| place(&outcome, found.span)).collect();
    places.sort();
    assert_eq!(places, ["flux.yaml:6: 16", "main.tf:6: 32"]);
    let flux =
        of(&outcome, RULE).into_iter().find(|found| place(&outcome, found.span).starts_with("flux")).expect("one");
    assert!(flux.message.contains('2'), "{}", flux.message);
}

const API: [(&str, &str); 3] = [
    ("deploy/api/Chart.yaml", "name: api\n"),
    ("deploy/api/templates/pod.yaml", POD),
    ("deploy/api/values.yaml", "gpus: 4\nparallel: 4\n"),
];

/// Places at which the rule fires on the chart and further files, each with the names of values.
fn with_api(files: &[(&str, &str)]) -> (Vec<String>, Outcome) {
    let outcome = run(&[&API, files].concat());
    let mut places: Vec<String> = of(&outcome, RULE).iter().map(|found| place(&outcome, found.span)).collect();
    places.sort();
    (places, outcome)
}

#[test]
fn every_way_to_state_values_of_a_helmfile_is_a_set_of_values() {
    let helmfile = |release: &str| {
        format!("releases:\n- name: prod\n  chart: ../deploy/api\n  {}\n", release.replace('\n', "\n  "))
    };
    let far = ("helmfile.d/prod/big.yaml", "parallel: 8\n");
    for (release, expected) in [
        ("values: [{parallel: 16}]", "helmfile.d/api.yaml:4: 16"),
        ("valuesTemplate: [{parallel: 16}]", "helmfile.d/api.yaml:4: 16"),
        ("values: [prod/big.yaml]", "helmfile.d/prod/big.yaml:1: 8"),
        ("values: [prod/big.yaml, {parallel: 16}]", "helmfile.d/api.yaml:4: 16"),
        ("set: [{name: parallel, value: 16}]", "helmfile.d/api.yaml:4: 16"),
        ("setString: [{name: parallel, value: '16'}]", "helmfile.d/api.yaml:4: '16'"),
        ("installed: '{{ .Values.on }}'\nvalues: [{parallel: 16}]", "helmfile.d/api.yaml:5: 16"),
    ] {
        let (places, outcome) = with_api(&[("helmfile.d/api.yaml", &helmfile(release)), far]);
        assert_eq!(places, [expected], "{release}");
        assert_eq!(of(&outcome, RULE)[0].values, ["the release prod of helmfile.d/api.yaml"]);
    }
    // In a template, too, and beside the chart.
    let template =
        "releases:\n- name: {{ .Environment.Name }}\n  chart: ./\n  values: [{parallel: 16, gpus: {{ .Values.n }}}]\n";
    let (places, _) =
        with_api(&[("deploy/api/helmfile.yaml.gotmpl", &template.replace(", gpus: {{ .Values.n }}", ""))]);
    assert_eq!(places, ["deploy/api/helmfile.yaml.gotmpl:4: 16"]);
    assert!(with_api(&[("deploy/api/helmfile.yaml.gotmpl", template)]).0.is_empty(), "the number of GPUs is unknown");
    for silent in ["installed: false\nvalues: [{parallel: 16}]", "condition: api.on\nvalues: [{parallel: 16}]"] {
        let off = format!("environments: {{default: {{values: [{{api: {{on: false}}}}]}}}}\n{}", helmfile(silent));
        let (places, outcome) = with_api(&[("helmfile.d/api.yaml", &off)]);
        assert!(places.is_empty() && outcome.notes.is_empty(), "{silent}");
    }
}

#[test]
fn what_a_helmfile_leaves_to_its_environment_is_taken_from_each_or_said_to_be_unknown() {
    let named = |path: &str| {
        format!(
            "environments: {{test: {{}}, prod: {{}}}}\n---\ntemplates:\n  common: {{chart: ./deploy/api}}\nreleases:\n- name: api\n  \
             inherit: [{{template: common}}]\n  values: ['{path}']\n"
        )
    };
    let values = [("env/prod.yaml", "parallel: 32\n"), ("env/test.yaml", "parallel: 8\n")];
    let helmfile = named("env/{{ .Environment.Name }}.yaml");
    let (places, _) = with_api(&[&values[..], &[("helmfile.yaml", &helmfile)]].concat());
    assert_eq!(places, ["env/prod.yaml:1: 32", "env/test.yaml:1: 8"]);
    for (path, why) in [("env/{{ .Values.x }}.yaml", "an expression names its values"), ("env/x.yaml", "env/x.yaml")] {
        let (places, outcome) = with_api(&[&values[..], &[("helmfile.yaml", &named(path))]].concat());
        assert!(places.is_empty());
        let note = &outcome.notes[0];
        assert_eq!(note.0, "deploy/api/Chart.yaml");
        assert!(note.1.contains("not judged: as the release api of helmfile.yaml installs it"), "{}", note.1);
        assert!(note.1.contains(why), "{}", note.1);
    }
}

#[test]
fn skaffold_and_sets_of_applications_install_charts_too() {
    let skaffold = "apiVersion: skaffold/v4beta11\nkind: Config\ndeploy:\n  helm:\n    releases:\n    - name: dev\n      chartPath: \
                    deploy/api\n      valuesFiles: [dev.yaml]\n      setValues: {parallel: 8}\n";
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all}\nspec:\n  template:\n    metadata: {name: '{{name}}'}\n    \
               spec: {source: {path: deploy/api, helm: {valuesObject: {parallel: 16}}}}\n";
    let (places, _) = with_api(&[("apps/set.yaml", set), ("dev.yaml", "gpus: 2\n"), ("skaffold.yaml", skaffold)]);
    assert_eq!(places, ["apps/set.yaml:7: 16", "skaffold.yaml:9: 8"]);
    // Run from the top of the repository.
    let skaffold = skaffold.replace("dev.yaml", "./dev/values.yaml").replace("      setValues: {parallel: 8}\n", "");
    let (places, _) = with_api(&[("dev/skaffold.yaml", &skaffold), ("dev/values.yaml", "parallel: 8\n")]);
    assert_eq!(places, ["dev/values.yaml:1: 8"]);
}

/// Values that each kind of refusal wants: `fail`, `required`, the schema.
const REFUSALS: &[(&str, &str, &str)] = &[
    (
        "api/templates/check.yaml",
        "{{ if not .Values.model }}{{ fail \"model is needed\" }}{{ end }}",
        "model is needed",
    ),
    ("api/templates/check.yaml", "# {{ required \"model is needed\" .Values.model }}", "model is needed"),
    ("api/values.schema.json", "{\"type\": \"object\", \"required\": [\"model\"]}", "values.schema.json"),
];

#[test]
fn what_cannot_be_installed_is_not_judged() {
    for (path, refusal, _) in REFUSALS {
        let outcome = run(&[
            CHART,
            ("api/templates/pod.yaml", POD),
            (path, refusal),
            ("api/values-bare.yaml", "parallel: 64\n"),
            ("api/values-prod.yaml", "model: m\nparallel: 16\n"),
            ("api/values.yaml", "gpus: 2\nparallel: 4\n"),
        ]);
        let found = of(&outcome, RULE);
        assert_eq!(found.len(), 1, "{refusal}: {:#?}", outcome.evaluation.findings);
        assert_eq!(place(&outcome, found[0].span), "api/values-prod.yaml:2: 16", "{refusal}");
        assert_eq!(found[0].values, ["api/values-prod.yaml"]);
        assert!(outcome.skipped.is_empty(), "{:?}", outcome.skipped);
    }
}

#[test]
fn a_chart_that_no_values_install_is_judged_as_if_it_took_them() {
    for (path, refusal, why) in REFUSALS {
        let outcome = run(&[
            CHART,
            ("api/templates/pod.yaml", POD),
            (path, refusal),
            ("api/values.yaml", "gpus: 2\nparallel: 4\n"),
        ]);
        let [found] = of(&outcome, RULE)[..] else { panic!("{refusal}: {:?}", outcome.evaluation.findings) };
        assert_eq!(found.values, ["the default values, if the chart took them"], "{refusal}");
        let [(chart, note)] = &outcome.notes[..] else { panic!("{:?}", outcome.notes) };
        assert!(chart == "api/Chart.yaml" && note.starts_with("judged as if ") && note.contains(why), "{note}");
    }
}

#[test]
fn both_sides_of_an_operator_that_may_be_there_are_looked_at() {
    let pod = |gpus: &str| POD.replace("{{ .Values.gpus }}", gpus);
    let template = format!(
        "{{{{ if .Capabilities.APIVersions.Has \"keda.sh/v1alpha1\" }}}}\n{}{{{{ else }}}}\n{}{{{{ end }}}}\n",
        pod("1"),
        pod("8")
    );
    let outcome = run(&[CHART, ("api/templates/pod.yaml", &template), ("api/values.yaml", "parallel: 4\n")]);
    let found = of(&outcome, RULE);
    assert_eq!(found.len(), 1, "{:#?}", outcome.evaluation.findings);
    assert_eq!(found[0].values, ["the default values where keda.sh/v1alpha1 is served"]);
    let note = "judged with and without what operators serve: keda.sh/v1alpha1".to_owned();
    assert_eq!(outcome.notes, [("api/Chart.yaml".to_owned(), note)]);
    // What is so either way is told once, without a name.
    let outcome = run(&[CHART, ("api/templates/pod.yaml", &template), ("api/values.yaml", "parallel: 16\n")]);
    assert!(of(&outcome, RULE).iter().any(|found| found.values.is_empty()));
    // Which versions of Kubernetes' own a cluster serves is not known either.
    let own = template.replace("keda.sh/v1alpha1", "batch/v7");
    let outcome = run(&[CHART, ("api/templates/pod.yaml", &own), ("api/values.yaml", "parallel: 4\n")]);
    let [found] = of(&outcome, RULE)[..] else { panic!("{:#?}", outcome.evaluation.findings) };
    assert_eq!(found.values, ["the default values where what is not known turns out otherwise"]);
}

/// Helpers as `helm create` and common libraries write them.
const HELPERS: (&str, &str) = (
    "api/templates/_helpers.tpl",
    "{{- define \"api.fullname\" -}}
{{- printf \"%s-%s\" .Release.Name (default .Chart.Name .Values.nameOverride) | trunc 63 | trimSuffix \"-\" -}}
{{- end }}
{{- define \"api.image\" -}}
{{- printf \"%s/%s:%s\" .Values.image.registry .Values.image.repository (.Values.image.tag | toString) -}}
{{- end }}
{{- define \"api.parts\" -}}
{{ .Values.image.registry }}/{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}
{{- define \"api.port\" -}}http{{- end }}
{{- define \"api.labels\" -}}
app: {{ include \"api.fullname\" . }}
tier: gpu
{{- end }}
",
);

const IMAGES: &str =
    "image:\n  registry: docker.io\n  repository: vllm/vllm-openai\n  tag: v0.11.0\nnameOverride: ''\n";

fn chart(name: &str, image: &str) -> Outcome {
    let deployment = format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels:
    {{{{- include \"api.labels\" . | nindent 4 }}}}
spec:
  template:
    spec:
      containers:
        - name: server
          image: {image}
          args: [--model, m, --tensor-parallel-size, '4']
          ports: [{{name: {{{{ include \"api.port\" . }}}}, containerPort: 8000}}]
          resources: {{limits: {{nvidia.com/gpu: 2}}}}
"
    );
    run(&[CHART, HELPERS, ("api/templates/deployment.yaml", &deployment), ("api/values.yaml", IMAGES)])
}

#[test]
fn what_a_helper_or_several_values_compose_stands_where_the_document_uses_it() {
    let names = [
        "{{ include \"api.fullname\" . }}",
        "{{ template \"api.fullname\" . }}",
        "{{ include \"api.fullname\" . | lower | trimSuffix \"-\" }}",
        "{{ include \"api.fullname\" . }}-server",
        "{{ printf \"%s-%s\" (include \"api.fullname\" .) \"server\" }}",
        "{{ .Release.Name }}-{{ .Chart.Name }}",
        "\"{{ .Release.Name }}-{{ .Chart.Name }}\"",
    ];
    let images = [
        "{{ include \"api.image\" . }}",
        "{{ include \"api.image\" . | quote }}",
        "\"{{ include \"api.parts\" . }}\"",
        "{{ .Values.image.registry }}/{{ .Values.image.repository }}:{{ .Values.image.tag }}",
        "\"{{ .Values.image.registry }}/{{ .Values.image.repository }}:{{ .Values.image.tag }}\"",
        "{{ printf \"%s/%s:%s\" .Values.image.registry .Values.image.repository .Values.image.tag }}",
    ];
    for (name, image) in names.into_iter().cycle().zip(images).chain(names.into_iter().zip(images.into_iter().cycle()))
    {
        let outcome = chart(name, image);
        let workload = &outcome.facts.workloads[0];
        let used = image_of(&outcome);
        // The whole stands on the line of the document.
        for (span, written) in [(workload.name.span, name), (used.span, image)] {
            let at = place(&outcome, span);
            let (line, text) = at.rsplit_once(": ").map_or((at.as_str(), ""), |(line, text)| (line, text));
            assert!(line.starts_with("api/templates/deployment.yaml:"), "{written}: {at}");
            assert!(written.contains(text) && text.len() > 8, "{written}: {at}");
        }
        // A part that one value states stands at the value.
        assert_eq!(place(&outcome, used.tag.span), "api/values.yaml:4: v0.11.0", "{image}");
        assert_eq!(used.tag.get().map(String::as_str), Some("v0.11.0"));
    }
}

fn image_of(outcome: &Outcome) -> &gpulint::facts::Image {
    &outcome.facts.workloads[0].pods[0].containers[0].image
}

#[test]
fn no_place_is_a_piece_of_a_helper() {
    let outcome = chart("{{ include \"api.fullname\" . }}", "{{ include \"api.image\" . }}");
    let findings = &outcome.evaluation.findings;
    assert!(findings.len() > 2, "{findings:#?}");
    let places = findings.iter().flat_map(|f| std::iter::once(f.span).chain(f.related.iter().map(|l| l.span)));
    let labels =
        outcome.facts.workloads[0].object.as_ref().map(|raw| raw.view().path("metadata.labels")).expect("labels");
    let labels = labels.entries().into_iter().map(|(_, value)| value.place());
    for span in places.chain(labels) {
        let source = outcome.sources.get(span.source);
        let whole = source.text.get(span.range()).unwrap_or_default();
        let before = source.text[..span.start as usize].rsplit('\n').next().unwrap_or_default();
        assert!(!whole.trim().is_empty(), "{}", place(&outcome, span));
        // In a helper only what a line of its own states: a whole value or key, no piece of an expression.
        let inside = before.rfind("{{").is_some_and(|open| !before[open..].contains("}}"));
        let first = before.trim_end().ends_with("{{") || before.trim_end().ends_with("{{-");
        assert!(!source.path.ends_with(".tpl") || !inside || first, "{}", place(&outcome, span));
    }
}

/// An autoscaler beside the chart.
#[test]
fn a_plain_file_may_be_about_what_a_chart_runs() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec:\n  replicas: {{ .Values.replicas }}\n  \
                      template:\n    spec:\n      containers:\n        - name: c\n          image: example/api:1\n          \
                      resources: {limits: {nvidia.com/gpu: 1}}\n";
    let autoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: api}\nspec: {scaleTargetRef: \
                      {kind: Deployment, name: api}, minReplicas: 1, maxReplicas: 3}\n";
    let outcome = run(&[
        ("k8s/api/Chart.yaml", CHART.1),
        ("k8s/api/templates/deployment.yaml", deployment),
        ("k8s/api/values.yaml", "replicas: 2\n"),
        ("k8s/hpa.yaml", autoscaler),
    ]);
    let found = of(&outcome, "replicas-with-autoscaler");
    assert_eq!(found.iter().map(|f| place(&outcome, f.span)).collect::<Vec<_>>(), ["k8s/api/values.yaml:1: 2"]);
}

/// The driver that a chart of a registry is told to install, under the chart's own values and under each other set: the
/// version, or `None` where the chart is installed without one.
fn drivers(files: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    let outcome = run(files);
    let own = std::iter::once((String::new(), &outcome.facts));
    let forms = own.chain(outcome.forms.iter().map(|(name, facts)| (name.clone(), facts)));
    let driver = |values: &gpulint::parse::Raw| values.view().path("driver.version").string().get().cloned();
    let of = |facts: &Facts| -> Vec<Option<String>> {
        facts.releases.iter().map(|release| release.values.as_ref().and_then(driver)).collect()
    };
    forms.flat_map(|(name, facts)| of(facts).into_iter().map(move |driver| (name.clone(), driver))).collect()
}

#[test]
fn a_chart_of_a_registry_is_installed_where_values_switch_it_on() {
    let chart = |switch: &str| {
        format!(
            "name: gpus\ndependencies:\n- {{name: gpu-operator, alias: op, version: v25.3.0, repository: 'https://x', {switch}}}\n"
        )
    };
    let prod = "op: {driver: {version: 570.124.06}, enabled: true}\ntags: {gpu: true}\n";
    let values = |on: bool| format!("op: {{enabled: {on}, driver: {{version: 550.54.15}}}}\ntags: {{gpu: {on}}}\n");
    let older = (String::new(), Some("550.54.15".to_owned()));
    let newer = ("gpus/values-prod.yaml".to_owned(), Some("570.124.06".to_owned()));
    for switch in ["condition: op.enabled", "tags: [gpu]"] {
        let chart = chart(switch);
        let with = |values: &str| {
            drivers(&[("gpus/Chart.yaml", &chart), ("gpus/values-prod.yaml", prod), ("gpus/values.yaml", values)])
        };
        assert_eq!(with(&values(false)), std::slice::from_ref(&newer), "{switch}");
        assert_eq!(with(&values(true)), [older.clone(), newer.clone()], "{switch}");
    }
    // Below a chart that is here, with values of the topmost.
    let nested = drivers(&[
        ("all/Chart.yaml", "name: all\n"),
        ("all/charts/gpus/Chart.yaml", &chart("condition: op.enabled")),
        ("all/charts/gpus/values.yaml", &values(false)),
        ("all/values.yaml", "gpus: {op: {enabled: true}}\n"),
    ]);
    assert_eq!(nested, [older]);
}

/// A manifest with more ranks than GPUs.
fn manifest() -> String {
    POD.replace("{{ .Release.Name }}", "api")
        .replace("{{ .Values.parallel | quote }}", "'4'")
        .replace("{{ .Values.gpus }}", "2")
}

#[test]
fn a_manifest_that_no_chart_renders_is_linted_by_itself() {
    let (manifest, library) = (manifest(), format!("{}type: library\n", CHART.1));
    let cases: &[&[(&str, &str)]] = &[
        &[(CHART.0, &library), ("api/templates/pod.yaml", &manifest)],
        &[CHART, ("api/.helmignore", "templates/pod.yaml\n"), ("api/templates/pod.yaml", &manifest)],
        &[CHART, ("api/templates/_pod.yaml", &manifest)],
    ];
    for files in cases {
        let outcome = run(files);
        assert_eq!(of(&outcome, RULE).len(), 1, "{files:?}");
        assert!(outcome.skipped.is_empty(), "{:?}", outcome.skipped);
    }
}

#[test]
fn a_chart_holds_what_stands_below_it_and_ignores_what_its_own_file_says() {
    let manifest = manifest();
    let whole = format!("{{{{ if true }}}}\n{manifest}{{{{ end }}}}\n");
    let below = ("api/charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n");
    let cases: &[&[(&str, &str)]] = &[
        &[CHART, ("api/templates/Chart.yaml", &manifest)],
        &[CHART, ("api/.helmignore", "templates/[!x].yaml\ntemplates/{a,p}.yaml\n"), ("api/templates/p.yaml", &whole)],
        // Helm looks at the file of the chart that it loads, and at none in an archive.
        &[CHART, below, ("api/charts/b/.helmignore", "templates\n"), ("api/charts/b/templates/p.yaml", &whole)],
        &[CHART, below, ("api/.helmignore", "charts/b\n"), ("api/charts/b/templates/p.yaml", &whole)],
        &[
            CHART,
            ("api/charts/b.tgz/Chart.yaml", below.1),
            ("api/charts/b.tgz/.helmignore", "templates\n"),
            ("api/charts/b.tgz/templates/.p.yaml", &whole),
        ],
    ];
    for files in cases {
        assert_eq!(of(&run(files), RULE).len(), 1, "{files:?}");
    }
}

#[test]
fn what_is_wrong_in_an_archive_is_told_where_the_repository_brings_it_along() {
    let manifest = manifest();
    let listed =
        format!("{}dependencies:\n  - name: b\n    version: 1.0.0\n    repository: https://example.com\n", CHART.1);
    let packed = ("api/charts/b-1.0.0.tgz/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n");
    for (own, place_told) in [(CHART.1, "api/Chart.yaml:2: api"), (&listed, "api/Chart.yaml:5: b")] {
        let outcome = run(&[(CHART.0, own), packed, ("api/charts/b-1.0.0.tgz/templates/p.yaml", &manifest)]);
        let places: Vec<String> = of(&outcome, RULE).iter().map(|found| place(&outcome, found.span)).collect();
        assert_eq!(places, [place_told]);
    }
}

#[test]
fn a_component_that_nothing_includes_is_built_and_one_that_needs_others_is_read_file_by_file() {
    let manifest = manifest();
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [pod.yaml]\n";
    let patched = format!("{component}patches: [{{patch: \"{{kind: Deployment, metadata: {{name: other}}}}\"}}]\n");
    for kustomization in [component, &patched] {
        let outcome = run(&[("a/kustomization.yaml", kustomization), ("a/pod.yaml", &manifest)]);
        assert_eq!(of(&outcome, RULE).len(), 1);
        assert!(of(&outcome, "kustomization-error").is_empty());
    }
}

/// A chart with one Deployment, of whose pod something is written by a template.
fn pod_with(spec: &str, container: &str, values: &str) -> Outcome {
    let template = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  selector: {{matchLabels: {{app: a}}}}\n  \
         template:\n    metadata: {{labels: {{app: a}}}}\n    spec:\n{spec}      containers:\n        - name: a\n          \
         image: a:1\n{container}          resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
    );
    run(&[CHART, ("api/templates/a.yaml", &template), ("api/values.yaml", values)])
}

/// What is told of branches that are off.
fn optional(outcome: &Outcome) -> Vec<String> {
    let told = outcome.evaluation.findings.iter().filter(|f| f.message.contains("where "));
    told.map(|f| format!("{} {}", place(outcome, f.span), f.message)).collect()
}

#[test]
fn a_branch_that_the_values_leave_off_is_judged_and_names_what_turns_it_on() {
    let class = "      {{- if .Values.class -}}\n      runtimeClassName: {{ .Values.class }}\n      {{- end }}\n";
    let found = optional(&pod_with(class, "", "class: ''\n"));
    assert!(found.len() == 1 && found[0].contains("where class is set, the template renders to"), "{found:?}");

    let selector = "          {{- with .Values.nodes }}\n          nodeSelector:\n            {{- toYaml . | nindent 12 }}\n          \
                    {{- end }}\n";
    let found = optional(&pod_with("", selector, "nodes: {}\n"));
    assert!(found.len() == 1 && found[0].starts_with("api/templates/a.yaml:13: nodeSelector"), "{found:?}");
    assert!(found[0].ends_with("where nodes is set"), "{found:?}");

    let item = "          args:\n            - \"4096\"\n            {{- range .Values.models }}\n            {{- if .mode -}}\n            \
                - --tokenizer-mode\n            {{- end }}\n            {{- end }}\n";
    let found = optional(&pod_with("", item, "models: []\n"));
    assert!(found.len() == 1 && found[0].contains("where models[].mode is set"), "{found:?}");
}

#[test]
fn what_a_value_may_be_is_nobodys_fault() {
    let any = "          env:\n            - {name: A, value: b}\n            {{- if .Values.text }}\n            {{- .Values.text | nindent 12 }}\n            \
               {{- end }}\n            {{- if .Values.unset }}\n            {{- toYaml .Values.unset | nindent 12 }}\n            {{- end }}\n          \
               {{- with .Values.map }}\n          {{- toYaml . | nindent 10 }}\n          {{- end }}\n";
    let found = optional(&pod_with("", any, "text: ''\nmap: {}\n"));
    assert!(found.is_empty(), "{found:?}");
    let refused = "      {{- if .Values.mode }}\n      {{- fail \"no such mode\" }}\n      {{- end }}\n";
    let found = optional(&pod_with(refused, "", "mode: ''\n"));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_mapping_that_stands_as_go_prints_it_is_told() {
    let text = "          # {{ .Values.manager }}\n          workingDir: {{ .Values.manager }}\n";
    let outcome = pod_with("", text, "manager: {image: x}\n");
    let found = of(&outcome, "chart-mapping-printed");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(place(&outcome, found[0].span), "api/templates/a.yaml:13: {{ .Values.manager }}");
}

#[test]
fn a_published_chart_is_judged_as_it_is_installed_here() {
    let db = "name: api\nversion: 1.0.0\nhome: https://api.example\ndependencies: [{name: db, version: 1.0.0, condition: db.enabled}]\n";
    let values = "gpus: 4\nparallel: 8\ndb: {enabled: true}\n";
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: api}\nspec:\n  source:\n    path: deploy/api\n    \
                       helm:\n      valuesObject: {parallel: 4, db: {enabled: false}}\n";
    let wrong = POD.replace(".Values.gpus", "1").replace(".Values.parallel", "16");
    let places = |chart: &str, root: &[(&str, &str)]| {
        let files = [
            ("deploy/api/Chart.yaml", chart),
            ("deploy/api/charts/db/Chart.yaml", "name: db\nversion: 1.0.0\n"),
            ("deploy/api/charts/db/templates/pod.yaml", &wrong),
            ("deploy/api/templates/pod.yaml", POD),
            ("deploy/api/values.yaml", values),
        ];
        let outcome = run(&[&files[..], root].concat());
        of(&outcome, RULE).iter().map(|found| place(&outcome, found.span)).collect::<Vec<_>>()
    };
    let alone = places(db, &[]);
    assert_eq!(alone.len(), 2, "{alone:?}");
    assert_eq!(places(db, &[("apps/api.yaml", application)]), [""; 0]);
    // What is written here is judged with its own values, too.
    assert_eq!(places(&db.replace("home: https://api.example\n", ""), &[("apps/api.yaml", application)]), alone);
    // An application that a chart makes.
    let made = application.replace("4, db", "{{ .Values.parallel }}, db");
    let root = |parallel: &'static str| {
        places(
            db,
            &[
                ("root/Chart.yaml", "name: root\nversion: 1.0.0\n"),
                ("root/templates/api.yaml", &made),
                ("root/values.yaml", parallel),
            ],
        )
    };
    assert_eq!(root("parallel: 4\n"), [""; 0]);
    assert_eq!(root("parallel: 16\n"), ["root/values.yaml:1: 16"]);
}
