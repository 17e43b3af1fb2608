//! Objects against the schemas of their kinds: what is told, and what is not.

use gpulint::discover::Kind;
use gpulint::facts::Facts;
use gpulint::finding::Finding;
use gpulint::lint::{self, Input};
use gpulint::rules::Ruleset;

const CLASSES: [&str; 5] =
    ["unknown-field", "value-not-allowed", "required-field-missing", "contract-violated", "embedded-text-malformed"];

/// What is told of files by the rules about contracts.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    let findings = findings(files);
    findings.into_iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

fn findings(files: &[(&str, &str)]) -> Vec<Finding> {
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_owned(),
        text: (*text).into(),
        kind: gpulint::discover::kind_of(path).unwrap_or(Kind::Data),
        repository: 0,
    };
    let outcome = lint::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), &Ruleset::builtin());
    outcome.evaluation.findings.into_iter().filter(|finding| CLASSES.contains(&finding.rule.as_str())).collect()
}

fn pod(fields: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: train}}\nspec:\n  {fields}\n  containers:\n    - name: train\n      \
         image: a/b:1\n      resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
    )
}

#[test]
fn a_field_is_told_with_where_it_belongs() {
    let found = told(&[("pod.yaml", &pod("restartpolicy: Never"))]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("there is no field spec.restartpolicy"), "{found:?}");
}

#[test]
fn what_is_not_known_breaks_nothing() {
    assert_eq!(told(&[("pod.yaml", &pod("restartPolicy: ${POLICY}"))]), [""; 0]);
    assert_eq!(told(&[("pod.yaml", &pod("restartPolicy: <policy>"))]), [""; 0]);
    assert_eq!(told(&[("pod.yaml", &pod("nodeName:"))]), [""; 0], "null is as good as nothing");
}

#[test]
fn a_file_that_speaks_of_no_gpu_is_left_alone() {
    let plain = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {prots: [{port: 80}]}\n";
    assert_eq!(told(&[("service.yaml", plain)]), [""; 0]);
}

#[test]
fn the_stated_release_decides() {
    // Since 1.34 containers say when their pod restarts.
    let pod = pod("initContainers: [{name: a, image: 'b:1', restartPolicyRules: []}]");
    assert_eq!(told(&[("pod.yaml", &pod)]), [""; 0], "some release has the field");
    let cluster = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: ml, region: us-east-1, version: \"1.30\"}\n";
    let found = told(&[("pod.yaml", &pod), ("cluster.yaml", cluster)]);
    assert!(found.len() == 1 && found[0].contains("Kubernetes 1.30: "), "{found:?}");
}

#[test]
fn a_kind_that_the_repository_defines_is_its_own() {
    let policy =
        "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: gpu}\nspec: {drivers: {enabled: true}}\n";
    let found = told(&[("policy.yaml", policy)]);
    assert!(found.iter().any(|one| one.contains("there is no field spec.drivers")), "{found:?}");
    let own = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: clusterpolicies.nvidia.com}\n\
               spec: {group: nvidia.com, names: {kind: ClusterPolicy, plural: clusterpolicies}, scope: Cluster, versions: []}\n";
    assert_eq!(told(&[("policy.yaml", policy), ("crd.yaml", own)]), [""; 0]);
}

#[test]
fn a_patch_states_a_part() {
    let part = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: serve}\nspec: {template: {spec: {containers: [{name: a, \
                resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
    assert_eq!(told(&[("gpu-patch.yaml", part)]), [""; 0]);
    assert_eq!(told(&[("deployment.yaml", part)]).len(), 1, "the selector is missing");
}

#[test]
fn rules_in_cel_see_defaults_and_what_is_not_known() {
    let pool = |values: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: gpu}}\nspec:\n  limits: {{nvidia.com/gpu: 8}}\n  template:\n    \
             spec:\n      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}\n      requirements:\n        - {values}\n"
        )
    };
    let found = told(&[("pool.yaml", &pool("{key: karpenter.sh/capacity-type, operator: In, values: []}"))]);
    assert!(found.len() == 1 && found[0].starts_with("contract-violated"), "{found:?}");
    assert_eq!(
        told(&[("pool.yaml", &pool("{key: karpenter.sh/capacity-type, operator: In, values: \"${TYPES}\"}"))]),
        [""; 0]
    );
}

