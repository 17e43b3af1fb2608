//! What packages publish of their releases: which there are, which releases of others they require, on which Python they
//! install, and with which releases of others they do not run although they install.

use super::ranges::Bounds;
use super::table::{Row, within};
use super::tables::{BROKEN_PAIRS, PACKAGE_RELEASES, PACKAGE_REQUIRES, PACKAGE_WHEELS, PUBLIC_INDEXES};
use crate::version::Version;

/// What the wheel of a release requires.
#[derive(Debug, Clone, Copy)]
pub struct WheelRequirement {
    /// The package.
    pub package: &'static str,
    /// The range of its releases.
    pub range: &'static str,
    /// The Pythons for which it does; blank for all that install the release.
    pub python: &'static str,
    /// Whether it does on Linux only; builds for other releases of CUDA may require something else.
    pub linux_only: bool,
    row: Row,
}

impl WheelRequirement {
    fn of(row: Row) -> Self {
        Self {
            package: row.text("requires"),
            range: row.text("requirement"),
            python: row.text("python"),
            linux_only: row.flag("linux_only") == Some(true),
            row,
        }
    }

    /// Whether it is required without an extra, or with one of these.
    pub fn is_asked_for<'e>(&self, mut extras: impl Iterator<Item = &'e str>) -> bool {
        let extra = self.row.text("extra");
        extra.split(' ').any(str::is_empty) || extras.any(|asked| extra.split(' ').any(|one| one == asked))
    }
}

/// Whether each of some URLs, which blanks separate, is of an index that everybody installs from: what is published there
/// is what this catalog says of releases. Others may hold releases and builds of their own.
pub fn is_public_index(urls: &str) -> bool {
    urls.split_ascii_whitespace().all(|url| index(url).is_some())
}

/// Whether a URL is of the index that packages come from unless another one is named.
pub fn is_default_index(url: &str) -> bool {
    index(url).is_some_and(|row| row.text("holds") == "releases")
}

fn index(url: &str) -> Option<Row> {
    let (_, rest) = url.split_once("://")?;
    PUBLIC_INDEXES.find("host", rest.split(['/', ':']).next()?)
}

/// What a release requires of packages whose releases matter here.
pub fn wheel_requirements(package: &str, version: &Version) -> impl Iterator<Item = WheelRequirement> {
    let rows = PACKAGE_REQUIRES.about(package).filter(|row| !version.is_prerelease() && row.holds(version));
    rows.map(WheelRequirement::of).collect::<Vec<_>>().into_iter()
}

/// The range of another package that a release requires, whatever its extras and its Python.
pub fn wheel_requirement(package: &str, version: &Version, other: &str) -> Option<&'static str> {
    // Ranges are read last: names are compared sooner.
    let unasked = |row: &Row| row.text("extra").split(' ').any(str::is_empty);
    let always = |row: &Row| row.text("requires") == other && unasked(row) && row.text("python").is_empty();
    let mut rows = PACKAGE_REQUIRES.about(package).filter(always);
    rows.find(|row| !version.is_prerelease() && row.holds(version)).map(|row| row.text("requirement"))
}

/// How a release fails next to a release of another package, although its metadata lets pip install both.
pub fn broken_with(package: &str, version: &Version, (other, theirs): (&str, &Version)) -> Option<&'static str> {
    let holds = |row: &Row| row.text("provider") == other && row.holds(version) && within(theirs, row.text("broken"));
    let final_releases = !version.is_prerelease() && !theirs.is_prerelease();
    let row = BROKEN_PAIRS.about(package).filter(|_| final_releases).find(holds)?;
    Some(row.text("error"))
}

/// The release of another package from which on none runs with a release of a package.
pub fn broken_since(package: &str, version: &Version, other: &str) -> Option<Version> {
    let holds = |row: &Row| row.text("provider") == other && row.holds(version);
    let mut rows = BROKEN_PAIRS.about(package).filter(|row| !version.is_prerelease() && holds(row));
    rows.find_map(|row| Version::parse(row.text("broken").strip_prefix(">=")?))
}

/// Whether the wheels of some releases of a package keep newer releases of another one out.
pub fn wheels_cap(package: &str, other: &str) -> bool {
    let caps = |row: &Row| Bounds::of(row.text("requirement")).is_some_and(|bounds| bounds.caps());
    PACKAGE_REQUIRES
        .about(package)
        .any(|row| row.text("requires") == other && row.text("extra").is_empty() && caps(&row))
}

