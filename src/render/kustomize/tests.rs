//! Builds of small kustomizations. What is expected is what `kustomize build` 5.7 prints.

use super::{Built, File, Files, build};
use crate::parse::scalar::{Scalar, resolve};
use crate::parse::{Dialect, Node, Shape, Tree, yaml};
use crate::source::SourceId;
use std::sync::Arc;

/// Builds the kustomization in `a`.
fn of(files: &[(&str, &str)]) -> Built {
    let tree = |(i, (path, text)): (usize, &(&str, &str))| {
        path.ends_with(".yaml").then(|| Arc::new(yaml::parse(SourceId(i as u32), text, Dialect::Kubernetes)))
    };
    let trees: Vec<Option<Arc<Tree>>> = files.iter().enumerate().map(tree).collect();
    let all = files.iter().zip(&trees).enumerate();
    let all =
        all.map(|(i, ((path, text), tree))| (*path, File { source: SourceId(i as u32), text, tree: tree.as_ref() }));
    build(&Files::new(all), "a").expect("a kustomization that can be built")
}

/// Its documents in flow style, then what could not be read.
fn built(files: &[(&str, &str)]) -> Vec<String> {
    let built = of(files);
    built.tree.roots().map(shown).chain(built.unread.into_iter().map(|problem| problem.message)).collect()
}

