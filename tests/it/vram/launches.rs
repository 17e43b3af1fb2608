//! Launches in files of every format, with ‹…› around what decides.

/// Paths and texts.
type Files = &'static [(&'static str, &'static str)];

/// Name, rule that fires (none when empty), files.
pub const LAUNCHES: &[(&str, &str, Files)] = &[
    (
        "Compose",
        "model-does-not-fit",
        &[
            (
                "compose.yaml",
                r#"services:
  llm:
    image: vllm/vllm-openai:v0.11.0
    command: ["--model", "‹meta-llama/Llama-3.1-70B-Instruct›", "--max-model-len", "8192"]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}
"#,
            ),
            (
                ".gpulint.yaml",
                r#"clusters:
  - {name: box, platform: k3s, node_pools: [{name: b, gpu: NVIDIA-L4, count: 1}]}
"#,
            ),
        ],
    ),
    (
        "Deployment, name in a ConfigMap",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    metadata: {labels: {app: llm}}
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: llm
          image: vllm/vllm-openai:v0.11.0
          command: ["/bin/sh", "-c"]
          args: ["vllm serve $MODEL --max-model-len 8192"]
          envFrom: [{configMapRef: {name: cfg}}]
          resources: {limits: {nvidia.com/gpu: 1}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cfg}
data: {MODEL: ‹meta-llama/Llama-3.1-70B-Instruct›}
"#,
        )],
    ),
    (
        "InferenceService, model_id",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: llm}
spec:
  predictor:
    nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
    model:
      modelFormat: {name: huggingface}
      args: ["--model_name=llama", "--model_id=‹meta-llama/Llama-3.1-70B-Instruct›"]
      resources: {limits: {nvidia.com/gpu: "1"}}
"#,
        )],
    ),
    (
        "InferenceService, storageUri",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: llm}
spec:
  predictor:
    nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
    model:
      modelFormat: {name: huggingface}
      storageUri: ‹hf://meta-llama/Llama-3.1-70B-Instruct›
      resources: {limits: {nvidia.com/gpu: "1"}}
"#,
        )],
    ),
    (
        "LeaderWorkerSet",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: vllm}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
        containers:
          - name: leader
            image: vllm/vllm-openai:v0.11.0
            command: ["sh", "-c", "bash /vllm-workspace/examples/online_serving/multi-node-serving.sh leader --ray_cluster_size=$(LWS_GROUP_SIZE); python3 -m vllm.entrypoints.openai.api_server --port 8080 --model ‹meta-llama/Llama-3.1-405B-Instruct› --tensor-parallel-size 4 --pipeline-parallel-size 2"]
            resources: {limits: {nvidia.com/gpu: "4"}}
    workerTemplate:
      spec:
        nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
        containers:
          - name: worker
            image: vllm/vllm-openai:v0.11.0
            command: ["sh", "-c", "bash /vllm-workspace/examples/online_serving/multi-node-serving.sh worker"]
            resources: {limits: {nvidia.com/gpu: "4"}}
