//! GPUs, their names in every scheme, MIG profiles and architectures.

use super::complete;
use super::table::{Row, Table};
use super::tables::{
    ACCELERATOR_CORES, COMPUTE_CAPABILITIES, GPU_NAMES, GPU_TOTALS, GPUS, MIG_PROFILES, SKYPILOT_ACCELERATORS,
};
use crate::evidence;
use crate::suggest::{closest, nearest};
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// A GPU model.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// Id: H100-SXM, A100-SXM4-40GB.
    pub id: &'static str,
    /// Product name.
    pub name: &'static str,
    /// nvidia, amd, google, aws, intel.
    pub vendor: &'static str,
    /// Architecture: Ampere, Hopper.
    pub arch: &'static str,
    /// Compute capability (NVIDIA).
    pub compute_capability: Option<Version>,
    /// Memory in GB as the product is sold.
    pub memory_gb: Option<i64>,
    /// Memory in MiB as nvidia-smi reports it, else the marketing size.
    pub memory_mib: Option<i64>,
    /// Memory bandwidth in GB/s.
    pub memory_gb_per_s: Option<f64>,
    /// Whether it has MIG.
    pub mig: bool,
    /// Whether it has a video encoder (NVENC).
    pub nvenc: Option<bool>,
    /// Whether it comes with an Arm processor only.
    pub arm64: bool,
    /// NVLink bandwidth in GB/s; 0 without NVLink.
    pub nvlink_gbs: Option<i64>,
    /// Board power in watts.
    pub tdp_w: Option<i64>,
    /// Whether it is a data-center or professional product (forward compatibility works on these only).
    pub datacenter: bool,
    /// First driver branch that knows it.
    pub first_branch: Option<u64>,
    /// Last driver branch that knows it.
    pub last_branch: Option<u64>,
    /// Kernel modules that drive it: proprietary, either or open.
    pub kernel_modules: Option<&'static str>,
    /// Accelerator names on GKE.
    pub gke_accelerators: &'static str,
}

fn read(row: Row) -> Gpu {
    let compute_capability = row.version("compute_capability");
    let architecture = compute_capability.as_ref().and_then(architecture);
    let name = row.text("name");
    Gpu {
        id: row.text("id"),
        name,
        vendor: row.text("vendor"),
        arch: row.text("architecture"),
        memory_gb: row.number("memory_gb"),
        memory_mib: row.number("memory_mib").or_else(|| Some(row.number::<i64>("memory_gb")? * 1024)),
        memory_gb_per_s: row.number("memory_gb_per_s"),
        mig: row.flag("mig") == Some(true),
        nvenc: row.flag("nvenc"),
        arm64: row.flag("arm64") == Some(true),
        nvlink_gbs: row.number::<f64>("nvlink_gb_per_s").map(|gb| gb.round() as i64),
        tdp_w: row.number("tdp_w"),
        datacenter: !name.contains("GeForce") && !name.contains("TITAN"),
        first_branch: row.number("first_branch").or(architecture.as_ref().and_then(|a| a.first_branch)),
        last_branch: architecture.as_ref().and_then(|a| a.last_branch),
        kernel_modules: architecture.as_ref().map(|a| a.kernel_modules),
        gke_accelerators: row.text("gke_accelerators"),
        compute_capability,
    }
}

/// Every GPU.
pub fn gpus() -> &'static [Gpu] {
    static READ: OnceLock<Vec<Gpu>> = OnceLock::new();
    READ.get_or_init(|| evidence::watched(|| GPUS.rows().map(read).collect()).0)
}

/// Rows of `gpus()` by every name of them in lower case; several boards share what people call them.
fn names() -> &'static BTreeMap<String, Vec<usize>> {
    static NAMES: OnceLock<BTreeMap<String, Vec<usize>>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut add = |name: &str, index| {
            if !name.is_empty() {
                names.entry(name.to_lowercase()).or_default().push(index);
            }
        };
        for (index, row) in GPUS.rows().enumerate() {
            ["id", "name", "product_label"].iter().for_each(|column| add(row.text(column), index));
        }
        for (index, row) in GPUS.rows().enumerate() {
            let others = ["gke_accelerators", "karpenter_name", "aliases"];
            others.iter().flat_map(|column| row.words(column)).for_each(|name| add(name, index));
        }
        for row in GPU_NAMES.rows() {
            if let Some(index) = GPUS.rows().position(|gpu| gpu.text("id") == row.text("gpu")) {
                ["name", "product_label"].iter().for_each(|column| add(row.text(column), index));
            }
        }
        for rows in names.values_mut() {
            let mut seen = BTreeSet::new();
            rows.retain(|index| seen.insert(*index));
        }
        names
    })
}

