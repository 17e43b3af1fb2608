//! CUDA toolkits, drivers, and which runs with which.

use super::gpus::architecture;
use super::table::Row;
use super::tables::{CUDA, DRIVER_BRANCHES, HOST_COMPILERS};
use crate::version::Version;
use std::sync::LazyLock;

/// Toolkits, by the numbers of their releases.
static TOOLKITS: LazyLock<Vec<(Version, Row)>> =
    LazyLock::new(|| CUDA.rows().filter_map(|r| Some((r.version("cuda")?, r))).collect());

/// Updates of the minor release of a toolkit.
fn of_minor(cuda: &Version) -> impl Iterator<Item = &'static (Version, Row)> {
    TOOLKITS.iter().filter(|(v, _)| same_minor(v, cuda))
}

/// The row of a toolkit: the exact release, else the newest update of its minor release.
fn toolkit(cuda: &Version) -> Option<Row> {
    let exact = of_minor(cuda).find(|(v, _)| v.starts_with(cuda) && cuda.release().len() > 2);
    let newest = || of_minor(cuda).max_by(|(a, _), (b, _)| a.cmp(b));
    exact.or_else(newest).map(|(_, row)| *row)
}

/// What the images of a release say; those of the newest update of its minor release that has images, where the
/// release's own are not listed.
fn image_column(cuda: &Version, column: &str) -> Option<&'static str> {
    let newest = || of_minor(cuda).filter_map(|(v, r)| Some((v, r.filled(column)?))).max().map(|(_, text)| text);
    toolkit(cuda)?.filled(column).or_else(newest)
}

fn same_minor(a: &Version, b: &Version) -> bool {
    b.release().len() > 1 && a.major() == b.major() && a.minor() == b.minor()
}

/// Whether a CUDA release of these numbers was ever published; `None` for one newer than the table.
pub fn cuda_exists(cuda: &Version) -> Option<bool> {
    let releases = || TOOLKITS.iter().map(|(release, _)| release);
    let (oldest, newest) = (releases().min()?, releases().max()?);
    (oldest..=newest).contains(&cuda).then(|| releases().any(|release| release.starts_with(cuda)))
}

/// The oldest driver that runs a CUDA release: the minor-version compatibility minimum of its major release, or
/// the toolkit's own driver before CUDA 11.
pub fn min_driver(cuda: &Version) -> Option<Version> {
    let of_major = || TOOLKITS.iter().filter(|(release, _)| release.major() == cuda.major());
    let of_minor = toolkit(cuda).and_then(|r| r.version("min_driver"));
    of_minor.or_else(|| of_major().filter_map(|(_, r)| r.version("min_driver")).min())
}

/// The driver that comes with a toolkit: the oldest with every feature of it, and what its PTX needs.
pub fn native_driver(cuda: &Version) -> Option<Version> {
    let row = if cuda.release().len() > 2 { toolkit(cuda) } else { of_minor(cuda).next().map(|(_, row)| *row) };
    row?.version("driver")
}

/// The branch of a driver: 570 of 570.124.06.
pub fn driver_branch(driver: &Version) -> u64 {
    driver.major()
}

/// A driver branch.
#[derive(Debug, Clone)]
pub struct DriverBranch {
    /// LTSB, PB or NFB.
    pub kind: &'static str,
    /// End of life, a date.
    pub end_of_life: &'static str,
    /// Newest build.
    pub latest: Option<Version>,
    /// CUDA release that it supports natively.
    pub native_cuda: Option<Version>,
    /// Newest CUDA release that forward compatibility (cuda-compat, data-center GPUs) brings to it.
    pub forward_compat_cuda: Option<Version>,
}

/// The branch of a driver.
pub fn branch(driver: &Version) -> Option<DriverBranch> {
    let row = DRIVER_BRANCHES.rows().find(|r| r.number("branch") == Some(driver.major()))?;
    Some(DriverBranch {
        kind: row.text("kind"),
        end_of_life: row.text("end_of_life"),
        latest: row.version("latest"),
        native_cuda: row.version("native_cuda"),
        forward_compat_cuda: row.version("forward_compat_cuda"),
    })
}

/// The newest CUDA release that a driver supports natively.
pub fn native_cuda(driver: &Version) -> Option<Version> {
    branch(driver)?.native_cuda
}

