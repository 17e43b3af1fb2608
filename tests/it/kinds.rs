//! Kinds of operators and of clouds: rules fire on what they state, and stay silent on what is right.

use super::cli::{directory, gpulint, out};
use serde_json::Value;

/// The rules that fire on a manifest.
fn fired(manifest: &str) -> Vec<String> {
    fired_in(&[("a.yaml", manifest)])
}

/// The rules that fire on files.
fn fired_in(files: &[(&str, &str)]) -> Vec<String> {
    let root = directory(files);
    let output = gpulint(root.path(), &["check", "--format", "json", "--exit-zero"]);
    let report: Value = serde_json::from_str(&out(&output)).expect("JSON");
    let findings = report["diagnostics"].as_array().expect("a list").iter();
    findings.map(|finding| finding["rule"].as_str().expect("a rule").to_owned()).collect()
}

/// Whether a rule fires on the first manifest and not on the second.
fn tells(rule: &str, guilty: &str, innocent: &str) {
    let fires = |manifest: &str| fired(manifest).iter().any(|id| id == rule);
    assert!(fires(guilty), "{rule} is silent on\n{guilty}\n{:?}", fired(guilty));
    assert!(!fires(innocent), "{rule} fires on\n{innocent}");
}

#[test]
fn arguments_of_a_model_of_kubeai_go_to_its_engine() {
    let model = |share: &str| {
        format!(
            "apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {{name: chat}}\nspec:\n  url: hf://Qwen/Qwen3-8B\n  \
             engine: VLLM\n  args: [--gpu-memory-utilization={share}]\n  resourceProfile: nvidia-gpu-l4:1\n"
        )
    };
    tells("memory-utilization-out-of-range", &model("95"), &model("0.95"));
}

#[test]
fn pods_of_a_compute_class_land_on_its_machines_and_no_others_do() {
    let class = "apiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: small}\nspec:\n  priorities:\n    \
                 - {machineType: g2-standard-12, gpu: {type: nvidia-l4, count: 1}}\n---\n";
    let pod = |selector: &str, gpus: u32| {
        format!(
            "{class}apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  nodeSelector: {{{selector}}}\n  \
             containers: [{{name: a, image: \"registry.example/a:1\", resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]\n"
        )
    };
    let selects = "cloud.google.com/compute-class: small";
    tells("gpus-exceed-node", &pod(selects, 4), &pod(selects, 1));
    tells("gpus-exceed-node", &pod(selects, 4), &pod("", 4));
}

#[test]
fn resources_that_operators_call_otherwise_are_those_of_a_pod() {
    let workers = |gpus: u32| {
        format!(
            "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {{name: a}}\nspec:\n  services:\n    \
             Worker:\n      replicas: 1\n      resources: {{limits: {{gpu: \"{gpus}\"}}}}\n      extraPodSpec:\n        \
             nodeSelector: {{node.kubernetes.io/instance-type: p5.48xlarge}}\n        mainContainer: {{image: \"a:1\"}}\n"
        )
    };
    tells("gpus-exceed-node", &workers(16), &workers(8));
    let executors = |gpus: u32| {
        format!(
            "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {{name: a}}\nspec:\n  image: a:1\n  \
             executor:\n    instances: 2\n    gpu: {{name: nvidia.com/gpu, quantity: {gpus}}}\n    \
             nodeSelector: {{node.kubernetes.io/instance-type: g6.2xlarge}}\n"
        )
    };
    tells("gpus-exceed-node", &executors(2), &executors(1));
}

#[test]
fn a_release_of_app_template_is_judged_as_the_objects_that_it_makes() {
    let release = |gpus: u32| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: chat}}\nspec:\n  values:\n    \
             defaultPodOptions: {{nodeSelector: {{node.kubernetes.io/instance-type: g6.2xlarge}}}}\n    controllers:\n      \
             chat:\n        type: cronjob\n        containers:\n          app:\n            image: {{repository: a/b, tag: 1.0.0}}\n            \
             resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}\n"
        )
    };
    tells("gpus-exceed-node", &release(2), &release(1));
    assert!(!fired(&release(1)).contains(&"job-restart-policy".to_owned()), "the chart sets what a job needs");
}

#[test]
fn options_that_a_controller_of_app_template_states_for_all_are_those_of_each_container() {
    let release = |strategy: &str, own: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: chat}}\nspec:\n  values:\n    \
             controllers:\n      chat:\n        defaultContainerOptionsStrategy: {strategy}\n        defaultContainerOptions: {{resources: \
             {{limits: {{nvidia.com/gpu: 2}}}}}}\n        containers:\n          app:\n            image: {{repository: \
             vllm/vllm-openai, tag: v0.9.1}}\n            args: [--model=a/b, --tensor-parallel-size=4]\n            {own}\n"
        )
    };
    let (memory, four) = ("resources: {limits: {memory: 64Gi}}", "resources: {limits: {nvidia.com/gpu: 4}}");
    tells("tensor-parallel-exceeds-gpus", &release("overwrite", ""), &release("overwrite", four));
    tells("tensor-parallel-exceeds-gpus", &release("merge", memory), &release("merge", four));
    tells("tensor-parallel-exceeds-gpus", &release("merge", memory), &release("overwrite", memory));
}

