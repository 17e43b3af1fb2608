//! Hardware, drivers, images, frameworks and machines: the tables of `rules/catalog/`. Knows no files of the
//! user, no facts and no rules.

use crate::version::Version;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A table: its rows by column name, read on first use.
struct Table {
    text: &'static str,
    rows: OnceLock<Vec<Row>>,
}

/// A row: values by column.
type Row = BTreeMap<&'static str, &'static str>;

impl Table {
    const fn new(text: &'static str) -> Self {
        Self { text, rows: OnceLock::new() }
    }

    fn rows(&self) -> &[Row] {
        self.rows.get_or_init(|| {
            let mut lines = self.text.lines();
            let header: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
            lines.map(|line| header.iter().copied().zip(fields(line)).collect()).collect()
        })
    }
}

/// The fields of a line; quotes are kept off. The tables hold no line ends and no quotes within fields.
fn fields(line: &'static str) -> Vec<&'static str> {
    let mut out = Vec::new();
    let mut rest = line;
    loop {
        let (field, tail) = match rest.strip_prefix('"') {
            Some(quoted) => match quoted.find('"') {
                Some(end) => (&quoted[..end], quoted[end + 1..].strip_prefix(',')),
                None => (quoted, None),
            },
            None => match rest.split_once(',') {
                Some((field, tail)) => (field, Some(tail)),
                None => (rest, None),
            },
        };
        out.push(field);
        match tail {
            Some(tail) => rest = tail,
            None => return out,
        }
    }
}

static GPU_ROWS: Table = Table::new(include_str!("../../rules/catalog/gpus.csv"));
static GPU_NAMES: Table = Table::new(include_str!("../../rules/catalog/gpu_names.csv"));
static INSTANCE_ROWS: Table = Table::new(include_str!("../../rules/catalog/instances.csv"));
static PLATFORMS: Table = Table::new(include_str!("../../rules/catalog/platforms.csv"));

/// A GPU model.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// Id, H100-SXM-80GB.
    pub id: &'static str,
    /// Product name.
    pub name: &'static str,
    /// nvidia, amd, google, aws, habana.
    pub vendor: &'static str,
    /// Architecture.
    pub arch: &'static str,
    /// Compute capability (NVIDIA).
    pub compute_capability: Option<Version>,
    /// Memory in MiB as nvidia-smi reports it.
    pub memory_mib: Option<i64>,
    /// Whether it has MIG.
    pub mig: bool,
    /// NVLink bandwidth in GB/s.
    pub nvlink_gbs: Option<i64>,
    /// Board power in watts.
    pub tdp_w: Option<i64>,
    /// Whether it is a data-center product.
    pub datacenter: bool,
    names: Vec<String>,
}

/// A machine type.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Its name.
    pub name: &'static str,
    /// Provider.
    pub provider: &'static str,
    /// Catalog id of its GPU.
    pub gpu: &'static str,
    /// GPUs.
    pub gpu_count: Option<i64>,
    /// vCPUs.
    pub vcpus: Option<i64>,
    /// Host memory in GiB.
    pub memory_gib: Option<f64>,
    /// Fabric, as the catalog names it.
    pub rdma: &'static str,
    /// Fabric devices.
    pub rdma_nics: Option<i64>,
    /// Whether its GPUs are joined by NVLink or NVSwitch.
    pub nvlink: Option<bool>,
}

impl Instance {
    /// Host memory in bytes.
    pub fn memory_bytes(&self) -> Option<i64> {
        self.memory_gib.map(|gib| (gib * f64::from(1u32 << 30)) as i64)
    }

    /// The fabric; `None` when the catalog does not say.
    pub fn fabric(&self) -> Option<&'static str> {
        (!self.rdma.is_empty()).then_some(self.rdma)
    }

    /// CPU architecture, where the name of the type tells.
    pub fn arch(&self) -> Option<&'static str> {
        None
    }
}

