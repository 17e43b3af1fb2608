//! Security advisories of drivers, toolkits, servers and frameworks.

use super::table::within;
use super::tables::ADVISORIES;
use crate::version::Version;

/// An advisory about a product.
#[derive(Debug, Clone)]
pub struct Advisory {
    /// CVE number.
    pub id: &'static str,
    /// Further CVE numbers of the same fix, space separated.
    pub aliases: &'static str,
    /// The first release without the fault; absent when there is none.
    pub fixed: Option<Version>,
    /// critical, high, medium, low; empty when not rated.
    pub severity: &'static str,
    /// What must also be true, in words; empty when nothing.
    pub condition: &'static str,
    /// Its title.
    pub title: &'static str,
}

/// The advisories that hold for a release of a product: nvidia-container-toolkit, gpu-operator, nvidia-driver, vllm,
/// tritonserver, torch, ollama, ray, mlflow, jupyter …
pub fn advisories(product: &str, version: &Version) -> Option<Vec<Advisory>> {
    let mut rows = ADVISORIES.rows().filter(|r| r.text("product") == product).peekable();
    rows.peek()?;
    let affected = rows.filter(|r| within(version, r.text("affected"))).map(|row| Advisory {
        id: row.text("id"),
        aliases: row.text("aliases"),
        fixed: row.version("fixed"),
        severity: row.text("severity"),
        condition: row.text("condition"),
        title: row.text("title"),
    });
    Some(affected.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affected_until_fixed() {
        let ids = |product, version| -> Vec<&str> {
            let found = advisories(product, &Version::parse(version).expect("version"));
            found.expect("rows of the product").iter().map(|a| a.id).collect()
        };
        assert!(ids("vllm", "0.8.4").contains(&"CVE-2025-32444"));
        assert!(!ids("vllm", "0.8.5").contains(&"CVE-2025-32444"));
        assert!(ids("nvidia-container-toolkit", "1.16.1").contains(&"CVE-2024-0132"));
        assert!(ids("gpu-operator", "v24.6.1").contains(&"CVE-2024-0132"));
        assert!(ids("ollama", "0.1.33").contains(&"CVE-2024-37032"));
        assert!(ids("vllm", "99.0").is_empty());
    }
}
