//! Trees to measure on: the same number gives the same files, everywhere. Shared by `benches/stages.rs` and
//! `examples/tree.rs`.

/// Paths and texts.
pub type Files = Vec<(String, String)>;

/// Manifests of one application.
pub const MANIFESTS: usize = 8;

/// `@` is the number of the application, `^` that of its team.
const APPLICATION: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: app-@, namespace: team-^, labels: {app: app-@, kueue.x-k8s.io/queue-name: q-@}}
spec:
  replicas: 2
  selector: {matchLabels: {app: app-@}}
  template:
    metadata: {labels: {app: app-@}}
    spec:
      nodeSelector: {team: pool-@}
      tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
      containers:
        - name: main
          image: vllm/vllm-openai:v0.8.5
          args: ["--model", "Qwen/Qwen2.5-7B-Instruct", "--max-model-len", "8192"]
          envFrom: [{configMapRef: {name: cm-@}}]
          ports: [{containerPort: 8000}]
          readinessProbe: {httpGet: {path: /health, port: 8000}}
          resources:
            requests: {cpu: "4", memory: 32Gi, nvidia.com/gpu: 1}
            limits: {memory: 32Gi, nvidia.com/gpu: 1}
---
apiVersion: v1
kind: Service
metadata: {name: app-@, namespace: team-^}
spec: {selector: {app: app-@}, ports: [{port: 80, targetPort: 8000}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: app-@, namespace: team-^}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: app-@}
  minReplicas: 1
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: "vllm:num_requests_waiting"}, target: {type: AverageValue, averageValue: "5"}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: app-@, namespace: team-^}
spec: {minAvailable: 1, selector: {matchLabels: {app: app-@}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: pool-@}
spec:
  template:
    metadata: {labels: {team: pool-@}}
    spec:
      taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g6.xlarge]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: q-@, namespace: team-^}
spec: {clusterQueue: cq-@}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cq-@}
spec:
  resourceGroups:
    - coveredResources: [cpu, memory, nvidia.com/gpu]
      flavors:
        - name: default
          resources:
            - {name: cpu, nominalQuota: 100}
            - {name: memory, nominalQuota: 1000Gi}
            - {name: nvidia.com/gpu, nominalQuota: 8}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cm-@, namespace: team-^}
data: {LOG_LEVEL: info}
"#;