/// The GPUs of a name in any case: id, alias, `nvidia.com/gpu.product` label (with sharing or MIG suffix), GKE
/// accelerator, Karpenter, SkyPilot or NVML name. An H100 is a card of PCIe or a module of SXM.
pub fn gpus_named(name: &str) -> impl Iterator<Item = &'static Gpu> {
    let lower = name.trim().to_lowercase();
    let plain = lower.strip_suffix("-shared").unwrap_or(&lower);
    let plain = plain.split_once("-mig-").map_or(plain, |(head, _)| head);
    // People write `RTX 4090` and `RTX4090` for what a site calls `RTX-4090`.
    let apart = plain.strip_prefix("rtx").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    // Vertex AI writes `NVIDIA_TESLA_T4` for `nvidia-tesla-t4`.
    let spelled = [plain.replace([' ', '_'], "-"), format!("rtx-{}", apart.unwrap_or_default())];
    let found = names().get(plain).or_else(|| spelled.iter().find_map(|name| names().get(name.as_str())));
    found.into_iter().flatten().filter_map(|index| {
        GPUS.rows().nth(*index)?.used();
        gpus().get(*index)
    })
}

/// What GPUs are called, in lower case.
pub fn gpu_names() -> impl Iterator<Item = &'static str> {
    names().keys().map(String::as_str)
}

/// The first GPU of a name.
pub fn gpu(name: &str) -> Option<&'static Gpu> {
    gpus_named(name).next()
}

/// What Karpenter calls a GPU.
pub(super) fn karpenter_names(id: &str) -> impl Iterator<Item = &'static str> + use<> {
    GPUS.find("id", id).into_iter().flat_map(|row| row.words("karpenter_name"))
}

/// Every GPU that a site may mean by a name of its own: `a100` is a card of 40 or of 80 GB, with or without NVLink,
/// `v100-32g` one with so much memory.
pub fn gpus_called(name: &str) -> impl Iterator<Item = &'static Gpu> {
    let name = name.trim().to_lowercase();
    let mut all = of_series(&name);
    let sized = || {
        let (base, size) = name.rsplit_once(['-', '_'])?;
        let size = size.trim_end_matches('b');
        let size: i64 = size.strip_suffix('g').unwrap_or(size).parse().ok()?;
        Some(of_series(base).into_iter().filter(move |gpu| gpu.memory_gb == Some(size)))
    };
    if all.is_empty() {
        all.extend(sized().into_iter().flatten());
    }
    all.into_iter()
}

/// The GPUs of a name, and those whose ids begin with it.
fn of_series(name: &str) -> Vec<&'static Gpu> {
    let series = format!("{name}-");
    let named: Vec<&Gpu> = gpus_named(name).collect();
    let exact = named.iter().any(|gpu| gpu.id.to_lowercase() == name);
    let longer = |gpu: &&Gpu| !exact && gpu.vendor == "nvidia" && gpu.id.to_lowercase().starts_with(&series);
    let longer: Vec<&Gpu> = gpus().iter().filter(longer).filter(|gpu| named.iter().all(|n| n.id != gpu.id)).collect();
    [named, longer].concat()
}

/// The GPUs that SkyPilot means by a name on a cloud, or on any: others than people may mean where it says so.
pub fn skypilot_gpus(name: &str, cloud: &str) -> std::vec::IntoIter<&'static Gpu> {
    let of_name = |row: &Row| row.text("accelerator").eq_ignore_ascii_case(name);
    let rows = || SKYPILOT_ACCELERATORS.rows().filter(of_name);
    match rows().find(|row| row.text("cloud") == cloud).or_else(|| rows().find(|row| row.text("cloud").is_empty())) {
        Some(row) => {
            row.used();
            row.words("gpus").filter_map(|id| gpus().iter().find(|gpu| gpu.id == id)).collect::<Vec<_>>()
        }
        None => gpus_named(name).collect(),
    }
    .into_iter()
}