"#,
        )],
    ),
    (
        "RayService",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: ray.io/v1
kind: RayService
metadata: {name: llm}
spec:
  serveConfigV2: |
    applications:
      - name: llms
        import_path: ray.serve.llm:build_openai_app
        args:
          llm_configs:
            - model_loading_config: {model_id: llama, model_source: ‹meta-llama/Llama-3.1-70B-Instruct›}
              engine_kwargs: {tensor_parallel_size: 1, max_model_len: 8192}
  rayClusterConfig:
    headGroupSpec:
      rayStartParams: {}
      template: {spec: {containers: [{name: h, image: rayproject/ray-llm:2.46.0-py311-cu124}]}}
    workerGroupSpecs:
      - groupName: gpu
        replicas: 1
        minReplicas: 1
        maxReplicas: 1
        rayStartParams: {}
        template:
          spec:
            nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
            containers: [{name: w, image: rayproject/ray-llm:2.46.0-py311-cu124, resources: {limits: {nvidia.com/gpu: 1}}}]
"#,
        )],
    ),
    (
        "Slurm",
        "model-does-not-fit",
        &[(
            "job.sbatch",
            r#"#!/bin/bash
#SBATCH --gres=gpu:l4:1
#SBATCH --nodes=1
vllm serve ‹meta-llama/Llama-3.1-70B-Instruct› --max-model-len 8192
"#,
        )],
    ),
    (
        "Helm chart",
        "model-does-not-fit",
        &[
            (
                "Chart.yaml",
                r#"apiVersion: v2
name: c
version: 0.1.0
"#,
            ),
            (
                "values.yaml",
                r#"model: ‹meta-llama/Llama-3.1-70B-Instruct›
gpu: NVIDIA-L4
"#,
            ),
            (
                "templates/d.yaml",
                r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    metadata: {labels: {app: llm}}
    spec:
      nodeSelector:
        nvidia.com/gpu.product: {{ .Values.gpu }}
      containers:
        - name: llm
          image: vllm/vllm-openai:v0.11.0
          args: ["--model", {{ .Values.model | quote }}, "--max-model-len", "8192"]
          resources: {limits: {nvidia.com/gpu: 1}}
"#,
            ),
        ],
    ),
    (
        "Terraform",
        "model-does-not-fit",
        &[(
            "main.tf",
            r#"resource "kubernetes_deployment" "llm" {
  metadata { name = "llm" }
  spec {
    selector { match_labels = { app = "llm" } }
    template {
      metadata { labels = { app = "llm" } }
      spec {
        node_selector = { "nvidia.com/gpu.product" = "NVIDIA-L4" }
        container {
          name  = "llm"
          image = "vllm/vllm-openai:v0.11.0"
          args  = ["--model", "‹meta-llama/Llama-3.1-70B-Instruct›", "--max-model-len", "8192"]
          resources { limits = { "nvidia.com/gpu" = "1" } }
        }
      }
    }
  }
}
"#,
        )],
    ),
    (
        "NIMService",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: llm}
spec:
  image: {repository: nvcr.io/‹nim/meta/llama-3.1-70b-instruct›, tag: "1.8.0", pullSecrets: [a]}
  authSecret: s
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "NIM in a Pod, whose precision decides",
        "",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
  containers:
    - {name: n, image: "nvcr.io/nim/meta/llama-3.1-70b-instruct:1.8.0", resources: {limits: {nvidia.com/gpu: 2}}}