/// What is rendered, built or evaluated before it is linted, and what is no YAML: paths and texts of one part.
const PART: &[(&str, &str)] = &[
    ("charts/c-@/Chart.yaml", "apiVersion: v2\nname: c-@\nversion: 1.0.0\n"),
    (
        "charts/c-@/values.yaml",
        "replicas: 2\nimage: {repository: vllm/vllm-openai, tag: v0.8.5}\nport: 8000\ngpus: 1\nlabels: {team: t-^}\n\
         env: {LOG_LEVEL: info, HF_HOME: /models}\nservice: {enabled: true}\n",
    ),
    (
        "charts/c-@/templates/_helpers.tpl",
        "{{- define \"c.name\" -}}\n{{ printf \"%s-%s\" .Release.Name .Chart.Name | trunc 63 | trimSuffix \"-\" }}\n\
         {{- end }}\n{{- define \"c.labels\" -}}\napp: {{ include \"c.name\" . }}\n{{- range $k, $v := .Values.labels }}\n\
         {{ $k }}: {{ $v | quote }}\n{{- end }}\n{{- end }}\n",
    ),
    (
        "charts/c-@/templates/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ include \"c.name\" . }}\n  labels:\n\
         \x20   {{- include \"c.labels\" . | nindent 4 }}\nspec:\n  replicas: {{ .Values.replicas }}\n  selector:\n\
         \x20   matchLabels: {app: {{ include \"c.name\" . }}}\n  template:\n    metadata:\n      labels:\n\
         \x20       {{- include \"c.labels\" . | nindent 8 }}\n    spec:\n      containers:\n        - name: main\n\
         \x20         image: \"{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}\"\n\
         \x20         args: [\"--model\", \"Qwen/Qwen2.5-7B-Instruct\", \"--port\", \"{{ .Values.port }}\"]\n\
         \x20         env:\n            {{- range $k, $v := .Values.env }}\n            - name: {{ $k }}\n\
         \x20             value: {{ $v | quote }}\n            {{- end }}\n          resources:\n\
         \x20           limits: {nvidia.com/gpu: {{ .Values.gpus }}}\n",
    ),
    (
        "charts/c-@/templates/service.yaml",
        "{{- if .Values.service.enabled }}\napiVersion: v1\nkind: Service\nmetadata: {name: {{ include \"c.name\" . }}}\n\
         spec:\n  selector: {app: {{ include \"c.name\" . }}}\n  ports: [{port: {{ .Values.port }}}]\n{{- end }}\n",
    ),
    (
        "kustomize/k-@/base/kustomization.yaml",
        "resources: [deployment.yaml]\nconfigMapGenerator:\n  - {name: settings, literals: [A=1, B=2]}\n",
    ),
    (
        "kustomize/k-@/base/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: k-@}\nspec:\n  selector: {matchLabels: {app: k-@}}\n\
         \x20 template:\n    metadata: {labels: {app: k-@}}\n    spec:\n      containers:\n        - name: main\n\
         \x20         image: nvcr.io/nvidia/pytorch:24.05-py3\n          envFrom: [{configMapRef: {name: settings}}]\n\
         \x20         resources: {limits: {nvidia.com/gpu: 1}}\n",
    ),
    (
        "kustomize/k-@/prod/kustomization.yaml",
        "resources: [../base]\nnamespace: prod-@\nnamePrefix: prod-\nreplicas: [{name: k-@, count: 3}]\npatches:\n\
         \x20 - patch: |-\n      apiVersion: apps/v1\n      kind: Deployment\n      metadata: {name: k-@}\n      spec:\n\
         \x20       template: {spec: {nodeSelector: {gpu: l4}}}\n",
    ),
    (
        "terraform/t-@/main.tf",
        "module \"gpu\" {\n  source = \"./nodes\"\n  name   = \"gpu-@\"\n  types  = [\"g6.xlarge\", \"g6.2xlarge\"]\n}\n\
         locals {\n  tags = merge({ team = \"t-^\" }, { for k in [\"a\", \"b\"] : k => upper(k) })\n}\n\
         resource \"aws_s3_bucket\" \"models\" {\n  bucket = \"models-@\"\n  tags   = local.tags\n}\n",
    ),
    (
        "terraform/t-@/nodes/main.tf",
        "variable \"name\" {}\nvariable \"types\" {\n  type = list(string)\n}\nresource \"aws_eks_node_group\" \"gpu\" {\n\
         \x20 node_group_name = var.name\n  cluster_name    = \"main\"\n  ami_type        = \"AL2023_x86_64_NVIDIA\"\n\
         \x20 instance_types  = var.types\n  labels          = { pool = format(\"%s-pool\", var.name) }\n\
         \x20 scaling_config {\n    desired_size = 1\n    max_size     = 4\n    min_size     = 0\n  }\n}\n",
    ),
    (
        "images/i-@/Dockerfile",
        "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN apt-get update && apt-get install -y python3-pip\n\
         COPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n\
         FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nCOPY --from=build /usr/local /usr/local\nENV PORT=8000\n\
         CMD [\"python3\", \"-m\", \"vllm.entrypoints.openai.api_server\", \"--model\", \"Qwen/Qwen2.5-7B-Instruct\"]\n",
    ),
    ("images/i-@/requirements.txt", "torch==2.4.0\nvllm==0.6.2\nnumpy>=1.26\ntransformers==4.45.1\n"),
    (
        "images/i-@/pyproject.toml",
        "[project]\nname = \"p-@\"\nversion = \"1.0\"\ndependencies = [\"torch==2.4.0\", \"accelerate>=0.34\"]\n",
    ),
    (
        "jobs/j-@.sh",
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\nexport NCCL_DEBUG=INFO\n\
         if [ -n \"$X\" ]; then PORT=29500; fi\nsrun torchrun --nnodes=2 --nproc-per-node=8 train.py --batch-size 8\n",
    ),
];

fn filled(text: &str, number: usize) -> String {
    text.replace('@', &number.to_string()).replace('^', &(number % 50).to_string())
}

/// One folder of plain manifests: deployments with their services, autoscalers, budgets, node pools and queues.
pub fn manifests(count: usize) -> Files {
    (0..count.div_ceil(MANIFESTS)).map(|i| (format!("k8s/app-{i}.yaml"), filled(APPLICATION, i))).collect()
}

/// Charts, kustomizations, Terraform modules, images and jobs, so many of each.
pub fn mixed(count: usize) -> Files {
    (0..count).flat_map(|i| PART.iter().map(move |(path, text)| (filled(path, i), filled(text, i)))).collect()
}

/// Repositories of forty manifests and one of each part.
pub fn repositories(count: usize) -> Files {
    let one: Files = [manifests(40), mixed(1), vec![(".git/HEAD".to_owned(), String::new())]].concat();
    let under = |i: usize| one.iter().map(move |(path, text)| (format!("r-{i}/{path}"), text.clone()));
    (0..count).flat_map(under).collect()
}
