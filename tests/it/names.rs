//! Names that lead nowhere: what is told of them, and what only looks so.

use crate::languages::run;
use gpulint::discover::{charts, kind_in};
use gpulint::facts::Facts;
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;

/// What is told of the names in files: the end of the rule's id, the text of the place, what is said.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    of(run(files, &Ruleset::builtin()))
}

/// The same, where some files are charts.
fn told_of_charts(files: &[(&str, &str)]) -> Vec<String> {
    let known = charts(files.iter().map(|(path, _)| *path));
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_owned(),
        kind: kind_in(&known, path).expect("a kind"),
        text: (*text).to_owned(),
        repository: 0,
    };
    of(lint::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), &Ruleset::builtin()))
}

fn of(outcome: Outcome) -> Vec<String> {
    let names = outcome.evaluation.findings.iter().filter(|finding| finding.rule.starts_with("name-"));
    let shown = |finding: &gpulint::finding::Finding| {
        let place = outcome.sources.get(finding.span.source).slice(finding.span);
        format!("{} {place}: {}", finding.rule.trim_start_matches("name-"), finding.message)
    };
    names.map(shown).collect()
}

/// A pod that asks for a GPU, with more of its container and of its spec.
fn pod(container: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: llm, labels: {{app: llm}}}}\nspec:\n  containers:\n    - name: server\n      \
         image: vllm/vllm-openai:v0.11.0\n      resources: {{limits: {{nvidia.com/gpu: 1}}}}\n      {container}\n  {spec}\n"
    )
}

fn secret(name: &str, more: &str) -> String {
    format!("---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\n{more}\n")
}

#[test]
fn a_part_of_the_same_object_is_missed() {
    let mounts = "volumeMounts: [{name: data, mountPath: /data}]";
    let found = told(&[("pod.yaml", &pod(mounts, "volumes: [{name: date, emptyDir: {}}]"))]);
    assert_eq!(found, ["not-found data: there is no volume data here: the API server refuses the pod"]);
    let found = told(&[("pod.yaml", &pod("livenessProbe: {httpGet: {path: /health, port: http}}", ""))]);
    assert_eq!(found, ["not-found http: there is no container port http here: the probe fails each time"]);
    let named =
        "livenessProbe: {httpGet: {path: /health, port: http}}\n      ports: [{name: http, containerPort: 8000}]";
    for (container, spec) in [
        (mounts, "volumes: [{name: data, emptyDir: {}}]"),
        (mounts, "volumes: ${VOLUMES}"),
        (mounts, "volumes: [{name: $(NAME), emptyDir: {}}]"),
        ("livenessProbe: {httpGet: {path: /health, port: 8000}}", ""),
        (named, ""),
    ] {
        assert_eq!(told(&[("pod.yaml", &pod(container, spec))]), [""; 0], "{container} {spec}");
    }
    let patch = pod(mounts, "").replace("image: vllm/vllm-openai:v0.11.0", "tty: true");
    assert_eq!(told(&[("pod.yaml", &patch)]), [""; 0], "without an image it is laid over another one");
    let operator = pod(mounts, "").replace("vllm/vllm-openai:v0.11.0", "FILLED BY THE OPERATOR");
    assert_eq!(told(&[("pod.yaml", &operator)]), [""; 0], "what fills it in may add volumes");
    let job = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\nspec:\n  successPolicy: {operator: All, \
               targetReplicatedJobs: [workers]}\n  replicatedJobs: [{name: worker, template: {spec: {template: {spec: {containers: \
               [{name: c, image: 'a:1', resources: {limits: {nvidia.com/gpu: 1}}}]}}}}}]\n";
    let found = told(&[("job.yaml", job)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("not-found workers: there is no replicated job workers here"), "{found:?}");
}

#[test]
fn a_key_is_looked_up_in_what_is_deployed_beside() {
    let env = "env: [{name: T, valueFrom: {secretKeyRef: {name: hf, key: token}}}]";
    let told_with = |container: &str, other: &str| told(&[("a.yaml", &format!("{}{other}", pod(container, "")))]);
    let lacks = secret("hf", "stringData: {HF_TOKEN: x}");
    assert_eq!(told_with(env, &lacks), ["not-found token: Secret hf has no key token: the container does not start"]);
    let optional = env.replace("key: token", "key: token, optional: true");
    assert_eq!(told_with(&optional, &lacks), [""; 0]);
    for other in [
        secret("hf", "stringData: {token: x}"),
        secret("hf", "data: {}"),
        secret("hf", "data: ${DATA}"),
        secret("hf", "type: kubernetes.io/service-account-token\ndata: {a: Yg==}"),
        secret("hf, annotations: {reflector.v1.k8s.emberstack.com/reflects: a/b}", "data: {a: Yg==}"),
        secret("hf, namespace: other", "stringData: {token: x}"),
        secret("other", "stringData: {HF_TOKEN: x}"),
        String::new(),
    ] {
        assert_eq!(told_with(env, &other), [""; 0], "{other}");
    }
}

#[test]
fn a_port_is_looked_up_in_the_service_and_in_its_pods() {
    let service = |ports: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: llm}}\nspec: {{selector: {{app: llm}}, ports: [{ports}]}}\n"
        )
    };
    let server = pod("ports: [{name: api, containerPort: 8000}]", "");
    let found = told(&[("a.yaml", &format!("{server}{}", service("{port: 80, targetPort: http}")))]);
    assert_eq!(
        found,
        [
            "not-found http: no container of the pods that this Service selects has a port http: it leads to none of them"
        ]
    );
    assert_eq!(told(&[("a.yaml", &format!("{server}{}", service("{port: 80, targetPort: api}")))]), [""; 0]);
    let ingress = |port: &str| {
        format!(
            "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: llm}}\nspec: {{rules: [{{http: {{paths: \
             [{{path: /, pathType: Prefix, backend: {{service: {{name: llm, port: {{{port}}}}}}}}}]}}}}]}}\n"
        )
    };
    let all = |port: &str| {
        let service = service("{name: web, port: 80, targetPort: api}");
        told(&[("a.yaml", &format!("{server}{service}{}", ingress(port)))])
    };
    assert_eq!(all("number: 8000"), ["not-found 8000: Service llm has no port 8000: the route leads nowhere"]);
    assert_eq!(all("name: http"), ["not-found http: Service llm has no port http: the route leads nowhere"]);
    assert_eq!(all("number: 80"), [""; 0]);
    assert_eq!(all("name: web"), [""; 0]);
}