#[test]
fn what_an_app_template_would_multiply_is_said_and_not_read() {
    let containers: String =
        (0..1500).map(|n| format!("          c{n}: {{image: {{repository: a/b, tag: \"1\"}}}}\n")).collect();
    let volumes: String = (0..1500).map(|n| format!("      v{n}: {{type: emptyDir}}\n")).collect();
    let release = format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: chat}}\nspec:\n  values:\n    controllers:\n      \
         chat:\n        containers:\n{containers}    persistence:\n{volumes}"
    );
    assert_eq!(fired(&release), ["file-not-linted"]);
}

#[test]
fn arguments_of_a_runtime_and_gpus_of_the_service_that_names_it_are_of_one_workload() {
    let together = |parallel: u32, runtime: &str| {
        format!(
            "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {{name: vllm}}\nspec:\n  containers:\n  \
             - {{name: kserve-container, image: \"vllm/vllm-openai:v0.9.2\", args: [--model=/mnt/models, \
             --tensor-parallel-size={parallel}]}}\n---\n\
             apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: chat}}\nspec:\n  predictor:\n    \
             model: {{modelFormat: {{name: vLLM}}, runtime: {runtime}, storageUri: \"hf://Qwen/Qwen3-32B\", \
             resources: {{limits: {{nvidia.com/gpu: 2}}}}}}\n    nodeSelector: {{nvidia.com/gpu.product: NVIDIA-L4}}\n"
        )
    };
    tells("tensor-parallel-exceeds-gpus", &together(4, "vllm"), &together(2, "vllm"));
    tells("tensor-parallel-exceeds-gpus", &together(4, "vllm"), &together(4, "of-another-team"));
    tells("model-does-not-fit", &together(2, "vllm"), &together(2, "of-another-team"));
}

#[test]
fn a_patch_of_what_is_not_here_is_judged_by_what_it_says() {
    let fires = |share: &str, rule: &str| {
        let patch = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: server}}\nspec:\n  template:\n    spec:\n      \
             containers:\n      - name: server\n        command: [vllm, serve, a/b, --gpu-memory-utilization={share}]\n        \
             resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
        );
        let kustomization = "resources: ['https://github.com/example/serving//base']\npatches: [{path: patch.yaml, target: \
                             {kind: Deployment, name: server}}]\n";
        let files = [("kustomization.yaml", kustomization), ("patch.yaml", patch.as_str())];
        fired_in(&files).iter().any(|id| id == rule)
    };
    assert!(fires("95", "memory-utilization-out-of-range"));
    assert!(!fires("0.95", "memory-utilization-out-of-range"));
    // How it is updated is not said.
    assert!(!fires("0.95", "gpu-rollout-needs-surge"));
}

#[test]
fn replicas_of_a_nim_share_the_claim_of_their_cache() {
    let service = |mode: &str| {
        format!(
            "apiVersion: apps.nvidia.com/v1alpha1\nkind: NIMCache\nmetadata: {{name: llama}}\nspec:\n  source: {{ngc: \
             {{modelPuller: \"nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3.3\"}}}}\n  storage: {{pvc: {{size: 50Gi, \
             volumeAccessMode: {mode}}}}}\n---\napiVersion: apps.nvidia.com/v1alpha1\nkind: NIMService\n\
             metadata: {{name: llama}}\nspec:\n  image: {{repository: nvcr.io/nim/meta/llama-3.1-8b-instruct, tag: 1.3.3}}\n  \
             storage: {{nimCache: {{name: llama}}}}\n  replicas: 3\n  resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
        )
    };
    tells("replicas-share-exclusive-volume", &service("ReadWriteOncePod"), &service("ReadWriteMany"));
}

