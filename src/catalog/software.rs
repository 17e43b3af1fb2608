//! Packages: builds and their GPU code, what they need of CUDA, Python, glibc and each other, operating systems.

use super::gpus::{Coverage, coverage};
use super::table::{Row, within};
use super::tables::{
    BASE_OS, BUILDS, CONFLICTING_PACKAGES, CPU_ONLY_PACKAGES, PACKAGE_EXTRAS, PACKAGE_TRAITS, RUNTIME_NEEDS,
    TOOLKIT_RANGES, TORCH_VARIANTS, WHEEL_GLIBC,
};
use super::wheels::{wheel_pythons, wheel_requirement, wheels_cap, wheels_require};
use crate::version::Version;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A build of a package: one release and variant.
#[derive(Debug, Clone)]
pub struct Build {
    /// Package: torch, tensorflow, vllm.
    pub package: &'static str,
    /// Release.
    pub version: Version,
    /// Variant: cu121, rocm6.1, and-cuda; empty when there is one build.
    pub variant: &'static str,
    /// CUDA release that it was built with; the major release alone when no more is known.
    pub cuda: Option<Version>,
    /// cuDNN that it needs.
    pub cudnn: Option<Version>,
    /// torch that it pins.
    pub torch: Option<Version>,
    /// Range of Python releases; empty when not known.
    pub python: &'static str,
    /// Binaries for these compute capabilities: `70 75 80 90a`.
    pub sm: &'static str,
    /// PTX for these.
    pub ptx: &'static str,
    /// Lowest compute capability that it runs on.
    pub min_compute_capability: Option<Version>,
    /// Oldest driver that it runs with.
    pub min_driver: Option<Version>,
    /// Where the architectures come from: wheel, documented, interpolated.
    pub confidence: &'static str,
}

impl Build {
    /// How its GPU code reaches a compute capability; `None` when the catalog does not list the code.
    pub fn coverage(&self, compute_capability: &Version) -> Option<Coverage> {
        coverage(self.sm, self.ptx, compute_capability)
    }
}

fn build(row: Row) -> Option<Build> {
    Some(Build {
        package: row.text("package"),
        version: row.version("version")?,
        variant: row.text("variant"),
        cuda: row.version("cuda").or_else(|| row.version("cuda_major")),
        cudnn: row.version("cudnn"),
        torch: row.version("torch"),
        python: row.text("python"),
        sm: row.text("sm"),
        ptx: row.text("ptx"),
        min_compute_capability: row.version("min_compute_capability"),
        min_driver: row.version("min_driver"),
        confidence: row.text("confidence"),
    })
}

/// The builds of a package, in no order of releases.
fn builds(package: &str) -> impl Iterator<Item = Row> + Clone {
    BUILDS.about(package)
}

/// The build of a release: of the variant named, else the one that the package index serves. Without a row of its
/// own, a release is taken to be built like the nearest earlier patch of its minor release.
pub fn framework_build(package: &str, version: &Version, variant: Option<&str>) -> Option<Build> {
    let wanted = |r: &Row| match variant {
        Some(variant) => r.text("variant") == variant,
        None => r.flag("default") == Some(true),
    };
    let of_minor = |v: &Version| v.major() == version.major() && v.minor() == version.minor();
    let rows: Vec<(Version, Row)> = builds(package)
        .filter(wanted)
        .filter_map(|r| Some((r.version("version")?, r)))
        .filter(|(v, _)| of_minor(v))
        .collect();
    let latest = |rows: Vec<&(Version, Row)>| rows.into_iter().max_by(|a, b| a.0.cmp(&b.0)).map(|(_, row)| *row);
    // `torch==2.4` is 2.4.0 to pip, and an image called 2.4 is the newest patch: take what both agree on.
    let not_newer = latest(rows.iter().filter(|(v, _)| v <= version).collect());
    build(not_newer.or_else(|| latest(rows.iter().filter(|(v, _)| v.starts_with(version)).collect()))?)
}

