//! Machine types of the clouds, and the drivers that platforms install.

use super::gpus::{Gpu, gke_accelerators, gpu, karpenter_names};
use super::table::{Patterned, Row};
use super::tables::{
    ADMISSION_PLUGINS, AMI_FAMILIES, CLOUD_RUN_GPUS, CLUSTER_AGENTS, GCP_ATTACHABLE_GPUS, GCP_MACHINE_FAMILIES,
    GKE_MACHINES, INSTANCES, MACHINE_NAMES, MACHINE_SIZES, NODE_IMAGES, PLAIN_MACHINES, PLATFORMS, SPOT_MARKS,
    SPOT_TAINTS, TPU_TYPES,
};
use crate::evidence;
use crate::suggest::nearest;
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::{LazyLock, OnceLock};

/// A machine type.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Its name.
    pub name: &'static str,
    /// Provider.
    pub provider: &'static str,
    /// Catalog id of its GPU; empty when the catalog has none.
    pub gpu: &'static str,
    /// GPUs; `None` also for a fraction of one.
    pub gpu_count: Option<i64>,
    /// vCPUs.
    pub vcpus: Option<i64>,
    /// Host memory in GiB.
    pub memory_gib: Option<f64>,
    /// Network in Gb/s.
    pub network_gbps: Option<f64>,
    /// Fabric, as the catalog names it.
    pub rdma: &'static str,
    /// Fabric devices.
    pub rdma_nics: Option<i64>,
    /// Whether its GPUs are joined by NVLink or NVSwitch.
    pub nvlink: Option<bool>,
    /// Whether NVSwitch joins them, so that the fabric manager must run.
    pub nvswitch: Option<bool>,
    /// Local NVMe in TB; 0 without.
    pub nvme_tb: Option<f64>,
    /// On-demand price per hour.
    pub price_per_hour: Option<f64>,
    /// Currency of the price.
    pub currency: &'static str,
    /// When the price was read.
    pub price_as_of: &'static str,
    /// The date on which the provider retired it; `yes` where nobody says which.
    pub retired: Option<&'static str>,
    row: Row,
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

    /// CPU architecture, as its GPU decides.
    pub fn arch(&self) -> Option<&'static str> {
        gpu(self.gpu).map(|g| if g.arm64 { "arm64" } else { "amd64" })
    }
}

/// Every machine type, by name.
pub fn instances() -> impl Iterator<Item = &'static Instance> {
    by_name().values()
}

fn by_name() -> &'static BTreeMap<String, Instance> {
    static READ: OnceLock<BTreeMap<String, Instance>> = OnceLock::new();
    let read = || {
        let rows = INSTANCES.rows().map(|row| Instance {
            row,
            name: row.text("instance_type"),
            provider: row.text("provider"),
            gpu: row.text("gpu"),
            gpu_count: row.number("gpu_count"),
            vcpus: row.number("vcpu"),
            memory_gib: row.number("memory_gib"),
            network_gbps: row.number("network_gbps"),
            rdma: row.text("rdma"),
            rdma_nics: row.number("rdma_nics"),
            nvlink: match (row.flag("nvlink"), row.flag("nvswitch")) {
                (None, None) => None,
                (a, b) => Some(a == Some(true) || b == Some(true)),
            },
            nvswitch: row.flag("nvswitch"),
            nvme_tb: row.number("nvme_tb"),
            price_per_hour: row.number("price_per_hour"),
            currency: row.text("currency"),
            price_as_of: row.text("price_as_of"),
            retired: row.filled("retired"),
        });
        rows.map(|instance| (instance.name.to_lowercase(), instance)).collect()
    };
    READ.get_or_init(|| evidence::watched(read).0)
}

/// The family of images that a name in any case is of, and the disk on which its machines keep images and what containers write.
pub fn ami_family(name: &str) -> Option<(&'static str, &'static str)> {
    let row = AMI_FAMILIES.rows().find(|row| row.text("family").eq_ignore_ascii_case(name))?;
    Some((row.text("family"), row.text("pod_disk")))
}

/// The machine type of a name in any case, SageMaker's `ml.` prefix aside.
pub fn instance(name: &str) -> Option<&'static Instance> {
    let lower = name.trim().to_lowercase();
    by_name().get(lower.strip_prefix("ml.").unwrap_or(&lower)).inspect(|instance| instance.row.used())
}

