//! Things that run: workloads, pods, containers and how they are launched.

use super::settings::settings;
use super::value::entities;
use super::words::{ContainerRole, EnvSource, Intent, SharedMemory, WorkloadFormat};
use super::{
    Autoscaler, Budget, ClusterQueue, DataClass, Image, Labels, Node, NodePool, Route, Service, ServiceLevel, Software,
    Taint, Training, Variables,
};
use crate::known::{Fact, Why};
use crate::parse::Raw;
use crate::source::Span;
use crate::version::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

entities! {
    /// Something that runs on GPUs or beside them: a Deployment, a Job, a RayCluster, a Compose service, an ECS task, a SkyPilot task, a Slurm job.
    Workload {
        /// The format that states it.
        format: Fact<WorkloadFormat>,
        /// Kind, as the format names it: Deployment, PyTorchJob, service, task-definition.
        kind: Fact<String>,
        /// apiVersion of a Kubernetes object.
        api_version: Fact<String>,
        /// Its name.
        name: Fact<String>,
        /// Its namespace.
        namespace: Fact<String>,
        /// What it is for; the span is the evidence.
        intent: Fact<Intent>,
        /// Labels of the object itself.
        labels: Labels,
        /// Annotations of the object itself.
        annotations: Labels,
        /// Its groups of equal pods: one for a Deployment, leader and workers for a LeaderWorkerSet.
        pods: Vec<Pod>,
        /// Replicas of the controller (1 where the API defaults it).
        replicas: Fact<i64>,
        /// Whether a later apply leaves the number of replicas as it finds it: `ignore_changes` of Terraform.
        replicas_kept: Fact<bool>,
        /// Pods that work as one group (gang): LWS size, workers plus master, parallelism; 1 when pods are independent.
        group_size: Fact<i64>,
        /// GPUs of one such group.
        group_gpus: Fact<i64>,
        /// Devices of one such group that a framework sees, one rank each: `group_gpus`, but the cores of Neuron devices.
        group_ranks: Fact<i64>,
        /// GPUs of the whole workload: every pod of every replica.
        gpus: Fact<i64>,
        /// Rollout strategy after defaulting: RollingUpdate, Recreate, OnDelete.
        strategy: Fact<String>,
        /// Pods that a rolling update may add, after defaulting (25 %) and rounding up.
        surge_pods: Fact<i64>,
        /// Pods that a rolling update may take away, after defaulting (25 %) and rounding down.
        unavailable_pods: Fact<i64>,
        /// progressDeadlineSeconds after defaulting (600).
        progress_deadline_seconds: Fact<i64>,
        /// backoffLimit as stated.
        backoff_limit: Fact<i64>,
        /// activeDeadlineSeconds as stated.
        active_deadline_seconds: Fact<i64>,
        /// ttlSecondsAfterFinished as stated.
        ttl_seconds_after_finished: Fact<i64>,
        /// concurrencyPolicy of a CronJob after defaulting (Allow).
        concurrency_policy: Fact<String>,
        /// Job parallelism after defaulting.
        parallelism: Fact<i64>,
        /// Pods that must be able to start together: Volcano minAvailable, PodGroup minMember.
        min_available: Fact<i64>,
        /// Whether some scheduler starts the group all at once (Kueue queue, Volcano, coscheduling, LWS with gang policy).
        gang: Fact<bool>,
        /// Queue it is submitted to (kueue.x-k8s.io/queue-name, Volcano queue).
        queue: Fact<String>,
        /// The ClusterQueue that this queue leads to.
        cluster_queue: Option<ClusterQueue>,
        /// What the configuration promises its users.
        promise: Option<ServiceLevel>,
        /// Autoscalers that target it.
        autoscalers: Vec<Arc<Autoscaler>>,
        /// Services that select its pods.
        services: Vec<Arc<Service>>,
        /// Ingresses and routes that lead to those services.
        routes: Vec<Arc<Route>>,
        /// PodDisruptionBudgets that select its pods.
        budgets: Vec<Arc<Budget>>,
        /// The document, service or resource as written.
        object: Option<Raw>,
    }

    /// A group of equal pods of a workload (or the one machine group of a format without pods).
    Pod {
        /// Its role in the workload: main, leader, worker, head, launcher, master.
        role: Fact<String>,
        /// How many pods of this shape one group has.
        replicas: Fact<i64>,
        /// Labels of the pod template.
        labels: Labels,
        /// Annotations of the pod template.
        annotations: Labels,
        /// Containers that run side by side.
        containers: Vec<Container>,
        /// Init containers (those with restartPolicy Always are sidecars).
        init_containers: Vec<Container>,
        /// GPUs that the scheduler must find for one pod: the sum over containers, at least the largest init container.
        gpus: Fact<i64>,
        /// What `gpus` counts, as its containers say: gpu, mig-slice, share, tpu-chip, neuron-device, neuron-core …
        device: Fact<String>,
        /// What one of them is called.
        device_name: Fact<String>,
        /// Devices that a framework sees, one rank each: `gpus`, but the cores of Neuron devices.
        ranks: Fact<i64>,
        /// Labels that a node must have: nodeSelector, and required node affinity to one value.
        node_selector: Labels,
        /// Required node affinity terms of the first nodeSelectorTerm.
        node_affinity: Vec<Requirement>,
        /// Tolerations.
        tolerations: Vec<Toleration>,
        /// Volumes.
        volumes: Vec<Volume>,
        /// Names of the pod's resourceClaims.
        resource_claims: Vec<Fact<String>>,
        /// hostNetwork.
        host_network: Fact<bool>,
        /// hostIPC, or Compose `ipc: host`.
        host_ipc: Fact<bool>,
        /// hostPID.
        host_pid: Fact<bool>,
        /// dnsPolicy after defaulting (ClusterFirst).
        dns_policy: Fact<String>,
        /// priorityClassName.
        priority_class: Fact<String>,
        /// runtimeClassName, or Compose `runtime`.
        runtime_class: Fact<String>,
        /// How a script or a page of the repository sets the NVIDIA runtime up for Docker: registered, or default for every container.
        #[joined = true]
        docker_runtime: Fact<String>,
        /// schedulerName as stated.
        scheduler: Fact<String>,
        /// restartPolicy as stated.
        restart_policy: Fact<String>,
        /// terminationGracePeriodSeconds after defaulting (30).
        termination_grace_seconds: Fact<i64>,
        /// subdomain.
        subdomain: Fact<String>,
        /// Whether it asks for interruptible capacity (spot, preemptible), by selector or pool.
        spot: Fact<bool>,
        /// The node it lands on, as far as every candidate agrees.
        #[joined = true]
        node: Option<Node>,
        /// The pools it may land on.
        pools: Vec<Arc<NodePool>>,
        /// The first taint that keeps the pod away from the first of those pools; none when some pool takes it.
        blocked_by: Option<Taint>,
        /// The class of data that its labels put it into.
        data_class: Option<DataClass>,
        /// The pod spec as written.
        spec: Option<Raw>,
    }

    /// A process that runs from an image (or on a machine directly, for Slurm and SkyPilot).
    Container {
        /// Its name.
        name: Fact<String>,
        /// What it is in its pod.
        role: Fact<ContainerRole>,
        /// The image it runs.
        image: Image,
        /// Command and arguments as the process gets them, entrypoint of the image not included.
        command: Vec<Fact<String>>,
        /// Whether it replaces the entrypoint of its image; else its words are arguments of that.
        entrypoint: Fact<bool>,
        /// What it launches, as far as the command line, the environment and the image tell.
        launch: Option<Box<Launch>>,
        /// The training run that it launches, as far as the command line and the configuration files that it names tell.
        training: Option<Box<Training>>,
        /// What its command states about numbers and kernels, as not every GPU has them.
        settings: Vec<Setting>,
        /// Environment by name.
        env: Variables,
        /// What is installed in it: from its build here, or from the catalog's knowledge of its image.
        #[joined = true]
        software: Option<Arc<Software>>,
        /// Whole accelerator devices it asks for (limits, after defaulting); MIG and shared slices count as devices.
        gpus: Fact<i64>,
        /// Whether it surely runs beside the others of its file: services of a project, what a script starts in the background and does not stop.
        beside: Fact<bool>,
        /// Times that a step of Slurm starts it on each node: `srun` alone repeats what it runs.
        tasks_per_node: Fact<i64>,
        /// The shell script that a step of a job runs, as written, where the job itself launches nothing.
        script: Fact<String>,
        /// The environment of Python that a job activates before it: the name of one of conda, the path of a virtual environment, or `uv`.
        environment: Fact<String>,
        /// Whether what runs it as a container in a job hands it the devices of the node: `--nv` and `--rocm` of Apptainer, which hands none without; absent where the job runs other programs, too.
        passes_devices: Fact<bool>,
        /// GPUs that it is given by number or id: device_ids of Compose, CUDA_VISIBLE_DEVICES.
        devices: Vec<Fact<String>>,
        /// The extended resource that asks for them: nvidia.com/gpu, nvidia.com/mig-1g.5gb, amd.com/gpu, google.com/tpu.
        gpu_resource: Fact<String>,
        /// nvidia, amd, intel, google, aws, habana …
        gpu_vendor: Fact<String>,
        /// What `gpus` counts: gpu, mig-slice, share, tpu-chip, neuron-device, neuron-core, gaudi, npu …
        device: Fact<String>,
        /// What one of them is called: GPU, MIG slice, GPU share, TPU chip, NeuronCore …
        device_name: Fact<String>,
        /// MIG profile of the resource, 1g.5gb.
        mig_profile: Fact<String>,
        /// Extended resources of a fast network that it asks for: EFA, RDMA.
        fabric: Vec<Fact<String>>,
        /// Requests in base units (cores, bytes, devices) as written.
        requests: BTreeMap<String, Fact<f64>>,
        /// Limits in base units (cores, bytes, devices) as written.
        limits: BTreeMap<String, Fact<f64>>,
        /// Names of the pod's claims that it uses (resources.claims).
        claims: Vec<Fact<String>>,
        /// Ports it opens or publishes.
        ports: Vec<Port>,
        /// Volume mounts.
        mounts: Vec<Mount>,
        /// Startup probe.
        startup_probe: Option<Box<Probe>>,
        /// Readiness probe.
        readiness_probe: Option<Box<Probe>>,
        /// Liveness probe.
        liveness_probe: Option<Box<Probe>>,
        /// privileged.
        privileged: Fact<bool>,
        /// Capabilities added.
        capabilities: Vec<Fact<String>>,
        /// Bytes of /dev/shm: a memory volume's limit or shm_size; 64 MiB by default; absent when it is the host's or has no limit.
        shm_bytes: Fact<i64>,
        /// What stands at /dev/shm.
        shm: Fact<SharedMemory>,
        /// What switches off the login of what it runs, as stated: `auth=none`, `WEBUI_AUTH=false`.
        login_off: Fact<String>,
        /// Whether all that leads to it from outside asks for a credential: its routes, or the proxy that its labels speak to.
        #[joined = true]
        behind_login: Fact<bool>,
        /// A credential that it takes from clients and that a documentation shows.
        sample_key: Fact<String>,
        /// The container as written.
        spec: Option<Raw>,
    }

    /// What a container launches: an inference server, a trainer, a launcher of processes.
    Launch {
        /// vllm, sglang, tgi, tei, triton, tensorrt-llm, nim, ollama, llama.cpp, ray, torchrun, accelerate, deepspeed, mpirun, python, jupyter …
        engine: Fact<String>,
        /// Its release: that of the installed package, else what the tag of the engine's own image says.
        #[joined = true]
        version: Fact<Version>,
        /// Model by name or path.
        model: Fact<String>,
        /// The model's own config.json, where the repository has it.
        config: Option<Raw>,
        /// Revision of the model as pinned.
        revision: Fact<String>,
        /// The type of accelerator that Ray looks for on the node of each replica: `accelerator_type` of an LLM that Ray serves.
        accelerator: Fact<String>,
        /// Tensor parallel size as stated.
        tensor_parallel: Fact<i64>,
        /// Pipeline parallel size as stated.
        pipeline_parallel: Fact<i64>,
        /// Data parallel size as stated.
        data_parallel: Fact<i64>,
        /// dtype of weights and activations as stated.
        dtype: Fact<String>,
        /// Quantization method as stated.
        quantization: Fact<String>,
        /// dtype of the KV cache as stated.
        kv_cache_dtype: Fact<String>,
        /// Attention backend as stated.
        attention_backend: Fact<String>,
        /// Longest context as stated, in tokens.
        max_model_len: Fact<i64>,
        /// Concurrent sequences as stated.
        max_num_seqs: Fact<i64>,
        /// Share of the GPU memory that the server may take, as stated.
        gpu_memory_utilization: Fact<f64>,
        /// Port it listens on: stated, else the server's default.
        port: Fact<i64>,
        /// Address it binds to as stated.
        host: Fact<String>,
        /// Whether the server asks its clients for a credential.
        authenticated: Fact<bool>,
        /// Processes per node as stated (torchrun, accelerate, deepspeed).
        processes_per_node: Fact<i64>,
        /// Processes in total as stated (accelerate --num_processes, mpirun -np).
        processes: Fact<i64>,
        /// Nodes as stated (the minimum of an elastic range).
        nodes: Fact<i64>,
        /// Address where the group meets: --master-addr, --rdzv-endpoint host, --dist-init-addr host.
        rendezvous: Fact<String>,
        /// Every flag by its long name with dashes, `--max_model_len=1` is max-model-len; a bare flag is "true".
        flags: Labels,
        /// The words of the command that were read, program first.
        words: Vec<Fact<String>>,
        /// A variable of the command line that may bring more options; what no option states is unknown then.
        open: Fact<String>,
    }

    /// A setting that not every GPU can run.
    Setting {
        /// The program that takes it: vllm, sglang, transformers.
        engine: Fact<String>,
        /// The release of that program.
        release: Fact<Version>,
        /// dtype, quantization, kv_cache_dtype, attention_backend.
        name: Fact<String>,
        /// Its value as the program knows it; the span is the text that states it.
        value: Fact<String>,
    }

    /// An environment variable.
    EnvVar {
        /// Its name.
        name: Fact<String>,
        /// Its literal value; unknown when it is a placeholder.
        value: Fact<String>,
        /// The text that stands for the value, placeholders included.
        written: Fact<String>,
        /// Where the value comes from instead.
        from: Fact<EnvSource>,
    }

    /// A port of a container or a service.
    Port {
        /// Its name.
        name: Fact<String>,
        /// Number on the container (or targetPort of a service when numeric).
        port: Fact<i64>,
        /// targetPort of a service when it is a name.
        target_name: Fact<String>,
        /// Port on the host or the service port.
        host_port: Fact<i64>,
        /// Address it is published on; absent means every address.
        host_ip: Fact<String>,
    }

    /// A volume mounted into a container.
    Mount {
        /// Path in the container.
        path: Fact<String>,
        /// Name of the volume.
        volume: Fact<String>,
    }

    /// A volume of a pod.
    Volume {
        /// Its name.
        name: Fact<String>,
        /// emptyDir, hostPath, persistentVolumeClaim, configMap, secret, ephemeral, nfs, csi, bind …
        kind: Fact<String>,
        /// Medium of an emptyDir.
        medium: Fact<String>,
        /// sizeLimit or storage request in bytes.
        size_bytes: Fact<i64>,
        /// Path on the host.
        host_path: Fact<String>,
        /// Name of the claim.
        claim: Fact<String>,
        /// Name of the ConfigMap.
        config_map: Fact<String>,
        /// Access modes of the claim, when the claim is at hand.
        access_modes: Vec<Fact<String>>,
    }

    /// A probe after defaulting (period 10 s, timeout 1 s, 3 failures).
    Probe {
        /// HTTP path.
        path: Fact<String>,
        /// Port number.
        port: Fact<i64>,
        /// Port name.
        port_name: Fact<String>,
        /// initialDelaySeconds.
        initial_delay_seconds: Fact<i64>,
        /// periodSeconds.
        period_seconds: Fact<i64>,
        /// timeoutSeconds.
        timeout_seconds: Fact<i64>,
        /// failureThreshold.
        failure_threshold: Fact<i64>,
        /// Seconds until it gives up: initial delay + period x failures.
        budget_seconds: Fact<i64>,
    }

    /// A required node affinity expression, or a requirement of a Karpenter pool.
    Requirement {
        /// Label key.
        key: Fact<String>,
        /// In, NotIn, Exists, DoesNotExist, Gt, Lt.
        operator: Fact<String>,
        /// Values.
        values: Vec<Fact<String>>,
    }

    /// A toleration of a pod.
    Toleration {
        /// Taint key; absent tolerates every key.
        key: Fact<String>,
        /// Equal or Exists, after defaulting.
        operator: Fact<String>,
        /// Value for Equal.
        value: Fact<String>,
        /// Effect; absent tolerates every effect.
        effect: Fact<String>,
    }
}

