"""The projects of schemas/kinds, and where the releases of each have their definitions."""

import dataclasses
import re

RELEASE = r"v?(\d+\.\d+\.\d+)"


@dataclasses.dataclass
class Source:
    """A repository: which tags are releases, which of its files are read, and which Go module has the same files."""

    repository: str
    paths: list
    since: str = "0"
    until: str = "99999999"
    tags: str = RELEASE
    module: str = ""
    # Releases that neither the clone nor the proxy's list names.
    also: tuple = ()
    # Commits that stand for releases of a repository without their tags.
    commits: dict = dataclasses.field(default_factory=dict)
    # The files of the first source, and the pattern in them, that say which release of this one a release is made of.
    pinned_in: tuple = ()
    pinned_as: str = ""


@dataclasses.dataclass
class Project:
    name: str
    sources: list
    # Which groups are of the project; others in the same files are somebody else's.
    groups: str = ""

    # What is to be said of where the files are from.
    note: str = ""

    def text(self):
        places = [(source.repository, re.split(r"[\\(\[*]", (source.paths or [""])[0])[0].rstrip("./")) for source in self.sources]
        said = [f"https://github.com/{repository} {path}".rstrip() for repository, path in places]
        return "; ".join(dict.fromkeys(said)) + self.note


# Fields that a schema of the core API requires and the API server does not: it sets them, or takes an empty one. Those of
# the first lines are no longer required by the schemas of 1.37.
NOT_REQUIRED = {
    ("apps.v1.StatefulSetSpec", "serviceName"),
    ("apps.v1.ControllerRevision", "revision"),
    ("batch.v1.PodFailurePolicyOnPodConditionsPattern", "status"),
    ("networking.v1.NetworkPolicySpec", "podSelector"),
    ("rbac.v1.RoleRef", "apiGroup"),
    ("scheduling.v1.PriorityClass", "value"),
    ("apiextensions.v1.CustomResourceDefinitionVersion", "served"),
    ("apiextensions.v1.CustomResourceDefinitionVersion", "storage"),
    ("core.v1.HTTPHeader", "value"),
    ("core.v1.ISCSIPersistentVolumeSource", "lun"),
    ("core.v1.ISCSIVolumeSource", "lun"),
    ("core.v1.PreferredSchedulingTerm", "preference"),
    ("core.v1.Sysctl", "value"),
    ("storage.v1.CSIDriver", "spec"),
}

# Webhooks that are registered at run time: no manifest says for what.
MUTATED = {
    "kaito": [("kaito.sh", "*")],
    "knative-serving": [("serving.knative.dev", "*"), ("autoscaling.internal.knative.dev", "*")],
    "tekton": [("tekton.dev", "*")],
}

# A value of enums to which others add: the Flux Operator adds its own kinds to those that an alert may be of.
OPEN_ENUMS = {"flux": "ImagePolicy"}

KUBERNETES = ("v1.27.16", "v1.28.15", "v1.29.15", "v1.30.14", "v1.31.14", "v1.32.13", "v1.33.13", "v1.34.11", "v1.35.8", "v1.36.5", "v1.37.2")

# What main was when the version after it was begun: the clone is a fork without tags.
DYNAMO = {
    "0.4.1": "561ecb98a^",
    "0.5.1": "cd2389bae^",
    "0.6.1": "23660bc5c^",
    "0.7.1": "7436e3bc0^",
    "0.8.0": "66c369964^",
    "0.9.0": "db88c9530^",
    "1.0.0": "24fe435d0^",
    "1.1.0": "3e3b3b187^",
    "1.2.0": "5b4bc1dd7^",
    "1.3.0": "f0c4516ca^",
    "1.4.0": "c13fdcec6^",
}


def one(name, repository, paths, since, groups="", **more):
    """A project of one repository."""
    paths = [paths] if isinstance(paths, str) else paths
    return Project(name, [Source(repository, paths, since=since, **more)], groups)


def flux(name):
    """A controller of a release of Flux."""
    return Source(
        f"fluxcd/{name}",
        [r"config/crd/bases/.*\.yaml"],
        pinned_in=(rf"manifests/bases/{name}/kustomization\.yaml",),
        pinned_as=rf"/{name}/releases/download/(v[0-9.]+)/",
    )