/// The GPUs that Karpenter means by a name.
pub fn karpenter_gpus(name: &str) -> impl Iterator<Item = &'static Gpu> {
    let of_karpenter = move |id| GPUS.find("id", id).is_some_and(|row| row.words("karpenter_name").any(|n| n == name));
    gpus_named(name).filter(move |gpu| of_karpenter(gpu.id))
}

/// Cores of an accelerator that a framework counts as devices of their own; 1 where the accelerator is the device.
pub fn accelerator_cores(id: &str) -> Option<i64> {
    match ACCELERATOR_CORES.find("gpu", id) {
        Some(row) => row.number("cores"),
        None => gpu(id).map(|_| 1),
    }
}

/// Memory of a GPU in GiB as programs see it (CUDA's total): less than nvidia-smi's figure and the size in its name.
/// `None` when nobody logged it.
pub fn gpu_total_gib(gpu: &str) -> Option<f64> {
    GPU_TOTALS.find("gpu", gpu)?.number("total_gib")
}

/// Whether NVIDIA's drivers report a product by this name or label.
pub fn product_known(name: &str) -> Option<bool> {
    let says = |text: &str| text.eq_ignore_ascii_case(name);
    let found = gpu(name).is_some() || GPU_NAMES.rows().any(|r| says(r.text("name")) || says(r.text("product_label")));
    known(found, &GPU_NAMES, "nvidia.com/gpu.product")
}

/// Whether GKE has an accelerator of this name.
pub fn gke_accelerator_known(name: &str) -> Option<bool> {
    known(gke_accelerators().any(|known| known == name), &GPUS, "cloud.google.com/gke-accelerator")
}

/// Yes where there is a row; no only where the table holds everything of its family.
fn known(found: bool, table: &Table, family: &str) -> Option<bool> {
    (found || complete(table.name, family)).then_some(found)
}

/// The accelerator names that GKE knows.
pub fn gke_accelerators() -> impl Iterator<Item = &'static str> {
    gpus().iter().flat_map(|gpu| gpu.gke_accelerators.split_ascii_whitespace())
}

/// The GKE accelerator name that a wrong one means: the same model behind another prefix, else the nearest spelling.
pub fn nearest_gke_accelerator(name: &str) -> Option<&'static str> {
    let model = |text: &str| text.rsplit('-').next().unwrap_or(text).to_lowercase();
    gke_accelerators().find(|known| model(known) == model(name)).or_else(|| nearest(name, gke_accelerators()))
}

/// The product label most like an unknown one: of the same model name, so that only the rest is in doubt.
pub fn nearest_product(label: &str) -> Option<&'static str> {
    let plain = label.split("-MIG-").next().unwrap_or(label).trim_end_matches("-SHARED");
    let model =
        |text: &str| text.split('-').find(|part| part.contains(|c: char| c.is_ascii_digit())).map(str::to_lowercase);
    let wanted = model(plain)?;
    let labels = GPUS.rows().chain(GPU_NAMES.rows()).map(|r| r.text("product_label")).filter(|l| !l.is_empty());
    closest(plain, labels.filter(|label| model(label).as_ref() == Some(&wanted))).map(|(_, label)| label)
}

/// The value of the label `nvidia.com/gpu.family` on nodes with a compute capability.
pub fn family_label(compute_capability: &Version) -> Option<&'static str> {
    let of = |r: &Row| r.version("compute_capability").as_ref() == Some(compute_capability);
    COMPUTE_CAPABILITIES.rows().find(of)?.filled("family")
}

/// Whether some GPU has a value of the label `nvidia.com/gpu.family`.
pub fn family_label_known(label: &str) -> Option<bool> {
    let found = COMPUTE_CAPABILITIES.find("family", label).is_some();
    known(found, &COMPUTE_CAPABILITIES, "nvidia.com/gpu.family")
}

/// The GPU that a text of words names (`nvidia-gpu-rtx4090-24gb`), when it names one.
pub fn gpu_named_in(text: &str) -> Option<&'static Gpu> {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    gpu(text).or_else(|| words.find_map(|word| gpu(word.trim_start_matches("rtx"))))
}

/// The memory in MiB that the driver reports of a GPU of an architecture (`nvidia.com/gpu.family`) whose name promises
/// `mib`; `Some(None)` when some GPU of it reports just that.
pub fn reported_memory(family: &str, mib: i64) -> Option<Option<i64>> {
    let family = family.to_lowercase();
    let of_family =
        || gpus().iter().filter(|gpu| gpu.vendor == "nvidia" && family.starts_with(&gpu.arch.to_lowercase()));
    if of_family().any(|gpu| gpu.memory_mib == Some(mib)) {
        return Some(None);
    }
    of_family().filter(|gpu| gpu.memory_gb.is_some_and(|gb| gb * 1024 == mib)).find_map(|gpu| gpu.memory_mib).map(Some)
}