/// vCPUs and memory in GiB of a machine type; of a GCP machine to which GPUs are attached (`n1-standard-8`), by its name.
pub fn host(name: &str) -> Option<(i64, f64)> {
    if let Some(found) = instance(name) {
        return found.vcpus.zip(found.memory_gib);
    }
    if let Some(spec) = name.strip_prefix("bcc.").or_else(|| name.strip_prefix("ebc.")) {
        return baidu_host(spec);
    }
    let (family, vcpus) = name.rsplit_once('-')?;
    let row = GCP_MACHINE_FAMILIES.rows().find(|r| r.text("family") == family)?;
    let vcpus: i64 = vcpus.parse().ok()?;
    Some((vcpus, row.number::<f64>("memory_gib_per_vcpu")? * vcpus as f64))
}

/// vCPUs and memory in GiB as Baidu's names state them: `gn5.c64m256.4a10`.
fn baidu_host(spec: &str) -> Option<(i64, f64)> {
    let (vcpus, gib) = spec.split('.').nth(1)?.strip_prefix('c')?.split_once('m')?;
    Some((vcpus.parse().ok()?, gib.parse().ok()?))
}

/// Programs that make a machine a node of a cluster of Kubernetes.
pub fn cluster_agents() -> impl Iterator<Item = &'static str> {
    CLUSTER_AGENTS.rows().map(|row| row.text("program"))
}

/// The only machine type that has a GKE accelerator.
pub fn gke_machine(accelerator: &str) -> Option<&'static str> {
    GKE_MACHINES.rows().find(|r| r.text("accelerator") == accelerator)?.filled("machine_type")
}

/// Whether some machine type that can be had comes with a GPU, by the GPU's id.
pub fn is_offered(gpu: &str) -> bool {
    static OFFERED: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| by_name().values().filter(|i| i.retired.is_none()).map(|i| i.gpu).collect());
    OFFERED.contains(gpu)
}

/// The most GPUs of NVIDIA that one machine type with this many vCPUs and bytes of memory has; types that the catalog does
/// not fully describe are taken to have them.
pub fn most_gpus(vcpus: f64, memory_bytes: f64) -> Option<i64> {
    static BY_COUNT: LazyLock<Vec<&Instance>> = LazyLock::new(|| {
        let of_nvidia = |i: &&Instance| i.retired.is_none() && gpu(i.gpu).is_some_and(|gpu| gpu.vendor == "nvidia");
        let mut all: Vec<&Instance> = by_name().values().filter(of_nvidia).collect();
        all.sort_by_key(|i| std::cmp::Reverse(i.gpu_count));
        all
    });
    let fits = |i: &&&Instance| {
        i.vcpus.is_none_or(|n| n as f64 >= vcpus) && i.memory_bytes().is_none_or(|n| n as f64 >= memory_bytes)
    };
    BY_COUNT.iter().find(fits)?.gpu_count
}

/// The annotations, or the selectors, by which a pod asks for interruptible capacity: key and value.
pub fn spot_marks(stands: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = SPOT_MARKS.rows().filter(move |row| row.text("stands") == stands);
    rows.map(|row| (row.text("key"), row.text("value")))
}

/// The platform whose nodes on interruptible capacity have a label.
pub fn spot_label_platform(key: &str) -> Option<&'static str> {
    let mut rows = SPOT_MARKS.rows().filter(|row| row.text("stands") == "selector");
    rows.find(|row| row.text("key") == key).map(|row| row.text("platform"))
}

/// The taints that a platform puts on the nodes of a pool on interruptible capacity: key, value, effect.
pub fn spot_taints(platform: &str) -> impl Iterator<Item = [&'static str; 3]> {
    let rows = SPOT_TAINTS.rows().filter(move |row| row.text("platform") == platform);
    rows.map(|row| ["key", "value", "effect"].map(|column| row.text(column)))
}

/// Whether the API server of a platform runs an admission plugin.
pub fn runs_admission_plugin(platform: &str, plugin: &str) -> bool {
    ADMISSION_PLUGINS.rows().any(|row| row.text("platform") == platform && row.text("plugin") == plugin)
}