#[test]
fn a_text_that_programs_read_is_read_where_it_stands() {
    let map = |name: &str, text: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: gpu, labels: {{gpu: nvidia-h100}}}}\ndata:\n  {name}: |\n    {}\n",
            text.replace('\n', "\n    ")
        )
    };
    let broken = [
        ("ds.json", "{\n  \"zero_optimization\": {\"stage\": 2}\n  \"bf16\": {}\n}", "not valid JSON"),
        ("gpu.yaml", "version: v1\nflags:\n  migStrategy: \"none\n", "not valid YAML"),
        ("config.toml", "[plugins]\nnvidia = {\n", "not valid TOML"),
        ("config.pbtxt", "name: \"gpu\"\ninstance_group { kind: KIND_GPU\n", "not valid text of protocol buffers"),
    ];
    for (name, text, says) in broken {
        let found = told(&[("map.yaml", &map(name, text))]);
        assert!(
            found.len() == 1 && found[0].contains(says) && found[0].contains(&format!("ConfigMap/gpu/{name}")),
            "{found:?}"
        );
        assert_eq!(told(&[("map.yaml", &map("notes.txt", text))]), [""; 0], "nothing says what {name} is");
        let template = text
            .replace("gpu", "{{ gpu }}")
            .replace("nvidia", "${nvidia}")
            .replace("none", "{{ none }}")
            .replace('2', "${STAGE}");
        assert_eq!(told(&[("map.yaml", &map(name, &template))]), [""; 0], "{template}");
    }
    let whole = "{\n  \"zero_optimization\": {\"stage\": 2},\n  \"bf16\": {}\n}";
    assert_eq!(told(&[("map.yaml", &map("ds.json", whole))]), [""; 0]);
}

#[test]
fn the_configuration_of_a_ray_service_is_yaml() {
    let service = |text: &str| {
        format!(
            "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {{name: llm}}\nspec:\n  serveConfigV2: |\n    applications:\n      \
             - name: llm\n        import_path: app:gpu\n{text}  rayClusterConfig:\n    headGroupSpec:\n      rayStartParams: {{}}\n      template:\n        \
             spec: {{containers: [{{name: ray, image: 'rayproject/ray:2.46.0-gpu', resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}\n"
        )
    };
    assert_eq!(told(&[("serve.yaml", &service(""))]), [""; 0]);
    let found = told(&[("serve.yaml", &service("       args: {}\n"))]);
    assert!(found.len() == 1 && found[0].contains("embedded-text-malformed: serveConfigV2.yaml"), "{found:?}");
}

/// A service of Compose that asks for a GPU, with more of its own.
fn service(fields: &str) -> String {
    format!(
        "services:\n  serve:\n    image: a/b:1\n    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, \
         count: 1, capabilities: [gpu]}}]}}}}}}\n{fields}\n"
    )
}

#[test]
fn a_project_of_compose_is_judged_as_it_is_merged_and_told_where_it_is_written() {
    let base = service("    env_file: missing.env\n    user: ${WHO:-1000}");
    let over = "services:\n  serve:\n    ports: !override [\"8000:8000\"]\n    restarts: always\n";
    assert_eq!(told(&[("compose.yaml", &base)]), [""; 0]);
    let found = findings(&[("compose.yaml", &base), ("compose.override.yaml", over)]);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert!(finding.message.contains("there is no field services.serve.restarts"), "{found:?}");
    assert_eq!(over.get(finding.span.range()), Some("restarts"));
}

#[test]
fn what_compose_makes_of_a_variable_is_text_and_what_the_place_takes() {
    for silent in [
        "hostname: ${N:-1}",
        "scale: \"${N:-2}\"",
        "init: ${INIT:-true}",
        "user: $WHO",
        "mem_limit: ${M}",
        "restart: no",
    ] {
        assert_eq!(told(&[("compose.yaml", &service(&format!("    {silent}")))]), [""; 0], "{silent}");
    }
    let found = told(&[("compose.yaml", &service("    scale: ${N:-many}\n    hostname: 1"))]);
    assert!(found.len() == 1 && found[0].contains("services.serve.hostname is a number (1)"), "{found:?}");
}