/// A MIG profile of a GPU.
#[derive(Debug, Clone)]
pub struct MigProfile {
    /// 1g.10gb, 1g.10gb+me.
    pub profile: &'static str,
    /// Resource name under the mixed strategy.
    pub resource: &'static str,
    /// Compute slices it takes.
    pub compute_slices: Option<i64>,
    /// Compute slices of the whole GPU.
    pub total_slices: Option<i64>,
    /// Memory in MiB as nvidia-smi reports it, else the size in its name.
    pub memory_mib: Option<i64>,
    /// Instances of it on one GPU.
    pub max_instances: Option<i64>,
}

fn mig_rows(gpu: &str) -> impl Iterator<Item = MigProfile> {
    MIG_PROFILES.rows().filter(move |r| r.text("gpu") == gpu).map(|row| MigProfile {
        profile: row.text("profile"),
        resource: row.text("resource"),
        compute_slices: row.number("compute_slices"),
        total_slices: row.number("total_slices"),
        memory_mib: row.number("memory_mib").or_else(|| Some(row.number::<i64>("memory_gb")? * 1024)),
        max_instances: row.number("max_instances"),
    })
}

/// A MIG profile of a GPU by its name; `+me` may be written `.me`, as in resource names.
pub fn mig_profile(gpu: &str, profile: &str) -> Option<MigProfile> {
    let wanted = profile.replace(".me", "+me").replace(".gfx", "+gfx");
    mig_rows(gpu).find(|p| p.profile == wanted)
}

/// How many instances of a MIG profile one GPU holds: 0 when it has no MIG, or when the table holds every profile of it
/// and not this one.
pub fn mig_instances(id: &str, profile: &str) -> Option<i64> {
    match mig_profile(id, profile) {
        Some(found) => found.max_instances,
        None => (has_no_mig(id) || complete(MIG_PROFILES.name, id)).then_some(0),
    }
}

fn has_no_mig(id: &str) -> bool {
    gpu(id).is_some_and(|gpu| !gpu.mig)
}

/// Whether some GPU holds these MIG instances side by side, by profile and number: none beyond its own maximum, and
/// together no more compute slices than the GPU has. `None` when no GPU has them all.
pub fn mig_layout_fits(layout: &[(String, i64)]) -> Option<bool> {
    let holds = |gpu: &Gpu| -> Option<bool> {
        let wanted: Vec<(MigProfile, i64)> = layout
            .iter()
            .map(|(profile, count)| Some((mig_profile(gpu.id, profile)?, *count)))
            .collect::<Option<_>>()?;
        let slices: i64 = wanted.iter().filter_map(|(p, count)| Some(p.compute_slices? * count)).sum();
        let whole = mig_rows(gpu.id).filter_map(|p| p.total_slices).max().unwrap_or(i64::MAX);
        Some(slices <= whole && wanted.iter().all(|(p, count)| p.max_instances.is_none_or(|max| *count <= max)))
    };
    gpus().iter().filter_map(holds).reduce(|some, other| some || other)
}

/// The MIG profiles of a GPU; none of a GPU without MIG.
pub fn mig_profiles(id: &str) -> Option<Vec<&'static str>> {
    let profiles: Vec<&str> = mig_rows(id).map(|p| p.profile).collect();
    (!profiles.is_empty() || has_no_mig(id)).then_some(profiles)
}

/// What toolkits and drivers know of a compute capability.
#[derive(Debug, Clone)]
pub struct Architecture {
    /// Ampere, Hopper.
    pub name: &'static str,
    /// First CUDA release that compiles for it.
    pub first_cuda: Option<Version>,
    /// Last CUDA release that does.
    pub last_cuda: Option<Version>,
    /// First driver branch that knows it.
    pub first_branch: Option<u64>,
    /// Last driver branch that does.
    pub last_branch: Option<u64>,
    /// Kernel modules that drive it: proprietary, either or open.
    pub kernel_modules: &'static str,
}