settings! {
    Launch: model revision tensor_parallel pipeline_parallel data_parallel dtype quantization kv_cache_dtype
        attention_backend max_model_len max_num_seqs gpu_memory_utilization port host processes_per_node processes nodes
        rendezvous
}

/// What is not known of a container that is given all GPUs of its host.
const GPUS_OF_HOST: &str = "how many GPUs the host has";

/// As many GPUs as the host has.
pub fn of_host(place: Span) -> Fact<i64> {
    Fact::unknown(Why::NotStated(GPUS_OF_HOST.into()), place)
}

/// Whether a number of GPUs is that of the host, which is not stated.
pub fn is_of_host(gpus: &Fact<i64>) -> bool {
    gpus.why().is_some_and(|why| *why == Why::NotStated(GPUS_OF_HOST.into()))
}

impl Container {
    /// Whether it is given GPUs, as many as there may be.
    pub fn takes_gpus(&self) -> Fact<bool> {
        match is_of_host(&self.gpus) {
            true => Fact::value(true, self.gpus.span),
            false => self.gpus.clone().map(|count| count > 0),
        }
    }
}

impl Launch {
    /// States a setting by its name and a text; hands the text back when launches have no such setting.
    pub fn set(&mut self, setting: &str, fact: Fact<String>) -> Option<Fact<String>> {
        let before = |text: String, end: char| text.split(end).next().unwrap_or_default().to_owned();
        let fact = match setting {
            // An elastic range states its minimum first.
            "nodes" => fact.map(|range| before(range, ':')),
            // An address states its port behind a colon, and where it has none it says nothing of the port.
            "port" if fact.get().is_some_and(|text| text.contains(':')) => {
                fact.map(|address| address.rsplit(':').next().unwrap_or_default().trim_end_matches('/').to_owned())
            }
            "port" if fact.get().is_some_and(|text| text.parse::<u16>().is_err()) => return None,
            "rendezvous" => fact.map(|url| before(url.trim_start_matches("tcp://").to_owned(), ':')),
            _ => fact,
        };
        self.state(setting, fact)
    }
}