/// The newest final release that the table has, of those that support a Python release, are built in a variant and lie
/// in a range.
pub fn newest_release(
    package: &str,
    python: Option<&Version>,
    (variant, range): (Option<&str>, &str),
) -> Option<Version> {
    let fits = |r: &Row| python.is_none_or(|p| within(p, r.text("python")));
    let built = |r: &Row| variant.map_or(!r.text("variant").starts_with("rocm"), |v| r.text("variant") == v);
    let versions = builds(package).filter(|r| built(r) && fits(r)).filter_map(|r| r.version("version"));
    versions.filter(|v| !v.is_prerelease() && within(v, range)).max()
}

/// Whether anything is known of what releases of a package need of others.
pub fn decides_others(package: &str) -> bool {
    static DECIDING: LazyLock<BTreeSet<&str>> = LazyLock::new(|| BUILDS.rows().map(|r| r.text("package")).collect());
    DECIDING.contains(package) || wheels_require(package)
}

/// Whether some release of a package states which releases of another go with it.
pub fn constrains(package: &str, other: &str) -> bool {
    let built = || builds(package).any(|r| r.filled("torch").or_else(|| r.filled("torch_requirement")).is_some());
    wheels_cap(package, other) || other == "torch" && built()
}

/// The packages that an extra of a package brings along.
pub fn extra_packages(package: &str, extra: &str) -> impl Iterator<Item = &'static str> {
    let of_extra = |r: &Row| r.text("package") == package && r.text("extra") == extra;
    PACKAGE_EXTRAS.rows().filter(of_extra).flat_map(|r| r.words("brings")).collect::<Vec<_>>().into_iter()
}

/// The range of `other` that the metadata of a release states, which pip enforces.
pub fn package_requirement(package: &str, version: &Version, other: &str) -> Option<String> {
    // A nightly build goes with the others of its day, which no table lists.
    if version.is_nightly() {
        return None;
    }
    if let Some(range) = wheel_requirement(package, version, other) {
        return Some(range.to_owned());
    }
    if other != "torch" {
        return None;
    }
    let exact = builds(package).find(|r| r.version("version").as_ref() == Some(version))?;
    let pinned = exact.version("torch").map(|torch| format!("=={torch}"));
    // Some rows list the releases that wheels were made for instead; a build from source runs with others, too.
    let range = exact.filled("torch_requirement").filter(|range| range.starts_with(['<', '>', '=', '!', '~']));
    pinned.or_else(|| range.map(str::to_owned))
}

/// Whether the PyTorch index has a release in a variant (cu121, rocm6.2); `None` where the table does not reach it.
pub fn torch_variant_exists(version: &Version, variant: &str) -> Option<bool> {
    let row = TORCH_VARIANTS.rows().find(|r| r.holds(version))?;
    let kind =
        ["cu", "rocm"].into_iter().find(|kind| variant.starts_with(kind)).or((variant == "cpu").then_some("cpu"))?;
    row.words("variants")
        .any(|known| known.starts_with(kind))
        .then(|| row.words("variants").any(|known| known == variant))
}

/// Whether the PyTorch index has any release in a variant; `None` for variants of toolkits that are older or newer than those
/// of the table.
pub fn torch_variant_known(variant: &str) -> Option<bool> {
    let all = || TORCH_VARIANTS.rows().flat_map(|row| row.words("variants"));
    let kind = ["cu", "rocm"].into_iter().find(|kind| variant.starts_with(kind))?;
    let toolkit = |variant: &str| toolkit_of(variant.strip_prefix(kind)?);
    let wanted = toolkit(variant)?;
    let within =
        all().filter_map(toolkit).any(|known| known < wanted) && all().filter_map(toolkit).any(|known| wanted < known);
    let known = all().any(|known| known == variant);
    (known || within).then_some(known)
}

/// The release of a toolkit as the name of a variant has it: `124` is 12.4, `6.2.4` as it stands.
fn toolkit_of(digits: &str) -> Option<Version> {
    match digits.len() {
        3 if !digits.contains('.') => Version::parse(&format!("{}.{}", &digits[..2], &digits[2..])),
        _ => Version::parse(digits).filter(|_| digits.contains('.')),
    }
}

/// The newest CPython that a release installs on.
pub fn newest_python(package: &str, version: &Version) -> Option<Version> {
    wheel_pythons(package, version)?.1
}

