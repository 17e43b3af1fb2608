//! What deployments are held against: promises to users, classes of data, quotas of queues.

use super::value::entities;
use super::{Labels, Toleration};
use crate::known::Fact;

entities! {
    /// What the configuration promises the users of a workload.
    ServiceLevel {
        /// Monthly uptime in percent.
        availability: Fact<f64>,
        /// Requests per second that it answers.
        qps: Fact<f64>,
        /// Requests per second that one GPU answers, as measured.
        qps_per_gpu: Fact<f64>,
    }

    /// How much may be spent on resources of a cloud before somebody is told.
    SpendingLimit {
        /// The type of the resource that states it.
        kind: Fact<String>,
        /// Its name in its file.
        name: Fact<String>,
        /// The amount.
        amount: Fact<String>,
        /// Percents of it at which somebody is told.
        alerts: Vec<Fact<f64>>,
    }

    /// A class of data that the configuration declares, of what carries its label.
    DataClass {
        /// Its name.
        name: Fact<String>,
        /// The label's value where the data is.
        mark: Fact<String>,
        /// Regions that the data may be in.
        regions: Vec<Fact<String>>,
        /// Whether it must be encrypted.
        encrypted: Fact<bool>,
        /// Whether access to it must be logged.
        audit_log: Fact<bool>,
    }

    /// The ClusterQueue of Kueue that a workload's queue leads to.
    ClusterQueue {
        /// Its name.
        name: Fact<String>,
        /// The cohort that it borrows from.
        cohort: Fact<String>,
        /// Resources that it covers.
        covered: Vec<Fact<String>>,
        /// What it may hand out.
        quotas: Vec<Quota>,
    }

    /// A flavor of the resources that queues of Kueue hand out.
    Flavor {
        /// Its name.
        name: Fact<String>,
        /// Labels of the nodes that it stands for, which pods get as selectors.
        node_labels: Labels,
        /// Taints that it lets pods tolerate.
        tolerations: Vec<Toleration>,
        /// The Topology of those nodes.
        topology: Fact<String>,
    }

    /// How much of a resource a flavor of a queue has.
    Quota {
        /// The resource.
        resource: Fact<String>,
        /// The flavor of it, of a queue of Kueue.
        flavor: Fact<String>,
        /// nominalQuota, or the limit of a queue of Volcano or KAI, in base units.
        nominal: Fact<f64>,
    }
}
