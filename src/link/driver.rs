//! The driver of a cluster: what its GPU operator or its configuration installs.

use crate::catalog;
use crate::facts::{Facts, HelmRelease, Object};
use crate::known::{Fact, Known, Why};
use crate::source::SourceId;
use crate::version::Version;

/// A statement about the driver of some cluster.
#[derive(Clone)]
pub struct DriverSource {
    /// The file that states it.
    pub file: SourceId,
    /// The driver; absent when the operator is told not to install one.
    pub driver: Fact<Version>,
}

/// Every statement about a cluster's driver in the run.
pub fn sources(facts: &Facts) -> Vec<DriverSource> {
    let declared = facts
        .clusters
        .iter()
        .filter(|c| c.driver.get().is_some())
        .map(|c| DriverSource { file: c.driver.span.source, driver: c.driver.clone() });
    let charts =
        facts.releases.iter().filter(|r| r.chart.get().is_some_and(|c| c == "gpu-operator")).filter_map(|r| release(r));
    let policies = facts.objects.iter().filter_map(|o| policy(o));
    declared.chain(charts).chain(policies).collect()
}

/// The driver that a release of the GPU operator installs.
fn release(release: &HelmRelease) -> Option<DriverSource> {
    let values = release.values.as_ref().map(|v| v.view().get("driver"));
    let decide = |key: &str| values.map(|v| v.get(key)).filter(|v| v.is_some());
    let file = release.span.source;
    if let Some(set) = release.set.get("driver.enabled").filter(|s| s.get().is_some_and(|v| v == "false")) {
        return Some(DriverSource { file, driver: Fact::absent(set.span) });
    }
    if let Some(set) = release.set.get("driver.version") {
        let driver = set.clone().and_then(|text| match driver_version(&text) {
            Some(version) => Known::Value(version),
            None => Known::Unknown(Why::Malformed(text.into())),
        });
        return Some(DriverSource { file, driver });
    }
    if let Some(enabled) = decide("enabled")
        && enabled.boolean().get() == Some(&false)
    {
        return Some(DriverSource { file, driver: Fact::absent(enabled.place()) });
    }
    if let Some(version) = decide("version") {
        return Some(DriverSource { file, driver: version.parse(driver_version) });
    }
    if release.values_complete.get() == Some(&false) {
        let driver = Fact::unknown(Why::Remote("values that are not at hand".into()), release.span);
        return Some(DriverSource { file, driver });
    }
    let of_chart = |chart: Version| match catalog::platform_driver("gpu-operator", &chart.to_string()) {
        Some(driver) => Known::Value(driver),
        None => Known::Unknown(Why::NotInCatalog(format!("gpu-operator {chart}").into())),
    };
    let driver = Fact::watched(|| release.version.clone().and_then(of_chart));
    if driver.is_absent() {
        return None;
    }
    Some(DriverSource { file, driver })
}

/// The driver that a ClusterPolicy or an NVIDIADriver object asks for.
fn policy(object: &Object) -> Option<DriverSource> {
    let body = object.body.as_ref()?.view();
    let view = match object.kind.get()?.as_str() {
        "ClusterPolicy" => body.path("spec.driver"),
        "NVIDIADriver" => body.get("spec"),
        _ => return None,
    };
    let file = object.span.source;
    if view.get("enabled").boolean().get() == Some(&false) {
        return Some(DriverSource { file, driver: Fact::absent(view.get("enabled").place()) });
    }
    let driver = view.get("version").parse(driver_version);
    driver.get().is_some().then_some(DriverSource { file, driver })
}

/// A driver version as charts write it: a full version, or a branch of precompiled drivers.
fn driver_version(text: &str) -> Option<Version> {
    Version::parse(text).filter(|v| v.major() >= 300)
}