/// CUDA and cuDNN that a package loads at run time; the numbers as far as they matter.
#[derive(Debug, Clone)]
pub struct RuntimeNeeds {
    /// CUDA, often the major release alone.
    pub cuda: Option<Version>,
    /// cuDNN, often the major release alone.
    pub cudnn: Option<Version>,
    /// Whether it is installed for nothing but GPUs: its name says so.
    pub only_gpu: bool,
}

/// What a release loads from the system: ctranslate2, onnxruntime-gpu, tensorflow, cupy-cuda12x, cudf-cu12 …
pub fn runtime_needs(package: &str, version: Option<&Version>) -> Option<RuntimeNeeds> {
    let mut rows = RUNTIME_NEEDS.rows().filter(|r| r.text("package") == package);
    let row = rows.find(|r| r.text("versions").is_empty() || version.is_some_and(|v| r.holds(v)))?;
    let only_gpu = row.flag("only_gpu") == Some(true);
    Some(RuntimeNeeds { cuda: row.version("cuda"), cudnn: row.version("cudnn"), only_gpu })
}

/// The CUDA releases that a release of a package has libraries for.
pub fn toolkit_range(package: &str, version: &Version) -> Option<(Version, Version)> {
    let row = TOOLKIT_RANGES.rows().find(|r| r.text("package") == package && r.holds(version))?;
    Some((row.version("min_cuda")?, row.version("max_cuda")?))
}

/// The oldest glibc that the wheels of a release install on.
pub fn wheel_glibc(package: &str, version: &Version) -> Option<Version> {
    WHEEL_GLIBC.rows().find(|r| r.text("package") == package && r.holds(version))?.version("glibc")
}

/// The packages that must not be installed together with this one.
pub fn conflicting_packages(package: &str) -> Option<Vec<&'static str>> {
    let row = CONFLICTING_PACKAGES.find("package", package)?;
    row.used();
    let group = CONFLICTING_PACKAGES.rows().filter(|r| r.text("group") == row.text("group"));
    Some(group.map(|r| r.text("package")).filter(|other| *other != package).collect())
}

/// What to install instead of a package that has no GPU code without one of its extras; `Some(None)` with one of them.
pub fn gpu_package(package: &str, version: Option<&Version>, extras: &[&str]) -> Option<Option<&'static str>> {
    let mut rows = CPU_ONLY_PACKAGES.rows().filter(|r| r.text("package") == package);
    let row = rows.find(|r| r.text("versions").is_empty() || version.is_some_and(|v| r.holds(v)))?;
    Some((!row.words("extras").any(|extra| extras.contains(&extra))).then(|| row.text("gpu_package")))
}

/// What is particular about a package: removed, builds-against-torch, needs-nvcc, needs-compiler,
/// needs-cuda-libraries. Rows with a range of releases hold for a release that is known to be in it.
pub fn package_traits(package: &str, version: Option<&Version>) -> Option<Vec<&'static str>> {
    let mut rows = PACKAGE_TRAITS.rows().filter(|r| r.text("package") == package).peekable();
    rows.peek()?;
    let held = rows.filter(|r| r.text("versions").is_empty() || version.is_some_and(|v| r.holds(v)));
    Some(held.inspect(|r| r.used()).map(|r| r.text("trait")).collect())
}

/// A release of a Linux distribution.
#[derive(Debug, Clone)]
pub struct BaseOs {
    /// ubuntu, debian, ubi, rockylinux, amazonlinux, alpine.
    pub distribution: &'static str,
    /// Release; absent where all are alike.
    pub version: Option<Version>,
    /// glibc; absent on musl.
    pub glibc: Option<Version>,
    /// Whether its C library is musl, on which no manylinux wheel installs.
    pub musl: bool,
    /// Python that its packages install.
    pub python: Option<Version>,
    /// Whether pip refuses to install into that Python (PEP 668).
    pub externally_managed: bool,
    /// GCC that its packages install.
    pub gcc: Option<u64>,
}