#[test]
fn a_monitor_scrapes_a_port_of_what_it_selects() {
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: llm, labels: {app: llm}}\nspec: {selector: {app: llm}, \
                   ports: [{name: web, port: 80, targetPort: 8000}]}\n";
    let server = pod("ports: [{name: api, containerPort: 8000}]", "");
    let with = |monitor: &str| {
        let kind = if monitor.contains("podMetrics") { "PodMonitor" } else { "ServiceMonitor" };
        let monitor = format!(
            "---\napiVersion: monitoring.coreos.com/v1\nkind: {kind}\nmetadata: {{name: m}}\nspec: {{{monitor}}}\n"
        );
        told(&[("a.yaml", &format!("{server}{service}{monitor}"))])
    };
    let selector = "selector: {matchLabels: {app: llm}}";
    let found = with(&format!("{selector}, endpoints: [{{port: metrics}}]"));
    assert_eq!(found, ["not-found metrics: no Service that it selects has a port metrics: it scrapes none"]);
    let found = with(&format!("{selector}, podMetricsEndpoints: [{{port: web}}]"));
    assert_eq!(found, ["not-found web: no pod that it selects has a port web: it scrapes none"]);
    for silent in [
        format!("{selector}, endpoints: [{{port: web}}]"),
        format!("{selector}, endpoints: [{{targetPort: 8000}}]"),
        format!("{selector}, namespaceSelector: {{any: true}}, endpoints: [{{port: metrics}}]"),
        "selector: {matchLabels: {app: other}}, endpoints: [{port: metrics}]".to_owned(),
        format!("{selector}, podMetricsEndpoints: [{{port: api}}]"),
    ] {
        assert_eq!(with(&silent), [""; 0], "{silent}");
    }
}