#[test]
fn kustomize_takes_names_whatever_their_case_and_no_others() {
    let built = |field: &str| {
        let text = format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [pod.yaml]\nimages: [{{name: nvidia/cuda, newTag: v1}}]\n{field}\n"
        );
        told(&[("kustomization.yaml", &text), ("pod.yaml", &pod("restartPolicy: Never"))])
    };
    assert_eq!(built("nameprefix: x-\npatches: [patch.yaml]"), [""; 0]);
    let found = built("nameprefixes: x-");
    assert!(found.len() == 1 && found[0].contains("there is no field nameprefixes"), "{found:?}");
}

#[test]
fn eksctl_makes_text_of_numbers() {
    let cluster = |field: &str| {
        let text = format!(
            "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {{name: ml, region: us-east-1, version: 1.33}}\n\
             managedNodeGroups: [{{name: gpu, labels: {{nvidia.com/gpu.present: yes}}, instanceType: p5.48xlarge, amiFamily: bottlerocket, {field}}}]\n"
        );
        told(&[("cluster.yaml", &text)])
    };
    assert_eq!(cluster("desiredCapacity: 2"), [""; 0]);
    let found = cluster("desiredcapacities: 2");
    assert!(
        found.len() == 1 && found[0].contains("there is no field managedNodeGroups[0].desiredcapacities"),
        "{found:?}"
    );
    let found = cluster("desiredCapacity: two");
    assert!(found.len() == 1 && found[0].contains("has to be a whole number"), "{found:?}");
}

#[test]
fn what_is_wrong_below_a_field_that_older_releases_do_not_have_is_wrong_in_all() {
    // `infra` is a field since 0.10.
    let task = |infra: &str| {
        let text = format!("resources: {{accelerators: H100:8, infra: {infra}}}\nrun: python train.py\n");
        told(&[("task.yaml", &text)])
    };
    assert_eq!(task("aws/us-east-1"), [""; 0]);
    let found = task("[aws]");
    assert!(found.len() == 1 && found[0].contains("resources.infra is a list"), "{found:?}");
}

#[test]
fn a_rule_that_cannot_be_answered_is_broken() {
    let pool = |requirement: &str| {
        nodes("nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}")
            .replace("{key: karpenter.sh/capacity-type, operator: Exists}", requirement)
    };
    let found =
        told(&[("pool.yaml", &pool("{key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: [many]}"))]);
    assert!(
        found.len() == 1 && found[0].contains("must have a single positive integer value (what is asked"),
        "{found:?}"
    );
    let unknown = pool("{key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: [\"${COUNT}\"]}");
    assert_eq!(told(&[("pool.yaml", &unknown)]), [""; 0]);
}

/// A pool of nodes with GPUs, with some fields of its template.
fn nodes(fields: &str) -> String {
    format!(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: gpu}}\nspec:\n  limits: {{nvidia.com/gpu: 8}}\n  template:\n    spec:\n      \
         requirements: [{{key: karpenter.sh/capacity-type, operator: Exists}}]\n      {fields}\n"
    )
}

/// A route to a server of models, with its rules.
fn route(rules: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: serve, labels: {{nvidia.com/gpu: a}}}}\nspec: {{rules: {rules}}}\n"
    )
}

#[test]
fn what_is_empty_or_null_is_a_value_to_a_definition() {
    let told = |backends: &str| told(&[("route.yaml", &route(&format!("[{{backendRefs: {backends}}}]")))]);
    let found = told("[{name: '', port: 80}]");
    assert!(found.len() == 1 && found[0].contains("backendRefs[0].name has 0 characters"), "{found:?}");
    let found = told("[{name: null, port: 80}]");
    assert!(found.len() == 1 && found[0].contains("backendRefs[0].name is missing"), "{found:?}");
    let found = told("[null]");
    assert!(found.len() == 1 && found[0].contains("backendRefs[0] is null"), "{found:?}");
    assert_eq!(told("null"), [""; 0], "what may be missing is dropped");
}

#[test]
fn a_webhook_may_drop_what_is_empty() {
    let queue = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: gpu}\nspec:\n  cohort: ''\n  resourceGroups:\n    \
                 - coveredResources: [nvidia.com/gpu]\n      flavors: [{name: a, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]\n";
    assert_eq!(told(&[("queue.yaml", queue)]), [""; 0]);
}