fn get(row: &Row, column: &str) -> &'static str {
    row.get(column).copied().unwrap_or("")
}

fn gpus() -> &'static [Gpu] {
    static GPUS: OnceLock<Vec<Gpu>> = OnceLock::new();
    GPUS.get_or_init(|| {
        let read = |row: &Row| {
            let text = |column| get(row, column);
            let id = text("id");
            let mut names: Vec<String> =
                vec![id.to_lowercase(), text("name").to_lowercase(), text("product_label").to_lowercase()];
            for column in ["aliases", "gke_accelerators", "karpenter_name"] {
                names.extend(text(column).split([' ', ';']).map(str::to_lowercase));
            }
            let labels = GPU_NAMES.rows().iter().filter(|r| get(r, "gpu") == id);
            names.extend(labels.flat_map(|r| [get(r, "name").to_lowercase(), get(r, "product_label").to_lowercase()]));
            names.retain(|n| !n.is_empty());
            let label = text("product_label");
            Gpu {
                id,
                name: text("name"),
                vendor: text("vendor"),
                arch: text("architecture"),
                compute_capability: Version::parse(text("compute_capability")),
                memory_mib: text("memory_mib")
                    .parse()
                    .ok()
                    .or_else(|| text("memory_gb").parse::<i64>().ok().map(|g| g * 1024)),
                mig: text("mig") == "true",
                nvlink_gbs: text("nvlink_gb_per_s").parse().ok(),
                tdp_w: text("tdp_w").parse().ok(),
                datacenter: !label.contains("GeForce")
                    && !text("name").contains("GeForce")
                    && !text("name").contains("TITAN"),
                names,
            }
        };
        GPU_ROWS.rows().iter().map(read).collect()
    })
}

/// The GPU of a name: id, alias, product label (with sharing or MIG suffix), GKE, Karpenter or NVML name.
pub fn gpu(name: &str) -> Option<&'static Gpu> {
    let lower = name.trim().to_lowercase();
    let plain = lower.strip_suffix("-shared").unwrap_or(&lower);
    let plain = plain.split_once("-mig-").map_or(plain, |(head, _)| head);
    gpus().iter().find(|g| g.names.iter().any(|n| n == plain))
}

fn instances() -> &'static BTreeMap<String, Instance> {
    static INSTANCES: OnceLock<BTreeMap<String, Instance>> = OnceLock::new();
    INSTANCES.get_or_init(|| {
        let read = |row: &Row| {
            let text = |column| get(row, column);
            let nvlink = match (text("nvlink"), text("nvswitch")) {
                ("true" | "yes", _) | (_, "true" | "yes") => Some(true),
                ("", "") => None,
                _ => Some(false),
            };
            let instance = Instance {
                name: text("instance_type"),
                provider: text("provider"),
                gpu: text("gpu"),
                gpu_count: text("gpu_count").parse().ok(),
                vcpus: text("vcpu").parse().ok(),
                memory_gib: text("memory_gib").parse().ok(),
                rdma: text("rdma"),
                rdma_nics: text("rdma_nics").parse().ok(),
                nvlink,
            };
            (instance.name.to_lowercase(), instance)
        };
        INSTANCE_ROWS.rows().iter().map(read).collect()
    })
}

/// The machine type of a name, SageMaker's `ml.` prefix aside.
pub fn instance(name: &str) -> Option<&'static Instance> {
    let lower = name.trim().to_lowercase();
    instances().get(lower.strip_prefix("ml.").unwrap_or(&lower))
}

/// The GPU of a machine type.
pub fn instance_gpu(name: &str) -> Option<&'static Gpu> {
    gpu(instance(name)?.gpu)
}

/// The GPU that every machine type of an AWS family has.
pub fn instance_family_gpu(family: &str) -> Option<&'static Gpu> {
    let prefix = format!("{}.", family.to_lowercase());
    let mut of_family = instances().range(prefix.clone()..).take_while(|(name, _)| name.starts_with(&prefix));
    let first = of_family.next()?.1.gpu;
    of_family.all(|(_, i)| i.gpu == first).then(|| gpu(first)).flatten()
}