/// The architecture of a compute capability.
pub fn architecture(compute_capability: &Version) -> Option<Architecture> {
    let row =
        COMPUTE_CAPABILITIES.rows().find(|r| r.version("compute_capability").as_ref() == Some(compute_capability))?;
    Some(Architecture {
        name: row.text("architecture"),
        first_cuda: row.version("first_cuda"),
        last_cuda: row.version("last_cuda"),
        first_branch: row.number("first_branch"),
        last_branch: row.number("last_branch"),
        kernel_modules: row.text("kernel_modules"),
    })
}

/// How compiled code reaches a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// A binary of the same major and no newer minor compute capability.
    Binary,
    /// PTX only: the driver compiles it, and must be as new as the CUDA release that made it.
    Ptx,
    /// Nothing: "no kernel image is available".
    Missing,
}

/// Whether binaries (`80 86 90a`) and PTX (`90`) reach a compute capability. `None` without any list.
pub fn coverage(binaries: &str, ptx: &str, compute_capability: &Version) -> Option<Coverage> {
    if binaries.trim().is_empty() && ptx.trim().is_empty() {
        return None;
    }
    let wanted = (compute_capability.major(), compute_capability.minor());
    let capability = |code: &str| {
        let digits = code.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let (major, minor) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
        Some((major.parse::<u64>().ok()?, minor.parse::<u64>().ok()?, digits.len() != code.len()))
    };
    let binary = binaries.split_whitespace().filter_map(capability).any(|(major, minor, specific)| {
        if specific { (major, minor) == wanted } else { major == wanted.0 && minor <= wanted.1 }
    });
    let newer = |(major, minor, specific): (u64, u64, bool)| !specific && (major, minor) <= wanted;
    Some(if binary {
        Coverage::Binary
    } else if ptx.split_whitespace().filter_map(capability).any(newer) {
        Coverage::Ptx
    } else {
        Coverage::Missing
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_names_the_same_gpu() {
        for name in [
            "H100-SXM",
            "h100",
            "NVIDIA-H100-80GB-HBM3",
            "nvidia-h100-80gb",
            "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED",
        ] {
            assert_eq!(gpu(name).map(|g| g.compute_capability.clone()), Some(Version::parse("9.0")), "{name}");
        }
        assert_eq!(gpu("nvidia-tesla-t4").map(|g| g.id), Some("T4"));
        assert_eq!(gpu("A100-80GB").and_then(|g| g.memory_mib), Some(81920));
        assert_eq!(gpu("a10g").map(|g| g.id), Some("A10G"));
        assert!(gpu("A1001").is_none());
        let called = |name| gpus_called(name).map(|gpu| gpu.id).collect::<Vec<_>>();
        assert_eq!(called("v100-32g"), ["V100-PCIE-32GB", "V100-SXM2-32GB"]);
        assert!(called("v100-33g").is_empty() && called("big-32g").is_empty());
        assert_eq!(nearest_gke_accelerator("nvidia-tesla-l4"), Some("nvidia-l4"));
        assert_eq!(nearest_gke_accelerator("nvidia-tesla-t-4"), Some("nvidia-tesla-t4"));
    }

    #[test]
    fn binaries_serve_their_major_and_ptx_serves_newer() {
        let on = |sm, ptx, cc| coverage(sm, ptx, &Version::parse(cc).expect("version"));
        assert_eq!(on("80 86 90", "", "8.9"), Some(Coverage::Binary));
        assert_eq!(on("80 90", "", "12.0"), Some(Coverage::Missing));
        assert_eq!(on("80", "90", "12.0"), Some(Coverage::Ptx));
        assert_eq!(on("90a", "", "9.0"), Some(Coverage::Binary));
        assert_eq!(on("100a", "", "10.3"), Some(Coverage::Missing));
        assert_eq!(on("", "", "8.0"), None);
    }

    #[test]
    fn profiles_by_both_spellings() {
        assert_eq!(mig_instances("A100-SXM4-40GB", "1g.5gb"), Some(7));
        assert_eq!(mig_instances("A100-SXM4-40GB", "1g.5gb.me"), Some(1));
        assert_eq!(mig_instances("A100-SXM4-40GB", "1g.10gb.shared"), Some(0), "its profiles are all known");
        assert_eq!(mig_instances("T4", "1g.5gb"), Some(0), "it has no MIG");
        assert_eq!(mig_instances("B100", "1g.23gb"), None, "it has MIG, and no row says which profiles");
    }
}
