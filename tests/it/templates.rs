//! Manifests in template languages that are not rendered: what is literal is linted, the rest is unknown.

use crate::languages::answer;
use gpulint::discover::kind_of;
use gpulint::facts::Facts;
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;
use gpulint::source::Span;

fn run(files: &[(&str, &str)]) -> Outcome {
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_owned(),
        kind: kind_of(path).expect("a kind"),
        text: (*text).to_owned(),
        repository: 0,
    };
    lint::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), &Ruleset::builtin())
}

/// `path:line: text` of the places at which a rule fires.
fn places(outcome: &Outcome, rule: &str) -> Vec<String> {
    let place = |span: Span| {
        let source = outcome.sources.get(span.source);
        format!("{}:{}: {}", source.path, source.position(span.start).line, source.slice(span))
    };
    outcome.evaluation.findings.iter().filter(|f| f.rule == rule).map(|f| place(f.span)).collect()
}

/// More ranks than GPUs.
const RULE: &str = "tensor-parallel-exceeds-gpus";

const JINJA: &str = "apiVersion: v1
kind: Pod
metadata:
  name: {{ name | lower }}
  labels:
    {{ labels | to_nice_yaml | indent(4) }}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.11.0
    args:
    - --model={{ model }}
{% for flag in flags %}
    - {{ flag }}
{% endfor %}
    - --tensor-parallel-size=4
    resources:
      limits:
        nvidia.com/gpu: 2
{% if large %}
    tty: true
{% endif %}
";

#[test]
fn what_stands_on_a_condition_is_neither_there_nor_missing() {
    let plain = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: a\n    image: x:1\n";
    let limits = "    resources: {limits: {nvidia.com/gpu: 1}}\n";
    for (path, open, otherwise, close) in [
        ("a.yaml.j2", "{% if x %}", "{% else %}", "{% endif %}"),
        ("a.yaml", "    {{- if .Values.x }}", "    {{- else }}", "    {{- end }}"),
        ("a.yaml.tftpl", "%{ if x }", "%{ else }", "%{ endif }"),
    ] {
        let inside = format!("{plain}{open}\n{limits}{close}\n");
        let beside = format!("{plain}{open}\n    tty: true\n{otherwise}\n{limits}{close}\n");
        let items = format!(
            "{plain}{open}\n  - {{name: b, image: 'y:1', resources: {{limits: {{nvidia.com/gpu: 1}}}}}}\n{close}\n"
        );
        for text in [&inside, &beside, &items] {
            for condition in ["workload.gpus > 0", "workload.gpus == 0"] {
                assert_eq!(answer(condition, "workload", &[(path, text)]), "undecided", "{path}: {condition}\n{text}");
            }
        }
        let whole = format!("{}\n{plain}{limits}{}\n", open.trim(), close.trim());
        assert_eq!(answer("workload.gpus == 1", "workload", &[(path, &whole)]), "fires", "{path}");
    }
}

#[test]
fn what_is_literal_in_a_jinja_template_is_linted_where_it_stands() {
    let outcome = run(&[("roles/serve/templates/pod.yaml.j2", JINJA)]);
    assert!(outcome.skipped.is_empty(), "{:?}", outcome.skipped);
    assert_eq!(places(&outcome, RULE), ["roles/serve/templates/pod.yaml.j2:16: 4"]);
    assert!(places(&outcome, "duplicate-key").is_empty());
    let pod = &outcome.facts.workloads[0];
    assert_eq!((pod.gpus.get(), pod.name.get()), (Some(&2), None));
}

#[test]
fn variables_of_envsubst_are_unknown_and_the_rest_is_linted() {
    let pod = "apiVersion: v1
kind: Pod
metadata: {name: ${NAME}, labels: {app: ${NAME}}}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.11.0
    args: [--model, ${MODEL}, --tensor-parallel-size, ${RANKS}]
    resources: {limits: {nvidia.com/gpu: ${GPUS}}}
";
    let outcome = run(&[("pod.yaml", pod), ("other.yaml", &pod.replace("${RANKS}", "4").replace("${GPUS}", "2"))]);
    assert_eq!(places(&outcome, RULE), ["other.yaml:8: 4"]);
    assert_eq!(outcome.facts.workloads[0].gpus.get(), None);
}