/// The driver that a platform release installs by default; of the same minor release when it has no row.
pub fn platform_driver(platform: &str, version: &str) -> Option<Version> {
    let wanted = Version::parse(version)?;
    let rows = PLATFORMS.rows().iter().filter(|r| get(r, "platform") == platform);
    let dated: Vec<(Version, &'static str)> =
        rows.filter_map(|r| Some((Version::parse(get(r, "version"))?, get(r, "driver")))).collect();
    let exact = dated.iter().find(|(v, _)| *v == wanted);
    let same_minor = || dated.iter().filter(|(v, _)| v.release().get(..2) == wanted.release().get(..2)).max();
    Version::parse(exact.or_else(same_minor)?.1)
}

/// The image family of a repository.
pub fn image_family(_repository: &str) -> Option<&'static str> {
    None
}

static ACCELERATORS: Table = Table::new(include_str!("../../rules/catalog/accelerator_resources.csv"));

/// An extended resource that stands for accelerators.
#[derive(Debug, Clone, Copy)]
pub struct Accelerator {
    /// nvidia, amd, intel, google, aws, habana …
    pub vendor: &'static str,
    /// Whether its quantity counts devices (else memory, cores or percent of one).
    pub devices: bool,
}

/// The accelerator behind an extended resource name; a pattern ends in `*`.
pub fn accelerator(resource: &str) -> Option<Accelerator> {
    let row = ACCELERATORS.rows().iter().find(|r| match get(r, "resource").strip_suffix('*') {
        Some(prefix) => resource.starts_with(prefix),
        None => resource == get(r, "resource"),
    })?;
    Some(Accelerator { vendor: get(row, "vendor"), devices: get(row, "unit") == "device" })
}

static SERVERS: Table = Table::new(include_str!("../../rules/catalog/servers.csv"));
static LAUNCH_FLAGS: Table = Table::new(include_str!("../../rules/catalog/launch_flags.csv"));

/// An inference server, a notebook server or another program that listens.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// Its name in the vocabulary: vllm, sglang, tgi …
    pub engine: &'static str,
    /// Whether it serves a model.
    pub serves: bool,
    /// Its default port.
    pub port: Option<i64>,
    /// Path of its health check.
    pub health_path: &'static str,
    /// Flags that give it a credential to ask for, space separated.
    pub auth_flags: &'static str,
    /// Variables that do.
    pub auth_envs: &'static str,
    /// What the names of its metrics start with.
    pub metric_prefix: &'static str,
    programs: &'static str,
    images: &'static str,
}

fn servers() -> impl Iterator<Item = Server> {
    SERVERS.rows().iter().map(|row| Server {
        engine: get(row, "engine"),
        serves: get(row, "serves") == "yes",
        port: get(row, "port").parse().ok(),
        health_path: get(row, "health_path"),
        auth_flags: get(row, "auth_flags"),
        auth_envs: get(row, "auth_envs"),
        metric_prefix: get(row, "metric_prefix"),
        programs: get(row, "programs"),
        images: get(row, "images"),
    })
}

/// The server of an engine name.
pub fn server(engine: &str) -> Option<Server> {
    servers().find(|s| s.engine == engine)
}

/// The server that a program or Python module starts.
pub fn server_of_program(program: &str) -> Option<Server> {
    servers().find(|s| s.programs.split_whitespace().any(|p| p == program))
}

/// The server that an image starts by itself.
pub fn server_of_image(name: &str) -> Option<Server> {
    servers().find(|s| s.images.split_whitespace().any(|part| name.contains(part)))
}

/// The server whose metrics have this name.
pub fn server_of_metric(metric: &str) -> Option<Server> {
    servers().find(|s| !s.metric_prefix.is_empty() && metric.contains(s.metric_prefix))
}