/// Whether the wheels of some releases of a package require others.
pub fn wheels_require(package: &str) -> bool {
    PACKAGE_REQUIRES.about(package).next().is_some()
}

/// The newest release of a package that goes with some releases of another one.
pub fn newest_release_with(package: &str, other: &str, wanted: &Bounds) -> Option<Version> {
    let goes = |version: &Version| {
        let bounds = wheel_requirement(package, version, other).and_then(Bounds::of);
        bounds.is_some_and(|bounds| !bounds.excludes(wanted))
    };
    releases(package).filter(goes).max()
}

/// The newest release whose wheels install on a Python.
pub fn newest_wheel(package: &str, python: &Version) -> Option<Version> {
    let minor = |version: &Version| (version.major(), version.minor());
    let installs = |version: &Version| {
        let (oldest, newest) = wheel_pythons(package, version)?;
        let fits = oldest.is_none_or(|oldest| minor(&oldest) <= minor(python))
            && newest.is_none_or(|newest| minor(python) <= minor(&newest));
        fits.then_some(())
    };
    releases(package).filter(|version| installs(version).is_some()).max()
}

/// The oldest and the newest Python that a release installs on, as far as the releases of Python that were there decide.
pub fn wheel_pythons(package: &str, version: &Version) -> Option<(Option<Version>, Option<Version>)> {
    let row = PACKAGE_WHEELS.about(package).find(|row| row.holds(version))?;
    Some((row.version("oldest_python"), row.version("newest_python")))
}

/// The final releases that a package has published, in their order: `2.1.0,1,2` stands for three.
fn releases(package: &str) -> impl Iterator<Item = Version> {
    texts(package).filter_map(|text| Version::parse(&text))
}

fn texts(package: &str) -> impl Iterator<Item = String> {
    let words = PACKAGE_RELEASES.about(package).flat_map(|row| row.words("releases"));
    words.flat_map(|word| {
        let head = word.split(',').next().unwrap_or(word);
        let stem = head.rsplit_once('.').map_or("", |(stem, _)| stem);
        let others = word.split(',').skip(1).map(move |last| format!("{stem}.{last}"));
        [head.to_owned()].into_iter().chain(others)
    })
}

/// The releases next to a final one that was never published; `None` for one that was, and for what is newer than all that
/// are known.
pub fn releases_around(package: &str, version: &Version) -> Option<(Option<Version>, Version)> {
    let text = version.to_string();
    if version.is_prerelease() || version.local().is_some() || texts(package).any(|release| release == text) {
        return None;
    }
    let (older, newer): (Vec<Version>, Vec<Version>) = releases(package).partition(|release| release < version);
    let next = newer.into_iter().min().filter(|next| next != version)?;
    Some((older.into_iter().max(), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(text).expect("version")
    }

    #[test]
    fn requirements_of_releases() {
        assert_eq!(wheel_requirement("torchvision", &v("0.16.2"), "torch"), Some("==2.1.2"));
        assert_eq!(wheel_requirement("torchvision", &v("0.16.2rc1"), "torch"), None);
        assert!(wheels_cap("xformers", "torch") && !wheels_cap("accelerate", "torch"));
        let wanted = Bounds::of("==2.2.0").expect("a range");
        assert_eq!(newest_release_with("torchvision", "torch", &wanted), Some(v("0.17.0")));
    }

    #[test]
    fn pairs_that_install_and_do_not_run() {
        let with = |numpy| broken_with("torch", &v("2.2.1+cu121"), ("numpy", &v(numpy)));
        assert!(with("2.0.2").is_some_and(|error| error.contains("NumPy 1.x")) && with("1.26.4").is_none());
        assert_eq!(broken_since("torch", &v("2.2.1"), "numpy"), Some(v("2.0")));
        assert_eq!(broken_since("torch", &v("2.3.0"), "numpy"), None);
    }

    #[test]
    fn releases_that_were_never_published() {
        assert_eq!(releases_around("torch", &v("2.3.2")), Some((Some(v("2.3.1")), v("2.4.0"))));
        for there in ["2.3.1", "2.4", "99.0", "2.3.2rc1", "2.3.2+cu121"] {
            assert_eq!(releases_around("torch", &v(there)), None, "{there}");
        }
        assert_eq!(releases_around("nobody-publishes-this", &v("1.0")), None);
    }

    #[test]
    fn pythons_that_install_a_release() {
        assert_eq!(wheel_pythons("torch", &v("2.1.0")).map(|found| found.1), Some(Some(v("3.11"))));
    }
}