/// The accelerator machine type nearest to an unknown name of the same family, for "did you mean".
pub fn nearest_instance(name: &str) -> Option<&'static str> {
    nearest(name, by_name().values().map(|i| i.name)).filter(|found| !found.eq_ignore_ascii_case(name))
}

/// The machine type that is spelled most like a name, of those that begin like it: what somebody may have meant who wrote
/// down a name that no machine has.
pub fn likeliest_instance(name: &str) -> Option<&'static str> {
    let plain = name.trim().strip_prefix("ml.").unwrap_or(name.trim()).to_lowercase();
    // The cloud, and what its machines with accelerators are called: Standard_NC, ecs.g.
    let begins = ["standard_n", "ecs.", "bm.gpu", "vm.gpu"].into_iter().find(|start| plain.starts_with(start))?;
    let start = plain.get(..begins.len() + 1).unwrap_or(begins);
    let alike = by_name().iter().filter(|(key, instance)| key.starts_with(start) && instance.retired.is_none());
    crate::suggest::closest(&plain, alike.map(|(_, instance)| instance.name)).map(|(_, found)| found)
}

/// How many GPUs the machine types of an AWS family have, each number once.
pub fn family_counts(family: &str) -> Option<Vec<i64>> {
    let mut counts: Vec<i64> =
        instances_of_family(family)?.iter().map(|machine| machine.gpu_count).collect::<Option<_>>()?;
    counts.sort_unstable();
    counts.dedup();
    Some(counts)
}

/// Whether a name belongs to a family of the catalog (p4d., a2-highgpu-, Standard_NC) without being a row of it.
pub fn is_instance_like(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    let lower = lower.strip_prefix("ml.").unwrap_or(&lower);
    let family = |text: &str| text.find(['.', '-']).map(|end| text[..=end].to_owned());
    let Some(prefix) = family(lower) else { return false };
    by_name().range(prefix.clone()..).next().is_some_and(|(found, _)| found.starts_with(&prefix))
}

/// Whether a machine type is of a family that has no accelerators at all.
pub fn is_plain_machine(name: &str) -> bool {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let all = READ.get_or_init(|| Patterned::all(&PLAIN_MACHINES, "types"));
    all.iter().find(|of| of.is_about(name.trim())).inspect(|of| of.row.used()).is_some()
}

/// How many GPUs a machine of a type has; `None` also for a part of one.
pub fn machine_gpus(name: &str) -> Option<i64> {
    match instance(name) {
        Some(machine) => machine.gpu_count,
        None => is_plain_machine(name).then_some(0),
    }
}

/// The GPU of a machine type.
pub fn instance_gpu(name: &str) -> Option<&'static Gpu> {
    gpu(instance(name)?.gpu)
}

/// The machine types of an AWS family; `None` for one without a row.
pub fn instances_of_family(family: &str) -> Option<Vec<&'static Instance>> {
    let prefix = format!("{}.", family.to_lowercase());
    let all: Vec<&Instance> = of_family(&prefix).collect();
    all.iter().for_each(|instance| instance.row.used());
    (!all.is_empty()).then_some(all)
}

/// The machine types of a provider with accelerators that can still be created.
pub fn machines_with_gpus(provider: &str) -> Vec<&'static Instance> {
    let of_provider = |machine: &&Instance| machine.provider == provider && machine.retired.is_none();
    let all: Vec<&Instance> = by_name().values().filter(of_provider).collect();
    all.iter().for_each(|instance| instance.row.used());
    all
}

impl Instance {
    /// Memory of one of its GPUs in MiB as its provider may count it: the size in its name, or what the driver leaves of it.
    pub fn gpu_mib(&self) -> Option<RangeInclusive<f64>> {
        const LEFT: f64 = 0.9;
        let mib = self.row.number::<f64>("gpu_memory_gb")? * 1024.0;
        Some(mib * LEFT..=mib)
    }
}

/// The GPU that every machine type of an AWS family has; `Some(None)` where they differ.
pub fn instance_family_gpu(family: &str) -> Option<Option<&'static Gpu>> {
    let prefix = format!("{}.", family.to_lowercase());
    let mut of_family = of_family(&prefix);
    let first = of_family.next()?.gpu;
    Some(of_family.all(|i| i.gpu == first).then(|| gpu(first)).flatten())
}