BASES = r"config/crd/bases/[^/]*\.yaml"
CRDS = r"pkg/apis/crds/[^/]*\.yaml"
DRA = r"deployments/helm/(nvidia-)?dra-driver-(nvidia-)?gpu/crds/.*\.yaml"
COMPONENTS = r"components/(notebook|profile|pvcviewer|tensorboard)-controller/config/crd/bases/.*\.yaml"

PROJECTS = [
    one(
        "core",
        "kubernetes/kubernetes",
        [r"api/openapi-spec/v3/.*\.json", r"pkg/generated/openapi/zz_generated\.openapi\.go"],
        "1.27",
        module="k8s.io/kubernetes",
        also=KUBERNETES,
    ),
    one("gpu-operator", "NVIDIA/gpu-operator", [r"deployments/gpu-operator/crds/.*\.yaml", BASES], "22.9", r"^nvidia\.com$"),
    one("karpenter", "kubernetes-sigs/karpenter", CRDS, "0.32", r"^karpenter\.sh$", module="sigs.k8s.io/karpenter"),
    # The providers narrow the labels of NodePool and NodeClaim.
    one("karpenter-aws", "aws/karpenter-provider-aws", CRDS, "0.32", r"^karpenter\.", module="github.com/aws/karpenter-provider-aws"),
    one("karpenter-azure", "Azure/karpenter-provider-azure", CRDS, "0.3", r"^karpenter\."),
    one("karpenter-gcp", "cloudpilot-ai/karpenter-provider-gcp", r"charts/karpenter(-crd/templates|/crds)/.*\.yaml", "0", r"^karpenter\."),
    one("keda", "kedacore/keda", BASES, "2.12", module="github.com/kedacore/keda/v2"),
    one(
        "kserve",
        "kserve/kserve",
        [r"charts/kserve(-llmisvc|-localmodel)?-crd/templates/.*\.yaml", r"charts/kserve(-llmisvc)?-crd/files/.*\.yaml", r"config/crd/(full/)?.*\.yaml"],
        "0.11",
        r"kserve\.io$",
        module="github.com/kserve/kserve",
    ),
    one("kuberay", "ray-project/kuberay", r"ray-operator/config/crd/bases/.*\.yaml", "0.6", tags=r"v?(\d+\.\d+\.\d+)"),
    one("kueue", "kubernetes-sigs/kueue", r"config/components/crd/bases/.*\.yaml", "0.5", module="sigs.k8s.io/kueue"),
    one("jobset", "kubernetes-sigs/jobset", r"config/components/crd/bases/.*\.yaml", "0.2"),
    one("lws", "kubernetes-sigs/lws", BASES, "0.1"),
    one("training-operator", "kubeflow/trainer", r"manifests/base/crds/.*\.yaml", "1.6", r"^kubeflow\.org$", until="2"),
    one("trainer", "kubeflow/trainer", r"manifests/base/crds/.*\.yaml", "2", r"^trainer\.kubeflow\.org$"),
    one("mpi-operator", "kubeflow/mpi-operator", [r"manifests/base/.*\.yaml", r"deploy/v2beta1/.*\.yaml"], "0.3", r"^kubeflow\.org$"),
    one("volcano", "volcano-sh/volcano", [r"config/crd/(volcano|jobflow)/bases/.*\.yaml", r"installer/helm/chart/volcano/(charts/\w+/)?crd/bases/.*\.yaml"], "1.8"),
    one("nim-operator", "NVIDIA/k8s-nim-operator", BASES, "1.0", r"nvidia\.com$"),
    one(
        "network-operator",
        "Mellanox/network-operator",
        [r"deployment/network-operator/crds/.*\.yaml", r"deployment/network-operator/charts/[^/]*/crds/.*\.yaml", r"manifests/[^/]*/.*\.yaml"],
        "23.4",
        r"mellanox\.com|nvidia\.com|openshift\.io|cni\.cncf\.io",
    ),
    # 0.4 came after 25.12.
    Project(
        "nvidia-dra-driver",
        [Source("kubernetes-sigs/dra-driver-nvidia-gpu", [DRA], since=since, until=until) for since, until in (("25.3", "99"), ("0.4", "1"))],
    ),
    # What the standard channel lacks is of the experimental one.
    one("gateway-api", "kubernetes-sigs/gateway-api", r"config/crd/experimental/gateway.*\.yaml", "1.0", module="sigs.k8s.io/gateway-api"),
    one("gateway-api-inference-extension", "kubernetes-sigs/gateway-api-inference-extension", BASES, "0.1", r"^inference\.networking"),
    one("prometheus-operator", "prometheus-operator/prometheus-operator", r"example/prometheus-operator-crd/.*\.yaml", "0.70"),
    one("argo-cd", "argoproj/argo-cd", r"manifests/crds/.*\.yaml", "2.9", module="github.com/argoproj/argo-cd/v3"),
    one("argo-workflows", "argoproj/argo-workflows", r"manifests/base/crds/full/.*\.yaml", "3.5"),
    one("argo-rollouts", "argoproj/argo-rollouts", r"manifests/crds/.*\.yaml", "1.6"),
    Project(
        "flux",
        [Source("fluxcd/flux2", [], since="2.1")]
        + [
            flux(f"{name}-controller")
            for name in ("source", "kustomize", "helm", "image-automation", "image-reflector", "notification")
        ],
    ),
    one("knative-serving", "knative/serving", r"config/core/300-resources/.*\.yaml", "1.12", tags=r"knative-v(\d+\.\d+\.\d+)"),
    one("knative-operator", "knative/operator", BASES, "1.12", tags=r"knative-v(\d+\.\d+\.\d+)"),
    one("istio", "istio/api", r"kubernetes/customresourcedefinitions\.gen\.yaml", "1.20"),
    one("cert-manager", "cert-manager/cert-manager", r"deploy/crds/.*\.yaml", "1.13"),
    Project(
        "dynamo",
        [Source("wxsms/dynamo", [r"deploy/(cloud/)?operator/config/crd/bases/.*\.yaml"], since="9999", commits=DYNAMO)],
        r"^nvidia\.com$",
        ", a fork of ai-dynamo/dynamo: its main when the version after was begun",
    ),
    one("grove", "NVIDIA/grove", r"(operator|scheduler)/api/core/v1alpha1/crds/.*\.yaml", "0", tags=r"v(0\.1\.0-alpha\.\d+)"),
    one("llm-d-model-service", "llm-d/llm-d-model-service", BASES, "0"),
    one("llm-d-variant-autoscaler", "llm-d/llm-d-workload-variant-autoscaler", BASES, "0"),
    one("katib", "kubeflow/katib", r"manifests/v1beta1/components/crd/.*\.yaml", "0.16"),
    one(
        "cluster-api",
        "kubernetes-sigs/cluster-api",
        r"(core/|bootstrap/kubeadm/|controlplane/kubeadm/)?config/crd/bases/.*\.yaml",
        "1.6",
        r"cluster\.x-k8s\.io$",
        module="sigs.k8s.io/cluster-api",
    ),
    one("cluster-api-aws", "kubernetes-sigs/cluster-api-provider-aws", BASES, "2.3"),
    one("cluster-api-azure", "kubernetes-sigs/cluster-api-provider-azure", BASES, "1.12", r"cluster\.x-k8s\.io$"),
    one("cluster-api-gcp", "kubernetes-sigs/cluster-api-provider-gcp", BASES, "1.5"),
    one("kaito", "kaito-project/kaito", BASES, "0.2", r"kaito\.sh$"),
    one("aibrix", "vllm-project/aibrix", r"config/crd/(bases|autoscaling|model|orchestration)/.*\.yaml", "0.1", r"aibrix\.ai$"),
    one("ome", "sgl-project/ome", r"config/crd/full/.*\.yaml", "0"),
    one("llmaz", "InftyAI/llmaz", BASES, "0", r"llmaz\.io$"),
    one("llmkube", "defilantech/LLMKube", BASES, "0.4"),
    one("kubeai", "kubeai-project/kubeai", r"(manifests|charts/kubeai/templates)/crds/.*\.yaml", "0.8"),
    one("amd-gpu-operator", "ROCm/gpu-operator", [BASES, r"helm-charts(-k8s)?/crds/.*\.yaml"], "1.0", r"amd\.com$"),
    one("kernel-module-management", "kubernetes-sigs/kernel-module-management", r"config/crd(-hub)?/bases/.*\.yaml", "1.0"),
    one("intel-device-plugins", "intel/intel-device-plugins-for-kubernetes", r"deployments/(operator|fpga_admissionwebhook)/crd/bases/.*\.yaml", "0.28"),
    one("longhorn", "longhorn/longhorn", r"deploy/longhorn\.yaml", "1.5", r"^longhorn\.io$"),
    one("rook", "rook/rook", r"deploy/examples/crds\.yaml", "1.12"),
    one("external-secrets", "external-secrets/external-secrets", r"config/crds/bases/.*\.yaml", "0.9"),
    one("external-snapshotter", "kubernetes-csi/external-snapshotter", r"client/config/crd/.*\.yaml", "6.3"),
    one("secrets-store-csi-driver", "kubernetes-sigs/secrets-store-csi-driver", BASES, "1.3"),
    one("node-feature-discovery", "kubernetes-sigs/node-feature-discovery", r"deployment/base/(nfd-crds|noderesourcetopologies-crd)/.*\.yaml", "0.14"),
    one("spark-operator", "kubeflow/spark-operator", r"charts/spark-operator-chart/crds/.*\.yaml", "1.4", tags=r"(?:v1beta2-)?v?(\d+\.\d+\.\d+)(?:-3\.5\.0)?"),
    Project(
        "kubeflow",
        [
            Source("kubeflow/kubeflow", [COMPONENTS, r"components/admission-webhook/manifests/base/crd\.yaml"], since="1.7"),
            Source("kubeflow/notebooks", [COMPONENTS], since="1.11"),
        ],
        r"kubeflow\.org$",
    ),
    one("vertical-pod-autoscaler", "kubernetes/autoscaler", r"vertical-pod-autoscaler/deploy/vpa-v1-crd-gen\.yaml", "1.0", tags=r"vertical-pod-autoscaler-(\d+\.\d+\.\d+)"),
    one("cluster-autoscaler", "kubernetes/autoscaler", r"cluster-autoscaler/apis/config/crd/.*\.yaml", "1.29", tags=r"cluster-autoscaler-(\d+\.\d+\.\d+)"),
    one("kai-scheduler", "kai-scheduler/KAI-Scheduler", r"deployments/(kai-scheduler/crds|crds/internal)/.*\.yaml", "0.4"),
    one("vllm-production-stack", "vllm-project/production-stack", r"operator/config/crd/bases/.*\.yaml", "0.1", tags=r"vllm-stack-(\d+\.\d+\.\d+)"),
    one("slurm-operator", "SlinkyProject/slurm-operator", BASES, "0.1"),
    one("appwrapper", "project-codeflare/appwrapper", BASES, "0.20"),
    one("scheduler-plugins", "kubernetes-sigs/scheduler-plugins", BASES, "0.27"),
    one("rbg", "sgl-project/rbg", BASES, "0.3"),
    one("kthena", "volcano-sh/kthena", r"charts/kthena/charts/\w+/crds/.*\.yaml", "0.1"),
    one("skyhook", "NVIDIA/skyhook", r"operator/config/crd/bases/.*\.yaml", "0.7", tags=r"operator/v(\d+\.\d+\.\d+)"),
    one("hyperpod-inference", "aws/sagemaker-hyperpod-cli", r"helm_chart/HyperPodHelmChart/charts/inference-operator/config/crd/.*\.yaml", "3.0"),
    one("gmp", "GoogleCloudPlatform/prometheus-engine", r"charts/operator/crds/.*\.yaml", "0.8"),
    one("tekton", "tektoncd/pipeline", r"config/300-(crds/)?.*\.yaml", "0.53"),
    one("fluid", "fluid-cloudnative/fluid", r"charts/fluid/fluid/crds/.*\.yaml", "1.0"),
    one("genai-connector", "opea-project/GenAIInfra", r"microservices-connector/config/crd/bases/.*\.yaml", "0", tags=r"v(\d+\.\d+)"),
    one("dask", "dask/dask-kubernetes", r"dask_kubernetes/operator/(deployment/helm/dask-kubernetes-operator/crds|customresources)/.*\.yaml", "2023.1"),
    one("flux-minicluster", "flux-framework/flux-operator", BASES, "0", tags=r"v?(\d+\.\d+\.\d+)"),
    one("eks-nodeadm", "awslabs/amazon-eks-ami", r"nodeadm/crds/.*\.yaml", "20231201", tags=r"v(\d{8})"),
]