#[test]
fn a_host_in_a_url_is_a_service() {
    let service = |more: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: embeddings}}\nspec: {{selector: {{app: e}}, {more}ports: [{{port: 80}}]}}\n"
        )
    };
    let with = |url: &str, more: &str| {
        let env = format!("env: [{{name: U, value: '{url}'}}]");
        told(&[("a.yaml", &format!("{}{}", pod(&env, ""), service(more)))])
    };
    let told_of_port = ["not-found 8080: Service embeddings has no port 8080: it does not answer there"];
    assert_eq!(with("http://embeddings:8080/v1", ""), told_of_port);
    assert_eq!(
        with("http://embeddings:8080/v1", "clusterIP: None, "),
        [""; 0],
        "the name leads to the pods themselves"
    );
    assert_eq!(with("http://embeddings:80/v1", ""), [""; 0]);
    assert_eq!(with("http://embeddings.example:8080/v1", ""), [""; 0], "a domain of anybody's");
    let found = with("http://embedings:80/v1", "");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("nearly-found embedings: no Service embedings is here, but embeddings"), "{found:?}");
    assert_eq!(with("http://reranker:80/v1", ""), [""; 0], "somebody else makes it");
}

#[test]
fn a_prefix_that_only_one_of_both_got() {
    let base = pod("envFrom: [{configMapRef: {name: settings}}]", "");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {A: b}\n";
    let kustomization = |resources: &str| format!("namePrefix: team-\nresources: [{resources}]\n");
    let files = [
        ("kustomization.yaml", kustomization("pod.yaml, map.yaml")),
        ("pod.yaml", base.clone()),
        ("map.yaml", map.into()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert_eq!(told(&files), [""; 0], "kustomize renames both");
    let chart = [
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n".to_owned()),
        ("c/values.yaml", "gpus: 1\n".to_owned()),
        ("c/templates/pod.yaml", pod("envFrom: [{configMapRef: {name: settings}}]", "")),
        ("c/templates/map.yaml", map.replace("settings", "'{{ .Release.Name }}-settings'")),
    ];
    let files: Vec<(&str, &str)> = chart.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let found = told_of_charts(&files);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("no ConfigMap settings is here, but "), "{found:?}");
    let both = files
        .iter()
        .map(|(path, text)| (*path, text.replace("name: settings", "name: '{{ .Release.Name }}-settings'")));
    let both: Vec<(&str, String)> = both.collect();
    let both: Vec<(&str, &str)> = both.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert_eq!(told_of_charts(&both), [""; 0]);
}

#[test]
fn something_of_another_namespace_is_not_found() {
    let claim = |namespace: &str| {
        format!(
            "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: models{namespace}}}\nspec: {{accessModes: \
             [ReadWriteMany], resources: {{requests: {{storage: 1Gi}}}}}}\n"
        )
    };
    let mounted = pod("", "volumes: [{name: m, persistentVolumeClaim: {claimName: models}}]");
    let here = mounted.replace("{name: llm,", "{name: llm, namespace: serving,");
    let found = told(&[("a.yaml", &format!("{here}{}", claim(", namespace: storage")))]);
    assert_eq!(
        found,
        [
            "nearly-found models: PersistentVolumeClaim models is not in the namespace serving, but in storage: the pod stays Pending"
        ]
    );
    for (pod, claim) in [
        (&here, claim(", namespace: serving")),
        (&here, claim("")),
        (&mounted, claim(", namespace: storage")),
        (&here, format!("{}{}", claim(", namespace: serving"), claim(", namespace: storage"))),
    ] {
        assert_eq!(told(&[("a.yaml", &format!("{pod}{claim}"))]), [""; 0], "{claim}");
    }
}

#[test]
fn what_something_else_names_or_makes_is_not_meant() {
    let volume = |claim: &str| format!("{{name: {claim}, persistentVolumeClaim: {{claimName: {claim}}}}}");
    let claim = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: model-cache}\nspec: {accessModes: [ReadWriteMany], \
                 resources: {requests: {storage: 1Gi}}}\n";
    let both = format!("volumes: [{}, {}]", volume("models-cache"), volume("model-cache"));
    assert_eq!(told(&[("a.yaml", &format!("{}{claim}", pod("", &both)))]), [""; 0], "the other one is used");
    let one = format!("volumes: [{}]", volume("models-cache"));
    assert_eq!(told(&[("a.yaml", &format!("{}{claim}", pod("", &one)))]).len(), 1);
    let made = format!(
        "---\napiVersion: cdi.kubevirt.io/v1beta1\nkind: DataVolume\nmetadata: {{name: models-cache}}\nspec: {{}}\n{claim}"
    );
    assert_eq!(told(&[("a.yaml", &format!("{}{made}", pod("", &one)))]), [""; 0], "an operator makes it");
    assert_eq!(told(&[("a/pod.yaml", &pod("", &one)), ("b/claim.yaml", &claim[4..])]), [""; 0], "elsewhere");
}