#[test]
fn items_of_a_map_differ_in_their_keys() {
    let route = |headers: &str| route(&format!("[{{matches: [{{headers: {headers}}}]}}]"));
    let found = told(&[("route.yaml", &route("[{name: a, value: b}, {name: a, value: c}]"))]);
    assert!(found.len() == 1 && found[0].contains("headers[1] has the same name as"), "{found:?}");
    assert_eq!(told(&[("route.yaml", &route("[{name: a, value: b}, {name: \"${NAME}\", value: b}]"))]), [""; 0]);
}

#[test]
fn items_of_a_set_differ() {
    let route = |names: &str| {
        route(&format!(
            "[{{filters: [{{type: ResponseHeaderModifier, responseHeaderModifier: {{remove: {names}}}}}]}}]"
        ))
    };
    let found = told(&[("route.yaml", &route("[X-Model, X-Key, X-Model, X-Model]"))]);
    assert!(found.len() == 1 && found[0].contains("remove[2] is the same as"), "{found:?}");
    assert_eq!(told(&[("route.yaml", &route("[X-Model, x-model, \"${NAME}\", \"${NAME}\"]"))]), [""; 0]);
}

#[test]
fn items_of_a_pod_that_the_api_server_refuses_differ_in_their_keys() {
    let told = |fields: &str| told(&[("pod.yaml", &pod(fields))]);
    let twice = "{emptyDir: {}, name: cache}";
    let found = told(&format!("volumes: [{twice}, {{emptyDir: {{}}, name: models}}, {twice}]"));
    assert!(found.len() == 1 && found[0].contains("spec.volumes[2] has the same name as spec.volumes[0]"), "{found:?}");
    assert_eq!(told(&format!("volumes: [{twice}, {{$patch: delete, name: cache}}]")), [""; 0], "it removes one");
    // Of these the last one holds, or they are kept as they are.
    assert_eq!(told("imagePullSecrets: [{name: a}, {name: a}]"), [""; 0]);
}

#[test]
fn ports_of_a_service_differ_in_number_and_protocol() {
    let service = |ports: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: serve, labels: {{nvidia.com/gpu: a}}}}\nspec: {{selector: {{app: a}}, ports: {ports}}}\n"
        )
    };
    let found = told(&[("service.yaml", &service("[{name: a, port: 80}, {name: b, port: 80, protocol: TCP}]"))]);
    assert!(found.len() == 1 && found[0].contains("ports[1] has the same port and protocol"), "{found:?}");
    assert_eq!(
        told(&[("service.yaml", &service("[{name: a, port: 80}, {name: b, port: 80, protocol: UDP}]"))]),
        [""; 0]
    );
}

#[test]
fn a_text_has_the_format_of_its_schema() {
    let secret = |token: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: hub, labels: {{nvidia.com/gpu: a}}}}\ndata: {{token: \"{token}\"}}\n"
        )
    };
    let found = told(&[("secret.yaml", &secret("hf_not_encoded"))]);
    assert!(found.len() == 1 && found[0].contains("data.token has to be base64"), "{found:?}");
    for right in ["aGZfYWJj", "aGZfYWJjZA==", "", "${TOKEN}", "<token>"] {
        assert_eq!(told(&[("secret.yaml", &secret(right))]), [""; 0], "{right}");
    }
}

#[test]
fn rules_in_cel_read_addresses_and_names() {
    let wasm = |url: &str| {
        format!(
            "apiVersion: extensions.istio.io/v1alpha1\nkind: WasmPlugin\nmetadata: {{name: a, labels: {{nvidia.com/gpu: a}}}}\nspec: {{url: \"{url}\"}}\n"
        )
    };
    for right in ["oci://ghcr.io/org/filter:v1", "ghcr.io/org/filter:v1", "https://example.com/a.wasm", "${URL}"] {
        assert_eq!(told(&[("plugin.yaml", &wasm(right))]), [""; 0], "{right}");
    }
    let found = told(&[("plugin.yaml", &wasm("ftp://example.com/a.wasm"))]);
    assert!(found.len() == 1 && found[0].starts_with("contract-violated"), "{found:?}");
}

#[test]
fn a_form_sees_defaults() {
    let gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: serve, labels: {nvidia.com/gpu: a}}\nspec:\n  gatewayClassName: a\n  \
                   listeners: [{name: http, port: 80, protocol: HTTP}]\n  addresses: [{value: 10.0.0.1}]\n";
    assert_eq!(told(&[("gateway.yaml", gateway)]), [""; 0], "by default the type is the one of the first form alone");
}