#[test]
fn a_job_lands_where_the_only_flavor_of_its_queue_says() {
    let job = |gpus: u32, queue: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: l4}}\nspec: {{nodeLabels: \
             {{node.kubernetes.io/instance-type: g6.2xlarge}}}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\n\
             metadata: {{name: all}}\nspec:\n  resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: l4, \
             resources: [{{name: nvidia.com/gpu, nominalQuota: 16}}]}}]}}]\n---\napiVersion: kueue.x-k8s.io/v1beta1\n\
             kind: LocalQueue\nmetadata: {{name: team}}\nspec: {{clusterQueue: all}}\n---\napiVersion: batch/v1\nkind: Job\n\
             metadata: {{name: a, labels: {{kueue.x-k8s.io/queue-name: {queue}}}}}\nspec: {{template: {{spec: {{restartPolicy: Never, \
             containers: [{{name: a, image: \"registry.example/a:1\", resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}}}}}\n"
        )
    };
    tells("gpus-exceed-node", &job(4, "team"), &job(1, "team"));
    tells("gpus-exceed-node", &job(4, "team"), &job(4, "of-others"));
}

#[test]
fn machines_of_a_family_and_size_are_those_of_the_pool() {
    let pod = |gpus: u32, size: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: gpu}}\nspec: {{template: {{metadata: {{labels: {{pool: \
             gpu}}}}, spec: {{requirements: [{{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6]}}, {{key: \
             karpenter.k8s.aws/instance-size, operator: In, values: [{size}]}}]}}}}}}\n---\napiVersion: v1\nkind: Pod\n\
             metadata: {{name: a}}\nspec: {{nodeSelector: {{pool: gpu}}, containers: [{{name: a, image: \"registry.example/a:1\", \
             resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}\n"
        )
    };
    tells("gpus-exceed-node", &pod(4, "2xlarge"), &pod(4, "12xlarge"));
    tells("gpus-exceed-node", &pod(4, "2xlarge"), &pod(1, "2xlarge"));
}

#[test]
fn sharing_is_told_wherever_the_device_plugin_is_installed_from() {
    let installed = |replicas: u32| {
        format!(
            "releases:\n- name: plugin\n  chart: nvdp/nvidia-device-plugin\n  version: 0.17.4\n  values:\n  - config:\n      map:\n        \
             default: |\n          version: v1\n          sharing: {{timeSlicing: {{resources: [{{name: nvidia.com/gpu, \
             replicas: {replicas}}}]}}}}\n"
        )
    };
    let fires = |replicas: u32| {
        let file = installed(replicas);
        fired_in(&[("helmfile.yaml", file.as_str())]).iter().any(|id| id == "value-not-allowed")
    };
    assert!(fires(1));
    assert!(!fires(4));
}

/// A server behind a Service and a route, written as further documents.
fn served(service: &str, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: llm, namespace: staging}}\nspec: {{selector: {{matchLabels: {{app: llm}}}}, \
         template: {{metadata: {{labels: {{app: llm}}}}, spec: {{containers: [{{name: s, image: \"vllm/vllm-openai:v0.11.0\", args: \
         [--model=Qwen/Qwen3-8B], ports: [{{containerPort: 8000}}], resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}\n---\n\
         apiVersion: v1\nkind: Service\n{service}\n---\n{more}\n"
    )
}

#[test]
fn who_reaches_a_service_is_told_by_what_its_limits_say() {
    let service = |annotations: &str, spec: &str| {
        let head = format!("metadata: {{name: llm, namespace: staging, annotations: {{{annotations}}}}}");
        served(
            &format!("{head}\nspec: {{type: LoadBalancer, selector: {{app: llm}}, ports: [{{port: 8000}}], {spec}}}"),
            "a: 1",
        )
    };
    let exposed =
        |annotations: &str, spec: &str| fired(&service(annotations, spec)).contains(&"model-server-exposed".to_owned());
    let internal = "service.beta.kubernetes.io/aws-load-balancer-internal";
    let facing = "service.beta.kubernetes.io/aws-load-balancer-scheme: internet-facing";
    assert!(exposed(facing, "") && exposed(facing, "loadBalancerSourceRanges: []"));
    assert!(exposed(facing, "loadBalancerSourceRanges: [10.0.0.0/8, 0.0.0.0/0]"));
    assert!(!exposed("", ""), "nothing says what makes it");
    assert!(exposed("", "loadBalancerIP: 34.118.20.7") && !exposed("", "loadBalancerIP: 10.0.0.7"));
    assert!(exposed(&format!("{internal}: \"false\""), ""));
    assert!(!exposed(facing, "loadBalancerSourceRanges: [10.0.0.0/8]"));
    assert!(!exposed(&format!("{internal}: 0.0.0.0/0"), "") && !exposed(&format!("{internal}: \"true\""), ""));
    assert!(!exposed("", "loadBalancerClass: tailscale"), "what a class does is not stated");
}

#[test]
fn a_route_leads_to_the_namespace_that_it_names() {
    let route = |namespace: &str| {
        let service = "metadata: {name: llm, namespace: staging}\nspec: {selector: {app: llm}, ports: [{port: 8000}]}";
        let route = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: llm, namespace: staging}}\nspec: {{parentRefs: \
             [{{name: public}}], rules: [{{backendRefs: [{{name: llm, port: 8000{namespace}}}]}}]}}"
        );
        served(service, &route)
    };
    tells("server-image-with-high-advisories", &route(""), &route(", namespace: prod"));
    tells("server-image-with-high-advisories", &route(", namespace: staging"), &route(", namespace: prod"));
}

#[test]
fn a_route_of_openshift_leads_outside() {
    let exposed = |route: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: llm}}\nspec: {{selector: {{matchLabels: {{app: llm}}}}, template: \
             {{metadata: {{labels: {{app: llm}}}}, spec: {{containers: [{{name: s, image: \"vllm/vllm-openai:v0.11.0\", args: \
             [--model=Qwen/Qwen3-8B], ports: [{{containerPort: 8000}}], resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}\n---\n\
             apiVersion: v1\nkind: Service\nmetadata: {{name: llm}}\nspec: {{selector: {{app: llm}}, ports: [{{port: 8000}}]}}\n---\n\
             apiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {{name: llm}}\nspec: {{to: {{kind: Service, name: {route}}}}}\n"
        )
    };
    tells("server-image-with-high-advisories", &exposed("llm"), &exposed("other"));
}