#[test]
fn what_an_expression_may_bring_in_is_not_said_to_be_missing() {
    let with = |resources: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n  - name: server\n    image: \
             vllm/vllm-openai:v0.11.0\n    args: [--model, m, --tensor-parallel-size, '4']\n    env:\n    - {{name: X, \
             value: y}}\n{resources}"
        )
    };
    let literal = run(&[("pod.yaml", &with(""))]);
    let open =
        run(&[("pod.yaml.j2", &with("    {{ resources | to_yaml | indent(4) }}\n    imagePullPolicy: Always\n"))]);
    let gpus = |outcome: &Outcome| outcome.facts.workloads[0].gpus.get().copied();
    assert_eq!(gpus(&literal), Some(0));
    assert_eq!(gpus(&open), None);
}

#[test]
fn a_template_that_is_no_yaml_around_its_expressions_is_said_to_be_skipped() {
    let outcome = run(&[("a.yaml.j2", "a: [{% for x in y %}\n{{ x }}: {\n{% endfor %}\n")]);
    assert_eq!(outcome.skipped, [("a.yaml.j2".to_owned(), "Jinja template".to_owned())]);
    assert!(outcome.evaluation.findings.is_empty());
}

const TWO_OF_ONE: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}MARK\nspec:\n  containers:\n  - name: c\n    image: x/y:1\n    \
                          resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}\n";

#[test]
fn comments_of_text_that_parses_hide_nothing() {
    for (mark, before, after) in [
        (" # {{ y }}", "# {{ if x }}\n# {{ else }}\n", "# {{ end }}\n"),
        (" # {#", "", "# #}\n"),
        (" # {% if x %}", "", "# {% endif %}\n"),
        (" # ${A", "", "# }\n"),
    ] {
        let text = format!("{before}{}{after}", TWO_OF_ONE.replace("MARK", mark));
        let outcome = run(&[("pod.yaml", &text)]);
        let rules: Vec<&str> = outcome.evaluation.findings.iter().map(|f| f.rule.as_str()).collect();
        assert!(rules.contains(&"gpu-request-differs-from-limit"), "{text}\n{rules:?}");
    }
}

#[test]
fn a_comment_makes_no_template_of_what_does_not_parse() {
    let outcome = run(&[("compose.yaml", "services:\n  a: {image: x}\n b: [c] # see ${FOO}\n")]);
    let rules: Vec<&str> = outcome.evaluation.findings.iter().map(|f| f.rule.as_str()).collect();
    assert!(rules.contains(&"syntax-error"), "{rules:?} {:?}", outcome.skipped);
}

#[test]
fn a_dockerfile_that_parses_is_read_as_it_stands() {
    let text = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN cat <<E\n{{ if x }}\n{{ else }}\nE\nRUN pip install \
                torch==1.13.1+cu116\nRUN cat <<E\n{{ end }}\nE\n";
    let outcome = run(&[("Dockerfile", text)]);
    let packages = &outcome.facts.package_files;
    assert!(packages.iter().any(|file| file.packages.iter().any(|p| p.name.get().is_some_and(|n| n == "torch"))));
}

#[test]
fn the_other_side_of_conditions_is_said_to_be_left_out() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n{% if x %}\n  nodeName: a\n{% else %}\n  nodeName: b\n{% endif %}\n";
    let outcome = run(&[("pod.yaml.j2", text)]);
    let [(path, note)] = &outcome.notes[..] else { panic!("{:?}", outcome.notes) };
    assert!(path == "pod.yaml.j2" && note.contains("1 condition"), "{path} {note}");
}