/// Whether an image on nvidia/cuda starts under a driver: natively, or on a branch that its NVIDIA_REQUIRE_CUDA lists.
pub fn image_accepts_driver(cuda: &Version, driver: &Version) -> Option<bool> {
    let native = native_cuda(driver)?;
    if (native.major(), native.minor()) >= (cuda.major(), cuda.minor()) {
        return Some(true);
    }
    let branches = image_column(cuda, "image_branches")?;
    Some(branches.split_ascii_whitespace().any(|b| b.parse() == Ok(driver.major())))
}

/// Whether NVIDIA_REQUIRE_CUDA of the nvidia/cuda images takes its listed branches on GeForce boards too.
pub fn image_accepts_geforce(cuda: &Version) -> Option<bool> {
    Some(image_column(cuda, "image_brands")?.split_ascii_whitespace().any(|brand| brand == "geforce"))
}

/// Whether nvidia/cuda has an image of a release on a distribution, as in `ubuntu22.04`.
pub fn cuda_image_exists(cuda: &Version, os: &str) -> Option<bool> {
    let list = toolkit(cuda)?.filled("image_os")?;
    Some(list.split_ascii_whitespace().any(|name| name == os.replace('.', "")))
}

/// Whether a toolkit compiles for a compute capability.
pub fn sm_supported(cuda: &Version, compute_capability: &Version) -> Option<bool> {
    let known = architecture(compute_capability)?;
    let cuda = (cuda.major(), cuda.minor());
    let numbers = |v: Version| (v.major(), v.minor());
    Some(known.first_cuda.is_none_or(|v| numbers(v) <= cuda) && known.last_cuda.is_none_or(|v| cuda <= numbers(v)))
}

/// The first CUDA release for a compute capability.
pub fn first_cuda(compute_capability: &Version) -> Option<Version> {
    architecture(compute_capability)?.first_cuda
}

/// The last CUDA release for a compute capability; `None` while it is supported.
pub fn last_cuda(compute_capability: &Version) -> Option<Version> {
    architecture(compute_capability)?.last_cuda
}

/// The newest GCC that a toolkit's nvcc takes as host compiler.
pub fn newest_host_gcc(cuda: &Version) -> Option<u64> {
    HOST_COMPILERS.rows().find(|r| super::table::within(cuda, r.text("cuda")))?.number("newest_gcc")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(text).expect("version")
    }

    #[test]
    fn floors_of_the_majors() {
        for (cuda, driver) in [
            ("12.4", "525.60.13"),
            ("12", "525.60.13"),
            ("11.8", "450.80.02"),
            ("13.0.1", "580.65.06"),
            ("10.2", "440.33"),
        ] {
            assert_eq!(min_driver(&v(cuda)), Some(v(driver)), "CUDA {cuda}");
        }
        assert_eq!(min_driver(&v("24.05")), None);
        assert_eq!(native_driver(&v("12.4.1")), Some(v("550.54.15")));
        assert_eq!(native_cuda(&v("570.124.06")), Some(v("12.8")));
    }

    #[test]
    fn images_are_stricter_than_minor_version_compatibility() {
        assert_eq!(image_accepts_driver(&v("12.5.1"), &v("525.105.17")), Some(false));
        assert_eq!(image_accepts_driver(&v("12.4.1"), &v("525.105.17")), Some(true));
        assert_eq!(image_accepts_driver(&v("12.1.0"), &v("550.54.15")), Some(true));
        assert_eq!(image_accepts_driver(&v("12.8"), &v("525.105.17")), Some(false), "the newest update has no images");
    }

    #[test]
    fn toolkits_and_architectures() {
        assert_eq!(sm_supported(&v("12.1"), &v("10.0")), Some(false));
        assert_eq!(sm_supported(&v("13.0"), &v("7.0")), Some(false));
        assert_eq!(sm_supported(&v("12.9"), &v("7.0")), Some(true));
        assert_eq!(cuda_exists(&v("12.7")), Some(false));
        assert_eq!(cuda_exists(&v("12.4")), Some(true));
        assert_eq!(cuda_exists(&v("99.0")), None);
        assert_eq!(cuda_image_exists(&v("12.4.1"), "ubuntu24.04"), Some(false));
    }
}