/// What Karpenter calls the cards of an AWS family, each once; none of a family without GPUs.
pub fn family_cards(family: &str) -> Option<Vec<String>> {
    let mut cards: Vec<String> = match instances_of_family(family) {
        Some(machines) => machines.iter().flat_map(|m| karpenter_names(m.gpu)).map(str::to_owned).collect(),
        None => is_plain_machine(&format!("{family}.large")).then(Vec::new)?,
    };
    cards.sort_unstable();
    cards.dedup();
    Some(cards)
}

/// The machine types of AWS whose names begin with a family; other clouds have families of the same names.
fn of_family(prefix: &str) -> impl Iterator<Item = &'static Instance> {
    let from = by_name().range(prefix.to_owned()..).take_while(move |(name, _)| name.starts_with(prefix));
    from.map(|(_, instance)| instance).filter(|instance| instance.provider == "aws")
}

/// The machine types of the same beginning as a name, where all that begin so are known: those of its family, or of a prefix.
pub fn machine_names(name: &str) -> Option<Vec<String>> {
    let name = name.trim();
    let plain = name.strip_prefix("ml.").unwrap_or(name);
    let of_family = plain.rfind(['.', '-']).and_then(|at| {
        let row = MACHINE_SIZES.find("family", &plain[..at])?;
        Some(row.words("sizes").map(|size| format!("{}{size}", &plain[..=at])).collect())
    });
    let begins = |row: &Row| {
        let prefix = row.text("prefix");
        plain.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let longest = || MACHINE_NAMES.rows().filter(begins).max_by_key(|row| row.text("prefix").len());
    of_family.or_else(|| Some(longest()?.words("names").map(str::to_owned).collect()))
}

/// No name of a machine type is longer.
const LONGEST_NAME: usize = 64;

/// Whether a text is the name of a machine type with accelerators, SageMaker's `ml.` prefix aside, or of an accelerator of GKE.
pub fn is_machine(text: &str) -> bool {
    static TPUS: OnceLock<Vec<Patterned>> = OnceLock::new();
    // Most texts are no names of machines, and this is asked of each value of a document.
    let has = |class: fn(&u8) -> bool| text.bytes().any(|byte| class(&byte));
    if text.len() > LONGEST_NAME || !has(u8::is_ascii_digit) || !has(u8::is_ascii_alphabetic) {
        return false;
    }
    let lower = text.to_lowercase();
    by_name().contains_key(lower.strip_prefix("ml.").unwrap_or(&lower))
        || gke_accelerators().any(|name| name == text)
        || TPUS.get_or_init(|| Patterned::all(&TPU_TYPES, "type")).iter().any(|of| of.is_about(text))
}

/// The driver that a platform release installs by default; of the same minor release when it has no row.
pub fn platform_driver(platform: &str, version: &str) -> Option<Version> {
    let wanted = Version::parse(version)?;
    let rows = PLATFORMS.rows().filter(|r| r.text("platform") == platform);
    let dated: Vec<_> = rows.filter_map(|r| Some((r.version("version")?, r.text("driver")))).collect();
    let exact = dated.iter().find(|(v, _)| *v == wanted);
    let same_minor = || dated.iter().filter(|(v, _)| v.release().get(..2) == wanted.release().get(..2)).max();
    Version::parse(exact.or_else(same_minor)?.1)
}

/// The driver that a platform last reported for its mode DEFAULT; which one a cluster gets depends on its release.
pub fn default_driver(platform: &str) -> Option<Version> {
    let named = |r: &super::table::Row| r.text("platform").strip_suffix("-default") == Some(platform);
    PLATFORMS.rows().filter(named).max_by_key(|r| r.text("date"))?.version("driver")
}

/// The container toolkit that a platform release brings.
pub fn platform_toolkit(platform: &str, version: &str) -> Option<Version> {
    let wanted = Version::parse(version)?;
    let mut rows = PLATFORMS.rows().filter(|r| r.text("platform") == platform);
    rows.find(|r| r.version("version").as_ref() == Some(&wanted))?.version("container_toolkit")
}

/// The driver of an EKS AMI: its type (AL2_x86_64_GPU), its release (20250116) and the Kubernetes minor release. A
/// release without a row has the driver that the releases before and after it agree on.
pub fn eks_ami_driver(ami_type: &str, release: &str, kubernetes: Option<&str>) -> Option<Version> {
    fn date(release: &str) -> &str {
        let release = release.trim_start_matches('v');
        release.rsplit_once('-').map_or(release, |(_, date)| date)
    }
    let wanted = date(release);
    let of_type = |r: &super::table::Row| r.text("platform") == "eks-ami" && r.text("variant") == ami_type;
    let holds = |r: &super::table::Row| kubernetes.is_none_or(|k| r.words("kubernetes").any(|v| v == k));
    let rows: Vec<_> = PLATFORMS.rows().filter(|r| of_type(r) && holds(r)).collect();
    let driver_on = |day: &str| {
        let mut drivers = rows.iter().filter(|r| date(r.text("version")) == day).map(|r| r.version("driver"));
        let first = drivers.next()?;
        drivers.all(|driver| driver == first).then_some(first).flatten()
    };
    let days = || rows.iter().map(|r| date(r.text("version")));
    if days().any(|day| day == wanted) {
        return driver_on(wanted);
    }
    let before = driver_on(days().filter(|day| *day < wanted).max()?)?;
    let after = driver_on(days().filter(|day| *day > wanted).min()?)?;
    (before == after).then_some(before)
}

/// What a platform says of a node image.
#[derive(Debug, Clone)]
pub struct NodeImage {
    /// Whether it brings the NVIDIA driver.
    pub driver: Option<bool>,
    /// The last Kubernetes release that it is built for; absent while it is built.
    pub last_kubernetes: Option<Version>,
    /// The date since which it gets no security patches and no drivers; absent while it does.
    pub end_of_support: Option<&'static str>,
}

/// A platform's node image: an EKS AMI type, a GKE image type, an AKS OS SKU.
pub fn node_image(platform: &str, image: &str) -> Option<NodeImage> {
    let mut rows = NODE_IMAGES.rows().filter(|r| r.text("platform") == platform);
    let row = rows.find(|r| r.text("image").eq_ignore_ascii_case(image))?;
    Some(NodeImage {
        driver: row.flag("driver"),
        last_kubernetes: row.version("last_kubernetes"),
        end_of_support: row.filled("end_of_support"),
    })
}

/// Numbers of an accelerator that may be attached to one machine of Google's N1 family; `None` for an accelerator
/// that is not attached to machines of any other family.
pub fn attachable_counts(accelerator: &str) -> Option<Vec<i64>> {
    let row = GCP_ATTACHABLE_GPUS.find("accelerator", accelerator)?;
    Some(row.words("counts").filter_map(|n| n.parse().ok()).collect())
}

/// Least vCPUs and GiB of memory of a Cloud Run container with an accelerator.
pub fn cloud_run_minimum(accelerator: &str) -> Option<(i64, i64)> {
    let row = CLOUD_RUN_GPUS.find("accelerator", accelerator)?;
    Some((row.number("vcpu")?, row.number("memory_gib")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Option<Version> {
        Version::parse(text)
    }

    #[test]
    fn machines_by_any_spelling() {
        assert_eq!(instance("ml.p4d.24xlarge").and_then(|i| i.gpu_count), Some(8));
        assert_eq!(instance("standard_nc24ads_a100_v4").map(|i| i.gpu), Some("A100-PCIE-80GB"));
        assert_eq!(instance_gpu("g5.xlarge").map(|g| g.id), Some("A10G"));
        assert_eq!(instance("g5g.xlarge").and_then(Instance::arch), Some("arm64"));
        assert_eq!(instance("p5.48xlarge").and_then(|i| i.rdma_nics), Some(32));
        assert_eq!(nearest_instance("g5.2xlrage"), Some("g5.2xlarge"));
        assert!(is_instance_like("g5.3xlarge") && !is_instance_like("m5.large"));
    }

    #[test]
    fn drivers_of_platforms() {
        assert_eq!(platform_driver("gpu-operator", "v25.3.0"), v("570.124.06"));
        assert_eq!(platform_driver("gpu-operator", "24.9.9"), platform_driver("gpu-operator", "v24.9.2"));
        assert_eq!(eks_ami_driver("AL2_x86_64_GPU", "1.31-20250116", Some("1.31")), v("550.144.03"));
        assert_eq!(node_image("eks", "AL2023_x86_64_STANDARD").and_then(|i| i.driver), Some(false));
        assert_eq!(attachable_counts("nvidia-l4"), None);
    }
}