/// A flag of a launcher that states a fact.
#[derive(Debug, Clone, Copy)]
pub struct LaunchFlag {
    /// Field of the launch.
    pub field: &'static str,
    /// Names of the flag without dashes, space separated.
    pub flags: &'static str,
    /// Variables that stand for it.
    pub envs: &'static str,
}

/// The flags of an engine.
pub fn launch_flags(engine: &str) -> impl Iterator<Item = LaunchFlag> {
    LAUNCH_FLAGS.rows().iter().filter(move |r| get(r, "engine") == engine).map(|row| LaunchFlag {
        field: get(row, "field"),
        flags: get(row, "flags"),
        envs: get(row, "envs"),
    })
}

static API_REMOVALS: Table = Table::new(include_str!("../../rules/catalog/kubernetes_api_removals.csv"));
static TLS_POLICIES: Table = Table::new(include_str!("../../rules/catalog/tls_policies.csv"));
static MIG_PROFILES: Table = Table::new(include_str!("../../rules/catalog/mig_profiles.csv"));
static CUDA_ROWS: Table = Table::new(include_str!("../../rules/catalog/cuda.csv"));
static MODELS: Table = Table::new(include_str!("../../rules/catalog/models.csv"));

/// The Kubernetes release that no longer serves an API version of a kind.
pub fn api_removed_in(api_version: &str, kind: &str) -> Option<Version> {
    let row = API_REMOVALS.rows().iter().find(|r| get(r, "api_version") == api_version && get(r, "kind") == kind)?;
    Version::parse(get(row, "removed_in"))
}

/// The lowest TLS version that a load balancer's policy accepts.
pub fn tls_policy_minimum(policy: &str) -> Option<Version> {
    Version::parse(get(TLS_POLICIES.rows().iter().find(|r| get(r, "policy") == policy)?, "minimum"))
}

/// How many instances of a MIG profile one GPU holds; `None` when the GPU has no such profile.
pub fn mig_instances(gpu: &str, profile: &str) -> Option<i64> {
    let profile = profile.replace(".me", "+me");
    let row = MIG_PROFILES.rows().iter().find(|r| get(r, "gpu") == gpu && get(r, "profile") == profile)?;
    get(row, "max_instances").parse().ok()
}

/// The MIG profiles of a GPU.
pub fn mig_profiles(gpu: &str) -> Vec<&'static str> {
    MIG_PROFILES.rows().iter().filter(|r| get(r, "gpu") == gpu).map(|r| get(r, "profile")).collect()
}

/// The oldest driver that runs a CUDA release: the minor-version compatibility minimum of its major release, or
/// the toolkit's own driver before CUDA 11.
pub fn min_driver(cuda: &Version) -> Option<Version> {
    let rows = || CUDA_ROWS.rows().iter().filter_map(|r| Some((Version::parse(get(r, "cuda"))?, r)));
    let of_minor =
        rows().filter(|(v, _)| v.major() == cuda.major() && v.minor() == cuda.minor()).map(|(_, r)| r).next();
    let of_major =
        || rows().filter(|(v, _)| v.major() == cuda.major()).map(|(_, r)| r).find(|r| !get(r, "min_driver").is_empty());
    Version::parse(get(of_minor.filter(|r| !get(r, "min_driver").is_empty()).or_else(of_major)?, "min_driver"))
}

/// Parameters of a model in billions.
pub fn model_parameters(name: &str) -> Option<f64> {
    let lower = name.trim().to_lowercase();
    let row = MODELS.rows().iter().find(|r| get(r, "hf_id").to_lowercase() == lower)?;
    get(row, "params_total_b").parse().ok()
}

/// The accelerator labels of GKE.
pub fn gke_accelerators() -> impl Iterator<Item = &'static str> {
    GPU_ROWS.rows().iter().flat_map(|r| get(r, "gke_accelerators").split_whitespace())
}