/// A distribution release by name and version or codename: (ubuntu, 22.04), (debian, bookworm).
pub fn base_os(distribution: &str, version: &str) -> Option<BaseOs> {
    let named = |r: &Row| {
        r.text("distribution") == distribution
            && (r.text("version").is_empty() || [r.text("version"), r.text("codename")].contains(&version))
    };
    let major = || version.split_once('.').map(|(major, _)| major.to_owned());
    let of_major = || {
        major().and_then(|m| BASE_OS.rows().find(|r| r.text("distribution") == distribution && r.text("version") == m))
    };
    let row = BASE_OS.rows().find(named).or_else(of_major)?;
    Some(BaseOs {
        distribution: row.text("distribution"),
        version: row.version("version"),
        glibc: row.version("glibc"),
        musl: row.text("libc") == "musl",
        python: row.version("python"),
        externally_managed: row.flag("externally_managed") == Some(true),
        gcc: row.number("gcc"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(text).expect("version")
    }

    #[test]
    fn builds_by_release_and_variant() {
        let default = |version| framework_build("torch", &v(version), None).map(|b| b.variant);
        assert_eq!(default("2.1.0"), Some("cu121"));
        assert_eq!(default("2.10.0"), Some("cu128"));
        assert_eq!(default("2.11.0"), Some("cu130"));
        assert_eq!(default("99.0"), None);
        let blackwell = v("10.0");
        let old = framework_build("torch", &v("2.6.0"), Some("cu124")).expect("a build");
        assert_eq!(old.coverage(&blackwell), Some(Coverage::Missing));
        let new = framework_build("torch", &v("2.7.1"), Some("cu128")).expect("a build");
        assert_eq!(new.coverage(&blackwell), Some(Coverage::Binary));
        assert_eq!(framework_build("vllm", &v("0.20.0"), None).and_then(|b| b.min_compute_capability), Some(v("7.5")));
    }

    #[test]
    fn newest_for_a_python() {
        assert!(newest_release("torch", None, (None, "")) >= Some(v("2.15.0")));
        assert_eq!(newest_release("torch", Some(&v("3.9")), (None, "")).map(|n| n.minor()), Some(8));
    }

    #[test]
    fn what_goes_with_what() {
        assert_eq!(package_requirement("torchvision", &v("0.16.2"), "torch"), Some("==2.1.2".into()));
        assert_eq!(package_requirement("vllm", &v("0.8.5"), "torch"), Some("==2.6.0".into()));
        assert_eq!(package_requirement("flash-attn", &v("2.7.4.post1"), "torch"), None);
        assert_eq!(package_requirement("torch", &v("2.3.0"), "numpy"), None);
        assert_eq!(torch_variant_exists(&v("2.6.0"), "cu121"), Some(false));
        assert_eq!(torch_variant_exists(&v("2.8.0"), "rocm6.2"), Some(false));
        assert_eq!(torch_variant_exists(&v("2.5.1"), "rocm6.2"), Some(true));
        assert_eq!(torch_variant_exists(&v("1.12.1"), "rocm5.1.1"), None, "not listed");
        assert_eq!(torch_variant_exists(&v("1.5.0"), "cu92"), None);
        assert_eq!(torch_variant_known("cu125"), Some(false));
        assert_eq!(torch_variant_known("cu124"), Some(true));
        assert_eq!(torch_variant_known("rocm6.2.1"), Some(false));
        assert_eq!(torch_variant_known("cu149"), None, "of a release to come");
        assert_eq!(torch_variant_known("cu101"), None, "of a release before the first one listed");
        assert_eq!(newest_python("torch", &v("2.1.0")), Some(v("3.11")));
        assert_eq!(runtime_needs("ctranslate2", Some(&v("4.5.0"))).and_then(|n| n.cudnn), Some(v("9")));
        assert_eq!(runtime_needs("cupy-cuda11x", None).and_then(|n| n.cuda), Some(v("11")));
        assert_eq!(gpu_package("jax", None, &["cuda12"]), Some(None));
        assert_eq!(gpu_package("jax", None, &[]), Some(Some("jax[cuda12]")));
        assert!(conflicting_packages("onnxruntime").is_some_and(|others| others.contains(&"onnxruntime-gpu")));
    }

    #[test]
    fn operating_systems() {
        assert_eq!(base_os("debian", "bookworm").and_then(|os| os.glibc), Some(v("2.36")));
        assert!(base_os("ubuntu", "24.04").is_some_and(|os| os.externally_managed));
        assert!(base_os("alpine", "3.20").is_some_and(|os| os.musl));
        assert!(base_os("ubi", "9.4").is_some_and(|os| os.python == Some(v("3.9"))));
    }
}