"#,
        )],
    ),
    (
        "Kaito",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: kaito.sh/v1beta1
kind: Workspace
metadata: {name: w}
resource:
  count: 1
  instanceType: Standard_NC24ads_A100_v4
  labelSelector: {matchLabels: {apps: llama}}
inference:
  preset: {name: ‹llama-3.3-70b-instruct›}
"#,
        )],
    ),
    (
        "Kaito, nodes left to the operator",
        "",
        &[(
            "a.yaml",
            r#"apiVersion: kaito.sh/v1beta1
kind: Workspace
metadata: {name: w}
resource:
  instanceType: Standard_NC24ads_A100_v4
  labelSelector: {matchLabels: {apps: llama}}
inference:
  preset: {name: llama-3.3-70b-instruct}
"#,
        )],
    ),
    (
        "Ollama",
        "memory-tight",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: Tesla-T4}
  containers:
    - name: o
      image: ollama/ollama:0.12.3
      command: ["/bin/sh", "-c", "ollama serve & sleep 5; ollama pull ‹llama3.1:70b›; wait"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "Ollama, small",
        "",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: Tesla-T4}
  containers:
    - name: o
      image: ollama/ollama:0.12.3
      command: ["/bin/sh", "-c", "ollama serve & sleep 5; ollama pull llama3.2; wait"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "llama.cpp",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: o
      image: ghcr.io/ggml-org/llama.cpp:server-cuda
      args: ["-hf", "‹bartowski/Llama-3.3-70B-Instruct-GGUF:Q4_K_M›", "-ngl", "99", "-c", "8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "llama.cpp, some layers on the GPU",
        "",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: o
      image: ghcr.io/ggml-org/llama.cpp:server-cuda
      args: ["-hf", "bartowski/Llama-3.3-70B-Instruct-GGUF:Q4_K_M", "-ngl", "30", "-c", "8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "TGI by its environment",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: o
      image: ghcr.io/huggingface/text-generation-inference:3.0.1
      env: [{name: MODEL_ID, value: ‹meta-llama/Llama-3.1-70B-Instruct›}, {name: NUM_SHARD, value: "1"}]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "SGLang in a shell",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: o
      image: lmsysorg/sglang:v0.5.3
      command: [bash, -c]
      args: ["python3 -m sglang.launch_server --model-path ‹Qwen/Qwen2.5-72B-Instruct› --tp 1 --host 0.0.0.0"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "TensorRT-LLM",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: o
      image: nvcr.io/nvidia/tensorrt-llm/release:1.0.0
      command: ["trtllm-serve", "‹meta-llama/Llama-3.1-70B-Instruct›", "--tp_size", "1"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "LMDeploy",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: o
      image: openmmlab/lmdeploy:v0.7.0
      command: ["lmdeploy", "serve", "api_server", "‹Qwen/Qwen2.5-72B-Instruct›"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "SageMaker",
        "model-does-not-fit",
        &[(
            "main.tf",
            r#"resource "aws_sagemaker_model" "m" {
  name = "m"
  execution_role_arn = "arn:aws:iam::1:role/x"
  primary_container {
    image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/huggingface-pytorch-tgi-inference:2.4.0-tgi2.4.0-gpu-py311-cu124-ubuntu22.04"
    environment = { HF_MODEL_ID = "‹meta-llama/Llama-3.1-70B-Instruct›", SM_NUM_GPUS = "1" }
  }
}
resource "aws_sagemaker_endpoint_configuration" "c" {
  production_variants {
    variant_name = "a"
    model_name = aws_sagemaker_model.m.name
    instance_type = "ml.g6.xlarge"
    initial_instance_count = 1
  }
}
"#,
        )],
    ),
    (
        "Triton, which names no model",
        "",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: o
      image: nvcr.io/nvidia/tritonserver:25.01-vllm-python-py3
      command: ["tritonserver", "--model-repository=/models"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "embeddings",
        "",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: o
      image: ghcr.io/huggingface/text-embeddings-inference:89-1.5
      args: ["--model-id", "Qwen/Qwen3-Embedding-8B"]
      resources: {limits: {nvidia.com/gpu: 1}}
    - name: i
      image: michaelf34/infinity:0.0.70
      args: ["v2", "--model-id", "BAAI/bge-m3"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "SkyPilot",
        "model-does-not-fit",
        &[(
            "task.yaml",
            r#"resources: {accelerators: "L4:1"}
run: |
  vllm serve ‹meta-llama/Llama-3.1-70B-Instruct› --max-model-len 8192
"#,
        )],
    ),
    (
        "ECS",
        "model-does-not-fit",
        &[(
            "main.tf",
            r#"resource "aws_ecs_task_definition" "t" {
  family = "llm"
  container_definitions = jsonencode([{name="llm", image="vllm/vllm-openai:v0.11.0", memory=16000, command=["--model","‹meta-llama/Llama-3.1-70B-Instruct›"], resourceRequirements=[{type="GPU",value="1"}]}])
}
resource "aws_launch_template" "l" {
  instance_type = "g6.xlarge"
  iam_instance_profile { name = "ecsInstanceRole" }
}
"#,
        )],
    ),
    (
        "Cloud Run",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: llm, annotations: {run.googleapis.com/launch-stage: BETA}}
spec:
  template:
    metadata: {annotations: {autoscaling.knative.dev/maxScale: "1"}}
    spec:
      nodeSelector: {run.googleapis.com/accelerator: nvidia-l4}
      containers:
        - image: vllm/vllm-openai:v0.11.0
          args: ["--model=‹meta-llama/Llama-3.1-70B-Instruct›"]
          resources: {limits: {cpu: "8", memory: 32Gi, nvidia.com/gpu: "1"}}
"#,
        )],
    ),
    (
        "MIG by resource",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}
  containers:
    - name: o
      image: vllm/vllm-openai:v0.11.0
      args: ["--model=‹meta-llama/Llama-3.1-8B-Instruct›", "--max-model-len=4096"]
      resources: {limits: {nvidia.com/mig-1g.5gb: 1}}
"#,
        )],
    ),
    (
        "MIG by product label",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB-MIG-1g.5gb}
  containers:
    - name: o
      image: vllm/vllm-openai:v0.11.0
      args: ["--model=‹meta-llama/Llama-3.1-8B-Instruct›", "--max-model-len=4096"]
      resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "Job, name in a variable",
        "model-does-not-fit",
        &[(
            "a.yaml",
            r#"apiVersion: batch/v1
kind: Job
metadata: {name: gen}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
      containers:
        - name: v
          image: vllm/vllm-openai:v0.11.0
          env: [{name: HF_MODEL, value: meta-llama/Llama-3.1-70B-Instruct}]
          command: ["python3", "-m", "vllm.entrypoints.openai.api_server"]
          args: ["--model=‹$(HF_MODEL)›", "--dtype=bfloat16"]
          resources: {limits: {nvidia.com/gpu: 1}}
"#,
        )],
    ),
    (
        "config.json behind a mount",
        "model-does-not-fit",
        &[
            (
                "compose.yaml",
                r#"services:
  llm:
    image: vllm/vllm-openai:v0.11.0
    command: ["--model", "‹/model›"]
    volumes: ["./models/my-70b:/model:ro"]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}
"#,
            ),
            (
                ".gpulint.yaml",
                r#"clusters:
  - {name: box, platform: k3s, node_pools: [{name: b, gpu: NVIDIA-L4, count: 1}]}
"#,
            ),
            (
                "models/my-70b/config.json",
                r#"{"architectures": ["LlamaForCausalLM"], "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": false, "max_position_embeddings": 8192, "torch_dtype": "bfloat16"}
"#,
            ),
        ],
    ),
    (
        "config.json copied into the image",
        "model-does-not-fit",
        &[
            (
                "compose.yaml",
                r#"services:
  llm:
    build: ./app
    command: ["vllm", "serve", "‹/opt/model›"]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}
"#,
            ),
            (
                ".gpulint.yaml",
                r#"clusters:
  - {name: box, platform: k3s, node_pools: [{name: b, gpu: NVIDIA-L4, count: 1}]}
"#,
            ),
            (
                "app/Dockerfile",
                r#"FROM vllm/vllm-openai:v0.11.0
COPY weights /opt/model
"#,
            ),
            (
                "app/weights/config.json",
                r#"{"architectures": ["LlamaForCausalLM"], "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": false, "max_position_embeddings": 8192, "torch_dtype": "bfloat16"}
"#,
            ),
        ],
    ),
    (
        "config.json of a small model",
        "",
        &[
            (
                "compose.yaml",
                r#"services:
  llm:
    build: ./app
    command: ["vllm", "serve", "/opt/model", "--max-model-len", "4096"]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}
"#,
            ),
            (
                ".gpulint.yaml",
                r#"clusters:
  - {name: box, platform: k3s, node_pools: [{name: b, gpu: NVIDIA-L4, count: 1}]}
"#,
            ),
            (
                "app/Dockerfile",
                r#"FROM vllm/vllm-openai:v0.11.0
COPY weights /opt/model
"#,
            ),
            (
                "app/weights/config.json",
                r#"{"architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": false, "max_position_embeddings": 8192, "torch_dtype": "bfloat16"}
"#,
            ),
        ],
    ),
];
