//! The closed vocabularies of facts. What grows with the world (engines, vendors, machines, providers) has rows in
//! the catalog and is text here.

use crate::words::words;

words! {
    /// How a contract is broken.
    BreachClass {
        /// It has no such field.
        UnknownField = "unknown-field",
        /// A value is of another type, or none of those that are allowed.
        ValueNotAllowed = "value-not-allowed",
        /// Nothing stands where something must.
        RequiredFieldMissing = "required-field-missing",
        /// What stands together must not, or a rule of the contract does not hold.
        ContractViolated = "contract-violated",
        /// A flag that no release of the program has.
        FlagUnknown = "flag-unknown",
        /// A flag that other releases of the program have.
        FlagNotOfRelease = "flag-not-of-release",
        /// A flag that does not go with another, or with a value.
        FlagMisused = "flag-misused",
        /// A flag that is stated with two values, of which one holds.
        FlagRepeated = "flag-repeated",
        /// A variable of the environment that the program does not read.
        VariableUnread = "variable-unread",
        /// A value of a chart that nothing reads, while its templates read one of nearly that name.
        ChartValueUnread = "chart-value-unread",
        /// A text in a document is not what its name says.
        TextMalformed = "text-malformed",
        /// A reference of an image that no runtime reads, or that names no repository of its registry.
        ImageReferenceMalformed = "image-reference-malformed",
        /// A name leads to nothing, in something that was read whole.
        NameNotFound = "name-not-found",
        /// A path leads to nothing in a repository that was walked as a whole.
        PathNotFound = "path-not-found",
        /// A name leads to nothing here, and something else of nearly this name does not seem to be meant by anything.
        NameNearlyFound = "name-nearly-found",
        /// A name of which a repository makes nothing that makes all others of its kind.
        NameNowhere = "name-nowhere",
        /// An object that is stated twice.
        NamedTwice = "named-twice",
        /// What a kustomization lists and that is not there.
        EntryMissing = "entry-missing",
        /// Files that GPUs need and that the kustomization beside them leads past.
        NotListed = "not-listed",
        /// Requirements of one package that no release of it meets.
        RequirementConflict = "requirement-conflict",
        /// A Dockerfile from which no builder makes an image.
        BuildRefused = "build-refused",
        /// A build argument that is used where its declaration does not reach.
        ArgumentNotInStage = "argument-not-in-stage",
        /// What the shell of an image does not run.
        ShellRefused = "shell-refused",
        /// A list of a Dockerfile that is no JSON.
        ListMalformed = "list-malformed",
        /// A step of a build of which nothing is left.
        StepWithoutEffect = "step-without-effect",
        /// A package manager that cannot do what a build tells it.
        PackagesRefused = "packages-refused",
        /// A program that an image does not have.
        ProgramMissing = "program-missing",
        /// A template of a chart that is no YAML where values are set that the chart leaves empty.
        BranchMalformed = "branch-malformed",
        /// A mapping that a template of a chart puts where text stands.
        MappingPrinted = "mapping-printed",
    }

    /// What a workload is for.
    Intent {
        /// It fits the weights of a model.
        Training = "training",
        /// It answers requests.
        Serving = "serving",
        /// A person works in it.
        Notebook = "notebook",
        /// It computes something and ends.
        Batch = "batch",
        /// It runs on every node for the others.
        Agent = "agent",
    }

    /// The format that states a workload.
    WorkloadFormat {
        /// Kubernetes manifests, rendered charts and kustomizations, and what Terraform or Cloud Run state in their shape.
        Kubernetes = "kubernetes",
        /// Compose files.
        Compose = "compose",
        /// Task definitions of ECS.
        Ecs = "ecs",
        /// Job definitions of AWS Batch.
        AwsBatch = "batch",
        /// Models and endpoints of SageMaker.
        Sagemaker = "sagemaker",
        /// Tasks of SkyPilot.
        Skypilot = "skypilot",
        /// Runs of dstack.
        Dstack = "dstack",
        /// Models that Baseten serves.
        Truss = "truss",
        /// Experiments of Determined.
        Determined = "determined",
        /// Runs of MosaicML.
        Mosaicml = "mosaicml",
        /// Workloads of Databricks' AI Runtime.
        Databricks = "databricks",
        /// Applications of Ray Serve, in files of their own.
        RayServe = "ray-serve",
        /// Batch scripts of Slurm.
        Slurm = "slurm",
        /// Jobs of PBS and Torque.
        Pbs = "pbs",
        /// Jobs of LSF.
        Lsf = "lsf",
        /// Groups of tasks of Nomad.
        Nomad = "nomad",
        /// Jobs of Grid Engine.
        Sge = "sge",
        /// What scripts launch on the machine that runs them.
        Script = "script",
        /// What images start that nobody is seen to run: the last stages of Dockerfiles.
        Image = "image",
        /// Containers that scripts run: `docker run`.
        Docker = "docker",
        /// Jobs of CI: their containers, and what their steps run.
        Ci = "ci",
        /// Helm values read as data, where no chart is at hand.
        Values = "values",
    }

    /// The format that states a pool or a cluster.
    InfraFormat {
        /// Terraform.
        Terraform = "terraform",
        /// CloudFormation.
        Cloudformation = "cloudformation",
        /// Configuration of eksctl.
        Eksctl = "eksctl",
        /// NodePools of Karpenter.
        Karpenter = "karpenter",
        /// Blueprints of Google's Cluster Toolkit.
        Blueprint = "blueprint",
        /// Programs of Pulumi in YAML.
        Pulumi = "pulumi",
        /// Configurations of AWS ParallelCluster.
        ParallelCluster = "parallelcluster",
        /// Configurations of Ray's cluster launcher.
        Ray = "ray",
        /// Machines on which Packer bakes images.
        Packer = "packer",
        /// Commands of scripts: `gcloud container node-pools create`.
        Shell = "shell",
        /// Compute classes of GKE.
        ComputeClass = "compute-class",
        /// Environments of NVIDIA's Holodeck.
        Holodeck = "holodeck",
        /// Jobs of Vertex AI.
        VertexAi = "vertex-ai",
        /// Compute of Azure ML, as its command line takes it.
        AzureMl = "azure-ml",
        /// gpulint's own configuration file.
        Configuration = "configuration",
    }

    /// How the installation of a chart is stated.
    ReleaseFormat {
        /// helm_release of Terraform.
        Terraform = "terraform",
        /// HelmRelease of Flux.
        Flux = "flux",
        /// Application of Argo CD.
        Argocd = "argocd",
        /// HelmChart of k3s.
        K3s = "k3s",
        /// A release of helmfile.
        Helmfile = "helmfile",
        /// A release of Skaffold.
        Skaffold = "skaffold",
        /// A component of a recipe of NVIDIA's AI Cluster Runtime.
        Recipe = "recipe",
        /// A dependency in Chart.yaml.
        ChartDependency = "chart-dependency",
        /// helmCharts of a kustomization.
        Kustomize = "kustomize",
        /// A file of values.
        Values = "values",
        /// A task of Ansible.
        Ansible = "ansible",
        /// A resource of Pulumi.
        Pulumi = "pulumi",
        /// `helm install` of a script.
        Shell = "shell",
        /// gpulint's own configuration file.
        Configuration = "configuration",
        /// Options of gpulint's command line.
        CommandLine = "command line",
    }

    /// The format that states a raw infrastructure resource.
    ResourceFormat {
        /// Terraform.
        Terraform = "terraform",
        /// CloudFormation.
        Cloudformation = "cloudformation",
        /// Resource Orchestration Service of Alibaba Cloud.
        Ros = "ros",
        /// Pulumi, under the names of Terraform.
        Pulumi = "pulumi",
    }

    /// What keeps data.
    StoreRole {
        /// A disk of a machine, or one to attach.
        Disk = "disk",
        /// A file system that machines share.
        FileSystem = "file-system",
        /// A bucket or container of objects.
        Bucket = "bucket",
        /// A database.
        Database = "database",
        /// A class of volumes.
        VolumeClass = "volume-class",
        /// A right to reach a store that is stated elsewhere.
        Access = "access",
    }

    /// What a container is in its pod.
    ContainerRole {
        /// It does the work.
        Main = "main",
        /// It runs before the others start.
        Init = "init",
        /// It starts before the others and runs beside them.
        Sidecar = "sidecar",
    }

    /// What stands at /dev/shm of a container.
    SharedMemory {
        /// The 64 MiB of the container runtime.
        Default = "default",
        /// A volume.
        Volume = "volume",
        /// A size stated for the container.
        Size = "size",
        /// The host's.
        Host = "host",
    }

    /// Where the value of an environment variable comes from, when it is not written in place.
    EnvSource {
        /// A secret.
        Secret = "secret",
        /// A ConfigMap.
        Config = "config",
        /// A field of the pod.
        Field = "field",
        /// A request or limit of the container.
        Resource = "resource",
    }

    /// What a package is installed by.
    PackageManager {
        /// pip.
        Pip = "pip",
        /// uv.
        Uv = "uv",
        /// conda, mamba and micromamba.
        Conda = "conda",
        /// The package manager of a distribution with apt or yum packages.
        Apt = "apt",
        /// The package manager of Alpine.
        Apk = "apk",
        /// Whatever reads the lock file that pins it.
        Lock = "lock",
        /// Nothing: it comes with the base image.
        Image = "image",
    }

    /// What holds the Python that a build installs into.
    PythonHome {
        /// The distribution or the base image.
        System = "system",
        /// A virtual environment.
        Venv = "venv",
        /// conda, mamba and micromamba.
        Conda = "conda",
        /// A Python that uv brings.
        Uv = "uv",
        /// A Python that pyenv compiles.
        Pyenv = "pyenv",
    }

    /// What lists packages.
    PackageFileKind {
        /// A requirements file of pip.
        Requirements = "requirements",
        /// A constraints file of pip: it holds versions back and installs nothing.
        Constraints = "constraints",
        /// pyproject.toml.
        Pyproject = "pyproject",
        /// An environment of conda.
        Conda = "conda",
        /// A Pipfile.
        Pipfile = "pipfile",
        /// setup.cfg, or what setup.py writes out.
        Setup = "setup",
        /// pixi.toml.
        Pixi = "pixi",
        /// A lock file.
        Lock = "lock",
        /// The RUN instructions of a Dockerfile.
        Dockerfile = "dockerfile",
        /// One install command of a shell script.
        Script = "script",
        /// One install command of a run of CI.
        Ci = "ci",
        /// Tasks of Ansible.
        Ansible = "ansible",
    }
}

impl WorkloadFormat {
    /// Whether a queue of batch jobs runs it, in a shell of the machine.
    pub fn is_queued(self) -> bool {
        matches!(self, WorkloadFormat::Slurm | WorkloadFormat::Pbs | WorkloadFormat::Lsf | WorkloadFormat::Sge)
    }

    /// Whether what it states is deployed, with what lies near it; what a script or a run of CI starts is not.
    pub fn is_deployed(self) -> bool {
        !matches!(self, WorkloadFormat::Ci | WorkloadFormat::Docker | WorkloadFormat::Script)
    }
}