#[test]
fn a_project_of_compose_is_looked_at_as_a_whole() {
    let project = |service: &str, rest: &str| {
        format!(
            "services:\n  llm:\n    image: vllm/vllm-openai:v0.11.0\n    gpus: all\n    {service}\n  db:\n    image: postgres:17\n{rest}\n"
        )
    };
    let of = |service: &str, rest: &str| told(&[("compose.yaml", &project(service, rest))]);
    for (service, name) in [
        ("depends_on: [database]", "database"),
        ("depends_on: {database: {condition: service_started}}", "database"),
        ("network_mode: service:database", "database"),
        ("links: ['database:db']", "database"),
        ("volumes: ['models:/models']", "models"),
        ("volumes: ['tools/models:/models']", "tools/models"),
        ("volumes: [{type: volume, source: models, target: /models}]", "models"),
        ("networks: [backend]", "backend"),
        ("secrets: [hf]", "hf"),
    ] {
        let found = of(service, "");
        assert_eq!(found.len(), 1, "{service}: {found:?}");
        assert!(found[0].starts_with(&format!("not-found {name}: the service llm names the ")), "{found:?}");
    }
    for (service, rest) in [
        ("depends_on: [db]", ""),
        ("depends_on: {cache: {condition: service_started, required: false}}", ""),
        ("volumes: ['./models:/models', '/srv:/srv', '~/x:/x', '${DIR}:/y', '/anonymous']", ""),
        ("volumes: ['models:/models']", "volumes: {models: }"),
        ("networks: [default]", ""),
        ("secrets: [hf]", "secrets: {hf: {environment: HF_TOKEN}}"),
        ("depends_on: [cache]", "include: [elsewhere.yaml]"),
    ] {
        assert_eq!(of(service, rest), [""; 0], "{service} {rest}");
    }
    let part = "services:\n  cache: {image: 'redis:8'}\nvolumes: {models: }\n";
    let whole = project("depends_on: [cache]\n    volumes: ['models:/models']", "include: [part.yaml]");
    assert_eq!(told(&[("compose.yaml", &whole), ("part.yaml", part)]), [""; 0], "what it includes is its own");
    let over = "services:\n  llm: {depends_on: [cache]}\n";
    let files = [("compose.yaml", project("", "")), ("compose.gpu.yaml", over.to_owned())];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert_eq!(told(&files), [""; 0], "a file that is laid over another one names its services");
    let part = project("networks: [backend]", "");
    assert_eq!(told(&[("services/compose.llm.yml", &part)]), [""; 0], "-f may name a file that declares the network");
    let near = project("networks: [backend]", "networks: {back-end: }");
    assert_eq!(told(&[("services/compose.llm.yml", &near)]).len(), 1, "a slip is one whatever else is there");
}

#[test]
fn a_path_of_flux_is_a_directory_of_the_repository() {
    let app = |name: &str, path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, labels: {{nvidia.com/gpu: \
             'true'}}}}\nspec: {{path: {path}, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
        )
    };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let of = |path: &str| {
        let all = [app("all", "./flux"), app("a", "./apps/vllm"), app("b", "./apps/ollama"), app("c", path)];
        let (all, old) = (all.join("---\n"), app("old", "./apps/old"));
        told(&[
            ("flux/all.yaml", &all),
            ("archive/old.yaml", &old),
            ("apps/vllm/a.yaml", map),
            ("apps/ollama/a.yaml", map),
            ("apps/comfyui/a.yaml", map),
        ])
    };
    let found = of("./apps/comfy-ui");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("nearly-found ./apps/comfy-ui: there is no ./apps/comfy-ui in this repository"),
        "{found:?}"
    );
    assert_eq!(of("./apps/comfyui"), [""; 0]);
    let alone = app("c", "./apps/comfy-ui");
    assert_eq!(
        told(&[("flux/all.yaml", &alone), ("apps/vllm/a.yaml", map)]),
        [""; 0],
        "the source may be another repository"
    );
}