fn shown(node: Node<'_>) -> String {
    match node.kind() {
        Shape::Map(_) => {
            let entry = |(key, value): (Node<'_>, _)| format!("{}: {}", key.text().unwrap_or_default(), shown(value));
            format!("{{{}}}", node.entries().into_iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Shape::Seq(_) => format!("[{}]", node.items().map(shown).collect::<Vec<_>>().join(", ")),
        Shape::Scalar { text, plain } => match resolve(text, Dialect::Kubernetes) {
            Scalar::Str(text) => text.to_owned(),
            _ if plain => text.to_owned(),
            _ => format!("'{text}'"),
        },
        Shape::Unknown(_) => "unknown".to_owned(),
        Shape::Null => "null".to_owned(),
    }
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";

#[test]
fn generated_objects_are_named_by_the_hash_of_their_data() {
    let documents = built(&[
        ("a/kustomization.yaml", "configMapGenerator:\n- {name: a, literals: [x=1]}\n- {name: c, envs: [p.env]}\n"),
        ("a/p.env", "# a comment\n\nA=b"),
    ]);
    let kind = "{apiVersion: v1, kind: ConfigMap, metadata:";
    assert_eq!(
        documents,
        [
            format!("{kind} {{name: a-hmg6f82fh6}}, data: {{x: '1'}}}}"),
            format!("{kind} {{name: c-b9t2424hkf}}, data: {{A: b}}}}")
        ]
    );
}

#[test]
fn a_file_that_is_not_here_leaves_its_value_and_the_hash_unknown() {
    let documents = built(&[("a/kustomization.yaml", "configMapGenerator: [{name: m, files: [key=../logo.png]}]\n")]);
    assert_eq!(
        documents,
        [
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {key: unknown}}",
            "`../logo.png` is not among the files of this run"
        ]
    );
}

#[test]
fn merged_data_get_a_hash_only_where_both_sides_want_one() {
    let base = "generatorOptions: {disableNameSuffixHash: true}
configMapGenerator: [{name: m, literals: [x=1, y=2]}]
";
    let overlay = "resources: [../b]
namePrefix: dev-
configMapGenerator: [{name: m, behavior: merge, literals: [y=3]}]
";
    assert_eq!(
        built(&[("a/kustomization.yaml", overlay), ("b/kustomization.yaml", base)]),
        ["{apiVersion: v1, kind: ConfigMap, metadata: {name: dev-m}, data: {x: '1', y: '3'}}"]
    );
}

#[test]
fn overlays_rename_move_label_and_count_and_references_follow() {
    let objects = "apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  template:
    spec:
      containers: [{name: c, image: \"i:1\", envFrom: [{configMapRef: {name: m}}]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
";
    let overlay = "resources: [../base]
namespace: ns
nameSuffix: -x
images: [{name: i, newName: j, newTag: \"2\"}]
replicas: [{name: d, count: 3}]
";
    let documents = built(&[
        ("a/kustomization.yaml", overlay),
        ("base/kustomization.yaml", "resources: [all.yaml]\nlabels: [{pairs: {app: x}, includeSelectors: true}]\n"),
        ("base/all.yaml", objects),
    ]);
    let metadata = |name| format!("metadata: {{name: {name}, labels: {{app: x}}, namespace: ns}}");
    let spec = "{template: {spec: {containers: [{name: c, image: j:2, envFrom: [{configMapRef: {name: m-x}}]}]}, \
                metadata: {labels: {app: x}}}, selector: {matchLabels: {app: x}}, replicas: 3}";
    assert_eq!(
        documents,
        [
            format!("{{apiVersion: apps/v1, kind: Deployment, {}, spec: {spec}}}", metadata("d-x")),
            format!("{{apiVersion: v1, kind: ConfigMap, {}}}", metadata("m-x"))
        ]
    );
}

#[test]
fn patches_merge_lists_by_their_keys_and_stand_where_they_are_written() {
    let pod = "apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {}}
spec:
  hostname: h
  nodeName:
  containers:
  - {name: c, args: [a], env: [{name: A, value: x}, {name: B, value: y}]}
  - {name: gone}
";
    let merge = "apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - {name: c, env: [{name: B, value: z}, {name: C, value: w}]}
  - {name: gone, $patch: delete}
";
    let kustomization = "resources: [pod.yaml]
patches:
- path: p.yaml
- target: {kind: Pod}
  patch: |-
    - {op: replace, path: /metadata/name, value: q}
    - {op: add, path: /spec/containers/0/args/-, value: --gpus=2}
    - {op: remove, path: /spec/hostname}
";
    let files = [("a/kustomization.yaml", kustomization), ("a/pod.yaml", pod), ("a/p.yaml", merge)];
    assert_eq!(
        built(&files),
        ["{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {containers: [{name: c, args: [a, --gpus=2], \
          env: [{name: B, value: z}, {name: C, value: w}, {name: A, value: x}]}]}}"]
    );
    let tree = of(&files).tree;
    let root = tree.roots().next().expect("a document");
    let container = root.get("spec").and_then(|spec| spec.get("containers")).and_then(|c| c.items().next());
    let container = container.expect("a container");
    let place = |key: &str, at: usize| {
        let span = container.get(key).and_then(|list| list.items().nth(at)).expect("an item").span();
        let (path, text) = files[span.source.0 as usize];
        (path, &text[span.range()])
    };
    assert_eq!(place("args", 0), ("a/pod.yaml", "a"));
    assert_eq!(place("args", 1), ("a/kustomization.yaml", "--gpus=2"));
    assert_eq!(place("env", 1), ("a/p.yaml", "{name: C, value: w}"));
}

#[test]
fn a_replaced_text_stays_text_and_a_replaced_number_a_number() {
    let job = "apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  completions: 32
  parallelism: 1
  template: {spec: {containers: [{name: c, args: [--count, HERE]}]}}
";
    let kustomization = "resources: [job.yaml]
replacements:
- source: {kind: Job, fieldPath: spec.completions}
  targets:
  - select: {kind: Job}
    fieldPaths: [spec.parallelism, 'spec.template.spec.containers.[name=c].args.1']
";
    let documents = built(&[("a/kustomization.yaml", kustomization), ("a/job.yaml", job)]);
    assert!(documents[0].contains("parallelism: 32, template"), "{documents:?}");
    assert!(documents[0].contains("args: [--count, '32']"), "{documents:?}");
}

#[test]
fn transformers_of_kustomize_are_run_and_others_are_told() {
    let prefix = "apiVersion: builtin
kind: PrefixTransformer
metadata: {name: x}
prefix: p-
fieldSpecs: [{path: metadata/name}]
---
apiVersion: example.com/v1
kind: Surprise
metadata: {name: y}
";
    let documents = built(&[
        ("a/kustomization.yaml", "resources: [pod.yaml]\ntransformers: [t.yaml]\n"),
        ("a/pod.yaml", POD),
        ("a/t.yaml", prefix),
    ]);
    assert_eq!(documents, ["{apiVersion: v1, kind: Pod, metadata: {name: p-p}}", "`Surprise` is not run"]);
}

#[test]
fn kustomizations_that_include_each_other_are_an_error() {
    let files = [("a/kustomization.yaml", "resources: [../b]\n"), ("b/kustomization.yaml", "resources: [../a]\n")];
    let trees = files.map(|(_, text)| Arc::new(yaml::parse(SourceId(0), text, Dialect::Kubernetes)));
    let all = files
        .iter()
        .zip(&trees)
        .map(|((path, text), tree)| (*path, File { source: SourceId(0), text, tree: Some(tree) }));
    let problem = build(&Files::new(all), "a").expect_err("a problem");
    assert_eq!((problem.problem.message.as_str(), problem.gave_up), ("this kustomization includes itself", false));
}

#[test]
fn transformers_of_kustomize_may_stand_in_a_file_a_text_or_a_kustomization() {
    let transformer =
        |kind: &str, body: &str| format!("apiVersion: builtin\nkind: {kind}\nmetadata: {{name: x}}\n{body}\n");
    let replacement = "replacements:\n- source: {kind: Pod, fieldPath: metadata.name}\n  targets:\n  - select: {kind: Pod}\n    \
                       fieldPaths: [metadata.labels.a]\n    options: {create: true}";
    let cases = [
        (
            transformer(
                "PatchJson6902Transformer",
                "target: {kind: Pod, name: p}\njsonOp: '[{\"op\": \"add\", \"path\": \"/metadata/labels\", \"value\": {\"a\": \"p\"}}]'",
            ),
            "{name: p, labels: {a: p}}",
        ),
        (transformer("ReplacementTransformer", replacement), "{name: p, labels: {a: p}}"),
        (
            transformer("ValueAddTransformer", "value: z\ntargets: [{fieldPath: metadata/labels/b}]"),
            "{name: p, labels: {b: z}}",
        ),
    ];
    for (text, metadata) in &cases {
        let expected = format!("{{apiVersion: v1, kind: Pod, metadata: {metadata}}}");
        let pod = ("a/p.yaml", POD);
        let indented = text.replace('\n', "\n  ");
        let inline = format!("resources: [p.yaml]\ntransformers:\n- |-\n  {indented}");
        assert_eq!(built(&[("a/kustomization.yaml", &inline), pod]), [expected.as_str()]);
        let listed = ("a/kustomization.yaml", "resources: [p.yaml]\ntransformers: [t]\n");
        let directory = ("a/t/kustomization.yaml", "resources: [t.yaml]\n");
        assert_eq!(built(&[listed, pod, directory, ("a/t/t.yaml", text)]), [expected.as_str()]);
    }
    let listed = ("a/kustomization.yaml", "resources: [p.yaml]\ngenerators: [g.yaml]\ntransformers: [q.yaml]\n");
    let generator = transformer("ConfigMapGenerator", "literals: [x=1]");
    let other = of(&[listed, ("a/p.yaml", POD), ("a/g.yaml", &generator), ("a/q.yaml", POD)]);
    let shown: Vec<String> = other.tree.roots().map(shown).collect();
    assert_eq!(shown[1], "{apiVersion: v1, kind: ConfigMap, metadata: {name: x-hmg6f82fh6}, data: {x: '1'}}");
    assert_eq!(other.unread[0].message, "`Pod` is not run");
    assert!(!other.used.contains(&SourceId(3)), "it is linted by itself");
}

#[test]
fn a_patch_that_changes_nothing_of_its_kind_is_not_part_of_the_build() {
    let kustomization =
        |target: &str| format!("resources: [p.yaml]\npatches: [{{path: b.yaml, target: {{{target}}}}}]\n");
    for (target, applied) in [("kind: Nope", false), ("kind: Pod", true)] {
        let kustomization = kustomization(target);
        let built = of(&[("a/kustomization.yaml", &kustomization), ("a/p.yaml", POD), ("a/b.yaml", POD)]);
        let patch: Vec<bool> = built
            .included
            .iter()
            .filter(|(span, _)| span.source == SourceId(2))
            .map(|(_, is_built)| *is_built)
            .collect();
        assert_eq!(patch, [applied], "{target}");
    }
}
