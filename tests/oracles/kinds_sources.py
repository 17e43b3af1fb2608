"""The projects of schemas/kinds, and where the releases of each have their definitions."""

import dataclasses

RELEASE = r"v?(\d+\.\d+\.\d+)"


@dataclasses.dataclass
class Source:
    """A repository: which tags are releases, which files of them are read, and which Go module has the same files."""

    repository: str
    paths: list
    since: str = "0"
    tags: str = RELEASE
    module: str = ""
    # The directory of the module in its repository.
    module_directory: str = ""
    # Releases that neither the clone nor the proxy's list names.
    also: tuple = ()
    most: int = 40
    # Where the first source of a project says which release of this one it is made of.
    pinned_in: tuple = ()
    pinned_as: str = ""


@dataclasses.dataclass
class Project:
    name: str
    sources: list
    # Which groups are of the project; others in the same files are somebody else's.
    groups: str = ""

    def text(self):
        return "; ".join(f"https://github.com/{source.repository} {source.paths[0]}" for source in self.sources)


# Fields that the API server takes more values for than their enum lists.
WIDER_THAN_THEIR_ENUM = set()

KUBERNETES = ("v1.27.16", "v1.28.15", "v1.29.15", "v1.30.14", "v1.31.14", "v1.32.13", "v1.33.13", "v1.34.11", "v1.35.8", "v1.36.5", "v1.37.2")

PROJECTS = [
    Project(
        "core",
        [
            Source(
                "kubernetes/kubernetes",
                [r"api/openapi-spec/v3/.*\.json", r"pkg/generated/openapi/zz_generated\.openapi\.go"],
                since="1.27",
                module="k8s.io/kubernetes",
                also=KUBERNETES,
            )
        ],
    ),
    Project("gpu-operator", [Source("NVIDIA/gpu-operator", [r"deployments/gpu-operator/crds/.*\.yaml"], since="22.9")], r"nvidia\.com$"),
    Project(
        "karpenter",
        [Source("kubernetes-sigs/karpenter", [r"pkg/apis/crds/[^/]*\.yaml"], since="0.32", module="sigs.k8s.io/karpenter")],
        r"^karpenter\.sh$",
    ),
    Project(
        "karpenter-aws",
        [Source("aws/karpenter-provider-aws", [r"pkg/apis/crds/[^/]*\.yaml"], since="0.32", module="github.com/aws/karpenter-provider-aws")],
        r"^karpenter\.k8s\.aws$",
    ),
    Project(
        "karpenter-azure",
        [Source("Azure/karpenter-provider-azure", [r"pkg/apis/crds/[^/]*\.yaml"], since="0.3")],
        r"^karpenter\.azure\.com$",
    ),
    Project("keda", [Source("kedacore/keda", [r"config/crd/bases/.*\.yaml"], since="2.12", module="github.com/kedacore/keda/v2")]),
    Project(
        "kserve",
        [
            Source(
                "kserve/kserve",
                [r"charts/kserve(-llmisvc|-localmodel)?-crd/templates/.*\.yaml", r"charts/kserve(-llmisvc)?-crd/files/.*\.yaml", r"config/crd/full/.*\.yaml", r"config/crd/[^/]*\.yaml"],
                since="0.11",
                module="github.com/kserve/kserve",
            )
        ],
        r"kserve\.io$",
    ),
    Project("kuberay", [Source("ray-project/kuberay", [r"ray-operator/config/crd/bases/.*\.yaml"], since="0.6")]),
    Project("kueue", [Source("kubernetes-sigs/kueue", [r"config/components/crd/bases/.*\.yaml"], since="0.5", module="sigs.k8s.io/kueue")]),
]
